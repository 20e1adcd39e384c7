"""What a making leaves in its folder: everything as JSON, a page for the curator, forms for raters, drafts of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bot import Catalog, pair_hash, plain_text
from harness.authoring.quiz.asking import LETTERS, QuizTexts
from harness.authoring.quiz.blind import BlindTable, as_form, key_of
from harness.authoring.quiz.making import QuizRound, Track, remarks
from harness.authoring.quiz.rubric import COMPONENTS, Component, Rubric
from harness.authoring.quiz.tables import FirstAndKept, RoundTables, first_and_kept, topic_counts
from harness.console import counted
from harness.files import as_document, without_markup, writing
from harness.generation.rounds import MeanScore
from harness.judging.agreement import Estimate
from harness.llm.scores import TOP

RESULT, PAGE, FORM, KEY, DRAFT = "result.json", "result.md", "blind.csv", "blind-key.json", "draft.yaml"
WEAK = 3.0  # a score at or below it is shown with its reason
NOTICE = "Draft, written by a language model. No clinician has approved it; patients must not see it before that."


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the texts come from.

    Attributes:
        models: Who answered, by prompt id.
        hashes: Of the prompts, by id.
        answered: ``live`` or ``offline``.
        unusable: Why no answer to a prompt could be read, by id.
        identity: What the work depends on: catalog or file, rubric, words, examples.
    """

    models: Mapping[str, str]
    hashes: Mapping[str, str]
    answered: str
    unusable: Mapping[str, str]
    identity: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        prompts = {
            id_: {"model": self.models.get(id_, ""), "prompt": digest, "answered": self.answered}
            for id_, digest in self.hashes.items()
        }
        again = {id_: {"model": model, "answered": self.answered} for id_, model in self.models.items()}
        return {"prompts": {**again, **prompts}, "unusable": dict(self.unusable), "work": dict(self.identity)}


@dataclass(frozen=True)
class Made:
    """All that came of a making.

    Attributes:
        tracks: The quizzes.
        tables: Of the rounds, by who found topic and key point; ``all`` is always there.
        blind: First against kept version; None where nobody judged.
        rubric: What they were scored by.
        texts: The names of components.
        catalog: Of the pairs; None for other texts.
    """

    tracks: Sequence[Track]
    tables: Mapping[str, RoundTables]
    blind: BlindTable | None
    rubric: Rubric
    texts: QuizTexts
    catalog: Catalog | None


def write_result(folder: Path, made: Made, provenance: Provenance) -> None:
    """Write all files of a making; raise BadData when that is not possible."""
    with writing(folder / RESULT, "Choose another `--out`."):
        (folder / RESULT).write_text(as_document(_as_json(made, provenance)), encoding="utf-8")
        (folder / PAGE).write_text("\n".join(_page(made)) + "\n", encoding="utf-8")
        if any(track.compared for track in made.tracks):
            (folder / FORM).write_text(as_form(made.tracks), encoding="utf-8")
            (folder / KEY).write_text(as_document(key_of(made.tracks)), encoding="utf-8")
        draft = _draft(made, provenance)
        if draft is not None:
            head = f"# {NOTICE}\n# The pairs as they stand, with a quiz each.\n"
            text = yaml.safe_dump(draft, sort_keys=False, allow_unicode=True, width=110)
            (folder / DRAFT).write_text(head + text, encoding="utf-8")


def _as_json(made: Made, provenance: Provenance) -> dict[str, Any]:
    return {
        "status": "draft",
        "notice": NOTICE,
        "quizzes": [
            {
                "id": track.id,
                "case": track.case.id,
                "pair": track.case.pair_id or None,
                "topic": track.case.topic,
                "key_point": track.case.key_point,
                "found_by": track.found_by,
                "stopped": track.stopped,
                "kept": track.best.number if track.best else None,
                "remarks": remarks(track.case, track.best.quiz) if track.best else [],
                "rounds": [one.as_json() for one in track.rounds],
                "verdicts": {
                    order: {
                        "better": one.better,
                        "difficulty": dict(one.difficulty),
                        "errors": {side: list(said) for side, said in one.errors.items()},
                        "reason": one.reason,
                    }
                    for order, one in track.verdicts.items()
                },
            }
            for track in made.tracks
        ],
        "tables": {name: table.as_json() for name, table in made.tables.items()},
        "first_and_kept": first_and_kept(made.tracks).as_json(),
        "topics": topic_counts(made.tracks),
        "blind": made.blind.as_json() if made.blind else None,
        "provenance": provenance.as_json(),
    }


def _draft(made: Made, provenance: Provenance) -> dict[str, Any] | None:
    """Return the pairs that got a quiz, in the form of a catalog's file, as drafts; None without any.

    The right option of each is said to come from the pair's answer; unchecked where no critic has scored the quiz.
    """
    catalog = made.catalog
    by_pair: dict[str, list[Track]] = {}
    for track in made.tracks:
        if track.case.pair_id and track.best is not None:
            by_pair.setdefault(track.case.pair_id, []).append(track)
    if catalog is None or not by_pair:
        return None
    who = sorted(set(provenance.models.values()))
    pairs: list[dict[str, Any]] = []
    backings: dict[str, list[dict[str, Any]]] = {}
    for pair_id, tracks in by_pair.items():
        pair = catalog.pair(pair_id)
        quoted = {"document": catalog.ref, "title": pair.question, "place": "answer", "text": pair.answer}
        backings[pair_id] = [
            {
                "field": f"quizzes.{number}.answer",
                "sentence": track.best.quiz.answer,
                "quotations": [quoted],
                **({"unchecked": True} if track.best.points is None else {}),
            }
            for number, track in enumerate(tracks, len(pair.quizzes) + 1)
            if track.best is not None
        ]
        content = pair.model_dump(mode="json", exclude_defaults=True)
        content["review"] = {"status": "draft", "by": None, "on": None, "valid_until": None}
        content["quizzes"] = [
            *content.get("quizzes", ()),
            *(
                {
                    "topic": track.case.topic,
                    "key_point": track.case.key_point,
                    **track.best.quiz.as_json(),
                    "by": {"kind": "model", "name": ", ".join(who)},
                }
                for track in tracks
                if track.best is not None
            ),
        ]
        pairs.append(content)
    whole = {"catalog": catalog.name, "language": catalog.language, "version": catalog.version}
    base = {pair_id: pair_hash(catalog.pair(pair_id)) for pair_id in by_pair}
    return {**whole, "drafted_by": who, "base": base, "pairs": pairs, "provenance": backings}


def _said(text: str) -> str:
    """Return text of a model or a case as the page may hold it."""
    return without_markup(plain_text(text))


def _page(made: Made) -> Iterator[str]:
    yield "# Quizzes"
    yield f"\n{NOTICE}"
    for track in made.tracks:
        yield from _quiz(track, made)
    yield "\n## The rounds"
    for name, table in made.tables.items():
        yield from _rounds(name, table)
    for who, counts in topic_counts(made.tracks).items():
        listed = "; ".join(f"{_said(topic)} {count}" for topic, count in counts.items())
        yield f"\nTopics found by {'a person' if who == 'person' else 'the model'}, with their quizzes: {listed}."
    yield from _first_and_kept(first_and_kept(made.tracks))
    if made.blind is not None and made.blind.rows:
        yield from _blind(made.blind)


def _quiz(track: Track, made: Made) -> Iterator[str]:
    best = track.best
    yield f"\n## {track.id}"
    yield f"\n- Topic: {_said(track.case.topic)}\n- Key point: {_said(track.case.key_point)}"
    yield f"- Topic and key point given by: {'a person' if track.found_by == 'person' else 'the model'}"
    if best is None:
        yield "\nNo question came of it: no answer to one of the prompts could be used."
        return
    points = "not scored" if best.points is None else f"{best.points:.0%} of all points"
    yield f"- Kept: version {best.number} of {len(track.rounds)}, {points}; ended: {track.stopped}\n"
    yield from _shown(best)
    found = remarks(track.case, best.quiz)
    if found:
        yield "\n**To look at:**\n" + "\n".join(f"- {_said(each)}" for each in found)
    if best.attempt is not None:
        said = "rightly" if best.attempt.right else f"**wrongly** ({_said(best.attempt.chosen)})"
        reasoning = _said(best.attempt.reasoning)
        yield f"\n<details><summary>The model answered it {said}</summary>\n\n{reasoning}\n\n</details>"
    yield from _weak(best, made)
    for one in track.rounds:
        if one.number != best.number:
            share = "" if one.points is None else f", {one.points:.0%}"
            yield f"\n<details><summary>Version {one.number}{share}</summary>\n"
            yield from _shown(one)
            yield "\n</details>"


def _shown(one: QuizRound) -> Iterator[str]:
    options = one.attempt.options if one.attempt is not None else (one.quiz.answer, *one.quiz.distractors)
    yield f"> {_said(one.quiz.context)}\n>\n> **{_said(one.quiz.question)}**\n>"
    for letter, option in zip(LETTERS, options, strict=False):
        yield f"> {letter}. {_said(option)}{' ✓' if option == one.quiz.answer else ''}  "


def _weak(one: QuizRound, made: Made) -> Iterator[str]:
    """Yield what scored low, with the critic's reasons."""
    rows = []
    for part in COMPONENTS:
        critique = one.critiques.get(part)
        if critique is None:
            continue
        rows += [
            f"- {made.texts.names[part]}, {_label(made.rubric, part, key)} {score:g}/{TOP:g}: "
            f"{_said(critique.feedback.get(key, 'no reason given'))}"
            for key, score in critique.scores.items()
            if score <= WEAK
        ]
    if rows:
        yield "\n**Weakest, says the critic:**\n" + "\n".join(rows)


def _label(rubric: Rubric, part: Component, key: str) -> str:
    return rubric.of(part)[key].label


def _rounds(name: str, table: RoundTables) -> Iterator[str]:
    yield f"\n### {GROUPS.get(name, name)}\n"
    heads = [f"round {number} (n={n})" for number, n in enumerate(table.n, 1) if n]
    yield "| mean (standard deviation) | " + " | ".join(heads) + " |"
    yield "|---" * (len(heads) + 1) + "|"
    for row, cells in {**table.scores, **table.figures}.items():
        digits = 1 if row == "words" else 3
        yield f"| {row} | " + " | ".join(in_cell(cell, digits) for cell in cells[: len(heads)]) + " |"
    ended = ", ".join(f"{count} {why}" for why, count in table.stopped.items())
    best = ", ".join(f"{count} in round {number}" for number, count in table.best.items())
    taken = ", ".join(f"{count} took {number}" for number, count in table.rounds.items())
    yield f"\nEnded: {ended}. Rounds: {taken or 'none'}. Best: {best or 'none'}."
    for what, measures in table.correlations.items():
        found = [f"{measure} {value:.2f}" for measure, value in measures.items() if value is not None]
        if found:
            yield f"\nBest round with the {what}: {', '.join(found)}."


GROUPS = {
    "all": "All quizzes",
    "person": "Topic and key point by a person",
    "model": "Topic and key point by the model",
}


def in_cell(cell: MeanScore | None, digits: int = 3) -> str:
    """Return a mean with its standard deviation, as tables show it."""
    if cell is None:
        return ""
    return f"{cell.mean:.{digits}f}" + ("" if cell.deviation is None else f" ({cell.deviation:.{digits}f})")


def _first_and_kept(table: FirstAndKept) -> Iterator[str]:
    if not table.means:
        return
    yield f"\n## First and kept version by {table.aspects} of the paper's ten aspects\n"
    yield f"| mean share of the maximum (n={table.n}) | first | kept |\n|---|---|---|"
    for name, (first, kept) in table.means.items():
        yield f"| {name} | {first:.3f} | {kept:.3f} |"
    yield (
        f"\nKept version rated above the first: {table.won}, below: {table.lost}, alike: {table.tied}; first version "
        f"kept, so in none of these: {table.unchanged}."
    )
    yield "It was chosen by scores of the same model, so this flatters it."


def agreement_lines(table: BlindTable) -> Iterator[str]:
    """Yield how far every two raters agree, a line each."""
    for (one, other), (agreed, kappa) in table.agreement.items():
        told = f"undefined ({kappa.note})" if kappa.value is None else f"{kappa.value:.3f}{_within(kappa)}"
        yield (
            f"{one} and {other}: the same preference in {agreed.value or 0.0:.0%}{_within(agreed)} of "
            f"{counted(agreed.n, 'quiz', 'quizzes')} that both judged; Cohen's kappa {told}."
        )


def _within(estimate: Estimate) -> str:
    """Return the interval in brackets, where there is one."""
    return "" if estimate.interval is None else f" ({estimate.interval.low:.2f} to {estimate.interval.high:.2f})"


def _blind(table: BlindTable) -> Iterator[str]:
    yield "\n## First against kept version, judged blind\n"
    columns = ("rater", "n", "kept better", "first better", "tie", "inconsistent")
    yield "| " + " | ".join([*columns, *(f"{side}, easy:medium:hard" for side in ("first", "kept"))]) + " |"
    yield "|---" * 8 + "|"
    for rater, row in table.rows.items():
        told = [row[f"difficulty_{side}"].values() for side in ("first", "kept")]
        levels = [f"{':'.join(map(str, counts))} (n={sum(counts)})" for counts in told]
        counts = [str(row[name]) for name in ("n", "kept", "first", "tie", "inconsistent")]
        yield f"| {rater} | " + " | ".join([*counts, *levels]) + " |"
    for line in agreement_lines(table):
        yield f"\n{line}"
    yield (
        "\nA model that judges its own versions is no independent rater. Inconsistent: its two orders differ; beside "
        "other raters only the other quizzes count. Its difficulties are counted of both orders, two for each quiz; a "
        "person's once."
    )

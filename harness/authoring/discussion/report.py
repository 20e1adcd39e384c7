"""What came of a discussion, for programs (result.json) and for the curator who decides (result.md)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from bot import NearCopies, measure
from harness.authoring.discussion.corruption import Experiment, TableRow
from harness.authoring.discussion.dialogue import Discussed, Discussion, named_sections, numbered
from harness.authoring.discussion.rating_form import final_is_a, questions
from harness.authoring.discussion.short_answers import Compared, ShortAnswer
from harness.authoring.discussion.texts import FormQuestion, Section, Sections, Task, as_text
from harness.authoring.working import Advanced
from harness.console import printable
from harness.files import without_markup

T = TypeVar("T")
_ENDED = {
    "stop": "The researcher was satisfied.",
    "said": "The researcher ended the discussion with words of its own.",
    "turns": "The discussion ended at the limit of turns; the researcher was not satisfied yet.",
    "unusable": "The discussion ended as an answer could not be used.",
}
# What raters are told that was decided on a line, by the language of their form.
_DECIDED = {"de": ("übernommen", "verworfen"), "en": ("accepted", "rejected")}


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a text comes from.

    Attributes:
        task: What was done, for example ``pair pain``.
        answered: ``live`` or ``offline``.
        models: Who answered, by the id of the prompt.
        prompts: Hash of what was asked, by the id of the prompt.
        unusable: Why no answer could be used, by the id of the prompt.
    """

    task: str
    answered: str
    models: Mapping[str, str]
    prompts: Mapping[str, str]
    unusable: Mapping[str, str]

    @property
    def who(self) -> list[str]:
        """Return the models that answered."""
        return sorted({name for name in self.models.values() if name})

    @classmethod
    def of(cls, task: str, advanced: Advanced[Any], prompts: Mapping[str, str], *, live: bool) -> Provenance:
        """Return where the result of a work comes from."""
        asked = {id_: hash_ for id_, hash_ in prompts.items() if id_ in advanced.models}
        return cls(task, "live" if live else "offline", dict(advanced.models), asked, dict(advanced.unusable))


def discussed_record(task: Task, done: Discussed, provenance: Provenance) -> dict[str, Any]:
    """Return all of a discussion as JSON."""
    final_a = None if done.initial is None or done.final is None else final_is_a(done.initial, done.final)
    return {
        **asdict(provenance),
        "sections": {section.key: section.title for section in task.sections},
        "initial": done.initial,
        **_discussion_record(done.discussion),
        "accepted": done.accepted,
        "final": done.final,
        "put_back": done.put_back,
        "changed_unasked": unasked(task.sections, done),
        "accepted_undone": undone(task.sections, done),
        "form_final_is": None if final_a is None else ("A" if final_a else "B"),
    }


def _discussion_record(discussion: Discussion) -> dict[str, Any]:
    return {
        "turns": [asdict(turn) for turn in discussion.turns],
        "ended": discussion.ended,
        "scratchpad": list(discussion.scratchpad),
        "last_undecided": discussion.undecided,
    }


def discussed_page(title: str, task: Task, done: Discussed, language: str) -> str:
    """Return what a curator reads: the whole dialogue, the scratchpad with what was decided, and what changes."""
    speakers = {"researcher": "Researcher", "decider": "Decider"}
    parts = [f"# {title}", "Draft. Written by a language model; nobody has approved it."]
    if done.initial is None:
        return "\n\n".join([*parts, "No usable first version was written.", ""])
    parts += ["## Discussion", _how_it_ended(done.discussion)]
    for number, turn in enumerate(done.discussion.turns, 1):
        added = "".join(f"\n> on the scratchpad: {line}" for line in turn.added)
        parts.append(f"**{number}. {speakers[turn.speaker]}.** {turn.text}" + (f"\n{added}" if added else ""))
    parts += ["## Scratchpad", _pad(task.sections, done)]
    if done.final is None:
        waiting = "Nobody has decided yet." if done.accepted is None else "No usable final text was written."
        parts += [waiting, "## First version", _in_sections(task.sections, done.initial)]
    else:
        strange = unasked(task.sections, done)
        if strange:
            parts.append(f"**Look closely: changed though no accepted line names it: {', '.join(strange)}.**")
        if left := undone(task.sections, done):
            parts.append(f"**Accepted, and not done: line {', '.join(map(str, left))}. What it names is unchanged.**")
        if done.put_back:
            titles = ", ".join(section.title for section in task.sections if section.key in done.put_back)
            parts.append(
                f"**Put back as it was: {titles}. The model changed it though no accepted line names it; the same "
                "command with `--keep-unasked` takes its version.**"
            )
        parts += ["## Text", *_changes(task.sections, done.initial, done.final, language)]
        back = [section for section in task.sections if section.key in done.put_back]
        if back:
            parts += ["## Put back", *_changes(back, done.initial, done.put_back, language)]
    return without_markup(printable("\n\n".join([*parts, ""])))


def _how_it_ended(discussion: Discussion) -> str:
    """Return how a discussion ended. Who stops with words may be satisfied, or may have another point: nobody knows."""
    stopped = any(turn.stops for turn in discussion.turns)  # with words: without any there is no turn
    ended = _ENDED["said" if stopped and discussion.ended == "stop" else discussion.ended]
    return f"{ended} Nobody decided on the last turn: read it." if discussion.undecided else ended


def unasked(sections: Sequence[Section], done: Discussed) -> list[str]:
    """Return the titles of sections that the final text changes, though no accepted line names them."""
    if done.initial is None or done.final is None:
        return []
    asked = frozenset[str]().union(*(named_sections(sections, line) for line in done.accepted_lines))
    return [
        section.title
        for section in sections
        if done.initial[section.key] != done.final[section.key] and section.key not in asked
    ]


def undone(sections: Sequence[Section], done: Discussed) -> list[int]:
    """Return the numbers of accepted lines that name sections of which the final text changes none."""
    if done.initial is None or done.final is None:
        return []
    changed = {section.key for section in sections if done.initial[section.key] != done.final[section.key]}
    named = {number: named_sections(sections, done.discussion.scratchpad[number - 1]) for number in done.accepted or ()}
    return [number for number, keys in named.items() if keys and not keys & changed]


def form_page(task: Task, done: Discussed) -> str:
    """Return what raters read beside the form: both texts without saying which is which, and what is asked of them."""
    if done.initial is None or done.final is None:
        raise ValueError("a form needs two texts")
    form, texts = task.texts.form, (done.final, done.initial)
    first, second = texts if final_is_a(done.initial, done.final) else texts[::-1]
    parts = [f"# {form.title}", form.intro.strip(), f"## {task.kind.material_name}", task.material]
    parts += ["## A", _in_sections(task.sections, first), "## B", _in_sections(task.sections, second)]
    return _page(parts, questions(form, afterwards=False))


def corrections_page(task: Task, done: Discussed, language: str) -> str:
    """Return what raters read last: the scratchpad, by which the texts can be told, and what is asked of it."""
    form = task.texts.form
    taken, refused = _DECIDED.get(language, _DECIDED["en"])
    accepted = done.accepted or ()
    lines = [
        f"[{taken if number in accepted else refused}] {line}"
        for number, line in enumerate(done.discussion.scratchpad, 1)
    ]
    parts = [f"# {form.title}", form.afterwards.strip(), numbered(lines)]
    return _page(parts, questions(form, afterwards=True))


def _page(parts: Sequence[str], asked: Mapping[str, FormQuestion]) -> str:
    listed = [f"- {question.asks} ({', '.join(question.options)})" for question in asked.values()]
    return without_markup(printable("\n\n".join([*parts, *listed, ""])))


def _pad(sections: Sequence[Section], done: Discussed) -> str:
    if not done.discussion.scratchpad:
        return "It is empty."
    marks = {None: "?", True: "accepted", False: "rejected"}
    return "\n".join(
        f"{number}. [{marks[None if done.accepted is None else number in done.accepted]}] {line}"
        for number, line in enumerate(told_twice(sections, done.discussion.scratchpad), 1)
    )


def told_twice(sections: Sequence[Section], lines: Sequence[str]) -> list[str]:
    """Return the lines of a scratchpad, each that all but repeats an earlier one with the number of that.

    Both stay to be read: what differs may be a number or a "not". Lines about other sections are other corrections.
    """
    copies: dict[frozenset[str], NearCopies] = {}
    shown = []
    for number, line in enumerate(lines, 1):
        alike = copies.setdefault(named_sections(sections, line), NearCopies())
        earlier = alike.find(line)
        alike.add(line, str(number))
        shown.append(f"{line} (nearly the same as {earlier.label})" if earlier is not None else line)
    return shown


def _in_sections(sections: Sequence[Section], text: Sections) -> str:
    return as_text(sections, text).replace("## ", "### ")


def _changes(sections: Sequence[Section], initial: Sections, final: Sections, language: str) -> list[str]:
    parts = []
    for section in sections:
        before, after = initial[section.key], final[section.key]
        parts.append(f"### {section.title}")
        parts.append(
            "Unchanged.\n\n" + after if before == after else f"{_marked(before, after)}\n\n{_figures(after, language)}"
        )
    return parts


def _figures(text: str, language: str) -> str:
    found = measure(text, language)
    return f"({found.words} words, {found.words_per_sentence:.1f} a sentence, reading ease {found.reading_ease:.0f})"


def _marked(before: str, after: str) -> str:
    """Return the text with what went struck out and what came bold, word by word."""
    old, new = before.split(), after.split()
    parts: list[str] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(" ".join(old[a:b]))
            continue
        if b > a:
            parts.append(f"~~{' '.join(old[a:b])}~~")
        if d > c:
            parts.append(f"**{' '.join(new[c:d])}**")
    return " ".join(parts)


def advice_record(answers: Sequence[ShortAnswer], provenance: Provenance) -> dict[str, Any]:
    """Return advice on disputes as JSON."""
    return {**asdict(provenance), "advice": [_short_record(one) for one in answers]}


def _short_record(one: ShortAnswer) -> dict[str, Any]:
    return {
        "id": one.case.id,
        "before": dict(one.before.counts),
        "after": dict(one.after.counts),
        "advice": one.advice,
        "tie": {"before": one.before.tied, "after": one.after.tied},
        "ended": one.discussion.ended,
        "turns": [asdict(turn) for turn in one.discussion.turns],
    }


def advice_page(title: str, intro: str, answers: Sequence[ShortAnswer]) -> str:
    """Return advice as an adjudicator reads it, each with the case, the votes and the discussion."""
    parts = [f"# {title}", intro.strip()]
    for one in answers:
        parts += [f"## {one.case.id}", one.case.case]
        parts.append(
            f"Votes before: {_votes(one.before.counts)}. After: {_votes(one.after.counts)}. Advice: **{one.advised}**."
        )
        for turn in one.discussion.turns:
            parts.append(f"**{turn.speaker.capitalize()}.** {turn.text}")
    return without_markup(printable("\n\n".join([*parts, ""])))


def _votes(counts: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{answer} {count}" for answer, count in counts) or "none"


def compared_record(compared: Sequence[Compared], provenance: Provenance) -> dict[str, Any]:
    """Return answers to open questions as JSON."""
    answers = [
        {**_short_record(one.answer), "expected": one.expected, "exact": one.exact, "similar": one.similar}
        for one in compared
    ]
    return {**asdict(provenance), "answers": answers}


def experiment_record(
    experiments: Mapping[str, Experiment], rows: Sequence[TableRow], provenance: Provenance
) -> dict[str, Any]:
    """Return the corruption experiment as JSON: its table, and all texts, discussions and counts behind it."""
    return {
        **asdict(provenance),
        "table": [asdict(row) for row in rows],
        "conversations": {
            name: {
                "truth": one.truth,
                "levels": [
                    {
                        "level": each.level,
                        "texts": each.texts,
                        **_discussion_record(each.discussion),
                        "overlaps": {
                            version: {key: asdict(overlap) for key, overlap in found.items()}
                            for version, found in each.overlaps.items()
                        },
                    }
                    for each in one.levels
                ],
            }
            for name, one in experiments.items()
        },
    }

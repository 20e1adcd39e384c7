"""`klartext harness suite import`, `check`, `vignettes`: suites, patients, and whether they fit each other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Column, Table

from bot import BadData, Catalog, data_folder, friendly_errors, load_catalog, locate, read_question_set
from bot.web.rasa.stories import Said, Story, write_stories
from harness.commands import options
from harness.console import counted, nearest, plain_console, plain_table, print_json
from harness.patients.fidelity import MEASURES, WHOLE, FidelityJudge, Judgement, RangeMiss, VignetteDrift
from harness.patients.spoken_files import Origin, SpokenKind, read_dialogues, read_messages
from harness.patients.suites import (
    TURN,
    Dropped,
    Question,
    QuestionSource,
    Recording,
    Suite,
    contamination,
    load_suite,
    save_dialogues,
    save_suite,
)
from harness.patients.vignettes import ALL, Range, Targets, Vignette, load_file, load_folder, load_vignettes

STRATUM = "imported"  # unless somebody says whose voice the questions are in: a question set does not
URGENT = "urgent"  # instead of a pair: the message must reach a human
NOTE = """\
mean: what the range is about for readability and shares. outside: questions
outside the range, beyond what chance explains in so short a text (one-sided 5 %).
A measure drifts when its mean leaves the range, or clearly more than a tenth of
the questions do. unknown words: in no word list; dialect counts, grammar does not."""


Kind = Literal["questions", "dialogues", "everyday", "complaint", "foreign", "real-manner", "remark"]


@dataclass(frozen=True, slots=True)
class OriginOptions:
    """For which catalog the questions were written, and by whom."""

    lang: options.Language
    catalog: Annotated[str, typer.Option("--catalog", help="A shipped exam, or a catalog folder.", metavar="PATH")]
    by: Annotated[Literal["person", "model"], typer.Option("--by", help="Who wrote the questions.")]
    vignette: Annotated[
        list[str] | None,
        typer.Option("--vignette", help="In whose voice: once for all files, or once for each.", metavar="NAME"),
    ] = None
    model: Annotated[str | None, typer.Option("--model", help="Name of the model, if one wrote them.")] = None
    kind: Annotated[
        Kind, typer.Option("--kind", help="What the files hold: a question set, dialogues, or single messages.")
    ] = "questions"
    note: options.Note = ""
    vignettes: options.Vignettes = None

    @property
    def source(self) -> QuestionSource:
        if self.model is not None and self.by == "person":
            raise BadData("`--model` names the model that wrote the questions, but `--by` says a person did.")
        return QuestionSource(kind=self.by, model=self.model)

    def voices(self, files: Sequence[Path]) -> list[tuple[Path, Origin]]:
        """Return whose voice each file is in."""
        names = self.vignette or [STRATUM]
        if len(names) not in (1, len(files)):
            raise BadData(f"{len(files)} files need one `--vignette` for all, or one for each, not {len(names)}.")
        known = {one.id for one in load_vignettes(self.lang, self.vignettes, names=[ALL])} | {STRATUM}
        for name in names:
            if name not in known:
                raise BadData(
                    f"There is no vignette {name!r} in {self.lang}. Known: {nearest(name, known)}: `klartext harness "
                    "suite vignettes` lists them. Describe your own in a YAML file, and name its folder with "
                    "`--vignettes`."
                )
        each = names * len(files) if len(names) == 1 else names
        return [(file, Origin(self.lang, name, self.source)) for file, name in zip(files, each, strict=True)]

    def noted(self, files: Sequence[Path]) -> str:
        """Return what readers of results are told."""
        author = f"the model {self.model}" if self.model else f"a {self.by}"
        return self.note or f"Imported from {', '.join(file.name for file in files)}; written by {author}."


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="Questions: CSV, TSV, JSON or Rasa NLU YAML; no pair_id: out of scope; `urgent`: for a human. "
            "Else text, one dialogue or message a line.",
        ),
    ],
    out: options.NewSuite,
    origin: OriginOptions,
) -> None:
    """Make a suite of questions, dialogues or messages from files, for `klartext harness run`."""
    with friendly_errors():
        if out.exists():
            raise BadData(f"{out} exists, and suites are immutable. Choose another folder with `--out`.")
        voices = origin.voices(files)
        loaded = load_catalog(locate(origin.catalog), origin.lang)
        if origin.kind == "questions":
            said = _import_questions(voices, loaded, out, origin)
        elif origin.kind == "dialogues":
            said = _import_dialogues(voices, loaded, out, origin)
        else:
            said = _import_messages(origin.kind, voices, loaded, out, origin)
    typer.echo(f"{out}: {said}")


Voices = Sequence[tuple[Path, Origin]]


def _import_questions(voices: Voices, catalog: Catalog, out: Path, origin: OriginOptions) -> str:
    known = {pair.id for pair in catalog.pairs} | {URGENT}
    questions: list[Question] = []
    twice = 0
    for file, voice in voices:
        imported = read_question_set(file, whole=True)
        strange = sorted({pair.id for pair in imported.pairs} - known)
        if strange:
            raise BadData(
                f"{file} asks for {counted(len(strange), 'pair')} that {catalog.ref} does not have "
                f"({', '.join(strange[:5])}{', …' if len(strange) > 5 else ''}); like {strange[0]!r} it has "
                f"{nearest(strange[0], known)}. Give the catalog it was written for with `--catalog`."
            )
        twice += imported.duplicates
        questions += [_question(voice, text, pair.id) for pair in imported.pairs for text in pair.texts]
        questions += [_question(voice, text, None) for text in imported.background]
    found = {one.id: one for one in questions}
    dropped = tuple(Dropped("", "", "duplicate") for _ in range(twice + len(questions) - len(found)))
    meta = save_suite(
        out,
        catalog=catalog,
        note=origin.noted([file for file, _ in voices]),
        recording=Recording(tuple(found.values()), dropped, {}),
        today=date.today(),
    )
    urgent = f", {meta.counts[URGENT]} urgent" if URGENT in meta.counts else ""
    asked = counted(meta.counts["paraphrase"], "question")
    return f"{asked}, {meta.counts['novel']} out of scope{urgent}{_left_out(len(dropped))}"


def _question(voice: Origin, text: str, pair_id: str | None) -> Question:
    """Return a test question; `pair_id` may be `URGENT`, or None when it is out of scope."""
    return Question(
        id=hashlib.sha256(f"{pair_id}\0{text}".encode()).hexdigest()[:16],
        text=text,
        lang=voice.lang,
        vignette=voice.vignette,
        pair_id=None if pair_id == URGENT else pair_id,
        kind="urgent" if pair_id == URGENT else "paraphrase" if pair_id else "novel",
        source=voice.source,
    )


def _import_dialogues(voices: Voices, catalog: Catalog, out: Path, origin: OriginOptions) -> str:
    found = [one for file, voice in voices for one in read_dialogues(file, voice, catalog.by_id)]
    dialogues = list({one.id: one for one in found}.values())
    twice = len(found) - len(dialogues)
    meta = save_dialogues(
        out,
        catalog=catalog,
        note=origin.noted([file for file, _ in voices]),
        dialogues=dialogues,
        dropped={"duplicate": twice} if twice else {},
        today=date.today(),
    )
    said = counted(meta.counts["dialogue"], "dialogue"), counted(meta.counts[TURN], "turn")
    return f"{', '.join(said)}{_left_out(twice)}"


def _import_messages(kind: SpokenKind, voices: Voices, catalog: Catalog, out: Path, origin: OriginOptions) -> str:
    found = [one for file, voice in voices for one in read_messages(file, kind, voice)]
    messages = list({one.id: one for one in found}.values())
    dropped = tuple(Dropped("", "", "duplicate") for _ in range(len(found) - len(messages)))
    meta = save_suite(
        out,
        catalog=catalog,
        note=origin.noted([file for file, _ in voices]),
        recording=Recording(tuple(messages), dropped, {}),
        today=date.today(),
    )
    return f"{counted(meta.counts[kind], 'message')} of kind {kind}{_left_out(len(dropped))}"


def _left_out(duplicates: int) -> str:
    return f", {counted(duplicates, 'duplicate')} left out" if duplicates else ""


@dataclass(frozen=True, slots=True)
class FidelityOptions:
    """Whether questions are also measured against their patients."""

    fidelity: Annotated[
        bool, typer.Option("--fidelity", help="Also measure every question against its vignette's ranges.")
    ] = False
    vignettes: options.Vignettes = None
    most: Annotated[
        int, typer.Option("--list", min=0, help="Show so many questions unlike their patient.", metavar="N")
    ] = 5


def check(
    suite: options.Suite,
    measured: FidelityOptions,
    catalog: options.CatalogPath = "mammography",
    json_: options.Json = False,
) -> None:
    """Check that no question of a suite is also a training text, or nearly; exit 1 if any is."""
    with friendly_errors():
        loaded = load_suite(suite)
        found = contamination(loaded, load_catalog(locate(catalog), loaded.meta.language))
        record: dict[str, Any] = {
            "suite": loaded.meta.name,
            "suite_hash": loaded.meta.sha256,
            "questions": len(loaded.questions),
            "near_copies": [
                {"id": one.question.id, "pair_id": one.pair_id, "similarity": one.similarity} for one in found
            ],
        }
        if not json_:
            for one in found:
                print(f"{one.question.id}: {one.question.text!r} ~ {one.text!r} ({one.pair_id}, {one.similarity:.2f})")
            copies = "1 near copy" if len(found) == 1 else f"{len(found)} near copies"
            print(f"{counted(len(loaded.questions), 'question')}, {copies} of training texts")
        if measured.fidelity:
            record |= _fidelity(loaded, measured, shown=not json_)
        if json_:
            print_json(record)
    raise typer.Exit(1 if found else 0)


def vignettes(
    lang: options.Language = "de",
    check: Annotated[
        Path | None, typer.Option("--check", help="Only check a vignette file or a folder of them.", metavar="PATH")
    ] = None,
) -> None:
    """List the patients that can be impersonated, or check one's own."""
    with friendly_errors():
        if check is not None:
            files = load_folder(check) if check.is_dir() else [load_file(check)]
            if not files:
                raise BadData(f"{check} holds no vignette (*.yaml). Give a vignette file, or a folder of them.")
            languages = sorted({language for file in files for language in file.languages})
            print(f"{check}: {len(files)} valid, in {', '.join(languages)}")
            return
        found = load_vignettes(lang, names=[ALL])
        plain_console().print(_patients(found))
        print(
            f"{len(found)} vignettes in {data_folder('vignettes')}; * asked by default, the others with `--vignette`."
        )


def _patients(found: tuple[Vignette, ...]) -> Table:
    """Return a table that fits 80 columns and never cuts an id, since people type it."""

    def between(limits: Range, scale: float = 1) -> str:
        return f"{limits[0] * scale:.0f} to {limits[1] * scale:.0f}"

    names = ("health,\nlanguage", "age", "types by", "words", "reading\nease", "jargon\n%")
    table = plain_table("Patients to impersonate", "vignette", *map(Column, names), padding=0)
    for one in found:
        table.add_row(
            f"{'*' if one.by_default else ' '} {one.id}",
            f"{one.literacy.health}, {one.literacy.language}",
            between(one.age) if one.age else "",
            one.typing.input if one.typing else "",
            between(one.targets.words),
            between(one.targets.reading_ease),
            between(one.targets.jargon_share, 100),
        )
    return table


def _fidelity(suite: Suite, measured: FidelityOptions, *, shown: bool) -> dict[str, Any]:
    """Measure every question against its vignette's ranges; show where a vignette drifts, or only return it."""
    judge = FidelityJudge.open(suite.meta.language, measured.vignettes)
    judged = judge.judge_all(suite.questions)
    drifts = judge.drift(judged)
    if shown:
        console = plain_console(soft_wrap=True)
        for drift in drifts:
            console.print()
            console.print(_drift_table(judge.vignettes[drift.vignette].title, drift))
        console.print(NOTE, style="dim")
        for line in _outside(judged, {question.id: question.text for question in suite.questions}, measured.most):
            console.print(line)
    return {
        "vignettes": {drift.vignette: drift.as_json() for drift in drifts},
        "outside": {one.id: [reason(miss) for miss in one.misses] for one in judged if one.misses},
    }


def _drift_table(title: str, drift: VignetteDrift) -> Table:
    """Return the table of one vignette; measures without a range of their own are left out while they fit."""
    caption = f"{title}: {drift.n} questions, {drift.outside} unlike this patient"
    table = plain_table(
        caption, "measure", "target", "median", "5 to 95 %", "mean", "outside", Column("verdict", no_wrap=True)
    )
    for one in drift.measures:
        limited = one.target != Targets.model_fields[one.measure].default or one.measure == "foreign_share"
        if one.verdict == "fits" and not limited:
            continue
        show = [_number(one.measure, value) for value in (*one.target, one.median, one.low, one.high)]
        mean, outside = _number(one.measure, one.mean, digits=1), f"{100 * one.outside:.1f} %"
        ranges = (f"{show[0]} to {show[1]}", show[2], f"{show[3]} to {show[4]}")
        table.add_row(MEASURES[one.measure], *ranges, mean, outside, one.verdict)
    return table


def _number(measure: str, value: float, digits: int = 0) -> str:
    return f"{value if measure in WHOLE else 100 * value:.{digits}f}"


def _outside(judged: Sequence[Judgement], texts: dict[str, str], most: int) -> Iterator[str]:
    """Yield up to `most` questions that look unlike their patient, with the reason."""
    unlike = [one for one in judged if one.misses]
    for one in unlike[:most]:
        yield f"{one.id}: {'; '.join(map(reason, one.misses))}: {texts[one.id]}"
    if most and len(unlike) > most:
        yield f"… and {len(unlike) - most} more"


def reason(miss: RangeMiss) -> str:
    """Say in a few words why a question is unlike its patient."""
    low, high = (_number(miss.measure, value) for value in miss.target)
    return f"{MEASURES[miss.measure]} {miss.side} ({_number(miss.measure, miss.value)}, not {low} to {high})"


def stories(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Folder to write, new or empty: `tests` in the exported project.")
    ],
    suite: options.Suite = "mammography-de",
) -> None:
    """Write a suite as test stories and test examples for `rasa test`, of a project in native mode."""
    with friendly_errors():
        opened = load_suite(suite)
        written = write_stories(list(_told(opened.questions)), out)
        print(f"{out}: {counted(len(written), 'story', 'stories')} of {opened.meta.name}")
        if left := len(opened.questions) - sum(len(story.said) for story in written):
            print(f"{counted(left, 'message')} left out: Rasa alone has no place for them, or for what should come.")
        print(f"Test the project with `rasa test --stories {out.name} --nlu {out.name}/test_nlu.yml`.")


def _told(questions: Sequence[Question]) -> Iterator[Story]:
    """Yield what each patient says, as far as a pair's answer, or none, should come of it."""
    for name, own in groupby(questions, key=lambda each: each.dialogue or each.id):
        said: list[Said] = []
        for question in own:
            found = _said(question, said[-1].pair_id if said else None)
            if found is None:
                break
            said.append(found)
        if said:
            yield Story(name, said)


def _said(question: Question, before: str | None) -> Said | None:
    """Return a message with the pair that should be shown; None where something else should come of it."""
    expect = question.expect
    if expect is None:
        return None if question.kind == URGENT else Said(question.text, question.pair_id)
    alone = question.dialogue is None or question.turn == 1 or bool(expect.new)
    if expect.name in ("pair", "same"):
        return Said(question.text, expect.pair or before, alone=alone)
    return Said(question.text, None, alone=alone) if expect.name in ("nothing", "unanswered") else None

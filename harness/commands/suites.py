"""Other people's test questions as a suite: the same files that `klartext qa import` reads.

`klartext harness vignettes`: who may ask, and whether one's own patients are written right.

`klartext harness fidelity`: whether a suite's questions look like the patients who are said to ask them.

Fidelity for people: a table per vignette, and the questions that look unlike their patient."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from bot import BadData, data_folder, friendly_errors, load_catalog, locate, read_question_set
from harness.commands.options import LanguageOption
from harness.patients.fidelity import Drift, FidelityJudge, Judged, Miss, VignetteDrift
from harness.patients.suites import Question, QuestionSource, Recording, Suite, load_suite, save_suite
from harness.patients.vignettes import ALL, Range, Targets, Vignette, load_file, load_folder, load_vignettes

STRATUM = "imported"  # unless somebody says whose voice the questions are in: a question set does not
URGENT = "urgent"  # instead of a pair: the message must reach a human
NAMES = {
    "words": "words",
    "reading_ease": "reading ease",
    "jargon_share": "jargon, %",
    "typo_share": "unknown words, %",
    "foreign_share": "foreign words, %",
    "capital_share": "capitals, %",
    "marks_per_word": "marks, per 100 words",
}
WHOLE = ("words", "reading_ease")
NOTE = """\
mean: what the range is about for readability and shares. outside: questions
outside the range, beyond what chance explains in so short a text (one-sided 5 %).
A measure drifts when its mean leaves the range, or clearly more than a tenth of
the questions do. unknown words: in no word list; dialect counts, grammar does not."""


def import_suite(  # noqa: PLR0913 - one parameter an option
    file: Annotated[
        Path, typer.Argument(help="CSV, TSV, JSON or Rasa NLU YAML; no pair_id: out of scope; `urgent`: for a human.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder of the suite to write.")],
    lang: Annotated[Literal["de", "en"], typer.Option("--lang", help="Language of the questions.")],
    catalog: Annotated[str, typer.Option("--catalog", help="A shipped exam, or a catalog folder.", metavar="PATH")],
    by: Annotated[Literal["person", "model"], typer.Option("--by", help="Who wrote the questions.")],
    vignette: Annotated[str, typer.Option("--vignette", help="In whose voice.", metavar="NAME")] = STRATUM,
) -> None:
    """Make a suite of test questions from a question set, for `klartext harness run`."""
    with friendly_errors():
        if not re.fullmatch(r"[a-z0-9-]+", vignette):
            raise BadData(f"{vignette!r} is no name of a vignette. Use small letters, digits, hyphens.")
        source = _Source(lang, by, vignette)
        imported = read_question_set(file)
        loaded = load_catalog(locate(catalog), lang)
        known = {pair.id for pair in loaded.pairs} | {URGENT}
        strange = sorted({pair.id for pair in imported.pairs} - known)
        if strange:
            raise BadData(
                f"{file} asks for pairs that {loaded.ref} does not have ({', '.join(strange[:5])}). "
                "Give the catalog it was written for with `--catalog`."
            )
        asked = [(text, pair.id) for pair in imported.pairs for text in pair.texts]
        texts = [*asked, *((text, None) for text in imported.background)]
        questions = tuple(_question(text, pair_id, source) for text, pair_id in texts)
        meta = save_suite(
            out,
            catalog=loaded,
            note=f"Imported from {file.name}; written by a {by}.",
            recording=Recording(questions, (), {}),
            today=date.today(),
        )
    urgent = f", {meta.counts[URGENT]} urgent" if URGENT in meta.counts else ""
    typer.echo(f"{out}: {meta.counts['paraphrase']} questions, {meta.counts['novel']} out of scope{urgent}")


@dataclass(frozen=True, slots=True)
class _Source:
    lang: str
    by: Literal["person", "model"]
    vignette: str


def _question(text: str, pair_id: str | None, source: _Source) -> Question:
    return Question(
        id=hashlib.sha256(f"{pair_id}\0{text}".encode()).hexdigest()[:16],
        text=text,
        lang=source.lang,
        vignette=source.vignette,
        pair_id=None if pair_id == URGENT else pair_id,
        kind="urgent" if pair_id == URGENT else "paraphrase" if pair_id else "novel",
        source=QuestionSource(kind=source.by),
    )


def vignettes(
    lang: LanguageOption = "de",
    check: Annotated[
        Path | None, typer.Option("--check", help="Only check a vignette file or a folder of them.", metavar="PATH")
    ] = None,
) -> None:
    """List the patients that can be impersonated, or check one's own."""
    with friendly_errors():
        if check is not None:
            print(_checked(check))
            return
        found = load_vignettes(lang, names=[ALL])
        Console(highlight=False, markup=False).print(_table(found))
        print(
            f"{len(found)} vignettes in {data_folder('vignettes')}; * asked by default, the others with `--vignette`."
        )


def _checked(path: Path) -> str:
    """Check a file, or every vignette of a folder; raise BadData at the first fault."""
    if path.is_dir():
        files = load_folder(path)
        if not files:
            raise BadData(f"{path} holds no vignette (*.yaml). Give a vignette file, or a folder of them.")
    else:
        files = [load_file(path)]
    languages = sorted({language for file in files for language in file.languages})
    return f"{path}: {len(files)} valid, in {', '.join(languages)}"


def _table(found: tuple[Vignette, ...]) -> Table:
    """Return a table that fits 80 columns and never cuts an id, since people type it."""
    table = Table(
        title="Patients to impersonate", title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False
    )
    table.add_column("vignette", no_wrap=True)
    for name in ("health,\nlanguage", "age", "types by", "words", "reading\nease", "jargon\n%"):
        table.add_column(name)
    for one in found:
        table.add_row(
            f"{'*' if one.by_default else ' '} {one.id}",
            f"{one.literacy.health}, {one.literacy.language}",
            _range(one.age) if one.age else "",
            one.typing.input if one.typing else "",
            _range(one.targets.words),
            _range(one.targets.reading_ease),
            _range(one.targets.jargon_share, 100),
        )
    return table


def _range(limits: Range, scale: float = 1) -> str:
    return f"{limits[0] * scale:.0f} to {limits[1] * scale:.0f}"


def fidelity(
    suite: Annotated[str, typer.Option("--suite", help="A shipped suite, or its folder.")],
    vignettes: Annotated[Path | None, typer.Option("--vignettes", help="Folder of vignettes of your own.")] = None,
    most: Annotated[int, typer.Option("--list", min=0, help="Show so many questions unlike their patient.")] = 5,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Measure every question against its vignette's ranges, and show where a vignette drifts."""
    with friendly_errors():
        loaded = load_suite(suite)
        judge = FidelityJudge.open(loaded.meta.language, vignettes)
        judged = judge.judge_all(loaded.questions)
        drifts = judge.drift(judged)
        if json_:
            print(json.dumps(as_json(loaded, judged, drifts), ensure_ascii=False, indent=2))
            return
        console = Console(highlight=False, markup=False, soft_wrap=True)
        for drift in drifts:
            console.print(drift_table(judge.vignettes[drift.vignette].title, drift))
            console.print()
        console.print(NOTE, style="dim")
        texts = {question.id: question.text for question in loaded.questions}
        for line in outside_lines(judged, texts, most):
            console.print(line)


def as_json(suite: Suite, judged: list[Judged], drifts: list[VignetteDrift]) -> dict[str, Any]:
    """Return the whole report as JSON."""
    outside = {one.id: [reason(miss) for miss in one.misses] for one in judged if one.misses}
    return {
        "suite": suite.meta.name,
        "suite_hash": suite.meta.sha256,
        "questions": len(judged),
        "vignettes": {drift.vignette: drift.as_json() for drift in drifts},
        "outside": outside,
    }


def drift_table(title: str, drift: VignetteDrift) -> Table:
    """Return the table of one vignette; measures without a range of their own are left out while they fit."""
    caption = f"{title}: {drift.n} questions, {drift.outside} unlike this patient"
    table = Table(title=caption, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("measure", no_wrap=True)
    for name in ("target", "median", "5 to 95 %", "mean", "outside"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for one in drift.measures:
        if one.verdict != "fits" or not _unlimited(one):
            table.add_row(*_cells(one))
    return table


def _unlimited(one: Drift) -> bool:
    """Whether the range is the one that leaves everything open."""
    return one.target == Targets.model_fields[one.measure].default and one.measure != "foreign_share"


def _cells(one: Drift) -> list[str]:
    show = [_number(one.measure, value) for value in (*one.target, one.median, one.low, one.high)]
    return [
        NAMES[one.measure],
        f"{show[0]} to {show[1]}",
        show[2],
        f"{show[3]} to {show[4]}",
        _number(one.measure, one.mean, digits=1),
        f"{100 * one.outside:.1f} %",
        one.verdict,
    ]


def _number(measure: str, value: float, digits: int = 0) -> str:
    return f"{value if measure in WHOLE else 100 * value:.{digits}f}"


def outside_lines(judged: Sequence[Judged], texts: dict[str, str], most: int) -> Iterator[str]:
    """Yield up to `most` questions that look unlike their patient, with the reason."""
    unlike = [one for one in judged if one.misses]
    for one in unlike[:most]:
        yield f"{one.id}: {'; '.join(map(reason, one.misses))}: {texts[one.id]}"
    if most and len(unlike) > most:
        yield f"… and {len(unlike) - most} more"


def reason(miss: Miss) -> str:
    """Say in a few words why a question is unlike its patient."""
    low, high = (_number(miss.measure, value) for value in miss.target)
    return f"{NAMES[miss.measure]} {miss.side} ({_number(miss.measure, miss.value)}, not {low} to {high})"

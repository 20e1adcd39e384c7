"""`klartext author corruption` and `forms`: how much of a spoiled summary is mended, and what raters say of texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot import BadData, fold, friendly_errors, locate
from harness.authoring.discussion.content import conversation_task
from harness.authoring.discussion.conversation import read_conversation
from harness.authoring.discussion.corruption import LEVELS, Experiment, TableRow, corruption_experiment, table_of
from harness.authoring.discussion.rating_form import FORM, Tally, tally
from harness.authoring.discussion.report import experiment_record
from harness.authoring.discussion.texts import Section, load_texts
from harness.commands.author_discussion import EXAM, FORMS, RESULT, Material, Study, hash_of
from harness.commands.options import ModelOptions
from harness.console import counted, plain_console, plain_table
from harness.files import as_document


def corruption(
    conversations: Annotated[
        list[Path], typer.Argument(help="Exported conversations (`klartext records export`).", metavar="FILE...")
    ],
    material: Material,
    asking: ModelOptions,
    levels: Annotated[str, typer.Option("--levels", help="How much is corrupted, of 10.")] = ",".join(map(str, LEVELS)),
) -> None:
    """Corrupt summaries, have them corrected in one pass and by discussion, and compare their concepts."""
    with friendly_errors():
        wanted = _levels(levels)
        if material.basis is not None:
            raise BadData("`--basis` is what a pair must hold to. Leave it out.")
        read = [read_conversation(path) for path in conversations]
        if len({one.id for one in read}) < len(read):
            raise BadData("One conversation is given twice. Give each once.")
        if len({one.language for one in read}) > 1:
            raise BadData("The conversations are in several languages. Give those of one language.")
        texts = load_texts(material.lang or read[0].language)
        exam = locate(material.catalog or EXAM).name
        tasks = {f"c{number}": conversation_task(texts, one, exam=exam) for number, one in enumerate(read, 1)}
        content = hash_of(*(task.material for task in tasks.values()), exam, texts.model_dump_json())
        identity = {"kind": "corruption", "content": content, "levels": levels, "turns": str(material.turns)}
        out = material.patients_folder("corruption", [one.id for one in read])
        study = Study(out, "corruption", identity, asking, material.words)
        done, provenance = study.carry_on(lambda: corruption_experiment(tasks, wanted, turns=material.turns))
        sections = texts.tasks["summary"].sections
        rows = table_of(list(done.values()), sections, wanted)
        study.write(RESULT, as_document(experiment_record(done, rows, provenance)))
        _show_table(rows, sections, done)
        print(f"Texts, discussions and counts are in {out / RESULT}.")


def _levels(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 3 and 1 <= int(part) <= 10 for part in parts):
        raise BadData(f"`--levels {text}` holds no levels. Give whole numbers from 1 to 10, as in `--levels 3,5,7`.")
    return tuple(dict.fromkeys(int(part) for part in parts))


def _show_table(rows: Sequence[TableRow], sections: Sequence[Section], done: Mapping[str, Experiment]) -> None:
    scored = [section for section in sections if section.scored]
    columns = [*(section.title for section in scored), "average", "n"]
    shown = plain_table("F1 of concepts (GPT-F1), 0 to 100", "level, version", *columns)
    for row in rows:
        # A section in which nobody has concepts does not count: it may stand for fewer conversations than its row.
        cells = [
            "-" if (value := row.sections[section.key]) is None else f"{value:.1f} ({row.counted[section.key]})"
            for section in scored
        ]
        average = "-" if row.average is None else f"{row.average:.1f}"
        shown.add_row(f"{row.level} {row.version}", *cells, average, str(row.n))
    console = plain_console(soft_wrap=True)
    console.print(shown)
    held = [each.discussion for one in done.values() for each in one.levels if each.discussion.ended != "unusable"]
    if held:
        turns = sum(len(each.turns) for each in held) / len(held)
        lines = sum(len(each.scratchpad) for each in held) / len(held)
        console.print(
            f"{counted(len(held), 'discussion')}: {turns:.1f} turns and {lines:.1f} lines on the scratchpad on average."
        )
    console.print("In brackets: in how many conversations the section has concepts.")
    for level, left_out in {row.level: row.left_out for row in rows}.items():
        for why, number in left_out.items():
            console.print(f"Left out at level {level}: {counted(number, 'conversation')}, {why}.")


def forms(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of `discuss`, with filled forms.", metavar="FOLDER...")
    ],
    lang: Annotated[Literal["de", "en"], typer.Option("--lang", help="Language of the forms.")] = "de",
) -> None:
    """Count what raters said in filled forms (`form-NAME.csv`): preferred, captured, agreed, harmful."""
    with friendly_errors():
        texts = load_texts(lang).form
        found: list[tuple[Path, bool]] = []
        for folder in folders:
            filled = sorted([*folder.glob("form-*.csv"), *(folder / FORMS).glob("form-*.csv")])
            if not filled:
                raise BadData(f"{folder} holds no filled form. Save copies of {folder / FORM} as form-NAME.csv.")
            known: dict[str, Path] = {}
            for path in filled:
                rater = fold(path.stem.removeprefix("form-"))
                if (other := known.setdefault(rater, path)) is not path:
                    raise BadData(
                        f"{path.name} is in {path.parent}, and {other.name} in {other.parent}: these are one rater's. "
                        "Take one away, or rename another's."
                    )
            found += [(path, _final_is_a(folder)) for path in filled]
        said = tally(found, texts)
        if not said.n:
            raise BadData(f"Nobody has filled in {said.blank[0]} or another form here. Fill in the column `answer`.")
        _show_tally(said)
        for path in said.blank:
            print(f"Not counted: {path} has no answer yet.")


def _final_is_a(folder: Path) -> bool:
    try:
        said = json.loads((folder / RESULT).read_text(encoding="utf-8"))["form_final_is"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadData(f"{folder} holds no finished discussion. Give folders of `klartext author discuss`.") from error
    if said not in ("A", "B"):
        raise BadData(f"{folder} holds no final text yet. Decide on its scratchpad first: `--accept`.")
    return bool(said == "A")


def _show_tally(found: Tally) -> None:
    def told(counts: Mapping[str, int]) -> str:
        return ", ".join(f"{answer} {count} ({count / found.n:.0%})" for answer, count in counts.items()) or "-"

    shown = plain_table(f"What raters said ({counted(found.n, 'form')})", "question", "answers")
    shown.add_row("preferred", told(found.preferred))
    for version in ("initial", "final"):
        shown.add_row(f"captured, {version}", told(found.captured[version]))
    shown.add_row("corrections agreed with", told(found.agreed))
    for version in ("initial", "final"):
        shown.add_row(f"harmful, {version}", told(found.harmful[version]))
    plain_console(soft_wrap=True).print(shown)

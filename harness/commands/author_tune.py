"""`klartext author draft-tune`: a map behind the encoder that finds the passages of documents better, if it does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot import Settings, friendly_errors, load_catalog, locate, make_encoder
from harness.commands import options
from harness.commands.author_evidence import Documents, RetrieverOptions, tell_left_out
from harness.commands.authoring import WorkPath, carry_on
from harness.commands.options import ModelOptions
from harness.console import counted, plain_console, plain_table
from harness.files import as_document, writing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.authoring.evidence.retrieval import Retriever
    from harness.authoring.evidence.study import Target
    from harness.authoring.evidence.teaching import Course, Tuning

TUNED, MADE = "tuned.npz", "questions.jsonl"


@dataclass(frozen=True, slots=True)
class Lesson:
    """What the retriever is tuned by, and measured on."""

    documents: Documents
    teach: Annotated[
        Literal["pairs", "questions", "sentences", "model"],
        typer.Option(
            "--teach", help="What teaches: a catalog's pairs, the set, sentences by rule, a model's questions."
        ),
    ] = "pairs"
    questions: Annotated[
        Path | None,
        typer.Option("--questions", help="Question-passage set to measure on. Default: shipped.", metavar="FILE"),
    ] = None
    catalog: options.CatalogPath = "mammography"
    lang: options.Language = "de"
    encoder: options.Encoder = "embedded"
    strength: Annotated[
        float | None,
        typer.Option("--strength", min=0.001, max=100, help="Penalty on change. Default: chosen within the lessons."),
    ] = None


def draft_tune(lesson: Lesson, out: WorkPath, asking: ModelOptions) -> None:
    """Tune the dense search of `draft` by questions and what answers them; measured where nothing was taught.

    Use the file with `--tuned` where it gained; exit code 1 while prompts wait for answers (`--teach model`).
    """
    from harness.authoring.evidence import study as studies
    from harness.authoring.evidence import teaching
    from harness.authoring.evidence.drafting import Queries, load_glossary
    from harness.authoring.evidence.retrieval import with_glossary

    with friendly_errors():
        encoder = make_encoder(lesson.encoder, Settings.from_environment())
        collection, retriever = RetrieverOptions(lesson.documents, encoder=lesson.encoder).open(encoder)
        tell_left_out(collection)
        file = lesson.questions or studies.questions_file(lesson.lang)
        targets = studies.load_targets(file, retriever.passages)
        glossary = load_glossary(lesson.lang)
        queries = {each.id: Queries(each.question, glossary=with_glossary(each.question, glossary)) for each in targets}
        course = _course(lesson, retriever, targets, out, asking)
        tuning = teaching.tune(course, teaching.Trial(targets, queries, retriever), lesson.strength)
        about = [
            f"taught by {course.source}; encoder {encoder.name}",
            f"strength of the penalty: {tuning.strength or 'none finds more within the lessons than leaving it out'}",
            f"{counted(len(targets), 'question')} of {file.name}, {counted(len(retriever.passages), 'passage')} of "
            f"{counted(len(collection.documents), 'document')} in {collection.folder.name}",
            f"held out for each question: {course.held_out}",
        ]
        _write(tuning, about, out)
        _say(tuning, about, out)


def _course(lesson: Lesson, retriever: Retriever, targets: Sequence[Target], out: Path, asking: ModelOptions) -> Course:
    from harness.authoring.evidence import teaching
    from harness.authoring.workshop import NOTE, Workshop
    from harness.llm.work_folder import WorkFolder

    if lesson.teach != "model":  # nobody is asked, and yet the results must not take the place of other work's
        identity = {"work": "evidence tuning", "teach": lesson.teach, "passages": _hash(retriever), "lang": lesson.lang}
        WorkFolder.claim(out, identity, note=NOTE)
    if lesson.teach == "pairs":
        return teaching.by_pairs(load_catalog(locate(lesson.catalog), lesson.lang), retriever.encoder)
    if lesson.teach == "questions":
        return teaching.by_targets("questions of the set", targets, retriever)
    if lesson.teach == "sentences":
        return teaching.by_sentences(retriever)
    from harness.authoring.evidence.study import load_targets

    texts = teaching.load_teaching(lesson.lang)
    identity = {
        "work": "evidence teaching",
        "passages": _hash(retriever),
        "prompts": texts.digest,
    }
    made = carry_on(Workshop.open(out, identity, lambda: teaching.asked_of(retriever.passages, texts)), asking).result
    with writing(out / MADE):
        lines = "".join(f"{each.model_dump_json()}\n" for each in made or ())
        (out / MADE).write_text(lines, encoding="utf-8")
    return teaching.by_targets("questions of a model", load_targets(out / MADE, retriever.passages), retriever)


def _hash(retriever: Retriever) -> str:
    from harness.patients.prompts import hash_of

    return hash_of([{"id": each.id, "text": each.with_heading} for each in retriever.passages])


def _write(tuning: Tuning, about: Sequence[str], out: Path) -> None:
    from harness.authoring.evidence import study as studies

    rows = [row for each in tuning.comparisons for row in (each.before, each.after)]
    changes = [(each, *each.change()) for each in tuning.comparisons]
    record = {
        "about": about,
        "gains": tuning.gains,
        "rows": [row.as_json() for row in rows],
        "changes": {each.before.name: {"mrr": mean, "interval": one.as_json()} for each, mean, one in changes},
    }
    if tuning.tuned is not None:
        tuning.tuned.write(out / TUNED)
    told = "\n".join(
        f"- {each.before.name}: MRR {mean:+.3f} ({one.low:+.3f} to {one.high:+.3f}, bootstrap over questions)"
        for each, mean, one in changes
    )
    with writing(out / "result.json"):
        (out / "result.json").write_text(as_document(record), encoding="utf-8")
        text = f"{studies.page(rows, about)}\n## What tuning changes\n\n{told}\n\n{tuning.verdict}\n"
        (out / "result.md").write_text(text, encoding="utf-8")


def _say(tuning: Tuning, about: Sequence[str], out: Path) -> None:
    table = plain_table(None, "", "recall@1", "recall@5", "MRR", "change of MRR")
    for each in tuning.comparisons:
        mean, bounds = each.change()
        for row, change in ((each.before, ""), (each.after, f"{mean:+.3f} ({bounds.low:+.3f} to {bounds.high:+.3f})")):
            shares = [f"{row.found(depth) / len(row.ranks):.3f}" for depth in (1, 5)]
            table.add_row(row.name, *shares, f"{row.mrr:.3f}", change)
    console = plain_console(soft_wrap=True)
    console.print(*about, sep="\n")
    console.print(table)
    console.print(tuning.verdict)
    if tuning.tuned is not None:
        console.print(f"To search with it: `--tuned {out / TUNED}` on `draft` and `draft-study`.")

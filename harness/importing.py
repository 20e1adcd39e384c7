"""Other people's test questions as a suite: the same files that `klartext qa import` reads."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot import BadData, friendly_errors, load_catalog, locate, read_question_set
from harness.questions import Question, QuestionSource, Recording
from harness.suite import save_suite

STRATUM = "imported"  # unless somebody says whose voice the questions are in: a question set does not
URGENT = "urgent"  # instead of a pair: the message must reach a human


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

"""`klartext interview`: the batch door to the interview."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.errors import friendly_errors
from bot.fhir_files import files_in, read_json, write_text
from bot.interface_texts import LANGUAGES
from bot.interview.assemble import Heading
from bot.interview.fhir_json import as_object, dump
from bot.interview.form import Form
from bot.interview.interview import Interview
from bot.interview_batch import Batch
from bot.interview_script import Script, read_lines
from bot.interviewing import form_of

IN_PROGRESS = 3


def interview(
    questionnaire: Annotated[Path, typer.Option(help="The Questionnaire (R4, JSON), or a Bundle with its value sets.")],
    answers: Annotated[Path, typer.Option(help="What the patient says: linkId, tab, text; or just text.")],
    out: Annotated[Path, typer.Option(help="Where the QuestionnaireResponse goes.")],
    lang: Annotated[
        Literal["de", "en"] | None, typer.Option(help="Language. Default: that of the Questionnaire, else English.")
    ] = None,
    terminology: Annotated[
        list[Path] | None, typer.Option(help="Value sets and code systems (files or folders); may be repeated.")
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Read-backs and the summary wait for a line, too.")
    ] = False,
) -> None:
    """Interview a patient whose answers are in a file; exit 0 when completed, 3 when something is left open."""
    with friendly_errors():
        documents = [as_object(read_json(path).value) for path in (questionnaire, *files_in(terminology or ()))]
        form = form_of(*documents)
        script = Script(read_lines(answers, form), form)
        now = datetime.now().astimezone()
        asked = Interview(form, now=now)
        session = Batch(asked, script, confirm=confirm, write=_write).run(lang or _language(form))
        response = asked.response(session, Heading("", now.isoformat(timespec="seconds")))
        write_text(out, dump(response) + "\n")
    for refusal in asked.refusals(session) if session.status == "in-progress" else ():
        print(f"klartext: not completed, the validator refuses {refusal}", file=sys.stderr)
    if unused := script.unused():
        print(f"klartext: never asked, or not again: {', '.join(dict.fromkeys(unused))}", file=sys.stderr)
    raise typer.Exit(IN_PROGRESS if session.status == "in-progress" else 0)


def _language(form: Form) -> str:
    spoken = (tag.partition("-")[0].lower() for tag in form.languages)
    return next((tag for tag in spoken if tag in LANGUAGES), "en")


def _write(line: str) -> None:
    # A lone surrogate is no UTF-8.
    print(line.encode("utf-8", "backslashreplace").decode(), flush=True)

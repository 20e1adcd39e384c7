"""`klartext interview`: the batch door to the interview."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.errors import BadData, friendly_errors
from bot.fhir_files import read_json, resources_in, shipped_terminology
from bot.interface_texts import LANGUAGES
from bot.interview.assemble import Heading
from bot.interview.definition import load_form
from bot.interview.fhir_json import as_object, dump
from bot.interview.form import Form
from bot.interview.interview import Interview
from bot.interview_batch import Batch
from bot.interview_script import Script, read_lines

IN_PROGRESS = 3


def interview(
    questionnaire: Annotated[Path, typer.Option(help="The Questionnaire (R4, JSON), or a Bundle with its value sets.")],
    answers: Annotated[Path, typer.Option(help="What the patient says: linkId, tab, text; or just text.")],
    out: Annotated[Path, typer.Option(help="Where the QuestionnaireResponse goes.")],
    lang: Annotated[
        Literal["de", "en"] | None, typer.Option(help="Language. Default: that of the Questionnaire, else English.")
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Read-backs and the summary wait for a line, too.")
    ] = False,
) -> None:
    """Interview a patient whose answers are in a file; exit 0 when completed, 3 when something is left open."""
    with friendly_errors():
        form = read_form(questionnaire)
        script = Script(read_lines(answers, form), form)
        now = datetime.now().astimezone()
        asked = Interview(form, now=now)
        session = Batch(asked, script, confirm=confirm, write=_write).run(lang or _language(form))
        _save(out, dump(asked.response(session, Heading("", now.isoformat(timespec="seconds")))))
    if unused := script.unused():
        print(f"klartext: never asked, or not again: {', '.join(dict.fromkeys(unused))}", file=sys.stderr)
    raise typer.Exit(IN_PROGRESS if session.status == "in-progress" else 0)


def read_form(path: Path) -> Form:
    """Read a Questionnaire, or a Bundle of one with its value sets and code systems.

    Raises:
        BadData: There is not just one Questionnaire.
        UnsupportedQuestionnaire: It cannot be asked as it is meant.
    """
    resources = resources_in(as_object(read_json(path).value))
    forms = [each for each in resources if each.get("resourceType") == "Questionnaire"]
    if len(forms) != 1:
        raise BadData(f"{path}: {len(forms)} Questionnaires. Give `--questionnaire` a file with one Questionnaire.")
    return load_form(forms[0], resources=resources, known=shipped_terminology())


def _language(form: Form) -> str:
    spoken = (tag.partition("-")[0].lower() for tag in form.languages)
    return next((tag for tag in spoken if tag in LANGUAGES), "en")


def _write(line: str) -> None:
    # A lone surrogate is no UTF-8.
    print(line.encode("utf-8", "backslashreplace").decode(), flush=True)


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text.encode("utf-8", "backslashreplace").decode() + "\n", encoding="utf-8")
    except OSError as error:
        raise BadData(f"{path}: {error.strerror or 'cannot be written'}. Give `--out` another file.") from None

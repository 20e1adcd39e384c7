"""What the commands of `klartext author` share: a folder of work, answers by file or live, and what is said of both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from bot import Settings
from harness.console import counted, plain_console
from harness.files import writing
from harness.patients.prompts import AGAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.authoring.working import Advanced, Ask
    from harness.authoring.workshop import Workshop
    from harness.commands.options import ModelOptions

T = TypeVar("T")
INCOMPLETE = 1  # exit code
WorkPath = Annotated[
    Path, typer.Option("--out", help="Folder of this work; given again, it is gone on with.", metavar="FOLDER")
]


def require_host(asking: ModelOptions) -> None:
    """Raise UserFixable when the model that would be asked is at a host that may not receive patients' words."""
    settings = Settings.from_environment()
    if asking.live and settings.model_url:
        settings.require_patient_text_allowed(settings.model_url)


def keep_closed(out: Path, asking: ModelOptions) -> ModelOptions:
    """Close a folder of work with patients' words to other users, and have answers kept in it and in no common store.

    Only a folder that was claimed for the work is closed: in another one lies what belongs to others.
    """
    with writing(out / "work.json", "Choose another `--out`."):
        out.chmod(0o700)
    return replace(asking, store=asking.store or out / "answers.db")


def carry_on(workshop: Workshop[T], asking: ModelOptions) -> Advanced[T]:
    """Go on with a work: with answers from files, and with a live model where `--model` names one.

    Raises:
        UserFixable: The options contradict one another, or the model does not answer.
        typer.Exit: Prompts wait for answers (1); where they are, and what to do, has been said.
    """
    folder = workshop.folder
    if not asking.live:
        advanced = workshop.go_on(asking.answers or ())
    else:
        from harness.generation.answering import Asking  # openai and the store are slow to import

        model = Asking(asking.call(), asking.keeping, folder.answers_file, asking.structured)

        def ask(asks: Sequence[Ask[Any]]) -> None:
            model.ask(asks)

        try:
            advanced = workshop.go_on((), ask)
        finally:
            model.tell()
    folder.leave(advanced.waiting, model=asking.written_for, temperature=asking.temperature)
    if asking.prompts is not None:
        asking.write(advanced.waiting)
    console = plain_console(soft_wrap=True)
    for id_, reason in advanced.unusable.items():
        console.print(f"No answer to {id_} could be used: {reason}.")
    if advanced.unusable:
        console.print("Nothing is asked a third time. Have it answered anew in another `--out`, or edit by hand.")
    for id_, reason in advanced.again.items():
        first = id_.rpartition(AGAIN)[0]
        console.print(f"The answer to {first} could not be used: {reason}; asked again as {id_}.")
    if advanced.waiting:
        waiting = asking.prompts or folder.prompts_file
        console.print(f"{counted(len(advanced.waiting), 'prompt')} in {waiting}. Have them answered, and give the")
        console.print("answers to the same command with `--answers FILE`; or ask a model with `--model NAME`.")
        raise typer.Exit(INCOMPLETE)
    return advanced

"""What the commands of `klartext author` share: a folder of work, answers by file or live, and what is said of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from bot import Settings, UserFixable
from harness.console import counted, plain_console, printable
from harness.files import writing
from harness.llm.batch_files import answers_not_used
from harness.llm.chat_folder import require_own, write_chat
from harness.patients.prompts import AGAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.authoring.working import Advanced, Ask
    from harness.authoring.workshop import Workshop
    from harness.commands.options import ModelOptions

T = TypeVar("T")
INCOMPLETE = 1  # exit code
MOST_TOLD = 10  # answers that are not used, one by one
WorkPath = Annotated[
    Path, typer.Option("--out", help="Folder of this work; given again, it is gone on with.", metavar="FOLDER")
]


@dataclass(frozen=True, slots=True)
class Words:
    """Whose words a work puts to a model, and so where they may go: the one gate of all that `author` asks.

    Attributes:
        patients: They are a patient's, or may be: a question that a curator types in, one that a run once took from a
            chat. They go to hosts only that may have them, also by `klartext harness batch`; the folder is closed to
            other users; answers are kept in it and in no common store.
        to_file: Whether they may lie in files of prompts, and in a store elsewhere, which nobody deletes with the
            conversation. Of a conversation, which is a patient's for certain, the user has to say so.
    """

    patients: bool = False
    to_file: bool = True

    def require_allowed(self, asking: ModelOptions) -> None:
        """Raise UserFixable where patients' words would go to a host, or into a store, that nobody allowed.

        To be called before anything is made: whoever is refused finds no folder.
        """
        if not self.patients:
            return
        settings = Settings.from_environment()
        if asking.live and settings.model_url:
            settings.require_patient_text_allowed(settings.model_url)
        if asking.store is not None and not self.to_file:
            raise UserFixable(
                f"{asking.store} would hold answers about a patient, and is not deleted with the conversation. "
                "Leave `--store` out, or give `--patient-text-to-file`."
            )

    def keep_closed(self, out: Path, asking: ModelOptions) -> ModelOptions:
        """Close a folder of patients' words to other users, and have answers kept in it.

        Only a folder that was claimed for the work is closed: in another one lies what belongs to others.
        """
        if not self.patients:
            return asking
        with writing(out / "work.json", "Choose another `--out`."):
            out.chmod(0o700)
        return replace(asking, store=asking.store or out / "answers.db")

    def require_no_file(self, out: Path, waiting: int) -> None:
        """Raise UserFixable where prompts would be written to a file that must not be."""
        if self.patients and not self.to_file and waiting:
            raise UserFixable(
                f"{counted(waiting, 'prompt')} with a patient's words would be written to {out}. If that "
                "is agreed with your data protection officer, give `--patient-text-to-file`; or ask a model with "
                "`--model` at a host that KLARTEXT_ALLOW_PATIENT_TEXT_TO names."
            )


OURS, PERHAPS_PATIENTS = Words(), Words(patients=True)


def carry_on(workshop: Workshop[T], asking: ModelOptions, words: Words = OURS) -> Advanced[T]:
    """Go on with a work: with answers from files, and with a live model where `--model` names one.

    Raises:
        UserFixable: The options contradict one another, the model does not answer, or patients' words would go to where
            nobody allowed it.
        typer.Exit: Prompts wait for answers (1); where they are, and what to do, has been said.
    """
    folder = workshop.folder
    words.require_allowed(asking)
    asking = words.keep_closed(folder.path, asking)
    if not asking.live:
        left = answers_not_used(asking.answers or (), folder.answers())
        advanced = workshop.go_on(asking.answers or ())
        _tell_not_used(left)
        words.require_no_file(folder.path, len(advanced.waiting))
    else:
        from harness.generation.answering import Asking  # openai and the store are slow to import

        model = Asking(asking.call(), asking.keeping, folder.answers_file, asking.structured)

        def ask(asks: Sequence[Ask[Any]]) -> None:
            model.ask(asks)

        try:
            advanced = workshop.go_on((), ask)
        finally:
            model.tell()
    marked = words.patients
    chat = asking.chat_folder
    if chat is not None and not marked:
        require_own(advanced.waiting, chat, {*advanced.models, *(one.id for one in advanced.waiting)})
    folder.leave(advanced.waiting, model=asking.written_for, temperature=asking.temperature, patient_text=marked)
    if asking.prompts is not None:
        asking.write(advanced.waiting, patient_text=marked)
    elif chat is not None and not marked:
        write_chat(advanced.waiting, chat)  # what is asked next, beside what was answered
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
        if chat is not None:
            console.print(
                f"{counted(len(advanced.waiting), 'prompt')} to answer in {chat}. Paste each into a chat, and"
            )
            console.print(f"its answer into the file beside it; then the same command with `--answers {chat}`.")
            raise typer.Exit(INCOMPLETE)
        console.print(f"{counted(len(advanced.waiting), 'prompt')} in {waiting}. Have them answered, and give the")
        console.print("answers to the same command with `--answers FILE`; or ask a model with `--model NAME`.")
        raise typer.Exit(INCOMPLETE)
    return advanced


def _tell_not_used(left: Sequence[str]) -> None:
    """Say which lines of files of answers answer nothing, and why."""
    console = plain_console(soft_wrap=True)
    if left:
        console.print(f"{counted(len(left), 'answer')} not used:")
    for line in left[:MOST_TOLD]:
        console.print(f"  {printable(line)}")
    if len(left) > MOST_TOLD:
        console.print(f"  and {len(left) - MOST_TOLD} more")

"""Go on with a piece of work in its folder: take answers that came by file, ask for more where a model can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from harness.authoring.working import Advanced, Ask, Work, advance
from harness.llm.batch_files import ModelAnswer, read_answers
from harness.llm.chat_folder import require_own
from harness.llm.work_folder import WorkFolder

T = TypeVar("T")
NOTE = "work.json"  # what a folder is for
Answerer = Callable[[Sequence[Ask[Any]]], None]  # answers prompts into the folder's file


@dataclass(frozen=True, slots=True)
class Workshop(Generic[T]):
    """A piece of work, and the folder in which it goes on.

    Attributes:
        folder: Holds its answers and the prompts that wait.
        work: Begins the work; called anew for each replay.
    """

    folder: WorkFolder
    work: Callable[[], Work[T]]

    @classmethod
    def open(cls, path: Path, identity: Mapping[str, str], work: Callable[[], Work[T]]) -> Workshop[T]:
        """Open the folder for this work, or go on in it; `identity` says all that the prompts depend on.

        Raises:
            BadData: The folder holds other work, or cannot be written.
        """
        return cls(WorkFolder.claim(path, identity, note=NOTE), work)

    def go_on(self, given: Sequence[Path] = (), answerer: Answerer | None = None) -> Advanced[T]:
        """Replay the work with the answers in the folder and in the files given; then ask for what is missing.

        The files may hold answers to more than what waits now: those of a whole recorded run, for example.

        Raises:
            BadData: A file is no Batch output, or answers what this work does not ask.
            UserFixable: Nobody answers (see `harness.llm.contract.Model.complete`); what came is kept.
        """
        if given:
            self._take(given)
        advanced = advance(self.work(), self.folder.answers())
        while advanced.waiting and answerer is not None:
            before = advanced.waiting
            answerer(before)
            advanced = advance(self.work(), self.folder.answers())
            if [one.id for one in advanced.waiting] == [one.id for one in before]:
                break  # nothing came
        return advanced

    def _take(self, given: Sequence[Path]) -> int:
        """Keep the answers to what this work asks."""
        own = self.folder.answers()
        good = {id_: answer for id_, answer in own.items() if not answer.problem}
        known: dict[str, ModelAnswer] = {**own, **read_answers(list(given)), **good}
        # Before anything is kept: every prompt that has been asked so far, in the folders of a chat window.
        asks: dict[str, Ask[Any]] = {}
        reached = advance(_noting_asks(self.work(), asks), known)
        for folder in (path for path in given if path.is_dir()):
            require_own([*asks.values(), *reached.waiting], folder, {*asks, *reached.models})
        asked = {*reached.models, *(one.id for one in reached.waiting), *own}
        return self.folder.take(given, belongs=asked.__contains__)


def _noting_asks(work: Work[T], asks: dict[str, Ask[Any]]) -> Work[T]:
    """Do a work, and note each prompt by its id."""
    try:
        step = next(work)
        while True:
            asks.update((one.id, one) for one in step)
            step = work.send((yield step))
    except StopIteration as ended:
        result: T = ended.value
        return result

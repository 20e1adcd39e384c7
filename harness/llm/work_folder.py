"""A folder in which work with a model goes on: answers that there are, prompts that wait, and what is worked on.

Whatever is worked on is replayed from the answers, so a process that is killed, or answers that come from elsewhere,
lose nothing, and the same answers always lead to the same result.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import BadData
from harness.files import append_durably, cut_unfinished, numbered_lines, private_opener, replace_private_text, writing
from harness.llm.batch_files import (
    PATIENT_TEXT,
    Exported,
    ModelAnswer,
    as_answer_line,
    read_answers,
    write_requests,
)
from harness.llm.chat_folder import MODEL, pasted_answers

PERHAPS_PATIENTS = frozenset({"question"})  # what of a work no error says: nobody knows whose words it is
LONGEST_TOLD = 80  # characters of what differs between two works
_HASH = re.compile(r"[0-9a-f]{16,}")
ANSWERS, PROMPTS = "answers.jsonl", "prompts.jsonl"
# What may lie in a folder before work begins in it: whose it is.
BEFORE = frozenset({"conversations.json", "sent.json"})


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """A folder that holds one piece of work.

    Attributes:
        path: The folder.
    """

    path: Path

    @classmethod
    def claim(cls, path: Path, identity: Mapping[str, str], *, note: str) -> WorkFolder:
        """Make a folder for this work, or go on in it; `note` is the file's name that says what is worked on.

        A new folder is for this user alone.

        Raises:
            BadData: The folder holds other work, or something else, or cannot be written.
        """
        file = path / note
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir(mode=0o700, exist_ok=True)
            there = [each for each in sorted(path.iterdir()) if not each.name.startswith(".")]
            if (link := next((each for each in there if each.is_symlink()), None)) is not None:
                raise BadData(f"{link} is a link to elsewhere. Remove it, or choose another `--out`.")
            if not file.is_file() and (strange := [each.name for each in there if each.name not in BEFORE]):
                raise BadData(
                    f"{path} holds other things, for example {strange[0]!r}, and no work of this program. "
                    "Choose a new or empty folder."
                )
            if file.is_file():
                before = json.loads(file.read_text(encoding="utf-8"))
                if before != identity:
                    raise BadData(
                        f"{path} holds work on something else: {_other(before, identity)}. Choose another `--out`."
                    )
            else:
                replace_private_text(file, json.dumps(identity, indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise BadData(f"{path} cannot be written ({error.strerror}). Choose another `--out`.") from error
        except ValueError as error:
            raise BadData(f"{file} does not say what is worked on here. Choose another `--out`.") from error
        return cls(path)

    @property
    def answers_file(self) -> Path:
        return self.path / ANSWERS

    @property
    def prompts_file(self) -> Path:
        return self.path / PROMPTS

    def answers(self) -> dict[str, ModelAnswer]:
        """Return what was answered so far."""
        return read_answers([self.answers_file]) if self.answers_file.is_file() else {}

    def take(self, files: Sequence[Path], *, belongs: Callable[[str], bool]) -> int:
        """Add the answers of Batch output files to the folder's own, and return how many lines were new.

        Raises:
            BadData: A file is no Batch output, or answers what was never asked here.
        """
        strange = [key for key in read_answers(list(files)) if not belongs(key)]
        if strange:
            raise BadData(
                f"{len(strange)} answers belong to nothing that is asked here, for example {strange[0]!r}. "
                f"Give the answers to {self.prompts_file}."
            )
        # A kill may have left a line unfinished.
        with (
            writing(self.answers_file, "Choose another `--out`."),
            open(self.answers_file, "ab+", opener=private_opener) as stream,
        ):
            cut_unfinished(stream)
        have = {key for key, answer in self.answers().items() if not answer.problem}
        lines = [line for file in files for line in _answer_lines(file)]
        fresh = [line for line in lines if str(json.loads(line)["custom_id"]) not in have]
        with open(self.answers_file, "ab", opener=private_opener) as stream:
            append_durably(stream, "".join(f"{line}\n" for line in fresh).encode())
        return len(fresh)

    def leave(
        self, waiting: Sequence[Exported], *, model: str, temperature: float | None, patient_text: bool = False
    ) -> None:
        """Write the prompts that wait for answers; the file is empty when none does.

        `patient_text`: they are marked, so that `klartext harness batch` sends them to a host that may have them only.
        """
        more = PATIENT_TEXT if patient_text else {}
        write_requests(waiting, self.prompts_file, model=model, temperature=temperature, more=more)


def _answer_lines(file: Path) -> list[str]:
    """Return the answers of a file as lines, or those that were pasted into a folder."""
    if file.is_dir():
        return [as_answer_line(id_, text, MODEL) for _, id_, text in pasted_answers(file)]
    return [line.strip() for _, line in numbered_lines(file)]


def _other(before: object, now: Mapping[str, str]) -> str:
    """Return what differs between the work of a folder and this, in words, on one line and not endless."""
    if not isinstance(before, dict):
        return "nothing that is known here"
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    told = {name: _hash if name in PERHAPS_PATIENTS else _short for name in names}
    return "; ".join(
        f"{name} are not those of then"  # a hash tells people nothing
        if name not in PERHAPS_PATIENTS and all(_HASH.fullmatch(str(each.get(name))) for each in (before, now))
        else f"{name} there: {tell(before.get(name))}, now: {tell(now.get(name))}"
        for name, tell in told.items()
    )


def _hash(value: object) -> str:
    """Return a hash in the place of words that may be a patient's: two works can be told apart by it."""
    return hashlib.sha256(str(value).encode()).hexdigest()[:16] if value else "none"


def _short(value: object) -> str:
    text = " ".join(str(value if value not in (None, "") else "none").split())
    return repr(text if len(text) <= LONGEST_TOLD else f"{text[:LONGEST_TOLD]}…")

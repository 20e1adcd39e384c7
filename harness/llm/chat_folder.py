"""A folder of plain text files for whoever asks a chat window: each prompt in one, its answer pasted into the next."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, unquote

from bot import BadData, decoded
from harness.files import replace_private_text, unreadable, writing

PROMPT, ANSWER = " prompt.txt", " answer.txt"
MODEL = "chat"  # whom an answer without a name is by
_NUMBER = re.compile(r"^\d+ ")


class Told(Protocol):
    """A prompt that can be answered elsewhere."""

    @property
    def id(self) -> str: ...

    @property
    def messages(self) -> list[dict[str, str]]: ...


def is_chat_folder(path: Path) -> bool:
    """Say whether a path is meant for text files: a folder, or a name without an ending that nothing has yet."""
    return path.is_dir() or (not path.suffix and not path.exists())


def write_chat(prompts: Sequence[Told], folder: Path) -> int:
    """Write each prompt, and an empty file for its answer beside it; return how many are new.

    What is there stays, so that no answer is lost; the id of the prompt stands in the names.

    Raises:
        BadData: The folder holds something else or the prompts of another work, or cannot be written.
    """
    require_own(prompts, folder)
    remedy = "Choose a new folder with `--prompts`."
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if strange := sorted(name for name in there if not name.startswith(".") and not name.endswith((PROMPT, ANSWER))):
        raise BadData(f"{folder} holds other things, for example {strange[0]!r}. {remedy}")
    known = {_id_of(name, PROMPT) for name in there if name.endswith(PROMPT)}
    fresh = [one for one in prompts if one.id not in known]
    with writing(folder / "01", remedy):
        for number, one in enumerate(fresh, len(known) + 1):
            name = f"{number:03} {quote(one.id, safe='').replace('%2F', '+')}"
            replace_private_text(folder / f"{name}{PROMPT}", _told(one))
            if not (folder / f"{name}{ANSWER}").exists():
                replace_private_text(folder / f"{name}{ANSWER}", "")
    return len(fresh)


def require_own(prompts: Sequence[Told], folder: Path, known: Collection[str] | None = None) -> None:
    """Raise BadData where a prompt in the folder is not the one of its name: it is another work's, or was written over.

    Two works give the same names to what they ask, and the answer to one would be taken for the other's. `known`: the
    ids of all that this work has asked; a folder without any of them is another work's, too.
    """
    own = {one.id: _told(one) for one in prompts}
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    there = {_id_of(path.name, PROMPT) for path in files if path.name.endswith(PROMPT)}
    if known is not None and there and there.isdisjoint(known):
        raise BadData(f"{folder} holds another work's prompts. Choose a new folder with `--prompts`.")
    for path in files:
        told = own.get(_id_of(path.name, PROMPT)) if path.name.endswith(PROMPT) else None
        if told is None:
            continue
        try:
            text = decoded(path.read_bytes())
        except (OSError, UnicodeDecodeError) as error:
            raise BadData(
                f"{path} cannot be read ({unreadable(error)}). Choose a new folder with `--prompts`."
            ) from error
        if text.split() != told.split():
            raise BadData(
                f"{path} is not what this work asks under that name: the folder holds another work's prompts, or an "
                "answer was pasted over it. Choose a new folder with `--prompts`, or remove that file."
            )


def _told(one: Told) -> str:
    return "\n\n".join(each["content"] for each in one.messages)


def pasted_answers(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield the file, the prompt's id and the text of each answer that somebody pasted; empty files wait.

    Raises:
        BadData: A file cannot be read, or no file of the folder is for answers.
    """
    files = sorted(path for path in folder.iterdir() if path.name.endswith(ANSWER))
    if not files:
        raise BadData(f"{folder} has no files named like `001 …{ANSWER}`. Give the folder that `--prompts` wrote.")
    for path in files:
        try:
            text = decoded(path.read_bytes()).strip()
        except OSError as error:
            raise BadData(f"{path} cannot be read ({unreadable(error)}). Save it as plain text.") from error
        if text:
            yield path, _id_of(path.name, ANSWER), text


def _id_of(name: str, ending: str) -> str:
    return unquote(_NUMBER.sub("", name.removesuffix(ending)).replace("+", "/"))

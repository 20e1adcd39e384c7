"""What all files of the harness have in common: strict records, JSON lines, and errors that end in one line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from bot import BadData

R = TypeVar("R", bound=BaseModel)
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Record(BaseModel):
    """What a file or a line of one says; unknown keys are refused, lest a misspelt one be lost."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def first_fault(error: ValidationError, whole: str = "the file") -> str:
    """Return where a record is wrong first, and why."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or whole}: {first['msg']}"


def unreadable(error: Exception) -> str:
    """Return in a few words why a file cannot be read."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return getattr(error, "strerror", None) or "it is no UTF-8 text"


@contextmanager
def writing(path: Path, remedy: str = "Choose another file with `--out`.") -> Iterator[None]:
    """Make the folder of a file that is written in this block; raise BadData when that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise BadData(f"{path} cannot be written ({error.strerror}). {remedy}") from error


@contextmanager
def held(lock: Path, busy: str) -> Iterator[None]:
    """Keep other processes out of this block; the lock ends with the process, however it ends.

    The file stays: only one that is never replaced or removed can keep others out.

    Raises:
        BadData: Another process holds it; `busy` is the message.
        OSError: The file cannot be made.
    """
    from filelock import FileLock, Timeout  # brings asyncio along

    own = FileLock(lock)
    try:
        own.acquire(timeout=0)
    except Timeout as error:
        raise BadData(busy) from error
    try:
        yield
    finally:
        own.release()


def replace_text(path: Path, text: str) -> None:
    """Write a file aside and move it: whoever reads it finds it whole."""
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def append_durably(stream: IO[bytes], payload: bytes) -> None:
    """Add to a file, and return when it would survive a power cut."""
    stream.write(payload)
    stream.flush()
    os.fsync(stream.fileno())


def cut_unfinished(stream: IO[bytes]) -> None:
    """Cut off a last line that a kill left unfinished."""
    stream.seek(0)
    stream.truncate(stream.read().rfind(b"\n") + 1)


def as_document(record: Any) -> str:
    """Return a record as the text of a JSON file."""
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def as_lines(records: Iterable[Any]) -> str:
    """Return records as JSON lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def read_record(path: Path, kind: type[R], problem: str, *, invalid: str = "") -> R:
    """Read a YAML file as a record.

    Raises:
        BadData: With `problem`, or with `invalid` where it is YAML of another shape; ``{reason}`` says what is wrong.
    """
    try:
        return kind.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        if invalid and isinstance(error, ValidationError):
            raise BadData(invalid.replace("{reason}", first_fault(error))) from error
        raise BadData(problem.replace("{reason}", str(error).splitlines()[0])) from error


def read_lines(path: Path, kind: type[R], problem: str) -> list[R]:
    """Read JSON lines as records; raise BadData with place and `problem`; ``{reason}`` is what is wrong."""
    records = []
    for number, line in numbered_lines(path):
        try:
            records.append(kind.model_validate_json(line))
        except ValidationError as error:
            reason = str(error.errors()[0]["msg"])
            raise BadData(f"{path}:{number}{problem.replace('{reason}', reason)}") from error
    return records


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not empty, with their numbers. JSON may hold other separators of lines."""
    lines = enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
    return ((number, line) for number, line in lines if line.strip())


def xml_text(text: str) -> str:
    """Return a text as XML 1.0 can hold it: some characters it cannot, not even escaped."""
    return _NOT_XML.sub("\ufffd", text)

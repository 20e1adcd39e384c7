"""What all files of the harness have in common: strict records, JSON lines, and errors that end in one line."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from errno import EINVAL
from pathlib import Path
from typing import IO, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from bot import BadData

R = TypeVar("R", bound=BaseModel)
# An escape sequence of terminals as a whole: without its first character the rest would stand in the text.
_CONTROLS = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
# HTML tags and comments, targets of links and pictures, fences of code.
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|(?<=\])\(|`{3,}")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class OddYaml(yaml.YAMLError):
    """YAML of which nothing can be made; the message says why."""


class Record(BaseModel):
    """What a file or a line of one says; unknown keys are refused, lest a misspelt one be lost."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# What a value must be, by pydantic's kinds of faults; what is not here is said in pydantic's own words.
_FAULTS = {
    "extra_forbidden": "is not known here",
    "missing": "is missing",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "string_type": "must be a text",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "finite_number": "must be a finite number",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "dict_type": "must hold names with values",
    "model_type": "must hold names with values",
    "model_attributes_type": "must hold names with values",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "json_invalid": "is no JSON",
    "date_parsing": "must be a day such as 2026-01-31",
    "date_from_datetime_parsing": "must be a day such as 2026-01-31",
    "datetime_type": "must be a time such as 2026-01-31T14:05:00+01:00",
    "datetime_parsing": "must be a time such as 2026-01-31T14:05:00+01:00",
    "datetime_from_date_parsing": "must be a time such as 2026-01-31T14:05:00+01:00",
}


def first_fault(error: ValidationError, whole: str = "the file") -> str:
    """Return where a record is wrong first, and why, in plain words."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or whole}: {plain_fault(first)}"


def plain_fault(fault: ErrorDetails) -> str:
    """Return what pydantic finds wrong with one value, in plain words."""
    said = _FAULTS.get(fault["type"])
    if fault["type"] == "string_too_short" and fault.get("ctx", {}).get("min_length") == 1:
        return "must not be empty"
    return said.format(**fault.get("ctx", {})) if said else fault["msg"].removeprefix("Value error, ")


def unreadable(error: Exception) -> str:
    """Return in a few words why a file cannot be read."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is no UTF-8 text (byte {error.start})"
    if isinstance(error, OddYaml):
        return str(error)
    known: dict[type[Exception], str] = {
        FileNotFoundError: "there is no such file",
        IsADirectoryError: "it is a folder",
        PermissionError: "it may not be read",
        yaml.YAMLError: f"it is no YAML, {_yaml_place(error)}",
    }
    said = next((words for kind, words in known.items() if isinstance(error, kind)), "")
    return said or getattr(error, "strerror", None) or "it is no UTF-8 text"


def _yaml_place(error: Exception) -> str:
    """Return where YAML goes wrong."""
    mark = getattr(error, "problem_mark", None)
    return f"line {mark.line + 1}" if mark else "at its beginning"


@contextmanager
def writing(path: Path, remedy: str = "Choose another file with `--out`.") -> Iterator[None]:
    """Make the folder of a file that is written in this block; raise BadData when that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise BadData(f"{path} cannot be written ({error.strerror}). {remedy}") from error


@contextmanager
def held(lock: Path, busy: str, *, wait_s: float = 0) -> Iterator[None]:
    """Keep other processes out of this block; the lock ends with the process, however it ends.

    The file stays: only one that is never replaced or removed can keep others out. `wait_s`: for another one to end.

    Raises:
        BadData: Another process holds it; `busy` is the message.
        OSError: The file cannot be made.
    """
    from filelock import FileLock, Timeout  # brings asyncio along

    own = FileLock(lock)
    try:
        own.acquire(timeout=wait_s)
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


def replace_private_text(path: Path, text: str) -> None:
    """Write a file that may hold patients' words: whole, for this user alone, and never through a link in its place."""
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=".partial-")  # 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def private_opener(path: str, flags: int) -> int:
    """Open a file for `open`: one that is made is for this user alone, and a link in its place is not followed."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


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


def load_yaml(path: Path) -> Any:
    """Return what a YAML file says; pipes and devices are not waited for.

    Raises:
        OSError, UnicodeDecodeError, yaml.YAMLError: It cannot be read; `unreadable` says why.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(EINVAL, "it is no regular file")
    return parse_yaml(path.read_text(encoding="utf-8"))


def parse_yaml(text: str) -> Any:
    """Return what YAML says; raise yaml.YAMLError, also where its loader breaks in other ways."""
    try:
        return yaml.safe_load(text)
    except RecursionError:
        raise OddYaml("it is nested too deeply") from None
    except ValueError as error:  # such as a day that there is not
        raise OddYaml(f"it holds a value that is none: {str(error).splitlines()[0][:100]}") from None


def read_record(path: Path, kind: type[R], problem: str, *, invalid: str = "") -> R:
    """Read a YAML file as a record.

    Raises:
        BadData: With `problem`, or with `invalid` where it is YAML of another shape; ``{reason}`` says what is wrong.
    """
    try:
        return kind.model_validate(load_yaml(path))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        if invalid and isinstance(error, ValidationError):
            raise BadData(invalid.replace("{reason}", first_fault(error))) from error
        why = first_fault(error) if isinstance(error, ValidationError) else unreadable(error)
        raise BadData(problem.replace("{reason}", why)) from error


def read_lines(path: Path, kind: type[R], problem: str) -> list[R]:
    """Read JSON lines as records; raise BadData with place and `problem`; ``{reason}`` is what is wrong."""
    records = []
    for number, line in numbered_lines(path):
        try:
            records.append(kind.model_validate_json(line))
        except ValidationError as error:
            reason = first_fault(error, "the line")
            raise BadData(f"{path}:{number}{problem.replace('{reason}', reason)}") from error
    return records


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not empty, with their numbers. JSON may hold other separators of lines."""
    lines = enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1)
    return ((number, line) for number, line in lines if line.strip())


def control_in(text: str) -> str:
    """Return the name of the first control character in a text, such as U+0000; empty where there is none."""
    found = _CONTROLS.search(text)
    return f"U+{ord(found[0][0]):04X}" if found else ""


def without_controls(text: str) -> str:
    """Return a text without escape sequences and control characters; line ends and tabs stay."""
    return _CONTROLS.sub("", text)


def without_markup(text: str) -> str:
    """Return text of others for a page in Markdown: tags, links, pictures and fences are but letters."""
    return _MARKUP.sub(lambda found: "&lt;" if found[0] == "<" else "".join(f"\\{one}" for one in found[0]), text)


def xml_text(text: str) -> str:
    """Return a text as XML 1.0 can hold it: some characters it cannot, not even escaped."""
    return _NOT_XML.sub("\ufffd", text)

"""Read questions from a file or a pipe: one a line, as text or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bot.errors import BadData
from bot.interface_texts import LANGUAGES
from bot.matching.language import AUTO

BATCH = 64


@dataclass(frozen=True, slots=True)
class Question:
    """A question to be answered, and its language or ``auto``."""

    text: str
    language: str


def read_questions(file: Path | None, *, default_language: str) -> Iterator[list[Question]]:
    """Yield questions in order, in batches from a file, one at a time from a pipe (somebody may be typing).

    Bytes that are not UTF-8 become replacement characters: one bad line must not lose the others.

    Raises:
        BadData: The file cannot be read, or a JSON line has no question.
    """
    if file is not None and not file.is_file():
        raise BadData(f"There is no file {str(file)!r}. Give a file with one question a line, or use standard input.")
    return _read(file, default_language)


def _read(file: Path | None, default_language: str) -> Iterator[list[Question]]:
    size = BATCH if file is not None else 1
    batch: list[Question] = []
    try:
        with file.open("rb") if file is not None else nullcontext(sys.stdin.buffer) as stream:
            for number, line in enumerate(_lines(stream), 1):
                if line.strip():
                    batch.append(_question(line, number, default_language))
                if len(batch) == size:
                    yield batch
                    batch = []
    except OSError as error:
        place = "Standard input" if file is None else f"The file {str(file)!r}"
        raise BadData(f"{place} cannot be read ({error.strerror}). Check path and permissions.") from error
    if batch:
        yield batch


def _lines(stream: BinaryIO) -> Iterator[str]:
    """Split at line feeds only: a patient's text may hold other separators, such as U+2028."""
    first = True
    for raw in stream:
        text = raw.decode("utf-8", errors="replace").removesuffix("\n").removesuffix("\r")
        yield text.removeprefix("\ufeff") if first else text
        first = False


def _question(line: str, number: int, default_language: str) -> Question:
    if not line.lstrip().startswith("{"):
        return Question(line, default_language)
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return Question(line, default_language)  # patients may type braces
    text, language = record.get("question"), record.get("lang") or default_language
    if not isinstance(text, str):
        raise BadData(
            f"Line {number} is JSON without a text `question`. "
            'Write {"question": "…", "lang": "de"}, or one plain question a line.'
        )
    if language not in (*LANGUAGES, AUTO):
        raise BadData(f"Line {number} asks for language {language!r}. Use one of {', '.join(LANGUAGES)}, {AUTO}.")
    return Question(text, language)

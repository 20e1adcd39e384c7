"""Answers that a bot gave elsewhere, from a CSV or JSON lines file, as a system under test."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot import BadData
from harness.files import unreadable
from harness.systems.description import AnswersFile, Paths
from harness.systems.recognition import JsonReader, Recogniser
from harness.systems.system import NO_LINE, Begin, Failure, Reply

FIELDS = ("question", "after", "id", "answer", "pair_id", "decision", "elapsed_ms")
PATHS = Paths(answer="$.answer", pair="$.pair_id", decision="$.decision")
Key = tuple[str, str]  # what was said just before (empty: nothing), and what is asked


@dataclass(frozen=True)
class AnswersSystem:
    """Looks questions up; what has no line is a failure, and is counted as one.

    Attributes:
        identity: What it is.
        lines: By what was said before and what is asked; a line that says nothing of the former holds for any.
        reader: Makes replies of lines.
    """

    identity: dict[str, str]
    lines: dict[Key, dict[str, Any]]
    reader: JsonReader
    turns: bool = True

    @classmethod
    def open(cls, file: AnswersFile, identity: dict[str, str], recogniser: Recogniser) -> AnswersSystem:
        """Read the file; raise BadData with one line when it cannot be used."""
        return cls(identity, _read(Path(file.file)), JsonReader(PATHS, recogniser, file.decisions))

    def ask(self, texts: Sequence[str], language: str) -> Iterator[Reply | Failure]:
        for text in texts:
            yield self.answer("", text)

    @contextmanager
    def chats(self, language: str) -> Iterator[Begin]:
        """Yield what begins conversations."""
        yield lambda: nullcontext(AnswersChat(self))

    def unasked(self, texts: Iterable[str]) -> list[int]:
        """Return the numbers of the lines that answer none of these texts, or come after none of them."""
        wanted = {text for key in self.lines for text in key}
        asked = {"", *(text for text in texts if text in wanted)}
        return [line["line"] for key, line in self.lines.items() if not asked.issuperset(key)]

    def answer(self, before: str, text: str) -> Reply | Failure:
        line = self.lines.get((before, text)) or self.lines.get(("", text))
        if line is None:
            return Failure(NO_LINE, 0.0)
        return self.reader.read(line, float(line.get("elapsed_ms") or 0.0))


@dataclass
class AnswersChat:
    """A conversation: what was said just before tells turns with the same words apart."""

    system: AnswersSystem
    before: str = ""

    def say(self, text: str) -> Reply | Failure:
        reply, self.before = self.system.answer(self.before, text), text
        return reply


def _read(path: Path) -> dict[Key, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(
            f"{path} cannot be read ({unreadable(error)}). Give a CSV or JSON lines file in `file`."
        ) from error
    rows = _json_lines(path, text) if path.suffix in (".jsonl", ".json") else _csv(path, text)
    found: dict[Key, dict[str, Any]] = {}
    for number, row in rows:
        question, answer = row.get("question"), row.get("answer")
        if not isinstance(question, str) or not question.strip():
            raise BadData(f"{path}:{number} has no `question`. Every line needs `question` and `answer`.")
        if not (answer is None or isinstance(answer, str)):
            raise BadData(f"{path}:{number}: `answer` is no text. Leave it empty where the bot said nothing.")
        try:
            float(row.get("elapsed_ms") or 0)
        except (TypeError, ValueError) as error:
            raise BadData(f"{path}:{number}: `elapsed_ms` is no number of milliseconds.") from error
        key = str(row.get("after") or ""), question
        if key in found:
            raise BadData(
                f"{path}:{number} answers a question for the second time. Tell turns of conversations apart by "
                "`after`: what the patient said just before."
            )
        # Nothing in a column is nothing said; a bot that said nothing has declined.
        found[key] = {"line": number, **{name: row.get(name) or None for name in FIELDS}}
    if not found:
        raise BadData(f"{path} holds no answers. Give a CSV or JSON lines file with `question` and `answer`.")
    return found


def _csv(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text))
    columns = set(reader.fieldnames or ())
    if not {"question", "answer"} <= columns:
        raise BadData(f"{path} has no columns `question` and `answer`, but {', '.join(sorted(columns)) or 'none'}.")
    for row in reader:
        yield reader.line_num, dict(row)


def _json_lines(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise BadData(
                f"{path}:{number} is no JSON. Give one object a line, with `question` and `answer`."
            ) from error
        if not isinstance(record, dict):
            raise BadData(f"{path}:{number} is no JSON object. Give one a line, with `question` and `answer`.")
        yield number, record

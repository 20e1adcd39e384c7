"""Question sets in our own plain layouts: rows of a pair's id, a text and perhaps an answer.

`read_question_set` is strict, for suites of test questions: what is amiss is refused with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.catalog.exchange import rasa, tables
from bot.catalog.exchange.entries import Entry, Reading, Remark
from bot.catalog.exchange.sources import Handed
from bot.errors import BadData

NAME, MAKER = "questions", "question set"
PLACEHOLDER = {
    "de": "[Hier fehlt die Antwort. Dieses Paar ist ein Entwurf: {id}]",
    "en": "[The answer is missing here. This pair is a draft: {id}]",
}


@dataclass(slots=True)
class ImportedPair:
    """A pair as collected from rows: the first text is its question, the others are its variants."""

    id: str
    texts: list[str] = field(default_factory=list)
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A question set as read; `duplicates` texts came more than once for a pair and are in it once."""

    pairs: tuple[ImportedPair, ...]
    background: tuple[str, ...]
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One text of a question set; without a pair name it is background."""

    line: int
    name: str
    text: str
    answer: str = ""


def read_question_set(file: Path, *, whole: bool = False) -> QuestionSet:
    """Read a question set by the ending of its name; `whole`: control characters are refused, not dropped.

    ``.csv`` and ``.tsv`` with the header ``pair_id,text[,answer]``; ``.json`` with a list of objects of these keys, or
    an object of pair ids and lists of texts; ``.yml`` and ``.yaml`` as Rasa NLU training data. Texts without a pair id,
    and Rasa's ``out_of_scope`` and ``nlu_fallback``, are questions that no pair answers.

    Raises:
        BadData: The file is not what its name says, with the line where that is known.
    """
    if file.is_dir():
        raise BadData(f"{file} is a folder. Give a file that ends in {', '.join(_READERS)}.")
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise BadData(f"{file} ends in {file.suffix or 'nothing'}. Give a file that ends in {', '.join(_READERS)}.")
    try:
        handed = Handed(file, {file.name: file.read_bytes()})
    except OSError as error:
        raise BadData(f"{file} cannot be read ({error.strerror}). Check the path.") from error
    return _collect(file, reader(handed), whole=whole)


def recognises(handed: Handed) -> bool:
    name = handed.single
    if name is None or not name.lower().endswith(".json"):
        return False
    data = handed.json(name)
    if isinstance(data, dict):
        return bool(data) and all(isinstance(each, str | list) for each in data.values())
    return isinstance(data, list) and all(isinstance(each, dict) and "text" in each for each in data)


def read(handed: Handed) -> Reading:
    """Read the JSON layouts for an import, where an empty text is left out rather than refused."""
    reading, name = Reading(MAKER), handed.single or ""
    entries: dict[str, Entry] = {}
    for row in _json_rows(handed):
        at, text = f"{name}, entry {row.line}", row.text.strip()
        if not text:
            reading.leave(at, row.name, Remark("It has no text.", "no-text"))
        elif not row.name.strip():
            reading.background.append((None, text))
        else:
            entry = entries.setdefault(row.name.strip(), Entry(row.name, [], at=at))
            entry.texts.append(text)
            entry.answer = entry.answer or row.answer
    reading.entries = list(entries.values())
    return reading


def _json_rows(handed: Handed) -> list[Row]:
    data = handed.json(handed.path.name)
    if isinstance(data, dict):
        lists = {name: texts if isinstance(texts, list) else [texts] for name, texts in data.items()}
        data = [{"pair_id": name, "text": text} for name, texts in lists.items() for text in texts]
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise BadData(f'{handed.path} is no list of objects. Write [{{"pair_id": "…", "text": "…"}}, …].')
    return [Row(number, *(str(item.get(key) or "") for key in _KEYS)) for number, item in enumerate(data, 1)]


def _rasa_rows(handed: Handed) -> list[Row]:
    document: Any = handed.yaml(handed.path.name)
    if not isinstance(document, dict) or not isinstance(document.get("nlu"), list):
        raise BadData(f"{handed.path} has no list `nlu`. Give Rasa NLU training data, or CSV.")
    found = ((intent.split("/")[-1], number, text) for intent, number, text in rasa.examples_in(document))
    return [Row(number, "" if name in rasa.BACKGROUND else name, text) for name, number, text in found]


def _csv_rows(handed: Handed) -> list[Row]:
    file, name = handed.path, handed.path.name
    delimiter = "\t" if file.suffix.lower() == ".tsv" else ","
    lines = list(tables.rows_of(str(file), handed.text(name).lstrip("\ufeff"), delimiter))
    if not lines:
        raise BadData(f"{file} is empty. Its first line must be `pair_id,text` or `pair_id,text,answer`.")
    (_, columns), *rows = lines
    if "pair_id" not in columns or "text" not in columns:
        raise BadData(
            f"{file} has the columns {', '.join(columns) or 'none'}. "
            "Its first line must be `pair_id,text` or `pair_id,text,answer`."
        )
    # An unquoted comma would cut a patient's text short without a word.
    if longer := next((number for number, row in rows if len(row) > len(columns)), None):
        raise BadData(f"{file}:{longer} has more fields than the first line. Put texts with commas in double quotes.")
    cells = ((number, dict(zip(columns, row, strict=False))) for number, row in rows)
    return [Row(number, *(row.get(key, "") for key in _KEYS)) for number, row in cells]


_KEYS = ("pair_id", "text", "answer")
_READERS: Mapping[str, Callable[[Handed], list[Row]]] = {
    ".csv": _csv_rows,
    ".tsv": _csv_rows,
    ".json": _json_rows,
    ".yml": _rasa_rows,
    ".yaml": _rasa_rows,
}


def _collect(file: Path, rows: list[Row], *, whole: bool) -> QuestionSet:
    pairs: dict[str, ImportedPair] = {}
    background: dict[str, None] = {}
    duplicates = 0
    for row in rows:
        if whole and (hidden := _control_in(row)):
            raise BadData(f"{file}:{row.line} holds the control character U+{ord(hidden):04X}. Remove it.")
        text, name = " ".join(row.text.split()), row.name.strip()
        if not text:
            raise BadData(f"{file}:{row.line} has no text. Remove the row, or fill in its `text`.")
        if not name:
            duplicates += text in background
            background.setdefault(text)
            continue
        id_ = pair_id(name)
        if not id_:
            raise BadData(f"{file}:{row.line}: the pair_id {name!r} has no letter or digit. Rename it.")
        pair = pairs.setdefault(id_, ImportedPair(id_))
        if text in pair.texts:
            duplicates += 1
        else:
            pair.texts.append(text)
        pair.answer = pair.answer or " ".join(row.answer.split()) or None
    if not pairs:
        raise BadData(f"{file} has no row with a pair_id, so there is nothing to answer. Fill in the column `pair_id`.")
    return QuestionSet(tuple(pairs.values()), tuple(background), duplicates)


def _control_in(row: Row) -> str:
    """Return the first character of a row that is neither seen nor white space as people type it; empty if none is."""
    found = re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", row.name + row.text + row.answer)
    return found[0] if found else ""


def pair_id(name: str) -> str:
    """Turn any name into a pair id: lower case, letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9_.]+", "-", name.lower()).strip("-_.")


def catalog_name(name: str) -> str:
    """Turn any name into a catalog's: as a pair id, but without dots."""
    return pair_id(name.replace(".", "-")) or "catalog"

"""Make a catalog from anybody's question set."""

from __future__ import annotations

import csv
import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import yaml

from bot.errors import BadData

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
class Imported:
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


def read_question_set(file: Path, *, whole: bool = False) -> Imported:
    """Read a question set by the ending of its name; `whole`: control characters are refused, not dropped.

    ``.csv`` and ``.tsv`` with the header ``pair_id,text[,answer]``; ``.json`` with a list of objects of these keys, or
    an object of pair ids and lists of texts; ``.yml`` and ``.yaml`` as Rasa NLU training data. Texts without a pair id,
    and Rasa's ``out_of_scope`` and ``nlu_fallback``, are questions that no pair answers.

    Raises:
        BadData: The file is not what its name says, with the line where that is known.
    """
    readers = {".csv": _csv_rows, ".tsv": _csv_rows, ".json": _json_rows, ".yml": _rasa_rows, ".yaml": _rasa_rows}
    if file.is_dir():
        raise BadData(f"{file} is a folder. Give a file that ends in {', '.join(readers)}.")
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise BadData(f"{file} ends in {file.suffix or 'nothing'}. Give a file that ends in {', '.join(readers)}.")
    try:
        return _collect(file, reader(file), whole=whole)
    except UnicodeDecodeError as error:
        raise BadData(f"{file} is not UTF-8 (byte {error.start}). Save it as UTF-8.") from error
    except OSError as error:
        raise BadData(f"{file} cannot be read ({error.strerror}). Check the path.") from error


def _json_rows(file: Path) -> list[Row]:
    try:
        data = json.loads(file.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise BadData(f"{file}:{error.lineno} is not valid JSON ({error.msg}). Mend this line.") from error
    except RecursionError as error:
        raise BadData(f"{file} is nested too deeply for a question set. Check that it is the right file.") from error
    if isinstance(data, dict):
        lists = {name: texts if isinstance(texts, list) else [texts] for name, texts in data.items()}
        data = [{"pair_id": name, "text": text} for name, texts in lists.items() for text in texts]
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise BadData(f'{file} is no list of objects. Write [{{"pair_id": "…", "text": "…"}}, …].')
    return [
        Row(number, str(item.get("pair_id") or ""), str(item.get("text") or ""), str(item.get("answer") or ""))
        for number, item in enumerate(data, 1)
    ]


def _rasa_rows(file: Path) -> list[Row]:
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8-sig"))
    except yaml.YAMLError as error:
        raise BadData(f"{file} is not valid YAML ({str(error).splitlines()[0]}). Mend the syntax.") from error
    blocks = data.get("nlu") if isinstance(data, dict) else None
    if not isinstance(blocks, list):
        raise BadData(f"{file} has no list `nlu`. Give Rasa NLU training data, or CSV.")
    rows = []
    for block in blocks:
        if not isinstance(block, dict) or "intent" not in block:
            continue  # synonyms, lookups and regexes are no questions
        intent = str(block["intent"]).split("/")[-1]
        name = "" if intent in ("out_of_scope", "nlu_fallback") else intent
        for number, line in enumerate(str(block.get("examples", "")).splitlines(), 1):
            # [text](entity) and [text]{"entity": …} stand for their text.
            text = re.sub(r"\[([^\]]*)\](?:\([^)]*\)|\{[^}]*\})", r"\1", line.strip().removeprefix("-").strip())
            if text:
                rows.append(Row(number, name, text))
    return rows


def _collect(file: Path, rows: list[Row], *, whole: bool) -> Imported:
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
    return Imported(tuple(pairs.values()), tuple(background), duplicates)


def _control_in(row: Row) -> str:
    """Return the first character of a row that is neither seen nor white space as people type it; empty if none is."""
    found = re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", row.name + row.text + row.answer)
    return found[0] if found else ""


def _csv_rows(file: Path) -> list[Row]:
    delimiter = "\t" if file.suffix.lower() == ".tsv" else ","
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            quoting: Literal[0, 3] = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
            reader = csv.DictReader(stream, strict=True, delimiter=delimiter, quoting=quoting)
            columns = reader.fieldnames or []
            if not columns:
                raise BadData(f"{file} is empty. Its first line must be `pair_id,text` or `pair_id,text,answer`.")
            if "pair_id" not in columns or "text" not in columns:
                raise BadData(
                    f"{file} has the columns {', '.join(columns) or 'none'}. "
                    "Its first line must be `pair_id,text` or `pair_id,text,answer`."
                )
            return [_csv_row(file, reader.line_num, row) for row in reader]
    except csv.Error as error:
        if str(error).startswith("field larger"):
            raise BadData(
                f"{file}:{reader.line_num + 1} has a cell of more than {csv.field_size_limit():,} characters, or a "
                "quotation mark without an end. Shorten it, or mend the quotation marks."
            ) from error
        raise BadData(
            f"{file} is not valid CSV ({error}). Put texts with commas or quotes in double quotes."
        ) from error


def _csv_row(file: Path, line: int, row: dict[str | None, str]) -> Row:
    # csv keeps surplus fields under None: an unquoted comma would cut a patient's text short without a word.
    if None in row:
        raise BadData(f"{file}:{line} has more fields than the first line. Put texts with commas in double quotes.")
    return Row(line, row.get("pair_id") or "", row.get("text") or "", row.get("answer") or "")


def _row(file: Path, line: int, row: Mapping[str | None, object]) -> Row:
    if None in row:  # where csv puts what is too much
        raise BadData(f"{file}:{line} has more fields than the header. Put texts with commas in double quotes.")
    name, text, answer = (str(row.get(key) or "") for key in ("pair_id", "text", "answer"))
    return Row(line, name, text, answer)


def pair_id(name: str) -> str:
    """Turn any name into a pair id: lower case, letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9_.]+", "-", name.lower()).strip("-_.")


def catalog_name(name: str) -> str:
    """Turn any name into a catalog's: as a pair id, but without dots."""
    return pair_id(name.replace(".", "-")) or "catalog"


def write_catalog(imported: Imported, out: Path, *, name: str, language: str) -> None:
    """Write a catalog folder that `--catalog` takes; the language's files appear together or not at all.

    Raises:
        BadData: The folder already has this language, or cannot be written.
    """
    if (out / f"{language}.yaml").exists():
        raise BadData(f"{out / f'{language}.yaml'} exists. Choose another folder with `--out`, or remove it.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=out, prefix=".partial-"))
        try:
            _write_files(imported, partial, out, name=name, language=language)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise BadData(f"{out} cannot be written ({error.strerror}). Choose another folder with `--out`.") from error


def _write_files(imported: Imported, partial: Path, out: Path, *, name: str, language: str) -> None:
    _write(partial / "pairs.yaml", _document(imported.pairs, name, language))
    if imported.background:
        questions = {"imported": list(imported.background)}
        _write(partial / "background.yaml", {"catalog": name, "language": language, "questions": questions})
        (out / "background").mkdir(exist_ok=True)
        (partial / "background.yaml").replace(out / "background" / f"{language}.yaml")
    (partial / "pairs.yaml").replace(out / f"{language}.yaml")


def _document(pairs: Sequence[ImportedPair], name: str, language: str) -> dict[str, object]:
    return {
        "catalog": name,
        "language": language,
        "version": "1",
        "pairs": [
            {
                "id": pair.id,
                "question": pair.texts[0],
                "answer": pair.answer or PLACEHOLDER.get(language, PLACEHOLDER["en"]).format(id=pair.id),
                "review": {"status": "draft"},
                "variants": pair.texts[1:],
            }
            for pair in pairs
        ],
    }


def _write(path: Path, document: dict[str, object]) -> None:
    text = yaml.dump(document, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False, width=1_000_000)
    path.write_text(text, encoding="utf-8")

"""Make a catalog from anybody's question set."""

from __future__ import annotations

import csv
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

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
    """A question set as read."""

    pairs: tuple[ImportedPair, ...]
    background: tuple[str, ...]


def read_csv(file: Path) -> Imported:
    """Read CSV with the header ``pair_id,text[,answer]``; rows with an empty pair_id are background.

    Raises:
        BadData: The file is not such a CSV, with the line and what is wrong in it.
    """
    pairs: dict[str, ImportedPair] = {}
    background: dict[str, None] = {}
    for line, row in _rows(file):
        text = " ".join((row.get("text") or "").split())
        name, answer = (row.get("pair_id") or "").strip(), " ".join((row.get("answer") or "").split())
        if not text:
            raise BadData(f"{file}:{line} has no text. Remove the row, or fill in its `text`.")
        if not name:
            background.setdefault(text)
            continue
        id_ = pair_id(name)
        if not id_:
            raise BadData(f"{file}:{line}: the pair_id {name!r} has no letter or digit. Rename it.")
        pair = pairs.setdefault(id_, ImportedPair(id_))
        if text not in pair.texts:
            pair.texts.append(text)
        pair.answer = pair.answer or answer or None
    if not pairs:
        raise BadData(f"{file} has no row with a pair_id, so there is nothing to answer. Fill in the column `pair_id`.")
    return Imported(tuple(pairs.values()), tuple(background))


def _rows(file: Path) -> list[tuple[int, dict[str, str]]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            columns = reader.fieldnames or []
            if "pair_id" not in columns or "text" not in columns:
                raise BadData(
                    f"{file} has the columns {', '.join(columns) or 'none'}. "
                    "Its first line must be `pair_id,text` or `pair_id,text,answer`."
                )
            return [(reader.line_num, _whole(file, reader.line_num, row)) for row in reader]
    except UnicodeDecodeError as error:
        raise BadData(f"{file} is not UTF-8 (byte {error.start}). Save it as UTF-8.") from error
    except csv.Error as error:
        raise BadData(
            f"{file} is not valid CSV ({error}). Put texts with commas or quotes in double quotes."
        ) from error
    except OSError as error:
        raise BadData(f"{file} cannot be read ({error.strerror}). Check the path.") from error


def _whole(file: Path, line: int, row: dict[str, str]) -> dict[str, str]:
    # csv keeps surplus fields under None: an unquoted comma would cut a patient's text short without a word.
    if None in row:
        raise BadData(f"{file}:{line} has more fields than the first line. Put texts with commas in double quotes.")
    return row


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
                "answer": pair.answer or PLACEHOLDER[language].format(id=pair.id),
                "review": {"status": "draft"},
                "variants": pair.texts[1:],
            }
            for pair in pairs
        ],
    }


def _write(path: Path, document: dict[str, object]) -> None:
    text = yaml.dump(document, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False, width=1_000_000)
    path.write_text(text, encoding="utf-8")

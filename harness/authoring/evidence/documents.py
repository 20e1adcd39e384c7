"""A hospital's own documents as text: leaflets and SOPs as PDF, DOCX, HTML, Markdown or plain text.

A file that cannot be read is left out and said, in one line; only a folder in which nothing can be read is refused.
"""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bot import BadData, MissingExtra, data_folder, seen
from harness.authoring.evidence.hidden import (
    drop,
    drop_hidden_html,
    drop_hidden_word,
    has_tracked_changes,
    open_controls,
    without_comments,
    without_struck,
)
from harness.files import parse_yaml, unreadable, without_controls

MOST_BYTES = 25_000_000  # of one file; a leaflet has a hundredth of it
MOST_UNPACKED = 100_000_000  # bytes that a DOCX may come to
MOST_TEXT = 2_000_000  # characters of one document
MOST_FILES = 1_000
_HIDDEN = (".", "~$")  # how names begin of what belongs to the system, or is open in Word
HEADING_WORDS = 9  # a line on its own with no more words, and no full stop, is a heading
FULL = 0.75  # of the widest line: a shorter one that ends a sentence ends a paragraph
REPEATED_ON = 3  # pages: what stands at the same edge of so many is no text but a running head
CELL_WORDS = 60  # a table with longer cells, or headings in them, lays out a page
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
SAMPLES = ("authoring", "documents")  # below `vignettes/`
_YEAR = re.compile(r"\b(?:19[5-9]\d|20\d\d)\b")
_STAMP = re.compile(r"\b(?:Stand|Version|Fassung|gültig ab|Revision|as of|revised)\b[^\n]{0,40}", re.I)


class Unreadable(Exception):
    """A document cannot be used; the reason names no content of it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item or table row, under its heading; `page`: of a PDF, from 1; 0 where there are none."""

    text: str
    heading: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """One document as text.

    Attributes:
        name: Its path in the folder, with slashes.
        title: As it says, else the file's name.
        publisher: As it says; empty where it does not.
        year: Of its state, as it says; None where it does not.
        sha256: Of the file.
        blocks: In order.
    """

    name: str
    title: str
    publisher: str
    year: int | None
    sha256: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Collection:
    """The documents of a folder, and why others were left out, by name."""

    folder: Path
    documents: tuple[Document, ...]
    left_out: Mapping[str, str]

    @property
    def digest(self) -> str:
        """SHA-256 over names and files: the identity of what is drafted from."""
        parts = "".join(f"{each.name}\0{each.sha256}\n" for each in self.documents)
        return hashlib.sha256(parts.encode()).hexdigest()

    @property
    def is_sample(self) -> bool:
        """Whether these are the documents that are shipped: invented ones."""
        return self.folder.resolve().is_relative_to(data_folder("vignettes").resolve())

    def document(self, name: str) -> Document:
        return next(each for each in self.documents if each.name == name)


@dataclass(frozen=True, slots=True)
class _Read:
    """What a reader finds in a file."""

    blocks: Sequence[Block]
    title: str = ""
    publisher: str = ""
    year: int | None = None


def locate_documents(documents: str | Path) -> Path:
    """Return a folder of documents by its path, or by the name of a shipped one; raise BadData when there is none."""
    for folder in (Path(documents), data_folder("vignettes").joinpath(*SAMPLES) / str(documents)):
        if folder.is_dir():
            return folder
    shipped = sorted(each.name for each in data_folder("vignettes").joinpath(*SAMPLES).iterdir() if each.is_dir())
    raise BadData(
        f"There is no folder {str(documents)!r}. Give a folder of PDF, DOCX, HTML or Markdown files; "
        f"shipped as a sample: {', '.join(shipped)}."
    )


def read_documents(folder: Path) -> Collection:
    """Read all documents of a folder and the folders in it, in the order of their names.

    Links that lead out of the folder are not followed: who may put files there need not be who may read others.

    Raises:
        BadData: There are none, too many, or none that can be read.
        MissingExtra: A library that reads one of them is not installed.
    """
    paths, left_out = _files(folder)
    known = [each for each in paths if each.suffix.lower() in _READERS]
    kinds = ", ".join(sorted(_READERS))
    if not known:
        why = "".join(f"; {name}: {why}" for name, why in list(left_out.items())[:1])
        raise BadData(
            f"{folder} holds no document ({len(paths)} files, none ends in {kinds}{why}). Give the "
            "folder of your leaflets and SOPs."
        )
    if len(known) > MOST_FILES:
        raise BadData(f"{folder} holds {len(known)} documents, and {MOST_FILES} are the most. Give a smaller one.")
    found: list[Document] = []
    others = [each for each in paths if each not in known]
    left_out |= {_name(each, folder): f"it does not end in {kinds}" for each in others}
    for path in known:
        name = _name(path, folder)
        try:
            found.append(_document(path, name))
        except Unreadable as error:
            left_out[name] = str(error)
    if not found:
        name, why = next((name, left_out[name]) for path in known if (name := _name(path, folder)) in left_out)
        raise BadData(
            f"None of the {len(known)} documents in {folder} can be used; {name}: {why}. Put the document as text "
            "into the folder, then run this again."
        )
    return Collection(folder, tuple(found), left_out)


def _files(folder: Path) -> tuple[list[Path], dict[str, str]]:
    """Return the files of a folder in the order of their names, and by name why others are left out."""
    inside = folder.resolve()
    found: list[Path] = []
    left_out: dict[str, str] = {}
    for parent, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(_HIDDEN)]
        for name in (*folders, *names):
            path = Path(parent, name)
            if name.startswith(_HIDDEN) or (path.is_dir() and not path.is_symlink()):
                continue
            if why := _no_file_of(inside, path):
                left_out[_name(path, folder)] = why
            else:
                found.append(path)
    return sorted(found), dict(sorted(left_out.items()))


def _name(path: Path, folder: Path) -> str:
    return without_controls(path.relative_to(folder).as_posix())


def _no_file_of(folder: Path, path: Path) -> str:
    """Return why a path is no file of a folder; empty where it is one."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # a circle of links
        return "it is a link that leads nowhere"
    if not real.is_relative_to(folder):
        return "it is a link that leads out of the folder; copy the document into it"
    if real.is_dir():
        return "it is a link to a folder"
    return "" if real.is_file() else "it is no regular file"


def _document(path: Path, name: str) -> Document:
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise Unreadable(f"it has {size:,} bytes, and {MOST_BYTES:,} are the most; split it")
        raw = path.read_bytes()
    except OSError as error:
        raise Unreadable(f"it cannot be read ({unreadable(error)})") from error
    if not raw.strip():
        raise Unreadable("it is empty")
    read = _READERS[path.suffix.lower()](path, raw)
    blocks = [Block(text, _tidy(each.heading), each.page) for each in read.blocks if (text := _tidy(each.text))]
    characters = sum(len(each.text) for each in blocks)
    if characters > MOST_TEXT:
        raise Unreadable(f"it has {characters:,} characters of text, and {MOST_TEXT:,} are the most; split it")
    if not any(each.isalpha() for block in blocks for each in block.text):
        raise Unreadable("there is no text in it")
    year = read.year or _year_in("\n".join(each.text for each in blocks))
    digest = hashlib.sha256(raw).hexdigest()
    return Document(name, _tidy(read.title) or path.stem, _tidy(read.publisher), year, digest, tuple(blocks))


def _tidy(text: str) -> str:
    """Return text as a reader sees it: composed characters, single spaces, nothing invisible."""
    return seen(without_controls(text))


def _year_in(text: str) -> int | None:
    """Return the latest year beside words such as "Stand"; None where there is none."""
    years = [int(year) for stamp in _STAMP.finditer(text) for year in _YEAR.findall(stamp[0])]
    return max(years, default=None)


def _first_year(written: object) -> int | None:
    found = _YEAR.search(str(written or ""))
    return int(found[0]) if found else None


# --- PDF -------------------------------------------------------------------------------------------------


def _pdf(path: Path, _: bytes) -> _Read:
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtra(feature="Reading PDF", extra="authoring") from error
    import logging

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns of every small fault of a file that can be read
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("it is encrypted; store it without a password")
        pages = [page.extract_text() for page in reader.pages]
        about = reader.metadata
        title, author = (about.title or "", about.author or "") if about else ("", "")
        # What a program wrote there on the day of printing is no state of the text.
        year = _first_year(about.get("/State")) if about else None
    except Unreadable:
        raise
    except Exception as error:  # a broken PDF breaks its reader in many ways
        raise Unreadable(f"it is no PDF that can be read ({type(error).__name__})") from error
    if not any(page.strip() for page in pages):
        count = len(pages)
        raise Unreadable(f"there is no text on its {count} pages (a scan?); have text recognised (OCR) first")
    return _Read(list(_paragraphs(pages)), title, author, year)


def _paragraphs(pages: Sequence[str]) -> Iterator[Block]:
    """Yield paragraphs of what a PDF holds as lines; a heading is a short line, and running heads are left out."""
    lines = [[line.strip() for line in page.splitlines() if line.strip()] for page in pages]
    edges = Counter(_same(line) for page in lines for line in {*page[:2], *page[-2:]})
    heading = ""
    for number, page in enumerate(lines, 1):
        kept = [line for line in page if edges[_same(line)] < REPEATED_ON and not line.isdigit()]
        widest = max((len(line) for line in kept), default=0)
        text, before = "", ""
        for line in kept:
            bullet = re.match(r"[•●▪◦–\-*]\s+", line)
            whole = not text or text.endswith((".", "!", "?", ":"))
            heads = whole and not bullet and len(line) < FULL * widest and _is_heading(line)
            if text and (heads or bullet or (whole and len(before) < FULL * widest)):
                yield Block(text, heading, number)
                text = ""
            before = line
            if heads:
                heading = line
                continue
            rest = line[bullet.end() :] if bullet else line
            text = f"{text[:-1]}{rest}" if _is_hyphenated(text, rest) else f"{text} {rest}".strip()
        if text:
            yield Block(text, heading, number)


def _same(line: str) -> str:
    return re.sub(r"\d+", "0", line)


def _is_heading(line: str) -> bool:
    return len(line.split()) <= HEADING_WORDS and not line.endswith((".", ",", ";", "-")) and line[:1].isupper()


def _is_hyphenated(text: str, line: str) -> bool:
    cut = text.endswith("-") and text[-2:-1].isalpha() and line[:1].islower()
    return cut and not line.startswith(("und ", "oder "))


# --- DOCX ------------------------------------------------------------------------------------------------


def _docx(path: Path, _: bytes) -> _Read:
    try:
        import docx
        from docx.table import Table
    except ImportError as error:
        raise MissingExtra(feature="Reading DOCX", extra="authoring") from error
    blocks: list[Block] = []
    heading = ""
    try:
        with zipfile.ZipFile(path) as packed:
            unpacked = sum(each.file_size for each in packed.infolist())
        if unpacked > MOST_UNPACKED:
            raise Unreadable(f"it unpacks to {unpacked:,} bytes, and {MOST_UNPACKED:,} are the most")
        document = docx.Document(str(path))
        if has_tracked_changes(document):
            raise Unreadable("it holds tracked changes; accept or reject them in Word first")
        open_controls(document)
        drop_hidden_word(document)
        for item in document.iter_inner_content():
            if isinstance(item, Table):
                rows = (" – ".join(dict.fromkeys(cell.text.strip() for cell in row.cells)) for row in item.rows)
                blocks += [Block(row, heading) for row in rows]
            elif item.style is not None and str(item.style.name).startswith(("Heading", "Title")):
                heading = item.text
            else:
                blocks.append(Block(item.text, heading))
        about = document.core_properties
        title, author = about.title or "", about.author or ""
    except Unreadable:
        raise
    except Exception as error:  # a broken package breaks its reader in many ways; an encrypted one is no ZIP file
        raise Unreadable(f"it is no DOCX that can be read ({type(error).__name__}); it may be encrypted") from error
    return _Read(blocks, title, author)


# --- HTML, Markdown, plain text --------------------------------------------------------------------------


def _html(path: Path, raw: bytes) -> _Read:
    try:
        import trafilatura
    except ImportError as error:
        raise MissingExtra(feature="Reading HTML", extra="authoring") from error
    try:
        page = trafilatura.load_html(_decoded(raw))
        if page is None:
            raise Unreadable("there is no text in it")
        drop_hidden_html(page)
        rows = _rows_taken(page)
        headings = {" ".join(each.text_content().split()) for each in page.iter(*_HEADINGS)}
        about = trafilatura.extract_metadata(deepcopy(page))
        # Recall before precision: leaflets are pages without much around their text.
        text = trafilatura.extract(page, output_format="markdown", favor_recall=True, include_comments=False)
    except Unreadable:
        raise
    except Exception as error:  # an odd page breaks its reader in many ways: nested too deeply, for example
        raise Unreadable(f"it is no HTML that can be read ({type(error).__name__})") from error
    if not text and not rows:
        raise Unreadable("there is no text in it")
    text = text or ""
    if headings and not re.search(r"^#", text, re.MULTILINE):  # of a short page its lines come bare
        text = "\n\n".join(f"# {line}" if line in headings else line for line in text.splitlines())
    blocks = list(_markdown_blocks(text))
    for row in rows:
        under = [place for place, each in enumerate(blocks, 1) if each.heading == row.heading]
        blocks.insert(under[-1] if under else len(blocks), row)
    publisher = about.sitename or about.author or ""
    return _Read(blocks, about.title or "", publisher, _first_year(about.date))


def _rows_taken(page: Any) -> list[Block]:
    """Take tables of short cells out of a page and return their rows: what looks for its text leaves small ones out."""
    rows: list[Block] = []
    heading = ""
    for each in list(page.iter(*_HEADINGS, "table")):
        if each.tag != "table":
            heading = " ".join(each.text_content().split())
            continue
        cells = [
            [" ".join(cell.text_content().split()) for cell in row if cell.tag in ("td", "th")]
            for row in each.iter("tr")
        ]
        beside = next(each.iterancestors("nav", "header", "footer", "aside"), None)
        inside = next(each.iterdescendants("table", *_HEADINGS), None)
        widest = max((len(cell.split()) for row in cells for cell in row), default=0)
        if beside is not None or inside is not None or not 0 < widest <= CELL_WORDS:
            continue  # it lays out the page
        caption = [" ".join(one.text_content().split()) for one in each.iter("caption")]
        rows += [Block(text, heading) for text in (*caption, *(" – ".join(filter(None, row)) for row in cells)) if text]
        drop(each)
    return rows


def _markdown(path: Path, raw: bytes) -> _Read:
    text = _decoded(raw)
    said: Mapping[str, Any] = {}
    if text.startswith("---\n") and "\n---\n" in text[4:]:
        head, _, text = text[4:].partition("\n---\n")
        try:
            read = parse_yaml(head)
        except yaml.YAMLError as error:
            raise Unreadable(f"its head cannot be read ({unreadable(error)})") from error
        said = read if isinstance(read, dict) else {}
    if path.suffix.lower() == ".md":
        text = without_struck(without_comments(text))
    title = str(said.get("title") or next((line[2:] for line in text.splitlines() if line.startswith("# ")), ""))
    return _Read(list(_markdown_blocks(text)), title, str(said.get("publisher") or ""), _first_year(said.get("year")))


def _markdown_blocks(text: str) -> Iterator[Block]:
    heading, lines = "", list[str]()
    for line in [*text.splitlines(), ""]:
        bare = line.strip()
        item = re.match(r"(?:[-*+]|\d+[.)])\s+", bare)
        starts = not bare or bare.startswith(("#", "|")) or item
        if starts and lines:
            yield Block(_without_markup(" ".join(lines)), heading)
            lines = []
        if bare.startswith("#"):
            heading = _without_markup(bare.lstrip("#"))
        elif bare.startswith("|"):
            cells = [cell.strip() for cell in bare.strip("|").split("|")]
            if not all(set(cell) <= set("-: ") for cell in cells):
                yield Block(_without_markup(" – ".join(filter(None, cells))), heading)
        elif bare:
            lines.append(bare[item.end() :] if item else bare)


def _without_markup(text: str) -> str:
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"(\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w))", "", text).strip()


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")  # what older programs of offices wrote


_READERS: Mapping[str, Callable[[Path, bytes], _Read]] = {
    ".pdf": _pdf,
    ".docx": _docx,
    ".html": _html,
    ".htm": _html,
    ".md": _markdown,
    ".txt": _markdown,
}

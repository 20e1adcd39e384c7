"""The door: read any maker's questions and answers as drafts, or write catalogs in any maker's format."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import ModuleType

from bot.catalog.catalog import Catalog, Pair, Review, Source, Variant
from bot.catalog.exchange import botpress, dialogflow, own_json, qna_maker, question_set, rasa, tables
from bot.catalog.exchange.entries import (
    Entry,
    LeftOut,
    Reading,
    Remark,
    one_line,
    plain,
    tidy,
    tidy_lines,
    without_copies,
    without_html,
)
from bot.catalog.exchange.question_set import PLACEHOLDER, pair_id
from bot.catalog.exchange.sources import Handed, open_handed
from bot.errors import BadData

# In the order in which a file is tried: what is known by less comes later.
FORMATS: Mapping[str, ModuleType] = {
    each.NAME: each for each in (own_json, dialogflow, qna_maker, botpress, rasa, question_set, tables)
}
WRITTEN = tuple(name for name, each in FORMATS.items() if hasattr(each, "write"))
ONE_LANGUAGE = (qna_maker.NAME, rasa.NAME)
_IN_FILES = {rasa.NAME: "folder", dialogflow.NAME: "zip"}  # the others are one file
_LONGEST_ID = 48
_TRANSLITERATED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a person says of a foreign file; all else is found out.

    Attributes:
        format: One of `FORMATS`.
        encoding: Of its texts.
        layout: Of a table.
        prefix: Put before every id.
        today: The year of the sources.
    """

    format: str | None = None
    encoding: str | None = None
    layout: tables.Layout = field(default_factory=lambda: tables.Layout({}))
    prefix: str = ""
    today: date = field(default_factory=date.today)


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a foreign file.

    Attributes:
        maker: Whose format it is.
        pairs: How many, by language; `variants` likewise.
        background: Questions that nothing answers.
        placeholders: Pairs whose answer is missing.
        duplicates: Wordings that stood there twice.
        stripped: Ids of pairs with HTML or Markdown that was taken off.
        renamed: Ids that two questions had, and what the second was called.
        left: What was left out, and why.
        notes: What was guessed, and what was left out as a whole.
    """

    maker: str
    pairs: Mapping[str, int]
    variants: Mapping[str, int]
    background: int
    placeholders: int
    duplicates: int
    stripped: tuple[str, ...]
    renamed: tuple[Remark, ...]
    left: tuple[LeftOut, ...]
    notes: tuple[Remark, ...]

    @property
    def flows(self) -> int:
        """How many parts of conversations were left out."""
        return sum(each.flow for each in self.left)

    def lines(self) -> Iterator[str]:
        """Yield it for people."""
        for language, count in self.pairs.items():
            yield f"{self.maker}: {count} pairs in {language}, {self.variants[language]} variants"
        yield f"{self.background} background questions, {self.duplicates} wordings that stood there twice"
        if self.placeholders:
            yield f"{self.placeholders} pairs without an answer get a placeholder"
        yield from map(one_line, self.notes)
        if self.stripped:
            yield f"HTML or Markdown taken off in {len(self.stripped)} pairs: {', '.join(self.stripped)}"
        yield from map(one_line, self.renamed)
        yield f"{len(self.left)} left out, {self.flows} of them parts of conversations"
        yield from (f"  {each.as_line()}" for each in self.left)


@dataclass(frozen=True, slots=True)
class Imported:
    """Drafts by language, questions that none of them answers, and what became of the file."""

    pairs: Mapping[str, tuple[Pair, ...]]
    background: Mapping[str, tuple[str, ...]]
    report: Report


def read_foreign(path: Path, languages: Collection[str], options: ReadOptions | None = None) -> Imported:
    """Read questions and answers of any known maker; all become drafts that name their source. Nothing is written.

    Args:
        path: A file, folder or zip.
        languages: Which to take. Where the format does not say which language it is in, there must be one.
        options: What is known of the file.

    Raises:
        BadData: It cannot be read, is of no known format, or has nothing in these languages.
    """
    options = options or ReadOptions()
    handed = open_handed(path, options.encoding)
    maker = _maker(handed, options)
    reading: Reading = tables.read(handed, options.layout) if maker is tables else maker.read(handed)
    return _drafts(handed, reading, languages, options)


def _maker(handed: Handed, options: ReadOptions) -> ModuleType:
    if options.format is not None:
        if options.format not in FORMATS:
            raise BadData(f"There is no format {options.format!r}. Use one of {', '.join(FORMATS)}.")
        return FORMATS[options.format]
    if options.layout.columns or options.layout.delimiter:
        return tables
    found = next((each for each in FORMATS.values() if each.recognises(handed)), None)
    if found is None:
        raise BadData(
            f"{handed.path} is in no format that is known ({', '.join(FORMATS)}). Export it as one of these, or name "
            "it with `--format`."
        )
    return found


def _drafts(handed: Handed, reading: Reading, languages: Collection[str], options: ReadOptions) -> Imported:
    there = {entry.language for entry in reading.entries if entry.language is not None}
    if len(languages) > 1 and any(entry.language is None for entry in reading.entries):
        raise BadData(f"{handed.path} does not say in which language it is. Name one with `--lang`.")
    only = next(iter(languages))
    made: dict[str, dict[str, Pair]] = {}
    counts: Counter[str] = Counter()
    stripped: list[str] = []
    renamed: list[Remark] = []
    left = list(reading.left)
    for entry in reading.entries:
        language = entry.language or only
        if language not in languages:
            counts[language] += 1
            continue
        pairs = made.setdefault(language, {})
        pair = _draft(handed, reading, entry, language, options)
        if pair is None:
            left.append(LeftOut(entry.at, entry.key, Remark("Nothing is left of its question.", "no-question")))
            continue
        if pair.id in pairs:
            other = next(f"{pair.id}-{n}" for n in range(2, len(reading.entries) + 2) if f"{pair.id}-{n}" not in pairs)
            line = f"{entry.at}: the id {pair.id} is taken by another question; this one is {other}"
            renamed.append(Remark(line, "renamed", at=entry.at, id=pair.id, other=other))
            pair = pair.model_copy(update={"id": other})
        pairs[pair.id] = pair
        counts["duplicates"] += len(entry.texts) - 1 - len(pair.variants) if entry.pair is None else 0
        counts["placeholders"] += not entry.answer.strip()
        if entry.pair is None and _has_marks(entry):
            stripped.append(pair.id)
    if not any(made.values()):
        has = f" (it has {', '.join(sorted(there))})" if there else ""
        first = f" {left[0].as_line()}" if left and not has else ""
        raise BadData(f"{handed.path} has no question with its answer in {', '.join(languages)}{has}.{first}")
    background: dict[str, list[str]] = {}
    for found, text in reading.background:
        if (found or only) in languages and tidy(text):
            background.setdefault(found or only, []).append(tidy(text))
    alone = {language: tuple(without_copies(texts)) for language, texts in background.items() if language in made}
    notes = [
        Remark(f"{count} entries in {name} left out: not asked for", "not-asked", n=count, language=name)
        for name, count in counts.items()
        if len(name) == 2
    ]
    report = Report(
        maker=reading.maker,
        pairs={language: len(pairs) for language, pairs in made.items()},
        variants={language: sum(len(pair.variants) for pair in pairs.values()) for language, pairs in made.items()},
        background=sum(map(len, alone.values())),
        placeholders=counts["placeholders"],
        duplicates=counts["duplicates"],
        stripped=tuple(dict.fromkeys(stripped)),
        renamed=tuple(renamed),
        left=tuple(left),
        notes=(*reading.notes, *notes),
    )
    return Imported({name: tuple(pairs.values()) for name, pairs in made.items()}, alone, report)


def _draft(handed: Handed, reading: Reading, entry: Entry, language: str, options: ReadOptions) -> Pair | None:
    """Return an entry as a draft; None when its texts are empty without their marks."""
    title = entry.source or handed.path.name
    source = Source(
        title=tidy(title) or handed.path.name,
        publisher=reading.maker,
        year=options.today.year,
        url=title if title.startswith(("http://", "https://")) else None,
        passage=f"not opened; imported from {entry.at or handed.path.name}",
    )
    if entry.pair is not None:
        named = options.prefix + entry.pair.id
        refs = {
            key: tuple(options.prefix + each for each in getattr(entry.pair, key)) for key in ("related", "same_as")
        }
        return entry.pair.model_copy(update={"id": named, "review": Review(), **refs})
    texts = without_copies(filter(None, (tidy(without_html(text)) for text in entry.texts)))
    named = _named(entry.key) or _named(texts[0] if texts else "")[:_LONGEST_ID].strip("-_.")
    if not texts or not named:
        return None
    name = pair_id(options.prefix + named)
    answer = tidy_lines(plain(entry.answer)) or PLACEHOLDER.get(language, PLACEHOLDER["en"]).format(id=name)
    variants = tuple(Variant(text=text) for text in texts[1:])
    return Pair(id=name, question=texts[0], variants=variants, answer=answer, sources=(source,))


def _has_marks(entry: Entry) -> bool:
    return plain(entry.answer) != entry.answer or any(without_html(text) != text for text in entry.texts)


def _named(text: str) -> str:
    """Return a text as an id: letters without their accents, so that German names stay readable."""
    letters = unicodedata.normalize("NFKD", text.lower().translate(_TRANSLITERATED))
    return pair_id("".join(each for each in letters if not unicodedata.combining(each)))


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, and what the format has no place for: counts, and texts by pair."""

    path: Path
    pairs: int
    lost: tuple[str, ...]


def write_foreign(catalogs: Sequence[Catalog], format_: str, path: Path) -> Written:
    """Write the languages of a catalog in a maker's format; the file or folder appears whole or not at all.

    Raises:
        BadData: There is no such format, it holds one language only, or `path` is there already or cannot be written.
    """
    if format_ not in WRITTEN:
        raise BadData(f"There is no format {format_!r} to write. Use one of {', '.join(WRITTEN)}.")
    if format_ in ONE_LANGUAGE and len(catalogs) > 1:
        raise BadData(
            f"The format {format_} holds one language. Choose one with `--lang`.",
            code="one-language-format",
            values={"format": format_},
        )
    if path.exists():
        raise BadData(f"{path} exists. Choose another `--out`, or remove it.")
    lost = list(_lost(catalogs, format_))
    named = [pair.id for pair in catalogs[0].pairs if any(map(rasa.unwritable, _texts(pair)))]
    if format_ == rasa.NAME and named:
        raise BadData(
            f"Rasa would take a part of the texts of {', '.join(named)} for an entity or a slot, and has no way to "
            "write them. Take the brackets out first.",
            code="rasa-brackets",
            values={"pairs": ", ".join(named)},
        )
    try:
        _place(FORMATS[format_].write(catalogs), path, _IN_FILES.get(format_, "file"))
    except OSError as error:
        raise BadData(f"{path} cannot be written ({error.strerror}). Choose another `--out`.") from error
    return Written(path, sum(len(catalog.pairs) for catalog in catalogs), tuple(lost))


def _texts(pair: Pair) -> Iterator[str]:
    yield from (pair.question, pair.answer, *(variant.text for variant in pair.variants))


def _lost(catalogs: Sequence[Catalog], format_: str) -> Iterator[str]:
    """Yield how many texts of each kind a format has no place for."""
    if format_ == own_json.NAME:
        return
    kept = {"id", "question", "variants", "answer"}
    for name in (each for each in Pair.model_fields if each not in kept | {"review", "words_target"}):
        count = sum(bool(getattr(pair, name)) for catalog in catalogs for pair in catalog.pairs)
        if count:
            yield f"{name} of {count} pairs"


def _place(files: Mapping[str, bytes], path: Path, shape: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=path.parent, prefix=".partial-"))
    try:
        if shape == "folder":
            for name, raw in files.items():
                (partial / "whole" / name).parent.mkdir(parents=True, exist_ok=True)
                (partial / "whole" / name).write_bytes(raw)
        else:
            (partial / "whole").write_bytes(_zipped(files) if shape == "zip" else files[""])
        os.rename(partial / "whole", path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def zipped_folder(folder: Path) -> bytes:
    """Return a written folder as one file that can be sent."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return _zipped(dict(sorted(files.items())))


def _zipped(files: Mapping[str, bytes]) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return raw.getvalue()

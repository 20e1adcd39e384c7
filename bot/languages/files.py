"""The files that a language consists of: of the package, or of a site's folder, under the same names.

German and English are always known. Further languages are a folder each (`fr/interface.yaml`): those that `klartext`
ships (`shipped/`), and those of a site's folder (`KLARTEXT_LANGUAGES`), which stand in place of shipped ones. They are
opened for a catalog that has them and cost nothing until then. Whoever needs words or sentences asks here, so that no
room knows where they come from. A folder is read once, whole: nothing is read from the disk after that.
"""

from __future__ import annotations

import csv
import hashlib
import io
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

import yaml

from bot.errors import BadData

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class File:
    """One file of a language.

    Attributes:
        at: Where the package has its own, below `bot/`; `{}` is the language.
        holds: What stands in that one: one language; all, by language; all, by language under each key; what holds
            whatever language is spoken.
        needed: Whether a language without it is refused; the others are learned from, where they are there.
        about: What it is for, in one line.
    """

    at: str
    holds: Literal["one", "by language", "by key", "joint"]
    needed: bool
    about: str


FILES: Mapping[str, File] = {
    "language.yaml": File("languages/languages.yaml", "by language", True, "Its name, and how patients choose it."),
    "emergency.yaml": File("sentences/texts/emergency.yaml", "by language", True, "Whom to call, by country."),
    "interface.yaml": File("sentences/texts/interface.yaml", "by language", True, "What the chat says."),
    "remarks.yaml": File("sentences/texts/remarks.yaml", "by language", True, "What it says to feelings and manners."),
    "interview.yaml": File("sentences/texts/interview.yaml", "by language", True, "What the interview says."),
    "phrases.yaml": File("sentences/texts/exam.yaml", "by language", True, "What sentences say of any exam."),
    "page.yaml": File("web/page/texts/{}.yaml", "one", True, "The labels of the page."),
    "red_flags.yaml": File("matching/red_flag_rules/{}.yaml", "one", True, "Rules: signs of an emergency."),
    "red_flag_examples.yaml": File(
        "matching/red_flag_rules/examples/{}.yaml", "one", True, "What is urgent, and what only sounds so."
    ),
    "interview_words.yaml": File("interview/reading/words/{}.yaml", "one", True, "Words by which replies are read."),
    "manners.yaml": File("interview/manners/words.yaml", "by key", True, "Words by which the interview is steered."),
    "reactions.yaml": File("talk/reaction_phrases/{}.yaml", "one", True, "Thanks, relief, refusals."),
    "messages.yaml": File(
        "talk/reaction_phrases/messages.yaml", "by key", True, "Whole messages: small talk, picks, all clear."
    ),
    "plain.yaml": File(
        "matching/remark_texts/plain.yaml", "joint", False, "Whole messages that are no complaint, or a heavy heart."
    ),
    "red_flag_lines.tsv": File("matching/red_flag_rules/lines/{}.tsv", "one", False, "More for the alarm, by author."),
    "background.yaml": File("matching/background_texts/{}.yaml", "one", False, "Questions that no pair answers."),
    "health.tsv": File("matching/health_texts/{}.tsv", "one", False, "Complaints, by urgency."),
    "remarks.tsv": File("matching/remark_texts/{}.tsv", "one", False, "Examples of feelings and manners."),
    "simple_words.tsv": File("matching/simple_words/{}.tsv", "one", False, "How people with little of it write."),
    "difficult_words.yaml": File("catalog/difficult_words/{}.yaml", "one", False, "Words that easy answers avoid."),
}
_PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED = _PACKAGE / "languages" / "shipped"


@dataclass
class _Read:
    """The further languages that are open: files by language and name, and how often that changed."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    changes: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


_READ = _Read()


@lru_cache(maxsize=1)
def packaged() -> tuple[str, ...]:
    """Return the languages that are always known."""
    return tuple(_document(_PACKAGE / FILES["language.yaml"].at))


def known() -> tuple[str, ...]:
    """Return the languages that patients can be talked to in: those that always are, then further ones."""
    return (*packaged(), *_READ.files)


def changed(files: Mapping[str, Mapping[str, bytes]]) -> dict[str, Mapping[str, bytes]]:
    """Return the languages that are not known as they are here: files by language and name."""
    return {code: own for code, own in files.items() if _READ.files.get(code) != own}


def add(files: Mapping[str, Mapping[str, bytes]]) -> None:
    """Open further languages; from now on they are spoken as they are here."""
    with _READ.lock:
        for code, own in files.items():
            _READ.files[code] = dict(own)
            _READ.changes[code] = _READ.changes.get(code, 0) + 1


def forget(*codes: str) -> None:
    """Close further languages; none named: all."""
    with _READ.lock:
        for code in codes or tuple(_READ.files):
            _READ.files.pop(code, None)
            _READ.changes[code] = _READ.changes.get(code, 0) + 1


@lru_cache(maxsize=1)
def shipped() -> tuple[str, ...]:
    """Return the further languages that the package brings, which are opened only where a catalog has them."""
    return tuple(sorted(place.name for place in SHIPPED.iterdir() if is_code(place.name)))


def further(folder: Path | None, wanted: Collection[str]) -> dict[str, dict[str, bytes]]:
    """Return the files of those wanted languages that are not always known: the site's own, else the shipped ones.

    A language is taken whole from one place: files of the two are never mixed.

    Args:
        folder: The site's, with a folder for each language; None: there is none.
        wanted: Codes; those that nobody has are left out.

    Raises:
        BadData: The folder cannot be read, or holds a language that is always known.
    """
    own = in_folder(folder) if folder is not None else {}
    left = [code for code in shipped() if code in wanted and code not in own]
    return {**{code: own[code] for code in own if code in wanted}, **{code: _files_in(SHIPPED / code) for code in left}}


def _files_in(place: Path) -> dict[str, bytes]:
    return {name: (place / name).read_bytes() for name in FILES if (place / name).is_file()}


def in_folder(folder: Path) -> dict[str, dict[str, bytes]]:
    """Read a site's folder: files by language and name. What else lies there is left alone.

    Raises:
        BadData: It is no folder, cannot be read, or holds a language of the package.
    """
    try:
        places = sorted(each for each in folder.iterdir() if each.is_dir() and is_code(each.name))
        found = {place.name: _files_in(place) for place in places}
    except OSError as error:
        raise BadData(
            f"The folder of languages {str(folder)!r} cannot be read ({error.strerror}). KLARTEXT_LANGUAGES names one "
            "with a folder for each language, such as fr; `klartext qa language` writes it."
        ) from None
    if own := sorted(set(found) & set(packaged())):
        raise BadData(
            f"{folder / own[0]}: {own[0]!r} is a language of the program, whose sentences are approved with it. "
            "Remove the folder."
        )
    return found


def is_code(name: str) -> bool:
    """Say whether a name is that of a language (ISO 639-1)."""
    return len(name) == 2 and name.isascii() and name.isalpha() and name.islower()


def read_bytes(language: str, name: str) -> bytes | None:
    """Return a file of a language; None where it has none. Of the package's files also the other languages in it."""
    if language in _READ.files:
        return _READ.files[language].get(name)
    path = _PACKAGE / FILES[name].at.format(language)
    return path.read_bytes() if language in packaged() and path.is_file() else None


def load(language: str, name: str) -> Any:
    """Return what a YAML file of a language says; None for one that may be missing, and is.

    Raises:
        BadData: There is no such language, the file is missing and needed, or it is no YAML.
    """
    raw = read_bytes(language, name)
    if raw is None:
        if FILES[name].needed:
            raise BadData(no_file(language, name))
        return None
    if language in _READ.files:
        return parse(raw, f"{language}/{name}")
    document = _document(_PACKAGE / FILES[name].at.format(language))
    if FILES[name].holds == "by language":
        return document[language]
    if FILES[name].holds == "by key":
        return {key: value[language] for key, value in document.items() if _is_by_language(value)}
    return document


def load_rows(language: str, name: str) -> list[dict[str, str]]:
    """Return the rows of a table of a language (tabs, with a head); none where it has no such file."""
    raw = read_bytes(language, name) or b""
    return list(csv.DictReader(io.StringIO(raw.decode("utf-8"), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE))


def joint(name: str) -> dict[str, Any]:
    """Return the lists of a file that hold whatever language is spoken: the package's, with what each language adds."""
    found, *others = parts(name)
    for own in others:
        found = _joined(found, own)
    return found


def parts(name: str) -> list[dict[str, Any]]:
    """Return the same, apart: what the package says, then what each language of a site's folder adds."""
    whole = _document(_PACKAGE / FILES[name].at)
    first = {key: value for key, value in whole.items() if not _is_by_language(value)}
    others = (load(language, name) or {} for language in tuple(_READ.files))
    return [first, *({key: own[key] for key in first if own.get(key)} for own in others)]


def _joined(first: Any, more: Any) -> Any:
    if isinstance(first, dict):
        return {key: _joined(value, more[key]) if more.get(key) else value for key, value in first.items()}
    return [*first, *more]


def _is_by_language(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == set(packaged())


def parse(raw: bytes, called: str) -> Any:
    """Return what a YAML file says; raise BadData that names the place where it is none."""
    try:
        return yaml.load(raw.decode("utf-8"), Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}" if mark is not None else ""
        raise BadData(
            f"{called}{place}: this is no YAML in UTF-8. Mend it; `klartext qa language` checks it."
        ) from None


def no_file(language: str, name: str) -> str:
    """Return what is said of a file that a language must have, and has not."""
    if language not in known():
        there = dict.fromkeys((*known(), *shipped()))
        return (
            f"There is no language {language!r} (there are {', '.join(there)}). Write its files with `klartext qa "
            f"language {language} FOLDER`, and set KLARTEXT_LANGUAGES=FOLDER; or remove the catalog's "
            f"{language}.yaml."
        )
    return (
        f"The language {language!r} has no {name}, and is not spoken without it: {FILES[name].about} "
        f"`klartext qa language {language} FOLDER` writes what is missing."
    )


@lru_cache(maxsize=64)
def _document(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def digest(language: str, *names: str) -> str:
    """Return what changes with some of the files of a language."""
    return hashlib.sha256(b"\0".join(read_bytes(language, name) or b"" for name in names)).hexdigest()


def cached(make: Callable[P, T]) -> Callable[P, T]:
    """Keep what is made of languages' files by its arguments, the first of which is the language, until that changes.

    Without arguments: until any language changes.
    """
    kept: dict[Any, tuple[Any, T]] = {}

    @wraps(make)
    def get(*args: P.args, **kwargs: P.kwargs) -> T:
        key = (args, tuple(kwargs.items()))
        now = _READ.changes.get(str(args[0]), 0) if args else tuple(_READ.changes.items())
        found = kept.get(key)
        if found is None or found[0] != now:
            found = kept[key] = (now, make(*args, **kwargs))
        return found[1]

    return get


class Live(Mapping[str, T_co]):
    """A table that is made when it is first looked into, and made anew when a language changes."""

    def __init__(self, make: Callable[[], Mapping[str, T_co]]) -> None:
        self._table = cached(make)

    def __getitem__(self, key: str) -> T_co:
        return self._table()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table())

    def __len__(self) -> int:
        return len(self._table())

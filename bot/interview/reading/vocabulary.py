"""Cut a reply into folded words, and load the words of a language by which replies are read.

The words are data of each language (`bot/languages`; those of the package: `words/*.yaml`), loaded on first use and
folded as replies are. All have the keys of the English file, where each list is described. No other I/O.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol, TypeVar

from bot.languages.files import cached, known, load
from bot.text import MAX_CHARACTERS, fold, sanitise

Fold = Callable[[str], str]

MIN_CORRECTED = 4  # shorter words are too like one another to be corrected
_UMLAUT = re.compile("([aou])e")
_NO_WORD = re.compile("['’`´?]")
# What French, Italian or Catalan leave a vowel of before the next word: "l'année", "qu'elle"; not "aujourd'hui".
_ELISION = re.compile(r"([^\W\d_]{1,2}|[^\W\d_]*qu)['’]", re.I)
_REPEATED = re.compile(r"(.)\1+")
_TOKEN = re.compile(r"[0-9]+|[^\W\d_]+(?:['’][^\W\d_]+)*|\S")
_MARKS = str.maketrans(
    {"’": "'", "‘": "'", "′": "'", "´": "'", "`": "'", "″": '"', "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
    | dict.fromkeys("‐‑‒–—−", "-")
    | {"≈": "~", "≤": "<", "≥": ">", "∕": "/"}
)
_EDGES = " \t.,;:!-–—()'\"/"


def _fold_german(word: str) -> str:
    """Return a word so that "Zürich", "Zuerich" and "Zurich" are equal, as are "heiß" and "heiss"."""
    return _UMLAUT.sub(r"\1", _folded(word)) or word.lower()


def _fold_plain(word: str) -> str:
    """Return a word in lower case without accents."""
    bare = "".join(mark for mark in unicodedata.normalize("NFD", word) if not unicodedata.combining(mark))
    return _folded(bare) or word.lower()


def _fold_elided(word: str) -> str:
    """Return a word as `_fold_plain` does, of a language in which words before it may be joined by an apostrophe."""
    return _fold_plain(word)


def _folded(word: str) -> str:
    # A question mark is a word to `fold`; here marks stay what they are.
    return fold(_NO_WORD.sub("", word)).replace(" ", "")


FOLDS: dict[str, Fold] = {"german": _fold_german, "plain": _fold_plain, "elided": _fold_elided}


def squeeze(word: str) -> str:
    """Return a word with repeated letters once: "jaaa" becomes "ja"."""
    return _REPEATED.sub(r"\1", word)


def one_slip_apart(left: str, right: str) -> bool:
    """Tell whether one typing error lies between two words: a letter wrong, missing, too much, or two swapped."""
    if left == right or abs(len(left) - len(right)) > 1:
        return False
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    a, b = left[start:], right[start:]
    swapped = len(a) >= 2 and len(b) >= 2 and a[0] == b[1] and a[1] == b[0] and a[2:] == b[2:]
    return swapped or a[1:] == b[1:] or a[1:] == b or a == b[1:]


def near(word: str, known: Iterable[str]) -> set[str]:
    """Return the known words that one slip turns into `word`.

    The first letter must be right: "unverheiratet" is no slip of "verheiratet", nor "Onkel" of "Enkel".
    """
    if len(word) < MIN_CORRECTED:
        return set()
    return {
        other for other in known if len(other) >= MIN_CORRECTED and other[0] == word[0] and one_slip_apart(word, other)
    }


def corrected(word: str, known: Iterable[str]) -> str:
    """Return the one known word that a slip turned into `word`, or an empty string if there is none or several."""
    found = near(word, known)
    return found.pop() if len(found) == 1 else ""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a reply."""

    kind: str  # word, digits, mark, number (spelled out), ordinal, or article: a word like "a" that may mean one
    text: str  # folded when a word; the number in digits when digits, number or ordinal
    start: int  # place in the cleaned text
    end: int
    glued: bool  # whether it follows the piece before without a space
    value: Decimal | None = None  # of digits, number, ordinal or article

    @property
    def numeric(self) -> bool:
        return self.kind in ("digits", "number")

    @property
    def wordlike(self) -> bool:
        return self.kind in ("word", "article")


@dataclass(frozen=True, slots=True)
class Reply:
    """A cleaned text and its pieces."""

    text: str
    tokens: tuple[Token, ...]

    @property
    def said(self) -> list[str]:
        """The texts of all pieces but marks."""
        return [token.text for token in self.tokens if token.kind != "mark"]

    @property
    def names(self) -> list[str]:
        """The texts of words; numbers left out."""
        return [token.text for token in self.tokens if token.wordlike]

    @property
    def body(self) -> tuple[Token, ...]:
        """All pieces but full stops and exclamation marks at the end."""
        end = len(self.tokens)
        while end and self.tokens[end - 1].text in (".", "!"):
            end -= 1
        return self.tokens[:end]

    def between(self, first: int, end: int) -> str:
        """Return the text of the tokens from `first` up to `end`, without punctuation around it."""
        if first >= end:
            return ""
        return self.text[self.tokens[first].start : self.tokens[end - 1].end].strip(_EDGES)


def text_at(tokens: Sequence[Token], place: int) -> str:
    """Return the text of a token; empty where there is none."""
    return tokens[place].text if 0 <= place < len(tokens) else ""


class _Span(Protocol):
    @property
    def end(self) -> int: ...


S = TypeVar("S", bound=_Span)


def one_after_another(tokens: Sequence[Token], found_at: Callable[[int], S | None]) -> list[S]:
    """Return what is found from the places of tokens on; what is next begins behind the end of the one before."""
    found: list[S] = []
    place = 0
    while place < len(tokens):
        item = found_at(place)
        if item is not None:
            found.append(item)
        place = item.end if item is not None else place + 1
    return found


def cut(raw: str, fold: Fold) -> Reply:
    """Return the pieces of what a patient typed."""
    text = _plain(raw)
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        piece, (start, end) = match.group(), match.span()
        glued = bool(tokens) and tokens[-1].end == start
        if piece[0].isdecimal():
            tokens.append(Token("digits", piece, start, end, glued, Decimal(piece)))
        elif piece[0].isalpha():
            while fold is _fold_elided and (article := _ELISION.match(piece)):
                tokens.append(Token("word", fold(article[1]), start, start + len(article[1]), glued))
                piece, start, glued = piece[article.end() :], start + article.end(), False
            tokens.append(Token("word", fold(piece), start, end, glued))
        else:
            tokens.append(Token("mark", piece, start, end, glued))
    return Reply(text, tuple(tokens))


def _plain(raw: str) -> str:
    """Return text in which digits, dashes and quotation marks of all scripts and keyboards are the plain ones."""
    if raw.isascii():
        return sanitise(raw[: 4 * MAX_CHARACTERS]).text.translate(_MARKS)
    parted = "".join(map(_parted, raw[: 4 * MAX_CHARACTERS]))
    plain = sanitise(parted).text.translate(_MARKS)
    return "".join(str(unicodedata.decimal(mark)) if mark.isdecimal() else mark for mark in plain)


def _parted(character: str) -> str:
    """Keep compatibility forms from melting together with digits: "1½" into "11/2", "10²" into "102"."""
    form = unicodedata.decomposition(character)
    if form.startswith("<fraction>"):
        return " " + character
    return "^" + character if form.startswith(("<super>", "<sub>")) and character.isdigit() else character


class Phrases(frozenset[str]):
    """Folded words and phrases, single spaces between the words of a phrase; phrases are found longest first."""

    @cached_property
    def longest(self) -> int:
        """The words of the longest phrase."""
        return max((phrase.count(" ") + 1 for phrase in self), default=0)

    @cached_property
    def single(self) -> frozenset[str]:
        """Those that are one word."""
        return frozenset(phrase for phrase in self if " " not in phrase)

    @cached_property
    def openings(self) -> frozenset[str]:
        """The words that they begin with."""
        return frozenset(phrase.split(" ", 1)[0] for phrase in self)

    def length_at(self, words: Sequence[str], start: int) -> int:
        """Return how many words from `start` on make the longest phrase; 0 when none does."""
        if start >= len(words) or words[start] not in self.openings:
            return 0
        for length in range(min(self.longest, len(words) - start), 0, -1):
            if " ".join(words[start : start + length]) in self:
                return length
        return 0

    def within(self, words: Sequence[str]) -> bool:
        """Tell whether any phrase occurs."""
        return any(self.length_at(words, start) for start in range(len(words)))


def steps(words: Sequence[str], *lists: Phrases) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Go through words: yield where a phrase of some lists or another word begins, and how long each list's phrase is.

    The next step is behind the longest of them.
    """
    place = 0
    while place < len(words):
        lengths = tuple(phrases.length_at(words, place) for phrases in lists)
        yield place, lengths
        place += max(*lengths, 1)


def easter(year: int) -> date:
    """Return Easter Sunday of a year of the Gregorian calendar (the method of Meeus, Jones and Butcher)."""
    golden, century, rest = year % 19, year // 100, year % 100
    moon = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    week = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    shift = (golden + 11 * moon + 22 * week) // 451
    month, day = divmod(moon + week - 7 * shift + 114, 31)
    return date(year, month, day + 1)


@dataclass(frozen=True, slots=True)
class Feast:
    """A feast: `day` of a `month` or, where that is 0, so many days after Easter Sunday; `single` if it is one day."""

    month: int
    day: int
    single: bool

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Feast:
        return cls(raw.get("month", 0), raw["easter"] if "easter" in raw else raw["day"], raw.get("single", False))

    def of_year(self, year: int) -> str:
        """Return its date in a year; of a feast of several days, the month."""
        day = date(year, self.month, self.day) if self.month else easter(year) + timedelta(days=self.day)
        return day.isoformat()[: None if self.single else 7]


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of one language, by their names in `words/*.yaml`. Compared by identity, so that they can key a cache.

    Attributes:
        fold: How words are folded.
        lists: Words and phrases; `words["yes"]` is one of them.
        tables: What words mean: numbers, or for spans codes of UCUM.
        flags: Habits of the language that it has, such as "month_first".
        texts: Marks in numbers, and patterns for reading values back.
        told: By phrases of a sentence, what an option may be called that they come to.
    """

    fold: Fold
    lists: Mapping[str, Phrases]
    tables: Mapping[str, Mapping[str, int]]
    flags: frozenset[str]
    texts: Mapping[str, str]
    spans: Mapping[str, str]
    feasts: Mapping[str, Feast]
    halves: Mapping[str, Decimal]
    parts_of_day: Mapping[str, Sequence[int]]
    month_names: Sequence[str]
    endings: Sequence[str]
    unit_codes: Mapping[str, Sequence[str]]
    unit_names: Mapping[str, str]
    told: Mapping[str, str]
    measured: Mapping[str, Phrases]
    commands: Mapping[str, Phrases]

    def __getitem__(self, name: str) -> Phrases:
        return self.lists[name]

    def with_harmless(self, more: Iterable[str]) -> Words:
        """Return the same, with more words that change nothing around a value."""
        return replace(self, lists={**self.lists, "harmless": Phrases(self["harmless"].union(more))})

    def without_hedges(self, texts: Sequence[str]) -> list[str]:
        """Return words without "I'm not sure" and "nothing else", whose negation is about something else."""
        return [texts[place] for place, lengths in steps(texts, self["hedges"], self["enough"]) if not any(lengths)]

    def negates(self, texts: Sequence[str]) -> bool:
        """Tell whether anything is negated, apart from how sure the patient is."""
        plain = self.without_hedges(texts)
        return self["negators"].within(plain) or not self["without"].isdisjoint(plain)

    def without_negation(self, texts: Sequence[str]) -> list[str]:
        """Return what is negated: the words without those that negate."""
        plain = self.without_hedges(texts)
        told = [plain[place] for place, (taken,) in steps(plain, self["negators"]) if not taken]
        return [text for text in told if text not in self["without"]]

    def only_denies(self, texts: Sequence[str]) -> bool:
        """Tell whether words deny what was said before them and say nothing of their own: "das nehme ich nicht"."""
        silent = self["weak"] | self["articles"] | self["silence_padding"] | self["openers"]
        return self.negates(texts) and silent.issuperset(self.without_negation(texts))


def unit_key(form: str, fold: Fold) -> str:
    """Return a written form of a unit as it is looked up: folded, without spaces, dots and raising marks."""
    return "".join(token.text for token in cut(form, fold).tokens if token.text not in (".", "^"))


_PADDING = {"silence": "silence_padding", "commands": "command_padding"}  # left out of what is listed beside it
_MADE: dict[str, Callable[[Any], Any]] = {
    "spans": str,
    "told": str,
    "feasts": Feast.of,
    "halves": Decimal,
    "parts_of_day": tuple,
}
FILE = "interview_words.yaml"


def words_for(language: str) -> Words:
    """Return the words of a language tag such as "de-CH", by its region, else its language, else English."""
    tag = language.strip().lower().replace("_", "-")
    base = tag.split("-", maxsplit=1)[0]
    return _loaded("en-us" if tag == "en-us" else base if base in known() else "en")


@cached
def _loaded(name: str) -> Words:
    if name == "en-us":
        words = _loaded("en")
        return replace(words, flags=words.flags | {"month_first"})
    return load_words(load(name, FILE), f"{name}/{FILE}")


@cached
def known_unit_codes() -> frozenset[str]:
    """Return the codes of all units that some language has a name for."""
    return frozenset(code for each in known() for codes in words_for(each).unit_codes.values() for code in codes)


def load_words(raw: Any, called: str) -> Words:
    """Read the words of a language; raise ValueError that names the first thing that is not as in English."""
    pattern = load("en", FILE)
    _check_keys(raw, pattern, called)
    if raw["fold"] not in FOLDS:
        raise ValueError(f"{called}: `fold` must be one of {', '.join(FOLDS)}.")
    loader = _Loader(FOLDS[raw["fold"]], raw["negation"].split())
    for section in pattern.keys() - {"fold", "negation"}:
        _check_keys(raw[section], pattern[section], f"{called}: {section}")
        padding = frozenset(loader.folded(raw[section].get(_PADDING.get(section), "")))
        for key, value in raw[section].items():
            try:
                _check_kind(value, pattern[section][key])
                loader.take(section, key, value, padding)
            except (TypeError, AttributeError, ValueError, LookupError, ArithmeticError):
                raise ValueError(f"{called}: {section}.{key} cannot be read.") from None
    return Words(loader.fold, loader.lists, loader.tables, frozenset(loader.flags), raw["wordings"], **loader.special)


def _check_keys(raw: Any, pattern: Mapping[str, Any], where: str) -> None:
    keys, wanted = set(raw) if isinstance(raw, dict) else set(), set(pattern)
    if keys != wanted:
        missing, unknown = sorted(wanted - keys), sorted(map(str, keys - wanted))
        raise ValueError(f"{where}: missing are {missing or 'none'}, unknown are {unknown or 'none'}.")


def _check_kind(value: Any, pattern: Any) -> None:
    if type(value) is not type(pattern):
        raise TypeError
    if isinstance(pattern, dict) and pattern and not set(map(type, value.values())) <= set(map(type, pattern.values())):
        raise TypeError


class _Loader:
    """Turns the texts of a file into what the readers look words up in, folded as replies are folded."""

    def __init__(self, fold: Fold, negation: Sequence[str]) -> None:
        self.fold = fold
        self.negation = negation  # what ~ stands for in a phrase
        self.lists: dict[str, Phrases] = {}
        self.tables: dict[str, Mapping[str, int]] = {}
        self.flags: set[str] = set()
        self.special: dict[str, Any] = {}

    def take(self, section: str, key: str, value: Any, padding: frozenset[str]) -> None:
        """Take one list, table or flag; those of a section with padding are stripped of it, as replies are."""
        if key in ("unit_names", "month_names", "endings"):
            self.special[key] = value
        elif key == "unit_codes":
            self.special[key] = self.codes(value)
        elif key in ("measured", "commands"):
            self.special[key] = {kind: self.phrases(text, padding) for kind, text in value.items()}
        elif key in _MADE:
            self.special[key] = self.table(value, _MADE[key])
        elif isinstance(value, dict):
            self.tables[key] = self.table(value, int)
        elif isinstance(value, bool):
            self.flags |= {key} if value else set()
        elif section != "wordings":
            self.lists[key] = self.phrases(value, padding)

    def folded(self, text: str | Sequence[str]) -> list[str]:
        """Return the phrases between the commas of a text."""
        phrases = text.split(",") if isinstance(text, str) else text
        return [" ".join(self.fold(word) for word in phrase.split()) for phrase in phrases]

    def table(self, raw: Mapping[str, Any], make: Callable[[Any], Any]) -> dict[str, Any]:
        return {key: make(value) for text, value in raw.items() for key in self.folded(text)}

    def phrases(self, raw: str | Sequence[str], padding: frozenset[str]) -> Phrases:
        """Return the phrases of a text without padding.

        One of which just one word would be left stays whole: "nicht" alone is no "nicht jetzt".
        """
        phrases = raw.split(",") if isinstance(raw, str) else raw
        listed = set(
            self.folded(
                [
                    phrase.replace("~", word)
                    for phrase in phrases
                    for word in (self.negation if "~" in phrase else ("",))
                ]
            )
        ) - {""}
        found = set()
        for phrase in listed:
            kept = " ".join(word for word in phrase.split() if word not in padding) or phrase
            found.add(kept if " " in kept or kept in listed else phrase)
        return Phrases(found)

    def codes(self, raw: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """Return the codes of units by what patients write."""
        codes: dict[str, tuple[str, ...]] = {}
        for code, forms in raw.items():
            for form in forms.split(","):
                key = unit_key(form, self.fold)
                if key and code not in codes.get(key, ()):
                    codes[key] = (*codes.get(key, ()), code)
        return codes

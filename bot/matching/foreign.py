"""Messages in a language that the catalog lacks: which language it is, and whether they name an emergency.

What consists of words that the catalog knows is not foreign; anything else is judged by a naive Bayes model of byte
sequences (py3langid), which is loaded when the first such message comes. Emergencies are plain phrases by language,
data in `foreign_words`. Pure.
"""

from __future__ import annotations

import math
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import regex
import yaml
from pydantic import BaseModel, ConfigDict

from bot.languages.files import known
from bot.matching.red_flags import FLAGS, is_other_script, load_red_flags, plain_letters
from bot.text import words

WORDS = Path(__file__).parent / "foreign_words"
GAP = 4  # words that " … " stands for, at most
# Signs that are called off by "no" in front of them or behind them. The others may be denials themselves.
DENIABLE = frozenset({"chest-pain", "bleeding", "stroke", "overdose", "suicide"})
DENIED_WITHIN = 1  # words between a denial and what it denies
SERBIAN_IN_LATIN = "hr"  # who writes Serbian or Bosnian in Latin letters reads Croatian
_SOUTH_SLAVIC = frozenset({"bs", "hr", "sr"})
_TIGRINYA = regex.compile(r"[\u1250-\u1258\u12a3\u12b8-\u12be]|እዩ|እየ")
_ETHIOPIC = regex.compile(r"\p{Script=Ethiopic}")

_NO_LETTERS = regex.compile(r"[^\p{L}\p{M}\p{N}]+")
_NO_PHRASE = regex.compile(r"[^\p{L}\p{M}\p{N}*~…|]+")
_SENTENCE_END = regex.compile(r"[.!?…;؟۔।。！？]+")
_ACCENTS = regex.compile(r"[\u0300-\u036f\u064b-\u065f\u0670\u0640]")
# Letters that keyboards lack, and the two ways to write some letters of Arabic script.
_SAME = str.maketrans("ıłđøىیکةھ", "ildoييكهه")


class _Signs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    denied: list[str] = []
    unanswered: list[str] = []
    signs: dict[str, list[str]]


class _Limits(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    languages: str
    near: dict[str, list[str]]
    ahead: dict[int, float]
    known_weight: float
    known_free: float
    known_enough: float
    plain_most_known: float
    few_letters: int
    disguised_known: float
    understood_words: int
    understood_ahead: float

    def needed(self, count: int, share: float) -> float:
        """Return by how much another language must be likelier: for so many words, of which a share is known."""
        base = next(ahead for most, ahead in sorted(self.ahead.items()) if count <= most or most == max(self.ahead))
        return base + self.known_weight * max(0.0, share - self.known_free)


@dataclass(frozen=True, slots=True)
class Emergency:
    """A plain emergency: its language (ISO 639-1), and one of `bot.matching.red_flags.FLAGS`."""

    language: str
    flag: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """Recognises what is written in none of a catalog's languages.

    Attributes:
        known: Folded words of each of the catalog's languages.
    """

    known: Mapping[str, frozenset[str]]

    def language(self, text: str) -> str | None:
        """Return the language (ISO 639-1) of a sanitised text; None for one of the catalog's, or when none is told."""
        limits = _limits()
        if is_other_script(text):
            letters = sum(mark.isalpha() for mark in text)
            # Letters that only look like Latin ones are a disguise, and no other language.
            disguised = letters < 2 or self._share(_counted(plain_letters(text))) >= limits.disguised_known
            return None if disguised else _named(self._likeliest(text)[0], text)
        said = _counted(text)
        share = self._share(said)
        if not said or share >= limits.known_enough:
            return None
        plain = next(_found(_plain(), _folded(text)), None) if share <= limits.plain_most_known else None
        if plain is not None and plain not in self.known and not self._understood(text):
            return _named(plain, text)
        if sum(map(len, said)) < limits.few_letters:
            return None
        language, ahead = self._likeliest(text)
        if ahead < limits.needed(len(said), share) or self._understood(text):
            return None
        return _named(language, text)

    def emergency(self, text: str) -> Emergency | None:
        """Return the emergency that a text of any length plainly names in a language that the catalog lacks."""
        if self._share(_counted(text)) == 1.0:
            return None
        signs = _signs()
        for sentence in _SENTENCE_END.split(text, concurrent=False):
            folded = _folded(sentence)
            for language in _found(signs.any_flag, folded):
                flag = signs.flag(language, folded) if language.partition("-")[0] not in self.known else None
                if flag is not None:
                    return Emergency(_named(language, text), flag)
        return self._by_rules(text)

    def _by_rules(self, text: str) -> Emergency | None:
        """Return what the rules say of a language that has its own, but not in this catalog: English beside German."""
        others = [each for each in known() if each not in self.known]
        language = self.language(text) if others else None
        flag = load_red_flags(language).check(text) if language in others and language is not None else None
        return Emergency(language, flag) if language is not None and flag is not None else None

    def _share(self, said: Iterable[str]) -> float:
        """Return how many of the words the catalog knows, 0 to 1."""
        found = [any(word in known for known in self.known.values()) for word in said]
        return sum(found) / len(found) if found else 0.0

    def _likeliest(self, text: str) -> tuple[str, float]:
        """Return the likeliest language that the catalog lacks, and how far it is ahead of all that it has."""
        limits = _limits()
        own = {near for language in self.known for near in (language, *limits.near.get(language, ()))}
        ranked = _identifier().rank(text)
        best = next((language, score) for language, score in ranked if language not in own)
        ours = max((score for language, score in ranked if language in own), default=best[1])
        return best[0], (best[1] - ours) / math.sqrt(len(text.encode()) or 1)

    def _understood(self, text: str) -> bool:
        """Say whether the known words of a text are a part in the catalog's language: "und wann, teşekkürler"."""
        limits = _limits()
        pieces = [piece for piece in text.split() if (said := _counted(piece)) and self._share(said) == 1.0]
        return (
            len(pieces) >= limits.understood_words and self._likeliest(" ".join(pieces))[1] <= -limits.understood_ahead
        )


def _counted(text: str) -> list[str]:
    return [word for word in words(text) if len(word) > 1 and not word.isdigit()]


def _named(language: str, text: str) -> str:
    """Return what a language is called here: the model knows no Tigrinya, and cannot tell three neighbours apart."""
    if _ETHIOPIC.search(text):
        return "ti" if _TIGRINYA.search(text) else "am"
    language = language.partition("-")[0]  # Arabic in Latin letters has phrases of its own
    return SERBIAN_IN_LATIN if language in _SOUTH_SLAVIC and not is_other_script(text) else language


@lru_cache(maxsize=1)
def _identifier() -> Any:
    # 0.5 s and 55 MB that most conversations never need. The identifier would keep all languages beside those chosen.
    from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier
    from py3langid.modelio import load_model

    by_term, prior, languages, moves, rows, found = load_model(MODEL_DIR / MODEL_FILE)
    wanted = set(_limits().languages.split())
    kept = [number for number, language in enumerate(languages) if language in wanted]
    named = [languages[number] for number in kept]
    return LanguageIdentifier(by_term[:, kept], prior[kept], named, moves, array("i", found), tk_row=rows)


@lru_cache(maxsize=1)
def _limits() -> _Limits:
    return _Limits.model_validate(_read("recognition"))


def _read(name: str) -> Any:
    return yaml.load((WORDS / f"{name}.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def _folded(text: str, *, outside: regex.Pattern[str] = _NO_LETTERS) -> str:
    """Return words in small letters without accents, separated by single spaces; vowel signs of India stay."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFD", text.lower()), concurrent=False).translate(_SAME)
    return " ".join(outside.sub(" ", unicodedata.normalize("NFC", plain), concurrent=False).split())


def _phrase(written: str) -> str:
    """Return the pattern of a phrase over folded words."""
    folded = _folded(written, outside=_NO_PHRASE)  # nothing else is left that a pattern could take for a command
    spelt = folded.replace(" … ", rf"(?: \S+){{0,{GAP}}} ").replace("*", r"\S*").replace("~", " ?")
    return spelt.replace(" |", "$")


def _any_of(phrases: Iterable[str]) -> str:
    return rf"(?<!\S)(?:{'|'.join(_phrase(phrase) for phrase in phrases)})(?!\S)"


@lru_cache(maxsize=1)
def _plain() -> dict[str, regex.Pattern[str]]:
    return {language: regex.compile(_any_of(phrases)) for language, phrases in _read("plain").items()}


@dataclass(frozen=True, slots=True)
class _Compiled:
    any_flag: dict[str, regex.Pattern[str]]
    by_flag: dict[str, dict[str, regex.Pattern[str]]]
    denied: dict[str, regex.Pattern[str]]
    unanswered: dict[str, regex.Pattern[str]]

    def flag(self, language: str, folded: str) -> str | None:
        """Return the first flag of a folded sentence that is not denied."""
        for flag, pattern in self.by_flag[language].items():
            for sign in pattern.finditer(folded):
                if flag in DENIABLE and self._denied(language, folded[: sign.start()], folded[sign.end() :]):
                    continue
                if flag == "collapse" and language in self.unanswered and self.unanswered[language].search(folded):
                    continue  # who does not answer the telephone
                return flag
        return None

    def _denied(self, language: str, before: str, after: str) -> bool:
        pattern = self.denied.get(language)
        if pattern is None:
            return False
        near = rf"(?: \S+){{0,{DENIED_WITHIN}}}"
        return bool(
            regex.search(rf"(?:{pattern.pattern}){near} ?$", before)
            or regex.match(rf" ?{near} ?(?:{pattern.pattern})", after)
        )


@lru_cache(maxsize=1)
def _signs() -> _Compiled:
    files = {language: _Signs.model_validate(one) for language, one in _read("emergencies").items()}
    return _Compiled(
        any_flag={
            language: regex.compile(_any_of(phrase for phrases in one.signs.values() for phrase in phrases))
            for language, one in files.items()
        },
        by_flag={
            language: {flag: regex.compile(_any_of(one.signs[flag])) for flag in FLAGS if flag in one.signs}
            for language, one in files.items()
        },
        denied={language: regex.compile(_any_of(one.denied)) for language, one in files.items() if one.denied},
        unanswered={
            language: regex.compile(_any_of(one.unanswered)) for language, one in files.items() if one.unanswered
        },
    )


def _found(patterns: Mapping[str, regex.Pattern[str]], folded: str) -> Iterator[str]:
    """Yield the languages one of whose phrases stands in a folded text."""
    for language, pattern in patterns.items():
        # Words in Latin letters have none of other scripts in them.
        # And many short searches must not each let other threads run, and wait to go on.
        if folded.isascii() <= pattern.pattern.isascii() and pattern.search(folded, concurrent=False):
            yield language

"""Load the words of a language from `words/*.yaml`, checked against the vocabulary and folded as replies are.

Loaded on first use. A further language is a further file; its keys are the fields of the vocabulary's sections. A list
of words is a text with spaces, a list of phrases one with commas; a table has such phrases as its keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import yaml

from bot.interview.reading.tokens import Fold, fold_german, fold_plain
from bot.interview.reading.vocabulary import Feast, NumberWords, Phrases, Words, unit_key

_FILES = {path.stem: path for path in (Path(__file__).parent / "words").glob("*.yaml")}
_FOLDS: dict[str, Fold] = {"german": fold_german, "plain": fold_plain}
S = TypeVar("S")


def words_for(language: str) -> Words:
    """Return the words of a language tag such as "de-CH", by its region, else its language, else English."""
    tag = language.strip().lower().replace("_", "-")
    base = tag.split("-", maxsplit=1)[0]
    return _loaded("en-us" if tag == "en-us" else base if base in _FILES else "en")


@lru_cache(maxsize=8)
def _loaded(name: str) -> Words:
    if name == "en-us":
        words = _loaded("en")
        return replace(words, dates=replace(words.dates, month_first=True))
    return load_words(_FILES[name])


def load_words(path: Path) -> Words:
    """Read and check the words of a language; raise ValueError that names the first thing that is wrong."""
    raw = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    sections = {name: kind for name, kind in get_type_hints(Words).items() if name not in ("fold", "positions")}
    _check_keys(raw, {"fold", "negation", *sections}, path.name)
    if raw["fold"] not in _FOLDS:
        raise ValueError(f"{path.name}: `fold` must be one of {', '.join(_FOLDS)}.")
    lists = _Lists(_FOLDS[raw["fold"]], str(raw["negation"]).split())
    made: dict[str, Any] = {
        name: lists.section(kind, raw[name], f"{path.name}: {name}") for name, kind in sections.items()
    }
    numbers: NumberWords = made["numbers"]
    places = {word: value for word, value in numbers.small.items() if word not in numbers.counting}
    return Words(fold=lists.fold, positions=replace(numbers, small=places), **made)


def _check_keys(raw: Any, wanted: set[str], where: str) -> None:
    keys = set(raw) if isinstance(raw, dict) else set()
    if keys != wanted:
        missing, unknown = sorted(wanted - keys), sorted(map(str, keys - wanted))
        raise ValueError(f"{where}: missing are {missing or 'none'}, unknown are {unknown or 'none'}.")


@dataclass(frozen=True, slots=True)
class _Lists:
    """Turns the texts of a file into what the readers look words up in, folded as replies are folded."""

    fold: Fold
    negation: Sequence[str]  # what ~ stands for in a phrase

    def section(self, kind: type[S], raw: Any, where: str) -> S:
        """Return one section; phrases of one with `padding` are stripped of it, as replies are."""
        hints = get_type_hints(kind)
        _check_keys(raw, set(hints), where)
        padding = self.words(str(raw.get("padding", "")))
        made = {}
        for name, hint in hints.items():
            try:
                made[name] = self.value(hint, raw[name], padding)
            except (TypeError, AttributeError, ValueError, LookupError, ArithmeticError):
                raise ValueError(f"{where}.{name} cannot be read.") from None
        return kind(**made)

    def value(self, hint: Any, raw: Any, padding: frozenset[str]) -> Any:
        """Return what a field of some type holds."""
        if hint is Phrases:
            return self.phrases(raw, padding)
        if hint == frozenset[str]:
            return self.words(raw)
        if hint == tuple[str, ...]:
            return tuple(map(str, raw))
        if hint == Mapping[str, tuple[str, ...]]:
            return self.unit_codes(raw)
        if hint == Mapping[str, Phrases]:
            return {kind: self.phrases(text, padding) for kind, text in raw.items()}
        if hint in (str, bool, dict[str, str]):
            if not isinstance(raw, dict if hint == dict[str, str] else hint):
                raise TypeError
            return raw
        wanted = get_args(hint)[1]
        makers: dict[Any, Callable[[Any], Any]] = {Feast: _feast, tuple[int, int]: tuple}
        make = makers.get(wanted, wanted)
        return {" ".join(key): make(each) for text, each in raw.items() for key in self.folded(text)}

    def words(self, text: str) -> frozenset[str]:
        return frozenset(self.fold(word) for word in text.split())

    def folded(self, text: str) -> list[tuple[str, ...]]:
        """Return the phrases between the commas of a text."""
        return [tuple(self.fold(word) for word in phrase.split()) for phrase in text.split(",")]

    def phrases(self, text: str, padding: frozenset[str]) -> Phrases:
        """Return the phrases of a text without padding.

        One of which just one word would be left stays whole: "nicht" alone is no "nicht jetzt".
        """
        meant = [
            phrase.replace("~", word)
            for phrase in text.split(",")
            for word in (self.negation if "~" in phrase else ("",))
        ]
        listed = set(self.folded(",".join(meant)))
        found = set()
        for phrase in listed:
            kept = tuple(word for word in phrase if word not in padding) or phrase
            found.add(kept if len(kept) > 1 or kept in listed else phrase)
        found.discard(())
        return Phrases(frozenset(found), max(map(len, found), default=0))

    def unit_codes(self, raw: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """Return the codes of units by what patients write."""
        codes: dict[str, tuple[str, ...]] = {}
        for code, forms in raw.items():
            for form in forms.split(","):
                key = unit_key(form, self.fold)
                if key and code not in codes.get(key, ()):
                    codes[key] = (*codes.get(key, ()), code)
        return codes


def _feast(raw: Mapping[str, Any]) -> Feast:
    day = raw["easter"] if "easter" in raw else raw["day"]
    return Feast(raw.get("month", 0), day, raw.get("single", False))

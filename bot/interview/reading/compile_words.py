"""Turn word lists, written as plain text, into what the readers look words up in. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from bot.interview.reading.tokens import Fold, cut, joined
from bot.interview.reading.vocabulary import Feast, Phrases, UnitWords

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Compiler:
    """Folds the lists of one language as replies in it are folded."""

    fold: Fold

    def words(self, listed: str) -> frozenset[str]:
        """Return the words of a text."""
        return frozenset(self.fold(word) for word in listed.split())

    def phrases(self, listed: str, *, without: frozenset[str] = frozenset(), telling: bool = False) -> Phrases:
        """Return the phrases between the commas of a text, leaving out words that replies are stripped of too.

        `telling`: a phrase of which just one word would be left stays whole; "nicht" alone is no "nicht jetzt".
        """
        listed_ = [tuple(self.fold(word) for word in phrase.split()) for phrase in listed.split(",")]
        found = set()
        for folded in listed_:
            kept = tuple(word for word in folded if word not in without) or folded
            alone = telling and len(kept) == 1 and kept not in listed_
            found.add(folded if alone else kept)
        found.discard(())
        return Phrases(frozenset(found), max(map(len, found), default=0))

    def table(self, listed: Mapping[str, T]) -> dict[str, T]:
        """Return a value for each word of each key."""
        return {self.fold(word): value for words, value in listed.items() for word in words.split()}

    def counted(self, listed: str, *, start: int = 0) -> dict[str, int]:
        """Return numbers for groups of words, separated by commas, counted from `start`."""
        groups = listed.split(",")
        return {self.fold(word): number for number, group in enumerate(groups, start) for word in group.split()}

    def feasts(self, listed: Mapping[str, Feast]) -> dict[str, Feast]:
        """Return feasts by their names; a comma separates names."""
        return {
            " ".join(self.fold(word) for word in name.split()): feast
            for names, feast in listed.items()
            for name in names.split(",")
        }

    def halves(self, listed: Mapping[str, str]) -> dict[str, Decimal]:
        return {self.fold(word): Decimal(value) for word, value in listed.items()}

    def units(
        self,
        written: Mapping[str, str],
        names: Mapping[str, str],
        *,
        opens: str,
        over: str,
        measured: Mapping[str, str],
    ) -> UnitWords:
        """Return units by what patients write; a comma separates written forms."""
        codes: dict[str, list[str]] = defaultdict(list)
        for code, forms in written.items():
            for form in forms.split(","):
                key = self.unit_key(form)
                if key and code not in codes[key]:
                    codes[key].append(code)
        return UnitWords(
            {key: tuple(found) for key, found in codes.items()},
            dict(names),
            self.phrases(opens),
            self.words(over) | {"/"},
            {kind: self.phrases(listed) for kind, listed in measured.items()},
        )

    def unit_key(self, form: str) -> str:
        """Return a written form of a unit as replies are looked up."""
        return unit_key(form, self.fold)


def unit_key(form: str, fold: Fold) -> str:
    """Return a written form of a unit as it is looked up: folded, without spaces, dots and raising marks."""
    return joined([token for token in cut(form, fold).tokens if token.text not in (".", "^")])

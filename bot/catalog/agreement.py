"""Compare what answer, easy answer and the other language say to one question: amounts, telephone numbers, yes or no.

Where most texts agree, the finding stands at the one that does not; else it names them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from bot.catalog.amounts import Amount, amounts, as_values, lacking, listed, telephones
from bot.catalog.catalog import Pair
from bot.catalog.checked import Checked, PairText, Place, Values, texts_of
from bot.catalog.statements import yes_or_no
from bot.errors import Finding

# Numbers that only readers of one language need: Britain's, in texts that are English.
ONE_LANGUAGE = {"999": "en", "111": "en"}
SAME_FACTS = "State the same facts in every language."


@dataclass(frozen=True, eq=False)
class _Said:
    """An answer or easy answer, and where it stands."""

    checked: Checked
    pair: Pair
    number: int
    text: PairText
    key: str

    @property
    def words(self) -> str:
        return (self.text.answer if self.key == "answer" else self.text.easy) or ""

    @property
    def language(self) -> str:
        return self.checked.catalog.language

    @property
    def place(self) -> Place:
        return ("pairs", self.number, *self.text.at, self.key)

    @property
    def name(self) -> str:
        return f"{self.key.replace('_', ' ')}{self.text.name}"

    def __str__(self) -> str:
        return f"the {self.name} ({self.checked.path.name}:{self.checked.line(*self.place)})"

    @property
    def told(self) -> tuple[str, str, str]:
        """Which text it is: the field, the country, the language."""
        return self.key, self.text.country, self.language

    def found(self, problem: str, remedy: str, rule: str, *, code: str, values: Values) -> Finding:
        values = {"one": [self.told], **values}
        return self.checked.found(self.pair, self.place, problem, remedy, rule, code=code, values=values)


def across_texts(loaded: Mapping[str, Checked]) -> Iterator[Finding]:
    """Compare the texts of every pair with each other, country by country, and the languages' lists of pairs."""
    for (one, first), (other, second) in permutations(loaded.items(), 2):
        for missing in sorted(set(first.catalog.by_id) - set(second.catalog.by_id)):
            problem, remedy, values = (
                f"The pair is in {one} only.",
                f"Add it in {other}.",
                {"there": one, "here": other},
            )
            yield Finding(second.path, 0, missing, problem, remedy, rule="ids", code="one-language", values=values)
    for said in _together(loaded):
        yield from _telephones(said)
        yield from _yes_or_no(said)
        for here, there in combinations(said, 2):
            if here.key == there.key:
                yield from _amounts(here, there, said)


def _together(loaded: Mapping[str, Checked]) -> Iterator[list[_Said]]:
    """Yield the texts that should say the same: of one pair and country, in every language."""
    groups: dict[tuple[str, tuple[str, ...]], list[_Said]] = {}
    for checked in loaded.values():
        for number, pair in enumerate(checked.catalog.pairs):
            for text in texts_of(pair):
                for key in ("answer", "easy_answer") if text.easy else ("answer",):
                    groups.setdefault((pair.id, text.at), []).append(_Said(checked, pair, number, text, key))
    yield from groups.values()


def _amounts(one: _Said, other: _Said, said: Sequence[_Said]) -> Iterator[Finding]:
    """Compare two languages. The file to mend is the one whose answer and easy answer differ as well."""
    mine, theirs = amounts(one.words, one.language), amounts(other.words, other.language)
    only = {one: lacking(mine, theirs), other: lacking(theirs, mine)}
    if not any(only.values()):
        return
    parts = [f"{listed(each)} in {text.language} only" for text, each in only.items() if each]
    problem = f"The {one.name} differs between languages: {', '.join(parts)}."
    at_one = {text: _agrees_at_home(text, only[text], only[twin], said) for text, twin in ((one, other), (other, one))}
    if at_one[one] != at_one[other]:
        wrong, right = (one, other) if at_one[other] else (other, one)
        line, at = f"{problem} In {right.checked.path.name} both texts agree.", wrong
    else:
        line, at, right = f"{problem} Compare with {one}.", other, one
    values = {"amounts": as_values(only[at]), "others": as_values(only[right]), "rest": [right.told]}
    code = "languages-differ" if all(only.values()) else "language-adds" if only[at] else "language-lacks"
    yield at.found(line, SAME_FACTS, "numbers", code=code, values=values)


def _agrees_at_home(text: _Said, here: frozenset[Amount], there: frozenset[Amount], said: Sequence[_Said]) -> bool:
    """Say whether the other text of the same language says what this one says differently from its twin."""
    beside = [amounts(each.words, each.language) for each in said if each.checked is text.checked and each is not text]
    return bool(beside) and all(not lacking(here, own) and lacking(there, own) == there for own in beside)


def _telephones(said: Sequence[_Said]) -> Iterator[Finding]:
    """Find the texts that give another telephone number than the rest, or not all."""
    given = {text: telephones(text.words) for text in said}
    extra: dict[_Said, set[str]] = {text: set() for text in said}
    missing: dict[_Said, set[str]] = {text: set() for text in said}
    for number in sorted(frozenset().union(*given.values())):
        of_one = ONE_LANGUAGE.get(number)
        group = [text for text in said if of_one in (None, text.language)]
        holders = [text for text in group if number in given[text]]
        others = [text for text in group if number not in given[text]]
        by_language = not {text.language for text in holders} & {text.language for text in others}
        if len(holders) < len(others):
            for text in holders:
                extra[text].add(number)
        elif others and len(holders) == len(others) and by_language:
            missing[others[0]].add(number)
        else:
            for text in others:
                missing[text].add(number)
    if len(said) == 2 and all(missing.values()):  # each gives one that the other does not: once is enough
        extra[said[1]], missing[said[0]] = missing[said[0]], set()
    odd = [text for text in said if extra[text] or missing[text]]
    for text in odd:
        parts = [
            f"{verb} {', '.join(sorted(each))}"
            for verb, each in (("gives", extra[text]), ("does not give", missing[text]))
            if each
        ]
        rest = [each for each in said if each not in odd] or [each for each in said if each is not text]
        problem = f"The {text.name} {' and '.join(parts)}, unlike {_and(rest)}."
        values = {"extra": ", ".join(sorted(extra[text])), "missing": ", ".join(sorted(missing[text]))}
        code = "telephones-differ" if all(values.values()) else "telephone-odd" if extra[text] else "telephone-missing"
        remedy = "Give the same telephone numbers in all of them."
        yield text.found(
            problem, remedy, "telephone", code=code, values={**values, "rest": [each.told for each in rest]}
        )


def _yes_or_no(said: Sequence[_Said]) -> Iterator[Finding]:
    """Find texts of which one begins with yes and one with no."""
    begins = {text: word for text in said if (word := yes_or_no(text.words, text.language))}
    sides = [[text for text in begins if begins[text] == word] for word in ("yes", "no")]
    if not all(sides):
        return
    # The fewer are the odd ones; of as many, those that come later in the files.
    odd, rest = sorted(sides, key=lambda side: (len(side), side[0] is next(iter(begins))))
    for text in odd:
        problem = f"The {text.name} begins with {begins[text]!r}, unlike {_and(rest)}."
        values = {"word": begins[text], "rest": [each.told for each in rest]}
        yield text.found(problem, "Give the same answer in all of them.", "yes-no", code="yes-no", values=values)


def _and(texts: Sequence[_Said]) -> str:
    return " and ".join(str(text) for text in texts)

"""A pair as the fields of a form, and back: what the form does not show is kept as it was. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from pydantic import ValidationError

from bot.catalog.approval import pair_subject
from bot.catalog.catalog import Catalog, CountryText, Extract, Pair, Review, Source, Variant
from bot.catalog.countries import COUNTRIES
from bot.catalog.edge import Author
from bot.catalog.quiz import Quiz

TEXTS = ("question", "short_answer", "answer", "easy_answer")
COUNTRY_TEXTS = TEXTS[1:]
MOST_ID = 80  # characters of a pair's name
# Characters: no text that patients read is longer, and pages that compare texts must not hold the service up.
MOST_LONG, MOST_OTHER = {"variants": 400_000}, 10_000
NAMES = ("facets", "related", "same_as")  # words or ids with commas between
SOURCE = tuple(Source.model_fields)
# What is wrong with a field, in a word, by the kind of error.
_FLAWS = {
    "string_too_short": "empty",
    "missing": "empty",
    "string_pattern_mismatch": "id",
    "date_from_datetime_parsing": "day",
    "date_parsing": "day",
    "int_parsing": "number",
    "int_from_float": "number",
    "greater_than_equal": "range",
    "less_than_equal": "range",
}


class BadFields(Exception):
    """A form that makes no pair; `flaws` has what is wrong, in a word, by field."""

    def __init__(self, flaws: Mapping[str, str]) -> None:
        super().__init__(", ".join(f"{name}: {flaw}" for name, flaw in flaws.items()))
        self.flaws = flaws


@dataclass(frozen=True, slots=True)
class Typed:
    """What somebody typed into the fields of one language.

    Attributes:
        fields: By name, with plain line ends and without space around.
        by: The name of who typed it: the author of variants that are new.
    """

    fields: Mapping[str, str]
    by: str

    def pair(
        self, pair_id: str, catalog: Catalog, known: Sequence[Pair], quizzes: Sequence[Quiz] | None = None
    ) -> Pair:
        """Return the pair.

        Args:
            pair_id: Its id.
            catalog: That it belongs to.
            known: The pair as it stood, then others from which variants may have come; empty: it is new.
            quizzes: Of the draft: no field has them; None: those of the pair as it stood.

        Raises:
            BadFields: They make no pair.
        """
        before = known[0] if known else None
        content: dict[str, Any] = {"id": pair_id}
        for name in TEXTS:
            content[name] = self._of(name) or (None if name in ("short_answer", "easy_answer") else "")
        for name in NAMES:
            content[name] = tuple(each.strip() for each in self._of(name).split(",") if each.strip())
        content["words_target"] = self._of("words_target") or None
        content["extracts"] = self._extracts("extracts", before.extracts if before else ())
        content["sources"] = tuple(self._sources())
        content["countries"] = dict(self._countries(before))
        content["variants"] = self._variants(known)
        if quizzes is None:
            quizzes = before.quizzes if before else ()
        content["quizzes"] = [each for each in quizzes if not self._of(drops(each))]
        review = before.review if before else Review()
        content["review"] = {**review.model_dump(), "valid_until": self._of("valid_until") or None}
        try:
            made = Pair.model_validate(content)
        except ValidationError as error:
            raise BadFields(dict(_flaws(error))) from None
        if before is not None and pair_subject(catalog, made) == pair_subject(catalog, before):
            return made
        # Who approved the text before did not approve this one.
        return made.model_copy(update={"review": Review(valid_until=made.review.valid_until)})

    def _of(self, name: str) -> str:
        return self.fields.get(name, "")

    def _lines(self, name: str) -> list[str]:
        return [" ".join(line.split()) for line in self._of(name).split("\n") if line.strip()]

    def _extracts(self, name: str, before: Sequence[Extract]) -> list[dict[str, str]]:
        known = {_extract_line(each): each for each in before}
        found = []
        for line in self._lines(name):
            facet, colon, text = line.partition(":")
            if line in known:
                found.append(known[line].model_dump())
            else:
                found.append({"facet": facet.strip() if colon else "", "text": text.strip()})
        return found

    def _sources(self) -> Iterator[dict[str, Any]]:
        numbers = {name.split(".")[1] for name in self.fields if name.startswith("sources.")}
        for number in sorted(numbers, key=lambda each: (len(each), each)):
            said = {name: self._of(f"sources.{number}.{name}") for name in SOURCE}
            if any(said.values()):
                yield {
                    name: value or ("" if name in ("title", "publisher", "year") else None)
                    for name, value in said.items()
                }

    def _countries(self, before: Pair | None) -> Iterator[tuple[str, dict[str, Any]]]:
        for country in COUNTRIES:
            said = {name: self._of(f"countries.{country}.{name}") or None for name in COUNTRY_TEXTS}
            there = before.countries.get(country) if before else None
            extracts = self._extracts(f"countries.{country}.extracts", there.extracts if there else ())
            if not any(said.values()) and not extracts:
                continue
            sources = there.sources if there else ()
            yield country, {**said, "answer": said["answer"] or "", "extracts": extracts, "sources": sources}

    def _variants(self, known: Sequence[Pair]) -> list[Variant]:
        """Return the variants line by line: those that were there as they were, others as by who typed them.

        A line that took another's place asks for the same facet.
        """
        there = {_line(each.text): each for pair in reversed(known) for each in pair.variants}
        lines = self._lines("variants")
        found = [there.get(line) or Variant(text=line, by=Author(kind="person", name=self.by)) for line in lines]
        before = list(known[0].variants) if known else []
        matcher = SequenceMatcher(None, [_line(each.text) for each in before], lines, autojunk=False)
        for kind, first, last, begin, end in matcher.get_opcodes():
            if kind == "replace" and last - first == end - begin:
                for old, number in zip(before[first:last], range(begin, end), strict=True):
                    if lines[number] not in there:
                        found[number] = found[number].model_copy(update={"facet": old.facet})
        return found


def fields_of(pair: Pair) -> dict[str, str]:
    """Return a pair as the fields of a form."""
    found = {name: _text(getattr(pair, name)) for name in TEXTS}
    found |= {name: ", ".join(getattr(pair, name)) for name in NAMES}
    found["words_target"] = _text(pair.words_target)
    found["valid_until"] = _text(pair.review.valid_until)
    found["extracts"] = "\n".join(map(_extract_line, pair.extracts))
    found["variants"] = "\n".join(_line(each.text) for each in pair.variants)
    for number, source in enumerate(pair.sources):
        found |= {f"sources.{number}.{name}": _text(getattr(source, name)) for name in SOURCE}
    for country, text in pair.countries.items():
        found |= {f"countries.{country}.{name}": _text(getattr(text, name)) for name in COUNTRY_TEXTS}
        found[f"countries.{country}.extracts"] = "\n".join(map(_extract_line, text.extracts))
    return {name: tidy(value) for name, value in found.items()}


def too_long(fields: Mapping[str, str]) -> list[str]:
    """Return the fields that hold more than any text needs."""
    return [name for name, text in fields.items() if len(text) > MOST_LONG.get(name, MOST_OTHER)]


def drops(quiz: Quiz) -> str:
    """Return the name of the field that takes a quiz out of its pair, where it says anything."""
    return f"quizzes.drop.{quiz.hash}"


def tidy(text: str) -> str:
    """Return a text as it is compared: plain line ends, no space around."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def marks_of(fields: Mapping[str, str]) -> dict[str, str]:
    """Return a short hash of every field that says something: a form carries what it began with by them."""
    return {name: hashlib.sha256(value.encode()).hexdigest()[:12] for name, value in fields.items() if value}


def touched(fields: Mapping[str, str], marks: Mapping[str, str]) -> frozenset[str]:
    """Return which fields are not as they were when the form was shown."""
    now = marks_of(fields)
    return frozenset(name for name in {*now, *marks} if now.get(name) != marks.get(name))


def seen_texts(pair: Pair | None) -> list[tuple[str, str]]:
    """Return everything of a pair that patients may see, as (field, text): its own texts, then those of countries."""
    if pair is None:
        return []
    found = [(name, getattr(pair, name) or "") for name in TEXTS]
    found += [(f"extracts.{each.facet}", each.text) for each in pair.extracts]
    for country, text in pair.countries.items():
        found += _country_texts(country, text)
    for number, quiz in enumerate(pair.quizzes, 1):
        found += [(f"quizzes.{number}.{name}", text) for name, text in quiz.texts]
    return [(name, text) for name, text in found if text]


def _country_texts(country: str, text: CountryText) -> Iterator[tuple[str, str]]:
    yield from ((f"countries.{country}.{name}", getattr(text, name) or "") for name in COUNTRY_TEXTS)
    yield from ((f"countries.{country}.extracts.{each.facet}", each.text) for each in text.extracts)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _line(text: str) -> str:
    return " ".join(text.split())


def _extract_line(each: Extract) -> str:
    return _line(f"{each.facet}: {each.text}")


def _flaws(error: ValidationError) -> Iterator[tuple[str, str]]:
    for each in error.errors():
        name = ".".join(str(step) for step in each["loc"])
        if name.startswith(("variants.", "extracts.")):
            name = name.partition(".")[0]
        yield name, _FLAWS.get(each["type"], "other")


Lookup = Callable[[str], bool]


def unknown_names(pair: Pair, known: Lookup) -> dict[str, str]:
    """Return a flaw for each field that names a pair which is none."""
    named = {"related": pair.related, "same_as": pair.same_as}
    return {name: "unknown" for name, ids in named.items() if any(each == pair.id or not known(each) for each in ids)}

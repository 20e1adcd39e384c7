"""All fixed sentences, put together for an exam: the guard compares these, byte for byte.

What a sentence says of the exam stands in it as a phrase. The phrases are those of the catalog's `exam.yaml`, or else
those of `texts/exam.yaml`, which name no exam.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.catalog.catalog import Pair
from bot.catalog.countries import LINES, Country
from bot.catalog.exam import Exam
from bot.catalog.site import Site
from bot.languages.files import Live, known, packaged
from bot.sentences.emergency_texts import sentences
from bot.sentences.foreign_texts import URGENT, foreign_key, foreign_texts
from bot.sentences.interface_texts import NEUTRAL_PHRASES, fixed_texts
from bot.sentences.spelling import swiss

# Buttons that call an open alarm off.
WAYS_OUT = ("chest_breast", "no_emergency")


@dataclass(frozen=True, slots=True)
class Wording:
    """What the program says.

    Attributes:
        sentences: All sentences, by language and key; of the languages that no catalog has, just a few.
        phrases: What stands in them of the exam, by language and name.
        exam: Where the phrases are from; None: they name no exam.
    """

    sentences: Mapping[str, Mapping[str, str]]
    phrases: Mapping[str, Mapping[str, str]]
    exam: Exam | None = None

    @property
    def ways_out(self) -> frozenset[str]:
        """What stands on the buttons that call an open alarm off, in any language."""
        return frozenset(self.sentences[language][key] for language in self.phrases for key in WAYS_OUT)


def wording_of(exam: Exam | None, spoken: Sequence[str] = ()) -> Wording:
    """Return all sentences as they speak of an exam; None: of "your examination".

    `spoken`: the languages of its catalog. Those of the package are always there, too.
    """
    own = exam.phrases if exam is not None else {}
    languages = [each for each in known() if each in (*packaged(), *spoken)]
    phrases = {language: {**NEUTRAL_PHRASES[language], **own.get(language, {})} for language in languages}
    about = {language: said["about"] for language, said in own.items() if "about" in said}
    foreign = foreign_texts(about | dict(exam.abroad) if exam is not None else {}, languages)
    said = {language: {**_all(language, phrases[language]), **foreign.get(language, {})} for language in phrases}
    return Wording({**foreign, **said}, phrases, exam)


def said_abroad(wording: Wording, spoken: Sequence[str]) -> dict[str, str]:
    """Return what is said to readers of all other languages than a catalog's, in all countries, by language and key.

    `spoken`: the languages of the catalog. Sentences that name other languages are never said there.
    """
    keys = (foreign_key(spoken), URGENT)
    wanted = {key + end for key in keys for end in ("", *(f"_{country.lower()}" for country in LINES))}
    return {
        f"{language} {key}": text
        for language, own in sorted(wording.sentences.items())
        if language not in spoken
        for key, text in own.items()
        if key in wanted
    }


def _all(language: str, phrases: Mapping[str, str]) -> dict[str, str]:
    """Return all sentences of a language; those that a country says or spells otherwise end in its code."""
    found = fixed_texts(language, phrases) | sentences(language, phrases)
    if language == "de":
        fixed = {key: swiss(text) for key, text in found.items() if "ß" in text and "{" not in text}
        found |= {key if key.endswith("_ch") else f"{key}_ch": text for key, text in fixed.items()}
    return found


# The sentences that speak of no exam: replies are made of them, and then worded for the exam in force.
NEUTRAL = Wording(Live(lambda: wording_of(None, known()).sentences), NEUTRAL_PHRASES)


@dataclass(frozen=True, slots=True)
class House:
    """Whose chat it is: what replies may say beside the texts of the catalog and of a form.

    Attributes:
        country: Whose emergency numbers are said; None: those of all.
        site: What may be said of the place; None where that is nothing.
        wording: The sentences of the program, as they speak of the exam in force.
        others: Of the other exams that are served, what may be shown on demand: pairs by id, of a language.
    """

    country: Country | None = None
    site: Site | None = None
    wording: Wording = NEUTRAL
    others: Mapping[str, Callable[[str], Mapping[str, Pair]]] = field(default_factory=dict)


NO_HOUSE = House()

"""Whom to call, by country, and the fixed sentences that say so, which are data (`texts/emergency.yaml`). Numbers stand
in whole sentences: the guard compares those, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.catalog.countries import LINES, Country
from bot.languages.files import cached, load

# Sentences that name further lines.
_OF_POISON, _OF_LISTENING = ("urgent_overdose",), ("urgent_overdose", "urgent_suicide", "calmed_harm")


@cached
def _table(language: str) -> Mapping[str, Any]:
    """Return what a language says of emergencies; the head of `texts/emergency.yaml` says what each entry is."""
    found: Mapping[str, Any] = load(language, "emergency.yaml")
    return found


def sentences(language: str, phrases: Mapping[str, str]) -> dict[str, str]:
    """Return the sentences of a language with the numbers of each country, by key and country: `urgent_ch`.

    `phrases`: what they say of the exam.
    """
    return {
        f"{key}_{country.lower()}": _said(sentence, language, country, phrases)
        for key, sentence in _table(language)["sentences"].items()
        for country in LINES
    }


def _said(sentence: str, language: str, country: Country, phrases: Mapping[str, str]) -> str:
    lines, table = LINES[country], _table(language)
    called = {
        **phrases,
        "emergency": lines.emergency,
        "poison": lines.poison,
        "counsel": f"{listening(country, language)} {table['or'].join(lines.counsel)}",
        "out_of_hours": table["out_of_hours"][country],
        # In the UK, everything begins with the GP.
        "practice": (table.get("practice") or {}).get(country, phrases["practice"]),
    }
    shared = {key: text.format(**called) for key, text in table["shared"].items()}
    return sentence.format(**called, **shared)


def numbers(country: Country | None, language: str) -> tuple[str, ...]:
    """Return the emergency numbers of a country; None: those that the sentences name where no country is set."""
    return tuple(_table(language)["everywhere"]) if country is None else (LINES[country].emergency,)


def out_of_hours(language: str) -> tuple[str, ...]:
    """Return whom to call when it cannot wait and the practice is closed, as a language says it, of all countries."""
    return tuple(_table(language)["out_of_hours"].values())


def listening(country: Country, language: str) -> str:
    """Return who answers the line that listens, as a language calls them."""
    return str((_table(language).get("listening") or {}).get(country, LINES[country].listening))


@dataclass(frozen=True, slots=True)
class Naming:
    """What a language calls the line for poisonings, and the countries whose lines are named where none is set."""

    poison: str
    countries: Mapping[Country, str]


def naming(language: str) -> Naming:
    table = _table(language)
    return Naming(str(table["poison"]), table["countries"])


@dataclass(frozen=True, slots=True)
class Helpline:
    """Somebody to call beside the emergency number; `name` says who answers."""

    name: str
    number: str


def helplines(key: str, country: Country | None, language: str) -> tuple[Helpline, ...]:
    """Return whom else the sentence of a key names, in its order."""
    table = _table(language)
    named: Mapping[Country, str] = table["countries"] if country is None else {country: ""}
    found = []
    if key.startswith(_OF_POISON):
        found += [(str(table["poison"]), where, LINES[which].poison) for which, where in named.items()]
    if key.startswith(_OF_LISTENING):
        found += [
            (listening(which, language), where, number)
            for which, where in named.items()
            for number in LINES[which].counsel
        ]
    return tuple(Helpline(f"{name} ({where})" if where else name, number) for name, where, number in found)

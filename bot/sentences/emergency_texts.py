"""Whom to call, by country, and the fixed sentences that say so. Numbers stand in whole sentences: the guard compares
those, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Country = Literal["AT", "CH", "DE"]
COUNTRIES: tuple[Country, ...] = get_args(Country)


@dataclass(frozen=True, slots=True)
class Lines:
    """Telephone numbers, as they are said."""

    emergency: str
    poison: str
    counsel: tuple[str, ...]


LINES: Mapping[Country, Lines] = {
    "AT": Lines("144", "01 406 43 43", ("142",)),
    "CH": Lines("144", "145", ("143",)),
    "DE": Lines("112", "030 19240", ("0800 111 0 111", "116 123")),
}
# Where no country is set.
EVERYWHERE = ("112", "144")

_SENTENCES: Mapping[str, Mapping[str, str]] = {
    "de": {
        "emergency_notice": "Notfall? Rufen Sie {emergency} an. Dieser Chat wird nicht laufend von Menschen gelesen.",
        "urgent": (
            "Das klingt nach einem Notfall. Rufen Sie jetzt {emergency} an, oder rufen Sie laut um Hilfe. "
            "Wenn Sie schon bei uns sind, sagen Sie sofort dem Personal Bescheid. Warten Sie nicht auf diesen Chat."
        ),
        "urgent_overdose": (
            "Das klingt nach einer Vergiftung. Rufen Sie jetzt {emergency} an. Der Giftnotruf hilft auch: {poison}. "
            "Halten Sie die Packung bereit. Warten Sie nicht auf diesen Chat."
        ),
        "urgent_suicide": (
            "Es tut mir leid, dass es Ihnen so schlecht geht. Sie müssen damit nicht allein bleiben. "
            "Rund um die Uhr hört Ihnen jemand zu: {counsel}. Wenn Sie in Gefahr sind, rufen Sie jetzt {emergency} an."
        ),
        "urgent_chest_pain": (
            "Schmerz oder Druck in der Brust kann vom Herzen kommen. Wenn es jetzt stark ist, eng wird, in Arm oder "
            "Kiefer zieht oder Sie schlecht Luft bekommen: Rufen Sie sofort {emergency} an."
        ),
        "go_on": (
            "Gut. Wenn es schlimmer wird, rufen Sie sofort {emergency} an. "
            "Was möchten Sie über Ihre Untersuchung wissen?"
        ),
        "calmed": "Gut. Wenn es schlimmer wird, rufen Sie sofort {emergency} an.",
        "staff_called": (
            "Ich habe notiert, dass Sie mit dem Personal sprechen möchten. Wann das gelesen wird, weiß ich nicht. "
            "Wenn Sie schon bei uns sind, sprechen Sie bitte jemanden vom Team direkt an. Im Notfall: {emergency}."
        ),
    },
    "en": {
        "emergency_notice": "Emergency? Call {emergency}. Nobody reads this chat all the time.",
        "urgent": (
            "This sounds like an emergency. Call {emergency} now, or shout for help. "
            "If you are already with us, tell the staff at once. Do not wait for this chat."
        ),
        "urgent_overdose": (
            "This sounds like poisoning. Call {emergency} now. The poison centre helps too: {poison}. "
            "Keep the packet at hand. Do not wait for this chat."
        ),
        "urgent_suicide": (
            "I am sorry that you feel so bad. You do not have to be alone with this. Somebody listens day and night: "
            "{counsel}. If you are in danger, call {emergency} now."
        ),
        "urgent_chest_pain": (
            "Pain or pressure in the chest can come from the heart. If it is strong now, feels tight, spreads to the "
            "arm or jaw, or you are short of breath: call {emergency} at once."
        ),
        "go_on": (
            "Good. If it gets worse, call {emergency} at once. What would you like to know about your examination?"
        ),
        "calmed": "Good. If it gets worse, call {emergency} at once.",
        "staff_called": (
            "I have noted that you would like to speak to the staff. I do not know when this is read. "
            "If you are already with us, please speak to somebody from the team. In an emergency: {emergency}."
        ),
    },
}
_OR = {"de": " oder ", "en": " or "}


def sentences(language: str) -> dict[str, str]:
    """Return the sentences of a language with the numbers of each country, by key and country: `urgent_ch`."""
    return {
        f"{key}_{country.lower()}": sentence.format(
            emergency=lines.emergency, poison=lines.poison, counsel=_OR[language].join(lines.counsel)
        )
        for key, sentence in _SENTENCES[language].items()
        for country, lines in LINES.items()
    }


def numbers(key: str, country: Country | None) -> tuple[str, ...]:
    """Return the numbers to call after an urgent sentence, the most fitting first."""
    if country is None:
        return EVERYWHERE
    lines = LINES[country]
    if key.startswith("urgent_suicide"):
        return (*lines.counsel, lines.emergency)
    return (lines.emergency, lines.poison) if key.startswith("urgent_overdose") else (lines.emergency,)

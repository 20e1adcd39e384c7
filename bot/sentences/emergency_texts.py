"""Whom to call, by country, and the fixed sentences that say so. Numbers stand in whole sentences: the guard compares
those, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.catalog.catalog import Country


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
    "GB": Lines("999", "111", ("116 123",)),
}
# Where no country is set.
EVERYWHERE: Mapping[str, tuple[str, ...]] = {"de": ("112", "144"), "en": ("112", "999", "144")}

_SENTENCES: Mapping[str, Mapping[str, str]] = {
    "de": {
        "emergency_notice": (
            "Notfall? Rufen Sie {emergency} an. In diesem Chat antwortet ein Programm, es liest nicht immer jemand mit."
        ),
        "urgent": (
            "Rufen Sie jetzt {emergency} an: Das klingt nach einem Notfall. Wenn Sie schon bei uns sind, sagen "
            "Sie sofort dem Personal Bescheid, oder rufen Sie laut um Hilfe. Warten Sie nicht auf diesen Chat."
        ),
        "urgent_overdose": (
            "Rufen Sie jetzt {emergency} an, auch wenn Sie noch nichts spüren: Das kann eine Vergiftung sein. "
            "Bringen Sie sich nicht zum Erbrechen, und halten Sie die Packung bereit. Wenn Sie schon bei uns "
            "sind, sagen Sie sofort dem Personal Bescheid. Warten Sie nicht auf diesen Chat. Der Giftnotruf hilft "
            "auch: {poison}. War es Absicht? Sie sind damit nicht allein. Es hört Ihnen Tag und Nacht jemand zu: "
            "{counsel}."
        ),
        "urgent_suicide": (
            "Sind Sie in Gefahr, oder haben Sie sich schon etwas angetan? Rufen Sie jetzt {emergency} an. Wenn "
            "Sie schon bei uns sind, sprechen Sie sofort jemanden vom Personal an, und bleiben Sie nicht allein. "
            "Es tut mir leid, dass es Ihnen so schlecht geht. Tag und Nacht hört Ihnen jemand zu: {counsel}."
        ),
        "urgent_chest_pain": (
            "Schmerz, Druck oder Enge im Brustkorb kann vom Herzen kommen. Rufen Sie sofort {emergency} an, wenn "
            "es stark ist oder länger als 5 Minuten dauert oder wenn es in Arm, Schulter, Hals, Kiefer, Rücken "
            "oder Oberbauch zieht. Rufen Sie auch an bei Atemnot, Übelkeit, kaltem Schweiß, Schwindel oder "
            "plötzlicher großer Angst: Bei Frauen sind das manchmal die einzigen Zeichen. Im Zweifel rufen Sie "
            "an."
        ),
        "go_on": (
            "Gut, dass Sie das sagen. Wird es schlimmer, rufen Sie sofort {emergency} an. Was möchten Sie über "
            "Ihre Untersuchung wissen?"
        ),
        "calmed": "Gut, dass Sie das sagen. Wird es schlimmer, rufen Sie sofort {emergency} an.",
        "calmed_breast": (
            "Gut. Kommt Druck oder Enge im Brustkorb, Atemnot, Übelkeit oder kalter Schweiß dazu, rufen Sie "
            "sofort {emergency} an. Ist der Schmerz in der Brust neu, rufen Sie innerhalb weniger Tage Ihre "
            "Arztpraxis an, bei Rötung, Hitze, Schwellung oder Fieber noch heute."
        ),
        "staff_called": (
            "Ich habe notiert, dass Sie mit dem Personal sprechen möchten. Ich kann nicht versprechen, wann es "
            "jemand liest. Eilt es, rufen Sie bitte die Radiologie an, oder sprechen Sie vor Ort jemanden vom "
            "Team an. Im Notfall: {emergency}."
        ),
    },
    "en": {
        "emergency_notice": (
            "Emergency? Call {emergency}. A computer program answers in this chat; staff do not always read along."
        ),
        "urgent": (
            "Call {emergency} now: this sounds like an emergency. If you are already with us, tell a member of "
            "staff at once, or shout for help. Do not wait for this chat."
        ),
        "urgent_overdose": (
            "Call {emergency} now, even if you do not feel anything yet: this may be poisoning. Do not make "
            "yourself sick, and keep the packet at hand. If you are already with us, tell a member of staff at "
            "once. Do not wait for this chat. Poison information can help too: {poison}. Did you mean to do it? "
            "You are not alone with this. Someone will listen day and night: {counsel}."
        ),
        "urgent_suicide": (
            "Are you in danger, or have you already harmed yourself? Call {emergency} now. If you are already "
            "with us, speak to a member of staff at once, and do not stay alone. I am sorry that you are feeling "
            "so bad. Someone will listen day and night: {counsel}."
        ),
        "urgent_chest_pain": (
            "Pain, pressure or tightness in the chest can come from the heart. Call {emergency} at once if it is "
            "strong or lasts longer than 5 minutes, or if it spreads to the arm, shoulder, neck, jaw, back or "
            "upper belly. Call too if you are short of breath, feel sick, break out in a cold sweat, feel dizzy "
            "or are suddenly very afraid: in women these are sometimes the only signs. If in doubt, call."
        ),
        "go_on": (
            "Thank you for saying so. If it gets worse, call {emergency} at once. What would you like to know "
            "about your examination?"
        ),
        "calmed": "Thank you for saying so. If it gets worse, call {emergency} at once.",
        "calmed_breast": (
            "All right. If you get pressure or tightness in the chest, shortness of breath, a cold sweat or feel "
            "sick, call {emergency} at once. If the pain in your breast is new, call your doctor within a few "
            "days, and today if there is redness, heat, swelling or fever."
        ),
        "staff_called": (
            "I have noted that you would like to speak to a member of staff. I cannot promise when someone will "
            "read it. If it is urgent, please call the radiology department, or speak to someone from the team if "
            "you are here. In an emergency: {emergency}."
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


def numbers(key: str, country: Country | None, language: str) -> tuple[str, ...]:
    """Return the numbers to call after an urgent sentence, in the order in which it names them."""
    if country is None:
        return EVERYWHERE[language]
    lines = LINES[country]
    if key.startswith("urgent_suicide"):
        return (lines.emergency, *lines.counsel)
    return (lines.emergency, lines.poison) if key.startswith("urgent_overdose") else (lines.emergency,)

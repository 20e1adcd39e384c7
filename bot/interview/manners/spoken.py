"""Texts of a Questionnaire, typed answers and units, as a patient reads them. Pure.

`form_text` finds a text of the form again by its place, so that a guard can compare; `spoken` words answers. Patients'
own words stand in quotation marks, on one line, without characters that a page or terminal would take for markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.interview.form.form import Form, Item, Text
from bot.interview.form.form import Option as Listed
from bot.interview.reading.reading import Option
from bot.interview.reading.reading import Unit as ReadableUnit
from bot.interview.reading.units import named_unit, unit_asked_for, unit_name
from bot.interview.reading.wording import format_answer
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, as_object, string, translated
from bot.sentences.interview_texts import INTERVIEW_TEXTS
from bot.text import sanitise

NUMBERS = frozenset({"integer", "decimal", "quantity"})
_NO_UNIT = frozenset({"1", "{#}"})


def usual_unit(item: Item) -> JsonObject | None:
    """Return the unit that a number is meant in: as the form says, beside the question or in its text."""
    if item.units.usual or item.units.choices:
        return item.units.usual
    if item.type not in NUMBERS:
        return None
    labels = (item.units.label.base, *item.units.label.translations.values())
    texts = (item.text.base, *item.text.translations.values())
    for language in ("de", "en"):
        named = next((unit for label in labels if (unit := named_unit(label, language))), None)
        if named:
            return {"system": named.system, "code": named.code, "display": named.display}
        stated = next((unit for text in texts if (unit := unit_asked_for(text, language))), None)
        if stated:
            return {"system": stated.system, "code": stated.code}
    return None


def unit_in_words(unit: JsonObject, language: str) -> str:
    """Return what a unit is called; empty for a plain number."""
    code = string(unit, "code")
    if code in _NO_UNIT:
        return ""
    return translated(unit, "display", language) or unit_name(code, language) or code


def readable_unit(unit: JsonObject | None, language: str) -> ReadableUnit | None:
    """Return a unit as the reader of replies takes it."""
    if not unit or string(unit, "code") in _NO_UNIT:
        return None
    name = string(unit, "display") or unit_in_words(unit, language)
    return ReadableUnit(string(unit, "code"), name, string(unit, "system")) if name else None


FormField = Literal[
    "title", "question", "short", "instruction", "help", "format", "option", "constraint", "low", "high", "open_label",
    "unit", "link", "media",
]  # fmt: skip

MAX_OWN_WORDS = 300
_MARKUP = str.maketrans(
    {"<": "‹", ">": "›", "[": "(", "]": ")", "{": "(", "}": ")", "`": "'", "“": "'", "„": "'", "”": "'"}
)


def form_text(form: Form, link_id: str, field: str, number: int, language: str) -> str | None:
    """Return a text of the form; None when there is none. `link_id` is empty for the form itself."""
    item = form.by_link_id.get(link_id)
    constraints = item.constraints if item else form.constraints if not link_id else ()
    if field == "constraint":
        return constraints[number].human.into(language) if 0 <= number < len(constraints) else None
    if item is None:
        return form.title.into(language) if field == "title" and not link_id else None
    if field == "option":
        return _option(item, number, language)
    texts = _texts(item, field)
    return texts[number].into(language) or None if 0 <= number < len(texts) else None


def _texts(item: Item, field: str) -> Sequence[Text]:
    shown = item.presentation
    return {
        "question": (_with_prefix(item),),
        "short": (shown.short,),
        "instruction": shown.instructions,
        "help": shown.help,
        "format": (shown.entry_format,),
        "low": (shown.slider[0],),
        "high": (shown.slider[1],),
        "open_label": (shown.open_label,),
        "unit": (item.units.label,),
        "link": tuple(Text(link) for link in shown.links),
        "media": tuple(Text(f"{string(each, 'title')} {string(each, 'url')}".strip()) for each in shown.media),
    }.get(field, ())


def _with_prefix(item: Item) -> Text:
    if not item.prefix:
        return item.text
    return Text(
        f"{item.prefix} {item.text.base}".strip(),
        {tag: f"{item.prefix} {text}".strip() for tag, text in item.text.translations.items()},
    )


def _option(item: Item, number: int, language: str) -> str | None:
    if not 0 <= number < len(item.options):
        return None
    option = item.options[number]
    return f"{option.prefix} {option.label.into(language)}".strip()


def spoken(form: Form, link_id: str, answers: Sequence[Answer], language: str) -> str:
    """Return the answers to a question in words."""
    item = form.by_link_id[link_id]
    return ", ".join(_one(item, answer, language) for answer in answers)


def _one(item: Item, answer: Answer, language: str) -> str:
    for option in item.options:
        if option.answer == answer:
            return option.label.into(language)
    if answer.type == "boolean":
        return INTERVIEW_TEXTS[language]["yes" if answer.value is True else "no"]
    if answer.type in ("string", "uri"):
        return INTERVIEW_TEXTS[language]["own"].format(answer=escaped(str(answer.value)))
    if answer.type == "quantity":
        answer = _in_language(item, answer, language)
    elif answer.type in ("integer", "decimal"):
        answer = _with_unit(item, answer, language)
    return escaped(format_answer(answer, language=language))


def _in_language(item: Item, answer: Answer, language: str) -> Answer:
    """Return a quantity whose unit is called as in the list of units, in `language`."""
    value = dict(as_object(answer.value))
    usual = usual_unit(item)
    for unit in (*item.units.choices, *((usual,) if usual else ())):
        if unit.get("code") and unit.get("code") == value.get("code"):
            value["unit"] = unit_in_words(unit, language)
    return Answer("quantity", value)


def _with_unit(item: Item, answer: Answer, language: str) -> Answer:
    """Return a plain number as an amount in the unit that its question asks for, if there is one."""
    unit = usual_unit(item)
    name = unit_in_words(unit, language) if unit else ""
    return Answer("quantity", {"value": answer.value, "unit": name}) if name else answer


def escaped(text: str) -> str:
    """Return text on one line, of bounded length, without characters that could be taken for markup."""
    clean = sanitise(text).text.translate(_MARKUP)
    return clean if len(clean) <= MAX_OWN_WORDS else clean[: MAX_OWN_WORDS - 1] + "…"


def labelled(item: Item, language: str) -> tuple[Option, ...]:
    """Return the listed options of an item as the reader of replies takes them."""
    return tuple(readable(option, language) for option in item.options)


def readable(option: Listed, language: str) -> Option:
    """Return an option with all that a patient may call it: in either language, by its code, or as its form says."""
    label, shown = option.label, option.label.into(language)
    code = string(as_object(option.answer.value), "code") if isinstance(option.answer.value, dict) else ""
    prefix = option.prefix.strip(" .:)(")
    seen = dict.fromkeys((shown, prefix, f"{option.prefix} {shown}" if prefix else shown))
    unseen = dict.fromkeys((label.base, *label.translations.values(), code, *option.synonyms))
    names = tuple(name for name in (*seen, *(name for name in unseen if name not in seen)) if name)
    return Option(option.answer, names, option.exclusive, tuple(name for name in names if name not in seen))

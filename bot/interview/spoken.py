"""Texts of a Questionnaire, and typed answers, as a patient reads them. Pure.

`form_text` finds a text of the form again by its place, so that a guard can compare; `spoken` words answers. Patients'
own words stand in quotation marks, on one line, without characters that a page or terminal would take for markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.interview.answer import Answer
from bot.interview.fhir_json import as_object, string, translated
from bot.interview.form import Form, Item, Text
from bot.interview.form import Option as Listed
from bot.interview.parsing import Option, format_answer
from bot.interview_texts import INTERVIEW_TEXTS
from bot.matching.text import sanitise

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
    return escaped(format_answer(answer, language=language))


def _in_language(item: Item, answer: Answer, language: str) -> Answer:
    """Return a quantity whose unit is called as in the list of units, in `language`."""
    value = dict(as_object(answer.value))
    units = (*item.units.choices, *((item.units.usual,) if item.units.usual else ()))
    for unit in units:
        if unit.get("code") and unit.get("code") == value.get("code"):
            value["unit"] = translated(unit, "display", language) or string(unit, "code")
    return Answer("quantity", value)


def escaped(text: str) -> str:
    """Return text on one line, of bounded length, without characters that could be taken for markup."""
    clean = sanitise(text).text.translate(_MARKUP)
    return clean if len(clean) <= MAX_OWN_WORDS else clean[: MAX_OWN_WORDS - 1] + "…"


def labelled(item: Item, language: str) -> tuple[Option, ...]:
    """Return the listed options of an item as the reader of replies takes them."""
    return tuple(readable(option, language) for option in item.options)


def readable(option: Listed, language: str) -> Option:
    """Return an option with all that a patient may call it."""
    answer, label, prefix = option.answer, option.label, option.prefix
    code = string(as_object(answer.value), "code") if isinstance(answer.value, dict) else ""
    names = dict.fromkeys((label.into(language), label.base, code, prefix.strip(" .:)("), *option.synonyms))
    return Option(answer, tuple(name for name in names if name), exclusive=option.exclusive)

"""Texts of a Questionnaire and typed answers in words, as a patient reads them. Pure.

`form_text` finds a text of the form again by its place, so that a guard can compare; `spoken` words answers. Patients'
own words stand in quotation marks, on one line, without characters that a page or terminal would take for markup.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from bot.interview.form.form import Form, Item, Option, Text
from bot.interview.manners.listening import NUMBERS, unit_in_words, usual_unit
from bot.interview.reading.vocabulary import Words, words_for
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject, as_object, string, translated
from bot.sentences.interface_texts import INTERVIEW_TEXTS
from bot.text import sanitise, seen

MAX_OWN_WORDS = 300
_MARKUP = str.maketrans(
    {"<": "‹", ">": "›", "[": "(", "]": ")", "{": "(", "}": ")", "`": "'", "“": "'", "„": "'", "”": "'"}
)
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d))?(?:\.\d+)?")
_ZONE = re.compile(r"(?:Z|[+-]\d\d:\d\d)$")


def form_text(form: Form, link_id: str, field: str, number: int, language: str) -> str | None:
    """Return a text of the form; None when there is none. `link_id` is empty for the form itself."""
    item = form.by_link_id.get(link_id)
    if item is not None:
        texts = _texts(item, field, language)
    elif link_id:
        return None
    else:
        constraints = [constraint.human.into(language) for constraint in form.constraints]
        texts = {"title": [form.title.into(language)], "constraint": constraints}.get(field, [])
    return texts[number] or None if 0 <= number < len(texts) else None


def _texts(item: Item, field: str, language: str) -> Sequence[str]:
    """Return all texts of one kind that an item has, as they are shown."""
    shown = item.presentation
    match field:
        case "question":
            text = item.text.into(language)
            prefix = translated(item.raw, "prefix", language) if item.prefix else ""
            return [f"{prefix} {text}".strip() if prefix else text]
        case "option":
            return [f"{option.prefix} {_called(option, language)}".strip() for option in item.options]
        case "link":
            return shown.links
        case "media":
            return [f"{string(each, 'title')} {string(each, 'url')}".strip() for each in shown.media]
    texts: Sequence[Text] = {
        "constraint": tuple(constraint.human for constraint in item.constraints),
        "short": (shown.short,),
        "instruction": shown.instructions,
        "help": shown.help,
        "format": (shown.entry_format,),
        "low": shown.slider[:1],
        "high": shown.slider[1:],
        "open_label": (shown.open_label,),
        "unit": (item.units.label,),
    }.get(field, ())
    return [text.into(language) for text in texts]


def _called(option: Option, language: str) -> str:
    """Return what an option is called; a day or time, which a form writes as machines do, in words."""
    shown, value = option.label.into(language), option.answer.value
    in_words = option.answer.type in ("date", "dateTime", "time") and shown == value
    return format_answer(option.answer, language=language) if in_words else shown


def spoken(form: Form, link_id: str, answers: Sequence[Answer], language: str) -> str:
    """Return the answers to a question in words."""
    item = form.by_link_id[link_id]
    return ", ".join(_spoken(item, answer, language) for answer in answers)


def _spoken(item: Item, answer: Answer, language: str) -> str:
    for option in item.options:
        if option.answer == answer:
            return _called(option, language)
    if answer.type == "boolean":
        return INTERVIEW_TEXTS[language]["yes" if answer.value is True else "no"]
    if answer.type == "markdown":  # a text that a formula of the form gave
        return seen(str(answer.value)).translate(_MARKUP)
    if answer.type in ("string", "uri"):
        return INTERVIEW_TEXTS[language]["own"].format(answer=escaped(str(answer.value)))
    if answer.type == "attachment":
        return spoken_file(answer, language=language)
    usual = usual_unit(item) if answer.type in NUMBERS else None
    if answer.type == "quantity":  # its unit is called as in the list of units
        value = dict(as_object(answer.value))
        for unit in (*item.units.choices, *((usual,) if usual else ())):
            if unit.get("code") and unit.get("code") == value.get("code"):
                value["unit"] = unit_in_words(unit, language)
        answer = Answer("quantity", value)
    elif usual and (name := unit_in_words(usual, language)):  # a plain number, in the unit that is asked for
        answer = Answer("quantity", {"value": answer.value, "unit": name})
    return escaped(format_answer(answer, language=language))


def spoken_file(file: Answer, *, language: str) -> str:
    """Return what an attachment is called, with its size: "Brief.pdf (12 kB)"."""
    attachment = dict(as_object(file.value))
    return escaped(f"{_name(attachment)}{_size(attachment, words_for(language))}")


def escaped(text: str) -> str:
    """Return text on one line, of bounded length, without characters that could be taken for markup."""
    clean = sanitise(text).text.translate(_MARKUP)
    return clean if len(clean) <= MAX_OWN_WORDS else clean[: MAX_OWN_WORDS - 1] + "…"


def format_answer(answer: Answer, *, language: str) -> str:
    """Return an answer in words that can be read again: "3. März 1975", "70,5 kg"."""
    words, value = words_for(language), answer.value
    if answer.type == "boolean":
        return words.texts["yes" if value is True else "no"]
    if isinstance(value, dict):
        return _quantity(value, words) if answer.type == "quantity" else _name(value)
    if isinstance(value, int | Decimal):
        return _number(value, words)
    text = str(value)
    if answer.type == "time":
        return words.texts["time"].format(time=_time(text))
    if answer.type not in ("date", "dateTime"):
        return text
    day, _, time = text.partition("T") if answer.type == "dateTime" else (text, "", "")
    if not time:
        return _date(day, words)
    return words.texts["moment"].format(date=_date(day, words), time=_time(_ZONE.sub("", time)))


def _number(value: int | Decimal, words: Words) -> str:
    return str(value) if isinstance(value, int) else format(value, "f").replace(".", words.texts["decimal_mark"])


def _quantity(value: dict[str, JsonValue], words: Words) -> str:
    amount, code = value.get("value"), str(value.get("code") or "")
    number = _number(amount, words) if isinstance(amount, int | Decimal) else ""
    return f"{number} {value.get('unit') or words.unit_names.get(code, code)}".strip()


def _name(value: dict[str, JsonValue]) -> str:
    """Return what a coding, an attachment or a reference is called."""
    names = (value.get(name) for name in ("display", "title", "code", "reference", "url"))
    return next((str(name) for name in names if name), "")


def _size(value: JsonObject, words: Words) -> str:
    """Return the size of an attachment, to be said behind its name; empty where it says none."""
    size = value.get("size")
    if not isinstance(size, int) or size < 0:
        return ""
    kilobytes = Decimal(max(1, round(size / 1000)))
    number = kilobytes if kilobytes < 1000 else (kilobytes / 1000).quantize(Decimal("0.1"))
    return f" ({_number(number, words)} {'kB' if kilobytes < 1000 else 'MB'})"


def _time(value: str) -> str:
    match = _TIME.fullmatch(value)
    if not match:
        return value
    hour, minute, second = match.groups()
    return f"{hour}:{minute}" + (f":{second}" if second and second != "00" else "")


def _date(value: str, words: Words) -> str:
    match = _DATE.fullmatch(value)
    year, month, day = match.groups() if match else ("", None, None)
    if month is None or not 1 <= int(month) <= 12:
        return value
    name = words.month_names[int(month) - 1]
    if day is None:
        return words.texts["month"].format(month=name, year=year)
    return words.texts["date"].format(day=int(day), month=name, year=year)

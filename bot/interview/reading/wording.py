"""A typed answer in words, as it is read back to the patient. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from bot.interview.reading.load_words import words_for
from bot.interview.reading.reading import Option
from bot.interview.reading.vocabulary import Words
from bot.interview.values.answer import Answer, JsonValue

_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d))?(?:\.\d+)?")
_ZONE = re.compile(r"(?:Z|[+-]\d\d:\d\d)$")


def format_answer(answer: Answer, *, language: str, options: Sequence[Option] = ()) -> str:
    """Return an answer in words that can be read again: "3. März 1975", "70,5 kg", an option's label."""
    words = words_for(language)
    option = next((option for option in options if option.answer == answer), None)
    if option and option.labels:
        return option.labels[0]
    value = answer.value
    if answer.type == "boolean":
        return words.wordings.yes if value is True else words.wordings.no
    if isinstance(value, dict):
        return _complex(answer.type, value, words)
    if isinstance(value, int | Decimal):
        return _number(value, words)
    return _moment(answer.type, str(value), words)


def _number(value: int | Decimal, words: Words) -> str:
    return str(value) if isinstance(value, int) else format(value, "f").replace(".", words.numbers.decimal_mark)


def _complex(kind: str, value: dict[str, JsonValue], words: Words) -> str:
    if kind == "quantity":
        amount = value.get("value")
        number = _number(amount, words) if isinstance(amount, int | Decimal) else ""
        code = str(value.get("code") or "")
        unit = str(value.get("unit") or words.units.names.get(code, code))
        return f"{number} {unit}".strip()
    for name in ("display", "title", "code", "reference", "url"):
        if value.get(name):
            return str(value[name])
    return ""


def _moment(kind: str, value: str, words: Words) -> str:
    if kind == "time":
        return words.wordings.time.format(time=_time(value))
    if kind == "date":
        return _date(value, words)
    if kind != "dateTime":
        return value
    day, _, time = value.partition("T")
    if not time:
        return _date(day, words)
    return words.wordings.moment.format(date=_date(day, words), time=_time(_ZONE.sub("", time)))


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
    name = words.dates.month_names[int(month) - 1]
    if day is None:
        return words.wordings.month.format(month=name, year=year)
    return words.wordings.date.format(day=int(day), month=name, year=year)

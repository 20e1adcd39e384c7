"""What form of answer a question wants, said in plain words where the question does not say it itself. Pure.

The words of the form (entry format, label of the unit) come before ours. Units, ranges and files are told with each
question; how a date, a time or an address may be written, only with the first such question of an interview.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.interview.form.form import Bound, Item
from bot.interview.manners.listening import NUMBERS, WORDS, WORDS_OF, asked_of, unit_in_words, usual_unit
from bot.interview.manners.session import Answers, Quote, Saying, Sentence, with_answers
from bot.interview.reading.quantities import likely_amount
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, number, string
from bot.text import fold, words

EXAMPLE_AMOUNT = Decimal(3)
LONG_AGO, SOME_WEEKS = date(1975, 3, 3), timedelta(days=20)
WIDEST_SCALE = 100  # a wider range holds back slips of the pen: nobody needs to be told
_ONCE = frozenset({"date", "dateTime", "time", "url"})
_NEVER = datetime(2000, 1, 1, tzinfo=UTC)  # the day does not change what a number is an example of


def form_hints(item: Item, language: str, *, is_first: bool, now: datetime) -> Iterator[Saying]:
    """Yield what helps to answer in a form that is understood; `is_first`: of its type in this interview."""
    shown = item.presentation
    if shown.entry_format.base:
        yield Quote(item.link_id, "format")
    if item.type in NUMBERS:
        yield from _choice_of_units(item)
        yield from _range(item, language)
    elif item.type == "attachment":
        yield Sentence("file")
    elif item.type in _ONCE and is_first and not shown.entry_format.base and not _tells_itself(item, language):
        fitting = day_example(item, now) if item.type in ("date", "dateTime") else ()
        yield with_answers(f"hint_{item.type}", item.link_id, fitting) if fitting else Sentence(f"hint_{item.type}")


def unit_hint(item: Item, language: str) -> Iterator[Saying]:
    """Yield in which unit a number is wanted, by an example where one is sure to fit, unless the question says it."""
    usual = usual_unit(item)
    if item.type not in NUMBERS or usual is None or len(item.units.choices) > 1 or item.units.label.base:
        return
    written = fold(item.text.into(language)).split()
    names = (unit_in_words(usual, language), string(usual, "code"), string(usual, "display"))
    if not names[0] or any(name and fold(name) and fold(name) in written for name in names):
        return
    amount = _likely(item, language, usual)
    if amount is None:
        yield with_answers("in_unit", item.link_id, unit_answers(item))
    else:
        yield with_answers("hint_amount", item.link_id, _amounts((usual,), amount))


def unit_answers(item: Item) -> tuple[Answer, ...]:
    """Return the units of a number, each as a quantity without amount."""
    return _amounts(_units(item))


def day_example(item: Item, now: datetime) -> tuple[Answer, ...]:
    """Return an example for a day, with its time where that is asked for: some weeks ago; of a birth, years ago."""
    texts = (item.text.base, *item.text.translations.values(), item.presentation.short.base)
    of_birth = bool({word for text in texts for word in words(text)} & WORDS["birth_words"])
    day = (LONG_AGO if of_birth else (now - SOME_WEEKS).date()).isoformat()
    low, high = (str(bound.fixed.value)[:10] if bound and bound.fixed else "" for bound in _bounds(item))
    day = max(day, low) if len(low) == len(day) else day
    day = min(day, high) if len(high) == len(day) else day
    zone = f"{now:%z}"
    at = f"T14:30:00{zone[:3]}:{zone[3:5]}" if item.type == "dateTime" and zone else ""
    return (Answer(item.type, f"{day}{at}"),)


def example_answers(item: Item, language: str, now: datetime) -> tuple[Answer, ...]:
    """Return an example: a likely day; a number in the middle of its limits, or an amount in its first unit."""
    if item.type in ("date", "dateTime"):
        return day_example(item, now)
    if item.type == "quantity":
        units = _units(item)[:1]
        likely = _likely(item, language, units[0]) if units else None
        return _amounts(units, EXAMPLE_AMOUNT if likely is None else likely)
    low, high = (number(answer.value) if answer else None for answer in _limits(item))
    if item.type not in ("integer", "decimal") or low is None or high is None:
        return ()
    return (Answer("integer", int(low + high) // 2),)


def said_answers(item: Item, language: str, now: datetime) -> tuple[Answer, ...]:
    """Return all that hints may say of the numbers or days of an item: what a guard has to let through."""
    usual = usual_unit(item) if item.type in NUMBERS else None
    likely = _likely(item, language, usual) if usual is not None else None
    amounts = _amounts((usual,), likely) if usual is not None and likely is not None else ()
    ends = (answer for answer in _limits(item) if answer is not None)
    return (*unit_answers(item), *example_answers(item, language, now), *amounts, *ends)


def _choice_of_units(item: Item) -> Iterator[Saying]:
    listed = item.type == "quantity" and len(item.units.choices) > 1
    units = with_answers("units", item.link_id, unit_answers(item)) if listed else None
    yield Quote(item.link_id, "unit", otherwise=units)


def _range(item: Item, language: str) -> Iterator[Saying]:
    """Yield from where to where a scale goes, and what its ends mean."""
    low, high = _limits(item)
    slider = item.presentation.control == "slider"
    if low is None or high is None or not (slider or _is_scale(item, low, high, language)):
        return
    yield Sentence("scale", {"low": Answers(item.link_id, (low,)), "high": Answers(item.link_id, (high,))})
    if slider:
        yield Quote(item.link_id, "low")
        yield Quote(item.link_id, "high")


def _is_scale(item: Item, low: Answer, high: Answer, language: str) -> bool:
    """Say whether limits are the ends of a scale that the question does not name itself."""
    least, most = number(low.value), number(high.value)
    if least is None or most is None or most - least > WIDEST_SCALE or usual_unit(item) is not None or item.options:
        return False
    told = set(fold(item.text.into(language)).replace("-", " ").split())
    if {str(least), str(most)} <= told or item.presentation.entry_format.base:
        return False
    return likely_amount(asked_of(item, (), language, _NEVER), "", language=language) is None


def _limits(item: Item) -> tuple[Answer | None, Answer | None]:
    """Return the limits of a number as they are written; None for those that are worked out, and for quantities."""
    plain = item.type in ("integer", "decimal")
    low, high = (bound.fixed if bound and plain else None for bound in _bounds(item))
    return low, high


def _bounds(item: Item) -> tuple[Bound | None, Bound | None]:
    return item.limits.minimum, item.limits.maximum


def _tells_itself(item: Item, language: str) -> bool:
    """Say whether a question, or what the form says with it, tells how exact and in what form: "Das Jahr reicht"."""
    texts = (item.text, *item.presentation.instructions)
    said = {word for text in texts for word in fold(text.into(language)).split()}
    telling = "telling_the_time" if item.type == "time" else "telling_the_form"
    return bool(said & WORDS_OF[language][telling])


def _likely(item: Item, language: str, unit: JsonObject) -> Decimal | None:
    return likely_amount(asked_of(item, (), language, _NEVER), string(unit, "code"), language=language)


def _units(item: Item) -> tuple[JsonObject, ...]:
    usual = usual_unit(item)
    return (*((usual,) if usual else ()), *item.units.choices)


def _amounts(units: Iterable[JsonObject], amount: Decimal | None = None) -> tuple[Answer, ...]:
    """Return quantities, each unit once, without amount where none is given."""
    found: dict[str, Answer] = {}
    for unit in units:
        value: dict[str, Any] = {} if amount is None else {"value": amount}
        value["unit"] = string(unit, "display") or string(unit, "code")
        value |= {name: unit[name] for name in ("system", "code") if unit.get(name)}
        found.setdefault(string(unit, "code") or string(unit, "display"), Answer("quantity", value))
    return tuple(found.values())

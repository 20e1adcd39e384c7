"""What is asked, as the reader of replies needs it, and whether a reply is a question of its own. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal

from bot.interview.answer import Answer
from bot.interview.engine import AskItem
from bot.interview.fhir_json import JsonObject, as_object, string
from bot.interview.form import Bound, Item, Option
from bot.interview.item_types import CHOICES
from bot.interview.parsing import Asked, Reading, Unit, read
from bot.interview.parsing import Option as Readable
from bot.interview.spoken import readable
from bot.interview_texts import QUESTION_OPENERS, QUESTION_PADDING
from bot.matching.text import fold

QuestionLike = Literal["no", "maybe", "clear"]
MIN_WORDS = 3
MANY_WORDS = 4


def read_reply(
    text: str, step: AskItem, *, language: str, now: datetime, options: Sequence[Option] | None = None
) -> Reading:
    """Read a reply to a question; `options`: those that are left to choose from."""
    chosen = step.options if options is None else options
    return read(text, asked_of(step.item, chosen, language, now), language=language, today=now.date())


def asked_of(item: Item, options: Sequence[Option], language: str, now: datetime) -> Asked:
    """Reduce an item to what decides how a reply is read."""
    return Asked(
        type=_type(item, options),
        repeats=item.repeats,
        options=readable_options(options, language),
        unit=_unit(item.units.usual),
        units=tuple(unit for each in item.units.choices if (unit := _unit(each))),
        max_length=item.limits.max_length,
        entry_format=item.presentation.entry_format.into(language),
        minimum=_bound(item.limits.minimum),
        maximum=_bound(item.limits.maximum),
        prompt=item.text.into(language),
        zone=now.tzinfo,
    )


def readable_options(options: Sequence[Option], language: str) -> tuple[Readable, ...]:
    """Return options with all that a patient may call them."""
    return tuple(readable(each, language) for each in options)


def _type(item: Item, options: Sequence[Option]) -> str:
    # Where a form lists answers for a plain type, they are what can be chosen.
    return "choice" if options and item.type not in CHOICES else item.type


def _unit(unit: JsonObject | None) -> Unit | None:
    if not unit:
        return None
    code = string(unit, "code")
    name = string(unit, "display") or code
    return Unit(code, name, string(unit, "system")) if name else None


def _bound(bound: Bound | None) -> int | Decimal | str | None:
    value = bound.fixed.value if bound and bound.fixed else None
    if isinstance(value, dict):
        value = as_object(value).get("value")
    return value if isinstance(value, int | Decimal | str) and not isinstance(value, bool) else None


def question_like(text: str, language: str) -> QuestionLike:
    """Say whether a message asks something itself: by its mark, and by the word that it opens with."""
    folded = fold(text).split()
    marked = "qqq" in folded
    said = [word for word in folded if word != "qqq"]
    while len(said) > 1 and said[0] in QUESTION_PADDING[language]:
        said = said[1:]
    opened = bool(said) and said[0] in QUESTION_OPENERS[language]
    if (marked and (opened or len(said) >= MANY_WORDS)) or (opened and len(said) > MANY_WORDS):
        return "clear"
    return "maybe" if marked or (opened and len(said) >= MIN_WORDS) else "no"


def is_listed(answers: Sequence[Answer], options: Sequence[Option]) -> bool:
    """Say whether answers are options of a list."""
    listed = [option.answer for option in options]
    return bool(answers) and all(answer in listed for answer in answers)

"""What is asked, as the reader of replies needs it, and whether a reply is a question of its own. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal

from bot.interview.form.form import Bound, Item, Option
from bot.interview.manners.spoken import readable, readable_unit, usual_unit
from bot.interview.reading.reader import read
from bot.interview.reading.reading import Asked, Read, Reading
from bot.interview.reading.reading import Option as Readable
from bot.interview.reading.units import is_unusual
from bot.interview.reading.yesno import read_yes_no
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import as_object
from bot.interview.values.fhir_names import CHOICES
from bot.interview.walk.engine import AskItem
from bot.sentences.interview_texts import ASKED_ABOUT, GLADLY, QUESTION_OPENERS, QUESTION_PADDING, STATED_AFTER
from bot.text import fold

QuestionLike = Literal["no", "maybe", "clear"]
MIN_WORDS = 3
MOST_REPEATED = 6  # words of a question, and its marks, that are said again before the answer
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
        unit=readable_unit(usual_unit(item), language),
        units=tuple(unit for each in item.units.choices if (unit := readable_unit(each, language))),
        max_length=item.limits.max_length,
        entry_format=item.presentation.entry_format.into(language),
        minimum=_bound(item.limits.minimum),
        maximum=_bound(item.limits.maximum),
        prompt=item.text.into(language),
        zone=now.tzinfo,
        now=now,
        decimal_places=item.limits.decimal_places,
        yes_said=item.yes_said,
    )


def readable_options(options: Sequence[Option], language: str) -> tuple[Readable, ...]:
    """Return options with all that a patient may call them."""
    return tuple(readable(each, language) for each in options)


def _type(item: Item, options: Sequence[Option]) -> str:
    # Where a form lists answers for a plain type, they are what can be chosen.
    return "choice" if options and item.type not in CHOICES else item.type


def unusual(answers: Sequence[Answer], step: AskItem, *, language: str, now: datetime) -> bool:
    """Say whether a number among answers is so seldom that the patient should look at it again."""
    question = asked_of(step.item, step.options, language, now)
    return any(is_unusual(answer, question, language=language) for answer in answers)


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
    opened = bool(said) and said[0] in QUESTION_OPENERS[language] and (marked or not _states(said, language))
    if marked and not opened and _answers_itself(text, language):
        return "no"
    if (marked and (opened or len(said) >= MANY_WORDS)) or (opened and len(said) > MANY_WORDS):
        return "clear"
    return "maybe" if marked or (opened and len(said) >= MIN_WORDS) else "no"


def _states(said: Sequence[str], language: str) -> bool:
    """Say whether words without a question mark that open like a question are none: "can't see why not"."""
    denied = said[1:2] == ["t"] and said[2:3] and said[2] not in ASKED_ABOUT[language]
    placed = len(said) > 1 and said[1] in STATED_AFTER[language]
    return bool(denied) or placed or bool(GLADLY[language] & set(said))


def _answers_itself(text: str, language: str) -> bool:
    """Say whether a message says the question again and then answers it: "Implantate? Nein."."""
    asked, _, answer = text.rpartition("?")
    said = read_yes_no(answer, language=language)
    return isinstance(said, Read) and not said.remainder and len(fold(asked).split()) <= MOST_REPEATED


def is_listed(answers: Sequence[Answer], options: Sequence[Option]) -> bool:
    """Say whether answers are options of a list."""
    listed = [option.answer for option in options]
    return bool(answers) and all(answer in listed for answer in answers)

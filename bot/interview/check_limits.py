"""Is an answer within the limits of its item: least and greatest value, length, pattern, decimal places. Pure.

Texts and dates of a patient are never quoted; numbers and limits are.
"""

from __future__ import annotations

from bot.interview.answer import Answer
from bot.interview.answer_check import AnswerCheck, beyond, bound_rule, say, stated_limits
from bot.interview.comparing import relate
from bot.interview.fhir_json import as_object, extension_value, number
from bot.interview.patterns import fits_pattern
from bot.interview.sdc import ENTRY_FORMAT, MAX_DECIMAL_PLACES, MAX_VALUE, MIN_LENGTH, MIN_VALUE, REGEX

_BOUNDED = frozenset({"integer", "decimal", "date", "dateTime", "time"})


def check_limits(check: AnswerCheck) -> None:
    """Check one answer against the limits of its item."""
    kind = check.answer.type
    if kind in {"string", "uri"} and isinstance(check.answer.value, str):
        _check_text(check, check.answer.value)
    if "extension" not in check.item:
        return
    _check_pattern(check)
    if kind in _BOUNDED:
        _check_bounds(check, MIN_VALUE, least=True)
        _check_bounds(check, MAX_VALUE, least=False)
    if kind in {"decimal", "quantity"}:
        _check_places(check)


def _check_bounds(check: AnswerCheck, urls: tuple[str, ...], *, least: bool) -> None:
    rule = bound_rule(least, "Value")
    for bound in stated_limits(check, urls):
        relation = relate(check.answer, bound)
        if relation == ("before" if least else "after"):
            check.error(f"{_subject(check.answer)} is {beyond(least)} allowed, {say(bound)}", rule)
        elif relation in {"different", "unknown"}:
            check.warning(f"The answer cannot be compared with the limit {say(bound)}", rule)


def _subject(answer: Answer) -> str:
    return f"The value {say(answer)}" if answer.type in {"integer", "decimal"} else "The value"


def _check_text(check: AnswerCheck, text: str) -> None:
    most = check.item.get("maxLength")
    if isinstance(most, int) and not isinstance(most, bool) and 0 <= most < len(text):
        check.error(f"The answer has {len(text)} characters, more than the {most} allowed", "maxLength")
    if check.item.get("type") == "string" and ("\n" in text or "\r" in text):
        check.warning("A line break in the answer to a one-line question", "line-break", "invariant")
    if "extension" not in check.item:
        return
    least = extension_value(check.item, *MIN_LENGTH)
    if least is not None and isinstance(least.value, int) and len(text) < least.value:
        check.error(f"The answer has {len(text)} characters, fewer than the {least.value} required", "minLength")


def _check_pattern(check: AnswerCheck) -> None:
    pattern = extension_value(check.item, *REGEX)
    if pattern is None or not isinstance(pattern.value, str):
        return
    fits = fits_pattern(pattern.value, check.answer, check.item)
    if fits is None:
        check.warning("The item's regex cannot be read, takes too long or fits no date, so it was not checked", "regex")
    elif not fits:
        example = extension_value(check.item, *ENTRY_FORMAT)
        hint = f" (expected: {example.value})" if example is not None and isinstance(example.value, str) else ""
        check.error(f"The answer does not have the required form{hint}", "regex")


def _check_places(check: AnswerCheck) -> None:
    most = extension_value(check.item, *MAX_DECIMAL_PLACES)
    quantity = check.answer.type == "quantity"
    value = number(as_object(check.answer.value).get("value") if quantity else check.answer.value)
    if most is None or value is None or not isinstance(most.value, int) or isinstance(most.value, bool):
        return
    exponent = value.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    if places > most.value:
        text = f"The value {str(value)[:60]} has {places} decimal places, more than the {most.value} allowed"
        check.error(text, "maxDecimalPlaces")

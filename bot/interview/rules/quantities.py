"""Is a quantity within its limits and in one of the units offered. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.interview.rules.limits import AnswerCheck, beyond, bound_rule, say, stated_limits
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.codes import code_key
from bot.interview.values.comparing import relate_quantities
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    extension_value,
    extension_values,
    number,
    string,
    translations,
)
from bot.interview.values.fhir_names import (
    MAX_QUANTITY,
    MAX_VALUE,
    MIN_QUANTITY,
    MIN_VALUE,
    OPEN_UNITS,
    UNIT_OPEN,
    UNIT_OPTION,
    UNIT_VALUE_SET,
)
from bot.interview.values.terminology import Member
from bot.interview.values.units import UCUM, known

# How a quantity stands to a limit; "beyond", "no-code" and "other-kind" are no answers.
Fit = Literal["fits", "beyond", "no-unit", "no-code", "other-kind", "unknown-unit"]


def check_quantity(check: AnswerCheck) -> None:
    """Check a quantity; its decimal places are checked with the other limits."""
    if "extension" not in check.item:
        return
    for least, urls in ((True, MIN_QUANTITY + MIN_VALUE), (False, MAX_QUANTITY + MAX_VALUE)):
        for bound in stated_limits(check, urls):
            _check_bound(check, bound, least=least)
    open_units = extension_value(check.item, *UNIT_OPEN)
    if open_units is None or open_units.value not in OPEN_UNITS:
        _check_units(check, as_object(check.answer.value))


def _check_bound(check: AnswerCheck, bound: Answer, *, least: bool) -> None:
    rule = bound_rule(least, "Quantity")
    trouble = f"{say(check.answer)} cannot be compared with the limit {say(bound)}"
    match against_bound(check.answer, bound, least=least):
        case "no-unit":
            check.warning(f"{trouble}: the limit has no unit", rule)
        case "no-code":
            check.error(f"{trouble}: not both have a coded unit", rule)
        case "beyond":
            check.error(f"{say(check.answer)} is {beyond(least)} allowed, {say(bound)}", rule)
        case "other-kind":
            check.error(f"{trouble}: the units measure different things", rule)
        case "unknown-unit":
            check.warning(f"{trouble}: the unit is not known here", rule)


def against_bound(answer: Answer, bound: Answer, *, least: bool) -> Fit:
    """Hold a quantity against a limit of its item; interview and validator both do it by this."""
    given, limit = as_object(answer.value), as_object(bound.value)
    if bound.type != "quantity":
        return "no-unit"
    if not all(string(side, "system") and string(side, "code") for side in (given, limit)):
        return "no-code"
    relation = relate_quantities(answer, bound)
    if relation == ("before" if least else "after"):
        return "beyond"
    if relation != "unknown" or number(given.get("value")) is None:
        return "fits"
    return "other-kind" if _is_readable(given) and _is_readable(limit) else "unknown-unit"


def _is_readable(quantity: JsonObject) -> bool:
    """Say whether it is known what the unit measures: of codes outside UCUM only that they differ."""
    return string(quantity, "system") != UCUM or known(string(quantity, "code"))


def _check_units(check: AnswerCheck, quantity: JsonObject) -> None:
    """Check that the unit is an option, or in the value set: where a form states both, either will do."""
    options = [as_object(value.value) for value in extension_values(check.item, *UNIT_OPTION)]
    if any(unit_fits(quantity, option) for option in options):
        return
    if extension_value(check.item, *UNIT_VALUE_SET) is not None:
        _check_unit_value_set(check, quantity)
    elif options:
        names = ", ".join(string(option, "display") or string(option, "code") for option in options)
        check.error(f"The unit {_unit_code(quantity)} is none of {names}, or not named so", "unitOption")


def unit_fits(quantity: JsonObject, option: JsonObject) -> bool:
    """Compare what the option states; its display, or a translation of it, is the unit as people read it."""
    if any(string(option, name) not in {"", string(quantity, name)} for name in ("system", "code")):
        return False
    names = {string(option, "display"), *translations(option, "display").values()}
    return names == {""} or string(quantity, "unit") in names


def in_listed_unit(quantity: JsonObject, options: Sequence[JsonObject]) -> dict[str, JsonValue]:
    """Return a quantity with its unit as the form writes it, where the form lists the same code under another text."""
    same = [option for option in options if string(option, "code") and code_key(option) == code_key(quantity)]
    if not same or any(unit_fits(quantity, option) for option in options):
        return dict(quantity)
    return {**quantity, "unit": string(same[0], "display")}


def _check_unit_value_set(check: AnswerCheck, quantity: JsonObject) -> None:
    value_set = extension_value(check.item, *UNIT_VALUE_SET)
    if value_set is None or not isinstance(value_set.value, str):
        return
    if check.known.value_set(value_set.value) is None:
        check.warning(f"The value set {value_set.value[:120]} is not at hand", "unitValueSet", "not-found")
        return
    system, code = string(quantity, "system"), string(quantity, "code")
    member = check.known.member(value_set.value, system=system, code=code) if system and code else Member.NO
    if member is Member.NO:
        text = f"The unit {_unit_code(quantity)} is not in the value set {value_set.value[:120]}"
        check.error(text, "unitValueSet", "code-invalid")
    elif member is Member.UNKNOWN:
        check.warning(
            f"Whether the unit is in the value set {value_set.value[:120]} cannot be told here", "unitValueSet"
        )


def _unit_code(quantity: JsonObject) -> str:
    return string(quantity, "code")[:40] or "without code"

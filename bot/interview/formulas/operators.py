"""The operators of FHIRPath, and what equal, equivalent and less mean. Pure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from typing import Any

from bot.interview.formulas.formula import FormulaFailed
from bot.interview.formulas.measures import MOST_DIGITS, Moment, Quantity, divided, equivalent, is_integer, times
from bot.interview.formulas.nodes import MOST_CHARACTERS, Node, Values, Work, of_kind, one, size, system

_ARITHMETIC = Context(
    prec=MOST_DIGITS, Emax=MOST_DIGITS - 1, Emin=-999, traps=[InvalidOperation, DivisionByZero, Overflow]
)


def key(item: object) -> Hashable:
    """Return what is the same for values that are equal; see `Seen` for amounts of time."""
    value = system(item)
    if isinstance(value, Moment | Node):
        return type(value).__name__, value.key()
    if isinstance(value, Quantity):
        # So many of nothing is a number: 3 '1' = 3.
        found = value.key()
        return (False, False, found[0]) if isinstance(found, tuple) and found[1:] == (frozenset(),) else found
    return isinstance(value, bool), isinstance(value, str), value


@dataclass(slots=True)
class Seen:
    """Values that were met. Most are looked up; amounts of time are compared one by one, as ``=`` does."""

    work: Work
    _keys: set[Hashable] = field(default_factory=set)
    _times: Values = field(default_factory=list)

    @classmethod
    def of(cls, values: Iterable[object], work: Work) -> Seen:
        seen = cls(work)
        for value in values:
            seen.add(value)
        return seen

    def __contains__(self, value: object) -> bool:
        self.work.spend(_size(value))
        own = key(value)
        if own is not None:
            return own in self._keys
        self.work.spend(len(self._times))
        return any(equal(value, each) for each in self._times)

    def add(self, value: object) -> bool:
        """Take a value in; say whether it is new."""
        if value in self:
            return False
        own = key(value)
        if own is None:
            self._times.append(value)
        else:
            self._keys.add(own)
        return True


def distinct(values: Iterable[object], work: Work, seen: Seen | None = None) -> Values:
    """Return each value once, and none of those `seen`, which grows."""
    seen = Seen(work) if seen is None else seen
    return [value for value in values if seen.add(value)]


def _size(value: object) -> int:
    return size(value.value) if isinstance(value, Node) else 1


def equal(one: object, other: object) -> bool | None:
    """Say whether values are the same; None where their precision or their units leave that open."""
    one, other = system(one), system(other)
    if isinstance(one, Moment) and isinstance(other, Moment):
        if "Time" in {one.kind, other.kind} and one.kind != other.kind:
            return False
        order = one.compare(other)
        return None if order is None else order == 0
    if isinstance(one, Quantity) or isinstance(other, Quantity):
        return _equal_amounts(one, other)
    if isinstance(one, Node) and isinstance(other, Node):
        return one.key() == other.key()
    return key(one) == key(other)


def _equal_amounts(one: object, other: object) -> bool | None:
    pair = _amounts(one, other)
    if pair is None:
        return False
    beside = pair[0].beside(pair[1])
    return beside and beside[0].value == beside[1].value


def _amounts(one: object, other: object) -> tuple[Quantity, Quantity] | None:
    """Return two quantities; a number stands for one without unit. None where a value is neither."""
    found = [_amount(one), _amount(other)]
    return (found[0], found[1]) if found[0] is not None and found[1] is not None else None


def _amount(value: object) -> Quantity | None:
    if isinstance(value, Quantity):
        return value
    return Quantity(Decimal(value), "1") if isinstance(value, int | Decimal) and not isinstance(value, bool) else None


def alike(one: object, other: object) -> bool:
    """Say whether values are equivalent: texts whatever their case, numbers as precisely as both are given."""
    one, other = system(one), system(other)
    if isinstance(one, str) and isinstance(other, str):
        return _plain(one) == _plain(other)
    if isinstance(one, Moment) and isinstance(other, Moment):
        return one.kind == other.kind and one.compare(other) == 0
    if isinstance(one, Quantity) or isinstance(other, Quantity):
        pair = _amounts(one, other)
        beside = pair[0].beside(pair[1], roughly=True) if pair else None
        return beside is not None and equivalent(beside[0].value, beside[1].value)
    if isinstance(one, Node) and isinstance(other, Node):
        return _alike_nodes(one, other)
    if (pair := _amounts(one, other)) is not None:
        return equivalent(pair[0].value, pair[1].value)
    return key(one) == key(other)


def _plain(text: str) -> str:
    """Return a text whatever its case; white space (N1: Whitespace) is alike, as much of it as there is."""
    return text.casefold().translate({ord(space): " " for space in "\t\r\n"})


def _alike_nodes(one: Node, other: Node) -> bool:
    if not isinstance(one.value, dict) or not isinstance(other.value, dict):
        return one.key() == other.key()
    names = one.value.keys()
    return names == other.value.keys() and all(
        all_alike(list(one.child(name)), list(other.child(name))) for name in names if not name.startswith("_")
    )


def all_alike(left: Values, right: Values) -> bool:
    """Say whether collections are equivalent, in whatever order."""
    rest = list(right)
    for value in left:
        place = next((number for number, each in enumerate(rest) if alike(value, each)), None)
        if place is None:
            return False
        del rest[place]
    return not rest


def compare(one: object, other: object) -> int | None:
    """Return -1, 0 or 1 as `one` is less than, equal to or greater than `other`; None where that is left open.

    Raises:
        FormulaFailed: They are of different kinds.
    """
    one, other = system(one), system(other)
    if isinstance(one, Moment) and isinstance(other, Moment) and (one.kind == "Time") is (other.kind == "Time"):
        return one.compare(other)
    if isinstance(one, str) and isinstance(other, str):
        return (one > other) - (one < other)
    pair = _amounts(one, other)
    if pair is None:
        raise FormulaFailed("values of different kinds are compared")
    beside = pair[0].beside(pair[1])
    return beside and (beside[0].value > beside[1].value) - (beside[0].value < beside[1].value)


def calculated(work_out: Callable[[], Any]) -> Any:
    """Return a number as exactly as FHIRPath asks; None where there is none, as after a division by zero."""
    try:
        with localcontext(_ARITHMETIC):
            result = work_out()
    except ArithmeticError:
        return None
    if isinstance(result, Decimal):
        # Zero has no sign.
        return (result or abs(result)) if result.is_finite() else None
    return None if isinstance(result, int) and not is_integer(result) else result


def plus(one: Any, other: Any) -> Any:
    """Add values of FHIRPath; None where the sum is too large or units do not fit.

    Raises:
        FormulaFailed: They cannot be added.
    """
    if isinstance(one, str) and isinstance(other, str):
        return joined([one, other])
    return _sum(one, other, 1)


def minus(one: Any, other: Any) -> Any:
    return _sum(one, other, -1)


def _sum(one: Any, other: Any, sign: int) -> Any:
    if isinstance(one, Moment) and isinstance(other, Quantity):
        try:
            return one.plus(other, sign)
        except ValueError as error:
            raise FormulaFailed(str(error)) from None
    if isinstance(one, Quantity) or isinstance(other, Quantity):
        pair = _amounts(one, other)
        if pair is None:
            raise FormulaFailed("no number where one is due")
        beside = pair[0].beside(pair[1])
        return beside and calculated(lambda: replace(beside[0], value=beside[0].value + sign * beside[1].value))
    _numbers(one, other)
    if isinstance(one, int) and isinstance(other, int):
        total = one + sign * other
        return total if is_integer(total) else None
    return calculated(lambda: one + sign * other)


def _numbers(*values: object) -> None:
    if any(isinstance(value, bool) or not isinstance(value, int | Decimal) for value in values):
        raise FormulaFailed("no number where one is due")


def _times(one: Any, other: Any) -> Any:
    if isinstance(one, Quantity) or isinstance(other, Quantity):
        pair = _amounts(one, other)
        return calculated(lambda: times(*pair)) if pair else _numbers(one, other)
    _numbers(one, other)
    return calculated(lambda: one * other)


def quotient(one: Any, other: Any) -> Any:
    """Divide values of FHIRPath; None where there is no quotient.

    Raises:
        FormulaFailed: They cannot be divided.
    """
    if isinstance(one, Quantity) or isinstance(other, Quantity):
        pair = _amounts(one, other)
        return calculated(lambda: divided(*pair)) if pair else _numbers(one, other)
    _numbers(one, other)
    return calculated(lambda: Decimal(one) / Decimal(other))


def _whole(one: Any, other: Any) -> Any:
    _numbers(one, other)
    return calculated(lambda: int(Decimal(one) // Decimal(other)))


def _rest(one: Any, other: Any) -> Any:
    _numbers(one, other)
    whole = isinstance(one, int) and isinstance(other, int)
    rest = calculated(lambda: Decimal(one) % Decimal(other))
    return int(rest) if whole and rest is not None else rest


def joined(parts: list[str], between: str = "") -> str:
    """Join texts.

    Raises:
        FormulaFailed: The result is longer than any form needs.
    """
    if sum(map(len, parts)) + len(between) * len(parts) > MOST_CHARACTERS:
        raise FormulaFailed(f"a text of more than {MOST_CHARACTERS} characters")
    return between.join(parts)


def _single(work_out: Callable[[Any, Any], Any]) -> Callable[[Values, Values, Work], Values]:
    """Return an operator on single values; it gives nothing where one of them is missing."""

    def run(left: Values, right: Values, _: Work) -> Values:
        first, second = one(left), one(right)
        if first is None or second is None:
            return []
        found = work_out(first, second)
        return [] if found is None else [found]

    return run


def _ordered(holds: Callable[[int], bool]) -> Callable[[Values, Values, Work], Values]:
    def decide(first: object, second: object) -> bool | None:
        order = compare(first, second)
        return None if order is None else holds(order)

    return _single(decide)


def _equal(left: Values, right: Values, work: Work) -> bool | None:
    if not left or not right:
        return None
    if len(left) != len(right):
        return False
    work.spend(sum(map(_size, (*left, *right))))
    outcomes = [equal(first, second) for first, second in zip(left, right, strict=True)]
    if all(outcomes):
        return True
    return False if False in outcomes else None


def _equality(left: Values, right: Values, work: Work) -> Values:
    outcome = _equal(left, right, work)
    return [] if outcome is None else [outcome]


def _inequality(left: Values, right: Values, work: Work) -> Values:
    return [not outcome for outcome in _equality(left, right, work)]


def _equivalence(left: Values, right: Values, work: Work) -> Values:
    if len(left) != len(right):
        return [False]
    work.spend((len(right) + 1) * sum(map(_size, left)))
    return [all_alike(left, right)]


def _union(left: Values, right: Values, work: Work) -> Values:
    return distinct([*left, *right], work)


def _within(left: Values, right: Values, work: Work) -> Values:
    if not left:
        return []
    one(left)
    work.spend(len(right) + sum(map(_size, left)))
    return [any(equal(left[0], each) for each in right)]


def _concatenated(left: Values, right: Values, _: Work) -> Values:
    return [joined([of_kind(one(side), str) or "" for side in (left, right)])]


OPERATORS: Mapping[str, Callable[[Values, Values, Work], Values]] = {
    "+": _single(plus),
    "-": _single(minus),
    "*": _single(_times),
    "/": _single(quotient),
    "div": _single(_whole),
    "mod": _single(_rest),
    "&": _concatenated,
    "|": _union,
    "=": _equality,
    "!=": _inequality,
    "~": _equivalence,
    "!~": lambda left, right, work: [not _equivalence(left, right, work)[0]],
    "<": _ordered(lambda order: order < 0),
    "<=": _ordered(lambda order: order <= 0),
    ">": _ordered(lambda order: order > 0),
    ">=": _ordered(lambda order: order >= 0),
    "in": _within,
    "contains": lambda left, right, work: _within(right, left, work),
}


def decided(sign: str, left: bool | None, right: Callable[[], bool | None]) -> bool | None:
    """Combine truths; None stands for neither. The right one is only asked for where it matters."""
    if sign == "implies":
        left, sign = (None if left is None else not left), "or"
    if sign == "xor":
        second = right()
        return None if left is None or second is None else left is not second
    final = sign == "or"
    if left is final:
        return final
    second = right()
    return final if second is final else None if left is None or second is None else not final


LOGIC = frozenset({"and", "or", "xor", "implies"})

"""Functions of FHIRPath on collections, and the table of all functions. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cmp_to_key
from typing import Any

from bot.interview.formulas import elements
from bot.interview.formulas.formula import (
    FIND_ANSWERED,
    FIND_ASKED,
    FIND_OUTERMOST,
    Call,
    FormulaFailed,
    Name,
    Path,
    Sign,
    Tree,
)
from bot.interview.formulas.measures import Moment, read
from bot.interview.formulas.nodes import (
    MOST_CHARACTERS,
    SYSTEM_TYPES,
    Node,
    Scope,
    Values,
    base_of,
    is_type,
    nodes,
    of_kind,
    one,
    r4_types,
    system,
    truth,
    type_of,
)
from bot.interview.formulas.operators import Seen, compare, distinct, joined, plus, quotient
from bot.interview.formulas.scalars import SCALARS, Scalar

# The largest form known to us has 271 items.
MOST_REPEATED = 20_000
Run = Callable[[Scope, Values, tuple[Tree, ...]], Values]


@dataclass(frozen=True, slots=True)
class Function:
    """A function, with how many parameters it takes."""

    run: Run
    least: int = 0
    most: int = 0


def _plain(work_out: Callable[[Values], object]) -> Function:
    """Return a function without parameters, which looks at the collection alone."""
    return Function(lambda scope, data, _: nodes(work_out(data)))


def _scalar(scalar: Scalar) -> Function:
    least = len(scalar.parameters) if scalar.least is None else scalar.least

    def run(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
        value = one(data)
        if value is None or isinstance(of_kind(value, *scalar.of) if scalar.of else value, type(None)):
            return []
        given = [
            of_kind(one(scope.values(tree)), *kinds) for tree, kinds in zip(trees, scalar.parameters, strict=False)
        ]
        if scalar.empty_last and len(given) > least and given[-1] is None:
            given.pop()
        if None in given:
            return []
        work = scope.around.work
        work.spend(1 + len(value) // 64 if isinstance(value, str) else 1)
        result = scalar.run(*([work] if scalar.searching else []), value, *given)
        if isinstance(result, str) and len(result) > max(MOST_CHARACTERS, len(str(value))):
            raise FormulaFailed(f"a text of more than {MOST_CHARACTERS} characters")
        return nodes(result)

    return Function(run, least, len(scalar.parameters))


# --- Existence -------------------------------------------------------------------------------------------------------


def _truths(data: Values) -> list[bool]:
    return [bool(of_kind(system(value), bool)) for value in data]


def _not(data: Values) -> object:
    value = truth(data)
    return None if value is None else not value


def _exists(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
    return [bool(_where(scope, data, trees) if trees else data)]


def _all(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
    return [all(truth(scope.at(value, number, trees[0])) is True for number, value in enumerate(data))]


def _inside(scope: Scope, some: Values, others: Values) -> Values:
    held = Seen.of(others, scope.around.work)
    return [all(value in held for value in some)]


def _with_other(work_out: Callable[[Scope, Values, Values], Values]) -> Function:
    """Return a function with another collection as its parameter."""
    return Function(lambda scope, data, trees: work_out(scope, data, scope.values(trees[0])), 1, 1)


# --- Filtering, subsets ----------------------------------------------------------------------------------------------


def _where(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
    return [value for number, value in enumerate(data) if truth(scope.at(value, number, trees[0]))]


def _select(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
    return [found for number, value in enumerate(data) for found in scope.at(value, number, trees[0])]


def _repeat(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
    """Apply an expression to all elements, to what it gives, and so on, until nothing new comes."""
    found: Values = []
    seen = Seen(scope.around.work)
    waiting, grown = deque(enumerate(data)), 0
    while waiting:
        number, value = waiting.popleft()
        new = distinct(scope.at(value, number, trees[0]), scope.around.work, seen)
        found += new
        waiting.extend(enumerate(new))
        grown += sum(len(each) for each in new if isinstance(each, str))
        if len(found) > MOST_REPEATED or grown > MOST_CHARACTERS:
            raise FormulaFailed("repeat() finds too much")
    return found


def _single(data: Values) -> object:
    if len(data) > 1:
        raise FormulaFailed(f"{len(data)} values where one is due")
    return data


def _skip(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
    return data[max(_count(scope, trees), 0) :]


def _take(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
    return data[: max(_count(scope, trees), 0)]


def _count(scope: Scope, trees: tuple[Tree, ...]) -> int:
    return int(of_kind(one(scope.values(trees[0])), int) or 0)


def _intersect(scope: Scope, data: Values, other: Values) -> Values:
    held = Seen.of(other, scope.around.work)
    return [value for value in distinct(data, scope.around.work) if value in held]


def _exclude(scope: Scope, data: Values, other: Values) -> Values:
    held = Seen.of(other, scope.around.work)
    return [value for value in data if value not in held]


def _distinct(scope: Scope, data: Values, _: tuple[Tree, ...]) -> Values:
    return distinct(data, scope.around.work)


def _is_distinct(scope: Scope, data: Values, _: tuple[Tree, ...]) -> Values:
    return [len(distinct(data, scope.around.work)) == len(data)]


def _sort(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
    """Sort by what each parameter gives, or by the values; a minus before a parameter turns the order round."""
    turned = [(-1, tree.operand) if isinstance(tree, Sign) and tree.sign == "-" else (1, tree) for tree in trees]
    rows = [
        ([one(scope.at(value, number, tree)) for _, tree in turned] if turned else [system(value)], value)
        for number, value in enumerate(data)
    ]

    def order(left: tuple[Values, object], right: tuple[Values, object]) -> int:
        scope.around.work.spend()
        for number, (first, second) in enumerate(zip(left[0], right[0], strict=True)):
            # What is missing comes first, whichever the order.
            if first is None or second is None:
                found = (first is not None) - (second is not None)
            else:
                found = (compare(first, second) or 0) * (turned[number][0] if turned else 1)
            if found:
                return found
        return 0

    return [value for _, value in sorted(rows, key=cmp_to_key(order))]


# --- Deciding, adding up ---------------------------------------------------------------------------------------------


def _iif(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
    if len(data) > 1:
        raise FormulaFailed(f"iif() on {len(data)} values")
    inner = Scope(data, scope.around, scope.index, scope.total)
    if truth(inner.values(trees[0])):
        return inner.values(trees[1])
    return inner.values(trees[2]) if len(trees) > 2 else []


def _coalesce(scope: Scope, _: Values, trees: tuple[Tree, ...]) -> Values:
    return next((found for tree in trees if (found := scope.values(tree))), [])


def _aggregate(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
    total = scope.values(trees[1]) if len(trees) > 1 else []
    for number, value in enumerate(data):
        total = scope.adding(value, number, total, trees[0])
    return total


def _sum(data: Values) -> Any:
    total: Any = 0
    for number, value in enumerate(data):
        amount = system(value)
        if isinstance(amount, str | Moment | Node):
            raise FormulaFailed("no number where one is due")
        total = plus(total, amount) if number else plus(amount, 0) if isinstance(amount, int | Decimal) else amount
        if total is None:
            return None
    return total


def _average(data: Values) -> object:
    total = _sum(data)
    return None if not data or total is None else quotient(total, len(data))


def _extreme(sign: int) -> Callable[[Values], object]:
    def find(data: Values) -> object:
        best = data[:1]
        for value in data[1:]:
            if (compare(value, best[0]) or 0) * sign > 0:
                best = [value]
        return best

    return find


# --- Types -----------------------------------------------------------------------------------------------------------


def type_name(tree: Tree) -> str:
    """Return the type that a parameter names; "" where it is no name."""
    match tree:
        case Name(name):
            return name
        case Path(Name(space), (Name(name),)):
            return f"{space}.{name}"
    return ""


def check_type(name: str) -> str:
    """Return the name of a type.

    Raises:
        FormulaFailed: There is none of that name.
    """
    space, _, bare = name.rpartition(".")
    # HL7's suite asks for System.Patient: a type of the other namespace is no error, and nothing is of it.
    if space not in {"", "FHIR", "System"} or (bare not in SYSTEM_TYPES and bare not in r4_types()):
        raise FormulaFailed("no type where one is due")
    return name


def is_of(data: Values, name: str) -> Values:
    """Say whether the only value is of a type."""
    check_type(name)
    one(data)
    return [is_type(data[0], name)] if data else []


def as_type(data: Values, name: str) -> Values:
    """Return the only value if it is of a type."""
    one(data)
    return of_type(data, name)


def of_type(data: Values, name: str) -> Values:
    """Return the values that are of a type."""
    check_type(name)
    return [value for value in data if is_type(value, name, exactly=True)]


def _typed(work_out: Callable[[Values, str], Values]) -> Function:
    return Function(lambda scope, data, trees: work_out(data, type_name(trees[0])), 1, 1)


def _type(data: Values) -> Values:
    found = (type_of(value) for value in data)
    return [Node.of({"namespace": space, "name": name, "baseType": base_of(space, name)}) for space, name in found]


# --- The clock -------------------------------------------------------------------------------------------------------


def _clock(kind: Any, start: int, end: int | None) -> Function:
    def run(scope: Scope, _: Values, __: tuple[Tree, ...]) -> Values:
        moment = read(kind, scope.around.now[start:end])
        if moment is None:
            raise FormulaFailed("the time is not known")
        return [moment]

    return Function(run)


def _search(find: Callable[[Any, str], Iterable[Any]], kind: str) -> Function:
    """Return a function that finds items by their linkId."""

    def run(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
        link_id = scope.values(trees[0])[0]
        held = (value for value in data if isinstance(value, Node))
        return [Node.of(item, kind, value.root) for value in held for item in find(value.value, link_id)]

    return Function(run, 1, 1)


# What `reads.quick` puts in the place of searches; authors cannot call it.
_INTERNAL: Mapping[str, Function] = {
    FIND_ANSWERED: _search(elements.items_below, "QuestionnaireResponse.item"),
    FIND_ASKED: _search(elements.items_below, "Questionnaire.item"),
    FIND_OUTERMOST: _search(elements.outermost_items, "QuestionnaireResponse.item"),
}

KNOWN: Mapping[str, Function] = {
    **{name: _scalar(scalar) for name, scalar in SCALARS.items()},
    "empty": _plain(lambda data: not data),
    "exists": Function(_exists, 0, 1),
    "not": _plain(_not),
    "all": Function(_all, 1, 1),
    "allTrue": _plain(lambda data: all(_truths(data))),
    "anyTrue": _plain(lambda data: any(_truths(data))),
    "allFalse": _plain(lambda data: not any(_truths(data))),
    "anyFalse": _plain(lambda data: not all(_truths(data))),
    "subsetOf": _with_other(_inside),
    "supersetOf": _with_other(lambda scope, data, other: _inside(scope, other, data)),
    "count": _plain(len),
    "distinct": Function(_distinct),
    "isDistinct": Function(_is_distinct),
    "where": Function(_where, 1, 1),
    "select": Function(_select, 1, 1),
    "repeat": Function(_repeat, 1, 1),
    "single": _plain(_single),
    "first": _plain(lambda data: data[:1]),
    "last": _plain(lambda data: data[-1:]),
    "tail": _plain(lambda data: data[1:]),
    "skip": Function(_skip, 1, 1),
    "take": Function(_take, 1, 1),
    "intersect": _with_other(_intersect),
    "exclude": _with_other(_exclude),
    "union": _with_other(lambda scope, data, other: distinct([*data, *other], scope.around.work)),
    "combine": _with_other(lambda scope, data, other: [*data, *other]),
    "sort": Function(_sort, 0, 9),
    "iif": Function(_iif, 2, 3),
    "coalesce": Function(_coalesce, 1, 99),
    "aggregate": Function(_aggregate, 1, 2),
    "sum": _plain(_sum),
    "avg": _plain(_average),
    "min": _plain(_extreme(-1)),
    "max": _plain(_extreme(1)),
    "join": Function(
        lambda scope, data, trees: [
            joined(
                [str(of_kind(system(value), str)) for value in data],
                of_kind(one(scope.values(trees[0])), str) or "" if trees else "",
            )
        ],
        0,
        1,
    ),
    "is": _typed(is_of),
    "as": _typed(as_type),
    "ofType": _typed(of_type),
    "type": _plain(_type),
    "children": _plain(elements.children),
    "descendants": Function(elements.descendants),
    "extension": Function(elements.extension, 1, 1),
    "hasValue": _plain(elements.has_value),
    "getValue": _plain(lambda data: data if elements.has_value(data) else []),
    "resolve": Function(elements.resolve),
    "conformsTo": Function(elements.conforms_to, 1, 1),
    # It only writes a log.
    "trace": Function(lambda scope, data, trees: data, 1, 2),
    "now": _clock("DateTime", 0, None),
    "today": _clock("Date", 0, 10),
    "timeOfDay": _clock("Time", 11, 19),
    "answers": _plain(elements.answers),
    "ordinal": _plain(elements.scores),
    "weight": _plain(elements.scores),
}
FUNCTIONS: Mapping[str, Function] = {**KNOWN, **_INTERNAL}


def call(function: Call, scope: Scope, data: Values) -> Values:
    """Evaluate a function on `data`."""
    return FUNCTIONS[function.name].run(scope, data, function.parameters)

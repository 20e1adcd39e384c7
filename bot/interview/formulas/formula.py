"""A FHIRPath formula of a form: its syntax tree, what it reads, and its errors. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any


class BadFormula(ValueError):
    """A text that is no FHIRPath, or uses a function that is not known here. The message says what."""


class FormulaFailed(ValueError):
    """A formula that could not be evaluated on these answers. The message quotes none of them."""


# Names after "%" that stand for an address of HL7, whatever follows: %`ext-patient-birthTime`.
FAMILIES: Mapping[str, str] = {
    "vs-": "http://hl7.org/fhir/ValueSet/",
    "ext-": "http://hl7.org/fhir/StructureDefinition/",
}


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is written in the formula; None for the empty collection."""

    value: object


@dataclass(frozen=True, slots=True)
class Name:
    """A property, or a type at the beginning of a path."""

    name: str


@dataclass(frozen=True, slots=True)
class Special:
    """``$this``, ``$index`` or ``$total``."""

    name: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A name after ``%``."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its parameters, which stand unevaluated."""

    name: str
    parameters: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Index:
    """What stands in brackets after a path."""

    inner: Tree


@dataclass(frozen=True, slots=True)
class Path:
    """``root.link.link[index]``; the root is no path itself."""

    root: Tree
    links: tuple[Name | Call | Special | Index, ...]


@dataclass(frozen=True, slots=True)
class Sign:
    """``+`` or ``-`` before an operand."""

    sign: str
    operand: Tree


@dataclass(frozen=True, slots=True)
class Operation:
    """Operands with operators between them that bind alike, from left to right: sums of answers are long."""

    first: Tree
    rest: tuple[tuple[str, Tree], ...]


@dataclass(frozen=True, slots=True)
class TypeTest:
    """``operand is type`` or ``operand as type``."""

    sign: str
    operand: Tree
    type: str


Tree = Literal | Name | Special | Variable | Call | Path | Sign | Operation | TypeTest


@dataclass(frozen=True, slots=True)
class Reads:
    """What a formula looks at.

    Attributes:
        variables: Names after ``%``.
        functions: Functions that it calls.
        link_ids: Items of the response that it asks for by name.
        everything: Whether it looks at answers that no linkId names.
        own: Whether it looks at the answers of the item it stands at.
        inside: Whether it looks at what is inside that item.
    """

    variables: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    link_ids: frozenset[str] = frozenset()
    everything: bool = False
    own: bool = False
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Formula:
    """A FHIRPath expression, parsed."""

    source: str
    reads: Reads = field(compare=False)
    tree: Tree = field(compare=False, repr=False)


class Scored(dict[str, Any]):
    """A Coding that remembers what its option counts; otherwise it is the Coding."""

    score: Decimal
    marks: tuple[Mapping[str, Any], ...]  # the extensions of the option that say so, which an answer does not repeat

    def __init__(self, coding: Mapping[str, Any], score: Decimal, marks: Iterable[Mapping[str, Any]] = ()) -> None:
        super().__init__(coding)
        self.score = score
        self.marks = tuple(marks)


# Before a dot at the beginning, the name of the resource that all answers stand in: `nodes.whole` resolves it.
RESPONSE = "QuestionnaireResponse"

# Functions whose parameter is evaluated on each element of what stands before the dot.
_ELEMENTWISE = frozenset({"where", "select", "exists", "all", "repeat", "aggregate", "sort"})
_DEEP = frozenset({"item", "children", "descendants", "repeat", "answers"})
# Functions whose parameter is the name of a type.
TYPED = frozenset({"ofType", "is", "as"})

Link = Name | Call | Special | Index


def calls(tree: Tree | Index) -> Iterator[Call]:
    """Yield all functions that a formula calls."""
    match tree:
        case Call(_, parameters):
            yield tree
            for parameter in parameters:
                yield from calls(parameter)
        case Path(root, links):
            for part in (root, *links):
                yield from calls(part)
        case Operation(first, rest):
            for part in (first, *(operand for _, operand in rest)):
                yield from calls(part)
        case Sign(_, inner) | TypeTest(_, inner, _) | Index(inner):
            yield from calls(inner)


def reads_of(tree: Tree) -> Reads:
    """Return what the formula reads."""
    found: dict[str, set[str]] = defaultdict(set)
    for what, name in _reads(tree, own_focus=True):
        found[what].add(name)
    return Reads(
        variables=frozenset(found["variables"]),
        functions=frozenset(found["functions"]),
        link_ids=frozenset(found["link_ids"]),
        everything="everything" in found,
        own="own" in found,
        inside="inside" in found,
    )


def _reads(tree: Tree, *, own_focus: bool) -> Iterator[tuple[str, str]]:
    """Yield what `tree` reads, by the field of `Reads`; `own_focus`: names in it start at the item of the formula."""
    root, links = (tree.root, tree.links) if isinstance(tree, Path) else (tree, ())
    yield from _starts(root, links, own_focus=own_focus)
    for link in (root, *links):
        if isinstance(link, Call):
            yield "functions", link.name
            inner = own_focus and link.name not in _ELEMENTWISE
            for parameter in link.parameters if link.name not in TYPED else ():
                yield from _reads(parameter, own_focus=inner)
        elif isinstance(link, Index):
            yield from _reads(link.inner, own_focus=own_focus)


def _starts(root: Tree, links: tuple[Link, ...], *, own_focus: bool) -> Iterator[tuple[str, str]]:
    """Yield what a path reads by what stands at its beginning."""
    match root:
        case Variable(name) if not name.startswith(tuple(FAMILIES)):
            yield "variables", name
            if name == "context":
                yield from (("own", ""), ("inside", ""))
            elif name in {"resource", "rootResource"}:
                yield from _of_response(links)
        case Name(name) if name == RESPONSE:
            yield from _of_response(links)
        case Name() | Call() | Special():
            if own_focus:
                yield "own", ""
                if any(_name(each) in _DEEP for each in (root, *links)):
                    yield "inside", ""
        case Operation(first, rest):
            for operand in (first, *(each for _, each in rest)):
                yield from _reads(operand, own_focus=own_focus)
        case Sign(_, operand) | TypeTest(_, operand, _):
            yield from _reads(operand, own_focus=own_focus)


def _of_response(links: tuple[Link, ...]) -> Iterator[tuple[str, str]]:
    """Yield what a path from the whole response reads: named items, or everything."""
    named = next((ids for link in links if (ids := _asked_for(link)) is not None), None)
    yield from (("link_ids", each) for each in named) if named is not None else (("everything", ""),)


def _name(link: Tree | Index) -> str:
    return link.name if isinstance(link, Name | Call) else ""


def _asked_for(link: Link) -> frozenset[str] | None:
    """Return the linkIds to which a ``where(...)`` narrows; None when it does not."""
    match link:
        case Call("where", (criterion, *_)):
            return _named(criterion)
    return None


def _named(criterion: Tree) -> frozenset[str] | None:
    if not isinstance(criterion, Operation):
        return None
    signs = {sign for sign, _ in criterion.rest}
    operands = [criterion.first, *(operand for _, operand in criterion.rest)]
    if signs == {"and"}:
        return next((ids for operand in operands if (ids := _named(operand)) is not None), None)
    if signs == {"or"}:
        return _all_of(_named(operand) for operand in operands)
    if len(operands) > 2 or not signs <= {"=", "in"}:
        return None
    left, right = operands
    if _is_link_id(left):
        return _literals(right)
    return _literals(left) if _is_link_id(right) and signs == {"="} else None


def _all_of(found: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    parts = list(found)
    known = [part for part in parts if part is not None]
    return frozenset().union(*known) if len(known) == len(parts) else None


def _is_link_id(tree: Tree) -> bool:
    return tree in (Name("linkId"), Path(Special("$this"), (Name("linkId"),)))


def _literals(tree: Tree) -> frozenset[str] | None:
    match tree:
        case Literal(str(text)):
            return frozenset({text})
        case Operation(first, (("|", _), *_) as rest):
            return _all_of(_literals(operand) for operand in (first, *(each for _, each in rest)))
    return None


FIND_ANSWERED, FIND_ASKED, FIND_OUTERMOST = "klartextItems", "klartextQuestions", "klartextOutermost"
_SEARCHES = {
    (variable, link): fast
    for link, fast in ((Call("descendants", ()), FIND_ANSWERED), (Name("item"), FIND_OUTERMOST))
    for variable in ("resource", "rootResource")
} | {("questionnaire", Call("repeat", (Name("item"),))): FIND_ASKED}


def quick(tree: Tree) -> Tree:
    """Return the tree with its searches for one linkId replaced."""
    match tree:
        case Path(root, links):
            links = tuple(_quick_link(link) for link in links)
            if isinstance(root, Variable) and len(links) > 1 and (sought := _one_link_id(links[1])) is not None:
                fast = _SEARCHES.get((root.name, links[0])) if isinstance(links[0], Name | Call) else None
                links = (Call(fast, (Literal(sought),)), *links[2:]) if fast else links
            return Path(quick(root), links)
        case Call():
            return replace(tree, parameters=tuple(quick(each) for each in tree.parameters))
        case Operation(first, rest):
            return Operation(quick(first), tuple((sign, quick(operand)) for sign, operand in rest))
        case Sign() | TypeTest():
            return replace(tree, operand=quick(tree.operand))
    return tree


def _quick_link(link: Link) -> Link:
    if isinstance(link, Call):
        return replace(link, parameters=tuple(quick(each) for each in link.parameters))
    return Index(quick(link.inner)) if isinstance(link, Index) else link


def _one_link_id(link: Link) -> str | None:
    """Return the literal of a plain ``where(linkId = 'x')``; None for any other link."""
    match link:
        case Call("where", (Operation(left, (("=", right),)),)):
            for one, other in ((left, right), (right, left)):
                if _is_link_id(one) and isinstance(other, Literal) and isinstance(other.value, str):
                    return other.value
    return None

"""A FHIRPath formula of a form, and which answers it reads. Pure.

Wrong only on the safe side: what is not clearly bound to named items counts as reading everything.

``%resource.descendants().where(linkId = 'x')`` tests every string of the response, ``%questionnaire.repeat(item)``
compares whole items, ``%resource.item.where(linkId = 'x')`` evaluates its criterion on each. A walk that only looks at
linkIds finds the same items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any


class BadFormula(ValueError):
    """A text that is no FHIRPath, or uses a function that is not known here. The message says what."""


class FormulaFailed(ValueError):
    """A formula that could not be evaluated on these answers."""


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
    tree: Any = field(compare=False, repr=False)  # the library's own form


class Scored(dict[str, Any]):
    """A Coding that remembers what its option counts; otherwise it is the Coding."""

    score: Decimal

    def __init__(self, coding: Mapping[str, Any], score: Decimal) -> None:
        super().__init__(coding)
        self.score = score


# Functions whose parameter is evaluated on each element of what stands before the dot.
_ELEMENTWISE = frozenset({"where", "select", "exists", "all", "repeat", "aggregate"})
_WRAPPERS = frozenset({"TermExpression", "InvocationTerm", "LiteralTerm", "ParenthesizedTerm", "ExternalConstantTerm"})
_DEEP = frozenset({"item", "children", "descendants", "repeat", "answers"})

Node = dict[str, Any]


def reads_of(tree: Node) -> Reads:
    """Return what the formula reads."""
    found: dict[str, set[str]] = defaultdict(set)
    for child in children(tree):
        for what, name in _reads(child, own_focus=True):
            found[what].add(name)
    return Reads(
        variables=frozenset(found["variables"]),
        functions=frozenset(found["functions"]),
        link_ids=frozenset(found["link_ids"]),
        everything="everything" in found,
        own="own" in found,
        inside="inside" in found,
    )


def _reads(node: Node, *, own_focus: bool) -> Iterator[tuple[str, str]]:
    """Yield what `node` reads, by the field of `Reads`; `own_focus`: names in it start at the item of the formula."""
    root, links = chain(node)
    kind = root["type"]
    if kind == "ExternalConstant":
        yield from _variable(name_of(root), links)
    elif kind in {"ThisInvocation", "MemberInvocation", "FunctionInvocation"}:
        if own_focus:
            yield "own", ""
        if own_focus and kind != "ThisInvocation" and any(link_name(each) in _DEEP for each in (root, *links)):
            yield "inside", ""
    else:
        for child in children(root):
            yield from _reads(child, own_focus=own_focus)
    for each in (root, *links):
        if each["type"] == "FunctionInvocation":
            name = function_name(each)
            yield "functions", name
            # A type name is no path.
            for parameter in parameters(each) if name not in {"ofType", "is", "as"} else ():
                yield from _reads(parameter, own_focus=own_focus and name not in _ELEMENTWISE)
        elif each["type"] == "Index":
            yield from _reads(each["inner"], own_focus=own_focus)


def _variable(name: str, links: list[Node]) -> Iterator[tuple[str, str]]:
    yield "variables", name
    if name == "context":
        yield from (("own", ""), ("inside", ""))
    elif name in {"resource", "rootResource"}:
        named = next((ids for link in links if (ids := _asked_for(link)) is not None), None)
        yield from (("link_ids", each) for each in named) if named is not None else (("everything", ""),)


def children(node: Node) -> list[Node]:
    return [child for child in node.get("children", []) if child.get("type")]


def bare(node: Node) -> Node:
    """Take off wrappers that only hold one other node."""
    while node["type"] in _WRAPPERS and len(children(node)) == 1:
        node = children(node)[0]
    return node


def chain(node: Node) -> tuple[Node, list[Node]]:
    """Split ``a.b(c).d[0]`` into its root and the links after it."""
    links: list[Node] = []
    node = bare(node)
    while node["type"] in {"InvocationExpression", "IndexerExpression"}:
        left, right = children(node)
        indexed = node["type"] == "IndexerExpression"
        links.append({"type": "Index", "inner": right} if indexed else right)
        node = bare(left)
    return node, links[::-1]


def name_of(node: Node) -> str:
    """Return the identifier in a node, without its quotes."""
    found = next(iter(children(node)), node)
    return str(found.get("text", "")).strip("`'\"")


def function_name(node: Node) -> str:
    return name_of(children(node)[0])


def link_name(node: Node) -> str:
    """Return the name of a property or function after a dot."""
    return function_name(node) if node["type"] == "FunctionInvocation" else name_of(node)


def parameters(node: Node) -> Iterator[Node]:
    for part in children(children(node)[0]):
        if part["type"] == "ParamList":
            yield from children(part)


def _asked_for(link: Node) -> frozenset[str] | None:
    """Return the linkIds to which a ``where(...)`` narrows; None when it does not."""
    if link["type"] != "FunctionInvocation" or function_name(link) != "where":
        return None
    return next((_named(parameter) for parameter in parameters(link)), None)


def linkid_literal(link: Node) -> Node | None:
    """Return the literal 'x' of a plain ``where(linkId = 'x')``; None for any other link."""
    if link["type"] != "FunctionInvocation" or function_name(link) != "where":
        return None
    criterion = bare(next(parameters(link), link))
    if criterion["type"] != "EqualityExpression" or criterion["terminalNodeText"][:1] != ["="]:
        return None
    left, right = children(criterion)
    plain = bare(right)["type"] == "StringLiteral" and _compared(left, right, ["="]) is not None
    return right if plain else None


def _named(node: Node) -> frozenset[str] | None:
    node = bare(node)
    if node["type"] not in {"AndExpression", "OrExpression", "EqualityExpression", "MembershipExpression"}:
        return None
    left, right = children(node)
    sign = node["terminalNodeText"][:1]
    if node["type"] in {"AndExpression", "OrExpression"}:
        one, other = _named(left), _named(right)
        if sign == ["and"]:
            return one if one is not None else other
        return one | other if sign == ["or"] and one is not None and other is not None else None
    return _compared(left, right, sign) or _compared(right, left, sign)


def _compared(left: Node, right: Node, sign: list[str]) -> frozenset[str] | None:
    root, links = chain(left)
    last = links[-1] if links else root
    if last["type"] != "MemberInvocation" or name_of(last) != "linkId":
        return None
    if len(links) > 1 or (links and root["type"] != "ThisInvocation"):
        return None
    return _literals(right) if sign in (["="], ["in"]) else None


def _literals(node: Node) -> frozenset[str] | None:
    node = bare(node)
    if node["type"] == "StringLiteral":
        return frozenset({str(node["text"])[1:-1].replace("\\'", "'").replace("\\\\", "\\")})
    if node["type"] != "UnionExpression":
        return None
    parts = [_literals(child) for child in children(node)]
    return frozenset().union(*(part for part in parts if part)) if all(parts) else None


FIND_ANSWERED, FIND_ASKED, FIND_OUTERMOST = "klartextItems", "klartextQuestions", "klartextOutermost"
# What may come before the where(): the variable, the property or function on it, and the function's parameter.
_SEARCHES = {
    ("resource", "descendants", ""): FIND_ANSWERED,
    ("rootResource", "descendants", ""): FIND_ANSWERED,
    ("resource", "item", ""): FIND_OUTERMOST,
    ("rootResource", "item", ""): FIND_OUTERMOST,
    ("questionnaire", "repeat", "item"): FIND_ASKED,
}


def rewrite(tree: Node) -> Node:
    """Replace searches for one linkId, in place."""
    for child in children(tree):
        rewrite(child)
    if tree.get("type") == "InvocationExpression":
        _rewrite_search(tree)
    return tree


def _rewrite_search(node: Node) -> None:
    left, where = children(node)
    literal = linkid_literal(where)
    root, links = chain(left)
    if literal is None or root["type"] != "ExternalConstant" or len(links) != 1:
        return
    called = links[0]["type"] == "FunctionInvocation"
    parameter = "".join(name_of(bare(each)) for each in parameters(links[0])) if called else ""
    fast = _SEARCHES.get((name_of(root), link_name(links[0]), parameter))
    if fast is not None:
        identifier = {"type": "Identifier", "terminalNodeText": [fast], "text": fast}
        given = {"type": "ParamList", "terminalNodeText": [], "children": [literal]}
        call = {"type": "Functn", "terminalNodeText": ["(", ")"], "children": [identifier, given]}
        found = {"type": "FunctionInvocation", "terminalNodeText": [], "children": [call]}
        node["children"] = [_variable_of(left), found]


def _variable_of(left: Node) -> Node:
    """Return the node of the variable that a one-link chain starts from."""
    while left["type"] != "InvocationExpression":
        left = children(left)[0]
    return children(left)[0]


def outermost_items(data: Sequence[Any], link_id: str) -> Iterator[Any]:
    """Yield the items with a linkId that stand directly in resources."""
    for part in data:
        for item in part.get("item", ()) if isinstance(part, Mapping) else ():
            if isinstance(item, Mapping) and item.get("linkId") == link_id:
                yield item


def find_items(data: Sequence[Any], link_id: str) -> Iterator[Any]:
    """Yield the items with a linkId, in resources or items, through answers too."""
    for part in data:
        if isinstance(part, Mapping):
            for item in part.get("item", ()):
                if isinstance(item, Mapping):
                    if item.get("linkId") == link_id:
                        yield item
                    yield from find_items([item, *item.get("answer", ())], link_id)

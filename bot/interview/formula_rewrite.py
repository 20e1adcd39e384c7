"""Make the commonest search of forms fast: items by linkId, looked up instead of sifted. Pure.

``%resource.descendants().where(linkId = 'x')`` tests every string of the response, ``%questionnaire.repeat(item)``
compares whole items, ``%resource.item.where(linkId = 'x')`` evaluates its criterion on each. A walk that only looks at
linkIds finds the same items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.interview.formula_reads import Node, bare, chain, children, link_name, linkid_literal, name_of, parameters

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

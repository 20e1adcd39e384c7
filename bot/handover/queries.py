"""Searches that a form words with answers: what patients said stands in them as values, and as nothing else. Pure.

A condition such as ``'identifier=' + answer.value`` is the query of a URL. Whoever answers ``A 77&_id=7`` would make it
ask for another record than the form means. So it is worked out twice: as it is, and with every answer escaped. Only
where both say the same does it go out, escaped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote, unquote

from bot.handover.spots import CannotFill, Scope, Typed, Variable
from bot.interview.formulas.evaluator import CONSTANTS
from bot.interview.formulas.nodes import Node
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import as_object

# What has a meaning in the value of a search parameter even when the URL is decoded (R4, search, 3.1.1.4.0.1).
_SPECIAL = re.compile(r"([\\$,|])")
_PARAMETER = re.compile(r"[A-Za-z_][\w.:\[\]\-]*=(.+)", re.DOTALL)
# What a query is made of: the form may write it. A plus is none of it: it would arrive as a blank.
_OF_QUERIES = "%&=|,$:;/?@!'()*[]~\\"
# What formulas compare with. None of it is a patient's.
_COMPARED = frozenset({"system", "resourceType", "linkId", "url", "questionnaire"})
_MOMENTS = frozenset({"date", "dateTime", "time", "instant"})
_MOMENT_VALUES = frozenset({"valueDate", "valueDateTime", "valueTime"})
_RESPONSE = frozenset({"resource", "rootResource"})
_FORM = frozenset({*CONSTANTS, "questionnaire", "qitem"})


def search_url(plain: str, escaped: str, where: str) -> str:
    """Return a URL ``Type?query`` in which answers are values only.

    Args:
        plain: As the form words it.
        escaped: The same with escaped answers.
        where: What it is called in errors.

    Raises:
        CannotFill: It is none, or an answer would change what it asks for.
    """
    (kind, _, asked), (same, _, found) = plain.partition("?"), escaped.partition("?")
    if kind != same:
        raise CannotFill(f"{where}: what it asks for hangs on the characters of an answer")
    return f"{kind}?{query(asked, found, where)}"


def query(plain: str, escaped: str, where: str) -> str:
    """Return the query of a condition, as `search_url` does; empty where there is none."""
    if not plain:
        return ""
    if _meaning(escaped) != _meaning(plain):
        raise CannotFill(f"{where}: what it asks for hangs on the characters of an answer")
    for each in escaped.split("&"):
        parameter = _PARAMETER.fullmatch(each)
        # A system without a code finds everything that has one of that system.
        if parameter is None or parameter[1].endswith("|"):
            raise CannotFill(f"{where}: not a search (name=value)")
    return quote(escaped, safe=_OF_QUERIES)


def with_escaped_answers(scope: Scope) -> Scope:
    """Return the same place with every text in answers, and in what the surroundings handed in, as a query holds it."""
    names = {name: value if name in _FORM else _escaped(value, name) for name, value in scope.names.items()}
    return Scope(_escaped(scope.focus, "resource"), names, scope.now)


def _escaped(value: object, name: str) -> object:
    match value:
        case Typed():
            return Typed(as_object(_in_json(dict(value.value), given=False)), value.kind)
        case Variable():
            return Variable(value.source, with_escaped_answers(value.scope))
        case Node(type=kind) if kind not in _MOMENTS:
            is_item = isinstance(value.value, Mapping) and "linkId" in value.value
            is_resource = isinstance(value.value, Mapping) and "resourceType" in value.value
            return replace(value, value=_in_json(value.value, given=not is_item and not is_resource))
        case Mapping():
            return _in_json(dict(value), given=name not in _RESPONSE)
        case str():
            return _in_query(value)
    return value


def _in_json(value: JsonValue, *, given: bool) -> JsonValue:
    """Return JSON with its texts escaped, where they are answers (`given`)."""
    if isinstance(value, str):
        return _in_query(value) if given else value
    if isinstance(value, list):
        return [_in_json(each, given=given) for each in value]
    if not isinstance(value, Mapping):
        return value

    def part(name: str, inner: JsonValue) -> JsonValue:
        if name in _COMPARED or name in _MOMENT_VALUES:
            return inner
        # Below an answer there are items again, whose linkIds and texts are the form's.
        return _in_json(inner, given=name != "item" and (given or name.startswith("value")))

    return {name: part(name, inner) for name, inner in value.items()}


def _in_query(text: str) -> str:
    return quote(_SPECIAL.sub(r"\\\1", text), safe="")


def _meaning(found: str) -> str:
    return unquote(found).replace("\\", "")

"""Fill one template of template-based extraction: contexts, values, and what falls away where there is none. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.fhir_export.extraction import TEMPLATE_CONTEXT, TEMPLATE_VALUE
from bot.fhir_export.identity import Json
from bot.interview.answer import JsonValue
from bot.interview.expressions import compile_formula
from bot.interview.fhir_json import JsonObject, as_object, extension_value, objects, string
from bot.interview.formula import BadFormula, FormulaFailed

_FORMULAS = frozenset({TEMPLATE_CONTEXT, TEMPLATE_VALUE})


class CannotFill(ValueError):
    """A template that cannot be filled with these answers. The message names the place and quotes no answer."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What the formulas of a template see.

    Attributes:
        focus: What they stand at: JSON, or the library's typed node.
        names: Values after ``%``.
        now: The moment of ``now()``, as a FHIR dateTime with time zone.
    """

    focus: object
    names: Mapping[str, object]
    now: str

    def values(self, source: str, where: str) -> list[object]:
        """Evaluate a formula to typed values.

        Raises:
            CannotFill: It cannot be evaluated.
        """
        from bot.interview.fhirpath import run

        try:
            return run(compile_formula(source).tree, self.focus, self.names, self.now)
        except (BadFormula, FormulaFailed) as error:
            raise CannotFill(f"{where}: the formula {source[:80]!r} cannot be evaluated ({error})") from None

    def plain(self, source: str, where: str) -> list[JsonValue]:
        """Evaluate a formula to JSON."""
        from bot.interview.fhirpath import plain

        return plain(self.values(source, where))

    def one(self, source: str, where: str) -> str:
        """Evaluate a formula to one text; empty when it gives nothing."""
        found = self.plain(source, where)
        if len(found) > 1:
            raise CannotFill(f"{where}: {len(found)} values for one place")
        return str(found[0]) if found else ""


def fill(template: JsonObject, scope: Scope, where: str) -> list[Json]:
    """Return what a template becomes: nothing where its context is empty, several where that has several values."""
    return [made for made in _fill_object(template, scope, where) if isinstance(made, dict)]


def _fill_object(element: JsonObject, scope: Scope, where: str) -> list[JsonValue]:
    context = _formula(element, TEMPLATE_CONTEXT, where)
    if context is None:
        return _fill_here(element, scope, where)
    source, name = context
    found: list[JsonValue] = []
    for focus in scope.values(source, where):
        names = {**scope.names, name: focus} if name else scope.names
        found += _fill_here(element, replace(scope, focus=focus, names=names), where)
    return found


def _fill_here(element: JsonObject, scope: Scope, where: str) -> list[JsonValue]:
    value = _formula(element, TEMPLATE_VALUE, where)
    if value is not None:
        return scope.plain(value[0], where)
    made: Json = {}
    for name in dict.fromkeys(key.removeprefix("_") for key in element):
        _fill_property(element, name, scope, made, f"{where}.{name}")
    return [made] if made else []


def _fill_property(element: JsonObject, name: str, scope: Scope, made: Json, where: str) -> None:
    """Fill a property, a primitive together with the companion that holds its extensions."""
    given, companion = element.get(name), element.get("_" + name)
    if isinstance(given, list) or isinstance(companion, list):
        if found := _fill_list(given, companion, scope, where):
            made[name] = found
        return
    if isinstance(companion, dict):
        values, rest = _fill_primitive(given, companion, scope, where)
        if rest:
            made["_" + name] = rest
    elif isinstance(given, dict):
        values = _fill_object(given, scope, where)
    else:
        values = [given]
    if len(values) > 1:
        raise CannotFill(f"{where}: {len(values)} values for one place")
    if values:
        made[name] = values[0]


def _fill_list(given: JsonValue, companion: JsonValue, scope: Scope, where: str) -> list[JsonValue]:
    values = given if isinstance(given, list) else []
    companions = companion if isinstance(companion, list) else []
    found: list[JsonValue] = []
    for number in range(max(len(values), len(companions))):
        value = values[number] if number < len(values) else None
        beside = companions[number] if number < len(companions) else None
        if isinstance(value, dict):
            if value.get("url") not in _FORMULAS:
                found += _fill_object(value, scope, f"{where}[{number}]")
        elif isinstance(beside, dict):
            found += _fill_primitive(value, beside, scope, f"{where}[{number}]")[0]
        elif value is not None:
            found.append(value)
    return found


def _fill_primitive(
    given: JsonValue, companion: JsonObject, scope: Scope, where: str
) -> tuple[Sequence[JsonValue], Json]:
    """Return the values of a primitive, and what its companion holds besides the formulas."""
    here = objects(companion, "extension")
    rest: Json = {name: value for name, value in companion.items() if name != "extension"}
    if kept := [dict(each) for each in here if each.get("url") not in _FORMULAS]:
        rest["extension"] = [*kept]
    formulas = [dict(each) for each in here if each.get("url") in _FORMULAS]
    if not formulas:
        return ([given] if given is not None else []), rest
    only: Json = {"extension": [*formulas]}
    if _formula(only, TEMPLATE_VALUE, where) is None:
        # A context alone: the primitive stays as often as the context has values.
        context = _formula(only, TEMPLATE_CONTEXT, where)
        return [given for _ in scope.values(context[0] if context else "{}", where) if given is not None], rest
    return _fill_object(only, scope, where), rest


def _formula(element: JsonObject, url: str, where: str) -> tuple[str, str] | None:
    """Return the formula that an element has under `url`, and the name it gives to what it finds."""
    found = extension_value(element, url)
    if found is None:
        return None
    if isinstance(found.value, str):
        return found.value, ""
    expression = as_object(found.value)
    language = string(expression, "language")
    if found.type != "expression" or language != "text/fhirpath" or not string(expression, "expression"):
        raise CannotFill(f"{where}: an expression in {language[:40] or found.type!r} instead of text/fhirpath")
    return string(expression, "expression"), string(expression, "name")

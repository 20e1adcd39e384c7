"""The one place that speaks to fhirpathpy. Pure: its clock and its printing are replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from antlr4 import CommonTokenStream, InputStream
from antlr4.error.ErrorListener import ErrorListener
from antlr4.Token import Token
from antlr4.tree.Tree import ParseTreeWalker
from fhirpathpy import apply_parsed_path
from fhirpathpy.engine.invocations import invocation_registry
from fhirpathpy.engine.nodes import FP_DateTime, FP_Quantity, FP_Type, ResourceNode, TypeInfo
from fhirpathpy.models import models
from fhirpathpy.parser.ASTPathListener import ASTPathListener
from fhirpathpy.parser.generated.FHIRPathLexer import FHIRPathLexer
from fhirpathpy.parser.generated.FHIRPathParser import FHIRPathParser

from bot.interview.answer import JsonValue
from bot.interview.fhirpath_functions import functions
from bot.interview.fhirpath_limits import repeat
from bot.interview.formula import BadFormula, FormulaFailed

_R4: Any = models["r4"]
# The library sets this on first use of `is`; set from the start, results do not depend on what ran before.
TypeInfo.model = _R4
# The library's own has no end. Functions handed in with a formula get bare JSON, this one has to pass on types too.
_REPEAT: Any = {"fn": repeat, "arity": {1: ["Expr"]}}
invocation_registry["repeat"] = _REPEAT
_KNOWN = frozenset(invocation_registry) | frozenset(functions(""))


def known_functions() -> frozenset[str]:
    """Return the names of all functions that formulas may call."""
    return _KNOWN


class _Strict(ErrorListener):  # type: ignore[misc]
    def syntaxError(self, recognizer: Any, symbol: Any, line: int, column: int, message: str, error: Any) -> None:  # noqa: N802, PLR0913
        raise BadFormula(f"no FHIRPath at line {line}, column {column + 1}")


def parse(source: str) -> Any:
    """Parse all of `source`, or raise `BadFormula`."""
    lexer = FHIRPathLexer(InputStream(source))
    parser = FHIRPathParser(CommonTokenStream(lexer))
    for part in (lexer, parser):
        part.removeErrorListeners()
        part.addErrorListener(_Strict())
    listener: Any = ASTPathListener()  # type: ignore[no-untyped-call]
    try:
        tree = parser.expression()
        if parser.getCurrentToken().type != Token.EOF:
            raise BadFormula(f"no FHIRPath from column {parser.getCurrentToken().column + 1} on")
        ParseTreeWalker().walk(listener, tree)
    except RecursionError:
        raise BadFormula("nested too deep") from None
    return listener.parentStack[0]


def node(value: object, kind: str) -> object:
    """Give JSON the type that FHIRPath needs to resolve ``value`` to ``valueCoding``: an R4 path."""
    return ResourceNode(value, kind)  # type: ignore[no-untyped-call]


def run(tree: Any, focus: object, names: Mapping[str, object], now: str) -> list[object]:
    """Evaluate a parsed formula to typed values, which other formulas can go on from; see `expressions.evaluate`."""
    options = {"userInvocationTable": functions(now), "returnRawData": True}
    try:
        found = apply_parsed_path(focus, tree, {"context": focus, **names}, _R4, options)  # type: ignore[no-untyped-call]
    except Exception as error:
        # The library raises plain Exception, TypeError, KeyError and more for what FHIRPath calls an error.
        raise FormulaFailed(type(error).__name__) from error
    return [value for value in (found if isinstance(found, list) else [found]) if value is not None]


def plain(values: Sequence[object]) -> list[JsonValue]:
    """Return typed values as JSON."""
    return [_plain(value) for value in values]


def _plain(value: Any) -> JsonValue:
    if isinstance(value, ResourceNode):
        return _plain(value.data)
    if isinstance(value, float):
        return Decimal(str(value))
    if isinstance(value, FP_Quantity):
        return {"value": value.value, "code": str(value.unit).strip("'"), "unit": str(value.unit).strip("'")}
    if isinstance(value, FP_DateTime):
        return str(value.asStr)
    if isinstance(value, FP_Type):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_plain(child) for child in value]
    return value  # type: ignore[no-any-return]

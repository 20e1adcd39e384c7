"""FHIRPath formulas: compiled once, and evaluated on the response of a patient. Pure.

The engine is ours (docs/decisions/0012-fhirpath.md): a formula is refused unless all of it is understood, it sees the
caller's clock, and it stops after so much work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bot.interview.formulas.formula import BadFormula, Formula
from bot.interview.formulas.functions import KNOWN
from bot.interview.formulas.interpreter import CONSTANTS, run
from bot.interview.formulas.nodes import Node
from bot.interview.formulas.nodes import as_json as _as_json
from bot.interview.formulas.parser import parse
from bot.interview.formulas.reads import calls, quick, reads_of
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject

MAX_CHARACTERS = 20_000
# What SDC's launch context may hand in without being declared.
STANDARD_LAUNCH = frozenset({"patient", "encounter", "location", "user", "study", "clinical", "practitioner"})

__all__ = ["CONSTANTS", "STANDARD_LAUNCH", "Evaluator", "as_json", "compile_formula", "evaluate", "typed"]


@lru_cache(maxsize=4096)
def compile_formula(source: str) -> Formula:
    """Parse a FHIRPath expression.

    Raises:
        BadFormula: It cannot be parsed to its end, or calls an unknown function or one with too few parameters.
    """
    if len(source) > MAX_CHARACTERS:
        raise BadFormula(f"longer than {MAX_CHARACTERS} characters")
    tree = parse(source)
    try:
        for call in calls(tree):
            function = KNOWN.get(call.name)
            if function is None:
                raise BadFormula(f"the function {call.name[:80]}() is not known here")
            if not function.least <= len(call.parameters) <= function.most:
                raise BadFormula(f"the function {call.name}() does not take {len(call.parameters)} parameters")
        return Formula(source, reads_of(tree), quick(tree))
    except RecursionError:
        raise BadFormula("nested too deep") from None


def evaluate(formula: Formula, focus: object, names: Mapping[str, object], *, now: str) -> list[object]:
    """Evaluate a formula to typed values, which other formulas can go on from; see `Evaluator` for those of a form.

    Args:
        formula: What to evaluate.
        focus: What the formula stands at: JSON, or a value that knows its type (`typed`).
        names: Values after ``%``.
        now: The moment of ``now()`` and ``today()``, as a FHIR dateTime with time zone.

    Raises:
        FormulaFailed: FHIRPath has no result (several values where one is due, values of different kinds are
            compared, ...), or it takes too much work.
    """
    return run(formula.tree, focus, names, now)


def typed(value: object, kind: str) -> object:
    """Give JSON the type that FHIRPath needs to resolve ``value`` to ``valueCoding``: an R4 path."""
    return Node.of(value, kind)


def as_json(values: Sequence[object]) -> list[JsonValue]:
    """Return typed values as JSON."""
    return _as_json(values)


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates the formulas of one Questionnaire on one response, for the interview and for the validator.

    Attributes:
        questionnaire: As JSON.
        response: As JSON; None where only formulas that read no answers are evaluated.
        given: Values after ``%`` that neither of them holds.
        now: As for `evaluate`.
    """

    questionnaire: JsonObject
    response: JsonObject | None
    given: Mapping[str, object]
    now: str

    def values(
        self, formula: Formula, variables: Mapping[str, object], item: JsonObject | None, focus: JsonObject | None
    ) -> list[object]:
        """Evaluate a formula to typed values.

        Args:
            formula: What to evaluate.
            variables: The values of the variables that it reads.
            item: The item of the Questionnaire that it belongs to; None for the form itself.
            focus: The item of the response that it stands at; None for the response itself.

        Raises:
            FormulaFailed: As for `evaluate`.
        """
        whole = self.response and typed(self.response, "QuestionnaireResponse")
        names = {
            **self.given,
            "questionnaire": self.questionnaire,
            "qitem": item and typed(item, "Questionnaire.item"),
            "resource": whole,
            "rootResource": whole,
            **variables,
        }
        at = whole if focus is None else typed(focus, "QuestionnaireResponse.item")
        return evaluate(formula, at, names, now=self.now)

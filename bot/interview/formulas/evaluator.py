"""FHIRPath formulas: compiled once, and evaluated by fhirpathpy on the response of a patient. Pure.

The library parses leniently (it drops what it does not understand), prints traces, reads the clock and raises plain
exceptions; here a formula is refused unless all of it is understood, and evaluated with the caller's clock. It takes a
second to import and most forms have no formulas: so it is imported when the first one is met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bot.interview.formulas.formula import BadFormula, Formula
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject

MAX_CHARACTERS = 20_000
# Names after "%" that every form has; and what SDC's launch context may hand in without being declared.
CONSTANTS: Mapping[str, str] = {
    "sct": "http://snomed.info/sct",
    "loinc": "http://loinc.org",
    "ucum": "http://unitsofmeasure.org",
}
STANDARD_LAUNCH = frozenset({"patient", "encounter", "location", "user", "study", "clinical", "practitioner"})


@lru_cache(maxsize=4096)
def compile_formula(source: str) -> Formula:
    """Parse a FHIRPath expression.

    Raises:
        BadFormula: It cannot be parsed to its end, or calls an unknown function.
    """
    from bot.interview.formulas.fhirpath import known_functions, parse
    from bot.interview.formulas.formula import reads_of, rewrite

    if len(source) > MAX_CHARACTERS:
        raise BadFormula(f"longer than {MAX_CHARACTERS} characters")
    tree = parse(source)
    reads = reads_of(tree)
    unknown = sorted(reads.functions - known_functions())
    if unknown:
        raise BadFormula(f"the function {unknown[0]}() is not known here")
    return Formula(source, reads, rewrite(tree))


def evaluate(formula: Formula, focus: object, names: Mapping[str, object], *, now: str) -> list[object]:
    """Evaluate a formula to typed values, which other formulas can go on from; see `Evaluator` for those of a form.

    Args:
        formula: What to evaluate.
        focus: What the formula stands at: JSON, or a value that knows its type (`typed`).
        names: Values after ``%``.
        now: The moment of ``now()`` and ``today()``, as a FHIR dateTime with time zone.

    Raises:
        FormulaFailed: The library gave up (several values where one is due, units that do not fit, ...).
    """
    from bot.interview.formulas.fhirpath import run

    return run(formula.tree, focus, names, now)


def typed(value: object, kind: str) -> object:
    """Give JSON the type that FHIRPath needs to resolve ``value`` to ``valueCoding``: an R4 path."""
    from bot.interview.formulas.fhirpath import node

    return node(value, kind)


def as_json(values: Sequence[object]) -> list[JsonValue]:
    """Return typed values as JSON."""
    from bot.interview.formulas.fhirpath import plain

    return [plain(value) for value in values]


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
            **CONSTANTS,
            "questionnaire": self.questionnaire,
            "qitem": item and typed(item, "Questionnaire.item"),
            "resource": whole,
            "rootResource": whole,
            **variables,
        }
        at = whole if focus is None else typed(focus, "QuestionnaireResponse.item")
        return evaluate(formula, at, names, now=self.now)

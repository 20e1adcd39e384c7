"""Read the FHIRPath of a Questionnaire and see that every name in it is known where it stands. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.interview.form.form import Bound, Constraint, Formulas, Text, Toggle
from bot.interview.form.support import COMPUTED, Notes
from bot.interview.form.texts import extension_text
from bot.interview.formulas.compile import compile_formula
from bot.interview.formulas.formula import BadFormula, Formula
from bot.interview.values import fhir_names
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    companion,
    extension_value,
    extension_values,
    extensions,
    string,
    value_of,
)

FHIRPATH = ("text/fhirpath", "")
CONSTANTS: Mapping[str, str] = {
    "sct": "http://snomed.info/sct",
    "loinc": "http://loinc.org",
    "ucum": "http://unitsofmeasure.org",
}
# Always there; and what SDC's launch context may hand in without being declared.
_GIVEN = frozenset({"resource", "rootResource", "context", "questionnaire", "qitem", *CONSTANTS})
STANDARD_LAUNCH = frozenset({"patient", "encounter", "location", "user", "study", "clinical", "practitioner"})


@dataclass(frozen=True, slots=True)
class Scope:
    """Names that formulas may use at one place of the form.

    Attributes:
        names: All that are defined.
        blind: Those that never have a value here, and why.
    """

    names: frozenset[str]
    blind: Mapping[str, str]

    def reason_against(self, formula: Formula) -> str:
        """Say why the formula cannot be evaluated as meant; empty when it can."""
        for name in sorted(formula.reads.variables):
            if name not in self.names:
                return f"%{name} is not defined here"
            if name in self.blind:
                return f"%{name} has no value: {self.blind[name]}"
        return ""


Variables = tuple[tuple[str, Formula | None], ...]


def root_scope(raw: JsonObject) -> Scope:
    """Return the names that exist before any variable."""
    return Scope(_GIVEN | STANDARD_LAUNCH | launch_names(raw), {})


def launch_names(raw: JsonObject) -> frozenset[str]:
    """Return the names that the Questionnaire declares for its surroundings."""
    found = (extension_value(each, "name") for each in extensions(raw, *fhir_names.LAUNCH_CONTEXT))
    codes = (
        as_object(each.value).get("code") if isinstance(each.value, dict) else each.value for each in found if each
    )
    return frozenset(code for code in codes if isinstance(code, str))


def read_variables(raw: JsonObject, link_id: str, scope: Scope, notes: Notes) -> tuple[Variables, Scope]:
    """Read the variables of the form or of an item, and return the scope inside."""
    read: list[tuple[str, Formula | None]] = []
    names, blind = set(scope.names), dict(scope.blind)
    for value in extension_values(raw, *fhir_names.VARIABLE):
        expression = as_object(value.value)
        name = string(expression, "name")
        formula, problem = _compiled(expression)
        if formula is not None:
            problem = Scope(frozenset(names), blind).reason_against(formula)
        if problem:
            blind[name] = problem
            notes.warn(link_id, "variable", f"%{name} has no value: {problem}")
        names.add(name)
        read.append((name, None if problem else formula))
    return tuple(read), Scope(frozenset(names), blind)


def _compiled(expression: JsonObject) -> tuple[Formula | None, str]:
    language, source = string(expression, "language"), string(expression, "expression")
    if language == "application/x-fhir-query":
        return None, "it is a query to a server"
    if language not in FHIRPATH:
        return None, f"the language {language} is not supported"
    if not source:
        return None, "it has no text"
    try:
        return compile_formula(source), ""
    except BadFormula as error:
        return None, str(error)


def needed(expression: JsonObject, link_id: str, feature: str, scope: Scope, notes: Notes) -> Formula | None:
    """Read a formula without which the form means something else: refuse it if it cannot be evaluated."""
    formula, problem = _compiled(expression)
    if formula is not None:
        problem = scope.reason_against(formula)
        _check_names(formula, link_id, feature, notes)
    if problem:
        notes.refuse(link_id, feature, problem)
    return formula


def _check_names(formula: Formula, link_id: str, feature: str, notes: Notes) -> None:
    for unknown in sorted(formula.reads.link_ids - notes.link_ids):
        notes.warn(link_id, feature, f"asks for the item {unknown!r}, which does not exist")


def _welcome(expression: JsonObject, link_id: str, feature: str, scope: Scope, notes: Notes) -> Formula | None:
    """Read a formula that only proposes answers: without it, the question is asked all the same."""
    formula, problem = _compiled(expression)
    if formula is not None:
        problem = scope.reason_against(formula)
    if problem:
        notes.warn(link_id, feature, f"nothing is proposed: {problem}")
        return None
    return formula


def read_formulas(raw: JsonObject, link_id: str, variables: Variables, scope: Scope, notes: Notes) -> Formulas:
    """Read the expressions of an item."""

    def one(urls: tuple[str, ...], feature: str) -> Formula | None:
        value = extension_value(raw, *urls)
        return needed(as_object(value.value), link_id, feature, scope, notes) if value else None

    initial = extension_value(raw, *fhir_names.INITIAL_EXPRESSION)
    return Formulas(
        variables=variables,
        enabled=one(fhir_names.ENABLE_WHEN_EXPRESSION, "enableWhenExpression"),
        initial=_welcome(as_object(initial.value), link_id, "initialExpression", scope, notes) if initial else None,
        calculated=one(fhir_names.CALCULATED_EXPRESSION, "calculatedExpression"),
        options=one(fhir_names.ANSWER_EXPRESSION, "answerExpression"),
        toggles=tuple(_toggles(raw, link_id, scope, notes)),
    )


def _toggles(raw: JsonObject, link_id: str, scope: Scope, notes: Notes) -> list[Toggle]:
    feature = "answerOptionsToggleExpression"
    found = []
    for extension in extensions(raw, *fhir_names.ANSWER_OPTIONS_TOGGLE):
        value = extension_value(extension, "expression")
        formula = needed(as_object(value.value) if value else {}, link_id, feature, scope, notes)
        if formula is not None:
            found.append(Toggle(tuple(extension_values(extension, "option")), formula))
    return found


@dataclass(frozen=True, slots=True)
class StatedConstraint:
    """A constraint as the form writes it. `mild`: broken, it is a warning."""

    raw: JsonObject
    key: str
    mild: bool
    expression: JsonObject


def stated_constraints(raw: JsonObject) -> Iterator[StatedConstraint]:
    """Yield the constraints of the form or of an item."""
    for extension in extensions(raw, *fhir_names.CONSTRAINT, *fhir_names.TARGET_CONSTRAINT):
        parts = (extension_value(extension, name) for name in ("key", "severity", "expression"))
        key, severity, formula = (part.value if part is not None else None for part in parts)
        # The older extension holds plain text where the newer holds an Expression.
        expression = {"expression": formula} if isinstance(formula, str) else as_object(formula)
        yield StatedConstraint(extension, key if isinstance(key, str) else "", severity == "warning", expression)


def read_constraints(raw: JsonObject, link_id: str, scope: Scope, notes: Notes) -> tuple[Constraint, ...]:
    """Compile the constraints of the form (`link_id` is empty) or of an item."""
    return tuple(
        Constraint(
            owner=link_id,
            key=each.key,
            severity="warning" if each.mild else "error",
            human=_message(raw, each),
            formula=formula,
        )
        for each in stated_constraints(raw)
        if (formula := needed(each.expression, link_id, "constraint", scope, notes)) is not None
    )


def _message(raw: JsonObject, constraint: StatedConstraint) -> Text:
    """Return what a constraint says, with translations: of the text itself, or beside the constraint by its key.

    Libraries that refuse ``_valueString`` in an extension can read the second form.
    """
    own, key = extension_text(constraint.raw, "human"), constraint.key
    beside: dict[str, str] = {}
    for extension in extensions(raw, *fhir_names.CONSTRAINT_TRANSLATION):
        parts = {name: extension_value(extension, name) for name in ("key", "lang", "content")}
        named, lang, content = (str(part.value) if part else "" for part in parts.values())
        if key and named == key and lang and content:
            beside[lang] = content
    return Text(own.base, {**beside, **own.translations})


def read_bound(raw: JsonObject, urls: tuple[str, ...], link_id: str, scope: Scope, notes: Notes) -> Bound | None:
    """Read minValue, maxValue and their like: a value, or an expression in its place."""
    extension = next(iter(extensions(raw, *urls)), None)
    if extension is None:
        return None
    beside = [companion(extension, name[1:]) for name in extension if name.startswith("_value")]
    computed = next((found for each in (extension, *beside) if (found := extension_value(each, *COMPUTED))), None)
    if computed is not None:
        formula = needed(as_object(computed.value), link_id, urls[0].rpartition("/")[2], scope, notes)
        return Bound(formula=formula)
    fixed = value_of(extension)
    return Bound(fixed=fixed) if fixed is not None else None

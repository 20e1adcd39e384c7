"""Read the FHIRPath of a Questionnaire and see that every name in it is known where it stands. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bot.interview.form.form import Bound, Constraint, Formulas, Text, Toggle
from bot.interview.form.support import COMPUTED, Notes
from bot.interview.form.texts import extension_text
from bot.interview.formulas.evaluator import CONSTANTS, STANDARD_LAUNCH, compile_formula
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

# Always there, beside what the surroundings hand in.
_GIVEN = frozenset({"resource", "rootResource", "context", "questionnaire", "qitem", *CONSTANTS}) | STANDARD_LAUNCH


def launch_names(raw: JsonObject) -> frozenset[str]:
    """Return the names that the Questionnaire declares for its surroundings."""
    found = (extension_value(each, "name") for each in extensions(raw, *fhir_names.LAUNCH_CONTEXT))
    codes = (
        as_object(each.value).get("code") if isinstance(each.value, dict) else each.value for each in found if each
    )
    return frozenset(code for code in codes if isinstance(code, str))


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


@dataclass(frozen=True, slots=True)
class Site:
    """The form, or one of its items, with the names that its formulas may use.

    Attributes:
        raw: What is read.
        link_id: Of the item; empty for the form.
        notes: Where warnings and refusals go.
        variables: Its own variables; those that never have a value are without formula.
        names: All names that are defined here.
        blind: Those that never have a value, and why.
    """

    raw: JsonObject
    link_id: str
    notes: Notes
    variables: tuple[tuple[str, Formula | None], ...]
    names: frozenset[str]
    blind: Mapping[str, str]

    @classmethod
    def of_form(cls, raw: JsonObject, notes: Notes) -> Site:
        """Read the variables of a form."""
        return cls(raw, "", notes, (), _GIVEN | launch_names(raw), {})._with_variables()

    def inside(self, raw: JsonObject) -> Site:
        """Read the variables of an item in it."""
        return replace(self, raw=raw, link_id=string(raw, "linkId"), variables=())._with_variables()

    def _with_variables(self) -> Site:
        site = self
        for value in extension_values(self.raw, *fhir_names.VARIABLE):
            expression = as_object(value.value)
            name = string(expression, "name")
            formula, problem = site._read(expression)
            blind = site.blind
            if problem:
                blind = {**blind, name: problem}
                self.warn("variable", f"%{name} has no value: {problem}")
            variables = (*site.variables, (name, None if problem else formula))
            site = replace(site, variables=variables, names=site.names | {name}, blind=blind)
        return site

    def warn(self, feature: str, text: str) -> None:
        self.notes.warn(self.link_id, feature, text)

    def refuse(self, feature: str, text: str) -> None:
        self.notes.refuse(self.link_id, feature, text)

    def _read(self, expression: JsonObject) -> tuple[Formula | None, str]:
        """Compile an Expression; return why it cannot be evaluated as meant, empty when it can."""
        language, source = string(expression, "language"), string(expression, "expression")
        if language == "application/x-fhir-query":
            return None, "it is a query to a server"
        if language not in ("text/fhirpath", ""):
            return None, f"the language {language} is not supported"
        if not source:
            return None, "it has no text"
        try:
            formula = compile_formula(source)
        except BadFormula as error:
            return None, str(error)
        for name in sorted(formula.reads.variables):
            if name not in self.names:
                return formula, f"%{name} is not defined here"
            if name in self.blind:
                return formula, f"%{name} has no value: {self.blind[name]}"
        return formula, ""

    def _needed(self, expression: JsonObject, feature: str) -> Formula | None:
        """Read a formula without which the form means something else: refuse it if it cannot be evaluated."""
        formula, problem = self._read(expression)
        for unknown in sorted(formula.reads.link_ids - self.notes.link_ids) if formula is not None else ():
            self.warn(feature, f"asks for the item {unknown!r}, which does not exist")
        if problem:
            self.refuse(feature, problem)
        return formula

    def formulas(self) -> Formulas:
        """Read the expressions of an item."""

        def needed(urls: tuple[str, ...], feature: str) -> Formula | None:
            value = extension_value(self.raw, *urls)
            return self._needed(as_object(value.value), feature) if value else None

        initial = extension_value(self.raw, *fhir_names.INITIAL_EXPRESSION)
        return Formulas(
            variables=self.variables,
            enabled=needed(fhir_names.ENABLE_WHEN_EXPRESSION, "enableWhenExpression"),
            initial=self._welcome(as_object(initial.value), "initialExpression") if initial else None,
            calculated=needed(fhir_names.CALCULATED_EXPRESSION, "calculatedExpression"),
            options=needed(fhir_names.ANSWER_EXPRESSION, "answerExpression"),
            toggles=tuple(self._toggles()),
        )

    def _welcome(self, expression: JsonObject, feature: str) -> Formula | None:
        """Read a formula that only proposes answers: without it, the question is asked all the same."""
        formula, problem = self._read(expression)
        if problem:
            self.warn(feature, f"nothing is proposed: {problem}")
        return None if problem else formula

    def _toggles(self) -> Iterator[Toggle]:
        for extension in extensions(self.raw, *fhir_names.ANSWER_OPTIONS_TOGGLE):
            value = extension_value(extension, "expression")
            formula = self._needed(as_object(value.value) if value else {}, "answerOptionsToggleExpression")
            if formula is not None:
                yield Toggle(tuple(extension_values(extension, "option")), formula)

    def constraints(self) -> tuple[Constraint, ...]:
        """Compile the constraints of the form or of the item."""
        found = ((each, self._needed(each.expression, "constraint")) for each in stated_constraints(self.raw))
        return tuple(
            Constraint(self.link_id, each.key, "warning" if each.mild else "error", self._message(each), formula)
            for each, formula in found
            if formula is not None
        )

    def _message(self, constraint: StatedConstraint) -> Text:
        """Return what a constraint says, with translations: of the text itself, or beside the constraint by its key.

        Libraries that refuse ``_valueString`` in an extension can read the second form.
        """
        own, key = extension_text(constraint.raw, "human"), constraint.key
        beside: dict[str, str] = {}
        for extension in extensions(self.raw, *fhir_names.CONSTRAINT_TRANSLATION):
            parts = (extension_value(extension, name) for name in ("key", "lang", "content"))
            named, lang, content = (str(part.value) if part else "" for part in parts)
            if key and named == key and lang and content:
                beside[lang] = content
        return Text(own.base, {**beside, **own.translations})

    def bound(self, urls: tuple[str, ...]) -> Bound | None:
        """Read minValue, maxValue and their like: a value, or an expression in its place."""
        extension = next(iter(extensions(self.raw, *urls)), None)
        if extension is None:
            return None
        beside = [companion(extension, name[1:]) for name in extension if name.startswith("_value")]
        computed = next((found for each in (extension, *beside) if (found := extension_value(each, *COMPUTED))), None)
        if computed is not None:
            return Bound(formula=self._needed(as_object(computed.value), urls[0].rpartition("/")[2]))
        fixed = value_of(extension)
        return Bound(fixed=fixed) if fixed is not None else None

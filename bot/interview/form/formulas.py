"""Read the FHIRPath of a Questionnaire and see that every name in it is known where it stands. Pure.

A formula that cannot be evaluated is left out with a warning, never guessed; the compiler decides what that means for
its item.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from bot.interview.form.form import Bound, Constraint, Formulas, Text, Toggle
from bot.interview.form.support import COMPUTED, Notes
from bot.interview.form.texts import extension_text
from bot.interview.formulas.evaluator import CONSTANTS, STANDARD_LAUNCH, compile_formula
from bot.interview.formulas.formula import BadFormula, Formula
from bot.interview.values import fhir_names
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    companion,
    extension_value,
    extension_values,
    extensions,
    objects,
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
        absent: Those of the launch context that nobody handed in.
    """

    raw: JsonObject
    link_id: str
    notes: Notes
    variables: tuple[tuple[str, Formula | None], ...]
    names: frozenset[str]
    blind: Mapping[str, str]
    absent: frozenset[str] = frozenset()

    @classmethod
    def of_form(cls, raw: JsonObject, notes: Notes, launch: Collection[str] | None = None) -> Site:
        """Read the variables of a form; `launch`: what of the launch context is handed in, None: perhaps all of it."""
        absent = frozenset() if launch is None else (STANDARD_LAUNCH | launch_names(raw)).difference(launch)
        blind = {name: f"%{name} was not handed in" for name in sorted(absent)}
        known = _GIVEN | launch_names(raw) | frozenset(launch or ())
        return cls(raw, "", notes, (), known, blind, absent)._with_variables()

    def inside(self, raw: JsonObject) -> Site:
        """Read the variables of an item in it."""
        return replace(self, raw=raw, link_id=string(raw, "linkId"), variables=())._with_variables()

    def _with_variables(self) -> Site:
        site = self
        for value in extension_values(self.raw, *fhir_names.VARIABLE):
            expression = as_object(value.value)
            name = string(expression, "name")
            formula, problem = site._read(expression)
            blind = {each: why for each, why in site.blind.items() if each != name}
            if problem:
                blind[name] = f"%{name} has no value: {problem}"
                if not (formula and self._waits_for_launch(formula)):
                    self.miss("variable", blind[name])
            variables = (*site.variables, (name, None if problem else formula))
            site = replace(site, variables=variables, names=site.names | {name}, blind=blind)
        return site

    def warn(self, feature: str, text: str) -> None:
        self.notes.warn(self.link_id, feature, text)

    def miss(self, feature: str, text: str) -> None:
        self.notes.miss(self.link_id, feature, text)

    def leave_out(self, feature: str, text: str) -> None:
        self.notes.leave_out(self.link_id, feature, text)

    def _waits_for_launch(self, formula: Formula) -> bool:
        """Note once, for the whole form, which names of the launch context would be of use; say whether one is."""
        wanted = sorted(formula.reads.variables & self.absent)
        for name in wanted:
            self.notes.miss("", "launchContext", f"%{name} was not handed in, so nothing is proposed from it")
        return bool(wanted)

    def _read(self, expression: JsonObject) -> tuple[Formula | None, str]:
        """Compile an Expression; return why it cannot be evaluated as meant, empty when it can."""
        language, source = string(expression, "language").strip().lower(), string(expression, "expression")
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
                return formula, self.blind[name]
        return formula, ""

    def _usable(self, expression: JsonObject, feature: str, without: str) -> Formula | None:
        """Read a formula; None with a warning, of what is done `without` it, where it cannot be evaluated."""
        formula, problem = self._read(expression)
        for unknown in sorted(formula.reads.link_ids - self.notes.items.keys()) if formula is not None else ():
            self.miss(feature, f"asks for the item {unknown!r}, which does not exist")
        if problem:
            self.leave_out(feature, f"{without}: {problem}")
        return None if problem else formula

    def formulas(self, *, asked: bool) -> Formulas:
        """Read the expressions of an item; `asked`: whether somebody is asked for it."""

        def usable(urls: tuple[str, ...], feature: str, without: str) -> Formula | None:
            value = extension_value(self.raw, *urls)
            return self._usable(as_object(value.value), feature, without) if value else None

        uncalculated = "asked instead of calculated" if asked else "left empty, for it cannot be calculated"
        return Formulas(
            variables=self.variables,
            enabled=usable(
                fhir_names.ENABLE_WHEN_EXPRESSION, "enableWhenExpression", "asked in any case, and not required"
            ),
            initial=self._initial(),
            calculated=usable(fhir_names.CALCULATED_EXPRESSION, "calculatedExpression", uncalculated),
            options=usable(fhir_names.ANSWER_EXPRESSION, "answerExpression", "no answers are found by it"),
            toggles=tuple(self._toggles()),
            text=self._text(),
        )

    @property
    def is_uncertain(self) -> bool:
        """Whether the item has a formula for when it is asked that cannot be evaluated."""
        value = extension_value(self.raw, *fhir_names.ENABLE_WHEN_EXPRESSION)
        return value is not None and bool(self._read(as_object(value.value))[1])

    def _initial(self) -> Formula | None:
        """Read a formula that only proposes answers: without it, the question is asked all the same."""
        value = extension_value(self.raw, *fhir_names.INITIAL_EXPRESSION)
        if value is None:
            value = next((found for each in objects(self.raw, "initial") if (found := computed_value(each))), None)
        if value is None:
            return None
        formula, problem = self._read(_expression(value.value))
        if problem and not (formula and self._waits_for_launch(formula)):
            self.miss("initialExpression", f"nothing is proposed: {problem}")
        return None if problem else formula

    def _text(self) -> Formula | None:
        """Read the formula of a text that is computed from the answers."""
        value = extension_value(companion(self.raw, "text"), *COMPUTED)
        if value is None:
            return None
        return self._usable(_expression(value.value), "text", "its fixed text is shown instead of the computed one")

    def _toggles(self) -> Iterator[Toggle]:
        for extension in extensions(self.raw, *fhir_names.ANSWER_OPTIONS_TOGGLE):
            value = extension_value(extension, "expression")
            expression = as_object(value.value) if value else {}
            formula = self._usable(expression, "answerOptionsToggleExpression", "its options stay")
            if formula is not None:
                yield Toggle(tuple(extension_values(extension, "option")), formula)

    def constraints(self) -> tuple[Constraint, ...]:
        """Compile the constraints of the form or of the item."""
        found = (
            (each, self._usable(each.expression, "constraint", f"{each.key or 'it'} is not checked"))
            for each in stated_constraints(self.raw)
        )
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
        computed, fixed = computed_value(extension), value_of(extension)
        if computed is not None:
            name = string(extension, "url").rpartition("/")[2]
            formula = self._usable(_expression(computed.value), name, "this limit is not held to")
            if formula is not None:
                return Bound(formula=formula)
        return Bound(fixed=fixed) if fixed is not None else None


def computed_value(element: JsonObject) -> Answer | None:
    """Return the expression that stands in the place of, or beside, the ``value[x]`` of an element."""
    beside = (companion(element, name[1:]) for name in element if name.startswith("_value"))
    return next((found for each in (element, *beside) if (found := extension_value(each, *COMPUTED))), None)


def _expression(value: JsonValue) -> JsonObject:
    """Return an Expression; the older extension holds plain text."""
    return {"expression": value} if isinstance(value, str) else as_object(value)


_HELD_TO = (*fhir_names.MIN_VALUE, *fhir_names.MAX_VALUE, *fhir_names.MIN_QUANTITY, *fhir_names.MAX_QUANTITY)


def computed_elsewhere(raw: JsonObject) -> Iterator[str]:
    """Yield what of a form or an item, itself and not the items inside, is computed where only its text may be."""
    pending: list[tuple[str, JsonObject]] = [("", raw)]
    while pending:
        around, element = pending.pop()
        for name, value in element.items():
            handled = (not around and name == "_text") or (
                around in {"initial", *_HELD_TO} and name.startswith("_value")
            )
            if name.startswith("_") and not handled and extension_value(companion(element, name[1:]), *COMPUTED):
                yield around.rpartition("/")[2] or name[1:]
            if name in {"item", "contained"} or name.startswith("_"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, dict):
                    pending.append((string(child, "url") if name == "extension" else name, child))

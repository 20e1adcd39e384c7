"""Where in a response extraction stands, and what its formulas see there. Pure.

Observations, templates and definitions all walk the response along the form; here is what they have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.handover.subject import Export, Resource, bare, urn
from bot.interview.form.formulas import launch_names
from bot.interview.formulas.evaluator import CONSTANTS, STANDARD_LAUNCH, as_json, compile_formula, evaluate, typed
from bot.interview.formulas.formula import BadFormula, FormulaFailed
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, as_object, extension_values, objects, string
from bot.interview.values.fhir_names import VARIABLE

SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/"
ALLOCATE_ID = SDC + "sdc-questionnaire-extractAllocateId"
_ITEM, _ASKED = "QuestionnaireResponse.item", "Questionnaire.item"


class CannotFill(ValueError):
    """What a form wants extracted and these answers do not give. The message names the place and quotes no answer."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One instance of a group, or one answer to a question.

    Attributes:
        asked: The item of the Questionnaire.
        item: The item of the response.
        answer: The answer, for questions.
        key: Tells this spot from every other of the response.
    """

    asked: JsonObject
    item: JsonObject
    answer: JsonObject | None
    key: str

    @property
    def link_id(self) -> str:
        return string(self.asked, "linkId")

    @property
    def alone(self) -> JsonObject:
        """The item of the response with this answer only."""
        return self.item if self.answer is None else {**self.item, "answer": [dict(self.answer)]}

    @property
    def whole(self) -> Typed:
        """The item of the response with all its answers, as formulas stand at it."""
        return Typed(self.item, _ITEM)

    def inner(self) -> list[JsonObject]:
        """Return the items of the response directly inside."""
        return objects(self.item if self.answer is None else self.answer, "item")


def spots(asked: Sequence[JsonObject], items: Sequence[JsonObject], around: str = "") -> Iterator[Spot]:
    """Yield where `asked` were answered, in the order of the form; nothing inside them."""
    for question in asked:
        link_id = string(question, "linkId")
        number = 0
        for item in items:
            if string(item, "linkId") != link_id:
                continue
            answers: list[JsonObject | None] = [*objects(item, "answer")]
            for answer in [None] if question.get("type") == "group" else answers:
                yield Spot(question, item, answer, f"{around}/{link_id}[{number}]")
                number += 1


def inside(spot: Spot) -> Iterator[Spot]:
    """Yield the spots directly inside one."""
    return spots(objects(spot.asked, "item"), spot.inner(), spot.key)


@dataclass(frozen=True, slots=True)
class Typed:
    """JSON together with its R4 path. It becomes a typed node only when a formula reads it: most forms have none."""

    value: JsonObject
    kind: str

    def node(self) -> object:
        return typed(dict(self.value), self.kind)


@dataclass(slots=True, eq=False)
class Variable:
    """A variable of the form, worked out when a formula reads it."""

    source: str
    scope: Scope
    _found: list[object] | None = None

    def values(self, where: str) -> list[object]:
        if self._found is None:
            if not self.source:
                raise CannotFill(f"{where}: a variable that is no FHIRPath has no value here")
            self._found = self.scope.values(self.source, where)
        return self._found


@dataclass(frozen=True, slots=True)
class Scope:
    """What the formulas at one place see.

    Attributes:
        focus: What they stand at: JSON with its type, or the library's typed node.
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
        focus = _worked_out(self.focus, where)
        try:
            formula = compile_formula(source)
            read = {name: self.names[name] for name in formula.reads.variables if name in self.names}
            names = {name: _worked_out(value, f"{where}: %{name}") for name, value in read.items()}
            return evaluate(formula, focus, {"context": focus, **names}, now=self.now)
        except (BadFormula, FormulaFailed) as error:
            raise CannotFill(f"{where}: the formula {source[:80]!r} cannot be evaluated ({error})") from None

    def plain(self, source: str, where: str) -> list[JsonValue]:
        """Evaluate a formula to JSON."""
        return as_json(self.values(source, where))

    def one(self, source: str, where: str) -> str:
        """Evaluate a formula to one text; empty when it gives nothing."""
        found = self.plain(source, where)
        if len(found) > 1:
            raise CannotFill(f"{where}: {len(found)} values for one place")
        return str(found[0]) if found else ""

    def named(self, names: Mapping[str, object]) -> Scope:
        """Return the same place with more names."""
        return replace(self, names={**self.names, **names}) if names else self


def _worked_out(value: object, where: str) -> object:
    if isinstance(value, Typed):
        return value.node()
    return value.values(where) if isinstance(value, Variable) else value


@dataclass(slots=True)
class Ground:
    """A finished response that resources are extracted from, and what was extracted so far.

    Attributes:
        export: The conversation.
        response: The response on its way into the Bundle.
        questionnaire: What it answers.
        now: The moment of ``now()``, as a FHIR dateTime with time zone.
        made: The resources, in the order in which they go out.
        notes: What could not be extracted, and why.
        lost: linkId and type of what could not be extracted, or not as a whole.
        aliases: Under which urn a resource goes out that the form calls otherwise; None where two are called so.
    """

    export: Export
    response: Resource
    questionnaire: JsonObject
    now: str
    made: list[Resource] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lost: list[tuple[str, str]] = field(default_factory=list)
    aliases: dict[str, str | None] = field(default_factory=dict)

    def lose(self, link_id: str, kind: str) -> None:
        """Note that a resource does not go out, or not as a whole: staff may have to enter it."""
        if (link_id, kind) not in self.lost:
            self.lost.append((link_id, kind))

    def note(self, link_id: str, text: str) -> None:
        """Note what was not extracted; an empty `link_id` stands for the form itself."""
        note = f"{link_id or 'Questionnaire'}: not extracted: {text}"
        if note not in self.notes:
            self.notes.append(note)

    def call(self, resource: Resource, alias: str) -> None:
        """Note that the form calls a resource by a full URL of its own."""
        if alias and alias != resource.urn:
            self.aliases[alias] = None if alias in self.aliases else resource.urn

    def spots(self) -> Iterator[Spot]:
        """Yield the outermost spots of the response."""
        return spots(objects(self.questionnaire, "item"), objects(self.response.body, "item"))

    def root(self) -> Scope:
        """Return what formulas of the form itself see."""
        # What the form's own formulas call the response by its id leads to it in the Bundle, too.
        body = {**self.response.body, "id": bare(self.response.urn)}
        launch: dict[str, object] = dict.fromkeys(STANDARD_LAUNCH | launch_names(self.questionnaire))
        launch |= self.export.launch
        fixed = {**CONSTANTS, "resource": body, "rootResource": body, "questionnaire": self.questionnaire}
        return self._with_own(Scope(body, {**launch, **fixed}, self.now), self.questionnaire, "")

    def scope(self, spot: Spot, around: Scope) -> Scope:
        """Return what formulas at a spot see, `around` being what those around it see."""
        names = {**around.names, "qitem": Typed(spot.asked, _ASKED)}
        return self._with_own(Scope(Typed(spot.alone, _ITEM), names, self.now), spot.asked, spot.key)

    def _with_own(self, scope: Scope, element: JsonObject, key: str) -> Scope:
        """Add the variables of a place, and the ids it hands out: new for each instance, the same at every export."""
        if "extension" not in element:
            return scope
        found = (value.value for value in extension_values(element, ALLOCATE_ID))
        names = [name.removeprefix("%") for name in found if isinstance(name, str)]
        scope = scope.named({name: urn(self.export, "allocated", key, name) for name in names})
        for value in extension_values(element, *VARIABLE):
            expression = as_object(value.value)
            fhirpath = string(expression, "language") == "text/fhirpath"
            source = string(expression, "expression") if fhirpath else ""
            scope = scope.named({string(expression, "name"): Variable(source, scope)})
        return scope


def formula_of(value: JsonValue) -> tuple[str, str]:
    """Return the FHIRPath of a text or an Expression, and the name it gives to what it finds.

    Raises:
        CannotFill: It is in another language.
    """
    if isinstance(value, str):
        return value, ""
    expression = as_object(value)
    language = string(expression, "language")
    if language != "text/fhirpath" or not string(expression, "expression"):
        raise CannotFill(f"an expression in {language[:40] or 'no language'!r} instead of text/fhirpath")
    return string(expression, "expression"), string(expression, "name")

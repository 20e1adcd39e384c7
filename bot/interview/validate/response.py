"""Validate a QuestionnaireResponse against its Questionnaire. Pure.

The verdict (errors or none) is meant to be that of HL7's own validator; `docs/fhir.md` says where it is not. Findings
name linkIds, types and limits, never what a patient wrote. Formulas that cannot be evaluated (a launch context that is
not at hand, a query to a server, a failure) are said to be unclear; nothing is concluded from them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from bot.interview.form.formulas import stated_constraints
from bot.interview.form.indexed import GivenItem, Holder, IndexedForm, IndexedItem, index_questionnaire
from bot.interview.form.options import OptionReader
from bot.interview.formulas.evaluator import CONSTANTS, Evaluator, as_json, compile_formula
from bot.interview.formulas.formula import BadFormula, FormulaFailed, Scored
from bot.interview.rules.enabled import Enablement, Truth
from bot.interview.validate.item import ItemChecks, broken_answers, match_items, unnamed_in
from bot.interview.validate.questionnaire import check_contained_forms
from bot.interview.validate.structure import check_structure, contained_at, contained_types
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    code_key,
    extension_value,
    extension_values,
    objects,
    split_canonical,
    string,
    strings,
)
from bot.interview.values.fhir_names import ANSWER_TYPES, CHOICES, ENABLE_WHEN_EXPRESSION, INSTANCE_TYPES, VARIABLE
from bot.interview.values.finding import Finding, Findings, Place
from bot.interview.values.primitives import compare_dates, problem_with
from bot.interview.values.references import target_type
from bot.interview.values.terminology import Terminology

Resolve = Callable[[str], JsonObject | None]
UNFINISHED = ("in-progress", "stopped", "entered-in-error")


def check_response(
    response: JsonObject,
    form: IndexedForm | None,
    *,
    known: Terminology | None = None,
    now: str = "",
    expected: str = "",
) -> list[Finding]:
    """Return everything that is wrong with a response.

    Args:
        response: The QuestionnaireResponse as JSON.
        form: Its Questionnaire, indexed; None when it could not be found (then only the structure is checked).
        known: Value sets and code systems at hand, beside those contained in the Questionnaire.
        now: The moment that formulas may ask for, as a FHIR dateTime with zone; without it, those that do are unclear.
        expected: Address of the Questionnaire that whoever asks says was answered; empty when they do not say.
    """
    findings = Findings(response)
    root = check_structure(response, findings)
    terms = known or Terminology()
    form = form or find_questionnaire(response, lambda _: None)
    if form is None:
        _say_unresolved(response, root, findings, expected)
    else:
        _check_canonical(response, form.raw, root, findings)
        _check_answers(response, form, root, findings, Surroundings(terms, now))
    for place, inner in contained_at(response, root, "QuestionnaireResponse"):
        own = find_questionnaire({**inner, "contained": response["contained"]}, lambda _: None)
        if own is None:
            _say_unresolved(inner, place, findings)
        else:
            _check_answers(inner, own, place, findings, Surroundings(terms, now))
    check_contained_forms(response, root, findings)
    return findings.all()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What there is beside a response and its form: value sets and code systems, and the moment of ``now()``."""

    known: Terminology
    now: str


def _check_answers(
    response: JsonObject, form: IndexedForm, root: Place, findings: Findings, around: Surroundings
) -> None:
    """Check the items of a response that stands at `root` against its Questionnaire."""
    _check_head(response, form.raw, root, findings)
    inside = around.known.within(form.container)
    response = with_scores(response, form, inside)
    whole = Holder(response, root, None, form.top)
    broken, unnamed = broken_answers(findings), unnamed_in(whole)
    given = match_items(whole, form, findings)
    formulas = ResponseFormulas(form, response, now=around.now)
    finished = string(response, "status") not in UNFINISHED
    checks = ItemChecks(
        findings=findings,
        known=inside,
        enablement=Enablement(
            form, given, formulas.enabled, unreadable=_unreadable(given, broken, form, unnamed=unnamed)
        ),
        finished=finished,
        same_language=_same_language(response, form.raw),
        retracted=string(response, "status") == "entered-in-error",
        contained=contained_types(response),
        unnamed=unnamed,
        broken=broken,
    )
    constraints = Constraints(formulas, findings, finished=finished, broken=bool(broken), unnamed=unnamed)
    checks.check_inside(whole)
    constraints.check(form.raw, root)
    for item in given:
        checks.check(item)
        for holder in item.holders:
            checks.check_inside(holder)
        constraints.check(item.asked.raw, item.place, item)


def _unreadable(
    given: Iterable[GivenItem], broken: Collection[str], form: IndexedForm, *, unnamed: bool
) -> frozenset[str]:
    """Return the linkIds of the items whose answers cannot be read, or may stand in an item that has no name."""
    if unnamed:
        return frozenset(form.by_id) - {each.asked.link_id for each in given}
    found = {each.asked.link_id for each in given if any(_is_unreadable(each, answer) for answer in each.values())}
    lists = {one.rpartition("[")[0] if one.endswith("]") else one for one in broken}
    return frozenset(
        found | {each.asked.link_id for each in given if lists and str(each.place.child("answer")) in lists}
    )


def _is_unreadable(given: GivenItem, answer: Answer) -> bool:
    """Say whether an answer is of a type that its question does not take."""
    fitting = ANSWER_TYPES.get(given.asked.type)
    return bool(fitting) and answer.type not in (fitting or ())


def find_questionnaire(response: JsonObject, resolve: Resolve) -> IndexedForm | None:
    """Return the Questionnaire that a response names: contained (``#id``), or what `resolve` finds."""
    canonical = string(response, "questionnaire")
    if canonical.startswith("#"):
        inside = (each for each in objects(response, "contained") if string(each, "id") == canonical[1:])
        found = next((each for each in inside if each.get("resourceType") == "Questionnaire"), None)
        # What is contained together sees each other: a contained form uses the response's contained value sets.
        return index_questionnaire(found, container=response) if found else None
    found = resolve(canonical) if canonical else None
    return index_questionnaire(found) if found is not None else None


def _say_unresolved(response: JsonObject, root: Place, findings: Findings, expected: str = "") -> None:
    canonical = string(response, "questionnaire")
    here = root.child("questionnaire")
    if canonical.startswith("#"):
        text = f"No Questionnaire {canonical[:80]} is contained, so the answers were not checked"
        findings.error(here, text, code="not-found", rule="questionnaire")
    elif problem_with("canonical", canonical or "-"):
        return  # which has been said
    elif canonical and expected and split_canonical(canonical)[0] != split_canonical(expected)[0]:
        text = f"{_other(canonical, expected)}, so the answers were not checked"
        findings.error(here, text, code="invalid", rule="questionnaire")
    elif canonical:
        version = " in this version" if split_canonical(canonical)[1] else ""
        text = f"The Questionnaire {canonical[:200]} could not be found{version}, so the answers were not checked"
        findings.warning(here, text, code="not-found", rule="questionnaire")
    else:
        text = "No Questionnaire is named, so the answers were not checked against it"
        findings.information(root, text, code="required", rule="questionnaire")


def _other(canonical: str, expected: str) -> str:
    return f"The response names the Questionnaire {canonical[:200]}, not the one given, {expected[:200]}"


def _check_canonical(response: JsonObject, questionnaire: JsonObject, root: Place, findings: Findings) -> None:
    """Check that a response names the Questionnaire that it is held against, and in which version."""
    canonical, place = string(response, "questionnaire"), root.child("questionnaire")
    url, version = split_canonical(canonical)
    expected, actual = split_canonical(string(questionnaire, "url"))[0], string(questionnaire, "version")
    by_id = canonical == f"Questionnaire/{string(questionnaire, 'id')}"
    if problem_with("canonical", canonical):
        return  # which has been said
    if expected and not canonical.startswith("#") and not by_id and url != expected:
        findings.error(place, _other(canonical, expected), code="invalid", rule="questionnaire")
    elif version and actual and version != actual:
        text = f"The response names version {version[:40]}, but the Questionnaire at hand is {actual[:40]}"
        findings.warning(place, text, code="business-rule", rule="version")


def _check_head(response: JsonObject, questionnaire: JsonObject, root: Place, findings: Findings) -> None:
    """Check when a response was written, and about whom, by what the Questionnaire says of that."""
    authored, period = string(response, "authored"), as_object(questionnaire.get("effectivePeriod"))
    for bound, wrong in (("start", "before"), ("end", "after")):
        limit = string(period, bound)
        if authored and limit and compare_dates(authored, limit) == wrong:
            text = f"Authored {wrong} the {bound} of the Questionnaire's effective period ({limit})"
            findings.warning(root.child("authored"), text, code="business-rule", rule="effectivePeriod")
    subject, allowed = as_object(response.get("subject")), strings(questionnaire, "subjectType")
    kind = contained_types(response).get(string(subject, "reference").removeprefix("#")) or target_type(subject)
    if allowed and kind in INSTANCE_TYPES and kind not in allowed:
        text = f"The subject is a {kind}, but the Questionnaire is about {', '.join(allowed)[:200]}"
        findings.warning(root.child("subject"), text, code="business-rule", rule="subjectType")


def _same_language(response: JsonObject, questionnaire: JsonObject) -> bool:
    """Say whether both are in one language, as far as they tell."""
    one, other = string(response, "language"), string(questionnaire, "language")
    return not one or not other or one.partition("-")[0].lower() == other.partition("-")[0].lower()


_CLOCK = frozenset({"now", "today", "timeOfDay"})
_KNOWN_NAMES = frozenset({"resource", "rootResource", "questionnaire", "context", *CONSTANTS})


class Unclear(Exception):
    """A formula has no value here; the message says why."""


class ResponseFormulas:
    """The formulas of one Questionnaire, evaluated on one response."""

    def __init__(self, form: IndexedForm, response: JsonObject, *, now: str = "") -> None:
        """Take the moment of ``now()`` as a FHIR dateTime with zone; empty when formulas must not ask for it."""
        self._form = form
        self._evaluator = Evaluator(form.raw, response, {}, now)
        self._running: list[tuple[str, IndexedItem | None]] = []

    def enabled(self, asked: IndexedItem, parent: GivenItem | None) -> Truth | None:
        """Evaluate an item's enableWhenExpression; None when it has none."""
        value = extension_value(asked.raw, *ENABLE_WHEN_EXPRESSION) if "extension" in asked.raw else None
        if value is None:
            return None
        expression = as_object(value.value)
        # SDC lets a formula stand at the item, other validators at the response: only what both say is sure.
        outcomes = {self._truth(expression, asked, parent, focus) for focus in (parent, None)}
        return outcomes.pop() if len(outcomes) == 1 else Truth.UNCLEAR

    def _truth(
        self, expression: JsonObject, asked: IndexedItem, parent: GivenItem | None, focus: GivenItem | None
    ) -> Truth:
        try:
            found = self.value(expression, asked, parent, focus)
        except Unclear:
            return Truth.UNCLEAR
        # No result is no permission, and a result other than a boolean is a slip of the form.
        return Truth.of(found[0] is True) if all(isinstance(each, bool) for each in found[:1]) and found else Truth.NO

    def value(
        self, expression: JsonObject, asked: IndexedItem | None, given: GivenItem | None, focus: GivenItem | None
    ) -> list[JsonValue]:
        """Evaluate an Expression that belongs to `asked`, at the item `focus` (None: the response).

        Raises:
            Unclear: It has no value here.
        """
        try:
            return as_json(self._typed(expression, asked, given, focus))
        except (BadFormula, FormulaFailed) as error:
            raise Unclear(str(error)) from None
        except RecursionError:
            raise Unclear("it is nested too deep") from None

    def _typed(
        self, expression: JsonObject, asked: IndexedItem | None, given: GivenItem | None, focus: GivenItem | None
    ) -> list[object]:
        if string(expression, "language").strip().lower() not in {"", "text/fhirpath"}:
            raise Unclear("its language is not FHIRPath")
        formula = compile_formula(string(expression, "expression"))
        if not self._evaluator.now and formula.reads.functions & _CLOCK:
            raise Unclear("it asks for the time")
        known = _KNOWN_NAMES if asked is None else _KNOWN_NAMES | {"qitem"}
        variables = {name: self._variable(name, asked, given) for name in sorted(formula.reads.variables - known)}
        item, at = asked.raw if asked is not None else None, focus.raw if focus is not None else None
        return self._evaluator.values(formula, variables, item, at)

    def _variable(self, name: str, asked: IndexedItem | None, given: GivenItem | None) -> list[object]:
        """Evaluate the innermost variable of this name in sight of an item."""
        for owner, raw in self._owners(asked):
            expression = _named(raw, name)
            if expression is None:
                continue
            if (name, owner) in self._running:
                raise Unclear(f"%{name} depends on itself")
            self._running.append((name, owner))
            try:
                return self._typed(expression, owner, given, _given_of(owner, given))
            finally:
                self._running.pop()
        raise Unclear(f"%{name} is not at hand")

    def _owners(self, asked: IndexedItem | None) -> Iterator[tuple[IndexedItem | None, JsonObject]]:
        while asked is not None:
            yield asked, asked.raw
            asked = asked.parent
        yield None, self._form.raw


def _named(raw: JsonObject, name: str) -> JsonObject | None:
    found = (as_object(value.value) for value in extension_values(raw, *VARIABLE))
    return next((each for each in found if each.get("name") == name), None)


def _given_of(owner: IndexedItem | None, given: GivenItem | None) -> GivenItem | None:
    """Return the item of the response at which a variable of `owner` stands, from `given` outwards."""
    while given is not None and given.asked is not owner:
        given = given.parent
    return given


class Constraints:
    """Checks the constraints of a form and of its items."""

    def __init__(
        self, formulas: ResponseFormulas, findings: Findings, *, finished: bool, broken: bool, unnamed: bool
    ) -> None:
        """Take whether the response is finished: until then, a broken constraint is a warning.

        Where answers are `broken`, they may be all that keeps a constraint from being checked; where items are
        `unnamed`, all that breaks it.
        """
        self._broken = broken or unnamed
        self._unnamed = unnamed
        self._formulas = formulas
        self._findings = findings
        self._finished = finished

    def check(self, raw: JsonObject, place: Place, given: GivenItem | None = None) -> None:
        """Check the constraints that the form (or the item that was `given`) states."""
        for constraint in stated_constraints(raw) if "extension" in raw else ():
            key = constraint.key[:300] or "without key"
            try:
                found = self._formulas.value(constraint.expression, given.asked if given else None, given, given)
            except Unclear as reason:
                if self._broken:
                    continue  # what is wrong with the answers may be all
                text = f"The constraint {key} was not checked: {reason}"
                self._findings.warning(place, text, code="incomplete", rule="constraint")
                continue
            # Nothing to say is no objection; so is anything but a plain "false".
            if found and found[0] is False and not self._unnamed:
                mild = constraint.mild or not self._finished
                human = extension_value(constraint.raw, "human")
                said = human.value[:300] if human is not None and isinstance(human.value, str) else ""
                text = said or f"The constraint {key} is broken"
                self._findings.add("warning" if mild else "error", place, text, code="invariant", rule=key)


_ASKING = ("ordinal(", "weight(", "ordinalValue", "itemWeight", ".extension")
# By linkId and code: what it counts, and the extensions that say so.
_Counted = tuple[Decimal, tuple[JsonObject, ...]]
Scores = Mapping[str, Mapping[tuple[str, str], _Counted]]


def with_scores(response: JsonObject, form: IndexedForm, known: Terminology) -> JsonObject:
    """Return a response whose codes know what they count; as it is where no formula of the form asks for that.

    A response repeats codes without the scores that the form gives them, and formulas with ``ordinal()`` or
    ``weight()`` ask for them.
    """
    owners = (form.raw, *(asked.raw for asked in form.by_id.values()))
    if "item" not in response or not any(word in str(raw.get("extension", "")) for raw in owners for word in _ASKING):
        return response
    reader = OptionReader(known)
    scores: dict[str, dict[tuple[str, str], _Counted]] = {}
    for link_id, asked in form.by_id.items():
        for option in reader.read(asked.raw, asked.type).options if asked.type in CHOICES else ():
            if option.ordinal is not None:
                key = code_key(as_object(option.answer.value))
                scores.setdefault(link_id, {}).setdefault(key, (option.ordinal, option.marks))
    return {**response, "item": _scored(response["item"], scores, {})}


def _scored(node: JsonValue, scores: Scores, own: Mapping[tuple[str, str], _Counted]) -> JsonValue:
    """Return items or answers with scores; `own` are those of the question around them."""
    if isinstance(node, list):
        return [_scored(each, scores, own) for each in node]
    if not isinstance(node, dict):
        return node
    own = scores.get(string(node, "linkId"), {}) if "linkId" in node else own
    made = dict(node)
    for name, inside in (("item", {}), ("answer", own)):
        if name in node:
            made[name] = _scored(node[name], scores, inside)
    coding = node.get("valueCoding")
    if isinstance(coding, dict) and (score := own.get(code_key(coding))) is not None:
        made["valueCoding"] = Scored(coding, *score)
    return made

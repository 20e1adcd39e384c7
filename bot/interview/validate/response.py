"""Validate a QuestionnaireResponse against its Questionnaire. Pure.

The verdict (errors or none) is meant to be that of HL7's own validator; `docs/fhir.md` says where it is not. Findings
name linkIds, types and limits, never what a patient wrote.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.interview.form.indexed import GivenItem, IndexedForm, IndexedItem, index_questionnaire
from bot.interview.rules.enabled import Enablement
from bot.interview.validate.formulas import ResponseFormulas, Unclear
from bot.interview.validate.item import ItemChecks, match_items
from bot.interview.validate.scores import with_scores
from bot.interview.validate.structure import check_structure
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    extension_value,
    extensions,
    objects,
    split_canonical,
    string,
)
from bot.interview.values.fhir_names import CONSTRAINT, TARGET_CONSTRAINT
from bot.interview.values.finding import Finding, Findings, Place, Severity
from bot.interview.values.primitives import compare_dates
from bot.interview.values.terminology import Terminology


class Constraints:
    """Checks the constraints of a form and of its items."""

    def __init__(self, formulas: ResponseFormulas, findings: Findings, *, finished: bool) -> None:
        """Take whether the response is finished: until then, a broken constraint is a warning."""
        self._formulas = formulas
        self._findings = findings
        self._finished = finished

    def check_form(self, form: IndexedForm, root: Place) -> None:
        """Check the constraints on the whole response."""
        self._check(form.raw, None, None, root)

    def check_item(self, given: GivenItem) -> None:
        """Check the constraints on one item of the response."""
        if "extension" in given.asked.raw:
            self._check(given.asked.raw, given.asked, given, given.place)

    def _check(self, raw: JsonObject, asked: IndexedItem | None, given: GivenItem | None, place: Place) -> None:
        for extension in extensions(raw, *CONSTRAINT, *TARGET_CONSTRAINT):
            self._check_one(extension, asked, given, place)

    def _check_one(
        self, extension: JsonObject, asked: IndexedItem | None, given: GivenItem | None, place: Place
    ) -> None:
        key, human = _text(extension, "key") or "without key", _text(extension, "human")
        try:
            found = self._formulas.value(_expression(extension), asked, given, given)
        except Unclear as reason:
            text = f"The constraint {key} was not checked: {reason}"
            self._findings.warning(place, text, code="incomplete", rule="constraint")
            return
        # Nothing to say is no objection; so is anything but a plain "false".
        if found and found[0] is False:
            mild = _text(extension, "severity") == "warning" or not self._finished
            severity: Severity = "warning" if mild else "error"
            self._findings.add(severity, place, human or f"The constraint {key} is broken", code="invariant", rule=key)


def _expression(extension: JsonObject) -> JsonObject:
    """Return the formula: an Expression, or plain text in the older of the two extensions."""
    value = extension_value(extension, "expression")
    if value is None:
        return {}
    return {"expression": value.value} if isinstance(value.value, str) else as_object(value.value)


def _text(extension: JsonObject, name: str) -> str:
    value = extension_value(extension, name)
    return value.value[:300] if value is not None and isinstance(value.value, str) else ""


Resolve = Callable[[str], JsonObject | None]
UNFINISHED = ("in-progress", "stopped", "entered-in-error")


def check_response(
    response: JsonObject, form: IndexedForm | None, *, known: Terminology | None = None, now: str = ""
) -> list[Finding]:
    """Return everything that is wrong with a response.

    Args:
        response: The QuestionnaireResponse as JSON.
        form: Its Questionnaire, indexed; None when it could not be found (then only the structure is checked).
        known: Value sets and code systems at hand, beside those contained in the Questionnaire.
        now: The moment that formulas may ask for, as a FHIR dateTime with zone; without it, those that do are unclear.
    """
    findings = Findings()
    root = check_structure(response, findings)
    if form is None:
        _say_unresolved(response, root, findings)
        return findings.all()
    _check_authored(response, form.raw, root, findings)
    inside = (known or Terminology()).within(form.container)
    response = with_scores(response, form, inside)
    given = match_items(response, form, root, findings)
    formulas = ResponseFormulas(form, response, now=now)
    finished = string(response, "status") not in UNFINISHED
    checks = ItemChecks(
        findings=findings,
        known=inside,
        enablement=Enablement(form, given.all, formulas.enabled),
        finished=finished,
        same_language=_same_language(response, form.raw),
    )
    constraints = Constraints(formulas, findings, finished=finished)
    checks.check_missing(None, form.top, given, root)
    constraints.check_form(form, root)
    for item in given.all:
        checks.check(item)
        checks.check_missing(item, item.asked.children, given, item.place)
        constraints.check_item(item)
    return findings.all()


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


def _say_unresolved(response: JsonObject, root: Place, findings: Findings) -> None:
    canonical = string(response, "questionnaire")
    if canonical:
        version = " in this version" if split_canonical(canonical)[1] else ""
        text = f"The Questionnaire {canonical[:200]} could not be found{version}, so the answers were not checked"
        findings.warning(root.child("questionnaire"), text, code="not-found", rule="questionnaire")
    else:
        text = "No Questionnaire is named, so the answers were not checked against it"
        findings.information(root, text, code="required", rule="questionnaire")


def _check_authored(response: JsonObject, questionnaire: JsonObject, root: Place, findings: Findings) -> None:
    authored, period = string(response, "authored"), as_object(questionnaire.get("effectivePeriod"))
    for bound, wrong in (("start", "before"), ("end", "after")):
        limit = string(period, bound)
        if authored and limit and compare_dates(authored, limit) == wrong:
            text = f"Authored {wrong} the {bound} of the Questionnaire's effective period ({limit})"
            findings.warning(root.child("authored"), text, code="business-rule", rule="effectivePeriod")
    version = split_canonical(string(response, "questionnaire"))[1]
    actual = string(questionnaire, "version")
    if version and actual and version != actual:
        text = f"The response names version {version[:40]}, but the Questionnaire at hand is {actual[:40]}"
        findings.warning(root.child("questionnaire"), text, code="business-rule", rule="version")


def _same_language(response: JsonObject, questionnaire: JsonObject) -> bool:
    """Say whether both are in one language, as far as they tell."""
    one, other = string(response, "language"), string(questionnaire, "language")
    return not one or not other or one.partition("-")[0].lower() == other.partition("-")[0].lower()

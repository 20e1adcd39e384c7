"""Validate a QuestionnaireResponse against its Questionnaire. Pure.

The verdict (errors or none) is meant to be that of HL7's own validator; `docs/fhir.md` says where it is not. Findings
name linkIds, types and limits, never what a patient wrote.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.interview.form.indexed import Holder, IndexedForm, index_questionnaire
from bot.interview.rules.enabled import Enablement
from bot.interview.validate.formulas import Constraints, ResponseFormulas, with_scores
from bot.interview.validate.item import ItemChecks, match_items
from bot.interview.validate.structure import check_structure
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    objects,
    split_canonical,
    string,
)
from bot.interview.values.finding import Finding, Findings, Place
from bot.interview.values.primitives import compare_dates
from bot.interview.values.terminology import Terminology

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
    whole = Holder(response, root, None, form.top)
    given = match_items(whole, form, findings)
    formulas = ResponseFormulas(form, response, now=now)
    finished = string(response, "status") not in UNFINISHED
    checks = ItemChecks(
        findings=findings,
        known=inside,
        enablement=Enablement(form, given, formulas.enabled),
        finished=finished,
        same_language=_same_language(response, form.raw),
    )
    constraints = Constraints(formulas, findings, finished=finished)
    checks.check_inside(whole)
    constraints.check(form.raw, root)
    for item in given:
        checks.check(item)
        for holder in item.holders:
            checks.check_inside(holder)
        constraints.check(item.asked.raw, item.place, item)
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

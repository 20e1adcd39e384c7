"""Does a response keep the constraints that its Questionnaire states in FHIRPath. Pure."""

from __future__ import annotations

from bot.interview.fhir_json import JsonObject, as_object, extension_value, extensions
from bot.interview.indexed import Asked, Form, Given
from bot.interview.outcome import Findings, Place, Severity
from bot.interview.response_formulas import ResponseFormulas, Unclear
from bot.interview.sdc import CONSTRAINT, TARGET_CONSTRAINT


class Constraints:
    """Checks the constraints of a form and of its items."""

    def __init__(self, formulas: ResponseFormulas, findings: Findings, *, finished: bool) -> None:
        """Take whether the response is finished: until then, a broken constraint is a warning."""
        self._formulas = formulas
        self._findings = findings
        self._finished = finished

    def check_form(self, form: Form, root: Place) -> None:
        """Check the constraints on the whole response."""
        self._check(form.raw, None, None, root)

    def check_item(self, given: Given) -> None:
        """Check the constraints on one item of the response."""
        if "extension" in given.asked.raw:
            self._check(given.asked.raw, given.asked, given, given.place)

    def _check(self, raw: JsonObject, asked: Asked | None, given: Given | None, place: Place) -> None:
        for extension in extensions(raw, *CONSTRAINT, *TARGET_CONSTRAINT):
            self._check_one(extension, asked, given, place)

    def _check_one(self, extension: JsonObject, asked: Asked | None, given: Given | None, place: Place) -> None:
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

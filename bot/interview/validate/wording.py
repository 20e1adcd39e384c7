"""Word violations of a form's rules as findings. Pure.

Numbers, codes and limits are named; free text and dates of a patient are not.
"""

from __future__ import annotations

from bot.interview.form.indexed import IndexedItem
from bot.interview.rules.answers import Violation
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import as_object, extension_value, string
from bot.interview.values.fhir_names import ENTRY_FORMAT
from bot.interview.values.finding import Findings, Place

# By rule and manner.
_TEXTS = {
    "maxLength": "The answer has {given} characters, more than the {limit} allowed",
    "minLength": "The answer has {given} characters, fewer than the {limit} required",
    "line-break": "A line break in the answer to a one-line question",
    "regex": "The answer does not have the required form{hint}",
    "regex: not checked": "The item's regex cannot be read, takes too long or fits no date, so it was not checked",
    "computed-limit": "A computed limit was not checked",
    "Value: beyond": "{subject} is {beyond} allowed, {limit}",
    "Value: unknown": "The answer cannot be compared with the limit {limit}",
    "Quantity: beyond": "{answer} is {beyond} allowed, {limit}",
    "Quantity: no unit": "{answer} cannot be compared with the limit {limit}: the limit has no unit",
    "Quantity: no code": "{answer} cannot be compared with the limit {limit}: not both have a coded unit",
    "Quantity: other kind": "{answer} cannot be compared with the limit {limit}: the units measure different things",
    "Quantity: unknown unit": "{answer} cannot be compared with the limit {limit}: the unit is not known here",
    "maxDecimalPlaces": "The value {answer} has {given} decimal places, more than the {limit} allowed",
    "unitOption": "The unit {unit} is none of {allowed}, or not named so",
    "unitValueSet": "The unit {unit} is not in the value set {value_set}",
    "unitValueSet: unknown": "Whether the unit is in the value set {value_set} cannot be told here",
    "unitValueSet: not at hand": "The value set {value_set} is not at hand",
    "mimeType": "The content type {given!r} is none of {allowed}",
    "mimeType: missing": "The attachment does not say its content type",
    "maxSize": "The attachment has {given} bytes, more than the {limit} allowed",
    "reference-type": "{given!r} is no resource type of R4",
    "referenceResource": "A reference to {given}, but only {allowed} is allowed",
    "text-for-option": "The free text is the same as one of the options",
    "answerOption": "{subject} is none of the options",
    "answerOption: computed": "{subject} is none of the listed options; computed ones are not known here",
    "display: of option": "The display is not that of the option",
    "display: of system": "The display of {concept} is {display!r}, not what is given",
    "value-set": "The value set {value_set} is not at hand",
    "answerValueSet": "{subject} is not in the value set {value_set}",
    "answerValueSet: unknown": "{subject} may or may not be in the value set {value_set}: this cannot be told here",
    "answerValueSet: no system": "A code of a value set needs its system",
    "answerValueSet: text": "A text cannot be one of the codes of a value set",
    "no-options": "The item has no options to check the code with",
    "coding-system": "The system of a code must be an absolute URI",
    "coding-system: missing": "A code without its system means nothing",
    "code": "The code system {system} has no code {code!r}",
    "optionExclusive": "{subject} excludes all other answers, but there are {given}",
}
# FHIR's issue type, where it is not that of the severity.
_ISSUE_TYPES = {
    "line-break": "invariant",
    "unitValueSet": "code-invalid",
    "unitValueSet: not at hand": "not-found",
    "mimeType: missing": "required",
    "text-for-option": "invariant",
    "display: of option": "invariant",
    "display: of system": "invalid",
    "value-set": "not-found",
    "answerValueSet": "code-invalid",
    "answerValueSet: no system": "code-invalid",
    "answerValueSet: text": "invariant",
    "coding-system": "code-invalid",
    "coding-system: missing": "invalid",
    "code": "code-invalid",
}
_BY_SEVERITY = {"error": "invariant", "warning": "incomplete", "information": "incomplete"}
_BOUNDS = ("minValue", "maxValue", "minQuantity", "maxQuantity")
_LONGEST = {"value_set": 120, "system": 120, "code": 60, "given": 60, "unit": 40}


def report(violation: Violation, item: IndexedItem, place: Place, findings: Findings) -> None:
    """Add a violation of what `item` demands to the findings."""
    rule, values, example = violation.rule, violation.values, extension_value(item.raw, *ENTRY_FORMAT)
    name = rule[3:] if rule in _BOUNDS else rule
    key = f"{name}: {violation.how}" if violation.how else name
    answer = values.get("answer")
    said = {
        **{name: _say(name, value) for name, value in values.items()},
        "subject": _subject(answer) if isinstance(answer, Answer) else "",
        "beyond": "less than the least" if rule.startswith("min") else "greater than the greatest",
        "hint": f" (expected: {example.value})" if example and isinstance(example.value, str) else "",
    }
    code = _ISSUE_TYPES.get(key, _BY_SEVERITY[violation.severity])
    findings.add(violation.severity, place, _TEXTS[key].format_map(said), code=code, rule=rule)


def _say(name: str, value: JsonValue | Answer) -> str:
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    if not isinstance(value, Answer):
        return str(value)[: _LONGEST.get(name)]
    parts = as_object(value.value)
    if value.type == "quantity":
        return f"{parts.get('value')} {string(parts, 'unit') or string(parts, 'code')}".strip()[:60]
    if value.type == "coding":
        return f"{string(parts, 'system')[:120]}#{string(parts, 'code')[:60]}"
    return str(value.value)[:60]


def _subject(answer: Answer) -> str:
    if answer.type == "coding":
        return f"The code {_say('answer', answer)}"
    if answer.type in {"integer", "decimal"}:
        return f"The value {_say('answer', answer)}"
    return "The text" if answer.type == "string" else "The value"

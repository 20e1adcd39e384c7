"""Check the formulas that a Questionnaire states: can they be read, and is there what they name. Pure.

Nothing is evaluated. The interview says of each formula what it does without it (`Form.gaps`), so it does not ask here.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.interview.form.formulas import launch_names
from bot.interview.formulas.evaluator import CONSTANTS, STANDARD_LAUNCH, compile_formula
from bot.interview.formulas.formula import BadFormula
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, as_object, extension_values, objects, string
from bot.interview.values.fhir_names import CONSTRAINT, VARIABLE
from bot.interview.values.finding import Finding, Findings, Place

_FHIRPATH = "text/fhirpath"
_QUERY = "application/x-fhir-query"
_ALWAYS = frozenset({"resource", "rootResource", "context", "questionnaire", "qitem", *CONSTANTS}) | STANDARD_LAUNCH


def check_formulas(resource: JsonObject) -> list[Finding]:
    """Return a warning for each formula of a Questionnaire that cannot be read, or names what nothing defines."""
    findings, root = Findings(resource), Place("Questionnaire")
    # What stands in contained resources (the results of a query to prepopulate from) has a name by its id.
    given = _ALWAYS | launch_names(resource) | {string(each, "id") for each in objects(resource, "contained")}
    pending = [(resource, root, given)]
    while pending:
        node, place, around = pending.pop()
        names = around | set(_defined(node))
        for index, extension in enumerate(objects(node, "extension")):
            if string(extension, "url") in VARIABLE and "name" not in as_object(extension.get("valueExpression")):
                text = "A variable without a name: no formula can use it"
                findings.warning(place.child("extension", index), text, code="required", rule="formula-name")
        for expression, here in _expressions(node, place):
            _check(expression, names, here, findings)
        found = node.get("item")
        inside = enumerate(found if isinstance(found, list) else ())
        children = [(each, place.child("item", index), names) for index, each in inside if isinstance(each, dict)]
        pending += reversed(children)
    return findings.all()


def _defined(node: JsonObject) -> Iterator[str]:
    """Yield the names that an element defines for what is in it: every Expression with a name does."""
    for extension in objects(node, "extension"):
        expression = as_object(extension.get("valueExpression"))
        if name := string(expression, "name"):
            yield name
    yield from (string(as_object(each.value), "name") for each in extension_values(node, *VARIABLE))


def _expressions(node: JsonObject, place: Place) -> Iterator[tuple[JsonObject, Place]]:
    """Yield the Expressions of an element, those of its texts and options too, but not those of the items in it."""
    pending: list[tuple[JsonValue, Place]] = [
        (value, place.child(name)) for name, value in node.items() if name not in {"item", "contained"}
    ]
    while pending:
        value, here = pending.pop()
        if isinstance(value, list):
            pending += [(each, Place(here.name, here.parent, index)) for index, each in enumerate(value)]
        elif isinstance(value, dict):
            if isinstance(value.get("valueExpression"), dict):
                yield as_object(value["valueExpression"]), here.child("value.ofType(Expression)")
            elif string(value, "url") in CONSTRAINT:
                # The older extension holds plain text where others hold an Expression.
                for index, part in enumerate(objects(value, "extension")):
                    if string(part, "url") == "expression" and "valueString" in part:
                        made = {"language": _FHIRPATH, "expression": part["valueString"]}
                        yield made, here.child("extension", index).child("value.ofType(string)")
                continue
            pending += [(each, here.child(name)) for name, each in value.items() if isinstance(each, dict | list)]


def _check(expression: JsonObject, names: frozenset[str] | set[str], place: Place, findings: Findings) -> None:
    language, source = string(expression, "language"), string(expression, "expression")
    if not source or language == _QUERY:
        return
    if language not in {"", _FHIRPATH}:
        text = f"A formula in {language[:40]} is not evaluated here: only {_FHIRPATH} is"
        findings.warning(place, text, code="not-supported", rule="formula-language")
        return
    try:
        reads = compile_formula(source).reads
    except BadFormula as error:
        findings.warning(place, f"The formula cannot be read: {error}", code="invalid", rule="formula")
        return
    if unknown := sorted(reads.variables - names):
        text = f"The formula reads %{', %'.join(unknown)[:200]}, which nothing defines here"
        findings.warning(place, text, code="not-found", rule="formula-name")

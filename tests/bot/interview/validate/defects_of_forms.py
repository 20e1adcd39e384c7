"""Single defects of a Questionnaire, as data: what is changed in the sound one, the clause it breaks, the finding."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from tests.bot.interview.resources import CORE, SDC, UCUM, Json, coding, extended, item, quantity
from tests.bot.interview.validate.sound_forms import CODES, GONE, Defect, when

Q = "Questionnaire"
EXPRESSION = {"language": "text/fhirpath", "expression": "1"}


def head(clause: str, at: str, value: Any, rule: str, severity: str = "error") -> Defect:
    """A defect outside all items, found where it is."""
    return Defect(clause, at, value, rule, f"{Q}.{at}", "-", severity)


def bad(link_id: str, kind: str, clause: str, rule: str, **more: Any) -> Defect:
    """A further item at the end, which is wrong by itself."""
    return Defect(clause, "item[+]", item(link_id, kind, **more), rule, f"{Q}.item[+]", link_id)


def conditional(clause: str, rule: str, conditions: list[Json], severity: str = "error", **more: Any) -> Defect:
    """A further item at the end, with a condition that is wrong."""
    asked = item("late", "string", enableWhen=conditions, **more)
    return Defect(clause, "item[+]", asked, rule, f"{Q}.item[+].enableWhen[0]", "late", severity)


def limited(clause: str, kind: str, rule: str, severity: str, *pairs: tuple[str, Json], **more: Any) -> Defect:
    """A further item at the end, with extensions that are wrong together."""
    asked = item("late", kind, extension=extended(*pairs), **more)
    return Defect(clause, "item[+]", asked, rule, f"{Q}.item[+]", "late", severity)


def mistyped(url: str, value: Json, kind: str = "string") -> Defect:
    """An extension whose value is of another type than its definition says."""
    asked = item("late", kind, extension=[{"url": url, **value}])
    clause = f"{url.rpartition('/')[2]}: type of its value"
    return Defect(clause, "item[+]", asked, "extension-type", f"{Q}.item[+].extension[0]", "late")


HEAD = [
    Defect("R4 Questionnaire.status 1..1", "status", GONE, "cardinality", Q, "-"),
    head("R4 binding publication-status", "status", "final", "binding"),
    head("R4 json: true is no text", "experimental", "true", "type"),
    head("R4 Questionnaire.date: dateTime", "date", "1 May 2024", "type"),
    head("R4 Questionnaire.url: uri", "url", "http://example.org/a b", "type"),
    head("R4 Questionnaire.url: no version in it", "url", "http://example.org/q|1", "canonical", "warning"),
    head("R4 que-0", "name", "sound form", "que-0", "warning"),
    head("R4 Questionnaire.subjectType: a type of R4", "subjectType[0]", "Chicken", "binding"),
    Defect("R4 per-1", "effectivePeriod.end", "2019", "per-1", f"{Q}.effectivePeriod", "-"),
    head("R4 Questionnaire.language", "language", "deutsch", "binding"),
    Defect("R4 cpt-2", "contact", [{"telecom": [{"value": "7"}]}], "cpt-2", f"{Q}.contact[0].telecom[0]", "-"),
    Defect("R4 ContactPoint.system", "contact", [{"telecom": [{"system": "mail", "value": "7"}]}], "binding",
           f"{Q}.contact[0].telecom[0].system", "-"),
    Defect("R4 derivedFrom: canonical", "derivedFrom", ["http://x y"], "type", f"{Q}.derivedFrom[0]", "-"),
    Defect("R4 canonical: absolute", "derivedFrom", ["Questionnaire/1"], "canonical", f"{Q}.derivedFrom[0]", "-", "warning"),
    Defect("R4 UsageContext.value[x] 1..1", "useContext", [{"code": {"code": "age"}}], "cardinality", f"{Q}.useContext[0]", "-"),
    Defect("R4 rng-2", "useContext", [{"code": {"code": "age"}, "valueRange": {"low": {"value": 9}, "high": {"value": 2}}}],
           "rng-2", f"{Q}.useContext[0].value.ofType(Range)", "-"),
    Defect("R4 approvalDate: date", "approvalDate", "2024-05-01T10:00:00Z", "type", f"{Q}.approvalDate", "-"),
    Defect("R4 contained value set: its status", "contained[0].status", "ready", "binding", f"{Q}.contained[0].status", "-"),
    Defect("R4 contained value set: its codes", "contained[0].compose.include[0].concept[0].code", GONE, "cardinality",
           f"{Q}.contained[0].compose.include[0].concept[0]", "-"),
    Defect("R4 dom-3", "contained[+]", {"resourceType": "ValueSet", "id": "other", "status": "active"}, "dom-3",
           f"{Q}.contained[+]", "-"),
]  # fmt: skip

ITEMS = [
    Defect("R4 que-2", "@spare.linkId", "even", "que-2", Q, "even"),
    Defect("R4 Questionnaire.item.linkId 1..1", "@spare.linkId", GONE, "cardinality", f"{Q}.item[1]", "-"),
    Defect("R4 Questionnaire.item.type 1..1", "@spare.type", GONE, "cardinality", "@spare"),
    Defect("R4 binding item-type", "@spare.type", "number", "binding", "@spare.type"),
    Defect("R4 item-type question is abstract", "@spare.type", "question", "abstract-type", "@spare.type", severity="warning"),
    Defect("R4 json: true is no text", "@smoker.required", "true", "type", "@smoker.required"),
    Defect("R4 json: 5 is no text", "@notes.maxLength", "5", "type", "@notes.maxLength"),
    Defect("R4 Questionnaire.item.prefix: string", "@spare.prefix", 1, "type", "@spare.prefix"),
    Defect("R4 Questionnaire.item.definition: uri", "@spare.definition", "a b", "type", "@spare.definition"),
    Defect("R4 json: unknown property", "@spare.answerOptions", [], "unknown-property", "@spare"),
    bad("empty", "group", "R4 que-1: a group has items", "que-1"),
    bad("shown", "display", "R4 que-3", "que-3", code=[{"system": "http://loinc.org", "code": "1-8"}]),
    bad("two", "choice", "R4 que-4", "que-4", answerOption=[coding("a")], answerValueSet="#countries"),
    bad("yes", "boolean", "R4 que-5", "que-5", answerValueSet="#countries"),
    bad("shown", "display", "R4 que-6", "que-6", required=True),
    Defect("R4 que-8", "@person.initial", [{"valueString": "x"}], "que-8", "@person"),
    bad("shown", "display", "R4 que-9", "que-9", readOnly=True),
    bad("born2", "date", "R4 que-10", "que-10", maxLength=5),
    bad("preset", "choice", "R4 que-11", "que-11", answerOption=[coding("a")], initial=[coding("a")]),
    bad("twice", "string", "R4 que-13", "que-13", initial=[{"valueString": "a"}, {"valueString": "b"}]),
    Defect("R4 answerOption: of the item's type", "item[+]", item("n", "integer", answerOption=[{"valueString": "x"}]),
           "answerOption-type", f"{Q}.item[+].answerOption[0]", "n"),
    Defect("R4 answerOption.value[x] 1..1", "@grade.answerOption[0]", {"initialSelected": True}, "cardinality", "@grade.answerOption[0]"),
    Defect("R4 Coding.userSelected", "@colour.answerOption[0].valueCoding.userSelected", "no", "type",
           "@colour.answerOption[0].value.ofType(Coding).userSelected"),
    Defect("R4 answerOption: each once", "@colour.answerOption[2].valueCoding", {"system": CODES, "code": "red"},
           "answerOption-twice", "@colour.answerOption[2]", severity="warning"),
    Defect("R4 initialSelected: one, without repeats", "@hobby.answerOption", [
        {**coding("a"), "initialSelected": True}, {**coding("b"), "initialSelected": True}], "initialSelected", "@hobby",
           severity="warning"),
    Defect("R4 answerValueSet: contained", "item[+]", item("c", "choice", answerValueSet="#nowhere"), "value-set",
           f"{Q}.item[+].answerValueSet", "c"),
    Defect("R4 initial: of the item's type", "@spare.initial", [{"valueInteger": 1}], "initial-type", "@spare.initial[0]"),
    Defect("R4 initial: within the limits of its item", "@packs.initial", [{"valueInteger": 61}], "initial-value",
           "@packs.initial[0]", severity="warning"),
]  # fmt: skip

CONDITIONS = [
    conditional("R4 enableWhen.question: an item", "enableWhen-target", when("nobody", "=", answerString="x")),
    Defect("R4 enableWhen.operator", "@packs.enableWhen[0].operator", "==", "binding", "@packs.enableWhen[0].operator"),
    conditional("R4 enableWhen.answer[x] 1..1", "cardinality", [{"question": "spare", "operator": "="}]),
    conditional("R4 que-7", "que-7", when("spare", "exists", answerString="x")),
    conditional("R4 enableWhen: of the type of its question", "enableWhen-type", when("spare", "=", answerInteger=1)),
    conditional("R4 enableWhen: an order for > and <", "enableWhen-operator", when("smoker", ">", answerBoolean=True)),
    conditional("R4 enableWhen: an answer that can be given", "enableWhen-option",
                when("colour", "=", answerCoding={"system": CODES, "code": "pink"}), "warning"),
    conditional("R4 enableWhen: no group", "enableWhen-type", when("person", "=", answerString="x"), "warning"),
    conditional("R4 enableWhen: not itself", "enableWhen-self", when("late", "=", answerString="x")),
    Defect("R4 enableWhen: an item before", "@spare.enableWhen", when("smoker", "=", answerBoolean=True), "enableWhen-after",
           "@spare.enableWhen[0]", severity="warning"),
    Defect("R4 enableWhen: none inside", "@person.enableWhen", when("smoker", "=", answerBoolean=True), "enableWhen-inner",
           "@person.enableWhen[0]"),
    Defect("R4 que-12", "@either.enableBehavior", GONE, "que-12", "@either"),
    Defect("R4 enableBehavior", "@either.enableBehavior", "some", "binding", "@either.enableBehavior"),
    Defect("R4 json: a list", "@packs.enableWhen", {"question": "smoker"}, "type", "@packs.enableWhen"),
]  # fmt: skip

EXTENSIONS = [
    mistyped(CORE + "questionnaire-hidden", {"valueString": "true"}),
    mistyped(CORE + "questionnaire-maxOccurs", {"valueString": "2"}),
    mistyped(CORE + "questionnaire-itemControl", {"valueString": "radio-button"}),
    mistyped(CORE + "minLength", {"valueDecimal": Decimal("2.0")}),
    mistyped(CORE + "regex", {"valueInteger": 7}),
    mistyped(CORE + "questionnaire-unitOption", {"valueString": "kg"}, "quantity"),
    mistyped(SDC + "sdc-questionnaire-calculatedExpression", {"valueString": "1 + 1"}),
    mistyped(SDC + "sdc-questionnaire-minQuantity", {"valueDecimal": Decimal("1.0")}, "quantity"),
    mistyped(CORE + "questionnaire-referenceProfile", {"valueString": "x"}, "reference"),
    mistyped(CORE + "designNote", {"valueString": "x"}),
    mistyped(SDC + "sdc-questionnaire-openLabel", {"valueCode": "x"}),
    Defect("R4 exp-1", "@spare.extension", [{
        "url": SDC + "sdc-questionnaire-initialExpression", "valueExpression": {"language": "text/fhirpath"}}], "exp-1",
           "@spare.extension[0].value.ofType(Expression)"),
    Defect("R4 Expression.language 1..1", "@spare.extension", [{
        "url": SDC + "sdc-questionnaire-initialExpression", "valueExpression": {"expression": "1"}}], "cardinality",
           "@spare.extension[0].value.ofType(Expression)"),
    Defect("R4 drt-1", "extension", [{"url": "http://x", "valueDuration": {"value": 3, "unit": "days"}}], "drt-1",
           f"{Q}.extension[0].value.ofType(Duration)", "-"),
    Defect("R4 rat-1", "extension", [{"url": "http://x", "valueRatio": {"numerator": {"value": 3}}}], "rat-1",
           f"{Q}.extension[0].value.ofType(Ratio)", "-"),
    Defect("R4 Money.currency", "extension", [{"url": "http://x", "valueMoney": {"value": 3, "currency": "Euro"}}], "binding",
           f"{Q}.extension[0].value.ofType(Money).currency", "-"),
    Defect("R4 Reference in an extension", "extension", [{"url": "http://x", "valueReference": {"reference": "Chicken/1"}}],
           "reference-type", f"{Q}.extension[0].value.ofType(Reference).reference", "-"),
    Defect("R4 positiveInt", "extension", [{"url": "http://x", "valuePositiveInt": 0}], "type",
           f"{Q}.extension[0].value.ofType(positiveInt)", "-"),
    Defect("R4 oid", "extension", [{"url": "http://x", "valueOid": "1.2.3"}], "type", f"{Q}.extension[0].value.ofType(oid)", "-"),
    Defect("R4 uuid", "extension", [{"url": "http://x", "valueUuid": "x"}], "type", f"{Q}.extension[0].value.ofType(uuid)", "-"),
    Defect("R4 instant", "extension", [{"url": "http://x", "valueInstant": "2024-05-01"}], "type",
           f"{Q}.extension[0].value.ofType(instant)", "-"),
    Defect("R4 markdown", "description", 7, "type", f"{Q}.description", "-"),
    Defect("R4 json: what a companion may hold", "_title", {"value": "x"}, "type", f"{Q}._title", "-"),
    limited("minValue is not above maxValue", "integer", "limits", "warning",
            (CORE + "minValue", {"valueInteger": 9}), (CORE + "maxValue", {"valueInteger": 2})),
    limited("minLength is not above maxLength", "string", "limits", "warning", (CORE + "minLength", {"valueInteger": 9}), maxLength=5),
    limited("minOccurs is not above maxOccurs", "string", "limits", "warning",
            (CORE + "questionnaire-minOccurs", {"valueInteger": 3}), (CORE + "questionnaire-maxOccurs", {"valueInteger": 2}), repeats=True,
            required=True),
    limited("regex: can be read", "string", "regex", "warning", (CORE + "regex", {"valueString": "([a-z"})),
]  # fmt: skip


def weighed(least: Json | None, greatest: Json | None = None, clause: str = "minQuantity and maxQuantity") -> Defect:
    """A quantity whose limits cannot be meant."""
    pairs = [
        (SDC + f"sdc-questionnaire-{name}Quantity", each) for name, each in (("min", least), ("max", greatest)) if each
    ]
    return limited(clause, "quantity", "limits", "warning", *pairs, (CORE + "questionnaire-unitOption",
                   {"valueCoding": {"system": UCUM, "code": "kg"}}))  # fmt: skip


def out_of_place(url: str, value: Json, kind: str, severity: str = "warning") -> Defect:
    """An extension at an item of a type that its definition does not name."""
    asked = item("late", kind, extension=[{"url": url, **value}])
    clause = f"{url.rpartition('/')[2]}: for other types of item"
    return Defect(clause, "item[+]", asked, "extension-item", f"{Q}.item[+].extension[0]", "late", severity)


def doubled(url: str, kind: str, *values: Json) -> Defect:
    """An extension that an element may have once, and has twice."""
    asked = item("late", kind, extension=[{"url": url, **value} for value in values])
    clause = f"{url.rpartition('/')[2]}: 0..1"
    return Defect(clause, "item[+]", asked, "extension-twice", f"{Q}.item[+].extension[1]", "late", "warning")


def bounded(kind: str, name: str, value: Json) -> Defect:
    """A least or greatest value of another type than the item."""
    asked = item("late", kind, extension=extended((CORE + name, value)))
    return Defect(
        "minValue: of the type of the element",
        "item[+]",
        asked,
        "limits",
        f"{Q}.item[+].extension[0]",
        "late",
        "warning",
    )


SENSE = [
    bounded("integer", "minValue", {"valueDate": "2020-01-01"}),
    bounded("date", "maxValue", {"valueTime": "10:00:00"}),
    bounded("string", "minValue", {"valueInteger": 1}),
    bounded("boolean", "maxValue", {"valueDecimal": Decimal("1.5")}),
    *(
        limited(f"{name}: above {floor}", kind, "limits", "warning", (CORE + name, {f"value{as_}": floor}), **more)
        for name, kind, as_, floor, more in (
            ("maxDecimalPlaces", "decimal", "Integer", -1, {}),
            ("minLength", "string", "Integer", -2, {}),
            ("maxSize", "attachment", "Decimal", 0, {}),
            ("questionnaire-sliderStepValue", "integer", "Integer", 0, {}),
            ("questionnaire-maxOccurs", "string", "Integer", 0, {"repeats": True}),
            ("questionnaire-minOccurs", "string", "Integer", -1, {}),
        )
    ),
    limited("maxOccurs: repeats=true or 1", "string", "limits", "warning", (CORE + "questionnaire-maxOccurs", {"valueInteger": 2})),
    limited("minOccurs: required=true or 0", "string", "limits", "warning", (CORE + "questionnaire-minOccurs", {"valueInteger": 2}),
            repeats=True),
    limited("minOccurs: more than one answer", "string", "limits", "warning", (CORE + "questionnaire-minOccurs", {"valueInteger": 2}),
            required=True),
    weighed(quantity("1", "m"), quantity("9", "kg"), "limits of one dimension"),
    weighed(quantity("9000", "g"), quantity("8", "kg"), "the least is not above the greatest"),
    weighed(None, quantity("9", "m"), "limits in what can be chosen"),
    weighed({"valueQuantity": {"system": UCUM, "code": "kg"}}, clause="a limit has a value"),
    out_of_place(CORE + "questionnaire-unit", {"valueCoding": {"system": UCUM, "code": "kg"}}, "quantity", "information"),
    out_of_place(CORE + "questionnaire-unitOption", {"valueCoding": {"system": UCUM, "code": "kg"}}, "decimal"),
    out_of_place(CORE + "questionnaire-referenceResource", {"valueCode": "Patient"}, "string"),
    out_of_place(CORE + "mimeType", {"valueCode": "image/png"}, "text"),
    out_of_place(SDC + "sdc-questionnaire-maxQuantity", quantity("9"), "integer"),
    doubled(CORE + "minValue", "integer", {"valueInteger": 1}, {"valueInteger": 2}),
    doubled(CORE + "questionnaire-hidden", "string", {"valueBoolean": True}, {"valueBoolean": False}),
    doubled(CORE + "regex", "string", {"valueString": "a"}, {"valueString": "b"}),
    doubled(SDC + "sdc-questionnaire-shortText", "string", {"valueString": "a"}, {"valueString": "b"}),
    Defect("questionnaire-hidden: Questionnaire.item", "extension", extended((CORE + "questionnaire-hidden", {"valueBoolean": True})),
           "extension-place", f"{Q}.extension[0]", "-", "warning"),
    Defect("optionExclusive: answerOption", "@grade.extension", extended((CORE + "questionnaire-optionExclusive", {"valueBoolean": True})),
           "extension-place", "@grade.extension[0]", severity="warning"),
    Defect("choiceOrientation: binding", "@grade.extension",
           extended((CORE + "questionnaire-choiceOrientation", {"valueCode": "across"})), "binding",
           "@grade.extension[0].value.ofType(code)"),
    Defect("LOINC: check digit", "@spare.code", [{"system": "http://loinc.org", "code": "72514-4"}], "code", "@spare.code[0]",
           severity="warning"),
    Defect("SNOMED CT: check digit", "@grade.answerOption", [{"valueCoding": {"system": "http://snomed.info/sct", "code": "22253001"}}],
           "code", "@grade.answerOption[0].value.ofType(Coding)", severity="warning"),
    Defect("R4 Coding.system: absolute", "@spare.code", [{"system": "mine", "code": "a"}], "coding-system", "@spare.code[0].system",
           severity="warning"),
    Defect("R4 initial: one of the value set", "item[+]", item("late", "choice", answerValueSet="#countries", initial=[
        coding("FR", "urn:iso:std:iso:3166")]), "initial-value", f"{Q}.item[+].initial[0]", "late", "warning"),
    conditional("R4 enableWhen: a code of the value set", "enableWhen-option",
                when("country", "=", answerCoding={"system": "urn:iso:std:iso:3166", "code": "FR"}), "warning"),
    Defect("SDC enableWhenExpression: without enableWhen", "@by-formula.enableWhen", when("smoker", "=", answerBoolean=True),
           "enableWhen-twice", "@by-formula.extension[0]", severity="warning"),
    # One finding, whatever else does not fit then.
    Defect("R4 answerOption.value[x]: its types", "@grade.answerOption[0]", {"valueDecimal": Decimal("1.5")}, "unknown-property",
           "@grade.answerOption[0]"),
    Defect("R4 Questionnaire.item.type, with a maxLength", "item[+]", item("late", "words", maxLength=3), "binding",
           f"{Q}.item[+].type", "late"),
    Defect("R4 answerValueSet: contained, by a slip of the pen", "@country.answerValueSet", "#country", "value-set",
           "@country.answerValueSet"),
    Defect("R4 initial: within all limits of its item", "@weight.initial", [{"valueQuantity": {"value": 3, "system": UCUM, "code": "cm"}}],
           "initial-value", "@weight.initial[0]", severity="warning"),
    Defect("unitValueSet: contained", "@dose.extension", extended((CORE + "questionnaire-unitValueSet", {"valueCanonical": "#none"})),
           "ref-1", "@dose.extension[0].value.ofType(canonical)"),
    Defect("R4 tim-2", "extension", [{"url": "http://x", "valueTiming": {"repeat": {"period": 1}}}], "tim-2",
           f"{Q}.extension[0].value.ofType(Timing).repeat", "-"),
    Defect("R4 Dosage: its properties", "extension", [{"url": "http://x", "valueDosage": {"amount": 1}}], "unknown-property",
           f"{Q}.extension[0].value.ofType(Dosage)", "-"),
]  # fmt: skip

RULE = {"key": {"valueId": "k-1"}, "severity": {"valueCode": "error"}, "human": {"valueString": "No"},
        "expression": {"valueString": "true"}}  # fmt: skip


def rule_with(where: str, rule: str, clause: str, how: str = "error", /, **parts: Json | None) -> Defect:
    """A constraint at the item `spare`, of which parts are other, missing (None) or too many."""
    made = [{"url": name, **part} for name, part in {**RULE, **parts}.items() if part is not None]
    given = [{"url": CORE + "questionnaire-constraint", "extension": made}]
    return Defect(clause, "@spare.extension", given, rule, f"@spare.extension[0]{where}", severity=how)


def included(clause: str, rule: str, **include: Any) -> Defect:
    """A further include of the contained value set."""
    return Defect(clause, "contained[0].compose.include[+]", include, rule, f"{Q}.contained[0].compose.include[+]", "-")


PARTS = [
    *(rule_with("", "cardinality", f"questionnaire-constraint: {name} 1..1", **{name: None}) for name in RULE),
    rule_with(".extension[1].value.ofType(code)", "binding", "binding constraint-severity", severity={"valueCode": "fatal"}),
    rule_with(".extension[1]", "extension-type", "constraint severity: code", severity={"valueString": "error"}),
    rule_with(".extension[4]", "extension-part", "questionnaire-constraint: its parts", "warning", why={"valueString": "x"}),
    Defect("translation: lang 1..1", "_title", {"extension": [{"url": CORE + "translation", "extension": [
        {"url": "content", "valueString": "x"}]}]}, "cardinality", f"{Q}._title.extension[0]", "-"),
    Defect("translation: lang is BCP 47", "_title", {"extension": [{"url": CORE + "translation", "extension": [
        {"url": "lang", "valueCode": "deutsch_CH"}, {"url": "content", "valueString": "x"}]}]}, "binding",
           f"{Q}._title.extension[0].extension[0].value.ofType(code)", "-"),
    limited("referenceResource: binding resource-types", "reference", "binding", "error",
            (CORE + "questionnaire-referenceResource", {"valueCode": "Doctors"})),
    limited("mimeType: BCP 13", "attachment", "binding", "error", (CORE + "mimeType", {"valueCode": "jpeg"})),
    included("R4 vsd-1", "vsd-1", version="1"),
    included("R4 vsd-2", "vsd-2", concept=[{"code": "x"}]),
    included("R4 vsd-3", "vsd-3", system=CODES, concept=[{"code": "x"}],
             filter=[{"property": "concept", "op": "is-a", "value": "x"}]),
    Defect("R4 Signature.when 1..1", "extension", [{"url": "http://x", "valueSignature": {
        "type": [{"code": "x"}], "who": {"display": "x"}}}], "cardinality", f"{Q}.extension[0].value.ofType(Signature)", "-"),
]  # fmt: skip
PLACES = {
    "referenceResource: binding resource-types": ".extension[0].value.ofType(code)",
    "mimeType: BCP 13": ".extension[0].value.ofType(code)",
}
PARTS = [replace(each, where=each.where + PLACES.get(each.clause, "")) for each in PARTS]

DEFECTS = [*HEAD, *ITEMS, *CONDITIONS, *EXTENSIONS, *SENSE, *PARTS]

"""Single defects of a response, as data: what is changed in the sound one, the clause it breaks, the finding expected."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tests.bot.interview.resources import coding, said
from tests.bot.interview.validate.sound_forms import CODES, GONE, Defect

QR = "QuestionnaireResponse"
REF = "R4 Reference.reference"
NUL, HALF, LONG = "a\x00b", "\ud800", "x" * 100_000
DIV = '<div xmlns="http://www.w3.org/1999/xhtml">{}</div>'


def value(link_id: str, kind: str) -> str:
    return f"@{link_id}.answer[0].value.ofType({kind})"


def answered(link_id: str, kind: str) -> str:
    return f"@{link_id}.answer[0].value{kind}"


def primitive(kind: str, link_id: str, given: Any) -> Defect:
    """A value that is none of its type: R4 datatypes gives what JSON and which texts each may be."""
    name = kind[0].upper() + kind[1:]
    return Defect(f"R4 datatypes: {kind}", answered(link_id, name), given, "type", value(link_id, kind))


STRUCTURE = [
    Defect("R4 QuestionnaireResponse.status 1..1", "status", GONE, "cardinality", QR, "-"),
    Defect("R4 binding questionnaire-answers-status", "status", "done", "binding", f"{QR}.status", "-"),
    Defect("R4 binding questionnaire-answers-status: case counts", "status", "Completed", "binding", f"{QR}.status", "-"),
    Defect("R4 json: unknown property", "comment", "x", "unknown-property", QR, "-"),
    Defect("R4 json: unknown property of an item", "@packs.colour", "x", "unknown-property", "@packs"),
    Defect("R4 json: unknown property of an answer", "@packs.answer[0].comment", "x", "unknown-property", "@packs.answer[0]"),
    Defect("R4 json: lists", "@packs.answer", {"valueInteger": 3}, "type", "@packs.answer"),
    Defect("R4 json: no list where one value is due", "@packs.text", ["x"], "type", "@packs.text"),
    Defect("R4 json: no empty list", "basedOn", [], "empty", f"{QR}.basedOn", "-"),
    Defect("R4 json: no empty object", "identifier", {}, "empty", f"{QR}.identifier", "-"),
    Defect("R4 json: no null", "authored", None, "type", f"{QR}.authored", "-"),
    Defect("R4 QuestionnaireResponse.item.linkId 1..1", "item[+]", {"text": "x"}, "cardinality", f"{QR}.item[+]", "-"),
    Defect("R4 value[x]: one of a choice", "@packs.answer[0].valueString", "x", "choice", "@packs.answer[0]"),
    Defect("R4 Resource.id", "id", "no spaces", "type", f"{QR}.id", "-"),
    Defect("R4 id: at most 64 characters", "id", "x" * 65, "type", f"{QR}.id", "-"),
    Defect("R4 Element.id: no spaces", "@packs.id", "a b", "id", "@packs.id"),
    Defect("R4 Resource.language: BCP 47", "language", "German", "binding", f"{QR}.language", "-"),
    Defect("R4 Resource.language: BCP 47, no underscore", "language", "en_US", "binding", f"{QR}.language", "-"),
    Defect("R4 Meta.lastUpdated: instant", "meta.lastUpdated", "2024-05-01", "type", f"{QR}.meta.lastUpdated", "-"),
    Defect("R4 Meta.versionId: id", "meta.versionId", "v 1", "type", f"{QR}.meta.versionId", "-"),
    Defect("R4 Meta.profile: canonical", "meta.profile[0]", "not a uri", "type", f"{QR}.meta.profile[0]", "-"),
    Defect("R4 json: null in a list, with nothing beside it", "meta.profile[0]", None, "empty", f"{QR}.meta.profile[0]", "-"),
    Defect("R4 Meta.tag: Coding", "meta.tag", [{"code": "a  b"}], "type", f"{QR}.meta.tag[0].code", "-"),
    Defect("R4 txt-1: active content", "text.div", DIV.format("<script>x()</script>"), "txt-1", f"{QR}.text.div", "-"),
    Defect("R4 txt-2: no empty narrative", "text.div", DIV.format(" "), "txt-2", f"{QR}.text.div", "-"),
    Defect("R4 Narrative.div: well formed", "text.div", "<div>a", "txt-1", f"{QR}.text.div", "-"),
    Defect("R4 Narrative.status", "text.status", "done", "binding", f"{QR}.text.status", "-"),
    Defect("R4 ext-1: value and extensions", "extension",
           [{"url": "http://x", "valueString": "a", "extension": [{"url": "b", "valueString": "c"}]}], "ext-1",
           f"{QR}.extension[0]", "-"),
    Defect("R4 ext-1: neither", "@packs.extension", [{"url": "http://x"}], "ext-1", "@packs.extension[0]"),
    Defect("R4 Extension.url 1..1", "extension", [{"valueString": "a"}], "cardinality", f"{QR}.extension[0]", "-"),
    Defect("R4 Extension.url: absolute", "extension", [{"url": "x", "valueString": "a"}], "extension-url",
           f"{QR}.extension[0]", "-"),
    Defect("R4 modifierExtension: not known", "modifierExtension", [{"url": "http://x", "valueBoolean": True}],
           "modifier-extension", f"{QR}.modifierExtension[0]", "-", "warning"),
    Defect("R4 Identifier.system: uri", "identifier.system", "local", "identifier-system", f"{QR}.identifier.system", "-"),
    Defect("R4 Identifier.value with urn:ietf:rfc:3986", "identifier.value", "7", "identifier-value",
           f"{QR}.identifier.value", "-"),
    Defect("R4 Identifier.use", "identifier.use", "mine", "binding", f"{QR}.identifier.use", "-"),
    Defect("R4 per-1", "identifier.period", {"start": "2024-02", "end": "2024-01"}, "per-1", f"{QR}.identifier.period", "-"),
]  # fmt: skip

PRIMITIVES = [
    primitive("boolean", "any-boolean", "true"),
    primitive("integer", "any-integer", "3"),
    primitive("integer", "any-integer", Decimal("3.5")),
    primitive("integer", "packs", 2**31),
    primitive("decimal", "any-decimal", "39.5"),
    primitive("decimal", "any-decimal", Decimal("1e999")),
    primitive("date", "any-date", "3.3.1975"),
    primitive("date", "any-date", "2019-02-29"),
    primitive("date", "any-date", "1975-13-01"),
    primitive("date", "any-date", "0000-01-01"),
    primitive("date", "any-date", "1975-03-03T00:00:00Z"),
    primitive("dateTime", "seen", "2024-05-01T10:30"),
    primitive("dateTime", "any-dateTime", "2024-05-01T10:30:00"),
    primitive("dateTime", "any-dateTime", "2024-05-01T24:00:00Z"),
    primitive("dateTime", "any-dateTime", "2024-05-01T10:30:00+14:30"),
    primitive("time", "any-time", "24:00:00"),
    primitive("time", "any-time", "06:00"),
    primitive("time", "any-time", "06:00:00Z"),
    primitive("string", "name", ""),
    primitive("string", "any-string", NUL),
    primitive("string", "hobby", HALF),
    primitive("string", "hobby", "x" * (1024 * 1024 + 1)),
    primitive("uri", "site", "http://example.org/a b"),
    primitive("uri", "site", "http://example.org/" + NUL),
    primitive("uri", "site", "urn:uuid:not-a-uuid"),
    primitive("uri", "site", "urn:oid:1.02"),
    Defect("R4 datatypes: dateTime", "authored", "yesterday", "type", f"{QR}.authored", "-"),
    Defect("R4 datatypes: code", "@colour.answer[0].valueCoding.code", " green", "type",
           f"{value('colour', 'Coding')}.code", severity="error"),
    Defect("R4 datatypes: base64Binary", "@photo.answer[0].valueAttachment.hash", "?", "type",
           f"{value('photo', 'Attachment')}.hash"),
    Defect("R4 datatypes: unsignedInt", "@photo.answer[0].valueAttachment.size", -8, "type",
           f"{value('photo', 'Attachment')}.size"),
]  # fmt: skip

ITEMS = [
    Defect("R4 QuestionnaireResponse.item.linkId: of the Questionnaire", "item[+]", said("nobody", {"valueString": "x"}),
           "linkId", f"{QR}.item[+]", "nobody"),
    Defect("a linkId of 100 000 characters", "item[+]", said(LONG, {"valueString": "x"}), "linkId", f"{QR}.item[+]",
           "x" * 120),
    Defect("R4 QuestionnaireResponse: order of the Questionnaire", "item[+]", said("spare", {"valueString": "x"}), "order", f"{QR}.item[+]",
           "spare"),
    Defect("R4 QuestionnaireResponse: place of the Questionnaire", "@person.item[+]", said("spare", {"valueString": "x"}),
           "misplaced", "@person.item[+]", "spare"),
    Defect("R4 qrs-1", "@allergy.item", [said("allergen", {"valueString": "x"})], "qrs-1", "@allergy"),
    Defect("R4 items of a question stand in its answers",
           "@travel", {"linkId": "travel", "item": [said("travel-where", {"valueString": "x"})]},
           "question-item", "@travel"),
    Defect("R4 a group has no answers", "@person.answer", [{"valueString": "x"}], "group-answer", "@person"),
    Defect("R4 a display has no answers", "@intro.answer", [{"valueString": "x"}], "display-answer", "@intro"),
    Defect("R4 Questionnaire.item.text", "@smoker.text", "Do you drink?", "text", "@smoker"),
    Defect("R4 Questionnaire.item.required", "@allergen.answer", GONE, "required", "@allergen"),
    Defect("R4 Questionnaire.item.required: the item", "@symptoms", GONE, "required", QR, "symptoms"),
    Defect("R4 Questionnaire.item.required: in an answer", "@allergy.answer[0].item", GONE, "required", "@allergy.answer[0]", "allergen"),
    Defect("R4 Questionnaire.item.required: in each repetition", "@child.item[0]", GONE, "required", "@child", "child-name"),
    Defect("R4 Questionnaire.item.repeats", "@packs.answer[+]", {"valueInteger": 4}, "repeats", "@packs"),
    Defect("R4 Questionnaire.item.repeats: the item twice", "item[33]", said("by-formula", {"valueString": "x"}), "repeats",
           QR, "by-formula"),
    Defect("questionnaire-minOccurs", "@symptoms.answer[1]", GONE, "minOccurs", "@symptoms"),
    Defect("questionnaire-maxOccurs", "@symptoms.answer", [coding(each) for each in ("red", "blue", "green", "grey")],
           "maxOccurs", "@symptoms"),
    Defect("questionnaire-maxOccurs of a group", "item[+]", {"linkId": "child", "item": [said("child-name", {"valueString": "x"})]},
           "maxOccurs", QR, "child"),
    Defect("questionnaire-optionExclusive", "@symptoms.answer[1]", coding("none"), "optionExclusive", "@symptoms"),
    Defect("R4 answer without a value", "@packs.answer[0]", {"id": "x"}, "no-value", "@packs.answer[0]", severity="warning"),
    Defect("R4 answer is of the item's type", "@packs.answer[0]", {"valueDecimal": Decimal("3.0")}, "answer-type",
           value("packs", "decimal")),
    Defect("R4 answer is of the item's type: a code for a text", "@notes.answer[0]", coding("x"), "answer-type",
           value("notes", "Coding")),
    Defect("R4 answer is of the item's type: a text for a quantity", "@dose.answer[0]", {"valueString": "5"}, "answer-type",
           value("dose", "string")),
]  # fmt: skip

ENABLED = [
    Defect(f"R4 Questionnaire.item.enableWhen {clause}", "@" + at, given, "enableWhen", "@" + link_id)
    for clause, at, given, link_id in (
        ("=", "child-ill.answer[0].valueBoolean", True, ""),
        ("!=", "colour.answer[0]", coding("red", display="Red"), "not-red"),
        ("<, date", "born.answer[0].valueDate", "2010-01-01", "adult"),
        (">, decimal", "temperature.answer[0].valueDecimal", Decimal("38.5"), "hot"),
        ("<=, time", "wakes.answer[0].valueTime", "06:00:01", "early"),
        (">=, quantity", "load.answer[0].valueQuantity.value", Decimal("2.9"), "heavy"),
        ("exists", "name", GONE, "named"),
    )
    if link_id
] + [
    Defect("R4 enableWhen exists = false", "item[+]", said("anonymous", {"valueString": "x"}), "enableWhen", f"{QR}.item[+]", "anonymous"),
    Defect("R4 enableWhen in the same repetition", "@child.item[+]", said("child-illness", {"valueString": "x"}),
           "enableWhen", "@child.item[+]", "child-illness"),
    Defect("R4 enableBehavior all", "item[+]", said("both", {"valueString": "x"}), "enableWhen", f"{QR}.item[+]", "both"),
    Defect("SDC enableWhenExpression", "@allergy.answer[0]", {"valueBoolean": False, "item": [said("allergen", {"valueString": "x"})]},
           "enableWhen", "@by-formula"),
    Defect("questionnaire-constraint", "@even.answer[0].valueInteger", 5, "even-1", "@even"),
]  # fmt: skip

LIMITS = [
    Defect("minValue integer", "@packs.answer[0].valueInteger", 0, "minValue", value("packs", "integer")),
    Defect("maxValue integer", "@packs.answer[0].valueInteger", 61, "maxValue", value("packs", "integer")),
    Defect("maxValue decimal", "@temperature.answer[0].valueDecimal", Decimal("42.6"), "maxValue", value("temperature", "decimal")),
    Defect("maxDecimalPlaces", "@temperature.answer[0].valueDecimal", Decimal("39.55"), "maxDecimalPlaces",
           value("temperature", "decimal")),
    Defect("minValue date", "@born.answer[0].valueDate", "1899-12-31", "minValue", value("born", "date")),
    Defect("minValue dateTime, over time zones", "@seen.answer[0].valueDateTime", "2020-01-01T00:30:00+01:00", "minValue",
           value("seen", "dateTime")),
    Defect("maxValue dateTime", "@seen.answer[0].valueDateTime", "2031", "maxValue", value("seen", "dateTime")),
    Defect("minValue time", "@wakes.answer[0].valueTime", "03:59:59", "minValue", value("wakes", "time")),
    Defect("SDC minQuantity in another unit", "@weight.answer[0].valueQuantity", {
        "value": 29_999, "unit": "g", "system": "http://unitsofmeasure.org", "code": "g"}, "minQuantity",
           value("weight", "Quantity")),
    Defect("SDC maxQuantity", "@weight.answer[0].valueQuantity.value", 201, "maxQuantity", value("weight", "Quantity")),
    Defect("questionnaire-unitOption: its display", "@weight.answer[0].valueQuantity.unit", "pound", "unitOption",
           value("weight", "Quantity")),
    Defect("maxLength", "@notes.answer[0].valueString", "x" * 51, "maxLength", value("notes", "string")),
    Defect("minLength", "@name.answer[0].valueString", "A", "minLength", value("name", "string")),
    Defect("regex", "@name.answer[0].valueString", "Ann3", "regex", value("name", "string")),
    Defect("Questionnaire.item.type string: one line", "@hobby.answer[0].valueString", "Blue", "text-for-option",
           value("hobby", "string"), severity="warning"),
    Defect("answerOption: code", "@colour.answer[0].valueCoding", {"system": CODES, "code": "pink"}, "answerOption",
           value("colour", "Coding")),
    Defect("answerOption: system", "@colour.answer[0].valueCoding.system", "http://example.org/other", "answerOption",
           value("colour", "Coding")),
    Defect("answerOption: display", "@colour.answer[0].valueCoding.display", "Rouge", "display", value("colour", "Coding"),
           severity="warning"),
    Defect("answerOption: integer", "@grade.answer[0].valueInteger", 3, "answerOption", value("grade", "integer")),
    Defect("answerOption: date", "@day.answer[0].valueDate", "2024-03-01", "answerOption", value("day", "date")),
    Defect("answerOption: string", "@word.answer[0].valueString", "One", "answerOption", value("word", "string")),
    Defect("answerOption: a text for a closed choice", "@colour.answer[0]", {"valueString": "Pink"}, "answerOption",
           value("colour", "string")),
    Defect("answerValueSet: code", "@country.answer[0].valueCoding", {"system": "urn:iso:std:iso:3166", "code": "FR"},
           "answerValueSet", value("country", "Coding")),
    Defect("answerValueSet: no system", "@country.answer[0].valueCoding.system", GONE, "answerValueSet", value("country", "Coding")),
    Defect("R4 Quantity.comparator", "@dose.answer[0].valueQuantity.comparator", "=", "binding", f"{value('dose', 'Quantity')}.comparator"),
    Defect("R4 qty-3", "@dose.answer[0].valueQuantity.system", GONE, "qty-3", value("dose", "Quantity")),
    Defect("R4 Quantity.value: a unit alone says nothing", "@dose.answer[0].valueQuantity", {"unit": "mg"}, "no-value",
           value("dose", "Quantity"), severity="warning"),
    Defect("R4 Attachment: neither data nor url", "@scan.answer[0].valueAttachment", {"contentType": "text/plain"}, "no-value",
           value("scan", "Attachment"), severity="warning"),
    Defect("R4 string: white space only", "@notes.answer[0].valueString", " \n ", "no-value", value("notes", "string"),
           severity="warning"),
    Defect("answerOption: no system", "@colour.answer[0].valueCoding.system", GONE, "answerOption", value("colour", "Coding")),
    Defect("R4 att-1", "@scan.answer[0].valueAttachment.contentType", GONE, "att-1", value("scan", "Attachment")),
    Defect("R4 Attachment.size: of the data", "@photo.answer[0].valueAttachment.size", 9, "attachment-size", value("photo", "Attachment")),
    Defect("R4 Attachment.hash: of the data", "@photo.answer[0].valueAttachment.hash", "YQ==", "attachment-hash", value("photo", "Attachment")),
    Defect("mimeType", "@photo.answer[0].valueAttachment.contentType", "image/jpeg", "mimeType", value("photo", "Attachment")),
    Defect("R4 Attachment.contentType: a MIME type", "@scan.answer[0].valueAttachment.contentType", "pdf", "binding",
           f"{value('scan', 'Attachment')}.contentType"),
    Defect("R4 Attachment.language", "@scan.answer[0].valueAttachment.language", "Deutsch!", "binding",
           f"{value('scan', 'Attachment')}.language"),
    Defect("R4 Attachment.data: base64", "@scan.answer[0].valueAttachment.data", "YQ=", "type",
           f"{value('scan', 'Attachment')}.data"),
    Defect("R4 Attachment.url", "@scan.answer[0].valueAttachment.url", "http://x/a b", "type",
           f"{value('scan', 'Attachment')}.url"),
    Defect("R4 Attachment.creation", "@scan.answer[0].valueAttachment.creation", "now", "type",
           f"{value('scan', 'Attachment')}.creation"),
    Defect("maxSize, by the stated size", "@photo.answer[0].valueAttachment", {"contentType": "image/png", "url": "http://x/y", "size": 11},
           "maxSize", value("photo", "Attachment")),
    Defect("questionnaire-referenceResource", "@doctor.answer[0].valueReference", {"reference": "Patient/1"}, "referenceResource",
           value("doctor", "Reference")),
]  # fmt: skip

REFERENCES = [
    *(
        Defect(f"{REF}: {clause}", "@where.answer[0].valueReference.reference", given, rule, value("where", "Reference") + ".reference")
        for clause, given, rule in (
            ("a type of R4", "Chicken/1", "reference-type"),
            ("an abstract type", "DomainResource/1", "reference-type"),
            ("no space", "Patient/1 2", "reference-form"),
            ("id of at most 64 characters", "Patient/" + "1" * 65, "reference-form"),
            ("type and id", "Patient", "reference-form"),
            ("relative to the base", "/Patient/1", "reference-form"),
            ("_history with a version", "Patient/1/_history", "reference-form"),
            ("urn:uuid", "urn:uuid:not-a-uuid", "reference-form"),
            ("urn:oid", "urn:oid:3.1", "reference-form"),
            ("URL with a space", "http://example.org/Patient/a b", "reference-form"),
            ("URL with a host", "http:/Patient/1", "reference-form"),
            ("a local id", "#a_b", "reference-form"),
        )
    ),
    Defect("R4 ref-1", "@where.answer[0].valueReference.reference", "#missing", "ref-1", value("where", "Reference")),
    Defect("R4 Reference: something must be there", "@where.answer[0].valueReference", {"type": "Location"}, "reference-empty",
           value("where", "Reference")),
    Defect("R4 Reference.type: a type of R4", "@where.answer[0].valueReference.type", "Chicken", "reference-type",
           value("where", "Reference") + ".type"),
    Defect("R4 Reference.type: that of the reference", "@doctor.answer[0].valueReference.type", "Patient", "reference-type",
           value("doctor", "Reference") + ".type"),
    Defect("R4 conditional references: in transactions only", "subject.reference", "Patient?identifier=7", "reference-form",
           f"{QR}.subject.reference", "-", "warning"),
    Defect("R4 QuestionnaireResponse.subject", "subject.reference", "Chicken/1", "reference-type", f"{QR}.subject.reference", "-"),
    Defect("R4 Questionnaire.subjectType", "subject.reference", "Organization/1", "subjectType", f"{QR}.subject", "-", "warning"),
    Defect("R4 QuestionnaireResponse.basedOn: its types", "basedOn[0].reference", "Patient/1", "reference-target", f"{QR}.basedOn[0]", "-"),
    Defect("R4 QuestionnaireResponse.partOf: its types", "partOf[0].reference", "Encounter/1", "reference-target", f"{QR}.partOf[0]", "-"),
    Defect("R4 QuestionnaireResponse.encounter: its type", "encounter.reference", "http://x.org/fhir/Patient/1", "reference-target",
           f"{QR}.encounter", "-"),
    Defect("R4 QuestionnaireResponse.source: its types, by name", "source.type", "Device", "reference-target", f"{QR}.source", "-"),
    Defect("R4 QuestionnaireResponse.author: its types, contained", "contained[0]",
           {"resourceType": "Location", "id": "helper"}, "reference-target", f"{QR}.author", "-"),
    Defect("R4 canonical: the Questionnaire answered", "questionnaire", "http://example.org/Questionnaire/other", "questionnaire",
           f"{QR}.questionnaire", "-"),
    Defect("R4 canonical: its version", "questionnaire", "http://example.org/Questionnaire/test|2.0", "version",
           f"{QR}.questionnaire", "-", "warning"),
    Defect("R4 canonical: no spaces", "questionnaire", "http://example.org/Questionnaire/test |1.0", "type", f"{QR}.questionnaire", "-"),
    Defect("R4 Questionnaire.effectivePeriod", "authored", "2019-05-01", "effectivePeriod", f"{QR}.authored", "-", "warning"),
]  # fmt: skip

INSIDE = f"{QR}.contained[0]"
CONTAINED = [
    Defect("R4 contained: a type of R4", "contained[0].resourceType", "Doctor", "type", INSIDE, "-"),
    Defect("R4 contained: its id", "contained[0].name[0].family", 7, "type", f"{INSIDE}.name[0].family", "-"),
    Defect("R4 dom-2", "contained[0].contained", [{"resourceType": "Basic", "id": "b", "code": {"text": "x"}}], "dom-2", INSIDE, "-"),
    Defect("R4 dom-3: not referred to", "contained[+]", {"resourceType": "Patient", "id": "p"}, "dom-3", f"{QR}.contained[1]", "-"),
    Defect("R4 dom-4", "contained[0].meta", {"versionId": "1"}, "dom-4", INSIDE, "-"),
    Defect("R4 dom-5", "contained[0].meta", {"security": [{"code": "R"}]}, "dom-5", INSIDE, "-"),
    Defect("R4 contained: JSON types", "contained[0].active", "yes", "type", f"{INSIDE}.active", "-"),
    Defect("R4 contained: unknown property", "contained[0].surname", "x", "unknown-property", INSIDE, "-"),
    Defect("R4 contained: required codes", "contained[0].gender", "m", "binding", f"{INSIDE}.gender", "-"),
    Defect("R4 contained: dates", "contained[0].birthDate", "1.1.70", "type", f"{INSIDE}.birthDate", "-"),
    Defect("R4 cpt-2", "contained[0].telecom", [{"value": "7"}], "cpt-2", f"{INSIDE}.telecom[0]", "-"),
    Defect("R4 contained: references in it", "contained[0].qualification",
           [{"code": {"text": "x"}, "issuer": {"reference": "Chicken/1"}}], "reference-type",
           f"{INSIDE}.qualification[0].issuer.reference", "-"),
    Defect("R4 contained: ids once", "contained[+]", {"resourceType": "Practitioner", "id": "helper"}, "contained-id",
           f"{QR}.contained[1].id", "-"),
]  # fmt: skip

CONTENT = [
    Defect("R4 txt-1: no scripts in addresses", "text.div", DIV.format("<a href=' Java\tScript:x()'>a</a>"), "txt-1",
           f"{QR}.text.div", "-"),
    Defect("XHTML: names in small letters", "text.div", DIV.format("<Em>x</Em>"), "txt-1", f"{QR}.text.div", "-"),
    Defect("binding data-absent-reason", "@any-string.answer[0]", {"_valueString": {"extension": [{
        "url": "http://hl7.org/fhir/StructureDefinition/data-absent-reason", "valueCode": "dunno"}]}}, "binding",
           "@any-string.answer[0]._valueString.extension[0].value.ofType(code)"),
    Defect("UCUM has such a unit", "@dose.answer[0].valueQuantity.code", "milligram", "ucum",
           value("dose", "Quantity") + ".code", severity="warning"),
]  # fmt: skip

DEFECTS = [*STRUCTURE, *PRIMITIVES, *ITEMS, *ENABLED, *LIMITS, *REFERENCES, *CONTAINED, *CONTENT]

"""The elements of R4's Questionnaire, QuestionnaireResponse and data types, as plain text. Pure.

One line a type: ``name:type`` with ``!`` for required, ``*`` for lists, ``=a,b`` for a required binding and ``name[x]``
for a choice of types. Source: the StructureDefinitions of FHIR R4 (4.0.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from bot.interview.values.primitives import PRIMITIVES

_RESOURCE = (
    "resourceType:string! id:id meta:Meta implicitRules:uri language:code text:Narrative contained:Resource* "
    "extension:Extension* modifierExtension:Extension*"
)
_ELEMENT = "id:string extension:Extension*"
_BACKBONE = "id:string extension:Extension* modifierExtension:Extension*"
_METADATA = (
    "url:uri identifier:Identifier* version:string name:string title:string status:code!=draft,active,retired,unknown "
    "experimental:boolean date:dateTime publisher:string contact:ContactDetail* description:markdown "
    "useContext:UsageContext* jurisdiction:CodeableConcept* purpose:markdown copyright:markdown"
)
_QUANTITY = "value:decimal comparator:code=<,<=,>=,> unit:string system:uri code:code"

_RESOURCES = {
    "Questionnaire": f"{_METADATA} derivedFrom:canonical* subjectType:code* approvalDate:date lastReviewDate:date "
    "effectivePeriod:Period code:Coding* item:Questionnaire.item*",
    "QuestionnaireResponse": "identifier:Identifier basedOn:Reference* partOf:Reference* questionnaire:canonical "
    "status:code!=in-progress,completed,amended,entered-in-error,stopped subject:Reference encounter:Reference "
    "authored:dateTime author:Reference source:Reference item:QuestionnaireResponse.item*",
}
_BACKBONES = {
    "Questionnaire.item": "linkId:string! definition:uri code:Coding* prefix:string text:string "
    "type:code!=group,display,question,boolean,decimal,integer,date,dateTime,time,string,text,url,choice,open-choice,"
    "attachment,reference,quantity enableWhen:Questionnaire.item.enableWhen* enableBehavior:code=all,any "
    "required:boolean repeats:boolean readOnly:boolean maxLength:integer answerValueSet:canonical "
    "answerOption:Questionnaire.item.answerOption* initial:Questionnaire.item.initial* item:Questionnaire.item*",
    "Questionnaire.item.enableWhen": "question:string! operator:code!=exists,=,!=,>,<,>=,<= "
    "answer[x]:boolean|decimal|integer|date|dateTime|time|string|Coding|Quantity|Reference!",
    "Questionnaire.item.answerOption": "value[x]:integer|date|time|string|Coding|Reference! initialSelected:boolean",
    "Questionnaire.item.initial": "value[x]:boolean|decimal|integer|date|dateTime|time|string|uri|Attachment|Coding|"
    "Quantity|Reference!",
    "QuestionnaireResponse.item": "linkId:string! definition:uri text:string "
    "answer:QuestionnaireResponse.item.answer* item:QuestionnaireResponse.item*",
    "QuestionnaireResponse.item.answer": "value[x]:boolean|decimal|integer|date|dateTime|time|string|uri|Attachment|"
    "Coding|Quantity|Reference item:QuestionnaireResponse.item*",
}
_DATA_TYPES = {
    "Address": "use:code=home,work,temp,old,billing type:code=postal,physical,both text:string line:string* "
    "city:string district:string state:string postalCode:string country:string period:Period",
    "Annotation": "author[x]:Reference|string time:dateTime text:markdown!",
    "Attachment": "contentType:code language:code data:base64Binary url:url size:unsignedInt hash:base64Binary "
    "title:string creation:dateTime",
    "CodeableConcept": "coding:Coding* text:string",
    "Coding": "system:uri version:string code:code display:string userSelected:boolean",
    "ContactDetail": "name:string telecom:ContactPoint*",
    "ContactPoint": "system:code=phone,fax,email,pager,url,sms,other value:string use:code=home,work,temp,old,mobile "
    "rank:positiveInt period:Period",
    "Expression": "description:string name:id language:code! expression:string reference:uri",
    "Extension": "url:uri! value[x]:any",
    "HumanName": "use:code=usual,official,temp,nickname,anonymous,old,maiden text:string family:string given:string* "
    "prefix:string* suffix:string* period:Period",
    "Identifier": "use:code=usual,official,temp,secondary,old type:CodeableConcept system:uri value:string "
    "period:Period assigner:Reference",
    "Meta": "versionId:id lastUpdated:instant source:uri profile:canonical* security:Coding* tag:Coding*",
    "Money": "value:decimal currency:code",
    "Narrative": "status:code!=generated,extensions,additional,empty div:xhtml!",
    "Period": "start:dateTime end:dateTime",
    "Quantity": _QUANTITY,
    "Age": _QUANTITY,
    "Count": _QUANTITY,
    "Distance": _QUANTITY,
    "Duration": _QUANTITY,
    "Range": "low:Quantity high:Quantity",
    "Ratio": "numerator:Quantity denominator:Quantity",
    "Reference": "reference:string type:uri identifier:Identifier display:string",
    "RelatedArtifact": "type:code!=documentation,justification,citation,predecessor,successor,derived-from,depends-on,"
    "composed-of label:string display:string citation:markdown url:url document:Attachment resource:canonical",
    "UsageContext": "code:Coding! value[x]:CodeableConcept|Quantity|Range|Reference!",
}
# Types that an extension may hold and whose inside is not looked into.
OPAQUE = frozenset(
    {"Contributor", "DataRequirement", "Dosage", "ParameterDefinition", "SampledData", "Signature", "Timing"}
    | {"TriggerDefinition"}
)


@dataclass(frozen=True, slots=True)
class Element:
    """What one property may hold.

    Attributes:
        name: Of the element: ``value`` also for the property ``valueString``.
        type: A primitive, a data type, a backbone element, or ``Resource``.
        choice: Whether it is one of a choice of types.
        codes: The codes of a required binding; empty where any will do.
    """

    name: str
    type: str
    required: bool = False
    many: bool = False
    choice: bool = False
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """The properties of one type by their JSON names, and the elements that must be there."""

    properties: MappingProxyType[str, Element]
    required: tuple[Element, ...]


def spec(name: str) -> TypeSpec | None:
    """Return the specification of a resource, backbone element or data type; None when it is not known here."""
    return _specs().get(name)


@cache
def _specs() -> MappingProxyType[str, TypeSpec]:
    lines = {name: f"{_RESOURCE} {line}" for name, line in _RESOURCES.items()}
    lines |= {name: f"{_BACKBONE} {line}" for name, line in _BACKBONES.items()}
    lines |= {name: f"{_ELEMENT} {line}" for name, line in _DATA_TYPES.items()}
    return MappingProxyType({name: _read(line) for name, line in lines.items()})


def _read(line: str) -> TypeSpec:
    properties: dict[str, Element] = {}
    required: list[Element] = []
    for field in line.split():
        name, _, rest = field.partition(":")
        kind, _, codes = rest.partition("=")
        types = kind.rstrip("!*")
        marks = kind[len(types) :]
        bound = tuple(code for code in codes.split(",") if code)
        element = Element(name, types, required="!" in marks, many="*" in marks, codes=bound)
        if name.endswith("[x]"):
            element = Element(name[:-3], "", element.required, choice=True)
            properties |= _choices(name[:-3], types)
        else:
            properties[name] = element
        if element.required:
            required.append(element)
    return TypeSpec(MappingProxyType(properties), tuple(required))


def _choices(name: str, types: str) -> dict[str, Element]:
    wanted = sorted(_any_type()) if types == "any" else types.split("|")
    return {f"{name}{kind[0].upper()}{kind[1:]}": Element(name, kind, choice=True) for kind in wanted}


def _any_type() -> frozenset[str]:
    return (PRIMITIVES - {"xhtml"}) | _DATA_TYPES.keys() - {"Extension", "Narrative"} | OPAQUE

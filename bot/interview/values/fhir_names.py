"""Names of FHIR R4 and SDC: types and their properties, item types, resource types, addresses of extensions. Pure.

What FHIR says of types is data (`r4.yaml`).
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import yaml

R4 = yaml.load((Path(__file__).parent / "r4.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
CHOICES = ("choice", "open-choice")
# By the type of the item, the `value[x]` that an answer may have. Choices may hold what their options hold.
ANSWER_TYPES = MappingProxyType({kind: tuple(types.split()) for kind, types in R4["answer_types"].items()})
# Types whose values have an order, so that greater and less mean something.
ORDERED = frozenset({"decimal", "integer", "date", "dateTime", "time", "string", "quantity"})
RESOURCE_TYPES = frozenset(R4["resource_types"].split())
# Nothing is only a resource: these are what all others are made from.
INSTANCE_TYPES = RESOURCE_TYPES - {"Resource", "DomainResource"}
# Where R4 defines its types and extensions: the address of each begins so.
DEFINITIONS = "http://hl7.org/fhir/StructureDefinition/"


def _by_address(part: str) -> dict[str, tuple[str, ...]]:
    return {base + name: tuple(words.split()) for base, group in R4[part].items() for name, words in group.items()}


# By the address of an extension: the types of the values it may hold; "*" among them where it may be there repeatedly.
EXTENSION_TYPES = MappingProxyType(_by_address("extension_types"))
# The types of item to which it says something, where its definition names them.
EXTENSION_ITEMS = MappingProxyType(_by_address("extension_items"))
# The element at which it stands, where it is one alone.
EXTENSION_PLACES = MappingProxyType(
    {
        base + name: element
        for base, group in R4["extension_places"].items()
        for element, names in group.items()
        for name in names.split()
    }
)

_CORE = DEFINITIONS
_SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/"

MIN_VALUE = (_CORE + "minValue",)
MAX_VALUE = (_CORE + "maxValue",)
MIN_LENGTH = (_CORE + "minLength",)
REGEX = (_CORE + "regex",)
ENTRY_FORMAT = (_CORE + "entryFormat",)
MAX_DECIMAL_PLACES = (_CORE + "maxDecimalPlaces",)
MAX_SIZE = (_CORE + "maxSize",)
MIME_TYPE = (_CORE + "mimeType",)
MIN_OCCURS = (_CORE + "questionnaire-minOccurs",)
MAX_OCCURS = (_CORE + "questionnaire-maxOccurs",)
OPTION_EXCLUSIVE = (_CORE + "questionnaire-optionExclusive",)
REFERENCE_RESOURCE = (_CORE + "questionnaire-referenceResource",)
REFERENCE_PROFILE = (_CORE + "questionnaire-referenceProfile",)
UNIT = (_CORE + "questionnaire-unit",)
UNIT_OPTION = (_CORE + "questionnaire-unitOption",)
UNIT_VALUE_SET = (_CORE + "questionnaire-unitValueSet",)
HIDDEN = (_CORE + "questionnaire-hidden",)
ITEM_CONTROL = (_CORE + "questionnaire-itemControl",)
VARIABLE = (_CORE + "variable",)
CQF_EXPRESSION = (_CORE + "cqf-expression",)
CONSTRAINT = (_CORE + "questionnaire-constraint",)
# Ours: the answers that leave nothing to decide before the exam; and, of a form, words that name something to decide.
DECISION = ("https://klartext.example/fhir/StructureDefinition/decision",)
DECISION_WORDS = ("https://klartext.example/fhir/StructureDefinition/decision-words",)
CONSTRAINT_TRANSLATION = ("https://klartext.example/fhir/StructureDefinition/constraint-translation",)
TARGET_CONSTRAINT = (_CORE + "targetConstraint", _SDC + "targetConstraint")
MIN_QUANTITY = (_SDC + "sdc-questionnaire-minQuantity",)
MAX_QUANTITY = (_SDC + "sdc-questionnaire-maxQuantity",)
# The second of two addresses is that of the drafts of SDC, which older forms still have.
ENABLE_WHEN_EXPRESSION = (
    _SDC + "sdc-questionnaire-enableWhenExpression",
    _CORE + "questionnaire-enableWhenExpression",
)
CALCULATED_EXPRESSION = (
    _SDC + "sdc-questionnaire-calculatedExpression",
    _CORE + "questionnaire-calculatedExpression",
)
INITIAL_EXPRESSION = (_SDC + "sdc-questionnaire-initialExpression", _CORE + "questionnaire-initialExpression")
ANSWER_EXPRESSION = (_SDC + "sdc-questionnaire-answerExpression", _CORE + "questionnaire-answerExpression")
ANSWER_OPTIONS_TOGGLE = (_SDC + "sdc-questionnaire-answerOptionsToggleExpression",)
LAUNCH_CONTEXT = (_SDC + "sdc-questionnaire-launchContext",)
SLIDER_STEP = (_CORE + "questionnaire-sliderStepValue",)
UNIT_OPEN = (_SDC + "sdc-questionnaire-unitOpen",)
# Values of UNIT_OPEN under which other units than the listed are taken.
OPEN_UNITS = ("optionsOrType", "optionsOrString")

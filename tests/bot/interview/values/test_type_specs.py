"""The tables of R4's types say what the models of `fhir.resources` say: the same properties, and which must be there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from fhir.resources.R4B import get_fhir_model_class

from bot.interview.values import type_specs
from bot.interview.values.fhir_names import R4
from bot.interview.values.primitives import PRIMITIVES
from bot.interview.values.type_specs import is_language, spec

_FURTHER = yaml.safe_load((Path(type_specs.__file__).parent / "r4_resources.yaml").read_text(encoding="utf-8"))
# What an extension may hold differs between R4 and R4B.
NAMES = [
    *R4["resources"],
    *(name for name in R4["data_types"] if name != "Extension"),
    *_FURTHER["resources"],
    *_FURTHER["plain_resources"],
    *_FURTHER["backbones"],
]
OF_ALL = {"resourceType", "resource_type", "fhir_comments", "modifierExtension"}


def properties(model: Any) -> set[str]:
    names = {field.alias or name for name, field in model.model_fields.items()}
    return {name for name in names if not name.startswith("_")} - OF_ALL


@pytest.mark.parametrize("name", NAMES)
def test_a_type_has_the_properties_that_the_models_know(name: str) -> None:
    known = spec(name)

    assert known is not None
    assert set(known.properties) - OF_ALL == properties(get_fhir_model_class(name))


def test_every_type_that_an_element_has_is_known() -> None:
    tables = [*R4["resources"], *R4["backbones"], *R4["data_types"], *_FURTHER["resources"], *_FURTHER["backbones"]]
    named = {element.type for name in tables if (known := spec(name)) for element in known.properties.values()}

    assert {kind for kind in named - PRIMITIVES - {"Resource"} if spec(kind) is None} == set()


@pytest.mark.parametrize("kind", type_specs.COMPANIES)
def test_an_invariant_is_about_elements_of_its_type(kind: str) -> None:
    known = spec(kind)
    assert known is not None

    elements = {f"{each.name}[x]" if each.choice else each.name for each in known.properties.values()}
    assert {name for company in type_specs.COMPANIES[kind] for name in company.names} <= elements


@pytest.mark.parametrize(
    ("kind", "element", "broken"),
    [
        ("TimingRepeat", {"durationUnit": "h"}, []),
        ("TimingRepeat", {"duration": 1}, ["tim-1"]),
        ("TimingRepeat", {"timeOfDay": ["08:00:00"], "when": ["HS"]}, ["tim-10"]),
        ("Observation", {"_valueString": {"id": "a"}, "dataAbsentReason": {}}, ["obs-6"]),
        ("Observation", {"valueString": "a"}, []),
        ("Ratio", {}, []),
        ("Ratio", {"denominator": {}}, ["rat-1"]),
        ("PatientContact", {"gender": "male"}, ["pat-1"]),
        ("PatientContact", {"_name": {}}, []),
        ("FamilyMemberHistory", {"ageString": "old", "bornDate": "1950"}, ["fhs-1"]),
    ],
)
def test_elements_go_together_as_r4_says(kind: str, element: dict[str, Any], broken: list[str]) -> None:
    assert [each.rule for each in type_specs.COMPANIES[kind] if each.broken_by(element)] == broken


@pytest.mark.parametrize("tag", ["de", "de-CH", "zh-Hant-TW", "es-419", "de-CH-1996", "en-US-u-islamcal", "x-klingon"])
def test_a_language_tag(tag: str) -> None:
    assert is_language(tag)


@pytest.mark.parametrize("tag", ["", "d", "German", "de_CH", "de DE", "de-", "en-US ", "\ud800"])
def test_no_language_tag(tag: str) -> None:
    assert not is_language(tag)

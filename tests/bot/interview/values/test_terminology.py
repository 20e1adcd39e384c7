"""Value sets are expanded from what is at hand, and what is not at hand is said to be unknown."""

from __future__ import annotations

from typing import Any

import pytest

from bot.catalog.fhir_files import shipped_terminology
from bot.interview.values.terminology import Concept, Member, Terminology, could_be_code
from tests.bot.interview.resources import code_system, value_set

CODES = "http://example.org/codes"
VS = "http://example.org/vs"
ANIMALS = code_system(
    {
        "code": "animal",
        "display": "Tier",
        "concept": [
            {"code": "dog", "display": "Hund", "designation": [{"language": "en", "value": "Dog"}]},
            {"code": "cat", "display": "Katze", "property": [{"code": "size", "valueCode": "small"}]},
        ],
    },
    {"code": "plant"},
    {"code": "puppy", "property": [{"code": "parent", "valueCode": "dog"}]},
)


def codes(known: Terminology, canonical: str = VS) -> list[str]:
    return [concept.code for concept in known.expand(canonical).concepts]


def filtered(op: str, value: str, prop: str = "concept") -> dict[str, Any]:
    return {"system": CODES, "filter": [{"property": prop, "op": op, "value": value}]}


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        ({"system": CODES}, ["animal", "dog", "cat", "plant", "puppy"]),
        ({"system": CODES, "concept": [{"code": "cat"}, {"code": "unlisted"}]}, ["cat", "unlisted"]),
        (filtered("is-a", "animal"), ["animal", "dog", "cat", "puppy"]),
        (filtered("descendent-of", "animal"), ["dog", "cat", "puppy"]),
        (filtered("is-not-a", "dog"), ["animal", "cat", "plant"]),
        (filtered("regex", "p.*", "code"), ["plant", "puppy"]),
        (filtered("=", "small", "size"), ["cat"]),
        (filtered("in", "dog, cat", "code"), ["dog", "cat"]),
        (filtered("not-in", "dog,cat", "code"), ["animal", "plant", "puppy"]),
        (filtered("exists", "true", "size"), ["cat"]),
    ],
)
def test_a_value_set_is_expanded_from_a_local_code_system(include: dict[str, Any], expected: list[str]) -> None:
    known = Terminology([ANIMALS, value_set(include)])

    assert codes(known) == expected
    assert known.expand(VS).missing == ()


def test_excluded_codes_are_left_out() -> None:
    only = value_set({"system": CODES})
    only["compose"]["exclude"] = [filtered("is-a", "dog")]

    assert codes(Terminology([ANIMALS, only])) == ["animal", "cat", "plant"]


def test_an_include_of_several_value_sets_is_their_intersection() -> None:
    one = value_set(filtered("is-a", "dog"), url="http://example.org/one")
    other = value_set(filtered("is-not-a", "puppy"), url="http://example.org/other")
    both = value_set({"valueSet": ["http://example.org/one", "http://example.org/other"]})

    assert codes(Terminology([ANIMALS, one, other, both])) == ["dog"]


def test_listed_codes_take_their_display_from_the_code_system() -> None:
    known = Terminology([ANIMALS, value_set({"system": CODES, "concept": [{"code": "dog"}]})])

    assert known.expand(VS).concepts == (Concept(CODES, "dog", "Hund", (("en", "Dog"),)),)


def test_a_value_set_of_a_system_that_is_not_at_hand_is_known_to_be_incomplete() -> None:
    known = Terminology([value_set({"system": CODES})])

    assert known.expand(VS).missing == (f"CodeSystem {CODES} is not at hand",)
    assert known.member(VS, system=CODES, code="dog") is Member.UNKNOWN
    assert known.member(VS, system="http://example.org/other", code="dog") is Member.NO


@pytest.mark.parametrize(
    ("system", "code", "expected"),
    [
        (CODES, "dog", Member.YES),
        (CODES, "cow", Member.NO),
        ("", "dog", Member.YES),
        ("", "cow", Member.NO),
        ("http://example.org/other", "dog", Member.NO),
    ],
)
def test_membership_in_a_complete_value_set_is_decided(system: str, code: str, expected: Member) -> None:
    assert Terminology([ANIMALS, value_set({"system": CODES})]).member(VS, system=system, code=code) is expected


def test_an_excluded_code_is_refused_even_where_the_value_set_is_incomplete() -> None:
    partly = value_set({"system": "http://example.org/unknown"}, {"system": CODES})
    partly["compose"]["exclude"] = [{"system": CODES, "concept": [{"code": "dog"}]}]
    known = Terminology([ANIMALS, partly])

    assert known.member(VS, system=CODES, code="dog") is Member.NO
    assert known.member(VS, system=CODES, code="cat") is Member.YES


def test_a_code_system_given_in_part_confirms_but_does_not_refuse() -> None:
    known = Terminology([code_system({"code": "dog"}, content="fragment"), value_set({"system": CODES})])

    assert known.member(VS, system=CODES, code="dog") is Member.YES
    assert known.member(VS, system=CODES, code="cow") is Member.UNKNOWN


def test_an_unknown_filter_leaves_membership_open() -> None:
    known = Terminology([ANIMALS, value_set(filtered("generalizes", "dog"))])

    assert known.member(VS, system=CODES, code="dog") is Member.UNKNOWN
    assert "generalizes" in known.expand(VS).missing[0]


def test_a_value_set_that_imports_itself_does_not_hang() -> None:
    known = Terminology([value_set({"valueSet": [VS]})])

    assert known.member(VS, system=CODES, code="dog") is Member.UNKNOWN


def test_a_given_expansion_counts_where_the_definition_cannot_be_expanded() -> None:
    expanded = value_set(
        {"system": CODES},
        expansion={
            "contains": [
                {"system": CODES, "code": "cow", "contains": [{"system": CODES, "code": "calf"}]},
                {"abstract": True, "code": "heading"},
            ]
        },
    )

    assert codes(Terminology([expanded])) == ["cow", "calf"]


def test_contained_value_sets_are_seen_inside_their_resource_only() -> None:
    outside = Terminology([ANIMALS])
    inside = outside.within({"contained": [value_set({"system": CODES}, id="local")]})

    assert inside.member("#local", system=CODES, code="dog") is Member.YES
    assert outside.value_set("#local") is None


def test_a_version_that_is_not_at_hand_is_not_taken_for_another() -> None:
    known = Terminology([value_set({"system": CODES}, version="1")])

    assert known.value_set(f"{VS}|1") is not None
    assert known.value_set(f"{VS}|2") is None


@pytest.mark.parametrize(
    ("canonical", "system", "code", "expected"),
    [
        ("administrative-gender", "http://hl7.org/fhir/administrative-gender", "female", Member.YES),
        ("administrative-gender", "http://hl7.org/fhir/administrative-gender", "weiblich", Member.NO),
        ("jurisdiction", "", "CH", Member.YES),
        ("jurisdiction", "", "Switzerland", Member.NO),
        ("jurisdiction", "urn:iso:std:iso:3166:-2", "CH-ZH", Member.UNKNOWN),
        ("yesnodontknow", "http://terminology.hl7.org/CodeSystem/v2-0136", "Y", Member.YES),
    ],
)
def test_the_free_value_sets_of_hl7_are_at_hand(canonical: str, system: str, code: str, expected: Member) -> None:
    known = shipped_terminology()

    assert known.member(f"http://hl7.org/fhir/ValueSet/{canonical}", system=system, code=code) is expected


SCTIDS = ["404684003", "25064002", "73211009", "138875005", "900000000000207008"]
LOINC_NUMBERS = ["8480-6", "74465-6", "29463-7", "4548-4", "1-8"]


@pytest.mark.parametrize(("system", "code"), [
    *(("http://snomed.info/sct", each) for each in SCTIDS), *(("http://loinc.org", each) for each in LOINC_NUMBERS)
])  # fmt: skip
def test_any_single_digit_mistyped_is_found_by_the_check_digit(system: str, code: str) -> None:
    mistyped = {
        f"{code[:place]}{digit}{code[place + 1 :]}"
        for place, old in enumerate(code) if old.isdigit()
        for digit in "0123456789" if digit != old
    }  # fmt: skip

    assert could_be_code(system, code)
    assert not [each for each in mistyped if could_be_code(system, each)]

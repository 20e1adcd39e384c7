"""Literal references: relative, absolute, by name, and of contained resources."""

from __future__ import annotations

import pytest

from bot.interview.values.references import read_target, target_type

UUID = "0d6c1c9e-6a1a-4a52-9d3e-0f6f0d0d2a11"


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        ("Patient/1", "Patient"),
        ("Patient/a-B.7/_history/2", "Patient"),
        ("http://example.org/fhir/Patient/1", "Patient"),
        ("https://example.org/fhir/Patient/1/_history/2", "Patient"),
        # Whatever else it is, it need not be of a FHIR server.
        ("https://example.org/records?id=1", ""),
        ("http://example.org/fhir/Chicken/1", ""),
        (f"urn:uuid:{UUID}", ""),
        (f"urn:uuid:{UUID.upper()}", ""),
        ("urn:oid:1.2.840.113619", ""),
        ("urn:isbn:0451450523", ""),
        ("mailto:somebody@example.org", ""),
        ("#", ""),
        ("#a-b.7", ""),
    ],
)
def test_what_a_reference_may_be(reference: str, kind: str) -> None:
    target = read_target(reference)

    assert (target.type, target.problem, target.conditional) == (kind, "", False)


@pytest.mark.parametrize(
    ("reference", "rule"),
    [
        ("Chicken/1", "reference-type"),
        ("Resource/1", "reference-type"),
        ("patient/1", "reference-type"),
        ("Patient/1 2", "reference-form"),
        ("Patient/1/", "reference-form"),
        ("Patient/1/_history/", "reference-form"),
        ("Patient/1#part", "reference-form"),
        ("Patient", "reference-form"),
        ("1", "reference-form"),
        ("../Patient/1", "reference-form"),
        ("http://", "reference-form"),
        ("http:///Patient/1", "reference-form"),
        ("http://example.org/Patient/<1>", "reference-form"),
        ("urn:uuid:7", "reference-form"),
        ("urn:oid:1.2.", "reference-form"),
        ("urn:", "reference-form"),
        ("#a b", "reference-form"),
        ("Patient/\ud800", "reference-form"),
        ("\n", "reference-form"),
    ],
)
def test_what_no_reference_may_be(reference: str, rule: str) -> None:
    target = read_target(reference)

    assert target.rule == rule
    assert target.problem


def test_a_search_is_no_reference_outside_transactions() -> None:
    assert read_target("Patient?identifier=7").conditional


def test_the_type_is_that_of_the_address_or_else_the_one_that_is_named() -> None:
    assert target_type({"reference": "Patient/1", "type": "Device"}) == "Patient"
    assert target_type({"identifier": {"value": "7"}, "type": "Device"}) == "Device"
    assert target_type({"display": "Dr Roe"}) == ""

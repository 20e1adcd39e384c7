"""FHIR JSON is read as it came."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import (
    MAX_DEPTH,
    NotJson,
    dump,
    extension_value,
    parse,
    split_canonical,
    string,
    translated,
    translations,
    value_of,
)
from bot.interview.values.primitives import problem_with

TITLE: dict[str, Any] = {
    "text": "Alter",
    "_text": {
        "extension": [
            {
                "url": "http://hl7.org/fhir/StructureDefinition/translation",
                "extension": [{"url": "lang", "valueCode": "en"}, {"url": "content", "valueString": "Age"}],
            }
        ]
    },
}


def test_a_decimal_keeps_the_digits_it_was_written_with() -> None:
    assert dump(parse('{"value":1.50}').value) == '{"value":1.50}'


def test_a_property_that_occurs_twice_is_reported() -> None:
    assert parse('{"a":{"b":1,"b":2}}').repeated == ("b",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value"),
        ("[NaN]", "NaN is not a JSON number"),
        ("[" * 5000, "nested deeper than"),
        ("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2), "nested deeper than"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_what_is_not_json_is_refused_with_a_reason(text: str | bytes, reason: str) -> None:
    with pytest.raises(NotJson, match=reason):
        parse(text)


def test_integers_of_any_length_are_read() -> None:
    assert parse("1" * 5000).value == Decimal("1" * 5000)


@pytest.mark.parametrize("text", ["1e99999999999999999999", "-2.5E+99999999999999999999", "7e-99999999999999999999"])
def test_numbers_beyond_all_measure_are_json_and_no_decimals(text: str) -> None:
    found = parse(text).value

    assert isinstance(found, Decimal)
    assert (found < 0) is text.startswith("-")
    assert problem_with("decimal", found) == "a number out of range"
    assert parse(dump(found)).value == found


def test_a_byte_order_mark_is_no_obstacle() -> None:
    assert parse(b"\xef\xbb\xbf{}").value == {}


def test_the_value_of_an_element_comes_with_its_type() -> None:
    assert value_of({"valueCodeableConcept": {"text": "x"}}) == Answer("codeableConcept", {"text": "x"})
    assert value_of({"values": 1}) is None


def test_wrong_shapes_read_as_absent() -> None:
    assert string({"linkId": 3}, "linkId") == ""
    assert extension_value({"extension": "x"}, "u") is None
    assert extension_value({"extension": [3, {"url": "u"}]}, "u") is None


@pytest.mark.parametrize(("lang", "expected"), [("en", "Age"), ("en-GB", "Age"), ("fr", "Alter")])
def test_a_text_is_translated_into_the_language_or_its_kin(lang: str, expected: str) -> None:
    assert translated(TITLE, "text", lang) == expected


def test_translations_are_known_by_language() -> None:
    assert translations(TITLE, "text") == {"en": "Age"}


def test_a_canonical_splits_into_url_and_version() -> None:
    assert split_canonical("http://x|1.0#part") == ("http://x", "1.0")
    assert split_canonical("http://x") == ("http://x", "")
    assert split_canonical("http://x#part") == ("http://x", "")
    assert split_canonical("#part") == ("#part", "")

"""Texts, web addresses, and what cannot be said in a chat."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.interview.reading.reading import NotUnderstood, Read, Refused
from bot.interview.values.answer import Answer
from tests.bot.interview.reading.replies import literal, reply


@pytest.mark.parametrize("kind", ["string", "text"])
def test_text_is_trimmed_and_cleaned(kind: str) -> None:
    assert literal(reply("  Inselspital\x00 Bern \n", kind)) == "Inselspital Bern"


def test_text_that_is_too_long_is_refused_with_its_limit() -> None:
    assert literal(reply("12345", "string", max_length=5)) == "12345"
    assert reply("123456", "string", max_length=5) == NotUnderstood("longer than 5 characters", "too-long")
    assert reply("x" * 1001, "text", max_length=5000) == NotUnderstood("longer than 1000 characters", "too-long")


def test_a_single_word_may_be_an_answer_although_it_could_refuse() -> None:
    assert literal(reply("privat", "string")) == "privat"
    assert reply("das ist privat", "string") == Refused()


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "\ud800"])
@pytest.mark.parametrize("kind", ["string", "boolean", "date", "choice"])
def test_nothing_is_no_answer(kind: str, text: str) -> None:
    assert reply(text, kind) == NotUnderstood("no text", "empty")


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/a?b=c#d",
        "http://example.org",
        "HTTPS://EXAMPLE.ORG",
        "urn:oid:2.16.756.5.30",
        "urn:uuid:c757873d-ec9a-4326-a141-556f43239520",
    ],
)
def test_absolute_addresses_are_literal(text: str) -> None:
    assert reply(text, "url") == Read((Answer("uri", text),), literal=True)


def test_an_address_among_words_is_read_back() -> None:
    reading = reply("Meine Seite ist https://example.org.", "url")

    assert reading == Read((Answer("uri", "https://example.org"),), literal=False, remainder="Meine Seite ist")


@pytest.mark.parametrize(
    "text",
    ["www.example.org", "example.org", "ftp://example.org", "javascript:alert(1)", "http://", "http://[", "urn:x"],
)
def test_other_addresses_are_not_understood(text: str) -> None:
    reading = reply(text, "url")

    assert isinstance(reading, NotUnderstood)
    assert reading.why == "url"


def test_a_file_cannot_be_given_in_chat_but_its_address_can() -> None:
    assert reply("siehe Anhang", "attachment") == NotUnderstood("no address of a file", "not-in-chat")
    assert literal(reply("https://example.org/brief.pdf", "attachment")) == {
        "contentType": "application/pdf",
        "url": "https://example.org/brief.pdf",
    }


def test_whom_or_what_is_meant_can_be_named_or_referred_to() -> None:
    assert literal(reply("Dr. Meier, Konstanz", "reference")) == {"display": "Dr. Meier, Konstanz"}
    assert literal(reply("Practitioner/17", "reference")) == {"reference": "Practitioner/17"}
    assert literal(reply("https://example.org/fhir/Patient/1", "reference")) == {
        "reference": "https://example.org/fhir/Patient/1"
    }


@given(st.text("abcdefgh ij", min_size=1, max_size=80).filter(str.strip))
def test_a_text_comes_back_as_it_was_but_for_spaces(text: str) -> None:
    assert literal(reply(f"x {text}", "text")) == " ".join(f"x {text}".split())

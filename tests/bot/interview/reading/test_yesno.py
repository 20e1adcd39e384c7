"""Yes and no in German, with dialects, and in English."""

import pytest

from bot.interview.reading.reading import DontKnow, NotUnderstood, Read, Refused
from bot.interview.reading.yesno import read_yes_no
from tests.bot.interview.reading.replies import inferred, reply, understood


@pytest.mark.parametrize(
    "text",
    [
        "ja",
        "Ja!",
        "JA",
        "jo",
        "joa",
        "jep",
        "jawohl",
        "klar",
        "na klar",
        "genau",
        "stimmt",
        "richtig",
        "ja genau",
        "also ja",
        "ja bitte",
        "natürlich",
        "selbstverstaendlich",
        "ok",
        "einverstanden",
        "freilich",
        "jaaa",
        "j",
        "yes",
        "das stimmt",
        "von mir aus",
        "ja, gern",
        "auf jeden Fall",
    ],
)
def test_a_german_yes_is_yes(text: str) -> None:
    assert understood(reply(text, "boolean")) is True


@pytest.mark.parametrize(
    "text",
    [
        "nein",
        "Nein.",
        "nö",
        "noe",
        "nee",
        "nei",
        "naa",
        "nope",
        "kein",
        "keine",
        "keins",
        "nicht",
        "nie",
        "noch nie",
        "niemals",
        "stimmt nicht",
        "das stimmt nicht",
        "falsch",
        "nein danke",
        "nein, nie",
        "nie, nein",
        "neiiin",
        "überhaupt nicht",
        "zum Glück nicht",
        "Gott sei Dank nein",
        "leider nein",
        "n",
        "isch ned richtig",
        "auf keinen Fall",
    ],
)
def test_a_german_no_is_no(text: str) -> None:
    reading = reply(text, "boolean")

    assert isinstance(reading, Read)
    assert reading.answers[0].value is False


@pytest.mark.parametrize(
    "text",
    ["yes", "Yeah", "yep", "yup", "sure", "of course", "correct", "that's right", "absolutely", "y", "yes please"],
)
def test_an_english_yes_is_yes(text: str) -> None:
    assert understood(reply(text, "boolean", language="en")) is True


@pytest.mark.parametrize(
    "text", ["no", "No.", "nope", "nah", "never", "none", "not at all", "no thanks", "of course not", "n", "no, never"]
)
def test_an_english_no_is_no(text: str) -> None:
    assert understood(reply(text, "boolean", language="en")) is False


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("de", "eigentlich nicht", False),
        ("de", "nicht dass ich wüsste", False),
        ("de", "nicht dass ich wuesste", False),
        ("de", "ich glaube nicht", False),
        ("de", "so viel ich weiss nicht", False),
        ("de", "weiss nicht, ich glaube nein", False),
        ("de", "na", False),
        ("de", "hatte ich noch nie", False),
        ("de", "ich rauche nicht", False),
        ("de", "i rauch ned", False),
        ("de", "nien", False),
        ("de", "ja?", True),
        ("de", "doch", True),
        ("de", "ich glaube ja", True),
        ("de", "ja, glaube ich", True),
        ("de", "wahrscheinlich schon", True),
        ("de", "hab ich", True),
        ("de", "👍", True),
        ("en", "not that I know of", False),
        ("en", "not really", False),
        ("en", "I don't think so", False),
        ("en", "I don't smoke", False),
        ("en", "I have never had one", False),
        ("en", "I do not", False),
        ("en", "I think so", True),
        ("en", "probably", True),
        ("en", "I do", True),
        ("en", "yes?", True),
    ],
)
def test_what_is_not_quite_yes_or_no_is_read_back(language: str, text: str, value: bool) -> None:
    assert inferred(reply(text, "boolean", language=language)) is value


@pytest.mark.parametrize(
    ("language", "text", "value", "remainder"),
    [
        ("de", "nein, nur links", False, "nur links"),
        ("de", "ja, aber nur links", True, "aber nur links"),
        ("de", "Ja, seit 2015.", True, "seit 2015"),
        ("de", "nein, ich habe keine Allergien", False, "ich habe keine Allergien"),
        ("de", "keine Allergien", False, "keine Allergien"),
        ("de", "eigentlich nicht, nur manchmal", False, "nur manchmal"),
        ("en", "no, only on the left", False, "only on the left"),
        ("en", "yes but only the left", True, "but only the left"),
        ("en", "no allergies", False, "no allergies"),
    ],
)
def test_what_goes_beyond_yes_or_no_is_a_comment(language: str, text: str, value: bool, remainder: str) -> None:
    reading = reply(text, "boolean", language=language)

    assert isinstance(reading, Read)
    assert (reading.answers[0].value, reading.literal, reading.remainder) == (value, False, remainder)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "ja nein"),
        ("de", "ja und nein"),
        ("de", "jein"),
        ("de", "vielleicht"),
        ("de", "na ja"),
        ("de", "manchmal"),
        ("de", "kommt darauf an"),
        ("de", "nicht immer"),
        ("de", "nicht nie"),
        ("de", "nicht keine"),
        ("de", "nie nicht"),
        ("de", "ich habe nicht keine Allergien"),
        ("de", "ja, ich habe keine"),
        ("de", "nein, eigentlich schon"),
        ("de", "links"),
        ("de", "ich habe Allergien"),
        ("de", "das verstehe ich nicht"),
        ("de", "Muss ich nüchtern sein?"),
        ("de", "mir ist nicht gut"),
        ("en", "yes no"),
        ("en", "maybe"),
        ("en", "sometimes"),
        ("en", "not never"),
        ("en", "never not"),
        ("en", "I don't have no allergies"),
        ("en", "I don't understand"),
        ("en", "my left breast"),
    ],
)
def test_what_is_neither_is_not_understood(language: str, text: str) -> None:
    assert isinstance(reply(text, "boolean", language=language), NotUnderstood)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "weiss nicht"),
        ("de", "weiß ned"),
        ("de", "weiss nöd"),
        ("de", "das weiss ich leider nicht mehr genau"),
        ("de", "keine Ahnung"),
        ("de", "k.A."),
        ("de", "kann mich nicht erinnern"),
        ("de", "da bin ich mir nicht sicher"),
        ("de", "?"),
        ("de", "das weiss ich nicht, da müsste ich meine Mutter fragen"),
        ("en", "I don't know"),
        ("en", "not sure"),
        ("en", "I'm not sure"),
        ("en", "no idea"),
        ("en", "dunno"),
        ("en", "can't remember"),
        ("en", "???"),
    ],
)
@pytest.mark.parametrize("kind", ["boolean", "date", "integer", "quantity", "time", "string"])
def test_not_knowing_is_no_answer(language: str, text: str, kind: str) -> None:
    if kind == "string" and "," in text:
        pytest.skip("a whole sentence is a text")

    assert reply(text, kind, language=language) == DontKnow()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "möchte ich nicht sagen"),
        ("de", "Das moechte ich lieber nicht sagen."),
        ("de", "will ich nicht beantworten"),
        ("de", "das geht Sie nichts an"),
        ("de", "das ist privat"),
        ("de", "lieber nicht"),
        ("en", "that's private"),
        ("en", "I'd rather not say"),
        ("en", "I prefer not to answer"),
        ("en", "none of your business"),
    ],
)
@pytest.mark.parametrize("kind", ["boolean", "date", "integer", "text"])
def test_not_wanting_to_say_is_no_answer(language: str, text: str, kind: str) -> None:
    assert reply(text, kind, language=language) == Refused()


def test_a_confirmation_is_read_without_a_question() -> None:
    assert understood(read_yes_no("stimmt", language="de-CH")) is True
    assert understood(read_yes_no("that's wrong", language="en-GB")) is False

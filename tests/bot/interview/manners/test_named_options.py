"""An answer that names one of the options goes before "yes"; what is narrowed to holds nothing that was not shown."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import Json, coding, form, item

SIDES = ("Left", "Right", "Both")


def _suggesting(first: str, *labels: str) -> Json:
    options: list[dict[str, Any]] = [coding(f"c{number}", display=label) for number, label in enumerate(labels)]
    for option, label in zip(options, labels, strict=True):
        if label == first:
            option["initialSelected"] = True
    return form(item("which", "choice", text="Which one?", answerOption=options), item("next", "string", text="Next?"),
                language="en")  # fmt: skip


def _display(chat: Chat) -> object:
    value = chat.value("which")
    return value["display"] if isinstance(value, dict) else value


@pytest.mark.parametrize(
    ("suggested", "labels", "said", "meant"),
    [
        ("Left", SIDES, "right", "Right"),
        ("Left", SIDES, "Right.", "Right"),
        ("Bad", ("Bad", "Fine", "Very good"), "fine", "Fine"),
        ("Wrong", ("Wrong", "Correct", "No result"), "correct", "Correct"),
        ("Bad", ("Bad", "OK", "Very good"), "ok", "OK"),
    ],
)
def test_the_name_of_another_option_is_no_yes_to_a_suggestion(
    suggested: str, labels: tuple[str, ...], said: str, meant: str
) -> None:
    chat = Chat(_suggesting(suggested, *labels), "en")
    assert chat.open == "proposal which"

    chat.say(said)

    assert chat.open == "question next"
    assert _display(chat) == meant


@pytest.mark.parametrize("said", ["right ear", "the right one", "yes, right"])
def test_what_only_holds_the_name_of_another_option_is_read_back(said: str) -> None:
    chat = Chat(_suggesting("Left ear", "Left ear", "Right ear"), "en").say(said)

    if chat.open == "read-back which":
        assert any("Right ear" in text for text in chat.said)
        chat.say("yes")
    assert _display(chat) == "Right ear"


@pytest.mark.parametrize("said", ["yes", "yes please", "yeah", "that's right, the left", "left"])
def test_a_yes_to_a_suggestion_still_takes_it(said: str) -> None:
    chat = Chat(_suggesting("Left", *SIDES), "en").say(said)

    if chat.open == "read-back which":
        chat.say("yes")
    assert _display(chat) == "Left"


def test_right_to_what_was_read_back_is_asked_about_where_an_option_is_called_so() -> None:
    asked = form(item("which", "choice", text="Which foot?",
                      answerOption=[coding("l", display="Left foot"), coding("r", display="Right foot")]),
                 language="en")  # fmt: skip
    chat = Chat(asked, "en").say("the left, I think")
    assert any("Left foot" in text for text in chat.said)

    chat.say("right")

    assert chat.open == "read-back which"
    assert any("Right foot" in text for text in chat.said)
    chat.say("no, left")
    chat.say("yes")
    assert _display(chat) == "Left foot"


def test_right_agrees_where_no_option_is_called_so() -> None:
    chat = Chat(_suggesting("Head", "Head", "Chest"), "en").say("right")

    assert _display(chat) == "Head"


def _counting(*numbers: int) -> Chat:
    options = [{"valueInteger": number} for number in numbers]
    return Chat(form(item("which", "choice", text="How many?", answerOption=options), language="en"), "en")


@pytest.mark.parametrize("numbers", [(0, 1, 2, 3), (0, 2, 4, 1), (5, 4, 3, 2)])
def test_the_number_that_an_option_is_can_be_said_whatever_its_place_is(numbers: tuple[int, ...]) -> None:
    for number in numbers:
        chat = _counting(*numbers).say(str(number))
        if chat.open == "question which":
            assert str(number) in chat.choices
            chat.say(str(number))
        if chat.open == "read-back which":
            assert any(str(number) in text for text in chat.said)
            chat.say("yes")
        assert chat.value("which") == number


def test_narrowing_never_brings_in_an_option_that_was_not_shown() -> None:
    knees = ("Knee left", "Knee right", "Hip left", "Hip right")
    chat = Chat(_suggesting("", *knees), "en").say("knee")
    assert [choice.split("  ")[-1] for choice in chat.choices] == ["Knee left", "Knee right"]

    chat.say("4")
    assert chat.value("which") is None
    assert chat.open == "question which"
    chat.say("2")
    assert _display(chat) == "Knee right"


def test_another_option_may_still_be_named_after_narrowing() -> None:
    chat = Chat(_suggesting("", "Knee left", "Knee right", "Hip left"), "en").say("knee", "hip left")

    assert _display(chat) == "Hip left"


@pytest.mark.parametrize(
    ("language", "said"),
    [("de", "getrennt lebend"), ("de", "lebe getrennt"), ("en", "separated"), ("de", "alleinstehend")],
)
def test_a_marital_status_that_is_not_just_what_was_said_is_never_stored_unread(language: str, said: str) -> None:
    asked = form(item("which", "choice", text="Marital status?",
                      answerValueSet="http://hl7.org/fhir/ValueSet/marital-status"), language="en")  # fmt: skip
    chat = Chat(asked, language)
    assert "Mehrfach verheiratet" not in " ".join(chat.choices)

    chat.say(said)

    assert chat.value("which") is None


@pytest.mark.parametrize(("language", "said"), [("de", "ich nix wissen"), ("de", "weiß nix"), ("de", "Weiss nix.")])
def test_not_knowing_is_heard_in_the_words_of_learners_too(language: str, said: str) -> None:
    asked = form(item("which", "integer", text="How many?"), item("next", "string", text="Next?"), language="en")

    assert Chat(asked, language).say(said).open == "question next"


def _asked(*, proposes: bool, listed: bool) -> Json:
    question: Json = item("which", "boolean", text="Is one there?", initial=[{"valueBoolean": proposes}])
    if listed:
        options: list[dict[str, Any]] = [coding("Y", display="Yes"), coding("N", display="No")]
        options[0 if proposes else 1]["initialSelected"] = True
        question = item("which", "choice", text="Is one there?", answerOption=options)
    return form({**question, "required": True}, item("next", "string", text="Next?"), language="en")


def _is_yes(chat: Chat) -> bool:
    return _display(chat) in (True, "Yes")


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("said", ["yes", "Yes!", "yep", "yes I am", "ja", "definitely yes"])
def test_yes_to_a_suggested_no_is_a_yes_and_read_back(said: str, listed: bool) -> None:
    chat = Chat(_asked(proposes=False, listed=listed), "en")
    assert "Is that right?" not in chat.said[-1]

    chat.say(said)

    assert chat.open == "read-back which"
    assert _is_yes(chat.say("yes"))
    assert chat.open == "question next"


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(
    ("proposes", "said"),
    [(False, "no"), (False, "that's right"), (False, "correct"), (True, "yes"), (True, "that's right"), (True, "1")],
)
def test_what_fits_a_suggested_yes_or_no_is_taken(proposes: bool, said: str, listed: bool) -> None:
    chat = Chat(_asked(proposes=proposes, listed=listed), "en").say(said)

    assert chat.open == "question next"
    assert _is_yes(chat) is proposes


@pytest.mark.parametrize("listed", [False, True])
def test_no_to_a_suggested_yes_is_a_no_and_read_back(listed: bool) -> None:
    chat = Chat(_asked(proposes=True, listed=listed), "en").say("no")

    assert chat.open == "read-back which"
    assert not _is_yes(chat.say("yes"))

"""How a patient is understood, goes back, changes, skips and sends, in both languages."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sentences.interface_texts import INTERVIEW_TEXTS
from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import form, item
from tests.bot.interview.small_forms import born, choice, helped, name, value


def test_what_was_not_said_literally_is_read_back(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(born(), name()), language).say(say["date"])

    assert chat.said == [told["read_back"].format(answer=say["read date"])]
    assert chat.value("born") is None
    assert chat.say(say["yes"]).value("born") == "1975-03-03"


def test_what_was_said_literally_is_taken(language: str) -> None:
    assert Chat(form(born(), name()), language).say("1975-03-03").open == "question name"


def test_a_misunderstanding_is_put_right_in_the_same_breath(language: str, say: Any) -> None:
    chat = Chat(form(value(), name()), language).say(say["roughly"])

    chat.say(f"{say['no']}, 71")

    assert (chat.value("value") or chat.say(say["yes"]).value("value")) == 71


def test_a_read_back_may_be_answered_with_another_answer(language: str, say: Any) -> None:
    assert Chat(form(value()), language).say(say["roughly"], "71").value("value") == 71


def test_no_to_a_read_back_asks_again(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(value()), language).say(say["roughly"], say["no"])

    assert chat.said[0] == told["corrected"]
    assert chat.open == "question value"


@pytest.mark.parametrize("reply", ["2", "Grüner Tee", "grüner", "c2", "Nummer 2"])
def test_options_are_picked_by_number_label_code_or_a_unique_part(reply: str) -> None:
    chat = Chat(form(choice("Kaffee", "Grüner Tee", "Wasser"))).say(reply)

    assert (chat.value("q") or chat.say("ja").value("q"))["code"] == "c2"


def test_a_part_that_fits_two_options_is_asked_about_and_the_number_refers_to_those(language: str, told: Any) -> None:
    chat = Chat(form(choice("Water", "Green tea", "Black tea")), language).say("tea")

    assert chat.said == [told["which_one"]]
    assert chat.choices == ["Green tea", "Black tea"]
    assert chat.say("2").value("q")["code"] == "c3"


def test_yes_to_a_list_is_asked_about(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(choice("Water", "Tea")), language).say(say["yes"])

    assert chat.said[0] == told["which_one"]
    assert chat.say("2").value("q")["code"] == "c2"


def test_yes_and_no_may_be_said_by_number(language: str) -> None:
    asked = form(item("a", "boolean", text="A?"), item("b", "boolean", text="B?"))

    chat = Chat(asked, language).say("1", "2")

    assert (chat.value("a"), chat.value("b")) == (True, False)


def test_a_label_that_is_a_command_is_an_answer_where_it_is_listed() -> None:
    chat = Chat(form(choice("Pause", "Arbeit"), name())).say("Pause")

    assert chat.value("q")["code"] == "c1"


def test_back_goes_back_as_often_as_one_likes_and_next_leaves_the_answer(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(name(), value(), born()), language).say("Ada", "36", say["back"])
    assert chat.open == "question value"
    assert told["so_far"].format(answer="36") in chat.said

    assert chat.say(say["back"]).open == "question name"
    assert told["no_way_back"] in chat.say(say["back"]).said
    assert chat.say("Grace").open == "question born"
    assert (chat.value("name"), chat.value("value")) == ("Grace", 36)

    chat.say(say["back"], say["skip"])
    assert chat.said[0] == told["kept"].format(answer=chat.said[0].split(": ")[-1])
    assert chat.open == "question born"


def test_an_answer_is_changed_by_naming_its_question(language: str, say: Any) -> None:
    chat = Chat(form(name(), value(), born()), language).say("Ada", "36", say["change"])

    assert chat.open == "question value"
    assert chat.say("37").open == "question born"
    assert chat.value("value") == 37


def test_change_without_a_name_opens_what_was_noted_last_and_else_lists_what_can_be_changed(
    language: str, say: Any, told: Any
) -> None:
    change = say["change"].split()[0 if language == "en" else 1]
    chat = Chat(form(name(), value(), born()), language).say("Ada", "36")
    assert chat.said[0] == told["taken"].format(answer="36")

    assert chat.say(change).open == "question value"
    assert told["so_far"].format(answer="36") in chat.said
    chat.say(change)

    assert chat.said[-1] == told["change_which"]
    assert chat.said[0].startswith("1. Name?")
    assert chat.open == "choosing"
    assert told["number_unknown"].format(total=2) in chat.say("9").said
    assert chat.say("2").open == "question value"


def test_who_does_not_want_to_change_after_all_goes_on(language: str, say: Any) -> None:
    chat = Chat(form(name(), value(), born()), language).say(
        "Ada", "36", say["change"].replace("Wert", "xyz").replace("value", "xyz")
    )

    assert chat.open == "choosing"
    assert chat.say(say["no"]).open == "question born"


def test_an_unknown_name_is_said_to_be_unknown_and_two_that_fit_are_offered(say: Any) -> None:
    asked = form(item("a", "string", text="Name der Mutter?"), item("b", "string", text="Name des Vaters?"), name())
    chat = Chat(asked).say("Eva", "Adam", "Beruf ändern")
    assert INTERVIEW_TEXTS["de"]["change_unknown"] in chat.said

    chat.say("nein", "Namen ändern")
    assert [text for text in chat.said if text[0].isdigit()] == [
        "1. Name der Mutter? – „Eva“",
        "2. Name des Vaters? – „Adam“",
    ]
    assert chat.say("Vater").open == "question b"


def test_what_is_not_required_may_be_skipped(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(name(), value()), language).say(say["skip"])

    assert chat.said[0] == told["skipped"]
    assert chat.open == "question value"


@pytest.mark.parametrize(("reason", "key"), [("dont know", "dont_know"), ("won't say", "refused")])
def test_not_knowing_and_not_wanting_to_say_are_fine_and_noted(
    language: str, say: Any, told: Any, reason: str, key: str
) -> None:
    chat = Chat(form(value(), name()), language).say(say[reason])

    assert chat.said[0] == told[key]
    assert [getattr(event, "reason", "") for event in chat.session.events] == [key]


@pytest.mark.parametrize("reason", ["skip", "dont know", "won't say"])
def test_a_required_question_is_explained_and_then_left_to_the_team(
    language: str, say: Any, told: Any, reason: str
) -> None:
    chat = Chat(form(value(required=True), name()), language).say(say[reason])
    assert chat.said[0] == told["kindly"]
    assert chat.open == "question value"

    chat.say(say[reason])
    assert chat.said[0] == told["left_to_team"]

    chat.say("Ada", say["yes"])
    assert chat.said == [told["in_progress"]]
    assert (chat.status, chat.errors()) == ("in-progress", [])


def test_why_is_answered_from_the_help_of_the_form(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(helped("a", "integer", "Because of b."), value()), language)
    assert chat.say(say["why"]).said == ["Because of b.", "a?"]

    assert chat.say("1", say["why"]).said[0] == told["why_unknown"]


def test_help_says_how_to_steer_and_shows_an_example(language: str, say: Any, told: Any) -> None:
    assert Chat(form(born()), language).say(say["help"]).said == [
        told["how_to"],
        told["example_date"].format(answer={"de": "3. März 1975", "en": "3 March 1975"}[language]),
        "Geboren / Born?",
    ]


def test_a_pause_keeps_everything_and_the_question_comes_again(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(name(), value()), language).say("Ada", say["pause"])
    assert chat.said == [told["paused"]]
    assert chat.ask(say["question"]).aside == "clear"  # questions to the assistant go on

    chat.say(say["on"])
    assert chat.said[0] == told["resumed"]
    assert chat.open == "question value"
    assert chat.value("name") == "Ada"


@pytest.mark.parametrize(("answer", "next_"), [("1", 2), ("2", 3)])
def test_progress_has_one_total_and_never_goes_back(language: str, told: Any, answer: str, next_: int) -> None:
    more = item("more", "string", text="More?", enableWhen=[{"question": "a", "operator": "=", "answerBoolean": True}])
    chat = Chat(form(item("a", "boolean", text="A?"), more, value()), language)
    assert told["progress"].format(number=1, total=3) in chat.said

    assert told["progress"].format(number=next_, total=3) in chat.say(answer).said
    chat.say("x" if answer == "1" else "36").say(
        "1", "1"
    )  # the first one is changed in the end: what follows it is new
    assert not any(told["progress"].format(number=number, total=3) in chat.said for number in (1, 2))


def test_the_summary_comes_before_sending_and_can_be_corrected(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(name(), value()), language).say("Ada", "36")
    assert chat.said == [told["summary"], "1. Name? – " + told["own"].format(answer="Ada"), "2. Wert / Value? – 36",
                         told["summary_check"]]  # fmt: skip
    assert (chat.open, chat.status) == ("summary", "in-progress")

    assert chat.say("2").open == "question value"
    assert "2. Wert / Value? – 37" in chat.say("37").said
    assert chat.say(say["change two"]).open == "question value"
    chat.say("38", say["send"])
    assert chat.said == [told["completed"]]
    assert (chat.status, chat.value("value"), chat.errors()) == ("completed", 38, [])


def test_no_to_the_summary_asks_what_to_change(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(name(), value()), language).say("Ada", "36", say["no"])

    assert chat.said == [told["change_which"]]
    assert chat.say("1").open == "question name"


def test_a_finished_interview_can_be_amended(language: str, say: Any) -> None:
    chat = Chat(form(name(), value()), language).say("Ada", "36", say["yes"])
    assert chat.resume().say(say["yes"]).status == "completed"  # nothing was changed

    chat.resume().say("2", "37", say["yes"])

    assert (chat.status, chat.errors()) == ("amended", [])


def test_the_summary_on_request_goes_on_with_the_question(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(name(), value()), language).say("Ada", say["summary"])

    assert chat.said == [told["summary"], "1. Name? – " + told["own"].format(answer="Ada"), "Wert / Value?"]
    assert chat.open == "question value"

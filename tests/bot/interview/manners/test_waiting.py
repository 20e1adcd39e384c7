"""What was read from words that do not say just that waits, counts for nothing, and is confirmed with its section."""

from __future__ import annotations

from typing import Any

import pytest

from bot.interview.manners.session import head_to_json
from bot.interview.values.fhir_json import dump
from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import Json, form, item
from tests.bot.interview.small_forms import choice
from tests.bot.interview.walk.engine_steps import formula, hidden


def day(link_id: str, **more: Any) -> Json:
    return item(link_id, "date", text=f"{link_id}?", **more)


def only(link_id: str) -> list[Json]:
    return [{"question": link_id, "operator": "exists", "answerBoolean": True}]


def asked(*inside: Json, after: str = "boolean") -> Json:
    """A form of a section and one question after it."""
    return form(item("g", "group", *inside, text="Section"), item("end", after, text="End?"))


VAGUE = {"de": "am 3. März 75", "en": "on 3 March 75"}
READ = {"de": "3. März 1975", "en": "3 March 1975"}


def test_answers_that_were_not_said_just_so_wait_and_are_confirmed_together(language: str, say: Any, told: Any) -> None:
    chat = Chat(asked(day("a"), day("b"), day("c")), language).say(VAGUE[language])
    assert chat.open == "question b"
    assert chat.said[0] == told["waits"].format(answer=READ[language])

    chat.say("1980-01-01", VAGUE[language])

    assert chat.open == "checking"
    assert chat.said == [
        told["check"], f"1. a? – {READ[language]}", f"2. c? – {READ[language]}", told["check_reply"],
    ]  # fmt: skip
    assert [chat.answers("g", each) for each in "abc"] == [[], ["1980-01-01"], []]
    assert "1975" not in dump(chat.response())
    assert chat.killed().say(say["yes"]).open == "question end"
    assert [chat.value("g", each) for each in "abc"] == ["1975-03-03", "1980-01-01", "1975-03-03"]


def test_a_number_changes_one_of_them_and_the_rest_is_confirmed_after_it(language: str, say: Any) -> None:
    chat = Chat(asked(day("a"), day("b")), language).say(VAGUE[language], VAGUE[language], "2")
    assert chat.open == "question b"

    chat.say("1980-01-01")

    assert chat.open == "read-back a"  # alone, it is asked for as ever
    assert chat.say(say["yes"]).open == "question end"
    assert [chat.value("g", each) for each in "ab"] == ["1975-03-03", "1980-01-01"]


def test_no_asks_which_one_and_what_is_not_named_is_never_taken(language: str, say: Any, told: Any) -> None:
    chat = Chat(asked(day("a"), day("b")), language).say(VAGUE[language], VAGUE[language], say["no"])
    assert chat.said == [told["change_which"]]

    chat.say("1", say["skip"])

    assert chat.open == "checking"  # without a new answer nothing is lost, and it is asked about again
    assert (chat.answers("g", "a"), chat.answers("g", "b")) == ([], [])


@pytest.mark.parametrize("said", ["asdf", "skip", "ja, nein"])
def test_nothing_but_a_yes_confirms(said: str) -> None:
    chat = Chat(asked(day("a"), day("b")), "en").say(VAGUE["en"], VAGUE["en"])

    chat.say(said)

    assert chat.open == "checking"
    assert chat.session.filling.answers == {}


def test_alone_at_the_end_of_its_section_an_answer_is_read_back_as_ever(language: str, told: Any) -> None:
    chat = Chat(asked(day("a")), language).say(VAGUE[language])

    assert chat.said == [told["read_back"].format(answer=READ[language])]


def test_in_the_last_section_the_yes_to_the_summary_confirms(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(item("g", "group", day("a"), text="Section")), language).say(VAGUE[language])
    assert chat.open == "summary"
    assert f"1. a? – {told['summary_waiting'].format(answer=READ[language])}" in chat.said
    assert chat.answers("g", "a") == []

    chat.say(say["yes"])

    assert (chat.status, chat.value("g", "a"), chat.errors()) == ("completed", "1975-03-03", [])


def test_a_break_sends_nothing_that_waits_and_shows_it_again(language: str, say: Any, told: Any) -> None:
    chat = Chat(asked(day("a"), day("b")), language).say(VAGUE[language], VAGUE[language], say["pause"])
    assert "item" not in chat.response()

    chat.killed().resume()

    assert told["check"] in chat.said
    assert chat.say(say["yes"]).value("g", "b") == "1975-03-03"


HELPED = {**choice("Stick", "None of these", repeats=True), "linkId": "a"}
CHILD = item("child", "string", text="Child?")
CONDITION = [{"question": "a", "operator": "=", "answerCoding": {"system": "http://example.org/codes", "code": "c1"}}]
AGES = formula("calculatedExpression", "%resource.item.item.where(linkId = 'a').answer.value")


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ((day("a"), day("b", enableWhen=only("a"))), VAGUE["en"]),
        ((day("a"), item("told", "display", text="Oh.", enableWhen=only("a")), day("b")), VAGUE["en"]),
        ((day("a"), item("sum", "date", readOnly=True, extension=[hidden(), AGES]), day("b")), VAGUE["en"]),
        ((day("a", required=True), day("b")), VAGUE["en"]),
        ((item("a", "date", CHILD, text="A?"), day("b")), VAGUE["en"]),
        ((HELPED, item("b", "string", text="B?", enableWhen=CONDITION)), "the stick"),
    ],
    ids=["a question", "a text", "a calculation", "required", "a question inside", "of several"],
)
def test_what_something_depends_on_is_confirmed_at_once(inside: tuple[Json, ...], said: str) -> None:
    chat = Chat(asked(*inside, day("c")), "en").say(said)

    assert chat.open == "read-back a"


def test_what_leaves_all_as_it_is_may_wait_though_another_answer_would_not() -> None:
    chat = Chat(asked(HELPED, item("b", "string", text="B?", enableWhen=CONDITION), day("c"), day("d")), "en").say("no")
    assert chat.open == "question c"

    chat.say(VAGUE["en"], "1980-01-01", "1", "1")

    assert chat.open == "question b"  # it was a stick after all


def test_second_thoughts_take_back_what_was_shown_with_the_next_question() -> None:
    chat = Chat(asked(day("a"), day("b"), day("c")), "en").say(VAGUE["en"], "wait, it was another one")

    assert chat.open == "question a"
    assert list(chat.session.filling.waiting) == [(("g", 0), ("a", 0))]  # until there is another answer
    assert chat.session.filling.answers == {}
    assert [str(each) for each in chat.say("1980-01-01").answers("g", "a")] == ["1980-01-01"]


def test_a_session_with_answers_that_wait_survives_storage() -> None:
    chat = Chat(asked(day("a"), day("b")), "en").say(VAGUE["en"])

    assert "waiting" not in head_to_json(chat.session)  # what waits is an event, as all that happened
    assert chat.killed().session.filling.waiting == {
        (("g", 0), ("a", 0)): chat.session.filling.waiting[(("g", 0), ("a", 0))]
    }

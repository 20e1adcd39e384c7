"""The manners of the chat, in both languages, and what the form's hints become in it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import CORE, SDC, Json, coding, form, item
from tests.bot.interview.walk.engine_steps import control

NONE_OF_THESE = {**coding("none", display="keine"), "extension": [{"url": CORE + "questionnaire-optionExclusive", "valueBoolean": True}]}  # fmt: skip
SIDES = [coding("l", display="linke Brust"), coding("r", display="rechte Brust"), NONE_OF_THESE]
WORDS = {
    "de": {
        "yes": "ja", "no": "nein", "skip": "überspringen", "back": "zurück", "why": "warum?", "pause": "Pause",
        "go on": "weiter", "summary": "Zusammenfassung", "change": "Geburtsdatum ändern", "unsure": "weiss nicht",
        "question": "Tut die Mammographie weh?",
    },
    "en": {
        "yes": "yes", "no": "no", "skip": "skip", "back": "back", "why": "why?", "pause": "pause",
        "go on": "continue", "summary": "summary", "change": "change Geburtsdatum", "unsure": "I don't know",
        "question": "Does the mammogram hurt?",
    },
}  # fmt: skip
both = pytest.mark.parametrize("language", ["de", "en"])


def core(name: str, **value: Any) -> Json:
    return {"url": CORE + name, **value}


def sides(**more: Any) -> Json:
    return item("side", "choice", text="Welche Seite?", answerOption=SIDES, **more)


def two_questions() -> Json:
    return form(item("born", "date", text="Geburtsdatum", required=True), item("count", "integer", text="Wie viele?"))


@pytest.mark.parametrize(
    ("language", "kind", "said", "understood", "value"),
    [
        ("de", "date", "am dritten März 75", "Ich habe verstanden: 3. März 1975. Stimmt das?", ["1975-03-03"]),
        ("en", "date", "on the third of March 75", "I understood: 3 March 1975. Is that right?", ["1975-03-03"]),
        ("de", "integer", "ja, zwei: 2010 und 2015", "Ich habe verstanden: 2010, 2015. Stimmt das?", [2010, 2015]),
        ("en", "integer", "yes, two: 2010 and 2015", "I understood: 2010, 2015. Is that right?", [2010, 2015]),
        ("de", "integer", "ungefähr 3", "Ich habe verstanden: 3. Stimmt das?", [3]),
    ],
)
def test_what_was_not_said_literally_is_read_back(
    language: str, kind: str, said: str, understood: str, value: list[Any]
) -> None:
    chat = Chat(form(item("q", kind, text="Q", repeats=len(value) > 1)), language).say(said)

    assert (chat.said[0], chat.open, chat.answers("q")) == (understood, "read-back q", [])
    assert chat.say(WORDS[language]["yes"]).answers("q") == value


def test_a_read_back_that_is_wrong_is_asked_again_or_corrected_at_once() -> None:
    chat = Chat(two_questions(), "de").say("am dritten März 75")

    assert chat.say("nein").open == "question born"
    assert chat.say("am dritten März 75", "nein, am vierten März 75").said[0].startswith("Ich habe verstanden: 4. März")


def test_no_only_the_left_one_is_an_answer() -> None:
    chat = Chat(form(sides(repeats=True)), "de").say("nein, nur linke Brust")

    assert chat.said[0] == "Ich habe verstanden: linke Brust. Stimmt das?"


@pytest.mark.parametrize(("said", "code"), [("2", "r"), ("rechte Brust", "r"), ("linke", "l")])
def test_an_option_is_chosen_by_number_label_or_a_part_of_it(said: str, code: str) -> None:
    chat = Chat(form(sides()), "de").say(said)
    if chat.open == "read-back side":
        chat.say("ja")

    assert chat.value("side")["code"] == code


def test_a_part_of_several_options_is_asked_back() -> None:
    chat = Chat(form(sides()), "de").say("Brust")

    assert (chat.keys, chat.choices) == (["which_one"], ["linke Brust", "rechte Brust"])
    assert chat.say("2").value("side")["code"] == "r"


def test_an_exclusive_option_is_not_taken_with_others() -> None:
    chat = Chat(form(sides(repeats=True)), "de").say("linke Brust und keine")

    assert (chat.keys[0], chat.answers("side")) == ("why_exclusive", [])
    assert [each["code"] for each in chat.say("1 und 2").answers("side")] == ["l", "r"]


@both
def test_not_knowing_leaves_a_question_open_and_says_so(language: str) -> None:
    chat = Chat(form(item("q", "integer", text="Q")), language).say(WORDS[language]["unsure"])

    assert (chat.keys[0], chat.open) == ("dont_know", "summary")


@both
def test_what_is_not_required_can_be_skipped_and_what_is_goes_to_the_team(language: str) -> None:
    chat, skip = Chat(two_questions(), language), WORDS[language]["skip"]

    assert chat.say(skip).keys[0] == "kindly"
    assert chat.say(skip).keys[0] == "left_to_team"
    assert chat.say(skip).keys[0] == "skipped"
    assert "summary_required" in chat.keys
    assert chat.say(WORDS[language]["yes"]).status == "in-progress"


@both
def test_the_patient_goes_back_and_changes_answers(language: str) -> None:
    words = WORDS[language]
    chat = Chat(two_questions(), language).say("1975", words["back"])
    assert (chat.open, chat.keys[0]) == ("question born", "so_far")

    chat.say("1976").say(words["change"])
    assert chat.open == "question born"

    assert chat.say("1977").value("born") == "1977"
    assert chat.open == "question count"


@both
def test_a_patient_learns_why_something_is_asked(language: str) -> None:
    why = item("why", "display", text="Weil", extension=[control("help")])

    explained = Chat(form(item("q", "boolean", why, text="Q")), language).say(WORDS[language]["why"])
    unexplained = Chat(form(item("q", "boolean", text="Q")), language).say(WORDS[language]["why"])

    assert explained.said == ["Weil", "Q"]
    assert unexplained.keys == ["why_unknown"]


@both
def test_the_interview_pauses_and_goes_on_where_it_was(language: str) -> None:
    chat = Chat(two_questions(), language).say("1975").say(WORDS[language]["pause"])
    assert chat.open == "paused"

    chat.killed().say(WORDS[language]["go on"])

    assert (chat.open, chat.keys[0], chat.value("born")) == ("question count", "resumed", "1975")


@pytest.mark.parametrize(("language", "line"), [("de", "Frage 2 von 2"), ("en", "Question 2 of 2")])
def test_progress_is_shown(language: str, line: str) -> None:
    assert line in Chat(two_questions(), language).say("1975").said


@both
def test_a_summary_can_be_asked_for_and_comes_before_the_end_with_the_chance_to_correct(language: str) -> None:
    words = WORDS[language]
    chat = Chat(two_questions(), language).say("1975").say(words["summary"])
    assert (chat.keys[0], chat.open) == ("summary", "question count")

    chat.say("3").say(words["no"]).say("2").say("4")
    assert (chat.open, chat.value("count")) == ("summary", 4)

    assert chat.say(words["yes"]).status == "completed"
    assert chat.errors() == []


@both
def test_after_two_failures_an_example_is_shown_and_after_three_staff_are_told(language: str) -> None:
    chat = Chat(form(item("a", "integer", text="A"), item("b", "integer", text="B")), language)

    assert "example_integer" not in chat.say("hm").keys
    assert "example_integer" in chat.say("hm").keys
    assert chat.say("hm").keys[0] == "marked"
    assert (chat.open, list(chat.session.filling.marked)) == ("question b", [(("a", 0),)])


@both
def test_a_required_question_is_not_given_up_after_three_failures(language: str) -> None:
    chat = Chat(two_questions(), language).say("hm", "hm", "hm", "hm")

    assert (chat.open, dict(chat.session.filling.marked)) == ("question born", {})


@both
def test_a_question_of_the_patient_is_passed_on_and_the_interview_stays_where_it_is(language: str) -> None:
    chat = Chat(two_questions(), language).say("1975").ask(WORDS[language]["question"])

    assert (chat.aside, chat.open, chat.answers("count")) == ("clear", "question count", [])


@both
def test_an_initial_value_is_taken_only_when_it_was_confirmed(language: str) -> None:
    words = WORDS[language]
    chat = Chat(form(*(item(each, "integer", text=each, initial=[{"valueInteger": 40}]) for each in "ab")), language)
    assert (chat.open, chat.answers("a")) == ("proposal a", [])

    chat.say(words["yes"], words["no"], "7")

    assert (chat.answers("a"), chat.answers("b")) == ([40], [7])


def test_hints_of_the_form_are_shown_in_its_words() -> None:
    asked = item(
        "n",
        "integer",
        item("unit", "display", text="points", extension=[control("unit")]),
        item("low", "display", text="none", extension=[control("lower")]),
        item("high", "display", text="unbearable", extension=[control("upper")]),
        item("more", "display", text="Think of the last week."),
        text="How much pain?",
        prefix="1.",
        extension=[
            control("slider"),
            core("minValue", valueInteger=0),
            core("maxValue", valueInteger=10),
            core("entryFormat", valueString="0 to 10"),
            core("questionnaire-supportLink", valueUri="http://example.org/help"),
            {"url": SDC + "sdc-questionnaire-itemMedia", "valueAttachment": {"url": "http://example.org/x.png", "title": "Scale"}},
        ],
    )  # fmt: skip

    chat = Chat(form(asked), "en")

    assert chat.said[1:] == [
        "1. How much pain?", "Think of the last week.", "Scale http://example.org/x.png", "http://example.org/help",
        "0 to 10", "points", "A number from 0 to 10.", "none", "unbearable",
    ]  # fmt: skip
    assert chat.say("11").keys[0] == "problem_above-maximum"


def test_options_are_shown_with_their_prefix_and_chosen_by_it() -> None:
    listed = [{**each, "extension": [core("questionnaire-optionPrefix", valueString=prefix)]} for prefix, each in zip(("(a)", "(b)"), SIDES[:2], strict=True)]  # fmt: skip
    chat = Chat(form(item("side", "choice", text="Side?", answerOption=listed)), "de")

    assert chat.choices == ["(a) linke Brust", "(b) rechte Brust"]
    assert chat.say("b").value("side")["code"] == "r"


def test_an_open_choice_says_how_its_own_words_are_called() -> None:
    label = {"url": SDC + "sdc-questionnaire-openLabel", "valueString": "Etwas anderes:"}
    chat = Chat(form(item("q", "open-choice", text="Q", answerOption=SIDES, extension=[label])), "de")

    assert "Etwas anderes:" in chat.said
    assert chat.say("Achselhöhle", "ja").value("q") == "Achselhöhle"


def test_a_pattern_that_does_not_fit_shows_the_entry_format() -> None:
    rules = [core("regex", valueString="[0-9]{4}"), core("entryFormat", valueString="4 Ziffern")]
    chat = Chat(form(item("q", "string", text="PLZ", extension=rules)), "de").say("abc")

    assert (chat.keys[0], chat.said[1]) == ("problem_pattern", "4 Ziffern")
    assert chat.say("8000").value("q") == "8000"


def test_hidden_and_read_only_items_are_not_asked_and_hidden_ones_not_shown() -> None:
    hide = core("questionnaire-hidden", valueBoolean=True)
    chat = Chat(
        form(
            item("h", "string", text="H", extension=[hide], initial=[{"valueString": "x"}]),
            item("r", "string", text="R", readOnly=True, initial=[{"valueString": "y"}]),
            item("q", "boolean", text="Q"),
        ),
        "en",
    )
    assert chat.open == "question q"

    chat.say("yes")

    assert chat.open == "summary"
    assert "“x”" not in " ".join(chat.said)
    assert "“y”" in " ".join(chat.said)
    assert [each["linkId"] for each in chat.response()["item"]] == ["h", "r", "q"]


def test_an_item_without_text_is_asked_by_the_meaning_of_its_code() -> None:
    code = {"system": "http://example.org/codes", "code": "w", "display": "Gewicht"}

    assert "Gewicht" in Chat(form(item("q", "decimal", code=[code])), "de").said


def test_a_short_text_names_the_question_in_the_summary() -> None:
    short = {"url": SDC + "sdc-questionnaire-shortText", "valueString": "Alter"}
    chat = Chat(form(item("q", "integer", text="Wie alt sind Sie heute?", extension=[short])), "de").say("45")

    assert "1. Alter – 45" in chat.said

"""How questions are put: tries, units, repeats, proposals, limits, questions in between, in both languages."""

from __future__ import annotations

from typing import Any

import pytest

from bot.interview.manners.session import Session
from bot.sentences.interface_texts import INTERVIEW_TEXTS
from tests.bot.interview.chat import Chat, mammography
from tests.bot.interview.formulas.test_formulas_of_forms import answer_to
from tests.bot.interview.resources import CORE, UCUM, Json, extended, form, item
from tests.bot.interview.small_forms import born, choice, name, value
from tests.bot.interview.walk.engine_steps import formula, options


def test_after_two_tries_there_is_an_example_and_after_three_the_team_takes_over(
    language: str, say: Any, told: Any
) -> None:
    chat = Chat(form(value(), name()), language).say(say["nonsense"])
    assert (chat.said[0], chat.keys[1:], chat.said[-1]) == (told["not_understood"], ["noted"], "Wert / Value?")

    assert told["example_integer"] in chat.say(say["nonsense"]).said
    assert told["marked"] in chat.say(say["nonsense"]).said
    assert chat.open == "question name"
    assert [type(event).__name__ for event in chat.session.events] == ["Noted"] * 3 + ["MarkedForStaff"]


def test_a_required_question_goes_on_kindly_after_three_tries(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(value(required=True), name()), language).say(*[say["nonsense"]] * 3)

    assert told["kindly"] in chat.said
    assert chat.open == "question value"
    assert told["left_to_team"] in chat.say(say["skip"]).said


@pytest.mark.parametrize(
    ("question", "reply", "key"),
    [
        (born(), "31. Februar 2020", "why_impossible"),
        (value(), "2 bis 3", "why_range"),
        (value(), "2,5", "why_not_whole"),
        (choice("Kaffee", "Tee"), "Milch", "why_not_listed"),
        (item("a", "boolean", text="A?"), "ja und nein", "why_contradiction"),
    ],
)
def test_the_hint_fits_what_went_wrong(question: Json, reply: str, key: str) -> None:
    assert Chat(form(question)).say(reply).said[0] == INTERVIEW_TEXTS["de"][key]


def test_units_that_are_possible_are_named(language: str, told: Any) -> None:
    years = {"system": UCUM, "code": "a", "display": "Jahre"}
    months = {"system": UCUM, "code": "mo", "display": "Monate"}
    units = extended(
        (CORE + "questionnaire-unitOption", {"valueCoding": years}),
        (CORE + "questionnaire-unitOption", {"valueCoding": months}),
    )
    chat = Chat(form(item("long", "quantity", text="How long?", extension=units)), language).say("18")

    called = {"de": "Jahre, Monate", "en": "years, months"}[language]
    assert chat.said[:2] == [told["why_unit_missing"], told["units"].format(answer=called)]
    assert told["example_answer"].format(answer="3 " + called.split(", ")[0]) in chat.say("18").said


def test_a_question_that_repeats_asks_for_more(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(name(repeats=True), value()), language).say("Ada")
    assert chat.said == [told["own"].format(answer="Ada"), told["another_answer"]]

    assert chat.say("Grace").answers("name") == ["Ada", "Grace"]
    assert told["which_more"] in chat.say(say["yes"]).said
    assert chat.say("Emmy").answers("name") == ["Ada", "Grace", "Emmy"]
    assert chat.say(say["no"]).open == "question value"


def test_several_answers_at_once_are_taken() -> None:
    chat = Chat(form(item("year", "date", text="Wann?", repeats=True), value())).say("2010 und 2015", "ja")

    assert chat.answers("year") == ["2010", "2015"]


def test_a_group_that_repeats_asks_whether_there_is_another(language: str, say: Any, told: Any) -> None:
    group = item("g", "group", name(), text="Relatives", repeats=True)
    chat = Chat(form(group, value()), language)
    assert chat.said[-2:] == ["Relatives", told["any_group"]]

    chat.say(say["yes"], "Ada")
    assert chat.said == [told["taken_words"], "Relatives", told["another_group"]]
    assert told["instance"].format(number=2) in chat.say(say["yes"]).said
    assert chat.say("Grace", say["no"]).open == "question value"
    assert [chat.value(("g", n), "name") for n in (0, 1)] == ["Ada", "Grace"]


@pytest.mark.parametrize("reply", ["ja, meine Tante", "meine Tante", "Tante"])
def test_another_one_may_be_named_at_once(reply: str) -> None:
    who = item("who", "choice", text="Wer?", answerOption=options("Mutter", "Tante"))
    chat = Chat(form(item("g", "group", who, text="Verwandte", repeats=True), value())).say("ja", "Mutter", reply)

    assert chat.open == "read-back who"
    assert chat.say("ja").value(("g", 1), "who")["code"] == "Tante"


def test_nonsense_about_another_one_ends_after_three_tries(language: str, say: Any) -> None:
    born_there = item("g", "group", born(), text="G", repeats=True)

    assert Chat(form(born_there, value()), language).say(*[say["nonsense"]] * 3).open == "question value"


def test_an_initial_value_is_proposed_not_assumed(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(value(initial=[{"valueInteger": 7}]), name()), language)
    assert chat.said[-1] == told["proposal"].format(answer="7")
    assert chat.open == "proposal value"
    assert "item" not in chat.response()

    assert chat.say(say["yes"]).value("value") == 7


@pytest.mark.parametrize(("replies", "left"), [(("8",), 8), (("no", "9"), 9), (("skip",), None)])
def test_a_proposal_may_be_declined_replaced_or_skipped(
    language: str, say: Any, replies: tuple[str, ...], left: object
) -> None:
    chat = Chat(form(value(initial=[{"valueInteger": 7}]), name()), language)

    chat.say(*(say.get(reply, reply) for reply in replies))

    assert chat.open == "question name"
    assert chat.value("value") == left


def test_a_formula_may_propose_from_the_record(language: str, say: Any) -> None:
    launch = {
        "url": "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-launchContext",
        "extension": [{"url": "name", "valueCoding": {"code": "patient"}}, {"url": "type", "valueCode": "Patient"}],
    }
    asked = form(born(extension=[formula("initialExpression", "%patient.birthDate")]), extension=[launch])

    chat = Chat(asked, language, patient={"resourceType": "Patient", "birthDate": "1975-03-03"})

    assert say["read date"] in chat.said[-1]
    assert chat.say(say["yes"]).value("born") == "1975-03-03"


def test_texts_of_the_form_are_shown_once_and_again_after_a_kill(language: str) -> None:
    chat = Chat(form(item("d", "display", text="Good to know."), name()), language)
    assert "Good to know." in chat.said

    assert "Good to know." in chat.killed().resume().said
    assert "Good to know." not in chat.say("Ada").said


def test_messages_of_constraints_come_in_the_patients_language(language: str, say: Any) -> None:
    rule = {
        "url": CORE + "questionnaire-constraint",
        "extension": [
            {"url": "key", "valueId": "k"}, {"url": "severity", "valueCode": "error"},
            {"url": "expression", "valueString": "answer.value > 3"}, {"url": "human", "valueString": "Mehr als drei."},
        ],
    }  # fmt: skip
    beside = {
        "url": "https://klartext.example/fhir/StructureDefinition/constraint-translation",
        "extension": [
            {"url": "key", "valueId": "k"}, {"url": "lang", "valueCode": "en"},
            {"url": "content", "valueString": "More than three."},
        ],
    }  # fmt: skip
    chat = Chat(form(value(extension=[rule, beside]), language="de"), language).say("2")

    assert chat.said[0] == {"de": "Mehr als drei.", "en": "More than three."}[language]
    assert chat.say("4").value("value") == 4


@pytest.mark.parametrize(
    ("question", "reply", "key", "slots"),
    [
        (name(maxLength=3), "Adalbert", "why_too_long", {}),
        (value(extension=extended((CORE + "maxValue", {"valueInteger": 5}))), "6", "problem_above-maximum", {"answer": "5"}),
        (value(extension=extended((CORE + "minValue", {"valueInteger": 5}))), "4", "problem_below-minimum", {"answer": "5"}),
        (name(extension=extended((CORE + "minLength", {"valueInteger": 4}))), "Ada", "problem_too-short", {"limit": 4}),
        (name(extension=extended((CORE + "regex", {"valueString": "[0-9]+"}))), "Ada", "problem_pattern", {}),
    ],
)  # fmt: skip
def test_limits_are_explained(
    language: str, told: Any, question: Json, reply: str, key: str, slots: dict[str, Any]
) -> None:
    assert Chat(form(question), language).say(reply).said[0] == told[key].format(**slots)


def test_a_mild_constraint_is_said_and_the_answer_is_taken(language: str) -> None:
    parts = [{"url": "key", "valueId": "k"}, {"url": "severity", "valueCode": "warning"},
             {"url": "expression", "valueString": "answer.value > 3"}, {"url": "human", "valueString": "Rather low."}]  # fmt: skip
    rule = {"url": CORE + "questionnaire-constraint", "extension": parts}

    chat = Chat(form(value(extension=[rule]), name()), language).say("2")

    assert chat.said[0] == "Rather low."
    assert chat.value("value") == 2


def test_what_does_not_fit_in_the_end_is_said_and_keeps_it_in_progress(language: str, say: Any, told: Any) -> None:
    two = extended((CORE + "questionnaire-minOccurs", {"valueInteger": 2}))
    asked = form(item("g", "group", name(), text="G", repeats=True, required=True, extension=two))

    chat = Chat(asked, language).say("Ada", say["skip"], say["no"])

    assert chat.open == "summary"
    assert told["summary_problems"] in chat.said
    assert chat.say(say["yes"]).status == "in-progress"
    assert chat.errors() == []


def test_a_question_in_between_is_handed_on_and_the_open_one_comes_again(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(value(), name()), language).ask(say["question"])

    assert chat.aside == "clear"
    assert chat.said == [told["on_with"], "Wert / Value?"]
    assert chat.session.events == ()
    assert chat.say("3").value("value") == 3


def test_a_question_nobody_answers_may_be_meant_for_the_team_where_there_is_room(
    language: str, say: Any, told: Any
) -> None:
    chat = Chat(form(name(), value()), language).say(say["question"])
    assert chat.said == [told["as_answer"].format(answer=told["own"].format(answer=say["question"]))]

    assert chat.say(say["yes"]).value("name") == say["question"]


def test_a_question_nobody_answers_is_no_failed_try(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(value(), name()), language).say(*[say["question"]] * 5)

    assert chat.said == [told["no_pairs"], "Wert / Value?"]
    assert chat.open == "question value"


def test_a_read_back_survives_a_question_in_between(language: str, say: Any) -> None:
    chat = Chat(form(value(), name()), language).say(say["roughly"]).ask(say["question"])

    assert chat.open == "read-back value"
    assert "70" in chat.said[-1]
    assert chat.say(say["yes"]).value("value") == 70


def test_which_of_several_answers_a_question_is_about_is_said(language: str, say: Any, told: Any) -> None:
    inner = item("since", "integer", text="Since?")
    asked = item("q", "choice", inner, text="What?", repeats=True, answerOption=options("Tea", "Milk"))
    chat = Chat(form(asked), language).say("1, 2")

    assert told["about_answer"].format(answer="Tea") in chat.said
    assert told["about_answer"].format(answer="Milk") in chat.say("3").said
    chat.say("4")
    assert [chat.value(("q", n), "since") for n in (0, 1)] == [3, 4]


def test_calculated_values_are_in_the_summary_without_a_number(language: str) -> None:
    double = item("double", "integer", text="Twice", readOnly=True,
                  extension=[formula("calculatedExpression", f"{answer_to('value')} * 2")])  # fmt: skip

    assert "Twice – 6" in Chat(form(value(), double), language).say("3").said


def test_a_file_is_given_by_its_address_and_a_person_by_name(language: str, say: Any, told: Any) -> None:
    asked = form(item("file", "attachment", text="Letter?"), item("gp", "reference", text="Your doctor?"))
    chat = Chat(asked, language)
    assert told["file"] in chat.said

    chat.say("https://example.org/letter.pdf", "Dr. Meier", say["yes"])

    assert chat.value("file") == {"contentType": "application/pdf", "url": "https://example.org/letter.pdf"}
    assert chat.value("gp") == {"display": "Dr. Meier"}
    assert (chat.status, chat.errors()) == ("completed", [])


def test_markup_in_a_patients_words_is_never_repeated_as_such(language: str, told: Any) -> None:
    chat = Chat(form(name(repeats=True)), language).say("<b>Ada</b> [link](x) {limit} „so“")

    assert chat.said[0] == told["own"].format(answer="‹b›Ada‹/b› (link)(x) (limit) 'so'")
    assert chat.answers("name") == ["<b>Ada</b> [link](x) {limit} „so“"]


def test_a_long_list_shows_its_beginning_and_takes_all_of_it(language: str, told: Any) -> None:
    chat = Chat(form(choice(*(f"Town {n}" for n in range(1, 41)))), language)

    assert len(chat.choices) == 30
    assert told["more_options"].format(shown=30, total=40) in chat.said
    assert chat.say("Town 37").value("q")["code"] == "c37"


def test_the_answers_of_a_form_in_another_language_keep_its_own_words(say: Any) -> None:
    chat = Chat(mammography(), "en").say("yes", "1", "45", "no", "I don't know")

    (given,) = chat.answers("earlier-examinations", "mammogram-before")
    assert given["display"] == "Weiß ich nicht"
    assert "Weiß ich nicht" not in " ".join(chat.say("summary").said)
    assert chat.errors() == []


def test_a_session_is_json(language: str, say: Any) -> None:
    chat = Chat(form(value(), name()), language).say(say["roughly"])

    assert chat.killed().session == Session(language, (), chat.session.talk)
    assert chat.say(say["yes"]).value("value") == 70


def test_both_languages_say_the_same_sentences_with_the_same_slots() -> None:
    slots = {lang: {key: sorted(part for part in ("number", "total", "answer", "limit", "shown", "low", "high")
                                if f"{{{part}}}" in text) for key, text in texts.items()}
             for lang, texts in INTERVIEW_TEXTS.items()}  # fmt: skip

    assert slots["de"] == slots["en"]


def test_yes_to_room_for_words_asks_for_the_words(language: str, say: Any, told: Any) -> None:
    chat = Chat(form(item("note", "text", text="Noch etwas? / Anything else?"), name()), language).say(say["yes"])
    assert chat.said[0] == told["go_ahead"]

    assert chat.say("Ada").value("note") == "Ada"


def test_an_example_of_a_number_lies_within_its_limits(language: str, say: Any, told: Any) -> None:
    limits = extended((CORE + "minValue", {"valueInteger": 16}), (CORE + "maxValue", {"valueInteger": 120}))
    chat = Chat(form(value(extension=limits)), language).say(say["nonsense"], say["nonsense"])

    assert told["example_answer"].format(answer="68") in chat.said


def test_own_words_after_a_no_are_read_back(language: str, say: Any) -> None:
    chat = Chat(form(choice("Tea", "Milk", kind="open-choice"), name()), language).say("something like tea")
    assert chat.open == "read-back q"

    assert chat.say(f"{say['no']}, cocoa").open == "read-back q"
    assert chat.say(say["yes"]).value("q") == "cocoa"

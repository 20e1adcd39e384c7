"""Forms of STU3, of R5 and of careless editors are read as R4 has them, by interview and validator alike."""

from __future__ import annotations

import pytest

from bot.interview.form.dialects import differences, in_r4
from bot.interview.form.support import UnsupportedQuestionnaire
from bot.interview.load import load_form
from bot.interview.values.fhir_json import objects
from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import Json, coding, form, item
from tests.bot.interview.walk.engine_steps import hidden, options

COLOURS = [coding("r", display="Red"), coding("g", display="Green")]
OTHER = item("other", "string", text="Other")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"type": "coding"}, "choice"),
        ({"type": "coding", "answerConstraint": "optionsOnly"}, "choice"),
        ({"type": "coding", "answerConstraint": "optionsOrString"}, "open-choice"),
        ({"type": "coding", "answerConstraint": "optionsOrType"}, "open-choice"),
        ({"type": "Choice"}, "choice"),
        ({"type": "OPEN-CHOICE"}, "open-choice"),
        ({"type": " open_choice "}, "open-choice"),
        ({}, "choice"),
    ],
)
def test_a_type_of_another_release_or_in_capitals_is_asked_and_the_response_is_valid(written: Json, meant: str) -> None:
    chat = Chat(form({"linkId": "q", "text": "Colour?", "answerOption": COLOURS, **written}), "en")

    assert (chat.interview.form.by_link_id["q"].type, chat.choices) == (meant, ["Red", "Green"])
    chat.say("green", "yes")
    assert (chat.status, chat.errors()) == ("completed", [])
    assert chat.value("q")["code"] == "g"
    assert any(line.startswith("q (Colour?): type: ") for line in chat.interview.form.gap_lines())


@pytest.mark.parametrize(("written", "meant"), [("String", "string"), ("INTEGER", "integer"), ("datetime", "dateTime")])
def test_only_the_case_of_a_type_may_differ(written: str, meant: str) -> None:
    loaded = load_form(form(item("q", written, text="Q"), item("x", "slider", text="X")))

    assert loaded.by_link_id["q"].type == meant
    assert loaded.by_link_id["x"].left_out


def test_link_ids_that_are_numbers_are_texts_in_the_response_and_in_conditions() -> None:
    condition = {"question": 1, "operator": "=", "answerBoolean": True}
    inner: Json = {"linkId": 2, "type": "string", "text": "Which?", "enableWhen": [condition]}
    questionnaire = form({"linkId": 1, "type": "boolean", "text": "Any?"}, item("g", "group", inner, text="More"))
    chat = Chat(questionnaire, "en").say("yes", "the left one", "yes")

    assert (chat.status, chat.errors()) == ("completed", [])
    assert [node["linkId"] for node in chat.response()["item"]] == ["1", "g"]
    assert [line for line in chat.interview.form.gap_lines() if "linkId" in line] != []


def test_a_form_of_stu3_is_asked_by_its_options_and_conditions() -> None:
    first = {"linkId": "a", "type": "choice", "text": "Colour?", "option": COLOURS, "initialCoding": COLOURS[1]["valueCoding"]}  # fmt: skip
    second = {"linkId": "b", "type": "choice", "text": "Sure?", "options": {"reference": "http://hl7.org/fhir/ValueSet/yesnodontknow"}}  # fmt: skip
    third = item("c", "string", text="Why?", enableWhen=[{"question": "a", "hasAnswer": True}])
    fourth = item("d", "string", text="Never?", enableWhen=[{"question": "a", "answerCoding": COLOURS[0]["valueCoding"]}])  # fmt: skip
    chat = Chat(form(first, second, third, fourth), "en")

    assert chat.open == "proposal a"
    chat.say("yes", "no", "because", "yes")
    assert (chat.status, chat.errors()) == ("completed", [])
    assert [node["linkId"] for node in chat.response()["item"]] == ["a", "b", "c"]
    named = {(link_id, name) for link_id, name, _ in differences(chat.questionnaire)}
    assert named == {("a", "option"), ("a", "initial"), ("b", "options"), ("c", "enableWhen"), ("d", "enableWhen")}


def test_a_form_of_r4_is_left_as_it_is() -> None:
    questionnaire = form(item("g", "group", item("q", "choice", text="Q", answerOption=options("a")), text="G"))

    assert in_r4(questionnaire) is questionnaire
    assert list(differences(questionnaire)) == []


def test_what_is_read_otherwise_keeps_all_else() -> None:
    questionnaire = form(item("g", "Group", item("q", "String", text="Q", maxLength=3), text="G"), title="T")
    made = in_r4(questionnaire)

    assert made["title"] == "T"
    (group,) = objects(made, "item")
    assert (group["type"], objects(group, "item")) == ("group", [item("q", "string", text="Q", maxLength=3)])


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ({}, "no items"),
        ({"item": []}, "no items"),
        ({"group": {"question": [{"linkId": "a", "type": "string"}]}}, "DSTU2"),
    ],
)
def test_a_form_without_items_is_refused_with_its_reason(head: Json, reason: str) -> None:
    with pytest.raises(UnsupportedQuestionnaire, match=reason):
        load_form({"resourceType": "Questionnaire", "status": "active", **head})


@pytest.mark.parametrize(
    "only",
    [
        item("q", "string", text="Q", readOnly=True),
        item("q", "string", text="Q", extension=[hidden()]),
        item("q", "display", text="Q"),
    ],
)
def test_a_form_in_which_nobody_is_asked_anything_says_so_to_staff(only: Json) -> None:
    loaded = load_form(form(only))

    assert [line for line in loaded.gap_lines() if "nobody is asked anything" in line] != []
    assert not any("nobody is asked anything" in line for line in load_form(form(only, OTHER)).gap_lines())


def test_one_condition_without_operator_among_others_is_a_defect_that_spares_nobody_the_question() -> None:
    equal = {"question": "a", "operator": "=", "answerBoolean": True}
    questionnaire = form(
        item("a", "boolean", text="A?"),
        item("b", "string", text="B?", enableWhen=[equal]),
        item("c", "string", text="C?", required=True, enableWhen=[{"question": "a", "answerBoolean": True}]),
    )

    assert Chat(questionnaire, "en").say("no").open == "question c"
    assert in_r4(questionnaire) is questionnaire

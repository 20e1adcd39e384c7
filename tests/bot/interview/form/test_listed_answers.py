"""What a form lists and nobody can choose is left out and named: no question ends in a loop, no label is blank."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.interview.form.indexed import index_questionnaire
from bot.interview.load import load_form
from bot.interview.validate.response import check_response
from bot.interview.values.answer import Answer
from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import CORE, Json, code_system, coding, form, item, response, value_set
from tests.bot.interview.walk.engine_steps import NOW, Interview, control, formula, options, text, whole, yes

WORDS: list[Json] = [{"valueString": "one"}, {"valueString": "many"}]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (item("q", "boolean", required=True, answerOption=WORDS), yes()),
        (item("q", "boolean", required=True, answerValueSet="http://example.org/nowhere"), yes()),
        (item("q", "integer", required=True, answerOption=WORDS), whole(4)),
        (item("q", "date", required=True, answerOption=WORDS), Answer("date", "2020-05-01")),
        (item("q", "string", required=True, answerOption=options("a", "b")), text("free")),
        (item("q", "text", required=True, answerOption=WORDS), text("free")),
    ],
)
def test_a_list_of_the_wrong_type_is_no_list(asked: Json, answer: Answer) -> None:
    questionnaire = form(asked)
    loaded = load_form(questionnaire)
    interview = Interview(questionnaire)

    assert loaded.by_link_id["q"].options == ()
    assert ("q", "answerOption") in [(note.link_id, note.feature) for note in loaded.warnings]
    assert interview.codes("q", answer) == []
    interview.give("q", answer)
    assert interview.open == []
    index = index_questionnaire(questionnaire)
    assert not [each for each in check_response(interview.response, index, now=NOW.isoformat()) if each.is_error]


def test_options_that_say_nothing_are_not_offered() -> None:
    blank: list[Json] = [
        {"valueCoding": {"system": "http://example.org/codes"}},
        {"valueCoding": {"system": "http://example.org/codes", "code": "b", "display": "  "}},
        {"valueString": " "},
    ]
    loaded = load_form(form(item("q", "choice", answerOption=[*blank, *options("red")])))

    assert all(option.label.base.strip() for option in loaded.by_link_id["q"].options)
    assert "red" in [option.label.base for option in loaded.by_link_id["q"].options]
    assert [note.link_id for note in loaded.warnings if note.feature == "answerOption"] == ["q"]


def test_an_option_of_true_or_false_is_none_of_a_choice() -> None:
    listed = [{"valueBoolean": True}, *options("red")]
    loaded = load_form(form(item("q", "choice", answerOption=listed)))

    assert [option.label.base for option in loaded.by_link_id["q"].options] == ["red"]


@pytest.mark.parametrize("where", ["option", "coding"])
def test_formulas_find_by_its_extension_what_an_answer_counts(where: str) -> None:
    def scored(code: str, score: str) -> Json:
        marks = [{"url": CORE + "ordinalValue", "valueDecimal": Decimal(score)}]
        coding: Json = {"system": "http://example.org/codes", "code": code}
        if where == "option":
            return {"valueCoding": coding, "extension": marks}
        return {"valueCoding": {**coding, "extension": marks}}

    listed = [scored("never", "0"), scored("often", "2.5")]
    total = f"%resource.item.answer.value.extension('{CORE}ordinalValue').value.sum()"
    questionnaire = form(
        item("a", "choice", answerOption=listed),
        item("b", "choice", answerOption=listed),
        item("total", "decimal", readOnly=True, extension=[formula("calculatedExpression", total)]),
    )
    often = Answer("coding", {"system": "http://example.org/codes", "code": "often"})

    interview = Interview(questionnaire).give("a", often).give("b", often)

    assert interview.value("total") == Decimal(5)
    assert interview.items[0]["answer"] == [{"valueCoding": often.value}]  # the response repeats no scores


@pytest.mark.parametrize("role", ["inline", "sidebar", "highlight", "help"])
def test_a_text_item_that_holds_a_text_to_show_is_shown_and_never_asked(role: str) -> None:
    told = item("t", "text", text="Read this", readOnly=True, extension=[control(role)])
    interview = Interview(form(told, item("g", "group", item("q", "string"), told | {"linkId": "u"})))

    asked = [path[-1][0] for path in interview.engine.questions(interview.filling)]

    assert asked == ["q"]
    assert interview.open == []


def labels(questionnaire: Json, *resources: Json) -> list[str]:
    return [option.label.base for option in load_form(questionnaire, resources=resources).by_link_id["q"].options]


@pytest.mark.parametrize(
    ("listed", "shown"),
    [
        ([coding("1", display="Other"), coding("2", display="other")], ["Other (1)", "other (2)"]),
        ([coding("1", display="Other"), coding("1", display="Other"), coding("2", display="No")], ["Other", "No"]),
        (
            [coding("1", system="http://a.org", display="A"), coding("1", system="http://b.org", display="A")],
            ["A (http://a.org 1)", "A (http://b.org 1)"],
        ),
        ([coding("1", display="Yes"), coding("2", display="Yes, often")], ["Yes", "Yes, often"]),
    ],
)
def test_options_of_one_name_are_told_apart_by_their_codes(listed: list[Json], shown: list[str]) -> None:
    assert labels(form(item("q", "choice", text="Q", answerOption=listed))) == shown


def test_an_option_that_shares_its_name_is_chosen_by_all_of_it_or_after_asking_back() -> None:
    questionnaire = form(item("q", "choice", text="Q", answerOption=[coding("k1", display="Other"), coding("k2", display="Other")]))  # fmt: skip

    chat = Chat(questionnaire, "en").say("other")
    assert chat.choices == ["Other (k1)", "Other (k2)"]
    chat.say("2", "yes")
    assert (chat.value("q"), chat.status, chat.errors()) == (
        coding("k2", display="Other")["valueCoding"],
        "completed",
        [],
    )
    assert Chat(questionnaire, "en").say("Other (k1)").value("q")["code"] == "k1"


@pytest.mark.parametrize("kind", ["choice", "open-choice"])
def test_texts_and_numbers_that_a_formula_finds_can_be_chosen(kind: str) -> None:
    found = "%resource.item.where(linkId = 'kid' or linkId = 'n').answer.value"
    questionnaire = form(
        item("kid", "string", text="Names?", repeats=True),
        item("n", "integer", text="How many?"),
        item("q", kind, text="Which?", required=True, extension=[formula("answerExpression", found)]),
    )
    chat = Chat(questionnaire, "en").say("Ada", "yes", "Grace", "no", "7")

    assert chat.choices == ["“Ada”", "“Grace”", "7"]
    chat.say("grace", "yes")
    assert (chat.value("q"), chat.status, chat.errors()) == ("Grace", "completed", [])


@pytest.mark.parametrize(
    "retired",
    [
        {"property": [{"code": "inactive", "valueBoolean": True}]},
        {"property": [{"code": "status", "valueCode": "retired"}]},
    ],
)
def test_codes_out_of_use_are_not_offered_and_answers_with_them_stay_valid(retired: Json) -> None:
    system = code_system({"code": "a", "display": "A"}, {"code": "old", "display": "Old", **retired})
    values = value_set({"system": "http://example.org/codes"})
    questionnaire = form(item("q", "choice", text="Q", answerValueSet="http://example.org/vs"))

    assert labels(questionnaire, system, values) == ["A"]
    expanded = {**values, "compose": {}, "expansion": {"contains": [
        {"system": "http://example.org/codes", "code": "a", "display": "A"},
        {"system": "http://example.org/codes", "code": "old", "display": "Old", "inactive": True},
    ]}}  # fmt: skip
    assert labels(questionnaire, expanded) == ["A"]
    known = load_form(questionnaire, resources=[expanded]).known
    given: Json = {"linkId": "q", "text": "Q", "answer": [coding("old", display="Old")]}
    findings = check_response(response(given), index_questionnaire(questionnaire), known=known)
    assert not [each for each in findings if each.is_error]


def test_a_value_set_that_many_items_share_is_listed_once() -> None:
    values = value_set({"system": "http://example.org/codes", "concept": [{"code": "a"}, {"code": "b"}]})
    shared = [item(f"q{number}", "choice", text="Q", answerValueSet="http://example.org/vs") for number in range(3)]
    text_item = item("t", "string", text="T", answerValueSet="http://example.org/vs")
    loaded = load_form(form(*shared, text_item), resources=[values])

    first, *others = (loaded.by_link_id[f"q{number}"].options for number in range(3))
    assert all(one.answer is other.answer for each in others for one, other in zip(first, each, strict=True))
    assert [option.answer.type for option in loaded.by_link_id["t"].options] == ["string", "string"]

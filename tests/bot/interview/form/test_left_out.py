"""What a form cannot be held to is left out with a warning; what must be answered then keeps the response open."""

from __future__ import annotations

import pytest

from bot.interview.form.form import Form
from bot.interview.form.indexed import index_questionnaire
from bot.interview.form.support import UnsupportedQuestionnaire
from bot.interview.load import Beside, compile_form, load_form
from bot.interview.validate.response import check_response
from bot.interview.walk.assemble import Heading
from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import CORE, SDC, Json, errors, form, item
from tests.bot.interview.walk.engine_steps import Interview, at, control, fhirpath, formula, options, text, whole, yes

OTHER = item("other", "string", text="Other")
NOWHERE = "http://example.org/nowhere"
UNKNOWN = {"answerValueSet": NOWHERE}
MODIFIED = {"modifierExtension": [{"url": "http://example.org/not"}]}
PART = [{"url": SDC + "sdc-questionnaire-subQuestionnaire", "valueCanonical": "http://example.org/part"}]


def warned(loaded: Form) -> list[tuple[str, str]]:
    return [(note.link_id, note.feature) for note in loaded.warnings]


def verdict(walked: Interview, questionnaire: Json) -> list[str]:
    """Return what the validator refuses in the response, were it called completed."""
    made = walked.engine.response(walked.filling, Heading("completed", "2026-11-22T10:31:00Z"))
    return errors(check_response(made, index_questionnaire(questionnaire)))


@pytest.mark.parametrize(
    "odd",
    [
        item("x", "choice", text="X", **UNKNOWN),
        item("x", "choice", text="X"),
        item("x", "slider", text="X"),
        item("x", "question", text="X"),
        {"linkId": "x", "text": "X"},
        item("x", "string", text="X", **MODIFIED),
        item("x", "group", item("y", "string", text="Y"), text="X", **MODIFIED),
        item("x", "choice", text="X", answerOption=options("a"), enableWhen=[{"question": "other", "operator": "exists", "answerBoolean": True, **MODIFIED}]),
        item("x", "choice", text="X", extension=[formula("answerExpression", "%nowhere")]),
        item("x", "display", text="X", extension=PART),
    ],
)  # fmt: skip
def test_an_optional_item_that_cannot_be_asked_is_left_out_and_the_rest_is_asked_to_the_end(odd: Json) -> None:
    questionnaire = form(odd, OTHER)
    walked = Interview(questionnaire)

    assert walked.asks == "ask other"
    walked.give("other", text("yes"))

    assert walked.asks == "done"
    assert any(link_id == "x" for link_id, _ in warned(walked.engine.form))
    assert walked.engine.form.by_link_id["x"].left_out
    assert [each for each in walked.engine.open_problems(walked.filling) if each.severity == "error"] == []
    assert [rule for rule in verdict(walked, questionnaire) if rule != "type"] == []


@pytest.mark.parametrize(
    "odd",
    [
        item("x", "slider", text="X", required=True),
        item("x", "string", text="X", required=True, **MODIFIED),
        item("x", "group", item("y", "string", text="Y"), text="X", required=True, **MODIFIED),
        {"type": "string", "text": "X", "required": True},
    ],
)
def test_a_required_item_that_is_left_out_keeps_the_response_open(odd: Json) -> None:
    walked = Interview(form(odd, OTHER)).give("other", text("yes"))

    assert walked.asks == "done"
    assert [each for each in walked.engine.open_problems(walked.filling) if each.severity == "error"] != []


def test_a_required_item_that_is_left_out_keeps_nothing_open_where_it_is_not_asked_for() -> None:
    condition = {"question": "other", "operator": "=", "answerString": "no"}
    odd = item("x", "slider", text="X", required=True, enableWhen=[condition])

    walked = Interview(form(OTHER, odd)).give("other", text("yes"))
    assert walked.engine.open_problems(walked.filling) == ()

    walked.give("other", text("no"))
    assert walked.engine.open_problems(walked.filling) != ()


def test_a_required_choice_that_nobody_knows_the_answers_to_is_asked_in_the_patients_own_words() -> None:
    questionnaire = form(item("x", "choice", text="Which language?", required=True, **UNKNOWN), OTHER)
    talk = Chat(questionnaire, language="en")

    assert "Please answer in your own words" in " ".join(talk.said)
    talk.say("Swiss German")
    talk.say("that is all")

    assert talk.session.filling.noted[at("x")] == ("Swiss German",)
    assert talk.session.filling.marked[at("x")] == "in the patient's own words"
    talk.say("yes")
    assert talk.session.status == "in-progress"


def test_an_item_without_type_that_holds_others_is_taken_for_a_group() -> None:
    walked = Interview(form({"linkId": "x", "text": "X", "item": [item("y", "string", text="Y")]}))

    assert walked.asks == "ask x/y"
    assert ("x", "type") in warned(walked.engine.form)


EXISTS = {"operator": "exists", "answerBoolean": True}


@pytest.mark.parametrize(
    "odd",
    [
        {"enableWhen": [{"question": "nowhere", **EXISTS}]},
        {"enableWhen": [{"question": "other", "operator": "~", "answerString": "a"}]},
        {"enableWhen": [{"question": "other", "operator": "exists", "answerString": "a"}]},
        {"enableWhen": [{"question": "other", "operator": "="}]},
        {"enableWhen": [{"question": "other", "operator": "=", "answerString": "a"}, {"question": "nowhere", **EXISTS}], "enableBehavior": "any"},
        {"extension": [formula("enableWhenExpression", "%nowhere = 1")]},
        {"extension": [formula("enableWhenExpression", "Age > 1", language="text/cql")]},
        {"extension": [formula("enableWhenExpression", "1 +")]},
    ],
)  # fmt: skip
def test_what_depends_on_a_condition_that_cannot_be_evaluated_is_asked_and_not_required(odd: Json) -> None:
    questionnaire = form(OTHER, item("x", "string", text="X", required=True, **odd))
    walked = Interview(questionnaire).give("other", text("yes"))

    assert walked.asks == "ask x"
    assert not walked.engine.form.by_link_id["x"].required
    walked.skip("x")
    assert walked.engine.open_problems(walked.filling) == ()
    assert [rule for rule in verdict(walked, questionnaire) if rule != "enableWhen"] == []

    walked.clear("x").give("x", text("answered"))
    assert walked.engine.open_problems(walked.filling) == ()


def test_a_known_condition_that_does_not_hold_still_counts_beside_one_that_is_unknown() -> None:
    both = [{"question": "other", "operator": "=", "answerString": "a"}, {"question": "nowhere", **EXISTS}]
    walked = Interview(form(OTHER, item("x", "string", text="X", enableWhen=both, enableBehavior="all")))

    assert walked.give("other", text("b")).asks == "done"
    assert walked.give("other", text("a")).asks == "ask x"


def test_nothing_inside_a_group_of_which_nobody_knows_whether_it_is_asked_is_required() -> None:
    unsure = [formula("enableWhenExpression", "%nowhere")]
    walked = Interview(form(OTHER, item("g", "group", item("x", "string", text="X", required=True), extension=unsure)))

    walked.give("other", text("a")).skip(at("g", "x"))

    assert walked.engine.open_problems(walked.filling) == ()


def test_what_cannot_be_calculated_is_asked_unless_nobody_is_to_be_asked_for_it() -> None:
    uncalculated = [formula("calculatedExpression", "%nowhere + 1")]
    walked = Interview(
        form(
            item("x", "integer", text="X", extension=uncalculated),
            item("fixed", "integer", text="Fixed", readOnly=True, extension=uncalculated),
        )
    )

    assert walked.asks == "ask x"
    assert walked.give("x", whole(3)).asks == "done"
    assert warned(walked.engine.form) == [("x", "calculatedExpression"), ("fixed", "calculatedExpression")]


def test_an_open_choice_without_its_options_still_takes_words() -> None:
    walked = Interview(form(item("x", "open-choice", text="X", extension=[formula("answerExpression", "%nowhere")])))

    assert walked.give("x", text("something")).asks == "done"


def test_options_stay_and_limits_go_where_their_formulas_cannot_be_evaluated() -> None:
    toggle = {"url": SDC + "sdc-questionnaire-answerOptionsToggleExpression",
              "extension": [{"url": "option", **options("a")[0]}, {"url": "expression", **fhirpath("%nowhere")}]}  # fmt: skip
    limit = {
        "url": CORE + "maxValue",
        "_valueInteger": {"extension": [{"url": CORE + "cqf-expression", **fhirpath("%no")}]},
    }
    walked = Interview(
        form(
            item("x", "choice", text="X", answerOption=options("a", "b"), extension=[toggle]),
            item("n", "integer", text="N", extension=[limit]),
        )
    )

    assert len(walked.engine.ask(walked.filling, at("x")).options) == 2
    assert walked.engine.problems(walked.filling, at("n"), (whole(999),)) == ()


def test_what_depends_on_something_that_is_left_out_is_named() -> None:
    condition = {"question": "x", "operator": "exists", "answerBoolean": True}
    loaded = load_form(
        form(item("x", "slider", text="X"), item("y", "string", text="Y", enableWhen=[condition]), OTHER)
    )

    assert ("y", "enableWhen") in warned(loaded)


def test_warnings_are_lines_that_say_which_question_and_what_to_do() -> None:
    loaded = load_form(form(item("x", "choice", text="Which\n language?", **UNKNOWN), OTHER))

    (line,) = loaded.gap_lines()
    assert line.startswith("x (Which language?): answerValueSet: left out: ")
    assert NOWHERE in line
    assert "--terminology" in line


def test_a_name_of_the_launch_context_that_was_not_handed_in_is_unknown() -> None:
    asked = item("x", "string", text="X", extension=[formula("enableWhenExpression", "%patient.gender = 'female'")])
    proposed = item("y", "string", text="Y", extension=[formula("initialExpression", "%patient.gender")])

    absent = compile_form(form(asked, proposed), Beside(launch=()))
    given = compile_form(form(asked, proposed), Beside(launch=("patient",)))

    assert warned(absent) == [("x", "enableWhenExpression"), ("", "launchContext")]
    assert (absent.by_link_id["x"].uncertain, given.by_link_id["x"].uncertain) == (True, False)
    assert warned(given) == []


def test_a_text_is_computed_from_the_answers_so_far() -> None:
    computed = {"extension": [{"url": CORE + "cqf-expression", **fhirpath("'You are ' + %resource.item.where(linkId = 'n').answer.value.toString() + ' years old?'")}]}  # fmt: skip
    questionnaire = form(
        item("n", "integer", text="How old?"),
        item("x", "boolean", text="Is that so?", _text=computed),
        item("d", "display", text="Fixed.", _text=computed),
    )
    talk = Chat(questionnaire, language="en")

    talk.say("44")

    assert "You are 44 years old?" in " ".join(talk.said)
    assert "Is that so?" not in " ".join(talk.said)
    walked = Interview(questionnaire).give("n", whole(44)).give("x", yes())
    assert [node["text"] for node in walked.response["item"]] == ["How old?", "Is that so?"]


def test_a_computed_text_that_gives_nothing_leaves_the_fixed_one() -> None:
    nothing = {
        "extension": [{"url": CORE + "cqf-expression", **fhirpath("%resource.item.where(linkId = 'none').text")}]
    }
    talk = Chat(form(item("x", "string", text="Fixed?", _text=nothing), extension=[control("x")]), language="en")

    assert "Fixed?" in " ".join(talk.said)


def test_a_modifier_that_demands_what_is_understood_refuses_nothing() -> None:
    url = SDC + "sdc-rendering-criticalExtension"
    known = {"url": url, "valueUri": SDC + "sdc-questionnaire-calculatedExpression"}
    unknown = {"url": url, "valueUri": "http://example.org/unknown"}

    assert load_form(form(OTHER, modifierExtension=[known])).by_link_id
    with pytest.raises(UnsupportedQuestionnaire, match="criticalExtension"):
        load_form(form(OTHER, modifierExtension=[known, unknown]))


def test_options_that_no_answer_may_be_are_no_options() -> None:
    yes_or_no = [{"valueBoolean": True}, *options("a")]
    loaded = load_form(form(item("x", "choice", text="X", answerOption=yes_or_no), OTHER))

    assert [option.answer.type for option in loaded.by_link_id["x"].options] == ["coding"]


def test_an_initial_value_that_is_none_of_its_type_is_left_out() -> None:
    loaded = load_form(form(item("x", "date", text="X", readOnly=True, initial=[{"valueDate": "today()"}]), OTHER))

    assert loaded.by_link_id["x"].initial == ()
    assert ("x", "initial") in warned(loaded)


def test_own_words_to_a_choice_that_need_not_be_answered_leave_the_response_complete() -> None:
    questionnaire = form(item("x", "choice", text="Which language?", **UNKNOWN))
    talk = Chat(questionnaire, language="en").say("Swiss German", "yes")

    made: Json = talk.interview.response(talk.session, Heading("", "2026-11-22T10:31:00Z"))
    (node,) = made["item"]
    assert (talk.session.status, "answer" in node) == ("completed", False)
    assert node["extension"][0]["valueString"] == "Swiss German"


def test_a_blank_text_that_a_formula_gives_is_no_answer() -> None:
    blanks = [formula("calculatedExpression", "('a' | ' ' | 'b')")]
    walked = Interview(form(item("x", "string", text="X", repeats=True, readOnly=True, extension=blanks), OTHER))

    assert walked.values("x") == ["a", "b"]


def test_of_two_items_with_one_link_id_the_first_is_asked_and_the_second_refuses_the_form_only_where_it_is_required() -> (
    None
):
    first, second = item("x", "string", text="First?"), item("x", "integer", item("y", "string", text="Y?"), text="No?")
    questionnaire = form(first, item("g", "group", second, text="G"), OTHER)
    walked = Interview(questionnaire).give("x", text("a"))

    assert (walked.asks, sorted(walked.engine.form.by_link_id)) == ("ask other", ["g", "other", "x"])
    assert ("x", "linkId") in [(note.link_id, note.feature) for note in walked.engine.form.gaps]
    assert verdict(walked.give("other", text("b")), questionnaire) == []
    with pytest.raises(UnsupportedQuestionnaire, match="earlier item"):
        load_form(form(first, {**second, "required": True}))


def test_several_items_without_link_id_are_left_out_alone() -> None:
    loaded = load_form(form({"type": "display", "text": "Welcome"}, {"type": "string", "text": "Name"}, OTHER))

    assert sorted(loaded.by_link_id) == ["other"]
    assert [note.feature for note in loaded.gaps].count("linkId") == 2


@pytest.mark.parametrize("system", ["urn:uuid:53fe", "urn:oid:2.16.x.1"])
@pytest.mark.parametrize("how", ["options", "value set"])
def test_a_code_whose_system_is_no_uri_is_chosen_without_it(how: str, system: str) -> None:
    odd = {"system": system, "code": "r", "display": "Red"}
    shown = [{"question": "q", "operator": "=", "answerCoding": odd}]
    include = {"system": system, "concept": [{"code": "r", "display": "Red"}]}
    contained = {"resourceType": "ValueSet", "id": "v", "status": "active", "compose": {"include": [include]}}
    listed = {"answerOption": [{"valueCoding": odd}]} if how == "options" else {"answerValueSet": "#v"}
    questionnaire = form(
        item("q", "choice", text="Colour?", required=True, initial=[{"valueCoding": odd}], **listed),
        item("then", "string", text="Why?", enableWhen=shown),
        **({} if how == "options" else {"contained": [contained]}),
    )
    chat = Chat(questionnaire, "en").say("yes", "because", "yes")

    assert (chat.value("q"), chat.value("then")) == ({"code": "r", "display": "Red"}, "because")
    assert (chat.status, chat.errors()) == ("completed", [])


def test_a_url_that_ends_in_a_version_names_the_form_in_the_response() -> None:
    questionnaire = {**form(OTHER), "url": "http://example.org/Questionnaire/consent|1.6", "version": "1.6"}
    chat = Chat(questionnaire, "en").say("words", "yes")

    assert chat.response()["questionnaire"] == "http://example.org/Questionnaire/consent|1.6"
    assert (chat.status, chat.errors()) == ("completed", [])

"""A Questionnaire is understood in full, or refused by linkId and feature; defects are warnings unless strict."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.errors import UserFixable
from bot.interview.form.form import Form
from bot.interview.form.support import UnsupportedQuestionnaire
from bot.interview.load import load_form
from tests.bot.interview.resources import CORE, SDC, UCUM, Json, form, item
from tests.bot.interview.walk.engine_steps import (
    Interview,
    coding,
    control,
    fhirpath,
    formula,
    options,
    text,
    variable,
    whole,
)

TYPES = (
    "group", "display", "boolean", "decimal", "integer", "date", "dateTime", "time", "string", "text", "url", "choice",
    "open-choice", "attachment", "reference", "quantity",
)  # fmt: skip


# Without knowing what these mean nothing of a form can be asked; all else is left out with a warning.
ALWAYS_REFUSED = {("", "implicitRules"), ("", "not")}


def reasons(questionnaire: Json, **how: Any) -> list[tuple[str, str]]:
    """Return why a Questionnaire is refused: (linkId, feature)."""
    with pytest.raises(UnsupportedQuestionnaire, match="cannot be asked") as caught:
        load_form(questionnaire, **how)
    return [(reason.link_id, reason.feature) for reason in caught.value.reasons]


def features(form: Form) -> list[tuple[str, str]]:
    return [(note.link_id, note.feature) for note in form.warnings]


def value_set(url: str, *codes: str) -> Json:
    concepts = [{"code": code, "display": code.upper()} for code in codes]
    include = {"system": "http://example.org/codes", "concept": concepts}
    return {"resourceType": "ValueSet", "url": url, "status": "active", "compose": {"include": [include]}}


def translated(name: str, content: str, language: str = "de") -> Json:
    parts = [{"url": "lang", "valueCode": language}, {"url": "content", "valueString": content}]
    return {"_" + name: {"extension": [{"url": CORE + "translation", "extension": parts}]}}


def choice(link_id: str = "q", **more: Any) -> Json:
    return item(link_id, "choice", text="Q", **more)


@pytest.mark.parametrize("kind", TYPES)
def test_every_item_type_of_r4_is_known(kind: str) -> None:
    listed = {"answerOption": options("a")} if "choice" in kind else {}
    inner = [item("inner", "string")] if kind == "group" else []

    loaded = load_form(form(item("x", kind, *inner, text="X", **listed)))

    assert loaded.by_link_id["x"].type == kind


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (form(item("x", "question")), ("x", "type")),
        (form(item("x", "slider")), ("x", "type")),
        (form({"linkId": "x"}), ("x", "type")),
        (form({"type": "string"}), ("", "linkId")),
        (form(item("x", "string"), item("x", "string")), ("x", "linkId")),
        (form(item("x", "string"), implicitRules="http://example.org/rules"), ("", "implicitRules")),
        (form(choice()), ("q", "choice")),
        (form(choice(answerValueSet="http://example.org/vs")), ("q", "answerValueSet")),
        (form(item("x", "string", modifierExtension=[{"url": "http://example.org/not"}])), ("x", "not")),
        (form(modifierExtension=[{"url": "http://example.org/not"}]), ("", "not")),
        (form(item("x", "string", enableWhen=[{"question": "y", "operator": "exists", "answerBoolean": True}])), ("x", "enableWhen")),
        (form(item("x", "string"), item("y", "string", enableWhen=[{"question": "x", "operator": "~", "answerString": "a"}])), ("y", "enableWhen")),
        (form(item("x", "string"), item("y", "string", enableWhen=[{"question": "x", "operator": "exists", "answerString": "a"}])), ("y", "enableWhen")),
        (form(item("x", "string", extension=[{"url": CORE + "regex", "valueString": "("}])), ("x", "regex")),
        (form(item("x", "display", text="X", extension=[{"url": SDC + "sdc-questionnaire-subQuestionnaire", "valueCanonical": "http://example.org/q"}])), ("x", "sdc-questionnaire-subQuestionnaire")),
        (form(extension=[{"url": SDC + "sdc-questionnaire-questionnaireAdaptive", "valueBoolean": True}]), ("", "sdc-questionnaire-questionnaireAdaptive")),
        (form(extension=[{"url": CORE + "questionnaire-signatureRequired", "valueCodeableConcept": {}}]), ("", "questionnaire-signatureRequired")),
        (form(item("x", "string", text="X", _text={"extension": [{"url": CORE + "cqf-expression", **fhirpath("1 +")}]})), ("x", "text")),
        (form(item("x", "string", _maxLength={"extension": [{"url": CORE + "cqf-expression", **fhirpath("3")}]})), ("x", "maxLength")),
        (form(item("x", "string"), _title={"extension": [{"url": CORE + "cqf-expression", **fhirpath("'a'")}]}), ("", "title")),
        (form(choice(extension=[{"url": SDC + "sdc-questionnaire-answerOptionsToggleExpression", "extension": [{"url": "expression", **fhirpath("1 +")}]}], answerOption=options("a"))), ("q", "answerOptionsToggleExpression")),
        (form(item("x", "integer", extension=[{"url": CORE + "minValue", "_valueInteger": {"extension": [{"url": CORE + "cqf-expression", **fhirpath("%nowhere")}]}}])), ("x", "minValue")),
        (form(item("x", "string"), extension=[{"url": CORE + "questionnaire-constraint", "extension": [{"url": "key", "valueId": "c"}, {"url": "expression", "valueString": "1 +"}]}]), ("", "constraint")),
        (form(item("x", "integer", extension=[formula("calculatedExpression", "1 +")])), ("x", "calculatedExpression")),
        (form(item("x", "integer", extension=[formula("calculatedExpression", "1 2")])), ("x", "calculatedExpression")),
        (form(item("x", "integer", extension=[formula("calculatedExpression", "foo()")])), ("x", "calculatedExpression")),
        (form(item("x", "integer", extension=[formula("calculatedExpression", "%nowhere")])), ("x", "calculatedExpression")),
        (form(item("x", "integer", extension=[formula("calculatedExpression", "1", language="text/cql")])), ("x", "calculatedExpression")),
        (form(item("x", "string", extension=[formula("enableWhenExpression", "X", language="text/cql")])), ("x", "enableWhenExpression")),
        (form(choice(extension=[formula("answerExpression", "ValueSet", language="application/x-fhir-query")])), ("q", "answerExpression")),
        (form(item("x", "quantity", extension=[{"url": CORE + "questionnaire-unitValueSet", "valueCanonical": "http://example.org/u"}])), ("x", "unitValueSet")),
    ],
)  # fmt: skip
def test_what_would_change_the_questions_is_named_and_refused_when_strict(
    broken: Json, reason: tuple[str, str]
) -> None:
    assert reason in reasons(broken, strict=True)

    beside = {**broken, "item": [*broken.get("item", []), item("other", "string", text="Other")]}
    if reason in ALWAYS_REFUSED:
        assert reason in reasons(beside)
    else:
        assert reason in features(load_form(beside))


def test_all_reasons_are_named_at_once_and_a_person_can_mend_them() -> None:
    questionnaire = form(*(choice(f"q{number}") for number in range(6)))

    with pytest.raises(UserFixable, match=r"q0: choice: left out: no answers are listed; q1.*and 2 more") as caught:
        load_form(questionnaire, strict=True)

    assert isinstance(caught.value, UnsupportedQuestionnaire)
    assert len(caught.value.reasons) == 6


@pytest.mark.parametrize("raw", [{}, {"resourceType": "Patient"}, {"resourceType": "Bundle", "entry": []}])
def test_what_is_no_questionnaire_is_refused(raw: Json) -> None:
    assert reasons(raw) == [("", "resourceType")]


def test_a_form_nested_too_deep_is_refused() -> None:
    inner = item("leaf", "string")
    for number in range(120):
        inner = item(f"g{number}", "group", inner)

    assert reasons(form(inner)) == [("", "item")]


def test_a_query_to_a_server_leaves_its_variable_without_value_and_only_proposals_may_use_it() -> None:
    query = {"url": CORE + "variable", "valueExpression": {"name": "found", "language": "application/x-fhir-query", "expression": "Patient"}}  # fmt: skip
    proposed = item("a", "string", extension=[formula("initialExpression", "%found.entry.resource.id")])
    calculated = item("b", "string", extension=[formula("calculatedExpression", "%found.entry.resource.id")])

    assert ("a", "initialExpression") in features(load_form(form(proposed, extension=[query])))
    loaded = load_form(form(calculated, extension=[query]))
    assert ("b", "calculatedExpression") in features(loaded)
    assert loaded.by_link_id["b"].formulas.calculated is None


def test_a_variable_that_goes_in_a_circle_is_no_variable() -> None:
    questionnaire = form(
        item("a", "integer", extension=[formula("calculatedExpression", "%x")]),
        extension=[variable("x", "%y + 1"), variable("y", "%x + 1")],
    )

    assert ("a", "calculatedExpression") in features(load_form(questionnaire))
    assert reasons(questionnaire, strict=True) == [("a", "calculatedExpression")]


def test_an_initial_expression_that_cannot_be_evaluated_is_only_a_warning() -> None:
    loaded = load_form(form(item("a", "string", extension=[formula("initialExpression", "%address.city")])))

    assert features(loaded) == [("a", "initialExpression")]


@pytest.mark.parametrize(
    ("raw", "feature"),
    [
        ({k: v for k, v in form(item("a", "string")).items() if k != "status"}, "cardinality"),
        (form(item("a", "string", maxLength="12")), "type"),
        (form(choice(answerOption=options("a"), initial=[{"valueCoding": {"code": "a"}}])), "que-11"),
        (form(item("a", "display", text="A", required=True)), "que-6"),
    ],
)
def test_common_defects_are_warnings_and_errors_when_strict(raw: Json, feature: str) -> None:
    assert ("", feature) in features(load_form(raw))
    assert ("", feature) in reasons(raw, strict=True)


def test_numbers_and_flags_given_as_text_are_understood() -> None:
    limit = {"url": CORE + "questionnaire-maxOccurs", "valueInteger": "2"}
    raw = form(item("a", "string", maxLength="3", required="true", repeats="true", extension=[limit]))

    loaded = load_form(raw).by_link_id["a"]

    assert (loaded.limits.max_length, loaded.required, loaded.most) == (3, True, 2)


def test_several_conditions_without_enable_behavior_are_a_warning() -> None:
    rules = [{"question": "a", "operator": "=", "answerInteger": number} for number in (1, 2)]
    questionnaire = form(item("a", "integer"), item("b", "string", enableWhen=rules))

    assert ("b", "enableBehavior") in features(load_form(questionnaire))
    assert Interview(questionnaire).give("a", whole(2)).asks == "ask b"


def test_an_unknown_extension_is_named_and_otherwise_ignored() -> None:
    loaded = load_form(
        form(item("a", "string", extension=[{"url": "http://example.org/colour", "valueString": "red"}]))
    )

    assert features(loaded) == [("", "colour")]


@pytest.mark.parametrize(
    "code", ["radio-button", "check-box", "drop-down", "slider", "autocomplete", "page", "tab", "gtable"]
)
def test_how_an_item_would_be_drawn_does_not_matter(code: str) -> None:
    loaded = load_form(form(item("g", "group", item("a", "string"), extension=[control(code)])))

    assert loaded.by_link_id["g"].presentation.control == code
    assert loaded.warnings == ()


def test_value_sets_are_expanded_from_inside_the_form_or_from_what_is_handed_in() -> None:
    inside = {**value_set("http://example.org/inside", "a", "b"), "id": "vs"}
    questionnaire = form(
        choice("own", answerValueSet="#vs"),
        choice("given", answerValueSet="http://example.org/given"),
        contained=[inside],
    )

    loaded = load_form(questionnaire, resources=[value_set("http://example.org/given", "c")])

    assert [label for _, label in loaded.options(loaded.by_link_id["own"], "en")] == ["A", "B"]
    assert [option.answer.value for option in loaded.by_link_id["given"].options] == [
        {"system": "http://example.org/codes", "code": "c", "display": "C"}
    ]


def test_an_open_choice_with_an_unknown_value_set_still_takes_free_text() -> None:
    interview = Interview(form(item("q", "open-choice", answerValueSet="http://example.org/vs")))

    assert interview.codes("q", text("whatever")) == []
    assert features(interview.engine.form) == [("q", "answerValueSet")]


def test_options_have_prefix_score_and_company() -> None:
    listed: Json = {
        "valueCoding": {"code": "none", "display": "None of these"},
        "extension": [
            {"url": CORE + "questionnaire-optionPrefix", "valueString": "(a)"},
            {"url": CORE + "ordinalValue", "valueDecimal": Decimal("1.5")},
            {"url": CORE + "questionnaire-optionExclusive", "valueBoolean": True},
        ],
    }
    (option,) = load_form(form(choice(answerOption=[listed]))).by_link_id["q"].options

    assert (option.prefix, option.ordinal, option.exclusive, option.label.base) == (
        "(a)",
        Decimal("1.5"),
        True,
        "None of these",
    )


def test_texts_options_help_and_constraints_are_translated_and_the_base_stays() -> None:
    listed = {"valueCoding": {"code": "y", "display": "Yes", **translated("display", "Ja")}}
    why = item("why", "display", text="Because", extension=[control("help")], **translated("text", "Weil"))
    parts = [
        {"url": "key", "valueId": "k"},
        {"url": "severity", "valueCode": "error"},
        {"url": "expression", "valueString": "answer.exists()"},
        {"url": "human", "valueString": "Wrong", **translated("valueString", "Falsch")},
    ]
    rule = {"url": CORE + "questionnaire-constraint", "extension": parts}
    questionnaire = form(
        choice(answerOption=[listed], item=[why], extension=[rule], **translated("text", "Frage")),
        language="en",
        title="Form",
        **translated("title", "Formular"),
    )
    loaded = load_form(questionnaire)
    asked = loaded.by_link_id["q"]

    assert loaded.languages == ("en", "de")
    assert (loaded.title.into("de"), loaded.title.into("en")) == ("Formular", "Form")
    assert (loaded.text(asked, "de"), loaded.text(asked, "de-CH"), loaded.text(asked, "en")) == ("Frage", "Frage", "Q")
    assert loaded.help(asked, "de") == "Weil"
    assert [label for _, label in loaded.options(asked, "de")] == ["Ja"]
    assert asked.constraints[0].human.into("de") == "Falsch"
    interview = Interview(questionnaire).give("q", asked.options[0].answer)
    assert interview.items == [
        {"linkId": "q", "text": "Q", "answer": [{"valueCoding": {"code": "y", "display": "Yes"}}]}
    ]


def test_codes_of_a_value_set_are_translated_by_their_designations() -> None:
    concepts = [{"code": "a", "display": "One", "designation": [{"language": "de", "value": "Eins"}]}]
    inside = {
        "resourceType": "ValueSet", "id": "vs", "status": "active",
        "compose": {"include": [{"system": "http://example.org/codes", "concept": concepts}]},
    }  # fmt: skip
    loaded = load_form(form(choice(answerValueSet="#vs"), contained=[inside], language="en"))

    assert [label for _, label in loaded.options(loaded.by_link_id["q"], "de")] == ["Eins"]
    assert loaded.languages == ("en", "de")


def test_what_helps_to_ask_is_kept() -> None:
    raw = item(
        "n",
        "integer",
        item("unit", "display", text="kilograms", extension=[control("unit")]),
        item("low", "display", text="none", extension=[control("lower")]),
        prefix="1.",
        extension=[
            {"url": CORE + "entryFormat", "valueString": "###"},
            {"url": CORE + "questionnaire-sliderStepValue", "valueInteger": 5},
            {"url": CORE + "questionnaire-supportLink", "valueUri": "http://example.org/help"},
            {"url": SDC + "sdc-questionnaire-shortText", "valueString": "Weight"},
            {"url": SDC + "sdc-questionnaire-itemMedia", "valueAttachment": {"url": "http://example.org/x.png"}},
            {"url": SDC + "sdc-questionnaire-preferredTerminologyServer", "valueUrl": "http://example.org/tx"},
            {"url": CORE + "questionnaire-unit", "valueCoding": {"system": UCUM, "code": "kg"}},
            {"url": CORE + "questionnaire-displayCategory", "valueCodeableConcept": {"coding": [{"code": "security"}]}},
        ],
    )
    loaded = load_form(form(raw))
    asked = loaded.by_link_id["n"]
    shown = asked.presentation

    assert (asked.prefix, asked.units.label.base, shown.slider[0].base) == ("1.", "kilograms", "none")
    assert (shown.entry_format.base, shown.step, shown.links) == ("###", Decimal(5), ("http://example.org/help",))
    assert (shown.short.base, shown.media, shown.category) == (
        "Weight",
        ({"url": "http://example.org/x.png"},),
        "security",
    )
    assert asked.units.usual == {"system": UCUM, "code": "kg"}
    assert loaded.warnings == ()


def test_a_hint_that_depends_on_answers_is_shown_with_its_question_and_warned_of() -> None:
    rule = [{"question": "q", "operator": "exists", "answerBoolean": True}]
    hint = item("hint", "display", text="Hint", enableWhen=rule)

    loaded = load_form(form(item("q", "string", hint)))

    assert [each.base for each in loaded.by_link_id["q"].presentation.instructions] == ["Hint"]
    assert ("hint", "enableWhen") in features(loaded)


def test_an_initial_value_of_another_shape_is_fitted_or_left_out_with_a_warning() -> None:
    questionnaire = form(
        choice("c", answerOption=options("a", "b"), initial=[{"valueString": "b"}]),
        item("n", "integer", initial=[{"valueString": "7"}]),
        item("d", "date", initial=[{"valueDateTime": "2020-05-06T10:00:00Z"}]),
        item("x", "date", initial=[{"valueString": "soon"}]),
    )
    loaded = load_form(questionnaire)
    proposed = {link_id: [answer.value for answer in each.initial] for link_id, each in loaded.by_link_id.items()}

    assert proposed == {"c": [coding("b").value], "n": [7], "d": ["2020-05-06"], "x": []}
    assert ("x", "initial") in features(loaded)


def test_a_formula_that_names_an_unknown_item_is_a_warning() -> None:
    gone = formula("calculatedExpression", "%resource.item.where(linkId='gone').answer.value")

    assert features(load_form(form(item("a", "string", extension=[gone])))) == [("a", "calculatedExpression")]


def test_a_required_item_that_nobody_can_fill_is_a_warning() -> None:
    questionnaire = form(item("a", "string", required=True, readOnly=True), item("b", "string"))

    assert features(load_form(questionnaire)) == [("a", "required")]


def test_items_that_are_only_for_display_are_not_asked() -> None:
    usage = {"url": CORE + "questionnaire-usageMode", "valueCode": "display"}

    assert Interview(form(item("a", "string", extension=[usage]))).asks == "done"


def test_a_text_item_with_a_value_set_takes_its_codes_as_text() -> None:
    resource = value_set("http://example.org/vs", "a", "b")
    interview = Interview(form(item("s", "string", answerValueSet="http://example.org/vs")), resource)

    assert interview.labels == ["A", "B"]
    assert interview.codes("s", text("a")) == []
    assert interview.codes("s", text("z")) == ["not-an-option"]

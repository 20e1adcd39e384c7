"""What a form may ask for that is refused by name, or named in a warning and left out."""

from __future__ import annotations

import pytest

from bot.interview.form.support import UnsupportedQuestionnaire
from bot.interview.load import load_form
from tests.bot.interview.resources import CORE, SDC, Json, form, item
from tests.bot.interview.walk.engine_steps import fhirpath

PREFIX = SDC + "sdc-questionnaire-"
TEXT = item("x", "string", text="X")


def with_extension(url: str, **value: object) -> Json:
    return {**TEXT, "extension": [{"url": url, **value}]}


@pytest.mark.parametrize(
    ("questionnaire", "feature"),
    [
        (form(with_extension(PREFIX + "subQuestionnaire", valueCanonical="http://example.org/q")), "subQuestionnaire"),
        (form(TEXT, extension=[{"url": PREFIX + "questionnaireAdaptive", "valueBoolean": True}]), "questionnaireAdaptive"),
        (form(with_extension(PREFIX + "isSubject", valueBoolean=True)), "isSubject"),
        (form(with_extension(CORE + "questionnaire-signatureRequired", valueCodeableConcept={})), "signatureRequired"),
        (form({**TEXT, "_prefix": {"extension": [{"url": CORE + "cqf-expression", **fhirpath("'a'")}]}}), "prefix"),
        (form({**TEXT, "_text": {"extension": [{"url": CORE + "cqf-calculatedValue", "valueString": "a +"}]}}), "text"),
        (form({**TEXT, "modifierExtension": [{"url": "http://example.org/not"}]}), "not"),
        (form(TEXT, implicitRules="http://example.org/rules"), "implicitRules"),
        (form(item("x", "question", text="X")), "type"),
        (form(TEXT, TEXT), "linkId"),
        (form({"type": "string", "text": "X"}), "linkId"),
    ],
)  # fmt: skip
def test_a_feature_that_is_not_held_to_is_named_and_refused_when_strict(questionnaire: Json, feature: str) -> None:
    with pytest.raises(UnsupportedQuestionnaire, match=feature) as caught:
        load_form(questionnaire, strict=True)
    assert any(reason.feature.endswith(feature) for reason in caught.value.reasons)

    beside = {**questionnaire, "item": [*questionnaire["item"], item("other", "string", text="Other")]}
    if feature == "implicitRules":
        with pytest.raises(UnsupportedQuestionnaire):
            load_form(beside)
    else:
        loaded = load_form(beside)
        assert any(note.feature.endswith(feature) for note in loaded.warnings)
        assert "other" in loaded.by_link_id


@pytest.mark.parametrize("feature", [PREFIX + "questionnaireAdaptive", PREFIX + "isSubject"])
def test_a_feature_that_a_form_says_it_has_not_is_nothing(feature: str) -> None:
    loaded = load_form(form(TEXT, extension=[{"url": feature, "valueBoolean": False}]), strict=True)

    assert loaded.warnings == ()


@pytest.mark.parametrize("name", ["candidateExpression", "contextExpression", "itemPopulationContext", "sourceQueries"])
def test_help_from_elsewhere_is_left_out_with_a_warning(name: str) -> None:
    loaded = load_form(form(with_extension(PREFIX + name, **fhirpath("1"))))

    assert [note.feature for note in loaded.warnings] == [f"sdc-questionnaire-{name}"]


def test_how_a_text_is_styled_is_left_out_with_a_warning() -> None:
    styled = {**TEXT, "_text": {"extension": [{"url": CORE + "rendering-styleSensitive", "valueBoolean": True}]}}

    assert [note.feature for note in load_form(form(styled)).warnings] == ["rendering-styleSensitive"]

"""The three ways to give a value set that a form names and does not hold."""

from __future__ import annotations

import pytest

from bot.interview.form.form import Form
from bot.interview.form.support import UnsupportedQuestionnaire
from bot.interview.load import load_form
from bot.interview.values.terminology import Terminology
from bot.talk.interviewing import form_of
from tests.bot.interview.resources import Json, form, item, value_set

VALUES = value_set({"system": "http://example.org/codes", "concept": [{"code": "a", "display": "A"}]})
ASKED = form(item("q", "choice", text="Q", answerValueSet="http://example.org/vs"))


def bundle(*resources: Json) -> Json:
    return {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": each} for each in resources]}


def labels(loaded: Form) -> list[str]:
    return [label for _, label in loaded.options(loaded.by_link_id["q"], "en")]


def test_without_it_the_question_is_left_out_and_the_reason_names_it() -> None:
    loaded = load_form(form(*ASKED["item"], item("other", "string", text="Other")))

    assert (loaded.by_link_id["q"].left_out, loaded.by_link_id["q"].asked) == (True, False)
    assert ["http://example.org/vs is not at hand" in line for line in loaded.gap_lines()] == [True]


def test_a_form_of_nothing_else_is_asked_in_the_patients_own_words() -> None:
    loaded = load_form(ASKED)

    assert (loaded.by_link_id["q"].left_out, loaded.by_link_id["q"].asked) == (False, True)
    assert ["own words for staff: ValueSet http://example.org/vs is not" in line for line in loaded.gap_lines()] == [
        True
    ]


def test_a_form_of_which_nothing_can_be_asked_is_refused_and_the_reasons_are_named() -> None:
    with pytest.raises(UnsupportedQuestionnaire, match=r"q: type: left out: the type 'slider'.*nothing of it can be"):
        load_form(form(item("q", "slider", text="Q")))


def test_a_bundle_brings_it_along() -> None:
    assert labels(form_of(bundle(ASKED, VALUES))) == ["A"]


@pytest.mark.parametrize("beside", [VALUES, bundle(VALUES)], ids=["resource", "bundle"])
def test_it_may_come_beside_the_form(beside: Json) -> None:
    assert labels(form_of(ASKED, beside)) == ["A"]


def test_it_may_come_with_this_form_or_be_known_to_all() -> None:
    assert labels(load_form(ASKED, resources=[VALUES])) == ["A"]
    assert labels(load_form(ASKED, known=Terminology([VALUES]))) == ["A"]

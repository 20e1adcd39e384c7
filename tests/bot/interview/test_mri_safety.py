"""The shipped questions before an MRI keep what is promised about them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from fhir.resources.R4B.codesystem import CodeSystem
from fhir.resources.R4B.questionnaire import Questionnaire

from bot.catalog.fhir_files import shipped_form, shipped_synonyms, shipped_terminology
from bot.catalog.readability import measure
from bot.interview.load import load_form
from bot.interview.manners.decisions import Decisions
from bot.interview.validate.questionnaire import check_questionnaire
from bot.interview.values import fhir_names
from bot.interview.values.fhir_json import translations, walk
from bot.resources import data_folder
from tests.bot.interview.mri_patients import mri_safety
from tests.bot.interview.test_mammography_history import SENTENCE_END, extensions, helps, parts, text, values

Json = dict[str, Any]
QUESTIONNAIRE: Json = json.loads(json.dumps(mri_safety()))
FORM = load_form(QUESTIONNAIRE, known=shipped_terminology(), synonyms=shipped_synonyms())
ITEMS: list[Json] = [dict(item) for item in walk(QUESTIONNAIRE["item"])]
QUESTIONS = [item for item in ITEMS if item["type"] not in {"group", "display"}]
ASKED = [item for item in QUESTIONS if not values(item, *fhir_names.HIDDEN)]
OPTIONS: list[Json] = [option["valueCoding"] for item in ITEMS for option in parts(item, "answerOption")]
LOCAL = "https://klartext.example/fhir/CodeSystem/mri-safety"
CONSENTED = [{"question": "consent", "operator": "=", "answerBoolean": True}]
UNKNOWN = "261665006"


def by_id(link_id: str) -> Json:
    return next(item for item in ITEMS if item["linkId"] == link_id)


def test_it_loads_with_the_library_and_nothing_of_it_is_left_out() -> None:
    Questionnaire.model_validate(QUESTIONNAIRE)

    assert check_questionnaire(QUESTIONNAIRE) == []
    assert [note.as_line() for note in (*FORM.gaps, *FORM.warnings)] == []


def test_it_is_the_form_of_the_mri_exam() -> None:
    path = shipped_form("mri")

    assert path is not None
    assert path.name == "mri-safety.json"
    assert str(shipped_form("mammography")).endswith("mammography-history.json")
    assert shipped_form("blood-donation") is None


def test_every_text_that_people_read_has_an_english_translation() -> None:
    names = ("title", "description", "purpose", "copyright", "text", "display")
    missing = [
        (element.get("linkId", element.get("code")), name)
        for element in [QUESTIONNAIRE, *ITEMS, *OPTIONS]
        for name in names
        if name in element and not translations(element, name).get("en", "").strip()
    ]

    assert missing == []


def test_every_question_says_why_it_is_asked_and_has_a_name_of_its_own() -> None:
    assert [
        item["linkId"] for item in ASKED if [each["linkId"] for each in helps(item)] != [f"{item['linkId']}-help"]
    ] == []
    link_ids = [item["linkId"] for item in ITEMS]
    assert [each for each in link_ids if not re.fullmatch(r"[a-z]{2,}(-[a-z]{2,})*", each)] == []
    assert len(set(link_ids)) == len(link_ids)
    assert (
        sorted(
            item["linkId"]
            for item in ASKED
            if item["linkId"] != "consent" and not FORM.by_link_id[item["linkId"]].synonyms
        )
        == []
    )


def test_conditions_look_at_earlier_questions_and_at_answers_that_exist() -> None:
    places = {item["linkId"]: number for number, item in enumerate(ITEMS)}
    for number, item in enumerate(ITEMS):
        for condition in parts(item, "enableWhen"):
            asked = by_id(condition["question"])
            offered = [option["valueCoding"]["code"] for option in parts(asked, "answerOption")]
            assert places[asked["linkId"]] < number
            assert condition.get("answerCoding", {}).get("code") in (None, *offered)


@pytest.mark.parametrize(
    "link_id",
    ["heart-device", "other-devices", "device-removed", "vessel-implants", "bone-implants", "other-implants", "eye-metal",
     "metal-work", "metal-body", "operations", "operation-recent", "kidneys", "contrast-before", "allergic-shock", "asthma",
     "patches", "body-items"],
)  # fmt: skip
def test_what_matters_for_safety_is_asked_of_everybody_who_agrees(link_id: str) -> None:
    (group,) = (item for item in QUESTIONNAIRE["item"] if by_id(link_id) in parts(item, "item"))

    assert "enableWhen" not in by_id(link_id)
    assert group["enableWhen"] == CONSENTED
    assert UNKNOWN in [option["valueCoding"]["code"] for option in by_id(link_id)["answerOption"]]


def test_what_leaves_nothing_to_decide_are_answers_of_the_question_and_never_those_that_do_not_know() -> None:
    decisions = Decisions.of(FORM)
    rules = decisions.rules
    harmless = {"mri-before", "allergies", "narrow-fear", "sedation"}
    for link_id, rule in rules.items():
        item = FORM.by_link_id[link_id]
        codes = {option["valueCoding"]["code"] for option in parts(by_id(link_id), "answerOption")}
        assert rule.clear, link_id
        assert rule.clear <= ({"true", "false"} if item.type == "boolean" else codes), link_id
        assert UNKNOWN not in rule.clear or link_id in harmless, link_id
    assert decisions.rooms == {"note"}
    assert {item["linkId"] for item in ASKED if extensions(item, fhir_names.DECISION)} <= {*rules, "note"}
    assert [link_id for link_id, rule in rules.items() if not rule.any_words] == ["operations", "allergies"]


@pytest.mark.parametrize("group", ["device", "vessel-implant", "bone-implant", "operation"])
def test_what_can_be_there_several_times_is_a_group_that_repeats(group: str) -> None:
    assert (by_id(group)["type"], by_id(group)["repeats"]) == ("group", True)


@pytest.mark.parametrize("language", ["de", "en"])
def test_texts_are_easy_to_read(language: str) -> None:
    sentences = [sentence for item in ITEMS for sentence in SENTENCE_END.split(text(item, "text", language))]
    explained = " ".join(text(each, "text", language) for item in ASKED for each in helps(item))

    assert [sentence for sentence in sentences if measure(sentence, language).words > 20] == []
    assert measure(explained, language).reading_ease > 65  # plain language begins at 60


def test_it_is_polite_in_standard_spelling_and_says_that_it_is_a_sample() -> None:
    texts = [item["text"] for item in ITEMS] + [option["display"] for option in OPTIONS]

    assert [
        each for each in texts if re.search(r"\b(du|dich|dein|deine|dir|weiss|heiss|gross)\b", each, re.IGNORECASE)
    ] == []
    assert (QUESTIONNAIRE["status"], QUESTIONNAIRE["experimental"]) == ("draft", True)
    assert QUESTIONNAIRE["item"][0]["text"] == "Beispielinhalt, nicht ärztlich freigegeben."
    assert QUESTIONNAIRE["purpose"].startswith("Beispielinhalt, nicht ärztlich freigegeben")


def test_it_promises_nothing_and_asks_for_no_name() -> None:
    texts = [text(item, "text", language) for item in ITEMS for language in ("de", "en")]

    assert [
        each for each in texts if re.search("sicher für Sie|is safe for you to|kein Problem|no problem at all", each)
    ] == []
    identifying = re.compile("geburtsdatum|birth|adresse|address|wie heißen sie|your name", re.IGNORECASE)
    assert [item["linkId"] for item in QUESTIONS if identifying.search(item["text"])] == []


def test_codes_of_its_own_are_defined_with_the_same_words_and_mean_the_same_everywhere() -> None:
    path = data_folder("fhir") / "code-systems" / "mri-safety.json"
    code_system: Json = json.loads(path.read_text(encoding="utf-8"))
    defined = {each["code"]: (each["display"], each["designation"][0]["value"]) for each in code_system["concept"]}
    own = [each for each in OPTIONS if each["system"] == LOCAL]

    assert CodeSystem.model_validate(code_system).url == LOCAL
    assert {each["code"]: (each["display"], translations(each, "display")["en"]) for each in own} == defined
    names: dict[tuple[str, str], set[str]] = {}
    for each in OPTIONS:
        names.setdefault((each["system"], each["code"]), set()).add(each["display"])
    assert {code: words for code, words in names.items() if len(words) > 1} == {}
    assert {each["system"] for each in OPTIONS} == {LOCAL, "http://snomed.info/sct", "http://loinc.org"}

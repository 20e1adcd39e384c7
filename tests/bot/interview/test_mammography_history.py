"""The shipped questions before a mammogram keep what is promised about them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from fhir.resources.R4B.codesystem import CodeSystem
from fhir.resources.R4B.questionnaire import Questionnaire

from bot.catalog.readability import measure
from bot.interview.load import load_form
from bot.interview.validate.questionnaire import check_questionnaire
from bot.interview.values import fhir_names
from bot.interview.values.fhir_json import translations, walk
from bot.resources import data_folder

FHIR = data_folder("fhir")
TESTS = Path(__file__).parents[2]
NOTICE = {"de": "Beispielinhalt, nicht ärztlich freigegeben", "en": "Sample content, not approved by a clinician"}
LOCAL = "https://klartext.example/fhir/CodeSystem/mammography-history"
OBSERVATION_EXTRACT = "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-observationExtract"
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+")
Json = dict[str, Any]


def read(folder: str) -> Json:
    resource: Json = json.loads((FHIR / folder / "mammography-history.json").read_text(encoding="utf-8"))
    return resource


def parts(element: Json, name: str) -> list[Json]:
    return list(element.get(name, []))


def extensions(element: Json, urls: Collection[str]) -> list[Json]:
    return [each for each in parts(element, "extension") if each["url"] in urls]


def values(element: Json, *urls: str) -> list[Any]:
    """Return the values of the extensions that have one of `urls`."""
    return [value for each in extensions(element, urls) for name, value in each.items() if name.startswith("value")]


QUESTIONNAIRE = read("questionnaires")
ITEMS: list[Json] = [dict(item) for item in walk(QUESTIONNAIRE["item"])]
CONSENTED = [{"question": "consent", "operator": "=", "answerBoolean": True}]
QUESTIONS = [item for item in ITEMS if item["type"] not in {"group", "display"}]
OPTIONS: list[Json] = [option["valueCoding"] for item in ITEMS for option in parts(item, "answerOption")]


def by_id(link_id: str) -> Json:
    return next(item for item in ITEMS if item["linkId"] == link_id)


def text(element: Json, name: str, language: str) -> str:
    return element[name] if language == "de" else translations(element, name)[language]


def elements(node: Any) -> Iterator[Json]:
    """Yield every JSON object in the file."""
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from elements(child)


def helps(item: Json) -> list[Json]:
    """Return the help texts of an item."""
    return [child for child in parts(item, "item") if _control(child) == "help"]


def _control(item: Json) -> str:
    return "".join(value["coding"][0]["code"] for value in values(item, *fhir_names.ITEM_CONTROL))


def test_it_loads_with_the_library() -> None:
    loaded = Questionnaire.model_validate(QUESTIONNAIRE)

    assert [item.linkId for item in loaded.item or []] == [item["linkId"] for item in QUESTIONNAIRE["item"]]


def test_the_validator_has_nothing_to_say() -> None:
    assert check_questionnaire(QUESTIONNAIRE) == []


def test_every_text_that_people_read_has_an_english_translation() -> None:
    # The display of a code in `code` or of a control is its official name, for machines.
    read_by_people = [QUESTIONNAIRE, *ITEMS, *OPTIONS]
    names = ("title", "description", "purpose", "copyright", "text", "display")
    missing = [
        (element.get("linkId", element.get("code")), name)
        for element in read_by_people
        for name in names
        if name in element and not translations(element, name).get("en", "").strip()
    ]

    assert missing == []
    assert len(OPTIONS) > 100


def test_units_are_translated() -> None:
    units = values(by_id("hormones-duration"), *fhir_names.UNIT_OPTION)

    assert [(unit["display"], translations(unit, "display")["en"]) for unit in units] == [
        ("Jahre", "years"),
        ("Monate", "months"),
    ]


@pytest.mark.parametrize("item", QUESTIONS, ids=lambda item: item["linkId"])
def test_every_question_says_why_it_is_asked(item: Json) -> None:
    assert len(helps(item)) == 1
    assert helps(item)[0]["linkId"] == f"{item['linkId']}-help"


def test_link_ids_are_readable_words_and_unique() -> None:
    link_ids = [item["linkId"] for item in ITEMS]

    assert [link_id for link_id in link_ids if not re.fullmatch(r"[a-z]{3,}(-[a-z]{2,})*", link_id)] == []
    assert len(set(link_ids)) == len(link_ids)


def test_conditions_look_at_earlier_questions_and_at_answers_that_exist() -> None:
    places = {item["linkId"]: number for number, item in enumerate(ITEMS)}
    for number, item in enumerate(ITEMS):
        for condition in parts(item, "enableWhen"):
            asked = by_id(condition["question"])
            offered = [
                (option["valueCoding"]["system"], option["valueCoding"]["code"])
                for option in parts(asked, "answerOption")
            ]
            expected = condition.get("answerCoding")

            assert places[asked["linkId"]] < number
            assert expected is None or (expected["system"], expected["code"]) in offered


def test_formulas_name_items_that_exist() -> None:
    formulas = [
        element["expression"] for element in elements(QUESTIONNAIRE) if element.get("language") == "text/fhirpath"
    ]
    named = {link_id for formula in formulas for link_id in re.findall(r"linkId = '([^']*)'", formula)}

    assert len(formulas) >= 8
    assert named <= {item["linkId"] for item in ITEMS}


def test_no_answer_is_ever_switched_off() -> None:
    assert [item["linkId"] for item in ITEMS if extensions(item, fhir_names.ANSWER_OPTIONS_TOGGLE)] == []
    assert [element for element in elements(QUESTIONNAIRE) if "enableWhenExpression" in str(element.get("url"))] == []


@pytest.mark.parametrize(
    "link_id",
    ["complaints-now", "own-cancer", "procedures", "radiotherapy", "implant", "gene-change", "family-cancer", "hormones", "devices",
     "blood-thinner", "allergies"],
)  # fmt: skip
def test_what_matters_for_safety_hangs_on_nothing_but_the_consent(link_id: str) -> None:
    (group,) = (item for item in QUESTIONNAIRE["item"] if by_id(link_id) in parts(item, "item"))

    assert "enableWhen" not in by_id(link_id)
    assert group["enableWhen"] == CONSENTED


def test_pregnancy_is_asked_of_everybody_under_sixty_whatever_else_is_answered() -> None:
    (group,) = (item for item in QUESTIONNAIRE["item"] if by_id("pregnant") in parts(item, "item"))

    assert by_id("pregnant")["enableWhen"] == [{"question": "age", "operator": "<", "answerInteger": 60}]
    assert by_id("pregnant")["required"] is True
    assert by_id("age")["required"] is True
    assert group["enableWhen"] == CONSENTED
    assert group["item"][0]["linkId"] == "pregnant"


@pytest.mark.parametrize(
    ("group", "asked"),
    [
        ("complaint", ["kind", "side", "place", "change", "since"]),
        ("own-cancer-detail", ["kind", "side", "age"]),
        ("procedure", ["kind", "side", "year"]),
        ("device", ["kind", "side", "new"]),
        ("relative", ["who", "cancer", "cancer-unnamed", "age"]),
    ],
)
def test_what_can_be_there_several_times_is_a_group_that_repeats(group: str, asked: list[str]) -> None:
    item = by_id(group)
    inside = {child["linkId"] for child in item["item"]}

    assert (item["type"], item["repeats"]) == ("group", True)
    assert {f"{group.removesuffix('-detail')}-{each}" for each in asked} <= inside


@pytest.mark.parametrize("link_id", ["complaints-now", "procedures", "devices", "hormones", "other-imaging"])
def test_a_list_can_be_answered_with_none_and_with_not_knowing(link_id: str) -> None:
    alone = [each for each in by_id(link_id)["answerOption"] if values(each, *fhir_names.OPTION_EXCLUSIVE) == [True]]

    assert [each["valueCoding"]["code"] for each in alone][1:] == ["261665006"]
    assert alone[0]["valueCoding"]["code"].startswith("no-")


@pytest.mark.parametrize(
    "link_id", [item["linkId"] for item in ITEMS if re.search(r"-side$", item["linkId"]) and item["type"] != "display"]
)
def test_a_side_is_left_right_both_or_not_known(link_id: str) -> None:
    sides = [option["valueCoding"]["code"] for option in by_id(link_id)["answerOption"]]

    assert [code for code in sides if code.isdecimal()] == ["7771000", "24028007", "51440002", "261665006"]


def test_nobody_is_told_that_it_is_mostly_harmless() -> None:
    texts = [text(item, "text", language) for item in ITEMS for language in ("de", "en")]
    advice = {language: text(by_id("complaint-advice"), "text", language) for language in ("de", "en")}

    assert [
        each for each in texts if re.search("meist steckt|most of the time the cause|besonders genau hin", each)
    ] == []
    assert "innerhalb weniger Tage" in advice["de"]
    assert "within a few days" in advice["en"]
    assert "Früherkennung ersetzt das nicht" in advice["de"]


def test_advice_comes_before_the_details() -> None:
    (group,) = (item for item in QUESTIONNAIRE["item"] if item["linkId"] == "complaints")

    assert [item["linkId"] for item in group["item"]] == [
        "complaints-now",
        "complaint-today",
        "complaint-red-advice",
        "complaint-advice",
        "complaint-screening",
        "complaint-referral",
        "complaint",
    ]


@pytest.mark.parametrize(
    "link_id",
    ["complaints-now-help", "complaint-red-advice", "complaint-advice", "complaint-kind-advice", "complaint-referral-advice",
     "consent-refused", "pregnant-complaint-advice", "implant-advice"],
)  # fmt: skip
def test_whom_to_call_and_how_soon_is_said_the_same_way(link_id: str) -> None:
    item = by_id(link_id)

    assert "Frauenarzt- oder Hausarztpraxis an" in text(item, "text", "de")
    assert re.search("noch heute|noch am selben Tag", text(item, "text", "de"))
    assert re.search("[Cc]all your GP or gynaecologist", text(item, "text", "en"))
    assert re.search("today|the same day", text(item, "text", "en"))


@pytest.mark.parametrize("language", ["de", "en"])
def test_who_is_to_call_today_is_told_whom_when_the_practice_is_closed(language: str) -> None:
    today = {"de": "noch heute|noch am selben Tag", "en": "today|the same day"}[language]
    called = {"de": "(?i)rufen Sie", "en": "(?i)call"}[language]
    texts = {item["linkId"]: text(item, "text", language) for item in ITEMS if item["type"] == "display"}
    urgent = {name: said for name, said in texts.items() if re.search(today, said) and re.search(called, said)}
    numbers = ["116 117", "1450"] + ([] if language == "de" else ["NHS 111"])

    assert len(urgent) >= 9
    assert [name for name, said in urgent.items() if not all(number in said for number in numbers)] == []


def test_a_question_is_one_sentence_and_how_to_answer_stands_below_it() -> None:
    # The summary repeats the question, never what stands below it.
    several = [item["linkId"] for item in QUESTIONS if len(re.findall(r"[.?](?: |$)", item["text"])) > 1]

    assert several == ["vaccination"]


def test_several_choices_can_be_answered_with_none() -> None:
    closed = [item for item in QUESTIONS if item["type"] == "choice" and item.get("repeats")]
    without = [
        item["linkId"]
        for item in closed
        if not any(values(option, *fhir_names.OPTION_EXCLUSIVE) for option in item["answerOption"])
    ]

    assert without == []
    assert len(closed) >= 4


@pytest.mark.parametrize("language", ["de", "en"])
def test_no_sentence_is_long(language: str) -> None:
    sentences = [sentence for item in ITEMS for sentence in SENTENCE_END.split(text(item, "text", language))]

    assert [sentence for sentence in sentences if measure(sentence, language).words > 20] == []


@pytest.mark.parametrize("language", ["de", "en"])
def test_help_texts_are_easy_to_read(language: str) -> None:
    texts = " ".join(text(each, "text", language) for item in QUESTIONS for each in helps(item))

    # Plain language begins at 60.
    assert measure(texts, language).reading_ease > 65


def test_german_is_polite_and_in_standard_spelling() -> None:
    texts = [item["text"] for item in ITEMS] + [option["display"] for option in OPTIONS]

    assert [each for each in texts if re.search(r"\b(du|dich|dein|deine|dir)\b", each, flags=re.IGNORECASE)] == []
    assert [
        each for each in texts if re.search(r"\b(weiss|heiss|gross|aussen|ausserdem)", each, flags=re.IGNORECASE)
    ] == []


def test_it_says_that_it_is_a_sample() -> None:
    first = QUESTIONNAIRE["item"][0]

    assert (QUESTIONNAIRE["status"], QUESTIONNAIRE["experimental"], QUESTIONNAIRE["version"]) == (
        "draft",
        True,
        "2026.2",
    )
    assert first["type"] == "display"
    for language, notice in NOTICE.items():
        assert text(first, "text", language) == f"{notice}."
        assert text(QUESTIONNAIRE, "purpose", language).startswith(notice)
        assert text(QUESTIONNAIRE, "copyright", language).startswith(notice)


def test_it_asks_for_no_name_address_or_birth_date() -> None:
    identifying = re.compile(
        r"geburtsdatum|birth|adresse|address|telefon|phone|wie heißen sie|your name", re.IGNORECASE
    )
    texts = [text(item, "text", language) for item in QUESTIONS for language in ("de", "en")]

    assert [each for each in texts if identifying.search(each)] == []


def test_nothing_is_asked_before_the_patient_agrees() -> None:
    kinds = [(item["linkId"], item["type"]) for item in QUESTIONNAIRE["item"]]
    groups = [item for item in QUESTIONNAIRE["item"] if item["type"] == "group"]

    assert kinds[2] == ("consent", "boolean")
    assert {kind for _, kind in kinds[3:]} == {"display", "group"}
    for group in groups:
        assert group["enableWhen"] == CONSENTED


def test_constraints_explain_themselves_in_both_languages() -> None:
    constraints = [each for item in ITEMS for each in extensions(item, fhir_names.TARGET_CONSTRAINT)]
    keys = [key for each in constraints for key in values(each, "key")]
    texts = [each.human for item in load_form(QUESTIONNAIRE).walk() for each in item.constraints]

    assert len(texts) == len(constraints) == len(set(keys)) >= 5
    assert [text for text in texts if not text.base or text.into("en") in ("", text.base)] == []


def test_what_is_extracted_has_a_code() -> None:
    extracted = [item for item in ITEMS if values(item, OBSERVATION_EXTRACT) == [True]]

    assert {item["linkId"]: item["code"][0]["code"] for item in extracted} == {
        "last-period": "8665-2",
        "pregnant": "82810-3",
        "breastfeeding": "63895-7",
    }


def test_codes_of_its_own_are_defined_with_the_same_words() -> None:
    code_system = read("code-systems")
    retired = {"code": "status", "valueCode": "retired"}
    concepts = [each for each in code_system["concept"] if retired not in parts(each, "property")]
    defined = {concept["code"]: (concept["display"], concept["designation"][0]["value"]) for concept in concepts}
    used = {
        option["code"]: (option["display"], translations(option, "display")["en"])
        for option in OPTIONS
        if option["system"] == LOCAL
    }

    assert CodeSystem.model_validate(code_system).url == LOCAL
    assert used == defined


def test_codes_of_earlier_versions_stay_defined() -> None:
    now = {concept["code"] for concept in read("code-systems")["concept"]}
    before = json.loads((TESTS / "data" / "mammography-history-2026.1.json").read_text(encoding="utf-8"))
    options = [option["valueCoding"] for item in walk(before["item"]) for option in parts(dict(item), "answerOption")]

    assert {each["code"] for each in options if each["system"] == LOCAL} <= now


def test_a_code_means_the_same_everywhere() -> None:
    labels: dict[tuple[str, str], set[str]] = {}
    for option in OPTIONS:
        labels.setdefault((option["system"], option["code"]), set()).add(option["display"])

    assert {code: words for code, words in labels.items() if len(words) > 1} == {}

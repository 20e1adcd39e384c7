"""What a turn means after what was said before."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.catalog.catalog import Catalog, load_catalog
from bot.matching.decide import Candidate
from bot.response import Response
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.sentences.reply import Content, Interface
from bot.talk.dialogue import (
    Chosen,
    State,
    chosen,
    explain_easier,
    is_of_chat,
    none_chosen,
    respond,
    says_no_emergency,
    show_pair,
)

OFFERED = State("de", choices=("pain", "costs"), last_pair="duration")


@pytest.fixture(scope="module")
def catalog(small_folder: Path) -> Catalog:
    return load_catalog(small_folder, "de")


def _response(**changes: object) -> Response:
    plain = Response(
        question="Brust?",
        lang="de",
        decision="declined",
        pair_id=None,
        score=0.2,
        candidates=(Candidate("pain", 0.2),),
        choices=(),
        answer=None,
        also=(),
        flag=None,
        method="hybrid",
        catalog="small@1",
        sample=True,
        too_long=False,
        reason="",
        elapsed_ms=1.0,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", Chosen("pain")),
        (" 2. ", Chosen("costs")),
        ("1?", Chosen("pain")),
        ("3", Chosen(None)),
        ("0", Chosen(None)),
        ("nichts davon!", Chosen(None)),
        ("Was kostet die Untersuchung?", Chosen("costs")),
        ("was kostet die UNTERSUCHUNG", Chosen("costs")),
        ("4", None),
        ("12", None),
        ("1 Frage noch", None),
        ("Wie lange dauert die Untersuchung?", None),  # a question of the catalog that was not offered
        ("", None),
    ],
)
def test_a_turn_is_read_as_a_choice_from_what_was_offered(catalog: Catalog, text: str, expected: Chosen | None) -> None:
    assert chosen(OFFERED, text, catalog) == expected


def test_a_number_means_nothing_when_nothing_was_offered(catalog: Catalog) -> None:
    assert chosen(State("de"), "1", catalog) is None


def test_an_answer_in_sample_mode_is_labelled(catalog: Catalog) -> None:
    reply, after = show_pair(OFFERED, "pain", catalog, sample=True)

    assert reply.parts == (
        Content("pain", "answer", "Tut die Untersuchung weh? (pain, de)"),
        Interface("sample_label", "Beispielinhalt, nicht ärztlich freigegeben"),
    )
    assert after == State("de", last_pair="pain")


def test_an_approved_answer_has_no_label(catalog: Catalog) -> None:
    reply, _ = show_pair(OFFERED, "pain", catalog, sample=False)

    assert [type(part) for part in reply.parts] == [Content]


def test_asking_back_offers_questions_and_none_of_them(catalog: Catalog) -> None:
    reply, after = respond(State("de"), _response(decision="clarify", choices=("pain", "costs")), catalog)

    assert [choice.text for choice in reply.choices] == [
        "Tut die Untersuchung weh?",
        "Was kostet die Untersuchung?",
        "Nichts davon",
    ]
    assert after.choices == ("pain", "costs")


def test_none_of_these_ends_the_offer_but_keeps_the_last_answer() -> None:
    reply, after = none_chosen(OFFERED)

    assert reply.parts[0].text == INTERFACE_TEXTS["de"]["none_chosen"]
    assert after == State("de", last_pair="duration")


def test_declining_keeps_the_last_answer_and_ends_the_offer(catalog: Catalog) -> None:
    reply, after = respond(OFFERED, _response(), catalog)

    assert reply.parts[0].text == INTERFACE_TEXTS["de"]["declined"]
    assert after == State("de", last_pair="duration")


def test_too_long_a_text_is_answered_with_the_limit(catalog: Catalog) -> None:
    reply, _ = respond(State("de"), _response(too_long=True), catalog)

    assert "höchstens 1000 Zeichen" in reply.parts[0].text


def test_an_emergency_comes_before_too_long_a_text(catalog: Catalog) -> None:
    reply, _ = respond(State("de"), _response(decision="urgent", flag="stroke", too_long=True), catalog)

    assert reply.parts[0].text == INTERFACE_TEXTS["de"]["urgent"]


@pytest.mark.parametrize(
    ("flag", "key"),
    [
        ("overdose", "urgent_overdose"),
        ("suicide", "urgent_suicide"),
        ("scanner", "urgent_scanner"),
        ("bleeding", "urgent"),
    ],
)
def test_emergencies_get_their_own_text_and_a_way_out(catalog: Catalog, flag: str, key: str) -> None:
    reply, after = respond(OFFERED, _response(decision="urgent", flag=flag), catalog)

    assert reply.parts[0].text == INTERFACE_TEXTS["de"][key]
    assert [choice.text for choice in reply.choices] == [INTERFACE_TEXTS["de"]["no_emergency"]]
    assert (after.alarmed, after.held_back, after.choices) == (True, "Brust?", ())


def test_chest_pain_shows_the_number_first_and_asks_one_question(catalog: Catalog) -> None:
    response = _response(decision="urgent", flag="chest-pain")

    reply, after = respond(State("de"), response, catalog)

    assert "112" in reply.parts[0].text
    assert [choice.text for choice in reply.choices] == [INTERFACE_TEXTS["de"]["chest_breast"]]
    assert after.held_back == response.question


@pytest.mark.parametrize(
    ("text", "confirmed"),
    [
        ("1", True),
        ("Nein", True),
        ("no", True),
        ("Mir geht es gut, danke.", True),
        ("weiter", True),
        ("I'm fine", True),
        ("nein ist nicht jetzt. war 2018 in Polska", True),
        ("no, that was years ago", True),
        ("Nein, es wird schlimmer", False),
        ("war 2018 so und jetzt wieder", False),
        ("das war vor zwei Stunden", False),
        ("mir geht es nicht gut", False),
        (INTERFACE_TEXTS["de"]["chest_breast"] + ".", True),
        ("ja", False),
        ("2", False),
    ],
)
def test_the_chest_question_is_answered_by_number_or_word(text: str, confirmed: bool) -> None:
    asked = State("de", held_back="Druck auf der Brust", alarmed=True)

    assert says_no_emergency(asked, text) is confirmed
    assert says_no_emergency(State("de"), text) is False


def test_a_button_of_the_alarm_and_a_goodbye_are_said_to_the_chat_itself() -> None:
    buttons = [INTERFACE_TEXTS[language][key] for language in ("de", "en") for key in ("no_emergency", "chest_breast")]

    assert all(is_of_chat(said) for said in (*buttons, "tschüss", "cheers, bye"))
    assert not any(is_of_chat(said) for said in ("nein", "1", "I have a pacemaker", "bye, and I have a pacemaker"))


@pytest.mark.parametrize("sample", [True, False])
def test_easier_words_come_with_an_introduction(catalog: Catalog, sample: bool) -> None:
    reply = explain_easier(State("de", last_pair="pain"), catalog, sample=sample)

    texts = [part.text for part in reply.parts]
    assert texts[:2] == ["Einfacher erklärt:", "pain, de."]
    assert (INTERFACE_TEXTS["de"]["sample_label"] in texts) is sample


def test_without_an_answer_there_is_nothing_to_explain(catalog: Catalog) -> None:
    reply = explain_easier(State("de"), catalog, sample=True)

    assert reply.parts[0].text == INTERFACE_TEXTS["de"]["nothing_to_explain"]


def test_a_pair_without_an_easy_answer_says_so(catalog: Catalog) -> None:
    bare = replace(catalog, pairs=tuple(pair.model_copy(update={"easy_answer": None}) for pair in catalog.pairs))

    reply = explain_easier(State("de", last_pair="pain"), bare, sample=True)

    assert reply.parts[0].text == INTERFACE_TEXTS["de"]["easy_missing"]

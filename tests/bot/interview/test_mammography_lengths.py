"""How many questions the mammogram's Questionnaire asks, and how many turns that takes: four patients, as they talk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from tests.bot.interview.chat import Chat, mammography

MOST_WITH_NOTHING_TO_REPORT = 40  # questions
MOST_STEPS = 150


@dataclass(frozen=True)
class Length:
    """What was asked, and how often the patient said something, the yes to the summary with it."""

    questions: int
    turns: int


# What is said to each question, in order where it is asked several times; to any other: no. `+group`: another instance.
NOTHING: Mapping[str, str | list[str]] = {
    "consent": "ja", "reason": "Einladung zur Früherkennung", "age": "52", "pregnant": "nein", "period": "ja",
    "last-period": "1. November", "gene-change": "nein", "female-radiographer": "egal", "note": "nein",
}  # fmt: skip
EARLIER: Mapping[str, str | list[str]] = {
    "mammogram-before": "ja", "last-mammogram": "2022", "last-mammogram-place": "Praxis am See, Bern",
    "last-mammogram-consent": "ja",
}  # fmt: skip
PATIENTS: Mapping[str, tuple[Mapping[str, str | list[str]], Length]] = {
    "A: 52, screening, first mammogram, nothing to report": (NOTHING, Length(24, 35)),
    "B: as A, with an earlier mammogram": ({**NOTHING, **EARLIER}, Length(27, 38)),
    "C: 34, breastfeeding, a red hot left breast with a lump, sent by a doctor": (
        {
            **NOTHING, "age": "34", "reason": "Überweisung", "complaints-now": "ein Knoten und die Brust ist rot und heiß",
            "complaint-kind": ["Knoten", "rot und heiß"], "complaint-side": "links", "complaint-place": "oben außen",
            "complaint-since": "November 2026", "complaint-seen": "ja", "+complaint": ["ja", "nein"],
            "breastfeeding": "ja", "period": "2",
        },
        Length(34, 47),
    ),
    "D: 63, DCIS right 2015, biopsy left 2020, tamoxifen, pacemaker left, mother with breast cancer": (
        {
            **NOTHING, **EARLIER, "age": "63", "reason": "Nachsorge", "own-cancer": "ja, früher",
            "own-cancer-kind": "DCIS", "own-cancer-side": "rechts", "own-cancer-age": "52",
            "procedures": "Biopsie, DCIS operiert, Bestrahlung",
            "procedure-kind": ["DCIS operiert", "Bestrahlung", "Biopsie"],
            "procedure-side": ["rechts", "rechts", "links"], "procedure-year": ["2015", "2015", "2020"],
            "+procedure": ["ja", "ja", "nein"], "chest-radiotherapy-age": "52",
            "family-cancer": "ja", "relative-who": "Mutter", "relative-cancer": "Brustkrebs", "relative-age": "60",
            "hormones": "Tamoxifen", "devices": "Schrittmacher", "device-kind": "Schrittmacher", "device-side": "links",
            "device-new": "nein",
        },
        Length(43, 55),
    ),
}  # fmt: skip


def walked(told: Mapping[str, str | list[str]]) -> tuple[Chat, Length]:
    """Walk a patient through the interview to the end."""
    left = {link_id: [said] if isinstance(said, str) else list(said) for link_id, said in told.items()}
    chat, asked, turns = Chat(mammography()), set[object](), 0
    while chat.open != "finished":
        kind, _, link_id = chat.open.partition(" ")
        if kind in ("read-back", "proposal", "summary"):
            said = "ja"
        else:
            asked |= {chat.interview.open_question(chat.session).path} if kind == "question" else set()
            lines = left.get(link_id if kind == "question" else f"+{link_id}", ["nein"])
            said = lines.pop(0) if len(lines) > 1 else lines[0]
        chat.say(said)
        turns += 1
        assert turns < MOST_STEPS, chat.open
    return chat, Length(len(asked), turns)


@pytest.mark.parametrize("name", PATIENTS)
def test_the_length_of_the_interview_is_as_documented(name: str) -> None:
    told, expected = PATIENTS[name]

    chat, length = walked(told)

    assert (chat.status, chat.errors()) == ("completed", [])
    assert length == expected


@pytest.mark.parametrize("name", list(PATIENTS)[:2])
def test_who_has_nothing_to_report_is_asked_few_questions(name: str) -> None:
    assert walked(PATIENTS[name][0])[1].questions <= MOST_WITH_NOTHING_TO_REPORT


def test_what_patients_said_stands_where_it_belongs() -> None:
    chat, _ = walked(PATIENTS["D: 63, DCIS right 2015, biopsy left 2020, tamoxifen, pacemaker left, mother with breast cancer"][0])  # fmt: skip

    found = []
    for number in range(3):
        group = ("breast-history", ("procedure", number))
        (kind,), (side,), (year,) = (chat.answers(*group, f"procedure-{each}") for each in ("kind", "side", "year"))
        found.append((kind["code"], side["display"], year))
    assert found == [
        ("breast-cancer-operation", "Rechts", "2015"),
        ("chest-radiotherapy", "Rechts", "2015"),
        ("biopsy", "Links", "2020"),
    ]


def test_a_red_hot_breast_and_a_screening_invitation_with_a_lump_are_answered_at_once() -> None:
    chat = Chat(mammography()).say("ja", "Einladung", "34", "nein", "nein", "nein", "ja")
    assert chat.open == "question complaints-now"
    chat.say("ein Knoten und die Brust ist rot und heiß")
    shown = list[str]()
    for _ in range(14):
        if chat.open.endswith("own-cancer"):
            break
        chat.say("überspringen" if chat.open.startswith("question") else "nein" if "another" in chat.open else "ja")
        shown += chat.said

    heard = " ".join(shown)
    assert "Dann rufen Sie bitte noch heute eine Ärztin oder einen Arzt an." in heard
    assert "Die Früherkennung ist für Frauen ohne Beschwerden." in heard
    assert "innerhalb weniger Tage Ihre Frauenarzt- oder Hausarztpraxis" in heard

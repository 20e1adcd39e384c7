"""How many questions the mammogram's Questionnaire asks, and how many turns that takes: four patients, as they talk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from bot.interview.form.form import Path
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import as_object, string
from bot.interview.walk.filling import Given
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
    "A: 52, screening, first mammogram, nothing to report": (NOTHING, Length(25, 32)),
    "B: as A, with an earlier mammogram": ({**NOTHING, **EARLIER}, Length(28, 35)),
    "C: 34, breastfeeding, a red hot left breast with a lump, sent by a doctor": (
        {
            **NOTHING, "age": "34", "reason": "Überweisung", "complaints-now": "ein Knoten und die Brust ist rot und heiß",
            "complaint-kind": ["Knoten", "rot und heiß"], "complaint-side": "links", "complaint-place": "oben außen",
            "complaint-change": "neu", "complaint-since": "November 2026", "complaint-seen": "ja", "+complaint": ["ja", "nein"],
            "breastfeeding": "ja", "period": "2",
        },
        Length(37, 47),
    ),
    "D: 63, DCIS right 2015, biopsy left 2020, tamoxifen, pacemaker left, mother with breast cancer": (
        {
            **NOTHING, **EARLIER, "age": "63", "reason": "Nachsorge", "own-cancer": "ja, früher",
            "own-cancer-kind": "DCIS", "own-cancer-side": "rechts", "own-cancer-age": "52",
            "procedures": "Biopsie, DCIS operiert", "procedure-kind": ["DCIS operiert", "Biopsie"],
            "procedure-side": ["rechts", "links"], "procedure-year": ["2015", "2020"], "+procedure": ["ja", "nein"],
            "radiotherapy": "ja", "chest-radiotherapy-age": "52", "chest-radiotherapy-side": "rechts",
            "family-cancer": "ja", "relative-who": "Mutter", "relative-cancer": "Brustkrebs", "relative-age": "60",
            "hormones": "Tamoxifen", "devices": "Schrittmacher", "device-kind": "Schrittmacher", "device-side": "links",
            "device-new": "nein",
        },
        Length(42, 52),
    ),
}  # fmt: skip


def walked(
    told: Mapping[str, str | list[str]], shown: list[str] | None = None, *, language: str = "de"
) -> tuple[Chat, Length]:
    """Walk a patient through the interview to the end; `shown` takes in what is said before the summary."""
    yes, no = {"de": ("ja", "nein"), "en": ("yes", "no")}[language]
    left = {link_id: [said] if isinstance(said, str) else list(said) for link_id, said in told.items()}
    chat, asked, turns = Chat(mammography(), language), set[object](), 0
    while chat.open != "finished":
        kind, _, link_id = chat.open.partition(" ")
        if kind in ("read-back", "proposal", "checking", "summary"):
            said = yes
        else:
            asked |= {chat.interview.open_question(chat.session).path} if kind == "question" else set()
            lines = left.get(link_id if kind == "question" else f"+{link_id}", [no])
            said = lines.pop(0) if len(lines) > 1 else lines[0]
        if shown is not None and kind != "summary":
            shown += chat.said
        chat.say(said)
        turns += 1
        assert turns < MOST_STEPS, chat.open
    return chat, Length(len(asked), turns)


@pytest.mark.proof
@pytest.mark.parametrize("name", PATIENTS)
def test_the_length_of_the_interview_is_as_documented(name: str) -> None:
    told, expected = PATIENTS[name]

    chat, length = walked(told)

    assert (chat.status, chat.errors()) == ("completed", [])
    assert length == expected


@pytest.mark.proof
@pytest.mark.parametrize("name", list(PATIENTS)[:2])
def test_who_has_nothing_to_report_is_asked_few_questions(name: str) -> None:
    assert walked(PATIENTS[name][0])[1].questions <= MOST_WITH_NOTHING_TO_REPORT


# The same patient in English, in plain words.
NOTHING_IN_ENGLISH: Mapping[str, str | list[str]] = {
    "consent": "yes", "reason": "screening", "age": "52", "pregnant": "no", "period": "yes", "last-period": "1 November",
    "female-radiographer": "I don't mind", "mammogram-before": "yes", "last-mammogram": "March 2022",
    "last-mammogram-place": "St Mary's, London", "last-mammogram-consent": "yes",
}  # fmt: skip


@pytest.mark.proof
@pytest.mark.parametrize(("language", "told"), [("de", {**NOTHING, **EARLIER}), ("en", NOTHING_IN_ENGLISH)])
def test_plain_words_take_at_most_five_turns_for_four_questions(
    language: str, told: Mapping[str, str | list[str]]
) -> None:
    chat, length = walked(told, language=language)

    assert (chat.status, chat.errors(), chat.session.filling.waiting) == ("completed", [], {})
    assert length.questions == 28
    assert length.turns <= 1.25 * length.questions


@pytest.mark.proof
@pytest.mark.parametrize("language", ["de", "en"])
def test_who_only_presses_buttons_needs_one_turn_a_question_and_one_for_the_summary(language: str) -> None:
    chat, asked, turns = Chat(mammography(), language), 0, 0
    words = {"de": ("ja", "überspringen"), "en": ("yes", "skip")}[language]
    while chat.open != "finished":
        kind = chat.open.split()[0]
        asked += kind == "question"
        # What is meant for everybody: the last button is mostly "no", or "I don't know".
        typed = "52" if chat.open == "question age" else words[1]
        chat.say(words[0] if kind == "summary" or not turns else str(len(chat.choices)) if chat.choices else typed)
        turns += 1
        assert turns < MOST_STEPS, chat.open

    assert chat.errors() == []
    assert turns == asked + 1


def test_what_patients_said_stands_where_it_belongs() -> None:
    chat, _ = walked(PATIENTS["D: 63, DCIS right 2015, biopsy left 2020, tamoxifen, pacemaker left, mother with breast cancer"][0])  # fmt: skip

    found = []
    for number in range(2):
        group = ("breast-history", ("procedure", number))
        (kind,), (side,), (year,) = (chat.answers(*group, f"procedure-{each}") for each in ("kind", "side", "year"))
        found.append((kind["code"], side["display"], year))
    assert found == [
        ("breast-cancer-operation", "Rechts", "2015"),
        ("biopsy", "Links", "2020"),
    ]
    assert chat.value("breast-history", "radiotherapy")["display"] == "Ja"
    assert chat.value("breast-history", "chest-radiotherapy-age") == 52
    assert chat.value("breast-history", "chest-radiotherapy-side")["display"] == "Rechts"


def heard(chat: Chat) -> str:
    """What the patient was last shown, in one text."""
    return " ".join(chat.said)


def heard_on_the_way(told: Mapping[str, str | list[str]]) -> str:
    """All that a patient is shown before the summary."""
    shown: list[str] = []
    walked(told, shown)
    return " ".join(shown)


def at_complaints(reason: str = "Einladung") -> Chat:
    chat = Chat(mammography()).say("ja", reason, "34", "nein", "nein", "nein", "ja")
    assert chat.open == "question complaints-now"
    return chat


def test_a_red_hot_breast_and_a_screening_invitation_with_a_lump_are_answered_before_any_detail() -> None:
    chat = at_complaints().say("ein Knoten und die Brust ist rot und heiß")
    if chat.open == "read-back complaints-now":
        chat.say("ja")

    assert chat.open == "question complaint-kind"
    said = heard(chat)
    assert "Rufen Sie bitte noch heute Ihre Frauenarzt- oder Hausarztpraxis an." in said
    assert "Die Früherkennung ersetzt das nicht." in said
    assert "innerhalb weniger Tage" not in said  # one complaint, one urgency
    assert "nach 2 Wochen" not in said


def test_one_complaint_has_one_urgency_to_the_end() -> None:
    told = {**NOTHING, "complaints-now": "die Brust ist rot und heiß", "complaint-kind": "rot und heiß", "complaint-side": "links",
            "implant": "ja", "pregnant": "vielleicht"}  # fmt: skip
    assert "innerhalb weniger Tage" not in heard_on_the_way(told)


def test_a_red_hot_breast_that_is_named_only_among_the_details_is_to_be_seen_today() -> None:
    told = {**NOTHING, "complaints-now": "ein Knoten", "complaint-kind": "rot und heiß"}

    assert "Rufen Sie bitte noch heute Ihre Frauenarzt- oder Hausarztpraxis an." in heard_on_the_way(told)


@pytest.mark.parametrize("reason", ["Überweisung", "Knoten links"])
@pytest.mark.parametrize("answer", ["nein", "überspringen"])
def test_who_comes_because_of_something_noticed_gets_the_advice_also_after_a_no(reason: str, answer: str) -> None:
    told = {**NOTHING, "reason": reason, "complaints-now": answer, "complaint-noticed": "ein Knoten links"}
    said, (chat, _) = heard_on_the_way(told), walked(told)

    assert "innerhalb weniger Tage Ihre Frauenarzt- oder Hausarztpraxis an" in said
    assert chat.value("complaints", "complaint-referral", "complaint-noticed") == "ein Knoten links"
    assert chat.errors() == []


def test_whoever_has_not_noticed_anything_is_not_asked_for_it() -> None:
    assert "Was ist Ihnen aufgefallen?" not in heard_on_the_way(NOTHING)


@pytest.mark.parametrize(
    ("device", "shock"), [("Schrittmacher", False), ("Port", False), ("Zuckersensor", False), ("Defibrillator", True)]
)
def test_whoever_has_a_device_is_told_what_to_do(device: str, shock: bool) -> None:
    said = heard_on_the_way({**NOTHING, "devices": device})

    assert "Bringen Sie den Ausweis für das Gerät mit" in said
    assert ("Hat der Defibrillator einen Schock abgegeben?" in said) is shock


def test_nobody_else_is_told_of_devices() -> None:
    assert "Ausweis für das Gerät" not in heard_on_the_way(NOTHING)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("said", "code"),
    [("nein", "LA26683-5"), ("nein, bin zu alt", "LA26683-5"), ("trifft nicht zu", "LA4720-4"),
     ("bin Transmann, nehme Testosteron", "LA4720-4"), ("weiß nicht", "LA4489-6")],
)  # fmt: skip
def test_pregnancy_can_be_answered_by_whom_it_does_not_fit(said: str, code: str) -> None:
    chat, _ = walked({**NOTHING, "pregnant": said})

    assert chat.value("hormones-and-period", "pregnant")["code"] == code
    assert chat.errors() == []


def test_whoever_breaks_off_at_the_first_question_has_read_whom_to_call() -> None:
    assert "Rufen Sie Ihre Arztpraxis an." in heard(at_complaints())


@pytest.mark.parametrize(
    ("reason", "shown"),
    [("Einladung", True), ("Hohes Risiko", True), ("Anderer Grund", True), ("weiß nicht", True),
     ("Überweisung", False), ("Nachsorge", False), ("Abklärung", False)],
)  # fmt: skip
def test_that_screening_is_not_for_a_lump_is_said_to_all_who_may_be_coming_for_it(reason: str, shown: bool) -> None:
    chat = Chat(mammography()).say("ja", reason)
    while chat.open != "question complaints-now":
        chat.say("ja" if chat.open.startswith("read-back") else "34" if chat.open.endswith("age") else "nein")
    chat.say("ein Knoten")
    if chat.open == "read-back complaints-now":
        chat.say("ja")

    assert chat.open == "question complaint-kind"
    assert ("Kommen Sie zur Früherkennung?" in heard(chat)) is shown


@pytest.mark.parametrize(
    "told",
    [("etwas ganz anderes",), ("no-complaint", "breast-lump"), ("no-complaint", "etwas ganz anderes"), ("261665006",)],
)
def test_whatever_is_named_is_answered_with_advice_also_beside_a_no(told: tuple[str, ...]) -> None:
    engine = at_complaints().interview.engine
    place: Path = (("complaints", 0), ("complaints-now", 0))
    options = engine.form.by_link_id["complaints-now"].options
    offered = {string(as_object(each.answer.value), "code"): each.answer for each in options}
    answers = tuple(offered.get(each, Answer("string", each)) for each in told)
    agreed = engine.apply(engine.start(), Given((("consent", 0),), (Answer("boolean", True),)))
    filling = engine.apply(agreed, Given(place, answers))

    assert filling.is_enabled(engine.form, (("complaints", 0), ("complaint-advice", 0)))


def test_whoever_has_chemotherapy_is_told_at_once_what_a_fever_means() -> None:
    chat = at_complaints().say("nein", "ja")
    assert chat.open == "question own-cancer"
    chat.say("in Behandlung")

    assert "auch nachts" in heard(chat)
    assert "Während einer Behandlung wegen Krebs ist die Früherkennung meist nicht das Richtige." in heard(chat)


def test_a_relative_who_is_not_named_is_asked_for_the_cancer() -> None:
    told = {**NOTHING, "family-cancer": "ja", "relative-who": "überspringen", "relative-cancer-unnamed": "Eierstockkrebs",
            "relative-age": "41"}  # fmt: skip
    chat, _ = walked(told)

    (cancer,) = chat.answers("family", "relative", "relative-cancer-unnamed")
    assert cancer["code"] == "363443007"
    assert chat.errors() == []


@pytest.mark.parametrize(
    ("when", "flagged"), [("März 2026", [True]), ("Oktober 2025", []), ("2025", []), ("weiß nicht", [])]
)
def test_a_mammogram_of_less_than_a_year_ago_is_flagged_to_the_team(when: str, flagged: list[bool]) -> None:
    chat, _ = walked({**NOTHING, **EARLIER, "last-mammogram": when})

    assert chat.answers("earlier-examinations", "mammogram-recent") == flagged
    assert chat.errors() == []

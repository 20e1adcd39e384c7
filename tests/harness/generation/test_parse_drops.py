"""What is no question is dropped, and the reason is kept."""

from __future__ import annotations

import pytest

from bot import MAX_CHARACTERS, LanguageDetector
from harness.generation.parse import Parsed, parse_answer
from harness.patients.suites import Dropped


def reasons(parsed: Parsed) -> list[str]:
    return [item.reason for item in parsed.dropped]


@pytest.mark.parametrize(
    "line",
    [
        "Hier sind zehn Varianten der Frage:",
        "Natürlich, hier sind die Fragen.",
        "Gerne! Hier sind die Varianten",
        "Selbstverständlich! Folgende Fragen passen dazu.",
        "Ich hoffe, das hilft Ihnen!",
        "Lassen Sie mich wissen, wenn Sie mehr brauchen.",
        "Diese Fragen sind einfach gehalten.",
        "Vielen Dank für Ihre Anfrage!",
        "Here are ten variations of the question:",
        "Sure, here you go.",
        "Certainly! These are the questions",
        "Below are ten questions.",
        "I hope this helps!",
        "Hope this helps!",
        "Let me know if you need more.",
        "These questions are short.",
    ],
)
@pytest.mark.parametrize("place", ["{line}\n\n{list}", "{list}\n\n{line}"])
@pytest.mark.parametrize("listing", ["Tut das weh?\nWie lange?", "1. Tut das weh?\n2. Wie lange?"])
def test_preambles_and_closings_are_dropped(line: str, place: str, listing: str) -> None:
    parsed = parse_answer(place.format(line=line, list=listing), prompt_id="p", count=10, language="de")

    assert parsed.questions == ("Tut das weh?", "Wie lange?")
    assert parsed.dropped == (Dropped("p", line, "preamble"),)


@pytest.mark.parametrize("heading", ["## Fragen", "**Schmerzen**", "Schmerzen und Dauer", "Fragen:"])
def test_headings_in_a_numbered_list_are_dropped(heading: str) -> None:
    parsed = parse_answer(f"{heading}\n1. Tut das weh?\n2. Wie lange?", prompt_id="p", count=10, language="de")

    assert parsed.questions == ("Tut das weh?", "Wie lange?")
    assert reasons(parsed) == ["preamble"]


def test_a_closing_that_asks_for_more_is_no_question() -> None:
    answer = "1. Tut das weh?\n2. Wie lange?\nIch hoffe, das hilft. Möchten Sie noch mehr Varianten?"

    parsed = parse_answer(answer, prompt_id="p", count=10, language="de")

    assert parsed.questions == ("Tut das weh?", "Wie lange?")


@pytest.mark.parametrize("text", ["Okay, tut das weh?", "Klar, aber wann?", "Gerne würde ich wissen, ob es weh tut"])
def test_questions_that_begin_like_a_preamble_are_kept(text: str) -> None:
    assert parse_answer(text, prompt_id="p", count=1, language="de").questions == (text,)


@pytest.mark.parametrize(
    "text",
    [
        "Es tut mir leid, ich kann dabei nicht helfen.",
        "Es tut mir leid, aber ich kann das nicht.",
        "Ich kann Ihnen leider nicht helfen.",
        "Leider kann ich dabei nicht helfen.",
        "Als KI kann ich keine Patientin spielen.",
        "I'm sorry, but I can't help with that. Is there anything else?",
        "I’m sorry, I can’t assist with that.",
        "As an AI language model, I have no breast.",
        "I cannot help with medical questions.",
    ],
)
def test_refusals_give_no_question(text: str) -> None:
    parsed = parse_answer(text, prompt_id="p", count=10, language="de")

    assert parsed == Parsed((), (Dropped("p", text, "refusal"),))


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, I am so nervous that I haven't dared to look it up … what actually is a mammogram?",
        "Es tut mir leid, ich frage bestimmt zu viel, aber tut das weh?",
    ],
)
def test_patients_who_are_sorry_do_not_refuse(text: str) -> None:
    assert parse_answer(text, prompt_id="p", count=10, language="de").questions == (text,)


@pytest.mark.parametrize(
    "text", ["Ich kann das nicht lesen, was steht da?", "I can't do Monday, is another day possible?"]
)
def test_patients_may_say_what_they_cannot_do(text: str) -> None:
    assert parse_answer(text, prompt_id="p", count=1, language="de").questions == (text,)


@pytest.mark.parametrize("answer", ["", "  \n\t\n ", "```\n```"])
def test_an_empty_answer_is_named_empty(answer: str) -> None:
    assert parse_answer(answer, prompt_id="p", count=3, language="de") == Parsed(
        (), (Dropped("p", "", "empty answer"),)
    )


def test_lines_beyond_the_count_are_too_many() -> None:
    parsed = parse_answer("Tut das weh?\nWie lange?\nWas kostet es?", prompt_id="p", count=2, language="de")

    assert parsed.questions == ("Tut das weh?", "Wie lange?")
    assert parsed.dropped == (Dropped("p", "Was kostet es?", "too many"),)


def test_too_few_lines_give_what_there_is() -> None:
    assert parse_answer("Tut das weh?", prompt_id="p", count=10, language="de") == Parsed(("Tut das weh?",), ())


def test_duplicates_differ_only_in_case_spacing_and_umlauts() -> None:
    answer = "1. Für wen ist das?\n2. fuer  wen ist das?\n3. FÜR WEN IST DAS?\n4. Für wen?"

    parsed = parse_answer(answer, prompt_id="p", count=10, language="de")

    assert parsed.questions == ("Für wen ist das?", "Für wen?")
    assert reasons(parsed) == ["duplicate", "duplicate"]


@pytest.mark.parametrize("text", ["...", "---", "?", "1.", "🙂"])
def test_lines_without_words_are_dropped(text: str) -> None:
    parsed = parse_answer(text, prompt_id="p", count=3, language="de")

    assert parsed.questions == ()
    assert reasons(parsed) == ["no words"]


def test_a_question_longer_than_patients_may_write_is_dropped() -> None:
    longest, longer = "a" * (MAX_CHARACTERS - 1) + "?", "b" * MAX_CHARACTERS + "?"

    parsed = parse_answer(f"{longest}\n{longer}", prompt_id="p", count=3, language="de")

    assert parsed.questions == (longest,)
    assert reasons(parsed) == ["too long"]


@pytest.mark.parametrize(
    ("language", "foreign", "own"),
    [
        ("de", "Does the examination hurt a lot?", "Tut die Untersuchung sehr weh?"),
        ("en", "Wie lange dauert die Untersuchung?", "How long does the examination take?"),
    ],
)
def test_questions_in_the_other_language_are_dropped(
    detector: LanguageDetector, language: str, foreign: str, own: str
) -> None:
    parsed = parse_answer(f"{foreign}\n{own}", prompt_id="p", count=3, language=language, detector=detector)

    assert parsed.questions == (own,)
    assert parsed.dropped == (Dropped("p", foreign, "wrong language"),)


@pytest.mark.parametrize(
    "text", ["Untersuchung machen, weh tun Brust?", "ich nix wissen wie lang bleiben", "Was is this Mammogramm Termin?"]
)
def test_broken_german_is_german(detector: LanguageDetector, text: str) -> None:
    assert parse_answer(text, prompt_id="p", count=1, language="de", detector=detector).questions == (text,)

"""Models number, quote, wrap and introduce their lists in many ways; the questions come out as they were written."""

from __future__ import annotations

import pytest

from harness.generation.parse import parse_answer

HURTS, LASTS, COSTS = "Tut das weh?", "Wie lange dauert es?", "Was kostet es?"


def questions(answer: str, *, count: int = 10) -> tuple[str, ...]:
    return parse_answer(answer, prompt_id="p", count=count, language="de").questions


@pytest.mark.parametrize(
    "style",
    [
        "{}", "{n}. {}", "{n}.{}", "{n}) {}", "({n}) {}", "{n}: {}", "{n} . {}", "  {n}.\t{}", "- {}", "-{}", "* {}",
        "• {}", "– {}", "— {}", "▪ {}", "- {n}. {}", "**{}**", "{n}. **{}**", "**{n}. {}**", "Frage {n}: {}",
        "**Frage {n}:** {}", "Variante {n}: {}", "Q{n}: {}", "### {n}. {}", "{n}. Frage: {}",
    ],
)  # fmt: skip
def test_every_way_of_listing_gives_the_bare_questions(style: str) -> None:
    answer = "\n".join(style.format(text, n=number) for number, text in enumerate((HURTS, LASTS, COSTS), 1))

    assert questions(answer) == (HURTS, LASTS, COSTS)


def test_lettered_lists_give_the_bare_questions() -> None:
    assert questions(f"a) {HURTS}\nb) {LASTS}\nC. {COSTS}") == (HURTS, LASTS, COSTS)


@pytest.mark.parametrize("separator", ["\n", "\r\n", "\r", "\n\n", "<br>", "<br/>", "<br />"])
def test_lines_may_be_separated_in_every_usual_way(separator: str) -> None:
    assert questions(separator.join((HURTS, LASTS, COSTS))) == (HURTS, LASTS, COSTS)


@pytest.mark.parametrize("marks", ['""', "„“", "„”", "“”", "«»", "»«", "‹›", "›‹", "‚‘", "‘’", "''"])
def test_quotation_marks_of_several_languages_are_taken_off(marks: str) -> None:
    answer = f"1. {marks[0]}{HURTS}{marks[1]}\n2. {marks[0]} {LASTS} {marks[1]}"

    assert questions(answer) == (HURTS, LASTS)


@pytest.mark.parametrize(
    "text",
    [
        'Was heißt "Befund"?',
        '"Mammo" oder "Sono"',
        '"Mammo" und "Sono", was ist das?',
        "„Brust“ oder „Busen“, was sagt man?",
        "Was ist 'Kompression'?",
    ],
)
def test_quotation_marks_inside_a_question_stay(text: str) -> None:
    assert questions(text) == (text,)


@pytest.mark.parametrize(
    "text",
    [
        "3D-Mammographie, was ist das?",
        "50 Jahre alt, muss ich?",
        "2 D oder 3 D?",
        "12:30 Uhr, geht das?",
        "3.5 Stunden, stimmt das?",
        "Mammographie: tut das weh?",
        "Meine Frage: muss ich nüchtern sein?",
        "Ich bin 50. Muss ich hin?",
        "Tut das weh? Ich habe Angst",
        "Tut das weh? (Schmerzen)",
        "weh tun",
    ],
)
@pytest.mark.parametrize("style", ["{}", "1. {}", "- {}"])
def test_questions_with_numbers_colons_and_afterthoughts_stay_whole(text: str, style: str) -> None:
    assert questions(style.format(text)) == (text,)


@pytest.mark.parametrize(
    "answer",
    [
        '["Tut das weh?", "Wie lange dauert es?"]',
        '{"questions": ["Tut das weh?", "Wie lange dauert es?"]}',
        '{"thema": "Schmerz", "fragen": ["Tut das weh?", "Wie lange dauert es?"]}',
        '{"1": "Tut das weh?", "2": "Wie lange dauert es?"}',
        '[{"question": "Tut das weh?"}, {"question": "Wie lange dauert es?"}]',
        '[{"id": 1, "question": "Tut das weh?"}, {"id": 2, "question": "Wie lange dauert es?"}]',
        '["1. Tut das weh?", "2. Wie lange dauert es?"]',
        '["Tut das weh?", null, 3, [], "Wie lange dauert es?"]',
        '```json\n["Tut das weh?", "Wie lange dauert es?"]\n```',
        'Hier sind die Fragen:\n```json\n[\n"Tut das weh?",\n"Wie lange dauert es?"\n]\n```\nGerne mehr.',
        "```\n1. Tut das weh?\n2. Wie lange dauert es?\n```",
        '[\n"Tut das weh?",\n"Wie lange dauert es?",\n]',
    ],
)
def test_json_and_code_fences_are_read(answer: str) -> None:
    assert questions(answer) == (HURTS, LASTS)


@pytest.mark.parametrize("answer", ["[]", "{}", "[[]]", '{"questions": []}', "[1, 2]"])
def test_json_without_texts_is_an_empty_answer(answer: str) -> None:
    parsed = parse_answer(answer, prompt_id="p", count=3, language="de")

    assert parsed.questions == ()
    assert [item.reason for item in parsed.dropped] == ["empty answer"]


def test_json_nested_beyond_reason_does_not_crash() -> None:
    assert questions("[" * 100_000) == ()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (f"1. {HURTS} 2. {LASTS} 3. {COSTS}", (HURTS, LASTS, COSTS)),
        (f"1. {HURTS} 2. {LASTS}", (HURTS, LASTS)),
        (f"1) {HURTS} 2) {LASTS}", (HURTS, LASTS)),
        (f"Hier sind die Fragen: 1. {HURTS} 2. {LASTS}", (HURTS, LASTS)),
        ("Geht es am 3. Mai, am 4. Mai oder am 5. Mai?", ("Geht es am 3. Mai, am 4. Mai oder am 5. Mai?",)),
    ],
)
def test_one_line_is_split_only_where_numbers_run(answer: str, expected: tuple[str, ...]) -> None:
    assert questions(answer) == expected


def test_halves_of_surrogate_pairs_are_left_out() -> None:
    assert questions("Tut das weh?\ud83d") == (HURTS,)

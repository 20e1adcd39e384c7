"""Critics' answers as models write them: what can be read is read, and what is unclear is unscored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.generation.critique import load_refine_texts, parse_scores, total

DE, EN = load_refine_texts("de").labels, load_refine_texts("en").labels
EXPECTED = {"meaning": 5.0, "fit": 4.0, "realistic": 3.0, "giveaway": 5.0, "distinct": 2.0}
PLAIN = '{"meaning": 5, "fit": 4, "realistic": 3, "giveaway": 5, "distinct": 2, "grund": "Etwas steif."}'


@pytest.mark.parametrize(
    "answer",
    [
        PLAIN,
        f"```json\n{PLAIN}\n```",
        f"Gerne! Hier ist meine Bewertung:\n\n{PLAIN}\n\nIch hoffe, das hilft.",
        '{"scores": {"meaning": 5, "fit": 4, "realistic": 3, "giveaway": 5, "distinct": 2}, "grund": "2 Fehler"}',
        '{"meaning": "5/5", "fit": "4/5", "realistic": "3 von 5", "giveaway": 5.0, "distinct": "2"}',
        '{"meaning": {"score": 5, "reason": "1 zu 1"}, "fit": {"score": 4}, "realistic": {"punkte": 3}, '
        '"giveaway": {"wertung": "5/5"}, "distinct": {"note": 2}}',
        '[{"aspect": "meaning", "score": 5}, {"aspect": "fit", "score": 4}, {"aspect": "realistic", "score": 3}, '
        '{"aspect": "giveaway", "score": 5}, {"aspect": "distinct", "score": 2}]',
        '{"Bedeutung": 5, "Passung": 4, "Echtheit": 3, "Eigenständigkeit": 5, "Verschiedenheit": 2}',
        '{"meaning": 5, "fit": 4, "realistic": 3, "giveaway": 5, "distinct": 2, "grund": "abgeschn',  # cut off
        "meaning: 5\nfit: 4\nrealistic: 3\ngiveaway: 5\ndistinct: 2",
        "- **Bedeutung**: fragt dasselbe. **Score: 5/5**.\n- **Passung**: gut, aber 2 Fachwörter. Score: 4/5\n"
        "- **Echtheit**: etwas steif. Score: 3/5\n- **Eigenständigkeit**: ja. Score: 5/5\n"
        "- **Verschiedenheit**: ähnelt Variante 3. Score: 2/5\nGesamt: 19/25",
        "1. Bedeutung – 5 von 5\n2. Passung – 4 von 5\n3. Echtheit – 3 von 5\n4. Eigenständigkeit – 5 von 5\n"
        "5. Verschiedenheit – 2 von 5",
        "| Bedeutung | 5 |\n| Passung | 4 |\n| Echtheit | 3 |\n| Eigenständigkeit | 5 |\n| Verschiedenheit | 2 |",
        "### Bedeutung\nPasst genau.\n5/5\n### Passung\nGut.\n4/5\n### Echtheit\nNaja.\n3/5\n### Eigenständigkeit\n5/5\n"
        "### Verschiedenheit\n2/5",
        "Bedeutung: 5 (fragt 1 Sache)\nPassung: 4 (von 10 Wörtern 2 schwer)\nEchtheit: 3\nEigenständigkeit: 5\n"
        "Verschiedenheit: 2",
        "{meaning: 5, fit: 4}\nmeaning: 5\nfit: 4\nrealistic: 3\ngiveaway: 5\ndistinct: 2",
    ],
)
def test_every_shape_of_an_answer_gives_the_same_scores(answer: str) -> None:
    assert parse_scores(answer, DE) == EXPECTED


def test_english_labels_are_read_too() -> None:
    answer = (
        "Keeps the meaning: it does. 5/5\nFits the patient: mostly. 4/5\nRealistic: 3 out of 5\n"
        "No giveaway words: 5/5\nDistinct from its siblings: 2/5"
    )

    assert parse_scores(answer, EN) == EXPECTED


def test_halves_are_scores_with_point_or_comma() -> None:
    answer = PLAIN.replace('"fit": 4', '"fit": "3,5"').replace('"realistic": 3', '"realistic": 4.5')

    assert parse_scores(answer, DE) == {**EXPECTED, "fit": 3.5, "realistic": 4.5}


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Das kann ich leider nicht beurteilen.",
        "5",
        PLAIN.replace('"distinct": 2, ', ""),  # one is missing
        PLAIN.replace('"fit": 4', '"fit": 7'),  # out of range
        PLAIN.replace('"fit": 4', '"fit": -1'),
        PLAIN.replace('"fit": 4', '"fit": "8/10"'),  # another scale
        PLAIN.replace('"fit": 4', '"fit": "zwischen 3 und 4"'),
        PLAIN.replace('"fit": 4', '"fit": null'),
        PLAIN.replace('"fit": 4', '"fit": true'),
        PLAIN.replace('"fit": 4', '"fit": "gut"'),
        "Bedeutung: 5\nPassung: 4\nEchtheit: 3\nEigenständigkeit: 5\nVerschiedenheit: 80 %",
    ],
)
def test_what_is_missing_or_unclear_is_unscored(answer: str) -> None:
    assert parse_scores(answer, DE) is None


@given(st.text(max_size=400))
def test_no_text_breaks_the_reading(answer: str) -> None:
    found = parse_scores(answer, DE)

    assert found is None or set(found) == set(DE)


def test_a_deeply_nested_answer_breaks_nothing() -> None:
    assert parse_scores('{"a":' * 5000, DE) is None
    assert parse_scores("[" * 5000 + "]" * 5000, DE) is None


def test_the_total_is_a_share_of_the_maximum() -> None:
    assert total(list(EXPECTED.values())) == pytest.approx(19 / 25)
    with pytest.raises(ValueError, match="needs scores"):
        total([])

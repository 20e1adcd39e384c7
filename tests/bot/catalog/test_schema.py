"""A bad catalog is refused with file, line, pair and remedy."""

from pathlib import Path

import pytest

from bot.catalog.catalog import load_catalog, locate
from bot.errors import BadCatalog, BadData, Finding
from bot.testing import write_small_catalog

HEAD = "catalog: test\nlanguage: de\nversion: '1'\npairs:\n"  # four lines
PAIR = "  - id: pain\n    question: Tut es weh?\n    answer: Kaum.\n"  # lines 5 to 7


def quiz(answer: str, *distractors: str) -> str:
    """Return a pair's quiz on one line."""
    return f"    quizzes: [{{question: Weh?, answer: {answer!r}, distractors: {list(distractors)}}}]\n"


def _findings(folder: Path, text: str | bytes) -> list[Finding]:
    path = folder / "de.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadCatalog, match=r"de\.yaml.*klartext qa lint") as caught:
        load_catalog(folder, "de")
    return caught.value.findings


@pytest.mark.parametrize(
    ("text", "line", "where", "problem"),
    [
        (HEAD + PAIR + "    colour: red\n", 8, "pain", "colour: Extra inputs"),
        (HEAD + PAIR.replace("    answer: Kaum.\n", ""), 5, "pain", "answer: Field required"),
        (HEAD + PAIR.replace("Kaum.", "''"), 7, "pain", "answer: String should have at least 1"),
        (HEAD + PAIR.replace("pain", "Weh Weh"), 5, "Weh Weh", "id: String should match"),
        (HEAD + PAIR + "    variants:\n      - weh?\n      - 12\n", 10, "pain", "variants.1"),
        (HEAD + PAIR + "    variants:\n      - {text: weh, by: {kind: robot}}\n", 9, "pain", "by.kind"),
        (HEAD + PAIR + quiz("A", "a!"), 8, "pain", "the right answer stands among the distractors"),
        (HEAD + PAIR + quiz("A", "B", "b"), 8, "pain", "two distractors say the same"),
        (HEAD + PAIR + quiz("A"), 8, "pain", "1 options; a quiz has 2 to 4, the right answer among them"),
        (HEAD + PAIR + quiz("A", "B", "C", "D", "E"), 8, "pain", "5 options; a quiz has 2 to 4"),
        (HEAD + PAIR + quiz("A", "3"), 8, "pain", "an option is a number alone"),
        (HEAD + PAIR + quiz("A", "x" * 161), 8, "pain", "quizzes.0.distractors.0: String should have at most 160"),
        (HEAD + PAIR + quiz("A", ""), 8, "pain", "quizzes.0.distractors.0: String should have at least 1"),
        (HEAD + PAIR + "    quizzes:\n      - {q: 1}\n", 9, "pain", "quizzes.0.question: Field required"),
        (HEAD + PAIR + "    review: {status: perfect}\n", 8, "pain", "review.status"),
        (HEAD + PAIR + "    sources:\n      - {title: T, publisher: P, year: 20260}\n", 9, "pain", "year"),
        (HEAD + PAIR + PAIR, 8, "pain", "The id is used twice (first in line 5)"),
        (HEAD + PAIR + "    related: [costs]\n", 8, "pain", "related names 'costs'"),
        (HEAD + PAIR + "    same_as: [costs]\n", 8, "pain", "same_as names 'costs'"),
        (HEAD.replace("de", "en") + PAIR, 2, "", "The language is 'en'"),
        (HEAD.replace("'1'", "1.0") + PAIR, 3, "", "version"),
        (HEAD + "  []\n", 5, "", "pairs"),
        ("", 1, "", "The file is empty"),
        ("just a text\n", 1, "", "dictionary"),
        (HEAD + "  - id: 'open\n", 6, "", "Not valid YAML"),
        (HEAD + PAIR + "    review: {on: 2026-13-45}\n", 0, "", "Not valid YAML: month must be in 1..12"),
        (HEAD.encode() + b"  - id: \xff\xfe\n", 0, "", "Not UTF-8 (byte 55)"),
        (HEAD + "  - id: a\x00b\n", 0, "", "Not valid YAML"),
    ],
)
def test_a_bad_catalog_is_refused_at_its_line(
    tmp_path: Path, text: str | bytes, line: int, where: str, problem: str
) -> None:
    first = _findings(tmp_path, text)[0]

    assert (first.path, first.line, first.where) == (tmp_path / "de.yaml", line, where)
    assert problem in first.problem
    assert first.remedy


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    broken = HEAD + PAIR.replace("Kaum.", "''") + PAIR.replace("pain", "costs") + "    colour: red\n"

    assert [finding.where for finding in _findings(tmp_path, broken)] == ["pain", "costs"]


def test_the_message_of_a_bad_catalog_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "de.yaml").write_text(HEAD + PAIR + PAIR + PAIR)

    with pytest.raises(BadCatalog, match=r"de\.yaml:8: error: \[pain\] .* \(1 more\) Run `klartext qa lint") as caught:
        load_catalog(tmp_path, "de")

    assert "\n" not in str(caught.value)


def test_words_that_old_yaml_took_for_booleans_stay_words(tmp_path: Path) -> None:
    review = "    review: {status: approved, by: Dr. No, on: 2026-01-02}\n"
    variants = "    variants: [no, nein, yes, ja, on, off, y, n]\n"
    (tmp_path / "de.yaml").write_text(HEAD + PAIR + review + variants)

    pair = load_catalog(tmp_path, "de").pair("pain")

    assert str(pair.review.on) == "2026-01-02"
    assert [variant.text for variant in pair.variants] == ["no", "nein", "yes", "ja", "on", "off", "y", "n"]


def test_variants_may_carry_their_author(tmp_path: Path) -> None:
    variants = "    variants:\n      - weh?\n      - {text: aua, facet: pain, by: {kind: person, name: A}}\n"
    (tmp_path / "de.yaml").write_text(HEAD + PAIR + variants)

    plain, signed = load_catalog(tmp_path, "de").pair("pain").variants

    assert plain.by is None
    assert signed.by is not None
    assert (signed.text, signed.facet, signed.by.kind, signed.by.name) == ("aua", "pain", "person", "A")


def test_a_bad_background_file_is_refused_too(tmp_path: Path) -> None:
    write_small_catalog(tmp_path, languages=["de"])
    (tmp_path / "background").mkdir()
    (tmp_path / "background" / "de.yaml").write_text("catalog: small\nlanguage: de\nquestions: [a]\n")

    with pytest.raises(BadCatalog, match=r"background/de\.yaml:3: error: questions"):
        load_catalog(tmp_path, "de")


def test_a_missing_language_is_refused_with_those_there_are(small_folder: Path) -> None:
    with pytest.raises(BadData, match=r"has no language 'fr' \(it has de, en\).*--lang"):
        load_catalog(small_folder, "fr")


@pytest.mark.parametrize("name", ["no-such-exam", "", "/dev/null", "mammography/de.yaml"])
def test_a_missing_catalog_is_refused_with_the_next_command(name: str) -> None:
    with pytest.raises(BadData, match=r"No catalog at .*klartext qa import"):
        locate(name)


def test_an_unknown_pair_is_refused_with_the_next_command(small_folder: Path) -> None:
    with pytest.raises(BadData, match=r"no pair 'weather' in small@1 \(de\).*klartext qa list"):
        load_catalog(small_folder, "de").pair("weather")


def test_a_calibration_question_may_name_known_pairs_only(tmp_path: Path) -> None:
    (tmp_path / "calibration").mkdir()
    line = '{"text": "Weh?", "pair_id": "pain", "also": ["costs"], "stratum": "plain"}\n'
    (tmp_path / "calibration" / "de.jsonl").write_text(line, encoding="utf-8")

    (tmp_path / "de.yaml").write_text(HEAD + PAIR, encoding="utf-8")

    with pytest.raises(BadCatalog) as caught:
        load_catalog(tmp_path, "de")

    assert [(one.line, one.where, one.problem) for one in caught.value.findings] == [
        (1, "costs", "There is no pair 'costs'.")
    ]

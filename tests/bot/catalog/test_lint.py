"""Lint finds what a careful curator would, at its line."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest
import yaml

from bot import data_folder
from bot.catalog.lint import lint, worst
from bot.errors import Finding
from bot.testing import HashEncoder, write_small_catalog

TODAY = date(2026, 11, 1)
LONG = "Die Untersuchung dauert nicht lange und tut meistens auch nur ganz wenig weh. "

# Every line is numbered, since findings must point at it.
BAD = f"""\
catalog: bad
language: de
version: "1"
pairs:
  - id: pain
    question: Tut die Untersuchung weh?
    answer: Kaum.
    easy_answer: {LONG * 5}
    review: {{status: approved}}
    variants:
      - weh?
      - tut die UNTERSUCHUNG weh
      - wie lange muss ich bei der untersuchung denn wohl ungefähr noch warten
  - id: costs
    question: Was kostet das?
    answer: {LONG * 5}
    easy_answer: Computertomographieuntersuchungen bezahlen Krankenversicherungen ausnahmsweise.
    review: {{status: approved, by: Dr. A, on: 2020-01-01, valid_until: 2021-01-01}}
    sources: [{{title: T, publisher: P, year: 2024}}]
    variants:
      - Weh!
      - wie lange muss ich bei der untersuchung denn wohl ungefähr noch bleiben
  - id: duration
    question: Wie lange dauert es?
    answer: {LONG * 5}
    sources: [{{title: T, publisher: P, year: 2024}}]
"""
BAD_BACKGROUND = """\
catalog: bad
language: de
questions:
  weather:
    - Wie wird das Wetter?
    - was kostet das
"""


@pytest.fixture(scope="module")
def bad_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    (folder / "de.yaml").write_text(BAD, encoding="utf-8")
    (folder / "background").mkdir()
    (folder / "background" / "de.yaml").write_text(BAD_BACKGROUND, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def findings(bad_folder: Path) -> list[Finding]:
    return lint(bad_folder, today=TODAY, encoder=HashEncoder())


@pytest.mark.parametrize(
    ("rule", "line", "where", "severity", "problem"),
    [
        ("length", 7, "pain", "warning", "The answer has 1 words, outside 50 to 120"),
        ("readability", 8, "pain", "error", "The easy answer has 65 words; fewer than 60"),
        ("readability", 8, "pain", "error", "13.0 words on average, over 10"),
        ("readability", 17, "costs", "error", "below 65"),
        ("review", 9, "pain", "error", "Approved without a name or a date"),
        ("review", 18, "costs", "error", "expired on 2021-01-01"),
        ("review", 23, "duration", "info", "Draft"),
        ("variants", 11, "pain", "warning", "3 variants; patients put a question in at least 20 ways"),
        ("sources", 5, "pain", "warning", "No source"),
        ("easy-answer", 23, "duration", "error", "There is no easy answer"),
        ("near-copy", 12, "pain", "error", "repeats 'Tut die Untersuchung weh?' of this pair"),
        ("near-copy", 21, "costs", "error", "repeats 'weh?' of the pair pain"),
        ("near-copy", 22, "costs", "error", "nearly repeats (0.82)"),
        ("near-copy", 6, "costs", "error", "background question 'was kostet das'"),
    ],
)
def test_every_rule_finds_its_fault_at_its_line(
    findings: list[Finding], rule: str, line: int, where: str, severity: str, problem: str
) -> None:
    found = [finding for finding in findings if finding.rule == rule and problem in finding.problem]

    assert [(finding.line, finding.where, finding.severity) for finding in found] == [(line, where, severity)]
    assert found[0].remedy


def test_nothing_else_is_an_error(findings: list[Finding]) -> None:
    assert sum(finding.severity == "error" for finding in findings) == 10


def test_errors_come_first(findings: list[Finding]) -> None:
    severities = [finding.severity for finding in findings]

    assert severities == sorted(severities, key=("error", "warning", "info").index)
    assert worst(findings) == "error"


def test_a_finding_prints_as_one_line(findings: list[Finding], bad_folder: Path) -> None:
    easy = next(finding for finding in findings if finding.rule == "easy-answer")

    assert easy.as_line() == (
        f"{bad_folder}/de.yaml:23: error: [duration] There is no easy answer. "
        "Write one in easy language under `easy_answer`."
    )


def test_without_an_encoder_nothing_is_called_confusable(bad_folder: Path) -> None:
    assert "confusable" not in {finding.rule for finding in lint(bad_folder, today=TODAY)}


def test_a_pair_of_one_language_only_is_found(tmp_path: Path) -> None:
    write_small_catalog(tmp_path)
    english = tmp_path / "en.yaml"
    english.write_text(english.read_text().replace("id: costs", "id: price"))

    found = [finding for finding in lint(tmp_path, today=TODAY) if finding.rule == "ids"]

    assert [(finding.path.name, finding.where, finding.problem) for finding in found] == [
        ("en.yaml", "costs", "The pair is in de only."),
        ("de.yaml", "price", "The pair is in en only."),
    ]


def test_schema_errors_do_not_hide_the_other_language(tmp_path: Path) -> None:
    write_small_catalog(tmp_path)
    (tmp_path / "de.yaml").write_text("catalog: [", encoding="utf-8")

    found = lint(tmp_path, today=TODAY)

    assert (found[0].path.name, found[0].rule, found[0].severity) == ("de.yaml", "schema", "error")
    assert any(finding.path.name == "en.yaml" for finding in found)


def test_an_empty_list_of_findings_has_no_worst() -> None:
    assert worst([]) is None


@pytest.mark.proof
def test_the_shipped_catalog_has_no_error(shipped_catalogs: Mapping[str, object]) -> None:
    found = lint(data_folder("qa_pairs") / "mammography", today=TODAY)

    assert set(shipped_catalogs) == {"de", "en"}
    assert [finding.as_line() for finding in found if finding.severity == "error"] == []


def test_a_catalog_of_one_pair_has_nothing_confusable(tmp_path: Path) -> None:
    pair = "  - id: p\n    question: Tut es weh?\n    answer: Nein.\n    review: {status: draft}\n"
    (tmp_path / "de.yaml").write_text(f"catalog: c\nlanguage: de\nversion: '1'\npairs:\n{pair}", encoding="utf-8")

    found = lint(tmp_path, today=date(2026, 11, 22), encoder=HashEncoder())

    assert [each for each in found if each.rule == "confusable"] == []


def _write(folder: Path, *pairs: str, language: str = "de") -> Path:
    """Write a language file with its pairs from line 5 on."""
    text = f"catalog: c\nlanguage: {language}\nversion: '1'\npairs:\n" + "".join(pairs)
    path = folder / f"{language}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def _pair(name: str, answer: str = "Ja.", **more: str) -> str:
    lines = [f"  - id: {name}", f"    question: Frage {name}?", f"    answer: {answer}", "    easy_answer: Ja."]
    return "".join(f"{line}\n" for line in [*lines, *(f"    {key}: {value}" for key, value in more.items())])


@pytest.mark.parametrize(
    ("repeated", "key", "lines"),
    [
        ("    answer: Nein.\n", "answer", (7, 9)),
        ("    review: {status: draft, by: null, status: approved}\n", "status", (9, 9)),
        (
            "    countries:\n      AT: {answer: Ja.}\n      CH: {answer: Ja.}\n      AT: {answer: Nein.}\n",
            "AT",
            (10, 12),
        ),
    ],
)
def test_a_key_used_twice_is_an_error_with_both_lines(
    tmp_path: Path, repeated: str, key: str, lines: tuple[int, int]
) -> None:
    _write(tmp_path, _pair("wifi") + repeated)

    (found,) = [each for each in lint(tmp_path, today=TODAY) if each.rule == "schema"]

    assert (found.line, found.where, found.severity) == (lines[1], "wifi", "error")
    assert f"The key {key!r} is used twice (first in line {lines[0]})" in found.problem


@pytest.mark.parametrize(
    ("review", "severity", "problem"),
    [
        ("{status: approved, by: Dr. B, on: 2026-11-02, valid_until: 2028-01-01}", "error", "still to come"),
        ("{status: approved, by: Dr. B, on: 2026-10-31}", "warning", "never expire"),
    ],
)
def test_an_approval_has_a_day_behind_and_an_end_before_it(
    tmp_path: Path, review: str, severity: str, problem: str
) -> None:
    _write(tmp_path, _pair("p", review=review))

    (found,) = [each for each in lint(tmp_path, today=TODAY) if each.rule == "review"]

    assert (found.line, found.severity) == (9, severity)
    assert problem in found.problem


def test_an_unknown_id_hides_nothing_else(tmp_path: Path) -> None:
    _write(tmp_path, _pair("p", "Rufen Sie bald an.", related="[ghost]"), _pair("q"))
    _write(tmp_path, _pair("p"), _pair("r"), language="en")

    found = lint(tmp_path, today=TODAY)

    assert [each.problem for each in found if each.rule == "schema"] == ["related names 'ghost', which is no pair."]
    assert {"time-frame", "ids"} <= {each.rule for each in found}
    assert not [each for each in found if "not checked" in each.problem]


def test_a_file_that_cannot_be_read_to_its_end_is_said_to_be_unchecked_once(tmp_path: Path) -> None:
    path = _write(tmp_path, _pair("p", related="[q]"), _pair("q", anwser="Ja."), _pair("r", words_target="0"))
    (tmp_path / "calibration").mkdir()
    (tmp_path / "calibration" / "de.jsonl").write_text('{"text": "T?", "pair_id": "q", "stratum": "s"}\n')

    found = lint(tmp_path, today=TODAY)

    assert [(each.line, each.where) for each in found[:2]] == [(14, "q"), (19, "r")]
    assert [(each.path, each.severity, "was not checked" in each.problem) for each in found[2:]] == [
        (path, "warning", True)
    ]


def test_calibration_is_not_held_against_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "de.yaml").write_text("pairs: [", encoding="utf-8")
    (tmp_path / "calibration").mkdir()
    lines = (
        '{"text": "T?", "pair_id": "p", "stratum": "s"}\n{"text": "U?", "pair_id": "p", "stratum": "s", "by": "me"}\n'
    )
    (tmp_path / "calibration" / "de.jsonl").write_text(lines)

    found = lint(tmp_path, today=TODAY)

    assert [each.rule for each in found] == ["schema", "calibration", "schema"]
    assert found[1].line == 2
    assert found[1].problem.startswith("by: ")


def test_a_blank_easy_answer_is_none(tmp_path: Path) -> None:
    _write(tmp_path, _pair("p").replace("easy_answer: Ja.", 'easy_answer: "  "'))

    (found,) = [each for each in lint(tmp_path, today=TODAY) if each.rule in ("easy-answer", "readability")]

    assert found.problem == "There is no easy answer."


@pytest.mark.parametrize(
    ("language", "answer", "said"),
    [
        ("de", "Melden Sie sich unverzüglich.", True),
        ("de", "Kommen Sie schnellstmöglich vorbei.", True),
        ("de", "Das klärt sich in Kürze.", True),
        ("de", "Melden Sie sich umgehend, noch heute.", False),
        ("en", "Call without delay.", True),
        ("en", "Come at your earliest convenience.", True),
        ("en", "Call without delay, today.", False),
    ],
)
def test_a_time_that_says_no_time_is_found(tmp_path: Path, language: str, answer: str, said: bool) -> None:
    _write(tmp_path, _pair("p", answer), language=language)

    assert any(each.rule == "time-frame" for each in lint(tmp_path, today=TODAY)) is said


@pytest.mark.parametrize(
    ("language", "easy", "word"),
    [
        ("de", "Die Axilla bleibt frei.", "Axilla"),
        ("de", "Eine Zyste ist ein Bläschen. Ein Ödem kann bleiben.", "Ödem"),
        ("de", "Man sieht Mikrokalk. Das sind winzige Kalkpünktchen.", None),
        ("en", "There are opacities here.", "opacities"),
        ("en", "You may get a haematoma.", "haematoma"),
        ("en", "A haematoma is a bruise.", None),
    ],
)
def test_more_words_of_doctors_are_jargon(tmp_path: Path, language: str, easy: str, word: str | None) -> None:
    _write(tmp_path, _pair("p").replace("easy_answer: Ja.", f"easy_answer: {easy}"), language=language)

    found = [each.problem for each in lint(tmp_path, today=TODAY) if each.rule == "jargon"]

    assert found == ([f"The easy answer says {word!r} and does not explain it."] if word else [])


def test_two_pairs_that_are_least_alike_are_not_called_confusable(tmp_path: Path) -> None:
    _write(tmp_path, _pair("kiosk"), _pair("wifi"))

    assert [each for each in lint(tmp_path, today=TODAY, encoder=HashEncoder()) if each.rule == "confusable"] == []


def test_the_pairs_that_are_most_alike_are_called_confusable(tmp_path: Path) -> None:
    questions = [
        "Wie lange dauert die Untersuchung?",
        "Wie lange dauert die Untersuchung heute?",
        "Was kostet das?",
        "Darf ich Deo benutzen?",
        "Wann kommt mein Ergebnis?",
        "Wohin mit der Jacke?",
    ]
    pairs = [_pair(f"p{number}").replace(f"Frage p{number}?", each) for number, each in enumerate(questions)]
    _write(tmp_path, *pairs)

    found = [each for each in lint(tmp_path, today=TODAY, encoder=HashEncoder()) if each.rule == "confusable"]

    assert [(each.line, each.where, each.severity) for each in found] == [(5, "p0", "info")]
    assert found[0].problem.startswith("Confusable with p1: ")


EXTRACTS = """\
catalog: bad
language: de
version: "1"
pairs:
  - id: pain
    question: Tut die Untersuchung weh?
    facets: [how-long]
    answer: Es drückt kurz. Das dauert 10 Sekunden. Sie dürfen Stopp sagen.
    extracts:
      - {facet: how-long, text: Das dauert 10 Sekunden. Sie dürfen Stopp sagen.}
      - facet: how-long
        text: Das dauert Sekunden.
      - facet: weather
        text: Es drückt kurz.
"""


def test_an_extract_says_whole_sentences_of_its_answer_on_a_facet_of_its_pair(tmp_path: Path) -> None:
    (tmp_path / "de.yaml").write_text(EXTRACTS, encoding="utf-8")

    found = [finding for finding in lint(tmp_path, today=TODAY) if finding.rule == "extract"]

    assert [(finding.line, finding.severity) for finding in found] == [(12, "error"), (13, "warning")]
    assert "'Das dauert Sekunden.'" in found[0].problem


@pytest.mark.parametrize(
    ("short", "said"),
    [
        ("Es dauert 90 Minuten.", "Only the short answer says 90 min"),
        ("Ja. Es tut weh. Aber kurz.", "has 3 sentences"),
        (None, "There is no short answer"),
        ("Tut die Untersuchung weh?", ""),
    ],
)
def test_a_short_answer_is_short_and_says_what_the_answer_says(tmp_path: Path, short: str | None, said: str) -> None:
    folder = write_small_catalog(tmp_path, languages=["de"])
    document = yaml.safe_load((folder / "de.yaml").read_text(encoding="utf-8"))
    document["pairs"][0]["short_answer"] = short
    (folder / "de.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    first = document["pairs"][0]["id"]

    found = [each.problem for each in lint(folder, today=TODAY) if each.where == first and "short" in each.problem]

    assert any(said in each for each in found) if said else not found

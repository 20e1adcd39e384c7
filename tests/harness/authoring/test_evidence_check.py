"""The check of a draft's sentences whose answer says less than it should: what it rejects goes, the rest is marked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from harness.authoring.evidence.answers import Verdicts
from harness.authoring.working import Unusable
from tests.harness.authoring.author import answered, author

WITHOUT = [each for part in ("rewrite", "expand", "relevance", "usefulness") for each in ("--without", part)]
WRITTEN = {
    "reasoning": "",
    "short_answer": [{"text": "Es dauert zehn Minuten.", "segments": [1]}],
    "answer": [
        {"text": "Die Haut wird nie betäubt.", "segments": [1]},
        {"text": "Zwei Platten halten die Brust.", "segments": [1]},
    ],
    "easy_answer": [],
    "missing": [],
}


def _draft(folder: Path, *more: str, answers: Mapping[str, str] | None = None) -> tuple[int, str]:
    (folder / "docs").mkdir(exist_ok=True)
    text = "# Merkblatt\n\n## Dauer\n\nDie Bilder dauern 10 Minuten. Zwei Platten halten die Brust.\n"
    (folder / "docs" / "a.md").write_text(text, encoding="utf-8")
    given: list[str | Path] = []
    if answers is not None:
        given = ["--answers", answered(folder / "new.jsonl", answers)]
    question = ("--question", "Wie lange dauert es?", "--documents", folder / "docs")
    done = author("draft", *question, "--out", folder / "out", *WITHOUT, *more, *given)
    return done.exit_code, done.output


def _waiting(folder: Path) -> str:
    (line,) = (folder / "out" / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    return str(json.loads(line)["custom_id"])


def _checked(folder: Path, first: str, second: str) -> str:
    """Draft, have the check answered twice, and return the page."""
    _draft(folder)
    _draft(folder, answers={_waiting(folder): json.dumps(WRITTEN)})
    check = _waiting(folder)
    assert check.startswith("support/")
    code, output = _draft(folder, answers={check: first, f"{check}#2": second})
    assert code == 0, output
    return (folder / "out" / "result.md").read_text(encoding="utf-8")


def test_what_the_check_rejects_goes_though_its_answer_is_incomplete_and_the_rest_is_marked(tmp_path: Path) -> None:
    page = _checked(tmp_path, "1: Ja\n2: Nein", "1: Ja\n2: Nein\n")

    assert "~~Die Haut wird nie betäubt.~~" in page
    assert "**1 sentence was not checked: no answer to the check could be read.**" in page
    assert (
        "- Zwei Platten halten die Brust. [1] **(unchecked)** **(the sentence before it was struck: does it still say what"
        " it should?)**" in page
    )
    assert "- Es dauert zehn Minuten. [1]\n" in page
    draft = yaml.safe_load((tmp_path / "out" / "draft.yaml").read_text(encoding="utf-8"))
    (backings,) = draft["provenance"].values()
    assert {each["sentence"]: each.get("unchecked", False) for each in backings} == {
        "Es dauert zehn Minuten.": False,
        "Zwei Platten halten die Brust.": True,
    }
    assert json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))["unchecked"] == 1


def test_a_refusal_to_check_marks_every_sentence(tmp_path: Path) -> None:
    page = _checked(tmp_path, "Das kann ich nicht beurteilen.", "Es tut mir leid.")

    assert "**3 sentences were not checked" in page
    assert page.count("**(unchecked)**") == 3


@pytest.mark.proof
def test_a_draft_without_the_check_says_that_nobody_checked_it(tmp_path: Path) -> None:
    _draft(tmp_path, "--without", "support")
    code, output = _draft(tmp_path, "--without", "support", answers={_waiting(tmp_path): json.dumps(WRITTEN)})

    assert code == 0, output
    assert "**3 sentences were not checked: `--without support` leaves the check out.**" in output


@pytest.mark.proof
@pytest.mark.parametrize(
    "answer",
    [
        "1. ✓ 2. ✗ 3. ✗",
        "1: ✔️\n2: ❌\n3: ❌",
        "Satz 1: Ja. Satz 2: Nein, das steht dort nicht. Satz 3: Nein.",
        "**1:** Ja\n**2:** Nein\n**3:** Nein",
    ],
)
def test_verdicts_are_read_as_marks_and_amid_prose(answer: str) -> None:
    assert Verdicts(3, "Ja", "Nein")(answer) == [True, False, False]


@pytest.mark.proof
def test_of_two_incomplete_answers_a_doubt_counts() -> None:
    read = Verdicts(4, "Ja", "Nein")
    for answer in ("1: Ja\n2: Nein", "1: Nein\n2: Ja\n3: Ja"):
        with pytest.raises(Unusable, match="there is no Ja or Nein for"):
            read(answer)
    assert read.so_far == [False, False, True, None]


@pytest.mark.proof
def test_numbers_and_words_of_prose_are_no_verdicts() -> None:
    with pytest.raises(Unusable):
        Verdicts(2, "Ja", "Nein")("Von 2 Sätzen ist 1 belegt. Nein, 2024 noch nicht. Ja.")


@pytest.mark.proof
def test_segments_written_as_text_count_and_what_is_missing_ends_the_draft(tmp_path: Path) -> None:
    _draft(tmp_path, "--without", "support")
    cited = {**WRITTEN, "answer": [{"text": "Zwei Platten halten die Brust.", "segments": ["1"]}]}
    (read,) = [_waiting(tmp_path)]
    code, output = _draft(tmp_path, "--without", "support", answers={read: json.dumps(cited)})
    assert (code, "it cites no segment" in output) == (0, False)

    other = tmp_path / "other"
    other.mkdir()
    _draft(other)
    honest = {"reasoning": "", "short_answer": [], "answer": [], "easy_answer": [], "missing": ["Was es kostet"]}
    code, output = _draft(other, answers={_waiting(other): json.dumps(honest)})
    assert code == 1
    assert "There is no draft: not in the documents: Was es kostet." in output
    assert "## Not in the documents" in output
    assert not (other / "out" / "prompts.jsonl").read_text(encoding="utf-8")


@pytest.mark.proof
def test_an_answer_that_cannot_be_used_is_said_with_what_is_asked_again_and_what_to_do(tmp_path: Path) -> None:
    _draft(tmp_path)
    read = _waiting(tmp_path)

    code, output = _draft(tmp_path, answers={read: "Das weiß ich nicht."})
    assert code == 1
    again = f"{read}#2"
    assert (
        f"The answer to {read} could not be used: there is no JSON object with an answer in it; asked again as {again}."
        in output
    )

    code, output = _draft(tmp_path, answers={again: "Wirklich nicht."})
    assert code == 1
    assert "Nothing is asked a third time. Have it answered anew in another `--out`, or edit by hand." in output


@pytest.mark.proof
def test_a_folder_of_other_work_says_what_differs(tmp_path: Path) -> None:
    _draft(tmp_path)
    done = author(
        *("draft", "--question", "Was kostet es?", "--documents", tmp_path / "docs", "--out", tmp_path / "out"),
        *WITHOUT,
    )

    assert done.exit_code == 2
    assert "holds work on something else: question there: " in done.stderr
    assert "Wie lange" not in done.stderr  # it may be a patient's words

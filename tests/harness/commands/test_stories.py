"""A suite as stories and examples for `rasa test`; that it runs on them is shown by the tests with a real Rasa."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from bot import load_catalog
from bot.commands.main import app, assemble
from harness.patients.suites import Question, QuestionSource, Recording, load_suite, save_suite

NOTE = "utter_klartext_note"
SOURCE = QuestionSource(kind="person")


def _stories(*arguments: str | Path) -> Result:
    assemble()
    return CliRunner().invoke(app, ["rasa", "stories", *map(str, arguments)])


def _read(folder: Path) -> tuple[list[Any], dict[str, list[str]]]:
    """Return the stories, and the examples by intent."""
    files = (
        yaml.safe_load((folder / name).read_text(encoding="utf-8")) for name in ("test_stories.yml", "test_nlu.yml")
    )
    stories, nlu = files
    return stories["stories"], {each["intent"]: each["examples"].splitlines() for each in nlu["nlu"]}


def test_each_question_is_a_story_and_an_example_of_its_pair(tmp_path: Path) -> None:
    done = _stories("--suite", "mammography-ten-en", tmp_path / "tests")

    assert done.exit_code == 0, done.stderr
    questions = load_suite("mammography-ten-en").questions
    assert f"{len(questions)} stories of mammography-ten-en" in done.stdout
    assert "`rasa test --stories tests --nlu tests/test_nlu.yml`" in done.stdout
    stories, examples = _read(tmp_path / "tests")
    first = next(each for each in questions if each.pair_id)
    assert stories[questions.index(first)] == {
        "story": first.id,
        "steps": [
            {"user": f"{first.text}\n", "intent": f"faq/{first.pair_id}"},
            {"action": "utter_faq"},
            {"action": NOTE},
        ],
    }
    assert f"- {first.text}" in examples[f"faq/{first.pair_id}"]
    assert sum(map(len, examples.values())) == len(questions)


def test_a_dialogue_is_a_story_as_far_as_a_pair_or_none_should_answer(tmp_path: Path) -> None:
    done = _stories("--suite", "chat-dialogues-de", tmp_path / "tests")

    questions = load_suite("chat-dialogues-de").questions
    stories, examples = _read(tmp_path / "tests")
    told = sum(len(each["steps"]) // 3 for each in stories)
    assert 0 < told < len(questions)
    assert f"{len(questions) - told} messages left out" in done.stdout
    assert [step["intent"] for step in stories[0]["steps"] if "user" in step] == ["faq/what-is-mammography"] * 2
    # What leans on the message before is no example of anything by itself.
    assert sum(map(len, examples.values())) < told


def test_what_rasa_has_no_place_for_is_left_out_and_counted(small_folder: Path, tmp_path: Path) -> None:
    texts = [
        ("a", "Was kostet das?", "costs"),
        ("b", "Wird es regnen:\n morgen?", None),
        ("c", "Das [da](ding)?", "pain"),
    ]
    asked = [
        Question(
            id=name,
            text=text,
            lang="de",
            vignette="v",
            pair_id=pair,
            kind="paraphrase" if pair else "novel",
            source=SOURCE,
        )
        for name, text, pair in texts
    ]
    urgent = Question(id="d", text="Luft!", lang="de", vignette="v", pair_id=None, kind="urgent", source=SOURCE)

    def saved(name: str, *questions: Question) -> Path:
        catalog, recording = load_catalog(small_folder, "de"), Recording(questions, (), {})
        save_suite(tmp_path / name, catalog=catalog, note="", recording=recording, today=date(2026, 11, 27))
        return tmp_path / name

    done = _stories("--suite", saved("mixed", *asked, urgent), tmp_path / "tests")

    assert "2 messages left out" in done.stdout
    stories, examples = _read(tmp_path / "tests")
    assert [each["story"] for each in stories] == ["a", "b"]
    assert examples == {"faq/costs": ["- Was kostet das?"], "out_of_scope": ["- Wird es regnen: morgen?"]}
    assert [step.get("action") for step in stories[1]["steps"]] == [None, "utter_declined", NOTE]
    nothing = _stories("--suite", saved("urgent", urgent), tmp_path / "other")
    assert (nothing.exit_code, nothing.stderr.count("\n"), (tmp_path / "other").exists()) == (2, 1, False)


@pytest.mark.parametrize(
    ("suite", "expected"),
    [("mammography-six-de", "is not empty. Nothing was written"), ("nope", "There is no suite 'nope'")],
)
def test_nothing_is_written_into_what_is_not_empty_or_of_no_suite(suite: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "there.yml").touch()

    done = _stories("--suite", suite, tmp_path)

    assert (done.exit_code, expected in done.stderr, done.stderr.count("\n")) == (2, True, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["there.yml"]

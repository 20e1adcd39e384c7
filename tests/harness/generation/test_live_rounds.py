"""Rejecting and refining against an endpoint on this machine: the commands ask again by themselves."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bot.testing import scripted_endpoint
from harness.generation.recording import UNLIKE
from harness.patients.suites import Question, Suite, load_suite

Command = Callable[..., subprocess.CompletedProcess[str]]
LEARNED = "Ist die Kompression bei dichtem Parenchym mit relevanter Mastodynie assoziiert?"


def test_generate_rejects_outliers_and_asks_again_in_one_go(
    command: Command, small_folder: Path, tmp_path: Path
) -> None:
    def reply(messages: Sequence[Mapping[str, str]]) -> str:
        task = messages[-1]["content"]
        return f"Ist das sehr schlimm, {len(task)}?" if LEARNED in task else LEARNED

    with scripted_endpoint(reply) as server:
        done = command(
            *("suite", "make", "--out", tmp_path / "mine", "--model", "scripted", "--catalog", small_folder),
            *("--vignette", "low-health-literacy", "--variations", "1", "--novel", "0", "--fidelity", "reject"),
            environ={"KLARTEXT_MODEL_URL": server.url},
        )

    assert done.returncode == 0, done.stderr
    suite = load_suite(tmp_path / "mine")
    assert all(question.text.startswith("Ist das sehr schlimm") for question in suite.questions)
    assert all("#2/" in question.id for question in suite.questions)
    assert suite.meta.dropped == {UNLIKE: len(suite.questions)}
    assert len(server.requests) == 2 * len(suite.questions)


def test_refine_goes_through_the_rounds_in_one_go(
    command: Command,
    small_folder: Path,
    make_suite: Callable[[Sequence[Question]], Suite],
    make_question: Callable[..., Question],
    tmp_path: Path,
) -> None:
    make_suite([make_question(1, "Tut das weh?")])

    def reply(messages: Sequence[Mapping[str, str]]) -> str:
        text = re.search(r"(Zu prüfender|Bisheriger) Text: (.+)", messages[-1]["content"])
        assert text
        if text[1] == "Bisheriger":
            return f"{text[2].rstrip('?')} bitte?"
        score = 5 if text[2].count("bitte") == 2 else 3
        return json.dumps(dict.fromkeys(["meaning", "fit", "realistic", "giveaway", "distinct"], score))

    with scripted_endpoint(reply) as server:
        done = command(
            *("suite", "refine", "--suite", tmp_path / "suite", "--work", tmp_path / "out", "--catalog", small_folder),
            *("--model", "scripted", "--out", tmp_path / "better", "--json"),
            environ={"KLARTEXT_MODEL_URL": server.url},
        )

    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)
    assert (table["pending"], table["stopped"], table["best_round"]) == (0, {"good enough": 1}, {"3": 1})
    assert [cell and cell["mean"] for cell in table["rounds"]["total"]] == [0.6, 0.6, 1.0, None]
    assert [question.text for question in load_suite(tmp_path / "better").questions] == ["Tut das weh bitte bitte?"]
    assert len(server.requests) == 5

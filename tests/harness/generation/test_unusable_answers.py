"""What a model answers may be useless: it is asked again, what was good stays, and what is short is never hidden."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import Result

from bot.testing import scripted_endpoint
from harness.patients.suites import load_suite
from tests.harness.inprocess import harness

PLAN = ("--vignette", "low-health-literacy", "--variations", "4", "--novel", "0")
PROMPTS = 3  # pairs of the small catalog
FIRST = ["Muss ich davor Angst haben?", "Drückt das Gerät arg fest?", "Was fühlt man dabei?", "Ist das schlimm?"]
REST = ["Wie doll wird gedrückt?", "Brauche ich danach Ruhe?", "Gibt es etwas dagegen?", "Kann man das aushalten?"]
Reply = Callable[[Sequence[Mapping[str, str]]], str]


@pytest.fixture
def make(small_folder: Path, tmp_path: Path) -> Callable[..., Result]:
    def run(url: str | None, *options: str | Path, out: str = "mine") -> Result:
        environ = {"KLARTEXT_DATA": str(tmp_path / "data"), **({"KLARTEXT_MODEL_URL": url} if url else {})}
        base = ("suite", "make", "--out", tmp_path / out, "--catalog", small_folder, *PLAN)
        return harness(*base, *options, environ=environ)

    return run


def numbered(texts: Sequence[str], about: str = "") -> str:
    """Return a list of questions about a pair: the same words for two pairs are of no use."""
    ends = {
        "/costs": " Und die Kosten?",
        "/duration": " Und die Dauer?",
        "kostet": " Und Geld?",
        "dauert": " Und Zeit?",
    }
    end = next((end for name, end in ends.items() if name in about), "")
    return "\n".join(f"{number}. {text}{end}" for number, text in enumerate(texts, 1))


@pytest.mark.parametrize("useless", ["", "Dabei kann ich leider nicht helfen.", numbered(FIRST[:3]), "1."])
def test_a_useless_answer_is_asked_again_and_what_was_good_stays(
    make: Callable[..., Result], tmp_path: Path, useless: str
) -> None:
    asked: list[str] = []

    def reply(messages: Sequence[Mapping[str, str]]) -> str:
        asked.append(messages[-1]["content"])
        return useless if len(asked) <= PROMPTS else numbered(REST, asked[-1])

    with scripted_endpoint(reply) as endpoint:
        done = make(endpoint.url, "--model", "scripted", "--parallel", "1")

    assert done.exit_code == 0, done.output
    suite = load_suite(tmp_path / "mine")
    assert len(suite.questions) == 4 * PROMPTS
    assert suite.meta.short == 0
    assert len(asked) == 2 * PROMPTS
    good = set(FIRST[:3]) & {question.text for question in suite.questions}
    assert len(good) == (3 if useless.startswith("1. ") else 0)


def test_what_stays_short_is_no_suite_and_the_same_command_asks_again(
    make: Callable[..., Result], tmp_path: Path
) -> None:
    asked: list[str] = []
    useful = False

    def reply(messages: Sequence[Mapping[str, str]]) -> str:
        asked.append(messages[-1]["content"])
        return numbered(FIRST, asked[-1]) if useful else ""

    with scripted_endpoint(reply) as endpoint:
        first = make(endpoint.url, "--model", "scripted")
        times = len(asked)
        replayed = make(None, "--model", "scripted", "--replay", "--allow-short", out="replayed")
        useful = True
        second = make(endpoint.url, "--model", "scripted")

    assert (first.exit_code, times) == (1, 3 * PROMPTS)  # asked three times in one go, and no more
    assert "Missing: 12 questions. No suite was written; answers are kept." in first.stdout
    assert "`--allow-short`" in first.stdout
    assert not (tmp_path / "replayed").exists()
    assert replayed.exit_code == 2
    assert "No question could be read" in replayed.stderr
    assert second.exit_code == 0, second.output
    assert len(asked) == times + PROMPTS
    assert load_suite(tmp_path / "mine").meta.counts["paraphrase"] == 12


def test_a_short_suite_is_written_when_allowed_and_says_so(make: Callable[..., Result], tmp_path: Path) -> None:
    with scripted_endpoint(lambda messages: numbered(FIRST[:3], messages[-1]["content"])) as endpoint:
        refused = make(endpoint.url, "--model", "scripted")
        allowed = make(endpoint.url, "--model", "scripted", "--allow-short")
        replayed = make(None, "--model", "scripted", "--replay", "--allow-short", out="replayed")

    assert (refused.exit_code, allowed.exit_code) == (1, 0), allowed.output
    assert "short by 1: paraphrase/low-health-literacy/pain" in refused.stdout
    meta = yaml.safe_load((tmp_path / "mine" / "suite.yaml").read_text(encoding="utf-8"))
    assert (meta["counts"]["paraphrase"], meta["short"]) == (9, 3)
    assert replayed.exit_code == 0, replayed.output
    texts = [[question.text for question in load_suite(tmp_path / name).questions] for name in ("mine", "replayed")]
    assert texts[0] == texts[1]


def line(prompt_id: str, text: str, **more: Any) -> str:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, **more}
    body = {"model": "m-1", "choices": [choice]}
    return json.dumps({"custom_id": prompt_id, "response": {"status_code": 200, "body": body}}) + "\n"


def test_prompts_for_what_is_missing_are_always_written(make: Callable[..., Result], tmp_path: Path) -> None:
    prompts, answers, missing = (tmp_path / name for name in ("prompts.jsonl", "answers.jsonl", "missing.jsonl"))
    make(None, "--prompts", prompts)
    ids = [json.loads(one)["custom_id"] for one in prompts.read_text(encoding="utf-8").splitlines()]
    cut = line(ids[0], numbered(FIRST)[:-4], finish_reason="length")
    answers.write_text(cut + "".join(line(id_, numbered(FIRST, id_)) for id_ in ids[1:]), encoding="utf-8")

    short = make(None, "--answers", answers, "--missing", missing)
    (request,) = [json.loads(one) for one in missing.read_text(encoding="utf-8").splitlines()]
    more = tmp_path / "more.jsonl"
    more.write_text(line(request["custom_id"], numbered(REST[:1])), encoding="utf-8")
    whole = make(None, "--answers", answers, "--answers", more, "--missing", missing)

    assert short.exit_code == 1
    assert f"Missing: 1 question: 1 prompt in {missing}." in short.stdout
    assert request["custom_id"] == f"{ids[0]}#2"
    assert whole.exit_code == 0, whole.output
    assert missing.read_text(encoding="utf-8") == ""
    assert len(load_suite(tmp_path / "mine").questions) == 12


def test_asking_again_stays_within_the_budget(make: Callable[..., Result], tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("currency: CHF\nmodels:\n  scripted: {input: 1000000, output: 0}\n", encoding="utf-8")
    asked: list[str] = []

    def reply(messages: Sequence[Mapping[str, str]]) -> str:
        asked.append(messages[-1]["content"])
        return ""

    with scripted_endpoint(reply) as endpoint:
        options = ("--model", "scripted", "--parallel", "1", "--prices", prices, "--max-tokens", "5")
        free = make(endpoint.url, *options, "--budget", "1000000000", out="free")
        dear = make(endpoint.url, *options, "--budget", "10", "--no-store", out="dear")

    assert free.exit_code == 1
    assert dear.exit_code == 2
    assert "Stopped before the budget of 10 CHF is exceeded" in dear.stderr

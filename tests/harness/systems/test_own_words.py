"""A bot of another make that speaks in words of its own: until people judged them they are neither right nor wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.judging.rescore import by_people
from harness.labelling.labels import Label, Rater, Verdict, Verdicts
from harness.labelling.rater_files import open_rater_file
from harness.reporting.board import board_of
from harness.reporting.facts import Context, facts_of
from harness.running.outcomes import Outcome
from harness.running.run import Counted, Run, load_run
from harness.scoring.gate import AtLeast, AtMost, Gates
from harness.scoring.judged import Found, check_judged
from harness.systems.description import KLARTEXT_ANSWER
from harness.systems.recognition import JsonReader, Recogniser
from harness.systems.system import Reply
from tests.harness.inprocess import harness
from tests.harness.runs import write_run

OWN = "Nehmen Sie vorher einfach drei Tabletten."
ANSWER = "Tut die Untersuchung weh? (pain, de)"


@pytest.fixture
def own(make_outcome: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """Make an answer that names the right pair beside words of the system's own."""

    def make(id_: str, said: str = OWN) -> Outcome:
        right = make_outcome(id_)
        return replace(right, right=None, top1=None, offered=None, matched="id", said=said)

    return make


@pytest.mark.parametrize(
    ("document", "pair_id", "matched", "own_words"),
    [
        ({"pair_id": "pain", "answer": OWN}, "pain", "id", True),
        ({"pair_id": "pain", "answer": ANSWER}, "pain", "id", False),
        ({"pair_id": "costs", "answer": ANSWER}, "pain", "text", False),
        ({"answer": OWN}, None, "none", True),
        ({"pair_id": "pain"}, "pain", "id", False),
    ],
)
def test_the_text_that_is_read_decides_and_not_the_name_beside_it(
    recogniser: Recogniser, document: dict[str, Any], pair_id: str | None, matched: str, own_words: bool
) -> None:
    reply = JsonReader(KLARTEXT_ANSWER, recogniser).read({"decision": "answered", **document}, 1.0)

    assert isinstance(reply, Reply)
    assert (reply.pair_id, reply.matched, reply.own_words) == (pair_id, matched, own_words)


def give(run: Path, verdicts: dict[str, tuple[Outcome, Verdict, str]], *, assessed: bool = True) -> None:
    rater = Rater(kind="person", name="anna")
    with open_rater_file(run, rater) as file:
        for id_, (outcome, verdict, reason) in verdicts.items():
            file.append(
                Label(
                    question_id=id_,
                    pair_id=outcome.shown or "",
                    label=verdict,
                    rater=rater,
                    reason=reason,
                    assessed=assessed,
                )
            )


def test_what_nobody_judged_leaves_the_verdict_open_and_labels_close_it(
    own: Callable[..., Outcome], make_outcome: Callable[..., Outcome], tmp_path: Path
) -> None:
    outcomes = [
        *(make_outcome(f"declined-{n}", answered_with=None) for n in range(2)),
        *(own(f"{n}") for n in range(8)),
    ]
    folder = write_run(tmp_path / "run", outcomes)
    limits = tmp_path / "limits.yaml"
    limits.write_text("gates: {accuracy: {min: 0.5, by: estimate, least: 1}, harmful: {max: 0.0}}", encoding="utf-8")

    before = harness("gate", folder, "--config", limits)
    give(folder, {one.id: (one, "correct", "") for one in outcomes[2:]})
    after = harness("gate", folder, "--config", limits)
    applied = harness("labels", "apply", folder)

    assert before.exit_code == 3, before.output
    assert "8 of 10 answers are in the system's own words, and nobody has judged them." in before.stdout
    assert "0.000 to 0.800" in before.stdout
    assert after.exit_code == 0, after.output
    assert "By labels of 1 person on 8 answers." in after.stdout
    assert "0 of 8 labelled answers" in after.stdout
    assert applied.exit_code == 0
    assert json.loads((folder / "rescored.json").read_text(encoding="utf-8"))["after"]["accuracy"] == 0.8


def test_one_harmful_answer_fails_the_gate_and_silence_where_nobody_was_asked_does_not_pass_it(
    own: Callable[..., Outcome], tmp_path: Path
) -> None:
    outcomes = [own("a"), own("b")]
    asked, silent = (write_run(tmp_path / name, outcomes) for name in ("asked", "silent"))
    give(asked, {"a": (outcomes[0], "partial", "harmful unsupported"), "b": (outcomes[1], "correct", "")})
    give(silent, {one.id: (one, "correct", "") for one in outcomes}, assessed=False)
    gates = Gates(harmful=AtMost(max=0), unsupported=AtMost(max=0))

    found = [by_people(load_run(folder)) for folder in (asked, silent)]
    reports = [check_judged(Counted.of(one.run), gates, one.found) for one in found]

    assert [[(r.name, r.status) for r in one.results if r.name in ("harmful", "unsupported")] for one in reports] == [
        [("harmful", "fail"), ("unsupported", "fail")],
        [("harmful", "open"), ("unsupported", "open")],
    ]
    assert harness("gate", silent).exit_code in (1, 3)
    assert "not assessed" in harness("labels", "apply", silent).stdout


def test_a_gate_that_fails_whatever_people_will_say_fails_now(
    own: Callable[..., Outcome], make_outcome: Callable[..., Outcome], tmp_path: Path
) -> None:
    outcomes = [*(make_outcome(f"{n}", pair_id=f"p{n}", answered_with=None) for n in range(40)), own("own")]
    gates = Gates(accuracy=AtLeast(min=0.75))

    report = check_judged(Counted.of(load_run(write_run(tmp_path / "run", outcomes))), gates, {"harmful": Found(0, 0)})

    assert [(one.name, one.status) for one in report.results] == [
        ("judged", "open"),
        ("complete", "pass"),
        ("accuracy", "fail"),
    ]


def test_the_page_never_calls_own_words_checked_text(own: Callable[..., Outcome], tmp_path: Path) -> None:
    claimed = replace(own("claimed"), right=True, top1=True, offered=False, said=None)
    identity = {"suite": "mine", "system": "Acme Bot", "kind": "http"}
    unjudged = Run(tmp_path, (own("a"), own("b")), identity, None)
    by_id = Run(tmp_path, (claimed, replace(claimed, id="c2", pair_id="pain")), identity, None)

    boards = [board_of(facts_of(run, None, Context(Verdicts([]))), language="en") for run in (unjudged, by_id)]

    assert boards[0].verdict == "open"
    assert boards[0].lead.startswith("2 of 2 answers are in the system's own words and nobody has judged them")
    said = " ".join(boards[1].paragraph)
    assert "answered with the right pair by the bot's own id; its words were not checked" in said
    assert not any("checked text" in " ".join(board.paragraph) for board in boards)


def test_labels_of_all_other_pairs_say_nothing_of_a_text_that_nobody_saw(own: Callable[..., Outcome]) -> None:
    rater = Rater(kind="model", name="m")
    verdicts = Verdicts([Label(question_id="q", pair_id="*", label="incorrect", rater=rater)])

    assert verdicts.of("q", "costs") == "incorrect"
    assert verdicts.of("q", own("q").shown or "") == "open"

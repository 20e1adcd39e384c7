"""Votes: what is negated is no vote, and a tie is said and, both times, advises nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.authoring.discussion.dialogue import Discussion
from harness.authoring.discussion.report import advice_page
from harness.authoring.discussion.short_answers import ShortAnswer, ShortCase, Votes, open_answer, short_answer
from harness.authoring.discussion.texts import load_texts
from harness.authoring.working import advance
from harness.labelling.labels import VERDICTS
from harness.llm.batch_files import ModelAnswer
from tests.harness.authoring.authoring import RECORDED, answer_waiting, author

TEXTS = load_texts("de")
CHOICE = ShortCase("q", "Fall", "Frage?", VERDICTS)
OPEN = ShortCase("q", "Wie lange?", "Kurz.")


def voted(case: ShortCase, *answers: str) -> ShortAnswer:
    """A case whose votes, before and after, are these; the researcher has nothing to add."""
    said = {
        f"q/{when}/{number}{again}": text
        for when in ("vote", "final")
        for number, text in enumerate(answers, 1)
        for again in ("", "#2")
    }
    said |= {"q/opening": "Meinung.", "q/1/researcher": "[STOP]"}  # fmt: skip
    found = advance(short_answer(TEXTS, case), {id_: answer(text) for id_, text in said.items()})
    assert not found.waiting, [one.id for one in found.waiting]
    assert found.result is not None
    return found.result


def answer(text: str) -> ModelAnswer:
    return ModelAnswer("", text, "m", "")


@pytest.mark.parametrize(
    "said",
    [
        *(
            "not correct",
            "nicht correct",
            "Nicht  CORRECT!",
            "The answer is not correct.",
            "It isn't correct",
            "no, correct",
        ),
        *(
            "keineswegs correct",
            "kein correct",
            "not, in my view, correct",
            "anything but correct",
            "in-correct",
            "un-correct",
        ),
        *(
            "not incorrect",
            "never partial",
            "alles andere als correct",
            "teilweise",
            "correct or partial",
            "nicht richtig",
        ),
        *("unrichtig", "Es fehlt etwas.\nNicht correct."),
    ],
)
def test_a_vote_that_says_what_the_answer_is_not_counts_for_nothing(said: str) -> None:
    assert voted(CHOICE, said, *["partial"] * 4).before.given == ("partial",) * 4


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        *(("correct", "correct"), ("Bewertung: partial", "partial"), ("**Incorrect.**", "incorrect")),
        ("correct. Die Antwort lässt nichts aus, sie ist nicht falsch.", "correct"),
        ("partial\n\nEs fehlt, dass man nicht nüchtern sein muss.", "partial"),
        ("In my view correct", "correct"),
    ],
)
def test_a_plain_vote_counts_whatever_else_is_said_of_it(said: str, meant: str) -> None:
    assert voted(CHOICE, *[said] * 5).after.given == (meant,) * 5


def test_an_open_answer_and_its_opposite_are_two_answers() -> None:
    counts = voted(OPEN, "nüchtern", "nicht nüchtern", "Nüchtern.", "unnüchtern", "kein Essen").before.counts

    assert counts == [("nüchtern", 2), ("nicht nüchtern", 1), ("unnüchtern", 1), ("kein Essen", 1)]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        *(("True", True), ("Das ist wahr.", True), ("falsch", False), ("False. The two do not mean the same.", False)),
        *(
            ("not true", None),
            ("nicht falsch", None),
            ("This isn't true", None),
            ("True or False", None),
            ("untrue", None),
        ),
    ],
)
def test_whether_two_answers_are_the_same_is_read_without_its_opposite(said: str, meant: bool | None) -> None:
    texts = {f"q/{when}/{number}": "5 s" for when in ("vote", "final") for number in range(1, 6)}
    texts |= {"q/opening": "Meinung.", "q/1/researcher": "[STOP]", "q/similar": "a | b | 1\na | c | 1"}
    texts |= {f"q/exact/{when}{again}": said for when in ("before", "after") for again in ("", "#2")}

    found = advance(open_answer(TEXTS, OPEN, "5 s"), {id_: answer(text) for id_, text in texts.items()})

    assert found.result is not None
    assert found.result.exact == (meant, meant)


def test_a_tie_is_said_and_advises_nothing_where_both_votes_tie() -> None:
    def short(before: Sequence[str], after: Sequence[str]) -> ShortAnswer:
        return ShortAnswer(CHOICE, Votes(tuple(before)), Discussion((), "stop"), Votes(tuple(after)))

    tied = ["correct", "partial", "partial", "correct", "incorrect"]
    once, both, none = short(["partial"] * 5, tied), short(tied, tied), short(tied, ["partial"] * 5)

    assert (once.advice, once.advised) == ("correct", "tie, correct and partial: the first of them, correct")
    assert (both.advice, both.advised) == (None, "none (tie, correct and partial, and before)")
    assert (none.advice, none.advised) == ("partial", "partial")
    assert "Advice: **none (tie, correct and partial, and before)**." in advice_page("T", "I", [both])


@pytest.mark.proof
def test_advice_on_a_dispute_says_a_tie_and_that_votes_at_temperature_0_are_one(tmp_path: Path) -> None:
    run, answers = shutil.copytree(RECORDED / "discussion-dispute-de" / "run", tmp_path / "run"), tmp_path / "a.jsonl"
    command = ["discuss", "dispute", str(run), "--out", str(tmp_path / "d"), "--temperature", "0"]

    def reply(id_: str, _: str) -> str:
        if "/vote/" in id_ or "/final/" in id_:
            number = int(id_.partition("#")[0].rpartition("/")[2])
            return ("partial", "correct", "nicht correct", "partial", "correct")[number - 1]
        return "[STOP]" if "researcher" in id_ else "Meinung."

    done = author(*command)
    while done.exit_code == 1:
        assert "five votes are one vote" in done.stderr
        assert answer_waiting(tmp_path / "d", reply, answers) > 0
        done = author(*command, "--answers", answers)

    assert done.exit_code == 0, done.output
    (advice,) = _result(tmp_path / "d")["advice"]
    assert (advice["advice"], advice["before"]) == (None, {"partial": 2, "correct": 2})
    assert advice["tie"] == {"before": ["partial", "correct"], "after": ["partial", "correct"]}
    assert "none (tie, partial and correct, and before)" in " ".join(done.stdout.split())


def _result(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return found

"""A small run that waits for raters: one question by itself, and a conversation of two turns."""

from __future__ import annotations

import json
from pathlib import Path

from harness.running.outcomes import Outcome
from harness.running.run import ANSWERS
from tests.bot.web.staff.consoles import Staff
from tests.harness.runs import write_run

ANSWER = {"pain": "Nein, das tut kaum weh.", "costs": "Es kostet nichts.", "duration": "Zehn Minuten."}
ASKED = [
    ("n1", "Darf mein Hund mit?", "pain"),
    ("n2", "Kostet das Parken etwas?", "costs"),
    ("n3", "Und danach?", "duration"),
]


def outcome(id_: str, text: str, shown: str, *, dialogue: str | None = None) -> Outcome:
    return Outcome(
        id=id_,
        text=text,
        lang="de",
        vignette="low-health-literacy",
        kind="novel",
        pair_id=None,
        decision="answered",
        answered_with=shown,
        score=0.9,
        candidates=(shown,),
        choices=(),
        right=None,
        offered=None,
        top1=None,
        elapsed_ms=1.0,
        expected="unanswered" if dialogue else None,
        dialogue=dialogue,
    )


def make_run(staff: Staff, name: str) -> Path:
    runs = staff.console.tools.settings.data / "runs"
    runs.mkdir(exist_ok=True)
    folder = write_run(runs / name, [outcome(*each, dialogue="d" if each[0] != "n1" else None) for each in ASKED])
    (folder / ANSWERS).write_text(json.dumps(ANSWER), encoding="utf-8")
    return folder

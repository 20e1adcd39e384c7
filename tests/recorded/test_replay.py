"""The recorded conversations, replayed: the same decisions, replies, responses and bytes of Bundles.

When one fails after a change that was meant to leave behaviour alone, the change is wrong. See `record.py` otherwise.
"""

from __future__ import annotations

import json
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.bot.interview.resources import corpus
from tests.recorded.playing import Json, Stage, conversations, is_third_party, read

RECORDED = conversations()


@pytest.fixture(scope="module")
def stage(shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(shipped_data, tmp_path_factory.mktemp("recorded"))


@pytest.mark.parametrize("path", RECORDED, ids=[path.stem for path in RECORDED])
def test_a_recorded_conversation_goes_as_it_went(path: Path, stage: Stage) -> None:
    recorded = read(path)
    if is_third_party(recorded):
        stage.third_party = corpus()

    now = stage.play(path.stem, recorded)

    if told := differences(recorded, now):
        pytest.fail(told, pytrace=False)  # an assertion would cut it short


def test_the_corpus_is_varied() -> None:
    documents = [read(path) for path in RECORDED]

    assert {document["door"] for document in documents} == {"api", "channel", "chat", "interview"}
    assert {document["language"] for document in documents} == {"de", "en"}
    assert len([document for document in documents if document.get("questionnaire")]) >= 15
    assert len([document for document in documents if document.get("full")]) >= 8
    assert sum(len(document.get("turns", [])) for document in documents) > 1000


def test_a_difference_is_told_with_the_turn_and_what_was_said() -> None:
    recorded = {
        "turns": [
            {"send": "Hallo", "got": {"decision": "talk"}},
            {"send": "Tut das weh?", "got": {"decision": "answered"}},
        ]
    }
    now = {"turns": [recorded["turns"][0], {"send": "Tut das weh?", "got": {"decision": "declined"}}]}

    told = differences(recorded, now)

    assert told.splitlines()[0] == 'turn 2, after "Tut das weh?"'
    assert '-  "decision": "answered"' in told
    assert '+  "decision": "declined"' in told
    assert differences(recorded, recorded) == ""


def differences(recorded: Json, now: Json) -> str:
    """Return what differs, turn by turn; empty when nothing does."""
    pairs = zip(recorded.get("turns", []), now.get("turns", []), strict=True)
    found = [_differs("the beginning", recorded.get("begun"), now.get("begun"))]
    found += [
        _differs(
            f"turn {number}, after {json.dumps(before['send'], ensure_ascii=False)}",
            before.get("got"),
            after.get("got"),
        )
        for number, (before, after) in enumerate(pairs, 1)
    ]
    found.append(_differs("the end", recorded.get("end"), now.get("end")))
    return "\n".join(each for each in found if each)


def _differs(where: str, recorded: object, now: object) -> str:
    if recorded == now:
        return ""
    before, after = (json.dumps(each, ensure_ascii=False, indent=2).splitlines() for each in (recorded, now))
    return "\n".join([where, *unified_diff(before, after, "recorded", "now", n=2, lineterm="")])

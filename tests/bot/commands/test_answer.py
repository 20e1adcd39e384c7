"""`klartext answer`: the batch door to the assistant, as a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot import Assistant
from tests.conftest import Run

KEYS = [
    "question",
    "lang",
    "decision",
    "pair_id",
    "score",
    "candidates",
    "answer",
    "method",
    "catalog",
    "sample",
    "elapsed_ms",
]

pytestmark = pytest.mark.usefixtures("shipped")  # trained once, before the first process needs it


def _records(klartext: Run, *args: str | Path, stdin: bytes | str = b"") -> list[dict[str, Any]]:
    done = klartext("answer", *args, stdin=stdin.encode() if isinstance(stdin, str) else stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]


def _questions(records: Sequence[dict[str, Any]]) -> list[str]:
    return [record["question"] for record in records]


def test_one_record_per_question_in_order_without_blank_lines(klartext: Run, shipped: Assistant) -> None:
    stdin = "Tut das weh?\n\n   \nWas kostet das?\r\nDoes it hurt?\nxqzwv\nDeo vorher?"

    records = _records(klartext, stdin=stdin)

    assert _questions(records) == ["Tut das weh?", "Was kostet das?", "Does it hurt?", "xqzwv", "Deo vorher?"]
    assert [record["lang"] for record in records] == ["de", "de", "en", "de", "de"]
    assert [record["pair_id"] for record in records if record["decision"] == "answered"][:2] == ["pain", "costs"]
    for record in records:
        assert [key for key in record if key not in ("choices", "flag", "reason")] == KEYS
        assert (record["method"], record["catalog"], record["sample"]) == ("hybrid", shipped.catalog("de").ref, True)
        _check_candidates(record, shipped)


def _check_candidates(record: dict[str, Any], shipped: Assistant) -> None:
    scores = [candidate["score"] for candidate in record["candidates"]]
    catalog = shipped.catalog(record["lang"])
    assert len(scores) >= 3
    assert scores == sorted(scores, reverse=True)
    assert record["score"] == scores[0]
    assert all(0 <= score <= 1 for score in scores)
    assert {candidate["pair_id"] for candidate in record["candidates"]} <= set(catalog.by_id)
    if record["decision"] == "answered":
        assert record["pair_id"] == record["candidates"][0]["pair_id"]
        assert record["answer"] == catalog.pair(record["pair_id"]).answer
    else:
        assert (record["pair_id"], record["answer"]) == (None, None)


def test_json_lines_carry_their_language(klartext: Run) -> None:
    stdin = '{"question": "implants?", "lang": "en"}\n{"question": "weh?"}\n{not json}\n{"question": "pain", "lang": "auto"}'

    records = _records(klartext, "--lang", "de", stdin=stdin)

    assert [(record["question"], record["lang"]) for record in records] == [
        ("implants?", "en"),
        ("weh?", "de"),
        ("{not json}", "de"),
        ("pain", "en"),
    ]


def test_a_file_is_read_as_standard_input_is(klartext: Run, tmp_path: Path) -> None:
    file = tmp_path / "questions.txt"
    file.write_bytes(b"\xef\xbb\xbfTut das weh?\r\n\r\nweh\xff?\r\nzwei\xe2\x80\xa8Zeilen\r\n")

    from_file = _records(klartext, file)
    from_pipe = _records(klartext, stdin=file.read_bytes())

    assert _questions(from_file) == ["Tut das weh?", "weh\ufffd?", "zwei\u2028Zeilen"]
    # Questions from a file are scored together, and sums in another order differ in the last digits.
    for one, other in zip(from_file, from_pipe, strict=True):
        assert one["score"] == pytest.approx(other["score"], abs=2e-3)
        volatile = {"elapsed_ms": 0, "score": 0, "candidates": 0}
        assert {**one, **volatile} == {**other, **volatile}


def test_over_long_and_hostile_questions_are_declined_not_fatal(klartext: Run) -> None:
    deep = '{"a":' * 20_000
    lines = ["Wie lange dauert das? " * 60, deep, '{"question": "\\ud800 ok"}', '{"question": "\\u0000"}', "😢"]

    records = _records(klartext, "--lang", "de", stdin="\n".join(lines))

    assert [record["decision"] for record in records][:2] == ["declined", "declined"]
    assert records[3]["decision"] == "declined"
    assert _questions(records) == [lines[0], deep, "\ud800 ok", "\x00", "😢"]
    assert all(len(record["candidates"]) >= 3 for record in records)


@pytest.mark.proof
def test_the_published_method_reports_cosines(klartext: Run, shipped: Assistant) -> None:
    canonical = shipped.catalog("de").pair("costs").question

    records = _records(
        klartext, "--method", "cosine", "--lang", "de", stdin=f"{canonical}\nKosten?\nQuark mit roten Erdbeeren\n"
    )

    assert records[0]["decision"] == "answered"
    assert (records[0]["pair_id"], records[0]["score"]) == ("costs", pytest.approx(1.0, abs=1e-3))
    assert [record["decision"] for record in records[1:]] == ["declined", "declined"]
    assert {record["method"] for record in records} == {"cosine"}


def test_an_explanation_is_added_on_request(klartext: Run) -> None:
    (record,) = _records(klartext, "--explain", stdin="Tut das weh?")

    explain = record["explain"]
    assert [pair["pair_id"] for pair in explain["pairs"]] == [c["pair_id"] for c in record["candidates"][:3]]
    assert set(explain["pairs"][0]["views"]) == {"ridge", "dense", "chars", "bm25"}
    assert explain["nearest"][0]["similarity"] > 0.5
    assert 0 <= explain["none_of_these"] <= 1


def test_an_emergency_is_urgent_and_still_ranked(klartext: Run) -> None:
    (record,) = _records(klartext, stdin="Ich kriege keine Luft mehr")

    assert (record["decision"], record["flag"], record["answer"]) == ("urgent", "breathing", None)
    assert len(record["candidates"]) >= 3


def test_no_question_gives_no_record(klartext: Run) -> None:
    assert _records(klartext, stdin=b"\n\n  \n") == []


@pytest.mark.proof
def test_every_question_from_a_pipe_is_answered_as_it_comes(shipped_data: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "from bot.commands.main import main; main()", "answer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "KLARTEXT_DATA": str(shipped_data)},
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        for question in ("Tut das weh?", "Was kostet das?"):
            process.stdin.write(f"{question}\n".encode())
            process.stdin.flush()
            # Would wait for ever if answers came only at the end of the input.
            assert json.loads(process.stdout.readline())["question"] == question
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


@pytest.mark.proof
def test_a_reader_that_has_seen_enough_causes_no_complaint(shipped_data: Path) -> None:
    command = f"yes 'Tut das weh?' | head -n 50 | {sys.executable} -c 'from bot.commands.main import main; main()' answer | head -n 1"

    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        env={**os.environ, "KLARTEXT_DATA": str(shipped_data)},
        check=False,
    )

    assert json.loads(done.stdout)["question"] == "Tut das weh?"
    assert done.stderr == b""

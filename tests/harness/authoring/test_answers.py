"""`klartext author answers`: a table of topics and documents become drafts of a catalog."""

from __future__ import annotations

import json
import re
from pathlib import Path

from bot import load_catalog
from harness.authoring.evidence.topics import read_topics
from tests.harness.authoring.authoring import answer_waiting, author

LEAFLET = """# Giving blood

## How long

The blood flows for about 10 minutes. Plan one hour for the whole visit.

## Afterwards

Rest for a quarter of an hour. Leave out sport until the next day.
"""
TOPICS = "id\tquestion_en\tscope note\nduration\tHow long does it take?\tneedle, whole visit\nparking\tCan I park?\t\n"
OFF = ("rewrite", "expand", "relevance", "usefulness")


def reply(id_: str, prompt: str) -> str:
    """Answer as a model that uses what the leaflet says, and finds nothing of parking in it."""
    topic, step = id_.split("/")[:2]
    if step == "facets":
        return json.dumps({"facets": ["needle in arm", "Whole visit", "!"]})
    if step == "support":
        return "\n".join(f"{number}: Yes" for number in re.findall(r"^(\d+): ", prompt, re.MULTILINE))
    if topic == "parking":
        return json.dumps(
            {"reasoning": "-", "short_answer": [], "answer": [], "easy_answer": [], "missing": ["parking"]}
        )
    number = int(next(line for line in prompt.splitlines() if "10 minutes" in line).partition(":")[0])
    said = [{"text": "The blood flows for about 10 minutes.", "segments": [number]}]
    return json.dumps({"reasoning": "-", "short_answer": said, "answer": said, "easy_answer": said, "missing": []})


def test_topics_become_drafts_with_sources_and_facets_and_nothing_is_written_over(tmp_path: Path) -> None:
    (sources := tmp_path / "sources").mkdir()
    (sources / "leaflet.md").write_text(LEAFLET, encoding="utf-8")
    (topics := tmp_path / "topics.tsv").write_text(TOPICS, encoding="utf-8")
    catalog, out, answers = tmp_path / "blood", tmp_path / "work", tmp_path / "answers.jsonl"
    off: list[str | Path] = [word for part in OFF for word in ("--without", part)]
    asked = ["answers", "--catalog", catalog, "--lang", "en", "--topics", topics, "--sources", sources, *off]
    asked += ["--out", out]

    done = author(*asked)
    for _ in range(4):
        if done.exit_code == 1 and "prompt" in done.stdout:
            answer_waiting(out, reply, answers)
            done = author(*asked, "--answers", answers)

    assert done.exit_code == 0, done.output
    assert "parking: no draft (not in the documents: parking)." in done.stdout
    assert "1 draft new in" in done.stdout
    (pair,) = load_catalog(catalog, "en").pairs
    assert (pair.id, pair.question, pair.review.status) == ("duration", "How long does it take?", "draft")
    assert pair.facets == ("needle-in-arm", "whole-visit")
    assert (pair.sources[0].title, pair.sources[0].checked) == ("Giving blood", None)
    assert "10 minutes" in (pair.sources[0].passage or "")
    assert "The blood flows" in (out / "duration" / "result.md").read_text(encoding="utf-8")

    file = catalog / "en.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("about 10", "some 10"), encoding="utf-8")
    again = author(*asked)
    assert "0 drafts new" in again.stdout
    assert "some 10 minutes" in file.read_text(encoding="utf-8")


def test_a_table_of_topics_may_be_stored_as_excel_does(tmp_path: Path) -> None:
    (topics := tmp_path / "topics.csv").write_bytes("id;frage;scope\ndauer;Wie lange für Männer?;\n".encode("cp1252"))

    assert [(each.id, each.question) for each in read_topics(topics, "de")] == [("dauer", "Wie lange für Männer?")]


def test_a_table_of_topics_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    for text, said in (
        ("name\tquestion\nx\tWhat?\n", "It needs id and question"),
        ("id\tquestion\nHow long\tWhat?\n", "topics.tsv:2: the id 'How long' or its question is none"),
        ("id\tquestion\nx\tWhat?\nx\tWhen?\n", "topics.tsv:3: the id 'x' comes twice"),
    ):
        (topics := tmp_path / "topics.tsv").write_text(text, encoding="utf-8")
        asked = (
            "--catalog",
            tmp_path / "c",
            "--topics",
            topics,
            "--sources",
            "mammography-en",
            "--out",
            tmp_path / "w",
        )
        refused = author("answers", "--lang", "en", *asked)
        assert refused.exit_code == 2
        assert said in refused.output

"""Who accepts a summary by name has seen that text: it becomes final in a later run than the one that made it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from bot import Settings, make_summaries
from bot.ports import StoredConversation
from bot.wiring import make_records, migrate_database
from harness.authoring.discussion.composition import Authorship, composition_of
from harness.authoring.discussion.conversation import read_conversation
from harness.authoring.discussion.texts import load_texts
from tests.harness.authoring.authoring import RECORDED, answer_waiting, author

SUMMARY = RECORDED / "discussion-summary-de"
CONVERSATION, DISCUSSION, FINAL = (SUMMARY / name for name in ("conversation.json", "discussion.jsonl", "final.jsonl"))
NAMED = ("--accepted-by", "Dr. Eva Beispiel")
UNSEEN = "KEIN Marcumar. Diagnose: BI-RADS 5."
READ = "then give the same command with `--accepted-by NAME`"


def summary(tmp_path: Path, *options: str | Path) -> Result:
    return author("discuss", "summary", CONVERSATION, *options, environ={"KLARTEXT_DATA": str(tmp_path / "data")})


def edited(tmp_path: Path, old: str, new: str) -> Path:
    """The recorded final text with other words in it."""
    text = FINAL.read_text(encoding="utf-8")
    assert old in text
    (file := tmp_path / "edited.jsonl").write_text(text.replace(old, new), encoding="utf-8")
    return file


def folder_of(tmp_path: Path) -> Path:
    (folder,) = (tmp_path / "data" / "summaries").iterdir()
    return folder


def composition(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder_of(tmp_path) / "composition.json").read_text(encoding="utf-8"))
    return found


def test_the_run_that_makes_a_text_shows_it_and_only_the_next_accepts_it(tmp_path: Path) -> None:
    first = summary(tmp_path, "--accept", "all", "--answers", DISCUSSION, "--answers", FINAL, *NAMED)

    assert first.exit_code == 2
    assert "This text has not been shown before" in first.stderr
    assert READ in first.stderr
    assert "## Text" in first.stdout
    assert "attester" not in composition(tmp_path)
    assert composition(tmp_path)["status"] == "preliminary"

    second = summary(tmp_path, "--accept", "all", *NAMED)

    assert second.exit_code == 0, second.output
    assert composition(tmp_path)["attester"][0]["party"] == {"display": "Dr. Eva Beispiel"}


def test_what_is_inserted_into_a_section_that_no_line_names_is_put_back(tmp_path: Path) -> None:
    evil = edited(tmp_path, "## Verneint\\n", f"## Verneint\\n{UNSEEN} ")
    options = ("--accept", "all", "--answers", DISCUSSION, "--answers", evil)

    assert summary(tmp_path, *options, *NAMED).exit_code == 2
    assert "Put back as it was: Verneint" in (folder_of(tmp_path) / "result.md").read_text(encoding="utf-8")
    assert summary(tmp_path, *NAMED).exit_code == 0
    assert UNSEEN not in str(composition(tmp_path))
    assert composition(tmp_path)["status"] == "final"


def test_an_answer_that_is_edited_between_shown_and_accepted_is_noticed(tmp_path: Path) -> None:
    assert summary(tmp_path, "--accept", "all", "--answers", DISCUSSION, "--answers", FINAL).exit_code == 0
    answers = folder_of(tmp_path) / "answers.jsonl"
    text = answers.read_text(encoding="utf-8")
    assert "Eliquis 5 mg" in text
    answers.write_text(text.replace("Eliquis 5 mg", "Eliquis 50 mg"), encoding="utf-8")

    for options in ((), ("--send", "final")):
        answers.write_text(answers.read_text(encoding="utf-8").replace("0 mg", "00 mg"), encoding="utf-8")
        refused = summary(tmp_path, *NAMED, *options)
        assert refused.exit_code == 2
        assert "This text is not the one that was shown before" in refused.stderr
        assert composition(tmp_path)["status"] == "preliminary"


def test_a_summary_says_whether_it_goes_with_its_conversation(tmp_path: Path) -> None:
    settings = Settings.from_environment({"KLARTEXT_DATA": str(tmp_path / "data")})
    said = "does not have this conversation, so"
    answers = ("--accept", "all", "--answers", DISCUSSION, "--answers", FINAL)
    alone = summary(tmp_path, *answers)
    assert said in alone.stderr
    assert not (tmp_path / "data" / "klartext.db").exists()
    assert not make_summaries(settings).goes_by_itself(folder_of(tmp_path))

    conversation = read_conversation(CONVERSATION)
    migrate_database(settings)
    make_records(settings).begin(StoredConversation(conversation.id, datetime(2026, 11, 26, tzinfo=UTC), "de", "page"))

    assert said not in summary(tmp_path).stderr
    assert make_summaries(settings).goes_by_itself(folder_of(tmp_path))


def test_a_folder_of_another_conversation_is_refused_and_goes_with_its_own_only(tmp_path: Path) -> None:
    assert summary(tmp_path, "--accept", "all", "--answers", DISCUSSION, "--answers", FINAL).exit_code == 0
    marker = (folder_of(tmp_path) / "conversations.json").read_text(encoding="utf-8")
    record = json.loads(CONVERSATION.read_text(encoding="utf-8"))
    (other := tmp_path / "b.json").write_text(json.dumps({**record, "id": "b" * 32}), encoding="utf-8")

    refused = author(
        *("discuss", "summary", other, "--out", folder_of(tmp_path)), environ={"KLARTEXT_DATA": str(tmp_path / "data")}
    )

    assert refused.exit_code == 2
    assert "is about something else. Leave `--out` out" in refused.stderr
    assert (folder_of(tmp_path) / "conversations.json").read_text(encoding="utf-8") == marker


def test_no_preliminary_summary_takes_the_place_of_a_final_one_from_another_folder(tmp_path: Path) -> None:
    made = ("--accept", "all", "--answers", DISCUSSION, "--answers", FINAL)
    assert summary(tmp_path, *made).exit_code == 0
    make_summaries(Settings(tmp_path / "data")).note_sent(
        folder_of(tmp_path), status="final", at="2026-11-26", host="fhir.example"
    )

    elsewhere = ("--out", tmp_path / "elsewhere", "--patient-text-to-file", "--send", "preliminary")
    refused = author(
        *("discuss", "summary", CONVERSATION, *made, *elsewhere),
        environ={"KLARTEXT_DATA": str(tmp_path / "data"), "KLARTEXT_FHIR_URL": "http://127.0.0.1:9/fhir"},
    )

    assert refused.exit_code == 2
    assert "A final summary of this conversation has been sent." in refused.stderr.splitlines()[-1]


def test_a_composition_is_in_the_language_of_its_text() -> None:
    sections = load_texts("en").tasks["summary"].sections[:1]
    authorship = Authorship(["m"], datetime(2026, 11, 26, tzinfo=UTC))

    made = composition_of(
        read_conversation(CONVERSATION), sections, {sections[0].key: "Takes Eliquis."}, authorship, "en"
    )

    assert (made["language"], made["title"]) == ("en", "Summary of the conversation before the exam")
    assert "not checked by a clinician" in made["section"][0]["text"]["div"]


def test_another_choice_of_lines_is_another_text(tmp_path: Path) -> None:
    assert summary(tmp_path, "--accept", "all", "--answers", DISCUSSION, "--answers", FINAL).exit_code == 0

    refused = summary(tmp_path, "--accept", "none", *NAMED)

    assert refused.exit_code == 2
    assert READ in refused.stderr
    assert summary(tmp_path, *NAMED).exit_code == 0


@pytest.fixture
def unasked(tmp_path: Path) -> Path:
    """The data of a summary whose accepted line names no section, so that any may change: one has."""
    titles = ("Person und Umstände", "Anliegen", "Angegeben", "Verneint", "Offen", "Vorgeschichte")
    first = "\n".join(f"## {title}\nText." for title in titles)

    def reply(id_: str, _: str) -> str:
        if id_.startswith(("initial", "final")):
            return first if id_ == "initial" else first.replace("Verneint\nText.", f"Verneint\n{UNSEEN}")
        if "researcher" in id_:
            return '[RESPONSE: "Bitte kürzen."]' if "turn/1/" in id_ else "[STOP]"
        return '[RESPONSE: "Ja."] [SCRATCHPAD: "Kürzen."]'

    options: tuple[str | Path, ...] = ("--accept", "all", "--patient-text-to-file")
    while (done := summary(tmp_path, *options)).exit_code == 1:
        folder, answers = folder_of(tmp_path), tmp_path / "answers.jsonl"
        assert answer_waiting(folder, reply, answers) > 0
        options = (*options[:3], "--answers", answers)
    assert done.exit_code == 0, done.output
    return tmp_path


def test_a_text_with_a_section_that_changed_unasked_is_accepted_by_who_says_so_only(unasked: Path) -> None:
    refused = summary(unasked, *NAMED)

    assert refused.exit_code == 2
    assert "Changed though no accepted line names it: Verneint." in refused.stderr
    assert composition(unasked)["status"] == "preliminary"
    taken = summary(unasked, *NAMED, "--keep-unasked")
    assert taken.exit_code == 0, taken.output
    assert composition(unasked)["status"] == "final"

"""`klartext qa`: commands for curators."""

import csv
import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot import Settings
from bot.commands.qa import qa
from bot.outbox_ports import pseudonym
from bot.ports import Exchange, StoredConversation, StoredFlag, StoredTurn
from bot.testing import write_small_catalog
from bot.wiring import make_records
from tests.bot.adapters.test_sql_records import NOW
from tests.conftest import Run


def _run(*args: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(qa, [str(arg) for arg in args])
    return result.exit_code, result.stdout


def test_list_shows_every_pair_of_every_language(small_folder: Path) -> None:
    code, out = _run("list", small_folder)

    assert code == 0
    assert out.splitlines()[0] == "small@1 (de), 3 pairs"
    assert [line.split()[:4] for line in out.splitlines()[1:4]] == [
        ["pain", "draft", "4", "variants"],
        ["costs", "draft", "4", "variants"],
        ["duration", "draft", "4", "variants"],
    ]
    assert "small@1 (en), 3 pairs" in out


@pytest.fixture
def plain_folder(tmp_path: Path) -> Path:
    """A catalog whose easy answers are easy."""
    folder = write_small_catalog(tmp_path / "catalog", languages=["de"])
    text = (folder / "de.yaml").read_text(encoding="utf-8")
    (folder / "de.yaml").write_text(re.sub("easy_answer: .*", "easy_answer: Es geht rasch.", text), encoding="utf-8")
    return folder


def test_lint_prints_findings_and_fails_on_errors(plain_folder: Path) -> None:
    text = (plain_folder / "de.yaml").read_text(encoding="utf-8")
    (plain_folder / "de.yaml").write_text(text.replace("- weh?", "- Kosten??"), encoding="utf-8")

    code, out = _run("lint", plain_folder)

    assert code == 1
    assert "error: [costs] The variant 'kosten?' repeats 'Kosten??' of the pair pain. Remove one of them." in out
    assert out.splitlines()[-1] == f"{plain_folder}: 1 errors, 15 warnings, 3 notes"
    assert "Draft" not in out


def test_lint_passes_on_warnings_and_shows_notes_on_request(plain_folder: Path) -> None:
    code, out = _run("lint", plain_folder, "--verbose")

    assert code == 0
    assert out.splitlines()[-1] == f"{plain_folder}: 0 errors, 15 warnings, 3 notes"
    assert "Draft: shown in sample mode only" in out


def test_lint_says_which_variants_nobody_is_ever_answered_by(plain_folder: Path) -> None:
    text = (plain_folder / "de.yaml").read_text(encoding="utf-8")
    danger = "- Mir schwillt die Zunge an, was soll ich tun?"
    (plain_folder / "de.yaml").write_text(text.replace("- weh?", danger), encoding="utf-8")

    code, out = _run("lint", plain_folder, "--verbose")

    assert code == 0
    assert "[pain] The variant 'Mir schwillt die Zunge an, was soll ich tun?' raises the alarm (allergy)." in out
    assert "variants raise the alarm, the first in line" in out


def test_import_says_what_it_wrote(tmp_path: Path) -> None:
    file = tmp_path / "questions.csv"
    file.write_text("pair_id,text\npain,Tut es weh?\npain,weh?\n,Wetter?\n")

    code, out = _run("import", file, "--out", tmp_path / "my.catalog", "--lang", "de")

    assert code == 0
    assert out.splitlines() == [
        f"{tmp_path / 'my.catalog'}: 1 pairs, 1 variants, 1 background questions",
        "1 pairs have a placeholder instead of an answer and stay drafts.",
    ]
    assert _run("list", tmp_path / "my.catalog")[1].startswith("my-catalog@1 (de), 1 pairs")


def test_import_gives_the_catalog_the_wanted_name(tmp_path: Path) -> None:
    file = tmp_path / "questions.csv"
    file.write_text("pair_id,text,answer\npain,Does it hurt?,No.\n")

    code, out = _run("import", file, "--out", tmp_path / "out", "--lang", "en", "--name", "Knee MRI")

    assert (code, len(out.splitlines())) == (0, 1)
    assert _run("list", tmp_path / "out")[1].startswith("knee-mri@1 (en)")


@pytest.mark.parametrize("args", [["--lang", "de"], ["--lang", "en", "--name", "x"]])
def test_a_bad_import_writes_nothing(klartext: Run, tmp_path: Path, args: list[str]) -> None:
    file = tmp_path / "questions.csv"
    file.write_bytes(b"pair_id,text\npain,\xff\n")

    done = klartext("qa", "import", file, "--out", tmp_path / "out", *args)

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"klartext: ")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A data folder with one question of each state that is open, and one that is not."""
    records = make_records(Settings(data=tmp_path))
    records.begin(StoredConversation("c1", NOW, "de", "terminal"))
    turns = [("Quark?", "declined", None), ("=1+1 Kosten?", "clarify", None), ("weh?", "answered", "pain")]
    for number, (question, decision, pair_id) in enumerate([*turns, ("Dauer?", "answered", "duration")], 1):
        turn = StoredTurn("c1", NOW + timedelta(days=number), "de", question, decision, pair_id, 0.1, "small@1")
        records.add_turn(replace(turn, exchange=Exchange(number, f"t{number}", question, "{}", "{}")))
    records.flag("c1", StoredFlag("t3", "wrong", "", NOW))
    records.flag("c1", StoredFlag("t3", "helpful", "", NOW))
    records.flag("c1", StoredFlag("t1", "complicated", "", NOW))
    records.close()  # type: ignore[attr-defined]
    return tmp_path


def test_inbox_lists_what_was_not_answered_with_its_states_and_counts(asked: Path) -> None:
    code, out = _run("inbox", "--data", asked)

    name = pseudonym("c1")
    assert code == 0
    assert [" ".join(line.split()) for line in out.splitlines()] == [
        f"1 2026-11-02 12:30 UTC de {name} unanswered, flagged complicated Quark?",
        f"2 2026-11-03 12:30 UTC de {name} asked back =1+1 Kosten?",
        f"3 2026-11-04 12:30 UTC de {name} flagged wrong: pain weh?",
        "3 open, 1 unanswered, 1 flagged complicated, 1 asked back, 1 flagged wrong",
    ]


def test_inbox_since_a_moment_as_json_and_as_a_table_without_formulas(asked: Path) -> None:
    table = asked / "inbox.csv"

    code, out = _run("inbox", "--data", asked, "--since", "2026-11-03T00:00Z", "--csv", table, "--json")

    assert code == 0
    assert [(each["id"], each["states"], each["pair_id"]) for each in map(json.loads, out.splitlines())] == [
        (2, ["asked back"], ""),
        (3, ["flagged wrong"], "pain"),
    ]
    assert table.stat().st_mode & 0o777 == 0o600
    with table.open(encoding="utf-8", newline="") as file:
        assert [(row["id"], row["question"]) for row in csv.DictReader(file)] == [("2", "'=1+1 Kosten?"), ("3", "weh?")]


def test_inbox_refuses_a_since_that_is_no_moment(klartext: Run, asked: Path) -> None:
    done = klartext("qa", "inbox", "--since", "gestern", "--data", asked, environ={"KLARTEXT_DATABASE_URL": ""})

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"klartext: --since is 'gestern', which is no moment. Write it as in")


@pytest.fixture
def personal(asked: Path) -> Path:
    """The data folder with three more questions: two that are the same, and what they tell of the patient."""
    records = make_records(Settings(data=asked))
    for number, question in enumerate(
        ["Ich heisse Lena Schmitz, gibt es Kaffee?", "ich heisse mehmet huber gibt es kaffee", "Darf mein Hund mit?"], 5
    ):
        turn = StoredTurn("c1", NOW + timedelta(days=number), "de", question, "declined", None, 0.1, "small@1")
        records.add_turn(replace(turn, exchange=Exchange(number, f"t{number}", question, "{}", "{}")))
    records.close()  # type: ignore[attr-defined]
    return asked


def test_inbox_scrubbed_shows_marks_for_personal_data_everywhere(personal: Path) -> None:
    table = personal / "inbox.csv"

    result = CliRunner().invoke(qa, ["inbox", "--scrubbed", "--csv", str(table), "--data", str(personal)])

    assert result.exit_code == 0
    assert "Ich heisse [Name], gibt es Kaffee?" in result.stdout
    assert "Schmitz" not in result.stdout + table.read_text(encoding="utf-8")
    assert "huber" not in result.stdout + table.read_text(encoding="utf-8")
    assert result.stderr == "Scrubbed by rules, read before you use it.\n"


@pytest.mark.proof
def test_inbox_clusters_shows_a_line_a_group_with_the_pair_that_fits(personal: Path, few_alarm_examples: None) -> None:
    folder = write_small_catalog(personal / "catalog", languages=["de"])
    options = ("--scrubbed", "--clusters", "--catalog", folder, "--data", personal)

    code, out = _run("inbox", *options)
    groups = [json.loads(line) for line in _run("inbox", *options, "--json")[1].splitlines()]

    assert code == 0
    assert out.splitlines()[0].split()[:2] == ["2", "de"]
    assert out.splitlines()[-1].startswith("6 open, ")
    assert [5, 6] in [sorted(each["ids"]) for each in groups]
    assert sorted(id_ for each in groups for id_ in each["ids"]) == [1, 2, 3, 5, 6, 7]
    assert {each["pair_id"] for each in groups} <= {"pain", "costs", "duration"}


def test_scrub_reports_recall_by_kind_and_what_is_taken_from_clean_questions(tmp_path: Path) -> None:
    clean = tmp_path / "clean.txt"
    clean.write_text("Does it hurt?\n\nI met John Smith\n", encoding="utf-8")

    code, out = _run("scrub", "--lang", "en", "--clean", clean)

    assert code == 0
    assert out.splitlines()[0] == "en: 300 made-up questions with personal data"
    assert out.splitlines()[-1] == "2 questions without: 1 removals, 50.0 in 100 questions"


@pytest.mark.proof
def test_clusters_reports_on_a_file_of_questions_and_refuses_others(klartext: Run, tmp_path: Path) -> None:
    suite = tmp_path / "questions.jsonl"
    texts = [("park", "Wo kann ich parken?"), ("park", "wo parke ich"), ("dog", "Darf der Hund mit?")]
    lines = [json.dumps({"text": text, "lang": "de", "pair_id": pair}) for pair, text in texts]
    suite.write_text("\n".join(lines), encoding="utf-8")
    bad = tmp_path / "bad.jsonl"
    bad.write_text("[]\n", encoding="utf-8")

    code, out = _run("clusters", suite)
    done = klartext("qa", "clusters", bad)

    assert (code, out.splitlines()[:2]) == (0, ["de:", "3 questions, 2 things asked"])
    assert done.returncode == 2
    assert done.stderr.decode().endswith("line 1: an object with `text` and `lang` is wanted.\n")

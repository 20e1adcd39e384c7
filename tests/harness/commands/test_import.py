"""Other people's test questions become a suite that runs and counts like any other."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.commands.qa import qa
from harness.patients.suites import load_suite
from tests.harness.conftest import Command
from tests.harness.inprocess import harness

TRAIN = [
    ("pay", "how do I pay my bill"),
    ("pay", "pay the bill please"),
    ("lost", "I lost my card"),
    ("lost", "my card is gone"),
    ("", "who won the match"),
]
TEST = [("pay", "let me pay that old bill"), ("lost", "the card I had is gone"), ("", "how tall is the tower")]
COMMUTER = """\
id: commuter
literacy: {health: middle, language: native}
languages:
  en:
    title: Commuter in a hurry
    description: On the way to work, one thumb, few words, no greeting.
    impersonation: You are on a crowded tram and type with one thumb. You ask in a few words what you must know now.
    targets: {words: [2, 12], reading_ease: [50, 130], jargon_share: [0.0, 0.1]}
"""


def _write(path: Path, rows: list[tuple[str, str]]) -> Path:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("pair_id", "text"), *rows])
    return path


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    result = CliRunner().invoke(
        qa,
        ["import", str(_write(tmp_path / "train.csv", TRAIN)), "--out", str(tmp_path / "bank"), "--lang", "en"],
    )
    assert result.exit_code == 0, result.output
    return tmp_path / "bank"


def test_an_imported_suite_is_run_and_counted(command: Command, catalog: Path, tmp_path: Path) -> None:
    questions = _write(tmp_path / "test.csv", TEST)
    suite, out = tmp_path / "suite", tmp_path / "run"

    imported = command(
        "suite", "import", questions, "--out", suite, "--lang", "en", "--catalog", catalog, "--by", "person"
    )
    ran = command("run", "--suite", suite, "--catalog", catalog, "--out", out)

    assert imported.stdout.strip() == f"{suite}: 2 questions, 1 out of scope"
    assert ran.returncode == 0, ran.stderr
    total = json.loads((out / "summary.json").read_text())["total"]
    assert (total["n"], total["top1"]) == (2, 1.0)
    assert [(q.pair_id, q.kind, q.source.kind) for q in load_suite(suite).questions] == [
        ("pay", "paraphrase", "person"),
        ("lost", "paraphrase", "person"),
        (None, "novel", "person"),
    ]


def test_a_suite_for_another_catalog_is_refused(command: Command, catalog: Path, tmp_path: Path) -> None:
    questions = _write(tmp_path / "test.csv", [("loan", "can I get a loan")])

    result = command(
        "suite", "import", questions, "--out", tmp_path / "s", "--lang", "en", "--catalog", catalog, "--by", "model"
    )

    assert result.returncode == 2
    assert "asks for 1 pair that" in result.stderr
    assert "(loan); like 'loan' it has " in result.stderr
    assert not (tmp_path / "s").exists()


def test_urgent_messages_are_counted_apart_and_reach_the_gate(command: Command, catalog: Path, tmp_path: Path) -> None:
    questions = _write(tmp_path / "test.csv", [*TEST, ("urgent", "I have crushing chest pain and cannot breathe")])
    suite, out = tmp_path / "suite", tmp_path / "run"
    (tmp_path / "gates.yaml").write_text("gates: {urgent_recall: {min: 1.0, by: estimate, least: 1}}", encoding="utf-8")

    imported = command(
        "suite", "import", questions, "--out", suite, "--lang", "en", "--catalog", catalog, "--by", "person"
    )
    ran = command("run", "--suite", suite, "--catalog", catalog, "--out", out)
    gate = command("gate", out, "--config", tmp_path / "gates.yaml", "--json")

    assert imported.stdout.strip() == f"{suite}: 2 questions, 1 out of scope, 1 urgent"
    assert ran.returncode == 0, ran.stderr
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["total"]["n"], summary["urgent"]) == (2, {"n": 1, "found": 1})
    (recall,) = [row for row in json.loads(gate.stdout)["gates"] if row["name"] == "urgent_recall"]
    assert (gate.returncode, recall["status"], recall["value"]) == (0, "pass", "1.000")


def test_questions_may_be_in_the_voice_of_a_vignette(command: Command, catalog: Path, tmp_path: Path) -> None:
    questions = _write(tmp_path / "test.csv", TEST)
    more = ("--lang", "en", "--catalog", catalog, "--by", "person")

    (tmp_path / "commuter.yaml").write_text(COMMUTER, encoding="utf-8")
    mine = ("--vignettes", tmp_path, "--vignette", "commuter")
    named = command("suite", "import", questions, "--out", tmp_path / "suite", *more, *mine)
    refused = command("suite", "import", questions, "--out", tmp_path / "other", *more, "--vignette", "A/B")

    assert named.returncode == 0, named.stderr
    assert {question.vignette for question in load_suite(tmp_path / "suite").questions} == {"commuter"}
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    assert "There is no vignette 'A/B' in en. Known: " in refused.stderr


@pytest.fixture
def imported(small_folder: Path, tmp_path: Path) -> Callable[..., Result]:
    """Import a file of questions for the small catalog."""

    def run(content: bytes, *more: str, name: str = "q.csv") -> Result:
        file = tmp_path / name
        file.write_bytes(content)
        fixed = ("--lang", "de", "--catalog", small_folder, "--by", "person")
        return harness("suite", "import", file, "--out", tmp_path / "suite", *fixed, *more)

    return run


def test_duplicates_are_left_out_and_counted(imported: Callable[..., Result], tmp_path: Path) -> None:
    done = imported(b"pair_id,text\npain,Weh?\npain,Weh?\n,Wetter?\n,Wetter?\n")

    assert done.stdout.strip() == f"{tmp_path / 'suite'}: 1 question, 1 out of scope, 2 duplicates left out"
    assert load_suite(tmp_path / "suite").meta.dropped == {"duplicate": 2}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "q.csv is empty. Its first line must be `pair_id,text`"),
        (b"pair_id,text\npain,Tut\x00 das weh?\n", "q.csv:2 holds the control character U+0000. Remove it."),
        (b"pair_id,text\npain,a\npain,\x1b[31mb\n", "q.csv:3 holds the control character U+001B. Remove it."),
        (b"pair_id,text\npain," + b"x" * 140_000, "q.csv:2 has a cell of more than 131,072 characters"),
    ],
)
def test_what_is_wrong_with_a_file_of_questions_is_one_line(
    imported: Callable[..., Result], tmp_path: Path, content: bytes, said: str
) -> None:
    done = imported(content)

    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert said in done.stderr
    assert not (tmp_path / "suite").exists()


def test_a_control_character_in_a_message_is_named_with_its_line(imported: Callable[..., Result]) -> None:
    done = imported(b"Hallo\nDanke\x07\n", "--kind", "everyday", name="said.txt")

    assert done.exit_code == 2
    assert "said.txt:2: the line holds the control character U+0007; remove it." in done.stderr


def test_a_folder_is_no_file_of_questions(small_folder: Path, tmp_path: Path) -> None:
    fixed = ("--out", tmp_path / "suite", "--lang", "de", "--catalog", small_folder, "--by", "person")
    done = harness("suite", "import", tmp_path, *fixed)

    assert done.exit_code == 2
    assert f"{tmp_path} is a folder. Give a file that ends in .csv" in done.stderr


def test_an_unknown_vignette_is_answered_with_the_nearest_few(imported: Callable[..., Result]) -> None:
    done = imported(b"pair_id,text\npain,Weh?\n", "--vignette", "low-helth-literacy")

    assert done.exit_code == 2
    assert "There is no vignette 'low-helth-literacy' in de. Known: low-health-literacy" in done.stderr
    assert " more: `klartext harness suite vignettes` lists them." in done.stderr
    assert len(done.stderr) < 400

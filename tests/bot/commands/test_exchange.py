"""`klartext qa import` and `qa export` with other assistants' files, as processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.testing import write_small_catalog
from tests.bot.catalog.exchange.samples import DIALOGFLOW, TABLE, write_file, write_zip
from tests.conftest import Run


def test_a_dry_run_says_what_would_be_and_writes_nothing(klartext: Run, tmp_path: Path) -> None:
    agent = write_zip(tmp_path / "agent.zip", DIALOGFLOW)
    folder = write_small_catalog(tmp_path / "small")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}

    done = klartext("qa", "import", agent, "--out", folder, "--add", "--lang", "de", "--lang", "en", "--dry-run")

    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0
    assert lines[:3] == [
        "Dialogflow: 1 pairs in de, 1 variants",
        "Dialogflow: 1 pairs in en, 0 variants",
        "1 background questions, 0 wordings that stood there twice",
    ]
    assert "6 left out, 4 of them parts of conversations" in lines
    assert lines[-1] == "Nothing was written."
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


def test_what_is_imported_is_counted_and_can_be_exported_and_imported_again(klartext: Run, tmp_path: Path) -> None:
    table = write_file(tmp_path / "faq.csv", TABLE)

    done = klartext("qa", "import", table, "--out", tmp_path / "mine", "--lang", "de", "--prefix", "faq-")
    assert (done.returncode, done.stdout.decode().splitlines()) == (
        0,
        [
            f"{tmp_path / 'mine'}: 2 pairs, 2 variants, 0 background questions",
            "1 left out (0 parts of conversations), marks taken off in 0 pairs; `--dry-run` lists them.",
        ],
    )

    done = klartext("qa", "export", tmp_path / "mine", "--format", "rasa", "--out", tmp_path / "bot")
    assert done.stdout.decode().splitlines() == [
        f"{tmp_path / 'bot'}: 2 pairs",
        "This format has no place for sources of 2 pairs.",
    ]
    done = klartext("qa", "import", tmp_path / "bot", "--out", tmp_path / "again", "--lang", "de")
    assert done.stdout.decode().splitlines() == [f"{tmp_path / 'again'}: 2 pairs, 2 variants, 0 background questions"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["import", "faq.csv", "--out", "o", "--lang", "de", "--column", "colour=2"], "no ROLE=NAME"),
        (["import", "faq.csv", "--out", "o", "--lang", "de", "--delimiter", "ab"], "no single character"),
        (["import", "faq.csv", "--out", "o", "--lang", "de", "--encoding", "klingon"], "no encoding 'klingon'"),
        (["import", "faq.csv", "--out", "o", "--lang", "de", "--format", "excel"], "no format 'excel'"),
        (["import", "absent", "--out", "o", "--lang", "de"], "no file or folder 'absent'"),
        (["export", "small", "--format", "xml", "--out", "o"], "no format 'xml' to write"),
        (["export", "small", "--format", "rasa", "--out", "o"], "holds one language"),
    ],
)
def test_what_is_amiss_is_one_line_and_exit_2(
    klartext: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "faq.csv", TABLE)
    write_small_catalog(tmp_path / "small")

    done = klartext("qa", *args)

    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert len(done.stderr.decode().splitlines()) == 1
    assert not (tmp_path / "o").exists()

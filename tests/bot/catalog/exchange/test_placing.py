"""Drafts come into a catalog all at once or not at all, and what is there stays byte for byte."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import pytest

from bot.catalog.catalog import exams_in, load_catalog
from bot.catalog.exchange.exchange import Imported, ReadOptions, read_foreign
from bot.catalog.exchange.expecting import expect
from bot.catalog.exchange.placing import add_drafts, write_catalog
from bot.errors import BadData
from bot.testing import write_small_catalog
from tests.bot.catalog.exchange.samples import BOTPRESS, DIALOGFLOW, write_file, write_zip


@pytest.fixture
def agent(tmp_path: Path) -> Imported:
    return read_foreign(write_zip(tmp_path / "a.zip", DIALOGFLOW), ["de", "en"])


def test_drafts_are_added_after_what_is_there(tmp_path: Path, agent: Imported) -> None:
    folder = write_small_catalog(tmp_path / "small")
    before = {path: path.read_text(encoding="utf-8") for path in folder.glob("*.yaml")}

    add_drafts(agent, folder)

    for path, text in before.items():
        lines = path.read_text(encoding="utf-8").splitlines()
        assert [line for line in text.splitlines() if line not in lines] == []
    german = load_catalog(folder, "de")
    assert [pair.id for pair in german.pairs] == ["pain", "costs", "duration", "faq.pain"]
    assert german.background == ("erzähl einen witz",)
    assert [pair.id for pair in load_catalog(folder, "en").pairs][-1] == "faq.pain"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "small"]


def test_background_of_a_catalog_keeps_its_comments_and_gets_a_group(tmp_path: Path, agent: Imported) -> None:
    folder = write_small_catalog(tmp_path / "small")
    (folder / "background").mkdir()
    own = "catalog: small\nlanguage: de\nquestions:\n  # ours\n  own: [Wetter?, 'erzähl einen witz']\n"
    (folder / "background" / "de.yaml").write_text(own, encoding="utf-8")

    add_drafts(agent, folder)
    assert (folder / "background" / "de.yaml").read_text(encoding="utf-8") == own

    (folder / "background" / "de.yaml").write_text(own.replace("witz", "scherz"), encoding="utf-8")
    add_drafts(read_foreign(tmp_path / "a.zip", ["de"], ReadOptions(prefix="new-")), folder)
    assert load_catalog(folder, "de").background == ("Wetter?", "erzähl einen scherz", "erzähl einen witz")
    assert "# ours" in (folder / "background" / "de.yaml").read_text(encoding="utf-8")


def test_an_id_that_is_taken_refuses_all_and_names_the_way_out(tmp_path: Path, agent: Imported) -> None:
    folder = write_small_catalog(tmp_path / "small")
    add_drafts(agent, folder)
    before = {path: path.read_bytes() for path in folder.rglob("*.yaml")}

    with pytest.raises(BadData, match=r"has 1 of these ids already in 'de' \(faq\.pain\).*--prefix"):
        add_drafts(agent, folder)

    assert {path: path.read_bytes() for path in folder.rglob("*.yaml")} == before


def test_a_language_that_is_not_there_is_refused(tmp_path: Path, agent: Imported) -> None:
    folder = write_small_catalog(tmp_path / "small", languages=["de"])

    with pytest.raises(BadData, match="has no language 'en'"):
        add_drafts(agent, folder)
    assert [pair.id for pair in load_catalog(folder, "de").pairs] == ["pain", "costs", "duration"]


def test_the_report_says_which_ids_clash_what_is_a_near_copy_and_what_lint_would_say(tmp_path: Path) -> None:
    folder = write_small_catalog(tmp_path / "small")
    known = load_catalog(folder, "de").pairs[0]
    qna = [
        {"id": "pain", "data": {"questions": {"de": ["Was ist neu?"]}, "answers": {"de": ["Das."]}}},
        {"id": "other", "data": {"questions": {"de": [f"{known.question.upper()}!"]}, "answers": {"de": ["Ja."]}}},
    ]
    imported = read_foreign(write_file(tmp_path / "q.json", qna), ["de"])

    expected = expect(imported, folder, today=date(2026, 11, 26))

    assert expected.clashes == ("pain (de)",)
    said = f"other (de): {f'{known.question.upper()}!'!r} is nearly {known.question!r} of pain"
    assert [str(each) for each in expected.copies] == [said]
    assert (2, "error", "easy-answer") in expected.findings
    assert next(iter(expected.lines())) == "1 ids are taken: pain (de)"
    assert not list(tmp_path.glob("drafts"))


SWAPPING = """
import sys
from pathlib import Path
from bot.catalog.exchange.placing import _place
folder = Path(sys.argv[1])
print("ready", flush=True)
number = 0
while True:
    number += 1
    _place(folder, {f"{name}.yaml": f"{number}\\n" * 2000 for name in ("de", "en", "background/de")})
"""


@pytest.mark.proof
def test_a_killed_import_leaves_all_of_it_or_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "exams" / "mine"
    folder.mkdir(parents=True)
    (folder / "exam.yaml").write_text("kept")
    rng = random.Random(7)
    seen = set()
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-c", SWAPPING, str(folder)], stdout=subprocess.PIPE)
        with process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            while not (folder / "de.yaml").exists():  # on a busy machine the first import takes longer than that
                time.sleep(0.01)
            time.sleep(0.05 + rng.random() / 20)
            process.send_signal(signal.SIGKILL)
        contents = {
            path.read_text() for path in (folder / "de.yaml", folder / "en.yaml", folder / "background/de.yaml")
        }
        assert len(contents) == 1, "the three files are of different imports"
        (content,) = contents
        assert len(content.splitlines()) == 2000
        assert (folder / "exam.yaml").read_text() == "kept"
        seen.add(content)
    # What the killed left beside it is no exam to anybody.
    assert exams_in(tmp_path / "exams") == {"mine"}


def test_a_new_catalog_names_itself_and_its_drafts(tmp_path: Path) -> None:
    imported = read_foreign(write_file(tmp_path / "q.json", BOTPRESS), ["de", "en"])

    write_catalog(imported, tmp_path / "out", name="praxis")

    assert load_catalog(tmp_path / "out", "en").name == "praxis"
    assert {pair.review.status for pair in load_catalog(tmp_path / "out", "de").pairs} == {"draft"}
    assert load_catalog(tmp_path / "out", "de").pairs == imported.pairs["de"]

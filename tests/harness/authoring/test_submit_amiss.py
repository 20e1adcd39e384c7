"""`klartext author submit` with files that somebody made to mislead, or that are broken."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.editorial.pair_fields import MOST_OTHER
from bot.web.middleware import CONSOLE
from tests.bot.web.staff.consoles import Staff, running_console
from tests.harness.authoring.author import author

PAIR = {"id": "made", "question": "Und?", "answer": "Ja, das geht."}


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    with running_console(tmp_path_factory.mktemp("console")) as running:
        running.person("ada", "curator")
        yield running


def _submit(staff: Staff, file: Path) -> Any:
    data = Path(str(staff.console.tools.settings.data))
    given = ("--by", "ada", "--lang", "de", "--catalog", data / "content")
    return author("submit", file, *given, environ={"KLARTEXT_DATA": str(data)})


def _draft(folder: Path, *pairs: dict[str, Any], **more: Any) -> Path:
    file = folder / "draft.yaml"
    file.write_text(yaml.safe_dump({"pairs": list(pairs), **more}), encoding="utf-8")
    return file


def test_what_no_screen_shows_is_taken_out_of_all_that_is_stored_and_said(staff: Staff, tmp_path: Path) -> None:
    odd = "Ja\x00, das\x1b \u202egeht\u202c \u009bgut\u00ad."
    quoted = {"document": "a\u200b.pdf", "title": "T\x1b", "place": "p\u202e", "text": odd}
    backing = {"field": "answer", "sentence": odd, "quotations": [quoted]}
    pair = {
        **PAIR,
        "question": "Un\u202ed?",
        "answer": odd,
        "variants": [{"text": "Wie\u2066 denn?", "by": {"kind": "person", "name": "A"}}],
        "sources": [{"title": "Leit\u200blinie", "publisher": "X", "year": 2024, "passage": "\x07p"}],
    }
    done = _submit(staff, _draft(tmp_path, pair, drafted_by=["mo\u202edel"], provenance={"made": [backing]}))

    assert done.exit_code == 0, done.output
    assert "pair made: characters that no screen shows were taken out of " in done.stdout
    assert {"question", "answer", "variants", "sources", "provenance", "drafted_by"} <= set(
        done.stdout.splitlines()[1].partition("out of ")[2].rstrip(".").split(", ")
    )
    (draft,) = [each for each in staff.console.tools.workbench.drafts("content") if each.name == "made"]
    assert draft.pair is not None
    assert draft.provenance is not None
    assert draft.pair.answer == draft.provenance.backings[0].sentence == "Ja, das geht gut."
    assert (draft.provenance.written_by, draft.provenance.backings[0].quotations[0].document) == ("model", "a.pdf")
    assert not {*"\x00\x1b\u202e\u202c\u009b\u00ad\u200b\u2066\x07"} & {*repr(draft).encode().decode("unicode_escape")}


def test_markup_and_links_are_said_and_stay(staff: Staff, tmp_path: Path) -> None:
    pair = {**PAIR, "id": "marked", "answer": "Ja, <b>gleich</b>.", "easy_answer": "Siehe www.example.org."}
    done = _submit(staff, _draft(tmp_path, pair))

    assert "pair marked: there is markup or a link in answer, easy_answer; patients would" in done.stdout, done.output
    plain = {**PAIR, "id": "plain", "answer": "Bei < 5 und > 3 Tagen: ja."}
    assert "markup" not in _submit(staff, _draft(tmp_path, plain)).stdout


def test_whom_a_file_names_as_its_writer_is_no_proof(staff: Staff, tmp_path: Path) -> None:
    browser = staff.logged_in("eva", "curator")
    done = _submit(staff, _draft(tmp_path, {**PAIR, "id": "signed"}, drafted_by=["Anna Berg (Oberärztin)"]))
    assert done.exit_code == 0, done.output

    browser.open(f"{CONSOLE}/pairs/signed")
    told = "Handed in by Ada as a file, which names Anna Berg (Oberärztin) as its writer; nobody has checked that."
    assert told in browser.text


@pytest.mark.parametrize(
    ("pairs", "more", "message"),
    [
        ([PAIR, PAIR], {}, "Nothing is stored: the file names the pair 'made' twice."),
        ([{**PAIR, "easy_answer": "x" * 1_900_000}], {}, "is too long in easy_answer: 10,000 characters"),
        ([PAIR], {"drafted_by": ["x" * (MOST_OTHER + 1)]}, "is too long in drafted_by"),
        (
            [PAIR],
            {"provenance": {"made": [{"field": "answer", "sentence": "x" * (MOST_OTHER + 1), "quotations": []}]}},
            "is too long in provenance",
        ),
        ([{**PAIR, "answer": "\u202e"}], {}, "has nothing in answer that a screen shows"),
    ],
)
def test_what_no_console_can_hold_is_one_line(
    staff: Staff, tmp_path: Path, pairs: list[dict[str, Any]], more: dict[str, Any], message: str
) -> None:
    pairs = [{**each, "id": "made"} for each in pairs]
    _refused(_submit(staff, _draft(tmp_path, *pairs, **more)), message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pairs: " + "[" * 20_000, "it is nested too deeply"),
        ("pairs: [", "it is no YAML, line 1"),
        ("a: b: c", "it is no YAML, line 1"),
        ("pairs: \x01", "it is no YAML"),
        ("pairs:\n- id: a\n  checked: 2026-13-45\n", "it holds a value that is none: month"),
    ],
)
def test_a_broken_file_is_one_line(staff: Staff, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "draft.yaml").write_text(text, encoding="utf-8")
    _refused(_submit(staff, tmp_path), message)


def test_a_pipe_is_not_waited_for(staff: Staff, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "draft.yaml")
    _refused(_submit(staff, tmp_path), "it is no regular file")


def test_an_id_that_no_page_can_hold_is_refused(staff: Staff, tmp_path: Path) -> None:
    done = _submit(staff, _draft(tmp_path, {**PAIR, "id": "a" * 5_000}))

    _refused(done, "has an id of 5,000 characters, and 80 are the most")
    assert len(done.stderr) < 300


def _refused(done: Any, message: str) -> None:
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1

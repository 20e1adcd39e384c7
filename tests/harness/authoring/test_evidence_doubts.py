"""What a draft's page and the editor mark though it stands in the documents: strange numbers, many citations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.testing import scripted_endpoint
from bot.web.middleware import CONSOLE
from tests.bot.web.staff.consoles import running_console
from tests.harness.authoring.author import author

SENTENCES = ["Deo stört im Bild.", "Creme stört im Bild.", "Puder stört im Bild.", "Kommen Sie ohne Deo."]
CALL = "Rufen Sie bei Fragen zu Deo sofort 0900-123456 an."
KNOWN = "Fragen zu Deo beantwortet 030 23125 100."
READ = {
    "answer": [
        {"text": "Deo, Creme und Puder stören im Bild.", "segments": [1, 2, 3, 4]},
        {"text": "Kommen Sie ohne Deo.", "segments": [2, 3, 4]},
        {"text": CALL, "segments": [1, 2, 3, 4, 5, 6]},
        {"text": KNOWN, "segments": [1, 2, 3, 4, 5, 6]},
    ]
}


@pytest.mark.parametrize("with_site", [True, False])
def test_the_page_marks_strange_numbers_and_sentences_that_cite_much(tmp_path: Path, with_site: bool) -> None:
    (tmp_path / "docs").mkdir()
    text = "# Deo\n\n" + "\n\n".join(f"## Nummer {n}\n\n{each}" for n, each in enumerate([*SENTENCES, CALL, KNOWN]))
    (tmp_path / "docs" / "a.md").write_text(text, encoding="utf-8")
    (tmp_path / "site.yaml").write_text("phone: 030 23125 100\n", encoding="utf-8")

    with scripted_endpoint(lambda _: json.dumps(READ)) as endpoint:
        environ = {"KLARTEXT_MODEL_URL": endpoint.url, "KLARTEXT_DATA": str(tmp_path / "data")}
        environ |= {"KLARTEXT_SITE": str(tmp_path / "site.yaml")} if with_site else {}
        parts = ("rewrite", "expand", "relevance", "usefulness", "support")
        bare = [word for part in parts for word in ("--without", part)]
        given = ("--question", "Darf ich Deo benutzen?", "--documents", tmp_path / "docs", "--out", tmp_path / "o")
        done = author("draft", *given, *bare, "--model", "scripted", environ=environ)

    assert done.exit_code == 0, done.output
    lines = {line.partition(" [")[0]: line for line in done.stdout.splitlines() if line.startswith("- ")}
    assert lines["- Deo, Creme und Puder stören im Bild."].endswith(
        "[4] **(unchecked)** **(cites 4 segments: compare it with each)**"
    )
    assert lines["- Kommen Sie ohne Deo."].endswith("[4] **(unchecked)**")
    assert "(0900123456 is no telephone number of the site, the catalog or for emergencies: call" in lines[f"- {CALL}"]
    assert ("03023125100 is no telephone number" in lines[f"- {KNOWN}"]) is not with_site


def test_the_editor_notes_a_number_that_nobody_knows(tmp_path: Path) -> None:
    with running_console(tmp_path) as staff:
        browser = staff.logged_in("ada", "curator")
        pair = {"id": "called", "question": "Und?", "answer": CALL, "easy_answer": "Im Notfall: 112 anrufen."}
        (tmp_path / "draft.yaml").write_text(json.dumps({"pairs": [pair]}), encoding="utf-8")
        data = Path(str(staff.console.tools.settings.data))
        given = ("--by", "ada", "--lang", "de", "--catalog", data / "content")
        done = author("submit", tmp_path / "draft.yaml", *given, environ={"KLARTEXT_DATA": str(data)})
        assert done.exit_code == 0, done.output

        browser.open(f"{CONSOLE}/pairs/called")

        assert "0900123456: this number stands neither in what is known of the site nor" in browser.text
        assert browser.text.count("this number stands") == 1

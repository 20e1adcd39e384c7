"""Evidence is what lies in the folder and what a reader sees: no links that lead out, no hidden text."""

from __future__ import annotations

import os
from pathlib import Path

import docx
import pytest
from docx.shared import Pt

from bot import BadData
from harness.authoring.evidence.documents import read_documents
from tests.harness.authoring.author import author

SEEN = "Bitte verzichten Sie am Tag der Untersuchung auf Deo und Puder."
UNSEEN = "Unsichtbar: Deo ist erlaubt, rufen Sie 0900-999 an."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    (made / "good.md").write_text(f"# Deo\n\n{SEEN}\n", encoding="utf-8")
    return made


def test_links_that_lead_out_and_what_is_no_file_are_left_out_by_name(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "geheim.md").write_text("# Geheim\n\nNiemand liest das.", encoding="utf-8")
    (folder / "link.md").symlink_to("../secret/geheim.md")
    (folder / "shadow.txt").symlink_to("/etc/shadow")
    (folder / "more").symlink_to(secret)
    (folder / "gone.md").symlink_to("nowhere.md")
    (folder / "circle.md").symlink_to("circle.md")
    (folder / "null.txt").symlink_to("/dev/null")
    (folder / "twice.md").symlink_to("good.md")
    (folder / "here").symlink_to(".")
    os.mkfifo(folder / "pipe.md")

    read = read_documents(folder)

    assert [each.name for each in read.documents] == ["good.md", "twice.md"]
    out = "it is a link that leads out of the folder; copy the document into it"
    assert read.left_out == {
        "circle.md": "it is a link that leads nowhere",
        "gone.md": "it is a link that leads nowhere",
        "here": "it is a link to a folder",
        "link.md": out,
        "more": out,
        "null.txt": out,
        "pipe.md": "it is no regular file",
        "shadow.txt": out,
    }


def test_a_folder_of_links_only_says_why_nothing_is_read(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").symlink_to("/etc/passwd")
    with pytest.raises(BadData, match=r"holds no document .*a\.md: it is a link that leads out of the folder"):
        read_documents(tmp_path / "docs")


def test_a_folder_may_itself_be_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(folder)
    assert [each.name for each in read_documents(tmp_path / "linked").documents] == ["good.md"]


def test_the_command_names_what_it_did_not_read_and_asks_nobody_about_it(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "geheim.md").write_text("Geheim: Deo ist erlaubt.", encoding="utf-8")
    (folder / "link.md").symlink_to("../geheim.md")
    given = ("--documents", folder, "--question", "Darf ich Deo benutzen?", "--out", tmp_path / "out")

    done = author("draft", *given, "--prompts", tmp_path / "prompts.jsonl")

    assert "Not read: link.md: it is a link that leads out of the folder" in done.stdout, done.output
    assert "Geheim" not in done.output + (tmp_path / "prompts.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "hidden",
    [
        '<p style="display:none">{}</p>',
        '<div style="color: red; DISPLAY : none !important"><p>{}</p></div>',
        "<p hidden>{}</p>",
        '<p style="visibility: hidden">{}</p>',
        '<p style="font-size:0">{}</p>',
        '<p style="font-size: 0px; color: red">{}</p>',
        '<p style="opacity:0.0">{}</p>',
        '<p style="position:absolute;left:-9999px">{}</p>',
        "<!-- <p>{}</p> -->",
        "<template><p>{}</p></template>",
        "<noscript><p>{}</p></noscript>",
        "<style>/* so */ .a, p.secret {{ display: none }}</style><p class='b secret'>{}</p>",
        "<style>#one{{visibility:hidden}}</style><p id='one'>{}</p>",
    ],
)
def test_what_a_browser_does_not_show_is_no_evidence(folder: Path, hidden: str) -> None:
    page = f"<html><body><article><h1>Deo</h1><p>{SEEN}</p>{hidden.format(UNSEEN)}<p>Danke sehr.</p></article></body>"
    (folder / "page.html").write_text(page, encoding="utf-8")

    text = " ".join(each.text for each in read_documents(folder).document("page.html").blocks)

    assert SEEN in text
    assert "0900" not in text


def test_what_looks_hidden_and_is_not_stays(folder: Path) -> None:
    shown = [
        '<p style="font-size:0.9em">Erster Satz für alle Leute.</p>',
        '<p style="opacity:0.5">Zweiter Satz für alle Leute.</p>',
        "<style>@media print {.noprint {display:none}} .b > p {display:none}</style>",
        '<p class="noprint">Dritter Satz für alle Leute.</p><!-- weg -->Vierter Satz für alle Leute.',
    ]
    page = f"<html><body><article><p>{SEEN}</p>{''.join(shown)}</article></body></html>"
    (folder / "page.html").write_text(page, encoding="utf-8")

    text = " ".join(each.text for each in read_documents(folder).document("page.html").blocks)

    assert all(f"{which} Satz für alle" in text for which in ("Erster", "Zweiter", "Dritter", "Vierter"))


def test_comments_in_markdown_are_no_evidence(folder: Path) -> None:
    (folder / "more.md").write_text(f"{SEEN}\n\n<!-- {UNSEEN} -->\n\nEnde.\n\n<!-- {UNSEEN}", encoding="utf-8")

    assert [each.text for each in read_documents(folder).document("more.md").blocks] == [SEEN, "Ende."]


def test_hidden_text_of_word_is_no_evidence(folder: Path) -> None:
    document = docx.Document()
    line = document.add_paragraph(SEEN)
    line.add_run(UNSEEN).font.hidden = True
    line.add_run(" Danke.").font.hidden = False
    line.add_run(UNSEEN).font.size = Pt(1)
    style = document.styles.add_style("Secret", 1)
    style.font.hidden = True
    based = document.styles.add_style("Also secret", 1)
    based.base_style = style
    document.add_paragraph(UNSEEN, style="Also secret")
    cell = document.add_table(1, 2).rows[0].cells[0]
    cell.paragraphs[0].add_run("Zeile")
    cell.paragraphs[0].add_run(UNSEEN).font.hidden = True
    document.save(str(folder / "word.docx"))

    blocks = read_documents(folder).document("word.docx").blocks

    assert [each.text for each in blocks] == [f"{SEEN} Danke.", "Zeile –"]


def test_what_is_struck_through_is_no_evidence(folder: Path) -> None:
    document = docx.Document()
    line = document.add_paragraph(SEEN)
    line.add_run(UNSEEN).font.strike = True
    line.add_run(UNSEEN).font.double_strike = True
    line.add_run(" Danke.").font.strike = False
    document.save(str(folder / "word.docx"))
    (folder / "more.md").write_text(f"{SEEN} ~~{UNSEEN}~~ Etwa ~5 Minuten.\n", encoding="utf-8")
    struck = f"<del>{UNSEEN}</del> <s>{UNSEEN}</s> <span style='text-decoration: line-through'>{UNSEEN}</span>"
    (folder / "page.html").write_text(f"<html><body><p>{SEEN} {struck}</p></body></html>", encoding="utf-8")

    read = read_documents(folder)

    assert [each.text for each in read.document("word.docx").blocks] == [f"{SEEN} Danke."]
    assert [each.text for each in read.document("more.md").blocks] == [f"{SEEN} Etwa ~5 Minuten."]
    assert [each.text for each in read.document("page.html").blocks] == [SEEN]

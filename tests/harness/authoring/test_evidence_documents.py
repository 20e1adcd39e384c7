"""A hospital's documents as text, passages and segments; what cannot be read is said in one line."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import docx
import pypdf
import pytest
from docx.oxml import OxmlElement

from bot import BadData
from harness.authoring.evidence import documents, passages
from harness.authoring.evidence.documents import Block, Document, locate_documents, read_documents
from harness.authoring.evidence.passages import passages_of, segments_of, sentences

SAMPLES = locate_documents("mammography-de")


def _document(*blocks: Block) -> Document:
    return Document("a.md", "A", "", None, "0", blocks)


def test_all_kinds_of_documents_are_read_with_their_headings_and_what_they_say_of_themselves() -> None:
    read = {each.name: each for each in read_documents(SAMPLES).documents}

    pdf, word = read["merkblatt-ablauf.pdf"], read["sop-anmeldung-mammographie.docx"]
    page, plain = read["screening.html"], read["sop-besondere-situationen.md"]
    assert (pdf.title, pdf.publisher) == (
        "Merkblatt: Ihre Mammographie Schritt für Schritt",
        "Klinikum Musterstadt, Institut für Radiologie",
    )
    assert {each.year for each in read.values()} == {2026}
    assert any(each.heading == "Warum die Brust zusammengedrückt wird" and each.page == 1 for each in pdf.blocks)
    assert any("Fachleute nennen das Kompression" in each.text for each in pdf.blocks)
    assert any(each.text.startswith("Absage oder Verlegung – bis 24") for each in word.blocks)  # a row of a table
    assert any(each.heading == "Wann kommt das Ergebnis?" for each in page.blocks)
    assert not any("Impressum" in each.text or "Startseite" in each.text for each in page.blocks)
    assert any(each.heading == "Rollstuhl und eingeschränkte Beweglichkeit" for each in plain.blocks)


def _scan(path: Path) -> None:
    writer = pypdf.PdfWriter()
    writer.add_blank_page(200, 200)
    writer.write(path)


def _encrypted(path: Path) -> None:
    writer = pypdf.PdfWriter(clone_from=SAMPLES / "merkblatt-ablauf.pdf")
    writer.encrypt("secret")
    writer.write(path)


def _unpacks_to_much(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/document.xml", b"0" * (documents.MOST_UNPACKED + 1))


def _large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(documents.MOST_BYTES + 1)


def _tracked(path: Path, change: str) -> None:
    """Write "Essen Sie nicht." with a "nicht" that somebody wants inserted, or deleted."""
    document = docx.Document()
    line = document.add_paragraph("Essen Sie")
    changed = OxmlElement(change)
    changed.append(line.add_run(" nicht")._r)
    line._p.append(changed)
    line.add_run(".")
    document.save(str(path))


def _without_text(path: Path) -> None:
    docx.Document().save(str(path))


@pytest.mark.parametrize(
    ("name", "make", "why"),
    [
        ("scan.pdf", _scan, r"there is no text on its 1 pages \(a scan\?\); have text recognised \(OCR\) first"),
        ("closed.pdf", _encrypted, "it is encrypted; store it without a password"),
        ("broken.pdf", lambda path: path.write_bytes(b"%PDF-1.7 broken"), "it is no PDF that can be read"),
        ("huge.pdf", _large, "it has 25,000,001 bytes, and 25,000,000 are the most"),
        ("bomb.docx", _unpacks_to_much, "it unpacks to 100,000,001 bytes"),
        ("old.docx", lambda path: path.write_bytes(b"\xd0\xcf\x11\xe0 encrypted"), "it is no DOCX that can be read"),
        ("blank.docx", _without_text, "there is no text in it"),
        ("bare.html", lambda path: path.write_text("<html><body></body></html>"), "there is no text in it"),
        ("empty.md", lambda path: path.write_text("\n"), "it is empty"),
        ("head.md", lambda path: path.write_text("---\ntitle: [\n---\nText"), "its head cannot be read"),
        ("day.md", lambda path: path.write_text("---\ndate: 2024-02-30\n---\nText"), "its head cannot be read .* none"),
        ("deep.md", lambda path: path.write_text(f"---\na: {'[' * 5000}\n---\nText"), "its head cannot be read .*deep"),
        (
            "inserted.docx",
            lambda path: _tracked(path, "w:ins"),
            "it holds tracked changes; accept or reject them in Wo",
        ),
        (
            "deleted.docx",
            lambda path: _tracked(path, "w:del"),
            "it holds tracked changes; accept or reject them in Wor",
        ),
    ],
)
def test_what_cannot_be_read_is_one_line_and_does_not_keep_the_rest(tmp_path: Path, name: str, make, why: str) -> None:
    make(tmp_path / name)
    with pytest.raises(BadData, match=rf"None of the 1 documents in .* can be used; {name}: {why}") as found:
        read_documents(tmp_path)
    assert "\n" not in str(found.value)

    (tmp_path / "good.md").write_text("# Gut\n\nEin Satz.", encoding="utf-8")
    collection = read_documents(tmp_path)
    assert [each.name for each in collection.documents] == ["good.md"]
    assert list(collection.left_out) == [name]


def test_a_page_that_breaks_its_reader_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise RecursionError

    monkeypatch.setattr(documents, "deepcopy", breaks)  # libxml2 itself stops at 256 levels
    (tmp_path / "deep.html").write_text("<html><body><p>Ein Satz.</p></body></html>", encoding="utf-8")
    (tmp_path / "good.md").write_text("# Gut\n\nEin Satz.", encoding="utf-8")

    assert read_documents(tmp_path).left_out == {"deep.html": "it is no HTML that can be read (RecursionError)"}


def test_what_stands_in_controls_and_fields_of_word_is_read(tmp_path: Path) -> None:
    document = docx.Document()
    line = document.add_paragraph("Kommen Sie")
    run = line.add_run(" nüchtern")._r
    line._p.append(control := OxmlElement("w:sdt"))
    control.append(content := OxmlElement("w:sdtContent"))
    content.append(run)
    line.add_run(".")
    whole = document.add_paragraph("Bringen Sie den Ausweis mit.")._p
    whole.addprevious(block := OxmlElement("w:sdt"))
    block.append(held := OxmlElement("w:sdtContent"))
    held.append(whole)
    hint = document.add_paragraph("Klicken Sie hier.")._p
    hint.addprevious(empty := OxmlElement("w:sdt"))
    empty.append(properties := OxmlElement("w:sdtPr"))
    properties.append(OxmlElement("w:showingPlcHdr"))
    empty.append(shown := OxmlElement("w:sdtContent"))
    shown.append(hint)
    document.save(str(tmp_path / "a.docx"))

    blocks = read_documents(tmp_path).document("a.docx").blocks

    assert [each.text for each in blocks] == ["Kommen Sie nüchtern.", "Bringen Sie den Ausweis mit."]


def test_a_folder_without_documents_or_with_too_many_is_refused(tmp_path: Path, monkeypatch) -> None:
    with pytest.raises(BadData, match=r"holds no document \(0 files"):
        read_documents(tmp_path)
    (tmp_path / "notes.xls").write_text("x")
    with pytest.raises(BadData, match=r"holds no document \(1 files"):
        read_documents(tmp_path)
    with pytest.raises(BadData, match=r"There is no folder 'nowhere'.*shipped as a sample: mammography-de"):
        locate_documents("nowhere")
    for number in range(3):
        (tmp_path / f"{number}.md").write_text("Text")
    monkeypatch.setattr(documents, "MOST_FILES", 2)
    with pytest.raises(BadData, match="holds 3 documents, and 2 are the most"):
        read_documents(tmp_path)


def test_older_encodings_soft_hyphens_and_markup_do_not_reach_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Die R\u00f6ntgen\u00adaufnahme.".encode("cp1252"))
    (tmp_path / "b.md").write_text("## **Wo**\n\n- Im [Keller](http://x.example), `Raum` _12_\n", encoding="utf-8")

    first, second = read_documents(tmp_path).documents

    assert first.blocks == (Block("Die Röntgenaufnahme."),)
    assert second.blocks == (Block("Im Keller, Raum 12", "Wo"),)


def test_running_heads_and_hyphenation_of_a_pdf_are_undone() -> None:
    parts = ("Mammographie", "Biopsie", "Sonographie")
    pages = [
        f"Klinikum Seite {n}\nDiese {part} dauert bei den meis-\nten Frauen zehn Minuten ({part}).\n{n}"
        for n, part in enumerate(parts)
    ]

    found = [each.text for each in documents._paragraphs(pages)]

    assert found == [f"Diese {part} dauert bei den meisten Frauen zehn Minuten ({part})." for part in parts]


def test_passages_stay_under_their_heading_and_within_their_length() -> None:
    long = " ".join(f"Satz {n} hat genau sieben kurze Wörter." for n in range(40))
    found = passages_of([_document(Block("Kurz", "Eins"), Block("Auch kurz.", "Eins"), Block(long, "Zwei"))])

    assert found[0].text == "Kurz. Auch kurz."
    assert {each.heading for each in found[1:]} == {"Zwei"}
    assert all(len(each.text.split()) <= passages.PASSAGE_WORDS for each in found)
    assert " ".join(each.text for each in found[1:]) == long
    assert len({each.id for each in found}) == len(found)


def test_what_two_documents_say_word_for_word_is_one_passage() -> None:
    one = _document(Block("Das Gleiche.", "Titel"))

    assert len(passages_of([one, one])) == 1


def test_segments_are_whole_sentences_of_at_most_80_words_and_short_ones_are_merged() -> None:
    samples = passages_of(read_documents(SAMPLES).documents)
    segments = segments_of(samples)

    assert max(len(each.text.split()) for each in segments) <= 80
    for passage in samples:
        own = [each.text for each in segments if each.passage == passage]
        assert " ".join(own) == passage.text
        short = [text for text in own if len(text.split()) < passages.SEGMENT_LEAST]
        assert not short or len(own) == 1
    endless = passages_of([_document(Block("wort " * 200))])
    assert max(len(each.text.split()) for each in segments_of(endless)) <= 80


def test_abbreviations_and_dates_end_no_sentence() -> None:
    assert sentences("Das gilt z. B. Dienstags. Ab dem 3. März bei Dr. Weiß. „Ja.“ Gut.") == [
        "Das gilt z. B. Dienstags.",
        "Ab dem 3. März bei Dr. Weiß.",
        "„Ja.“",
        "Gut.",
    ]


def test_reading_needs_no_file_on_disk_that_it_does_not_name(tmp_path: Path) -> None:
    """Hidden files and those that Word keeps beside an open document are no documents."""
    (tmp_path / "~$plan.docx").write_bytes(io.BytesIO().getvalue())
    (tmp_path / ".hidden.md").write_text("Geheim")
    (tmp_path / "plan.md").write_text("Offen.")

    assert [each.name for each in read_documents(tmp_path).documents] == ["plan.md"]


def test_a_small_table_of_a_short_page_is_read_row_by_row_under_its_heading(tmp_path: Path) -> None:
    table = "<table><tr><th>Was</th><th>Wie lange</th></tr><tr><td>MRT</td><td>20 min</td></tr></table>"
    page = f"<html><body><h1>Dauer</h1>{table}<h2>Ende</h2><p>Danke.</p></body></html>"
    (tmp_path / "a.html").write_text(page, encoding="utf-8")

    blocks = read_documents(tmp_path).document("a.html").blocks

    assert set(blocks) == {Block("Was – Wie lange", "Dauer"), Block("MRT – 20 min", "Dauer"), Block("Danke.", "Ende")}

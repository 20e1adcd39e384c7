"""What other assistants export becomes drafts, and all that does not is named with its reason."""

from __future__ import annotations

import io
import itertools
import json
import struct
import zipfile
from datetime import date
from pathlib import Path

import pytest

from bot.catalog.exchange import sources
from bot.catalog.exchange.entries import plain, tidy_lines
from bot.catalog.exchange.exchange import Imported, ReadOptions, read_foreign
from bot.catalog.exchange.tables import Layout
from bot.errors import BadData
from tests.bot.catalog.exchange.samples import (
    BOTPRESS,
    DIALOGFLOW,
    QNA_PROJECT,
    QNA_TSV,
    RASA,
    TABLE,
    write_file,
    write_folder,
    write_zip,
)

TODAY = ReadOptions(today=date(2026, 11, 26))


def said(imported: Imported, language: str = "de") -> dict[str, tuple[list[str], str]]:
    """Return the wordings and the answer of each pair."""
    return {
        pair.id: ([pair.question, *(variant.text for variant in pair.variants)], pair.answer)
        for pair in imported.pairs[language]
    }


def reasons(imported: Imported) -> list[str]:
    return [each.as_line() for each in imported.report.left]


def test_qna_maker_rows_of_one_number_are_one_pair_and_markdown_is_taken_off(tmp_path: Path) -> None:
    imported = read_foreign(write_file(tmp_path / "kb.tsv", QNA_TSV), ["de"], TODAY)

    assert imported.report.maker == "QnA Maker"
    assert said(imported) == {
        "wie-bereite-ich-mich-auf-die-mammographie-vor": (
            ["Wie bereite ich mich auf die Mammographie vor?", "deo erlaubt?"],
            "Bitte kein Deo am Tag der Untersuchung.\nKrankenkassenkarte\nWegbeschreibung (https://praxis.example/weg)",
        ),
        "was-kostet-das": (["Was kostet das?"], "Die Kasse zahlt."),
    }
    assert reasons(imported) == [
        "kb.tsv:4: QnA 1: It has no answer.",
        "kb.tsv:6: QnA 3: It answers only after another answer: part of a conversation.",
        "kb.tsv:7: QnA 4: It has no answer.",
    ]
    assert imported.report.flows == 1
    assert imported.report.stripped == ("wie-bereite-ich-mich-auf-die-mammographie-vor",)
    assert imported.report.notes == ("1 follow-up prompts left out: they lead from one answer to another",)


def test_a_project_of_custom_question_answering_is_read_in_the_portals_spelling(tmp_path: Path) -> None:
    imported = read_foreign(write_file(tmp_path / "project.json", QNA_PROJECT), ["en"], TODAY)

    assert said(imported, "en") == {
        "does-a-mammogram-hurt": (
            ["Does a mammogram hurt?", "is it painful", "will it hurt"],
            "A little pressure, for a few seconds.\nTell us if it is too much & we stop.",
        ),
        "what-do-i-bring": (["What do I bring?"], "Bring your referral."),
    }
    assert imported.report.flows == 1
    assert any("1 suggested questions left out" in note for note in imported.report.notes)


@pytest.mark.parametrize("shape", ["folder", "zip"])
def test_a_rasa_project_is_questions_where_one_response_answers_and_flows_elsewhere(tmp_path: Path, shape: str) -> None:
    path = write_folder(tmp_path / "bot", RASA) if shape == "folder" else write_zip(tmp_path / "bot.zip", RASA)

    imported = read_foreign(path, ["de"], TODAY)

    assert said(imported) == {
        "preparation": (
            ["Wie bereite ich mich vor?", "darf ich deo benutzen", "muss ich nüchtern sein"],
            "Bitte kein Deo benutzen.\nKommen Sie in zweiteiliger Kleidung.",
        ),
        "radiation": (["Wie hoch ist die Strahlung?", "ist das gefährlich"], "Die Strahlung ist gering."),
        "opening_hours": (["Wann haben Sie auf?"], "Montag bis Freitag, 8 bis 17 Uhr."),
    }
    assert imported.background == {"de": ("erzähl mir einen witz",)}
    assert [line.partition(": ")[2] for line in reasons(imported)] == [
        "greet: utter_greet has a slot in its text, which only a conversation fills.",
        "faq/preparation: 1 other wordings of utter_faq/preparation: the first is taken.",
        "faq/radiation: Buttons, images or attachments of utter_faq/radiation.",
        "book_appointment: No response answers it alone: part of a conversation.",
    ]
    assert imported.report.notes == ("3 stories, rules, forms and flows left out: parts of conversations",)


RASA_FOR_SOME = {
    "domain.yml": """\
responses:
  utter_price:
  - text: "Die Kasse zahlt."
  - condition: [{type: slot, name: private, value: true}]
    text: "Sie bekommen eine Rechnung."
  - channel: telegram
    text: "Die Kasse zahlt :-)"
""",
    "data/nlu.yml": "nlu:\n- intent: price\n  examples: |\n    - Was kostet das?\n",
}


def test_wordings_of_rasa_for_some_only_are_named_one_by_one(tmp_path: Path) -> None:
    imported = read_foreign(write_folder(tmp_path / "bot", RASA_FOR_SOME), ["de"], ReadOptions(format="rasa"))

    assert said(imported) == {"price": (["Was kostet das?"], "Die Kasse zahlt.")}
    assert list(reasons(imported)) == [
        "data/nlu.yml: price: A wording of utter_price is said under a condition only.",
        "data/nlu.yml: price: A wording of utter_price is said in the channel 'telegram' only.",
    ]


def test_names_of_a_rasa_project_do_not_steer_the_terminal(tmp_path: Path) -> None:
    name = "a\\e]0;x\\a\\e[31mb\\u202Ec\\nd"
    files = {
        "domain.yml": f'responses:\n  "utter_{name}":\n  - text: "{{x}}"\n  utter_good:\n  - text: "Ja."\n',
        "nlu.yml": f'nlu:\n- intent: "{name}"\n  examples: |\n    - eins\n- intent: good\n  examples: |\n    - zwei\n',
    }

    lines = list(read_foreign(write_folder(tmp_path / "bot", files), ["de"], ReadOptions(format="rasa")).report.lines())

    assert [line for line in lines if not line.isprintable()] == []
    assert any("nlu.yml: abc d: utter_abc d has a slot" in line for line in lines)


def test_a_project_in_another_language_is_said_to_be_and_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"has no question with its answer in en \(it has de\)\.$"):
        read_foreign(write_folder(tmp_path / "bot", RASA), ["en"], ReadOptions(format="rasa"))


def test_rasa_training_data_alone_gets_placeholders(tmp_path: Path) -> None:
    imported = read_foreign(write_file(tmp_path / "nlu.yml", RASA["data/nlu.yml"]), ["de"], TODAY)

    assert imported.report.placeholders == 5
    assert said(imported)["radiation"][1].startswith("[Hier fehlt die Antwort.")


@pytest.mark.parametrize("shape", ["folder", "zip", "zip with a folder"])
def test_a_dialogflow_agent_is_read_in_both_languages_and_its_conversations_are_counted(
    tmp_path: Path, shape: str
) -> None:
    files = {f"agent/{name}": each for name, each in DIALOGFLOW.items()} if "with" in shape else DIALOGFLOW
    path = write_folder(tmp_path / "a", files) if shape == "folder" else write_zip(tmp_path / "a.zip", files)

    imported = read_foreign(path, ["de", "en"], TODAY)

    assert said(imported) == {"faq.pain": (["Tut es weh?", "tut die mammo weh"], "Ein kurzer Druck.\nSagen Sie Stopp.")}
    assert said(imported, "en") == {"faq.pain": (["Does it hurt?"], "Briefly.")}
    assert imported.background == {"de": ("erzähl einen witz",)}
    whys = [line.rpartition(".json")[2].partition(": ")[2] for line in reasons(imported)]
    assert [why for why in whys if "conversation" in why or "webhook" in why or "starts it" in why] == [
        "Booking: Its answer in de has a parameter, which only a conversation fills.",
        "Welcome: It has no training phrases: something else than a question starts it.",
        "Status: In de, its answer comes from a webhook.",
        "faq.Pain - yes: It waits for a context: part of a conversation.",
    ]
    assert imported.report.flows == 4
    assert any("It is a template" in line for line in reasons(imported))
    assert any("1 other answers in de" in line for line in reasons(imported))


@pytest.mark.parametrize("content", [BOTPRESS, BOTPRESS["qnas"]])
def test_botpress_entries_are_read_by_language_and_redirects_are_flows(tmp_path: Path, content: object) -> None:
    imported = read_foreign(write_file(tmp_path / "qna.json", content), ["de", "en"], TODAY)

    assert said(imported) == {
        "a1b2c3d4e5_parking": (["Wo kann ich parken?", "parkplatz"], "Im Parkhaus."),
        "i9_wait": (["Wie lange warte ich?"], "Etwa 20 Minuten."),
    }
    assert said(imported, "en") == {"a1b2c3d4e5_parking": (["Where can I park?"], "In the car park.")}
    assert reasons(imported) == [
        "qna.json, entry 1: a1b2c3d4e5_parking: 1 other answers in de: a pair has one, the first is taken.",
        "qna.json, entry 2: f6_old: It is switched off.",
        "qna.json, entry 3: g7_book: It leads into a conversation flow and has no answer.",
        "qna.json, entry 4: h8_card: It has no answer in words in de.",
        "qna.json, entry 5: i9_wait: Its answer is taken; the conversation flow after it is left out.",
    ]
    assert imported.report.flows == 2
    assert "1 entries in fr left out: not asked for" in imported.report.notes


@pytest.mark.parametrize(
    ("raw", "options"),
    [
        (TABLE.encode(), ReadOptions()),
        (TABLE.encode("utf-8-sig").replace(b"\n", b"\r\n"), ReadOptions()),
        (TABLE.encode("utf-16"), ReadOptions()),
        (TABLE.encode("cp1252"), ReadOptions(encoding="cp1252")),
        (
            TABLE.replace("Frage", "Text des Kunden").encode(),
            ReadOptions(layout=Layout({"question": "Text des Kunden"})),
        ),
    ],
)
def test_a_spreadsheet_is_read_with_any_delimiter_and_encoding(
    tmp_path: Path, raw: bytes, options: ReadOptions
) -> None:
    (tmp_path / "faq.csv").write_bytes(raw)

    imported = read_foreign(tmp_path / "faq.csv", ["de"], options)

    assert said(imported) == {
        "1": (["Wo kann ich parken?", "parkplatz", "parkhaus?"], "Im Parkhaus; die ersten 30 Minuten sind frei."),
        "2": (["Was kostet das?"], "Die Kasse zahlt."),
    }
    assert reasons(imported) == ["faq.csv:6: 3: It has no question."]
    assert "read with the delimiter ';': question in column 3" in imported.report.notes[0]


def test_a_table_without_header_is_read_by_numbers(tmp_path: Path) -> None:
    file = write_file(tmp_path / "faq.txt", "Wo parken?|Im Parkhaus.\nUnd wo noch?|Im Parkhaus.\n")

    imported = read_foreign(file, ["de"], ReadOptions(layout=Layout({"question": "1", "answer": "2"}, "|")))

    assert said(imported) == {"wo-parken": (["Wo parken?", "Und wo noch?"], "Im Parkhaus.")}


def test_all_are_drafts_that_name_their_source(tmp_path: Path) -> None:
    pair = read_foreign(write_file(tmp_path / "kb.tsv", QNA_TSV), ["de"], TODAY).pairs["de"][0]

    assert pair.review.status == "draft"
    assert pair.sources[0].model_dump(exclude_none=True) == {
        "title": "https://praxis.example/faq",
        "publisher": "QnA Maker",
        "year": 2026,
        "url": "https://praxis.example/faq",
        "passage": "not opened; imported from kb.tsv:2",
    }


def test_two_questions_of_one_id_are_both_kept_and_the_new_name_is_said(tmp_path: Path) -> None:
    content = [BOTPRESS["qnas"][0]] * 2

    imported = read_foreign(write_file(tmp_path / "qna.json", content), ["de"], ReadOptions(prefix="bp-"))

    assert [pair.id for pair in imported.pairs["de"]] == ["bp-a1b2c3d4e5_parking", "bp-a1b2c3d4e5_parking-2"]
    assert imported.report.renamed == (
        "qna.json, entry 2: the id bp-a1b2c3d4e5_parking is taken by another question; this one is "
        "bp-a1b2c3d4e5_parking-2",
    )


# --- what is refused --------------------------------------------------------------------------------------------------


def _encrypted() -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("agent.json", "{}")
    found = bytearray(raw.getvalue())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", found, found.index(mark) + offset, 1)
    return bytes(found)


def _zip_of(name: str) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr(name, "{}")
    return raw.getvalue()


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("a.json", b"", r"a\.json is empty"),
        ("a.json", b" \n ", r"a\.json is empty"),
        ("a.json", b'{"qnas": [\n{"id" 1}]}', r"a\.json:2 is not valid JSON"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.json", b"[" + b"1" * 5000 + b"]", "too many digits"),
        ("a.json", b'{"a": 1}', "in no format that is known"),
        ("a.json", b'[{"id": "x", "data": {"questions": {}, "answers": {}}}]', "no question with its answer in de"),
        ("a.yml", b"nlu:\n- intent: [\n", r"a\.yml:\d is not valid YAML"),
        ("a.yml", b"just: text\n", "in no format that is known"),
        ("a.csv", b"a,b\n1,2\n", r"has the columns a, b\. Say which are which"),
        ("a.csv", b"question,answer\nWo?,hier, dort\n", r"a\.csv:2 has more fields"),
        ("a.csv", "Frage;Antwort\nTür?;Ja\n".encode("cp1252"), r"not UTF-8 \(byte 15\).*--encoding cp1252"),
        ("a.csv", b'question,answer\n"Wo?,hier\n', "not valid CSV"),
        ("a.bpz", b"PK", "archive of Botpress Cloud"),
        ("a.zip", b"PK\x03\x04 broken", "in no format that is known"),
        ("a.zip", _zip_of("../../etc/agent.json"), "names a file outside of itself"),
        ("a.zip", _zip_of("/etc/agent.json"), "names a file outside of itself"),
        ("a.zip", _zip_of("C:\\agent.json"), "names a file outside of itself"),
        ("a.zip", _zip_of("readme.md"), "in no format that is known"),
        ("a.zip", _encrypted(), "is encrypted"),
        ("a.docx", b"\xff\xfe\x00\x01\x02", "in no format that is known"),
    ],
)
def test_bad_input_is_one_line_that_says_what_and_what_next(
    tmp_path: Path, name: str, raw: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(raw)

    with pytest.raises(BadData, match=message) as caught:
        read_foreign(tmp_path / name, ["de"])
    assert "\n" not in str(caught.value)


def test_marks_are_taken_off_and_amounts_stay_what_they_are() -> None:
    told = {
        "<p>Bitte <b>nicht</b> essen.</p><ul><li>Wasser</li></ul>": "Bitte nicht essen.\nWasser",
        "10<sup>3</sup> m<sup>2</sup> CO<sub>2</sub>": "10³ m² CO₂",
        "- 5 Grad": "- 5 Grad",
        "> 40 Jahre": "> 40 Jahre",
        "<40 Jahre und >30": "<40 Jahre und >30",
        "Das ist __wichtig__: `nie` *allein*": "Das ist wichtig: nie allein",
        '<a href="https://x.example">Hier</a>': "Hier (https://x.example)",
        "![Plan](plan.png) [Hier](https://x.example/a_b)": "Plan Hier (https://x.example/a_b)",
        "<script>alert(1)</script>Ja &amp; nein": "Ja & nein",
        "2 * 3 * 4, a_b_c, 5*3*2": "2 * 3 * 4, a_b_c, 5*3*2",
    }

    assert {text: tidy_lines(plain(text)) for text in told} == told


def test_a_file_that_is_not_there_and_one_that_is_too_large_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="There is no file or folder"):
        read_foreign(tmp_path / "absent.json", ["de"])
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    with pytest.raises(BadData, match="has 209,715,200 bytes; at most 67,108,864 are read"):
        read_foreign(tmp_path / "large.json", ["de"])


def test_a_zip_that_unpacks_to_more_than_the_limit_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    archive = zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED)
    with archive, archive.open("agent.json", "w") as file:
        for _ in range(80):
            file.write(b" " * 1024 * 1024)
    assert (tmp_path / "bomb.zip").stat().st_size < 200_000

    with pytest.raises(BadData, match=f"more than {sources.MAX_BYTES:,} bytes"):
        read_foreign(tmp_path / "bomb.zip", ["de"])


def test_a_file_that_names_no_language_needs_one(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="does not say in which language it is"):
        read_foreign(write_file(tmp_path / "kb.tsv", QNA_TSV), ["de", "en"])


def test_a_language_that_is_not_there_is_said_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"no question with its answer in en \(it has de\)"):
        read_foreign(write_folder(tmp_path / "bot", RASA), ["en"])


def test_hostile_yaml_is_not_unfolded(tmp_path: Path) -> None:
    keys = [f"k{number}" for number in range(60)]
    bomb = "k0: &k0 [x, x]\n" + "".join(f"{c}: &{c} [*{p}, *{p}]\n" for p, c in itertools.pairwise(keys))
    file = write_file(tmp_path / "nlu.yml", f"{bomb}nlu:\n- intent: x\n  examples: *k59\n")

    with pytest.raises(BadData):
        read_foreign(file, ["de"])


def test_json_that_is_ours_keeps_everything_but_the_approval(tmp_path: Path) -> None:
    pair = {"id": "a", "question": "Q?", "answer": "A.", "easy_answer": "E.", "review": {"status": "approved"}}
    own = {"format": "klartext-catalogs-1", "catalogs": [{"language": "de", "pairs": [pair, {"id": "b"}]}]}

    imported = read_foreign(write_file(tmp_path / "own.json", json.dumps(own)), ["de"])

    assert imported.pairs["de"][0].easy_answer == "E."
    assert imported.pairs["de"][0].review.status == "draft"
    assert reasons(imported) == ["own.json, de, pair 2: b: question: Field required."]

"""What is written in a maker's format is read back with its questions, variants, answers and ids."""

from __future__ import annotations

import csv
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from bot.catalog.catalog import Catalog, Pair, Variant, load_catalog, locate
from bot.catalog.exchange.exchange import ONE_LANGUAGE, WRITTEN, read_foreign, write_foreign
from bot.errors import BadData
from bot.testing import write_small_catalog

NAMES = {
    "json": "c.json",
    "qnamaker": "c.tsv",
    "rasa": "c",
    "dialogflow": "c.zip",
    "botpress": "c.json",
    "csv": "c.csv",
}
# Texts that the formats themselves give a meaning to.
HARD = (
    "=SUMME(A1)",
    "-5 Grad?",
    "@praxis",
    '"in Anführung"',
    "a; b, c | d",
    "# kein Kommentar",
    "5 * 3 * 2 <40 Jahre",
    "x: y - z",
    "'einfach'",
    "😢 weh?",
    "nein",
)


def core(catalog: Catalog) -> list[tuple[str, list[str], str]]:
    return wordings(catalog.pairs)


def wordings(pairs: tuple[Pair, ...]) -> list[tuple[str, list[str], str]]:
    """Return id, wordings (each once, as patients see no difference in white space) and answer."""
    return [
        (
            pair.id,
            list(
                dict.fromkeys(
                    " ".join(text.split()) for text in (pair.question, *(each.text for each in pair.variants))
                )
            ),
            pair.answer,
        )
        for pair in pairs
    ]


def test_every_format_that_is_written_is_tried_here() -> None:
    assert set(NAMES) == set(WRITTEN)


@pytest.fixture(scope="module")
def shipped() -> list[Catalog]:
    return [load_catalog(locate("mammography"), language) for language in ("de", "en")]


@pytest.mark.proof
@pytest.mark.parametrize("format_", WRITTEN)
def test_the_shipped_catalog_comes_back_from_every_format(shipped: list[Catalog], tmp_path: Path, format_: str) -> None:
    catalogs = shipped[:1] if format_ in ONE_LANGUAGE else shipped
    out = tmp_path / NAMES[format_]

    written = write_foreign(catalogs, format_, out)
    imported = read_foreign(out, [catalog.language for catalog in catalogs])

    assert written.pairs == sum(len(catalog.pairs) for catalog in catalogs)
    for catalog in catalogs:
        assert sorted(wordings(imported.pairs[catalog.language])) == sorted(core(catalog))
        assert {pair.review.status for pair in imported.pairs[catalog.language]} == {"draft"}
    assert imported.report.left == ()
    assert written.lost if format_ != "json" else not written.lost


@pytest.mark.parametrize("format_", WRITTEN)
def test_texts_that_mean_something_to_a_format_come_back_as_they_were(tmp_path: Path, format_: str) -> None:
    small = load_catalog(write_small_catalog(tmp_path / "small", languages=["de"]), "de")
    pairs = tuple(
        Pair(
            id=f"p{number}",
            question=f"{text} ({number})",
            answer=text.removeprefix("# "),
            variants=(Variant(text=text),),
        )
        for number, text in enumerate(HARD)
    )
    catalog = replace(small, pairs=pairs, background=("=1+1", "Wetter?"))

    write_foreign([catalog], format_, tmp_path / NAMES[format_])
    imported = read_foreign(tmp_path / NAMES[format_], ["de"])

    assert sorted(wordings(imported.pairs["de"])) == sorted(core(catalog))
    if format_ not in ("qnamaker", "botpress"):  # they have no place for questions that nothing answers
        assert imported.background == {"de": catalog.background}


def test_json_keeps_every_field(shipped: list[Catalog], tmp_path: Path) -> None:
    write_foreign(shipped, "json", tmp_path / "c.json")

    assert read_foreign(tmp_path / "c.json", ["de"]).pairs["de"] == shipped[0].pairs


def test_a_spreadsheet_sees_no_formula(tmp_path: Path) -> None:
    small = load_catalog(write_small_catalog(tmp_path / "small", languages=["de"]), "de")
    pair = Pair(id="a", question="=HYPERLINK()", answer="+1", variants=(Variant(text="@x"),))

    write_foreign([replace(small, pairs=(pair,))], "csv", tmp_path / "c.csv")

    with (tmp_path / "c.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[1:] == [["a", "'=HYPERLINK()", "'+1", "de"], ["a", "'@x", "", "de"]]


def test_what_is_written_is_what_the_makers_document(tmp_path: Path, shipped: list[Catalog]) -> None:
    for format_ in ("rasa", "dialogflow", "botpress"):
        write_foreign(shipped[:1], format_, tmp_path / f"{format_}-{NAMES[format_]}")

    domain = yaml.safe_load((tmp_path / "rasa-c" / "domain.yml").read_text(encoding="utf-8"))
    nlu = yaml.safe_load((tmp_path / "rasa-c" / "data" / "nlu.yml").read_text(encoding="utf-8"))
    assert domain["intents"] == ["faq", "out_of_scope"]
    assert {f"utter_{block['intent']}" for block in nlu["nlu"] if "/" in block["intent"]} == set(domain["responses"])
    with zipfile.ZipFile(tmp_path / "dialogflow-c.zip") as archive:
        assert json.loads(archive.read("agent.json"))["language"] == "de"
        intent = json.loads(archive.read("intents/radiation.json"))
        assert intent["responses"][0]["messages"][0]["lang"] == "de"
        assert "intents/radiation_usersays_de.json" in archive.namelist()
    entry = json.loads((tmp_path / "botpress-c.json").read_text(encoding="utf-8"))["qnas"][0]
    assert set(entry["data"]) == {
        "action",
        "contexts",
        "enabled",
        "answers",
        "questions",
        "redirectFlow",
        "redirectNode",
    }


@pytest.mark.parametrize(
    ("format_", "message"), [("xml", "no format 'xml' to write"), ("rasa", "holds one language"), ("csv", "exists")]
)
def test_what_cannot_be_written_is_refused(tmp_path: Path, format_: str, message: str) -> None:
    folder = write_small_catalog(tmp_path / "small")
    (tmp_path / "there").write_text("x")

    with pytest.raises(BadData, match=message):
        write_foreign([load_catalog(folder, each) for each in ("de", "en")], format_, tmp_path / "there")
    assert (tmp_path / "there").read_text() == "x"


def test_a_text_that_rasa_would_take_for_an_entity_is_refused_by_its_pair(tmp_path: Path) -> None:
    small = load_catalog(write_small_catalog(tmp_path / "small", languages=["de"]), "de")
    pair = Pair(id="odd", question="Was ist [das](hier)?", answer="A.")

    with pytest.raises(BadData, match="a part of the texts of odd"):
        write_foreign([replace(small, pairs=(pair,))], "rasa", tmp_path / "out")
    assert not (tmp_path / "out").exists()

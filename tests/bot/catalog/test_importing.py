"""Anybody's question set becomes a catalog, or nothing at all."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import Assistant, load_catalog
from bot.catalog.catalog import Catalog
from bot.catalog.exchange.entries import tidy
from bot.catalog.exchange.exchange import read_foreign
from bot.catalog.exchange.placing import write_catalog
from bot.catalog.exchange.question_set import catalog_name, pair_id, read_question_set
from bot.errors import BadData
from bot.testing import HashEncoder
from bot.text import sanitise

GOOD = """\
pair_id,text,answer
pain,Does it hurt?,"A little, not much."
pain,painful?,
costs,What does it cost?,
 Pain ,"hurts, right?",another answer
,What's the weather?,
pain,painful?,
costs,no,
"""


def _imported(tmp_path: Path, text: str, *, name: str = "mine", language: str = "en") -> Catalog:
    file = tmp_path / "questions.csv"
    file.write_text(text, encoding="utf-8")
    write_catalog(read_foreign(file, [language]), tmp_path / "out", name=name)
    return load_catalog(tmp_path / "out", language)


def test_the_first_text_is_the_question_and_the_others_are_variants(tmp_path: Path) -> None:
    catalog = _imported(tmp_path, GOOD)

    asked = {pair.id: (pair.question, [variant.text for variant in pair.variants]) for pair in catalog.pairs}
    assert asked == {"pain": ("Does it hurt?", ["painful?", "hurts, right?"]), "costs": ("What does it cost?", ["no"])}


def test_the_first_answer_counts_and_a_missing_one_is_a_visible_placeholder(tmp_path: Path) -> None:
    catalog = _imported(tmp_path, GOOD)

    assert catalog.pair("pain").answer == "A little, not much."
    assert catalog.pair("costs").answer == "[The answer is missing here. This pair is a draft: costs]"


def test_imported_pairs_stay_drafts(tmp_path: Path) -> None:
    assert {pair.review.status for pair in _imported(tmp_path, GOOD).pairs} == {"draft"}


def test_rows_without_a_pair_id_are_background(tmp_path: Path) -> None:
    assert _imported(tmp_path, GOOD).background == ("What's the weather?",)


def test_columns_may_come_in_any_order_with_a_byte_order_mark(tmp_path: Path) -> None:
    catalog = _imported(tmp_path, "\ufefftext,profile,pair_id\r\nTut es weh?,a,pain\r\n", language="de")

    assert catalog.pair("pain").question == "Tut es weh?"
    assert catalog.pair("pain").answer.startswith("[Hier fehlt die Antwort.")


@pytest.mark.usefixtures("few_alarm_examples")
def test_an_imported_catalog_answers(tmp_path: Path) -> None:
    _imported(tmp_path, GOOD)

    assistant = Assistant.open(tmp_path / "out", data=tmp_path / "data", encoder=HashEncoder(), sample=True)

    assert assistant.answer("does it hurt").candidates[0].pair_id == "pain"


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "is empty. Its first line must be `pair_id,text`"),
        (b"a,b\n1,2\n", "has the columns a, b.*must be `pair_id,text`"),
        (b"pain,Does it hurt?\n", "has the columns pain, Does it hurt"),
        (b"pair_id,text\n", "no row with a pair_id"),
        (b"pair_id,text\n,weather?\n", "no row with a pair_id"),
        (b"pair_id,text\npain,hurt?\npain,\n", r"questions\.csv:3 has no text"),
        (b"pair_id,text\npain\n", r"questions\.csv:2 has no text"),
        (b"pair_id,text\n---,hurt?\n", r"questions\.csv:2: the pair_id '---' has no letter"),
        (b"pair_id,text\npain,hurt, really?\n", r"questions\.csv:2 has more fields.*double quotes"),
        (b'pair_id,text\npain,"hurt\n', r"not valid CSV.*double quotes"),
        (b"pair_id,text\npain,\xfc\n", r"not UTF-8 \(byte 18\)"),
    ],
)
def test_a_bad_csv_is_refused_with_its_line(tmp_path: Path, content: bytes, match: str) -> None:
    file = tmp_path / "questions.csv"
    file.write_bytes(content)

    with pytest.raises(BadData, match=match):
        read_question_set(file)


def test_a_missing_csv_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"absent\.csv cannot be read"):
        read_question_set(tmp_path / "absent.csv")


def test_an_existing_language_is_never_overwritten(tmp_path: Path) -> None:
    before = _imported(tmp_path, GOOD)

    with pytest.raises(BadData, match=r"en\.yaml exists\. Choose another folder with `--out`"):
        _imported(tmp_path, "pair_id,text\nother,Other?\n")

    assert load_catalog(tmp_path / "out", "en") == before


def test_a_second_language_joins_the_first(tmp_path: Path) -> None:
    english = _imported(tmp_path, GOOD)

    german = _imported(tmp_path, "pair_id,text\npain,Tut es weh?\n", language="de")

    assert german.pair("pain").question == "Tut es weh?"
    assert load_catalog(tmp_path / "out", "en") == english


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "questions.csv"
    file.write_text(GOOD)

    with pytest.raises(BadData, match=r"cannot be written.*--out"):
        write_catalog(read_foreign(file, ["en"]), file / "out", name="mine")


def test_a_write_that_fails_leaves_no_half_catalog(tmp_path: Path) -> None:
    file = tmp_path / "questions.csv"
    file.write_text(GOOD)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "background").write_text("a file where a folder is needed")

    with pytest.raises(BadData, match=r"cannot be written.*--out"):
        write_catalog(read_foreign(file, ["en"]), tmp_path / "out", name="mine")

    assert [path.name for path in (tmp_path / "out").iterdir()] == ["background"]


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_any_text_survives_the_way_into_a_catalog(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    wanted = tidy(text) or "x"
    folder = tmp_path_factory.mktemp("any")

    catalog = _imported(folder, f'pair_id,text\npain,"{wanted.replace(chr(34), chr(34) * 2)}"\n')

    assert sanitise(catalog.pair("pain").question).text == sanitise(wanted).text


@pytest.mark.parametrize(
    ("name", "id_"), [("Pain", "pain"), (" A b ", "a-b"), ("_x.1-", "x.1"), ("a_b", "a_b"), ("?!", "")]
)
def test_names_become_pair_ids(name: str, id_: str) -> None:
    assert pair_id(name) == id_


@pytest.mark.parametrize(("name", "wanted"), [("my.catalog", "my-catalog"), ("Größe 2", "gr-e-2"), ("?", "catalog")])
def test_any_name_becomes_a_catalogs(tmp_path: Path, name: str, wanted: str) -> None:
    assert _imported(tmp_path, GOOD, name=catalog_name(name)).name == wanted


def test_json_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_text("[" * 100_000, encoding="utf-8")

    with pytest.raises(BadData, match="nested too deeply"):
        read_question_set(file)

"""What patients may be shown is identified by the bytes of the files."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.catalog.catalog import Catalog, Review, content_hash, load_catalog
from bot.testing import write_small_catalog

WITH_BACKGROUND = "catalog: small\nlanguage: de\nquestions:\n  weather: [Wie wird das Wetter?]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_small_catalog(tmp_path)
    (tmp_path / "background").mkdir()
    (tmp_path / "background" / "de.yaml").write_text(WITH_BACKGROUND)
    return tmp_path


@given(place=st.integers(0, 2**31), bits=st.integers(1, 255), background=st.booleans())
def test_any_other_byte_gives_another_content_hash(folder: Path, place: int, bits: int, background: bool) -> None:
    path = folder / "background" / "de.yaml" if background else folder / "de.yaml"
    before, original = content_hash(folder, "de"), path.read_bytes()
    changed = bytearray(original)
    changed[place % len(changed)] ^= bits
    path.write_bytes(changed)

    after = content_hash(folder, "de")

    path.write_bytes(original)
    assert after != before
    assert content_hash(folder, "de") == before


def test_bytes_moved_from_one_file_to_the_next_give_another_hash(folder: Path) -> None:
    before = content_hash(folder, "de")
    pairs, background = folder / "de.yaml", folder / "background" / "de.yaml"
    together = pairs.read_bytes() + background.read_bytes()
    pairs.write_bytes(together[:-5])
    background.write_bytes(together[-5:])

    assert content_hash(folder, "de") != before


def test_one_language_does_not_change_the_hash_of_the_other(folder: Path) -> None:
    before = content_hash(folder, "en")
    with (folder / "de.yaml").open("a") as stream:
        stream.write("# more\n")

    assert content_hash(folder, "en") == before


def test_a_loaded_catalog_knows_its_hash_and_how_answers_cite_it(folder: Path) -> None:
    catalog = load_catalog(folder, "de")

    assert catalog.content_hash == content_hash(folder, "de")
    assert catalog.ref == "small@1"
    assert catalog.background == ("Wie wird das Wetter?",)


@pytest.mark.proof
@pytest.mark.parametrize("language", ["de", "en"])
def test_a_json_copy_is_equal_to_the_shipped_catalog(shipped_catalogs: dict[str, Catalog], language: str) -> None:
    catalog = shipped_catalogs[language]

    copy = Catalog.from_json(catalog.as_json())

    assert replace(copy, path=catalog.path) == catalog


def test_a_damaged_json_copy_is_refused(folder: Path) -> None:
    raw = load_catalog(folder, "de").as_json()

    with pytest.raises(ValueError, match="Invalid JSON"):
        Catalog.from_json(raw[:-10])
    with pytest.raises(ValueError, match="pairs"):
        Catalog.from_json(raw.replace(b'"pairs"', b'"pears"'))


@pytest.mark.parametrize(
    ("review", "approved"),
    [
        (Review(), False),
        (Review(status="reviewed"), False),
        (Review(status="approved"), True),
        (Review(status="approved", valid_until=date(2026, 5, 1)), True),
        (Review(status="approved", valid_until=date(2026, 4, 30)), False),
    ],
)
def test_only_approved_and_unexpired_reviews_count(review: Review, approved: bool) -> None:
    assert review.is_approved(date(2026, 5, 1)) is approved

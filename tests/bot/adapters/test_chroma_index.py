"""The embedded index: complete or absent, and built only when it must be."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bot import Assistant
from bot.adapters.chroma_index import ABANDONED_AFTER_S, ChromaStore
from bot.matching.training import general_background
from bot.ports import Entry, Vectors, entry_id
from bot.testing import HashEncoder, write_small_catalog

TEXTS = ["tut es weh", "was kostet es", "wie lange dauert es", "wie wird das wetter"]
ENTRIES = [Entry(entry_id(number), f"pair-{number}" if number < 3 else "", text) for number, text in enumerate(TEXTS)]


class OtherEncoder(HashEncoder):
    """Another model: vectors of the two must not be mixed."""

    name = "other-64"


class PoweredDown(RuntimeError):
    """The machine stops."""


class FailingEncoder(HashEncoder):
    """Encodes nothing."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        raise PoweredDown(f"before {len(texts)} texts")


@pytest.fixture
def store(tmp_path: Path) -> ChromaStore:
    return ChromaStore.embedded(tmp_path / "chroma")


def test_vectors_come_back_in_the_order_of_the_entries(store: ChromaStore) -> None:
    index = store.index("order", ENTRIES, HashEncoder())

    np.testing.assert_allclose(index.vectors(), HashEncoder().encode(TEXTS), atol=1e-6)


def test_the_nearest_entry_comes_first_with_its_cosine(store: ChromaStore) -> None:
    index = store.index("cosine", ENTRIES, HashEncoder())
    query = HashEncoder().encode(["was kostet es eigentlich"])[0]

    found = index.nearest(query, k=4)

    cosines = HashEncoder().encode(TEXTS) @ query
    assert [near.text for near in found] == [TEXTS[number] for number in np.argsort(-cosines, kind="stable")]
    np.testing.assert_allclose([near.similarity for near in found], np.sort(cosines)[::-1], atol=1e-5)


def test_similarity_is_a_cosine_whatever_the_length_of_the_query(store: ChromaStore) -> None:
    index = store.index("length", ENTRIES, HashEncoder())

    found = index.nearest(7 * HashEncoder().encode(["tut es weh"])[0], k=1)

    assert found[0].similarity == pytest.approx(1.0, abs=1e-5)


def test_a_background_entry_has_no_pair(store: ChromaStore) -> None:
    index = store.index("background", ENTRIES, HashEncoder())

    assert index.nearest(HashEncoder().encode([TEXTS[3]])[0], k=1)[0].pair_id == ""


def test_an_index_is_built_once(tmp_path: Path) -> None:
    encoder = HashEncoder()

    for _ in range(3):
        ChromaStore.embedded(tmp_path / "chroma").index("once", ENTRIES, encoder)

    assert encoder.encoded == len(ENTRIES)


def test_a_build_that_failed_is_not_used_and_the_next_one_builds(store: ChromaStore) -> None:
    with pytest.raises(PoweredDown, match="before 4 texts"):
        store.index("failing", ENTRIES, FailingEncoder())

    index = store.index("failing", ENTRIES, HashEncoder())

    assert index.vectors().shape == (4, HashEncoder.dimensions)


def test_a_build_given_up_long_ago_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    store = ChromaStore.embedded(folder)
    with pytest.raises(PoweredDown, match="before 4 texts"):
        store.index("old", ENTRIES, FailingEncoder())
    (left,) = store._client.list_collections()
    left.modify(metadata={"started": int(left.metadata["started"]) - ABANDONED_AFTER_S - 1})

    store.index("old", ENTRIES, HashEncoder())

    assert [collection.name for collection in store._client.list_collections()] == ["old"]


def _open(folder: Path, data: Path, encoder: HashEncoder) -> int:
    """Prepare a catalog and return how many texts were encoded for that."""
    before = encoder.encoded
    Assistant.open(folder, data=data, encoder=encoder, sample=True).prepare()
    return encoder.encoded - before


@pytest.mark.proof
@pytest.mark.usefixtures("few_alarm_examples")
def test_a_catalog_is_encoded_only_when_what_it_teaches_or_the_encoder_changes(tmp_path: Path) -> None:
    folder, data, encoder = (
        write_small_catalog(tmp_path / "catalog", languages=["de"]),
        tmp_path / "data",
        HashEncoder(),
    )

    first = _open(folder, data, encoder)
    second = _open(folder, data, encoder)
    with_other_encoder = _open(folder, data, OtherEncoder())
    (folder / "de.yaml").open("a").close()
    third = _open(folder, data, encoder)
    text = (folder / "de.yaml").read_text(encoding="utf-8")
    (folder / "de.yaml").write_text(text.replace("answer: ", "answer: Kurz gesagt, "), encoding="utf-8")
    other_answers = _open(folder, data, encoder)
    (folder / "de.yaml").write_text(text.replace("question: ", "question: Bitte, "), encoding="utf-8")
    changed = _open(folder, data, encoder)

    assert first >= 15
    assert (second, third) == (0, 0)
    assert 0 < other_answers <= first  # pairs with few variants learn from sentences of their answers
    assert with_other_encoder >= first  # and the alarm's own examples, unless they are known
    assert 15 <= changed <= first


@pytest.mark.proof
@pytest.mark.usefixtures("few_alarm_examples")
def test_a_lost_head_is_trained_again_from_the_stored_vectors(tmp_path: Path) -> None:
    folder, data, encoder = (
        write_small_catalog(tmp_path / "catalog", languages=["de"]),
        tmp_path / "data",
        HashEncoder(),
    )
    assert _open(folder, data, encoder) >= 15 + len(general_background("de"))

    shutil.rmtree(data / "heads")

    assert _open(folder, data, encoder) == 0  # neither the texts of the index nor the alarm's examples
    assert list((data / "heads").iterdir())


# Adds the first batch, then says so and waits for the end.
KILLED = """
import sys, time
from pathlib import Path
import bot.adapters.chroma_index as chroma_index
from bot.testing import HashEncoder
from tests.bot.adapters.test_chroma_index import ENTRIES

class Blocking(HashEncoder):
    def encode(self, texts):
        if self.encoded:
            print("half", flush=True)
            time.sleep(600)
        return super().encode(texts)

chroma_index.BATCH = 2
chroma_index.ChromaStore.embedded(Path(sys.argv[1])).index("killed", ENTRIES, Blocking())
"""


@pytest.mark.proof
def test_a_build_killed_half_way_is_not_used_and_the_next_start_builds(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    building = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "chroma")],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert building.stdout is not None
    with building, building.stdout:
        said = building.stdout.readline()
        building.send_signal(signal.SIGKILL)
    encoder = HashEncoder()

    index = ChromaStore.embedded(tmp_path / "chroma").index("killed", ENTRIES, encoder)

    assert said == b"half\n"
    assert encoder.encoded == len(ENTRIES)
    np.testing.assert_allclose(index.vectors(), HashEncoder().encode(TEXTS), atol=1e-6)

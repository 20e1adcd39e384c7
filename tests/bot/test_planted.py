"""Whoever can write below the data folder, and nowhere else, changes nothing that patients are shown or warned of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import chromadb
import httpx
import numpy as np
import pytest
from chromadb.config import Settings as ChromaSettings

from bot import Assistant, Settings, UserFixable
from bot.catalog.catalog import Catalog, load_catalog
from bot.private_files import KEY_BYTES, Seal, SealedFolder, derived_in
from bot.testing import HashEncoder, write_small_catalog
from tests.bot.release.departments import Department
from tests.conftest import Run

PLANTED = "Nehmen Sie die doppelte Menge"
KEY = "a-key-that-lies-outside-of-the-data-folder"
QUESTIONS = ("weh?", "Wer bezahlt das?", "geht das schnell", "Wie wird das Wetter?")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_small_catalog(tmp_path / "catalog", languages=["de"], status="approved")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data", seal_key=KEY)


def _open(folder: Path, settings: Settings, *, sample: bool = True) -> Assistant:
    assistant = Assistant.open(folder, settings=settings, encoder=HashEncoder(), sample=sample)
    assistant.prepare()
    return assistant


def _said(assistant: Assistant) -> list[tuple[object, ...]]:
    """Return what decides on a few questions; of scores, the last digits vary from training to training."""
    answers = [assistant.answer(question, "de") for question in QUESTIONS]
    scores = [[(near.pair_id, round(near.score, 5)) for near in each.candidates] for each in answers]
    thresholds = assistant.thresholds("de")
    return [(each.decision, near, each.answer, thresholds) for each, near in zip(answers, scores, strict=True)]


def _only(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def _head(settings: Settings) -> Path:
    """Return where the head that decides on answers and alarms is kept; that of remarks lies beside it."""
    (path,) = (each for each in (settings.data / "heads").iterdir() if b"alarm_decides" in each.read_bytes())
    return path


def _plant(copy: Path, planted: str = PLANTED) -> None:
    content = json.loads(copy.read_bytes())
    for pair in content["pairs"]:
        pair["answer"] = planted
    copy.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.usefixtures("few_alarm_examples")
@pytest.mark.parametrize("sample", [True, False])
def test_planted_answers_are_never_shown(folder: Path, settings: Settings, sample: bool) -> None:
    before = _open(folder, settings).catalog("de")
    _plant(_only(settings.data / "catalogs"))

    after = _open(folder, settings, sample=sample)

    assert after.catalog("de").pairs == before.pairs
    assert all(PLANTED not in (after.answer(question, "de").answer or "") for question in QUESTIONS)


@pytest.mark.proof
def test_the_copy_is_made_anew_from_the_source(folder: Path, settings: Settings) -> None:
    _open(folder, settings)
    copy = _only(settings.data / "catalogs")
    before = copy.read_bytes()
    _plant(copy)

    _open(folder, settings)

    assert _only(settings.data / "catalogs").read_bytes() == before


@pytest.mark.proof
def test_a_draft_does_not_become_approved_by_its_copy(tmp_path: Path, settings: Settings) -> None:
    folder = write_small_catalog(tmp_path / "draft", languages=["de"], status="draft")
    _open(folder, settings)
    copy = _only(settings.data / "catalogs")
    copy.write_bytes(copy.read_bytes().replace(b'"draft"', b'"approved"'))

    with pytest.raises(UserFixable, match="No pair of small@1"):
        _open(folder, settings, sample=False)


@pytest.mark.proof
def test_a_copy_sealed_with_another_key_is_not_used(folder: Path, settings: Settings) -> None:
    catalog = _open(folder, settings).catalog("de")
    copies = settings.data / "catalogs"
    name = _only(copies).name.split(".")[0]
    _only(copies).unlink()
    for key in (b"", b"guessed"):
        SealedFolder(copies, Seal(key), ".json").write(name, _with_answers(catalog).as_json())

    assert _open(folder, settings).catalog("de").pairs == catalog.pairs


@pytest.mark.proof
def test_what_was_sealed_under_one_name_is_not_used_under_another(tmp_path: Path, settings: Settings) -> None:
    first = write_small_catalog(tmp_path / "first", languages=["de"])
    second = write_small_catalog(tmp_path / "second", languages=["de"])
    (second / "de.yaml").write_text((second / "de.yaml").read_text().replace("pain, de", "Withdrawn text"))
    _open(second, settings)
    withdrawn = _only(settings.data / "catalogs")
    content, tag = withdrawn.read_bytes(), withdrawn.name.split(".", 1)[1]
    withdrawn.unlink()
    _open(first, settings)
    copy = _only(settings.data / "catalogs")
    copy.with_name(f"{copy.name.split('.')[0]}.{tag}").write_bytes(content)
    copy.unlink()

    assert _open(first, settings).catalog("de").pairs == load_catalog(first, "de").pairs


@pytest.mark.usefixtures("few_alarm_examples")
def test_outside_sample_mode_the_source_is_read_even_if_the_key_was_stolen(folder: Path, settings: Settings) -> None:
    catalog = _open(folder, settings).catalog("de")
    copies = settings.data / "catalogs"
    stolen = SealedFolder(copies, Seal(KEY.encode()), ".json")
    stolen.write(_only(copies).name.split(".")[0], _with_answers(catalog).as_json())

    assert _open(folder, settings, sample=False).catalog("de").pairs == catalog.pairs
    assert _open(folder, settings).catalog("de").pairs != catalog.pairs  # the seal was a good one


def _with_answers(catalog: Catalog) -> Catalog:
    return replace(catalog, pairs=tuple(pair.model_copy(update={"answer": PLANTED}) for pair in catalog.pairs))


HEADS = {
    "answers swapped between pairs": lambda arrays: {"label": arrays["label"][::-1]},
    "everything is answered": lambda arrays: {"thresholds": np.array([0.0, 0.0, 0.0])},
    "the alarm is silent": lambda arrays: {"alarm_decides": np.array([1e9, 1e9])},
    "the alarm knows nothing": lambda arrays: {"alarm_dual": np.zeros_like(arrays["alarm_dual"])},
    "nothing changed but the file": lambda arrays: {},
}


@pytest.mark.proof
@pytest.mark.parametrize("planted", HEADS)
def test_a_planted_head_decides_nothing(folder: Path, settings: Settings, planted: str) -> None:
    assistant = _open(folder, settings)
    before, alarm = _said(assistant), _alarm(assistant)
    path = _head(settings)
    with np.load(BytesIO(path.read_bytes())) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, **HEADS[planted](arrays)})

    after = _open(folder, settings)

    assert _said(after) == before
    assert _alarm(after) == alarm
    assert len(list((settings.data / "heads").iterdir())) == 2


def _alarm(assistant: Assistant) -> tuple[object, ...]:
    alarm = assistant._of("de").trained.alarm
    return alarm.gate, alarm.threshold, alarm.dual.tobytes()


def _collection(data: Path) -> Any:
    client = chromadb.PersistentClient(str(data / "chroma"), settings=ChromaSettings(anonymized_telemetry=False))
    (collection,) = client.list_collections()
    return client.get_collection(collection.name, embedding_function=None)


def test_vectors_swapped_in_the_index_teach_nothing(folder: Path, settings: Settings) -> None:
    assistant = _open(folder, settings)
    before, nearest = _said(assistant), assistant.nearest("weh?", "de", k=3)
    collection = _collection(settings.data)
    ids = ["0000000", "0000001"]
    first, second = collection.get(ids=ids, include=["embeddings"])["embeddings"]
    collection.update(
        ids=ids, embeddings=[second, first], documents=[PLANTED] * 2, metadatas=[{"pair_id": "costs"}] * 2
    )
    _head(settings).unlink()

    after = _open(folder, settings)

    assert _said(after) == before
    assert after.nearest("weh?", "de", k=3) == nearest


def test_texts_planted_in_the_index_are_not_explained_to_staff(folder: Path, settings: Settings) -> None:
    before = _open(folder, settings).nearest("weh?", "de", k=3)
    collection = _collection(settings.data)
    stored = collection.get(include=["embeddings"])
    many = len(stored["ids"])
    planted = {"documents": [PLANTED] * many, "metadatas": [{"pair_id": "costs"}] * many}
    collection.update(ids=stored["ids"], embeddings=stored["embeddings"], **planted)

    assert _open(folder, settings).nearest("weh?", "de", k=3) == before


def test_an_index_with_a_missing_entry_is_made_anew(folder: Path, settings: Settings) -> None:
    before = _said(_open(folder, settings))
    _collection(settings.data).delete(ids=["0000002"])
    _head(settings).unlink()

    assert _said(_open(folder, settings)) == before


def test_what_nobody_touched_is_not_made_anew(folder: Path, settings: Settings) -> None:
    _open(folder, settings)
    _head(settings).unlink()
    encoder = HashEncoder()

    assistant = Assistant.open(folder, settings=settings, encoder=encoder, sample=True)
    _ = assistant._of("de").index.vectors()

    assert encoder.encoded == 0


@pytest.fixture
def department(tmp_path: Path, klartext: Run) -> Iterator[Department]:
    found = Department(tmp_path, klartext)
    yield found
    found.server.kill()


@pytest.mark.proof
def test_the_service_shows_approved_text_and_nothing_planted(
    department: Department, klartext: Run, tmp_path: Path
) -> None:
    server = department.server
    department.release()
    department.run("release", "activate", "1")
    klartext("answer", "--catalog", department.exam, stdin=b"weh?\n", environ=department.environ)  # writes the copy
    _plant(_only(tmp_path / "data" / "catalogs"))
    server.start(sample=False)

    begun = httpx.post(
        server.url + "/api/v1/conversations", json={"consent": True, "language": "de"}, timeout=60
    ).json()
    turn = httpx.post(
        f"{server.url}/api/v1/conversations/{begun['id']}/turns",
        json={"turn_id": "1", "text": "Tut die Untersuchung weh?"},
        headers={"Authorization": f"Bearer {begun['token']}"},
        timeout=60,
    ).json()

    shown = [part["text"] for part in turn["reply"]["parts"] if part["pair_id"] == "pain"]
    assert begun["sample"] is False
    assert PLANTED not in json.dumps(turn, ensure_ascii=False)
    assert shown
    assert all("pain, de" in text for text in shown)


def test_a_key_is_made_once_outside_the_data_folder_for_this_user_only(tmp_path: Path) -> None:
    key_file = tmp_path / "config" / "key"

    first, second = (derived_in(tmp_path / name, None, key_file) for name in ("one", "two"))

    assert first.seal == second.seal
    assert len(first.seal.key) == KEY_BYTES
    assert first.folder == tmp_path / "one"
    assert key_file.stat().st_mode & 0o777 == 0o600


def test_a_key_that_others_may_read_is_closed_to_them(tmp_path: Path) -> None:
    key_file = tmp_path / "config" / "key"
    derived_in(tmp_path / "one", None, key_file)
    key_file.chmod(0o644)

    derived_in(tmp_path / "other", None, key_file)

    assert key_file.stat().st_mode & 0o777 == 0o600


def test_a_key_that_is_cut_off_is_told(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"short")

    with pytest.raises(UserFixable, match="has 5 bytes and needs 32"):
        derived_in(tmp_path / "data", None, tmp_path / "key")


@pytest.mark.parametrize("key_file", ["data/key", "file/key"])
def test_without_a_place_for_a_key_nothing_below_the_data_folder_is_trusted(
    folder: Path, settings: Settings, tmp_path: Path, key_file: str
) -> None:
    (tmp_path / "file").touch()  # no folder
    homeless = replace(settings, seal_key=None, seal_key_file=tmp_path / key_file)
    pairs = _open(folder, homeless).catalog("de").pairs

    assert pairs == load_catalog(folder, "de").pairs
    assert not any((settings.data / name).exists() for name in ("catalogs", "heads", "chroma", "key"))

"""What one test of a session has trained, no other trains again: heads are kept by all that they are made from.

A small catalog costs twenty seconds of processor time a language; many tests open one in a data folder of its own, in
their process or in a command or service. Catalogs are read once a process, too, which takes a second each.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any, TypeVar

from bot import Catalog, data_folder, wiring
from bot.catalog import catalog as catalogs
from bot.errors import Finding
from bot.matching import remarks, store, training
from bot.matching.red_flags import digest

TRAINED = "TESTS_TRAINED"  # set in the environment of a session: the folder, which all its processes share

T = TypeVar("T")


def keep_what_is_trained() -> None:
    """Begin a folder, where no session has begun one; in each process that shares it, look there before training."""
    if TRAINED not in os.environ:
        os.environ[TRAINED] = tempfile.mkdtemp(prefix="klartext-trained-")
    kept = _Kept(Path(os.environ[TRAINED]))
    _keep_what_is_read()
    train_catalog, train_remarks = training.train_catalog, remarks.train_remarks

    def trained(catalog: Catalog, shown: Sequence[str], vectors: Any, encoder: Any, *parts: Any) -> store.Trained:
        made = (*_teaches(catalog), digest(catalog.language), *shown, *map(repr, parts), _taught(encoder))
        key = _key("catalog", vectors, *made, vars(training)["load_examples"])
        made_or_kept: store.Trained = kept.get(
            key, lambda: train_catalog(catalog, shown, vectors, encoder, *parts), store.dump, store.load
        )
        return made_or_kept

    def heard(catalog: Catalog, vectors: Any, encoder: Any) -> Any:
        made = (*_teaches(catalog), remarks.remarks_digest(catalog.language), _taught(encoder))
        key = _key("remarks", vectors, *made, remarks.remark_texts)
        return kept.get(key, lambda: train_remarks(catalog, vectors, encoder), store.dump_head, store.load_head)

    vars(wiring)["train_catalog"], vars(wiring)["train_remarks"] = trained, heard


def _teaches(catalog: Catalog) -> tuple[str, ...]:
    return catalog.language, training.taught_digest(catalog), training.general_digest(catalog.language)


def _taught(encoder: Any) -> str:
    return f"{type(encoder).__qualname__} {encoder.name}"


def _key(what: str, vectors: Any, *made: Any) -> str:
    # A test that teaches other examples puts another function in their place.
    said = [f"{each.__module__}.{each.__qualname__}" if callable(each) else str(each) for each in made]
    return hashlib.sha256("\0".join([what, *said]).encode() + vectors.tobytes()).hexdigest()


@dataclass(frozen=True)
class _Kept:
    """A folder of what was trained."""

    folder: Path

    def get(self, key: str, train: Callable[[], T], dump: Callable[[Any], bytes], load: Callable[[bytes], Any]) -> Any:
        path = self.folder / key
        with path.with_suffix(".lock").open("w") as lock:  # where two need the same, one trains and the other waits
            flock(lock, LOCK_EX)
            if path.exists():
                return load(path.read_bytes())
            made = train()
            if made is not None:
                path.with_suffix(".new").write_bytes(dump(made))
                path.with_suffix(".new").rename(path)
            return made


def _keep_what_is_read() -> None:
    """Read a catalog once, as long as its files are the same; one with findings is read each time."""
    read_catalog = catalogs.read_catalog
    read: dict[tuple[Path, str], tuple[str, tuple[Catalog, catalogs.Document] | None]] = {}

    def read_or_kept(folder: Path, language: str, findings: list[Finding]) -> tuple[Catalog, catalogs.Document] | None:
        now = catalogs.content_hash(folder, language)
        known = read.get((folder, language))
        if known is not None and known[0] == now:
            return known[1]
        before = len(findings)
        made = read_catalog(folder, language, findings)
        if len(findings) == before and made is not None and folder.is_relative_to(data_folder("qa_pairs")):
            read[folder, language] = now, made
        return made

    vars(catalogs)["read_catalog"] = read_or_kept

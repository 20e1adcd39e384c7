"""Chroma as the store of vectors: embedded and persistent, or a server by URL.

A collection is written under a temporary name and renamed when it is complete, so a half-written one is never found:
its name holds the catalog's content hash and the encoder, and is there only after the rename.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import chromadb
import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.collection_configuration import CreateCollectionConfiguration
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings as ChromaSettings
from chromadb.errors import ChromaError, NotFoundError

from bot.errors import Unreachable
from bot.ports import Encoder, Entry, Neighbour, Vectors

log = logging.getLogger("klartext")
BATCH = 1000
# Chroma's default is squared L2, and its default search finds 98 % of the ten nearest of 100,000 texts; this finds all.
HNSW: CreateCollectionConfiguration = {"hnsw": {"space": "cosine", "max_neighbors": 32, "ef_search": 400}}
ABANDONED_AFTER_S = 3600  # a build that takes longer is taken for dead


class ChromaStore:
    """A Chroma database that holds one collection per catalog content and encoder."""

    def __init__(self, client: ClientAPI, place: str) -> None:
        self._client = client
        self._place = place

    @classmethod
    def embedded(cls, folder: Path) -> ChromaStore:
        """Open (or create) the persistent store in `folder`; one that is damaged is deleted and made anew.

        Raises:
            Unreachable: It can be neither opened nor made anew.
        """
        try:
            if _is_damaged(folder):
                log.warning("the index is damaged and is built anew")
                shutil.rmtree(folder)
            folder.mkdir(parents=True, exist_ok=True)
            return cls(chromadb.PersistentClient(path=str(folder), settings=_quiet()), str(folder))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # Chroma's core panics past Exception
            raise Unreachable(
                f"The index in {folder} cannot be opened ({type(error).__name__}). "
                "Delete that folder, and it is built anew; or choose another with `--data`."
            ) from error

    @classmethod
    def server(cls, url: str) -> ChromaStore:
        """Connect to a Chroma server; raise Unreachable when it does not answer."""
        try:
            parts = urlsplit(url)
            secure = parts.scheme == "https"
            port = parts.port or (443 if secure else 8000)  # a port that is no number raises ValueError
            client = chromadb.HttpClient(host=parts.hostname or "", port=port, ssl=secure, settings=_quiet())
        except (ValueError, OSError, ChromaError) as error:
            raise Unreachable(
                f"The Chroma server {url} does not answer. Start it with `chroma run`, or correct KLARTEXT_CHROMA_URL."
            ) from error
        return cls(client, url)

    def index(self, name: str, entries: Sequence[Entry], encoder: Encoder) -> ChromaIndex:
        """Return the index called `name`, building it first if it does not exist."""
        try:
            collection = self._client.get_collection(name, embedding_function=None)
        except NotFoundError:
            collection = self._build(name, entries, encoder)

        def rebuild() -> Collection:
            log.warning("the index is damaged and is built anew")
            self._client.delete_collection(name)
            return self._build(name, entries, encoder)

        return ChromaIndex(collection, len(entries), self._place, rebuild)

    def _build(self, name: str, entries: Sequence[Entry], encoder: Encoder) -> Collection:
        self._remove_abandoned(name)
        unfinished = self._client.create_collection(
            f"building-{name}-{uuid.uuid4().hex[:8]}",
            embedding_function=None,
            configuration=HNSW,
            metadata={"started": int(time.time()), "encoder": encoder.name},
        )
        for start in range(0, len(entries), BATCH):
            batch = entries[start : start + BATCH]
            unfinished.add(
                ids=[entry.id for entry in batch],
                embeddings=encoder.encode([entry.text for entry in batch]),
                documents=[entry.text for entry in batch],
                metadatas=[{"pair_id": entry.pair_id} for entry in batch],
            )
        try:
            unfinished.modify(name=name)
        except ChromaError:
            # Another process finished the same index first: use that one.
            self._client.delete_collection(unfinished.name)
            return self._client.get_collection(name, embedding_function=None)
        return unfinished

    def _remove_abandoned(self, name: str) -> None:
        for collection in self._client.list_collections():
            started = int((collection.metadata or {}).get("started") or 0)
            ours = collection.name.startswith(f"building-{name}-")
            if ours and time.time() - started > ABANDONED_AFTER_S:
                self._client.delete_collection(collection.name)


class ChromaIndex:
    """A complete collection. Small ones are searched exactly in memory by their users, through `vectors`."""

    def __init__(self, collection: Collection, size: int, place: str, rebuild: Callable[[], Collection]) -> None:
        self._collection = collection
        self._size = size
        self._place = place
        self._rebuild = rebuild

    def nearest(self, query: Vectors, *, k: int) -> list[Neighbour]:
        found = self._collection.query(
            query_embeddings=[query.tolist()], n_results=k, include=["documents", "metadatas", "distances"]
        )
        documents, metadatas, distances = found["documents"], found["metadatas"], found["distances"]
        if documents is None or metadatas is None or distances is None:
            return []
        rows = zip(documents[0], metadatas[0], distances[0], strict=True)
        return [Neighbour(str(metadata["pair_id"]), text, 1 - distance) for text, metadata, distance in rows]

    def vectors(self) -> Vectors:
        try:
            return self._read()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # Chroma's core panics past Exception
            log.debug("vectors cannot be read", exc_info=True)
        try:
            self._collection = self._rebuild()
            return self._read()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            raise Unreachable(
                f"The index in {self._place} is damaged and cannot be built anew ({type(error).__name__}). Delete it."
            ) from error

    def _read(self) -> Vectors:
        found = np.zeros((0, 0), dtype=np.float32)
        for start in range(0, self._size, BATCH):
            page = self._collection.get(limit=BATCH, offset=start, include=["embeddings"])
            vectors = np.asarray(page["embeddings"], dtype=np.float32)
            if len(page["ids"]) != min(BATCH, self._size - start) or not np.isfinite(vectors).all():
                raise ValueError("vectors are missing")
            if not start:
                found = np.empty((self._size, vectors.shape[1]), dtype=np.float32)
            found[[int(entry) for entry in page["ids"]]] = vectors  # Chroma promises no order
        return found


def _is_damaged(folder: Path) -> bool:
    """Say whether the store's database is there and is none any more; locked or unreadable is not damaged."""
    database = folder / "chroma.sqlite3"
    if not database.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
    except sqlite3.OperationalError:
        return False
    except sqlite3.DatabaseError:
        return True


def entry_id(number: int) -> str:
    """Return the id of the entry at a position in the catalog."""
    return f"{number:07d}"


def _quiet() -> ChromaSettings:
    # A new object for every client: Chroma writes host, port and path of the client into it.
    return ChromaSettings(anonymized_telemetry=False)

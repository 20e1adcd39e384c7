"""Chroma as the store of vectors: embedded and persistent, or a server by URL. The optional extra `chroma` has it.

A collection is written under a temporary name and renamed when it is complete, so a half-written one is never found:
its name holds the catalog's content hash and the encoder, and is there only after the rename. With the name comes a
seal on the vectors: those that are not what was stored are made anew. Texts and ids of pairs are the catalog's own.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from bot.errors import KlartextError, MissingExtra, Unreachable
from bot.ports import Encoder, Entry, Neighbour, Vectors
from bot.private_files import Seal, make_private, private_umask

try:
    import chromadb
    from chromadb.api import ClientAPI
    from chromadb.api.collection_configuration import CreateCollectionConfiguration
    from chromadb.api.models.Collection import Collection
    from chromadb.config import Settings as ChromaSettings
    from chromadb.errors import ChromaError, NotFoundError
except ImportError as error:
    raise MissingExtra(feature="A Chroma server (KLARTEXT_CHROMA_URL)", extra="chroma") from error

log = logging.getLogger("klartext")
BATCH = 1000
# Chroma's default is squared L2, and its default search finds 98 % of the ten nearest of 100,000 texts; this finds all.
HNSW: CreateCollectionConfiguration = {"hnsw": {"space": "cosine", "max_neighbors": 32, "ef_search": 400}}
ABANDONED_AFTER_S = 3600  # a build that takes longer is taken for dead
SEAL = "seal"  # metadata of a collection
UNKEYED = Seal()


class ChromaStore:
    """A Chroma database that holds one collection per catalog content and encoder."""

    def __init__(self, client: ClientAPI, place: str | Path, seal: Seal) -> None:
        self._client = client
        self._place = place
        self._seal = seal

    @classmethod
    def embedded(cls, folder: Path, seal: Seal = UNKEYED) -> ChromaStore:
        """Open (or create) the persistent store in `folder`; one that is damaged is deleted and made anew.

        Raises:
            Unreachable: It can be neither opened nor made anew.
        """
        with _in_our_words(
            f"The index in {folder} cannot be opened",
            "Delete that folder, and it is built anew; or choose another with `--data`.",
        ):
            if _is_damaged(folder):
                log.warning("the index is damaged and is built anew")
                shutil.rmtree(folder)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with private_umask():
                return cls(chromadb.PersistentClient(path=str(folder), settings=_quiet()), folder, seal)

    @classmethod
    def server(cls, url: str, seal: Seal = UNKEYED) -> ChromaStore:
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
        return cls(client, url, seal)

    def index(self, name: str, entries: Sequence[Entry], encoder: Encoder) -> ChromaIndex:
        """Return the index called `name`, building it first if it does not exist."""
        try:
            collection = self._client.get_collection(name, embedding_function=None)
        except NotFoundError:
            collection = self._build(name, entries, encoder)

        def build_anew() -> Collection:
            log.warning("an index is not as it was written and is made anew", extra={"fields": {"collection": name}})
            with _in_our_words(f"The index in {self._place} can be neither read nor built anew", "Delete it."):
                with suppress(NotFoundError):  # another process was faster
                    self._client.delete_collection(name)
                return self._build(name, entries, encoder)

        return ChromaIndex(collection, entries, self._seal, build_anew)

    def _build(self, name: str, entries: Sequence[Entry], encoder: Encoder) -> Collection:
        with private_umask():
            built = self._fill(name, entries, encoder)
        if isinstance(self._place, Path):
            make_private(self._place)
        return built

    def _fill(self, name: str, entries: Sequence[Entry], encoder: Encoder) -> Collection:
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
            )
        seal = self._seal.tag(name, _sealed(_read(unfinished, len(entries))))
        try:
            unfinished.modify(name=name, metadata={"encoder": encoder.name, SEAL: seal})
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

    def __init__(
        self, collection: Collection, entries: Sequence[Entry], seal: Seal, build_anew: Callable[[], Collection]
    ) -> None:
        self._collection = collection
        self._entries = entries
        self._seal = seal
        self._build_anew = build_anew
        self._is_checked = False

    def nearest(self, query: Vectors, *, k: int) -> list[Neighbour]:
        if not self._is_checked:
            self.vectors()
        found = self._collection.query(query_embeddings=[query.tolist()], n_results=k, include=["distances"])
        known = {entry.id: entry for entry in self._entries}
        rows = zip(found["ids"][0], (found["distances"] or [[]])[0], strict=True)
        near = ((known[id_], distance) for id_, distance in rows if id_ in known)
        return [Neighbour(entry.pair_id, entry.text, 1 - distance) for entry, distance in near]

    def vectors(self) -> Vectors:
        found = self._stored()
        if found is None:
            self._collection = self._build_anew()
            found = _read(self._collection, len(self._entries))
        self._is_checked = True
        return found

    def _stored(self) -> Vectors | None:
        """Return the vectors as they were stored, or None."""
        tag = str((self._collection.metadata or {}).get(SEAL))
        try:
            found = _read(self._collection, len(self._entries))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # Chroma's core panics past Exception
            log.debug("vectors cannot be read", exc_info=True)
            return None
        return found if self._seal.vouches(tag, self._collection.name, _sealed(found)) else None


def _read(collection: Collection, size: int) -> Vectors:
    """Return the vectors of all entries; raise ValueError or IndexError when they are not all there."""
    found, missing = np.zeros((0, 0), dtype=np.float32), set(range(size))
    for start in range(0, size, BATCH):
        page = collection.get(limit=BATCH, offset=start, include=["embeddings"])
        vectors, numbers = np.asarray(page["embeddings"], dtype=np.float32), [int(entry) for entry in page["ids"]]
        if not start:
            found = np.empty((size, vectors.shape[1]), dtype=np.float32)
        found[numbers] = vectors  # Chroma promises no order
        missing.difference_update(numbers)
    if missing:
        raise ValueError(f"{len(missing)} of {size} vectors are not there")
    return found


def _sealed(vectors: Vectors) -> bytes:
    return str(vectors.shape).encode() + vectors.tobytes()


@contextmanager
def _in_our_words(what: str, remedy: str) -> Iterator[None]:
    """Raise Unreachable for whatever Chroma raises."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, KlartextError):
        raise
    except BaseException as error:  # Chroma's core panics past Exception
        raise Unreachable(f"{what} ({type(error).__name__}). {remedy}") from error


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


def _quiet() -> ChromaSettings:
    # A new object for every client: Chroma writes host, port and path of the client into it.
    return ChromaSettings(anonymized_telemetry=False)

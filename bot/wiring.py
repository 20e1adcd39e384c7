"""Build the adapters that the settings ask for, and open a catalog with them."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.adapters.summary_folders import SummaryFolders
from bot.adapters.vector_files import VectorFiles
from bot.catalog.catalog import Catalog, Pair, content_hash, load_catalog
from bot.errors import BadData, MissingExtra, Unreachable, UserFixable, is_installed
from bot.matching import store
from bot.matching.fit_head import Part
from bot.matching.head import Head
from bot.matching.red_flags import digest as red_flags_digest
from bot.matching.remarks import remarks_digest, train_remarks
from bot.matching.training import general_digest, indexed_texts, taught_digest, told, train_catalog
from bot.outbox_ports import FhirServer, Leaving, Outbox, Patience
from bot.ports import (
    AnswerIndex,
    AuditEvent,
    Encoder,
    Entry,
    Finder,
    History,
    IndexStore,
    Interviews,
    Keeper,
    Presence,
    Records,
    Vectors,
    Witness,
    entry_id,
)
from bot.private_files import Derived, SealedFolder, derived_in, installation_key
from bot.resources import give_back_memory
from bot.settings import Settings, StaffCalls, Uploads
from bot.staff.calls import Calls
from bot.staff.desk import Desk
from bot.staff.escalation import Contact

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

    from bot.adapters.audit_log import AuditLog
    from bot.adapters.blind_keys import BlindKeys
    from bot.adapters.otlp_tracing import OtlpTracer
    from bot.adapters.smart_launch import SmartLauncher
    from bot.adapters.sql_encryption import Served
    from bot.adapters.sql_records import SqlRecords
    from bot.adapters.text_cipher import TextCipher
    from bot.editorial.figures import Figures
    from bot.release.release import Releases


# Heads that are in use, by their key: two releases that differ in answers only share one.
_in_memory: WeakValueDictionary[str, store.Trained] = WeakValueDictionary()
FORMAT = 10  # raise it when texts, features or training change: everything is then built anew


def make_encoder(name: str, settings: Settings) -> Encoder:
    """Return the encoder called ``embedded``, ``sentence-transformers:MODEL`` or ``openai:MODEL``."""
    kind, _, model = name.partition(":")
    if kind == "embedded" and not model:
        return EmbeddedEncoder()
    if kind == "sentence-transformers" and model:
        from bot.adapters.sentence_transformers_encoder import SentenceTransformersEncoder

        return SentenceTransformersEncoder(model)
    if kind == "openai" and model:
        from bot.adapters.openai_encoder import OpenAIEncoder

        return OpenAIEncoder(model, settings)
    raise UserFixable(
        f"There is no encoder {name!r}. "
        "Use `--encoder embedded`, `--encoder sentence-transformers:MODEL` or `--encoder openai:MODEL`."
    )


@dataclass(frozen=True, slots=True)
class Showing:
    """Which pairs may be shown: outside sample mode only approved, unexpired ones; of these `only`, where given.

    `released`: of a release, the pairs it was made to show, by language; they are known, and may be withheld later.
    """

    sample: bool
    today: date
    only: frozenset[str] | None = None
    released: Mapping[str, frozenset[str]] | None = None

    def allows(self, pair: Pair, language: str) -> bool:
        if self.only is not None and pair.id not in self.only:
            return False
        if self.released is not None:
            return pair.id in self.released.get(language, ())
        return self.sample or pair.review.is_approved(self.today)


@dataclass(frozen=True)
class Opened:
    """One language of a catalog. Head and vectors come when they are first needed: training takes seconds.

    Attributes:
        catalog: The catalog.
        shown: Ids of the pairs that may be shown, in catalog order: the classes of the head.
        build_trained: Loads the head, or trains it.
        build_index: Opens the stored vectors, or stores them.
        build_remarks: Loads what recognises remarks, or trains it; returns None where the language has none.
        is_trained: Says whether the head only has to be loaded.
    """

    catalog: Catalog
    shown: tuple[str, ...]
    build_trained: Callable[[], store.Trained]
    build_index: Callable[[], AnswerIndex]
    build_remarks: Callable[[], Head | None]
    is_trained: Callable[[], bool]

    @cached_property
    def trained(self) -> store.Trained:
        return self.build_trained()

    @cached_property
    def index(self) -> AnswerIndex:
        return self.build_index()

    @cached_property
    def remarks(self) -> Head | None:
        return self.build_remarks()

    def without(self, parts: frozenset[Part], encoder: Encoder) -> Opened:
        """Return this language with a head trained without some parts; it is never stored."""

        def build() -> store.Trained:
            return train_catalog(self.catalog, self.shown, self.index.vectors(), encoder, parts)

        return replace(self, build_trained=build, build_index=lambda: self.index)

    @cached_property
    def canonical(self) -> Vectors:
        """Vectors of the canonical questions of the shown pairs, shape (pairs, dimensions)."""
        numbers = {pair.id: number for number, pair in enumerate(self.catalog.pairs)}
        return self.index.vectors()[[numbers[pair_id] for pair_id in self.shown]]


def open_language(folder: Path, language: str, encoder: Encoder, settings: Settings, showing: Showing) -> Opened:
    """Open one language of a catalog; it is embedded and trained only if its content or the encoder changed.

    Raises:
        BadCatalog, BadData: The catalog cannot be used.
        UserFixable: No pair may be shown.
    """
    derived = _derived(settings)
    # Outside sample mode, where nothing says that a text may be wrong, what is shown comes from the source itself.
    catalog = _cached_catalog(folder, language, derived) if showing.sample else load_catalog(folder, language)
    if unknown := sorted((showing.only or frozenset()) - set(catalog.by_id)):
        raise BadData(f"{catalog.ref} has no pair {unknown[0]!r} to answer from. Mend the list of `--only`.")
    shown = tuple(pair.id for pair in catalog.pairs if showing.allows(pair, language))
    if not shown:
        raise UserFixable(
            f"No pair of {catalog.ref} ({language}) is approved and unexpired, so nothing may be shown. "
            "Have clinicians approve pairs, or use sample mode (`--sample`)."
        )
    # Not what it answers: whoever mends an answer need not wait for training.
    vectors_key = _key(derived, str(FORMAT), taught_digest(catalog), general_digest(language), encoder.name)
    heads = SealedFolder(derived.folder / "heads", derived.seal, ".npz")

    def build_index() -> AnswerIndex:
        name = f"klartext-{catalog.name}-{language}-{vectors_key}"
        return _open_index(settings, derived, name, catalog, encoder)

    # The expiry of an approval changes what may be shown without any file changing, so the shown ids count too.
    head_key = _key(derived, vectors_key, red_flags_digest(language), *shown)

    def build_trained() -> store.Trained:
        # Another release that learned the same may be in use.
        trained = _in_memory.get(head_key) if showing.released is not None else None
        if trained is None:
            trained = store.load(stored) if (stored := heads.read(head_key)) is not None else None
            give_back_memory()
        if trained is None:
            with told(catalog):
                trained = train_catalog(catalog, shown, opened.index.vectors(), encoder)
            heads.write(head_key, store.dump(trained))
        _in_memory[head_key] = trained
        return trained

    def build_remarks() -> Head | None:
        key = _key(derived, "remarks", vectors_key, remarks_digest(language))
        head = store.load_head(stored) if (stored := heads.read(key)) is not None else None
        give_back_memory()
        if head is None:
            head = train_remarks(catalog, opened.index.vectors(), encoder)
            if head is not None:
                heads.write(key, store.dump_head(head))
        return head

    opened = Opened(catalog, shown, build_trained, build_index, build_remarks, lambda: heads.has(head_key))
    return opened


def _derived(settings: Settings) -> Derived:
    return derived_in(settings.writable_data(), settings.seal_key, settings.seal_key_file)


def has_chroma() -> bool:
    """Say whether the extra `chroma` is installed."""
    return is_installed("chromadb")


def require_chroma(settings: Settings) -> None:
    """Raise MissingExtra when the settings name a Chroma server that nothing here can speak to."""
    if settings.chroma_url is not None and not has_chroma():
        raise MissingExtra(feature="A Chroma server (KLARTEXT_CHROMA_URL)", extra="chroma")


def _index_store(settings: Settings, derived: Derived) -> IndexStore:
    if settings.chroma_url is None and not has_chroma():
        return VectorFiles(derived)
    from bot.adapters.chroma_index import ChromaStore

    if settings.chroma_url is not None:
        return ChromaStore.server(settings.chroma_url, derived.seal)
    return ChromaStore.embedded(derived.folder / "chroma", derived.seal)


def _key(derived: Derived, *parts: str) -> str:
    """Return a name for what is made from `parts`. Whoever has another key makes and finds their own."""
    return derived.seal.tag("name", "\0".join(parts).encode())[:24]


def _cached_catalog(folder: Path, language: str, derived: Derived) -> Catalog:
    """Load a catalog through a sealed copy in JSON, keyed by content: reading the YAML takes most of a second."""
    if not (folder / f"{language}.yaml").is_file():
        return load_catalog(folder, language)  # raises, and says what is there
    copies = SealedFolder(derived.folder / "catalogs", derived.seal, ".json")
    read = content_hash(folder, language)
    name = _key(derived, str(FORMAT), read)
    copy = copies.read(name)
    if copy is not None:
        with suppress(ValueError):  # written by another version of this program
            return replace(Catalog.from_json(copy), path=folder / f"{language}.yaml")
    catalog = load_catalog(folder, language)
    if catalog.content_hash == read:  # else somebody is writing the files right now
        copies.write(name, catalog.as_json())
    return catalog


def _open_index(settings: Settings, derived: Derived, name: str, catalog: Catalog, encoder: Encoder) -> AnswerIndex:
    entries = [Entry(entry_id(number), pair_id, text) for number, (pair_id, text) in enumerate(indexed_texts(catalog))]
    return _index_store(settings, derived).index(name, entries, encoder)


def make_records(settings: Settings) -> Records:
    """Open the database of the settings: SQLite in the data folder unless a URL is set."""
    return _database(settings)


def make_history(settings: Settings) -> History:
    """Open the same database to read conversations."""
    return _database(settings)


def make_interviews(settings: Settings) -> Interviews:
    """Open the interviews in the same database."""
    from bot.adapters.sql_records import SqlInterviews

    return SqlInterviews(_database(settings).engine)


def make_outbox(settings: Settings, *, lease: timedelta | None = None) -> Outbox:
    """Open the outbox in the same database; `lease`: how long an entry is held for who sends it."""
    from bot.adapters.sql_outbox import LEASE, SqlOutbox

    return SqlOutbox(_database(settings).engine, lease=lease or LEASE)


def make_leaving(settings: Settings) -> Leaving:
    """Open the same database to find what is new in conversations."""
    from bot.adapters.sql_leaving import SqlLeaving

    return SqlLeaving(_database(settings).engine)


def make_calls(settings: Settings, *, request_id: Callable[[], str] | None = None) -> Calls:
    """Open the calls for staff in the same database.

    `request_id`: where whoever acts has logged in; what they do then goes into the trail of the console, too.
    """
    from bot.adapters.sql_staff import SqlCalls

    return SqlCalls(_database(settings).engine, request_id)


def make_figures(settings: Settings) -> Figures:
    """Open the same database to count what is stored."""
    from bot.adapters.sql_figures import SqlFigures

    return SqlFigures(_database(settings).engine)


def make_releases(settings: Settings) -> Releases:
    """Open the releases and emergency stops in the same database."""
    from bot.adapters.sql_releases import SqlReleases

    return SqlReleases(_database(settings).engine)


def services_ready_for(settings: Settings, release: int, *, now: datetime) -> tuple[int, int]:
    """Return how many processes serve patients from this database, and how many can serve a release at once."""
    from bot.adapters.sql_encryption import prepared_by

    prepared = prepared_by(_database(settings).engine, now)
    return len(prepared), sum(each == release for each in prepared)


def served(settings: Settings, *, now: datetime) -> Served:
    """Return which services run on the database of the settings, or have run, and where it is."""
    from bot.adapters.sql_encryption import services_on

    return services_on(_database(settings).engine, now)


def make_desk(settings: Settings, *, opens: Callable[[datetime], datetime | None] = lambda _: None) -> Desk | None:
    """Return where patients' calls for a person arrive; None where nobody reads them.

    `opens`: when staff are next there, as far as the site has told; None: now, or it has not.
    """
    staff = settings.staff
    if staff is None:
        return None
    return Desk(make_calls(settings), opens, len(staff.contacts), timedelta(minutes=staff.minutes))


def make_contacts(staff: StaffCalls) -> list[Contact]:
    """Return who is told of a call that nobody acknowledges, in order."""
    from bot.adapters.staff_contacts import Mail, Webhook

    def contact(written: str) -> Contact:
        kind, _, address = written.partition(":")
        if kind == "mailto" and staff.smtp is not None:
            return Mail(address, staff.smtp, staff.sender)
        return Webhook(written)

    return [contact(each) for each in staff.contacts]


def make_launcher(settings: Settings) -> SmartLauncher | None:
    """Return what signs in patients who come from a portal or EHR; None where none may come from there.

    Raises:
        UserFixable: Something else is not set that this needs; or the packages are missing.
    """
    if not settings.smart:
        return None
    needed = {
        "KLARTEXT_PUBLIC_URL": (settings.public_url, "where patients are sent back to"),
        "KLARTEXT_LINK_KEY": (settings.link_key, "what vouches for them until they begin"),
        "KLARTEXT_FHIR_PATIENT_SYSTEM": (settings.fhir.patient_system, "which identifier says who they are"),
    }
    for name, (value, purpose) in needed.items():
        if not value:
            raise UserFixable(f"{name} is not set, and KLARTEXT_SMART needs it: {purpose}. Set it, or unset that.")
    from bot.adapters.bounded_http import BoundedHttp
    from bot.adapters.fhir_server import tls
    from bot.adapters.openid import OpenId
    from bot.adapters.smart_launch import SmartLauncher

    http = BoundedHttp(verify=tls(settings.fhir))
    return SmartLauncher(settings.smart, settings.fhir, OpenId(f"{settings.public_url}/smart/callback", http))


def make_tracer(settings: Settings) -> OtlpTracer | None:
    """Return what traces to the collector of the settings; None where they name none.

    Raises:
        UserFixable: Its address is none, or would be spoken to in the clear; or the packages are missing.
    """
    if settings.otlp_url is None:
        return None
    from bot.adapters.fhir_server import require_protected
    from bot.adapters.otlp_tracing import OtlpTracer

    require_protected(settings.otlp_url, "KLARTEXT_OTLP_URL", "traces would cross the network readably")
    return OtlpTracer.to(settings.otlp_url, version("klartext"))


def make_scanner(uploads: Uploads) -> Callable[[bytes], bool | None] | None:
    """Return what scans files that patients send; None where the site takes them without."""
    from bot.adapters.upload_scanner import CommandScanner

    return CommandScanner(uploads.scan) if uploads.scan else None


def make_keeper(settings: Settings) -> Keeper:
    """Open the same database to delete what is too old; the audit log tells of what goes."""
    from bot.adapters.sql_retention import SqlRetention

    return SqlRetention(_database(settings).engine, make_audit(settings), make_summaries(settings))


def make_summaries(settings: Settings) -> SummaryFolders:
    """Return the folders of what models wrote about conversations; they go with those of the settings' database."""

    def has(conversation: str) -> bool:
        if settings.database_url is None and not (settings.data / "klartext.db").exists():
            return False  # and none is made for that
        records = _database(settings)
        return records.conversation(conversation) is not None or bool(records.turns(conversation))

    return SummaryFolders.in_data(settings.data, settings.database_url, has)


def make_presence(settings: Settings, set_up: Mapping[str, str] | None = None) -> Presence:
    """Open the same database to say that this process serves patients, which keys it knows, and how it is set up."""
    from bot.adapters.sql_encryption import SqlPresence

    return SqlPresence(_database(settings).engine, text_cipher(settings), set_up or {})


def migrate_database(settings: Settings) -> str:
    """Bring the database's schema up to date; return its name."""
    from alembic.script import ScriptDirectory

    from bot.adapters.sql_records import alembic_config, connect, in_folder

    connect(settings.database_url or in_folder(settings.writable_data())).dispose()
    return str(ScriptDirectory.from_config(alembic_config()).get_current_head())


def rekey_texts(settings: Settings) -> int:
    """Encrypt all patients' texts in the database with the first key of the settings; return how many were written.

    Raises:
        UserFixable: There is no key, or one is missing that texts are encrypted with.
    """
    from bot.adapters import sql_inbox, sql_people  # noqa: F401  # their tables hold texts, too
    from bot.adapters.audit_log import os_user
    from bot.adapters.sql_encryption import rekey
    from bot.adapters.sql_finding import SqlFinder
    from bot.adapters.sql_probe import clean_up
    from bot.adapters.sql_records import connect, in_folder
    from bot.adapters.sql_tables import use_cipher

    cipher = text_cipher(settings)
    if cipher is None:
        raise UserFixable("KLARTEXT_TEXT_KEY is not set. Make a key with `klartext records new-key`.")
    audit = make_audit(settings)
    audit.check()
    engine = connect(settings.database_url or in_folder(settings.writable_data()), upgrade=False)
    try:
        changed = rekey(engine, cipher)
        # Before anybody drops the old key: what the log says under it must stay readable.
        audit.hand_over(AuditEvent("rekey", os_user(), counts={"texts": changed}))
        use_cipher(engine, cipher)
        # The old values go as well; a service that still writes with the old key first is found by reading.
        changed_index = SqlFinder(engine, blind_keys(settings)).index_patients()
        if changed or changed_index:
            clean_up(engine, rewritten=True)
        return changed
    finally:
        engine.dispose()


def for_server(settings: Settings, url: str | None) -> Settings:
    """Return the settings with another FHIR server.

    Raises:
        UserFixable: The credentials in the settings belong to the configured server.
    """
    if url is None or url == settings.fhir.url:
        return settings
    if settings.fhir.url is not None and settings.fhir.auth != "none":
        raise UserFixable(
            "The credentials in the settings are for KLARTEXT_FHIR_URL and are not shown to another server. "
            "Set KLARTEXT_FHIR_URL to the other one, with credentials of its own."
        )
    return replace(settings, fhir=replace(settings.fhir, url=url))


def make_fhir_server(
    settings: Settings, *, patience: Patience | None = None, sleep: Callable[[float], None] = time.sleep
) -> FhirServer:
    """Return the FHIR server of the settings; raise UserFixable when they cannot work.

    Args:
        settings: Say which it is.
        patience: With it; default: so much that a short outage is bridged.
        sleep: Between two of them.
    """
    from bot.adapters.fhir_server import HttpFhirServer

    return HttpFhirServer(settings.fhir, patience=patience, sleep=sleep)


def text_cipher(settings: Settings) -> TextCipher | None:
    """Return what encrypts patients' texts; None where no key is configured."""
    from bot.adapters.text_cipher import TextCipher

    return TextCipher.of(settings.text_keys) if settings.text_keys else None


def blind_keys(settings: Settings) -> BlindKeys:
    """Return what patients and conversations are named with where nobody shall read who it is.

    Raises:
        Unreachable: No key is set, and none can be kept.
    """
    from bot.adapters.blind_keys import BlindKeys
    from bot.adapters.text_cipher import raw_keys

    data = settings.writable_data()
    try:
        own = installation_key(data, settings.seal_key, settings.seal_key_file)
    except OSError as error:
        raise Unreachable(
            f"No key of this installation can be kept in {data} ({error.strerror}). Set KLARTEXT_SEAL_KEY."
        ) from error
    return BlindKeys.derived([*raw_keys(settings.text_keys or ""), own])


def make_audit(settings: Settings, *, request_id: Callable[[], str] = lambda: "") -> AuditLog:
    """Open the audit log of the settings, which is not in the database: it must outlive a backup that is restored.

    `request_id`: returns that of the request that is being answered; empty where there is none.
    """
    from bot.adapters.audit_log import AuditLog

    path = settings.audit_log or settings.writable_data() / "audit.jsonl"
    return AuditLog(path, blind_keys(settings), text_cipher(settings), request_id)


def make_witness(settings: Settings) -> Witness:
    """Open the same database to keep how far the audit log was seen to go."""
    from bot.adapters.sql_witness import SqlWitness

    return SqlWitness(_database(settings).engine, settings.audit_name)


def make_finder(settings: Settings) -> Finder:
    """Open the same database to find conversations."""
    from bot.adapters.sql_finding import SqlFinder

    return SqlFinder(_database(settings).engine, blind_keys(settings))


# Databases that are in use, by what they were opened with: all parts of a process share one pool of connections.
_engines: WeakValueDictionary[tuple[str | URL, str | None, float], Engine] = WeakValueDictionary()
_opening = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_engines.clear)  # two processes must not speak on one connection


def close_databases() -> None:
    """Close the connections that nobody uses just now, of all databases that this process has opened."""
    for engine in list(_engines.values()):
        engine.dispose()


atexit.register(close_databases)  # commands leave nothing open either


def database(settings: Settings) -> Engine:
    """Return what all parts of this process speak to the database by.

    Raises:
        Unreachable: It cannot be used.
        UserFixable: Its schema is another than this program's.
    """
    return _database(settings).engine


def _database(settings: Settings) -> SqlRecords:
    from bot.adapters.sql_acts import tell_heads
    from bot.adapters.sql_records import SqlRecords, in_folder

    url = settings.database_url or in_folder(settings.writable_data())
    keys, wait_s = blind_keys(settings), settings.database_wait_s
    with _opening:
        engine = _engines.get((url, settings.text_keys, wait_s))
        if engine is not None:
            return SqlRecords(engine, keys, make_summaries(settings))
        # Who reads or serves changes no schema: another version may be running beside, or the backup be missing.
        opened = SqlRecords.open(url, text_cipher(settings), keys, wait_s=wait_s, upgrade=False)
        _engines[url, settings.text_keys, wait_s] = opened.engine
        tell_heads(opened.engine, make_audit(settings).see_trail)
        return SqlRecords(opened.engine, keys, make_summaries(settings))

"""Settings of an installation, read once from the environment: secrets from files, retention, FHIR access."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, TypeVar
from urllib.parse import SplitResult, urlsplit

import platformdirs

from bot.catalog.countries import COUNTRIES, Country
from bot.editorial.identity import StaffLogin
from bot.errors import Unreachable, UserFixable
from bot.ports import Cutoffs
from bot.private_files import make_private_folder, portal_keys, secret, secret_in


@dataclass(frozen=True, slots=True)
class Retention:
    """Days that each kind is kept. By default nothing outlives its conversation.

    Attributes:
        conversations: After the last sign of life of a conversation: all of it goes
            (``KLARTEXT_KEEP_CONVERSATIONS_DAYS``).
        questions: Unanswered and flagged questions, for curators (``KLARTEXT_KEEP_QUESTIONS_DAYS``); None: as long as
            the conversation. Where it is longer, their wording stays without conversation, comment and time of day.
        comments: What patients wrote when they flagged an answer (``KLARTEXT_KEEP_COMMENTS_DAYS``).
        interviews: Typed answers, after their last change (``KLARTEXT_KEEP_INTERVIEWS_DAYS``).
        sent: The note that something was sent (``KLARTEXT_KEEP_SENT_DAYS``); its content goes when a server has it.
    """

    conversations: int = 30
    questions: int | None = None
    comments: int = 30
    interviews: int = 30
    sent: int = 30

    def cutoffs(self, now: datetime) -> Cutoffs:
        """Return the moments before which things are too old."""
        days = {kind.name: getattr(self, kind.name) or self.conversations for kind in fields(self)}
        return Cutoffs(**{name: now - timedelta(days=number) for name, number in days.items()})


MIN_SECRET = 20  # characters of a secret that people choose
REQUESTS_PER_MINUTE = 600
TURNS_PER_MINUTE = 30
SESSION_HOURS = 24
IDLE_MINUTES = 30
DATABASE_WAIT_S = 30.0
MAX_DAYS = 36_500
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
ENCRYPTED = frozenset({"https", "wss", "tls"})  # schemes that may carry patient text to other machines


FhirAuth = Literal["none", "basic", "post", "jwt"]
# Whose signatures count for a release: also names that were typed, or only those of people who had logged in.
Signers = Literal["names", "accounts"]
ACCOUNTS: Signers = "accounts"
_SIGNERS: tuple[Signers, ...] = ("names", ACCOUNTS)
Dictation = Literal["device", "vendor", "off"]
DICTATIONS: tuple[Dictation, ...] = ("device", "vendor", "off")
Word = TypeVar("Word", bound=str)
_FHIR_AUTHS: tuple[FhirAuth, ...] = ("none", "basic", "post", "jwt")
_FHIR_IDS: tuple[Literal["server", "client"], ...] = ("server", "client")


@dataclass(frozen=True, slots=True)
class FhirAccess:
    """How to reach a FHIR server, and as whom.

    Attributes:
        url: Its base URL (``KLARTEXT_FHIR_URL``); nothing is ever sent elsewhere.
        token_url: OAuth2 token endpoint (``KLARTEXT_FHIR_TOKEN_URL``).
        client_id: Of this installation (``KLARTEXT_FHIR_CLIENT_ID``).
        client_secret: Its secret (``KLARTEXT_FHIR_CLIENT_SECRET``).
        client_secret_file: A file that holds the secret instead (``KLARTEXT_FHIR_CLIENT_SECRET_FILE``).
        key_file: PEM file with a private key, for SMART Backend Services (``KLARTEXT_FHIR_KEY_FILE``).
        key_id: Under which the server knows the public key (``KLARTEXT_FHIR_KEY_ID``).
        auth: none, basic, post or jwt (``KLARTEXT_FHIR_AUTH``); default: what key and secret suggest.
        scope: What to ask for (``KLARTEXT_FHIR_SCOPE``).
        ca_file: PEM file with the authorities to trust (``KLARTEXT_FHIR_CA_FILE``).
        ids: Whether the server gives ids, or takes ours (``KLARTEXT_FHIR_IDS``: server or client).
        patient_system: System of patient identifiers (``KLARTEXT_FHIR_PATIENT_SYSTEM``).
        appointment_system: Of appointments (``KLARTEXT_FHIR_APPOINTMENT_SYSTEM``); None: one of the site's namespace.
        order_system: Of orders (``KLARTEXT_FHIR_ORDER_SYSTEM``); None as above.
        accession_system: Of accession numbers (``KLARTEXT_FHIR_ACCESSION_SYSTEM``); None as above.
    """

    url: str | None = None
    token_url: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    client_secret_file: Path | None = None
    key_file: Path | None = None
    key_id: str | None = None
    auth: FhirAuth = "none"
    scope: str = "system/*.crus"
    ca_file: Path | None = None
    ids: Literal["server", "client"] = "server"
    patient_system: str | None = None
    appointment_system: str | None = None
    order_system: str | None = None
    accession_system: str | None = None

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> FhirAccess:
        """Read what concerns FHIR servers."""
        secret, secret_file = env.get("KLARTEXT_FHIR_CLIENT_SECRET"), env.get("KLARTEXT_FHIR_CLIENT_SECRET_FILE")
        key_file, ca_file = env.get("KLARTEXT_FHIR_KEY_FILE"), env.get("KLARTEXT_FHIR_CA_FILE")
        usual: FhirAuth = "jwt" if key_file else "basic" if secret or secret_file else "none"
        return cls(
            url=env.get("KLARTEXT_FHIR_URL") or None,
            token_url=env.get("KLARTEXT_FHIR_TOKEN_URL") or None,
            client_id=env.get("KLARTEXT_FHIR_CLIENT_ID") or None,
            client_secret=secret or None,
            client_secret_file=Path(secret_file) if secret_file else None,
            key_file=Path(key_file) if key_file else None,
            key_id=env.get("KLARTEXT_FHIR_KEY_ID") or None,
            auth=_one_of(env, "KLARTEXT_FHIR_AUTH", _FHIR_AUTHS, usual),
            scope=env.get("KLARTEXT_FHIR_SCOPE") or "system/*.crus",
            ca_file=Path(ca_file) if ca_file else None,
            ids=_one_of(env, "KLARTEXT_FHIR_IDS", _FHIR_IDS, "server"),
            patient_system=env.get("KLARTEXT_FHIR_PATIENT_SYSTEM") or None,
            appointment_system=_system(env, "KLARTEXT_FHIR_APPOINTMENT_SYSTEM"),
            order_system=_system(env, "KLARTEXT_FHIR_ORDER_SYSTEM"),
            accession_system=_system(env, "KLARTEXT_FHIR_ACCESSION_SYSTEM"),
        )


UPLOAD_BYTES = 10_000_000
UPLOAD_KINDS = {
    "pdf": "application/pdf",
    "jpeg": "image/jpeg",
    "png": "image/png",
    "heic": "image/heic",
    "dicom": "application/dicom",
}
NO_SCAN = "none"


@dataclass(frozen=True, slots=True)
class Uploads:
    """Files that patients may send; there is none of this where they may not (``KLARTEXT_UPLOADS``: on or off).

    Attributes:
        most_bytes: That one may have (``KLARTEXT_UPLOAD_MAX_BYTES``).
        kinds: Media types that are taken (``KLARTEXT_UPLOAD_TYPES``: pdf, jpeg, png, heic, dicom, by commas).
        scan: Command that reads a file and ends with 0 when it is clean (``KLARTEXT_UPLOAD_SCAN``); empty where the
            site said ``none``.
    """

    most_bytes: int = UPLOAD_BYTES
    kinds: tuple[str, ...] = tuple(UPLOAD_KINDS.values())
    scan: tuple[str, ...] = ()

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Uploads | None:
        """Read what concerns uploads; None where they are off, as by default.

        Raises:
            UserFixable: They are on, and nothing is said of a scanner; or a setting cannot be read.
        """
        if _one_of(env, "KLARTEXT_UPLOADS", ("on", "off"), "off") == "off":
            return None
        names = _list(env, "KLARTEXT_UPLOAD_TYPES") or tuple(UPLOAD_KINDS)
        for name in names:
            if name not in UPLOAD_KINDS:
                raise UserFixable(f"KLARTEXT_UPLOAD_TYPES holds {name!r}. Choose from: {', '.join(UPLOAD_KINDS)}.")
        command = env.get("KLARTEXT_UPLOAD_SCAN", "").strip()
        if not command:
            raise UserFixable(
                "KLARTEXT_UPLOADS is on and KLARTEXT_UPLOAD_SCAN is not set. Set it to a command that reads a file on "
                "standard input and ends with 0 when it is clean, or to `none` to take files without a scan."
            )
        try:
            scan = () if command == NO_SCAN else tuple(shlex.split(command))
        except ValueError:
            raise UserFixable("KLARTEXT_UPLOAD_SCAN cannot be read as a command. Close its quotation marks.") from None
        if scan and shutil.which(scan[0]) is None:
            raise UserFixable(
                f"KLARTEXT_UPLOAD_SCAN names {scan[0]!r}, which cannot be run. Install it, or correct it."
            )
        most = _count(env, "KLARTEXT_UPLOAD_MAX_BYTES", UPLOAD_BYTES, at_most=100_000_000)
        return cls(most, tuple(UPLOAD_KINDS[name] for name in names), scan)


@dataclass(frozen=True, slots=True)
class SmartClient:
    """Who we are to a FHIR server that patients may come from (``KLARTEXT_SMART``).

    Attributes:
        issuer: Its base URL; no other is ever asked.
        client_id: As it has registered us.
        secret: Of a confidential client, from a file; None: a public one.
    """

    issuer: str
    client_id: str
    secret: str | None = field(default=None, repr=False)


def _smart(env: Mapping[str, str]) -> tuple[SmartClient, ...]:
    found: dict[str, SmartClient] = {}
    for number, entry in enumerate(_list(env, "KLARTEXT_SMART"), 1):
        issuer, client_id, file, *more = [*entry.split(), "", "", ""][: max(3, len(entry.split()))]
        if not client_id or more or not _is_safe(_split(issuer)) or issuer.rstrip("/") in found:
            raise UserFixable(
                f"Entry {number} of KLARTEXT_SMART is not `https://FHIR-SERVER CLIENT_ID [SECRET_FILE]` (`http://` on "
                "this machine), or its server stands there twice. Correct it; entries are separated by commas."
            )
        secret_ = secret_in(Path(file), f"Entry {number} of KLARTEXT_SMART") if file else None
        found[issuer.rstrip("/")] = SmartClient(issuer, client_id, secret_)
    return tuple(found.values())


def _public_url(env: Mapping[str, str]) -> str | None:
    value = (env.get("KLARTEXT_PUBLIC_URL") or "").rstrip("/")
    if value and (not _is_safe(address := _split(value)) or (address is not None and address.path)):
        raise UserFixable(f"KLARTEXT_PUBLIC_URL is {value!r}. Set it to an address such as https://chat.example.org.")
    return value or None


STAFF_MINUTES = 5
STAFF_SENDER = "klartext@localhost"
MIN_STAFF_TOKEN = 32  # characters: it opens what patients write
_MAIL = re.compile(r"mailto:[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+")


@dataclass(frozen=True, slots=True)
class StaffCalls:
    """Calls for staff; there is none of this where nobody reads them (``KLARTEXT_STAFF_CALLS``: on or off).

    Attributes:
        token: Opens the staff API (``KLARTEXT_STAFF_TOKEN``); None: calls are read in the console only.
        minutes: That a call waits for each of the contacts (``KLARTEXT_STAFF_MINUTES``).
        contacts: Who is told of a call that nobody acknowledges, in order: webhooks and ``mailto:`` addresses
            (``KLARTEXT_STAFF_NEXT``, by commas). They may hold secrets.
        inbox: Where they see it (``KLARTEXT_STAFF_INBOX``); None: the address that the service listens on.
        smtp: Host and port of the mail server (``KLARTEXT_SMTP_URL``); None where nobody gets mail.
        sender: Of mail (``KLARTEXT_SMTP_FROM``).
    """

    token: str | None = field(default=None, repr=False)
    minutes: int = STAFF_MINUTES
    contacts: tuple[str, ...] = field(default=(), repr=False)
    inbox: str | None = None
    smtp: tuple[str, int] | None = None
    sender: str = STAFF_SENDER

    @classmethod
    def from_environment(cls, env: Mapping[str, str], *, console: bool | None = None) -> StaffCalls | None:
        """Read what concerns calls for staff; None where they are off: by default, where nobody could read them.

        `console`: as of `Settings.from_environment`.

        Raises:
            UserFixable: A contact or the mail server cannot be used; contacts are numbered, never quoted.
        """
        token = secret(env, "KLARTEXT_STAFF_TOKEN", at_least=MIN_STAFF_TOKEN)
        contacts = tuple(each.strip() for each in (secret(env, "KLARTEXT_STAFF_NEXT") or "").split(",") if each.strip())
        said = _one_of(env, "KLARTEXT_STAFF_CALLS", ("on", "off", "where read"), "where read")
        if said == "off" or (said == "where read" and token is None and not console):
            if contacts and said != "off" and console is not None:
                raise UserFixable(
                    "KLARTEXT_STAFF_NEXT is set and KLARTEXT_STAFF_TOKEN is not: nobody could acknowledge a call. "
                    "Serve the console too (`--staff`), set the token, or KLARTEXT_STAFF_CALLS=on where a console of "
                    "its own reads calls."
                )
            return None
        smtp = _mail_server(env)
        for number, contact in enumerate(contacts, 1):
            _require_contact(number, contact, smtp)
        sender = env.get("KLARTEXT_SMTP_FROM") or STAFF_SENDER
        if not _MAIL.fullmatch(f"mailto:{sender}"):
            raise UserFixable(f"KLARTEXT_SMTP_FROM is {sender!r}. Set it to an address such as klartext@example.org.")
        inbox = env.get("KLARTEXT_STAFF_INBOX") or None
        if inbox is not None and not re.fullmatch(r"https?://[^\s/]\S*", inbox):
            raise UserFixable(f"KLARTEXT_STAFF_INBOX is {inbox!r}. Set it to an address that begins with https://.")
        minutes = _count(env, "KLARTEXT_STAFF_MINUTES", STAFF_MINUTES, at_most=24 * 60)
        return cls(token, minutes, contacts, inbox, smtp, sender)


def _require_contact(number: int, contact: str, smtp: tuple[str, int] | None) -> None:
    if _MAIL.fullmatch(contact):
        if smtp is None:
            raise UserFixable(
                f"Contact {number} in KLARTEXT_STAFF_NEXT gets mail, and KLARTEXT_SMTP_URL is not set. "
                "Set it to smtp://HOST:PORT."
            )
        return
    if not _is_safe(_split(contact), bare=False):
        raise UserFixable(
            f"Contact {number} in KLARTEXT_STAFF_NEXT is neither `https://…` (or `http://` on this machine) nor "
            "`mailto:NAME@HOST`. Correct it; contacts are separated by commas."
        )


def _mail_server(env: Mapping[str, str]) -> tuple[str, int] | None:
    url = env.get("KLARTEXT_SMTP_URL") or None
    if url is None:
        return None
    found = _split(url)
    if found is None or found.scheme != "smtp" or "@" in found.netloc or found.path.strip("/"):
        raise UserFixable(
            "KLARTEXT_SMTP_URL is not of the form smtp://HOST:PORT, without a user and a path. Correct it."
        )
    return found.hostname or "", found.port or 25


def _split(url: str) -> SplitResult | None:
    """Return the parts of an address with a host; None where it has none, or a port that is no number."""
    try:
        found = urlsplit(url)
        return found if found.hostname and found.port != 0 else None
    except ValueError:
        return None


def _named(url: SplitResult) -> str:
    """Return the host of an address as settings name it: the dot that may end it is none of its name."""
    return (url.hostname or "").rstrip(".")


def _is_safe(url: SplitResult | None, *, bare: bool = True) -> bool:
    """Whether an address is encrypted, or on this machine; `bare`: and holds neither user, query nor fragment."""
    if url is None or (bare and ("@" in url.netloc or url.query or url.fragment)):
        return False
    return url.scheme == "https" or (url.scheme == "http" and url.hostname in LOOPBACK_HOSTS)


# Where it is asked who fills in the form: everywhere, nowhere, or where the shipped form is asked.
_ASK_WHO: Mapping[str, bool | None] = {"on": True, "off": False, "shipped": None}


def _one_of(env: Mapping[str, str], name: str, words: Sequence[Word], usual: Word) -> Word:
    said = env.get(name) or usual
    found = next((word for word in words if word == said), None)
    if found is None:
        raise UserFixable(f"{name} is {said!r}. Set it to one of: {', '.join(words)}.")
    return found


def _seal_key_file() -> Path:
    # A name of its own: on some platforms programs keep settings and data in the same folder.
    return Path(platformdirs.user_config_dir("klartext-seal", appauthor=False)) / "key"


@dataclass(frozen=True, slots=True)
class Settings:
    """How this installation is set up. Every field has an environment variable; `docs/reference.md` lists them.

    Attributes:
        data: Folder for database, index and trained heads (``KLARTEXT_DATA``).
        chroma_url: A Chroma server instead of the embedded store (``KLARTEXT_CHROMA_URL``), or None.
        database_url: SQLAlchemy URL (``KLARTEXT_DATABASE_URL``); default is SQLite in `data`.
        embeddings_url: Base URL of an OpenAI-compatible embeddings endpoint (``KLARTEXT_EMBEDDINGS_URL``).
        embeddings_key: Its key (``KLARTEXT_EMBEDDINGS_KEY``).
        model_url: Base URL of an OpenAI-compatible chat endpoint, for the harness (``KLARTEXT_MODEL_URL``).
        model_key: Its key (``KLARTEXT_MODEL_KEY``).
        allow_patient_text_to: Hosts elsewhere that may receive patient text (``KLARTEXT_ALLOW_PATIENT_TEXT_TO``).
        channel_token: Opens the REST channel to who has it (``KLARTEXT_CHANNEL_TOKEN``); it is off without.
        rasa_token: Opens the actions for a Rasa server likewise (``KLARTEXT_RASA_TOKEN``).
        trusted_proxies: Addresses whose ``X-Forwarded-For`` is believed (``KLARTEXT_TRUSTED_PROXIES``, by commas).
        requests_per_minute: Of one address (``KLARTEXT_REQUESTS_PER_MINUTE``); many patients may share a hospital's.
        turns_per_minute: Of one conversation (``KLARTEXT_TURNS_PER_MINUTE``).
        country: Whose emergency numbers patients are told (``KLARTEXT_COUNTRY``: AT, CH, DE or GB), and whose
            texts they get; None: the numbers of all, and texts for no country in particular.
        site: File with what patients may be told of the place (``KLARTEXT_SITE``); None: in sample mode a sample.
        languages: Folder with further languages (``KLARTEXT_LANGUAGES``), one folder each; None: those of the package.
        first_language: In which who asked for none is greeted, an option of the service; empty: the catalog's first.
        link_key: Signs links from appointments (``KLARTEXT_LINK_KEY``, or a file: ``KLARTEXT_LINK_KEY_FILE``).
        portals: Keys of portals that say who a patient is, by their names (``KLARTEXT_PORTAL_KEYS``: NAME:KEY).
        smart: FHIR servers that patients may come from, and who we are there (``KLARTEXT_SMART``, by commas).
        public_url: Under which browsers reach the service (``KLARTEXT_PUBLIC_URL``): where they are sent back to.
        frame_ancestors: Sites that may show the page in a frame (``KLARTEXT_FRAME_ANCESTORS``, by commas).
        dictation: Whether patients may dictate (``KLARTEXT_DICTATION``): on the device, by the browser's vendor, no.
        session_hours: How long the page knows a patient's browser (``KLARTEXT_SESSION_HOURS``).
        text_keys: Keys that encrypt patients' texts, the first, and read them, all (``KLARTEXT_TEXT_KEY``); None: none.
        retention: How long what is stored is kept.
        purge_daily: Whether the service deletes what is too old (``KLARTEXT_PURGE``: daily or off).
        idle_minutes: After so long without a word, conversations go to the FHIR server (``KLARTEXT_IDLE_MINUTES``).
        workers: How many processes serve patients (``KLARTEXT_WORKERS``); more than one share PostgreSQL and Chroma.
        fhir: How to reach a FHIR server.
        terminology_url: Base URL of a FHIR server that expands value sets (``KLARTEXT_TERMINOLOGY_SERVER``), or None.
        uploads: Files that patients may send; None: they may not.
        staff: Who reads patients' calls for a person; None: nobody does.
        staff_login: Who vouches for staff at the console (``KLARTEXT_STAFF_LOGIN``); None: accounts of its own.
        ask_who: Whether to ask who fills in the form (``KLARTEXT_ASK_WHO``); None: where it is the shipped form.
        prefill: Whether what a patient answered in an earlier interview here is proposed again (``KLARTEXT_PREFILL``).
        release_key: File with the private key that signs releases (``KLARTEXT_RELEASE_KEY_FILE``).
        release_trust: Public keys whose releases are shown (``KLARTEXT_RELEASE_TRUST``, by commas).
        approvals: Whose signatures count for a release (``KLARTEXT_APPROVALS``: names or accounts).
        seal_key: Vouches for what is derived from catalogs (``KLARTEXT_SEAL_KEY``); None: the one in `seal_key_file`.
        seal_key_file: Where a key of our own is kept: in the platform's folder for settings, not in `data`.
        audit_log: File of the audit log (``KLARTEXT_AUDIT_LOG``); None: ``audit.jsonl`` in `data`.
        audit_name: Of this machine's audit log, where several machines share a database (``KLARTEXT_AUDIT_NAME``).
        database_wait_s: For others who write to the database. No setting: the service has less patience than commands.
        otlp_url: Collector that gets traces, without texts and ids (``KLARTEXT_OTLP_URL``); None: nothing is traced.
    """

    data: Path
    chroma_url: str | None = None
    database_url: str | None = field(default=None, repr=False)  # it may hold a password
    embeddings_url: str | None = None
    embeddings_key: str | None = field(default=None, repr=False)
    model_url: str | None = None
    model_key: str | None = field(default=None, repr=False)
    allow_patient_text_to: frozenset[str] = frozenset()
    channel_token: str | None = field(default=None, repr=False)
    rasa_token: str | None = field(default=None, repr=False)
    trusted_proxies: tuple[str, ...] = ()
    requests_per_minute: int = REQUESTS_PER_MINUTE
    turns_per_minute: int = TURNS_PER_MINUTE
    country: Country | None = None
    site: Path | None = None
    languages: Path | None = None
    first_language: str = ""
    link_key: str | None = field(default=None, repr=False)
    portals: Mapping[str, str] = field(default_factory=dict, repr=False)
    smart: tuple[SmartClient, ...] = ()
    public_url: str | None = None
    frame_ancestors: tuple[str, ...] = ()
    dictation: Dictation = "device"
    session_hours: int = SESSION_HOURS
    text_keys: str | None = field(default=None, repr=False)
    retention: Retention = field(default_factory=Retention)
    purge_daily: bool = True
    idle_minutes: int = IDLE_MINUTES
    workers: int = 1
    fhir: FhirAccess = FhirAccess()
    terminology_url: str | None = None
    uploads: Uploads | None = None
    staff: StaffCalls | None = None
    staff_login: StaffLogin | None = None
    ask_who: bool | None = None
    prefill: bool = False
    release_key: Path | None = None
    release_trust: tuple[str, ...] = ()
    approvals: Signers = "names"
    seal_key: str | None = field(default=None, repr=False)
    seal_key_file: Path = field(default_factory=_seal_key_file)
    audit_log: Path | None = None
    audit_name: str = ""
    database_wait_s: float = DATABASE_WAIT_S
    otlp_url: str | None = None

    @classmethod
    def from_environment(
        cls, environ: Mapping[str, str] | None = None, *, data: Path | None = None, console: bool | None = None
    ) -> Settings:
        """Read the settings; an explicit `data` wins over ``KLARTEXT_DATA``, which wins over the platform's folder.

        `console`: whether the service that these are for serves the pages for staff, where calls are read; None: they
        are for no service.
        """
        env = os.environ if environ is None else environ
        folder = data or (Path(env["KLARTEXT_DATA"]) if env.get("KLARTEXT_DATA") else None)
        return cls(
            data=(folder or Path(platformdirs.user_data_dir("klartext", appauthor=False))).expanduser(),
            chroma_url=env.get("KLARTEXT_CHROMA_URL") or None,
            database_url=secret(env, "KLARTEXT_DATABASE_URL"),
            embeddings_url=env.get("KLARTEXT_EMBEDDINGS_URL") or None,
            embeddings_key=secret(env, "KLARTEXT_EMBEDDINGS_KEY"),
            model_url=env.get("KLARTEXT_MODEL_URL") or None,
            model_key=secret(env, "KLARTEXT_MODEL_KEY"),
            allow_patient_text_to=frozenset(_list(env, "KLARTEXT_ALLOW_PATIENT_TEXT_TO")),
            channel_token=secret(env, "KLARTEXT_CHANNEL_TOKEN", at_least=MIN_SECRET),
            rasa_token=secret(env, "KLARTEXT_RASA_TOKEN", at_least=MIN_SECRET),
            trusted_proxies=_list(env, "KLARTEXT_TRUSTED_PROXIES"),
            requests_per_minute=_count(env, "KLARTEXT_REQUESTS_PER_MINUTE", REQUESTS_PER_MINUTE),
            turns_per_minute=_count(env, "KLARTEXT_TURNS_PER_MINUTE", TURNS_PER_MINUTE),
            country=_one_of(env, "KLARTEXT_COUNTRY", COUNTRIES, COUNTRIES[0]) if env.get("KLARTEXT_COUNTRY") else None,
            site=Path(env["KLARTEXT_SITE"]) if env.get("KLARTEXT_SITE") else None,
            languages=Path(env["KLARTEXT_LANGUAGES"]) if env.get("KLARTEXT_LANGUAGES") else None,
            link_key=secret(env, "KLARTEXT_LINK_KEY", at_least=MIN_SECRET),
            portals=portal_keys(env),
            smart=_smart(env),
            public_url=_public_url(env),
            frame_ancestors=_sites(env, "KLARTEXT_FRAME_ANCESTORS"),
            dictation=_one_of(env, "KLARTEXT_DICTATION", DICTATIONS, "device"),
            session_hours=_count(env, "KLARTEXT_SESSION_HOURS", SESSION_HOURS),
            text_keys=secret(env, "KLARTEXT_TEXT_KEY"),
            retention=_retention(env),
            purge_daily=_one_of(env, "KLARTEXT_PURGE", ("daily", "off"), "daily") == "daily",
            idle_minutes=_count(env, "KLARTEXT_IDLE_MINUTES", IDLE_MINUTES),
            workers=_count(env, "KLARTEXT_WORKERS", 1),
            fhir=FhirAccess.from_environment(env),
            terminology_url=env.get("KLARTEXT_TERMINOLOGY_SERVER") or None,
            uploads=Uploads.from_environment(env),
            staff=StaffCalls.from_environment(env, console=console),
            staff_login=StaffLogin.from_environment(env),
            ask_who=_ASK_WHO[_one_of(env, "KLARTEXT_ASK_WHO", tuple(_ASK_WHO), "shipped")],
            prefill=_one_of(env, "KLARTEXT_PREFILL", ("yes", "no"), "no") == "yes",
            release_key=Path(env["KLARTEXT_RELEASE_KEY_FILE"]) if env.get("KLARTEXT_RELEASE_KEY_FILE") else None,
            release_trust=_list(env, "KLARTEXT_RELEASE_TRUST"),
            approvals=_one_of(env, "KLARTEXT_APPROVALS", _SIGNERS, "names"),
            seal_key=secret(env, "KLARTEXT_SEAL_KEY", at_least=MIN_SECRET),
            otlp_url=env.get("KLARTEXT_OTLP_URL") or None,
            audit_log=Path(env["KLARTEXT_AUDIT_LOG"]).expanduser() if env.get("KLARTEXT_AUDIT_LOG") else None,
            audit_name=env.get("KLARTEXT_AUDIT_NAME", "").strip(),
        )

    def writable_data(self) -> Path:
        """Create the data folder if need be, close it to others, and make sure that it can be written.

        Raises:
            Unreachable: It cannot be created or written.
        """
        try:
            make_private_folder(self.data)
            probe = self.data / f".probe-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise Unreachable(
                f"The data folder {self.data} cannot be written ({error.strerror}). "
                "Choose another one with `--data FOLDER` or KLARTEXT_DATA."
            ) from error
        return self.data

    def may_send_patient_text_to(self, url: str) -> bool:
        """Patient text leaves this machine only to hosts that the operator named, and never unencrypted."""
        split = _split(url)
        if split is None:
            return False
        if split.hostname in LOOPBACK_HOSTS:
            return True
        return _named(split) in self.allow_patient_text_to and split.scheme in ENCRYPTED

    def require_patient_text_allowed(self, url: str) -> None:
        """Raise UserFixable when patient text must not go to `url`."""
        if self.may_send_patient_text_to(url):
            return
        split = _split(url)
        if split is None:
            raise UserFixable(
                "Patient text would leave this machine to an address without a host. "
                "Write it in full, such as http://127.0.0.1:8080/v1."
            )
        host = _named(split)
        if host in self.allow_patient_text_to:
            raise UserFixable(
                f"Patient text would leave this machine to {host!r} unencrypted, by {split.scheme}. "
                "Set the address to https (of Dask: tls): outside of this machine nothing else is allowed."
            )
        raise UserFixable(
            f"Patient text would leave this machine to {host!r}, which is not allowed. "
            f"If that is agreed with your data protection officer, set KLARTEXT_ALLOW_PATIENT_TEXT_TO={host}."
        )


def _list(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in env.get(name, "").split(",") if part.strip())


def _count(env: Mapping[str, str], name: str, default: int, *, at_most: int = 10**9) -> int:
    value = env.get(name) or str(default)
    if not value.isdecimal() or not 1 <= int(value) <= at_most:
        raise UserFixable(f"{name} is {value!r}. Set it to a whole number from 1 to {at_most}, or unset it.")
    return int(value)


def _system(env: Mapping[str, str], name: str) -> str | None:
    """Return the system of identifiers that a setting names; one that is no URI would be refused when it is sent."""
    value = env.get(name) or None
    if value is not None and not re.fullmatch(r"https?://[^\s|]+|urn:[A-Za-z0-9][A-Za-z0-9-]{1,31}:[^\s|]+", value):
        raise UserFixable(f"{name} is {value!r}. Set it to a URI such as https://ris.example.org/orders.")
    return value


def _sites(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return origins such as ``https://www.example.org``; they go into a header, so nothing else may stand there."""
    sites = _list(env, name)
    for site in sites:
        if not re.fullmatch(r"https?://(\*\.)?[A-Za-z0-9.-]+(:\d{1,5})?", site):
            raise UserFixable(
                f"{name} holds {site!r}. List sites such as https://www.example.org, separated by commas."
            )
    return sites


def _retention(env: Mapping[str, str]) -> Retention:
    def days(name: str, usual: int) -> int:
        return _count(env, name, usual, at_most=MAX_DAYS)

    usual = Retention()
    return Retention(
        conversations=days("KLARTEXT_KEEP_CONVERSATIONS_DAYS", usual.conversations),
        questions=days("KLARTEXT_KEEP_QUESTIONS_DAYS", 1) if env.get("KLARTEXT_KEEP_QUESTIONS_DAYS") else None,
        comments=days("KLARTEXT_KEEP_COMMENTS_DAYS", usual.comments),
        interviews=days("KLARTEXT_KEEP_INTERVIEWS_DAYS", usual.interviews),
        sent=days("KLARTEXT_KEEP_SENT_DAYS", usual.sent),
    )

"""Look at the start whether what the settings name is there: a slip must not show when the first patient comes."""

from __future__ import annotations

import difflib
import hashlib
import logging
import socket
from collections.abc import Mapping, Sequence
from ipaddress import ip_network

from bot.errors import UserFixable
from bot.settings import Settings
from bot.wiring import require_chroma

log = logging.getLogger("klartext.web")
PREFIX = "KLARTEXT_"
SLOW = {"n": 2**14, "r": 8, "p": 1, "dklen": 5}
ANYBODY = "*"  # every proxy is believed
# All settings; those that hold secrets may be named with _FILE behind them. docs/reference.md says what each is.
NAMES = frozenset(
    {
        "ALLOW_PATIENT_TEXT_TO",
        "APPROVALS",
        "ASK_WHO",
        "AUDIT_LOG",
        "AUDIT_NAME",
        "CATALOG",
        "CHANNEL_TOKEN",
        "CHROMA_URL",
        "COUNTRY",
        "DATA",
        "DATABASE_URL",
        "DICTATION",
        "EMBEDDINGS_KEY",
        "EMBEDDINGS_URL",
        "FHIR_ACCESSION_SYSTEM",
        "FHIR_APPOINTMENT_SYSTEM",
        "FHIR_AUTH",
        "FHIR_CA_FILE",
        "FHIR_CLIENT_ID",
        "FHIR_CLIENT_SECRET",
        "FHIR_IDS",
        "FHIR_KEY_FILE",
        "FHIR_KEY_ID",
        "FHIR_ORDER_SYSTEM",
        "FHIR_PATIENT_SYSTEM",
        "FHIR_SCOPE",
        "FHIR_TOKEN_URL",
        "FHIR_URL",
        "FRAME_ANCESTORS",
        "IDLE_MINUTES",
        "KEEP_COMMENTS_DAYS",
        "KEEP_CONVERSATIONS_DAYS",
        "KEEP_INTERVIEWS_DAYS",
        "KEEP_QUESTIONS_DAYS",
        "KEEP_SENT_DAYS",
        "LANGUAGES",
        "LINK_KEY",
        "MODEL_KEY",
        "MODEL_URL",
        "OTLP_URL",
        "PORTAL_KEYS",
        "PREFILL",
        "PUBLIC_URL",
        "PURGE",
        "RASA_TOKEN",
        "RELEASE_KEY_FILE",
        "RELEASE_TRUST",
        "REQUESTS_PER_MINUTE",
        "SEAL_KEY",
        "SESSION_HOURS",
        "SITE",
        "SMART",
        "SMTP_FROM",
        "SMTP_URL",
        "STAFF_CALLS",
        "STAFF_INBOX",
        "STAFF_LOGIN",
        "STAFF_MINUTES",
        "STAFF_NEXT",
        "STAFF_ROLES",
        "STAFF_ROLES_CLAIM",
        "STAFF_TOKEN",
        "TERMINOLOGY_SERVER",
        "TEST_RASA",
        "TEXT_KEY",
        "TRUSTED_PROXIES",
        "TURNS_PER_MINUTE",
        "UPLOADS",
        "UPLOAD_MAX_BYTES",
        "UPLOAD_SCAN",
        "UPLOAD_TYPES",
        "WORKERS",
    }
)


def unknown_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that there are not, each with the known one that looks most like it; empty: none does."""
    known = NAMES | {f"{name}_FILE" for name in NAMES}
    found = {}
    for name in sorted(environ):
        rest = name.removeprefix(PREFIX)
        if rest != name and rest not in known and not rest.startswith("TEST_"):
            near = difflib.get_close_matches(rest, known, n=1)
            found[name] = f"{PREFIX}{near[0]}" if near else ""
    return found


def require_surroundings(settings: Settings, environ: Mapping[str, str]) -> None:
    """Warn of settings that there are not, and refuse those that name what is not there.

    Raises:
        UserFixable: A proxy's name is unknown, the site's file is missing, or the Chroma server does not answer.
    """
    for name, near in unknown_settings(environ).items():
        log.warning("there is no setting %s%s", name, f"; did you mean {near}?" if near else "")
    addresses_of(settings.trusted_proxies)
    if settings.site is not None and not settings.site.is_file():
        raise UserFixable(f"KLARTEXT_SITE is {str(settings.site)!r}, and there is no such file. Mend the path.")
    require_chroma(settings)
    if settings.chroma_url is not None:
        from bot.adapters.chroma_index import ChromaStore  # of an extra

        ChromaStore.server(settings.chroma_url)


def set_up(settings: Settings, flags: Mapping[str, str | bool]) -> dict[str, str]:
    """Return by name what all processes on one database must have alike; none of it can be read from the digests.

    Args:
        settings: Of this process.
        flags: Of its command, by name.
    """
    portals = "\n".join(f"{name}:{key}" for name, key in sorted(settings.portals.items()))
    secrets = {"KLARTEXT_LINK_KEY": settings.link_key or "", "KLARTEXT_PORTAL_KEYS": portals}
    plain = {"KLARTEXT_COUNTRY": settings.country or "", "KLARTEXT_FHIR_URL": settings.fhir.url or ""}
    found = {name: "yes" if value else "no" for name, value in flags.items() if isinstance(value, bool)}
    for name, value in (secrets | plain | {name: value for name, value in flags.items() if name not in found}).items():
        # Slow, and cut: who has the database must not find a key by trying.
        found[name] = (
            hashlib.scrypt(str(value).encode(), salt=f"klartext {name}".encode(), **SLOW).hex() if value else ""
        )
    return found


def addresses_of(proxies: Sequence[str]) -> list[str]:
    """Return the addresses and networks of proxies; names are looked up once, at the start.

    Raises:
        UserFixable: One is neither address nor network, and nobody knows the name.
    """
    found = []
    for each in proxies:
        try:
            found.append(
                each if each == ANYBODY else str(ip_network(each, strict=False)) if "/" in each else _one(each)
            )
        except (ValueError, OSError):
            raise UserFixable(
                f"KLARTEXT_TRUSTED_PROXIES holds {each!r}, which is no address, no network such as 10.0.0.0/8, and no "
                "name that is known here. Write the address from which the proxy connects."
            ) from None
    return found


def _one(written: str) -> str:
    return str(socket.getaddrinfo(written, None, type=socket.SOCK_STREAM)[0][4][0])

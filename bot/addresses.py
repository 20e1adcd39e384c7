"""Addresses that settings name: what they are made of, and which of them may be used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import SplitResult, urlsplit

from bot.errors import UserFixable

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})


def split_address(url: str) -> SplitResult | None:
    """Return the parts of an address with a host; None where it has none, or a port that is no number."""
    try:
        found = urlsplit(url)
        return found if found.hostname and found.port != 0 else None
    except ValueError:
        return None


def is_safe(url: SplitResult | None, *, bare: bool = True) -> bool:
    """Whether an address is encrypted, or on this machine; `bare`: and holds neither user, query nor fragment."""
    if url is None or (bare and ("@" in url.netloc or url.query or url.fragment)):
        return False
    return url.scheme == "https" or (url.scheme == "http" and url.hostname in LOOPBACK_HOSTS)


def system_of(env: Mapping[str, str], name: str) -> str | None:
    """Return the system of identifiers that a setting names; one that is no URI would be refused when it is sent."""
    value = env.get(name) or None
    if value is not None and not re.fullmatch(r"https?://[^\s|]+|urn:[A-Za-z0-9][A-Za-z0-9-]{1,31}:[^\s|]+", value):
        raise UserFixable(f"{name} is {value!r}. Set it to a URI such as https://ris.example.org/orders.")
    return value


def require_origins(name: str, sites: Sequence[str]) -> None:
    """Raise UserFixable unless these are such as ``https://www.example.org``: they go into a header."""
    for site in sites:
        if not re.fullmatch(r"https?://(\*\.)?[A-Za-z0-9.-]+(:\d{1,5})?", site):
            raise UserFixable(
                f"{name} holds {site!r}. List sites such as https://www.example.org, separated by commas."
            )

"""Literal references: what form they may have, and the type of what they lead to. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.interview.values.fhir_json import JsonObject, string
from bot.interview.values.fhir_names import INSTANCE_TYPES

_ID = r"[A-Za-z0-9\-.]{1,64}"
_RELATIVE = re.compile(rf"([A-Za-z]+)/{_ID}(/_history/{_ID})?")
_END = re.compile(rf"/([A-Za-z]+)/{_ID}(/_history/{_ID})?$")
_CONDITIONAL = re.compile(r"([A-Za-z]+)\?\S+")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
# No URI holds these, nor white space and control characters (RFC 3986).
_FORBIDDEN = re.compile(r'[\x00-\x20\x7f-\xa0<>"{}|\\^`]')
_FORMS = {
    "http": re.compile(r"//[^/?#]+([/?#].*)?"),
    "https": re.compile(r"//[^/?#]+([/?#].*)?"),
    "urn:uuid": re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE),
    "urn:oid": re.compile(r"[0-2](\.(0|[1-9][0-9]*))+"),
    "urn": re.compile(r"[A-Za-z0-9][A-Za-z0-9\-]{0,31}:.+"),
}


@dataclass(frozen=True, slots=True)
class Target:
    """What a reference says of where it leads.

    Attributes:
        type: The resource type that its address ends with; empty where it shows none.
        problem: Why it is none; empty where it is fine. Quotes nothing but a type.
        rule: ``reference-form`` or ``reference-type``, with a problem.
        conditional: Whether it is a search, which only the entries of a transaction may refer by.
    """

    type: str = ""
    problem: str = ""
    rule: str = ""
    conditional: bool = False


def read_target(reference: str) -> Target:
    """Read a literal reference (``Reference.reference``): relative, absolute, ``urn:…`` or ``#id``."""
    if reference.startswith("#"):
        fine = len(reference) == 1 or re.fullmatch(_ID, reference[1:])
        return Target() if fine else _malformed("no id of a contained resource")
    if _FORBIDDEN.search(reference):
        return _malformed("with characters that no address may have")
    if (scheme := _SCHEME.match(reference)) is not None:
        problem = uri_problem(reference)
        end = _END.search(reference) if scheme[1].lower() in {"http", "https"} else None
        kind = end[1] if end is not None and end[1] in INSTANCE_TYPES else ""
        return _malformed(problem) if problem else Target(kind)
    match = _RELATIVE.fullmatch(reference) or _CONDITIONAL.fullmatch(reference)
    if match is None:
        return _malformed("neither Type/id nor an absolute address")
    if match[1] not in INSTANCE_TYPES:
        return Target(match[1], f"to {match[1][:60]!r}, which is no resource type of R4", "reference-type")
    return Target(match[1], conditional="?" in reference)


def _malformed(why: str) -> Target:
    return Target(problem=why, rule="reference-form")


def uri_problem(uri: str) -> str:
    """Say what is wrong with the form of an absolute URI of a scheme that is known here; empty for all others."""
    scheme, _, rest = uri.partition(":")
    name = scheme.lower()
    if name == "urn" and (space := rest.partition(":")[0].lower()) in {"uuid", "oid"}:
        name, rest = f"urn:{space}", rest.partition(":")[2]
    form = _FORMS.get(name)
    return "" if form is None or form.fullmatch(rest) else f"no valid address of the form {name}:…"


def sound_system(system: str) -> str:
    """Return the system of a code; empty where it is an address that FHIR does not take."""
    return "" if system[:4] == "urn:" and uri_problem(system) else system


def target_type(reference: JsonObject) -> str:
    """Return the type of what is referred to, as far as the reference shows it: in its address, or else by name."""
    return read_target(string(reference, "reference")).type or string(reference, "type")

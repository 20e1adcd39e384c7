"""A FHIR terminology server: value sets are expanded there when a form is loaded, and kept sealed for later.

All that leaves the house is the canonical address of a value set; nothing of a patient is known here. A server that is
away, or talks nonsense, leaves a value set unknown with one reason, never an error.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import httpx

from bot.adapters.bounded_http import Answer, BoundedHttp, OddAnswer
from bot.adapters.fhir_server import require_protected
from bot.interview.form.options import missing_value_sets
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, NotJson, as_object, dump, objects, parse, split_canonical, string
from bot.interview.values.terminology import Terminology
from bot.private_files import SealedFolder, derived_in
from bot.settings import Settings

log = logging.getLogger("klartext")

PER_PAGE = 1000
MOST_CODES = 5000  # nobody chooses from more in a chat, and a form names such a set for its editor's search
FRESH = timedelta(days=1)  # so long a value set is used without asking again
TIMEOUT_S = 20.0  # for all pages of one value set
_TOO_COSTLY = "http://hl7.org/fhir/StructureDefinition/valueset-toocostly"
_HEADERS = {"Accept": "application/fhir+json"}


class NotExpanded(Exception):
    """A value set that the server does not give; the message says why, in a few words."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a terminology server gave.

    Attributes:
        value_sets: Each with its expansion.
        notes: Why others are missing, or how old they are; a line each.
    """

    value_sets: tuple[JsonObject, ...] = ()
    notes: tuple[str, ...] = ()


class TerminologyServer:
    """Expands value sets over HTTP; what it gave before is used for a day, and longer while it is away."""

    def __init__(
        self,
        url: str,
        kept: SealedFolder,
        *,
        timeout_s: float = TIMEOUT_S,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Prepare to ask the server at `url`.

        Raises:
            UserFixable: It is no address, or one that is not encrypted.
        """
        require_protected(url, "The terminology server", "others could change what patients are asked")
        self._base = url.rstrip("/")
        self._kept = kept
        self._timeout_s = timeout_s
        self._clock = clock
        self._away = ""  # once it did not answer, it is not asked again for this form

    def expand(self, canonicals: tuple[str, ...]) -> Fetched:
        """Return the value sets that the server, or the memory of it, has."""
        found: list[JsonObject] = []
        notes: list[str] = []
        http = BoundedHttp()
        self._away = ""
        try:
            for canonical in canonicals:
                value_set, note = self._expand(http, canonical)
                found += [value_set] if value_set is not None else []
                notes += [note] if note else []
        finally:
            http.close()
        return Fetched(tuple(found), tuple(dict.fromkeys(notes)))

    def _expand(self, http: BoundedHttp, canonical: str) -> tuple[JsonObject | None, str]:
        kept = self._remembered(canonical)
        if kept is not None and timedelta() <= self._clock() - kept[0] < FRESH:
            return kept[1], ""
        try:
            if self._away:
                raise NotExpanded(self._away)
            value_set = self._asked(http, canonical)
        except NotExpanded as error:
            if kept is not None:
                return kept[1], f"{canonical}: as of {kept[0].date()}, for the terminology server says: {error}"
            return None, f"{canonical}: the terminology server does not give it: {error}"
        record: dict[str, JsonValue] = {"fetched_at": self._clock().isoformat(), "value_set": dict(value_set)}
        try:
            self._kept.write(self._name(canonical), dump(record).encode())
        except OSError as error:
            log.warning("value set not kept: %s", error.strerror)
        return value_set, ""

    def _name(self, canonical: str) -> str:
        return hashlib.sha256(f"{self._base}\0{canonical}".encode("utf-8", "replace")).hexdigest()[:32]

    def _remembered(self, canonical: str) -> tuple[datetime, JsonObject] | None:
        content = self._kept.read(self._name(canonical))
        try:
            record = as_object(parse(content).value) if content is not None else {}
            return datetime.fromisoformat(string(record, "fetched_at")), as_object(record.get("value_set"))
        except (NotJson, ValueError):
            return None

    def _asked(self, http: BoundedHttp, canonical: str) -> JsonObject:
        """Ask for all pages of a value set."""
        url, version = split_canonical(canonical)
        until_s = time.monotonic() + self._timeout_s
        contains: list[JsonValue] = []
        codes: set[tuple[str, str]] = set()
        while True:
            page = self._page(http, canonical, len(codes), until_s)
            # Each page is a resource like any other: only what FHIR says of it is taken.
            if string(page, "url") not in ("", url) or (version and string(page, "version") not in ("", version)):
                raise NotExpanded("it answers with another value set")
            expansion = as_object(page.get("expansion"))
            if not expansion or any(each.get("url") == _TOO_COSTLY for each in objects(expansion, "extension")):
                raise NotExpanded("it does not list its codes")
            new = {(string(each, "system"), string(each, "code")) for each in _codes(expansion)} - codes
            contains += [dict(each) for each in objects(expansion, "contains")] if new else []
            codes |= new
            total = expansion.get("total")
            if len(codes) > MOST_CODES or (isinstance(total, int) and total > MOST_CODES):
                raise NotExpanded(f"it has more than {MOST_CODES} codes")
            if not isinstance(total, int) or total <= len(codes):
                break
            if not new:
                raise NotExpanded(f"it gives {len(codes)} of {total} codes")
        kept = {name: page[name] for name in ("name", "title", "language") if isinstance(page.get(name), str)}
        own: dict[str, JsonValue] = {"resourceType": "ValueSet", "url": url, "status": "active", **kept}
        if said := version or string(page, "version"):
            own["version"] = said
        return {**own, "expansion": {"timestamp": self._clock().isoformat(), "contains": contains}}

    def _page(self, http: BoundedHttp, canonical: str, offset: int, until_s: float) -> JsonObject:
        url, version = split_canonical(canonical)
        asked = {"url": url, "count": str(PER_PAGE), "offset": str(offset), "includeDesignations": "true"}
        query = urlencode(asked | ({"valueSetVersion": version} if version else {}), errors="replace")
        try:
            answer = http.request(
                "GET",
                f"{self._base}/ValueSet/$expand?{query}",
                headers=_HEADERS,
                deadline_s=until_s - time.monotonic(),
            )
        except httpx.TimeoutException:
            self._away = f"it does not answer within {self._timeout_s:g} seconds"
            raise NotExpanded(self._away) from None
        except httpx.TransportError as error:
            self._away = f"it cannot be reached ({type(error).__name__})"
            raise NotExpanded(self._away) from None
        except OddAnswer as odd:
            raise NotExpanded(f"its answer cannot be read ({odd})") from None
        return _value_set(answer)


def fetch_value_sets(settings: Settings, questionnaires: Iterable[JsonObject], known: Terminology) -> Fetched:
    """Return the value sets that forms name and nobody here knows, from the terminology server of the settings.

    Raises:
        UserFixable: Its address cannot be used.
    """
    if settings.terminology_url is None:
        return Fetched()
    derived = derived_in(settings.writable_data(), settings.seal_key, settings.seal_key_file)
    server = TerminologyServer(
        settings.terminology_url, SealedFolder(derived.folder / "terminology", derived.seal, ".json")
    )
    wanted = (canonical for raw in questionnaires for canonical in missing_value_sets(raw, known))
    return server.expand(tuple(dict.fromkeys(wanted)))


def _value_set(answer: Answer) -> JsonObject:
    """Return the ValueSet in an answer; else say in a few words, none of them the server's, what it is."""
    try:
        found: Mapping[str, JsonValue] = as_object(parse(answer.body).value) if answer.may_be_json else {}
    except NotJson:
        found = {}
    kind = string(found, "resourceType")
    if answer.status == 200 and kind == "ValueSet":
        return found
    if kind == "OperationOutcome":
        codes = sorted({string(issue, "code")[:30] for issue in objects(found, "issue")} - {""})
        known = [code for code in codes if code.replace("-", "").isalpha()]
        raise NotExpanded(f"{answer.status} {', '.join(known[:3])}".strip())
    raise NotExpanded(f"its answer is no ValueSet ({answer.status})")


def _codes(expansion: JsonObject) -> Iterator[JsonObject]:
    pending = list(objects(expansion, "contains"))
    while pending:
        node = pending.pop()
        if string(node, "code"):
            yield node
        pending += objects(node, "contains")

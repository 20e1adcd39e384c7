"""A release as FHIR R4: one Library a language, readable as text and as data. Pure. Why so: decision 13."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Literal

from bot.catalog.catalog import Pair, Source
from bot.catalog.look import Namespaces
from bot.release.contents import Contents
from bot.release.release import Release
from bot.sentences.spelling import released

_NAMESPACE = uuid.UUID("2f0f6a0e-3f0b-4e55-9a53-0f5a6f2c7d13")  # ours: the same release has the same ids everywhere
_TYPES = "http://terminology.hl7.org/CodeSystem/library-type"
_DIV = '<div xmlns="http://www.w3.org/1999/xhtml" lang="{language}" xml:lang="{language}">{body}</div>'
TEXTS = ("question", "short_answer", "answer", "easy_answer")


def libraries(release: Release, contents: Contents, namespaces: Namespaces) -> list[dict[str, Any]]:
    """Return what a release shows, a Library for each language; the same release always gives the same bytes."""
    return [_library(release, contents, language, namespaces) for language in sorted(contents.catalogs)]


def bundle(resources: Sequence[Mapping[str, Any]], ids: Literal["server", "client"]) -> dict[str, Any]:
    """Return a transaction that puts resources on a server once.

    `ids`: whose they are. Where the server gives them, If-None-Exist keeps a second one out; else whoever sends looks
    for the id first.
    """
    return {"resourceType": "Bundle", "type": "transaction", "entry": [_entry(each, ids) for each in resources]}


def _entry(resource: Mapping[str, Any], ids: Literal["server", "client"]) -> dict[str, Any]:
    identifier = resource["identifier"][0]
    if ids == "client":
        request = {"method": "PUT", "url": f"Library/{resource['id']}"}
    else:
        query = f"identifier={identifier['system']}|{identifier['value']}"
        request = {"method": "POST", "url": "Library", "ifNoneExist": query}
    sent = {name: value for name, value in resource.items() if ids == "client" or name != "id"}
    return {"fullUrl": f"urn:uuid:{resource['id']}", "resource": sent, "request": request}


def _library(release: Release, contents: Contents, language: str, namespaces: Namespaces) -> dict[str, Any]:
    manifest, catalog = release.content, released(contents.catalogs[language], contents.country)
    kept = set(manifest["shown"][language])
    pairs = [pair for pair in catalog.pairs if pair.id in kept]
    signed = [contents.approvals.signed[f"pair {pair.id} {language}"] for pair in pairs]
    until = [manifest["until"][f"pair {pair.id} {language}"] for pair in pairs]
    named = f"{release.exam}-{language}"
    raw = _data(release, contents, language, pairs).encode()
    made: dict[str, Any] = {
        "resourceType": "Library",
        "id": str(uuid.uuid5(_NAMESPACE, f"{release.hash}/{language}")),
        "language": language,
        "text": {"status": "additional", "div": _narrative(pairs, language)},
        "url": f"{namespaces.canonical}/Library/{named}",
        "identifier": [{"system": f"{namespaces.identifiers}/release", "value": f"{release.name}-{language}"}],
        "version": str(release.number),
        "name": "".join(part.capitalize() for part in f"klartext-{named}".replace("_", "-").split("-")),
        "title": f"{release.exam} ({language}), release {release.number}",
        "status": "active",
        "experimental": False,
        "type": {"coding": [{"system": _TYPES, "code": "asset-collection"}]},
        "date": release.made.isoformat(timespec="seconds"),
        "approvalDate": max(at for each in signed for _, at in each.by).date().isoformat(),
        "effectivePeriod": {"start": release.made.isoformat(timespec="seconds"), "end": min(until)},
        "endorser": [{"name": name} for name in sorted({name for each in signed for name, _ in each.by})],
        "relatedArtifact": [_cited(source) for source in _sources(pairs)],
        "content": [
            {
                "contentType": "application/json",
                "language": language,
                "data": base64.b64encode(raw).decode(),
                "size": len(raw),
                "hash": base64.b64encode(hashlib.sha1(raw, usedforsecurity=False).digest()).decode(),  # R4 wants SHA-1
                "title": f"{len(pairs)} pairs",
                "creation": release.made.isoformat(timespec="seconds"),
            }
        ],
    }
    if release.note:
        made["description"] = release.note
    return {name: value for name, value in made.items() if value not in ([], "")}


def _data(release: Release, contents: Contents, language: str, pairs: Sequence[Pair]) -> str:
    """Return the pairs for programs: what patients are shown, by id, and what it rests on."""
    said = {
        "release": release.name,
        "exam": release.exam,
        "language": language,
        "country": contents.country,
        "pairs": [
            {
                "id": pair.id,
                **{name: value for name in TEXTS if (value := getattr(pair, name)) is not None},
                "sources": [each.model_dump(mode="json", exclude_none=True) for each in pair.sources],
            }
            for pair in pairs
        ],
    }
    return json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _narrative(pairs: Sequence[Pair], language: str) -> str:
    """Return all questions and answers for people: any client can show that, whatever it knows of Klartext."""
    body = "".join(f"<h2>{escape(pair.question)}</h2>{_paragraphs(pair)}" for pair in pairs)
    return _DIV.format(language=language, body=body)


def _paragraphs(pair: Pair) -> str:
    texts = [text for text in (pair.short_answer, pair.answer) if text]
    return "".join(f"<p>{escape(line)}</p>" for text in texts for line in text.splitlines() if line.strip())


def _sources(pairs: Sequence[Pair]) -> Iterator[Source]:
    seen: set[tuple[str, str | None]] = set()
    for source in (source for pair in pairs for source in pair.sources):
        if (source.title, source.url) not in seen:
            seen.add((source.title, source.url))
            yield source


def _cited(source: Source) -> dict[str, Any]:
    cited = {"type": "citation", "citation": f"{source.publisher}: {source.title} ({source.year})"}
    return {**cited, "url": source.url} if source.url else cited

"""Whole catalogs as JSON, all fields of all pairs: what is written is read back as it was, but as drafts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from bot.catalog.catalog import Catalog, pair_from
from bot.catalog.exchange.entries import Entry, Reading, Remark, language_of, strings
from bot.catalog.exchange.sources import Handed
from bot.errors import BadData

NAME, MAKER = "json", "Klartext"
FORMAT = "klartext-catalogs-1"


def recognises(handed: Handed) -> bool:
    name = handed.single
    if name is None or not name.lower().endswith(".json"):
        return False
    data = handed.json(name)
    return isinstance(data, dict) and data.get("format") == FORMAT


def read(handed: Handed) -> Reading:
    reading, name = Reading(MAKER), handed.single or ""
    catalogs = handed.json(name).get("catalogs")
    if not isinstance(catalogs, list):
        raise BadData(f"{handed.path} has no list `catalogs`. Export it again with `klartext qa export`.")
    for catalog in catalogs:
        if not isinstance(catalog, dict) or not isinstance(catalog.get("pairs"), list):
            raise BadData(f"{handed.path}: a catalog has no list `pairs`. Export it again with `klartext qa export`.")
        language = language_of(catalog.get("language"))
        for number, raw in enumerate(catalog["pairs"], 1):
            at = f"{name}, {language}, pair {number}"
            try:
                pair = pair_from(raw if isinstance(raw, dict) else {})
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(step) for step in first["loc"])
                reading.leave(
                    at,
                    str(raw.get("id", "")) if isinstance(raw, dict) else "",
                    Remark(f"{where}: {first['msg']}.", "odd-pair"),
                )
                continue
            texts = [pair.question, *(variant.text for variant in pair.variants)]
            reading.entries.append(Entry(pair.id, texts, pair.answer, language, at=at, pair=pair))
        reading.background += [(language, text) for text in strings(catalog.get("background"))]
    return reading


def write(catalogs: Sequence[Catalog]) -> Mapping[str, bytes]:
    document: dict[str, Any] = {
        "format": FORMAT,
        "catalogs": [
            {
                "catalog": each.name,
                "language": each.language,
                "version": each.version,
                "pairs": [pair.model_dump(mode="json", exclude_defaults=True) for pair in each.pairs],
                "background": list(each.background),
            }
            for each in catalogs
        ],
    }
    return {"": json.dumps(document, ensure_ascii=False, indent=1).encode()}

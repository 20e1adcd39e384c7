"""Questions and answers of Botpress v12, as its Q&A module exports and imports them.

A list of ``{"id", "data": {"action", "contexts", "enabled", "questions": {LANG: []}, "answers": {LANG: []},
"redirectFlow", "redirectNode"}}``, bare or under ``qnas`` beside ``contentElements``: the schemas `QnaItemArraySchema`
and `QnaItemCmsArraySchema` in ``modules/qna/src/backend/validation.ts`` of github.com/botpress/botpress (v12). Botpress
Cloud exports whole bots as ``.bpz``, whose inside its documentation asks nobody to touch
(https://botpress.com/docs/studio/concepts/import-export-bots): that is not read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bot.catalog.catalog import Catalog
from bot.catalog.exchange.entries import Entry, Reading, Remark, language_of, strings
from bot.catalog.exchange.sources import Handed

NAME, MAKER = "botpress", "Botpress"


def recognises(handed: Handed) -> bool:
    name = handed.single
    return name is not None and name.lower().endswith(".json") and _items(handed.json(name)) is not None


def _items(data: Any) -> list[Any] | None:
    items = data.get("qnas") if isinstance(data, dict) else data
    if not isinstance(items, list) or not items:
        return None
    known = [each for each in items if isinstance(each, dict) and isinstance(each.get("data", each), dict)]
    return items if any(isinstance(each.get("data", each).get("questions"), dict) for each in known) else None


def read(handed: Handed) -> Reading:
    reading = Reading(MAKER)
    name = handed.single or ""
    data = handed.json(name)
    contents = data.get("contentElements") if isinstance(data, dict) else None
    for number, item in enumerate(_items(data) or [], 1):
        at = f"{name}, entry {number}"
        if not isinstance(item, dict) or not isinstance(entry := item.get("data", item), dict):
            reading.leave(at, "", Remark("This is no entry.", "no-entry"))
            continue
        key = str(item.get("id") or "")
        if entry.get("enabled") is False:
            reading.leave(at, key, Remark("It is switched off.", "off"))
        elif entry.get("action") == "redirect":
            reading.leave(at, key, Remark("It leads into a conversation flow and has no answer.", "flow"), flow=True)
        else:
            if entry.get("action") == "text_redirect":
                reading.leave(
                    at,
                    key,
                    Remark("Its answer is taken; the conversation flow after it is left out.", "flow-after"),
                    flow=True,
                )
            _languages(reading, at, key, entry)
    if isinstance(contents, list) and contents:
        reading.notes.append(
            Remark(f"{len(contents)} content elements (cards, images) left out", "contents", n=len(contents))
        )
    return reading


def _languages(reading: Reading, at: str, key: str, entry: Mapping[str, Any]) -> None:
    questions, answers = entry.get("questions"), entry.get("answers")
    if not isinstance(questions, dict) or not isinstance(answers, dict):
        reading.leave(at, key, Remark("It has no questions or no answers by language.", "no-languages"))
        return
    for code, texts in questions.items():
        found = strings(answers.get(code))
        # "#!builtin_card-…" names a content element, not a text.
        written = [each for each in found if not each.startswith("#!")]
        if not strings(texts):
            reading.leave(at, key, Remark(f"It has no question in {code}.", "no-question"))
        elif not written:
            reading.leave(at, key, Remark(f"It has no answer in words in {code}.", "no-answer"))
        else:
            if len(found) > 1:
                reading.leave(
                    at,
                    key,
                    Remark(
                        f"{len(found) - 1} other answers in {code}: a pair has one, the first is taken.",
                        "other-answers",
                    ),
                )
            reading.entries.append(Entry(key, strings(texts), written[0], language_of(code), at=at))


def write(catalogs: Sequence[Catalog]) -> Mapping[str, bytes]:
    entries: dict[str, dict[str, Any]] = {}
    for catalog in catalogs:
        for pair in catalog.pairs:
            entry = entries.setdefault(
                pair.id,
                {
                    "action": "text",
                    "contexts": ["global"],
                    "enabled": True,
                    "answers": {},
                    "questions": {},
                    "redirectFlow": "",
                    "redirectNode": "",
                },
            )
            entry["questions"][catalog.language] = [pair.question, *(variant.text for variant in pair.variants)]
            entry["answers"][catalog.language] = [pair.answer]
    document = {"qnas": [{"id": name, "data": entry} for name, entry in entries.items()], "contentElements": []}
    return {"": json.dumps(document, ensure_ascii=False, indent=2).encode()}

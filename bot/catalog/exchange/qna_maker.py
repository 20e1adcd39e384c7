"""Azure Custom Question Answering and its forerunner QnA Maker: the TSV and the JSON of their exports.

TSV: the columns Question, Answer, Source, Metadata, SuggestedQuestions, IsContextOnly, Prompts, QnaId and
SourceDisplayName; a row for each wording, rows of one QnaId are one pair; line breaks are written ``\\n``, Metadata
and Prompts are JSON, in older exports ``name:value|name:value``. JSON: ``qnaDocuments`` of QnA Maker's download, or
``assets.qnas`` of a project, whose metadata is an object and whose ``dialog`` says ``isContextOnly`` and ``prompts``:
https://learn.microsoft.com/en-us/rest/api/questionanswering/question-answering-projects/import (2021-10-01) and
https://learn.microsoft.com/en-us/azure/cognitive-services/qnamaker/concepts/data-sources-supported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.catalog.catalog import Catalog
from bot.catalog.exchange.entries import Entry, Reading, Remark, language_of, strings
from bot.catalog.exchange.sources import Handed
from bot.catalog.exchange.tables import unquoted

NAME, MAKER = "qnamaker", "QnA Maker"
COLUMNS = (
    "Question",
    "Answer",
    "Source",
    "Metadata",
    "SuggestedQuestions",
    "IsContextOnly",
    "Prompts",
    "QnaId",
    "SourceDisplayName",
)
ID = "klartext_id"  # in the metadata of what we write; names there are lower case


def recognises(handed: Handed) -> bool:
    name = handed.single
    if name is None:
        return False
    if name.lower().endswith(".json"):
        return _documents(handed.json(name)) is not None
    if not name.lower().endswith((".tsv", ".txt", ".csv")):
        return False
    first = handed.text(name).lstrip("\ufeff").partition("\n")[0]
    columns = [unquoted(each).casefold() for each in first.strip("\r").split("\t")]
    return {"question", "answer"} <= set(columns) and bool({"qnaid", "metadata", "source"} & set(columns))


def read(handed: Handed) -> Reading:
    reading, name = Reading(MAKER), handed.single or ""
    rows = _from_json(handed, name, reading) if name.lower().endswith(".json") else _from_tsv(handed, name, reading)
    pairs: dict[tuple[str, str, str], Entry] = {}
    prompts = suggested = 0
    for row in rows:
        prompts += len(row["prompts"]) if isinstance(row["prompts"], list) else 0
        suggested += len(row["suggested"]) if isinstance(row["suggested"], list) else 0
        metadata = row["metadata"]
        key = str(metadata.get(ID) or "")
        what = f"QnA {row['id']}" if row["id"] else ""
        if str(row["context_only"]).casefold() == "true":
            reading.leave(
                row["at"],
                what,
                Remark("It answers only after another answer: part of a conversation.", "flow"),
                flow=True,
            )
        elif not strings(row["questions"]):
            reading.leave(row["at"], what, Remark("It has no question.", "no-question"))
        elif not str(row["answer"]).strip():
            reading.leave(row["at"], what, Remark("It has no answer.", "no-answer"))
        else:
            identity = (row["id"], "", "") if row["id"] else ("", str(row["answer"]), row["source"])
            entry = pairs.setdefault(
                identity,
                Entry(key, [], str(row["answer"]), language_of(metadata.get("language")), row["source"], row["at"]),
            )
            entry.texts += strings(row["questions"])
    reading.entries = list(pairs.values())
    if prompts:
        reading.notes.append(
            Remark(f"{prompts} follow-up prompts left out: they lead from one answer to another", "prompts", n=prompts)
        )
    if suggested:
        reading.notes.append(
            Remark(f"{suggested} suggested questions left out: nobody has accepted them", "suggested", n=suggested)
        )
    return reading


def _documents(data: Any) -> list[Any] | None:
    data = _lower(data)
    if not isinstance(data, dict):
        return None
    assets = _lower(data.get("assets"))
    for found in (data.get("qnadocuments"), data.get("qnalist"), isinstance(assets, dict) and assets.get("qnas")):
        if isinstance(found, list):
            return found
    return None


def _lower(value: Any) -> Any:
    """Keys are camelCase in the API and PascalCase in the portal's export."""
    return {str(key).lower(): each for key, each in value.items()} if isinstance(value, dict) else value


def _from_json(handed: Handed, name: str, reading: Reading) -> Iterator[dict[str, Any]]:
    for number, raw in enumerate(_documents(handed.json(name)) or [], 1):
        item = _lower(raw)
        if not isinstance(item, dict):
            reading.leave(f"{name}, entry {number}", "", Remark("This is no entry.", "no-entry"))
            continue
        dialog = _lower(item.get("dialog") or item.get("context") or {})
        dialog = dialog if isinstance(dialog, dict) else {}
        yield {
            "at": f"{name}, entry {number}",
            "id": str(item.get("id") or ""),
            "questions": item.get("questions"),
            "answer": item.get("answer") or "",
            "source": str(item.get("source") or ""),
            "metadata": _metadata(item.get("metadata")),
            "context_only": dialog.get("iscontextonly"),
            "prompts": dialog.get("prompts"),
            "suggested": item.get("activelearningsuggestions"),
        }


def _from_tsv(handed: Handed, name: str, reading: Reading) -> Iterator[dict[str, Any]]:
    lines = handed.text(name).lstrip("\ufeff").splitlines()
    columns = [unquoted(each).casefold() for each in lines[0].split("\t")]
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        cells = [unquoted(each) for each in line.split("\t")]
        if len(cells) > len(columns):
            reading.leave(
                f"{name}:{number}",
                "",
                Remark(f"It has {len(cells)} cells; the first line has {len(columns)}.", "cells"),
            )
            continue
        row = dict(zip(columns, [*cells, *[""] * (len(columns) - len(cells))], strict=True))
        yield {
            "at": f"{name}:{number}",
            "id": row.get("qnaid", ""),
            "questions": [row["question"].replace("\\n", " ")],
            "answer": row["answer"].replace("\\n", "\n"),
            "source": row.get("source", ""),
            "metadata": _metadata(row.get("metadata")),
            "context_only": row.get("iscontextonly"),
            "prompts": _json(row.get("prompts")),
            "suggested": _json(row.get("suggestedquestions")),
        }


def _json(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) and text.strip() else None
    except (ValueError, RecursionError):
        return None


def _metadata(raw: object) -> dict[str, str]:
    """Return metadata, which is an object, a list of names and values, or ``name:value|name:value``."""
    value = _json(raw) if isinstance(raw, str) and raw.lstrip().startswith(("[", "{")) else raw
    if isinstance(value, str):
        return {key.strip(): rest.strip() for key, _, rest in (part.partition(":") for part in value.split("|"))}
    if isinstance(value, list):
        value = {str(_lower(each).get("name")): _lower(each).get("value") for each in value if isinstance(each, dict)}
    return {str(key).lower(): str(each) for key, each in value.items()} if isinstance(value, dict) else {}


def write(catalogs: Sequence[Catalog]) -> Mapping[str, bytes]:
    lines = ["\t".join(COLUMNS)]
    for number, pair in enumerate(catalogs[0].pairs, 1):
        metadata = json.dumps([{"name": ID, "value": pair.id}])
        for text in (pair.question, *(variant.text for variant in pair.variants)):
            cells = [text, pair.answer, "Editorial", metadata, "[]", "False", "[]", str(number), "Editorial"]
            lines.append("\t".join("\\n".join(cell.replace("\t", " ").splitlines()) for cell in cells))
    return {"": ("\n".join(lines) + "\n").encode()}

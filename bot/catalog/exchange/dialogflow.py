"""Dialogflow ES: an agent as its console exports it, as zip or as the folder of it.

``agent.json`` (``language``, ``supportedLanguages``), ``intents/NAME.json`` (contexts, parameters, events, webhook, and
``responses`` with ``messages`` of type 0 with ``lang`` and ``speech``), ``intents/NAME_usersays_LANG.json`` (training
phrases as lists of ``data`` parts): https://cloud.google.com/dialogflow/es/docs/agents-settings#export and, field by
field, https://botflo.com/dissecting-dialogflow-agent-zip-file/. Phrases of a fallback intent are what no intent
answers.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from bot.catalog.catalog import Catalog
from bot.catalog.exchange.entries import Entry, Reading, Remark, language_of, strings
from bot.catalog.exchange.sources import Handed
from bot.errors import BadData

NAME, MAKER = "dialogflow", "Dialogflow"
_SAYS = re.compile(r"^(?P<stem>.*)_usersays_(?P<language>[A-Za-z]{2}(?:-[A-Za-z]+)?)\.json$")
_PARAMETER = re.compile(r"\$[A-Za-z_][\w.-]*|#[A-Za-z_][\w-]*\.[\w.-]+")


def recognises(handed: Handed) -> bool:
    return any(_in_intents(name) for name in handed.files) and any(
        name.rpartition("/")[2] == "agent.json" for name in handed.files
    )


def _in_intents(name: str) -> bool:
    return "intents" in name.split("/")[:-1] and name.endswith(".json")


def read(handed: Handed) -> Reading:
    reading = Reading(MAKER)
    agent = next(name for name in sorted(handed.files, key=len) if name.rpartition("/")[2] == "agent.json")
    about = handed.json(agent)
    if not isinstance(about, dict):
        raise BadData(f"{handed.label(agent)} is no agent of Dialogflow ES. Export it again as a zip.")
    default = language_of(about.get("language"))
    folder = f"{agent.rpartition('agent.json')[0]}intents/"
    names = sorted(name for name in handed.files if name.startswith(folder) and name.endswith(".json"))
    says = {name: found for name in names if (found := _SAYS.match(name))}
    for name in (each for each in names if each not in says):
        intent = handed.json(name)
        if not isinstance(intent, dict):
            reading.leave(name, "", Remark("This is no intent.", "no-entry"))
            continue
        phrases: dict[str | None, list[str]] = {}
        _phrases(reading, name, intent.get("userSays"), phrases.setdefault(default, []))
        for other, found in says.items():
            if found["stem"] == name.removesuffix(".json"):
                language = language_of(found["language"])
                _phrases(reading, other, handed.json(other), phrases.setdefault(language, []))
        _intent(reading, name, intent, {key: each for key, each in phrases.items() if each}, default)
    return reading


def _phrases(reading: Reading, name: str, raw: object, into: list[str]) -> None:
    for number, phrase in enumerate(raw if isinstance(raw, list) else [], 1):
        parts = phrase.get("data") if isinstance(phrase, dict) else None
        texts = [each["text"] for each in parts or () if isinstance(each, dict) and isinstance(each.get("text"), str)]
        if isinstance(phrase, dict) and phrase.get("isTemplate") is True:
            reading.leave(
                f"{name}, phrase {number}", "", Remark("It is a template, not what somebody says.", "template")
            )
        elif not "".join(texts).strip():
            reading.leave(f"{name}, phrase {number}", "", Remark("It has no text.", "no-text"))
        else:
            into.append("".join(texts))


def _intent(
    reading: Reading, at: str, intent: dict[str, Any], phrases: dict[str | None, list[str]], default: str | None
) -> None:
    name = str(intent.get("name") or at.rpartition("/")[2].removesuffix(".json"))
    if intent.get("fallbackIntent") is True:
        reading.background += [(language, text) for language, texts in phrases.items() for text in texts]
        return
    if intent.get("contexts") or intent.get("parentId"):
        reading.leave(at, name, Remark("It waits for a context: part of a conversation.", "flow"), flow=True)
        return
    if not phrases:
        reading.leave(
            at, name, Remark("It has no training phrases: something else than a question starts it.", "flow"), flow=True
        )
        return
    answers = _answers(intent, default)
    for language, texts in phrases.items():
        said = answers.get(language, [])
        if not said:
            why = (
                "its answer comes from a webhook" if intent.get("webhookUsed") is True else "it has no answer in words"
            )
            reading.leave(
                at, name, Remark(f"In {language}, {why}.", "no-answer"), flow=intent.get("webhookUsed") is True
            )
        elif _PARAMETER.search(said[0]):
            reading.leave(
                at,
                name,
                Remark(f"Its answer in {language} has a parameter, which only a conversation fills.", "flow"),
                flow=True,
            )
        else:
            if len(said) > 1:
                reading.leave(
                    at,
                    name,
                    Remark(f"{len(said) - 1} other answers in {language}: the first is taken.", "other-answers"),
                )
            reading.entries.append(Entry(name, texts, said[0], language, at=at))


def _answers(intent: Mapping[str, Any], default: str | None) -> dict[str | None, list[str]]:
    """Return the answers by language, the first wordings of all bubbles one after the other, then other wordings."""
    first: dict[str | None, list[str]] = {}
    other: dict[str | None, list[str]] = {}
    responses = intent.get("responses")
    for response in responses if isinstance(responses, list) else []:
        messages = response.get("messages") if isinstance(response, dict) else None
        for message in messages if isinstance(messages, list) else []:
            if not isinstance(message, dict) or str(message.get("type")) != "0" or message.get("platform"):
                continue  # cards, quick replies and payloads, and what is for one channel only
            language = language_of(message.get("lang")) or default
            if texts := strings(message.get("speech")):
                first.setdefault(language, []).append(texts[0])
                other.setdefault(language, []).extend(texts[1:])
    return {language: ["\n".join(texts), *other[language]] for language, texts in first.items()}


def write(catalogs: Sequence[Catalog]) -> Mapping[str, bytes]:
    languages = [catalog.language for catalog in catalogs]
    agent = {
        "description": f"Questions and answers of {catalogs[0].ref}",
        "language": languages[0],
        "supportedLanguages": languages[1:],
        "disableInteractionLogs": True,
        "defaultTimezone": "Europe/Berlin",
        "isPrivate": True,
        "mlMinConfidence": 0.3,
    }
    files: dict[str, Any] = {"agent.json": agent, "package.json": {"version": "1.0.0"}}
    for catalog in catalogs:
        for pair in catalog.pairs:
            intent = files.setdefault(f"intents/{pair.id}.json", _new_intent(catalog.name, pair.id))
            message = {"type": "0", "title": "", "textToSpeech": "", "lang": catalog.language, "speech": [pair.answer]}
            intent["responses"][0]["messages"].append(message)
            texts = [pair.question, *(variant.text for variant in pair.variants)]
            files[f"intents/{pair.id}_usersays_{catalog.language}.json"] = _says(catalog, pair.id, texts)
        if catalog.background:
            fallback = files.setdefault(
                "intents/Default Fallback Intent.json", _new_intent(catalog.name, "Default Fallback Intent")
            )
            fallback["fallbackIntent"] = True
            name = f"intents/Default Fallback Intent_usersays_{catalog.language}.json"
            files[name] = _says(catalog, "fallback", catalog.background)
    return {name: json.dumps(each, ensure_ascii=False, indent=2).encode() for name, each in files.items()}


def _id(*names: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(names)))  # the same catalog makes the same file


def _new_intent(catalog: str, name: str) -> dict[str, Any]:
    response = {
        "resetContexts": False,
        "action": "",
        "affectedContexts": [],
        "parameters": [],
        "messages": [],
        "speech": [],
    }
    return {
        "id": _id(catalog, name),
        "name": name,
        "auto": True,
        "contexts": [],
        "responses": [response],
        "priority": 500000,
        "webhookUsed": False,
        "webhookForSlotFilling": False,
        "fallbackIntent": False,
        "events": [],
    }


def _says(catalog: Catalog, name: str, texts: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "id": _id(catalog.name, name, catalog.language, str(number)),
            "data": [{"text": text, "userDefined": False}],
            "isTemplate": False,
            "count": 0,
            "lang": catalog.language,
            "updated": 0,
        }
        for number, text in enumerate(texts)
    ]

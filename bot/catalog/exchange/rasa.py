"""Rasa: NLU training data, responses of the domain, and rules, in one file or in a project's folder or zip.

Intents with their ``examples``, retrieval intents as ``faq/…`` with the response ``utter_faq/…``
(https://rasa.com/docs/rasa/chitchat-faqs), ``out_of_scope`` and ``nlu_fallback``
(https://rasa.com/docs/rasa/fallback-handoff), training data and responses as in
https://rasa.com/docs/rasa/training-data-format and https://rasa.com/docs/rasa/responses. An intent is a question with
its answer where a response carries its name, or where a rule answers it with one response and nothing else; all others
are parts of conversations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.catalog.catalog import Catalog
from bot.catalog.exchange.entries import Entry, Reading, Remark, language_of, strings
from bot.catalog.exchange.sources import Handed
from bot.errors import BadData

NAME, MAKER = "rasa", "Rasa"
OWN_SLOT = "klartext_project"  # of the projects that `klartext rasa export` writes
BACKGROUND = ("out_of_scope", "nlu_fallback")
# [text](entity), [text]{"entity": …} and [text][{"entity": …}]
_ENTITY = re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\{[^}]*\}|\[[^\]]*\])")
_SLOT = re.compile(r"\{[A-Za-z_][\w.]*\}")
_FLOWS = ("stories", "forms", "flows", "e2e_actions")
_KNOWN = {"nlu", "responses", "rules", "stories", "intents"}


@dataclass(slots=True)
class _Project:
    examples: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # by intent: place and text
    responses: dict[str, list[Any]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)  # by intent: the response that a rule gives
    flows: int = 0
    language: str | None = None
    exported: bool = False  # by ourselves


def recognises(handed: Handed) -> bool:
    names = [name for name in handed.files if name.lower().endswith((".yml", ".yaml"))]
    if handed.single is None and not any(name.endswith(("domain.yml", "domain.yaml", "nlu.yml")) for name in names):
        names = [name for name in names if b"nlu:" in handed.files[name]]
    documents = (handed.yaml(name) for name in names)
    return any(isinstance(each, dict) and _KNOWN & set(each) for each in documents)


def read(handed: Handed) -> Reading:
    reading, project = Reading(MAKER), _Project()
    for name in sorted(handed.files):
        if name.lower().endswith((".yml", ".yaml")):
            document = handed.yaml(name)
            if isinstance(document, dict):
                _collect(project, name, document)
    if project.exported and any(_for_some(each) for texts in project.responses.values() for each in texts):
        # The examples of all languages stand under the same intents, and nothing tells them apart.
        raise BadData(
            f"{handed.path} is an export of Klartext in several languages, which do not stand apart in it. Use the "
            "catalog that it was made of, or export one language: `klartext rasa export --lang LANG`.",
            code="own-export",
        )
    for intent, examples in project.examples.items():
        if intent.split("/")[-1] in BACKGROUND:
            reading.background += [(project.language, text) for _, text in examples]
        elif not project.responses:  # training data alone: the answers are elsewhere
            _entry(reading, project, intent, "")
        else:
            _answered(reading, project, intent)
    if project.flows:
        reading.notes.append(
            Remark(
                f"{project.flows} stories, rules, forms and flows left out: parts of conversations",
                "stories",
                n=project.flows,
            )
        )
    return reading


def _entry(reading: Reading, project: _Project, intent: str, answer: str) -> None:
    examples = project.examples[intent]
    key = intent.rpartition("/")[2]
    reading.entries.append(
        Entry(key, [text for _, text in examples], answer, project.language, at=f"{examples[0][0]}, {intent}")
    )


def _answered(reading: Reading, project: _Project, intent: str) -> None:
    at = project.examples[intent][0][0]
    response = f"utter_{intent}" if f"utter_{intent}" in project.responses else project.answers.get(intent, "")
    said = [each for each in project.responses.get(response, ()) if isinstance(each, dict)]
    texts = [each["text"] for each in said if isinstance(each.get("text"), str) and not _for_some(each)]
    for each in filter(_for_some, said):
        why = "under a condition" if "condition" in each else f"in the channel {each['channel']!r}"
        reading.leave(at, intent, Remark(f"A wording of {response} is said {why} only.", "some-only"))
    if response not in project.responses:
        reading.leave(at, intent, Remark("No response answers it alone: part of a conversation.", "flow"), flow=True)
    elif not texts:
        reading.leave(at, intent, Remark(f"{response} has no text for everybody.", "no-answer"))
    elif _SLOT.search(texts[0]):
        reading.leave(
            at,
            intent,
            Remark(f"{response} has a slot in its text, which only a conversation fills.", "flow"),
            flow=True,
        )
    else:
        if len(texts) > 1:
            reading.leave(
                at,
                intent,
                Remark(f"{len(texts) - 1} other wordings of {response}: the first is taken.", "other-answers"),
            )
        if any({"buttons", "image", "attachment", "custom"} & {*each} for each in said):
            reading.leave(at, intent, Remark(f"Buttons, images or attachments of {response}.", "buttons"))
        _entry(reading, project, intent, texts[0])


def _for_some(said: object) -> bool:
    """Say whether a wording is not for everybody."""
    return isinstance(said, dict) and bool({"condition", "channel"} & {*said})


def _collect(project: _Project, name: str, document: dict[Any, Any]) -> None:
    for intent, _, text in examples_in(document):
        project.examples.setdefault(intent, []).append((name, text))
    declared = document.get("slots")
    project.exported |= isinstance(declared, dict) and OWN_SLOT in declared
    responses = document.get("responses")
    if isinstance(responses, dict):
        project.responses |= {
            key: each if isinstance(each, list) else [] for key, each in responses.items() if isinstance(key, str)
        }
    rules = document.get("rules")
    for rule in rules if isinstance(rules, list) else []:
        steps = rule.get("steps") if isinstance(rule, dict) else None
        found = [each for each in steps if isinstance(each, dict)] if isinstance(steps, list) else []
        names = [(strings([each.get("intent"), each.get("action")]) or [""])[0] for each in found]
        if len(found) == 2 and "intent" in found[0] and "action" in found[1] and names[1].startswith("utter_"):
            project.answers.setdefault(names[0], names[1])
        else:
            project.flows += 1
    for kind in _FLOWS:
        project.flows += len(document[kind]) if isinstance(document.get(kind), list | dict) else 0
    if "pipeline" in document or "policies" in document:
        project.language = language_of(document.get("language")) or project.language


def examples_in(document: Mapping[Any, Any]) -> Iterator[tuple[str, int, str]]:
    """Yield intent, number and text of the examples in training data; synonyms, lookups and regexes are none."""
    blocks = document.get("nlu")
    for block in blocks if isinstance(blocks, list) else []:
        if not isinstance(block, dict) or not isinstance(block.get("intent"), str):
            continue
        examples = block.get("examples")
        if isinstance(examples, list):
            # Only what is a text: a list of aliases of lists could be unfolded without end.
            lines = strings([each.get("text") if isinstance(each, dict) else each for each in examples])
        else:
            lines = examples.splitlines() if isinstance(examples, str) else []
        for number, line in enumerate(lines, 1):
            text = _ENTITY.sub(r"\1", line.strip().removeprefix("-").strip())
            if text:
                yield block["intent"], number, text


def write(catalogs: Sequence[Catalog]) -> Mapping[str, bytes]:
    catalog = catalogs[0]
    quoted = json.dumps  # JSON's strings are YAML's
    nlu, responses = (
        ['version: "3.1"', "nlu:"],
        ['version: "3.1"', "intents:", "  - faq", "  - out_of_scope", "responses:"],
    )
    for pair in catalog.pairs:
        nlu += [f"- intent: {quoted(f'faq/{pair.id}')}", "  examples: |"]
        nlu += [f"    - {' '.join(text.split())}" for text in (pair.question, *(each.text for each in pair.variants))]
        responses += [
            f"  {quoted(f'utter_faq/{pair.id}')}:",
            f"  - text: {quoted(pair.answer, ensure_ascii=False)}",
        ]
    if catalog.background:
        nlu += ["- intent: out_of_scope", "  examples: |"]
        nlu += [f"    - {' '.join(text.split())}" for text in catalog.background]
    rules = [
        'version: "3.1"',
        "rules:",
        "- rule: answer questions",
        "  steps:",
        "  - intent: faq",
        "  - action: utter_faq",
    ]
    config = [
        "recipe: default.v1",
        f"language: {catalog.language}",
        "pipeline:",
        *[f"- name: {each}" for each in ("WhitespaceTokenizer", "CountVectorsFeaturizer", "DIETClassifier")],
        "- name: ResponseSelector",
        "  retrieval_intent: faq",
        "policies:",
        "- name: RulePolicy",
    ]
    files = {"config.yml": config, "domain.yml": responses, "data/nlu.yml": nlu, "data/rules.yml": rules}
    return {name: ("\n".join(lines) + "\n").encode() for name, lines in files.items()}


def unwritable(text: str) -> bool:
    """Would Rasa take a part of a text for an entity or a slot? Its format has no way to write such a text.

    A brace that stands alone is none, but Rasa fails at it when it says the text.
    """
    return bool(_ENTITY.search(text) or {"{", "}"} & {*text})

"""Answers to a table of topics from documents: a draft of each, and which single things it answers."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

from bot import BadData, data_folder, decoded
from harness.authoring.evidence.drafting import Drafter, Evidence, Plan
from harness.authoring.working import Ask, Unusable, Work, ask, prefixed, together
from harness.files import Record, read_record, unreadable
from harness.llm.scores import json_objects

ID = re.compile(r"[a-z0-9][a-z0-9_.-]*")
FEWEST_FACETS, MOST_FACETS = 1, 12
_FACET = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+){0,5}")


class AnswerTexts(Record):
    """What a model is asked of a drafted answer; slots as in `string.Template`."""

    facets: str


def load_answer_texts(language: str) -> AnswerTexts:
    """Load the words for a language; raise BadData when nobody wrote them."""
    path = data_folder("vignettes") / "authoring" / f"answers-{language}.yaml"
    return read_record(path, AnswerTexts, f"{path} holds no prompts ({{reason}}). Write it after the English one.")


@dataclass(frozen=True, slots=True)
class Topic:
    """What a new pair is about.

    Attributes:
        id: Of the pair.
        question: In the patients' words.
        scope: What belongs to it; may be empty.
    """

    id: str
    question: str
    scope: str = ""


def read_topics(path: Path, language: str) -> list[Topic]:
    """Read a table: `id`, `question` (or `question_<lang>`, `frage_<lang>`), and `scope`; tabs, or as Excel saves it.

    Raises:
        BadData: It cannot be read, lacks a column, or a row has no id or question, or an id comes twice.
    """
    try:
        lines = decoded(path.read_bytes()).splitlines()
        delimiter = max("\t;,", key="".join(lines[:1]).count)
        rows = list(csv.DictReader(lines, delimiter=delimiter))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = unreadable(error) if not isinstance(error, csv.Error) else "it is no table"
        raise BadData(f"{path} cannot be read ({why}). Give a table with tabs: id, question, scope.") from error
    names = list(rows[0]) if rows else []
    wanted = (f"question_{language}", f"frage_{language}", "question", "frage")
    column = next((name for name in wanted if name in names), None)
    if "id" not in names or column is None:
        have = ", ".join(filter(None, names)) or "none"
        raise BadData(f"{path} has the columns {have}. It needs id and question (or question_{language}), with tabs.")
    scope = next((name for name in ("scope", "scope note") if name in names), "")
    topics: dict[str, Topic] = {}
    for number, row in enumerate(rows, 2):
        topic = Topic(*(" ".join((row.get(name) or "").split()) for name in ("id", column, scope)))
        if not ID.fullmatch(topic.id) or not topic.question:
            raise BadData(f"{path}:{number}: the id {topic.id!r} or its question is none. Write both, ids as how-long.")
        if topic.id in topics:
            raise BadData(f"{path}:{number}: the id {topic.id!r} comes twice. Rename one.")
        topics[topic.id] = topic
    return list(topics.values())


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a topic: a draft with its evidence, and the facets of its answer; none where nothing was read."""

    topic: Topic
    evidence: Evidence
    facets: tuple[str, ...]


@dataclass(frozen=True)
class TopicDrafting:
    """Drafts answers to topics, all of them side by side.

    Attributes:
        drafter: Over the documents.
        texts: What is asked of an answer.
        plan: How each is made; its question is the topic's.
    """

    drafter: Drafter
    texts: AnswerTexts
    plan: Plan

    def all(self, topics: Sequence[Topic]) -> Work[list[Answer]]:
        """Draft an answer to each topic."""
        return (yield from together([prefixed(self._one(topic), f"{topic.id}/") for topic in topics]))

    def _one(self, topic: Topic) -> Work[Answer]:
        asked = f"{topic.question} ({topic.scope})" if topic.scope else topic.question
        evidence = yield from self.drafter.draft(replace(self.plan, question=asked))
        if evidence.ended:
            return Answer(topic, evidence, ())
        slots = {"question": topic.question, "scope": topic.scope or "–", "answer": evidence.text("answer")}
        content = Template(self.texts.facets).substitute(slots).strip()
        wanted = Ask("facets", [{"role": "user", "content": content}], _read_facets, labels={"step": "facets"})
        return Answer(topic, evidence, (yield from ask(wanted)) or ())


def _read_facets(answer: str) -> tuple[str, ...]:
    for document in json_objects(answer):
        named = document.get("facets")
        if isinstance(named, list):
            keys = [re.sub(r"[\s_]+", "-", str(each).strip().lower()) for each in named]
            found = tuple(dict.fromkeys(key for key in keys if _FACET.fullmatch(key)))[:MOST_FACETS]
            if len(found) >= FEWEST_FACETS:
                return found
    raise Unusable('it holds no {"facets": ["…"]}')

"""Have a model write candidate texts and proxy tasks; its prompts are data. Pure but for reading the words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

from pydantic import Field, ValidationError

from bot import BadData, Catalog, Pair, data_folder
from harness.authoring.ranking.tasks import ENTAILMENT, TRUTH, Item, QuizLine, Rules, quiz_item
from harness.authoring.working import Ask, Unusable, Work, ask_all
from harness.files import Record, read_record, without_controls
from harness.llm.scores import json_objects

EACH, OPEN, QUIZZES = 4, 2, 3  # statements of a kind, and quizzes, that are asked for a pair
FEWEST = 2  # true and false statements, that an answer is used
LONGEST_TEXT = 250  # words of a candidate: nobody asked for an essay
_FENCE = re.compile(r"^```\w*\s*|\s*```$")
_LEAD = re.compile(r"^(?:neue fassung|new version|antwort|answer)[^:\n]{0,40}:\s*", re.IGNORECASE)


class Manner(Record):
    """One way in which a model is asked for a text."""

    label: str
    system: str
    task: str


class ItemTask(Record):
    """How a model is asked for proxy tasks."""

    system: str
    task: str


class FormTexts(Record):
    """What people who rank are told."""

    heading: str


class RankTexts(Record):
    """The words of a language."""

    manners: Mapping[str, Manner] = Field(min_length=1)
    items: ItemTask
    labels: Mapping[str, str]
    form: FormTexts
    rules: Rules

    @property
    def hash(self) -> str:
        """SHA-256 of what is asked, shortened."""
        asked = {"manners": {name: one.model_dump() for name, one in self.manners.items()}, "items": self.items}
        return hashlib.sha256(repr(asked).encode()).hexdigest()[:16]

    def label_only(self, item: Item) -> str:
        """Return the control case that says what is right, and not why."""
        option = item.options[item.right]
        name = "quiz" if item.task == "quiz" else option
        return Template(self.labels[name]).substitute(option=option)


def load_texts(language: str) -> RankTexts:
    """Load the words of a language; raise BadData when nobody wrote them."""
    path = data_folder("vignettes") / "authoring" / f"ranking-{language}.yaml"
    return read_record(path, RankTexts, f"The words of a ranking in {language!r} cannot be read ({{reason}}): {path}.")


@dataclass(frozen=True)
class Plan:
    """What a model is asked for.

    Attributes:
        catalog: Holds the answers.
        pair_ids: Whose texts are ranked.
        manners: In which ways it rewrites; none where all candidates come from files.
        items: Whether it writes proxy tasks, too.
        texts: The words.
    """

    catalog: Catalog
    pair_ids: tuple[str, ...]
    manners: tuple[str, ...]
    items: bool
    texts: RankTexts

    def __post_init__(self) -> None:
        unknown = [name for name in self.manners if name not in self.texts.manners]
        if unknown:
            raise BadData(f"There is no manner {unknown[0]!r}. Known: {', '.join(self.texts.manners)}.")

    def asks(self) -> list[Ask[Any]]:
        """Return every prompt; none depends on another."""
        return [one for id_ in self.pair_ids for one in self._of(self.catalog.pair(id_))]

    def _of(self, pair: Pair) -> list[Ask[Any]]:
        def ask(id_: str, words: Manner | ItemTask, read: Callable[[str], Any], **slots: str) -> Ask[Any]:
            task = Template(words.task).substitute(question=pair.question, answer=pair.answer, **slots)
            messages = [{"role": "system", "content": words.system}, {"role": "user", "content": task}]
            return Ask(id_, messages, read, labels={"pair": pair.id, "kind": id_.partition("/")[0]})

        asks = [ask(f"rewrite/{pair.id}/{name}", self.texts.manners[name], read_text) for name in self.manners]
        if self.items:
            numbers = {"each": str(EACH), "open": str(OPEN), "quizzes": str(QUIZZES)}
            asks.append(ask(f"items/{pair.id}", self.texts.items, lambda text: read_items(text, pair.id), **numbers))
        return asks


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a model wrote.

    Attributes:
        candidates: Texts by manner and pair.
        items: Proxy tasks.
    """

    candidates: Mapping[str, Mapping[str, str]]
    items: tuple[Item, ...]


def gather(plan: Plan) -> Work[Gathered]:
    """Ask for all candidates and tasks of a plan at once."""
    asks = plan.asks()
    read = yield from ask_all(asks)
    candidates: dict[str, dict[str, str]] = {name: {} for name in plan.manners}
    items: list[Item] = []
    for one, value in zip(asks, read, strict=True):
        kind, _, rest = one.id.partition("/")
        if value is None:
            continue
        if kind == "items":
            items += value
        else:
            pair_id, _, manner = rest.rpartition("/")
            candidates[manner][pair_id] = value
    return Gathered(candidates, tuple(items))


def read_text(answer: str) -> str:
    """Read a candidate: the text without fence and heading; raise Unusable when it is none."""
    text = _LEAD.sub("", _FENCE.sub("", without_controls(answer).strip()).strip())
    text = " ".join(text.replace("**", "").split())
    if not text:
        raise Unusable("it is empty")
    if len(text.split()) > LONGEST_TEXT:
        raise Unusable(f"it has more than {LONGEST_TEXT} words")
    return text


def read_items(answer: str, pair_id: str) -> tuple[Item, ...]:
    """Read proxy tasks of a pair; statements alternate between the tasks, so that each has some of either label.

    Raises:
        Unusable: Fewer than two true or two false statements can be read.
    """
    found = next((one for one in json_objects(without_controls(answer)) if "true" in one or "false" in one), None)
    if found is None:
        raise Unusable("it holds no JSON object with true and false statements")
    said = {kind: _statements(found.get(kind)) for kind in ("true", "false", "open")}
    if min(len(said["true"]), len(said["false"])) < FEWEST:
        raise Unusable(f"it has {len(said['true'])} true and {len(said['false'])} false statements")
    items = []
    for right, kind in enumerate(("true", "false")):
        for number, text in enumerate(said[kind]):
            task, options = ("truth", TRUTH) if number % 2 else ("entailment", ENTAILMENT)
            id_ = f"{task}/{pair_id}/model-{kind}-{number}"
            items.append(Item(id_, task, pair_id, text, options, right, "model"))  # type: ignore[arg-type]
    items += [
        Item(f"entailment/{pair_id}/model-open-{number}", "entailment", pair_id, text, ENTAILMENT, 2, "model")
        for number, text in enumerate(said["open"])
    ]
    quizzes = found.get("quiz")
    for number, quiz in enumerate(quizzes if isinstance(quizzes, list) else ()):
        try:
            line = QuizLine.model_validate({**quiz, "pair": pair_id})
        except (ValidationError, TypeError):
            continue  # one that is not whole spoils no other
        items.append(quiz_item(line, f"quiz/{pair_id}/model-{number}", "model"))
    return tuple(items)


def _statements(value: object) -> list[str]:
    texts: Sequence[object] = value if isinstance(value, list) else ()
    clean = [" ".join(text.split()) for text in texts if isinstance(text, str)]
    return list(dict.fromkeys(text for text in clean if 3 <= len(text.split()) <= 40))

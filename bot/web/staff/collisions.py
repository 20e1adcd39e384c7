"""The preview of collisions while somebody types: near pairs, near copies, and questions that would be drawn."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Literal

import yaml

from bot.assistant import Assistant
from bot.catalog.catalog import Catalog, Pair
from bot.curation.scrub import scrub
from bot.errors import KlartextError
from bot.matching.collisions import Near, Placed, near_pairs
from bot.ports import Vectors
from bot.resources import data_folder
from bot.text import NearCopies, sanitise
from bot.web.staff.tools import Tools

log = logging.getLogger("klartext")
MOST_TEXTS = 40  # looked at in one preview; the rest is said to be left out
MOST_ASKED = 2000  # of patients' newest questions
MOST_SHOWN = 12
AT_ONCE = 32  # questions encoded at once
ANEW_AFTER = timedelta(hours=1)
Kind = Literal["asked", "test", "calibration"]
State = Literal["none", "preparing", "ready"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question that somebody asked, or that a test asks.

    Attributes:
        kind: Whose it is.
        text: What is compared.
        pair_id: The right pair, where that is known; empty: none, or nobody knows.
    """

    kind: Kind
    text: str
    pair_id: str = ""


@dataclass(frozen=True, slots=True)
class Pulled:
    """A question that would probably get another answer: where it goes now, and which new text draws it."""

    kind: Kind
    question: str
    now: str
    text: str
    right: bool | None


@dataclass(frozen=True, slots=True)
class Copy:
    """A new text that nearly repeats one of another pair."""

    text: str
    other: str
    pair_id: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What the texts of one language would collide with.

    Attributes:
        state: Whether the matcher is there.
        looked: How many new texts were looked at.
        left_out: How many were too many.
        placed: How many questions were compared; None: they are still being placed.
    """

    language: str
    state: State
    looked: int = 0
    left_out: int = 0
    near: Sequence[Near] = ()
    copies: Sequence[Copy] = ()
    pulled: Sequence[Pulled] = ()
    more: int = 0
    placed: int | None = None


@dataclass
class _Known:
    """What belongs to one assistant and language: questions with their places, added as they come."""

    assistant: Assistant
    begun: datetime
    questions: list[Question] = field(default_factory=list)
    placed: Placed | None = None
    done: bool = False


@dataclass
class Collisions:
    """Makes previews; what they need of past and test questions is prepared once, in the background.

    Attributes:
        tools: Of the console.
        most_questions: How many questions are compared, patients' newest first.
    """

    tools: Tools
    most_questions: int = 10_000
    _known: dict[str, _Known] = field(default_factory=dict)
    _copies: dict[str, tuple[Catalog, NearCopies]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def preview(self, catalog: Catalog, pair: Pair) -> Preview:
        """Return what a pair's texts would collide with that are not in the matcher yet."""
        language, assistant = catalog.language, self.tools.assistant()
        texts = [pair.question, *(each.text for each in pair.variants)]
        released = catalog.by_id.get(pair.id)
        there = {released.question, *(each.text for each in released.variants)} if released is not None else set()
        # The newest stand last.
        new = [text for text in dict.fromkeys(texts) if text not in there]
        looked = new[-MOST_TEXTS:]
        copies = list(self._near_copies(catalog, pair.id, looked))
        if assistant is None or language not in assistant.languages:
            return Preview(language, "none", len(looked), len(new) - len(looked), copies=copies)
        left = len(new) - len(looked)
        known = self._questions(assistant, language, catalog)
        if not looked:
            return Preview(language, "ready", placed=len(known.questions) if known.done else None)
        head, ids = assistant.head(language)
        clean = [sanitise(text).text for text in looked]
        vectors = assistant.encoder.encode(clean)
        near = near_pairs(head, ids, pair.id, vectors, clean)
        near = [Near(looked[clean.index(each.text)], each.pair_id, each.probability) for each in near]
        pulled = self._pulled(known, language, pair.id, vectors, looked)
        placed = len(known.questions) if known.done else None
        shown = pulled[:MOST_SHOWN]
        return Preview(language, "ready", len(looked), left, near, copies, shown, len(pulled) - len(shown), placed)

    def _near_copies(self, catalog: Catalog, own: str, texts: Sequence[str]) -> Iterator[Copy]:
        with self._lock:
            if catalog.language not in self._copies or self._copies[catalog.language][0] is not catalog:
                index = NearCopies()
                for pair in catalog.pairs:
                    for text in (pair.question, *(each.text for each in pair.variants)):
                        index.add(text, pair.id)
                self._copies[catalog.language] = (catalog, index)
            index = self._copies[catalog.language][1]
        for text in texts:
            copy = index.find(text, besides=own)
            if copy is not None:
                yield Copy(text, copy.text, copy.label)

    def _pulled(self, known: _Known, language: str, own: str, vectors: Vectors, texts: Sequence[str]) -> list[Pulled]:
        with self._lock:
            placed, questions = known.placed, list(known.questions)
        if placed is None:
            return []
        head, ids = known.assistant.head(language)
        bags = [head.evidence.vocabulary.bag(sanitise(text).text) for text in texts]
        white = head.evidence.whitening.apply(vectors)
        drawn = placed.drawn(white, bags, ids.index(own) if own in ids else None)
        still: set[str] = set()
        if any(questions[each.question].kind == "asked" for each in drawn):
            # Whoever has erased what they asked is not quoted from memory.
            still = {turn.question for turn in self.tools.records.asked(most=MOST_ASKED)}
        found = []
        for each in drawn:
            question, place = questions[each.question], int(placed.place[each.question])
            if question.kind == "asked" and question.text not in still:
                continue
            # Whoever reads this is no nurse of that patient: rules take out what tells who asked.
            text = scrub(question.text, language).text if question.kind == "asked" else question.text
            right = question.pair_id == own if question.pair_id else None
            found.append(Pulled(question.kind, text, ids[place] if place < len(ids) else "", texts[each.text], right))
        # What would go wrong comes first, then what nobody knows.
        return sorted(found, key=lambda each: (each.right is True, each.right is None))

    def _questions(self, assistant: Assistant, language: str, catalog: Catalog) -> _Known:
        """Return what is known; the first call, and one an hour, begins to place questions anew."""
        now = self.tools.now()
        with self._lock:
            known = self._known.get(language)
            if known is None or known.assistant is not assistant:
                known = self._known[language] = _Known(assistant, now)
                self._begin(known, language, catalog)
            elif known.done and now - known.begun > ANEW_AFTER:
                known.begun = now
                self._begin(_Known(assistant, now), language, catalog)  # the old one serves until this one is done
            return known

    def _begin(self, known: _Known, language: str, catalog: Catalog) -> None:
        name = f"questions-{language}"
        threading.Thread(target=self._place, args=(known, language, catalog), daemon=True, name=name).start()

    def _place(self, known: _Known, language: str, catalog: Catalog) -> None:
        """Place all questions, some at a time: what is there counts at once."""
        try:
            evidence = known.assistant.head(language)[0].evidence
            questions = list(islice(self._all(language, catalog), self.most_questions))
            for start in range(0, len(questions), AT_ONCE):
                began = time.monotonic()
                some = questions[start : start + AT_ONCE]
                texts = [sanitise(each.text).text for each in some]
                placed = Placed.of(evidence, known.assistant.encoder.encode(texts), texts)
                with self._lock:
                    known.placed = known.placed.joined(placed) if known.placed is not None else placed
                    known.questions += some
                time.sleep(time.monotonic() - began)  # patients who ask meanwhile come first
            with self._lock:
                known.done = True
                self._known[language] = known
        except (KlartextError, OSError, ValueError) as error:
            log.warning("questions for previews could not be placed", exc_info=error)

    def _all(self, language: str, catalog: Catalog) -> Iterator[Question]:
        seen: set[str] = set()
        for turn in self.tools.records.asked(most=MOST_ASKED):
            if turn.language == language and turn.question and turn.question not in seen:
                seen.add(turn.question)
                yield Question("asked", turn.question)
        for each in catalog.calibration:
            if each.text not in seen:
                seen.add(each.text)
                yield Question("calibration", each.text, each.pair_id or "")
        for text, pair_id in _test_questions(catalog):
            if text not in seen:
                seen.add(text)
                yield Question("test", text, pair_id)


def _test_questions(catalog: Catalog) -> Iterator[tuple[str, str]]:
    """Yield the questions of the recorded suites of an exam that a pair answers, with its id."""
    for path in sorted((data_folder("vignettes") / "suites").glob("*/suite.yaml")):
        suite = yaml.safe_load(path.read_text(encoding="utf-8"))
        if (suite.get("catalog"), suite.get("language")) != (catalog.name, catalog.language):
            continue
        questions = path.parent / "questions.jsonl"
        if not questions.is_file():
            continue  # a suite of dialogues: what is said there depends on what was said before
        for line in questions.read_text(encoding="utf-8").splitlines():
            question = json.loads(line)
            if question.get("pair_id") and question.get("text"):
                yield str(question["text"]), str(question["pair_id"])

"""Take what patients asked into the inbox: scrubbed, beside what means the same, with the pair that fits best."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from bot.assistant import Assistant
from bot.curation.clusters import Open, cluster
from bot.curation.scrub import scrub
from bot.editorial.inbox import Asked, Inbox, Item, Sorted, Wanted, named_as_before
from bot.editorial.jobs import Job
from bot.ports import Vectors
from bot.talk.exams import NO_EXAM, exam_of

ABANDONED = timedelta(minutes=30)  # nobody chooses from a list that is older
NEAR = 0.7  # cosine to a representative from which a new question joins its cluster, until all are put together anew
LAST = 1_000_000  # the place in a cluster of what came after it was made
AT_ONCE = 256
BESIDE = 500  # texts of the catalog beside fewer questions than that
LIKELY = 0.05  # a pair that is less likely is no suggestion
Tell = Callable[[float, str], None]


@dataclass
class Sorter:
    """Fills one inbox and keeps it in order; questions about two exams are never put together, served or not.

    Attributes:
        inbox: Where items are kept.
        assistant: Returns what answers patients now; None while it is not ready: items then wait for their cluster.
        now: The clock.
    """

    inbox: Inbox
    assistant: Callable[[], Assistant | None]
    now: Callable[[], datetime]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _known: dict[int, tuple[int, Vectors]] = field(default_factory=dict)

    def glance(self, most: int) -> bool:
        """Take in what is new for somebody who waits for a page, and say whether there may be more.

        Where a job does so at the moment, nobody waits for it.
        """
        if not self._lock.acquire(blocking=False):
            return False
        try:
            return self._take_in(most) == most
        finally:
            self._lock.release()

    def take_in(self, most: int) -> int:
        """Take in the oldest turns that are not there yet, and return how many."""
        with self._lock:
            return self._take_in(most)

    def _take_in(self, most: int) -> int:
        asked = self.inbox.missing(before=self.now() - ABANDONED, most=most)
        if not asked:
            return 0
        texts = [scrub(each.question, each.language).text for each in asked]
        assistant = self.assistant()
        belongs = [Sorted(0, LAST)] * len(asked) if assistant is None else self._joined(assistant, texts, asked)
        self.inbox.add(list(zip(asked, texts, belongs, strict=True)))
        return len(asked)

    def _joined(self, assistant: Assistant, texts: Sequence[str], asked: Sequence[Asked]) -> list[Sorted]:
        """Return for new questions the nearest clusters of their language, or new ones; emergencies stay apart."""
        heads = self.inbox.representatives()
        self._learn(assistant, heads)
        sides = [(each.language, each.kind == "urgent", each.exam) for each in asked]
        of_heads = [(each.language, each.kind == "urgent", each.exam) for each in heads]
        numbers = {
            side: [each.cluster for each, own in zip(heads, of_heads, strict=True) if own == side] for side in sides
        }
        known = {side: [self._known[one][1] for one in numbers[side]] for side in numbers}
        free = max((each.cluster for each in heads), default=0) + 1
        fits, found = suggested(assistant, texts, asked), list[Sorted]()
        for vector, side, fit in zip(assistant.encoder.encode(texts), sides, fits, strict=True):
            near = np.asarray(known[side]) @ vector if known[side] else np.zeros(1)
            best = int(near.argmax())
            if near[best] >= NEAR:
                found.append(Sorted(numbers[side][best], LAST, *fit))
                continue
            found.append(Sorted(free, 0, *fit))
            numbers[side].append(free)
            known[side].append(vector)
            free += 1
        return found

    def _learn(self, assistant: Assistant, heads: Sequence[Item]) -> None:
        """Keep the vectors of representatives, and of nothing else."""
        new = [each for each in heads if self._known.get(each.cluster, (0,))[0] != each.id]
        vectors = assistant.encoder.encode([each.text for each in new])
        self._known |= {each.cluster: (each.id, vector) for each, vector in zip(new, vectors, strict=True)}
        self._known = {each.cluster: self._known[each.cluster] for each in heads}

    def do(self, job: Job, tell: Tell) -> Mapping[str, Any]:
        """Take in everything, and put all that is open together anew; clusters keep their numbers where they can."""
        del job
        taken = 0
        while new := self.take_in(AT_ONCE):
            taken += new
            tell(0.0, f"{taken}")
        assistant = self.assistant()
        if assistant is None:
            return {"to": "/inbox"}
        rows = self.inbox.rows(Wanted(state="open"))
        items = self.inbox.items([row.id for row in rows])
        vectors: list[Vectors] = []
        fits: dict[int, tuple[str, float]] = {}
        for start in range(0, len(items), AT_ONCE):
            some = items[start : start + AT_ONCE]
            texts = [each.text for each in some]
            vectors.append(assistant.encoder.encode(texts))
            said = suggested(assistant, texts, some)
            fits |= {each.id: fit for each, fit in zip(some, said, strict=True)}
            tell(0.8 * (start + len(some)) / len(items), f"{start + len(some)} / {len(items)}")
        if not items:
            return {"to": "/inbox"}
        by_exam: dict[str, list[int]] = {}
        for number, each in enumerate(items):
            by_exam.setdefault(each.exam, []).append(number)
        known = np.concatenate(vectors)
        members = [
            group
            for numbers in by_exam.values()
            for group in _together(assistant, [items[number] for number in numbers], known[numbers])
        ]
        names = named_as_before(members, {row.id: row.cluster for row in self.inbox.rows(Wanted(state=""))})
        tell(0.95, "")
        before = {each.id: (each.cluster, each.place, each.pair, each.probability) for each in items}
        places = {
            id_: Sorted(name, place, *fits[id_])
            for name, group in zip(names, members, strict=True)
            for place, id_ in enumerate(group)
        }
        changed = {
            id_: to for id_, to in places.items() if before[id_] != (to.cluster, to.place, to.pair, to.probability)
        }
        self.inbox.sort(changed)
        return {"to": "/inbox"}


def is_of_other(exam: str, own: str) -> bool:
    """Say whether a question was asked about another exam than this one, whether that is served here or not."""
    return exam not in ("", NO_EXAM, own)


def _together(assistant: Assistant, items: Sequence[Item], vectors: Vectors) -> list[list[int]]:
    """Return which items mean the same, the representative of each group first.

    What tells questions apart is learned of all of them; where they are few, texts of the catalog stand beside them.
    """
    beside: list[Open] = []
    for language in dict.fromkeys(each.language for each in items):
        few = sum(each.language == language for each in items) < BESIDE
        if few and language in assistant.languages:
            texts = _of_catalog(assistant, language)
            beside += [Open(-number, language, text) for number, text in enumerate(texts, len(beside) + 1)]
    questions = [*(Open(each.id, each.language, each.text, each.kind == "urgent") for each in items), *beside]
    more = assistant.encoder.encode([each.text for each in beside])
    groups = cluster(questions, np.concatenate([vectors, more]) if beside else vectors)
    members = [[each.id for each in group.members if each.id > 0] for group in groups]
    return [ids for ids in members if ids]


def _of_catalog(assistant: Assistant, language: str) -> list[str]:
    """Return some texts of all of a catalog's topics."""
    catalog = assistant.catalog(language)
    texts = [pair.question for pair in catalog.pairs] + list(catalog.background)
    texts += [variant.text for pair in catalog.pairs for variant in pair.variants]
    return texts[:: max(1, len(texts) // BESIDE)][:BESIDE]


def suggested(assistant: Assistant, texts: Sequence[str], asked: Sequence[Asked | Item]) -> list[tuple[str, float]]:
    """Return the pair that fits each text best, with its probability; an empty one where none is likely.

    What was asked about another exam gets none: a pair of this one may say the opposite of what holds there.
    """
    spoken, own = assistant.languages, exam_of(assistant)
    wanted = [each.language if each.language in spoken else spoken[0] for each in asked]
    found = []
    for response, each in zip(assistant.answer_all(texts, wanted, ignore_flags=True), asked, strict=True):
        best = response.candidates[0] if response.candidates else None
        likely = best is not None and best.score >= LIKELY and each.language in spoken
        likely = likely and not is_of_other(each.exam, own)
        found.append((best.pair_id, round(best.score, 4)) if best is not None and likely else ("", 0.0))
    return found

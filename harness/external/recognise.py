"""Which pair a text belongs to, for systems that do not say it: by exact text, else by similarity."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bot import Catalog, Encoder, fold
from harness.systems import Matched

SHORTEST_QUOTE = 40  # characters of a folded answer that may stand within a longer reply


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a text is: a decision, and the pair when it is a pair's answer."""

    decision: str
    pair_id: str | None = None
    matched: Matched | None = None


class Recogniser:
    """Knows the answers of a catalog, and the texts with which a system declines or calls for help.

    Case, accents, white space and punctuation do not count for exact texts. A reply may hold an answer among other
    words. A text that several pairs share identifies none of them.
    """

    def __init__(
        self,
        catalog: Catalog,
        encoder: Callable[[], Encoder],
        *,
        similarity: float,
        declined: Sequence[str] = (),
        urgent: Sequence[str] = (),
    ) -> None:
        self.known = frozenset(catalog.by_id)
        self._encoder = encoder
        self._encoding = threading.Lock()
        self._similarity = similarity
        self._declined = {fold(text) for text in declined}
        self._urgent = {fold(text) for text in urgent} - {""}
        self._answers = _unique((t, pair.id) for pair in catalog.pairs for t in (pair.answer, pair.easy_answer) if t)
        self._by_fold = {fold(text): pair_id for text, pair_id in self._answers.items()}
        self._questions = {fold(pair.question): pair.id for pair in catalog.pairs}

    def recognise(self, text: str) -> Recognised:
        """Say what a reply's text is."""
        folded = fold(text)
        if not folded or folded in self._declined:
            return Recognised("declined")
        if any(f" {known} " in f" {folded} " for known in self._urgent):
            return Recognised("urgent")
        pair_id = self._by_fold.get(folded) or self._quoted(folded)
        if pair_id is not None:
            return Recognised("answered", pair_id, "text")
        nearest = self._nearest(text)
        return Recognised("answered", nearest, "similarity" if nearest else "none")

    def refusal(self, name: str) -> Recognised:
        """Say what an id is that no pair has: a way to decline or to call for help, or an unknown pair."""
        folded = fold(name)
        if folded in self._declined:
            return Recognised("declined")
        return Recognised("urgent") if folded in self._urgent else Recognised("answered", None, "none")

    def choice(self, title: str, payload: str) -> str | None:
        """Return the pair that a button offers, by its payload (``/pair-id``) or by the pair's question."""
        name = payload.removeprefix("/").partition("{")[0]
        return name if name in self.known else self._questions.get(fold(title))

    def _quoted(self, folded: str) -> str | None:
        spaced = f" {folded} "
        places = [
            (place, -len(answer), pair_id)
            for answer, pair_id in self._by_fold.items()
            if len(answer) >= SHORTEST_QUOTE and (place := spaced.find(f" {answer} ")) >= 0
        ]
        return min(places)[2] if places else None

    def _nearest(self, text: str) -> str | None:
        if not self._answers:
            return None
        with self._encoding:  # systems may be asked by several threads
            cosines = self._vectors @ self._encoder().encode([text])[0]
        best = int(np.argmax(cosines))
        return list(self._answers.values())[best] if cosines[best] >= self._similarity else None

    @cached_property
    def _vectors(self) -> npt.NDArray[np.float32]:
        return self._encoder().encode(list(self._answers))


def _unique(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return texts that belong to one pair only, by their first wording."""
    owners: dict[str, set[str]] = defaultdict(set)
    wording: dict[str, str] = {}
    for text, pair_id in texts:
        owners[fold(text)].add(pair_id)
        wording.setdefault(fold(text), text)
    return {wording[key]: next(iter(names)) for key, names in owners.items() if len(names) == 1}

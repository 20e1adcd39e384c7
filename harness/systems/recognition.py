"""Make a reply of what a system sent: JSON by path, and which pair a text belongs to where that is not said."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from jsonpath import CompoundJSONPath, JSONPath, JSONPathError
from jsonpath import compile as compile_path

from bot import Catalog, Encoder, fold
from harness.systems.description import LATER_PATHS, Paths
from harness.systems.system import Failure, Matched, Ranked, Reply

SHORTEST_QUOTE = 40  # characters of a folded answer that may stand within a longer reply
SEVERAL = ("candidates", "choices", "texts", "keys")  # what may be a list of texts, in place of several texts
DECISIONS = ("answered", "clarify", "declined", "urgent")


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a text is: a decision, and the pair when it is a pair's answer."""

    decision: str
    pair_id: str | None = None
    matched: Matched | None = None


@dataclass(frozen=True, slots=True)
class Manners:
    """How a system says what is no pair's answer, and what it calls pairs.

    Attributes:
        declined: Texts (or ids) that say that there is no answer.
        urgent: Those that send the patient to a human.
        intents: Its own names of pairs, and which pair each stands for.
    """

    declined: Sequence[str] = ()
    urgent: Sequence[str] = ()
    intents: Mapping[str, str] = field(default_factory=dict)


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
        manners: Manners | None = None,
    ) -> None:
        self.known = frozenset(catalog.by_id)
        manners = manners or Manners()
        self._intents = manners.intents
        self._encoder = encoder
        self._encoding = threading.Lock()
        self._similarity = similarity
        self._declined = {fold(text) for text in manners.declined}
        self._urgent = {fold(text) for text in manners.urgent} - {""}
        # Texts that belong to one pair only, by their first wording.
        texts = ((t, pair.id) for pair in catalog.pairs for t in (pair.answer, pair.easy_answer) if t)
        owners: dict[str, set[str]] = defaultdict(set)
        self._texts: dict[str, set[str]] = defaultdict(set)
        wording: dict[str, str] = {}
        for text, pair_id in texts:
            owners[fold(text)].add(pair_id)
            self._texts[pair_id].add(fold(text))
            wording.setdefault(fold(text), text)
        self._answers = {wording[key]: next(iter(names)) for key, names in owners.items() if len(names) == 1}
        self._by_fold = {fold(text): pair_id for text, pair_id in self._answers.items()}
        self._owners = dict(owners)
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

    def confirm(self, pair_id: str, text: str) -> Recognised:
        """Say what was shown where a system names a pair and shows a text: what is read decides, not the name."""
        folded, own = fold(text), self._texts[pair_id]
        if any(one == folded or (len(one) >= SHORTEST_QUOTE and f" {one} " in f" {folded} ") for one in own):
            return Recognised("answered", pair_id, "id")
        if folded in self._owners:  # a text that others share, and this pair has not
            return Recognised("answered", min(self._owners[folded]), "text")
        found = self.recognise(text)
        return Recognised("answered", pair_id, "id") if found.matched == "none" else found

    def approved(self, text: str) -> bool:
        """Say whether a text is one of the catalog's, word for word."""
        return fold(text) in self._owners

    def refusal(self, name: str) -> Recognised:
        """Say what an id is that no pair has: a way to decline or to call for help, or an unknown pair."""
        folded = fold(name)
        if folded in self._declined:
            return Recognised("declined")
        return Recognised("urgent") if folded in self._urgent else Recognised("answered", None, "none")

    def named(self, name: str) -> str:
        """Return the pair id that a system's own name stands for; a name that stands for none as it is."""
        return self._intents.get(name, name)

    def choice(self, title: str, payload: str) -> str | None:
        """Return the pair that a button offers, by its payload (``/pair-id``) or by the pair's question."""
        name = self.named(payload.removeprefix("/").partition("{")[0])
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


class JsonReader:
    """Reads replies by JSONPath."""

    def __init__(self, paths: Paths, recogniser: Recogniser, decisions: Mapping[str, str] | None = None) -> None:
        given = {name: path for name in Paths.model_fields if (path := getattr(paths, name)) is not None}
        self._paths = {name: compile_path(path) for name, path in given.items()}
        self._lists = {name: inner for name, path in given.items() if (inner := _list_in(path)) is not None}
        self._given = given
        self._said = ", ".join(path for name, path in given.items() if name not in LATER_PATHS)
        self._recogniser = recogniser
        self._decisions = decisions or {}

    def read(self, document: Any, elapsed_ms: float) -> Reply | Failure:
        """Read one document. A null is a system that says nothing; a missing key is a system that failed."""
        found = {name: path.findall(document) for name, path in self._paths.items()}
        if not any(values for name, values in found.items() if name not in LATER_PATHS):
            return Failure(f"nothing at {self._said}", elapsed_ms)
        fault = self._misfit(found, document)
        if fault:
            return Failure(fault, elapsed_ms)
        for name in ("pair", "candidates", "choices"):
            if name in found:
                found[name] = [self._recogniser.named(one) for one in _texts(found[name])]
        said = _first(found.get("decision"))
        decision = None if said is None else self._decisions.get(said, said)
        if decision is not None and decision not in DECISIONS:
            return Failure(f"the decision is none of {', '.join(DECISIONS)}", elapsed_ms)
        choices = _texts(found.get("choices"))
        recognised = self._recognise(found, decision, choices)
        candidates = _texts(found.get("candidates")) or ([recognised.pair_id] if recognised.pair_id else choices)
        reply = make_reply(recognised, choices, elapsed_ms, candidates)
        answer = _first(found.get("answer"))
        if answer and recognised.decision == "answered" and not self._recogniser.approved(answer):
            reply = replace(reply, said=answer)
        return self._told(reply, found, answered=recognised.decision == "answered")

    def _misfit(self, found: dict[str, list[Any]], document: Any) -> str:
        """Return what is of a kind that cannot be read: it would pass for a system that says nothing."""
        for name, path in self._lists.items():
            for one in path.findall(document):
                if not isinstance(one, list | None):
                    return f"`{name}` is {_kind(one)}, not a list (at {self._given[name]})"
        for name, values in found.items():
            several = name in SEVERAL and len(values) == 1 and isinstance(values[0], list)
            for one in values[0] if several else values:
                if not isinstance(one, str | None):
                    return f"`{name}` is {_kind(one)}, not a text (at {self._given[name]})"
        return ""

    def _told(self, reply: Reply, found: dict[str, list[Any]], *, answered: bool) -> Reply:
        """Add what counts for messages in chats: there, an answer may be shown anew without being a decision."""
        texts, urgency = tuple(_texts(found.get("texts"))), _first(found.get("urgency"))
        shown = reply.shown
        if answered or (texts and urgency is None):
            shown = tuple(dict.fromkeys(id_ for id_ in _texts(found.get("pair")) if id_ in self._recogniser.known))
        return replace(
            reply,
            shown=shown or reply.shown,
            texts=texts,
            keys=tuple(_texts(found["keys"])) if "keys" in found else None,
            reason=_first(found.get("reason")) or "",
            urgency=urgency,
            language=_first(found.get("language")),
        )

    def _recognise(self, found: dict[str, list[Any]], decision: str | None, choices: list[str]) -> Recognised:
        if decision is not None and decision != "answered":
            return Recognised(decision)
        pair_id, answer = _first(found.get("pair")), _first(found.get("answer"))
        if pair_id in self._recogniser.known:
            return self._recogniser.confirm(pair_id, answer) if answer else Recognised("answered", pair_id, "id")
        if answer:
            return self._recogniser.recognise(answer)
        if choices:
            return Recognised("clarify")
        # An id that the catalog does not have may be how the system names its refusal.
        return self._recogniser.refusal(pair_id) if pair_id else Recognised("declined")


def read_messages(recogniser: Recogniser, document: Any, elapsed_ms: float) -> Reply | Failure:
    """Read what Rasa's REST channel sent: messages with texts and buttons, in order."""
    if not isinstance(document, list) or not all(isinstance(message, dict) for message in document):
        return Failure("no list of messages", elapsed_ms)
    texts = [recogniser.recognise(text) for message in document if isinstance(text := message.get("text"), str)]
    buttons = [button for message in document for button in message.get("buttons") or () if isinstance(button, dict)]
    offered = [recogniser.choice(str(b.get("title", "")), str(b.get("payload", ""))) for b in buttons]
    choices = [pair_id for pair_id in offered if pair_id]
    whole = "\n\n".join(text for message in document if isinstance(text := message.get("text"), str))
    said = whole if whole and not recogniser.approved(whole) else None
    for wanted in ("urgent", "answered"):
        for text in texts:
            if text.decision == wanted and text.matched != "none":
                reply = make_reply(text, [], elapsed_ms, [text.pair_id or ""])
                return replace(reply, said=said) if wanted == "answered" else reply
    if choices:
        return make_reply(Recognised("clarify"), choices, elapsed_ms, choices)
    unknown = [text for text in texts if text.matched == "none"]
    if unknown:
        return replace(make_reply(unknown[0], [], elapsed_ms, []), said=said)
    return make_reply(Recognised("declined"), [], elapsed_ms, [])


def make_reply(recognised: Recognised, choices: list[str], elapsed_ms: float, candidates: list[str]) -> Reply:
    """Return a reply; systems outside rarely tell a score, so it is 1 with a pair and 0 without."""
    return Reply(
        decision=recognised.decision,
        pair_id=recognised.pair_id,
        score=1.0 if recognised.pair_id else 0.0,
        candidates=tuple(Ranked(name) for name in candidates if name),
        choices=tuple(choices) if recognised.decision == "clarify" else (),
        matched=recognised.matched,
        elapsed_ms=elapsed_ms,
        shown=(recognised.pair_id,) if recognised.pair_id else (),
    )


def _list_in(path: str) -> JSONPath | CompoundJSONPath | None:
    """Return the path to the list of which a path takes every item; None where it takes none."""
    inner, every, _ = path.partition("[*]")
    try:
        return compile_path(inner) if every else None
    except JSONPathError:  # the brackets are part of a name
        return None


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    kinds = ((dict, "an object"), (list, "a list"), (str, "a text"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "a number")


def _texts(values: list[Any] | None) -> list[str]:
    """Return the texts found; one list of texts counts as its items."""
    flat = values[0] if values and isinstance(values[0], list) else values or []
    return [value for value in flat if isinstance(value, str)]


def _first(values: list[Any] | None) -> str | None:
    return next((value for value in values or () if isinstance(value, str) and value.strip()), None)

"""Hold conversations with a system: say each turn in order, and judge what was shown. Nothing is stored here."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import yaml

from bot import BadData, Catalog
from harness.files import Record
from harness.patients.expectations import Expect
from harness.patients.suites import CONTEXT, Question
from harness.running.outcomes import Equivalence, Outcome, Placed, Row, Verdict
from harness.systems.system import Begin, Chat, Conversing, Failure, Reply, System

URGENCY = ("now", "today", "days", "appointment")  # most urgent first
ACTS = Path(__file__).parent / "acts.yaml"


class _Act(Record):
    """How it shows that an answer was worded as the patient wished.

    Attributes:
        texts: Which of the pair's texts is shown; ``any``: whichever.
        keys: How the keys of fixed sentences begin that say so.
    """

    texts: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


@cache
def _acts() -> Mapping[str, _Act]:
    raw = yaml.safe_load(ACTS.read_text(encoding="utf-8"))
    return {name: _Act.model_validate(record) for name, record in raw.items() if name != "remarks"}


@cache
def _met_by() -> Mapping[str, str]:
    met: Mapping[str, str] = yaml.safe_load(ACTS.read_text(encoding="utf-8"))["remarks"]
    return met


def judge(expect: Expect, reply: Reply, before: Collection[str], same: Equivalence) -> Verdict:
    """Say whether a reply is what a message expects.

    Args:
        expect: What should come of the message.
        reply: What came of it.
        before: The pairs that were shown last in this chat.
        same: Which pairs count as the same.

    Returns:
        A verdict whose `met` is None where nothing was shown that `same` or `act` could be about, and where the answer
        is in words of the system's own: people say what that is.
    """
    # Text that belongs to no pair is content, too.
    alarmed, content = reply.decision == "urgent", bool(reply.shown) or reply.matched == "none"
    silent = not alarmed and not content
    if reply.own_words and expect.name in ("pair", "same", "act"):
        return Verdict(None)
    match expect.name:
        case "pair":
            accepted = same.accepted(expect.pair)
            return Verdict(bool(accepted & set(reply.shown)), bool(accepted & set(reply.choices)))
        case "same":
            accepted = same.any_of(before)
            if not accepted:
                return Verdict(None)
            return Verdict(bool(accepted & set(reply.shown)), bool(accepted & set(reply.choices)))
        case "act":
            return Verdict(_acted(expect, reply, same.any_of(before)) if before else None)
        case "nothing":
            return Verdict(silent and reply.urgency is None)
        case "reaction":
            return Verdict(silent and reply.urgency is None and not reply.choices and not _declined(reply))
        case "complaint":
            return Verdict(silent if expect.complaint == "other" else _soon_enough(expect, reply))
        case "alarm":
            return Verdict(alarmed)
        case "remark":
            return Verdict(
                not alarmed and any(key.startswith(_told_by(expect.remark or "")) for key in reply.keys or ())
            )
        case "language":
            return Verdict(not alarmed and reply.language == expect.language)
        case _:
            return Verdict(not content)  # unanswered


def _told_by(kind: str) -> tuple[str, ...]:
    """Return how the keys begin of what meets a remark of a kind."""
    return (f"feel_{kind}", f"site_{kind}", *([_met_by()[kind]] if kind in _met_by() else ()))


def _acted(expect: Expect, reply: Reply, before: frozenset[str]) -> bool:
    """Say whether the answer shown last was worded anew, or the patient was told that there is no such wording."""
    act = _acts()[expect.act or ""]
    reworded = "any" in act.texts or bool(set(act.texts) & set(reply.texts))
    told = any(key.startswith(act.keys) for key in reply.keys or ()) if act.keys else False
    return reply.decision != "urgent" and ((reworded and bool(before & set(reply.shown))) or told)


def _declined(reply: Reply) -> bool:
    """Say whether the patient was told that there is no answer."""
    if reply.keys is not None:
        return any(key.startswith("declined") for key in reply.keys)
    return reply.decision == "declined" and reply.reason != "small-talk"


def _soon_enough(expect: Expect, reply: Reply) -> bool:
    told = "now" if reply.decision == "urgent" else reply.urgency
    return told in URGENCY and URGENCY.index(told) <= URGENCY.index(expect.complaint or "now")


@dataclass(frozen=True)
class Conversations:
    """Talks with a system as patients would who say what a suite says.

    A patient who is offered the question that was meant takes it, so that what comes next has something to go on.
    """

    system: Conversing
    catalog: Catalog
    same: Equivalence

    def outcomes(self, messages: Sequence[Placed]) -> Iterator[list[Row]]:
        """Hold the conversations of some messages, in order, and yield the outcomes of each.

        A dialogue in which the system fails once has failed: what comes after would be said without its context.
        """
        with self.system.chats(self.catalog.language) as begin:
            for turns in dialogues_in(messages):
                yield self._held(begin, turns)

    def _held(self, begin: Begin, turns: Sequence[Placed]) -> list[Row]:
        rows: list[Row] = []
        before: tuple[str, ...] = ()
        with begin() as chat:
            for place, question in turns:
                reply, expect = chat.say(question.text), question.expect
                if isinstance(reply, Failure):
                    return _failed(turns, reply)
                if expect is None:
                    raise BadData(f"The message {question.id!r} does not say what it expects. Import the suite again.")
                verdict = judge(expect, reply, before, self.same)
                rows.append((place, Outcome.judged(question, reply, verdict)))
                if verdict.offered and not verdict.met:
                    wanted = self.same.any_of([expect.pair] if expect.pair else before)
                    reply = self._picked(chat, reply, wanted)
                before = reply.shown or before
        return [row for row, (_, question) in zip(rows, turns, strict=True) if question.kind != CONTEXT]

    def _picked(self, chat: Chat, reply: Reply, wanted: Set[str]) -> Reply:
        """Take the choice that is meant, and return the reply to that."""
        pair_id = next(choice for choice in reply.choices if choice in wanted)
        taken = chat.say(self.catalog.by_id[pair_id].question)
        return reply if isinstance(taken, Failure) else taken


def _failed(turns: Sequence[Placed], failure: Failure) -> list[Row]:
    scored = [turn for turn in turns if turn[1].kind != CONTEXT]
    each = replace(failure, elapsed_ms=failure.elapsed_ms / len(turns))
    return [(place, Outcome.failed(question, each)) for place, question in scored]


def dialogues_in(messages: Sequence[Placed]) -> Iterator[list[Placed]]:
    """Yield the turns of each dialogue together; a single message is a dialogue of its own."""
    found: list[Placed] = []
    for message in messages:
        if found and goes_on(found[-1][1], message[1]):
            found.append(message)
            continue
        if found:
            yield found
        found = [message]
    if found:
        yield found


def goes_on(before: Question, question: Question) -> bool:
    """Say whether a question belongs to the same dialogue as the one before it."""
    return question.dialogue is not None and question.dialogue == before.dialogue


def require_conversing(system: System, *, turns: bool) -> Conversing:
    """Return the system as one to talk with; raise BadData where it only answers single questions."""
    if isinstance(system, Conversing) and (system.turns or not turns):
        return system
    name = system.identity.get("system", "this system")
    raise BadData(
        f"{name} answers single questions and remembers nothing, so it cannot be asked a suite of dialogues. "
        "A command that remembers: set `conversations: true`. Over http: put `{conversation}` or `{history}` into its "
        "`body`, or use `before`. All other kinds remember."
    )

"""What the live desk shows of a conversation: its lines, what the patient described, and what is still on offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.curation.scrub import scrub
from bot.errors import BadData
from bot.ports import StoredTurn
from bot.sentences.reply import SENTENCES, Interface, Reply, read_reply, shows_alarm
from bot.staff.calls import OUTCOMES, Action, Call
from bot.talk.calling import CALLS_STAFF
from bot.web.page.offers import ALARMING, QUICK

MOST_SHOWN = 160  # characters of what a patient wrote last, in the list
# What the patient was told in an emergency, from the mildest to the most urgent: the kinds that the desk names.
ALARMS = (
    *("urgent_unsure", "urgent_suicide_unsure", "urgent_chest_pain", "urgent", "urgent_scanner", "urgent_overdose"),
    "urgent_suicide",
)


@dataclass(frozen=True, slots=True)
class Line:
    """One thing in a conversation.

    Attributes:
        who: ``patient``, ``program``, ``staff``, or ``note`` for what was done without a word.
        at: When.
        texts: What was said, part by part.
        name: Of the member of staff; empty for others.
        what: What was done; empty for a turn.
        urgent: Whether the patient's turn was an emergency.
    """

    who: str
    at: datetime
    texts: tuple[str, ...]
    name: str = ""
    what: str = ""
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Described:
    """What is known of a call by what was said since it was opened.

    Attributes:
        number: Of the last turn.
        alarm: The most urgent that was said (of `ALARMS`); empty where nothing was.
        promised: What the patient was told of staff last, or in an emergency.
        words: What the patient wrote last, scrubbed; empty: nothing but a press of the button.
        language: That the patient was heard to write, where the program has it not; else empty.
    """

    number: int
    alarm: str = ""
    promised: str = ""
    words: str = ""
    language: str = ""


def lines_of(turn: StoredTurn) -> list[Line]:
    """Return what the patient sent in a turn, and what was answered then: texts may have been withdrawn since."""
    said, reply = turn.exchange.said if turn.exchange is not None else "", reply_in(turn)
    found = []
    if calls_only(said):
        found.append(Line("note", turn.at, (), what="called"))
    elif said:
        urgent = shows_alarm(reply) if reply is not None else turn.decision == "urgent"
        found.append(Line("patient", turn.at, (said,), urgent=urgent))
    if reply is not None and reply.parts:
        found.append(Line("program", turn.at, tuple(part.text for part in reply.parts)))
    return found


def line_of(action: Action) -> Line:
    who = "staff" if action.what == "message" else "note"
    return Line(who, action.at, (action.text,) if action.text else (), name=action.name, what=action.what)


def outcome_of(line: Line) -> str:
    """Return what was done about an emergency that was closed; empty where that is not what a line tells."""
    return line.texts[0] if line.what in ("close", "return") and line.texts and line.texts[0] in OUTCOMES else ""


def offered_now(turns: Sequence[StoredTurn], call: Call) -> tuple[str, ...]:
    """Return what the patient can press as an answer to the last turn, all of it; nothing once it is gone."""
    last = turns[-1] if turns else None
    reply = reply_in(last) if last is not None else None
    number = last.exchange.number if last is not None and last.exchange is not None else 0
    if reply is None or ((call.is_taken or call.came_between(number)) and not shows_alarm(reply)):
        return ()
    words, keys = SENTENCES[reply.language], [part.key for part in reply.parts if isinstance(part, Interface)]
    quick = [words[word] for key in keys for word in QUICK.get(key, ())]
    yes = [] if ALARMING.isdisjoint(keys) else [words["yes"]]
    return tuple(dict.fromkeys((*yes, *(part.text for part in reply.choices), *quick)))


def described(turns: Sequence[StoredTurn], call: Call) -> Described:
    """Return what was said since a call was opened, or, of a call without a turn since then, before."""
    since = [turn for turn in turns if turn.at >= call.opened and turn.exchange is not None]
    read = [(turn, reply) for turn in since if (reply := reply_in(turn)) is not None]
    keys = [part.key for _, reply in read for part in reply.parts if isinstance(part, Interface)]
    alarms = [ALARMS.index(key if key in ALARMS else "urgent") for key in keys if key.startswith("urgent")]
    told = [text for _, reply in read if (text := _promise(reply))]
    said = [turn.exchange.said for turn in since if turn.exchange is not None]
    own = [text for text in said if text and not calls_only(text)]
    words = scrub(own[-1], call.language).text if own else ""
    foreign = [part.language for _, reply in read for part in reply.parts if isinstance(part, Interface)]
    return Described(
        number=turns[-1].exchange.number if turns and turns[-1].exchange is not None else 0,
        alarm=ALARMS[max(alarms)] if alarms else "",
        promised=told[-1] if told else "",
        words=f"{words[:MOST_SHOWN].rstrip()} …" if len(words) > MOST_SHOWN else words,
        language=next((each for each in reversed(foreign) if each), ""),
    )


def calls_only(said: str) -> bool:
    """Whether a turn is nothing but a press of the button that calls staff."""
    return said.strip().lower() in CALLS_STAFF


def reply_in(turn: StoredTurn) -> Reply | None:
    """Return what was shown as the reply of a turn; None where it cannot be read any more."""
    try:
        return read_reply(turn.exchange.reply if turn.exchange is not None else "")
    except BadData:
        return None


def _promise(reply: Reply) -> str:
    fixed = [part for part in reply.parts if isinstance(part, Interface)]
    return " ".join(part.text for part in fixed if part.key.startswith("staff_") or shows_alarm(reply))

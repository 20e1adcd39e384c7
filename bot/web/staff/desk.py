"""The live desk: patients who wait for a person, and one conversation with what was said and what staff can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse, Response

from bot.editorial.acts import Act
from bot.editorial.people import Person
from bot.errors import BadData, CallRefused
from bot.outbox_ports import pseudonym
from bot.ports import StoredTurn
from bot.sentences.reply import Interface, Part, read_reply
from bot.staff.calls import MAX_TEXT, Action, Call, Calls
from bot.talk.reception import has_expired
from bot.text import sanitise
from bot.web.logs import request_id
from bot.web.staff.area import Address, Area
from bot.web.staff.rendering import StaffProblem, StaffRenderer, go_to
from bot.web.staff.tools import Tools
from bot.web.staff.visit import StaffVisit

POLL_S = 4  # how often pages ask whether there is something new
READING = timedelta(minutes=30)  # after so long, a page that is still open counts as opened again
MOST_KNOWN = 500  # promises that are remembered


@dataclass(frozen=True, slots=True)
class Line:
    """One thing in a conversation.

    Attributes:
        who: ``patient``, ``program``, ``staff``, or ``note`` for what was done without a word.
        name: Of the member of staff; empty for others.
        what: What was done; empty for a turn.
        texts: What was said, part by part.
        choices: What the program offered to choose from.
        at: When.
        urgent: Whether the patient's turn was an emergency.
    """

    who: str
    at: datetime
    texts: tuple[str, ...]
    name: str = ""
    what: str = ""
    choices: tuple[str, ...] = ()
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """One open call as the list shows it.

    Attributes:
        call: The call.
        minutes: For how long something of it has waited; None where nothing does.
        promised: What the patient was told of staff.
    """

    call: Call
    minutes: int | None
    promised: str


class LiveDesk(Area):
    """What the front desk works with. Patients' words are shown here as they were written, and nowhere else."""

    def __init__(self, tools: Tools, renderer: StaffRenderer) -> None:
        super().__init__(tools, renderer)
        self._promises: dict[tuple[str, datetime], str] = {}

    def addresses(self) -> Sequence[Address]:
        one = "/desk/{conversation}"
        return [
            Address("GET", "/desk", self.waiting, "desk", menu="menu_desk"),
            Address("GET", one, self.conversation, "desk"),
            Address("POST", f"{one}/acknowledge", self.acknowledge, "desk"),
            Address("POST", f"{one}/take", self.take, "desk"),
            Address("POST", f"{one}/message", self.write, "desk"),
            Address("POST", f"{one}/return", self.hand_back, "desk"),
        ]

    def badges(self, person: Person) -> Mapping[str, int]:
        if self.tools.calls is None or not person.may("desk"):
            return {}
        return {"menu_desk": sum(call.since is not None for call in self.tools.calls.open())}

    def waiting(self, visit: StaffVisit) -> Response:
        """Show who waits; to the page's script as JSON, without a word of a patient."""
        calls = self.tools.calls
        listed = [self._waiting(call) for call in calls.open()] if calls is not None else []
        signals = _signals([each.call for each in listed])
        shown: dict[str, Any] = {"listed": listed, "deleted": calls.tally().deleted if calls is not None else 0}
        if visit.wants_json:
            return JSONResponse({**signals, "html": self._html("desk_list", visit, shown)})
        return self.renderer.page("desk", visit, is_on=calls is not None, poll_s=POLL_S, **shown, **signals)

    def conversation(self, visit: StaffVisit) -> Response:
        """Show one conversation: opening it is an act, since it reads what a patient wrote."""
        if visit.wants_json:
            return self._news(visit)
        call = self._call(visit)
        self._note_reading(visit, call, again=True)
        return self._page(visit, call)

    def _page(self, visit: StaffVisit, call: Call, *, line: str = "", typed: str = "", status: int = 200) -> Response:
        lines, cursor = self._lines(call.conversation, "0.0")
        return self.renderer.page(
            "desk_call",
            visit,
            status=status,
            line=line,
            typed=typed,
            lines=lines,
            cursor=cursor,
            poll_s=POLL_S,
            most=MAX_TEXT,
            **self._standing(visit, call),
        )

    def _news(self, visit: StaffVisit) -> Response:
        """Return what has come since a page was shown, and what can be done now, as JSON."""
        call = self._call(visit)
        self._note_reading(visit, call, again=False)
        lines, cursor = self._lines(call.conversation, visit.query.get("after", ""))
        standing = self._standing(visit, call)
        more = {"typed": "", "most": MAX_TEXT}
        return JSONResponse(
            {
                **_signals(self._calls.open()),
                "next": cursor,
                "stand": standing["stand"],
                "lines": self._html("desk_lines", visit, {"lines": lines, "call": call}) if lines else "",
                "acts": self._html("desk_acts", visit, {**standing, **more}),
            }
        )

    def _standing(self, visit: StaffVisit, call: Call) -> dict[str, Any]:
        """Return how a call stands for whoever looks at it."""
        opened = self.tools.records.conversation(call.conversation)
        hours = timedelta(hours=self.tools.settings.session_hours)
        left = call.patient_left or (opened is not None and has_expired(opened, hours, self.tools.now()))
        mine = call.is_taken and call.name.casefold() == visit.who.name.casefold()
        return {
            "call": call,
            "minutes": self._minutes(call),
            "mine": mine,
            "left": left,
            "reads_late": opened is not None and opened.channel == "rest",
            # What the script tells by that there are other things to do now.
            "stand": f"{call.state} {call.pressing} {left} {call.name}",
        }

    def acknowledge(self, visit: StaffVisit) -> Response:
        return self._done(visit, lambda id_, name, at: self._calls.acknowledge(id_, name, at=at))

    def take(self, visit: StaffVisit) -> Response:
        """Write in place of the program; from a colleague only where it is still the one whose name was shown."""
        from_ = visit.said("from")
        return self._done(visit, lambda id_, name, at: self._calls.take(id_, name, at=at, from_=from_))

    def write(self, visit: StaffVisit) -> Response:
        found = sanitise(visit.said("text"))
        if not found.text or found.too_long:
            labels = self.renderer.labels(visit.language)
            line = labels["desk_text_bad"].format(most=MAX_TEXT)
            return self._page(visit, self._call(visit), line=line, typed=visit.said("text"), status=400)
        return self._done(visit, lambda id_, name, at: self._calls.write(id_, name, found.text, at=at))

    def hand_back(self, visit: StaffVisit) -> Response:
        return self._done(visit, lambda id_, name, at: self._calls.hand_back(id_, name, at=at))

    def _done(self, visit: StaffVisit, do: Callable[[str, str, datetime], Call]) -> Response:
        """Do something to a call, in the name of who is logged in; what does not fit is said on the page."""
        id_ = visit.parts["conversation"]
        try:
            call = do(id_, visit.who.name, self.tools.now())
        except CallRefused as refused:
            if refused.reason in ("none", "deleted"):
                raise StaffProblem(HTTPStatus.GONE, f"desk_refused_{refused.reason}") from None
            labels = self.renderer.labels(visit.language)
            line = labels[f"desk_refused_{refused.reason}"].format(name=refused.name or labels["desk_somebody"])
            return self._page(visit, self._call(visit), line=line, typed=visit.said("text"), status=HTTPStatus.CONFLICT)
        return go_to(f"/desk/{id_}") if call.is_open else go_to("/desk", told="desk_over")

    @property
    def _calls(self) -> Calls:
        if self.tools.calls is None:
            raise StaffProblem(HTTPStatus.NOT_FOUND, "desk_off")
        return self.tools.calls

    def _call(self, visit: StaffVisit) -> Call:
        """Return the call of an address; all other conversations are closed to staff."""
        id_ = visit.parts["conversation"]
        call = self._calls.call(id_)
        if call is None or not call.is_open:
            reason = "deleted" if self._calls.was_deleted(id_) else "none"
            raise StaffProblem(HTTPStatus.GONE, f"desk_refused_{reason}")
        return call

    def _note_reading(self, visit: StaffVisit, call: Call, *, again: bool) -> None:
        """Note that somebody reads a conversation; `again`: even if this person did so just now."""
        name, now, about = visit.who.name, self.tools.now(), f"conversation {pseudonym(call.conversation)}"
        if not again:
            known = self.tools.acts.read(what=about, by=name, most=20)
            if any(act.action == "read" and now - act.at < READING for act in known):
                return
        self.tools.acts.note(Act(now, name, "read", about, request_id=request_id()))

    def _lines(self, conversation: str, after: str) -> tuple[list[Line], str]:
        """Return what was said and done since a page was shown, in order, and what asks for what comes after."""
        known, seen = _cursor(after)
        # What staff did is read first: what stands behind a turn must not come before it.
        actions = self._calls.actions(conversation, after=seen)
        turns = [turn for turn in self.tools.records.turns(conversation) if turn.exchange is not None]
        said: list[tuple[tuple[int, int], Line]] = []
        for turn in turns:
            number = turn.exchange.number if turn.exchange is not None else 0
            if number > known:
                said += [((number, 0), line) for line in _lines_of(turn)]
        said += [((each.turn, each.number), _line_of(each)) for each in actions]
        reached = max([known, *(turn.exchange.number for turn in turns if turn.exchange is not None)])
        cursor = f"{reached}.{max([seen, *(each.number for each in actions)])}"
        return [line for _, line in sorted(said, key=lambda pair: pair[0])], cursor

    def _waiting(self, call: Call) -> Waiting:
        return Waiting(call, self._minutes(call), self._promised(call))

    def _minutes(self, call: Call) -> int | None:
        return (self.tools.now() - call.since) // timedelta(minutes=1) if call.since is not None else None

    def _promised(self, call: Call) -> str:
        """Return what the patient was told of staff last. It is the program's own sentences, and is remembered."""
        key = (call.conversation, call.since or call.opened)
        if key not in self._promises:
            if len(self._promises) >= MOST_KNOWN:
                self._promises.clear()
            self._promises[key] = _promise(self.tools.records.turns(call.conversation))
        return self._promises[key]

    def _html(self, template: str, visit: StaffVisit, values: Mapping[str, Any]) -> str:
        return bytes(self.renderer.page(template, visit, **values).body).decode()


def _signals(calls: Sequence[Call]) -> dict[str, Any]:
    """Return what menu, title and sound go by: how many wait, how many urgent ones, and when the last came."""
    waiting = [call for call in calls if call.since is not None]
    rings = max((call.rings for call in waiting if call.rings is not None), default=None)
    return {
        "waiting": len(waiting),
        "urgent": sum(call.pressing == "urgent" for call in waiting),
        "rings": rings.isoformat() if rings is not None else "",
    }


def _cursor(written: str) -> tuple[int, int]:
    parts = written.split(".")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) <= 18 for part in parts):
        raise StaffProblem(HTTPStatus.BAD_REQUEST)
    return int(parts[0]), int(parts[1])


def _lines_of(turn: StoredTurn) -> list[Line]:
    """Return what the patient sent in a turn, and what was answered then: texts may have been withdrawn since."""
    said = turn.exchange.said if turn.exchange is not None else ""
    parts, choices = _shown(turn)
    found = [Line("patient", turn.at, (said,), urgent=turn.decision == "urgent")] if said else []
    if parts or choices:
        texts = tuple(part.text for part in parts), tuple(part.text for part in choices)
        found.append(Line("program", turn.at, texts[0], choices=texts[1]))
    return found


def _line_of(action: Action) -> Line:
    who = "staff" if action.what == "message" else "note"
    return Line(who, action.at, (action.text,) if action.text else (), name=action.name, what=action.what)


def _promise(turns: Sequence[StoredTurn]) -> str:
    """Return what was said of staff last, or, where that is later, in an emergency."""
    for turn in reversed(turns):
        fixed = [part for part in _shown(turn)[0] if isinstance(part, Interface)]
        told = [part.text for part in fixed if part.key.startswith("staff_") or turn.decision == "urgent"]
        if told:
            return " ".join(told)
    return ""


def _shown(turn: StoredTurn) -> tuple[Sequence[Part], Sequence[Part]]:
    """Return what was shown as the reply of a turn, and to choose from; nothing where it cannot be read any more."""
    try:
        reply = read_reply(turn.exchange.reply if turn.exchange is not None else "")
    except BadData:
        return (), ()
    return reply.parts, reply.choices

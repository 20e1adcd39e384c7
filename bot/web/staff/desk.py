"""The live desk: patients who wait for a person, and one conversation with what was said and what staff can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from itertools import pairwise
from typing import Any

from starlette.responses import JSONResponse, Response

from bot.editorial.acts import Act
from bot.editorial.people import Person
from bot.errors import CallRefused
from bot.outbox_ports import pseudonym
from bot.staff.calls import MAX_TEXT, OUTCOMES, Call, Calls
from bot.talk.reception import has_expired
from bot.text import seen
from bot.web.logs import request_id
from bot.web.staff.area import Address, Area
from bot.web.staff.desk_view import Described, Line, described, line_of, lines_of, offered_now, outcome_of
from bot.web.staff.exams import ExamFilter
from bot.web.staff.rendering import StaffProblem, StaffRenderer, go_to
from bot.web.staff.tools import Tools
from bot.web.staff.visit import StaffVisit, whole_number

POLL_S = 4  # how often pages ask whether there is something new
READING = timedelta(minutes=30)  # after so long, a page that is still open counts as opened again
MOST_KNOWN = 500  # conversations of which it is remembered what was said
CLOSED_LATELY, MOST_CLOSED = timedelta(hours=24), 50  # what can be opened again
LATE = 10  # minutes after which what waits stands out from what has just come


@dataclass(frozen=True, slots=True)
class Waiting:
    """One open call as the list shows it.

    Attributes:
        call: The call.
        minutes: For how long something of it has waited; None where nothing does.
        described: What the patient said, and was told.
        is_late: Whether it has waited for long.
    """

    call: Call
    minutes: int | None
    described: Described
    is_late: bool


class LiveDesk(Area):
    """What the front desk works with. Patients' words are shown here as they were written, and nowhere else."""

    def __init__(self, tools: Tools, renderer: StaffRenderer) -> None:
        super().__init__(tools, renderer)
        self._described: dict[tuple[str, datetime, int], Described] = {}

    def addresses(self) -> Sequence[Address]:
        one = "/desk/{conversation}"
        return [
            Address("GET", "/desk", self.waiting, "desk", menu="menu_desk"),
            Address("GET", "/desk/news", self.news, "desk"),
            Address("GET", "/desk/closed", self.closed, "desk"),
            Address("GET", one, self.conversation, "desk"),
            Address("POST", f"{one}/acknowledge", self.acknowledge, "desk"),
            Address("POST", f"{one}/take", self.take, "desk"),
            Address("POST", f"{one}/message", self.write, "desk"),
            Address("POST", f"{one}/return", self.hand_back, "desk"),
            Address("POST", f"{one}/reopen", self.reopen, "desk"),
        ]

    def badges(self, person: Person) -> Mapping[str, int]:
        if self.tools.calls is None or not person.may("desk"):
            return {}
        return {"menu_desk": sum(map(_waits, self.tools.calls.open()))}

    def waiting(self, visit: StaffVisit) -> Response:
        """Show who waits, with the patient's last words as rules scrubbed them; to the page's script as JSON."""
        calls, exams = self.tools.calls, self._exams(visit)
        opened = calls.open() if calls is not None else []
        hidden = [call for call in opened if not exams.shows(call.exam)]
        listed = [self._waiting(call) for call in opened if exams.shows(call.exam)]
        signals = _signals(opened)  # whatever the page is narrowed to
        shown: dict[str, Any] = {
            "listed": listed,
            "deleted": calls.tally().deleted if calls is not None else 0,
            "exams": exams,
            "hidden": sum(not call.is_pressing_emergency for call in hidden),
            "hidden_urgent": sum(call.is_pressing_emergency for call in hidden),
        }
        if visit.wants_json:
            return JSONResponse({**signals, "html": self._html("desk_list", visit, shown)})
        return self.renderer.page("desk", visit, is_on=calls is not None, poll_s=POLL_S, **shown, **signals)

    def news(self, visit: StaffVisit) -> Response:
        """Tell every page of the console whether somebody has come: nothing of a patient."""
        del visit
        return JSONResponse(_signals(self._calls.open()))

    def closed(self, visit: StaffVisit) -> Response:
        """Show what was handed back or closed lately, without a word of a patient: it can be opened again."""
        listed = self._calls.closed(since=self.tools.now() - CLOSED_LATELY, most=MOST_CLOSED)
        exams = self._exams(visit)
        listed = [(call, last) for call, last in listed if exams.shows(call.exam)]
        return self.renderer.page("desk_closed", visit, listed=listed, exams=exams)

    def conversation(self, visit: StaffVisit) -> Response:
        """Show one conversation: opening it is an act, since it reads what a patient wrote."""
        if visit.wants_json:
            return self._news(visit)
        call = self._call(visit)
        self._note_reading(visit, call, again=True)
        return self._page(visit, call)

    def _page(  # noqa: PLR0913 - what is said on it
        self, visit: StaffVisit, call: Call, *, line: str = "", typed: str = "", asks: str = "", status: int = 200
    ) -> Response:
        lines, cursor = self._lines(call.conversation, "0.0")
        return self.renderer.page(
            "desk_call",
            visit,
            status=status,
            line=line,
            typed=typed,
            asks=asks,
            outcomes=OUTCOMES,
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
        more = {"typed": "", "most": MAX_TEXT, "asks": "", "outcomes": OUTCOMES}
        return JSONResponse(
            {
                **_signals(self._calls.open()),
                "next": cursor,
                "stand": standing["stand"],
                "lines": self._html("desk_lines", visit, {**standing, "lines": lines}) if lines else "",
                "known": self._html("desk_known", visit, standing),
                "acts": self._html("desk_acts", visit, {**standing, **more}),
            }
        )

    def _standing(self, visit: StaffVisit, call: Call) -> dict[str, Any]:
        """Return how a call stands for whoever looks at it."""
        opened = self.tools.records.conversation(call.conversation)
        hours = timedelta(hours=self.tools.settings.session_hours)
        left = call.patient_left or (opened is not None and has_expired(opened, hours, self.tools.now()))
        mine = call.is_taken and call.name.casefold() == visit.who.name.casefold()
        turns = self.tools.records.turns(call.conversation)
        return {
            "call": call,
            "exams": self._exams(visit),
            "described": described(turns, call),
            "offered": offered_now(turns, call),
            "answers": self.tools.answers(call.conversation),
            "patient": opened.patient or "" if opened is not None else "",
            "outcome_of": outcome_of,
            "minutes": self._minutes(call),
            "mine": mine,
            "left": left,
            "reads_late": opened is not None and opened.channel == "rest",
            # What the script tells by that there are other things to do now.
            "stand": f"{call.state} {call.pressing} {left} {call.name} {call.unanswered}",
        }

    def acknowledge(self, visit: StaffVisit) -> Response:
        return self._done(visit, lambda id_, name, at: self._calls.acknowledge(id_, name, at=at))

    def take(self, visit: StaffVisit) -> Response:
        """Write in place of the program; from a colleague only where it is still the one whose name was shown."""
        from_ = visit.said("from")
        return self._done(visit, lambda id_, name, at: self._calls.take(id_, name, at=at, from_=from_), at="#desk-text")

    def write(self, visit: StaffVisit) -> Response:
        text = written(visit.said("text"))
        if not text or len(text) > MAX_TEXT:
            labels = self.renderer.labels(visit.language)
            line = labels["desk_text_bad"].format(most=MAX_TEXT)
            return self._page(visit, self._call(visit), line=line, typed=visit.said("text"), status=400)
        return self._done(visit, lambda id_, name, at: self._calls.write(id_, name, text, at=at))

    def hand_back(self, visit: StaffVisit) -> Response:
        """Hand back or close: with a message unanswered, or an emergency open, it is asked once more."""
        call = self._call(visit)
        resolves = call.kind == "urgent" and (not call.is_taken or self._standing(visit, call)["left"])
        said = visit.said("outcome")
        outcome = next((each for each in OUTCOMES if each == said), None)
        if resolves and outcome is None and call.state != "waiting" and call.pressing != "urgent":
            return self._page(visit, call, asks="outcome", status=HTTPStatus.CONFLICT)
        left_open = whole_number(visit.said("left_open")) or 0
        return self._done(
            visit,
            lambda id_, name, at: self._calls.hand_back(id_, name, at=at, left_open=left_open, outcome=outcome),
        )

    def reopen(self, visit: StaffVisit) -> Response:
        """Open what was closed lately again; older ones, and what nobody called staff to, stay closed to them."""
        id_, since = visit.parts["conversation"], self.tools.now() - CLOSED_LATELY
        if id_ not in {call.conversation for call, _ in self._calls.closed(since=since, most=MOST_CLOSED)}:
            self._call(visit)  # somebody was faster, or it cannot be opened
            return go_to(f"/desk/{id_}{self._exams(visit).query}")
        return self._done(visit, lambda id_, name, at: self._calls.reopen(id_, name, at=at))

    def _done(self, visit: StaffVisit, do: Callable[[str, str, datetime], Call], *, at: str = "") -> Response:
        """Do something to a call, in the name of who is logged in; what does not fit is said on the page.

        `at`: the place on the page that it is shown at afterwards.
        """
        id_ = visit.parts["conversation"]
        try:
            call = do(id_, visit.who.name, self.tools.now())
        except CallRefused as refused:
            if refused.reason in ("none", "deleted"):
                return self._gone(visit, refused.reason)
            if refused.reason == "unanswered":
                return self._page(visit, self._call(visit), asks="unanswered", status=HTTPStatus.CONFLICT)
            labels = self.renderer.labels(visit.language)
            line = labels[f"desk_refused_{refused.reason}"].format(name=refused.name or labels["desk_somebody"])
            return self._page(visit, self._call(visit), line=line, typed=visit.said("text"), status=HTTPStatus.CONFLICT)
        narrowed = self._exams(visit).query
        return go_to(f"/desk/{id_}{narrowed}{at}") if call.is_open else go_to(f"/desk{narrowed}", told="desk_over")

    def _gone(self, visit: StaffVisit, reason: str) -> Response:
        """Say why nobody can write there any more, with what was typed, to be copied."""
        typed = visit.said("text")
        values = {"reason": reason, "typed": typed, "exams": self._exams(visit)}
        return self.renderer.page("desk_gone", visit, status=HTTPStatus.GONE, **values)

    def _exams(self, visit: StaffVisit) -> ExamFilter:
        return ExamFilter.of(visit, self.tools.exams())

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
                said += [((number, 0), line) for line in lines_of(turn)]
        said += [((each.turn, each.number), line_of(each)) for each in actions]
        reached = max([known, *(turn.exchange.number for turn in turns if turn.exchange is not None)])
        cursor = f"{reached}.{max([seen, *(each.number for each in actions)])}"
        return [line for _, line in sorted(said, key=lambda pair: pair[0])], cursor

    def _waiting(self, call: Call) -> Waiting:
        minutes = self._minutes(call)
        return Waiting(call, minutes, self._said(call), is_late=minutes is not None and minutes >= LATE)

    def _minutes(self, call: Call) -> int | None:
        return (self.tools.now() - call.since) // timedelta(minutes=1) if call.since is not None else None

    def _said(self, call: Call) -> Described:
        """Return what was said in a conversation; it is remembered until its next turn."""
        last = self.tools.records.last_turn(call.conversation)
        number = last.exchange.number if last is not None and last.exchange is not None else 0
        key = (call.conversation, call.opened, number)
        if key not in self._described:
            if len(self._described) >= MOST_KNOWN:
                self._described.clear()
            self._described[key] = described(self.tools.records.turns(call.conversation), call)
        return self._described[key]

    def _html(self, template: str, visit: StaffVisit, values: Mapping[str, Any]) -> str:
        return bytes(self.renderer.page(template, visit, **values).body).decode()


def _signals(calls: Sequence[Call]) -> dict[str, Any]:
    """Return what menu, title and sound go by: how many wait, how many urgent ones, and when the last came."""
    waiting = [call for call in calls if _waits(call)]
    rings = max((call.rings for call in waiting if call.rings is not None), default=None)
    return {
        "waiting": len(waiting),
        "urgent": sum(call.pressing == "urgent" for call in waiting),
        "rings": rings.isoformat() if rings is not None else "",
    }


def _waits(call: Call) -> bool:
    """Whether somebody must see to a call; of an emergency whose patient has left, until it is said what was done."""
    return call.since is not None or call.is_unresolved


def written(raw: str) -> str:
    """Return what a member of staff wrote, cleaned line by line; at most one empty line between two."""
    lines = [seen(line) for line in raw[: 4 * MAX_TEXT].splitlines()]
    kept = [line for before, line in pairwise(("", *lines)) if line or before]
    return "\n".join(kept).strip()


def _cursor(written: str) -> tuple[int, int]:
    parts = written.split(".")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) <= 18 for part in parts):
        raise StaffProblem(HTTPStatus.BAD_REQUEST)
    return int(parts[0]), int(parts[1])

"""What the pages of the console work with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.assistant import Assistant
from bot.editorial.acts import Acts
from bot.editorial.candidate import Candidate
from bot.editorial.inbox import Inbox
from bot.editorial.jobs import Jobs
from bot.editorial.login import Identity
from bot.editorial.people import People, Person
from bot.editorial.workbench import Workbench
from bot.errors import UserFixable
from bot.ports import Records
from bot.release.publishing import Publisher
from bot.release.release import Releases, Unpacked
from bot.settings import Settings
from bot.staff.calls import Calls
from bot.web.staff.wording import Said


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found.

    Attributes:
        check: Its name, a label of the console.
        passed: Whether a release may be made; None: it could not tell, and is not in the way.
        line: What it found, in one line, as commands say it.
        to: The page that shows more, below `/console`; empty: there is none.
        said: The same for pages, which say it in their own language; empty: they show `line`.
    """

    check: str
    passed: bool | None
    line: str
    to: str = ""
    said: Sequence[Said] = ()


@dataclass(frozen=True, slots=True)
class Top:
    """One of the first of what waits in an area, for the dashboard.

    Attributes:
        line: What it is, in one line, as whoever asked may see it.
        count: How much of it there is.
        to: Its page, below `/console`.
    """

    line: str
    count: int
    to: str


class Refused(UserFixable):
    """A check is in the way of a release; `verdicts`: what all of them found."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        super().__init__("; ".join(each.line for each in verdicts if each.passed is False))
        self.verdicts = verdicts


# Is given a candidate's files, and what to call with the share that is done and a few words, which raises Cancelled.
Check = Callable[[Unpacked, Callable[[float, str], None]], Verdict]


@dataclass(frozen=True)
class Tools:
    """What pages work with.

    Attributes:
        settings: Of this installation.
        people, acts, workbench, jobs, inbox, releases, records: Where things are kept.
        calls: Patients who wait for a person; None where nobody reads them.
        candidate: Returns what the next release could be made of now.
        publisher: Makes releases and puts them into force.
        checks: What is asked of a candidate before it becomes a release; other parts bring theirs.
        assistant: Returns what answers patients now; None while nothing is ready.
        now: The clock, in the time of the place.
        identity: The hospital's identity provider; None where nobody logs in by one.
        answers: Returns what a patient has answered to the form in a conversation so far, line by line.
        sample: Whether this is the sample: everything is shown, nothing is approved.
        exams: Return who answers for each exam that is served, or was released; None where that is not known here.
        tops: Return what areas let the dashboard show to somebody, in a language.
    """

    settings: Settings
    people: People
    acts: Acts
    workbench: Workbench
    jobs: Jobs
    inbox: Inbox
    releases: Releases
    records: Records
    calls: Calls | None
    candidate: Callable[[], Candidate]
    publisher: Publisher
    assistant: Callable[[], Assistant | None]
    now: Callable[[], datetime]
    identity: Identity | None = None
    sample: bool = False
    answers: Callable[[str], Sequence[str]] = field(default=lambda _: ())
    exams: Callable[[], Mapping[str, Assistant | None]] = field(default=dict)
    checks: list[Check] = field(default_factory=list)
    tops: list[Callable[[Person, str], Sequence[Top]]] = field(default_factory=list)

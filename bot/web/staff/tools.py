"""What the pages of the console work with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.assistant import Assistant
from bot.editorial.acts import Acts
from bot.editorial.jobs import Jobs
from bot.editorial.people import People
from bot.editorial.workbench import Candidate, Workbench
from bot.errors import UserFixable
from bot.ports import Records
from bot.release.publishing import Publisher
from bot.release.release import Releases, Unpacked
from bot.settings import Settings
from bot.staff.calls import Calls


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found.

    Attributes:
        check: Its name, a label of the console.
        passed: Whether a release may be made; None: it could not tell, and is not in the way.
        line: What it found, in one line.
        to: The page that shows more, below `/console`; empty: there is none.
    """

    check: str
    passed: bool | None
    line: str
    to: str = ""


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
        people, acts, workbench, jobs, releases, records: Where things are kept.
        calls: Patients who wait for a person; None where nobody reads them.
        candidate: Returns what the next release could be made of now.
        publisher: Makes releases and puts them into force.
        checks: What is asked of a candidate before it becomes a release; other parts bring theirs.
        assistant: Returns what answers patients now; None while nothing is ready.
        now: The clock, in the time of the place.
        identity: The hospital's identity provider; None where nobody logs in by one.
        sample: Whether this is the sample: everything is shown, nothing is approved.
    """

    settings: Settings
    people: People
    acts: Acts
    workbench: Workbench
    jobs: Jobs
    releases: Releases
    records: Records
    calls: Calls | None
    candidate: Callable[[], Candidate]
    publisher: Publisher
    assistant: Callable[[], Assistant | None]
    now: Callable[[], datetime]
    identity: str | None = None
    sample: bool = False
    checks: list[Check] = field(default_factory=list)

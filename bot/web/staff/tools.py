"""What the pages of the console work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.assistant import Assistant
from bot.editorial.acts import Acts
from bot.editorial.inbox import Inbox
from bot.editorial.jobs import Jobs
from bot.editorial.people import People
from bot.editorial.workbench import Candidate, Workbench
from bot.ports import Records
from bot.release.release import Releases
from bot.settings import Settings
from bot.staff.calls import Calls


@dataclass(frozen=True)
class Tools:
    """What pages work with.

    Attributes:
        settings: Of this installation.
        people, acts, workbench, jobs, inbox, releases, records: Where things are kept.
        calls: Patients who wait for a person; None where nobody reads them.
        candidate: Returns what the next release could be made of now.
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
    inbox: Inbox
    releases: Releases
    records: Records
    calls: Calls | None
    candidate: Callable[[], Candidate]
    assistant: Callable[[], Assistant | None]
    now: Callable[[], datetime]
    identity: str | None = None
    sample: bool = False

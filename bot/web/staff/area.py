"""What an area of the console is made of: addresses, each with the task that it asks for, templates, texts and work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from starlette.responses import Response

from bot.editorial.jobs import Job
from bot.editorial.people import Person, Task
from bot.web.staff.rendering import StaffRenderer
from bot.web.staff.tools import Check, Tools, Top
from bot.web.staff.visit import StaffVisit
from bot.web.staff.wording import Label

MOST_FILE_BYTES = 20 * 1024 * 1024
Handler = Callable[[StaffVisit], Response]
# Does a job; is given what to call with the share that is done and a few words, which raises Cancelled.
Work = Callable[[Job, Callable[[float, str], None]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Address:
    """One address.

    Attributes:
        method: GET or POST; a posted form must be one that this browser got from us.
        path: Below `/console`.
        handler: Answers, in a thread.
        task: What whoever asks must be allowed to do; None: anybody, also who is not logged in.
        menu: The label under which the menu names it; empty: not in the menu.
        takes_file: Whether its form comes with a file, which may be larger than other forms (`MOST_FILE_BYTES`).
    """

    method: str
    path: str
    handler: Handler
    task: Task | None
    menu: str = ""
    takes_file: bool = False


class Area:
    """Some pages of the console that belong together. It is made with the console's tools and renderer.

    Attributes:
        folder: Where its ``templates``, ``static`` and ``texts/LANG`` lie; None: among those of the console.
    """

    folder: ClassVar[Path | None] = None

    def __init__(self, tools: Tools, renderer: StaffRenderer) -> None:
        self.tools = tools
        self.renderer = renderer

    def addresses(self) -> Sequence[Address]:
        """Return what it answers."""
        raise NotImplementedError

    def label(self, visit: StaffVisit, name: str) -> Label:
        """Return a label in the language of a visit."""
        return self.renderer.labels(visit.language)[name]

    def badges(self, person: Person) -> Mapping[str, int]:
        """Return by label of the menu how much waits there for somebody."""
        del person
        return {}

    def tops(self, person: Person, language: str) -> Sequence[Top]:
        """Return what the dashboard shows of it: the first few of what waits here, for somebody who may see them."""
        del person, language
        return []

    def works(self) -> Mapping[str, Work]:
        """Return what does its jobs, by kind."""
        return {}

    def checks(self) -> Sequence[Check]:
        """Return what it asks of a candidate before it becomes a release."""
        return []

"""Narrow pages of staff to one of the exams that the service answers for, and name exams as staff read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from bot.assistant import Assistant
from bot.talk.exams import NO_EXAM, plain_title, title
from bot.web.staff.visit import StaffVisit


@dataclass(frozen=True, slots=True)
class ExamFilter:
    """Which exam a page is narrowed to, as its address says it (`?exam=NAME`).

    What is about no exam yet, or about one that is not served any more, is in every list: nobody may be overlooked.

    Attributes:
        titles: What the exams are called that are served, or were released, by name; with one there is no choice.
        asked: The one that is looked at; empty: all of them.
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    asked: str = ""

    @classmethod
    def of(cls, visit: StaffVisit, served: Mapping[str, Assistant | None]) -> ExamFilter:
        """Read it from an address; `served`: who answers for each exam, None where that is not known here."""
        titles = {
            name: title(assistant, visit.language) if assistant is not None else plain_title(name)
            for name, assistant in served.items()
        }
        asked = visit.query.get("exam", "")
        return cls(titles, asked if len(titles) > 1 and asked in titles else "")

    @property
    def is_offered(self) -> bool:
        """Whether there is something to choose."""
        return len(self.titles) > 1

    @property
    def left_out(self) -> frozenset[str]:
        """The exams that are not looked at."""
        return frozenset(self.titles) - {self.asked} if self.asked else frozenset()

    @property
    def query(self) -> str:
        """What goes on with an address of the console; empty where nothing is chosen."""
        return f"?{urlencode({'exam': self.asked})}" if self.asked else ""

    def shows(self, exam: str) -> bool:
        return exam not in self.left_out

    def called(self, exam: str, labels: Mapping[str, Any]) -> str:
        """Return what an exam is called; empty where the service has one, a label where it is not known yet."""
        if not self.is_offered:
            return ""
        if exam in ("", NO_EXAM):
            return str(labels["exam_not_known"])
        return self.titles.get(exam) or plain_title(exam)

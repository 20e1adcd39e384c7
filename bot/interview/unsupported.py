"""What stands in the way of asking a Questionnaire: reasons to refuse it, and warnings. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.errors import UserFixable
from bot.interview.form import Note

_SHOWN = 4


class UnsupportedQuestionnaire(UserFixable):
    """A Questionnaire that would not be asked as it is meant; `reasons` holds every reason."""

    def __init__(self, reasons: Sequence[Note]) -> None:
        shown = "; ".join(reason.as_line() for reason in reasons[:_SHOWN])
        more = f"; and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
        super().__init__(
            f"This Questionnaire cannot be asked. {shown}{more}. "
            "Change these parts of it, or hand in the resources that they refer to."
        )
        self.reasons = tuple(reasons)


@dataclass(slots=True)
class Notes:
    """Collects warnings and refusals while a Questionnaire is read, so that its author learns of all at once.

    Attributes:
        link_ids: All linkIds of the form.
    """

    link_ids: frozenset[str] = frozenset()
    warnings: list[Note] = field(default_factory=list)
    refusals: list[Note] = field(default_factory=list)

    def warn(self, link_id: str, feature: str, text: str) -> None:
        self._add(self.warnings, Note(link_id, feature, text))

    def refuse(self, link_id: str, feature: str, text: str) -> None:
        self._add(self.refusals, Note(link_id, feature, text))

    def _add(self, notes: list[Note], note: Note) -> None:
        if note not in notes:
            notes.append(note)

"""What should come of a message that a patient says in a chat."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from harness.files import Record

Level = Literal["now", "today", "days", "appointment", "other"]
Act = Literal["easier", "shorter", "again", "more"]


class Expect(Record):
    """What should come of one message: exactly one of these, `new` aside.

    Attributes:
        pair: This pair's answer is shown; `new` says that the message is understood without what was said before.
        same: The pair that was shown last is shown again.
        nothing: No content is shown, and no alarm is raised.
        reaction: As `nothing`; nor is the patient told that there is no answer, or asked which question was meant.
        act: The answer shown last is worded easier, shorter, once more, or with more detail.
        complaint: Somebody is to be told or asked within this time, or sooner; `other`: neither answer nor alarm.
        alarm: The patient is sent for help at once.
        language: The reply is in this language, or says in it which languages are understood.
        unanswered: No pair's answer is shown.
        remark: A feeling is met with its sentence, or a fact of the place is told: a kind of `bot.matching.remarks`.
    """

    pair: str | None = None
    new: Literal[True] | None = None
    same: Literal[True] | None = None
    nothing: Literal[True] | None = None
    reaction: Literal[True] | None = None
    act: Act | None = None
    complaint: Level | None = None
    alarm: Literal[True] | None = None
    language: str | None = Field(default=None, pattern=r"^[a-z]{2,3}$")
    unanswered: Literal[True] | None = None
    remark: str | None = Field(default=None, pattern=r"^[a-z]+$")

    @model_validator(mode="after")
    def _one_thing(self) -> Expect:
        if len(self._said) != 1 or (self.new and self.pair is None):
            raise ValueError("a message expects exactly one thing, such as {pair: costs} or {nothing: true}")
        return self

    @property
    def _said(self) -> list[str]:
        return [key for key in type(self).model_fields if key != "new" and getattr(self, key) is not None]

    @property
    def name(self) -> str:
        """What is expected, such as ``pair``."""
        return self._said[0]

    @property
    def wanted(self) -> str | None:
        """Which pair, act, level or language; None where there is no choice."""
        value = getattr(self, self.name)
        return value if isinstance(value, str) else None

    def as_record(self) -> dict[str, Any]:
        """Return it as a suite says it."""
        return self.model_dump(mode="json", exclude_none=True)

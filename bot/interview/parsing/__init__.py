"""What patients write, as typed answers: German (with Swiss and Austrian habits) and English, by rules."""

from bot.interview.parsing.asked import Asked, Option, Unit
from bot.interview.parsing.command import Command, read_command
from bot.interview.parsing.reader import read
from bot.interview.parsing.reading import Ambiguous, DontKnow, NotUnderstood, Read, Reading, Refused
from bot.interview.parsing.wording import format_answer
from bot.interview.parsing.yesno import read_yes_no

__all__ = [
    "Ambiguous",
    "Asked",
    "Command",
    "DontKnow",
    "NotUnderstood",
    "Option",
    "Read",
    "Reading",
    "Refused",
    "Unit",
    "format_answer",
    "read",
    "read_command",
    "read_yes_no",
]

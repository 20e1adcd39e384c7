"""What patients write, as typed answers: German (with Swiss and Austrian habits) and English, by rules."""

from bot.interview.parsing.asked import Asked, Option, Unit
from bot.interview.parsing.asking_units import is_unusual, named_unit, stated_unit, unit_name
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
    "is_unusual",
    "named_unit",
    "read",
    "read_command",
    "read_yes_no",
    "stated_unit",
    "unit_name",
]

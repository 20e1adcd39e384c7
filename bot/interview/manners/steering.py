"""Messages that steer: back, change, skip, why, help, pause, summary, repeat. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bot.interview.form.form import Path
from bot.interview.manners.answering import leave
from bot.interview.manners.asking import ask, example, go_on
from bot.interview.manners.exchange import Exchange
from bot.interview.manners.listening import question_like
from bot.interview.manners.summary import before, finish, list_questions, meant, settled_questions, show_summary
from bot.interview.reading.command import Command, read_command
from bot.interview.reading.reading import Read
from bot.interview.reading.yesno import read_yes_no
from bot.interview.walk.engine import AskAnother, AskItem
from bot.interview.walk.filling import Given, MarkedForStaff, Skipped
from bot.sentences.interview_texts import AGREEING_WORDS, RIGHT_WORDS, ROW_WORDS, SEND_WORDS
from bot.text import words

_NUMBER = re.compile(
    r"(?:(?:nr|nummer|number|no|frage|question|antwort|answer|die|the)\b\.?\s*)*#?(\d{1,4})\.?", re.IGNORECASE
)


# Takes a message as a correction, and says whether it was one.
Corrects = Callable[[Exchange, str], bool]


def obey(x: Exchange, command: Command) -> None:
    """Do what the patient wants instead of answering."""
    match command.kind:
        case "back":
            _back(x)
        case "change":
            change(x, command.target)
        case "skip":
            leave(x, "skipped")
        case "why":
            _why(x)
        case "help":
            x.say("how_to")
            step = x.step
            if isinstance(step, AskItem):
                example(x, step.item)
            ask(x, brief=True)
        case "pause":
            x.note(phase="paused")
            x.say("paused")
        case "summary":
            show_summary(x, closing=False)
            ask(x, brief=True)
        case "resume" | "repeat":
            ask(x)


def _back(x: Exchange) -> None:
    target = _before(x)
    if target is None:
        x.say("no_way_back")
        ask(x, brief=True)
    else:
        revisit(x, target)


def _before(x: Exchange) -> Path | None:
    """Return the question before the open one: before one that was gone back to, that in the form's order."""
    if x.talk.revisit:
        return before(x.form, x.session.filling, x.talk.revisit)
    settled = settled_questions(x.form, x.session.filling)
    for event in reversed(x.session.events):
        if isinstance(event, Given | Skipped | MarkedForStaff) and event.path in settled:
            return event.path
    return None


def revisit(x: Exchange, path: Path) -> None:
    """Open a question again."""
    x.onward()
    x.note(revisit=path)
    ask(x)


def change(x: Exchange, target: str) -> None:
    """Find the question that is to be answered anew."""
    settled = settled_questions(x.form, x.session.filling)
    number = numbered(target)
    if number is not None and x.talk.listed:
        _by_number(x, number)
        return
    found = meant(x.form, settled, target, x.language) if target and number is None else []
    if len(found) == 1:
        revisit(x, found[0])
    elif not settled:
        x.say("change_nothing")
        ask(x, brief=True)
    else:
        _choose(x, found or settled, "change_unknown" if target and number is None and not found else "change_which")


def _choose(x: Exchange, paths: Sequence[Path], key: str) -> None:
    listed = list_questions(x, paths)
    x.say(key)
    x.onward()
    x.note(phase="choosing", listed=listed)


def _by_number(x: Exchange, number: int) -> None:
    listed = x.talk.listed
    if not 1 <= number <= len(listed):
        x.say("number_unknown", total=len(listed))
        return
    if x.engine.exists(x.session.filling, listed[number - 1]):
        revisit(x, listed[number - 1])
    else:
        x.onward()
        go_on(x)


def numbered(text: str) -> int | None:
    """Return the number that a message is, or the only one in a message that is about a row: "number 8 is wrong"."""
    found = _NUMBER.fullmatch(text.strip())
    if found:
        return int(found[1])
    said = words(text)
    numbers = [word for word in said if word.isdecimal() and len(word) < 4]
    about_it = len(said) > 1 and all(word in ROW_WORDS for word in said if word not in numbers)
    return int(numbers[0]) if len(numbers) == 1 and about_it else None


def _why(x: Exchange) -> None:
    step = x.step
    item = step.item if isinstance(step, AskItem | AskAnother) else None
    there = [x.read_out(item.link_id, "help", number) for number in range(len(item.presentation.help))] if item else []
    if not any(there):
        x.say("why_unknown")
    ask(x, brief=True)


def hear_choice(x: Exchange, text: str, corrects: Corrects) -> None:
    """Take the reply to "which answer would you like to change?"; `corrects` takes corrections."""
    number, command = numbered(text), read_command(text, language=x.language)
    if number is not None:
        _by_number(x, number)
    elif command is not None and command.kind == "change":
        change(x, command.target)
    elif command is not None or isinstance(agrees(x, text), bool):
        x.onward()
        go_on(x) if command is None or command.kind in ("back", "skip", "resume", "repeat") else obey(x, command)
    elif corrects(x, text):
        return
    elif found := meant(x.form, x.talk.listed, text, x.language):
        _choose(x, found, "change_which") if len(found) > 1 else revisit(x, found[0])
    else:
        x.aside = "maybe"
        x.say("change_which")


def hear_agreement(x: Exchange, text: str, corrects: Corrects) -> None:
    """Take the reply to the summary; `corrects` takes corrections."""
    number, command, agreed = numbered(text), read_command(text, language=x.language), agrees(x, text)
    if number is not None:
        _by_number(x, number)
    elif len(words(text)) > 1 and question_like(text, x.language) != "clear" and command is None and corrects(x, text):
        return
    elif agreed is True:
        finish(x)
    elif agreed is False:
        _choose_any(x)
    elif command is not None and command.kind == "skip":
        finish(x)
    elif command is not None and command.kind in ("resume", "repeat", "summary"):
        show_summary(x, closing=True)
    elif command is not None:
        obey(x, command)
    else:
        x.aside = "maybe"
        x.say("summary_check")


def _choose_any(x: Exchange) -> None:
    x.say("change_which")
    x.note(phase="choosing")


def agrees(x: Exchange, text: str) -> bool | None:
    """Return whether the patient agrees; None where more is said than that: it may be what is wrong."""
    said = read_yes_no(text, language=x.language)
    whole = set(words(text))
    if not isinstance(said, Read):
        sends = whole <= SEND_WORDS[x.language] or (whole <= AGREEING_WORDS and bool(whole & RIGHT_WORDS))
        return True if whole and sends else None
    yes = said.answers[0].value is True
    return None if yes and set(words(said.remainder)) - AGREEING_WORDS else yes

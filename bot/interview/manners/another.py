"""The reply to "anything else?": one more answer, one more instance of a group, or no more. Pure."""

from __future__ import annotations

from bot.interview.manners.answering import FREE_TEXT, leave, read, understood, with_earlier
from bot.interview.manners.asking import MOST_TRIES, ask, go_on
from bot.interview.manners.exchange import Exchange
from bot.interview.manners.listening import question_like
from bot.interview.reading.reading import DontKnow, Read, Reading, Refused
from bot.interview.reading.yesno import read_yes_no
from bot.interview.walk.engine import AskAnother, AskItem
from bot.interview.walk.filling import GroupAdded
from bot.sentences.interview_texts import END_PHRASES
from bot.text import words

# A longer remainder after "no" is an answer of its own, where any text is one.
MOST_AFTER_NO = 3


def hear_another(x: Exchange, step: AskAnother, text: str) -> None:
    """Take the reply to "anything else?"."""
    said = read_yes_no(text, language=x.language)
    if is_end(text, x.language) or _declines(step, said) or _silent(x, step, text):
        leave(x, "skipped")
    elif isinstance(said, Read) and said.answers[0].value is True:
        _begin_another(x, step)
        if not (said.remainder and _answered_ahead(x, said.remainder, sure=False)):
            go_on(x)
    elif question_like(text, x.language) == "clear" or not _answered_instead(x, step, text):
        x.aside = "clear" if question_like(text, x.language) == "clear" else "maybe"
        x.say("on_with")
        ask(x, brief=True)


def is_end(text: str, language: str) -> bool:
    """Say whether a whole message says that there is nothing else."""
    return " ".join(words(text)) in END_PHRASES[language]


def _declines(step: AskAnother, said: Reading) -> bool:
    """Say whether the reply is no; a long sentence with "no" in it is an answer where any words are one."""
    if not isinstance(said, Read) or said.answers[0].value is True:
        return False
    return step.item.type not in FREE_TEXT or len(words(said.remainder)) <= MOST_AFTER_NO


def no_reply(x: Exchange) -> None:
    """Ask again whether there is anything else; the third time, take it that there is not."""
    if x.talk.tries + 1 >= MOST_TRIES:
        leave(x, "skipped")
        return
    x.note(tries=x.talk.tries + 1)
    x.say("yes_or_no")
    ask(x, brief=True)


def _silent(x: Exchange, step: AskAnother, text: str) -> bool:
    """Say whether a reply to "anything else?" is that one does not know, or will not say."""
    if step.item.type == "group":
        return False
    return isinstance(read(x, x.engine.ask(x.session.filling, step.path), text), DontKnow | Refused)


def _begin_another(x: Exchange, step: AskAnother) -> None:
    x.onward()
    if step.item.type == "group":
        x.apply(GroupAdded(step.path))
    else:
        x.note(revisit=step.path, more=True)


def _answered_ahead(x: Exchange, rest: str, *, sure: bool) -> bool:
    """Read words as the answer to the question that follows; unless `sure`, they are read back."""
    step = x.step
    if not isinstance(step, AskItem):
        return False
    reading = read(x, step, rest)
    if not isinstance(reading, Read) or not reading.answers:
        return False
    answers = with_earlier(x, step, reading.answers)
    if any(each.severity == "error" for each in x.engine.problems(x.session.filling, step.path, answers)):
        return False
    understood(x, step, Read(reading.answers, literal=sure and reading.literal))
    return True


def _answered_instead(x: Exchange, step: AskAnother, text: str) -> bool:
    """Take the next answer itself as a "yes"; undo that where it is none."""
    session = x.session
    _begin_another(x, step)
    # In a group, that the words begin another instance was only guessed.
    if _answered_ahead(x, text, sure=step.item.type != "group"):
        return True
    x.session = session
    return False

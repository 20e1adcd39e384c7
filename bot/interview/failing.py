"""What is said when a reply did not work: why, an example, and at last that the team takes over. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.interview.answer import Answer
from bot.interview.asking import ask, go_on
from bot.interview.constraints import Problem
from bot.interview.engine import AskItem
from bot.interview.exchange import Exchange, example_answers, unit_answers
from bot.interview.filling import MarkedForStaff, NoMore
from bot.interview.form import Item
from bot.interview.item_types import CHOICES
from bot.interview.summary import say_problems
from bot.reply import SENTENCES

MOST_TRIES = 3


def failed(
    x: Exchange, step: AskItem, why: str, problems: Sequence[Problem] = (), *, kept: Answer | None = None
) -> None:
    """Say what did not work; the second time with an example, the third time leave it to staff.

    `kept`: what was written down for the team in the patient's own words.
    """
    tries = x.talk.tries + 1
    declined = x.talk.declined or x.talk.proposed
    x.note(tries=tries, pending=None, nothing=False, proposed=False, declined=declined, between=())
    if tries >= MOST_TRIES and not step.item.required:
        if x.talk.more:
            x.apply(NoMore(step.path))
        x.apply(MarkedForStaff(step.path, "not understood"))
        if kept is not None:
            x.repeat("noted", step.item.link_id, (kept,))
        x.say("marked")
        x.onward()
        go_on(x)
        return
    say_problems(x, problems)
    if why:
        x.say(why if why in SENTENCES[x.language] else "not_understood")
    if kept is not None:
        x.repeat("noted", step.item.link_id, (kept,))
    if why in ("why_unit", "why_unit_missing") and unit_answers(step.item):
        x.repeat("units", step.item.link_id, unit_answers(step.item))
    if tries >= MOST_TRIES - 1:
        example(x, step.item)
    if tries >= MOST_TRIES:
        x.note(kindly=True)
        x.say("kindly")
    ask(x, brief=True)


def example(x: Exchange, item: Item) -> None:
    """Say how an answer could look."""
    if item.type in CHOICES or item.options:
        x.say("example_choice")
    elif fitting := example_answers(item):
        x.repeat("example_answer", item.link_id, fitting)
    else:
        key = f"example_{item.type}"
        x.say(key if key in SENTENCES[x.language] else "example_string")
    x.read_out(item.link_id, "format")

"""Ask a question, and what is said when a reply did not work. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.interview.form.form import Item, Option, Path
from bot.interview.manners.exchange import Exchange, example_answers, unit_answers
from bot.interview.manners.spoken import NUMBERS, unit_in_words, usual_unit
from bot.interview.manners.summary import say_problems, show_summary
from bot.interview.rules.answers import Problem
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import string
from bot.interview.values.fhir_names import CHOICES
from bot.interview.walk.engine import AskAnother, AskItem, Done, Show
from bot.interview.walk.filling import MarkedForStaff, NoMore, Shown
from bot.sentences.reply import SENTENCES, Answers, Part, from_form, interface, repeat_answers
from bot.text import fold

MOST_SHOWN = 30


def go_on(x: Exchange) -> None:
    """Show what the form has to say, then put the next question, or the summary when all is done."""
    step = x.step
    while isinstance(step, Show):
        show(x, step.path)
        x.apply(Shown(step.path))
        step = x.step
    if isinstance(step, Done):
        x.note(kept=None, kept_for=())
        show_summary(x, closing=True)
    elif isinstance(step, AskItem) and x.talk.kept is not None and x.talk.kept_for == step.path:
        x.note(pending=x.talk.kept, kept=None, kept_for=())
        x.say("on_with")
        x.read_name(step.item.link_id)
        x.repeat("read_back", step.item.link_id, x.talk.pending or ())
    else:
        ask(x)


def show(x: Exchange, path: Path) -> None:
    """Show a text of the form, under the heading of its group."""
    _announce(x, path)
    link_id = path[-1][0]
    x.read_out(link_id, "question")
    _around(x, x.form.by_link_id[link_id])


def ask(x: Exchange, *, brief: bool = False) -> None:
    """Put the open question; `brief`: only what is needed to answer it."""
    step = x.step
    if isinstance(step, AskItem):
        _question(x, step, brief=brief)
    elif isinstance(step, AskAnother):
        _another(x, step)
    else:
        go_on(x)


def _question(x: Exchange, step: AskItem, *, brief: bool) -> None:
    item, link_id = step.item, step.item.link_id
    if not brief:
        _announce(x, step.path)
        _about(x, step.path)
        if not x.talk.revisit:
            _progress(x)
    if x.talk.more:
        x.say("which_more")
    if not x.read_out(link_id, "question"):
        x.say("no_text")
    _in_unit(x, item)
    if not brief:
        for number in range(len(item.presentation.instructions)):
            x.read_out(link_id, "instruction", number)
        _around(x, item)
        _hints(x, item, step.options)
    _choices(x, item, _left(x, step))
    _known(x, step)


def _progress(x: Exchange) -> None:
    answered, total = x.engine.progress(x.session.filling)
    if total > 1:
        x.say("progress", number=answered + 1, total=total)


def _known(x: Exchange, step: AskItem) -> None:
    """Say what stands at the question already, or what the form proposes."""
    if not step.proposal or x.talk.more or x.talk.between:
        return
    if x.answers(step.path):
        x.repeat("so_far", step.item.link_id, step.proposal)
    elif x.talk.pending is None and not x.talk.declined:
        problems = x.engine.problems(x.session.filling, step.path, step.proposal)
        if not any(problem.severity == "error" for problem in problems):
            x.note(pending=step.proposal, proposed=True)
    if x.talk.proposed and x.talk.pending is not None:
        x.repeat("proposal", step.item.link_id, x.talk.pending)


def _left(x: Exchange, step: AskItem) -> tuple[Option, ...]:
    """Return the options to choose from: all, or those that the reply before could have meant."""
    return tuple(each for each in step.options if each.answer in x.talk.between) or step.options


def _announce(x: Exchange, path: Path) -> None:
    """Say the headings of groups that begin here."""
    groups = groups_of(x, path)
    for depth in range(1, len(groups) + 1):
        if x.talk.heading[:depth] == groups[:depth]:
            continue
        link_id, number = groups[depth - 1]
        x.read_out(link_id, "question")
        if number:
            x.say("instance", number=number + 1)
    if groups != x.talk.heading:
        x.note(heading=groups)


def groups_of(x: Exchange, path: Path) -> Path:
    """Return the groups around a place: linkIds with their repetition, without questions in between."""
    return tuple(step for step in path[:-1] if x.form.by_link_id[step[0]].type == "group")


def _about(x: Exchange, path: Path) -> None:
    """Say which of several answers a question is about."""
    for depth in range(len(path) - 1, 0, -1):
        link_id, number = path[depth - 1]
        if x.form.by_link_id[link_id].type == "group":
            continue
        answers = x.answers((*path[: depth - 1], (link_id, 0)))
        if len(answers) > 1:
            x.repeat("about_answer", link_id, answers[number : number + 1])
        return


def _around(x: Exchange, item: Item) -> None:
    """Say where pictures and explanations are found."""
    for number in range(len(item.presentation.media)):
        x.read_out(item.link_id, "media", number)
    for number in range(len(item.presentation.links)):
        x.read_out(item.link_id, "link", number)


def _hints(x: Exchange, item: Item, options: tuple[Option, ...]) -> None:
    x.read_out(item.link_id, "format")
    if not x.read_out(item.link_id, "unit") and item.type == "quantity" and len(item.units.choices) > 1:
        x.repeat("units", item.link_id, unit_answers(item))
    if item.type == "attachment":
        x.say("file")
    low, high = (bound.fixed if bound else None for bound in (item.limits.minimum, item.limits.maximum))
    if item.presentation.control == "slider" and low and high:
        if isinstance(low.value, int) and isinstance(high.value, int):
            x.say("scale", low=low.value, high=high.value)
        x.read_out(item.link_id, "low")
        x.read_out(item.link_id, "high")
    if item.type in CHOICES and item.repeats and len(options) > 1:
        x.say("several")
    if item.type == "open-choice" and not x.read_out(item.link_id, "open_label"):
        x.say("own_words")


def _in_unit(x: Exchange, item: Item) -> None:
    """Say in which unit a number is wanted, unless the question itself says it."""
    usual = usual_unit(item)
    if item.type not in NUMBERS or usual is None or len(item.units.choices) > 1 or item.units.label.base:
        return
    written = fold(item.text.into(x.language)).split()
    names = (unit_in_words(usual, x.language), string(usual, "code"), string(usual, "display"))
    if names[0] and not any(name and fold(name) and fold(name) in written for name in names):
        x.repeat("in_unit", item.link_id, unit_answers(item))


def _choices(x: Exchange, item: Item, options: tuple[Option, ...]) -> None:
    if item.type == "boolean" and not options:
        x.choices = (interface(x.language, "yes"), interface(x.language, "no"))
        return
    x.choices = tuple(choice_part(x, item, option) for option in options[:MOST_SHOWN])
    if len(options) > MOST_SHOWN:
        x.say("more_options", shown=MOST_SHOWN, total=len(options))


def choice_part(x: Exchange, item: Item, option: Option) -> Part:
    """Return how an option is shown: its text in the form, or what a formula found."""
    listed = [each.answer for each in item.options]
    if option.answer in listed:
        part = from_form(x.form, x.language, item.link_id, "option", listed.index(option.answer))
        if part is not None:
            return part
    return repeat_answers(x.form, x.language, "choice", Answers(item.link_id, (option.answer,)))


def _another(x: Exchange, step: AskAnother) -> None:
    item = step.item
    if item.type != "group":
        answers: tuple[Answer, ...] = x.answers(step.path)
        x.repeat("summary_answer", item.link_id, answers)
        x.say("another_answer")
        return
    _announce(x, step.path)
    x.read_name(item.link_id)
    x.say("another_group" if step.count else "any_group")


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
    if why in ("why_unit", "why_unit_missing"):
        if unit_answers(step.item):
            x.repeat("units", step.item.link_id, unit_answers(step.item))
        elif why == "why_unit":
            x.say("number_only")
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

"""All answers at one glance, what is still wrong with them, and the end of the interview. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.interview.answer import Answer
from bot.interview.constraints import Problem
from bot.interview.exchange import Exchange
from bot.interview.filling import Skipped
from bot.interview.form import Path
from bot.interview.session import Status
from bot.interview.tour import questions
from bot.reply import SENTENCES

_COUNTED = frozenset({"too-many", "too-few", "too-long", "too-short", "decimal-places"})
_BOUNDED = frozenset({"below-minimum", "above-maximum"})


def show_summary(x: Exchange, *, closing: bool) -> None:
    """Say all that was answered; `closing`: and ask whether it may go."""
    filling = x.session.filling
    paths = list(questions(x.form, filling, shown_too=True))
    if not closing:
        paths = [path for path in paths if filling.settled(path) or x.answers(path)]
    x.say("summary" if any(x.answers(path) for path in paths) else "summary_empty")
    listed = list_questions(x, paths)
    if x.talk.phase == "asking":
        x.note(listed=listed)
    if closing:
        _say_what_is_open(x)
        x.say("summary_check")
        x.onward()
        x.note(phase="summary", listed=listed)


def list_questions(x: Exchange, paths: Sequence[Path]) -> tuple[Path, ...]:
    """Say questions with their answers; return those that have a number, in its order."""
    listed: list[Path] = []
    group: Path = ()
    filling = x.session.filling
    for path in paths:
        around = tuple(step for step in path[:-1] if x.form.by_link_id[step[0]].repeats)
        if around and around != group and x.form.by_link_id[around[-1][0]].type == "group":
            x.read_out(around[-1][0], "question")
            x.say("instance", number=around[-1][1] + 1)
        group = around
        asked = x.form.by_link_id[path[-1][0]].asked
        if x.entry(len(listed) + 1 if asked else 0, path, _stands(x, path)) and asked:
            listed.append(path)
        if x.answers(path) and path in filling.noted:
            x.entry(0, path, "summary_noted")  # what was said beside the answer
    return tuple(listed)


def _stands(x: Exchange, path: Path) -> str:
    filling = x.session.filling
    if x.answers(path):
        return "summary_answer"
    if path in filling.noted:
        return "summary_noted"
    if path in filling.marked:
        return "summary_marked"
    if path not in filling.skipped:
        return "summary_open"
    skips = (event for event in reversed(x.session.events) if isinstance(event, Skipped) and event.path == path)
    last = next(skips, None)
    return "summary_none" if last is not None and last.reason == "none" else "summary_skipped"


def _errors(x: Exchange) -> list[Problem]:
    return [problem for problem in x.engine.open_problems(x.session.filling) if problem.severity == "error"]


def _say_what_is_open(x: Exchange) -> None:
    problems = _errors(x)
    missing = [problem for problem in problems if problem.code == "required" and problem.path]
    # What a patient was never asked, they cannot mend; the interview then stays open for the team.
    wrong = [each for each in problems if each not in missing and (each.code != "refused" or _is_asked(x, each))]
    if wrong:
        x.say("summary_problems")
        say_problems(x, wrong, named=True)
    if missing:
        x.say("summary_required")
        for problem in missing:
            x.read_name(problem.path[-1][0])


def _is_asked(x: Exchange, problem: Problem) -> bool:
    return bool(problem.path) and x.form.by_link_id[problem.path[-1][0]].asked


def say_problems(x: Exchange, problems: Iterable[Problem], *, named: bool = False) -> None:
    """Say what is wrong with answers; `named`: each with its question."""
    said: set[tuple[str, str, str]] = set()
    for problem in problems:
        link_id = problem.path[-1][0] if problem.path else ""
        if (link_id, problem.code, problem.key) in said:
            continue
        said.add((link_id, problem.code, problem.key))
        if named and link_id:
            x.read_name(link_id)
        _say(x, problem, link_id)


def _say(x: Exchange, problem: Problem, link_id: str) -> None:
    limit, key = problem.parameters.get("limit"), f"problem_{problem.code}"
    if problem.code == "constraint":
        _say_constraint(x, problem, link_id)
    elif problem.code in _COUNTED and isinstance(limit, int):
        x.say(key, limit=limit)
    elif problem.code in _BOUNDED and limit is not None:
        x.repeat(key, link_id, (Answer(str(problem.parameters["type"]), limit),))
    else:
        x.say(key if key in SENTENCES[x.language] and problem.code not in _COUNTED | _BOUNDED else "problem")
        if problem.code == "pattern":
            x.read_out(link_id, "format")


def _say_constraint(x: Exchange, problem: Problem, link_id: str) -> None:
    constraints = x.form.by_link_id[link_id].constraints if link_id else x.form.constraints
    for number, constraint in enumerate(constraints):
        same = constraint.key == problem.key and constraint.human.base == problem.human
        if same and x.read_out(link_id, "constraint", number):
            return
    x.say("problem")


def finish(x: Exchange) -> None:
    """The patient agrees: the response is complete, unless something required is missing or does not fit."""
    changed = x.talk.sent not in (0, len(x.session.events))
    was_complete = x.session.status != "in-progress"
    status: Status = "in-progress" if _errors(x) else "amended" if was_complete and changed else "completed"
    if status == "completed" and was_complete:
        status = x.session.status
    x.say("in_progress" if status == "in-progress" else "completed")
    listed = x.talk.listed  # each can still be changed by its number
    x.onward()
    x.note(phase="finished", sent=len(x.session.events), listed=listed)
    x.session = replace(x.session, status=status)

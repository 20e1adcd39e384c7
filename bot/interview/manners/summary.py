"""Summary of all answers, and finding an earlier question by what it is called. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bot.interview.form.form import Form, Item, Path
from bot.interview.manners.exchange import Exchange
from bot.interview.manners.session import Status
from bot.interview.rules.answers import Problem
from bot.interview.values.answer import Answer
from bot.interview.walk.filling import Filling, Skipped
from bot.interview.walk.places import answers_at, below, count_at
from bot.sentences.reply import SENTENCES
from bot.text import words

MIN_STEM = 5  # letters that a word and its compound share: "Mammographie", "Mammographien"
MIN_SHORT, MOST_ENDING = 3, 2  # letters of a short word, and of what may be added to it
# Words that name nothing.
_EMPTY_WORDS = """
    der die das den dem des ein eine einen einer eines und oder ist sind war im in am an zu zum zur von mit bei fuer
    mein meine meinen meiner ihr ihre ihren sie ich frage antwort angabe the a an and or is are was of to in at on for
    my your you i question answer about
    """
MIN_TELLING = 3
# Words that stand in many questions.
_COMMON_WORDS = """
    haben hatten hatte habe wurde wurden wird sind waren wann welche welcher welches schon einmal jetzt nehmen bitte
    nicht kein keine noch auch dass seit viel viele etwas have been were what when which whom your with this that does
    ever taken anything would like now since many much some other item frage question
    """
_COMMON = frozenset(_COMMON_WORDS.split())
_EMPTY = frozenset(_EMPTY_WORDS.split())


def questions(form: Form, filling: Filling, *, shown_too: bool = False) -> Iterator[Path]:
    """Yield the questions that are asked as things stand; `shown_too`: with values that nobody is asked for."""
    yield from _within(form, filling, form.items, (), shown_too)


def _within(form: Form, filling: Filling, items: Sequence[Item], around: Path, shown_too: bool) -> Iterator[Path]:
    for item in items:
        own = below(around, item.link_id)
        if item.hidden or item.type == "display":
            continue
        if item.type == "group":
            for number in range(count_at(filling, item, own)):
                path = below(around, item.link_id, number)
                if path not in filling.disabled:
                    yield from _within(form, filling, item.children, path, shown_too)
        elif own not in filling.disabled:
            answers = answers_at(filling, own)
            if _asked(item, filling, own) or (shown_too and answers):
                yield own
            for number in range(len(answers)):
                yield from _within(form, filling, item.children, below(around, item.link_id, number), shown_too)


def _asked(item: Item, filling: Filling, path: Path) -> bool:
    return item.asked and (item.formulas.calculated is None or filling.settled(path))


def settled_questions(form: Form, filling: Filling) -> list[Path]:
    """Return the questions that were answered, skipped or left to staff."""
    return [path for path in questions(form, filling) if filling.settled(path)]


def before(form: Form, filling: Filling, path: Path | None) -> Path | None:
    """Return the question settled last before `path` in the form's order; before the end where `path` is None."""
    found = None
    for place in questions(form, filling):
        if place == path:
            break
        if filling.settled(place):
            found = place
    return found


def meant(form: Form, paths: Sequence[Path], target: str, language: str) -> list[Path]:
    """Return the questions that a patient means by some words: the best matches, in order; none if nothing matches."""
    wanted = [word for word in words(target) if word not in _EMPTY]
    for texts_of in (_own_texts, _near_texts):
        scores = {path: _score(wanted, texts_of(form, path, language)) for path in paths}
        best = max(scores.values(), default=0)
        if best:
            return [path for path, score in scores.items() if score == best]
    return []


def called(item: Item, text: str, language: str) -> int:
    """Return how well a message calls a question by its name: by its synonyms, else by telling words of its own."""
    said = words(text)
    names = [words(name) for name in (*item.synonyms, item.presentation.short.into(language))]
    # "Since" or "when" alone is in too many sentences to call a question by.
    telling = [name for name in names if not _COMMON.issuperset(name)]
    known = max((len(name) for name in telling if set(name) <= set(said)), default=0)
    if known or item.synonyms:
        return 2 * known
    own = {word for word in words(f"{item.text.into(language)} {item.link_id.replace('-', ' ')}") if _tells(word)}
    return int(any(_likeness(word, other) > 1 for word in said if _tells(word) for other in own))


def _tells(word: str) -> bool:
    return len(word) >= MIN_TELLING and word not in _EMPTY and word not in _COMMON


def _own_texts(form: Form, path: Path, language: str) -> list[str]:
    item = form.by_link_id[path[-1][0]]
    return [
        item.text.into(language),
        item.presentation.short.into(language),
        item.link_id.replace("-", " "),
        *item.synonyms,
    ]


def _near_texts(form: Form, path: Path, language: str) -> list[str]:
    """Return what stands around a question: its answers, its explanation, the groups that it is in."""
    item = form.by_link_id[path[-1][0]]
    groups = [form.by_link_id[link_id].text.into(language) for link_id in item.line[:-1]]
    return [*(option.label.into(language) for option in item.options), form.help(item, language), *groups]


def _score(wanted: Sequence[str], texts: Sequence[str]) -> int:
    """Return how well all wanted words occur; 0 when one of them does not."""
    there = {word for text in texts for word in words(text)} - _EMPTY
    grades = [max((_likeness(word, other) for other in there), default=0) for word in wanted]
    return sum(grades) if grades and all(grades) else 0


def _likeness(word: str, other: str) -> int:
    if word == other:
        return 3
    short, long_ = sorted((word, other), key=len)
    if len(short) >= MIN_SHORT and long_.startswith(short) and len(long_) - len(short) <= MOST_ENDING:
        return 2  # "Alter" for "alt"
    if len(short) >= MIN_STEM and (short in long_ or long_.startswith(short[:-1])):
        return 2
    return 1 if len(short) > MIN_STEM and short[:MIN_STEM] == long_[:MIN_STEM] else 0


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

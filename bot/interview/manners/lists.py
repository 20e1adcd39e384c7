"""Lists of answers: the summary, what waits to be confirmed before a section closes, what can be changed. Pure.

What was read from words that do not say just that may wait, so that one yes confirms several at once. It never waits
where the interview would go on differently with it, where it is needed (`Listener.may_wait`), or beyond its section.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.interview.form.form import Item, Path
from bot.interview.manners.agreement import asks_consent
from bot.interview.manners.listening import Listener, QuestionLike, is_named
from bot.interview.manners.session import FormField, ListEntry, Quote, Saying, Sentence, name_of, with_answers
from bot.interview.rules.answers import Problem
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_names import CHOICES
from bot.interview.walk.engine import AskItem, Done, Step
from bot.interview.walk.filling import Event, Skipped, Waiting

_COUNTED = frozenset({"too-many", "too-few", "too-long", "too-short", "decimal-places"})
_BOUNDED = frozenset({"below-minimum", "above-maximum"})


@dataclass(slots=True)
class ListingTurn(Listener):
    """The turn in hand: a listener whose session changes, and what is said meanwhile.

    Attributes:
        session: As changed so far.
        parts: What was said so far.
        choices: What can be chosen by number.
        aside: Whether the message is no answer, but a question to somebody who can answer it.
    """

    parts: list[Saying] = field(default_factory=list)
    choices: tuple[Saying, ...] = ()
    aside: QuestionLike = "no"

    # What happens

    def apply(self, *events: Event) -> None:
        """Let events happen."""
        for event in events:
            filling = self.engine.apply(self.session.filling, event)
            self.session = replace(self.session, filling=filling, events=(*self.session.events, event))

    def note(self, **changes: Any) -> None:
        """Change where the talk stands."""
        self.session = replace(self.session, talk=replace(self.talk, **changes))

    def onward(self) -> None:
        """Leave the open question."""
        self.session = replace(self.session, talk=self.talk.onward())

    # What is said

    def say(self, key: str, *, otherwise: str = "", **slots: int) -> None:
        """Say a fixed sentence."""
        self.parts.append(Sentence(key, slots, otherwise))

    def repeat(self, key: str, path: Path, answers: Sequence[Answer]) -> None:
        """Say a fixed sentence with answers to a question in it."""
        self.parts.append(with_answers(key, path[-1][0], tuple(answers)))

    def quote(self, item: Item, name: FormField, *, times: int = 1, otherwise: Sentence | Quote | None = None) -> None:
        """Say a text of the form, or as many as there are."""
        self.parts += [Quote(item.link_id, name, number, otherwise) for number in range(times)]

    def say_problems(self, problems: Iterable[Problem], *, named: bool = False) -> None:
        """Say what is wrong with answers; `named`: each with its question."""
        said: set[tuple[str, str, str]] = set()
        for problem in problems:
            link_id = problem.path[-1][0] if problem.path else ""
            if (link_id, problem.code, problem.key) not in said:
                said.add((link_id, problem.code, problem.key))
                self.parts += [name_of(link_id)] if named and link_id else []
                self._say_problem(problem, link_id)

    def _say_problem(self, problem: Problem, link_id: str) -> None:
        limit, key = problem.parameters.get("limit"), f"problem_{problem.code}"
        if problem.code == "constraint":
            of = self.form.by_link_id[link_id] if link_id else self.form
            same = [
                number
                for number, each in enumerate(of.constraints)
                if (each.key, each.human.base) == (problem.key, problem.human) and each.human.into(self.language)
            ]
            self.parts.append(Quote(link_id, "constraint", same[0]) if same else Sentence("problem"))
        elif problem.code in _COUNTED and isinstance(limit, int):
            self.say(key, limit=limit)
        elif problem.code in _BOUNDED and limit is not None:
            of_time = problem.parameters["type"] in ("date", "dateTime", "time")
            bound = (Answer(str(problem.parameters["type"]), limit),)
            self.parts.append(with_answers(f"{key}-date" if of_time else key, link_id, bound))
        elif problem.code in _COUNTED | _BOUNDED:
            self.say("problem")
        else:
            self.say(key, otherwise="problem")
            self.parts += [Quote(link_id, "format")] if problem.code == "pattern" else []

    # What waits to be confirmed

    def row_around(self, path: Path) -> Path:
        """Return the place of the innermost repeating group around a question; empty where there is none."""
        groups = (path[:depth] for depth in range(len(path) - 1, 0, -1))
        rows = (each for each in groups if self.item(each).type == "group")
        return next((each for each in rows if self.item(each).repeats), ())

    def _confirmed_with(self, path: Path) -> Path:
        """Return what is confirmed together: a row of a repeating group, else a group of the form; else empty."""
        return self.row_around(path) or (path[:1] if self.item(path[:1]).type == "group" else ())

    def let_wait(self, question: AskItem, answers: tuple[Answer, ...]) -> bool:
        """Let an answer that was not said in so many words wait to be confirmed, where it may; say whether it does."""
        item, path, before = question.item, question.path, self.session
        all_at_once = not item.repeats or (item.type in CHOICES and bool(item.options))
        if (
            not self._confirmed_with(path)
            or self.talk.revisit
            or self.talk.more
            or item.required
            or asks_consent(item)
            or not all_at_once
            or any(child.is_question for child in item.children)
            or item.formulas.calculated is not None
            or self.engine.compares(item.link_id)
            or self.reader.is_unusual(item, question.options, self.language, answers)
        ):
            return False
        self.apply(Waiting(path, answers))
        step = self.step
        alone = len(self.overdue(step)) == 1 and not isinstance(step, Done)
        if self.engine.tells_apart(self.session.filling) or alone:
            self.session = before  # it would be asked now in any case
            return False
        return True

    def overdue(self, step: Step) -> list[Path]:
        """Return what has to be confirmed before the next step: what its section leaves behind, or it depends on."""
        filling = self.session.filling
        waiting = self.engine.waiting(filling)
        if not waiting or isinstance(step, Done) or self.engine.tells_apart(filling):
            return [] if isinstance(step, Done) else waiting
        sections = ((path, self._confirmed_with(path)) for path in waiting)
        return [path for path, section in sections if step.path[: len(section)] != section]

    def show_waiting(self, paths: Sequence[Path]) -> None:
        """Say what was understood, and ask whether all of it is right."""
        self.onward()
        self.note(phase="checking")
        self.say("check")
        self.note(listed=self._list_answers(paths, confirming=True))
        self.say("check_reply")

    # The summary

    def show_summary(self, *, closing: bool) -> None:
        """Say all that was answered; `closing`: and ask whether it may go."""
        filling = self.session.filling
        paths = list(self.engine.questions(filling, shown_too=True))
        if not closing:
            paths = [path for path in paths if filling.settled(path) or self.answers(path)]
        self.say("summary" if any(self.answers(path) for path in paths) else "summary_empty")
        if self.session.filler not in ("", "open", "unsaid"):
            self.say(f"filled_by_{self.session.filler}")
        listed = self._list_answers(paths)
        if self.talk.phase == "asking":
            self.note(listed=listed)
        if closing:
            self._say_what_is_open()
            self.say("summary_check")
            self.onward()
            self.note(phase="summary", listed=listed, reached=self.engine.parts)

    def _list_answers(self, paths: Sequence[Path], *, confirming: bool = False) -> tuple[Path, ...]:
        """Say questions with their answers as lines of a list; return those that have a number, in its order.

        `confirming`: what waits is asked about, and need not be told apart.
        """
        listed: list[Path] = []
        group: Path = ()
        for path in paths:
            around = tuple(step for step in path[:-1] if self.form.by_link_id[step[0]].repeats)
            if around and around != group and self.form.by_link_id[around[-1][0]].type == "group":
                link_id, number = around[-1]
                self.parts += [Quote(link_id, "question"), Sentence("instance", {"number": number + 1})]
            group = around
            item = self.item(path)
            if not is_named(item, self.language):
                continue
            self.parts.append(
                ListEntry(
                    len(listed) + 1 if item.asked else 0,
                    name_of(item.link_id),
                    self._standing(path, confirming=confirming),
                )
            )
            if item.asked:
                listed.append(path)
            standing = self.answers(path) or path in self.session.filling.waiting
            if standing and path in self.session.filling.noted:
                self.parts.append(
                    ListEntry(0, name_of(item.link_id), self._words_noted(path))
                )  # said beside the answer
        return tuple(listed)

    def _standing(self, path: Path, *, confirming: bool) -> Sentence:
        """Return what stands at a question."""
        session = self.session
        answers = self.answers(path)
        if answers:
            return with_answers("summary_answer", path[-1][0], answers)
        if path in session.filling.waiting:
            key = "summary_answer" if confirming else "summary_waiting"
            return with_answers(key, path[-1][0], session.filling.waiting[path])
        if path in session.filling.noted:
            return self._words_noted(path)
        if path in session.filling.marked:
            return Sentence("summary_marked")
        if path not in session.filling.skipped:
            return Sentence("summary_open")
        skips = (event for event in reversed(session.events) if isinstance(event, Skipped) and event.path == path)
        last = next(skips, None)
        return Sentence("summary_none" if last is not None and last.reason == "none" else "summary_skipped")

    def _words_noted(self, path: Path) -> Sentence:
        texts = self.session.filling.noted[path]
        return with_answers("summary_noted", path[-1][0], tuple(Answer("string", text) for text in texts))

    def _say_what_is_open(self) -> None:
        problems = self._errors()
        required = (problem for problem in problems if problem.code == "required" and problem.path)
        # What a patient was never asked, they cannot mend; the interview then stays open for the team.
        missing = [problem for problem in required if self._may_mend(self.item(problem.path))]
        others = [each for each in problems if each.code != "required" or not each.path]
        told = (each for each in others if not each.path or self._may_mend(self.item(each.path)))
        wrong = [each for each in told if each.code != "refused" or (each.path and self.item(each.path).asked)]
        if wrong:
            self.say("summary_problems")
            self.say_problems(wrong, named=True)
        if missing:
            self.say("summary_required")
            self.parts += [name_of(problem.path[-1][0]) for problem in missing]

    @staticmethod
    def _may_mend(item: Item) -> bool:
        """Say whether a patient is shown an item, and could answer it or something inside it."""
        return not (item.hidden or item.left_out) and (item.asked or not item.is_question)

    def _errors(self) -> list[Problem]:
        found = self.engine.open_problems(self.session.filling)
        return [problem for problem in found if problem.severity == "error"]

    def choose(self, paths: Sequence[Path], key: str) -> None:
        """List questions, and ask which answer is to be changed."""
        listed = self._list_answers(paths)
        self.say(key)
        self.onward()
        self.note(phase="choosing", listed=listed)

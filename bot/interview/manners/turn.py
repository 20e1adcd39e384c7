"""One turn: what happens to the session, and what is said; what a message means, `hearing.py` decides. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from bot.interview.form.form import Item, Option, Path
from bot.interview.manners.agreement import asks_yes_or_no
from bot.interview.manners.hints import computed_text, example_answers, form_hints, unit_answers, unit_hint
from bot.interview.manners.listening import FREE_TEXT, NUMBERS, Listener, QuestionLike, is_named
from bot.interview.manners.session import (
    FormField,
    ListEntry,
    Quote,
    Said,
    Saying,
    Sentence,
    Session,
    Status,
    name_of,
    with_answers,
)
from bot.interview.rules.answers import Problem
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_names import CHOICES
from bot.interview.walk.engine import AskAnother, AskItem, Done, Show
from bot.interview.walk.filling import Cleared, Event, Given, GroupRemoved, MarkedForStaff, NoMore, Shown, Skipped

MOST_SHOWN = 30
MOST_TRIES = 3
_COUNTED = frozenset({"too-many", "too-few", "too-long", "too-short", "decimal-places"})
# Types of answers that need no word on their form.
_PLAIN = frozenset({*CHOICES, "boolean", "string", "text", "reference"})
# Sentences that have told the unit already.
_TELLING = frozenset({"units", "example_answer", "example_quantity"})
_BOUNDED = frozenset({"below-minimum", "above-maximum"})


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn came to.

    Attributes:
        session: The state after it.
        said: What to show.
        aside: Whether the text may be a question to the assistant ("clear", or "maybe"): then only what is open is
            said again, and nothing of the text was taken. If nobody can answer it, call `Interview.not_answered`.
    """

    session: Session
    said: Said
    aside: QuestionLike = "no"


@dataclass(slots=True)
class OpenTurn(Listener):
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

    def end(self) -> Turn:
        """Return what the turn came to."""
        return Turn(self.session, Said(self.language, tuple(self.parts), self.choices), self.aside)

    # What happens

    def apply(self, *events: Event) -> None:
        """Let events happen."""
        for event in events:
            filling = self.engine.apply(self.session.filling, event)
            self.session = replace(self.session, filling=filling, events=(*self.session.events, event))

    def note(self, **changes: Any) -> None:
        """Change where the talk stands."""
        self.session = replace(self.session, talk=replace(self.talk, **changes))

    def propose(self, answers: tuple[Answer, ...], *, nothing: bool = False) -> None:
        """Let answers wait to be confirmed; `nothing`: that there are none."""
        self.note(pending=answers, nothing=nothing, proposed=False)

    def drop_pending(self, **changes: Any) -> None:
        """Forget what waits to be confirmed."""
        self.note(pending=None, nothing=False, proposed=False, **changes)

    def onward(self) -> None:
        """Leave the open question."""
        self.session = replace(self.session, talk=self.talk.onward())

    def open_again(self, path: Path, **changes: Any) -> None:
        """Open a question that was asked before."""
        self.onward()
        self.note(revisit=path, **changes)

    def revisit(self, path: Path) -> None:
        """Ask a question again."""
        self.open_again(path)
        self.ask()

    def give(self, question: AskItem, answers: tuple[Answer, ...], *, proposed: bool = False) -> None:
        """Accept answers and go on."""
        self.say_problems(self.problems(question.path, answers, "warning"))
        self.apply(Given(question.path, answers, proposed=proposed))
        self.onward()
        self.go_on()

    def leave(self, reason: str) -> None:
        """Leave the open question without an answer; `reason`: skipped, dont_know, refused, or none of the options."""
        step = self.step
        if not isinstance(step, AskItem | AskAnother):
            return
        before, row = self.answers(step.path), self.empty_row(step.path)
        has_none = reason == "none" and step.item.type in FREE_TEXT
        takes_back = has_none or (reason == "skipped" and step.item.required)
        if isinstance(step, AskAnother) or self.talk.more:
            self.apply(NoMore(step.path))
        elif row and takes_back:
            self.apply(GroupRemoved(row))
            self.say("row_left")
        elif before and reason == "skipped":
            self.repeat("kept", step.path, before)
        elif step.item.required and not self.talk.kindly:
            self.note(kindly=True, pending=None, proposed=False)
            self.say("row_out" if row else "kindly")
            self.ask(brief=True)
            return
        else:
            self.say(self.set_aside(step.path, reason))
        self.onward()
        self.go_on()

    def set_aside(self, path: Path, reason: str) -> str:
        """Take a question for asked, without an answer; return the key of what is said to it."""
        if self.answers(path):
            self.apply(Cleared(path))
        if path in self.session.filling.noted:
            self.apply(MarkedForStaff(path, "in the patient's own words"))
            return "left_to_team"
        if self.item(path).required:
            self.apply(MarkedForStaff(path, reason))
            return "left_to_team"
        self.apply(Skipped(path, "" if reason == "skipped" else reason))
        return "kept_nothing" if reason == "none" else reason

    def fail(
        self, question: AskItem, why: str, problems: Sequence[Problem] = (), *, kept: Answer | None = None
    ) -> None:
        """Say what did not work; the second time with an example, the third time leave it to staff.

        `kept`: what was written down for the team in the patient's own words.
        """
        path, item, tries = question.path, question.item, self.talk.tries + 1
        self.drop_pending(tries=tries, declined=self.talk.declined or self.talk.proposed, between=())
        gives_up = tries >= MOST_TRIES and not item.required
        if gives_up:
            self.apply(*([NoMore(path)] if self.talk.more else []), MarkedForStaff(path, "not understood"))
        else:
            self.say_problems(problems)
            if why:
                self.say(why, otherwise="not_understood")
            units = unit_answers(item) if why in ("why_unit", "why_unit_missing") else ()
            if units:
                self.repeat("units", path, units)
            elif why == "why_unit":
                self.say("number_only")
        if kept is not None:
            self.repeat("noted", path, (kept,))
        if gives_up:
            self.say("marked")
            self.onward()
            self.go_on()
            return
        if tries >= MOST_TRIES - 1:
            self.say_example(item)
        if self.empty_row(path):
            self.say("row_out")
        if tries >= MOST_TRIES:
            self.note(kindly=True)
            self.say("kindly")
        self.ask(brief=True)

    def row_around(self, path: Path) -> Path:
        """Return the place of the innermost repeating group around a question; empty where there is none."""
        groups = (path[:depth] for depth in range(len(path) - 1, 0, -1))
        rows = (each for each in groups if self.item(each).type == "group")
        return next((each for each in rows if self.item(each).repeats), ())

    def empty_row(self, path: Path) -> Path:
        """Return the row around a question that the patient began, and has said nothing in; empty for no such."""
        row, filling = self.row_around(path), self.session.filling
        if not row or row[-1][1] < max(self.item(row).least, int(self.item(row).has_rule)):
            return ()
        said = (*filling.answers, *filling.skipped, *filling.marked, *filling.noted)
        return () if any(each[: len(row)] == row for each in said) else row

    def finish(self) -> None:
        """The patient agrees: the response is complete, unless something required is missing or does not fit."""
        session, listed = self.session, self.talk.listed  # each can still be changed by its number
        happened = len(session.past) + len(session.events)
        changed = self.talk.sent not in (0, happened)
        was_complete = session.status != "in-progress"
        errors = self._errors()
        status: Status = "in-progress" if errors else "amended" if was_complete and changed else "completed"
        if status == "completed" and was_complete:
            status = session.status
        self.say("in_progress" if status == "in-progress" else "completed")
        self.onward()
        earlier = self.talk.earlier + ((self.talk.sent,) if was_complete and changed else ())
        self.note(phase="finished", sent=happened, earlier=earlier, listed=listed)
        self.session = replace(self.session, status=status)

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

    def go_on(self) -> None:
        """Show what the form has to say, then put the next question, or the summary when all is done."""
        step = self.step
        while isinstance(step, Show):
            self.show(step.path)
            self.apply(Shown(step.path))
            step = self.step
        if isinstance(step, Done):
            self.note(kept=None, kept_for=())
            self.show_summary(closing=True)
        elif isinstance(step, AskItem) and self.talk.kept is not None and self.talk.kept_for == step.path:
            self.note(pending=self.talk.kept, kept=None, kept_for=())
            self.say("on_with")
            self.parts.append(name_of(step.item.link_id))
            self.repeat("read_back", step.path, self.talk.pending or ())
        else:
            self.ask()

    def resume(self) -> None:
        """Go on after a pause: show again what was shown last, and put the open question."""
        if self.talk.phase == "finished":
            self.say("done_already")
            self.show_summary(closing=True)
            return
        self.say("resumed")
        # A kill may have come before what was shown with the open question was read.
        shown = takewhile(lambda event: isinstance(event, Shown), reversed(self.session.events))
        for event in reversed(list(shown)):
            if self.engine.exists(self.session.filling, event.path):
                self.show(event.path)
        if self.talk.phase == "summary":
            self.show_summary(closing=True)
        else:
            self.note(phase="asking", heading=())
            self.ask_open()

    def show(self, path: Path) -> None:
        """Show a text of the form, under the heading of its group."""
        self._announce(path)
        self._say_text(path)
        self._say_where_to_look(self.item(path))

    def ask_open(self, *, brief: bool = False) -> None:
        """Put what is open once more: a question, what was understood, or what to say to the summary."""
        step = self.step
        if self.talk.phase != "asking":
            self.say({"summary": "summary_check", "choosing": "change_which"}.get(self.talk.phase, "paused"))
        elif self.talk.pending is not None and isinstance(step, AskItem):
            self.ask(brief=True)
            self.choices = ()  # yes or no is what is asked
            self.read_back(step)
        else:
            self.ask(brief=brief)

    def ask(self, *, brief: bool = False) -> None:
        """Put the open question; `brief`: only what is needed to answer it."""
        step = self.step
        if isinstance(step, AskItem):
            self._ask_question(step, brief=brief)
        elif not isinstance(step, AskAnother):
            self.go_on()
        elif step.path in self.session.filling.reopened:
            self._ask_grown_list(step)
        elif step.item.type == "group":
            self._announce(step.path)
            self.parts.append(name_of(step.item.link_id))
            self.say("another_group" if step.count else "any_group")
        else:
            self.repeat("summary_answer", step.path, self.answers(step.path))
            self.say("another_answer")

    def _ask_grown_list(self, step: AskAnother) -> None:
        """Show a list that has grown since it was chosen from, and ask whether there is more than what stands."""
        self._announce(step.path)
        self._say_text(step.path)
        self.choices = choices_of(step.item, self.question(step.path).options[:MOST_SHOWN])
        self.repeat("summary_answer", step.path, self.answers(step.path))
        self.say("another_answer")

    def _ask_question(self, question: AskItem, *, brief: bool) -> None:
        item, shown = question.item, question.item.presentation
        if not brief:
            self._announce(question.path)
            self._say_which_answer_it_is_about(question.path)
            answered, total = self.engine.progress(self.session.filling)
            if total > 1 and not self.talk.revisit:
                self.say("progress", number=answered + 1, total=total)
        if self.talk.more:
            self.say("which_more")
        self._say_text(question.path, otherwise=Sentence("no_text"))
        if item.type in NUMBERS and not _TELLING & {part.key for part in self.parts if isinstance(part, Sentence)}:
            self.parts += unit_hint(item, self.language)
        if not brief:
            self.quote(item, "instruction", times=len(shown.instructions))
            self._say_where_to_look(item)
            self._say_what_fits(question)
        left = tuple(each for each in question.options if each.answer in self.talk.between) or question.options
        if item.type == "boolean" and not left:
            self.choices = (Sentence("yes"), Sentence("no"))
        else:
            self.choices = choices_of(item, left[:MOST_SHOWN])
        if len(left) > MOST_SHOWN:
            self.say("more_options", shown=MOST_SHOWN, total=len(left))
        self._say_what_stands(question)

    def _announce(self, path: Path) -> None:
        """Say the headings of groups that begin here: linkIds with their repetition, without questions in between."""
        groups = tuple(step for step in path[:-1] if self.form.by_link_id[step[0]].type == "group")
        for depth in range(1, len(groups) + 1):
            if self.talk.heading[:depth] == groups[:depth]:
                continue
            self._say_text(path[: path.index(groups[depth - 1]) + 1])
            if groups[depth - 1][1]:
                self.say("instance", number=groups[depth - 1][1] + 1)
        if groups != self.talk.heading:
            self.note(heading=groups)

    def _say_text(self, path: Path, *, otherwise: Sentence | None = None) -> None:
        """Say what an item asks: by its formula, unless only its fixed text is in the patient's language."""
        item = self.item(path)
        said = self.engine.text(self.session.filling, path)
        if said and item.text.into(self.language) == item.text.base:
            self.repeat("computed_text", path, (computed_text(said),))
        else:
            self.quote(item, "question", otherwise=otherwise)

    def _say_which_answer_it_is_about(self, path: Path) -> None:
        """Say which of several answers a question is about."""
        for depth in range(len(path) - 1, 0, -1):
            link_id, number = path[depth - 1]
            if self.item(path[:depth]).type != "group":
                answers = self.answers((*path[: depth - 1], (link_id, 0)))
                if len(answers) > 1:
                    self.repeat("about_answer", path[:depth], answers[number : number + 1])
                return

    def _say_where_to_look(self, item: Item) -> None:
        """Say where pictures and explanations are found."""
        self.quote(item, "media", times=len(item.presentation.media))
        self.quote(item, "link", times=len(item.presentation.links))

    def _say_what_fits(self, question: AskItem) -> None:
        """Say what form of answer is wanted, and what may be chosen."""
        item = question.item
        if item.type not in _PLAIN or item.presentation.entry_format.base:
            self._say_form(item)
        if item.type in CHOICES and item.repeats and len(question.options) > 1:
            self.say("several")
        if is_unlisted(question):
            self.say("in_own_words")
        if item.type == "open-choice":
            self.quote(item, "open_label", otherwise=Sentence("own_words"))

    def _say_form(self, item: Item) -> None:
        """Say in what form an answer is wanted."""
        before = (event.path for event in self.session.events if isinstance(event, Given | Skipped | MarkedForStaff))
        is_first = not any(self.item(path).type == item.type for path in before)
        self.parts += form_hints(item, self.language, is_first=is_first, now=self.reader.now)

    def _say_what_stands(self, question: AskItem) -> None:
        """Say what stands at the question already, or what the form proposes."""
        if not question.proposal or self.talk.more or self.talk.between:
            return
        may_propose = self.talk.pending is None and not self.talk.declined
        if self.answers(question.path):
            key = "so_far_file" if question.item.type == "attachment" else "so_far"
            self.repeat(key, question.path, question.proposal)
        elif may_propose and not self.problems(question.path, question.proposal):
            self.note(pending=question.proposal, proposed=True)
        if self.talk.proposed and self.talk.pending is not None:
            self._propose(question, self.talk.pending)

    def read_back(self, question: AskItem) -> None:
        """Say what was understood, and ask whether that is right."""
        pending = self.talk.pending
        if self.talk.nothing or pending is None:
            self.say("read_back_none" if question.options else "read_back_has_none")
            return
        if self.reader.is_unusual(question.item, question.options, self.language, pending):
            self.say("unusual")
        if self.talk.proposed:
            self._propose(question, pending)
        else:
            self.repeat("read_back", question.path, pending)

    def _propose(self, question: AskItem, answers: Sequence[Answer]) -> None:
        """Say what the form proposes; "No. Is that right?" would make a yes mean no: there the answer is asked."""
        self.repeat("proposal_yes_no" if asks_yes_or_no(question) else "proposal", question.path, answers)

    def say_example(self, item: Item) -> None:
        """Say how an answer could look."""
        if item.type in CHOICES or item.options:
            self.say("example_choice")
        elif fitting := example_answers(item, self.language, self.reader.now):
            key = f"example_{item.type}" if item.type in ("date", "dateTime") else "example_answer"
            self.parts.append(with_answers(key, item.link_id, fitting))
        else:
            self.say(f"example_{item.type}", otherwise="example_string")
        if Quote(item.link_id, "format") not in self.parts:  # as where it was said what is wrong
            self.quote(item, "format")

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

    # The list of answers

    def show_summary(self, *, closing: bool) -> None:
        """Say all that was answered; `closing`: and ask whether it may go."""
        filling = self.session.filling
        paths = list(self.engine.questions(filling, shown_too=True))
        if not closing:
            paths = [path for path in paths if filling.settled(path) or self.answers(path)]
        self.say("summary" if any(self.answers(path) for path in paths) else "summary_empty")
        listed = self._list_answers(paths)
        if self.talk.phase == "asking":
            self.note(listed=listed)
        if closing:
            self._say_what_is_open()
            self.say("summary_check")
            self.onward()
            self.note(phase="summary", listed=listed)

    def _list_answers(self, paths: Sequence[Path]) -> tuple[Path, ...]:
        """Say questions with their answers as lines of a list; return those that have a number, in its order."""
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
                ListEntry(len(listed) + 1 if item.asked else 0, name_of(item.link_id), self._standing(path))
            )
            if item.asked:
                listed.append(path)
            if self.answers(path) and path in self.session.filling.noted:
                self.parts.append(
                    ListEntry(0, name_of(item.link_id), self._words_noted(path))
                )  # said beside the answer
        return tuple(listed)

    def _standing(self, path: Path) -> Sentence:
        """Return what stands at a question."""
        session = self.session
        answers = self.answers(path)
        if answers:
            return with_answers("summary_answer", path[-1][0], answers)
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


def is_unlisted(question: AskItem) -> bool:
    """Say whether a question wants one of a list that nobody has: it is asked in the patient's own words."""
    return question.item.type in CHOICES and not question.item.open and not question.options


def choices_of(item: Item, options: Sequence[Option]) -> tuple[Saying, ...]:
    """Return how options are shown: by their text in the form, or as the answer that a formula found."""
    listed = [option.answer for option in item.options]
    found = list[Saying]()
    for answer in (option.answer for option in options):
        shown = with_answers("choice", item.link_id, (answer,))
        found.append(Quote(item.link_id, "option", listed.index(answer), shown) if answer in listed else shown)
    return tuple(found)

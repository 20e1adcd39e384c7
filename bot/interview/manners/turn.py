"""One turn: what happens to the session, and what is said; what a message means, `hearing.py` decides. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from bot.interview.form.form import Item, Option, Path
from bot.interview.manners.agreement import agreed, asks_consent, asks_yes_or_no
from bot.interview.manners.hints import example_answers, form_hints, said_answers, unit_answers, unit_hint
from bot.interview.manners.listening import DAYS, FREE_TEXT, NUMBERS, Listener, QuestionLike
from bot.interview.manners.lists import ListingTurn
from bot.interview.manners.session import (
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
from bot.interview.walk.engine import AskAnother, AskItem, Done, Show, Step
from bot.interview.walk.filling import Cleared, Given, GroupRemoved, MarkedForStaff, NoMore, Noted, Shown, Skipped

MOST_SHOWN = 30
MOST_TRIES = 3
# Types of answers that need no word on their form.
_PLAIN = frozenset({*CHOICES, "boolean", "string", "text", "reference"})
# Types of questions of which hints say an example.
_HINTED = NUMBERS | DAYS
# Sentences that have told the unit already.
_TELLING = frozenset({"units", "example_answer", "example_quantity"})


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


class OpenTurn(ListingTurn):
    """A turn in which questions are put, and answers taken."""

    def end(self) -> Turn:
        """Return what the turn came to."""
        return Turn(self.session, Said(self.language, tuple(self.parts), self.choices), self.aside)

    # What happens

    def propose(self, answers: tuple[Answer, ...], *, nothing: bool = False) -> None:
        """Let answers wait to be confirmed; `nothing`: that there are none."""
        self.note(pending=answers, nothing=nothing, proposed=False)

    def drop_pending(self, **changes: Any) -> None:
        """Forget what waits to be confirmed."""
        self.note(pending=None, nothing=False, proposed=False, **changes)

    def open_again(self, path: Path, **changes: Any) -> None:
        """Open a question that was asked before."""
        if path in self.session.filling.waiting and changes.get("pending") is not None and not changes.get("more"):
            self.apply(Cleared(path))  # it is asked about now; asked without an answer, what waits is kept
        self.onward()
        self.note(revisit=path, **changes)

    def revisit(self, path: Path) -> None:
        """Ask a question again."""
        self.open_again(path)
        self.ask()

    def give(
        self, question: AskItem, answers: tuple[Answer, ...], *, proposed: bool = False, exact: bool = False
    ) -> None:
        """Accept answers and go on; `exact`: just as they were said, which is shown with the next question."""
        path = question.path
        self.say_problems(self.problems(path, answers, "warning"))
        place = len(self.parts)
        self.apply(Given(path, answers, proposed=proposed))
        self.onward()
        self.go_on()
        if exact:
            self.show_taken(path, "taken", answers, place)

    def show_taken(self, path: Path, key: str, answers: tuple[Answer, ...], place: int) -> None:
        """Show what was taken before what is said from `place` on, where a question follows: it can be changed then."""
        step = self.step
        again = isinstance(step, AskAnother) and step.path == path  # it says what stands itself
        if self.talk.phase != "asking" or self.talk.pending is not None or again:
            return
        just_words = key == "taken" and self.item(path).type in FREE_TEXT
        said = Sentence("taken_words") if just_words else with_answers(key, path[-1][0], answers)
        self.parts.insert(place, said)
        self.note(taken=path)

    def leave(self, reason: str) -> None:
        """Leave the open question without an answer; `reason`: skipped, dont_know, refused, or none of the options."""
        step = self.step
        if not isinstance(step, AskItem | AskAnother):
            return
        waits = self.session.filling.waiting.get(step.path, ())
        before, row = self.answers(step.path) or waits, self.empty_row(step.path)
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
        if self.answers(path) or path in self.session.filling.waiting:
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
            kept_waiting = path in self.session.filling.waiting  # opened again, and no new answer came of it
            marked = () if kept_waiting else (MarkedForStaff(path, "not understood"),)
            self.apply(*([NoMore(path)] if self.talk.more else []), *marked)
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

    def empty_row(self, path: Path) -> Path:
        """Return the row around a question that the patient began, and has said nothing in; empty for no such."""
        row, filling = self.row_around(path), self.session.filling
        if not row or row[-1][1] < max(self.item(row).least, int(self.item(row).has_rule)):
            return ()
        said = (*filling.answers, *filling.skipped, *filling.marked, *filling.noted, *filling.waiting)
        return () if any(each[: len(row)] == row for each in said) else row

    def agree(self) -> None:
        """The patient agrees to the summary, and so to what waits in it."""
        if not self.accept_waiting():
            return
        if isinstance(self.step, Done):
            self.finish()
        else:  # what was confirmed opens a question
            self.onward()
            self.go_on()

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

    def go_on(self) -> None:
        """Show what the form has to say, then put the next question, or the summary when all is done."""
        step = self.step
        while isinstance(step, Show) and not self.overdue(step):
            self.show(step.path)
            self.apply(Shown(step.path))
            step = self.step
        if paths := self.overdue(step):
            self.confirm(paths)
        elif self._must_ask_who(step):
            self.ask_who()
        elif isinstance(step, Done):
            self.note(kept=None, kept_for=())
            self.show_summary(closing=True)
        elif isinstance(step, AskItem) and self.talk.kept is not None and self.talk.kept_for == step.path:
            self.note(pending=self.talk.kept, kept=None, kept_for=())
            self.say("on_with")
            self.parts.append(name_of(step.item.link_id))
            self.repeat("read_back", step.path, self.talk.pending or ())
        else:
            self.ask()

    def _must_ask_who(self, step: Step) -> bool:
        """Say whether it is to be asked now who fills the form in: once the patient has agreed to what is asked."""
        if self.session.filler != "open" or not isinstance(step, AskItem) or asks_consent(step.item):
            return False
        return agreed(self.form, self.session.filling)

    def ask_who(self) -> None:
        """Ask who fills the form in."""
        self.note(phase="who")
        self.say("who_fills_in")
        self.choices = (Sentence("who_patient"), Sentence("who_relative"), Sentence("who_helper"))

    def confirm(self, paths: Sequence[Path]) -> None:
        """Ask whether what was understood and waits is right: one answer as it was asked for, several as a list."""
        if len(paths) > 1:
            self.show_waiting(paths)
            return
        path = paths[0]
        self.open_again(path, pending=self.session.filling.waiting[path])
        self.parts.append(name_of(path[-1][0]))
        self.read_back(self.question(path))

    def accept_waiting(self) -> bool:
        """Let all that waits count, as the patient said that it is right; say whether it fits, else ask again."""
        for path in self.engine.waiting(self.session.filling):
            answers = self.session.filling.waiting[path]
            if problems := self.problems(path, answers):
                self.open_again(path)
                self.parts.append(name_of(path[-1][0]))
                self.fail(self.question(path), "", problems)
                return False
            self.apply(Given(path, answers))
        return True

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
            if self.overdue(self.step) or self._must_ask_who(self.step):
                self.go_on()
            else:
                self.ask_open()

    def show(self, path: Path) -> None:
        """Show a text of the form, under the heading of its group."""
        self._announce(path)
        self._say_text(path)
        self._say_where_to_look(self.item(path))

    def show_again(self) -> None:
        """Show once more what was shown last, if it still stands there."""
        shown = [event.path for event in self.session.events if isinstance(event, Shown)]
        if shown and self.engine.exists(self.session.filling, shown[-1]):
            self.show(shown[-1])

    def ask_open(self, *, brief: bool = False) -> None:
        """Put what is open once more: a question, what was understood, or what to say to the summary."""
        step = self.step
        if self.talk.phase == "who":
            self.ask_who()
        elif self.talk.phase == "checking":
            self.show_waiting(self.engine.waiting(self.session.filling))
        elif self.talk.phase != "asking":
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
            part = self.engine.part(question.path)
            begins = not self.talk.revisit and (not self.talk.heading or part > self.talk.reached)
            self._announce(question.path)
            self._say_which_answer_it_is_about(question.path)
            if begins and self.engine.parts > 1:
                self.note(reached=max(part, self.talk.reached))
                key = "progress_part" if self.engine.has_sections else "progress"
                self.say(key, number=self.talk.reached + 1, total=self.engine.parts)
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
        """Say what the form, or an earlier answer, proposes; "No. Is that right?" would make a yes mean no."""
        key = "proposal_earlier" if self.engine.known(question.path) == tuple(answers) else "proposal"
        self.repeat(f"{key}_yes_no" if asks_yes_or_no(question) else key, question.path, answers)

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


def repeatable(listener: Listener, questions: Iterable[AskItem]) -> dict[str, list[Answer]]:
    """Return the answers that may be repeated to the patient, by linkId.

    They are those given, calculated, noted and waiting, and what is said with the questions that are put: options,
    limits, proposals and examples.
    """
    session, engine, now = listener.session, listener.engine, listener.reader.now
    filling = session.filling
    known: dict[str, list[Answer]] = {}
    for path, answers in (*filling.computed.items(), *filling.answers.items(), *filling.waiting.items()):
        known.setdefault(path[-1][0], []).extend(answers)
    for event in session.events:
        if isinstance(event, Noted):  # also what is not told any more since: a list may hold it that was just made
            known.setdefault(event.path[-1][0], []).append(Answer("string", event.text))
        elif isinstance(event, Given):  # a file that was taken out again is told by its name
            files = (answer for answer in event.answers if answer.type == "attachment")
            known.setdefault(event.path[-1][0], []).extend(files)
    for link_id, text in engine.texts(filling):
        known.setdefault(link_id, []).append(computed_text(text))
    for question in questions:
        item = question.item
        options = (option.answer for option in question.options)
        bounds = (bound for bound in engine.bounds(filling, question.path) if bound is not None)
        hinted = said_answers(item, session.language, now) if item.type in _HINTED else ()
        known.setdefault(item.link_id, []).extend((*question.proposal, *options, *bounds, *hinted))
    return known


def computed_text(said: str) -> Answer:
    """Return a text that a formula gave as what may be repeated to the patient."""
    return Answer("markdown", said)


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

"""A Questionnaire as a conversation: one patient turn in, reply and new state out. Pure and resumable.

All that happened is in the `Session`; an `Interview` only knows the form and the present. Messages that are questions
themselves come back as `aside`: whoever can answer them does, and shows the turn's reply after the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from bot.interview.form.form import Form, Path
from bot.interview.manners import another, answering, correcting, steering
from bot.interview.manners.another import is_end
from bot.interview.manners.asking import ask, go_on, show
from bot.interview.manners.exchange import Exchange, example_answers, unit_answers
from bot.interview.manners.listening import QuestionLike, is_listed, question_like, read_reply
from bot.interview.manners.session import Session
from bot.interview.manners.summary import show_summary
from bot.interview.reading.command import read_command
from bot.interview.reading.reading import Read
from bot.interview.reading.yesno import read_yes_no
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject
from bot.interview.walk.assemble import Heading
from bot.interview.walk.engine import AskAnother, AskItem, Engine
from bot.interview.walk.filling import Shown
from bot.sentences.reply import FormText, Heard, Part, Reply
from bot.text import sanitise

OpenKind = Literal["question", "read-back", "proposal", "another", "summary", "choosing", "paused", "finished"]


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn came to.

    Attributes:
        session: The state after it.
        reply: What to show.
        aside: Whether the text may be a question to the assistant ("clear", or "maybe"): then the reply only repeats
            what is open, and nothing of the text was taken. If nobody can answer it, call `Interview.not_answered`.
    """

    session: Session
    reply: Reply
    aside: QuestionLike = "no"


@dataclass(frozen=True, slots=True)
class Open:
    """What waits for the patient: its kind, and the item that it is about (empty linkId: none)."""

    kind: OpenKind
    link_id: str = ""
    path: Path = ()


class Interview:
    """Asks one form. Build it once per conversation and day; sessions are handed in and out."""

    def __init__(self, form: Form, *, now: datetime, launch: Mapping[str, JsonObject] | None = None) -> None:
        """Prepare a form; `now` needs a time zone; `launch` holds resources that formulas may use."""
        self.form = form
        self.engine = Engine(form, now=now, launch=launch)
        self._now = now

    def begin(self, language: str) -> Turn:
        """Begin: say how it works, and put the first question."""
        x = self._exchange(Session(language, filling=self.engine.start()))
        x.read_out("", "title")
        x.say("interview_begin")
        go_on(x)
        return _turn(x)

    def open(self, stored: Session) -> Session:
        """Return a stored session with all that follows from its events.

        Raises:
            BadData: The events are not of this form.
        """
        return replace(stored, filling=self.engine.replay(stored.events))

    def resume(self, session: Session) -> Turn:
        """Go on after a pause: show again what was shown last, and put the open question."""
        x = self._exchange(session)
        if session.talk.phase == "finished":
            x.say("done_already")
            show_summary(x, closing=True)
            return _turn(x)
        x.say("resumed")
        shown = [event.path for event in _last_shown(session) if self.engine.exists(session.filling, event.path)]
        for path in shown:
            show(x, path)
        if session.talk.phase == "summary":
            show_summary(x, closing=True)
        else:
            x.note(phase="asking", heading=())
            self._ask_open(x)
        return _turn(x)

    def turn(self, session: Session, text: str) -> Turn:
        """Take one message of the patient; any text at all."""
        x = self._exchange(session)
        if not sanitise(text).text:
            x.say("why_empty")
            self._repeat(x)
        elif session.talk.phase == "finished":
            self._amend(x, text)
        elif session.talk.phase == "paused":
            return self._paused(session, text)
        elif session.talk.phase == "choosing":
            steering.hear_choice(x, text, correcting.correct)
        elif session.talk.phase == "summary":
            steering.hear_agreement(x, text, correcting.correct)
        else:
            self._asking(x, text)
        return _turn(x)

    def _amend(self, x: Exchange, text: str) -> None:
        """Take a message after the patient has agreed to the summary: a correction, or something else."""
        command = read_command(text, language=x.language)
        if command is not None and command.kind == "change":
            steering.change(x, command.target)
        elif question_like(text, x.language) == "clear" or not correcting.correct(x, text):
            x.aside = "clear"

    def _asking(self, x: Exchange, text: str) -> None:
        command, step = read_command(text, language=x.language), x.step
        if command is not None and not self._is_option(x, text):
            if (
                isinstance(step, AskItem)
                and command.kind == "skip"
                and x.talk.pending is not None
                and not x.talk.proposed
            ):
                x.say("yes_or_no")
                answering.read_back(x, step)
            else:
                x.note(pending=None, nothing=False, proposed=False)
                steering.obey(x, command)
        else:
            self._reply(x, text)

    def _reply(self, x: Exchange, text: str) -> None:
        step = x.step
        if isinstance(step, AskAnother):
            another.hear_another(x, step, text)
        elif isinstance(step, AskItem):
            if not self._corrects(x, step, text):
                answering.hear(x, step, text)
        else:
            go_on(x)

    def _corrects(self, x: Exchange, step: AskItem, text: str) -> bool:
        """Take a message as the correction of an earlier answer where it is no reply to the open question."""
        if question_like(text, x.language) == "clear":
            return False
        if correcting.correct_plainly(x, text):
            return True
        free = step.item.type in answering.FREE_TEXT or bool(step.item.open and step.options)
        if free or answering.takes(x, step, text):
            return False
        said = read_yes_no(text, language=x.language)
        return not (isinstance(said, Read) and x.talk.pending is not None) and correcting.correct(x, text)

    def _is_option(self, x: Exchange, text: str) -> bool:
        """Say whether a message is, word for word, one of the answers to choose from."""
        step = x.step
        if not isinstance(step, AskItem) or not step.options:
            return False
        reading = read_reply(text, step, language=x.language, now=self._now)
        return isinstance(reading, Read) and reading.literal and is_listed(reading.answers, step.options)

    def says_just_an_answer(self, session: Session, text: str) -> bool:
        """Say whether a message is, word for word, what the form or its reader expects: a label, yes, a number, a date.

        Such words are not the patient's own: nothing else can be heard in them. Free text never is.
        """
        x = self._exchange(session)
        step = x.step
        if read_command(text, language=x.language) is not None:
            return True
        if not isinstance(step, AskItem) or session.talk.phase != "asking":
            said = read_yes_no(text, language=x.language)
            return isinstance(said, Read) and said.literal and not said.remainder
        reading = read_reply(text, step, language=x.language, now=self._now)
        if not isinstance(reading, Read) or not reading.literal or reading.remainder:
            return False
        listed = is_listed(reading.answers, step.options)
        return listed or not any(each.type in answering.OWN_WORDS for each in reading.answers)

    def understands(self, session: Session, text: str) -> bool:
        """Say whether what is open takes a message for a reply: an answer, yes or no, a number of a list, a command.

        Where any words are an answer, that they are one says nothing: then only commands are understood.
        """
        x = self._exchange(session)
        talk, step = session.talk, x.step
        said = read_yes_no(text, language=x.language)
        agrees = isinstance(said, Read) and not said.remainder
        if read_command(text, language=x.language) is not None:
            return True
        if talk.phase == "summary" and steering.agrees(x, text) is not None:
            return True
        if talk.phase != "asking":
            return agrees or steering.numbered(text) is not None
        if not isinstance(step, AskItem):
            return agrees or is_end(text, x.language)
        return (agrees and talk.pending is not None) or answering.takes(x, step, text)

    def called_off(self, session: Session, text: str) -> Turn:
        """Go on after an alarm that was called off: take what raised it as a reply if it is one, else ask again.

        Not being a reply does not count as an attempt.
        """
        x = self._exchange(session)
        asks = question_like(text, x.language) == "clear"
        if not text or (session.talk.phase == "asking" and isinstance(x.step, AskItem) and not self._fits(x, text)):
            return replace(self.again(session), aside="clear") if asks else self._kept(session, text)
        turn = self.turn(session, text)
        chooses = turn.session.talk.phase == "choosing" and session.talk.phase != "choosing"
        missed = turn.aside == "maybe" or turn.session.talk.tries > session.talk.tries or chooses
        lost = turn.aside != "clear" and missed
        return self._kept(session, text) if lost else turn

    def _kept(self, session: Session, text: str) -> Turn:
        """Keep what is no answer in the patient's words beside the open question, and put it once more."""
        x = self._exchange(session)
        if text and session.talk.phase == "asking" and isinstance(x.step, AskItem):
            step = x.step
            if answering.note(x, step, text):
                x.repeat("noted", step.item.link_id, (answering.own_words(text),))
        return self.again(x.session, x.parts)

    def _fits(self, x: Exchange, text: str) -> bool:
        step = x.step
        if not isinstance(step, AskItem) or x.talk.pending is not None:
            return False
        own = bool(answering.OWN_WORDS & step.item.answer_types)
        return own or answering.takes(x, step, text)

    def _paused(self, session: Session, text: str) -> Turn:
        command = read_command(text, language=session.language)
        if command is not None and command.kind in ("resume", "repeat", "back", "skip"):
            return self.resume(session.with_talk(phase="asking"))
        return Turn(session, Reply(session.language, ()), "clear")

    def not_answered(self, session: Session, text: str) -> Turn:
        """Take an aside that nobody could answer: as an answer after all, or as a reply that was not understood."""
        x = self._exchange(session)
        step = x.step
        if session.talk.phase == "asking" and isinstance(step, AskItem):
            answering.not_answered(x, step, text)
        elif session.talk.phase == "asking" and isinstance(step, AskAnother):
            another.no_reply(x)
        else:
            x.say("no_pairs" if question_like(text, x.language) == "clear" else "not_understood")
            self._repeat(x)
        return _turn(x)

    def _repeat(self, x: Exchange, *, brief: bool = False) -> None:
        phase = x.talk.phase
        if phase == "asking":
            self._ask_open(x, brief=brief)
        else:
            x.say({"summary": "summary_check", "choosing": "change_which"}.get(phase, "paused"))

    def _ask_open(self, x: Exchange, *, brief: bool = False) -> None:
        step = x.step
        if x.talk.pending is not None and isinstance(step, AskItem):
            ask(x, brief=True)
            x.choices = ()  # yes or no is what is asked
            answering.read_back(x, step)
        else:
            ask(x, brief=brief)

    def again(self, session: Session, after: Sequence[Part] = ()) -> Turn:
        """Put what is open once more, in short; `after`: what is said before it."""
        x = self._exchange(session)
        x.parts += after
        x.say("on_with")
        self._repeat(x, brief=True)
        return _turn(x)

    def add_to(self, session: Session, path: Path) -> Turn:
        """Open a question that repeats for one more answer."""
        x = self._exchange(session)
        x.onward()
        x.note(revisit=path, more=True)
        ask(x, brief=True)
        return _turn(x)

    def open_question(self, session: Session) -> Open:
        """Return what waits for the patient."""
        talk = session.talk
        if talk.phase != "asking":
            return Open(talk.phase)
        step = self._exchange(session).step
        if isinstance(step, AskAnother):
            return Open("another", step.item.link_id, step.path)
        if not isinstance(step, AskItem):
            return Open("summary")
        kind: OpenKind = "question" if talk.pending is None else "proposal" if talk.proposed else "read-back"
        return Open(kind, step.item.link_id, step.path)

    def expects_yes_or_no(self, session: Session) -> bool:
        """Say whether yes or no would answer what is open."""
        waiting = self.open_question(session)
        if waiting.kind in ("question", "proposal"):
            item = self.form.by_link_id.get(waiting.link_id)
            return waiting.kind == "proposal" or (item is not None and item.type == "boolean")
        return waiting.kind in ("read-back", "another", "summary")

    def heard(self, session: Session) -> Heard:
        """Return the answers that may be repeated to the patient: given, calculated, understood, or offered."""
        filling = session.filling
        known: dict[str, list[Answer]] = {}
        for path, answers in (*filling.computed.items(), *filling.answers.items()):
            known.setdefault(path[-1][0], []).extend(answers)
        for path, texts in filling.noted.items():
            known.setdefault(path[-1][0], []).extend(Answer("string", text) for text in texts)
        step = self._exchange(session).step
        if isinstance(step, AskItem):
            bounds = self.engine.bounds(filling, step.path)
            units = (*unit_answers(step.item), *example_answers(step.item))
            known.setdefault(step.item.link_id, []).extend(
                (
                    *step.proposal,
                    *(session.talk.pending or ()),
                    *(option.answer for option in step.options),
                    *(bound for bound in bounds if bound is not None),
                    *units,
                )
            )
        return Heard(self.form, known)

    def response(self, session: Session, heading: Heading) -> dict[str, JsonValue]:
        """Return the QuestionnaireResponse as things stand, with the status of the session."""
        return self.engine.response(session.filling, replace(heading, status=session.status))

    def refusals(self, session: Session) -> tuple[str, ...]:
        """Return what the validator refuses, as linkId and rule, where nothing else keeps the response open."""
        found = (each for each in self.engine.open_problems(session.filling) if each.code == "refused")
        return tuple(dict.fromkeys(f"{each.path[-1][0] if each.path else '-'}: {each.key}" for each in found))

    def answers(self, session: Session) -> Reply:
        """Return all that was answered so far; nothing goes on by it."""
        x = self._exchange(session)
        show_summary(x, closing=False)
        return x.reply()

    def listed(self, session: Session) -> tuple[tuple[int, FormText], ...]:
        """Return the questions that can be changed by their number now, with what they are called."""
        x = self._exchange(session)
        names = ((number, x.name(path[-1][0])) for number, path in enumerate(session.talk.listed, 1))
        return tuple((number, name) for number, name in names if name is not None)

    def progress(self, session: Session) -> tuple[int, int]:
        """Return how many questions are done, and how many there are in all as things stand."""
        return self.engine.progress(session.filling)

    def _exchange(self, session: Session) -> Exchange:
        return Exchange(self.engine, self._now, session)


def _turn(x: Exchange) -> Turn:
    return Turn(x.session, x.reply(), x.aside)


def _last_shown(session: Session) -> list[Shown]:
    """Return the texts that were shown with the open question: a kill may have come before they were read."""
    found: list[Shown] = []
    for event in reversed(session.events):
        if not isinstance(event, Shown):
            break
        found.insert(0, event)
    return found

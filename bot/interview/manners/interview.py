"""A Questionnaire as a conversation: one patient turn in, what is said and the new state out. Pure and resumable.

All that happened is in the `Session`; an `Interview` only knows the form and the present. Messages that are questions
themselves come back as `aside`: whoever can answer them does, and shows what the turn says after the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from bot.interview.form.form import Form, Item, Path
from bot.interview.manners.agreement import asks_consent
from bot.interview.manners.decisions import Decisions, Reason
from bot.interview.manners.files import FileTurn, said_of_file, sent_files, wants_file
from bot.interview.manners.hearing import Hearing
from bot.interview.manners.listening import (
    NUMBERS,
    OWN_WORDS,
    CachedReader,
    Listener,
    is_named,
    own_words,
    question_like,
)
from bot.interview.manners.page_turn import PageTurn
from bot.interview.manners.session import Quote, Said, Sentence, Session, name_of, with_answers
from bot.interview.manners.turn import OpenTurn, Turn, repeatable
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject
from bot.interview.values.fhir_names import CHOICES
from bot.interview.walk.assemble import Heading
from bot.interview.walk.engine import AskAnother, AskItem, Engine
from bot.interview.walk.filling import Noted
from bot.interview.walk.migration import Carried
from bot.interview.walk.plan import Plan

_NO_QUESTION = frozenset({"checking", "summary", "choosing", "finished"})  # phases in which none is open

OpenKind = Literal[
    "question", "read-back", "proposal", "another", "who", "checking", "summary", "choosing", "paused", "finished"
]


@dataclass(frozen=True, slots=True)
class Open:
    """What waits for the patient: its kind, and the item that it is about (empty linkId: none)."""

    kind: OpenKind
    link_id: str = ""
    path: Path = ()


class Interview:
    """Asks one form. Build it once per conversation and day; sessions are handed in and out."""

    def __init__(
        self,
        form: Form,
        *,
        now: datetime,
        launch: Mapping[str, JsonObject] | None = None,
        plan: Plan | None = None,
        known: Mapping[str, tuple[Answer, ...]] | None = None,
    ) -> None:
        """Prepare a form; `now`, `launch`, `plan` and `known` are those of the `Engine`."""
        self.form = form
        self.engine = Engine(form, now=now, launch=launch, plan=plan, known=known)
        self.decisions = Decisions.of(form)
        self._reader = CachedReader(now, self.decisions)

    def begin(self, language: str, *, asks_who: bool = False) -> Turn:
        """Begin: say how it works, and put the first question; `asks_who`: and ask once who fills the form in."""
        turn = self._open_turn(self._fresh(language, asks_who=asks_who))
        turn.parts.append(Quote("", "title"))
        turn.say("interview_begin")
        turn.go_on()
        return turn.end()

    def open(self, stored: Session) -> Session:
        """Return a stored session with all that follows from its events.

        Raises:
            BadData: The events are not of this form.
        """
        return replace(stored, filling=self.engine.replay(stored.events))

    def renewed(self, session: Session, carried: Carried) -> Turn:
        """Go on with what was carried over from an earlier version of the form; `session` has none of it yet."""
        turn = self._open_turn(replace(session, filling=self.engine.start()))
        turn.apply(*carried.events)
        again = dict.fromkeys(self._named_for(link_id) for link_id in carried.asked_again)
        named = [name_of(each) for each in again if is_named(self.form.by_link_id[each], session.language)]
        turn.say("renewed" if named else "renewed_kept")
        turn.parts += named
        turn.go_on()
        return turn.end()

    def resume(self, session: Session) -> Turn:
        """Go on after a pause: show again what was shown last, and put the open question."""
        turn = self._open_turn(session)
        turn.resume()
        return turn.end()

    def turn(self, session: Session, text: str) -> Turn:
        """Take one message of the patient; any text at all."""
        turn = Hearing(self.engine, self._reader, session, text)
        turn.take()
        return self._keeping(session, turn.end(), text)

    def not_answered(self, session: Session, text: str) -> Turn:
        """Take an aside that nobody could answer: as an answer after all, or as a reply that was not understood."""
        turn = Hearing(self.engine, self._reader, session, text)
        turn.not_answered()
        return self._keeping(session, turn.end(), text, unanswered=True)

    def _keeping(self, before: Session, turn: Turn, text: str, *, unanswered: bool = False) -> Turn:
        """Return a turn that keeps what leaves something to decide; where no question was open, it says so."""
        kept = self.keep_words(before, turn.session, text, unanswered=unanswered)
        noted = kept.events[-1] if kept.events else None
        # A message that nobody could answer was kept when it was heard first.
        again = turn.aside == "no" and before.events[-1:] == kept.events[-1:]
        if not isinstance(noted, Noted) or not (kept is not turn.session or (again and noted.text == text.strip())):
            return turn
        consent = asks_consent(self.form.by_link_id[noted.path[-1][0]])
        if before.talk.phase == "asking" and not consent:
            return replace(turn, session=kept)
        told = self._open_turn(kept)
        told.parts.append(with_answers("noted_too", noted.path[-1][0], (own_words(text),)))
        if consent and before.talk.phase != "asking":
            told.show_again()  # what was said to the "no": to call
        parts = [part for part in turn.said.parts if not (isinstance(part, Sentence) and part.key == "not_understood")]
        return replace(turn, session=kept, said=replace(turn.said, parts=(*told.parts, *parts)))

    def keep_words(  # noqa: PLR0913 - what was said, and what it came to
        self,
        before: Session,
        after: Session,
        text: str,
        *,
        unanswered: bool = False,
        about: str = "",
        alarms: bool = False,
    ) -> Session:
        """Return a session with what a message says that leaves something to decide, whatever became of it.

        Args:
            before: As things stood when it was said.
            after: What it came to.
            text: The message; kept once, however often it is heard.
            unanswered: Whether it got no answer of its own: a question may be an admission then.
            about: The question that the chat answered it as, if it did.
            alarms: Whether it raised an alarm: then only what it names is kept.
        """
        turn = Hearing(self.engine, self._reader, before, text)
        path = turn.place_of_words() if self.decisions else ()
        opened, understood = after.talk.revisit, after.talk.pending or ()
        if before.talk.phase == "finished" and opened:
            # A late correction counts whether or not the patient stays to confirm it.
            unclear = self.decisions.is_unclear(self.form.by_link_id[opened[-1][0]], understood)
            path = opened if unclear else path
        if not path or not self.engine.exists(after.filling, path) or turn.hears_just_an_answer(text):
            return after
        asks, unanswered = (
            bool(turn.wants) or turn.asks == "clear",
            unanswered and not (turn.wants or turn.asks_meaning),
        )
        said = str(own_words(text).value)
        known = [event.text for event in after.events if isinstance(event, Noted) and event.path == path]
        known += [str(answer.value) for answer in after.filling.at(path)]
        item, filler = self.form.by_link_id[path[-1][0]], after.filler
        states = question_like(text, turn.language) == "no" and self.decisions.states_something(said, filler)
        # Of who does not agree to be asked only what they name, or have, is kept.
        refuses = asks_consent(item) and not (turn.yes or states or self.decisions.lexicon.names_something(said))
        told = self.decisions.tells(said, item, asks=asks, unanswered=unanswered, filler=filler)
        # Whoever tells of themselves what is no answer here may tell what matters, whatever the chat makes of it.
        told = told or (states and not (asks or alarms or self._takes(before, after, path)))
        if not told and before.talk.phase in _NO_QUESTION and not (asks or alarms) and (unanswered or about):
            came_to = after.events != before.events or after.talk.revisit or after.talk.phase != before.talk.phase
            lost = before.talk.phase in ("checking", "summary") and not came_to
            plainly = question_like(text, turn.language) == "no" and not came_to
            told = plainly and self.decisions.may_tell(said, filler, lost=lost, about=about)
        if said in known or refuses or not told:
            return after
        agreed = after.talk.phase == "finished" and before.talk.phase != "finished"
        turn = Hearing(self.engine, self._reader, after, text)
        turn.apply(Noted(path, said))
        if agreed:  # what was said with the agreement was agreed to
            turn.note(sent=after.talk.sent + 1)
        return turn.session

    @staticmethod
    def _takes(before: Session, after: Session, path: Path) -> bool:
        """Say whether a message came to an answer to the question that was open, be it only to be read back."""
        answers = before.filling.at(path) != after.filling.at(path)
        waits = before.filling.waiting.get(path) != after.filling.waiting.get(path)
        reads_back = after.talk.pending is not None and after.talk.pending != before.talk.pending
        return before.talk.phase == "asking" and (answers or waits or reads_back)

    def to_decide(self, session: Session) -> tuple[Reason, ...]:
        """Return what staff have to decide before the exam, as things stand."""
        return self.decisions.reasons(self.engine, session) if self.decisions else ()

    def called_off(self, session: Session, text: str) -> Turn:
        """Go on after an alarm that was called off: take what raised it as a reply if it is one, else ask again.

        Not being a reply does not count as an attempt. Where there is a list, such words are never the patient's own.
        """
        listener = self.listener(session)
        question = listener.step if session.talk.phase == "asking" else None
        misses = isinstance(question, AskItem) and (
            session.talk.pending is not None or not (_has_room(question.item) or listener.takes(question, text))
        )
        if not text or misses:
            asks = question_like(text, session.language) == "clear"
            return replace(self.again(session), aside="clear") if asks else self.again(session, aside=text)
        turn = self.turn(session, text)
        chooses = turn.session.talk.phase == "choosing" and session.talk.phase != "choosing"
        missed = turn.aside == "maybe" or turn.session.talk.tries > session.talk.tries or chooses
        return self.again(session, aside=text) if missed and turn.aside != "clear" else turn

    def again(self, session: Session, *, aside: str = "") -> Turn:
        """Put what is open once more, in short; `aside` is no answer to it, kept beside it in the patient's words."""
        turn = Hearing(self.engine, self._reader, session, aside)
        question = turn.step
        if aside and session.talk.phase == "asking" and isinstance(question, AskItem):
            said = turn.noted(question)
            if said is not None:
                turn.repeat("noted", question.path, (said,))
        turn.say("on_with")
        turn.ask_open(brief=True)
        return turn.end()

    def add_to(self, session: Session, path: Path) -> Turn:
        """Open a question that repeats for one more answer."""
        turn = self._open_turn(session)
        turn.open_again(path, more=True)
        turn.ask(brief=True)
        return turn.end()

    def pages(self, session: Session | None, language: str, *, asks_who: bool = False) -> PageTurn:
        """Return the interview as pages of a form, in a language; None for a session that has not begun."""
        begun = replace(session, language=language) if session else self._fresh(language, asks_who=asks_who)
        return PageTurn(self.engine, self._reader, begun, self.decisions)

    def wants_file(self, session: Session) -> bool:
        """Say whether a file would answer what is open."""
        return wants_file(self.listener(session))

    def hears_of_file(self, session: Session, text: str) -> bool:
        """Say whether a message says something of a file: that it is to go, comes along, is not there."""
        return said_of_file(self.listener(session), text) is not None

    def most_bytes_wanted(self, session: Session) -> int | None:
        """Return how many bytes a file may have as the answer to what is open; None where the form says nothing."""
        step = self.listener(session).step
        most = step.item.limits.max_bytes if isinstance(step, AskItem | AskAnother) else None
        return int(most) if most is not None else None

    def attach(self, session: Session, file: Answer) -> Turn | None:
        """Take an attachment as the answer to the open question; None when it may not be one."""
        turn = FileTurn(self.engine, self._reader, session)
        taken = turn.take_file(file)
        return turn.end() if taken else None

    def files(self, session: Session) -> tuple[Answer, ...]:
        """Return the attachments that stand as answers, in the order in which they came."""
        return tuple(file for _, file in sent_files(self.listener(session)))

    def remove_file(self, session: Session, file: Answer) -> Turn | None:
        """Take an attachment out of the answers; None when it is none of them."""
        found = [path for path, each in sent_files(self.listener(session)) if each == file]
        if not found:
            return None
        turn = FileTurn(self.engine, self._reader, session)
        turn.remove_file(found[0], file)
        return turn.end()

    def file_problems(self, session: Session, file: Answer) -> tuple[str, ...]:
        """Return the codes of what is wrong with an attachment as the answer to the open question."""
        step = self.listener(session).step
        if not isinstance(step, AskItem | AskAnother):
            return ()
        found = self.engine.problems(session.filling, step.path, (file,))
        return tuple(each.code for each in found if each.severity == "error")

    def listener(self, session: Session) -> Listener:
        """Return who hears messages as things stand, without taking them."""
        return Listener(self.engine, self._reader, session)

    def open_question(self, session: Session) -> Open:
        """Return what waits for the patient."""
        talk = session.talk
        if talk.phase != "asking":
            return Open(talk.phase)
        step = self.listener(session).step
        if isinstance(step, AskAnother):
            return Open("another", step.item.link_id, step.path)
        if not isinstance(step, AskItem):
            return Open("summary")
        kind: OpenKind = "question" if talk.pending is None else "proposal" if talk.proposed else "read-back"
        return Open(kind, step.item.link_id, step.path)

    def expects_yes_or_no(self, session: Session) -> bool:
        """Say whether yes or no would answer what is open."""
        waiting = self.open_question(session)
        if waiting.kind == "question":
            return self.form.by_link_id[waiting.link_id].type == "boolean"
        return waiting.kind in ("proposal", "read-back", "another", "checking", "summary")

    def expects_number(self, session: Session) -> bool:
        """Say whether a number would answer what is open."""
        waiting = self.open_question(session)
        return waiting.kind == "question" and self.form.by_link_id[waiting.link_id].type in NUMBERS

    def heard(self, session: Session) -> Mapping[str, list[Answer]]:
        """Return the answers that may be repeated to the patient, by linkId: given, calculated, understood, offered."""
        step = self.listener(session).step
        known = repeatable(self.listener(session), [step] if isinstance(step, AskItem) else [])
        if isinstance(step, AskItem):
            known[step.item.link_id].extend(session.talk.pending or ())
        return known

    def response(self, session: Session, heading: Heading) -> dict[str, JsonValue]:
        """Return the QuestionnaireResponse as things stand, with the status of the session."""
        known = "" if session.filler in ("open", "unsaid") else session.filler
        return self.engine.response(session.filling, replace(heading, status=session.status, filled_in_by=known))

    def refusals(self, session: Session) -> tuple[str, ...]:
        """Return what the validator refuses, as linkId and rule, where nothing else keeps the response open."""
        found = (each for each in self.engine.open_problems(session.filling) if each.code == "refused")
        return tuple(dict.fromkeys(f"{each.path[-1][0] if each.path else '-'}: {each.key}" for each in found))

    def answers(self, session: Session) -> Said:
        """Return all that was answered so far; nothing goes on by it."""
        turn = self._open_turn(session)
        turn.show_summary(closing=False)
        return turn.end().said

    def listed(self, session: Session) -> tuple[tuple[int, Quote], ...]:
        """Return the questions that can be changed by their number now, with what they are called."""
        items = ((number, self.form.by_link_id[path[-1][0]]) for number, path in enumerate(session.talk.listed, 1))
        return tuple((number, name_of(item.link_id)) for number, item in items if is_named(item, session.language))

    def _named_for(self, link_id: str) -> str:
        """Return what a question is named for where it stands alone: the repeating group that it is about, if any."""
        around = self.form.by_link_id[link_id].line[:-1]
        return next((each for each in around if self.form.by_link_id[each].repeats), link_id)

    def _fresh(self, language: str, *, asks_who: bool) -> Session:
        return Session(language, filler="open" if asks_who else "", filling=self.engine.start())

    def _open_turn(self, session: Session) -> OpenTurn:
        return OpenTurn(self.engine, self._reader, session)


def _has_room(item: Item) -> bool:
    """Say whether a question is for words alone."""
    return bool(OWN_WORDS & item.answer_types) and item.type not in CHOICES

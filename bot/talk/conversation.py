"""A conversation with one patient: the dialogue rules, the guard and the records around the assistant."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Literal, Self

from bot.assistant import Assistant
from bot.errors import AlreadyStored, BadData, GuardViolation, NoSuchChoice
from bot.interview.manners.decisions import Reason
from bot.interview.manners.page_turn import PageSent, PageTurn
from bot.interview.manners.session import Said, Saying
from bot.interview.values.answer import Answer
from bot.languages.files import known
from bot.ports import Exchange, Records, StoredConversation, StoredFlag, StoredTurn
from bot.sentences.reply import (
    Content,
    Heard,
    Part,
    Place,
    Reply,
    guard,
    interface,
    read_reply,
    reply_of,
    safe_reply,
    shows_alarm,
    site_text,
    worded,
    write_reply,
)
from bot.sentences.spoken import spoken_file
from bot.staff.calls import Call, Stir
from bot.staff.desk import Desk
from bot.talk.calling import whom_to_call
from bot.talk.dialogue import State, check_after, is_of_chat, offered, read_state, remembered, write_state
from bot.talk.interviewing import Filled, Interviewer
from bot.talk.messages import in_trouble, switches_to
from bot.talk.neighbours import Neighbour
from bot.talk.reaction import Reaction
from bot.talk.reactions import Reactions
from bot.talk.staffed import asks_nothing, beside_staff, closed_reply, set_aside, while_called, while_closed
from bot.talk.teach_back import TeachBack
from bot.talk.uploads import FileLimits, FileRefused, SentFile
from bot.talk.withholding import Decided
from bot.text import sanitise

# Channels whose patients saw the greeting, with its offer, before their first turn.
GREETED = ("api", "page")
# Of the interview: none where nobody asks anything.
Stage = Literal["none", "not begun", "asking", "paused", "who", "checking", "summary", "choosing", "finished"]

log = logging.getLogger("klartext")


@dataclass(frozen=True, slots=True)
class Message:
    """What a patient sends in one turn: a text, or the number of an offered choice.

    Attributes:
        turn_id: The client's name for it; a resend has the same.
        text: What was written; empty when a choice was taken.
        choice: From 1; None when text was sent.
        file: Sent as the answer to the open question; `text` is then its name.
        removes: The id of a file that is to be taken out of the answers; empty for none.
        page: Of the form, filled in; the name of the turn then depends on all that stands in it.
    """

    turn_id: str
    text: str = ""
    choice: int | None = None
    file: SentFile | None = None
    removes: str = ""
    page: PageSent | None = None

    @property
    def is_said(self) -> bool:
        """Whether the patient wrote or chose something in the chat."""
        return self.file is None and self.page is None and not self.removes


@dataclass(frozen=True, slots=True)
class Taken:
    """A turn that was taken: what is stored of it, and what the patient gets."""

    turn: StoredTurn
    reply: Reply


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a conversation stands after its last turn.

    Attributes:
        state: Of the dialogue.
        number: Of the last turn; 0 before the first.
        choices: What the last reply offered.
    """

    state: State
    number: int = 0
    choices: tuple[Part, ...] = ()


def first_language(assistant: Assistant) -> str:
    """Return the language in which patients are greeted when nobody asked for another."""
    return next(language for language in assistant.languages if language in known())


class Conversation:
    """One patient's turns, in order. Every reply passes the guard; every turn is stored before its reply is shown."""

    def __init__(
        self,
        assistant: Assistant,
        records: Records,
        opened: StoredConversation,
        standing: Standing,
        interviewer: Interviewer | None = None,
    ) -> None:
        self._assistant = assistant
        self._records = records
        self._id = opened.id
        self._standing = standing
        self._interviewer = interviewer
        self._reactions = self.rules(None)
        self._joins: tuple[str, int | None] | None = None
        self._place = Place(opened.channel, assistant.country, wording=assistant.wording)
        self._desk: Desk | None = None

    @classmethod
    def begin(
        cls,
        assistant: Assistant,
        records: Records,
        opened: StoredConversation,
        *,
        interviewer: Interviewer | None = None,
    ) -> Conversation:
        """Begin and store a conversation; raise AlreadyStored when its id is in use."""
        records.begin(opened)
        standing = Standing(State(opened.language))
        return cls(assistant, records, opened, standing, interviewer)

    @classmethod
    def resume(
        cls,
        assistant: Assistant,
        records: Records,
        opened: StoredConversation,
        *,
        at: datetime,
        interviewer: Interviewer | None = None,
    ) -> Self:
        """Go on with a conversation from what is stored of it: nothing else is remembered."""
        if interviewer is not None:
            interviewer.reopen(at=at)
        standing = _standing(assistant, records.last_turn(opened.id), opened)
        check = standing.state.check
        if check.is_open and _is_flagged(records, opened.id):  # whoever was not helped is not asked on
            over = replace(check, step=None, over=True)
            standing = replace(standing, state=replace(standing.state, check=over), choices=())
        if standing.number == 0 and interviewer is not None and opened.channel in GREETED:
            standing = _offering(standing)
        return cls(assistant, records, opened, standing, interviewer)

    @classmethod
    def open(
        cls,
        assistant: Assistant,
        records: Records,
        opened: StoredConversation,
        *,
        interviewer: Interviewer | None = None,
    ) -> Conversation:
        """Go on with the conversation of this id, or begin it."""
        known = records.conversation(opened.id)
        if known is None:
            return cls.begin(assistant, records, opened, interviewer=interviewer)
        return cls.resume(assistant, records, known, at=opened.begun, interviewer=interviewer)

    def staffed(self, desk: Desk | None) -> Self:
        """Return the conversation with somebody to call, who may write in place of the program; None: nobody."""
        self._desk = desk
        self._reactions = self.rules(desk)
        return self

    def rules(self, desk: Desk | None) -> Reactions:
        """Return what reacts to messages."""
        return Reactions(self._assistant, self._interviewer, desk)

    def joining(self, exam: str, release: int | None) -> Self:
        """Return the conversation that its next turn makes one about an exam."""
        self._joins = (exam, release)
        return self

    @property
    def language(self) -> str:
        return self._standing.state.language

    @property
    def asks_for_danger(self) -> bool:
        """Whether an alarm is open that the patient has neither confirmed nor called off."""
        state = self._standing.state
        return state.alarmed and state.held_back is not None and not state.confirmed

    @property
    def cannot_telephone(self) -> bool:
        """Whether the patient has told so."""
        return self._standing.state.writes

    @property
    def progress(self) -> tuple[int, int] | None:
        """How many parts of the form are done, and how many it has; None while nothing is asked."""
        return self._interviewer.progress if self._interviewer is not None else None

    @property
    def wanted_file(self) -> FileLimits | None:
        """What files can be sent as the answer to the open question; None where none can."""
        if self._interviewer is None or self._place.channel not in GREETED:
            return None
        return self._interviewer.wanted_file

    def files(self, *, at: datetime) -> tuple[tuple[str, str], ...]:
        """Return the files that stand as answers: their ids, and what they are called, with their size."""
        who = self._interviewer
        if who is None or who.session is None:
            return ()
        language = who.session.language
        who.interview(at)
        return tuple((id_, spoken_file(file, language=language)) for id_, file in who.files)

    @property
    def sent_files(self) -> tuple[int, int]:
        """How many files stand as answers, and how many bytes they have."""
        return self._interviewer.sent_files if self._interviewer is not None else (0, 0)

    @property
    def number(self) -> int:
        """Of the last turn; 0 before the first."""
        return self._standing.number

    @property
    def stage(self) -> Stage:
        """How far the interview is."""
        who = self._interviewer
        if who is None:
            return "none"
        return who.session.talk.phase if who.session is not None else "not begun"

    @property
    def choices(self) -> tuple[Part, ...]:
        """What may be chosen by number now."""
        state = self._standing.state
        # An answer does not take away what was offered before it; another list does.
        return self._standing.choices or offered(state, self._assistant.catalog(state.language))

    def may_show(self, part: Part) -> bool:
        """Say whether what was offered may still be shown: pairs are withdrawn while their questions are on offer."""
        return not isinstance(part, Content) or part.pair_id not in self._assistant.withheld(self.language)

    def changes(self, *, at: datetime) -> tuple[tuple[int, Part], ...]:
        """Return the answers of the interview that can be changed by their number now, whatever was said last."""
        who = self._interviewer
        if who is None or who.session is None:
            return ()
        listed = who.interview(at).listed(who.session)
        said = Said(who.session.language, tuple(name for _, name in listed))
        shown = self._guarded(reply_of(said, who.form)).parts
        return tuple((number, part) for (number, _), part in zip(listed, shown, strict=False))

    def answers(self, *, at: datetime) -> Reply | None:
        """Return what was answered in the interview so far; None before it was begun."""
        who = self._interviewer
        if who is None or who.session is None:
            return None
        return self._guarded(reply_of(who.interview(at).answers(who.session), who.form))

    def filled(self, *, at: datetime) -> Filled | None:
        """Return how far the interview is; None before it was begun."""
        return self._interviewer.filled(at=at) if self._interviewer is not None else None

    def pages(self, language: str, *, at: datetime) -> PageTurn | None:
        """Return the interview as pages of a form; None where nobody asks anything."""
        return self._interviewer.pages(language, at=at) if self._interviewer is not None else None

    def is_turn(self, page: PageTurn) -> bool:
        """Say whether a page that was sent is a turn: it changes something, or raises the alarm."""
        return page.changed or self._reactions.danger_in(page) is not None

    def worded(self, page: PageTurn, sayings: Sequence[Saying], answers: Mapping[str, Sequence[Answer]]) -> Reply:
        """Return what a page of the form says in words that passed the guard; `answers`: what it may repeat, by linkId.

        Raises:
            GuardViolation: It would say something else.
        """
        place = replace(self._place, uploads=self._interviewer is not None and self._interviewer.takes_files)
        reply = worded(reply_of(Said(page.language, tuple(sayings)), page.form), place)
        return guard(reply, None, shown=frozenset(), heard=Heard(page.form, answers), house=self._assistant.house)

    def welcome(self) -> Reply:
        """Say who is answering, and what to do in an emergency; while the chat is closed, that it is."""
        keys = ("welcome", "emergency_notice", "sample_label", "help")
        shown = [key for key in keys if key != "sample_label" or self._assistant.sample]
        if self._assistant.is_closed:
            closed = closed_reply(self._standing.state, more=self._while_closed(self.language))
            said = (interface(self.language, key) for key in shown if key != "help")
            return self._guarded(replace(closed, parts=(*said, *closed.parts)))
        return self._guarded(Reply(self.language, tuple(interface(self.language, key) for key in shown)))

    def offer(self, *, at: datetime) -> Reply | None:
        """Offer the questions of the radiology team, or go on with them; None where there are none, or nobody may."""
        if self._interviewer is None or self._assistant.is_closed:
            return None
        if self._interviewer.begun:
            return self.turn("/interview", at=at)
        self._standing = _offering(self._standing)
        offer = (interface(self.language, "interview_offer"),)
        return self._guarded(Reply(self.language, offer, self._standing.choices))

    def greeting(self) -> Reply:
        """Return the first words again, for somebody who comes back."""
        welcome = self.welcome()
        if self._interviewer is None or self._assistant.is_closed:
            return welcome
        return replace(welcome, parts=(*welcome.parts, interface(self.language, "interview_offer")))

    def greet(self, *, at: datetime) -> Reply:
        """Return the first words of a new conversation: who is answering, and what the radiology team asks."""
        welcome, offer = self.welcome(), self.offer(at=at)
        return welcome if offer is None else replace(welcome, parts=welcome.parts + offer.parts, choices=offer.choices)

    def turn(self, text: str, *, at: datetime) -> Reply:
        """Take one turn of a patient who sits in front of it, and return the reply.

        Raises:
            BadData: The conversation has gone on elsewhere.
        """
        try:
            return self.take(Message(uuid.uuid4().hex, text), at=at).reply
        except AlreadyStored:
            raise BadData("This conversation has gone on in another window. Open it again.") from None

    def take(self, message: Message, *, at: datetime) -> Taken:
        """Take one turn, store it with what it changed in the interview, and return it with the reply.

        Raises:
            NoSuchChoice: The message takes a choice that is not on offer.
            AlreadyStored: Another request stored this turn, or one in its place, first. Resume, and try again.
            Erased: The conversation was deleted meanwhile.
            FileRefused: A file was sent that the open question does not ask for, or is to go that is not there.
            Outdated: The answers have changed since the page of the form was shown.
        """
        text = message.text if message.choice is None else self._choice(message.choice)
        state = self._standing.state
        call = self._desk.call(self._id) if self._desk is not None else None
        if call is not None and call.came_between(self._standing.number):
            state = set_aside(self._interviewer, state, at)
        who = self._interviewer
        session, decided = (who.session, who.to_decide(at=at)) if who is not None else (None, ())
        reaction, text = self._react(message, text, state, call, at)
        if who is not None and message.is_said and not is_of_chat(text, self._assistant.wording):
            settled = reaction.decided is not None and reaction.decided.decision in ("answered", "talk")
            about, alarms = self._answered_as(reaction), shows_alarm(reaction.reply)
            told = who.keep_words(session, text, unanswered=not settled, about=about, alarms=alarms, at=at)
            if told is not None and not alarms:  # whatever it was answered as: the patient reads what the team gets
                parts = reply_of(replace(told, language=reaction.reply.language), who.form).parts
                reaction = replace(reaction, reply=replace(reaction.reply, parts=(*reaction.reply.parts, *parts)))
        reply = self._guarded(self._with_decision(reaction.reply, decided, at))
        turn = self._as_stored(message, text, reaction, reply, at)
        change = self._interviewer.change(at=at) if self._interviewer is not None else None
        if reaction.flags and self._standing.state.last_turn is not None:
            # Before the turn that asks for it is stored: sent again, the same complaint changes nothing.
            self._records.flag(self._id, StoredFlag(self._standing.state.last_turn, "wrong", "", at))
        self._records.add_turn(turn, interview=change, call=self._stirs(message, reaction, turn, call))
        self._joins = None
        if self._interviewer is not None and change is not None:
            self._interviewer.stored(change)
        self._standing = Standing(
            _after(message, self._standing.state, reaction), self._standing.number + 1, reply.choices
        )
        return Taken(turn, reply)

    def _react(
        self, message: Message, text: str, state: State, call: Call | None, at: datetime
    ) -> tuple[Reaction, str]:
        """Return what the rules make of a message, and what is kept as said."""
        free = call is None and message.is_said and not self._assistant.is_closed
        if not free or state.check.done:
            return self._react_unchecked(message, text, state, call, at, free=free)
        check = TeachBack(self._assistant, self._id)
        waits = state.check.is_open or not (self._is_interviewing or self._standing.choices)
        taken = check.take(state, text, message.choice) if waits else None
        if taken is not None:
            return taken, text
        heard = check.heard(state, text) if message.choice is None else text
        reaction, kept = self._react_unchecked(message, heard, state, call, at, free=free)
        return reaction, text if kept == heard else kept

    def _react_unchecked(  # noqa: PLR0913 - what was said, and who is here
        self, message: Message, text: str, state: State, call: Call | None, at: datetime, *, free: bool
    ) -> tuple[Reaction, str]:
        """Return the same for what is not said to a quiz, with the offer to check the answer where one is made."""
        reaction, text = self._react_otherwise(message, text, state, call, at)
        return self._with_check(state, reaction, text, free=free), text

    def _answered_as(self, reaction: Reaction) -> str:
        """Return the question that a message was answered as; empty for none."""
        pair_id = reaction.decided.pair_id if reaction.decided is not None else None
        pair = self._assistant.catalog(reaction.reply.language).by_id.get(pair_id) if pair_id is not None else None
        return pair.question if pair is not None else ""

    def _with_decision(self, reply: Reply, before: Sequence[Reason], at: datetime) -> Reply:
        """Return a reply that asks the patient to call, where staff have something new to decide before the exam.

        `before`: what they had to decide before this turn.
        """
        found = self._interviewer.to_decide(at=at) if self._interviewer is not None else ()
        if not found or found == tuple(before):
            return reply
        phone = self._own_number(reply.language)
        asked = (interface(reply.language, "decision"), *([phone] if phone is not None else []))
        return replace(reply, parts=(*reply.parts, *asked))

    @property
    def _is_interviewing(self) -> bool:
        return self._interviewer is not None and self._interviewer.is_asking

    def _with_check(self, before: State, reaction: Reaction, text: str, *, free: bool) -> Reaction:
        """Return a reaction with the offer to check its answer, where one is made; `free`: nobody else is here."""
        check, decided = check_after(before, reaction.reply, reaction.after), reaction.decided
        check = replace(check, over=check.over or in_trouble(text))
        answer = decided.pair_id if decided is not None and decided.decision == "answered" else None
        pair = self._assistant.catalog(reaction.reply.language).by_id.get(answer) if answer is not None else None
        if free and not self._is_interviewing and pair is not None and pair.quizzes:
            offered = TeachBack(self._assistant, self._id).offer(reaction, check, text)
            if offered is not None and not _is_flagged(self._records, self._id):
                return offered
        return replace(
            reaction, after=replace(reaction.after, check=replace(check, rests=check.rests and answer is None))
        )

    def _react_otherwise(
        self, message: Message, text: str, state: State, call: Call | None, at: datetime
    ) -> tuple[Reaction, str]:
        """Return what is made of it by all rules but those of the check."""
        closed = self._assistant.is_closed
        if closed and message.is_said:
            state = set_aside(self._interviewer, state, at)
            return while_closed(self._reactions, state, text, at, more=self._while_closed(state.language)), text
        if message.removes:
            reaction = self._reactions.detach(state, message.removes, at)
            text = interface(self.language, "word_file_removed").text
        elif message.page is not None:
            reaction = self._reactions.fill(state, message.page, at)
            filled_in = interface(message.page.language, "word_form" if message.page.section else "yes").text
            text = reaction.decided.question if reaction.decided is not None else filled_in
        elif message.file is None and call is not None and call.is_taken:
            reaction = beside_staff(self._reactions, self._interviewer, state, text, at)
        elif message.file is None and self._desk is not None and call is not None and call.is_open:
            number = whom_to_call(self._desk, self._assistant.site, state.language, at, writes=state.writes)
            reaction = while_called(self._reactions, state, text, call, at, number=number)
        elif message.file is None:
            reaction = self._reactions.react(state, text, at)
        elif self.wanted_file is not None:
            reaction = self._reactions.attach(state, message.file, message.turn_id, at)
        else:
            raise FileRefused("not_asked")
        if call is not None and call.is_taken and not message.is_said:
            reaction = asks_nothing(reaction, self._interviewer, at)
        urgent = reaction.decided is not None and reaction.decided.decision == "urgent"
        if closed and not urgent:  # what a page or file says is kept, and nothing is said to it
            after = reaction.after
            reaction = replace(reaction, reply=closed_reply(after, more=self._while_closed(after.language)))
        return reaction, text

    def _own_number(self, language: str) -> Part | None:
        """Return what the site says of how to reach it; None where it says nothing."""
        site = self._assistant.site
        return site_text(site, "phone", language) if site is not None else None

    def _while_closed(self, language: str) -> tuple[Part, ...]:
        """Return what follows the notice of a closed chat: which one it is where others are open, whom to call."""
        own, number = self._assistant, self._own_number(language)
        others = own.open_others(own.others) if isinstance(own, Neighbour) else ()
        which = (interface(language, "exam_shut"),) if others else ()
        return (*which, *([number] if number is not None else []))

    def _stirs(self, message: Message, reaction: Reaction, turn: StoredTurn, call: Call | None) -> Stir | None:
        """Return what a turn means to staff; None where that is nothing, or where nobody reads calls."""
        if self._desk is None:
            return None
        if turn.decision == "urgent":
            return "asked" if reaction.calls_staff else "urgent"
        if shows_alarm(reaction.reply):  # the same again is a call again: whoever was called may have left since
            return "urgent"
        if call is None or not call.is_open:
            return None
        said = turn.exchange.said if turn.exchange is not None and message.is_said else ""
        if call.is_taken and said and switches_to(said) is None:
            return "message"
        return "language" if turn.language != call.language else None

    def _as_stored(self, message: Message, text: str, reaction: Reaction, reply: Reply, at: datetime) -> StoredTurn:
        exchange = Exchange(
            number=self._standing.number + 1,
            turn_id=message.turn_id,
            said=sanitise(text).text,
            reply=write_reply(reply),
            state=write_state(_after(message, self._standing.state, reaction)),
            choice=message.choice,
        )
        decided = reaction.decided or self._talk(text, reaction.after.language)
        quizzed = reaction.after.check.quizzed
        return StoredTurn(
            conversation=self._id,
            at=at,
            exchange=exchange,
            release=self._assistant.release,
            quizzed=str(quizzed) if quizzed is not None else "",
            joins=self._joins,
            **asdict(decided),
        )

    def _choice(self, number: int) -> str:
        if not 1 <= number <= len(self.choices):
            raise NoSuchChoice("This choice is not on offer any more.")
        return self.choices[number - 1].text

    def _talk(self, text: str, language: str) -> Decided:
        catalog = self._assistant.catalog(language).ref
        return Decided(language, sanitise(text).text, "talk", None, 0.0, catalog)

    def _guarded(self, reply: Reply) -> Reply:
        reply = worded(reply, replace(self._place, uploads=self.wanted_file is not None))
        try:
            catalog, shown = self._assistant.catalog(reply.language), self._assistant.shown(reply.language)
            heard = self._interviewer.heard if self._interviewer else None
            return guard(reply, catalog, shown=shown, heard=heard, house=self._assistant.house)
        except GuardViolation as error:
            log.error("reply refused by the guard: %s", error)  # holds no text
            return safe_reply(reply.language)


def _is_flagged(records: Records, conversation: str) -> bool:
    """Say whether the patient has said of an answer that it did not help."""
    return any(flag.reason != "helpful" for flag in records.flags(conversation))


def _offering(standing: Standing) -> Standing:
    language = standing.state.language
    choices = (interface(language, "yes"), interface(language, "no"))
    return replace(standing, state=replace(standing.state, offered=True), choices=choices)


def _after(message: Message, before: State, reaction: Reaction) -> State:
    after = remembered(before, reaction.after)
    return replace(after, last_turn=message.turn_id) if reaction.decided else after


def _standing(assistant: Assistant, last: StoredTurn | None, opened: StoredConversation) -> Standing:
    if last is None or last.exchange is None:
        return Standing(State(opened.language))
    # What was withdrawn since is still what the patient speaks of: nothing of it is shown.
    shown = {language: assistant.learned(language) for language in assistant.languages}
    number = last.exchange.number
    try:
        state, choices = read_state(last.exchange.state, shown=shown), read_reply(last.exchange.reply).choices
    except BadData as error:  # nobody must be locked out by what an older version stored
        log.error("begun anew: %s", error)
        return Standing(State(opened.language), number)
    if all(part.pair_id in shown[state.language] for part in choices if isinstance(part, Content)):
        return Standing(state, number, choices)
    return Standing(state, number)  # one is gone: none of the numbers can be trusted

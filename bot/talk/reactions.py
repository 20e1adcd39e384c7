"""What the rules make of one message: questions, picks, commands, and turns of an interview. Nothing is stored here."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from bot.assistant import Assistant
from bot.errors import Outdated
from bot.interview.manners.listening import question_like
from bot.interview.manners.page_turn import PageSent, PageTurn
from bot.interview.manners.session import Sentence, Session
from bot.interview.manners.turn import Turn
from bot.interview.reading.reader import read_command
from bot.interview.reading.reading import Read
from bot.interview.reading.yesno import read_yes_no
from bot.matching.remarks import BESIDE
from bot.response import Response
from bot.sentences.reply import Reply, SiteText, foreign_sentence, interface, reply_of, shows_alarm
from bot.staff.desk import Desk
from bot.talk.calling import CALLS_STAFF, told_who_calls
from bot.talk.context import announces, hear, respond_with_extract
from bot.talk.danger import RedFlag, asks_whom_to_call, goes_on, happens_after, is_back, red_flag_in
from bot.talk.dialogue import (
    MOST_REMINDED,
    SIMPLE,
    State,
    after_alarm,
    calming,
    chosen,
    emergency,
    explain_easier,
    is_open_alarm,
    known,
    none_chosen,
    offered,
    rest_of,
    says_emergency,
    says_it_again,
    says_no_emergency,
    show_again,
    show_pair,
    wants_easier,
    way_out,
)
from bot.talk.errands import instead, reacted
from bot.talk.interviewing import Interviewer
from bot.talk.messages import (
    CLOSED,
    MARGIN,
    ONE_WORD_MARGIN,
    all_beside_silence,
    calls_off,
    calms,
    nothing_asked,
    reaction_beside_answers,
    says_it_goes_on,
    says_more,
    short_reaction,
    small_talk,
    switches_to,
    tells_language,
    wants_interview,
    yes_or_no_in,
)
from bot.talk.plainly import answered_calmly, asks_within, in_other_words
from bot.talk.reaction import REPLIES, YES, Reaction, calmed, fixed, joined
from bot.talk.remarks import decided_as, helps, in_simple_words, settles, varied, with_contact
from bot.talk.situation import asks_for_whole, cannot_telephone, help_comes, simplicity, wants_person, wants_simple
from bot.talk.uploads import FileRefused, SentFile
from bot.talk.withholding import Decided, withhold, without_answer
from bot.text import sanitise, words

# Commands that mean "let us go on" after a pause: "weiter" skips a question only while one is open.
GO_ON = ("resume", "skip")
MOST_OF_SELF = 8  # words of who tells that they cannot telephone, and asks nothing else
# What ends a question, in whatever letters.
_ASKS_ANYWHERE = frozenset("?？؟")
# Show that words are about an alarm, and no answer.
_OF_ALARMS = frozenset({"notfall", "notruf", "fehlalarm", "alarm", "emergency", "urgent", "akut", "dringend"})
# What small talk means while questions are asked, in words that the interview knows in every language.
IN_INTERVIEW = {"help": "help", "stop": "pause", "goodbye": "pause"}


class Reactions:
    """Reacts to the messages of one conversation."""

    def __init__(self, assistant: Assistant, interviewer: Interviewer | None = None, desk: Desk | None = None) -> None:
        self._assistant = assistant
        self._interviewer = interviewer
        self._desk = desk

    def react(self, state: State, text: str, at: datetime) -> Reaction:
        """Take one message in a state of the dialogue; any text at all."""
        state = replace(state, simple=simplicity(state, text), writes=state.writes or cannot_telephone(text))
        reaction = self._react(state, text, at)
        held = self._assistant.withheld(reaction.reply.language)
        told, after = withhold(reaction.reply, reaction.after, held)
        decided = without_answer(reaction.decided, told, held) if reaction.decided is not None else None
        reply, after = in_simple_words(*varied(told, state, after))
        reply = with_contact(reply, self._assistant.site, writes=state.writes)
        return replace(reaction, reply=reply, after=replace(after, writes=state.writes), decided=decided)

    def _react(self, state: State, text: str, at: datetime) -> Reaction:
        reaction = self._shortcut(state, text, at) or self._to_alarm(state, text, at) or self._called(state, text, at)
        # No answer to the form, and nothing else, is heard while it is open whether this is an emergency.
        reaction = reaction or self._held(state, text)
        if reaction is not None:
            return reaction
        who = self._interviewer
        if who is not None and who.is_asking:
            return self._interviewing(who, state, text, at)
        asked = replace(state, offered=False)
        return self._about_interview(state, text, at) or self._amended(state, text, at) or self._question(asked, text)

    def begin_interview(self, state: State, at: datetime) -> Reaction:
        """Begin the interview, or go on with it."""
        if self._interviewer is None:
            return fixed(state, "interview_none")
        turn = self._interviewer.start(state.language, at=at)
        after = State(turn.session.language, last_pair=state.last_pair, last_turn=state.last_turn, simple=state.simple)
        return Reaction(reply_of(turn.said, self._interviewer.form), after)

    def attach(self, state: State, file: SentFile, turn_id: str, at: datetime) -> Reaction:
        """Take a file as the answer to the open question of the interview.

        Raises:
            FileRefused: None is asked for, or it does not fit the question.
        """
        if self._interviewer is None:
            raise FileRefused("not_asked")
        turn = self._interviewer.attach(file, turn_id, at=at)
        return Reaction(reply_of(turn.said, self._interviewer.form), replace(state, language=turn.session.language))

    def detach(self, state: State, id_: str, at: datetime) -> Reaction:
        """Take a file out of the answers of the interview.

        Raises:
            FileRefused: There is no such file.
        """
        if self._interviewer is None:
            raise FileRefused("gone")
        turn = self._interviewer.remove(id_, at=at)
        return Reaction(reply_of(turn.said, self._interviewer.form), replace(state, language=turn.session.language))

    def fill(self, state: State, sent: PageSent, at: datetime) -> Reaction:
        """Take a page of the form; what was written on it may raise the alarm, which comes first then.

        Raises:
            Outdated: The answers have changed since the page was shown.
        """
        who = self._interviewer
        if who is None:
            raise Outdated("There are no questions here.")
        page = who.pages(sent.language, at=at)
        page.send(sent)
        rest, danger = rest_of(state, sent.language), self.danger_in(page)
        reaction = self._taken(who, page.end(), rest, at)
        if danger is None:
            return Reaction(self._told_again(state), state) if is_open_alarm(state) else reaction
        alarm = self._alarm(rest, danger[0], danger[1], may_be_none=False)
        # What was written is an answer already: called off, it must not be taken for another one.
        return replace(alarm, after=replace(alarm.after, held_back=""))

    def danger_in(self, page: PageTurn) -> tuple[str, RedFlag] | None:
        """Return what was written on a page of the form that raises the alarm, and what it raises."""
        for text, free in page.written:
            urgent = red_flag_in(self._assistant, text, page.language, rules_only=not free)
            if urgent is not None and (free or not text.strip().isdigit()):  # 112 is a weight, too
                return text, urgent
        return None

    def _shortcut(self, state: State, text: str, at: datetime) -> Reaction | None:
        """React to an empty turn, or to one of the commands that begin with a slash."""
        command = text.strip().lower()
        asking = self._interviewer is not None and self._interviewer.is_asking
        if not sanitise(text).text:
            if asking and not state.alarmed:
                return None
            return self.then_question(fixed(state, "empty", "emergency_notice"), at)
        if command in ("/help", "/hilfe", "/?"):
            return self.then_question(fixed(state, "help"), at)
        if command in ("/easy", "/einfach"):
            return self.then_question(Reaction(self._easier(state), state), at)
        if command.split()[0] in ("/flag", "/melden"):
            flags = state.last_turn is not None
            noted = replace(fixed(state, "flagged" if flags else "nothing_to_flag"), flags=flags)
            return self.then_question(noted, at)
        if command in CALLS_STAFF:
            return self.then_question(self.call_staff(state, at), at)
        who, language = self._interviewer, switches_to(text)
        if language is not None and (who is None or not who.asks_for_a_name(text, at)):
            return self._switched(state, language, at)
        begins = command == "/interview" and not is_open_alarm(state)
        return self.begin_interview(state, at) if begins else None

    def _switched(self, state: State, language: str, at: datetime) -> Reaction | None:
        """Go on in another language, with what is open in it, or with the offer of the last answer in it."""
        if language not in self._assistant.languages:
            return None
        after, said = replace(state, language=language, choices=()), interface(language, "language_switched")
        if is_open_alarm(state):
            return Reaction(Reply(language, (said, interface(language, "is_emergency")), way_out(after)), after)
        who = self._interviewer
        if who is not None and who.session is not None:
            who.speak(language)
            if who.is_asking:
                return self.then_question(Reaction(Reply(language, (said,)), after), at)
        if state.last_pair is None or state.last_pair not in self._assistant.shown(language):
            return Reaction(Reply(language, (said,)), after)
        after = replace(after, choices=(state.last_pair,))
        choices = offered(after, self._assistant.catalog(language))
        return Reaction(Reply(language, (said, interface(language, "language_last")), choices), after)

    def call_staff(self, state: State, at: datetime) -> Reaction:
        """Call somebody who wants to speak to a human; where nobody reads calls, staff see it beside emergencies."""
        request = interface(state.language, "staff_request").text
        decided = replace(self._pick(state, request, None), decision="urgent")
        parts = told_who_calls(self._desk, self._assistant.site, state.language, at, writes=state.writes)
        return Reaction(Reply(state.language, parts), state, decided, calls_staff=True)

    def _called(self, state: State, text: str, at: datetime) -> Reaction | None:
        """Call somebody for who asks for a person in words, where staff read calls; an emergency is one first."""
        tells = "?" not in text and len(words(text)) <= MOST_OF_SELF and self._interviewer is None
        tells = tells and not is_open_alarm(state)
        writes = tells and cannot_telephone(text)
        if self._desk is None or not (wants_person(text) or writes) or self._raises(text, state.language, False):
            return None
        rest = replace(state, language=self.language_of(text, state.language))
        if not wants_person(text):
            return fixed(rest, "staff_writes")
        return self.then_question(self.call_staff(rest, at), at)

    def in_emergency(self, state: State, text: str, at: datetime) -> Reaction | None:
        """React to what is said to an open alarm, or raises one; None for anything else."""
        if says_no_emergency(state, text, self._assistant.wording) or self._calms(state, text):
            return fixed(after_alarm(state), *calming(state))
        told = self._to_alarm(state, text, at)
        urgent = red_flag_in(self._assistant, text, state.language) if told is None else None
        return self._alarm(rest_of(state, state.language), text, urgent, may_be_none=False) if urgent else told

    def _to_alarm(self, state: State, text: str, at: datetime) -> Reaction | None:
        """React to what is said to an open alarm, or one just called off; None for all else."""
        if state.taken_back is not None and is_back(text) and not self._raises(text, state.language, True):
            return self._raised_again(state, text)
        if says_emergency(state, text) and not calms(text):
            told = None if state.confirmed else replace(self._pick(state, text, None), decision="urgent")
            return Reaction(emergency(state), replace(state, confirmed=True), told)
        if says_no_emergency(state, text, self._assistant.wording):
            return self._called_off(state, at)
        if self._calms(state, text):  # "that was a joke": what was said is taken back, too
            return self._called_off(replace(state, held_back=None), at)
        if says_it_again(state, text) or (state.chest and state.held_back and says_it_goes_on(text)):
            # One complaint is told to the team once.
            return Reaction(self._told_again(state), state)
        return None

    def _told_again(self, state: State) -> Reply:
        """Return what was said to the open alarm, be it that the rules, or words in haste, raised it."""
        if state.confirmed or not state.held_back:  # what was written on a page of the form is not kept
            return emergency(state)
        reply = self._raised(state, state.held_back).reply
        return reply if shows_alarm(reply) else emergency(state)

    def reminded(self, state: State) -> Reaction | None:
        """Say an open alarm again, whatever was said; one that was not sure at most twice in a row."""
        if not is_open_alarm(state) or (state.unsure and state.reminded >= MOST_REMINDED):
            return None
        reply = self._told_again(state)
        parts = reply.parts if state.confirmed else (*reply.parts, interface(reply.language, "is_emergency"))
        return Reaction(
            replace(reply, parts=parts, choices=way_out(state)), replace(state, reminded=state.reminded + 1)
        )

    def _raised(self, state: State, held: str) -> Reaction:
        """Return what words that raised an alarm before come to."""
        urgent = red_flag_in(self._assistant, held, state.language)
        rest = rest_of(state, state.language)
        return self._alarm(rest, held, urgent, may_be_none=False) if urgent else self._answer(state, held)

    def _raised_again(self, state: State, text: str) -> Reaction:
        """Raise the alarm that was called off shortly before: the patient says that it is back."""
        held = state.taken_back or ""
        told = self._raised(state, held)
        told = told if is_open_alarm(told.after) else replace(told, after=rest_of(state, state.language))
        after = replace(told.after, alarmed=True, held_back=held)
        reply = told.reply if shows_alarm(told.reply) else emergency(after)
        return Reaction(reply, after, replace(self._pick(state, text, None), decision="urgent"))

    def _calms(self, state: State, text: str) -> bool:
        """Say whether words take the open alarm back and raise none by rule themselves."""
        return state.alarmed and calms(text) and not self._raises(text, state.language, rules_only=True)

    def _called_off(self, state: State, at: datetime) -> Reaction:
        """Go on after an alarm: the open question may take what was held back; else it may be a question."""
        who, held = self._interviewer, state.held_back or ""
        if who is not None and who.is_asking and who.session is not None:
            return self._back_to_interview(who, who.session, state, at)
        rest = after_alarm(state)
        if not asks_within(held, state.language):
            *before, last = calming(state)
            return fixed(rest, *before, *(("go_on",) if last == "calmed" else (last, "ask_away")))
        response = answered_calmly(self._assistant, held, self.language_of(held, state.language))
        reaction = self._respond(rest, response)
        return calmed(state, replace(reaction, after=replace(reaction.after, last_question=None)))

    def _back_to_interview(self, who: Interviewer, session: Session, state: State, at: datetime) -> Reaction:
        rest, held = after_alarm(state), state.held_back or ""
        calm = Reply(session.language, tuple(interface(session.language, key) for key in calming(state)))
        turn = who.interview(at).called_off(session, held)
        if turn.aside == "no":
            who.take(turn)
            reply = joined(calm, reply_of(turn.said, who.form))
            return Reaction(reply, replace(rest, language=session.language))
        reaction = self._aside(who, turn, rest, held, at, ignore_flags=True)
        return calmed(state, replace(reaction, after=replace(reaction.after, last_question=None)))

    def _question(self, state: State, text: str) -> Reaction:
        """React to a message that is not about the interview."""
        talk = small_talk(text)
        if talk is not None:
            return fixed(state, *(("help", "emergency_notice") if talk == "help" else (talk,)))
        if wants_easier(state, text):
            again = state.simple == "wished"  # whoever asks for it twice gets it first from then on
            return Reaction(self._easier(state), replace(state, simple="asked" if again else state.simple or "wished"))
        if state.simple in SIMPLE and asks_for_whole(text):
            return fixed(replace(state, simple="off"), "simple_off")
        if (picked := self._picked(state, text)) is not None:
            return picked
        if (reply := nothing_asked(text)) is not None:
            return fixed(state, reply)
        urgent = red_flag_in(self._assistant, text, state.language, rules_only=True)
        if urgent is not None:  # in whatever language
            return self._alarm(rest_of(state, state.language), text, urgent, may_be_none=False)
        if calls_off(text):  # no alarm is open any more, but what was asked may still be
            return self._nothing_open(state)
        told = self._talk(state, text) or self._asked(state, text)
        told = in_other_words(self._assistant, state, text, told, lambda said: self._asked(state, said))
        return instead(self._assistant, state, text, told)

    def _nothing_open(self, state: State) -> Reaction:
        """React to "that was years ago" where no alarm is open: what it was said of gets its answer."""
        if state.choices:
            return Reaction(*none_chosen(state))
        held, rest = state.complained, replace(known(state), language=state.language)
        if state.complaint is None or not held:
            return fixed(rest_of(state, state.language), "all_right")
        response = answered_calmly(self._assistant, held, self.language_of(held, state.language))
        if response.decision not in ("answered", "clarify"):
            return fixed(rest, "look_today", "ask_away")
        return calmed(rest, self._respond(rest, response))

    def _asked(self, state: State, text: str) -> Reaction:
        """Answer a message by its own words, and by what was shown before where it does not stand alone."""
        if happens_after(state.last_question, text):
            return self._alarm(rest_of(state, state.language), text, RedFlag(state.language, text), may_be_none=False)
        heard = hear(self._assistant, state, text, self.language_of(text, state.language))
        decided = decided_as(heard.response, heard.reply) if heard.response is not None else None
        return Reaction(heard.reply, heard.after, decided)

    def _held(self, state: State, text: str) -> Reaction | None:
        """React to whatever else is said while an alarm is open: it stays open, and is said again.

        What is asked is answered below. An alarm that was not sure ends when the patient goes on, as its text says.
        """
        if not is_open_alarm(state):
            return None
        if help_comes(text):
            return Reaction(Reply(state.language, (interface(state.language, "help_coming"),), way_out(state)), state)
        calm = short_reaction(text) in CLOSED or text.strip().isdigit()
        urgent = red_flag_in(self._assistant, text, state.language, rules_only=calm)
        if urgent is not None:
            raised = self._alarm(rest_of(state, state.language), text, urgent, may_be_none=False)
            if state.unsure or raised.after.harm or not raised.after.unsure:  # what is unsure weakens nothing
                return raised
        language = self.language_of(text, state.language)
        response = self._assistant.answer(text, language)
        asks = question_like(text, language) != "no"
        if state.unsure and not state.confirmed and goes_on(text, asks=asks) and response.decision != "urgent":
            return self._going_on(state, response)
        reply = self._told_again(state)
        if response.fixed is not None:  # first what the patient understands
            foreign = foreign_sentence(response.fixed.language, response.fixed.key)
            return Reaction(replace(reply, parts=(foreign, *reply.parts)), state)
        shown = response.decision == "answered" or settles(response)
        if state.confirmed or not shown or not asks or language != reply.language or asks_whom_to_call(text):
            return Reaction(reply, state)
        told = self._respond(rest_of(state, language), response)
        whole = response.decision == "answered"
        below = [part for part in told.reply.parts if whole or isinstance(part, SiteText)]  # no kind words
        last = (interface(language, "is_emergency"),) if whole else ()
        reply = replace(reply, parts=(*reply.parts, *below, *last))
        return replace(told, reply=reply, after=replace(state, last_pair=told.after.last_pair))

    def _going_on(self, state: State, response: Response) -> Reaction | None:
        """Answer who goes on after an alarm that was not sure, and ask once whether it is one."""
        told = self._respond(rest_of(state, response.lang), response)
        if state.reminded >= MOST_REMINDED or told.reply.choices or response.fixed is not None:
            return None
        said = told.reply.language
        after = replace(state, reminded=MOST_REMINDED, language=said, last_pair=told.after.last_pair)
        parts = (*told.reply.parts, interface(said, "is_emergency"))
        return replace(told, reply=Reply(said, parts, way_out(after)), after=after)

    def _talk(self, state: State, text: str) -> Reaction | None:
        """React to a short reaction, which asks nothing; None when it is something else, or raises an alarm."""
        kind = short_reaction(text)
        if wants_simple(text, state.language) or kind is None or self._raises(text, state.language, kind in CLOSED):
            return None
        if kind == "announcement" and not announces(
            self._assistant, state, text, self.language_of(text, state.language)
        ):
            return None
        return reacted(self._assistant, state, kind)

    def _raises(self, text: str, fallback: str, rules_only: bool) -> bool:
        return red_flag_in(self._assistant, text, fallback, rules_only=rules_only) is not None

    def _easier(self, state: State) -> Reply:
        catalog, sample = self._assistant.catalog(state.language), self._assistant.sample
        if state.last_pair in self._assistant.withheld(state.language):  # whether it has an easy answer or not
            return show_again(state, "again_intro", catalog, sample=sample)
        return explain_easier(state, catalog, sample=sample)

    def language_of(self, text: str, fallback: str) -> str:
        if not tells_language(text) or self._assistant.foreign(text) is not None:
            return fallback  # it is told in its own language, and the conversation goes on in that of before
        margin = ONE_WORD_MARGIN if len(text.split()) == 1 else MARGIN
        return self._assistant.detect(text, fallback=fallback, margin=margin)

    def _picked(self, state: State, text: str) -> Reaction | None:
        """Take a pick from what was offered; None when the turn is something else."""
        catalog = self._assistant.catalog(state.language)
        pick = chosen(state, text, catalog)
        if pick is None:
            return None
        if pick.pair_id is None:
            return Reaction(*none_chosen(state))
        reply, after = show_pair(state, pick.pair_id, catalog, sample=self._assistant.sample)
        return Reaction(reply, after, self._pick(state, text, pick.pair_id))

    def _waved_aside(self, state: State, text: str) -> Reaction | None:
        """Take "no" to questions that were offered: it must not be taken for an answer to the form."""
        said = read_yes_no(text, language=state.language) if state.choices else None
        who = self._interviewer
        if who is not None and who.asks_consent and isinstance(said, Read) and not said.literal:
            return None  # "then no" is said to the question for consent
        return Reaction(*none_chosen(state)) if isinstance(said, Read) and not said.remainder else None

    def _answer(self, state: State, text: str, *, ignore_flags: bool = False, language: str | None = None) -> Reaction:
        language = language or self.language_of(text, state.language)
        return self._respond(state, self._assistant.answer(text, language, ignore_flags=ignore_flags))

    def _respond(self, state: State, response: Response) -> Reaction:
        reply, after = respond_with_extract(self._assistant, state, response)
        return Reaction(reply, after, decided_as(response, reply))

    def _pick(self, state: State, text: str, pair_id: str | None) -> Decided:
        catalog = self._assistant.catalog(state.language).ref
        return Decided(state.language, sanitise(text).text, "answered", pair_id, 1.0, catalog)

    def _about_interview(self, state: State, text: str, at: datetime) -> Reaction | None:
        """React to what was offered, or to "let us go on"; None when the turn is something else."""
        who = self._interviewer
        if who is None:
            return None
        command = read_command(text, language=state.language)
        resumes = who.is_paused and command is not None and command.kind in GO_ON
        if resumes or wants_interview(text):
            return self.begin_interview(state, at)
        agreed = {"1": True, "2": False}.get(text.strip()) if state.offered else None
        said = read_yes_no(text, language=state.language) if state.offered and agreed is None else None
        if isinstance(said, Read) and not said.remainder:
            agreed = said.answers[0].value is True
            if agreed and short_reaction(text) == "thanks" and YES.isdisjoint(words(text)):
                agreed = None  # "Right. Thanks." agrees to nothing
        if agreed is None:
            return None
        if agreed:
            return self.begin_interview(state, at)
        return fixed(replace(state, offered=False), "interview_declined")

    def _amended(self, state: State, text: str, at: datetime) -> Reaction | None:
        """Take the correction of an answer that was agreed to before; None when the turn is something else."""
        who = self._interviewer
        if who is None or who.session is None or not who.is_finished or self._raises(text, state.language, True):
            return None
        turn = who.interview(at).turn(who.session, text)
        if turn.aside != "no":
            return None
        return self._taken(who, turn, rest_of(state, turn.session.language), at)

    def _interviewing(self, who: Interviewer, state: State, text: str, at: datetime) -> Reaction:
        """React while questions are asked: red flags by rule, what was offered, the form, and what else it may be."""
        asked, session = who.interview(at), who.session
        if session is None:
            return self._question(state, text)
        rest = rest_of(state, session.language)
        literal = small_talk(text) is not None or asked.listener(session).hears_just_an_answer(text)
        literal = literal or (text.strip().isdigit() and asked.expects_number(session))  # "999" years, and no call
        urgent = red_flag_in(self._assistant, text, session.language, rules_only=True)
        if urgent is not None and small_talk(text) != "help" and not (literal and text.strip().isdigit()):  # a weight
            return self._alarm(rest, text, urgent, may_be_none=literal)
        picked = self._picked(state, text) or self._waved_aside(state, text)
        if picked is not None:
            return self.then_question(picked, at)
        if asked.expects_yes_or_no(session):
            text = yes_or_no_in(session.language, text)
        understood = asked.listener(session).understands(text) or asked.hears_of_file(session, text)
        wants_words = asked.listener(session).wants_words
        kind = None if understood else reaction_beside_answers(text, wants_words=wants_words)
        # What the open question understands is an answer to it, whatever the learned alarm hears in it; but what is
        # said beside "I don't know", or yes and no, was not understood by it.
        calm = (understood and not says_more(text, session.language)) or literal or kind in CLOSED
        understands = asked.listener(session).understands
        urgent = None if calm else red_flag_in(self._assistant, text, session.language, calm=understands)
        if urgent is not None:
            return self._alarm(rest, text, urgent, may_be_none=False)
        if not understood and calls_off(text) and not (wants_words and _OF_ALARMS.isdisjoint(words(text))):
            return Reaction(reply_of(asked.again(session).said, who.form), rest)  # no alarm is open any more
        if kind is not None and kind != "farewell":
            said = reacted(self._assistant, state, kind) if kind == "cancelling" else fixed(rest, REPLIES[kind])
            return self.then_question(said, at)
        # Where any words are an answer, what is no question is one in any language: nothing a patient says is lost.
        answers = understood or literal or (wants_words and _ASKS_ANYWHERE.isdisjoint(text))
        if not answers and self._assistant.foreign(text) is not None:
            return self.then_question(self._answer(rest, text), at)
        # Whoever wants help, or to stop, shall not have it taken for an answer, in whatever language it is said.
        talk = "goodbye" if kind == "farewell" else small_talk(text) or ""
        turn = asked.turn(session, IN_INTERVIEW.get(talk, text))
        if turn.aside != "no":
            return self._aside(who, turn, state, text, at)
        return self._taken(who, turn, rest, at)

    def _taken(self, who: Interviewer, turn: Turn, rest: State, at: datetime) -> Reaction:
        """Take a turn; of an earlier version of the form, one answer more is taken, and no summary is agreed to."""
        before = len(who.session.events) if who.session is not None else 0
        agrees = turn.session.talk.phase == "finished"
        if who.is_outdated and agrees and not who.is_complete:
            return Reaction(reply_of(who.renew(at=at).said, who.form), rest)
        who.take(turn)
        if who.is_outdated and who.is_asking and len(turn.session.events) > before:
            turn = who.renew(at=at)
        return Reaction(reply_of(turn.said, who.form), rest)

    def _alarm(self, rest: State, text: str, urgent: RedFlag, *, may_be_none: bool) -> Reaction:
        """React to a red flag. Words that the form itself lists may be no emergency: that is asked."""
        language = urgent.language
        response = replace(self._assistant.answer(urgent.words, language), question=text)
        if urgent.words == text and all_beside_silence(text):
            response = replace(response, flag=None)  # with "I don't know" in it, of what kind is a guess
        if response.decision != "urgent":  # whoever raised the alarm heard more than whoever answers
            response = replace(response, decision="urgent", pair_id=None, answer=None, also=(), choices=())
        reaction = self._respond(rest, response)
        if may_be_none and response.flag != "chest-pain":
            parts = (*reaction.reply.parts, interface(language, "is_emergency"))
            return replace(reaction, reply=replace(reaction.reply, parts=parts))
        return reaction

    def _aside(  # noqa: PLR0913 - what was said, and where
        self, who: Interviewer, turn: Turn, state: State, text: str, at: datetime, *, ignore_flags: bool = False
    ) -> Reaction:
        """Answer a question in between, and put the open question again; what nobody can answer goes to the form."""
        language, asked = turn.session.language, who.interview(at)
        rest = rest_of(state, language)
        talk = small_talk(text)
        if talk in ("greeting", "thanks"):
            thanked = Reply(language, (interface(language, talk),))
            return Reaction(joined(thanked, reply_of(turn.said, who.form)), rest)
        spoken, own = self.language_of(text, language), self._assistant
        response = answered_calmly(own, text, spoken) if ignore_flags else own.answer(text, spoken)
        if helps(response, text):
            reaction = self._respond(rest, response)
            if response.decision == "answered" or settles(response, least=BESIDE):
                return self.then_question(reaction, at)
            return reaction  # choices of two kinds would be mixed up: the question comes again after the pick
        after_all = asked.not_answered(turn.session, text)
        who.take(after_all)
        said, unknown = after_all.said, Sentence("no_pairs")
        parts = tuple(Sentence("declined") if part == unknown else part for part in said.parts)
        reply = reply_of(replace(said, parts=parts), who.form)
        return Reaction(reply, rest, decided_as(response, reply) if turn.aside == "clear" else None)

    def then_question(self, reaction: Reaction, at: datetime) -> Reaction:
        """Put what is open after a reply: whether it is an emergency, else the question of the interview."""
        who, reply, state = self._interviewer, reaction.reply, reaction.after
        if is_open_alarm(state) and not reply.choices:
            # An answer to the form might be taken for one about the emergency, and the way out would be gone.
            parts = (*reply.parts, interface(state.language, "is_emergency"))
            return replace(reaction, reply=Reply(reply.language, parts, way_out(state)))
        if who is None or not who.is_asking or who.session is None or reply.choices:
            return reaction
        if who.session.language != reply.language:
            who.speak(reply.language)  # the patient has gone on in another language
        question = reply_of(who.interview(at).again(who.session).said, who.form)
        return replace(reaction, reply=joined(reply, question))

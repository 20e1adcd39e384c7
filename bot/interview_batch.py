"""An interview without a patient at the keyboard: a script answers, and the transcript is written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot.dialogue import URGENT_TEXTS
from bot.interface_texts import INTERFACE_TEXTS
from bot.interview.filling import Given, Shown
from bot.interview.form import Path as Place
from bot.interview.interview import Interview, Open, Turn
from bot.interview.parsing import Read, read_yes_no
from bot.interview.session import Session
from bot.interview_script import Script
from bot.reply import SENTENCES, Reply, guard, interface
from bot.safety import load_red_flags


class Batch:
    """Runs one interview by a script."""

    def __init__(self, interview: Interview, script: Script, *, confirm: bool, write: Callable[[str], None]) -> None:
        """Take what is asked, who answers, whether read-backs wait for a line, and where the transcript goes."""
        self._interview = interview
        self._script = script
        self._confirm = confirm
        self._write = write
        self._held: str | None = None  # a message that may be about the heart

    def run(self, language: str) -> Session:
        """Interview until all is asked, or no line fits; return where it ended."""
        turn = self._show(self._interview.begin(language))
        while True:
            waiting = self._interview.open_question(turn.session)
            if waiting.kind == "finished":
                return turn.session
            said = self._says(waiting, turn.session)
            if said is None:
                return turn.session
            turn = self._turn(turn, said)

    def _turn(self, turn: Turn, said: str) -> Turn:
        self._write(f"> {said}")
        language = turn.session.language
        if self._held is not None:
            held, self._held = self._held, None
            agreed = read_yes_no(said, language=language)
            calm = said == INTERFACE_TEXTS[language]["chest_breast"] or (
                isinstance(agreed, Read) and agreed.answers[0].value is False
            )
            return self._heard(turn, held) if calm else turn
        flag = load_red_flags(language).check(said)
        if flag is None:
            return self._heard(turn, said)
        return self._urgent(turn, said, flag)

    def _urgent(self, turn: Turn, said: str, flag: str) -> Turn:
        """Interrupt: the form reads nothing of it, unless it turns out to be no emergency."""
        language = turn.session.language
        alarm = interface(language, URGENT_TEXTS.get(flag, "urgent"))
        if flag == "chest-pain" or self._interview.says_just_an_answer(turn.session, said):
            # The breast or the heart; or words that the form itself lists.
            self._held = said
            question = interface(language, "chest_question" if flag == "chest-pain" else "is_emergency")
            reply = Reply(language, (alarm, question), (interface(language, "chest_breast"),))
        else:
            reply = Reply(language, (alarm,))
        self._show(replace(turn, reply=reply))
        return turn

    def _heard(self, turn: Turn, said: str) -> Turn:
        after = self._interview.turn(turn.session, said)
        if after.aside != "no" and after.session.talk.phase not in ("paused", "finished"):
            after = self._interview.not_answered(after.session, said)
        if interface(after.session.language, "go_ahead") in after.reply.parts:
            # "Yes" to room for words: a file means just that.
            self._show(after)
            self._write(f"> {said}")
            after = self._interview.turn(after.session, said)
        return self._show(self._one_more(turn, after))

    def _one_more(self, before: Turn, after: Turn) -> Turn:
        """Go back to a list of which the next line names one more answer; at once, unless something was shown."""
        last = _last_given(after.session)
        new = after.session.events[len(before.session.events) :]
        waiting = self._interview.open_question(after.session)
        if not any(isinstance(event, Given) for event in new) or not self._repeats(last, waiting, after.session):
            return after
        if any(isinstance(event, Shown) for event in new):
            self._show(after)
        return self._interview.add_to(after.session, last)

    def _show(self, turn: Turn) -> Turn:
        reply = guard(turn.reply, None, shown=frozenset(), heard=self._interview.heard(turn.session))
        for line in transcript(reply):
            self._write(line)
        return turn

    def _says(self, waiting: Open, session: Session) -> str | None:
        """Return what is said next; None when there is nothing left to say."""
        words = SENTENCES[session.language]
        if self._held is not None and not self._confirm:
            return words["chest_breast"]
        if waiting.kind == "read-back" and not self._confirm:
            return words["yes"]
        planned = self._script.next_turn()
        if planned is None and self._has_one_more(waiting):
            return words["yes"]
        if planned is None and waiting.link_id:
            planned = self._script.take(waiting.link_id, waiting.path)
            planned = words["word_skip"] if planned is not None and not planned.strip() else planned
        return planned if planned is not None else self._without_line(waiting, session)

    def _has_one_more(self, waiting: Open) -> bool:
        """Say whether "anything else?" about a question is answered with yes: its next line is the answer then."""
        item = self._interview.form.by_link_id.get(waiting.link_id)
        repeats = waiting.kind == "another" and item is not None and item.type != "group"
        return repeats and self._script.has_more(waiting.link_id, waiting.path)

    def _without_line(self, waiting: Open, session: Session) -> str | None:
        words = SENTENCES[session.language]
        if waiting.kind in ("question", "proposal"):
            return words["word_skip"]
        if waiting.kind == "another":
            item = self._interview.form.by_link_id[waiting.link_id]
            more = item.type == "group" and self._script.has_instance(item, waiting.path)
            return words["yes"] if more else words["no"]
        if waiting.kind == "summary":
            late = self._script.late_turn()
            return late if late is not None or self._confirm else words["yes"]
        return None

    def _repeats(self, last: Place, waiting: Open, session: Session) -> bool:
        """Say whether the list that was chosen from last takes its next line as one more answer."""
        item = self._interview.form.by_link_id[last[-1][0]]
        answered = self._interview.engine.answers(session.filling, last)
        full = len(answered) == item.most or waiting.path == last
        return item.repeats and bool(item.options) and not full and self._script.has_more(item.link_id, last)


def _last_given(session: Session) -> Place:
    return next((event.path for event in reversed(session.events) if isinstance(event, Given)), ())


def transcript(reply: Reply) -> list[str]:
    """Return a reply as lines of text."""
    lines = [line for part in reply.parts for line in part.text.split("\n")]
    return lines + [f"  {number}  {choice.text}" for number, choice in enumerate(reply.choices, 1)]

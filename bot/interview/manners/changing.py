"""What a message does besides answering the open question: commands, changes, replies to a list of answers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from bot.interview.form.form import Path
from bot.interview.manners.agreement import asks_consent, filler_meant
from bot.interview.manners.files import FileTurn
from bot.interview.manners.listening import (
    WORDS,
    CachedReader,
    agrees,
    asks_meaning,
    number_meant,
    question_like,
)
from bot.interview.manners.meant import questions_complained_of, questions_meant
from bot.interview.manners.session import Session, name_of
from bot.interview.reading.reader import read_command
from bot.interview.reading.reading import Read
from bot.interview.reading.yesno import read_yes_no
from bot.interview.values.answer import Answer
from bot.interview.walk.engine import AskAnother, AskItem, Engine
from bot.interview.walk.filling import Given, GroupAdded, MarkedForStaff, Skipped, Waiting, first
from bot.text import words

MOST_PICKING = 2  # words that only pick an answer; more may ask something: "Moment, was passiert mit meinen Daten"


class ChangingTurn(FileTurn):
    """A turn in which the patient says something, as far as it is no answer to the open question."""

    def __init__(self, engine: Engine, reader: CachedReader, session: Session, text: str) -> None:
        """Hear whether the message is a command, asks something itself, or says yes or no, with what stands beside."""
        super().__init__(engine, reader, session)
        self.text = text
        command = read_command(text, language=self.language)
        self.wants, self.target = (command.kind, command.target) if command is not None else ("", "")
        self.asks = question_like(text, self.language)
        step = self.step if self.talk.phase == "asking" else None
        # Whether the message asks what the open question means.
        self.asks_meaning = isinstance(step, AskItem | AskAnother) and asks_meaning(text, step.item, self.language)
        if self.asks_meaning:
            self.asks = "clear"
        said = read_yes_no(text, language=self.language)
        self.yes = said.answers[0].value is True if isinstance(said, Read) else None
        self.beside = said.remainder if isinstance(said, Read) else ""

    # Commands

    def obey(self) -> None:
        """Do what the patient wants instead of answering."""
        match self.wants:
            case "change":
                self.change()
            case "skip":
                self.leave("skipped")
            case "pause":
                self.note(phase="paused")
                self.say("paused")
            case "resume" | "repeat":
                self.ask()
            case "back" if (before := self._question_before()) is not None:
                self.revisit(before)
            case _:
                self.tell()
                if self.talk.phase in ("checking", "who"):
                    self.ask_open()
                else:
                    self.ask(brief=True)

    def _question_before(self) -> Path | None:
        """Return the question before the open one: before one that was gone back to, that in the form's order."""
        session, revisit = self.session, self.talk.revisit
        if not revisit:
            settled, replies = self.settled, (Given, Waiting, Skipped, MarkedForStaff)
            paths = (event.path for event in reversed(session.events) if isinstance(event, replies))
            return next((path for path in paths if path in settled), None)
        earlier = list(takewhile(lambda path: path != revisit, self.engine.questions(session.filling)))
        return next((path for path in reversed(earlier) if session.filling.settled(path)), None)

    def tell(self) -> None:
        """Say what the patient wants to know before the question comes again."""
        step = self.step
        item = step.item if isinstance(step, AskItem | AskAnother) else None
        helps = item.presentation.help if item else ()
        if self.wants == "summary":
            self.show_summary(closing=False)
        elif self.wants == "back":
            self.say("no_way_back")
        elif self.wants == "help":
            self.say("how_to")
            if isinstance(step, AskItem):
                self.say_example(step.item)
        elif item and any(text.into(self.language) for text in helps):
            self.quote(item, "help", times=len(helps))
        else:
            self.say("why_unknown")

    # Changing an answer

    def change(self) -> None:
        """Find the question that is to be answered anew."""
        settled, number = self.settled, number_meant(self.target)
        if number is not None and self.talk.listed:
            self.change_number(number)
            return
        named = number is None and not WORDS["empty_words"].issuperset(words(self.target))
        if not self.target and self.talk.taken in settled:
            self.revisit(self.talk.taken)  # what stands above the open question
            return
        found = questions_meant(self.form, settled, self.target, self.language) if named else []
        if len(found) == 1:
            self.revisit(found[0])
        elif not settled:
            self.say("change_nothing")
            self.ask(brief=True)
        else:
            self.choose(found or settled, "change_unknown" if named and not found else "change_which")

    def change_number(self, number: int) -> None:
        """Open the question with this number in the list that was shown."""
        listed = self.talk.listed
        if not 1 <= number <= len(listed):
            self.say("number_unknown", total=len(listed))
        elif self.engine.exists(self.session.filling, listed[number - 1]):
            self.revisit(listed[number - 1])
        else:
            self.onward()
            self.go_on()

    def take_list_reply(self) -> None:
        """Take the reply to a list of answers that was shown."""
        if self.talk.phase == "choosing":
            self._take_choice()
        elif self.talk.phase == "checking":
            self._take_check()
        elif self.talk.phase == "who":
            self._take_filler()
        else:
            self._take_agreement()

    def _take_filler(self) -> None:
        """Take the reply to the question who fills the form in; what is not understood twice is left open."""
        filler = filler_meant(self.text, self.language)
        may_ask = not filler and not self.wants and len(words(self.text)) > MOST_PICKING
        if self.asks == "clear" or may_ask:
            self.aside = "clear" if self.asks == "clear" else "maybe"
            self.ask_who()
        elif self.wants in ("pause", "repeat", "help", "why"):
            self.obey()
        elif not filler and self.wants != "skip" and not self.talk.tries:
            self.note(tries=1)
            self.say("who_again")
            self.ask_who()
        else:
            self.session = replace(self.session, filler=filler or "unsaid")
            self.onward()
            self.go_on()

    def _take_choice(self) -> None:
        """Take the reply to "which answer would you like to change?"."""
        listed = self.talk.listed
        if self.wants == "change":
            self.change()
        elif self.wants or agrees(self.text, self.language) is not None:
            self.onward()
            if self.wants in ("", "back", "skip", "resume", "repeat"):
                self.go_on()
            else:
                self.obey()
        elif self.corrects():
            return
        elif not (found := questions_meant(self.form, listed, self.text, self.language)):
            self.aside = "maybe"
            self.say("change_which")
        elif len(found) > 1:
            self.choose(found, "change_which")
        else:
            self.revisit(found[0])

    def _take_agreement(self) -> None:
        """Take the reply to the summary."""
        agreed = agrees(self.text, self.language)
        may_correct = len(words(self.text)) > 1 and self.asks != "clear" and not self.wants
        if may_correct and self.corrects():
            return
        if agreed is True or (agreed is None and self.wants == "skip"):
            self.agree()
        elif agreed is False:
            self.say("change_which")
            self.note(phase="choosing")
        elif not self.wants:
            self.aside = "maybe"
            self.say("summary_check")
        elif self.wants in ("resume", "repeat", "summary"):
            self.show_summary(closing=True)
        else:
            self.obey()

    def _take_check(self) -> None:
        """Take the reply to a list of what was understood."""
        agreed = agrees(self.text, self.language)
        may_correct = len(words(self.text)) > 1 and self.asks != "clear" and not self.wants
        if may_correct and (self._complains(agreed) or self.corrects()):
            return
        if agreed is True:
            if self.accept_waiting():
                self.onward()
                self.go_on()
        elif agreed is False:
            self.say("change_which")
            self.note(phase="choosing")
        elif not self.wants:
            self.aside = "maybe"
            self.say("check_reply")
        elif self.wants in ("resume", "repeat", "skip"):
            self.ask_open()
        else:
            self.obey()

    def _complains(self, agreed: bool | None) -> bool:
        """Open the listed answer that the message says is wrong, or ask which one it is; say whether it named any."""
        found = self.find_correction(self.text)
        if (found is not None and (found.answers or found.adds)) or not self._says_it_is_wrong(agreed):
            return False
        return self.reopen_named(self.talk.listed)

    def _says_it_is_wrong(self, agreed: bool | None) -> bool:
        return agreed is False or self.yes is False or not WORDS["correcting_words"].isdisjoint(words(self.text))

    def reopen_named(self, paths: Sequence[Path]) -> bool:
        """Open the one question of a list that the message names best; ask which where it names several alike."""
        named = questions_complained_of(self, paths, self.text)
        if len(named) == 1:
            self.revisit(named[0])
        elif named:
            self.choose(named, "change_which")
            self.choices = tuple(name_of(path[-1][0]) for path in self.talk.listed)
        return bool(named)

    def corrects(self, *, plainly: bool = False) -> bool:
        """Take the message as a correction of an earlier answer, if it is one; say whether it was.

        What can be read as the new answer is read back, otherwise the question is asked again. An answer that waits to
        be confirmed waits on. `plainly`: only where a new answer is set against the old one.
        """
        step, talk = self.step, self.talk
        found = self.find_correction(self.text, plainly=plainly)
        if found is None:
            return False
        # What sounds like a "no" to something else must never take back that one may ask at all.
        says_so = not WORDS["correcting_words"].isdisjoint(words(self.text))
        if talk.phase == "asking" and not says_so and asks_consent(self.item(found.path)):
            return False
        if talk.phase == "asking" and isinstance(step, AskItem) and talk.pending and not talk.proposed:
            self.note(kept=talk.pending, kept_for=step.path)
        path = self._in_another_instance(found.path) if found.adds else found.path
        if not found.answers:
            self.revisit(path)
            return True
        item, answers = self.item(path), found.answers
        alone = [option.answer for option in item.options if option.exclusive]
        if path == found.path and item.repeats and not any(answer in alone for answer in answers):
            answers = different([*(each for each in self.answers(path) if each not in alone), *answers])
        self.open_again(path, pending=answers)
        self.parts.append(name_of(item.link_id))
        self.read_back(self.question(path))
        return True

    def _in_another_instance(self, path: Path) -> Path:
        """Return the place of a question in one more instance of the group around it, where there can be one."""
        for depth in range(len(path) - 1, 0, -1):
            group = self.item(path[:depth])
            own = first(path[:depth])
            repeats = group.type == "group" and group.repeats
            count = self.session.filling.count(group, own) if repeats else 0
            if count and (group.most is None or count < group.most) and self.answers(path):
                new = (*own[:-1], (group.link_id, count))
                self.apply(GroupAdded(new))
                return (*new, *path[depth:])
        return path


def different(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Return answers without repetitions."""
    kept: list[Answer] = []
    for answer in answers:
        if answer not in kept:
            kept.append(answer)
    return tuple(kept)

"""What one message of the patient does: an answer, yes or no to what was read back, a command, a correction. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.interview.form.form import Path
from bot.interview.manners.earlier_questions import (
    find_correction,
    question_before,
    questions_meant,
    settled_questions,
)
from bot.interview.manners.listening import (
    FREE_TEXT,
    agrees,
    has_second_thoughts,
    is_end,
    number_meant,
    own_words,
    question_like,
    readable_options,
    tells_something,
)
from bot.interview.manners.said import name_of
from bot.interview.manners.turn import MOST_TRIES, OpenTurn, choices_of
from bot.interview.reading.command import Command, read_command
from bot.interview.reading.reading import Ambiguous, DontKnow, NotUnderstood, Read, Reading, Refused
from bot.interview.reading.yesno import read_yes_no
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import objects, string
from bot.interview.walk.engine import AskAnother, AskItem
from bot.interview.walk.filling import GroupAdded, Noted, first
from bot.text import sanitise, words

# Reasons that show no attempt at an answer: such a message may be a question to the assistant.
_NO_ATTEMPT = frozenset({"nothing", "not-listed", "yes-no", "url", "not-in-chat"})
# Numbers that were understood and cannot be taken.
MEASURED = frozenset({"unit", "unit-missing", "implausible"})
MUCH_BESIDE = 4  # words beside an answer from which on they are kept with it
MOST_AFTER_NO = 3  # a longer remainder after "no" is an answer of its own, where any text is one
CONSENT_CODE = "59284-0"  # LOINC: Consent Document


class Hearing:
    """Takes one message in a turn; any text at all."""

    def __init__(self, turn: OpenTurn, text: str) -> None:
        """Hear whether the message is a command, asks something itself, or says yes or no, with what stands beside."""
        self.turn = turn
        self.text = text
        self.language = turn.language
        self.command = read_command(text, language=turn.language)
        self.asks = question_like(text, turn.language)
        said = read_yes_no(text, language=turn.language)
        self.yes = said.answers[0].value is True if isinstance(said, Read) else None
        self.beside = said.remainder if isinstance(said, Read) else ""

    def take(self) -> None:
        """Take the message, whatever is open."""
        turn, phase = self.turn, self.turn.talk.phase
        number = number_meant(self.text) if phase in ("choosing", "summary") else None
        if not sanitise(self.text).text:
            turn.say("why_empty")
            turn.ask_open()
        elif phase == "finished":
            if self.command is not None and self.command.kind == "change":
                self._change(self.command.target)
            elif self.asks == "clear" or not self._corrects():
                turn.aside = "clear"
        elif phase == "paused":
            if self.command is not None and self.command.kind in ("resume", "repeat", "back", "skip"):
                turn.note(phase="asking")
                turn.resume()
            else:
                turn.aside = "clear"
        elif number is not None:
            self._change_number(number)
        elif phase == "choosing":
            self._take_choice()
        elif phase == "summary":
            self._take_agreement()
        else:
            self._take_reply()

    def not_answered(self) -> None:
        """Take a message that turned out to be no question that anybody can answer."""
        turn, step = self.turn, self.turn.step
        if turn.talk.phase != "asking" or not isinstance(step, AskItem | AskAnother):
            turn.say("no_pairs" if self.asks == "clear" else "not_understood")
            turn.ask_open()
        elif isinstance(step, AskAnother):
            # The third time, take it that there is nothing else.
            if turn.talk.tries + 1 >= MOST_TRIES:
                turn.leave("skipped")
                return
            turn.note(tries=turn.talk.tries + 1)
            turn.say("yes_or_no")
            turn.ask(brief=True)
        elif self.asks != "clear":
            self._react(step, turn.read(step, self.text))
        else:
            self._leave_to_team(step)

    def _leave_to_team(self, question: AskItem) -> None:
        """Take a question where there is room for anything as meant for the team, if the patient agrees."""
        turn = self.turn
        reading = turn.read(question, self.text)
        if question.item.type not in FREE_TEXT or not isinstance(reading, Read):
            turn.say("no_pairs")
            self._ask_again(question)
            return
        answers = self._with_earlier(question, reading.answers)
        if problems := turn.problems(question.path, answers):
            turn.fail(question, "", problems)
        else:
            turn.propose(answers)
            turn.repeat("as_answer", question.path, reading.answers)

    # Replies to a question

    def _take_reply(self) -> None:
        turn, step = self.turn, self.turn.step
        if self.command is not None and not turn.picks(self.text):
            waits = turn.talk.pending is not None and not turn.talk.proposed
            if self.command.kind == "skip" and waits and isinstance(step, AskItem):
                turn.say("yes_or_no")
                turn.read_back(step)
            else:
                turn.drop_pending()
                self._obey(self.command)
        elif isinstance(step, AskAnother):
            self._take_another(step)
        elif not isinstance(step, AskItem):
            turn.go_on()
        elif not self._corrects_instead(step) and not (turn.talk.pending is not None and self._confirms(step)):
            self._take_answer(step)

    def _corrects_instead(self, question: AskItem) -> bool:
        """Take a message as the correction of an earlier answer where it is no reply to the open question."""
        if self.asks == "clear":
            return False
        if self._corrects(plainly=True):
            return True
        any_words = question.item.type in FREE_TEXT or bool(question.item.open and question.options)
        if any_words or self.turn.takes(question, self.text):
            return False
        confirms = self.yes is not None and self.turn.talk.pending is not None
        return not confirms and self._corrects()

    def _take_answer(self, question: AskItem) -> None:
        turn, item = self.turn, question.item
        reading = turn.read(question, self.text)
        if self._says_bare_yes(question, reading):
            turn.fail(question, "which_one" if question.options else "go_ahead")
        elif self.asks == "clear" and not (
            isinstance(reading, Read) and reading.literal and item.type not in FREE_TEXT
        ):
            turn.aside = "clear"
        elif isinstance(reading, NotUnderstood) and (self.asks == "maybe" or reading.why in _NO_ATTEMPT):
            turn.aside = "maybe"
        else:
            self._react(question, reading)
        if turn.aside != "no":
            turn.say("on_with")
            self._ask_again(question)

    def _says_bare_yes(self, question: AskItem, reading: Reading) -> bool:
        """Say whether the patient said yes to a list, or to room for words: they mean something, but not yet what."""
        if not self.yes or self.beside:
            return False
        if question.item.type in FREE_TEXT and not question.options:
            return self.turn.talk.tries == 0
        return bool(question.options) and isinstance(reading, NotUnderstood)

    def _ask_again(self, question: AskItem) -> None:
        if self.turn.talk.pending is not None:
            self.turn.read_back(question)
        else:
            self.turn.ask(brief=True)

    def _react(self, question: AskItem, reading: Reading) -> None:
        turn = self.turn
        match reading:
            case Read():
                beside = words(reading.remainder)
                tells_more = len(beside) > MUCH_BESIDE or any(word.isdecimal() for word in beside)
                if not reading.literal and tells_more:
                    self._note_too(question)
                self._understood(question, reading)
            case DontKnow():
                turn.leave("dont_know")
            case Refused():
                turn.leave("refused")
            case Ambiguous():
                if turn.talk.tries + 1 >= MOST_TRIES:
                    turn.fail(question, "not_understood")
                    return
                meant = tuple(option.answer for option in reading.options)
                turn.note(between=meant, tries=turn.talk.tries + 1, pending=None)
                turn.say("which_one")
                turn.choices = choices_of(question.item, [each for each in question.options if each.answer in meant])
            case NotUnderstood():
                # A number in a wrong unit was understood well enough to be asked for again.
                kept = None if reading.why in MEASURED else self.noted(question)
                turn.fail(question, f"why_{reading.why.replace('-', '_')}", kept=kept)

    def noted(self, question: AskItem) -> Answer | None:
        """Keep the message in the patient's words, for the team, and return it; None where it tells nothing.

        Nothing is kept before the patient has agreed to that.
        """
        item = question.item
        coded = any(string(code, "code") == CONSENT_CODE for code in objects(item.raw, "code"))
        asks_consent = item.type == "boolean" and (coded or item.link_id == "consent")
        bare = self.yes is not None and not self.beside
        if bare or asks_consent or item.type in FREE_TEXT or not tells_something(self.text):
            return None
        said = own_words(self.text)
        self.turn.apply(Noted(question.path, str(said.value)))
        return said

    def _note_too(self, question: AskItem) -> None:
        said = self.noted(question)
        if said is not None:
            self.turn.repeat("noted_too", question.path, (said,))

    def _understood(self, question: AskItem, reading: Read) -> None:
        """Take answers that were read: at once when they were said in so many words, else after reading them back."""
        turn = self.turn
        answers = self._with_earlier(question, reading.answers)
        if not reading.answers and reading.literal:
            turn.drop_pending()
            turn.leave("none")
        elif not reading.answers:
            turn.propose((), nothing=True)
            turn.read_back(question)
        elif problems := turn.problems(question.path, answers):
            turn.fail(question, "", problems)
        elif reading.literal:
            turn.give(question, answers)
        else:
            turn.propose(answers)
            turn.note(between=())
            turn.read_back(question)

    def _with_earlier(self, question: AskItem, answers: Sequence[Answer]) -> tuple[Answer, ...]:
        """Return answers besides those that stand at the question, where one more was asked for."""
        return _different([*(self.turn.answers(question.path) if self.turn.talk.more else ()), *answers])

    # Replies to what was read back

    def _confirms(self, question: AskItem) -> bool:
        """Take the reply to "is that right?"; say whether the message was such a reply."""
        turn, talk = self.turn, self.turn.talk
        if self.yes is None:
            return self._doubts(question)
        if self.yes:
            more = turn.read(question, self.beside) if self.beside and question.item.type not in FREE_TEXT else None
            if self.beside and self._pending_is_no(question):
                # "Yes, I have had it", to "I understood: No": that may be meant against it.
                turn.drop_pending()
                turn.fail(question, "corrected", kept=self.noted(question))
            elif isinstance(more, Read) and more.answers and self._replaces(more) and more.answers != talk.pending:
                # "Ja, aber 62": what was said after it is the answer.
                turn.drop_pending()
                self._understood(question, replace(more, literal=False))
            elif talk.nothing or not talk.pending:
                turn.drop_pending()
                turn.leave("none")
            else:
                turn.give(question, talk.pending, proposed=talk.proposed)
            return True
        turn.drop_pending()
        ends = not self.beside or is_end(self.beside, self.language)
        reading = None if ends else turn.read(question, self.beside)
        if isinstance(reading, Read) and reading.answers and question.item.type != "boolean":
            own = any(answer.type == "string" for answer in reading.answers)
            self._understood(question, replace(reading, literal=reading.literal and not own))
        elif talk.proposed:
            turn.note(declined=True)
            turn.ask(brief=True)
        else:
            turn.fail(question, "corrected")
        return True

    def _pending_is_no(self, question: AskItem) -> bool:
        """Say whether what was read back is a no."""
        pending = self.turn.talk.pending or ()
        options = readable_options(question.options, self.language)
        called = [words(each.labels[0]) for each in options if each.answer in pending]
        return any(answer.value is False for answer in pending) or called in ([["no"]], [["nein"]])

    def _doubts(self, question: AskItem) -> bool:
        """Ask again for yes or no, unless the message is an answer, or a question of its own."""
        turn, talk = self.turn, self.turn.talk
        declined = talk.declined or talk.proposed
        if self.asks != "clear" and self._replaces(turn.read(question, self.text)):
            turn.drop_pending(declined=declined)
            return False
        if has_second_thoughts(self.text, self.language):
            turn.drop_pending(declined=declined)
            self._note_too(question)
            turn.fail(question, "corrected")
        elif self.asks != "no":
            return False
        elif talk.tries + 1 >= MOST_TRIES:
            turn.fail(question, "not_understood")
        else:
            turn.note(tries=talk.tries + 1)
            turn.say("yes_or_no")
            turn.read_back(question)
        return True

    def _replaces(self, reading: Reading) -> bool:
        """Say whether a reply to "is that right?" is another answer: not just any words, where any are an answer."""
        if isinstance(reading, Read) and not self.turn.talk.proposed:
            return any(answer.type != "string" for answer in reading.answers)
        return not isinstance(reading, NotUnderstood)

    # Replies to "anything else?"

    def _take_another(self, step: AskAnother) -> None:
        turn = self.turn
        # A long sentence with "no" in it is an answer where any words are one.
        answers = step.item.type in FREE_TEXT and len(words(self.beside)) > MOST_AFTER_NO
        declines = self.yes is False and not answers
        silent = step.item.type != "group" and isinstance(
            turn.read(turn.question(step.path), self.text), DontKnow | Refused
        )
        if is_end(self.text, self.language) or declines or silent:
            turn.leave("skipped")
        elif self.yes:
            self._begin_another(step)
            if not (self.beside and self._answers_ahead(self.beside, sure=False)):
                turn.go_on()
        else:
            # The next answer itself may be meant as a "yes"; in a group, that it begins another instance is guessed.
            before = turn.session
            if self.asks != "clear":
                self._begin_another(step)
                if self._answers_ahead(self.text, sure=step.item.type != "group"):
                    return
            turn.session = before
            turn.aside = "clear" if self.asks == "clear" else "maybe"
            turn.say("on_with")
            turn.ask(brief=True)

    def _begin_another(self, step: AskAnother) -> None:
        if step.item.type == "group":
            self.turn.onward()
            self.turn.apply(GroupAdded(step.path))
        else:
            self.turn.open_again(step.path, more=True)

    def _answers_ahead(self, rest: str, *, sure: bool) -> bool:
        """Read words as the answer to the question that follows; unless `sure`, they are read back."""
        question = self.turn.step
        reading = self.turn.read(question, rest) if isinstance(question, AskItem) else None
        if not isinstance(question, AskItem) or not isinstance(reading, Read) or not reading.answers:
            return False
        if self.turn.problems(question.path, self._with_earlier(question, reading.answers)):
            return False
        self._understood(question, Read(reading.answers, literal=sure and reading.literal))
        return True

    # Commands

    def _obey(self, command: Command) -> None:
        """Do what the patient wants instead of answering."""
        turn = self.turn
        match command.kind:
            case "change":
                self._change(command.target)
            case "skip":
                turn.leave("skipped")
            case "pause":
                turn.note(phase="paused")
                turn.say("paused")
            case "resume" | "repeat":
                turn.ask()
            case "back" if (before := question_before(turn)) is not None:
                turn.revisit(before)
            case _:
                self._tell(command)
                turn.ask(brief=True)

    def _tell(self, command: Command) -> None:
        """Say what the patient wants to know before the question comes again."""
        turn, step = self.turn, self.turn.step
        item = step.item if isinstance(step, AskItem | AskAnother) else None
        helps = item.presentation.help if item else ()
        if command.kind == "summary":
            turn.show_summary(closing=False)
        elif command.kind == "back":
            turn.say("no_way_back")
        elif command.kind == "help":
            turn.say("how_to")
            if isinstance(step, AskItem):
                turn.say_example(step.item)
        elif item and any(text.into(self.language) for text in helps):
            turn.quote(item, "help", times=len(helps))
        else:
            turn.say("why_unknown")

    # Changing an answer

    def _change(self, target: str) -> None:
        """Find the question that is to be answered anew."""
        turn, form = self.turn, self.turn.form
        settled = settled_questions(form, turn.session.filling)
        number = number_meant(target)
        if number is not None and turn.talk.listed:
            self._change_number(number)
            return
        named = bool(target) and number is None
        found = questions_meant(form, settled, target, self.language) if named else []
        if len(found) == 1:
            turn.revisit(found[0])
        elif not settled:
            turn.say("change_nothing")
            turn.ask(brief=True)
        else:
            turn.choose(found or settled, "change_unknown" if named and not found else "change_which")

    def _change_number(self, number: int) -> None:
        """Open the question with this number in the list that was shown."""
        turn, listed = self.turn, self.turn.talk.listed
        if not 1 <= number <= len(listed):
            turn.say("number_unknown", total=len(listed))
        elif turn.engine.exists(turn.session.filling, listed[number - 1]):
            turn.revisit(listed[number - 1])
        else:
            turn.onward()
            turn.go_on()

    def _take_choice(self) -> None:
        """Take the reply to "which answer would you like to change?"."""
        turn, command, listed = self.turn, self.command, self.turn.talk.listed
        if command is not None and command.kind == "change":
            self._change(command.target)
        elif command is not None or agrees(self.text, self.language) is not None:
            turn.onward()
            if command is None or command.kind in ("back", "skip", "resume", "repeat"):
                turn.go_on()
            else:
                self._obey(command)
        elif self._corrects():
            return
        elif not (found := questions_meant(turn.form, listed, self.text, self.language)):
            turn.aside = "maybe"
            turn.say("change_which")
        elif len(found) > 1:
            turn.choose(found, "change_which")
        else:
            turn.revisit(found[0])

    def _take_agreement(self) -> None:
        """Take the reply to the summary."""
        turn, command, agreed = self.turn, self.command, agrees(self.text, self.language)
        may_correct = len(words(self.text)) > 1 and self.asks != "clear" and command is None
        if may_correct and self._corrects():
            return
        if agreed is True or (agreed is None and command is not None and command.kind == "skip"):
            turn.finish()
        elif agreed is False:
            turn.say("change_which")
            turn.note(phase="choosing")
        elif command is None:
            turn.aside = "maybe"
            turn.say("summary_check")
        elif command.kind in ("resume", "repeat", "summary"):
            turn.show_summary(closing=True)
        else:
            self._obey(command)

    def _corrects(self, *, plainly: bool = False) -> bool:
        """Take the message as a correction of an earlier answer, if it is one; say whether it was.

        What can be read as the new answer is read back, otherwise the question is asked again. An answer that waits to
        be confirmed waits on. `plainly`: only where a new answer is set against the old one.
        """
        turn, step, talk = self.turn, self.turn.step, self.turn.talk
        found = find_correction(turn, self.text, plainly=plainly)
        if found is None:
            return False
        if talk.phase == "asking" and isinstance(step, AskItem) and talk.pending and not talk.proposed:
            turn.note(kept=talk.pending, kept_for=step.path)
        path = self._in_another_instance(found.path) if found.adds else found.path
        if not found.answers:
            turn.revisit(path)
            return True
        item, answers = turn.item(path), found.answers
        alone = [option.answer for option in item.options if option.exclusive]
        if path == found.path and item.repeats and not any(answer in alone for answer in answers):
            answers = _different([*(each for each in turn.answers(path) if each not in alone), *answers])
        turn.open_again(path, pending=answers)
        turn.parts.append(name_of(item.link_id))
        turn.read_back(turn.question(path))
        return True

    def _in_another_instance(self, path: Path) -> Path:
        """Return the place of a question in one more instance of the group around it, where there can be one."""
        turn = self.turn
        for depth in range(len(path) - 1, 0, -1):
            group = turn.item(path[:depth])
            own = first(path[:depth])
            repeats = group.type == "group" and group.repeats
            count = turn.session.filling.count(group, own) if repeats else 0
            if count and (group.most is None or count < group.most) and turn.answers(path):
                new = (*own[:-1], (group.link_id, count))
                turn.apply(GroupAdded(new))
                return (*new, *path[depth:])
        return path


def _different(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Return answers without repetitions."""
    kept: list[Answer] = []
    for answer in answers:
        if answer not in kept:
            kept.append(answer)
    return tuple(kept)

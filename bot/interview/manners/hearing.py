"""What one message of the patient does: an answer, yes or no to what was read back, a command, a correction. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.interview.form.form import Item, Path
from bot.interview.manners.agreement import asks_consent, asks_yes_or_no, begins_with_no, is_no, just_agrees
from bot.interview.manners.changing import ChangingTurn, different
from bot.interview.manners.listening import (
    FREE_TEXT,
    NUMBERS,
    WORDS,
    asks_for_another,
    has_second_thoughts,
    is_end,
    is_listed,
    number_meant,
    own_words,
    tells_more,
    tells_something,
)
from bot.interview.manners.meant import questions_complained_of
from bot.interview.manners.turn import MOST_TRIES, choices_of, is_unlisted
from bot.interview.reading.reading import Ambiguous, DontKnow, NotUnderstood, Read, Reading, Refused
from bot.interview.values.answer import Answer
from bot.interview.walk.engine import AskAnother, AskItem
from bot.interview.walk.filling import GroupAdded, MarkedForStaff, Noted
from bot.text import sanitise, words

# Reasons that show no attempt at an answer: such a message may be a question to the assistant.
_NO_ATTEMPT = frozenset({"nothing", "not-listed", "yes-no", "url", "not-in-chat"})
# Numbers that were understood and cannot be taken.
MEASURED = frozenset({"unit-missing", "implausible"})
MOST_AFTER_NO = 3  # a longer remainder after "no" is an answer of its own, where any text is one


class Hearing(ChangingTurn):
    """A turn in which the patient says something; any text at all."""

    def take(self) -> None:
        """Take the message, whatever is open."""
        phase = self.talk.phase
        number = number_meant(self.text)
        if not sanitise(self.text).text:
            self.say("why_empty")
            self.ask_open()
        elif self.hear_of_file(self.text):
            pass
        elif phase == "finished":
            if self.wants == "change":
                self.change()
            elif self.asks == "clear" or not self.corrects():
                self.aside = "clear"
        elif phase == "paused":
            if self.wants in ("resume", "repeat", "back", "skip"):
                self.note(phase="asking")
                self.resume()
            else:
                self.aside = "clear"
        elif phase == "asking":
            self._take_reply()
        elif number is not None and phase != "who":
            self.change_number(number)
        else:
            self.take_list_reply()

    def not_answered(self) -> None:
        """Take a message that turned out to be no question that anybody can answer."""
        step = self.step
        if self.talk.phase == "who":
            self.note(tries=1)
            self.say("who_again")
            self.ask_who()
        elif self.talk.phase != "asking" or not isinstance(step, AskItem | AskAnother):
            self.say("no_pairs" if self.asks == "clear" else "not_understood")
            self.ask_open()
        elif self.asks_meaning:
            self.tell()
            self.ask(brief=True)
        elif isinstance(step, AskAnother):
            # The third time, take it that there is nothing else.
            if self.talk.tries + 1 >= MOST_TRIES:
                self.leave("skipped")
                return
            self.note(tries=self.talk.tries + 1)
            self.say("yes_or_no")
            self.ask(brief=True)
        elif self.asks != "clear":
            self._react(step, self.read(step, self.text))
        else:
            self._leave_to_team(step)

    def _leave_to_team(self, question: AskItem) -> None:
        """Take a question where there is room for anything as meant for the team, if the patient agrees."""
        reading = self.read(question, self.text)
        if question.item.type not in FREE_TEXT or not isinstance(reading, Read):
            self.say("no_pairs")
            self._ask_again(question)
            return
        answers = self._with_earlier(question, reading.answers)
        if problems := self.problems(question.path, answers):
            self.fail(question, "", problems)
        else:
            self.propose(answers)
            self.repeat("as_answer", question.path, reading.answers)

    def place_of_words(self) -> Path:
        """Return where a message is kept in the patient's words, whatever it is; empty where nothing may be kept.

        That is the question that is open, else the last one for free text, which is for all that was not asked; at the
        question for consent, and after a "no" to it, that one: whoever names something then wants it to be known.
        """
        step, filling = self.step, self.session.filling
        if self.talk.phase == "asking" and isinstance(step, AskItem | AskAnother) and step.item.is_question:
            return step.path
        asked = [path for path in reversed(list(self.engine.questions(filling))) if not self.row_around(path)]
        found = (path for path in asked if self.item(path).type == "text")
        return next(found, next((path for path in asked if asks_consent(self.item(path))), ()))

    # Replies to a question

    def _take_reply(self) -> None:
        step = self.step
        if self.wants and not self.picks(self.text):
            waits = self.talk.pending is not None and not self.talk.proposed
            if self.wants == "skip" and waits and isinstance(step, AskItem):
                self.say("yes_or_no")
                self.read_back(step)
            else:
                self.drop_pending()
                self.obey()
        elif isinstance(step, AskAnother):
            self._take_another(step)
        elif not isinstance(step, AskItem):
            self.go_on()
        elif (row := self.row_around(step.path)) and self._asks_for_another(self.item(row)):
            # Nobody is led into another row before this one is done, or left in an empty one.
            self.say("go_ahead" if self.empty_row(step.path) else "row_first")
            self._ask_again(step)
        elif self._takes_back(step):
            taken = self.talk.taken
            others = [path for path in self.engine.waiting(self.session.filling) if path != taken]
            if not questions_complained_of(self, (taken,), self.text) and self.reopen_named(others):
                return  # what was shown last is not what the patient means
            self.open_again(taken)
            self._note_too(self.question(taken))
            self.fail(self.question(taken), "corrected")
        elif not self._corrects_instead(step) and not (self.talk.pending is not None and self._confirms(step)):
            self._take_answer(step)

    def _takes_back(self, question: AskItem) -> bool:
        """Say whether a message takes back what waits and was shown last, and is no answer to the open question."""
        bare = self.yes is not None and not self.beside
        taken, decides = self.talk.taken, self.reader.decisions.rules
        waits = taken in self.session.filling.waiting and has_second_thoughts(self.text, self.language)
        if not waits or bare or self.takes(question, self.text):
            return False
        # "Nope, just a plate in the ankle" is said to what was asked, unless it names what waits.
        denies = bool(decides) and begins_with_no(self.text, self.language)
        named = " ".join(words(self.text)[1:])  # that "no" is the answer that waits says nothing
        corrects = not WORDS["correcting_words"].isdisjoint(words(self.text))
        return not denies or (corrects and bool(questions_complained_of(self, (taken,), named)))

    def _corrects_instead(self, question: AskItem) -> bool:
        """Take a message as the correction of an earlier answer where it is no reply to the open question."""
        if self.asks == "clear":
            return False
        if self.corrects(plainly=True):
            return True
        any_words = question.item.type in FREE_TEXT or bool(question.item.open and question.options)
        if any_words or self.takes(question, self.text):
            return False
        confirms = self.yes is not None and self.talk.pending is not None
        return not confirms and self.corrects()

    def _take_answer(self, question: AskItem) -> None:
        reading = self.read(question, self.text)
        literal = isinstance(reading, Read) and reading.literal and question.item.type not in FREE_TEXT
        if self._says_bare_yes(question, reading):
            self.fail(question, "which_one" if question.options else "go_ahead")
        elif self.asks == "clear" and not literal:
            self.aside = "clear"
        elif isinstance(reading, NotUnderstood) and (self.asks == "maybe" or reading.why in _NO_ATTEMPT):
            self.aside = "maybe"
        else:
            self._react(question, reading)
        if self.aside != "no":
            self.say("on_with")
            self._ask_again(question)

    def _says_bare_yes(self, question: AskItem, reading: Reading) -> bool:
        """Say whether the patient said yes to a list, or to room for words: they mean something, but not yet what."""
        if not self.yes or self.beside:
            return False
        just_yes = (WORDS["plain_yes"] | WORDS["going_on"]).issuperset(words(self.text))
        if question.item.type in FREE_TEXT and not question.options:
            return self.talk.tries == 0 and just_yes
        own = just_yes and isinstance(reading, Read) and not is_listed(reading, question)
        return bool(question.options) and (own or isinstance(reading, NotUnderstood))

    def _ask_again(self, question: AskItem) -> None:
        if self.talk.pending is not None:
            self.read_back(question)
        else:
            self.ask(brief=True)

    def _react(self, question: AskItem, reading: Reading) -> None:
        match reading:
            case Read():
                if tells_more(question.item, self.text, reading, self.language):
                    self._note_too(question)
                self._understood(question, reading)
            case DontKnow():
                self.leave("dont_know")
            case Refused():
                self.leave("refused")
            case Ambiguous():
                if self.talk.tries + 1 >= MOST_TRIES:
                    self.fail(question, "not_understood")
                    return
                meant = tuple(option.answer for option in reading.options)
                self.note(between=meant, tries=self.talk.tries + 1, pending=None)
                self.say("which_one")
                self.choices = choices_of(question.item, [each for each in question.options if each.answer in meant])
            case NotUnderstood() if is_unlisted(question) and (said := self.noted(question)) is not None:
                self.repeat("noted", question.path, (said,))
                self.apply(MarkedForStaff(question.path, "in the patient's own words"))
                self.onward()
                self.go_on()
            case NotUnderstood():
                # A number without its unit was understood well enough to be asked for again.
                kept = None if reading.why in MEASURED else self.noted(question, unfit=question.item.type in FREE_TEXT)
                self.fail(question, f"why_{reading.why.replace('-', '_')}", kept=kept)

    def noted(self, question: AskItem, *, beside: bool = False, unfit: bool = False) -> Answer | None:
        """Keep the message in the patient's words, for the team, and return it; None where it tells nothing.

        `beside`: beside an answer, where a year tells enough; `unfit`: as one that breaks a limit, where all does.
        """
        item = question.item
        bare = self.yes is not None and not self.beside
        if bare or asks_consent(item) or (item.type in FREE_TEXT and not unfit):
            return None
        digits = [word for word in words(self.text) if any(letter.isdecimal() for letter in word)]
        counts = bool(digits) and (unfit or (item.type in NUMBERS and not beside))
        year = beside and any(len(word) == 4 for word in digits)
        said = own_words(self.text) if year or counts or tells_something(self.text) else None
        if said is not None:
            self.apply(Noted(question.path, str(said.value)))
        return said

    def _note_too(self, question: AskItem) -> None:
        said = self.noted(question, beside=True)
        if said is not None:
            self.repeat("noted_too", question.path, (said,))

    def _understood(self, question: AskItem, reading: Read) -> None:
        """Take answers that were read: at once when they were said in so many words, else after reading them back."""
        answers = self._with_earlier(question, reading.answers)
        if not reading.answers and reading.literal:
            self.drop_pending()
            self.leave("none")
        elif not reading.answers:
            self.propose((), nothing=True)
            self.read_back(question)
        elif problems := self.problems(question.path, answers):
            # What was understood and does not fit is all that the team may ever get of it.
            self.fail(question, "", problems, kept=self.noted(question, unfit=True))
        elif reading.literal and (
            self.talk.revisit == question.path or question.path not in self.session.filling.waiting
        ):
            self.give(question, answers, exact=True)
        elif self.let_wait(question, answers):
            place = len(self.parts)
            self.onward()
            self.go_on()
            self.show_taken(question.path, "waits", answers, place)
        else:
            self.propose(answers)
            self.note(between=())
            self.read_back(question)

    def _with_earlier(self, question: AskItem, answers: Sequence[Answer]) -> tuple[Answer, ...]:
        """Return answers besides those that stand at the question, where one more was asked for."""
        stands = self.session.filling.waiting.get(question.path, self.answers(question.path))
        return different([*(stands if self.talk.more else ()), *answers])

    # Replies to what was read back

    def _confirms(self, question: AskItem) -> bool:
        """Take the reply to "is that right?"; say whether the message was such a reply."""
        talk = self.talk
        if talk.proposed and self._answers_beside(question, talk.pending or ()):
            return True
        if self.yes is None:
            return self._doubts(question)
        if self._names_another(question):
            return True
        if self.yes:
            more = self.read(question, self.beside) if self.beside and question.item.type not in FREE_TEXT else None
            if self.beside and is_no(question, talk.pending or (), self.language):
                # "Yes, I have had it", to "I understood: No": that may be meant against it.
                self.drop_pending()
                self.fail(question, "corrected", kept=self.noted(question))
            elif isinstance(more, Read) and more.answers and self._replaces(more) and more.answers != talk.pending:
                # "Ja, aber 62": what was said after it is the answer.
                self.drop_pending()
                self._understood(question, replace(more, literal=False))
            elif talk.nothing or not talk.pending:
                self.drop_pending()
                self.leave("none")
            else:
                self.give(question, talk.pending, proposed=talk.proposed)
            return True
        self.drop_pending(declined=talk.declined or talk.proposed)
        said = self.read(question, self.text) if talk.proposed else None
        if isinstance(said, Read) and said.answers != talk.pending and is_no(question, said.answers, self.language):
            self._react(question, said)  # "no", to "My suggestion: Yes"
            return True
        ends = not self.beside or is_end(self.beside, self.language)
        reading = None if ends else self.read(question, self.beside)
        if isinstance(reading, Read) and reading.answers and question.item.type != "boolean":
            own = any(answer.type == "string" for answer in reading.answers)
            self._understood(question, replace(reading, literal=reading.literal and not own))
        elif talk.proposed:
            self.ask(brief=True)
        else:
            self.fail(question, "corrected")
        return True

    def _answers_beside(self, question: AskItem, proposed: tuple[Answer, ...]) -> bool:
        """Take yes or no as the answer to the question, not to what is proposed; say whether the message was either."""
        if not asks_yes_or_no(question):
            return False
        said = self.read(question, self.text)
        if just_agrees(self.text) or (isinstance(said, Read) and said.answers == proposed):
            self.give(question, proposed, proposed=True)
        elif isinstance(said, Read) and said.answers:
            self.drop_pending(declined=True)
            self._react(question, replace(said, literal=False))
        elif any(each.value is True for each in proposed) and begins_with_no(self.text, self.language):
            self._react(question, Read((Answer("boolean", False),), literal=False, remainder=self.text))
        else:
            return False
        return True

    def _names_another(self, question: AskItem) -> bool:
        """Take words that may agree, but are what another option is called: "right" to "Left. Is that right?"."""
        said = words(self.text)
        if not (self.yes and question.options) or WORDS["plain_yes"].issuperset(said):
            return False
        reading = self.read(question, self.text)
        pending = self.talk.pending or ()
        if isinstance(reading, Read):
            another = is_listed(reading, question) and not any(answer in pending for answer in reading.answers)
        else:
            another = isinstance(reading, Ambiguous) and not any(each.answer in pending for each in reading.options)
        if not another:
            return False
        # From a suggestion of the form the patient chooses; what they said themselves before is read back once more.
        proposed = self.talk.proposed
        self.drop_pending(declined=self.talk.declined or proposed)
        if isinstance(reading, Read) and not proposed:
            reading = replace(reading, literal=False)
        self._react(question, reading)
        return True

    def _doubts(self, question: AskItem) -> bool:
        """Ask again for yes or no, unless the message is an answer, or a question of its own."""
        talk = self.talk
        declined = talk.declined or talk.proposed
        if self.asks != "clear" and self._replaces(self.read(question, self.text)):
            self.drop_pending(declined=declined)
            return False
        if has_second_thoughts(self.text, self.language):
            self.drop_pending(declined=declined)
            self._note_too(question)
            self.fail(question, "corrected")
        elif self.asks != "no":
            return False
        elif talk.tries + 1 >= MOST_TRIES:
            self.fail(question, "not_understood")
        else:
            self.note(tries=talk.tries + 1)
            self.say("yes_or_no")
            self.read_back(question)
        return True

    def _replaces(self, reading: Reading) -> bool:
        """Say whether a reply to "is that right?" is another answer: not just any words, where any are an answer."""
        if isinstance(reading, Read) and not self.talk.proposed:
            return any(answer.type != "string" for answer in reading.answers)
        return not isinstance(reading, NotUnderstood)

    # Replies to "anything else?"

    def _take_another(self, step: AskAnother) -> None:
        # A long sentence with "no" in it is an answer where any words are one.
        answers = step.item.type in FREE_TEXT and len(words(self.beside)) > MOST_AFTER_NO
        declines = self.yes is False and not answers
        reading = self.read(self.question(step.path), self.text) if step.item.type != "group" else None
        silent = isinstance(reading, DontKnow | Refused)
        if is_end(self.text, self.language) or declines or silent:
            self.leave("skipped")
        elif self.yes or self._asks_for_another(step.item):
            self._begin_another(step)
            if not (self.yes and self.beside and self._answers_ahead(self.beside, sure=False)):
                self.go_on()
        else:
            # The next answer itself may be meant as a "yes"; in a group, that it begins another instance is guessed.
            before = self.session
            if self.asks != "clear":
                self._begin_another(step)
                if self._answers_ahead(self.text, sure=step.item.type != "group"):
                    return
            self.session = before
            self.aside = "clear" if self.asks == "clear" else "maybe"
            self.say("on_with")
            self.ask(brief=True)

    def _asks_for_another(self, item: Item) -> bool:
        """Say whether the message asks for one more row, or answer, of an item."""
        names = (item.text.into(self.language), item.presentation.short.into(self.language), *item.synonyms)
        return asks_for_another(self.text, names, self.language)

    def _begin_another(self, step: AskAnother) -> None:
        if step.item.type == "group":
            self.onward()
            self.apply(GroupAdded(step.path))
        else:
            self.open_again(step.path, more=True)

    def _answers_ahead(self, rest: str, *, sure: bool) -> bool:
        """Read words as the answer to the question that follows; unless `sure`, they are read back."""
        question = self.step
        reading = self.read(question, rest) if isinstance(question, AskItem) else None
        if not isinstance(question, AskItem) or not isinstance(reading, Read) or not reading.answers:
            return False
        if self.problems(question.path, self._with_earlier(question, reading.answers)):
            return False
        self._understood(question, Read(reading.answers, literal=sure and reading.literal))
        return True

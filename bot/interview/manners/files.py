"""Files as answers: taken, taken out again, and what a message says of them. Pure.

A patient may say of a file that it is to go, or is the wrong one; where one is asked for, that it comes along to the
appointment, that there is none, or how to send it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.interview.form.form import Path
from bot.interview.manners.listening import WORDS, Listener, own_words, question_like, tells_something
from bot.interview.manners.turn import OpenTurn
from bot.interview.reading.reading import DontKnow, Read, Refused
from bot.interview.reading.yesno import read_yes_no
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import as_object, string
from bot.interview.walk.engine import AskAnother, AskItem
from bot.interview.walk.filling import Cleared, Given, MarkedForStaff, Noted, Skipped
from bot.text import words

# What a message says of a file; "removable": whether one can be taken out again.
Word = Literal["remove", "wrong", "removable", "brings", "none", "how"]
MOST_WORDS = 14  # a longer message tells a story
MOST_BARE = 5  # words of a message that means the file of the open question without naming it


def sent_files(listener: Listener) -> list[tuple[Path, Answer]]:
    """Return the files that stand as answers, with their questions, in the order in which they came."""
    answers = listener.session.filling.answers
    standing = [(path, each) for path, given in answers.items() for each in given if each.type == "attachment"]
    came = [event.path for event in listener.session.events if isinstance(event, Given)]
    last = {path: number for number, path in enumerate(came)}
    return sorted(standing, key=lambda found: last.get(found[0], -1))


def wants_file(listener: Listener) -> bool:
    """Say whether a file would answer what is open."""
    step = listener.step if listener.talk.phase == "asking" else None
    return isinstance(step, AskItem | AskAnother) and step.item.type == "attachment"


def said_of_file(listener: Listener, text: str) -> Word | None:
    """Return what a message says of a file; None where it is about something else, or is the answer itself."""
    said, asks = words(text), question_like(text, listener.language)
    if not said or len(said) > MOST_WORDS:
        return None
    wanted = wants_file(listener)
    if sent_files(listener) and (word := _of_sent(said, asks != "no", wanted)):
        return word
    return _of_wanted(listener, text, said, asks != "no") if wanted else None


def _of_sent(said: Sequence[str], asks: bool, wanted: bool) -> Word | None:
    """Return what words say of a file that was sent."""
    there = set(said)
    named = bool(there & WORDS["file_words"])
    if not (named or (wanted and len(said) <= MOST_BARE)):
        return None
    goes = bool(there & WORDS["removing_words"] or (there & WORDS["taking_words"] and there & WORDS["away_words"]))
    denied = there & WORDS["denying_words"]
    if goes and not denied:
        own = asks and there & {"ich", "i", "man", "wie", "how"} and said[0] not in WORDS["willing_words"]
        return "removable" if own else "remove"
    if asks:
        return None
    if denied and not goes:
        takes_back = named and there & WORDS["handing_words"] and denied & WORDS["none_words"]
        return "remove" if takes_back or (wanted and denied <= WORDS["none_words"]) else None
    other = named and there & WORDS["other_words"] and there & WORDS["sending_words"]
    return "wrong" if there & WORDS["wrong_words"] or other else None


def _of_wanted(listener: Listener, text: str, said: Sequence[str], asks: bool) -> Word | None:
    """Return what a message says where a file is asked for."""
    step, there = listener.step, set(said)
    if not isinstance(step, AskItem | AskAnother):
        return None
    reading = listener.read(listener.question(step.path), text)
    if isinstance(reading, Read | DontKnow | Refused):
        return None
    opened = next((number for number, word in enumerate(said) if word in WORDS["how_words"]), -1)
    if asks or 0 <= opened <= 2:
        measured = said[opened + 1 : opened + 2] and said[opened + 1] in WORDS["measuring_words"]
        return "how" if opened >= 0 and not measured and there & WORDS["sending_words"] else None
    denied = there & WORDS["denying_words"]
    along = there & WORDS["along_words"] or (there & WORDS["carrying_words"] and there & WORDS["with_words"])
    if along and not denied:
        return "brings"
    if isinstance(step, AskAnother):
        return None
    yes_or_no = read_yes_no(text, language=listener.language)
    if isinstance(yes_or_no, Read) and not yes_or_no.remainder:
        return "how" if yes_or_no.answers[0].value is True else "none"
    if denied and there & (WORDS["along_words"] | WORDS["at_hand_words"]):
        return "brings"  # not at hand now
    has_none = denied & WORDS["none_words"] or (denied and there & WORDS["having_words"])
    return "none" if has_none else None


class FileTurn(OpenTurn):
    """A turn about files."""

    def take_file(self, file: Answer) -> bool:
        """Take an attachment as the answer to the open question, or as one more; say whether it may be one."""
        step = self.step
        if not isinstance(step, AskItem | AskAnother):
            return False
        before = self.answers(step.path) if self.talk.more or isinstance(step, AskAnother) else ()
        if self.problems(step.path, (*before, file)):
            return False
        if isinstance(step, AskAnother):
            self.open_again(step.path, more=True)
        self.repeat("file_taken", step.path, (file,))
        self.give(self.question(step.path), (*before, file))
        return True

    def remove_file(self, path: Path, file: Answer, *, ask_again: bool = False) -> None:
        """Take a file out of the answers; `ask_again`: and ask for another, unless all was agreed to before."""
        step, phase = self.step, self.talk.phase
        waits = phase == "asking" and self.talk.pending is not None and not self.talk.proposed
        if waits and isinstance(step, AskItem) and step.path != path:
            self.note(kept=self.talk.pending, kept_for=step.path)
        left = tuple(each for each in self.answers(path) if each != file)
        self.apply(Given(path, left) if left else Cleared(path))
        self.repeat("file_removed", path, (file,))
        if phase in ("summary", "choosing", "finished") and not left and (phase == "finished" or not ask_again):
            out = MarkedForStaff(path, "removed") if self.item(path).required else Skipped(path)
            self.apply(out)
        if phase == "finished":
            # Whoever wants a file back should not have to agree to all the rest again before the team is told.
            self.say("file_removed_sent")
            self.finish()
        elif phase in ("summary", "choosing") and not ask_again:
            self.show_summary(closing=True)
        elif phase != "paused":
            self.open_again(path, more=bool(left))
            self.say("file_send_other")
            self.ask(brief=True)

    def hear_of_file(self, text: str) -> bool:
        """Do what a message says of a file, if it says anything of one; say whether it did."""
        word, step = said_of_file(self, text), self.step
        if word is None:
            return False
        if word in ("remove", "wrong"):
            path, file = self._file_meant(text)
            self.remove_file(path, file, ask_again=word == "wrong")
        elif word in ("removable", "how"):
            self.say("file_removable" if word == "removable" else "file_how")
            self.say("on_with")
            self.ask_open(brief=True)
        elif isinstance(step, AskItem | AskAnother):
            self._leave_file(step, text, brings=word == "brings")
        return True

    def _leave_file(self, step: AskItem | AskAnother, text: str, *, brings: bool) -> None:
        """Go on without a file: it comes along to the appointment, which the team is told, or there is none."""
        path, before = step.path, self.answers(step.path)
        noted = tells_something(text) and (brings or step.item.required)
        if before and not self.talk.more and not brings:
            self.apply(Cleared(path))
        if noted:
            self.apply(Noted(path, str(own_words(text).value)))
        self.say("file_brought" if brings else "file_none")
        if noted:
            self.repeat("noted", path, (own_words(text),))
        if isinstance(step, AskAnother) or self.talk.more:
            self.leave("skipped")
            return
        if noted:
            self.apply(MarkedForStaff(path, "in the patient's own words"))
        else:
            self.apply(MarkedForStaff(path, "none") if step.item.required else Skipped(path, "none"))
        self.onward()
        self.go_on()

    def _file_meant(self, text: str) -> tuple[Path, Answer]:
        """Return the file that a message means: by its name, its kind or its question, else that which came last."""
        said, step, wanted = set(words(text)), self.step, wants_file(self)
        own = step.path if wanted and isinstance(step, AskItem | AskAnother) else ()

        def fit(found: tuple[Path, Answer]) -> tuple[int, int, int]:
            path, value = found[0], as_object(found[1].value)
            stem = words(string(value, "title").rpartition(".")[0])
            item = self.item(path)
            asked = set(words(f"{item.text.into(self.language)} {item.presentation.short.into(self.language)}"))
            kind = string(value, "contentType")
            is_kind = "picture_words" if kind.startswith("image/") else "paper_words"
            telling = said - WORDS["empty_words"] - WORDS["common_words"]
            return bool(stem) and said.issuperset(stem), bool(said & WORDS[is_kind]) + len(telling & asked), path == own

        files = sent_files(self)
        best = max(map(fit, files))
        return [found for found in files if fit(found) == best][-1]

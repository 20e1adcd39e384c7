"""What a reply does to the open question: taken, read back, not understood, declined. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.interview.form.form import Item
from bot.interview.manners.asking import MOST_TRIES, ask, choice_part, failed, go_on
from bot.interview.manners.exchange import Exchange
from bot.interview.manners.listening import is_listed, question_like, read_reply, readable_options, unusual
from bot.interview.manners.summary import say_problems
from bot.interview.reading.reading import Ambiguous, DontKnow, NotUnderstood, Read, Reading, Refused
from bot.interview.reading.yesno import read_yes_no
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import objects, string
from bot.interview.walk.engine import AskAnother, AskItem
from bot.interview.walk.filling import Cleared, Given, MarkedForStaff, NoMore, Noted, Skipped
from bot.sentences.interview_texts import END_PHRASES, SECOND_THOUGHTS
from bot.text import sanitise, words

# Reasons that show no attempt at an answer: such a message may be a question to the assistant.
_NO_ATTEMPT = frozenset({"nothing", "not-listed", "yes-no", "url", "not-in-chat"})
_SOUNDS = frozenset({"hmm", "hmmm", "aeh", "aehm", "ehm", "uhm", "umm", "tja"})
FREE_TEXT = frozenset({"string", "text"})
# Types of answers that are whatever the patient wrote.
OWN_WORDS = frozenset({"string", "uri", "attachment", "reference"})
# What is said of numbers that were understood and cannot be taken.
MEASURED = ("why_unit", "why_unit_missing", "why_implausible")
# Words beside an answer from which on a message may be about something else.
MANY_BESIDE = 3
# Words beside an answer from which on they are kept with it.
MUCH_BESIDE = 4
CONSENT_CODE = "59284-0"  # LOINC: Consent Document


def hear(x: Exchange, step: AskItem, text: str) -> None:
    """Take a reply to a question."""
    if x.talk.pending is not None and _confirmed(x, step, text):
        return
    reading, like = read(x, step, text), question_like(text, x.language)
    sure = isinstance(reading, Read) and reading.literal and step.item.type not in FREE_TEXT
    if _bare_yes(x, step, reading, text):
        failed(x, step, "which_one" if step.options else "go_ahead")
        return
    if like == "clear" and not sure:
        x.aside = "clear"
    elif isinstance(reading, NotUnderstood) and (like == "maybe" or reading.why in _NO_ATTEMPT):
        x.aside = "maybe"
    else:
        _react(x, step, reading, text)
        return
    x.say("on_with")
    _ask_again(x, step)


def _bare_yes(x: Exchange, step: AskItem, reading: Reading, text: str) -> bool:
    """Say whether the patient said yes to a list, or to room for words: they mean something, but not yet what."""
    said = read_yes_no(text, language=x.language)
    if not isinstance(said, Read) or said.answers[0].value is not True or said.remainder:
        return False
    if step.item.type in FREE_TEXT and not step.options:
        return x.talk.tries == 0
    return bool(step.options) and isinstance(reading, NotUnderstood)


def _ask_again(x: Exchange, step: AskItem) -> None:
    if x.talk.pending is not None:
        read_back(x, step)
    else:
        ask(x, brief=True)


def not_answered(x: Exchange, step: AskItem, text: str) -> None:
    """Take a message that turned out to be no question that anybody can answer."""
    reading = read(x, step, text)
    if question_like(text, x.language) != "clear":
        _react(x, step, reading, text)
    elif step.item.type in FREE_TEXT and isinstance(reading, Read):
        # A question where there is room for anything: it may be meant for the team.
        answers = with_earlier(x, step, reading.answers)
        if _refused(x, step, answers):
            return
        x.note(pending=answers, proposed=False, nothing=False)
        x.repeat("as_answer", step.item.link_id, reading.answers)
    else:
        x.say("no_pairs")
        _ask_again(x, step)


def read(x: Exchange, step: AskItem, text: str) -> Reading:
    said = text.strip().rstrip(".")
    if step.item.type == "boolean" and not step.options and said in ("1", "2"):
        return Read((Answer("boolean", said == "1"),), literal=True)
    left = [option for option in step.options if option.answer in x.talk.between]
    if left:
        reading = read_reply(text, step, language=x.language, now=x.now, options=left)
        if isinstance(reading, Read):
            return reading
    return read_reply(text, step, language=x.language, now=x.now)


def takes(x: Exchange, step: AskItem, text: str) -> bool:
    """Say whether a message is understood as an answer to a question: not just any words, and little beside it."""
    reading = read(x, step, text)
    if isinstance(reading, Read):
        listed = is_listed(reading.answers, step.options)
        own = any(answer.type in OWN_WORDS for answer in reading.answers) and not listed
        return not own and (reading.literal or len(words(reading.remainder)) < MANY_BESIDE) and _about_it(step, text, x)
    return isinstance(reading, DontKnow | Refused | Ambiguous)


def _about_it(step: AskItem, text: str, x: Exchange) -> bool:
    """Say whether a message that picks from a list is mostly about it: a label's word may stand anywhere."""
    said = words(text)
    if not step.options or len(said) < MANY_BESIDE:
        return True
    called = (
        word
        for option in readable_options(step.options, x.language)
        for label in option.labels
        for word in words(label)
    )
    known = frozenset(called) | frozenset(words(step.item.text.into(x.language)))
    return 2 * sum(word in known for word in said) >= len(said)


def _react(x: Exchange, step: AskItem, reading: Reading, text: str) -> None:
    match reading:
        case Read():
            if not reading.literal and _tells_more(reading.remainder) and note(x, step, text):
                x.repeat("noted_too", step.item.link_id, (own_words(text),))
            understood(x, step, reading)
        case DontKnow():
            leave(x, "dont_know")
        case Refused():
            leave(x, "refused")
        case Ambiguous():
            _which(x, step, reading)
        case NotUnderstood():
            why = f"why_{reading.why.replace('-', '_')}"
            # A number in a wrong unit was understood well enough to be asked for again.
            tells = why not in MEASURED and note(x, step, text)
            failed(x, step, why, kept=own_words(text) if tells else None)


def note(x: Exchange, step: AskItem, text: str) -> bool:
    """Keep what was said in the patient's words, for the team; say whether there was anything to keep.

    Nothing is kept before the patient has agreed to that.
    """
    said = own_words(text)
    bare = read_yes_no(text, language=x.language)
    tells = any(len(word) > 2 and not word.isdecimal() and word not in _SOUNDS for word in words(text))
    agrees = isinstance(bare, Read) and not bare.remainder
    if not tells or agrees or _asks_consent(step.item) or step.item.type in FREE_TEXT:
        return False
    x.apply(Noted(step.path, str(said.value)))
    return True


def own_words(text: str) -> Answer:
    """Return a message as the patient's own words."""
    return Answer("string", sanitise(text).text)


def _tells_more(remainder: str) -> bool:
    """Say whether what stands beside an answer is more than a frame for it."""
    return len(words(remainder)) > MUCH_BESIDE or any(word.isdecimal() for word in words(remainder))


def _asks_consent(item: Item) -> bool:
    coded = any(string(code, "code") == CONSENT_CODE for code in objects(item.raw, "code"))
    return item.type == "boolean" and (coded or item.link_id == "consent")


def understood(x: Exchange, step: AskItem, reading: Read) -> None:
    """Take answers that were read: at once when they were said in so many words, else after reading them back."""
    answers = with_earlier(x, step, reading.answers)
    if not reading.answers and reading.literal:
        x.note(pending=None, nothing=False, proposed=False)
        leave(x, "none")
    elif not reading.answers:
        x.note(pending=(), nothing=True, proposed=False)
        read_back(x, step)
    elif _refused(x, step, answers):
        return
    elif reading.literal:
        give(x, step, answers)
    else:
        x.note(pending=answers, nothing=False, proposed=False, between=())
        read_back(x, step)


def with_earlier(x: Exchange, step: AskItem, answers: Sequence[Answer]) -> tuple[Answer, ...]:
    earlier = x.answers(step.path) if x.talk.more else ()
    return tuple(without_repetition([*earlier, *answers]))


def without_repetition(answers: Sequence[Answer]) -> list[Answer]:
    """Return answers without repetitions."""
    kept: list[Answer] = []
    for answer in answers:
        if answer not in kept:
            kept.append(answer)
    return kept


def _refused(x: Exchange, step: AskItem, answers: tuple[Answer, ...]) -> bool:
    """Say what is wrong with answers, if anything is so wrong that they cannot be taken."""
    problems = x.engine.problems(x.session.filling, step.path, answers)
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        failed(x, step, "", errors)
    return bool(errors)


def read_back(x: Exchange, step: AskItem) -> None:
    """Say what was understood, and ask whether that is right."""
    if x.talk.nothing or x.talk.pending is None:
        own_words = step.item.type in FREE_TEXT and not step.options
        x.say("read_back_has_none" if own_words else "read_back_none")
    else:
        if unusual(x.talk.pending, step, language=x.language, now=x.now):
            x.say("unusual")
        x.repeat("proposal" if x.talk.proposed else "read_back", step.item.link_id, x.talk.pending)


def give(x: Exchange, step: AskItem, answers: tuple[Answer, ...], *, proposed: bool = False) -> None:
    """Accept answers and go on."""
    problems = x.engine.problems(x.session.filling, step.path, answers)
    say_problems(x, [problem for problem in problems if problem.severity == "warning"])
    x.apply(Given(step.path, answers, proposed=proposed))
    x.onward()
    go_on(x)


def _confirmed(x: Exchange, step: AskItem, text: str) -> bool:
    """Take the reply to "is that right?"; say whether the text was such a reply."""
    talk = x.talk
    said = read_yes_no(text, language=x.language)
    if not isinstance(said, Read):
        return _doubtful(x, step, text)
    if said.answers[0].value is True and said.remainder and _pending_no(x, step):
        # "Yes, I have had it", to "I understood: No": that may be meant against it.
        x.note(pending=None, nothing=False, proposed=False)
        failed(x, step, "corrected", kept=own_words(text) if note(x, step, text) else None)
        return True
    if said.answers[0].value is True:
        more = read(x, step, said.remainder) if said.remainder and step.item.type not in FREE_TEXT else None
        if isinstance(more, Read) and more.answers and _replaces(x, more) and more.answers != talk.pending:
            # "Ja, aber 62": what was said after it is the answer.
            x.note(pending=None, nothing=False, proposed=False)
            understood(x, step, replace(more, literal=False))
        elif talk.nothing or not talk.pending:
            x.note(pending=None, nothing=False)
            leave(x, "none")
        else:
            give(x, step, talk.pending, proposed=talk.proposed)
        return True
    x.note(pending=None, nothing=False, proposed=False)
    rest = "" if " ".join(words(said.remainder)) in END_PHRASES[x.language] else said.remainder
    reading = read(x, step, rest) if rest else None
    if isinstance(reading, Read) and reading.answers and step.item.type != "boolean":
        own = any(answer.type == "string" for answer in reading.answers)
        understood(x, step, Read(reading.answers, reading.literal and not own, reading.remainder))
    elif talk.proposed:
        x.note(declined=True)
        ask(x, brief=True)
    else:
        failed(x, step, "corrected")
    return True


def _pending_no(x: Exchange, step: AskItem) -> bool:
    """Say whether what was read back is a no."""
    options = readable_options(step.options, x.language)
    called = [" ".join(words(each.labels[0])) for each in options if each.answer in (x.talk.pending or ())]
    return any(answer.value is False for answer in x.talk.pending or ()) or called in (["no"], ["nein"])


def _doubtful(x: Exchange, step: AskItem, text: str) -> bool:
    """Ask again for yes or no, unless the message is an answer, or a question of its own."""
    like = question_like(text, x.language)
    if like != "clear" and _replaces(x, read(x, step, text)):
        x.note(pending=None, nothing=False, declined=x.talk.declined or x.talk.proposed, proposed=False)
        return False
    second_thoughts = _has_second_thoughts(text, x.language)
    if like != "no" and not second_thoughts:
        return False
    if second_thoughts:
        x.note(pending=None, nothing=False, declined=x.talk.declined or x.talk.proposed, proposed=False)
        if note(x, step, text):
            x.repeat("noted_too", step.item.link_id, (own_words(text),))
        failed(x, step, "corrected")
    elif x.talk.tries + 1 >= MOST_TRIES:
        failed(x, step, "not_understood")
    else:
        x.note(tries=x.talk.tries + 1)
        x.say("yes_or_no")
        read_back(x, step)
    return True


def _has_second_thoughts(text: str, language: str) -> bool:
    """Say whether a message begins by taking back what was said before: "hang on, I had one", "Moment, doch"."""
    said = " ".join(words(text)) + " "
    return any(said.startswith(f"{each} ") for each in SECOND_THOUGHTS[language])


def _replaces(x: Exchange, reading: Reading) -> bool:
    """Say whether a reply to "is that right?" is another answer: not just any words, where any words are an answer."""
    if isinstance(reading, Read) and not x.talk.proposed:
        return any(answer.type != "string" for answer in reading.answers)
    return not isinstance(reading, NotUnderstood)


def _which(x: Exchange, step: AskItem, reading: Ambiguous) -> None:
    """Ask which of several options was meant."""
    meant = tuple(option.answer for option in reading.options)
    if x.talk.tries + 1 >= MOST_TRIES:
        failed(x, step, "not_understood")
        return
    x.note(between=meant, tries=x.talk.tries + 1, pending=None)
    x.say("which_one")
    x.choices = tuple(choice_part(x, step.item, option) for option in step.options if option.answer in meant)


def leave(x: Exchange, reason: str) -> None:
    """Leave the open question without an answer; `reason`: skipped, dont_know, refused, or none of the options."""
    step = x.step
    if isinstance(step, AskAnother):
        x.apply(NoMore(step.path))
        x.onward()
        go_on(x)
        return
    if not isinstance(step, AskItem):
        return
    before = x.answers(step.path)
    if x.talk.more:
        x.apply(NoMore(step.path))
    elif before and reason == "skipped":
        x.repeat("kept", step.item.link_id, before)
    elif step.item.required and not x.talk.kindly:
        x.note(kindly=True, pending=None, proposed=False)
        x.say("kindly")
        ask(x, brief=True)
        return
    else:
        _let_go(x, step, reason, had_answer=bool(before))
    x.onward()
    go_on(x)


def _let_go(x: Exchange, step: AskItem, reason: str, *, had_answer: bool) -> None:
    if had_answer:
        x.apply(Cleared(step.path))
    if step.path in x.session.filling.noted:
        x.apply(MarkedForStaff(step.path, "in the patient's own words"))
        x.say("left_to_team")
    elif step.item.required:
        x.apply(MarkedForStaff(step.path, reason))
        x.say("left_to_team")
    else:
        x.apply(Skipped(step.path, "" if reason == "skipped" else reason))
        x.say("kept_nothing" if reason == "none" else reason)

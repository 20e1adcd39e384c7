"""A question as a field of a form: what is ticked or written in it, and what that text is read as. Pure.

What stands in a field is raw text by part of the field, as a browser sends it: the same whether a patient has just sent
it or it was made of a stored answer. It is read by the readers of the chat.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import zip_longest
from typing import Literal

from bot.interview.form.form import Form, Item, Path
from bot.interview.manners.agreement import asks_consent
from bot.interview.manners.hints import unit_answers
from bot.interview.manners.listening import FREE_TEXT, NUMBERS, Listener, tells_more
from bot.interview.manners.session import Answers, Saying, Sentence
from bot.interview.manners.turn import choices_of, is_unlisted
from bot.interview.reading.reading import Ambiguous, DontKnow, NotUnderstood, Read, Reading, Refused
from bot.interview.reading.vocabulary import cut, words_for
from bot.interview.reading.yesno import means_refused, means_unknown
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import as_object, dump, string
from bot.interview.walk.engine import AskItem
from bot.interview.walk.filling import Given, value_to_json
from bot.text import sanitise

Control = Literal["radios", "boxes", "list", "line", "area", "number", "day", "moment", "file"]
# Parts of a field, as browsers send them: the main one, other words than those listed, a date, a unit, no answer, what
# was read is right, one of the options that were meant.
Part = Literal["", "own", "day", "month", "year", "time", "unit", "none", "sure", "meant"]
PARTS: tuple[Part, ...] = ("", "own", "day", "month", "year", "time", "unit", "none", "sure", "meant")
Raw = Mapping[Part, tuple[str, ...]]
Silence = Literal["dont_know", "refused"]
SILENCES: tuple[Silence, ...] = ("dont_know", "refused")
OWN = "own"  # what is ticked for other words than those listed
MOST_RADIOS, MOST_BOXES, MOST_LISTED = 12, 60, 200  # longer lists are searched by words
MOST_TYPED = 1000  # characters
FULL_YEAR = 4  # digits
_OF_MOMENT: tuple[Part, ...] = ("year", "month", "day", "time")
_DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:T(\d\d:\d\d))?.*")


@dataclass(frozen=True, slots=True)
class Field:
    """A question on a page.

    Attributes:
        key: Of its place; names of what browsers send begin with it.
        options: What can be ticked, each with its token.
        silences: The ways not to answer that can be ticked.
        offered: What the form proposes, or what was understood and waits to be confirmed.
        proposed: Whether the form proposes it.
        stored: What stands there.
    """

    key: str
    question: AskItem
    control: Control
    options: tuple[tuple[str, Answer, Saying], ...]
    silences: tuple[Silence, ...]
    offered: tuple[Answer, ...]
    proposed: bool
    stored: Raw

    @property
    def path(self) -> Path:
        return self.question.path

    @property
    def item(self) -> Item:
        return self.question.item

    @property
    def takes_own_words(self) -> bool:
        """Whether any words are an answer, so that they may be about anything."""
        listed = bool(self.options) and not self.is_open
        return not listed and (self.item.type in FREE_TEXT or self.is_open or is_unlisted(self.question))

    @property
    def waits(self) -> bool:
        """Whether what was understood waits to be confirmed."""
        return bool(self.offered) and not self.proposed

    @property
    def is_open(self) -> bool:
        """Whether other words than those listed may be written."""
        return self.item.type == "open-choice"

    @property
    def is_list(self) -> bool:
        """Whether answers are ticked or chosen."""
        return self.control in ("radios", "boxes", "list")

    @property
    def units(self) -> tuple[Answer, ...]:
        """The units that a number may be in."""
        return unit_answers(self.item) if self.item.type in NUMBERS else ()

    def rows(self, raw: Raw) -> int:
        """Return how many answers there is room for: of what repeats and is written, one more than there are."""
        if self.is_list or not self.item.repeats:
            return 1
        return min(len(texts_of(self, raw)) + 1, self.item.most or MOST_LISTED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a field came to.

    Attributes:
        kind: blank: nothing is in it; given; silent: no answer on purpose; noted: in words that nobody can code;
            unsure: read as `answers`, to be confirmed; wrong.
        reason: Why there is no answer: dont_know, refused or none.
        texts: What was written in it.
        said: What is wrong.
        meant: The options that the words could have meant.
        proposed: Whether the answers are what the form proposes.
        beside: Texts that tell more than what was read in them.
    """

    kind: Literal["blank", "given", "silent", "noted", "unsure", "wrong"]
    answers: tuple[Answer, ...] = ()
    reason: str = ""
    texts: tuple[str, ...] = ()
    said: tuple[Saying, ...] = ()
    meant: tuple[Answer, ...] = ()
    proposed: bool = False
    beside: tuple[str, ...] = ()

    @property
    def needs_patient(self) -> bool:
        return self.kind in ("unsure", "wrong")


def key_of(form: Form, path: Path) -> str:
    """Return a name for a place in the form that holds only numbers."""
    return "_".join((f"q{form.by_link_id[path[-1][0]].number}", *(str(number) for _, number in path)))


def token_of(answers: Sequence[Answer]) -> str:
    """Return a name for answers that stays when lists change."""
    return hashlib.sha256(dump({"of": value_to_json(tuple(answers))}).encode("utf-8", "replace")).hexdigest()[:16]


def field_of(listener: Listener, path: Path) -> Field:
    """Return the field of a question as things stand."""
    question, talk, filling = listener.question(path), listener.talk, listener.session.filling
    options = tuple(_options(question))
    control = _control(question, len(options))
    is_open = talk.phase == "asking" and isinstance(listener.step, AskItem) and listener.step.path == path
    pending = (talk.pending or ()) if is_open else ()
    offered, proposed = pending or filling.waiting.get(path, ()), bool(pending) and talk.proposed
    if not offered and not filling.settled(path) and not filling.at(path):
        fits = question.proposal and not listener.problems(path, question.proposal)
        offered, proposed = (question.proposal if fits else ()), True
    found = Field(
        key=key_of(listener.form, path),
        question=question,
        control=control,
        options=options if control in ("radios", "boxes", "list") else (),
        silences=_silences(question, control, listener.language, waits=bool(offered) and not proposed),
        offered=offered,
        proposed=proposed,
        stored={},
    )
    return replace(found, stored=_stored(found, listener))


def _options(question: AskItem) -> Iterator[tuple[str, Answer, Saying]]:
    answers = tuple(option.answer for option in question.options)
    said = choices_of(question.item, question.options)
    if question.item.type == "boolean" and not answers:
        answers = (Answer("boolean", True), Answer("boolean", False))
        said = (Sentence("yes"), Sentence("no"))
    for answer, called in zip(answers, said, strict=True):
        yield token_of((answer,)), answer, called


def _control(question: AskItem, count: int) -> Control:
    item = question.item
    if 0 < count <= (MOST_BOXES if item.repeats else MOST_LISTED):
        return "boxes" if item.repeats else "radios" if count <= MOST_RADIOS else "list"
    kinds: Mapping[str, Control] = {"text": "area", "date": "day", "dateTime": "moment", "attachment": "file"}
    return "number" if item.type in NUMBERS else kinds.get(item.type, "line")


def _silences(question: AskItem, control: Control, language: str, *, waits: bool) -> tuple[Silence, ...]:
    """Return the ways not to answer that are not among the options, where an empty field does not say enough."""
    item, words = question.item, words_for(language)
    says_enough = control in ("line", "area", "file") and not item.required and not waits
    if asks_consent(item) or says_enough:
        return ()
    labels = [cut(option.label.into(language), words.fold).said for option in question.options]
    means = {"dont_know": means_unknown, "refused": means_refused}
    return tuple(each for each in SILENCES if not any(means[each](label, words) for label in labels))


# What stands in a field


def _stored(field: Field, listener: Listener) -> Raw:
    """Return what a field holds by the answers that stand at its question."""
    path, filling, raw = field.path, listener.session.filling, dict[Part, tuple[str, ...]]()
    answers = filling.at(path)
    if field.is_list:
        offered, tokens = {token for token, _, _ in field.options}, [token_of((answer,)) for answer in answers]
        own = tuple(str(each.value) for each, token in zip(answers, tokens, strict=True) if token not in offered)
        raw[""] = (*(token for token in tokens if token in offered), *((OWN,) if own else ()))
        raw["own"] = (", ".join(own),) if own else ()
    elif field.control in ("day", "moment"):
        found = [_DAY.fullmatch(str(answer.value)) for answer in answers]
        parts = [match.groups(default="") if match else ("", "", "", "") for match in found]
        for place, name in enumerate(_OF_MOMENT):
            raw[name] = tuple(each[place].lstrip("0") if name in ("day", "month") else each[place] for each in parts)
    elif answers and field.control != "file":
        raw[""] = tuple(_typed(answer, listener.language) for answer in answers)
        raw["unit"] = tuple(_unit_place(field, answer) for answer in answers)
    elif is_unlisted(field.question):
        raw[""] = filling.noted.get(path, ())[-1:]
    reason = reason_at(listener, path)
    if not answers and reason in field.silences:
        raw["" if field.is_list else "none"] = (reason,)
    return {part: values for part, values in raw.items() if values}


def reason_at(listener: Listener, path: Path) -> str:
    """Return why a question has no answer; empty where it has one, or none was said."""
    filling = listener.session.filling
    if path in filling.marked:
        return filling.marked[path]
    events = reversed(listener.session.events)
    left = (getattr(event, "reason", "") for event in events if event.path == path and not isinstance(event, Given))
    return next(left, "") if path in filling.skipped else ""


def _typed(answer: Answer, language: str) -> str:
    value = answer.value
    if isinstance(value, dict):
        if answer.type == "quantity":
            return _number(value.get("value"), language)
        return next(
            (string(value, name) for name in ("display", "reference", "url", "code") if string(value, name)), ""
        )
    if answer.type == "time":
        return str(value)[:5]
    return _number(value, language) if isinstance(value, int | Decimal) else str(value)


def _number(value: object, language: str) -> str:
    if isinstance(value, Decimal):
        return format(value, "f").replace(".", words_for(language).texts["decimal_mark"])
    return "" if value is None else str(value)


def _unit_place(field: Field, answer: Answer) -> str:
    """Return the place of an amount's unit in the list of units."""
    code = string(as_object(answer.value), "code") if answer.type == "quantity" else ""
    return next(
        (str(place) for place, unit in enumerate(field.units) if string(as_object(unit.value), "code") == code), ""
    )


# What was sent


def raw_of(field: Field, sent: Mapping[str, Sequence[str]]) -> Raw:
    """Return what was sent of a field."""
    names: Iterator[tuple[Part, str]] = ((part, f"{field.key}.{part}" if part else field.key) for part in PARTS)
    return {part: tuple(sent[name]) for part, name in names if name in sent}


def texts_of(field: Field, raw: Raw) -> tuple[str, ...]:
    """Return all that was written in a field, each answer as one text."""
    if field.is_list:
        ticked = [each for each in raw.get("", ()) if each]
        written = raw.get("own", ()) if OWN in ticked or not ticked or field.control == "boxes" else ()
    elif field.control in ("day", "moment"):
        parts = (raw.get(name, ()) for name in _OF_MOMENT)
        written = tuple(_moment(*each) for each in zip_longest(*parts, fillvalue=""))
    elif field.item.type == "quantity" and field.units:
        pairs = zip_longest(raw.get("", ()), raw.get("unit", ()), fillvalue="")
        written = tuple(_amount(field, text, place) for text, place in pairs)
    else:
        written = raw.get("", ())
    return tuple(text.strip() for text in written if text.strip())


def _moment(year: str, month: str, day: str, time: str) -> str:
    """Return a day as it is written: in figures as machines do it, else in the patient's words."""
    day, month, year, time = (each.strip() for each in (day, month, year, time))
    figures = [each for each in (year, month, day) if each]
    if all(each.isascii() and each.isdecimal() for each in figures) and len(year) == FULL_YEAR and (month or not day):
        date = "-".join((year, *(each.zfill(2) for each in figures[1:])))
        return f"{date}, {time}" if time else date
    plain = day.isdecimal() and month.isdecimal()
    said = (
        f"{day}.{month}.{year}"
        if plain
        else " ".join(filter(None, (f"{day}." if day.isdecimal() else day, month, year)))
    )
    return f"{said}, {time}" if time and said else said or time


def _amount(field: Field, text: str, place: str) -> str:
    """Return a number with its unit, unless the patient wrote one."""
    chosen = int(place) if place.isdecimal() and len(place) < 3 else 0 if len(field.units) == 1 else -1
    if (
        not 0 <= chosen < len(field.units)
        or not text.strip()
        or any(letter.isalpha() or letter == "%" for letter in text)
    ):
        return text
    return f"{text.strip()} {string(as_object(field.units[chosen].value), 'unit')}"


def read_field(listener: Listener, field: Field, raw: Raw) -> Outcome:
    """Return what a field came to by itself, before it is asked whether the answers may stand there."""
    ticked, texts = [each for each in raw.get("", ()) if each] if field.is_list else [], texts_of(field, raw)
    silent = [each for each in SILENCES if each in (ticked if field.is_list else raw.get("none", ()))]
    by_token = {token: answer for token, answer, _ in field.options}
    chosen = [each for each in ticked if each not in (*SILENCES, OWN)]
    if any(token not in by_token for token in chosen):
        return _wrong("problem_not-an-option", texts)
    if silent:
        return _wrong("why_exclusive", texts) if chosen or texts else Outcome("silent", reason=silent[-1])
    answers, beside, sure = [by_token[token] for token in chosen], list[str](), True
    if OWN in ticked and not texts:
        return _wrong("form_own_empty", texts)
    meant = [each.answer for each in field.question.options if token_of((each.answer,)) in raw.get("meant", ())]
    for text in () if meant else texts:
        reading = listener.reader.read(field.item, field.question.options, listener.language, text)
        if not isinstance(reading, Read):
            return _not_read(field, reading, texts)
        exact = [str(each.value) for each in reading.answers if each.type == "string"] == [sanitise(text).text]
        answers += (each for each in reading.answers if each not in answers)
        sure = sure and (reading.literal or exact)
        beside += [text] if tells_more(field.item, text, reading, listener.language) else []
    answers += (each for each in meant if each not in answers)
    if not answers and not texts:
        if field.offered and token_of(field.offered) in raw.get("sure", ()):
            return Outcome("given", field.offered, proposed=field.proposed)
        return Outcome("blank")
    confirmed = sure or token_of(answers) in raw.get("sure", ())
    if not answers:
        return Outcome("silent" if confirmed else "unsure", reason="none", texts=texts)
    return Outcome("given" if confirmed else "unsure", tuple(answers), texts=texts, beside=tuple(beside))


def _not_read(field: Field, reading: Reading, texts: tuple[str, ...]) -> Outcome:
    match reading:
        case DontKnow():
            return Outcome("silent", reason="dont_know", texts=texts)
        case Refused():
            return Outcome("silent", reason="refused", texts=texts)
        case Ambiguous():
            return _wrong("which_one", texts, tuple(option.answer for option in reading.options))
        case NotUnderstood() if not is_unlisted(field.question):
            return _wrong(f"why_{reading.why.replace('-', '_')}", texts)
    return Outcome("noted", texts=texts)


def _wrong(key: str, texts: tuple[str, ...], meant: tuple[Answer, ...] = ()) -> Outcome:
    return Outcome("wrong", texts=texts, said=(Sentence(key, otherwise="not_understood"),), meant=meant)


def slots_in(sayings: Iterable[Saying]) -> Iterator[Answers]:
    """Yield the answers that sentences hold."""
    for saying in sayings:
        if isinstance(saying, Sentence):
            yield from (slot for slot in saying.slots.values() if isinstance(slot, Answers))

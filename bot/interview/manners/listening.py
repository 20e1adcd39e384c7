"""Read a message as things stand: as a reply, a question of the patient's own, or a correction. Changes nothing. Pure.

An earlier question is meant by what it is called, by its number, or by the answer that is said to be wrong: "ich bin
übrigens 62 nicht 61", "die Biopsie war 2020", "I forgot a lump".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from operator import is_
from typing import Literal

from bot.interview.form.form import Bound, Form, Item, Option, Path
from bot.interview.manners.decisions import Decisions
from bot.interview.manners.session import Session, Talk
from bot.interview.reading.dates import rough_times
from bot.interview.reading.quantities import is_foreign, is_unusual, named_unit, unit_asked_for, unit_name
from bot.interview.reading.reader import read, read_command
from bot.interview.reading.reading import Ambiguous, Asked, DontKnow, NotUnderstood, Read, Reading, Refused
from bot.interview.reading.reading import Option as Readable
from bot.interview.reading.reading import Unit as ReadableUnit
from bot.interview.reading.vocabulary import words_for
from bot.interview.reading.yesno import read_yes_no
from bot.interview.rules.answers import Problem
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, as_object, string, translated
from bot.interview.values.fhir_names import CHOICES
from bot.interview.walk.engine import AskItem, Engine, Step
from bot.languages.files import Live, known, load, parts
from bot.text import fold, sanitise, words

QuestionLike = Literal["no", "maybe", "clear"]
NUMBERS = frozenset({"integer", "decimal", "quantity"})
FREE_TEXT = frozenset({"string", "text"})
DAYS = frozenset({"date", "dateTime"})
# Types of answers that are whatever the patient wrote.
OWN_WORDS = frozenset({"string", "uri", "attachment", "reference"})
LONGEST_CORRECTION = 500  # characters; longer messages tell a story, and are compared with every question asked
MOST_READINGS = 200
MIN_WORDS = 3
MOST_REPEATED = 6  # words of a question, and its marks, that are said again before the answer
MANY_WORDS = 4
MUCH_BESIDE = 4  # words beside an answer from which on they are kept with it
MANY_BESIDE = 3  # words beside an answer from which on a message may be about something else
MIN_STEM = 5  # letters that a word and its compound share: "Mammographie", "Mammographien"
MIN_SHORT, MOST_ENDING = 3, 2  # letters of a short word, and of what may be added to it
MIN_TELLING = 3
_NO_UNIT = frozenset({"1", "{#}"})
_NUMBER = re.compile(
    r"(?:(?:nr|nummer|number|no|frage|question|antwort|answer|die|the)\b\.?\s*)*#?(\d{1,4})\.?", re.IGNORECASE
)
# How patients set a right answer against a wrong one, in either language.
_CONTRASTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:.* )?(?:nicht|kein\w*) (?P<old>.+?),? sondern (?P<new>.+)",
        r"(?P<new>.+?),? (?:an)?statt (?P<old>.+)",
        r"(?:an)?statt (?P<old>\S+),? (?P<new>.+)",
        r"(?P<new>.+?),? (?:und )?nicht (?P<old>.+)",
        r"(?:.* )?not (?P<old>.+?),? but (?P<new>.+)",
        r"(?P<new>.+?),? (?:and )?(?:not|rather than|instead of) (?P<old>.+)",
    )
)


def _listed(text: str) -> frozenset[str]:
    """Return the words of a list, or its phrases where it has commas."""
    return frozenset(" ".join(each.split()) for each in (text.split(",") if "," in text else text.split()))


def _all_listed(lists: Mapping[str, str]) -> dict[str, frozenset[str]]:
    return {name: _listed(text or "") for name, text in lists.items()}


# Words by which replies are recognised, folded, by the name of their list; `words.yaml` says what for. The first hold
# in whatever language is spoken.
FILE = "manners.yaml"
WORDS: Mapping[str, frozenset[str]] = Live(
    lambda: {
        name: frozenset[str]().union(*(_listed(own.get(name) or "") for own in parts(FILE))) for name in parts(FILE)[0]
    }
)
WORDS_OF: Mapping[str, Mapping[str, frozenset[str]]] = Live(
    lambda: {language: _all_listed(load(language, FILE)) for language in known()}
)


@dataclass(frozen=True, slots=True)
class Correction:
    """What is to be changed; without `answers` the question is asked again. `adds`: besides what stands there."""

    path: Path
    answers: tuple[Answer, ...] = ()
    adds: bool = False


@dataclass(slots=True)
class CachedReader:
    """Reads replies to one form; what is read twice in the same way, as most of a turn is, is read once.

    Attributes:
        now: The present, with time zone.
        decisions: What the form says of words: a denial in the patient's own, or an exception from one, is no name.
        readings: By linkId, language and text: the options that there were, and the reading.
    """

    now: datetime
    decisions: Decisions
    # Not in its repr: patients' words must not get into a log.
    readings: dict[tuple[str, str, str], tuple[tuple[Option, ...], Reading]] = field(default_factory=dict, repr=False)

    def read(self, item: Item, options: Sequence[Option], language: str, text: str) -> Reading:
        """Read words as an answer to a question with these options."""
        key, offered = (item.link_id, language, text), tuple(options)
        before, reading = self.readings.get(key, ((), None))
        # The same options, not equal ones: 1.5 and 1.50 are equal, and not the same answer.
        if reading is not None and len(before) == len(offered) and all(map(is_, before, offered)):
            return reading
        if len(self.readings) >= MOST_READINGS:
            self.readings.clear()
        asked = asked_of(item, offered, language, self.now)
        reading = self._meant(
            item, text, language, lambda said: read(said, asked, language=language, today=self.now.date())
        )
        self.readings[key] = offered, reading
        return reading

    def _meant(self, item: Item, text: str, language: str, read_as: Callable[[str], Reading]) -> Reading:
        """Read words; a denial in words that only the form knows as its "no", an exception as what is excepted."""
        reading = read_as(text)
        own = isinstance(reading, Read) and any(each.type in OWN_WORDS for each in reading.answers)
        if (
            item.type not in CHOICES
            or not self.decisions
            or (isinstance(reading, Read) and reading.literal and not own)
        ):
            return reading
        excepted = self.decisions.excepted(text, item) if item.open else ""
        if excepted:
            found = read_as(excepted)
            return replace(found, literal=False, remainder=text) if isinstance(found, Read) else reading
        # "Nein, nur ein Pflaster vom Blutabnehmen": what is excepted is nothing.
        harmlessly = item.open and bool(self.decisions.lexicon.excepted(text))
        unclear = own or harmlessly or isinstance(reading, NotUnderstood | Ambiguous)
        if unclear and self.decisions.is_denial(text, item):
            found = read_as(words_for(language).texts["no"])
            return replace(found, literal=False, remainder="") if isinstance(found, Read) else reading
        return reading

    def is_unusual(self, item: Item, options: Sequence[Option], language: str, answers: Sequence[Answer]) -> bool:
        """Say whether a number among answers is so seldom that the patient should look at it again."""
        asked = asked_of(item, options, language, self.now)
        return any(is_unusual(answer, asked, language=language) for answer in answers)


@dataclass(slots=True)
class Listener:
    """Hears messages as things stand: what is open, and what a message is to it.

    Attributes:
        engine: Of the form that is asked.
        reader: Of replies to it.
        session: As things stand.
    """

    engine: Engine
    reader: CachedReader
    session: Session

    @property
    def form(self) -> Form:
        return self.engine.form

    @property
    def language(self) -> str:
        return self.session.language

    @property
    def talk(self) -> Talk:
        return self.session.talk

    @property
    def step(self) -> Step:
        """What is open: the question that the patient went back to, else what comes next."""
        return self.question(self.talk.revisit) if self.talk.revisit else self.engine.next(self.session.filling)

    @property
    def settled(self) -> list[Path]:
        """The questions that were answered, skipped or left to staff."""
        filling = self.session.filling
        return [path for path in self.engine.questions(filling) if filling.settled(path)]

    def item(self, path: Path) -> Item:
        return self.form.by_link_id[path[-1][0]]

    def question(self, path: Path) -> AskItem:
        """Return the question at a place."""
        return self.engine.ask(self.session.filling, path)

    def answers(self, path: Path) -> tuple[Answer, ...]:
        return self.session.filling.at(path)

    def problems(self, path: Path, answers: tuple[Answer, ...], severity: str = "error") -> list[Problem]:
        """Return what is so wrong with answers that they cannot be taken, or what is to be said of them."""
        found = self.engine.problems(self.session.filling, path, answers)
        return [problem for problem in found if problem.severity == severity]

    def read(self, question: AskItem, text: str) -> Reading:
        """Read a reply to a question; where it could mean several options, first as one of those."""
        said = text.strip().rstrip(".")
        if question.item.type == "boolean" and not question.options and said in ("1", "2"):
            return Read((Answer("boolean", said == "1"),), literal=True)
        left = [option for option in question.options if option.answer in self.talk.between]
        if not left:
            return self._read(question, text, question.options)
        # "2", of "1: 2" and "2: 3": the second time, what it is called goes before its place, and is read back.
        called = [option for option in left if option.label.into(self.language) == said]
        if len(called) == 1 and said.isdecimal():
            return Read((called[0].answer,), literal=False)
        reading = self._read(question, text, left)
        # Another option may still be named, but not by a place in a list that is not shown any more.
        elsewhere = isinstance(reading, NotUnderstood) and not said.isdecimal()
        return self._read(question, text, question.options) if elsewhere else reading

    def _read(self, question: AskItem, text: str, options: Sequence[Option]) -> Reading:
        # What is said of somebody else is no answer of the patient's: "nein, aber meine Schwester hat einen".
        if question.options and self.reader.decisions.is_of_others(text, self.session.filler):
            return NotUnderstood("said of somebody else", "not-listed")
        text = self.reader.decisions.of_patient(text, question.item, self.session.filler)
        return self.reader.read(question.item, options, self.language, text)

    def takes(self, question: AskItem, text: str) -> bool:
        """Say whether a message is understood as an answer to a question: not just any words, and little beside it."""
        reading = self.read(question, text)
        if not isinstance(reading, Read):
            return isinstance(reading, DontKnow | Refused | Ambiguous)
        own = any(answer.type in OWN_WORDS for answer in reading.answers) and not is_listed(reading, question)
        if own or not (reading.literal or len(words(reading.remainder)) < MANY_BESIDE):
            return False
        said = words(text)
        if not question.options or len(said) < MANY_BESIDE:
            return True
        # What picks from a list must mostly be about it: a word of a label may stand anywhere.
        options = readable_options(question.options, self.language)
        known = {word for option in options for label in option.labels for word in words(label)}
        known.update(words(question.item.text.into(self.language)))
        return 2 * sum(word in known for word in said) >= len(said)

    def picks(self, text: str) -> bool:
        """Say whether a message is, word for word, one of the answers to choose from."""
        question = self.step
        if not isinstance(question, AskItem) or not question.options:
            return False
        reading = self._read(question, text, question.options)
        return isinstance(reading, Read) and reading.literal and is_listed(reading, question)

    def hears_just_an_answer(self, text: str) -> bool:
        """Say whether a message is, word for word, what the form or its reader expects; free text never is."""
        question = self.step
        if read_command(text, language=self.language) is not None:
            return True
        if not isinstance(question, AskItem) or self.talk.phase != "asking":
            said = read_yes_no(text, language=self.language)
            return isinstance(said, Read) and said.literal and not said.remainder
        reading = self._read(question, text, question.options)
        if not isinstance(reading, Read) or not reading.literal or reading.remainder:
            return False
        return is_listed(reading, question) or not any(each.type in OWN_WORDS for each in reading.answers)

    def understands(self, text: str) -> bool:
        """Say whether what is open takes a message for a reply; any words, where any are an answer, are none."""
        said = read_yes_no(text, language=self.language)
        bare = isinstance(said, Read) and not said.remainder
        if read_command(text, language=self.language) is not None:
            return True
        if self.talk.phase != "asking":
            named = (WORDS_OF[self.language][f"filling_{each}"] for each in ("patient", "relative", "helper"))
            if self.talk.phase == "who" and any(set(words(text)) & each for each in named):
                return True
            summed_up = self.talk.phase in ("checking", "summary") and agrees(text, self.language) is not None
            return summed_up or bare or number_meant(text) is not None
        question = self.step
        if not isinstance(question, AskItem):
            return bare or is_end(text, self.language)
        denies = self.reader.decisions.is_denial(
            text, question.item
        )  # "nö, toi toi toi", whatever language it looks like
        return (bare and self.talk.pending is not None) or denies or self.takes(question, text)

    @property
    def wants_words(self) -> bool:
        """Say whether any words would answer what is open: nothing else is a reply to a question for free text."""
        step, talk = self.step, self.talk
        if talk.phase != "asking" or not isinstance(step, AskItem) or (talk.pending is not None and not talk.proposed):
            return False
        item = step.item
        return item.open or not step.options if item.type in CHOICES else item.type in FREE_TEXT and not step.options

    def find_correction(self, text: str, *, plainly: bool = False) -> Correction | None:
        """Return the correction of another answer than the open one that a message is, if it is one.

        `plainly`: only where the message sets a new answer against the old one.
        """
        if len(text) > LONGEST_CORRECTION or self.reader.decisions.is_of_others(text, self.session.filler):
            return None
        return self._contrasted(text) or (None if plainly else self._named(text))

    def _contrasted(self, text: str) -> Correction | None:
        """Return the correction of an answer that a message says is wrong: "62, nicht 61"."""
        for pattern in _CONTRASTS:
            halves = pattern.fullmatch(text.strip().rstrip("."))
            if halves is None:
                continue
            found = list[Correction]()
            for path in self._correctable():
                old = self.read(self.question(path), halves["old"])
                stands = isinstance(old, Read) and old.answers and old.answers == self.answers(path)
                if stands and (answers := self._new_answers(path, halves["new"])):
                    found.append(Correction(path, answers))
            if len(found) > 1:  # "62, nicht 61", where two answers are 61
                found = [each for each in found if self._called(each.path, text)]
            if len(found) == 1:
                return found[0]
        return None

    def _named(self, text: str) -> Correction | None:
        """Return the correction of the answer to a question that a message calls by its name."""
        said = set(words(text))
        adds, corrects = bool(said & WORDS["adding_words"]), bool(said & WORDS["correcting_words"])
        if self.talk.phase == "asking" and not (adds or corrects):
            return None  # "pacemaker, left side": a word of another question makes no correction of it
        best, found = 0, list[Correction]()
        for path in self._correctable():
            called = self._called(path, text)
            answers = self._new_answers(path, text) if called else ()
            score = 2 * called + bool(answers) * 3
            if not called or not (answers or adds or corrects) or score < best:
                continue
            found = [*(found if score == best else ()), Correction(path, answers, adds)]
            best = score
        return found[-1] if found and (len(found) == 1 or adds) else None

    def _correctable(self) -> list[Path]:
        """Return the questions that can be corrected: those asked so far, but for the open one."""
        step, filling = self.step, self.session.filling
        own = step.path if isinstance(step, AskItem) and self.talk.phase == "asking" else ()
        over = self.talk.phase in ("summary", "choosing", "finished")
        return [path for path in self.engine.questions(filling) if path != own and (over or filling.settled(path))]

    def _new_answers(self, path: Path, text: str) -> tuple[Answer, ...]:
        """Return the answer to a question that words give, if it is another than stands there; not just any words."""
        reading = self.read(self.question(path), text)
        if not isinstance(reading, Read) or any(each.type in OWN_WORDS for each in reading.answers):
            return ()
        same = set(map(repr, reading.answers)) <= set(map(repr, self.answers(path)))
        return () if same or self.problems(path, reading.answers) else reading.answers

    def _called(self, path: Path, text: str) -> int:
        """Return how well a message calls a question by its name: by its synonyms, else by telling words of its own."""
        item, language, said = self.item(path), self.language, words(text)
        names = [words(name) for name in (*item.synonyms, item.presentation.short.into(language))]
        # "Since" or "when" alone is in too many sentences to call a question by.
        telling = [name for name in names if not WORDS["common_words"].issuperset(name)]
        known = max((len(name) for name in telling if set(name) <= set(said)), default=0)
        if known or item.synonyms:
            return 2 * known
        own = {word for word in words(f"{item.text.into(language)} {item.link_id.replace('-', ' ')}") if tells(word)}
        return int(any(likeness(word, other) > 1 for word in said if tells(word) for other in own))


def is_named(item: Item, language: str) -> bool:
    """Say whether there is anything that an item is called."""
    return bool(item.presentation.short.into(language) or item.prefix.strip() or item.text.into(language))


def likeness(word: str, other: str) -> int:
    """Return how alike two words are: 3 the same, 2 one form of the other, 1 the same stem, else 0."""
    if word == other:
        return 3
    short, long_ = sorted((word, other), key=len)
    if len(short) >= MIN_SHORT and long_.startswith(short) and len(long_) - len(short) <= MOST_ENDING:
        return 2  # "Alter" for "alt"
    if len(short) >= MIN_STEM and (short in long_ or long_.startswith(short[:-1])):
        return 2
    return 1 if len(short) > MIN_STEM and short[:MIN_STEM] == long_[:MIN_STEM] else 0


def tells(word: str) -> bool:
    """Say whether a word tells what a sentence is about."""
    return len(word) >= MIN_TELLING and word not in WORDS["empty_words"] and word not in WORDS["common_words"]


def asked_of(item: Item, options: Sequence[Option], language: str, now: datetime) -> Asked:
    """Reduce an item to what decides how a reply is read."""
    return Asked(
        # Where a form lists answers for a plain type, they are what can be chosen.
        type="choice" if options and item.type not in CHOICES else item.type,
        repeats=item.repeats,
        options=readable_options(options, language),
        unit=_readable_unit(usual_unit(item), language),
        units=tuple(unit for each in item.units.choices if (unit := _readable_unit(each, language))),
        max_length=item.limits.max_length,
        entry_format=item.presentation.entry_format.into(language),
        minimum=_bound(item.limits.minimum),
        maximum=_bound(item.limits.maximum),
        prompt=item.text.into(language),
        zone=now.tzinfo,
        now=now,
        decimal_places=item.limits.decimal_places,
        yes_said=item.yes_said,
    )


def readable_options(options: Sequence[Option], language: str) -> tuple[Readable, ...]:
    """Return options with all that a patient may call them: in either language, by code, or as their form says."""
    found = []
    for option in options:
        label, shown, prefix = option.label, option.label.into(language), option.prefix.strip(" .:)(")
        code = string(as_object(option.answer.value), "code") if isinstance(option.answer.value, dict) else ""
        seen = dict.fromkeys((shown, prefix, f"{option.prefix} {shown}" if prefix else shown))
        others = dict.fromkeys((label.base, *label.translations.values(), code, *option.synonyms))
        unseen = tuple(name for name in others if name and name not in seen)
        names = (*(name for name in seen if name), *unseen)
        found.append(Readable(option.answer, names, option.exclusive, unseen))
    return tuple(found)


def _bound(bound: Bound | None) -> int | Decimal | str | None:
    value = bound.fixed.value if bound and bound.fixed else None
    if isinstance(value, dict):
        value = as_object(value).get("value")
    return value if isinstance(value, int | Decimal | str) and not isinstance(value, bool) else None


def usual_unit(item: Item) -> JsonObject | None:
    """Return the unit that a number is meant in: as the form says, beside the question or in its text."""
    if item.units.usual or item.units.choices:
        return item.units.usual
    if item.type not in NUMBERS:
        return None
    labels = (item.units.label.base, *item.units.label.translations.values())
    texts = (item.text.base, *item.text.translations.values())
    for language in known():
        named = next((unit for label in labels if (unit := named_unit(label, language))), None)
        if named:
            return {"system": named.system, "code": named.code, "display": named.display}
        stated = next((unit for text in texts if (unit := unit_asked_for(text, language))), None)
        if stated:
            return {"system": stated.system, "code": stated.code}
    return _unit_of_limits(item)


def _unit_of_limits(item: Item) -> JsonObject | None:
    """Return the unit that the limits of a quantity are in, or a proposed amount; None where they are in several."""
    bounds = [bound.fixed for bound in (item.limits.minimum, item.limits.maximum) if bound and bound.fixed]
    amounts = [as_object(each.value) for each in (*bounds, *item.initial) if each.type == "quantity"]
    coded = [each for each in amounts if string(each, "code")]
    if not coded or len({(string(each, "system"), string(each, "code")) for each in coded}) > 1:
        return None
    names = ("system", "code")
    return {**{name: coded[0][name] for name in names if name in coded[0]}, "display": string(coded[0], "unit")}


def unit_in_words(unit: JsonObject, language: str) -> str:
    """Return what a unit is called; empty for a plain number."""
    code, given = string(unit, "code"), translated(unit, "display", language)
    if code in _NO_UNIT:
        return ""
    usual = unit_name(code, language)
    # "years" tells a patient who reads German nothing; a word of the form that no language here knows stays.
    foreign = given == string(unit, "display") and usual and is_foreign(given, code, language)
    return usual if foreign else given or usual or code


def _readable_unit(unit: JsonObject | None, language: str) -> ReadableUnit | None:
    if not unit or string(unit, "code") in _NO_UNIT:
        return None
    name = string(unit, "display") or unit_in_words(unit, language)
    return ReadableUnit(string(unit, "code"), name, string(unit, "system")) if name else None


def is_listed(reading: Read, question: AskItem) -> bool:
    """Say whether all that was read are options of the question."""
    listed = [option.answer for option in question.options]
    return bool(reading.answers) and all(answer in listed for answer in reading.answers)


def question_like(text: str, language: str) -> QuestionLike:
    """Say whether a message asks something itself: by its mark, and by the word that it opens with."""
    folded = fold(text).split()
    marked = "qqq" in folded
    said = [word for word in folded if word != "qqq"]
    while len(said) > 1 and said[0] in WORDS_OF[language]["question_padding"]:
        said = said[1:]
    opened = (
        bool(said) and said[0] in WORDS_OF[language]["question_openers"] and (marked or not _states(said, language))
    )
    if marked and not opened and _answers_itself(text, language):
        return "no"
    if (marked and (opened or len(said) >= MANY_WORDS)) or (opened and len(said) > MANY_WORDS):
        return "clear"
    return "maybe" if marked or (opened and len(said) >= MIN_WORDS) else "no"


def _states(said: Sequence[str], language: str) -> bool:
    """Say whether words without a question mark that open like a question are none: "can't see why not"."""
    denied = said[1:2] == ["t"] and said[2:3] and said[2] not in WORDS_OF[language]["asked_about"]
    placed = len(said) > 1 and said[1] in WORDS_OF[language]["stated_after"]
    states = said[0] in WORDS_OF[language]["stating_verbs"] and not WORDS["denying_words"].isdisjoint(said[1:3])
    return bool(denied) or states or placed or bool(WORDS_OF[language]["gladly"] & set(said))


def _answers_itself(text: str, language: str) -> bool:
    """Say whether a message says the question again and then answers it: "Implantate? Nein."."""
    asked, _, answer = text.rpartition("?")
    said = read_yes_no(answer, language=language)
    return isinstance(said, Read) and not said.remainder and len(fold(asked).split()) <= MOST_REPEATED


def asks_meaning(text: str, item: Item, language: str) -> bool:
    """Say whether a message asks what a question, or a word of it, means: "was heißt das", "what does dose mean"."""
    said = words(text)
    spoken = next((each for each in WORDS_OF.values() if said[:1] and said[0] in each["asking_what"]), None)
    if spoken is None or not 1 < len(said) <= MOST_REPEATED:
        return False
    means = bool(spoken["meaning_words"] & set(said)) or said[1] in spoken["being_words"]
    texts = (item.text, item.presentation.short, *item.presentation.instructions, *item.presentation.help)
    asked = {word for each in texts for word in words(each.into(language))}
    known = asked | spoken["this_words"] | spoken["meaning_words"]
    return means and known.issuperset(said[1:])


def asks_for_another(text: str, names: Sequence[str], language: str) -> bool:
    """Say whether a whole message asks for one more of what is called by `names`: "noch eins", "one more medicine"."""
    called = {word for name in names for word in words(name)}
    said = [word for word in words(text) if word not in WORDS["around_another"]]
    shorter = [word for word in said if not any(likeness(word, name) > 1 for name in called)]
    units = words_for(language).unit_codes
    measured = said and (said[-1].isdecimal() or any("{" not in code for code in units.get(said[-1], ())))
    forms = (said, shorter, *(() if measured else (said[:-1],)))  # "one more tablet", but not "one more week"
    return any(" ".join(each) in WORDS_OF[language]["another_phrases"] for each in forms)


def is_end(text: str, language: str) -> bool:
    """Say whether a whole message says that there is nothing else."""
    return " ".join(words(text)) in WORDS_OF[language]["end_phrases"]


def has_second_thoughts(text: str, language: str) -> bool:
    """Say whether a message begins by taking back what was said before: "hang on, I had one", "Moment, doch"."""
    said = " ".join(words(text)) + " "
    return any(said.startswith(f"{each} ") for each in WORDS_OF[language]["second_thoughts"])


def tells_something(text: str) -> bool:
    """Say whether there is a word in a message that could be worth keeping."""
    return any(len(word) > 2 and not word.isdecimal() and word not in WORDS["sounds"] for word in words(text))


def tells_more(item: Item, text: str, reading: Read, language: str) -> bool:
    """Say whether a message tells more than what was read in it: much or a number beside it, or a rough time."""
    if reading.literal:
        return False
    beside = words(reading.remainder)
    # No date of FHIR's can say "in spring", or when in a day without the hour.
    day = item.type in DAYS and not any("T" in str(each.value) for each in reading.answers)
    rough = day and rough_times(text, words_for(language), with_time=item.type == "dateTime")
    return len(beside) > MUCH_BESIDE or any(word.isdecimal() for word in beside) or bool(rough)


def own_words(text: str) -> Answer:
    """Return a message as the patient's own words."""
    return Answer("string", sanitise(text).text)


def number_meant(text: str) -> int | None:
    """Return the number that a message is, or the only one in a message that is about a row: "number 8 is wrong"."""
    found = _NUMBER.fullmatch(text.strip())
    if found:
        return int(found[1])
    said = words(text)
    numbers = [word for word in said if word.isdecimal() and len(word) < 4]
    about_it = len(said) > 1 and all(word in WORDS["row_words"] for word in said if word not in numbers)
    return int(numbers[0]) if len(numbers) == 1 and about_it else None


def agrees(text: str, language: str) -> bool | None:
    """Return whether the patient agrees to the summary; None where more is said: it may be what is wrong."""
    said, whole = read_yes_no(text, language=language), set(words(text))
    if not isinstance(said, Read):
        sends = whole <= WORDS_OF[language]["send_words"] or (
            whole <= WORDS["agreeing_words"] and bool(whole & WORDS["right_words"])
        )
        return True if whole and sends else None
    yes = said.answers[0].value is True
    return None if yes and set(words(said.remainder)) - WORDS["agreeing_words"] else yes

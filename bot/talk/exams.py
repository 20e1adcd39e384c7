"""Which exams one service answers for, what serves each, and by which words a patient names one.

Where it is not known which exam a conversation is about, or that exam is not served any more, `Undecided` stands in the
place of its assistant: it hears emergencies, and has no text of any exam that could be shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from bot.assistant import Assistant
from bot.catalog.catalog import Catalog
from bot.catalog.site import Site
from bot.catalog.topics import Topics
from bot.errors import NoSuchExam
from bot.interview.manners.listening import question_like
from bot.ports import StoredConversation
from bot.response import Method, Response
from bot.sentences.reply import Interface, Reply, sentence_of
from bot.sentences.wording import NEUTRAL, House, Wording
from bot.talk.interviewing import Interviewer
from bot.talk.messages import picks
from bot.talk.naming import Called, Named, means_other, read_names
from bot.text import AUTO, words

NO_EXAM = "-"  # in the place of a catalog's name
MOST_NAMING = 16  # words of who says which exam it is, and something else
MOST_BOOKED = 24  # words of who speaks of an appointment for it
MOST_CAPITALS = 4  # letters of a name that is an abbreviation, and fewer
NO_WORDS: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True, slots=True)
class Serving:
    """What a conversation is served from.

    Attributes:
        assistant: Decides.
        interviewer: Returns who asks the questions of the radiology team in a conversation; None where nobody does.
        topics: By which questions are suggested, and what is reminded of at the end.
        release: The number of the release; None where there are none.
    """

    assistant: Assistant
    interviewer: Callable[[str], Interviewer | None]
    topics: Topics = field(default_factory=Topics)
    release: int | None = None

    @property
    def exam(self) -> str:
        """The name of the catalog that answers."""
        return exam_of(self.assistant)


def exam_of(assistant: Assistant) -> str:
    """Return the name of the catalog that an assistant answers from."""
    return assistant.catalog(assistant.languages[0]).name


@dataclass(frozen=True, slots=True)
class Exams:
    """The exams that one service answers for, in the order in which they are offered.

    Attributes:
        of: What serves conversations of each, by the number of the release; new ones for None.
    """

    of: Mapping[str, Callable[[int | None], Serving]]

    def serving(self, opened: StoredConversation | None) -> Serving:
        """Return what serves a conversation; None: new ones of which nobody said what they are about."""
        serve = self.of.get(opened.exam or "") if opened is not None else None
        return serve(opened.release) if serve is not None and opened is not None else self.undecided()

    def begun(self, exam: str | None) -> Serving:
        """Return what serves a conversation that begins now; raise NoSuchExam for an exam that is not served."""
        if exam is None:
            return self.undecided()
        require_exam(exam, tuple(self.of))
        return self.of[exam](None)

    def undecided(self) -> Serving:
        """Return what serves a conversation whose exam is not known, or not served."""
        return nobody(tuple(serve(None).assistant for serve in self.of.values()))


def require_exam(exam: str, served: Sequence[str]) -> None:
    """Raise NoSuchExam for an exam that is not served."""
    if exam not in served:
        raise NoSuchExam(exam, served)


def nobody(assistants: tuple[Assistant, ...]) -> Serving:
    """Return what serves a conversation that none of these assistants may answer in."""
    return Serving(_undecided(assistants), lambda _: None)


@lru_cache(maxsize=4)
def _undecided(assistants: tuple[Assistant, ...]) -> Undecided:
    return Undecided(assistants)


def button_key(exam: str) -> str:
    """Return the key of the sentence that stands on the button of an exam."""
    return f"exam:{exam}"


def title(assistant: Assistant, language: str) -> str:
    """Return what an exam is called on a button; where nobody has written that, it is the catalog's name."""
    exam = assistant.wording.exam
    own = exam.phrases.get(language, {}).get("exam", "") if exam is not None else ""
    return own or plain_title(exam_of(assistant))


def plain_title(name: str) -> str:
    """Return what an exam is called of which only the catalog's name is known."""
    return name.upper() if len(name) < MOST_CAPITALS else name.replace("_", " ").replace("-", " ").capitalize()


def is_undecided(catalog: str) -> bool:
    """Say whether a turn that is kept as answered from a catalog was taken before the exam was known."""
    return exam_in(catalog) == NO_EXAM


def exam_in(catalog: str) -> str:
    """Return the exam of a turn that is kept as answered from a catalog, `name@version`."""
    return catalog.partition("@")[0]


class Undecided(Assistant):
    """Decides in a conversation that no exam answers in: on emergencies, and how soon to ask whom. It shows no pair."""

    def __init__(self, exams: Sequence[Assistant]) -> None:
        first = exams[0]
        opened = {language: each._opened[language] for each in reversed(exams) for language in each.languages}
        languages = dict.fromkeys(language for each in exams for language in each.languages)
        house = House(first.country, None, _with_buttons(exams, tuple(languages)))
        super().__init__(
            {language: opened[language] for language in languages},
            first.encoder,
            sample=any(each.sample for each in exams),
            house=house,
        )
        self._exams = tuple(exams)
        self._empty = {language: _empty(opened[language].catalog) for language in languages}

    @property
    def exams(self) -> Mapping[str, Assistant]:
        """Who answers when the exam is known, by its name."""
        return {exam_of(each): each for each in self._exams}

    @property
    def house(self) -> House:
        return replace(self._house, site=_common([each.site for each in self._exams]))

    @property
    def is_closed(self) -> bool:
        return all(each.is_closed for each in self._exams)

    @property
    def asks(self) -> bool:
        return False

    def prepare(self) -> None:
        for each in self._exams:
            each.prepare()

    def catalog(self, language: str) -> Catalog:
        self._of(language)
        return self._empty[language]

    def shown(self, language: str) -> frozenset[str]:
        return frozenset()

    def learned(self, language: str) -> frozenset[str]:
        return frozenset()

    def answer(self, text: str, lang: str = AUTO, *, method: Method = "hybrid", ignore_flags: bool = False) -> Response:
        """Decide whether a message is an emergency for any of the exams; no more."""
        return self.decide(text, lang, method=method, ignore_flags=ignore_flags)[0]

    def decide(
        self, text: str, lang: str = AUTO, *, method: Method = "hybrid", ignore_flags: bool = False
    ) -> tuple[Response, str]:
        """Return the same, and the key of the sentence that says how soon to ask whom about a complaint; or nothing."""
        asked = [each for each in self._exams if lang == AUTO or lang in each.languages]
        told = [each.answer(text, lang, method=method, ignore_flags=ignore_flags) for each in asked]
        # A firm sign before one that may be none.
        urgent = sorted((each for each in told if each.decision == "urgent"), key=lambda each: each.unsure)
        response = next(iter(urgent), told[0])
        complaints = {_complaint_key(each) for each in told}
        key = next((each for each in _COMPLAINTS if each in complaints), "")
        decided = replace(
            response,
            decision="urgent" if urgent else "declined",
            pair_id=None,
            score=0.0,
            candidates=(),
            choices=(),
            answer=None,
            also=(),
            catalog=self._empty[response.lang].ref,
            level=None,
            advice=None,
            judged=None,
        )
        return decided, "" if urgent else key

    def red_flag(self, text: str, *, fallback: str, rules_only: bool = False) -> str | None:
        """Return the language in which a text raises a red flag for any of the exams."""
        for each in self._exams:
            own = fallback if fallback in each.languages else each.languages[0]
            found = each.red_flag(text, fallback=own, rules_only=rules_only)
            if found is not None:
                return fallback if found == own else found
        return None

    def button(self, exam: str, language: str) -> Interface:
        """Return what is pressed to choose an exam."""
        key = button_key(exam)
        return sentence_of(self.wording.sentences, language, key)

    def without_old_buttons(self, reply: Reply) -> Reply:
        """Return a stored reply without the exams that are not served any more, or are called otherwise by now."""
        known = self.wording.sentences.get(reply.language, {})
        buttons = button_key("")
        old = [
            part
            for part in reply.choices
            if isinstance(part, Interface) and part.key.startswith(buttons) and known.get(part.key) != part.text
        ]
        return replace(reply, choices=()) if old else reply

    def names_in(self, text: str) -> Named:
        """Return which exams a message names."""
        return read_names(text, {name: called(each) for name, each in self.exams.items()})

    def is_shared(self, text: str) -> bool:
        """Say whether a hint in a message stands in the name of another exam, too: an MRI may be one of the breast."""
        said, every = set(words(text)), [called(each) for each in self._exams]
        hinting = [(each, hint) for each in every for hint in each.hints if said.issuperset(hint)]
        return any(
            set(hint) < set(name) for own, hint in hinting for each in every if each is not own for name in each.names
        )

    def named_in(self, text: str, language: str) -> str | None:
        """Return the exam that a message chooses, whatever it asks beside; None where it names none, or several."""
        said = words(text)
        titles = {name: title(each, language) for name, each in self.exams.items()}
        pressed = [name for name, called in titles.items() if words(called) == said]
        if len(pressed) == 1:
            return pressed[0]
        number = re.fullmatch(r"\s*(\d)\s*[.)]?\s*", text)
        place = int(number[1]) if number else picks(text)
        if place and abs(place) <= len(titles):
            return tuple(titles)[place - 1 if place > 0 else place]
        named = self.names_in(text)
        rest = [name for name in self.exams if name not in named.denied]
        if named.denied and not named.meant and len(rest) == 1 and named.alone and means_other(text):
            return rest[0]  # "not the mammogram, the other one"
        if named.alone and named.hinted and self.is_shared(text):
            return None
        if not named.alone:
            asks = "?" in text or question_like(text, language) != "no"
            most = MOST_BOOKED if named.booked or asks else MOST_NAMING
            # "MRI, how long is it?" chooses; "is it like an MRI?" does not.
            if named.denied or named.hinted or len(said) > most or (asks and named.compares):
                return None
        return named.meant[0] if len(named.meant) == 1 else None


# The most urgent first. What may be none is left to the exam.
_COMPLAINTS = ("complaint_now", "complaint_today", "complaint_days", "complaint_appointment")


def _complaint_key(response: Response) -> str:
    advice = response.advice
    if response.level == "now":
        return "complaint_now"
    return f"complaint_{advice.urgency}" if advice is not None and not advice.is_unsure else ""


def _empty(catalog: Catalog) -> Catalog:
    """Return a catalog without anything that a patient could be shown."""
    return replace(catalog, name=NO_EXAM, version="", pairs=(), complaints=None, remarks={})


def _with_buttons(exams: Sequence[Assistant], languages: Sequence[str]) -> Wording:
    """Return the sentences that speak of no exam, and the names of these exams, in each language."""
    found = dict(NEUTRAL.sentences)
    for language in languages:
        buttons = {button_key(exam_of(each)): title(each, language) for each in exams}
        # One alone is the only one that can be named.
        only = {"exam_only": exams[0].wording.sentences[language]["exam_only"]} if len(exams) == 1 else {}
        found[language] = {**found[language], **buttons, **only}
    return Wording(found, NEUTRAL.phrases)


def _common(sites: Sequence[Site | None]) -> Site | None:
    """Return what all exams say alike of the place; of the telephone what the first says."""
    first = sites[0]
    if first is None:
        return None
    alike = {
        fact: said
        for fact, said in first.texts.items()
        if fact == "phone" or all(each is not None and each.texts.get(fact) == said for each in sites)
    }
    return replace(first, texts=alike)


@lru_cache(maxsize=32)
def called(assistant: Assistant) -> Called:
    """Return what an exam is called, in all its languages: patients mix them."""
    exam = assistant.wording.exam
    titles = [title(assistant, language) for language in assistant.languages]
    names = [each for every in (exam.called if exam is not None else NO_WORDS).values() for each in every]
    hints = [each for every in (exam.hints if exam is not None else NO_WORDS).values() for each in every]
    return Called(_in_words([*names, *titles, exam_of(assistant)]), _in_words(hints))


def _in_words(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(tuple(words(each)) for each in names if words(each)))

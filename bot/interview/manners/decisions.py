"""What answers leave for staff to decide before the exam, by what a form says of its questions and of words. Pure.

A question with the extension `decision` lists the answers that leave nothing to decide. Whatever else stands there
does: another answer, the patient's own words, or none. Words that name something (`decision-words` of the form) do in
every answer, and in whatever was said while the form was asked; unless all that was said is that it is not there. So do
words that nobody here can read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bot.interview.form.form import Form, Item, Option, Path
from bot.interview.manners.lexicon import Lexicon
from bot.interview.manners.session import Filler, Session
from bot.interview.manners.unread import is_unread
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, as_object, extensions, objects, string
from bot.interview.values.fhir_names import DECISION
from bot.interview.walk.engine import Engine
from bot.interview.walk.filling import Noted
from bot.text import sanitise, words

MOST_SAID = 500  # characters of a message that staff are told
_WORDS = frozenset({"string", "text", "markdown", "uri"})
# Who speaks of themselves when they say "ich": also where nobody asked who fills the form in.
_FOR_ONESELF: frozenset[Filler] = frozenset({"", "open", "patient"})

Kind = Literal["answer", "not-answered", "words", "unread"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why somebody has to decide something before the exam.

    Attributes:
        kind: An answer, a question without one, what the patient said in words, or words that nobody here can read.
        link_id: The question; of words, what was open when they were said.
        asked: Its text, in the language of the conversation.
        said: The answers as they are called, or the patient's words.
    """

    kind: Kind
    link_id: str
    asked: str
    said: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a question leaves to decide.

    Attributes:
        clear: The answers that leave nothing, by code; ``true`` and ``false`` where it is yes or no.
        any_words: Whether any own words do; else those that name something.
        open: Whether it asks for whatever was not asked: all words do then but thanks and a "no", and no answer leaves
            nothing.
    """

    clear: frozenset[str]
    any_words: bool = True
    open: bool = False


@dataclass(frozen=True, slots=True)
class Decisions:
    """All that a form says of decisions; without rules and words there are none.

    Attributes:
        rules: By linkId, of questions that ask for something.
        rooms: The linkIds of those that ask for whatever was not asked: what is said to no question is kept there, too.
        lexicon: The words.
    """

    rules: Mapping[str, Rule]
    rooms: frozenset[str]
    lexicon: Lexicon

    @classmethod
    def of(cls, form: Form) -> Decisions:
        """Read what the items of a form, and the form itself, say."""
        found = ((item.link_id, extension) for item in form.walk() for extension in extensions(item.raw, *DECISION))
        rules = {link_id: _rule(each) for link_id, each in found}
        asked = {link_id: rule for link_id, rule in rules.items() if not rule.open}
        return cls(asked, frozenset(rules.keys() - asked.keys()), Lexicon.of(form.raw))

    def __bool__(self) -> bool:
        return bool(self.rules)

    def tells(
        self, text: str, item: Item | None, *, asks: bool = False, unanswered: bool = False, filler: Filler = ""
    ) -> bool:
        """Say whether a message leaves something to decide.

        Args:
            text: What the patient said.
            item: What was asked; None for nothing.
            asks: Whether it is clearly a question of the patient's: it must name something then; of theirs, unless it
                was said to a question with a rule ("does a stent count?").
            unanswered: Whether nobody could answer it: to a question with a rule it counts as an answer in words does.
            filler: Who fills the form in: for a relative, "she has one" is said of the patient.
        """
        if not self.rules:
            return False
        if item is not None and is_unread(text):
            return True
        rule = self.rules.get(item.link_id) if item is not None else None
        own = self.of_patient(text, item, filler)
        if rule is not None and item is not None and (unanswered or not asks):
            if self.lexicon.contradicts_itself(own):
                return True
            excepted = self.lexicon.excepted(own)
            if rule.any_words or (excepted and not _is_clear(item, rule, excepted)):
                return not self.lexicon.is_plain(own)
        of_patient = not asks or rule is not None or filler not in _FOR_ONESELF or self.lexicon.is_of_oneself(own)
        return of_patient and self.lexicon.names_something(own, asks=asks)

    def may_tell(self, text: str, filler: Filler, *, lost: bool, about: str) -> bool:
        """Say whether a statement to no question leaves something to decide, although it names nothing itself.

        Args:
            text: What the patient said.
            filler: Who fills the form in.
            lost: Whether a list or summary was open, and nothing came of it: then whatever is said of oneself counts.
            about: The question that it was answered as; empty where nobody could answer it.
        """
        own = self.of_patient(text, None, filler)
        if not self.rules or not own or self.lexicon.is_plain(own):
            return False
        of_oneself = filler not in _FOR_ONESELF or self.lexicon.is_of_oneself(own)
        if about:
            return of_oneself and self.lexicon.names_something(about)
        return of_oneself and (lost or self.lexicon.hints_at_something(own))

    def states_something(self, text: str, filler: Filler) -> bool:
        """Say whether a message that answers nothing tells of the patient's body or work in words of no list."""
        own = self.of_patient(text, None, filler)
        return bool(self.rules and own) and self.lexicon.states_something(own)

    def is_unclear(self, item: Item, answers: Sequence[Answer]) -> bool:
        """Say whether answers to a question leave something to decide."""
        rule = self.rules.get(item.link_id)
        return rule is not None and any(not _in_words(each) and _code(each) not in rule.clear for each in answers)

    def of_patient(self, text: str, item: Item | None, filler: Filler) -> str:
        """Return a message without what it says of others; all of it where that may be meant as the answer."""
        if not self.rules:
            return text
        own = self.lexicon.without_others(text) if filler in _FOR_ONESELF else text
        # "My husband has one", to a question that is open: whoever says only that may answer for him.
        answers = item is not None and item.link_id in self.rules and not own
        return text if answers else own

    def is_of_others(self, text: str, filler: Filler) -> bool:
        """Say whether a message is only about somebody else than the patient."""
        return self.of_patient(text, None, filler) == ""

    def is_denial(self, text: str, item: Item) -> bool:
        """Say whether a message to a question denies all that it asks for, and says nothing else."""
        return item.link_id in self.rules and self.lexicon.denies(self.of_patient(text, item, ""))

    def excepted(self, text: str, item: Item) -> str:
        """Return what a message to a question excepts from its denial; empty for nothing, or without a rule."""
        excepted = self.lexicon.excepted(text) if item.link_id in self.rules else ""
        return "" if self.lexicon.is_plain(excepted) else excepted

    def reasons(self, engine: Engine, session: Session) -> tuple[Reason, ...]:
        """Return all reasons, in the order of the form, in the language of the session.

        All that happened counts: what was once said does, whatever became of the question since.
        """
        form, filling, language = engine.form, session.filling, session.language
        found = list[Reason]()
        for path in engine.questions(filling):
            found += self._of_question(form.by_link_id[path[-1][0]], filling.at(path), language)
        for item in form.walk():
            # What formulas found for the team; where they found nothing, there is nothing.
            hidden = filling.instances(form, item) if item.hidden and item.link_id in self.rules else ()
            given = [answer for path in hidden if filling.is_enabled(form, path) for answer in filling.at(path)]
            found += self._of_question(item, given, language) if given else ()
        noted = dict.fromkeys((event.path, event.text) for event in session.events if isinstance(event, Noted))
        found += self._of_words(form, noted, session)
        order = {link_id: place for place, link_id in enumerate(form.by_link_id)}
        return _once(sorted(found, key=lambda reason: order.get(reason.link_id, 0)))

    def _of_question(self, item: Item, answers: Sequence[Answer], language: str) -> Iterator[Reason]:
        rule, asked = self.rules.get(item.link_id), item.text.into(language)
        said = [text for text in map(_in_words, answers) if text]
        if item.link_id in self.rooms:
            told = [text for text in said if is_unread(text) or not self.lexicon.says_nothing(text)]
        elif rule is not None and rule.any_words:
            told = [text for text in said if not self.lexicon.denies(text)]
        else:
            told = [text for text in said if self.lexicon.names_something(text) or is_unread(text)]
        for text in told:
            yield _words(item, asked, text)
        if rule is None:
            return
        unclear = [each for each in answers if self.is_unclear(item, (each,))]
        if unclear:
            yield Reason("answer", item.link_id, asked, tuple(_called(item, each, language) for each in unclear))
        if not answers:
            yield Reason("not-answered", item.link_id, asked)

    def _of_words(self, form: Form, noted: Iterable[tuple[Path, str]], session: Session) -> Iterator[Reason]:
        for path, text in noted:
            item = form.by_link_id.get(path[-1][0])
            if item is None:
                continue
            # Where there is room for words, only what nobody may lose is noted: `may_tell` was asked then.
            doubtful = item.type == "text" and self.may_tell(text, session.filler, lost=True, about="")
            if doubtful or self.states_something(text, session.filler) or self.tells(text, item, filler=session.filler):
                yield _words(item, item.text.into(session.language), text)


def _words(item: Item, asked: str, text: str) -> Reason:
    return Reason("unread" if is_unread(text) else "words", item.link_id, asked, (_cut(text),))


def _once(found: Sequence[Reason]) -> tuple[Reason, ...]:
    """Return reasons without what another one says as well: the same words at two questions, or part of them at one."""
    kept, said = list[Reason](), dict[int, list[str]]()
    for number, reason in enumerate(found):
        said[number] = words(" ".join(reason.said)) if reason.kind in ("words", "unread") else []
    for number, reason in enumerate(found):
        again = [
            other
            for other, told in said.items()
            if other != number
            and said[number]
            and (told == said[number] if found[other].link_id != reason.link_id else _holds(told, said[number]))
            and (told != said[number] or other < number)
        ]
        if not again and reason not in kept:
            kept.append(reason)
    return tuple(kept)


def _holds(longer: Sequence[str], part: Sequence[str]) -> bool:
    return any(longer[place : place + len(part)] == part for place in range(len(longer) - len(part) + 1))


def _rule(extension: JsonObject) -> Rule:
    parts = objects(extension, "extension")
    clear = frozenset(string(part, "valueCode") for part in parts if part.get("url") == "clear")
    which = {string(part, "valueCode") for part in parts if part.get("url") == "words"}
    return Rule(clear, any_words="listed" not in which, open="all" in which)


def _is_clear(item: Item, rule: Rule, text: str) -> bool:
    """Say whether words are only what an answer is called that leaves nothing to decide: "pollen"."""
    clear = [option for option in item.options if _code(option.answer) in rule.clear]
    called = {word for option in clear for name in _names(option) for word in words(name)}
    return called.issuperset(words(text))


def _names(option: Option) -> Iterator[str]:
    yield from (option.label.base, *option.label.translations.values(), *option.synonyms)


def _in_words(answer: Answer) -> str:
    """Return what a patient wrote themselves; empty for an answer that was chosen or measured."""
    return str(answer.value) if answer.type in _WORDS else ""


def _code(answer: Answer) -> str:
    if isinstance(answer.value, bool):
        return str(answer.value).lower()
    return string(as_object(answer.value), "code") if isinstance(answer.value, Mapping) else str(answer.value)


def _called(item: Item, answer: Answer, language: str) -> str:
    """Return what an answer is called, as the patient read it."""
    label = next((option.label.into(language) for option in item.options if option.answer == answer), "")
    return label or _code(answer)


def _cut(text: str) -> str:
    clean = sanitise(text).text
    return clean if len(clean) <= MOST_SAID else clean[: MOST_SAID - 1] + "…"

"""What answers leave for staff to decide before the exam, by what a form says of its questions and of words. Pure.

A question with the extension `decision` lists the answers that leave nothing to decide. Whatever else stands there
does: another answer, the patient's own words, or none. Words that name something (`decision-words` of the form) do in
every answer, and in whatever was said while the form was asked; unless all that was said is that it is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from bot.interview.form.form import Form, Item, Path
from bot.interview.manners.listening import QuestionLike
from bot.interview.reading.vocabulary import near
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, as_object, extensions, objects, string
from bot.interview.values.fhir_names import DECISION, DECISION_WORDS
from bot.interview.walk.engine import Engine
from bot.interview.walk.filling import Event, Filling, Noted
from bot.text import sanitise, words

MIN_MISTYPED = 6  # letters of a word that is known with one slip in it, too
MOST_SAID = 500  # characters of a message that staff are told
_BREAKS = re.compile(r"[,.;:!?()\n/]+|\s[-–—]+\s")
_WORDS = frozenset({"string", "text", "markdown", "uri"})

Kind = Literal["answer", "not-answered", "words"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why somebody has to decide something before the exam.

    Attributes:
        kind: An answer, a question without one, or what the patient said in words.
        link_id: The question; of words, what was open when they were said.
        asked: Its text, as staff read it.
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
    """

    clear: frozenset[str]
    any_words: bool = True


@dataclass(frozen=True, slots=True)
class Decisions:
    """All that a form says of decisions; without rules and words there are none."""

    rules: Mapping[str, Rule]
    lexicon: Lexicon

    @classmethod
    def of(cls, form: Form) -> Decisions:
        """Read what the items of a form, and the form itself, say."""
        found = ((item.link_id, extension) for item in form.walk() for extension in extensions(item.raw, *DECISION))
        return cls({link_id: _rule(each) for link_id, each in found}, _lexicon_of(form.raw))

    def __bool__(self) -> bool:
        return bool(self.rules)

    def tells(self, text: str, item: Item | None, *, asks: QuestionLike = "no") -> bool:
        """Say whether a message leaves something to decide.

        Args:
            text: What the patient said.
            item: What was asked; None for nothing.
            asks: Whether it is a question of the patient's: it must name something then, a clear one of themselves.
        """
        rule = self.rules.get(item.link_id) if item is not None else None
        if not self.rules:
            return False
        if rule is not None and rule.any_words and asks == "no":
            return not self.lexicon.is_plain(text)
        return self.lexicon.names_something(text) and (asks != "clear" or self.lexicon.is_of_oneself(text))

    def reasons(self, engine: Engine, filling: Filling, events: Iterable[Event]) -> tuple[Reason, ...]:
        """Return all reasons, in the order of the form.

        Args:
            engine: Of the form.
            filling: As things stand.
            events: All that happened: what was once said counts, whatever became of the question since.
        """
        form, found = engine.form, list[Reason]()
        for path in engine.questions(filling):
            found += self._of_question(form.by_link_id[path[-1][0]], filling.at(path))
        for item in form.walk():
            # What formulas found for the team; where they found nothing, there is nothing.
            hidden = filling.instances(form, item) if item.hidden and item.link_id in self.rules else ()
            given = [answer for path in hidden if filling.is_enabled(form, path) for answer in filling.at(path)]
            found += self._of_question(item, given) if given else ()
        noted = dict.fromkeys((event.path, event.text) for event in events if isinstance(event, Noted))
        found += self._of_words(form, noted)
        order = {link_id: place for place, link_id in enumerate(form.by_link_id)}
        return tuple(dict.fromkeys(sorted(found, key=lambda reason: order.get(reason.link_id, 0))))

    def _of_question(self, item: Item, answers: Sequence[Answer]) -> Iterator[Reason]:
        rule, asked = self.rules.get(item.link_id), item.text.base
        said = [text for text in map(_in_words, answers) if text]
        if rule is not None and rule.any_words:
            told = [text for text in said if not self.lexicon.denies(text)]
        else:
            told = [text for text in said if self.lexicon.names_something(text)]
        if told:
            yield Reason("words", item.link_id, asked, tuple(_cut(text) for text in told))
        if rule is None:
            return
        unclear = [each for each in answers if not _in_words(each) and _code(each) not in rule.clear]
        if unclear:
            yield Reason("answer", item.link_id, asked, tuple(_called(item, each) for each in unclear))
        if not answers:
            yield Reason("not-answered", item.link_id, asked)

    def _of_words(self, form: Form, noted: Iterable[tuple[Path, str]]) -> Iterator[Reason]:
        for path, text in noted:
            item = form.by_link_id.get(path[-1][0])
            if item is not None and self.tells(text, item):
                yield Reason("words", item.link_id, item.text.base, (_cut(text),))


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words that name something to decide, and those by which somebody says that it is not there.

    Attributes:
        exact: Words that name something.
        starts: What such words begin with; `ends` what they end with; `parts` what is anywhere in them.
        phrases: Several words in a row, by the first.
        denials: "kein", "never".
        affirms: "ja", "yes".
        around: Words that say nothing beside a denial.
        joins: Words by which a denial goes on to the next thing: "kein Stent oder Clip".
        own: Words of somebody who speaks of themselves.
    """

    exact: frozenset[str] = frozenset()
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    phrases: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    denials: frozenset[str] = frozenset()
    affirms: frozenset[str] = frozenset()
    around: frozenset[str] = frozenset()
    joins: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()

    def is_plain(self, text: str) -> bool:
        """Say whether a message is a plain yes or no, or a denial, and nothing else: "nein", "kein Schrittmacher"."""
        return all(self._is_plain(words(piece)) for piece in _BREAKS.split(text))

    def denies(self, text: str) -> bool:
        """Say whether a message is a denial and nothing else: an answer in words that leaves nothing to decide."""
        said = set(words(text))
        return self.is_plain(text) and not said.isdisjoint(self.denials) and said.isdisjoint(self.affirms)

    def names_something(self, text: str) -> bool:
        """Say whether there is a word in a message that names something, and more than a denial of it."""
        # A phrase may be written over a mark: "box, under my collarbone".
        said = words(text)
        return any(self._named_at(said, place) for place in range(len(said))) and not self.is_plain(text)

    def is_of_oneself(self, text: str) -> bool:
        """Say whether a patient speaks of themselves, as in "may I go in with my pacemaker?"."""
        return not self.own.isdisjoint(words(text))

    def _is_plain(self, said: Sequence[str]) -> bool:
        denied, place = False, 0
        while place < len(said):
            word, named = said[place], self._named_at(said, place)
            if word in self.denials:
                denied = True
            elif named and denied:
                # What it denies ends here, unless the next word goes on with it.
                denied = said[place + named : place + named + 1] != [] and said[place + named] in self.joins
                place += named - 1
            elif named or not (word in self.around or word in self.affirms):
                return False
            place += 1
        return True

    def _named_at(self, said: Sequence[str], place: int) -> int:
        """Return how many words from a place on name something; 0 where none do."""
        word = said[place]
        phrases = (each for each in self.phrases.get(word, ()) if tuple(said[place : place + len(each)]) == each)
        longest = max(map(len, phrases), default=0)
        single = (
            word in self.exact
            or word.startswith(self.starts)
            or word.endswith(self.ends)
            or any(part in word for part in self.parts)
            or (len(word) >= MIN_MISTYPED and word not in self.around and bool(near(word, self._long)))
        )
        return longest or int(single)

    @property
    def _long(self) -> frozenset[str]:
        return _long_words(self.exact)


@lru_cache(maxsize=8)
def _long_words(known: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in known if len(word) >= MIN_MISTYPED)


def _lexicon_of(raw: JsonObject) -> Lexicon:
    stated = [
        (string(part, "url"), string(part, "valueString"))
        for extension in extensions(raw, *DECISION_WORDS)
        for part in objects(extension, "extension")
    ]
    return _lexicon(tuple(stated))


@lru_cache(maxsize=8)
def _lexicon(stated: tuple[tuple[str, str], ...]) -> Lexicon:
    """Return what lists of words come to, by what each list is; all languages together, for patients mix them."""
    listed: dict[str, list[str]] = {}
    for name, text in stated:
        listed.setdefault(name, []).extend(text.split(","))
    exact, starts, ends, parts = set[str](), set[str](), set[str](), set[str]()
    phrases: dict[str, list[tuple[str, ...]]] = {}
    for term in (each.strip() for each in listed.get("words", ())):
        folded = tuple(words(term))
        if len(folded) > 1:
            # A phrase ends where its last word does; a star there is taken for a word of its own letters.
            phrases.setdefault(folded[0], []).append(folded)
        elif folded:
            kind = {(False, False): exact, (False, True): starts, (True, False): ends, (True, True): parts}
            kind[term.startswith("*"), term.endswith("*")].add(folded[0])
    plain = {name: frozenset(word for text in listed.get(name, ()) for word in words(text)) for name in _PLAIN}
    return Lexicon(
        frozenset(exact),
        tuple(starts),
        tuple(ends),
        tuple(parts),
        {first: tuple(several) for first, several in phrases.items()},
        **plain,
    )


_PLAIN = ("denials", "affirms", "around", "joins", "own")


def _rule(extension: JsonObject) -> Rule:
    parts = objects(extension, "extension")
    clear = frozenset(string(part, "valueCode") for part in parts if part.get("url") == "clear")
    listed = any(part.get("url") == "words" and part.get("valueCode") == "listed" for part in parts)
    return Rule(clear, any_words=not listed)


def _in_words(answer: Answer) -> str:
    """Return what a patient wrote themselves; empty for an answer that was chosen or measured."""
    return str(answer.value) if answer.type in _WORDS else ""


def _code(answer: Answer) -> str:
    if isinstance(answer.value, bool):
        return str(answer.value).lower()
    return string(as_object(answer.value), "code") if isinstance(answer.value, Mapping) else str(answer.value)


def _called(item: Item, answer: Answer) -> str:
    """Return what an answer is called in the form's own language."""
    label = next((option.label.base for option in item.options if option.answer == answer), "")
    return label or _code(answer)


def _cut(text: str) -> str:
    clean = sanitise(text).text
    return clean if len(clean) <= MOST_SAID else clean[: MOST_SAID - 1] + "…"

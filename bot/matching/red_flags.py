"""Red flags: signs of an emergency in what a patient writes, what the words around them say, and disguised letters.

The rules are data in `red_flag_rules`. A rule is a regular expression over folded words (no umlauts, no accents,
no punctuation), matched between word bounds in one passage of the message. A rule's `unless` takes the match back.
`contexts` tell who, when and how: a sign that is long past, denied, asked about in general or heard of elsewhere is no
alarm by itself, unless the same passage says that it is now. In a long message the sentence of a sign says whether it
is a story (`stories`): "now" and "suddenly" in the sentences beside it are about something else.

People disguise letters to get past filters, and keyboards, fonts and copied text do it by accident. What is read behind
a disguise is only used to look for emergencies: nothing of it is stored or answered. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from html import unescape
from itertools import pairwise, product
from math import log
from pathlib import Path
from typing import Any

import regex
from pydantic import BaseModel, ConfigDict, Field

from bot.languages.files import cached, load, load_rows, read_bytes
from bot.text import LONGEST, passages, sentences, words

MAX_READINGS = 6
LONGEST_WORD = 40  # letters; longer ones are no words
LONG_COMPOUND = 20  # letters, from which on a piece is hardly one word
RUN_TOGETHER = (11, 400)  # letters of a piece of text that may hold several words
UNKNOWN_LETTER = -2.5  # log-likelihood of a letter in a word that is not known
OTHER_LETTERS = 0.5  # share of a text, from which on nobody can say what it means
FEW_LETTERS = 6  # "1 2 3" is no word
MOST_RUNS = 4  # of drawn out letters in a word; more are taken as one letter each
MOST_LETTERS = 8_000  # of a text that is read in other ways; what is longer is no message in disguise

_LATIN = regex.compile(r"\p{Script=Latin}")
_DIGITS = str.maketrans(
    {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "@": "a", "$": "s", "€": "e"}
)
_LEET = re.compile(r"[^\W\d_][0134578@$€!|]|[0134578@$€|][^\W\d_]")
# Three or more single letters or pairs of letters in a row, whatever stands between them.
_SPELLED = re.compile(
    r"(?<![^\W_])[^\W_]{1,2}(?:[^\w\s'’]{0,3}[\s_][^\w\s'’]{0,3}[^\W_]{1,2}|[^\w\s'’]{1,3}[^\W_]{1,2}|_[^\W_]{1,2}){3,}(?![^\W_])"
)
_INNER = re.compile(r"(?<=[^\W\d_])[^\w\s'’,;:!?]{1,3}(?=[^\W\d_])|(?<=[^\W\d_])_+(?=[^\W\d_])")
_STRETCHED = re.compile(r"([^\W\d_])\1{2,}")
_SQUARED = {start + offset: chr(97 + offset) for start in (0x1F150, 0x1F170, 0x1F1E6) for offset in range(26)}


@dataclass(frozen=True)
class Speller:
    """Finds the words in letters that are written without spaces.

    Attributes:
        counts: How often each folded word occurs in texts of the language.
    """

    counts: Counter[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Speller:
        return cls(Counter(word for text in texts for word in words(text)))

    @cached_property
    def _weights(self) -> dict[str, float]:
        total = self.counts.total() or 1
        return {word: log(count / total) for word, count in self.counts.items()}

    def unstretched(self, text: str) -> str:
        """Return a text in which no letter is drawn out: of "voooomiiit", the spelling that is a known word."""
        return " ".join(self._short(piece) if _STRETCHED.search(piece) else piece for piece in text.split())

    def _short(self, piece: str) -> str:
        once = _STRETCHED.sub(r"\1", piece)
        runs = [run[1] for run in _STRETCHED.finditer(piece)][:MOST_RUNS]
        for lengths in product((1, 2), repeat=len(runs)):
            spelt = piece
            for run, length in zip(_STRETCHED.finditer(piece), lengths, strict=False):
                spelt = spelt.replace(run[0], run[1] * length)
            spelt = _STRETCHED.sub(r"\1", spelt)
            if "".join(words(spelt)) in self.counts:
                return spelt
        return once

    def split(self, letters: str) -> str:
        """Return the likeliest words that the letters make; runs of unknown letters stay together."""
        known, unknown = self._weights, log(0.1 / (self.counts.total() or 1))
        weight, start = [0.0], [0]
        for end in range(1, len(letters) + 1):
            best, begin = -1e18, end - 1
            for first in range(max(0, end - LONGEST_WORD), end):
                likely = known.get(letters[first:end])
                total = weight[first] + (unknown + UNKNOWN_LETTER * (end - first) if likely is None else likely)
                if total > best:
                    best, begin = total, first
            weight.append(best)
            start.append(begin)
        cuts, end = [len(letters)], len(letters)
        while end:
            end = start[end]
            cuts.append(end)
        cuts.reverse()
        return " ".join(letters[first:last] for first, last in pairwise(cuts))


def plain_letters(text: str) -> str:
    """Return a text with lookalikes of Latin letters as Latin letters, and marks inside words left out."""
    return "".join(_lookalikes().get(mark, mark) for mark in text)


def is_spelt_out(text: str) -> bool:
    """Say whether most of a text is single letters: "H i l f e"."""
    pieces = text.split()
    return 2 * sum(len(piece) == 1 for piece in pieces) > len(pieces) > FEW_LETTERS


def is_other_script(text: str) -> bool:
    """Say whether a text is written in other letters than Latin ones."""
    if text.isascii():
        return False
    letters = [mark for mark in text if mark.isalpha()]
    others = sum(not (mark.isascii() or _LATIN.match(mark, concurrent=False)) for mark in letters)
    return others > OTHER_LETTERS * len(letters)


def readings(text: str, speller: Speller) -> tuple[str, ...]:
    """Return what else a sanitised text may say, without the text itself; empty for text that is written plainly.

    Args:
        text: Sanitised text.
        speller: Of the language in which it is read.
    """
    if len(text) > MOST_LETTERS:
        return ()
    plain = plain_letters(unescape(text))
    found = [plain]
    ways = (_digits_as_letters, _joined, lambda said: _spelled_out(said, speller), speller.unstretched)
    for undo in (*ways, lambda said: _run_together(said, speller)):
        found = list(dict.fromkeys([*found, *(undo(said) for said in found)]))
    # With two letters left, then with one: "hilffffe", "kommmmt".
    found += [_STRETCHED.sub(r"\1\1", plain)]
    own = words(text)  # another case or another comma says nothing else
    return tuple(other for other in dict.fromkeys(found) if words(other) != own)[:MAX_READINGS]


def _digits_as_letters(text: str) -> str:
    return " ".join(_as_letters(piece) if _LEET.search(piece) else piece for piece in text.split())


def _as_letters(piece: str) -> str:
    return piece.replace("!", "i").replace("|", "l").translate(_DIGITS)


def _run_together(text: str, speller: Speller) -> str:
    """Cut what is too long for a word into words: "ikriegekeineluft"."""
    least, most = RUN_TOGETHER
    return " ".join(
        _cut_up("".join(words(piece)), speller) if least <= len(piece) <= most else piece for piece in text.split()
    )


def _cut_up(letters: str, speller: Speller) -> str:
    """Return the words that letters make. What could be a long word must be cut into several known ones."""
    cut = speller.split(letters)
    pieces = cut.split()
    sure = len(pieces) >= 3 and all(piece in speller.counts for piece in pieces)
    return cut if sure or len(letters) >= LONG_COMPOUND else letters


def _joined(text: str) -> str:
    return _INNER.sub("", text)


def _spelled_out(text: str, speller: Speller) -> str:
    def together(run: re.Match[str]) -> str:
        # Pairs of letters are words, too ("so", "in"): only a run that is mostly single letters is spelt out.
        pieces = words(run[0])
        if sum(len(piece) == 1 for piece in pieces) * 2 < len(pieces):
            return run[0]
        # Some languages have many words of one letter: "il y a 6 ans".
        if all(piece in speller.counts or piece.isdigit() for piece in pieces):
            return run[0]
        return speller.split("".join(pieces))

    return _SPELLED.sub(together, text)


@lru_cache(maxsize=1)
def _lookalikes() -> dict[str, str]:
    lines = (Path(__file__).parent / "lookalikes.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" ", 1) for line in lines if not line.startswith("#"))
    table = {mark: letter for letter, marks in pairs for mark in marks}
    return table | {chr(code): letter for code, letter in _SQUARED.items()}


FLAGS = ("breathing", "chest-pain", "collapse", "bleeding", "allergy", "stroke", "overdose", "suicide", "acute")
# Flags that rules alone raise, where a patient is told something else: in the scanner now. A language may do without
# rules for them; examples and the learned alarm know the flags above.
BY_RULE = ("scanner",)
# What the words around a sign can say. The first is evidence of an emergency, the second to seventh against it.
CONTEXTS = ("now", "past", "chronic", "checked", "denied", "general", "hearsay", "fear", "exam", "somebody", "severe")
EXCUSES = frozenset(CONTEXTS[1:7])
# What one sentence says of those beside it.
STAYS = frozenset({"now", "past", "chronic", "checked", "hearsay"})
# Words that open a sentence: "Last time, in 2018, in Cardiff" is about all of it, however long it is. This counts for
# reactions alone, which are told at length years later; who cannot breathe may have begun anywhere.
OPENING, TOLD_LATER = 8, "allergy"
# Words before and after a sign that say whether it is told as a story; words from which on a sentence has no full
# stops; and what is never a story.
STORY_REACHES, LONGEST_STORY, NEVER_A_STORY = 28, 60, "suicide"
REMEMBERED, MOST_REMEMBERED = 256, 1000  # texts, and characters of each
BY_RULE_ONLY = 3  # words: what is no longer than this alarms by rule only
RED_FLAGS = Path(__file__).parent / "red_flag_rules"


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid")

    flag: str
    firm: bool = False
    any: list[str] = Field(min_length=1)
    unless: list[str] = []


class _RuleFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    words: dict[str, str] = {}
    contexts: dict[str, str] = {}
    stories: dict[str, str] = {}
    still: list[str] = []
    again: list[str] = []
    present: list[str] = []
    cries: list[str] = []
    never: list[str] = []
    rule_only: list[str] = []
    rules: list[_Rule]


@dataclass(frozen=True, slots=True)
class Rule:
    """One compiled rule.

    Attributes:
        flag: What it raises.
        matches: The signs.
        unless: What takes them back.
        firm: Whether it says itself who, when and how: asked in general, a deadly dose is a sign all the same.
    """

    flag: str
    matches: re.Pattern[str]
    unless: re.Pattern[str] | None
    firm: bool


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign of an emergency that a rule found in one passage.

    Attributes:
        flag: One of `FLAGS`, or of `BY_RULE`.
        words: The folded words that the rule matched.
        contexts: What the passage says around it, out of `CONTEXTS`.
    """

    flag: str
    words: str
    contexts: frozenset[str]

    @property
    def firm(self) -> bool:
        """Whether it is an alarm by itself."""
        return "now" in self.contexts or not self.contexts & EXCUSES


@dataclass(frozen=True, slots=True)
class Stories:
    """What makes the sign in a sentence of a long message a story.

    Attributes:
        kinds: An excuse out of `CONTEXTS`, and what says so near a sign.
        still: What says in the same sentence that it is happening nevertheless.
        again: What says so in the sentences beside it.
        present: Words of a sign itself that are said in the present.
    """

    kinds: dict[str, re.Pattern[str]]
    still: re.Pattern[str] | None
    again: re.Pattern[str] | None
    present: re.Pattern[str] | None


@dataclass(frozen=True)
class RedFlags:
    """The rules of one language, most specific first."""

    rules: tuple[Rule, ...]
    cries: re.Pattern[str] | None
    never: re.Pattern[str] | None
    rule_only: re.Pattern[str] | None
    contexts: dict[str, re.Pattern[str]]
    stories: Stories
    speller: Speller

    @classmethod
    def with_only(cls, rule: Rule, of: RedFlags) -> RedFlags:
        """Return rules that are one of others, with all that they know of the words around."""
        return replace(of, rules=(rule,))

    def check(self, text: str) -> str | None:
        """Return the red flag that a text raises by rule, one of `FLAGS`, or None."""
        sign = next((sign for sign in self.signs(text) if sign.firm), None)
        return sign.flag if sign else None

    def signs(self, text: str) -> tuple[Sign, ...]:
        """Return the signs in a sanitised text of any length, also where its letters are disguised."""
        found = list(self._plain_signs(text))
        if not any(sign.firm for sign in found):
            found += [sign for said in self.readings(text) for sign in self._plain_signs(said)]
        return tuple(found)

    def alone(self, text: str) -> bool:
        """Tell whether rules alone judge a message: of very few words, or wholly a turn of phrase that they know."""
        said = words(text)
        return len(said) <= BY_RULE_ONLY or bool(self.rule_only and self.rule_only.fullmatch(" ".join(said)))

    def sees_plainly(self, text: str) -> bool:
        """Say whether a text raises a red flag as it is spelt. Quick: to undo disguises can take seconds."""
        return self.plain_flag(text) is not None

    def plain_flag(self, text: str) -> str | None:
        """Return the red flag that a text raises as it is spelt, or None."""
        return next((sign.flag for sign in self._plain_signs(text) if sign.firm), None)

    def readings(self, text: str) -> tuple[str, ...]:
        """Return what else a text may say if its letters are disguised."""
        return self._read(text) if len(text) <= MOST_REMEMBERED else readings(text, self.speller)

    def _plain_signs(self, text: str) -> tuple[Sign, ...]:
        """Return the signs in a text as it is spelt."""
        return self._seen(text) if len(text) <= MOST_REMEMBERED else tuple(self._signs_in(text))

    # In one turn a message is looked at by the queue of requests, by the chat, and by the decision.
    @cached_property
    def _seen(self) -> Callable[[str], tuple[Sign, ...]]:
        return lru_cache(maxsize=REMEMBERED)(lambda text: tuple(self._signs_in(text)))

    @cached_property
    def _read(self) -> Callable[[str], tuple[str, ...]]:
        return lru_cache(maxsize=REMEMBERED)(lambda text: readings(text, self.speller))

    def around(self, text: str) -> frozenset[str]:
        """Return what a text says of who, when and how, out of `CONTEXTS`."""
        return self._around(" ".join(word[:LONGEST_WORD] for word in words(text)))

    def _signs_in(self, text: str) -> Iterator[Sign]:
        if self.never and len(text) <= MOST_REMEMBERED and self.never.fullmatch(" ".join(words(text))):
            return  # "Hilfe!! Ich finde den Eingang nicht": an idiom of several sentences, and nothing beside it
        if self.cries and len(text) <= MOST_REMEMBERED and self.cries.fullmatch(text.strip().lower()):
            yield Sign("acute", " ".join(words(text)), frozenset({"now"}))
        long = [said for said in map(str.split, sentences(text)) if len(said) > LONGEST]
        found = passages(text)
        # A sentence of a long message may be cut.
        whole = tuple(" ".join(said) for said in long if len(said) < LONGEST_STORY) if found[1:] else None
        for passage in found:
            sign = self._sign(passage, frozenset(), whole)
            if sign is not None and sign.flag == TOLD_LATER and long:
                begins = " ".join(passage.split()[:OPENING])
                opened = next((said for said in long if begins in " ".join(said[OPENING:])), [])
                since = self.around(" ".join(opened[:OPENING])) & {"past", "hearsay"}
                sign = replace(sign, contexts=sign.contexts | since)
            if sign is not None:
                yield sign
            if (parts := sentences(passage))[1:] and (sign is None or not sign.firm):
                # A question before a sign does not ask about it; but what is past or heard of stays so.
                told = self.around(passage) & STAYS
                yield from (sign for part in parts if (sign := self._sign(part, told, whole)) is not None)

    def _around(self, folded: str) -> frozenset[str]:
        return frozenset(name for name, pattern in self.contexts.items() if pattern.search(folded))

    def _sign(self, passage: str, told: frozenset[str], whole: tuple[str, ...] | None) -> Sign | None:
        """Return the first sign that is no story, else the first; a long message is given with its cut sentences."""
        folded, story = self._folded(passage), None
        for rule in self.rules:
            match = rule.matches.search(folded)
            if match and not (rule.unless is not None and rule.unless.search(folded)):
                if rule.firm:
                    return Sign(rule.flag, match[0] or folded, self._around(folded) | told | {"now"})
                sign = Sign(rule.flag, match[0] or folded, self._around(folded) | told)
                kinds = self._story(rule, passage, whole) if whole is not None and sign.firm else frozenset()
                if not kinds:
                    return sign if story is None or sign.firm else story
                story = story or replace(sign, contexts=sign.contexts - {"now"} | kinds)
        return story

    def _folded(self, passage: str) -> str:
        # No word is that long, and a rule may look at each of its letters from each of the others.
        folded = " ".join(word[:LONGEST_WORD] for word in words(passage))
        # An idiom explains its own words; what stands beside it counts.
        return folded if self.never is None else self.never.sub("…", folded)

    def _story(self, rule: Rule, passage: str, whole: tuple[str, ...]) -> frozenset[str]:
        """Return the excuses by which a sign is a story; none if one sentence with it tells no story, or says so."""
        parts = sentences(passage)
        own = [part for part in parts if rule.matches.search(self._folded(part))]
        if not own or rule.flag == NEVER_A_STORY:
            return frozenset()  # it takes several sentences to say it
        if self.stories.again is not None and self.stories.again.search(self._folded(passage)):
            return frozenset()
        kinds = [self._told(rule, part, whole) for part in own]
        return frozenset().union(*kinds) if all(kinds) else frozenset()

    def _told(self, rule: Rule, part: str, whole: tuple[str, ...]) -> frozenset[str]:
        piece = self._folded(part)
        match = rule.matches.search(piece)
        begin, end = match.span() if match and match[0] else (0, len(piece))
        # The date may stand before the piece of a long sentence in which the sign is.
        sentence = self._folded(next((said for said in whole if part in said), part))
        at = max(sentence.find(piece), 0)
        if sentence[at : at + len(piece)] != piece:
            sentence, at = piece, 0
        before, after = sentence[: at + begin].split(), sentence[at + end :].split()
        near = " ".join([*before[-STORY_REACHES:], sentence[at + begin : at + end], *after[:STORY_REACHES]])
        if self.stories.still is not None and self.stories.still.search(near):
            return frozenset()
        found = frozenset(name for name, pattern in self.stories.kinds.items() if pattern.search(near))
        # "2017 I had a stent and I can't breathe": what is said in the present is not past.
        present = self.stories.present is not None and self.stories.present.search(sentence[at + begin : at + end])
        return found - {"past"} if present and end - begin < len(piece) else found


@cached
def load_red_flags(language: str) -> RedFlags:
    """Load the rules of a language; raise BadData when there are none: no chat without red flags."""
    return read_red_flags(load(language, "red_flags.yaml"), load_examples(language))


def read_red_flags(document: Any, examples: Examples) -> RedFlags:
    """Return the rules that a file says; raise ValidationError or re.error when they cannot be read."""
    file = _RuleFile.model_validate(document)
    rules = tuple(
        Rule(
            rule.flag,
            _pattern(rule.any, file.words),
            _pattern(rule.unless, file.words) if rule.unless else None,
            rule.firm,
        )
        for rule in file.rules
    )
    return RedFlags(
        rules=rules,
        cries=re.compile("|".join(file.cries)) if file.cries else None,
        never=_pattern(file.never, file.words) if file.never else None,
        rule_only=_pattern(file.rule_only, file.words) if file.rule_only else None,
        contexts={name: _pattern([text], file.words) for name, text in file.contexts.items()},
        stories=Stories(
            {name: _pattern([text], file.words) for name, text in file.stories.items()},
            _pattern(file.still, file.words) if file.still else None,
            _pattern(file.again, file.words) if file.again else None,
            _pattern(file.present, file.words) if file.present else None,
        ),
        speller=Speller.of(text for _, text in examples.urgent),
    )


class _ExampleFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    urgent: dict[str, list[str]]
    harmless: list[str]


@dataclass(frozen=True, slots=True)
class Line:
    """What an author wrote who knew only the situation of the chat.

    Attributes:
        author: Who wrote it.
        kind: ``thanks``, ``fear``, ``soon`` (a complaint that can wait for days), ``urgent-short`` and so on.
        flag: One of `FLAGS` for an emergency, else empty.
        text: What patients might type.
        level: A level of `bot.matching.complaints` where a reader took it for a complaint, else empty.
    """

    author: str
    kind: str
    flag: str
    text: str
    level: str


@dataclass(frozen=True)
class Examples:
    """Texts that show what is urgent and what only sounds so.

    Attributes:
        urgent: Flag and text.
        harmless: Texts that resemble emergencies and are none, and what patients say every day.
        lines: Those among both whose author and kind are known.
    """

    urgent: tuple[tuple[str, str], ...]
    harmless: tuple[str, ...]
    lines: tuple[Line, ...]

    @cached_property
    def authors(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line.author for line in self.lines))

    def without(self, authors: Sequence[str]) -> Examples:
        """Return the examples without those of some authors, to judge what they wrote unseen."""
        left_out = {line.text for line in self.lines if line.author in authors}
        return Examples(
            tuple((flag, text) for flag, text in self.urgent if text not in left_out),
            tuple(text for text in self.harmless if text not in left_out),
            tuple(line for line in self.lines if line.author not in authors),
        )


@cached
def digest(language: str) -> str:
    """Return what changes with anything that the alarm of a language is taught with or judged by."""
    names = ("red_flags.yaml", "red_flag_examples.yaml", "red_flag_lines.tsv")
    files = (*(read_bytes(language, name) or b"" for name in names), (RED_FLAGS / "decision.yaml").read_bytes())
    return hashlib.sha256(b"\0".join(files)).hexdigest()


@cached
def load_examples(language: str) -> Examples:
    """Load the examples of a language."""
    lines = tuple(Line(**row) for row in load_rows(language, "red_flag_lines.tsv"))
    return read_examples(load(language, "red_flag_examples.yaml"), lines)


def read_examples(document: Any, lines: tuple[Line, ...]) -> Examples:
    """Return the examples that a file says, with lines; raise ValidationError when it cannot be read."""
    file = _ExampleFile.model_validate(document)
    urgent = [(flag, text) for flag, texts in file.urgent.items() for text in texts]
    urgent += [(line.flag, line.text) for line in lines if line.flag]
    return Examples(tuple(urgent), (*file.harmless, *(line.text for line in lines if not line.flag)), lines)


def _pattern(alternatives: list[str], named: dict[str, str]) -> re.Pattern[str]:
    """Compile alternatives between word bounds; ``{name}`` stands for a named group of words."""
    filled = [_fill(text, named) for text in alternatives]
    return re.compile(r"\b(?:" + "|".join(filled) + r")\b")


def _fill(text: str, named: dict[str, str]) -> str:
    for _ in range(3):  # named groups may name others
        for name, words_ in named.items():
            text = text.replace("{" + name + "}", f"(?:{words_})")
    return text

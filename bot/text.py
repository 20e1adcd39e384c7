"""Text of patients: clean it, cut it into words, questions and passages, tell its language, find near copies. Pure.

Two texts are near copies if they are equal after folding, or, when both have five words or more, if the Jaccard
similarity of their word trigrams is at least 0.8.
"""

from __future__ import annotations

import codecs
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import regex

MAX_CHARACTERS = 1000

# What no screen shows: half characters, default-ignorable and formatting characters (soft hyphens, zero-width spaces,
# tags), control characters. They may stand inside a word, so they are dropped, not replaced by spaces.
_UNSEEN = regex.compile(r"[\p{Cs}\p{Default_Ignorable_Code_Point}\p{Cf}]|(?!\s)\p{Cc}")
# What steers a terminal: escape sequences as a whole (without its first character the rest would stand there), and
# controls that count as white space.
_STEERING = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)|[\x0b\x0c\x1c-\x1f\x85]")
_WORD = re.compile(r"[^\W_]+")
_FOLDED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "oe"})


@dataclass(frozen=True, slots=True)
class Sanitised:
    """Text that any encoder can take.

    Attributes:
        text: At most `MAX_CHARACTERS` characters: no half, invisible or control characters, NFKC, single spaces.
        too_long: Whether text had to be cut off.
    """

    text: str
    too_long: bool


def sanitise(raw: str) -> Sanitised:
    """Clean what a patient typed. Work is bounded: one character can become 18 under NFKC (U+FDFA)."""
    head = raw[: 4 * MAX_CHARACTERS]
    text = seen(head)
    # White space alone is not "too long"; anything else beyond the head is.
    cut = len(text) > MAX_CHARACTERS or bool(raw[4 * MAX_CHARACTERS :].strip())
    return Sanitised(text[:MAX_CHARACTERS].rstrip(), cut)


def seen(raw: str) -> str:
    """Return what a reader sees of a text of any length: NFKC, single spaces, nothing invisible."""
    # NFKC makes invisible characters of visible ones (U+3164) and the other way round, so both sides are cleaned.
    text = unicodedata.normalize("NFKC", without_unseen(raw))
    return " ".join(without_unseen(text).split())


def unseen_in(text: str) -> str:
    """Return the first character that no screen shows, other than white space; empty where there is none."""
    found = _UNSEEN.search(text)
    return found[0] if found is not None else ""


def without_unseen(text: str) -> str:
    """Return a text without characters that no screen shows; line ends and other white space stay."""
    # This module's default lets other threads run meanwhile, and many short texts would each wait to go on.
    return str(_UNSEEN.sub("", text, concurrent=False))


def plain_text(text: str) -> str:
    """Return text of others as it may be shown and kept: nothing that steers a terminal, and nothing invisible."""
    return without_unseen(_STEERING.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def fold(text: str) -> str:
    """Return lower-case words without umlauts and accents, separated by single spaces.

    "Müsst" and "muesst", "weiß" and "weiss" become equal, as Swiss spelling and phone keyboards demand. A question
    mark survives as a word of its own, since it tells questions from remarks.
    """
    lowered = text.lower().translate(_FOLDED)
    plain = lowered
    if not lowered.isascii():
        plain = "".join(mark for mark in unicodedata.normalize("NFD", lowered) if unicodedata.category(mark)[0] != "M")
    return " ".join(_WORD.findall(plain.replace("?", " qqq ")))


def words(text: str) -> list[str]:
    """Return the folded words of a text, without punctuation."""
    return [word for word in fold(text).split() if word != "qqq"]


MIN_WORDS = 2
MAX_SEGMENTS = 3

_ASKS = (
    "wie|was|wann|wo|wohin|wer|wem|wen|warum|wieso|weshalb|womit|welche[rsn]?|darf|dürfen|kann|können|könnte|muss|müssen|"
    "tut|ist|sind|gibt|brauch(?:e|t)?|soll(?:te)?|bekomm(?:e|t)|wird|werden|hat|habe|macht|zahlt|bezahlt|dauert|kostet|"
    "how|what|when|where|who|why|which|may|can|could|must|do|does|did|is|are|will|would|should|shall"
)
_BOUNDARY = re.compile(
    rf"(?<=[?!.])\s+|[,;]?\s+(?:und|sowie|außerdem|ausserdem|and|also)\s+(?=(?:auch\s+|also\s+)?(?:{_ASKS})\b)",
    re.IGNORECASE,
)


def segments(text: str) -> tuple[str, ...]:
    """Return the parts of a message that each ask something; empty when it asks one thing only.

    "Tut es weh und wie lange dauert es?" has two, "Was ist mit Deo und Creme?" has none: a conjunction splits only
    in front of a word that begins a question.
    """
    parts = [part.strip(" ,;") for part in _BOUNDARY.split(text)]
    asking = [part for part in parts if len(words(part)) >= MIN_WORDS]
    return tuple(asking[:MAX_SEGMENTS]) if len(asking) >= 2 else ()


STORY = 24  # words: a message longer than this may tell a story around what it asks
MAX_PIECES = 16  # of a story


def story_pieces(text: str) -> tuple[str, ...]:
    """Return the sentences of a story, in order, each once, long ones in overlapping parts; empty for a short message.

    Which of them asks is not looked for here: many ask without a word that only questions have.
    """
    if len(text.split()) <= STORY:
        return ()
    parts = [" ".join(piece) for sentence in sentences(text) for piece in _cut(sentence.split())]
    # Most stories end with what they ask.
    return tuple(dict.fromkeys(part for part in parts if len(words(part)) >= MIN_WORDS))[-MAX_PIECES:]


def asks_in_story(text: str) -> bool:
    """Say whether a message tells a story and puts a question in it, with a question mark: others only tell."""
    return "?" in text and bool(story_pieces(text))


LONGEST = 24  # words: a text up to this length is one passage
WIDEST = 80  # characters without a space
STEP = 12  # words between the beginnings of passages of a run-on sentence

_SENTENCE_END = re.compile(r"(?<=[.!?…;])\s+(?=\S)")


def passages(text: str) -> tuple[str, ...]:
    """Return overlapping passages of at most about `LONGEST` words, in order, each once; together they cover the text.

    Neighbouring sentences stay together as long as they fit, so that "He fell. He does not answer." is seen as one.
    Sentences without an end are cut every `STEP` words. A short text is one passage.
    """
    if len(text) <= LONGEST * WIDEST and len(text.split()) <= LONGEST:
        return (text,)
    sentences_ = [piece for sentence in sentences(text) for piece in _cut(sentence.split())]
    found: list[str] = []
    reached = 0  # sentences_ before this one are in a passage already
    for first in range(len(sentences_)):
        taken, last = len(sentences_[first]), first + 1
        while last < len(sentences_) and taken + len(sentences_[last]) <= LONGEST:
            taken += len(sentences_[last])
            last += 1
        if last > reached:
            found.append(" ".join(word for sentence in sentences_[first:last] for word in sentence))
            reached = last
    return tuple(dict.fromkeys(found))


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text; what has no end is one."""
    return tuple(_SENTENCE_END.split(text))


def _cut(words: list[str]) -> list[list[str]]:
    # What has no spaces may still be many words: "a.b.c".
    words = [word[start : start + WIDEST] for word in words for start in range(0, len(word), WIDEST)]
    if len(words) <= LONGEST:
        return [words]
    return [words[start : start + LONGEST] for start in range(0, len(words) - LONGEST + STEP, STEP)]


SMOOTHING = 0.5
MAX_TEXTS = 20_000  # more teach nothing about a language
AUTO = "auto"


class LanguageDetector:
    """Learns from the texts of a catalog, so that it knows just the languages that can be answered.

    Attributes:
        languages: Of the catalog.
        known: Folded words that occur more than once in the texts of each.
    """

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        self.languages = tuple(texts)
        counts = {
            language: _counted(examples[:: -(-len(examples) // MAX_TEXTS) or 1]) for language, examples in texts.items()
        }
        known = set().union(*counts.values()) if counts else set()
        self._weight = {language: _log_probabilities(count, len(known)) for language, count in counts.items()}
        self.known = {
            language: frozenset(sign[1:] for sign in weight if sign.startswith("="))
            for language, weight in self._weight.items()
        }

    def detect(self, text: str, *, fallback: str, margin: float = 1.0) -> str:
        """Return the likeliest language; `fallback` unless another one is ahead by `margin` (log-likelihood)."""
        signs = [
            sign
            for word in words(text)
            if not word.isdecimal()  # "999" is no English
            for sign in _signs(word)
            if any(sign in weight for weight in self._weight.values())
        ]
        if not signs or len(self.languages) < 2:
            return fallback if fallback in self.languages else self.languages[0]
        scores = {
            language: sum(weight.get(sign, weight[""]) for sign in signs) for language, weight in self._weight.items()
        }
        best = max(self.languages, key=lambda language: scores[language])
        close = fallback in scores and scores[best] - scores[fallback] < margin
        return fallback if close else best


def _signs(word: str) -> list[str]:
    """Return the word itself and its trigrams."""
    padded = f" {word} "
    return ["=" + word, *(padded[start : start + 3] for start in range(len(padded) - 2))]


def _counted(texts: Sequence[str]) -> Counter[str]:
    """Return how often each sign occurs. Words are counted first: most occur often."""
    counts: Counter[str] = Counter()
    for word, number in Counter(word for text in texts for word in words(text)).items():
        for sign in _signs(word):
            counts[sign] += number
    return counts


def _log_probabilities(count: Counter[str], known: int) -> dict[str, float]:
    total = sum(count.values()) + SMOOTHING * (known + 1)
    # Rare signs are left out: they make the file large and tell little.
    table = {sign: math.log((number + SMOOTHING) / total) for sign, number in count.items() if number > 1}
    table[""] = math.log(SMOOTHING / total)
    return table


JACCARD = 0.8
MIN_COPIED_WORDS = 5

Trigram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearCopy:
    """A text that was added before and is (nearly) the same.

    Attributes:
        text: The earlier text.
        label: What it was added under.
        similarity: 1.0 when equal after folding, else the Jaccard similarity of the word trigrams.
    """

    text: str
    label: str
    similarity: float


class NearCopies:
    """A growing set of texts that can be asked for near copies in about constant time."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str, int]] = []
        self._equal: dict[tuple[str, ...], int] = {}
        self._with_trigram: dict[Trigram, list[int]] = defaultdict(list)

    def add(self, text: str, label: str) -> None:
        """Add a text under a label, for example the pair's id."""
        folded = tuple(words(text))
        grams = _trigrams(folded)
        number = len(self._texts)
        self._texts.append((text, label, len(grams)))
        self._equal.setdefault(folded, number)
        for gram in grams:
            self._with_trigram[gram].append(number)

    def find(self, text: str, *, besides: str = "") -> NearCopy | None:
        """Return the nearest near copy of `text` among the added texts, or None; `besides`: not under this label."""
        folded = tuple(words(text))
        if folded in self._equal:
            other, label, _ = self._texts[self._equal[folded]]
            if not besides or label != besides:
                return NearCopy(other, label, 1.0)
        return self._most_shared(_trigrams(folded), besides)

    def _most_shared(self, grams: set[Trigram], besides: str) -> NearCopy | None:
        shared = Counter(number for gram in grams for number in self._with_trigram.get(gram, ()))
        best: NearCopy | None = None
        for number, count in shared.items():
            text, label, size = self._texts[number]
            if besides and label == besides:
                continue
            similarity = count / (len(grams) + size - count)
            if similarity >= JACCARD and (best is None or similarity > best.similarity):
                best = NearCopy(text, label, similarity)
        return best


def _trigrams(folded: tuple[str, ...]) -> set[Trigram]:
    if len(folded) < MIN_COPIED_WORDS:
        return set()
    return {folded[start : start + 3] for start in range(len(folded) - 2)}


_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def decoded(raw: bytes) -> str:
    """Return the text of a file that somebody saved on their own computer: UTF-8, UTF-16, or else Windows-1252.

    Raises:
        UnicodeDecodeError: It is none of them.
    """
    try:
        return raw.decode(next((encoding for mark, encoding in _MARKS.items() if raw.startswith(mark)), "utf-8"))
    except UnicodeDecodeError as error:
        try:
            return raw.decode("cp1252")
        except UnicodeDecodeError:
            raise error from None

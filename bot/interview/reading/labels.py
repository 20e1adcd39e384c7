"""Which options a piece of a reply may mean, by their labels. Pure but for the file of synonyms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from bot.interview.reading.numbers import places_only, with_numbers
from bot.interview.reading.reading import Option
from bot.interview.reading.vocabulary import FOLDS, Phrases, Token, Words, cut, one_slip_apart

EQUAL, INFLECTED, ALIKE = 3, 2, 1  # how like two words are
MIN_STEM = 3
MIN_PREFIX = 4
MIN_TAIL = 6
MAX_PIECE = 40  # words; longer pieces are compared word by word only for equality

Folded = tuple[str, ...]

_SYNONYMS = Path(__file__).parent / "words" / "synonyms.txt"
_OTHER_RELATIVES = Path(__file__).parent / "words" / "other_relatives.txt"
_RELATIVES = "mutter vater schwester bruder tochter sohn tante onkel grossmutter grossvater"


@lru_cache(maxsize=1)
def _meanings() -> Mapping[str, int]:
    """Return the line of each word that has synonyms, as all languages fold it."""
    found: dict[str, int] = {}
    for number, line in enumerate(_SYNONYMS.read_text(encoding="utf-8").splitlines()):
        for word in () if line.startswith("#") else line.split():
            for fold in FOLDS.values():
                found.setdefault(fold(word), number)
    return found


@lru_cache(maxsize=1)
def _other_relatives() -> Phrases:
    """Return the names of relatives that hold the name of a nearer one, as all languages fold them."""
    lines = (line for line in _OTHER_RELATIVES.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    names = (name.split() for line in lines for name in line.split(","))
    return Phrases(" ".join(map(fold, name)) for name in names if name for fold in FOLDS.values())


def alike(one: str, other: str) -> bool:
    """Tell whether two folded words are plain words for the same thing."""
    line = _meanings().get(one)
    return line is not None and line == _meanings().get(other)


def is_relative(word: str) -> bool:
    """Tell whether a folded word is what a relative is called."""
    return any(alike(word, name) for name in _RELATIVES.split())


def texts_of(tokens: Sequence[Token]) -> Folded:
    """Return what counts when labels are compared: words, numbers and a few marks."""
    return tuple(token.text for token in tokens if token.kind != "mark" or token.text in "<>+%")


@lru_cache(maxsize=4096)
def _folded(label: str, words: Words) -> Folded:
    # Lists can be long and come with every turn. Labels are the Questionnaire's: no patient's text is kept here.
    return texts_of(with_numbers(cut(label, words.fold), places_only(words)).tokens)


@dataclass(frozen=True, slots=True)
class Fit:
    """The options that a piece of text fits."""

    options: tuple[int, ...]  # their places in the list; several when the text does not decide
    likeness: int  # EQUAL when all words are the same, less when inflected, shortened or misspelled
    beyond: Folded = ()  # words of the text that are no part of the label


class Labels:
    """The labels of a list of options, folded for comparison."""

    def __init__(self, options: Sequence[Option], words: Words) -> None:
        self.words = words
        self.all = tuple(tuple(_folded(label, words) for label in option.labels) for option in options)
        # In a list of "A", "B" and "C", "a" is no article.
        self.single = frozenset(name[0] for names in self.all for name in names if len(name) == 1)
        self._articles = words["articles"] - self.single
        self._silent = words["weak"] | self._articles
        self._untelling = self._silent | words["negators"].single
        self._shown = tuple(
            tuple(name for name, label in zip(names, option.labels, strict=True) if label not in option.unseen)
            for names, option in zip(self.all, options, strict=True)
        )
        self._names = tuple(tuple(self.content(label) for label in labels if label) for labels in self.all)
        # Codes such as "LA6568-5" count only as a whole.
        self._content = tuple(
            tuple(label for place, label in enumerate(labels) if not place or not any(map(str.isdecimal, label)))
            for labels in self._names
        )
        self.vocabulary = frozenset(word for labels in self.all for label in labels for word in label)
        # Whether what is shown of an option begins with a number of its own: "1 Several days".
        self.own_numbers = any(label and label[0].isdecimal() for labels in self._shown for label in labels)

    def content(self, texts: Sequence[str]) -> Folded:
        """Return words without articles, unless nothing is left."""
        return tuple(text for text in texts if text not in self._articles) or tuple(texts)

    def same(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the options that are called just so."""
        wanted = self.content(texts)
        return tuple(place for place, labels in enumerate(self._names) if wanted in labels)

    def with_word(self, word: str) -> tuple[int, ...]:
        """Return the options that have a word in what is shown of them."""
        return tuple(place for place, labels in enumerate(self._shown) if any(word in label for label in labels))

    def shown_as(self, texts: Folded) -> tuple[int, ...]:
        """Return the options of which all that is shown, or a part shown by itself, is just so."""
        return tuple(place for place, labels in enumerate(self._shown) if texts in labels)

    def part_of_one(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the one option that has all of several words in its label, if there is just one."""
        wanted = self.content(texts)
        fit = self._part_of_label(wanted, EQUAL) if len(wanted) > 1 else None
        return fit.options if fit and len(fit.options) == 1 else ()

    def resembles(self, texts: Sequence[str]) -> bool:
        """Tell whether any telling word is like one in a label: the text may be an attempt to name an option."""
        telling = [text for text in self.content(texts)[:MAX_PIECE] if len(text) >= MIN_PREFIX]
        known = {word for _, label in self._each() for word in label}
        return any(self._like(text, word) for text in telling for word in known)

    def fit(self, texts: Sequence[str]) -> Fit | None:
        """Return the options that best fit some words, or None when none does."""
        found, others = self._best(texts), _other_relatives()
        lengths = ((place, others.length_at(texts, place)) for place in range(len(texts))) if found else ()
        for start, length in lengths:
            if found and length:
                # "Belle-mère" is no "mère"; "grand-mère" is one of those whose own name holds it.
                said = set(texts[start : start + length])
                kept = tuple(place for place in found.options if any(said <= set(name) for name in self.all[place]))
                found = replace(found, options=kept) if kept else None
        return found

    def _best(self, texts: Sequence[str]) -> Fit | None:
        """Return the options that best fit some words by those alone."""
        wanted = self.content(texts)
        if not wanted:
            return None
        same = self.same(texts)
        if same:
            return Fit(same, EQUAL)
        for likeness in (EQUAL, INFLECTED, ALIKE) if len(wanted) <= MAX_PIECE else (EQUAL,):
            found = self._part_of_label(wanted, likeness) or self._label_within(wanted, likeness)
            if found:
                return self._named_more_fully(found, wanted) or found
        letter = wanted[0]
        if len(wanted) > 1 or len(letter) != 1 or not letter.isalpha():
            return None
        # The one option that begins with a single letter: "w" for "weiblich".
        places = [place for place, labels in enumerate(self._content) if labels and labels[0][0].startswith(letter)]
        return Fit(tuple(places), ALIKE) if len(places) == 1 else None

    def _each(self) -> Iterable[tuple[int, Folded]]:
        return ((place, label) for place, labels in enumerate(self._content) for label in labels)

    def _part_of_label(self, wanted: Folded, likeness: int) -> Fit | None:
        """Return the options of which the text is a part that names them: "links" of "Linke Brust"."""
        negated = self.words.negates(wanted)
        covering = [(place, label) for place, label in self._each() if self._covers(label, wanted, likeness)]
        named = dict.fromkeys(
            place
            for place, label in covering
            if self.words.negates(label) == negated and self._stands_for(label, wanted, likeness)
        )
        if len(named) == 1 and not self._tells_apart(wanted, next(iter(named)), likeness):
            # "ich rauche", of "Ich rauche täglich" and "Ich rauche nicht", may be either.
            covered = dict.fromkeys(place for place, _ in covering)
            named = covered if len(covered) > 1 and not negated else {}
        return Fit(tuple(named), likeness) if named else None

    def _stands_for(self, label: Folded, wanted: Folded, likeness: int) -> bool:
        """Tell whether a part of a label can stand for it.

        What is left out must say nothing, or the part must say something and leave out no judgement: "ich sehe" is no
        "Ich sehe schlecht".
        """
        left_out = [part for part in label if not any(self._like(text, part) >= likeness for text in wanted)]
        if self._silent.issuperset(left_out):
            return True
        return self.words["judging"].isdisjoint(left_out) and not self._untelling.issuperset(wanted)

    def _tells_apart(self, wanted: Folded, place: int, likeness: int) -> bool:
        """Tell whether a part leaves out nothing that says something, or has a word that no other label has."""
        if any(set(label) - self._silent <= set(wanted) for label in self._content[place]):
            return True
        others = {part for other, label in self._each() if other != place for part in label}
        telling = [text for text in wanted if text not in self._untelling]
        return any(not any(self._like(text, part) >= likeness for part in others) for text in telling)

    def _label_within(self, wanted: Folded, likeness: int) -> Fit | None:
        """Return the options named within the text: "die linke Brust, glaube ich"."""
        negated = self.words.negates(wanted)
        matched = [
            (place, label)
            for place, label in self._each()
            if self._covers(wanted, label, likeness)
            # It must be telling enough to be found inside a text: no single letter, digit or "no".
            and not self._silent.issuperset(label)
            and (len(label) > 1 or (len(label[0]) > 2 and not label[0].isdecimal()))
            # "schwanger" is no part of "nicht schwanger", nor the other way.
            and self.words.negates(label) == negated
        ]
        if not matched:
            return None
        # "Typ 1 Diabetes" names "Typ 1 Diabetes" rather than "Diabetes".
        longest = [item for item in matched if not any(set(item[1]) < set(other[1]) for other in matched)]
        label = longest[0][1]
        beyond = tuple(text for text in wanted if not any(self._like(text, part) >= likeness for part in label))
        return Fit(tuple(dict.fromkeys(place for place, _ in longest)), likeness, beyond)

    def _named_more_fully(self, found: Fit, wanted: Folded) -> Fit | None:
        """Return the options of which a text has all telling words that it has of `found`, and more.

        "My aunt on my mother's side" is "Aunt on your mother's side", though it holds the whole label "Mother".
        """
        telling = [text for text in wanted if text not in self._untelling and len(text) > 1]

        def said_of(label: Folded) -> frozenset[str]:
            return frozenset(text for text in telling if any(self._like(text, part) >= INFLECTED for part in label))

        known = max((said_of(label) for place in found.options for label in self._content[place]), key=len)
        negated = self.words.negates(wanted)
        richer: dict[int, int] = {}
        for place, label in self._each():
            said = said_of(label) if place not in found.options else frozenset()
            if said > known and self.words.negates(label) == negated:
                richer[place] = max(richer.get(place, 0), len(said))
        best = tuple(place for place, count in richer.items() if count == max(richer.values()))
        return Fit(best, ALIKE, tuple(text for text in wanted if text not in telling)) if best else None

    def _covers(self, larger: Iterable[str], smaller: Folded, likeness: int) -> bool:
        if likeness == EQUAL:
            return set(smaller) <= set(larger)
        return all(any(self._like(part, whole) >= likeness for whole in larger) for part in smaller)

    def _like(self, written: str, known: str) -> int:
        """Return how like a written word is to a known one; 0 when it is another word."""
        if written == known:
            return EQUAL
        short, long = sorted((written, known), key=len)
        said_anyway = {written, known} & self.words["weak"]
        if len(said_anyway) == 1 and len(min(said_anyway)) < MIN_PREFIX:
            return 0  # "man" is no "Mann"
        if alike(written, known):
            return INFLECTED
        head = long.removesuffix(short)
        if len(short) >= MIN_TAIL and MIN_STEM < len(head) < len(long) and head not in self.words["negating"]:
            return ALIKE  # "Schrittmacher" for "Herzschrittmacher"
        if written[0] != known[0] or min(len(written), len(known)) < MIN_STEM or written.isdecimal():
            return 0
        if self._stem(written) == self._stem(known):
            return INFLECTED
        if len(short) >= MIN_PREFIX and (long.startswith(short) or one_slip_apart(written, known)):
            return ALIKE
        stem = self._stem(short)  # "beidseits" for "beide Seiten"
        return ALIKE if len(stem) >= MIN_PREFIX and long.startswith(stem) else 0

    def _stem(self, word: str) -> str:
        for ending in self.words.endings:
            if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM:
                return word.removesuffix(ending)
        return word

"""Variants of another exam's catalog as drafts for this one: the exam's name replaced, what is special left out. Pure.

Costs, results, companion, pregnancy are asked about alike before every exam. No wording is made up: a text is taken as
it is, or with this exam's name where the other's stood in a form that fits, or not at all.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise, zip_longest
from string import Template
from typing import Literal, get_args

from bot import Catalog, Pair, data_folder, words
from bot.catalog.exam import Exam
from harness.authoring.variants.asking import Draft
from harness.files import Record, read_record

LeftOut = Literal["this exam", "form", "body", "device", "other questions"]
LEFT_OUT: tuple[LeftOut, ...] = get_args(LeftOut)
WHY: Mapping[LeftOut, str] = {
    "this exam": "speak of this exam already, beside the other one",
    "form": "name the other exam in a form that this one's name does not fit",
    "body": "speak of what points to the other exam, such as its part of the body",
    "device": "speak of its kind or device, as its other names do",
    "other questions": "use words of its other questions",
}
LIKE_ENOUGH, LONG_ENOUGH = 0.8, 6  # of a name that is misspelt
BEGINNING = 5  # letters: whatever begins as the exam's name does speaks of it
SHORTEST_NAME = 3  # letters of a name that longer words may begin with
SHORTEST_REST = 4  # letters behind a name in a compound: fewer are an ending
STEM = 6  # letters by which forms of a word are alike
SHORTEST_WORD, FEWEST_TEXTS, FEWEST_PAIRS, OFTENER = 4, 12, 3, 4  # of a word that is special to other questions
FEWEST_VOICES = 3  # that use a plain word
_SPELT_OUT = frozenset("AEFHILMNORSX")  # letters whose names begin with a vowel
_WORD = re.compile(r"[^\W_]+")
_NOTHING = re.compile(r"(?!)")


class NameForm(Record):
    """A grammatical form of exams' names.

    Attributes:
        shown_by: Phrases of `exam.yaml` by which a name is seen to have it; `$exam` is the name.
        any: A word of this form for any exam; empty: there is none.
    """

    shown_by: tuple[str, ...]
    any: str = ""


class NameWords(Record):
    """How names of exams stand in the sentences of one language.

    Attributes:
        compound: A word that begins with the name, of `$exam` and `$rest`; empty: there are none.
        plural: The ending of several; empty: it is not known.
        before_vowel: What the word before becomes where a name begins with a vowel.
    """

    language: str
    forms: tuple[NameForm, ...]
    compound: str = ""
    plural: str = ""
    before_vowel: Mapping[str, str] = {}


def load_name_words(language: str) -> NameWords:
    """Load how names of exams are replaced in a language; raise BadData when nobody wrote it."""
    path = data_folder("vignettes") / "authoring" / f"borrowing-{language}.yaml"
    return read_record(path, NameWords, f"{path} says nothing of names ({{reason}}). Write it after borrowing-en.yaml.")


@dataclass(frozen=True, slots=True)
class Spoken:
    """How an exam is spoken of in one language.

    Attributes:
        name: As it stands inside a sentence; empty: `exam.yaml` does not say.
        form: Of the name; None: no phrase shows it.
        spellings: The name, shorter and other spellings, all of its form.
        others: Further names, whose form nobody knows.
        hints: What points to the exam.
    """

    name: str
    form: NameForm | None
    spellings: tuple[str, ...]
    others: tuple[str, ...]
    hints: tuple[str, ...]

    @classmethod
    def of(cls, catalog: Catalog, exam: Exam, names: NameWords) -> Spoken:
        """Return what a catalog's `exam.yaml` says of this; the catalog's own name is one, too."""
        phrases = exam.phrases.get(catalog.language, {})
        called = (catalog.name.replace("-", " "), *exam.called.get(catalog.language, ()))
        hints = tuple(exam.hints.get(catalog.language, ()))
        if not (name := phrases.get("exam", "")):
            return cls("", None, (), called, hints)
        sentences = [text for key, text in phrases.items() if key != "exam"]
        inside = re.compile(rf"\b{re.escape(name)}", re.IGNORECASE)
        name = next((found[0] for text in sentences if (found := inside.search(text))), name)

        def shows(form: NameForm) -> bool:
            shown = "|".join(re.escape(Template(each).safe_substitute(exam=name)) for each in form.shown_by)
            return any(re.search(rf"\b(?:{shown})(?!\w)", text, re.IGNORECASE) for text in sentences)

        alike = [each for each in called if _is_spelling(words(each), words(name))]
        others = tuple(each for each in called if each not in alike)
        form = next(filter(shows, names.forms), None)
        return cls(name, form, tuple(dict.fromkeys((name, *alike))), others, hints)


def _is_spelling(called: Sequence[str], own: Sequence[str]) -> bool:
    """Say whether a name is the exam's name, shortened or spelt a little differently: Mammo, Mammografie; MRI."""
    if len(called) != 1 or len(own) != 1:
        return list(called) == list(own) or list(called) == list(own[:1])
    return own[0].startswith(called[0]) or _is_misspelt(called[0], own[0])


def _is_misspelt(said: str, meant: str) -> bool:
    """Say whether a word is another one misspelt; what is longer is another form of it."""
    is_like = LONG_ENOUGH <= len(said) <= len(meant) and said[0] == meant[0]
    return is_like and SequenceMatcher(None, said, meant).ratio() >= LIKE_ENOUGH


class NotBorrowed(Exception):
    """A text cannot be borrowed; why."""

    def __init__(self, why: LeftOut) -> None:
        super().__init__(why)
        self.why: LeftOut = why


@dataclass(frozen=True)
class Naming:
    """Puts this exam's name where the other's stood.

    Attributes:
        own: This exam.
        other: The other one.
        special: Stems of words that only questions use which this exam has not.
    """

    words: NameWords
    own: Spoken
    other: Spoken
    special: frozenset[str] = frozenset()

    def moved(self, text: str, allowed: Collection[str] = ()) -> str:
        """Return a text about the other exam as one about this; raise NotBorrowed where that cannot be.

        `allowed`: words that this pair's own texts use, so that they are not special to the other exam.
        """
        said = words(text)
        if any(_holds(said, words(name)) for name in (*self.own.spellings, *self.own.others)):
            raise NotBorrowed("this exam")
        own = words(self.other.name)
        misspelt = (
            each for each in _WORD.findall(text) if len(own) == 1 and _is_misspelt("".join(words(each)), own[0])
        )
        places = self._places(misspelt)
        left = words(places.sub(lambda found: f" {found['rest'] or ''} ", text))
        if any(_speaks_of(name, word) for name in own for word in left):
            raise NotBorrowed("form")
        if any(_begins(word, hint) for name in self.other.hints for hint in words(name) for word in left):
            raise NotBorrowed("body")
        special_here = {each for each in self._device if not any(_begins(word, each) for word in allowed)}
        if any(_begins(word, each) for each in special_here for word in left):
            raise NotBorrowed("device")
        if self.special & {word[:STEM] for word in left}:
            raise NotBorrowed("other questions")
        return places.sub(lambda found: self._put(found, plain=text.islower()), text)

    @cached_property
    def _device(self) -> frozenset[str]:
        """Stems of words of the other exam's other names, also written together: x-ray, xray."""
        named = [words(name) for name in self.other.others]
        single = {word for name in named for word in name if len(word) >= SHORTEST_NAME}
        joined = {"".join(two) for name in named for two in pairwise(name)}
        own = {word for name in self.own.spellings for word in words(name)}
        return frozenset(word[:STEM] for word in (single | joined) - own)

    def _places(self, misspelt: Iterable[str]) -> re.Pattern[str]:
        """Return what finds the other exam's name, with the article before it and what follows it in one word."""
        spellings = sorted({*self.other.spellings, *misspelt}, key=lambda each: (-len(each), each))
        if not spellings:
            return _NOTHING
        names = "|".join(r"[\s-]+".join(map(re.escape, each.split())) for each in spellings)
        articles = "|".join((*self.words.before_vowel, *self.words.before_vowel.values())) or r"\b\B"
        return re.compile(
            rf"(?<![\w-])(?:(?P<article>{articles})(?P<gap>\s+))?(?P<name>{names})"
            r"(?P<rest>-?[^\W_]+(?:-[^\W_]+)*)?(?![\w-])",
            re.IGNORECASE,
        )

    def _put(self, found: re.Match[str], *, plain: bool) -> str:
        """Return what stands instead of a name; `plain`: nothing in the text is in capital letters."""
        name, rest, form = found["name"], found["rest"] or "", self.other.form
        same = form is not None and form == self.own.form
        put = self.own.name if same else form.any if form is not None else ""
        if rest and rest == self.words.plural:
            put = put and put + rest
        elif rest:
            # "Mammografiien" is no compound of "Mammo": more of the whole name follows.
            short, whole = "".join(words(name)), "".join(words(self.other.name))
            goes_on = whole.startswith("".join(words(name + rest))[: len(short) + 1])
            is_compound = len(rest.strip("-")) >= SHORTEST_REST and not goes_on
            if not (self.words.compound and self.own.name and is_compound):
                raise NotBorrowed("form")
            tail = rest.strip("-")
            put = Template(self.words.compound).substitute(exam=self.own.name, rest=tail[0].upper() + tail[1:])
        if not put:
            raise NotBorrowed("form")
        if plain or (name.islower() and not self.other.name.islower()):
            put = put.lower()
        elif name[0].isupper() and self.other.name[0].islower():
            put = put[0].upper() + put[1:]
        if not (article := found["article"]):
            return put
        back = {changed: usual for usual, changed in self.words.before_vowel.items()}
        usual = back.get(article.lower(), article.lower())
        fitting = self.words.before_vowel[usual] if _begins_with_vowel(put, self.own.name) else usual
        return (fitting.capitalize() if article[0].isupper() else fitting) + found["gap"] + put


def _holds(said: Sequence[str], name: Sequence[str]) -> bool:
    """Say whether words hold a name; a longer one also as the beginning of a longer word."""
    size = len(name)
    return bool(name) and any(
        all(map(_begins, said[start : start + size], name)) for start in range(len(said) - size + 1)
    )


def _begins(word: str, name: str) -> bool:
    return word == name or (len(name) >= SHORTEST_NAME and word.startswith(name))


def _speaks_of(name: str, word: str) -> bool:
    """Say whether a word has to do with a name: "Kontrollmammographie", "mammografisch", "KopfMRT"."""
    if len(name) >= BEGINNING:
        return name[:BEGINNING] in word
    return len(name) >= SHORTEST_NAME and (word.startswith(name) or word.endswith(name))


def _begins_with_vowel(put: str, name: str) -> bool:
    """Say whether what is put in begins with a vowel's sound: an appointment, an MRI scan."""
    first = name.partition(" ")[0]
    is_spelt_out = len(first) > 1 and first.isupper() and put.lower().startswith(first.lower())
    return put[0].upper() in (_SPELT_OUT if is_spelt_out else "AEIOU")


def special_words(catalog: Catalog, other: Catalog, borrowed: Collection[str]) -> frozenset[str]:
    """Return stems of words that the other catalog's questions use, but for those that are borrowed from.

    Special is what stands in several of those pairs, and far more often than in the variants that are borrowed and in
    what no pair answers. What this catalog's own texts use is not.
    """
    usual, special, pairs = Counter[str](), Counter[str](), defaultdict[str, set[str]](set)
    texts = [variant.text for pair in other.pairs if pair.id in borrowed for variant in pair.variants]
    texts += [*other.background, *catalog.background]
    for text in texts:
        usual.update(_stems(text))
    asked = 0
    for pair in other.pairs:
        for variant in pair.variants if pair.id not in borrowed else ():
            asked += 1
            for stem in (found := _stems(variant.text)):
                pairs[stem].add(pair.id)
            special.update(found)
    own = {stem for pair in catalog.pairs for text in texts_of(pair) for stem in _stems(text)}
    return frozenset(
        stem
        for stem, number in special.items()
        if stem not in own and number >= FEWEST_TEXTS and len(pairs[stem]) >= FEWEST_PAIRS
        # Half a text more: what was never seen in few texts may be there all the same.
        if number / asked >= OFTENER * (usual[stem] + 0.5) / (len(texts) + 1)
    )


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in words(text) if len(word) >= SHORTEST_WORD and not word[0].isdigit()}


def texts_of(pair: Pair) -> list[str]:
    """Return what clinicians wrote of a pair."""
    written = (pair.question, pair.short_answer, pair.answer, pair.easy_answer, " ".join(pair.facets))
    return [text for text in written if text]


@dataclass(frozen=True)
class Borrowed:
    """What a catalog may borrow.

    Attributes:
        source: The catalog that is borrowed from.
        drafts: Pair by pair, plain texts first and voices by turns.
        left_out: How many texts were left out, by reason.
        looked_at: All variants of the pairs that are borrowed from.
        renamed: Of the drafts, those in which a name was replaced.
    """

    source: str
    drafts: Sequence[Draft]
    left_out: Mapping[LeftOut, int]
    looked_at: int
    renamed: int


def borrow(catalog: Catalog, other: Catalog, matching: Mapping[str, str], naming: Naming) -> Borrowed:
    """Return the variants of pairs of another catalog as drafts; `matching`: its pair, by the pair of this catalog."""
    voices = defaultdict[str, set[str]](set)
    for each in (draft for pair in other.pairs for draft in _written(pair, other)):
        for word in words(each.text):
            voices[word].add(each.voice)
    left_out, looked_at, renamed = Counter[LeftOut](), 0, 0
    drafts = list[Draft]()
    for id_, from_ in matching.items():
        pair = catalog.pair(id_)
        allowed = frozenset(word for text in texts_of(pair) for word in words(text))
        queues = defaultdict[str, list[tuple[float, int, Draft]]](list)
        for each in _written(other.pair(from_), other):
            looked_at += 1
            try:
                moved = naming.moved(each.text, allowed)
            except NotBorrowed as reason:
                left_out[reason.why] += 1
                continue
            renamed += moved != each.text
            said = words(moved)
            strange = sum(len(voices[word]) < FEWEST_VOICES for word in said) / max(1, len(said))
            draft = replace(each, text=moved, pair=id_, facet=each.facet if each.facet in pair.facets else None)
            queues[each.voice].append((round(strange, 1), len(said), draft))
        ranked = sorted((sorted(each, key=lambda one: one[:2]) for each in queues.values()), key=lambda one: one[0][:2])
        drafts += [one[2] for turn in zip_longest(*ranked) for one in turn if one is not None]
    return Borrowed(other.name, drafts, {why: left_out[why] for why in LEFT_OUT if left_out[why]}, looked_at, renamed)


def _written(pair: Pair, catalog: Catalog) -> Iterator[Draft]:
    """Yield the variants of a pair, with who wrote them."""
    for variant in pair.variants:
        kind = variant.by.kind if variant.by is not None else "model"
        voice = (variant.by.profile if variant.by is not None else None) or ""
        yield Draft(" ".join(variant.text.split()), pair.id, voice, variant.facet, kind=kind, source=catalog.name)

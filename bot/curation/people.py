"""Names of people in what patients type: by what stands around them, and by lists of names. Pure.

A word counts as a name where a cue announces one (a title, "ich heiße", a relative, the end of a letter), by the lists
where it is no ordinary word as well, and beside another name. Small letters are the rule in a chat, so capitals help
but are never needed. The cues are data: `words/cues_<language>.yaml`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex
import yaml

from bot.curation.name_lists import SHORTEST, WORDS, NameLists, name_lists
from bot.text import fold

LONGEST = 4  # words of one name
LONGEST_LINE = 60  # characters behind a closing that may all be a name
_ACRONYM = 5  # letters up to which a word in capitals is no name by itself: "GERD"
_ABBREVIATED = 4  # letters before a full stop that does not end a sentence: "Prof."
_TOKEN = regex.compile(r"\p{L}[\p{L}\p{M}]*(?:['’\-]\p{L}[\p{L}\p{M}]*)*")
# The second are words of their own as well, so they join only what surely is a name.
_PARTICLES = frozenset("von van vom di dos del della le el al ben abu ter ten af av mac mc st san".split())  # noqa: SIM905
_DOUBTFUL = frozenset("zu zum zur der den de da do la bin".split())  # noqa: SIM905
_MONTHS = frozenset("may april june august march mai juni juli".split())  # noqa: SIM905
_GAP = regex.compile(r"(?:\.(?=\s?\p{L}))?[\s:,\-]{0,3}(?:\p{Lu}\.\s?){0,3}")  # between a cue and the name
_INITIALS = regex.compile(r"(?<![\p{L}\d.])(?:\p{Lu}\.\s?(?:\-?\p{Lu}\.\s?)*)(?=\p{Lu}\p{L})")
_BEFORE_NAME = regex.compile(r"(?:\p{Lu}\.\s?)+")


@dataclass(frozen=True, slots=True)
class _Cues:
    """What announces a name, as patterns; what each means is said beside the words."""

    titles: regex.Pattern[str]
    weak_titles: regex.Pattern[str]
    called: regex.Pattern[str]
    may_be: regex.Pattern[str]
    relatives: regex.Pattern[str]
    closings: regex.Pattern[str]
    behind: regex.Pattern[str]
    grammar: regex.Pattern[str]
    never: frozenset[str]


def _cues(language: str) -> _Cues:
    said = yaml.safe_load((WORDS / f"cues_{language}.yaml").read_text(encoding="utf-8"))

    def any_of(alternatives: Sequence[str]) -> str:
        return "(?:" + "|".join(alternatives) + ")"

    def between(pattern: str, end: str = r"(?!\p{L})") -> regex.Pattern[str]:
        return regex.compile(rf"(?<![\p{{L}}\d]){pattern}{end}", regex.I)

    relatives = any_of(said["whose"]) + any_of(said["relatives"]) + ",?"
    closing = rf"{any_of(said['closings'])}(?:\s{any_of(said['closing_from'])})?(?!\p{{L}})[,;:.!\s]*"
    return _Cues(
        titles=between(any_of(said["titles"])),
        weak_titles=between(any_of(said["weak_titles"])),
        called=between(any_of(said["called"])),
        may_be=between(any_of(said["may_be"])),
        relatives=between(any_of([relatives, *said["articles"]])),
        closings=between(closing, ""),
        behind=regex.compile(any_of(said["behind"]), regex.I),
        grammar=regex.compile(any_of(said["grammar"]) + "$"),
        never=frozenset(said["never"]),
    )


@dataclass(frozen=True, slots=True)
class _Word:
    """A word with what tells whether it is a name.

    Attributes:
        start: In the text.
        end: In the text.
        folded: Without accents, in small letters.
        capital: Whether it begins with a capital letter, and the text is not all capitals.
        opens: A sentence, so that its capital says nothing.
        joined: Whether nothing but a space stands before it.
        first: Whether it is a first name.
        last: Whether it is a family name.
        ordinary: Whether it is a word of the language.
        both: Whether it is a first name and an ordinary word, and still a name where one is announced.
        barred: Never a name.
        eponym: A disease, a place, a product.
    """

    start: int
    end: int
    folded: str
    capital: bool
    opens: bool
    joined: bool
    first: bool
    last: bool
    ordinary: bool
    both: bool
    barred: bool
    eponym: bool

    @property
    def known(self) -> bool:
        """Whether it is a name and nothing else."""
        return (self.first or self.last) and not self.ordinary and len(self.folded) >= SHORTEST

    @property
    def strange(self) -> bool:
        """Whether it is neither a name of the lists nor an ordinary word."""
        return not (self.first or self.last or self.ordinary) and len(self.folded) >= SHORTEST

    @property
    def proper(self) -> bool:
        """Whether it is written as names are, and is one of the lists, if perhaps a word as well."""
        return self.capital and (self.first or self.last) and self.folded not in _MONTHS


_Fits = Callable[[_Word, _Word | None], bool]  # a word, and the one that is joined to it


class PeopleFinder:
    """Finds names in one language."""

    def __init__(self, language: str) -> None:
        self._english = language == "en"
        self._lists: NameLists = name_lists(language)
        self._cues = _cues(language)

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where names are; they may overlap."""
        said = self._words(text)
        small = not any(word.capital for word in said)
        cues = self._cues
        announced: tuple[tuple[regex.Pattern[str], _Fits], ...] = (
            (cues.titles, lambda word, _: _titled(word, small)),
            (cues.called, lambda word, _: word.capital or word.first or not word.ordinary),
            (cues.weak_titles, _likely),
            (cues.relatives, _likely),
            (cues.may_be, self._surely),
        )
        for pattern, fits in announced:
            for cue in pattern.finditer(text):
                yield from self._announced(text, said, cue.end(), fits)
        yield from self._closings(text, said)
        yield from self._initials(text, said)
        yield from self._before(text, said)
        yield from self._by_themselves(text, said)

    def _words(self, text: str) -> list[_Word]:
        found: list[_Word] = []
        lists, before, shouted = self._lists, 0, text.isupper()
        for match in _TOKEN.finditer(text):
            gap, before = text[before : match.start()], match.end()
            parts = [fold(part) for part in regex.split(r"['’\-]", match[0])]
            folded = fold(match[0].replace("'", "").replace("’", ""))
            first = any(part in lists.first and len(part) >= SHORTEST for part in parts) and len(parts[0]) > 1
            last = folded in lists.last or any(part in lists.last and len(part) >= SHORTEST for part in parts)
            eponym = folded in lists.eponyms
            ordinary = folded in lists.ordinary or all(part in lists.ordinary for part in parts)
            word = _Word(
                start=match.start(),
                end=match.end(),
                folded=folded,
                capital=match[0][0].isupper() and not (shouted and len(match[0]) > SHORTEST),
                opens=not found or any(mark in gap for mark in '.!?\n:;"„“['),
                joined=bool(found) and gap in (" ", "  ", "-", ""),
                first=first,
                last=last,
                ordinary=ordinary or any(part in lists.eponyms for part in parts),
                both=folded in lists.both,
                barred=folded in self._cues.never,
                eponym=eponym,
            )
            found.append(word)
        return found

    def _surely(self, word: _Word, following: _Word | None) -> bool:
        """Say whether a word is a name where mostly something else follows."""
        if word.eponym:
            return False
        if (word.first and (word.known or word.proper)) or (word.capital and word.known):
            return True
        if following is None or self._cues.grammar.search(word.folded):
            return False
        if word.both:
            return following.known
        return (word.strange or word.known) and (following.last or following.known or following.strange)

    def _announced(self, text: str, said: Sequence[_Word], at: int, fits: _Fits) -> Iterator[tuple[int, int]]:
        """Yield the name that begins right behind a cue, with initials before it."""
        gap = _GAP.match(text, at)
        begin = gap.end() if gap is not None else at
        number = next((number for number, word in enumerate(said) if word.start >= begin), len(said))
        if number == len(said) or said[number].start != begin:
            return
        if text[at : at + 1] in (".", ",") and _letters_before(text, at) > _ABBREVIATED and said[number].ordinary:
            return  # "Dear doctor, last week": a new sentence begins, and its capital says nothing
        while number < len(said) and self._cues.titles.fullmatch(text, said[number].start, said[number].end):
            number += 1
        start = number
        while number + 1 < len(said) and said[number].folded in _PARTICLES | _DOUBTFUL and said[number + 1].joined:
            number += 1
        if number == len(said) or said[number].barred:
            return
        following = said[number + 1] if number + 1 < len(said) and said[number + 1].joined else None
        if fits(said[number], following):
            yield _with_initials(text, at, said[start].start), said[self._reach(said, number)].end

    def _reach(self, said: Sequence[_Word], number: int) -> int:
        """Return the last word of the name that a word begins."""
        reached = number
        while reached + 1 < len(said) and said[reached + 1].joined and reached + 1 - number < LONGEST:
            following = said[reached + 1]
            beyond = said[reached + 2] if reached + 2 < len(said) and said[reached + 2].joined else None
            if following.folded in _PARTICLES:
                if beyond is None or not _continues(beyond, said[number]):
                    break
                reached += 2
            elif following.folded in _DOUBTFUL:
                if beyond is None or beyond.barred or not (beyond.last or beyond.known or _capital_alone(beyond)):
                    break
                reached += 2
            elif _continues(following, said[number]):
                reached += 1
            else:
                break
        return reached

    def _closings(self, text: str, said: Sequence[_Word]) -> Iterator[tuple[int, int]]:
        """Yield whatever stands behind a closing, where only a few words end the message."""
        for cue in self._cues.closings.finditer(text):
            left = [number for number, word in enumerate(said) if word.start >= cue.end()]
            line = text[cue.end() :].strip()
            if 0 < len(left) <= LONGEST and len(line) <= LONGEST_LINE and not regex.search(r"[?]|\d", line):
                ends = [said[number] for number in left]
                named = any(word.first or word.last or word.strange or word.capital for word in ends)
                if named and not any(word.barred for word in ends):
                    yield _with_initials(text, cue.end(), ends[0].start), ends[-1].end
            elif left:
                word = said[left[0]]
                if (word.capital or word.known) and not word.barred and _likely(word, None):
                    yield word.start, said[self._reach(said, left[0])].end

    def _initials(self, text: str, said: Sequence[_Word]) -> Iterator[tuple[int, int]]:
        by_start = {word.start: word for word in said}
        for found in _INITIALS.finditer(text):
            word = by_start.get(found.end())
            if word is not None and not word.eponym and (word.last or word.strange):
                yield found.start(), word.end

    def _before(self, text: str, said: Sequence[_Word]) -> Iterator[tuple[int, int]]:
        """Yield names that a cue follows: "Huber mein Name"."""
        for number, word in enumerate(said):
            fits = (word.capital or not word.ordinary or word.both) and not word.barred
            if fits and self._cues.behind.match(text, word.end):
                start = number
                while said[start].joined and _belongs(said[start - 1], word):
                    start -= 1
                yield said[start].start, word.end

    def _by_themselves(self, text: str, said: Sequence[_Word]) -> Iterator[tuple[int, int]]:
        """Yield names that nothing announces, by the lists."""
        shouted = text.isupper()
        for number, word in enumerate(said):
            acronym = word.end - word.start <= _ACRONYM and text[word.start : word.end].isupper() and not shouted
            if word.barred or word.eponym or acronym:
                continue
            # English has no other capitals inside a sentence.
            proper = self._english and word.proper and word.first and not word.opens and len(word.folded) > SHORTEST
            before = said[number - 1] if number else None
            if (word.first and word.known) or proper or (word.capital and word.known and not word.opens):
                start = word.start
                if before is not None and text[before.end : word.start] == ", " and before.capital:
                    start = before.start if before.last or before.strange else start  # "Huber, Anna"
                yield start, said[self._reach(said, number)].end
            elif word.known and word.joined and before is not None and before.strange and not before.barred:
                # "Tjorven Huber": a strange word is a first name where a family name follows.
                start = word.start if self._cues.grammar.search(before.folded) else before.start
                if start < word.start:
                    yield start, word.end


def _titled(word: _Word, small: bool) -> bool:
    """Say whether a word is a name behind "Frau" or "Dr.", in a text that may have no capitals at all."""
    return word.capital or not word.ordinary or word.both or (small and word.last and len(word.folded) > SHORTEST)


def _likely(word: _Word, _: _Word | None) -> bool:
    """Say whether a word is a name where one may follow."""
    return not word.eponym and (word.known or word.strange or word.both or (word.proper and word.first))


def _capital_alone(word: _Word) -> bool:
    return word.capital and not word.ordinary


def _continues(word: _Word, first: _Word) -> bool:
    """Say whether a word goes on with the name that another began."""
    if word.barred or word.eponym:
        return False
    return word.known or (word.strange and (word.capital or not first.capital)) or word.proper


def _belongs(word: _Word, last: _Word) -> bool:
    return word.folded in _PARTICLES or _continues(word, last)


def _with_initials(text: str, at: int, start: int) -> int:
    """Return where the initials before a name begin."""
    initials = _BEFORE_NAME.search(text, at, start)
    return initials.start() if initials is not None else start


def _letters_before(text: str, end: int) -> int:
    """Return how many letters the word has that ends here."""
    start = end
    while start and text[start - 1].isalpha():
        start -= 1
    return end - start


@lru_cache(maxsize=2)
def people_finder(language: str) -> PeopleFinder:
    return PeopleFinder(language)

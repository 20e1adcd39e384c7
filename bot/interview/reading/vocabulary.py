"""What the words of one language are, by which replies are read; they are kept in `words/*.yaml`. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.interview.reading.tokens import Fold, cut


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases of folded words, found longest first."""

    all: frozenset[tuple[str, ...]]
    longest: int

    def length_at(self, words: Sequence[str], start: int) -> int:
        """Return how many words from `start` on make the longest phrase; 0 when none does."""
        for length in range(min(self.longest, len(words) - start), 0, -1):
            if tuple(words[start : start + length]) in self.all:
                return length
        return 0

    def within(self, words: Sequence[str]) -> bool:
        """Tell whether any phrase occurs."""
        return any(self.length_at(words, start) for start in range(len(words)))

    def __contains__(self, words: object) -> bool:
        return words in self.all


def steps(words: Sequence[str], *lists: Phrases) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Go through words: yield where a phrase of some lists or another word begins, and how long each list's phrase is.

    The next step is behind the longest of them.
    """
    place = 0
    while place < len(words):
        lengths = tuple(phrases.length_at(words, place) for phrases in lists)
        yield place, lengths
        place += max(*lengths, 1)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Words of yes and no."""

    yes: Phrases  # answers that are sure
    no: Phrases
    plain_yes: frozenset[str]  # those that say nothing else, in either language: they need not be read back
    plain_no: frozenset[str]
    negators: Phrases  # negate what they stand with, and mean no on their own
    maybe_yes: Phrases  # answers to be read back
    maybe_no: Phrases
    unclear: Phrases  # neither yes nor no
    but: frozenset[str]  # begins a comment that limits an answer
    openers: frozenset[str]  # said before an answer, meaning nothing
    first_person: frozenset[str]  # show that the patient speaks of herself
    exclamations: Phrases  # said around an answer, meaning nothing: "um Gottes willen"
    often: Phrases  # how often something happens, which says that it does: "jedes Jahr"
    always: frozenset[str]  # says the same together with `attended`: "immer brav hingegangen"
    attended: frozenset[str]
    every: frozenset[str]  # open "alle zwei Jahre"
    times: frozenset[str]  # close "schon drei Mal"
    asks_leave: Phrases  # of a question that asks for permission: "dürfen wir"
    leave: Phrases  # give permission, and say neither yes nor no elsewhere: "kein Problem", "meinetwegen"
    no_leave: Phrases  # keep it back
    meta: frozenset[str]  # verbs of understanding and wanting: "I don't understand" is no "no"


@dataclass(frozen=True, slots=True)
class Silence:
    """Ways not to answer."""

    padding: frozenset[str]  # left out before comparing
    dont_know: Phrases  # without padding
    refused: Phrases
    connecting: frozenset[str]  # between a reason and what follows from it: "I was adopted, so I don't know"


@dataclass(frozen=True, slots=True)
class Around:
    """What may stand around a value."""

    harmless: frozenset[str]  # changes nothing
    approximate: Phrases  # make a value approximate
    hedges: Phrases  # show that the patient is not sure
    limits: Phrases  # turn a value into a limit
    date_limits: frozenset[str]  # the same in front of a date
    vague: Phrases  # amounts without a number
    to: frozenset[str]  # between the two ends of a range
    either: frozenset[str]  # between alternatives
    between: frozenset[str]  # opens a range
    joins: frozenset[str]  # between several answers
    scales: frozenset[str]  # large numbers that are not read


@dataclass(frozen=True, slots=True, eq=False)
class NumberWords:
    """Numbers in words. Compared by identity, so that they can key a cache."""

    pads: frozenset[str]  # may stand around a number, besides what is harmless anywhere
    age: frozenset[str]  # show that a question asks for years of age
    age_past: frozenset[str]  # show that it asks for an age of the past
    birth: frozenset[str]  # of a birth year: "Jahrgang 64"
    becoming: Phrases  # of an age that is not yet reached: "werde 62"
    nearing: Phrases  # further such words beside two ages: "61, bald 62"
    small: Mapping[str, int]  # 0 to 99, as far as they are words of their own; "einmal", "twice" too
    counting: frozenset[str]  # those of them that only count how often, and are no place in a list
    articles: frozenset[str]  # words for "a" that can mean one
    hundred: frozenset[str]
    thousand: frozenset[str]
    joiners: frozenset[str]  # between parts: "und", "and"
    units_first: bool  # whether "drei und siebzig" is 73
    halves: Mapping[str, Decimal]  # whole words with a half in them
    half_suffix: str  # ends a compound like "zweieinhalb"; may be empty
    and_a_half: Phrases  # what after a number adds a half
    none: frozenset[str]  # mean zero, to be read back
    ordinals: Mapping[str, int]
    ordinal_ends: frozenset[str]  # may follow digits: "3rd", "3ten"
    minus: frozenset[str]
    decimal_mark: str
    group_mark: str  # between thousands; the apostrophe is always one
    point: frozenset[str]  # words for the decimal mark


@dataclass(frozen=True, slots=True)
class Feast:
    """A feast: `day` of a `month` or, where that is 0, so many days after Easter Sunday; `single` if it is one day."""

    month: int
    day: int
    single: bool = False


@dataclass(frozen=True, slots=True)
class DateWords:
    """Words of the calendar."""

    months: Mapping[str, int]  # all names, short names and dialect names
    correctable: Mapping[str, int]  # full names in which a typing error is forgiven
    weekdays: Mapping[str, int]  # Monday is 0
    seasons: Mapping[str, int]  # their last month
    winters: frozenset[str]  # names of the season that lies in two years
    feasts: Mapping[str, Feast]  # by name, words between single spaces
    decades: frozenset[str]  # names of decades: "Neunziger"
    couple: Phrases  # for two or so, before a span
    days: Mapping[str, int]  # days from today: "gestern" is -1
    this_year: frozenset[str]  # a year in one word: "heuer"
    spans: Mapping[str, str]  # day, week, month and year, as UCUM codes d, wk, mo, a
    half_year: frozenset[str]  # six months in one word
    half: frozenset[str]  # before a span
    since: frozenset[str]  # of a question that asks since when
    ago_before: frozenset[str]  # in front of a span that lies in the past
    ago_after: frozenset[str]  # after it
    last: frozenset[str]  # in front of week, month, year or weekday, as the next three
    before_last: frozenset[str]
    this: frozenset[str]
    next: frozenset[str]
    ahead: frozenset[str]  # in front of a span that lies in the future
    of: frozenset[str]  # between day and month
    month_first: bool  # whether 3/4/1975 is 4 March
    decade_ends: frozenset[str]  # make a year a decade: "1990er", "1990s"
    the: frozenset[str]  # articles after a part: "at the end of the year"
    parts: frozenset[str]  # parts of a month or year: "Anfang"
    part_months: Mapping[str, int]  # the month in which such a part of a year begins, if not the first
    year_parts: Mapping[str, int]  # the same in one word: "Jahresende"
    year_pads: frozenset[str]  # may stand before two digits that mean a year
    month_names: tuple[str, ...]  # for wording, January first


@dataclass(frozen=True, slots=True)
class TimeWords:
    """Words of the clock."""

    at: frozenset[str]  # in front of a bare hour
    hour: frozenset[str]  # "Uhr", "o'clock", "h"
    minute: frozenset[str]  # after minutes
    half: frozenset[str]
    half_before: bool  # whether "halb drei" is before three
    quarter: frozenset[str]
    three_quarters: frozenset[str]
    past: frozenset[str]
    to: frozenset[str]
    named: Mapping[str, int]  # noon and midnight, as hours
    halves_of_day: Mapping[str, int]  # "am" and "pm" as first hours, 0 and 12
    parts_of_day: Mapping[str, tuple[int, int]]  # the hours, first and last, that they cover; also past midnight
    twelve_hours: bool  # whether "8:30" may be in the evening


@dataclass(frozen=True, slots=True)
class ChoiceWords:
    """Words for picking from a list."""

    number_pads: frozenset[str]  # may stand around a position: "Nr.", "Option"
    last: frozenset[str]  # the last position
    none: Phrases  # "keine davon"
    all: Phrases
    articles: frozenset[str]  # left out when labels are compared
    negating: frozenset[str]  # beginnings that turn a word into its opposite
    endings: tuple[str, ...]  # of inflected words, longest first
    weak: frozenset[str]  # name no option on their own: pronouns, what everybody has, takes or sees
    judging: frozenset[str]  # without these a label says something else: "schlecht", "long"
    without: frozenset[str]  # leave out what follows them
    excepting: Phrases  # take something out of "all"
    enough: Phrases  # end a list: "sonst nichts"
    roughly: Phrases  # make what was named uncertain, and are no judgement as "gut" may be
    unknown: Phrases  # further labels of options that mean "unknown"


@dataclass(frozen=True, slots=True)
class UnitWords:
    """Names of units, by their UCUM codes."""

    codes: Mapping[str, tuple[str, ...]]  # what each written form may mean, most usual first; see `unit_key`
    names: dict[str, str]  # how a code is shown when the Questionnaire does not say
    opens: Phrases  # before a unit in a question: "in cm", "wie viele Jahre"
    over: frozenset[str]  # between the two values of a blood pressure
    measured: Mapping[str, Phrases]  # of a question, by the well-known quantity that it asks for

    @property
    def known(self) -> frozenset[str]:
        """Return the codes of all units that have a name here."""
        return frozenset(code for codes in self.codes.values() for code in codes)


@dataclass(frozen=True, slots=True)
class CommandWords:
    """Whole messages that steer the interview."""

    padding: frozenset[str]  # left out before comparing
    kinds: Mapping[str, Phrases]  # messages by kind, without padding
    change: frozenset[str]  # verbs that change an answer
    change_last: bool  # whether the verb may come last
    no_verb_before: frozenset[str]  # with these it changes no answer: "a change in my breast", "change my mind"
    change_padding: frozenset[str]  # left out, with all padding, around what is to be changed


@dataclass(frozen=True, slots=True)
class Frames:
    """What stands around a text that is asked for, and is no part of it."""

    openers: Phrases  # before a name or number: "mein Name ist"
    closers: Phrases  # after it: "is my name"
    named: Phrases  # before it, where a name is asked for: "ich bin"
    pointing: Phrases  # before a few words: "das ist"
    whose: frozenset[str]  # open "mein Hausarzt ist", if the question asks for just that
    verbs: frozenset[str]  # between that and the text
    names: frozenset[str]  # of a question that asks for a name
    none: Phrases  # messages that say that there is none


@dataclass(frozen=True, slots=True)
class Wordings:
    """Patterns for reading values back."""

    yes: str
    no: str
    date: str
    month: str
    time: str
    moment: str


@dataclass(frozen=True, slots=True)
class Words:
    """Everything that reading replies in one language needs; `positions` are the number words of places in a list."""

    fold: Fold
    agreement: Agreement
    silence: Silence
    around: Around
    numbers: NumberWords
    dates: DateWords
    times: TimeWords
    choices: ChoiceWords
    units: UnitWords
    commands: CommandWords
    frames: Frames
    wordings: Wordings
    positions: NumberWords

    def without_hedges(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return words without "I'm not sure" and "nothing else", whose negation is about something else."""
        found = steps(texts, self.around.hedges, self.choices.enough)
        return tuple(texts[place] for place, lengths in found if not any(lengths))

    def negates(self, texts: Sequence[str]) -> bool:
        """Tell whether anything is negated, apart from how sure the patient is."""
        plain = self.without_hedges(texts)
        return self.agreement.negators.within(plain) or not self.choices.without.isdisjoint(plain)

    def without_negation(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return what is negated: the words without those that negate."""
        plain, without = self.without_hedges(texts), self.choices.without
        found = steps(plain, self.agreement.negators)
        return tuple(plain[place] for place, (taken,) in found if not taken and plain[place] not in without)

    def excepts(self, texts: Sequence[str]) -> bool:
        """Tell whether something is taken out: "alles bis auf Husten", "everything but the cough"."""
        return self.choices.excepting.within(texts)

    def only_denies(self, texts: Sequence[str]) -> bool:
        """Tell whether words deny what was said before them and say nothing of their own: "das nehme ich nicht"."""
        silent = self.choices.weak | self.choices.articles | self.silence.padding | self.agreement.openers
        return self.negates(texts) and silent.issuperset(self.without_negation(texts))


def unit_key(form: str, fold: Fold) -> str:
    """Return a written form of a unit as it is looked up: folded, without spaces, dots and raising marks."""
    return "".join(token.text for token in cut(form, fold).tokens if token.text not in (".", "^"))

"""The words of one language by which replies are read. Data of `words_*.py`. Pure.

A language is some modules of plain data (`words_de`, with `dates_de` and `manners_de`) and a line in `languages`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.interview.reading.tokens import Fold


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


@dataclass(frozen=True, slots=True)
class Feast:
    """A feast: `day` of a `month` or, where that is 0, so many days after Easter Sunday; `single` if it is one day."""

    month: int
    day: int
    single: bool = False


@dataclass(frozen=True, slots=True)
class DateWords:
    """Words of the calendar.

    Attributes:
        months: All names, short names and dialect names.
        correctable: Full month names in which a typing error is forgiven.
        weekdays: Monday is 0.
        seasons: Their last month.
        winters: Names of the season that lies in two years.
        feasts: By name, words between single spaces.
        decades: Names of decades: "Neunziger".
        couple: Phrases for two or so, before a span.
        days: Days from today: "gestern" is -1.
        this_year: Words that are a year of their own ("heuer").
        spans: Words for day, week, month and year, as UCUM codes d, wk, mo, a.
        half_year: Words for six months.
        half: Words for a half, before a span.
        since: Words of a question that asks since when.
        ago_before, ago_after: Around a span that lies in the past.
        last, before_last, this, next: In front of week, month, year or weekday.
        ahead: In front of a span that lies in the future.
        of: Between day and month.
        month_first: Whether 3/4/1975 is 4 March.
        decade_ends: Make a year a decade: "1990er", "1990s".
        the: Articles after a part: "at the end of the year".
        parts: Parts of a month or year: "Anfang".
        part_months: The month in which such a part of a year begins, if not the first.
        year_parts: The same in one word: "Jahresende".
        year_pads: What may stand before two digits that mean a year.
        month_names: For wording, January first.
    """

    months: Mapping[str, int]
    correctable: Mapping[str, int]
    weekdays: Mapping[str, int]
    seasons: Mapping[str, int]
    winters: frozenset[str]
    feasts: Mapping[str, Feast]
    decades: frozenset[str]
    couple: Phrases
    days: Mapping[str, int]
    this_year: frozenset[str]
    spans: Mapping[str, str]
    half_year: frozenset[str]
    half: frozenset[str]
    since: frozenset[str]
    ago_before: frozenset[str]
    ago_after: frozenset[str]
    last: frozenset[str]
    before_last: frozenset[str]
    this: frozenset[str]
    next: frozenset[str]
    ahead: frozenset[str]
    of: frozenset[str]
    month_first: bool
    decade_ends: frozenset[str]
    the: frozenset[str]
    parts: frozenset[str]
    part_months: Mapping[str, int]
    year_parts: Mapping[str, int]
    year_pads: frozenset[str]
    month_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Words of yes and no.

    Attributes:
        yes, no: Answers that are sure.
        plain_yes, plain_no: Those that say nothing else, in either language: they need not be read back.
        negators: Words that negate what they stand with, and mean no on their own.
        maybe_yes, maybe_no: Answers to be read back.
        unclear: Neither yes nor no.
        but: Begins a comment that limits an answer.
        openers: Said before an answer, meaning nothing.
        first_person: Words that show that the patient speaks of herself.
        exclamations: Said around an answer, meaning nothing: "um Gottes willen".
        often: How often something happens, which says that it does: "jedes Jahr".
        always, attended: Words that say the same together: "immer brav hingegangen".
        every: Open "alle zwei Jahre".
        times: Close "schon drei Mal".
        asks_leave: Words of a question that asks for permission: "dürfen wir".
        leave, no_leave: Ways to give it, or not, which say neither yes nor no elsewhere: "kein Problem", "meinetwegen".
        meta: Verbs of understanding and wanting: "I don't understand" is no "no".
    """

    yes: Phrases
    no: Phrases
    plain_yes: frozenset[str]
    plain_no: frozenset[str]
    negators: Phrases
    maybe_yes: Phrases
    maybe_no: Phrases
    unclear: Phrases
    but: frozenset[str]
    openers: frozenset[str]
    first_person: frozenset[str]
    exclamations: Phrases
    often: Phrases
    always: frozenset[str]
    attended: frozenset[str]
    every: frozenset[str]
    times: frozenset[str]
    asks_leave: Phrases
    leave: Phrases
    no_leave: Phrases
    meta: frozenset[str]


@dataclass(frozen=True, slots=True)
class Silence:
    """Ways not to answer.

    Attributes:
        padding: Words left out before comparing.
        dont_know, refused: What remains of such messages.
        connecting: Words between a reason and what follows from it: "I was adopted, so I don't know".
        unknown_labels: Further labels of options that mean "unknown".
    """

    padding: frozenset[str]
    dont_know: Phrases
    refused: Phrases
    connecting: frozenset[str]
    unknown_labels: Phrases


@dataclass(frozen=True, slots=True)
class Around:
    """What may stand around a value.

    Attributes:
        harmless: Words that change nothing.
        approximate: Make a value approximate.
        hedges: Show that the patient is not sure.
        limits: Turn a value into a limit.
        date_limits: The same in front of a date.
        vague: Amounts without a number.
        to: Between the two ends of a range.
        either: Between alternatives.
        between: Opens a range.
        joins: Between several answers.
        scales: Large-number words that are not read.
    """

    harmless: frozenset[str]
    approximate: Phrases
    hedges: Phrases
    limits: Phrases
    date_limits: frozenset[str]
    vague: Phrases
    to: frozenset[str]
    either: frozenset[str]
    between: frozenset[str]
    joins: frozenset[str]
    scales: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class NumberWords:
    """Numbers in words. Compared by identity, so that they can key a cache.

    Attributes:
        pads: What may stand around a number, besides what is harmless anywhere.
        age: Words that show that a question asks for years of age.
        small: 0 to 99, as far as they are words of their own; "einmal", "twice" too.
        articles: Words for "a" that can mean one.
        hundred, thousand: Their words.
        joiners: Between parts: "und", "and".
        units_first: Whether "drei und siebzig" is 73.
        halves: Whole words with a half in them.
        half_suffix: Ends a compound like "zweieinhalb"; may be empty.
        and_a_half: What after a number adds a half.
        age_past: Words that show that it asks for an age of the past.
        birth: Words of a birth year: "Jahrgang 64".
        becoming: Words of an age that is not yet reached: "werde 62".
        nearing: Further such words beside two ages: "61, bald 62".
        none: Words that mean zero, to be read back.
        ordinals: Ordinal words and their number.
        ordinal_ends: What may follow digits: "3rd", "3ten".
        minus: Word for the sign.
        decimal_mark: Between whole part and fraction.
        group_mark: Between thousands; the apostrophe is always one.
        point: Words for the decimal mark.
    """

    pads: frozenset[str]
    age: frozenset[str]
    age_past: frozenset[str]
    birth: frozenset[str]
    becoming: Phrases
    nearing: Phrases
    small: Mapping[str, int]
    articles: frozenset[str]
    hundred: frozenset[str]
    thousand: frozenset[str]
    joiners: frozenset[str]
    units_first: bool
    halves: Mapping[str, Decimal]
    half_suffix: str
    and_a_half: Phrases
    none: frozenset[str]
    ordinals: Mapping[str, int]
    ordinal_ends: frozenset[str]
    minus: frozenset[str]
    decimal_mark: str
    group_mark: str
    point: frozenset[str]


@dataclass(frozen=True, slots=True)
class TimeWords:
    """Words of the clock.

    Attributes:
        at: In front of a bare hour.
        hour: "Uhr", "o'clock", "h".
        minute: After minutes.
        half: "halb", "half".
        half_before: Whether "halb drei" is before three.
        quarter, three_quarters: Parts of an hour.
        past, to: Around the hour.
        named: Times with a name: noon and midnight, as hours.
        halves_of_day: "am" and "pm" as first hours, 0 and 12.
        parts_of_day: Words and the hours, first and last, that they cover; the last may be before the first.
        twelve_hours: Whether "8:30" may be in the evening.
    """

    at: frozenset[str]
    hour: frozenset[str]
    minute: frozenset[str]
    half: frozenset[str]
    half_before: bool
    quarter: frozenset[str]
    three_quarters: frozenset[str]
    past: frozenset[str]
    to: frozenset[str]
    named: Mapping[str, int]
    halves_of_day: Mapping[str, int]
    parts_of_day: Mapping[str, tuple[int, int]]
    twelve_hours: bool


@dataclass(frozen=True, slots=True)
class ChoiceWords:
    """Words for picking from a list.

    Attributes:
        number_pads: What may stand around a position: "Nr.", "Option".
        last: The last position.
        none, all: "keine davon", "alle".
        articles: Words that are left out when labels are compared.
        negating: Beginnings that turn a word into its opposite.
        endings: Of inflected words, longest first.
        numbers: Number words, without those that only count how often: "einmal" is no place in a list.
        weak: Words that name no option on their own: pronouns, what everybody has, takes or sees.
        judging: Words without which a label says something else: "schlecht", "long".
        without: Words that leave out what follows them.
        excepting: Phrases that take something out of "all".
        enough: Phrases that end a list: "sonst nichts".
        roughly: Phrases that make what was named uncertain, and are no judgement as "gut" may be.
    """

    number_pads: frozenset[str]
    last: frozenset[str]
    none: Phrases
    all: Phrases
    articles: frozenset[str]
    negating: frozenset[str]
    endings: tuple[str, ...]
    numbers: NumberWords
    weak: frozenset[str]
    judging: frozenset[str]
    without: frozenset[str]
    excepting: Phrases
    enough: Phrases
    roughly: Phrases


@dataclass(frozen=True, slots=True)
class CommandWords:
    """Whole messages that steer the interview.

    Attributes:
        padding: Words left out before comparing.
        kinds: Messages by kind.
        change: Verbs that change an answer.
        change_last: Whether the verb may come last.
        no_verb_before: Words with which such a verb changes no answer: "a change in my breast", "change my mind".
        change_padding: Words left out around what is to be changed.
    """

    padding: frozenset[str]
    kinds: Mapping[str, Phrases]
    change: frozenset[str]
    change_last: bool
    no_verb_before: frozenset[str]
    change_padding: frozenset[str]


@dataclass(frozen=True, slots=True)
class UnitWords:
    """Names of units.

    Attributes:
        codes: Written forms without spaces, folded, and the UCUM code each may mean, most usual first.
        names: How a code is shown when the Questionnaire does not say.
        opens: Words before a unit in a question: "in cm", "wie viele Jahre".
        over: Words between the two values of a blood pressure.
        measured: Words of a question by the well-known quantity that it asks for.
    """

    codes: Mapping[str, tuple[str, ...]]
    names: Mapping[str, str]
    opens: Phrases
    over: frozenset[str]
    measured: Mapping[str, Phrases]

    @property
    def known(self) -> frozenset[str]:
        """Return the codes of all units that have a name here."""
        return frozenset(code for codes in self.codes.values() for code in codes)


@dataclass(frozen=True, slots=True)
class Frames:
    """What stands around a text that is asked for, and is no part of it.

    Attributes:
        openers: Before a name or number: "mein Name ist".
        closers: After it: "is my name".
        named: Before it, where a name is asked for: "ich bin".
        pointing: Before a few words: "das ist".
        whose: Words that open "mein Hausarzt ist", if the question asks for just that.
        verbs: Between that and the text.
        names: Words of a question that ask for a name.
        none: Messages that say that there is none.
    """

    openers: Phrases
    closers: Phrases
    named: Phrases
    pointing: Phrases
    whose: frozenset[str]
    verbs: frozenset[str]
    names: frozenset[str]
    none: Phrases


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
    """Everything that reading replies in one language needs."""

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
    wordings: Wordings
    frames: Frames

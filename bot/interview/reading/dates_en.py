"""Dates in English: data only."""

from __future__ import annotations

from bot.interview.reading.compile_words import Compiler
from bot.interview.reading.tokens import fold_plain
from bot.interview.reading.vocabulary import DateWords, Feast

_EN = Compiler(fold_plain)
_words, _phrases = _EN.words, _EN.phrases

_MONTHS = {
    "january jan januar": 1,
    "february feb": 2,
    "march mar": 3,
    "april apr": 4,
    "may": 5,
    "june jun": 6,
    "july jul": 7,
    "august aug": 8,
    "september sep sept": 9,
    "october oct": 10,
    "november nov": 11,
    "december dec": 12,
}

DATES = DateWords(
    months=_EN.table(_MONTHS),
    correctable=_EN.counted(
        "january, february, march, april, may, june, july, august, september, october, november, december", start=1
    ),
    weekdays=_EN.counted("monday, tuesday, wednesday, thursday, friday, saturday, sunday"),
    seasons=_EN.table({"spring": 5, "summer": 8, "autumn fall": 11}),
    winters=_words("winter"),
    feasts=_EN.feasts(
        {
            "easter, eastertime, easter time, easter holidays": Feast(0, 0),
            "easter sunday, easter day": Feast(0, 0, single=True),
            "easter monday": Feast(0, 1, single=True),
            "good friday": Feast(0, -2, single=True),
            "ash wednesday": Feast(0, -46, single=True),
            "shrove tuesday, pancake day": Feast(0, -47, single=True),
            "ascension day": Feast(0, 39, single=True),
            "pentecost, whitsun, whit": Feast(0, 49),
            "whit monday": Feast(0, 50, single=True),
            "christmas, xmas, christmastime, christmas time, christmas holidays, advent": Feast(12, 25),
            "christmas eve": Feast(12, 24, single=True),
            "christmas day": Feast(12, 25, single=True),
            "boxing day": Feast(12, 26, single=True),
            "new year, new years": Feast(1, 1),
            "new years eve, hogmanay": Feast(12, 31, single=True),
            "new years day": Feast(1, 1, single=True),
            "halloween, hallowe en": Feast(10, 31, single=True),
            "bonfire night, guy fawkes": Feast(11, 5, single=True),
            "valentines, valentines day": Feast(2, 14, single=True),
        }
    ),
    decades=_words("twenties thirties forties fifties sixties seventies eighties nineties noughties"),
    couple=_phrases("a couple of, couple of, a couple, couple"),
    days=_EN.table({"today": 0, "yesterday": -1, "tomorrow": 1}),
    this_year=frozenset(),
    spans=_EN.table(
        {
            "day days": "d",
            "week weeks wk wks": "wk",
            "month months mth mths": "mo",
            "year years yr yrs": "a",
        }
    ),
    half_year=frozenset(),
    half=_words("half"),
    since=_words("since"),
    ago_before=_words("for since"),
    ago_after=_words("ago back"),
    last=_words("last past previous"),
    before_last=frozenset(),
    this=_words("this on current"),
    next=_words("next coming"),
    ahead=_words("in"),
    of=_words("of"),
    month_first=False,
    decade_ends=_words("s"),
    the=_words("the this a"),
    parts=_words("early mid late beginning end start middle"),
    part_months=_EN.table({"mid middle": 6, "end late": 10}),
    year_parts={},
    year_pads=_words("year month in since born was it the i am im mon tue tues wed thu thur thurs fri sat sun"),
    month_names=(
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ),
)

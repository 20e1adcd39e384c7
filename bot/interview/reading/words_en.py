"""English, British first: data only."""

from __future__ import annotations

from dataclasses import replace

from bot.interview.reading.compile_words import Compiler
from bot.interview.reading.dates_en import DATES
from bot.interview.reading.manners_en import AGREEMENT, COMMANDS, FRAMES, SILENCE
from bot.interview.reading.tokens import fold_plain
from bot.interview.reading.vocabulary import Around, ChoiceWords, NumberWords, TimeWords, Wordings, Words

_EN = Compiler(fold_plain)
_words, _phrases = _EN.words, _EN.phrases

AROUND = Around(
    harmless=_words(
        """
        i im ive am is was were are have had has been its it the a an my me weigh weighed weight tall height old
        of on in at for since born birthday birth date dob yes yeah and then so please thanks thank
        you total altogether times time x there that this be just only by answer number no nr each every did do
        got s
        """
    )
    - _words("no yes"),
    approximate=_phrases(
        """
        about, around, approximately, approx, roughly, circa, ca, c, some, nearly, almost, or so, more or less,
        close to, somewhere around, give or take, ish, just about, in the region of, somewhere, sometime,
        some time, roundabout, odd
        """
    ),
    hedges=_phrases(
        """
        i think, think, i believe, believe, i guess, guess, maybe, perhaps, probably, possibly, might be,
        may be, could be, i suppose, suppose, as far as i know, if i remember correctly, if i remember right,
        not sure, im not sure, i am not sure, but im not sure, dont know, i dont know, dont know exactly,
        i dont know exactly, not exactly, i reckon, reckon, must have been, must be, should be, not quite sure,
        not certain, cant remember exactly, i cant remember exactly, dont remember exactly, no idea, unsure,
        presumably, likely
        """
    ),
    limits=_phrases(
        """
        more than, over, at least, less than, under, below, above, up to, at most, no more than, not more than,
        fewer than, maximum, max, minimum, min, greater than, older than, younger than, or more, or less, plus,
        more, less, fewer, upwards, or fewer, a minimum of, a maximum of, not over
        """
    ),
    date_limits=_words("before after until till by prior pre post"),
    vague=_phrases(
        """
        a few, few, several, many, some, a couple, couple, a couple of, couple of, lots, lot, a lot, loads,
        often, various, multiple, numerous, a handful, handful, countless, plenty, quite a few, rarely,
        frequently
        """
    ),
    to=_words("to - through thru till until"),
    either=_words("or"),
    between=_words("between"),
    joins=_words("and plus then also as well , ; / + & ."),
    scales=_words("million millions billion dozen dozens thousand thousands hundred hundreds k m bn"),
)

_SMALL = """
    zero nil nought, one once, two twice, three thrice, four, five, six, seven, eight, nine, ten, eleven,
    twelve, thirteen, fourteen forteen, fifteen, sixteen, seventeen, eighteen, nineteen, twenty
    """
_TENS = {
    "thirty": 30,
    "forty fourty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_ORDINALS = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
    """

NUMBERS = NumberWords(
    pads=_words("at age aged when then"),
    age=_words("old age aged"),
    age_past=_words("was were did"),
    birth=_words("born birth dob jahrgang"),
    becoming=_phrases("turning, turn, will be, ill be, going on, going to be, about to be, be, becoming"),
    nearing=_phrases("nearly, almost, soon, next, coming up, then, just about"),
    small=_EN.counted(_SMALL) | _EN.table(_TENS),
    articles=_words("a an"),
    hundred=_words("hundred"),
    thousand=_words("thousand"),
    joiners=_words("and"),
    units_first=False,
    halves={},
    half_suffix="",
    and_a_half=_phrases("and a half, and one half"),
    none=_words("none never no nothing"),
    ordinals=_EN.counted(",".join(_ORDINALS.split()), start=1) | _EN.table({"thirtieth": 30}),
    ordinal_ends=_words("st nd rd th"),
    minus=_words("minus"),
    decimal_mark=".",
    group_mark=",",
    point=_words("point dot"),
)

TIMES = TimeWords(
    at=_words("at around"),
    hour=_words("oclock h hrs hours o'clock"),
    minute=_words("minute minutes min mins"),
    half=_words("half"),
    half_before=False,
    quarter=_words("quarter"),
    three_quarters=frozenset(),
    past=_words("past after"),
    to=_words("to before till of"),
    named=_EN.table({"noon midday": 12, "midnight": 0}),
    halves_of_day=_EN.table({"am": 0, "pm": 12}),
    parts_of_day=_EN.table(
        {
            "morning": (0, 11),
            "lunchtime": (11, 14),
            "afternoon": (12, 18),
            "evening": (17, 23),
            "night tonight": (21, 5),
        }
    ),
    twelve_hours=True,
)

CHOICES = ChoiceWords(
    number_pads=_words("""
    number no nr option answer choice the one ones item i take choose pick please its it is and also
    """),
    last=_words("last"),
    none=_phrases(
        """
        none known, none that i know of,
        none, none of these, none of them, none of those, none of the above, none of that, nothing,
        nothing of these, neither, no, nope, neither of these, neither of them, not any, no none, none at all,
        nothing at all, none apply, none applies, none of these apply, none of the options, nothing applies,
        no nothing, none of it, neither one
        """
    ),
    all=_phrases(
        """
        all, all of them, all of these, all of the above, everything, all apply, both, both of them, every one,
        all of those, the lot, the whole lot, the works, the full works, all sorts
        """
    ),
    articles=_words("the a an my of to in on at"),
    negating=_words("un non anti in not"),
    endings=("es", "s"),
    numbers=replace(
        NUMBERS,
        small={word: value for word, value in NUMBERS.small.items() if word not in _words("once twice thrice")},
    ),
    weak=_words(
        """
        i im ive id me my mine we us you he she it its this that these those there here so very too also only just
        still already and or but with without from by on in at to for of about because before after as like if when
        is are am was were be been being have has had having do does did done can could will would should must may
        might want need take takes took taken taking use using used get got see seeing saw hear hearing feel feeling
        go going went come live know knew think find eat drink sleep wear make some any something someone anything
        yes no well quite rather bit a an the really pretty
        """
    ),
    judging=_words(
        """
        good well better bad badly poor poorly worse little less much more hardly barely difficult easy long short often
        rarely seldom sometimes never always strong weak high low normal abnormal positive negative former too wrong
        partly
        """
    ),
    without=_words("without"),
    excepting=_phrases(
        """
        except, excepting, except for, everything but, all but, anything but, apart from, other than, excluding,
        aside from, with the exception of, just not, only not
        """
    ),
    enough=_phrases(
        """
        nothing else, nothing more, nothing other, no others, no other, none other, no more, not anything else,
        no one else, nothing further, not that i can think of anything else
        """
    ),
    roughly=_phrases("about, approximately, roughly, or so, more or less, somehow, sort of, kind of, ish"),
)

UNITS = _EN.units(
    {
        "kg": "kg, kgs, kilo, kilos, kilogram, kilograms, kilogramme, kilogrammes",
        "g": "g, gram, grams, gramme, grammes, gr",
        "mg": "mg, milligram, milligrams",
        "ug": "µg, ug, mcg, microgram, micrograms",
        "m": "m, metre, metres, meter, meters",
        "cm": "cm, cms, centimetre, centimetres, centimeter, centimeters",
        "mm": "mm, millimetre, millimetres, millimeter, millimeters",
        "km": "km, kilometre, kilometres, kilometer, kilometers",
        "L": "l, litre, litres, liter, liters",
        "dL": "dl, decilitre, deciliter",
        "cL": "cl",
        "mL": "ml, millilitre, millilitres, milliliter, milliliters",
        "a": "year, years, yr, yrs, y, yo, years old, year old, y/o",
        "mo": "month, months, mth, mths, mo, mos",
        "wk": "week, weeks, wk, wks",
        "d": "day, days, d",
        "h": "hour, hours, h, hr, hrs",
        "min": "minute, minutes, min, mins",
        "s": "second, seconds, sec, secs, s",
        "%": "%, percent, per cent, pct",
        "Cel": "°c, degrees, degrees celsius, celsius, c, degrees centigrade, °, degrees c",
        "[degF]": "°f, fahrenheit, degrees fahrenheit, f, degrees f, degrees, °",
        "mm[Hg]": "mmhg, mm hg",
        "/min": "bpm, /min, per minute, beats per minute, times per minute, beats, times a minute",
        "/d": "/d, /day, per day, a day, daily, times a day, times per day, each day, times daily, every day",
        "/wk": "/week, per week, a week, weekly, times a week, times per week, each week",
        "/mo": "/month, per month, a month, times a month, times per month, monthly, each month",
        "/a": "/year, per year, a year, times a year, times per year, yearly, each year",
        "mg/dL": "mg/dl",
        "mmol/L": "mmol/l, mmol",
        "umol/L": "µmol/l, umol/l",
        "mg/d": "mg/d, mg/day, mg per day, mg a day, mg daily",
        "mL/min": "ml/min",
        "kg/m2": "kg/m2",
        "[IU]": "iu, i.u.",
        "{Pfund}": "pfund",
        "[lb_av]": "lb, lbs, pound, pounds",
        "[oz_av]": "oz, ounce, ounces",
        "[stone_av]": "st, stone, stones",
        "[ft_i]": "ft, foot, feet, '",
        "[in_i]": 'in, inch, inches, ins, ",\'\'',
    },
    {
        "a": "years", "mo": "months", "wk": "weeks", "d": "days", "h": "hours", "min": "minutes", "s": "seconds",
        "Cel": "°C", "[degF]": "°F", "mm[Hg]": "mmHg", "/min": "/min", "/d": "per day", "/wk": "per week",
        "/mo": "per month", "/a": "per year", "[IU]": "IU", "[lb_av]": "lb", "[oz_av]": "oz", "[stone_av]": "st",
        "[ft_i]": "ft", "[in_i]": "in", "ug": "µg", "umol/L": "µmol/L", "mg/d": "mg/day", "kg/m2": "kg/m2",
    },
    opens="in, how many, number of, given in",
    over="over to on",
    measured={
        "height": "body height, how tall, your height, height, current height, present height",
        "weight": """
        body weight, how much do you weigh, what do you weigh, how heavy are you, your weight, weight, current weight,
        present weight
        """,
        "age": "how old, age, your age",
        "temperature": "body temperature, fever, temperature",
        "systolic": "systolic, upper, top",
        "diastolic": "diastolic, lower, bottom",
        "pressure": "blood pressure",
        "pulse": "pulse, heart rate, pulse rate",
        "bmi": "bmi, body mass index",
    },
)  # fmt: skip

WORDINGS = Wordings(
    yes="yes", no="no", date="{day} {month} {year}", month="{month} {year}", time="{time}", moment="{date}, {time}"
)

WORDS = Words(fold_plain, AGREEMENT, SILENCE, AROUND, NUMBERS, DATES, TIMES, CHOICES, UNITS, COMMANDS, WORDINGS, FRAMES)

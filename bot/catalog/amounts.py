"""Amounts and telephone numbers that a text states, comparable across words, digits and languages. Pure.

An amount is a number with its unit: "zwei Wochen", "2 weeks" and "14 days" are one, "2 Wochen" and "2 Tage" are two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit.

    Attributes:
        value: Digits, a point before decimals.
        unit: One of `UNITS`, ``per year`` and the like, or empty for a bare number.
    """

    value: str
    unit: str = ""

    def __str__(self) -> str:
        if self.unit == "yearly":
            return "every year"
        return f"{self.value} {self.unit.removesuffix('s') if self.value == '1' else self.unit}".strip()


# The words of every unit, of all shipped languages together: no word of one is another unit in the other.
UNITS: Mapping[str, str] = {
    "seconds": r"sekunden?|sek\.|sekündig\w*|seconds?|secs?|secondes?",
    "minutes": r"minuten?|min\.?|minütig\w*|minutes?|mins",
    "hours": r"stunden?|std\.|stündig\w*|hours?|hrs?|heures?",
    "working days": r"(?:werk|arbeits)tag\w*|(?:working|business) days?|weekdays?|workdays?|jours? ouvrables?",
    "days": r"tag(?:e[ns]?|s)?|tägig\w*|days?|jours?",
    "weeks": r"wochen?|wöchig\w*|weeks?|semaines?",
    "months": r"monat(?:e[ns]?|s)?|monatig\w*|months?|mois",
    "years": r"(?:lebens)?jahr(?:e[ns]?|s)?|jährig\w*|years?|ans|années?",
    "images": r"(?:röntgen)?(?:bild(?:er|ern)?|aufnahmen?)|(?:x-ray )?(?:images?|pictures?)|x-rays?|clichés?",
    "per cent": r"prozent|per ?cent|pour ?cent|%",
    "mSv": r"msv|millisieverts?",
    "mm": r"mm|millimet(?:er|re)[ns]?",
    "cm": r"cm|zentimetern?|centimet(?:er|re)s?",
    "µg": r"[µμ]g|mcg|mikrogramm|micrograms?|microgrammes?",
    "mg": r"mg|milligramm|milligrams?|milligrammes?",
    "g": r"g|gramm|grams?|grammes?",
    "kg": r"kg|kilo(?:gramm|grams?|grammes?|s)?",
    "ml": r"ml|milliliter[ns]?|millilit(?:er|re)s?",
    "cl": r"cl|zentilitern?|centilit(?:er|re)s?",
    "dl": r"dl|dezilitern?|decilit(?:er|re)s?",
    "litres": r"l(?!['’])|litern?|lit(?:er|re)s?",
    "°F": r"°\s?f|(?:grad|degrees?|degrés?) fahrenheit",
    "°C": r"°(?:\s?c)?|(?:grad|degrees?|degrés?)(?: celsius)?",
    "units": r"ie|iu|einheiten|units?|unités?",
    "tablets": r"tabletten?|tablets?|comprimés?",
    "o'clock": r"uhr|o['’]clock",
    "euros": r"euros?|eur|€",
    "francs": r"franken|chf|francs?",
    "pounds": r"pfund|gbp|pounds?",
    "yearly": "yearly",
}
# What makes units of time comparable: months are of no fixed length.
_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "weeks": 604800}
_MONTHS = {"months": 1, "years": 12, "yearly": 12}
_MASSES = {"µg": 1, "mg": 1_000, "g": 1_000_000, "kg": 1_000_000_000}
_VOLUMES = {"ml": 1, "cl": 10, "dl": 100, "litres": 1000}
TIMES = frozenset({*_SECONDS, *_MONTHS, "working days"})
# Durations are never told by a bare number elsewhere in the text: that 3 women are ill does not say "3 weeks".
_NEEDS_UNIT = frozenset({*_SECONDS, "working days", "months", "yearly", "per day", "per week", "per month", "per year"})

_SMALL_DE = "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn"
_SMALL_EN = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_SMALL_FR = "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"
_TENS_FR = "vingt trente quarante cinquante soixante septante huitante nonante"
_TENS_DE = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig"
_TENS_EN = "twenty thirty forty fifty sixty seventy eighty"
_WORDS: Mapping[str, Mapping[str, int]] = {
    "de": {
        **dict.fromkeys(("ein", "eine", "einem", "einen", "einer", "eins"), 1),
        **{word: number for number, word in enumerate(_SMALL_DE.split(), 2)},
        **{word: 10 * tens for tens, word in enumerate(_TENS_DE.split(), 2)},
    },
    "fr": {
        **dict.fromkeys(("un", "une"), 1),
        **{word: number for number, word in enumerate(_SMALL_FR.split(), 2)},
        **{word: 10 * tens for tens, word in enumerate(_TENS_FR.split(), 2)},
    },
    "en": {
        **{word: number for number, word in enumerate(_SMALL_EN.split(), 1)},
        **{word: 10 * tens for tens, word in enumerate(_TENS_EN.split(), 2)},
    },
}
# Amounts that are written without a number, as they would be with one.
_PHRASES: Mapping[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    language: tuple((re.compile(pattern, re.I), plain) for pattern, plain in phrases)
    for language, phrases in {
        "de": (
            (r"\b(?:einer? )?halben? stunde\b", "30 Minuten"),
            (r"\b(?:einer? )?dreiviertelstunde\b", "45 Minuten"),
            (r"\b(?:einer? )?viertelstunde\b", "15 Minuten"),
            (r"\b(?:ein(?:em)? )?halbe[sn] jahr\b", "6 Monate"),
            (r"\b(?:eine[rn]? )?halben? tablette\b", "0.5 Tabletten"),
            (r"\b(?:eine[rn]? )?ganzen? tablette\b", "1 Tablette"),
            (r"\b(?:anderthalb|eineinhalb)\b", "1.5"),
            (r"\bjede[ns]? zweite[ns]? (?=tag|woche|monat|jahr)", "2 "),
            (
                r"\beinmal (?:im|pro|je|jedes) jahr\b|\b(?:im|pro|je) jahr einmal\b|\bjedes jahr\b"
                r"|\b(?:ein- ?mal )?jährlich\w*",
                "1 yearly",
            ),
            (r"\beinmal (?:im|pro|je) monat\b|\beinmal monatlich\b", "1 Monat"),
            (r"\beinmal (?:in der|pro|je) woche\b|\beinmal wöchentlich\b", "1 Woche"),
            (r"\beinmal (?:am|pro|je) tag\b|\beinmal täglich\b", "1 Tag"),
        ),
        "fr": (
            (r"\b(?:une )?demi-?heure\b", "30 minutes"),
            (r"\b(?:un )?demi-?comprimé\b|\b(?:la )?moitié d'un comprimé\b", "0.5 comprimés"),
            (r"\bun comprimé entier\b", "1 comprimé"),
            # "Until 6 hours before" is no time of day, nor is "8 hours later".
            (r"(?<=jusqu['’])à (\d{1,2}) ?h(?:eures?)?\b(?! (?:avant|après|plus tard)\b)", r"à \1 o'clock"),
            (
                r"(?<!jusqu['’])\bà (\d{1,2}) ?h(?:eures?)?\b(?! (?:avant(?! d[e'’])|après|plus tard)\b)",
                r"à \1 o'clock",
            ),
            (r"\btrois quarts? d'heure\b", "45 minutes"),
            (r"\b(?:un )?quart d'heure\b", "15 minutes"),
            (r"\b(?:une fois par|chaque|tous les|par) an(?:née)?s?\b", "1 yearly"),
            (r"\bune fois par mois\b", "1 mois"),
            (r"\bune fois par semaine\b", "1 semaine"),
            (r"\bune fois par jour\b", "1 jour"),
        ),
        "en": (
            (r"\bhalf an hour\b|\ba half[- ]hour\b", "30 minutes"),
            (r"\bthree quarters of an hour\b", "45 minutes"),
            (r"\b(?:a )?quarter of an hour\b", "15 minutes"),
            (r"\btwice(?= (?:an?|per|each|every|daily|weekly|monthly|yearly)\b)", "2 times"),
            (r"\bhalf a year\b", "6 months"),
            (r"\bhalf (?:a |of a )?tablet\b|\ba half[- ]tablet\b", "0.5 tablets"),
            (r"\b(?:a (?:whole|full)|one(?: whole)?) tablet\b", "1 tablet"),
            (r"\bone and a half\b", "1.5"),
            (r"\ban hour and a half\b", "1.5 hours"),
            (r"\bevery (?:other|second) (?=day|week|month|year)", "2 "),
            (r"\b(?:once (?:an?|every|each|per)|every|each) year\b|\byearly\b|\bannual(?:ly)?\b", "1 yearly"),
            (r"\bonce (?:a|every|each|per) (?=day|week|month)", "1 "),
            (r"\b(within|for|after|about|around|than|least|in) an? (?=hour|day|week|month|year)", r"\1 1 "),
        ),
    }.items()
}
# Times of day are told by 24 hours: "8 Uhr abends", "8 pm" and "20 Uhr" are one.
_LATE = r"abends|nachmittags|am (?:abend|nachmittag)|in the (?:evening|afternoon)"
_CLOCK = {
    "de": re.compile(rf"\b(\d{{1,2}})(?:[:.](\d\d))? ?uhr\b(?P<late> (?:{_LATE})\b)?", re.I),
    "en": re.compile(
        rf"\b(\d{{1,2}})(?:[:.](\d\d))? ?(?:o['’]clock\b(?P<late> (?:{_LATE})\b)?|(?P<half>[ap])\.?m\b\.?)", re.I
    ),
}
# What has a number word and is no amount.
_IDIOM = re.compile(
    r"\b(?:an einem|eines|on one|at one|one) (?:tag(?:es)?|day)\b(?! (?:to|or|bis|oder|später|later))", re.I
)

_NUMBER = r"\d+(?:[.,]\d+)*"
_TO = r"\s*(?:-|–|/|(?<=\s)(?:bis(?: zu)?|to|oder|or|und|and|à|ou|et)(?=\s)|,\s*(?:spätestens|höchstens|at most))\s*"
_BESIDE = (
    r"(?:(?:oder mehr|or more|mehr|more|weiteren?|further|vollen?|full|ganzen?|whole|vergangenen|past|derni[eè]re?s) )?"
)
_UNIT = "|".join(f"(?P<u{place}>{words})" for place, words in enumerate(UNITS.values()))
_ANY_TIME = "|".join(UNITS[each] for each in ("seconds", "minutes", "hours", "days", "weeks", "months", "years"))
_ANY_UNIT = rf"(?:(?:{'|'.join(UNITS.values())})(?![^\W\d_])|%|€)"
_STATED = re.compile(rf"(?P<numbers>{_NUMBER}(?:{_TO}{_NUMBER})*)(?:\.?[\s-]*{_BESIDE}(?:{_UNIT})(?![^\W\d_]))?", re.I)
# "Die Tage 7 bis 12": the unit stands before.
_NAMED = re.compile(
    rf"(?<!\d )(?<!\bpro )(?<!\bpar )(?<!\bper )(?<!\bje )\b(tage?n?|days?|jours?|wochen?|weeks?|semaines?)"
    rf" ({_NUMBER}(?:{_TO}{_NUMBER})*)"
    rf"(?![.,]?\d|\.?[\s-]*{_ANY_UNIT})",
    re.I,
)
_THOUSANDS = {
    "de": re.compile(r"(?<=\d)\.(?=\d{3}\b)"),
    "en": re.compile(r"(?<=\d),(?=\d{3}\b)"),
    "fr": re.compile(r"(?<=\d)[ \u202f\xa0](?=\d{3}\b)"),
}
_APOSTROPHE = re.compile(r"(?<=\d)['’](?=\d{3}(?!\d))")
_OFTEN = re.compile(
    rf"({_NUMBER})[ -]?(?:mal|times) (?:(?:im|pro|am|in der|je|an?|per|each|every) (tag|woche|monat|jahr|day|week|month"
    r"|year)|(täglich|wöchentlich|monatlich|jährlich|daily|weekly|monthly|yearly))\b",
    re.I,
)
_PERIODS = {"t": "day", "d": "day", "w": "week", "m": "month", "j": "year", "y": "year"}

# A letter behind a number that names a place is no unit: "Raum 3 l" is no volume, "5G" no mass. "Im Raum 3 l Wasser"
# and "room 3 m wide" are amounts again: what is measured stands behind.
_LABELLED = re.compile(
    r"(?P<named>(?:\b(?:raum|räume|zimmer|saal|gleis|haus|gebäude|block|tor|station|wohnung|schalter|kabine|(?:bus)?linie"
    r"|klasse|abschnitt|absatz|artikel|formulare?|abbildung|seite|\w*stra(?:ß|ss)e|rooms?|platform|track|gate|ward"
    r"|building|floor|desk|bay|flat|apartment|bus|line|section|article|figure|page|version|salle|chambre|quai|voie"
    r"|bâtiment|étage|porte|ligne|guichet|réseau)|§)"
    r"(?: (?:nr\.?|no\.?|n°|number|is|ist|est))? \d+(?:\.\d+)?) ?[dghlmst]\b(?!['’])"
    r"(?! (?:(?-i:[A-ZÄÖÜ])|of\b|de\b|d['’]|lang|breit|hoch|tief|entfernt|wide|long|high|away))",
    re.I,
)
_NETWORK = re.compile(
    r"\b([2-6])(?: ?G\b| ?g(?=[ -](?i:mobil|netz|handy|funk|network|phone|mobile|signal|mast|antenn)))"
)

# Digits in groups, and those behind a word that says to call, are telephone numbers and no amounts.
_TELEPHONE = re.compile(
    r"(?<![\w.,])(?:(?:\+|00?)[1-9]\d*(?:[ /-]?\(?\d+\)?){2,}|0\d{2,}(?:[ /-]\d+)+|116 ?1\d\d"
    r"|(?:112|144|145|999|111|1450))(?![\w%]|[.,]\d)"
)
_TO_CALL = re.compile(
    r"\b(?:ruf(?:en|t|nummer)?|wähl(?:en|t)?|notruf|nummer|telefon\w*|tel\.?|call|dial|ring|phone|number)\b:?"
    rf" (?:[^\W\d_]+ ){{0,3}}?(\d{{3,4}}|0\d{{5,}})(?![\w%]|[.,]\d| \d| ?-?{_ANY_UNIT}"
    r"| [^\W\d_]*(?:frauen|women|people))",
    re.I,
)


def amounts(text: str, language: str) -> frozenset[Amount]:
    """Return the amounts that a text states, in digits or in words before a unit."""
    text = without_labels(_without_telephones(plain_thousands(text)))
    text = _IDIOM.sub(" ", text)
    for pattern, plain in _PHRASES.get(language, ()):
        text = pattern.sub(plain, text)
    text = _THOUSANDS.get(language, _THOUSANDS["en"]).sub("", _in_digits(text, language))
    if language in _CLOCK:
        text = _CLOCK[language].sub(_of_24_hours, text)
    found: set[Amount] = set()
    for often in _OFTEN.finditer(text):
        found.add(Amount(_plain(often[1]), f"per {_PERIODS[(often[2] or often[3])[0].lower()]}"))
    text = _OFTEN.sub(" ", text)
    for named in _NAMED.finditer(text):
        unit = "days" if named[1][0].lower() in "tdj" else "weeks"
        found.update(Amount(_plain(number), unit) for number in re.findall(_NUMBER, named[2]))
    for stated in _STATED.finditer(_NAMED.sub(" ", text)):
        unit = next((name for place, name in enumerate(UNITS) if stated[f"u{place}"]), "")
        found.update(Amount(_plain(number), unit) for number in re.findall(_NUMBER, stated["numbers"]))
    return frozenset(found)


def plain_thousands(text: str) -> str:
    """Return a text without the apostrophes between thousands, as Switzerland writes them: 1'000."""
    return _APOSTROPHE.sub("", text)


def without_labels(text: str) -> str:
    """Return a text without the letters behind its numbers that name places and networks, and are no units."""
    return _NETWORK.sub(r"\1", _LABELLED.sub(r"\g<named>", text))


def _of_24_hours(told: re.Match[str]) -> str:
    hour, half = int(told[1]), told.groupdict().get("half")
    late = told["late"] or (half or "").lower() == "p"
    hour = hour + 12 if late and hour < 12 else 0 if half and not late and hour == 12 else hour
    return f"{hour}{f'.{told[2]}' if told[2] and told[2] != '00' else ''} o'clock"


def _in_digits(text: str, language: str) -> str:
    """Write number words as digits where a unit follows, or in a range."""
    known = _WORDS.get(language, {})
    for pattern in _places_of_number_words(language):
        text = pattern.sub(
            lambda found: re.sub(r"[^\W\d_]+", lambda each: str(known.get(each[0].lower(), each[0])), found[0]), text
        )
    return text


@lru_cache(maxsize=4)
def _places_of_number_words(language: str) -> tuple[re.Pattern[str], ...]:
    """Return where number words are amounts. "One" is an article too, so it counts less often than others."""
    known = _WORDS.get(language)
    if known is None:
        return ()
    one = "|".join(word for word, value in known.items() if value == 1)
    more = "|".join(word for word, value in known.items() if value > 1)
    number = rf"(?:\b(?:{more})\b|{_NUMBER})"
    first = rf"(?:\b(?:{one})\b(?= (?:bis|to|oder|or) (?:{more})\b)|{number})"
    patterns = (
        rf"\b(?:{more})(?=[ -]?mal\b| times\b|(?:minüt|stünd|täg|wöch|monat|jähr)ig)",
        rf"\b(?:{one})\b(?= (?:{_ANY_TIME})\b)",
        rf"{first}(?:{_TO}{number})*(?=[\s-]+{_BESIDE}{_ANY_UNIT})",
        rf"{first}(?: (?:bis|to|oder|or)\b(?: {number})?)+",
    )
    return tuple(re.compile(pattern, re.I) for pattern in patterns)


def _plain(number: str) -> str:
    number = number.replace(",", ".")
    return re.sub(r"\.0+$", "", number) if number.count(".") == 1 else number


def lacking(here: Iterable[Amount], there: Iterable[Amount]) -> frozenset[Amount]:
    """Return what is stated here and not there. A bare number may be told by one with a unit that is often left out."""
    others = tuple(there)
    found = {each for each in here if not any(_same(each, other) for other in others)}
    # "What you pay each year" is no interval; beside other years it may be one.
    years = any(_measure(other)[0] == "months" for other in others)
    return frozenset(each for each in found if each.unit != "yearly" or years)


def _same(one: Amount, other: Amount) -> bool:
    if one.unit and other.unit:
        return _measure(one) == _measure(other)
    if _NEEDS_UNIT & {one.unit, other.unit}:
        return False
    of_hundred = "per cent" in (one.unit, other.unit) and "100" in (one.value, other.value)
    return one.value == other.value or of_hundred


def _measure(amount: Amount) -> tuple[str, float | str]:
    """Return a kind and a value by which amounts of different units are the same."""
    every = amount.unit.removeprefix("per ")
    unit = amount.unit if every in (amount.unit, "cent") else f"{every}s"
    for kind, factors in (("seconds", _SECONDS), ("months", _MONTHS), ("mass", _MASSES), ("volume", _VOLUMES)):
        if unit in factors and amount.value.count(".") <= 1:
            value = float(amount.value)
            often = unit != amount.unit and value
            return kind, round(factors[unit] / value if often else factors[unit] * value, 6)
    return amount.unit, amount.value


def listed(found: Iterable[Amount]) -> str:
    return ", ".join(str(each) for each in _in_order(found))


def as_values(found: Iterable[Amount]) -> list[list[str]]:
    """Return amounts in order, each as number and unit, for who names units in another language."""
    return [[each.value, each.unit] for each in _in_order(found)]


def _in_order(found: Iterable[Amount]) -> list[Amount]:
    return sorted(found, key=lambda each: (len(each.value), each.value, each.unit))


def telephones(text: str) -> frozenset[str]:
    """Return the telephone numbers that a text gives, digits only."""
    whole = (found[0] for found in _TELEPHONE.finditer(text))
    called = (found[1] for found in _TO_CALL.finditer(text))
    return frozenset(re.sub(r"\D", "", number) for number in (*whole, *called) if number != "116")


def _without_telephones(text: str) -> str:
    text = _TELEPHONE.sub(" ", text)
    return _TO_CALL.sub(lambda found: found[0].removesuffix(found[1]), text)

"""Numbers of a sentence, each with its unit, held against those of the segments that it cites. Pure.

Stricter than the check of pairs (`bot.catalog.amounts`): who signs a draft trusts that its doses are the document's.
Digits, words ("zweihundert", "ein Dutzend"), fractions ("½") and Roman numeral signs are one, in whatever letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot import plain_letters
from bot.catalog.amounts import without_labels
from bot.interview.reading.numbers import named_number


@dataclass(frozen=True, slots=True)
class _Unit:
    """A unit: its pattern, what it measures, and how many of the smallest unit of that it is."""

    words: str
    kind: str
    size: Decimal = Decimal(1)


def _units(kind: str, sizes: Mapping[str, str]) -> list[_Unit]:
    return [_Unit(words, kind, Decimal(size)) for words, size in sizes.items()]


# Beside time of a fixed length, months and years stand apart: a month is no number of days. Case counts in one letter,
# before which no French article is cut off: "étage 3, l'accueil".
_UNITS: Sequence[_Unit] = (
    *_units(
        "time",
        {
            r"sekunden?|sek\.?|sekündig\w*|seconds?|secs?|(?-i:s(?!['’]))": "1",
            r"minuten?|minütig\w*|minutes?|mins?\.?": "60",
            r"stunden?|std\.?|stündig\w*|hours?|hrs?|(?-i:h(?!['’]))": "3600",
            r"tag(?:e[ns]?|s)?|tägig\w*|days?|(?-i:d(?!['’]))": "86400",
            r"(?:schwangerschafts)?wochen?|wöchig\w*|weeks?": "604800",
        },
    ),
    *_units(
        "calendar",
        {r"monat(?:e[ns]?|s)?|monatig\w*|months?": "1", r"(?:lebens)?jahr(?:e[ns]?|s)?|jährig\w*|years?": "12"},
    ),
    _Unit(r"(?:werk|arbeits)tag\w*|(?:working|business) days?|weekdays?", "working days"),
    _Unit(r"uhr", "time of day"),
    *_units(
        "volume",
        {
            r"ml|milliliter[ns]?|millilit(?:er|re)s?": "1",
            r"cl|zentilitern?": "10",
            r"dl|dezilitern?": "100",
            r"(?-i:[lL](?!['’]))|litern?|lit(?:er|re)s?": "1000",
        },
    ),
    *_units(
        "mass",
        {
            r"[µμ]g|mcg|mikrogramm|micrograms?": "1",
            r"mg|milligramm|milligrams?": "1000",
            r"(?-i:g(?!['’]))|gramm|grams?": "1000000",
            r"kg|kilo(?:gramm|grams?|s)?": "1000000000",
        },
    ),
    *_units(
        "substance",
        {r"[µμ]mol|mikromol|micromoles?": "1", r"mmol|millimol|millimoles?": "1000", r"mol|moles?": "1000000"},
    ),
    *_units(
        "length",
        {
            r"mm|millimet(?:er|re)[ns]?": "1",
            r"cm|zentimetern?|centimet(?:er|re)s?": "10",
            r"(?-i:m(?!['’]))|metern?|met(?:er|re)s?": "1000",
            r"km|kilomet(?:er|re)[ns]?": "1000000",
        },
    ),
    _Unit(r"°\s?f|(?:grad|degrees?) fahrenheit", "°F"),
    _Unit(r"°(?:\s?c)?|grad(?: celsius)?|degrees?(?: celsius)?", "°C"),
    _Unit(r"%|prozent|per ?cent", "per cent"),
    *_units("radiation", {r"[µμ]sv|mikrosievert": "1", r"msv|millisieverts?": "1000", r"sv|sieverts?": "1000000"}),
    *_units("activity", {r"kbq|kilobecquerel": "1", r"mbq|megabecquerel": "1000"}),
    _Unit(r"mgy|milligray", "mGy"),
    _Unit(r"(?-i:T)|tesla", "tesla"),
    _Unit(r"mmhg", "mmHg"),
    _Unit(r"i\.?e\.?|iu|einheiten|units?", "units"),
    _Unit(r"euros?|eur|€", "euros"),
    _Unit(r"franken|chf|francs?", "francs"),
    _Unit(r"pfund|gbp|pounds?", "pounds"),
    _Unit(r"tassen?|cups?", "cups"),
    _Unit(r"gl(?:as|äser[ns]?)|glass(?:es)?", "glasses"),
    _Unit(r"flaschen?|bottles?", "bottles"),
    _Unit(r"esslöffeln?|tablespoons?", "tablespoons"),
    _Unit(r"teelöffeln?|teaspoons?", "teaspoons"),
    _Unit(r"tropfen|drops?", "drops"),
    _Unit(r"tabletten?|tablets?|pills?", "tablets"),
    _Unit(r"kapseln?|capsules?", "capsules"),
    _Unit(r"beuteln?|sachets?", "sachets"),
    _Unit(r"ampullen?|ampoules?", "ampoules"),
    _Unit(r"(?-i:-?fach(?:e[nrsm]?)?)|mal so|times (?:as|the)", "times"),
)
_ENDS = r"(?![^\W\d_])"
_ANY = re.compile("|".join(rf"(?P<u{place}>(?:{unit.words}){_ENDS})" for place, unit in enumerate(_UNITS)), re.I)
_NAMED = re.compile(rf"(?<!\w)(?:{'|'.join(unit.words for unit in _UNITS)}){_ENDS}", re.I)
# "0,1 mmol/kg", "je Kilogramm", "ml/min". "2 Liter am Tag" is left alone: how often is said in too many ways.
_PER = re.compile(r"\s*(?:/|\b(?:pro|je|per|an?|each)\s)\s*", re.I)
_PER_KINDS = ("mass", "volume", "substance", "length")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|\S")
_FRACTION = re.compile(r"(?<![\d/.,])(?:(\d+) )?([1-7])\s?[/⁄]\s?([2-8])(?![\d/.,])")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:[.,]\d{3})+")
_CLOCK = re.compile(r"(?<![\d:])(\d{1,2}):(\d{2})(?![\d:])")
_LETTERS = re.compile(r"[^\W\d_]+")
# "zehnminütig", "Viertelstunde", "Halbjahr": a number and its unit in one word.
_JOINED = re.compile(
    r"([^\W\d_]+?)((?:sekünd|minüt|stünd|täg|wöch|monat|jähr)ig[^\W\d_]*|stunden?|jahr(?:e[ns]?|s)?|liter|fach(?:e[nrsm]?)?)",
    re.I,
)
_SCALES = {
    **dict.fromkeys(("hundert", "hundred"), 100),
    **dict.fromkeys(("tausend", "thousand"), 1000),
    **dict.fromkeys(("dutzend", "dozen"), 12),
    **dict.fromkeys(("million", "millionen"), 1_000_000),
}
_JOINS = frozenset(
    [
        "bis",
        "zu",
        "to",
        "und",
        "and",
        "oder",
        "or",
        "statt",
        "anstatt",
        "instead",
        "of",
        "statt",
        "-",
        "–",
        "—",
        "/",
        ",",
        "sowie",
        "höchstens",
        "spätestens",
    ]
)
_ONES = frozenset(["ein", "eine", "einen", "einem", "einer", "eins", "one"])
_EACH = frozenset(["a", "an"])  # "twice a day" is no day
_BEFORE_EACH = frozenset(["in", "for", "within", "after", "about", "around", "than", "least", "only", "another"])
_HALVES = frozenset(["halb", "halbe", "halben", "halber", "halbes", "halbem", "half"])
_HALVED = frozenset(["so", "dosis", "menge", "tablette", "portion", "dose", "amount", "the", "as", "tablet"])
_QUARTERS = {"viertel": Decimal("0.25"), "quarter": Decimal("0.25"), "dreiviertel": Decimal("0.75")}
_TWICE = re.compile(r"doppelt(?:e[nrsm]?)?|twice|double", re.I)
_NO_BESIDE = frozenset(
    [
        "am",
        "an",
        "im",
        "in",
        "pro",
        "je",
        "per",
        "a",
        "the",
        "der",
        "die",
        "das",
        "den",
        "vor",
        "nach",
        "bis",
        "von",
        "mit",
        "ist",
        "sind",
        "before",
        "after",
        "each",
        "every",
        "with",
        "from",
        "is",
        "are",
    ]
)


@dataclass(frozen=True, slots=True)
class _Amount:
    """A number as it is written, its value and unit; `per`: of what unit, as in "mmol/kg"."""

    written: str
    value: Decimal | str
    unit: _Unit | None = None
    per: str = ""

    @property
    def measured(self) -> tuple[str, str, Decimal | str]:
        size = self.unit.size if self.unit else Decimal(1)
        value = self.value if isinstance(self.value, str) else (self.value * size).normalize()
        return self.unit.kind if self.unit else "", self.per, value


def unstated(text: str, segments: Sequence[str]) -> list[str]:
    """Return the amounts of a text, as it writes them, that none of the segments states.

    With a known unit, the same amount must stand there, in that unit or another of its kind: 30 minutes are half an
    hour. A bare number there tells one with a unit only where its segment names that unit elsewhere: a table's heading.
    """
    told = [(list(_amounts(each)), {_unit_of(name[0]) for name in _NAMED.finditer(_plain(each))}) for each in segments]
    stated = {amount.measured for amounts, _ in told for amount in amounts}
    bare = {amount.value for amounts, _ in told for amount in amounts}
    in_tables = {
        (unit, amount.value) for amounts, named in told for unit in named for amount in amounts if amount.unit is None
    }
    found = []
    for amount in _amounts(text):
        if amount.unit is None:
            known = amount.value in bare
        else:
            known = amount.measured in stated or (not amount.per and (amount.unit, amount.value) in in_tables)
        if not known:
            found.append(amount.written)
    return found


def _unit_of(name: str) -> _Unit | None:
    found = _ANY.fullmatch(name)
    # One letter names no unit by itself: it is an abbreviation as often.
    return _UNITS[int(str(found.lastgroup)[1:])] if found and (len(name) > 1 or name in "%€°") else None


def _plain(text: str) -> str:
    """Return a text in Latin letters and plain digits; raised digits are no numbers of their own: "m²", a footnote."""
    found = []
    for mark in text:
        value = unicodedata.numeric(mark, None) if not mark.isascii() else None
        if value is None or (mark.isalpha() and unicodedata.category(mark) == "Lo"):
            found.append(mark)
        elif unicodedata.category(mark) == "Nd":
            found.append(str(int(value)))
        elif not unicodedata.decomposition(mark).startswith(("<super>", "<sub>")):
            whole = re.search(r"(\d+)\s?$", "".join(found[-6:])) if value < 1 else None
            if whole:  # "1½"
                del found[len(found) - len(whole[0]) :]
                value += int(whole[1])
            found.append(f" {Decimal(str(round(value, 6))).normalize():f} ")
    text = plain_letters("".join(found))
    text = _FRACTION.sub(lambda each: _as_decimal(each[1], each[2], each[3], each[0]), text)
    return _CLOCK.sub(r"\1.\2", text)


def _as_decimal(whole: str | None, upper: str, lower: str, written: str) -> str:
    if int(upper) >= int(lower):
        return written
    return str(round(int(whole or 0) + int(upper) / int(lower), 6))


def _amounts(text: str) -> Iterator[_Amount]:
    """Yield the amounts of a text in order; of "10 bis 15 Minuten", both are minutes."""
    text = _plain(without_labels(text))
    tokens = list(_TOKEN.finditer(text))
    place, waiting = 0, list[_Amount]()
    while place < len(tokens):
        end, amount = _number_at(text, tokens, place)
        if amount is None:
            if tokens[place][0].casefold() not in _JOINS:
                yield from waiting
                waiting = []
            place += 1
            continue
        if amount.unit is not None:
            yield from (_Amount(each.written, each.value, amount.unit, amount.per) for each in waiting)
            yield amount
            waiting = []
        else:
            waiting.append(amount)
        place = end
    yield from waiting


def _number_at(text: str, tokens: Sequence[re.Match[str]], place: int) -> tuple[int, _Amount | None]:
    """Return where the number that begins at a token ends, unit included, and the amount; None where none begins."""
    first = tokens[place]
    joined = _joined(first, tokens[place + 1][0].casefold() if place + 1 < len(tokens) else "")
    if joined is not None:
        return place + 1, joined
    end, value, sure = _value_at(text, tokens, place)
    if value is None:
        return place + 1, None
    start = tokens[end - 1].end()
    unit, per, until = _unit_after(text, tokens, end, start, beside=sure)
    if not sure and unit is None:
        return place + 1, None
    while end < len(tokens) and tokens[end].start() < until:
        end += 1
    written = " ".join(text[first.start() : max(start, until)].split())
    return end, _Amount(written, value, unit, per)


def _joined(token: re.Match[str], after: str) -> _Amount | None:
    """Return the amount that one word names with its unit; "twice a day" counts how often, "twice as much" how much."""
    if _TWICE.fullmatch(token[0]) and (after in ("so", "as", "the") or token[0].casefold().startswith("doppelte")):
        return _Amount(token[0], Decimal(2), next(each for each in _UNITS if each.kind == "times"))
    found = _JOINED.fullmatch(token[0])
    if found is None:
        return None
    number = found[1].casefold()
    value = Decimal("0.5") if number in _HALVES else _QUARTERS.get(number) or _word(number)
    value = Decimal(1) if value is None and number == "ein" else value
    unit = _unit_of(found[2])
    return _Amount(token[0], value, unit) if value is not None and unit is not None else None


def _value_at(text: str, tokens: Sequence[re.Match[str]], place: int) -> tuple[int, Decimal | str | None, bool]:
    """Return where a number ends before its unit, its value, and whether it is one without a unit, too."""
    word = tokens[place][0].casefold()
    after = tokens[place + 1][0].casefold() if place + 1 < len(tokens) else ""
    before = tokens[place - 1][0].casefold() if place else ""
    if word[0].isdecimal():
        read = _digits(word)
        return (*_scaled(tokens, place + 1, read), True) if isinstance(read, Decimal) else (place + 1, read, True)
    if word in _HALVES:
        end = place + 1 + (after in {*_EACH, "of"})
        return end, Decimal("0.5"), after in _HALVED
    if word in _QUARTERS:
        end = place + 1
        while end < len(tokens) and tokens[end][0].casefold() in {*_EACH, "of"}:
            end += 1
        return end, _QUARTERS[word], False
    if word in _ONES or (word in _EACH and before in _BEFORE_EACH):
        if after in _SCALES:
            return (*_scaled(tokens, place + 1, Decimal(1)), True)
        if after in _HALVES or after in _QUARTERS:
            end, halved, _ = _value_at(text, tokens, place + 1)
            return end, halved, False
        return place + 1, Decimal(1) if before not in ("an", "at", "on") else None, False
    value = _word(word)
    if value is None and word in _SCALES:
        value = Decimal(_SCALES[word])
    if value is None:
        return place + 1, None, False
    return (*_scaled(tokens, place + 1, value), True)


def _scaled(tokens: Sequence[re.Match[str]], place: int, value: Decimal) -> tuple[int, Decimal]:
    """Return where a number of several words ends, and its value: "two hundred and fifty", "twenty-five"."""
    scaled = 0
    while place < len(tokens):
        word = tokens[place][0].casefold()
        skip = word in ("and", "und", "-")
        more = tokens[place + skip][0].casefold() if place + skip < len(tokens) else ""
        small = _word(more) if more and not more[0].isdecimal() else None
        if word in _SCALES:
            scaled = _SCALES[word]
            value, place = value * scaled, place + 1
        elif small is not None and scaled >= 100 and small < scaled:
            value, place, scaled = value + small, place + skip + 1, 0
        elif small is not None and value in range(20, 100, 10) and 0 < small < 10 and word != "und" != more:
            if word == "and":
                break
            value, place = value + small, place + skip + 1
        elif more == "one" and word == "-" and value in range(20, 100, 10):
            value, place = value + 1, place + 2
        else:
            break
    return place, value


def _unit_after(
    text: str, tokens: Sequence[re.Match[str]], place: int, start: int, *, beside: bool
) -> tuple[_Unit | None, str, int]:
    """Return the unit after a number, of what unit it is ("per kg"), and where that ends."""
    gap = re.compile(r"\.?[\s-]*").match(text, start)
    at = gap.end() if gap else start
    found = _ANY.match(text, at)
    if found is None and beside and place < len(tokens):
        word = tokens[place]
        between = _LETTERS.fullmatch(word[0]) and word[0].islower() and len(word[0]) > 2
        if between and word[0] not in _JOINS | _NO_BESIDE and _word(word[0]) is None:
            found = _ANY.match(text, word.end() + 1)  # "2 volle Stunden"
    if found is None:
        return None, "", start
    unit, end, per = _UNITS[int(str(found.lastgroup)[1:])], found.end(), ""
    if link := _PER.match(text, end):
        other = _ANY.match(text, link.end())
        of = _UNITS[int(str(other.lastgroup)[1:])] if other else None
        if other and of and (of.kind in _PER_KINDS or (of.kind == "time" and "/" in link[0])):
            per, end = f"{of.kind} {of.size}", other.end()
    return unit, per, end


def _word(word: str) -> Decimal | None:
    """Return the number that a word names; "zwanzigtausend" too."""
    value = named_number(word)
    if value is None:
        left, scale, right = word.partition("tausend")
        times = named_number(left) if scale and left else None
        rest = (named_number(right.removeprefix("und")) if right else Decimal(0)) if times is not None else None
        value = times * 1000 + rest if times is not None and rest is not None else None
    return value


def _digits(written: str) -> Decimal | str:
    """Return the value of digits; as it is written where it is none: a date, a telephone number."""
    if _THOUSANDS.fullmatch(written):
        return Decimal(re.sub(r"[.,]", "", written))
    if len(written) > 1 and written[0] == "0" and written[1].isdecimal():
        return written
    try:
        return Decimal(written.replace(",", ".")).normalize()
    except ArithmeticError:
        return written

"""Personal data that is known by its form: addresses of all kinds, numbers, dates, great ages. Pure.

Check digits are not looked at: a number with a typing error still tells who it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import regex

Span = tuple[str, int, int]  # kind, start, end

_WIDE = {"ä": "(?:ä|ae|a\u0308)", "ö": "(?:ö|oe|o\u0308)", "ü": "(?:ü|ue|u\u0308)", "ß": "(?:ß|ss)"}


def _wide(pattern: str) -> str:
    """Return a pattern that also takes umlauts as two letters, and the Swiss ss."""
    return "".join(_WIDE.get(mark, mark) for mark in pattern)


_LOCAL = r"[\p{L}\d][\p{L}\d._%+\-]*"
_EMAIL = (
    rf"{_LOCAL}(?:\s@\s|@\s?|\s?\(at\)\s?|\s?\[at\]\s?)[\p{{L}}\d][\p{{L}}\d\-]*(?:\.[\p{{L}}\d\-]+)+",
    # Said aloud: "lena punkt schmitz ät gmail punkt com".
    r"[\p{L}\d._\-]+(?:\s(?:punkt|dot|minus|unterstrich|underscore|hyphen)\s[\p{L}\d._\-]+){0,3}"
    r"\s(?:ät|aet|at|klammeraffe)\s[\p{L}\d\-]+(?:\.|\spunkt\s|\sdot\s)\p{L}{2,}(?:(?:\.|\spunkt\s|\sdot\s)\p{L}{2,3})?",
)
_TOP = "com|org|net|info|de|ch|at|li|eu|uk|ie|io|app|fr|it|health|online|blog|gov|edu"
_WEB = (
    r"(?:https?://|www\.)[^\s<>\"'()]+",
    rf"(?<![@\p{{L}}\d.])[\p{{L}}\d][\p{{L}}\d\-]{{2,}}(?:\.[\p{{L}}\d\-]+)*\.(?:{_TOP})\b(?:/[^\s<>\"'()]*)?",
)
_USER = (
    r"(?<![\p{L}\d])@[\p{L}\d_.\-]*[\p{L}\d_]",
    r"(?<![\p{L}\d_])\p{L}+[\p{L}\d]*_[\p{L}\d_]+",
    r"(?:nick(?:name)?|user(?:\s?name)?|benutzer(?:name)?|login|account|insta(?:gram)?|handle|profil)"
    r"\s*(?:ist|is|name|:|=|lautet)+\s*\K[\p{L}\d._\-]+",
    r"(?<![\p{L}\d])(?!covid|sars)\p{L}{3,}\d{4,}\p{L}*(?![\p{L}\d])",
)
_NUMBER = (
    r"\b[A-Z]{2}\d{2}(?:[ ]?[\dA-Z]{4}){2,7}(?:[ ]?[\dA-Z]{1,4})?\b",  # IBAN
    r"\b756[ .]?\d{4}[ .]?\d{4}[ .]?\d{2}\b",  # AHV
    r"\b\d{3}[ \-]\d{3}[ \-]\d{4}\b",  # NHS
    r"\b[A-Z]{2}[ ]?\d{2}[ ]?\d{2}[ ]?\d{2}[ ]?[A-D]\b",  # National Insurance
    r"\b[A-Z][ \-]?\d{3}[ ]?\d{3}[ ]?\d{3}\b",  # KVNR
    r"\b\d{4}[ ](?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d{2}\b",  # Sozialversicherungsnummer
    # Named as a number of somebody: "Fallnummer 4711", "hospital no. A-12".
    r"(?:nummer|nr\.?|number|no\.|akte|file|id|aktenzeichen|zeichen|reference|ref\.?|record)\s*(?:ist|is|lautet|:|=)?\s*"
    r"\K[\p{L}\d]*[.\-/]?\d[\p{L}\d.\-/]{3,}(?<![.\-/])",
)
# Anything else of five digits and more. What is left alone are round numbers, pairs of values, spans of years, amounts.
_DIGITS = r"(?<![\p{L}\d])\p{L}{0,4}[\-/.]?\d(?:[ .\-/]?\d){4,}(?:[\-/]\p{L}{1,3})?(?![\p{L}\d])"
_UNIT = (
    r"\s*(?:mg|µg|ug|mcg|g|kg|ml|l|mm|cm|m|km|%|€|euro?|eur|chf|franken|fr\.|£|\$|pounds?|dollars?|i\.?\s?e\.?|iu|units?|einheiten"
    r"|msv|mgy|kcal|ng|pg|mmol|u/l|/ml|uhr|am|pm|stunden|std|hours?|hrs?|minuten|minutes|min|sekunden|tage|days|wochen|weeks"
    r"|monate|months|frauen|women|menschen|people|schritte|steps)(?![\p{L}])"
)
_NOT_PERSONAL = (
    r"\d{1,3}(?:[., ]?000)+",
    r"\d{2,3}\s?/\s?\d{2,3}",
    r"(?:19|20)\d\d\s?[\-/]\s?(?:19|20)?\d\d",
    r"\d{1,2}[.:]\d\d\s?-\s?\d{1,2}[.:]\d\d",
    r"\d{1,2}(?:[ .\-/]\d{1,2}){2,3}",  # dates are told by their own rules; "1-2 3-4", "10/10/10"
)
_SPOKEN = {
    "de": _wide("null|eins?|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun|doppel"),
    "en": "oh|zero|nought|one|two|three|four|five|six|seven|eight|nine|double|triple",
}
_PHONE = r"(?<![\p{L}\d.,/])(?:\+|00|\(0|\(\d{3}\)|0)[\d()](?:[ \-./()]{0,3}\d){4,13}(?!\d)"

_STREET_DE = _wide(
    r"(?:straße|str\.?|gasse|allee|weg|platz|ufer|damm|steig|stieg|markt|hof|winkel|rain|graben|pfad|promenade|chaussee|quai|kai"
    r"|ring|halde|matt|matte|wies|wiese|acker|gässli|wegli|strässli|rain|zeile|siedlung|anger|twiete|brücke|tor|feld|berg|park)"
)
_NO_PLACE = _wide(
    r"(?!(?:im|am|zum|zur)\s(?:jänner|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|alter|jahr|monat"
    r"|tag|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|schnitt|moment|stadium|ersten|termin|abend|morgen|zyklus)\b)"
)
_TOWN_DE = r"(?:[\s,]+(?:in\s)?(?:(?:CH|A|D)-)?\d{4,5}\s\p{L}[\p{L}\-]+(?:\s(?:am|an der|im|bei)\s\p{L}+)?)"
_HOUSE = r"\s?\d{1,4}\s?[a-z]?\b(?:\s?/\s?\d{1,3})*"
_ADDRESS = {
    "de": (
        rf"(?:\b(?-i:\p{{Lu}})\p{{L}}+(?:e|er|en)\s)?\b\p{{L}}[\p{{L}}\-]*{_STREET_DE}{_HOUSE}{_TOWN_DE}?",
        rf"\b\p{{L}}{{3,}}e[rn]?\s(?:{_wide('straße')}|str\.?|gasse|weg|platz|allee|ring|markt){_HOUSE}{_TOWN_DE}?",
        rf"\b(?-i:\p{{Lu}})[\p{{L}}\-]{{2,}}(?:straße|strasse|gasse|allee)\b{_TOWN_DE}?",
        rf"{_NO_PLACE}\b(?-i:Am|Im|An der|An den|Auf der|Auf dem|Zum|Zur|In der|In den|Unter den|Beim|Bei der)"
        rf"(?:\s(?-i:\p{{Lu}})[\p{{L}}\-]+){{1,3}}\s\d{{1,3}}[a-z]?\b"
        rf"(?!\s*(?:uhr|jahr|monat|tag|woche|[.:]\d)){_TOWN_DE}?",
        r"\b(?:rue|avenue|chemin|route|via|place|piazza|ruelle)\s"
        r"(?:(?:de|du|des|della|di|la|les)\s|de la\s|d['’])?\p{L}+"
        rf"{_HOUSE}{_TOWN_DE}?",
        r"(?:\bwohn\w*\s(?:in\s)?(?:der\s)?|\badresse:?\s(?:ist\s)?|\bkomm\w*\saus\s(?:der\s)?)"
        r"\K(?:\p{L}+\s){1,3}\d{1,4}\s?[a-z]?\b"
        rf"(?!\s*(?:uhr|jahr|monat|tag|woche|kind|minute|stunde|km)){_TOWN_DE}?",
        r"\b(?:CH-|A-|D-)?\d{5}\s(?-i:\p{Lu})[\p{L}\-]+",
        r"\b(?:CH-|A-|D-)\d{4}\s\p{L}+",
        r"(?:wohn\w*|komm\w*|zieh\w*|aus|in|nach)\s\K(?!(?:19|20)\d\d)\d{4}\s(?-i:\p{Lu})\p{L}+",
    ),
    "en": (
        r"(?:\b(?:flat|apt|apartment|unit)\s\d+\s?[a-z]?,?\s)?\b\d{1,4}\s?[a-z]?,?\s"
        r"(?:(?!(?:min|minute|hour|mile|week|day|month|year|time)s?\b)[\p{L}'’\-]+\s){0,3}"
        r"(?:road|rd|street|avenue|ave|lane|crescent|terrace|drive|mews|gardens|boulevard|(?-i:St|Way|Place|Square|Court|Close|Hill|Park"
        r"|Walk|Wynd|Row|View|Green|Quay|Parade|Grove|Drive|Gate|Rise|Dr|Ln|Cl|Sq))\b"
        r"(?:,\s*[\p{L}]+(?=\s*(?:$|[.,?!]|[A-Z]{1,2}\d)))?(?:,?\s+(?-i:\p{Lu})\p{L}+)?(?:,?\s*[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}\b)?",
        r"(?:\b(?-i:The\s\p{Lu}\p{L}+|\p{Lu}\p{L}+\s(?:House|Cottage|Farm)),\s)?(?:(?-i:\b\p{Lu}[\p{L}'’]+)\s)"
        r"(?-i:Road|Street|Avenue|Lane|Crescent|Terrace|Drive|Close|Mews)\b(?:,?\s+(?-i:\p{Lu})\p{L}+)?"
        r"(?:,?\s*[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}\b)?",
        # In small letters only where it is said that an address comes, or a postcode ends it.
        r"(?:\b(?:live[sd]?|living)\s(?:at|in)|\baddress:?(?:\sis)?|\bmov(?:e|ing)\sto|\bcom(?:e|ing)\sfrom)\s\K\d{1,4}[a-z]?\s(?:\p{L}+\s){1,3}?"
        r"(?:way|place|square|court|close|hill|park|walk|wynd|row|view|green|quay|parade|grove|gate|rise|st|dr)\b",
        r"\b\d{1,4}[a-z]?,?\s[\p{L}'’, ]{3,50}?\s[a-z]{1,2}\d[a-z\d]?\s\d[a-z]{2}\b",
        r"(?-i:\b[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}\b)",
        r"\b[a-z]{1,2}\d[a-z\d]?\s\d[a-z]{2}\b",
    ),
}

_UNITS_DE = "ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun"
_MONTH_DE = _wide(
    r"(?:jan(?:uar|ner)?|jän(?:ner)?|feb(?:ruar|er)?|märz|mär|apr(?:il)?|mai|juni?|juli?|aug(?:ust)?|sept?(?:ember)?|okt(?:ober)?"
    r"|nov(?:ember)?|dez(?:ember)?)\b\.?"
)
_TENS_DE = _wide("zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig")
_YEAR_DE = _wide(
    rf"(?:,?\s(?:(?:19|20)\d\d|'?\d\d(?!\d|\s?(?:uhr|kg|mg|jahre|[.:]\d))"
    rf"|(?:neunzehnhundert|zweitausend|tausendneunhundert)\p{{L}}*|(?:(?:{_UNITS_DE})und)?(?:{_TENS_DE})\b))"
)
_SMALL_DE = "erst|zweit|dritt|viert|fünft|sechst|siebt|siebent|acht|neunt|zehnt|elft|zwölft"
_NTH_DE = _wide(
    rf"\b(?:{_SMALL_DE}|(?:drei|vier|fünf|sech|sieb|acht|neun)zehnt|(?:(?:{_UNITS_DE})und)?(?:zwanzig|dreißig)st)e[rnsm]?"
)
_MONTH_NTH_DE = _wide(rf"\b(?:{_SMALL_DE})e[rn]\b")
_D, _M = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_ON_DE = _wide(
    r"(?:\b(?:am|vom|bis|seit|ab|den|der|zum|termin|geb\.?|geboren|geburtstag|geburtsdatum|mo|di|mi|do|fr|sa|so|montag|dienstag|mittwoch"
    r"|donnerstag|freitag|samstag|sonntag)[.,:]?\s+|\()"
)
_ON_EN = (
    r"(?:\b(?:on|since|until|till|by|before|born|dob|birthday|appointment|mon|tue|tues|wed|thu|thurs|fri|sat|sun"
    r"|\p{L}+day)[.,:]?\s+|\()"
)
_MONTH_EN = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|march|mar(?=[ .]*\d)|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_TENS_EN = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ONES_EN = "one|two|three|four|five|six|seven|eight|nine"
_NTH_EN = (
    r"(?:(?:twenty|thirty)[\s\-])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|tenth|eleventh|twelfth"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teenth|twentieth|thirtieth"
)
_WORDS_YEAR_EN = (
    rf"(?:nineteen|twenty)[\s\-](?:oh[\s\-])?(?:(?:{_TENS_EN})(?:[\s\-](?:{_ONES_EN}))?|\p{{L}}+teen|{_ONES_EN}|ten|eleven|twelve)"
    rf"|two thousand(?: and)?(?: \p{{L}}+)?|(?:{_TENS_EN})[\s\-](?:{_ONES_EN})|(?:{_TENS_EN})"
)
_YEAR_EN = rf"(?:,?\s(?:of\s)?(?:(?:19|20)\d\d|'?\d\d(?!\d|\s?(?:am|pm|kg|mg|years|[.:]\d))|(?:{_WORDS_YEAR_EN})\b))"
_DATE = {
    "de": (
        rf"\b{_D}\.?\s?{_MONTH_DE}{_YEAR_DE}?",
        rf"{_NTH_DE}\s{_MONTH_DE}{_YEAR_DE}?",
        rf"{_NTH_DE}\s{_MONTH_NTH_DE}{_YEAR_DE}?",
        rf"\b{_MONTH_DE}\s(?:19|20)\d\d\b",
    ),
    "en": (
        rf"\b{_D}(?:st|nd|rd|th)\s(?:of\s)?{_MONTH_EN}{_YEAR_EN}?",
        rf"\b{_D}\s(?!(?-i:may)\s(?:i|he|she|we|they|you|it|my|be|have|need|cause|also|not|take|get)\b)(?:of\s)?{_MONTH_EN}{_YEAR_EN}?",
        rf"\b{_MONTH_EN}\s(?:the\s)?(?:{_D}(?:st|nd|rd|th)|(?:{_NTH_EN})){_YEAR_EN}?",
        rf"\b(?:(?-i:May)|(?!may){_MONTH_EN})\s{_D}\b(?!\s?(?:days|weeks|months|years|people|women)){_YEAR_EN}?",
        rf"\bmay\s{_D}(?:,?\s(?:19|20)\d\d)\b",
        rf"\b(?:the\s)?(?:{_NTH_EN})\s(?:of\s)?{_MONTH_EN}{_YEAR_EN}?",
        rf"\b{_MONTH_EN}\s(?:19|20)\d\d\b",
    ),
}
_AMOUNT_BEHIND = (
    r"(?!\d|[.,/\-]\d|\s?(?:mm|cm|mg|kg|ml|g|l|%|uhr|h|hrs|hours|stunden|am|pm|euro|€|chf|£|x|prozent|percent"
    r"|points|ng))"
)
_ANY_DATE = (
    r"(?<![\d.])(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)",
    r"(?<![\d.,/\-])\d{1,2}\s?[./\-]\s?\d{1,2}\s?[./\-]\s?(?:(?:19|20)\d\d|\d\d)(?![\d/])",
    rf"(?<![\d.,/\-]){_D}\s{_M}\s(?:19|20)\d\d(?!\d)",
    r"(?<![\d.,/\-])(?:0[1-9]|[12]\d|3[01])\.\s?(?:0[1-9]|1[0-2])\.(?!\d)",
    rf"(?<![\d.,/\-]){_D}\.\s?{_M}\.(?=\s*(?:um|ab|gegen|at|und|bis|\p{{Ll}}|[,)]))(?!\d|\s?(?:mm|cm|mg|kg|ml))",
)
_DAY = {
    "de": r"(?:\b(?:mo|di|mi|do|fr|sa|so|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)[.,]?\s"
    r"(?:den\s|dem\s)?)?",
    "en": r"(?:\b(?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun)(?:(?:nes|ur)?day)?[.,]?\s(?:the\s)?)?",
}
_HOUR = {
    "de": r"(?:,?\s(?:um\s)?\d{1,2}(?:[.:]\d\d)?\suhr(?:\s\d\d\b)?)?",
    "en": r"(?:,?\s(?:at\s)\d{1,2}(?:[.:]\d\d)?(?:\s?(?:am|pm|o'clock)\b)?)?",
}
_BORN = (
    r"(?:\b(?:geboren|geb\.?|jahrgang|jg\.?|geburtsjahr|born|dob|date of birth|year of birth)\s"
    r"(?:in\s|im\s(?:jahr\s)?|am\s|:\s?)?)"
    r"\K(?:(?:19|20)\d\d|\d{2}|\d{6}|\d{8})\b",
    r"\b\d{6}(?=\s(?:geboren|born))",
)
_AGE_WORDS = {
    "de": _wide(rf"(?:(?:{_UNITS_DE})und)?neunzig|(?:ein)?hundert(?:und)?(?:eins|zwei|drei|vier|fünf)?"),
    "en": rf"ninety(?:[\s\-](?:{_ONES_EN}))?|(?:a|one) hundred(?: and (?:{_ONES_EN}))?",
}
_OLD = r"(?:9\d|1[01]\d)"
_AGE = {
    "de": (
        rf"\b(?:{_OLD}|{{words}})(?=[\s\-]?(?:jahre|jährig|jaehrig|j\.|jahr\b))",
        rf"\b(?:bin|ist|war|wurde|wird|werde|alter|alt|mit)\s(?:jetzt\s|schon\s|bald\s)?\K(?:{_OLD}|(?:{{words}})\b)"
        rf"(?=\s(?:geworden|und|alt|,)|\s?[,.?!]|\s*$)",
    ),
    "en": (
        rf"\b(?:{_OLD}|{{words}})(?=[\s\-]?(?:years?|yrs?|yo|y/o)\b)",
        rf"\b(?:am|i'?m|is|was|turned|aged?|turning|she'?s|he'?s|at)\s(?:now\s|nearly\s|almost\s)?\K(?:{_OLD}|(?:{{words}})\b)"
        rf"(?=\s(?:and|old|now|next|this)|\s?[,.?!]|\s*$)",
    ),
}


@lru_cache(maxsize=2)
def _rules(language: str) -> tuple[tuple[str, regex.Pattern[str]], ...]:
    """Return what to look for, first the forms that leave no doubt."""
    on, near = (_ON_DE, rf"{_D}\.{_M}\b|{_D}/{_M}\b") if language == "de" else (_ON_EN, rf"{_D}[/.]{_M}\b\.?")
    spoken = _SPOKEN[language]
    by_kind = (
        ("email", _EMAIL),
        ("web", _WEB),
        ("number", _NUMBER[:2]),
        ("date", _BORN),
        ("address", _ADDRESS[language]),
        ("date", (f"{_DAY[language]}(?:{rule}){_HOUR[language]}" for rule in (*_ANY_DATE, *_DATE[language]))),
        ("date", (rf"(?:{on})\K(?!24/7){_DAY[language]}(?:{near}){_AMOUNT_BEHIND}{_HOUR[language]}",)),
        ("date", (rf"(?<=geb(?:oren)?\.?\s|geburtstag\s|birthday\s|born\s){_D}\.\s?{_M}\.",)),
        ("number", _NUMBER[2:3]),
        ("phone", (_PHONE, rf"\b(?:(?:{spoken})[\s,]+){{5,}}(?:{spoken})\b")),
        ("number", _NUMBER[3:]),
        ("user", _USER),
        ("age", tuple(rule.replace("{words}", _AGE_WORDS[language]) for rule in _AGE[language])),
    )
    return tuple((kind, regex.compile(rule, regex.I)) for kind, rules in by_kind for rule in rules)


_LONG = regex.compile(_DIGITS, regex.I)
_ALONE = regex.compile("|".join(f"(?:{each})" for each in _NOT_PERSONAL), regex.I)
_MEASURED = regex.compile(_UNIT, regex.I)


def spans(text: str, language: str) -> Iterator[Span]:
    """Yield what is known by its form; spans may overlap, and the first of them counts."""
    for kind, rule in _rules(language):
        for found in rule.finditer(text):
            if found.end() > found.start():
                yield kind, found.start(), found.end()
    for found in _LONG.finditer(text):
        if not _ALONE.fullmatch(found[0].strip()) and not _MEASURED.match(text, found.end()):
            yield ("phone" if found[0].startswith("0") else "number"), found.start(), found.end()

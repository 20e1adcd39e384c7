"""Where a translation may say the opposite of its text: yes for no, "at least" for "at most", none denied. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from bot.catalog.statements import yes_or_no
from bot.text import fold, words

COUNTED = ("de", "en", "fr")  # languages whose words are known here
SHORT = 8  # words of a text in which a negation more or less turns it round
SEVERAL = 2  # negations of a longer text: a translation has some of them
_Patterns = Mapping[str, re.Pattern[str]]


def _patterns(*by_language: str) -> _Patterns:
    return {code: re.compile(rf"\b(?:{said})\b", re.I) for code, said in zip(COUNTED, by_language, strict=True)}


# What turns advice round where a translation has it more or less often. "Before" and "after" are not counted:
# languages say them in other words, and most translations that are right would wait.
_TURNING: Mapping[str, _Patterns] = {
    "at least": _patterns("mindestens|wenigstens", "at least", "au moins"),
    "at most": _patterns("höchstens|maximal", "at most", "au plus(?! (?:tôt|tard|vite|près))|maximum"),
    "Monday": _patterns(r"montag\w*", "mondays?", "lundis?"),
    "Tuesday": _patterns(r"dienstag\w*", "tuesdays?", "mardis?"),
    "Wednesday": _patterns(r"mittwoch\w*", "wednesdays?", "mercredis?"),
    "Thursday": _patterns(r"donnerstag\w*", "thursdays?", "jeudis?"),
    "Friday": _patterns(r"freitag\w*", "fridays?", "vendredis?"),
    "Saturday": _patterns(r"samstag\w*|sonnabend\w*", "saturdays?", "samedis?"),
    "Sunday": _patterns(r"sonntag\w*", "sundays?", "dimanches?"),
}
# One where the other should be; either may be missing, as languages compare in other words.
_MORE = _patterns("mehr als|länger als|öfter als", "more than|longer than", "plus d[e'’]|plus longtemps")
_LESS = _patterns("weniger als|kürzer als", "less than|fewer than|shorter than", "(?<!au )moins d[e'’]|moins longtemps")
_DENYING = _patterns(
    r"nicht\w*|kein\w*|nie|niemals|nie?mand\w*|ohne|nein|weder",
    r"not|\w+n['’]t|no|none|never|nothing|nobody|without|cannot|neither|nor|non",
    r"ne|n(?=['’])|pas|jamais|aucune?s?|sans(?! danger| changement)|non|rien|ni|plus maintenant",
)
_CHOICES: Mapping[str, frozenset[str]] = {
    "yes": frozenset({"ja", "yes", "oui"}),
    "no": frozenset({"nein", "no", "non"}),
    "don't know": frozenset(
        {
            *("weiß nicht", "weiss nicht", "weiß ich nicht", "weiss ich nicht", "ich weiß nicht", "ich weiss nicht"),
            *("ich weiß es nicht", "ich weiss es nicht", "don't know", "i don't know", "do not know"),
            *("i do not know", "je ne sais pas", "ne sais pas", "ne sait pas", "sais pas"),
        }
    ),
}
_CHOICE_OF = {fold(said): choice for choice, all_ in _CHOICES.items() for said in all_}


def turned_round(first: str, language: str, other: str, target: str) -> Iterator[str]:
    """Yield where a translation may say the opposite of a text, a line each."""
    begins, becomes = yes_or_no(first, language), yes_or_no(other, target)
    if begins and becomes and begins != becomes:
        yield f"begins with {begins}, the translation with {becomes}"
    if not {language, target} <= set(COUNTED):
        return
    for name, patterns in _TURNING.items():
        before, after = (len(patterns[code].findall(text)) for code, text in ((language, first), (target, other)))
        if before != after:
            yield f"{name!r}: {before}, in the translation {after}"
    for here, there, said in ((_MORE, _LESS, "'more' became 'less'"), (_LESS, _MORE, "'less' became 'more'")):
        gone = here[language].search(first) and not here[target].search(other)
        if gone and there[target].search(other) and not there[language].search(first):
            yield said
    before, after = _denials(first, language), _denials(other, target)
    if (not after and before >= SEVERAL) or (not before and after >= SEVERAL + (target == "fr") * SEVERAL):
        yield f"negations: {before}, in the translation {after}"


def turned_in_short(first: str, language: str, other: str, target: str) -> Iterator[str]:
    """Yield the same for a question or a choice, where one negation or another choice is enough."""
    chosen, becomes = (_CHOICE_OF.get(fold(text.strip(" .!?"))) for text in (first, other))
    if chosen and becomes:
        if chosen != becomes:
            yield f"{chosen!r} became {becomes!r}"
        return
    lines = list(turned_round(first, language, other, target))
    yield from lines
    if lines or not {language, target} <= set(COUNTED) or len(words(first)) > SHORT:
        return
    before, after = _denials(first, language), _denials(other, target)
    if bool(before) != bool(after):
        yield f"negations: {before}, in the translation {after}"


def _denials(text: str, language: str) -> int:
    return len(_DENYING[language].findall(text))

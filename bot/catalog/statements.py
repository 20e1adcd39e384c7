"""What a program can tell of how an answer is put: its first sentence, time frames, difficult words. Pure.

Every check is a sign, not a proof: it says where a curator should look, and leaves the judgement to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from bot.catalog.amounts import amounts
from bot.languages.files import cached, load

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_]|\d)")
_AMOUNT = re.compile(r"\d+(?:[.,]\d+)*(?:\s*(?:bis|to|oder|or|und|and|-|–)\s*\d+(?:[.,]\d+)*)?\s+([^\W\d_]{2,})")
_VAGUE = {
    "de": re.compile(
        r"\b(?:alsbald|bald(?:igst|möglichst)?|ehe(?:st|bald)(?:ens|igst|möglich)|demnächst|zeitnah|umgehend|unverzüglich"
        r"|(?:möglichst|so) (?:schnell|bald|rasch)|schleunigst|(?:schnellst|rasche?st|baldigst)(?:ens|möglich)"
        r"|in (?:nächster|absehbarer|kürzester) Zeit|in Kürze|kurzfristig|rasch)\b",
        re.I,
    ),
    "en": re.compile(
        r"\b(?:soon(?:est)?|promptly|shortly|before (?:too )?long|in due (?:course|time)"
        r"|as quickly as (?:possible|you can)"
        r"|without (?:any )?(?:undue )?delay|in the near future|in a timely (?:manner|fashion)|speedily|asap"
        r"|at your earliest convenience)\b",
        re.I,
    ),
}
_FRAME = {
    "de": re.compile(
        r"\b(?:heute|sofort|morgen|noch am selben Tag|Stunden?|Tage[ns]?|Wochen?|Monate[ns]?|Minuten)\b", re.I
    ),
    "fr": re.compile(
        r"\b(?:aujourd'hui|tout de suite|maintenant|demain|le jour même|heures?|jours?|semaines?|mois|minutes)\b", re.I
    ),
    "en": re.compile(r"\b(?:today|at once|now|tomorrow|the same day|hours?|days?|weeks?|months?|minutes)\b", re.I),
}
_YES_NO = {
    "de": re.compile(r"^\W*(?:(?P<yes>ja)|(?P<no>nein))\b", re.I),
    "fr": re.compile(r"^\W*(?:(?P<yes>oui)|(?P<no>non))\b", re.I),
    # "No cream today" says no to cream, not to the question.
    "en": re.compile(r"^\W*(?:(?P<yes>yes)\b|(?P<no>no)(?=\s*(?:[,.;:!–—]|- |$)))", re.I),
}
# How a sentence begins that answers at once.
_STRAIGHT = {
    "de": re.compile(
        r"^(?:ja|nein|meist(?:ens)?|oft|kaum|manchmal|in der regel|das kommt|es kommt|kommt|rufen|bringen|nehmen|sagen"
        r"|lassen|essen)\b",
        re.I,
    ),
    "en": re.compile(
        r"^(?:yes|no|usually|often|hardly|sometimes|as a rule|that depends|it depends|call|bring|take|tell|leave"
        r"|eat)\b",
        re.I,
    ),
}
_COMMON = 4  # letters: shorter words do not tell what a question is about


def sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text.strip()) if part]


def measured(text: str, language: str) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    """Yield for each sentence with an amount: the unit, the amounts, and the stems of the other words beside it."""
    for sentence in sentences(text):
        for found in _AMOUNT.finditer(sentence):
            # "Of 1,000 women": what others are counted of is no amount of its own.
            said = frozenset(each.value for each in amounts(found[0], language)) - {"100", "1000", "10000"}
            if said and (len(found[1]) >= _COMMON or found[1] in ("mSv", "mm", "cm")):
                yield stem(found[1]), said, stems(sentence) - {stem(found[1])}


def stem(word: str) -> str:
    """Return the beginning of a word by which its forms are alike."""
    return word.lower()[:6]


def stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in re.findall(r"[^\W\d_]+", text) if len(word) > _COMMON)


def vague_times(text: str, language: str) -> Iterator[str]:
    """Yield sentences that say "soon" and no time frame beside it."""
    if language in _VAGUE:
        vague, frame = _VAGUE[language], _FRAME[language]
        yield from (each for each in sentences(text) if vague.search(each) and not frame.search(each))


def yes_or_no(text: str, language: str) -> str | None:
    """Return ``yes`` or ``no`` when a text begins with it."""
    found = _YES_NO[language].match(text) if language in _YES_NO else None
    return found.lastgroup if found else None


def answers_first(question: str, answer: str, language: str) -> bool:
    """Say whether the first sentence seems to answer: it begins as an answer does, or speaks of what was asked."""
    first = sentences(answer)[0] if sentences(answer) else ""
    begins = _STRAIGHT.get(language)
    return bool((begins and begins.search(first)) or stems(first) & stems(question) or amounts(first, language))


def difficult(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield difficult words that a text neither avoids nor explains, each with what to write instead.

    A word is explained by brackets, its own or beside it, by a sentence that says what it is, or by one that follows
    and begins "That is".
    """
    parts = sentences(text)
    for word, plain in _difficult_words(language).items():
        named = _with_endings(word)
        said = [number for number, part in enumerate(parts) if named.search(part)]
        if said and not any(_explains(parts, number, named, language) for number in said):
            yield word, plain


def difficult_at(text: str, language: str) -> Iterator[tuple[str, str, int, int]]:
    """Yield every difficult word, explained or not: as listed, what to write instead, where it begins and ends."""
    for word, plain in _difficult_words(language).items():
        for found in _with_endings(word).finditer(text):
            yield word, plain, found.start(), found.end()


@lru_cache(maxsize=512)
def _with_endings(word: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(word)}\w{{0,3}}\b", re.I if word.islower() else re.NOFLAG)


_EXPLAINING = {
    "fr": re.compile(r"^(?:c'est|ce sont|cela (?:veut dire|s'appelle))\b", re.I),
    "de": re.compile(r"^(?:das|dies) (?:ist|sind|heißt|heisst|bedeutet)\b|^so (?:nennt|heißt|heisst)\b", re.I),
    "en": re.compile(r"^(?:this|that|these|it) (?:is|are|means)\b", re.I),
}
_SAYS_WHAT = {
    "fr": re.compile(r" (?:est|sont|signifie|veut dire|s'appelle)\b", re.I),
    "de": re.compile(r" (?:ist|sind|heißt|heisst|bedeutet|macht|machen)\b|\b(?:heißt|heisst|nennt man)\b", re.I),
    "en": re.compile(r" (?:is|are|means|makes|make)\b|\bcalled\b", re.I),
}


def _explains(parts: list[str], number: int, named: re.Pattern[str], language: str) -> bool:
    """Say whether a sentence explains the word that it names, or the next one does."""
    part = parts[number]
    found = named.search(part)
    if found is None or language not in _EXPLAINING:
        return False
    brackets = "(" in part[max(0, found.start() - 20) : found.end() + 8]
    following = parts[number + 1] if number + 1 < len(parts) else ""
    article = re.match(r"(?:\w+ )?$", part[: found.start()])
    itself = (article and _SAYS_WHAT[language].match(part[found.end() :])) or re.search(
        r"\b(?:heißt|heisst|nennt man|called) [^.]*$", part[: found.start()]
    )
    return brackets or bool(_EXPLAINING[language].search(following)) or bool(itself)


@cached
def _difficult_words(language: str) -> Mapping[str, str]:
    return dict(load(language, "difficult_words.yaml") or {})

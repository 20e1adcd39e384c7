"""Names of people in what patients type: by what stands around them, and by lists of names. Pure.

A word counts as a name where a cue announces one (a title, "ich heiße", a relative, the end of a letter), by the lists
where it is no ordinary word as well, and beside another name. Small letters are the rule in a chat, so capitals help but
are never needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from bot.curation.name_lists import SHORTEST, NameLists, name_lists
from bot.text import fold

_TOKEN = regex.compile(r"\p{L}[\p{L}\p{M}]*(?:['’\-]\p{L}[\p{L}\p{M}]*)*")
_PARTICLES = frozenset(
    ["von", "van", "vom", "zu", "zum", "zur", "der", "den", "de", "di", "da", "dos", "do", "del", "della", "la", "le", "el", "al", "bin", "ben", "abu", "ter", "ten", "af", "av", "mac", "mc", "st", "san"]
)
LONGEST = 4  # words of one name
_ACRONYM = 5  # letters up to which a word in capitals is no name by itself: "GERD"
_ABBREVIATED = 4  # letters before a full stop that does not end a sentence: "Prof."
_Fits = Callable[["_Word", "_Word | None"], bool]  # a word, and the one behind it

_TITLES = {
    "de": r"fr(?:au|\.)|herrn?|hr\.|fräulein|fröl?e?i?l?n|frölein|fraeulein|dr\.?|prof\.?|doktorin|doktor|dokter|doc"
    r"|professor(?:in)?|med\.",
    "en": r"mrs?\.?|ms\.?|miss|mx\.?|dr\.?|prof\.?|doctor|professor|sir|madam|lady",
}
# They are relatives, jobs or courtesies as well, so what follows must look like a name by itself.
_WEAK_TITLES = {
    "de": r"schwester|pfleger(?:in)?|hausarzt|hausärztin|ärztin|arzt|oberarzt|oberärztin|chefarzt|chefärztin|hebamme|mfa"
    r"|patient(?:in)?|kolleg(?:e|in|en)|nachbar(?:in)?|radiologin?|gynäkologin?|frauenarzt|frauenärztin|praxis|liebe[rs]?|hallo"
    r"|hi|servus|grüezi|hoi",
    "en": r"nurse|sister|gp|consultant|radiographer|midwife|surgeon|radiologist|patient|colleague|neighbou?r|dear|hello|hi|hey",
}
_CALLED = {
    "de": r"(?:ich\s)?hei(?:ß|ss)e|i\shei(?:ß|ss)e?|name\s?(?:ist|isch|lautet|:|=)|namens|genannt|gezeichnet|gez\.?",
    "en": r"name(?:['’]?s|\sis|:)|named|called|signed",
}
# Most of what follows these is no name.
_MAY_BE = {
    "de": r"(?:ich\s)?bin(?:['’]?s)?,?|i\sbi|(?:hier|da)\s(?:ist|isch|spricht|schreibt)"
    r"|ich,?|nochmal,?|danke,?|kann|hat|ist|von|um|für|sag(?:t|en)?|frag(?:t|en)?|bitte",
    "en": r"i['’]?m|i\sam|this\sis|it['’]?s|i,|again,?|thanks,?|thank\syou,?|cheers,?|can|has|is|tell|ask|of|about|for",
}
_RELATIVES = {
    "de": r"(?:ich\s)?bin\s(?:die|der)|i\sbi\s(?:d|de|dr)|(?:hier|da)\s(?:ist|isch|spricht|schreibt)\s(?:die|der|d|de|dr)"
    r"|(?:mein|unser|min|mini|mi|mis|ihr|sein|dein|eure?)(?:e[rnms]?|i)?\s(?:\p{L}+e[rn]?\s)?(?:mann|maa|frau|partner(?:in)?|tochter|sohn"
    r"|mutter|vater|mama|mami|papa|schwester|bruder|brueder|oma|opa|omi|tante|onkel|cousine?|nichte|neffe|enkel(?:in)?|freund(?:in)?|kind"
    r"|baby|kleine[rn]?|kolleg(?:e|in|en)|nachbar(?:in)?|schwiegermutter|schwägerin|ehemann|bub|meitli|chef(?:in)?|therapeutin?),?",
    "en": r"(?:my|our|her|his|your)\s(?:\p{L}+\s)?(?:husband|wife|partner|daughter|son|mother|mum|mom|father|dad|sister|brother|gran|granny"
    r"|nan|grandma|grandmother|grandfather|aunt|auntie|uncle|cousin|niece|nephew|friend|mate|kid|child|baby|boy|girl|colleague"
    r"|neighbou?r|boss|fianc[eé]e?|boyfriend|girlfriend|carer|gp),?",
}
_CLOSING = {
    "de": r"(?:lg|vg|mfg|hg|bg|glg|gr(?:ü|ue)(?:ß|ss)(?:e|en|le|li)?|gruss|gruß|gr(?:ü|ue)essli|gez\.?|unterschrift)(?:\s(?:von|aus|vo|d))?"
    r"[,;:.!\s]*",
    "en": r"(?:regards|wishes|sincerely|faithfully|love(?:\sfrom)?|cheers|signed|yours|thx|xx+|thanks(?:\sfrom)?|ta)[,;:.!\s]*",
}
_BEHIND = {  # what may follow a name and nothing else: "Huber mein Name", "Siobhan here"
    "de": r",?\s(?:mein|isch\smin|ist\smein)\sname\b",
    "en": r",?\s(?:is\smy\sname|here)\b",
}
# How words end that are no names, where no list has them: medical terms, forms of verbs, nouns with a suffix.
_GRAMMAR = {
    "de": r"(?:ung|ungen|heit|keit|lich|isch|ische|itis|ose|osen|om|ome|ieren|iert|tion|tionen|ismus|schaft|ie|ien|logie|graphie|grafie"
    r"|ten|tet|end|ende|mittel|test|krebs|schmerz|schmerzen|pathie|ektomie)$",
    "en": r"(?:ing|ed|ly|tion|tions|ness|itis|osis|oses|omas?|a?emia|pathy|algia|ectomy|ous|ics?|al|ment|ments|ine|ide|ium|us|um|ate|ive"
    r"|able|ible|logy|graphy|gram|grams|ism|oid|ase|cin|axis|plasia|trophy|uria|genic|scopy|tomy)$",
}
_NEVER = {
    "de": frozenset(
        ["nicht", "so", "ja", "nein", "auch", "noch", "nur", "sehr", "ich", "du", "er", "sie", "es", "wir", "ihr", "und", "oder", "aber", "mit", "ohne", "hat", "hatte", "ist", "war", "sagt", "sagte", "gesagt", "kann", "muss", "soll", "will", "darf", "doktor", "doktorin", "dr", "prof", "professor", "frau", "herr", "mal", "bitte", "danke", "wie", "was", "wann", "wo", "warum", "wer", "der", "die", "das", "den", "dem", "ein", "eine", "einen", "einer", "im", "in", "am", "an", "auf", "aus", "bei", "zu", "von", "vor", "nach", "bin", "habe", "hab", "meine", "mein", "mir", "mich", "uns", "vom", "zum", "zur", "gruss", "gruesse", "gruessen", "gruessli", "termin", "telefon", "tel", "handy", "mail", "adresse", "geb"]
    ),
    "en": frozenset(
        ["not", "so", "yes", "no", "also", "still", "only", "very", "i", "you", "he", "she", "it", "we", "they", "and", "or", "but", "with", "without", "has", "had", "is", "was", "said", "says", "can", "must", "should", "will", "may", "doctor", "dr", "prof", "professor", "mrs", "mr", "ms", "miss", "please", "thanks", "how", "what", "when", "where", "why", "who", "the", "a", "an", "in", "on", "at", "to", "of", "my", "me", "us", "from", "for", "his", "her", "that", "this", "im", "am", "do", "does", "did", "if", "there", "here", "it", "all", "everyone", "advance", "lot", "much", "dob", "phone", "mobile", "email", "address", "appointment", "regards", "wishes"]
    ),
}
_MONTHS = frozenset(["may", "april", "june", "august", "march", "mai", "juni", "juli"])
_GAP = regex.compile(r"(?:\.(?=\s?\p{L}))?[\s:,\-]{0,3}(?:\p{Lu}\.\s?){0,3}")  # between a cue and the name
_INITIALS = regex.compile(r"(?<![\p{L}\d.])(?:\p{Lu}\.\s?(?:\-?\p{Lu}\.\s?)*)(?=\p{Lu}\p{L})")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word with what tells whether it is a name."""

    start: int
    end: int
    folded: str
    capital: bool
    opens: bool  # a sentence, so that its capital says nothing
    first: bool
    last: bool
    ordinary: bool
    known: bool  # as a name, and as nothing else
    strange: bool  # neither a name of the lists nor an ordinary word


class PeopleFinder:
    """Finds names in one language."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._lists: NameLists = name_lists(language)
        self._never = _NEVER[language]

        def compiled(cue: str) -> regex.Pattern[str]:
            return regex.compile(rf"(?<![\p{{L}}\d])(?:{cue})(?![\p{{L}}])", regex.I)

        self._titles = compiled(_TITLES[language])
        self._weak_titles = compiled(_WEAK_TITLES[language])
        self._called = compiled(_CALLED[language])
        self._may_be = compiled(_MAY_BE[language])
        self._relatives = compiled(_RELATIVES[language])
        self._closing = compiled(_CLOSING[language])
        self._behind = regex.compile(_BEHIND[language], regex.I)
        self._grammar = regex.compile(_GRAMMAR[language])

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where names are; they may overlap."""
        said = self._words(text)
        small = not any(word.capital for word in said)
        for cue in self._titles.finditer(text):
            yield from self._announced(text, said, cue.end(), lambda word, _: self._after_title(word, small))
        for cue in self._called.finditer(text):
            yield from self._announced(text, said, cue.end(), self._named)
        for cue in (*self._weak_titles.finditer(text), *self._relatives.finditer(text)):
            yield from self._announced(text, said, cue.end(), self._likely)
        for cue in self._may_be.finditer(text):
            yield from self._announced(text, said, cue.end(), self._surely)
        yield from self._closings(text, said)
        yield from self._initials(text, said)
        yield from self._before(text, said)
        yield from self._by_themselves(text, said)

    def _words(self, text: str) -> list[_Word]:
        found = []
        before = 0
        for match in _TOKEN.finditer(text):
            gap = text[before : match.start()]
            opens = not before or any(mark in gap for mark in '.!?\n:;"„“') or "[" in gap
            before = match.end()
            parts = [fold(part) for part in regex.split(r"['’\-]", match[0]) if part]
            folded = "".join(parts) if "'" in match[0] or "’" in match[0] else fold(match[0])
            lists = self._lists
            capital = match[0][0].isupper() and not (len(match[0]) > 3 and match[0].isupper() and text.isupper())
            first = any(part in lists.first and len(part) >= SHORTEST for part in parts) and len(parts[0]) > 1
            last = folded in lists.last or any(part in lists.last and len(part) >= SHORTEST for part in parts)
            ordinary = (
                folded in lists.ordinary
                or all(part in lists.ordinary for part in parts)
                or any(part in lists.eponyms for part in parts)
            )
            found.append(
                _Word(
                    match.start(),
                    match.end(),
                    folded,
                    capital,
                    opens,
                    first,
                    last,
                    ordinary,
                    (first or last) and not ordinary and len(folded) >= SHORTEST,
                    not first and not last and not ordinary and len(folded) >= SHORTEST,
                )
            )
        return found

    def _after_title(self, word: _Word, small: bool) -> bool:
        if word.folded in self._never:
            return False
        if word.capital or not word.ordinary or word.folded in self._lists.both:
            return True
        return small and word.last and len(word.folded) > SHORTEST

    def _named(self, word: _Word, _: _Word | None) -> bool:
        """Say whether a word is a name where nothing else is to be expected."""
        return word.folded not in self._never and (word.capital or word.first or not word.ordinary)

    def _likely(self, word: _Word, _: _Word | None = None) -> bool:
        """Say whether a word is a name where one may follow."""
        if word.folded in self._never or word.folded in self._lists.eponyms:
            return False
        if word.known or word.strange or word.folded in self._lists.both:
            return True
        return word.capital and word.first and word.folded not in _MONTHS

    def _surely(self, word: _Word, following: _Word | None) -> bool:
        """Say whether a word is a name where mostly something else follows."""
        if word.folded in self._never or word.folded in self._lists.eponyms:
            return False
        by_list = word.first and (word.known or (word.capital and word.folded not in _MONTHS))
        both = (
            following is not None
            and not self._grammar.search(word.folded)
            and (
                ((word.strange or word.known) and (following.last or following.known or following.strange))
                or (word.folded in self._lists.both and following.known)
            )
        )
        return by_list or both or (word.capital and word.known and word.last)

    def _announced(self, text: str, said: Sequence[_Word], at: int, fits: _Fits) -> Iterator[tuple[int, int]]:
        """Yield the name that begins right behind a cue, with initials before it."""
        gap = _GAP.match(text, at)
        begin = gap.end() if gap is not None else at
        if text[at : at + 1] in (".", ",") and _letters_before(text, at) > _ABBREVIATED:
            # "Dear doctor, last week": a new sentence begins, and its capital says nothing.
            following = next((word for word in said if word.start >= begin), None)
            if following is None or following.ordinary:
                return
        number = next((number for number, word in enumerate(said) if word.start == begin), None)
        while (
            number is not None
            and number < len(said)
            and self._titles.fullmatch(text, said[number].start, said[number].end)
        ):
            number += 1
        if number is None or number >= len(said):
            return
        start = number
        if (
            said[number].folded in _PARTICLES
            and number + 1 < len(said)
            and _joined(text, said[number], said[number + 1])
        ):
            number += 1
            if said[number].folded in _PARTICLES and number + 1 < len(said):
                number += 1
        beyond = said[number + 1] if number + 1 < len(said) and _joined(text, said[number], said[number + 1]) else None
        if fits(said[number], beyond):
            yield self._from(text, at, said[start].start), said[self._reach(text, said, number)].end

    @staticmethod
    def _from(text: str, at: int, start: int) -> int:
        """Return where the initials before a name begin."""
        initials = regex.compile(r"(?:\p{Lu}\.\s?)+").search(text, at, start)
        return initials.start() if initials is not None else start

    def _reach(self, text: str, said: Sequence[_Word], number: int) -> int:
        """Return the last word of the name that a word begins."""
        reached = number
        while reached + 1 < len(said) and reached + 1 - number < LONGEST:
            following = said[reached + 1]
            if not _joined(text, said[reached], following):
                break
            if following.folded in _PARTICLES and following.folded not in (
                "do",
                "la",
                "zum",
                "zur",
                "zu",
                "da",
                "bin",
                "den",
                "der",
                "de",
            ):
                beyond = said[reached + 2] if reached + 2 < len(said) else None
                if beyond is None or not _joined(text, following, beyond) or not self._continues(beyond, said[number]):
                    break
                reached += 2
                continue
            if following.folded in ("de", "der", "da", "la", "den", "zu", "bin") and reached + 2 < len(said):
                beyond = said[reached + 2]
                if (beyond.last or beyond.known or (beyond.capital and not beyond.ordinary)) and _joined(
                    text, following, beyond
                ):
                    reached += 2
                    continue
            if not self._continues(following, said[number]):
                break
            reached += 1
        return reached

    def _continues(self, word: _Word, first: _Word) -> bool:
        if word.folded in self._never or word.folded in self._lists.eponyms:
            return False
        if word.known or (word.strange and (word.capital or not first.capital)):
            return True
        return word.capital and (word.last or word.first) and word.folded not in _MONTHS

    def _closings(self, text: str, said: Sequence[_Word]) -> Iterator[tuple[int, int]]:
        """Yield whatever stands behind a closing, where only a few words end the message."""
        for cue in self._closing.finditer(text):
            left = [word for word in said if word.start >= cue.end()]
            line = text[cue.end() :].strip()
            if 0 < len(left) <= LONGEST and len(line) <= 60 and not regex.search(r"[?]|\d", line):
                if any(word.folded in self._never for word in left):
                    continue
                if any(word.first or word.last or word.strange or word.capital for word in left):
                    yield self._from(text, cue.end(), left[0].start), left[-1].end
            elif left and (left[0].capital or left[0].known) and self._likely(left[0]):
                number = said.index(left[0])
                yield left[0].start, said[self._reach(text, said, number)].end

    def _initials(self, text: str, said: Sequence[_Word]) -> Iterator[tuple[int, int]]:
        for found in _INITIALS.finditer(text):
            word = next((word for word in said if word.start == found.end()), None)
            if word is not None and word.folded not in self._lists.eponyms and (word.last or word.strange):
                yield found.start(), word.end

    def _before(self, text: str, said: Sequence[_Word]) -> Iterator[tuple[int, int]]:
        for number, word in enumerate(said):
            fits = word.capital or not word.ordinary or word.folded in self._lists.both
            if fits and self._behind.match(text, word.end) and word.folded not in self._never:
                start = number
                while (
                    start
                    and _joined(text, said[start - 1], said[start])
                    and (said[start - 1].folded in _PARTICLES or self._continues(said[start - 1], word))
                ):
                    start -= 1
                yield said[start].start, word.end

    def _by_themselves(self, text: str, said: Sequence[_Word]) -> Iterator[tuple[int, int]]:
        for number, word in enumerate(said):
            short = word.end - word.start <= _ACRONYM and text[word.start : word.end].isupper() and not text.isupper()
            if word.folded in self._never or word.folded in self._lists.eponyms or short:
                continue
            english = self._language == "en" and word.capital and not word.opens and word.folded not in _MONTHS
            if (word.first and word.known) or (english and word.first and len(word.folded) > SHORTEST):
                reached = self._reach(text, said, number)
                yield word.start, said[reached].end
                yield from self._comma(text, said, number)
            elif word.capital and word.known and not word.opens:
                yield word.start, said[self._reach(text, said, number)].end
            elif (
                word.known
                and number
                and said[number - 1].strange
                and said[number - 1].folded not in self._never
                and not self._grammar.search(said[number - 1].folded)
                and _joined(text, said[number - 1], word)
            ):
                yield said[number - 1].start, word.end

    def _comma(self, text: str, said: Sequence[_Word], number: int) -> Iterator[tuple[int, int]]:
        """Yield the family name of "Huber, Anna"."""
        if number and said[number - 1].capital and text[said[number - 1].end : said[number].start] == ", ":
            before = said[number - 1]
            if before.last or before.strange:
                yield before.start, before.end


def _letters_before(text: str, end: int) -> int:
    """Return how many letters the word has that ends here."""
    start = end
    while start and text[start - 1].isalpha():
        start -= 1
    return end - start


def _joined(text: str, one: _Word, other: _Word) -> bool:
    return text[one.end : other.start] in (" ", "  ", "-", "")


@lru_cache(maxsize=2)
def people_finder(language: str) -> PeopleFinder:
    return PeopleFinder(language)

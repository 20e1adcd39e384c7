"""Read yes or no, permission, and how often something happens. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.interview.reading.load_words import words_for
from bot.interview.reading.numbers import with_numbers
from bot.interview.reading.reading import NotUnderstood, Read, Reading
from bot.interview.reading.tokens import MIN_CORRECTED, Reply, corrected, cut, squeeze
from bot.interview.reading.vocabulary import Words, steps
from bot.interview.values.answer import Answer

MOST_OPENING = 2  # words of leave that may also open a question: "können Sie"
MANY_BESIDE = 4  # words beside a permission from which on they are kept
MAX_SENTENCE = 12  # words in which one "not" or "no" is taken for the answer

_SMILEYS = {"👍": "maybe_yes", "👎": "maybe_no"}
_POSITIVE = frozenset({"yes", "maybe_yes"})
_NEGATIVE = frozenset({"no", "negators", "maybe_no"})
_NO_SENTENCE = NotUnderstood("a sentence that is no clear no")
_BOTH = NotUnderstood("both yes and no", "contradiction")
_TWICE = NotUnderstood("a double negation", "contradiction")


def read_yes_no(text: str, *, language: str) -> Reading:
    """Read an answer to a yes-or-no question, such as "Is that right?"."""
    words = words_for(language)
    reply = cut(text, words.fold)
    reading = read_boolean(reply, words)
    if isinstance(reading, Read) and reading.literal:
        return replace(reading, literal=is_plain(reply, words))
    return reading


def is_plain(reply: Reply, words: Words) -> bool:
    """Tell whether a reply is a plain yes or no and nothing else."""
    said = [token for token in reply.tokens if token.text not in (".", "!")]
    return len(said) == 1 and said[0].text in words.agreement.plain_yes | words.agreement.plain_no


def read_boolean(reply: Reply, words: Words) -> Reading:
    """Read yes or no; what is said beyond it becomes the remainder. An exception is neither."""
    speech = _Speech(reply, words)
    reading = speech.read()
    if isinstance(reading, NotUnderstood) and reading.why != "vague":
        reading = speech.read_end() or reading
    if isinstance(reading, Read) and words.excepts(reply.said):
        return NotUnderstood("yes or no with an exception", "contradiction")
    return reading


def asks_leave(prompt: Reply, words: Words) -> bool:
    """Tell whether a question asks for permission: "Dürfen wir …?"."""
    return words.agreement.asks_leave.within(prompt.said)


def read_leave(reply: Reply, words: Words) -> Read | None:
    """Read a permission that is given or kept back in words that say neither yes nor no elsewhere.

    "Kein Problem", "meinetwegen" and "I don't mind" give it; "lieber nicht" does not. Never literal.
    """
    speech, agreement = _Speech(reply, words), words.agreement
    found = list(steps(speech.texts, agreement.leave, agreement.no_leave))
    given = {leave > kept_back for _, (leave, kept_back) in found if leave or kept_back}
    rest = [speech.texts[place] for place, lengths in found if not any(lengths)]
    if len(given) != 1 or speech.asks or words.excepts(rest) or agreement.but & set(rest[1:]):
        return None
    allowed = given.pop()
    denied = any(each.within(rest) for each in (agreement.negators, agreement.no, agreement.maybe_no))
    if allowed and denied and agreement.plain_no.issuperset(rest):
        # "No, I don't mind" gives leave; "no, go ahead" may mean either.
        return _answer(True) if speech.negations(len(rest)) else None
    if (denied if allowed else agreement.plain_yes & set(rest)) or (allowed and speech.goes_on_from_leave(rest)):
        return None
    return _answer(allowed, speech.text_from(0) if len(rest) > MANY_BESIDE else "")


def read_how_often(reply: Reply, words: Words) -> Read | None:
    """Read how often something happens as a yes: "alle zwei Jahre", "every other year", "immer brav gegangen"."""
    speech, agreement = _Speech(reply, words), words.agreement
    texts = speech.texts
    if speech.negations() or agreement.unclear.within(texts) or speech.asks or len(texts) > MAX_SENTENCE:
        return None
    if agreement.meta & set(texts) or words.excepts(texts):
        return None
    habit = agreement.always & set(texts) and agreement.attended & set(texts)
    often = habit or agreement.often.within(texts) or speech.counts()
    return _answer(True, speech.text_from(0)) if often else None


def _answer(value: bool, remainder: str = "", *, literal: bool = False) -> Read:
    return Read((Answer("boolean", value),), literal, remainder)


@dataclass(frozen=True, slots=True)
class _Said:
    """One phrase of yes or no: its kind, and the words from `first` up to `end`."""

    kind: str
    first: int
    end: int


class _Speech:
    """The words of a reply, marks left out, with their places."""

    def __init__(self, reply: Reply, words: Words) -> None:
        self.reply = reply
        self.words = words
        self.agreement = words.agreement
        self.places = [
            place for place, token in enumerate(reply.tokens) if token.kind != "mark" or token.text in _SMILEYS
        ]
        self.texts = [reply.tokens[place].text for place in self.places]
        self.asks = any(token.text == "?" for token in reply.tokens)

    def read(self) -> Reading:
        """Read an answer that comes first."""
        said, end, hedged = self._opening()
        if not said:
            return self._sentence() or self._corrected()
        kinds = {phrase.kind for phrase in said}
        whole = self._padding_only(end)
        if "unclear" in kinds:
            return NotUnderstood("neither yes nor no", "vague")
        if said[0].kind == "maybe_yes" and (not whole or "negators" in kinds):
            # "Habe ich noch nie": the verb alone was no answer.
            return self._sentence() or NotUnderstood("no clear yes or no")
        if kinds & _NEGATIVE and kinds & _POSITIVE:
            return _BOTH
        if any(phrase.kind == "negators" and not self._comma_after(phrase) for phrase in said[:-1]):
            return _TWICE  # "nicht nie"; "nie, nein" only says it twice
        if not whole:
            return self._with_rest(said[-1], end)
        sure = not hedged and not kinds & {"maybe_yes", "maybe_no"} and not self.asks
        return _answer(not kinds & _NEGATIVE, literal=sure)

    def read_end(self) -> Reading | None:
        """Read an answer that comes last, after a comma: "still nursing, yes"."""
        if not self.texts or self.asks:
            return None
        *head, last = self.texts
        before = self.places[-1] - 1
        agreement, yes = self.agreement, last in self.agreement.plain_yes
        parted = before > 0 and self.reply.tokens[before].kind == "mark"
        if not parted or not (yes or last in agreement.plain_no):
            return None
        against = (
            (agreement.no, agreement.maybe_no, agreement.negators) if yes else (agreement.yes, agreement.maybe_yes)
        )
        unsure = (agreement.unclear, self.words.around.hedges)
        if any(each.within(head) for each in (*against, *unsure)) or self.negations() > 1 + (not yes):
            return None
        return _answer(yes, self.reply.between(0, before))

    def _opening(self) -> tuple[list[_Said], int, bool]:
        """Return the answers at the beginning, where they end, and whether hedges around them show doubt."""
        said: list[_Said] = []
        place, hedged = 0, False
        while place < len(self.texts):
            start = self._after_openers(place)
            phrase = self._phrase_at(start)
            hedge = self.words.around.hedges.length_at(self.texts, start)
            if hedge and (phrase is None or start + hedge > phrase.end):
                place, hedged = start + hedge, True
            elif phrase is None or (said and phrase.kind == "negators" and not self._padding_only(phrase.end)):
                break  # "nein, nicht links": a comment, no second answer
            else:
                said.append(phrase)
                place = phrase.end
        return said, place, hedged

    def _after_openers(self, place: int) -> int:
        """Return the place after words that only open an answer."""
        while place < len(self.texts) - 1:
            exclaimed = self.agreement.exclamations.length_at(self.texts, place)
            phrase = self._phrase_at(place)
            after = place + (exclaimed or int(self.texts[place] in self.agreement.openers))
            says_more = phrase is not None and phrase.end > place + exclaimed
            hedged = self.words.around.hedges.length_at(self.texts, place)
            if after == place or says_more or hedged or after >= len(self.texts):
                break
            place = after
        return place

    def _phrase_at(self, place: int) -> _Said | None:
        """Return the longest phrase of yes or no at a word, which may be stretched: "jaaa", "neiiin"."""
        if place >= len(self.texts):
            return None
        word = self.texts[place]
        if word in _SMILEYS:
            return _Said(_SMILEYS[word], place, place + 1)
        best: _Said | None = None
        for kind in ("unclear", "maybe_no", "maybe_yes", "no", "yes", "negators"):
            length = getattr(self.agreement, kind).length_at(self.texts, place)
            if length and (best is None or place + length > best.end):
                best = _Said(kind, place, place + length)
        short = squeeze(word)
        if best is None and short != word:
            for kind in ("no", "yes"):
                if (short,) in getattr(self.agreement, kind):
                    return _Said(kind, place, place + 1)
        return best

    def _padding_only(self, start: int) -> bool:
        rest = self.texts[start:]
        return all(
            exclaimed or rest[place] in self.agreement.openers
            for place, (exclaimed,) in steps(rest, self.agreement.exclamations)
        )

    def _comma_after(self, phrase: _Said) -> bool:
        """Tell whether a mark stands between a phrase and the next word."""
        after = self.places[phrase.end - 1] + 1
        return after < len(self.reply.tokens) and self.reply.tokens[after].kind == "mark"

    def text_from(self, word: int) -> str:
        """Return what was written from a word on."""
        return self.reply.between(self.places[word], len(self.reply.tokens)) if word < len(self.places) else ""

    def negations(self, start: int = 0) -> int:
        """Return how many phrases negate, from a word on."""
        return sum(taken > 0 for _, (taken,) in steps(self.texts[start:], self.agreement.negators))

    def _with_rest(self, last: _Said, end: int) -> Reading:
        """Return the answer with the rest as comment, unless the rest speaks against it."""
        positive = last.kind in _POSITIVE
        negations = self.negations(end)
        if self._taken_back(end, positive=positive, negations=negations):
            return _BOTH
        if positive:
            return _answer(True, self.text_from(end))
        comma = self._comma_after(last)
        if last.kind == "maybe_no" and not comma:
            return self._sentence() or _NO_SENTENCE
        determines = not comma and tuple(self.texts[last.first : last.end]) in self.agreement.negators
        if negations + determines > 1:
            return _TWICE
        # "Keine Allergien": without its first word the comment would say the opposite.
        return _answer(False, self.text_from(0 if determines else end))

    def _taken_back(self, start: int, *, positive: bool, negations: int) -> bool:
        """Tell whether words after an answer take it back: "nein, eigentlich schon", "ja, ich habe keine"."""
        phrase = self._phrase_at(self._after_openers(start))
        if phrase and phrase.kind in (_NEGATIVE if positive else _POSITIVE) and phrase.kind != "negators":
            return True
        rest = self.texts[start:]
        plainly = start > 0 and self.texts[start - 1] in self.agreement.plain_yes
        explained = rest[0] in self.agreement.but or (plainly and self.agreement.meta & set(rest))
        return positive and negations > 0 and not explained

    def _sentence(self) -> Reading | None:
        """Read a short sentence with one negation as no: "ich rauche nicht", "I have never had one"."""
        negations, texts = self.negations(), set(self.texts)
        if not negations:
            return None
        if negations > 1:
            return _TWICE
        clear = self.agreement.first_person & texts and not self.agreement.meta & texts and not self.asks
        return _answer(False, self.text_from(0)) if clear and len(self.texts) <= MAX_SENTENCE else _NO_SENTENCE

    def _corrected(self) -> Reading:
        """Read a single word with a typing error."""
        if len(self.texts) == 1 and len(self.texts[0]) >= MIN_CORRECTED:
            for value, phrases in ((True, self.agreement.yes), (False, self.agreement.no)):
                if corrected(self.texts[0], [phrase[0] for phrase in phrases.all if len(phrase) == 1]):
                    return _answer(value)
        return NotUnderstood("no yes or no in the text")

    def goes_on_from_leave(self, rest: Sequence[str]) -> bool:
        """Tell whether what seems to give leave goes on to something else: "können Sie das löschen"."""
        first = self.agreement.leave.length_at(self.texts, 0)
        if not 0 < first <= MOST_OPENING or self._comma_after(_Said("yes", 0, first)):
            return False
        known = self.words.around.harmless | self.words.choices.weak | self.agreement.openers
        known |= {word for phrase in self.agreement.yes.all | self.words.choices.all.all for word in phrase}
        return not known.issuperset(rest)

    def counts(self) -> bool:
        """Tell whether a reply says "every two years" or "three times"."""
        numbers, spans = self.words.numbers, self.words.dates.spans
        starts = {token.start for token in with_numbers(self.reply, numbers).tokens if token.numeric}
        counted = [self.reply.tokens[place].start in starts for place in self.places]
        for place, text in enumerate(self.texts):
            one, two = [*self.texts[place + 1 : place + 3], "", ""][:2]
            if text in self.agreement.every and (one in spans or (two in spans and counted[place + 1])):
                return True
            if counted[place] and one in self.agreement.times:
                return True
            # "Dreimal" counts, and is no number to choose by; "einmal" may only mean "ever".
            if numbers.small.get(text, 0) > 1 and text in numbers.counting:
                return True
        return False

"""Read yes or no from a reply, and words that deny. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.interview.reading.languages import words_for
from bot.interview.reading.numerals import number_tokens
from bot.interview.reading.reading import NotUnderstood, Read, Reading
from bot.interview.reading.tokens import MIN_CORRECTED, Reply, corrected, cut, squeeze
from bot.interview.reading.vocabulary import Agreement, Words
from bot.interview.values.answer import Answer


def without_hedges(texts: Sequence[str], words: Words) -> tuple[str, ...]:
    """Return words without "I'm not sure" and "nothing else", whose negation is about something else."""
    kept: list[str] = []
    place = 0
    while place < len(texts):
        taken = max(words.around.hedges.length_at(texts, place), words.choices.enough.length_at(texts, place))
        if not taken:
            kept.append(texts[place])
        place += max(taken, 1)
    return tuple(kept)


def negates(texts: Sequence[str], words: Words) -> bool:
    """Tell whether anything is negated, apart from how sure the patient is."""
    plain = without_hedges(texts, words)
    return words.agreement.negators.within(plain) or not words.choices.without.isdisjoint(plain)


def without_negation(texts: Sequence[str], words: Words) -> tuple[str, ...]:
    """Return what is negated: the words without those that negate."""
    plain, kept, place = without_hedges(texts, words), [], 0
    while place < len(plain):
        taken = words.agreement.negators.length_at(plain, place)
        if not taken and plain[place] not in words.choices.without:
            kept.append(plain[place])
        place += max(taken, 1)
    return tuple(kept)


def excepts(texts: Sequence[str], words: Words) -> bool:
    """Tell whether something is taken out: "alles bis auf Husten", "everything but the cough"."""
    return words.choices.excepting.within(texts)


def only_denies(texts: Sequence[str], words: Words) -> bool:
    """Tell whether words deny what was said before them and say nothing of their own: "das nehme ich nicht"."""
    silent = words.choices.weak | words.choices.articles | words.silence.padding | words.agreement.openers
    return negates(texts, words) and silent.issuperset(without_negation(texts, words))


MOST_OPENING = 2  # words of leave that may also open a question: "können Sie"
MANY_BESIDE = 4  # words beside a permission from which on they are kept
MAX_SENTENCE = 12  # words in which one "not" or "no" is taken for the answer

_SMILEYS = {"👍": "maybe_yes", "👎": "maybe_no"}
_POSITIVE = frozenset({"yes", "maybe_yes"})
_NEGATIVE = frozenset({"no", "negators", "maybe_no"})


@dataclass(frozen=True, slots=True)
class _Said:
    """One phrase of yes or no: its kind, and the words from `first` up to `end`."""

    kind: str
    first: int
    end: int


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
    reading = _read_boolean(reply, words)
    if isinstance(reading, NotUnderstood) and reading.why != "vague":
        reading = _closing(_Speech(reply, words)) or reading
    texts = [token.text for token in reply.tokens if token.kind != "mark"]
    if isinstance(reading, Read) and excepts(texts, words):
        return NotUnderstood("yes or no with an exception", "contradiction")
    return reading


def asks_leave(prompt: Reply, words: Words) -> bool:
    """Tell whether a question asks for permission: "Dürfen wir …?"."""
    return words.agreement.asks_leave.within([token.text for token in prompt.tokens if token.kind != "mark"])


def read_leave(reply: Reply, words: Words) -> Read | None:
    """Read a permission that is given or kept back in words that say neither yes nor no elsewhere.

    "Kein Problem", "meinetwegen" and "I don't mind" give it; "lieber nicht" does not. Never literal.
    """
    speech = _Speech(reply, words)
    given, place, rest = set[bool](), 0, list[str]()
    while place < len(speech.texts):
        leave, no_leave = (
            each.length_at(speech.texts, place) for each in (words.agreement.leave, words.agreement.no_leave)
        )
        if leave or no_leave:
            given.add(leave > no_leave)
        else:
            rest.append(speech.texts[place])
        place += max(leave, no_leave, 1)
    if len(given) != 1 or speech.asks or excepts(rest, words) or words.agreement.but & set(rest[1:]):
        return None
    allowed = given.pop()
    agreement = words.agreement
    denied = any(each.within(rest) for each in (agreement.negators, agreement.no, agreement.maybe_no))
    agreed = bool(agreement.plain_yes & set(rest))
    if allowed and denied and agreement.plain_no.issuperset(rest):
        # "No, I don't mind" gives leave; "no, go ahead" may mean either.
        return _answer(True, literal=False) if speech.negations(len(rest)) else None
    if (denied if allowed else agreed) or (allowed and _may_ask(speech, rest)):
        return None
    return _answer(allowed, literal=False, remainder=speech.text_from(0) if len(rest) > MANY_BESIDE else "")


def _may_ask(speech: _Speech, rest: Sequence[str]) -> bool:
    """Tell whether what seems to give leave goes on to something else: "können Sie das löschen"."""
    first = speech.agreement.leave.length_at(speech.texts, 0)
    if not 0 < first <= MOST_OPENING or speech.comma_after(_Said("yes", 0, first)):
        return False
    words = speech.words
    known = words.around.harmless | words.choices.weak | speech.agreement.openers
    known |= {word for phrase in speech.agreement.yes.all | words.choices.all.all for word in phrase}
    return not known.issuperset(rest)


def read_how_often(reply: Reply, words: Words) -> Read | None:
    """Read how often something happens as a yes: "alle zwei Jahre", "every other year", "immer brav gegangen"."""
    speech = _Speech(reply, words)
    agreement, texts = words.agreement, speech.texts
    negated = speech.negations() or any(agreement.unclear.length_at(texts, place) for place in range(len(texts)))
    if negated or speech.asks or len(texts) > MAX_SENTENCE or agreement.meta & set(texts) or excepts(texts, words):
        return None
    habit = bool(agreement.always & set(texts) and agreement.attended & set(texts))
    if not (habit or agreement.often.within(texts) or _counted(speech)):
        return None
    return _answer(True, literal=False, remainder=speech.text_from(0))


def _counted(speech: _Speech) -> bool:
    """Tell whether a reply says "every two years" or "three times"."""
    words, texts = speech.words, speech.texts
    numbers = {token.start for token in number_tokens(speech.reply.tokens, words.numbers) if token.numeric}
    counts = [speech.reply.tokens[place].start in numbers for place in speech.places]
    for place, text in enumerate(texts):
        after = texts[place + 1 : place + 3]
        spanned = bool(after) and after[-1] in words.dates.spans
        if text in words.agreement.every and (after[:1] and after[0] in words.dates.spans):
            return True
        if text in words.agreement.every and len(after) == 2 and counts[place + 1] and spanned:
            return True
        often = counts[place] and after[:1] and after[0] in words.agreement.times
        # "Dreimal" counts, and is no number to choose by; "einmal" may only mean "ever".
        more = words.numbers.small.get(text, 0) > 1 and text not in words.choices.numbers.small
        if often or more:
            return True
    return False


def _closing(speech: _Speech) -> Reading | None:
    """Read an answer that comes last, after a comma: "still nursing, yes"."""
    if not speech.texts or speech.asks:
        return None
    last = len(speech.texts) - 1
    before = speech.places[last] - 1
    parted = before > 0 and speech.reply.tokens[before].kind == "mark"
    yes = speech.texts[last] in speech.agreement.plain_yes
    if not parted or not (yes or speech.texts[last] in speech.agreement.plain_no):
        return None
    head = speech.texts[:last]
    agreement = speech.agreement
    against = (agreement.no, agreement.maybe_no, agreement.negators) if yes else (agreement.yes, agreement.maybe_yes)
    unsure = agreement.unclear.within(head) or speech.words.around.hedges.within(head)
    if unsure or any(each.within(head) for each in against) or len(speech.negations()) > 1 + (not yes):
        return None
    return _answer(yes, literal=False, remainder=speech.reply.between(0, before))


def _read_boolean(reply: Reply, words: Words) -> Reading:
    speech = _Speech(reply, words)
    opening = speech.opening()
    if not opening.said:
        return _sentence(speech) or _corrected(speech)
    kinds = {phrase.kind for phrase in opening.said}
    whole = speech.padding_only(opening.end)
    if "unclear" in kinds:
        return NotUnderstood("neither yes nor no", "vague")
    if opening.said[0].kind == "maybe_yes" and (not whole or "negators" in kinds):
        # "Habe ich noch nie": the verb alone was no answer.
        return _sentence(speech) or NotUnderstood("no clear yes or no")
    if kinds & _NEGATIVE and kinds & _POSITIVE:
        return NotUnderstood("both yes and no", "contradiction")
    if _doubly_negated(opening.said, speech):
        return NotUnderstood("a double negation", "contradiction")
    if not whole:
        return _with_rest(speech, opening)
    sure = not opening.hedged and not kinds & {"maybe_yes", "maybe_no"} and not speech.asks
    return _answer(not kinds & _NEGATIVE, literal=sure)


def _answer(value: bool, *, literal: bool, remainder: str = "") -> Read:
    return Read((Answer("boolean", value),), literal, remainder)


@dataclass(frozen=True, slots=True)
class _Opening:
    """What a reply begins with: phrases of yes or no, up to the word `end`; and whether the patient was unsure."""

    said: tuple[_Said, ...]
    end: int
    hedged: bool


class _Speech:
    """The words of a reply, marks left out, with their places."""

    def __init__(self, reply: Reply, words: Words) -> None:
        self.reply = reply
        self.words = words
        self.agreement: Agreement = words.agreement
        self.places = [
            place for place, token in enumerate(reply.tokens) if token.kind != "mark" or token.text in _SMILEYS
        ]
        self.texts = [reply.tokens[place].text for place in self.places]
        self.asks = any(token.text == "?" for token in reply.tokens)

    def after_openers(self, place: int) -> int:
        """Return the place after words that only open an answer."""
        while place < len(self.texts) - 1:
            exclaimed = self.agreement.exclamations.length_at(self.texts, place)
            opens = exclaimed or self.texts[place] in self.agreement.openers
            phrase = self.phrase_at(place)
            if not opens or (phrase and phrase.end > place + exclaimed) or self.hedge_at(place):
                break
            if place + (exclaimed or 1) >= len(self.texts):
                break
            place += exclaimed or 1
        return place

    def hedge_at(self, place: int) -> int:
        """Return how many words from here on show that the patient is not sure."""
        return self.words.around.hedges.length_at(self.texts, place)

    def phrase_at(self, place: int) -> _Said | None:
        """Return the longest phrase of yes or no at a word."""
        best: _Said | None = None
        if place < len(self.texts) and self.texts[place] in _SMILEYS:
            return _Said(_SMILEYS[self.texts[place]], place, place + 1)
        for kind in ("unclear", "maybe_no", "maybe_yes", "no", "yes", "negators"):
            length = getattr(self.agreement, kind).length_at(self.texts, place)
            if length and (best is None or place + length > best.end):
                best = _Said(kind, place, place + length)
        return best or self._stretched(place)

    def _stretched(self, place: int) -> _Said | None:
        """Return "jaaa" or "neiiin"."""
        word = self.texts[place] if place < len(self.texts) else ""
        short = squeeze(word)
        if short == word:
            return None
        kinds = [kind for kind in ("no", "yes") if (short,) in getattr(self.agreement, kind)]
        return _Said(kinds[0], place, place + 1) if kinds else None

    def opening(self) -> _Opening:
        """Return the answers at the beginning, with hedges before and after them."""
        said: list[_Said] = []
        place, hedged = 0, False
        while place < len(self.texts):
            start = self.after_openers(place)
            phrase = self.phrase_at(start)
            hedge = self.hedge_at(start)
            if hedge and (phrase is None or start + hedge > phrase.end):
                place, hedged = start + hedge, True
            elif phrase is None or (said and phrase.kind == "negators" and not self.padding_only(phrase.end)):
                break  # "nein, nicht links": a comment, no second answer
            else:
                said.append(phrase)
                place = phrase.end
        return _Opening(tuple(said), place, hedged)

    def padding_only(self, start: int) -> bool:
        place = start
        while place < len(self.texts):
            exclaimed = self.agreement.exclamations.length_at(self.texts, place)
            if not exclaimed and self.texts[place] not in self.agreement.openers:
                return False
            place += exclaimed or 1
        return True

    def comma_after(self, phrase: _Said) -> bool:
        """Tell whether a mark stands between a phrase and the next word."""
        after = self.places[phrase.end - 1] + 1
        return after < len(self.reply.tokens) and self.reply.tokens[after].kind == "mark"

    def text_from(self, word: int) -> str:
        return self.reply.between(self.places[word], len(self.reply.tokens)) if word < len(self.places) else ""

    def is_negator(self, phrase: _Said) -> bool:
        return tuple(self.texts[phrase.first : phrase.end]) in self.agreement.negators

    def negations(self, start: int = 0) -> list[int]:
        """Return the places of words that negate."""
        found, place = [], start
        while place < len(self.texts):
            length = self.agreement.negators.length_at(self.texts, place)
            found += [place] if length else []
            place += length or 1
        return found


def _doubly_negated(said: Sequence[_Said], speech: _Speech) -> bool:
    """Tell whether a negation negates the next: "nicht nie"; "nie, nein" only says it twice."""
    return any(phrase.kind == "negators" and not speech.comma_after(phrase) for phrase in said[:-1])


def _with_rest(speech: _Speech, opening: _Opening) -> Reading:
    """Return the answer with the rest as comment, unless the rest speaks against it."""
    last = opening.said[-1]
    positive = last.kind in _POSITIVE
    negations = len(speech.negations(opening.end))
    if _against(speech, opening.end, positive=positive, negations=negations):
        return NotUnderstood("both yes and no", "contradiction")
    if positive:
        return _answer(True, literal=False, remainder=speech.text_from(opening.end))
    if last.kind == "maybe_no" and not speech.comma_after(last):
        return _sentence(speech) or NotUnderstood("a sentence that is no clear no")
    determines = speech.is_negator(last) and not speech.comma_after(last)
    if negations + determines > 1:
        return NotUnderstood("a double negation", "contradiction")
    # "Keine Allergien": without its first word the comment would say the opposite.
    return _answer(False, literal=False, remainder=speech.text_from(0 if determines else opening.end))


def _against(speech: _Speech, start: int, *, positive: bool, negations: int) -> bool:
    """Tell whether the words after an answer take it back: "nein, eigentlich schon", "ja, ich habe keine"."""
    phrase = speech.phrase_at(speech.after_openers(start))
    opposite = _NEGATIVE if positive else _POSITIVE
    if phrase and phrase.kind in opposite and phrase.kind != "negators":
        return True
    rest = speech.texts[start:]
    plainly = start > 0 and speech.texts[start - 1] in speech.agreement.plain_yes
    explained = rest[0] in speech.agreement.but or (plainly and speech.agreement.meta & set(rest))
    return positive and negations > 0 and not explained


def _sentence(speech: _Speech) -> Reading | None:
    """Read a short sentence with one negation as no: "ich rauche nicht", "I have never had one"."""
    negations = speech.negations()
    if not negations:
        return None
    if len(negations) > 1:
        return NotUnderstood("a double negation", "contradiction")
    first_person = speech.agreement.first_person & set(speech.texts)
    about_understanding = speech.agreement.meta & set(speech.texts)
    if len(speech.texts) > MAX_SENTENCE or not first_person or about_understanding or speech.asks:
        return NotUnderstood("a sentence that is no clear no")
    return _answer(False, literal=False, remainder=speech.text_from(0))


def _corrected(speech: _Speech) -> Reading:
    """Read a single word with a typing error."""
    if len(speech.texts) == 1 and len(speech.texts[0]) >= MIN_CORRECTED:
        for kind, value in (("yes", True), ("no", False)):
            known = [phrase[0] for phrase in getattr(speech.agreement, kind).all if len(phrase) == 1]
            if corrected(speech.texts[0], known):
                return _answer(value, literal=False)
    return NotUnderstood("no yes or no in the text")

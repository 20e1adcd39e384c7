"""Read yes or no, permission, how often something happens, and that somebody does not know or will not say. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.interview.reading.numbers import with_numbers
from bot.interview.reading.reading import DontKnow, NotUnderstood, Read, Reading, Refused
from bot.interview.reading.vocabulary import MIN_CORRECTED, Reply, Words, corrected, cut, squeeze, steps, words_for
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


def read_silence(reply: Reply, words: Words) -> DontKnow | Refused | None:
    """Return what a message means that says nothing but "I don't know" or "I won't say", once or more often."""
    core = _without_padding(reply.said, words)
    if not core:
        return DontKnow() if reply.tokens and all(token.text == "?" for token in reply.tokens) else None
    left = [reply.said[place] for place, (taken,) in steps(reply.said, words["learners"]) if not taken]
    learnt = len(left) < len(reply.said) and words["silence_padding"].issuperset(left)
    if learnt or all(taken for _, (taken,) in steps(core, words["dont_know"])):
        return DontKnow()
    return Refused() if all(taken for _, (taken,) in steps(core, words["refused"])) else None


def is_unknown(text: str, *, language: str) -> bool:
    """Tell whether a whole message says that somebody does not know: "Weiß nicht", "keine Ahnung"."""
    words = words_for(language)
    return isinstance(read_silence(cut(text, words.fold), words), DontKnow)


def hints_at_silence(reply: Reply, words: Words) -> DontKnow | Refused | None:
    """Return the same for a message that says it among other things, and not just in one word that may mean refusal."""
    core = _without_padding(reply.said, words)
    if words["dont_know"].within(core):
        return DontKnow()
    return Refused() if any(words["refused"].length_at(core, place) > 1 for place in range(len(core))) else None


def means_unknown(label: Sequence[str], words: Words) -> bool:
    """Tell whether a label, as folded words, stands for not knowing."""
    return " ".join(_without_padding(label, words)) in words["dont_know"] or " ".join(label) in words["unknown"]


def ends_unknown(label: Sequence[str], words: Words) -> bool:
    """Tell whether a label ends in not knowing: "Vielleicht, ich weiß es nicht"."""
    core = _without_padding(label, words)
    return any(" ".join(core[start:]) in words["dont_know"] for start in range(len(core)))


def means_refused(label: Sequence[str], words: Words) -> bool:
    """Tell whether a label, as folded words, stands for not saying."""
    return " ".join(_without_padding(label, words)) in words["refused"]


def beside_silence(text: str, *, language: str) -> str:
    """Return what a message says beside "I don't know" or "I won't say"; empty where it says no such thing, or no more.

    What such words govern is theirs: of "I don't know whether it hurt" nothing is left.
    """
    words = words_for(language)
    reply = cut(text, words.fold)
    tokens, padding = reply.tokens, words["silence_padding"]
    core = [place for place, token in enumerate(tokens) if token.kind != "mark" and token.text not in padding]
    texts = [tokens[place].text for place in core]
    left, start = list[str](), 0
    for place, lengths in steps(texts, words["dont_know"], words["refused"], words["learners"]):
        length = max(lengths)
        apart = length > max(lengths[:2]) and core[place + length - 1] - core[place] >= length
        if not length or apart:
            continue
        first, end = core[place], core[place + length - 1] + 1
        goes_on = end < len(tokens) and tokens[end].kind != "mark"
        wants = lengths[1] == length > lengths[0] and texts[place + length - 1] in words["negators"].single
        governs = "".join(texts[place + length : place + length + 1]) in words["governed"]
        if governs or (wants and goes_on):
            continue  # "I don't know whether", "I will not suffocate"
        while first > start and tokens[first - 1].text in padding:
            first -= 1
        left.append(reply.between(start, first))
        start = end
    return " ".join(filter(None, (*left, reply.between(start, len(tokens))))) if start else ""


def _without_padding(texts: Sequence[str], words: Words) -> list[str]:
    return [text for text in texts if text not in words["silence_padding"]]


def read_yes_no(text: str, *, language: str) -> Reading:
    """Read an answer to a yes-or-no question, such as "Is that right?"."""
    words = words_for(language)
    return read_boolean(cut(text, words.fold), words)


def read_boolean(reply: Reply, words: Words) -> Reading:
    """Read yes or no; what is said beyond it becomes the remainder. An exception is neither."""
    speech = _Speech(reply, words)
    reading = speech.read()
    if isinstance(reading, NotUnderstood) and reading.why != "vague":
        reading = speech.read_end() or reading
    if isinstance(reading, Read) and words["excepting"].within(reply.said):
        return NotUnderstood("yes or no with an exception", "contradiction")
    return reading


def read_leave(reply: Reply, words: Words) -> Read | None:
    """Read a permission that is given or kept back in words that say neither yes nor no elsewhere.

    "Kein Problem", "meinetwegen" and "I don't mind" give it; "lieber nicht" does not. Never literal.
    """
    speech = _Speech(reply, words)
    found = list(steps(speech.texts, words["leave"], words["no_leave"]))
    given = {leave > kept_back for _, (leave, kept_back) in found if leave or kept_back}
    rest = [speech.texts[place] for place, lengths in found if not any(lengths)]
    if len(given) != 1 or speech.asks or words["excepting"].within(rest) or not words["but"].isdisjoint(rest[1:]):
        return None
    allowed = given.pop()
    denied = any(words[name].within(rest) for name in ("negators", "no", "maybe_no"))
    if allowed and denied and words["plain_no"].issuperset(rest):
        # "No, I don't mind" gives leave; "no, go ahead" may mean either.
        return _answer(True) if speech.negations(len(rest)) else None
    against = denied if allowed else not words["plain_yes"].isdisjoint(rest)
    if against or (allowed and speech.goes_on_from_leave(rest)):
        return None
    return _answer(allowed, speech.text_from(0) if len(rest) > MANY_BESIDE else "")


def read_how_often(reply: Reply, words: Words) -> Read | None:
    """Read how often something happens as a yes: "alle zwei Jahre", "every other year", "immer brav gegangen"."""
    speech = _Speech(reply, words)
    texts = speech.texts
    unclear = speech.negations() or words["unclear"].within(texts) or speech.asks or len(texts) > MAX_SENTENCE
    if unclear or not words["meta"].isdisjoint(texts) or words["excepting"].within(texts):
        return None
    habit = words["always"] & set(texts) and words["attended"] & set(texts)
    often = habit or words["often"].within(texts) or speech.counts()
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
        self.places = [
            place for place, token in enumerate(reply.tokens) if token.kind != "mark" or token.text in _SMILEYS
        ]
        self.texts = [reply.tokens[place].text for place in self.places]
        self.asks = any(token.text == "?" for token in reply.tokens)

    def read(self) -> Reading:
        """Read an answer that comes first."""
        said, end = self._opening()
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
        if any(phrase.kind == "negators" and not self._comma_after(phrase.end) for phrase in said[:-1]):
            return _TWICE  # "nicht nie"; "nie, nein" only says it twice
        if not whole:
            return self._with_rest(said[-1], end)
        return _answer(not kinds & _NEGATIVE, literal=self._plainly())

    def _plainly(self) -> bool:
        """Tell whether a reply is a plain yes or no and nothing else: anything more is read back."""
        said = [token.text for token in self.reply.tokens if token.text not in (".", "!")]
        return len(said) == 1 and said[0] in self.words["plain_yes"] | self.words["plain_no"]

    def read_end(self) -> Reading | None:
        """Read an answer that comes last, after a comma: "still nursing, yes"."""
        if not self.texts or self.asks:
            return None
        *head, last = self.texts
        before, words = self.places[-1] - 1, self.words
        yes = last in words["plain_yes"]
        if before <= 0 or self.reply.tokens[before].kind != "mark" or not (yes or last in words["plain_no"]):
            return None
        against = ("no", "maybe_no", "negators") if yes else ("yes", "maybe_yes")
        denied = any(words[name].within(head) for name in (*against, "unclear", "hedges"))
        if denied or self.negations() > 1 + (not yes):
            return None
        return _answer(yes, self.reply.between(0, before))

    def _opening(self) -> tuple[list[_Said], int]:
        """Return the answers at the beginning, and where they end; hedges may stand around them."""
        said: list[_Said] = []
        place = 0
        while place < len(self.texts):
            start = self._after_openers(place)
            phrase = self._phrase_at(start)
            hedge = self.words["hedges"].length_at(self.texts, start)
            if hedge and (phrase is None or start + hedge > phrase.end):
                place = start + hedge
            elif phrase is None or (said and phrase.kind == "negators" and not self._padding_only(phrase.end)):
                break  # "nein, nicht links": a comment, no second answer
            else:
                said.append(phrase)
                place = phrase.end
        return said, place

    def _after_openers(self, place: int) -> int:
        """Return the place after words that only open an answer."""
        while place < len(self.texts) - 1:
            exclaimed = self.words["exclamations"].length_at(self.texts, place)
            phrase = self._phrase_at(place)
            after = place + (exclaimed or int(self.texts[place] in self.words["openers"]))
            says_more = phrase is not None and phrase.end > place + exclaimed
            hedged = self.words["hedges"].length_at(self.texts, place)
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
            end = place + self.words[kind].length_at(self.texts, place)
            if end > (best.end if best else place):
                best = _Said(kind, place, end)
        stretched = next((kind for kind in ("no", "yes") if squeeze(word) in self.words[kind]), "")
        return _Said(stretched, place, place + 1) if best is None and stretched else best

    def _padding_only(self, start: int) -> bool:
        rest, openers = self.texts[start:], self.words["openers"]
        return all(taken or rest[place] in openers for place, (taken,) in steps(rest, self.words["exclamations"]))

    def _comma_after(self, end: int) -> bool:
        """Tell whether a mark stands between the words up to `end` and the next one."""
        after = self.places[end - 1] + 1
        return after < len(self.reply.tokens) and self.reply.tokens[after].kind == "mark"

    def text_from(self, word: int) -> str:
        """Return what was written from a word on."""
        return self.reply.between(self.places[word], len(self.reply.tokens)) if word < len(self.places) else ""

    def negations(self, start: int = 0) -> int:
        """Return how many phrases negate, from a word on."""
        return sum(taken > 0 for _, (taken,) in steps(self.texts[start:], self.words["negators"]))

    def _with_rest(self, last: _Said, end: int) -> Reading:
        """Return the answer with the rest as comment, unless the rest speaks against it."""
        positive = last.kind in _POSITIVE
        negations = self.negations(end)
        if self._taken_back(end, positive=positive, negations=negations):
            return _BOTH
        if positive:
            return _answer(True, self.text_from(end))
        comma = self._comma_after(last.end)
        if last.kind == "maybe_no" and not comma:
            return self._sentence() or _NO_SENTENCE
        determines = not comma and " ".join(self.texts[last.first : last.end]) in self.words["negators"]
        if negations + determines > 1:
            return _TWICE
        # "Keine Allergien": without its first word the comment would say the opposite.
        return _answer(False, self.text_from(0 if determines else end))

    def _taken_back(self, start: int, *, positive: bool, negations: int) -> bool:
        """Tell whether words after an answer take it back: "nein, eigentlich schon", "ja, ich habe keine"."""
        phrase = self._phrase_at(self._after_openers(start))
        if phrase and phrase.kind in (_NEGATIVE if positive else _POSITIVE) and phrase.kind != "negators":
            return True
        rest, words = self.texts[start:], self.words
        plainly = start > 0 and self.texts[start - 1] in words["plain_yes"]
        explained = rest[0] in words["but"] or (plainly and not words["meta"].isdisjoint(rest))
        return positive and negations > 0 and not explained

    def _sentence(self) -> Reading | None:
        """Read a short sentence with one negation as no: "ich rauche nicht", "I have never had one"."""
        negations = self.negations()
        if negations != 1:
            return _TWICE if negations else None
        own = not self.words["first_person"].isdisjoint(self.texts) and self.words["meta"].isdisjoint(self.texts)
        clear = own and not self.asks and len(self.texts) <= MAX_SENTENCE
        return _answer(False, self.text_from(0)) if clear else _NO_SENTENCE

    def _corrected(self) -> Reading:
        """Read a single word with a typing error."""
        if len(self.texts) == 1 and len(self.texts[0]) >= MIN_CORRECTED:
            for kind in ("yes", "no"):
                if corrected(self.texts[0], self.words[kind].single):
                    return _answer(kind == "yes")
        return NotUnderstood("no yes or no in the text")

    def goes_on_from_leave(self, rest: Sequence[str]) -> bool:
        """Tell whether what seems to give leave goes on to something else: "können Sie das löschen"."""
        words = self.words
        first = words["leave"].length_at(self.texts, 0)
        if not 0 < first <= MOST_OPENING or self._comma_after(first):
            return False
        known = words["harmless"] | words["weak"] | words["openers"]
        known |= {word for phrase in words["yes"] | words["all"] for word in phrase.split()}
        return not known.issuperset(rest)

    def counts(self) -> bool:
        """Tell whether a reply says "every two years" or "three times"."""
        words, small = self.words, self.words.tables["small"]
        starts = {token.start for token in with_numbers(self.reply, words).tokens if token.numeric}
        counted = [self.reply.tokens[place].start in starts for place in self.places]
        for place, text in enumerate(self.texts):
            one, two = [*self.texts[place + 1 : place + 3], "", ""][:2]
            if text in words["every"] and (one in words.spans or (two in words.spans and counted[place + 1])):
                return True
            if counted[place] and one in words["so_many_times"]:
                return True
            # "Dreimal" counts, and is no number to choose by; "einmal" may only mean "ever".
            if small.get(text, 0) > 1 and text in words["counting"]:
                return True
        return False

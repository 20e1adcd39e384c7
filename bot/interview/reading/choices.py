"""Options, picked by number, label, code or part of a label. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from bot.interview.reading.labels import EQUAL, Folded, Labels, texts_of
from bot.interview.reading.no_answer import ends_unknown, means_refused, means_unknown, one_word, read_silence
from bot.interview.reading.numbers import with_numbers
from bot.interview.reading.pieces import MAX_PIECES, Picked, Piece, cut_pieces, merged, pick
from bot.interview.reading.plain_text import read_text
from bot.interview.reading.reading import Ambiguous, Asked, DontKnow, NotUnderstood, Option, Read, Reading, Refused
from bot.interview.reading.tokens import Reply, cut
from bot.interview.reading.vocabulary import Words
from bot.interview.reading.yesno import read_boolean, read_how_often

_NEGATED = NotUnderstood("an option that is negated", "negated")


def read_choice(raw: str, reply: Reply, asked: Asked, words: Words) -> Reading:
    """Read options; free text too where the question is open."""
    spelled = with_numbers(reply, words.positions)
    labels, said = Labels(asked.options, words), read_boolean(reply, words)
    choosing = _Choosing(raw, reply, spelled, texts_of(spelled.tokens), said, asked, words, labels)
    return (
        choosing.called_just_so()
        or choosing.unanswered()
        or choosing.yes_no(alone=True)
        or choosing.none_or_all()
        or choosing.by_pieces()
    )


def asks_yes_no(asked: Asked, words: Words) -> bool:
    """Tell whether a question asks for yes or no, be it by a list that has both and perhaps "I don't know"."""
    if asked.type == "boolean":
        return True
    labels = [words.fold(option.labels[0]) for option in asked.options if option.labels]
    both = (words.agreement.plain_yes, words.agreement.plain_no)
    others = [label for label in labels if not any(label in plain for plain in both)]
    return asked.type == "choice" and all(any(label in plain for label in labels) for plain in both) and len(others) < 2


@dataclass(frozen=True, slots=True)
class _Choosing:
    """A reply and the list it chooses from; each method reads it in one way, or returns None."""

    raw: str  # the reply as typed
    reply: Reply  # its pieces
    spelled: Reply  # the same with number words merged
    texts: Folded  # what counts of those when labels are compared
    said: Reading  # what the reply means as a yes or no
    asked: Asked
    words: Words
    labels: Labels

    def _read(self, places: Iterable[int], *, literal: bool = False, remainder: str = "") -> Read:
        return Read(tuple(self.asked.options[place].answer for place in places), literal, remainder)

    def _one_of(self, places: Sequence[int]) -> Reading | None:
        """Return the single option, to be read back, or that it could be several; None for none."""
        if len(places) > 1:
            return Ambiguous(tuple(self.asked.options[place] for place in sorted(set(places))))
        return self._read(places) if places else None

    def _places(self, fits: Callable[[tuple[Folded, ...]], object]) -> list[int]:
        """Return the options whose labels fit; the first of them is the one that is shown."""
        return [place for place, names in enumerate(self.labels.all) if names and fits(names)]

    def called_just_so(self) -> Reading | None:
        """Return the option whose whole label, code or prefix was written."""
        places = self.labels.same(self.texts) if self.texts else ()
        if len(places) != 1:
            return self._one_of(places)
        number = self.texts[0] if len(self.texts) == 1 and self.texts[0].isdecimal() else ""
        listed = int(number) - 1 if 0 < len(number) < 5 else -1
        if listed == places[0] or not 0 <= listed < len(self.asked.options):
            return self._read(places, literal=True)
        # The number of another option: what is shown may be meant by it, a code that nobody sees is not.
        return self._one_of([listed, *places]) if self.labels.shown_as(self.texts) == places else None

    def unanswered(self) -> Reading | None:
        """Return "don't know" or "won't say", as the option that says so where there is one."""
        silence, words = read_silence(self.reply, self.words), self.words
        if silence is None:
            return None
        means = means_unknown if isinstance(silence, DontKnow) else means_refused
        saying = self._places(lambda names: any(means(name, words) for name in names))
        if not saying and isinstance(silence, DontKnow):
            saying = self._places(lambda names: ends_unknown(names[0], words))  # "Vielleicht, ich weiß es nicht"
        if saying:
            return self._one_of(saying)
        named = self.labels.fit(self.texts)  # "das ist privat", of a ward
        if named and len(named.options) == 1 and (isinstance(silence, Refused) or named.likeness == EQUAL):
            return self._read(named.options)
        own_word = isinstance(silence, Refused) and self.asked.type == "open-choice" and one_word(self.reply)
        return None if own_word else silence

    def yes_no(self, *, alone: bool) -> Reading | None:
        """Return the option called yes or no, for "jo" or "noch nie"; with `alone`, only if nothing else was said."""
        said, plain_yes = self.said, self.words.agreement.plain_yes
        if not isinstance(said, Read) or (alone and said.remainder):
            return None
        affirmed = self._affirmed(said)
        if affirmed or said.answers[0].value is not True:
            return affirmed
        # Without "but", for "ja", "Ja, links" is one of several.
        opened = self._places(lambda names: names[0] and names[0][0] in plain_yes and not self.words.negates(names[0]))
        if len(opened) == 1 and not alone:
            return self._read(opened, remainder=said.remainder)  # "still nursing, yes": "Ja, ich stille"
        return (
            self._one_of(opened)
            if self.words.choices.weak.issuperset(cut(said.remainder, self.words.fold).said)
            else None
        )

    def _affirmed(self, said: Read) -> Reading | None:
        """Return the one option that is called plainly what was said, yes or no."""
        value = said.answers[0].value is True
        places = [place for place, option in enumerate(self.asked.options) if self._says(option, value)]
        return self._read(places, literal=said.literal, remainder=said.remainder) if len(places) == 1 else None

    def _says(self, option: Option, value: bool) -> bool:
        """Tell whether an option is called plainly yes, or no; "Right" may be a side."""
        plain = self.words.agreement.plain_yes if value else self.words.agreement.plain_no
        return bool(option.labels) and self.words.fold(option.labels[0]) in plain

    def none_or_all(self) -> Reading | None:
        """Read "keine davon" and "alle"."""
        texts, said, choices = self.spelled.said, self.said, self.words.choices
        while len(texts) > 1 and texts[0] in self.words.agreement.openers:
            texts = texts[1:]
        negative = isinstance(said, Read) and said.answers[0].value is False and not said.remainder
        if tuple(texts) in choices.none or (negative and not self._names_one()):
            nothing = Read((), literal=False) if self.asked.repeats else None
            return self._one_of(self._none_options()) or nothing
        if tuple(texts) not in choices.all or self.labels.fit(texts):
            return None
        free = [place for place, option in enumerate(self.asked.options) if not option.exclusive]
        return self._read(free) if self.asked.repeats and free else None

    def _names_one(self) -> bool:
        """Tell whether the very words stand in just one label: "im Moment nicht" is more than "no" there."""
        if self.labels.same(self.texts):
            return True
        named = self.labels.fit(self.texts) if len(self.texts) > 1 else None
        return named is not None and named.likeness == EQUAL and len(named.options) == 1

    def _none_options(self) -> Sequence[int]:
        """Return the options that mean none of the others."""
        words = self.words
        refusing = (words.agreement.negators, words.agreement.no, words.agreement.maybe_no)
        called = self._places(lambda names: any(name in words.choices.none for name in names))
        negative = [
            place
            for place in self._places(lambda names: any(phrases.length_at(names[0], 0) for phrases in refusing))
            if not means_unknown(self.labels.all[place][0], words)
        ]
        return called or [place for place in negative if self.asked.options[place].exclusive] or negative

    def by_pieces(self) -> Reading:
        """Read options by what stands between commas and "and"s."""
        words, said = self.words, self.said
        pieces = cut_pieces(self.spelled, words)
        if len(pieces) > MAX_PIECES:
            return NotUnderstood("too many parts for a choice", "not-listed")
        # "Außer Atem" is itself about an exception, as far as its words go.
        if words.excepts(self.texts) and not any(words.excepts(name) for names in self.labels.all for name in names):
            return NotUnderstood("an exception, not an option", "negated")
        telling = [text for text in self.texts if text not in words.around.joins]
        part = self.labels.part_of_one(telling) if len(pieces) > 1 else ()
        if part:
            return self._read(part)
        picked = pick(merged(pieces, self.spelled, self.labels), self.labels)
        reading = self._picked(picked)
        if self.asked.type == "open-choice":
            return self._open(reading, picked)
        if isinstance(reading, Read) and self._only_yes_no(picked.chosen):
            # "ja, früher": the list asks for yes or no, and this is neither.
            return said if isinstance(said, NotUnderstood) and said.why in ("vague", "contradiction") else reading
        elsewhere = not picked.attempt or picked.problem or words.only_denies(self.reply.said)
        if isinstance(reading, NotUnderstood) and elsewhere:
            # "Ja, 2025": a number beyond the list is no position, but a comment; "alle zwei Jahre" is a yes.
            often = read_how_often(self.reply, words)
            return self.yes_no(alone=False) or (self._affirmed(often) if often else None) or reading
        return reading

    def _only_yes_no(self, places: Sequence[int]) -> bool:
        options = [self.asked.options[place] for place in places]
        return bool(options) and all(self._says(option, True) or self._says(option, False) for option in options)

    def _picked(self, picked: Picked) -> Reading:
        """Return the options picked, if they go together and nothing denies them."""
        if picked.problem:
            return picked.problem
        if picked.taken_back or set(picked.denied) & {*picked.chosen, *picked.unclear}:
            return _NEGATED
        options = self.asked.options
        said = {token.text for token in self.spelled.tokens}
        if picked.unclear or (len(picked.chosen) > 1 and (not self.asked.repeats or said & self.words.around.either)):
            return Ambiguous(tuple(options[place] for place in sorted({*picked.unclear, *picked.chosen})))
        if not picked.chosen:
            negated = picked.attempt and any(self.words.negates(piece.texts) for piece in picked.strange)
            return _NEGATED if negated else NotUnderstood("no option of the list", "not-listed")
        if len(picked.chosen) > 1 and any(options[place].exclusive for place in picked.chosen):
            return NotUnderstood("an option that rules out the others, together with others", "exclusive")
        literal = picked.literal and not picked.strange and "?" not in said
        return self._read(picked.chosen, literal=literal, remainder="; ".join(map(self._text, picked.strange)))

    def _text(self, piece: Piece) -> str:
        return self.spelled.between(piece.first, piece.end)

    def _open(self, reading: Reading, picked: Picked) -> Reading:
        """Return options, the patient's own words, or both: "links und Achselhöhle"."""
        if isinstance(reading, Read):
            return self._with_own_words(reading, picked) if self.asked.repeats and picked.strange else reading
        if not isinstance(reading, NotUnderstood) or reading.why == "exclusive":
            return reading
        own = read_text(self.raw, self.asked)
        attempt = picked.attempt or any(self.labels.resembles(piece.texts) for piece in picked.strange)
        return replace(own, literal=not attempt) if isinstance(own, Read) else own

    def _with_own_words(self, reading: Read, picked: Picked) -> Reading:
        """Return options and, for pieces that are none, text."""
        answers = list(reading.answers)
        for piece in picked.strange:
            if self._text(piece) and not piece.comment:
                own = read_text(self._text(piece), self.asked)
                if not isinstance(own, Read):
                    return own
                answers += own.answers
        comments = "; ".join(self._text(piece) for piece in picked.strange if piece.comment)
        return Read(tuple(answers), literal=False, remainder=comments)

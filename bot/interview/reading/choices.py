"""Options, picked by number, label, code or part of a label. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bot.interview.reading.labels import EQUAL, Folded, Labels, texts_of
from bot.interview.reading.no_answer import ends_unknown, means_refused, means_unknown, one_word, read_silence
from bot.interview.reading.numerals import number_tokens
from bot.interview.reading.pieces import MAX_PIECES, Picked, Piece, cut_pieces, merged, pick
from bot.interview.reading.plain_text import read_text
from bot.interview.reading.reading import Ambiguous, Asked, DontKnow, NotUnderstood, Option, Read, Reading, Refused
from bot.interview.reading.tokens import Reply, cut
from bot.interview.reading.vocabulary import Words
from bot.interview.reading.yesno import excepts, negates, only_denies, read_boolean, read_how_often
from bot.interview.values.answer import Answer


def read_choice(raw: str, reply: Reply, asked: Asked, words: Words) -> Reading:
    """Read options; free text too where the question is open."""
    spelled = Reply(reply.text, number_tokens(reply.tokens, words.positions))
    choosing = _Choosing(raw, reply, spelled, asked, words, Labels(asked.options, words))
    return (
        choosing.called_just_so()
        or choosing.unanswered()
        or choosing.yes_no(alone=True)
        or choosing.none_or_all()
        or choosing.by_pieces()
    )


@dataclass(frozen=True, slots=True)
class _Choosing:
    """A reply and the list it chooses from; each method reads it in one way, or returns None.

    Attributes:
        raw: The reply as typed.
        reply: Its pieces.
        spelled: The same with number words merged.
    """

    raw: str
    reply: Reply
    spelled: Reply
    asked: Asked
    words: Words
    labels: Labels

    @property
    def texts(self) -> Folded:
        return texts_of(self.spelled.tokens)

    def read(self, places: Iterable[int], *, literal: bool, remainder: str = "") -> Read:
        return Read(tuple(self.asked.options[place].answer for place in places), literal, remainder)

    def one_of(self, places: Sequence[int]) -> Reading | None:
        """Return the single option, to be read back, or that it could be several; None for none."""
        if len(places) > 1:
            return Ambiguous(tuple(self.asked.options[place] for place in sorted(set(places))))
        return self.read(places, literal=False) if places else None

    def called_just_so(self) -> Reading | None:
        """Return the option whose whole label, code or prefix was written."""
        places = self.labels.same(self.texts) if self.texts else ()
        if len(places) != 1:
            return self.one_of(places)
        alone = self.texts[0] if len(self.texts) == 1 and self.texts[0].isdecimal() else ""
        listed = bool(alone) and len(alone) < 5 and 1 <= int(alone) <= len(self.asked.options)
        if not listed or int(alone) - 1 == places[0]:
            return self.read(places, literal=True)
        # The number of another option: what is shown may be meant by it, a code that nobody sees is not.
        return self.one_of([int(alone) - 1, *places]) if self.labels.shown_as(self.texts) == places else None

    def unanswered(self) -> Reading | None:
        """Return "don't know" or "won't say", as the option that says so where there is one."""
        silence = read_silence(self.reply, self.words)
        if silence is None:
            return None
        means = means_unknown if isinstance(silence, DontKnow) else means_refused
        saying = [
            place for place, names in enumerate(self.labels.all) if any(means(name, self.words) for name in names)
        ]
        if not saying and isinstance(silence, DontKnow):
            # "Vielleicht, ich weiß es nicht"
            saying = [
                place for place, names in enumerate(self.labels.all) if names and ends_unknown(names[0], self.words)
            ]
        if saying:
            return self.one_of(saying)
        named = self.labels.fit(self.texts)  # "das ist privat", of a ward
        if named and len(named.options) == 1 and (isinstance(silence, Refused) or named.likeness == EQUAL):
            return self.read(named.options, literal=False)
        own_word = isinstance(silence, Refused) and self.asked.type == "open-choice" and one_word(self.reply)
        return None if own_word else silence

    def yes_no(self, *, alone: bool) -> Reading | None:
        """Return the option called yes or no, for "jo" or "noch nie"; with `alone`, only if nothing else was said."""
        said = read_boolean(self.reply, self.words)
        if not isinstance(said, Read) or (alone and said.remainder):
            return None
        affirmed = self._affirmed(said)
        if affirmed:
            return affirmed
        more = [text for text in cut(said.remainder, self.words.fold).tokens if text.kind != "mark"]
        silent = all(token.text in self.words.choices.weak for token in more)
        opened = self._opened_by_yes() if said.answers[0].value is True else ()
        if len(opened) == 1 and not alone:
            return self.read(opened, literal=False, remainder=said.remainder)  # "still nursing, yes": "Ja, ich stille"
        return self.one_of(opened) if silent else None

    def _affirmed(self, said: Read) -> Reading | None:
        """Return the one option that is called plainly what was said, yes or no."""
        value = said.answers[0].value is True
        places = [place for place, option in enumerate(self.asked.options) if self._says(option, value)]
        if len(places) != 1:
            return None
        return self.read(places, literal=said.literal, remainder=said.remainder)

    def _opened_by_yes(self) -> Sequence[int]:
        """Return the options that begin with yes and say no "but": for "ja", "Ja, links" is one of several."""
        return [
            place
            for place, names in enumerate(self.labels.all)
            if names and names[0][:1] and names[0][0] in self.words.agreement.plain_yes
            if not negates(names[0], self.words)
        ]

    def _says(self, option: Option, value: bool) -> bool:
        """Tell whether an option is called plainly yes, or no; "Right" may be a side."""
        plain = self.words.agreement.plain_yes if value else self.words.agreement.plain_no
        return bool(option.labels) and self.words.fold(option.labels[0]) in plain

    def none_or_all(self) -> Reading | None:
        """Read "keine davon" and "alle"."""
        texts = [token.text for token in self.spelled.tokens if token.kind != "mark"]
        while len(texts) > 1 and texts[0] in self.words.agreement.openers:
            texts = texts[1:]
        said = read_boolean(self.reply, self.words)
        negative = isinstance(said, Read) and said.answers[0].value is False and not said.remainder
        if tuple(texts) in self.words.choices.none or (negative and not self._names_one()):
            nothing = Read((), literal=False) if self.asked.repeats else None
            return self.one_of(self._none_options()) or nothing
        if tuple(texts) not in self.words.choices.all or self.labels.fit(texts):
            return None
        free = [place for place, option in enumerate(self.asked.options) if not option.exclusive]
        return self.read(free, literal=False) if self.asked.repeats and free else None

    def _names_one(self) -> bool:
        """Tell whether the very words stand in just one label: "im Moment nicht" is more than "no" there."""
        if self.labels.same(self.texts):
            return True
        named = self.labels.fit(self.texts) if len(self.texts) > 1 else None
        return named is not None and named.likeness == EQUAL and len(named.options) == 1

    def _none_options(self) -> Sequence[int]:
        """Return the options that mean none of the others."""
        names = list(enumerate(self.labels.all))
        called = [place for place, labels in names if any(label in self.words.choices.none for label in labels)]
        agreement = self.words.agreement
        refusing = (agreement.negators, agreement.no, agreement.maybe_no)
        shown = [(place, labels[0]) for place, labels in names if labels and not means_unknown(labels[0], self.words)]
        negative = [place for place, label in shown if any(phrases.length_at(label, 0) for phrases in refusing)]
        exclusive = [place for place in negative if self.asked.options[place].exclusive]
        return called or exclusive or negative

    def by_pieces(self) -> Reading:
        """Read options by what stands between commas and "and"s."""
        pieces = cut_pieces(self.spelled, self.words)
        if len(pieces) > MAX_PIECES:
            return NotUnderstood("too many parts for a choice", "not-listed")
        if excepts(self.texts, self.words) and not self._excepts_itself():
            return NotUnderstood("an exception, not an option", "negated")
        telling = [text for text in self.texts if text not in self.words.around.joins]
        part = self.labels.part_of_one(telling) if len(pieces) > 1 else ()
        if part:
            return self.read(part, literal=False)
        picked = pick(merged(pieces, self.spelled, self.labels), self.labels, self.words)
        reading = self._picked(picked)
        if self.asked.type == "open-choice":
            return self._open(reading, picked)
        said = read_boolean(self.reply, self.words)
        if isinstance(reading, Read) and self._only_yes_no(picked.chosen):
            # "ja, früher": the list asks for yes or no, and this is neither.
            return said if isinstance(said, NotUnderstood) and said.why in ("vague", "contradiction") else reading
        texts = [token.text for token in self.reply.tokens if token.kind != "mark"]
        elsewhere = not picked.attempt or picked.problem or only_denies(texts, self.words)
        if isinstance(reading, NotUnderstood) and elsewhere:
            # "Ja, 2025": a number beyond the list is no position, but a comment.
            return self.yes_no(alone=False) or self.by_frequency() or reading
        return reading

    def by_frequency(self) -> Reading | None:
        """Return the option called yes for "alle zwei Jahre"."""
        often = read_how_often(self.reply, self.words)
        return self._affirmed(often) if often else None

    def _only_yes_no(self, places: Sequence[int]) -> bool:
        options = [self.asked.options[place] for place in places]
        return bool(options) and all(self._says(option, True) or self._says(option, False) for option in options)

    def _excepts_itself(self) -> bool:
        """Tell whether an option is itself about an exception, as far as its words go: "Außer Atem"."""
        return any(excepts(label, self.words) for labels in self.labels.all for label in labels)

    def _picked(self, picked: Picked) -> Reading:
        """Return the options picked, if they go together and nothing denies them."""
        if picked.problem:
            return picked.problem
        if picked.taken_back or set(picked.denied) & {*picked.chosen, *picked.unclear}:
            return NotUnderstood("an option that is negated", "negated")
        either = any(token.text in self.words.around.either for token in self.spelled.tokens)
        if picked.unclear or (len(picked.chosen) > 1 and (either or not self.asked.repeats)):
            both = sorted({*picked.unclear, *picked.chosen})
            return Ambiguous(tuple(self.asked.options[place] for place in both))
        if not picked.chosen:
            negated = picked.attempt and any(negates(piece.texts, self.words) for piece in picked.strange)
            return (
                NotUnderstood("an option that is negated", "negated")
                if negated
                else NotUnderstood("no option of the list", "not-listed")
            )
        if len(picked.chosen) > 1 and any(self.asked.options[place].exclusive for place in picked.chosen):
            return NotUnderstood("an option that rules out the others, together with others", "exclusive")
        asks = any(token.text == "?" for token in self.spelled.tokens)
        remainder = "; ".join(self._text(piece) for piece in picked.strange)
        return self.read(picked.chosen, literal=picked.literal and not picked.strange and not asks, remainder=remainder)

    def _text(self, piece: Piece) -> str:
        return self.spelled.between(piece.first, piece.end)

    def _open(self, reading: Reading, picked: Picked) -> Reading:
        """Return options, the patient's own words, or both."""
        if isinstance(reading, Read):
            return self._with_own_words(reading, picked) if self.asked.repeats and picked.strange else reading
        if not isinstance(reading, NotUnderstood) or reading.why == "exclusive":
            return reading
        own = read_text(self.raw, self.asked)
        attempt = picked.attempt or any(self.labels.resembles(piece.texts) for piece in picked.strange)
        return replace(own, literal=not attempt) if isinstance(own, Read) else own

    def _with_own_words(self, reading: Read, picked: Picked) -> Reading:
        """Return options and, for pieces that are none, text: "links und Achselhöhle"."""
        parts = [piece for piece in picked.strange if self._text(piece) and not piece.comment]
        own = [read_text(self._text(piece), self.asked) for piece in parts]
        problem = next((item for item in own if isinstance(item, NotUnderstood)), None)
        if problem:
            return problem
        answers = tuple(answer for item in own if isinstance(item, Read) for answer in item.answers)
        comments = "; ".join(self._text(piece) for piece in picked.strange if piece.comment)
        return Read(reading.answers + answers, literal=False, remainder=comments)


def asks_yes_no(asked: Asked, words: Words) -> bool:
    """Tell whether a question asks for yes or no, be it by a list that has both and perhaps "I don't know"."""
    if asked.type == "boolean":
        return True
    labels = [words.fold(option.labels[0]) for option in asked.options if option.labels]
    both = (words.agreement.plain_yes, words.agreement.plain_no)
    others = [label for label in labels if not any(label in plain for plain in both)]
    return asked.type == "choice" and all(any(label in plain for label in labels) for plain in both) and len(others) < 2


def option_of(answer: Answer, options: Sequence[Option]) -> Option | None:
    """Return the option that an answer is, or None for the patient's own words."""
    return next((option for option in options if option.answer == answer), None)

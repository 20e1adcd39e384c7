"""Cut a reply into the pieces that may each name an option, and pick what they name. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bot.interview.reading.labels import EQUAL, Fit, Folded, Labels, texts_of
from bot.interview.reading.reading import NotUnderstood
from bot.interview.reading.tokens import Reply, Token
from bot.interview.reading.vocabulary import Words

MAX_PIECES = 60
MAX_MERGED = 5  # pieces that may belong to one label with commas in it
_ENDS = frozenset(".:!")  # they end a piece only before a space: "z.B." is one


@dataclass(frozen=True, slots=True)
class Piece:
    """Tokens from `first` up to `end`; `after` is what ends them; a comment belongs to an option that was named."""

    first: int
    end: int
    tokens: tuple[Token, ...]
    after: str = ""
    comment: bool = False

    @property
    def texts(self) -> Folded:
        return texts_of(self.tokens)


def cut_pieces(reply: Reply, words: Words) -> list[Piece]:
    """Return the pieces of a reply: what stands between commas, "and"s and bare numbers."""
    tokens = reply.tokens
    pieces: list[Piece] = []
    start = 0
    for place, token in enumerate(tokens):
        if _separates(tokens, place, words):
            pieces.append(Piece(start, place, tokens[start:place], token.text))
            start = place + 1
        elif place > start and token.numeric and tokens[place - 1].numeric and not token.glued:
            pieces.append(Piece(start, place, tokens[start:place]))  # "1 3"
            start = place
    pieces.append(Piece(start, len(tokens), tokens[start:]))
    return [piece for piece in pieces if piece.texts]


def _separates(tokens: Sequence[Token], place: int, words: Words) -> bool:
    token = tokens[place]
    if token.text == "." and place and tokens[place - 1].text in words.choices.number_pads:
        return False  # "Nr. 3"
    if token.kind == "mark" and token.text in _ENDS:
        return place + 1 == len(tokens) or not tokens[place + 1].glued
    return token.text in words.around.joins or token.text in words.around.either


def merged(pieces: Sequence[Piece], reply: Reply, labels: Labels) -> list[Piece]:
    """Return the pieces, those put together that make up one label: "Ja, links"."""
    result: list[Piece] = []
    start = 0
    while start < len(pieces):
        for end in range(min(len(pieces), start + MAX_MERGED), start, -1):
            first, last = pieces[start], pieces[end - 1]
            whole = Piece(first.first, last.end, reply.tokens[first.first : last.end], last.after)
            if end == start + 1 or labels.same(whole.texts):
                result.append(whole)
                start = end
                break
    return result


@dataclass(frozen=True, slots=True)
class _Position:
    """A place in a list, from 1; `bare` when only a number was written, which may also be part of a label."""

    number: int
    bare: bool


def _position_of(tokens: Sequence[Token], count: int, words: Words) -> _Position | None:
    """Return the place that some tokens name, or None when they say anything else."""
    names = words.choices
    around = names.number_pads | words.around.joins
    said = [token for token in tokens if token.kind != "mark" and not (token.kind == "word" and token.text in around)]
    if len(said) == 2 and said[1].kind == "number" and said[1].value == 1:
        counted = said[0].kind == "ordinal" or said[0].text in names.last
        said = said[:1] if counted else said  # "the second one"
    if len(said) != 1 or any(token.text in ("-", "%", "<", ">") for token in tokens):
        return None
    token = said[0]
    if token.kind == "word" and token.text in names.last:
        return _Position(count, bare=False)
    value = None if token.kind == "article" else token.value
    if value is None or value != value.to_integral_value() or value > 10**6:
        return None
    called = any(each.kind == "word" and each.text in names.number_pads for each in tokens)
    return _Position(int(value), bare=token.kind != "ordinal" and not called)


@dataclass(slots=True)
class Picked:
    """What the pieces of a reply came to."""

    labels: Labels
    words: Words
    chosen: list[int] = field(default_factory=list)  # places of options, in the order in which they were named
    unclear: list[int] = field(default_factory=list)  # places of options that a piece fits alike
    strange: list[Piece] = field(default_factory=list)  # pieces that are no option
    literal: bool = True  # whether everything was said in so many words
    attempt: bool = False  # whether the patient tried to name options
    denied: list[int] = field(default_factory=list)  # places of options that were named as not being the case
    taken_back: bool = False  # whether something denies what was named: "Aspirin, das nehme ich nicht"
    problem: NotUnderstood | None = None  # why nothing can be picked

    def take(self, piece: Piece, *, left: int) -> None:
        """Take one piece, after which so many are left."""
        if piece.after == ":" and left and self._heads(piece, left):
            self.literal = False
        elif not self._by_number(piece):
            self._by_label(piece)

    def _heads(self, piece: Piece, left: int) -> bool:
        """Tell whether a piece only announces what follows: "zwei: 1 und 3", "alles: Biopsie, Bestrahlung"."""
        position = _position_of(piece.tokens, 0, self.words)
        counts = position is not None and position.number == left > 0
        return counts or not (self.labels.fit(piece.texts) or self.words.negates(piece.texts))

    def _choose(self, places: Sequence[int], *, literal: bool) -> None:
        """Add the option of a piece, or the options it may mean."""
        self.attempt = True
        if len(places) > 1:
            self.unclear += [place for place in places if place not in self.unclear]
            return
        self.chosen += [place for place in places if place not in self.chosen]
        self.literal = self.literal and literal

    def _by_number(self, piece: Piece) -> bool:
        """Pick the option at the position a piece names; labels that hold the number themselves come first."""
        labels, count = self.labels, len(self.labels.all)
        position = _position_of(piece.tokens, count, self.words)
        same = labels.same(piece.texts)
        if position is None or (same and not position.bare):
            return False
        place = position.number - 1
        # What is shown with a number of its own may be meant by it; an unseen code only where there is no place.
        own = [other for other in labels.with_word(str(position.number)) if other != place] if position.bare else []
        if 0 <= place < count:
            sure = not (position.bare and labels.own_numbers) or labels.shown_as(piece.texts) == (place,)
            self._choose([place, *own], literal=sure and (not same or place in same))
        elif same or own:
            self._choose(same or own, literal=bool(same))
        else:
            self.attempt = True
            self.problem = NotUnderstood(f"a number that is not in the list of {count}", "not-listed")
        return True

    def _by_label(self, piece: Piece) -> None:
        texts, words = piece.texts, self.words
        fit = self.labels.fit(texts)
        if fit is None:
            spoken = self._unpadded(texts)
            shorter = len(spoken) < len(texts) and words.negates(spoken) == words.negates(texts)
            fit = self.labels.fit(spoken) if spoken and shorter else None
            if fit is None:
                self._strange(piece, spoken)
                return
        strange = self._unpadded(fit.beyond)
        # More than a letter or the "Ja" of a longer label must be said to be taken literally.
        telling = any(len(text) > 2 for text in texts) and not _plain_answer(texts, words)
        self._choose(fit.options, literal=fit.likeness == EQUAL and (fit.whole or telling))
        if strange:
            self.strange.append(_comment(piece, fit))

    def _unpadded(self, texts: Sequence[str]) -> Folded:
        """Return the words that say more than an option does; hedges among the others leave nothing literal."""
        around, choices, agreement, labels = self.words.around, self.words.choices, self.words.agreement, self.labels
        padding = around.harmless | agreement.openers | choices.articles | self.words.numbers.articles
        padding = (padding | choices.number_pads) - labels.single | (choices.weak - labels.vocabulary)
        place, left = 0, []
        while place < len(texts):
            unsure = max(each.length_at(texts, place) for each in (around.hedges, choices.roughly, choices.enough))
            yes = agreement.yes.length_at(texts, place)
            yes = 0 if labels.vocabulary & set(texts[place : place + yes]) else yes  # "right" may be a side
            if not (unsure or yes or texts[place] in padding):
                left.append(texts[place])
            self.literal = self.literal and not unsure
            place += max(unsure, yes, 1)
        return tuple(left)

    def _strange(self, piece: Piece, spoken: Folded) -> None:
        """Take a piece that names no option: a comment, or one that denies an option or what was said before."""
        if not self.words.without_hedges(spoken):
            return
        if not self.words.negates(piece.texts):
            self.strange.append(piece)
            return
        rest = self.words.without_negation(spoken)
        denied = self.labels.fit(rest) if rest else None
        self.denied += denied.options if denied else ()
        self.taken_back |= denied is None and self.words.only_denies(piece.texts)
        self.attempt |= denied is not None or self.labels.resembles(spoken)
        self.strange.append(replace(piece, comment=denied is not None))  # "nicht rechts"


def pick(pieces: Sequence[Piece], labels: Labels) -> Picked:
    """Return what the pieces pick."""
    words = labels.words
    answers = [piece for piece in pieces if _only_answers(piece, labels)]
    others = [piece for piece in pieces if piece not in answers]
    picked = Picked(labels, words)
    for number, piece in enumerate(others or answers):
        picked.take(piece, left=len(others) - number - 1)
    if others and any(words.agreement.no.within(piece.texts) for piece in answers):
        picked.literal = False  # "nein, links"
    return pick(answers, labels) if others and answers and not picked.attempt else picked


def _only_answers(piece: Piece, labels: Labels) -> bool:
    """Tell whether a piece is but a yes or no in front of what was chosen: "ja, links"."""
    texts, agreement = piece.texts, labels.words.agreement
    if labels.same(texts):
        return False
    answer = texts in agreement.yes or texts in agreement.no
    return _plain_answer(texts, labels.words) or (answer and labels.fit(texts) is None)


def _plain_answer(texts: Folded, words: Words) -> bool:
    return texts in {(words.fold(words.wordings.yes),), (words.fold(words.wordings.no),)}


def _comment(piece: Piece, fit: Fit) -> Piece:
    """Return a piece without the words of the label at its ends: "Diabetes seit 2010" leaves "seit 2010"."""
    beyond = [place for place, token in enumerate(piece.tokens) if token.text in fit.beyond]
    first, end = (beyond[0], beyond[-1] + 1) if beyond else (len(piece.tokens), len(piece.tokens))
    return Piece(piece.first + first, piece.first + end, piece.tokens[first:end], comment=True)

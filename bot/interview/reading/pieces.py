"""Cut a reply into the pieces that may each name an option. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bot.interview.reading.labels import EQUAL, Fit, Folded, Labels, texts_of
from bot.interview.reading.reading import NotUnderstood
from bot.interview.reading.tokens import Reply, Token
from bot.interview.reading.vocabulary import Words
from bot.interview.reading.yesno import negates, only_denies, without_hedges, without_negation


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a list.

    Attributes:
        number: From 1.
        bare: Whether only a number was written, which may also be part of a label.
    """

    number: int
    bare: bool


def position_of(tokens: Sequence[Token], count: int, words: Words) -> Position | None:
    """Return the place that some tokens name, or None when they say anything else."""
    names = words.choices
    padded = _without_one([token for token in tokens if token.kind != "mark" and not _pads(token, words)], words)
    if len(padded) != 1 or any(token.text in ("-", "%", "<", ">") for token in tokens):
        return None
    token = padded[0]
    called = any(token.kind == "word" and token.text in names.number_pads for token in tokens)
    if token.kind == "word" and token.text in names.last:
        return Position(count, bare=False)
    if token.value is None or token.kind == "article" or token.value != token.value.to_integral_value():
        return None
    if token.value > 10**6:
        return None
    return Position(int(token.value), bare=token.kind != "ordinal" and not called)


def _without_one(tokens: Sequence[Token], words: Words) -> Sequence[Token]:
    """Return the tokens without "one" after an ordinal: "the second one"."""
    if len(tokens) == 2 and tokens[1].kind == "number" and tokens[1].value == 1:
        first = tokens[0]
        return tokens[:1] if first.kind == "ordinal" or first.text in words.choices.last else tokens
    return tokens


def _pads(token: Token, words: Words) -> bool:
    return token.kind == "word" and (token.text in words.choices.number_pads or token.text in words.around.joins)


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


@dataclass(slots=True)
class Picked:
    """What the pieces of a reply came to.

    Attributes:
        chosen: Places of options, in the order in which they were named.
        unclear: Places of options that a piece fits alike.
        strange: Pieces that are no option.
        literal: Whether everything was said in so many words.
        attempt: Whether the patient tried to name options.
        denied: Places of options that were named as not being the case.
        taken_back: Whether something denies what was named: "Aspirin, das nehme ich nicht".
        problem: Why nothing can be picked.
    """

    chosen: list[int] = field(default_factory=list)
    unclear: list[int] = field(default_factory=list)
    strange: list[Piece] = field(default_factory=list)
    literal: bool = True
    attempt: bool = False
    denied: list[int] = field(default_factory=list)
    taken_back: bool = False
    problem: NotUnderstood | None = None

    def choose(self, places: Sequence[int], *, literal: bool) -> None:
        """Add the option of a piece, or the options it may mean."""
        self.attempt = True
        if len(places) > 1:
            self.unclear += [place for place in places if place not in self.unclear]
            return
        self.chosen += [place for place in places if place not in self.chosen]
        self.literal = self.literal and literal


def cut_pieces(reply: Reply, words: Words) -> list[Piece]:
    """Return the pieces of a reply."""
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


def pick(pieces: Sequence[Piece], labels: Labels, words: Words) -> Picked:
    """Return what the pieces pick."""
    picked = Picked()
    answers = [piece for piece in pieces if _only_answers(piece, labels, words)]
    others = [piece for piece in pieces if piece not in answers]
    for number, piece in enumerate(others or answers):
        left = len(others) - number - 1
        heads = _counts(piece, left, words) or not (labels.fit(piece.texts) or negates(piece.texts, words))
        if piece.after == ":" and left and heads:
            picked.literal = False  # "zwei: 1 und 3", "alles: Biopsie, Bestrahlung"
        elif not _by_number(piece, labels, words, picked):
            _by_label(piece, labels, words, picked)
    if others and any(words.agreement.no.within(piece.texts) for piece in answers):
        picked.literal = False  # "nein, links"
    if others and not picked.attempt:
        return pick(answers, labels, words) if answers else picked
    return picked


def _only_answers(piece: Piece, labels: Labels, words: Words) -> bool:
    """Tell whether a piece is but a yes or no in front of what was chosen: "ja, links"."""
    texts = piece.texts
    plain = _plain_answer(texts, words)
    answer = any(texts in phrases for phrases in (words.agreement.yes, words.agreement.no))
    return not labels.same(texts) and (plain or (answer and labels.fit(texts) is None))


def _plain_answer(texts: Folded, words: Words) -> bool:
    return texts in {(words.fold(words.wordings.yes),), (words.fold(words.wordings.no),)}


def _counts(piece: Piece, remaining: int, words: Words) -> bool:
    position = position_of(piece.tokens, 0, words)
    return position is not None and remaining > 0 and position.number == remaining


def _by_number(piece: Piece, labels: Labels, words: Words, picked: Picked) -> bool:
    """Pick the option at the position a piece names; labels that hold the number themselves come first."""
    count = len(labels.all)
    position = position_of(piece.tokens, count, words)
    same = labels.same(piece.texts)
    if position is None or (same and not position.bare):
        return False
    place = position.number - 1
    listed = 0 <= place < count
    # What is shown with a number of its own may be meant by it; a code that nobody sees only where there is no place.
    own = [other for other in labels.with_word(str(position.number)) if other != place] if position.bare else []
    if listed:
        sure = not (position.bare and labels.own_numbers) or labels.shown_as(piece.texts) == (place,)
        sure = sure and (not same or place in same)
        picked.choose([place, *own], literal=sure)
    elif same or own:
        picked.choose(same or own, literal=bool(same))
    else:
        picked.attempt = True
        picked.problem = NotUnderstood(f"a number that is not in the list of {count}", "not-listed")
    return True


def _by_label(piece: Piece, labels: Labels, words: Words, picked: Picked) -> None:
    fit = labels.fit(piece.texts)
    if fit is None:
        spoken, literal = _unpadded(piece.texts, labels, words)
        picked.literal = picked.literal and literal
        shorter = len(spoken) < len(piece.texts) and negates(spoken, words) == negates(piece.texts, words)
        fit = labels.fit(spoken) if spoken and shorter else None
        if fit is None:
            _by_what_is_denied(piece, spoken, labels, words, picked)
            return
    strange, literal = _unpadded(fit.beyond, labels, words)
    picked.choose(fit.options, literal=literal and fit.likeness == EQUAL and _telling(fit, piece, words))
    if strange:
        picked.strange.append(_comment(piece, fit))


def _by_what_is_denied(piece: Piece, spoken: Folded, labels: Labels, words: Words, picked: Picked) -> None:
    """Take a piece that names no option: a comment, or one that denies an option or what was said before."""
    if not without_hedges(spoken, words):
        return
    if not negates(piece.texts, words):
        picked.strange.append(piece)
        return
    denied = labels.fit(without_negation(spoken, words)) if without_negation(spoken, words) else None
    picked.denied += denied.options if denied else ()
    picked.taken_back |= denied is None and only_denies(piece.texts, words)
    picked.attempt |= denied is not None or labels.resembles(spoken)
    picked.strange.append(replace(piece, comment=denied is not None))  # "nicht rechts"


def _telling(fit: Fit, piece: Piece, words: Words) -> bool:
    """Tell whether a text says enough to be taken literally: more than a letter or the "Ja" of a longer label."""
    return fit.whole or (any(len(text) > 2 for text in piece.texts) and not _plain_answer(piece.texts, words))


def _comment(piece: Piece, fit: Fit) -> Piece:
    """Return a piece without the words of the label at its ends: "Diabetes seit 2010" leaves "seit 2010"."""
    tokens = piece.tokens
    first, last = 0, len(tokens)
    while first < last and tokens[first].text not in fit.beyond:
        first += 1
    while last > first and tokens[last - 1].text not in fit.beyond:
        last -= 1
    return Piece(piece.first + first, piece.first + last, tokens[first:last], comment=True)


def _unpadded(texts: Sequence[str], labels: Labels, words: Words) -> tuple[Folded, bool]:
    """Return the words that say more than an option does, and whether the others leave it certain."""
    around, agreement = words.around, words.agreement
    harmless = around.harmless | agreement.openers | words.choices.articles | words.numbers.articles
    place, literal, left = 0, True, []
    while place < len(texts):
        unsure = max(around.hedges.length_at(texts, place), words.choices.roughly.length_at(texts, place))
        unsure = max(unsure, words.choices.enough.length_at(texts, place))
        yes = agreement.yes.length_at(texts, place)
        yes = 0 if labels.vocabulary & set(texts[place : place + yes]) else yes  # "right" may be a side
        pads = texts[place] in harmless | words.choices.number_pads and texts[place] not in labels.single
        pads = pads or (texts[place] in words.choices.weak and texts[place] not in labels.vocabulary)
        if not (unsure or yes or pads):
            left.append(texts[place])
        literal = literal and not unsure
        place += max(unsure, yes, 1)
    return tuple(left), literal

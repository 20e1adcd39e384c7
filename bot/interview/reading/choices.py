"""Read options, picked by number, label, code or part of a label. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from bot.interview.reading.labels import EQUAL, Folded, Labels, alike, texts_of
from bot.interview.reading.numbers import places_only, with_numbers
from bot.interview.reading.reading import (
    Ambiguous,
    Asked,
    DontKnow,
    NotUnderstood,
    Option,
    Read,
    Reading,
    Refused,
    own_words,
)
from bot.interview.reading.vocabulary import Reply, Token, Words, cut, text_at
from bot.interview.reading.yesno import (
    ends_unknown,
    means_refused,
    means_unknown,
    read_boolean,
    read_how_often,
    read_silence,
)
from bot.interview.values.answer import Answer

MAX_PIECES = 60
MAX_MERGED = 5  # pieces that may belong to one label with commas in it
_ENDS = frozenset(".:!")  # they end a piece only before a space: "z.B." is one
_LIST_MARKS = frozenset(".,;:!&+/")
_NEGATED = NotUnderstood("an option that is negated", "negated")


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
    """Return the pieces that may each name an option: what stands between commas, "and"s and bare numbers."""
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
    if token.text == "." and place and tokens[place - 1].text in words["place_padding"]:
        return False  # "Nr. 3"
    if token.kind == "mark" and token.text in _ENDS:
        return place + 1 == len(tokens) or not tokens[place + 1].glued
    return token.text in words["joins"] or token.text in words["either"]


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


def _position_of(tokens: Sequence[Token], count: int, words: Words) -> tuple[int, bool] | None:
    """Return the place in a list, from 1, that some tokens name, or None when they say anything else.

    With it, whether only a number was written, which may also be part of a label.
    """
    around = words["place_padding"] | words["joins"]
    said = [token for token in tokens if token.kind != "mark" and not (token.kind == "word" and token.text in around)]
    if len(said) == 2 and said[1].kind == "number" and said[1].value == 1:
        counted = said[0].kind == "ordinal" or said[0].text in words["last_place"]
        said = said[:1] if counted else said  # "the second one"
    if len(said) != 1 or any(token.text in ("-", "%", "<", ">") for token in tokens):
        return None
    token = said[0]
    if token.kind == "word" and token.text in words["last_place"]:
        return count, False
    value = None if token.kind == "article" else token.value
    if value is None or value != value.to_integral_value() or value > 10**6:
        return None
    called = any(each.kind == "word" and each.text in words["place_padding"] for each in tokens)
    return int(value), token.kind != "ordinal" and not called


@dataclass(slots=True)
class Picked:
    """What the pieces of a reply came to."""

    labels: Labels
    words: Words
    chosen: list[int] = field(default_factory=list)  # places of options, in the order in which they were named
    unclear: list[int] = field(default_factory=list)  # places of options that a piece fits alike
    doubtful: list[Piece] = field(default_factory=list)  # the pieces that fit them
    strange: list[Piece] = field(default_factory=list)  # pieces that are no option
    attempt: bool = False  # whether the patient tried to name options
    denied: list[int] = field(default_factory=list)  # places of options that were named as not being the case
    taken_back: bool = False  # whether something denies what was named: "Aspirin, das nehme ich nicht"
    problem: NotUnderstood | None = None  # why nothing can be picked

    def take(self, piece: Piece, *, left: int) -> None:
        """Take one piece, after which so many are left."""
        heads = piece.after == ":" and left and self._heads(piece, left)
        if not (heads or self._by_number(piece)):
            self._by_label(piece)

    def _heads(self, piece: Piece, left: int) -> bool:
        """Tell whether a piece only announces what follows: "zwei: 1 und 3", "alles: Biopsie, Bestrahlung"."""
        position = _position_of(piece.tokens, 0, self.words)
        counts = position is not None and position[0] == left
        return counts or not (self.labels.fit(piece.texts) or self.words.negates(piece.texts))

    def _choose(self, places: Sequence[int]) -> None:
        """Add the option of a piece, or the options it may mean."""
        self.attempt = True
        kept = self.unclear if len(places) > 1 else self.chosen
        kept += [place for place in places if place not in kept]

    def _by_number(self, piece: Piece) -> bool:
        """Pick the option at the position a piece names; labels that hold the number themselves come first."""
        labels, count = self.labels, len(self.labels.all)
        position = _position_of(piece.tokens, count, self.words)
        same = labels.same(piece.texts)
        if position is None or (same and not position[1]):
            return False
        number, bare = position
        # What is shown with a number of its own may be meant by it; an unseen code only where there is no place.
        own = [other for other in labels.with_word(str(number)) if other != number - 1] if bare else []
        if 0 < number <= count:
            self._choose([number - 1, *own])
        elif same or own:
            self._choose(same or own)
        else:
            self.attempt = True
            self.problem = NotUnderstood(f"a number that is not in the list of {count}", "not-listed")
        return True

    def _by_label(self, piece: Piece) -> None:
        texts, words = piece.texts, self.words
        spelled = [token for token in piece.tokens if token.kind == "number"]
        if len(texts) > 1 and spelled and texts[-1] == spelled[-1].text == "1" and not self.labels.fit(texts):
            texts = texts[:-1]  # "the right one"
        fit = self.labels.fit(texts)
        if fit is None:
            spoken = self._unpadded(texts)
            shorter = len(spoken) < len(texts) and words.negates(spoken) == words.negates(texts)
            fit = self.labels.fit(spoken) if spoken and shorter else None
            if fit is None:
                self._strange(piece, spoken)
                return
        self._choose(fit.options)
        self.doubtful += [piece] if len(fit.options) > 1 else []
        if self._unpadded(fit.beyond):
            # Without the words of the label at its ends: "Diabetes seit 2010" leaves "seit 2010".
            beyond = [place for place, token in enumerate(piece.tokens) if token.text in fit.beyond]
            first, end = (beyond[0], beyond[-1] + 1) if beyond else (len(piece.tokens), len(piece.tokens))
            self.strange.append(Piece(piece.first + first, piece.first + end, piece.tokens[first:end], comment=True))

    def _unpadded(self, texts: Sequence[str]) -> list[str]:
        """Return the words that say more than an option does."""
        words, labels = self.words, self.labels
        padding = words["harmless"] | words["openers"] | words["articles"] | words["one_or_a"] | words["place_padding"]
        padding = padding - labels.single | (words["weak"] - labels.vocabulary)
        place, left = 0, []
        while place < len(texts):
            unsure = max(words[name].length_at(texts, place) for name in ("hedges", "roughly", "enough"))
            yes = words["yes"].length_at(texts, place)
            yes = 0 if labels.vocabulary & set(texts[place : place + yes]) else yes  # "right" may be a side
            if not (unsure or yes or texts[place] in padding):
                left.append(texts[place])
            place += max(unsure, yes, 1)
        return left

    def _strange(self, piece: Piece, spoken: Sequence[str]) -> None:
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

    def only_answers(piece: Piece) -> bool:
        """Tell whether a piece is but a yes or no in front of what was chosen: "ja, links"."""
        said = " ".join(piece.texts)
        answers = said in words["yes"] or said in words["no"]
        plain = said in {words.fold(words.texts["yes"]), words.fold(words.texts["no"])}
        return not labels.same(piece.texts) and (plain or (answers and labels.fit(piece.texts) is None))

    answers = [piece for piece in pieces if only_answers(piece)]
    others = [piece for piece in pieces if piece not in answers]
    picked = Picked(labels, words)
    for number, piece in enumerate(others or answers):
        picked.take(piece, left=len(others) - number - 1)
    return pick(answers, labels) if others and answers and not picked.attempt else picked


def read_choice(raw: str, reply: Reply, asked: Asked, words: Words) -> Reading:
    """Read options; free text too where the question is open."""
    spelled, bare = with_numbers(reply, places_only(words)), reply.said
    if len(bare) == 1 and bare[0] in words["plain_yes"] | words["plain_no"]:
        asked = replace(asked, options=tuple(_without_code(option, bare[0], words) for option in asked.options))
    labels, said = Labels(asked.options, words), read_boolean(reply, words)
    choosing = _Choosing(raw, reply, spelled, texts_of(spelled.tokens), said, asked, words, labels)
    reading = (
        choosing.called_just_so()
        or choosing.unanswered()
        or choosing.told()
        or choosing.yes_no(alone=True)
        or choosing.none_or_all()
        or choosing.by_pieces()
    )
    return replace(reading, literal=choosing.literal(reading)) if isinstance(reading, Read) else reading


def _without_code(option: Option, said: str, words: Words) -> Option:
    """Return an option without a code that nobody sees and that is a yes or no: "no" is no "Norway"."""
    opened = words.fold(option.labels[0].split()[0].strip(",.;:")) if option.labels and option.labels[0].split() else ""
    if opened in words["plain_yes"] | words["plain_no"]:
        return option  # "ja", of "Yes, on both sides"
    value = option.answer.value
    code = str(value.get("code", "")) if isinstance(value, dict) else ""  # what the form calls an answer besides stays
    if code not in option.unseen or words.fold(code) != said:
        return option
    return replace(option, labels=tuple(name for name in option.labels if name != code))


def asks_yes_no(asked: Asked, words: Words) -> bool:
    """Tell whether a question asks for yes or no, be it by a list that has both and perhaps "I don't know"."""
    if asked.type == "boolean":
        return True
    labels = [words.fold(option.labels[0]) for option in asked.options if option.labels]
    both = not any(words[name].isdisjoint(labels) for name in ("plain_yes", "plain_no"))
    others = [label for label in labels if label not in words["plain_yes"] | words["plain_no"]]
    return asked.type == "choice" and both and len(others) < 2


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

    def _read(self, places: Iterable[int], remainder: str = "") -> Read:
        return Read(tuple(self.asked.options[place].answer for place in places), literal=False, remainder=remainder)

    def _one_of(self, places: Sequence[int]) -> Reading | None:
        """Return the single option, or that it could be several; None for none."""
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
            return self._read(places)
        # The number of another option: what is shown may be meant by it, a code that nobody sees is not.
        return self._one_of([listed, *places]) if self.labels.shown_as(self.texts) == places else None

    def unanswered(self) -> Reading | None:
        """Return "don't know" or "won't say", as the option that says so where there is one."""
        silence, words = read_silence(self.reply, self.words), self.words
        if silence is None and not any(self._says(option, False) for option in self.asked.options):
            # "Nein, weiß nicht", to a list without a no.
            opened = next((place for place, each in enumerate(self.reply.tokens) if each.kind != "mark"), 0)
            if text_at(self.reply.tokens, opened) in words["plain_no"]:
                silence = read_silence(Reply(self.reply.text, self.reply.tokens[opened + 1 :]), words)
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
        own_word = isinstance(silence, Refused) and self.asked.type == "open-choice" and len(self.reply.said) == 1
        return None if own_word else silence

    def yes_no(self, *, alone: bool) -> Reading | None:
        """Return the option called yes or no, for "jo" or "noch nie"; with `alone`, only if nothing else was said."""
        said, words = self.said, self.words
        if not isinstance(said, Read) or (alone and said.remainder):
            return None
        affirmed = self._affirmed(said)
        if affirmed or said.answers[0].value is not True:
            return affirmed
        # Without "but", for "ja", "Ja, links" is one of several.
        plain = words["plain_yes"]
        opened = self._places(lambda names: names[0] and names[0][0] in plain and not words.negates(names[0]))
        if len(opened) == 1 and not alone:
            return self._read(opened, said.remainder)  # "still nursing, yes": "Ja, ich stille"
        return self._one_of(opened) if words["weak"].issuperset(cut(said.remainder, words.fold).said) else None

    def _affirmed(self, said: Read) -> Reading | None:
        """Return the one option that is called plainly what was said, yes or no."""
        value = said.answers[0].value is True
        places = [place for place, option in enumerate(self.asked.options) if self._says(option, value)]
        return self._read(places, said.remainder) if len(places) == 1 else None

    def _says(self, option: Option, value: bool) -> bool:
        """Tell whether an option is called plainly yes, or no; "Right" may be a side."""
        plain = self.words["plain_yes" if value else "plain_no"]
        return bool(option.labels) and self.words.fold(option.labels[0]) in plain

    def told(self) -> Reading | None:
        """Return the one option whose name is what a sentence comes to: "my husband died" of "Widowed"."""
        said = f" {' '.join(self.texts)} "
        meanings = {meaning for phrase, meaning in self.words.told.items() if f" {phrase} " in said}
        called = self._places(
            lambda names: any(
                len(name) == 1 and (name[0] == meaning or alike(name[0], meaning))
                for name in names
                for meaning in meanings
            )
        )
        return self._read(called) if len(called) == 1 else None

    def none_or_all(self) -> Reading | None:
        """Read "keine davon" and "alle"."""
        texts, said, words = self.spelled.said, self.said, self.words
        while len(texts) > 1 and texts[0] in words["openers"]:
            texts = texts[1:]
        negative = isinstance(said, Read) and said.answers[0].value is False and not said.remainder
        if " ".join(texts) in words["none_of_these"] or (negative and not self._names_one()):
            may_be_none = self.asked.repeats or self.asked.type == "open-choice"
            nothing = Read((), literal=False) if may_be_none else None
            return self._one_of(self._none_options()) or nothing
        if " ".join(texts) not in words["all"] or self.labels.fit(texts):
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
        called = [
            place
            for place, names in enumerate(self.labels.all)
            if any(" ".join(name) in words["none_of_these"] and place in self.labels.shown_as(name) for name in names)
        ]
        opened = self._places(
            lambda names: any(words[name].length_at(names[0], 0) for name in ("negators", "no", "maybe_no"))
        )
        negative = [place for place in opened if not means_unknown(self.labels.all[place][0], words)]
        return called or [place for place in negative if self.asked.options[place].exclusive] or negative

    def by_pieces(self) -> Reading:
        """Read options by what stands between commas and "and"s."""
        words, said = self.words, self.said
        pieces = cut_pieces(self.spelled, words)
        if len(pieces) > MAX_PIECES:
            return NotUnderstood("too many parts for a choice", "not-listed")
        # "Außer Atem" is itself about an exception, as far as its words go.
        labels = (name for names in self.labels.all for name in names)
        if words["excepting"].within(self.texts) and not any(map(words["excepting"].within, labels)):
            return NotUnderstood("an exception, not an option", "negated")
        telling = [text for text in self.texts if text not in words["joins"]]
        part = self.labels.part_of_one(telling) if len(pieces) > 1 else ()
        if part:
            return self._read(part)
        picked = pick(merged(pieces, self.spelled, self.labels), self.labels)
        reading = self._picked(picked)
        if self.asked.type == "open-choice":
            return self._open(reading, picked)
        options = [self.asked.options[place] for place in picked.chosen]
        only_yes_no = bool(options) and all(self._says(each, True) or self._says(each, False) for each in options)
        if isinstance(reading, Read) and only_yes_no:
            # "ja, früher": the list asks for yes or no, and this is neither.
            return said if isinstance(said, NotUnderstood) and said.why in ("vague", "contradiction") else reading
        elsewhere = not picked.attempt or picked.problem or words.only_denies(self.reply.said)
        if isinstance(reading, NotUnderstood) and elsewhere:
            # "Ja, 2025": a number beyond the list is no position, but a comment; "alle zwei Jahre" is a yes.
            often = read_how_often(self.reply, words)
            return self.yes_no(alone=False) or (self._affirmed(often) if often else None) or reading
        return reading

    def _picked(self, picked: Picked) -> Reading:
        """Return the options picked, if they go together and nothing denies them."""
        if picked.problem:
            return picked.problem
        if picked.taken_back or set(picked.denied) & {*picked.chosen, *picked.unclear}:
            return _NEGATED
        options, several = self.asked.options, len(picked.chosen) > 1
        either = not self.words["either"].isdisjoint(token.text for token in self.spelled.tokens)
        if picked.unclear or (several and (not self.asked.repeats or either)):
            return Ambiguous(tuple(options[place] for place in sorted({*picked.unclear, *picked.chosen})))
        if not picked.chosen:
            negated = picked.attempt and any(self.words.negates(piece.texts) for piece in picked.strange)
            return _NEGATED if negated else NotUnderstood("no option of the list", "not-listed")
        if several and any(options[place].exclusive for place in picked.chosen):
            return NotUnderstood("an option that rules out the others, together with others", "exclusive")
        return self._read(picked.chosen, "; ".join(map(self._text, picked.strange)))

    def _text(self, piece: Piece) -> str:
        return self.spelled.between(piece.first, piece.end)

    def _open(self, reading: Reading, picked: Picked) -> Reading:
        """Return options, the patient's own words, or both: "links und Achselhöhle"."""
        if isinstance(reading, NotUnderstood) and reading.why != "exclusive":
            return own_words(self.raw, self.asked)
        loose = [piece for piece in picked.strange if not piece.comment]
        if isinstance(reading, Ambiguous) and self.asked.repeats and picked.doubtful and (picked.chosen or loose):
            # Whoever were asked which is meant would name one, and what was said beside it would be lost.
            reading = self._read(picked.chosen)
            loose = sorted([*picked.doubtful, *loose], key=lambda piece: piece.first)
        if not isinstance(reading, Read) or not (self.asked.repeats and (picked.strange or loose)):
            return reading
        answers = list(reading.answers)
        for piece in loose:
            if self._text(piece):
                own = own_words(self._text(piece), self.asked)
                if not isinstance(own, Read):
                    return own
                answers += own.answers
        comments = "; ".join(self._text(piece) for piece in picked.strange if piece.comment)
        return Read(tuple(answers), literal=False, remainder=comments)

    def literal(self, reading: Read) -> bool:
        """Tell whether a reply is, after folding, a label, code, synonym or number of each option read.

        Several must each be said so, with nothing between them but commas and "and". All else is read back.
        """
        texts = {token.text for token in self.reply.tokens}
        if reading.remainder or not reading.answers or "?" in texts:
            return False
        if len(reading.answers) == 1 and self._is_named(self.reply.tokens, reading.answers[0]):
            return True
        pieces = cut_pieces(self.reply, self.words)
        listed = all(token.kind != "mark" or token.text in _LIST_MARKS for token in self.reply.tokens)
        if not self.asked.repeats or not listed or texts & self.words["either"] or len(pieces) != len(reading.answers):
            return False
        return all(self._is_named(piece.tokens, answer) for piece, answer in zip(pieces, reading.answers, strict=True))

    def _is_named(self, tokens: Sequence[Token], answer: Answer) -> bool:
        """Tell whether tokens are one of the names of an option, or its number in a list without other numbers."""
        place = next((place for place, option in enumerate(self.asked.options) if option.answer == answer), None)
        if place is None:
            return False
        texts, names, words = texts_of(tokens), self.asked.options[place].labels, self.words
        number = int(texts[0]) if len(texts) == 1 and texts[0].isdecimal() and len(texts[0]) < 5 else 0
        if 1 <= number <= len(self.asked.options):
            marks = {token.text for token in tokens if token.kind == "mark"}
            own = not self.labels.own_numbers or self.labels.shown_as(texts) == (place,)
            same = self.labels.same(texts)
            return number - 1 == place and own and marks <= {".", ")", "!"} and (not same or place in same)
        if any(texts == texts_of(cut(name, words.fold).tokens) for name in names):
            return True
        # A plain yes or no picks the option that is called just that.
        called = words.fold(names[0]) if names else ""
        return len(texts) == 1 and any({texts[0], called} <= words[name] for name in ("plain_yes", "plain_no"))

"""Whether a reply says an answer in so many words. Whatever else was understood is read back before it counts. Pure."""

from __future__ import annotations

from bot.interview.reading.labels import Labels, texts_of
from bot.interview.reading.pieces import cut_pieces
from bot.interview.reading.reading import Asked, Option, Read
from bot.interview.reading.tokens import Reply, Token, cut
from bot.interview.reading.units import unit_at
from bot.interview.reading.vocabulary import Words
from bot.interview.reading.yesno import is_plain
from bot.interview.values.answer import Answer

_LIST_MARKS = frozenset(".,;:!&+/")
_NUMBER_MARKS = frozenset(".,'")
_MOMENT_MARKS = frozenset(".,-/:+")
OWN_WORDS = frozenset({"string", "text", "url", "attachment", "reference"})


def said_just_so(read: Read, reply: Reply, asked: Asked, words: Words) -> bool:
    """Tell whether a reply is, after folding, a label, code or synonym of its options, or the exact value itself.

    Several answers must each be said so, with nothing between them but commas and "and".
    """
    if not read.literal or read.remainder:
        return False
    if asked.type in OWN_WORDS or not read.answers:
        return True
    if any(token.text == "?" for token in reply.tokens):
        return False
    if asked.type in ("choice", "open-choice"):
        return _options(read.answers, reply, asked, words)
    if asked.type == "boolean":
        return is_plain(reply, words)
    tokens = _without_stop(reply.tokens)
    if asked.type in ("integer", "decimal", "quantity"):
        return all(_is_amount(part, asked, words) for part in _parts(tokens, words, several=asked.repeats))
    return all(_is_moment(token, words) for token in tokens)


def _without_stop(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens of a reply without the full stop or exclamation marks after it."""
    end = len(tokens)
    while end and tokens[end - 1].text in (".", "!"):
        end -= 1
    return tokens[:end]


def _options(answers: tuple[Answer, ...], reply: Reply, asked: Asked, words: Words) -> bool:
    labels = Labels(asked.options, words)
    if len(answers) == 1 and _is_option(reply.tokens, answers[0], asked, labels, words):
        return True
    pieces = cut_pieces(reply, words)
    between = [token for token in reply.tokens if token.kind == "mark" and token.text not in _LIST_MARKS]
    either = any(token.text in words.around.either for token in reply.tokens)
    return (
        asked.repeats
        and not between
        and not either
        and len(pieces) == len(answers)
        and all(
            _is_option(piece.tokens, answer, asked, labels, words)
            for piece, answer in zip(pieces, answers, strict=True)
        )
    )


def _is_option(tokens: tuple[Token, ...], answer: Answer, asked: Asked, labels: Labels, words: Words) -> bool:
    """Tell whether tokens are one of the names of an option, or its number in a list without other numbers."""
    place = next((place for place, option in enumerate(asked.options) if option.answer == answer), None)
    if place is None:
        return False
    texts = texts_of(tokens)
    named = any(texts == texts_of(cut(name, words.fold).tokens) for name in asked.options[place].labels)
    position = len(texts) == 1 and texts[0].isdecimal() and len(texts[0]) < 5
    if position and 1 <= int(texts[0]) <= len(asked.options):
        marks = {token.text for token in tokens if token.kind == "mark"}
        own = not labels.own_numbers or labels.shown_as(texts) == (place,)
        return int(texts[0]) - 1 == place and own and marks <= {".", ")", "!"}
    return named or _is_plainly(texts, asked.options[place], words)


def _is_plainly(texts: tuple[str, ...], option: Option, words: Words) -> bool:
    """Tell whether a plain yes or no picks the option that is called just that."""
    called = words.fold(option.labels[0]) if option.labels else ""
    both = (words.agreement.plain_yes, words.agreement.plain_no)
    return len(texts) == 1 and any(texts[0] in plain and called in plain for plain in both)


def _parts(tokens: tuple[Token, ...], words: Words, *, several: bool) -> list[tuple[Token, ...]]:
    """Return what stands between commas and "and" where several answers are welcome."""
    if not several:
        return [tokens]
    parts: list[list[Token]] = [[]]
    for place, token in enumerate(tokens):
        inside = token.glued and place + 1 < len(tokens) and tokens[place + 1].glued  # "1,5"
        if token.text in words.around.joins and not (token.text in _NUMBER_MARKS and inside):
            parts.append([])
        else:
            parts[-1].append(token)
    return [tuple(part) for part in parts]


def _is_amount(tokens: tuple[Token, ...], asked: Asked, words: Words) -> bool:
    """Tell whether tokens are a number in digits, with one of the units asked for if there are any."""
    start = 1 if tokens and tokens[0].text == "-" and len(tokens) > 1 and tokens[1].glued else 0
    end = start
    while end < len(tokens) and (
        tokens[end].kind == "digits" or (tokens[end].text in _NUMBER_MARKS and tokens[end].glued)
    ):
        end += 1
    digits = end > start and tokens[start].kind == tokens[end - 1].kind == "digits"
    if not digits or any(not token.glued for token in tokens[start + 1 : end]):
        return False
    if end == len(tokens):
        return asked.type != "quantity" and not asked.unit
    if asked.type != "quantity" and not asked.unit:
        return False
    after, codes = unit_at(tokens, end, words, asked.allowed_units)
    return after == len(tokens) and bool(codes)


def _is_moment(token: Token, words: Words) -> bool:
    """Tell whether a token may stand in a date or time that is written out: digits, a month, "Uhr"."""
    if token.kind == "mark":
        return token.text in _MOMENT_MARKS
    return token.kind == "digits" or token.text in words.dates.months or token.text in (*words.times.hour, "t", "z")

"""Whether a reply says an answer in so many words. Whatever else was understood is read back before it counts. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.interview.reading.labels import Labels, texts_of
from bot.interview.reading.pieces import cut_pieces
from bot.interview.reading.reading import Asked, Read
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
        return _are_options(read.answers, reply, asked, words)
    if asked.type == "boolean":
        return is_plain(reply, words)
    tokens = list(reply.tokens)
    while tokens and tokens[-1].text in (".", "!"):
        tokens.pop()
    if asked.type in ("integer", "decimal", "quantity"):
        return all(_is_amount(part, asked, words) for part in _parts(tokens, asked, words))
    return all(_is_of_moment(token, words) for token in tokens)


def _are_options(answers: Sequence[Answer], reply: Reply, asked: Asked, words: Words) -> bool:
    labels = Labels(asked.options, words)
    if len(answers) == 1 and _is_option(reply.tokens, answers[0], asked, labels):
        return True
    pieces = cut_pieces(reply, words)
    listed = all(token.kind != "mark" or token.text in _LIST_MARKS for token in reply.tokens)
    either = any(token.text in words.around.either for token in reply.tokens)
    if not asked.repeats or not listed or either or len(pieces) != len(answers):
        return False
    return all(_is_option(each.tokens, answer, asked, labels) for each, answer in zip(pieces, answers, strict=True))


def _is_option(tokens: Sequence[Token], answer: Answer, asked: Asked, labels: Labels) -> bool:
    """Tell whether tokens are one of the names of an option, or its number in a list without other numbers."""
    place = next((place for place, option in enumerate(asked.options) if option.answer == answer), None)
    if place is None:
        return False
    words, texts, names = labels.words, texts_of(tokens), asked.options[place].labels
    if len(texts) == 1 and texts[0].isdecimal() and len(texts[0]) < 5 and 1 <= int(texts[0]) <= len(asked.options):
        marks = {token.text for token in tokens if token.kind == "mark"}
        own = not labels.own_numbers or labels.shown_as(texts) == (place,)
        return int(texts[0]) - 1 == place and own and marks <= {".", ")", "!"}
    if any(texts == texts_of(cut(name, words.fold).tokens) for name in names):
        return True
    # A plain yes or no picks the option that is called just that.
    called = words.fold(names[0]) if names else ""
    both = (words.agreement.plain_yes, words.agreement.plain_no)
    return len(texts) == 1 and any(texts[0] in plain and called in plain for plain in both)


def _parts(tokens: Sequence[Token], asked: Asked, words: Words) -> list[list[Token]]:
    """Return what stands between commas and "and" where several answers are welcome."""
    parts: list[list[Token]] = [[]]
    for place, token in enumerate(tokens):
        inside = token.glued and place + 1 < len(tokens) and tokens[place + 1].glued  # "1,5"
        joins = token.text in words.around.joins and not (token.text in _NUMBER_MARKS and inside)
        if asked.repeats and joins:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _is_amount(tokens: Sequence[Token], asked: Asked, words: Words) -> bool:
    """Tell whether tokens are a number in digits, with one of the units asked for if there are any."""
    start = int(len(tokens) > 1 and tokens[0].text == "-" and tokens[1].glued)
    end = start
    while end < len(tokens) and (
        tokens[end].kind == "digits" or (tokens[end].text in _NUMBER_MARKS and tokens[end].glued)
    ):
        end += 1
    digits = end > start and tokens[start].kind == tokens[end - 1].kind == "digits"
    if not digits or any(not token.glued for token in tokens[start + 1 : end]):
        return False
    with_unit = asked.type == "quantity" or bool(asked.unit)
    if end == len(tokens) or not with_unit:
        return end == len(tokens) and not with_unit
    after, codes = unit_at(tokens, end, words, asked.allowed_units)
    return after == len(tokens) and bool(codes)


def _is_of_moment(token: Token, words: Words) -> bool:
    """Tell whether a token may stand in a date or time that is written out: digits, a month, "Uhr"."""
    if token.kind == "mark":
        return token.text in _MOMENT_MARKS
    return token.kind == "digits" or token.text in words.dates.months or token.text in (*words.times.hour, "t", "z")

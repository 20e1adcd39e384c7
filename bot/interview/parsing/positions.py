"""Places in a list: "2", "Nr. 3", "die zweite", "the last one". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.interview.parsing.tokens import Token
from bot.interview.parsing.vocabulary import Words


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

"""Parts of a reply that are no answer of their own: the question said again, and that one does not know. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.interview.parsing.reading import DontKnow
from bot.interview.parsing.silence import read_silence
from bot.interview.parsing.tokens import Reply, Token
from bot.interview.parsing.vocabulary import Words

MOST_REPEATED = 5  # words of the question that are said again: "in meinem Alter?"
_PARTING = frozenset(".,;:!()-")


def after_echo(reply: Reply, words: Words) -> str:
    """Return what follows the question that a patient says again first: "Implantate? Nee, nie"; empty for no such."""
    marks = [place for place, token in enumerate(reply.tokens) if token.text == "?"]
    if not marks:
        return ""
    echo = [token.text for token in reply.tokens[: marks[-1]] if token.kind != "mark"]
    agreement = words.agreement
    answers = any(each.within(echo) for each in (agreement.yes, agreement.no, agreement.negators, agreement.unclear))
    if not 0 < len(echo) <= MOST_REPEATED or answers:
        return ""
    return reply.between(marks[-1] + 1, len(reply.tokens))


def without_not_knowing(reply: Reply, words: Words) -> tuple[str, str] | None:
    """Return the clause that says one does not know, and the rest: "bin adoptiert, keine Ahnung".

    None where no clause says so, or nothing else is said.
    """
    connecting = words.silence.connecting
    for parting in (connecting - words.silence.padding, connecting):  # "weiß es deshalb nicht", "deshalb keine Ahnung"
        clauses = list(_clauses(reply.tokens, parting))
        silent = [clause for clause in clauses if _says_so(reply, clause, words)]
        others = [clause for clause in clauses if clause not in silent]
        if silent and others:
            return _text(reply, silent), _text(reply, others)
    return None


def _clauses(tokens: Sequence[Token], parting: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield where clauses begin and end: between marks and words such as "so" and "weil"."""
    start = 0
    for place, token in enumerate(tokens):
        number = token.text in ".,:-" and token.glued and place + 1 < len(tokens) and tokens[place + 1].glued
        if (token.kind == "mark" and token.text in _PARTING and not number) or token.text in parting:
            if start < place:
                yield start, place
            start = place + 1
    if start < len(tokens):
        yield start, len(tokens)


def _says_so(reply: Reply, clause: tuple[int, int], words: Words) -> bool:
    tokens = reply.tokens[clause[0] : clause[1]]
    said = any(token.kind != "mark" for token in tokens)
    return said and isinstance(read_silence(Reply(reply.text, tokens), words), DontKnow)


def _text(reply: Reply, clauses: Sequence[tuple[int, int]]) -> str:
    return ", ".join(text for first, end in clauses if (text := reply.between(first, end)))

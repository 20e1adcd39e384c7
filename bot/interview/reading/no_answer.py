"""Recognise "I don't know" and "I'd rather not say". Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.interview.reading.reading import DontKnow, Refused
from bot.interview.reading.tokens import Reply, Token
from bot.interview.reading.vocabulary import Words, steps

MOST_REPEATED = 5  # words of the question that are said again: "in meinem Alter?"
_PARTING = frozenset(".,;:!()-")


def read_silence(reply: Reply, words: Words) -> DontKnow | Refused | None:
    """Return what a message means that says nothing but "I don't know" or "I won't say", once or more often."""
    core = _without_padding(reply.said, words)
    if not core:
        return DontKnow() if reply.tokens and all(token.text == "?" for token in reply.tokens) else None
    if all(taken for _, (taken,) in steps(core, words.silence.dont_know)):
        return DontKnow()
    return Refused() if all(taken for _, (taken,) in steps(core, words.silence.refused)) else None


def hints_at_silence(reply: Reply, words: Words) -> DontKnow | Refused | None:
    """Return the same for a message that says it among other things, and not just in one word that may mean refusal."""
    core = _without_padding(reply.said, words)
    if words.silence.dont_know.within(core):
        return DontKnow()
    return Refused() if any(words.silence.refused.length_at(core, place) > 1 for place in range(len(core))) else None


def one_word(reply: Reply) -> bool:
    """Tell whether a message is a single word, which may as well be an answer: "privat" of an insurance."""
    return len(reply.said) == 1


def means_unknown(label: Sequence[str], words: Words) -> bool:
    """Tell whether a label, as folded words, stands for not knowing."""
    return _without_padding(label, words) in words.silence.dont_know or tuple(label) in words.choices.unknown


def ends_unknown(label: Sequence[str], words: Words) -> bool:
    """Tell whether a label ends in not knowing: "Vielleicht, ich weiß es nicht"."""
    core = _without_padding(label, words)
    return any(core[start:] in words.silence.dont_know for start in range(len(core)))


def means_refused(label: Sequence[str], words: Words) -> bool:
    """Tell whether a label, as folded words, stands for not saying."""
    return _without_padding(label, words) in words.silence.refused


def _without_padding(texts: Sequence[str], words: Words) -> tuple[str, ...]:
    return tuple(text for text in texts if text not in words.silence.padding)


def after_echo(reply: Reply, words: Words) -> str:
    """Return what follows the question that a patient says again first: "Implantate? Nee, nie"; empty for no such."""
    marks = [place for place, token in enumerate(reply.tokens) if token.text == "?"]
    if not marks:
        return ""
    echo = Reply(reply.text, reply.tokens[: marks[-1]]).said
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
        parts: dict[bool, list[str]] = {True: [], False: []}
        for first, end in _clauses(reply.tokens, parting):
            clause = Reply(reply.text, reply.tokens[first:end])
            unknown = bool(clause.said) and isinstance(read_silence(clause, words), DontKnow)
            parts[unknown].append(reply.between(first, end))
        if parts[True] and parts[False]:
            return ", ".join(filter(None, parts[True])), ", ".join(filter(None, parts[False]))
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

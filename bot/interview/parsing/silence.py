"""Ways not to answer: not knowing, and not wanting to say. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.interview.parsing.phrases import Phrases
from bot.interview.parsing.reading import DontKnow, Refused
from bot.interview.parsing.tokens import Reply
from bot.interview.parsing.vocabulary import Words


def read_silence(reply: Reply, words: Words) -> DontKnow | Refused | None:
    """Return what a message means that says nothing but "I don't know" or "I won't say"."""
    core = _core(reply, words)
    if not core:
        return DontKnow() if reply.tokens and all(token.text == "?" for token in reply.tokens) else None
    if _made_of(core, words.silence.dont_know):
        return DontKnow()
    return Refused() if _made_of(core, words.silence.refused) else None


def one_word(reply: Reply) -> bool:
    """Tell whether a message is a single word, which may as well be an answer: "privat" of an insurance."""
    return sum(token.kind != "mark" for token in reply.tokens) == 1


def hints_at_silence(reply: Reply, words: Words) -> DontKnow | Refused | None:
    """Return the same for a message that says it among other things."""
    core = _core(reply, words)
    if words.silence.dont_know.within(core):
        return DontKnow()
    return Refused() if any(len(phrase) > 1 and _within(core, phrase) for phrase in words.silence.refused.all) else None


def means_unknown(label: Sequence[str], words: Words) -> bool:
    """Tell whether a label, as folded words, stands for not knowing."""
    core = _without_padding(label, words)
    return core in words.silence.dont_know or tuple(label) in words.silence.unknown_labels


def ends_unknown(label: Sequence[str], words: Words) -> bool:
    """Tell whether a label ends in not knowing: "Vielleicht, ich weiß es nicht"."""
    core = _without_padding(label, words)
    return any(core[start:] in words.silence.dont_know for start in range(len(core)))


def means_refused(label: Sequence[str], words: Words) -> bool:
    """Tell whether a label, as folded words, stands for not saying."""
    return _without_padding(label, words) in words.silence.refused


def _core(reply: Reply, words: Words) -> tuple[str, ...]:
    return _without_padding([token.text for token in reply.tokens if token.kind != "mark"], words)


def _without_padding(texts: Sequence[str], words: Words) -> tuple[str, ...]:
    return tuple(text for text in texts if text not in words.silence.padding)


def _made_of(core: Sequence[str], phrases: Phrases) -> bool:
    """Tell whether words are nothing but such phrases, said once or twice."""
    place = 0
    while place < len(core):
        length = phrases.length_at(core, place)
        if not length:
            return False
        place += length
    return True


def _within(core: Sequence[str], phrase: tuple[str, ...]) -> bool:
    return any(tuple(core[start : start + len(phrase)]) == phrase for start in range(len(core)))

"""Words that turn a reply into its opposite or take something out of it: "nicht", "never", "alles außer". Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.interview.parsing.vocabulary import Words


def without_hedges(texts: Sequence[str], words: Words) -> tuple[str, ...]:
    """Return words without "I'm not sure" and "nothing else", whose negation is about something else."""
    kept: list[str] = []
    place = 0
    while place < len(texts):
        taken = max(words.around.hedges.length_at(texts, place), words.choices.enough.length_at(texts, place))
        if not taken:
            kept.append(texts[place])
        place += max(taken, 1)
    return tuple(kept)


def negates(texts: Sequence[str], words: Words) -> bool:
    """Tell whether anything is negated, apart from how sure the patient is."""
    plain = without_hedges(texts, words)
    return words.agreement.negators.within(plain) or not words.choices.without.isdisjoint(plain)


def without_negation(texts: Sequence[str], words: Words) -> tuple[str, ...]:
    """Return what is negated: the words without those that negate."""
    plain, kept, place = without_hedges(texts, words), [], 0
    while place < len(plain):
        taken = words.agreement.negators.length_at(plain, place)
        if not taken and plain[place] not in words.choices.without:
            kept.append(plain[place])
        place += max(taken, 1)
    return tuple(kept)


def excepts(texts: Sequence[str], words: Words) -> bool:
    """Tell whether something is taken out: "alles bis auf Husten", "everything but the cough"."""
    return words.choices.excepting.within(texts)


def only_denies(texts: Sequence[str], words: Words) -> bool:
    """Tell whether words deny what was said before them and say nothing of their own: "das nehme ich nicht"."""
    silent = words.choices.weak | words.choices.articles | words.silence.padding | words.agreement.openers
    return negates(texts, words) and silent.issuperset(without_negation(texts, words))

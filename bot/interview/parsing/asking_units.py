"""What a question about a number has to say: its unit, its name, and whether an answer is unusual. Pure."""

from __future__ import annotations

from decimal import Decimal

from bot.interview.answer import Answer
from bot.interview.parsing import measures
from bot.interview.parsing.asked import Asked, Unit
from bot.interview.parsing.languages import words_for
from bot.interview.parsing.tokens import cut
from bot.interview.parsing.units import unit_at


def stated_unit(prompt: str, language: str) -> Unit | None:
    """Return the unit that the text of a question asks for."""
    return measures.stated_unit(prompt, words_for(language))


def named_unit(label: str, language: str) -> Unit | None:
    """Return the unit that a text beside a question is, if it is nothing else."""
    words = words_for(language)
    tokens = cut(label, words.fold).tokens
    end, codes = unit_at(tokens, 0, words, ())
    return Unit(codes[0], label.strip()) if codes and end == len(tokens) else None


def unit_name(code: str, language: str) -> str:
    """Return what a unit is called in a language; empty where its code says it all."""
    return words_for(language).units.names.get(code, "")


def is_unusual(answer: Answer, question: Asked, *, language: str) -> bool:
    """Tell whether a value is possible, but so seldom that the patient should look again."""
    words = words_for(language)
    measure = measures.measure_of(question, words)
    whole = answer.value
    value = whole.get("value") if isinstance(whole, dict) else whole
    unit = str(whole.get("code") or "") if isinstance(whole, dict) else question.unit.code if question.unit else ""
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or measure is None:
        return False
    return not measures.is_likely(Decimal(value), unit, measure)

"""FHIRPath formulas: compiled once, asked what they read, evaluated by fhirpathpy. Pure.

The library parses leniently (it drops what it does not understand), prints traces, reads the clock and raises plain
exceptions; here a formula is refused unless all of it is understood, and evaluated with the caller's clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from bot.interview.formulas.formula import BadFormula, Formula
from bot.interview.values.answer import JsonValue

MAX_CHARACTERS = 20_000


@lru_cache(maxsize=4096)
def compile_formula(source: str) -> Formula:
    """Parse a FHIRPath expression.

    Raises:
        BadFormula: It cannot be parsed to its end, or calls an unknown function.
    """
    # Late: the parser is heavy, and most forms have no formulas.
    from bot.interview.formulas.fhirpath import known_functions, parse
    from bot.interview.formulas.formula import reads_of, rewrite

    if len(source) > MAX_CHARACTERS:
        raise BadFormula(f"longer than {MAX_CHARACTERS} characters")
    tree = parse(source)
    reads = reads_of(tree)
    unknown = sorted(reads.functions - known_functions())
    if unknown:
        raise BadFormula(f"the function {unknown[0]}() is not known here")
    return Formula(source, reads, rewrite(tree))


def evaluate(formula: Formula, focus: object, names: Mapping[str, object], *, now: str) -> Sequence[JsonValue]:
    """Evaluate a formula to JSON.

    Args:
        formula: What to evaluate.
        focus: What the formula stands at: JSON, or a `fhirpath.node` that knows its type.
        names: Values after ``%``.
        now: The moment of ``now()`` and ``today()``, as a FHIR dateTime with time zone.

    Raises:
        FormulaFailed: The library gave up (several values where one is due, units that do not fit, ...).
    """
    from bot.interview.formulas.fhirpath import plain, run

    return plain(run(formula.tree, focus, names, now))

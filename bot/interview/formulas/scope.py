"""What a part of a formula is evaluated in: its focus, the names, the clock, and the work that is left. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.interview.formulas.formula import FormulaFailed, Tree
from bot.interview.formulas.nodes import Node, system
from bot.interview.values.patterns import PATIENCE_S

# The largest form known to us has 271 items: two walks through it, one inside the other, take less than this.
MOST_STEPS = 500_000
# Texts that grow with each round stop long before memory does.
MOST_CHARACTERS = 100_000

Values = list[Any]


@dataclass(slots=True)
class Work:
    """What one evaluation may still do: steps, and seconds of searching with patterns."""

    steps: int = MOST_STEPS
    patience_s: float = PATIENCE_S

    def spend(self, steps: int = 1) -> None:
        """Count steps.

        Raises:
            FormulaFailed: There were too many.
        """
        self.steps -= steps
        if self.steps < 0:
            raise FormulaFailed(f"more than {MOST_STEPS} steps")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is the same for all parts of a formula.

    Attributes:
        names: Values after ``%``.
        now: The moment of ``now()``, as a FHIR dateTime with seconds and zone.
        evaluate: Evaluates a part of the formula.
    """

    names: Mapping[str, object]
    now: str
    work: Work
    evaluate: Callable[[Tree, Scope], Values]


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a part of a formula stands.

    Attributes:
        this: What names start at, and ``$this``.
        index: The number of that among those that a function goes through; None outside of one.
        total: What ``aggregate()`` has so far; None outside of it.
    """

    this: Values
    around: Surroundings
    index: int | None = None
    total: Values | None = None

    def values(self, tree: Tree) -> Values:
        """Evaluate a part of the formula here."""
        return self.around.evaluate(tree, self)

    def at(self, item: object, index: int, tree: Tree) -> Values:
        """Evaluate a parameter on one of the elements that a function goes through."""
        return self.around.evaluate(tree, Scope([item], self.around, index, self.total))

    def adding(self, item: object, index: int, total: Values, tree: Tree) -> Values:
        """Evaluate the parameter of ``aggregate()``."""
        return self.around.evaluate(tree, replace(self, this=[item], index=index, total=total))


def one(values: Values) -> Any:
    """Return the only value as a value of FHIRPath, or the node of an element without one; None when there is none.

    Raises:
        FormulaFailed: There are several.
    """
    if len(values) > 1:
        raise FormulaFailed(f"{len(values)} values where one is due")
    return system(values[0]) if values else None


def truth(values: Values) -> bool | None:
    """Return a condition: a single value that is no boolean counts as true."""
    value = one(values)
    return value if value is None or isinstance(value, bool) else True


def of_kind(value: object, *kinds: type) -> Any:
    """Return the value if it is of the kind, None if there is none.

    Raises:
        FormulaFailed: It is of another.
    """
    if value is None or (isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))):
        return value
    if isinstance(value, Node) and value.value is None:
        return None
    names = {"str": "text", "int": "whole number", "Decimal": "number", "bool": "boolean"}
    raise FormulaFailed(f"no {names.get(kinds[-1].__name__, kinds[-1].__name__.lower())} where one is due")

"""A compiled FHIRPath formula, what it looks at, and how formulas go wrong. Pure.

Apart from `expressions`, so that the parser and what it parses into need not import each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class BadFormula(ValueError):
    """A text that is no FHIRPath, or uses a function that is not known here. The message says what."""


class FormulaFailed(ValueError):
    """A formula that could not be evaluated on these answers."""


@dataclass(frozen=True, slots=True)
class Reads:
    """What a formula looks at.

    Attributes:
        variables: Names after ``%``.
        functions: Functions that it calls.
        link_ids: Items of the response that it asks for by name.
        everything: Whether it looks at answers that no linkId names.
        own: Whether it looks at the answers of the item it stands at.
        inside: Whether it looks at what is inside that item.
    """

    variables: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    link_ids: frozenset[str] = frozenset()
    everything: bool = False
    own: bool = False
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Formula:
    """A FHIRPath expression, parsed."""

    source: str
    reads: Reads = field(compare=False)
    tree: Any = field(compare=False, repr=False)  # the library's own form

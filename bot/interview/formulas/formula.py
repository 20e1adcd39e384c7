"""A FHIRPath formula of a form: its syntax tree, what it reads, and its errors. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any


class BadFormula(ValueError):
    """A text that is no FHIRPath, or uses a function that is not known here. The message says what."""


class FormulaFailed(ValueError):
    """A formula that could not be evaluated on these answers. The message quotes none of them."""


# Names after "%" that stand for an address of HL7, whatever follows: %`ext-patient-birthTime`.
FAMILIES: Mapping[str, str] = {
    "vs-": "http://hl7.org/fhir/ValueSet/",
    "ext-": "http://hl7.org/fhir/StructureDefinition/",
}


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is written in the formula; None for the empty collection."""

    value: object


@dataclass(frozen=True, slots=True)
class Name:
    """A property, or a type at the beginning of a path."""

    name: str


@dataclass(frozen=True, slots=True)
class Special:
    """``$this``, ``$index`` or ``$total``."""

    name: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A name after ``%``."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its parameters, which stand unevaluated."""

    name: str
    parameters: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Index:
    """What stands in brackets after a path."""

    inner: Tree


@dataclass(frozen=True, slots=True)
class Path:
    """``root.link.link[index]``; the root is no path itself."""

    root: Tree
    links: tuple[Name | Call | Special | Index, ...]


@dataclass(frozen=True, slots=True)
class Sign:
    """``+`` or ``-`` before an operand."""

    sign: str
    operand: Tree


@dataclass(frozen=True, slots=True)
class Operation:
    """Operands with operators between them that bind alike, from left to right: sums of answers are long."""

    first: Tree
    rest: tuple[tuple[str, Tree], ...]


@dataclass(frozen=True, slots=True)
class TypeTest:
    """``operand is type`` or ``operand as type``."""

    sign: str
    operand: Tree
    type: str


Tree = Literal | Name | Special | Variable | Call | Path | Sign | Operation | TypeTest


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
    tree: Tree = field(compare=False, repr=False)


class Scored(dict[str, Any]):
    """A Coding that remembers what its option counts; otherwise it is the Coding."""

    score: Decimal

    def __init__(self, coding: Mapping[str, Any], score: Decimal) -> None:
        super().__init__(coding)
        self.score = score

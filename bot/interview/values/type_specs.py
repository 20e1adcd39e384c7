"""What properties the types of R4 have, and what each may hold. Pure.

It is data: `r4.yaml`, and `r4_resources.yaml` for further resources, read when the first of them is met.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import yaml

from bot.interview.values.fhir_json import value_name
from bot.interview.values.fhir_names import R4, RESOURCE_TYPES
from bot.interview.values.primitives import PRIMITIVES

# Codes of a required binding that are too many to list, by the word that stands for them in the data.
_GRAMMARS = {
    "<language>": re.compile(
        r"(?:[A-Za-z]{2,3}(?:-[A-Za-z]{3}){0,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?"
        r"(?:-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*(?:-[0-9A-WY-Za-wy-z](?:-[A-Za-z0-9]{2,8})+)*)"
        r"(?:-[xX](?:-[A-Za-z0-9]{1,8})+)?|[xX](?:-[A-Za-z0-9]{1,8})+|[iI](?:-[A-Za-z0-9]{1,8})+"
    ),
    "<mime>": re.compile(r"[A-Za-z0-9!#$&^_.+*-]+/[A-Za-z0-9!#$&^_.+*-]+(?: ?;.*)?"),
    "<currency>": re.compile(r"[A-Z]{3}"),
    "<resource>": re.compile("|".join(sorted(RESOURCE_TYPES))),
}


def is_language(tag: str) -> bool:
    """Say whether a text has the form of a language tag (BCP 47): ``de``, ``de-CH``."""
    return _GRAMMARS["<language>"].fullmatch(tag) is not None


@dataclass(frozen=True, slots=True)
class Element:
    """What one property may hold.

    Attributes:
        name: Of the element: ``value`` also for the property ``valueString``.
        type: A primitive, a data type, a backbone element, or ``Resource``.
        choice: Whether it is one of a choice of types.
        codes: The codes of a required binding; empty where any will do.
        grammar: What such codes look like where they are too many to list.
        targets: The resources that a reference may lead to; empty where any will do.
    """

    name: str
    type: str
    required: bool = False
    many: bool = False
    choice: bool = False
    codes: tuple[str, ...] = ()
    grammar: re.Pattern[str] | None = None
    targets: tuple[str, ...] = ()

    @property
    def step(self) -> str:
        """The element in FHIRPath: ``text``, or ``value.ofType(Coding)`` for one of a choice of types."""
        return f"{self.name}.ofType({self.type})" if self.choice else self.name


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """The properties of one type by their JSON names, and the elements that must be there."""

    properties: Mapping[str, Element]
    required: tuple[Element, ...]


def spec(name: str) -> TypeSpec | None:
    """Return the specification of a resource, backbone element or data type; None when it is not known here."""
    known = _specs().get(name)
    return known if known is not None else _further().get(name)


@cache
def _specs() -> Mapping[str, TypeSpec]:
    return MappingProxyType(dict(_read_all(R4)))


@cache
def _further() -> Mapping[str, TypeSpec]:
    path = Path(__file__).parent / "r4_resources.yaml"
    return MappingProxyType(dict(_read_all(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))))


def _read_all(data: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, TypeSpec]]:
    for kind in R4["common"]:
        for name, line in data.get(kind, {}).items():
            yield name, _read(f"{R4['common'][kind]} {line}")


def _read(line: str) -> TypeSpec:
    properties: dict[str, Element] = {}
    required: list[Element] = []
    for field in line.split():
        name, _, rest = field.partition(":")
        kind, _, codes = rest.partition("=")
        types = kind.rstrip("!*")
        marks = kind[len(types) :]
        if name.endswith("[x]"):
            element = Element(name[:-3], "", required="!" in marks, choice=True)
            properties |= _choices(name[:-3], types)
        else:
            plain, _, targets = types.partition("(")
            element = Element(
                name,
                plain,
                required="!" in marks,
                many="*" in marks,
                codes=() if codes in _GRAMMARS else tuple(code for code in codes.split(",") if code),
                grammar=_GRAMMARS.get(codes),
                targets=tuple(targets.rstrip(")").split("|")) if targets else (),
            )
            properties[name] = element
        if element.required:
            required.append(element)
    return TypeSpec(MappingProxyType(properties), tuple(required))


def _choices(name: str, types: str) -> dict[str, Element]:
    anything = (PRIMITIVES - {"xhtml"}) | R4["data_types"].keys() - {"Extension", "Narrative"}
    wanted = sorted(anything) if types == "any" else types.split("|")
    return {value_name(kind, name): Element(name, kind, choice=True) for kind in wanted}


def _of_extensions(kind: str) -> dict[str, TypeSpec]:
    return {base + name: _read(line) for base, group in R4[kind].items() for name, line in group.items()}


@dataclass(frozen=True, slots=True)
class Company:
    """An invariant that says which elements of a type go together.

    Attributes:
        rule: Its key in R4.
        how: one-of: at least one is there. not-both: at most one. needs: the first not without the second. together:
            all or none.
    """

    rule: str
    how: str
    names: tuple[str, ...]

    def broken_by(self, node: Mapping[str, object]) -> str:
        """Say how an element breaks it; empty when it does not."""
        there = [name for name in self.names if has(node, name)]
        named = " or ".join(self.names)
        match self.how:
            case "one-of" if not there:
                return f"{named} is needed"
            case "not-both" if len(there) > 1:
                return f"{' and '.join(there)} exclude each other"
            case "needs" if there == [self.names[0]]:
                return f"{self.names[0]} needs {self.names[1]}"
            case "together" if 0 < len(there) < len(self.names):
                return f"{' and '.join(self.names)} are there together or not at all"
            case _:
                return ""


def has(node: Mapping[str, object], name: str) -> bool:
    """Say whether an element is there: with its value, or with extensions alone; ``value[x]`` as any of its types."""
    start, choice, _ = name.partition("[")
    if not choice:
        return name in node or "_" + name in node
    plain = (each.lstrip("_") for each in node)
    return any(each.startswith(start) and each[len(start) :][:1].isupper() for each in plain)


COMPANIES: Mapping[str, tuple[Company, ...]] = MappingProxyType(
    {
        kind: tuple(Company(words[0], words[1], tuple(words[2:])) for line in lines if (words := line.split()))
        for kind, lines in R4["invariants"].items()
    }
)

# By the address of an extension: the parts that it is made of; what codes its value may be.
EXTENSION_PARTS = MappingProxyType(_of_extensions("extension_parts"))
EXTENSION_CODES = MappingProxyType(
    {url: each.properties["value"] for url, each in _of_extensions("extension_values").items()}
)

"""Elements of FHIR R4 as FHIRPath sees them: JSON that knows its type, values of FHIRPath's types, and scopes. Pure.

Which type an element has, which types a choice has and what is derived from what are tables of fhirpathpy; they are
read as data, nothing of that library is imported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bot.interview.formulas.formula import FormulaFailed, Scored, Tree
from bot.interview.formulas.measures import Kind, Moment, Quantity, read
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject
from bot.interview.values.patterns import PATIENCE_S
from bot.interview.values.units import UCUM

_MOMENTS: Mapping[str, Kind] = {"date": "Date", "dateTime": "DateTime", "instant": "DateTime", "time": "Time"}
_BACKBONE = frozenset({"BackboneElement", "Element"})
SYSTEM_TYPES = frozenset({"Any", "Boolean", "String", "Integer", "Decimal", "Date", "DateTime", "Time", "Quantity"})


@dataclass(frozen=True, slots=True)
class _Model:
    """The types of R4.

    Attributes:
        types: The type of an element, by its path.
        choices: What may follow the name of a choice, by its path.
        elsewhere: The path under which an element is described that is described like another.
        parents: What a type is derived from.
        inner: Paths that have elements below them.
    """

    types: Mapping[str, str]
    choices: Mapping[str, list[str]]
    elsewhere: Mapping[str, str]
    parents: Mapping[str, str]
    inner: frozenset[str]


@cache
def _model() -> _Model:
    spec = find_spec("fhirpathpy")
    folder = Path(spec.origin if spec is not None and spec.origin else "").parent / "models" / "r4"
    names = ("path2Type", "choiceTypePaths", "pathsDefinedElsewhere", "type2Parent")
    types, choices, elsewhere, parents = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in names
    )
    return _Model(types, choices, elsewhere, parents, frozenset(path.rpartition(".")[0] for path in types))


@lru_cache(maxsize=1024)
def lineage(kind: str) -> tuple[str, ...]:
    """Return a type of R4 with all that it is derived from, or a path within a resource as it is."""
    parent = _model().parents.get(kind)
    return (kind, *lineage(parent)) if parent else (kind,)


@cache
def r4_types() -> frozenset[str]:
    """Return the names of all types of R4."""
    parents = _model().parents
    return frozenset(parents) | frozenset(parents.values()) | {"Resource", "Element"}


@lru_cache(maxsize=4096)
def _element(path: str, name: str) -> tuple[str, str]:
    """Return the type of an element, and the path under which its own elements are; empty where they are not known."""
    model = _model()
    for each in lineage(path):
        full = model.elsewhere.get(f"{each}.{name}", f"{each}.{name}")
        found = model.types.get(full, "BackboneElement" if full in model.inner else "")
        if found == "System.String":
            # FHIR says "System.String" for ids of resources, whose type is id, and for some attributes of XML.
            return ("id", "id") if name == "id" and "Resource" in lineage(each) else ("string", "string")
        if found:
            return found, full if found in _BACKBONE else found
    return "", ""


@lru_cache(maxsize=4096)
def _choices(path: str, name: str) -> tuple[str, ...]:
    """Return the names under which JSON may hold a choice."""
    choices = _model().choices
    found = next((choices[full] for each in lineage(path) if (full := f"{each}.{name}") in choices), ())
    return tuple(name + suffix for suffix in found)


# Without a repr of its own: it would quote patients.
@dataclass(slots=True, eq=False, repr=False)
class Node:
    """An element of a resource, or a resource.

    Attributes:
        value: As JSON; None for a primitive that has only extensions.
        type: Its type in R4; "" where that is not known.
        path: Where its elements are described: a type, or a path such as ``Patient.contact``.
        beside: Id and extensions of a primitive, which JSON holds beside it.
        root: The resource that it was reached from.
    """

    value: Any
    type: str
    path: str
    beside: Mapping[str, Any] | None = None
    root: Any = None

    @classmethod
    def of(cls, value: object, kind: str = "", root: object = None) -> Node:
        """Return JSON as a node; `kind` is a type or a path of R4, which a resource says itself."""
        if isinstance(value, dict) and isinstance(value.get("resourceType"), str):
            if kind in {"", "Resource", "DomainResource"}:
                kind = value["resourceType"]
            root = value if root is None else root
        kind_of = "BackboneElement" if "." in kind else kind
        return cls(value, kind_of, kind, root=root)

    def child(self, name: str) -> Iterator[Node]:
        """Yield the elements of a name; those of a choice are found without its type."""
        held = self.value if isinstance(self.value, dict) else self.beside
        if held is None:
            return
        if name == "extension" and isinstance(held, Scored) and name not in held:
            # Equal codes stay equal, whatever they count: the extension is there only for who asks for it.
            held = {name: [*held.marks]}
        key = name
        if name not in held and "_" + name not in held:
            key = next((each for each in _choices(self.path, name) if each in held or "_" + each in held), "")
            if not key:
                return
        path = self.path if isinstance(self.value, dict) else "Element"
        yield from self._held(held, key, *_element(path, key))

    def _held(self, held: Mapping[str, Any], key: str, kind: str, path: str) -> Iterator[Node]:
        values, besides = held.get(key), held.get("_" + key)
        values = values if isinstance(values, list) else [values]
        besides = besides if isinstance(besides, list) else [besides] if besides is not None else []
        for number in range(max(len(values), len(besides))):
            value = values[number] if number < len(values) else None
            beside = besides[number] if number < len(besides) else None
            if isinstance(value, dict) and kind in {"Resource", ""}:
                yield Node.of(value, kind, self.root)
            elif value is not None or beside:
                yield Node(value, kind, path, beside if isinstance(beside, dict) else None, self.root)

    def children(self) -> Iterator[Node]:
        """Yield all elements."""
        held = self.value if isinstance(self.value, dict) else self.beside or {}
        path = self.path if isinstance(self.value, dict) else "Element"
        for key in dict.fromkeys(key.removeprefix("_") for key in held if key != "resourceType"):
            yield from self._held(held, key, *_element(path, key))

    def descendants(self) -> Iterator[Node]:
        """Yield all elements, and theirs."""
        for child in self.children():
            yield child
            yield from child.descendants()

    def key(self) -> Hashable:
        """Return what is the same for elements that are equal."""
        return frozen(self.value if self.value is not None else self.beside)

    def size(self) -> int:
        """Return how many values it holds."""
        return size(self.value)


def frozen(value: Any) -> Hashable:
    """Return JSON as something that can be looked up."""
    if isinstance(value, dict):
        return frozenset((name, frozen(child)) for name, child in value.items())
    return tuple(frozen(child) for child in value) if isinstance(value, list) else value


def size(value: Any) -> int:
    """Return how many values JSON holds."""
    if isinstance(value, dict):
        return 1 + sum(size(child) for child in value.values())
    return 1 + sum(size(child) for child in value) if isinstance(value, list) else 1


def system(item: object) -> Any:
    """Return the FHIRPath value of a primitive or a Quantity of FHIR; anything else as it is."""
    if not isinstance(item, Node):
        return Decimal(str(item)) if isinstance(item, float) else item
    value = item.value
    if isinstance(value, str):
        kind = _MOMENTS.get(item.type)
        return value if kind is None else read(kind, value) or value
    if isinstance(value, int | Decimal | float):
        return value if isinstance(value, bool) else _number(value, item.type)
    if isinstance(value, dict) and (item.type == "" or "Quantity" in lineage(item.type)):
        return _quantity(value) or item
    return item


def _number(value: float | Decimal, kind: str) -> int | Decimal:
    if isinstance(value, int) and kind != "decimal":
        return value
    return Decimal(str(value)) if isinstance(value, float) else Decimal(value)


def _quantity(value: Mapping[str, Any]) -> Quantity | None:
    amount = value.get("value")
    if isinstance(amount, bool) or not isinstance(amount, int | Decimal | float) or "comparator" in value:
        return None
    code, label = (held if isinstance(held := value.get(name), str) else "" for name in ("code", "unit"))
    stated = value.get("system")
    system_of_code = stated if code and isinstance(stated, str) else ""
    of_ucum = system_of_code in {UCUM, ""} and stated in {UCUM, None}
    return Quantity(Decimal(str(amount)), code or label or "1", either=of_ucum, system=system_of_code, label=label)


def type_of(item: object) -> tuple[str, str]:
    """Return namespace and name of a type; of JSON whose type is not known, that of its value."""
    if isinstance(item, Node):
        if item.type:
            return "FHIR", item.type
        item = item.value
    value = system(item)
    if isinstance(value, bool):
        return "System", "Boolean"
    if isinstance(value, Moment):
        return "System", value.kind
    for python, name in ((str, "String"), (int, "Integer"), (Decimal, "Decimal"), (Quantity, "Quantity")):
        if isinstance(value, python):
            return "System", name
    return "System", "Any"


def base_of(space: str, name: str) -> str:
    """Return the type that a type is derived from, with its namespace."""
    parents = _model().parents
    return f"FHIR.{parents[name]}" if space == "FHIR" and name in parents else "System.Any"


def is_type(item: object, name: str, *, exactly: bool = False) -> bool:
    """Say whether a value is of a type: ``Patient``, ``FHIR.string``, ``System.Integer``.

    Args:
        item: A node or a value.
        name: The type. Without namespace, it may be of either.
        exactly: Whether a primitive type that is derived from it, as code is from string, does not count.
    """
    space, _, bare = name.rpartition(".")
    own_space, own = type_of(item)
    if space and space != own_space and not (isinstance(item, Node) and not item.type):
        return False
    if own == bare or (isinstance(item, Node) and not item.type and own.lower() == bare.lower()):
        return True
    if own_space == "System":
        return bare == "Any" and space == "System"
    return bare in lineage(own) and not (exactly and own[:1].islower())


def whole(focus: object, name: str, resource: object) -> Node | None:
    """Resolve a type at the beginning of a path, as in ``Patient.name``; None where `name` is no type of the focus.

    Authors of forms write ``QuestionnaireResponse.item`` at an item too, and mean the response that it is in.
    """
    if not isinstance(focus, Node):
        return None
    if name in lineage(focus.type):
        return focus
    in_response = focus.path.startswith("QuestionnaireResponse.")
    if name == "QuestionnaireResponse" and in_response and isinstance(resource, Node) and resource.type == name:
        return resource
    return None


def nodes(value: object) -> list[object]:
    """Return what stands behind a name: nodes or values, of JSON too."""
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return [each for part in value for each in nodes(part)]
    return [Node.of(value)] if isinstance(value, dict) else [value]


def as_json(values: Iterable[object], now: str = "") -> list[JsonValue]:
    """Return values as JSON; what has only extensions is left out.

    Args:
        values: Typed values.
        now: As for `evaluate`. Where it is given, moments that were worked out are written as R4 has to have them: to
            the second, and with a zone, that of the clock where they have none.
    """
    found = (value for value in values if not isinstance(value, Node) or value.value is not None)
    clock = read("DateTime", now) if now else None
    return [_json(value.in_full(clock) if clock and isinstance(value, Moment) else value) for value in found]


def _json(value: object) -> Any:
    if isinstance(value, Node):
        return _json(value.value)
    if isinstance(value, float):
        return Decimal(str(value))
    if isinstance(value, Quantity):
        return _amount(value)
    return str(value) if isinstance(value, Moment) else value


def _amount(quantity: Quantity) -> JsonObject:
    """Return a Quantity of FHIR: a code needs the system that it is of, and one known by text only gets none."""
    if quantity.system:
        coded: JsonObject = {"system": quantity.system, "code": quantity.unit, "unit": quantity.name}
        return {"value": quantity.value, **coded}
    return {"value": quantity.value} if quantity.name == "1" else {"value": quantity.value, "unit": quantity.name}


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

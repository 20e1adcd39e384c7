"""Value sets and code systems at hand: in `contained`, in local files, or built in. Pure.

What is not at hand is said to be unknown, never guessed: a code of SNOMED CT in a value set that takes in whole
hierarchies of SNOMED CT can neither be confirmed nor refused here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    code_key,
    objects,
    split_canonical,
    string,
    strings,
    value_of,
)
from bot.interview.values.patterns import matcher
from bot.interview.values.references import sound_system

_MAX_IMPORTS = 20
# What codes of systems look like that are too large, or not free, to be shipped: enough to refuse what cannot be one.
_GRAMMARS = {
    "http://loinc.org": re.compile(r"[A-Z]{0,4}[0-9]{1,7}(-[0-9])?"),
    "http://snomed.info/sct": re.compile(r"(=== |<<< )?[0-9]{6,18}\b.*", re.DOTALL),
    "http://unstats.un.org/unsd/methods/m49/m49.htm": re.compile(r"[0-9]{3}"),
    "urn:ietf:bcp:13": re.compile(r"[^/\s]+/\S+"),
    "urn:ietf:bcp:47": re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*"),
    "urn:iso:std:iso:3166": re.compile(r"[A-Z]{2,3}|[0-9]{3}"),
    "urn:iso:std:iso:3166:-2": re.compile(r"[A-Z]{2}-[A-Z0-9]{1,3}"),
}


class Member(Enum):
    """Whether a code is in a value set or code system."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Concept:
    """One code.

    Attributes:
        display: Its text in the base language; empty when none is given.
        inactive: Whether it is no longer to be used: answers with it are known, and nobody is offered it.
        designations: Texts in other languages, as (language tag, text).
        node: The JSON it came from (for extensions such as an ordinal).
    """

    system: str
    code: str
    display: str = ""
    designations: tuple[tuple[str, str], ...] = ()  # those to be shown first
    node: JsonObject = field(default_factory=dict, compare=False, repr=False)
    inactive: bool = False


@dataclass(frozen=True, slots=True)
class Expansion:
    """The codes of a value set as far as they are known.

    Attributes:
        concepts: In the order of the definition, each once.
        missing: Why there may be more; empty when the list is complete.
    """

    concepts: tuple[Concept, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeSystem:
    """A code system with its hierarchy. `complete` says whether its codes are all here."""

    url: str
    concepts: dict[str, Concept]
    parents: dict[str, tuple[str, ...]]
    complete: bool

    def ancestors(self, code: str) -> Iterator[str]:
        """Yield every code above `code`, nearest first."""
        seen, pending = {code}, list(self.parents.get(code, ()))
        while pending:
            parent = pending.pop(0)
            if parent not in seen:
                seen.add(parent)
                yield parent
                pending.extend(self.parents.get(parent, ()))


def read_code_system(resource: JsonObject) -> CodeSystem:
    """Read a CodeSystem; supplements and excerpts count as incomplete."""
    url = string(resource, "url")
    concepts: dict[str, Concept] = {}
    parents: dict[str, tuple[str, ...]] = {}
    pending = [(node, "") for node in reversed(objects(resource, "concept"))]
    while pending:
        node, parent = pending.pop()
        concept = _concept(url, node)
        concepts.setdefault(concept.code, concept)
        above = [parent, *_parent_properties(node)] if parent else _parent_properties(node)
        parents[concept.code] = (*parents.get(concept.code, ()), *above)
        pending.extend((child, concept.code) for child in reversed(objects(node, "concept")))
    return CodeSystem(url, concepts, parents, resource.get("content") == "complete")


def _concept(system: str, node: JsonObject) -> Concept:
    given = sorted(objects(node, "designation"), key=_rank_of_use)
    texts = tuple((string(each, "language"), string(each, "value")) for each in given if each.get("value"))
    key = code_key({"system": sound_system(system), "code": node.get("code")})
    return Concept(*key, string(node, "display"), texts, node, _is_inactive(node))


def _is_inactive(node: JsonObject) -> bool:
    """Say whether a code is out of use: in an expansion by its mark, in a code system by its properties."""
    said = {string(each, "code"): value_of(each) for each in objects(node, "property")}
    inactive, status = said.get("inactive"), said.get("status")
    if node.get("inactive") is True or (inactive is not None and inactive.value in (True, "true")):
        return True
    return inactive is None and status is not None and status.value in _OUT_OF_USE


# Statuses of a code (FHIR's concept properties) with which nobody should choose it any more.
_OUT_OF_USE = ("retired", "inactive", "withdrawn", "entered-in-error")
# What a designation is for, by code; those without a use come after the preferred ones, all others last.
_PREFERRED = frozenset({"display", "preferredForLanguage", "preferred"})
_ANOTHER_NAME = frozenset({"900000000000013009"})  # SNOMED CT: synonym; the term that people use is one, too


def _rank_of_use(designation: JsonObject) -> int:
    use = string(as_object(designation.get("use")), "code")
    return 0 if use in _PREFERRED else 1 if not use else 2 if use in _ANOTHER_NAME else 3


def _parent_properties(node: JsonObject) -> list[str]:
    found = (value_of(each) for each in objects(node, "property") if each.get("code") == "parent")
    return [value.value for value in found if value is not None and isinstance(value.value, str)]


class Terminology:
    """Look-up over a set of ValueSet and CodeSystem resources; the first of each url (and version) counts."""

    def __init__(self, resources: Iterable[JsonObject] = (), *, base: Terminology | None = None) -> None:
        """Index `resources`; what they lack is looked up in `base`."""
        self._base = base
        self._value_sets: dict[str, JsonObject] = {}
        self._system_resources: dict[str, JsonObject] = {}
        self._systems: dict[str, CodeSystem] = {}
        self._expansions: dict[str, Expansion] = {}
        self._supplements: dict[str, list[CodeSystem]] = {}
        for resource in resources:
            self._add(resource)

    def _add(self, resource: JsonObject) -> None:
        kind, url, version = resource.get("resourceType"), string(resource, "url"), string(resource, "version")
        index = {"ValueSet": self._value_sets, "CodeSystem": self._system_resources}.get(str(kind))
        if index is None:
            return
        if resource.get("content") == "supplement" and kind == "CodeSystem":
            supplemented = split_canonical(string(resource, "supplements"))[0]
            self._supplements.setdefault(supplemented, []).append(read_code_system(resource))
            return
        for name in (url, f"{url}|{version}") if url else ():
            index.setdefault(name, resource)
        if kind == "ValueSet" and string(resource, "id"):  # as forms of the same Bundle or server name it
            index.setdefault(f"ValueSet/{string(resource, 'id')}", resource)

    def within(self, resource: JsonObject) -> Terminology:
        """Return what a resource sees: its contained value sets (as ``#id`` too) and code systems before all others."""
        contained = objects(resource, "contained")
        inner = Terminology(contained, base=self)
        for each in contained:
            if each.get("resourceType") == "ValueSet":
                # Some editors write the mark into the id, too.
                inner._value_sets.setdefault("#" + string(each, "id").removeprefix("#"), each)
        return inner

    def value_set(self, canonical: str) -> JsonObject | None:
        """Return the ValueSet that ``#id``, ``url`` or ``url|version`` names, if it is at hand."""
        found = self._value_sets.get(canonical)
        return found if found is not None or self._base is None else self._base.value_set(canonical)

    def code_system(self, canonical: str) -> CodeSystem | None:
        """Return the CodeSystem that ``url`` or ``url|version`` names, if it is at hand."""
        if canonical not in self._systems and canonical in self._system_resources:
            self._systems[canonical] = read_code_system(self._system_resources[canonical])
        found = self._systems.get(canonical)
        return found if found is not None or self._base is None else self._base.code_system(canonical)

    def concept(self, system: str, code: str) -> Concept | None:
        """Return a code of a code system at hand."""
        known = self.code_system(system)
        return known.concepts.get(code) if known else None

    def names(self, system: str, code: str) -> tuple[tuple[str, str], ...]:
        """Return what a code is called, as (language tag, text): by its code system, then by supplements to it.

        Of each language, what is to be shown comes first. The display of the code system has no tag.
        """
        known = self.concept(system, code)
        found = [("", known.display), *known.designations] if known is not None and known.display else []
        for supplement in self._supplements.get(system, ()):
            if code in supplement.concepts:
                found += supplement.concepts[code].designations
        return tuple(dict.fromkeys((*found, *(self._base.names(system, code) if self._base is not None else ()))))

    def expand(self, canonical: str) -> Expansion:
        """List the codes of a value set, as far as they can be known here."""
        if canonical not in self._expansions:
            self._expansions[canonical] = self._expand(canonical, ())
        return self._expansions[canonical]

    def member(self, canonical: str, *, system: str, code: str) -> Member:
        """Say whether a value set holds a code; an empty `system` asks for the code in any system."""
        return self._member(canonical, system, code, ())

    def names_systems(self, canonical: str) -> bool:
        """Say whether every code of a value set has a system, by how it is made up."""
        includes = objects(as_object((self.value_set(canonical) or {}).get("compose")), "include")
        return bool(includes) and all(string(include, "system") for include in includes)

    def absent(self, canonical: str) -> tuple[str, ...]:
        """Return the value sets that would have to be at hand to list the codes of this one; none where all are."""
        return tuple(dict.fromkeys(self._absent(canonical, ())))

    def _absent(self, canonical: str, path: tuple[str, ...]) -> Iterator[str]:
        if canonical in path or len(path) > _MAX_IMPORTS or not self._expand(canonical, path).missing:
            return
        compose = as_object((self.value_set(canonical) or {}).get("compose"))
        imported = [each for include in objects(compose, "include") for each in strings(include, "valueSet")]
        inside = [each for name in imported for each in self._absent(name, (*path, canonical))]
        # What is wanted of a system that is not here, only who knows the whole value set can tell.
        yield from inside if inside or canonical.startswith("#") else [canonical]

    def _expand(self, canonical: str, path: tuple[str, ...]) -> Expansion:
        resource = self.value_set(canonical)
        if resource is None:
            return Expansion((), (f"ValueSet {canonical} is not at hand",))
        if canonical in path or len(path) > _MAX_IMPORTS:
            return Expansion((), (f"ValueSet {canonical} imports itself",))
        given = list(_given_expansion(resource))
        compose = as_object(resource.get("compose"))
        if not objects(compose, "include"):
            return _once(given, () if given else (f"ValueSet {canonical} says nothing of its codes",))
        found: list[Concept] = []
        missing: list[str] = []
        for include in objects(compose, "include"):
            part = self._include(include, (*path, canonical))
            found.extend(part.concepts)
            missing.extend(part.missing)
        if missing and given:
            return _once(given, ())
        return _once(self._without(found, compose, (*path, canonical)), tuple(missing))

    def _without(self, concepts: list[Concept], compose: JsonObject, path: tuple[str, ...]) -> list[Concept]:
        excluded = {
            (concept.system, concept.code)
            for exclude in objects(compose, "exclude")
            for concept in self._include(exclude, path).concepts
        }
        return [concept for concept in concepts if (concept.system, concept.code) not in excluded]

    def _include(self, include: JsonObject, path: tuple[str, ...]) -> Expansion:
        """List what one include or exclude names: its system part and its imported value sets, intersected."""
        imported = [self._expand(canonical, path) for canonical in strings(include, "valueSet")]
        parts = ([self._system_part(include)] if include.get("system") else []) + imported
        if not parts:
            return Expansion((), ("an include without system or value set",))
        missing = tuple(reason for part in parts for reason in part.missing)
        shared = set.intersection(*({(c.system, c.code) for c in part.concepts} for part in parts))
        return Expansion(tuple(c for c in parts[0].concepts if (c.system, c.code) in shared), missing)

    def _system_part(self, include: JsonObject) -> Expansion:
        canonical = _system_of(include)
        url = split_canonical(canonical)[0]
        if listed := objects(include, "concept"):
            return Expansion(tuple(self._with_display(_concept(url, node)) for node in listed))
        system = self.code_system(canonical)
        if system is None:
            return Expansion((), (f"CodeSystem {canonical} is not at hand",))
        unknown = tuple(reason for each in objects(include, "filter") if (reason := _filter_problem(each)))
        filters, concepts = objects(include, "filter"), () if unknown else system.concepts.values()
        kept = [each for each in concepts if all(_passes(system, each, rule) for rule in filters)]
        gap = () if system.complete else (f"CodeSystem {canonical} is at hand in part",)
        return Expansion(tuple(kept), unknown + gap)

    def _with_display(self, concept: Concept) -> Concept:
        known = None if concept.display else self.concept(concept.system, concept.code)
        if known is None:
            return concept
        return Concept(
            concept.system, concept.code, known.display, concept.designations or known.designations, known.node
        )

    def _member(self, canonical: str, system: str, code: str, path: tuple[str, ...]) -> Member:
        expansion = self._expand(canonical, path) if path else self.expand(canonical)
        if _names(expansion, system, code):
            return Member.YES
        if not expansion.missing:
            return Member.NO
        return self._refused(canonical, system, code, (*path, canonical))

    def _refused(self, canonical: str, system: str, code: str, path: tuple[str, ...]) -> Member:
        """Say NO where no include could hold the code, although not all includes can be listed."""
        resource = self.value_set(canonical)
        if resource is None or len(path) > _MAX_IMPORTS:
            return Member.UNKNOWN
        compose = as_object(resource.get("compose"))
        if any(_names(self._include(each, path), system, code) for each in objects(compose, "exclude")):
            return Member.NO
        includes = objects(compose, "include")
        open_ones = [include for include in includes if self._may_hold(include, system, code, path)]
        return Member.UNKNOWN if open_ones or not includes else Member.NO

    def _may_hold(self, include: JsonObject, system: str, code: str, path: tuple[str, ...]) -> bool:
        own = _system_of(include)
        url = split_canonical(own)[0]
        if (own and system not in {"", url}) or not could_be_code(url, code):
            return False
        if own and not self._system_part(include).missing:
            part = self._system_part(include).concepts
            if code not in {concept.code for concept in part}:
                return False
        imports = [canonical for canonical in strings(include, "valueSet") if canonical not in path]
        return all(self._member(canonical, system, code, path) is not Member.NO for canonical in imports)


def _names(expansion: Expansion, system: str, code: str) -> bool:
    return any(concept.code == code and system in ("", concept.system) for concept in expansion.concepts)


def _system_of(include: JsonObject) -> str:
    system, version = string(include, "system"), string(include, "version")
    return f"{system}|{version}" if system and version else system


def _given_expansion(resource: JsonObject) -> Iterator[Concept]:
    """Yield the concepts of an expansion that came with the value set; headings (abstract) are left out."""
    pending = list(reversed(objects(as_object(resource.get("expansion")), "contains")))
    while pending:
        node = pending.pop()
        if node.get("abstract") is not True and string(node, "code"):
            yield _concept(string(node, "system"), node)
        pending.extend(reversed(objects(node, "contains")))


def _once(concepts: Iterable[Concept], missing: tuple[str, ...]) -> Expansion:
    kept: dict[tuple[str, str], Concept] = {}
    for concept in concepts:
        kept.setdefault((concept.system, concept.code), concept)
    return Expansion(tuple(kept.values()), missing)


def could_be_code(system: str, code: str) -> bool:
    """Say whether a text can be a code of a system that is not at hand: by its form, and its check digit if any."""
    grammar = _GRAMMARS.get(system)
    if grammar is not None and not grammar.fullmatch(code):
        return False
    if system == _SNOMED and code.isdecimal():
        return _verhoeff(code)
    plain = _LOINC_NUMBER.fullmatch(code) if system == _LOINC else None
    return plain is None or _mod10(plain[1]) == int(plain[2])


_SNOMED, _LOINC = "http://snomed.info/sct", "http://loinc.org"
_LOINC_NUMBER = re.compile(r"([0-9]{1,7})-([0-9])")


def implied_system(value_set: str) -> str:
    """Return the system of all codes of a value set that its code system itself defines by address; else nothing."""
    url = split_canonical(value_set)[0]
    if re.match(r"http://snomed\.info/sct(/[^?]*)?\?fhir_vs(=|$)", url):
        return _SNOMED
    return _LOINC if url == f"{_LOINC}/vs" or url.startswith(f"{_LOINC}/vs/") else ""


def _verhoeff(code: str) -> bool:
    """Check the last digit of an SCTID: Verhoeff's dihedral check, as SNOMED's release format says."""
    check = 0
    for place, digit in enumerate(reversed(code)):
        moved = int(digit)
        for _ in range(place % 8):
            moved = _VERHOEFF_STEP[moved]
        check = _dihedral(check, moved)
    return check == 0


_VERHOEFF_STEP = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)


def _dihedral(one: int, other: int) -> int:
    """Multiply in the dihedral group of the pentagon: 0 to 4 are turns, 5 to 9 reflections."""
    turn = (one + other) % 5 if one < 5 else (one - other) % 5
    return turn if (one < 5) is (other < 5) else turn + 5


def _mod10(digits: str) -> int:
    """Return LOINC's check digit: every second digit from the right, as one number doubled, stands before the rest."""
    backwards = digits[::-1]
    doubled = str(int(backwards[::2]) * 2)
    return -sum(int(each) for each in doubled + backwards[1::2]) % 10


_HIERARCHY = ("is-a", "descendent-of", "is-not-a")


def _filter_problem(rule: JsonObject) -> str:
    op, name = string(rule, "op"), string(rule, "property")
    known = op in _HIERARCHY or op in {"=", "in", "not-in", "exists"} or (op == "regex" and name == "code")
    return "" if known else f"the filter {op or 'without operator'} on {name} is not supported"


def _passes(system: CodeSystem, concept: Concept, rule: JsonObject) -> bool:
    op, name, wanted = string(rule, "op"), string(rule, "property"), string(rule, "value")
    if op in _HIERARCHY:
        below = wanted in system.ancestors(concept.code)
        return below if op == "descendent-of" else (below or concept.code == wanted) is (op == "is-a")
    if op == "regex":
        test = matcher(wanted)
        return test is not None and test(concept.code) is True
    values = _property(system, concept, name)
    if op == "exists":
        return bool(values) is (wanted == "true")
    choices = [part.strip() for part in wanted.split(",")] if op in {"in", "not-in"} else [wanted]
    return any(value in choices for value in values) is (op != "not-in")


def _property(system: CodeSystem, concept: Concept, name: str) -> list[str]:
    if name in {"code", "concept"}:
        return [concept.code]
    if name == "display":
        return [concept.display]
    if name == "parent":
        return list(system.parents.get(concept.code, ()))
    found = (value_of(each) for each in objects(concept.node, "property") if each.get("code") == name)
    return [_text(value.value) for value in found if value is not None]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value.get("code", "")) if isinstance(value, dict) else str(value)

"""Read FHIR JSON as it came: nothing is coerced, decimals keep their digits, wrong shapes read as absent. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from bot.interview.values.answer import Answer, JsonValue

JsonObject = Mapping[str, JsonValue]

TRANSLATION = "http://hl7.org/fhir/StructureDefinition/translation"
MAX_DEPTH = 200
# An integer of more digits is none that FHIR knows; Python refuses to convert those of several thousand.
_MAX_DIGITS = 25
# No exponent that is read is larger: Decimal holds little more, and no type of FHIR takes such a number.
_FARTHEST = 999_999_999_999_999


class NotJson(ValueError):
    """Text that is not JSON, or nested too deep to be read. The message quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A JSON document.

    Attributes:
        value: What it says; numbers with a fraction or exponent are `Decimal`.
        repeated: Property names that occurred twice in one object (the last one counts).
    """

    value: JsonValue
    repeated: tuple[str, ...] = ()


def parse(text: str | bytes) -> Parsed:
    """Read a JSON document.

    Raises:
        NotJson: It is not JSON (NaN and Infinity are not), not UTF-8, or nested deeper than `MAX_DEPTH`.
    """
    repeated: list[str] = []

    def collect(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            repeated.extend(sorted(name for name in found if names.count(name) > 1))
        return found

    try:
        source = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        value = json.loads(
            source, parse_float=_number, parse_int=_integer, parse_constant=_constant, object_pairs_hook=collect
        )
    except RecursionError:
        raise NotJson(f"nested deeper than {MAX_DEPTH} levels") from None
    except json.JSONDecodeError as error:
        raise NotJson(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise NotJson(f"not UTF-8 at byte {error.start}") from None
    if deeper_than(value, MAX_DEPTH):
        raise NotJson(f"nested deeper than {MAX_DEPTH} levels")
    return Parsed(value, tuple(repeated))


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _MAX_DIGITS else _number(digits)


def _number(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except InvalidOperation:
        # It is JSON all the same, and refused where it stands, for being out of range.
        sign, below = "-" * digits.startswith("-"), "-" * ("e-" in digits.lower())
        return Decimal(f"{sign}1e{below}{_FARTHEST}")


def _constant(name: str) -> Decimal:
    raise NotJson(f"{name} is not a JSON number")


def deeper_than(value: JsonValue, limit: int) -> bool:
    """Say whether objects and lists nest deeper than `limit`; never recurses itself."""
    level: list[JsonValue] = [value]
    for _ in range(limit):
        level = [
            child
            for holder in level
            if isinstance(holder, dict | list)
            for child in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def dump(value: JsonValue | Mapping[str, JsonValue]) -> str:
    """Return compact JSON on one line; decimals are written with the digits they have."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(str(key))}:{dump(child)}" for key, child in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(dump(child) for child in value) + "]"
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def as_object(value: JsonValue) -> JsonObject:
    """Return an object as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def objects(parent: JsonObject, name: str) -> list[JsonObject]:
    """Return the objects in the list `name`, in order; what is no object is left out."""
    found = parent.get(name)
    return [child for child in found if isinstance(child, dict)] if isinstance(found, list) else []


def strings(parent: JsonObject, name: str) -> list[str]:
    """Return the strings in the list `name`."""
    found = parent.get(name)
    return [child for child in found if isinstance(child, str)] if isinstance(found, list) else []


def string(parent: JsonObject, name: str) -> str:
    """Return the string `name`, or an empty one when it is absent or no string."""
    found = parent.get(name)
    return found if isinstance(found, str) else ""


def number(value: JsonValue) -> Decimal | None:
    """Return a JSON number as a decimal; None for anything else (true and false are no numbers)."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return Decimal(value)


def value_of(element: JsonObject, prefix: str = "value") -> Answer | None:
    """Return the ``value[x]`` (or ``answer[x]``, ``initial[x]``) of an element; the first if there are several."""
    return next(values_of(element, prefix), None)


def values_of(element: JsonObject, prefix: str = "value") -> Iterator[Answer]:
    """Yield every ``value[x]`` that an element has; a valid one has at most one."""
    for name, value in element.items():
        rest = name[len(prefix) :]
        if name.startswith(prefix) and rest[:1].isupper():
            yield Answer(rest[0].lower() + rest[1:], value)


def value_name(kind: str, prefix: str = "value") -> str:
    """Return the property that holds a value of this type: ``valueCoding``."""
    return prefix + kind[:1].upper() + kind[1:]


def code_key(coding: JsonObject) -> tuple[str, str]:
    """Return system and code, without the spaces that FHIR does not allow in them; codes may be numbers in forms."""
    return "".join(plain(coding, "system").split()), " ".join(plain(coding, "code").split())


def plain(element: JsonObject, name: str) -> str:
    """Return the string or number `name` as text without spaces around it; empty for anything else."""
    found = element.get(name)
    return str(found).strip() if isinstance(found, str | int | Decimal) and not isinstance(found, bool) else ""


def extensions(element: JsonObject, *urls: str) -> list[JsonObject]:
    """Return the extensions that have one of `urls`, in order."""
    if "extension" not in element:
        return []
    return [extension for extension in objects(element, "extension") if extension.get("url") in urls]


def extension_values(element: JsonObject, *urls: str) -> list[Answer]:
    """Return the values of the extensions that have one of `urls`; those without a value are left out."""
    found = (value_of(extension) for extension in extensions(element, *urls))
    return [value for value in found if value is not None]


def extension_value(element: JsonObject, *urls: str) -> Answer | None:
    """Return the value of the first extension that has one of `urls`."""
    return next(iter(extension_values(element, *urls)), None)


def extension_table(element: JsonObject) -> dict[str, list[JsonValue]]:
    """Return the values of all extensions by url."""
    found: dict[str, list[JsonValue]] = {}
    for extension in objects(element, "extension") if "extension" in element else ():
        value = value_of(extension)
        if value is not None:
            found.setdefault(string(extension, "url"), []).append(value.value)
    return found


def companion(element: JsonObject, name: str) -> JsonObject:
    """Return what FHIR keeps beside a primitive: ``_text`` holds the extensions of ``text``."""
    return as_object(element.get("_" + name))


def translations(element: JsonObject, name: str) -> dict[str, str]:
    """Return the translations of the text `name` by language tag, as the translation extension gives them."""
    found: dict[str, str] = {}
    for extension in extensions(companion(element, name), TRANSLATION):
        lang, content = extension_value(extension, "lang"), extension_value(extension, "content")
        if lang and content and isinstance(lang.value, str) and isinstance(content.value, str):
            found.setdefault(lang.value, content.value)
    return found


def translated(element: JsonObject, name: str, lang: str) -> str:
    """Return the text `name` in `lang`, else in a regional form of it (``de-CH`` for ``de``), else as it stands."""
    known = translations(element, name)
    if lang in known:
        return known[lang]
    wanted = lang.partition("-")[0].lower()
    kin = (text for tag, text in known.items() if tag.partition("-")[0].lower() == wanted)
    return next(kin, string(element, name))


def split_canonical(canonical: str) -> tuple[str, str]:
    """Split ``url|version#fragment`` into url and version; the version is empty where there is none.

    The address of something contained (``#id``) is all url.
    """
    url, _, version = canonical.partition("|")
    return url if url.startswith("#") else url.partition("#")[0], version.partition("#")[0]


def walk(items: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """Yield Questionnaire items and all that are nested in them, in the order they are asked."""
    pending = list(reversed(items))
    while pending:
        item = pending.pop()
        yield item
        pending.extend(reversed(objects(item, "item")))

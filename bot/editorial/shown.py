"""What patients see of a Questionnaire and of a site's file, as named texts in reading order. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_TRANSLATED = "http://hl7.org/fhir/StructureDefinition/translation"


def form_texts(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the texts of a Questionnaire, or of a Bundle with its value sets, by the item or code that they are of."""
    resources: list[Any] = [document]
    if document.get("resourceType") == "Bundle":
        resources = [entry.get("resource", {}) for entry in _list(document, "entry")]
    return [each for resource in resources for each in _texts(resource, str(resource.get("id", "")))]


def site_texts(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a site's file says, but for who reviewed it, entry by entry."""
    return list(_entries({key: value for key, value in data.items() if key != "review"}, ""))


def _texts(node: Mapping[str, Any], place: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of an element and of what is below it, with their translations."""
    for key, value in node.items():
        if key in ("title", "text", "display", "description", "prefix", "valueString", "valueMarkdown"):
            if isinstance(value, str) and value:
                yield f"{place} {key}".strip(), value
                for language, text in _translations(node.get(f"_{key}")):
                    yield f"{place} {key} ({language})".strip(), text
        elif not key.startswith("_") and isinstance(value, dict):
            yield from _texts(value, f"{place} {key}".strip())
        elif isinstance(value, list):
            for number, each in enumerate(value, 1):
                if isinstance(each, dict):
                    own = each.get("linkId") or each.get("code") or each.get("url", "").rpartition("/")[2] or number
                    within = f"{place} {own}" if isinstance(own, str | int) else f"{place} {key} {number}"
                    yield from _texts(each, within.strip())


def _translations(extended: Any) -> Iterator[tuple[str, str]]:
    for extension in _list(extended, "extension") if isinstance(extended, dict) else ():
        if extension.get("url") == _TRANSLATED:
            parts = {each.get("url"): each for each in _list(extension, "extension")}
            language = parts.get("lang", {}).get("valueCode", "")
            content = parts.get("content", {})
            text = content.get("valueString") or content.get("valueMarkdown")
            if text:
                yield str(language), str(text)


def _list(node: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = node.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _entries(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _entries(each, f"{place}.{key}".strip("."))
    elif isinstance(value, list | tuple):
        yield place, ", ".join(str(each) for each in value)
    elif value is not None:
        yield place, str(value)

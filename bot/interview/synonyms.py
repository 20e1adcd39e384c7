"""What patients call questions and answers besides the form's own words: data beside the form, put into it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bot.interview.fhir_json import as_object, string
from bot.interview.form import Item, Option


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Further names, by linkId: of the question, and of its options by code."""

    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)


def with_synonyms(items: tuple[Item, ...], synonyms: Synonyms) -> tuple[Item, ...]:
    """Return items, and all inside them, with their further names; names of what the form does not have are left."""
    return tuple(_with(item, synonyms) for item in items)


def _with(item: Item, synonyms: Synonyms) -> Item:
    named = synonyms.options.get(item.link_id, {})
    return replace(
        item,
        synonyms=synonyms.questions.get(item.link_id, ()),
        yes_said=named.get("true", ()) if item.type == "boolean" else (),
        options=tuple(replace(option, synonyms=named.get(_code(option), ())) for option in item.options),
        children=with_synonyms(item.children, synonyms),
    )


def _code(option: Option) -> str:
    value = option.answer.value
    return string(as_object(value), "code") if isinstance(value, dict) else str(value)

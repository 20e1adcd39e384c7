"""What a reply may consist of, and the guard that every reply passes. Pure.

A reply is a list of parts: an approved text of the catalog, or an interface text whose slots hold typed values. The
guard compares fixed text byte for byte; anything else raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Literal, get_args

from bot.catalog import Catalog, Pair
from bot.errors import GuardViolation
from bot.interface_texts import INTERFACE_TEXTS

ContentField = Literal["question", "answer", "easy_answer"]


@dataclass(frozen=True, slots=True)
class Content:
    """A text of a pair, copied from the catalog."""

    pair_id: str
    field: ContentField
    text: str


@dataclass(frozen=True, slots=True)
class Interface:
    """A fixed sentence of the program; slots hold numbers only."""

    key: str
    text: str
    slots: Mapping[str, int] = field(default_factory=dict)


Part = Content | Interface


@dataclass(frozen=True, slots=True)
class Reply:
    """What the patient gets for one turn.

    Attributes:
        language: Of the interface and content texts.
        parts: In reading order.
        choices: What may be chosen by number, in order; empty unless the reply asks back.
    """

    language: str
    parts: tuple[Part, ...]
    choices: tuple[Part, ...] = ()


def content(pair: Pair, name: ContentField) -> Content:
    """Return a pair's text as a part; raise GuardViolation when the pair has no such text."""
    text = getattr(pair, name)
    if text is None:
        raise GuardViolation(f"The pair {pair.id!r} has no {name}.")
    return Content(pair.id, name, text)


def interface(language: str, key: str, **slots: int) -> Interface:
    """Return a fixed sentence as a part."""
    return Interface(key, INTERFACE_TEXTS[language][key].format(**slots), slots)


def guard(reply: Reply, catalog: Catalog, *, shown: frozenset[str]) -> Reply:
    """Return the reply if a patient may see all of it.

    Args:
        reply: What would be sent.
        catalog: The catalog in force in the reply's language.
        shown: Ids of its pairs that may be shown: approved ones, or drafts too in sample mode.

    Raises:
        GuardViolation: A part is not, byte for byte, a text of the catalog or of the interface.
    """
    for part in (*reply.parts, *reply.choices):
        allowed = (
            _catalog_text(part, catalog, shown) if isinstance(part, Content) else _fixed_text(part, reply.language)
        )
        if part.text != allowed:
            raise GuardViolation(f"A reply part is not approved text: {type(part).__name__}.")
    return reply


def safe_reply(language: str) -> Reply:
    """Return what a patient gets when the guard refused a reply."""
    return Reply(language, (interface(language, "safe"),))


def _catalog_text(part: Content, catalog: Catalog, shown: frozenset[str]) -> str | None:
    if part.pair_id not in shown or part.pair_id not in catalog.by_id or part.field not in get_args(ContentField):
        return None
    text = getattr(catalog.by_id[part.pair_id], part.field)
    return str(text) if text is not None else None


def _fixed_text(part: Interface, language: str) -> str | None:
    template = INTERFACE_TEXTS.get(language, {}).get(part.key)
    # Just the slots that the sentence has, and plain numbers only: True is an int too.
    typed = all(type(value) is int for value in part.slots.values())
    if template is None or not typed or set(part.slots) != _slots(template):
        return None
    return template.format(**part.slots)


def _slots(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}

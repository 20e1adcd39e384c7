"""Which answers fit which item type (R4). Pure."""

from __future__ import annotations

from types import MappingProxyType

CHOICES = ("choice", "open-choice")

# By the type of the item, the `value[x]` that an answer may have. Choices may hold what their options hold.
ANSWER_TYPES = MappingProxyType(
    {
        "boolean": ("boolean",),
        "decimal": ("decimal",),
        "integer": ("integer",),
        "date": ("date",),
        "dateTime": ("dateTime",),
        "time": ("time",),
        "string": ("string",),
        "text": ("string",),
        "url": ("uri",),
        "choice": ("coding", "date", "time", "integer", "string", "reference"),
        "open-choice": ("coding", "date", "time", "integer", "string", "reference"),
        "attachment": ("attachment",),
        "reference": ("reference",),
        "quantity": ("quantity",),
        "group": (),
        "display": (),
        "question": (),
    }
)
# Types whose values have an order, so that greater and less mean something.
ORDERED = frozenset({"decimal", "integer", "date", "dateTime", "time", "string", "quantity"})

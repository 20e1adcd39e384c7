"""Are attachments of the allowed kind and size, and references to the allowed kind of resource. Pure."""

from __future__ import annotations

import re
from decimal import Decimal

from bot.interview.answer_check import AnswerCheck
from bot.interview.fhir_json import JsonObject, as_object, extension_value, extension_values, number, string
from bot.interview.primitives import base64_size
from bot.interview.resource_types import RESOURCE_TYPES
from bot.interview.sdc import MAX_SIZE, MIME_TYPE, REFERENCE_RESOURCE

_ID = r"[A-Za-z0-9\-.]{1,64}"
_ENDS_WITH_TYPE_AND_ID = re.compile(rf"(?:^|/)([A-Za-z]+)/{_ID}(?:/_history/{_ID})?$")
_RELATIVE = re.compile(rf"[A-Za-z]+/{_ID}(?:/_history/{_ID})?")


def check_attachment(check: AnswerCheck) -> None:
    """Check content type and size. The actual size counts where the data are there, else the stated one."""
    attachment = as_object(check.answer.value)
    allowed = [value.value for value in extension_values(check.item, *MIME_TYPE) if isinstance(value.value, str)]
    kind = string(attachment, "contentType")
    if allowed and not kind:
        check.error("The attachment does not say its content type", "mimeType", "required")
    elif allowed and not any(mime_fits(kind, pattern) for pattern in allowed):
        check.error(f"The content type {kind[:60]!r} is none of {', '.join(allowed)}", "mimeType")
    limit = extension_value(check.item, *MAX_SIZE)
    most = number(limit.value) if limit is not None else None
    size = size_of(attachment)
    if most is not None and size is not None and size > most:
        check.error(f"The attachment has {size} bytes, more than the {most} allowed", "maxSize")


def size_of(attachment: JsonObject) -> int | Decimal | None:
    """Return how many bytes an attachment has: its data where they are there, else what it states."""
    content = attachment.get("data")
    return base64_size(content) if isinstance(content, str) else number(attachment.get("size"))


def mime_fits(kind: str, pattern: str) -> bool:
    """Compare media types: ``image/*`` fits any image; parameters such as a character set are left out."""
    plain, wanted = (text.partition(";")[0].strip().lower() for text in (kind, pattern))
    return wanted in {plain, "*/*"} or (wanted.endswith("/*") and plain.startswith(wanted[:-1]))


def check_reference(check: AnswerCheck) -> None:
    """Check the type of what is referred to, as far as the reference shows it."""
    reference = as_object(check.answer.value)
    target = string(reference, "reference")
    kind = referred_type(reference)
    if _RELATIVE.fullmatch(target) and kind not in RESOURCE_TYPES:
        check.error(f"{kind[:60]!r} is no resource type of R4", "reference-type")
        return
    allowed = [
        value.value for value in extension_values(check.item, *REFERENCE_RESOURCE) if isinstance(value.value, str)
    ]
    if allowed and kind in RESOURCE_TYPES and kind not in allowed:
        check.error(f"A reference to {kind}, but only {', '.join(allowed)} is allowed", "referenceResource")


def referred_type(reference: JsonObject) -> str:
    """Return the type of resource that a reference shows, in its address or else by name; empty when it shows none."""
    match = _ENDS_WITH_TYPE_AND_ID.search(string(reference, "reference"))
    return match[1] if match else string(reference, "type")

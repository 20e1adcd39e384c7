"""What things are called in a Rasa project: the form of a Questionnaire, and the slots of its items."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.interview.form.form import Form
from bot.interview.values.fhir_json import string

# Slots of ours beside those of the items.
LANGUAGE, PROJECT, DECISION, PAIR, CONVERSATION, AGREED = (
    *("language", "klartext_project", "klartext_decision", "klartext_pair"),
    *("klartext_conversation", "klartext_agreed"),
)
OF_ITEMS = "item_"  # begins the slots of the items
REQUESTED = "requested_slot"  # Rasa's own


def form_name(form: Form) -> str:
    """Return what Rasa calls the form: after the Questionnaire's id, name or address."""
    last = form.url.rstrip("/").rpartition("/")[2]
    named = string(form.raw, "id") or string(form.raw, "name") or last or "questionnaire"
    return f"{_plain(named) or 'questionnaire'}_form"


def slot_names(form: Form) -> Mapping[str, str]:
    """Return the slot of each question, by linkId; the same form always gives the same names.

    A linkId may hold what a name cannot ("1.2 a/b"); two that become the same get numbers.
    """
    names: dict[str, str] = {}
    taken = set[str]()
    for item in form.by_link_id.values():
        if item.is_question:
            base = name = f"{OF_ITEMS}{_plain(item.link_id)}".rstrip("_")
            number = 1
            while name in taken:
                number += 1
                name = f"{base}_{number}"
            taken.add(name)
            names[item.link_id] = name
    return names


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower()

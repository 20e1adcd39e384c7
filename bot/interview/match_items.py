"""Match the items of a response to those of its Questionnaire; find the unknown, misplaced and disordered. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bot.interview.fhir_json import JsonObject, string
from bot.interview.indexed import Asked, Form, Given
from bot.interview.outcome import Findings, Place


@dataclass(frozen=True, slots=True)
class Holder:
    """Something that holds items: the response, a group, or one answer of a question."""

    raw: JsonObject
    place: Place
    given: Given | None
    asked: Mapping[str, Asked]


@dataclass(slots=True)
class GivenItems:
    """The items of a response that the Questionnaire knows.

    Attributes:
        all: In the order of the response.
        of_holder: For the holder of items (by the id of its JSON), the items in it by linkId.
        holders: By the id of an item's JSON (0 for the response): what in it holds further items.
    """

    all: list[Given] = field(default_factory=list)
    of_holder: dict[int, dict[str, list[Given]]] = field(default_factory=dict)
    holders: dict[int, list[Holder]] = field(default_factory=dict)


def match_items(response: JsonObject, form: Form, root: Place, findings: Findings) -> GivenItems:
    """Walk a response beside its Questionnaire."""
    found = GivenItems()
    pending = [Holder(response, root, None, form.top)]
    found.holders[0] = list(pending)
    while pending:
        holder = pending.pop()
        inner = []
        for given in _match_holder(holder, form, found, findings):
            found.holders[id(given.raw)] = _holders_in(given)
            inner.extend(found.holders[id(given.raw)])
        pending.extend(reversed(inner))
    return found


def _match_holder(holder: Holder, form: Form, found: GivenItems, findings: Findings) -> Iterator[Given]:
    if "item" not in holder.raw:
        return
    order = {link_id: index for index, link_id in enumerate(holder.asked)}
    here: dict[str, list[Given]] = found.of_holder.setdefault(id(holder.raw), {})
    last = -1
    items = holder.raw.get("item")
    for index, raw in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(raw, dict):
            continue
        place, link_id = holder.place.child("item", index), string(raw, "linkId")
        asked = holder.asked.get(link_id)
        if asked is None:
            asked = _misplaced(link_id, form, place, findings)
        else:
            if order[link_id] < last:
                text = f"The item {link_id!r} is not in the order of the Questionnaire"
                findings.error(place, text, code="structure", rule="order")
            last = order[link_id]
        if asked is not None:
            given = Given(raw, asked, holder.given, place)
            found.all.append(given)
            here.setdefault(link_id, []).append(given)
            yield given


def _misplaced(link_id: str, form: Form, place: Place, findings: Findings) -> Asked | None:
    if not link_id:
        return None  # already said: linkId is required
    asked = form.by_id.get(link_id)
    if asked is None:
        findings.error(place, f"The Questionnaire has no item {link_id[:120]!r}", code="not-found", rule="linkId")
    else:
        text = f"The item {link_id!r} belongs to another place"
        findings.error(place, text, code="structure", rule="misplaced")
    return asked


def _holders_in(given: Given) -> list[Holder]:
    """Return what in an item holds items.

    Items directly in a question are wrong, and said to be so elsewhere; so are answers of a group, left alone here.
    """
    children = given.asked.children
    holders = [Holder(given.raw, given.place, given, children)] if "item" in given.raw else []
    answers = given.raw.get("answer") if given.asked.type != "group" else None
    for index, answer in enumerate(answers if isinstance(answers, list) else ()):
        if isinstance(answer, dict):
            holders.append(Holder(answer, given.place.child("answer", index), given, children))
    return holders

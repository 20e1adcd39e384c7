"""Compile the items of a Questionnaire as they are meant; what cannot be asked so is left out, and named. Pure.

What is left out stays in the form without an answer: if it is required, the response can never be completed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

from bot.interview.form.conditions import cannot_be_told, is_one_enough, read_conditions
from bot.interview.form.form import Item, ItemType, Limits, Stated, Units
from bot.interview.form.formulas import Site, computed_elsewhere
from bot.interview.form.indexed import is_true, read_limits, read_stated
from bot.interview.form.options import Listed, OptionReader, answer_types, check_options, read_initial
from bot.interview.form.support import CORE, SUB_QUESTIONNAIRE, modifier_of
from bot.interview.form.texts import as_display, is_absorbed, item_text, label_beside, read_presentation
from bot.interview.values import fhir_names
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, extension_table, extension_value, objects, string
from bot.interview.values.fhir_names import ANSWER_TYPES, CHOICES
from bot.interview.values.patterns import bare, is_fhirpath, matcher
from bot.interview.values.terminology import Terminology

_PART = SUB_QUESTIONNAIRE[0].rpartition("/")[2]
_SHOWN_ONLY = frozenset({"display", "display-non-empty"})
_HINT = "give it with --terminology, or name a --terminology-server that has it"


@dataclass(frozen=True, slots=True)
class Around:
    """What an item inherits from the items around it."""

    site: Site
    line: tuple[str, ...] = ()
    hidden: bool = False
    read_only: bool = False
    shown_only: bool = False
    uncertain: bool = False

    @property
    def is_asked(self) -> bool:
        """Whether somebody is asked for questions here."""
        return not (self.hidden or self.read_only or self.shown_only)

    def inside(self, raw: JsonObject) -> Around:
        """Return what holds for the item `raw` itself."""
        hidden, usage = extension_value(raw, *fhir_names.HIDDEN), extension_value(raw, CORE + "questionnaire-usageMode")
        site = self.site.inside(raw)
        return Around(
            site=site,
            line=(*self.line, string(raw, "linkId")),
            hidden=self.hidden or (hidden is not None and is_true(hidden.value)),
            read_only=self.read_only or (is_true(raw.get("readOnly")) and raw.get("type") != "display"),
            shown_only=self.shown_only or (usage is not None and str(usage.value) in _SHOWN_ONLY),
            uncertain=self.uncertain or site.is_uncertain or cannot_be_told(site),
        )


@dataclass(slots=True)
class Compiler:
    """Compiles all items of one form, numbered in their order.

    Attributes:
        in_words: Whether a choice whose answers nobody knows is asked in own words, also when it need not be answered.
    """

    terminology: Terminology
    in_words: bool = False
    compiled: int = field(default=0)
    options: OptionReader = field(init=False)
    link_ids: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.options = OptionReader(self.terminology)

    def items(self, parent: JsonObject, around: Around) -> tuple[Item, ...]:
        """Compile the items directly inside `parent`, and all inside those."""
        found: list[Item] = []
        for child in objects(parent, "item"):
            if not is_absorbed(child, parent):
                item = self._item(child, around)
                found += [item] if item is not None else []
            elif "enableWhen" in child or extension_value(child, *fhir_names.ENABLE_WHEN_EXPRESSION):
                text = "it is shown with its question, whatever its conditions say"
                around.site.notes.warn(string(child, "linkId"), "enableWhen", text)
        return tuple(found)

    def _item(self, raw: JsonObject, around: Around) -> Item | None:
        raw = as_display(raw)
        link_id, kind = string(raw, "linkId"), string(raw, "type")
        if not link_id:
            text = f"an item without linkId is left out ({string(raw, 'text')[:60] or 'it has no text'})"
            around.site.notes.leave_out("", "linkId", text)
            return None
        if link_id in self.link_ids:
            # Answers to it could not be told from those to the first.
            note = around.site.notes.refuse if is_true(raw.get("required")) else around.site.notes.leave_out
            note(link_id, "linkId", "an earlier item has this linkId, too; this one is left out with all inside it")
            return None
        self.link_ids.add(link_id)
        if not kind and objects(raw, "item"):
            around.site.notes.leave_out(link_id, "type", "it is missing; what holds items is taken for a group")
            kind = "group"
        why = _why_unaskable(raw, kind)
        if why:
            around.site.notes.leave_out(link_id, *why)
            raw, kind = _bare(raw), "group" if kind == "group" else "string"
        number = self.compiled
        self.compiled += 1
        within = around.inside(raw)
        site, stated = within.site, read_stated(raw)
        for name in computed_elsewhere(raw):
            site.leave_out(name, "it is computed, which is not done here; what the form says itself is used")
        listed = self.options.read(raw, kind)
        check_options(listed.options, site)
        any_condition = is_one_enough(site)
        item = Item(
            link_id=link_id,
            type=cast(ItemType, kind),
            number=number,
            line=within.line,
            raw=raw,
            stated=stated,
            text=item_text(raw),
            prefix=string(raw, "prefix"),
            required=stated.required and not within.uncertain,
            repeats=stated.repeats and kind != "display",
            read_only=within.read_only,
            hidden=within.hidden,
            asked=within.is_asked and not why and kind not in {"group", "display"},
            answer_types=answer_types(kind, listed.options),
            initial=read_initial(site, listed.options),
            options=listed.options,
            open=kind not in CHOICES or kind == "open-choice",
            conditions=read_conditions(site, any_condition=any_condition),
            any_condition=any_condition,
            limits=_limits(site),
            units=self._units(site, stated),
            presentation=read_presentation(raw),
            formulas=site.formulas(asked=within.is_asked),
            constraints=site.constraints(),
            children=self.items(raw, within),
            uncertain=within.uncertain,
            left_out=bool(why),
        )
        return _answerable(item, listed, site, in_words=self.in_words)

    def _units(self, site: Site, stated: Stated) -> Units:
        """Return the units of a number, those of a value set listed one by one, for people choose from them."""
        units = stated.units
        choices = units.choices
        if units.value_set:
            expansion = self.terminology.expand(units.value_set)
            if expansion.missing:
                site.leave_out("unitValueSet", f"not all units are known: {'; '.join(expansion.missing)}")
            choices += tuple(
                {"system": each.system, "code": each.code, "display": each.display or each.code}
                for each in expansion.concepts
            )
        return Units(
            usual=choices[0] if units.usual is None and len(choices) == 1 else units.usual,
            choices=choices,
            open=units.open or not choices,
            label=label_beside(site.raw, "unit"),
        )


def _why_unaskable(raw: JsonObject, kind: str) -> tuple[str, str] | None:
    """Return the feature, and in words, why an item cannot be asked whatever is at hand; None when it can."""
    if modifier := modifier_of(raw):
        return modifier.rpartition("/")[2], f"left out: the modifier extension {modifier} is not known here"
    part = extension_value(raw, *SUB_QUESTIONNAIRE)
    if part is not None:
        return _PART, f"this part is left out: the Questionnaire {part.value} is not at hand; hand it in"
    if kind not in ANSWER_TYPES or kind == "question":
        return "type", f"left out: {f'the type {kind!r} is unknown' if kind else 'it has no type'}"
    return None


_KEPT = ("linkId", "text", "_text", "prefix", "required", "enableWhen", "enableBehavior")


def _bare(raw: JsonObject) -> JsonObject:
    """Return of an item that is left out what still counts: whether it is required, and when."""
    when = [each for each in objects(raw, "extension") if each.get("url") in fhir_names.ENABLE_WHEN_EXPRESSION]
    kept = {
        name: raw[name] for name in _KEPT if name in raw and not (name == "required" and raw.get("type") == "display")
    }
    return {**kept, "extension": list[JsonValue](map(dict, when))}


def _limits(site: Site) -> Limits:
    limits = read_limits(site.raw, extension_table(site.raw), as_meant=True)
    if limits.pattern is not None and is_fhirpath(limits.pattern):
        site.warn("regex", "the pattern is FHIRPath; what matches() holds is used")
    if limits.pattern is not None and matcher(bare(limits.pattern)) is None:
        site.leave_out("regex", "not held to: the pattern cannot be read as a regular expression")
        limits = replace(limits, pattern=None)
    return replace(
        limits,
        minimum=site.bound(fhir_names.MIN_QUANTITY + fhir_names.MIN_VALUE),
        maximum=site.bound(fhir_names.MAX_QUANTITY + fhir_names.MAX_VALUE),
    )


def _answerable(item: Item, listed: Listed, site: Site, *, in_words: bool) -> Item:
    """Return an item as it can be asked: a choice whose answers nobody knows is left out, or asked in own words.

    Own words are no answer to a choice, but of what must be answered the team should at least have those.
    """
    computed = item.formulas.options is not None or item.formulas.calculated is not None
    feature, gap = ("answerValueSet", listed.gap) if listed.gap else (item.type, "no answers are listed")
    if listed.gap and (listed.options or item.open or not item.asked):
        site.notes.miss(item.link_id, feature, f"not all answers are known: {gap}")
    elif item.asked and not item.open and not item.options and not computed:
        hint = f"{gap}; {_HINT}" if listed.gap else gap
        if item.required:
            site.leave_out(feature, f"asked in the patient's own words for staff, and the response stays open: {hint}")
        elif in_words:
            site.leave_out(feature, f"asked in the patient's own words for staff: {hint}")
        else:
            site.leave_out(feature, f"left out: {hint}")
            return replace(item, asked=False, left_out=True, initial=(), formulas=replace(item.formulas, initial=None))
    filled = item.initial or item.formulas.initial or computed
    if item.is_question and item.required and not item.asked and not item.left_out and not filled:
        site.notes.miss(
            item.link_id, "required", "nobody is asked, and nothing fills it: a response that needs it stays open"
        )
    return item

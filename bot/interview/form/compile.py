"""Compile the items of a Questionnaire as they are meant, and refuse what cannot be held to. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import cast

from bot.interview.form.form import Condition, Item, ItemType, Limits, Stated, Units
from bot.interview.form.formulas import Site
from bot.interview.form.indexed import is_true, read_limits, read_stated
from bot.interview.form.options import Listed, answer_types, check_systems, read_initial, read_options
from bot.interview.form.support import CORE
from bot.interview.form.texts import is_absorbed, item_text, label_beside, read_presentation
from bot.interview.values import fhir_names
from bot.interview.values.fhir_json import JsonObject, extension_table, extension_value, objects, string, value_of
from bot.interview.values.fhir_names import ANSWER_TYPES, CHOICES
from bot.interview.values.patterns import bare, is_fhirpath, matcher
from bot.interview.values.terminology import Terminology

_OPERATORS = frozenset({"exists", "=", "!=", ">", "<", ">=", "<="})
_SHOWN_ONLY = frozenset({"display", "display-non-empty"})


@dataclass(frozen=True, slots=True)
class Around:
    """What an item inherits from the items around it."""

    site: Site
    line: tuple[str, ...] = ()
    hidden: bool = False
    read_only: bool = False
    shown_only: bool = False

    def inside(self, raw: JsonObject) -> Around:
        """Return what holds for the item `raw` itself."""
        hidden, usage = extension_value(raw, *fhir_names.HIDDEN), extension_value(raw, CORE + "questionnaire-usageMode")
        return Around(
            site=self.site.inside(raw),
            line=(*self.line, string(raw, "linkId")),
            hidden=self.hidden or (hidden is not None and is_true(hidden.value)),
            read_only=self.read_only or (is_true(raw.get("readOnly")) and raw.get("type") != "display"),
            shown_only=self.shown_only or (usage is not None and str(usage.value) in _SHOWN_ONLY),
        )


@dataclass(slots=True)
class Compiler:
    """Compiles all items of one form, numbered in their order."""

    terminology: Terminology
    compiled: int = field(default=0)

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
        link_id, kind = string(raw, "linkId"), string(raw, "type")
        if not link_id or kind not in ANSWER_TYPES or kind == "question":
            feature = "linkId" if not link_id else "type"
            text = "it is missing" if not raw.get(feature) else f"{kind!r} is unknown"
            around.site.notes.refuse(link_id, feature, text)
            return None
        number = self.compiled
        self.compiled += 1
        within = around.inside(raw)
        site, stated = within.site, read_stated(raw)
        listed = read_options(raw, kind, self.terminology)
        check_systems(listed.options, site)
        item = Item(
            link_id=link_id,
            type=cast(ItemType, kind),
            number=number,
            line=within.line,
            raw=raw,
            stated=stated,
            text=item_text(raw),
            prefix=string(raw, "prefix"),
            required=stated.required,
            repeats=stated.repeats and kind != "display",
            read_only=within.read_only,
            hidden=within.hidden,
            asked=not (within.hidden or within.read_only or within.shown_only or kind in {"group", "display"}),
            answer_types=answer_types(kind, listed.options),
            initial=read_initial(site, listed.options),
            options=listed.options,
            open=kind not in CHOICES or kind == "open-choice",
            conditions=tuple(_conditions(site)),
            any_condition=_any_condition(site),
            limits=_limits(site),
            units=self._units(site, stated),
            presentation=read_presentation(raw),
            formulas=site.formulas(),
            constraints=site.constraints(),
            children=self.items(raw, within),
        )
        _check_answerable(item, listed, site)
        return item

    def _units(self, site: Site, stated: Stated) -> Units:
        """Return the units of a number, those of a value set listed one by one, for people choose from them."""
        units = stated.units
        choices = units.choices
        if units.value_set:
            expansion = self.terminology.expand(units.value_set)
            if expansion.missing:
                site.refuse("unitValueSet", "; ".join(expansion.missing))
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


def _conditions(site: Site) -> Iterator[Condition]:
    for each in objects(site.raw, "enableWhen"):
        question, operator, answer = string(each, "question"), string(each, "operator"), value_of(each, "answer")
        if question not in site.notes.link_ids:
            site.refuse("enableWhen", f"the question {question!r} does not exist")
        elif operator not in _OPERATORS or answer is None:
            site.refuse("enableWhen", f"the condition on {question!r} is not complete")
        elif operator == "exists" and not isinstance(answer.value, bool):
            site.refuse("enableWhen", "the operator exists needs answerBoolean")
        else:
            yield Condition(question, operator, answer)


def _any_condition(site: Site) -> bool:
    behavior = string(site.raw, "enableBehavior")
    if len(objects(site.raw, "enableWhen")) > 1 and behavior not in {"all", "any"}:
        # What STU3 said, and what is nearest to the validators that then take the item as enabled.
        site.warn("enableBehavior", "it is missing; one true condition is enough")
    return behavior != "all"


def _limits(site: Site) -> Limits:
    limits = read_limits(site.raw, extension_table(site.raw), as_meant=True)
    if limits.pattern is not None and is_fhirpath(limits.pattern):
        site.warn("regex", "the pattern is FHIRPath; what matches() holds is used")
    if limits.pattern is not None and matcher(bare(limits.pattern)) is None:
        site.refuse("regex", "the pattern cannot be read as a regular expression")
    return replace(
        limits,
        minimum=site.bound(fhir_names.MIN_QUANTITY + fhir_names.MIN_VALUE),
        maximum=site.bound(fhir_names.MAX_QUANTITY + fhir_names.MAX_VALUE),
    )


def _check_answerable(item: Item, listed: Listed, site: Site) -> None:
    """Refuse choices whose answers are not known."""
    computed = item.formulas.options is not None or item.formulas.calculated is not None
    if listed.gap and (listed.options or item.open or not item.asked):
        site.warn("answerValueSet", f"not all answers are known: {listed.gap}")
    elif listed.gap and not computed:
        site.refuse("answerValueSet", listed.gap)
    elif item.asked and not item.open and not item.options and not computed:
        site.refuse(item.type, "no answers are listed")
    filled = item.initial or item.formulas.initial or computed
    if item.is_question and item.required and not item.asked and not filled:
        site.warn("required", "nobody is asked, and nothing fills it")

"""Compile the items of a Questionnaire. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from bot.interview.form.form import Condition, Item, ItemType
from bot.interview.form.formulas import Scope, read_constraints, read_formulas, read_variables
from bot.interview.form.limits import compile_limits, compile_units
from bot.interview.form.options import Listed, answer_types, check_systems, read_initial, read_options
from bot.interview.form.support import CORE, Notes
from bot.interview.form.texts import is_absorbed, item_text, read_presentation
from bot.interview.values import fhir_names
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, extension_value, objects, string, value_of
from bot.interview.values.fhir_names import ANSWER_TYPES, CHOICES
from bot.interview.values.terminology import Terminology

_OPERATORS = frozenset({"exists", "=", "!=", ">", "<", ">=", "<="})
_SHOWN_ONLY = frozenset({"display", "display-non-empty"})


@dataclass(slots=True)
class Compiler:
    """What stays the same while all items are compiled."""

    terminology: Terminology
    notes: Notes
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
                self.notes.warn(string(child, "linkId"), "enableWhen", text)
        return tuple(found)

    def _item(self, raw: JsonObject, around: Around) -> Item | None:
        link_id, kind = string(raw, "linkId"), string(raw, "type")
        if not link_id or kind not in ANSWER_TYPES or kind == "question":
            feature = "linkId" if not link_id else "type"
            self.notes.refuse(link_id, feature, "it is missing" if not raw.get(feature) else f"{kind!r} is unknown")
            return None
        number = self.compiled
        self.compiled += 1
        within = around.inside(raw, link_id, kind)
        variables, scope = read_variables(raw, link_id, around.scope, self.notes)
        within.scope = scope
        listed = read_options(raw, kind, self.terminology)
        check_systems(listed.options, link_id, self.notes)
        item = Item(
            link_id=link_id,
            type=cast(ItemType, kind),
            number=number,
            line=within.line,
            raw=raw,
            text=item_text(raw),
            prefix=string(raw, "prefix"),
            required=is_true(raw.get("required")),
            repeats=is_true(raw.get("repeats")) and kind != "display",
            read_only=within.read_only,
            hidden=within.hidden,
            asked=not (within.hidden or within.read_only or within.shown_only or kind in {"group", "display"}),
            answer_types=answer_types(kind, listed.options),
            initial=read_initial(raw, kind, listed.options, link_id, self.notes),
            options=listed.options,
            open=kind not in CHOICES or kind == "open-choice",
            conditions=tuple(self._conditions(raw, link_id)),
            any_condition=self._any_condition(raw, link_id),
            limits=compile_limits(raw, link_id, scope, self.notes),
            units=compile_units(raw, self.terminology, link_id, self.notes),
            presentation=read_presentation(raw),
            formulas=read_formulas(raw, link_id, variables, scope, self.notes),
            constraints=read_constraints(raw, link_id, scope, self.notes),
            children=self.items(raw, within),
        )
        self._check_answerable(item, listed)
        return item

    def _conditions(self, raw: JsonObject, link_id: str) -> Iterator[Condition]:
        for each in objects(raw, "enableWhen"):
            question, operator, answer = string(each, "question"), string(each, "operator"), value_of(each, "answer")
            if question not in self.notes.link_ids:
                self.notes.refuse(link_id, "enableWhen", f"the question {question!r} does not exist")
            elif operator not in _OPERATORS or answer is None:
                self.notes.refuse(link_id, "enableWhen", f"the condition on {question!r} is not complete")
            elif operator == "exists" and not isinstance(answer.value, bool):
                self.notes.refuse(link_id, "enableWhen", "the operator exists needs answerBoolean")
            else:
                yield Condition(question, operator, answer)

    def _any_condition(self, raw: JsonObject, link_id: str) -> bool:
        behavior = string(raw, "enableBehavior")
        if len(objects(raw, "enableWhen")) > 1 and behavior not in {"all", "any"}:
            # What STU3 said, and what is nearest to the validators that then take the item as enabled.
            self.notes.warn(link_id, "enableBehavior", "it is missing; one true condition is enough")
        return behavior != "all"

    def _check_answerable(self, item: Item, listed: Listed) -> None:
        """Refuse choices whose answers are not known."""
        computed = item.formulas.options is not None or item.formulas.calculated is not None
        if listed.gap and (listed.options or item.open or not item.asked):
            self.notes.warn(item.link_id, "answerValueSet", f"not all answers are known: {listed.gap}")
        elif listed.gap and not computed:
            self.notes.refuse(item.link_id, "answerValueSet", listed.gap)
        elif item.asked and not item.open and not item.options and not computed:
            self.notes.refuse(item.link_id, item.type, "no answers are listed")
        filled = item.initial or item.formulas.initial or computed
        if item.is_question and item.required and not item.asked and not filled:
            self.notes.warn(item.link_id, "required", "nobody is asked, and nothing fills it")


@dataclass(slots=True)
class Around:
    """What an item inherits from the items around it."""

    scope: Scope
    line: tuple[str, ...] = ()
    hidden: bool = False
    read_only: bool = False
    shown_only: bool = False

    def inside(self, raw: JsonObject, link_id: str, kind: str) -> Around:
        """Return what holds for the item `raw` itself."""
        hidden, usage = extension_value(raw, *fhir_names.HIDDEN), extension_value(raw, CORE + "questionnaire-usageMode")
        return Around(
            scope=self.scope,
            line=(*self.line, link_id),
            hidden=self.hidden or (hidden is not None and is_true(hidden.value)),
            read_only=self.read_only or (is_true(raw.get("readOnly")) and kind != "display"),
            shown_only=self.shown_only or (usage is not None and str(usage.value) in _SHOWN_ONLY),
        )


def is_true(value: JsonValue) -> bool:
    """Say whether a flag is set, also where the form has it as text."""
    return value is True or value == "true"

"""Validate one item of a response: find its question, check its answers and what is inside, word violations. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import yaml

from bot.interview.form.form import Stated
from bot.interview.form.indexed import GivenItem, Holder, IndexedForm, IndexedItem
from bot.interview.rules.answers import Violation, check_exclusive, check_number, stated_errors, stated_violations
from bot.interview.rules.enabled import Enablement, Truth
from bot.interview.validate.structure import check_answer
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import (
    as_object,
    companion,
    extension_value,
    extensions,
    objects,
    string,
    translations,
    values_of,
)
from bot.interview.values.fhir_names import ANSWER_TYPES, CHOICES, CQF_EXPRESSION, ENTRY_FORMAT
from bot.interview.values.finding import Findings, Place, Severity
from bot.interview.values.primitives import PRIMITIVES, problem_with
from bot.interview.values.terminology import Terminology


def refused_by(item: Stated, answer: Answer, known: Terminology) -> tuple[str, ...]:
    """Return the rules that one answer breaks by what its item states, whatever else the response says."""
    shape = [finding.rule or finding.code for finding in check_answer(answer) if finding.is_error]
    return tuple(dict.fromkeys([*shape, *stated_errors(item, answer, known)]))


def match_items(root: Holder, form: IndexedForm, findings: Findings) -> list[GivenItem]:
    """Walk a response beside its Questionnaire; return its items in their order, but for those of unknown linkId."""
    found: list[GivenItem] = []
    pending = [root]
    while pending:
        holder = pending.pop()
        here = list(_match_holder(holder, form, findings))
        found.extend(here)
        pending.extend(reversed([inner for given in here for inner in given.holders]))
    return found


def _match_holder(holder: Holder, form: IndexedForm, findings: Findings) -> Iterator[GivenItem]:
    order = {link_id: index for index, link_id in enumerate(holder.asked)}
    last = -1
    items = holder.raw.get("item")
    for index, raw in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(raw, dict):
            continue
        place, link_id = holder.place.child("item", index), string(raw, "linkId")
        asked = holder.asked.get(link_id)
        if asked is not None:
            if order[link_id] < last:
                text = f"The item {_named(link_id)} is not in the order of the Questionnaire"
                findings.error(place, text, code="structure", rule="order")
            last = order[link_id]
        elif link_id:  # without one, it has been said that linkId is required
            asked = form.by_id.get(link_id)
            near = [each for each in holder.asked if each.split() == link_id.split() or each.lower() == link_id.lower()]
            if asked is None and near:
                text = f"The Questionnaire has no item {_named(link_id)}, only {_named(near[0])}"
                findings.error(place, text, code="not-found", rule="linkId")
                link_id, asked = near[0], holder.asked[near[0]]
            elif asked is None:
                text = f"The Questionnaire has no item {_named(link_id)}"
                findings.error(place, text, code="not-found", rule="linkId")
            else:
                text = f"The item {_named(link_id)} belongs to another place"
                findings.error(place, text, code="structure", rule="misplaced")
        if asked is not None:
            given = GivenItem(raw, asked, holder.owner, place)
            holder.items.setdefault(link_id, []).append(given)
            yield given


def unnamed_in(root: Holder) -> bool:
    """Say whether an item has no linkId that can be read: then it cannot be told what is missing."""
    pending: list[JsonValue] = [root.raw.get("item", [])]
    while pending:
        items = pending.pop()
        if not isinstance(items, list):
            return True
        for each in items:
            if not isinstance(each, dict) or not isinstance(each.get("linkId"), str) or not each["linkId"]:
                return True
            answers = each.get("answer")
            for holder in (each, *answers) if isinstance(answers, list) else (each,):
                if isinstance(holder, dict) and "item" in holder:
                    pending.append(holder["item"])
    return False


# Where in an answer, or in its place, the structure is wrong: then no rule of the form says more.
_IN_ANSWER = re.compile(r"(.*\.answer(?:\[[0-9]+\])?)(?:\._?value.*)?")


def broken_answers(findings: Findings) -> frozenset[str]:
    """Return the places of the answers whose structure has been said to be wrong."""
    matches = (_IN_ANSWER.fullmatch(each.path) for each in findings.all() if each.is_error and ".answer" in each.path)
    return frozenset(match[1] for match in matches if match is not None)


_LONGEST_NAME = 120


def _named(link_id: str) -> str:
    """Return a linkId as messages say it: quoted, and cut when nobody could read it."""
    return repr(link_id[:_LONGEST_NAME])


_VALUES = frozenset(kind for kinds in ANSWER_TYPES.values() for kind in kinds)


def _has_answers(given: GivenItem) -> bool:
    """Say whether the answers are all objects in a list, or left out, so that they can be counted."""
    found = given.raw.get("answer", [])
    return isinstance(found, list) and len(found) == len(given.answers)


def _type_name(kind: str) -> str:
    """Return how FHIRPath names the type of an answer: ``Coding``, but ``date``."""
    return kind if kind in PRIMITIVES else kind[:1].upper() + kind[1:]


# Of an answer of several parts, those of which one must be there for it to say anything.
_SAYING = MappingProxyType(
    {
        "quantity": ("value", "_value"),
        "attachment": ("data", "url", "_data", "_url"),
        "coding": ("code", "display", "_code"),
    }
)


def _says_nothing(answer: Answer) -> bool:
    """Say whether an answer is white space only, a unit without a number, or a file without content and address."""
    if isinstance(answer.value, str):
        return bool(answer.value) and not answer.value.strip()
    parts = _SAYING.get(answer.type)
    return parts is not None and isinstance(answer.value, dict) and not answer.value.keys() & set(parts)


def _is_stray_reference(asked: IndexedItem, answer: Answer) -> bool:
    """Say whether a choice is answered with a reference although no option is one."""
    if answer.type != "reference" or asked.type not in CHOICES:
        return False
    return not any("valueReference" in option for option in objects(asked.raw, "answerOption"))


@dataclass(frozen=True, slots=True)
class ItemChecks:
    """The rules for the items of one response.

    Attributes:
        finished: Whether answers may be missing: until a response is finished, that is a warning.
        same_language: Whether response and Questionnaire are in one language, so that texts must be equal.
        retracted: Whether it was entered in error: then nobody will fill in what is missing.
        contained: The types of what the response contains, by id.
        unnamed: Whether an item without a readable linkId may be the one that is missing.
        broken: The places of answers whose structure is wrong.
        split: Items that together hold the answers to one repeating question, by the id of each; filled on the way.
    """

    findings: Findings
    known: Terminology
    enablement: Enablement
    finished: bool
    same_language: bool
    retracted: bool
    contained: Mapping[str, str]
    unnamed: bool
    broken: Collection[str]
    split: dict[int, list[GivenItem]] = field(default_factory=dict)

    def check(self, given: GivenItem) -> None:
        """Check an item that is there."""
        if "text" in given.raw:
            self._check_text(given)
        if given.asked.type in {"group", "display", "question", ""}:
            self._check_unasked(given)
        else:
            self._check_question(given)
        if given.answers or given.raw.get("item"):
            self._check_enabled(given)

    def check_inside(self, holder: Holder) -> None:
        """Check that what is needed inside the response, an item or an answer is there, and not too often."""
        for items in holder.items.values():
            if len(items) > 1 and items[0].asked.stated.repeats and ANSWER_TYPES.get(items[0].asked.type):
                self._check_split(items)
        # What stands beside the answers of a question, and not in them, has been said to be in the wrong place.
        in_answer = holder.owner is not None and holder.raw is not holder.owner.raw
        beside = (
            {string(each, "linkId") for each in objects(holder.owner.raw, "item")} if holder.owner and in_answer else ()
        )
        for link_id, asked in holder.asked.items():
            given = len(holder.items.get(link_id, ()))
            for violation in check_number(asked.stated, given) if given else ():
                # What of a question counts are its answers; that it is there more than once is another matter.
                if violation.rule == "repeats" or asked.type == "group":
                    self._report_number(violation, asked, "times", holder.place)
            # A display that says it is required (que-6) is the Questionnaire's fault: it has no answers.
            if not given and asked.required and asked.type != "display" and link_id not in beside:
                enabled = self.enablement.of_asked(asked, holder.owner)
                if enabled is not Truth.NO:
                    text = f"The required item {_named(asked.link_id)} is missing"
                    self._missing(holder.place.about(link_id), text, "required", sure=enabled is Truth.YES)

    def _check_split(self, items: list[GivenItem]) -> None:
        """Say that a repeating question is there in several items; its answers are counted together all the same."""
        link_id = items[0].asked.link_id
        text = f"The question {_named(link_id)} is there in {len(items)} items: one item holds all answers to it"
        self.findings.warning(items[1].place, text, code="structure", rule="question-twice")
        self.split.update((id(each), items) for each in items)

    def _report_number(self, violation: Violation, item: IndexedItem, what: str, place: Place) -> None:
        limit, given = violation.values["limit"], violation.values["given"]
        said = f"The item {_named(item.link_id)} has {given} {what}"
        if violation.rule == "minOccurs":
            self._missing(place.about(item.link_id), f"{said}, fewer than the {limit} required", "minOccurs")
            return
        if violation.rule == "maxOccurs":
            text = f"{said}, more than the {limit} allowed"
        else:
            said = f"The item {_named(item.link_id)} is there {given} times" if what == "times" else said
            text = f"{said}, but does not repeat"
        self.findings.error(place.about(item.link_id), text, code="invalid", rule=violation.rule)

    def _missing(self, place: Place, text: str, rule: str, *, sure: bool = True) -> None:
        if self.retracted or self.unnamed or (self.enablement.unreadable and not sure):
            return  # nobody will fill it in, or what is wrong elsewhere may be all
        severity: Severity = "error" if self.finished and sure else "warning"
        self.findings.add(severity, place, text, code="required", rule=rule)

    def _check_text(self, given: GivenItem) -> None:
        """Compare the text with the Questionnaire's; a translation of it, or one computed, is as good."""
        text, asked = string(given.raw, "text"), given.asked.raw
        if not text or text == asked.get("text") or text in translations(asked, "text").values():
            return
        if extensions(companion(asked, "text"), *CQF_EXPRESSION):
            return
        where = f"The text of the item {_named(given.asked.link_id)} is not that of the Questionnaire"
        if self.same_language:
            self.findings.error(given.place, where, code="invalid", rule="text")
        else:
            self.findings.warning(given.place, f"{where}, which is in another language", code="invalid", rule="text")

    def _check_unasked(self, given: GivenItem) -> None:
        """Check groups, displays and items without a type of their own: none of them has answers."""
        kind, place = given.asked.type, given.place
        if not kind:
            text = f"The Questionnaire gives the item {_named(given.asked.link_id)} no type, so it was not checked"
            self.findings.warning(place, text, code="incomplete", rule="type")
        elif "answer" in given.raw:
            self.findings.error(
                place, f"An item of type {kind} has no answers", code="structure", rule=f"{kind}-answer"
            )
        if kind == "display" and "item" in given.raw:
            self.findings.error(place, "A display item has no items", code="structure", rule="display-item")
        empty = kind == "group" and given.asked.required and not given.raw.get("item")
        if empty and self.enablement.of_given(given) is Truth.YES:
            self._missing(place, f"The required group {_named(given.asked.link_id)} is empty", "required")

    def _check_question(self, given: GivenItem) -> None:
        asked, place = given.asked, given.place
        if given.raw.get("item"):
            if "answer" in given.raw:
                text = "Items beside the answers of a question: they stand in its answers"
                self.findings.error(place, text, code="invariant", rule="qrs-1")
            else:
                text = "Items of a question stand in its answers, not beside them"
                self.findings.error(place, text, code="structure", rule="question-item")
        together = self.split.get(id(given), [given])
        if together[0] is not given:
            self._check_answers(given)  # counted where the first of them stands
            return
        answers = sum(len(each.answers) for each in together)
        countable = "answer" not in given.raw if not answers else all(map(_has_answers, together))
        for violation in check_number(asked.stated, answers) if countable else ():
            # Only where it is enabled, something can be missing.
            enabled = Truth.YES if answers else self.enablement.of_given(given)
            if violation.rule == "required" and enabled is not Truth.NO:
                text = f"The required item {_named(asked.link_id)} has no answer"
                self._missing(place, text, "required", sure=enabled is Truth.YES)
            elif violation.rule != "required" and enabled is Truth.YES:
                self._report_number(violation, asked, "answers", place)
        others = [value for each in together[1:] for value in each.values()]
        for violation in check_exclusive(asked.stated, [*self._check_answers(given), *others]):
            report(violation, asked, place, self.findings)

    def _check_answers(self, given: GivenItem) -> list[Answer]:
        fitting = ANSWER_TYPES.get(given.asked.type)
        values: list[Answer] = []
        for index, raw in enumerate(given.answers):
            here = given.place.child("answer", index)
            if self.broken and str(here) in self.broken:
                continue
            if not any(name.startswith(("value", "_value")) for name in raw):
                self.findings.warning(here, "An answer without a value", code="required", rule="no-value")
            # Of several, which is said to be wrong, the first counts.
            for answer in islice(values_of(raw), 1):
                values.append(answer)
                place = here.child(f"value.ofType({_type_name(answer.type)})")
                if fitting is None or answer.type not in _VALUES:
                    continue  # an unknown type, which has been said to be so
                if answer.type in PRIMITIVES and problem_with(answer.type, answer.value):
                    continue  # no value of its type, which has been said, too: no limit says more
                if _says_nothing(answer):
                    self.findings.warning(place, "An answer that says nothing", code="required", rule="no-value")
                if answer.type in fitting and not _is_stray_reference(given.asked, answer):
                    for violation in stated_violations(given.asked.stated, self._with_type(answer), self.known):
                        report(violation, given.asked, place, self.findings)
                else:
                    text = f"An answer of type {answer.type} to an item of type {given.asked.type}"
                    self.findings.error(place, text, code="invariant", rule="answer-type")
        return values

    def _with_type(self, answer: Answer) -> Answer:
        """Say of a reference to a contained resource what type that is."""
        value = as_object(answer.value) if answer.type == "reference" else {}
        address = string(value, "reference")
        kind = self.contained.get(address[1:], "") if address.startswith("#") else ""
        return Answer("reference", {**value, "type": kind}) if kind else answer

    def _check_enabled(self, given: GivenItem) -> None:
        enabled = self.enablement.of_given(given)
        if enabled is Truth.YES or (given.parent and self.enablement.of_given(given.parent) is enabled):
            return  # what is around it has been said already
        if enabled is Truth.NO:
            severity: Severity = "error" if self.finished else "warning"
            text = f"The item {_named(given.asked.link_id)} is answered, but not enabled"
            self.findings.add(severity, given.place, text, code="invalid", rule="enableWhen")
        elif not self.enablement.unreadable:
            text = f"Whether the item {_named(given.asked.link_id)} is enabled cannot be told"
            self.findings.information(given.place, text, code="incomplete", rule="enableWhen")


_WORDING = yaml.load((Path(__file__).parent / "wording.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
_BY_SEVERITY = {"error": "invariant", "warning": "incomplete", "information": "incomplete"}
_BOUNDS = ("minValue", "maxValue", "minQuantity", "maxQuantity")
_LONGEST = {"value_set": 120, "system": 120, "code": 60, "given": 60, "unit": 40, "usual": 40}


def report(violation: Violation, item: IndexedItem, place: Place, findings: Findings) -> None:
    """Word a violation of what `item` demands: numbers, codes and limits, no free text and no dates of a patient."""
    rule, values, example = violation.rule, violation.values, extension_value(item.raw, *ENTRY_FORMAT)
    name = rule[3:] if rule in _BOUNDS else rule
    key = f"{name}: {violation.how}" if violation.how else name
    answer = values.get("answer")
    said = {
        **{name: _say(name, value) for name, value in values.items()},
        "subject": _subject(answer) if isinstance(answer, Answer) else "",
        "beyond": "less than the least" if rule.startswith("min") else "greater than the greatest",
        "hint": f" (expected: {example.value})" if example and isinstance(example.value, str) else "",
    }
    code = _WORDING["issue_types"].get(key, _BY_SEVERITY[violation.severity])
    findings.add(violation.severity, place, _WORDING["texts"][key].format_map(said), code=code, rule=rule)


def _say(name: str, value: JsonValue | Answer) -> str:
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    if not isinstance(value, Answer):
        return str(value)[: _LONGEST.get(name)]
    parts = as_object(value.value)
    if value.type == "quantity":
        return f"{parts.get('value')} {string(parts, 'unit') or string(parts, 'code')}".strip()[:60]
    if value.type == "coding":
        return f"{string(parts, 'system')[:120]}#{string(parts, 'code')[:60]}"
    return str(value.value)[:60]


def _subject(answer: Answer) -> str:
    if answer.type == "coding":
        return f"The code {_say('answer', answer)}"
    if answer.type in {"integer", "decimal"}:
        return f"The value {_say('answer', answer)}"
    return "The text" if answer.type == "string" else "The value"

"""Walk a form: what to ask next, what an answer changes, what is wrong with it, what the response is. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from bot.errors import BadData
from bot.interview.form.form import Form, Item, Option, Path
from bot.interview.form.indexed import index_questionnaire
from bot.interview.rules.answers import Problem
from bot.interview.validate.response import check_response
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject
from bot.interview.values.finding import Finding
from bot.interview.walk import next_step
from bot.interview.walk.assemble import Assembly, Heading, response
from bot.interview.walk.checks import Checks
from bot.interview.walk.evaluation import Sight, Surroundings, options_at, proposal_at, settle
from bot.interview.walk.filling import (
    Cleared,
    Event,
    Filling,
    Given,
    GroupAdded,
    GroupRemoved,
    MarkedForStaff,
    NoMore,
    Noted,
    Shown,
    Skipped,
)
from bot.interview.walk.places import (
    add_instance,
    answers_at,
    child_items,
    exists,
    first,
    is_enabled,
    move_with_answers,
    remove_instance,
)
from bot.interview.walk.plan import make_plan, ranks

MOST_NOTED = 5  # messages kept in a patient's own words at one question


@dataclass(frozen=True, slots=True)
class AskItem:
    """Ask a question. `proposal` is what to offer for confirmation; `options` what can be chosen now."""

    path: Path
    item: Item
    proposal: tuple[Answer, ...]
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class AskAnother:
    """Ask whether there is more: one more instance of a group (`path` names it), or one more answer to a question."""

    path: Path
    item: Item
    count: int


@dataclass(frozen=True, slots=True)
class Show:
    """Show a text of the form."""

    path: Path
    item: Item


@dataclass(frozen=True, slots=True)
class Done:
    """All was asked."""


Step = AskItem | AskAnother | Show | Done
_STEP = re.compile(r"(\w+)(?:\[(\d+)\])?")


class Engine:
    """Everything about one form; the answers are handed in and out. Build it once per interview."""

    def __init__(self, form: Form, *, now: datetime, launch: Mapping[str, JsonObject] | None = None) -> None:
        """Prepare a form.

        Args:
            form: The compiled Questionnaire.
            now: What formulas take for the present; with time zone.
            launch: Resources that formulas may use, by name: ``patient``, ``encounter``, ``user``.
        """
        self.form = form
        self._plan = make_plan(form)
        self._around = Surroundings.of(form, launch or {}, now)
        self._indexed = index_questionnaire(form.raw)

    def start(self) -> Filling:
        """Return the state before the first question."""
        filling, _ = settle(self._plan, self._around, Filling(), range(len(self._plan.cells)))
        return filling

    def replay(self, events: Iterable[Event]) -> Filling:
        """Return the state after stored events."""
        filling = self.start()
        for event in events:
            filling = self.apply(filling, event)
        return filling

    def apply(self, filling: Filling, event: Event) -> Filling:
        """Return the state after an event.

        Raises:
            BadData: The event names a place that does not exist in this state.
        """
        changed, dirty = self._happened(filling, event)
        settled, moved = settle(self._plan, self._around, changed, dirty)
        # Where instances or answers change places, what was worked out about the old ones is void.
        void = isinstance(event, GroupRemoved) or changed.summaries is not filling.summaries
        summaries = {} if void else next_step.kept(filling.summaries, [event.path, *moved])
        return replace(settled, summaries=summaries)

    def _happened(self, filling: Filling, event: Event) -> tuple[Filling, set[int]]:
        """Return the state with the event itself in it, and the cells to decide again."""
        item = self._item(filling, event)
        match event:
            case Given():
                changed = self._given(filling, item, event)
            case Skipped(path, _):
                changed = _without(filling, path)
                changed = replace(changed, skipped=changed.skipped | {path})
            case MarkedForStaff(path, reason):
                changed = replace(filling, marked={**filling.marked, path: reason})
            case Noted(path, text):
                said = (*filling.noted.get(path, ()), text)[-MOST_NOTED:]
                changed = replace(filling, noted={**filling.noted, path: tuple(dict.fromkeys(said))})
            case Cleared(path):
                changed = _without(filling, path)
            case Shown(path):
                changed = replace(filling, shown=filling.shown | {path})
            case NoMore(path):
                changed = replace(filling, closed=filling.closed | {first(path)})
            case GroupAdded(path):
                changed = add_instance(filling, item, path)
            case GroupRemoved(path):
                changed = remove_instance(filling, item, path)
        return changed, self._dirty(item, event)

    def _dirty(self, item: Item, event: Event) -> set[int]:
        if isinstance(event, Shown | NoMore | MarkedForStaff | Noted):
            return set()
        cells = ranks(self._plan.dependents, [item.link_id])
        if item.children:
            cells |= ranks(self._plan.inner, [item.link_id])
        if isinstance(event, GroupRemoved):
            cells |= ranks(self._plan.dependents, self._plan.insides[item.link_id])
        if isinstance(event, Cleared) and item.formulas.calculated is not None:
            cells |= {rank for rank, cell in enumerate(self._plan.cells) if cell.item is item}
        return cells

    def _item(self, filling: Filling, event: Event) -> Item:
        path = event.path
        item = self.form.by_link_id.get(path[-1][0]) if path else None
        # A group that is added, or closed before there is any, is not there yet.
        if item is None or not exists(self.form, filling, path, next_too=isinstance(event, GroupAdded | NoMore)):
            raise BadData("An event of the interview names a question that is not asked. Start the interview again.")
        wanted = {Shown: "display", GroupAdded: "group", GroupRemoved: "group"}.get(type(event))
        if isinstance(event, Given | Skipped | Cleared | MarkedForStaff | Noted) and not item.is_question:
            raise BadData(f"An event answers the item {item.link_id!r}, which is no question.")
        if wanted not in (None, item.type):
            raise BadData(f"An event takes the item {item.link_id!r} for a {wanted}.")
        if isinstance(event, NoMore) and not item.repeats:
            raise BadData(f"An event ends the repetitions of {item.link_id!r}, which has none.")
        return item

    def _given(self, filling: Filling, item: Item, event: Given) -> Filling:
        if not event.answers:
            raise BadData(f"An event gives no answer to {item.link_id!r}; skip or clear it instead.")
        path = event.path
        moved = move_with_answers(filling, item, path, event.answers)
        bare = _without(moved, path)
        accepted = bare.accepted | {path} if event.proposed else bare.accepted
        if item.formulas.calculated is not None:
            if event.answers == filling.computed.get(path):
                # Confirmed as calculated: it goes on being calculated.
                return replace(bare, accepted=accepted)
            bare = replace(bare, edited=bare.edited | {path})
        answers = {**bare.answers, path: event.answers}
        return replace(bare, answers=answers, accepted=accepted, closed=bare.closed - {path})

    def next(self, filling: Filling) -> Step:
        """Return what to do next."""
        summary = next_step.summary_of(self.form, filling)
        pointer = summary.step or summary.late
        if pointer is None:
            return Done()
        kind, path = pointer
        return self.ask(filling, path) if kind == next_step.ASK else self._other_step(filling, kind, path)

    def ask(self, filling: Filling, path: Path) -> AskItem:
        """Return the question at `path`, also when it was answered before."""
        item = self.form.by_link_id[path[-1][0]]
        sight = Sight(self._around, filling)
        proposal = answers_at(filling, path) or proposal_at(self._plan, sight, item, path)
        return AskItem(path, item, proposal, options_at(self._plan, sight, item, path))

    def _other_step(self, filling: Filling, kind: str, path: Path) -> Step:
        item = self.form.by_link_id[path[-1][0]]
        if kind == next_step.SHOW:
            return Show(path, item)
        return AskAnother(path, item, path[-1][1] if item.type == "group" else len(answers_at(filling, path)))

    def problems(self, filling: Filling, path: Path, answers: tuple[Answer, ...]) -> tuple[Problem, ...]:
        """Return what is wrong with answers that somebody wants to give; nothing of it is stored."""
        item = self.form.by_link_id[path[-1][0]]
        found = tuple(self._checks(filling).answers(item, path, answers))
        if found or not answers or not self._plan.constraints:
            return found
        return tuple(self._checks(self.apply(filling, Given(path, answers))).constraints_after(item, path))

    def bounds(self, filling: Filling, path: Path) -> tuple[Answer | None, Answer | None]:
        """Return the least and the greatest value that a question takes, as things stand."""
        return self._checks(filling).bounds(self.form.by_link_id[path[-1][0]], path)

    def open_problems(self, filling: Filling) -> tuple[Problem, ...]:
        """Return what keeps the response from being complete.

        Where the interview itself has nothing against it, the validator of responses looks at it, too: nothing that it
        refuses may be called completed.
        """
        found = tuple(self._checks(filling).everything())
        return found if any(problem.severity == "error" for problem in found) else found + self._verdict(filling)

    def _verdict(self, filling: Filling) -> tuple[Problem, ...]:
        """Return the errors of the validator, each at the innermost item that it is about."""
        assembly = Assembly(self.form, filling)
        made = response(self.form, filling, Heading("completed", self._around.now), assembly)
        findings = check_response(made, self._indexed, known=self.form.known, now=self._around.now)
        errors = [finding for finding in findings if finding.is_error]
        paths = {id(node): path for path, node in assembly.nodes.items()} if errors else {}
        return tuple(
            Problem("refused", _place_of(finding, made, paths), key=finding.rule or finding.code) for finding in errors
        )

    def progress(self, filling: Filling) -> tuple[int, int]:
        """Return how many questions were answered or skipped, and how many are asked in all as things stand."""
        summary = next_step.summary_of(self.form, filling)
        return summary.answered, summary.of

    def answers(self, filling: Filling, path: Path) -> tuple[Answer, ...]:
        """Return the answers at a question, given or calculated."""
        return answers_at(filling, path)

    def exists(self, filling: Filling, path: Path) -> bool:
        """Say whether a path leads somewhere, as things stand."""
        return exists(self.form, filling, path)

    def is_enabled(self, filling: Filling, path: Path) -> bool:
        """Say whether an item is asked for, as things stand."""
        return is_enabled(self.form, filling, path)

    def children(self, path: Path) -> tuple[Item, ...]:
        """Return the items directly inside what `path` leads to."""
        return child_items(self.form, path)

    def response(self, filling: Filling, heading: Heading) -> dict[str, JsonValue]:
        """Return the QuestionnaireResponse."""
        return response(self.form, filling, heading)

    def _checks(self, filling: Filling) -> Checks:
        return Checks(self._plan, self.form, filling, Sight(self._around, filling))


def _place_of(finding: Finding, made: JsonObject, paths: Mapping[int, Path]) -> Path:
    """Return the path of the item that a finding (``QuestionnaireResponse.item[2].answer[0]``) is in; else ()."""
    here: JsonValue = dict(made)
    found: Path = ()
    for name, index in _STEP.findall(finding.path.partition(".")[2]):
        here = here.get(name) if isinstance(here, dict) else None
        if index and isinstance(here, list) and int(index) < len(here):
            here = here[int(index)]
        found = paths.get(id(here), found)
    return found


def _without(filling: Filling, path: Path) -> Filling:
    """Return the state with nothing said about a question."""
    return replace(
        filling,
        answers={key: value for key, value in filling.answers.items() if key != path},
        skipped=filling.skipped - {path},
        marked={key: value for key, value in filling.marked.items() if key != path},
        accepted=filling.accepted - {path},
        edited=filling.edited - {path},
    )

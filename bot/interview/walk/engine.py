"""Walk a form: what to ask next, what an answer changes, what is wrong with it, what the response is. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from bot.errors import BadData
from bot.interview.form.form import Bound, Constraint, Form, Item, Note, Option, Path
from bot.interview.form.options import as_answers
from bot.interview.rules.answers import PlacedQuestion, Problem, number_problems, stated_errors
from bot.interview.validate.item import refused_by
from bot.interview.validate.response import check_response
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject, objects
from bot.interview.values.fhir_names import CHOICES
from bot.interview.values.finding import Finding
from bot.interview.values.primitives import PRIMITIVES
from bot.interview.walk.assemble import Assembly, Heading, answer_in_response, response
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
    Pointer,
    Reopened,
    Shown,
    Skipped,
    Summary,
    Waiting,
    below,
    first,
)
from bot.interview.walk.plan import Placed, Plan, make_plan

MOST_COMPUTED = 5000  # characters of a text that a formula gives; what is longer was not meant
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

    def __init__(
        self,
        form: Form,
        *,
        now: datetime,
        launch: Mapping[str, JsonObject] | None = None,
        plan: Plan | None = None,
        known: Mapping[str, tuple[Answer, ...]] | None = None,
    ) -> None:
        """Prepare a form.

        Args:
            form: The compiled Questionnaire.
            now: What formulas take for the present; with time zone.
            launch: Resources that formulas may use, by name: ``patient``, ``encounter``, ``user``.
            plan: What `make_plan` found out about the form; worked out here when it is left out.
            known: By linkId, what the patient answered earlier: it is proposed, and counts once they confirm it.
        """
        self.form = form
        self._plan = plan or make_plan(form)
        self._around = Surroundings.of(form, launch or {}, now)
        self._parts = _parts_of(form)
        self._known = known or {}
        # The questions put on the last state that was looked at: a state never changes, and is looked at many times.
        self._put: tuple[Filling, dict[Path, AskItem]] = Filling(), {}

    @property
    def losses(self) -> tuple[Note, ...]:
        """What formulas gave so far and nobody could use, such as a text for a number; without the values."""
        return tuple(self._around.losses)

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
        if isinstance(event, GroupRemoved) or changed.summaries is not filling.summaries:
            return replace(settled, summaries={})
        return settled.forgetting([event.path, *moved])

    def _happened(self, filling: Filling, event: Event) -> tuple[Filling, set[int]]:
        """Return the state with the event itself in it, and the cells to decide again."""
        item, plan = self._item(filling, event), self._plan
        dirty = {*plan.dependents.get(item.link_id, ()), *plan.inner.get(item.link_id, ())}
        match event:
            case Given():
                changed = self._given(filling, item, event)
            case Waiting(path, answers):
                bare = filling.without(path)
                changed = replace(bare, waiting={**bare.waiting, path: answers})
            case Skipped(path, _):
                changed = filling.without(path)
                changed = replace(changed, skipped=changed.skipped | {path})
            case MarkedForStaff(path, reason):
                changed, dirty = replace(filling, marked={**filling.marked, path: reason}), set()
            case Noted(path, text):
                said = (*filling.noted.get(path, ()), text)[-MOST_NOTED:]
                changed, dirty = replace(filling, noted={**filling.noted, path: tuple(dict.fromkeys(said))}), set()
            case Cleared(path):
                changed = filling.without(path)
                if item.formulas.calculated is not None:
                    dirty |= {rank for rank, cell in enumerate(plan.cells) if cell.item is item}
            case Shown(path):
                changed, dirty = replace(filling, shown=filling.shown | {path}), set()
            case NoMore(path):
                closed, reopened = filling.closed | {first(path)}, filling.reopened - {path}
                changed, dirty = replace(filling, closed=closed, reopened=reopened), set()
            case Reopened(path):
                changed, dirty = replace(filling, reopened=filling.reopened | {path}), set()
            case GroupAdded(path):
                changed = filling.with_instance(item, path)
            case GroupRemoved(path):
                changed = filling.without_instance(item, path)
                dirty.update(*(plan.dependents.get(link_id, ()) for link_id in plan.insides[item.link_id]))
        return changed, dirty

    def _item(self, filling: Filling, event: Event) -> Item:
        path = event.path
        item = self.form.by_link_id.get(path[-1][0]) if path else None
        # A group that is added, or closed before there is any, is not there yet.
        if item is None or not filling.exists(self.form, path, next_too=isinstance(event, GroupAdded | NoMore)):
            raise BadData("An event of the interview names a question that is not asked. Start the interview again.")
        wanted = {Shown: "display", GroupAdded: "group", GroupRemoved: "group"}.get(type(event))
        answering = Given | Waiting | Skipped | Cleared | MarkedForStaff | Noted | Reopened
        if isinstance(event, answering) and not item.is_question:
            raise BadData(f"An event answers the item {item.link_id!r}, which is no question.")
        if wanted not in (None, item.type):
            raise BadData(f"An event takes the item {item.link_id!r} for a {wanted}.")
        if isinstance(event, NoMore | Reopened) and not item.repeats:
            raise BadData(f"An event ends or opens the repetitions of {item.link_id!r}, which has none.")
        return item

    def _given(self, filling: Filling, item: Item, event: Given) -> Filling:
        if not event.answers:
            raise BadData(f"An event gives no answer to {item.link_id!r}; skip or clear it instead.")
        path = event.path
        bare = filling.moved_with(item, path, event.answers).without(path)
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
        summary = self._summary(filling)
        pointer = summary.step or summary.late
        if pointer is None:
            return Done()
        kind, path = pointer
        item = self.form.by_link_id[path[-1][0]]
        if kind == "ask":
            return self.ask(filling, path)
        if kind == "show":
            return Show(path, item)
        return AskAnother(path, item, path[-1][1] if item.type == "group" else len(filling.at(path)))

    def ask(self, filling: Filling, path: Path) -> AskItem:
        """Return the question at `path`, also when it was answered before."""
        of, known = self._put
        if of is not filling:
            known = {}
            self._put = filling, known
        if path not in known:
            item, sight = self.form.by_link_id[path[-1][0]], Sight(self._around, filling)
            proposal = filling.at(path) or self.known(path) or proposal_at(self._plan, sight, item, path)
            known[path] = AskItem(path, item, proposal, options_at(self._plan, sight, item, path))
        return known[path]

    def waiting(self, filling: Filling) -> list[Path]:
        """Return the questions, of those that are asked as things stand, whose answers wait to be confirmed."""
        return [path for path in self.questions(filling) if path in filling.waiting] if filling.waiting else []

    def tells_apart(self, filling: Filling) -> bool:
        """Say whether it makes a difference to the interview if what waits to be confirmed counts.

        It does where something else would be asked, calculated or said next: then it cannot wait any longer.
        """
        supposed = filling
        for path in self.waiting(filling):
            supposed = self.apply(supposed, Given(path, filling.waiting[path]))
        if supposed is filling:
            return False
        same = (filling.disabled, filling.computed) == (supposed.disabled, supposed.computed)
        return not same or self._put_next(filling) != self._put_next(supposed)

    def _put_next(self, filling: Filling) -> tuple[object, ...]:
        """Return all that the next step looks like to a patient."""
        step = self.next(filling)
        if isinstance(step, Done):
            return ()
        said = (type(step), step.path, self.text(filling, step.path))
        if not isinstance(step, AskItem):
            return said
        return (*said, step.proposal, tuple(option.answer for option in step.options), self.bounds(filling, step.path))

    def compares(self, link_id: str) -> bool:
        """Say whether a constraint holds the answers to a question against those to others."""
        questions = {item.link_id for item in self.form.walk() if item.is_question}
        read_by = (placed.reads for _, placed in self._plan.constraints)
        return any(reads is None or (link_id in reads and len(reads & questions) > 1) for reads in read_by)

    @property
    def parts(self) -> int:
        """How many parts the form has: its groups and what stands beside them; no answer changes that."""
        return len(self._parts)

    @property
    def has_sections(self) -> bool:
        """Say whether parts are groups; where they are not, each is a question."""
        return any(self.form.by_link_id[link_id].type == "group" for link_id in self._parts)

    def part(self, path: Path) -> int:
        """Return which part of the form a place is in, from 0."""
        return next((self._parts[link_id] for link_id, _ in path if link_id in self._parts), 0)

    def known(self, path: Path) -> tuple[Answer, ...]:
        """Return what the patient answered to a question in an earlier interview."""
        return self._known.get(path[-1][0], ())

    def _summary(self, filling: Filling, path: Path = ()) -> Summary:
        """Return what stands open below `path`: an instance of a group, an answer of a question, or the form."""
        known = filling.summaries.get(path)
        if known is None:
            items = self.form.by_link_id[path[-1][0]].children if path else self.form.items
            parts = [part for item in items for part in self._open_at(filling, item, path)]
            known = filling.summaries[path] = Summary(
                next((part.step for part in parts if part.step), None),
                next((part.late for part in parts if part.late), None),
            )
        return known

    def _open_at(self, filling: Filling, item: Item, around: Path) -> Iterator[Summary]:
        """Yield what stands open at an item and inside it, in the order it is asked."""
        own = below(around, item.link_id)
        if item.hidden:
            return
        if item.type == "group":
            count = filling.count(item, own)
            for path in (below(around, item.link_id, number) for number in range(count)):
                if path not in filling.disabled:
                    yield self._summary(filling, path)
            # With no instance yet there is no place where its own rule could have been decided but that of the first.
            open_ended = item.repeats and own not in filling.closed and own not in filling.disabled
            if open_ended and (item.most is None or count < item.most) and not item.read_only:
                yield Summary(("another", below(around, item.link_id, count)))
        elif own in filling.disabled:
            return
        elif item.type == "display":
            if own not in filling.shown:
                yield Summary(("show", own))
        else:
            given = len(filling.at(own))
            if item.asked:
                yield _open_question(filling, item, own, given)
            for number in range(given) if item.children else ():
                yield self._summary(filling, below(around, item.link_id, number))

    def questions(self, filling: Filling, *, shown_too: bool = False) -> Iterator[Path]:
        """Yield the questions that are asked as things stand; `shown_too`: with values that nobody is asked for."""
        yield from self._questions(filling, self.form.items, (), shown_too)

    def _questions(self, filling: Filling, items: Sequence[Item], around: Path, shown_too: bool) -> Iterator[Path]:
        for item in items:
            own = below(around, item.link_id)
            if item.hidden or item.type == "display":
                continue
            if item.type == "group":
                for path in (below(around, item.link_id, number) for number in range(filling.count(item, own))):
                    if path not in filling.disabled:
                        yield from self._questions(filling, item.children, path, shown_too)
            elif own not in filling.disabled:
                answers = filling.at(own)
                asked = item.asked and (item.formulas.calculated is None or filling.settled(own))
                if asked or (shown_too and answers):
                    yield own
                for number in range(len(answers)):
                    yield from self._questions(filling, item.children, below(around, item.link_id, number), shown_too)

    def problems(self, filling: Filling, path: Path, answers: tuple[Answer, ...]) -> tuple[Problem, ...]:
        """Return what is wrong with answers that somebody wants to give; nothing of it is stored."""
        item = self.form.by_link_id[path[-1][0]]
        found = tuple(self._checks(filling).problems_with(item, path, answers))
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
        findings = check_response(made, self._plan.stated, known=self.form.known, now=self._around.now)
        errors = [finding for finding in findings if finding.is_error]
        paths = {id(node): path for path, node in assembly.nodes.items()} if errors else {}
        return tuple(
            Problem("refused", _place_of(finding, made, paths), key=finding.rule or finding.code) for finding in errors
        )

    def text(self, filling: Filling, path: Path) -> str:
        """Return what the item at `path` says by a formula, as things stand; empty where no formula gives a text."""
        item = self.form.by_link_id[path[-1][0]]
        if item.formulas.text is None:
            return ""
        placed = self._plan.placed[item.link_id, item.formulas.text.source]
        found = Sight(self._around, filling).values(placed, path)
        said = found[0] if len(found) == 1 else None
        if isinstance(said, bool) or not isinstance(said, str | int | Decimal) or len(str(said)) > MOST_COMPUTED:
            return ""
        return f"{item.prefix} {said}".strip() if str(said).strip() else ""

    def texts(self, filling: Filling) -> Iterator[tuple[str, str]]:
        """Yield all that items say by formulas, as things stand, each with its linkId."""
        for item in self.form.walk():
            for path in filling.instances(self.form, item, least=1) if item.formulas.text is not None else ():
                if said := self.text(filling, path):
                    yield item.link_id, said

    def exists(self, filling: Filling, path: Path) -> bool:
        """Say whether a path leads somewhere, as things stand."""
        return filling.exists(self.form, path)

    def response(self, filling: Filling, heading: Heading) -> dict[str, JsonValue]:
        """Return the QuestionnaireResponse."""
        return response(self.form, filling, heading)

    def _checks(self, filling: Filling) -> _Checks:
        return _Checks(self._plan, self.form, filling, Sight(self._around, filling))


def _parts_of(form: Form) -> dict[str, int]:
    """Return the numbers of the parts of a form, by linkId: what stands in it side by side and holds questions."""

    def holding(items: Sequence[Item]) -> list[Item]:
        return [item for item in items if not item.hidden and any(each.asked for each in item.walk())]

    parts = holding(form.items)
    while len(parts) == 1 and parts[0].type == "group" and not parts[0].repeats:
        parts = holding(parts[0].children)
    return {item.link_id: number for number, item in enumerate(parts)}


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


def _open_question(filling: Filling, item: Item, own: Path, given: int) -> Summary:
    """Return what stands open at a question that somebody is asked, with so many answers `given`."""
    if item.formulas.calculated is not None:
        # Nobody is asked for what is calculated, unless it must be there and could not be.
        if not item.required or given:
            return Summary()
        return Summary() if filling.settled(own) else Summary(late=("ask", own))
    if not filling.settled(own):
        return Summary(("ask", own))
    # From a list, all are chosen at once, unless it has grown since.
    at_once = item.type in CHOICES and item.options and own not in filling.reopened
    more = item.repeats and not at_once and (item.most is None or given < item.most)
    step: Pointer | None = ("another", own) if given and own not in filling.closed and more else None
    return Summary(step)


@dataclass(frozen=True, slots=True)
class _Checks:
    """Checks on one state of the answers."""

    plan: Plan
    form: Form
    filling: Filling
    sight: Sight

    def problems_with(self, item: Item, path: Path, answers: Sequence[Answer]) -> Iterator[Problem]:
        """Yield what is wrong with the answers themselves."""
        options = options_at(self.plan, self.sight, item, path)
        found = list(PlacedQuestion(item, path, options, *self.bounds(item, path)).problems(answers))
        yield from found
        if not found:
            yield from self._refused(item, path, answers)

    def _refused(self, item: Item, path: Path, answers: Sequence[Answer]) -> Iterator[Problem]:
        """Yield what the validator of responses would say against the answers by themselves."""
        for answer in answers:
            stands = answer_in_response(item, answer) if answer.type == "quantity" else answer
            rules: Iterable[str] | None = next((each.refused for each in item.options if each.answer == stands), None)
            if rules is None:
                # That a primitive is well formed has been seen already.
                look = stated_errors if answer.type in PRIMITIVES else refused_by
                rules = dict.fromkeys(look(item.stated, stands, self.form.known))
            yield from (Problem("refused", path, key=rule) for rule in rules)

    def bounds(self, item: Item, path: Path) -> tuple[Answer | None, Answer | None]:
        """Return the least and the greatest value."""
        limits = item.limits
        return self._bound(item, path, limits.minimum), self._bound(item, path, limits.maximum)

    def _bound(self, item: Item, path: Path, bound: Bound | None) -> Answer | None:
        if bound is None or bound.formula is None:
            return bound.fixed if bound else None
        values = self.sight.values(self.plan.placed[item.link_id, bound.formula.source], path)
        return next(iter(as_answers(item, values)), None)

    def constraints_after(self, item: Item, path: Path) -> Iterator[Problem]:
        """Yield the constraints that the answer at `path` breaks, but for those that wait for other answers."""
        for constraint, placed in self.plan.constraints:
            own = constraint.owner == item.link_id
            if not own and (placed.reads is None or item.link_id not in placed.reads):
                continue
            where = path if own else self._place(constraint, path)
            if where is not None and self._all_settled(placed, path):
                yield from self._constraint(constraint, placed, where)

    def _place(self, constraint: Constraint, path: Path) -> Path | None:
        """Return where the owner of a constraint stands around `path`; None when it does not."""
        if not constraint.owner:
            return ()
        depth = len(self.form.by_link_id[constraint.owner].line)
        return path[:depth] if len(path) >= depth and path[depth - 1][0] == constraint.owner else None

    def _all_settled(self, placed: Placed, path: Path) -> bool:
        """Say whether every other question that a formula looks at was asked already."""
        for link_id in placed.reads or ():
            item = self.form.by_link_id[link_id]
            if link_id == path[-1][0] or not item.asked or item.formulas.calculated is not None:
                continue
            for place in self.filling.instances(self.form, item):
                unsettled = place in self.filling.waiting or not self.filling.settled(place)
                if unsettled and self.filling.is_enabled(self.form, place):
                    return False
        return True

    def _constraint(self, constraint: Constraint, placed: Placed, where: Path) -> Iterator[Problem]:
        if self.sight.truth(placed, where) is False:
            human = constraint.human.base
            yield Problem("constraint", where, {}, human, constraint.key, constraint.severity)

    def everything(self) -> Iterator[Problem]:
        """Yield what is wrong with the whole: what is missing, answers that no longer fit, broken constraints."""
        assembly = Assembly(self.form, self.filling)
        assembly.items(self.form.items, ())
        yield from self._items(self.form.items, (), assembly)
        for constraint in self.form.constraints:
            yield from self._constraint(constraint, self.plan.placed["", constraint.formula.source], ())

    def _items(self, items: Sequence[Item], around: Path, assembly: Assembly) -> Iterator[Problem]:
        for item in items:
            if item.type == "group":
                yield from self._groups(item, around, assembly)
            elif item.type != "display" and below(around, item.link_id) not in self.filling.disabled:
                yield from self._question(item, below(around, item.link_id), assembly)

    def _groups(self, item: Item, around: Path, assembly: Assembly) -> Iterator[Problem]:
        standing = [
            path for path in self.filling.instances(self.form, item, around) if path not in self.filling.disabled
        ]
        own = below(around, item.link_id)
        if own not in self.filling.disabled:
            filled = sum("item" in assembly.nodes.get(path, {}) for path in standing)
            yield from number_problems(item, own, filled)
        for path in standing:
            if path in assembly.nodes:
                yield from self._own_constraints(item, path)
                yield from self._items(item.children, path, assembly)
            else:
                yield from self._refused_in(item.children, path)

    def _refused_in(self, items: Sequence[Item], around: Path) -> Iterator[Problem]:
        """Yield the required questions of a group without any answer.

        A response may leave such a group out, and is valid then; an interview in which a question that must be answered
        was refused is not complete, wherever it stands. Of what nobody is asked, nothing is missing there.
        """
        for item in items:
            own = below(around, item.link_id)
            if item.type == "group":
                for path in self.filling.instances(self.form, item, around):
                    if path not in self.filling.disabled:
                        yield from self._refused_in(item.children, path)
            elif (item.asked or item.left_out) and not item.hidden and own not in self.filling.disabled:
                yield from number_problems(item, own, 0)

    def _question(self, item: Item, path: Path, assembly: Assembly) -> Iterator[Problem]:
        answers = self.filling.at(path)
        # Whether there are too many is asked with the answers themselves.
        yield from (each for each in number_problems(item, path, len(answers)) if each.code != "too-many")
        if not answers:
            return
        yield from self.problems_with(item, path, answers)
        yield from self._own_constraints(item, path)
        for number in range(len(objects(assembly.nodes[path], "answer"))):
            yield from self._items(item.children, below(path[:-1], item.link_id, number), assembly)

    def _own_constraints(self, item: Item, path: Path) -> Iterator[Problem]:
        for constraint in item.constraints:
            yield from self._constraint(constraint, self.plan.placed[item.link_id, constraint.formula.source], path)

"""Check answers where they stand: with the limits, options and constraints that formulas give there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.interview.form.form import Bound, Constraint, Form, Item, Path
from bot.interview.form.options import as_answers
from bot.interview.rules.answers import PlacedQuestion, Problem, number_problems, stated_errors
from bot.interview.validate.item import refused_by
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import objects
from bot.interview.values.primitives import PRIMITIVES
from bot.interview.walk.assemble import Assembly, answer_in_response
from bot.interview.walk.evaluation import Sight, options_at
from bot.interview.walk.filling import Filling
from bot.interview.walk.places import answers_at, below, instances, is_enabled
from bot.interview.walk.plan import Placed, Plan


@dataclass(frozen=True, slots=True)
class Checks:
    """Checks on one state of the answers."""

    plan: Plan
    form: Form
    filling: Filling
    sight: Sight

    def answers(self, item: Item, path: Path, answers: Sequence[Answer]) -> Iterator[Problem]:
        """Yield what is wrong with the answers themselves."""
        options = options_at(self.plan, self.sight, item, path)
        found = list(PlacedQuestion(item, path, options, *self.bounds(item, path)).problems(answers))
        yield from found
        if not found:
            yield from self._refused(item, path, answers)

    def _refused(self, item: Item, path: Path, answers: Sequence[Answer]) -> Iterator[Problem]:
        """Yield what the validator of responses would say against the answers by themselves."""
        for answer in answers:
            stands = answer_in_response(item, answer)
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
        values = self.sight.values(self.plan.at(item.link_id, bound.formula), path)
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
            for place in instances(self.form, self.filling, item):
                if is_enabled(self.form, self.filling, place) and not self.filling.settled(place):
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
            yield from self._constraint(constraint, self.plan.at("", constraint.formula), ())

    def _items(self, items: Sequence[Item], around: Path, assembly: Assembly) -> Iterator[Problem]:
        for item in items:
            if item.type == "group":
                yield from self._groups(item, around, assembly)
            elif item.type != "display" and below(around, item.link_id) not in self.filling.disabled:
                yield from self._question(item, below(around, item.link_id), assembly)

    def _groups(self, item: Item, around: Path, assembly: Assembly) -> Iterator[Problem]:
        standing = [path for path in instances(self.form, self.filling, item, around) if path in assembly.nodes]
        own = below(around, item.link_id)
        if own not in self.filling.disabled:
            yield from number_problems(item, own, sum("item" in assembly.nodes[path] for path in standing))
        for path in standing:
            yield from self._own_constraints(item, path)
            yield from self._items(item.children, path, assembly)

    def _question(self, item: Item, path: Path, assembly: Assembly) -> Iterator[Problem]:
        answers = answers_at(self.filling, path)
        # Whether there are too many is asked with the answers themselves.
        yield from (each for each in number_problems(item, path, len(answers)) if each.code != "too-many")
        if not answers:
            return
        yield from self.answers(item, path, answers)
        yield from self._own_constraints(item, path)
        for number in range(len(objects(assembly.nodes[path], "answer"))):
            yield from self._items(item.children, below(path[:-1], item.link_id, number), assembly)

    def _own_constraints(self, item: Item, path: Path) -> Iterator[Problem]:
        for constraint in item.constraints:
            yield from self._constraint(constraint, self.plan.at(item.link_id, constraint.formula), path)

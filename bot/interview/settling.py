"""After a change, decide again what depends on it: which items are enabled, what formulas calculate. Pure.

Every step is a function of the state before it, so replaying events settles to the same state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush

from bot.interview.answer import Answer
from bot.interview.enablement import conditions_hold
from bot.interview.evaluation import Sight, Surroundings
from bot.interview.filling import Filling
from bot.interview.form import Path
from bot.interview.options import as_answers
from bot.interview.places import NO_ANSWERS, instances
from bot.interview.plan import Cell, Plan, ranks

# Formulas that feed each other in a circle are evaluated this often, then left as they are.
MAX_ROUNDS = 6


def settle(plan: Plan, around: Surroundings, filling: Filling, dirty: Iterable[int]) -> tuple[Filling, set[Path]]:
    """Evaluate the cells `dirty` and all that depend on what changes; return the new state and the changed places."""
    waiting = sorted(set(dirty))
    if not waiting:
        return filling, set()
    draft = replace(filling, computed=dict(filling.computed), disabled=set(filling.disabled))
    run = _Run(plan, Sight(around, draft), draft)
    run.work_off(waiting)
    return replace(draft, disabled=frozenset(draft.disabled)), run.changed


@dataclass(slots=True)
class _Run:
    plan: Plan
    sight: Sight
    draft: Filling
    changed: set[Path] = field(default_factory=set)

    def work_off(self, waiting: list[int]) -> None:
        heapify(waiting)
        queued, rounds = set(waiting), Counter[int]()
        while waiting:
            rank = heappop(waiting)
            queued.discard(rank)
            rounds[rank] += 1
            cell = self.plan.cells[rank]
            if not self._decide(cell):
                continue
            self.sight.changed()
            for other in self._following(cell):
                if other not in queued and rounds[other] < MAX_ROUNDS:
                    heappush(waiting, other)
                    queued.add(other)

    def _following(self, cell: Cell) -> set[int]:
        link_id = cell.item.link_id
        if cell.kind == "enabled":
            return ranks(self.plan.dependents, self.plan.insides[link_id])
        # A question with its first answer opens what is asked about that answer.
        return ranks(self.plan.dependents, [link_id]) | ranks(self.plan.inner, [link_id])

    def _decide(self, cell: Cell) -> bool:
        """Evaluate a cell wherever its item stands; say whether anything changed."""
        moved = False
        # Whether a repeating group is asked for at all is decided for its first instance, there or not.
        for path in list(instances(self.sight.around.form, self.draft, cell.item, least=1)):
            if self._enable(cell, path) if cell.kind == "enabled" else self._compute(cell, path):
                self.changed.add(path)
                moved = True
        return moved

    def _enable(self, cell: Cell, path: Path) -> bool:
        if cell.formula is not None:
            enabled = self.sight.truth(cell.formula, path) is True
        else:
            enabled = conditions_hold(self.sight.around.form, self.draft, cell.item, path)
        disabled = self.draft.disabled
        if enabled is (path not in disabled) or not isinstance(disabled, set):
            return False
        (disabled.discard if enabled else disabled.add)(path)
        return True

    def _compute(self, cell: Cell, path: Path) -> bool:
        computed = self.draft.computed
        before = computed.get(path, NO_ANSWERS)
        # A fixed value is set once; what a patient edited stays as it is.
        if (cell.kind == "fixed" and before) or path in self.draft.edited or not isinstance(computed, dict):
            return False
        found = self._value(cell, path)
        if found == before:
            return False
        computed[path] = found
        if not found:
            del computed[path]
        return True

    def _value(self, cell: Cell, path: Path) -> tuple[Answer, ...]:
        if cell.formula is None:
            return cell.item.initial[: cell.item.most]
        values = self.sight.values(cell.formula, path, without_own=cell.kind == "calculated")
        found = as_answers(cell.item, values)
        return found or (cell.item.initial[: cell.item.most] if cell.kind == "fixed" else NO_ANSWERS)

"""Find what to ask next and how much is done, looking again only where something changed. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.interview.form.form import Form, Item, Path
from bot.interview.values.fhir_names import CHOICES
from bot.interview.walk.filling import Filling, Summary
from bot.interview.walk.places import answers_at, below, count_at

ASK, ANOTHER, SHOW = "ask", "another", "show"

_Pointer = tuple[str, Path]


def summary_of(form: Form, filling: Filling, path: Path = ()) -> Summary:
    """Return what stands open below `path`: an instance of a group, an answer of a question, or the form."""
    known = filling.summaries.get(path)
    if known is None:
        items = form.by_link_id[path[-1][0]].children if path else form.items
        tally = _Tally(form, filling)
        for item in items:
            tally.add(item, path)
        known = filling.summaries[path] = Summary(tally.step, tally.late, tally.answered, tally.of)
    return known


def kept(summaries: dict[Path, Summary], changed: Iterable[Path]) -> dict[Path, Summary]:
    """Return the summaries that a change at these places leaves right: those of nothing around them."""
    left = dict(summaries)
    for path in changed:
        for depth in range(len(path)):
            left.pop(path[:depth], None)
    return left


@dataclass(slots=True)
class _Tally:
    form: Form
    filling: Filling
    step: _Pointer | None = None
    late: _Pointer | None = None
    answered: int = 0
    of: int = 0

    def add(self, item: Item, around: Path) -> None:
        """Count an item and all inside it."""
        if item.hidden:
            return
        own = below(around, item.link_id)
        if item.type == "group":
            self._group(item, around, own)
        elif own in self.filling.disabled:
            return
        elif item.type == "display":
            if own not in self.filling.shown:
                self._found(SHOW, own)
        else:
            self._question(item, around, own)

    def _found(self, kind: str, path: Path) -> None:
        self.step = self.step or (kind, path)

    def _group(self, item: Item, around: Path, own: Path) -> None:
        count = count_at(self.filling, item, own)
        for number in range(count):
            path = below(around, item.link_id, number)
            if path not in self.filling.disabled:
                self._inside(path)
        # With no instance yet there is no place where its own rule could have been decided but that of the first.
        open_ended = item.repeats and own not in self.filling.closed and own not in self.filling.disabled
        if open_ended and (item.most is None or count < item.most) and not item.read_only:
            self._found(ANOTHER, below(around, item.link_id, count))

    def _inside(self, path: Path) -> None:
        inner = summary_of(self.form, self.filling, path)
        self.step = self.step or inner.step
        self.late = self.late or inner.late
        self.answered += inner.answered
        self.of += inner.of

    def _question(self, item: Item, around: Path, own: Path) -> None:
        answers = answers_at(self.filling, own)
        if item.asked:
            self._asked(item, own, len(answers))
        for number in range(len(answers)) if item.children else ():
            self._inside(below(around, item.link_id, number))

    def _asked(self, item: Item, own: Path, given: int) -> None:
        if item.formulas.calculated is not None:
            # Nobody is asked for what is calculated, unless it must be there and could not be.
            if not item.required or given:
                return
            self.of += 1
            if self.filling.settled(own):
                self.answered += 1
            else:
                self.late = self.late or (ASK, own)
            return
        self.of += 1
        if not self.filling.settled(own):
            self._found(ASK, own)
            return
        self.answered += 1
        if given and own not in self.filling.closed and _may_go_on(item, given):
            self._found(ANOTHER, own)


def _may_go_on(item: Item, given: int) -> bool:
    """Say whether to ask for one more answer. From a list, all are chosen at once."""
    if not item.repeats or (item.type in CHOICES and item.options):
        return False
    return item.most is None or given < item.most

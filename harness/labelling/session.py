"""A session of labelling or adjudication: each label is stored before the next item is shown; undo, skip, go on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal, Self

from rich.console import Console

from bot import BadData, load_catalog, locate
from harness.labelling.labels import Item, Label, Rater, Verdicts, label_files, load_labels, now
from harness.labelling.rater_files import RaterFile, open_rater_file, queue_of
from harness.labelling.screen import (
    Given,
    ItemAsker,
    LineAsker,
    ScreenWords,
    TerminalAsker,
    View,
    open_keyboard,
    screen_words,
)
from harness.running.outcomes import Outcome
from harness.running.run import kept_answers, load_outcomes


@dataclass
class Session:
    """What is left, what was skipped, and how to take a step back."""

    person: Rater
    role: Literal["rating", "adjudication"]
    items: Sequence[Item]
    todo: deque[Item]
    answers: Mapping[str, str]
    own: RaterFile
    labels: Mapping[tuple[str, str], tuple[Label, ...]] = field(default_factory=dict)
    before: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    skipped: list[Item] = field(default_factory=list)
    back: list[Item] = field(default_factory=list)  # skipped since the last label, for undo

    def run(self, asker: ItemAsker) -> None:
        """Ask until nothing is left or the rater ends."""
        note = ""
        while True:
            if not self.todo:
                if self.skipped or asker.finished(self.view(self.items[-1], "")) != "undo":
                    return
                note = self.undo()
                continue
            item = self.todo[0]
            reply = asker.ask(self.view(item, note))
            note = ""
            if isinstance(reply, Given):
                self.give(item, reply)
            elif reply == "skip":
                self.back.append(self.todo.popleft())
                self.skipped.append(item)
            elif reply == "undo":
                note = self.undo()
            else:
                return

    def give(self, item: Item, given: Given) -> None:
        """Store a label of something that is left."""
        label = Label(
            question_id=item.outcome.id,
            pair_id=item.pair_id,
            label=given.verdict,
            rater=self.person,
            reason=given.reason,
            comment=given.comment,
            time=now(),
            role=self.role,
        )
        self.own.append(label)
        self.todo.remove(item)
        self.back.clear()

    def undo(self) -> str:
        """Bring back what was skipped or labelled last."""
        if self.back:
            self.skipped.remove(item := self.back.pop())
            self.todo.appendleft(item)
            return str(self.words["back_to_skipped"])
        if not self.own.labels:
            return str(self.words["nothing_to_undo"])
        last = self.own.labels[-1].item
        again = next((item for item in self.items if item.key == last), None)
        if again is None:
            return str(self.words["stays"])
        self.own.undo()
        self.todo.appendleft(again)
        return str(self.words["taken_back"])

    def view(self, item: Item, note: str = "") -> View:
        """Return what is shown of an item."""
        done = len(self.items) - len(self.todo) - len(self.skipped)
        labels = self.labels.get(item.key, ())
        return View(
            self.person.name,
            done,
            len(self.items),
            item.outcome.text,
            self.answers[item.pair_id],
            labels,
            note,
            item.outcome.lang,
            self.before.get(item.outcome.id, ()),
        )

    @property
    def words(self) -> ScreenWords:
        return screen_words(self.items[0].outcome.lang)


def label_in_terminal(run: Path, *, rater: str, catalog: str, console: Console | None = None) -> None:
    """Show what this rater has not labelled yet; every label is stored before the next item is shown.

    Raters see neither each other's labels nor those of models.

    Raises:
        BadData: The run, the queue or the rater's file cannot be used.
    """
    console = console or Console(highlight=False)
    texts = RunTexts.of(run, catalog)
    with open_rating(run, checked_name(rater), texts) as session:
        if not session.todo:
            console.print(screen_words(texts.language)["nothing_left"])
            return
        converse(session, console)


@dataclass(frozen=True)
class RunTexts:
    """What was asked and shown in a run.

    Attributes:
        outcomes: Of the run.
        answers: What each pair says, by id.
        catalog: That they come from, as people call it.
    """

    outcomes: Sequence[Outcome]
    answers: Mapping[str, str]
    catalog: str = "the catalog of this run"

    @classmethod
    def of(cls, run: Path, catalog: str = "") -> Self:
        """Read a run; its pairs' texts from beside it, else from the catalog."""
        outcomes = load_outcomes(run)
        kept = kept_answers(run)
        if kept is not None or not outcomes:
            return cls(outcomes, kept or {})
        return cls.from_catalog(outcomes, catalog)

    @classmethod
    def from_catalog(cls, outcomes: Sequence[Outcome], catalog: str) -> Self:
        """Take the texts from a catalog, by name or folder."""
        found = load_catalog(locate(catalog), outcomes[0].lang)
        return cls(outcomes, {pair.id: pair.answer for pair in found.pairs}, f"{found.ref} ({found.language})")

    @property
    def language(self) -> str:
        return self.outcomes[0].lang if self.outcomes else "en"

    def shown(self, items: Sequence[Item]) -> dict[str, str]:
        """Return the text of every pair that will be shown; raise BadData now rather than in the middle."""
        free = {one.shown: one.said for one in (*self.outcomes, *(item.outcome for item in items)) if one.said}
        missing = next((item.pair_id for item in items if item.pair_id not in {*free, *self.answers}), None)
        if missing is not None:
            raise BadData(f"There is no pair {missing!r} in {self.catalog}. Name the run's catalog with `--catalog`.")
        return {item.pair_id: free.get(item.pair_id) or self.answers[item.pair_id] for item in items}

    def before(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """Return what was said in a conversation before each of its turns: (patient, system), as far as it is known."""
        found: dict[str, tuple[tuple[str, str], ...]] = {}
        turns: dict[str, tuple[tuple[str, str], ...]] = {}
        for one in self.outcomes:
            if one.dialogue is None:
                continue
            found[one.id] = turns.get(one.dialogue, ())
            answer = one.said or self.answers.get(one.answered_with or "", f"[{one.decision}]")
            turns[one.dialogue] = (*found[one.id], (one.text, answer))
        return found


@contextmanager
def open_rating(run: Path, rater: str, texts: RunTexts, *, wait_s: float = 0) -> Iterator[Session]:
    """Open a rater's session on a run; what they have not labelled yet is to do.

    Raises:
        BadData: The queue or the rater's file cannot be used, or it is open elsewhere, after `wait_s`.
    """
    person = Rater(kind="person", name=rater)
    items = queue_of(run, texts.outcomes, rater)
    answers = texts.shown(items)
    with open_rater_file(run, person, wait_s=wait_s) as own:
        given = Verdicts([label for label in load_labels(label_files(run)) if label.rater == person])
        todo = deque(item for item in items if given.label_of(person.id, *item.key) is None)
        yield Session(person, "rating", items, todo, answers, own, before=texts.before())


@contextmanager
def open_adjudication(
    run: Path, rater: str, texts: RunTexts, *, suite: str = "", wait_s: float = 0
) -> Iterator[Session]:
    """Open the session of a third person, who decides what raters differ on; whoever labelled an item is not shown it.

    `suite`: whose shipped labels count too.

    Raises:
        BadData: The person labelled all the disputed items, or a file cannot be used.
    """
    person = Rater(kind="person", name=rater)
    labels = load_labels(label_files(run, suite))
    verdicts = Verdicts([label for label in labels if (label.role, label.rater) != ("adjudication", person)])
    disputed = disputed_items(texts.outcomes, verdicts)
    items = [item for item in disputed if verdicts.label_of(person.id, *item.key) is None]
    if disputed and not items:
        raise BadData(f"{rater!r} labelled all {len(disputed)} disputed items. Let a third person decide: `--rater`.")
    answers = texts.shown(items)
    with open_rater_file(run, person, adjudicator=True, wait_s=wait_s) as own:
        decided = {label.item for label in own.labels}
        todo = deque(item for item in items if item.key not in decided)
        seen = {item.key: _mixed(item, verdicts) for item in items}
        yield Session(person, "adjudication", items, todo, answers, own, seen, before=texts.before())


def converse(session: Session, console: Console) -> None:
    """Run a session on this terminal, or on lines from a pipe, and say how to go on."""
    # Ctrl-C may come at any moment, also while the screen is drawn; what was labelled is on the disk.
    with suppress(KeyboardInterrupt), _asker(console) as asker:
        session.run(asker)
    left = len(session.todo) + len(session.skipped)
    if left:
        said = session.words.say("rest", left=left, total=len(session.items))
    else:
        said = session.words.say("all_in", total=len(session.items), file=session.own.path)
    console.print(said, soft_wrap=True)


@contextmanager
def _asker(console: Console) -> Iterator[ItemAsker]:
    with open_keyboard() as keyboard:
        if keyboard is None or not console.is_terminal:
            yield LineAsker(console)
            return
        with console.screen(hide_cursor=False):
            yield TerminalAsker(console, keyboard)


def shown_answers(items: Sequence[Item], outcomes: Sequence[Outcome], catalog: str) -> dict[str, str]:
    """Return the text of every pair that will be shown; raise BadData now rather than in the middle."""
    if not items:
        return {}
    return RunTexts.from_catalog(outcomes, catalog).shown(items)


def checked_name(name: str) -> str:
    """Return a rater's name; raise BadData for one that nobody could read."""
    if not name.strip() or not name.isprintable():
        raise BadData(f"{name!r} is no name for a rater. Give one with `--rater`.")
    return name


def disputed_items(outcomes: Sequence[Outcome], verdicts: Verdicts) -> list[Item]:
    """Return what was shown and is disputed, in the order of the run."""
    return [
        Item(outcome, outcome.shown)
        for outcome in outcomes
        if outcome.shown is not None and verdicts.of(outcome.id, outcome.shown) == "disputed"
    ]


def adjudicate_in_terminal(
    run: Path, *, rater: str, catalog: str, suite: str = "", console: Console | None = None
) -> None:
    """Show what raters of this run differ on; each decision is stored before the next item is shown.

    Args:
        run: Folder of the run.
        rater: Who decides: none of those who labelled the items.
        catalog: Where the answers are.
        suite: Whose shipped labels count too.
        console: Where to show it.

    Raises:
        BadData: The person labelled all the disputed items, or a file cannot be used.
    """
    console = console or Console(highlight=False)
    texts = RunTexts.of(run, catalog)
    with open_adjudication(run, checked_name(rater), texts, suite=suite) as session:
        if not session.todo:
            console.print(screen_words(texts.language)["nothing_disputed"])
            return
        converse(session, console)


def _mixed(item: Item, verdicts: Verdicts) -> tuple[Label, ...]:
    """Return the labels in an order that tells nothing of who gave which, the same at each visit."""
    labels = list(verdicts.deciding(*item.key))
    Random(f"{item.outcome.id} {item.pair_id}").shuffle(labels)
    return tuple(labels)

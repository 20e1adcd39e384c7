"""Pages for raters: one answer after the other, blind to all other labels; a third person decides where two differ.

The labels are those of the terminal: the same queues, files, reasons and order (`harness.labelling`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from starlette.responses import JSONResponse, Response

from bot import BadData
from bot.editorial.acts import Act
from bot.editorial.people import Person
from bot.web.staff.area import Address, Area
from bot.web.staff.rendering import StaffProblem, StaffRenderer, go_to
from bot.web.staff.tools import Tools
from bot.web.staff.visit import StaffVisit
from harness.files import without_controls
from harness.labelling.labels import VERDICTS, Item, Verdicts, label_files, load_labels, load_reasons, reasons_for
from harness.labelling.rater_files import QUEUES, queue_file, queue_of
from harness.labelling.screen import KEYS, Given, ScreenWords, screen_words
from harness.labelling.session import RunTexts, Session, disputed_items, open_adjudication, open_rating
from harness.running.run import suite_of
from harness.staff_pages.runs import HERE
from harness.staff_pages.shelf import Shelf, about, outcome_files

MOST_COMMENT = 500
WAIT_S = 3.0  # for another page or terminal of the same person that stores a label just now
MOST_RUNS = 50  # that raters are shown, newest first


@dataclass(frozen=True, slots=True)
class Waiting:
    """A run in a rater's list: how much of it is labelled, and on how much two others differ."""

    name: str
    suite: str
    done: int
    total: int
    disputed: int


class RatingPages(Area):
    """What raters do."""

    folder = HERE

    def __init__(self, tools: Tools, renderer: StaffRenderer) -> None:
        super().__init__(tools, renderer)
        self.shelf = Shelf(tools.settings.data)
        self._texts: dict[str, tuple[object, RunTexts]] = {}

    def addresses(self) -> Sequence[Address]:
        return [
            Address("GET", "/rate", self.overview, "rate", menu="menu_rate"),
            Address("GET", "/rate/{name}", self.item, "rate"),
            Address("POST", "/rate/{name}", self.give, "rate"),
            Address("GET", "/rate/{name}/decide", self.item, "rate"),
            Address("POST", "/rate/{name}/decide", self.give, "rate"),
        ]

    def badges(self, person: Person) -> Mapping[str, int]:
        if not person.may("rate"):
            return {}
        return {"menu_rate": sum(one.total - one.done for one in self._waiting(person.name, assigned=True))}

    def overview(self, visit: StaffVisit) -> Response:
        waiting = list(self._waiting(visit.who.name))
        if visit.wants_json:
            return JSONResponse([{"name": one.name, "done": one.done, "total": one.total} for one in waiting])
        return self.renderer.page("rate", visit, waiting=waiting)

    def _waiting(self, rater: str, *, assigned: bool = False) -> Iterator[Waiting]:
        """Yield the runs in which something waits for a rater; `assigned`: only what was given to them."""
        for name, _ in self.shelf.names()[:MOST_RUNS]:
            folder = self.shelf.folder / name
            mine = queue_file(folder, rater).is_file()
            if (assigned and not mine) or self.shelf.run(name) is None:
                continue
            texts, suite = self._read(folder), suite_of(folder)
            # Where queues were handed out, others label nothing; they may decide.
            items = queue_of(folder, texts.outcomes, rater) if mine or not any((folder / QUEUES).glob("*")) else []
            labels = load_labels(label_files(folder))
            verdicts, who = Verdicts([each for each in labels if each.role == "rating"]), f"person:{rater}"
            done = sum(verdicts.label_of(who, *item.key) is not None for item in items)
            disputed = sum(
                verdicts.label_of(who, *item.key) is None for item in disputed_items(texts.outcomes, Verdicts(labels))
            )
            if items or disputed:
                yield Waiting(name, Path(suite).name, done, len(items), disputed)

    def item(self, visit: StaffVisit, *, line: str = "", status: int = 200, note: str = "") -> Response:
        """Show the next item, or the one after those that were passed over."""
        folder = self.shelf.run_of(visit)
        with self._session(visit, folder) as session:
            left = list(session.todo)
            passed = _number(visit.query.get("after", ""))
            place = {item.key: number for number, item in enumerate(session.items)}
            item = next((one for one in left if place[one.key] > passed), left[0] if left else None)
            view = session.view(item) if item is not None else None
            done = len(session.items) - len(left)
        told = screen_words(visit.language)
        return self.renderer.page(
            "rate_item",
            visit,
            line=line,
            status=status,
            folder=folder.name,
            suite=Path(suite_of(folder)).name,
            deciding=_is_deciding(visit),
            item=item,
            view=view,
            at=place[item.key] if item is not None else 0,
            done=done,
            total=len(session.items),
            may_undo=bool(session.own.labels),
            note=note or told_of(visit.query.get("note", ""), told),
            verdicts=[(key, verdict, told["verdicts"][verdict]) for key, verdict in KEYS.items()],
            reasons=[(each, each.said(visit.language)) for each in load_reasons()],
            before=told["before"],
            asked=told["asked"],
            shown=told["shown"],
            help=str(told["help"]).splitlines(),
            said=told,
            codes={each.code: each.said(visit.language) for each in load_reasons()},
            most_comment=MOST_COMMENT,
        )

    def give(self, visit: StaffVisit) -> Response:
        """Store a label and go on, take the last one back, or pass one over."""
        folder, path = self.shelf.run_of(visit), visit.path.removeprefix("/console")
        move = visit.said("move")
        if move == "skip":
            return go_to(f"{path}?after={_number(visit.said('at'))}")
        if move == "undo":
            with self._session(visit, folder) as session:
                taken = bool(session.items) and session.undo() == session.words["taken_back"]
            if taken:
                self._note(visit, "take label back", folder)
            return go_to(f"{path}?note={'taken_back' if taken else 'nothing_to_undo'}")
        try:
            given = _given(visit)
        except BadData:
            return self.item(visit, line=self.label(visit, "rate_no_verdict"), status=HTTPStatus.BAD_REQUEST)
        key = (visit.said("question"), visit.said("pair"))
        with self._session(visit, folder) as session:
            item = _item(session, key)
            # Sent twice, or labelled in another window meanwhile: what is stored stays.
            if item is not None:
                session.give(item, given)
                self._note(visit, "decide label" if _is_deciding(visit) else "label", folder)
        passed = _number(visit.said("at")) if visit.said("passing") else -1
        return go_to(path if passed < 0 else f"{path}?after={passed}")

    def _note(self, visit: StaffVisit, action: str, folder: Path) -> None:
        self.tools.acts.note(Act(self.tools.now(), visit.who.name, action, f"run {folder.name}"))

    def _session(self, visit: StaffVisit, folder: Path) -> AbstractContextManager[Session]:
        texts, rater = self._read(folder), visit.who.name
        if _is_deciding(visit):
            return open_adjudication(folder, rater, texts, suite="", wait_s=WAIT_S)
        handed_out = any((folder / QUEUES).glob("*"))
        if handed_out and not queue_file(folder, rater).is_file():
            raise StaffProblem(HTTPStatus.NOT_FOUND, "rate_not_yours")
        return open_rating(folder, rater, texts, wait_s=WAIT_S)

    def _read(self, folder: Path) -> RunTexts:
        """Return what was asked and shown; it never changes once a run is whole."""
        state = [(path.name, path.stat().st_mtime_ns) for path in outcome_files(folder)]
        known = self._texts.get(folder.name)
        if known is None or known[0] != state:
            catalog = str(about(folder).get("exam", "mammography"))
            known = self._texts[folder.name] = (state, RunTexts.of(folder, catalog))
        return known[1]


def _is_deciding(visit: StaffVisit) -> bool:
    """Whether somebody decides as a third person."""
    return visit.path.endswith(f"/{visit.parts['name']}/decide")


def told_of(note: str, told: ScreenWords) -> str:
    """Return a sentence of the screen that an address names."""
    return str(told[note]) if note in ("taken_back", "nothing_to_undo") else ""


def _item(session: Session, key: tuple[str, str]) -> Item | None:
    return next((item for item in session.todo if item.key == key), None)


def _given(visit: StaffVisit) -> Given:
    """Read a label; raise BadData where there is no verdict, or a reason that explains another."""
    verdict = next((each for each in VERDICTS if each == visit.said("verdict")), None)
    if verdict is None:
        raise BadData("No verdict was given. Choose one.")
    known = {each.code for each in reasons_for(verdict)}
    reasons = [code for code in dict.fromkeys(visit.all_said("reason")) if code in known]
    comment = without_controls(visit.said("comment")).strip()[:MOST_COMMENT]
    return Given(verdict, " ".join(reasons), comment)


def _number(written: str) -> int:
    return int(written) if written.isascii() and written.isdigit() and len(written) < 9 else -1

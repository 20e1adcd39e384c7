"""The pairs: a list of all, and an editor of one in all its languages beside each other."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from starlette.responses import JSONResponse, Response

from bot.catalog.catalog import Pair, pair_hash
from bot.catalog.countries import COUNTRIES
from bot.catalog.exchange.tables import for_excel
from bot.catalog.quiz import Quiz
from bot.editorial.candidate import Candidate, Stage
from bot.editorial.inbox import MARK, Decided, Decision, asked_of, chosen_of
from bot.editorial.pair_fields import (
    COUNTRY_TEXTS,
    MOST_ID,
    SOURCE,
    BadFields,
    Typed,
    drops,
    fields_of,
    marks_of,
    seen_texts,
    tidy,
    too_long,
    touched,
    unknown_names,
)
from bot.editorial.word_diff import Piece, word_diff
from bot.editorial.workbench import QUIZZES, UNFINISHED, Backing, Draft, Origin, Stale, text_digest
from bot.text import unseen_in, without_unseen
from bot.web.staff.area import Address, Area
from bot.web.staff.collisions import Collisions
from bot.web.staff.inbox_adding import Adder, personal
from bot.web.staff.pair_list import PAGE, SORTS, STAGES, Asked, Row, Shelf, as_csv, as_json, stage_counts
from bot.web.staff.pair_notes import Notes, Written, notes_on
from bot.web.staff.rendering import StaffProblem, StaffRenderer, go_to
from bot.web.staff.tools import Tools
from bot.web.staff.visit import StaffVisit

MOST_DIGITS = 3  # of the number of a source
TRIES = 3  # while others decide at the same moment


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that somebody else has stored otherwise meanwhile; `mine`: whether the person who asks changed it."""

    name: str
    theirs: str
    pieces: Sequence[Piece]
    mine: bool


@dataclass
class Side:
    """A pair in one language, as the editor shows it.

    Attributes:
        fields: As they are typed, or as they stand.
        version: Of the draft that they began with; 0: there was none.
        base: Hash of the released pair that they began with; empty: there was none.
        marks: Short hashes of the fields that they began with.
        stage: How far it is; empty where there is no such pair yet.
        conflicts: What somebody else stored meanwhile.
        changes: What changed in the release since the draft began, as (field, pieces).
        flaws: What is wrong, in a word, by field.
        pair: What the fields make; None: nothing, or no pair.
        released: The pair as it was released last.
        cleaned: The fields of which characters were taken out that no screen shows.
        meant: The new variants with what may be somebody's name, day or number.
        copies: New variants that say nearly what stands elsewhere, each with where.
    """

    language: str
    fields: dict[str, str]
    version: int = 0
    base: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    draft: Draft | None = None
    stage: Stage | str = ""
    conflicts: Sequence[Conflict] = ()
    changes: Sequence[tuple[str, Sequence[Piece]]] = ()
    flaws: dict[str, str] = field(default_factory=dict)
    pair: Pair | None = None
    released: Pair | None = None
    cleaned: Sequence[str] = ()
    meant: str = ""
    copies: Sequence[tuple[str, str]] = ()

    @property
    def can_wait(self) -> bool:
        """Whether nothing is wrong but what is not written yet: it may be kept as an unfinished draft."""
        return bool(self.flaws) and set(self.flaws.values()) == {"empty"}

    @property
    def is_removed(self) -> bool:
        return self.draft is not None and self.draft.content is None

    @property
    def backings(self) -> Sequence[tuple[Backing, bool]]:
        """What the sentences of a draft were written from, each with whether it still stands there word for word."""
        provenance = self.draft.provenance if self.draft is not None else None
        return provenance.standing_in(self.fields, self.known_quizzes) if provenance is not None else ()

    @property
    def quizzes(self) -> Sequence[tuple[Quiz, str, bool]]:
        """The quizzes as they stand, each with the field that takes it out and whether that is ticked."""
        return [(each, drops(each), bool(self.fields.get(drops(each)))) for each in self.known_quizzes]

    @property
    def known_quizzes(self) -> Sequence[Quiz]:
        """The quizzes as the draft has them, else the release: none of them is a field."""
        drafted = self.draft.quizzes if self.draft is not None else None
        return drafted if drafted is not None else self.released.quizzes if self.released is not None else ()

    @property
    def unfinished(self) -> Mapping[str, object]:
        """What is stored of a draft that lacks something."""
        return {UNFINISHED: dict(self.fields), QUIZZES: [each.model_dump(mode="json") for each in self.known_quizzes]}

    @property
    def sources(self) -> int:
        """How many sources to show: those that are there, and an empty one."""
        numbers = (name.split(".")[1] for name in self.fields if name.startswith("sources."))
        known = [int(each) for each in numbers if each.isascii() and each.isdigit() and len(each) < MOST_DIGITS]
        return max(known, default=-1) + 2

    @property
    def marks_json(self) -> str:
        return json.dumps(dict(self.marks), sort_keys=True)


class Pairs(Area):
    """List and editor."""

    def __init__(self, tools: Tools, renderer: StaffRenderer) -> None:
        super().__init__(tools, renderer)
        self._shelf = Shelf()
        self._collisions = Collisions(tools)
        self._adder = Adder(tools.workbench, tools.candidate)

    def addresses(self) -> Sequence[Address]:
        return [
            Address("GET", "/pairs", self.list, "review", menu="menu_pairs"),
            Address("GET", "/new-pair", self.new, "edit"),
            Address("POST", "/new-pair", self.add, "edit"),
            Address("GET", "/pairs/{id}", self.edit, "review"),
            Address("POST", "/pairs/{id}", self.save, "edit"),
            Address("GET", "/pairs/{id}/collisions", self.collisions, "review"),
            Address("POST", "/pairs/{id}/remove", self.remove, "edit"),
            Address("POST", "/pairs/{id}/give-up", self.give_up, "edit"),
            Address("POST", "/pair-notes", self.notes, "edit"),
            Address("POST", "/pair-collisions", self.typed_collisions, "edit"),
        ]

    # --- the list -----------------------------------------------------------------------------------------------------

    def list(self, visit: StaffVisit) -> Response:
        candidate, asked, now = self.tools.candidate(), Asked.of(visit.query), self.tools.now()
        everything = self._shelf.rows(candidate, now=now)
        rows = self._shelf.chosen(candidate, everything, asked, today=now.date())
        if visit.wants_json:
            return JSONResponse({"source": candidate.source, "pairs": as_json(rows)})
        if visit.query.get("as") == "csv":
            headers = {"Content-Disposition": f'attachment; filename="{candidate.exam}-pairs.csv"'}
            return Response(as_csv(rows), media_type="text/csv; charset=utf-8", headers=headers)
        if visit.query.get("as") == "excel":
            headers = {"Content-Disposition": f'attachment; filename="{candidate.exam}-pairs.csv"'}
            return Response(for_excel(as_csv(rows)), media_type="text/csv; charset=utf-8", headers=headers)
        start = (asked.page - 1) * PAGE
        return self.renderer.page(
            "pairs",
            visit,
            rows=rows[start : start + PAGE],
            found=len(rows),
            pages=max(1, -(-len(rows) // PAGE)),
            asked=asked,
            counts=stage_counts(everything),
            expired=_expired(everything),
            stages=STAGES,
            sorts=SORTS,
            source=candidate.source,
            exam_languages=tuple(candidate.base.catalogs),
            today=now.date(),
        )

    # --- the editor ---------------------------------------------------------------------------------------------------

    def edit(self, visit: StaffVisit) -> Response:
        candidate, pair_id = self.tools.candidate(), visit.parts["id"]
        sides = [self._stored(candidate, language, pair_id) for language in candidate.base.catalogs]
        if all(side.draft is None and side.pair is None for side in sides):
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        return self._page(visit, candidate, pair_id, sides)

    def new(self, visit: StaffVisit) -> Response:
        candidate = self.tools.candidate()
        sides = [Side(language, {}) for language in candidate.base.catalogs]
        # What patients asked, as the inbox has it, becomes the variants of the new pair.
        items = chosen_of(self.tools.inbox, visit.query.get("cluster", ""))
        for language, texts in asked_of(self.tools.inbox, items).items():
            for side in (each for each in sides if each.language == language):
                side.fields["variants"] = "\n".join(texts)
                side.fields["question"] = next(iter(texts), "")
        return self._page(visit, candidate, "", sides)

    def add(self, visit: StaffVisit) -> Response:
        candidate, pair_id = self.tools.candidate(), visit.said("id").strip()
        taken = any(candidate.pair(language, pair_id) is not None for language in candidate.base.catalogs)
        taken = taken or any(name == pair_id for _, name in (*candidate.drafts, *candidate.unfinished))
        known_as = "" if taken else pair_id  # what is typed is not to be compared with that other pair
        sides = [self._typed(visit, candidate, language, known_as) for language in candidate.base.catalogs]
        typed = [side for side in sides if side.fields]
        flaw = "taken" if taken else "id" if any("id" in side.flaws for side in typed) else ""
        flaw = flaw or ("id" if not 0 < len(pair_id) <= MOST_ID else "" if typed else "nothing")
        if flaw or any(_is_flawed(visit, side) for side in typed):
            return self._page(visit, candidate, pair_id, sides, id_flaw=flaw, status=HTTPStatus.BAD_REQUEST)
        return self._store(visit, candidate, pair_id, sides)

    def save(self, visit: StaffVisit) -> Response:
        candidate, pair_id = self.tools.candidate(), visit.parts["id"]
        sides = [self._typed(visit, candidate, language, pair_id) for language in candidate.base.catalogs]
        if not any(side.draft is not None or side.marks for side in sides):
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        if any(_is_flawed(visit, side) or side.conflicts for side in sides):
            status = HTTPStatus.CONFLICT if any(side.conflicts for side in sides) else HTTPStatus.BAD_REQUEST
            return self._page(visit, candidate, pair_id, sides, status=status)
        return self._store(visit, candidate, pair_id, sides)

    def _store(self, visit: StaffVisit, candidate: Candidate, pair_id: str, sides: Sequence[Side]) -> Response:
        """Store what was touched; where somebody was quicker, show both."""
        stored, unfinished, conflicting = 0, False, False
        for number, side in enumerate(sides):
            rebase = bool(visit.said(f"{side.language}.rebase"))
            if (side.pair is None and not side.can_wait) or not (touched(side.fields, side.marks) or rebase):
                continue
            released = candidate.released_pair(side.language, pair_id)
            hashed = pair_hash(released) if released is not None else ""
            dormant = candidate.dormant.get((side.language, pair_id))
            draft = side.draft or dormant or Draft(candidate.exam, side.language, pair_id, None, hashed)
            content = side.pair.model_dump(mode="json") if side.pair is not None else side.unfinished
            draft = replace(draft, content=content, base=hashed if rebase else draft.base)
            try:
                origins = self._origins(visit, draft)
                self.tools.workbench.save(draft, by=visit.who, now=self.tools.now(), origins=origins)
                stored += 1
                unfinished = unfinished or side.pair is None
            except Stale:
                conflicting = True
            if conflicting:
                fresh = self.tools.candidate()
                both = [self._typed(visit, fresh, each.language, pair_id) for each in sides[number:]]
                kept = [self._stored(fresh, each.language, pair_id) for each in sides[:number]]
                return self._page(visit, fresh, pair_id, [*kept, *both], status=HTTPStatus.CONFLICT)
        if stored:
            self._decide_asked(visit, pair_id)
        saved = "pairs_saved_cleaned" if any(side.cleaned for side in sides) else "pairs_saved"
        saved = "pairs_saved_copies" if any(side.copies for side in sides) else saved
        saved = "pairs_saved_unfinished" if unfinished else saved
        return go_to(f"/pairs/{pair_id}", told=saved if stored else "pairs_unchanged")

    def _decide_asked(self, visit: StaffVisit, pair_id: str) -> None:
        """Decide the questions that a pair was begun with, now that it is stored; what others decided stays."""
        for _ in range(TRIES):
            ids = [item.id for item in chosen_of(self.tools.inbox, visit.said("cluster"))]
            decision = Decision("new pair", secrets.token_hex(8), ids, pair_id)
            try:
                if ids:
                    self.tools.inbox.decide(decision, by=visit.who, now=self.tools.now())
            except Decided:
                continue
            return

    def _origins(self, visit: StaffVisit, draft: Draft) -> Sequence[Origin]:
        """Return from which conversations the texts of a pair come that was begun in the inbox.

        A text that was put in other words may come from any of them.
        """
        items = chosen_of(self.tools.inbox, visit.said("cluster"))
        asked = asked_of(self.tools.inbox, items).get(draft.language, {})
        everybody = sorted({name for name in asked.values() if name})
        fields = draft.unfinished or (fields_of(draft.pair) if draft.pair is not None else {})
        texts = [fields.get("question", ""), *fields.get("variants", "").splitlines()]
        return [
            Origin(draft.exam, draft.language, draft.name, text_digest(text), name)
            for text in filter(None, texts)
            for name in ([asked[text]] if asked.get(text) else everybody)
        ]

    def remove(self, visit: StaffVisit) -> Response:
        """Draft that a pair goes, in the languages that are named; a draft of what was never released just goes."""
        candidate, pair_id = self.tools.candidate(), visit.parts["id"]
        for language in visit.all_said("language"):
            draft, released = candidate.written(language, pair_id), candidate.released_pair(language, pair_id)
            if draft is None and released is None:
                continue
            if str(draft.version if draft is not None else 0) != visit.said(f"{language}.version"):
                return go_to(f"/pairs/{pair_id}", told="pairs_stale")
            try:
                if released is None and draft is not None:
                    self.tools.workbench.drop(draft, by=visit.who, now=self.tools.now())
                elif released is not None:
                    gone = draft or Draft(candidate.exam, language, pair_id, None, pair_hash(released))
                    gone = replace(gone, content=None)
                    self.tools.workbench.save(gone, by=visit.who, now=self.tools.now())
            except Stale:
                return go_to(f"/pairs/{pair_id}", told="pairs_stale")
        return self._back(pair_id, "pairs_removed")

    def _back(self, pair_id: str, told: str) -> Response:
        """Go to a pair's page, or to the list where nothing of it is left."""
        left = self.tools.candidate()
        there = any(name == pair_id for _, name in (*left.drafts, *left.unfinished))
        there = there or any(left.released_pair(language, pair_id) for language in left.base.catalogs)
        return go_to(f"/pairs/{pair_id}" if there else "/pairs", told=told)

    def give_up(self, visit: StaffVisit) -> Response:
        pair_id, language = visit.parts["id"], visit.said("language")
        draft = self.tools.candidate().written(language, pair_id)
        if draft is None or str(draft.version) != visit.said("version"):
            return go_to(f"/pairs/{pair_id}", told="pairs_stale")
        try:
            self.tools.workbench.drop(draft, by=visit.who, now=self.tools.now())
        except Stale:
            return go_to(f"/pairs/{pair_id}", told="pairs_stale")
        return self._back(pair_id, "pairs_given_up")

    # --- while somebody types -----------------------------------------------------------------------------------------

    def notes(self, visit: StaffVisit) -> Response:
        candidate, pair_id = self.tools.candidate(), visit.said("id").strip()
        sides = [self._typed(visit, candidate, language, pair_id) for language in candidate.base.catalogs]
        notes = self._notes(visit, candidate, sides)
        return JSONResponse({name: each.as_json() for name, each in notes.items()})

    def typed_collisions(self, visit: StaffVisit) -> Response:
        candidate, pair_id = self.tools.candidate(), visit.said("id").strip()
        sides = [self._typed(visit, candidate, language, pair_id) for language in candidate.base.catalogs]
        return self._collide(visit, candidate, sides, "pair_collisions")

    def collisions(self, visit: StaffVisit) -> Response:
        candidate, pair_id = self.tools.candidate(), visit.parts["id"]
        sides = [self._stored(candidate, language, pair_id) for language in candidate.base.catalogs]
        if all(side.pair is None and side.draft is None for side in sides):
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        return self._collide(visit, candidate, sides, "pair_collisions_page", pair_id)

    def _collide(
        self, visit: StaffVisit, candidate: Candidate, sides: Sequence[Side], template: str, pair_id: str = ""
    ) -> Response:
        found = [
            self._collisions.preview(candidate.base.catalogs[side.language], side.pair)
            for side in sides
            if side.pair is not None
        ]
        return self.renderer.page(template, visit, previews=found, pair_id=pair_id)

    # --- what both need -----------------------------------------------------------------------------------------------

    def _stored(self, candidate: Candidate, language: str, pair_id: str) -> Side:
        """Return a side as it stands."""
        draft = candidate.written(language, pair_id)
        released = candidate.released_pair(language, pair_id)
        pair = draft.pair if draft is not None else released
        fields = _fields_as(draft, pair)
        side = Side(language, fields, marks=marks_of(fields), draft=draft, pair=pair)
        self._describe(side, candidate, pair_id)
        if draft is not None:
            new = _new_lines(fields, [released] if released is not None else [])
            side.copies = self._adder.copies(new, language, besides=pair_id)
        return side

    def _describe(self, side: Side, candidate: Candidate, pair_id: str) -> None:
        """Say of a side what it began with, and how it stands now."""
        draft, released = side.draft, candidate.released_pair(side.language, pair_id)
        side.version = draft.version if draft is not None else 0
        side.base = pair_hash(released) if released is not None else ""
        side.released = released
        if draft is not None and draft.unfinished is not None:
            side.stage = "unfinished"
        elif draft is not None or released is not None:
            side.stage = candidate.stage(side.language, pair_id, now=self.tools.now())
        if draft is not None and draft.unfinished is None and candidate.is_outdated(draft):
            old, new = dict(seen_texts(draft.pair)), dict(seen_texts(released))
            names = dict.fromkeys([*new, *old])
            changes = [(name, word_diff(new.get(name, ""), old.get(name, ""))) for name in names]
            side.changes = [(name, pieces) for name, pieces in changes if any(each.kind != "same" for each in pieces)]

    def _typed(self, visit: StaffVisit, candidate: Candidate, language: str, pair_id: str) -> Side:
        """Return a side as it was typed, beside what stands now."""
        prefix = f"{language}."
        own = {name.removeprefix(prefix): value for name, value in visit.form if name.startswith(prefix)}
        version, base, marks = own.pop("version", "0"), own.pop("base", ""), _marks(own.pop("marks", ""))
        taken = {name.removeprefix("take."): value for name, value in own.items() if name.startswith("take.")}
        fields = {
            name: tidy(value)
            for name, value in own.items()
            if not name.startswith("take.") and name != "rebase" and tidy(value)
        }
        cleaned = [name for name, text in fields.items() if name in touched(fields, marks) and unseen_in(text)]
        fields |= {name: tidy(without_unseen(fields[name])) for name in cleaned}
        draft = candidate.written(language, pair_id)
        current = draft.pair if draft is not None else candidate.released_pair(language, pair_id)
        now = _fields_as(draft, current)
        for name in (name for name, side in taken.items() if side == "theirs"):
            fields[name] = now.get(name, "")
        side = Side(language, fields, marks=marks, draft=draft, cleaned=cleaned)
        self._describe(side, candidate, pair_id)
        stands = str(side.version) == version and (side.version > 0 or side.base == base)
        changed = touched(fields, marks)
        if not stands and changed:
            side.conflicts = list(_conflicts(fields, now, changed, touched(now, marks)))
            fields |= {each.name: each.theirs for each in side.conflicts if not each.mine}
        if not stands and not changed:
            side.fields = fields = now
        side.marks = marks_of(now) if not stands else marks
        if not fields:
            return side
        released = candidate.released_pair(language, pair_id)
        known = [each for each in (current, released) if each is not None]
        try:
            typed, catalog = Typed(fields, visit.who.name), candidate.base.catalogs[language]
            pair = typed.pair(pair_id or "-", catalog, known, side.known_quizzes)
        except BadFields as bad:
            side.flaws = dict(bad.flaws)
        else:
            side.flaws = unknown_names(pair, lambda other: candidate.pair(language, other) is not None)
            side.pair = pair
        # What rules took out of a patient's question stands there as a mark: it is no way to ask.
        marked = {name: fields.get(name, "") for name in ("question", "variants")}
        side.flaws |= dict.fromkeys(too_long(fields), "long")
        side.flaws |= {name: "mark" for name, text in marked.items() if MARK.search(text)}
        new = _new_lines(fields, known)
        side.copies = self._adder.copies(new, language, besides=pair_id)
        sure = bool(visit.said("sure"))
        found = {line: flaw for line in new if (flaw := personal(line, language, sure=sure))}
        if found:
            # What is surely about somebody comes first: it is not for anybody to confirm.
            side.flaws.setdefault("variants", "personal" if "personal" in found.values() else "name")
            side.meant = "; ".join(found)
        return side

    def _notes(self, visit: StaffVisit, candidate: Candidate, sides: Sequence[Side]) -> dict[str, Notes]:
        return notes_on(
            candidate.base.catalogs,
            {side.language: Written(side.fields, side.flaws, side.pair, side.meant, side.copies) for side in sides},
            self.renderer.labels(visit.language),
            site=candidate.site_text,
            today=self.tools.now().date(),
        )

    def _page(  # noqa: PLR0913 - one page, however it came about
        self,
        visit: StaffVisit,
        candidate: Candidate,
        pair_id: str,
        sides: Sequence[Side],
        *,
        id_flaw: str = "",
        status: int = 200,
    ) -> Response:
        labels = self.renderer.labels(visit.language)
        line = labels[f"pairs_flaw_{id_flaw}"] if id_flaw else ""
        if any(side.conflicts for side in sides):
            line = labels["pairs_conflict"]
        elif not line and any(side.flaws for side in sides):
            line = labels["pairs_flaws"]
        return self.renderer.page(
            "pair",
            visit,
            status=int(status),
            pair_id=pair_id,
            is_new=visit.path.endswith("/new-pair"),
            sides=sides,
            notes=self._notes(visit, candidate, sides),
            source=candidate.source,
            countries=COUNTRIES,
            country_texts=COUNTRY_TEXTS,
            source_fields=SOURCE,
            cluster=visit.query.get("cluster", "") or visit.said("cluster"),
            may_edit=visit.may("edit"),
            line=line,
            cleaned=any(side.cleaned for side in sides),
        )


def _conflicts(
    fields: Mapping[str, str], now: Mapping[str, str], mine: Collection[str], theirs: Collection[str]
) -> Iterator[Conflict]:
    """Yield the fields that somebody else changed; what the person who asks left alone is taken over from them."""
    for name in dict.fromkeys([*now, *fields, *theirs]):
        here, there = fields.get(name, ""), now.get(name, "")
        if name in theirs and here != there:
            yield Conflict(name, there, word_diff(there, here), name in mine)


def _fields_as(draft: Draft | None, pair: Pair | None) -> dict[str, str]:
    """Return the fields of a side as they stand: of an unfinished draft, as they were typed."""
    if draft is not None and draft.unfinished is not None:
        return dict(draft.unfinished)
    return fields_of(pair) if pair is not None else {}


def _is_flawed(visit: StaffVisit, side: Side) -> bool:
    """Whether a side cannot be stored as whoever typed it wants it stored."""
    return bool(side.flaws) and not (side.can_wait and visit.said("unfinished"))


def _line(text: str) -> str:
    return " ".join(text.split())


def _new_lines(fields: Mapping[str, str], known: Sequence[Pair]) -> list[str]:
    """Return the variants that none of these pairs has."""
    old = {_line(each.text) for other in known for each in other.variants}
    return [line for line in map(_line, fields.get("variants", "").splitlines()) if line and line not in old]


def _marks(written: str) -> dict[str, str]:
    try:
        read = json.loads(written or "{}")
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in read.items()} if isinstance(read, dict) else {}


def _expired(rows: Sequence[Row]) -> list[str]:
    return [row.id for row in rows if any(cell.stage == "expired" for cell in row.cells.values())]

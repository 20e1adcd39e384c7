"""The inbox of curators: what patients asked in vain, from the question to a decision."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse, Response

from bot.catalog.catalog import Pair
from bot.editorial.inbox import (
    KINDS,
    SIMPLE,
    SORTS,
    STANDINGS,
    Decided,
    Decision,
    Group,
    Inbox,
    Item,
    Page,
    Sort,
    Standing,
    Wanted,
)
from bot.editorial.jobs import Job
from bot.editorial.people import Person
from bot.editorial.workbench import Stale
from bot.languages.files import is_code
from bot.text import fold
from bot.web.middleware import CONSOLE
from bot.web.staff.area import Address, Area, Work
from bot.web.staff.exams import ExamFilter
from bot.web.staff.inbox_adding import Adder, Adds, Text, draft_texts, still_there
from bot.web.staff.inbox_sorting import Sorter, is_of_other
from bot.web.staff.rendering import StaffProblem, StaffRenderer, go_to
from bot.web.staff.sample import SAMPLE_JOB, Sample
from bot.web.staff.tools import Tools
from bot.web.staff.visit import StaffVisit

AT_ONCE = 25  # clusters on a page
MOST_SHOWN = 100  # questions of a cluster on a page
MOST_DECIDED = 500  # at once
AT_A_LOOK = 5  # new turns taken in by who opens the page; more are work for a job
FITTING = 8  # pairs that a search shows
SORT_JOB = "inbox"
MOST_ANSWER = 500  # characters


@dataclass(frozen=True, slots=True)
class Filter:
    """What somebody looks for, as it stands in the address; `search` is the curator's words."""

    kind: str = ""
    language: str = ""
    state: str = "open"
    since: str = ""
    search: str = ""
    sort: Sort = "size"
    page: int = 1
    exam: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str], exam: str = "") -> Filter:
        def one_of(name: str, known: Sequence[str], otherwise: str = "") -> str:
            return query[name] if query.get(name) in known else otherwise

        page, state = query.get("page", ""), query.get("state", "open")
        return cls(
            kind=one_of("kind", KINDS),
            language=query["language"] if is_code(query.get("language", "")) else "",
            state=state if state in STANDINGS or state == "" else "open",
            since=query.get("since", "").strip()[:10],
            search=query.get("search", "").strip()[:100],
            sort=one_of("sort", SORTS, "size"),  # type: ignore[arg-type]  # one of them
            page=int(page) if page.isascii() and page.isdigit() and 0 < len(page) < 6 and int(page) else 1,
            exam=exam,
        )

    def wanted(self, now: datetime) -> Wanted:
        """Return what is looked for in the database; a day that is none does not narrow."""
        try:
            since = datetime.fromisoformat(self.since).replace(tzinfo=now.tzinfo) if self.since else None
        except ValueError:
            since = None
        return Wanted(self.kind, self.language, self.state, since)

    def at_page(self, number: int) -> str:
        return urlencode({**asdict(self), "page": number})


@dataclass
class _Texts:
    """Scrubbed texts for searching, folded: reading and decrypting all of them takes half a second, once."""

    inbox: Inbox
    _known: dict[int, str] = field(default_factory=dict)

    def holding(self, words: str) -> frozenset[int]:
        """Return which items hold all words; the texts of those that are gone are forgotten."""
        known, new = self._known, self.inbox.texts(after=max(self._known, default=0))
        if new:
            known = {**known, **{id_: fold(text) for id_, text in new.items()}}
        if len(known) != self.inbox.count():  # numbers are never used again: some are gone
            there = self.inbox.numbers()
            known = {id_: text for id_, text in known.items() if id_ in there}
        self._known = known
        hits = list(known.items())
        for word in fold(words).split():
            hits = [each for each in hits if word in each[1]]
        return frozenset(id_ for id_, _ in hits)


class InboxArea(Area):
    """Questions that wait for curators."""

    def __init__(self, tools: Tools, renderer: StaffRenderer) -> None:
        super().__init__(tools, renderer)
        self._sorter = Sorter(tools.inbox, tools.assistant, tools.now)
        self._adder = Adder(tools.workbench, tools.candidate)
        self._texts = _Texts(tools.inbox)

    def addresses(self) -> Sequence[Address]:
        return [
            Address("GET", "/inbox", self.inbox, "inbox", menu="menu_inbox"),
            Address("POST", "/inbox", self.decide, "inbox"),
            Address("POST", "/inbox/add", self.add, "edit"),
            Address("POST", "/inbox/undo", self.undo, "inbox"),
            Address("POST", "/inbox/sort", self.sort, "inbox"),
            Address("POST", "/inbox/keep", self.keep, "edit"),
            Address("GET", "/inbox/team", self.team, "inbox"),
            Address("POST", "/inbox/team", self.answer, "inbox"),
            Address("GET", "/inbox/{id}", self.cluster, "inbox"),
        ]

    def badges(self, person: Person) -> Mapping[str, int]:
        return {"menu_inbox": self.tools.inbox.open()} if person.may("inbox") else {}

    def works(self) -> Mapping[str, Work]:
        return {SORT_JOB: self._sorter.do, SAMPLE_JOB: self._ask_sample}

    def _ask_sample(self, job: Job, tell: Callable[[float, str], None]) -> Mapping[str, Any]:
        """Ask the sample questions, and sort what they come to."""
        Sample(self.tools.records, self.tools.assistant, self.tools.now).ask(tell)
        self.tools.candidate()  # read now, not by who opens the first page
        return self._sorter.do(job, tell)

    def inbox(self, visit: StaffVisit) -> Response:
        self._look()
        exams = ExamFilter.of(visit, self.tools.exams())
        asked = Filter.of(visit.query, exams.asked)
        found, page = self._page(asked, exams.left_out)
        pages = max(1, -(-found.clusters // AT_ONCE))
        wanted = [id_ for group in found.groups for id_ in (group.first, *group.members)]
        items = {item.id: item for item in self.tools.inbox.items(wanted)}
        listed = [
            (group, items[group.first], [items[id_] for id_ in group.members if id_ in items])
            for group in found.groups
            if group.first in items
        ]
        if visit.wants_json:
            said = [_group_as_json(group, first) for group, first, _ in listed]
            counts = {"clusters": found.clusters, "items": found.items, "page": page, "pages": pages}
            return JSONResponse({**counts, "found": said, "token": visit.form_token})
        unsorted = self.tools.inbox.unsorted()
        gone = self.tools.inbox.lost() if visit.may("edit") else []
        lost = still_there(gone, self.tools.candidate()) if gone else []  # the content takes seconds the first time
        return self.renderer.page(
            "inbox",
            visit,
            asked=asked,
            exams=exams,
            hidden_urgent=self._urgent_hidden(exams),
            listed=listed,
            clusters=found.clusters,
            total=found.items,
            questions=self._questions(found.groups, items),
            page_number=page,
            pages=pages,
            kinds=KINDS,
            standings=STANDINGS,
            sorts=SORTS,
            unsorted=unsorted,
            ready=self.tools.assistant() is not None,
            jobs=[
                job for job in self.tools.jobs.newest(most=3) if job.kind in (SORT_JOB, SAMPLE_JOB) and not job.is_over
            ],
            lost=lost,
            last=self.tools.inbox.last_batch(visit.who.name),
            passed_on=len(self.tools.inbox.passed_on()),
        )

    def _look(self) -> None:
        """Take in what is new; of much, the rest is left to a job."""
        if self._sorter.glance(AT_A_LOOK):
            self.tools.jobs.ask(SORT_JOB, {}, by="", now=self.tools.now())

    def _urgent_hidden(self, exams: ExamFilter) -> int:
        """Return how many open emergencies are about exams that are not looked at."""
        if not exams.asked:
            return 0
        urgent = Wanted(kind="urgent")
        shown = self.tools.inbox.rows(replace(urgent, without=exams.left_out))
        return len(self.tools.inbox.rows(urgent)) - len(shown)

    def _page(self, asked: Filter, without: frozenset[str]) -> tuple[Page, int]:
        """Return what is found, and the number of its page: the first, where the wanted one is not there any more."""
        wanted = replace(asked.wanted(self.tools.now()), without=without)
        if asked.search:
            wanted = replace(wanted, ids=self._texts.holding(asked.search), pairs=self._pairs_named(asked.search))
        for number in (asked.page, 1):
            found = self.tools.inbox.page(wanted, asked.sort, most=AT_ONCE, skip=(number - 1) * AT_ONCE)
            if found.groups:
                break
        return found, number

    def _questions(self, groups: Sequence[Group], items: Mapping[int, Item]) -> dict[str, str]:
        """Return what the pairs that are suggested for groups answer, in the language of the group."""
        candidate, found = self.tools.candidate(), dict[str, str]()
        for group in groups:
            first = items.get(group.first)
            known = first is not None and group.pair and first.language in candidate.base.catalogs
            pair = candidate.pair(first.language, group.pair) if known and first is not None else None
            if pair is not None:
                found[group.pair] = pair.question
        return found

    def _pairs_named(self, words: str) -> frozenset[str]:
        """Return the pairs, drafts among them, whose name or question holds all words."""
        candidate, sought = self.tools.candidate(), fold(words).split()
        known = [
            (pair.id, pair.question) for language in candidate.base.catalogs for pair, _ in candidate.pairs(language)
        ]
        known += [
            (name, (each.unfinished or {}).get("question", "")) for (_, name), each in candidate.unfinished.items()
        ]
        return frozenset(id_ for id_, question in known if all(word in _folded(f"{id_} {question}") for word in sought))

    def cluster(self, visit: StaffVisit) -> Response:
        return self._cluster_page(visit, _cluster_number(visit.parts["id"]))

    def _cluster_page(self, visit: StaffVisit, number: int, *, line: str = "", status: int = 200) -> Response:
        state = visit.query.get("state", "")
        exams = ExamFilter.of(visit, self.tools.exams())
        known = Wanted(state=state if state in STANDINGS else "", cluster=number, without=exams.left_out)
        rows = self.tools.inbox.rows(known)
        if not rows:
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        kinds = dict(Counter(row.kind for row in rows).items())
        ordered = sorted(rows, key=lambda row: (row.place, row.id))
        asked = Filter.of(visit.query)
        pages = max(1, -(-len(ordered) // MOST_SHOWN))
        page = min(asked.page, pages)
        items = self.tools.inbox.items([row.id for row in ordered[(page - 1) * MOST_SHOWN : page * MOST_SHOWN]])
        if not items:
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        if visit.wants_json:
            said = [_item_as_json(item) for item in items]
            return JSONResponse({"cluster": number, "size": len(rows), "page": page, "pages": pages, "items": said})
        find = visit.query.get("find", "").strip()[:100]
        return self.renderer.page(
            "inbox_cluster",
            visit,
            status=status,
            line=line,
            number=number,
            exams=exams,
            size=len(rows),
            kinds=kinds,
            items=items,
            page_number=page,
            pages=pages,
            find=find,
            pairs=self._pairs(items[0], find),
            last=self.tools.inbox.last_batch(visit.who.name),
        )

    def _pairs(self, item: Item, find: str) -> list[tuple[Pair, float | None]]:
        """Return pairs that may fit a question: the matcher's, or those that a search finds."""
        candidate, language = self.tools.candidate(), item.language
        if language not in candidate.base.catalogs or self._elsewhere([item]):
            return []
        by_id = {pair.id: pair for pair, _ in candidate.pairs(language)}
        if find:
            sought = fold(find).split()
            hits = [
                pair for pair in by_id.values() if all(word in fold(f"{pair.id} {pair.question}") for word in sought)
            ]
            return [(pair, None) for pair in hits[:FITTING]]
        assistant = self.tools.assistant()
        if assistant is None or language not in assistant.languages:
            return [(by_id[item.pair], item.probability)] if item.pair in by_id else []
        found = assistant.answer_all([item.text], language, ignore_flags=True)[0].candidates
        return [(by_id[each.pair_id], each.score) for each in found if each.pair_id in by_id]

    def decide(self, visit: StaffVisit) -> Response:
        """Decide on items, or all open ones of clusters; what becomes content is confirmed first."""
        items = self._chosen(visit)
        back = _back(visit)
        wish, target = visit.said("do"), visit.said("pair")
        if not items:
            return self._refused(visit, back, "inbox_nothing_chosen")
        if wish in ("variant", "near miss"):
            if not visit.may("edit"):
                raise StaffProblem(HTTPStatus.FORBIDDEN)
            if self._elsewhere(items):
                return self._refused(visit, back, "inbox_other_exam")
            if len({item.language for item in items}) > 1:
                return self._refused(visit, back, "inbox_two_languages")
            if not target and len({item.pair for item in items}) > 1:
                return self._refused(visit, back, "inbox_two_pairs")
            pair = target or items[0].pair
            return self._form(visit, wish, pair, draft_texts(items), items)  # type: ignore[arg-type]  # one of Adds
        if wish == "new pair":
            if self._elsewhere(items):
                return self._refused(visit, back, "inbox_other_exam")
            return self._begin_pair(visit, items)
        if wish not in SIMPLE:
            raise StaffProblem(HTTPStatus.BAD_REQUEST)
        note = visit.said("note").strip()[:MOST_ANSWER] if wish == "staff" else ""
        decision = Decision(wish, secrets.token_hex(8), [item.id for item in items], note=note)
        if (refused := self._stored(visit, decision, back)) is not None:
            return refused
        return self._done(visit, decision, back)

    def _elsewhere(self, items: Sequence[Item]) -> bool:
        """Say whether some were asked about another exam than the one that is edited here."""
        own = next(iter(self.tools.candidate().base.catalogs.values())).name
        return any(is_of_other(item.exam, own) for item in items)

    def _begin_pair(self, visit: StaffVisit, items: Sequence[Item]) -> Response:
        """Go to the page of a new pair with these questions: they are decided when its draft is stored, not before."""
        if not visit.may("edit"):
            raise StaffProblem(HTTPStatus.FORBIDDEN)
        to = f"/new-pair?cluster={','.join(str(-item.id) for item in items)}"
        return JSONResponse({"state": "open", "to": f"{CONSOLE}{to}"}) if visit.wants_json else go_to(to)

    def _stored(self, visit: StaffVisit, decision: Decision, back: str) -> Response | None:
        """Store a decision; return what is said where somebody else was faster."""
        try:
            self.tools.inbox.decide(decision, by=visit.who, now=self.tools.now())
        except Decided:
            return self._refused(visit, back, "inbox_decided_meanwhile", status=HTTPStatus.CONFLICT)
        return None

    def _done(self, visit: StaffVisit, decision: Decision, back: str, skipped: Sequence[Text] = ()) -> Response:
        if visit.wants_json:
            said = {"state": decision.state, "batch": decision.batch, "items": list(decision.items)}
            return JSONResponse({**said, "skipped": [{"item": each.item, "why": each.copy_of} for each in skipped]})
        return go_to(back, told="inbox_decided")

    def _refused(
        self, visit: StaffVisit, back: str, label: str, *, status: HTTPStatus = HTTPStatus.BAD_REQUEST
    ) -> Response:
        line = self.renderer.labels(visit.language)[f"told_{label}"]
        if visit.wants_json:
            return JSONResponse({"error": line}, status)
        return go_to(back, told=label)

    def _chosen(self, visit: StaffVisit) -> list[Item]:
        """Return the open items that a form names, by their numbers or those of their clusters: what it did not show,
        since another exam was looked at, is not among them.
        """
        unseen = ExamFilter.of(visit, self.tools.exams()).left_out
        ids = [_number(each) for each in visit.all_said("item")]
        for each in visit.all_said("cluster"):
            rows = self.tools.inbox.rows(Wanted(cluster=_cluster_number(each), without=unseen))
            calm = [row for row in rows if row.kind != "urgent"]
            # Emergencies among others, put together before they were kept apart, are chosen one by one.
            ids += [row.id for row in sorted(calm or rows, key=lambda row: (row.place, row.id))]
        chosen = list(dict.fromkeys(ids))[:MOST_DECIDED]
        items = self.tools.inbox.items(chosen)
        return [item for item in items if item.state == "open" and item.exam not in unseen]

    def _form(  # noqa: PLR0913 - what the form is for, and what stands in it
        self,
        visit: StaffVisit,
        adds: Adds,
        pair_id: str,
        texts: Sequence[Text],
        items: Sequence[Item],
        *,
        status: int = 200,
    ) -> Response:
        """Return the form in which every text that becomes content is confirmed or reworded."""
        language, candidate = items[0].language, self.tools.candidate()
        pair = candidate.pair(language, pair_id) if language in candidate.base.catalogs and pair_id else None
        if pair is None:
            return self._refused(visit, _back(visit), "inbox_no_pair")
        return self.renderer.page(
            "inbox_add",
            visit,
            status=status,
            adds=adds,
            pair=pair,
            language=language,
            texts=texts,
            items={item.id: item for item in items},
            back=_back(visit),
        )

    def add(self, visit: StaffVisit) -> Response:
        """Add confirmed texts to a pair, as variants or near misses; near copies are skipped and said."""
        adds, pair_id, back = visit.said("adds"), visit.said("pair"), _back(visit)
        if adds not in ("variant", "near miss"):
            raise StaffProblem(HTTPStatus.BAD_REQUEST)
        items = self._chosen(visit)
        if not items:
            return self._refused(visit, back, "inbox_decided_meanwhile", status=HTTPStatus.CONFLICT)
        if self._elsewhere(items):
            return self._refused(visit, back, "inbox_other_exam")
        language, candidate = items[0].language, self.tools.candidate()
        known = language in candidate.base.catalogs and candidate.pair(language, pair_id) is not None
        if not known or any(item.language != language for item in items):
            return self._refused(visit, back, "inbox_no_pair")
        given = [Text(item.id, visit.said(f"text-{item.id}")) for item in items]
        texts = self._adder.checked(given, language, sure=bool(visit.said("sure")))
        if any(each.flaw for each in texts):
            if visit.wants_json:
                flawed = [{"item": each.item, "flaw": each.flaw} for each in texts if each.flaw]
                return JSONResponse({"error": "not every text can be added", "flaws": flawed}, HTTPStatus.BAD_REQUEST)
            return self._form(visit, adds, pair_id, texts, items, status=400)  # type: ignore[arg-type]
        new, skipped = [each for each in texts if not each.copy_of], [each for each in texts if each.copy_of]
        if skipped and not visit.said("skip") and not visit.wants_json:
            return self._form(visit, adds, pair_id, texts, items, status=400)  # type: ignore[arg-type]
        names = self.tools.inbox.pseudonyms([item.id for item in items])
        origins = {each.text: names.get(each.item, "") for each in new}
        by, now = visit.who, self.tools.now()
        if new and adds == "variant":
            try:
                self._adder.variants(pair_id, language, origins, by=by, now=now)
            except Stale:
                return self._refused(visit, back, "inbox_stale", status=HTTPStatus.CONFLICT)
        elif new:
            self._adder.near_misses(pair_id, language, origins, by=by, now=now)
        added = {each.item: each.text for each in new}
        state: Standing = "variant" if adds == "variant" else "near miss"
        decision = Decision(state, secrets.token_hex(8), [item.id for item in items], pair_id, added=added)
        if (refused := self._stored(visit, decision, back)) is not None:
            return refused
        return self._done(visit, decision, back, skipped)

    def undo(self, visit: StaffVisit) -> Response:
        undone = self.tools.inbox.undo(visit.said("batch"), by=visit.who, now=self.tools.now())
        if undone is None:
            return self._refused(visit, _back(visit), "inbox_nothing_undone")
        try:
            self._adder.take_back(undone, by=visit.who, now=self.tools.now())
        except Stale:
            return self._refused(visit, _back(visit), "inbox_stale", status=HTTPStatus.CONFLICT)
        if visit.wants_json:
            return JSONResponse({"state": "open", "items": list(undone.items)})
        return go_to(_back(visit), told="inbox_undone")

    def team(self, visit: StaffVisit) -> Response:
        """Show what was handed to the team: who did, when, what colleagues answered, and that it is done."""
        items = self.tools.inbox.passed_on()
        pages = max(1, -(-len(items) // AT_ONCE))
        page = min(Filter.of(visit.query).page, pages)
        shown = items[(page - 1) * AT_ONCE : page * AT_ONCE]
        exams = ExamFilter.of(visit, self.tools.exams())
        values: dict[str, Any] = {"items": shown, "total": len(items), "page_number": page, "pages": pages}
        return self.renderer.page("inbox_team", visit, exams=exams, **values)

    def answer(self, visit: StaffVisit) -> Response:
        done, said = visit.said("do") == "done", " ".join(visit.said("answer").split())[:MOST_ANSWER]
        if not done and not said:
            return go_to("/inbox/team", told="inbox_no_answer")
        id_ = _number(visit.said("item"))
        there = self.tools.inbox.answer(id_, said, done=done, by=visit.who, now=self.tools.now())
        return go_to("/inbox/team", told="saved" if there else "inbox_decided_meanwhile")

    def sort(self, visit: StaffVisit) -> Response:
        job = self.tools.jobs.ask(SORT_JOB, {}, by=visit.who.name, now=self.tools.now())
        return JSONResponse({"job": job.id}) if visit.wants_json else go_to(f"/jobs/{job.id}")

    def keep(self, visit: StaffVisit) -> Response:
        """Let a text stay whose conversation is gone."""
        self.tools.inbox.keep(_number(visit.said("origin")), by=visit.who, now=self.tools.now())
        return JSONResponse({"kept": True}) if visit.wants_json else go_to("/inbox", told="saved")


@lru_cache(maxsize=20_000)
def _folded(text: str) -> str:
    """Fold a question: that takes its time, and questions of pairs stay."""
    return fold(text)


def _number(written: str) -> int:
    if not written.isascii() or not written.isdigit() or len(written) > 9:
        raise StaffProblem(HTTPStatus.BAD_REQUEST)
    return int(written)


def _cluster_number(written: str) -> int:
    """Return the number of a cluster; below 0: an item that is in none."""
    digits = written.removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        raise StaffProblem(HTTPStatus.NOT_FOUND)
    return int(written)


def _back(visit: StaffVisit) -> str:
    """Return the page of the inbox that a form came from."""
    back = visit.said("back")
    return back if back.startswith("/inbox") else "/inbox"


def _item_as_json(item: Item) -> dict[str, object]:
    said = asdict(item)
    said |= {"at": item.at.isoformat(), "decided": item.decided.isoformat() if item.decided is not None else None}
    return said


def _group_as_json(group: Group, first: Item) -> dict[str, object]:
    return {
        "cluster": group.cluster,
        "size": group.size,
        "newest": group.newest.isoformat(),
        "kinds": dict(group.kinds),
        "pair": group.pair,
        "probability": group.probability,
        "representative": _item_as_json(first),
    }

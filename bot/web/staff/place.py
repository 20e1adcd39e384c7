"""The site's file: what patients may be told of the place, edited as text and checked before it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus

from starlette.responses import Response

from bot.catalog.approval import text_hash
from bot.editorial.candidate import Candidate
from bot.editorial.shown import site_texts
from bot.editorial.site_draft import flaw_of_site
from bot.editorial.word_diff import word_diff
from bot.editorial.workbench import SITE_DRAFT, Draft, Stale
from bot.web.staff.area import Address, Area
from bot.web.staff.rendering import go_to
from bot.web.staff.visit import StaffVisit


class Place(Area):
    """The page "The place"."""

    def addresses(self) -> Sequence[Address]:
        return [
            Address("GET", "/place", self.show, "review", menu="menu_place"),
            Address("POST", "/place", self.save, "edit"),
            Address("POST", "/place/give-up", self.give_up, "edit"),
        ]

    def show(self, visit: StaffVisit) -> Response:
        candidate = self.tools.candidate()
        return self._page(visit, candidate, candidate.site_text)

    def save(self, visit: StaffVisit) -> Response:
        candidate, draft = self.tools.candidate(), None
        draft = candidate.site_draft
        text = visit.said("text").replace("\r\n", "\n")
        text = f"{text.strip(chr(10))}\n"
        stands = str(draft.version if draft is not None else 0) == visit.said("version")
        stands = stands and (draft is not None or _hash(candidate) == visit.said("base"))
        if not stands:
            return self._page(visit, candidate, text, conflict=True)
        if text == candidate.site_text:
            return go_to("/place", told="pairs_unchanged")
        if flaw := flaw_of_site(text, candidate.base, today=self.tools.now().date()):
            return self._page(visit, candidate, text, flaw=self.renderer.told_of(flaw, visit.language))
        made = draft or Draft(candidate.exam, "", SITE_DRAFT, None, _hash(candidate))
        try:
            self.tools.workbench.save(replace(made, content={"text": text}), by=visit.who, now=self.tools.now())
        except Stale:
            return self._page(visit, self.tools.candidate(), text, conflict=True)
        return go_to("/place", told="pairs_saved")

    def give_up(self, visit: StaffVisit) -> Response:
        draft = self.tools.candidate().site_draft
        if draft is None or str(draft.version) != visit.said("version"):
            return go_to("/place", told="pairs_stale")
        try:
            self.tools.workbench.drop(draft, by=visit.who, now=self.tools.now())
        except Stale:
            return go_to("/place", told="pairs_stale")
        return go_to("/place", told="pairs_given_up")

    def _page(
        self, visit: StaffVisit, candidate: Candidate, text: str, *, flaw: str = "", conflict: bool = False
    ) -> Response:
        draft = candidate.site_draft
        old, new = dict(site_texts(candidate.base.site or {})), dict(site_texts(candidate.site or {}))
        changed = [name for name in dict.fromkeys([*new, *old]) if old.get(name) != new.get(name)]
        status = HTTPStatus.CONFLICT if conflict else HTTPStatus.BAD_REQUEST if flaw else HTTPStatus.OK
        return self.renderer.page(
            "place",
            visit,
            status=int(status),
            line=flaw or (self.renderer.labels(visit.language)["place_conflict"] if conflict else ""),
            text=text,
            theirs=word_diff(candidate.site_text, text) if conflict else (),
            draft=draft,
            version=draft.version if draft is not None else 0,
            base=_hash(candidate),
            outdated=draft is not None and draft.base != _hash(candidate),
            changes=[(name, word_diff(old.get(name, ""), new.get(name, ""))) for name in changed],
            said=list(new.items()),
            source=candidate.source,
            may_edit=visit.may("edit"),
        )


def _hash(candidate: Candidate) -> str:
    """Return what a draft of the site's file says by what it began with."""
    return text_hash(candidate.released_site_text) if candidate.released_site_text else ""

"""What waits for a signature: a list, and each text as patients will see it, with what changed and who may sign."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from http import HTTPStatus

from starlette.responses import Response

from bot.catalog.approval import FORM, PEOPLE, SITE, SPOKEN, Standing, Subject
from bot.catalog.catalog import Pair
from bot.editorial.candidate import Candidate
from bot.editorial.pair_fields import COUNTRY_TEXTS, seen_texts
from bot.editorial.people import Person
from bot.editorial.shown import form_texts, site_texts
from bot.editorial.word_diff import Piece, word_diff
from bot.editorial.workbench import NEAR_MISS, Draft, Signature, Stale
from bot.errors import BadData
from bot.settings import ACCOUNTS
from bot.web.staff.area import Address, Area
from bot.web.staff.pair_notes import telephone_warning
from bot.web.staff.rendering import StaffProblem, go_to
from bot.web.staff.visit import StaffVisit, whole_number
from bot.web.staff.wording import Label

PAGE = 50
A_YEAR, LONGEST = timedelta(days=365), timedelta(days=3 * 366)  # how long a signature holds, and at most
KINDS = ("draft", "pair", NEAR_MISS, SITE, *SPOKEN, FORM)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A text that waits.

    Attributes:
        kind: One of `KINDS`: a drafted pair, a released one without valid signatures, or another text.
        subject: What is signed.
        standing: How it stands.
        draft: Where it is one.
        language: Of it; empty where it is of none.
        name: Of the pair, or of the kind.
        title: The question of a pair; else empty.
    """

    kind: str
    subject: Subject
    standing: Standing
    draft: Draft | None = None
    language: str = ""
    name: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class ShownText:
    """One text that patients will see, and how it differs from what was released; `pieces` empty: it does not."""

    name: str
    text: str
    pieces: Sequence[Piece] = ()


class Signing(Area):
    """The page "To sign"."""

    def addresses(self) -> Sequence[Address]:
        return [
            Address("GET", "/to-sign", self.list, "review", menu="menu_sign"),
            Address("GET", "/to-sign/text", self.text, "review"),
            Address("POST", "/to-sign/text", self.sign, "review"),
        ]

    def badges(self, person: Person) -> Mapping[str, int]:
        if not person.may("review"):
            return {}
        waiting = waiting_for(self.tools.candidate(), person, now=self.tools.now())
        return {"menu_sign": len(waiting)} if waiting else {}

    def list(self, visit: StaffVisit) -> Response:
        candidate, now = self.tools.candidate(), self.tools.now()
        waiting = waiting_for(candidate, visit.who, now=now)
        kind = visit.query.get("kind", "")
        chosen = [each for each in waiting if kind in ("", each.kind)]
        written = visit.query.get("page", "1")
        page = whole_number(written) or 1
        return self.renderer.page(
            "to_sign",
            visit,
            waiting=chosen[(page - 1) * PAGE : page * PAGE],
            found=len(chosen),
            kinds=[each for each in KINDS if any(one.kind == each for one in waiting)],
            kind=kind,
            number=page,
            pages=max(1, -(-len(chosen) // PAGE)),
        )

    def text(self, visit: StaffVisit) -> Response:
        return self._page(visit, self.tools.candidate(), visit.query.get("what", ""))

    def sign(self, visit: StaffVisit) -> Response:
        candidate, now, what = self.tools.candidate(), self.tools.now(), visit.said("what")
        subject = _subject(candidate, what)
        if not visit.said("text"):
            raise StaffProblem(HTTPStatus.BAD_REQUEST)
        if subject.text != visit.said("text"):
            return self._page(visit, candidate, what, line="sign_changed", status=HTTPStatus.CONFLICT)
        why = candidate.may_sign(visit.who, subject, now=now)
        if why:
            return self._page(visit, candidate, what, status=HTTPStatus.CONFLICT)
        until = _until(visit.said("until"), now)
        if until is None:
            return self._page(visit, candidate, what, line="sign_bad_day", status=HTTPStatus.BAD_REQUEST)
        if visit.said("read") != "yes":
            return self._page(visit, candidate, what, line="sign_unread", status=HTTPStatus.BAD_REQUEST)
        person = visit.who
        given = self._proven(
            Signature(
                subject.what,
                subject.text,
                person.id,
                person.name,
                now,
                until,
                seen=candidate.seen_of(subject),
                after_reset=person.was_reset(now),
            )
        )
        try:
            self.tools.workbench.sign(candidate.exam, [given], after=candidate.signatures)
        except Stale:
            return self._page(visit, self.tools.candidate(), what, line="sign_raced", status=HTTPStatus.CONFLICT)
        left = waiting_for(self.tools.candidate(), person, now=now)
        if visit.said("next") and left:
            # Each text is opened by itself: nobody signs what was not before their eyes.
            following = next((each for each in left if each.kind == visit.said("next")), left[0])
            return go_to(f"/to-sign/text?what={following.subject.what.replace(' ', '%20')}", told="sign_done")
        return go_to("/to-sign", told="sign_done")

    def _proven(self, given: Signature) -> Signature:
        """Have the site's key vouch for a signature; without a key it stays a name, where the site lets names count."""
        settings = self.tools.settings
        if settings.release_key is None and settings.approvals != ACCOUNTS:
            return given
        return replace(given, proof=self.tools.publisher.keys.prove(given.said))

    def _page(
        self, visit: StaffVisit, candidate: Candidate, what: str, *, line: str = "", status: int = 200
    ) -> Response:
        now, subject = self.tools.now(), _subject(candidate, what)
        signed = candidate.approval(subject).signed.get(subject.what)
        standing = candidate.standing(subject, now=now)
        labels = self.renderer.labels(visit.language)
        names = subject.what.split()
        draft = candidate.drafts.get((names[2], names[1])) if names[0] == "pair" else None
        return self.renderer.page(
            "to_sign_text",
            visit,
            status=int(status),
            line=labels[line] if line else "",
            subject=subject,
            names=names,
            draft=draft if names[0] == "pair" else candidate.site_draft if names[0] == SITE else None,
            is_removed=draft is not None and draft.content is None,
            backings=draft.backings if draft is not None else (),
            unlisted=_unlisted(candidate, draft) if draft is not None else [],
            telephones=self._telephones(candidate, names, labels),
            texts=shown_texts(candidate, subject),
            beside=_beside(candidate, draft) if draft is not None else [],
            standing=standing,
            signed=signed if signed is not None and signed.text == subject.text else None,
            people=PEOPLE,
            why=candidate.may_sign(visit.who, subject, now=now),
            until=visit.said("until") or (now.date() + A_YEAR).isoformat(),
            first_day=(now.date() + timedelta(days=1)).isoformat(),
            last_day=(now.date() + LONGEST).isoformat(),
            source=candidate.source,
        )

    def _telephones(self, candidate: Candidate, names: Sequence[str], labels: Mapping[str, Label]) -> str:
        """Return what is said of telephone numbers in a pair that nobody has vouched for, as its editor is told."""
        pair = candidate.pair(names[2], names[1]) if names[0] == "pair" else None
        texts = [text for _, text in seen_texts(pair)]
        return telephone_warning(texts, names[-1], candidate.base.catalogs, candidate.site_text, labels)


def waiting_for(candidate: Candidate, person: Person, *, now: datetime) -> list[Waiting]:
    """Return what somebody may sign now: drafts first, newest first, then other texts, then pairs as released."""
    return [each for each in _unsigned(candidate, now) if not candidate.may_sign(person, each.subject, now=now)]


def _unsigned(candidate: Candidate, now: datetime) -> Iterator[Waiting]:
    for draft in candidate.drafts.values():
        subject = candidate.subject_of(draft)
        standing = candidate.standing(subject, now=now)
        if standing == "approved":
            continue
        if not draft.language:
            yield Waiting(SITE, subject, standing, draft, name=SITE)
            continue
        pair = draft.pair or candidate.released_pair(draft.language, draft.name)
        title = pair.question if pair is not None else ""
        yield Waiting("draft", subject, standing, draft, draft.language, draft.name, title)
    for subject in candidate.other_subjects():
        kind, *rest = subject.what.split()
        standing = candidate.standing(subject, now=now)
        if kind == NEAR_MISS and standing != "approved":
            pair = candidate.pair(rest[1], rest[0])
            title = pair.question if pair is not None else rest[0]
            yield Waiting(kind, subject, standing, None, rest[1], rest[0], title)
        elif standing != "approved" and not (kind == SITE and candidate.site_draft is not None):
            yield Waiting(kind, subject, standing, language=rest[0] if rest else "", name=kind)
    for (language, pair_id), subject in candidate.base.pair_subjects.items():
        standing = candidate.standing(subject, now=now)
        if standing != "approved" and (language, pair_id) not in candidate.drafts:
            question = candidate.base.catalogs[language].by_id[pair_id].question
            yield Waiting("pair", subject, standing, None, language, pair_id, question)


def shown_texts(candidate: Candidate, subject: Subject) -> list[ShownText]:
    """Return exactly what patients will see of a text, in all countries, each against what was released."""
    kind, *rest = subject.what.split()
    if kind == "pair":
        pair_id, language = rest
        now, before = candidate.pair(language, pair_id), candidate.released_pair(language, pair_id)
        return _compared(seen_texts(before), seen_texts(now))
    if (said := candidate.base.said(subject.what)) is not None:
        return _compared(list(said.items()), list(said.items()))
    if kind == NEAR_MISS:
        return [ShownText(str(n), each.near_miss.text) for n, each in enumerate(candidate.near_misses_of(subject), 1)]
    if kind == FORM:
        texts = form_texts(candidate.base.form or {})
        return _compared(texts, texts)
    return _compared(site_texts(candidate.base.site or {}), site_texts(candidate.site or {}))


def _unlisted(candidate: Candidate, draft: Draft) -> list[tuple[str, str]]:
    """Return the new sentences of answers of a draft for which the file that was handed in names no source."""
    if draft.provenance is None:
        return []
    now, before = (
        {name: text for name, text in seen_texts(pair) if name.rpartition(".")[2] in COUNTRY_TEXTS}
        for pair in (draft.pair, candidate.released_pair(draft.language, draft.name))
    )
    return draft.provenance.unlisted(now, before)


def _beside(candidate: Candidate, draft: Draft) -> list[tuple[str, list[str], list[str]]]:
    """Return what else of a draft is signed: by field, the lines that came and those that went."""
    before, now = candidate.released_pair(draft.language, draft.name), draft.pair
    found = []
    for name, lines in (("variants", _variants), ("sources", _sources)):
        old, new = lines(before) if before is not None else [], lines(now) if now is not None else []
        came, went = [each for each in new if each not in old], [each for each in old if each not in new]
        if came or went:
            found.append((name, came, went))
    return found


def _variants(pair: Pair) -> list[str]:
    return [each.text for each in pair.variants]


def _sources(pair: Pair) -> list[str]:
    return [
        ", ".join(str(part) for part in (each.title, each.publisher, each.year, each.url) if part)
        for each in pair.sources
    ]


def _compared(before: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]) -> list[ShownText]:
    old, new = dict(before), dict(now)
    found = []
    for name in dict.fromkeys([*new, *old]):
        here, there = new.get(name, ""), old.get(name, "")
        found.append(ShownText(name, here, word_diff(there, here) if here != there else ()))
    return found


def _subject(candidate: Candidate, what: str) -> Subject:
    kind, *rest = what.split() or [""]
    try:
        if kind == "pair" and len(rest) == 2:
            return candidate.subject(rest[1], rest[0])
    except BadData:
        raise StaffProblem(HTTPStatus.NOT_FOUND) from None
    found = next((each for each in candidate.other_subjects() if each.what == what), None)
    if found is None:
        raise StaffProblem(HTTPStatus.NOT_FOUND)
    return found


def _until(written: str, now: datetime) -> datetime | None:
    """Return the moment after the last day that a signature holds; None where it is no day, over, or too far away."""
    try:
        day = date.fromisoformat(written.strip())
    except ValueError:
        return None
    if not now.date() < day <= now.date() + LONGEST:
        return None
    return datetime.combine(day + timedelta(days=1), time(), now.tzinfo)

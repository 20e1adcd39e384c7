"""What the next release would be made of: what was released last, with the drafts and signatures on top of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Self

import yaml

from bot.catalog.approval import (
    PEOPLE,
    SITE,
    Approvals,
    IsOurs,
    Standing,
    Subject,
    pair_subject,
    site_subject,
    text_hash,
    write_approvals,
)
from bot.catalog.catalog import Catalog, Loader, Pair, Review, pair_hash
from bot.catalog.yaml_edit import edit_pairs
from bot.editorial.people import Person
from bot.editorial.workbench import (
    NEAR_MISS,
    SITE_DRAFT,
    AddedNearMiss,
    Draft,
    Signature,
    Workbench,
)
from bot.errors import BadData
from bot.release.contents import EXAMS, LANGUAGES, SITE_FILE, Contents
from bot.release.release import Unpacked

# A site's `review`, in one line or with what is indented below it.
_REVIEW = re.compile(r"^review:.*\n?(?:[ \t]+.*\n?)*", re.MULTILINE)
# How a text stands on its way to patients: not whole yet, a draft that nobody signed, signed by one, by two, shown;
# or run out.
Stage = Literal["unfinished", "draft", "reviewed", "approved", "released", "changed", "expired", "unsigned"]


@dataclass(frozen=True)
class Candidate:
    """What the next release could be made of: the last one, or an exam's folder, and what was drafted and signed since.

    Attributes:
        base: What drafts stand on.
        source: Its name for people: ``release 3``, or the folder's.
        drafts: By language and name.
        signatures: In order.
        near_misses: Added since.
        approvers: Ids of those who may approve.
        dormant: Drafts that say just what is released: no change, but whoever writes anew goes on from them.
        unfinished: Drafts that lack something: they wait for who writes them, and for nobody else.
    """

    base: Contents
    source: str
    drafts: Mapping[tuple[str, str], Draft] = field(default_factory=dict)
    signatures: Sequence[Signature] = ()
    near_misses: Sequence[AddedNearMiss] = ()
    approvers: frozenset[int] = frozenset()
    dormant: Mapping[tuple[str, str], Draft] = field(default_factory=dict)
    unfinished: Mapping[tuple[str, str], Draft] = field(default_factory=dict)

    @classmethod
    def of(cls, base: Contents, source: str, workbench: Workbench, approvers: frozenset[int] = frozenset()) -> Self:
        exam = base.exam
        # Whoever was killed after a release was made and before its drafts were forgotten has left some behind.
        stored = workbench.drafts(exam)
        drafts, dormant, begun = (dict[tuple[str, str], Draft]() for _ in range(3))
        for each in stored:
            kept = begun if each.unfinished is not None else dormant if _is_in(base, each) else drafts
            kept[each.language, each.name] = each
        known = {
            (language, each.pair, each.text) for language, own in base.catalogs.items() for each in own.near_misses
        }
        added = [
            each
            for each in workbench.near_misses(exam)
            if (each.language, each.near_miss.pair, each.near_miss.text) not in known
        ]
        return cls(base, source, drafts, workbench.signatures(exam), added, approvers, dormant, begun)

    @property
    def exam(self) -> str:
        return self.base.exam

    def released_pair(self, language: str, pair_id: str) -> Pair | None:
        return self.base.catalogs[language].by_id.get(pair_id) if language in self.base.catalogs else None

    def pair(self, language: str, pair_id: str) -> Pair | None:
        """Return a pair as it is drafted, else as it was released; None: there is none, or it is to be removed."""
        draft = self.drafts.get((language, pair_id))
        return draft.pair if draft is not None else self.released_pair(language, pair_id)

    def pairs(self, language: str) -> Iterator[tuple[Pair, Draft | None]]:
        """Yield all pairs of a language as they are drafted, in order, new ones last; what is to go, as released."""
        catalog = self.base.catalogs[language]
        for pair in catalog.pairs:
            draft = self.drafts.get((language, pair.id))
            yield (draft.pair or pair if draft is not None else pair), draft
        for (code, name), draft in sorted(self.drafts.items()):
            if code == language and draft.pair is not None and name not in catalog.by_id:
                yield draft.pair, draft

    def written(self, language: str, pair_id: str) -> Draft | None:
        """Return the draft that an editor goes on with, whole or not."""
        return self.drafts.get((language, pair_id)) or self.unfinished.get((language, pair_id))

    def is_outdated(self, draft: Draft) -> bool:
        """Whether what a draft began with is no longer what was released."""
        released = self.released_pair(draft.language, draft.name)
        return draft.base != (pair_hash(released) if released is not None else "")

    def only_proven(self, is_ours: IsOurs) -> Self:
        """Return the same with those signatures only that the site's key vouches for."""
        base = replace(self.base, approvals=self.base.approvals.proven(is_ours))
        proven = [each for each in self.signatures if each.proof and is_ours(each.said, each.proof)]
        return replace(self, base=base, signatures=proven)

    def near_misses_of(self, subject: Subject) -> list[AddedNearMiss]:
        """Return which texts are signed under a subject; none where it is another one."""
        return [each for each in self.near_misses if _near_miss_name(each) == subject.what]

    def ready_near_misses(self, *, now: datetime) -> list[AddedNearMiss]:
        """Return those that would go into a release made now."""
        signed = {each.what for each in self.near_miss_subjects() if self.standing(each, now=now) == "approved"}
        return [each for each in self.near_misses if _near_miss_name(each) in signed]

    def near_miss_subjects(self) -> list[Subject]:
        """Return what is signed of added near misses: those of a pair in a language together. One more, and all of
        them are to be signed again.
        """
        texts: dict[str, list[str]] = {}
        for each in self.near_misses:
            texts.setdefault(_near_miss_name(each), []).append(each.near_miss.text)
        return [Subject(what, text_hash([self.exam, what, sorted(own)])) for what, own in sorted(texts.items())]

    def seen_of(self, subject: Subject) -> str:
        """Return the hash of what patients see of what is signed, where that is less than all of it; else empty."""
        kind, *rest = subject.what.split()
        draft = self.drafts.get((rest[1], rest[0])) if kind == "pair" else None
        if draft is None or draft.pair is None:
            return ""
        return pair_subject(self._catalog(draft.language), draft.pair).text

    def subject(self, language: str, pair_id: str) -> Subject:
        """Return what is signed of a pair as it is drafted; raise BadData when there is none.

        Of a draft that is all of it: variants decide who gets the answer, and sources are shown beside it.
        """
        catalog, draft = self._catalog(language), self.drafts.get((language, pair_id))
        if draft is not None and draft.content is None:
            return Subject(f"pair {pair_id} {language}", text_hash(["removed", catalog.name, language, pair_id]))
        if draft is not None and draft.pair is not None:
            return Subject(f"pair {pair_id} {language}", draft_text(catalog, draft.pair))
        released = self.base.pair_subjects.get((language, pair_id))
        if released is None:
            raise BadData(f"There is no pair {pair_id!r} ({language}).")
        return released

    def other_subjects(self) -> list[Subject]:
        """Return what is signed beside pairs: the program's own sentences, the Questionnaire, the site as drafted,
        and what pairs must not be taken for.
        """
        found = [each for each in self.base.subjects() if not each.what.startswith(("pair ", SITE))]
        found += self.near_miss_subjects()
        site = self.site
        return found if site is None else [*found, site_subject(site)]

    @property
    def site_draft(self) -> Draft | None:
        return self.drafts.get(("", SITE_DRAFT))

    @property
    def site_text(self) -> str:
        """The site's file as it is drafted, else as it was released; empty where there is none."""
        draft = self.site_draft
        if draft is not None and draft.content is not None:
            return str(draft.content["text"])
        return self.released_site_text

    @property
    def released_site_text(self) -> str:
        return self.base.files.get(SITE_FILE, b"").decode("utf-8", "replace")

    @cached_property
    def site(self) -> Mapping[str, Any] | None:
        """What the site's file says, as it is drafted, and the hash of its logo; None where there is none."""
        if self.site_draft is None:
            return self.base.site
        read = yaml.load(self.site_text, Loader=Loader)  # it was checked before it was stored
        said: Mapping[str, Any] = read if isinstance(read, dict) else {}
        logo = self.base.files.get(str(said.get("logo")))
        return {**said, "logo": hashlib.sha256(logo).hexdigest()} if logo is not None else said

    @cached_property
    def _given(self) -> Mapping[tuple[str, str], list[Signature]]:
        """Signatures by what was signed and its text."""
        found: dict[tuple[str, str], list[Signature]] = {}
        for each in self.signatures:
            found.setdefault((each.what, each.text), []).append(each)
        return found

    @cached_property
    def _approvals(self) -> dict[Subject, Approvals]:
        """By what was signed, once asked for: a page with 2,000 pairs asks for each several times."""
        return {}

    def approval(self, subject: Subject) -> Approvals:
        """Return the approval of one text. A draft that is being signed takes nothing from what is released."""
        if subject not in self._approvals:
            released = self.base.approvals.signed.get(subject.what)
            known = Approvals({subject.what: released} if released is not None else {})
            given = self._given.get((subject.what, subject.text), ())
            self._approvals[subject] = known.signed_by((subject, each.signed) for each in given)
        return self._approvals[subject]

    def standing(self, subject: Subject, *, now: datetime) -> Standing:
        return self.approval(subject).standing(subject, now=now)

    def stage(self, language: str, pair_id: str, *, now: datetime) -> Stage:
        """Return how far a pair is on its way to patients."""
        draft = self.drafts.get((language, pair_id))
        standing = self.standing(self.subject(language, pair_id), now=now)
        pair = draft.pair if draft is not None else self.released_pair(language, pair_id)
        if standing == "approved" and pair is not None and _is_over(pair.review, now):
            return "expired"
        if standing == "approved":
            return "approved" if draft is not None or not self._is_signed_in(language, pair_id, now) else "released"
        if standing == "one signature":
            return "reviewed"
        if draft is not None:
            return "draft"
        return "expired" if standing == "expired" else "changed" if standing == "changed" else "unsigned"

    def _is_signed_in(self, language: str, pair_id: str, now: datetime) -> bool:
        pair = self.released_pair(language, pair_id)
        return pair is not None and pair.review.is_approved(now.date())

    def may_sign(self, person: Person, subject: Subject, *, now: datetime) -> str:
        """Return why somebody may not sign a text, in a word, or nothing.

        Of the two who sign, one must be allowed to approve, and must not have written the text.

        ``signed``: this person has; ``complete``: two others have; ``task``: the roles do not allow it; ``own``: this
        person wrote it, and so did, or may not approve, who signed first.
        """
        standing = self.standing(subject, now=now)
        if standing == "approved":
            return "complete"
        if standing != "one signature":
            return "" if person.may("review") else "task"
        found, editors = self.approval(subject).signed[subject.what], self.editors_of(subject)
        if any(each.is_by(person.name, str(person.id)) for each in found.signatures):
            return "signed"
        first = {each.person for each in self.signatures if (each.what, each.text) == (subject.what, subject.text)}
        if first & self.approvers - editors:
            return "" if person.may("review") else "task"
        if not person.may("approve"):
            return "task"
        return "own" if person.id in editors else ""

    def editors_of(self, subject: Subject) -> frozenset[int]:
        kind, *rest = subject.what.split()
        if kind == NEAR_MISS:
            return frozenset(each.person for each in self.near_misses_of(subject))
        draft = self.drafts.get(
            (rest[1], rest[0]) if kind == "pair" else ("", SITE_DRAFT) if kind == "site" else ("", "")
        )
        return draft.editors if draft is not None else frozenset()

    def ready(self, *, now: datetime) -> list[Draft]:
        """Return the drafts that would go into a release made now: those whose text two people have signed."""
        return [
            draft
            for _, draft in sorted(self.drafts.items())
            if self.standing(self.subject_of(draft), now=now) == "approved"
        ]

    def subject_of(self, draft: Draft) -> Subject:
        return self.subject(draft.language, draft.name) if draft.language else site_subject(self.site or {})

    def write(self, folder: Path, *, now: datetime, drafts: Sequence[Draft] | None = None) -> Unpacked:
        """Write an exam's files into an empty folder: the base with drafts (default: those that are ready) in them.

        What only its drafts say stays as it was; all else keeps every byte, comments as well.

        Raises:
            BadData: A file cannot be written.
        """
        chosen = self.ready(now=now) if drafts is None else list(drafts)
        exam = folder / EXAMS / self.exam
        for path, raw in self.base.files.items():
            place = folder / PurePosixPath(path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(raw)
        for language, catalog in self.base.catalogs.items():
            mine = [each for each in chosen if each.language == language]
            changed = self._signed({each.name: each.pair for each in mine if each.pair is not None}, catalog, now)
            removed = [each.name for each in mine if each.content is None and each.name in catalog.by_id]
            if changed or removed:
                file = exam / f"{language}.yaml"
                text = edit_pairs(file.read_bytes().decode(), changed=list(changed.values()), removed=removed)
                file.write_bytes(text.encode())
            self._write_near_misses(exam, language, now)
        write_approvals(exam, self._approvals_with(chosen))
        site = folder / SITE_FILE
        self._write_site(site, drafted=any(each.name == SITE_DRAFT for each in chosen))
        forms = sorted((folder / "questionnaires").glob("*.json"))
        spoken = folder / LANGUAGES
        return Unpacked(
            exam,
            site if site.is_file() else None,
            forms[0] if forms else None,
            spoken if spoken.is_dir() else None,
        )

    def _approvals_with(self, chosen: Sequence[Draft]) -> Approvals:
        """Return the approvals of the texts that are written: of those drafts, and of all else as it was released."""
        drafted = {self.subject_of(each).what: self.subject_of(each) for each in chosen}
        written = {each.what: each for each in self.base.subjects()} | drafted
        signed = {what: own for each in written.values() for what, own in self.approval(each).signed.items()}
        for each in chosen:
            whole = self.subject_of(each)
            own = signed.get(whole.what)
            if each.pair is not None and own is not None and own.text == whole.text:
                # Who signed all of a pair has signed what patients see of it.
                seen = pair_subject(self._catalog(each.language), each.pair)
                signed[seen.what] = replace(own, text=seen.text)
        return Approvals(signed)

    def _signed(self, drafted: Mapping[str, Pair], catalog: Catalog, now: datetime) -> dict[str, Pair]:
        """Return drafted pairs, and released ones that were signed since, each saying who approved it."""
        found = dict(drafted)
        for pair in (*catalog.pairs, *(each for each in drafted.values() if each.id not in catalog.by_id)):
            own = drafted.get(pair.id, pair)
            subject = self.subject(catalog.language, pair.id) if pair.id in drafted else pair_subject(catalog, own)
            if self.standing(subject, now=now) != "approved":
                continue
            if pair.id in drafted or not own.review.is_approved(now.date()):
                signed = self.approval(subject).signed[subject.what]
                on = max(at for _, at in signed.by).date()
                review = Review(status="approved", by=signed.names, on=on, valid_until=own.review.valid_until)
                found[pair.id] = own.model_copy(update={"review": review})
        return found

    def _write_site(self, site: Path, *, drafted: bool) -> None:
        """Write the site's file, as drafted or as released; signed by two people, it says who approved it."""
        said = self.site if drafted else self.base.site
        if said is None:
            return
        text = self.site_text if drafted else self.released_site_text
        signed = self.approval(site_subject(said)).signed.get(SITE)
        if signed is not None and signed.people >= PEOPLE:
            until = Review.model_validate(said.get("review") or {}).valid_until
            on = max(at for _, at in signed.by).date()
            review = Review(status="approved", by=signed.names, on=on, valid_until=until)
            text = with_review(text, review)
        site.write_bytes(text.encode())

    def _write_near_misses(self, exam: Path, language: str, now: datetime) -> None:
        added = [each.near_miss for each in self.ready_near_misses(now=now) if each.language == language]
        if not added:
            return
        file = exam / "near_misses" / f"{language}.tsv"
        file.parent.mkdir(exist_ok=True)
        known = file.read_text(encoding="utf-8") if file.is_file() else "author\tpair\ttext\n"
        columns = known.splitlines()[0].split("\t")
        lines = ["\t".join(str(getattr(each, name)) for name in columns) for each in added]
        file.write_text(f"{known.rstrip(chr(10))}\n" + "\n".join(lines) + "\n", encoding="utf-8")

    def _catalog(self, language: str) -> Catalog:
        if language not in self.base.catalogs:
            raise BadData(f"{self.exam} has no language {language!r}.")
        return self.base.catalogs[language]


def _near_miss_name(added: AddedNearMiss) -> str:
    return f"{NEAR_MISS} {added.near_miss.pair} {added.language}"


def draft_text(catalog: Catalog, pair: Pair) -> str:
    """Return the hash of what is signed of a draft: all of the pair but who approved it."""
    return text_hash(["draft", catalog.name, catalog.language, pair_hash(pair)])


def with_review(text: str, review: Review) -> str:
    """Return a site's file with another `review`; all else keeps every byte."""
    written = yaml.safe_dump(
        {"review": review.model_dump(exclude_none=True)}, allow_unicode=True, default_flow_style=None, width=1000
    )
    kept = _REVIEW.sub("", text)
    return f"{kept.rstrip(chr(10))}\n{written}" if kept.strip() else written


def _is_over(review: Review, now: datetime) -> bool:
    return review.valid_until is not None and review.valid_until < now.date()


def _is_in(base: Contents, draft: Draft) -> bool:
    """Whether the base holds a draft as it is."""
    catalog = base.catalogs.get(draft.language)
    if catalog is None:
        return False
    released = catalog.by_id.get(draft.name)
    if draft.pair is None:
        return released is None
    return released is not None and pair_hash(released) == pair_hash(draft.pair)


def changed_draft(candidate: Candidate, language: str, pair_id: str, change: Callable[[Pair], Pair]) -> Draft:
    """Return the draft of a pair with a change, on top of what is drafted or released.

    Raises:
        BadData: There is no such pair.
    """
    known = candidate.drafts.get((language, pair_id)) or candidate.dormant.get((language, pair_id))
    pair = candidate.pair(language, pair_id)
    if pair is None:
        raise BadData(f"There is no pair {pair_id!r} ({language}).")
    content = change(pair).model_dump(mode="json", exclude_none=False)
    if known is not None:
        return replace(known, content=content)
    released = candidate.released_pair(language, pair_id)
    return Draft(candidate.exam, language, pair_id, content, pair_hash(released) if released is not None else "")

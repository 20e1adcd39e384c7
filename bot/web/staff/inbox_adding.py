"""Make content of questions that curators confirmed: variants of a pair, or near misses of it; and take it back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Literal

from bot.catalog.catalog import Catalog, NearMiss, Pair, Variant, pair_hash
from bot.catalog.edge import Author
from bot.curation.scrub import scrub
from bot.editorial.candidate import Candidate, changed_draft
from bot.editorial.inbox import Flaw, Item, Lost, Undone, flaw_of
from bot.editorial.people import Person
from bot.editorial.workbench import AddedNearMiss, Origin, Stale, Workbench, text_digest
from bot.resources import data_folder
from bot.text import NearCopies, NearCopy, without_unseen

Adds = Literal["variant", "near miss"]
PATIENTS = "patients"  # who wrote it: authors are held out as a whole when the matcher is judged
TRIES = 3  # on top of what others store at the same time


@dataclass(frozen=True, slots=True)
class Text:
    """A text on its way into the content, as a curator left it.

    Attributes:
        item: Number of the question it was made of.
        text: As it is to be added.
        flaw: Why it cannot be, in a word.
        copy_of: What says nearly the same already: a pair's id, ``calibration``, ``suite`` …; empty: nothing.
    """

    item: int
    text: str
    flaw: Flaw = ""
    copy_of: str = ""


def _released(catalog: Catalog) -> NearCopies:
    """Return what is learned from or measured with, each under the name of where it stands."""
    known = NearCopies()
    for pair in catalog.pairs:
        for text in (pair.question, *(each.text for each in pair.variants)):
            known.add(text, pair.id)
    for question in catalog.calibration:
        known.add(question.text, "calibration")
    for near_miss in catalog.near_misses:
        known.add(near_miss.text, "near miss")
    for text in catalog.background:
        known.add(text, "background")
    for text in _suites(catalog.name, catalog.language):
        known.add(text, "suite")
    return known


def _stands(candidate: Candidate, language: str, copy: NearCopy) -> bool:
    """Whether a text is still there: a draft may have taken it out of a pair that is released with it."""
    if candidate.released_pair(language, copy.label) is None and (language, copy.label) not in candidate.drafts:
        return True  # of a suite, and the like
    pair = candidate.pair(language, copy.label)
    return pair is not None and copy.text in (pair.question, *(each.text for each in pair.variants))


def _drafted(candidate: Candidate, language: str) -> NearCopies:
    known = NearCopies()
    for pair, draft in candidate.pairs(language):
        if draft is not None:
            for text in (pair.question, *(each.text for each in pair.variants)):
                known.add(text, pair.id)
    for each in candidate.near_misses:
        if each.language == language:
            known.add(each.near_miss.text, "near miss")
    return known


@cache
def _suites(exam: str, language: str) -> tuple[str, ...]:
    """Return the questions of the suites that are shipped for an exam: what is measured with is never learned."""
    return tuple(_of_suites(exam, language))


def _of_suites(exam: str, language: str) -> Iterator[str]:
    for meta in sorted((data_folder("vignettes") / "suites").glob("*/suite.yaml")):
        head = meta.read_text(encoding="utf-8").splitlines()
        questions = meta.parent / "questions.jsonl"
        if f"catalog: {exam}" not in head or f"language: {language}" not in head or not questions.is_file():
            continue
        for line in questions.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield str(json.loads(line)["text"])


def personal(text: str, language: str, *, sure: bool = False) -> Literal["", "personal", "name"]:
    """Return in a word whether rules find personal data in a text; names and days may be nobody's (`sure`)."""
    kinds = {each.kind for each in scrub(text, language).removed}
    if kinds - {"name", "date", "age"}:
        return "personal"
    return "name" if kinds and not sure else ""


@dataclass(slots=True)
class Adder:
    """Stores texts as drafts, each with where it came from."""

    workbench: Workbench
    candidate: Callable[[], Candidate]
    _copies: dict[str, NearCopies] = field(default_factory=dict)

    def checked(self, texts: Sequence[Text], language: str, *, sure: bool = False) -> list[Text]:
        """Return texts with what is wrong with each, also among themselves; `sure`: names in them are nobody's."""
        candidate = self.candidate()
        released, drafted = self._copies_in(candidate, language), _drafted(candidate, language)
        found = []
        for each in texts:
            clean = " ".join(without_unseen(each.text).split())
            flaw = flaw_of(clean) or personal(clean, language, sure=sure)
            copy = (released.find(clean) or drafted.find(clean)) if not flaw else None
            if not flaw and copy is None:
                drafted.add(clean, "here")
            found.append(replace(each, text=clean, flaw=flaw, copy_of=copy.label if copy is not None else ""))
        return found

    def copies(self, texts: Sequence[str], language: str, *, besides: str) -> list[tuple[str, str]]:
        """Return the texts that say nearly what stands elsewhere, each with where; `besides`: not in this pair."""
        candidate = self.candidate()
        if not texts or language not in candidate.base.catalogs:
            return []
        released, drafted = self._copies_in(candidate, language), _drafted(candidate, language)
        found = []
        for text in texts:
            near = [each.find(text, besides=besides) for each in (released, drafted)]
            copy = next((each for each in near if each is not None and _stands(candidate, language, each)), None)
            if copy is not None:
                found.append((text, copy.label))
        return found

    def _copies_in(self, candidate: Candidate, language: str) -> NearCopies:
        """Return what is released or measured with; made once, for a large catalog it takes a second."""
        catalog = candidate.base.catalogs[language]
        key = f"{language} {catalog.content_hash}"
        if key not in self._copies:
            self._copies = {**dict(list(self._copies.items())[-3:]), key: _released(catalog)}
        return self._copies[key]

    def variants(self, pair_id: str, language: str, texts: Mapping[str, str], *, by: Person, now: datetime) -> None:
        """Add variants to the draft of a pair.

        Args:
            pair_id: The pair.
            language: Of the pair.
            texts: What is added, with the pseudonym of the conversation it came from; empty where none is known.
            by: Who.
            now: When.

        Raises:
            BadData: There is no such pair.
            Stale: Others store faster.
        """
        new = tuple(Variant(text=text, by=Author(kind="person", profile=PATIENTS)) for text in texts)

        def with_them(pair: Pair) -> Pair:
            return pair.model_copy(update={"variants": (*pair.variants, *new)})

        exam = self.candidate().exam
        origins = [Origin(exam, language, pair_id, text_digest(text), name) for text, name in texts.items() if name]
        for last in (*(False,) * (TRIES - 1), True):
            draft = changed_draft(self.candidate(), language, pair_id, with_them)
            try:
                self.workbench.save(draft, by=by, now=now, origins=origins)
            except Stale:  # somebody edits the pair at this moment: on top of theirs
                if last:
                    raise
            else:
                return

    def near_misses(self, pair_id: str, language: str, texts: Mapping[str, str], *, by: Person, now: datetime) -> None:
        """Add texts that a pair must not be taken for."""
        exam = self.candidate().exam
        for text, name in texts.items():
            added = AddedNearMiss(language, NearMiss(author=PATIENTS, pair=pair_id, text=text))
            self.workbench.add_near_miss(exam, added, by=by, now=now, origin=name)

    def take_back(self, undone: Undone, *, by: Person, now: datetime) -> None:
        """Take what a decision added out of the drafts again; what somebody has changed since stays."""
        if not undone.added:
            return
        gone = frozenset(undone.added)
        candidate = self.candidate()
        if undone.state == "near miss":
            for each in candidate.near_misses:
                if each.near_miss.pair == undone.target and each.near_miss.text in gone:
                    self.workbench.remove_near_miss(candidate.exam, each, by=by, now=now)
            return
        known = candidate.drafts.get((undone.language, undone.target))
        if known is None or known.pair is None:
            return  # released or given up meanwhile: the pair's page is where that is changed

        def without(pair: Pair) -> Pair:
            return pair.model_copy(update={"variants": tuple(v for v in pair.variants if v.text not in gone)})

        left, released = without(known.pair), candidate.released_pair(undone.language, undone.target)
        if released is not None and pair_hash(left) == pair_hash(released):
            self.workbench.drop(known, by=by, now=now)
        else:
            self.workbench.save(changed_draft(candidate, undone.language, undone.target, without), by=by, now=now)


def still_there(lost: Sequence[Lost], candidate: Candidate) -> list[tuple[Lost, str]]:
    """Return texts whose conversations are gone and that the content still holds, with the texts themselves."""
    found = []
    for each in lost:
        origin = each.origin
        if origin.exam != candidate.exam or origin.language not in candidate.base.catalogs:
            continue
        pair = candidate.pair(origin.language, origin.pair)
        texts = [variant.text for variant in pair.variants] if pair is not None else []
        begun = candidate.unfinished.get((origin.language, origin.pair))
        texts += [text for value in ((begun and begun.unfinished) or {}).values() for text in value.splitlines()]
        texts += [one.near_miss.text for one in candidate.near_misses if one.language == origin.language]
        texts += [one.text for one in candidate.base.catalogs[origin.language].near_misses]
        text = next((one for one in texts if text_digest(one) == origin.text), None)
        if text is not None:
            found.append((each, text))
    return found


def draft_texts(items: Sequence[Item]) -> list[Text]:
    """Return the questions as a curator finds them in the form."""
    return [Text(each.id, each.text) for each in items]

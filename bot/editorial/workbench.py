"""What is kept on the way to a release: drafts, signatures, where texts came from, added near misses."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol

from bot.catalog.approval import (
    Account,
    PersonSigned,
    Subject,
)
from bot.catalog.catalog import NearMiss, Pair
from bot.catalog.quiz import Quiz
from bot.catalog.statements import sentences
from bot.editorial.people import Person

NEAR_MISS = "near-miss"
SITE_DRAFT = "@site"  # stands for a pair's id where the draft is of the site's file
UNFINISHED = "unfinished"  # stands for a pair's content where the draft lacks something
QUIZZES = "quizzes"  # of a pair, or beside `UNFINISHED`: no field of the form holds them


class Stale(Exception):
    """Somebody else has stored another version meanwhile; `theirs` is what stands there now, None: it is gone."""

    def __init__(self, theirs: Draft | None) -> None:
        super().__init__("Somebody else has stored another version.")
        self.theirs = theirs


@dataclass(frozen=True, slots=True)
class Quotation:
    """What a document says: its name and title, where in it, and the words."""

    document: str
    title: str
    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Backing:
    """What one sentence of a drafted text was written from.

    Attributes:
        field: Of the pair, such as ``answer``.
        sentence: Word for word.
        quotations: What says it; empty: nothing that the file knows of.
        unchecked: Nobody compared the sentence with its quotations.
        unstated: Numbers in it that stood neither in the text before nor in what was accepted of a discussion.
    """

    field: str
    sentence: str
    quotations: tuple[Quotation, ...]
    unchecked: bool = False
    unstated: tuple[str, ...] = ()

    def stands_in(self, fields: Mapping[str, Any], quizzes: Sequence[Quiz]) -> bool:
        """Tell whether it still stands word for word in the fields of a form, or in a quiz of the pair."""
        numbered = enumerate(quizzes, 1)
        texts = {f"quizzes.{number}.{name}": text for number, quiz in numbered for name, text in quiz.texts}
        return self.sentence in str(fields.get(self.field) or texts.get(self.field) or "")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a drafted text comes from that was not typed in the console, as the file says that somebody handed in.

    Attributes:
        written_by: Who wrote it: nobody has checked that.
        backings: From what, sentence by sentence.
        handed_in_by: Name of who answers for the file.
    """

    written_by: str
    backings: tuple[Backing, ...] = ()
    handed_in_by: str = ""

    def standing_in(self, fields: Mapping[str, Any], quizzes: Sequence[Quiz]) -> Sequence[tuple[Backing, bool]]:
        """Return what sentences were written from, each with whether it still stands there word for word."""
        return [(each, each.stands_in(fields, quizzes)) for each in self.backings]

    def unlisted(self, now: Mapping[str, str], before: Mapping[str, str]) -> list[tuple[str, str]]:
        """Return the sentences of texts that no backing is about, by field: mostly typed after it was handed in.

        Args:
            now: Texts by field.
            before: The same of what is released: a sentence that stands there is not new.
        """
        found = []
        for name, text in now.items():
            told = [each.sentence for each in self.backings if each.field == name] + sentences(before.get(name, ""))
            spans = [at.span() for each in told if each for at in re.finditer(re.escape(each), text)]
            end = 0
            for sentence in sentences(text):
                begin = text.index(sentence, end)
                end = begin + len(sentence)
                if any(not text[at].isspace() and not _within(at, spans) for at in range(begin, end)):
                    found.append((name, sentence))
        return found


def _within(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(begin <= at < end for begin, end in spans)


@dataclass(frozen=True)
class Draft:
    """A change that is not released: of one pair in one language, or of the site's file.

    Attributes:
        exam: The exam.
        language: Of the pair; empty for the site's file.
        name: The pair's id, or `SITE_DRAFT`.
        content: The whole pair as JSON values, the site's file as ``{"text": …}``, or of a pair that lacks something
            the fields of the form and the quizzes as ``{"unfinished": …, "quizzes": […]}``; None: it is to be removed.
        base: Hash of the released pair that it began with; empty: there was none.
        version: Grows with each change; 0 before the first.
        editors: Ids of all who changed it since it was last released: they may not be the second to sign.
        changed_by: Name of who changed it last.
        changed_at: When.
        provenance: Where it came from, where a person did not type it; it stays while the text is edited.
    """

    exam: str
    language: str
    name: str
    content: Mapping[str, Any] | None
    base: str = ""
    version: int = 0
    editors: frozenset[int] = frozenset()
    changed_by: str = ""
    changed_at: datetime | None = None
    provenance: Provenance | None = None

    @property
    def unfinished(self) -> Mapping[str, str] | None:
        """What is typed of a pair that is not whole yet; None where the draft is whole. Nobody can sign it."""
        return self.content.get(UNFINISHED) if self.content is not None else None

    @property
    def written_by(self) -> str:
        """Who wrote it, as the file says that was handed in: nobody has checked that; empty where it was typed."""
        return self.provenance.written_by if self.provenance is not None else ""

    @property
    def backings(self) -> Sequence[tuple[Backing, bool]]:
        """What its sentences were written from, each with whether it still stands there word for word."""
        fields = self.unfinished or self.content or {}
        return self.provenance.standing_in(fields, self.quizzes or ()) if self.provenance is not None else ()

    @property
    def quizzes(self) -> Sequence[Quiz] | None:
        """The quizzes of the pair, whole or not; None where the draft says nothing of them, as one that removes it."""
        if self.pair is not None:
            return self.pair.quizzes
        kept = (self.content or {}).get(QUIZZES)
        return [Quiz.model_validate(each) for each in kept] if kept is not None else None

    @cached_property
    def pair(self) -> Pair | None:
        """The pair; None where the draft removes one, is not of one, or is unfinished."""
        if self.content is None or self.name == SITE_DRAFT or UNFINISHED in self.content:
            return None
        return Pair.model_validate(self.content)


@dataclass(frozen=True, slots=True)
class Signature:
    """One person's signature under a text.

    Attributes:
        what, text: The subject.
        person, name: Who.
        at, until: When, and until when it holds.
        seen: Hash of what patients see of it, which is what a release names; empty: the text itself.
        after_reset: Whether somebody else could log in as this person shortly before.
        proof: The site's key vouches with it for all of this; empty: there was no key.
    """

    what: str
    text: str
    person: int
    name: str
    at: datetime
    until: datetime
    seen: str = ""
    after_reset: bool = False
    proof: str = ""

    @property
    def signed(self) -> PersonSigned:
        """What the approvals say of it."""
        account = Account(self.text if self.seen else "", self.after_reset, str(self.person), self.proof)
        return PersonSigned(self.name, self.at, self.until, account)

    @property
    def said(self) -> bytes:
        """What the site's key signs."""
        return self.signed.said(Subject(self.what, self.seen or self.text))


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a text that patients' words became part of the content came from.

    Attributes:
        exam, language, pair: The pair that it was added to.
        text: SHA-256 of the text as it was added.
        pseudonym: Of the conversation, as logs call it: whoever erases a patient is told which texts came from them.
    """

    exam: str
    language: str
    pair: str
    text: str
    pseudonym: str


@dataclass(frozen=True, slots=True)
class AddedNearMiss:
    """A text that a pair must not be taken for, on its way into the next release; `person`: id of who added it."""

    language: str
    near_miss: NearMiss
    person: int = 0


class Workbench(Protocol):
    """Drafts and signatures as they are kept. Each change is stored with its act, or not at all."""

    def drafts(self, exam: str) -> list[Draft]:
        """Return all drafts of an exam, newest change first."""
        ...

    def state(self, exam: str) -> object:
        """Return what is another whenever drafts, near misses or signatures of an exam are: without their contents."""
        ...

    def draft(self, exam: str, language: str, name: str) -> Draft | None: ...

    def save(self, draft: Draft, *, by: Person, now: datetime, origins: Sequence[Origin] = ()) -> Draft:
        """Store a change on top of `draft.version`; an editor is added, the version grows.

        Raises:
            Stale: Another version is stored.
        """
        ...

    def add_all(self, drafts: Sequence[Draft], *, by: Person, now: datetime) -> None:
        """Store new drafts: all, or none.

        Raises:
            Stale: One of them is there already.
        """
        ...

    def drop(self, draft: Draft, *, by: Person, now: datetime) -> None:
        """Give a draft up; what is released stays. Raise Stale as `save` does."""
        ...

    def near_misses(self, exam: str) -> list[AddedNearMiss]: ...

    def add_near_miss(
        self, exam: str, added: AddedNearMiss, *, by: Person, now: datetime, origin: str = ""
    ) -> None: ...

    def remove_near_miss(self, exam: str, added: AddedNearMiss, *, by: Person, now: datetime) -> None: ...

    def signatures(self, exam: str) -> list[Signature]:
        """Return all signatures of an exam, in the order in which they were given."""
        ...

    def sign(self, exam: str, signatures: Sequence[Signature], *, after: Sequence[Signature] | None = None) -> None:
        """Store signatures: all, or none.

        `after`: all that were known when it was decided that this person may sign. Two people who sign at the same
        moment would else both be the first, and nobody the second.

        Raises:
            Stale: One of the texts was signed by somebody meanwhile.
        """
        ...

    def origins(self, pseudonym: str) -> list[Origin]:
        """Return which texts came from a conversation."""
        ...

    def released(self, exam: str, drafts: Sequence[Draft], near_misses: Sequence[AddedNearMiss]) -> None:
        """Forget drafts that a release holds as they are; those that were changed meanwhile stay."""
        ...


def text_digest(text: str) -> str:
    """Return how an origin names a text."""
    return hashlib.sha256(text.encode()).hexdigest()

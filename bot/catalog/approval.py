"""Approvals: what two people signed, bound to the SHA-256 of exactly what patients see, until a moment.

They lie in ``approvals.yaml`` in the catalog's folder and are written by `klartext qa approve`. A text that changes by
one letter has another hash, and is approved by nobody.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from bot.catalog.catalog import Catalog, Pair, read_yaml
from bot.errors import BadData, Finding
from bot.interview.values.fhir_json import JsonObject, dump

FILE = "approvals.yaml"
PEOPLE = 2  # who must have signed
_TITLES = frozenset({"dr", "med", "prof", "pd", "dipl", "mr", "mrs", "ms", "herr", "frau"})
# What is in the way of showing a text.
Standing = Literal["approved", "unsigned", "one signature", "changed", "expired"]
SITE, FORM = "site", "questionnaire"
SENTENCES, PAGE, FOREIGN, LANGUAGE = "sentences", "page", "foreign", "language"
# What the program says, of which each is signed by itself; where one of them is not approved, there is no chat.
SPOKEN = (SENTENCES, PAGE, FOREIGN, LANGUAGE)
# Whether the site's key has made a signature (base64) under some bytes.
IsOurs = Callable[[bytes, str], bool]
_HEAD = """\
# Who approved which text, and until when. `klartext qa approve` writes this file; `text` is the SHA-256 of exactly what
# patients see, so a text that is changed is approved by nobody until it is signed again.
"""


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that is approved as a whole.

    Attributes:
        what: Its name: ``pair ID LANG``, ``sentences LANG`` (the program's own, emergencies among them), ``page LANG``
            (labels, the words of consent among them), ``foreign`` (what is said in all languages but the catalog's),
            ``language LANG`` (of a language of the site, all its files), ``questionnaire`` or ``site``.
        text: SHA-256 of all that patients see of it.
    """

    what: str
    text: str


class _Account(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    whole: str = Field("", pattern="^([0-9a-f]{64})?$")
    after_reset: bool = False
    who: str = Field("", max_length=64)
    proof: str = Field("", max_length=200)


class _Signature(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    name: str = Field(min_length=1, max_length=120)
    at: AwareDatetime
    until: AwareDatetime | None = None
    account: _Account | None = None


class _Approval(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str
    text: str = Field(pattern="^[0-9a-f]{64}$")
    until: AwareDatetime
    by: tuple[_Signature, ...] = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    approvals: list[_Approval]


@dataclass(frozen=True, slots=True)
class Account:
    """What is known of a signature that somebody made who had logged in.

    Attributes:
        whole: SHA-256 of all that was signed, where that is more than patients see: a draft with its variants.
        after_reset: Whether somebody else gave the account a password shortly before, and so could log in, too.
        who: The account's own id: it stays the same person under another name. Empty: not known.
        proof: Signature of the site's key over all of it (Ed25519, base64); empty: there was no key.
        line: Where it stands in the file; 0: in none.
    """

    whole: str = ""
    after_reset: bool = False
    who: str = ""
    proof: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class PersonSigned:
    """One person's signature under a text; from `until` on it counts no more.

    `account` is what is known of it where that person had logged in; None: a name that was typed.
    """

    name: str
    at: datetime
    until: datetime
    account: Account | None = None

    def said(self, subject: Subject) -> bytes:
        """Return what the site's key signs; the purpose stands in front, so that it vouches for nothing else."""
        account = self.account or Account()
        at = self.at.astimezone(UTC).isoformat(timespec="seconds")
        until = self.until.astimezone(UTC).isoformat("T", "minutes")
        reset = "after a reset" if account.after_reset else ""
        said = [subject.what, subject.text, account.whole, self.name, account.who, at, until, reset]
        return b"klartext approval 1\0" + "\0".join(said).encode()

    @property
    def who(self) -> str:
        """The id of the account; empty where none is known."""
        return self.account.who if self.account is not None else ""

    def is_by(self, name: str, who: str) -> bool:
        """Say whether the person of this name, or of this account, made it."""
        return bool(who and who == self.who) or person_key(name) == person_key(self.name)

    def is_proven(self, subject: Subject, is_ours: IsOurs) -> bool:
        """Say whether the site's key vouches for all of it."""
        return self.account is not None and bool(self.account.proof) and is_ours(self.said(subject), self.account.proof)


@dataclass(frozen=True, slots=True)
class Signed:
    """What was signed of one subject.

    Attributes:
        text: SHA-256 of what was signed.
        signatures: One for each person, in order.
    """

    text: str
    signatures: tuple[PersonSigned, ...]

    @property
    def until(self) -> datetime:
        """From when on fewer people than needed stand behind it; of a text that one person signed, when that ends."""
        ends = sorted((each.until for each in self.signatures), reverse=True)
        lasting = (end for end in ends if _people([each for each in self.signatures if each.until >= end]) >= PEOPLE)
        return next(lasting, ends[0])

    @property
    def by(self) -> tuple[tuple[str, datetime], ...]:
        """Who signed it, and when, in order."""
        return tuple((each.name, each.at) for each in self.signatures)

    @property
    def people(self) -> int:
        """How many different people signed."""
        return _people(self.signatures)

    @property
    def names(self) -> str:
        return ", ".join(each.name for each in self.signatures)

    def valid(self, now: datetime) -> Signed:
        """Return it with the signatures that still count."""
        return replace(self, signatures=tuple(each for each in self.signatures if now < each.until))

    @property
    def after_reset(self) -> list[str]:
        """Names of those who signed shortly after somebody else had given their account a password."""
        return [each.name for each in self.signatures if each.account is not None and each.account.after_reset]


@dataclass(frozen=True, slots=True)
class Approvals:
    """All approvals of a catalog's folder, by what was approved.

    Attributes:
        signed: What counts here.
        country: Of this installation: each has a site of its own, and they may share the folder of an exam.
        elsewhere: What was signed of the sites of other countries.
    """

    signed: Mapping[str, Signed] = field(default_factory=dict)
    country: str | None = None
    elsewhere: Mapping[str, Signed] = field(default_factory=dict)

    def standing(self, subject: Subject, *, now: datetime) -> Standing:
        """Return whether a text may be shown now, and if not, why."""
        found = self.signed.get(subject.what)
        if found is None:
            return "unsigned"
        if found.text != subject.text:
            return "changed"
        people = found.valid(now).people
        return "approved" if people >= PEOPLE else "one signature" if people else "expired"

    def is_signed(self, subject: Subject, *, now: datetime) -> bool:
        """Say whether enough people have signed a text as it is, whatever else may stand in its way."""
        return self.standing(subject, now=now) == "approved"

    def until(self, subject: Subject) -> datetime | None:
        """Return from when on a text may not be shown any more; None where this text was not signed."""
        found = self.signed.get(subject.what)
        return found.until if found is not None and found.text == subject.text else None

    def sign(self, subjects: Sequence[Subject], *, name: str, at: datetime, until: datetime) -> Approvals:
        """Return the approvals with the signature of one person under each subject.

        A text that changed begins anew. Whoever signs the same text again renews: that signature takes the place of
        their earlier one. An approval holds while two people's signatures do, so each may renew before the other.
        """
        return self.signed_by((subject, PersonSigned(name, at, until)) for subject in subjects)

    def signed_by(self, signatures: Iterable[tuple[Subject, PersonSigned]]) -> Approvals:
        """Return the approvals with signatures under subjects, in the order of signing."""
        signed = dict(self.signed)
        for subject, fresh in signatures:
            known = signed.get(subject.what)
            before = known.valid(fresh.at).signatures if known is not None and known.text == subject.text else ()
            own = [each for each in before if each.is_by(fresh.name, fresh.who)]
            if any(each.at > fresh.at for each in own):
                continue  # known signatures are told again: the newest of a person counts
            others = (each for each in before if each not in own)
            signed[subject.what] = Signed(subject.text, (*others, fresh))
        return replace(self, signed=signed)

    def proven(self, is_ours: IsOurs, *, strict: bool = False) -> Approvals:
        """Return only what accounts signed, vouched for by the site's key.

        Raises:
            BadData: `strict`: a signature claims to be an account's and is not as it was made.
        """
        kept = dict[str, Signed]()
        for what, found in self.signed.items():
            subject = Subject(what, found.text)
            proven = tuple(each for each in found.signatures if each.is_proven(subject, is_ours))
            for each in found.signatures if strict else ():
                if each.account is not None and each.account.proof and each not in proven:
                    raise BadData(
                        f"{FILE}:{each.account.line}: the signature of {each.name} under {what!r} is not as it was "
                        "made, or its key is not in KLARTEXT_RELEASE_TRUST. Take the file from its last good version, "
                        "or have the text signed again."
                    )
            if proven:
                kept[what] = replace(found, signatures=proven)
        return replace(self, signed=kept)

    def without(self, what: str) -> Approvals:
        """Return the approvals without that of one subject."""
        return replace(self, signed={name: each for name, each in self.signed.items() if name != what})

    def by_name(self) -> dict[str, Signed]:
        """Return all of them as they stand in the file: sites with their country."""
        own = {
            (f"{SITE} {self.country}" if what == SITE and self.country else what): each
            for what, each in self.signed.items()
        }
        return {**self.elsewhere, **own}

    @classmethod
    def of_file(cls, named: Mapping[str, Signed], country: str | None) -> Approvals:
        """Return those that count in a country; a site that was signed without one counts where there is no other."""
        sites = {name: each for name, each in named.items() if name.split()[0] == SITE}
        own = f"{SITE} {country}" if f"{SITE} {country}" in sites else SITE
        signed = {name: each for name, each in named.items() if name not in sites}
        if own in sites:
            signed[SITE] = sites.pop(own)
        return cls(signed, country, sites)


def person_key(name: str) -> str:
    """Return what two spellings of one name have in common: no titles, points, accents and order of words.

    Whoever means to sign twice will find another way: names on a command line are only what somebody typed.
    """
    plain = "".join(each for each in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(each))
    words = [each for each in re.findall(r"\w+", plain) if each not in _TITLES]
    return " ".join(sorted(words)) or " ".join(plain.split())


def _people(signatures: Sequence[PersonSigned]) -> int:
    """Return how many people stand behind signatures: one name is one person, and one account is, under any name."""
    names = {person_key(each.name) for each in signatures}
    return min(len(names), len({(each.who, "" if each.who else person_key(each.name)) for each in signatures}))


def approvals_in(folder: Path, country: str | None = None) -> Approvals:
    """Read the approvals of a folder that count in a country; none where it has no such file.

    Raises:
        BadData: The file cannot be read as approvals, or names something twice.
    """
    path = folder / FILE
    if not path.is_file():
        return Approvals(country=country)
    findings: list[Finding] = []
    document = read_yaml(path, findings)
    if document is None or findings:
        raise BadData(findings[0].as_line())
    try:
        file = _File.model_validate(document.data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"]) or "the file"
        raise BadData(
            f"{path}:{document.line(first['loc'])}: `{place}`: {first['msg']}. Take the file from its last good "
            "version, or sign again with `klartext qa approve`."
        ) from None
    names = [each.what for each in file.approvals]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadData(f"{path}: {twice!r} stands there twice. Keep the entry that was signed last.")
    named = {
        each.what: Signed(
            each.text,
            tuple(
                PersonSigned(
                    one.name,
                    one.at,
                    one.until or each.until,
                    Account(**one.account.model_dump(), line=document.line(("approvals", number, "by", nth)))
                    if one.account is not None
                    else None,
                )
                for nth, one in enumerate(each.by)
            ),
        )
        for number, each in enumerate(file.approvals)
    }
    return Approvals.of_file(named, country)


def write_approvals(folder: Path, approvals: Approvals) -> None:
    """Write the approvals of a folder, whole or not at all; raise BadData when that is not possible."""
    path = folder / FILE
    entries = [
        {
            "what": what,
            "text": each.text,
            "until": each.until.isoformat(timespec="minutes"),
            "by": [_written(one, each.until) for one in each.signatures],
        }
        for what, each in sorted(approvals.by_name().items())
    ]
    text = _HEAD + yaml.safe_dump({"approvals": entries}, allow_unicode=True, sort_keys=False, width=120)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise BadData(f"{path}: {error.strerror or 'cannot be written'}. Check the folder's permissions.") from None


def _written(signature: PersonSigned, until: datetime) -> dict[str, Any]:
    """Return a signature as it stands in the file; its end only where that is another than the approval's."""
    own: dict[str, Any] = {"name": signature.name, "at": signature.at.isoformat(timespec="seconds")}
    if signature.until != until:
        own["until"] = signature.until.isoformat(timespec="minutes")
    if (account := signature.account) is not None:
        said = {"whole": account.whole, "after_reset": account.after_reset, "who": account.who, "proof": account.proof}
        own["account"] = {key: value for key, value in said.items() if value}
    return own


def pair_subject(catalog: Catalog, pair: Pair) -> Subject:
    """Return what is approved of a pair: every field that patients see, of all countries, and its meaning: its id."""
    return Subject(f"pair {pair.id} {catalog.language}", text_hash([catalog.name, catalog.language, seen_of(pair)]))


def seen_of(pair: Pair) -> dict[str, Any]:
    """Return what patients see of a pair, and its id."""
    return pair.model_dump(
        mode="json",
        include={"id", "question", "short_answer", "answer", "easy_answer", "extracts", "countries", "quizzes"},
        exclude={"countries": {"__all__": {"sources"}}},
    )


def sentences_subject(language: str, sentences: Mapping[str, str]) -> Subject:
    """Return what is approved of the program's own sentences in a language, those for emergencies among them."""
    return Subject(f"{SENTENCES} {language}", text_hash([language, dict(sentences)]))


def page_subject(language: str, texts: Mapping[str, str]) -> Subject:
    """Return what is approved of the page in a language: its labels, consent, and words that answers are named with."""
    return Subject(f"{PAGE} {language}", text_hash([language, dict(texts)]))


def foreign_subject(sentences: Mapping[str, str]) -> Subject:
    """Return what is approved of the sentences in all languages that the catalog has not."""
    return Subject(FOREIGN, text_hash(dict(sentences)))


def language_subject(language: str, files: Mapping[str, bytes]) -> Subject:
    """Return what is approved of a language of the site: all its files, rules and examples among them."""
    hashes = {name: hashlib.sha256(raw).hexdigest() for name, raw in files.items()}
    return Subject(f"{LANGUAGE} {language}", text_hash([language, hashes]))


def form_subject(document: JsonObject) -> Subject:
    """Return what is approved of a Questionnaire, or of a Bundle with its value sets: all of it."""
    return Subject(FORM, hashlib.sha256(dump(document).encode()).hexdigest())


def site_subject(data: Mapping[str, Any]) -> Subject:
    """Return what is approved of a site's file: all of it but who reviewed it."""
    return Subject(SITE, text_hash({key: value for key, value in data.items() if key != "review"}))


def text_hash(value: Any) -> str:
    """Return the SHA-256 of a value as JSON with sorted keys."""
    written = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(written.encode()).hexdigest()

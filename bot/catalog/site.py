"""What patients may be told of a place: phone, hours, way, appointments. Data in a `site.yaml`, approved whole.

A site's own file replaces the shipped sample, which is shown in sample mode only. What differs for one exam stands
below ``exams`` and replaces the text of the whole department.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from bot.catalog.catalog import Document, Review, exams_in, read_yaml
from bot.catalog.look import (
    NOTICES,
    OURS,
    SHIPPED,
    Colours,
    Look,
    Namespaces,
    NamespacesFile,
    Notice,
    notice,
    palette,
    read_logo,
)
from bot.errors import BadData, Finding
from bot.resources import data_folder
from bot.text import unseen_in

# What patients ask about a place. `phone` is also what every "no answer" ends with.
Fact = Literal[
    "phone", "hours", "address", "travel", "move", "interpreter", "access", "privacy", "night", "person", "written"
]
FACTS: tuple[Fact, ...] = get_args(Fact)
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MOST_CHARACTERS = 450
_PHONE = re.compile(r"\+?\d[\d ()/-]{4,24}\d")
_GROUPING = r"[\s()./\u2010-\u2015-]{0,3}"  # between the digits of a number
_SPAN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)")
A_WEEK = 8  # days looked ahead for the next opening
_WHERE_TO_LOOK = 'docs/content.md says under "The place" what each entry means; qa_pairs/site.yaml is an example.'
# What is wrong with a value, by the kind of error, in the words of who writes the file.
_IN_PLAIN_WORDS = {
    "missing": "is missing",
    "string_type": "must be a text; put it into quotation marks",
    "dict_type": "must have entries below it, each with its name",
    "model_type": "must have entries below it, each with its name",
    "tuple_type": 'must be a list such as ["08:00-12:00", "13:00-17:00"]',
    "string_too_short": "is empty",
    "string_too_long": "is too long, it may have {max_length} characters",
    "literal_error": "must be {expected}",
}


@dataclass(frozen=True, slots=True)
class Site:
    """What may be said of a place for one exam.

    Attributes:
        name: Of the department.
        phone: As it is dialled.
        texts: What is said of each fact, by language; facts that the site says nothing of are missing.
        opening: When somebody is there, by weekday from Monday: spans of minutes since midnight; None: not known.
        timezone: Of the opening hours.
        look: Of its pages.
        namespaces: Of what is exported from there.
    """

    name: str
    phone: str
    texts: Mapping[Fact, Mapping[str, str]]
    opening: tuple[tuple[tuple[int, int], ...], ...] | None
    timezone: ZoneInfo
    look: Look = SHIPPED
    namespaces: Namespaces = OURS

    def text(self, fact: str, language: str) -> str | None:
        """Return what is said of a fact; None where nothing is."""
        known = {name: texts for name, texts in self.texts.items() if name == fact}
        return next((texts.get(language) for texts in known.values()), None)

    def opens(self, now: datetime) -> datetime | None:
        """Return when somebody is there next; None where somebody is there now, or nobody knows."""
        if self.opening is None:
            return None
        here = now.astimezone(self.timezone)
        minute = here.hour * 60 + here.minute
        if any(start <= minute < end for start, end in self.opening[here.weekday()]):
            return None
        for days in range(A_WEEK):
            day = (here + timedelta(days=days)).date()
            later = [start for start, _ in self.opening[day.weekday()] if days or start > minute]
            if later:
                return datetime.combine(day, time(later[0] // 60, later[0] % 60), self.timezone)
        return None


class _Edge(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class _Texts(_Edge):
    phone: dict[str, str] | None = None
    hours: dict[str, str] | None = None
    address: dict[str, str] | None = None
    travel: dict[str, str] | None = None
    move: dict[str, str] | None = None
    interpreter: dict[str, str] | None = None
    access: dict[str, str] | None = None
    privacy: dict[str, str] | None = None
    night: dict[str, str] | None = None
    person: dict[str, str] | None = None
    written: dict[str, str] | None = None


class _Notices(_Edge):
    imprint: dict[str, str] | None = None
    privacy: dict[str, str] | None = None
    accessibility: dict[str, str] | None = None


class _File(_Edge):
    site: str = Field(min_length=1, max_length=120)
    review: Review = Review()
    phone: str
    timezone: str = "Europe/Berlin"
    opening: dict[str, tuple[str, ...]] | None = None
    facts: _Texts
    exams: dict[str, _Texts] = Field(default_factory=dict)
    logo: str | None = Field(None, min_length=1, max_length=120)
    colours: Colours | None = None
    notices: _Notices = _Notices()
    namespaces: NamespacesFile = NamespacesFile()

    @field_validator("site")
    @classmethod
    def _in_one_line(cls, name: str) -> str:
        return " ".join(name.split())

    @field_validator("phone")
    @classmethod
    def _is_number(cls, phone: str) -> str:
        if not _PHONE.fullmatch(phone):
            raise ValueError(f"{phone!r} is no telephone number; write it as people dial it, for example 030 23125 100")
        return phone

    @field_validator("timezone")
    @classmethod
    def _is_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            raise ValueError(f"{name!r} is no time zone; write for example Europe/Berlin") from None
        return name

    @field_validator("opening")
    @classmethod
    def _are_spans(cls, opening: dict[str, tuple[str, ...]] | None) -> dict[str, tuple[str, ...]] | None:
        for day, spans in (opening or {}).items():
            if day not in DAYS:
                raise ValueError(f"{day!r} is no day; write one of {', '.join(DAYS)}")
            read = [_span(span) for span in spans]
            flat = [minute for span in read for minute in span]
            if any(later <= earlier for earlier, later in pairwise(flat)):
                raise ValueError(f"{day}: the times {', '.join(spans)} are not in order")
        return opening


# What stands below an entry that is no text and has no facts.
_ENTRIES: Mapping[str, tuple[str, ...]] = {
    "review": tuple(Review.model_fields),
    "colours": tuple(Colours.model_fields),
    "notices": NOTICES,
    "namespaces": tuple(NamespacesFile.model_fields),
}


def _span(text: str) -> tuple[int, int]:
    read = _SPAN.fullmatch(text)
    if read is None:
        raise ValueError(f"{text!r} is no span of time; write for example 08:00-17:00")
    return int(read[1]) * 60 + int(read[2]), min(24 * 60, int(read[3]) * 60 + int(read[4]))


def sample_site(exam: Path) -> Path | None:
    """Return the file of the sample that is shipped with an exam's folder; None for a folder of one's own."""
    beside = exam.resolve().parent / "site.yaml"
    return beside if beside == (data_folder("qa_pairs") / "site.yaml").resolve() else None


def open_site(path: Path | None, *, exam: Path, languages: Sequence[str], sample: bool, today: date) -> Site | None:
    """Return what patients may be told of the place; None where that is nothing.

    Args:
        path: The site's own file; None: the shipped sample, in sample mode and for shipped exams.
        exam: Folder of the catalog, whose name is that of the exam.
        languages: That every text must be written in.
        sample: Whether drafts may be shown.
        today: Decides whether the approval has expired.

    Raises:
        BadData: The file cannot be read, a text is missing in a language or too long, or nobody approved the file.
    """
    file = path or (sample_site(exam) if sample else None)
    if file is None:
        return None
    read = _read(file, exam)
    if not sample and not read.review.is_approved(today):
        raise BadData(
            f"{file}: nobody approved these facts, or the approval has expired (status {read.review.status!r}). "
            "Have them checked and set `review`, or use sample mode (`--sample`)."
        )
    own = read.exams.get(exam.resolve().name, _Texts())
    texts: dict[Fact, Mapping[str, str]] = {}
    for fact in FACTS:
        said = getattr(own, fact) or getattr(read.facts, fact)
        if said is not None:
            texts[fact] = _checked(file, fact, said, languages)
    if "phone" not in texts:
        raise BadData(
            f"{file}: `facts` lacks `phone`. Say how the department is reached, and when.", code="site-no-phone"
        )
    if not all(_holds(text, read.phone) for text in texts["phone"].values()):
        raise BadData(
            f"{file}: the texts of `phone` do not all hold the number {read.phone!r}. Write it there, too.",
            code="site-phone",
            values={"phone": read.phone},
        )
    opening = None
    if read.opening is not None:
        opening = tuple(tuple(_span(span) for span in read.opening.get(day, ())) for day in DAYS)
    namespaces = Namespaces(read.namespaces.identifiers, read.namespaces.canonical)
    look = _look(file, read, languages)
    return Site(read.site, read.phone, texts, opening, ZoneInfo(read.timezone), look, namespaces)


def _holds(text: str, phone: str) -> bool:
    """Say whether a text gives a telephone number, however its digits are grouped there."""
    digits = [each for each in phone if each.isdigit()]
    return re.search(rf"(?<!\d){_GROUPING.join(digits)}(?!\d)", text) is not None


def site_findings(path: Path | None, *, exam: Path, languages: Sequence[str]) -> Iterator[Finding]:
    """Yield what is wrong with a site's own file, as it is refused where it is served; whether it is approved is not
    asked."""
    try:
        open_site(path, exam=exam, languages=languages, sample=True, today=date.min)
    except BadData as error:
        where = f"{path}: "
        yield Finding(path or exam, 0, "", str(error).removeprefix(where), "", "error", "site")


def namespaces_of(path: Path | None, exam: Path) -> Namespaces:
    """Return the namespaces that a site's own file names; ours where there is no file. Nobody need have approved it."""
    if path is None:
        return OURS
    read = _read(path, exam).namespaces
    return Namespaces(read.identifiers, read.canonical)


def _look(file: Path, read: _File, languages: Sequence[str]) -> Look:
    light, dark = palette(read.colours) if read.colours is not None else (None, None)
    said: dict[Notice, Mapping[str, str] | None] = {name: getattr(read.notices, name) for name in NOTICES}
    notices = {name: notice(file, name, texts, languages) for name, texts in said.items() if texts is not None}
    return Look(read_logo(file, read.logo) if read.logo is not None else b"", light, dark, notices)


def _read(file: Path, exam: Path) -> _File:
    findings = list[Finding]()
    document = read_yaml(file, findings)
    if document is None or findings:
        raise _told(findings[0])
    if (unseen := next(_unseen(file, document, document.data, ()), None)) is not None:
        raise _told(unseen)
    try:
        read = _File.model_validate(document.data)
    except ValidationError as error:
        first = error.errors()[0]
        place = {"place": ".".join(str(step) for step in first["loc"])}
        code = {"missing": "missing", "extra_forbidden": "extra", "value_error": "value"}.get(first["type"], "kind")
        line, problem = document.line(first["loc"]), _in_plain_words(first)
        raise _told(Finding(file, line, "", problem, "", code=code, values=place)) from None
    here = exam.resolve()
    known = {here.name} | exams_in(here.parent) | exams_in(data_folder("qa_pairs"))
    for name in read.exams:
        if name not in known:
            problem = f"`exams` names {name!r}, which is no exam here; known: {', '.join(sorted(known))}."
            line = document.line(("exams", name))
            raise _told(Finding(file, line, "", problem, "", code="exam", values={"name": name}))
    return read


def _told(finding: Finding) -> BadData:
    place = f"{finding.path}:{finding.line}" if finding.line else str(finding.path)
    line = " ".join(filter(None, (f"{place}: {finding.problem}", finding.remedy, _WHERE_TO_LOOK)))
    # The line of the file: pages say the rest in their own language.
    return BadData(line, code=f"site-{finding.code or 'odd'}", values={"line": finding.line, **finding.values})


def _in_plain_words(error: ErrorDetails) -> str:
    place = ".".join(str(step) for step in error["loc"])
    if error["type"] == "extra_forbidden":
        known = _ENTRIES.get(str(error["loc"][0]), FACTS) if error["loc"][:-1] else tuple(_File.model_fields)
        return f"There is no entry `{place}`; known: {', '.join(known)}."
    if error["type"] == "value_error":
        return f"`{place}`: {error['ctx']['error']}."
    if error["type"].startswith("date"):
        return f"`{place}` must be a day such as 2027-01-31."
    said = _IN_PLAIN_WORDS.get(error["type"], "is not what belongs there").format(**error.get("ctx", {}))
    return f"`{place}` {said}." if place else f"The file {said}."


def _unseen(file: Path, document: Document, data: Any, place: tuple[str | int, ...]) -> Iterator[Finding]:
    """Find characters that no screen shows: some turn the direction of what follows, or command a terminal."""
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inside:
        yield from _unseen(file, document, key, (*place, key))
        yield from _unseen(file, document, value, (*place, key))
    if isinstance(data, str) and (found := unseen_in(data)):
        shown = ascii(".".join(map(str, place)))[1:-1]
        problem = f"`{shown}` holds a character that no screen shows, U+{ord(found):04X}."
        yield Finding(file, document.line(place), "", problem, "Remove it.")


def _checked(file: Path, fact: str, said: Mapping[str, str], languages: Sequence[str]) -> dict[str, str]:
    found = {}
    for language in languages:
        text = " ".join(said.get(language, "").split())
        if not 0 < len(text) <= MOST_CHARACTERS:
            raise BadData(
                f"{file}: `{fact}` in {language!r} has {len(text)} characters and may have 1 to {MOST_CHARACTERS}. "
                "Write it in the languages of the catalog, in a few short sentences.",
                code="site-length",
                values={"fact": fact, "language": language, "characters": len(text), "most": MOST_CHARACTERS},
            )
        found[language] = text
    return found


def in_zone(at: datetime, zone: tzinfo | None) -> str:
    """Return a moment to the minute as people at the place read it, with the name of its zone."""
    here = at.astimezone(zone)
    return f"{here:%Y-%m-%d %H:%M} {here.tzname()}"

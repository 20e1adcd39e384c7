"""What patients may be told of a place: phone, hours, way, appointments. Data in a `site.yaml`, approved whole.

A site's own file replaces the shipped sample, which is shown in sample mode only. What differs for one exam stands
below ``exams`` and replaces the text of the whole department.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_args
from zoneinfo import ZoneInfo

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from bot.catalog.catalog import Review
from bot.errors import BadData
from bot.resources import data_folder

# What patients ask about a place. `phone` is also what every "no answer" ends with.
Fact = Literal[
    "phone", "hours", "address", "travel", "move", "interpreter", "access", "privacy", "night", "person", "written"
]
FACTS: tuple[Fact, ...] = get_args(Fact)
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MOST_CHARACTERS = 450
_PHONE = re.compile(r"\+?\d[\d ()/-]{4,24}\d")
_SPAN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)")
A_WEEK = 8  # days looked ahead for the next opening


@dataclass(frozen=True, slots=True)
class Site:
    """What may be said of a place for one exam.

    Attributes:
        name: Of the department.
        phone: As it is dialled.
        texts: What is said of each fact, by language; facts that the site says nothing of are missing.
        opening: When somebody is there, by weekday from Monday: spans of minutes since midnight; None: not known.
        timezone: Of the opening hours.
    """

    name: str
    phone: str
    texts: Mapping[Fact, Mapping[str, str]]
    opening: tuple[tuple[tuple[int, int], ...], ...] | None
    timezone: ZoneInfo

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


class _File(_Edge):
    site: str = Field(min_length=1, max_length=120)
    review: Review = Review()
    phone: str
    timezone: str = "Europe/Berlin"
    opening: dict[str, tuple[str, ...]] | None = None
    facts: _Texts
    exams: dict[str, _Texts] = Field(default_factory=dict)

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
    read = _read(file)
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
        raise BadData(f"{file}: `facts` lacks `phone`. Say how the department is reached, and when.")
    if any(read.phone not in text for text in texts["phone"].values()):
        raise BadData(f"{file}: the texts of `phone` do not all hold the number {read.phone!r}. Write it there, too.")
    opening = None
    if read.opening is not None:
        opening = tuple(tuple(_span(span) for span in read.opening.get(day, ())) for day in DAYS)
    return Site(read.site, read.phone, texts, opening, ZoneInfo(read.timezone))


def _read(file: Path) -> _File:
    try:
        return _File.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        raise BadData(f"{file}: {place}: {first['msg']}. Mend it; docs/content.md shows a whole file.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadData(f"{file} cannot be read as the facts of a site ({type(error).__name__}). Mend it.") from None


def _checked(file: Path, fact: str, said: Mapping[str, str], languages: Sequence[str]) -> dict[str, str]:
    found = {}
    for language in languages:
        text = " ".join(said.get(language, "").split())
        if not 0 < len(text) <= MOST_CHARACTERS:
            raise BadData(
                f"{file}: `{fact}` in {language!r} has {len(text)} characters and may have 1 to {MOST_CHARACTERS}. "
                "Write it in the languages of the catalog, in a few short sentences."
            )
        found[language] = text
    return found

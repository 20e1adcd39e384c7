"""The facts of a place: what of them may be said, exam by exam, and what is wrong with a file in one line."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import BadData
from bot.catalog.site import FACTS, Site, open_site, sample_site, site_findings
from bot.resources import data_folder

TODAY = date(2026, 11, 23)
QA_PAIRS = data_folder("qa_pairs")
EXAM = QA_PAIRS / "mammography"


def _file(folder: Path, **changes: Any) -> Path:
    file: dict[str, Any] = yaml.safe_load((QA_PAIRS / "site.yaml").read_text(encoding="utf-8"))
    path = folder / "site.yaml"
    path.write_text(yaml.safe_dump({**file, **changes}, allow_unicode=True), encoding="utf-8")
    return path


def _open(path: Path | None, *, sample: bool = True, exam: Path = EXAM) -> Site | None:
    return open_site(path, exam=exam, languages=("de", "en"), sample=sample, today=TODAY)


def test_the_sample_says_every_fact_in_both_languages() -> None:
    site = _open(None)

    assert site is not None
    assert all(site.text(fact, language) for fact in FACTS for language in ("de", "en"))


def test_the_sample_is_of_shipped_exams_in_sample_mode_only(tmp_path: Path) -> None:
    assert sample_site(tmp_path) is None
    assert _open(None, sample=False) is None
    assert _open(None, exam=tmp_path) is None


def test_nothing_that_nobody_approved_is_said_outside_sample_mode(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="nobody approved these facts"):
        _open(_file(tmp_path), sample=False)


@pytest.mark.parametrize(("valid_until", "said"), [("2027-01-01", True), ("2026-01-01", False)])
def test_an_approval_counts_until_it_expires(tmp_path: Path, valid_until: str, said: bool) -> None:
    review = {"status": "approved", "by": "Dr. A", "on": "2025-06-01", "valid_until": valid_until}
    path = _file(tmp_path, review=review)

    if said:
        assert _open(path, sample=False) is not None
    else:
        with pytest.raises(BadData, match="expired"):
            _open(path, sample=False)


def test_an_exam_may_say_a_fact_otherwise(tmp_path: Path) -> None:
    own = {"de": "MRT: Wir sind am Samstag da.", "en": "MRI: we are here on Saturdays."}
    path = _file(tmp_path, exams={"mri": {"hours": own}})
    for exam in ("mri", "ct"):
        (tmp_path / exam).mkdir()
        (tmp_path / exam / "de.yaml").touch()

    here, there = _open(path, exam=tmp_path / "ct"), _open(path, exam=tmp_path / "mri")

    assert here is not None
    assert there is not None
    assert there.text("hours", "de") == own["de"] != here.text("hours", "de")
    assert there.text("phone", "de") == here.text("phone", "de")


@pytest.mark.parametrize(
    ("phone", "said", "holds"),
    [
        ("030 23125 100", "Rufen Sie 03023125100 an.", True),
        ("030 23125 100", "Mo-Fr 8-12 030/23125-100.", True),
        ("030 23125-100", "(030) 23125\u00a0100", True),
        ("030 23125 100", "Rufen Sie 030 23125 1001 an.", False),
        ("030 23125 10", "Rufen Sie 030 23125 100 an.", False),
        ("030 23125 100", "Rufen Sie 030 23125 101 an.", False),
    ],
)
def test_a_number_is_compared_by_its_digits_by_lint_as_where_it_is_served(
    tmp_path: Path, phone: str, said: str, holds: bool
) -> None:
    path = _file(tmp_path, phone=phone, facts={"phone": {"de": said}})
    found = [each.problem for each in site_findings(path, exam=EXAM, languages=("de",))]

    assert (found == []) == holds
    assert all(each.startswith("the texts of `phone` do not all hold the number") for each in found)
    if not holds:
        with pytest.raises(BadData, match="do not all hold the number"):
            open_site(path, exam=EXAM, languages=("de",), sample=True, today=TODAY)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"facts": {}}, "lacks `phone`"),
        ({"facts": {"phone": {"de": "Rufen Sie an.", "en": "Call."}}}, "do not all hold the number"),
        ({"facts": {"phone": {"de": "030 23125 100"}}}, "'en' has 0 characters"),
        ({"opening": {"mon": ["17:00-08:00"]}}, "not in order"),
        ({"opening": {"someday": ["08:00-17:00"]}}, "is no day"),
        ({"opening": {"mon": ["8 to 5"]}}, "is no span of time"),
        ({"timezone": "Europe/Nowhere"}, "`timezone`: 'Europe/Nowhere' is no time zone"),
        ({"fax": "1"}, "no entry `fax`; known: site, review, phone"),
        ({"facts": {"fax": {"de": "1"}}}, "no entry `facts.fax`; known: phone, hours"),
        ({"facts": {"hours": "8 to 5"}}, "`facts.hours` must have entries below it"),
        ({"opening": {"mon": "08:00-17:00"}}, 'must be a list such as ["08:00-12:00"'),
        ({"exams": {"mamography": {}}}, "'mamography', which is no exam here; known: mammography"),
        ({"exams": {"mammography": {"adress": {}}}}, "no entry `exams.mammography.adress`; known: phone"),
        ({"review": {"status": "yes"}}, "`review.status` must be 'draft', 'reviewed' or 'approved'"),
        ({"review": {"valid_until": "soon"}}, "`review.valid_until` must be a day"),
        ({"site": ""}, "`site` is empty"),
        ({"phone": 112}, "`phone` must be a text; put it into quotation marks"),
        ({"site": "Radiologie \u202egnuliet"}, "`site` holds a character that no screen shows, U+202E"),
        ({"site": "Radiologie \x1b[31m"}, "U+001B"),
        ({"facts": {"ho\x07urs": {}}}, "U+0007"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BadData) as told:
        _open(_file(tmp_path, **changes))

    assert said in str(told.value)
    assert "\n" not in str(told.value)
    assert str(told.value).isprintable()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("site: A\nphone: [1\n", ":3: Not valid YAML: "),
        ("site: A\nfacts: {}\n", ":1: `phone` is missing."),
        ("site: A\nphone: 030 23125 100\nfacts:\n  fax: {}\n", ":4: There is no entry `facts.fax`"),
        ("site: A\nphone: 030 23125 100\nsite: B\n", ":3: The key 'site' is used twice (first in line 1)"),
        ("- site\n", "The file must have entries below it"),
        ("", "The file is empty."),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BadData) as told:
        _open(path)

    assert str(told.value).startswith(str(path))
    assert said in str(told.value)
    assert "qa_pairs/site.yaml is an example" in str(told.value)


def test_a_file_that_is_not_there_is_told_from_one_that_is_broken(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="Cannot be read: No such file or directory"):
        _open(tmp_path / "site.yaml")


def test_an_approval_is_read_as_people_write_it(tmp_path: Path) -> None:
    written = (QA_PAIRS / "site.yaml").read_text(encoding="utf-8")
    path = tmp_path / "site.yaml"
    path.write_text(
        written.replace("{status: draft}", "{status: approved, by: Dr. A, on: 2026-01-01}"), encoding="utf-8"
    )

    assert _open(path, sample=False) is not None


def test_who_reads_it_next_is_known_from_the_opening_hours(tmp_path: Path) -> None:
    opening = {"mon": ["08:00-12:00", "13:00-17:00"], "fri": ["08:00-14:00"]}
    site = _open(_file(tmp_path, opening=opening, timezone="Europe/Berlin"))
    assert site is not None
    monday = datetime(2026, 11, 23, tzinfo=UTC)

    def opens(hour: int, day: int = 23) -> datetime | None:
        return site.opens(monday.replace(day=day, hour=hour))

    assert opens(8) is None  # nine o'clock there
    assert opens(11) == monday.replace(hour=12)  # the break at noon
    assert opens(16) == datetime(2026, 11, 27, 7, tzinfo=UTC)  # on Friday
    assert opens(20, day=27) == datetime(2026, 11, 30, 7, tzinfo=UTC)

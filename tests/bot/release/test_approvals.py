"""Approvals: who signed which text, and everything that ends it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.catalog.approval import (
    Account,
    PersonSigned,
    Signed,
    Subject,
    approvals_in,
    pair_subject,
    person_key,
    write_approvals,
)
from bot.catalog.countries import Country
from bot.errors import BadData, UserFixable
from bot.release.contents import Contents
from bot.release.release import make_manifest
from bot.resources import data_folder
from bot.sentences.wording import NEUTRAL
from tests.bot.release.exams import NOW, UNTIL, change_pairs, gather, sign, write_exam

PAIN = "pair pain de"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_exam(tmp_path / "exam")


def _stands(contents: Contents, what: str = PAIN, *, later: timedelta = timedelta()) -> str:
    return contents.standings(NOW + later)[what]


def test_two_different_people_have_to_sign(folder: Path) -> None:
    assert _stands(gather(folder)) == "unsigned"
    assert _stands(sign(folder, "Dr. Muster")) == "one signature"
    assert _stands(sign(folder, "dr.  MUSTER")) == "one signature"
    assert _stands(sign(folder, "Dr. Berg")) == "approved"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("question", "Tut es weh?"),
        ("answer", "Es dauert vier Stunden."),
        ("short_answer", "Nein."),
        ("easy_answer", "Es tut nicht weh."),
        ("countries", {"CH": {"answer": "In der Schweiz anders."}}),
        ("extracts", [{"facet": "x", "text": "Tut die Untersuchung weh? (pain, de)"}]),
    ],
)
def test_whatever_patients_see_takes_the_approval_with_it_when_it_changes(
    folder: Path, field: str, value: object
) -> None:
    sign(folder, "A", "B")
    change_pairs(folder, "de", only="pain", **{field: value})

    assert _stands(gather(folder)) == "changed"
    assert _stands(gather(folder), "pair costs de") == "approved"


def test_what_is_said_abroad_and_the_words_of_the_page_are_signed_with_consent_among_them(folder: Path) -> None:
    contents = gather(folder)
    page, foreign = contents.said("page de"), contents.said("foreign")
    assert page is not None
    assert foreign is not None
    assert {page["consent_text"], page["consent_box"], page["month 3"], page["helpline poison"]} <= set(page.values())
    assert "Giftnotruf" in page["helpline poison"]
    # What a French answer to "j'ai mal" and an English one are, in each country.
    said = NEUTRAL.sentences
    assert foreign["fr foreign_german_ch"] == said["fr"]["foreign_german_ch"]
    assert foreign["en foreign_urgent"] == said["en"]["foreign_urgent"]
    assert not [name for name in foreign if name.startswith("de ")]

    sign(folder, "A", "B")
    (folder / "exam.yaml").write_text("abroad: {fr: sur le scanner}\n", encoding="utf-8")
    (folder / "topics.yaml").write_text("topics: [{name: {de: Schmerz}, pairs: [pain]}]\n", encoding="utf-8")
    changed = gather(folder)
    assert [_stands(changed, each) for each in ("foreign", "page de", "sentences de")] == [
        "changed", "changed", "approved",
    ]  # fmt: skip


def test_what_nobody_sees_may_change(folder: Path) -> None:
    sign(folder, "A", "B")
    change_pairs(folder, "de", only="pain", variants=["tut das weh", "schmerzen?"], sources=[])

    assert _stands(gather(folder)) == "approved"


def test_an_approval_ends_to_the_minute(folder: Path) -> None:
    contents = sign(folder, "A", "B", until=UNTIL)

    assert _stands(contents, later=UNTIL - NOW - timedelta(minutes=1)) == "approved"
    assert _stands(contents, later=UNTIL - NOW) == "expired"


def test_of_two_ends_the_earlier_counts_and_a_new_text_begins_anew(folder: Path) -> None:
    sign(folder, "A", until=UNTIL)
    contents = sign(folder, "B", until=UNTIL - timedelta(days=1))
    assert contents.approvals.until(pair_subject(contents.catalogs["de"], contents.catalogs["de"].pairs[0])) == (
        UNTIL - timedelta(days=1)
    )

    change_pairs(folder, "de", only="pain", answer="Neu.")
    assert _stands(sign(folder, "B")) == "one signature"


def test_an_approval_is_renewed_before_it_ends_by_one_person_after_the_other_without_a_gap(folder: Path) -> None:
    minute, year = timedelta(minutes=1), timedelta(days=365)
    sign(folder, "Dr. Anna Berg", "Dr. Bert Tal", until=UNTIL)
    sign(folder, "Anna Berg", at=UNTIL - timedelta(days=10), until=UNTIL + year)
    half = gather(folder)
    at_end = UNTIL - NOW
    assert _stands(half, later=at_end - minute) == "approved"
    assert _stands(half, later=at_end) == "one signature"  # Bert's is over, Anna's is not

    contents = sign(folder, "Bert Tal", at=UNTIL - minute, until=UNTIL + year - minute)
    assert {_stands(contents, later=at_end + later) for later in (-2 * minute, -minute, 0 * minute, minute)} == {
        "approved"
    }
    assert _stands(contents, later=at_end + year - 2 * minute) == "approved"
    assert _stands(contents, later=at_end + year - minute) == "one signature"
    assert _stands(contents, later=at_end + year) == "expired"
    assert contents.approvals.signed[PAIN].names == "Anna Berg, Bert Tal"
    assert contents.approvals.signed[PAIN].until == UNTIL + year - minute


def test_who_renews_late_is_the_second_of_two_at_once(folder: Path) -> None:
    sign(folder, "A", "B", until=UNTIL)
    sign(folder, "A", at=UNTIL - timedelta(days=1), until=UNTIL + timedelta(days=365))
    contents = sign(folder, "C", at=UNTIL + timedelta(days=1), until=UNTIL + timedelta(days=300))

    assert _stands(contents, later=UNTIL - NOW + timedelta(days=1)) == "approved"
    assert contents.approvals.signed[PAIN].names == "A, C"
    assert contents.approvals.signed[PAIN].until == UNTIL + timedelta(days=300)


def test_a_signature_that_is_told_again_does_not_take_a_newer_one_of_that_person_back(folder: Path) -> None:
    subject = pair_subject(gather(folder).catalogs["de"], gather(folder).catalogs["de"].pairs[0])
    old = subject, PersonSigned("A", NOW, UNTIL)
    new = subject, PersonSigned("A", NOW + timedelta(days=1), UNTIL + timedelta(days=9))

    for order in ([old, new], [new, old]):
        assert approvals_in(folder).signed_by(order).signed[subject.what].until == UNTIL + timedelta(days=9)


def test_a_pair_whose_review_says_draft_is_not_approved_whoever_signed(folder: Path) -> None:
    sign(folder, "A", "B")
    change_pairs(folder, "de", only="pain", review={"status": "draft"})

    assert _stands(gather(folder)) == "unsigned"


def test_an_approval_of_one_exam_is_none_of_another(folder: Path, tmp_path: Path) -> None:
    contents = sign(folder, "A", "B")
    catalog = contents.catalogs["de"]
    other = pair_subject(replace(catalog, name="other"), catalog.pairs[0])

    assert contents.approvals.standing(other, now=NOW) == "changed"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("approvals: 3\n", "approvals"),
        ("approvals:\n- {what: site, text: abc, until: 2027-01-01T00:00+01:00, by: []}\n", "text"),
        (
            "approvals:\n- {what: site, text: %s, until: 2027-01-01T00:00, by: [{name: A, at: 2026-01-01T00:00Z}]}\n",
            "until",
        ),
        ("approvals: [\n", "YAML"),
    ],
)
def test_a_damaged_file_approves_nothing_and_says_so(folder: Path, text: str, said: str) -> None:
    (folder / "approvals.yaml").write_text(text % ("a" * 64) if "%s" in text else text)

    with pytest.raises(BadData, match=said):
        approvals_in(folder)


def test_the_same_text_twice_is_refused(folder: Path) -> None:
    sign(folder, "A")
    path = folder / "approvals.yaml"
    head, entries = path.read_text().split("approvals:\n")
    path.write_text(f"{head}approvals:\n{entries}{entries}")

    with pytest.raises(BadData, match="stands there twice"):
        approvals_in(folder)


def test_two_countries_sign_a_site_each_in_the_folder_of_one_exam(folder: Path, tmp_path: Path) -> None:
    sites = {}
    for country, place in (("DE", "Berlin"), ("CH", "Bern")):
        sites[country] = tmp_path / f"{country}.yaml"
        text = (data_folder("qa_pairs") / "site.yaml").read_text(encoding="utf-8")
        sites[country].write_text(re.sub("(?m)^site: .*$", f"site: Radiologie {place}", text), encoding="utf-8")

    def gathered(country: Country) -> Contents:
        return Contents.gather(folder, site=sites[country], questionnaire=None, country=country)

    sign(folder, "A", "B", gathered=gathered("DE"))
    sign(folder, "A", "B", gathered=gathered("CH"))

    assert [gathered(country).standings(NOW)["site"] for country in ("DE", "CH")] == ["approved", "approved"]
    file = folder / "approvals.yaml"
    assert sorted(re.findall("what: (site.*)", file.read_text())) == ["site CH", "site DE"]
    # What was signed before sites had a country counts for each that has no other.
    file.write_text(re.sub("(?s)- what: site CH.*?(?=- what)", "", file.read_text()).replace("site DE", "site"))
    assert gathered("DE").standings(NOW)["site"] == "approved"
    assert gathered("CH").standings(NOW)["site"] == "changed"


def test_a_release_of_drafts_that_two_people_signed_says_what_is_in_the_way(folder: Path) -> None:
    change_pairs(folder, "de", review={"status": "draft"})
    contents = sign(folder, "A", "B")

    with pytest.raises(UserFixable, match=r"its review says 'draft'.*They are signed; set `review: .*in de\.yaml"):
        make_manifest(contents, now=NOW, stops=[], program="test")


@pytest.mark.parametrize("other", ["Dr Anna Berg", "Anna Berg", "Berg, Anna", "Dr. med. Anna Berg", "dr.  anna BÉRG"])
def test_two_spellings_of_one_name_are_one_person(other: str) -> None:
    assert person_key("Dr. Anna Berg") == person_key(other)
    assert person_key("Dr. Anna Berg") != person_key("Dr. Bert Berg")


def _by(name: str, who: str, *, at: datetime = NOW, until: datetime = UNTIL) -> PersonSigned:
    return PersonSigned(name, at, until, Account(who=who))


def test_one_account_under_two_names_is_one_person_and_its_last_signature_counts(folder: Path) -> None:
    subject = pair_subject(gather(folder).catalogs["de"], gather(folder).catalogs["de"].pairs[0])
    later = NOW + timedelta(days=1)
    twice = approvals_in(folder).signed_by(
        [(subject, _by("Arno Frey", "7")), (subject, _by("Arno Friedrich Frey", "7", at=later))]
    )

    assert twice.signed[PAIN].names == "Arno Friedrich Frey"
    assert twice.standing(subject, now=later) == "one signature"
    write_approvals(folder, twice)
    assert approvals_in(folder).signed[PAIN].signatures[0].who == "7"
    both = approvals_in(folder).signed_by([(subject, _by("Berta", "8", at=later))])
    assert both.standing(subject, now=later) == "approved"


def test_people_are_counted_by_name_and_by_account_whatever_a_file_says() -> None:
    week = timedelta(days=7)
    one = Signed("", (_by("Arno Frey", "7"), _by("Arno Friedrich Frey", "7", until=UNTIL + week)))
    assert (one.people, one.until) == (1, UNTIL + week)
    assert Signed("", (_by("Arno Frey", "7"), _by("Frey, Arno", "8"))).people == 1
    assert Signed("", (_by("Arno Frey", "7"), PersonSigned("Arno Frey", NOW, UNTIL))).people == 1
    two = Signed("", (*one.signatures, _by("Berta", "8", until=UNTIL - week)))
    assert (two.people, two.until) == (2, UNTIL - week)


def test_the_account_is_part_of_what_the_key_signs() -> None:
    subject = Subject(PAIN, "0" * 64)

    assert _by("Arno Frey", "7").said(subject) != _by("Arno Frey", "8").said(subject)

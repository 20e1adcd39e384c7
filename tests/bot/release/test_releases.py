"""Releases: what goes in, what stays out, what is refused; signed, kept, compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.adapters.release_keys import Signer, Trust, new_key
from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_releases import SqlReleases
from bot.errors import BadData, UserFixable
from bot.release.in_force import InForce
from bot.release.release import (
    Release,
    Side,
    Switch,
    contents_of,
    differences,
    make_manifest,
    pack,
    require_servable,
    unpack,
)
from bot.release.stops import Stop, Stops, Withdrawn
from tests.bot.release.exams import NOW, UNTIL, Site, change_pairs, gather, sign, write_exam
from tests.postgresql import emptied


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def releases(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlReleases]:
    if request.param == "sqlite":
        records = SqlRecords.open(f"sqlite:///{tmp_path / 'records.db'}")
    else:
        records = SqlRecords.open(emptied(request.getfixturevalue("postgresql")))
    yield SqlReleases(records.engine)
    records.close()


@pytest.fixture
def site(tmp_path: Path, releases: SqlReleases) -> Site:
    return Site(tmp_path, releases)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_exam(tmp_path / "exam")


def test_a_release_holds_what_is_approved_and_says_what_is_left_out(site: Site, folder: Path) -> None:
    sign(folder, "A", "B")
    change_pairs(folder, "de", only="costs", answer="Es kostet nichts.")
    made = site.make(gather(folder))

    assert made.number == 1
    assert made.content["shown"] == {"de": ["pain", "duration"]}
    assert made.content["left_out"] == {"de": {"costs": "it was changed after it was approved"}}
    assert made.content["approved"]["pair pain de"] == {"by": "A, B", "on": "2026-11-26"}


@pytest.mark.parametrize("signers", [(), ("A",)])
def test_without_approved_sentences_for_emergencies_there_is_no_release(
    site: Site, folder: Path, signers: tuple[str, ...]
) -> None:
    sign(folder, "A", "B", what="pair")
    contents = sign(folder, *signers, what="sentences") if signers else gather(folder)

    with pytest.raises(
        UserFixable, match=r"What the program says by itself \(de\).*klartext qa approve --what sentences"
    ):
        site.make(contents)


def test_without_an_approved_pair_there_is_no_release(site: Site, folder: Path) -> None:
    with pytest.raises(UserFixable, match=r"No pair of exam \(de\) may be shown \(pain: nobody approved it"):
        site.make(sign(folder, "A", "B", what=("sentences", "page", "foreign")))


def test_a_release_says_what_of_the_program_is_not_approved_and_the_one_command_that_signs_it(
    site: Site, folder: Path
) -> None:
    contents = sign(folder, "A", "B", what=("pair", "sentences"))

    with pytest.raises(UserFixable, match=r"What the page says \(de\), the words of consent") as refused:
        site.make(contents)
    assert "What is said to readers of languages that the catalog has not cannot go" in str(refused.value)
    assert str(refused.value).endswith("sign with `klartext qa approve --what page --what foreign`.")


def test_a_release_made_before_the_page_was_signed_is_refused_with_what_is_asked_for_since(
    site: Site, folder: Path
) -> None:
    made = site.make(sign(folder, "A", "B"))
    require_servable(made, folder, None)
    content = made.content
    older = {what: text for what, text in content["texts"].items() if what.startswith(("pair ", "sentences "))}
    earlier = replace(made, manifest=json.dumps({**content, "texts": older}))
    other = replace(made, manifest=json.dumps({**content, "texts": {**content["texts"], "page de": "0" * 64}}))

    with pytest.raises(
        UserFixable, match=r"What the page says \(de\).* has to be approved since this version"
    ) as asked:
        require_servable(earlier, folder, None)
    assert "Have two people sign with `klartext qa approve --what page --what foreign`, make" in str(asked.value)
    assert "other" not in str(asked.value)
    with pytest.raises(UserFixable, match=r"says other words on its page \(de\) than were approved for release 1@"):
        require_servable(other, folder, None)


def _at(hours: int) -> datetime:
    return NOW + timedelta(hours=hours)


def _withheld(site: Site, made: Release) -> frozenset[str]:
    return InForce(made, lambda: Stops.of(site.releases.stops()), lambda: NOW).withheld("de")


def test_signing_the_text_again_that_was_withdrawn_lifts_nothing(site: Site, folder: Path) -> None:
    first = site.make(sign(folder, "A", "B"))
    site.withdraw("pain", at=_at(1))
    again = site.make(gather(folder), now=_at(2))
    signed = site.make(sign(folder, "C", "D", at=_at(3)), now=_at(4))

    for made in (first, again, signed):
        assert _withheld(site, made) == {"pain"}
        assert "pain" in made.content["shown"]["de"]  # its question is still recognised
    assert signed.content["stopped"] == {"de": ["pain"]}


def test_a_new_text_ends_a_stop_once_it_is_signed_after_it_and_the_old_text_stays_stopped(
    site: Site, folder: Path
) -> None:
    old = site.make(sign(folder, "A", "B"))
    before = folder / "de.yaml"
    text = before.read_text(encoding="utf-8")
    change_pairs(folder, "de", only="pain", answer="Vier Stunden.")
    sign(folder, "A", "B", at=_at(1))
    site.withdraw("pain", at=_at(2))

    early = site.make(gather(folder), now=_at(3))
    new = site.make(sign(folder, "C", "D", at=_at(4)), now=_at(5))
    assert _withheld(site, early) == {"pain"}  # signed before anybody said what was wrong
    assert _withheld(site, new) == {"pain"}  # one of four signatures still is

    change_pairs(folder, "de", only="pain", answer="Fünf Stunden.")
    new = site.make(sign(folder, "C", "D", at=_at(6)), now=_at(7))
    assert _withheld(site, new) == frozenset()
    assert _withheld(site, old) == {"pain"}  # going back to it brings nothing back
    before.write_text(text, encoding="utf-8")
    assert _withheld(site, site.make(sign(folder, "C", "D", at=_at(8)), now=_at(9))) == {"pain"}


def test_only_who_lifts_a_stop_brings_its_text_back(site: Site, folder: Path) -> None:
    made = site.make(sign(folder, "A", "B"))
    site.withdraw("pain", at=_at(1))
    later = site.make(sign(folder, "C", "D", at=_at(2)), now=_at(3))

    site.releases.stop(Stop(_at(4), "Anna", "lift", "pain", why="it was right"))
    assert [_withheld(site, each) for each in (made, later)] == [frozenset(), frozenset()]
    site.withdraw("pain", at=_at(5))
    assert [_withheld(site, each) for each in (made, later)] == [{"pain"}, {"pain"}]


def test_a_release_that_was_begun_before_a_stop_and_is_kept_after_it_is_stopped_too(site: Site, folder: Path) -> None:
    site.make(sign(folder, "A", "B"))
    change_pairs(folder, "de", only="pain", answer="Vier Stunden.")
    contents = sign(folder, "A", "B")
    manifest = make_manifest(contents, now=NOW, stops=[], program="test")
    site.withdraw("pain", at=_at(1))
    made = site.releases.add(lambda number: Release(number, NOW, "A", "", manifest, ""), pack(contents.files))

    assert made.number == 2
    assert _withheld(site, made) == {"pain"}


def test_a_stop_remembers_the_texts_that_it_withdrew(site: Site, folder: Path) -> None:
    made = [site.make(sign(folder, "A", "B"))]
    change_pairs(folder, "de", only="pain", answer="Vier Stunden.")
    made.append(site.make(sign(folder, "A", "B")))

    done = site.releases.stop(Stop(NOW, "Anna", "withdraw", "pain"))

    assert set(done.texts) == {each.content["texts"]["pair pain de"] for each in made}
    assert len(done.texts) == 2
    assert site.releases.stops() == [done]


def test_a_release_is_what_was_signed_by_a_trusted_key(site: Site, folder: Path, tmp_path: Path) -> None:
    made = site.make(sign(folder, "A", "B"))
    Trust.of([site.public], None).require(made)
    Trust.of([], site.key).require(made)

    stranger = Trust.of([new_key(tmp_path / "other.pem")], None)
    for altered in (replace(made, note="x"), replace(made, number=2), replace(made, manifest=made.manifest + " ")):
        with pytest.raises(UserFixable, match="not signed by a key in KLARTEXT_RELEASE_TRUST"):
            Trust.of([site.public], None).require(altered)
    with pytest.raises(UserFixable, match="not signed by a key"):
        stranger.require(made)


def test_files_that_were_changed_in_the_database_are_not_unpacked(site: Site, folder: Path, tmp_path: Path) -> None:
    made = site.make(sign(folder, "A", "B"))
    change_pairs(folder, "de", only="pain", answer="Planted.")
    other = site.make(sign(folder, "A", "B"))

    (tmp_path / "out").mkdir()
    with pytest.raises(BadData, match="not those that were signed"):
        unpack(made, site.releases.files(other.number), tmp_path / "out")
    with pytest.raises(BadData, match="not those that were signed"):
        unpack(made, b"no zip", tmp_path / "out")


def test_numbers_are_given_once_and_everything_is_read_back(site: Site, folder: Path) -> None:
    contents = sign(folder, "A", "B")
    first, second = site.make(contents, note="first"), site.make(contents, note="second")

    assert [each.number for each in (first, second)] == [1, 2]
    assert first.hash == second.hash
    assert site.releases.all() == [first, second]
    assert site.releases.get(3) is None
    assert contents_of(second, site.releases.files(2)).catalogs["de"].pairs == contents.catalogs["de"].pairs


def test_in_force_is_what_was_switched_to_last_and_preparing_is_no_switch(site: Site, folder: Path) -> None:
    contents = sign(folder, "A", "B")
    site.make(contents)
    site.make(contents)
    assert site.releases.in_force() is None

    for move, number in (("activate", 1), ("prepare", 2)):
        site.releases.switch(Switch(NOW, "Anna", move, number))  # type: ignore[arg-type]
        assert site.releases.in_force() == 1
    site.releases.switch(Switch(NOW, "Anna", "activate", 2))
    assert site.releases.in_force() == 2
    assert [switch.number for switch in site.releases.switches()] == [1, 2, 2]


def test_a_comparison_shows_both_texts(site: Site, folder: Path) -> None:
    sign(folder, "A", "B")
    old = gather(folder)
    change_pairs(folder, "de", only="pain", answer="Vier Stunden.")
    new = sign(folder, "A", "B")
    shown = {"de": ["pain", "costs"]}

    lines = list(differences(Side(old, shown), Side(new, {"de": ["pain", "duration"]})))

    assert lines[0] == "- costs (de)"
    assert lines[1].startswith("+ duration (de): ")
    assert lines[2:] == ["~ pain (de) answer", "    - Tut die Untersuchung weh? (pain, de)", "    + Vier Stunden."]


def test_expiry_counts_to_the_minute_and_withdrawal_in_all_earlier_releases(site: Site, folder: Path) -> None:
    sign(folder, "A", "B")
    contents = sign(folder, "A", "B", what="pair costs", until=NOW + timedelta(hours=1))
    made = site.make(contents)
    clock, stops = [NOW], [Stops()]
    in_force = InForce(made, lambda: stops[0], lambda: clock[0])

    assert in_force.withheld("de") == frozenset()
    clock[0] = NOW + timedelta(minutes=59, seconds=59)
    assert in_force.withheld("de") == frozenset()
    clock[0] = NOW + timedelta(hours=1)
    assert in_force.withheld("de") == {"costs"}
    stops[0] = Stops.of([Stop(NOW, "Anna", "withdraw", "pain", release=1)])
    assert in_force.withheld("de") == {"costs", "pain"}
    later = replace(made, number=2, made=NOW + timedelta(hours=2))
    assert InForce(later, lambda: stops[0], lambda: NOW).withheld("de") == frozenset()
    assert not in_force.is_closed
    clock[0] = UNTIL
    assert in_force.is_closed  # what is said in emergencies is approved by nobody any more


def test_a_review_that_ends_before_the_signatures_do_ends_first(site: Site, folder: Path) -> None:
    review = {"status": "approved", "by": "Dr. Test", "on": "2026-01-01", "valid_until": "2026-11-30"}
    change_pairs(folder, "de", only="pain", review=review)
    made = site.make(sign(folder, "A", "B"))
    clock = [datetime(2026, 11, 30, 23, 59, tzinfo=UTC)]
    in_force = InForce(made, Stops, lambda: clock[0])

    assert in_force.withheld("de") == frozenset()
    clock[0] = datetime(2026, 12, 1, tzinfo=UTC)
    assert in_force.withheld("de") == {"pain"}


def test_closing_holds_until_it_is_opened() -> None:
    acts = [Stop(NOW, "A", "close"), Stop(NOW, "A", "withdraw", "pain", release=3)]

    assert Stops.of(acts).closed
    known = Withdrawn(NOW, "A", 3, frozenset())
    assert Stops.of([*acts, Stop(NOW, "A, B", "open")]) == Stops(closed=False, withdrawn={"pain": known})


def test_a_key_is_never_overwritten_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    new_key(path)

    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(BadData, match="never overwritten"):
        new_key(path)
    with pytest.raises(UserFixable, match="KLARTEXT_RELEASE_KEY_FILE is not set"):
        Signer.of(None)
    with pytest.raises(UserFixable, match="KLARTEXT_RELEASE_TRUST is not set"):
        Trust.of([], None)
    with pytest.raises(UserFixable, match="Key 1 in KLARTEXT_RELEASE_TRUST is no Ed25519 key"):
        Trust.of(["nonsense"], None)

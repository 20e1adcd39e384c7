"""Value sets are expanded by a real server on loopback, kept, and used without it; whatever it does, nothing fails."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.adapters.terminology_server import TerminologyServer, fetch_value_sets
from bot.errors import UserFixable
from bot.interview.load import load_form
from bot.interview.values.fhir_json import JsonObject
from bot.interview.values.terminology import Member, Terminology
from bot.private_files import Seal, SealedFolder
from bot.settings import Settings
from tests.bot.interview.resources import Json, form, item
from tests.terminology_service import BASE, MANY, Service, running

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
FOOD = BASE + "food"


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as found:
        yield found


def server(service: Service, folder: Path, *, at: datetime = NOW, timeout_s: float = 20.0) -> TerminologyServer:
    kept = SealedFolder(folder / "terminology", Seal(b"key"), ".json")
    return TerminologyServer(service.url, kept, timeout_s=timeout_s, clock=lambda: at)


def codes(*value_sets: JsonObject, of: str) -> list[str]:
    expansion = Terminology(value_sets).expand(of)
    assert expansion.missing == ()
    return [concept.code for concept in expansion.concepts]


def test_a_value_set_is_expanded_with_its_hierarchy_and_its_translations(service: Service, tmp_path: Path) -> None:
    found = server(service, tmp_path).expand((FOOD, BASE + "dairy|1"))

    assert found.notes == ()
    assert codes(*found.value_sets, of=FOOD) == ["n", "m", "c"]
    assert codes(*found.value_sets, of=BASE + "dairy|1") == ["m", "c"]
    concept = Terminology(found.value_sets).expand(FOOD).concepts[0]
    assert concept.designations == (("de", "Nüsse"),)
    assert Terminology(found.value_sets).member(FOOD, system="http://example.org/codes", code="x") is Member.NO


def test_pages_are_put_together(service: Service, tmp_path: Path) -> None:
    found = server(service, tmp_path).expand((BASE + "many",))

    assert len(codes(*found.value_sets, of=BASE + "many")) == MANY
    assert len(service.asked) == 3


@pytest.mark.parametrize(("mood", "requests"), [("all at once", 1), ("same page", 2)])
def test_a_server_that_knows_no_pages_ends_too(service: Service, tmp_path: Path, mood: str, requests: int) -> None:
    service.mood = mood

    found = server(service, tmp_path).expand((BASE + "many",))

    assert len(service.asked) == requests
    assert bool(found.value_sets) is (mood == "all at once")
    assert ["it gives 1000 of 2500 codes" in note for note in found.notes] == [True] * (mood == "same page")


@pytest.mark.proof
@pytest.mark.parametrize(
    ("mood", "reason"),
    [
        ("redirect", "its answer is no ValueSet (302)"),
        ("html", "its answer is no ValueSet (200)"),
        ("broken", "its answer is no ValueSet (200)"),
        ("huge", "its answer cannot be read (more than 8388608 bytes)"),
        ("error", "500 exception"),
        ("another", "it answers with another value set"),
        ("too many", "it has more than 5000 codes"),
        ("too costly", "it does not list its codes"),
        ("slow", "it does not answer within 0.5 seconds"),
    ],
)
def test_a_server_that_misbehaves_leaves_the_value_set_unknown_with_one_line(
    service: Service, tmp_path: Path, mood: str, reason: str
) -> None:
    service.mood = mood

    found = server(service, tmp_path, timeout_s=0.5 if mood == "slow" else 20.0).expand((FOOD,))

    assert found.value_sets == ()
    assert found.notes == (f"{FOOD}: the terminology server does not give it: {reason}",)
    assert not list((tmp_path / "terminology").glob("*.json"))


def test_what_it_does_not_have_is_said_in_its_code_and_not_in_its_words(service: Service, tmp_path: Path) -> None:
    (note,) = server(service, tmp_path).expand((BASE + "unknown",)).notes

    assert note.endswith("404 not-found")
    assert "SECRET" not in note


def test_a_server_that_is_away_is_asked_once_for_a_form(tmp_path: Path) -> None:
    with running() as gone:
        pass

    found = server(gone, tmp_path).expand((FOOD, BASE + "dairy"))

    assert [note.partition("give it: ")[2] for note in found.notes] == ["it cannot be reached (ConnectError)"] * 2


def test_it_is_not_asked_again_for_a_day_and_what_it_gave_is_used_while_it_is_away(
    service: Service, tmp_path: Path
) -> None:
    first = server(service, tmp_path).expand((FOOD,))
    same_day = server(service, tmp_path, at=NOW + timedelta(hours=23)).expand((FOOD,))
    assert len(service.asked) == 1
    assert same_day.value_sets == first.value_sets

    service.mood = "error"
    later = server(service, tmp_path, at=NOW + timedelta(days=40)).expand((FOOD,))
    assert later.value_sets == first.value_sets
    assert later.notes == (f"{FOOD}: as of 2026-11-22, for the terminology server says: 500 exception",)


def test_what_others_planted_is_not_used(service: Service, tmp_path: Path) -> None:
    server(service, tmp_path).expand((FOOD,))
    (kept,) = (tmp_path / "terminology").glob("*.json")
    kept.write_bytes(kept.read_bytes().replace(b"Nuts", b"Nots"))

    found = server(service, tmp_path).expand((FOOD,))

    assert Terminology(found.value_sets).expand(FOOD).concepts[0].display == "Nuts"
    assert len(service.asked) == 2


def test_only_addresses_of_value_sets_are_sent(service: Service, tmp_path: Path) -> None:
    server(service, tmp_path).expand((FOOD + "|1",))

    (line,) = service.asked
    assert line == (
        "/fhir/ValueSet/$expand?url=http%3A%2F%2Fexample.org%2Fvs%2Ffood&count=1000&offset=0"
        "&includeDesignations=true&valueSetVersion=1"
    )


@pytest.mark.parametrize(
    "url", ["http://tx.example.org/r4", "ftp://127.0.0.1/", "tx", "https://me:word@example.org/r4"]
)
def test_an_address_that_others_could_change_answers_of_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(UserFixable, match="terminology server"):
        TerminologyServer(url, SealedFolder(tmp_path, Seal(b"key"), ".json"))


def test_only_what_nobody_here_knows_is_asked_for(service: Service, tmp_path: Path) -> None:
    inside = {
        "resourceType": "ValueSet",
        "id": "vs",
        "status": "active",
        "compose": {"include": [{"valueSet": [FOOD]}]},
    }
    here: Json = {
        "resourceType": "ValueSet",
        "url": BASE + "here",
        "expansion": {"contains": [{"system": "s", "code": "c"}]},
    }
    questionnaire = form(
        item("a", "choice", text="A", answerValueSet="#vs"),
        item("b", "choice", text="B", answerValueSet=BASE + "here"),
        item("c", "choice", text="C", answerValueSet=BASE + "dairy"),
        contained=[inside],
    )
    settings = Settings(tmp_path, terminology_url=service.url, seal_key="0123456789" * 3)

    found = fetch_value_sets(settings, [questionnaire], Terminology([here]))

    assert [each["url"] for each in found.value_sets] == [FOOD, BASE + "dairy"]
    loaded = load_form(questionnaire, resources=[*found.value_sets, here])
    assert {item.link_id: len(item.options) for item in loaded.walk()} == {"a": 3, "b": 1, "c": 2}
    assert fetch_value_sets(Settings(tmp_path), [questionnaire], Terminology()).value_sets == ()

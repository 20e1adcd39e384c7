"""A CT department: its pages have its name and look and say nothing of mammograms; portals may say who a patient is."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.catalog.topics import load_topics
from bot.ports import Booking
from bot.settings import Settings
from bot.talk.reception import Reception
from bot.testing import HashEncoder
from bot.web.app import Service, build_app
from bot.web.links import invite, seal
from bot.web.page.rendering import load_labels
from tests.bot.catalog.test_exam import OF_THE_BREAST
from tests.ct import CATALOG, SITE

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
KEY, LINK_KEY = "k" * 32, "a-key-for-links-in-the-tests"
CONVERSATIONS = "/api/v1/conversations"
SAYS = re.compile(r"<(script|style)[^>]*>.*?</\1>|<[^>]*>", re.DOTALL)


@dataclass(frozen=True)
class Department:
    """The service of a CT department, in this process."""

    app: Any
    records: SqlRecords

    def client(self, language: str = "de") -> Any:
        client: Any = TestClient(self.app, base_url="http://localhost", headers={"Accept-Language": language})
        return client

    def inside(self, language: str) -> Any:
        """Return a browser in which a conversation has begun."""
        client = self.client(language)
        token = re.search(r'name="token" value="([^"]+)"', client.get("/").text)
        assert token is not None
        begun = client.post(
            "/begin", data={"consent": "yes", "token": token[1]}, headers={"Origin": "http://localhost"}
        )
        assert begun.status_code == 200, begun.text
        return client


@pytest.fixture(scope="module")
def ct(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Department]:
    folder = tmp_path_factory.mktemp("ct")
    environ = {"KLARTEXT_SITE": str(SITE), "KLARTEXT_LINK_KEY": LINK_KEY, "KLARTEXT_PORTAL_KEYS": f"ris:{KEY}"}
    settings = Settings.from_environment(environ, data=folder)
    assistant = Assistant.open(CATALOG, settings=settings, encoder=HashEncoder(), sample=True)
    records = SqlRecords.open(f"sqlite:///{folder / 'ct.db'}")
    topics = load_topics(CATALOG, {pair.id for pair in assistant.catalog("de").pairs})
    service = Service(Reception(assistant, records, lambda: NOW, topics=topics), settings)
    service.prepared.set()
    yield Department(build_app(service), records)
    records.close()


@pytest.mark.parametrize("language", ["de", "en"])
def test_no_page_of_a_ct_department_speaks_of_mammograms_and_all_bear_its_name(ct: Department, language: str) -> None:
    client = ct.inside(language)

    for address in ("/", "/chat", "/copy", "/copy/file", "/delete", "/end", "/goodbye", "/about/privacy", "/nowhere"):
        page = client.get(address).text
        assert OF_THE_BREAST.search(SAYS.sub(" ", page)) is None, address
        assert "CT-Zentrum Hafenallee" in page, address
    assert {"de": "Ihre CT – was", "en": "Your CT scan – what"}[language] in client.get("/").text
    assert {"de": "zu Ihrer Computertomographie", "en": "about your CT scan"}[language] in client.get("/chat").text


@pytest.mark.parametrize("language", ["de", "en"])
def test_questions_that_nobody_asks_are_not_offered_at_the_start(ct: Department, language: str) -> None:
    page, labels = ct.client(language).get("/").text, load_labels()[language]

    assert labels["can_1"] in page
    assert labels["can_2"] not in page


def test_logo_and_colours_come_from_the_service_with_a_hash_in_their_address(ct: Department) -> None:
    client = ct.client()
    page = client.get("/").text

    logo, colours = (re.search(rf'"(/static/{name}\?v=[0-9a-f]{{12}})"', page) for name in ("logo.png", "site.css"))

    assert logo is not None
    assert colours is not None
    picture, sheet = client.get(logo[1]), client.get(colours[1])
    assert picture.content == SITE.with_name("logo.png").read_bytes()
    assert picture.headers["content-type"] == "image/png"
    assert picture.headers["x-content-type-options"] == "nosniff"
    assert "immutable" in picture.headers["cache-control"]
    assert "--accent: #8a1c4f" in sheet.text
    assert "img-src 'self'" in client.get("/").headers["content-security-policy"]


def test_a_copy_to_keep_needs_nothing_from_anywhere(ct: Department) -> None:
    copy = ct.inside("de").get("/copy/file").text

    assert "data:image/png;base64," in copy
    assert "--accent: #8a1c4f" in copy
    assert "/static/" not in copy
    assert "img-src data:" in copy


def test_notices_stand_at_the_foot_and_are_escaped(ct: Department) -> None:
    client = ct.client()
    page = client.get("/").text

    assert 'href="https://ct.example.org/impressum" target="_blank" rel="noopener noreferrer">Impressum' in page
    assert 'href="/about/privacy">Datenschutz' in page
    notice = client.get("/about/privacy")
    assert "&lt;unter der Nummer der Zentrale&gt;" in notice.text
    assert notice.text.count("<p>") >= 2
    assert "data protection officer" in ct.client("en").get("/about/privacy").text
    assert client.get("/about/nose").status_code == 404


def test_a_link_of_an_appointment_is_stored_with_what_it_booked(ct: Department) -> None:
    booking = Booking("A-1", "O-2", "ACC-3")
    until = NOW + timedelta(days=1)
    client = ct.client()
    client.get(f"/start/{seal(invite('P-1', exam='ct', language='de', expires=until, booking=booking), LINK_KEY)}")
    token = re.search(r'name="token" value="([^"]+)"', client.get("/").text)
    assert token is not None

    client.post("/begin", data={"consent": "yes", "token": token[1]}, headers={"Origin": "http://localhost"})

    begun = [each for each in _conversations(ct) if each is not None and each.patient == "P-1"]
    assert [each.booking for each in begun] == [booking]


def _conversations(ct: Department) -> list[Any]:
    with ct.records.engine.connect() as connection:
        ids = connection.exec_driver_sql("SELECT id FROM conversations").scalars().all()
    return [ct.records.conversation(id_) for id_ in ids]


NAMED = {"consent": True, "patient": "P-7", "appointment": "A-7", "order": "O-7", "accession": "ACC-7"}


def test_a_portal_says_who_a_patient_is_and_its_name_is_logged(
    ct: Department, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="klartext"):
        answer = ct.client().post(CONVERSATIONS, json=NAMED, headers={"Authorization": f"Bearer {KEY}"})

    assert answer.status_code == 201, answer.text
    stored = ct.records.conversation(answer.json()["id"])
    assert stored is not None
    assert (stored.patient, stored.booking) == ("P-7", Booking("A-7", "O-7", "ACC-7"))
    (logged,) = (record for record in caplog.records if record.message == "conversation begun by a portal")
    assert logged.__dict__["fields"] == {"portal": "ris"}
    assert "P-7" not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer ", f"Basic {KEY}", f"Bearer {KEY}x", "Bearer ü"])
@pytest.mark.parametrize("field", ["patient", "appointment", "order", "accession"])
def test_who_is_no_portal_may_not(ct: Department, authorization: str, field: str) -> None:
    headers = {"Authorization": authorization.encode()} if authorization else {}

    answer = ct.client().post(CONVERSATIONS, json={"consent": True, field: "p_8"}, headers=headers)

    assert answer.status_code == 403
    assert answer.headers["content-type"] == "application/problem+json"
    assert "p_8" not in answer.text  # nothing that the id of a request could hold by chance
    assert all(each.patient != "p_8" for each in _conversations(ct))


@pytest.mark.parametrize("value", ["Anna Muster", "a" * 65, "-P", "P\n"])
def test_a_name_is_no_pseudonym_whoever_sends_it(ct: Department, value: str) -> None:
    answer = ct.client().post(
        CONVERSATIONS, json={**NAMED, "patient": value}, headers={"Authorization": f"Bearer {KEY}"}
    )

    assert answer.status_code == 422
    assert value not in answer.text


def test_anybody_may_begin_without_saying_who_they_are(ct: Department) -> None:
    answer = ct.client().post(CONVERSATIONS, json={"consent": True})

    assert answer.status_code == 201
    assert "Computertomographie" in answer.json()["welcome"]["parts"][0]["text"]


def test_the_document_says_what_portals_may_say(ct: Department) -> None:
    document = ct.client().get("/api/v1/openapi.json").json()

    begin = document["paths"][CONVERSATIONS]["post"]
    assert "403" in begin["responses"]
    assert "portal" in begin["description"]
    assert "portal" in document["components"]["schemas"]["NewConversation"]["properties"]["patient"]["description"]


def test_without_a_look_of_its_own_a_page_asks_for_none(tmp_path: Path) -> None:
    assistant = Assistant.open(
        CATALOG, settings=Settings.from_environment({}, data=tmp_path), encoder=HashEncoder(), sample=True
    )
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'ct.db'}")
    service = Service(Reception(assistant, records, lambda: NOW), Settings.from_environment({}, data=tmp_path))
    service.prepared.set()

    page = Department(build_app(service), records).client().get("/").text

    assert "logo.png" not in page
    assert "site.css" not in page
    assert "<footer" not in page
    assert ">Klartext</a>" in page
    records.close()

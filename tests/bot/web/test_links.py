"""Sealed links, and the command that makes them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot import BadData
from bot.ports import Booking
from bot.web.links import Invitation, NotInvited, invite, lifetime, seal, unseal
from tests.conftest import Run

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
KEY = "a-key-for-links-in-the-tests"
INVITATION = invite("P-4711", exam="mammography", language="de", expires=NOW + timedelta(days=14))


def test_what_was_sealed_is_read_back() -> None:
    assert unseal(seal(INVITATION, KEY), KEY, now=NOW) == INVITATION


def test_a_link_is_good_until_it_expires() -> None:
    token = seal(INVITATION, KEY)

    assert unseal(token, KEY, now=INVITATION.expires - timedelta(seconds=1)) == INVITATION
    with pytest.raises(NotInvited, match="expired"):
        unseal(token, KEY, now=INVITATION.expires)


def test_nothing_of_a_link_can_be_altered() -> None:
    token = seal(INVITATION, KEY)
    other = seal(replace(INVITATION, patient="P-4712"), KEY)
    content, _, given = token.partition(".")

    forged = [
        f"{other.partition('.')[0]}.{given}",
        f"{content}.{given[:-1]}",
        content,
        "",
        "ü.ü",
        "." * 2000,
        token + "=",
    ]
    forged += [token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in range(len(token) - 1)]
    for each in forged:
        with pytest.raises(NotInvited, match="unreadable"):
            unseal(each, KEY, now=NOW)


def test_another_key_opens_nothing() -> None:
    with pytest.raises(NotInvited, match="unreadable"):
        unseal(seal(INVITATION, KEY), KEY + "x", now=NOW)


@pytest.mark.parametrize("patient", ["", "Anna Muster", "a" * 65, "P?x", "-P", "P\n"])
def test_names_are_no_pseudonyms(patient: str) -> None:
    with pytest.raises(BadData, match="pseudonym"):
        invite(patient, exam="mammography", language="de", expires=NOW)


def test_a_link_says_which_visit_it_is() -> None:
    booked = replace(INVITATION, booking=Booking("A-1", "O/2", "ACC:3"))

    token = seal(booked, KEY)

    assert unseal(token, KEY, now=NOW) == booked
    assert "accession" not in _read(seal(INVITATION, KEY)), "links get no longer by what they do not say"


def test_links_from_before_visits_were_named_stay_good() -> None:
    said = {"patient": "P-4711", "exam": "mammography", "language": "de", "expires": 1796040000}
    content = base64.urlsafe_b64encode(json.dumps(said, separators=(",", ":")).encode()).rstrip(b"=").decode()
    mac = hmac.new(KEY.encode(), b"klartext link 1\0" + content.encode(), hashlib.sha256).digest()
    token = f"{content}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"

    assert unseal(token, KEY, now=NOW).booking == Booking()


@pytest.mark.parametrize("name", ["appointment", "order", "accession"])
@pytest.mark.parametrize("value", ["Anna Muster", "a" * 65, "P?x", "-P", "P\n"])
def test_what_cannot_stand_in_a_link_is_refused_without_being_quoted(name: str, value: str) -> None:
    with pytest.raises(BadData, match=f"What `--{name}` says") as raised:
        invite("P-1", exam="mammography", language="de", expires=NOW, booking=Booking(**{name: value}))

    assert value not in str(raised.value)


def _read(token: str) -> str:
    content = token.partition(".")[0]
    return base64.urlsafe_b64decode(content + "=" * (-len(content) % 4)).decode()


@pytest.mark.parametrize(
    ("text", "time"), [("90m", timedelta(minutes=90)), ("48h", timedelta(days=2)), ("14d", timedelta(days=14))]
)
def test_times_are_a_number_with_a_unit(text: str, time: timedelta) -> None:
    assert lifetime(text) == time


@pytest.mark.parametrize("text", ["", "14", "0d", "d", "14w", "-1d", "1.5d", "999999d", "٣d"])
def test_other_times_are_refused(text: str) -> None:
    with pytest.raises(BadData, match="`--expires`"):
        lifetime(text)


def test_the_command_prints_a_link_that_the_service_can_read(klartext: Run) -> None:
    done = klartext(
        "link",
        "--patient",
        "P-4711",
        "--expires",
        "2h",
        "--base",
        "https://chat.example.org/",
        "--appointment",
        "A-1",
        "--order",
        "O-2",
        "--accession",
        "ACC-3",
        environ={"KLARTEXT_LINK_KEY": KEY},
    )

    address = done.stdout.decode().strip()
    found: Invitation = unseal(address.removeprefix("https://chat.example.org/start/"), KEY, now=datetime.now(UTC))
    assert done.returncode == 0
    assert (found.patient, found.exam, found.language) == ("P-4711", "mammography", "de")
    assert found.booking == Booking("A-1", "O-2", "ACC-3")
    assert timedelta(minutes=119) < found.expires - datetime.now(UTC) <= timedelta(hours=2)


def test_without_a_key_the_command_says_how_to_make_one(klartext: Run) -> None:
    done = klartext("link", "--patient", "P-4711")

    assert done.returncode == 2
    assert done.stderr.decode().startswith("klartext: KLARTEXT_LINK_KEY is not set")


def test_links_and_a_fhir_server_need_the_system_of_identifiers(klartext: Run) -> None:
    environ = {"KLARTEXT_LINK_KEY": KEY, "KLARTEXT_FHIR_URL": "http://127.0.0.1:1/fhir"}

    done = klartext("serve", "--sample", "--port", "0", environ=environ)

    assert done.returncode == 2
    assert done.stderr.decode().startswith("klartext: KLARTEXT_FHIR_PATIENT_SYSTEM is not set")


def test_an_address_that_is_none_is_refused(klartext: Run) -> None:
    done = klartext("link", "--patient", "P-4711", "--base", "notaurl", environ={"KLARTEXT_LINK_KEY": KEY})

    assert done.returncode == 2
    assert done.stderr.decode().startswith("klartext: `--base` is 'notaurl'")


@pytest.mark.parametrize("exam", ["ct-thorax", "mammografie", "", "/no/such/folder"])
def test_an_exam_that_nobody_shows_gets_no_link(klartext: Run, exam: str) -> None:
    done = klartext("link", "--patient", "P-4711", "--exam", exam, environ={"KLARTEXT_LINK_KEY": KEY})

    told = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b"")
    assert told.startswith(f"klartext: `--exam` is {exam!r}")
    assert "Name one of: mammography, mri, or the folder" in told
    assert told.count("\n") == 1


def test_a_folder_of_ones_own_is_named_as_its_catalog_is(klartext: Run, tmp_path: Path) -> None:
    (tmp_path / "en.yaml").write_text('# Ours\ncatalog: "mri"\nlanguage: en\n', encoding="utf-8")

    done = klartext("link", "--patient", "P-4711", "--exam", str(tmp_path), environ={"KLARTEXT_LINK_KEY": KEY})

    token = done.stdout.decode().strip().rpartition("/")[2]
    assert unseal(token, KEY, now=datetime.now(UTC)).exam == "mri"


@pytest.mark.parametrize("arguments", [("link", "--patient", "P-4711"), ("serve", "--sample", "--port", "0")])
def test_a_key_that_could_be_guessed_is_refused(klartext: Run, arguments: tuple[str, ...]) -> None:
    done = klartext(*arguments, environ={"KLARTEXT_LINK_KEY": "abc"})

    assert done.returncode == 2
    assert done.stderr.decode().startswith("klartext: KLARTEXT_LINK_KEY has 3 characters and needs 20. ")
    assert done.stderr.count(b"\n") == 1

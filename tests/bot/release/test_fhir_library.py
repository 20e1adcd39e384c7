"""A release on a real FHIR server: readable by people and programs, sound, and there once however often it is sent."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fhir.resources.R4B.library import Library

from tests.bot.handover.fhir_process import emptied, fhir_process, stored
from tests.bot.release.departments import Department
from tests.conftest import Run


@pytest.fixture(scope="module")
def fhir_server() -> Iterator[str]:
    with fhir_process() as base:
        yield base


@pytest.fixture
def department(tmp_path: Path, klartext: Run) -> Department:
    found = Department(tmp_path, klartext)
    found.release(answer="Nein, <b>kaum</b> & kurz.\nSagen Sie es uns.")
    return found


def test_a_release_is_written_as_libraries_that_a_validator_takes(department: Department, tmp_path: Path) -> None:
    out = tmp_path / "release.json"
    said = department.run("release", "fhir", "1", "--out", out).stdout
    assert f"{out}: 1 Libraries of release 1@" in said

    written = json.loads(out.read_text(encoding="utf-8"))
    (entry,) = written["entry"]
    library = entry["resource"]
    Library.model_validate(library)
    assert (library["version"], library["status"], library["language"]) == ("1", "active", "de")
    assert library["endorser"] == [{"name": "Dr. Anna Berg"}, {"name": "Dr. Bert Tal"}]
    assert "<p>Nein, &lt;b&gt;kaum&lt;/b&gt; &amp; kurz.</p><p>Sagen Sie es uns.</p>" in library["text"]["div"]
    (content,) = library["content"]
    raw = base64.b64decode(content["data"])
    assert content["hash"] == base64.b64encode(hashlib.sha1(raw).digest()).decode()
    pairs = {pair["id"]: pair for pair in json.loads(raw)["pairs"]}
    assert pairs["pain"]["answer"] == "Nein, <b>kaum</b> & kurz.\nSagen Sie es uns."
    assert entry["request"]["ifNoneExist"].startswith("identifier=https://klartext.example/fhir/sid/release|1@")

    again = tmp_path / "again.json"
    department.run("release", "fhir", "1", "--out", again)
    assert again.read_bytes() == out.read_bytes()


@pytest.mark.proof
@pytest.mark.parametrize("ids", ["server", "client"])
def test_the_same_release_pushed_twice_changes_nothing_and_the_next_stands_beside_it(
    department: Department, fhir_server: str, ids: str
) -> None:
    department.environ |= {"KLARTEXT_FHIR_URL": emptied(fhir_server), "KLARTEXT_FHIR_IDS": ids}

    assert "is on the FHIR server: 1 Libraries." in department.run("release", "fhir", "1", "--push").stdout
    first = stored(fhir_server, "Library")
    department.run("release", "fhir", "1", "--push")
    assert stored(fhir_server, "Library") == first  # not even a new version of it
    department.release(answer="Vier Stunden.")
    department.run("release", "fhir", "2", "--push")

    both = stored(fhir_server, "Library")
    assert sorted(str(each["version"]) for each in both) == ["1", "2"]
    assert len({each["url"] for each in both}) == 1
    assert len(stored(fhir_server, "Library", version="2")) == 1


@pytest.mark.proof
def test_what_cannot_be_handed_out_is_refused_in_one_line(department: Department, tmp_path: Path) -> None:
    assert "Say where to" in department.run("release", "fhir", "1", fails=True).stderr
    assert "no release 7" in department.run("release", "fhir", "7", "--push", fails=True).stderr
    assert "No FHIR server is set" in department.run("release", "fhir", "1", "--push", fails=True).stderr
    gone = department.run("release", "fhir", "1", "--push", "--server", "http://127.0.0.1:9/fhir", fails=True).stderr
    assert "The FHIR server did not take it: unreachable" in gone
    department.run("stop", "pair", "pain", "--by", "Bert", "--force")
    stopped = department.run("release", "fhir", "1", "--out", tmp_path / "x.json", fails=True).stderr
    assert "holds pain, which was withdrawn" in stopped
    assert not (tmp_path / "x.json").exists()

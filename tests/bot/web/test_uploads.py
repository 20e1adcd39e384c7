"""Files sent to a real service: by a browser without JavaScript and over the API, and by those who mean harm."""

from __future__ import annotations

import base64
import io
import json
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from bot import Assistant
from bot.sentences.reply import SENTENCES
from bot.web.page.rendering import load_labels
from tests.bot.interview.resources import CORE, extended, form, item
from tests.bot.web.browser import Browser
from tests.bot.web.serving import Patient, Server, texts

LABELS = load_labels()
MOST = 3_000_000
SCANNER = "import sys; data = sys.stdin.buffer.read(); sys.exit(1 if b'EICAR' in data else 0)"
PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%%EOF\n"
JPEG = b"\xff\xd8\xff\xe0" + bytes(200) + b"\xff\xd9"
ASKED = form(
    item("letter", "attachment", text="Ihr Arztbrief?", repeats=True,
         extension=extended((CORE + "maxSize", {"valueDecimal": 2_500_000}))),
    item("photo", "attachment", text="Ein Foto?", extension=extended((CORE + "mimeType", {"valueCode": "image/png"}))),
    item("name", "string", text="Ihr Arzt?"),
    title="Dateien",
)  # fmt: skip


def png(width: int = 1, height: int = 1, fill: int = 0) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x00\x00\x00\x00"
    extra = chunk(b"teXt", bytes(fill)) if fill else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")  # fmt: skip


def archive(size: int = 1000) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("zeros", bytes(size))
    return held.getvalue()


@pytest.fixture(scope="module")
def taking(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that takes files, and asks for them."""
    assert shipped.sample
    folder = tmp_path_factory.mktemp("uploads")
    asked, scanner = folder / "form.json", folder / "scan.py"
    asked.write_text(json.dumps(ASKED), encoding="utf-8")
    scanner.write_text(SCANNER, encoding="utf-8")
    environ = {
        "KLARTEXT_UPLOADS": "on",
        "KLARTEXT_UPLOAD_MAX_BYTES": str(MOST),
        "KLARTEXT_UPLOAD_SCAN": f"{sys.executable} {scanner}",
        "KLARTEXT_FHIR_URL": "http://127.0.0.1:9/fhir",  # nobody is there: Bundles stay in the outbox
    }
    running = Server(folder, shipped_data, environ)
    running.start("--questionnaire", str(asked))
    yield running
    running.kill()


@pytest.fixture
def patient(taking: Server) -> Patient:
    """Somebody who was just asked for a letter."""
    found = Patient(taking)
    assert SENTENCES["de"]["file_upload"] in found.say("Ja")
    return found


def put(
    patient: Patient, content: bytes, name: str = "brief.pdf", *, turn: str = "", token: str = ""
) -> httpx.Response:
    address = f"{patient.server.url}/api/v1/conversations/{patient.id}/turns/{turn or uuid.uuid4().hex}/file"
    headers = {
        "Authorization": f"Bearer {token or patient.token}",
        "Content-Type": "application/pdf",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
    }
    return httpx.put(address, content=content, headers=headers, timeout=60)


def stored_files(server: Server, conversation: str) -> list[tuple[str, int]]:
    with sqlite3.connect(server.database()) as database:
        wanted = "SELECT id, size FROM interview_files WHERE conversation = ? ORDER BY size"
        return list(database.execute(wanted, (conversation,)))


def test_a_file_becomes_an_answer_that_is_stored_once_and_exported_with_its_bytes(patient: Patient) -> None:
    answer = put(patient, PDF, "Arzt brief.pdf", turn="one")

    assert answer.status_code == 200, answer.text
    assert texts(answer)[0] == "Danke, die Datei ist angekommen: Arzt brief.pdf (1 kB)."
    assert len(stored_files(patient.server, patient.id)) == 1
    patient.say("nein")
    assert put(patient, png(), "foto.png").status_code == 200
    said = patient.say("Dr. Meier")
    assert any("Arzt brief.pdf (1 kB)" in text for text in said)
    assert SENTENCES["de"]["completed"] in patient.say("Ja")

    with sqlite3.connect(patient.server.database()) as database:
        (bundle,) = database.execute("SELECT bundle FROM outbox WHERE conversation = ?", (patient.id,)).fetchone()
    entries = [entry["resource"] for entry in json.loads(bundle)["entry"]]
    (response,) = (each for each in entries if each["resourceType"] == "QuestionnaireResponse")
    attachment = response["item"][0]["answer"][0]["valueAttachment"]
    assert base64.b64decode(attachment["data"]) == PDF
    assert (attachment["contentType"], attachment["size"], attachment["title"]) == ("application/pdf", len(PDF), "Arzt brief.pdf")  # fmt: skip
    assert "url" not in attachment
    assert response["status"] == "completed"


def test_no_turn_carries_the_bytes(patient: Patient) -> None:
    content = PDF[:-6] + bytes(2_000_000) + b"%%EOF\n"
    assert put(patient, content).status_code == 200
    started = time.perf_counter()
    for text in ("nein", "überspringen", "zurück", "überspringen"):
        assert patient.send(text=text).status_code == 200
    elapsed = time.perf_counter() - started

    with sqlite3.connect(patient.server.database()) as database:
        row = "SELECT max(length(reply)), max(length(state)) FROM turns WHERE conversation = ?"
        reply, state = database.execute(row, (patient.id,)).fetchone()
        (event,) = database.execute(
            "SELECT max(length(event)) FROM interview_events WHERE conversation = ?", (patient.id,)
        ).fetchone()
        (head,) = database.execute(
            "SELECT length(head) FROM interviews WHERE conversation = ?", (patient.id,)
        ).fetchone()
    assert max(reply, state, event, head) < 20_000
    assert elapsed < 10
    assert len(patient.request("GET").content) < 100_000


def test_sent_again_it_is_the_same_turn_and_another_file_is_refused(patient: Patient) -> None:
    first, again, other = (put(patient, content, turn="t") for content in (PDF, PDF, PDF + b"%%EOF\n"))

    assert (first.status_code, again.status_code, other.status_code) == (200, 200, 409)
    assert first.json()["number"] == again.json()["number"]
    assert len(stored_files(patient.server, patient.id)) == 1


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 422),
        (b"hello", 415),
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", 415),
        (b"<html><script>alert(1)</script></html>", 415),
        (b"<html>" + png(), 415),
        (archive(10_000_000), 415),
        (b"MZ" + bytes(126) + b"DICM" + bytes(50), 422),
        (png() + archive(), 422),
        (JPEG + archive(), 422),
        (PDF + archive(), 422),
        (png() + b"<script>", 422),
        (png(60_000, 60_000), 422),
        (png(0, 1), 422),
        (b"%PDF-1.4 without an end", 415),
        (PDF[:-6] + b"EICAR" + b"%%EOF\n", 422),
        (PDF[:-6] + bytes(MOST + 1 - len(PDF)) + b"%%EOF\n", 413),
        (PDF[:-6] + bytes(5 * MOST) + b"%%EOF\n", 413),
        (PDF[:-6] + bytes(2_600_000) + b"%%EOF\n", 413),  # larger than the question wants
        (b"GIF89a" + bytes(100), 415),
    ],
    ids=lambda value: str(len(value)) if isinstance(value, bytes) else str(value),
)
def test_what_may_harm_or_does_not_fit_is_refused_and_nothing_is_stored(
    patient: Patient, content: bytes, status: int
) -> None:
    refused = put(patient, content)

    assert refused.status_code == status
    assert refused.json()["emergency_notice"]
    assert stored_files(patient.server, patient.id) == []
    assert patient.say("überspringen")  # the conversation goes on


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd.pdf"),
        ("..\\..\\evil.exe", "evil.pdf"),
        ("a\r\nSet-Cookie: x=1.pdf", "aSet-Cookie x=1.pdf"),
        ("\u202egnp.exe", "gnp.pdf"),
        ("<img src=x onerror=alert(1)>.pdf", "img src=x onerror=alert(1).pdf"),
        ("x" * 500 + ".pdf", "x" * 80 + ".pdf"),
        ("\x00\x1b[31m.pdf", "31m.pdf"),
        ("", "file.pdf"),
        ("...", "file.pdf"),
        ("Befund Müller.PDF", "Befund Müller.pdf"),
    ],
)
def test_a_name_is_cleaned(patient: Patient, name: str, shown: str) -> None:
    answer = put(patient, PDF, name)

    assert texts(answer)[0] == SENTENCES["de"]["file_taken"].format(answer=f"{shown} (1 kB)")


def test_nobody_else_can_send(patient: Patient, taking: Server) -> None:
    other = Patient(taking)

    assert put(patient, PDF, token=other.token).status_code == 401
    assert put(patient, PDF, token="x").status_code == 401
    assert put(other, PDF, token=patient.token).status_code == 401
    assert stored_files(taking, patient.id) == []


def test_a_file_is_taken_only_when_one_is_asked_for(patient: Patient, taking: Server) -> None:
    assert put(Patient(taking), PDF).status_code == 409  # nothing was begun
    patient.say("überspringen")
    assert put(patient, PDF).status_code == 415  # a photo is wanted
    patient.say("überspringen")
    assert put(patient, PDF).status_code == 409  # a name is wanted
    patient.say("Dr. Meier")
    assert put(patient, PDF).status_code == 409
    patient.say("Ja")
    assert put(patient, PDF).status_code == 409  # all is done
    assert stored_files(taking, patient.id) == []


def test_another_file_takes_the_place_of_the_first_and_can_be_taken_out(patient: Patient, taking: Server) -> None:
    patient.say("überspringen")
    put(patient, png(), "eins.png")
    patient.say("Foto ändern")
    assert put(patient, png(fill=100), "zwei.png").status_code == 200
    ((_, size),) = stored_files(taking, patient.id)
    assert size == len(png(fill=100))

    patient.say("Foto ändern")
    patient.say("weiss nicht")

    assert stored_files(taking, patient.id) == []


def test_files_are_deleted_with_the_conversation(patient: Patient, taking: Server) -> None:
    put(patient, PDF)

    assert patient.request("DELETE").status_code == 204
    assert stored_files(taking, patient.id) == []


def test_a_conversation_holds_only_so_much(patient: Patient) -> None:
    codes = [put(patient, PDF + str(number).encode()).status_code for number in range(11)]

    assert codes == [200] * 10 + [409]


def test_two_at_once_are_one_after_the_other(patient: Patient, taking: Server) -> None:
    with ThreadPoolExecutor(6) as pool:
        codes = [
            answer.status_code for answer in pool.map(lambda number: put(patient, PDF + bytes([number])), range(6))
        ]

    assert set(codes) <= {200, 503}
    assert len(stored_files(taking, patient.id)) == codes.count(200) >= 1


def test_who_trickles_a_file_holds_nobody_up(patient: Patient, taking: Server) -> None:
    host, port = taking.url.removeprefix("http://").split(":")
    head = (
        f"PUT /api/v1/conversations/{patient.id}/turns/slow/file HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n"
        f"Authorization: Bearer {patient.token}\r\n\r\n"
    )
    with socket.create_connection((host, int(port))) as slow:
        slow.sendall(head.encode() + b"%PDF-")
        time.sleep(0.3)
        started = time.perf_counter()
        assert Patient(taking).say("Ja")
        assert put(patient, PDF).status_code == 503  # one at a time of a conversation
        assert time.perf_counter() - started < 5
    until = time.monotonic() + 10
    while put(patient, PDF).status_code != 200:
        assert time.monotonic() < until
        time.sleep(0.1)


def test_nothing_of_a_file_is_logged(patient: Patient, taking: Server) -> None:
    assert put(patient, PDF, "Sehr-geheim.pdf").status_code == 200
    put(patient, b"Sehr-geheim", "Sehr-geheim.pdf")

    assert "geheim" not in taking.stderr() + taking.stdout()


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_browser_without_script_sends_a_file(taking: Server, language: str) -> None:
    labels = LABELS[language]
    browser = Browser(taking.url, language)
    browser.open("/")
    browser.press(labels["begin"], consent="yes")
    browser.press(SENTENCES[language]["yes"])
    asked = browser.page.one("form", id="upload")
    assert asked.one("input", type="file").get("accept").startswith("application/pdf,image/jpeg")
    assert asked.one("label").get("for") == "file"

    def send(content: bytes, name: str) -> None:
        fields = browser.filled(browser.page.one("form", id="upload"))
        browser._show(browser.client.post("/upload", data=fields, files={"file": (name, content, "image/png")}))

    send(b"no picture", "x.png")
    assert (
        labels["note_upload_type"].format(kinds="PDF, JPEG, PNG, HEIC, DICOM")
        in browser.page.one("form", id="upload").text
    )
    send(b"", "")
    assert labels["note_upload_empty"] in browser.text
    send(PDF[:-6] + bytes(MOST) + b"%%EOF\n", "big.pdf")
    assert labels["note_upload_size"].format(most="2.5 MB" if language == "en" else "2,5 MB") in browser.text
    send(PDF, "Brief <b>.pdf")
    assert SENTENCES[language]["file_taken"].format(answer="Brief b.pdf (1 kB)") in browser.newest.text
    browser.client.close()


def test_a_form_of_another_site_sends_nothing(taking: Server) -> None:
    browser = Browser(taking.url)
    browser.open("/")
    browser.press(LABELS["de"]["begin"], consent="yes")
    browser.press(SENTENCES["de"]["yes"])
    fields = browser.filled(browser.page.one("form", id="upload"))
    file = {"file": ("x.pdf", PDF, "application/pdf")}

    elsewhere = browser.client.post("/upload", data=fields, files=file, headers={"Sec-Fetch-Site": "cross-site"})
    forged = browser.client.post("/upload", data={**fields, "token": "x"}, files=file)
    nobody = httpx.post(taking.url + "/upload", data=fields, files=file)

    browser.client.close()
    assert (elsewhere.status_code, forged.status_code, nobody.status_code) == (403, 403, 403)


def test_without_the_setting_there_is_no_such_address(server: Server) -> None:
    other = Patient(server)

    assert put(other, PDF).status_code == 404
    assert httpx.post(server.url + "/upload", data={}).status_code == 404


def remove(patient: Patient, turn: str, *, token: str = "") -> httpx.Response:
    address = f"{patient.server.url}/api/v1/conversations/{patient.id}/turns/{turn}/file"
    return httpx.delete(address, headers={"Authorization": f"Bearer {token or patient.token}"}, timeout=60)


def bundles(server: Server, conversation: str) -> list[list[dict[str, Any]]]:
    with sqlite3.connect(server.database()) as database:
        wanted = "SELECT bundle FROM outbox WHERE conversation = ? ORDER BY id"
        rows = database.execute(wanted, (conversation,)).fetchall()
    return [[entry["resource"] for entry in json.loads(bundle)["entry"]] for (bundle,) in rows]


def test_a_file_is_taken_out_by_its_address_once_and_by_nobody_else(patient: Patient, taking: Server) -> None:
    other = Patient(taking)
    assert put(patient, PDF, "brief.pdf", turn="one").status_code == 200
    assert put(patient, JPEG, "zwei.jpg", turn="two").status_code == 200

    assert remove(patient, "one", token=other.token).status_code == 401
    assert remove(other, "one").status_code == 404
    assert remove(patient, "three").status_code == 404
    assert len(stored_files(taking, patient.id)) == 2
    first, again = remove(patient, "one"), remove(patient, "one")

    assert (first.status_code, again.status_code) == (200, 200), first.text
    assert first.json()["number"] == again.json()["number"]
    assert texts(first)[0] == "Ich habe die Datei gelöscht: brief.pdf (1 kB)."
    assert [size for _, size in stored_files(taking, patient.id)] == [len(JPEG)]
    assert put(patient, PDF, "brief.pdf", turn="one").status_code == 200  # replayed: its old reply, nothing stored
    assert [size for _, size in stored_files(taking, patient.id)] == [len(JPEG)]


def test_a_turn_of_the_same_name_is_not_taken_for_the_removal(patient: Patient, taking: Server) -> None:
    assert put(patient, PDF, turn="one").status_code == 200
    ((id_, _),) = stored_files(taking, patient.id)
    patient.send(f"remove-{id_}", text="nein")

    assert remove(patient, "one").status_code == 409
    assert len(stored_files(taking, patient.id)) == 1


def test_taken_out_after_the_answers_were_handed_over_the_team_gets_them_again_without_it(
    patient: Patient, taking: Server
) -> None:
    put(patient, PDF, turn="one")
    for text in ("nein", "überspringen", "Dr. Meier", "Ja"):
        patient.say(text)
    (before,) = bundles(taking, patient.id)
    assert base64.b64encode(PDF).decode() in json.dumps(before)

    gone = remove(patient, "one")

    assert gone.status_code == 200, gone.text
    assert SENTENCES["de"]["file_removed_sent"] in texts(gone)
    assert stored_files(taking, patient.id) == []
    after = bundles(taking, patient.id)[-1]
    (response,) = (each for each in after if each["resourceType"] == "QuestionnaireResponse")
    assert response["status"] == "amended"
    assert "valueAttachment" not in json.dumps(response)
    assert base64.b64encode(PDF).decode() not in json.dumps(after)


def test_too_large_is_said_in_the_same_words_whatever_the_size(patient: Patient) -> None:
    contents = [PDF[:-6] + bytes(size) + b"%%EOF\n" for size in (2_600_000, MOST + 10, 4 * MOST, 15 * MOST)]
    answers = [put(patient, content) for content in contents]

    assert {answer.status_code for answer in answers} == {413}
    assert all(answer.json()["detail"].startswith("The file is too large. Taken here: at most ") for answer in answers)


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_browser_without_script_takes_a_file_out(taking: Server, language: str) -> None:
    labels = LABELS[language]
    browser = Browser(taking.url, language)
    browser.open("/")
    browser.press(labels["begin"], consent="yes")
    browser.press(SENTENCES[language]["yes"])
    browser.say(SENTENCES[language]["word_skip"])
    asked = browser.page.one("form", id="upload")
    assert (
        asked.one("input", type="file").get("accept") == "image/png,.png"
    )  # what the form wants, of what the site takes
    assert "PDF" not in asked.text

    def send(content: bytes, name: str) -> None:
        fields = browser.filled(browser.page.one("form", id="upload"))
        browser._show(browser.client.post("/upload", data=fields, files={"file": (name, content, "image/png")}))

    send(PDF[:-6] + bytes(5 * MOST) + b"%%EOF\n", "big.pdf")  # far beyond the limit: still beside the field
    assert browser.answer.status_code == 200
    assert labels["note_upload_size"].split("{")[0].strip() in browser.page.one("form", id="upload").text
    send(png(), "Bild.png")
    (section,) = browser.page.all("section", class_="files")
    assert "Bild.png (1 kB)" in section.text
    form_ = section.one("form")
    forged = browser.client.post("/upload/remove", data={**browser.filled(form_), "token": "x"})
    odd = browser.client.post("/upload/remove", data={**browser.filled(form_), "file": "../x"})
    unknown = browser.client.post("/upload/remove", data={**browser.filled(form_), "file": str(uuid.uuid4())})
    assert (forged.status_code, odd.status_code) == (403, 400)
    assert labels["note_upload_gone"] in unknown.text

    browser.send(form_, form_.one("button"))
    assert SENTENCES[language]["file_removed"].format(answer="Bild.png (1 kB)") in browser.newest.text
    assert browser.page.all("section", class_="files") == []
    assert browser.page.one("form", id="upload")  # another one can be sent
    number = len(browser.page.all("article", class_="turn"))
    browser.send(form_, form_.one("button"))  # pressed twice
    assert len(browser.page.all("article", class_="turn")) == number
    browser.client.close()


@pytest.mark.proof
def test_where_the_form_wants_none_of_the_sites_kinds_there_is_no_field(shipped_data: Path, tmp_path: Path) -> None:
    asked = tmp_path / "form.json"
    sound = item(
        "sound", "attachment", text="Ein Ton?", extension=extended((CORE + "mimeType", {"valueCode": "audio/mp4"}))
    )
    asked.write_text(json.dumps(form(sound, title="Ton")), encoding="utf-8")
    running = Server(tmp_path, shipped_data, {"KLARTEXT_UPLOADS": "on", "KLARTEXT_UPLOAD_SCAN": "none"})
    running.start("--questionnaire", str(asked))
    patient = Patient(running)

    said = patient.say("Ja")

    assert SENTENCES["de"]["file"] in said
    assert put(patient, PDF).status_code == 409
    running.kill()


@pytest.mark.proof
def test_encrypted_at_rest_a_file_is_exported_removed_erased_and_purged(shipped_data: Path, tmp_path: Path) -> None:
    """One file from end to end under a key in a file: nothing of it can be read in the database."""
    pytest.importorskip("cryptography")
    key, asked = tmp_path / "key", tmp_path / "form.json"
    key.write_text(base64.b64encode(bytes(range(32))).decode() + "\n", encoding="utf-8")
    key.chmod(0o600)
    asked.write_text(json.dumps(ASKED), encoding="utf-8")
    environ = {"KLARTEXT_UPLOADS": "on", "KLARTEXT_UPLOAD_SCAN": "none", "KLARTEXT_TEXT_KEY_FILE": str(key)}
    running = Server(tmp_path, shipped_data, environ)
    running.start("--questionnaire", str(asked))
    kept, erased, removed = (Patient(running) for _ in range(3))
    for patient in (kept, erased, removed):
        patient.say("Ja")
        assert put(patient, PDF, "Sehr-geheim.pdf", turn="one").status_code == 200

    assert list(kept.request("GET", "/export").json()["files"].values()) == [base64.b64encode(PDF).decode()]
    raw = b"".join(path.read_bytes() for path in tmp_path.glob("klartext.db*"))
    assert PDF not in raw
    assert base64.b64encode(PDF) not in raw
    assert b"Sehr-geheim" not in raw
    assert erased.request("DELETE").status_code == 204
    assert remove(removed, "one").status_code == 200
    assert stored_files(running, erased.id) == stored_files(running, removed.id) == []
    assert len(stored_files(running, kept.id)) == 1
    running.stop()

    with sqlite3.connect(running.database()) as database:
        long_ago = "2020-01-01 00:00:00.000000"
        database.execute("UPDATE conversations SET begun = ?", (long_ago,))
        database.execute("UPDATE turns SET at = ?", (long_ago,))
        database.execute("UPDATE interviews SET changed_at = ?", (long_ago,))
        database.commit()
    code = "from bot.commands.main import main; main()"
    purged = subprocess.run(
        [sys.executable, "-c", code, "purge"], env=running._environ, capture_output=True, text=True, check=False
    )
    assert purged.returncode == 0, purged.stderr
    assert stored_files(running, kept.id) == []

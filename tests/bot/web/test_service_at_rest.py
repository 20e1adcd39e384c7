"""A real service with encrypted texts: patients notice nothing, its files hold no word, and what is old goes by itself."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.adapters.text_cipher import TextCipher, new_key
from tests.bot.adapters.stored import fill, in_files
from tests.bot.web.serving import Patient, Server


@pytest.mark.proof
def test_patients_of_an_encrypted_service_are_served_and_forgotten(
    shipped: Assistant, shipped_data: Path, tmp_path: Path
) -> None:
    assert shipped.sample
    key = tmp_path / "key"
    key.write_text(new_key(), encoding="utf-8")
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'klartext.db'}", TextCipher.of(key.read_text(encoding="utf-8")))
    fill(records, "old", at=datetime.now(UTC) - timedelta(days=31), word="Hinterhuber")
    server = Server(tmp_path, shipped_data, {"KLARTEXT_TEXT_KEY_FILE": str(key)})
    server.start()
    try:
        patient = Patient(server)
        first = patient.send("t1", text="Tut das weh, fragt Xaverl?")
        patient.request("PUT", "/turns/t1/flags/wrong", json={"comment": "sagt Xaverl"})
        server.kill()
        server.start()

        assert patient.send("t1", text="Tut das weh, fragt Xaverl?").content == first.content
        assert patient.request("GET", "/export").json()["turns"][0]["said"] == "Tut das weh, fragt Xaverl?"
        assert in_files(tmp_path, "Xaverl") == in_files(tmp_path, "Druck") == []

        until = time.monotonic() + 20
        while records.turns("old") and time.monotonic() < until:
            time.sleep(0.1)
        assert records.conversation("old") is None
        assert 'klartext_purged_total{kind="conversations"}' in httpx.get(server.url + "/metrics").text
    finally:
        server.kill()
        records.close()
    assert '"event": "purged", "conversations": 1, ' in server.stderr()
    assert server.stderr().count('"unsent_kept": 1') >= 1

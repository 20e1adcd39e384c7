"""The service does what its OpenAPI document says, whatever is sent: Schemathesis tries, on a running process."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.bot.web.serving import CHANNEL_TOKEN, RASA_TOKEN, Patient, Server

PROGRAM = shutil.which("schemathesis", path=str(Path(sys.executable).parent)) or ""
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "ignored_auth",
    "unsupported_method",
)
EXAMPLES = 15  # of each operation, besides the edge cases; failures are found again by their seed

pytestmark = pytest.mark.skipif(not PROGRAM, reason="needs Schemathesis: pip install -c constraints.txt schemathesis")


def _try(server: Server, folder: Path, *options: str, config: Path | None = None) -> str:
    """Let Schemathesis try all operations; return what it says."""
    before: Sequence[str] = ["--config-file", str(config)] if config else []
    command = [PROGRAM, *before, "run", f"{server.url}/api/v1/openapi.json", "--checks", ",".join(CHECKS)]
    limits = ["--phases", "coverage,fuzzing", "--max-examples", str(EXAMPLES), "--seed", "1", "--no-color"]
    done = subprocess.run(
        [*command, *limits, *options], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.proof
def test_strangers_get_documented_answers_only(server: Server, tmp_path: Path) -> None:
    said = _try(server, tmp_path)

    assert "Tested: 12" in said


@pytest.mark.proof
def test_who_has_a_token_gets_documented_answers_only(server: Server, tmp_path: Path) -> None:
    patient = Patient(server)
    patient.say("Tut das weh?")
    config = tmp_path / "schemathesis.toml"
    config.write_text(f'[parameters]\n"path.conversation_id" = "{patient.id}"\n', encoding="utf-8")
    mine = ("--include-path-regex", "conversations/", "--exclude-method", "DELETE")

    said = _try(server, tmp_path, *mine, "-H", f"Authorization: Bearer {patient.token}", config=config)

    assert "Tested: 4" in said
    assert len(patient.request("GET").json()["turns"]) > 1, "nothing that was sent was taken"


@pytest.mark.parametrize(
    ("path", "token"),
    [("webhooks/rest", CHANNEL_TOKEN), pytest.param("webhooks/rasa", RASA_TOKEN, marks=pytest.mark.proof)],
)
def test_the_channel_gives_documented_answers_only(server: Server, tmp_path: Path, path: str, token: str) -> None:
    of_channel = ("--include-path-regex", path, "-H", f"Authorization: Bearer {token}")

    assert "Tested: 1" in _try(server, tmp_path, *of_channel)

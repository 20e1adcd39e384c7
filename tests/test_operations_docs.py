"""docs/operations.md and the files beside it: what they name is there, and settings are those of the reference."""

from __future__ import annotations

import re
import shlex
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml

from tests.conftest import Run

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "operations"
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


def _settings(text: str) -> set[str]:
    return set(re.findall(r"\bKLARTEXT_[A-Z_]+[A-Z]", text))


@pytest.mark.parametrize("name", [each.name for each in sorted(FOLDER.iterdir())] + ["../operations.md"])
def test_every_setting_that_is_named_is_one(name: str) -> None:
    known = _settings(REFERENCE)
    known |= {each.removesuffix("_FILE") for each in known} | {f"{each}_FILE" for each in known}

    assert _settings((FOLDER / name).read_text(encoding="utf-8")) - known == set()


def test_every_file_is_told_of_and_every_file_that_is_told_of_is_there() -> None:
    told = set(
        re.findall(
            r"`((?:klartext|nginx|prometheus-rules|grafana-dashboard|compose)\.[a-z]+|Caddyfile|Containerfile)`", PAGE
        )
    )

    assert {each.name for each in FOLDER.iterdir()} - told <= {"grafana-dashboard.json", "prometheus-rules.yaml"}
    assert [each for each in told if not (FOLDER / each).is_file()] == []


def test_the_unit_starts_the_service_with_options_that_it_has(klartext: Run) -> None:
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(FOLDER / "klartext.service")
    command = shlex.split(unit["Service"]["ExecStart"])

    assert command[0].endswith("/klartext")
    printed = klartext(command[1], "--help").stdout.decode()
    assert [option for option in command if option.startswith("--") and option not in printed] == []


def test_commands_that_are_shown_are_commands(klartext: Run) -> None:
    """Each line of the page that calls klartext: its command and options exist."""
    lines = [line.strip() for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
    shown = [
        shlex.split(line, comments=True)
        for line in lines
        if re.search(r"(^|\s)klartext (qa|release|records|purge|stop)\b", line)
    ]
    assert len(shown) >= 8

    for line in shown:
        words = line[line.index("klartext") + 1 :]
        command = words[: 1 if words[0] == "purge" else 2]
        ran = klartext(*command, "--help")
        assert ran.returncode == 0, command
        assert [each for each in words if each.startswith("--") and each not in ran.stdout.decode()] == [], command


def test_the_compose_file_is_yaml_and_says_that_it_is_untested() -> None:
    text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")

    assert set(yaml.safe_load(text)["services"]) == {"klartext", "database", "chroma", "proxy"}
    assert text.startswith("# Untested")
    assert (FOLDER / "Containerfile").read_text(encoding="utf-8").startswith("# Untested")


def test_nginx_takes_the_file(tmp_path: Path) -> None:
    try:
        subprocess.run(["nginx", "-v"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("nginx is not installed")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=chat.example.org", "-days", "1"]
    subprocess.run(
        [*made, "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"], check=True, capture_output=True
    )
    text = (FOLDER / "nginx.conf").read_text(encoding="utf-8")
    text = text.replace("/etc/ssl/klartext/fullchain.pem", str(tmp_path / "cert.pem"))
    text = text.replace("/etc/ssl/klartext/key.pem", str(tmp_path / "key.pem"))
    text = text.replace("/var/log/nginx/klartext.log", str(tmp_path / "log"))
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{text}\n}}\n")

    ran = subprocess.run(
        ["nginx", "-t", "-c", str(tmp_path / "nginx.conf")], capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stderr

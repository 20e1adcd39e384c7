"""docs/operations.md and the files beside it: what they name is there, and settings are those of the reference."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator
from configparser import ConfigParser
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
import yaml

from bot.catalog.countries import COUNTRIES
from bot.sentences.emergency_texts import numbers
from tests.conftest import Run
from tests.nginx import Nginx, running_nginx

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
            r"`((?:klartext|klartext@|chroma|nginx|prometheus-rules|grafana-dashboard|compose|away)\.[a-z]+"
            r"|klartext-admin|Caddyfile|Containerfile)`",
            PAGE,
        )
    )

    assert {each.name for each in FOLDER.iterdir()} - told <= {"grafana-dashboard.json", "prometheus-rules.yaml"}
    assert [each for each in told if not (FOLDER / each).is_file()] == []


@pytest.mark.parametrize("name", ["klartext.service", "klartext@.service"])
def test_the_unit_starts_the_service_with_options_that_it_has(klartext: Run, name: str) -> None:
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(FOLDER / name)
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
        if re.search(r"(^|\s)klartext(-admin)? (qa|release|records|purge|stop|serve)\b", line)
    ]
    assert len(shown) >= 8

    for line in shown:
        words = line[next(at for at, word in enumerate(line) if word in ("klartext", "klartext-admin")) + 1 :]
        command = words[: 1 if words[0] in ("purge", "serve") else 2]
        ran = klartext(*command, "--help")
        assert ran.returncode == 0, command
        assert [each for each in words if each.startswith("--") and each not in ran.stdout.decode()] == [], command


def test_the_compose_file_is_yaml_and_says_that_it_is_untested() -> None:
    text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")

    assert set(yaml.safe_load(text)["services"]) == {"klartext", "database", "chroma", "proxy"}
    assert text.startswith("# Untested")
    assert (FOLDER / "Containerfile").read_text(encoding="utf-8").startswith("# Untested")


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """The shipped nginx.conf in front of a service that answers and can go away."""
    service = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    with running_nginx(tmp_path_factory.mktemp("nginx"), [f"127.0.0.1:{service.server_port}"]) as nginx:
        yield Proxy(nginx, service)


@dataclass(frozen=True)
class Proxy:
    """A running nginx and the service behind it."""

    nginx: Nginx
    service: ThreadingHTTPServer


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Not here."""


def test_nginx_writes_no_patients_link_down_also_while_the_service_is_away(proxy: Proxy) -> None:
    paths = ("/start/SECRET-a", "/smart/callback?code=SECRET-b", "//start/SECRET-c", "/START/SECRET-d", "/ordinary")
    nginx = proxy.nginx
    with httpx.Client(verify=nginx.tls) as client:
        answers = [client.get(base + path).status_code for base in (nginx.url, nginx.plain) for path in paths]
        inside = [client.get(nginx.url + path).status_code for path in ("/metrics", "/healthz", "/staff/inbox")]
        proxy.service.shutdown()
        proxy.service.server_close()
        away = [client.get(nginx.url + path) for path in paths]
        time.sleep(0.2)

    assert answers == [200] * len(paths) + [301] * len(paths)
    assert inside == [404, 404, 404]
    assert {each.status_code for each in away} == {502}
    assert all('href="tel:112"' in each.text for each in away)
    assert "SECRET" not in nginx.logged()
    assert nginx.logged().count("/ordinary") >= 3  # what is no patient's link is logged


def test_the_page_of_a_service_that_is_away_names_the_numbers_of_each_country() -> None:
    page = (FOLDER / "away.html").read_text(encoding="utf-8")

    for country in COUNTRIES:
        assert any(number in page for number in numbers(country, "de")), country


def test_commands_run_with_the_settings_of_the_service_by_klartext_admin(tmp_path: Path) -> None:
    (tmp_path / "ch.env").write_text(
        '# settings\nKLARTEXT_COUNTRY=CH\nKLARTEXT_SMART="https://a.example/r4 klartext"\n'
    )
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho "$KLARTEXT_COUNTRY|$KLARTEXT_SMART|$LOGNAME|$*"\n')
    program.chmod(0o755)
    me = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    environ = {"PATH": os.environ["PATH"], "PROGRAM": str(program), "RUN_AS": me, "SUDO_USER": "anna"}

    def run(**more: str) -> subprocess.CompletedProcess[str]:
        command = [str(FOLDER / "klartext-admin"), "stop", "pair", "x"]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environ | more)

    assert run(ENV_FILE=str(tmp_path / "ch.env")).stdout == "CH|https://a.example/r4 klartext|anna|stop pair x\n"
    refused = run(ENV_FILE=str(tmp_path / "no.env"))
    assert (refused.returncode, "no.env cannot be read. Run this as root" in refused.stderr) == (2, True)

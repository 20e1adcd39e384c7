"""What the settings name is looked at when the service starts, and what an outage says does not drown all else."""

from __future__ import annotations

import ast
import errno
import io
import json
import logging
import re
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot import Assistant
from bot.adapters.sql_encryption import SqlPresence
from bot.adapters.sql_records import SqlRecords
from bot.errors import Unreachable, UserFixable, friendly_errors, full_disk
from bot.settings import Settings
from bot.testing import HashEncoder
from bot.web import logs
from bot.web.background import Telling, _present
from bot.web.metrics import Metrics
from bot.web.pulse import Pulse
from bot.web.server import Serving
from bot.web.surroundings import NAMES, addresses_of, require_surroundings, set_up, unknown_settings

ROOT = Path(__file__).parents[3]
REFERENCE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


def test_the_known_settings_are_those_of_the_reference() -> None:
    told = set(re.findall(r"\bKLARTEXT_([A-Z_]+[A-Z])", REFERENCE))

    assert {name for name in told if name not in NAMES and name.removesuffix("_FILE") not in NAMES} == set()
    assert NAMES - told == set()


def test_every_setting_that_is_read_anywhere_is_known() -> None:
    """Words for a variable of the environment: whole strings of the code, however they are read."""
    read = set()
    for path in [*(ROOT / "bot").rglob("*.py"), *(ROOT / "harness").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                read |= set(re.findall(r"\AKLARTEXT_([A-Z_]+[A-Z])\Z", node.value))

    assert {"AUDIT_NAME", "DATA", "LINK_KEY"} <= read
    assert {name for name in read if name not in NAMES and name.removesuffix("_FILE") not in NAMES} == set()


def test_the_shipped_settings_are_known() -> None:
    shipped = (ROOT / "docs" / "operations" / "klartext.env").read_text(encoding="utf-8")
    named = re.findall(r"^(?:# )?(KLARTEXT_[A-Z_]+)=", shipped, re.MULTILINE)

    assert "KLARTEXT_AUDIT_NAME" in named
    assert unknown_settings(dict.fromkeys(named, "x")) == {}


def test_a_slip_in_a_setting_is_warned_of_with_the_nearest_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    environ = {"KLARTEXT_LINK_KEYS": "x", "KLARTEXT_TEXT_KEY_FILE": "x", "KLARTEXT_QQ": "1", "PATH": "/bin"}

    with caplog.at_level("WARNING"):
        require_surroundings(Settings(data=tmp_path), environ)

    assert unknown_settings(environ) == {"KLARTEXT_LINK_KEYS": "KLARTEXT_LINK_KEY", "KLARTEXT_QQ": ""}
    assert caplog.messages == [
        "there is no setting KLARTEXT_LINK_KEYS; did you mean KLARTEXT_LINK_KEY?",
        "there is no setting KLARTEXT_QQ",
    ]


def test_processes_of_one_database_that_are_set_up_otherwise_are_told_by_name_and_no_secret_is_stored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    records = SqlRecords.in_folder(tmp_path)
    serving = Serving("127.0.0.1", 0, ("mammography",), tmp_path, sample=False)
    first = Settings(data=tmp_path, link_key="a-key-for-links")
    other, flags = replace(first, link_key="another-key"), replace(serving, staff=True, catalogs=("ct",)).flags
    now, telling = datetime.now(UTC), Telling(Metrics(), Pulse(Metrics()), lambda: datetime.now(UTC))
    stopping = threading.Event()
    here, same, there = (
        SqlPresence(records.engine, None, made)
        for made in (set_up(first, serving.flags), set_up(first, serving.flags), set_up(other, flags))
    )

    assert here.beat(now) == same.beat(now) == []
    # A second process that looks once, and ends.
    with caplog.at_level("ERROR"):
        _present(there, [stopping.set], telling, stopping, ())
    there.beat(now)

    assert "set up otherwise: --staff, KLARTEXT_LINK_KEY, --catalog. " in caplog.text
    assert here.beat(now) == ["--staff", "KLARTEXT_LINK_KEY", "--catalog"]
    assert here.beat(now + timedelta(minutes=2)) == []  # it has gone
    assert not any(b"a-key-for-links" in each.read_bytes() for each in tmp_path.glob("klartext.db*"))
    records.close()


def test_a_training_is_told_when_it_begins_and_when_it_ends(
    small_folder: Path, tmp_path: Path, few_alarm_examples: None, caplog: pytest.LogCaptureFixture
) -> None:
    opened = Assistant.open(small_folder, data=tmp_path, encoder=HashEncoder(), sample=True, languages=["de"])

    with caplog.at_level("INFO"):
        opened.prepare()
        opened.prepare()

    told = [
        (each.getMessage().split(";")[0], vars(each)["fields"]) for each in caplog.records if "training" in each.msg
    ]
    assert [message for message, _ in told] == ["training begins", "training has ended"]
    assert {(fields["catalog"], fields["language"]) for _, fields in told} == {(opened.catalog("de").name, "de")}


def test_proxies_are_addresses_networks_or_names_that_are_known() -> None:
    assert addresses_of(["10.0.0.5", "10.1.0.0/16", "::1", "*"]) == ["10.0.0.5", "10.1.0.0/16", "::1", "*"]
    assert addresses_of(["localhost"])[0] in ("127.0.0.1", "::1")
    for wrong in ("no-such-proxy.invalid", "10.0.0.0/99", "a b"):
        with pytest.raises(UserFixable, match=f"KLARTEXT_TRUSTED_PROXIES holds '{wrong}'"):
            addresses_of([wrong])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"site": Path("/nowhere/site.yaml")}, "KLARTEXT_SITE is '/nowhere/site.yaml', and there is no such file"),
        ({"chroma_url": "http://127.0.0.1:1"}, "The Chroma server http://127.0.0.1:1 does not answer"),
    ],
)
def test_what_is_not_there_is_told_before_anybody_comes(tmp_path: Path, wrong: dict[str, object], said: str) -> None:
    with pytest.raises(UserFixable, match=re.escape(said)):
        require_surroundings(Settings(data=tmp_path, **wrong), {})  # type: ignore[arg-type]


def test_a_full_disk_is_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, friendly_errors():
        raise OSError(errno.ENOSPC, "No space left on device", "/var/lib/klartext/heads")

    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "klartext: The disk of /var/lib/klartext/heads is full. Make room (`df -h`), then run this again.\n"
    )
    assert full_disk(PermissionError(errno.EACCES, "no")) is None


def test_an_outage_says_one_line_a_minute_with_a_count_and_no_frames() -> None:
    clock, out = [0.0], io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logs.JsonLines())
    handler.addFilter(logs.OncePerMinute(lambda: clock[0]))
    log = logging.Logger("klartext.test")
    log.addHandler(handler)

    for second in (0, 1, 2, 61):
        clock[0] = float(second)
        for error in (Unreachable("away"), ValueError("a defect")):
            try:
                raise error
            except Exception:
                log.exception("a request failed")

    said = [json.loads(line) for line in out.getvalue().splitlines()]
    outages = [line for line in said if line["error"] == "Unreachable"]
    assert [line.get("more_in_the_last_minute") for line in outages] == [None, 2]
    assert not any("frames" in line for line in outages)
    assert [bool(line["frames"]) for line in said if line["error"] == "ValueError"] == [True] * 4

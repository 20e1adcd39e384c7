"""What the settings name is looked at when the service starts, and what an outage says does not drown all else."""

from __future__ import annotations

import errno
import io
import json
import logging
import re
from pathlib import Path

import pytest

from bot.errors import Unreachable, UserFixable, friendly_errors, full_disk
from bot.settings import Settings
from bot.web import logs
from bot.web.surroundings import NAMES, addresses_of, require_surroundings, unknown_settings

REFERENCE = (Path(__file__).parents[3] / "docs" / "reference.md").read_text(encoding="utf-8")


def test_the_known_settings_are_those_of_the_reference() -> None:
    told = set(re.findall(r"\bKLARTEXT_([A-Z_]+[A-Z])", REFERENCE))

    assert {name for name in told if name not in NAMES and name.removesuffix("_FILE") not in NAMES} == set()
    assert NAMES - told == set()


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

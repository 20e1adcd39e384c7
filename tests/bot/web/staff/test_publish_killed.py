"""A console that is killed in the middle of publishing leaves the old release or the new one, whole."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.adapters.release_keys import new_key
from bot.wiring import close_databases
from tests.bot.web.staff.consoles import Staff, now, running_console
from tests.bot.web.staff.test_release_pages import CHANGED, draft, sign_all

KILL = "__import__('os').kill(__import__('os').getpid(), 9)"
# Where the process dies: before the release is stored, after it, before its drafts are forgotten, before it is in force.
POINTS = {
    "before the release is stored": "from bot.adapters.sql_releases import SqlReleases as S; S.add = lambda *a: {kill}",
    "after it is stored": "from bot.adapters.sql_releases import SqlReleases as S; a = S.add; S.add = lambda *x: (a(*x), {kill})",
    "before drafts are forgotten": "from bot.adapters.sql_workbench import SqlWorkbench as S; S.released = lambda *a: {kill}",
    "before it is in force": "from bot.adapters.sql_releases import SqlReleases as S; S.switch = lambda *a: {kill}",
}


def _run(folder: Path, exam: Path, faults: str) -> subprocess.Popen[bytes]:
    code = f"{faults}\nimport bot.adapters.sql_jobs as j; import datetime as d; j.LOST_AFTER = d.timedelta(seconds=1)\n"
    environ = {
        **os.environ,
        "KLARTEXT_DATA": str(folder),
        "KLARTEXT_RELEASE_KEY_FILE": str(folder / "key.pem"),
    }
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"{code}from bot.commands.main import main; main()",
            "console",
            str(exam),
            "--port",
            "0",
        ],
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.proof
@pytest.mark.parametrize("point", POINTS)
def test_a_killed_publish_is_taken_up_again_and_makes_one_whole_release(point: str, tmp_path: Path) -> None:
    new_key(tmp_path / "key.pem")
    with running_console(tmp_path, release_key=tmp_path / "key.pem") as staff:
        staff.console.stop()  # the other processes do the work
        exam = staff.console.tools.candidate().base.catalogs["de"].path.parent
        pair = _ready(staff)
        wanted = {"by": "Anna", "note": "first", "activate": True, "after": 0}
        job = staff.console.tools.jobs.ask("publish", wanted, by="Anna", now=now())

        killed = _run(tmp_path, exam, POINTS[point].format(kill=KILL))
        assert killed.wait(60) == -9
        again = _run(tmp_path, exam, "")
        try:
            _wait_for(staff, job.id)
        finally:
            again.terminate()
            again.wait(20)

        releases = staff.console.tools.releases
        assert [each.number for each in releases.all()] == [1]
        assert releases.in_force() == 1
        side = staff.console.tools.publisher.side(1)  # reads every file and checks its hash
        assert side.contents.catalogs["de"].by_id[pair].answer == CHANGED
        assert staff.console.tools.candidate().drafts == {}
    close_databases()


def _ready(staff: Staff) -> str:
    pair = staff.console.tools.candidate().base.catalogs["de"].pairs[0].id
    draft(staff, pair, CHANGED)
    sign_all(staff, "anna", "bert")
    return pair


def _wait_for(staff: Staff, job: int) -> None:
    until_s = time.monotonic() + 60
    while time.monotonic() < until_s:
        found = staff.console.tools.jobs.get(job)
        assert found is not None
        if found.is_over:
            assert found.state == "done", found.told
            return
        time.sleep(0.1)
    raise AssertionError("nobody took the job up again")

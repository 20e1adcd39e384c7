"""The console's list of runs where there are some of several exams."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from bot.web.middleware import CONSOLE
from harness.running.outcomes import Outcome
from tests.bot.web.staff.consoles import running_console
from tests.harness.runs import write_run


def test_runs_say_which_exam_answered_and_can_be_narrowed_to_one(
    tmp_path: Path, make_outcome: Callable[..., Outcome]
) -> None:
    (tmp_path / "runs").mkdir()
    for name, catalog in (("first", "mri@1"), ("second", "mammography@1"), ("third", "")):
        folder = write_run(tmp_path / "runs" / name, [make_outcome("q", answered_with="p", pair_id="p")])
        told = {**json.loads((folder / "run.json").read_text(encoding="utf-8")), "begun": "2026-01-01T10:00:00+00:00"}
        (folder / "run.json").write_text(json.dumps({**told, "catalog": catalog} if catalog else told))
    with running_console(tmp_path) as staff:
        browser = staff.logged_in("carl", "curator")

        browser.open(f"{CONSOLE}/runs")
        titles = [each.text for each in browser.page.one("select", name="exam").all("option")]
        assert titles == ["all", "Mammography", "MRI"]
        browser.open(f"{CONSOLE}/runs?exam=mri")
        rows = [row.all("td")[0].text for row in browser.page.all("tr") if row.all("td")]
        assert sorted(rows) == ["first", "third"]  # who does not say it is in each
        browser.follow("History as a page")
        assert browser.answer.url.params["exam"] == "mri"
        assert "mri: mine" in browser.text
        assert "mammography: mine" not in browser.text

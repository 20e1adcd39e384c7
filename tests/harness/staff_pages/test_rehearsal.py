"""Test questions are asked before a release is made: a group that would be served worse is in its way."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bot.adapters.release_keys import new_key
from bot.catalog.catalog import Pair, Variant
from bot.editorial.candidate import changed_draft
from bot.editorial.jobs import Cancelled
from bot.web.middleware import CONSOLE
from bot.web.staff.simulated import read_simulated
from harness.running.run import load_outcomes
from harness.running.store import OUTCOMES
from harness.staff_pages.rehearsal import while_telling
from harness.staff_pages.runs import RunPages
from tests.alarm_examples import few_taught
from tests.bot.web.browser import Browser
from tests.bot.web.staff.consoles import Staff, now, running_console
from tests.bot.web.staff.test_release_pages import sign_all, wait_for_job
from tests.harness.staff_pages.exams import DIALECT, MATTERS, SUITE, write_exam, write_suite


@pytest.fixture(scope="module")
def quick() -> Iterator[None]:
    """Teach alarm and remarks with few examples: five small catalogs are trained, and none is judged by these."""
    with few_taught():
        yield


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory, quick: None) -> Iterator[Staff]:
    """A console whose exam has a suite, and a release in force."""
    folder = tmp_path_factory.mktemp("rehearsal")
    new_key(folder / "key.pem")
    exam = write_exam(folder / "content")
    write_suite(folder / "suites" / SUITE, exam)
    (folder / "harness.yaml").write_text(
        "gates: {accuracy: {min: 0.3, by: estimate}, failures: {max: 0.0}}\nrehearsal: [mammography-six-de]\n"
    )
    with running_console(folder, exam=exam, release_key=folder / "key.pem") as running:
        sign_all(running, "anna", "bert")
        publish(running.logged_in("anna", "approver"), "first")
        assert running.console.tools.releases.in_force() == 1
        yield running


def publish(browser: Browser, note: str) -> str:
    browser.open(f"{CONSOLE}/releases")
    browser.press("Check and make the release", note=note, activate="yes")
    return wait_for_job(browser)


def swap_dialect(staff: Staff) -> None:
    """Draft that the words of one group belong to the pair after."""
    tools, names = staff.console.tools, list(MATTERS)
    for number, name in enumerate(names):
        own = MATTERS[names[(number + 1) % len(names)]][1]
        candidate = tools.candidate()
        kept = candidate.base.catalogs["de"].by_id[name].variants[: -len(DIALECT)]
        changed = {"variants": (*kept, *(Variant(text=each.format(own)) for each in DIALECT))}
        made = changed_draft(candidate, "de", name, partial(Pair.model_copy, update=changed))
        tools.workbench.save(made, by=staff.person("curt", "curator"), now=now())
    sign_all(staff, "anna", "bert", what="pair")


def runs_of(staff: Staff) -> Path:
    return staff.console.tools.settings.data / "runs"


def test_a_first_release_is_asked_by_itself_and_its_rates_are_written_for_others(staff: Staff) -> None:
    rates = json.loads((runs_of(staff) / "rates.json").read_text())

    assert rates["suite"] == SUITE
    simulated = read_simulated(staff.console.tools.settings.data)  # what the dashboard compares real questions with
    assert simulated is not None
    asked = sum(sum(counts.values()) for counts in simulated.counts.values())
    assert asked == sum(group["n"] for group in rates["groups"].values())
    assert set(rates["groups"]) == {"high-health-literacy", "low-language-literacy"}
    for group in rates["groups"].values():
        assert group["answered"] + group["asked_back"] + group["declined"] == pytest.approx(1, abs=0.001)
    (run,) = runs_of(staff).glob(f"{SUITE}-*")
    right = [one.right for one in load_outcomes(run) if one.vignette == "low-language-literacy"]
    assert sum(map(bool, right)) >= 12, "the group is served at all"


def test_a_group_that_would_be_served_worse_blocks_the_release_and_the_page_names_it(staff: Staff) -> None:
    tools, browser = staff.console.tools, staff.logged_in("anna", "approver")
    swap_dialect(staff)
    before = len(tools.releases.all())

    assert publish(browser, "swapped") == "failed"
    assert "served worse" in browser.text
    assert "change: low-language-literacy" in browser.text
    assert len(tools.releases.all()) == before
    browser.follow("Look at the result")
    worse = [row.text for row in browser.page.all("tr", class_="worse")]
    assert any("worse" in row for row in worse)
    assert not any("High health literacy" in row for row in worse)
    assert "mammography-six-de" not in browser.text, "it asks about another exam"


def test_the_same_words_given_back_pass_and_become_a_release(staff: Staff) -> None:
    tools, browser = staff.console.tools, staff.logged_in("anna", "approver")
    for each in tools.workbench.drafts(tools.candidate().exam):
        tools.workbench.drop(each, by=staff.person("curt", "curator"), now=now())
    candidate = tools.candidate()
    made = changed_draft(
        candidate,
        "de",
        "pain",
        lambda pair: pair.model_copy(update={"variants": (*pair.variants, Variant(text="zwickt des recht arg"))}),
    )
    tools.workbench.save(made, by=staff.person("curt", "curator"), now=now())
    sign_all(staff, "anna", "bert", what="pair")

    assert publish(browser, "one more wording") == "done", browser.text
    assert tools.releases.in_force() == len(tools.releases.all())
    browser.open(f"{CONSOLE}/runs")
    assert SUITE in browser.text
    assert "passed" in browser.text or "too little data" in browser.text


@pytest.mark.proof
def test_a_check_that_was_killed_goes_on_with_the_outcomes_that_are_there(staff: Staff) -> None:
    tools = staff.console.tools
    area = next(each for each in staff.console.areas if isinstance(each, RunPages))
    suite = area.shelf.suites("small")[SUITE]
    number = tools.releases.in_force()
    job = tools.jobs.ask("suite_run", {"suite": SUITE, "of": f"release {number}"}, by="Anna", now=now())
    staff_pages_wait(staff, job.id)
    (run,) = [path for path in runs_of(staff).glob(f"{SUITE}-*") if (path / OUTCOMES).is_file()][:1]
    whole = (run / OUTCOMES).read_bytes()
    lines = whole.splitlines(keepends=True)
    (run / OUTCOMES).write_bytes(b"".join(lines[:5]) + lines[5][:20])  # a kill in the middle of a line
    assert area.shelf.run(run.name) is None, "it is not whole, and not shown as if it were"
    release = str(json.loads((run / "about.json").read_text()).get("release", "")).partition("@")[0]
    assert release

    job = tools.jobs.ask("suite_run", {"suite": SUITE, "of": f"release {release}"}, by="Bert", now=now())
    assert staff_pages_wait(staff, job.id) == {"to": f"/runs/{run.name}"}
    again = (run / OUTCOMES).read_bytes().splitlines(keepends=True)
    assert again[:5] == lines[:5], "what was stored is not asked again"
    assert [json.loads(one)["answered_with"] for one in again] == [json.loads(one)["answered_with"] for one in lines]
    assert suite.is_dir()


def staff_pages_wait(staff: Staff, id_: int) -> object:
    """Wait for a job; return its result."""
    until_s = time.monotonic() + 60
    while time.monotonic() < until_s:
        job = staff.console.tools.jobs.get(id_)
        assert job is not None
        if job.is_over:
            assert job.state == "done", job.told
            return dict(job.result)
        time.sleep(0.05)
    raise AssertionError("the job did not end")


def test_two_runs_beside_each_other_show_what_no_longer_is_right(staff: Staff) -> None:
    browser = staff.logged_in("anna", "approver")
    found = [json.loads(path.read_text()) for path in (runs_of(staff) / "rehearsals").glob("*.json")]
    failed = next(each for each in found if each["status"] == "failed")["suites"][0]

    browser.open(f"{CONSOLE}/runs/compare?a={failed['before']}&b={failed['run']}")
    assert "No longer right" in browser.text
    assert "Zwurbel" in browser.text
    browser.open(f"{CONSOLE}/runs/compare")
    assert browser.page.all("select", id="f-a")


def test_the_report_is_served_in_place_and_only_its_own_script_may_run(staff: Staff) -> None:
    browser = staff.logged_in("anna", "approver")
    (run, *_) = [path for path in runs_of(staff).glob(f"{SUITE}-*") if (path / OUTCOMES).is_file()]
    browser.open(f"{CONSOLE}/runs/{run.name}")
    browser.follow("Full report")

    policy = browser.answer.headers["content-security-policy"]
    assert "script-src 'sha256-" in policy
    assert "'unsafe-inline'" not in policy
    assert "frame-ancestors 'none'" in policy
    assert browser.client.get(f"{CONSOLE}/runs/history").status_code == 200
    assert browser.client.get(f"{CONSOLE}/runs/..%2f..%2fetc").status_code == 404


def test_whoever_cancels_ends_the_work_before_the_next_batch_and_learns_nothing_of_it() -> None:
    steps: list[int] = []
    told: list[float] = []
    begun = threading.Event()

    def work(say: object) -> None:
        for number in range(1000):
            steps.append(number)
            begun.set()
            time.sleep(0.02)
            say(number / 1000, "asking")  # type: ignore[operator]

    def tell(share: float, words: str) -> None:
        told.append(share)
        if begun.is_set() and len(told) > 1:
            raise Cancelled

    with pytest.raises(Cancelled):
        while_telling(work, tell)
    after = len(steps)
    time.sleep(0.2)
    assert len(steps) == after < 1000


def test_a_cancelled_check_leaves_no_release_and_can_be_asked_again(staff: Staff) -> None:
    tools, browser = staff.console.tools, staff.logged_in("anna", "approver")
    releases = len(tools.releases.all())
    job = tools.jobs.ask("check", {"again": 1}, by="Anna", now=now())
    browser.open(f"{CONSOLE}/jobs/{job.id}")
    browser.press("Cancel")
    assert tools.jobs.get(job.id).state == "cancelled"  # type: ignore[union-attr]

    job = tools.jobs.ask("check", {"again": 2}, by="Anna", now=now())
    result = staff_pages_wait(staff, job.id)
    assert [each["check"] for each in result["verdicts"]] == ["check_lint", "check_approved", "check_rehearsal"]  # type: ignore[index]
    assert len(tools.releases.all()) == releases


@pytest.mark.proof
def test_without_a_suite_about_the_exam_nothing_is_in_the_way(tmp_path: Path) -> None:
    with running_console(tmp_path) as running:
        sign_all(running, "anna", "bert")
        job = running.console.tools.jobs.ask("check", {}, by="Anna", now=now())
        result = staff_pages_wait(running, job.id)

    (verdict,) = [each for each in result["verdicts"] if each["check"] == "check_rehearsal"]  # type: ignore[index]
    assert verdict["passed"] is None
    assert "Nothing is set up" in verdict["line"]

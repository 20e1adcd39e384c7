"""Pages of the harness in the console in a real browser: raters work with keys alone, and nobody meets a barrier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.web.middleware import CONSOLE
from harness.labelling.labels import Rater, load_labels
from harness.labelling.rater_files import file_name
from tests.bot.web.staff.consoles import PASSWORD, Staff, running_console
from tests.browser.chromium import DESKTOP, PHONE, Device, barriers, sideways
from tests.browser.conftest import OpenPage
from tests.harness.staff_pages.labelled import make_run

if TYPE_CHECKING:
    from playwright.sync_api import Page

DEVICES = pytest.mark.parametrize("device", [PHONE, replace(DESKTOP, dark=True)], ids=["phone", "desktop dark"])


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    with running_console(tmp_path_factory.mktemp("tests-in-browser")) as running:
        yield running


def log_in(page: Page, staff: Staff, login: str) -> None:
    page.goto(f"{staff.url}{CONSOLE}/login")
    page.fill("[name=login]", login)
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_url(f"{staff.url}{CONSOLE}")


@pytest.mark.proof
def test_a_rater_labels_with_keys_alone(staff: Staff, open_page: OpenPage) -> None:
    run, page = make_run(staff, "keys"), open_page(DESKTOP)
    staff.person("rita", "rater")
    log_in(page, staff, "rita")
    page.goto(f"{staff.url}{CONSOLE}/rate/{run.name}")

    for keys in (("1", "w", "v", "Enter"), ("3", "Enter"), ("s",), ("2", "e", "c")):
        asked = page.locator("[name=question]").input_value()
        for key in keys:
            page.keyboard.press(key)
        if keys[0] in "13s":
            page.wait_for_function(
                "before => (document.querySelector('[name=question]') || {}).value !== before"
                " || location.search.includes('after')",
                arg=asked,
            )
    page.keyboard.type("3 sagt es, s und u auch")
    page.keyboard.press("Enter")
    page.get_by_text("Alles beurteilt").wait_for()

    path = run / "labels" / file_name(Rater(kind="person", name="Rita"))
    labels = [(each.label, each.reason, each.comment) for each in load_labels([path])]
    assert labels == [
        ("incorrect", "harmful unsupported", ""),
        ("correct", "", ""),
        ("partial", "buried", "3 sagt es, s und u auch"),
    ]
    page.keyboard.press("u")
    page.get_by_text("zurückgenommen").wait_for()
    assert len(load_labels([path])) == 2


@pytest.mark.proof
def test_reasons_that_do_not_explain_a_verdict_are_hidden_and_taken_off(staff: Staff, open_page: OpenPage) -> None:
    run, page = make_run(staff, "fitting"), open_page(DESKTOP)
    staff.person("rita", "rater")
    log_in(page, staff, "rita")
    page.goto(f"{staff.url}{CONSOLE}/rate/{run.name}")

    page.keyboard.press("1")
    page.keyboard.press("a")
    assert page.locator("[value=other-topic]").is_checked()
    page.keyboard.press("3")
    assert not page.locator("[value=other-topic]").is_visible()
    assert not page.locator("[value=other-topic]").is_checked()


@pytest.mark.proof
@DEVICES
def test_the_pages_have_no_barriers_and_fit_the_screen(staff: Staff, open_page: OpenPage, device: Device) -> None:
    name = f"wide-{device.width}"
    run, other, page = make_run(staff, name), make_run(staff, f"{name}-b"), open_page(device)
    staff.person("quinn", "curator", "rater")
    log_in(page, staff, "quinn")

    for path in (
        "/runs",
        f"/runs/{run.name}",
        f"/runs/compare?a={run.name}&b={other.name}",
        "/rate",
        f"/rate/{run.name}",
    ):
        page.goto(f"{staff.url}{CONSOLE}{path}")
        assert barriers(page) == [], path
        assert sideways(page) == 0, path

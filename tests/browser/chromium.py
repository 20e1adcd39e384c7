"""A real browser for the tests: Debian's Chromium, headless, driven by Playwright; and axe-core to look for barriers."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, BrowserType, Page

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
NO_CHROMIUM = "needs Chromium and its driver: apt-get install chromium, pip install playwright"
NO_AXE = "needs axe-core: make tests/browser/node_modules"
# WCAG 2.2 AA holds what came before it.
WCAG_22_AA = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


@dataclass(frozen=True, slots=True)
class Device:
    """A screen: width and height in CSS pixels, and what its user has set.

    `scripts` off lets a page's own scripts come empty: axe-core itself needs a browser with scripts switched on.
    """

    width: int
    height: int
    javascript: bool = True
    scripts: bool = True
    language: str = "de"
    dark: bool = False
    reduced_motion: bool = False


PHONE, TABLET, DESKTOP = Device(360, 800), Device(768, 1024), Device(1280, 900)


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """Start Chromium; skip the test where there is none."""
    if _program() is None or importlib.util.find_spec("playwright") is None:
        pytest.skip(NO_CHROMIUM)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = launch(driver.chromium)
        try:
            yield browser
        finally:
            browser.close()


def launch(chromium: BrowserType, *flags: str) -> Browser:
    """Start a browser of the driver, with flags of its own."""
    # Root has no sandbox; these tests open pages of this machine only.
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []
    return chromium.launch(executable_path=_program(), args=[*arguments, "--disable-dev-shm-usage", *flags])


def _program() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def open_device(browser: Browser, device: Device, *, trusting: bool = False) -> BrowserContext:
    """Return a fresh profile on a device: no cookies, nothing stored; `trusting`: it takes any certificate."""
    context = browser.new_context(
        ignore_https_errors=trusting,
        viewport={"width": device.width, "height": device.height},
        java_script_enabled=device.javascript,
        locale={"de": "de-DE", "en": "en-GB"}[device.language],
        color_scheme="dark" if device.dark else "light",
        reduced_motion="reduce" if device.reduced_motion else "no-preference",
    )
    if not device.scripts:
        context.route(re.compile(r"\.js(\?|$)"), lambda route: route.fulfill(body="", content_type="text/javascript"))
    return context


def barriers(page: Page, *, tags: Sequence[str] = WCAG_22_AA) -> list[str]:
    """Return what axe-core finds wrong on the page as it is now: rule, and the places."""
    if not AXE.is_file():
        pytest.skip(NO_AXE)
    # In a world of its own: the page's own policy forbids scripts that it did not bring.
    session = page.context.new_cdp_session(page)
    frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
    world = session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "axe"})["executionContextId"]
    _run(session, world, AXE.read_text(encoding="utf-8"))
    options = {"runOnly": {"type": "tag", "values": list(tags)}, "resultTypes": ["violations"]}
    found = _run(session, world, f"axe.run(document, {json.dumps(options)}).then(r => JSON.stringify(r.violations))")
    session.detach()
    return [
        f"{violation['id']} ({violation['impact']}): {violation['help']}: "
        + "; ".join(node["html"][:120] for node in violation["nodes"][:3])
        for violation in json.loads(found)
    ]


def sideways(page: Page) -> int:
    """Return by how many pixels the page is wider than the screen: nobody should have to scroll in two directions."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def _run(session: Any, world: int, script: str) -> str:
    answer = session.send(
        "Runtime.evaluate",
        {"expression": script, "contextId": world, "awaitPromise": True, "returnByValue": True},
    )
    if "exceptionDetails" in answer:
        raise RuntimeError(f"axe-core failed: {answer['exceptionDetails'].get('text')}")
    return str(answer["result"].get("value", ""))

"""A patient in front of a browser: what is on the page is found by what it says, as people find it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.web.page.rendering import load_labels

if TYPE_CHECKING:
    from playwright.sync_api import Page


LABELS = load_labels()


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who uses the page in one language."""

    page: Page
    url: str
    language: str

    @property
    def t(self) -> Mapping[str, str]:
        return LABELS[self.language]

    def open(self, path: str = "/") -> Visitor:
        self.page.goto(self.url + path)
        return self

    def begin(self) -> Visitor:
        """Agree, and begin a conversation."""
        self.open()
        self.page.get_by_label(self.t["consent_box"]).check()
        self.press("begin")
        return self

    def press(self, label: str) -> Visitor:
        """Press the button of a label."""
        self.page.get_by_role("button", name=self.t[label], exact=True).first.click()
        self.page.wait_for_load_state()
        return self

    def choose(self, name: str) -> Visitor:
        """Press a button by what stands on it."""
        turns = self.turns
        self.page.get_by_role("button", name=name, exact=True).first.click()
        self._answered(turns)
        return self

    def say(self, text: str) -> Visitor:
        """Write something and send it."""
        turns = self.turns
        self.page.locator("#text").fill(text)
        self.page.locator("#say").get_by_role("button", name=self.t["send"]).click()
        self._answered(turns)
        return self

    @property
    def turns(self) -> int:
        return self.page.locator("#log > .turn").count()

    @property
    def newest(self) -> str:
        """What the newest reply says."""
        return self.page.locator("#log > .turn").last.locator(".reply").inner_text()

    def _answered(self, turns: int) -> None:
        self.page.locator("#log > .turn").nth(turns).wait_for()
        self.page.wait_for_load_state()

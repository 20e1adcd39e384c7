"""Somebody who fills in the pages of the form in a browser without JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from tests.bot.web.browser import Browser, Node

MOST_PAGES = 120
TRIES = 3  # with other entries, before a field is left without an answer


class FormPatient:
    """Fills in whatever is on the page; what is not taken is tried another way, and then left out.

    Attributes:
        kinds: The kinds of controls that were filled in.
    """

    def __init__(self, browser: Browser, random: Random) -> None:
        self.browser = browser
        self.kinds: set[str] = set()
        self._random = random

    @property
    def form(self) -> Node:
        return next(each for each in self.browser.page.all("form") if each.get("class") == "page-form")

    @property
    def where(self) -> str:
        return self.browser.answer.url.path

    def post(self, fields: Mapping[str, list[str]], *, do: str = "") -> None:
        """Send the page as it is now, with other entries in some fields; `do`: by another button than the main one."""
        wanted = {**self.standing(), **fields, **({"do": [do]} if do else {})}
        self.browser._show(self.browser.client.post(self.form.get("action"), data=wanted))

    def standing(self) -> dict[str, list[str]]:
        """Return what a browser would send of the page as it is."""
        found: dict[str, list[str]] = {}
        for each in self.form.all("input"):
            if each.get("type") not in ("radio", "checkbox") or "checked" in each.attributes:
                found.setdefault(each.get("name"), []).append(each.get("value"))
        for each in self.form.all("textarea"):
            found.setdefault(each.get("name"), []).append("".join(str(child) for child in each.children))
        for each in self.form.all("select"):
            chosen = [one.get("value") for one in each.all("option") if "selected" in one.attributes] or [""]
            found.setdefault(each.get("name"), []).extend(chosen)
        return found

    def fill(self, *, plainly: bool = False) -> None:
        """Fill in the page, or what is wrong on it, and send it; `plainly`: by leaving out what can be left out."""
        fields: dict[str, list[str]] = {}
        wrong = self.form.all("div", class_="wrong")
        for field in wrong or self.form.all("div", class_="field"):
            fields |= self._entries(field, plainly=plainly)
        self.post(fields)

    def to_the_end(self) -> None:
        """Fill in all pages, up to the list of all answers."""
        before, tries = "", 0
        for _ in range(MOST_PAGES):
            assert self.browser.answer.status_code in (200, 422), self.browser.answer.status_code
            if self.where == "/form/check":
                return
            tries = tries + 1 if self.where == before else 0
            before = self.where
            self.fill(plainly=tries >= TRIES)
        raise AssertionError(f"no end after {MOST_PAGES} pages: {self.browser.text[-1500:]}")

    def _entries(self, field: Node, *, plainly: bool) -> dict[str, list[str]]:
        ticks = [each for each in field.all("input") if each.get("type") in ("radio", "checkbox")]
        names = {each.get("name") for each in ticks}
        sure = [each for each in ticks if each.get("name").endswith(".sure")]
        if sure and not plainly:
            return {sure[0].get("name"): [sure[0].get("value")]}
        silent = [each for each in ticks if each.get("value") in ("dont_know", "refused")]
        meant = [each for each in ticks if each.get("name").endswith(".meant")]
        cleared: dict[str, list[str]] = {name: [] for name in names}
        cleared |= {each.get("name"): [""] for each in (*field.all("textarea"), *field.all("select"))}
        cleared |= {each.get("name"): [""] for each in field.all("input", type="text")}
        if plainly:
            left = field.all("option", value="dont_know")
            listed = {field.all("select")[0].get("name"): ["dont_know"]} if left else {}
            return {**cleared, **({silent[0].get("name"): [silent[0].get("value")]} if silent else listed)}
        if meant:
            return {meant[0].get("name"): [meant[0].get("value")]}
        listed_ = [each for each in ticks if each not in silent and each not in sure and each.get("value") != "own"]
        if listed_:
            self.kinds.add(listed_[0].get("type"))
            picked = self._random.choice(listed_)
            return {**cleared, picked.get("name"): [picked.get("value")]}
        return {**cleared, **self._written(field)}

    def _written(self, field: Node) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for each in field.all("select"):
            self.kinds.add("select")
            values = [one.get("value") for one in each.all("option")]
            found[each.get("name")] = [self._random.choice([value for value in values if value not in ("", "own")])]
        for each in field.all("textarea"):
            self.kinds.add("textarea")
            found[each.get("name")] = ["Nur so ein Text"]
        for each in field.all("input", type="text"):
            name, mode = each.get("name"), each.get("inputmode")
            part = name.partition(".")[2]
            self.kinds.add(part or mode or "text")
            entries = {"day": "3", "month": "5", "year": "2020", "time": "14:30", "own": "etwas anderes"}
            numbers = {"numeric": "3", "decimal": "3,5", "url": "https://www.example.org/brief.pdf"}
            found.setdefault(name, []).append(
                entries.get(part) or numbers.get(mode) or self._random.choice(["Text", "14:30", "https://a.ch"])
            )
        return found

"""A browser without JavaScript: it follows redirects and links, fills in forms, presses buttons, and keeps cookies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx

VOID = frozenset({"meta", "link", "input", "br", "hr", "img"})
UNSEEN = frozenset({"script", "style", "head"})


@dataclass
class Node:
    """An element of a page."""

    tag: str
    attributes: dict[str, str]
    parent: Node | None = None
    children: list[Node | str] = field(default_factory=list)

    def all(self, tag: str = "", **wanted: str) -> list[Node]:
        """Return the elements below with a tag and attributes (`class_` holds one of the classes), in order."""
        found = [self] if self._fits(tag, wanted) else []
        for child in self.children:
            if isinstance(child, Node):
                found += child.all(tag, **wanted)
        return found

    def one(self, tag: str = "", **wanted: str) -> Node:
        found = self.all(tag, **wanted)
        assert len(found) == 1, f"{len(found)} elements {tag} {wanted}"
        return found[0]

    @property
    def text(self) -> str:
        """What can be read, with white space as browsers show it."""
        return " ".join(self._words().split())

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    def up(self, tag: str) -> Node | None:
        node = self.parent
        while node is not None and node.tag != tag:
            node = node.parent
        return node

    @property
    def language(self) -> str:
        node: Node | None = self
        while node is not None and not node.get("lang"):
            node = node.parent
        return node.get("lang") if node is not None else ""

    def _fits(self, tag: str, wanted: dict[str, str]) -> bool:
        if tag and tag != self.tag:
            return False
        return all(
            value in self.get("class").split() if name == "class_" else self.attributes.get(name) == value
            for name, value in wanted.items()
        )

    def _words(self) -> str:
        if self.tag in UNSEEN or "hidden" in self.attributes:
            return ""
        return "".join(child if isinstance(child, str) else f" {child._words()} " for child in self.children)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self._open = Node("#document", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs}, self._open)
        self._open.children.append(node)
        if tag not in VOID:
            self._open = node

    def handle_endtag(self, tag: str) -> None:
        assert self._open.tag == tag, f"</{tag}> closes <{self._open.tag}>"
        assert self._open.parent is not None
        self._open = self._open.parent

    def handle_data(self, data: str) -> None:
        self._open.children.append(data)


def parse(html: str) -> Node:
    """Read a page; every element must be closed where it was opened."""
    reader = _Reader()
    reader.feed(html)
    assert reader._open is reader.root, f"<{reader._open.tag}> is not closed"
    return reader.root


Browsers = Callable[[str], "Browser"]


class Browser:
    """What one patient holds in the hand."""

    def __init__(self, url: str, language: str = "de") -> None:
        self.client = httpx.Client(
            base_url=url, headers={"Accept-Language": language}, follow_redirects=True, timeout=60
        )
        self.answer: httpx.Response
        self.page: Node

    def open(self, address: str) -> Node:
        return self._show(self.client.get(address))

    def press(self, label: str, **fields: str) -> Node:
        """Press the first button with this label, after filling in fields of its form."""
        for button in self.page.all("button"):
            if button.text == label:
                return self.send(self._form_of(button), button, **fields)
        raise AssertionError(f"no button {label!r} among {[button.text for button in self.page.all('button')]}")

    def follow(self, label: str) -> Node:
        link = next(each for each in self.page.all("a") if each.text == label)
        return self.open(link.get("href"))

    def send(self, form: Node, button: Node | None = None, **fields: str) -> Node:
        return self._show(self.client.post(form.get("action"), data=self.filled(form, button, **fields)))

    def filled(self, form: Node, button: Node | None = None, **fields: str) -> dict[str, str]:
        """Return what a browser would send."""
        data = {each.get("name"): each.get("value") for each in form.all("input", type="hidden")}
        data |= {each.get("name"): "" for each in form.all("textarea")}
        if button is not None and button.get("name"):
            data[button.get("name")] = button.get("value")
        return {**data, **fields}

    def say(self, text: str) -> Node:
        return self.send(self.page.one("form", id="say"), text=text)

    @property
    def newest(self) -> Node:
        return self.page.one(id="newest")

    @property
    def text(self) -> str:
        return self.page.text

    @property
    def labels(self) -> list[str]:
        return [button.text for button in self.page.all("button")]

    def _form_of(self, button: Node) -> Node:
        form = self.page.one("form", id=button.get("form")) if button.get("form") else button.up("form")
        assert form is not None
        return form

    def _show(self, answer: httpx.Response) -> Node:
        self.answer, self.page = answer, parse(answer.text)
        return self.page

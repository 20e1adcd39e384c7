"""What a document holds and no reader sees, taken out before text is read, and what is seen and not found there.

What is hidden may have been put there to be quoted.

Decided are the plain ways: attributes and simple rules of HTML, comments, hidden text of Word. What is white on white,
very small, or lies under a picture, is not. What is struck through is seen, and taken back: it is no evidence either.
"""

from __future__ import annotations

import re
from typing import Any

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_STRUCK = re.compile(r"~~(?=\S)(?:(?!\n\s*\n).)+?(?<=\S)~~", re.DOTALL)
_NEVER_SHOWN = ("template", "noscript", "script", "style", "del", "s", "strike")
_HIDES = re.compile(
    r"(?:^|[;{\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    r"|(?:font-size|opacity)\s*:\s*0*(?:\.0+)?(?:[a-z%]+)?\s*(?:!|;|$)"
    r"|text-decoration(?:-line)?\s*:[^;]*line-through|color\s*:\s*transparent"
    r"|(?:text-indent|left|right|top)\s*:\s*-\d{3,})",
    re.IGNORECASE,
)
_AT_RULE = re.compile(r"@[^{};]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")  # for print or another screen
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE = re.compile(r"(\w*)([.#])([\w-]+)")
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SMALLEST = 2  # half points: what is smaller is no text for people


def without_comments(text: str) -> str:
    """Return a text without the comments of HTML, which Markdown does not show either."""
    return _COMMENT.sub("", text)


def without_struck(text: str) -> str:
    """Return Markdown without what is struck through: somebody has taken it back."""
    return _STRUCK.sub("", text)


def drop_hidden_html(tree: Any) -> None:
    """Take out of a parsed page what a browser does not show."""
    hidden = _hidden_by_rules(tree)
    for each in list(tree.iter()):
        is_element = isinstance(each.tag, str)  # and no comment or instruction
        if not is_element or (each is not tree and _is_hidden(each, hidden)):
            drop(each)


def _is_hidden(element: Any, by_rules: frozenset[tuple[str, str, str]]) -> bool:
    if element.tag in _NEVER_SHOWN or element.get("hidden") is not None:
        return True
    if _HIDES.search(element.get("style") or ""):
        return True
    names = [(".", name) for name in (element.get("class") or "").split()] + [("#", element.get("id") or "")]
    return any((tag, kind, name) in by_rules for kind, name in names for tag in ("", element.tag))


def _hidden_by_rules(tree: Any) -> frozenset[tuple[str, str, str]]:
    """Return the simple selectors (``.class``, ``p.class``, ``#id``) that the page's own style sheets hide."""
    found = set()
    for sheet in tree.iter("style"):
        rules = re.sub(r"/\*.*?\*/", "", sheet.text or "", flags=re.DOTALL)
        for selectors, declared in _RULE.findall(_AT_RULE.sub("", rules)):
            if _HIDES.search(declared):
                found |= {each.groups() for one in selectors.split(",") if (each := _SIMPLE.fullmatch(one.strip()))}
    return frozenset((tag.lower(), kind, name) for tag, kind, name in found)


def drop(element: Any) -> None:
    """Take an element out; what follows it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)


def has_tracked_changes(document: Any) -> bool:
    """Say whether words of a Word document are inserted, deleted or moved, and nobody has decided on that yet.

    Neither state is the text: a "not" that somebody wants inserted may change what a sentence says.
    """
    changes = (f"{_WORD}{name}" for name in ("ins", "del", "moveFrom", "moveTo"))
    return any(next(document.element.body.iter(change), None) is not None for change in changes)


def open_controls(document: Any) -> None:
    """Put what stands in controls, fields and tags of a Word document in their place, where its reader finds it."""
    for name in ("sdt", "smartTag", "customXml", "fldSimple"):
        for each in list(document.element.body.iter(f"{_WORD}{name}")):
            is_empty = each.find(f"{_WORD}sdtPr/{_WORD}showingPlcHdr") is not None  # "Click to enter text"
            held = each.find(f"{_WORD}sdtContent") if name == "sdt" else each
            for child in list(held) if held is not None and not is_empty else ():
                each.addprevious(child)
            each.getparent().remove(each)


def drop_hidden_word(document: Any) -> None:
    """Take hidden and struck text out of a Word document: runs, rows of tables, and what a style hides."""
    styles = {each.get(f"{_WORD}styleId"): each for each in document.styles.element.iter(f"{_WORD}style")}
    for row in list(document.element.body.iter(f"{_WORD}tr")):
        if _is_on(row.find(f"{_WORD}trPr/{_WORD}hidden")):
            row.getparent().remove(row)
    for run in list(document.element.body.iter(f"{_WORD}r")):
        paragraph = next(run.iterancestors(f"{_WORD}p"), None)
        own = run.find(f"{_WORD}rPr")
        style = own.find(f"{_WORD}rStyle") if own is not None else None
        of_paragraph = paragraph.find(f"{_WORD}pPr/{_WORD}pStyle") if paragraph is not None else None
        for said in (own, *_chain(style, styles), *_chain(of_paragraph, styles)):
            hidden = _says(said)
            if hidden is not None:
                break
        if hidden:
            run.getparent().remove(run)


def _chain(named: Any, styles: dict[str | None, Any]) -> list[Any]:
    """Return what a style and those that it is based on say of runs, nearest first."""
    found: list[Any] = []
    name = named.get(f"{_WORD}val") if named is not None else None
    seen = set()
    while name in styles and name not in seen:
        seen.add(name)
        style = styles[name]
        found.append(style.find(f"{_WORD}rPr"))
        base = style.find(f"{_WORD}basedOn")
        name = base.get(f"{_WORD}val") if base is not None else None
    return found


def _says(properties: Any) -> bool | None:
    """Tell whether properties of a run hide it; None where they do not say."""
    if properties is None:
        return None
    size = properties.find(f"{_WORD}sz")
    value = size.get(f"{_WORD}val") or "" if size is not None else ""
    if value.isdigit() and int(value) <= _SMALLEST:
        return True
    switches = [properties.find(f"{_WORD}{name}") for name in ("vanish", "strike", "dstrike")]
    said = [each for each in switches if each is not None]
    return any(_is_on(each) for each in said) if said else None


def _is_on(switch: Any) -> bool:
    return switch is not None and switch.get(f"{_WORD}val") not in ("0", "false", "off")

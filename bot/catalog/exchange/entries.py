"""What every maker's format is read to, before it becomes pairs."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.catalog.catalog import Pair
from bot.text import plain_text


@dataclass(slots=True)
class Entry:
    """A question with its other wordings and its answer, as a foreign file has it.

    Attributes:
        key: What the file calls it; empty: nothing, so that the id is made of the question.
        texts: The question first.
        answer: Empty where the file has none and the maker keeps answers elsewhere.
        language: Two letters, or None where the format does not say.
        source: Where the maker says it is from; empty: nothing.
        at: Place in the file, for the report.
        pair: The whole pair, from our own format.
    """

    key: str
    texts: list[str]
    answer: str = ""
    language: str | None = None
    source: str = ""
    at: str = ""
    pair: Pair | None = None


class Remark(str):
    """A sentence of a report as commands say it; who says it in another language goes by `code` and `values`."""

    code: str
    values: Mapping[str, Any]

    def __new__(cls, line: str, code: str, **values: Any) -> Remark:
        made = super().__new__(cls, line)
        made.code, made.values = code, values
        return made


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of a file that does not become a pair, and why.

    Attributes:
        at: Place in the file, for example ``kb.tsv:12``.
        what: The maker's name of it, never a text of a patient.
        why: The reason, as a sentence.
        flow: Whether it is a part of a conversation, rather than a question with its answer.
    """

    at: str
    what: str
    why: Remark
    flow: bool = False

    def as_line(self) -> str:
        return one_line(f"{self.at}: {self.what}: {self.why}" if self.what else f"{self.at}: {self.why}")


@dataclass(slots=True)
class Reading:
    """A foreign file as read: entries, questions that nothing answers, what was left out, and what was guessed."""

    maker: str
    entries: list[Entry] = field(default_factory=list)
    background: list[tuple[str | None, str]] = field(default_factory=list)  # language and text
    left: list[LeftOut] = field(default_factory=list)
    notes: list[Remark] = field(default_factory=list)

    def leave(self, at: str, what: str, why: Remark, *, flow: bool = False) -> None:
        self.left.append(LeftOut(at, what, why, flow))


def language_of(code: object) -> str | None:
    """Return the two letters of a language code such as ``de-AT``; None where it is none."""
    found = re.match(r"[A-Za-z]{2}(?=[-_]|$)", code) if isinstance(code, str) else None
    return found[0].lower() if found else None


def one_line(text: str) -> str:
    """Return text of others as a line for a terminal: nothing that steers it, and nothing invisible."""
    return " ".join(plain_text(text).split())


def strings(value: object) -> list[str]:
    """Return the texts of a value that should be a text or a list of texts."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str) and item.strip()]


_TAGS = (
    "a|b|blockquote|br|code|div|em|font|h[1-6]|hr|i|img|li|ol|p|pre|small|span|strong|sub|sup|table|tbody|td|th|thead"
    "|tr|u|ul"
)
_TAG = re.compile(rf"</?(?:{_TAGS})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_ANCHOR = re.compile(r"<a\s[^<>]*?href=[\"']([^\"'<>]*)[\"'][^<>]*>(.*?)</a>", re.IGNORECASE | re.DOTALL)
_BREAKING = re.compile(r"<(?:br|/p|/div|/li|/h[1-6]|/tr)\s*/?>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|nbsp|[aou]uml|[AOU]uml|szlig|eacute|euro|ndash|#\d+);")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINKED = re.compile(r"\[([^\]]+)\]\(((?:https?:|mailto:|tel:|/)[^)\s]*)\)")
_MARKS = re.compile(r"(?<![\w*])(\*\*|__|\*|`)(?=\S)(.+?)(?<=\S)\1(?![\w*])")
# A sign before a number may be a minus or "more than": that is no mark.
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}|[*+-]|>)[ \t]+(?!\d)", re.MULTILINE)
_RAISED = re.compile(r"<(sup|sub)>(\d+)</\1>", re.IGNORECASE)
_DIGITS = {"sup": str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"), "sub": str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")}
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")


def without_html(text: str) -> str:
    """Return a text without HTML; links keep their address in brackets."""
    found = _HIDDEN.sub(" ", text)
    found = _ANCHOR.sub(lambda link: f"{link[2]} ({link[1]})" if link[1] not in link[2] else link[2], found)
    found = _RAISED.sub(lambda one: one[2].translate(_DIGITS[one[1].lower()]), found)  # 10³ is not 103
    found = _TAG.sub("", _BREAKING.sub("\n", found))
    return html.unescape(found) if found != text or _ENTITY.search(found) else text


def plain(text: str) -> str:
    """Return an answer without HTML and Markdown. What patients say is not Markdown: there a star is a star."""
    found = without_html(text)
    found = _IMAGE.sub(r"\1", found)
    found = _LINKED.sub(lambda link: f"{link[1]} ({link[2]})" if link[1] != link[2] else link[1], found)
    found = _LINE_MARK.sub("", found)
    return _MARKS.sub(r"\2", found)


def tidy(text: str) -> str:
    """Return a text in one line, without what no screen shows."""
    return " ".join(_CONTROL.sub("", " ".join(text.split())).split())


def tidy_lines(text: str) -> str:
    """Return an answer with its line breaks, but without empty lines and what no screen shows."""
    lines = (" ".join(line.split()) for line in re.split(r"\r\n|[\r\n\u2028\u2029]", _CONTROL.sub("", text)))
    return "\n".join(line for line in lines if line)


def without_copies(texts: Iterable[str], known: Sequence[str] = ()) -> list[str]:
    """Return each text once, in order."""
    return [text for text in dict.fromkeys(texts) if text not in known]

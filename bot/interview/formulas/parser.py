"""Parse FHIRPath (N1, http://hl7.org/fhirpath) into a syntax tree, all of it or not at all. Pure."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple, NoReturn

from bot.interview.formulas.formula import (
    BadFormula,
    Call,
    Index,
    Literal,
    Name,
    Operation,
    Path,
    Sign,
    Special,
    Tree,
    TypeTest,
    Variable,
)
from bot.interview.formulas.measures import CALENDAR, MOST_DIGITS, Quantity, is_integer, read_literal

# How deep parentheses, parameters and signs may stand in each other: evaluation takes some calls for each level.
MOST_LEVELS = 100

_TOKEN = re.compile(
    r"""(?P<space>(?:\s+|//[^\r\n]*|/\*.*?\*/)+)
    | (?P<moment>@(?:T[0-9]{2}(?::[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)?
        | [0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?
          (?:T(?:[0-9]{2}(?::[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?)?))
    | (?P<number>[0-9]+(?:\.[0-9]+)?)
    | (?P<text>'(?:\\.|[^\\'])*')
    | (?P<variable>%(?:[A-Za-z_][A-Za-z0-9_]*|`(?:\\.|[^\\`])*`|'(?:\\.|[^\\'])*'))
    | (?P<special>\$(?:this|index|total)\b)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<quoted>`(?:\\.|[^\\`])*`)
    | (?P<sign><=|>=|!=|!~|[-+*/&|<>=~.,()\[\]{}])""",
    re.VERBOSE | re.DOTALL,
)
# Binary operators by how tightly they bind; all group to the left.
_BINDING = {
    **dict.fromkeys(("*", "/", "div", "mod"), 9),
    **dict.fromkeys(("+", "-", "&"), 8),
    **dict.fromkeys(("is", "as"), 7),
    "|": 6,
    **dict.fromkeys(("<=", "<", ">", ">="), 5),
    **dict.fromkeys(("=", "~", "!=", "!~"), 4),
    **dict.fromkeys(("in", "contains"), 3),
    "and": 2,
    **dict.fromkeys(("or", "xor"), 1),
    "implies": 0,
}
_SIGNED = 10
# Words that cannot name a property without backticks.
_RESERVED = frozenset({"div", "mod", "and", "or", "xor", "implies", "true", "false"})
_ESCAPES = {"r": "\r", "n": "\n", "t": "\t", "f": "\f"}


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


def parse(source: str) -> Tree:
    """Parse all of `source`.

    Raises:
        BadFormula: It is no FHIRPath; the message says where.
    """
    parser = _Parser(source)
    tree = parser.expression(0)
    if parser.now.kind != "end":
        parser.refuse(" on")
    return tree


def _tokens(source: str) -> list[_Token]:
    found, position = [], 0
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None:
            break
        if match.lastgroup and match.lastgroup != "space":
            found.append(_Token(match.lastgroup, match[0], position))
        position = match.end()
    found.append(_Token("end" if position == len(source) else "unknown", "", position))
    return found


class _Parser:
    """Reads tokens from left to right, by how tightly the operators bind."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._tokens = _tokens(source)
        self._at = 0
        self._level = 0
        self.now = self._tokens[0]

    def refuse(self, how: str = "") -> NoReturn:
        before = self._source[: self.now.start]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise BadFormula(f"no FHIRPath from {f'line {line}, ' if line > 1 else ''}column {column}{how}")

    def _take(self) -> _Token:
        taken = self.now
        if taken.kind not in {"end", "unknown"}:
            self._at += 1
            self.now = self._tokens[self._at]
        return taken

    def _sees(self, sign: str) -> bool:
        return self.now.kind == "sign" and self.now.text == sign

    def _skips(self, sign: str) -> bool:
        """Take `sign` if it is next."""
        found = self._sees(sign)
        if found:
            self._take()
        return found

    def _expect(self, sign: str) -> None:
        if not self._skips(sign):
            self.refuse()

    def expression(self, least: int) -> Tree:
        """Parse operators that bind at least this tightly."""
        self._level += 1
        if self._level > MOST_LEVELS:
            raise BadFormula("nested too deep")
        left = self._operand()
        while self.now.kind in {"sign", "name"} and _BINDING.get(self.now.text, -1) >= least:
            sign = self._take().text
            if sign in {"is", "as"}:
                left = TypeTest(sign, left, self._type())
            else:
                left = _operation(left, sign, self.expression(_BINDING[sign] + 1))
        self._level -= 1
        return left

    def _operand(self) -> Tree:
        if self._sees("+") or self._sees("-"):
            return Sign(self._take().text, self.expression(_SIGNED))
        inner = self._root()
        root, links = (inner.root, [*inner.links]) if isinstance(inner, Path) else (inner, [])
        while True:
            if self._skips("."):
                links.append(self._special() if self.now.kind == "special" else self._name_or_call())
            elif self._skips("["):
                links.append(Index(self.expression(0)))
                self._expect("]")
            else:
                return Path(root, tuple(links)) if links else root

    def _root(self) -> Tree:
        if self._skips("("):
            inner = self.expression(0)
            self._expect(")")
            return inner
        if self._skips("{"):
            self._expect("}")
            return Literal(None)
        kind, text, _ = self.now
        if kind == "number":
            return self._number()
        if kind == "special":
            return self._special()
        if kind not in {"text", "moment", "variable"} and text not in {"true", "false"}:
            return self._name_or_call()
        if kind == "moment":
            moment = read_literal(text[1:])
            if moment is None:
                self.refuse()
            self._take()
            return Literal(moment)
        self._take()
        if kind == "variable":
            return Variable(_unescaped(text[2:-1]) if text[1] in "`'" else text[1:])
        return Literal(_unescaped(text[1:-1]) if kind == "text" else text == "true")

    def _number(self) -> Literal:
        signed = self._at > 0 and self._tokens[self._at - 1].text == "-"
        text = self._take().text
        number, whole = Decimal(text), "." not in text
        if self.now.kind == "text":
            if self.now.text == "''":
                self.refuse()
            return Literal(Quantity.written(number, _unescaped(self._take().text[1:-1])))
        if self.now.kind == "name" and self.now.text in CALENDAR:
            return Literal(Quantity.written(number, self._take().text))
        fits = is_integer(-number if signed else number) if whole else number.adjusted() < MOST_DIGITS
        if not fits:
            raise BadFormula(f"the number {text[:80]} is too large")
        return Literal(int(number) if whole else number)

    def _special(self) -> Special:
        return Special(self._take().text)

    def _name_or_call(self) -> Name | Call:
        name = self._name()
        if not self._skips("("):
            return Name(name)
        parameters: list[Tree] = []
        while not self._sees(")"):
            if parameters:
                self._expect(",")
            parameters.append(self.expression(0))
        self._take()
        return Call(name, tuple(parameters))

    def _name(self) -> str:
        if self.now.kind == "quoted":
            return _unescaped(self._take().text[1:-1])
        if self.now.kind != "name" or self.now.text in _RESERVED:
            self.refuse()
        return self._take().text

    def _type(self) -> str:
        names = [self._name()]
        while self._skips("."):
            names.append(self._name())
        return ".".join(names)


def _operation(left: Tree, sign: str, right: Tree) -> Operation:
    if isinstance(left, Operation) and _BINDING[left.rest[0][0]] == _BINDING[sign]:
        return Operation(left.first, (*left.rest, (sign, right)))
    return Operation(left, ((sign, right),))


def _unescaped(text: str) -> str:
    r"""Resolve escapes; a backslash that escapes nothing stays, as in ``'\d+'``."""
    if "\\" not in text:
        return text
    plain = re.sub(r"\\(?:u([0-9a-fA-F]{4})|([\\/'\"`rntf]))", _unescape, text)
    # Two escapes may be one character, as in JSON; half of one is none.
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPES.get(match[2], match[2])

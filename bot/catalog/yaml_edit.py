"""Change single pairs in a language file and leave all other bytes as they are: comments, order, quoting, line ends.

The file is read as a stream of YAML events, which say where each pair begins and ends; only the pairs concerned are
taken apart further, down to the field, the variant and the source that differ. What is written anew is written as the
shipped files have it: long texts folded, short ones in double quotes, variants one a line.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from typing import Any, TypeGuard

import yaml
from pydantic import BaseModel, ValidationError

from bot.catalog.catalog import CountryText, Loader, Pair, Variant, pair_from
from bot.errors import BadData

# In which order a pair's fields are written; fields that are there stay where they are.
ORDER = (
    "id",
    "question",
    "facets",
    "short_answer",
    "answer",
    "easy_answer",
    "extracts",
    "words_target",
    "countries",
    "sources",
    "review",
    "related",
    "same_as",
    "quizzes",
    "variants",
)
WIDTH = 120
# Words that some reader of YAML takes for something else than text.
_RESERVED = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# What cannot stand in YAML as it is, or is a line's end to it.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_CONTROL = re.compile("[\x00-\x1f]")
_COMMENT = re.compile(r"[ \t]+(#[^\r\n]*)")
_BLOCK_HEADER = re.compile(r"[|>][0-9+-]*[ \t]+(#[^\r\n]*)")


def edit_pairs(text: str, *, changed: Sequence[Pair], removed: Collection[str] = ()) -> str:
    """Return a language file's text with pairs changed, added (at the end) and removed.

    Args:
        text: The file, with its line ends as they are (read it with ``newline=""``).
        changed: Pairs as they shall be; those whose id is not in the file are added. One that is as it is in the file
            changes nothing.
        removed: Ids of pairs to take out. Comments around them stay.

    Raises:
        BadData: The text is no language file, its pairs stand in a form that cannot be edited in place, an id is named
            twice or is not there, or no pair would be left.
    """
    wanted = {pair.id: pair for pair in changed}
    _refuse_contradictions(changed, removed)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix("\ufeff")
    items = _items(body)
    if not items:
        raise BadData("This is no language file of a catalog: it has no pairs. Check it: `klartext qa lint`.")
    known = {item.id for item in items}
    if unknown := sorted(set(removed) - known):
        raise BadData(f"There is no pair {unknown[0]!r} to remove. Run `klartext qa list` to see the pair ids.")
    added = [pair for pair in changed if pair.id not in known]
    if not added and known <= set(removed):
        raise BadData("No pair would be left, and a catalog needs one. Remove the file instead.")
    newline = "\r\n" if "\r\n" in body else "\n"
    more = _addition(body, items, added, newline)
    last = next((item for item in reversed(items) if item.id not in removed), items[-1])
    edits: list[_Edit] = []
    for item in items:
        if item.id not in removed:
            chunk = body[item.start : item.end]
            lines = _edited(chunk, wanted[item.id], newline) if item.id in wanted else chunk
            edits.append(_Edit(item.start, item.end, lines + (more if item is last else "")))
        elif item is last:  # all go, and others come
            edits.append(_Edit(item.start, item.end, more.lstrip("\r\n")))
        else:
            edits.append(_without_line(body, item))
    return mark + _applied(body, edits)


def new_file(catalog: str, language: str, pairs: Sequence[Pair]) -> str:
    """Return a language file of its own, written as `edit_pairs` writes."""
    head = f'catalog: {_flow(catalog)}\nlanguage: {_flow(language)}\nversion: "1"\npairs:\n'
    return head + "".join(f"  - {_pair_lines(pair, 4, chr(10))}\n" for pair in pairs)


@dataclass(frozen=True, slots=True)
class _Item:
    """A pair in the file: from the beginning of the line of its dash to the end of its last line."""

    id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Edit:
    """What stands from `start` to `end` becomes `text`."""

    start: int
    end: int
    text: str


def _refuse_contradictions(changed: Sequence[Pair], removed: Collection[str]) -> None:
    counts = Counter([pair.id for pair in changed])
    counts.update(set(removed))
    if twice := next((name for name, count in counts.items() if count > 1), None):
        raise BadData(f"The pair {twice!r} is to be changed or removed twice. Name it once.")


def _applied(text: str, edits: Sequence[_Edit]) -> str:
    parts, at = [], 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def _items(text: str) -> list[_Item]:
    """Find the pairs by the events of the YAML parser: that is five times as fast as making nodes of all variants."""
    try:
        return list(_pairs_in(text, yaml.parse(text, Loader=Loader)))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        found = getattr(error, "problem_mark", None)
        line = f" in line {found.line + 1}" if found else ""
        raise BadData(f"The language file is not valid YAML{line}. Mend it first: `klartext qa lint`.") from error


def _pairs_in(text: str, events: Iterator[yaml.Event]) -> Iterator[_Item]:
    root = next(event for event in events if not isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent))
    if not isinstance(root, yaml.MappingStartEvent):
        raise BadData("This is no language file of a catalog. Check it: `klartext qa lint`.")
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        value = next(events)
        if not isinstance(key, yaml.ScalarEvent) or key.value != "pairs":
            _end_of(text, value, events)
            continue
        if not isinstance(value, yaml.SequenceStartEvent) or value.flow_style:
            raise BadData("The pairs stand in brackets, which cannot be edited in place. Begin each with a dash.")
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            name, end = _pair_in(text, event, events)
            dash = _dash(text, _start(event), _column(value))
            yield _Item(name, dash, _line_end(text, end))


def _pair_in(text: str, event: yaml.Event, events: Iterator[yaml.Event]) -> tuple[str, int]:
    """Return the id of a pair, and where its last token ends."""
    name, end = "", _stop(event)
    if not isinstance(event, yaml.MappingStartEvent):
        return name, _end_of(text, event, events)
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        value = next(events)
        if isinstance(key, yaml.ScalarEvent) and key.value == "id" and isinstance(value, yaml.ScalarEvent):
            name = value.value
        end = _end_of(text, value, events)
    return name, _stop(key) if event.flow_style else end


def _start(token: yaml.Event | yaml.Node) -> int:
    return int(token.start_mark.index) if token.start_mark else 0


def _stop(token: yaml.Event | yaml.Node) -> int:
    return int(token.end_mark.index) if token.end_mark else 0


def _column(token: yaml.Event | yaml.Node) -> int:
    return int(token.start_mark.column) if token.start_mark else 0


def _end_of(text: str, event: yaml.Event, events: Iterator[yaml.Event]) -> int:
    """Consume a value of which `event` is the beginning, and return where its last token ends."""
    if isinstance(event, yaml.AliasEvent):
        raise BadData("The language file uses YAML aliases (*), which cannot be edited in place. Write them out.")
    if isinstance(event, yaml.ScalarEvent):
        return _scalar_end(text, event)
    flow = isinstance(event, yaml.CollectionStartEvent) and event.flow_style
    end = _stop(event)
    while not isinstance(child := next(events), yaml.MappingEndEvent | yaml.SequenceEndEvent):
        end = _end_of(text, child, events)
    # Where a block collection ends, the next thing has begun; only brackets have an end of their own.
    return _stop(child) if flow else end


def _node_end(text: str, node: yaml.Node) -> int:
    if isinstance(node, yaml.ScalarNode):
        return _scalar_end(text, node)
    if _is_mapping(node):
        return _node_end(text, node.value[-1][1])
    return _node_end(text, node.value[-1]) if _is_list(node) else _stop(node)


def _is_mapping(node: yaml.Node | None) -> TypeGuard[yaml.MappingNode]:
    """Is it a mapping with each entry in lines of its own, rather than in brackets?"""
    return isinstance(node, yaml.MappingNode) and not node.flow_style


def _is_list(node: yaml.Node | None) -> TypeGuard[yaml.SequenceNode]:
    """Is it a list with each entry in lines of its own?"""
    return isinstance(node, yaml.SequenceNode) and not node.flow_style


def _scalar_end(text: str, scalar: yaml.ScalarEvent | yaml.ScalarNode) -> int:
    start, end = _start(scalar), _stop(scalar)
    # The empty lines after a block are part of its token, not of what somebody wrote.
    return start + len(text[start:end].rstrip(" \t\r\n")) if scalar.style in ("|", ">") else end


def _dash(text: str, start: int, column: int) -> int:
    """Return where the line begins whose dash, in a column, opens the item that begins at `start`."""
    line = text.rfind("\n", 0, start) + 1
    while line and (text[line + column : line + column + 1] != "-" or text[line : line + column].strip(" ")):
        line = text.rfind("\n", 0, line - 1) + 1
    return line


def _line_end(text: str, at: int) -> int:
    """Return where the line ends that `at` is in, without its line break."""
    found = text.find("\n", at)
    end = len(text) if found < 0 else found
    return end - 1 if found > at and text[end - 1] == "\r" else end


def _break_before(text: str, line: int) -> int:
    """Return where the line break stands before a line that begins at `line`."""
    return line - 2 if text[line - 2 : line] == "\r\n" else line - 1


def _without_line(text: str, item: _Item) -> _Edit:
    """Take out a pair, and the line break after it with it."""
    after = text.find("\n", item.end)
    return _Edit(item.start, len(text) if after < 0 else after + 1, "")


def _addition(text: str, items: Sequence[_Item], added: Sequence[Pair], newline: str) -> str:
    """Return the lines of pairs that are put after another one, in its indentation."""
    first = items[0]
    between = text[first.end : items[1].start] if len(items) > 1 else ""
    gap = newline if re.fullmatch(r"(\r?\n){2,}", between) else ""  # one empty line, where the others have one
    column = text.index("-", first.start) - first.start
    return "".join(f"{newline}{gap}{' ' * column}- {_pair_lines(pair, column + 2, newline)}" for pair in added)


# --- one pair ---------------------------------------------------------------------------------------------------------


def _edited(chunk: str, new: Pair, newline: str) -> str:
    """Return the lines of a pair as `new` has it; what is equal stays as it is written."""
    root = yaml.compose(chunk, Loader=Loader)
    node = root.value[0] if root is not None else root
    loader = Loader("")
    try:
        old = pair_from(loader.construct_document(node))
    except (ValidationError, yaml.YAMLError, TypeError, ValueError, AttributeError) as error:
        problem = f"The pair {new.id!r} in the file breaks the schema. Mend it first: `klartext qa lint`."
        raise BadData(problem) from error
    finally:
        loader.dispose()
    if old == new:
        return chunk
    fields = _fields(new)
    # The first key shares its line with the dash, so it cannot be taken out alone.
    if not _is_mapping(node) or node.value[0][0].value not in {*fields, *(set(ORDER) - {*_fields(old)})}:
        dash = chunk.index("-")
        return f"{chunk[: dash + 1]} {_pair_lines(new, dash + 2, newline)}"
    return _applied(chunk, list(_Fields(chunk, newline).differences(node, _fields(old), fields)))


def _fields(model: Pair | CountryText) -> dict[str, Any]:
    """Return what is to be written of a pair or of a country's texts, in the order in which it is written."""
    values = {name: getattr(model, name) for name in ORDER if name in type(model).model_fields}
    empty = {name: field.get_default(call_default_factory=True) for name, field in type(model).model_fields.items()}
    return {name: value for name, value in values.items() if value != empty[name] or name == "review"}


@dataclass(frozen=True, slots=True)
class _Fields:
    """Finds the edits that turn what a pair's lines say into something else."""

    text: str
    newline: str

    def differences(self, node: yaml.MappingNode, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_Edit]:
        """Yield the edits of a block mapping, key by key."""
        there = {key.value: (key, value) for key, value in node.value}
        indent = _column(node)
        place = self._end(node.value[0][1])  # where a key that is missing is put: after the one before it
        added = []  # they come after what is added within the value before them
        for name in sorted({*old, *new, *there}, key=lambda each: _rank(each, (*new, *old))):
            same = old.get(name) == new.get(name)
            if name not in there:
                if not same:
                    lines = _field(name, new[name], indent, self.newline)
                    added.append(_Edit(place, place, self.newline + " " * indent + lines))
                continue
            key, value = there[name]
            start, place = _start(key), self._end(value)
            if same:
                continue
            if name in new:
                yield from self._change((name, start, place), value, old.get(name), new[name])
            else:
                yield _Edit(_break_before(self.text, self.text.rfind("\n", 0, start) + 1), place, "")
        yield from added

    def _end(self, node: yaml.Node) -> int:
        return _line_end(self.text, _node_end(self.text, node))

    def _change(self, key: tuple[str, int, int], node: yaml.Node, old: object, new: object) -> Iterator[_Edit]:
        """Yield the edits of one value: within it where it is a list or a mapping in lines, else all of it."""
        name, start, end = key
        if _is_mapping(node) and isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from self.differences(node, old, new)
        elif _is_mapping(node) and isinstance(old, CountryText) and isinstance(new, CountryText):
            yield from self.differences(node, _fields(old), _fields(new))
        elif _is_list(node) and isinstance(old, tuple) and isinstance(new, tuple):
            yield from self._items(node, old, new)
        else:
            column = start - self.text.rfind("\n", 0, start) - 1
            first, *others = _field(name, new, column, self.newline).split(self.newline)
            yield _Edit(start, end, self.newline.join([first + self._comment(node, end), *others]))

    def _comment(self, node: yaml.Node, end: int) -> str:
        """Return the comment beside a value, which stays when the value changes."""
        last = _node_end(self.text, node)
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
            found = _BLOCK_HEADER.match(self.text, _start(node))
        else:
            found = _COMMENT.match(self.text, last, end)
        return f"  {found[1]}" if found else ""

    def _items(self, node: yaml.SequenceNode, old: tuple[Any, ...], new: tuple[Any, ...]) -> Iterator[_Edit]:
        """Yield the edits of a list in lines: items that are there in both stay as they are written."""
        column = _column(node)
        spans = [(_dash(self.text, _start(each), column), self._end(each)) for each in node.value]
        indent = " " * column
        written = [f"{indent}- {_item(each, column + 2, self.newline)}" for each in new]
        before, after = [_identity(each) for each in old], [_identity(each) for each in new]
        for tag, first, last, begin, stop in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if tag == "equal":
                continue
            both = min(last - first, stop - begin)
            for (start, end), text in zip(spans[first:last], written[begin : begin + both], strict=False):
                yield _Edit(start, end, text)
            for start, end in spans[first + both : last]:
                yield _Edit(_break_before(self.text, start), end, "")
            more = written[begin + both : stop]
            if more and first + both == 0:
                yield _Edit(spans[0][0], spans[0][0], "".join(each + self.newline for each in more))
            elif more:
                at = spans[first + both - 1][1]
                yield _Edit(at, at, "".join(self.newline + each for each in more))


def _rank(name: str, order: Sequence[str]) -> int:
    if name in ORDER:
        return ORDER.index(name)
    return len(ORDER) + (order.index(name) if name in order else len(order))


def _identity(item: Any) -> str:
    return item.model_dump_json() if isinstance(item, BaseModel) else json.dumps(item, default=str, sort_keys=True)


# --- what is written anew ---------------------------------------------------------------------------------------------


def _pair_lines(pair: Pair, indent: int, newline: str) -> str:
    """Return a whole pair, its first line without indentation."""
    lines = [_field(name, value, indent, newline) for name, value in _fields(pair).items()]
    return (newline + " " * indent).join(lines)


def _field(name: str, value: Any, indent: int, newline: str) -> str:
    """Return a key and its value, its first line without indentation."""
    inner = indent + 2
    if isinstance(value, str) and name != "id":
        return f"{name}: {_text(value, inner, newline, len(name) + 2)}"
    if isinstance(value, CountryText | Mapping):
        fields = _fields(value) if isinstance(value, CountryText) else value
        lines = [_field(each, one, inner, newline) for each, one in fields.items()]
        return f"{name}:" + "".join(f"{newline}{' ' * inner}{line}" for line in lines)
    if isinstance(value, tuple) and not all(isinstance(each, str) for each in value):
        items = [f"{' ' * inner}- {_item(each, inner + 2, newline)}" for each in value]
        return f"{name}:" + "".join(newline + each for each in items)
    return f"{name}: {_flow(value)}"


def _item(value: Any, indent: int, newline: str) -> str:
    """Return an item of a list without its dash."""
    if isinstance(value, Variant) and value.facet is None and value.by is None:
        return _quoted(value.text)
    if isinstance(value, BaseModel) and not isinstance(value, Variant):
        values = {name: getattr(value, name) for name in type(value).model_fields}
        fields = [
            f"{name}: {_text(one, indent + 2, newline, len(name) + 2) if isinstance(one, str) else _flow(one)}"
            for name, one in values.items()
            if one is not None
        ]
        return (newline + " " * indent).join(fields)
    return _flow(value)


def _text(value: str, indent: int, newline: str, before: int) -> str:
    """Return a text in double quotes, or folded where it is long and no line break or double space stands in it."""
    if indent - 2 + before + len(value) + 2 <= WIDTH or not _foldable(value):
        return _quoted(value)
    lines, line = [], ""
    for word in value.split(" "):
        if line and indent + len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return ">-" + "".join(f"{newline}{' ' * indent}{each}" for each in [*lines, line])


def _foldable(value: str) -> bool:
    return "  " not in value and not _CONTROL.search(value) and not _ESCAPED.search(value)


def _flow(value: Any) -> str:
    """Return a value in one line: brackets, and quotes wherever a text could be taken for something else."""
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        safe = _PLAIN.fullmatch(value) and value.lower() not in _RESERVED
        return value if safe else _quoted(value)
    if isinstance(value, BaseModel):
        value = {name: getattr(value, name) for name in type(value).model_fields if getattr(value, name) is not None}
    if isinstance(value, Mapping):
        pairs = ((_flow(name), _quoted(one) if name == "text" else _flow(one)) for name, one in value.items())
        return "{" + ", ".join(f"{name}: {one}" for name, one in pairs) + "}"
    return "[" + ", ".join(_flow(each) for each in value) + "]"


def _quoted(value: str) -> str:
    """Return a text in double quotes: JSON's, but for what YAML does not read or takes for a line's end."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))

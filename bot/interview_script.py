"""A patient from a file: which line is said when. Used by `klartext interview`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bot.errors import BadData
from bot.interview.form import Form, Item
from bot.interview.form import Path as Place


@dataclass(eq=False, slots=True)
class Line:
    """One line of the file: for an item, or (with an empty linkId) for the next turn."""

    link_id: str
    text: str
    used: bool = False
    after: list[str] = field(default_factory=list)


def read_lines(path: Path, form: Form) -> list[Line]:
    """Read ``linkId<TAB>text`` and plain text, one a line; blank lines are skipped.

    Raises:
        BadData: The file cannot be read, or names an item that the form does not have.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise BadData(f"{path}: cannot be read ({reason}). Give `--answers` a text file.") from None
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        link_id, tab, said = line.rstrip("\r").partition("\t")
        if tab and link_id.strip() and link_id.strip() not in form.by_link_id:
            raise BadData(
                f"{path}:{number}: the Questionnaire has no item {link_id.strip()[:60]!r}. "
                "A line is a linkId, a tab and a text, or just a text."
            )
        lines.append(Line(link_id.strip(), said) if tab else Line("", line.strip()))
    return lines


class Script:
    """Hands out the lines of a file. A plain line is said right after the line before it was used."""

    def __init__(self, lines: Iterable[Line], form: Form) -> None:
        self._form = form
        self._keyed: list[Line] = []
        self._next: list[str] = []
        for line in lines:
            if line.link_id:
                self._keyed.append(line)
            else:
                (self._keyed[-1].after if self._keyed else self._next).append(line.text)
        self._used_at: dict[Place, set[str]] = {}

    def next_turn(self) -> str | None:
        """Return a plain line whose time has come."""
        return self._next.pop(0) if self._next else None

    def late_turn(self) -> str | None:
        """Return a plain line whose line before it was never used."""
        waiting = next((line for line in self._keyed if line.after), None)
        return waiting.after.pop(0) if waiting else None

    def take(self, link_id: str, place: Place) -> str | None:
        """Return the line for an item that is asked, and count it as used."""
        line = self._line_for(link_id, place)
        if line is None:
            return None
        line.used = True
        self._next += line.after
        line.after = []
        for depth in range(1, len(place) + 1):
            self._used_at.setdefault(place[:depth], set()).add(link_id)
        return line.text

    def has_more(self, link_id: str, place: Place) -> bool:
        """Say whether a question that repeats has a line left at this place."""
        line = self._line_for(link_id, place)
        if line is None or self._group(place) is None:
            return line is not None
        # In a group that repeats, only lines that follow directly belong to the same repetition.
        number = self._keyed.index(line)
        before = self._keyed[number - 1] if number else line
        return self._by_rows(place) and before.link_id == link_id and before.used

    def has_instance(self, group: Item, place: Place) -> bool:
        """Say whether there is a line left for one more repetition of a group, and the last one took any."""
        inside = {item.link_id for item in group.walk()}
        last = (*place[:-1], (place[-1][0], place[-1][1] - 1))
        fruitful = place[-1][1] == 0 or bool(self._used_at.get(last))
        return fruitful and any(not line.used and line.link_id in inside for line in self._keyed)

    def unused(self) -> list[str]:
        """Return the linkIds of lines that were never used."""
        return [line.link_id for line in self._keyed if not line.used]

    def _line_for(self, link_id: str, place: Place) -> Line | None:
        found = next((line for line in self._keyed if line.link_id == link_id and not line.used), None)
        if found is None or not self._by_rows(place):
            return found
        # Row after row: a line that stands behind the beginning of the next row belongs to that.
        taken = self._used_at.get(self._group(place) or (), set()) - {link_id}
        earlier = self._keyed[: self._keyed.index(found)]
        return None if any(line.link_id in taken and not line.used for line in earlier) else found

    def _group(self, place: Place) -> Place | None:
        """Return the innermost repetition of a group around a place."""
        for depth in range(len(place) - 1, 0, -1):
            item = self._form.by_link_id[place[depth - 1][0]]
            if item.type == "group" and item.repeats:
                return place[:depth]
        return None

    def _by_rows(self, place: Place) -> bool:
        """Say whether the lines of the group around a place come repetition by repetition, not question by question."""
        group = self._group(place)
        if group is None:
            return False
        inside = {item.link_id for item in self._form.by_link_id[group[-1][0]].walk()}
        order = [line.link_id for line in self._keyed if line.link_id in inside]
        runs = [each for number, each in enumerate(order) if number == 0 or order[number - 1] != each]
        return len(runs) > len(set(runs))

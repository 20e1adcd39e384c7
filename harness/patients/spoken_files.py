"""Read what authors wrote as patients: dialogues and single messages, one a line, with what should come of each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import ValidationError

from bot import BadData
from harness.console import nearest
from harness.files import control_in, numbered_lines, unreadable
from harness.patients.expectations import Act, Expect, Level
from harness.patients.suites import Dialogue, Question, QuestionSource, Turn

SpokenKind = Literal["everyday", "complaint", "foreign", "real-manner", "remark"]
MOST_FAULTS = 20  # bad lines named at once
ACTS: tuple[str, ...] = get_args(Act)
LEVELS: tuple[str, ...] = get_args(Level)
AFTER_AN_ANSWER = ("same", *ACTS)  # labels of what nobody says first
PLAIN = ("nothing", "reaction", "alarm")
LABELS = f"ID, new:ID, same, none, reaction, {', '.join(ACTS)}, alarm, complaint:LEVEL, remark:KIND or language:CODE"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Origin:
    """In which language and whose voice a file is written, and by whom."""

    lang: str
    vignette: str
    source: QuestionSource


class _Fault(ValueError):
    """Why a line cannot be read; never quotes what a patient might have written."""


def read_dialogues(path: Path, origin: Origin, pairs: Collection[str]) -> list[Dialogue]:
    """Read dialogues, one a line: turns between tabs, each ``label|text``.

    Args:
        path: Text in UTF-8.
        origin: Of all of them.
        pairs: Ids that labels may name.

    Raises:
        BadData: Lines are wrong; each is named with its number and what is wrong.
    """

    def dialogue(line: str) -> Dialogue:
        turns = [_turn(part, number, pairs) for number, part in enumerate(line.split("\t"), 1)]
        id_ = _id("dialogue", *(turn.text for turn in turns))
        return Dialogue(id=id_, lang=origin.lang, vignette=origin.vignette, source=origin.source, turns=tuple(turns))

    return _each(path, dialogue)


def _turn(part: str, number: int, pairs: Collection[str]) -> Turn:
    label, bar, text = part.partition("|")
    label, text = label.strip(), text.strip()
    if not bar or "|" in text:
        raise _Fault(f"turn {number} is not `label|text`")
    if not text:
        raise _Fault(f"turn {number} has no text")
    name, colon, value = label.partition(":")
    if number == 1 and (label in AFTER_AN_ANSWER):
        raise _Fault(f"turn 1 is labelled {label!r}, but nothing was answered before it")
    if label in ACTS:
        return Turn(text=text, expect=Expect(act=label))  # type: ignore[arg-type]
    if label == "same" or label in PLAIN or label == "none":
        return Turn(text=text, expect=_expect(**{"nothing" if label == "none" else label: True}))
    if name in ("complaint", "language", "remark") and colon:
        return Turn(text=text, expect=_expect(**{name: value}))
    pair = value if name == "new" and colon else label
    if pair not in pairs:
        near = nearest(pair, pairs)
        raise _Fault(
            f"turn {number} is labelled {label[:40]!r}, which is no pair ({near}) nor another label ({LABELS})"
        )
    return Turn(text=text, expect=Expect(pair=pair, new=True if pair != label else None))


def read_messages(path: Path, kind: SpokenKind, origin: Origin) -> list[Question]:
    """Read single messages, one a line: ``level<TAB>text`` for complaints, ``code<TAB>text`` for foreign, else text.

    Raises:
        BadData: Lines are wrong; each is named with its number and what is wrong.
    """

    def message(line: str) -> Question:
        label, tab, text = line.partition("\t")
        labelled = kind in ("complaint", "foreign", "remark")
        if bool(tab) != labelled or "\t" in text:
            pattern = {"complaint": "level<TAB>text", "foreign": "language<TAB>text", "remark": "kind<TAB>text"}
            wanted = pattern.get(kind, "one text without tabs")
            raise _Fault(f"the line is not {wanted}")
        said = (text if labelled else line).strip()
        if not said:
            raise _Fault("the line has no text")
        expected: dict[SpokenKind, dict[str, Any]] = {
            "complaint": {"complaint": label.strip()},
            "foreign": {"language": label.strip()},
            "everyday": {"nothing": True},
            "real-manner": {"unanswered": True},
            "remark": {"remark": label.strip()},
        }
        return Question(
            id=_id(kind, said),
            text=said,
            lang=origin.lang,
            vignette=origin.vignette,
            pair_id=None,
            kind=kind,
            source=origin.source,
            expect=_expect(**expected[kind]),
        )

    return _each(path, message)


def _expect(**said: Any) -> Expect:
    try:
        return Expect(**said)
    except ValidationError as error:
        name, value = next(iter(said.items()))
        wanted = f"one of {', '.join(LEVELS)}" if name == "complaint" else "a code of two or three letters, such as tr"
        raise _Fault(f"{str(value)[:40]!r} is no {name}: it must be {wanted}") from error


def _each(path: Path, parse: Callable[[str], T]) -> list[T]:
    found, faults = [], []
    try:
        for number, line in numbered_lines(path):
            try:
                if control := control_in(line):
                    raise _Fault(f"the line holds the control character {control}; remove it")
                found.append(parse(line.rstrip("\r")))
            except _Fault as fault:
                faults.append(f"{path}:{number}: {fault}.")
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path} cannot be read ({unreadable(error)}). Give a text file in UTF-8.") from error
    if faults:
        more = [f"… and {len(faults) - MOST_FAULTS} more lines."] if len(faults) > MOST_FAULTS else []
        raise BadData("\n".join([*faults[:MOST_FAULTS], *more]))
    if not found:
        raise BadData(f"{path} holds no line. See 'Suites of what people write' in docs/reference.md.")
    return found


def _id(kind: str, *texts: str) -> str:
    return hashlib.sha256("\0".join((kind, *texts)).encode()).hexdigest()[:16]

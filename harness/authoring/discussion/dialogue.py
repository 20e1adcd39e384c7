"""The discussion: the researcher points out problems, the decider decides, accepted corrections go to a scratchpad.

Nair et al. (2023), section 3: the decider never defers to the researcher; nobody rewrites the text in between, the
scratchpad is applied once, in the end. A person stands between scratchpad and text here: what they accept is applied.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bot import BadData, fold
from harness.authoring.discussion.texts import Section, Sections, Task, cleaned, stops, without_stop
from harness.authoring.working import Ask, Unusable, Work, ask

MOST_TURNS = 15  # of both together, as in the paper
MOST_LINES = 40  # on a scratchpad
LONGEST_LINE = 1_000
Speaker = Literal["researcher", "decider"]
Ended = Literal["stop", "turns", "unusable"]

_TAG = re.compile(r"\[\s*(RESPONSE|SCRATCHPAD)\s*:", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.)])\s*")
_CLOSES = {'"': '"”', "'": "'", "“": '”"', "„": '“”"', "«": "»", "»": "«"}
_NOTHING = {"", "none", "nothing", "keine", "nichts", "n a", "leer", "keine aenderungen", "no changes", "no change"}


@dataclass(frozen=True, slots=True)
class Turn:
    """What one of the two said.

    Attributes:
        speaker: Who.
        text: What.
        added: What the decider put on the scratchpad.
        stops: Whether the researcher ended the discussion with it.
    """

    speaker: Speaker
    text: str
    added: tuple[str, ...] = ()
    stops: bool = False


@dataclass(frozen=True, slots=True)
class Discussion:
    """A whole discussion.

    Attributes:
        turns: In their order; the researcher begins.
        ended: By the researcher (``stop``), at the limit (``turns``), or as an answer could not be used (``unusable``).
    """

    turns: tuple[Turn, ...]
    ended: Ended

    @property
    def scratchpad(self) -> tuple[str, ...]:
        return tuple(line for turn in self.turns for line in turn.added)

    @property
    def undecided(self) -> bool:
        """Whether the researcher had the last word, so that the decider has decided on nothing in it."""
        return bool(self.turns) and self.turns[-1].speaker == "researcher"

    def first(self, turns: int) -> Discussion:
        """Return the discussion as it was after so many turns."""
        return Discussion(self.turns[:turns], self.ended if turns >= len(self.turns) else "turns")


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person accepts.

    Attributes:
        numbers: Of the lines of the scratchpad, from 1; None: all of them.
        unasked: Whether sections may change, too, that no accepted line names.
    """

    numbers: tuple[int, ...] | None
    unasked: bool = False

    @classmethod
    def parse(cls, text: str, *, unasked: bool = False) -> Choice:
        """Read ``1,3``, ``all`` or ``none``; raise BadData for anything else."""
        word = text.strip().casefold()
        if word in ("all", "none"):
            return cls(None if word == "all" else (), unasked)
        parts = [part.strip() for part in text.split(",")]
        if not all(part.isdecimal() and len(part) < 4 for part in parts):
            raise BadData(
                f"`--accept {text}` names no lines. Give their numbers, as in `--accept 1,3`, `all` or `none`."
            )
        return cls(tuple(sorted({int(part) for part in parts})), unasked)

    def as_text(self) -> str:
        """Return what `parse` reads."""
        return "all" if self.numbers is None else ",".join(map(str, self.numbers)) or "none"

    def fits(self, lines: Sequence[str]) -> bool:
        """Tell whether all the lines are there."""
        return self.numbers is None or all(1 <= number <= len(lines) for number in self.numbers)

    def of(self, lines: Sequence[str]) -> tuple[int, ...]:
        """Return the numbers of the accepted lines; raise BadData where there is no such line."""
        if self.numbers is None:
            return tuple(range(1, len(lines) + 1))
        if not self.fits(lines):
            wrong = next(number for number in self.numbers if not 1 <= number <= len(lines))
            raise BadData(
                f"There is no line {wrong} on the scratchpad: it has {len(lines)}. Give others with `--accept`."
            )
        return self.numbers


@dataclass(frozen=True, slots=True)
class Discussed:
    """What became of a text.

    Attributes:
        initial: The decider's first version; None where no model wrote a usable one.
        discussion: About it.
        accepted: Numbers of the lines that a person accepted; None: nobody has decided yet.
        final: The text with these applied; None while nobody has decided, or no usable one was written.
        put_back: What the model wrote in place of sections that no accepted line names: `final` has the earlier ones.
    """

    initial: Sections | None
    discussion: Discussion
    accepted: tuple[int, ...] | None
    final: Sections | None
    put_back: Sections = field(default_factory=dict)

    @property
    def accepted_lines(self) -> tuple[str, ...]:
        return tuple(self.discussion.scratchpad[number - 1] for number in self.accepted or ())


def improve(
    task: Task, initial: Sections, choice: Choice | None = None, *, turns: int = MOST_TURNS, name: str = ""
) -> Work[Discussed]:
    """Discuss a text, and apply what a person accepts of the scratchpad.

    Args:
        task: What the text is, and what it must hold to.
        initial: The decider's text.
        choice: What was accepted; None, or lines that are not there: not decided, the work ends before the final text.
        turns: Most turns of both together.
        name: Prefix of ids, where several are discussed in one work.
    """
    discussion = yield from discuss(task, initial, turns=turns, name=name)
    if choice is None or not choice.fits(discussion.scratchpad):
        return Discussed(initial, discussion, None, None)
    accepted = choice.of(discussion.scratchpad)
    final = yield from apply(task, initial, discussion.scratchpad, accepted, name=name)
    done = Discussed(initial, discussion, accepted, final)
    return done if choice.unasked or final is None else _put_back(task.sections, done, initial, final)


def _put_back(sections: Sequence[Section], done: Discussed, initial: Sections, final: Sections) -> Discussed:
    """Undo what no accepted line asked for; where a line names no section it may mean any, and all stays as written."""
    named = [named_sections(sections, line) for line in done.accepted_lines]
    if not all(named):
        return done
    asked = frozenset[str]().union(*named)
    strange = {key: text for key, text in final.items() if key not in asked and text != initial[key]}
    return replace(done, final={**final, **{key: initial[key] for key in strange}}, put_back=strange)


def named_sections(sections: Sequence[Section], line: str) -> frozenset[str]:
    """Return the keys of the sections that a line of the scratchpad is about; empty where it does not begin with any.

    A line begins with its sections and a colon. Where it does, others that it speaks of count, too.
    """
    head = _titles_in(sections, line.partition(":")[0]) if ":" in line else frozenset[str]()
    return _titles_in(sections, line) if head else frozenset()


def _titles_in(sections: Sequence[Section], text: str) -> frozenset[str]:
    """Return the keys of titles that stand in a text as words; in "Easy answer" there is no "Answer"."""
    left, found = f" {fold(text)} ", set[str]()
    for section in sorted(sections, key=lambda each: -len(each.title)):
        title = f" {fold(section.title)} "
        if title in left:
            left = left.replace(title, " | ")
            found.add(section.key)
    return frozenset(found)


def summarise(task: Task, choice: Choice | None = None, *, turns: int = MOST_TURNS, name: str = "") -> Work[Discussed]:
    """Write the first version (prompt 1), then discuss and apply as `improve` does."""
    initial = yield from ask(Ask(f"{name}initial", task.prompt(task.kind.initial), task.read))
    if initial is None:
        return Discussed(None, Discussion((), "unusable"), None, None)
    return (yield from improve(task, initial, choice, turns=turns, name=name))


def discuss(task: Task, initial: Sections, *, turns: int = MOST_TURNS, name: str = "") -> Work[Discussion]:
    """Let researcher (prompt 4) and decider (prompt 3) speak in turn until the researcher is satisfied.

    A researcher may say all points at once and stop in the same breath. While nothing is on the scratchpad the decider
    still answers, lest all of them be lost; later such a turn is the last, and mostly a farewell.
    """
    said: list[Turn] = []
    pad: list[str] = []
    while len(said) < turns:
        speaker: Speaker = "researcher" if len(said) % 2 == 0 else "decider"
        template = task.texts.researcher if speaker == "researcher" else task.texts.decider
        messages = task.prompt(
            template,
            text=task.written(initial),
            focus=task.titles(scored=any(section.scored for section in task.sections)),
            scratchpad=numbered(pad) or task.texts.nothing,
            discussion=as_dialogue(said, task.texts.speakers) or task.texts.nothing,
        )
        reading = read_researcher if speaker == "researcher" else read_decider
        spoken = yield from ask(Ask(f"{name}turn/{len(said) + 1}/{speaker}", messages, reading))
        if spoken is None:
            return Discussion(tuple(said), "unusable")
        turn = Turn(speaker, spoken.text, _new(spoken.added, pad), spoken.stops)
        answers_a_stop = bool(said) and said[-1].stops
        pad += turn.added
        if turn.text or not spoken.stops:
            said.append(turn)
        if answers_a_stop or (spoken.stops and (pad or not spoken.text)):
            return Discussion(tuple(said), "stop")
    return Discussion(tuple(said), "stop" if any(turn.stops for turn in said) else "turns")


def apply(
    task: Task, initial: Sections, scratchpad: Sequence[str], accepted: Sequence[int], *, name: str = ""
) -> Work[Sections | None]:
    """Return the text with the accepted lines applied (prompt 5); without any nobody is asked, and the text stays."""
    if not accepted:
        return initial
    lines = [scratchpad[number - 1] for number in accepted]
    messages = task.prompt(task.texts.final, text=task.written(initial), scratchpad=numbered(lines))
    return (yield from ask(Ask(f"{name}final/{','.join(map(str, accepted))}", messages, task.read)))


@dataclass(frozen=True, slots=True)
class Spoken:
    """One answer of an agent, read."""

    text: str
    added: tuple[str, ...]
    stops: bool


def read_researcher(answer: str) -> Spoken:
    """Read the researcher's answer: a response, the mark to stop, or both.

    Raises:
        Unusable: There is neither.
    """
    said, ends = _tagged(without_stop(cleaned(answer))), stops(answer)
    text = " ".join(said["RESPONSE"])
    if not text and not ends:
        raise Unusable("it holds neither [RESPONSE: …] nor [STOP]")
    return Spoken(text, (), ends)


def read_decider(answer: str) -> Spoken:
    """Read the decider's answer: a response, and lines for the scratchpad.

    Raises:
        Unusable: There is no response.
    """
    said = _tagged(without_stop(cleaned(answer)))
    if not said["RESPONSE"]:
        raise Unusable("it holds no [RESPONSE: …]")
    lines = [_BULLET.sub("", line).strip() for each in said["SCRATCHPAD"] for line in _lines(each)]
    kept = tuple(line[:LONGEST_LINE] for line in lines if fold(line) not in _NOTHING)
    return Spoken(" ".join(said["RESPONSE"]), kept, False)


def _lines(body: str) -> list[str]:
    """Return the lines of a scratchpad, also where it is written as a JSON list: each entry is a line of its own."""
    try:
        listed = json.loads(body)
    except (ValueError, RecursionError):
        return body.splitlines()
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        return body.splitlines()
    return [" ".join(each.split()) for each in listed]


def _tagged(answer: str) -> dict[str, list[str]]:
    """Return what stands in the tags, also where quotes or the last bracket are missing, or brackets stand within."""
    found: dict[str, list[str]] = {"RESPONSE": [], "SCRATCHPAD": []}
    tags = list(_TAG.finditer(answer))
    ends = [*(tag.start() for tag in tags[1:]), len(answer)]
    for tag, end in zip(tags, ends, strict=False):  # without any tag there is one end more
        body = _unquoted(_up_to_its_end(answer[tag.end() : end]).strip())
        if body:
            found[tag[1].upper()].append(body)
    return found


def _unquoted(body: str) -> str:
    """Return a tag's content without the quotes around all of it; those within stay."""
    closing = _CLOSES.get(body[:1])
    if closing is None or (body[1:-1].count(body[0]) and body[0] != body[-1]):
        return body
    return body[1:].removesuffix(body[-1] if body[-1] in closing else "").strip()


def _up_to_its_end(body: str) -> str:
    """Return a tag's content up to the bracket that closes it."""
    depth = 0
    for at, character in enumerate(body):
        if character == "[":
            depth += 1
        elif character == "]":
            if depth == 0:
                return body[:at]
            depth -= 1
    return body


def _new(lines: Sequence[str], pad: Sequence[str]) -> tuple[str, ...]:
    """Return the lines that are not yet on the scratchpad, as long as it has room."""
    have = {fold(line) for line in pad}
    fresh: dict[str, str] = {}
    for line in lines:
        if fold(line) not in have:
            fresh.setdefault(fold(line), line)
    return tuple(fresh.values())[: max(0, MOST_LINES - len(pad))]


def numbered(lines: Sequence[str]) -> str:
    """Return a scratchpad as it is shown."""
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def as_dialogue(turns: Sequence[Turn], speakers: Mapping[str, str]) -> str:
    """Return what was said so far."""
    return "\n\n".join(f"{speakers[turn.speaker]}: {turn.text}" for turn in turns)

"""What a model wrote, read defensively: queries, verdicts under numbers, a text whose sentences cite segments. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from harness.authoring.evidence.amounts import unstated
from harness.authoring.evidence.passages import Segment
from harness.authoring.evidence.passages import sentences as sentences_of
from harness.authoring.working import Unusable
from harness.llm.scores import json_objects

TextField = Literal["short_answer", "answer", "easy_answer"]
FIELDS: tuple[TextField, ...] = get_args(TextField)
LONGEST_QUERY = 1_500  # characters of a rewritten or expanded question
MOST_SENTENCES = 40  # of one text
LONGEST_SENTENCE = 600  # characters
_TICKS, _CROSSES = "✓✔✅☑", "✗✘❌✖"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that the reader wrote.

    Attributes:
        field: Of which text.
        text: The sentence.
        segments: That it cites, of those that were given.
        flaw: Why it is struck; empty where it stays.
        unchecked: Whether it stays though nobody said that the segments support it.
    """

    field: TextField
    text: str
    segments: tuple[Segment, ...]
    flaw: str = ""
    unchecked: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader wrote: its steps, all sentences with what is wrong with them, and what it misses."""

    reasoning: str
    sentences: tuple[Sentence, ...]
    missing: tuple[str, ...]


def read_query(answer: str) -> str:
    """Return a rewritten or expanded question on one line."""
    text = " ".join(answer.split()).strip("\"'„“”«» ")
    if not text:
        raise Unusable("it is empty")
    if len(text) > LONGEST_QUERY:
        raise Unusable(f"it has {len(text)} characters, and {LONGEST_QUERY} are the most")
    return text


class Verdicts:
    """Reads a yes or no for each of so many numbers, and keeps what an answer that cannot be used says of some.

    Lines are read first; only what is missing then is looked for in the midst of prose, as in "Satz 2: Nein".
    """

    def __init__(self, count: int, yes: str, no: str) -> None:
        self._count, self._words = count, f"{yes} or {no}"
        self._yes = {yes.casefold(), "yes", "ja"}
        words = "|".join(re.escape(each) for each in (yes, no, "yes", "no", "ja", "nein"))
        said = rf"({words}|[{_TICKS}{_CROSSES}])(?!\w)"
        self._line = re.compile(rf"^\W*(\d+)\W{{1,6}}{said}", re.I | re.M)
        self._amid = re.compile(rf"(?<![\w.,])(\d{{1,3}})\s*[.:)\]=–—*-]\W{{0,5}}?{said}", re.I)
        self.said: dict[int, bool] = {}  # of all answers read so far, where none was complete

    def __call__(self, answer: str) -> list[bool]:
        """Return what is said of each number.

        Raises:
            Unusable: Nothing is said of one of them, neither here nor in an earlier answer.
        """
        found = self._read(self._line, answer)
        if not self._is_complete(found):
            found = {**self._read(self._amid, answer), **found}
        if not self._is_complete(found):
            for number, good in found.items():
                self.said[number] = good and self.said.get(number, True)  # a doubt counts, whichever answer has it
            found = self.said
        missing = [str(number) for number in range(1, self._count + 1) if number not in found]
        if missing:
            raise Unusable(f"there is no {self._words} for {', '.join(missing[:5])} of {self._count}")
        return [found[number] for number in range(1, self._count + 1)]

    @property
    def so_far(self) -> list[bool | None]:
        """What was said of each number; None: nothing."""
        return [self.said.get(number) for number in range(1, self._count + 1)]

    def _is_complete(self, found: Mapping[int, bool]) -> bool:
        return all(number in found for number in range(1, self._count + 1))

    def _read(self, pattern: re.Pattern[str], answer: str) -> dict[int, bool]:
        pairs = pattern.findall(answer)
        return {int(number): word.casefold() in self._yes or word in _TICKS for number, word in pairs}


def reading_of(given: Sequence[Segment]) -> Callable[[str], Reading]:
    """Return what reads the reader's JSON and compares each sentence with the segments that it was given."""

    def read(answer: str) -> Reading:
        found = next((each for each in json_objects(answer) if "answer" in each), None)
        if found is None:
            raise Unusable("there is no JSON object with an answer in it")
        sentences = tuple(each for name in FIELDS for each in _sentences(found.get(name), name, given))
        missing = found.get("missing")
        told = [each for each in missing if isinstance(each, str)] if isinstance(missing, list) else []
        if not any(each.field == "answer" for each in sentences) and not told:
            raise Unusable("its answer has no sentence")
        steps = found.get("reasoning")
        return Reading(steps if isinstance(steps, str) else "", sentences, tuple(told))

    return read


def read_closed(answer: str) -> str:
    """Return the text of an answer without documents."""
    found = next((each for each in json_objects(answer) if "answer" in each), None)
    written = found.get("answer") if found is not None else None
    parts = written if isinstance(written, list) else [written]
    text = " ".join(part.strip() for part in parts if isinstance(part, str)).strip()
    if not text:
        raise Unusable("there is no JSON object with an answer in it")
    return text


def _sentences(written: Any, name: TextField, given: Sequence[Segment]) -> list[Sentence]:
    """Read one text; a list entry of several sentences is several, each with the entry's segments."""
    entries = written if isinstance(written, list) else [written]
    found: list[Sentence] = []
    for entry in entries:
        text = entry.get("text") if isinstance(entry, dict) else entry
        cited = entry.get("segments") if isinstance(entry, dict) else None
        if not isinstance(text, str) or not text.strip():
            continue
        listed = cited if isinstance(cited, list) else []
        numbers = [number for each in listed if (number := _number(each)) is not None]
        for sentence in sentences_of(" ".join(text.split())):
            found.append(_checked(name, sentence, numbers, given))
    if len(found) > MOST_SENTENCES:
        raise Unusable(f"{name} has {len(found)} sentences, and {MOST_SENTENCES} are the most")
    return found


def _number(cited: Any) -> int | None:
    """Return the number of a segment, also where it is written as text: ``"4"``, ``"[4]"``."""
    if isinstance(cited, str) and (digits := re.fullmatch(r"\W*(\d{1,4})\W*", cited, re.ASCII)):
        return int(digits[1])
    return cited if isinstance(cited, int) and not isinstance(cited, bool) else None


def _checked(name: TextField, text: str, numbers: Sequence[int], given: Sequence[Segment]) -> Sentence:
    known = [number for number in dict.fromkeys(numbers) if 0 < number <= len(given)]
    cited = tuple(given[number - 1] for number in known)
    strange = sorted(set(numbers) - set(known))
    flaw = ""
    if len(text) > LONGEST_SENTENCE:
        flaw = f"it has {len(text)} characters"
    elif not numbers:
        flaw = "it cites no segment"
    elif not cited:
        flaw = f"it cites segment {strange[0]}, which was not given"
    elif other := unstated(text, [each.text for each in cited]):
        flaw = f"{other[0]} stands in none of the segments that it cites"
    return Sentence(name, text, cited, flaw)

"""What a model wrote, read defensively: queries, verdicts under numbers, a text whose sentences cite segments. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from harness.authoring.evidence.passages import Segment
from harness.authoring.evidence.passages import sentences as sentences_of
from harness.authoring.working import Unusable
from harness.llm.scores import json_objects

TextField = Literal["short_answer", "answer", "easy_answer"]
FIELDS: tuple[TextField, ...] = get_args(TextField)
LONGEST_QUERY = 1_500  # characters of a rewritten or expanded question
MOST_SENTENCES = 40  # of one text
LONGEST_SENTENCE = 600  # characters
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NUMBER_WORDS = {
    word: str(number)
    for line in (
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "two three four five six seven eight nine ten eleven twelve",
    )
    for number, word in enumerate(line.split(), 2)
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that the reader wrote.

    Attributes:
        field: Of which text.
        text: The sentence.
        segments: That it cites, of those that were given.
        flaw: Why it is struck; empty where it stays.
    """

    field: TextField
    text: str
    segments: tuple[Segment, ...]
    flaw: str = ""


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


def verdicts(count: int, yes: str, no: str) -> Callable[[str], list[bool]]:
    """Return what reads a yes or no for each of so many numbers; one that is missing makes all unusable."""
    line = re.compile(rf"^\W*(\d+)\W{{1,6}}({re.escape(yes)}|{re.escape(no)}|yes|no|ja|nein)\b", re.I | re.M)

    def read(answer: str) -> list[bool]:
        said = {int(number): word.casefold() in (yes.casefold(), "yes", "ja") for number, word in line.findall(answer)}
        missing = [str(number) for number in range(1, count + 1) if number not in said]
        if missing:
            raise Unusable(f"there is no {yes} or {no} for {', '.join(missing[:5])} of {count}")
        return [said[number] for number in range(1, count + 1)]

    return read


def reading_of(given: Sequence[Segment]) -> Callable[[str], Reading]:
    """Return what reads the reader's JSON and compares each sentence with the segments that it was given."""

    def read(answer: str) -> Reading:
        found = next((each for each in json_objects(answer) if "answer" in each), None)
        if found is None:
            raise Unusable("there is no JSON object with an answer in it")
        sentences = tuple(each for name in FIELDS for each in _sentences(found.get(name), name, given))
        if not any(each.field == "answer" for each in sentences):
            raise Unusable("its answer has no sentence")
        missing = found.get("missing")
        told = [each for each in missing if isinstance(each, str)] if isinstance(missing, list) else []
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
        numbers = [number for number in listed if isinstance(number, int) and not isinstance(number, bool)]
        for sentence in sentences_of(" ".join(text.split())):
            found.append(_checked(name, sentence, numbers, given))
    if len(found) > MOST_SENTENCES:
        raise Unusable(f"{name} has {len(found)} sentences, and {MOST_SENTENCES} are the most")
    return found


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
    elif other := amounts_in(text) - set().union(*(amounts_in(each.text) for each in cited)):
        flaw = f"{min(other)} stands in none of the segments that it cites"
    return Sentence(name, text, cited, flaw)


def amounts_in(text: str) -> set[str]:
    """Return the numbers of a text, from two on also as words; decimals with a point."""
    said = {each.replace(",", ".") for each in _NUMBER.findall(text)}
    return said | {_NUMBER_WORDS[word] for word in re.findall(r"\w+", text.casefold()) if word in _NUMBER_WORDS}

"""Read which exams a message names, which of them it denies, and whether it says more than that. Pure.

What exams are called is data of each catalog (`exam.yaml`): `called` are names; `hints`, such as the part of the body
that is looked at, count only where no other exam is named: "MRI of the breast" is an MRI. The words that stand around
names are data of each language (`messages.yaml`, `exams`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from bot.languages.files import cached, joint
from bot.text import words

LIKE_ENOUGH, LONG_ENOUGH, MOST_BEFORE = 0.8, 7, 4  # of a word that is misspelt, or has more behind it
DENIED_WITHIN = 3  # words before a name, in which it is denied
MOST_AROUND = 16  # words of a message that says which exam it is, and nothing else
_CLAUSES = re.compile(r"[.,;:!?()\n…–—]+|\s-\s")


@dataclass(frozen=True, slots=True)
class Called:
    """What an exam is called, in all languages: patients mix them.

    Attributes:
        names: Each in words.
        hints: What only points to it, in words.
    """

    names: tuple[tuple[str, ...], ...]
    hints: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """Which exams a message names.

    Attributes:
        meant: Those that it names, and does not deny.
        denied: Those that it says it is not about.
        alone: Whether it says which exam it is, or is not, and nothing else.
        changes: Whether it says, in other words than a name, that the exam is another one.
        booked: Whether it speaks of an appointment.
        hinted: Whether nothing but hints names an exam.
        compares: Whether it speaks of what was, or of one exam in the place of another.
        leans: Whether it says no more than a name and that the same is asked of it: "in the tube as well?".
        here: Whether what is asked behind the last name is asked of the exam that the chat is about: "and here?".
        last: The exam that is named last, and not denied; empty for none.
    """

    meant: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    alone: bool = False
    changes: bool = False
    booked: bool = False
    hinted: bool = False
    compares: bool = False
    leans: bool = False
    here: bool = False
    last: str = ""


@dataclass(frozen=True, slots=True)
class _Span:
    """Where a name stands in a clause."""

    exam: str
    clause: int
    start: int
    end: int
    is_hint: bool

    def holds(self, other: _Span) -> bool:
        """Say whether another name stands inside this longer one: "MR mammography" is no mammography."""
        longer = self.end - self.start > other.end - other.start
        return longer and self.clause == other.clause and self.start <= other.start and other.end <= self.end


def read_names(text: str, exams: Mapping[str, Called]) -> Named:
    """Return which of these exams a message names."""
    clauses = [said for part in _CLAUSES.split(text) if (said := words(part))]
    every = [
        _Span(exam, number, start, start + len(name), is_hint)
        for number, said in enumerate(clauses)
        for exam, known in exams.items()
        for is_hint, names in ((False, known.names), (True, known.hints))
        for name in names
        for start in _places(said, name, whole=is_hint)
    ]
    every = [span for span in every if not any(other.holds(span) for other in every)]
    named = {span.exam for span in every if not span.is_hint}
    told = [span for span in every if not span.is_hint or named <= {span.exam}]
    lists = _lists()
    denied = {span for span in told if _is_denied(span, clauses[span.clause], told)}
    meant = tuple(dict.fromkeys(span.exam for span in told if span not in denied))
    whole = " ".join(words(text))
    rest = " ".join(
        word
        for number, said in enumerate(clauses)
        for place, word in enumerate(said)
        if not any(span.clause == number and span.start <= place < span.end for span in every)
    )
    left = lists["changing"].sub(" ", rest).split()
    fill = ("around", "denying", "both")
    around = all(any(lists[name].fullmatch(word) for name in fill) for word in left)
    only_leans = all(any(lists[name].fullmatch(word) for name in (*fill, "leaning")) for word in rest.split())
    joins = lists["joining"].match(whole) is not None or any(
        lists["leaning"].fullmatch(word) and not lists["around"].fullmatch(word) for word in rest.split()
    )
    last = max((span for span in told if span not in denied), key=lambda span: (span.clause, span.end), default=None)
    behind = (
        [] if last is None else [*clauses[last.clause][last.end :], *(w for c in clauses[last.clause + 1 :] for w in c)]
    )
    changes = lists["changing"].search(whole) is not None
    return Named(
        meant=meant,
        denied=tuple(dict.fromkeys(span.exam for span in told if span in denied and span.exam not in meant)),
        alone=bool(told or changes) and around and len(whole.split()) <= MOST_AROUND,
        changes=changes,
        booked=lists["booked"].search(whole) is not None,
        hinted=bool(told) and not named,
        compares=lists["comparing"].search(whole) is not None,
        leans=bool(meant) and only_leans and ("?" in text or joins) and not changes,
        here=lists["here"].search(" ".join(behind)) is not None,
        last=last.exam if last is not None else "",
    )


def only_fills(text: str) -> bool:
    """Say whether a message has none but words that stand around the name of an exam: "the scan"."""
    lists = _lists()
    return all(any(lists[name].fullmatch(word) for name in ("around", "denying", "both")) for word in words(text))


def means_all(text: str) -> bool:
    """Say whether a message says that it is about all the exams asked about: "both"."""
    without = _lists()["neither"].sub(" ", " ".join(words(text)))  # "none of both" is no "both"
    return _is_made_of("both", without)


def means_none(text: str) -> bool:
    """Say whether a message says that it is about none of them: "neither"."""
    return _is_made_of("neither", text)


def tells_symptom(text: str) -> bool:
    """Say whether words of a symptom or a finding stand in a message: a ring is no complaint, a swollen finger is."""
    return _lists()["symptoms"].search(" ".join(words(text))) is not None


def means_other(text: str) -> bool:
    """Say whether a message speaks of the other one of two exams: "the other one"."""
    return _lists()["other"].search(" ".join(words(text))) is not None


def asks_here(text: str) -> bool:
    """Say whether a message asks no more than the same of the exam that the chat is about: "and here?"."""
    lists, said = _lists(), words(text)
    fill = [lists[name].fullmatch for name in ("around", "denying", "both", "leaning")]
    return any(map(lists["own_place"].fullmatch, said)) and all(any(fit(word) for fit in fill) for word in said)


def speaks_of_exam(text: str) -> bool:
    """Say whether a message speaks of an exam or an appointment, whichever."""
    return _lists()["any_exam"].search(" ".join(words(text))) is not None


def says_unsure(text: str) -> bool:
    """Say whether a message says somewhere that its writer does not know which exam it is, and asks nothing."""
    return "?" not in text and _lists()["unsure"].search(" ".join(words(text))) is not None


def names_third(text: str) -> bool:
    """Say whether a message names a kind of exam for which no service answers: "the doctor said CT"."""
    return _lists()["third"].search(" ".join(words(text))) is not None


def _is_made_of(name: str, text: str) -> bool:
    """Say whether nothing but words around names is left of a message without words of a list that it has."""
    said = " ".join(words(text))
    left = _lists()[name].sub(" ", said).split()
    fits = (_lists()["around"].fullmatch, _lists()["denying"].fullmatch)
    return len(left) < len(said.split()) and all(any(fit(word) for fit in fits) for word in left)


def _places(said: Sequence[str], name: Sequence[str], *, whole: bool) -> Iterator[int]:
    """Yield where a name stands; `whole`: not as the beginning of longer words: "Brustimplantat" points to no exam."""
    for start in range(len(said) - len(name) + 1):
        if all(_is_like(*pair, whole=whole) for pair in zip(said[start : start + len(name)], name, strict=True)):
            yield start


def _is_denied(span: _Span, said: Sequence[str], told: Sequence[_Span]) -> bool:
    """Say whether a name is denied: by a word shortly before it, or by the last word of its clause; no name between."""
    if _lists()["neither_nor"].search(" ".join(said)):
        return True
    denies, others = _lists()["denying"].fullmatch, [other for other in told if other.clause == span.clause]
    before = max((other.end for other in others if other.end <= span.start), default=0)
    near = said[max(before, span.start - DENIED_WITHIN) : span.start]
    is_last = not any(other.start >= span.end for other in others) and span.end < len(said)
    return any(map(denies, near)) or (is_last and denies(said[-1]) is not None)


def _is_like(said: str, meant: str, *, whole: bool) -> bool:
    """Say whether a word is another one, begins with it, or is misspelt: mammographietermin, mamografie."""
    begins = not whole and len(meant) >= MOST_BEFORE and said.startswith(meant) and not names_third(said)
    is_long = min(len(said), len(meant)) >= LONG_ENOUGH and said[0] == meant[0]
    return said == meant or begins or (is_long and SequenceMatcher(None, said, meant).ratio() >= LIKE_ENOUGH)


@cached
def _lists() -> dict[str, re.Pattern[str]]:
    listed = joint("messages.yaml")["exams"]
    return {name: re.compile(rf"\b(?:{'|'.join(expressions)})\b") for name, expressions in listed.items()}

"""The questions that the paper asked physicians, as a form for raters, and a tally.

Nair et al. (2023), section 3 and appendix A.2: which text is preferred, how much of what counts it captures, with how
many corrections one agrees, and whether it may harm. A form is a CSV file; raters fill the last column in. They are not
told which text is which, but whoever reads the corrections sees it: what is asked of these comes last, on its own page.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot import BadData, fold
from harness.authoring.discussion.texts import FormQuestion, FormTexts, Sections
from harness.authoring.filled import read_form_rows

FORM = "form.csv"
COLUMNS = ("question", "text", "asks", "options", "answer")
_OF_EACH = ("captured", "harmful")  # asked of both texts
_AFTERWARDS = ("agreed",)  # asked of the corrections, which tell which text is which
_LETTERS = ("A", "B")


def final_is_a(initial: Sections, final: Sections) -> bool:
    """Tell whether the final text is shown as A: as the hash of both says, so that it can be told again."""
    joined = "\x1f".join([*initial.values(), *final.values()])
    return hashlib.sha256(joined.encode()).digest()[0] % 2 == 0


def questions(texts: FormTexts, *, afterwards: bool) -> dict[str, FormQuestion]:
    """Return the questions on the texts alone, or those on the corrections, which are asked afterwards."""
    return {key: one for key, one in texts.questions.items() if (key in _AFTERWARDS) == afterwards}


def rating_form(texts: FormTexts) -> str:
    """Return an empty form as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for key, question in [*questions(texts, afterwards=False).items(), *questions(texts, afterwards=True).items()]:
        for letter in _LETTERS if key in _OF_EACH else ("",):
            writer.writerow([key, letter, question.asks, " | ".join(question.options), ""])
    return stream.getvalue()


@dataclass
class Tally:
    """What raters said, as counts of answers; `n` forms, and those that nobody has filled in.

    Attributes:
        preferred: Of ``initial`` and ``final``.
        captured, harmful: Of each answer, by ``initial`` and ``final``.
        agreed: Of each answer.
    """

    n: int = 0
    blank: list[Path] = field(default_factory=list)
    preferred: Counter[str] = field(default_factory=Counter)
    captured: Mapping[str, Counter[str]] = field(default_factory=lambda: {"initial": Counter(), "final": Counter()})
    harmful: Mapping[str, Counter[str]] = field(default_factory=lambda: {"initial": Counter(), "final": Counter()})
    agreed: Counter[str] = field(default_factory=Counter)


def tally(forms: Sequence[tuple[Path, bool]], texts: FormTexts) -> Tally:
    """Count what filled forms say; with each, whether the final text was A.

    Raises:
        BadData: A form cannot be read, lacks an answer, or holds one that was not offered.
    """
    found = Tally()
    for path, is_a in forms:
        answers = _answers(path, texts)
        if not answers:
            found.blank.append(path)
            continue
        of = {"A": "final" if is_a else "initial", "B": "initial" if is_a else "final"}
        found.n += 1
        found.preferred[of[answers["preferred", ""]]] += 1
        found.agreed[answers["agreed", ""]] += 1
        for letter, version in of.items():
            found.captured[version][answers["captured", letter]] += 1
            found.harmful[version][answers["harmful", letter]] += 1
    return found


def _answers(path: Path, texts: FormTexts) -> dict[tuple[str, str], str]:
    """Return what a form says; nothing where no answer is filled in."""
    rows = [row for _, row in read_form_rows(path, ("question", "text", "answer"), f"a copy of {FORM}")]
    if rows and not any(row["answer"].strip() for row in rows):
        return {}
    answers: dict[tuple[str, str], str] = {}
    for row in rows:
        key, letter, said = (row[name].strip() for name in ("question", "text", "answer"))
        question = texts.questions.get(key)
        if question is None:
            raise BadData(f"{path} asks {key!r}, which no form asks. Fill in a copy of {FORM}.")
        option = next((one for one in question.options if fold(one) == fold(said)), None)
        if option is None:
            where = f"{key} {letter}".strip()
            raise BadData(f"{path}: {where} has the answer {said!r}. Write one of: {', '.join(question.options)}.")
        answers[key, letter] = option
    wanted = {(key, letter) for key in texts.questions for letter in (_LETTERS if key in _OF_EACH else ("",))}
    missing = sorted(wanted - set(answers))
    if missing:
        raise BadData(f"{path} has no line for {' '.join(missing[0]).strip()}. Fill in a copy of {FORM}.")
    return answers

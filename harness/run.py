"""Ask a system every question of a suite, and keep each answer: resumable, what is stored is never asked again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from bot import BadData, Catalog, Response, Unreachable
from harness.judging.equivalence import Equivalence
from harness.questions import Question
from harness.suite import Suite, contamination
from harness.systems import Answer, Failure, Matched, Reply, System

OUTCOMES, RUN = "outcomes.jsonl", "run.json"
CHUNK = 128  # questions between two writes: a kill costs at most this many answers …
WRITE_S = 1.0  # … or this much time of a slow system
ERROR = "error"
MOST_FAILURES = 10  # in a row: then the system is down, and asking on would only mark every question as failed


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the system made of one question.

    Attributes:
        id: Of the question.
        text: Of the question.
        lang, vignette, kind, pair_id: Of the question; `pair_id` is the right pair, or None for novel questions.
        decision: answered, clarify, declined or urgent; ``error`` when the system failed: then nothing is scored.
        answered_with: The pair that was shown, if one was.
        score: Of the first candidate.
        candidates: Pair ids ranked, best first.
        choices: Pair ids offered when clarify.
        right: Whether the right pair was shown; None for novel questions, which people label.
        offered: Whether the right pair was among the choices; None for novel questions.
        top1: Whether the first candidate was right; None for novel questions.
        elapsed_ms: Time the system took.
        matched: How the shown pair was recognised: by ``id``, or by the ``text`` or ``similarity`` of the answer;
            ``none`` when text was shown that belongs to no pair; None when nothing was shown.
        error: What failed, when the system did.
        runner_up: Score of the second candidate; None where the system gives none.
    """

    id: str
    text: str
    lang: str
    vignette: str
    kind: str
    pair_id: str | None
    decision: str
    answered_with: str | None
    score: float
    candidates: tuple[str, ...]
    choices: tuple[str, ...]
    right: bool | None
    offered: bool | None
    top1: bool | None
    elapsed_ms: float
    matched: Matched | None = None
    error: str | None = None
    runner_up: float | None = None

    @classmethod
    def of(cls, question: Question, response: Answer, accepted: frozenset[str]) -> Outcome:
        """Score a response; `accepted` holds the right pair and those that curators declared equivalent."""
        candidates = tuple(candidate.pair_id for candidate in response.candidates)
        scored = question.pair_id is not None
        return cls(
            id=question.id,
            text=question.text,
            lang=question.lang,
            vignette=question.vignette,
            kind=question.kind,
            pair_id=question.pair_id,
            decision=response.decision,
            answered_with=response.pair_id,
            score=round(response.score, 4),
            candidates=candidates,
            choices=response.choices,
            right=response.pair_id in accepted if scored else None,
            offered=any(choice in accepted for choice in response.choices) if scored else None,
            top1=bool(candidates) and candidates[0] in accepted if scored else None,
            elapsed_ms=round(response.elapsed_ms, 3),
            matched=response.matched if isinstance(response, Reply) else ("id" if response.pair_id else None),
            runner_up=None if isinstance(response, Reply) else _second(response),
        )

    @classmethod
    def failed(cls, question: Question, failure: Failure) -> Outcome:
        """Note that the system failed: neither right nor wrong."""
        return cls(
            id=question.id,
            text=question.text,
            lang=question.lang,
            vignette=question.vignette,
            kind=question.kind,
            pair_id=question.pair_id,
            decision=ERROR,
            answered_with=None,
            score=0.0,
            candidates=(),
            choices=(),
            right=None,
            offered=None,
            top1=None,
            elapsed_ms=round(failure.elapsed_ms, 3),
            error=failure.reason,
        )

    def as_line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Outcome:
        record: dict[str, Any] = json.loads(line)
        return cls(**{**record, "candidates": tuple(record["candidates"]), "choices": tuple(record["choices"])})


def _second(response: Response) -> float | None:
    return round(response.candidates[1].score, 4) if len(response.candidates) > 1 else None


def accepted_pairs(catalog: Catalog, pair_id: str | None) -> frozenset[str]:
    """Return the pair and those that curators declared the same; for many questions keep an `Equivalence`."""
    return Equivalence.of(catalog).accepted(pair_id)


def run_suite(
    suite: Suite, system: System, catalog: Catalog, out: Path, *, progress: Callable[[int], None] = lambda _: None
) -> list[Outcome]:
    """Ask what has not been asked yet and return all outcomes, in the order of the suite.

    Questions that are near copies of the catalog's training texts would flatter the system: they are left out.

    Args:
        suite: The questions.
        system: What answers them.
        catalog: Knows the pairs and their equivalents.
        out: Folder of the run; created if need be.
        progress: Called with the number of questions done since the last call.

    Raises:
        BadData: The suite is for another catalog, or `out` holds a run of something else.
        Unreachable: The system failed on many questions in a row; what it answered is kept.
    """
    _check(suite, catalog)
    left_out = {item.question.id for item in contamination(suite, catalog)}
    asked = [question for question in suite.questions if question.id not in left_out]
    identity = {"suite": suite.meta.name, "suite_hash": suite.meta.sha256, **system.identity}
    _claim(out, identity, questions=len(asked))
    done = _resume(out / OUTCOMES)
    # Where the system failed it is asked again: its failures often pass.
    todo = [question for question in asked if question.id not in done or done[question.id].decision == ERROR]
    progress(len(suite.questions) - len(todo))
    failed_in_a_row = 0
    with (out / OUTCOMES).open("a", encoding="utf-8") as file:
        for outcome in _written(file, _ask_all(todo, system, suite.meta.language, catalog)):
            done[outcome.id] = outcome
            progress(1)
            failed_in_a_row = failed_in_a_row + 1 if outcome.decision == ERROR else 0
            if failed_in_a_row == MOST_FAILURES:
                raise Unreachable(
                    f"The system failed {MOST_FAILURES} times in a row, at last: {outcome.error}. "
                    "Mend it and run this again; what was answered is kept."
                )
    return [done[question.id] for question in asked]


def load_outcomes(out: Path) -> list[Outcome]:
    """Read the outcomes of a run; raise BadData when there are none."""
    try:
        lines = (out / OUTCOMES).read_text(encoding="utf-8").split("\n")
        # A question that is asked again after a failure has two lines: the last one counts.
        return list({outcome.id: outcome for outcome in map(Outcome.from_line, filter(None, lines))}.values())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadData(f"{out} holds no complete run. Run `klartext harness run --suite NAME --out {out}`.") from error


def _ask_all(
    questions: Sequence[Question], system: System, language: str, catalog: Catalog
) -> Iterator[tuple[Outcome, bool]]:
    """Yield each outcome, and whether it is the last of its chunk."""
    same = Equivalence.of(catalog)
    for start in range(0, len(questions), CHUNK):
        chunk = questions[start : start + CHUNK]
        replies = system.ask([question.text for question in chunk], language)
        for number, (question, reply) in enumerate(zip(chunk, replies, strict=True), 1):
            if isinstance(reply, Failure):
                yield Outcome.failed(question, reply), number == len(chunk)
            else:
                accepted = same.accepted(question.pair_id)
                yield Outcome.of(question, reply, accepted), number == len(chunk)


def _written(file: TextIO, outcomes: Iterator[tuple[Outcome, bool]]) -> Iterator[Outcome]:
    """Pass outcomes on, stored durably after each chunk, and after `WRITE_S` when the system is slow."""
    written = time.monotonic()
    for outcome, last in outcomes:
        file.write(outcome.as_line())
        if last or time.monotonic() - written > WRITE_S:
            file.flush()
            os.fsync(file.fileno())
            written = time.monotonic()
        yield outcome


def _check(suite: Suite, catalog: Catalog) -> None:
    if suite.meta.catalog != catalog.name:
        raise BadData(
            f"The suite {suite.meta.name!r} asks about {suite.meta.catalog!r}, but the catalog is {catalog.name!r}. "
            f"Run it with `--catalog {suite.meta.catalog}`."
        )
    unknown = sorted({question.pair_id for question in suite.questions if question.pair_id} - set(catalog.by_id))
    if unknown:
        raise BadData(
            f"The suite {suite.meta.name!r} asks for {len(unknown)} pairs that {catalog.ref} does not have, "
            f"for example {unknown[0]!r}. Run it against the catalog it was made for."
        )
    if not suite.questions:
        raise BadData(f"The suite {suite.meta.name!r} has no questions. Import it again.")


def _claim(out: Path, identity: dict[str, str], *, questions: int) -> None:
    """Note what this run is, or make sure that the folder holds the same run."""
    path = out / RUN
    try:
        out.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            before = _identity(path)
            changed = [key for key in identity if before.get(key) != identity[key]]
            if changed:
                key = changed[0]
                raise BadData(
                    f"{out} holds a run with {key} {before.get(key)!r}, but this one has {identity[key]!r}. "
                    "Choose another folder with `--out`."
                )
            return
        partial = path.with_suffix(".partial")
        # The number tells later whether the run was finished.
        record = {**identity, "questions": questions}
        partial.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise BadData(f"{out} cannot be written ({error.strerror}). Choose another folder with `--out`.") from error


def _identity(path: Path) -> dict[str, str]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise BadData(f"{path} does not say which run this is. Choose another folder with `--out`.") from error


def _resume(path: Path) -> dict[str, Outcome]:
    """Read what is done; cut off a line that a kill left unfinished."""
    done: dict[str, Outcome] = {}
    if not path.is_file():
        return done
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    for number, line in enumerate(whole.split(b"\n")[:-1], 1):
        try:
            outcome = Outcome.from_line(line.decode("utf-8"))
        except (ValueError, KeyError, TypeError) as error:
            raise BadData(f"{path}:{number} is no outcome. Remove the line, and it is asked again.") from error
        done[outcome.id] = outcome
    if len(whole) < len(raw):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return done

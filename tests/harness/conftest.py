"""What tests of the harness share: questions, outcomes and suites for the small catalog, and the command line."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import pytest

from bot import Assistant, LanguageDetector, Response, locate
from harness.commands.making import detector_of
from harness.patients.suites import Question, QuestionSource, Recording, Suite, load_suite, save_suite
from harness.running.outcomes import Outcome
from tests.alarm_examples import FEW
from tests.forking import Forking


@pytest.fixture(scope="session")
def detector() -> LanguageDetector:
    """Knows German and English from the shipped catalog's texts, as an import does."""
    return detector_of(locate("mammography"))


@dataclass
class ByCosine:
    """The small catalog under the published method: a pair's own question is answered, two words never are.

    Red flags are ruled out, since an encoder without a model knows no danger. `asked` holds every question.
    """

    assistant: Assistant
    identity: dict[str, str] = field(default_factory=lambda: {"method": "cosine", "encoder": "hash-64"})
    asked: list[str] = field(default_factory=list)

    def ask(self, texts: Sequence[str], language: str) -> list[Response]:
        self.asked += texts
        return self.assistant.answer_all(texts, language, method="cosine", ignore_flags=True)


@pytest.fixture
def by_cosine(small: Assistant) -> ByCosine:
    return ByCosine(small)


@pytest.fixture(scope="session")
def make_question() -> Callable[..., Question]:
    def make(number: int, text: str, pair_id: str | None = "pain", vignette: str = "low-health-literacy") -> Question:
        kind = "novel" if pair_id is None else "paraphrase"
        return Question(
            id=f"{kind}/{vignette}/{number}",
            text=text,
            lang="de",
            vignette=vignette,
            pair_id=pair_id,
            kind=kind,  # type: ignore[arg-type]
            source=QuestionSource(kind="model", model="scripted", answered="offline"),
        )

    return make


@pytest.fixture(scope="session")
def make_outcome() -> Callable[..., Outcome]:
    """Build outcomes: `answered_with` None means declined; `pair_id` None means a novel question."""

    def make(
        id_: str,
        *,
        pair_id: str | None = "pain",
        answered_with: str | None = "pain",
        vignette: str = "low-health-literacy",
        decision: str = "",
        choices: tuple[str, ...] = (),
        text: str = "Tut das weh?",
    ) -> Outcome:
        scored = pair_id is not None
        return Outcome(
            id=id_,
            text=text,
            lang="de",
            vignette=vignette,
            kind="paraphrase" if scored else "novel",
            pair_id=pair_id,
            decision=decision or ("answered" if answered_with else "declined"),
            answered_with=answered_with,
            score=0.9,
            candidates=(answered_with or "costs", "duration"),
            choices=choices,
            right=answered_with == pair_id if scored else None,
            offered=pair_id in choices if scored else None,
            top1=answered_with == pair_id if scored else None,
            elapsed_ms=1.0,
        )

    return make


@pytest.fixture
def make_suite(small: Assistant, tmp_path: Path) -> Callable[[Sequence[Question]], Suite]:
    """Save questions as a suite for the small catalog in ``tmp_path/suite`` and load it again."""

    def make(questions: Sequence[Question]) -> Suite:
        recording = Recording(tuple(questions), (), {})
        folder = tmp_path / "suite"
        save_suite(folder, catalog=small.catalog("de"), note="", recording=recording, today=date(2026, 1, 1))
        return load_suite(folder)

    return make


@pytest.fixture
def suite(make_suite: Callable[[Sequence[Question]], Suite], make_question: Callable[..., Question]) -> Suite:
    """A suite by cosine: answered rightly, answered with another pair, declined for its two words, novel."""
    return make_suite(
        [
            make_question(1, "Tut die Untersuchung weh?", "pain"),
            make_question(2, "Was kostet die Untersuchung?", "duration"),
            make_question(3, "wie teuer?", "costs"),
            make_question(4, "Wie lange dauert die Untersuchung?", None),
        ]
    )


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory, forking: Forking) -> Command:
    """Run `klartext harness …` as a process of its own, on a data folder that all these tests share.

    What it trains there is taught with few of the alarm's examples.
    """
    data = tmp_path_factory.mktemp("harness-data")

    def run(
        *args: str | Path, typed: str = "", environ: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        settings = {name: value for name, value in os.environ.items() if not name.startswith("KLARTEXT_")}
        variables = {**settings, "KLARTEXT_DATA": str(data), FEW: "1", **(environ or {})}
        arguments = ["harness", *map(str, args)]
        done = forking.run(arguments, stdin=typed.encode(), environ=variables, timeout=120)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run

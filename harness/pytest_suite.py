"""What the pytest plugin does once a suite is named: make tests of its questions, and run them.

Every test asks its own questions when it runs, so under xdist each worker asks only what it was given and nothing is
asked twice. A worker opens the system with its first test. Collecting asks nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot import Assistant, BadData, Catalog, UserFixable
from harness.patients.suites import Question, Suite, contamination, load_suite
from harness.running.chunks import Asking
from harness.running.outcomes import ERROR, Outcome
from harness.running.run import How, recipe_of
from harness.running.store import encoder_of
from harness.systems.system import Opening, System, require_known

MARK = "klartext"
SHOWN = 10  # wrong answers quoted by a test that fails


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    suite: str
    system: str
    opening: Opening
    threshold: float
    per_question: bool

    @classmethod
    def of(cls, config: pytest.Config) -> Options:
        """Read the options; raise UserFixable when they name nothing that exists."""
        option = config.getoption
        threshold = option("klartext_threshold")
        if not 0 <= threshold <= 1:
            raise BadData(f"--klartext-threshold is {threshold:g}, but a share lies between 0 and 1. Give 0.8, say.")
        require_known(option("klartext_system"))
        data = option("klartext_data")
        opening = Opening(
            option("klartext_catalog"),
            option("klartext_encoder"),
            option("klartext_method"),
            Path(data) if data else None,
        )
        per_question = option("klartext_per") == "question"
        return cls(option("klartext_suite"), option("klartext_system"), opening, threshold, per_question)


def register(config: pytest.Config) -> None:
    """Hook the suite into a pytest run; raise UsageError when it cannot be loaded."""
    try:
        options = Options.of(config)
        tests = SuiteTests(options, load_suite(options.suite))
    except UserFixable as error:
        raise pytest.UsageError(str(error)) from error
    config.addinivalue_line("markers", f"{MARK}: a question suite asked of a system (`-m {MARK}` runs nothing else)")
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        # Who names a suite and no file wants the suite alone. Workers of xdist get their files named: they are told.
        config.option.klartext_alone = True
    config.pluginmanager.register(tests, "klartext-suite")


class SuiteTests:
    """Adds the tests of a suite to the others, and keeps the system open while they run."""

    def __init__(self, options: Options, suite: Suite) -> None:
        self.options = options
        self.suite = suite
        self._stack = ExitStack()
        self._opened: tuple[System, Catalog] | None = None

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        if not getattr(config.option, "klartext_alone", False):
            return None
        named = {(config.invocation_params.dir / argument.partition("::")[0]).resolve() for argument in config.args}
        return None if collection_path.resolve() in named and collection_path.is_dir() else True

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        # Before -k, -m and --lf choose among all.
        try:
            node = SuiteNode.from_parent(session, name=self.suite.meta.name, tests=self)
            items.extend(node.collect())
        except UserFixable as error:
            raise pytest.UsageError(str(error)) from error

    def pytest_sessionfinish(self) -> None:
        self._stack.close()

    def catalog(self) -> Catalog:
        """Return the catalog without training or asking anything."""
        language, opening = self.suite.meta.language, self.options.opening
        assistant = Assistant.open(
            opening.catalog, data=opening.data, encoder=opening.encoder, sample=True, languages=[language]
        )
        return assistant.catalog(language)

    def ask(self, questions: Sequence[Question]) -> list[Outcome]:
        """Ask some questions of the system."""
        if self._opened is None:
            recipe = recipe_of(self.options.system, self.options.opening, self.suite.meta.language, How())
            self._opened = self._stack.enter_context(recipe.opened())
        asking = Asking(*self._opened, encoder_of("jsonl"))
        return [outcome for _, outcome in asking.outcomes(list(enumerate(questions)))]


class SuiteNode(pytest.Collector):
    """A suite; its name begins the ids of its tests."""

    def __init__(self, *, tests: SuiteTests, name: str, parent: pytest.Session, **more: Any) -> None:
        super().__init__(name, parent, nodeid=name, **more)
        self.tests = tests

    def collect(self) -> list[pytest.Item]:
        suite, catalog = self.tests.suite, self.tests.catalog()
        if suite.meta.spoken:
            raise BadData(
                f"The suite {suite.meta.name!r} holds messages that are said in a chat, and no questions. "
                "Run it with `klartext harness run`, and check it with `klartext harness gate`."
            )
        if suite.meta.catalog != catalog.name:
            raise BadData(
                f"The suite {suite.meta.name!r} asks about {suite.meta.catalog!r}, but the catalog is "
                f"{catalog.name!r}. Choose it with `--klartext-catalog`."
            )
        # As in `harness run`: near copies of the catalog's texts would flatter the system.
        copies = {item.question.id for item in contamination(suite, catalog)}
        groups: dict[tuple[str, str], list[Question]] = {}
        for question in suite.questions:
            about = question.pair_id or ("urgent" if question.kind == "urgent" else None)
            if about is not None and question.id not in copies:  # novel questions are judged by people
                groups.setdefault((about, question.vignette), []).append(question)
        return list(self._tests(groups))

    def _tests(self, groups: dict[tuple[str, str], list[Question]]) -> Iterator[pytest.Item]:
        for (about, vignette), questions in groups.items():
            if not self.tests.options.per_question:
                yield SuiteTest.from_parent(self, name=f"{about}[{vignette}]", questions=tuple(questions))
                continue
            for number, question in enumerate(questions, 1):
                name = f"{about}[{vignette}-{number:0{len(str(len(questions)))}}]"
                yield SuiteTest.from_parent(self, name=name, questions=(question,))


class Missed(Exception):
    """Fewer right answers than wanted; the message is for people and holds no traceback."""


class SuiteTest(pytest.Item):
    """Some questions about one pair from one vignette."""

    def __init__(self, *, questions: tuple[Question, ...], name: str, parent: SuiteNode, **more: Any) -> None:
        # The id as a text: pytest then finds the brackets in it, as it does when --lf reads its cache.
        super().__init__(name, parent, nodeid=f"{parent.nodeid}::{name}", **more)
        self.suite = parent
        self.questions = questions
        self.add_marker(MARK)
        first = questions[0]
        # Known before the test runs, so that they are there even when the system breaks.
        self.user_properties += [("stratum", first.vignette), ("pair", first.pair_id or first.kind)]

    def runtest(self) -> None:
        outcomes = self.suite.tests.ask(self.questions)
        failed = [outcome for outcome in outcomes if outcome.decision == ERROR]
        if failed:
            raise Missed(f"The system failed on {len(failed)} of {len(outcomes)} questions: {failed[0].error}")
        right = [
            (outcome.decision == "urgent" if outcome.kind == "urgent" else bool(outcome.right)) for outcome in outcomes
        ]
        share = sum(right) / len(right)
        self.user_properties += [("questions", len(right)), ("right", sum(right))]
        wanted = 1.0 if self.suite.tests.options.per_question else self.suite.tests.options.threshold
        if share < wanted - 1e-9:
            missed = [outcome for outcome, good in zip(outcomes, right, strict=True) if not good]
            raise Missed(_said(missed, sum(right), len(right), wanted))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **more: Any) -> Any:
        if isinstance(excinfo.value, Missed | UserFixable):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *args, **more)

    def reportinfo(self) -> tuple[Path, None, str]:
        return Path(self.suite.name), None, self.name


def _said(missed: Sequence[Outcome], right: int, n: int, wanted: float) -> str:
    head = f"{right} of {n} right ({right / n:.2f}), wanted {wanted:.2f}:"
    lines = [f"  {outcome.text}\n    {_told(outcome)}" for outcome in missed[:SHOWN]]
    more = [f"  … and {len(missed) - SHOWN} more"] if len(missed) > SHOWN else []
    return "\n".join([head, *lines, *more])


def _told(outcome: Outcome) -> str:
    shown = outcome.answered_with or ", ".join(outcome.choices)
    first = f"; first candidate {outcome.candidates[0]} ({outcome.score:.2f})" if outcome.candidates else ""
    return f"{outcome.decision}{f': {shown}' if shown else ''}{first}"

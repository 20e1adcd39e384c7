"""What every study needs: the whole catalog, a suite, scores of a matcher on it, and the table that it ends in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bot import Assistant, BadData, Encoder, Method
from harness.files import as_document, writing
from harness.patients.suites import Question, Suite, contamination, load_suite
from harness.running.outcomes import Outcome, accepted_pairs
from harness.scoring.score import summarise
from harness.statistics import Interval

NOTHING = "–"
Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class StudyTable:
    """A study's result.

    Attributes:
        title: What was studied.
        note: How, in a sentence or two.
        columns: Headings; the first column names the row.
        rows: Cells as text.
        figures: The same as plain numbers, not rounded.
    """

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: tuple[dict[str, Any], ...]

    def as_markdown(self) -> str:
        lines = [self.columns, ("---", *["---:"] * (len(self.columns) - 1)), *self.rows]
        table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        return f"**{self.title}**\n\n{table}\n\n{self.note}\n"

    def as_json(self) -> str:
        document = {"title": self.title, "note": self.note, "rows": list(self.figures)}
        return as_document(document)

    def write(self, out: Path) -> None:
        """Write the Markdown to `out` and the JSON beside it."""
        with writing(out):
            out.write_text(self.as_markdown(), encoding="utf-8")
            out.with_suffix(".json").write_text(self.as_json(), encoding="utf-8")


def share(value: float | None) -> str:
    """Return a share with three digits."""
    return NOTHING if value is None else f"{value:.3f}"


def share_range(interval: Interval | None) -> str:
    return NOTHING if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"


def mean_and_range(values: Sequence[float]) -> str:
    """Return the mean of the draws, with the smallest and the largest where they differ."""
    if not values:
        return NOTHING
    mean = f"{sum(values) / len(values):.3f}"
    return mean if len(set(values)) == 1 else f"{mean} ({min(values):.3f} to {max(values):.3f})"


class RememberingEncoder:
    """An encoder that encodes no text twice: the catalogs of a study share most of their texts."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[str, Vectors] = {}

    @property
    def name(self) -> str:
        return self._encoder.name

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit-length vectors, shape (texts, dimensions)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new or not texts:
            vectors = self._encoder.encode(new)
            if not texts:
                return vectors
            self._known.update(zip(new, vectors, strict=True))
        return np.stack([self._known[text] for text in texts])


@dataclass(frozen=True, slots=True)
class Study:
    """What a study starts from.

    Attributes:
        whole: The assistant with the whole catalog, in sample mode.
        language: Of catalog and suite.
        suite: The test questions.
        questions: Those that are no near copies of the whole catalog's texts: the same for every part of it.
        data: Folder for index and heads of the whole catalog; None for the usual one.
    """

    whole: Assistant
    language: str
    suite: Suite
    questions: tuple[Question, ...]
    data: Path | None

    @classmethod
    def open(
        cls, catalog: str | Path, language: str, *, suite: str | Path | None, encoder: str | Encoder, data: Path | None
    ) -> Study:
        """Open a catalog and a suite; without a suite, the one that is named like the catalog.

        Raises:
            BadData: There is no such suite, or it asks about something else.
        """
        assistant = Assistant.open(catalog, data=data, encoder=encoder, sample=True, languages=[language])
        content = assistant.catalog(language)
        loaded = load_suite(suite or f"{content.name}-{language}")
        unknown = {question.pair_id for question in loaded.questions if question.pair_id} - set(content.by_id)
        if (loaded.meta.catalog, loaded.meta.language) != (content.name, language) or unknown:
            raise BadData(
                f"The suite {loaded.meta.name!r} asks in {loaded.meta.language!r} about {loaded.meta.catalog!r}, which "
                f"is not {content.name!r} in {language!r}. Choose with `--suite`, `--catalog` and `--lang`."
            )
        copies = {found.question.id for found in contamination(loaded, content)}
        questions = tuple(question for question in loaded.questions if question.id not in copies)
        if not any(question.pair_id for question in questions):
            raise BadData(f"The suite {loaded.meta.name!r} holds no paraphrase to score. Choose with `--suite`.")
        return cls(assistant, language, loaded, questions, data)

    @property
    def about(self) -> str:
        """One line for readers: what was asked of what."""
        catalog = self.whole.catalog(self.language)
        paraphrases = sum(question.pair_id is not None for question in self.questions)
        return (
            f"Suite {self.suite.meta.name} ({paraphrases} paraphrases, {len(self.questions) - paraphrases} novel "
            f"questions; {self.suite.meta.sha256[:12]}), catalog {catalog.ref} ({catalog.content_hash[:12]})."
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """How a matcher did on a suite.

    Attributes:
        top1, accuracy, offered: Shares of the paraphrases, as in `harness.score.Score`.
        interval: 95 % interval of the accuracy, with regard to pairs.
        worst_top1: Of the worst vignette.
        wrong: Share of the paraphrases that were answered with another pair.
        novel_answered: Share of the novel questions that were answered; None without any.
    """

    top1: float
    accuracy: float
    offered: float
    interval: Interval | None
    worst_top1: float
    wrong: float
    novel_answered: float | None

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Measured:
        """Score outcomes, at least one of them of a paraphrase."""
        summary = summarise(outcomes)
        novel = [outcome.answered_with is not None for outcome in outcomes if outcome.right is None]
        return cls(
            top1=summary.total.top1,
            accuracy=summary.total.accuracy,
            offered=summary.total.offered,
            interval=summary.total.clustered,
            worst_top1=min(score.top1 for score in summary.vignettes.values()),
            wrong=summary.total.wrong / summary.total.n,
            novel_answered=sum(novel) / len(novel) if novel else None,
        )

    @property
    def cells(self) -> tuple[str, ...]:
        """The first figures as text: top1, worst vignette, answered right, its interval, wrong of all."""
        shares = (share(self.top1), share(self.worst_top1), share(self.accuracy))
        return *shares, share_range(self.interval), share(self.wrong)

    def as_json(self) -> dict[str, Any]:
        return {
            "top1": self.top1,
            "accuracy": self.accuracy,
            "offered": self.offered,
            "clustered95": self.interval.as_json() if self.interval else None,
            "worst_top1": self.worst_top1,
            "wrong": self.wrong,
            "novel_answered": self.novel_answered,
        }


def ask(
    assistant: Assistant, questions: Sequence[Question], language: str, *, method: Method = "hybrid"
) -> list[Outcome]:
    """Ask an assistant all questions, in memory."""
    catalog = assistant.catalog(language)
    responses = assistant.answer_all([question.text for question in questions], language, method=method)
    return [
        Outcome.of(question, response, accepted_pairs(catalog, question.pair_id))
        for question, response in zip(questions, responses, strict=True)
    ]

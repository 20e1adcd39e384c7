"""What `klartext harness suite refine` does: replay rounds, ask for what is missing, keep all, write a suite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from bot import BadData, fold, load_catalog, locate
from harness.files import as_lines, replace_text
from harness.generation.critique import CritiquePrompts, load_refine_texts
from harness.generation.recording import Answerer
from harness.generation.rounds import Progress, Track, replay
from harness.llm.work_folder import WorkFolder
from harness.patients.suites import (
    Dropped,
    Question,
    QuestionSource,
    Recording,
    Suite,
    SuiteMeta,
    load_suite,
    save_suite,
)
from harness.patients.vignettes import ALL, load_vignettes

IDENTITY, ROUNDS_FILE = "refine.json", "rounds.jsonl"


@dataclass(frozen=True)
class Refinery:
    """A folder in which a suite is refined.

    Attributes:
        folder: Holds the answers (what everything is replayed from), the prompts that wait, and the rounds.
        suite: What is refined.
        asking: Makes the prompts.
        questions: Those of the suite that are refined.
    """

    folder: WorkFolder
    suite: Suite
    asking: CritiquePrompts
    questions: tuple[Question, ...]

    @classmethod
    def open(
        cls, folder: Path, suite: str, catalog: str, *, vignettes: Path | None = None, limit: int | None = None
    ) -> Refinery:
        """Open a folder for a suite, or go on in it.

        Raises:
            BadData: The folder holds other work, or the suite has no paraphrase.
        """
        loaded = load_suite(suite)
        language = loaded.meta.language
        questions = loaded.paraphrases[:limit]
        if not questions:
            raise BadData(
                f"The suite {loaded.meta.name!r} holds no paraphrase to refine. Choose another with `--suite`."
            )
        content = load_catalog(locate(catalog), language)
        unknown = sorted({one.pair_id or "" for one in questions} - set(content.by_id))
        if unknown:
            raise BadData(
                f"The suite asks for pairs that {content.ref} lacks, for example {unknown[0]!r}. Give `--catalog`."
            )
        known = {vignette.id: vignette for vignette in load_vignettes(language, vignettes, names=[ALL])}
        identity = {
            "suite": loaded.meta.name,
            "suite_hash": loaded.meta.sha256,
            "questions": str(len(questions)),
        }
        work = WorkFolder.claim(folder, identity, note=IDENTITY)
        return cls(work, loaded, CritiquePrompts(load_refine_texts(language), content, known), questions)

    def take(self, files: Sequence[Path]) -> int:
        """Add the answers of Batch output files to the folder's own, and return how many lines were new.

        Raises:
            BadData: A file is no Batch output, or answers no critique and no correction.
        """
        return self.folder.take(files, belongs=lambda key: key.startswith(("critique/", "correct/")))

    def advance(self, answerer: Answerer | None = None) -> Progress:
        """Go through the rounds as far as answers reach, asking for what is missing when there is someone to ask."""
        answers = self.folder.answers()
        progress = replay(self.questions, self.asking, answers)
        while answerer is not None and progress.pending:
            before = {prompt.id for prompt in progress.pending}
            answers.update(answerer(progress.pending))
            progress = replay(self.questions, self.asking, answers)
            if before == {prompt.id for prompt in progress.pending}:
                break  # nobody answered: what is left is exported
        return progress

    def keep(self, progress: Progress, *, model: str, temperature: float | None) -> None:
        """Write every round with its provenance, and the prompts that wait."""
        lines = [
            # Why a question stopped stands in its last round only.
            {"question_id": track.question.id, **asdict(one), "stopped": track.stopped if one is last else None}
            for track in progress.tracks
            for last in track.rounds[-1:]
            for one in track.rounds
        ]
        replace_text(self.folder.path / ROUNDS_FILE, as_lines(lines))
        self.folder.leave(progress.pending, model=model, temperature=temperature)

    def write_suite(
        self, progress: Progress, folder: Path, *, answered: Literal["live", "offline"], note: str
    ) -> SuiteMeta:
        """Write the best text of each question as a new suite; what was not refined stays as it was.

        Raises:
            BadData: Questions still wait for answers, or the folder exists.
        """
        if progress.pending:
            raise BadData(
                f"{len(progress.pending)} prompts in {self.folder.prompts_file} wait for answers. "
                "Import their answers with `--answers`, then name the suite."
            )
        source = QuestionSource(kind="model", answered=answered, date=date.today())
        refined = {track.question.id: _refined(track, source) for track in progress.tracks}
        questions, dropped = _distinct([refined.get(one.id, one) for one in self.suite.questions])
        return save_suite(
            folder,
            catalog=self.asking.catalog,
            note=note or f"Refined from {self.suite.meta.name}: critique and correction, at most four rounds.",
            recording=Recording(tuple(questions), tuple(dropped), {}),
            today=date.today(),
        )


def _refined(track: Track, source: QuestionSource) -> Question:
    """Return the best text of a question; one that was never corrected stays exactly as it was."""
    best = track.best
    if best is None or best.correction is None:
        return track.question
    written = source.model_copy(update={"model": best.writer or None, "prompt": best.correction})
    return track.question.model_copy(
        update={"id": f"{track.question.id}~{best.number}", "text": best.text, "source": written}
    )


def _distinct(questions: Sequence[Question]) -> tuple[list[Question], list[Dropped]]:
    """Leave out what a correction made the same as a sibling."""
    seen: set[tuple[str, str | None, str]] = set()
    kept: list[Question] = []
    dropped: list[Dropped] = []
    for one in questions:
        key = (one.vignette, one.pair_id, fold(one.text))
        if key in seen:
            dropped.append(Dropped(one.id, one.text, "duplicate"))
        else:
            seen.add(key)
            kept.append(one)
    return kept, dropped

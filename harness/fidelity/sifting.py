"""What `klartext harness prompts import` and `generate` do with questions unlike their vignette."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bot import LanguageDetector
from harness.fidelity.judging import FidelityJudge
from harness.fidelity.regenerate import UNLIKE, Answerer, Completion, load_again
from harness.fidelity.tables import NAMES
from harness.prompts import Prompt, write_prompts
from harness.questions import Question, QuestionSource, Recording
from harness.recording import ModelAnswer, record


@dataclass(frozen=True, slots=True)
class Sifting:
    """Whether questions unlike their vignette stay.

    Attributes:
        mode: ``keep`` them and say how many there are, or ``reject`` them and ask for others.
        vignettes: Folder of vignettes of one's own.
        missing: Where to write prompts for what is missing; then no suite is written while any is.
    """

    mode: Literal["keep", "reject"]
    vignettes: Path | None = None
    missing: Path | None = None

    def recording(
        self,
        prompts: Sequence[Prompt],
        answers: dict[str, ModelAnswer],
        *,
        detector: LanguageDetector,
        source: QuestionSource,
        answerer: Answerer | None,
    ) -> Recording | None:
        """Read the answers; None when prompts for what is missing were written instead."""
        if not prompts or self.mode == "keep":
            recording = record(prompts, answers, detector=detector, source=source)
            self._report(recording.questions)
            return recording
        language = prompts[0].language
        judge = FidelityJudge.open(language, self.vignettes)
        completion = Completion(judge, detector, source, load_again(language))
        completed = completion.run(prompts, answers, answerer)
        rejected = completed.recording.reasons.get(UNLIKE, 0)
        print(f"fidelity: {rejected} questions rejected as unlike their vignette, {completed.rounds} rounds")
        if self.missing is not None and completed.missing:
            write_prompts(completed.missing, self.missing, model=_model(answers), temperature=source.temperature)
            count = sum(prompt.count for prompt in completed.missing)
            print(f"{count} questions are missing: {len(completed.missing)} prompts in {self.missing}.")
            print("Have them answered, and import all answers together; no suite was written yet.")
            return None
        self._report(completed.recording.questions)
        return completed.recording

    def _report(self, questions: Sequence[Question]) -> None:
        if not questions:
            return
        judge = FidelityJudge.open(questions[0].lang, self.vignettes)
        judged = judge.judge_all(questions)
        unlike = sum(bool(one.misses) for one in judged)
        print(f"fidelity: {unlike} of {len(judged)} questions are unlike their vignette")
        for drift in judge.drift(judged):
            for one in drift.measures:
                if one.verdict not in ("fits", "too few"):
                    print(f"fidelity: {drift.vignette} {one.verdict} in {NAMES[one.measure]}")


def _model(answers: Mapping[str, ModelAnswer]) -> str:
    """Return the model that gave most of the answers."""
    named = Counter(answer.model for answer in answers.values() if answer.model)
    return named.most_common(1)[0][0] if named else "gpt-4o"

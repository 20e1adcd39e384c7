"""Hold the questions of a suite against their vignettes: loads the word lists that this needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot import BadData
from harness.fidelity.drift import Judged, VignetteDrift, drift_of, judge
from harness.fidelity.lexicon import Lexicon, load_lexicon
from harness.fidelity.measures import count
from harness.questions import Question
from harness.vignettes import ALL, Vignette, load_vignettes

OTHER = {"de": "en", "en": "de"}  # what a question in the wrong language is most likely written in


class FidelityJudge:
    """Measures questions against the vignettes of one language."""

    def __init__(self, vignettes: Sequence[Vignette]) -> None:
        self.vignettes: Mapping[str, Vignette] = {vignette.id: vignette for vignette in vignettes}

    @classmethod
    def open(cls, language: str, folder: Path | None = None) -> FidelityJudge:
        """Know all vignettes that speak `language`, shipped or in a folder."""
        return cls(load_vignettes(language, folder, names=[ALL]))

    def judge(self, id_: str, text: str, vignette: str) -> Judged:
        """Measure one text; raise BadData when the vignette is unknown."""
        if vignette not in self.vignettes:
            known = ", ".join(self.vignettes)
            raise BadData(
                f"The vignette {vignette!r} has no ranges to measure against (known: {known}). "
                "Give the folder it lies in with `--vignettes`."
            )
        asked_by = self.vignettes[vignette]
        return judge(id_, count(text, _lexicon(asked_by)), asked_by)

    def judge_all(self, questions: Sequence[Question]) -> list[Judged]:
        """Measure all questions that patients are said to have asked (urgent messages are not)."""
        return [self.judge(one.id, one.text, one.vignette) for one in questions if one.kind != "urgent"]

    def drift(self, judged: Sequence[Judged]) -> list[VignetteDrift]:
        """Summarise by vignette, in the order of their first questions."""
        names = dict.fromkeys(one.vignette for one in judged)
        return [drift_of(self.vignettes[name], [one for one in judged if one.vignette == name]) for name in names]


def _lexicon(vignette: Vignette) -> Lexicon:
    return load_lexicon(vignette.language, vignette.mixed_with or OTHER.get(vignette.language, "en"))

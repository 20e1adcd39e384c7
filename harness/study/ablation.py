"""What each part of the matcher is worth: train without it, and ask the same questions."""

from __future__ import annotations

from collections.abc import Callable

from bot import Part
from harness.study.scoring import Measured, Study, ask
from harness.study.tables import StudyTable, share, share_range

WITHOUT: tuple[tuple[str, Part], ...] = (
    ("the ridge", "ridge"),
    ("nearest variants in meaning", "dense"),
    ("nearest variants in wording", "chars"),
    ("BM25", "bm25"),
    ("vectors (wording only)", "meaning"),
    ("wording (vectors only)", "wording"),
    ("background questions", "background"),
    ("the calibration set", "calibration"),
)
STEPS = len(WITHOUT) + 2


def ablation(study: Study, progress: Callable[[], None] = lambda: None) -> StudyTable:
    """Measure the whole matcher, the matcher without each part, and the published method."""
    measured = {"everything": _measure(study)}
    progress()
    for name, part in WITHOUT:
        measured[f"without {name}"] = _measure(study, part)
        progress()
    cosine = ask(study.whole, study.questions, study.language, method="cosine")
    measured["the published method (`cosine`)"] = Measured.of(cosine)
    progress()
    note = (
        f"{study.about} Every row is trained anew; a view that is left out has weight 0 in the fusion, which is fitted "
        "again. Thresholds come from the calibration set (without it from held-out training texts, with no stated "
        "risk). Interval: pairs resampled as a whole."
    )
    return StudyTable(
        title=f"Ablation ({study.language})",
        note=note,
        columns=(
            "",
            "top1",
            "worst vignette",
            "answered right",
            "95 % by pair",
            "wrong of all",
            "novel answered",
        ),
        rows=tuple((name, *_cells(one)) for name, one in measured.items()),
        figures=tuple({"row": name, **one.as_json()} for name, one in measured.items()),
    )


def _measure(study: Study, *without: Part) -> Measured:
    assistant = study.whole.without(*without) if without else study.whole
    return Measured.of(ask(assistant, study.questions, study.language))


def _cells(one: Measured) -> tuple[str, ...]:
    return (
        share(one.top1),
        share(one.worst_top1),
        share(one.accuracy),
        share_range(one.interval),
        share(one.wrong),
        share(one.novel_answered),
    )

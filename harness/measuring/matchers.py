"""The matcher without each of its parts, with other encoders, and the pairs that it confuses most."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bot import Part, Settings
from harness.measuring.study import NOTHING, Measured, Study, StudyTable, ask, share
from harness.scoring.confusions import confusions, mistakes_of

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
TIMED = 100  # questions
# One question, answered by a process that has just started; what it was taught lies in the data folder.
PROBE = r"""
import re, sys
from pathlib import Path
from bot import Assistant
catalog, language, encoder, question = sys.argv[1:]
Assistant.open(catalog, encoder=encoder, sample=True, languages=[language]).answer(question, language)
status = Path("/proc/self/status")
found = re.search(r"VmHWM:\s+(\d+)", status.read_text()) if status.is_file() else None
print(int(found[1]) / 1024 if found else "")
"""
LISTED = 15
MEASURED = ("top1", "worst vignette", "answered right", "95 % by pair", "wrong of all")  # `Measured.cells`


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
        "risk). Interval: with regard to how alike questions about one pair fare."
    )
    return StudyTable(
        title=f"Ablation ({study.language})",
        note=note,
        columns=("", *MEASURED, "novel answered"),
        rows=tuple((name, *one.cells, share(one.novel_answered)) for name, one in measured.items()),
        figures=tuple({"row": name, **one.as_json()} for name, one in measured.items()),
    )


def _measure(study: Study, *without: Part) -> Measured:
    assistant = study.whole.without(*without) if without else study.whole
    return Measured.of(ask(assistant, study.questions, study.language))


@dataclass(frozen=True, slots=True)
class Cost:
    """What an encoder costs.

    Attributes:
        dimensions: Of its vectors.
        encode_ms: Median time for one question.
        decide_ms: Median time of a whole decision, encoding included.
        peak_mb: Memory of a process that answers one question; None where the system does not tell.
    """

    dimensions: int
    encode_ms: float
    decide_ms: float
    peak_mb: float | None


def encoders(
    names: Sequence[str], open_with: Callable[[str], Study], progress: Callable[[], None] = lambda: None
) -> StudyTable:
    """Measure each encoder.

    Args:
        names: Of the encoders, at least one.
        open_with: Opens the study with an encoder.
        progress: Called after each encoder.
    """
    rows: list[tuple[str, ...]] = []
    figures: list[dict[str, Any]] = []
    for name in names:
        study = open_with(name)
        measured = Measured.of(ask(study.whole, study.questions, study.language))
        cost = cost_of(study, name)
        memory = NOTHING if cost.peak_mb is None else f"{cost.peak_mb:.0f}"
        costs = (str(cost.dimensions), f"{cost.encode_ms:.1f}", f"{cost.decide_ms:.1f}", memory)
        rows.append((_short(name), *measured.cells, *costs))
        figures.append({"encoder": _short(name), **measured.as_json(), **asdict(cost)})
        progress()
    note = (
        f"{study.about} Each encoder has its own trained head and thresholds. Times: medians over {TIMED} questions, "
        "one at a time, on the machine at hand, with half its cores; compare them with each other only. Memory: "
        "peak of a process that answers one question."
    )
    columns = ("encoder", *MEASURED, "dimensions", "ms to encode", "ms to decide", "memory, MB")
    return StudyTable(f"Encoders ({study.language})", note, columns, tuple(rows), tuple(figures))


def cost_of(study: Study, name: str) -> Cost:
    """Measure time in this process and memory in a new one."""
    texts = [question.text for question in study.questions[:: max(1, len(study.questions) // TIMED)]]
    encode = _median_ms(lambda text: study.whole.encoder.encode([text]), texts)
    decide = _median_ms(lambda text: study.whole.answer(text, study.language), texts)
    dimensions = int(study.whole.encoder.encode(texts[:1]).shape[1])
    return Cost(dimensions, encode, decide, _peak_mb(study, name, texts[0]))


def _median_ms(act: Callable[[str], object], texts: Sequence[str]) -> float:
    act(texts[0])  # the first call loads what is loaded late
    times = []
    for text in texts:
        started = time.perf_counter()
        act(text)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def _peak_mb(study: Study, name: str, question: str) -> float | None:
    folder = study.whole.catalog(study.language).path.parent
    data = Settings.from_environment(data=study.data).data
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(folder), study.language, name, question],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "KLARTEXT_DATA": str(data)},
    )
    printed = done.stdout.strip()
    return float(printed) if printed else None


def _short(name: str) -> str:
    """Return the name with the last two folders only: the others say where a model lies, not what it is."""
    kind, _, model = name.partition(":")
    return f"{kind}:{'/'.join(Path(model).parts[-2:])}" if model else kind


def confusion(study: Study, *, listed: int = LISTED) -> StudyTable:
    """List the most confused pairs of pairs."""
    mistakes = mistakes_of(ask(study.whole, study.questions, study.language))
    found = confusions(mistakes, len(study.whole.catalog(study.language).pairs))
    beyond = sum(one.beyond_chance for one in found)
    note = (
        f"{study.about} {len(mistakes)} questions had a wrong first candidate, in {len(found)} pairs of pairs; "
        f"{beyond} of these are beyond chance (false discovery rate 5 %). The {min(listed, len(found))} least likely "
        "by chance are shown. Expected: if each pair drew mistakes as it does from the questions about all other pairs."
    )
    return StudyTable(
        title=f"Confused pairs ({study.language})",
        note=note,
        columns=("asked about / taken for", "forth", "back", "expected", "q"),
        rows=tuple(
            (f"{one.first} / {one.second}", str(one.forth), str(one.back), f"{one.expected:.2f}", f"{one.q_value:.3f}")
            for one in found[:listed]
        ),
        figures=tuple(asdict(one) for one in found),
    )

"""`klartext bench --scale`: a catalog of 5,000 pairs beside the shipped one, and an imported set of 150 intents.

The texts are random words: they measure time and memory, not understanding.
"""

from __future__ import annotations

import csv
import random
import re
import tempfile
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bot import Assistant, Settings
from harness.measuring.figures import KLARTEXT, PEAK_MB, BenchFigure, median_of, python, ratio

PAIRS, VARIANTS = 5000, 20
INTENTS, PHRASINGS = 150, 100
ASKED = 100
K = 10
WORD = re.compile(r"\w+")
SYLLABLES = WORD.findall("ka lo mi ter san dro fel nu bar zin gra tel mo ri ves pan kul ost hep arn lig tum sek oph")
COMMON = WORD.findall(
    "ich wie was kann muss darf bei der die das und mit zur wegen nach vor beim noch schon denn bitte mal"
)
ANSWER = """\
import sys
from pathlib import Path
from bot import Assistant
assistant = Assistant.open(sys.argv[1], data=Path(sys.argv[2]), sample=True)
for line in Path(sys.argv[3]).read_text(encoding="utf-8").splitlines():
    assistant.answer(line, "de")
print(peak_mb())
"""


def measure_scale(repeats: int) -> list[BenchFigure]:
    """Return the figures of large catalogs; takes minutes."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_large(Path(folder), repeats), _imported(Path(folder))]


def _large(folder: Path, repeats: int) -> list[BenchFigure]:
    texts = write_questions(folder / "large.csv", PAIRS, VARIANTS)
    _import(folder / "large.csv", folder / "large")
    assistant = Assistant.open(folder / "large", data=folder / "data", sample=True)
    started = time.perf_counter()
    vectors = assistant.encoder.encode(texts)
    encoded = time.perf_counter() - started
    started = time.perf_counter()
    assistant.nearest(texts[0], "de", k=1)  # builds the index and nothing else
    built = time.perf_counter() - started
    assistant.prepare()
    asked = texts[:: len(texts) // ASKED]
    small = Assistant.open(settings=Settings.from_environment(), sample=True, languages=["de"])
    small.prepare()
    (folder / "asked.txt").write_text("\n".join(asked), encoding="utf-8")
    out, _ = python(PEAK_MB + ANSWER, folder / "large", folder / "data", folder / "asked.txt")
    peak_mb = float(out.strip().splitlines()[-1])
    quick, slow = _decision(small, asked, repeats), _decision(assistant, asked, repeats)
    return [
        ratio(f"decision, {PAIRS} pairs / 33 pairs", slow, quick, 5),
        BenchFigure("building the index / encoding", built / encoded, 3, "x", f"{built:.0f} / {encoded:.0f} s"),
        BenchFigure(
            f"1 - recall of the {K} nearest", 1 - _recall(assistant, asked, vectors), 0.01, "", f"{len(asked)} asked"
        ),
        BenchFigure("memory of answering", peak_mb, 1000, "MB", f"{PAIRS} pairs x {VARIANTS}"),
    ]


def _decision(assistant: Assistant, asked: list[str], repeats: int) -> float:
    return median_of(lambda: [assistant.answer(text, "de") for text in asked], repeats) / len(asked)


def _recall(assistant: Assistant, asked: list[str], vectors: npt.NDArray[np.float32]) -> float:
    """Return the share of the true nearest among those found; equally near ones count as well."""
    found = 0
    for text in asked:
        similarity = vectors @ assistant.encoder.encode([text])[0]
        least = np.partition(similarity, len(similarity) - K)[-K]
        found += sum(neighbour.similarity >= least - 1e-5 for neighbour in assistant.nearest(text, "de", k=K))
    return found / (K * len(asked))


def _imported(folder: Path) -> BenchFigure:
    write_questions(folder / "intents.csv", INTENTS, PHRASINGS, background=500)
    started = time.perf_counter()
    _import(folder / "intents.csv", folder / "intents")
    Assistant.open(folder / "intents", data=folder / "data", sample=True).prepare()
    took = time.perf_counter() - started
    return BenchFigure("import and train 150 intents x 100", took, 60, "s", "500 out of scope among them")


def _import(file: Path, out: Path) -> None:
    python(KLARTEXT, "qa", "import", file, "--out", out, "--lang", "de")


def write_questions(path: Path, pairs: int, variants: int, background: int = 0) -> list[str]:
    """Write a question set of random words as CSV, always the same; return its texts."""
    draw = random.Random(5)
    rows = [
        (f"p{number}", text)
        for number in range(pairs)
        for text in _variants(
            draw, ["".join(draw.choices(SYLLABLES, k=draw.randint(2, 4))) for _ in range(4)], variants
        )
    ]
    rows += [("", " ".join(draw.sample(COMMON, 6))) for _ in range(background)]
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("pair_id", "text"), *rows])
    return [text for _, text in rows]


def _variants(draw: random.Random, keys: list[str], count: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        words = draw.sample(keys, draw.randint(2, 3)) + draw.sample(COMMON, draw.randint(2, 5))
        draw.shuffle(words)
        found.setdefault(" ".join(words))
    return list(found)

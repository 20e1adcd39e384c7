"""`klartext bench`: how long things take, as medians and as ratios within one run.

Machines are noisy, so only ratios are compared with the limits; every limit is printed beside its figure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from bot import Assistant, Settings, friendly_errors
from harness.bench_interview import measure_interview
from harness.bench_report import measure_report
from harness.bench_scale import measure_scale
from harness.figures import Figure, median_of, milliseconds
from harness.run import run_suite
from harness.score import summarise
from harness.suite import Suite, load_suite
from harness.systems import InProcess, Opening

# What a process needs that does nothing but import what the store, the training and the encoder stand on.
BARE = """\
import chromadb, sklearn.linear_model, sklearn.feature_extraction.text
from bot.adapters.embedded_encoder import EmbeddedEncoder
EmbeddedEncoder().encode(["bare"])
"""
HEAVY = ("torch", "matplotlib", "fastapi", "uvicorn", "sentence_transformers", "openai", "sklearn", "pandas")
PROBE = r"""\
import json, re, sys
from pathlib import Path
from bot.commands.main import main
sys.argv = ["klartext", "answer", "--lang", "de", sys.argv[1]]
try:
    main()
except SystemExit:
    pass
heavy = [name for name in {heavy!r} if name in sys.modules]
# Not getrusage: its peak is inherited from the process that started this one.
peak = int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024
print(json.dumps({{"peak_mb": peak, "heavy": heavy}}), file=sys.stderr)
"""


def bench(
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Repeats of each measurement.")] = 7,
    data: Annotated[Path | None, typer.Option("--data", help="Folder for index and database.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the figures as JSON.")] = None,
    scale: Annotated[bool, typer.Option("--scale", help="Large catalogs instead; takes minutes.")] = False,
    harness: Annotated[bool, typer.Option("--harness", help="Running instead: overhead, workers, a million.")] = False,
    service: Annotated[bool, typer.Option("--service", help="The service beside a bare endpoint instead.")] = False,
) -> None:
    """Measure decisions, a whole run, start-up and memory, or large catalogs; exit 1 if a limit is exceeded."""
    with friendly_errors():
        figures = _service_figures(repeats, data) if service else _figures(repeats, data, scale=scale, harness=harness)
        table = Table("figure", "measured", "limit", "medians", box=box.SIMPLE_HEAD)
        for figure in figures:
            style = None if figure.holds else "bold red"
            table.add_row(
                figure.name,
                f"{figure.value:.3g} {figure.unit}",
                f"{figure.limit:g} {figure.unit}",
                figure.detail,
                style=style,
            )
        Console(highlight=False).print(table)
        if out is not None:
            out.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n", encoding="utf-8")
    raise typer.Exit(0 if all(figure.holds for figure in figures) else 1)


def _service_figures(repeats: int, data: Path | None) -> list[Figure]:
    from harness.service_bench.measure import measure_service

    return measure_service(repeats, data)


def _figures(repeats: int, data: Path | None, *, scale: bool, harness: bool) -> list[Figure]:
    if harness:
        from harness.bench_running import measure_running  # for those who have the extra

        return measure_running(repeats, data)
    return measure_scale(repeats) if scale else measure(repeats, data)


def measure(repeats: int, data: Path | None) -> list[Figure]:
    """Return all figures."""
    suite = load_suite("mammography-de")
    system = InProcess.open(Opening("mammography", "embedded", "hybrid", data), "de")
    assistant = system.assistant
    Assistant.open(data=data, sample=True).prepare()  # warms the index of every language
    texts = [question.text for question in suite.paraphrases]
    folder = Settings.from_environment(data=data).data
    return [
        _single(assistant, texts, repeats),
        _batch(assistant, texts, repeats),
        _run(system, suite, repeats),
        *_startup(texts[0], folder, repeats),
        *measure_report(system, suite, folder, repeats),
        *measure_interview(repeats),
    ]


def _single(assistant: Assistant, texts: Sequence[str], repeats: int) -> Figure:
    some = texts[:: max(1, len(texts) // 100)]

    def each(act: Callable[[str], object]) -> float:
        return median_of(lambda: [act(text) for text in some], repeats) / len(some)

    encode, decide = (
        each(lambda text: assistant.encoder.encode([text])),
        each(lambda text: assistant.answer(text, "de")),
    )
    return Figure("one decision / encoding its question", decide / encode, 4, "x", milliseconds(decide, encode))


def _batch(assistant: Assistant, texts: Sequence[str], repeats: int) -> Figure:
    encode = median_of(lambda: assistant.encoder.encode(texts), repeats)
    decide = median_of(lambda: assistant.answer_all(texts, "de"), repeats)
    return Figure(f"{len(texts)} decisions / encoding them", decide / encode, 3, "x", milliseconds(decide, encode))


def _run(system: InProcess, suite: Suite, repeats: int) -> Figure:
    only = Suite(suite.meta, suite.paraphrases)
    texts = [question.text for question in only.questions]
    decide = median_of(lambda: system.assistant.answer_all(texts, "de"), repeats)

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            summarise(run_suite(only, system, system.assistant.catalog("de"), Path(folder)))

    whole = median_of(run, repeats)
    return Figure(
        f"run of {len(texts)}, stored and scored / deciding", whole / decide, 2, "x", milliseconds(whole, decide)
    )


def _startup(question: str, data: Path, repeats: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "question.txt"
        file.write_text(question + "\n", encoding="utf-8")
        probe = PROBE.format(heavy=HEAVY)
        environ = {"KLARTEXT_DATA": str(data)}
        found = json.loads(_python(["-c", probe, str(file)], environ).stderr.splitlines()[-1])
        answer = median_of(
            lambda: _python(["-c", "from bot.commands.main import main; main()", "answer", str(file)], environ), repeats
        )
        bare = median_of(lambda: _python(["-c", BARE], environ), repeats)
    heavy = ", ".join(found["heavy"]) or "none"
    return [
        Figure(
            "start and first answer / bare imports and encoder", answer / bare, 1.5, "x", milliseconds(answer, bare)
        ),
        Figure("peak memory of one answer", found["peak_mb"], 450, "MB", f"heavy imports: {heavy}"),
        Figure("heavy modules imported for one answer", len(found["heavy"]), 0, "", heavy),
    ]


def _python(arguments: list[str], environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], check=True, capture_output=True, text=True, env={**os.environ, **environ}
    )

"""Decisions, a whole run, start-up, memory, turns of the interview, and the page about a run.

Machines are noisy, so only ratios are compared with the limits; every limit is printed beside its figure. The large
form of the interview has the size and shape of a published radiology order: 271 items, conditions, calculated values.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot import Assistant, Settings
from bot.catalog.fhir_files import shipped_terminology
from bot.interview.form.indexed import index_questionnaire
from bot.interview.load import load_form
from bot.interview.validate.response import check_response
from bot.interview.values.answer import Answer
from bot.interview.walk.assemble import Heading
from bot.interview.walk.engine import AskItem, Done, Engine, Show
from bot.interview.walk.filling import Given, NoMore, Shown, Skipped
from harness.measuring.figures import KLARTEXT, PEAK_MB, BenchFigure, median_of, python, ratio
from harness.patients.suites import Suite, load_suite
from harness.reporting.page import render
from harness.reporting.report import Sources, gather
from harness.running.run import load_run, run_suite
from harness.scoring.score import summarise
from harness.systems.system import InProcess, Opening

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
print(json.dumps({{"peak_mb": peak_mb(), "heavy": heavy}}), file=sys.stderr)
"""
LARGE, SMALL = 271, 25
IN_GROUP = 10
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-calculatedExpression"
CODES = [{"valueCoding": {"system": "https://klartext.example/bench", "code": code}} for code in "abc"]
Json = dict[str, Any]
MOST_S, MOST_MB = 2.0, 3.0


def measure(repeats: int, data: Path | None) -> list[BenchFigure]:
    """Return all figures."""
    suite = load_suite("mammography-de")
    system = InProcess.open(Opening("mammography", "embedded", "hybrid", data), "de")
    assistant = system.assistant
    Assistant.open(data=data, sample=True).prepare()  # warms the index of every language
    texts = [question.text for question in suite.paraphrases]
    folder = Settings.from_environment(data=data).data
    some = texts[:: max(1, len(texts) // 100)]

    def each(act: Callable[[str], object]) -> float:
        return median_of(lambda: [act(text) for text in some], repeats) / len(some)

    decide_one, encode_one = (
        each(lambda text: assistant.answer(text, "de")),
        each(lambda text: assistant.encoder.encode([text])),
    )
    decide = median_of(lambda: assistant.answer_all(texts, "de"), repeats)
    encode = median_of(lambda: assistant.encoder.encode(texts), repeats)
    return [
        ratio("one decision / encoding its question", decide_one, encode_one, 4),
        ratio(f"{len(texts)} decisions / encoding them", decide, encode, 3),
        _run(system, suite, decide, repeats),
        *_startup(texts[0], folder, repeats),
        *measure_report(system, suite, folder, repeats),
        *measure_interview(repeats),
    ]


def _run(system: InProcess, suite: Suite, decide_s: float, repeats: int) -> BenchFigure:
    only = Suite(suite.meta, suite.paraphrases)

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            summarise(run_suite(only, system, system.assistant.catalog("de"), Path(folder)))

    return ratio(f"run of {len(only.questions)}, stored and scored / deciding", median_of(run, repeats), decide_s, 2)


def _startup(question: str, data: Path, repeats: int) -> list[BenchFigure]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "question.txt"
        file.write_text(question + "\n", encoding="utf-8")
        environ = {"KLARTEXT_DATA": str(data)}
        found = json.loads(python(PEAK_MB + PROBE.format(heavy=HEAVY), file, environ=environ)[1].splitlines()[-1])
        answer = median_of(lambda: python(KLARTEXT, "answer", file, environ=environ), repeats)
        bare = median_of(lambda: python(BARE, environ=environ), repeats)
    heavy = ", ".join(found["heavy"]) or "none"
    return [
        ratio("start and first answer / bare imports and encoder", answer, bare, 1.5),
        BenchFigure("peak memory of one answer", found["peak_mb"], 450, "MB", f"heavy imports: {heavy}"),
        BenchFigure("heavy modules imported for one answer", len(found["heavy"]), 0, "", heavy),
    ]


def measure_interview(repeats: int) -> list[BenchFigure]:
    """Return the figures of the interview."""
    large, small = (min(_mean_turn(size) for _ in range(repeats)) for size in (LARGE, SMALL))
    figures = [ratio(f"interview turn, {LARGE} items / {SMALL}", large, small, 10)]
    try:
        from fhir.resources.R4B.questionnaireresponse import QuestionnaireResponse
    except ImportError:  # only the test extra brings it
        return figures
    form = large_form(LARGE, formulas=False)
    response = _walk(Engine(load_form(form), now=NOW))[1]
    text, known = json.dumps(response), shipped_terminology()
    reading = median_of(lambda: QuestionnaireResponse.model_validate_json(text), repeats)
    checking = median_of(lambda: check_response(response, index_questionnaire(form), known=known), repeats)
    return [*figures, ratio("validating a response / parsing it", checking, reading, 2)]


def _mean_turn(size: int) -> float:
    times, _ = _walk(Engine(load_form(large_form(size)), now=NOW))
    return sum(times) / len(times)


def _walk(engine: Engine) -> tuple[list[float], Json]:
    """Answer everything; return the seconds of each turn (check, take, find what is next), and the response."""
    filling, times = engine.start(), list[float]()
    step = engine.next(filling)
    while not isinstance(step, Done):
        started = time.perf_counter()
        if isinstance(step, AskItem):
            answers = (_answer(step.item.type),)
            wrong = engine.problems(filling, step.path, answers)
            filling = engine.apply(filling, Skipped(step.path) if wrong else Given(step.path, answers))
        else:
            filling = engine.apply(filling, Shown(step.path) if isinstance(step, Show) else NoMore(step.path))
        step = engine.next(filling)
        times.append(time.perf_counter() - started)
    return times, dict(engine.response(filling, Heading("completed", NOW.isoformat())))


def large_form(items: int, *, formulas: bool = True) -> Json:
    """Return a Questionnaire of that many items: groups of ten with conditions, and calculated items at their ends."""
    groups: list[Json] = []
    count = 0
    while count < items:
        group: Json = {"linkId": f"g{count}", "type": "group", "text": "Gruppe", "item": []}
        count += 1
        for place in range(min(IN_GROUP, items - count)):
            group["item"].append(_item(count, place, formulas))
            count += 1
        groups.append(group)
    return {"resourceType": "Questionnaire", "url": "https://klartext.example/bench", "status": "draft", "item": groups}


def _item(number: int, place: int, formulas: bool) -> Json:
    kind = ("boolean", "choice", "string", "date", "integer")[place % 5]
    item: Json = {"linkId": f"q{number}", "type": kind, "text": f"Frage {number}"}
    if kind == "choice":
        item["answerOption"] = CODES
    if place % 5 == 1:
        item["enableWhen"] = [{"question": f"q{number - 1}", "operator": "=", "answerBoolean": True}]
    if formulas and place == IN_GROUP - 1:
        expression = f"%resource.item.item.where(linkId='q{number - 5}').answer.value"
        item["extension"] = [{"url": SDC, "valueExpression": {"language": "text/fhirpath", "expression": expression}}]
    return item


def _answer(kind: str) -> Answer:
    values: dict[str, Answer] = {
        "boolean": Answer("boolean", True),
        "choice": Answer("coding", dict(CODES[0]["valueCoding"])),
        "string": Answer("string", "wie immer"),
        "date": Answer("date", "2020-03"),
        "integer": Answer("integer", 3),
    }
    return values[kind]


def measure_report(system: InProcess, suite: Suite, data: Path, repeats: int) -> list[BenchFigure]:
    """Measure the page about a run beside itself as the baseline: everything is on it.

    These limits are absolute: a person waits, and a page is sent by mail.
    """
    only = Suite(suite.meta, suite.paraphrases)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_suite(only, system, system.assistant.catalog(suite.meta.language), folder)

        sources = Sources(suite.meta.catalog, data, baseline=folder)

        def page() -> str:
            return render(gather(load_run(folder), sources), made=datetime.now(UTC))

        seconds = median_of(page, repeats)
        size = len(page().encode()) / 1e6
    count = len(only.questions)
    return [
        BenchFigure(f"page about a run of {count}", seconds, MOST_S, "s", f"{seconds * 1000:.0f} ms, with a baseline"),
        BenchFigure(
            f"weight of a page about {count} questions", size, MOST_MB, "MB", f"{size * 1e6 / count:.0f} bytes each"
        ),
    ]

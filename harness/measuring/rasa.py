"""A real Rasa with the same content, in native mode, beside our matcher: one run, one table."""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError

import yaml

from bot import Settings, Unreachable, UserFixable
from harness.measuring.figures import KLARTEXT
from harness.measuring.rasa_load import CHANNEL
from harness.measuring.service import Running, serving
from harness.measuring.service_load import Job, LoadTimes
from harness.patients.suites import Suite, load_suite

PATIENTS, TURNS = 50, 6
TOKEN = "a-token-for-the-benchmark-alone"
START_S, TRAIN_S, ANSWER_S = 300, 3600, 1200


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured.

    Attributes:
        environment: With Rasa Open Source 3.6.
        suite: Questions that nothing was trained on.
        epochs: Of Rasa's two classifiers.
        wordings: Of each pair, that Rasa is taught; None: all, as ours.
        data: Holds our trained catalog; None: as the settings say.
    """

    environment: Path
    suite: str = "mammography-six-de"
    epochs: int = 100
    wordings: int | None = None
    data: Path | None = None

    @property
    def program(self) -> Path:
        """Return the command `rasa`; raise UserFixable where there is none."""
        found = self.environment.absolute() / "bin" / "rasa"
        if not found.is_file():
            raise UserFixable(
                f"There is no Rasa in {self.environment}. Make an environment with Python 3.8 to 3.10, and install "
                "`rasa==3.6.21` into it (docs/rasa.md), or name another with `--rasa`."
            )
        return found


@dataclass(frozen=True, slots=True)
class Scored:
    """How questions were answered: shares of all, and by vignette."""

    top1: float
    accuracy: float
    wrong: float
    vignettes: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Costs:
    """What it takes to be asked over HTTP."""

    train_s: float
    start_s: float
    memory_mb: float
    p50_s: float
    p95_s: float
    per_s: float


@dataclass(frozen=True, slots=True)
class Contest:
    """What was measured, by system; costs are None for what has no service."""

    plan: Plan
    scores: Mapping[str, Scored]
    costs: Mapping[str, Costs | None]

    def as_markdown(self) -> str:
        """Return the table."""
        names = list(self.scores)
        rows: list[tuple[str, Callable[[str], str]]] = [
            ("answered right", lambda name: f"{self.scores[name].accuracy:.3f}"),
            ("answered wrong", lambda name: f"{self.scores[name].wrong:.3f}"),
            ("first candidate right", lambda name: f"{self.scores[name].top1:.3f}"),
            *((f"right: {each}", self._of_vignette(each)) for each in self.scores[names[0]].vignettes),
            ("training", self._cost(lambda costs: f"{costs.train_s:.0f} s")),
            ("start", self._cost(lambda costs: f"{costs.start_s:.1f} s")),
            ("peak memory", self._cost(lambda costs: f"{costs.memory_mb:.0f} MB")),
            (f"{PATIENTS} patients at once, p50", self._cost(lambda costs: f"{costs.p50_s * 1000:.0f} ms")),
            (f"{PATIENTS} patients at once, p95", self._cost(lambda costs: f"{costs.p95_s * 1000:.0f} ms")),
            (f"{PATIENTS} patients at once, turns a second", self._cost(lambda costs: f"{costs.per_s:.1f}")),
        ]
        lines = [f"| {self.plan.suite} | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
        lines += [f"| {label} | {' | '.join(cell(name) for name in names)} |" for label, cell in rows]
        return "\n".join(lines) + "\n"

    def _of_vignette(self, vignette: str) -> Callable[[str], str]:
        return lambda name: f"{self.scores[name].vignettes[vignette]:.3f}"

    def _cost(self, written: Callable[[Costs], str]) -> Callable[[str], str]:
        def cell(name: str) -> str:
            costs = self.costs[name]
            return written(costs) if costs is not None else "–"

        return cell

    def write(self, path: Path) -> None:
        """Write the table as Markdown, and all of it as JSON beside it."""
        path.write_text(self.as_markdown(), encoding="utf-8")
        plan = {
            "suite": self.plan.suite,
            "epochs": self.plan.epochs,
            "wordings": self.plan.wordings,
            "patients": PATIENTS,
            "turns": TURNS,
        }
        told = {
            "plan": plan,
            "scores": {name: asdict(each) for name, each in self.scores.items()},
            "costs": {name: asdict(each) if each else None for name, each in self.costs.items()},
        }
        path.with_suffix(".json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def measure_rasa(plan: Plan, tell: Callable[[str], None]) -> Contest:
    """Train and run Rasa with the sample content, and ours; ask both the same.

    Args:
        plan: What is measured.
        tell: Is told what is done, for it takes long.

    Raises:
        UserFixable: There is no Rasa, or something does not work.
    """
    program, suite = plan.program, load_suite(plan.suite)
    taught = f"{plan.wordings} wordings a pair" if plan.wordings is not None else "all wordings"
    native = f"Rasa 3.6, native, {taught}, {plan.epochs} epochs"
    with tempfile.TemporaryDirectory(prefix="klartext-rasa-") as kept:
        folder = Path(kept)
        project = folder / "project"
        options = ["--mode", "native", "--lang", suite.meta.language, "--epochs", str(plan.epochs)]
        options += ["--wordings", str(plan.wordings)] if plan.wordings is not None else []
        _run([sys.executable, "-c", KLARTEXT, "rasa", "export", "--sample", *options, str(project)], folder, ANSWER_S)
        tell(f"Rasa is trained: {plan.epochs} epochs, {suite.meta.language}")
        rasa_train_s = _run([str(program), "train", "--skip-validation"], project, TRAIN_S)
        with _rasa(program, project) as (running, start_s):
            tell("Rasa is asked")
            scores = {native: _scored(plan, folder / "rasa", "--system", str(_system(project, running.url, folder)))}
            costs: dict[str, Costs | None] = {native: _costs(running, suite, rasa_train_s, start_s)}
        tell("ours is trained, from nothing")
        fresh = {"KLARTEXT_DATA": str(folder / "data")}
        asked = [sys.executable, "-c", KLARTEXT, "answer", "--lang", suite.meta.language]
        train_s = _run(asked, folder, TRAIN_S, fresh, told=suite.paraphrases[0].text + "\n")
        data = Settings.from_environment(data=plan.data).data
        tell("ours is asked")
        for method in ("cosine", "hybrid"):
            scores[method] = _scored(plan, folder / method, "--method", method)
        costs["cosine"] = None
        began = time.perf_counter()
        with serving(data, f"sqlite:///{folder}/klartext.db", {"KLARTEXT_CHANNEL_TOKEN": TOKEN}) as service:
            costs["hybrid"] = _costs(service, suite, train_s, time.perf_counter() - began)
    return Contest(plan, scores, costs)


def _run(
    command: Sequence[str], folder: Path, timeout_s: float, environ: Mapping[str, str] | None = None, told: str = ""
) -> float:
    """Run a program to its end; return the seconds that it took."""
    began = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=folder,
        input=told,
        env=_environ(command[0], environ),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
        raise Unreachable(
            f"`{Path(command[0]).name} {command[1]}` failed ({' '.join(last)[-300:]}). Mend it; run again."
        )
    return time.perf_counter() - began


def _environ(program: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a program; another Python must not look for its modules among ours."""
    foreign = program != sys.executable
    kept = {name: value for name, value in os.environ.items() if not (foreign and name.startswith("PYTHON"))}
    return {**kept, **(more or {}), "RASA_TELEMETRY_ENABLED": "false", "TF_CPP_MIN_LOG_LEVEL": "3"}


@contextmanager
def _rasa(program: Path, project: Path) -> Iterator[tuple[Running, float]]:
    """Run Rasa until the block ends; it answers when this yields, with the seconds until then."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    began = time.perf_counter()
    with (project / "run.log").open("w", encoding="utf-8") as log:
        command = [str(program), "run", "-i", "127.0.0.1", "-p", str(port)]
        process = subprocess.Popen(command, cwd=project, env=_environ(command[0]), stdout=log, stderr=log, text=True)
    running = Running(process, f"http://127.0.0.1:{port}")
    try:
        while not _answers(running.url):
            if process.poll() is not None or time.perf_counter() - began > START_S:
                raise Unreachable(f"Rasa did not answer within {START_S} s. Run `rasa run` in an exported project.")
            time.sleep(0.2)
        yield running, time.perf_counter() - began
    finally:
        process.terminate()
        process.wait(60)


def _answers(url: str) -> bool:
    body = json.dumps({"sender": "start", "message": "Hallo"}).encode()
    request = urllib.request.Request(url + CHANNEL, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return bool(json.load(answer))
    except (URLError, OSError):
        return False


def _system(project: Path, url: str, folder: Path) -> Path:
    """Write how the harness asks this Rasa."""
    domain = yaml.safe_load((project / "domain.yml").read_text(encoding="utf-8"))
    declines = [each["text"] for each in domain["responses"]["utter_declined"]]
    path = folder / "rasa.yaml"
    described = {"kind": "rasa", "url": url, "declined": declines, "timeout_s": 120}
    path.write_text(yaml.safe_dump(described, allow_unicode=True), encoding="utf-8")
    return path


def _scored(plan: Plan, out: Path, *asking: str) -> Scored:
    command = [sys.executable, "-c", KLARTEXT, "harness", "run", "--suite", plan.suite, "--out", str(out), *asking]
    _run([*command, *(["--data", str(plan.data)] if plan.data else [])], out.parent, ANSWER_S)
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    total: dict[str, Any] = summary["total"]
    vignettes = {name: float(each["accuracy"]) for name, each in summary["vignettes"].items()}
    answered = total["accuracy"] / total["precision"] if total["precision"] else total["accuracy"]
    return Scored(total["top1"], total["accuracy"], answered - total["accuracy"], vignettes)


def _costs(running: Running, suite: Suite, train_s: float, start_s: float) -> Costs:
    job = Job(running.url, PATIENTS, TURNS, tuple(question.text for question in suite.paraphrases))
    done = subprocess.run(
        [sys.executable, "-m", "harness.measuring.rasa_load"],
        input=json.dumps({"job": asdict(job), "token": TOKEN}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unreachable(f"The load could not be measured ({done.stderr.strip().splitlines()[-1]}). Run it again.")
    times = LoadTimes(**json.loads(done.stdout))
    ordered = sorted(times.seconds)
    p95_s = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    per_s = len(ordered) / times.elapsed_s
    return Costs(train_s, start_s, running.peak_mb(), statistics.median(ordered), p95_s, per_s)

"""A real Rasa with the same content, in native mode, beside our matcher: one run, one table."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bot import BadData, Unreachable, UserFixable, locate
from harness.measuring.figures import KLARTEXT
from harness.measuring.rasa_load import ChannelTimes
from harness.measuring.rasa_server import RasaEnvironment, run, until_it_answers
from harness.measuring.service import Running, load_in_a_process, quantile, serving
from harness.measuring.service_load import Job
from harness.patients.suites import Suite, load_suite

PATIENTS, TURNS = 50, 12
TOKEN = "a-token-for-the-benchmark-alone"
DECLINED, NOTE = "utter_declined", "utter_klartext_note"  # as `klartext rasa export` calls them
ANSWER_S = 3600
LEARN = """\
import sys
from pathlib import Path
from bot import Assistant
Assistant.open(Path(sys.argv[1]), data=Path(sys.argv[2]), sample=True).prepare()
"""
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured.

    Attributes:
        suite: Questions that nothing was trained on; both sides learn the content in its language alone.
        epochs: Of Rasa's two classifiers.
        wordings: Of each pair, that Rasa is taught; None: all, as ours.
    """

    suite: str = "mammography-six-de"
    epochs: int = 100
    wordings: int | None = None

    @property
    def native(self) -> str:
        """What Rasa is called in the table."""
        taught = f"{self.wordings} wordings a pair" if self.wordings is not None else "all wordings"
        return f"Rasa 3.6, native, {taught}, {self.epochs} epochs"


@dataclass(frozen=True, slots=True)
class Scored:
    """How questions were answered: shares of all, and by vignette."""

    top1: float
    accuracy: float
    wrong: float
    vignettes: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Costs:
    """What it takes to be asked over the REST channel.

    Attributes:
        memory_mb: Most that was held while it was asked, by all processes of the server.
        client: Share of the time in which the client used a processor: it must not be what is measured.
    """

    train_s: float
    start_s: float
    memory_mb: float
    p50_s: float
    p95_s: float
    per_s: float
    client: float = 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A figure of ours by Rasa's, and what is wanted of it.

    Attributes:
        least: At least this, or None.
        below: Less than this, or None.
    """

    name: str
    value: float
    least: float | None = None
    below: float | None = None

    @property
    def holds(self) -> bool:
        return (self.least is None or self.value >= self.least) and (self.below is None or self.value < self.below)

    @property
    def limit(self) -> str:
        return f"at least {self.least:g}" if self.least is not None else f"less than {self.below:g}"


@dataclass(frozen=True, slots=True)
class Contest:
    """What was measured, by system: Rasa first, what is served of ours last. Costs are None for what is not served."""

    plan: Plan
    scores: Mapping[str, Scored]
    costs: Mapping[str, Costs | None]

    @property
    def wanted(self) -> list[Wanted]:
        """What ours is to be beside Rasa."""
        theirs, *_, ours = self.costs.values()
        if theirs is None or ours is None:
            return []
        return [
            Wanted("turns a second, ours / Rasa's", ours.per_s / theirs.per_s, least=3),
            Wanted("peak memory, ours / Rasa's", ours.memory_mb / theirs.memory_mb, below=0.5),
        ]

    def as_markdown(self) -> str:
        """Return the tables: what was measured, and what is wanted."""
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
            ("of a processor, used by the client", self._cost(lambda costs: f"{costs.client:.2f}")),
        ]
        lines = [f"| {self.plan.suite} | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
        lines += [f"| {label} | {' | '.join(cell(name) for name in names)} |" for label, cell in rows]
        lines += ["", "| figure | measured | wanted | |", "|---|---|---|---|"]
        for each in self.wanted:
            held = "holds" if each.holds else "missed"
            lines.append(f"| {each.name} | {each.value:.2f} | {each.limit} | {held} |")
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
            "wanted": [{**asdict(each), "holds": each.holds} for each in self.wanted],
        }
        path.with_suffix(".json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def measure_rasa(environment: RasaEnvironment, plan: Plan, tell: Tell) -> Contest:
    """Train and run Rasa with the sample content, and ours; ask both the same.

    Args:
        environment: Where Rasa is.
        plan: What is measured.
        tell: Is told what is done, and what came of it, for it takes long.

    Raises:
        UserFixable: Something does not work; it says in which phase.
    """
    suite = load_suite(plan.suite)
    if not suite.paraphrases:
        raise BadData(f"The suite {plan.suite!r} has no questions that a pair answers. Choose another with `--suite`.")
    with tempfile.TemporaryDirectory(prefix="klartext-rasa-") as kept:
        run_ = _Run(environment, plan, suite, Path(kept), tell)
        scores, costs = dict[str, Scored](), dict[str, Costs | None]()
        scores[plan.native], costs[plan.native] = run_.rasa()
        train_s = run_.learn()
        for method in ("cosine", "hybrid"):
            scores[method] = run_.ours(method)
        costs |= {"cosine": None, "hybrid": run_.service(train_s)}
        tell(f"{run_.elapsed} done")
    return Contest(plan, scores, costs)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run, phase by phase, in a folder of its own."""

    environment: RasaEnvironment
    plan: Plan
    suite: Suite
    folder: Path
    tell: Tell
    began: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> str:
        return f"[{time.perf_counter() - self.began:5.0f} s]"

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        """Say that a phase begins, and where something does not work, in which."""
        self.tell(f"{self.elapsed} {name}")
        try:
            yield
        except UserFixable as error:
            raise Unreachable(f"{name}: {error}") from error
        except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            raise Unreachable(
                f"{name}: {' '.join(str(error).split())} ({type(error).__name__}). Run it again."
            ) from error

    def rasa(self) -> tuple[Scored, Costs]:
        """Export, train, start and ask Rasa."""
        plan, project = self.plan, self.folder / "project"
        options = ["--mode", "native", "--lang", self.suite.meta.language, "--epochs", str(plan.epochs)]
        options += ["--wordings", str(plan.wordings)] if plan.wordings is not None else []
        options += ["--catalog", _absolute(self.suite.meta.catalog)]
        with self._phase("the project for Rasa is written"):
            _klartext(["rasa", "export", "--sample", *options, str(project)], self.folder)
        with self._phase(f"Rasa {self.environment.version} learns"):
            train_s = self.environment.train(project)
        with ExitStack() as opened:
            with self._phase("Rasa starts"):
                running, start_s = opened.enter_context(self.environment.running(project))
            with self._phase(f"Rasa is asked {len(self.suite.questions)} questions"):
                scored = self._scored("rasa", "--system", str(_system(project, running.url, self.folder)))
            with self._phase(f"{PATIENTS} patients write to Rasa"):
                return scored, self._costs(running, train_s, start_s)

    @property
    def _catalog(self) -> Path:
        """The content in the suite's language alone, as Rasa has it."""
        whole = locate(self.suite.meta.catalog)
        folder = self.folder / "alone" / whole.name
        if not folder.exists():
            shutil.copytree(whole, folder)
            for other in folder.glob("??.yaml"):
                if other.stem != self.suite.meta.language:
                    other.unlink()
        return folder

    def learn(self) -> float:
        """Let ours learn from nothing, and return the seconds that it took."""
        with self._phase("ours learns, from nothing"):
            command = [sys.executable, "-c", LEARN, str(self._catalog), str(self.folder / "data")]
            return run("klartext", command, self.folder, ANSWER_S)

    def ours(self, method: str) -> Scored:
        """Ask ours."""
        with self._phase(f"ours ({method}) is asked {len(self.suite.questions)} questions"):
            options = ("--method", method, "--catalog", str(self._catalog), "--data", str(self.folder / "data"))
            return self._scored(method, *options)

    def service(self, train_s: float) -> Costs:
        """Start ours, and let patients write to it."""
        database, token = f"sqlite:///{self.folder}/klartext.db", {"KLARTEXT_CHANNEL_TOKEN": TOKEN}
        with ExitStack() as opened:
            with self._phase("ours starts"):
                began = time.perf_counter()
                running = opened.enter_context(serving(self.folder / "data", database, token, catalog=self._catalog))
                until_it_answers(running, TOKEN)
                start_s = time.perf_counter() - began
            with self._phase(f"{PATIENTS} patients write to ours"):
                return self._costs(running, train_s, start_s)

    def _scored(self, name: str, *asking: str) -> Scored:
        out = self.folder / f"run-{name}"
        _klartext(["harness", "run", "--suite", _absolute(self.plan.suite), "--out", str(out), *asking], self.folder)
        summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        total: dict[str, Any] = summary["total"]
        vignettes = {each: float(found["accuracy"]) for each, found in summary["vignettes"].items()}
        answered = total["accuracy"] / total["precision"] if total["precision"] else total["accuracy"]
        scored = Scored(total["top1"], total["accuracy"], answered - total["accuracy"], vignettes)
        self.tell(f"{self.elapsed} … {scored.accuracy:.3f} answered right, {scored.wrong:.3f} wrong")
        return scored

    def _costs(self, running: Running, train_s: float, start_s: float) -> Costs:
        job = Job(running.url, PATIENTS, TURNS, tuple(question.text for question in self.suite.paraphrases))
        told = {"job": asdict(job), "token": TOKEN}
        times = ChannelTimes(**load_in_a_process("harness.measuring.rasa_load", told, timeout_s=ANSWER_S))
        per_s = len(times.seconds) / times.elapsed_s
        memory_mb = running.peak_mb()
        self.tell(f"{self.elapsed} … {per_s:.1f} turns a second, {memory_mb:.0f} MB, client {times.client:.0%} busy")
        p50_s, p95_s = quantile(times, 0.5), quantile(times, 0.95)
        return Costs(train_s, start_s, memory_mb, p50_s, p95_s, per_s, times.client)


def _klartext(arguments: Sequence[str], folder: Path) -> None:
    run(f"klartext {' '.join(arguments[:2])}", [sys.executable, "-c", KLARTEXT, *arguments], folder, ANSWER_S)


def _absolute(named: str) -> str:
    """Return a path as it is read from elsewhere, and a name as it is."""
    return str(Path(named).absolute()) if Path(named).exists() else named


def _system(project: Path, url: str, folder: Path) -> Path:
    """Write how the harness asks this Rasa."""
    domain = yaml.safe_load((project / "domain.yml").read_text(encoding="utf-8"))
    # A reply that declines says what stands below every reply, too: neither answers anything.
    declines = [each["text"] for name in (DECLINED, NOTE) for each in domain["responses"][name]]
    path = folder / "rasa.yaml"
    described = {"kind": "rasa", "url": url, "declined": declines, "timeout_s": 120}
    path.write_text(yaml.safe_dump(described, allow_unicode=True), encoding="utf-8")
    return path

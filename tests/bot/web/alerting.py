"""Scrapes of a service, and the shipped alerting rules evaluated on them: as much of PromQL as the rules use."""

from __future__ import annotations

import operator
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import yaml
from prometheus_client.parser import text_string_to_metric_families

FOLDER = Path(__file__).parents[3] / "docs" / "operations"
RULES = FOLDER / "prometheus-rules.yaml"
INSTALL = "make extras"
NAME = r"[a-z_]+"
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {"==": operator.eq, ">": operator.gt, "<": operator.lt}
_EXPRESSION = re.compile(
    rf"(?P<clock>time\(\) - )?(?P<rise>increase\()?(?P<name>{NAME})(?:\{{(?P<labels>[^}}]*)\}})?(?:\[\d+[mh]\]\))?"
    rf" (?P<how>==|>|<) (?P<limit>\d+|{NAME})"
)
_LABEL = re.compile(r'([a-z]+)(=~|!=|=)"([^"]*)"')
Labels = frozenset[tuple[str, str]]
Firing = tuple[str, Labels]


@dataclass(frozen=True)
class Scrape:
    """What a service said at a moment.

    Attributes:
        at_s: Seconds since the epoch.
        samples: By name and labels.
    """

    at_s: float
    samples: Mapping[tuple[str, Labels], float]

    def value(self, name: str, **labels: str) -> float:
        return self.samples.get((name, frozenset(labels.items())), 0.0)

    def of(self, name: str) -> Iterator[tuple[Labels, float]]:
        return ((labels, value) for (found, labels), value in self.samples.items() if found == name)


def scrape(url: str) -> Scrape:
    """Ask a service as Prometheus does, which notes whether it answered as `up`."""
    job = frozenset({("job", "klartext")})
    try:
        text = httpx.get(url + "/metrics", trust_env=False, timeout=10).text
    except httpx.TransportError:
        return Scrape(time.time(), {("up", job): 0.0})
    read = parsed(text)
    return Scrape(read.at_s, {**read.samples, ("up", job): 1.0})


def parsed(text: str) -> Scrape:
    """Read what a service says, as it says it now."""
    families = text_string_to_metric_families(text)
    samples = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
        if not sample.name.endswith("_bucket")
    }
    return Scrape(time.time(), samples)


@cache
def rules() -> dict[str, dict[str, Any]]:
    """Return the shipped rules by the name of their alert."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def firing(now: Scrape, *, before: Scrape | None = None, later_s: float = 0.0) -> set[Firing]:
    """Return the alerts that fire, with the labels of their series; `for` is taken as over.

    Args:
        now: What the service says.
        before: What it said at the beginning of the range of `increase`; default: the same.
        later_s: Evaluate so much later, as if it still said so.
    """
    found = set()
    for alert, rule in rules().items():
        part = _EXPRESSION.fullmatch(rule["expr"])
        assert part is not None, f"this evaluator cannot read {rule['expr']!r}"
        wanted = _LABEL.findall(part["labels"] or "")
        for labels, value in now.of(part["name"]):
            said = dict(labels)
            if not all(_fits(said.get(name, ""), how, text) for name, how, text in wanted):
                continue
            left = value
            if part["clock"]:
                left = now.at_s + later_s - value
            elif part["rise"]:
                left = value - (before or now).samples.get((part["name"], labels), value)
            right = float(part["limit"]) if part["limit"].isdigit() else now.samples.get((part["limit"], labels), 0.0)
            if _COMPARE[part["how"]](left, right):
                found.add((alert, labels))
    return found


def names(found: set[Firing]) -> set[str]:
    return {alert for alert, _ in found}


def _fits(said: str, how: str, text: str) -> bool:
    if how == "=~":
        return re.fullmatch(text, said) is not None
    return (said == text) if how == "=" else (said != text)


def promtool() -> str | None:
    """Return Prometheus's own checker, which `tests/install_extras.sh` puts beside Python; None without."""
    beside = Path(sys.executable).parent / "promtool"
    return str(beside) if beside.is_file() else shutil.which("promtool")


HOURS = 2  # longer than any `for`, and than the ranges of `increase`
_EVERY_S = 60


def require_same_by_promtool(folder: Path, now: Scrape, *, before: Scrape | None = None, later_s: float = 0.0) -> None:
    """Let Prometheus's own engine evaluate the rules on the same scrapes, where it is there, and compare."""
    program = promtool()
    if program is None:
        return
    end_s = HOURS * 3600
    half = end_s // _EVERY_S // 2
    # Time begins with 0 there, so moments are told from the end. What has risen did so within the shortest range.
    moved = {
        key: value - (now.at_s + later_s) + end_s if key[0].endswith("_timestamp_seconds") else value
        for key, value in now.samples.items()
    }
    series = []
    for (name, labels), value in moved.items():
        earlier = (before or now).samples.get((name, labels), value) if name.endswith("_total") else value
        steps = 2 * half - 5
        values = f"{earlier}+0x{steps} {value}+0x4"
        series.append({"series": _written(name, labels), "values": values})
    found = firing(now, before=before, later_s=later_s)
    tests = []
    for alert, rule in rules().items():
        expected = [
            {"exp_labels": {**rule["labels"], **dict(labels)}, "exp_annotations": _worded(rule, dict(labels))}
            for name, labels in found
            if name == alert
        ]
        tests.append({"alertname": alert, "eval_time": f"{end_s}s", "exp_alerts": expected})
    document = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [{"interval": f"{_EVERY_S}s", "input_series": series, "alert_rule_test": tests}],
    }
    (path := folder / "promtool.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    done = subprocess.run([program, "test", "rules", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _worded(rule: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, str]:
    return {
        name: re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda match: labels[match[1]], text)
        for name, text in rule["annotations"].items()
    }


def _written(name: str, labels: Labels) -> str:
    return f"{name}{{{', '.join(f'{key}={chr(34)}{value}{chr(34)}' for key, value in sorted(labels))}}}"

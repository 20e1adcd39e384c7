"""A run as JUnit XML: one test suite per vignette, one test case per question. Pure.

`klartext harness gate --junit` writes one test case per gate instead: that one decides, this one lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from harness.gate_report import xml_text
from harness.reporting.facts import Facts, result_of
from harness.run import ERROR, Outcome


def junit_xml(facts: Facts) -> str:
    """Return the document. Questions that were not answered right fail; those that people judge are skipped."""
    root = ET.Element("testsuites", _counts(facts.run.outcomes))
    name = facts.run.identity.get("suite", facts.run.folder.name)
    for vignette in facts.vignettes:
        group = [outcome for outcome in facts.run.outcomes if outcome.vignette == vignette]
        suite = ET.SubElement(root, "testsuite", {"name": xml_text(f"{name}.{vignette}"), **_counts(group)})
        for outcome in group:
            _case(suite, outcome)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _counts(outcomes: Sequence[Outcome]) -> dict[str, str]:
    kinds = [_kind(outcome) for outcome in outcomes]
    return {
        "tests": str(len(kinds)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": str(kinds.count("skipped")),
        "time": _seconds(sum(outcome.elapsed_ms for outcome in outcomes)),
    }


def _kind(outcome: Outcome) -> str:
    if outcome.decision == ERROR:
        return "error"
    if outcome.kind == "urgent":
        return "" if outcome.decision == "urgent" else "failure"
    if outcome.right is None:
        return "skipped"
    return "" if outcome.right else "failure"


def _case(suite: ET.Element, outcome: Outcome) -> None:
    about = outcome.pair_id or outcome.kind
    case = ET.SubElement(
        suite,
        "testcase",
        {
            "classname": xml_text(f"{outcome.vignette}.{about}"),
            "name": xml_text(outcome.id),
            "time": _seconds(outcome.elapsed_ms),
        },
    )
    properties = ET.SubElement(case, "properties")
    for key, value in (("stratum", outcome.vignette), ("pair", outcome.pair_id or ""), ("question", outcome.text)):
        ET.SubElement(properties, "property", {"name": key, "value": xml_text(value)})
    kind = _kind(outcome)
    if kind:
        shown = f" ({outcome.answered_with})" if outcome.answered_with else ""
        said = outcome.error or ("people judge it" if kind == "skipped" else f"{result_of(outcome)}{shown}")
        ET.SubElement(case, kind, {"message": xml_text(f"{said}: {outcome.text}")})


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"

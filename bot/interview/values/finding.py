"""What a validator found, and how FHIR says it (OperationOutcome). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bot.interview.values.answer import JsonValue

Severity = Literal["fatal", "error", "warning", "information"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a validator says of a resource.

    Attributes:
        severity: fatal and error make a resource invalid.
        code: FHIR issue type, such as ``structure``, ``required`` or ``code-invalid``.
        path: FHIRPath of the element, such as ``Questionnaire.item[0].type``.
        text: What is wrong, with types, limits, codes and numbers, but no free text of a patient.
        rule: Short name of the rule: an invariant's key (``que-6``), or the check's own name.
    """

    severity: Severity
    code: str
    path: str
    text: str
    rule: str = ""

    @property
    def is_error(self) -> bool:
        return self.severity in {"fatal", "error"}


class Place:
    """Where in a resource a check stands. Written out as FHIRPath only when there is something to say."""

    __slots__ = ("index", "name", "parent")

    def __init__(self, name: str, parent: Place | None = None, index: int | None = None) -> None:
        self.name = name
        self.parent = parent
        self.index = index

    def child(self, name: str, index: int | None = None) -> Place:
        return Place(name, self, index)

    def __str__(self) -> str:
        parts: list[str] = []
        place: Place | None = self
        while place is not None:
            parts.append(place.name if place.index is None else f"{place.name}[{place.index}]")
            place = place.parent
        return ".".join(reversed(parts))


class Findings:
    """Collects findings while a resource is checked."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: list[Finding] = []

    def error(self, place: Place, text: str, *, code: str = "invalid", rule: str = "") -> None:
        self._found.append(Finding("error", code, str(place), text, rule))

    def warning(self, place: Place, text: str, *, code: str = "business-rule", rule: str = "") -> None:
        self._found.append(Finding("warning", code, str(place), text, rule))

    def information(self, place: Place, text: str, *, code: str = "informational", rule: str = "") -> None:
        self._found.append(Finding("information", code, str(place), text, rule))

    def add(self, severity: Severity, place: Place, text: str, *, code: str, rule: str = "") -> None:
        self._found.append(Finding(severity, code, str(place), text, rule))

    def extend(self, others: Iterable[Finding]) -> None:
        self._found.extend(others)

    def all(self) -> list[Finding]:
        """Return what was found, each finding once, in the order it was found."""
        return list(dict.fromkeys(self._found))


def has_errors(findings: Iterable[Finding]) -> bool:
    """Say whether a resource with these findings is invalid."""
    return any(finding.is_error for finding in findings)


def operation_outcome(findings: Iterable[Finding]) -> dict[str, JsonValue]:
    """Return an R4 OperationOutcome. It must hold an issue: without findings it says that nothing was found."""
    nothing = Finding("information", "informational", "", "No issues found.")
    issues: list[JsonValue] = [_issue(finding) for finding in list(findings) or [nothing]]
    return {"resourceType": "OperationOutcome", "issue": issues}


def _issue(finding: Finding) -> dict[str, JsonValue]:
    details: dict[str, JsonValue] = {"coding": [{"code": finding.rule}]} if finding.rule else {}
    details["text"] = finding.text
    issue: dict[str, JsonValue] = {"severity": finding.severity, "code": finding.code, "details": details}
    if finding.path:
        issue["expression"] = [finding.path]
    return issue

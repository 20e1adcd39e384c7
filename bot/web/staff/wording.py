"""What the program found, said in the words of the console: a label by name, and what stands in it.

Checks and jobs keep names and values, not sentences: two people read the same result in two languages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

from bot.errors import Finding, UserFixable

Labels = Mapping[str, str]
MOST_QUOTED = 160  # characters of a text that a finding names


class _Counting(Formatter):
    """Formats `{n} {n:Text|Texte}`: of two words, the first where there is one of it, else the second."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        if "|" not in format_spec:
            return super().format_field(value, format_spec)
        one, many = format_spec.split("|")
        return one if value == 1 else many


class Label(str):
    """A text of the console; put into it are values, and words by how many there are of something."""

    __slots__ = ()

    def format(self, *args: object, **values: object) -> str:
        return _Counting().vformat(self, args, values)


@dataclass(frozen=True, slots=True)
class Said:
    """A label by its name, and what stands in it, as JSON has it; `pair` and `language`: what it is about."""

    label: str
    values: Mapping[str, Any] = field(default_factory=dict)
    pair: str = ""
    language: str = ""


def said_of(finding: Finding | UserFixable) -> Said:
    """Return what a page says of a finding or an error: what is wrong, and what to do on the page."""
    label = f"finding_{finding.code.replace('-', '_')}" if finding.code else ""
    if isinstance(finding, UserFixable):
        return Said(label, finding.values) if label else Said("finding_untold", {"told": str(finding)})
    if label:
        values = {"pair": finding.where, "line": finding.line, "file": finding.path.name, **finding.values}
        return Said(label, values, finding.where, finding.path.stem)
    values = {"file": finding.path.name, "line": finding.line, "told": f"{finding.problem} {finding.remedy}".strip()}
    return Said("finding_of_file", values)


def in_words(said: Said | Mapping[str, Any], labels: Labels) -> str:
    """Return it in the language of the labels."""
    name, values = (said.label, said.values) if isinstance(said, Said) else (said["label"], said["values"])
    shown = {key: _shown(key, value, labels) for key, value in values.items()}
    return labels.get(name, name).format(**shown)


def _shown(key: str, value: Any, labels: Labels) -> Any:
    if key == "country":
        return _country(value, labels)
    if key in ("amounts", "others"):
        return ", ".join(_amount(number, unit, labels) for number, unit in value)
    if key in ("one", "rest"):
        return f" {labels['finding_and']} ".join(_text(each, labels) for each in value)
    if key == "text" and f"pairs_{value}" in labels:
        return labels[f"pairs_{value}"]
    if key in ("here", "there") and f"language_{value}" in labels:
        return labels[f"language_{value}"]
    if key == "role":
        return labels[f"role_{value}"]
    if key in ("mean", "ease", "least") and isinstance(value, str):
        return value.replace(".", labels["decimal_point"])
    if key == "why":
        return labels[value]
    if key == "counts":
        return ", ".join(
            labels["release_pairs"].format(n=count, language=labels.get(f"language_{code}", code))
            for code, count in value.items()
        )
    if key == "standing":
        return labels[f"sign_is_{value.replace(' ', '_')}"]
    if key == "what":
        kind, _, language = value.partition(" ")
        return f"{labels.get(f'sign_kind_{kind}', kind)}{f' ({language})' if language else ''}"
    if key == "word" and value in ("yes", "no"):
        return labels[f"finding_{value}"]
    return f"{value[:MOST_QUOTED].rstrip()} …" if isinstance(value, str) and len(value) > MOST_QUOTED else value


def _country(code: str, labels: Labels) -> str:
    """Return a country as it stands behind a text's name; nothing for the text of all countries."""
    return f" ({labels.get(f'country_{code}', code)})" if code else ""


def _text(told: Sequence[str], labels: Labels) -> str:
    """Return what the editor calls a text: its field, country and language."""
    key, country, language = told
    where = ", ".join(
        labels.get(f"{kind}_{code}", code) for kind, code in (("country", country), ("language", language)) if code
    )
    return f"{labels[f'pairs_{key}']} ({where})"


def _amount(number: str, unit: str, labels: Labels) -> str:
    named = labels.get(f"unit_{unit.replace(' ', '_')}", unit)
    one, _, many = named.partition("|")
    if unit == "yearly":
        return one
    return f"{number} {one if number == '1' or not many else many}".strip()

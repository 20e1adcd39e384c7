"""The names that the reference gives for drafting help from Python are there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

REFERENCE = Path(__file__).parents[3] / "docs" / "reference.md"


def test_each_name_of_the_reference_can_be_imported_from_its_module() -> None:
    section = REFERENCE.read_text(encoding="utf-8").partition("### Drafting help from Python")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+`) \| (.+) \|$", section, re.MULTILINE)

    packages = set()
    for modules, names in rows:
        for module, listed in zip(re.findall(r"`([\w.]+)`", modules), names.split(";"), strict=True):
            found = import_module(f"harness.authoring.{module}")
            packages.add(module.partition(".")[0])
            for name in re.findall(r"`(\w+)`", listed):
                assert hasattr(found, name), f"{module}: {name}"

    assert packages >= {"evidence", "discussion", "quiz", "ranking"}

"""What `docs/security.md` refers to is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_every_test_behind_an_answer_exists() -> None:
    named = re.findall(r"`((?:[a-z]+/)*test_\w+\.py)`", PAGE)

    assert len(named) > 20
    assert [name for name in named if not (ROOT / "tests" / "bot" / name).is_file()] == []


def test_every_setting_and_command_is_in_the_reference() -> None:
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")

    settings = set(re.findall(r"KLARTEXT_[A-Z_]+", PAGE))
    commands = set(re.findall(r"`(klartext \w+(?: [a-z-]+)?)", PAGE))

    assert len(settings) >= 8
    assert {name for name in settings if name not in reference} == set()
    assert {name for name in commands if f"`{name}" not in reference} == set()


def test_every_chapter_of_the_standard_has_a_status() -> None:
    rows = re.findall(r"^\| V(\d+) [^|]+\| (met|partly|not applicable|open)[^|]*\| \S", PAGE, flags=re.MULTILINE)

    assert [int(number) for number, _ in rows] == list(range(1, 18))

"""Systems under test for the small catalog, opened from files as the command line does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import Assistant, Catalog, Settings
from bot.testing import HashEncoder
from harness.systems.description import load_system_file
from harness.systems.opening import open_described
from harness.systems.recognition import Manners, Recogniser
from harness.systems.system import Opening, System

Opener = Callable[..., AbstractContextManager[tuple[System, Catalog]]]


@pytest.fixture
def opener(small_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """Open a system from the keys of its file; retries come at once."""
    monkeypatch.setattr("bot.wiring.make_encoder", lambda name, settings: HashEncoder())  # no model in these tests

    def open_(
        record: Mapping[str, Any], *, environ: Mapping[str, str] | None = None, allow: frozenset[str] = frozenset()
    ) -> AbstractContextManager[tuple[System, Catalog]]:
        file = tmp_path / "system.yaml"
        defaults = {} if record.get("kind") == "command" else {"backoff_s": 0}
        file.write_text(yaml.safe_dump({**defaults, **record}), encoding="utf-8")
        settings = Settings(tmp_path, allow_patient_text_to=allow)
        opening = Opening(str(small_folder), "embedded", "hybrid", tmp_path / "data")
        return open_described(load_system_file(file), opening, "de", settings=settings, environ=environ or {})

    return open_


@pytest.fixture
def recogniser(small: Assistant) -> Recogniser:
    return Recogniser(
        small.catalog("de"),
        HashEncoder,
        similarity=0.8,
        manners=Manners(["Weiß ich nicht.", "nlu_fallback"], ["Ruf 112!"], {"ask_pain": "pain", "7": "costs"}),
    )

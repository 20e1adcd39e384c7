"""One console for the tests of its pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import Assistant
from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.matching import remarks, training
from tests.alarm_examples import few_examples, few_of
from tests.bot.release.exams import write_exam
from tests.bot.web.staff.consoles import Staff, running_console


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    with running_console(tmp_path_factory.mktemp("console")) as running:
        yield running


@pytest.fixture(scope="session")
def answering(tmp_path_factory: pytest.TempPathFactory, embedded_encoder: EmbeddedEncoder) -> tuple[Path, Assistant]:
    """A small exam, and what answers from it: its alarm has learned little, for nobody here judges it."""
    folder = tmp_path_factory.mktemp("small")
    exam = write_exam(folder / "content", languages=("de", "en"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "load_examples", few_examples)
        patch.setattr(training, "_known_examples", {})
        patch.setattr(remarks, "remark_texts", few_of(remarks.remark_texts))
        patch.setattr(remarks, "_known", {})
        assistant = Assistant.open(exam, data=folder / "data", encoder=embedded_encoder, sample=True)
        assistant.prepare()
    return exam, assistant

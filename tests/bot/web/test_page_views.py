"""What the page says of an answer that clinicians have approved."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import Assistant
from bot.sentences.reply import Reply, content
from bot.testing import HashEncoder, write_small_catalog
from bot.web.page.rendering import Labels, load_labels
from bot.web.page.views import Shown

LABELS = load_labels()


@pytest.fixture(scope="module")
def approved(tmp_path_factory: pytest.TempPathFactory) -> Assistant:
    folder = write_small_catalog(tmp_path_factory.mktemp("approved"), status="approved")
    return Assistant.open(folder, data=tmp_path_factory.mktemp("data"), encoder=HashEncoder())


def _label(assistant: Assistant, labels: dict[str, Labels], language: str) -> str:
    pair = assistant.catalog(language).pairs[0]
    (block,) = Shown(assistant, labels).blocks(Reply(language, (content(pair, "answer"),)))
    assert block.answer is not None
    assert block.answer.easy == pair.easy_answer
    return block.answer.approved


def test_who_approved_an_answer_is_named_with_the_day(approved: Assistant) -> None:
    assert _label(approved, LABELS, "de") == "Geprüft und freigegeben von Dr. Test am 01.01.2026"
    assert _label(approved, LABELS, "en") == "Checked and approved by Dr. Test on 01 January 2026"


def test_in_sample_mode_nobody_is_said_to_have_approved(small: Assistant) -> None:
    assert _label(small, LABELS, "de") == ""


def test_only_pairs_that_may_be_shown_are_suggested(tmp_path: Path) -> None:
    folder = write_small_catalog(tmp_path / "catalog", languages=["de"], status="approved")
    text = (folder / "de.yaml").read_text(encoding="utf-8")
    (folder / "de.yaml").write_text(text.replace("status: approved", "status: draft", 1), encoding="utf-8")
    assistant = Assistant.open(folder, data=tmp_path / "data", encoder=HashEncoder())
    ids = [pair.id for pair in assistant.catalog("de").pairs]

    suggested = [each.pair_id for each in Shown(assistant, LABELS).suggestions(ids, "de")]

    assert suggested == ids[1:]


def test_every_language_has_the_same_labels() -> None:
    first, *others = (set(labels) for labels in load_labels().values())

    assert others
    assert all(each == first for each in others)

"""Test questions as `rasa test` takes them, for a project in native mode: stories, and examples for its classifiers.

https://rasa.com/docs/rasa/testing-your-assistant: a story is what a patient says, which intent that is, and what is
said then. Files whose names begin with ``test_`` are never trained on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.catalog.exchange.rasa import unwritable
from bot.errors import BadData
from bot.web.rasa.project import DECLINED, FAQ, NOTE, OUT_OF_SCOPE, VERSION
from bot.web.rasa.writing import Block, as_yaml, headed, one_line, write_project


@dataclass(frozen=True, slots=True)
class Said:
    """A message, and the pair that answers it; None: none does."""

    text: str
    pair_id: str | None
    alone: bool = True  # whether it is understood without what was said before


@dataclass(frozen=True, slots=True)
class Story:
    """What one patient says, message by message."""

    name: str
    said: Sequence[Said]


def write_stories(stories: Sequence[Story], folder: Path) -> list[Story]:
    """Write stories into a new or empty folder, and return those that were: Rasa has no way to write some texts.

    Raises:
        BadData: There are none, something is in the folder, or it cannot be written.
    """
    kept = [story for story in stories if not any(unwritable(each.text) for each in story.said)]
    if not kept:
        raise BadData("No question can be written as a story for Rasa. Choose a suite of questions or dialogues.")
    files = {
        "test_stories.yml": {"version": VERSION, "stories": [_told(each) for each in kept]},
        "test_nlu.yml": {"version": VERSION, "nlu": list(_examples(kept))},
    }
    head = "Written by `klartext rasa stories`, for a project in native mode."
    write_project({name: headed(head, as_yaml(document)) for name, document in files.items()}, folder)
    return kept


def _told(story: Story) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    for each in story.said:
        steps.append({"user": Block(f"{one_line(each.text)}\n"), "intent": _intent(each)})
        steps += [{"action": FAQ if each.pair_id else DECLINED}, {"action": NOTE}]
    return {"story": story.name, "steps": steps}


def _examples(stories: Sequence[Story]) -> Iterator[dict[str, Any]]:
    texts: dict[str, dict[str, None]] = {}
    for each in (said for story in stories for said in story.said if said.alone):
        texts.setdefault(_intent(each), {})[one_line(each.text)] = None
    for intent, lines in texts.items():
        yield {"intent": intent, "examples": Block("".join(f"- {line}\n" for line in lines))}


def _intent(said: Said) -> str:
    return f"faq/{said.pair_id}" if said.pair_id else OUT_OF_SCOPE

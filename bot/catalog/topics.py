"""The topics by which a page groups the questions of a catalog: data beside it, in `topics.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import BadData


@dataclass(frozen=True, slots=True)
class Topic:
    """Some questions of a catalog that belong together; `names` by language."""

    names: Mapping[str, str]
    pairs: tuple[str, ...]


class _Topic(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: dict[str, str]
    pairs: list[str] = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    topics: list[_Topic]


def load_topics(folder: Path) -> tuple[Topic, ...]:
    """Return the topics of a catalog folder; none where it has no such file.

    Raises:
        BadData: The file cannot be read as topics.
    """
    path = folder / "topics.yaml"
    if not path.is_file():
        return ()
    try:
        file = _File.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise BadData(f"{path} cannot be read as topics ({type(error).__name__}). Mend it, or remove it.") from error
    return tuple(Topic(topic.name, tuple(topic.pairs)) for topic in file.topics)

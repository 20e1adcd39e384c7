"""What a page shows of a catalog beside its answers: the topics by which it groups the questions, and which pair says
at the end what to bring. Data beside the catalog, in `topics.yaml`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import BadData

FILE = "topics.yaml"


@dataclass(frozen=True, slots=True)
class Topic:
    """Some questions of a catalog that belong together; `names` by language."""

    names: Mapping[str, str]
    pairs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a catalog; `bring`: the pair that says what to bring, or empty."""

    groups: tuple[Topic, ...] = ()
    bring: str = ""


class _Topic(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: dict[str, str]
    pairs: list[str] = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    topics: list[_Topic] = []
    bring: str = ""


def topic_names(folder: Path, language: str) -> dict[str, str]:
    """Return what a catalog folder's topics are called in a language, by their place in the list.

    Raises:
        BadData: The file cannot be read as topics.
    """
    return {
        str(number): topic.name[language]
        for number, topic in enumerate(_read(folder).topics, 1)
        if language in topic.name
    }


def _read(folder: Path) -> _File:
    path = folder / FILE
    if not path.is_file():
        return _File()
    try:
        return _File.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise BadData(f"{path} cannot be read as topics ({type(error).__name__}). Mend it, or remove it.") from error


def load_topics(folder: Path, known: Collection[str]) -> Topics:
    """Return the topics of a catalog folder; empty where it has no such file. `known`: ids of the catalog's pairs.

    Raises:
        BadData: The file cannot be read as topics, or names a pair that the catalog does not have.
    """
    file, path = _read(folder), folder / FILE
    named = [*(pair for topic in file.topics for pair in topic.pairs), *([file.bring] if file.bring else [])]
    unknown = next((pair for pair in named if pair not in known), None)
    if unknown is not None:
        raise BadData(f"{path} names the pair {unknown!r}, which the catalog does not have. Correct it, or remove it.")
    return Topics(tuple(Topic(topic.name, tuple(topic.pairs)) for topic in file.topics), file.bring)

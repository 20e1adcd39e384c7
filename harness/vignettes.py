"""Patients to impersonate, as data: one YAML file a vignette, every language inside."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import BadData, data_folder


class _Edge(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Literacy(_Edge):
    """What separates the strata: how much health knowledge and how much of the language a patient has."""

    health: Literal["low", "middle", "high"]
    language: Literal["basic", "middle", "native"]


class Targets(_Edge):
    """Ranges (lowest, highest) in which this patient's questions should lie.

    `words` per question; `reading_ease` after Flesch (Amstad's formula in German; higher is easier); `jargon_share` is
    the share of words, 0 to 1, that a lay person would not use.
    """

    words: tuple[int, int]
    reading_ease: tuple[float, float]
    jargon_share: tuple[float, float]


class _Texts(_Edge):
    title: str = Field(min_length=1)
    description: str = Field(min_length=1)
    impersonation: str = Field(min_length=1)
    targets: Targets


class _VignetteFile(_Edge):
    id: str = Field(pattern=r"^[a-z0-9-]+$")
    literacy: Literacy
    languages: dict[str, _Texts]


@dataclass(frozen=True, slots=True)
class Vignette:
    """One patient in one language."""

    id: str
    language: str
    literacy: Literacy
    title: str
    description: str
    impersonation: str
    targets: Targets


def load_vignettes(language: str, folder: Path | None = None) -> tuple[Vignette, ...]:
    """Load all vignettes that speak `language`, in the order of their file names.

    Raises:
        BadData: A file is broken, or no vignette speaks the language.
    """
    folder = folder or data_folder("vignettes")
    files = [load_file(path) for path in sorted(folder.glob("*.yaml"))]
    found = tuple(
        Vignette(id=file.id, language=language, literacy=file.literacy, **dict(file.languages[language]))
        for file in files
        if language in file.languages
    )
    if not found:
        raise BadData(f"No vignette in {folder} speaks {language!r}. Add `languages: {language}:` to one of its files.")
    return found


def load_file(path: Path) -> _VignetteFile:
    try:
        return _VignetteFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadData(f"The vignette {path} cannot be read: {str(error).splitlines()[0]}. Mend the file.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise BadData(f"The vignette {path} is not valid: {where}: {first['msg']}. Mend this entry.") from error

"""Patients to impersonate, as data: one YAML file a vignette, every language inside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from bot import BadData, data_folder
from harness.files import Record, read_record

ALL = "all"


class Literacy(Record):
    """What separates the strata: how much health knowledge and how much of the language a patient has."""

    health: Literal["low", "middle", "high"]
    language: Literal["basic", "middle", "native"]

    @property
    def stratum(self) -> str:
        """Name of all patients of this literacy."""
        return f"health-{self.health}-language-{self.language}"


class Typing(Record):
    """How the patient's words get into the machine."""

    input: Literal["keyboard", "phone", "speech"]
    habits: str = Field(min_length=1)


Range = tuple[float, float]
_PER_WORD: Range = (0.0, 1.0)


class Targets(Record):
    """Ranges (lowest, highest) in which this patient's questions should lie, per question.

    Attributes:
        words: Words between white space.
        reading_ease: After Flesch (Amstad's formula in German); higher is easier.
        jargon_share: Share of words, 0 to 1, that a lay person would not use.
        typo_share: Share of words in no word list.
        foreign_share: Share of words of another language only. By default up to half: then it is still this language.
        capital_share: Share of words that begin with a capital letter.
        marks_per_word: Punctuation marks to a word.
    """

    words: tuple[int, int]
    reading_ease: Range
    jargon_share: Range
    typo_share: Range = _PER_WORD
    foreign_share: Range = (0.0, 0.5)
    capital_share: Range = _PER_WORD
    marks_per_word: Range = (0.0, 3.0)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        for name, (low, high) in self.ranges.items():
            if low > high:
                raise ValueError(f"{name} goes from {low} to {high}: give the lower end first")
            if name.endswith("_share") and not 0 <= low <= high <= 1:
                raise ValueError(f"{name} goes from {low} to {high}: a share lies between 0 and 1")
        return self

    @property
    def ranges(self) -> dict[str, Range]:
        """All ranges by name, in the order of reports."""
        return {name: tuple(getattr(self, name)) for name in type(self).model_fields}


class _Texts(Record):
    title: str = Field(min_length=1)
    description: str = Field(min_length=1)
    impersonation: str = Field(min_length=1)
    mixed_with: Literal["de", "en", "es", "fr", "it", "nl", "pt"] | None = None
    targets: Targets


class _Person(Record):
    id: str = Field(pattern=r"^[a-z0-9-]+$")
    by_default: bool = True
    literacy: Literacy
    age: tuple[int, int] | None = None
    mood: str = ""
    typing: Typing | None = None


class _VignetteFile(_Person):
    languages: dict[str, _Texts] = Field(min_length=1)


class Vignette(_Person, _Texts):
    """One patient in one language.

    Attributes:
        id: The same in all languages.
        language: In which this patient asks.
        literacy: Of health matters and of the language.
        title: For tables.
        description: One sentence for people.
        impersonation: What the model is told to be.
        targets: What this patient's questions look like.
        by_default: Whether a suite asks this patient unless others are named.
        mixed_with: The language this patient falls back into, if any.
        age: Youngest and oldest, in years.
        mood: In a few words.
        typing: Device and habits.
    """

    language: str


def load_vignettes(language: str, folder: Path | None = None, *, names: Sequence[str] = ()) -> tuple[Vignette, ...]:
    """Load the vignettes that speak `language`, in the order of their file names.

    Args:
        language: Two letters.
        folder: With one YAML file a vignette; by default the shipped one.
        names: Whom to load; ``all`` for everyone. By default those that say so: of the shipped ones the paper's three.

    Raises:
        BadData: A file is broken, a name is unknown, or no vignette speaks the language.
    """
    folder = folder or data_folder("vignettes")
    found = tuple(
        Vignette(
            language=language,
            **{name: getattr(file, name) for name in _Person.model_fields},
            **dict(file.languages[language]),
        )
        for file in load_folder(folder)
        if language in file.languages
    )
    if not found:
        raise BadData(f"No vignette in {folder} speaks {language!r}. Add `languages: {language}:` to one of its files.")
    unknown = sorted(set(names) - {vignette.id for vignette in found} - {ALL})
    if unknown:
        known = ", ".join(vignette.id for vignette in found)
        raise BadData(f"No vignette {unknown[0]!r} speaks {language!r} in {folder}. Known: {known}, or `{ALL}`.")
    if ALL in names:
        return found
    chosen = tuple(vignette for vignette in found if (vignette.id in names if names else vignette.by_default))
    if not chosen:
        raise BadData(
            f"No vignette in {folder} is asked by default. Name one with `--vignette`, or `--vignette {ALL}`."
        )
    return chosen


def load_folder(folder: Path) -> list[_VignetteFile]:
    """Load every vignette of a folder; raise BadData when one is broken or two have the same id."""
    loaded: dict[str, _VignetteFile] = {}
    for path in sorted(folder.glob("*.yaml")):
        file = load_file(path)
        if file.id in loaded:
            raise BadData(f"{path} has the id {file.id!r}, as another vignette in {folder}. Give it an id of its own.")
        loaded[file.id] = file
    return list(loaded.values())


def load_file(path: Path) -> _VignetteFile:
    unread = f"The vignette {path} cannot be read: {{reason}}. Mend the file."
    return read_record(
        path, _VignetteFile, unread, invalid=f"The vignette {path} is not valid: {{reason}}. Mend this entry."
    )

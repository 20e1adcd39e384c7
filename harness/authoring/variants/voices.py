"""Voices: whom a model impersonates when it writes as patients do. Data, one file a language."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Literal

from pydantic import Field

from bot import BadData, data_folder
from harness.files import Record, read_record

Purpose = Literal["variants", "calibration"]
Level = Literal["low", "middle", "high"]


class Literacy(Record):
    """How well a voice reads: of health matters, and the language."""

    health: Level
    language: Level


class Voice(Record):
    """Somebody who asks.

    Attributes:
        id: Becomes the profile of what it wrote.
        for_: What its texts are used for: what is held out must come from other voices than what is learned from.
        title: For people.
        region, age, mood, typing: How it writes, for people who choose voices.
        mixed_with: Languages that it falls into; its texts are not dropped for their language.
        impersonation: What the model is told; ``$about`` is how the exam is spoken of.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    for_: Purpose = Field(alias="for")
    title: str = Field(min_length=1)
    region: str = ""
    age: tuple[int, int]
    mood: str = ""
    typing: str = ""
    literacy: Literacy
    mixed_with: tuple[str, ...] = ()
    impersonation: str = Field(min_length=40)


class _VoiceFile(Record):
    language: str
    voices: tuple[Voice, ...] = Field(min_length=1)


def voices_file(language: str) -> Path:
    return data_folder("vignettes") / "authoring" / f"voices-{language}.yaml"


def load_voices(
    language: str, purpose: Purpose, *, file: Path | None = None, names: Collection[str] = ()
) -> tuple[Voice, ...]:
    """Return the voices of a language for a purpose, or those of them that are named, in the file's order.

    Raises:
        BadData: There is no file, it breaks the schema, or it has no such voice.
    """
    path = file or voices_file(language)
    remedy = "Write it after vignettes/authoring/voices-en.yaml, and give it with `--voices-file`."
    read = read_record(path, _VoiceFile, f"{path} holds no voices ({{reason}}). {remedy}")
    if read.language != language:
        raise BadData(f"The voices of {path} write {read.language!r}, the catalog's language is {language!r}. {remedy}")
    ids = [voice.id for voice in read.voices]
    if twice := next((id_ for id_ in ids if ids.count(id_) > 1), ""):
        raise BadData(f"{path} has the voice {twice!r} twice. Rename one.")
    fitting = [voice for voice in read.voices if voice.for_ == purpose]
    if strange := [name for name in names if name not in {voice.id for voice in fitting}]:
        known = ", ".join(voice.id for voice in fitting) or "none"
        raise BadData(f"There is no voice {strange[0]!r} for {purpose} in {path}; there are: {known}.")
    if not fitting:
        raise BadData(f"{path} has no voice for {purpose}. Give some of its voices `for: {purpose}`.")
    return tuple(voice for voice in fitting if not names or voice.id in names)

"""What all content as it stands in files has in common: nothing unknown, nothing changed later, and who wrote it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Edge(BaseModel):
    """Content from a file: an unknown field is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Author(Edge):
    """Who wrote a text. Model-written text is never called human."""

    kind: Literal["person", "model"]
    name: str | None = None
    profile: str | None = None

"""The countries whose patients may be given texts and telephone numbers of their own (`countries.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import AfterValidator


@dataclass(frozen=True, slots=True)
class Lines:
    """Telephone numbers, as they are said."""

    emergency: str
    poison: str
    counsel: tuple[str, ...]
    listening: str  # who answers there
    dialled: str  # the country's prefix from abroad


def _read() -> dict[str, Lines]:
    raw = yaml.safe_load(Path(__file__).with_name("countries.yaml").read_text(encoding="utf-8"))
    return {code: Lines(**{**own, "counsel": tuple(own["counsel"])}) for code, own in raw.items()}


LINES: Mapping[str, Lines] = _read()
COUNTRIES: tuple[str, ...] = tuple(LINES)


def _known(code: str) -> str:
    if code not in LINES:
        raise ValueError(f"is no country that texts are written for (known are {', '.join(COUNTRIES)})")
    return code


# One of `COUNTRIES`.
Country = Annotated[str, AfterValidator(_known)]

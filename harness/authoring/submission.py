"""What is handed in to the staff console: the `draft.yaml` in which each kind of drafting ends.

The file is written as a language file of a catalog, ``pairs`` with ``catalog`` and ``language``, or as one pair alone.
Beside them may stand ``drafted_by``, the models that wrote it; ``base``, by id of the pair the hash of what it was
begun with; and ``provenance``, by id of the pair what each of its sentences was written from (``field``, ``sentence``,
``quotations`` with ``document``, ``title``, ``place``, ``text``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, ValidationError

from bot import BadData, Pair
from harness.files import Record, first_fault, load_yaml, unreadable

DRAFT = "draft.yaml"
MOST_BYTES = 2_000_000


class Submission(Record):
    """Drafted pairs of one language of a catalog."""

    catalog: str = ""
    language: str = ""
    version: str = ""
    drafted_by: tuple[str, ...] = ()
    base: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]] = Field(default_factory=dict)
    pairs: tuple[Pair, ...] = Field(min_length=1)
    provenance: dict[str, list[dict[str, Any]]] = Field(default_factory=dict)


def read_submission(path: Path) -> Submission:
    """Read the draft in a folder, or a file of that form.

    Raises:
        BadData: There is none, or it cannot be read.
    """
    file = path / DRAFT if path.is_dir() else path
    remedy = "Give the folder of a draft, such as `klartext author draft --out` made."
    try:
        if file.stat().st_size > MOST_BYTES:
            raise BadData(f"{file} has {file.stat().st_size:,} bytes, and {MOST_BYTES:,} are the most. {remedy}")
        read = load_yaml(file)
        if isinstance(read, dict) and "pairs" not in read and "question" in read:
            read = {"pairs": [read]}
        return Submission.model_validate(read)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadData(f"{file} cannot be read ({unreadable(error)}). {remedy}") from error
    except ValidationError as error:
        raise BadData(f"{file} holds no draft of a pair ({first_fault(error)}). {remedy}") from error

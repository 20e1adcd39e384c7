"""What a run and its questions cost: `cost.json` in the run's folder, where somebody has written it."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import BadData

COST = "cost.json"


class Costs(BaseModel):
    """Money spent.

    Attributes:
        currency: Such as ``USD``.
        total: In that currency.
        vignettes: Part of it by vignette.
        pairs: Part of it by pair.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    currency: str = Field(min_length=1, max_length=10)
    total: float = Field(ge=0)
    vignettes: dict[str, float] = {}
    pairs: dict[str, float] = {}


def load_costs(folder: Path) -> Costs | None:
    """Read the costs of a run; None when nobody wrote them. Raise BadData when they are not understood."""
    path = folder / COST
    if not path.is_file():
        return None
    try:
        return Costs.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise BadData(f"{path} does not say what the run cost ({first}). Mend or remove it.") from error

"""What the questions of a run cost: the file that `klartext harness generate` writes beside a suite."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import BadData

COSTS = "costs.json"


class _Edge(BaseModel):
    # The file says much more: tokens, single calls.
    model_config = ConfigDict(extra="ignore", frozen=True)


class Spent(_Edge):
    """Calls added up; `cost` in the currency of the price table."""

    cost: float = Field(ge=0, allow_inf_nan=False)


class Costs(_Edge):
    """Money spent.

    Attributes:
        currency: Such as ``USD``.
        total: On everything.
        vignette: By vignette.
        pair: By pair.
    """

    currency: str = Field(min_length=1, max_length=10)
    total: Spent
    vignette: dict[str, Spent] = {}
    pair: dict[str, Spent] = {}


def load_costs(run: Path, file: Path | None) -> Costs | None:
    """Read what a run's questions cost, from `file` or ``costs.json`` in its folder; None when nobody wrote it.

    Raises:
        BadData: The file is missing or not understood.
    """
    path = file or run / COSTS
    if file is None and not path.is_file():
        return None
    try:
        return Costs.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise BadData(f"{path} does not say what the questions cost ({first}). Give another with `--costs`.") from error

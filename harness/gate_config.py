"""`harness.yaml`: which figures a run must reach. A gate that is left out is not checked."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import BadData

DEFAULT = Path(__file__).parent / "harness.yaml"
LOCAL = Path("harness.yaml")


class _Edge(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AtLeast(_Edge):
    """The smallest share that passes."""

    min: float = Field(ge=0, le=1)


class AtMost(_Edge):
    """The largest share that passes."""

    max: float = Field(ge=0, le=1)


class Margin(_Edge):
    """The largest difference that passes."""

    margin: float = Field(ge=0, le=1)


class Gates(_Edge):
    """Limits for the run itself; `docs/reference.md` says what each figure is."""

    accuracy: AtLeast | None = None
    worst_vignette: AtLeast | None = None
    literacy_gap: Margin | None = None
    precision: AtLeast | None = None
    urgent_recall: AtLeast | None = None
    top1: AtLeast | None = None
    offered: AtLeast | None = None
    failures: AtMost | None = None


class Baseline(_Edge):
    """Limits for the change since a baseline.

    Attributes:
        alpha: Two-sided level of the paired tests; a change for the worse that is significant fails.
        max_drop: A drop of accuracy by more than this fails even when chance may explain it; None: not checked.
    """

    alpha: float = Field(default=0.05, gt=0, lt=1)
    max_drop: float | None = Field(default=None, ge=0, le=1)


class GateConfig(_Edge):
    """What `harness.yaml` says."""

    gates: Gates
    baseline: Baseline = Baseline()


def load_config(path: Path | None) -> tuple[GateConfig, Path]:
    """Load the given file, else ``harness.yaml`` of the current folder, else the shipped one; say which it was."""
    chosen = path or (LOCAL if LOCAL.is_file() else DEFAULT)
    try:
        raw = yaml.safe_load(chosen.read_text(encoding="utf-8"))
        return GateConfig.model_validate(raw), chosen
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        known = ", ".join(Gates.model_fields) if first["loc"][:1] == ("gates",) else "gates, baseline"
        hint = f"Known here: {known}." if first["type"] == "extra_forbidden" else "See docs/reference.md."
        raise BadData(f"{chosen}: {place}: {first['msg']}. {hint}") from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise BadData(f"The gates {chosen} cannot be read ({reason}). Give a file with `--config`.") from error

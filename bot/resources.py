"""Where the shipped data folders lie: beside the packages in a checkout, under ``bot/_data`` in a wheel."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """Return the folder `name` (``qa_pairs``, ``vignettes`` or ``fhir``)."""
    packaged = _HERE / "_data" / name
    return packaged if packaged.is_dir() else _HERE.parent / name


def operations_folder() -> Path:
    """Return the folder with the alerting rules for Prometheus and the dashboard for Grafana."""
    packaged = _HERE / "_data" / "operations"
    return packaged if packaged.is_dir() else _HERE.parent / "docs" / "operations"

"""A department of its own: a small CT catalog, with its place, name and look. The numbers are reserved for films."""

from pathlib import Path

CATALOG = Path(__file__).parent / "ct"
SITE = Path(__file__).parent / "site.yaml"

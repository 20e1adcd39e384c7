"""A language of a site's folder, and a catalog of three pairs that has it beside German.

It is a small French of its own: what a site has stands in place of the French that is shipped.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from bot.languages.files import FILES, known, load, parts

SAMPLES = Path(__file__).parents[2] / "samples"
LANGUAGES, THORAX = SAMPLES / "languages", SAMPLES / "thorax"


def said(name: str) -> dict[str, Any]:
    """Return what a file of the sample says."""
    document: dict[str, Any] = yaml.safe_load((LANGUAGES / "fr" / name).read_text(encoding="utf-8"))
    return document


def copied(folder: Path) -> Path:
    """Copy the folder of languages, to spoil it."""
    return shutil.copytree(LANGUAGES, folder / "languages")


def only_french(folder: Path) -> Path:
    """Return a catalog of the French pairs alone."""
    (folder / "thorax").mkdir(parents=True)
    shutil.copy(THORAX / "fr.yaml", folder / "thorax" / "fr.yaml")
    return folder / "thorax"


def nobodys(folder: Path) -> Path:
    """Return a catalog in a language that nobody wrote."""
    place = folder / "nobodys"
    place.mkdir()
    shutil.copy(THORAX / "fr.yaml", place / "it.yaml")
    return place


def as_a_sites(language: str) -> dict[str, bytes]:
    """Return a language of the package as the files of a site's folder."""
    assert language in known()
    found: dict[str, bytes] = {}
    for name, file in FILES.items():
        if file.needed:
            document = load(language, name)
            whole = {**parts(name)[0], **document} if file.holds == "by key" else document
            found[name] = yaml.safe_dump(whole, allow_unicode=True).encode()
    return found

"""`klartext harness vignettes`: who may ask, and whether one's own patients are written right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from bot import BadData, data_folder, friendly_errors
from harness.options import LanguageOption
from harness.vignettes import ALL, Range, Vignette, load_file, load_folder, load_vignettes


def vignettes(
    lang: LanguageOption = "de",
    check: Annotated[
        Path | None, typer.Option("--check", help="Only check a vignette file or a folder of them.", metavar="PATH")
    ] = None,
) -> None:
    """List the patients that can be impersonated, or check one's own."""
    with friendly_errors():
        if check is not None:
            print(_checked(check))
            return
        found = load_vignettes(lang, names=[ALL])
        Console(highlight=False, markup=False).print(_table(found))
        print(
            f"{len(found)} vignettes in {data_folder('vignettes')}; * asked by default, the others with `--vignette`."
        )


def _checked(path: Path) -> str:
    """Check a file, or every vignette of a folder; raise BadData at the first fault."""
    if path.is_dir():
        files = load_folder(path)
        if not files:
            raise BadData(f"{path} holds no vignette (*.yaml). Give a vignette file, or a folder of them.")
    else:
        files = [load_file(path)]
    languages = sorted({language for file in files for language in file.languages})
    return f"{path}: {len(files)} valid, in {', '.join(languages)}"


def _table(found: tuple[Vignette, ...]) -> Table:
    """Return a table that fits 80 columns and never cuts an id, since people type it."""
    table = Table(
        title="Patients to impersonate", title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False
    )
    table.add_column("vignette", no_wrap=True)
    for name in ("health,\nlanguage", "age", "types by", "words", "reading\nease", "jargon\n%"):
        table.add_column(name)
    for one in found:
        table.add_row(
            f"{'*' if one.by_default else ' '} {one.id}",
            f"{one.literacy.health}, {one.literacy.language}",
            _range(one.age) if one.age else "",
            one.typing.input if one.typing else "",
            _range(one.targets.words),
            _range(one.targets.reading_ease),
            _range(one.targets.jargon_share, 100),
        )
    return table


def _range(limits: Range, scale: float = 1) -> str:
    return f"{limits[0] * scale:.0f} to {limits[1] * scale:.0f}"

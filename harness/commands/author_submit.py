"""`klartext author submit`: a draft into the queue of the staff console."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot import BadData, Settings, data_folder, friendly_errors
from harness.console import counted


def submit(
    folder: Annotated[Path, typer.Argument(help="Folder of a draft, or its draft.yaml.", metavar="FOLDER")],
    by: Annotated[str, typer.Option("--by", help="Login of the curator who hands it in.", metavar="LOGIN")],
    catalog: Annotated[
        str | None, typer.Option("--catalog", help="Default: the draft's. Or an exam, or a folder.", metavar="PATH")
    ] = None,
    lang: Annotated[str | None, typer.Option("--lang", help="Default: the draft's language.", metavar="LANG")] = None,
    data: Annotated[Path | None, typer.Option("--data", help="Folder of the database. Default: KLARTEXT_DATA.")] = None,
) -> None:
    """Put a draft into the console's queue: two people sign it there, or nobody sees it."""
    from bot.commands.exchange import HandedIn, hand_in, losses  # what it builds on is slow to import
    from harness.authoring.submission import read_submission

    with friendly_errors():
        read = read_submission(folder)
        exam, language = catalog or read.catalog, lang or read.language
        if not exam or not language:
            raise BadData(f"{folder} does not say for which catalog and language it is. Add `--catalog` and `--lang`.")
        if read.language and language != read.language:
            raise BadData(f"{folder} is in {read.language!r}, and `--lang` says {language!r}. Leave `--lang` out.")
        if catalog and read.catalog and not _is_for(catalog, read.catalog):
            raise BadData(f"{folder} is for {read.catalog!r}, and `--catalog` says {catalog!r}. Leave `--catalog` out.")
        written_by = ", ".join(read.drafted_by)
        pairs = [
            HandedIn(language, pair, written_by, read.provenance.get(pair.id, ()), read.base.get(pair.id))
            for pair in read.pairs
        ]
        settings = Settings.from_environment(data=data)
        receipt = hand_in(exam, pairs, by=by, settings=settings)
        for pair in read.pairs:
            print(f"pair {pair.id} {language}: draft, handed in by {receipt.by}.")
        for id_, names in receipt.cleaned.items():
            print(f"pair {id_}: characters that no screen shows were taken out of {', '.join(names)}.")
        for id_, names in receipt.marked.items():
            print(f"pair {id_}: there is markup or a link in {', '.join(names)}; patients would see it as written.")
        for id_ in receipt.outdated:
            told = "was drafted from another text than what is released now; the console shows what has changed since."
            print(f"LOOK: pair {id_} {language} {told}", file=sys.stderr)
        for id_ in receipt.baseless:
            told = "does not say with which text it was begun (no `base`): compare it with what is released now."
            print(f"LOOK: pair {id_} {language} {told}", file=sys.stderr)
        for line in losses(exam, pairs, settings=settings):
            print(f"LOOK: {line}", file=sys.stderr)
        print(f"{counted(len(pairs), 'draft')} in the console: klartext console, then Pairs.")


def _is_for(catalog: str, drafted_for: str) -> bool:
    """Tell whether a catalog is the one that a draft was made for: of its name, or a folder of a site's own."""
    name = Path(catalog).name
    return name == drafted_for or not (data_folder("qa_pairs") / name).is_dir()

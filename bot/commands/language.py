"""`klartext qa language`: write the files of a further language, and say what is missing in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from bot.catalog.catalog import language_files
from bot.errors import BadData, Finding, UserFixable, friendly_errors
from bot.languages.check import problems_of
from bot.languages.files import FILES, SHIPPED, add, changed, further, in_folder, is_code, no_file, packaged
from bot.languages.skeleton import copy_shipped, write_skeleton


def language(
    code: Annotated[str, typer.Argument(help="Of the language, such as fr (ISO 639-1).")],
    folder: Annotated[Path, typer.Argument(help="Folder of languages, as KLARTEXT_LANGUAGES names it.")],
) -> None:
    """Write what is missing of a language, with the English beside each key, and check what is there; exit 2 if it is
    not complete."""
    with friendly_errors():
        if not is_code(code):
            raise BadData(f"{code!r} is no language. Write its two letters (ISO 639-1), such as fr.")
        copied = copy_shipped(code, folder)
        for name in copied:
            print(f"{folder / code / name}: written, as it is shipped")
        written = write_skeleton(code, folder)
        for name in written:
            print(f"{folder / code / name}: written; fill it in")
        files = in_folder(folder)[code]
        # What was just written lacks everything: that is said once.
        lines = list(problems_of(code, {name: raw for name, raw in files.items() if name not in written}))
        told = [line for line in lines if not line.startswith(tuple(f"{code}/{name}: the file" for name in written))]
        for line in told:
            print(line)
        if written or told:
            raise UserFixable(
                f"The language {code!r} is not complete: {len(written)} files to be filled in, {len(told)} problems. "
                f"Mend them, and run `klartext qa language {code} {folder}` again."
            )
        without = [name for name, file in FILES.items() if not file.needed and name not in files]
        print(f"{folder / code}: complete" + (f", without {', '.join(without)}" if without else ""))


def lint_languages(catalog: Path, folder: Path | None) -> Iterator[Finding]:
    """Yield what is wrong with a catalog's further languages; complete ones are then spoken.

    `folder`: with a folder for each language; None: there is none.
    """
    spoken = language_files(catalog)
    files = further(folder, spoken)
    for code, path in spoken.items():
        if code in packaged():
            continue
        if code not in files:
            yield Finding(path, 0, "", no_file(code, "language.yaml"), "", "error", "language")
            continue
        problems = list(problems_of(code, files[code]))
        for line in problems:
            name, _, problem = line.partition(": ")
            yield Finding((folder or SHIPPED) / name, 0, "", problem, "", "error", "language")
        if not problems:
            add(changed({code: files[code]}))

"""Take the languages that a catalog speaks from a site's folder, or say in one line why not."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from bot.errors import BadData
from bot.languages.files import FILES, add, changed, in_folder, known, no_file

log = logging.getLogger("klartext")


def open_languages(folder: Path | None, wanted: Sequence[str]) -> None:
    """Take the languages that are wanted from a site's folder, if the package does not have them.

    Args:
        folder: With a folder for each language; None: there is none.
        wanted: Their codes.

    Raises:
        BadData: There is no such language, or it is not complete.
    """
    found = in_folder(folder) if folder is not None else {}
    new = changed({code: own for code, own in found.items() if code in wanted})
    if new:
        from bot.languages.check import problems_of  # it loads the interview, and most installations need no check
    for code, own in new.items():
        problems = list(problems_of(code, own))
        if problems:
            more = f" (and {len(problems) - 1} more)" if problems[1:] else ""
            raise BadData(f"{folder}/{problems[0]}{more} See all with `klartext qa language {code} {folder}`.")
    add(new)
    for code, own in new.items():
        if without := [name for name, file in FILES.items() if not file.needed and name not in own]:
            log.warning("language %s: without %s, so what is learned from these is not heard", code, ", ".join(without))
    for code in wanted:
        if code not in known():
            raise BadData(no_file(code, "language.yaml"))

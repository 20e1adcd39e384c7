"""Open the languages that a catalog speaks, of a site's folder or shipped ones, or say in one line why not."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from bot.errors import BadData
from bot.languages.files import FILES, add, changed, further, known, no_file

log = logging.getLogger("klartext")


def open_languages(folder: Path | None, wanted: Sequence[str]) -> None:
    """Open the languages that are wanted and not always known: those of a site's folder, else shipped ones.

    Args:
        folder: With a folder for each language; None: there is none.
        wanted: Their codes.

    Raises:
        BadData: There is no such language, or it is not complete.
    """
    new = changed(further(folder, wanted))
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

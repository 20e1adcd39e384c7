"""Check a site's file before it is stored as a draft, as it would be checked when patients are served."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path, PurePosixPath

from bot.catalog.site import open_site
from bot.errors import BadData
from bot.release.contents import EXAMS, SITE_FILE, Contents

MOST_CHARACTERS = 100_000


def flaw_of_site(text: str, base: Contents, *, today: date) -> BadData | None:
    """Return what is wrong with a site's file, with the line in it; None where nothing is.

    Args:
        text: The file as it is to be stored.
        base: Whose exam, languages and logo it belongs to.
        today: Decides whether its review has expired.
    """
    if len(text) > MOST_CHARACTERS:
        return BadData(
            f"{SITE_FILE}: {len(text)} characters, and {MOST_CHARACTERS} at most are a site's file. Shorten it.",
            code="site-long",
            values={"characters": len(text), "most": MOST_CHARACTERS},
        )
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        exam = folder / EXAMS / base.exam
        exam.mkdir(parents=True)
        for path, raw in base.files.items():
            if len(PurePosixPath(path).parts) == 1:  # the site's logo lies beside its file
                (folder / path).write_bytes(raw)
        file = folder / SITE_FILE
        file.write_bytes(text.encode("utf-8", "replace"))
        try:
            # Whether it is approved is what two people will say of the draft.
            open_site(file, exam=exam, languages=tuple(base.catalogs), sample=True, today=today)
        except BadData as error:
            return BadData(str(error).replace(f"{folder}/", ""), code=error.code, values=error.values)
    return None

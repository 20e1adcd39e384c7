"""Record what comes of the conversations of the corpus: ``python -m tests.recorded.record [NAME…]``.

Record anew only when behaviour was meant to change: another text, another decision, another form, another catalog, another
Bundle. Read the difference in version control first: every line in it is something that a patient or a hospital would
notice. A change of structure alone must leave `conversations/` as it is. A new conversation is a new file with `about`,
`door`, `language` and what is sent; this fills in the rest.

The trained catalog is taken from `KLARTEXT_TEST_DATA` (else from the data folder of the settings). Conversations with
third-party forms are recorded where these are at hand (`KLARTEXT_FHIR_CORPUS`), and left as they are elsewhere. Recording
twice gives the same bytes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from bot import Settings
from tests.recorded.playing import HERE, Stage, conversations, is_third_party, read, written


def record(names: list[str], data: Path, third_party: Path | None) -> list[str]:
    """Record these conversations, by default all; return the names of those that have changed."""
    changed = []
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(data, Path(folder), third_party)
        for path in conversations():
            document = read(path)
            if (names and path.stem not in names) or (is_third_party(document) and third_party is None):
                continue
            text = written(stage.play(path.stem, document))
            if text != path.read_text(encoding="utf-8"):
                path.write_text(text, encoding="utf-8")
                changed.append(path.stem)
    return changed


def main() -> None:
    beside = HERE.parents[2] / "shared" / "fhir-corpus"
    third_party = Path(os.environ.get("KLARTEXT_FHIR_CORPUS", beside))
    data = os.environ.get("KLARTEXT_TEST_DATA") or Settings.from_environment().data
    changed = record(sys.argv[1:], Path(data), third_party if third_party.is_dir() else None)
    print("\n".join([f"changed: {name}" for name in changed] or ["nothing changed"]))


if __name__ == "__main__":
    main()

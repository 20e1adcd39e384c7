"""Put a project into a folder: all of its files, or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bot.errors import BadData


def write_project(files: Mapping[str, bytes], folder: Path) -> None:
    """Write a project into a folder that is not there yet, or is empty.

    Raises:
        BadData: Something is there, or it cannot be written.
    """
    try:
        if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
            raise BadData(f"{folder} is not empty. Nothing was written: give a new folder, or an empty one.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".partial-"))
        try:
            for name, raw in files.items():
                (partial / "whole" / name).parent.mkdir(parents=True, exist_ok=True)
                (partial / "whole" / name).write_bytes(raw)
            os.rename(partial / "whole", folder)  # in the place of an empty one, too
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise BadData(f"{folder} cannot be written ({error.strerror}). Choose another folder.") from error

"""Write what Rasa reads: YAML that means the same to its reader, and files in a folder, all of them or none."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from bot.errors import BadData

# Rasa reads YAML 1.2, and this writes 1.1: what one of them takes for the end of a line, and the other does not, is
# escaped; so are numbers of 1.2, and `${…}` outside quotes, where Rasa puts in what its environment says.
_APART = re.compile("[\x85\u2028\u2029\ufeff]|\\$\\{|^[-+]?0[ox]|^[-+]?[0-9.]+e[0-9]+$", re.IGNORECASE)


class Block(str):
    """Text that is written as a block, line by line."""


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _written(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _APART.search(text) else "|" if isinstance(text, Block) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(Block, _written)
_Dumper.add_representer(str, _written)


def as_yaml(document: Mapping[str, Any]) -> str:
    """Return a document as YAML, in its order."""
    return yaml.dump(dict(document), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=10**6)


def headed(head: str, text: str) -> bytes:
    """Return a file with a comment at its head.

    The comment is not ASCII: where all of a file is, Rasa takes each ``\\u`` in it for the beginning of an escape.
    """
    return f"# {head} · UTF-8\n{text}".encode()


def one_line(text: str) -> str:
    """Return a text as a line, which an example is."""
    return " ".join(text.split())


def write_project(files: Mapping[str, bytes], folder: Path) -> None:
    """Write a project into a folder that is not there yet, or is empty.

    What a killed process has left beside it, the next one that writes the same folder takes away.

    Raises:
        BadData: Something is there, or it cannot be written.
    """
    try:
        if folder.is_symlink():
            raise BadData(f"{folder} is a link. Nothing was written: name the folder itself.")
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadData(f"{folder} is not empty. Nothing was written: give a new folder, or an empty one.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        begun = f".{folder.resolve().name[:100]}.partial-"
        for left in folder.parent.iterdir():
            if left.name.startswith(begun):
                shutil.rmtree(left, ignore_errors=True)
        partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=begun))
        try:
            for name, raw in files.items():
                (partial / "whole" / name).parent.mkdir(parents=True, exist_ok=True)
                (partial / "whole" / name).write_bytes(raw)
            os.rename(partial / "whole", folder)  # in the place of an empty one, too
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise BadData(f"{folder} cannot be written ({error.strerror}). Choose another folder.") from error

"""Put drafts into a catalog's folder: all files at once, or none, also when the process is killed midway."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from bot.catalog.catalog import background_file, language_files, load_catalog
from bot.catalog.exchange.exchange import Imported
from bot.catalog.yaml_edit import edit_pairs, new_file
from bot.errors import BadData

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # linux/fcntl.h, linux/fs.h
_RENAME_SWAP = 2  # sys/stdio.h of macOS


def write_catalog(imported: Imported, out: Path, *, name: str) -> None:
    """Write a catalog folder that `--catalog` takes, or add languages to one.

    Raises:
        BadData: The folder already has one of the languages, or cannot be written.
    """
    if taken := [language for language in imported.pairs if (out / f"{language}.yaml").exists()]:
        raise BadData(
            f"{out / f'{taken[0]}.yaml'} exists. Choose another folder with `--out`, or add to it: "
            "`klartext qa import --add`."
        )
    files = {f"{language}.yaml": new_file(name, language, pairs) for language, pairs in imported.pairs.items()}
    _place(out, files | _background(imported, out, name))


def add_drafts(imported: Imported, folder: Path) -> None:
    """Add drafts to the languages of a catalog; what is there stays byte for byte.

    Raises:
        BadData: An id is taken, a language is not there, or the folder cannot be written.
    """
    files = {}
    for language, pairs in imported.pairs.items():
        if language not in language_files(folder):
            raise BadData(f"{folder} has no language {language!r}. Import it alone, without `--add`.")
        catalog = load_catalog(folder, language)
        if taken := [pair.id for pair in pairs if pair.id in catalog.by_id]:
            raise BadData(
                f"{folder} has {len(taken)} of these ids already in {language!r} ({', '.join(taken[:5])}"
                f"{', …' if len(taken) > 5 else ''}). Give the new ones a prefix: `--prefix NAME-`."
            )
        with catalog.path.open(encoding="utf-8", newline="") as file:
            files[f"{language}.yaml"] = edit_pairs(file.read(), changed=pairs)
        name = catalog.name
    _place(folder, files | _background(imported, folder, name))


def _background(imported: Imported, folder: Path, name: str) -> dict[str, str]:
    """Return the background files with the imported questions after those that are there, as a group of their own."""
    files = {}
    for language, texts in imported.background.items():
        path = background_file(folder, language)
        document: dict[str, Any] = {"catalog": name, "language": language, "questions": {}}
        with suppress(OSError):
            document = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) or document
        known = {text for group in document["questions"].values() for text in group}
        if new := [text for text in texts if text not in known]:
            group = next(each for each in _names("imported") if each not in document["questions"])
            if known:  # what is there stays as it is written
                lines = yaml.dump({group: new}, Dumper=yaml.CSafeDumper, allow_unicode=True, width=1_000_000, indent=2)
                with path.open(encoding="utf-8", newline="") as file:
                    before = file.read()
                files[f"background/{language}.yaml"] = _appended(before, lines)
            else:
                document["questions"] = {group: new}
                files[f"background/{language}.yaml"] = yaml.dump(
                    document, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False, width=1_000_000
                )
    return files


def _names(first: str) -> Sequence[str]:
    return [first, *(f"{first}-{number}" for number in range(2, 1000))]


def _appended(before: str, lines: str) -> str:
    """Return a background file with one more group at its end, where `questions` is what it ends with."""
    indented = "".join(f"  {line}\n" for line in lines.splitlines())
    after = before + ("" if before.endswith("\n") else "\n") + indented
    read = yaml.load(after, Loader=yaml.CSafeLoader)
    group = next(iter(yaml.load(lines, Loader=yaml.CSafeLoader)))
    if group not in read.get("questions", {}):
        raise BadData("The background file does not end with its questions. Move `questions` to its end.")
    return after


def _place(folder: Path, files: Mapping[str, str]) -> None:
    """Write files of a folder, all at once.

    A new folder appears by one rename, a single file is replaced by one; of several files in a folder that is there,
    the folder is copied and the copy takes its place in one system call. What a killed process leaves is a hidden
    folder beside it, which nothing reads.
    """
    folder = folder.resolve()
    partial = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.partial-"))
        copy = partial / "catalog"
        there = folder.is_dir()
        if there and len(files) > 1:
            shutil.copytree(folder, copy, symlinks=True)
        for name, text in files.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            with (copy / name).open("w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        if not there:
            os.rename(copy, folder)
        elif len(files) == 1:
            name = next(iter(files))
            (folder / name).parent.mkdir(exist_ok=True)
            os.replace(copy / name, folder / name)
        else:
            _exchange(copy, folder)
    except OSError as error:
        raise BadData(f"{folder} cannot be written ({error.strerror}). Choose another folder with `--out`.") from error
    finally:
        if partial is not None:
            shutil.rmtree(partial, ignore_errors=True)


def _exchange(one: Path, other: Path) -> None:
    """Let two folders change names in one system call; where there is none, in two renames."""
    names = os.fsencode(one), os.fsencode(other)
    library: Any = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    if sys.platform.startswith("linux") and hasattr(library, "renameat2"):
        done = library.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        done = library.renamex_np(names[0], names[1], _RENAME_SWAP) == 0
    else:
        done = False
    if not done:  # a file system without it: for a moment the catalog is not there, but never half of it
        aside = one.with_name("before")
        os.rename(other, aside)
        try:
            os.rename(one, other)
        except OSError:
            os.rename(aside, other)
            raise

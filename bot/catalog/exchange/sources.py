"""What somebody hands in, opened within limits: a file, a folder or a zip, never unpacked to disk."""

from __future__ import annotations

import codecs
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from bot.errors import BadData

MAX_BYTES = 64 * 1024 * 1024  # of a file, or of all files of a folder or zip together
MAX_FILES = 20_000
READ = (".json", ".yml", ".yaml", ".csv", ".tsv", ".txt")  # what is read of a folder or zip
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class Handed:
    """What was handed in.

    Attributes:
        path: As it was named.
        files: Contents by path within it; a single file stands under its name.
        encoding: As the person said, or None.
    """

    path: Path
    files: Mapping[str, bytes]
    encoding: str | None = None

    @property
    def single(self) -> str | None:
        """The name of the file, where it is one and no folder or zip."""
        return next(iter(self.files)) if len(self.files) == 1 and self.path.name in self.files else None

    def label(self, name: str) -> str:
        """How messages call one of the files."""
        return str(self.path) if name == self.path.name else f"{self.path}/{name}"

    def text(self, name: str) -> str:
        """Return a file's text; raise BadData where it is not in the encoding that was said, or UTF-8."""
        raw = self.files[name]
        encoding = self.encoding or next((found for bom, found in _BOMS if raw.startswith(bom)), "utf-8")
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError as error:
            said = "UTF-8" if encoding.startswith("utf-8") else encoding
            raise BadData(
                f"{self.label(name)} is not {said} (byte {error.start}). Save it as UTF-8, or name its encoding, "
                "for example `--encoding cp1252`.",
                code="encoding",
            ) from error
        except LookupError as error:
            raise BadData(f"There is no encoding {encoding!r}. Use for example utf-8, utf-16 or cp1252.") from error

    def json(self, name: str) -> Any:
        """Return a file's JSON; raise BadData with the line where it is broken."""
        try:
            return json.loads(self.text(name))
        except json.JSONDecodeError as error:
            raise BadData(
                f"{self.label(name)}:{error.lineno} is not valid JSON ({error.msg}). Mend this line."
            ) from error
        except (RecursionError, ValueError) as error:
            raise BadData(f"{self.label(name)} is nested too deeply, or has a number of too many digits.") from error

    def yaml(self, name: str) -> Any:
        """Return a file's YAML; raise BadData with the line where it is broken."""
        try:
            return yaml.load(self.text(name), Loader=yaml.CSafeLoader)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            place = f"{self.label(name)}:{mark.line + 1}" if mark else self.label(name)
            problem = getattr(error, "problem", None) or "it cannot be read"
            raise BadData(f"{place} is not valid YAML ({problem}). Mend the syntax.") from error


def open_handed(path: Path, encoding: str | None = None) -> Handed:
    """Read a file, or what can be read of a folder or zip.

    Raises:
        BadData: It is not there, is empty, is larger than the limits, or is a zip that is broken, encrypted, or names
            files outside of itself.
    """
    try:
        if path.suffix.lower() == ".bpz":
            raise BadData(
                f"{path} is an archive of Botpress Cloud, whose inside is not documented. Export its questions and "
                "answers as a table, and import that as CSV."
            )
        if path.is_dir():
            return Handed(path, dict(_within_limits(path, _folder(path))), encoding)
        if not path.is_file():
            raise BadData(f"There is no file or folder {str(path)!r}. Check the path.")
        if path.stat().st_size > MAX_BYTES:
            raise BadData(f"{path} has {path.stat().st_size:,} bytes; at most {MAX_BYTES:,} are read. Split it.")
        if zipfile.is_zipfile(path):
            return Handed(path, dict(_within_limits(path, _zip(path))), encoding)
        raw = path.read_bytes()
    except OSError as error:
        raise BadData(f"{path} cannot be read ({error.strerror}). Check the path.") from error
    if not raw.strip():
        raise BadData(f"{path} is empty. Export it again.")
    return Handed(path, {path.name: raw}, encoding)


def _within_limits(path: Path, files: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    total = 0
    for number, (name, raw) in enumerate(files, 1):
        total += len(raw)
        if total > MAX_BYTES or number > MAX_FILES:
            raise BadData(f"{path} holds more than {MAX_BYTES:,} bytes or {MAX_FILES:,} files. Hand in a part of it.")
        yield name, raw


def _folder(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path)
        if file.is_symlink() or any(part.startswith(".") for part in inside.parts) or file.suffix.lower() not in READ:
            continue
        if file.is_file():
            if file.stat().st_size > MAX_BYTES:
                raise BadData(f"{file} has {file.stat().st_size:,} bytes; at most {MAX_BYTES:,} are read. Remove it.")
            yield inside.as_posix(), file.read_bytes()


def _zip(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                inside = PurePosixPath(info.filename.replace("\\", "/"))
                if inside.is_absolute() or ".." in inside.parts or ":" in info.filename.split("/")[0]:
                    raise BadData(f"{path} names a file outside of itself ({info.filename!r}). Do not trust this zip.")
                if info.is_dir() or inside.suffix.lower() not in READ:
                    continue
                if info.flag_bits & 0x1:
                    raise BadData(f"{path} is encrypted. Export it without a password.")
                with archive.open(info) as file:
                    # What the zip says of its sizes may be a lie: no more than the limit is ever unpacked.
                    yield inside.as_posix(), file.read(MAX_BYTES + 1)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise BadData(f"{path} is a damaged zip. Export it again.") from error

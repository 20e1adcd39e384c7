"""Write what is missing of a language as files to be filled in, with the English text beside each key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import copytree
from textwrap import wrap
from typing import Any

import yaml

from bot.errors import BadData
from bot.languages.check import SPECIAL, expected, has_own_keys
from bot.languages.files import FILES, SHIPPED, load, packaged, shipped
from bot.matching.red_flags import FLAGS

WIDTH = 110
SHOWN_EXAMPLES = 4
_HEAD = """\
# {about} Language: {code}. docs/languages.md says what each entry is.
# SAMPLE UNTIL A CLINICIAN HAS APPROVED IT. Above each key stands the English text; {{slots}} stay as they are.
# Who has no word for something in a list of words writes "", or [].
"""


def copy_shipped(code: str, folder: Path) -> list[str]:
    """Copy a language that is shipped, for a site to change it; return the names of its files.

    Nothing is copied beside what a site has begun: a language is taken whole from one place.

    Raises:
        BadData: The folder cannot be written.
    """
    place = folder / code
    if code not in shipped() or place.exists():
        return []
    try:
        copytree(SHIPPED / code, place)
    except OSError as error:
        raise _unwritable(place, error) from None
    return sorted(path.name for path in place.iterdir())


def _unwritable(place: Path, error: OSError) -> BadData:
    return BadData(f"{place} cannot be written ({error.strerror}). Choose another folder.")


def write_skeleton(code: str, folder: Path) -> list[str]:
    """Write the files that a language needs and has not; return their names. What is there is left as it is.

    Raises:
        BadData: The folder cannot be written, or the language is one of the package.
    """
    if code in packaged():
        raise BadData(f"{code!r} is a language of the program: there is nothing to write.")
    place, written = folder / code, list[str]()
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, file in FILES.items():
            if not file.needed or (place / name).exists():
                continue
            body = _alarm(name) if name in SPECIAL else _table(name, expected(name), (), "")
            (place / name).write_text(_HEAD.format(about=file.about, code=code) + "\n".join(body) + "\n", "utf-8")
            written.append(name)
    except OSError as error:
        raise _unwritable(place, error) from None
    return written


def _table(name: str, table: Mapping[Any, Any], path: tuple[str, ...], indent: str) -> Iterator[str]:
    for key, value in table.items():
        here, called = (*path, str(key)), _scalar(key)
        if isinstance(value, dict) and value and not has_own_keys(name, here):
            yield f"{indent}{called}:"
            yield from _table(name, value, here, f"{indent}  ")
            continue
        yield from _beside(value, indent)
        yield f"{indent}{called}:"


def _beside(value: Any, indent: str) -> Iterator[str]:
    """Yield a value as comments."""
    text = value if isinstance(value, str) else _flow(value)
    yield from wrap(text, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}#   ")


def _flow(value: Any) -> str:
    written = yaml.safe_dump(value, allow_unicode=True, default_flow_style=True, width=10**6, sort_keys=False)
    return str(written).strip().removesuffix("...").strip()


def _scalar(value: Any) -> str:
    return _flow(str(value) if isinstance(value, str) else value)


def _alarm(name: str) -> Iterator[str]:
    """Yield a file of red flags with all flags and nothing in them; of the package, a few examples."""
    if name == SPECIAL[0]:
        yield "# What stands for a group of words in the rules: {chest}. Words are folded: no accents, no punctuation."
        yield "words: {}"
        yield "# What is no sign although it sounds like one."
        yield "never: []"
        yield "rules:"
        for flag in FLAGS:
            yield f"  - flag: {flag}"
            yield "    any: []"
        return
    examples = load("en", name)
    yield "urgent:"
    for flag in FLAGS:
        yield from (f"  # {text}" for text in examples["urgent"].get(flag, ())[:SHOWN_EXAMPLES])
        yield f"  {flag}: []"
    yield from (f"# {text}" for text in examples["harmless"][:SHOWN_EXAMPLES])
    yield "harmless: []"

"""How the pages of a place look, and what stands at their foot: logo, colours and notices, from its `site.yaml`.

Nothing of it is trusted: a logo is a PNG and nothing else, and a colour that could not be read is refused.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, field_validator

from bot.errors import BadData

Notice = Literal["imprint", "privacy", "accessibility"]
NOTICES: tuple[Notice, ...] = get_args(Notice)
MOST_NOTICE = 20_000  # characters
MOST_LOGO = 200_000  # bytes
LARGEST_LOGO = 2_000  # pixels a side
AA = 4.5  # contrast that WCAG asks for of text
# What text in the accent colour stands on, as in `page.css`: page, card, message of a patient.
LIGHT, DARK = ("#faf7f2", "#ffffff", "#f0e9dd"), ("#14191b", "#1d2427", "#2b2a24")
_TINT = 0.12  # of the accent colour, in the ground of what stands out
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_NAMESPACE = re.compile(r"(https?://|urn:)[A-Za-z0-9._~:/-]+[A-Za-z0-9]")
_PNG = b"\x89PNG\r\n\x1a\n"
OUR_IDENTIFIERS, OUR_CANONICAL = "https://klartext.example/fhir/sid", "https://klartext.example/fhir"


@dataclass(frozen=True, slots=True)
class Namespaces:
    """Base URIs of what is exported: of identifiers, and of code systems and extensions."""

    identifiers: str = OUR_IDENTIFIERS
    canonical: str = OUR_CANONICAL


OURS = Namespaces()


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of one mode: of links and buttons, of what is written on them, and of what stands out."""

    accent: str
    on_accent: str
    soft: str


@dataclass(frozen=True, slots=True)
class Look:
    """How the pages look; what is empty or missing is as it is shipped.

    Attributes:
        logo: A PNG.
        light: Colours by day.
        dark: Colours where the device asks for a dark page.
        notices: Text with paragraphs, or an https address, by language.
    """

    logo: bytes = b""
    light: Palette | None = None
    dark: Palette | None = None
    notices: Mapping[Notice, Mapping[str, str]] = field(default_factory=dict)

    @property
    def css(self) -> str:
        """What is set beside the style sheet of the page; empty where nothing is."""
        if self.light is None or self.dark is None:
            return ""
        light, dark = f":root {{ {_set(self.light)} }}", f":root {{ {_set(self.dark)} }}"
        # Paper stays black and white.
        return f"@media screen {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ {dark} }}\n"


SHIPPED = Look()


class Colours(BaseModel):
    """Colours as a file names them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    accent: str
    accent_dark: str

    @field_validator("accent", "accent_dark")
    @classmethod
    def _is_colour(cls, colour: str) -> str:
        if not _COLOUR.fullmatch(colour):
            raise ValueError(f"{colour!r} is no colour; write six hexadecimal digits, for example '#0b5f6b'")
        return colour.lower()

    @field_validator("accent")
    @classmethod
    def _reads_by_day(cls, colour: str) -> str:
        return _readable(colour, LIGHT, "#ffffff")

    @field_validator("accent_dark")
    @classmethod
    def _reads_in_the_dark(cls, colour: str) -> str:
        return _readable(colour, DARK, "#1d2427")


class NamespacesFile(BaseModel):
    """Namespaces as a file names them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    identifiers: str = OUR_IDENTIFIERS
    canonical: str = OUR_CANONICAL

    @field_validator("identifiers", "canonical")
    @classmethod
    def _is_base(cls, base: str) -> str:
        if not _NAMESPACE.fullmatch(base):
            raise ValueError(
                f"{base!r} is no base URI; write for example https://ct.example.org/fhir, with no / behind"
            )
        return base


def palette(colours: Colours) -> tuple[Palette, Palette]:
    """Return the colours by day and in the dark."""
    return (
        Palette(colours.accent, _written_on(colours.accent), _mixed(colours.accent, "#ffffff")),
        Palette(colours.accent_dark, _written_on(colours.accent_dark), _mixed(colours.accent_dark, "#1d2427")),
    )


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2.2 measures it, from 1 to 21."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def read_logo(file: Path, name: str) -> bytes:
    """Return a logo that stands beside the file that names it.

    Raises:
        BadData: It is not there, no PNG, or too large. Other formats may hold scripts, or what only some browsers show.
    """
    if name != Path(name).name or name.startswith("."):
        raise BadData(f"{file}: `logo` is {name!r}. Name a file that stands beside this one, without a folder.")
    path = file.parent / name
    try:
        with path.open("rb") as opened:
            logo = opened.read(MOST_LOGO + 1)
    except OSError as error:
        raise BadData(f"{file}: `logo` names {name!r}, which cannot be read ({error.strerror}).") from None
    if len(logo) > MOST_LOGO:
        raise BadData(f"{file}: `logo` names {name!r}, which has more than {MOST_LOGO} bytes. Make it smaller.")
    if not _is_png(logo):
        raise BadData(f"{file}: `logo` names {name!r}, which is no whole PNG. Save it as PNG.")
    width, height = struct.unpack(">II", logo[16:24])
    if not 0 < width <= LARGEST_LOGO or not 0 < height <= LARGEST_LOGO:
        raise BadData(
            f"{file}: `logo` names {name!r}, which is {width} by {height} pixels and may have {LARGEST_LOGO} a side."
        )
    return logo


def notice(file: Path, name: Notice, said: Mapping[str, str], languages: Sequence[str]) -> dict[str, str]:
    """Return what a notice says in the languages of the catalog; raise BadData where it says nothing, or too much."""
    found = {}
    for language in languages:
        text = said.get(language, "").strip()
        if not 0 < len(text) <= MOST_NOTICE:
            raise BadData(
                f"{file}: `notices.{name}` in {language!r} has {len(text)} characters and may have 1 to {MOST_NOTICE}. "
                "Write it in the languages of the catalog, or give an https address."
            )
        if "://" in text.split(maxsplit=1)[0] and not is_address(text):
            raise BadData(f"{file}: `notices.{name}` in {language!r} is no https address. Correct it.")
        found[language] = text
    return found


def is_address(text: str) -> bool:
    """Whether a notice is an address, where it can be read."""
    if not re.fullmatch(r"https://[!-~]+", text):
        return False
    try:
        return bool(urlsplit(text).hostname)
    except ValueError:
        return False


def _readable(colour: str, grounds: tuple[str, ...], card: str) -> str:
    for ground in (*grounds, _mixed(colour, card)):
        measured = contrast(colour, ground)
        if measured < AA:
            raise ValueError(f"{colour} on {ground} has a contrast of {measured:.2f} to 1 and needs {AA} to 1")
    return colour


def _written_on(colour: str) -> str:
    return max(("#ffffff", "#000000"), key=lambda ink: contrast(ink, colour))


def _mixed(colour: str, ground: str) -> str:
    parts = (_TINT * one + (1 - _TINT) * other for one, other in zip(_parts(colour), _parts(ground), strict=True))
    return "#" + "".join(f"{round(part):02x}" for part in parts)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    shares = (part / 255 for part in _parts(colour))
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _set(colours: Palette) -> str:
    return f"--accent: {colours.accent}; --on-accent: {colours.on_accent}; --soft: {colours.soft};"


def _is_png(content: bytes) -> bool:
    """Whether this is a PNG from its first byte to its last: a header, chunks of a whole length, and an end."""
    if content[:8] != _PNG or content[12:16] != b"IHDR":
        return False
    at = 8
    while at + 12 <= len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        kind, at = content[at + 4 : at + 8], at + 12 + length
        if kind == b"IEND":
            return bool(at == len(content))
    return False

"""The look of a place: colours that can be read, a logo that is a picture and nothing else, notices, namespaces."""

from __future__ import annotations

import re
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import BadData
from bot.catalog.look import AA, DARK, LIGHT, OURS, contrast
from bot.catalog.site import Site, namespaces_of, open_site
from tests.ct import CATALOG, SITE

TODAY = date(2026, 11, 23)
LOGO = SITE.with_name("logo.png").read_bytes()


def _open(path: Path) -> Site:
    site = open_site(path, exam=CATALOG, languages=("de", "en"), sample=True, today=TODAY)
    assert site is not None
    return site


def _changed(folder: Path, **changes: Any) -> Path:
    file: dict[str, Any] = yaml.safe_load(SITE.read_text(encoding="utf-8"))
    path = folder / "site.yaml"
    shutil.copy(SITE.with_name("logo.png"), folder)
    path.write_text(yaml.safe_dump({**file, **changes}, allow_unicode=True), encoding="utf-8")
    return path


def test_a_site_has_its_own_look_and_namespaces() -> None:
    site = _open(SITE)

    assert site.name == "CT-Zentrum Hafenallee"
    assert site.look.logo == LOGO
    assert "--accent: #8a1c4f; --on-accent: #ffffff;" in site.look.css
    assert set(site.look.notices) == {"imprint", "privacy", "accessibility"}
    assert site.namespaces.identifiers == "https://ct.example.org/ids"
    assert namespaces_of(SITE, CATALOG) == site.namespaces


def test_without_entries_everything_is_as_it_is_shipped(tmp_path: Path) -> None:
    site = _open(_changed(tmp_path, logo=None, colours=None, notices={}, namespaces={}))

    assert (site.look.logo, site.look.css, dict(site.look.notices)) == (b"", "", {})
    assert site.namespaces == OURS


@pytest.mark.parametrize(("one", "other", "ratio"), [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.48)])
def test_contrast_is_that_of_wcag(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == pytest.approx(ratio, abs=0.005)
    assert contrast(other, one) == contrast(one, other)


def test_the_grounds_are_those_of_the_style_sheet() -> None:
    css = (Path(__file__).parents[3] / "bot/web/page/static/page.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in css.split("@media (prefers-color-scheme")[:2]
    )

    assert tuple(light[name] for name in ("paper", "card", "mine")) == LIGHT
    assert tuple(dark[name] for name in ("paper", "card", "mine")) == DARK
    assert all(contrast(light["accent"], ground) >= AA for ground in (*LIGHT, light["soft"]))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"colours": {"accent": "#ffcc00", "accent_dark": "#f3a9cb"}},
            "#ffcc00 on #faf7f2 has a contrast of 1.41 to 1 and needs 4.5 to 1",
        ),
        (
            {"colours": {"accent": "#8a1c4f", "accent_dark": "#8a1c4f"}},
            "`colours.accent_dark`: #8a1c4f on #14191b has a contrast of 1.99 to 1",
        ),
        ({"colours": {"accent": "red;}", "accent_dark": "#f3a9cb"}}, "'red;}' is no colour"),
        ({"colours": {"accent": "#8a1c4f"}}, "`colours.accent_dark` is missing"),
        ({"colours": {"accent": "#8a1c4f", "accent_dark": "#f3a9cb", "ink": "#000000"}}, "known: accent, accent_dark"),
        ({"logo": "../logo.png"}, "without a folder"),
        ({"logo": "nose.png"}, "cannot be read"),
        ({"logo": "site.yaml"}, "no whole PNG"),
        ({"notices": {"imprint": {"de": "https://a.example"}}}, "`notices.imprint` in 'en' has 0 characters"),
        ({"notices": {"imprint": {"de": "http://a.example", "en": "x"}}}, "is no https address"),
        ({"notices": {"imprint": {"de": "javascript://a", "en": "x"}}}, "is no https address"),
        ({"notices": {"impressum": {"de": "x", "en": "x"}}}, "known: imprint, privacy, accessibility"),
        ({"namespaces": {"identifiers": "https://a.example/x|y"}}, "is no base URI"),
        ({"namespaces": {"identifiers": "https://a.example/"}}, "is no base URI"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(BadData) as raised:
        _open(_changed(tmp_path, **changes))

    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "content",
    [
        LOGO[:-1],
        LOGO + b"<script>alert(1)</script>",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"GIF89a" + LOGO,
        LOGO[:16] + b"\0\1\0\0" + LOGO[20:],
        b"",
        LOGO + b"\0" * 200_000,
    ],
    ids=["cut", "script behind", "svg", "gif", "65536 pixels", "empty", "large"],
)
def test_a_logo_is_a_whole_png_of_a_sensible_size(tmp_path: Path, content: bytes) -> None:
    path = _changed(tmp_path)
    (tmp_path / "logo.png").write_bytes(content)

    with pytest.raises(BadData, match=r"`logo` names 'logo\.png', which"):
        _open(path)

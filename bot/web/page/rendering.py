"""Templates, labels and files of the page, and errors as pages. Everything that is put into a template is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from bot.catalog.look import SHIPPED, Look, is_address
from bot.languages.files import known
from bot.sentences.emergency_texts import numbers
from bot.sentences.page_texts import page_labels
from bot.sentences.spelling import is_swiss
from bot.sentences.wording import House
from bot.web.page.visit import Visit

Labels = Mapping[str, str]


def load_labels() -> dict[str, Labels]:
    """Return the labels by language; each language's own name is one of them."""
    return {code: page_labels(code) for code in known()}


HERE = Path(__file__).parent
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
LOGO, COLOURS = "logo.png", "site.css"  # of a site
A_YEAR_S, AN_HOUR_S = 31_536_000, 3600


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file that browsers may keep: its address changes with its content."""

    content: bytes
    media_type: str
    address: str

    def respond(self) -> Response:
        headers = {"Cache-Control": f"public, max-age={A_YEAR_S}, immutable"}
        return Response(self.content, media_type=self.media_type, headers=headers)


def static_files(look: Look = SHIPPED, folder: Path = HERE / "static") -> dict[str, StaticFile]:
    """Return the files by name: those of the page, and those of a site."""
    contents = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    contents |= {name: own for name, own in ((LOGO, look.logo), (COLOURS, look.css.encode())) if own}
    return {name: static_file(name, content) for name, content in contents.items()}


def static_file(name: str, content: bytes, *, base: str = "/static") -> StaticFile:
    """Return a file for browsers; `base`: where it is served."""
    version = hashlib.sha256(content).hexdigest()[:12]
    return StaticFile(content, TYPES[Path(name).suffix], f"{base}/{name}?v={version}")


class Renderer:
    """Makes pages of templates, labels and what a handler found."""

    def __init__(
        self,
        labels: Mapping[str, Labels],
        *,
        house: House,
        sample: bool,
        dictation: str,
        spoken: Callable[[], Sequence[str]],
    ) -> None:
        """`spoken`: returns the languages that new patients are answered in, first that of whoever asks for none."""
        country, site = house.country, house.site
        self._environment = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.tests["address"] = is_address
        self._environment.filters["tag"] = lambda language: "de-CH" if is_swiss(language, country) else language
        self._labels = labels
        self._country = country
        self._spoken = spoken
        self.files = static = static_files(site.look if site is not None else SHIPPED)
        logo = static[LOGO].content if LOGO in static else b""
        own = static[COLOURS].content.decode() if COLOURS in static else ""
        self._embed = static["embed.js"].content.decode("utf-8").strip()
        self._common = {
            "static": {name: file.address for name, file in static.items()},
            # Our own file, and colours that were checked, for copies to take away.
            "style": Markup(static["page.css"].content.decode("utf-8") + own),
            "logo": f"data:image/png;base64,{base64.b64encode(logo).decode()}" if logo else "",
            "place": site.name if site is not None else "",
            "phone": {code: (site.text("phone", code) or "") if site is not None else "" for code in labels},
            "notices": site.look.notices if site is not None else {},
            "sample": sample,
            "dictation": dictation,
            "all_labels": labels,
        }

    def language_of(self, visit: Visit, fallback: str = "") -> str:
        """Return the language of the labels: chosen, else the one that it began in, else what the browser prefers."""
        spoken = self._spoken()
        wanted = (visit.language, fallback, *visit.accepted)
        fitting = (each for each in wanted if each in self._labels and (each in spoken or each == fallback))
        return next(fitting, spoken[0])

    def speaks(self, language: str) -> bool:
        return language in self._labels

    def embedding(self, sites: Sequence[str]) -> Response:
        """Return the script for other sites, with the labels that it shows there, and those that may use it."""
        told = {code: {key: own[key] for key in own if key.startswith("embed_")} for code, own in self._labels.items()}
        # Sites load it from elsewhere, always at the same address.
        headers = {"Cross-Origin-Resource-Policy": "cross-origin", "Cache-Control": f"public, max-age={AN_HOUR_S}"}
        content = f"{self._embed}({json.dumps(told)}, {json.dumps(sites)});\n"
        return Response(content, media_type=TYPES[".js"], headers=headers)

    def labels(self, language: str) -> Labels:
        return self._labels[language]

    def page(self, name: str, visit: Visit, *, status: int = 200, language: str = "", **values: Any) -> Response:
        """Return a page of a template; `language`: that the conversation began in, if there is one."""
        own = self.language_of(visit, language)
        text = self._environment.get_template(f"{name}.html").render(
            **self._common,
            **{"form_token": visit.form_token, "in_talk": False, **values},
            page=name,
            t=self._labels[own],
            lang=own,
            languages={code: each["name"] for code, each in self._labels.items() if code in self._spoken()},
            emergency_numbers=numbers(self._country, own),
            visit=visit,
        )
        return HTMLResponse(text, status)


class PageProblem(Exception):
    """An answer that is an error.

    Attributes:
        status: Of the answer.
        sentence: Which label says it; default: that of the status.
        wait_s: How long to wait before the next try.
    """

    def __init__(self, status: HTTPStatus, *, sentence: str = "", wait_s: float = 0.0) -> None:
        super().__init__(status.phrase)
        self.status = status
        self.sentence = sentence or f"error_{int(status)}"
        self.wait_s = wait_s

    @property
    def may_pass(self) -> bool:
        """Whether the same may be taken a little later."""
        return self.status >= HTTPStatus.INTERNAL_SERVER_ERROR or self.status == HTTPStatus.TOO_MANY_REQUESTS

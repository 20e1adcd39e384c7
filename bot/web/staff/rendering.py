"""Templates, labels and files of the console. Everything that is put into a template is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bot.editorial.people import Task
from bot.errors import BadData, UserFixable
from bot.web.middleware import CONSOLE
from bot.web.page.rendering import HERE as PAGE
from bot.web.page.rendering import StaticFile, static_file
from bot.web.staff.visit import StaffVisit
from bot.web.staff.wording import Label, in_words, said_of

HERE = Path(__file__).parent
LANGUAGES = ("de", "en")
SHARED = ("icon.svg",)  # of the page for patients


@dataclass(frozen=True, slots=True)
class MenuItem:
    """A page that the menu names: its path below `/console`, its label, and the task that it asks for."""

    path: str
    menu: str
    task: Task


class StaffProblem(Exception):
    """An answer that is an error; `sentence`: the label that says it, or in `line` a line of the program's own."""

    def __init__(self, status: HTTPStatus, sentence: str = "", *, line: str = "") -> None:
        super().__init__(status.phrase)
        self.status = status
        self.sentence = sentence or f"error_{int(status)}"
        self.line = line


def load_texts(folders: Sequence[Path]) -> dict[str, dict[str, Label]]:
    """Return the labels of all areas by language.

    Raises:
        BadData: A label stands twice, or not in every language.
    """
    found: dict[str, dict[str, Label]] = {language: {} for language in LANGUAGES}
    for folder in folders:
        for language, own in found.items():
            for path in sorted((folder / "texts" / language).glob("*.yaml")):
                read = yaml.safe_load(path.read_text(encoding="utf-8"))
                if twice := sorted(set(own) & set(read)):
                    raise BadData(f"{path}: the label {twice[0]!r} stands in another file, too. Rename one of them.")
                own |= {key: Label(str(value).strip()) for key, value in read.items()}
    first, second = (set(found[language]) for language in LANGUAGES)
    if odd := sorted(first ^ second):
        raise BadData(f"Labels of the console: {', '.join(odd[:5])} are not in every language. Add or remove them.")
    return found


class StaffRenderer:
    """Makes pages of templates, labels and what a handler found; `zone`: of the place, None: of this machine."""

    def __init__(self, folders: Sequence[Path], *, zone: tzinfo | None, place: str, sample: bool) -> None:
        self._environment = Environment(
            loader=FileSystemLoader([folder / "templates" for folder in folders]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.zone = zone
        self._environment.filters |= {"moment": self._moment, "day": self._day, "percent": _percent}
        self._labels = load_texts(folders)
        contents = {name: (PAGE / "static" / name).read_bytes() for name in SHARED}
        for folder in folders:
            contents |= {path.name: path.read_bytes() for path in sorted((folder / "static").glob("*.*"))}
        self.files: dict[str, StaticFile] = {
            name: static_file(name, content, base=f"{CONSOLE}/static") for name, content in contents.items()
        }
        self._common = {
            "static": {name: file.address for name, file in self.files.items()},
            "place": place,
            "sample": sample,
            "console": CONSOLE,
            "languages": LANGUAGES,
        }
        self.menu: Sequence[MenuItem] = ()
        self.badges: Any = lambda person: {}

    def labels(self, language: str) -> Mapping[str, Label]:
        return self._labels[language]

    def told_of(self, error: UserFixable, language: str) -> str:
        """Return what a page says of an error that somebody can mend."""
        return in_words(said_of(error), self._labels[language])

    def page(self, name: str, visit: StaffVisit, *, status: int = 200, **values: Any) -> Response:
        """Return a page of a template; it finds `t` (labels), `say`, `visit` and the handler's values."""
        person = visit.person
        labels = self._labels[visit.language]
        told = labels.get(f"told_{visit.query.get('told', '')}", "")
        text = self._environment.get_template(f"{name}.html").render(
            **self._common,
            **{"told": told, "line": "", **values},
            page=name,
            t=labels,
            say=partial(in_words, labels=labels),
            lang=visit.language,
            visit=visit,
            menu=[each for each in self.menu if person is not None and person.may(each.task)],
            badges=self.badges(person) if person is not None else {},
        )
        return HTMLResponse(text, status)

    def _moment(self, at: datetime | None) -> str:
        return at.astimezone(self.zone).strftime("%d.%m.%Y %H:%M") if at is not None else ""

    def _day(self, at: datetime | None) -> str:
        return at.astimezone(self.zone).strftime("%d.%m.%Y") if at is not None else ""


def go_to(path: str, *, told: str = "") -> Response:
    """Return a redirect within the console after a form was posted; `told`: what the next page says was done."""
    said = f"{'&' if '?' in path else '?'}told={told}" if told else ""
    return RedirectResponse(f"{CONSOLE}{path}{said}", HTTPStatus.SEE_OTHER)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"

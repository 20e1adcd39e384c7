"""The interview as pages of a form: what each address does, and what its template needs. Handlers block.

Texts of the form, and what is said of answers, are put into words by `say`, which lets nothing through that the guard
of replies would not. What a patient has typed stands in its field again, escaped like everything in a template.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from starlette.responses import RedirectResponse, Response

from bot.errors import Outdated
from bot.interview.manners.fields import OWN
from bot.interview.manners.page_turn import PageSent, PageTurn, after_removal
from bot.interview.manners.pages import Element, Entered, asked_or_told, fields_in
from bot.interview.manners.session import Filler, Saying, Sentence
from bot.ports import StoredConversation
from bot.sentences.reply import Entry, Interface, Part
from bot.settings import Settings
from bot.talk.conversation import Conversation, Message
from bot.talk.reception import Reception
from bot.web.limits import RateLimit
from bot.web.metrics import Metrics
from bot.web.page.handoff import handoff
from bot.web.page.rendering import PageProblem, Renderer
from bot.web.page.visit import Visit
from bot.web.schemas import TURN_ID

FORM_PATH = re.compile(r"/form(/check|/[1-9]\d{0,3})?")
IS_KEY = re.compile(r"q\d+(_\d+)+")
IS_TURN_ID = re.compile(TURN_ID.removeprefix("^").removesuffix("$"))
MOST_NEW = 40  # places that are marked as new
FILLERS: tuple[Filler, ...] = ("patient", "relative", "helper")
WANTS = ("add", "remove", "open", "chat")


@dataclass(frozen=True, slots=True)
class FormPages:
    """The pages of the form; its parts are those of `Pages`."""

    reception: Reception
    settings: Settings
    metrics: Metrics
    turns: RateLimit
    renderer: Renderer

    def open(self, visit: Visit) -> Response:
        """Go to the first section with an open question, else to the list of all answers."""
        opened = self._opened(visit)
        if opened is None:
            return _see("/")
        first = self._pages(self.reception.look(opened), visit, opened).first_open
        return _see(f"/form/{first}" if first else "/form/check")

    def section(self, visit: Visit) -> Response:
        """Show the page of a section."""
        opened = self._opened(visit)
        if opened is None:
            return _see("/")
        new = [key for key in visit.query.get("new", "").split(".")[:MOST_NEW] if IS_KEY.fullmatch(key)]
        return self._show(visit, opened, new=tuple(new))

    def save(self, visit: Visit) -> Response:
        """Take what was filled in; whatever is wrong stands there again, with what was typed."""
        opened = self._require(visit)
        sent = self._sent(visit, _number(visit))
        conversation = self.reception.look(opened)
        message = self._message(visit, sent)
        known = self.reception.records.turn(opened.id, message.turn_id)
        trial = self._pages(conversation, visit, opened)
        try:
            if known is None:
                trial.send(sent)
            replied = self._take(opened, message) if known is not None or conversation.is_turn(trial) else ()
        except Outdated:
            return self._show(visit, opened, outdated=True)
        if replied is None:
            return _see("/chat#newest")  # an alarm
        what, key = sent.wants
        pages = self._pages(self.reception.look(opened), visit, opened)
        if what == "remove":
            sent = after_removal(pages.form, sent, key)
        section = pages.section(sent.section)
        elements = pages.elements(section) if section is not None else ()
        entered = pages.entered(elements, sent)
        new = tuple(each for each in trial.fresh if IS_KEY.fullmatch(each))[:MOST_NEW]
        if any(each.outcome.needs_patient for each in entered.values()):
            return self._show(visit, opened, sent=sent, new=new)
        return _see(self._next(visit, pages, sent, trial, elements, more="form_more" in replied))

    def check(self, visit: Visit) -> Response:
        """Show all answers, each with the way to change it."""
        opened = self._opened(visit)
        if opened is None:
            return _see("/")
        return self._show_check(visit, opened)

    def agree(self, visit: Visit) -> Response:
        """Take the agreement to all answers, as the chat does."""
        opened = self._require(visit)
        sent = self._sent(visit, 0)
        try:
            self._take(opened, self._message(visit, sent))
        except Outdated:
            return self._show_check(visit, opened, outdated=True)
        return _see("/chat#newest")

    def _next(  # noqa: PLR0913 - where the patient was, and what came of it
        self,
        visit: Visit,
        pages: PageTurn,
        sent: PageSent,
        before: PageTurn,
        elements: tuple[Element, ...],
        *,
        more: bool,
    ) -> str:
        """Return the address after a page was saved."""
        what, key = sent.wants
        here = f"/form/{sent.section}"
        if what in ("chat", "open"):
            return "/chat#upload" if what == "open" else "/chat#newest"
        if what:
            return f"{here}#{key}" if what == "add" else f"{here}#main"
        if more:
            new = [each for each in before.fresh if IS_KEY.fullmatch(each)][:MOST_NEW]
            return f"{here}?new={'.'.join(new)}#note" if new else f"{here}#note"
        following = 0 if visit.said("back") == "check" else pages.section_after(sent.section)
        return f"/form/{following}" if following else "/form/check"

    def _take(self, opened: StoredConversation, message: Message) -> tuple[str, ...] | None:
        """Take a page as a turn; return the keys of the sentences in its reply, None for an alarm."""
        started_s = time.perf_counter()
        taken = self.reception.take(opened, message)
        self.metrics.turn("page", taken, time.perf_counter() - started_s)
        if taken.turn.decision == "urgent":
            return None
        return tuple(part.key for part in taken.reply.parts if isinstance(part, Interface))

    def _show(
        self,
        visit: Visit,
        opened: StoredConversation,
        *,
        sent: PageSent | None = None,
        new: tuple[str, ...] = (),
        outdated: bool = False,
    ) -> Response:
        """Return the page of a section; `sent`: with what was typed and is not right yet."""
        conversation = self.reception.look(opened)
        pages = self._pages(conversation, visit, opened)
        section = pages.section(_number(visit))
        if section is None:
            return _see("/form")
        elements = pages.elements(section)
        entered = pages.entered(elements, sent)
        wrong = [each for each in fields_in(elements) if entered[each.key].outcome.needs_patient]
        say = self._say(conversation, pages, elements, entered)
        status = HTTPStatus.CONFLICT if outdated else HTTPStatus.UNPROCESSABLE_ENTITY if wrong else HTTPStatus.OK
        back = "check" if "check" in (visit.query.get("back"), visit.said("back")) else ""
        return self.renderer.page(
            "form",
            visit,
            status=status,
            **self._common(pages, say, opened, outdated=outdated),
            number=section.number,
            title=pages.title(section),
            elements=elements,
            entered=entered,
            wrong=wrong,
            new=[each for each in asked_or_told(elements) if each.key in new],
            before=pages.section_before(section.number),
            back=back,
            keys=",".join(each.key for each in fields_in(elements)),
            own=OWN,
            uploads=self.settings.uploads is not None,
        )

    def _show_check(self, visit: Visit, opened: StoredConversation, *, outdated: bool = False) -> Response:
        conversation = self.reception.look(opened)
        pages = self._pages(conversation, visit, opened)
        say = self._say(conversation, pages, (), {})
        return self.renderer.page(
            "check",
            visit,
            status=HTTPStatus.CONFLICT if outdated else HTTPStatus.OK,
            **self._common(pages, say, opened, outdated=outdated),
            sections=[(each, pages.title(each), rows) for each, rows in pages.listed_sections()],
            open_ends=pages.open_ends if pages.is_done else (),
            done=pages.is_done,
            agreed=pages.talk.phase == "finished",
            who=[(each, Sentence(f"who_{each}")) for each in FILLERS] if pages.session.filler == "open" else (),
        )

    def _common(
        self, pages: PageTurn, say: Callable[..., list[Part]], opened: StoredConversation, *, outdated: bool
    ) -> dict[str, Any]:
        """Return what both templates need."""

        def entry(saying: Saying) -> Entry:
            return next(part for part in say(saying) if isinstance(part, Entry))

        return {
            "language": opened.language,
            "in_talk": True,
            "pages": pages,
            "say": lambda *sayings: [part.text for part in say(*sayings)],
            "entry": entry,
            "total": pages.total,
            "version": pages.version,
            "outdated": outdated,
            "turn_id": secrets.token_urlsafe(16),
            "called": handoff(self.reception, opened.id, 0, self.renderer.labels(opened.language)).status,
        }

    @staticmethod
    def _say(
        conversation: Conversation, pages: PageTurn, elements: tuple[Element, ...], entered: dict[str, Entered]
    ) -> Callable[..., list[Part]]:
        """Return what puts sayings into words, through the guard."""
        known = pages.repeatable(elements, entered)
        return lambda *sayings: list(conversation.worded(pages, sayings, known).parts)

    def _sent(self, visit: Visit, section: int) -> PageSent:
        language, version = visit.said("language"), visit.said("version")
        if language not in self.reception.serving().assistant.languages or not (
            version.isdecimal() and len(version) < 7
        ):
            raise PageProblem(HTTPStatus.BAD_REQUEST)
        what, _, key = visit.said("do").partition(":")
        if what and (what not in WANTS or (key and not IS_KEY.fullmatch(key))):
            raise PageProblem(HTTPStatus.BAD_REQUEST)
        fields: dict[str, tuple[str, ...]] = {}
        for name, value in visit.form:
            if IS_KEY.fullmatch(name.partition(".")[0]):
                fields[name] = (*fields.get(name, ()), value)
        shown = frozenset(filter(IS_KEY.fullmatch, visit.said("shown").split(",")))
        filler: Filler = next((each for each in FILLERS if visit.said("who") == each), "")
        return PageSent(section, language, int(version), shown, fields, (what, key), filler)

    @staticmethod
    def _message(visit: Visit, sent: PageSent) -> Message:
        """Return the turn that a page makes; sent again just as it is, it is the same turn."""
        turn_id = visit.said("turn")
        if not IS_TURN_ID.fullmatch(turn_id):
            raise PageProblem(HTTPStatus.BAD_REQUEST)
        fields, besides = sorted(sent.fields.items()), (sent.wants, sent.filler)
        filled = repr((turn_id, sent.section, sent.language, sent.version, fields, besides))
        return Message(hashlib.sha256(filled.encode("utf-8", "replace")).hexdigest()[:32], page=sent)

    def _pages(self, conversation: Conversation, visit: Visit, opened: StoredConversation) -> PageTurn:
        language = visit.said("language") or self.renderer.language_of(visit, opened.language)
        spoken = language if language in self.reception.serving(opened).assistant.languages else conversation.language
        pages = conversation.pages(spoken, at=self.reception.now())
        if pages is None:
            raise PageProblem(HTTPStatus.NOT_FOUND)
        return pages

    def _opened(self, visit: Visit) -> StoredConversation | None:
        known = visit.conversation
        return self.reception.admitted(*known) if known is not None else None

    def _require(self, visit: Visit) -> StoredConversation:
        opened = self._opened(visit)
        if opened is None:
            raise PageProblem(HTTPStatus.GONE)
        if wait_s := self.turns.wait_s(opened.id):
            raise PageProblem(HTTPStatus.TOO_MANY_REQUESTS, wait_s=wait_s)
        return opened


def _number(visit: Visit) -> int:
    number = visit.path.removeprefix("/form/")
    if not (number.isdecimal() and number.isascii() and len(number) < 5):
        raise PageProblem(HTTPStatus.NOT_FOUND)
    return int(number)


def _see(address: str) -> Response:
    return RedirectResponse(address, HTTPStatus.SEE_OTHER)

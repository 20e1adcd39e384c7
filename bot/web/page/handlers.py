"""What each address of the page does. Handlers block, and run in threads."""

from __future__ import annotations

import hashlib
import math
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import get_args

from starlette.responses import JSONResponse, RedirectResponse, Response

from bot.catalog.look import NOTICES, Notice
from bot.errors import NoSuchChoice, Reused
from bot.languages.files import known
from bot.ports import UNBOOKED, FlagReason, StoredConversation, StoredFlag
from bot.sentences.reply import Reply
from bot.sentences.spelling import spelt
from bot.settings import UPLOAD_KINDS, Settings
from bot.talk.choosing import Gone
from bot.talk.conversation import Message, Taken
from bot.talk.exams import title
from bot.talk.messages import switch_to
from bot.talk.reception import Reception, is_withdrawn
from bot.talk.switching import tells_to_begin_anew
from bot.talk.uploads import EXTENSIONS, FileLimits, FileRefused, Reason, SentFile
from bot.text import sanitise
from bot.web.limits import FULL_FILES, RateLimit
from bot.web.links import Invitation, NotInvited, unseal
from bot.web.metrics import Metrics
from bot.web.page.form import FORM_PATH
from bot.web.page.handoff import handoff
from bot.web.page.offers import has_finished, offers
from bot.web.page.rendering import Labels, PageProblem, Renderer
from bot.web.page.views import Block, Shown, Suggestion
from bot.web.page.visit import LINK_S, Visit, drop, fresh_session, keep
from bot.web.schemas import MAX_COMMENT, TURN_ID

LOOK_HOURS = 24 * 180
BACK = ("/", "/chat", "/copy", "/delete", "/end", *(f"/about/{each}" for each in NOTICES))
REASONS: dict[str, FlagReason] = {"helpful": "helpful", "wrong": "wrong", "complicated": "complicated"}
IS_TURN_ID = re.compile(TURN_ID.removeprefix("^").removesuffix("$"))  # databases refuse more than spaces in keys
IS_FILE_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NOTES = ("stale", "empty", "flagged", "reason", "consent", *(f"upload_{reason}" for reason in get_args(Reason)))


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages, and what they are made from.

    Attributes:
        reception: Everything that is said or stored goes through it.
        settings: Of this installation.
        metrics: Counts.
        turns: The limit of turns of one conversation.
        left: Is told of a conversation that was ended.
        exams: The catalogs that links may name.
        renderer: Makes pages.
        labels: Of the page, by language, as the country spells them.
        alarm: Returns what is said to a text that is plainly an emergency, without any database; None: it is none.
    """

    reception: Reception
    settings: Settings
    metrics: Metrics
    turns: RateLimit
    left: Callable[[str], None]
    exams: Sequence[str]
    renderer: Renderer
    labels: Mapping[str, Labels]
    alarm: Callable[[str], Reply | None] = lambda _: None

    def _phrases(self, exam: str | None) -> Mapping[str, Mapping[str, str]]:
        """What is said of an exam, by language; None: of the one that there is, or of none."""
        return self.reception.begun(exam)[0].assistant.wording.phrases

    def _offered(self, invitation: Invitation | None, language: str) -> list[tuple[str, str]]:
        """Return name and title of the exams that a patient may begin with; none where there is nothing to choose."""
        if not self.reception.several or self._exam(Visit(path="/"), invitation):
            return []
        return [(name, title(each, language)) for name, each in self.reception.served.items()]

    @property
    def framing(self) -> bool:
        """Whether other sites may show the page in a frame."""
        return bool(self.settings.frame_ancestors)

    def embed(self, visit: Visit) -> Response:
        """Send the script that puts a button and the page in a frame on another site."""
        return self.renderer.embedding(self.settings.frame_ancestors)

    def start(self, visit: Visit) -> Response:
        """Say who answers, and ask for consent; a site that leads here may put its language into the address."""
        wanted = visit.query.get("language", "") if not visit.language else ""
        if self.renderer.speaks(wanted):
            visit = replace(visit, language=wanted)
        invitation = self._invitation(visit)
        opened = self._opened(visit)
        if opened is not None and invitation is not None and invitation.patient != opened.patient:
            opened, visit = None, replace(visit, session="")  # a device that somebody else used before
        begins = visit if visit.session else replace(visit, session=fresh_session())
        serving, _ = self.reception.begun(self._exam(visit, invitation))
        closed = serving.assistant.is_closed
        site, language = serving.assistant.site, self.renderer.language_of(visit)
        named = self._exam(visit, invitation)
        response = self.renderer.page(
            "start",
            begins,
            closed=closed,
            reached=(site.text("phone", language) or "") if closed and site is not None else "",
            asks=not closed and serving.assistant.asks and serving.interviewer("") is not None,
            opened=opened,
            invited=invitation is not None,
            exams=self._offered(invitation, language),
            note=_note(visit),
            heading=self._phrases(named)[language]["heading"],
        )
        if begins is not visit:
            keep(response, visit, "session", begins.session, hours=self.settings.session_hours)
        if wanted and visit.language == wanted:
            keep(response, visit, "look", _look(wanted, large=visit.large), hours=LOOK_HOURS)
        return response

    def begin(self, visit: Visit) -> Response:
        """Begin a conversation of somebody who agreed; the one that this browser was in is over."""
        if visit.said("consent") != "yes":
            return _see("/?note=consent#consent")
        before = self._opened(visit)
        invitation = self._invitation(visit)
        language, exam = self.renderer.language_of(visit), self._exam(visit, invitation)
        spoken = self.reception.begun(exam)[0].assistant.languages
        opened = self.reception.open(
            channel="page",
            language=language if language in spoken else None,
            consented=True,
            exam=exam,
            patient=invitation.patient if invitation is not None else None,
            booking=invitation.booking if invitation is not None else UNBOOKED,
        )
        self.metrics.conversation("page")
        if before is not None:
            self._close(before)
        response = _see("/chat")
        secret = f"{opened.conversation.id}.{opened.secret}"
        keep(response, visit, "session", secret, hours=self.settings.session_hours)
        drop(response, visit, "link")
        return response

    def _exam(self, visit: Visit, invitation: Invitation | None) -> str | None:
        """Return the exam that a conversation begins about, where there are several; None: the patient is asked."""
        named = (invitation.exam if invitation is not None else "") or visit.said("exam")
        return named if named in self.reception.several else None

    def invited(self, visit: Visit) -> Response:
        """Take up the link of an appointment; the address is left at once, so that it stays in no history."""
        token = visit.path.removeprefix("/start/")
        return self.take_up(visit, token, self._read_link(token))

    def take_up(self, visit: Visit, token: str, invitation: Invitation) -> Response:
        """Go on to the start page with an invitation; `token`: its link's.

        Another site cannot take a patient out of a conversation: it is asked whether that is wanted.
        """
        running = self._opened(visit)
        if running is not None and not visit.own_form and invitation.patient != running.patient:
            return self.renderer.page("running", visit, language=running.language, address=f"/start/{token}")
        response = _see("/")
        keep(response, visit, "link", token, hours=LINK_S / 3600)
        keep(response, visit, "look", _look(invitation.language, large=visit.large), hours=LOOK_HOURS)
        return response

    def chat(self, visit: Visit) -> Response:
        """Show the conversation, and what can be done next."""
        opened = self._opened(visit)
        if opened is None:
            return _see("/")
        conversation, shown = self.reception.look(opened), self._shown(opened)
        taken = self.reception.transcript(opened.id)
        language = self.renderer.language_of(visit, opened.language)
        labels = self.renderer.labels(language)
        flags = self.reception.records.flags(opened.id)
        greeting = conversation.greeting()
        last = taken[-1].reply if taken else greeting
        called = handoff(self.reception, opened.id, conversation.number, labels)
        turns = shown.turns(taken, flags, labels)
        offered = offers(
            conversation, last, labels, self.renderer.labels(conversation.language), at=self.reception.now()
        )
        silent = called.state == "taken" or self.reception.serving(opened).assistant.is_closed
        return self.renderer.page(
            "chat",
            visit,
            language=opened.language,
            in_talk=True,
            note=_note(visit),
            anew=isinstance(conversation, Gone) or tells_to_begin_anew(last),
            greeting=tuple(shown.blocks(greeting, without="help")),
            greeting_language=greeting.language,
            turns=turns,
            handoff=called,
            offers=called.leaves(offered, alarmed=bool(turns and turns[-1].alert)),
            topics=[] if silent else self._suggested(language, opened),
            bring=self._to_bring(language, opened) if has_finished(last) else None,
            upload=None if called.interrupts else self._upload(conversation.wanted_file, labels, _note(visit)),
            files=conversation.files(at=self.reception.now()),
            turn_id=secrets.token_urlsafe(16),
        )

    def say(self, visit: Visit) -> Response:
        """Take a message, and go back to the conversation."""
        opened = self._require(visit)
        if wait_s := self.turns.wait_s(opened.id):
            raise PageProblem(HTTPStatus.TOO_MANY_REQUESTS, wait_s=wait_s)
        message = _message(visit)
        if message is None:
            return _see("/chat?note=empty#say")
        started_s = time.perf_counter()
        try:
            taken = self._take(opened, message, shown_with=visit.said("number"))
        except NoSuchChoice:
            return _see("/chat?note=stale#say")
        self.metrics.turn("page", taken, time.perf_counter() - started_s)
        return _see("/chat#newest")

    def upload(self, visit: Visit) -> Response:
        """Take a file as the answer to the open question, and go back to the conversation."""
        opened = self._require(visit)
        if wait_s := self.turns.wait_s(opened.id):
            raise PageProblem(HTTPStatus.TOO_MANY_REQUESTS, wait_s=wait_s)
        turn_id, file = visit.said("turn"), visit.file
        if not IS_TURN_ID.fullmatch(turn_id) and isinstance(file, SentFile):
            raise PageProblem(HTTPStatus.BAD_REQUEST)
        try:
            if not isinstance(file, SentFile):
                raise file or FileRefused("empty")
            uploads = self.settings.uploads
            most_bytes = FULL_FILES * uploads.most_bytes if uploads is not None else 0
            started_s = time.perf_counter()
            taken = self.reception.take_file(opened, turn_id, file, most_bytes=most_bytes)
        except FileRefused as refused:
            return _see(f"/chat?note=upload_{refused.reason}#upload")
        except Reused:  # somebody went back and sent another file from an old form
            return _see("/chat?note=upload_not_asked#upload")
        self.metrics.turn("page", taken, time.perf_counter() - started_s)
        return _see("/chat#newest")

    def remove_file(self, visit: Visit) -> Response:
        """Take a file out of the answers, and go back to the conversation."""
        opened = self._require(visit)
        if wait_s := self.turns.wait_s(opened.id):
            raise PageProblem(HTTPStatus.TOO_MANY_REQUESTS, wait_s=wait_s)
        if not IS_FILE_ID.fullmatch(visit.said("file")):
            raise PageProblem(HTTPStatus.BAD_REQUEST)
        started_s = time.perf_counter()
        try:
            taken = self.reception.remove_file(opened, visit.said("file"))
        except (FileRefused, Reused):
            return _see("/chat?note=upload_gone#now")
        self.metrics.turn("page", taken, time.perf_counter() - started_s)
        return _see("/chat#newest")

    def flag(self, visit: Visit) -> Response:
        """Note what a patient thinks of an answer."""
        opened = self._require(visit)
        turn_id = visit.said("turn")
        turn = self.reception.records.turn(opened.id, turn_id) if IS_TURN_ID.fullmatch(turn_id) else None
        if turn is None or turn.exchange is None:
            raise PageProblem(HTTPStatus.BAD_REQUEST)
        anchor = f"#turn-{turn.exchange.number}"
        reason = REASONS.get(visit.said("reason"))
        if reason is None:
            return _see(f"/chat?note=reason{anchor}")
        comment = sanitise(visit.said("comment")[:MAX_COMMENT]).text
        self.reception.flag(opened.id, StoredFlag(turn.exchange.turn_id, reason, comment, self.reception.now()))
        self.metrics.flag(reason)
        return _see(f"/chat?note=flagged{anchor}")

    def look(self, visit: Visit) -> Response:
        """Change size of the text, or the language of the whole conversation: any of our forms may ask it."""
        language = visit.said("language") or visit.language
        opened = self._opened(visit) if visit.said("language") else None
        if opened is not None and language in known() and self.reception.look(opened).language != language:
            self.reception.take(opened, Message(secrets.token_urlsafe(16), switch_to(language)))
        size = visit.said("size")
        back = visit.said("back")
        leads = back in BACK or FORM_PATH.fullmatch(back)
        response = _see("/chat#newest" if back == "/chat" else back if leads else "/")
        large = size == "large" if size else visit.large
        keep(response, visit, "look", _look(language, large=large), hours=LOOK_HOURS)
        return response

    def copy(self, visit: Visit) -> Response:
        """Show everything at once, to be printed."""
        opened = self._opened(visit)
        return self._copy("copy", opened, visit) if opened is not None else _see("/")

    def copy_file(self, visit: Visit) -> Response:
        """Send the same as one file, to be kept."""
        opened = self._opened(visit)
        if opened is None:
            return _see("/")
        response = self._copy("copy_file", opened, visit)
        response.headers["Content-Disposition"] = f'attachment; filename="klartext-{opened.begun:%Y-%m-%d}.html"'
        return response

    def _copy(self, page: str, opened: StoredConversation, visit: Visit) -> Response:
        conversation, shown = self.reception.look(opened), self._shown(opened)
        answers = conversation.answers(at=self.reception.now())
        language = self.renderer.language_of(visit, opened.language)
        labels = self.renderer.labels(language)
        return self.renderer.page(
            page,
            visit,
            language=opened.language,
            in_talk=True,
            on=opened.begun.astimezone(self.reception.now().tzinfo).strftime(labels["date"]),
            contact=self._contact(language, opened),
            answers=tuple(shown.blocks(answers)) if answers is not None else (),
            answers_language=answers.language if answers is not None else language,
            turns=shown.turns(self.reception.transcript(opened.id), (), labels),
            handoff=handoff(self.reception, opened.id, conversation.number, labels),
        )

    def news(self, visit: Visit) -> Response:
        """Tell a browser what it shows no more, and whether staff have written: it then fetches the conversation.

        `withdrawn`: the turns whose answers were taken back; `bring`: whether what to bring may be shown.
        """
        opened = self._require(visit)
        language = self.renderer.language_of(visit, opened.language)
        found = handoff(self.reception, opened.id, 0, self.renderer.labels(language))
        taken = self.reception.transcript(opened.id)
        gone = [each.turn.exchange.number for each in taken if each.turn.exchange and is_withdrawn(each.reply)]
        bring = self._to_bring(language, opened) is not None
        told = {"state": found.state, "status": found.status, "latest": found.latest}
        return JSONResponse({**told, "withdrawn": gone, "bring": bring})

    def confirm(self, visit: Visit) -> Response:
        """Ask whether to delete, or to end, before anything is done."""
        opened = self._opened(visit)
        if opened is None:
            return _see("/")
        called = handoff(self.reception, opened.id, 0, self.renderer.labels(opened.language)).is_open
        return self.renderer.page(visit.path.strip("/"), visit, language=opened.language, in_talk=True, waits=called)

    def erase(self, visit: Visit) -> Response:
        """Delete the conversation with everything in it."""
        self.reception.erase(self._require(visit))
        return self._left(visit, "/goodbye?deleted=yes")

    def end(self, visit: Visit) -> Response:
        """End the conversation on this device, and let the team have what is new."""
        self._close(self._require(visit))
        return self._left(visit, "/goodbye")

    @property
    def notices(self) -> Mapping[Notice, Mapping[str, str]]:
        """What the site says at the foot of every page."""
        site = self.reception.serving().assistant.site
        return site.look.notices if site is not None else {}

    def about(self, visit: Visit) -> Response:
        """Show a notice of the site."""
        name = visit.path.removeprefix("/about/")
        said = next((said for notice, said in self.notices.items() if notice == name), None)
        if said is None:
            raise PageProblem(HTTPStatus.NOT_FOUND)
        language = self.renderer.language_of(visit)
        own = language if language in said else next(iter(said))
        paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n", said[own])]
        return self.renderer.page("about", visit, notice=name, written_in=own, paragraphs=paragraphs)

    def goodbye(self, visit: Visit) -> Response:
        """Say goodbye, and what to bring; who has deleted everything is reminded of nothing."""
        deleted = visit.query.get("deleted") == "yes"
        bring = None if deleted else self._to_bring(self.renderer.language_of(visit), None)
        return self.renderer.page("goodbye", visit, deleted=deleted, bring=bring)

    def _close(self, opened: StoredConversation) -> None:
        """Let the team have what is new; from now on nothing opens the conversation, no copy of its cookie either."""
        self.left(opened.id)
        self.reception.records.close_session(opened.id)

    def _left(self, visit: Visit, address: str) -> Response:
        response = _see(address)
        drop(response, visit, "session")
        drop(response, visit, "link")
        return response

    def _take(self, opened: StoredConversation, message: Message, *, shown_with: str) -> Taken:
        known = self.reception.records.turn(opened.id, message.turn_id)
        if message.choice is not None and known is None:
            last = self.reception.records.last_turn(opened.id)
            number = last.exchange.number if last is not None and last.exchange is not None else 0
            if shown_with != str(number):  # another window has gone on: the number would mean something else
                raise NoSuchChoice("This choice belongs to an older list.")
        try:
            return self.reception.take(opened, message)
        except Reused:
            # Somebody went back and wrote something else into an old form: that is a new message, sent once too.
            own = hashlib.sha256(f"{message.turn_id}\0{message.text}".encode("utf-8", "replace")).hexdigest()[:32]
            if message.choice is not None:
                raise NoSuchChoice("This choice belongs to an older list.") from None
            return self.reception.take(opened, replace(message, turn_id=own))

    def _upload(self, wanted: FileLimits | None, labels: Labels, note: str) -> dict[str, str | int] | None:
        """Return what the open question takes: for browsers to choose from, and in words; None where it takes none.

        The hint names what the form and the site allow together; `problem` is what is wrong with what was just sent.
        """
        if wanted is None:
            return None
        names = [name.upper() for name, kind in UPLOAD_KINDS.items() if kind in wanted.kinds]
        said = {"kinds": ", ".join(names), "most": _in_words(wanted.most_bytes, labels)}
        photos = any(kind.startswith("image/") for kind in wanted.kinds)
        hints = [labels["upload_hint"].format(**said), *([labels["upload_photo"]] if photos else [])]
        return {
            "accept": ",".join((*wanted.kinds, *(EXTENSIONS[kind] for kind in wanted.kinds))),
            "most_bytes": wanted.most_bytes,
            "hint": " ".join(hints),
            "too_large": labels["note_upload_size"].format(**said),
            "problem": labels[f"note_{note}"].format(**said) if note.startswith("upload_") else "",
        }

    def _shown(self, opened: StoredConversation | None) -> Shown:
        """Return what makes views of replies, of the release that the conversation began with."""
        return Shown(self.reception.serving(opened).assistant, self.labels)

    def _contact(self, language: str, opened: StoredConversation) -> tuple[str, ...]:
        """Return the site's name, how to reach it and where it is; empty where nothing is known of it."""
        site = self.reception.serving(opened).assistant.site
        if site is None:
            return ()
        return (site.name, *(text for text in (site.text("phone", language), site.text("address", language)) if text))

    def _to_bring(self, language: str, opened: StoredConversation | None) -> Block | None:
        """Return the approved text that says what to bring, in the language of the labels; None where there is none."""
        serving = self.reception.serving(opened)
        pair, spoken = serving.topics.bring, serving.assistant.languages
        return self._shown(opened).pair(pair, language) if pair and language in spoken else None

    def _suggested(self, language: str, opened: StoredConversation) -> list[tuple[str, tuple[Suggestion, ...]]]:
        """Return topics with their questions, in the language of the labels."""
        serving, shown = self.reception.serving(opened), self._shown(opened)
        assistant = serving.assistant
        spoken = language if language in assistant.languages else assistant.languages[0]
        if not serving.topics.groups:
            pairs = tuple(pair.id for pair in assistant.catalog(spoken).pairs)[:8]
            if not pairs:
                return []
            return [(self.renderer.labels(language)["ask_about"], shown.suggestions(pairs, spoken))]
        found = (
            (
                spelt(topic.names.get(language, ""), language, self.settings.country),
                shown.suggestions(topic.pairs, spoken),
            )
            for topic in serving.topics.groups
        )
        return [(name, suggestions) for name, suggestions in found if name and suggestions]

    def _opened(self, visit: Visit) -> StoredConversation | None:
        known = visit.conversation
        return self.reception.admitted(*known) if known is not None else None

    def _require(self, visit: Visit) -> StoredConversation:
        opened = self._opened(visit)
        if opened is None:
            raise PageProblem(HTTPStatus.GONE)
        return opened

    def _invitation(self, visit: Visit) -> Invitation | None:
        if not visit.link:
            return None
        try:
            return self._read_link(visit.link)
        except PageProblem:
            return None  # it expired while the start page was open: the patient goes on without

    def _read_link(self, token: str) -> Invitation:
        key = self.settings.link_key
        try:
            if key is None:
                raise NotInvited("unreadable")
            invitation = unseal(token, key, now=self.reception.now())
        except NotInvited as error:
            status = HTTPStatus.GONE if error.reason == "expired" else HTTPStatus.NOT_FOUND
            raise PageProblem(status, sentence=f"link_{error.reason}") from None
        if invitation.exam not in self.exams and (invitation.exam or len(self.exams) == 1):
            raise PageProblem(HTTPStatus.NOT_FOUND, sentence="link_exam")
        return invitation


def _message(visit: Visit) -> Message | None:
    """Return what the patient sent: words, the number of a choice, or several numbers."""
    turn_id, choice, picks = visit.said("turn"), visit.said("choice"), visit.all_said("pick")
    if not IS_TURN_ID.fullmatch(turn_id):
        raise PageProblem(HTTPStatus.BAD_REQUEST)
    if choice.isdecimal() and len(choice) < 3:
        return Message(turn_id, choice=int(choice))
    # What was pressed counts, not what is left in the box.
    text = visit.said("words") or ", ".join(pick for pick in picks if pick.isdecimal()) or visit.said("text")
    return Message(turn_id, text) if sanitise(text).text else None


def _note(visit: Visit) -> str:
    note = visit.query.get("note", "")
    return note if note in NOTES else ""


def _look(language: str, *, large: bool) -> str:
    known = language.isascii() and language.isalpha() and len(language) == 2  # more than a cookie can carry comes in
    return f"{language if known else ''}.{'large' if large else 'normal'}"


def _see(address: str) -> Response:
    return RedirectResponse(address, HTTPStatus.SEE_OTHER)


def _in_words(most_bytes: int, labels: Labels) -> str:
    """Return a size that is not larger than the bytes: "2.5 MB", "200 kB"."""
    amount, unit = (most_bytes / 1_000_000, "MB") if most_bytes >= 1_000_000 else (most_bytes / 1000, "kB")
    number = f"{math.floor(amount * 10) / 10:.1f}".removesuffix(".0").replace(".", labels["decimal_mark"])
    return f"{number} {unit}"

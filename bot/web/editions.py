"""What is served at this moment: the release in force, and earlier ones for conversations that began with them."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bot.assistant import Assistant
from bot.catalog.catalog import locate
from bot.catalog.topics import Topics, load_topics
from bot.errors import UserFixable
from bot.handover.handover import Handover
from bot.interview_wiring import Interviewers
from bot.languages.opening import open_languages
from bot.ports import Encoder, Interviews, Records
from bot.release.in_force import ChatState, InForce
from bot.release.release import Release, Releases, require_servable, unpack
from bot.release.stops import Seen, StopMemory, Stops
from bot.settings import Settings
from bot.wiring import make_encoder, make_releases

if TYPE_CHECKING:
    from bot.adapters.release_keys import Trust

log = logging.getLogger("klartext")
MOST_OPEN = 3  # releases held in memory: the one in force, one that is prepared, one of older conversations
MOST_NAMED = 3  # pairs that are missed, in one line
STOPS_GOOD_FOR_S = 0.5  # how long a process may not know of an emergency stop


@dataclass(frozen=True, slots=True)
class Edition:
    """What conversations of one release are served from.

    Attributes:
        release: None in sample mode, where there are no releases.
    """

    release: Release | None
    assistant: Assistant
    interviewers: Interviewers
    topics: Topics

    @property
    def number(self) -> int | None:
        return self.release.number if self.release is not None else None


def open_edition(  # noqa: PLR0913 - what an edition is made of
    catalog: str | Path,
    settings: Settings,
    records: Records,
    *,
    sample: bool = False,
    questionnaire: Path | None = None,
    in_force: InForce | None = None,
    encoder: str | Encoder = "embedded",
) -> Edition:
    """Open an exam's folder, of a release or in sample mode.

    Raises:
        UserFixable: It cannot be served.
    """
    assistant = Assistant.open(catalog, settings=settings, sample=sample, in_force=in_force, encoder=encoder)
    # A release without a form asks nothing; in sample mode an exam has the one that is shipped with it.
    exam = str(catalog) if in_force is None else ""
    interviewers = Interviewers.open(settings, assistant, exam=exam, questionnaire=questionnaire, records=records)
    asking = interviewers.of("")  # a form that cannot be asked is refused before anybody comes
    for line in asking.form.gap_lines() if asking is not None else ():
        log.warning("form: %s", line)
    known = {pair.id for language in assistant.languages for pair in assistant.catalog(language).pairs}
    topics = load_topics(locate(catalog), known)
    release = in_force.release if in_force is not None else None
    return Edition(release, assistant, interviewers, topics)


@dataclass
class Editions:
    """Serves every conversation from the release that it began with, and new ones from the release in force.

    What is in force is asked of the database when a conversation begins, so all processes switch at one moment. Open
    releases are kept, the least used one is let go.

    Attributes:
        settings: Of this installation.
        records: Where conversations are kept.
        releases: Where releases are kept.
        trust: Whose releases may be shown.
        now: The clock.
        encoder: For all of them.
        prepared: The newest release that this process can serve at once, as far as somebody asked for it.
        asked_at: When somebody asked for one last.
        state: How the chat stood when somebody looked last; nothing is asked for it.
    """

    settings: Settings
    records: Records
    releases: Releases
    trust: Trust
    now: Callable[[], datetime]
    encoder: str | Encoder = "embedded"
    prepared: int | None = None
    asked_at: datetime | None = None
    state: ChatState = field(default_factory=ChatState)
    _refused: int | None = None
    _open: OrderedDict[int, Edition] = field(default_factory=OrderedDict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _serving: InForce | None = None
    _stops: tuple[float, Stops] = (float("-inf"), Stops())
    _memory: StopMemory = field(default_factory=StopMemory)
    _looks: int = 0
    _remembering: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        # One for all releases: it holds a model.
        if isinstance(self.encoder, str):
            self.encoder = make_encoder(self.encoder, self.settings)

    def of(self, number: int | None) -> Edition:
        """Return what a release is served from; None: the one in force.

        Raises:
            UserFixable: There is no such release, or it is not what was signed.
        """
        wanted = number if number is not None else _in_force(self.releases)
        with self._lock:
            found = self._opened(wanted, self._read_or_in_force)
            known = self._serving.release.number if self._serving is not None else None
            if number is None and found.release is not None and found.number != known:
                before, self._serving = self._serving, InForce(found.release, self.stops, self.now)
                _tell_stopped(before, self._serving)
            return found

    def _opened(self, wanted: int, read: Callable[[int], Edition]) -> Edition:
        with self._lock:
            found = self._open.get(wanted)
            if found is None:
                found = self._open[wanted] = read(wanted)
                while len(self._open) > MOST_OPEN:
                    self._open.popitem(last=False)
            self._open.move_to_end(wanted)
            return found

    @property
    def serving(self) -> InForce | None:
        """The release that new conversations got last, without asking the database; None before the first."""
        return self._serving

    def keep_up(self) -> bool:
        """Make ready what is asked for and not ready yet: the release in force, or one that is to be; say if it was."""
        switches = self.releases.switches()
        asked, self.asked_at = (switches[-1].number, switches[-1].at) if switches else (None, None)
        if asked is None or asked in (self.prepared, self._refused):
            return False
        try:
            edition = self._opened(asked, self._read)
        except UserFixable as error:
            self._refused = asked  # said once: it stays so until another one is asked for
            log.error("release %d cannot be served: %s", asked, error)
            return False
        edition.assistant.prepare()
        self.prepared, self._refused = asked, None
        log.info("release prepared", extra={"fields": {"release": edition.assistant.release}})
        return True

    def stops(self) -> Stops:
        """Return what is stopped now; an act of somebody else is known after half a second.

        While the database does not answer, what was last known holds: nothing can be stored then, so nothing is shown.
        """
        at_s, known = self._stops
        if time.monotonic() - at_s <= STOPS_GOOD_FOR_S:
            return known
        looks = self._looks
        acts = self.releases.stops()  # without the lock: a database that hangs holds up each thread by itself only
        with self._remembering:
            if looks != self._looks:  # another thread has looked meanwhile: what it saw may be missing here
                return self._stops[1]
            seen = self._memory.see(acts)
            self._stops, self._looks = (time.monotonic(), seen.stops), looks + 1
        self._tell_acts(seen, first=looks == 0)
        return seen.stops

    def _tell_acts(self, seen: Seen, *, first: bool) -> None:
        """Log what was stopped, or opened again, since somebody looked last: who did it, and why; and what is gone."""
        for act in () if first else seen.new:
            fields = {"kind": act.kind, "pair": act.pair_id, "by": act.by, "why": act.why}
            fields |= {"exam": act.exam} if act.exam else {}
            log.warning("emergency stop", extra={"fields": fields})
        if seen.lost:
            log.error(
                "acts of the emergency stop are gone from the database: %s. This process goes by them until it ends: "
                "run `klartext records after-restore`, which puts back what the audit log knows; find out who it was",
                ", ".join(f"{act.kind} {act.about}" for act in seen.lost),
                extra={"fields": {"lost": [f"{act.kind} {act.pair_id}".strip() for act in seen.lost]}},
            )

    def look(self) -> ChatState:
        """Look how the chat stands; what has changed is logged, once."""
        serving = self._serving
        state = serving.state if serving is not None else ChatState()
        if state != self.state:
            before, self.state = self.state, state
            if replace(before, lost=state.lost) == state:  # that was said when it was lost
                return state
            fields = {"closed": state.closed, "expired": list(state.expired), "pairs": list(state.pairs)}
            if state.closed or state.expired or state.pairs:
                log.error("patients miss something: %s", _missed(state), extra={"fields": fields})
            else:
                log.info("the chat is open, and nothing of the release has expired", extra={"fields": fields})
        return state

    def _read_or_in_force(self, number: int) -> Edition:
        """Open a release; one in whose place another has come, and that cannot be served any more, by that one.

        A new version of the program may say other sentences: whoever began before it goes on with what is approved now.
        """
        try:
            return self._read(number)
        except UserFixable as error:
            in_force = self.releases.in_force()
            if in_force is None or in_force == number or self.releases.get(number) is None:
                raise
            log.warning("release %d is served by release %d: %s", number, in_force, error)
            return self.of(in_force)

    def _read(self, number: int) -> Edition:
        release = self.releases.get(number)
        if release is None:
            raise UserFixable(f"There is no release {number}. See `klartext release list`.")
        self.trust.require(release)
        in_force = InForce(release, self.stops, self.now)
        self.settings.writable_data()
        with TemporaryDirectory(dir=self.settings.data, prefix=".release-") as folder:
            place = unpack(release, self.releases.files(number), Path(folder))
            open_languages(place.languages, tuple(release.content["shown"]))
            require_servable(release, place.exam, self.settings.country)
            settings = replace(self.settings, site=place.site, languages=place.languages)
            return open_edition(
                place.exam,
                settings,
                self.records,
                questionnaire=place.questionnaire,
                in_force=in_force,
                encoder=self.encoder,
            )


def _tell_stopped(before: InForce | None, now: InForce) -> None:
    """Log what stays stopped in a release that has come into force, and which stops have ended with it."""
    for language, shown in now.shown.items():
        held, was = now.stopped(language), before.stopped(language) if before is not None else frozenset()
        fields = {"release": now.name, "language": language}
        if still := sorted(held & shown):
            log.warning("still stopped in the release in force", extra={"fields": {**fields, "pairs": still}})
        if ended := sorted((was - held) & shown):
            log.warning("emergency stop ended with a new text", extra={"fields": {**fields, "pairs": ended}})


def _missed(state: ChatState) -> str:
    if state.closed == "stopped":
        return "the chat was closed, see `klartext stop list`"
    if state.closed:
        return "the chat is closed, the approval of its own sentences has ended: sign them, and make a release"
    missed = list[str](state.expired)
    if many := len(state.pairs):
        named = ", ".join(state.pairs[:MOST_NAMED]) + (" …" if many > MOST_NAMED else "")
        missed.append(f"{many} pair{'s' if many > 1 else ''} ({named})")
    return f"the approval of {' and '.join(missed)} has ended: have it signed, and make a release"


def _in_force(releases: Releases, exam: str = "") -> int:
    """Return the number of the release in force; raise UserFixable when there is none."""
    number = releases.in_force()
    if number is None:
        others = f" (there are: {', '.join(known)})" if exam and (known := releases.of_exam("").exams()) else ""
        raise UserFixable(
            f"No release {f'of {exam!r} ' if exam else ''}is in force in this database{others}, and patients are shown "
            "releases only. Make one with `klartext release make CATALOG` and put it into force with "
            "`klartext release activate`, or try the "
            "sample with `--sample`."
        )
    return number


class ByRelease:
    """Interviewers and handovers of all conversations, each of the release that its conversation began with."""

    def __init__(self, editions: Editions) -> None:
        self.editions = editions

    @property
    def interviews(self) -> Interviews:
        return self.editions.of(None).interviewers.interviews

    def of_conversation(self, conversation: str) -> Interviewers:
        stored = self.editions.records.conversation(conversation)
        return self.editions.of(stored.release if stored is not None else None).interviewers

    def handover(self, conversation: str) -> Handover | None:
        return self.of_conversation(conversation).handover(conversation)

    def left(self, conversation: str, *, at: datetime) -> None:
        self.of_conversation(conversation).left(conversation, at=at)


def make_editions(
    settings: Settings,
    records: Records,
    now: Callable[[], datetime],
    *,
    exam: str = "",
    encoder: str | Encoder = "embedded",
) -> Editions:
    """Return what serves releases, by the keys of the settings; `exam`: of which alone, by its folder's name.

    Raises:
        UserFixable: There is no release in force, or it is not said whose releases may be shown.
    """
    from bot.adapters.release_keys import Trust  # cryptography is loaded where releases are

    releases = make_releases(settings).of_exam(exam)
    _in_force(releases, exam)  # before keys are asked for that only who has a release can have
    trust = Trust.of(settings.release_trust, settings.release_key)
    return Editions(settings, records, releases, trust, now, encoder)

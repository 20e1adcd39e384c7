"""`klartext records find`: whose conversation it was, what was shown in it, and to whom else."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.adapters.audit_log import os_user
from bot.catalog.approval import FOREIGN, FORM, SENTENCES, SITE
from bot.catalog.near_ids import nearest
from bot.catalog.site import in_zone
from bot.commands.installation import ForceOption, require_served, tell
from bot.commands.moments import local_zone, moment
from bot.errors import BadData, UserFixable, friendly_errors
from bot.outbox_ports import pseudonym
from bot.ports import AuditEvent, Finder, FoundConversation, Records, Sought, StoredReply, StoredTurn
from bot.release.release import Releases
from bot.sentences.reply import Content, Interface, Part, Reply, SiteText, read_reply
from bot.sentences.shown_texts import SHOWN_DIGITS, ShownText, shown_texts, text_hash
from bot.settings import Settings
from bot.staff.calls import Action, Calls, for_patients
from bot.wiring import make_audit, make_calls, make_finder, make_records, make_releases

Json = dict[str, object]
MINUTES = 10
MOST_NAMED = 5  # of what there is instead of what was sought
_HASH = re.compile(rf"[0-9a-f]{{{SHOWN_DIGITS},64}}")


def find(
    patient: Annotated[str | None, typer.Option("--patient", help="The hospital's pseudonym of the patient.")] = None,
    at: Annotated[
        str | None, typer.Option("--at", help='A moment, such as "2026-11-25 10:15".', metavar="TIME")
    ] = None,
    window: Annotated[int, typer.Option("--window", min=1, help="Minutes before and after it.")] = MINUTES,
    log_name: Annotated[
        str | None, typer.Option("--pseudonym", help="Of a conversation in the logs.", metavar="LOGNAME")
    ] = None,
    shown: Annotated[
        str | None,
        typer.Option("--shown", help="To whom a text was shown; without a hash: which were.", metavar="PAIR[@HASH]"),
    ] = None,
    exam: Annotated[str | None, typer.Option("--exam", help="About one exam, by its name.", metavar="NAME")] = None,
    show: Annotated[bool, typer.Option("--show", help="Print what was written and shown.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    force: ForceOption = False,
    data: Annotated[Path | None, typer.Option("--data", help="Folder of the database. Default: KLARTEXT_DATA.")] = None,
) -> None:
    """Find conversations by patient, moment, name in the logs, or by what was shown in them."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        zone = local_zone(settings)
        sought = _sought(patient, at, timedelta(minutes=window), log_name, zone)
        if shown is None and exam is None and sought == Sought():
            raise UserFixable("Say what to find: `--patient`, `--at`, `--pseudonym`, `--exam` or `--shown`.")
        text = _Text.of(shown) if shown is not None else None
        tell(require_served(settings, force=force))
        releases = _Approvers(make_releases(settings))
        search = _Search(make_finder(settings), make_records(settings), make_calls(settings), releases, sought, zone)
        if text is not None and not text.hash:
            listed = search.texts(text)
            make_audit(settings).note(AuditEvent("find", os_user(), patient=patient, counts={"texts": len(listed)}))
            if not listed:
                search.require_known(text)
            print(json.dumps([each.as_json() for each in listed], indent=1) if as_json else _texts(listed, text, zone))
            return
        found = search.conversations(text)
        about = sorted({each.stored.conversation.exam or "" for each in found} - {""})
        if exam is not None:
            found = [each for each in found if each.stored.conversation.exam == exam]
        counts = {"conversations": len(found), "shown": len(found) if show else 0}
        ids = [each.stored.conversation.id for each in found]
        make_audit(settings).note(AuditEvent("find", os_user(), ids, patient=patient, counts=counts))
        if text is not None and not found:
            search.require_known(text)
        if as_json:
            print(json.dumps([search.as_json(each, show=show) for each in found], indent=1))
            return
        for each in found:
            print(search.line(each))
            for line in search.turns(each) if show else ():
                print(f"  {line}")
        print(_counted(len(found), "conversation"))
        if exam is not None and exam not in about:
            known = f"What was sought is about {', '.join(about)}" if about else "What was sought is about no exam"
            print(f"No conversation is about an exam of the name {exam!r}. {known}.", file=sys.stderr)
        if not found and at is not None and (nearest := search.nearest()) is not None:
            when = in_zone(nearest, zone)
            print(f"The nearest turn of what was sought is of {when}: see `--window`.", file=sys.stderr)


def _sought(
    patient: str | None, at: str | None, window: timedelta, log_name: str | None, zone: tzinfo | None
) -> Sought:
    if at is None:
        return Sought(patient=patient, pseudonym=log_name)
    middle = moment(at, "--at", zone)
    return Sought(patient=patient, pseudonym=log_name, since=middle - window, until=middle + window)


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of a pair, by the beginning of its hash; empty: all texts of the pair."""

    pair_id: str
    hash: str

    @classmethod
    def of(cls, written: str) -> _Text:
        pair_id, mark, hash_ = written.strip().partition("@")
        if not pair_id or (mark and not _HASH.fullmatch(hash_.lower())):
            raise UserFixable(
                f"--shown is {written!r}. Write PAIR, or PAIR@HASH with at least {SHOWN_DIGITS} hex digits of it; "
                "`--shown PAIR` lists them."
            )
        return cls(pair_id, hash_.lower())

    def among(self, texts: Iterator[ShownText]) -> list[ShownText]:
        return [each for each in texts if each.pair_id == self.pair_id and each.hash.startswith(self.hash)]


@dataclass(slots=True)
class _Listed:
    """A text of a pair, with how often and when it was shown."""

    text: ShownText
    times: int = 0
    conversations: set[str] = field(default_factory=set)
    moments: list[datetime] = field(default_factory=list)

    def as_json(self) -> Json:
        return {
            "name": self.text.name,
            "hash": self.text.hash,
            "pair_id": self.text.pair_id,
            "field": self.text.field,
            "language": self.text.language,
            "times": self.times,
            "conversations": len(self.conversations),
            "first": min(self.moments).isoformat(),
            "last": max(self.moments).isoformat(),
            "text": self.text.text,
        }


@dataclass(frozen=True, slots=True)
class _Found:
    """A conversation, with the moments at which the text that was sought was shown in it."""

    stored: FoundConversation
    shown_at: tuple[datetime, ...] = ()


@dataclass(frozen=True, slots=True)
class _Search:
    """One search, and what is read of what it finds."""

    finder: Finder
    records: Records
    calls: Calls
    approvers: _Approvers
    sought: Sought
    zone: tzinfo | None

    def texts(self, text: _Text) -> list[_Listed]:
        """Return the texts of a pair that were shown, most often first."""
        known: dict[tuple[str, str, str], _Listed] = {}
        for reply, shown in self._showing(text):
            for each in shown:
                listed = known.setdefault((each.hash, each.field, each.language), _Listed(each))
                listed.times += 1
                listed.conversations.add(reply.conversation)
                listed.moments.append(reply.at)
        return sorted(known.values(), key=lambda each: -each.times)

    def conversations(self, text: _Text | None) -> list[_Found]:
        if text is None:
            return [_Found(each) for each in self.finder.find(self.sought)]
        moments: dict[str, list[datetime]] = {}
        for reply, _ in self._showing(text):
            moments.setdefault(reply.conversation, []).append(reply.at)
        found = self.finder.find(Sought(ids=frozenset(moments)))
        return [_Found(each, tuple(moments[each.conversation.id])) for each in found]

    def require_known(self, text: _Text) -> None:
        """Raise BadData for a pair that there never was, or a text that nobody was ever shown, whoever is sought.

        A pair that a release shows and nobody has seen yet is known: no text of it was shown.
        """
        everywhere = replace(self, sought=Sought())
        seen = everywhere.texts(_Text(text.pair_id, ""))
        if any(each.text.hash.startswith(text.hash) for each in seen) or (
            not seen and not text.hash and self._is_pair(text)
        ):
            return
        if seen:
            known = ", ".join(
                f"{each.text.name} ({each.text.field}, {each.text.language})" for each in seen[:MOST_NAMED]
            )
            more = f" and {len(seen) - MOST_NAMED} more" if len(seen) > MOST_NAMED else ""
            raise BadData(f"No text {text.pair_id}@{text.hash} was ever shown here. Of this pair were: {known}{more}.")
        if self._is_pair(text):
            raise BadData(f"No text of the pair {text.pair_id!r} was ever shown here.")
        near = nearest(text.pair_id, self._pairs())
        raise BadData(f"No pair {text.pair_id!r} was ever shown here. {near} See `klartext qa list`.")

    def _is_pair(self, text: _Text) -> bool:
        return text.pair_id in self._pairs()

    def _pairs(self) -> set[str]:
        """Return the ids of all pairs that a release has shown, or that stand in a reply."""
        found = self.approvers.pairs()
        for stored in self.finder.replies("", sought=Sought()):
            try:
                found |= {each.pair_id for each in shown_texts(read_reply(stored.reply))}
            except BadData:
                continue  # told of where it is searched
        return found

    def nearest(self) -> datetime | None:
        """Return the turn nearest to the moment, of the patient or conversation that was sought; None for none."""
        if self.sought.patient is None and self.sought.pseudonym is None:
            return None
        found = self.finder.find(Sought(patient=self.sought.patient, pseudonym=self.sought.pseudonym))
        moments = [turn.at for each in found for turn in self.records.turns(each.conversation.id)]
        since, until = self.sought.since, self.sought.until
        if since is None or until is None:
            return None
        middle = since + (until - since) / 2
        return min(moments, key=lambda at: abs(at - middle), default=None)

    def line(self, found: _Found) -> str:
        one, last = found.stored.conversation, found.stored.last_turn
        ended = self._at(last) if last is not None else "-" * 20
        begun = f"{one.id}  {self._at(one.begun)}  {ended}  {one.channel:8}  {one.language}"
        shown = found.shown_at
        if not shown:
            return f"{begun}  {_counted(found.stored.turns, 'turn')}"
        times = f"shown {_counted(len(shown), 'time')}, first {self._at(min(shown))}, last {self._at(max(shown))}"
        return f"{begun}  {_counted(found.stored.turns, 'turn')}  patient {one.patient or '(anonymous)'}  {times}"

    def turns(self, found: _Found) -> Iterator[str]:
        """Yield what the patient wrote and saw, line by line."""
        for each in self._told(found):
            at = f"{each.at.astimezone(self.zone):%Y-%m-%d %H:%M:%S %Z}"
            if isinstance(each, Action):
                yield f"{at}  staff ({each.name}): {each.text or each.what}"
                continue
            yield f"{at}  wrote: {each.exchange.said if each.exchange else each.question}"
            reply = _reply(each)
            if reply is None:
                yield "  (the reply cannot be read)"
                continue
            yield f"  of {f'release {each.release}' if each.release else 'no release'}"
            for name, part in _numbered(reply):
                yield f"  {name}: {_named(part)}{part.text}"
                if approved := self.approvers.of(each.release, part, reply.language):
                    yield f"    approved by {approved['by']} on {approved['on']}"

    def as_json(self, found: _Found, *, show: bool) -> Json:
        one, last = found.stored.conversation, found.stored.last_turn
        told: Json = {
            "id": one.id,
            "in_logs": pseudonym(one.id),
            "begun": one.begun.isoformat(),
            "last_turn": last.isoformat() if last is not None else None,
            "channel": one.channel,
            "language": one.language,
            "turns": found.stored.turns,
        }
        if one.exam is not None:
            told["exam"] = one.exam
        if found.shown_at:
            told |= {"patient": one.patient, "shown_at": [at.isoformat() for at in found.shown_at]}
        if show:
            told["told"] = [
                _action_json(each) if isinstance(each, Action) else self._turn_json(each) for each in self._told(found)
            ]
        return told

    def _told(self, found: _Found) -> Sequence[StoredTurn | Action]:
        """Return turns, and what patients see of staff, of the moments that were sought, in order."""
        id_ = found.stored.conversation.id
        staff = for_patients(self.calls.actions(id_))
        both: list[StoredTurn | Action] = [*self.records.turns(id_), *staff]
        since, until = self.sought.since, self.sought.until
        wanted = [each for each in both if (not since or each.at >= since) and (not until or each.at <= until)]
        return sorted(wanted, key=lambda each: each.at)

    def _showing(self, text: _Text) -> Iterator[tuple[StoredReply, list[ShownText]]]:
        for stored in self.finder.replies(json.dumps(text.pair_id), sought=self.sought):
            try:
                shown = text.among(shown_texts(read_reply(stored.reply)))
            except BadData:
                print(f"A stored reply of {pseudonym(stored.conversation)} cannot be read.", file=sys.stderr)
                continue
            if shown:
                yield stored, shown

    def _turn_json(self, turn: StoredTurn) -> Json:
        reply = _reply(turn)

        def shown(parts: Sequence[Part]) -> list[Json] | None:
            if reply is None:
                return None
            return [_part_json(part, self.approvers.of(turn.release, part, reply.language)) for part in parts]

        return {
            "at": turn.at.isoformat(),
            "number": turn.exchange.number if turn.exchange else None,
            "said": turn.exchange.said if turn.exchange else turn.question,
            "decision": turn.decision,
            "release": turn.release or None,
            "language": reply.language if reply is not None else None,
            "shown": shown(reply.parts if reply is not None else ()),
            "choices": shown(reply.choices if reply is not None else ()),
        }

    def _at(self, at: datetime) -> str:
        return in_zone(at, self.zone)


@dataclass(frozen=True, slots=True)
class _Approvers:
    """Who approved what a release says; each release is read once."""

    releases: Releases
    _read: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, release: str, part: Part, language: str) -> Mapping[str, str] | None:
        """Return who approved the text of a part, and on which day it was complete; None where that is not known.

        `release`: its name, as turns have it.
        """
        if not release:
            return None
        if release not in self._read:
            number = release.partition("@")[0]
            made = self.releases.get(int(number)) if number.isdecimal() else None
            self._read[release] = made.content if made is not None and made.name == release else {}
        content = self._read[release]
        if isinstance(part, Content):
            what = f"pair {part.pair_id} {language}"
        elif isinstance(part, Interface):
            spoken = part.language or language
            what = f"{SENTENCES} {spoken}" if spoken in content.get("shown", ()) else FOREIGN
        else:
            what = SITE if isinstance(part, SiteText) else FORM
        found: Mapping[str, str] | None = content.get("approved", {}).get(what)
        return found

    def pairs(self) -> set[str]:
        """Return the pairs that some release was made to show."""
        return {pair for each in self.releases.all() for pairs in each.content["shown"].values() for pair in pairs}


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _reply(turn: StoredTurn) -> Reply | None:
    try:
        return read_reply(turn.exchange.reply) if turn.exchange is not None else None
    except BadData:
        return None


def _named(part: Part) -> str:
    if not isinstance(part, Content):
        return ""
    return f"[{part.pair_id}@{text_hash(part.text)[:SHOWN_DIGITS]} {part.field}] "


def _numbered(reply: Reply) -> Iterator[tuple[str, Part]]:
    """Yield what was shown, each part with what it was."""
    yield from (("shown", part) for part in reply.parts)
    yield from ((f"choice {number}", part) for number, part in enumerate(reply.choices, 1))


def _part_json(part: Part, approved: Mapping[str, str] | None) -> Json:
    told: Json = {"kind": type(part).__name__, "text": part.text}
    if isinstance(part, Content):
        told |= {"pair_id": part.pair_id, "field": part.field, "hash": text_hash(part.text)}
    return told | {"approved": dict(approved)} if approved else told


def _action_json(action: Action) -> Mapping[str, object]:
    return {"at": action.at.isoformat(), "staff": action.name, "what": action.what, "text": action.text}


def _texts(listed: Sequence[_Listed], text: _Text, zone: tzinfo | None) -> str:
    lines = []
    for each in listed:
        first, last = (in_zone(at, zone) for at in (min(each.moments), max(each.moments)))
        lines.append(
            f"{each.text.name}  {each.text.field:12}  {each.text.language}  {_counted(each.times, 'time')} in "
            f"{_counted(len(each.conversations), 'conversation')}, first {first}, last {last}"
        )
    return "\n".join(
        [*lines, f"{_counted(len(listed), 'text')} of {text.pair_id!r} {'was' if len(listed) == 1 else 'were'} shown"]
    )

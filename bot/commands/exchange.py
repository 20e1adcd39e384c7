"""`klartext qa checkout` and `checkin`: the content of the console as files, and changed files back as drafts.

`hand_in` is for other parts of the distribution that make drafts: these go into the queue of the console.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from bot.catalog.catalog import Pair, Review, locate, pair_hash
from bot.editorial.candidate import Candidate
from bot.editorial.exchange import Change, changes_in, check_out, other_files, read_record
from bot.editorial.pair_fields import MOST_ID, MOST_OTHER, NAMES, fields_of, seen_texts, too_long, unknown_names
from bot.editorial.people import Person
from bot.editorial.workbench import Backing, Draft, Provenance, Stale
from bot.errors import BadData, UserFixable, friendly_errors
from bot.release.release import own_releases
from bot.settings import Settings
from bot.text import without_unseen
from bot.web.staff.wiring import make_people, make_workbench
from bot.wiring import make_releases

_MARKUP = re.compile(r"</?[a-z!][^<>]*>|\]\(|\b(?:https?|mailto|tel|javascript|data):\S|\bwww\.\S", re.IGNORECASE)
# What a pair has several of, and the texts that tell them apart.
_PARTS: Mapping[str, Callable[[Pair], Sequence[str]]] = {
    "variants": lambda pair: [each.text for each in pair.variants],
    "extracts": lambda pair: [each.text for each in pair.extracts],
    "quizzes": lambda pair: [each.hash for each in pair.quizzes],
    "sources": lambda pair: [each.title for each in pair.sources],
    **{name: attrgetter(name) for name in NAMES},
}

DataOption = Annotated[Path | None, typer.Option("--data", help="Folder of the database. Default: KLARTEXT_DATA.")]


def checkout(
    catalog: Annotated[str, typer.Argument(help="A shipped exam, or a catalog folder.", metavar="EXAM")],
    folder: Annotated[Path, typer.Argument(help="A new folder.", metavar="DIR")],
    data: DataOption = None,
) -> None:
    """Write what the console holds as files: the newest release, or the exam's folder, with all drafts in it."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        candidate = _candidate(catalog, settings)
        drafts = check_out(candidate, folder, catalog=catalog, now=_now())
        print(f"{folder}: {candidate.exam} from {candidate.source} with {drafts} drafts.")
        print(f"Change its language files or site.yaml, then `klartext qa checkin {folder} --by LOGIN`.")


def checkin(
    folder: Annotated[Path, typer.Argument(help="Folder of a checkout.", metavar="DIR")],
    by: Annotated[str, typer.Option("--by", help="Login of who changed the files.", metavar="LOGIN")],
    write: Annotated[bool, typer.Option("--write", help="Store the drafts. Default: say what would change.")] = False,
    data: DataOption = None,
) -> None:
    """Read changed files of a checkout back as drafts of the console; nobody's work is overwritten."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        record = read_record(folder)
        person = _editor(settings, by)
        candidate = _candidate(str(record["catalog"]), settings)
        changes = changes_in(candidate, folder, today=_now())
        for each in changes:
            print(f"{each.what}: {each.kind}{', CONFLICT: changed in the console meanwhile' if each.conflict else ''}")
        for path in other_files(folder, candidate.exam, candidate.base.catalogs):
            print(f"{path}: changed, and not read back: only pairs and site.yaml are.")
        if conflicts := [each.what for each in changes if each.conflict]:
            raise UserFixable(
                f"Nothing is stored: {len(conflicts)} of {len(changes)} texts were changed in the console since "
                f"the checkout ({', '.join(conflicts[:3])}). Check out anew, and carry your changes over."
            )
        if not changes:
            print("Nothing has changed.")
        elif write:
            print(f"{_stored(settings, changes, person)} drafts stored, by {person.name}.")
        else:
            print(f"{len(changes)} drafts would be stored. Add --write to store them.")


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A pair that somebody or something drafted outside the console.

    Attributes:
        language: Of the pair.
        pair: What it shall say.
        written_by: Who wrote it, for example the name of a model; shown to whoever edits and signs.
        backings: What each sentence was written from: ``field``, ``sentence``, and ``quotations`` with ``document``,
            ``title``, ``place`` and ``text``; as JSON values.
        base: Hash of the pair that it was begun with, by `pair_hash`; None: of the one that is released now.
    """

    language: str
    pair: Pair
    written_by: str
    backings: Sequence[Mapping[str, Any]] = ()
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of pairs that were handed in.

    Attributes:
        by: Name of who handed them in.
        cleaned: By pair, the fields out of which characters were taken that no screen shows.
        marked: By pair, the fields that hold markup or a link; they stay as they are, and are shown as they are.
        outdated: The pairs that were begun with something else than what is released now.
        baseless: Released pairs of which nobody says what they were begun with.
    """

    by: str
    cleaned: Mapping[str, Sequence[str]]
    marked: Mapping[str, Sequence[str]]
    outdated: Sequence[str] = ()
    baseless: Sequence[str] = ()


def hand_in(catalog: str, pairs: Sequence[HandedIn], *, by: str, settings: Settings) -> Receipt:
    """Put pairs into the queue of the console as drafts, all or none.

    What they say of their approval does not count, and what no screen shows is taken out, as of what is pasted there.
    Nobody's work is overwritten: where there is a draft already, or the pair is not one that this console can hold,
    nothing is stored.

    Raises:
        BadData: `by` is no curator, a pair cannot be a draft, or its provenance cannot be read.
        UserFixable: There is a draft of one of them already.
    """
    person = _editor(settings, by)
    candidate = _candidate(catalog, settings)
    counts = Counter((each.language, each.pair.id) for each in pairs)
    if twice := [id_ for (_, id_), count in counts.items() if count > 1]:
        raise BadData(f"Nothing is stored: the file names the pair {twice[0]!r} twice. Leave one of them out.")
    seen = [_seen(each) for each in pairs]
    drafts = [_handed_in(each, candidate, person) for each, _ in seen]
    try:
        make_workbench(settings).add_all(drafts, by=person, now=_now())
    except Stale:
        raise UserFixable(
            "Nothing is stored: there is a draft of one of these pairs already. Finish it in the console, or give "
            "it up."
        ) from None
    return Receipt(
        person.name,
        {each.pair.id: names for each, names in seen if names},
        {each.pair.id: names for each, _ in seen if (names := _marked(each.pair))},
        [draft.name for draft in drafts if candidate.is_outdated(draft)],
        [
            each.pair.id
            for each, _ in seen
            if each.base is None and candidate.released_pair(each.language, each.pair.id)
        ],
    )


def losses(catalog: str, pairs: Sequence[HandedIn], *, settings: Settings) -> list[str]:
    """Return what released pairs have and these lack, a line for each pair that would lose something with them."""
    candidate = _candidate(catalog, settings)
    lines = []
    for each in pairs:
        before = candidate.released_pair(each.language, each.pair.id)
        if before is None:
            continue
        told = ", ".join(_lost(before, each.pair))
        if told:
            lines.append(
                f"with this draft, pair {each.pair.id} {each.language} loses {told}. Give it up in the console and "
                "mend the file, if that is not meant."
            )
    return lines


def _lost(before: Pair, after: Pair) -> Iterator[str]:
    """Yield what of a pair is not in another: how many of what it has several of, then the fields that are empty."""
    for name, texts in _PARTS.items():
        had, has = texts(before), set(texts(after))
        if gone := sum(text not in has for text in had):
            yield f"{gone} of {len(had)} {name}"
    left = {name for name, _ in seen_texts(after)}
    for name, _ in seen_texts(before):
        if name not in left and not name.startswith(tuple(f"{part}." for part in _PARTS)):
            yield name
    if before.words_target is not None and after.words_target is None:
        yield "words_target"


def _seen(each: HandedIn) -> tuple[HandedIn, list[str]]:
    """Return a pair as a screen shows it, and the names of what had more in it."""
    read = each.pair.model_dump(mode="json")
    clean = _without_unseen(read)
    backings, written_by = _without_unseen(list(each.backings)), without_unseen(each.written_by)
    names = [name for name, value in read.items() if value != clean[name]]
    names += ["provenance"] if backings != list(each.backings) else []
    names += ["drafted_by"] if written_by != each.written_by else []
    try:
        return replace(each, pair=Pair.model_validate(clean), written_by=written_by, backings=backings), names
    except ValidationError as error:
        empty = ".".join(map(str, error.errors()[0]["loc"]))
        raise BadData(
            f"The pair {each.pair.id!r} has nothing in {empty} that a screen shows. Write it, or leave it out."
        ) from None


def _without_unseen(value: Any) -> Any:
    """Return a JSON value in whose texts nothing is left that no screen shows."""
    if isinstance(value, str):
        return without_unseen(value)
    if isinstance(value, Mapping):
        return {key: _without_unseen(each) for key, each in value.items()}
    return [_without_unseen(each) for each in value] if isinstance(value, list | tuple) else value


def _marked(pair: Pair) -> list[str]:
    """Return the fields of what patients read that hold markup or a link."""
    return list(dict.fromkeys(name for name, text in seen_texts(pair) if _MARKUP.search(text)))


def _handed_in(each: HandedIn, candidate: Candidate, person: Person) -> Draft:
    if each.language not in candidate.base.catalogs:
        have = ", ".join(candidate.base.catalogs)
        raise BadData(f"{candidate.exam} has no language {each.language!r} (it has {have}). Choose one with `--lang`.")
    if len(each.pair.id) > MOST_ID:
        raise BadData(
            f"The pair {each.pair.id[:MOST_ID]!r}… has an id of {len(each.pair.id):,} characters, and {MOST_ID} are "
            "the most. Shorten it."
        )
    if strange := unknown_names(each.pair, lambda other: candidate.pair(each.language, other) is not None):
        raise BadData(
            f"The pair {each.pair.id!r} names pairs that are not there in {', '.join(strange)}. Mend the draft's file."
        )
    try:
        backings = TypeAdapter(tuple[Backing, ...]).validate_python(list(each.backings))
    except ValidationError as error:
        raise BadData(
            f"What the sentences of {each.pair.id!r} were written from cannot be read ({error.error_count()} faults). "
            "Draft it anew."
        ) from None
    told = [
        text
        for backing in backings
        for text in (backing.sentence, *(part for each in backing.quotations for part in (each.text, each.title)))
    ]
    long = [*too_long(fields_of(each.pair)), *(["provenance"] if max(map(len, told), default=0) > MOST_OTHER else [])]
    long += ["drafted_by"] if len(each.written_by) > MOST_OTHER else []
    if long:
        raise BadData(
            f"The pair {each.pair.id!r} is too long in {', '.join(long[:3])}: {MOST_OTHER:,} characters are the most "
            "of a text. Shorten it."
        )
    known = candidate.drafts.get((each.language, each.pair.id))
    if known is not None:
        raise UserFixable(
            f"Nothing is stored: there is a draft of pair {each.pair.id!r} ({each.language}) by {known.changed_by}. "
            "Finish it in the console, or give it up."
        )
    released = candidate.released_pair(each.language, each.pair.id)
    pair = each.pair.model_copy(update={"review": Review()})
    base = "" if released is None else each.base if each.base is not None else pair_hash(released)
    provenance = Provenance(each.written_by, backings, person.name) if each.written_by or backings else None
    return Draft(candidate.exam, each.language, pair.id, pair.model_dump(mode="json"), base, provenance=provenance)


def _candidate(catalog: str, settings: Settings) -> Candidate:
    from bot.web.staff.opening import Bases  # the pages of the console load more than other commands need

    folder = locate(catalog)
    releases = own_releases(make_releases(settings), folder.resolve().name)
    bases = Bases(releases, folder, settings.site, None, settings)
    return Candidate.of(*bases.newest(), make_workbench(settings))


def _editor(settings: Settings, login: str) -> Person:
    person = make_people(settings, _now).by_login(login)
    if person is None or person.closed or not person.may("edit"):
        raise BadData(f"`--by` is {login!r}, which is no open account of a curator. Look: `klartext staff list`.")
    return person


def _stored(settings: Settings, changes: list[Change], person: Person) -> int:
    workbench = make_workbench(settings)
    for number, each in enumerate(changes):
        try:
            workbench.save(each.draft, by=person, now=_now())
        except Stale:
            raise UserFixable(
                f"{each.what} was changed in the console at this moment; {number} of {len(changes)} drafts are stored. "
                "Check in again to see what is left."
            ) from None
    return len(changes)


def _now() -> datetime:
    return datetime.now().astimezone()

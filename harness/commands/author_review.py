"""`klartext author review`: a curator accepts, moves or drops what a model wrote; accepted texts enter the catalog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import Annotated, Any

import typer
from rich.console import Console

from bot import BadData, Catalog, Settings, UserFixable, fold, friendly_errors, load_catalog, locate
from bot.catalog.additions import (
    Addition,
    add_calibration,
    add_near_misses,
    add_variants,
    places_of_lines,
    places_of_variants,
)
from bot.commands.heard import Ear
from harness.authoring.variants.queue import Decided, Decision, Queue
from harness.authoring.variants.screen import decide_one_by_one, review_words
from harness.authoring.variants.sifting import Copies
from harness.authoring.workshop import NOTE
from harness.commands import options
from harness.console import plain_console, plain_table, print_json, printable
from harness.files import load_yaml, unreadable

INTERRUPTED = 130  # exit code of what Ctrl-C stopped
FILES: Mapping[str, Callable[[Path, str, Sequence[Addition]], int]] = {
    "variants": add_variants,
    "calibration": add_calibration,
    "near-misses": add_near_misses,
    "unanswered": add_calibration,
}


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What is decided on, and where what is accepted is written."""

    out: Annotated[Path, typer.Option("--out", help="Folder of the work.", metavar="FOLDER")]
    catalog: Annotated[
        Path, typer.Option("--catalog", help="Catalog folder; accepted texts are written into it.", metavar="FOLDER")
    ]
    accept_agreed: Annotated[
        bool, typer.Option("--accept-agreed", help="Accept at once all that the blind check agrees with.")
    ] = False
    unread: Annotated[
        bool, typer.Option("--unread", help="With that: also where only rules have listened for emergencies.")
    ] = False
    sample: Annotated[
        int | None,
        typer.Option("--sample", min=1, help="Decide on so many of those first: how good is its word?", metavar="N"),
    ] = None
    sheet: Annotated[
        Path | None, typer.Option("--sheet", help="Write what waits as a table (.csv).", metavar="FILE")
    ] = None
    decided: Annotated[
        Path | None, typer.Option("--decided", help="Take the decisions of such a table.", metavar="FILE")
    ] = None


@dataclass(frozen=True, slots=True)
class Unwritten:
    """What was accepted and is not written: near copies of a text of another kind, and what was taken out by hand."""

    copies: Sequence[tuple[Addition, str]]
    gone: Sequence[Decided]


def review(reviewed: Reviewed, json_: options.Json = False) -> None:
    """Decide on drafted texts one by one, by a table, or all that the check agrees with; accepted ones are written."""
    with friendly_errors():
        folder = own_folder(reviewed.catalog)
        kind, language = _work_of(reviewed.out, folder)
        catalog, words = load_catalog(folder, language), review_words(language)
        queue, console = Queue.of(reviewed.out), plain_console(soft_wrap=True)
        ear = Ear.of(folder, language, Settings.from_environment())
        queue = replace(queue.listening(ear.emergencies, ear.name), trained=ear.lookout is not None)
        # What cannot be done is said before anything is written.
        if reviewed.accept_agreed and queue.agreed and not (queue.trained or reviewed.unread):
            raise UserFixable(
                f"Only the rules have listened for emergencies in {len(queue.agreed)} texts, as the alarm of {folder} "
                "is not trained: what no rule knows they do not hear. Nothing is accepted together. Read them (this "
                "command without `--accept-agreed`), train first (`klartext train`), or say `--unread`."
            )
        given = queue.read_sheet(reviewed.decided, catalog.by_id) if reviewed.decided is not None else []
        # Also what was decided when the command was stopped, or for another folder of this catalog.
        queue = queue.note_written(str(folder.resolve()), _standing_there(queue, kind, catalog))
        earlier = FILES[kind](folder, language, _new(queue, kind, catalog)[0])
        if earlier and not json_:
            console.print(words.say("before", folder=folder, texts=earlier))
        queue = queue.note_written(str(folder.resolve()), _standing_there(queue, kind, load_catalog(folder, language)))
        try:
            if (accepting := sum(each.act != "drop" for each in given)) and not queue.trained and not json_:
                console.print(words.say("untrained", texts=accepting))
            queue = _decided(reviewed, queue.decide(given), catalog, console, json_=json_)
        except KeyboardInterrupt:
            console.print(f"\n{words.stopped}")
            raise typer.Exit(INTERRUPTED) from None
        new, copies = _new(queue, kind, load_catalog(folder, language))
        added = FILES[kind](folder, language, new)
        after = load_catalog(folder, language)
        queue = queue.note_written(str(folder.resolve()), _standing_there(queue, kind, after))
        gone = [each for each in queue.accepted if _is_gone(each, queue, kind, after)]
        for out in gone if not json_ else ():
            console.print(words.say("gone", pair=out.pair, text=printable(out.text.text)))
        for each, place in copies if not json_ else ():
            where = words.places[place]
            console.print(words.say("copied", pair=each.pair or "-", text=printable(each.text), where=where))
        _show(queue, earlier + added, after, Unwritten(copies, gone), json_=json_)
        if not json_:
            for pair, where in _left_behind(queue, kind, folder, language):
                console.print(words.say("stays", pair=pair, where=where))


def _decided(reviewed: Reviewed, queue: Queue, catalog: Catalog, console: Console, *, json_: bool) -> Queue:
    """Return the queue with what the curator decides now; each decision is kept at once."""
    words = review_words(catalog.language)
    read_all = True
    if reviewed.sample is not None:
        texts = queue.sample(reviewed.sample)
        queue = decide_one_by_one(queue, texts, catalog, console)
        acts = [queue.decisions[text.id].act for text in texts if text.id in queue.decisions]
        read_all = len(acts) == len(texts)
        console.print(words.say("sampled", read=len(acts), accepted=acts.count("accept")))
    if reviewed.accept_agreed and read_all:
        agreed = queue.agreed
        if agreed and not queue.trained and not json_:
            console.print(words.say("untrained", texts=len(agreed)))
        queue = queue.decide([Decision(id=text.id, act="accept") for text in agreed])
        if not json_:
            console.print(words.say("together", texts=len(agreed)))
    elif reviewed.accept_agreed and not json_:
        console.print(words.unsampled)
    if reviewed.sheet is not None:
        rows = queue.write_sheet(reviewed.sheet)
        if rows and not queue.trained and not json_:
            console.print(words.say("untrained", texts=rows))
        if not json_:
            console.print(words.say("sheet", file=reviewed.sheet, texts=rows))
    if not (reviewed.decided or reviewed.sample or reviewed.accept_agreed or reviewed.sheet or json_):
        queue = decide_one_by_one(queue, queue.waiting, catalog, console)
    return queue


def own_folder(catalog: Path) -> Path:
    """Return a catalog folder that may be written into; raise BadData where only a shipped exam has that name."""
    if not catalog.is_dir():
        raise BadData(
            f"There is no folder {str(catalog)!r}. Shipped exams are not written into: copy one, and give that."
        )
    return locate(catalog)


def _work_of(out: Path, folder: Path) -> tuple[str, str]:
    """Return the kind of a work and its language; raise BadData where it is no such work, or of another catalog."""
    try:
        note = load_yaml(out / NOTE)
    except (OSError, ValueError) as error:
        raise BadData(f"{out} holds no work ({unreadable(error)}). Give the `--out` of `author variants`.") from error
    kind, language = (note.get(name) if isinstance(note, dict) else None for name in ("work", "language"))
    if kind not in FILES:
        raise BadData(f"{out} holds {kind or 'no'} work, and nothing to review. Give the `--out` of `author variants`.")
    name = load_catalog(folder, str(language)).name
    if note.get("catalog") != name:
        raise BadData(f"{out} holds texts for {note.get('catalog')!r}, {folder} is {name!r}. Give its own `--catalog`.")
    return str(kind), str(language)


def _standing_there(queue: Queue, kind: str, catalog: Catalog) -> list[Decided]:
    """Return what was accepted and stands in the catalog's files; variants under their pair."""
    if kind == "variants":
        there = {
            (pair.id, fold(text))
            for pair in catalog.pairs
            for text in (pair.question, *(each.text for each in pair.variants))
        }
        return [each for each in queue.accepted if (each.pair, fold(each.text.text)) in there]
    texts = catalog.near_misses if kind == "near-misses" else catalog.calibration
    known = {fold(each.text) for each in texts}
    return [each for each in queue.accepted if fold(each.text.text) in known]


def _is_gone(each: Decided, queue: Queue, kind: str, catalog: Catalog) -> bool:
    """Say whether somebody took an accepted text out of the catalog's files by hand: it is not written again."""
    noted = (str(catalog.path.parent.resolve()), each.text.id, each.pair) in queue.written
    return noted and each not in _standing_there(queue, kind, catalog)


def _additions(queue: Queue, kind: str, catalog: Catalog) -> list[Addition]:
    """Return what was accepted and not taken out by hand.

    What no pair answers is a question without one, unless it was moved to a pair.
    """
    found = []
    for each in queue.accepted:
        if _is_gone(each, queue, kind, catalog):
            continue
        text = each.text
        pair = "" if kind == "unanswered" and not each.moved else each.pair
        also = tuple(id_ for id_ in text.answered_by if id_ != pair) if pair else ()
        addition = Addition(pair, text.text, text.voice, text.facet, text.stratum, text.patient, also)
        found.append(replace(addition, kind=text.kind, source=text.source))
    return found


def _new(queue: Queue, kind: str, catalog: Catalog) -> tuple[list[Addition], list[tuple[Addition, str]]]:
    """Return what was accepted and is to be written; and what copies a text of another kind, with that kind.

    Works of several kinds that are made side by side know nothing of each other: who learns from a text shall not be
    measured, or set thresholds, by it. What is written stays where it is.
    """
    accepted = _additions(queue, kind, catalog)
    own = "calibration" if kind == "unanswered" else kind
    places = {
        "variants": [
            text for pair in catalog.pairs for text in (pair.question, *(each.text for each in pair.variants))
        ],
        "calibration": [each.text for each in catalog.calibration],
        "near-misses": [each.text for each in catalog.near_misses],
    }
    written = {fold(text) for text in places.pop(own)}
    if all(fold(each.text) in written for each in accepted):
        return accepted, []
    known = Copies[str]()
    for place, texts in places.items():
        for text in texts:
            known.add(text, place)
    found = [(each, known.find(each.text)) for each in accepted if fold(each.text) not in written]
    copies = [(each, place) for each, place in found if place is not None]
    refused = [each for each, _ in copies]
    return [each for each in accepted if each not in refused], copies


def _left_behind(queue: Queue, kind: str, folder: Path, language: str) -> list[tuple[str, str]]:
    """Return the pair, file and line of texts that were written, and dropped, moved away or taken back afterwards."""
    if kind != "variants":
        there = places_of_lines(folder, language, near_misses=kind == "near-misses")
        standing = {each.text.id for each in queue.accepted}
        return [
            (text.pair, there[fold(text.text)])
            for text in queue.texts
            if text.id not in standing and fold(text.text) in there
        ]
    elsewhere = {
        (fold(text.text), text.voice): decision.pair if decision is not None else ""
        for text in queue.texts
        if (decision := queue.decisions.get(text.id)) is None or decision.act in ("drop", "move")
    }
    return [
        (pair, where)
        for pair, text, voice, where in places_of_variants(folder, language)
        if elsewhere.get((fold(text), voice), pair) != pair
    ]


def _show(queue: Queue, added: int, catalog: Catalog, unwritten: Unwritten, *, json_: bool) -> None:
    words = review_words(catalog.language)
    status = _status(catalog)
    counts = queue.counts()
    unanswered = sum(each.pair_id is None for each in catalog.calibration)
    alarming = [text for text in queue.waiting if text.id in queue.alarming]
    if json_:
        heard = {"alarming": {text.id: queue.alarming[text.id] for text in alarming}}
        refused = [{"pair": each.pair, "text": each.text, "copy_of": place} for each, place in unwritten.copies]
        found = {"decided": counts, "added": added, "pairs": status, "unanswered": unanswered}
        taken_out = [{"pair": each.pair, "text": each.text.text} for each in unwritten.gone]
        print_json({**found, **heard, "copies": refused, "taken_out": taken_out})
        return
    console = plain_console(soft_wrap=True)
    table = plain_table(f"{catalog.ref} ({catalog.language})", *words.columns)
    for id_, row in status.items():
        table.add_row(id_, *(str(row[name]) for name in ("variants", "voices", "calibration", "near_misses")))
    console.print(table)
    if unanswered:
        console.print(words.say("unanswered", texts=unanswered))
    said = ", ".join(Template(words.acts[name]).substitute(n=counts[name]) for name in words.acts if counts[name])
    console.print(words.say("decisions", said=said or words.none, folder=catalog.path.parent, added=added))
    if alarming:
        console.print(words.say("alarming", texts=len(alarming)))
    again = f"klartext author review --out {queue.folder} --catalog {catalog.path.parent}"
    draft = f"klartext author variants --catalog {catalog.path.parent} --lang {catalog.language}"
    if counts["waiting"]:
        following = again
    elif not catalog.calibration:
        following = f"{draft} --kind calibration --out WORK"
    elif not catalog.near_misses:
        following = f"{draft} --kind near-misses --out WORK"
    elif not unanswered:
        following = f"{draft} --kind unanswered --per-pair 5 --out WORK"
    else:
        following = f"klartext qa lint {catalog.path.parent}"
    console.print(words.say("next", command=following))


def _status(catalog: Catalog) -> dict[str, dict[str, Any]]:
    calibration = Counter(each.pair_id for each in catalog.calibration)
    near = Counter(each.pair for each in catalog.near_misses)
    return {
        pair.id: {
            "variants": len(pair.variants),
            "voices": len({each.by.profile for each in pair.variants if each.by is not None and each.by.profile}),
            "calibration": calibration[pair.id],
            "near_misses": near[pair.id],
        }
        for pair in catalog.pairs
    }

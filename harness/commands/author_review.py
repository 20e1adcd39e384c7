"""`klartext author review`: a curator accepts, moves or drops what a model wrote; accepted texts enter the catalog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot import BadData, Catalog, friendly_errors, load_catalog, locate
from bot.catalog.additions import Addition, add_calibration, add_near_misses, add_variants
from harness.commands import options
from harness.console import counted, plain_console, plain_table, print_json
from harness.files import load_yaml, unreadable

if TYPE_CHECKING:
    from harness.authoring.variants.queue import Queue

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


def review(reviewed: Reviewed, json_: options.Json = False) -> None:
    """Decide on drafted texts one by one, by a table, or all that the check agrees with; accepted ones are written."""
    from harness.authoring.variants.queue import Queue
    from harness.authoring.variants.screen import decide_one_by_one

    with friendly_errors():
        folder = own_folder(reviewed.catalog)
        kind, language = _work_of(reviewed.out, folder)
        catalog = load_catalog(folder, language)
        queue = Queue.of(reviewed.out)
        if reviewed.decided is not None:
            queue = queue.decide(queue.read_sheet(reviewed.decided, catalog.by_id))
        console = plain_console(soft_wrap=True)
        if reviewed.sample is not None:
            texts = queue.sample(reviewed.sample)
            queue = decide_one_by_one(queue, texts, catalog, console)
            acts = [queue.decisions[text.id].act for text in texts if text.id in queue.decisions]
            console.print(f"Of {len(acts)} that the check agrees with you accepted {acts.count('accept')}.")
        if reviewed.accept_agreed:
            queue = queue.decide(queue.agreed())
        if reviewed.sheet is not None:
            rows = queue.write_sheet(reviewed.sheet)
            if not json_:
                print(f"{counted(rows, 'text')} in {reviewed.sheet}: write accept, move or drop under `decision`.")
        if not (reviewed.decided or reviewed.sample or reviewed.accept_agreed or reviewed.sheet or json_):
            queue = decide_one_by_one(queue, queue.waiting, catalog, console)
        added = FILES[kind](folder, language, _additions(queue, kind))
        _show(queue, kind, added, load_catalog(folder, language), json_=json_)


def own_folder(catalog: Path) -> Path:
    """Return a catalog folder that may be written into; raise BadData where only a shipped exam has that name."""
    if not catalog.is_dir():
        raise BadData(
            f"There is no folder {str(catalog)!r}. Shipped exams are not written into: copy one, and give that."
        )
    return locate(catalog)


def _work_of(out: Path, folder: Path) -> tuple[str, str]:
    """Return the kind of a work and its language; raise BadData where it is no such work, or of another catalog."""
    from harness.authoring.workshop import NOTE

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


def _additions(queue: Queue, kind: str) -> list[Addition]:
    """Return what was accepted; what no pair answers is a question without one, unless it was moved to a pair."""
    found = []
    for each in queue.accepted:
        text = each.text
        pair = "" if kind == "unanswered" and not each.moved else each.pair
        also = tuple(id_ for id_ in text.answered_by if id_ != pair) if pair else ()
        found.append(Addition(pair, text.text, text.voice, text.facet, text.stratum, also))
    return found


def _show(queue: Queue, kind: str, added: int, catalog: Catalog, *, json_: bool) -> None:
    status = _status(catalog)
    counts = queue.counts()
    unanswered = sum(each.pair_id is None for each in catalog.calibration)
    if json_:
        print_json({"decided": counts, "added": added, "pairs": status, "unanswered": unanswered})
        return
    console = plain_console(soft_wrap=True)
    table = plain_table(
        f"{catalog.ref} ({catalog.language})", "pair", "variants", "voices", "calibration", "near misses"
    )
    for id_, row in status.items():
        table.add_row(id_, *(str(row[name]) for name in ("variants", "voices", "calibration", "near_misses")))
    console.print(table)
    if unanswered:
        console.print(f"Calibration questions that no pair answers: {unanswered}.")
    said = ", ".join(f"{counts[name]} {name}" for name in ("accept", "move", "drop", "waiting") if counts[name])
    console.print(f"Decisions: {said or 'none'}. New in {catalog.path.parent}: {added}.")
    again = f"klartext author review --out {queue.folder} --catalog {catalog.path.parent}"
    draft = f"klartext author variants --catalog {catalog.path.parent} --lang {catalog.language}"
    if counts["waiting"]:
        console.print(f"Next: {again}")
    elif not catalog.calibration:
        console.print(f"Next: {draft} --kind calibration --out WORK")
    elif not catalog.near_misses:
        console.print(f"Next: {draft} --kind near-misses --out WORK")
    elif not unanswered:
        console.print(f"Next: {draft} --kind unanswered --per-pair 5 --out WORK")
    else:
        console.print(f"Next: klartext qa lint {catalog.path.parent}")


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

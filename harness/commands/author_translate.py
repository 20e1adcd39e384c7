"""`klartext author translate`: a catalog's pairs in another language, as drafts with the same numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot import BadData, Catalog, Pair, friendly_errors, load_catalog
from bot.catalog.additions import add_pairs
from bot.catalog.exam import load_exam
from harness.commands import options
from harness.commands.author_review import own_folder
from harness.commands.authoring import INCOMPLETE, WorkPath, carry_on
from harness.console import counted, plain_console
from harness.files import writing

if TYPE_CHECKING:
    from harness.authoring.translation import Translated

PAGE = "differences.md"


@dataclass(frozen=True, slots=True)
class Translation:
    """What is translated, and to what."""

    catalog: Annotated[
        Path, typer.Option("--catalog", help="Catalog folder; drafts are written into it.", metavar="FOLDER")
    ]
    to: Annotated[str, typer.Option("--to", help="Language of the drafts.", metavar="LANG")]
    from_: Annotated[str, typer.Option("--from", help="Language that is translated.", metavar="LANG")] = "de"
    pairs: Annotated[
        str | None,
        typer.Option("--pairs", help="Ids of pairs, with commas, or a file. Default: all.", metavar="IDS|LIST"),
    ] = None
    accept: Annotated[
        str | None,
        typer.Option("--accept", help="Pairs that are taken although they say something else.", metavar="IDS|LIST"),
    ] = None


def translate(wanted: Translation, out: WorkPath, asking: options.ModelOptions) -> None:
    """Translate pairs with a model: question, short, whole and easy answer; always drafts, with the same numbers."""
    from harness.authoring.translation import Translated, Translating, load_texts
    from harness.authoring.workshop import Workshop

    with friendly_errors():
        folder = own_folder(wanted.catalog)
        if not (folder / f"{wanted.from_}.yaml").is_file():
            known = ", ".join(sorted(path.stem for path in folder.glob("??.yaml"))) or "none"
            raise BadData(f"{folder} has no language {wanted.from_!r} (it has {known}). Choose one with `--from`.")
        catalog, texts = load_catalog(folder, wanted.from_), load_texts()
        if wanted.to == wanted.from_:
            raise BadData(f"`--from {wanted.from_} --to {wanted.to}` is the same language. Give another `--to`.")
        texts.of(wanted.from_), texts.of(wanted.to)
        pairs = [catalog.pair(id_) for id_ in options.read_list(wanted.pairs)] if wanted.pairs else list(catalog.pairs)
        accepted = {catalog.pair(id_).id for id_ in options.read_list(wanted.accept)} if wanted.accept else set()
        translating = Translating(texts, catalog, wanted.to, _in_english(catalog, texts.of(wanted.from_).name))
        said = [(pair.id, pair.question, pair.short_answer, pair.answer, pair.easy_answer) for pair in pairs]
        identity = {
            "work": "translation",
            "catalog": catalog.name,
            "from": wanted.from_,
            "to": wanted.to,
            "pairs": ", ".join(pair.id for pair in pairs),
            "exam": translating.about,
            "texts": hashlib.sha256(repr(said).encode()).hexdigest()[:16],
            "prompts": texts.hash,
        }
        done = carry_on(Workshop.open(out, identity, lambda: translating.all(pairs)), asking).result or {}
        console, ready, waiting = plain_console(soft_wrap=True), list[Pair](), list[Translated]()
        for id_, translated in done.items():
            if translated is None:
                console.print(f"{id_}: no translation could be read.")
            elif translated.differences and id_ not in accepted:
                waiting.append(translated)
                console.print(f"{id_}: waits, it says something else: {' / '.join(translated.differences)}")
            else:
                ready.append(translated.pair)
        _write_page(out / PAGE, waiting)
        added = add_pairs(folder, wanted.to, ready, name=catalog.name) if ready else 0
        file = folder / f"{wanted.to}.yaml"
        console.print(f"{counted(added, 'draft')} new in {file}; pairs that were there stay as they are.")
        if waiting:
            console.print(f"{counted(len(waiting), 'pair')} to read in {out / PAGE}; take them with `--accept IDS`.")
        console.print(f"Next: klartext qa lint {folder}")
        if not ready:
            raise typer.Exit(INCOMPLETE)


def _in_english(catalog: Catalog, language: str) -> str:
    """Return how an English prompt speaks of a catalog's exam."""
    exam = load_exam(catalog.path.parent)
    phrases = exam.phrases if exam is not None else {}
    if said := phrases.get("en", {}).get("about"):
        return said
    own = phrases.get(catalog.language, {}).get("about")
    return f'of patients; in {language} one speaks of questions "{own}"' if own else f'of patients ("{catalog.name}")'


def _write_page(path: Path, waiting: Sequence[Translated]) -> None:
    """Write what waits, with the differences, for people to read."""
    lines = ["# Translations that say something else", ""]
    for each in waiting:
        pair = each.pair
        lines += [f"## {pair.id}", "", *(f"- {line}" for line in each.differences), "", f"**{pair.question}**", ""]
        lines += [line for text in (pair.short_answer, pair.answer, pair.easy_answer) if text for line in (text, "")]
    with writing(path, "Choose another `--out`."):
        path.write_text("\n".join(lines), encoding="utf-8")

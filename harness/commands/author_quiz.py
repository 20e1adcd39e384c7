"""`klartext author quiz`: multiple-choice questions from answers or medical cases, criticised and corrected."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import Field

from bot import BadData, Catalog, Settings, friendly_errors, load_catalog, locate, make_encoder, plain_text
from harness.commands import options
from harness.commands.authoring import OURS, PERHAPS_PATIENTS, WorkPath, carry_on
from harness.console import counted, plain_console, plain_table, print_json
from harness.files import Record, read_record, unreadable

if TYPE_CHECKING:
    from harness.authoring.quiz.asking import Case
    from harness.authoring.quiz.report import Made
    from harness.authoring.quiz.tables import RoundTables

LONGEST_CASE = 20_000  # characters; the longest cases of the paper have some 5,000


class CaseEntry(Record):
    """An entry of `--cases`: a pair or a text file, with or without topic and key point."""

    pair: str = ""
    case: str = ""
    topic: str = ""
    key_point: str = ""


class CaseList(Record):
    """A file of `--cases`."""

    cases: tuple[CaseEntry, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class QuizSource:
    """What quizzes are made from."""

    pair: Annotated[list[str] | None, typer.Option("--pair", help="Id of a pair; repeatable.", metavar="ID")] = None
    case: Annotated[
        Path | None, typer.Option("--case", help="A medical case as a text file, instead of pairs.", metavar="FILE")
    ] = None
    cases: Annotated[Path | None, typer.Option("--cases", help="YAML with several pairs or cases.", metavar="FILE")] = (
        None
    )
    topic: Annotated[str, typer.Option("--topic", help="Of the question. Default: the model finds topics.")] = ""
    key_point: Annotated[
        str, typer.Option("--key-point", help="What the correct answer is to be about; goes with `--topic`.")
    ] = ""
    catalog: options.CatalogPath = "mammography"
    lang: options.Language = "de"

    def read(self) -> tuple[list[Case], Catalog | None]:
        """Return the cases, and the catalog where pairs are among them; raise BadData when they cannot be had."""
        from harness.authoring.quiz.asking import Case

        given = [bool(self.pair), self.case is not None, self.cases is not None]
        if sum(given) != 1:
            raise BadData("Say what the quiz is about: `--pair ID`, `--case FILE` or `--cases FILE`, one of them.")
        entries = list(self._entries())
        needed = any(entry.pair for entry in entries)
        catalog = load_catalog(locate(self.catalog), self.lang) if needed else None
        found: dict[str, Case] = {}
        for entry in entries:
            if bool(entry.topic.strip()) != bool(entry.key_point.strip()):
                raise BadData(
                    f"Topic {entry.topic!r} and key point {entry.key_point!r} go together: give both, or neither and "
                    "the model finds them."
                )
            if entry.pair and catalog is not None:
                pair = catalog.pair(entry.pair)
                case = Case(pair.id, pair.answer, facets=pair.facets, pair_id=pair.id)
            else:
                path = self._beside(entry.case)
                case = Case(re.sub(r"[^\w.-]+", "-", path.stem), _text_of(path))
            id_ = next(each for each in _ids(case.id, len(found) + 1) if each not in found)
            topic, point = entry.topic.strip(), entry.key_point.strip()
            found[id_] = Case(id_, case.text, topic, point, case.facets, case.pair_id)
        return list(found.values()), catalog

    def _entries(self) -> Iterator[CaseEntry]:
        if self.cases is None:
            for pair in self.pair or ():
                yield CaseEntry(pair=pair, topic=self.topic, key_point=self.key_point)
            if self.case is not None:
                yield CaseEntry(case=str(self.case), topic=self.topic, key_point=self.key_point)
            return
        if self.topic or self.key_point:
            raise BadData(f"{self.cases} says topics and key points itself. Leave out `--topic` and `--key-point`.")
        problem = f"{self.cases} is no list of cases ({{reason}}). See `klartext author quiz` in docs/reference.md."
        for entry in read_record(self.cases, CaseList, problem).cases:
            if bool(entry.pair) == bool(entry.case):
                raise BadData(f"{self.cases}: an entry names a pair or a case, one of them. Mend it.")
            yield entry

    def _beside(self, name: str) -> Path:
        """Return a file named in `--cases`: beside it, where it is not absolute."""
        return self.cases.parent / name if self.cases is not None else Path(name)


def _ids(id_: str, start: int) -> Iterator[str]:
    """Yield an id, and then the same with numbers from `start` on."""
    yield id_
    yield from (f"{id_}-{number}" for number in count(start))


def _text_of(path: Path) -> str:
    try:
        text = plain_text(path.read_text(encoding="utf-8")).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path} cannot be read ({unreadable(error)}). Give a case as plain text.") from error
    if not text or len(text) > LONGEST_CASE:
        raise BadData(f"{path} has {len(text)} characters; a case has 1 to {LONGEST_CASE}. Give a case as plain text.")
    return text


@dataclass(frozen=True, slots=True)
class QuizManner:
    """How quizzes are made and judged."""

    rubric: Annotated[
        str, typer.Option("--rubric", help="teach-back, exam, or a rubric file of your own.", metavar="NAME|FILE")
    ] = "teach-back"
    topics: Annotated[
        int, typer.Option("--topics", min=1, max=5, help="Of the topics that the model finds, make so many quizzes.")
    ] = 1
    judge: Annotated[
        bool, typer.Option("--judge", help="Have first and kept version compared blind, in both orders.")
    ] = False
    forms: Annotated[
        list[Path] | None,
        typer.Option("--forms", help="`blind.csv` filled in by a person; repeatable.", metavar="FILE"),
    ] = None
    encoder: options.Encoder = "embedded"


def quiz(
    out: WorkPath,
    source: QuizSource,
    manner: QuizManner,
    asking: options.ModelOptions,
    json_: options.Json = False,
) -> None:
    """Draft multiple-choice questions from approved answers or cases; a model criticises and corrects them."""
    from harness.authoring.quiz.asking import QuizPrompts, hash_of_record, load_texts
    from harness.authoring.quiz.bank import LateInteraction, load_bank, load_outline
    from harness.authoring.quiz.blind import blind_table, by_model, read_forms
    from harness.authoring.quiz.making import QuizMaking
    from harness.authoring.quiz.report import Made, Provenance, write_result
    from harness.authoring.quiz.rubric import load_rubric
    from harness.authoring.quiz.tables import round_tables
    from harness.authoring.working import noting
    from harness.authoring.workshop import Workshop

    with friendly_errors():
        cases, catalog = source.read()
        rubric, texts = load_rubric(manner.rubric, source.lang), load_texts(source.lang)
        bank, outline = load_bank(rubric.kind, source.lang), load_outline(rubric.kind, source.lang)
        encoder = make_encoder(manner.encoder, Settings.from_environment())
        making = QuizMaking(
            QuizPrompts(texts, rubric, bank), outline, LateInteraction(encoder), manner.topics, manner.judge
        )
        identity = {
            "work": "quiz",
            "cases": ", ".join(case.id for case in cases),
            "texts": hashlib.sha256(repr(cases).encode()).hexdigest()[:16],
            "language": source.lang,
            "rubric": f"{manner.rubric} {hash_of_record(rubric)}",
            "prompts": texts.hash,
            "examples": f"{hash_of_record(bank)} {hash_of_record(outline)}",
            "encoder": encoder.name,
            "topics": str(manner.topics),
        }
        hashes: dict[str, str] = {}
        words = OURS if all(case.pair_id for case in cases) else PERHAPS_PATIENTS  # a text of a file may be about one
        words.require_allowed(asking)
        workshop = Workshop.open(out, identity, lambda: noting(making.all(cases), hashes))
        advanced = carry_on(workshop, asking, words)
        tracks = advanced.result or []
        judged = [*by_model(tracks), *read_forms(manner.forms or (), tracks)]
        groups = {"all": tracks}
        if len({track.found_by for track in tracks}) > 1:
            groups |= {who: [track for track in tracks if track.found_by == who] for who in ("person", "model")}
        made = Made(
            tracks,
            {name: round_tables(group) for name, group in groups.items()},
            blind_table(judged) if judged else None,
            rubric,
            texts,
            catalog,
        )
        answered = "live" if asking.live else "offline"
        write_result(out, made, Provenance(advanced.models, hashes, answered, advanced.unusable, identity))
        _show(made, out, json_=json_)
        if not any(track.rounds for track in tracks):
            raise BadData(f"No question came of it: see {out / 'result.json'}. Ask another model, in another `--out`.")


def _show(made: Made, out: Path, *, json_: bool) -> None:
    from harness.authoring.quiz.report import GROUPS, PAGE, agreement_lines
    from harness.authoring.quiz.tables import first_and_kept

    if json_:
        record: dict[str, Any] = {"tables": {name: table.as_json() for name, table in made.tables.items()}}
        record["first_and_kept"] = first_and_kept(made.tracks).as_json()
        print_json({**record, "blind": made.blind.as_json() if made.blind else None})
        return
    console = plain_console(soft_wrap=True)
    for name, table in made.tables.items():
        _show_rounds(GROUPS[name], table)
    for track in made.tracks:
        best = track.best
        kept = "no question" if best is None else f"version {best.number} of {len(track.rounds)}"
        points = "" if best is None or best.points is None else f", {best.points:.3f} of all points"
        console.print(f"{track.id}: {kept}{points}; ended: {track.stopped}.")
    ten = first_and_kept(made.tracks)
    if ten.means:
        first_share, kept_share = ten.means["total"]
        console.print(
            f"By {ten.aspects} of the paper's ten aspects: first version {first_share:.3f}, kept {kept_share:.3f}; "
            f"kept rated above {ten.won}, below {ten.lost}, alike {ten.tied}."
            + (f" Scored: {ten.n}; in none of these: {ten.unchanged}, which kept their first." if ten.unchanged else "")
        )
    if made.blind is not None:
        for rater, row in made.blind.rows.items():
            console.print(
                f"Blind, {rater}: kept version better {row['kept']}, first {row['first']}, tie {row['tie']}, "
                f"inconsistent {row['inconsistent']} of {row['n']}."
            )
        for line in agreement_lines(made.blind):
            console.print(line)
    console.print(f"{counted(len(made.tracks), 'quiz', 'quizzes')} to read in {out / PAGE}.")


def _show_rounds(title: str, table: RoundTables) -> None:
    from harness.authoring.quiz.report import in_cell

    heads = [f"round {number}" for number, n in enumerate(table.n, 1) if n]
    shown = plain_table(f"{title}: mean (standard deviation), scores as a share of the maximum", "", *heads)
    for name, row in table.scores.items():
        shown.add_row(name, *(in_cell(cell) for cell in row[: len(heads)]))
    shown.add_section()
    for name, row in table.figures.items():
        shown.add_row(name, *(in_cell(cell, 1 if name == "words" else 3) for cell in row[: len(heads)]))
    shown.add_row("quizzes", *(str(n) for n in table.n if n))
    plain_console(soft_wrap=True).print(shown)

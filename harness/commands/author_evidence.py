"""`klartext author draft` and `draft-study`: pairs from documents, and what finds them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot import (
    BadData,
    Catalog,
    Encoder,
    MissingExtra,
    Settings,
    friendly_errors,
    is_installed,
    load_catalog,
    locate,
    make_encoder,
    plain_text,
)
from harness.commands import options
from harness.commands.authoring import INCOMPLETE, OURS, PERHAPS_PATIENTS, Words, WorkPath, carry_on
from harness.commands.options import ModelOptions
from harness.console import counted, plain_console, plain_table
from harness.files import as_document, control_in, unreadable, writing
from harness.patients.prompts import hash_of

if TYPE_CHECKING:
    from harness.authoring.evidence.documents import Collection
    from harness.authoring.evidence.drafting import Drafter, Evidence, Part
    from harness.authoring.evidence.passages import Segment
    from harness.authoring.evidence.retrieval import Reach, Retriever
    from harness.authoring.evidence.study import Target
    from harness.authoring.working import Work

LONGEST_QUESTION = 300  # characters; the chat takes 1,000, a pair's question is one line
Documents = Annotated[
    str, typer.Option("--documents", help="Folder of PDF, DOCX, HTML, Markdown; or a shipped one.", metavar="FOLDER")
]


@dataclass(frozen=True, slots=True)
class RetrieverOptions:
    """How passages are looked for."""

    documents: Documents
    without: Annotated[
        list[str] | None,
        typer.Option("--without", help="Part to leave out (rewrite, expand, glossary, …); repeatable.", metavar="PART"),
    ] = None
    width: Annotated[int, typer.Option("--width", min=1, max=500, help="Passages of each first stage.")] = 32
    keep: Annotated[int, typer.Option("--keep", min=1, max=500, help="Passages after reranking.")] = 32
    encoder: options.Encoder = "embedded"
    rerank_model: Annotated[
        str | None,
        typer.Option("--rerank-model", help="Cross-encoder, name or folder. Default: fusion.", metavar="MODEL"),
    ] = None
    splade_model: Annotated[
        str | None, typer.Option("--splade-model", help="SPLADE beside BM25, name or folder.", metavar="MODEL")
    ] = None
    late: Annotated[bool, typer.Option("--late", help="Late interaction as a third first stage.")] = False
    tuned: Annotated[
        Path | None, typer.Option("--tuned", help="Map of `draft-tune` behind the encoder.", metavar="FILE")
    ] = None

    @property
    def left_out(self) -> frozenset[Part]:
        """Return the parts that are off; raise BadData when nothing would be searched."""
        from harness.authoring.evidence.drafting import PARTS

        named = self.without or ()
        if strange := [each for each in named if each not in PARTS]:
            raise BadData(f"`--without {strange[0]}` is no part. Parts: {', '.join(PARTS)}.")
        off = frozenset(each for each in PARTS if each in named)
        if {"sparse", "dense"} <= off and not self.late:
            raise BadData(
                "`--without sparse --without dense` leaves nothing to search with. Leave one of them, or `--late`."
            )
        return off

    def open(self, encoder: Encoder) -> tuple[Collection, Retriever]:
        """Read the documents and build what searches them."""
        from harness.authoring.evidence.documents import locate_documents, read_documents
        from harness.authoring.evidence.passages import passages_of
        from harness.authoring.evidence.retrieval import Bm25, Retriever
        from harness.authoring.evidence.tuning import Tuned

        collection = read_documents(locate_documents(self.documents))
        retriever = Retriever(passages_of(collection.documents), encoder)
        if self.tuned is not None:
            retriever.tuned = Tuned.read(self.tuned, encoder.name)
        if self.rerank_model or self.splade_model:
            if not is_installed("sentence_transformers"):
                raise MissingExtra(feature="A cross-encoder or SPLADE", extra="sentence-transformers")
            from harness.authoring.evidence.transformers import CrossEncoderReranker, Splade

            if self.rerank_model:
                retriever.reranker = CrossEncoderReranker(self.rerank_model)
            if self.splade_model:
                texts = [each.with_heading for each in retriever.passages]
                retriever.sparse_models = (Bm25(texts), Splade(self.splade_model, texts))
        return collection, retriever

    def drafter(self, language: str, collection: Collection, retriever: Retriever) -> Drafter:
        from harness.authoring.evidence.drafting import Drafter, load_glossary, load_texts

        titles = {each.name: each.title for each in collection.documents}
        return Drafter(load_texts(language), retriever, load_glossary(language), titles)

    @property
    def reach(self) -> Reach:
        from harness.authoring.evidence.retrieval import Reach

        off = self.left_out
        return Reach(self.width, self.keep, "sparse" not in off, "dense" not in off, self.late, "rerank" not in off)

    def models(self, retriever: Retriever) -> str:
        """All that decides what is found, for the folder's note."""
        sparse = f"BM25 + {self.splade_model}" if self.splade_model else "BM25"
        tuned = f", tuned {retriever.tuned.digest}" if retriever.tuned is not None else ""
        return f"{self.encoder}, {self.rerank_model or 'fusion'}, {sparse}{tuned}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be drafted, and for which catalog."""

    question: Annotated[str, typer.Option("--question", help="A question that no pair answers.", metavar="TEXT")]
    catalog: options.CatalogPath = "mammography"
    lang: options.Language = "de"
    id_: Annotated[str | None, typer.Option("--id", help="Of the new pair. Default: from the question.")] = None
    closed: Annotated[bool, typer.Option("--closed", help="Also answer without documents, for raters to compare.")] = (
        False
    )

    @property
    def asked(self) -> str:
        """Return the question on one line; raise BadData when it is none."""
        text = " ".join(plain_text(self.question).split())
        if not any(each.isalpha() for each in text) or control_in(self.question):
            raise BadData("`--question` holds no question. Give it in the patients' words, in quotation marks.")
        if len(text) > LONGEST_QUESTION:
            raise BadData(
                f"`--question` has {len(text)} characters, and {LONGEST_QUESTION} are the most. Ask one thing."
            )
        return text


def draft(wanted: Wanted, search: RetrieverOptions, out: WorkPath, asking: ModelOptions) -> None:
    """Draft a pair for a question from documents; each sentence cites where it stands, else it is struck.

    Exit code 1 while prompts wait for answers, or when nothing in the documents answers the question.
    """
    from harness.authoring.evidence.drafting import Plan
    from harness.authoring.evidence.proposal import PAGE, Answered, Proposal, id_for, nearest_pairs
    from harness.authoring.workshop import Workshop

    with friendly_errors():
        off, question = search.left_out, wanted.asked
        PERHAPS_PATIENTS.require_allowed(asking)  # the question may be in a patient's own words
        catalog = load_catalog(locate(wanted.catalog), wanted.lang)
        pair_id = _pair_id(wanted.id_, catalog) or id_for(question, catalog)
        settings = Settings.from_environment()
        encoder = make_encoder(search.encoder, settings)
        collection, retriever = search.open(encoder)
        tell_left_out(collection)
        drafter = search.drafter(wanted.lang, collection, retriever)
        plan = Plan(question, search.reach, off, wanted.closed)
        identity = {
            "work": "evidence draft",
            "question": question,
            "documents": collection.digest,
            "prompts": drafter.texts.digest,
            "plan": f"{sorted(off)}, {search.width}, {search.keep}, {search.late}, {wanted.closed}; "
            + search.models(retriever),
        }
        workshop = Workshop.open(out, identity, lambda: drafter.draft(plan))
        advanced = carry_on(workshop, asking, PERHAPS_PATIENTS)
        if advanced.result is None:
            raise ValueError("a work that waits for nothing has a result")
        near = nearest_pairs(question, catalog, encoder)
        answered = Answered.of(advanced, live=asking.live)
        proposal = Proposal(
            plan, advanced.result, collection, catalog, near, pair_id, _today(), answered, _site_text(settings)
        )
        proposal.write(out)
        console = plain_console(soft_wrap=True)
        console.print(proposal.page(), end="")
        console.print(f"Written: {out / PAGE}.")
        if proposal.pair() is None:
            raise typer.Exit(INCOMPLETE)
        console.print(f"To the console: klartext author submit {out} --by LOGIN")


@dataclass(frozen=True, slots=True)
class StudySet:
    """What the retrieval is measured on."""

    questions: Annotated[
        Path | None,
        typer.Option("--questions", help="Question-passage set (JSON lines). Default: shipped.", metavar="FILE"),
    ] = None
    lang: options.Language = "de"
    limit: Annotated[
        int | None, typer.Option("--limit", min=5, help="So many questions, evenly taken.", metavar="N")
    ] = None
    filters: Annotated[
        bool, typer.Option("--filters", help="Measure the relevance and usefulness filters instead (asks a model).")
    ] = False
    alone: Annotated[
        bool, typer.Option("--alone", help="With `--filters`: the usefulness filter by itself, too (more prompts).")
    ] = False

    @property
    def file(self) -> Path:
        from harness.authoring.evidence.study import questions_file

        return self.questions or questions_file(self.lang)

    def targets(self, retriever: Retriever) -> list[Target]:
        """Read the questions, with their passages among those that are searched."""
        from harness.authoring.evidence.study import load_targets, spread

        return spread(load_targets(self.file, retriever.passages), self.limit)

    def require_measured(self, off: frozenset[Part]) -> None:
        """Raise BadData when an option would change nothing."""
        from harness.authoring.evidence.drafting import PARTS

        idle = {"support"} if self.filters else {"relevance", "usefulness", "support"}
        if useless := sorted(off & idle):
            parts = ", ".join(part for part in PARTS if part not in idle)
            raise BadData(f"`--without {useless[0]}` changes nothing that this study measures. Parts: {parts}.")
        if self.alone and not self.filters:
            raise BadData("`--alone` is about the filters. Give `--filters` with it.")
        if self.alone and {"relevance", "usefulness"} & off:
            raise BadData("`--alone` compares both filters with one, and one is left out. Drop `--alone`.")

    @property
    def words(self) -> Words:
        """Whose words are asked: those of a site's own set may be patients'."""
        return OURS if self.questions is None else PERHAPS_PATIENTS


def draft_study(study: StudySet, search: RetrieverOptions, out: WorkPath, asking: ModelOptions) -> None:
    """Measure what each part of the retrieval is worth: recall@k and MRR, with each part switched off.

    Rewriting and expansion are measured where somebody answers their prompts: `--model`, `--prompts` or `--answers`.
    `--filters`: what the relevance and usefulness filters keep of what was found.
    """
    from harness.authoring.evidence import study as studies
    from harness.authoring.evidence.drafting import Queries
    from harness.authoring.evidence.retrieval import with_glossary
    from harness.authoring.workshop import Workshop

    with friendly_errors():
        off = search.left_out
        study.require_measured(off)
        study.words.require_allowed(asking)
        encoder = make_encoder(search.encoder, Settings.from_environment())
        collection, retriever = search.open(encoder)
        tell_left_out(collection)
        drafter = search.drafter(study.lang, collection, retriever)
        if study.filters:
            _study_filters(study, search, drafter, out, asking)
            return
        targets = study.targets(retriever)
        queries = {
            each.id: Queries(each.question, glossary=with_glossary(each.question, drafter.glossary)) for each in targets
        }
        asks = asking.live or asking.by_file
        models: set[str] = set()
        identity = {
            "work": "evidence study",
            "documents": collection.digest,
            "questions": hash_of([{"id": each.id, "question": each.question} for each in targets]),
            "prompts": drafter.texts.digest,
            "without": ", ".join(sorted(off)),
        }
        # Also where nobody is asked: the folder's results must not take the place of other work's.
        workshop = Workshop.open(out, identity, lambda: studies.augmented(drafter, targets, off))
        if asks:
            advanced = carry_on(workshop, asking, study.words)
            models = set(advanced.models.values())
            for target, found in zip(targets, advanced.result or [], strict=True):
                queries[target.id] = replace(found, glossary=queries[target.id].glossary)
        reach = search.reach
        augmenter: set[Part] = {"glossary", "rewrite", "expand"} if asks else {"glossary"}
        rows = [
            studies.measured(row, targets, queries) for row in studies.configurations(retriever, reach, augmenter - off)
        ]
        about = [
            f"{counted(len(targets), 'question')} of {study.file.name}, "
            f"{counted(len(retriever.passages), 'passage')} of "
            f"{counted(len(collection.documents), 'document')} in {collection.folder.name}",
            f"encoder {search.models(retriever)}; rewriting and expansion by {', '.join(sorted(models)) or 'nobody'}",
            f"{reach.width} passages of each first stage, {reach.keep} kept; "
            f"left out: {', '.join(sorted(off)) or 'nothing'}",
        ]
        if (tuned := retriever.tuned) is not None:
            texts = {each.id: each.with_heading for each in retriever.passages}
            known = [
                each for each in targets if tuned.has_seen(each.question, *(texts[place] for place in each.passages))
            ]
            about.append(
                f"tuned: taught by {tuned.taught_by}; "
                + (
                    f"NOT held out: {counted(len(known), 'question')} or their passages among them"
                    if known
                    else "no question of the set and none of its passages among them"
                )
            )
        with writing(out / "result.json"):
            record = {
                "about": about,
                "questions": [each.id for each in targets],
                "rows": [row.as_json() for row in rows],
            }
            (out / "result.json").write_text(as_document(record), encoding="utf-8")
            (out / "result.md").write_text(studies.page(rows, about), encoding="utf-8")
        table = plain_table(None, "", *(f"recall@{depth}" for depth in studies.DEPTHS), "MRR")
        for row in rows:
            table.add_row(row.name, *(f"{row.found(n) / len(row.ranks):.3f}" for n in studies.DEPTHS), f"{row.mrr:.3f}")
        console = plain_console()
        console.print(*about, sep="\n")
        console.print(table)
        console.print(f"With intervals: {out / 'result.md'}")


def _study_filters(
    study: StudySet, search: RetrieverOptions, drafter: Drafter, out: Path, asking: ModelOptions
) -> None:
    """Have what is found filtered for all questions, and count what is kept."""
    from harness.authoring.evidence import filters
    from harness.authoring.workshop import Workshop

    off, retriever = search.left_out, drafter.retriever
    targets = study.targets(retriever)
    if {"relevance", "usefulness"} <= off:
        raise BadData("`--without relevance --without usefulness` leaves no filter to measure. Leave one of them.")
    passages = hash_of([{"id": each.id, "text": each.with_heading} for each in retriever.passages])
    identity = {
        "work": "evidence filters",
        "passages": passages,
        "questions": hash_of([{"id": each.id, "question": each.question} for each in targets]),
        "prompts": drafter.texts.digest,
        "plan": f"{sorted(off)}, {search.width}, {search.keep}, {search.late}; {search.models(retriever)}"
        + ("; alone" if study.alone else ""),
    }

    def work() -> Work[tuple[list[Evidence], list[list[Segment]] | None]]:
        found = yield from filters.refined(drafter, targets, search.reach, off)
        return found, (yield from filters.useful_alone(drafter, targets, found)) if study.alone else None

    advanced = carry_on(Workshop.open(out, identity, work), asking, study.words)
    if advanced.result is None:
        raise ValueError("a work that waits for nothing has a result")
    rows = filters.filter_rows(targets, advanced.result[0], off, advanced.result[1])
    about = [
        f"{counted(len(targets), 'question')}; in {len(rows[0].kept)} of them a passage that answers was found among "
        f"{search.keep}, and these are counted",
        f"{counted(len(advanced.models), 'prompt')}, answered by {', '.join(sorted(set(advanced.models.values())))}; "
        f"{len(advanced.unusable)} could not be read, and what they judge is kept",
        f"left out: {', '.join(sorted(off)) or 'nothing'}; {search.models(retriever)}",
    ]
    with writing(out / "result.json"):
        (out / "result.json").write_text(
            as_document({"about": about, "rows": [row.as_json() for row in rows]}), encoding="utf-8"
        )
        (out / "result.md").write_text(filters.page(rows, about), encoding="utf-8")
    table = plain_table(None, "", "passages", "precision", "recall", "segments", "answering words kept", "words")
    for row in rows:
        table.add_row(row.name, *filters.cells(row))
    console = plain_console()
    console.print(*about, sep="\n")
    console.print(table)
    console.print(f"With intervals: {out / 'result.md'}")


def _pair_id(wanted: str | None, catalog: Catalog) -> str:
    """Return the id that was asked for; raise BadData when it cannot be one or is taken."""
    if wanted is None:
        return ""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]{0,79}", wanted):
        raise BadData(f"`--id {wanted}` cannot be an id. Use small letters, digits and hyphens, at most 80.")
    if wanted in catalog.by_id:
        raise BadData(
            f"`--id {wanted}`: {catalog.ref} has such a pair. Choose another, or edit that one in the console."
        )
    return wanted


def tell_left_out(collection: Collection) -> None:
    for name, why in collection.left_out.items():
        plain_console(soft_wrap=True).print(f"Not read: {name}: {why}.")


def _site_text(settings: Settings) -> str:
    """Return the site's own file, for its telephone numbers; whether it is in order is not for this command."""
    try:
        return settings.site.read_text(encoding="utf-8") if settings.site is not None else ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{settings.site} cannot be read ({unreadable(error)}). Check KLARTEXT_SITE.") from error


def _today() -> date:
    return datetime.now().astimezone().date()

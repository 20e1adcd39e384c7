"""`klartext author answers`: answers to a table of topics, drafted from documents; they enter the catalog as drafts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from bot import Catalog, Pair, Settings, friendly_errors, load_catalog, make_encoder
from bot.catalog.additions import add_pairs
from harness.commands import options
from harness.commands.author_evidence import RetrieverOptions, tell_left_out
from harness.commands.author_variants import spoken_of
from harness.commands.authoring import INCOMPLETE, WorkPath, carry_on
from harness.console import counted, plain_console


@dataclass(frozen=True, slots=True)
class SourceOptions(RetrieverOptions):
    """From which documents, and how passages are looked for in them."""

    documents: Annotated[
        str,
        typer.Option("--sources", help="Folder of PDF, DOCX, HTML, Markdown; or a shipped one.", metavar="FOLDER"),
    ]


@dataclass(frozen=True, slots=True)
class TopicOptions:
    """What is to be answered, and for which catalog."""

    catalog: Annotated[
        Path, typer.Option("--catalog", help="Catalog folder; drafts are written into it.", metavar="FOLDER")
    ]
    topics: Annotated[Path, typer.Option("--topics", help="Table with tabs: id, question, scope.", metavar="FILE")]
    lang: Annotated[str, typer.Option("--lang", help="Language of the answers.", metavar="LANG")] = "de"

    def content(self) -> Catalog:
        """Return the catalog, without pairs where there is none in this language yet."""
        path = self.catalog / f"{self.lang}.yaml"
        if path.is_file():
            return load_catalog(self.catalog, self.lang)
        return Catalog(
            name=self.catalog.resolve().name,
            language=self.lang,
            version="1",
            pairs=(),
            background=(),
            near_misses=(),
            complaints=None,
            remarks={},
            calibration=(),
            content_hash="",
            path=path,
        )


def answers(wanted: TopicOptions, search: SourceOptions, out: WorkPath, asking: options.ModelOptions) -> None:
    """Draft an answer, a short and an easy one, and facets for each topic of a table, from documents; always drafts."""
    from harness.authoring.evidence.drafting import Plan
    from harness.authoring.evidence.proposal import PAGE, Answered, Proposal, nearest_pairs
    from harness.authoring.evidence.topics import TopicDrafting, load_answer_texts, read_topics
    from harness.authoring.variants.sifting import unfit_in
    from harness.authoring.workshop import Workshop

    with friendly_errors():
        off, catalog = search.left_out, wanted.content()
        topics, texts = read_topics(wanted.topics, wanted.lang), load_answer_texts(wanted.lang)
        encoder = make_encoder(search.encoder, Settings.from_environment())
        collection, retriever = search.open(encoder)
        tell_left_out(collection)
        drafter = search.drafter(wanted.lang, collection, retriever)
        drafter = replace(drafter, about=spoken_of(catalog, drafter.texts.unnamed))
        drafting = TopicDrafting(drafter, texts, Plan("", search.reach, off))
        identity = {
            "work": "answers",
            "catalog": catalog.name,
            "exam": str(drafter.about),
            "language": wanted.lang,
            "topics": hashlib.sha256(repr(topics).encode()).hexdigest()[:16],
            "documents": collection.digest,
            "prompts": f"{drafter.texts.digest} {hashlib.sha256(texts.facets.encode()).hexdigest()[:16]}",
            "plan": f"{sorted(off)}, {search.width}, {search.keep}, {search.late}; {search.models(retriever)}",
        }
        advanced = carry_on(Workshop.open(out, identity, lambda: drafting.all(topics)), asking)
        console, pairs = plain_console(soft_wrap=True), list[Pair]()
        for answer in advanced.result or ():
            topic = answer.topic
            said = Answered.of(advanced, live=asking.live).within(f"{topic.id}/")
            near = nearest_pairs(topic.question, catalog, encoder)
            plan = replace(drafting.plan, question=topic.question)
            proposal = Proposal(plan, answer.evidence, collection, catalog, near, topic.id, date.today(), said)
            proposal.write(out / topic.id)
            pair = proposal.pair()
            if pair is None:
                console.print(f"{topic.id}: no draft ({answer.evidence.ended}).")
                continue
            pairs.append(pair.model_copy(update={"facets": answer.facets}))
            struck, unchecked = len(answer.evidence.struck), len(answer.evidence.unchecked)
            doubts = f"; {struck} struck, {unchecked} unchecked" if struck or unchecked else ""
            texts_of = " ".join(filter(None, (pair.short_answer, pair.answer, pair.easy_answer)))
            doubts += "".join(f"; {reason} in it: mend it" for reason in unfit_in(texts_of))
            kept = len([each for each in answer.evidence.sentences if not each.flaw])
            console.print(
                f"{topic.id}: {counted(kept, 'sentence')} with their sources{doubts}. {out / topic.id / PAGE}"
            )
        added = add_pairs(wanted.catalog, wanted.lang, pairs, name=catalog.name) if pairs else 0
        console.print(f"{counted(added, 'draft')} new in {catalog.path}; pairs that were there stay as they are.")
        console.print(f"Next: klartext qa lint {wanted.catalog}")
        if not pairs:
            raise typer.Exit(INCOMPLETE)

"""A draft as curators read it and as the console takes it: a pair, and where each of its sentences comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from bot import Catalog, Encoder, Pair, fold, measure, plain_text, strange_telephones, words
from harness.authoring.evidence.answers import FIELDS, Sentence
from harness.authoring.evidence.documents import Collection
from harness.authoring.evidence.drafting import Evidence, Plan
from harness.authoring.evidence.passages import Segment
from harness.authoring.working import Advanced
from harness.console import counted
from harness.files import as_document, without_markup, writing
from harness.patients.prompts import AGAIN

DRAFT, RESULT, PAGE = "draft.yaml", "result.json", "result.md"
ID_WORDS, ID_LENGTH = 5, 60
NEAREST = 3
MOST_CITED = 3  # segments of a sentence: what cites more is held against their numbers together
UNKNOWN = "not stated"
_LABELS = {"short_answer": "Short answer", "answer": "Answer", "easy_answer": "Easy answer"}


@dataclass(frozen=True, slots=True)
class Near:
    """A pair of the catalog whose question is near: it may answer already."""

    pair_id: str
    question: str
    similarity: float  # cosine


@dataclass(frozen=True, slots=True)
class Answered:
    """Who answered the prompts.

    Attributes:
        models: By id of the prompt, with the attempt where it was not the first.
        unusable: Prompts of which nothing could be used, with the reason.
        live: Whether a model was asked in this run; else answers came by file or were there.
    """

    models: Mapping[str, str]
    unusable: Mapping[str, str]
    live: bool

    @classmethod
    def of(cls, advanced: Advanced[Any], *, live: bool) -> Answered:
        return cls(advanced.models, advanced.unusable, live)

    def within(self, prefix: str) -> Answered:
        """Return what is said of the prompts whose ids begin with a prefix, by their ids without it."""
        own = [
            {id_.removeprefix(prefix): value for id_, value in all_.items() if id_.startswith(prefix)}
            for all_ in (self.models, self.unusable)
        ]
        return Answered(own[0], own[1], self.live)

    @property
    def names(self) -> list[str]:
        return sorted(set(self.models.values()))

    def of_prompt(self, id_: str) -> dict[str, Any]:
        """Return what the record says of one prompt."""
        answered = self.models.get(f"{id_}{AGAIN}2", self.models.get(id_))
        return {"model": answered, "unusable": self.unusable.get(id_)}


@dataclass(frozen=True, slots=True)
class Proposal:
    """All that is known of a draft.

    Attributes:
        plan: How it was made.
        evidence: What came of it.
        collection: What it was made from.
        catalog: That it is for.
        near: Pairs that may answer already, nearest first.
        pair_id: Of the new pair.
        on: Day of drafting; stands for the year of documents that state none.
        answered: Who wrote it.
        site: The site's file, whose telephone numbers are known; empty where there is none.
    """

    plan: Plan
    evidence: Evidence
    collection: Collection
    catalog: Catalog
    near: Sequence[Near]
    pair_id: str
    on: date
    answered: Answered
    site: str = ""

    @property
    def provenance(self) -> list[dict[str, Any]]:
        """Where each sentence that stays comes from."""
        return [
            {
                "field": each.field,
                "sentence": each.text,
                "quotations": [self._source(one) for one in each.segments],
                **({"unchecked": True} if each.unchecked else {}),
            }
            for name in FIELDS
            for each in self.evidence.of(name)
        ]

    def pair(self) -> Pair | None:
        """Return the new pair, a draft; None where no sentence of an answer is left."""
        if self.evidence.ended:
            return None
        texts = {name: self.evidence.text(name) or None for name in FIELDS}
        return Pair.model_validate(
            {"id": self.pair_id, "question": self.plan.question, **texts, "sources": self._sources()}
        )

    def write(self, folder: Path) -> None:
        """Write page, record and, where there is a pair, the draft for `klartext author submit`."""
        pair = self.pair()
        with writing(folder / RESULT):
            (folder / RESULT).write_text(as_document(self._record()), encoding="utf-8")
            (folder / PAGE).write_text(self.page(), encoding="utf-8")
            (folder / DRAFT).unlink(missing_ok=True)
            if pair is not None:
                (folder / DRAFT).write_text(self._draft(pair), encoding="utf-8")

    def _source(self, segment: Segment) -> dict[str, str]:
        passage = segment.passage
        title = self.collection.document(passage.document).title
        return {"document": passage.document, "title": title, "place": passage.place, "text": segment.text}

    def _sources(self) -> list[dict[str, Any]]:
        """Return each document that is cited, with all passages that bear the text out."""
        cited = dict.fromkeys(one for name in FIELDS for each in self.evidence.of(name) for one in each.segments)
        found = []
        for document in self.collection.documents:
            own = [one for one in cited if one.passage.document == document.name]
            if not own:
                continue
            passage = " | ".join(f"{one.passage.place}: {one.text}".removeprefix(": ") for one in own)
            year = document.year or self.on.year
            note = "" if document.year else " (year of drafting; the document states none)"
            found.append(
                {
                    "title": document.title,
                    "publisher": document.publisher or UNKNOWN,
                    "year": year,
                    "passage": f"{document.name}: {passage}{note}",
                }
            )
        return found

    def _draft(self, pair: Pair) -> str:
        content = {
            "catalog": self.catalog.name,
            "language": self.catalog.language,
            "drafted_by": self.answered.names,
            "pairs": [pair.model_dump(mode="json", exclude_defaults=True)],
            "provenance": {pair.id: self.provenance},
        }
        head = (
            "# DRAFT by a model from documents; no clinician has approved it. To the console: klartext author submit\n"
        )
        return head + yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=120)

    def _record(self) -> dict[str, Any]:
        evidence = self.evidence
        prompts = {id_: {"hash": hashed, **self.answered.of_prompt(id_)} for id_, hashed in evidence.prompts.items()}
        return {
            "question": self.plan.question,
            "status": "draft",
            "sample": self.collection.is_sample,
            "ended": evidence.ended,
            "catalog": self.catalog.ref,
            "language": self.catalog.language,
            "answered": "live" if self.answered.live else "offline",
            "plan": {"without": sorted(self.plan.without), "reach": asdict(self.plan.reach)},
            "documents": [
                {name: getattr(each, name) for name in ("name", "title", "publisher", "year", "sha256")}
                for each in self.collection.documents
            ],
            "left_out": dict(self.collection.left_out),
            "queries": asdict(evidence.queries),
            "found": [
                {"passage": each.passage.id, "sparse": each.sparse, "dense": each.dense, "late": each.late}
                for each in evidence.found
            ],
            "relevant": [each.id for each in evidence.relevant],
            "segments": [each.id for each in evidence.segments],
            "useful": [{"id": each.id, "text": each.text} for each in evidence.useful],
            "reasoning": evidence.reasoning,
            "sentences": [_sentence(each) for each in evidence.sentences],
            "missing": list(evidence.missing),
            "closed": evidence.closed,
            "counts": self.counts(),
            "unchecked": len(evidence.unchecked),
            "provenance": self.provenance,
            "near_pairs": [asdict(each) for each in self.near],
            "prompts": prompts,
        }

    def counts(self) -> dict[str, int]:
        """Return how many of what there were at each step."""
        evidence = self.evidence
        return {
            "found": len(evidence.found),
            "relevant": len(evidence.relevant),
            "segments": len(evidence.segments),
            "useful": len(evidence.useful),
            "sentences": len(evidence.sentences),
            "unsupported": len(evidence.struck),
        }

    def page(self) -> str:
        """Return the draft as curators read it, as Markdown."""
        pair = self.pair()
        evidence, counts = self.evidence, self.counts()
        status = "Status: **draft**, written by a model; no clinician has approved it."
        if self.collection.is_sample:
            status += " **Sample**: the documents are invented."
        lines = [f"# {self.plan.question}", "", status, ""]
        if self.near:
            lines += ["Pairs of the catalog that are nearest to the question:", ""]
            lines += [f"- `{each.pair_id}` ({each.similarity:.2f}): {each.question}" for each in self.near]
            lines.append("")
        if pair is None:
            lines += [f"**There is no draft: {evidence.ended}.**", ""]
        if unchecked := len(evidence.unchecked):
            number = f"{counted(unchecked, 'sentence')} {'was' if unchecked == 1 else 'were'}"
            lines += [f"**{number} not checked: {self._why_unchecked}.**", ""]
        numbers = {one.id: number for number, one in enumerate(evidence.useful, 1)}
        for name in FIELDS:
            kept = evidence.of(name)
            if not kept:
                continue
            read = measure(evidence.text(name), self.catalog.language)
            lines += [f"## {_LABELS[name]}", "", f"{read.words} words, reading ease {read.reading_ease:.0f}.", ""]
            lines += [f"- {each.text} {_marks(each, numbers)}{self._doubts(each)}" for each in kept] + [""]
        if evidence.struck:
            lines += ["## Struck", ""]
            lines += [f"- ~~{each.text}~~ ({_LABELS[each.field].lower()}: {each.flaw})" for each in evidence.struck]
            lines.append("")
        if evidence.missing:
            lines += ["## Not in the documents", "", *(f"- {each}" for each in evidence.missing), ""]
        cited = {one.id for each in evidence.sentences if not each.flaw for one in each.segments}
        if evidence.useful:
            lines += ["## Where it stands", ""]
            for one in evidence.useful:
                source = self._source(one)
                where = ", ".join(filter(None, (f"*{source['title']}*", source["place"], f"`{source['document']}`")))
                unused = "" if one.id in cited else " (not cited)"
                lines.append(f"{numbers[one.id]}. {where}{unused}: {one.text}")
            lines.append("")
        if evidence.closed:
            lines += ["## Without documents", "", "For comparison only; nothing supports it.", "", evidence.closed, ""]
        lines += ["## How it was made", "", *self._steps(counts), ""]
        return without_markup(plain_text("\n".join(lines)))

    def _doubts(self, each: Sentence) -> str:
        """Return what to look at twice before a sentence is signed, though it stands in the documents."""
        texts = (text for pair in self.catalog.pairs for text in (pair.answer, pair.short_answer, pair.easy_answer))
        found = [
            f"{number} is no telephone number of the site, the catalog or for emergencies: call it before you sign"
            for number in strange_telephones(
                each.text, self.catalog.language, (self.site, *(text for text in texts if text))
            )
        ]
        if each.unchecked:
            found.append("unchecked")
        if beside := self._struck_beside(each):
            found.append(f"the sentence {beside} it was struck: does it still say what it should?")
        if len(each.segments) > MOST_CITED:
            found.append(f"cites {len(each.segments)} segments: compare it with each")
        return "".join(f" **({one})**" for one in found)

    def _struck_beside(self, each: Sentence) -> str:
        """Return where a sentence was struck next to one that stays: "before", "after"; empty where none was."""
        text = [one for one in self.evidence.sentences if one.field == each.field]
        place = next(number for number, one in enumerate(text) if one is each)
        sides = {"before": text[max(place - 1, 0) : place], "after": text[place + 1 : place + 2]}
        return " and ".join(side for side, ones in sides.items() if any(one.flaw for one in ones))

    @property
    def _why_unchecked(self) -> str:
        """Why nobody compared a sentence with what it cites."""
        if not self.plan.has("support"):
            return "`--without support` leaves the check out"
        return "no answer to the check could be read"

    def _steps(self, counts: Mapping[str, int]) -> list[str]:
        queries = self.evidence.queries
        asked = [("rewritten", queries.rewritten), ("expanded", queries.expanded), ("glossary", queries.glossary)]
        steps = [f"- {name}: {text}" for name, text in asked if text]
        steps.append(
            f"- {counts['found']} passages found in {len(self.collection.documents)} documents, {counts['relevant']} "
            f"relevant; {counts['useful']} of {counts['segments']} segments useful; {counts['unsupported']} of "
            f"{counts['sentences']} sentences struck."
        )
        if self.plan.without:
            steps.append(f"- Left out: {', '.join(sorted(self.plan.without))}.")
        steps += [f"- {name} was not read: {why}." for name, why in self.collection.left_out.items()]
        steps += [f"- No answer to `{id_}` could be used: {why}." for id_, why in self.answered.unusable.items()]
        steps.append(f"- Answered by: {', '.join(self.answered.names) or 'nobody'}.")
        return steps


def _sentence(each: Sentence) -> dict[str, Any]:
    said = {"field": each.field, "text": each.text, "segments": [one.id for one in each.segments], "flaw": each.flaw}
    return {**said, **({"unchecked": True} if each.unchecked else {})}


def _marks(each: Sentence, numbers: Mapping[str, int]) -> str:
    return " ".join(f"[{numbers[one.id]}]" for one in each.segments)


def id_for(question: str, catalog: Catalog) -> str:
    """Return an id for a new pair, made of its question; a number is added where it is taken."""
    said = [each for each in words(fold(question)) if len(each) > 3 and each.isascii()] or ["pair"]
    base = "-".join(said[:ID_WORDS])[:ID_LENGTH].strip("-")
    taken, number = set(catalog.by_id), 2
    id_ = base
    while id_ in taken:
        id_, number = f"{base}-{number}", number + 1
    return id_


def nearest_pairs(question: str, catalog: Catalog, encoder: Encoder) -> list[Near]:
    """Return the pairs whose questions are nearest in meaning: a draft may not be needed."""
    vectors = np.asarray(encoder.encode([question, *(each.question for each in catalog.pairs)]))
    alike = vectors[1:] @ vectors[0]
    order = np.argsort(-alike, kind="stable")[:NEAREST]
    return [Near(catalog.pairs[n].id, catalog.pairs[n].question, round(float(alike[n]), 3)) for n in order]

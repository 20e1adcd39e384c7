"""What each part of the retrieval is worth: recall@k and MRR on questions whose passages are known, each part off.

The paper's Tables 4 to 6 do this for the accuracy of answers to multiple-choice questions; here it is done where a part
acts. A question's passages are named by a quotation, so that documents may be cut otherwise and the set still counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field

from bot import BadData, data_folder, fold
from harness.authoring.evidence.drafting import Drafter, Part, Plan, Queries
from harness.authoring.evidence.passages import Passage
from harness.authoring.evidence.retrieval import Reach, Retriever
from harness.authoring.working import Work, together
from harness.files import Record, read_lines
from harness.statistics import Interval, wilson

DEPTHS = (1, 3, 5, 10, 32)
LEAST = 5  # questions: fewer say nothing
_BY_MODEL: Mapping[Part, str] = {"rewrite": "rewriting", "expand": "expansion"}


class Place(Record):
    """A passage, by words that stand in it."""

    document: str
    quote: str = Field(min_length=1)


class StudyQuestion(Record):
    """A question of a patient, and the passages that answer it: one of them is enough."""

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    passages: tuple[Place, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Target:
    """A question with the ids of the passages that answer it, and the words of theirs that do, folded."""

    id: str
    question: str
    passages: frozenset[str]
    quotes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Measured:
    """How well passages are found.

    Attributes:
        name: Of the configuration.
        ranks: Of the first right passage of each question, from 1; None: not among those kept.
    """

    name: str
    ranks: tuple[int | None, ...]

    def recall(self, depth: int) -> Interval | None:
        """Return the share of questions with a right passage among the first, with its interval."""
        return wilson(self.found(depth), len(self.ranks))

    def found(self, depth: int) -> int:
        return sum(rank is not None and rank <= depth for rank in self.ranks)

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank; what was not found counts nothing."""
        return sum(1 / rank for rank in self.ranks if rank) / len(self.ranks)

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "recall": {str(depth): self.found(depth) / len(self.ranks) for depth in DEPTHS},
            "intervals": {str(depth): one.as_json() for depth in DEPTHS if (one := self.recall(depth)) is not None},
            "mrr": self.mrr,
            "ranks": self.ranks,
        }


def questions_file(language: str) -> Path:
    """Return the shipped question-passage set; raise BadData where a language has none."""
    path = data_folder("vignettes") / "authoring" / f"evidence-questions-{language}.jsonl"
    if not path.is_file():
        raise BadData(f"No question-passage set is shipped for {language!r}. Give your own with `--questions FILE`.")
    return path


def load_targets(path: Path, passages: Sequence[Passage]) -> list[Target]:
    """Read a question-passage set and find its passages.

    Raises:
        BadData: The file cannot be read, has too few questions, an id twice, or names what is in no passage.
    """
    try:
        read = read_lines(
            path, StudyQuestion, " is no question with passages: {reason}. Write it as the shipped set is."
        )
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path} cannot be read. Give `--questions` a file of JSON lines.") from error
    if len(read) < LEAST:
        raise BadData(f"{path} has {len(read)} questions, and {LEAST} are the least. Add some.")
    if len({each.id for each in read}) < len(read):
        raise BadData(f"{path} has an id twice. Give each question its own.")
    return [_target(each, path, passages) for each in read]


def _target(asked: StudyQuestion, path: Path, passages: Sequence[Passage]) -> Target:
    found: set[str] = set()
    for place in asked.passages:
        quote = fold(place.quote)
        here = {each.id for each in passages if each.document == place.document and quote in fold(each.text)}
        if not here:
            raise BadData(
                f"{path}, {asked.id}: no passage of {place.document!r} holds {place.quote!r}. Quote the document "
                "word for word, within one passage."
            )
        found |= here
    quotes = frozenset(fold(place.quote) for place in asked.passages)
    return Target(asked.id, asked.question, frozenset(found), quotes)


def spread(targets: Sequence[Target], limit: int | None) -> list[Target]:
    """Return so many of the questions, evenly taken from all."""
    if limit is None or limit >= len(targets):
        return list(targets)
    return [targets[place * len(targets) // limit] for place in range(limit)]


def augmented(drafter: Drafter, targets: Sequence[Target], without: frozenset[Part]) -> Work[list[Queries]]:
    """Rewrite and expand all questions, by the model, side by side."""
    works = [drafter.augment(Plan(each.question, without=without), prefix=f"{each.id}/") for each in targets]
    return (yield from together(works))


@dataclass(frozen=True, slots=True)
class Configuration:
    """A way to search: a name, what is asked of a question's queries, and how."""

    name: str
    queries: Callable[[Queries], tuple[str, ...]]
    reach: Reach
    retriever: Retriever


def _plain(queries: Queries) -> tuple[str, ...]:
    return (queries.question,)


def _with_terms(queries: Queries) -> tuple[str, ...]:
    return tuple(filter(None, (queries.question, queries.glossary)))


def _rewritten(queries: Queries) -> tuple[str, ...]:
    return tuple(filter(None, (queries.question, queries.rewritten)))


def _expanded(queries: Queries) -> tuple[str, ...]:
    return tuple(filter(None, (queries.question, queries.expanded)))


def _everything(queries: Queries) -> tuple[str, ...]:
    return tuple(filter(None, (queries.question, queries.rewritten, queries.expanded)))


def _only_model(queries: Queries) -> tuple[str, ...]:
    return tuple(filter(None, (queries.rewritten, queries.expanded))) or (queries.question,)


def configurations(searcher: Retriever, reach: Reach, augmenter: Set[Part]) -> list[Configuration]:
    """Return the rows of the study, as the paper's Tables 5 and 6 have them; none of a part that is off.

    Args:
        searcher: Whose map, if it has one, makes rows of its own.
        reach: How a draft would search, which is "hybrid" below where it is sparse and dense; rows leave parts out.
        augmenter: Which of `glossary`, `rewrite` and `expand` are in use.
    """
    return [
        *_untuned(searcher, reach, augmenter).values(),
        *(tuned_configurations(searcher, reach, augmenter) if searcher.tuned is not None else ()),
    ]


def tuned_configurations(searcher: Retriever, reach: Reach, augmenter: Set[Part]) -> list[Configuration]:
    """Return the rows that a map behind the encoder changes: each as the row beside it, but for the map."""
    plain, stages = _untuned(searcher, reach, augmenter), _stages(reach)
    ways = ["dense", stages, "dense + rerank", f"{stages} + rerank", f"{_whole(reach)} + glossary"]
    ways.append(_augmented(reach, augmenter))
    return [
        replace(plain[name], name=f"{name}, tuned", retriever=searcher)
        for name in dict.fromkeys(ways)
        if name in plain and plain[name].reach.dense
    ]


def _untuned(searcher: Retriever, reach: Reach, augmenter: Set[Part]) -> dict[str, Configuration]:
    """Return the rows without a map, by name."""
    retriever = searcher.tuned_by(None)
    full = replace(reach, rerank=reach.rerank and retriever.reranker is not None)
    rows = [*_by_stages(retriever, full), *_by_queries(retriever, full, augmenter)]
    return {row.name: row for row in rows}


def _by_stages(retriever: Retriever, full: Reach) -> list[Configuration]:
    """Return the rows of the paper's Table 6: the question itself, by first stages alone and together."""
    fusion = replace(full, rerank=False)
    alone = [replace(fusion, dense=False, late=False)] if full.sparse else []
    alone += [replace(fusion, sparse=False, late=False)] if full.dense else []
    together = [replace(fusion, late=late) for late in (False, True) if len(alone) + late > 1]
    rows = [
        Configuration(f"sparse ({each.sparse_name})", _plain, alone[0], each)
        for each in (*retriever.by_each_sparse(), retriever)
        if full.sparse
    ]
    rows += [
        Configuration(_stages(way), _plain, way, retriever)
        for way in (*alone, replace(fusion, sparse=False, dense=False, late=True), *together)
        if _stages(way) != "sparse"
    ]
    if full.rerank:
        ways = {_stages(way): way for way in (*alone, full)}
        rows += [
            Configuration(f"{name} + rerank", _plain, replace(way, rerank=True), retriever)
            for name, way in ways.items()
        ]
    return rows


def _by_queries(retriever: Retriever, full: Reach, augmenter: Set[Part]) -> list[Configuration]:
    """Return the rows of the paper's Table 5: all of the search, by what is made of the question."""
    whole = _whole(full)
    made: list[tuple[Part, str, Callable[[Queries], tuple[str, ...]]]] = [
        ("glossary", "glossary", _with_terms),
        ("rewrite", "rewriting", _rewritten),
        ("expand", "expansion", _expanded),
    ]
    rows = [Configuration(f"{whole} + {word}", ask, full, retriever) for part, word, ask in made if part in augmenter]
    if both := _augmented(full, augmenter):
        rows.append(Configuration(both, _everything, full, retriever))
        papers = " (the paper's)" if {"rewrite", "expand"} <= augmenter else ""
        rows.append(Configuration(f"the same without the question itself{papers}", _only_model, full, retriever))
        others = {"sparse": replace(full, sparse=False), "dense": replace(full, dense=False)}
        rows += [
            Configuration(f"the same, {name} off", _everything, way, retriever)
            for name, way in others.items()
            if way != full and _stages(way)
        ]
    return rows


def _stages(reach: Reach) -> str:
    named = (("sparse", reach.sparse), ("dense", reach.dense), ("late interaction", reach.late))
    return " + ".join(name for name, is_on in named if is_on)


def _whole(reach: Reach) -> str:
    stages = _stages(reach)
    return "hybrid" if stages == "sparse + dense" else stages


def _augmented(reach: Reach, augmenter: Set[Part]) -> str:
    """Name what is searched with all that a model made of a question; empty where none was asked."""
    asked = [word for part, word in _BY_MODEL.items() if part in augmenter]
    return " + ".join([_whole(reach), *asked]) if asked else ""


def measured(row: Configuration, targets: Sequence[Target], queries: Mapping[str, Queries]) -> Measured:
    """Search for every question in one way."""
    ranks: list[int | None] = []
    for target in targets:
        found = row.retriever.search(row.queries(queries[target.id]), row.reach)
        ids = [each.passage.id for each in found]
        ranks.append(next((rank for rank, each in enumerate(ids, 1) if each in target.passages), None))
    return Measured(row.name, tuple(ranks))


def page(rows: Sequence[Measured], about: Sequence[str]) -> str:
    """Return the table as Markdown, with what it was measured on."""
    head = " | ".join(f"recall@{depth}" for depth in DEPTHS)
    lines = ["# What finds the passages", "", *(f"- {each}" for each in about), "", f"| | {head} | MRR |"]
    lines.append("|---|" + "---:|" * (len(DEPTHS) + 1))
    for row in rows:
        cells = " | ".join(f"{row.found(depth) / len(row.ranks):.3f}{_bounds(row.recall(depth))}" for depth in DEPTHS)
        lines.append(f"| {row.name} | {cells} | {row.mrr:.3f} |")
    return "\n".join([*lines, "", "In brackets: 95 % intervals (Wilson).", ""])


def _bounds(interval: Interval | None) -> str:
    return f" ({interval.low:.2f}–{interval.high:.2f})" if interval is not None else ""

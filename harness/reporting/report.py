"""What `klartext harness report` does: gather the facts, write the files that were asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bot import Assistant, BadData
from harness.files import writing
from harness.judging.rescore import by_people
from harness.labelling.labels import verdicts_on
from harness.patients.vignettes import ALL, load_vignettes
from harness.reporting.board import Board
from harness.reporting.facts import Context, Facts, facts_of, load_costs
from harness.running.run import Run, kept_answers, load_run, nothing_answered


@dataclass(frozen=True, slots=True)
class Wanted:
    """Files to write; None: not that one. `language` is that of the top of the page."""

    html: Path | None = None
    csv: Path | None = None
    junit: Path | None = None
    fhir: Path | None = None
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Sources:
    """What a report is made from, besides the run.

    Attributes:
        catalog: That of the run, by name or folder: it knows the answers' texts; empty: they are kept beside the run.
        data: Where the assistant keeps what it has parsed: reading a catalog anew takes seconds.
        baseline: Folder of an earlier run.
        costs: What the questions cost; None: ``costs.json`` of the run, if it has one.
    """

    catalog: str
    data: Path | None = None
    baseline: Path | None = None
    costs: Path | None = None


def gather(run: Run, sources: Sources) -> Facts:
    """Return what a report says.

    Raises:
        BadData: The run is against another catalog, or holds nothing that is right or wrong.
    """
    judged = by_people(run)
    run = judged.run
    if all(outcome.right is None and outcome.met is None and not outcome.unjudged for outcome in run.outcomes):
        raise nothing_answered(run.folder, run.outcomes)
    language = run.outcomes[0].lang
    name = run.identity.get("catalog", "").partition("@")[0]
    answers: dict[str, str] = {}
    stale, approved = False, None
    if not sources.catalog:
        answers = kept_answers(run.folder) or {}
    elif name:
        opened = Assistant.open(sources.catalog, data=sources.data, sample=True, languages=[language])
        loaded = opened.catalog(language)
        if loaded.name != name:
            raise BadData(
                f"{run.folder} is a run against {name!r}, but the catalog is {loaded.name!r}. "
                "Choose it with `--catalog`."
            )
        stale = loaded.content_hash != run.identity.get("catalog_hash")
        answers = {pair.id: pair.answer for pair in loaded.pairs}
        approved = sum(pair.review.status == "approved" for pair in loaded.pairs), len(loaded.pairs)
    try:
        vignettes = load_vignettes(language, names=[ALL])
    except BadData:  # nobody wrote vignettes in this language: then nothing is wanted of its questions
        vignettes = ()
    verdicts = verdicts_on(run.folder, run.suite)
    targets = {vignette.id: vignette.targets for vignette in vignettes}
    titles = {vignette.id: vignette.title for vignette in vignettes}
    costs = load_costs(run.folder, sources.costs)
    context = Context(verdicts, answers, targets, costs, stale, titles=titles, approved=approved, judged=judged)
    baseline = by_people(load_run(sources.baseline)).run if sources.baseline is not None else None
    return facts_of(run, baseline, context)


def write(facts: Facts, wanted: Wanted, *, now: datetime, board: Board | None = None) -> list[Path]:
    """Write the files and return their paths; `board` stands at the top of the page.

    Raises:
        BadData: A file cannot be written.
    """
    from harness.reporting.exports import junit_xml, measure_report, tables
    from harness.reporting.page import render

    made: list[tuple[Path | None, Callable[[], str]]] = [
        (wanted.html, lambda: render(facts, made=now, board=board, language=wanted.language)),
        (wanted.junit, lambda: junit_xml(facts)),
        (wanted.fhir, lambda: measure_report(facts, now=now)),
    ]
    if wanted.fhir is not None and facts.scores is None:
        raise BadData("A MeasureReport counts questions with a right pair, and this run has none. Leave out `--fhir`.")
    files = [(path, make()) for path, make in made if path is not None]
    if wanted.csv is not None:
        files += [(wanted.csv / f"{name}.csv", text) for name, text in tables(facts).items()]
    for path, text in files:
        with writing(path, "Choose another place."):
            # Half of a surrogate pair may come in from a suite, and no file can hold it.
            path.write_bytes(text.encode("utf-8", "replace"))
    return [path for path, _ in files]

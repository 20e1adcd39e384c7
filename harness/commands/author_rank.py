"""`klartext author rank`: rank texts by how far each helps small evaluators to solve tasks made from our content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bot import BadData, Catalog, MissingExtra, Pair, Settings, friendly_errors, load_catalog, locate, make_encoder
from harness.commands import options
from harness.commands.authoring import WorkPath, carry_on
from harness.console import counted, nearest, plain_console, plain_table, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.authoring.ranking.asking import Gathered, Plan
    from harness.authoring.ranking.evaluators import EmbeddingEvaluator, Evaluator
    from harness.authoring.ranking.report import Ranked
    from harness.authoring.ranking.tasks import Item

TRANSFORMER = "transformer"


@dataclass(frozen=True, slots=True)
class RankedTexts:
    """Which texts compete, and on which tasks."""

    pair: Annotated[
        list[str] | None, typer.Option("--pair", help="Id of a pair; repeatable. Default: all.", metavar="ID")
    ] = None
    candidates: Annotated[
        list[Path] | None,
        typer.Option("--candidates", help="Texts as JSON lines: pair, system, text; repeatable.", metavar="FILE"),
    ] = None
    manner: Annotated[
        list[str] | None,
        typer.Option(
            "--manner",
            help="How a model writes: plain, short, spoken, unaided; repeatable. Default: all, none with texts given.",
            metavar="NAME",
        ),
    ] = None
    expert: Annotated[
        Literal["easy", "answer", "short"], typer.Option("--expert", help="Which text of the pair is the expert's.")
    ] = "easy"
    statements: Annotated[
        Literal["both", "rules"], typer.Option("--statements", help="Tasks by rules and a model, or by rules only.")
    ] = "both"
    quizzes: Annotated[
        list[Path] | None,
        typer.Option("--quizzes", help="Quizzes: JSON lines, or what `author quiz` wrote; repeatable.", metavar="FILE"),
    ] = None
    catalog: options.CatalogPath = "mammography"
    lang: options.Language = "de"

    def of_expert(self, pair: Pair) -> str:
        """Return the expert's text of a pair; the whole answer where there is no other."""
        texts = {"easy": pair.easy_answer, "answer": pair.answer, "short": pair.short_answer}
        return texts[self.expert] or pair.answer


@dataclass(frozen=True, slots=True)
class RankMeans:
    """How texts are ranked, and who ranks beside."""

    evaluator: Annotated[
        str,
        typer.Option(
            "--evaluator", help="embedding, or an encoder to fine-tune.", metavar="embedding|transformer:FOLDER"
        ),
    ] = "embedding"
    encoder: options.Encoder = "embedded"
    folds: Annotated[int, typer.Option("--folds", min=2, max=20, help="Parts of the pairs, each tested once.")] = 4
    shuffle: Annotated[int, typer.Option("--shuffle", min=0, help="Fixes folds, noise, and letters of the form.")] = 0
    ranks: Annotated[
        list[Path] | None,
        typer.Option("--ranks", help="`form.csv` filled in by a person; repeatable.", metavar="FILE"),
    ] = None

    def open(self, reading: EmbeddingEvaluator) -> Evaluator:
        """Return the evaluator; raise UserFixable when there is none of that name, or its extra is missing."""
        kind, _, folder = self.evaluator.partition(":")
        if kind == "embedding" and not folder:
            return reading
        if kind != TRANSFORMER or not folder:
            raise BadData(f"There is no evaluator {self.evaluator!r}. Give `embedding` or `transformer:FOLDER`.")
        if not Path(folder).is_dir():
            raise BadData(
                f"{folder} is no folder. Give that of a downloaded encoder: `--evaluator transformer:FOLDER`."
            )
        try:
            from harness.authoring.ranking.transformer import TransformerEvaluator
        except ImportError as error:
            raise MissingExtra(feature="Fine-tuning an evaluator", extra="sentence-transformers") from error
        return TransformerEvaluator(Path(folder))


def rank(
    out: WorkPath,
    texts: RankedTexts,
    means: RankMeans,
    asking: options.ModelOptions,
    json_: options.Json = False,
) -> None:
    """Rank texts by how far each helps a small evaluator to solve tasks on its pair; people rank beside it."""
    from harness.authoring.ranking.asking import Plan, gather, load_texts
    from harness.authoring.ranking.evaluators import EmbeddingEvaluator
    from harness.authoring.ranking.raters import FEWEST, Form, compared, read_all_ranks
    from harness.authoring.ranking.report import Ranked, as_json, write_result
    from harness.authoring.ranking.study import EXPERT, Study, run_study
    from harness.authoring.ranking.tasks import attached, read_candidates, read_quizzes, rule_items
    from harness.authoring.workshop import Workshop

    with friendly_errors():
        catalog, words = load_catalog(locate(texts.catalog), texts.lang), load_texts(texts.lang)
        given: dict[str, dict[str, str]] = {}
        for path in texts.candidates or ():
            _merge(given, read_candidates(path), path)
        pair_ids = _pairs(catalog, texts.pair, given)
        quizzes = [item for path in texts.quizzes or () for item in read_quizzes(path)]
        _require_known(catalog, [item.pair_id for item in quizzes])
        manners = tuple(texts.manner if texts.manner is not None else () if given else words.manners)
        plan = Plan(catalog, pair_ids, tuple(dict.fromkeys(manners)), texts.statements == "both", words)
        encoder = make_encoder(means.encoder, Settings.from_environment())
        reading = EmbeddingEvaluator(encoder, words.rules.negations)
        evaluator = means.open(reading)
        identity = _identity(plan, texts.lang)
        workshop = Workshop.open(out, identity, lambda: gather(plan))
        advanced = carry_on(workshop, asking)
        wrote: Gathered | None = advanced.result
        if wrote is None:
            raise ValueError("a work without prompts that wait has a result")
        candidates = {EXPERT: {id_: texts.of_expert(catalog.pair(id_)) for id_ in pair_ids}, **given}
        _merge(candidates, wrote.candidates, None)
        complete = [id_ for id_ in pair_ids if all(id_ in of for of in candidates.values())]
        candidates = {name: {id_: of[id_] for id_ in complete} for name, of in candidates.items()}
        # Before anything is trained, which takes long.
        form = Form(catalog, candidates, words.form.heading, means.shuffle)
        ranks = read_all_ranks(means.ranks or (), form)
        items: list[Item] = [
            *rule_items(catalog, complete, words.rules),
            *wrote.items,
            *quizzes,
            *attached([catalog.pair(id_) for id_ in complete]),
        ]
        study = Study(catalog, candidates, items, words, reading, means.folds, means.shuffle)
        outcome = run_study(study, evaluator)
        people = compared(ranks, outcome, study.systems) if ranks else None
        hashes = {one.id: one.hash for one in plan.asks()}
        provenance = {
            "work": identity,
            "prompts": {
                id_: {"model": model, "prompt": hashes.get(id_.partition("#")[0], ""), "answered": _how(asking)}
                for id_, model in advanced.models.items()
            },
            "unusable": dict(advanced.unusable),
            "encoder": encoder.name,
        }
        ranked = Ranked(study, outcome, people, [id_ for id_ in pair_ids if id_ not in complete], provenance)
        write_result(out, ranked, form if len(complete) >= FEWEST else None)
        if json_:
            print_json(as_json(ranked))
        else:
            _show(ranked, out)


def _how(asking: options.ModelOptions) -> str:
    return "live" if asking.live else "offline"


def _merge(into: dict[str, dict[str, str]], more: Mapping[str, Mapping[str, str]], path: Path | None) -> None:
    """Add texts of systems; raise BadData where a name is taken."""
    from harness.authoring.ranking.study import CONTROLS, EXPERT

    for name, of in more.items():
        if name in into or name in (EXPERT, *CONTROLS):
            where = f"{path}: t" if path else "T"
            raise BadData(f"{where}he name {name!r} is taken by other texts. Call the system otherwise.")
        into[name] = dict(of)


def _pairs(catalog: Catalog, named: Sequence[str] | None, given: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """Return which pairs are ranked: those named, else those that files have texts for, else all."""
    _require_known(catalog, [*(named or ()), *(id_ for of in given.values() for id_ in of)])
    if named:
        return tuple(dict.fromkeys(named))
    covered = {id_ for of in given.values() for id_ in of}
    return tuple(pair.id for pair in catalog.pairs if not given or pair.id in covered)


def _require_known(catalog: Catalog, ids: Sequence[str]) -> None:
    known = {pair.id for pair in catalog.pairs}
    unknown = next((id_ for id_ in ids if id_ not in known), None)
    if unknown is not None:
        raise BadData(f"There is no pair {unknown[:60]!r} in this catalog. Nearest: {nearest(unknown, known)}.")


def _identity(plan: Plan, lang: str) -> dict[str, str]:
    """Return what the prompts depend on."""
    prompts: list[Any] = [(one.id, one.hash) for one in plan.asks()]
    return {
        "work": "ranking",
        "language": lang,
        "pairs": ", ".join(plan.pair_ids),
        "manners": ", ".join(plan.manners),
        "prompts": hashlib.sha256(repr(prompts).encode()).hexdigest()[:16],
    }


def _show(ranked: Ranked, out: Path) -> None:
    from harness.authoring.ranking.report import FORM, PAGE

    console = plain_console(soft_wrap=True)
    study, outcome = ranked.study, ranked.outcome
    table = plain_table("Mean rank of each text over pairs, 1 the best", "evaluator", "task", *study.systems)
    for one in outcome.solved:
        table.add_row(one.evaluator, one.task, *(f"{mean:.2f}" for mean in one.ranks(controls=False).mean(axis=0)))
    console.print(table)
    for one in outcome.solved:
        misled = [control for control, before in one.misled_by.items() if before]
        console.print(f"{one.evaluator}, {one.task}: misled by {', '.join(misled) or 'none'}.")
    people = ranked.compared
    if people is not None:
        for name, alpha in people.alpha.items():
            console.print(
                f"Krippendorff's alpha, {name}: " + ("undefined" if alpha.value is None else f"{alpha.value:.2f}")
            )
        for (evaluator, task), how in people.agreement.items():
            if task == "all" and how.tau is not None:
                console.print(f"{evaluator} beside the people: Kendall's tau-b {how.tau:.2f} over {how.n} examples.")
    elif (out / FORM).is_file():
        console.print(f"Give {out / FORM} to people who rank, one copy each; then `--ranks FILE` for each of them.")
    console.print(f"{counted(len(study.pair_ids), 'pair')}: everything is in {out / PAGE}.")

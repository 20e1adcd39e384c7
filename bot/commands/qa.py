"""`klartext qa`: the commands of curators."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot import wiring
from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.catalog.catalog import language_files, load_catalog, locate
from bot.catalog.exchange.exchange import WRITTEN, ReadOptions, read_foreign, write_foreign
from bot.catalog.exchange.expecting import expect
from bot.catalog.exchange.placing import add_drafts, write_catalog
from bot.catalog.exchange.question_set import catalog_name
from bot.catalog.exchange.tables import Layout, columns_named, delimiter_named
from bot.catalog.fhir_files import write_text
from bot.catalog.lint import lint, worst
from bot.catalog.site import site_findings
from bot.commands.exchange import checkin, checkout
from bot.commands.heard import emergencies_among_variants
from bot.commands.language import lint_languages
from bot.curation.clusters import NOTHING, Suggest, Suggestion
from bot.errors import BadData, UserFixable, friendly_errors
from bot.languages.files import is_code
from bot.languages.opening import open_languages
from bot.matching.calibration import Judged, Limit, Row, choose_with_risk, risk_table, smallest_sample
from bot.matching.training import judge_calibration
from bot.ports import Encoder
from bot.settings import Settings

qa = typer.Typer(help="Curate question-answer pairs.", no_args_is_help=True)
qa.command()(checkout)
qa.command()(checkin)


CatalogArgument = Annotated[str, typer.Argument(help="A shipped exam, or a catalog folder.")]


@qa.command("lint")
def lint_(
    catalog: CatalogArgument = "mammography",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show notes too, such as drafts.")] = False,
) -> None:
    """Check a catalog; exit 1 if anything is wrong."""
    with friendly_errors():
        folder = locate(catalog)
        settings = Settings.from_environment()
        own = [
            *lint_languages(folder, settings.languages),
            *site_findings(settings.site, exam=folder, languages=tuple(language_files(folder))),
        ]
        found = lint(folder, today=date.today(), encoder=EmbeddedEncoder())
        findings = [*own, *found, *emergencies_among_variants(folder)]
        for finding in findings:
            if verbose or finding.severity != "info" or finding.rule == "confusable":
                print(finding.as_line())
        counts = {name: sum(finding.severity == name for finding in findings) for name in ("error", "warning", "info")}
        print(f"{folder}: {counts['error']} errors, {counts['warning']} warnings, {counts['info']} notes")
    raise typer.Exit(1 if worst(findings) == "error" else 0)


@qa.command("list")
def list_(catalog: CatalogArgument = "mammography") -> None:
    """List the pairs with their review status and number of variants."""
    with friendly_errors():
        folder = locate(catalog)
        for language in language_files(folder):
            loaded = load_catalog(folder, language)
            print(f"{loaded.ref} ({language}), {len(loaded.pairs)} pairs")
            for pair in loaded.pairs:
                print(f"  {pair.id:24} {pair.review.status:9} {len(pair.variants):4} variants  {pair.question}")


@qa.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="What another assistant exported, or a table: a file, folder or zip.")],
    out: Annotated[Path, typer.Option(help="Folder of the catalog to write, or to add to.")],
    lang: Annotated[
        list[str], typer.Option("--lang", help="Language of the questions; more than one: which.", metavar="LANG")
    ],
    name: Annotated[str | None, typer.Option("--name", help="Name of the catalog; default: the folder's.")] = None,
    add: Annotated[bool, typer.Option("--add", help="Add drafts to the catalog that is there.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be imported; write nothing.")] = False,
    format_: Annotated[str | None, typer.Option("--format", help="Format of the file; default: found out.")] = None,
    column: Annotated[
        list[str] | None, typer.Option("--column", help="ROLE=NAME of a table's column, or its number.")
    ] = None,
    delimiter: Annotated[str | None, typer.Option("--delimiter", help="Between the cells of a table.")] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Of the texts, where it is not UTF-8.")] = None,
    prefix: Annotated[str, typer.Option("--prefix", help="Put before the ids.")] = "",
) -> None:
    """Make a catalog of drafts from another assistant's questions and answers, or add them to one."""
    with friendly_errors():
        layout = Layout(columns_named(column or []), delimiter_named(delimiter))
        options = ReadOptions(format_, encoding, layout, prefix)
        for code in lang:
            if not is_code(code):
                raise BadData(f"`--lang` is {code!r}. Write the two letters of a language (ISO 639-1), such as de.")
        imported = read_foreign(file, list(dict.fromkeys(lang)), options)
        report = imported.report
        variants = sum(report.variants.values())
        if dry_run:
            for line in report.lines():
                print(line)
            for line in expect(imported, out if add else None, today=date.today()).lines():
                print(line)
            print("Nothing was written.")
            return
        if add:
            add_drafts(imported, out)
        else:
            write_catalog(imported, out, name=catalog_name(name or out.resolve().name))
        print(
            f"{out}: {sum(report.pairs.values())} pairs, {variants} variants, {report.background} background questions"
        )
        if report.placeholders:
            print(f"{report.placeholders} pairs have a placeholder instead of an answer and stay drafts.")
        if report.left or report.stripped:
            print(
                f"{len(report.left)} left out ({report.flows} parts of conversations), marks taken off in "
                f"{len(report.stripped)} pairs; `--dry-run` lists them."
            )


@qa.command("export")
def export(
    out: Annotated[Path, typer.Option("--out", help="File or folder to write.")],
    catalog: CatalogArgument = "mammography",
    format_: Annotated[str, typer.Option("--format", help=f"One of {', '.join(WRITTEN)}.")] = "json",
    lang: Annotated[
        list[str] | None, typer.Option("--lang", help="Which languages; default: all.", metavar="LANG")
    ] = None,
) -> None:
    """Write a catalog in another assistant's format; JSON keeps everything."""
    with friendly_errors():
        folder = locate(catalog)
        languages = list(dict.fromkeys(lang)) if lang else list(language_files(folder))
        written = write_foreign([load_catalog(folder, each) for each in languages], format_, out)
        print(f"{out}: {written.pairs} pairs")
        if written.lost:
            print(f"This format has no place for {', '.join(written.lost)}.")


@qa.command("inbox")
def inbox_(
    since: Annotated[str | None, typer.Option("--since", help="Only from this moment on.", metavar="TIME")] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write them to a file, too.", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")] = False,
    scrub: Annotated[bool, typer.Option("--scrubbed", help="Replace names, dates and other personal data.")] = False,
    by_meaning: Annotated[bool, typer.Option("--clusters", help="One line for questions that mean the same.")] = False,
    catalog: Annotated[str, typer.Option("--catalog", help="Whose pairs --clusters suggests.")] = "mammography",
    exam: Annotated[str | None, typer.Option("--exam", help="Of one exam only, by its name.", metavar="NAME")] = None,
    data: Annotated[Path | None, typer.Option("--data", help="Folder of the database.")] = None,
) -> None:
    """List what patients asked without getting an answer, and the answers they flagged."""
    from bot.commands import inbox
    from bot.curation.scrub import NOTICE

    with friendly_errors():
        items = inbox.read_inbox(Settings.from_environment(data=data), since, exam)
        if scrub:
            items = inbox.scrubbed(items)
            typer.echo(NOTICE, err=True)
        if csv is not None:
            write_text(csv, inbox.as_csv(items))
        if by_meaning:
            suggest = _suggesting(catalog, data) if items else None
            groups = inbox.clusters(items, EmbeddedEncoder(), suggest)
            lines = (json.dumps(inbox.group_as_json(each)) for each in groups) if as_json else inbox.as_groups(groups)
        else:
            lines = (json.dumps(each.as_json()) for each in items) if as_json else inbox.as_rows(items)
        for line in lines:
            print(line)
        if not as_json:
            print(inbox.counted(items) + (f", {len(groups)} groups" if by_meaning else ""))


def _suggesting(catalog: str, data: Path | None) -> Suggest:
    """Return what asks the assistant which pair fits best; in a language that the catalog lacks, none does."""
    from bot.assistant import Assistant

    assistant = Assistant.open(catalog, data=data, encoder=EmbeddedEncoder(), sample=True)

    def suggest(texts: Sequence[str], language: str) -> list[Suggestion]:
        if language not in assistant.languages:
            return [NOTHING] * len(texts)
        answers = assistant.answer_all(texts, language, ignore_flags=True)
        ranked = [answer.candidates[0] if answer.candidates else None for answer in answers]
        return [Suggestion(best.pair_id, best.score) if best is not None else NOTHING for best in ranked]

    return suggest


@qa.command("scrub")
def scrub_(
    lang: Annotated[Literal["de", "en"], typer.Option("--lang", help="Language of the questions.")],
    clean: Annotated[
        Path | None, typer.Option("--clean", help="Questions without personal data, one a line.", metavar="FILE")
    ] = None,
) -> None:
    """Print how much personal data is found in made-up questions, and what is taken from questions without any."""
    from bot.curation.scrub_cases import spliced
    from bot.curation.scrub_report import measured

    with friendly_errors():
        if clean is not None and not clean.is_file():
            raise BadData(f"There is no file {str(clean)!r}. Give a text file with one question a line.")
        lines = clean.read_text(encoding="utf-8").splitlines() if clean is not None else []
        for line in measured(list(spliced(lang)), [line for line in lines if line.strip()], lang):
            print(line)


@qa.command("clusters")
def clusters(
    files: Annotated[list[Path], typer.Argument(help="JSON lines with `text`, `lang` and `pair_id`, as in suites.")],
) -> None:
    """Print how well questions are put together by meaning, at several thresholds, beside two simpler ways."""
    from bot.commands.inbox import study_files

    with friendly_errors():
        for line in study_files(files, EmbeddedEncoder()):
            print(line)


@qa.command("calibrate")
def calibrate(
    catalog: CatalogArgument = "mammography",
    risk: Annotated[float, typer.Option(min=0.001, max=0.5, help="Largest share of wrong direct answers.")] = 0.03,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="With which it must be shown.")] = 0.95,
    data: Annotated[Path | None, typer.Option("--data", help="Folder for index and heads.")] = None,
) -> None:
    """Print what each threshold means on the calibration questions, and which one keeps the risk in every stratum."""
    from bot.adapters.embedded_encoder import EmbeddedEncoder

    with friendly_errors():
        folder = locate(catalog)
        settings = Settings.from_environment(data=data)
        for line in calibration_report(folder, EmbeddedEncoder(), settings, Limit(risk, confidence)):
            print(line)


@qa.command("alarm")
def alarm(
    catalog: CatalogArgument = "mammography",
    *,
    lang: Annotated[str, typer.Option("--lang", help="Language of the examples.", metavar="LANG")],
    real: Annotated[
        Path | None,
        typer.Option("--real", help="Real people's questions: lines of U (urgent), S (soon) or N, a tab, the text."),
    ] = None,
    recall: Annotated[
        float,
        typer.Option("--recall", min=0.5, max=1.0, help="Of emergencies by unseen authors, that the threshold keeps."),
    ] = 0.97,
    write: Annotated[bool, typer.Option("--write", help="Store the weights and the threshold.")] = False,
) -> None:
    """Print what the alarm hears of authors it was not taught by, at each threshold."""
    from bot.matching.alarm_report import study_alarm, write_decision
    from bot.matching.training import canonical_texts, indexed_texts
    from bot.text import sanitise

    with friendly_errors():
        open_languages(Settings.from_environment().languages, [lang])
        loaded = load_catalog(locate(catalog), lang)
        ordinary = [text for _, text in indexed_texts(loaded)[len(canonical_texts(loaded)) :]]
        # A catalog without calibration questions has those of its pairs.
        asked = [question.text for question in loaded.calibration] or [pair.question for pair in loaded.pairs]
        unseen = [sanitise(text).text for text in asked]
        study = study_alarm(lang, ordinary, unseen, EmbeddedEncoder(), real=real, recall=recall)
        for line in study.lines():
            print(line)
        print(f"Threshold {study.decision.threshold:.2f}: recall {study.recall(study.decision.threshold):.3f}.")
        if write:
            print(f"Written: {write_decision(lang, study.decision)}")


@qa.command("simple")
def simple(
    catalog: CatalogArgument = "mammography",
    write: Annotated[bool, typer.Option("--write", help="Write the weights that the chat uses.")] = False,
) -> None:
    """Learn by which words somebody with little of the language is known, and say how well that works."""
    from bot.matching import simple_words

    with friendly_errors():
        folder = locate(catalog)
        for language in language_files(folder):
            loaded = load_catalog(folder, language)
            weights = simple_words.fit(loaded)
            found = simple_words.quality(loaded, weights)
            told = f"{found.recall:.1%} of such messages known, {found.false_alarms:.2%} of others taken for one"
            print(f"{language}: {told}")
            if write:
                print(f"written: {simple_words.write(language, weights)}")


@qa.command("context")
def context(
    catalog: CatalogArgument = "mammography",
    data: Annotated[Path | None, typer.Option("--data", help="Folder for index and heads.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Store the weights and the limits.")] = False,
) -> None:
    """Print what is done with follow-ups of authors that nothing was fitted on; fit the weights on all of them."""
    from bot.assistant import Assistant
    from bot.commands.context import studied
    from bot.matching.context_fit import write_weights

    with friendly_errors():
        assistant = Assistant.open(catalog, data=data, encoder=EmbeddedEncoder(), sample=True)
        study = studied(assistant, locate(catalog))
        for line in study.lines():
            print(line)
        for corpus, fitted in zip(study.corpora, study.fitted, strict=True):
            limits = (f"{name} {value:.2f}" for name, value in asdict(fitted.limits).items())
            print(f"{corpus.language}: {', '.join(limits)}")
        if write:
            for path in write_weights([corpus.language for corpus in study.corpora], study.fitted):
                print(f"Written: {path}")


SHOWN_EVERY = 5  # rows of the table between two that are printed


def calibration_report(folder: Path, encoder: Encoder, settings: Settings, limit: Limit) -> Iterator[str]:
    """Yield the lines of the report, language by language.

    Raises:
        UserFixable: There are no calibration questions, or too few to support the limit.
    """
    showing = wiring.Showing(sample=True, today=date.today())
    for language in language_files(folder):
        opened = wiring.open_language(folder, language, encoder, settings, showing)
        judged = judge_calibration(opened.catalog, opened.shown, opened.trained.head, encoder)
        if judged is None:
            raise UserFixable(
                f"{folder} has no calibration questions in {language!r}, so no risk can be stated. "
                f"Write {folder}/calibration/{language}.jsonl: at least {smallest_sample(limit)} questions a stratum."
            )
        yield from _language_report(language, judged, limit)


def _language_report(language: str, judged: Judged, limit: Limit) -> Iterator[str]:
    sizes = Counter(judged.stratum)
    counted = ", ".join(f"{name} {size}" for name, size in sizes.items())
    yield f"{language}: {len(judged.label)} questions that nothing was trained on ({counted})"
    smallest = min(sizes.values())
    if smallest < smallest_sample(limit):
        raise UserFixable(
            f"{smallest} questions in a stratum cannot show a risk of {limit.risk:.1%} at {limit.confidence:.0%} "
            f"confidence: at least {smallest_sample(limit)} are needed. Write more, or allow a larger `--risk`."
        )
    chosen = choose_with_risk(judged, limit)
    if chosen is None:
        raise UserFixable(
            f"No threshold keeps wrong direct answers below {limit.risk:.1%} at {limit.confidence:.0%} confidence in "
            "every stratum. Collect more variants and background questions, or allow a larger `--risk`."
        )
    yield "threshold  answered  right  wrong of all, by stratum" + " " * 30 + "p"
    for number, row in enumerate(risk_table(judged, limit)):
        if number % SHOWN_EVERY == 0 or row.answer == chosen.answer:
            yield _line(row) + ("  <- chosen" if row.answer == chosen.answer else "")
    yield (
        f"Direct answers from {chosen.answer:.2f}, choices from {chosen.clarify:.2f} together: with "
        f"{limit.confidence:.0%} confidence, at most {limit.risk:.1%} of all questions "
        "of any stratum get a wrong direct answer."
    )


def _line(row: Row) -> str:
    wrong = "  ".join(f"{name} {share:.3f}" for name, share in row.wrong.items())
    return f"{row.answer:9.2f}  {row.answered:8.3f}  {row.right:5.3f}  {wrong}  {row.p_value:.3f}"

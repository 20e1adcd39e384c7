"""`klartext author discuss`, `corruption`, `forms`: researcher and decider, the paper's experiment, raters' forms."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer
import yaml
from pydantic import Field, ValidationError

from bot import BadData, Settings, UserFixable, friendly_errors, load_catalog, locate
from harness.authoring.discussion.composition import Authorship, composition_of
from harness.authoring.discussion.content import as_draft, conversation_task, find_pair, pair_task, read_draft
from harness.authoring.discussion.conversation import Conversation, read_conversation
from harness.authoring.discussion.corruption import LEVELS, Experiment, TableRow, corruption_experiment, table_of
from harness.authoring.discussion.dialogue import MOST_TURNS, Choice, Discussed, improve, summarise
from harness.authoring.discussion.rating_form import FORM, Tally, rating_form, tally
from harness.authoring.discussion.report import (
    Provenance,
    advice_page,
    advice_record,
    compared_record,
    discussed_page,
    discussed_record,
    experiment_record,
    form_page,
    noting,
)
from harness.authoring.discussion.short_answers import (
    Compared,
    Dispute,
    Opinion,
    ShortAnswer,
    ShortCase,
    advise,
    open_answer,
)
from harness.authoring.discussion.texts import DiscussionTexts, Section, Task, load_texts
from harness.authoring.working import Work, together
from harness.authoring.workshop import Workshop
from harness.commands.authoring import WorkPath, carry_on
from harness.commands.options import ModelOptions
from harness.console import counted, plain_console, plain_table, printable
from harness.files import Record, as_document, first_fault, replace_text, unreadable, writing

if TYPE_CHECKING:
    from harness.labelling.labels import Label

T = TypeVar("T")
EXAM = "mammography"
TaskName = Literal["pair", "summary", "dispute", "answers"]
RESULT, PAGE, DRAFT, COMPOSITION = "result.json", "result.md", "draft.yaml", "composition.json"
ACCEPTED, FORM_PAGE = "accepted.json", "form.md"
SAMPLE = "Draft by a language model after a discussion of two agents. SAMPLE CONTENT, NOT APPROVED BY ANY CLINICIAN."
ToFile = Annotated[
    bool, typer.Option("--patient-text-to-file", help="Allow prompts with a patient's words to be written to files.")
]
Turns = Annotated[int, typer.Option("--turns", min=2, max=MOST_TURNS, help="Most turns of both together.")]


@dataclass(frozen=True, slots=True)
class Material:
    """From what is discussed, in which language, and where the work goes on."""

    out: WorkPath
    catalog: Annotated[
        str | None,
        typer.Option("--catalog", help="A shipped exam, or a catalog folder; default: mammography, or the run's."),
    ] = None
    lang: Annotated[
        Literal["de", "en"] | None,
        typer.Option("--lang", help="Language; default: German, or that of the conversation or run."),
    ] = None
    basis: Annotated[
        Path | None,
        typer.Option("--basis", help="Text that a pair must hold to, for example of a leaflet.", metavar="FILE"),
    ] = None
    turns: Turns = MOST_TURNS
    patient_text_to_file: ToFile = False

    def basis_text(self) -> str:
        """Return what `--basis` says; empty without it."""
        if self.basis is None:
            return ""
        try:
            text = self.basis.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadData(f"{self.basis} cannot be read ({unreadable(error)}). Give a text file.") from error
        if not text:
            raise BadData(f"{self.basis} is empty. Give a text file, or leave `--basis` out.")
        return text


@dataclass(frozen=True, slots=True)
class Decision:
    """What the person at the keyboard accepts."""

    accept: Annotated[
        str | None, typer.Option("--accept", help="Lines of the scratchpad to apply: `1,3`, `all`, `none`.")
    ] = None
    review: Annotated[bool, typer.Option("--review", help="Ask for each line of the scratchpad.")] = False
    accepted_by: Annotated[
        str, typer.Option("--accepted-by", help="Who accepts a summary as it is now: it becomes final.", metavar="NAME")
    ] = ""


def discuss(
    task: Annotated[TaskName, typer.Argument(help="What is discussed.", metavar="pair|summary|dispute|answers")],
    what: Annotated[
        str,
        typer.Argument(
            help="Id of a pair or a draft.yaml; an exported conversation; a run; a file of questions with answers."
        ),
    ],
    material: Material,
    decision: Decision,
    asking: ModelOptions,
) -> None:
    """Have a text or a short answer discussed by researcher and decider; a person accepts what is applied."""
    with friendly_errors():
        if decision.accept is not None and decision.review:
            raise BadData("`--accept` names the lines and `--review` asks for each. Give one of them.")
        if task in ("dispute", "answers") and (decision.accept is not None or decision.review):
            raise BadData(f"`discuss {task}` has no scratchpad to accept. Leave `--accept` and `--review` out.")
        if material.basis is not None and task != "pair":
            raise BadData(f"`--basis` is what a pair must hold to, and `discuss {task}` has none. Leave it out.")
        if decision.accepted_by and task != "summary":
            raise BadData("`--accepted-by` accepts a summary; pairs are approved in the console. Leave it out.")
        if task == "pair":
            _discuss_pair(what, material, decision, asking)
        elif task == "summary":
            _discuss_summary(Path(what), material, decision, asking)
        elif task == "dispute":
            _discuss_disputes(Path(what), material, asking)
        else:
            _discuss_answers(Path(what), material, asking)


@dataclass(frozen=True, slots=True)
class Study:
    """A work in its folder: what it is, whether it holds patients' words, and who is asked."""

    out: Path
    title: str
    identity: Mapping[str, str]
    asking: ModelOptions
    patient_text: bool = False
    to_file: bool = False

    def carry_on(self, work: Callable[[], Work[T]]) -> tuple[T, Provenance]:
        """Go on with a work as far as answers reach; where prompts wait, say so and exit.

        Raises:
            UserFixable: Patients' words would leave to where nobody allowed it.
        """
        prompts: dict[str, str] = {}
        asking = self._guarded()
        workshop = Workshop.open(self.out, self.identity, lambda: noting(work(), prompts))
        if self.patient_text and not asking.live and not self.to_file:
            waiting = workshop.go_on(asking.answers or ()).waiting
            if waiting:
                raise UserFixable(
                    f"{counted(len(waiting), 'prompt')} with a patient's words would be written to {self.out}. If that "
                    "is agreed with your data protection officer, give `--patient-text-to-file`; or ask a model with "
                    "`--model` at a host that KLARTEXT_ALLOW_PATIENT_TEXT_TO names."
                )
        advanced = carry_on(workshop, asking)
        result: Any = advanced.result
        return result, Provenance.of(self.title, advanced, prompts, live=asking.live)

    def _guarded(self) -> ModelOptions:
        """Return how a model is asked; what it answers about patients is kept in the folder of this work alone."""
        if not self.patient_text:
            return self.asking
        settings = Settings.from_environment()
        if self.asking.live and settings.model_url:
            settings.require_patient_text_allowed(settings.model_url)
        with writing(self.out / RESULT, "Choose another `--out`."):
            self.out.chmod(0o700)
        return replace(self.asking, store=self.asking.store or self.out / "answers.db")

    def write(self, name: str, text: str) -> None:
        with writing(self.out / name, "Choose another `--out`."):
            replace_text(self.out / name, text)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]


def _identity(kind: str, what: str, task: Task, turns: int, initial: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return all that the prompts of a discussion depend on."""
    content = _hash(task.material, *task.slots.values(), *(initial or {}).values(), *_prompts_of(task.texts))
    return {"kind": f"discuss {kind}", "what": what, "content": content, "turns": str(turns)}


def _prompts_of(texts: DiscussionTexts) -> Sequence[str]:
    return (texts.model_dump_json(),)


def _discuss_pair(what: str, material: Material, decision: Decision, asking: ModelOptions) -> None:
    language = material.lang or "de"
    texts = load_texts(language)
    basis = material.basis_text()
    if what.endswith((".yaml", ".yml")):
        draft = read_draft(what)
    else:
        draft = find_pair(what, load_catalog(locate(material.catalog or EXAM), language))
    task = pair_task(texts, draft, basis=basis)
    identity = _identity("pair", draft.pair.id, task, material.turns, draft.texts)
    study = Study(material.out, f"pair {draft.pair.id}", {**identity, "language": language}, asking)

    done, provenance = _decided(
        study, lambda choice: improve(task, draft.texts, choice, turns=material.turns), decision
    )
    _write_discussed(study, task, done, provenance, language)
    if done.final is not None:
        note = f"{SAMPLE} Improves {draft.pair.id} of {draft.origin}."
        study.write(DRAFT, as_draft(draft.with_texts(done.final), language=language, note=note))
        typer.echo(f"{material.out / DRAFT}: a draft; variants, extracts and review are not taken over")


def _discuss_summary(path: Path, material: Material, decision: Decision, asking: ModelOptions) -> None:
    conversation = read_conversation(path)
    language, texts = _language_of(conversation, material)
    task = conversation_task(texts, conversation, exam=locate(material.catalog or EXAM).name)
    identity = _identity("summary", _hash(conversation.id), task, material.turns)
    study = Study(
        material.out, f"summary {_hash(conversation.id)}", identity, asking, True, material.patient_text_to_file
    )

    done, provenance = _decided(study, lambda choice: summarise(task, choice, turns=material.turns), decision)
    _write_discussed(study, task, done, provenance, language)
    if done.final is None:
        if decision.accepted_by:
            raise BadData("There is no final text yet to accept. Decide on the scratchpad first: `--accept`.")
        return
    settings = Settings.from_environment()
    models = sorted({name for name in provenance.models.values() if name})
    authorship = Authorship(models, datetime.now(UTC).replace(microsecond=0), decision.accepted_by.strip())
    authorship = replace(authorship, patients=settings.fhir.patient_system)
    resource = composition_of(conversation, task.sections, done.final, authorship)
    study.write(COMPOSITION, as_document(resource))
    typer.echo(f"{material.out / COMPOSITION}: a FHIR Composition, {resource['status']}")


def _language_of(conversation: Conversation, material: Material) -> tuple[str, DiscussionTexts]:
    language = material.lang or conversation.language
    return language, load_texts(language)


def _decided(
    study: Study, work: Callable[[Choice | None], Work[Discussed]], decision: Decision
) -> tuple[Discussed, Provenance]:
    """Carry on with a discussion, and with what a person accepts now, or accepted before in this folder."""
    choice = Choice.parse(decision.accept) if decision.accept is not None else _kept_choice(study.out / ACCEPTED)
    if decision.review:
        done, _ = study.carry_on(lambda: work(None))
        choice = _reviewed(done)
        study = replace(study, asking=replace(study.asking, answers=None))
    if choice is None:
        return study.carry_on(lambda: work(None))
    try:
        found = study.carry_on(lambda: work(choice))
    except typer.Exit:  # prompts wait: the same command without `--accept` goes on when they are answered
        study.write(ACCEPTED, as_document({"accept": choice.as_text()}))
        raise
    choice.of(found[0].discussion.scratchpad)  # refuses lines that are not there, now that all answers are kept
    study.write(ACCEPTED, as_document({"accept": choice.as_text()}))
    return found


def _kept_choice(path: Path) -> Choice | None:
    try:
        return Choice.parse(json.loads(path.read_text(encoding="utf-8"))["accept"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadData(f"{path} does not say what was accepted. Say it again with `--accept`.") from error


def _reviewed(done: Discussed) -> Choice:
    """Ask for each line of the scratchpad whether it is applied."""
    console = plain_console(soft_wrap=True)
    lines = done.discussion.scratchpad
    accepted = []
    for number, line in enumerate(lines, 1):
        console.print(f"\n{number} of {len(lines)}: {printable(line)}")
        if typer.confirm("Apply it?"):
            accepted.append(number)
    return Choice(tuple(accepted))


def _write_discussed(study: Study, task: Task, done: Discussed, provenance: Provenance, language: str) -> None:
    page = discussed_page(study.title.capitalize(), task, done, language)
    study.write(RESULT, as_document(discussed_record(task, done, provenance)))
    study.write(PAGE, page)
    if done.final is not None:
        study.write(FORM, rating_form(task.texts.form))
        study.write(FORM_PAGE, form_page(task, done))
    console = plain_console(soft_wrap=True)
    console.print(page)
    console.print(f"All of it is in {study.out / PAGE} and {study.out / RESULT}.")
    if done.initial is None:
        raise BadData("No usable first version was written. Ask another model, in another `--out`.")
    if done.accepted is None:
        console.print("Say which lines to apply: the same command with `--accept 1,3`, `all` or `none`, or `--review`.")


def _discuss_disputes(run: Path, material: Material, asking: ModelOptions) -> None:
    from harness.labelling.labels import VERDICTS, Verdicts, label_files, load_labels
    from harness.labelling.session import RunTexts, disputed_items
    from harness.running.run import catalog_of, load_run

    loaded = load_run(run)
    run_texts = RunTexts.of(run, catalog_of(run, material.catalog))
    verdicts = Verdicts(load_labels(label_files(run, loaded.suite)))
    items = disputed_items(run_texts.outcomes, verdicts)
    if not items:
        raise BadData(f"Raters of {run} differ on nothing. See `klartext harness labels agreement {run}`.")
    answers = run_texts.shown(items)
    disputes = [
        Dispute(
            item.outcome.id,
            item.outcome.text,
            answers[item.pair_id],
            tuple(_opinion(label) for label in verdicts.deciding(*item.key)),
        )
        for item in items
    ]
    texts = load_texts(material.lang or run_texts.language)
    content = _hash(repr(disputes), *_prompts_of(texts))
    study = Study(material.out, f"dispute {run.name}", {"kind": "discuss dispute", "content": content}, asking)
    done, provenance = study.carry_on(lambda: advise(texts, disputes, verdicts=VERDICTS))
    study.write(RESULT, as_document(advice_record(done, provenance)))
    study.write(PAGE, advice_page("Advice on disputed labels", texts.dispute.summary, done))
    _show_advice(done, disputes)
    console = plain_console(soft_wrap=True)
    console.print(texts.dispute.summary.strip())
    console.print(f"The discussions are in {material.out / PAGE}. Decide with")
    console.print(f"`klartext harness labels give {run} --decide --rater NAME`.")


def _opinion(label: Label) -> Opinion:
    return Opinion(label.label, label.reasons, label.comment)


def _show_advice(done: Sequence[ShortAnswer], disputes: Sequence[Dispute]) -> None:
    shown = plain_table("Advice on disputed labels", "question", "raters", "votes before", "votes after", "advice")
    for one, dispute in zip(done, disputes, strict=True):
        shown.add_row(
            one.case.id,
            " / ".join(opinion.verdict for opinion in dispute.opinions),
            one.before.as_text(),
            one.after.as_text(),
            one.after.winner or "none",
        )
    plain_console(soft_wrap=True).print(shown)


class OpenQuestion(Record):
    """A question with its right answer; `pair` names the pair in which it stands, for whoever checks the file."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    pair: str = ""


class OpenQuestions(Record):
    """A file of questions with short answers."""

    asks: str = Field(min_length=1)
    questions: tuple[OpenQuestion, ...] = Field(min_length=1)


def _discuss_answers(path: Path, material: Material, asking: ModelOptions) -> None:
    try:
        asked = OpenQuestions.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadData(f"{path} cannot be read ({unreadable(error)}). Give questions with answers (YAML).") from error
    except ValidationError as error:
        raise BadData(f"{path} holds no questions with answers: {first_fault(error)}. Mend it.") from error
    doubled = {one.id for one in asked.questions if [each.id for each in asked.questions].count(one.id) > 1}
    if doubled:
        raise BadData(f"{path} has the id {sorted(doubled)[0]!r} twice. Give each question its own.")
    texts = load_texts(material.lang or "de")
    content = _hash(asked.model_dump_json(), *_prompts_of(texts))
    study = Study(material.out, f"answers {path.name}", {"kind": "discuss answers", "content": content}, asking)

    def work() -> Work[list[Compared]]:
        return together(
            [open_answer(texts, ShortCase(one.id, one.question, asked.asks), one.answer) for one in asked.questions]
        )

    done, provenance = study.carry_on(work)
    study.write(RESULT, as_document(compared_record(done, provenance)))
    _show_compared(done)


def _show_compared(done: Sequence[Compared]) -> None:
    shown = plain_table("Answers to open questions (table 3)", "answer", "exact", "similar", "questions")
    for number, name in enumerate(("five votes", "after the discussion")):
        exact = [one.exact[number] for one in done if one.exact[number] is not None]
        similar = [value for one in done if (value := one.similar[number]) is not None]
        shown.add_row(
            name,
            f"{sum(map(bool, exact)) / len(exact):.3f}" if exact else "-",
            f"{sum(similar) / len(similar):.3f}" if similar else "-",
            str(len(done)),
        )
    console = plain_console(soft_wrap=True)
    console.print(shown)
    for one in done:
        before, after = one.answer.before.winner or "none", one.answer.after.winner or "none"
        console.print(printable(f"{one.answer.case.id}: {before} -> {after} (expected: {one.expected})"))


def corruption(
    conversations: Annotated[
        list[Path], typer.Argument(help="Exported conversations (`klartext records export`).", metavar="FILE...")
    ],
    material: Material,
    asking: ModelOptions,
    levels: Annotated[str, typer.Option("--levels", help="How much is corrupted, of 10.")] = ",".join(map(str, LEVELS)),
) -> None:
    """Corrupt summaries, have them corrected in one pass and by discussion, and compare concepts (table 1)."""
    with friendly_errors():
        wanted = _levels(levels)
        if material.basis is not None:
            raise BadData("`--basis` is what a pair must hold to. Leave it out.")
        read = [read_conversation(path) for path in conversations]
        if len({one.id for one in read}) < len(read):
            raise BadData("One conversation is given twice. Give each once.")
        if len({one.language for one in read}) > 1:
            raise BadData("The conversations are in several languages. Give those of one language.")
        _, texts = _language_of(read[0], material)
        exam = locate(material.catalog or EXAM).name
        tasks = {f"c{number}": conversation_task(texts, one, exam=exam) for number, one in enumerate(read, 1)}
        content = _hash(*(task.material for task in tasks.values()), exam, *_prompts_of(texts))
        identity = {"kind": "corruption", "content": content, "levels": levels, "turns": str(material.turns)}
        study = Study(material.out, "corruption", identity, asking, True, material.patient_text_to_file)
        done, provenance = study.carry_on(lambda: corruption_experiment(tasks, wanted, turns=material.turns))
        sections = texts.tasks["summary"].sections
        rows = table_of(list(done.values()), sections, wanted)
        study.write(RESULT, as_document(experiment_record(done, rows, provenance)))
        _show_table(rows, sections, done)
        print(f"Texts, discussions and counts are in {material.out / RESULT}.")


def _levels(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 3 and 1 <= int(part) <= 10 for part in parts):
        raise BadData(f"`--levels {text}` holds no levels. Give whole numbers from 1 to 10, as in `--levels 3,5,7`.")
    return tuple(dict.fromkeys(int(part) for part in parts))


def _show_table(rows: Sequence[TableRow], sections: Sequence[Section], done: Mapping[str, Experiment]) -> None:
    scored = [section for section in sections if section.scored]
    columns = [*(section.title for section in scored), "average", "n"]
    shown = plain_table("F1 of concepts (GPT-F1), 0 to 100", "level, version", *columns)
    for row in rows:
        cells = [*(row.sections[section.key] for section in scored), row.average]
        shown.add_row(
            f"{row.level} {row.version}", *("-" if value is None else f"{value:.1f}" for value in cells), str(row.n)
        )
    console = plain_console(soft_wrap=True)
    console.print(shown)
    turns = [len(each.discussion.turns) for one in done.values() for each in one.levels]
    lines = [len(each.discussion.scratchpad) for one in done.values() for each in one.levels]
    if turns:
        console.print(
            f"{counted(len(turns), 'discussion')}: {sum(turns) / len(turns):.1f} turns and "
            f"{sum(lines) / len(lines):.1f} lines on the scratchpad on average."
        )


def forms(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of `discuss`, with filled forms.", metavar="FOLDER...")
    ],
    lang: Annotated[Literal["de", "en"], typer.Option("--lang", help="Language of the forms.")] = "de",
) -> None:
    """Count what raters said in filled forms (`form-NAME.csv`): preferred, captured, agreed, harmful (figure 2)."""
    with friendly_errors():
        texts = load_texts(lang).form
        found: list[tuple[Path, bool]] = []
        for folder in folders:
            filled = sorted(folder.glob("form-*.csv"))
            if not filled:
                raise BadData(f"{folder} holds no filled form. Save copies of {folder / FORM} as form-NAME.csv.")
            found += [(path, _final_is_a(folder)) for path in filled]
        _show_tally(tally(found, texts))


def _final_is_a(folder: Path) -> bool:
    try:
        said = json.loads((folder / RESULT).read_text(encoding="utf-8"))["form_final_is"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadData(f"{folder} holds no finished discussion. Give folders of `klartext author discuss`.") from error
    if said not in ("A", "B"):
        raise BadData(f"{folder} holds no final text yet. Decide on its scratchpad first: `--accept`.")
    return bool(said == "A")


def _show_tally(found: Tally) -> None:
    def told(counts: Mapping[str, int]) -> str:
        return ", ".join(f"{answer} {count} ({count / found.n:.0%})" for answer, count in counts.items()) or "-"

    shown = plain_table(f"What raters said ({counted(found.n, 'form')})", "question", "answers")
    shown.add_row("preferred", told(found.preferred))
    for version in ("initial", "final"):
        shown.add_row(f"captured, {version}", told(found.captured[version]))
    shown.add_row("corrections agreed with", told(found.agreed))
    for version in ("initial", "final"):
        shown.add_row(f"harmful, {version}", told(found.harmful[version]))
    plain_console(soft_wrap=True).print(shown)

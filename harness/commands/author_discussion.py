"""`klartext author discuss`: researcher and decider on pairs, summaries, disputed labels and open questions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer
from pydantic import Field

from bot import BadData, Settings, friendly_errors, load_catalog, locate, make_summaries, plain_text
from harness.authoring.discussion.composition import Authorship, composition_of
from harness.authoring.discussion.content import as_draft, conversation_task, find_pair, pair_task, read_draft
from harness.authoring.discussion.conversation import Conversation, read_conversation
from harness.authoring.discussion.dialogue import MOST_TURNS, Choice, Discussed, improve, summarise
from harness.authoring.discussion.rating_form import FORM, rating_form
from harness.authoring.discussion.report import (
    Provenance,
    advice_page,
    advice_record,
    compared_record,
    corrections_page,
    discussed_page,
    discussed_record,
    form_page,
    told_twice,
    unasked,
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
from harness.authoring.discussion.texts import Section, Task, load_texts
from harness.authoring.working import Work, noting, together
from harness.authoring.workshop import Workshop
from harness.commands.authoring import OURS, PERHAPS_PATIENTS, Words, carry_on
from harness.commands.options import ModelOptions
from harness.console import plain_console, plain_table, printable
from harness.files import (
    Record,
    as_document,
    read_record,
    replace_private_text,
    replace_text,
    unreadable,
    writing,
)

if TYPE_CHECKING:
    from harness.labelling.labels import Label

T = TypeVar("T")
EXAM = "mammography"
TaskName = Literal["pair", "summary", "dispute", "answers"]
RESULT, PAGE, DRAFT, COMPOSITION = "result.json", "result.md", "draft.yaml", "composition.json"
ACCEPTED, SHOWN, FORM_PAGE, CORRECTIONS = "accepted.json", "shown.json", "form.md", "corrections.md"
FORMS = "forms"  # what is handed out to raters, without the key beside it
ToFile = Annotated[
    bool, typer.Option("--patient-text-to-file", help="Allow prompts with a patient's words to be written to files.")
]
Turns = Annotated[int, typer.Option("--turns", min=2, max=MOST_TURNS, help="Most turns of both together.")]


@dataclass(frozen=True, slots=True)
class Material:
    """From what is discussed, in which language, and where the work goes on."""

    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder of this work; given again, it is gone on with. Without it, conversations have one in "
            "KLARTEXT_DATA, which goes when they are erased.",
            metavar="FOLDER",
        ),
    ] = None
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

    @property
    def words(self) -> Words:
        """Whose words a conversation holds: a patient's, for files only where the user says so."""
        return Words(patients=True, to_file=self.patient_text_to_file)

    def folder(self) -> Path:
        """Return where work goes on that is about no patient."""
        if self.out is None:
            raise BadData("Where shall it go on? Give a folder with `--out FOLDER`.")
        return self.out

    def patients_folder(self, kind: str, conversations: Sequence[str]) -> Path:
        """Return where work about conversations goes on: in the one place that is erased with them.

        Raises:
            BadData: `--out` is elsewhere, and nobody said that files may hold patients' words.
            UserFixable: `--out` is another conversation's.
        """
        folders = make_summaries(Settings.from_environment())
        if self.out is None or folders.holds(self.out):
            out = folders.claim(kind, conversations, name=self.out.name if self.out is not None else "")
            if not folders.goes_by_itself(out):
                typer.echo(
                    f"The database does not have this conversation, so {out} is not deleted with it: delete it "
                    "yourself by then.",
                    err=True,
                )
            return out
        if not self.patient_text_to_file:
            raise BadData(
                f"{self.out} is outside of {folders.place}, where what is made of a conversation is deleted with it. "
                "Leave `--out` out; or, if that is agreed with your data protection officer, give "
                "`--patient-text-to-file`."
            )
        typer.echo(f"{self.out} is not erased with the conversation: delete it yourself by then.", err=True)
        return self.out

    def basis_text(self) -> str:
        """Return what `--basis` says; empty without it."""
        if self.basis is None:
            return ""
        try:
            text = plain_text(self.basis.read_text(encoding="utf-8")).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadData(f"{self.basis} cannot be read ({unreadable(error)}). Give a text file.") from error
        if not text:
            raise BadData(f"{self.basis} is empty. Give a text file, or leave `--basis` out.")
        if text.startswith(("{", "[")) and _is_json(text):
            raise BadData(
                f"{self.basis} is data, such as an exported conversation, and no text. What a pair holds to is written "
                "for all patients: give a leaflet as a text file."
            )
        return text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Decision:
    """What the person at the keyboard accepts."""

    accept: Annotated[
        str | None, typer.Option("--accept", help="Lines of the scratchpad to apply: `1,3`, `all`, `none`.")
    ] = None
    review: Annotated[bool, typer.Option("--review", help="Ask for each line of the scratchpad.")] = False
    keep_unasked: Annotated[
        bool, typer.Option("--keep-unasked", help="Let sections change, too, that no accepted line names.")
    ] = False
    accepted_by: Annotated[
        str,
        typer.Option(
            "--accepted-by",
            help="Who accepts a summary that an earlier run has shown: it becomes final.",
            metavar="NAME",
        ),
    ] = ""
    send: Annotated[
        Literal["final", "preliminary"] | None,
        typer.Option("--send", help="Put the summary on the FHIR server, in the place of an earlier one."),
    ] = None

    def require_fits(self, task: TaskName) -> None:
        """Raise BadData where the options contradict one another, or mean nothing for what is discussed."""
        decides = self.accept is not None or self.review or self.keep_unasked
        if self.accept is not None and self.review:
            raise BadData("`--accept` names the lines and `--review` asks for each. Give one of them.")
        if task in ("dispute", "answers") and decides:
            raise BadData(f"`discuss {task}` has no scratchpad to accept. Leave `--accept` and `--review` out.")
        if self.accepted_by and not self.accepted_by.strip():
            raise BadData("`--accepted-by` names nobody. Give the name of who accepts the summary, or leave it out.")
        if self.accepted_by and task != "summary":
            raise BadData("`--accepted-by` accepts a summary; pairs are approved in the console. Leave it out.")
        if self.send is not None and task != "summary":
            raise BadData("`--send` sends a summary; pairs go into the console with `klartext author submit`.")
        if self.send == "final" and not self.accepted_by.strip():
            raise BadData(
                "A summary is final when somebody accepts it. Give `--accepted-by NAME`, or `--send preliminary`."
            )
        if self.send == "preliminary" and self.accepted_by.strip():
            raise BadData("A summary that somebody accepts is final. Give `--send final`.")


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
        decision.require_fits(task)
        if material.basis is not None and task != "pair":
            raise BadData(f"`--basis` is what a pair must hold to, and `discuss {task}` has none. Leave it out.")
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
    """A work in its folder: what it is, who is asked, and whose words are put to them."""

    out: Path
    title: str
    identity: Mapping[str, str]
    asking: ModelOptions
    words: Words = OURS

    def carry_on(self, work: Callable[[], Work[T]]) -> tuple[T, Provenance]:
        """Go on with a work as far as answers reach; where prompts wait, say so and exit.

        Raises:
            UserFixable: Patients' words would leave to where nobody allowed it.
        """
        prompts: dict[str, str] = {}
        self.words.require_allowed(self.asking)
        workshop = Workshop.open(self.out, self.identity, lambda: noting(work(), prompts))
        advanced = carry_on(workshop, self.asking, self.words)
        result: Any = advanced.result
        return result, Provenance.of(self.title, advanced, prompts, live=self.asking.live)

    def write(self, name: str, text: str) -> None:
        with writing(self.out / name, "Choose another `--out`."):
            (replace_private_text if self.words.patients else replace_text)(self.out / name, text)


def hash_of(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]


def _identity(kind: str, what: str, task: Task, turns: int, initial: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return all that the prompts of a discussion depend on."""
    content = hash_of(task.material, *task.slots.values(), *(initial or {}).values(), task.texts.model_dump_json())
    return {"kind": f"discuss {kind}", "what": what, "content": content, "turns": str(turns)}


def _discuss_pair(what: str, material: Material, decision: Decision, asking: ModelOptions) -> None:
    basis = material.basis_text()
    if what.endswith((".yaml", ".yml")):
        draft = read_draft(what)
    else:
        draft = find_pair(what, load_catalog(locate(material.catalog or EXAM), material.lang or "de"))
    language = material.lang or draft.language or "de"
    if draft.language and draft.language != language:
        raise BadData(f"{what} is in {draft.language!r}, and `--lang` says {language!r}. Leave `--lang` out.")
    texts = load_texts(language)
    task = pair_task(texts, draft, basis=basis)
    identity = _identity("pair", draft.pair.id, task, material.turns, draft.texts)
    study = Study(material.folder(), f"pair {draft.pair.id}", {**identity, "language": language}, asking)

    done, provenance = _decided(
        study, task, lambda choice: improve(task, draft.texts, choice, turns=material.turns), decision
    )
    _write_discussed(study, task, done, provenance, language)
    if done.final is not None:
        study.write(DRAFT, as_draft(draft, task, done, language=language, models=provenance.who))
        typer.echo(f"{study.out / DRAFT}: a draft, unreviewed. Into the console:")
        typer.echo(f"`klartext author submit {study.out} --by LOGIN`")


def _discuss_summary(path: Path, material: Material, decision: Decision, asking: ModelOptions) -> None:
    conversation = read_conversation(path)
    language = material.lang or conversation.language
    exam = locate(material.catalog or EXAM)
    task = conversation_task(load_texts(language), conversation, exam=exam.name)
    name = hash_of(conversation.id)
    identity = _identity("summary", name, task, material.turns)
    out = material.patients_folder("summary", [conversation.id])
    study = Study(out, f"summary {name}", identity, asking, material.words)

    done, provenance = _decided(study, task, lambda choice: summarise(task, choice, turns=material.turns), decision)
    page = _write_discussed(study, task, done, provenance, language)
    if done.final is None:
        if decision.accepted_by or decision.send:
            raise BadData("There is no final text yet to accept or send. Decide on the scratchpad first: `--accept`.")
        return
    settings = Settings.from_environment()
    now = datetime.now(UTC).replace(microsecond=0)
    name = decision.accepted_by.strip()
    why_not = _why_not_final(study, task, done, page, decision)
    authorship = Authorship(provenance.who, now, "" if why_not else name, settings.fhir.patient_system)
    resource = composition_of(conversation, task.sections, done.final, authorship, language)
    study.write(COMPOSITION, as_document(resource))
    typer.echo(f"{study.out / COMPOSITION}: a FHIR Composition, {resource['status']}")
    if name and why_not:
        raise BadData(why_not)
    if decision.send is not None:
        _send(study, conversation, resource, exam, settings)


def _send(study: Study, conversation: Conversation, resource: dict[str, Any], exam: Path, settings: Settings) -> None:
    """Put a summary on the FHIR server; never a preliminary one in the place of a final one, whichever folder sent it.

    It is noted in the data folder, also where the work goes on elsewhere: who erases the conversation is told.
    """
    folders = make_summaries(settings)
    known = [study.out, *folders.of(conversation.id)]
    if resource["status"] != "final" and any(folders.sent_as(each) == "final" for each in known):
        raise BadData("A final summary of this conversation has been sent. Send another with `--send final` only.")
    noted = {study.out} if folders.holds(study.out) else {study.out, folders.claim("summary", [conversation.id])}
    from bot.commands.fhir import send_composition  # what it builds on is slow to import

    host = send_composition(resource, conversation.id, exam, settings)
    for each in noted:
        folders.note_sent(each, status=resource["status"], at=resource["date"], host=host)
    typer.echo(f"The summary is on {host}, {resource['status']}. It is not deleted there with the conversation.")


def _why_not_final(study: Study, task: Task, done: Discussed, page: str, decision: Decision) -> str:
    """Return why nobody can accept the text by name in this run, empty where they can; note that it has been shown.

    Who accepts has to have seen this very text before, so a run that makes it, or finds it changed, only shows it. The
    folder keeps a hash of what was shown: answers that are edited in between make another text.
    """
    shown = hash_of(page, *(done.final or {}).values())
    try:
        before = str(json.loads((study.out / SHOWN).read_text(encoding="utf-8"))["text"])
    except (OSError, ValueError, KeyError, TypeError):
        before = ""
    study.write(SHOWN, as_document({"text": shown}))
    if before != shown:
        what = "is not the one that was shown before" if before else "has not been shown before"
        return (
            f"This text {what}, and so is not accepted yet. Read it in {study.out / PAGE}, then give the same command "
            "with `--accepted-by NAME`."
        )
    strange = unasked(task.sections, done)
    if strange and not decision.keep_unasked:
        return (
            f"Changed though no accepted line names it: {', '.join(strange)}. Leave out lines that name no section "
            "(`--accept`), or give `--keep-unasked` beside `--accepted-by` to answer for that, too."
        )
    return ""


def _decided(
    study: Study, task: Task, work: Callable[[Choice | None], Work[Discussed]], decision: Decision
) -> tuple[Discussed, Provenance]:
    """Carry on with a discussion, and with what a person accepts now, or accepted before in this folder."""
    choice = _kept_choice(study.out / ACCEPTED)
    if decision.accept is not None:
        choice = Choice.parse(decision.accept)
    if decision.review:
        done, _ = study.carry_on(lambda: work(None))
        choice = _reviewed(task.sections, done)
        study = replace(study, asking=replace(study.asking, answers=None))
    if choice is None:
        if decision.keep_unasked:
            raise BadData("`--keep-unasked` goes with what is accepted. Decide on the scratchpad first: `--accept`.")
        return study.carry_on(lambda: work(None))
    chosen = replace(choice, unasked=choice.unasked or decision.keep_unasked)
    try:
        found = study.carry_on(lambda: work(chosen))
    except typer.Exit:  # prompts wait: the same command without `--accept` goes on when they are answered
        study.write(ACCEPTED, as_document({"accept": chosen.as_text(), "unasked": chosen.unasked}))
        raise
    chosen.of(found[0].discussion.scratchpad)  # refuses lines that are not there, now that all answers are kept
    study.write(ACCEPTED, as_document({"accept": chosen.as_text(), "unasked": chosen.unasked}))
    return found


def _kept_choice(path: Path) -> Choice | None:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        return Choice.parse(said["accept"], unasked=said.get("unasked") is True)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadData(f"{path} does not say what was accepted. Say it again with `--accept`.") from error


def _reviewed(sections: Sequence[Section], done: Discussed) -> Choice:
    """Ask for each line of the scratchpad whether it is applied."""
    console = plain_console(soft_wrap=True)
    lines = told_twice(sections, done.discussion.scratchpad)
    accepted = []
    for number, line in enumerate(lines, 1):
        console.print(f"\n{number} of {len(lines)}: {printable(line)}")
        if typer.confirm("Apply it?"):
            accepted.append(number)
    return Choice(tuple(accepted))


def _write_discussed(study: Study, task: Task, done: Discussed, provenance: Provenance, language: str) -> str:
    """Write and print what came of a discussion; return the page that was printed."""
    page = discussed_page(study.title.capitalize(), task, done, language)
    study.write(RESULT, as_document(discussed_record(task, done, provenance)))
    study.write(PAGE, page)
    if done.final is not None:
        forms = {FORM: rating_form(task.texts.form), FORM_PAGE: form_page(task, done)}
        forms[CORRECTIONS] = corrections_page(task, done, language)
        for form, text in forms.items():
            study.write(form, text)
            study.write(f"{FORMS}/{form}", text)
    console = plain_console(soft_wrap=True)
    console.print(page)
    console.print(f"All of it is in {study.out / PAGE} and {study.out / RESULT}.")
    if done.initial is None:
        raise BadData("No usable first version was written. Ask another model, in another `--out`.")
    if done.accepted is None and not done.discussion.scratchpad:
        if done.discussion.ended == "unusable":
            raise BadData(
                "The discussion ended with an empty scratchpad, as an answer could not be used. Ask another model, in "
                "another `--out`."
            )
        console.print("Nothing is on the scratchpad: there is nothing to apply.")
    elif done.accepted is None:
        console.print("Say which lines to apply: the same command with `--accept 1,3`, `all` or `none`, or `--review`.")
    return page


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
    content = hash_of(repr(disputes), texts.model_dump_json())
    identity = {"kind": "discuss dispute", "content": content}
    # Questions of a suite may once have been a patient's.
    study = Study(material.folder(), f"dispute {run.name}", identity, asking, PERHAPS_PATIENTS)
    _warn_of_equal_votes(asking)
    done, provenance = study.carry_on(lambda: advise(texts, disputes, verdicts=VERDICTS))
    study.write(RESULT, as_document(advice_record(done, provenance)))
    study.write(PAGE, advice_page("Advice on disputed labels", texts.dispute.summary, done))
    _show_advice(done, disputes)
    console = plain_console(soft_wrap=True)
    console.print(texts.dispute.summary.strip())
    console.print(f"The discussions are in {study.out / PAGE}. Decide with")
    console.print(f"`klartext harness labels give {run} --decide --rater NAME`.")


def _warn_of_equal_votes(asking: ModelOptions) -> None:
    if asking.temperature == 0:
        typer.echo("At `--temperature 0` five votes are one vote, asked for five times. Leave it out.", err=True)


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
            one.advised,
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
    unread = f"{path} cannot be read ({{reason}}). Give questions with answers (YAML)."
    strange = f"{path} holds no questions with answers: {{reason}}. Mend it."
    asked = read_record(path, OpenQuestions, unread, invalid=strange)
    doubled = {one.id for one in asked.questions if [each.id for each in asked.questions].count(one.id) > 1}
    if doubled:
        raise BadData(f"{path} has the id {sorted(doubled)[0]!r} twice. Give each question its own.")
    texts = load_texts(material.lang or "de")
    content = hash_of(asked.model_dump_json(), texts.model_dump_json())
    study = Study(material.folder(), f"answers {path.name}", {"kind": "discuss answers", "content": content}, asking)

    def work() -> Work[list[Compared]]:
        return together(
            [open_answer(texts, ShortCase(one.id, one.question, asked.asks), one.answer) for one in asked.questions]
        )

    _warn_of_equal_votes(asking)
    done, provenance = study.carry_on(work)
    study.write(RESULT, as_document(compared_record(done, provenance)))
    _show_compared(done)


def _show_compared(done: Sequence[Compared]) -> None:
    shown = plain_table("Answers to open questions", "answer", "exact", "similar", "questions")
    for number, name in enumerate(("five votes", "after the discussion")):
        exact = [one.exact[number] for one in done if one.exact[number] is not None]
        similar = [value for one in done if (value := one.similar[number]) is not None]
        shown.add_row(
            name,
            f"{sum(map(bool, exact)) / len(exact):.3f} ({len(exact)})" if exact else "-",
            f"{sum(similar) / len(similar):.3f} ({len(similar)})" if similar else "-",
            str(len(done)),
        )
    console = plain_console(soft_wrap=True)
    console.print(shown)
    console.print("In brackets: of how many questions. Without a usable vote an answer is not exact, and similar 0.")
    for one in done:
        before, after = (
            f"{votes.winner or 'none'}{' (tie)' if votes.tied else ''}"
            for votes in (one.answer.before, one.answer.after)
        )
        console.print(printable(f"{one.answer.case.id}: {before} -> {after} (expected: {one.expected})"))

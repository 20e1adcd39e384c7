"""`klartext interview`: an interview answered by a script, without a patient at the keyboard."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from bot.catalog.catalog import exams_in, locate
from bot.catalog.exam import Exam, load_exam
from bot.catalog.fhir_files import files_in, read_json, read_launch, shipped_form, write_text
from bot.errors import BadData, friendly_errors
from bot.handover.resources import reason_line
from bot.interview.form.form import Form, Item
from bot.interview.form.form import Path as ItemPath
from bot.interview.manners.interview import Interview, Open
from bot.interview.manners.session import Said, Sentence, Session
from bot.interview.manners.turn import Turn
from bot.interview.reading.reading import Read
from bot.interview.reading.yesno import read_yes_no
from bot.interview.values.fhir_json import JsonObject, as_object, dump, string
from bot.interview.values.primitives import problem_with
from bot.interview.walk.assemble import Heading
from bot.interview.walk.filling import Given, Shown, Waiting
from bot.interview_wiring import for_terminology, with_value_sets
from bot.languages.files import further, known
from bot.languages.opening import open_languages
from bot.matching.red_flags import load_red_flags
from bot.resources import data_folder
from bot.sentences.reply import SENTENCES, Heard, Place, Reply, guard, reply_of, worded
from bot.sentences.wording import NEUTRAL, House, wording_of
from bot.settings import Settings
from bot.talk.dialogue import URGENT_TEXTS
from bot.talk.interviewing import form_of


@dataclass(eq=False, slots=True)
class Line:
    """One line of the file: for an item, or (with an empty linkId) for the next turn."""

    link_id: str
    text: str
    used: bool = False
    after: list[str] = field(default_factory=list)


def read_lines(path: Path, form: Form) -> list[Line]:
    """Read ``linkId<TAB>text`` and plain text, one a line; blank lines are skipped.

    Raises:
        BadData: The file cannot be read, or names an item that the form does not have.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise BadData(f"{path}: cannot be read ({reason}). Give `--answers` a text file.") from None
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        link_id, tab, said = line.rstrip("\r").partition("\t")
        if tab and link_id.strip() and link_id.strip() not in form.by_link_id:
            raise BadData(
                f"{path}:{number}: the Questionnaire has no item {link_id.strip()[:60]!r}. "
                "A line is a linkId, a tab and a text, or just a text."
            )
        lines.append(Line(link_id.strip(), said) if tab else Line("", line.strip()))
    return lines


class Script:
    """Hands out the lines of a file. A plain line is said right after the line before it was used."""

    def __init__(self, lines: Iterable[Line], form: Form) -> None:
        self._form = form
        self._keyed: list[Line] = []
        self._next: list[str] = []
        for line in lines:
            if line.link_id:
                self._keyed.append(line)
            else:
                (self._keyed[-1].after if self._keyed else self._next).append(line.text)
        self._used_at: dict[ItemPath, set[str]] = {}

    def next_turn(self) -> str | None:
        """Return a plain line whose time has come."""
        return self._next.pop(0) if self._next else None

    def late_turn(self) -> str | None:
        """Return a plain line whose line before it was never used."""
        waiting = next((line for line in self._keyed if line.after), None)
        return waiting.after.pop(0) if waiting else None

    def take(self, link_id: str, place: ItemPath) -> str | None:
        """Return the line for an item that is asked, and count it as used."""
        line = self._line_for(link_id, place)
        if line is None:
            return None
        line.used = True
        self._next += line.after
        line.after = []
        for depth in range(1, len(place) + 1):
            self._used_at.setdefault(place[:depth], set()).add(link_id)
        return line.text

    def has_more(self, link_id: str, place: ItemPath) -> bool:
        """Say whether a question that repeats has a line left at this place."""
        line = self._line_for(link_id, place)
        if line is None or self._group(place) is None:
            return line is not None
        # In a group that repeats, only lines that follow directly belong to the same repetition.
        number = self._keyed.index(line)
        before = self._keyed[number - 1] if number else line
        return self._by_rows(place) and before.link_id == link_id and before.used

    def has_instance(self, group: Item, place: ItemPath) -> bool:
        """Say whether there is a line left for one more repetition of a group, and the last one took any."""
        inside = {item.link_id for item in group.walk()}
        last = (*place[:-1], (place[-1][0], place[-1][1] - 1))
        fruitful = place[-1][1] == 0 or bool(self._used_at.get(last))
        return fruitful and any(not line.used and line.link_id in inside for line in self._keyed)

    def unused(self) -> list[str]:
        """Return the linkIds of lines that were never used."""
        return [line.link_id for line in self._keyed if not line.used]

    def _line_for(self, link_id: str, place: ItemPath) -> Line | None:
        found = next((line for line in self._keyed if line.link_id == link_id and not line.used), None)
        if found is None or not self._by_rows(place):
            return found
        # Row after row: a line that stands behind the beginning of the next row belongs to that.
        taken = self._used_at.get(self._group(place) or (), set()) - {link_id}
        earlier = self._keyed[: self._keyed.index(found)]
        return None if any(line.link_id in taken and not line.used for line in earlier) else found

    def _group(self, place: ItemPath) -> ItemPath | None:
        """Return the innermost repetition of a group around a place."""
        for depth in range(len(place) - 1, 0, -1):
            item = self._form.by_link_id[place[depth - 1][0]]
            if item.type == "group" and item.repeats:
                return place[:depth]
        return None

    def _by_rows(self, place: ItemPath) -> bool:
        """Say whether the lines of the group around a place come repetition by repetition, not question by question."""
        group = self._group(place)
        if group is None:
            return False
        inside = {item.link_id for item in self._form.by_link_id[group[-1][0]].walk()}
        order = [line.link_id for line in self._keyed if line.link_id in inside]
        runs = [each for number, each in enumerate(order) if number == 0 or order[number - 1] != each]
        return len(runs) > len(set(runs))


class Batch:
    """Runs one interview by a script."""

    def __init__(
        self, interview: Interview, script: Script, house: House, *, confirm: bool, write: Callable[[str], None]
    ) -> None:
        """Take what is asked, who answers, in whose words, whether read-backs wait for a line, and where lines go."""
        self._house = house
        self._interview = interview
        self._script = script
        self._confirm = confirm
        self._write = write
        self._held: str | None = None  # a message that may be about the heart
        self._calls_off = ""  # what then says that it is not

    def run(self, language: str) -> Session:
        """Interview until all is asked, or no line fits; return where it ended."""
        turn = self._show(self._interview.begin(language))
        while True:
            waiting = self._interview.open_question(turn.session)
            if waiting.kind == "finished":
                return turn.session
            said = self._says(waiting, turn.session)
            if said is None:
                return turn.session
            turn = self._turn(turn, said)

    def _turn(self, turn: Turn, said: str) -> Turn:
        self._write(f"> {said}")
        language = turn.session.language
        if self._held is not None:
            held, self._held = self._held, None
            agreed = read_yes_no(said, language=language)
            no = isinstance(agreed, Read) and agreed.answers[0].value is False
            calm = no or said in NEUTRAL.ways_out | self._house.wording.ways_out
            return self._heard(turn, held) if calm else turn
        flag = load_red_flags(language).check(said)
        if flag is None:
            return self._heard(turn, said)
        return self._urgent(turn, said, flag)

    def _urgent(self, turn: Turn, said: str, flag: str) -> Turn:
        """Interrupt: the form reads nothing of it, unless it turns out to be no emergency."""
        language = turn.session.language
        alarm = Sentence(URGENT_TEXTS.get(flag, "urgent"))
        if flag == "chest-pain" or self._interview.listener(turn.session).hears_just_an_answer(said):
            # The breast or the heart; or words that the form itself lists.
            chest = flag == "chest-pain"
            question, way_out = ("chest_question", "chest_breast") if chest else ("is_emergency", "no_emergency")
            self._held, self._calls_off = said, self._house.wording.sentences[language][way_out]
            interruption = Said(language, (alarm, Sentence(question)), (Sentence(way_out),))
        else:
            interruption = Said(language, (alarm,))
        self._show(replace(turn, said=interruption))
        return turn

    def _heard(self, turn: Turn, said: str) -> Turn:
        after = self._interview.turn(turn.session, said)
        if after.aside != "no" and after.session.talk.phase not in ("paused", "finished"):
            after = self._interview.not_answered(after.session, said)
        if any(isinstance(part, Sentence) and part.key == "go_ahead" for part in after.said.parts):
            # "Yes" to room for words: a file means just that.
            self._show(after)
            self._write(f"> {said}")
            after = self._interview.turn(after.session, said)
        return self._show(self._one_more(turn, after))

    def _one_more(self, before: Turn, after: Turn) -> Turn:
        """Go back to a list of which the next line names one more answer; at once, unless something was shown."""
        last = _last_given(after.session)
        new = after.session.events[len(before.session.events) :]
        waiting = self._interview.open_question(after.session)
        if not any(isinstance(event, Given | Waiting) for event in new) or not self._repeats(
            last, waiting, after.session
        ):
            return after
        if any(isinstance(event, Shown) for event in new):
            self._show(after)
        return self._interview.add_to(after.session, last)

    def _show(self, turn: Turn) -> Turn:
        heard = Heard(self._interview.form, self._interview.heard(turn.session))
        reply = worded(
            reply_of(turn.said, self._interview.form), Place(country=self._house.country, wording=self._house.wording)
        )
        for line in transcript(guard(reply, None, shown=frozenset(), heard=heard, house=self._house)):
            self._write(line)
        return turn

    def _says(self, waiting: Open, session: Session) -> str | None:
        """Return what is said next; None when there is nothing left to say."""
        words = SENTENCES[session.language]
        if self._held is not None and not self._confirm:
            return self._calls_off
        if waiting.kind in ("read-back", "checking") and not self._confirm:
            return words["yes"]
        planned = self._script.next_turn()
        if planned is None and self._has_one_more(waiting):
            return words["yes"]
        if planned is None and waiting.link_id:
            planned = self._script.take(waiting.link_id, waiting.path)
            planned = words["word_skip"] if planned is not None and not planned.strip() else planned
        return planned if planned is not None else self._without_line(waiting, session)

    def _has_one_more(self, waiting: Open) -> bool:
        """Say whether "anything else?" about a question is answered with yes: its next line is the answer then."""
        item = self._interview.form.by_link_id.get(waiting.link_id)
        repeats = waiting.kind == "another" and item is not None and item.type != "group"
        return repeats and self._script.has_more(waiting.link_id, waiting.path)

    def _without_line(self, waiting: Open, session: Session) -> str | None:
        words = SENTENCES[session.language]
        if waiting.kind in ("question", "proposal"):
            return words["word_skip"]
        if waiting.kind == "another":
            item = self._interview.form.by_link_id[waiting.link_id]
            more = item.type == "group" and self._script.has_instance(item, waiting.path)
            return words["yes"] if more else words["no"]
        if waiting.kind == "summary":
            late = self._script.late_turn()
            return late if late is not None or self._confirm else words["yes"]
        return None

    def _repeats(self, last: ItemPath, waiting: Open, session: Session) -> bool:
        """Say whether the list that was chosen from last takes its next line as one more answer."""
        item = self._interview.form.by_link_id[last[-1][0]]
        answered = session.filling.waiting.get(last, session.filling.at(last))
        full = len(answered) == item.most or waiting.path == last
        return item.repeats and bool(item.options) and not full and self._script.has_more(item.link_id, last)


def _last_given(session: Session) -> ItemPath:
    return next((event.path for event in reversed(session.events) if isinstance(event, Given | Waiting)), ())


def transcript(reply: Reply) -> list[str]:
    """Return a reply as lines of text."""
    lines = [line for part in reply.parts for line in part.text.split("\n")]
    return lines + [f"  {number}  {choice.text}" for number, choice in enumerate(reply.choices, 1)]


IN_PROGRESS = 3

TerminologyServerOption = Annotated[
    str | None,
    typer.Option(help="Expands value sets that are not at hand. Default: KLARTEXT_TERMINOLOGY_SERVER.", metavar="URL"),
]
PatientOption = Annotated[
    Path | None, typer.Option(help="The Patient that formulas know as %patient (JSON).", metavar="FILE")
]
LaunchOption = Annotated[
    Path | None,
    typer.Option(help="What else formulas know: names and resources, or Parameters (JSON).", metavar="FILE"),
]


def interview(
    questionnaire: Annotated[Path, typer.Option(help="The Questionnaire (R4, JSON), or a Bundle with its value sets.")],
    answers: Annotated[Path, typer.Option(help="What the patient says: linkId, tab, text; or just text.")],
    out: Annotated[Path, typer.Option(help="Where the QuestionnaireResponse goes.")],
    lang: Annotated[
        str | None, typer.Option(help="Language. Default: that of the Questionnaire, else English.", metavar="LANG")
    ] = None,
    catalog: Annotated[
        str | None,
        typer.Option(
            help="The exam whose words are used: a shipped one, or a catalog folder. Default: that of a shipped form.",
            metavar="PATH",
        ),
    ] = None,
    terminology: Annotated[
        list[Path] | None, typer.Option(help="Value sets and code systems (files or folders); may be repeated.")
    ] = None,
    terminology_server: TerminologyServerOption = None,
    patient: PatientOption = None,
    launch: LaunchOption = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Read-backs and the summary wait for a line, too.")
    ] = False,
) -> None:
    """Interview a patient whose answers are in a file; exit 0 when completed, 3 when something is left open."""
    with friendly_errors():
        documents = [as_object(read_json(path).value) for path in (questionnaire, *files_in(terminology or ()))]
        given = read_launch(patient, launch)
        settings = for_terminology(Settings.from_environment(), terminology_server)
        form = form_of(with_value_sets(settings, *documents, tell=_tell), *documents[1:], launch=given)
        for line in form.gap_lines():
            _tell(line)
        language = _language(form, lang, settings.languages)
        script = Script(read_lines(answers, form), form)
        now = datetime.now().astimezone()
        asked = Interview(form, now=now, launch=given)
        house = House(country=settings.country, wording=wording_of(_exam(catalog, documents[0]), (language,)))
        session = Batch(asked, script, house, confirm=confirm, write=_write).run(language)
        heading = Heading("", now.isoformat(timespec="seconds"), subject=_reference(given.get("patient", {})))
        response = asked.response(session, heading)
        write_text(out, dump(response) + "\n")
        # As the Task of a conversation says it; with the transcript, for patients' words are in it.
        if reasons := asked.to_decide(session):
            _write(f"Needs a decision before the exam, {len(reasons)} reasons:")
        for reason in reasons:
            _write(f"- {reason_line(reason)}")
    for loss in asked.engine.losses:
        _tell(form.line_of(loss))
    for refusal in asked.refusals(session) if session.status == "in-progress" else ():
        print(f"klartext: not completed, the validator refuses {refusal}", file=sys.stderr)
    if unused := script.unused():
        print(f"klartext: never asked, or not again: {', '.join(dict.fromkeys(unused))}", file=sys.stderr)
    raise typer.Exit(IN_PROGRESS if session.status == "in-progress" else 0)


def _exam(catalog: str | None, questionnaire: JsonObject) -> Exam | None:
    """Return how the exam is spoken of: of a catalog, or of the shipped one that a shipped form belongs to."""
    shipped = exams_in(data_folder("qa_pairs"))
    forms = ((name, shipped_form(name)) for name in shipped)
    own = next((name for name, path in forms if path and path.stem == string(questionnaire, "id")), None)
    wanted = catalog or own
    return load_exam(locate(wanted)) if wanted is not None else None


def _language(form: Form, wanted: str | None, folder: Path | None) -> str:
    """Return the language to ask in; raise BadData where one is wanted that there is not."""
    if wanted is not None:
        open_languages(folder, [wanted])
        return wanted
    spoken = [tag.partition("-")[0].lower() for tag in form.languages]
    there = [*known(), *further(folder, spoken)]
    language = next((tag for tag in spoken if tag in there), "en")
    open_languages(folder, [language])
    return language


def _reference(patient: JsonObject) -> JsonObject | None:
    """Return a reference to the patient of the launch context, by id alone."""
    id_ = string(patient, "id")
    return {"reference": f"Patient/{id_}"} if id_ and not problem_with("id", id_) else None


def _tell(line: str) -> None:
    """Tell staff, not the patient."""
    print(f"klartext: {line}".encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


def _write(line: str) -> None:
    # A lone surrogate is no UTF-8.
    print(line.encode("utf-8", "backslashreplace").decode(), flush=True)

"""A page of the form that is sent: what each field came to, what happens, and what the chat goes on with. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial

from bot.errors import Outdated
from bot.interview.form.form import Form, Path
from bot.interview.manners.decisions import Decisions
from bot.interview.manners.fields import Field, Outcome, Raw, raw_of, read_field, reason_at, texts_of
from bot.interview.manners.hearing import Hearing
from bot.interview.manners.listening import CachedReader
from bot.interview.manners.pages import (
    Block,
    Element,
    Entered,
    More,
    PageView,
    Section,
    all_in,
    asked_or_told,
    blocks_in,
    fields_in,
    more_in,
    told_in,
)
from bot.interview.manners.session import Filler, Sentence, Session
from bot.interview.values.fhir_names import CHOICES
from bot.interview.walk.engine import AskItem, Engine
from bot.interview.walk.filling import (
    Given,
    GroupAdded,
    GroupRemoved,
    MarkedForStaff,
    NoMore,
    Noted,
    Shown,
    below,
    first,
)
from bot.text import MAX_CHARACTERS


@dataclass(frozen=True, slots=True)
class PageSent:
    """What a patient sends of a page.

    Attributes:
        section: Its number; 0 for agreeing to all answers, on the page that lists them.
        language: Of the page.
        version: Of the session that the page showed: how many events there were.
        shown: Keys of the fields that were on it: what is empty there is sent by no browser.
        fields: What stands in them, by their names.
        wants: What is to be done besides: `chat` (go there), `add`, `remove` or `open` with the key of a place; empty
            for going on.
        filler: Who fills the form in, where that is said with the agreement.
    """

    section: int
    language: str
    version: int
    shown: frozenset[str] = frozenset()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    wants: tuple[str, str] = ("", "")
    filler: Filler = ""

    @property
    def goes_on(self) -> bool:
        """Whether the patient is done with the page, so that what is empty was left out."""
        return not self.wants[0]


class PageTurn(PageView):
    """A turn that a page of the form makes; before it is sent, what the page shows."""

    def __init__(self, engine: Engine, reader: CachedReader, session: Session, decisions: Decisions) -> None:
        super().__init__(engine, reader, session)
        self._decisions = decisions
        # What was newly written, and whether any words are an answer there: signs of danger may be in it.
        self.written: list[tuple[str, bool]] = []
        self.changed = False  # whether there is anything to be stored
        self.fresh: tuple[str, ...] = ()  # keys of what is asked or told since the page was saved

    def entered(self, elements: Sequence[Element], sent: PageSent | None) -> dict[str, Entered]:
        """Return what is in the fields of a page: of those that were sent, what was; of others, what is stored."""
        empty = self._left_empty(elements, sent) if sent is not None else {}
        found = {}
        for each in fields_in(elements):
            if sent is None or each.key not in sent.shown:
                found[each.key] = Entered(each.stored, Outcome("blank"))
            else:
                raw = raw_of(each, sent.fields)
                found[each.key] = Entered(raw, Outcome("blank") if each.key in empty else self.judge(each, raw, sent))
        return found

    def judge(self, field: Field, raw: Raw, sent: PageSent) -> Outcome:
        """Return what a field came to, and whether it may stand there."""
        outcome = read_field(self, field, raw)
        if outcome.kind == "blank" and field.waits and sent.goes_on:
            return Outcome("unsure", field.offered)  # nobody leaves it behind as it is
        if outcome.kind == "blank":
            key = "form_required_or" if field.silences else "form_required"
            missing = sent.goes_on and field.item.required and not self._is_left(field)
            return replace(outcome, kind="wrong", said=(Sentence(key),)) if missing else outcome
        found = self.problems(field.path, outcome.answers) if outcome.answers else []
        return replace(outcome, kind="wrong", said=self._said(partial(self.say_problems, found))) if found else outcome

    def _is_left(self, field: Field) -> bool:
        """Say whether an empty field is as it should be: left to staff before, or calculated."""
        filling = self.session.filling
        return (
            field.path in filling.marked
            or field.path in filling.computed
            or (field.control == "file" and field.path in filling.answers)
        )

    def send(self, sent: PageSent) -> None:
        """Take what was sent of a page.

        Raises:
            Outdated: The answers have changed since the page was shown, or nothing can be agreed to yet.
        """
        if sent.version != self.version or (sent.section == 0 and not self.is_done):
            raise Outdated("The answers have changed since this page was shown. Show it again.")
        self.session = replace(self.session, language=sent.language)
        section = self.section(sent.section)
        if sent.section == 0:
            self.onward()
            self.session = replace(self.session, filler=sent.filler or self.session.filler)
            self._said(partial(self.show_summary, closing=True))
            self.agree()
            self.changed = True
        elif section is not None:
            self._save(section, sent)

    def _save(self, section: Section, sent: PageSent) -> None:
        before, events, waited = self.elements(section), len(self.session.events), self._waits_for()
        shown, empty = {each.path for each in told_in(before)}, self._left_empty(before, sent)
        right, left = True, list[tuple[Field, Outcome]]()
        for each in fields_in(before):
            raw = raw_of(each, sent.fields)
            if each.key not in sent.shown or each.key in empty:
                continue
            if not self._is_there(each.path):
                left.append((each, read_field(self, each, raw)))
                continue
            outcome = self.judge(each, raw, sent)
            known = texts_of(each, each.stored)
            self.written += ((text, each.takes_own_words) for text in outcome.texts if text not in known)
            right = right and not outcome.needs_patient
            self._take_field(each, outcome, sent)
            self._keep_words(each, [text for text in outcome.texts if text not in known])
        moved = self._moved(section, left)
        if sent.goes_on and right:
            shows = (path for path in sorted(shown - self.session.filling.shown) if self.item(path).type == "display")
            self.apply(*(Shown(path) for path in shows if self._is_there(path)))
            self._close(before, set(empty.values()))
        added = self._do(section, sent)
        seen = {each.key for each in asked_or_told(before)}
        stands = [
            each for each in asked_or_told(self.elements(section)) if not added or each.path[: len(added)] != added
        ]
        self.fresh = tuple(each.key for each in stands if each.key not in seen | moved)
        self.changed = len(self.session.events) > events or sent.wants[0] == "open"
        self.say("form_more" if self.fresh else "form_saved", number=section.number, total=self.total)
        self._put_what_is_open(section, waited, sent)

    def _moved(self, section: Section, left: Sequence[tuple[Field, Outcome]]) -> set[str]:
        """Put answers to questions that are gone where another of the same words stands now; return the keys of those.

        What is answered above may decide which of them is asked: "Which cancer?" of a mother, and of a father.
        """
        found = set[str]()
        for before, outcome in left:
            for now in fields_in(self.elements(section)) if outcome.kind == "given" else ():
                answers, listed = outcome.answers, [answer for _, answer, _ in now.options]
                same = (
                    now.path[:-1] == before.path[:-1] and now.path != before.path and now.item.text == before.item.text
                )
                fits = all(each in listed for each in answers) and (now.item.repeats or len(answers) == 1)
                if same and fits and not self.session.filling.settled(now.path):
                    self.apply(Given(now.path, answers))
                    found.add(now.key)
        return found

    def _take_field(self, field: Field, outcome: Outcome, sent: PageSent) -> None:
        """Let happen what a field came to, where it is another than stands there."""
        path, item, filling = field.path, field.item, self.session.filling
        if outcome.kind == "given":
            if outcome.answers != filling.at(path):
                self.apply(Given(path, outcome.answers, proposed=outcome.proposed))
                self._note_beside(field, outcome)
            stays_open = item.repeats and (
                path in self.session.filling.reopened or not (item.type in CHOICES and item.options)
            )
            if stays_open and sent.goes_on and path in self.session.filling.answers:
                self._no_more(path)
        elif outcome.kind == "unsure" and outcome.answers:
            is_open = not filling.settled(path) or path in filling.waiting
            if is_open and outcome.answers != filling.waiting.get(path):
                self.let_wait(field.question, outcome.answers)
        elif outcome.kind == "silent":
            if not filling.settled(path) or path in filling.answers or reason_at(self, path) != outcome.reason:
                self.set_aside(path, outcome.reason)
        elif outcome.kind == "noted":
            text = " ".join(outcome.texts)[:MAX_CHARACTERS]
            if text not in filling.noted.get(path, ()):
                self.apply(Noted(path, text), MarkedForStaff(path, "in the patient's own words"))
        elif outcome.kind == "blank" and sent.goes_on and field.control != "file":
            if path in filling.answers or not (filling.settled(path) or path in filling.computed):
                self.set_aside(path, "skipped")
        elif outcome.kind == "blank" and sent.goes_on and not filling.settled(path):
            self.set_aside(path, "skipped")

    def _note_beside(self, field: Field, outcome: Outcome) -> None:
        """Keep for the team what was written beside an answer."""
        for text in outcome.beside:
            heard = Hearing(self.engine, self.reader, self.session, text)
            heard.noted(field.question, beside=True)
            self.session = heard.session

    def _keep_words(self, field: Field, texts: Sequence[str]) -> None:
        """Keep what was written that leaves something to decide, and is no answer by itself."""
        stands = [
            *(str(each.value) for each in self.answers(field.path)),
            *self.session.filling.noted.get(field.path, ()),
        ]
        filler = self.session.filler
        told = (text for text in texts if text not in stands and self._decisions.tells(text, field.item, filler=filler))
        self.apply(*(Noted(field.path, text) for text in told if self._is_there(field.path)))

    def _no_more(self, path: Path) -> None:
        if first(path) not in self.session.filling.closed:
            self.apply(NoMore(path))

    def _left_empty(self, elements: Sequence[Element], sent: PageSent) -> dict[str, Path]:
        """Return the fields of added rows in which nothing was entered, by their keys, each with its row."""
        empty, left = dict[str, Path](), dict[Path, int]()
        for block in reversed([each for each in blocks_in(elements) if each.removable and sent.goes_on]):
            inside = list(fields_in((block,)))
            blank = [read_field(self, each, raw_of(each, sent.fields)).kind == "blank" for each in inside]
            item, own = self.item(block.path), first(block.path)
            may_go = self.session.filling.count(item, own) - max(item.least, int(item.has_rule)) - left.get(own, 0)
            blank += [not each.waits and each.key in sent.shown for each in inside]
            if all(blank) and may_go > 0:
                left[own] = left.get(own, 0) + 1
                empty |= {each.key: block.path for each in inside}
        return empty

    def _close(self, before: Sequence[Element], rows: Set[Path]) -> None:
        """Take out rows that were left empty, and note that there are no more of those that may repeat."""
        for path in sorted(rows, reverse=True):
            if self.engine.exists(self.session.filling, path):
                self.apply(GroupRemoved(path))
        for each in more_in(before):
            own, item = first(each.path), self.item(each.path)
            if self._is_there(own[:-1]) and own not in self.session.filling.disabled:
                self._no_more(below(own[:-1], item.link_id, self.session.filling.count(item, own)))

    def _do(self, section: Section, sent: PageSent) -> Path:
        """Do what is wanted besides saving; return the place of what was added."""
        what, key = sent.wants
        place = next((each for each in all_in(self.elements(section)) if each.key == key), None)
        if what == "add" and isinstance(place, More) and not place.is_full:
            self.apply(GroupAdded(place.path))
            return place.path
        if what == "remove" and isinstance(place, Block) and place.removable:
            self.apply(GroupRemoved(place.path))
        return ()

    def _put_what_is_open(self, section: Section, waited: Path, sent: PageSent) -> None:
        """Put the open question of the chat, or what waits there to be confirmed if it still does."""
        what, key = sent.wants
        wanted = next(
            (each.path for each in fields_in(self.elements(section)) if what == "open" and each.key == key), ()
        )
        if wanted:
            self.open_again(wanted, more=bool(self.item(wanted).repeats and self.answers(wanted)))
            self.ask(brief=True)
        elif waited and waited == self._waits_for() and not self.session.filling.settled(waited):
            self.ask_open(brief=True)
        else:
            self.onward()
            self.note(kept=None, kept_for=(), heading=())
            self.go_on()

    def confirm(self, paths: Sequence[Path]) -> None:
        """Ask in the chat as of a list: what waits is not opened there, for it stands in its field as well."""
        self.show_waiting(paths)

    def _waits_for(self) -> Path:
        """Return the question whose answer waits in the chat to be confirmed; empty for none."""
        waits = self.talk.phase == "asking" and self.talk.pending is not None
        step = self.step if waits else None
        return step.path if isinstance(step, AskItem) else ()

    def _is_there(self, path: Path) -> bool:
        filling = self.session.filling
        return not path or (self.engine.exists(filling, path) and filling.is_enabled(self.form, path))


def after_removal(form: Form, sent: PageSent, key: str) -> PageSent:
    """Return what was sent of a page once a row is out: its fields are gone, those of the rows after it moved up."""
    number, *gone = key.removeprefix("q").split("_")
    group = next((item for item in form.walk() if str(item.number) == number), None)
    if group is None:
        return sent
    inside = {f"q{item.number}" for item in group.walk()}

    def moved(name: str) -> str:
        of_field, dot, part = name.partition(".")
        called, *places = of_field.split("_")
        depth = len(gone) - 1
        if called not in inside or places[:depth] != gone[:depth] or int(places[depth]) < int(gone[depth]):
            return name
        if places[depth] == gone[depth]:
            return ""
        places[depth] = str(int(places[depth]) - 1)
        return "_".join((called, *places)) + dot + part

    fields = {new: values for name, values in sent.fields.items() if (new := moved(name))}
    return replace(sent, shown=frozenset(filter(None, map(moved, sent.shown))), fields=fields)

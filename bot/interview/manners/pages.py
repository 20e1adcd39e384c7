"""An interview as pages of a form: its sections, and what stands on each as things stand. Pure.

A section is a top-level group of the form, or top-level questions that follow each other. `page_turn.py` takes what is
sent; it makes the events that the turns of the chat make, so that a patient may go from one to the other at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.interview.form.form import Form, Item, Path
from bot.interview.manners.fields import (
    Field,
    Outcome,
    Raw,
    field_of,
    key_of,
    slots_in,
    token_of,
)
from bot.interview.manners.hints import form_hints, unit_hint
from bot.interview.manners.listening import NUMBERS, CachedReader
from bot.interview.manners.session import ListEntry, Quote, Saying, Sentence, Session, with_answers
from bot.interview.manners.turn import OpenTurn, choices_of, repeatable
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_names import CHOICES
from bot.interview.walk.engine import Done, Engine
from bot.interview.walk.filling import below

MOST_ROWS = 30  # of a group that repeats; every field of a page is read for signs of danger, which takes its time
_SAID_BY_PARTS = frozenset({"day", "moment"})  # controls whose parts say themselves in what form an answer is wanted


@dataclass(frozen=True, slots=True)
class Section:
    """Items that stand on one page; `number` is from 1."""

    number: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """A text of the form, or a value that nobody is asked for, on a page."""

    key: str
    path: Path
    said: tuple[Saying, ...]
    value: tuple[Saying, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A group, or what is asked about one answer; `removable`: whether the patient may take it out."""

    key: str
    path: Path
    said: tuple[Saying, ...]
    inside: tuple[Element, ...]
    removable: bool = False


@dataclass(frozen=True, slots=True)
class More:
    """The place of one more instance of a repeating group; `count` is how many there are."""

    key: str
    path: Path
    said: tuple[Saying, ...]
    count: int

    @property
    def is_full(self) -> bool:
        return self.count >= MOST_ROWS


Element = Field | Told | Block | More


@dataclass(frozen=True, slots=True)
class Entered:
    """What is in a field, and what it came to: nothing to be said where it was not sent."""

    raw: Raw
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the page that lists all answers: a heading, or a question with what was answered.

    `key` and `section` say where it can be changed; an empty key: nowhere.
    """

    said: tuple[Saying, ...]
    entry: ListEntry | None = None
    key: str = ""


def sections(form: Form) -> tuple[Section, ...]:
    """Return the sections of a form; texts alone stand with what follows them, at the end with what was before."""
    found, loose = list[tuple[Item, ...]](), list[Item]()
    for item in form.items:
        if item.type == "group" and _has_questions(item):
            asks = any(_has_questions(each) for each in loose)
            found += [tuple(loose), (item,)] if asks else [(*loose, item)]
            loose = []
        else:
            loose.append(item)
    if any(_has_questions(each) for each in loose) or not found:
        found.append(tuple(loose))
    elif loose:
        found[-1] += tuple(loose)
    return tuple(Section(number, items) for number, items in enumerate(found, 1))


def _has_questions(item: Item) -> bool:
    return any(each.asked for each in item.walk())


class PageView(OpenTurn):
    """What the pages of the form show, in the words of the chat."""

    def __init__(self, engine: Engine, reader: CachedReader, session: Session) -> None:
        super().__init__(engine, reader, session)
        self._sections = sections(engine.form)

    @property
    def version(self) -> int:
        """How many events there are: what a page says it was made from."""
        return len(self.session.past) + len(self.session.events)

    @property
    def total(self) -> int:
        return len(self._sections)

    @property
    def is_done(self) -> bool:
        """Whether all was asked, so that the patient can agree to the answers."""
        return isinstance(self.engine.next(self.session.filling), Done)

    def section(self, number: int) -> Section | None:
        """Return a section that has something to show as things stand."""
        found = self._sections[number - 1] if 1 <= number <= len(self._sections) else None
        return found if found is not None and self.elements(found) else None

    def section_after(self, number: int) -> int:
        """Return the number of the next section that has something to show; 0 for none."""
        return next((each.number for each in self._sections[number:] if self.elements(each)), 0)

    def section_before(self, number: int) -> int:
        """Return the number of the section before that has something to show; 0 for none."""
        return (
            next((each.number for each in self._sections[number - 2 :: -1] if self.elements(each)), 0)
            if number > 1
            else 0
        )

    @property
    def first_open(self) -> int:
        """The number of the first section with a question that is open, or an answer that waits; 0 for none."""
        filling = self.session.filling
        step = self.engine.next(filling)
        paths = [*self.engine.waiting(filling), *(() if isinstance(step, Done) else (step.path,))]
        return min((self.section_of(path).number for path in paths), default=0)

    def section_of(self, path: Path) -> Section:
        return next(each for each in self._sections if path[0][0] in {item.link_id for item in each.items})

    # What stands on a page

    def title(self, section: Section) -> tuple[Saying, ...]:
        """Return what a section is called: as its group, else as the form."""
        groups = [item for item in section.items if item.type == "group"]
        if not groups:
            return (Quote("", "title"),)
        return self._said(self._say_text, ((groups[0].link_id, 0),))

    def elements(self, section: Section) -> tuple[Element, ...]:
        """Return what stands on the page of a section; the one group of a section has no heading of its own."""
        return tuple(each for item in section.items for each in self._at(item, (), top=True))

    def _at(self, item: Item, around: Path, *, top: bool = False) -> Iterator[Element]:
        own, filling = below(around, item.link_id), self.session.filling
        if item.hidden:
            return
        if item.type == "group":
            yield from self._group(item, own, top=top)
        elif own in filling.disabled:
            return
        elif item.type == "display":
            if said := self._said(self._say_shown, own):
                yield Told(key_of(self.form, own), own, said)
        else:
            yield from self._question(item, own)

    def _group(self, item: Item, own: Path, *, top: bool) -> Iterator[Element]:
        filling = self.session.filling
        count, least = filling.count(item, own), max(item.least, int(item.has_rule))
        for number in range(count):
            path = below(own[:-1], item.link_id, number)
            if path in filling.disabled:
                continue
            inside = tuple(each for child in item.children for each in self._at(child, path))
            if top and not item.repeats:
                yield from inside
            elif inside:
                named = () if top else self._said(self._say_text, path)
                said = (*named, *((Sentence("instance", {"number": number + 1}),) if item.repeats else ()))
                yield Block(key_of(self.form, path), path, said, inside, removable=item.repeats and count > least)
        open_ended = item.repeats and own not in filling.disabled and not item.read_only
        if open_ended and (item.most is None or count < item.most):
            path = below(own[:-1], item.link_id, count)
            yield More(key_of(self.form, path), path, self._said(self._say_text, own), count)

    def _question(self, item: Item, own: Path) -> Iterator[Element]:
        filling = self.session.filling
        answers = filling.at(own)
        # Nobody is asked for what is calculated, unless it must be there and could not be.
        if item.asked and (item.formulas.calculated is None or answers or item.required or filling.settled(own)):
            yield field_of(self, own)
        elif answers:
            value = self._said(partial(self.repeat, "summary_answer", own, answers))
            yield Told(key_of(self.form, own), own, self._said(self._say_text, own), value)
        for number in range(len(answers)) if item.children else ():
            path = below(own[:-1], item.link_id, number)
            inside = tuple(each for child in item.children for each in self._at(child, path))
            if inside:
                about = self._said(partial(self.repeat, "about_answer", own, answers[number : number + 1]))
                yield Block(f"{key_of(self.form, path)}_of", path, about if len(answers) > 1 else (), inside)

    def label(self, field: Field) -> tuple[Saying, ...]:
        """Return what a field asks."""
        return self._said(partial(self._say_text, field.path, otherwise=Sentence("no_text")))

    def hints(self, field: Field) -> tuple[Saying, ...]:
        """Return what helps to fill in a field."""
        item = field.item

        def say() -> None:
            if item.type in NUMBERS and not field.units:
                self.parts += unit_hint(item, self.language)
            self.quote(item, "instruction", times=len(item.presentation.instructions))
            self._say_where_to_look(item)
            if field.control not in _SAID_BY_PARTS and not field.is_list:
                self.parts += form_hints(
                    item, self.language, is_first=item.type in ("time", "url"), now=self.reader.now
                )
            if field.control == "line" and item.type in CHOICES and not field.question.options:
                self.say("in_own_words")

        return self._said(say)

    def units(self, field: Field) -> tuple[Saying, ...]:
        """Return what the units of a number are called."""
        return tuple(with_answers("choice", field.item.link_id, (unit,)) for unit in field.units)

    def standing(self, field: Field) -> tuple[Saying, ...]:
        """Return what stands at a question for a file; nothing where none was sent."""
        answers = self.answers(field.path)
        return (with_answers("summary_answer", field.item.link_id, answers),) if answers else ()

    def help(self, field: Field) -> tuple[Saying, ...]:
        """Return why a field is asked."""
        return self._said(partial(self.quote, field.item, "help", times=len(field.item.presentation.help)))

    def own_words_label(self, field: Field) -> tuple[Saying, ...]:
        """Return what is said where other words than those listed are taken."""
        return self._said(partial(self.quote, field.item, "open_label", otherwise=Sentence("form_other")))

    def understood(self, field: Field, outcome: Outcome) -> tuple[Saying, ...]:
        """Return what was read in a field, or is offered, to be confirmed."""

        def say() -> None:
            answers = outcome.answers or (field.offered if outcome.kind == "blank" else ())
            if not answers:
                self.say("form_read_none")
                return
            if self.reader.is_unusual(field.item, field.question.options, self.language, answers):
                self.say("unusual")
            is_offer = outcome.kind == "blank" and field.proposed
            self.repeat("form_offered" if is_offer else "form_read", field.path, answers)

        return self._said(say)

    def meant(self, field: Field, outcome: Outcome) -> tuple[tuple[str, Saying], ...]:
        """Return the options that words could have meant, each with its token."""
        options = [option for option in field.question.options if option.answer in outcome.meant]
        return tuple(zip((token_of((each.answer,)) for each in options), choices_of(field.item, options), strict=True))

    def token(self, field: Field, outcome: Outcome) -> str:
        """Return what confirms what was read in a field, or is offered."""
        return token_of(outcome.answers or (field.offered if outcome.kind == "blank" else ()))

    def rows(self, section: Section) -> tuple[Row, ...]:
        """Return the lines of a section on the page that lists all answers."""
        own = {item.link_id for item in section.items}
        paths = [path for path in self.engine.questions(self.session.filling, shown_too=True) if path[0][0] in own]
        listed = list[tuple[Path, ...]]()
        said = self._said(lambda: listed.append(self._list_answers(paths)))
        rows = list[Row]()
        for each in said:
            if isinstance(each, ListEntry):
                rows.append(Row((), each, key_of(self.form, listed[0][each.number - 1]) if each.number else ""))
            elif rows and rows[-1].entry is None:
                rows[-1] = replace(rows[-1], said=(*rows[-1].said, each))
            else:
                rows.append(Row((each,)))
        return tuple(rows)

    def listed_sections(self) -> Iterator[tuple[Section, tuple[Row, ...]]]:
        """Yield the sections that have something to show, with their lines."""
        for section in self._sections:
            if self.elements(section) and (rows := self.rows(section)):
                yield section, rows

    @property
    def open_ends(self) -> tuple[Saying, ...]:
        """What is missing, or does not fit, as the summary of the chat says it."""
        return self._said(self._say_what_is_open)

    def repeatable(self, elements: Sequence[Element], entered: Mapping[str, Entered]) -> dict[str, list[Answer]]:
        """Return the answers that a page may repeat to the patient, by linkId."""
        here = list(fields_in(elements))
        known = repeatable(self, [each.question for each in here])
        for each in here:
            outcome = entered[each.key].outcome
            slots = (slot.answers for slot in slots_in(outcome.said))
            own = known.setdefault(each.item.link_id, [])
            own.extend((*each.units, *outcome.answers, *each.offered, *(one for answers in slots for one in answers)))
        return known

    def _say_shown(self, path: Path) -> None:
        self._say_text(path)
        self._say_where_to_look(self.item(path))

    def _said(self, say: Callable[..., object], *arguments: object) -> tuple[Saying, ...]:
        """Return what is said by one of the ways of the chat."""
        before, self.parts = self.parts, []
        try:
            say(*arguments)
            return tuple(self.parts)
        finally:
            self.parts = before


def all_in(elements: Sequence[Element]) -> Iterator[Element]:
    for each in elements:
        yield each
        if isinstance(each, Block):
            yield from all_in(each.inside)


def fields_in(elements: Sequence[Element]) -> Iterator[Field]:
    """Yield the fields of a page, in order."""
    return (each for each in all_in(elements) if isinstance(each, Field))


def told_in(elements: Sequence[Element]) -> Iterator[Told]:
    return (each for each in all_in(elements) if isinstance(each, Told))


def blocks_in(elements: Sequence[Element]) -> Iterator[Block]:
    return (each for each in all_in(elements) if isinstance(each, Block))


def more_in(elements: Sequence[Element]) -> Iterator[More]:
    return (each for each in all_in(elements) if isinstance(each, More))


def asked_or_told(elements: Sequence[Element]) -> Iterator[Field | Told]:
    return (each for each in all_in(elements) if isinstance(each, Field | Told))

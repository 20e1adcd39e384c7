"""What a reply may consist of, the guard that every reply passes, and replies as a place says them and as JSON. Pure.

A reply is a list of parts: an approved text of the catalog; a text of the Questionnaire; or a sentence of the program
whose slots hold numbers, or typed and escaped answers of this same patient. The guard makes every text again from what
is approved and compares; anything else raises.

What is read back is no more trusted than anything else: a reply passes the guard again before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from string import Formatter
from typing import Any, Literal, get_args

from bot.catalog.catalog import Catalog, Extract, Pair
from bot.catalog.countries import Country
from bot.catalog.quiz import Quiz
from bot.catalog.site import Fact, Site
from bot.errors import BadData, GuardViolation
from bot.interview.form.form import Form
from bot.interview.manners.session import Answers, FormField, ListEntry, Quote, Said, Saying, Sentence, Slot
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import NotJson, as_object, dump, parse
from bot.ports import Channel
from bot.sentences.spoken import form_text, spoken
from bot.sentences.wording import NEUTRAL, NO_HOUSE, House, Wording

QuizField = Literal["quiz_context", "quiz_question", "quiz_option"]
ContentField = Literal["question", "short_answer", "answer", "easy_answer", "extract", QuizField]
# Places of plain text.
UNFOLDING: frozenset[Channel] = frozenset({"terminal", "rest"})
# Fields that a pair has one of.
WholeField = Literal["question", "short_answer", "answer", "easy_answer"]
LEADS = ("short_answer", "easy_answer", "extract")


# Replies are made of the sentences that speak of no exam, and then worded for the exam in force.
SENTENCES: Mapping[str, Mapping[str, str]] = NEUTRAL.sentences


@dataclass(frozen=True, slots=True)
class Content:
    """A text of a pair, copied from the catalog."""

    pair_id: str
    field: ContentField
    text: str


@dataclass(frozen=True, slots=True)
class SiteText:
    """What the site says of a fact of the place, copied from its file."""

    fact: Fact
    text: str


@dataclass(frozen=True, slots=True)
class OtherExam:
    """A text of a pair of another exam, copied from that one's catalog."""

    exam: str
    pair_id: str
    text: str
    field: ContentField = "answer"


@dataclass(frozen=True, slots=True)
class Interface:
    """A fixed sentence of the program; slots hold numbers, or answers of this patient.

    `language` is that of the sentence where it is another than that of the reply, else empty.
    """

    key: str
    text: str
    slots: Mapping[str, Slot] = field(default_factory=dict)
    language: str = ""


@dataclass(frozen=True, slots=True)
class FormText:
    """A text of the Questionnaire.

    Attributes:
        link_id: Its item; empty for the form itself.
        field: Which of its texts.
        text: As it is shown.
        number: Which of several (option, help text), from 0.
    """

    link_id: str
    field: FormField
    text: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a summary: a question with what was answered; `number` is what the patient calls it by, or 0."""

    number: int
    label: FormText
    value: Interface

    @property
    def text(self) -> str:
        place = f"{self.number}. " if self.number else ""
        return f"{place}{self.label.text} – {self.value.text}"


Part = Content | SiteText | OtherExam | Interface | FormText | Entry


@dataclass(frozen=True, slots=True)
class Reply:
    """What the patient gets for one turn.

    Attributes:
        language: Of the interface and content texts.
        parts: In reading order.
        choices: What may be chosen by number, in order; empty unless the reply asks back.
    """

    language: str
    parts: tuple[Part, ...]
    choices: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Heard:
    """What an interview may repeat: the form, and by linkId the answers that this patient gave or is offered."""

    form: Form
    answers: Mapping[str, Sequence[Answer]] = field(default_factory=dict)

    def allows(self, slot: Answers) -> bool:
        known = self.answers.get(slot.link_id, ())
        return slot.link_id in self.form.by_link_id and all(answer in known for answer in slot.answers)


def content(pair: Pair, name: WholeField) -> Content:
    """Return a pair's text as a part; raise GuardViolation when the pair has no such text."""
    text = getattr(pair, name)
    if text is None:
        raise GuardViolation(f"The pair {pair.id!r} has no {name}.")
    return Content(pair.id, name, text)


def site_text(site: Site, fact: Fact, language: str) -> SiteText | None:
    """Return what a site says of a fact as a part; None where it says nothing."""
    text = site.text(fact, language)
    return SiteText(fact, text) if text is not None else None


def extract(pair: Pair, said: Extract) -> Content:
    """Return what a pair's answer says of one facet as a part."""
    return Content(pair.id, "extract", said.text)


def quiz_parts(pair: Pair, quiz: Quiz) -> tuple[Content, ...]:
    """Return what a pair's quiz asks as parts, with what introduces it."""
    context = (Content(pair.id, "quiz_context", quiz.context),) if quiz.context else ()
    return (*context, Content(pair.id, "quiz_question", quiz.question))


def quiz_option(pair: Pair, text: str) -> Content:
    """Return an option of a pair's quiz as a part."""
    return Content(pair.id, "quiz_option", text)


def sentence_of(sentences: Mapping[str, Mapping[str, str]], language: str, key: str) -> Interface:
    """Return a fixed sentence as the wording of a service has it, such as one that names another exam."""
    return Interface(key, sentences[language][key])


def of_other_exam(exam: str, pair_id: str, pairs: Mapping[str, Pair]) -> OtherExam | None:
    """Return the answer of another exam by what that one may show now; None where it may not."""
    return OtherExam(exam, pair_id, pairs[pair_id].answer) if pair_id in pairs else None


def as_of_other_exam(exam: str, part: Content) -> OtherExam:
    """Return what an exam says of its own pair as the text of another one."""
    return OtherExam(exam, part.pair_id, part.text, part.field)


def interface(language: str, key: str, **slots: int) -> Interface:
    """Return a fixed sentence as a part."""
    return Interface(key, SENTENCES[language][key].format(**slots), slots)


def shows_alarm(reply: Reply) -> bool:
    """Whether a reply tells the patient to get help at once, be it for the first time or again."""
    return any(isinstance(part, Interface) and part.key.startswith("urgent") for part in reply.parts)


def foreign_sentence(language: str, key: str) -> Interface:
    """Return a fixed sentence in a language of its own as a part."""
    return Interface(key, SENTENCES[language][key], {}, language)


def reply_of(said: Said, form: Form) -> Reply:
    """Put what an interview says into words."""
    parts, choices = (tuple(_worded(sayings, form, said.language)) for sayings in (said.parts, said.choices))
    return Reply(said.language, parts, choices)


def _worded(sayings: Sequence[Saying], form: Form, language: str) -> Iterator[Part]:
    for saying in sayings:
        part = part_of(saying, form, language)
        if part is not None:
            yield part


def part_of(saying: Saying | None, form: Form, language: str) -> Part | None:
    """Return what an interview says as a part; None for a text that the form does not have."""
    match saying:
        case Sentence(key, slots, otherwise):
            key = key if key in SENTENCES[language] or not otherwise else otherwise
            return Interface(key, _filled(SENTENCES[language][key], slots, form, language), slots)
        case Quote(link_id, name, number, otherwise):
            text = form_text(form, link_id, name, number, language)
            return FormText(link_id, name, text, number) if text else part_of(otherwise, form, language)
        case ListEntry(number, label, value):
            called, answer = part_of(label, form, language), part_of(value, form, language)
            if isinstance(called, FormText) and isinstance(answer, Interface):
                return Entry(number, called, answer)
    return None


def guard(
    reply: Reply,
    catalog: Catalog | None,
    *,
    shown: frozenset[str],
    heard: Heard | None = None,
    house: House = NO_HOUSE,
) -> Reply:
    """Return the reply if a patient may see all of it.

    Args:
        reply: What would be sent.
        catalog: The catalog in force in the reply's language; None where no pairs are shown.
        shown: Ids of its pairs that may be shown: approved ones, or drafts too in sample mode.
        heard: The form of the interview with its answers; None where there is no interview.
        house: Whose chat it is: what may be said of the place, and of the exam.

    Raises:
        GuardViolation: A part is not, byte for byte, a text of the catalog, of the site, of the form or of the program.
    """
    approved = _Approved(catalog, shown, heard, house)
    for part in (*reply.parts, *reply.choices):
        _check(part, reply.language, approved)
    return reply


@dataclass(frozen=True, slots=True)
class _Approved:
    """What parts of a reply may be copied from; `guard` says what each is."""

    catalog: Catalog | None
    shown: frozenset[str]
    heard: Heard | None
    house: House


SAFE = "safe"


def safe_reply(language: str) -> Reply:
    """Return what a patient gets when the guard refused a reply."""
    return Reply(language, (interface(language, SAFE),))


def is_safe_reply(reply: Reply) -> bool:
    """Say whether this is what a patient gets when the guard refused a reply."""
    return [part.key for part in reply.parts if isinstance(part, Interface)] == [SAFE]


def _check(part: Part, language: str, approved: _Approved) -> None:
    site = approved.house.site
    if isinstance(part, Entry):
        _check(part.label, language, approved)
        _check(part.value, language, approved)
        typed, allowed = type(part.number) is int, part.text
    elif isinstance(part, Content):
        typed, allowed = True, _catalog_text(part, approved.catalog, approved.shown) or ""
    elif isinstance(part, SiteText):
        typed, allowed = True, (site and site.text(part.fact, language)) or ""
    elif isinstance(part, OtherExam):
        typed, allowed = True, _text_elsewhere(part, language, approved.house) or ""
    elif isinstance(part, FormText):
        typed, allowed = type(part.number) is int, _form_text(part, language, approved.heard) or ""
    else:
        typed, allowed = True, _fixed_text(part, language, approved) or ""
    if not typed or not allowed or part.text != allowed:
        raise GuardViolation(f"A reply part is not approved text: {type(part).__name__}.")


def _catalog_text(part: Content, catalog: Catalog | None, shown: frozenset[str]) -> str | None:
    if catalog is None or part.pair_id not in shown or part.pair_id not in catalog.by_id:
        return None
    return _pair_text(part, catalog.by_id[part.pair_id])


def _pair_text(part: Content | OtherExam, pair: Pair) -> str | None:
    """Return what a part may say of a pair; None where the pair has no such text."""
    if part.field == "extract":
        return next((each.text for each in pair.extracts if each.text == part.text), None)
    if part.field in get_args(QuizField):
        return part.text if part.text in _quiz_texts(pair, part.field) else None
    text = getattr(pair, part.field) if part.field in get_args(WholeField) else None
    return str(text) if text is not None else None


def _text_elsewhere(part: OtherExam, language: str, house: House) -> str | None:
    """Return the text of another exam that may be shown now; None where there is none."""
    pairs = house.others[part.exam](language) if part.exam in house.others else {}
    return _pair_text(part, pairs[part.pair_id]) if part.pair_id in pairs else None


def _quiz_texts(pair: Pair, name: str) -> list[str]:
    """Return what the quizzes of a pair say in one of their fields."""
    if name == "quiz_option":
        return [option for quiz in pair.quizzes for option in quiz.options]
    return [getattr(quiz, name.removeprefix("quiz_")) for quiz in pair.quizzes]


def _form_text(part: FormText, language: str, heard: Heard | None) -> str | None:
    return form_text(heard.form, part.link_id, part.field, part.number, language) if heard else None


def _fixed_text(part: Interface, language: str, approved: _Approved) -> str | None:
    heard, template = approved.heard, approved.house.wording.sentences.get(part.language or language, {}).get(part.key)
    # Just the slots that the sentence has; numbers (True is an int too), and what this patient answered.
    typed = all(
        heard is not None and heard.allows(value) if isinstance(value, Answers) else type(value) is int
        for value in part.slots.values()
    )
    if template is None or not typed or set(part.slots) != _slots(template):
        return None
    return _filled(template, part.slots, heard.form if heard else None, language)


def _filled(template: str, slots: Mapping[str, Slot], form: Form | None, language: str) -> str:
    worded = {
        name: spoken(form, value.link_id, value.answers, language) if form and isinstance(value, Answers) else value
        for name, value in slots.items()
    }
    return template.format(**worded)


def _slots(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a patient is.

    Attributes:
        channel: How the patient talks to us.
        country: Whose emergency numbers are said; None: those of all.
        uploads: Whether files can be sent there.
        wording: The sentences as they speak of the exam.
    """

    channel: Channel = "terminal"
    country: Country | None = None
    uploads: bool = False
    wording: Wording = NEUTRAL


def worded(reply: Reply, place: Place) -> Reply:
    """Return the reply in the sentences of a place and its exam; they are fixed sentences too, and pass the same guard.

    Where nothing can be folded, an answer that a short one stands for is left out, and is to be asked for.
    """
    parts = tuple(_said_there(part, reply.language, place) for part in reply.parts)
    choices = tuple(_of_exam(part, reply.language, place.wording) for part in reply.choices)
    return replace(reply, parts=_unfolded(reply, parts) if place.channel in UNFOLDING else parts, choices=choices)


def folded(reply: Reply) -> dict[str, Content]:
    """Return by pair what stands for its whole answer in a reply: a shorter or easier text right before it."""
    return {
        lead.pair_id: lead
        for lead, whole in pairwise(reply.parts)
        if isinstance(lead, Content) and isinstance(whole, Content)
        if lead.pair_id == whole.pair_id and lead.field in LEADS and whole.field == "answer"
    }


def _unfolded(reply: Reply, parts: Sequence[Part]) -> tuple[Part, ...]:
    stands = folded(reply)
    if not stands:
        return tuple(parts)
    kept = [
        part for part in parts if not (isinstance(part, Content) and part.field == "answer" and part.pair_id in stands)
    ]
    last = max(number for number, part in enumerate(kept) if isinstance(part, Content))
    return (*kept[: last + 1], interface(reply.language, "more_hint"), *kept[last + 1 :])


def emergency_notice(language: str, country: Country | None) -> Interface:
    """Return the sentence that says whom to call in a country; None: the numbers of all."""
    key = f"emergency_notice_{country.lower()}" if country else "emergency_notice"
    return interface(language, key)


def _said_there(part: Part, language: str, place: Place) -> Part:
    if not isinstance(part, Interface) or part.slots:
        return part
    key, known = part.key, place.wording.sentences.get(part.language or language, {})
    plain = "plain" if place.channel != "terminal" and f"{key}_{place.channel}" not in known else ""
    country, upload = place.country.lower() if place.country else "", "upload" if place.uploads else ""
    for suffix in (place.channel, plain, upload, country):
        key = f"{key}_{suffix}" if f"{key}_{suffix}" in known else key
    return replace(part, key=key, text=known[key])


def _of_exam(part: Part, language: str, wording: Wording) -> Part:
    if not isinstance(part, Interface) or part.slots:
        return part
    return replace(part, text=wording.sentences[part.language or language][part.key])


def write_reply(reply: Reply) -> str:
    """Return a reply as JSON; numbers keep their digits."""
    stored: dict[str, Any] = {
        "language": reply.language,
        "parts": [_part_to_json(part) for part in reply.parts],
        "choices": [_part_to_json(part) for part in reply.choices],
    }
    return dump(stored)


def read_reply(text: str) -> Reply:
    """Return the reply that `write_reply` wrote; raise BadData when it is damaged."""
    try:
        stored: Any = as_object(parse(text).value)
        parts, choices = (tuple(_part_from_json(part) for part in stored[name]) for name in ("parts", "choices"))
        return Reply(str(stored["language"]), parts, choices)
    except (NotJson, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadData("A stored reply cannot be read. Restore the database from its backup.") from error


def repeated(replies: Sequence[Reply]) -> dict[str, list[Answer]]:
    """Return the answers that stored replies repeat, by linkId."""
    known: dict[str, list[Answer]] = {}
    for slot in (slot for reply in replies for part in (*reply.parts, *reply.choices) for slot in _answers_in(part)):
        known.setdefault(slot.link_id, []).extend(slot.answers)
    return known


def _answers_in(part: Part) -> Iterator[Answers]:
    sentence = part.value if isinstance(part, Entry) else part
    if isinstance(sentence, Interface):
        yield from (slot for slot in sentence.slots.values() if isinstance(slot, Answers))


def _part_to_json(part: Part) -> dict[str, Any]:
    kind = type(part).__name__
    if isinstance(part, Entry):
        return {
            "kind": kind,
            "number": part.number,
            "label": _part_to_json(part.label),
            "value": _part_to_json(part.value),
        }
    stored = {"kind": kind, **{each.name: getattr(part, each.name) for each in fields(part)}}
    if isinstance(part, Interface):
        stored["slots"] = {name: _slot_to_json(slot) for name, slot in part.slots.items()}
        if not part.language:
            del stored["language"]
    return stored


def _slot_to_json(slot: Slot) -> Any:
    if not isinstance(slot, Answers):
        return slot
    return {
        "link_id": slot.link_id,
        "answers": [{"type": answer.type, "value": answer.value} for answer in slot.answers],
    }


def _part_from_json(stored: Mapping[str, Any]) -> Part:
    values = {name: value for name, value in stored.items() if name != "kind"}
    if stored["kind"] == "Entry":
        label, value = _part_from_json(values["label"]), _part_from_json(values["value"])
        if not isinstance(label, FormText) or not isinstance(value, Interface):
            raise TypeError("a line of a summary is a label and a value")
        return Entry(values["number"], label, value)
    if stored["kind"] == "Interface":
        values["slots"] = {name: _slot_from_json(slot) for name, slot in values["slots"].items()}
    kinds: dict[str, type[Content] | type[SiteText] | type[OtherExam] | type[Interface] | type[FormText]] = {
        each.__name__: each for each in (Content, SiteText, OtherExam, Interface, FormText)
    }
    return kinds[stored["kind"]](**values)


def _slot_from_json(stored: Any) -> Slot:
    if isinstance(stored, Mapping):
        answers = tuple(Answer(each["type"], each["value"]) for each in stored["answers"])
        return Answers(str(stored["link_id"]), answers)
    return int(stored)

"""What a reply may consist of, and the guard that every reply passes. Pure.

A reply is a list of parts: an approved text of the catalog; a text of the Questionnaire; or a sentence of the program
whose slots hold numbers, or typed and escaped answers of this same patient. The guard makes every text again from what
is approved and compares; anything else raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Literal, get_args

from bot.catalog.catalog import Catalog, Pair
from bot.errors import GuardViolation
from bot.interview.form.form import Form
from bot.interview.manners.said import Answers, FormField, ListEntry, Quote, Said, Saying, Sentence, Slot
from bot.interview.values.answer import Answer
from bot.sentences.emergency_texts import sentences
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.sentences.interview_texts import INTERVIEW_TEXTS
from bot.sentences.spelling import swiss
from bot.sentences.spoken import form_text, spoken

ContentField = Literal["question", "answer", "easy_answer"]


def _all(language: str) -> dict[str, str]:
    """Return all sentences of a language; those that a country says or spells otherwise end in its code."""
    found = {**INTERFACE_TEXTS[language], **INTERVIEW_TEXTS.get(language, {}), **sentences(language)}
    if language == "de":
        fixed = {key: swiss(text) for key, text in found.items() if "ß" in text and "{" not in text}
        found |= {key if key.endswith("_ch") else f"{key}_ch": text for key, text in fixed.items()}
    return found


# All sentences of the program, by language and key.
SENTENCES: Mapping[str, Mapping[str, str]] = {language: _all(language) for language in INTERFACE_TEXTS}


@dataclass(frozen=True, slots=True)
class Content:
    """A text of a pair, copied from the catalog."""

    pair_id: str
    field: ContentField
    text: str


@dataclass(frozen=True, slots=True)
class Interface:
    """A fixed sentence of the program; slots hold numbers, or answers of this patient."""

    key: str
    text: str
    slots: Mapping[str, Slot] = field(default_factory=dict)


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


Part = Content | Interface | FormText | Entry


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


def content(pair: Pair, name: ContentField) -> Content:
    """Return a pair's text as a part; raise GuardViolation when the pair has no such text."""
    text = getattr(pair, name)
    if text is None:
        raise GuardViolation(f"The pair {pair.id!r} has no {name}.")
    return Content(pair.id, name, text)


def interface(language: str, key: str, **slots: int) -> Interface:
    """Return a fixed sentence as a part."""
    return Interface(key, SENTENCES[language][key].format(**slots), slots)


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


def guard(reply: Reply, catalog: Catalog | None, *, shown: frozenset[str], heard: Heard | None = None) -> Reply:
    """Return the reply if a patient may see all of it.

    Args:
        reply: What would be sent.
        catalog: The catalog in force in the reply's language; None where no pairs are shown.
        shown: Ids of its pairs that may be shown: approved ones, or drafts too in sample mode.
        heard: The form of the interview with its answers; None where there is no interview.

    Raises:
        GuardViolation: A part is not, byte for byte, a text of the catalog, of the form or of the program.
    """
    for part in (*reply.parts, *reply.choices):
        _check(part, reply.language, catalog, shown, heard)
    return reply


def safe_reply(language: str) -> Reply:
    """Return what a patient gets when the guard refused a reply."""
    return Reply(language, (interface(language, "safe"),))


def _check(part: Part, language: str, catalog: Catalog | None, shown: frozenset[str], heard: Heard | None) -> None:
    if isinstance(part, Entry):
        _check(part.label, language, catalog, shown, heard)
        _check(part.value, language, catalog, shown, heard)
        typed, allowed = type(part.number) is int, part.text
    elif isinstance(part, Content):
        typed, allowed = True, _catalog_text(part, catalog, shown) or ""
    elif isinstance(part, FormText):
        typed, allowed = type(part.number) is int, _form_text(part, language, heard) or ""
    else:
        typed, allowed = True, _fixed_text(part, language, heard) or ""
    if not typed or not allowed or part.text != allowed:
        raise GuardViolation(f"A reply part is not approved text: {type(part).__name__}.")


def _catalog_text(part: Content, catalog: Catalog | None, shown: frozenset[str]) -> str | None:
    if catalog is None or part.pair_id not in shown or part.pair_id not in catalog.by_id:
        return None
    text = getattr(catalog.by_id[part.pair_id], part.field) if part.field in get_args(ContentField) else None
    return str(text) if text is not None else None


def _form_text(part: FormText, language: str, heard: Heard | None) -> str | None:
    return form_text(heard.form, part.link_id, part.field, part.number, language) if heard else None


def _fixed_text(part: Interface, language: str, heard: Heard | None) -> str | None:
    template = SENTENCES.get(language, {}).get(part.key)
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

"""A Questionnaire ready to be asked: items with texts, options, limits and formulas. Immutable and pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from html import unescape
from typing import Literal

from bot.interview.formulas.formula import Formula
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    code_key,
    companion,
    extension_value,
    string,
    translations,
    value_name,
)
from bot.interview.values.terminology import Terminology

_SHOWN_TEXT = 60  # characters of a question in a warning about it
_RENDERING = "http://hl7.org/fhir/StructureDefinition/rendering-"
_MARKDOWN, _XHTML = _RENDERING + "markdown", _RENDERING + "xhtml"
# What stands in the place of a tag; nothing where it is within a line.
_PARTING = {
    **dict.fromkeys(
        [
            "p",
            "br",
            "div",
            "li",
            "ul",
            "ol",
            "tr",
            "table",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "hr",
            "blockquote",
            "pre",
            "dt",
            "dd",
        ],
        "\n",
    ),
    **dict.fromkeys(("td", "th"), " "),
}
_TAG = re.compile(
    r"</?(p|br|div|li|ul|ol|tr|td|th|table|tbody|thead|h[1-6]|hr|blockquote|pre|dl|dt|dd|span|strong|b|i|u|s|em|sup|sub|"
    r"small|big|font|a|img|center|code|mark|del|ins|label|style)"
    r"(?:\s+[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))*\s*/?>",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?-->|<style\b[^<>]*>.*?</style>", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"&(?:[a-zA-Z]{2,10}|#[0-9]{1,6}|#x[0-9a-fA-F]{1,5});")
_LINE_MARK = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\(([^()\s]*)[^()]*\)")
_EMPHASIS = re.compile(r"(\*\*\*|\*\*|\*|___|__|(?<!\w)_)(?=\S)(.+?)(?<=\S)\1")
# From the root to one instance of an item. The number counts the repetitions of a group; a question itself has 0,
# and stands with the number of one of its answers in the paths of what is asked about that answer.
Path = tuple[tuple[str, int], ...]

ItemType = Literal[
    "group", "display", "boolean", "decimal", "integer", "date", "dateTime", "time", "string", "text", "url",
    "choice", "open-choice", "attachment", "reference", "quantity",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Text:
    """What people read: the Questionnaire's own wording, and translations by language tag."""

    base: str = ""
    translations: Mapping[str, str] = field(default_factory=dict)

    def into(self, language: str) -> str:
        """Return the text in `language`, else in a regional form of it, else as it stands."""
        if language in self.translations:
            return self.translations[language]
        wanted = language.partition("-")[0].lower()
        kin = (text for tag, text in self.translations.items() if tag.partition("-")[0].lower() == wanted)
        return next(kin, self.base)


def read_text(element: JsonObject, name: str) -> Text:
    """Return the text `name` with its translations, as plain words; what stands only as Markdown or XHTML, too."""
    said = {language: plain_words(text) for language, text in translations(element, name).items()}
    beside, written = companion(element, name), string(element, name)
    markdown = extension_value(beside, _MARKDOWN)
    if markdown is not None and markdown.value == written:  # it is Markdown itself
        return Text(_without_marks(written), said)
    base = plain_words(written)
    return Text(base if base.strip() else _rendered(beside) or base, said)


def _rendered(beside: JsonObject) -> str:
    """Return what a text says that is given by its rendering alone."""
    for url, plain in ((_MARKDOWN, _without_marks), (_XHTML, plain_words)):
        value = extension_value(beside, url)
        if value is not None and isinstance(value.value, str):
            return plain(value.value)
    return ""


def plain_words(text: str) -> str:
    """Return a text without HTML: tags fall away, entities become characters. A text without any stays as it is.

    "< 5 mg" and "a<b" are no tags: one begins with the name of an element.
    """
    if not (_TAG.search(text) or _ENTITY.search(text)):
        return text
    if _TAG.search(text):
        text = _TAG.sub(lambda tag: _PARTING.get(tag[1].lower(), ""), _COMMENT.sub("", text))
        lines = (" ".join(line.split()) for line in _ENTITY.sub(lambda entity: unescape(entity[0]), text).split("\n"))
        return "\n".join(line for line in lines if line)
    return _ENTITY.sub(lambda entity: unescape(entity[0]), text).replace("\xa0", " ")


def _without_marks(text: str) -> str:
    """Return Markdown as plain words: without the marks of headings, lists, links and emphasis."""
    lines = (_LINE_MARK.sub("", line).strip() for line in plain_words(text).split("\n"))
    joined = "\n".join(line for line in lines if line)
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1 (\2)", joined))


def label_of(answer: Answer, element: JsonObject | None = None) -> Text:
    """Return what stands for an answer in a list; `element` is what held it."""
    value = answer.value
    if isinstance(value, dict):
        texts = (read_text(value, name) for name in ("display", "code", "reference", "title"))
        called = next((text for text in texts if text.base.strip() or text.translations), None)
        if called is not None:
            return called
        value = code_key(value)[1] or value.get("value")
    elif element and isinstance(value, str):
        return read_text(element, value_name(answer.type))
    if isinstance(value, bool):
        return Text("true" if value else "false")
    return Text("" if value is None else str(value))


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to choose.

    Attributes:
        prefix: Such as "(a)", to be shown before the label.
        ordinal: What the option counts in a score.
        marks: The extensions that say what it counts.
        exclusive: Whether it stands alone ("none of these").
        selected: Whether the Questionnaire proposes it.
        synonyms: What else patients call it, in any language.
        lent: Languages of the label that the form has no words in: those of the code system, or of a supplement.
        refused: The validator's rules against choosing it; None where nobody has looked yet.
    """

    answer: Answer
    label: Text
    prefix: str = ""
    ordinal: Decimal | None = None
    marks: tuple[JsonObject, ...] = ()
    exclusive: bool = False
    selected: bool = False
    synonyms: tuple[str, ...] = ()
    lent: frozenset[str] = frozenset()
    refused: tuple[str, ...] | None = field(default=None, compare=False)


def named_option(answer: Answer, options: Sequence[Option]) -> Option | None:
    """Return the option that an answer names: the same code, or the same value."""
    # A bare code, as a formula may give it, names the option as well.
    system, code = code_key(as_object(answer.value)) if isinstance(answer.value, dict) else ("", answer.value)
    for option in options:
        listed = option.answer.value
        if listed == answer.value:
            return option
        known = code_key(as_object(listed))
        if code and known[1] == code and system in ("", known[0]):
            return option
    return None


@dataclass(frozen=True, slots=True)
class Condition:
    """One enableWhen: `answer` is compared with the answers to `question`."""

    question: str
    operator: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class Constraint:
    """What must hold of a form, a group or an answer. `owner` is empty for the whole form."""

    owner: str
    key: str
    severity: Literal["error", "warning"]
    human: Text
    formula: Formula


@dataclass(frozen=True, slots=True)
class Toggle:
    """Options that can be chosen only while the formula is true."""

    options: tuple[Answer, ...]
    formula: Formula


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit: a fixed value, or a formula that gives one (``today()``)."""

    fixed: Answer | None = None
    formula: Formula | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What an answer must keep to; None where nothing is said. `pattern` is as the form writes it."""

    minimum: Bound | None = None
    maximum: Bound | None = None
    min_length: int | None = None
    max_length: int | None = None
    one_line: bool = False
    pattern: str | None = None
    decimal_places: int | None = None
    min_occurs: int | None = None
    max_occurs: int | None = None
    mime_types: tuple[str, ...] = ()
    max_bytes: int | Decimal | None = None
    reference_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Units:
    """Units of a number.

    Attributes:
        usual: The unit meant when none is said.
        choices: The units to choose from; empty when nothing is said.
        value_set: Where further units are, when they are not listed one by one.
        open: Whether other units are taken too.
        label: What a display item of the form calls the unit.
    """

    usual: JsonObject | None = None
    choices: tuple[JsonObject, ...] = ()
    value_set: str = ""
    open: bool = True
    label: Text = Text()

    def quantity(self, value: int | Decimal) -> Answer:
        """Return a number as a quantity in the usual unit."""
        made: dict[str, JsonValue] = {"value": value}
        if self.usual:
            made["unit"] = string(self.usual, "display") or string(self.usual, "code")
            made |= {name: self.usual[name] for name in ("system", "code") if self.usual.get(name)}
        return Answer("quantity", made)

    def offer(self, quantity: JsonObject) -> bool:
        """Say whether the unit of a quantity is one to choose from, called as it is there or in a translation."""
        return any(_is_unit(quantity, choice) for choice in self.choices)

    def as_listed(self, quantity: JsonObject) -> dict[str, JsonValue]:
        """Return a quantity with its unit as the form writes it, where the form lists the same code by another text."""
        same = [choice for choice in self.choices if string(choice, "code") and code_key(choice) == code_key(quantity)]
        if not same or self.offer(quantity):
            return dict(quantity)
        return {**quantity, "unit": string(same[0], "display")}


def _is_unit(quantity: JsonObject, choice: JsonObject) -> bool:
    """Compare what the choice states; its display, or a translation of it, is the unit as people read it."""
    if any(string(choice, name) not in {"", string(quantity, name)} for name in ("system", "code")):
        return False
    names = {string(choice, "display"), *translations(choice, "display").values()}
    unit = string(quantity, "unit")
    return names == {""} or unit in names or (not unit and bool(string(choice, "code")))


@dataclass(frozen=True, slots=True)
class Stated:
    """What an item says of its answers as it is written: what the validator holds them against.

    Attributes:
        options: Its answerOptions, as answers repeat them, each beside the value as it stands in the form.
    """

    raw: JsonObject
    type: str
    required: bool
    repeats: bool
    limits: Limits
    units: Units
    options: tuple[tuple[Answer, Answer], ...]


@dataclass(frozen=True, slots=True)
class Presentation:
    """What helps to ask; nothing of it changes what is a good answer."""

    control: str = ""
    help: tuple[Text, ...] = ()
    instructions: tuple[Text, ...] = ()
    entry_format: Text = Text()
    short: Text = Text()
    open_label: Text = Text()
    category: str = ""
    slider: tuple[Text, Text] = (Text(), Text())
    step: Decimal | None = None
    links: tuple[str, ...] = ()
    media: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True)
class Formulas:
    """The expressions of an item. A variable without a formula never has a value."""

    variables: tuple[tuple[str, Formula | None], ...] = ()
    enabled: Formula | None = None
    initial: Formula | None = None
    calculated: Formula | None = None
    options: Formula | None = None
    toggles: tuple[Toggle, ...] = ()
    text: Formula | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the form.

    Attributes:
        number: Its place in the form, counted through all levels.
        line: linkIds from the outermost group to this item.
        stated: Its demands as they are written; those below are as they are meant.
        asked: Whether somebody is asked for it: no group, not hidden, not read-only, nor inside such.
        hidden: Whether it, or something around it, is hidden.
        answer_types: What its answers may be, as in ``value[x]``.
        options: Listed answers; empty where none are listed.
        open: Whether answers that are not listed are taken.
        any_condition: Whether one true condition is enough.
        uncertain: Whether it, or something around it, has a condition that cannot be evaluated: it is asked, and
            never required.
        left_out: Whether it cannot be asked as the form means it, so that it stays without an answer.
        synonyms: What else patients call what is asked, in any language.
        yes_said: What patients say, in any language, when yes is meant: "I have a lump".
    """

    link_id: str
    type: ItemType
    number: int
    line: tuple[str, ...]
    raw: JsonObject
    stated: Stated
    text: Text
    prefix: str
    required: bool
    repeats: bool
    read_only: bool
    hidden: bool
    asked: bool
    answer_types: frozenset[str]
    initial: tuple[Answer, ...]
    options: tuple[Option, ...]
    open: bool
    conditions: tuple[Condition, ...]
    any_condition: bool
    limits: Limits
    units: Units
    presentation: Presentation
    formulas: Formulas
    constraints: tuple[Constraint, ...]
    children: tuple[Item, ...]
    uncertain: bool = False
    left_out: bool = False
    synonyms: tuple[str, ...] = ()
    yes_said: tuple[str, ...] = ()

    @property
    def is_question(self) -> bool:
        return self.type not in {"group", "display"}

    @property
    def parent(self) -> str:
        """The linkId of the item around it; empty at the top."""
        return self.line[-2] if len(self.line) > 1 else ""

    @property
    def has_rule(self) -> bool:
        """Whether answers decide if it is enabled."""
        return bool(self.conditions or self.formulas.enabled)

    @property
    def most(self) -> int | None:
        """How many answers (or instances of the group) there may be; None for any number."""
        return self.limits.max_occurs if self.repeats else 1

    @property
    def least(self) -> int:
        """How many answers (or instances) there must be once it is enabled."""
        return max(self.limits.min_occurs or 0, int(self.required))

    def walk(self) -> Iterator[Item]:
        """Yield this item and all inside it, in the order they are asked."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Note:
    """Something about a Questionnaire that its author should know. `link_id` is empty when it concerns all of it."""

    link_id: str
    feature: str
    text: str

    def as_line(self) -> str:
        return f"{self.link_id or 'Questionnaire'}: {self.feature}: {self.text}"


@dataclass(frozen=True, slots=True)
class Form:
    """A Questionnaire that can be asked.

    Attributes:
        language: Of the base texts; empty when the Questionnaire does not say.
        languages: The base language, then all that some text is translated to.
        variables: Named formulas of the whole form.
        launch: Names under which the surroundings may be handed in (``patient``).
        gaps: Those of the warnings that say what is not done as the form means it.
        known: Value sets and code systems that the form was compiled with.
    """

    url: str
    version: str
    title: Text
    language: str
    languages: tuple[str, ...]
    items: tuple[Item, ...]
    by_link_id: Mapping[str, Item]
    variables: tuple[tuple[str, Formula | None], ...]
    constraints: tuple[Constraint, ...]
    launch: frozenset[str]
    warnings: tuple[Note, ...]
    raw: JsonObject
    gaps: tuple[Note, ...] = ()
    known: Terminology = field(default_factory=Terminology, compare=False, repr=False)

    def gap_lines(self) -> Iterator[str]:
        """Yield for staff what is not done as the form means it, each on a line with what its item asks."""
        yield from map(self.line_of, self.gaps)

    def line_of(self, note: Note) -> str:
        """Return a note as a line that also says what its item asks."""
        item = self.by_link_id.get(note.link_id)
        text = " ".join(item.text.base.split())[:_SHOWN_TEXT] if item is not None else ""
        return f"{note.link_id} ({text}): {note.feature}: {note.text}" if text else note.as_line()

    def text(self, item: Item, language: str) -> str:
        """Return what is asked."""
        return item.text.into(language)

    def help(self, item: Item, language: str) -> str:
        """Return why it is asked and how to answer; empty when the form says nothing."""
        return "\n".join(text.into(language) for text in item.presentation.help)

    def options(self, item: Item, language: str) -> tuple[tuple[Option, str], ...]:
        """Return the listed answers, each with its label."""
        return tuple((option, option.label.into(language)) for option in item.options)

    def walk(self) -> Iterator[Item]:
        """Yield all items in the order they are asked."""
        for item in self.items:
            yield from item.walk()

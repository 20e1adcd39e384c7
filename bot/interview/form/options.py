"""The listed answers of an item: what can be chosen, what is proposed, which option an answer names. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation

from bot.interview.form.form import Item, Option, Text, label_of, named_option, read_text
from bot.interview.form.formulas import Site
from bot.interview.form.indexed import LISTING, can_be_listed, is_true, repeatable
from bot.interview.form.support import CORE
from bot.interview.form.texts import extension_text
from bot.interview.values import fhir_names
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    code_key,
    extension_value,
    extension_values,
    extensions,
    number,
    objects,
    string,
    value_of,
    values_of,
    walk,
)
from bot.interview.values.fhir_names import ANSWER_TYPES, CHOICES
from bot.interview.values.primitives import PRIMITIVES, problem_with
from bot.interview.values.terminology import Concept, Terminology

_SCORES = (CORE + "itemWeight", CORE + "ordinalValue")
_PREFIXES = (CORE + "questionnaire-optionPrefix", CORE + "valueset-label")


@dataclass(frozen=True, slots=True)
class Listed:
    """The listed answers of a question; `gap` says why some or all could not be listed."""

    options: tuple[Option, ...] = ()
    gap: str = ""


@dataclass(slots=True)
class OptionReader:
    """Reads the listed answers of the items of one form; a value set that many of them share is listed once."""

    terminology: Terminology
    _expanded: dict[tuple[str, bool], Listed] = field(default_factory=dict)

    def read(self, raw: JsonObject, kind: str) -> Listed:
        """Read answerOption, or expand answerValueSet; a plain text item takes the codes of a value set as text."""
        given = [option for each in objects(raw, "answerOption") if (option := _option(each, kind, self.terminology))]
        canonical = string(raw, "answerValueSet") if kind in (*CHOICES, "string") else ""
        if given or not canonical:
            return Listed(_told_apart(given))
        key = canonical, kind in CHOICES
        if key not in self._expanded:
            self._expanded[key] = self._expand(*key)
        return self._expanded[key]

    def _expand(self, canonical: str, coded: bool) -> Listed:
        expansion = self.terminology.expand(canonical)
        active = (concept for concept in expansion.concepts if not concept.inactive)
        options = [_from_concept(concept, self.terminology, coded=coded) for concept in active]
        return Listed(_told_apart(options), "; ".join(expansion.missing))


def _told_apart(options: Sequence[Option]) -> tuple[Option, ...]:
    """Return options, each of those of the same name with what else tells it: its code, or the system of that.

    What is listed twice is listed once.
    """
    named = Counter(_name_of(option) for option in options)
    if len(named) == len(options):
        return tuple(options)
    once: list[Option] = []
    for option in options:
        if named[_name_of(option)] == 1 or all(option.answer != other.answer for other in once):
            once.append(option)
    names = Counter(_name_of(option) for option in once)
    codes = Counter((_name_of(option), code_key(as_object(option.answer.value))[1]) for option in once)
    found: list[Option] = []
    for option in once:
        system, code = code_key(as_object(option.answer.value))
        telling = code if codes[_name_of(option), code] == 1 else f"{system} {code}".strip()
        found.append(_called_beside(option, telling) if names[_name_of(option)] > 1 and telling else option)
    return tuple(found)


def _name_of(option: Option) -> str:
    return " ".join(f"{option.prefix} {option.label.base}".casefold().split())


def _called_beside(option: Option, telling: str) -> Option:
    """Return an option with `telling` behind its label in every language; its bare label is still understood."""
    label = option.label
    added = {language: f"{text} ({telling})" for language, text in label.translations.items()}
    bare = (label.base, *label.translations.values())
    return replace(option, label=Text(f"{label.base} ({telling})", added), synonyms=(*option.synonyms, *bare))


def missing_value_sets(raw: JsonObject, known: Terminology) -> tuple[str, ...]:
    """Return the canonicals of the value sets that would have to be at hand to know all answers and units of a form."""
    inside = known.within(raw)
    named = [string(item, "answerValueSet") for item in walk(objects(raw, "item"))]
    named += [
        str(each.value)
        for item in walk(objects(raw, "item"))
        for each in extension_values(item, *fhir_names.UNIT_VALUE_SET)
    ]
    return tuple(dict.fromkeys(each for name in dict.fromkeys(named) if name for each in inside.absent(name)))


def check_options(options: Sequence[Option], site: Site) -> None:
    """Warn of what is listed and cannot be chosen, and of codes that servers will not take."""
    kind = string(site.raw, "type")
    given = objects(site.raw, "answerOption")
    unused = len(given) - len(options) if given and (options or "answerValueSet" not in site.raw) else 0
    if (kind not in LISTING and given) or (kind not in (*CHOICES, "string") and "answerValueSet" in site.raw):
        site.miss("answerOption", f"what it lists is left out: an item of type {kind} is answered without a list")
    elif unused > 0:
        site.miss(
            "answerOption",
            f"options left out: {unused}; they say nothing, are there twice, or are no answers to a {kind}",
        )
    coded = (as_object(option.answer.value) for option in options if option.answer.type == "coding")
    if any(":" not in str(coding.get("system", "")) for coding in coded):
        site.warn("answerOption", "codes without the URI of their system; a server may refuse them")


def _option(element: JsonObject, kind: str, terminology: Terminology) -> Option | None:
    answer = value_of(element)
    if answer is None:
        return None
    inner, chosen = as_object(answer.value), repeatable(answer, kind)
    if chosen.value in ({}, "") or chosen.type not in ANSWER_TYPES[kind] or not can_be_listed(answer, kind):
        return None  # nothing can be chosen by it, or nothing that FHIR takes as an answer
    called = _called(label_of(answer, element), inner if answer.type == "coding" else {}, terminology)
    if not called.label.base.strip():
        return None  # nobody could see it
    return Option(
        answer=chosen,
        label=called.label,
        synonyms=called.synonyms,
        lent=called.lent,
        prefix=_prefix(element),
        ordinal=_score(element, inner),
        marks=tuple(extensions(element, *_SCORES)) or tuple(extensions(inner, *_SCORES)),
        exclusive=_is_marked(element),
        selected=is_true(element.get("initialSelected")),
    )


def _from_concept(concept: Concept, terminology: Terminology, *, coded: bool) -> Option:
    coding: dict[str, JsonValue] = {"system": concept.system, "code": concept.code, "display": concept.display}
    chosen = repeatable(Answer("coding", coding), "choice")
    given: dict[str, str] = {}
    for language, text in concept.designations:
        # Where the value set shows one of several names in a language, that one stays.
        if given.setdefault(language, text) != text and text == concept.display:
            given[language] = text
    label = Text(concept.display or concept.code, {**given, **read_text(concept.node, "display").translations})
    called = _called(label, coding, terminology, further=tuple(text for _, text in concept.designations))
    return Option(
        answer=chosen if coded else Answer("string", concept.code),
        label=called.label,
        prefix=_prefix(concept.node),
        ordinal=_score(concept.node, {}),
        marks=tuple(extensions(concept.node, *_SCORES)),
        exclusive=_is_marked(concept.node),
        synonyms=called.synonyms,
        lent=called.lent,
    )


@dataclass(frozen=True, slots=True)
class _Called:
    """What an option is called; `lent` are the languages of its label that the form itself has no text in."""

    label: Text
    synonyms: tuple[str, ...] = ()
    lent: frozenset[str] = frozenset()


def _called(label: Text, coding: JsonObject, terminology: Terminology, further: tuple[str, ...] = ()) -> _Called:
    """Return how a code is shown in each language, and what else it is called.

    What its code system and supplements call it translates only a label that says the same: "Yes, on the left" with
    the code of "Yes" is not shown as "Ja". As a name to choose it by, "Ja" will do.
    """
    system, code = code_key(coding)
    names = terminology.names(system, code) if code else ()
    texts = [text for _, text in names]
    untold = label.base in ("", code)
    base = (texts[0] if texts and untold else "") or label.base
    same = untold or any(text.casefold() == base.casefold() for text in texts)
    lent: dict[str, str] = {}
    for language, text in names if same else ():
        if language and language not in label.translations:
            # A language in which the form's own word is one of the names shows that word.
            own = any(tag == language and each.casefold() == base.casefold() for tag, each in names)
            lent.setdefault(language, base if own else text)
    shown = {base, *label.translations.values(), *lent.values()}
    synonyms = tuple(dict.fromkeys(text for text in (*further, *texts) if text not in shown))
    return _Called(Text(base, {**label.translations, **lent}), synonyms, frozenset(lent))


def _prefix(element: JsonObject) -> str:
    return next((text.base for url in _PREFIXES if (text := extension_text(element, url)).base), "")


def _score(*elements: JsonObject) -> Decimal | None:
    found = (extension_value(element, *_SCORES) for element in elements)
    return next((number(value.value) for value in found if value), None)


def _is_marked(element: JsonObject) -> bool:
    value = extension_value(element, *fhir_names.OPTION_EXCLUSIVE)
    return value is not None and is_true(value.value)


def answer_types(kind: str, options: Sequence[Option]) -> frozenset[str]:
    """Return the types that answers to a question may have."""
    if kind not in CHOICES:
        return frozenset(ANSWER_TYPES[kind])
    listed = {option.answer.type for option in options} or {"coding"}
    return frozenset(listed | ({"string"} if kind == "open-choice" else set()))


def read_initial(site: Site, options: Sequence[Option]) -> tuple[Answer, ...]:
    """Return the answers that an item proposes: ``initial``, else the options that are selected beforehand."""
    found: list[Answer] = []
    for answer in (answer for element in objects(site.raw, "initial") for answer in values_of(element)):
        fitting = fitted(answer, string(site.raw, "type"), options)
        if fitting is None or (fitting.type in PRIMITIVES and problem_with(fitting.type, fitting.value)):
            site.miss("initial", f"a proposed {answer.type} does not fit the question, and is left out")
        else:
            found.append(fitting)
    return tuple(found) or tuple(option.answer for option in options if option.selected)


def fitted(answer: Answer, kind: str, options: Sequence[Option]) -> Answer | None:
    """Turn a value into an answer to a question of type `kind`: the listed one that it names, or one of its type."""
    option = named_option(repeatable(answer, kind) if answer.type == "coding" else answer, options)
    if option is not None:
        return option.answer
    types = answer_types(kind, options)
    if options:
        # Beside what is listed, only an open choice takes anything, and that is text.
        types = types & {"string"} if kind == "open-choice" else frozenset()
    if answer.type in types:
        return repeatable(answer, kind)
    converted = (made for wanted in sorted(types) if (made := _converted(answer, wanted)))
    return next(
        (made for made in converted if made.type == "quantity" or not problem_with(made.type, made.value)), None
    )


def _converted(answer: Answer, kind: str) -> Answer | None:
    """Convert between types that differ in form only; None where that would be guessing."""
    value = answer.value
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return None
    if kind in {"decimal", "integer"}:
        try:
            exact = Decimal(value)
        except InvalidOperation:
            return None
        if kind == "decimal":
            return Answer("decimal", exact if isinstance(value, str) else value)
        return Answer("integer", int(exact)) if exact == exact.to_integral_value() else None
    if kind in {"string", "uri"}:
        return Answer(kind, str(value))
    if not isinstance(value, str):
        return Answer("quantity", {"value": value}) if kind == "quantity" else None
    if kind == "date" and answer.type in {"dateTime", "instant", "string"}:
        return Answer("date", value.partition("T")[0])
    return (
        Answer(kind, value) if kind in {"dateTime", "time"} and answer.type in {"date", "instant", "string"} else None
    )


_CODING = ("system", "version", "code", "display", "userSelected")


def as_answers(item: Item, values: Sequence[JsonValue]) -> tuple[Answer, ...]:
    """Turn what a formula gave into answers that the question takes; what does not fit is left out."""
    found: list[Answer] = []
    for value in values:
        answer = _as_answer(item, value)
        # A list of codes is a choice, in which each stands once.
        if answer is not None and not (answer.type == "coding" and answer in found):
            found.append(answer)
    return tuple(found[: item.most])


def as_candidates(item: Item, values: Sequence[JsonValue]) -> tuple[Answer, ...]:
    """Turn what a formula gave into answers to choose from; a choice may offer all types that options may have."""
    alone = replace(item, options=())
    types = frozenset(ANSWER_TYPES[item.type]) if item.type in CHOICES else frozenset()
    found: dict[str, Answer] = {}
    for value in values:
        guess = _guessed(value)
        if guess is not None and guess.type in types:
            answer: Answer | None = repeatable(guess, item.type)
        else:
            answer = _as_answer(alone, value)
        if answer is not None:
            found.setdefault(repr(answer), answer)
    return tuple(found.values())


def kinds_of(values: Sequence[JsonValue]) -> str:
    """Say of which types values are, and nothing else of them."""
    guesses = (_guessed(value) for value in values)
    return " and ".join(dict.fromkeys(guess.type if guess is not None else "no answer" for guess in guesses))


def _as_answer(item: Item, value: JsonValue) -> Answer | None:
    guess = _guessed(value)
    if guess is None:
        return None
    if guess.type == "string":
        # Text may stand for any type that is written as text.
        named = next((kind for kind in ("date", "dateTime", "time", "uri") if kind in item.answer_types), "string")
        guess = Answer(named if not problem_with(named, value) else "string", value)
    if item.type == "quantity" and guess.type in {"integer", "decimal"}:
        amount = number(guess.value)
        return item.units.quantity(amount) if amount is not None else None
    return fitted(guess, item.type, item.options)


def _guessed(value: JsonValue) -> Answer | None:
    """Return the answer that a JSON value is by its shape."""
    if isinstance(value, bool):
        return Answer("boolean", value)
    if isinstance(value, int):
        return Answer("integer", value)
    if isinstance(value, str):
        return Answer("string", value) if value.strip() else None  # FHIR knows no blank strings
    if isinstance(value, dict):
        return _guessed_object(value)
    return Answer("decimal", value) if value is not None and not isinstance(value, list) else None


def _guessed_object(value: JsonObject) -> Answer | None:
    if "coding" in value:
        coding = next(iter(objects(value, "coding")), None)
        return _guessed_object(coding) if coding else Answer("string", str(value.get("text", "")))
    if "reference" in value:
        return Answer("reference", dict(value))
    if "resourceType" in value and "id" in value:
        return Answer("reference", {"reference": f"{value['resourceType']}/{value['id']}"})
    if "value" in value:
        return Answer("quantity", dict(value))
    if "contentType" in value or "data" in value:
        return Answer("attachment", dict(value))
    coding = {name: value[name] for name in _CODING if name in value}
    return Answer("coding", coding) if coding else None

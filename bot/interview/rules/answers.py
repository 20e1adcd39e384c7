"""What is wrong with the answers to a question: by the form as it is written, and as the interview asks it. Pure.

Each rule yields violations: neutral facts, which the interview takes as problems and the validator words as findings.
Both readings ask the same rules, and part on purpose. The interview takes limits as they are meant, bounds and options
as formulas give them at one place, no option twice, and lets pass what is only doubtful. The validator takes what is
written (`Stated`), says what is doubtful, and looks codes up.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain
from typing import Literal

from bot.interview.form.form import Item, Option, Path, Stated, Units, named_option
from bot.interview.form.indexed import LISTING, can_be_listed
from bot.interview.values import fhir_names
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    code_key,
    companion,
    extension_value,
    extensions,
    number,
    objects,
    string,
    translations,
    value_of,
)
from bot.interview.values.finding import Severity
from bot.interview.values.patterns import fits_pattern
from bot.interview.values.primitives import (
    PRIMITIVES,
    Relation,
    base64_size,
    problem_with,
    relate,
    relate_quantities,
    span,
)
from bot.interview.values.references import target_type
from bot.interview.values.terminology import Concept, Member, Terminology, could_be_code, implied_system
from bot.interview.values.units import UCUM, convert, known

AnyItem = Item | Stated
_BOUNDED = frozenset({"integer", "decimal", "date", "dateTime", "time", "quantity"})


@dataclass(frozen=True, slots=True)
class Violation:
    """A demand that is not met, or of which it cannot be told whether it is.

    Attributes:
        rule: As findings name it: maxLength, regex, unitOption.
        severity: error: not met. warning: it cannot be told, or is doubtful. information: not looked at.
        how: In which way, where there are several.
        values: What a message needs, such as ``limit``, ``given`` and ``allowed``.
    """

    rule: str
    severity: Severity = "error"
    how: str = ""
    values: Mapping[str, JsonValue | Answer] = field(default_factory=dict)


def broken(rule: str, how: str = "", **values: JsonValue | Answer) -> Violation:
    """Return the violation of a demand that is not met."""
    return Violation(rule, "error", how, values)


def doubtful(rule: str, how: str = "", **values: JsonValue | Answer) -> Violation:
    """Return the violation of a demand of which it cannot be told whether it is met."""
    return Violation(rule, "warning", how, values)


def check_number(item: AnyItem, given: int) -> Iterator[Violation]:
    """Check how many answers there are, or instances of a group."""
    least, most = item.limits.min_occurs, item.limits.max_occurs
    if given == 0 and item.required:
        yield broken("required")
    if given > 1 and not item.repeats:
        yield broken("repeats", limit=1, given=given)
    if least is not None and given < least:
        yield broken("minOccurs", limit=least, given=given)
    if most is not None and given > most:
        yield broken("maxOccurs", limit=most, given=given)


def check_text(item: AnyItem, answer: Answer) -> Iterator[Violation]:
    """Check how long a text is, and that a one-line question gets one line."""
    limits, text = item.limits, answer.value
    if answer.type not in {"string", "uri"} or not isinstance(text, str):
        return
    if limits.max_length is not None and len(text) > limits.max_length:
        yield broken("maxLength", limit=limits.max_length, given=len(text))
    if limits.one_line and ("\n" in text or "\r" in text):
        yield doubtful("line-break")
    if limits.min_length is not None and len(text) < limits.min_length:
        yield broken("minLength", limit=limits.min_length, given=len(text))


def check_pattern(item: AnyItem, answer: Answer) -> Iterator[Violation]:
    """Check the form of an answer."""
    if item.limits.pattern is None:
        return
    fits = fits_pattern(item.limits.pattern, answer, item.raw)
    if fits is None:
        yield doubtful("regex", "not checked")
    elif not fits:
        yield broken("regex")


def check_bound(answer: Answer, bound: Answer, *, least: bool) -> Iterator[Violation]:
    """Check an answer against a least (or greatest) value."""
    rule = ("min" if least else "max") + ("Quantity" if answer.type == "quantity" else "Value")
    beyond: Relation = "before" if least else "after"
    if answer.type == "quantity":
        how = _stands(answer, bound, beyond)
    else:
        relation = relate(answer, bound)
        # A date known in part may lie on either side of the limit: nobody can ask for more than is known.
        how = "beyond" if relation == beyond else "unknown" if relation in {"different", "unknown"} else ""
        how = "" if how == "unknown" and _is_within(answer, bound, least=least) else how
    if how in {"beyond", "no code", "other kind"}:
        yield broken(rule, how, limit=bound, answer=answer)
    elif how:
        yield doubtful(rule, how, limit=bound, answer=answer)


def _is_within(answer: Answer, bound: Answer, *, least: bool) -> bool:
    """Say whether a date known in part keeps to a limit whatever the rest of it is: ``2020`` from ``2020-01-01`` on."""
    one, limit = (span(each.value) if isinstance(each.value, str) else None for each in (answer, bound))
    if one is None or limit is None:
        return False
    return one.start >= limit.start if least else one.end <= limit.end


def _stands(answer: Answer, bound: Answer, beyond: Relation) -> str:
    """Say why a quantity is not within a limit, or cannot be compared with it; empty when it is within."""
    given, limit = as_object(answer.value), as_object(bound.value)
    if bound.type != "quantity":
        return "no unit"
    if not all(string(side, "system") and string(side, "code") for side in (given, limit)):
        return "no code"
    relation = relate_quantities(answer, bound)
    if relation == beyond:
        return "beyond"
    if relation != "unknown" or number(given.get("value")) is None:
        return ""
    # Of codes outside UCUM it is only known that they differ.
    readable = all(string(side, "system") != UCUM or known(string(side, "code")) for side in (given, limit))
    return "other kind" if readable else "unknown unit"


def check_decimal_places(item: AnyItem, answer: Answer) -> Iterator[Violation]:
    """Check how many decimal places a number has as it is written."""
    most = item.limits.decimal_places
    value = number(as_object(answer.value).get("value") if answer.type == "quantity" else answer.value)
    if most is None or value is None or answer.type not in {"decimal", "quantity"}:
        return
    exponent = value.as_tuple().exponent
    given = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    if given > most:
        yield broken("maxDecimalPlaces", limit=most, given=given, answer=Answer("decimal", value))


def check_unit(units: Units, quantity: JsonObject, known_codes: Terminology) -> Iterator[Violation]:
    """Check that the unit is one to choose from, or in the value set: where a form states both, either will do."""
    if units.open or units.offer(quantity):
        return
    unit = string(quantity, "code") or "without code"
    if units.value_set:
        if known_codes.value_set(units.value_set) is None:
            yield doubtful("unitValueSet", "not at hand", value_set=units.value_set)
            return
        system, code = string(quantity, "system"), string(quantity, "code")
        member = known_codes.member(units.value_set, system=system, code=code) if system and code else Member.NO
        if member is Member.NO:
            yield broken("unitValueSet", unit=unit, value_set=units.value_set)
        elif member is Member.UNKNOWN:
            yield doubtful("unitValueSet", "unknown", value_set=units.value_set)
    elif units.choices:
        allowed: list[JsonValue] = [string(each, "display") or string(each, "code") for each in units.choices]
        yield broken("unitOption", unit=unit, allowed=allowed)
    elif units.usual and measures_else(quantity, units.usual):
        # The extension is made for numbers, so that of quantities it only tells what they should measure.
        usual = string(units.usual, "display") or string(units.usual, "code")
        yield doubtful("questionnaire-unit", unit=unit, usual=usual)


def measures_else(quantity: JsonObject, unit: JsonObject) -> bool:
    """Say whether two units of UCUM measure different things."""
    if not all(string(each, "system") == UCUM and known(string(each, "code")) for each in (quantity, unit)):
        return False
    return convert(Decimal(1), string(quantity, "code"), string(unit, "code")) is None


def check_attachment(item: AnyItem, answer: Answer) -> Iterator[Violation]:
    """Check content type and size. The actual size counts where the data are there, else the stated one."""
    if answer.type != "attachment":
        return
    limits, value = item.limits, as_object(answer.value)
    kind, content = string(value, "contentType"), value.get("data")
    if limits.mime_types and not any(_mime_fits(kind, pattern) for pattern in limits.mime_types if kind):
        yield broken("mimeType", "" if kind else "missing", given=kind, allowed=list(limits.mime_types))
    size: int | Decimal | None = base64_size(content) if isinstance(content, str) else number(value.get("size"))
    if limits.max_bytes is not None and size is not None and size > limits.max_bytes:
        yield broken("maxSize", limit=limits.max_bytes, given=size)


def _mime_fits(kind: str, pattern: str) -> bool:
    """Compare media types: ``image/*`` fits any image; parameters such as a character set are left out."""
    plain, wanted = (text.partition(";")[0].strip().lower() for text in (kind, pattern))
    return wanted in {plain, "*/*"} or (wanted.endswith("/*") and plain.startswith(wanted[:-1]))


def check_reference(item: AnyItem, answer: Answer) -> Iterator[Violation]:
    """Check the type of what is referred to, as far as the reference shows it: in its address, or else by name."""
    allowed = item.limits.reference_types
    kind = target_type(as_object(answer.value)) if answer.type == "reference" and allowed else ""
    if kind in fhir_names.RESOURCE_TYPES and kind not in allowed:
        yield broken("referenceResource", given=kind, allowed=list(allowed))


# What the form calls the code that was chosen; None where it offers no such code.
Names = frozenset[str] | None
# Where a code without its system has been refused already.
_NOTHING_TO_ADD: Names = frozenset({"no system"})


def check_options(item: Stated, answer: Answer, known: Terminology) -> Iterator[Violation]:
    """Check an answer against the options or the value set that its item states, and a code against its code system."""
    offered: Names = None
    if "answerOption" in item.raw and (item.options or item.type in fhir_names.CHOICES):
        offered = yield from _check_listed(item, answer)
    elif item.type in LISTING and (value_set := string(item.raw, "answerValueSet")):
        offered = yield from _check_value_set(item, answer, value_set, known)
    elif answer.type == "coding":
        yield Violation("no-options", "information")
    if answer.type == "coding" and offered is not _NOTHING_TO_ADD:
        yield from _check_code(answer, offered, known)


def _check_listed(item: Stated, answer: Answer) -> Generator[Violation, None, Names]:
    listed = [option for repeated, option in item.options if is_option(answer, repeated)]
    if answer.type == "string" and item.type == "open-choice":
        text = str(answer.value).lower() if isinstance(answer.value, str) else None
        codings = [as_object(option.value) for _, option in item.options]
        if not listed and any(text in {string(each, name).lower() for name in ("display", "code")} for each in codings):
            yield doubtful("text-for-option")
    elif not listed and extensions(item.raw, *fhir_names.ANSWER_EXPRESSION):
        yield doubtful("answerOption", "computed", answer=answer)
    elif not listed:
        yield broken("answerOption", answer=answer)
        return _NOTHING_TO_ADD
    elif answer.type == "coding" and not any(_is_called_so(answer, option) for option in listed):
        others = [option for repeated, option in item.options if not is_option(answer, repeated)]
        given = string(as_object(answer.value), "display").strip()
        another = any(given == string(as_object(option.value), "display").strip() for option in others)
        # The name of another option is worse than one that nobody knows: then the answer says two things.
        yield Violation("display", "error" if another else "warning", "of option")
    return frozenset(name for option in listed for name in _displays(option)) if listed else None


def is_option(answer: Answer, option: Answer) -> bool:
    """Say whether an answer is this option: a code of the same system, or the same value."""
    left, right = as_object(answer.value), as_object(option.value)
    if answer.type == option.type == "coding":
        return code_key(left) == code_key(right)
    if answer.type == option.type == "reference":
        return left.get("reference") == right.get("reference")
    # An item of type decimal or dateTime can only list integers and dates.
    kin = {answer.type, option.type}
    return (len(kin) == 1 or kin in ({"integer", "decimal"}, {"date", "dateTime"})) and answer.value == option.value


def _is_called_so(answer: Answer, option: Answer) -> bool:
    given, names = string(as_object(answer.value), "display"), _displays(option)
    return not given or "" in names or given.strip() in names


def _displays(option: Answer) -> frozenset[str]:
    coding = as_object(option.value)
    return frozenset({string(coding, "display").strip(), *translations(coding, "display").values()})


def _check_value_set(
    item: Stated, answer: Answer, value_set: str, known: Terminology
) -> Generator[Violation, None, Names]:
    coding = as_object(answer.value)
    system, code = string(coding, "system"), string(coding, "code")
    if known.value_set(value_set) is None:
        implied = implied_system(value_set) if answer.type == "coding" and system else ""
        if implied and (system != implied or not could_be_code(system, code)):
            yield broken("answerValueSet", answer=answer, value_set=value_set)
            return _NOTHING_TO_ADD
        yield doubtful("value-set", value_set=value_set)
    elif answer.type == "coding":
        member = known.member(value_set, system=system, code=code)
        concepts = known.expand(value_set).concepts if member is Member.YES else ()
        # A code needs its system, unless the value set itself knows none: nobody could answer better.
        unnamed = "" in {each.system for each in concepts if each.code == code}
        if not system and not unnamed and (concepts or (member is Member.UNKNOWN and known.names_systems(value_set))):
            yield broken("answerValueSet", "no system")
            return _NOTHING_TO_ADD
        yield from _membership(member, answer, value_set)
        if member is Member.NO:
            return _NOTHING_TO_ADD
        if member is Member.YES:
            return (yield from _check_name(answer, concepts, known))
    elif answer.type == "string" and item.type == "choice":
        yield doubtful("answerValueSet", "text")
    elif answer.type == "string" and item.type not in fhir_names.CHOICES:
        # A string item with a value set takes the codes as plain text.
        yield from _membership(known.member(value_set, system="", code=str(answer.value)), answer, value_set)
    return None


def _check_name(answer: Answer, concepts: Sequence[Concept], known: Terminology) -> Generator[Violation, None, Names]:
    """Check what an answer calls its code by what the value set calls it; return those names.

    The code system has its own names; where it is at hand, it is asked afterwards (`_check_code`).
    """
    coding = as_object(answer.value)
    same = [each for each in concepts if (each.system, each.code) == code_key(coding)]
    names = frozenset(name for each in same for name in (each.display, *(text for _, text in each.designations)))
    given = _plain(string(coding, "display"))
    others = {_plain(text) for each in same for _, text in known.names(each.system, each.code)}
    told = any(each.display for each in same) and known.concept(*code_key(coding)) is None
    if given and told and given not in {_plain(name) for name in names} | others:
        # Likewise worse: the name of another code.
        another = any(given == _plain(each.display) for each in concepts if each not in same)
        yield Violation("display", "error" if another else "warning", "of value set")
    return names


def _membership(member: Member, answer: Answer, value_set: str) -> Iterator[Violation]:
    if member is Member.NO:
        yield broken("answerValueSet", answer=answer, value_set=value_set)
    elif member is Member.UNKNOWN:
        yield doubtful("answerValueSet", "unknown", answer=answer, value_set=value_set)


def _check_code(answer: Answer, offered: Names, known: Terminology) -> Iterator[Violation]:
    """Check a code against its own code system, if that is at hand.

    What the form itself offers is the form's to mend: the answer can only repeat it, so it is a warning. A form and
    its value set may also call a code as they like.
    """
    fault = broken if offered is None else doubtful
    coding = as_object(answer.value)
    system, code, display = (string(coding, name) for name in ("system", "code", "display"))
    if code and not system:
        yield doubtful("coding-system", "missing")
    if system and ":" not in system:
        yield fault("coding-system")
    code_system = known.code_system(system) if system and code else None
    if code_system is None:
        if offered is None and code and not could_be_code(system, code):
            yield doubtful("code", "form", system=system, code=code)
        return
    concept = code_system.concepts.get(code)
    if concept is None:
        if code_system.complete:
            yield fault("code", system=system, code=code)
        return
    names = {_plain(name) for name in (concept.display, *(text for _, text in concept.designations))}
    if display and concept.display and _plain(display) not in names:
        renamed = _plain(display) in {_plain(name) for name in offered or ()}
        if renamed and _plain(display) in {_plain(text) for _, text in known.names(system, code)}:
            return  # a supplement to the code system calls it as the form does
        values = {"concept": f"{concept.system}#{concept.code}", "display": concept.display}
        yield Violation("display", "warning" if renamed else "error", "of system", values)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def check_exclusive(item: Stated, answers: Sequence[Answer]) -> Iterator[Violation]:
    """Check that an option which excludes all others ("none of these") stands alone."""
    given = objects(item.raw, "answerOption") if len(answers) > 1 else []
    elements = [each for each in given if (value := value_of(each)) and can_be_listed(value, item.type)]
    for element, (repeated, option) in zip(elements, item.options, strict=False):
        mark = extension_value(element, *fhir_names.OPTION_EXCLUSIVE)
        if mark is not None and mark.value is True and any(is_option(answer, repeated) for answer in answers):
            yield broken("optionExclusive", answer=option, given=len(answers))


def stated_violations(item: Stated, answer: Answer, known: Terminology) -> Iterator[Violation]:
    """Yield what is wrong with an answer of a fitting type by all that its item states."""
    texts = [*check_text(item, answer), *check_pattern(item, answer)]
    # A line break where the text is refused anyway is no further news.
    yield from (each for each in texts if each.rule != "line-break" or all(one.severity != "error" for one in texts))
    bounds = _check_stated_bounds(item, answer)
    if answer.type != "quantity":
        yield from bounds
    yield from check_decimal_places(item, answer)
    if answer.type == "quantity":
        units = list(check_unit(item.units, as_object(answer.value), known))
        refused = any(each.severity == "error" for each in units)
        # What is measured in a unit that is refused is not compared with limits besides.
        yield from (each for each in bounds if not refused or each.how == "beyond")
        yield from units
    yield from check_attachment(item, answer)
    yield from check_reference(item, answer)
    yield from check_options(item, answer, known)


def stated_errors(item: Stated, answer: Answer, known: Terminology) -> Iterator[str]:
    """Yield the rules that an answer breaks by all that its item states."""
    yield from (each.rule for each in stated_violations(item, answer, known) if each.severity == "error")


def _check_stated_bounds(item: Stated, answer: Answer) -> Iterator[Violation]:
    """Check an answer against every least and greatest value that its item states; computed ones are not known here."""
    if answer.type not in _BOUNDED or "extension" not in item.raw:
        return
    for least in (True, False):
        urls = fhir_names.MIN_VALUE if least else fhir_names.MAX_VALUE
        quantities = fhir_names.MIN_QUANTITY if least else fhir_names.MAX_QUANTITY
        found = extensions(item.raw, *urls, *(quantities if answer.type == "quantity" else ()))
        fixed = [value for extension in found if (value := value_of(extension)) is not None]
        for extension in found:
            computed = (companion(extension, name[1:]) for name in extension if name.startswith("_value"))
            if value_of(extension) is None and any(computed):
                yield Violation("computed-limit", "information")
        yield from chain.from_iterable(check_bound(answer, bound, least=least) for bound in fixed)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that an answer, or the whole filling, must not be. How to say it is decided elsewhere.

    Attributes:
        code: required, too-few, too-many, wrong-type, malformed, too-long, too-short, pattern, below-minimum,
            above-maximum, not-comparable, decimal-places, not-an-option, exclusive, twice, unit, mime-type, too-big,
            reference-type, constraint; refused (by the validator, `key` names its rule).
        path: Where; empty for the whole form.
        parameters: The values that a message needs: ``limit``, ``given``.
        human: What the form itself says (constraints), in its base language.
        key: Of the constraint, or of the validator's rule.
        severity: A warning does not keep an answer from being taken.
    """

    code: str
    path: Path
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    human: str = ""
    key: str = ""
    severity: Literal["error", "warning"] = "error"


# What a broken rule is called in the interview, and which of its values a message needs.
_PROBLEMS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "required": ("required", ()),
    "repeats": ("too-many", ("limit", "given")),
    "minOccurs": ("too-few", ("limit", "given")),
    "maxOccurs": ("too-many", ("limit", "given")),
    "maxLength": ("too-long", ("limit", "given")),
    "minLength": ("too-short", ("limit", "given")),
    "regex": ("pattern", ()),
    "minValue": ("below-minimum", ("limit",)),
    "maxValue": ("above-maximum", ("limit",)),
    "minQuantity": ("below-minimum", ("limit",)),
    "maxQuantity": ("above-maximum", ("limit",)),
    "maxDecimalPlaces": ("decimal-places", ("limit", "given")),
    "unitOption": ("unit", ("allowed",)),
    "mimeType": ("mime-type", ("allowed",)),
    "maxSize": ("too-big", ("limit",)),
    "referenceResource": ("reference-type", ("allowed",)),
}


@dataclass(frozen=True, slots=True)
class PlacedQuestion:
    """A question at one place, with what its formulas give there.

    Attributes:
        options: The answers that can be chosen now.
        minimum: The least value; likewise `maximum`.
    """

    item: Item
    path: Path
    options: Sequence[Option]
    minimum: Answer | None
    maximum: Answer | None

    def problems(self, answers: Sequence[Answer]) -> Iterator[Problem]:
        """Yield what is wrong with the answers, taken together and one by one."""
        yield from (each for each in number_problems(self.item, self.path, len(answers)) if each.code == "too-many")
        chosen = [named_option(answer, self.options) for answer in answers]
        # Twins have the same age, but nobody can tick the same box twice.
        if any(answers.count(answer) > 1 for answer, option in zip(answers, chosen, strict=True) if option):
            yield Problem("twice", self.path)
        if len(answers) > 1 and any(option.exclusive for option in chosen if option):
            yield Problem("exclusive", self.path)
        for answer, option in zip(answers, chosen, strict=True):
            yield from self._problems_with(answer, option)

    def _problems_with(self, answer: Answer, option: Option | None) -> Iterator[Problem]:
        item = self.item
        types = item.answer_types | ({option.answer.type} if option is not None else set())
        if answer.type not in types:
            parameters: dict[str, JsonValue] = {"expected": sorted(item.answer_types)[0], "given": answer.type}
            yield Problem("wrong-type", self.path, parameters)
            return
        if not _well_formed(answer):
            yield Problem("malformed", self.path, {"expected": answer.type})
            return
        free = item.type == "open-choice" and answer.type == "string"
        # Where a form lists options for a plain type, they are what can be chosen.
        if option is None and not free and (item.options or item.formulas.options):
            yield Problem("not-an-option", self.path)
        for violation in self._violations(answer):
            if violation.severity == "error" and violation.rule in _PROBLEMS:
                yield _problem(item, self.path, violation)

    def _violations(self, answer: Answer) -> Iterator[Violation]:
        item = self.item
        bounds = ((True, self.minimum), (False, self.maximum))
        quantity = answer.type == "quantity"
        unit = item.units.as_listed(as_object(answer.value))
        return chain(
            check_text(item, answer),
            check_pattern(item, answer),
            *(check_bound(answer, bound, least=least) for least, bound in bounds if bound is not None),
            check_decimal_places(item, answer),
            check_unit(item.units, unit, Terminology()) if quantity else (),
            check_attachment(item, answer),
            check_reference(item, answer),
        )


def number_problems(item: Item, path: Path, given: int) -> Iterator[Problem]:
    """Yield what is wrong with the number of answers to a question, or of instances of a group."""
    for violation in check_number(item, given):
        needless = violation.rule == "minOccurs" and given == 0  # what is not required may be left out
        if not needless and not (violation.rule == "maxOccurs" and not item.repeats):
            yield _problem(item, path, violation)


def _problem(item: Item, path: Path, violation: Violation) -> Problem:
    code, names = _PROBLEMS[violation.rule]
    parameters: dict[str, JsonValue] = {}
    for name in names:
        value = violation.values[name]
        parameters |= {name: value.value, "type": value.type} if isinstance(value, Answer) else {name: value}
    if violation.rule == "regex":
        parameters["format"] = item.presentation.entry_format.base
    if violation.how in {"no code", "other kind"}:
        code = "not-comparable"
    return Problem(code, path, parameters)


def _well_formed(answer: Answer) -> bool:
    if answer.type in PRIMITIVES:
        return not problem_with(answer.type, answer.value)
    value = as_object(answer.value)
    if answer.type == "quantity":
        return not problem_with("decimal", value.get("value"))
    return bool(value)

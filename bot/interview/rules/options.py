"""Is an answer one of those offered (answerOption, value sets, exclusive options), and a code what it says. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.interview.rules.limits import AnswerCheck, say
from bot.interview.values.answer import Answer
from bot.interview.values.codes import code_key, repeatable
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    extension_value,
    extensions,
    objects,
    string,
    translations,
    value_of,
)
from bot.interview.values.fhir_names import ANSWER_EXPRESSION, CHOICES, OPTION_EXCLUSIVE
from bot.interview.values.finding import Findings, Place
from bot.interview.values.terminology import Concept, Member

# What the form calls a code that it offers.
Names = frozenset[str]


def check_options(check: AnswerCheck) -> None:
    """Check one answer against the options or the value set of its item."""
    coded = check.answer.type == "coding"
    offered: Names | None = None
    if "answerOption" in check.item:
        options = [value for each in objects(check.item, "answerOption") if (value := value_of(each))]
        offered = _check_listed(check, options)
    elif value_set := string(check.item, "answerValueSet"):
        offered = _check_value_set(check, value_set)
    elif coded:
        check.information("The item has no options to check the code with", "no-options")
    if coded:
        _check_code(check, as_object(check.answer.value), offered=offered)


def _is_free_text(check: AnswerCheck) -> bool:
    return check.answer.type == "string" and check.item.get("type") == "open-choice"


def _check_listed(check: AnswerCheck, options: list[Answer]) -> Names | None:
    """Check an answer against the options of its item; return how they call it, None where it is none of them."""
    kind = string(check.item, "type")
    listed = [option for option in options if is_option(check.answer, repeatable(option, kind))]
    if _is_free_text(check):
        if not listed and any(_names(check.answer.value, option) for option in options):
            check.warning("The free text is the same as one of the options", "text-for-option", "invariant")
    elif not listed and extensions(check.item, *ANSWER_EXPRESSION):
        text = f"{_subject(check.answer)} is none of the listed options; computed ones are not known here"
        check.warning(text, "answerOption")
    elif not listed:
        check.error(f"{_subject(check.answer)} is none of the options", "answerOption")
    elif check.answer.type == "coding" and not any(_same_display(check.answer, option) for option in listed):
        check.warning("The display is not that of the option", "display", "invariant")
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


def _names(text: object, option: Answer) -> bool:
    coding = as_object(option.value)
    return isinstance(text, str) and text.lower() in {string(coding, "display").lower(), string(coding, "code").lower()}


def _same_display(answer: Answer, option: Answer) -> bool:
    given, names = string(as_object(answer.value), "display"), _displays(option)
    return not given or "" in names or given.strip() in names


def _displays(option: Answer) -> Names:
    offered = as_object(option.value)
    return frozenset({string(offered, "display").strip(), *translations(offered, "display").values()})


def _check_value_set(check: AnswerCheck, value_set: str) -> Names | None:
    """Check an answer against the value set of its item; return how it calls the code, None where it has it not."""
    coding, member = as_object(check.answer.value), Member.UNKNOWN
    if check.known.value_set(value_set) is None:
        check.warning(f"The value set {value_set[:120]} is not at hand", "value-set", "not-found")
    elif check.answer.type == "coding":
        member = check.known.member(value_set, system=string(coding, "system"), code=string(coding, "code"))
        if member is Member.YES and not string(coding, "system"):
            _check_without_system(check, string(coding, "code"), value_set)
        else:
            _report(check, member, value_set)
    elif check.answer.type == "string" and check.item.get("type") == "choice":
        check.warning("A text cannot be one of the codes of a value set", "answerValueSet", "invariant")
    elif check.answer.type == "string" and check.item.get("type") not in CHOICES:
        # A string item with a value set takes the codes as plain text.
        _report(check, check.known.member(value_set, system="", code=str(check.answer.value)), value_set)
    return _names_in(check, value_set, code_key(coding)) if member is Member.YES else None


def _names_in(check: AnswerCheck, value_set: str, key: tuple[str, str]) -> Names:
    same = (each for each in check.known.expand(value_set).concepts if (each.system, each.code) == key)
    return frozenset(name for each in same for name in (each.display, *(text for _, text in each.designations)))


def _check_without_system(check: AnswerCheck, code: str, value_set: str) -> None:
    """Refuse a code without system, unless the value set itself knows none: nobody could answer better."""
    stated = {concept.system for concept in check.known.expand(value_set).concepts if concept.code == code}
    if "" not in stated:
        check.error("A code of a value set needs its system", "answerValueSet", "code-invalid")


def _report(check: AnswerCheck, member: Member, value_set: str) -> None:
    subject = _subject(check.answer)
    if member is Member.NO:
        check.error(f"{subject} is not in the value set {value_set[:120]}", "answerValueSet", "code-invalid")
    elif member is Member.UNKNOWN:
        text = f"{subject} may or may not be in the value set {value_set[:120]}: this cannot be told here"
        check.warning(text, "answerValueSet")


def _subject(answer: Answer) -> str:
    """Name a code or number; free text and dates are not quoted."""
    if answer.type == "coding":
        return f"The code {say(answer)}"
    if answer.type in {"integer", "decimal"}:
        return f"The value {say(answer)}"
    return "The text" if answer.type == "string" else "The value"


def _check_code(check: AnswerCheck, coding: JsonObject, *, offered: Names | None) -> None:
    """Check a code against its own code system, if that is at hand.

    What the form itself offers is the form's to mend: the answer can only repeat it, so it is a warning.
    """
    fault = check.error if offered is None else check.warning
    system, code = string(coding, "system"), string(coding, "code")
    if code and not system:
        check.warning("A code without its system means nothing", "coding-system", "invalid")
    if system and ":" not in system:
        fault("The system of a code must be an absolute URI", "coding-system", "code-invalid")
    code_system = check.known.code_system(system) if system and code else None
    if code_system is None:
        return
    concept = code_system.concepts.get(code)
    if concept is not None:
        _check_display(check, concept, string(coding, "display"), offered or frozenset())
    elif code_system.complete:
        fault(f"The code system {system[:120]} has no code {code[:60]!r}", "code", "code-invalid")


def _check_display(check: AnswerCheck, concept: Concept, display: str, offered: Names) -> None:
    """Compare with the code system's own texts; a form and its value set may call a code as they like."""
    names = [concept.display, *(text for _, text in concept.designations)]
    if display and concept.display and _plain(display) not in {_plain(name) for name in names}:
        text = f"The display of {concept.system}#{concept.code} is {concept.display!r}, not what is given"
        fault = check.warning if _plain(display) in {_plain(name) for name in offered} else check.error
        fault(text, "display", "invalid")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def check_exclusive(item: JsonObject, answers: Sequence[Answer], place: Place, findings: Findings) -> None:
    """Check that an option which excludes all others ("none of these") stands alone."""
    if len(answers) < 2:
        return
    kind = string(item, "type")
    for option in objects(item, "answerOption"):
        mark, value = extension_value(option, *OPTION_EXCLUSIVE), value_of(option)
        exclusive = mark is not None and mark.value is True
        if exclusive and value is not None and any(is_option(answer, repeatable(value, kind)) for answer in answers):
            text = f"{_subject(value)} excludes all other answers, but there are {len(answers)}"
            findings.error(place, text, code="invariant", rule="optionExclusive")

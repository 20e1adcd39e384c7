"""Is an answer one of those offered (answerOption, value sets, exclusive options), and a code what it says. Pure."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from bot.interview.form.indexed import IndexedItem
from bot.interview.rules.limits import Violation, broken, doubtful
from bot.interview.values.answer import Answer
from bot.interview.values.codes import code_key, repeatable
from bot.interview.values.fhir_json import (
    as_object,
    extension_value,
    extensions,
    objects,
    string,
    translations,
    value_of,
)
from bot.interview.values.fhir_names import ANSWER_EXPRESSION, CHOICES, OPTION_EXCLUSIVE
from bot.interview.values.terminology import Member, Terminology

# What the form calls the code that was chosen; None where it offers no such code.
Names = frozenset[str] | None


def check_options(item: IndexedItem, answer: Answer, known: Terminology) -> Iterator[Violation]:
    """Check an answer against the options or the value set that its item states, and a code against its code system."""
    offered: Names = None
    if "answerOption" in item.raw:
        offered = yield from _check_listed(item, answer)
    elif value_set := string(item.raw, "answerValueSet"):
        offered = yield from _check_value_set(item, answer, value_set, known)
    elif answer.type == "coding":
        yield Violation("no-options", "information")
    if answer.type == "coding":
        yield from _check_code(answer, offered, known)


def _check_listed(item: IndexedItem, answer: Answer) -> Generator[Violation, None, Names]:
    options = [value for each in objects(item.raw, "answerOption") if (value := value_of(each))]
    listed = [option for option in options if is_option(answer, repeatable(option, item.type))]
    if answer.type == "string" and item.type == "open-choice":
        text = str(answer.value).lower() if isinstance(answer.value, str) else None
        codings = [as_object(option.value) for option in options]
        if not listed and any(text in {string(each, name).lower() for name in ("display", "code")} for each in codings):
            yield doubtful("text-for-option")
    elif not listed and extensions(item.raw, *ANSWER_EXPRESSION):
        yield doubtful("answerOption", "computed", answer=answer)
    elif not listed:
        yield broken("answerOption", answer=answer)
    elif answer.type == "coding" and not any(_is_called_so(answer, option) for option in listed):
        yield doubtful("display", "of option")
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
    item: IndexedItem, answer: Answer, value_set: str, known: Terminology
) -> Generator[Violation, None, Names]:
    coding = as_object(answer.value)
    system, code = string(coding, "system"), string(coding, "code")
    if known.value_set(value_set) is None:
        yield doubtful("value-set", value_set=value_set)
    elif answer.type == "coding":
        member = known.member(value_set, system=system, code=code)
        concepts = known.expand(value_set).concepts if member is Member.YES else ()
        # A code needs its system, unless the value set itself knows none: nobody could answer better.
        if concepts and not system and "" not in {each.system for each in concepts if each.code == code}:
            yield broken("answerValueSet", "no system")
        yield from _membership(member, answer, value_set)
        if member is Member.YES:
            same = [each for each in concepts if (each.system, each.code) == code_key(coding)]
            return frozenset(name for each in same for name in (each.display, *(text for _, text in each.designations)))
    elif answer.type == "string" and item.type == "choice":
        yield doubtful("answerValueSet", "text")
    elif answer.type == "string" and item.type not in CHOICES:
        # A string item with a value set takes the codes as plain text.
        yield from _membership(known.member(value_set, system="", code=str(answer.value)), answer, value_set)
    return None


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
        return
    concept = code_system.concepts.get(code)
    if concept is None:
        if code_system.complete:
            yield fault("code", system=system, code=code)
        return
    names = {_plain(name) for name in (concept.display, *(text for _, text in concept.designations))}
    if display and concept.display and _plain(display) not in names:
        renamed = _plain(display) in {_plain(name) for name in offered or ()}
        values = {"concept": f"{concept.system}#{concept.code}", "display": concept.display}
        yield Violation("display", "warning" if renamed else "error", "of system", values)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def check_exclusive(item: IndexedItem, answers: Sequence[Answer]) -> Iterator[Violation]:
    """Check that an option which excludes all others ("none of these") stands alone."""
    for option in objects(item.raw, "answerOption") if len(answers) > 1 else ():
        mark, value = extension_value(option, *OPTION_EXCLUSIVE), value_of(option)
        if value is None or mark is None or mark.value is not True:
            continue
        if any(is_option(answer, repeatable(value, item.type)) for answer in answers):
            yield broken("optionExclusive", answer=value, given=len(answers))

"""Compile a Questionnaire into a `Form`. Pure.

Nothing that changes what is asked is dropped silently: it is supported, or left out with a warning, and what is left
out and required keeps the response open. `UnsupportedQuestionnaire` refuses what cannot be asked at all, and whatever
would be left out when `strict`; so it is with defects that many published forms have (no status, numbers as text).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.interview.form.compile import Around, Compiler
from bot.interview.form.conditions import never_asked
from bot.interview.form.dialects import differences, in_r4, why_empty
from bot.interview.form.form import Form, Item, Note, read_text
from bot.interview.form.formulas import Site, computed_elsewhere, launch_names
from bot.interview.form.modular import assembled
from bot.interview.form.support import Notes, UnsupportedQuestionnaire, check_extensions
from bot.interview.form.texts import Synonyms, languages, with_synonyms
from bot.interview.validate.item import refused_by
from bot.interview.validate.questionnaire import check_questionnaire
from bot.interview.values.fhir_json import MAX_DEPTH, JsonObject, deeper_than, objects, string, walk
from bot.interview.values.terminology import Terminology

# Options of an item that are looked at when the form is loaded; those of longer lists when they are chosen.
_MOST_JUDGED = 60
_RULES_NAMED = 8  # in one line


@dataclass(frozen=True, slots=True)
class Beside:
    """What comes with a Questionnaire.

    Attributes:
        resources: ValueSets and CodeSystems, besides those that it contains; and Questionnaires that are parts of it.
        known: Value sets and code systems that are always at hand.
        synonyms: What patients call questions and options, by the url of the Questionnaire.
        launch: Names of the launch context that are handed in; None: perhaps all of it.
    """

    resources: Sequence[JsonObject] = ()
    known: Terminology | None = None
    synonyms: Mapping[str, Synonyms] = field(default_factory=dict)
    launch: Collection[str] | None = None


def load_form(
    raw: JsonObject,
    *,
    resources: Sequence[JsonObject] = (),
    known: Terminology | None = None,
    synonyms: Mapping[str, Synonyms] | None = None,
    strict: bool = False,
) -> Form:
    """Compile a Questionnaire; the arguments are those of `Beside`. See `compile_form`."""
    return compile_form(raw, Beside(resources, known, synonyms or {}), strict=strict)


def compile_form(raw: JsonObject, beside: Beside, *, strict: bool = False) -> Form:
    """Compile a Questionnaire.

    Args:
        raw: The Questionnaire as JSON (see `fhir_json.parse`).
        beside: What comes with it.
        strict: Whether every defect is a reason to refuse it.

    Raises:
        UnsupportedQuestionnaire: It cannot be asked; names items and features.
    """
    return _compile(assembled(raw, beside.resources), beside, strict=strict, in_words=False)


def _compile(raw: JsonObject, beside: Beside, *, strict: bool, in_words: bool) -> Form:
    if raw.get("resourceType") != "Questionnaire":
        raise UnsupportedQuestionnaire([Note("", "resourceType", f"{raw.get('resourceType')!r} is no Questionnaire")])
    if deeper_than(dict(raw), MAX_DEPTH):
        raise UnsupportedQuestionnaire([Note("", "item", f"nested deeper than {MAX_DEPTH} levels")])
    written, raw = raw, in_r4(raw)
    notes = Notes({string(item, "linkId"): item for item in walk(objects(raw, "item"))}, strict)
    broken = _check(written, notes)
    if not objects(raw, "item"):
        notes.refuse("", "item", why_empty(raw))
    site = Site.of_form(raw, notes, beside.launch)
    for name in computed_elsewhere(raw):
        site.leave_out(name, "it is computed, which is not done here; what the form says itself is used")
    terminology = Terminology(beside.resources, base=beside.known).within(raw)
    items = Compiler(terminology, in_words).items(raw, Around(site))
    items = with_synonyms(items, beside.synonyms.get(string(raw, "url"), Synonyms()))
    items = tuple(_judged(item, terminology) for item in items)
    constraints = site.constraints()
    by_link_id = {item.link_id: item for top in items for item in top.walk()}
    _note_dependents(by_link_id, notes)
    if by_link_id and not any(item.asked for item in by_link_id.values()):
        notes.miss("", "item", "nobody is asked anything: all of it is only shown, hidden, read-only or left out")
    if not notes.refusals and objects(raw, "item") and not any(_is_put(item) for item in by_link_id.values()):
        if not in_words:
            # Before nothing is asked at all, choices whose answers nobody knows are asked in the patient's own words.
            return _compile(written, beside, strict=strict, in_words=True)
        first, *others = [note for note in notes.gaps if note.link_id] or [Note("", "item", "it has no questions")]
        notes.refusals += [first, Note("", "item", "nothing of it can be asked"), *others]
    if notes.refusals:
        raise UnsupportedQuestionnaire(notes.refusals)
    if broken:
        named = ", ".join(sorted(broken)[:_RULES_NAMED]) + (" …" if len(broken) > _RULES_NAMED else "")
        text = f"{broken.total()} errors by the rules of FHIR ({named}); `klartext fhir validate` lists them"
        notes.miss("", "rules", text)
    base = string(raw, "language")
    return Form(
        url=string(raw, "url"),
        version=string(raw, "version"),
        title=read_text(raw, "title"),
        language=base,
        languages=_languages(raw, base, items),
        items=items,
        by_link_id=by_link_id,
        variables=site.variables,
        constraints=constraints,
        launch=launch_names(raw),
        warnings=tuple(notes.warnings),
        raw=raw,
        gaps=tuple(note for note in notes.warnings if note in notes.gaps),
        known=terminology,
    )


def _is_put(item: Item) -> bool:
    """Say whether an item is asked, shown or filled in by a form."""
    return not item.left_out and item.type != "group"


def _note_dependents(items: Mapping[str, Item], notes: Notes) -> None:
    """Warn of what is never asked, or always, because it depends on something that is left out."""
    for item in items.values():
        for condition in item.conditions:
            target = items.get(condition.question)
            if target is None or target.left_out:
                notes.miss(
                    item.link_id,
                    "enableWhen",
                    f"depends on {condition.question!r}, which is left out, so it may never be asked",
                )
    for link_id, why in never_asked(items):
        demanded = "required, and " if any(each.required for each in items[link_id].walk()) else ""
        notes.miss(link_id, "enableWhen", f"{demanded}never asked: {why}")


def _check(written: JsonObject, notes: Notes) -> Counter[str]:
    """Note what is wrong with a form as it was `written`; return how often it breaks which rule."""
    findings = check_questionnaire(written)
    for finding in findings:
        note = notes.refuse if notes.strict and finding.is_error else notes.warn
        note("", finding.rule or finding.code, f"{finding.path}: {finding.text}")
    for difference in differences(written):
        notes.miss(*difference)
    check_extensions(written, notes)
    return Counter(finding.rule or finding.code for finding in findings if finding.is_error)


def _judged(item: Item, known: Terminology) -> Item:
    """Note what the validator says against the options of an item and all inside it, so that no turn need ask."""
    few = item.options if len(item.options) <= _MOST_JUDGED else ()
    judged = [replace(each, refused=refused_by(item.stated, each.answer, known)) for each in few]
    inside = tuple(_judged(child, known) for child in item.children)
    return replace(item, options=(*judged, *item.options[len(judged) :]), children=inside)


def _languages(raw: JsonObject, base: str, items: Iterable[Item]) -> tuple[str, ...]:
    """Return the languages of texts, and those of codes that a value set translates; words that are lent count not."""
    known = dict.fromkeys(languages(raw, base))
    for top in items:
        for item in top.walk():
            for option in item.options:
                known.update(dict.fromkeys(tag for tag in option.label.translations if tag not in option.lent))
    return tuple(known)

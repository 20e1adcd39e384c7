"""Compile a Questionnaire into a `Form`, or refuse it by name. Pure.

Nothing that changes what is asked is dropped silently: it is supported, or `UnsupportedQuestionnaire` names it. Defects
that many published forms have (no status, numbers as text) are warnings, and errors when `strict`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bot.interview.form.compile import Around, Compiler
from bot.interview.form.form import Form, Item, Note, read_text
from bot.interview.form.formulas import Site, launch_names
from bot.interview.form.support import Notes, UnsupportedQuestionnaire, check_extensions
from bot.interview.form.texts import Synonyms, languages, with_synonyms
from bot.interview.validate.item import refused_by
from bot.interview.validate.questionnaire import check_questionnaire
from bot.interview.values.fhir_json import MAX_DEPTH, JsonObject, deeper_than, objects, string, walk
from bot.interview.values.terminology import Terminology

# Options of an item that are looked at when the form is loaded; those of longer lists when they are chosen.
_MOST_JUDGED = 60


def load_form(
    raw: JsonObject,
    *,
    resources: Sequence[JsonObject] = (),
    known: Terminology | None = None,
    synonyms: Mapping[str, Synonyms] | None = None,
    strict: bool = False,
) -> Form:
    """Compile a Questionnaire.

    Args:
        raw: The Questionnaire as JSON (see `fhir_json.parse`).
        resources: ValueSets and CodeSystems that come with it, besides those that it contains.
        known: Value sets and code systems that are always at hand.
        synonyms: What patients call questions and options, by the url of the Questionnaire.
        strict: Whether every defect is a reason to refuse it.

    Raises:
        UnsupportedQuestionnaire: It cannot be asked as it is meant; names items and features.
    """
    if raw.get("resourceType") != "Questionnaire":
        raise UnsupportedQuestionnaire([Note("", "resourceType", f"{raw.get('resourceType')!r} is no Questionnaire")])
    if deeper_than(dict(raw), MAX_DEPTH):
        raise UnsupportedQuestionnaire([Note("", "item", f"nested deeper than {MAX_DEPTH} levels")])
    notes = Notes(link_ids=frozenset(string(item, "linkId") for item in walk(objects(raw, "item"))))
    _check(raw, notes, strict=strict)
    site = Site.of_form(raw, notes)
    terminology = Terminology(resources, base=known).within(raw)
    items = Compiler(terminology).items(raw, Around(site))
    items = with_synonyms(items, (synonyms or {}).get(string(raw, "url"), Synonyms()))
    items = tuple(_judged(item, terminology) for item in items)
    constraints = site.constraints()
    if notes.refusals:
        raise UnsupportedQuestionnaire(notes.refusals)
    base = string(raw, "language")
    return Form(
        url=string(raw, "url"),
        version=string(raw, "version"),
        title=read_text(raw, "title"),
        language=base,
        languages=_languages(raw, base, items),
        items=items,
        by_link_id={item.link_id: item for top in items for item in top.walk()},
        variables=site.variables,
        constraints=constraints,
        launch=launch_names(raw),
        warnings=tuple(notes.warnings),
        raw=raw,
        known=terminology,
    )


def _check(raw: JsonObject, notes: Notes, *, strict: bool) -> None:
    for finding in check_questionnaire(raw):
        note = notes.refuse if strict and finding.is_error else notes.warn
        note("", finding.rule or finding.code, f"{finding.path}: {finding.text}")
    counted = Counter(string(item, "linkId") for item in walk(objects(raw, "item")))
    for link_id, times in counted.items():
        if times > 1:
            notes.refuse(link_id, "linkId", f"{times} items have this linkId")
    check_extensions(raw, notes)


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

"""Translate a FHIR resource: list its texts as a table, and write a language's column of it into the resource.

Texts of elements carry the standard translation extension, concepts of code systems and value sets designations. Pure.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from bot.catalog.amounts import Amount, amounts, lacking, listed, plain_thousands
from bot.catalog.turning import turned_in_short
from bot.errors import BadData
from bot.interview.values.fhir_json import dump

TRANSLATION = "http://hl7.org/fhir/StructureDefinition/translation"
# Elements that people read.
TEXTS = ("title", "description", "purpose", "copyright", "text", "display", "unit")
TEXT, OR = "text", " | "  # the column with the resource's own words; between several words for one concept
WITH_UNITS = ("de", "en", "fr")  # languages whose amounts are read with their units
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
STILL = 3  # words of a text that another language says otherwise; a name of a medicine is the same in several
# What spreadsheets leave in a cell, and what a page would show as it stands.
_NO_WORDS = re.compile(r"^=|^#[A-ZÄÖÜ/0-9]+[!?]|^#N/A|</?[A-Za-z!][^<>]*>")
WIDTH = 160  # columns of a written file, for what fits on one line


@dataclass
class _Place:
    """One text, where it stands, and its words in other languages."""

    owner: dict[str, Any]
    key: str  # of the element in its owner; "" for a concept
    text: str
    words: dict[str, list[str]] = field(default_factory=dict)


def translations_table(document: Any) -> str:
    """Return the texts of a resource as a table: its own words, then a column for each language that it has.

    Raises:
        BadData: There is no text in it.
    """
    texts = _texts(document)
    if not texts:
        raise BadData("There is no text to translate in it: give a Questionnaire, a CodeSystem, or a Bundle of them.")
    languages = sorted({language for words in texts.values() for language in words})
    out = io.StringIO()
    rows = csv.writer(out, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None)
    rows.writerow([TEXT, *languages])
    for text, words in texts.items():
        rows.writerow([_one_line(each) for each in (text, *(OR.join(words.get(code, ())) for code in languages))])
    return out.getvalue()


def translated(
    document: Any, table: str, language: str, *, other_numbers: bool = False, other_words: bool = False
) -> Any:
    """Return a resource with a language's words from a table; what it had in that language is replaced.

    Args:
        document: The resource.
        table: As `translations_table` writes it, with the language's column filled in.
        language: Whose column is taken.
        other_numbers: Whether new words may have other numbers than their text: 112 here is 999 there.
        other_words: Whether they may seem to say the opposite of their text, or still be it: somebody has read them.

    Raises:
        BadData: The table has no such column, says two things of one text, speaks of a text that is not there, has
            other numbers or units than it, seems to say the opposite, holds markup or a formula, or has the same
            words for two choices of one question.
    """
    rows = list(csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE))
    columns = list(rows[0]) if rows else []
    if missing := [each for each in (TEXT, language) if each not in columns]:
        raise BadData(
            f"The table lacks the column {missing[0]!r} (it has {', '.join(map(str, columns)) or 'none'}). Its "
            f"first line names {TEXT!r} and languages, between tabs; `--export` writes it."
        )
    found: dict[str, str] = {}
    before = {_one_line(text): OR.join(words.get(language, ())) for text, words in _texts(document).items()}
    differing, turned, source = list[str](), list[str](), _language_of(document)
    for number, row in enumerate(rows, 2):
        own, said = (row[TEXT] or "").strip(), (row[language] or "").strip()
        if found.setdefault(own, said) != said:
            raise BadData(f"Line {number} translates {own[:60]!r} in another way than a line before. Mend the table.")
        if not said or said == before.get(own):
            continue
        if _NO_WORDS.search(said):
            raise BadData(f"Line {number} has a formula, an error of a spreadsheet or markup: {said[:60]!r}. Mend it.")
        turned += (f"line {number}, {own[:60]!r}: {line}" for line in _turned(own, source, said, language))
        if other := _other_amounts(own, source, said, language):
            differing.append(f"line {number} has {other}")
    if differing and not other_numbers:
        raise BadData(
            f"{len(differing)} translations have other numbers or units than their texts, the first: {differing[0]}. "
            "Mend the table, or give `--other-numbers` where that is right, as for telephone numbers."
        )
    if turned and not other_words:
        raise BadData(
            f"{len(turned)} translations seem to say something else than their texts, the first: {turned[0]}. Mend the "
            "table, or give `--other-words` where somebody has read that they are right."
        )
    known = {_one_line(text) for text in _texts(document)}
    if strange := next((text for text in found if text and text not in known), None):
        raise BadData(
            f"The table speaks of {strange[:60]!r}, which is no text of the resource. Export the table "
            "anew; the resource may have changed."
        )
    copy = deepcopy(document)
    for place in list(_places(copy)):
        if words := found.get(_one_line(place.text)):
            _write(place, language, words.split(OR))
    if same := next(_same_choices(copy, language), None):
        raise BadData(f"Two choices of one question would both read {same[:60]!r} in {language!r}. Mend the table.")
    return copy


def _same_choices(value: Any, language: str) -> Iterator[str]:
    """Yield the words that two choices of one question share in a language and not in the resource's own."""
    if isinstance(value, list):
        for each in value:
            yield from _same_choices(each, language)
    elif isinstance(value, dict):
        said: dict[str, str] = {}
        for place in _places(value["answerOption"], option=True) if "answerOption" in value else ():
            word = _one_line((place.words.get(language) or [""])[0])
            if word and said.setdefault(word.lower(), place.text) != place.text:
                yield word
        for each in value.values():
            yield from _same_choices(each, language)


def _turned(own: str, source: str, said: str, language: str) -> Iterator[str]:
    """Yield why words seem to say something else than their text; of several words for a concept the first counts."""
    if own == said and source not in ("", language) and len(own.split()) >= STILL:
        yield "it is not translated"
    yield from turned_in_short(own, source, said.split(OR, maxsplit=1)[0], language)


def _other_amounts(own: str, source: str, said: str, language: str) -> str:
    """Return the amounts of words, and the other ones of their text; empty where they are the same."""
    here, there = _amounts(own, source, language), _amounts(said, language, source)
    if _numbers(own) != _numbers(said):
        return f"{_listed(said)}, its text {own[:60]!r} {_listed(own)}"
    if lacking(here, there) or lacking(there, here):
        return f"{listed(there) or 'no amount'}, its text {own[:60]!r} {listed(here) or 'none'}"
    return ""


def _language_of(document: Any) -> str:
    """Return the language of a resource, or of the first in a Bundle that names one; empty where none does."""
    entries = document.get("entry", ()) if isinstance(document, dict) else ()
    resources = (document, *(entry.get("resource") for entry in entries if isinstance(entry, dict)))
    named = (each.get("language") for each in resources if isinstance(each, dict))
    return next((str(each)[:2].lower() for each in named if each), "")


def _amounts(text: str, own: str, other: str) -> frozenset[Amount]:
    """Return the amounts of a text; none unless those of both languages can be read."""
    return amounts(text, own) if {own, other} <= set(WITH_UNITS) else frozenset()


def _numbers(text: str) -> set[str]:
    return {found.replace(",", ".") for found in _NUMBER.findall(plain_thousands(text))}


def _listed(text: str) -> str:
    return ", ".join(sorted(_numbers(text))) or "none"


def untranslated(document: Any, language: str) -> list[str]:
    """Return the texts of a resource that a language has no words for."""
    return [text for text, words in _texts(document).items() if language not in words]


def laid_out(value: Any, indent: str = "") -> str:
    """Return JSON in which whatever is short stands on one line, and translations do."""
    flat = _flat(value)
    if not isinstance(value, dict | list) or len(indent) + len(flat) <= WIDTH or _is_words(value):
        return flat
    deeper = indent + "  "
    if isinstance(value, dict):
        laid = {key: _flat(each) if key[:1] == "_" else laid_out(each, deeper) for key, each in value.items()}
        inner = [f"{deeper}{json.dumps(key)}: {text}" for key, text in laid.items()]
        return "{\n" + ",\n".join(inner) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + laid_out(each, deeper) for each in value) + f"\n{indent}]"


def _is_words(value: Any) -> bool:
    """Say whether this is a concept or a choice with nothing but its code and words."""
    own = {"system", "version", "code", "display", "_display", "designation", "definition"}
    return isinstance(value, dict) and (set(value) <= own or set(value) == {"valueCoding"})


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {_flat(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flat, value)) + "]"
    return dump(value)  # decimals keep their digits


def _texts(document: Any) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for place in _places(document):
        words = found.setdefault(place.text, {})
        for language, said in place.words.items():
            words.setdefault(language, said)
    return found


def _places(value: Any, *, concept: bool = False, option: bool = False) -> Iterator[_Place]:
    """Yield the texts of a resource in its order."""
    if isinstance(value, list):
        for each in value:
            yield from _places(each, concept=concept, option=option)
    elif isinstance(value, dict):
        if concept and "code" in value:
            yield from _of_concept(value)
        for key, each in value.items():
            read = key in TEXTS or (option and key == "valueString")
            if read and isinstance(each, str) and each.strip() and not (concept and "code" in value):
                yield _Place(value, key, each, _of_element(value.get(f"_{key}")))
            elif key not in ("extension", "modifierExtension", "meta") and not key.startswith("_"):
                yield from _places(each, concept=key == "concept", option=key == "answerOption")


def _of_concept(concept: dict[str, Any]) -> Iterator[_Place]:
    words: dict[str, list[str]] = {}
    for designation in concept.get("designation", ()):
        words.setdefault(str(designation.get("language", "")), []).append(str(designation.get("value", "")))
    # A supplement has no words of its own: its first designation stands for the concept.
    text = concept.get("display") or next((each[0] for each in words.values()), None)
    if text:
        yield _Place(concept, "", str(text), words)


def _of_element(beside: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for extension in (beside or {}).get("extension", ()):
        if extension.get("url") == TRANSLATION:
            parts: Mapping[str, Mapping[str, Any]] = {part.get("url", ""): part for part in extension["extension"]}
            language = parts.get("lang", {}).get("valueCode")
            content = parts.get("content", {})
            if language:
                found[str(language)] = [str(content.get("valueString", content.get("valueMarkdown", "")))]
    return found


def _write(place: _Place, language: str, words: list[str]) -> None:
    if not place.key:
        others = [each for each in place.owner.get("designation", ()) if each.get("language") != language]
        place.owner["designation"] = [*others, *({"language": language, "value": word} for word in words)]
        return
    beside = place.owner.setdefault(f"_{place.key}", {})
    others = [each for each in beside.get("extension", ()) if _of_element({"extension": [each]}).get(language) is None]
    content = {"url": "content", "valueString": words[0]}
    one = {"url": TRANSLATION, "extension": [{"url": "lang", "valueCode": language}, content]}
    beside["extension"] = [*others, one]
    _behind(place.owner, place.key)


def _behind(owner: dict[str, Any], key: str) -> None:
    """Put what stands beside an element behind it."""
    left = {name: owner.pop(name) for name in list(owner)[list(owner).index(key) + 1 :] if name != f"_{key}"}
    owner[f"_{key}"] = owner.pop(f"_{key}")
    owner.update(left)


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()

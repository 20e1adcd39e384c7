"""Whether a language of a site's folder is complete: what is missing, too much, or does not fit, one line each.

Every language is held against those of the package: the same keys, the same slots in each sentence, rules that compile
and have examples. A language with a problem is not spoken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import Formatter
from typing import Any

from pydantic import ValidationError

from bot.catalog.countries import LINES
from bot.catalog.readability import Formula
from bot.errors import BadData
from bot.interview.reading.vocabulary import FILE as INTERVIEW_WORDS
from bot.interview.reading.vocabulary import load_words
from bot.languages.files import FILES, load, packaged, parse, parts
from bot.matching.red_flags import BY_RULE, FLAGS, RedFlags, read_examples, read_red_flags

SHOWN = 40  # characters of a text in a line
# What a language may do without; where it is a table, its keys are the language's own.
OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "language.yaml": ("readability", "abroad"),
    "emergency.yaml": ("listening", "practice"),
    "reactions.yaml": ("simple", "staff"),
    "plain.yaml": ("none", "sadness"),
}
# Lists of words: who has none for something writes "" or [], which is no text that is still missing.
WORD_LISTS = (INTERVIEW_WORDS, "manners.yaml", "messages.yaml")
# Of the words of the interview, the tables that have the same keys in every language.
SAME_KEYS = (("commands", "commands"), ("units", "measured"))
SPECIAL = ("red_flags.yaml", "red_flag_examples.yaml")  # held against the flags, not against English
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "red_flag_lines.tsv": ("author", "kind", "flag", "text", "level"),
    "health.tsv": ("author", "level", "text"),
    "remarks.tsv": ("kind", "author", "text"),
    "simple_words.tsv": ("term", "weight"),
}
_SLOT = re.compile(r"\{(?:tail|staff)\}")


def problems_of(code: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what is wrong with the files of a language, one line each, which begins with the file."""
    documents: dict[str, Any] = {}
    for name, file in FILES.items():
        if name not in files:
            if file.needed:
                yield f"{code}/{name}: the file is missing. {file.about}"
        elif name.endswith(".tsv"):
            yield from _columns(f"{code}/{name}", files[name], COLUMNS[name])
        else:
            try:
                documents[name] = parse(files[name], f"{code}/{name}")
            except BadData as error:
                yield str(error)
    for name, document in documents.items():
        if (FILES[name].needed and name not in SPECIAL) or FILES[name].holds == "joint":
            found = list(_against_ours(name, document))
            if not found and name in _FURTHER:
                found = list(_FURTHER[name](document))
            yield from (f"{code}/{name}: {line}" for line in found)
    if all(isinstance(documents.get(name), dict) for name in SPECIAL):
        yield from _alarm(code, documents)


def _columns(called: str, raw: bytes, wanted: Sequence[str]) -> Iterator[str]:
    found = raw.decode("utf-8", "replace").partition("\n")[0].rstrip("\r").split("\t")
    if missing := [each for each in wanted if each not in found]:
        yield f"{called}: its first line lacks the columns {', '.join(missing)} (between tabs)."


def expected(name: str) -> Any:
    """Return what a file says in English, with what holds in every language."""
    own = load("en", name)
    return {**first_part(name), **own} if FILES[name].holds == "by key" else own


def first_part(name: str) -> dict[str, Any]:
    """Return what the package's file says for all languages at once."""
    return parts(name)[0]


def _against_ours(name: str, document: Any) -> Iterator[str]:
    ours = [{**first_part(name), **load(each, name)} if FILES[name].holds == "by key" else load(each, name)
            for each in packaged()]  # fmt: skip
    if not isinstance(document, dict):
        yield "this is no table of keys and texts."
        return
    yield from _compared(name, document, ours, ())


def _is_optional(name: str, path: tuple[str, ...]) -> bool:
    return path[0] in OPTIONAL.get(name, ())


def has_own_keys(name: str, path: tuple[str, ...]) -> bool:
    """Say whether a table has keys of the language's own."""
    if name == INTERVIEW_WORDS:
        return len(path) > 1 and path not in SAME_KEYS
    return _is_optional(name, path) or path == ("countries",)


def _compared(name: str, own: Mapping[Any, Any], ours: Sequence[Any], path: tuple[str, ...]) -> Iterator[str]:
    """Compare a table with those of the package: keys, and what stands in each."""
    keys: list[set[Any]] = [set(each) for each in ours]
    every, some = set.intersection(*keys), set.union(*keys)
    for key in sorted(some.union(own), key=str):
        here = (*path, str(key))
        called = f"`{'.'.join(here)}`"
        theirs = [each[key] for each in ours if key in each]
        if key not in own:
            if key in every and not _is_optional(name, here):
                yield f"{called} is missing. English: {_short(theirs[-1])}"
        elif _is_optional(name, here) and (key not in some or not own[key]):
            continue
        elif key not in some:
            yield f"{called} is no key of this file. Remove it."
        elif own[key] is None or (own[key] in ("", [], {}) and name not in WORD_LISTS):
            if own[key] is None or all(theirs):
                yield f"{called} has no text yet. English: {_short(theirs[-1])}"
        elif not isinstance(own[key], type(theirs[-1])) and not isinstance(theirs[-1], int | float):
            yield f"{called} is not what belongs there, which is {_KINDS[type(theirs[-1])]}."
        elif isinstance(own[key], dict):
            if not has_own_keys(name, here):
                yield from _compared(name, own[key], theirs, here)
        elif isinstance(own[key], str):
            yield from _slots(called, own[key], theirs)


_KINDS = {str: "a text", dict: "a table", list: "a list", bool: "true or false", int: "a number", float: "a number"}


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _slots(called: str, text: str, theirs: Sequence[str]) -> Iterator[str]:
    """Find slots that a sentence lacks, or that nobody fills."""
    try:
        own, others = _named(text), [_named(each) for each in theirs]
        some, every = others[0].union(*others), others[0].intersection(*others)
    except ValueError:
        yield f"{called} has a brace that is not closed."
        return
    for slot in sorted(own - some):
        known_ = ", ".join(f"{{{each}}}" for each in sorted(some)) or "none"
        yield f"{called} has the slot {{{slot}}}, which nobody fills; known here: {known_}."
    for slot in sorted(every - own):
        yield f"{called} lacks the slot {{{slot}}}. English: {_short(theirs[-1])}"


def _named(text: str) -> set[str]:
    return {slot for _, slot, _, _ in Formatter().parse(text) if slot is not None}


def _language(document: Mapping[str, Any]) -> Iterator[str]:
    commands = document.get("commands") or []
    if not all(isinstance(each, str) and re.fullmatch(r"/[^\s/]+", each) for each in commands):
        yield "`commands` are single words behind a slash, such as /english."
    taken = {each for code in packaged() for each in load(code, "language.yaml")["commands"]}
    yield from (f"`commands` has {each}, which means another language." for each in commands if each in taken)
    try:
        if document.get("readability"):
            Formula(**document["readability"])
    except TypeError:
        yield "`readability` is numbers for base, sentence, word, easy and short, and may name its hyphenation."


def _emergency(document: Mapping[str, Any]) -> Iterator[str]:
    for name in ("out_of_hours", "countries", "listening", "practice"):
        table = document.get(name) or {}
        yield from (f"`{name}` has {each}; known are {', '.join(LINES)}." for each in table if each not in LINES)
    if not all(isinstance(each, str) for each in document.get("everywhere") or []):
        yield "`everywhere` is a list of numbers in quotation marks."


def _reactions(document: Mapping[str, Any]) -> Iterator[str]:
    for name, listed in document.items():
        expressions = listed if isinstance(listed, list) else [listed]
        yield from _expressions(name, [_SLOT.sub("x", str(each)) for each in expressions])


def _messages(document: Mapping[str, Any]) -> Iterator[str]:
    picks = document.get("picks") or {}
    for name, listed in {
        **{f"all_clear.{key}": value for key, value in (document.get("all_clear") or {}).items()},
        **{f"picks.{key}": value for key, value in (picks.get("places") or {}).items()},
        "ailing": document.get("ailing"),
        **{f"checking.{key}": value for key, value in (document.get("checking") or {}).items()},
        **{f"situation.{key}": value for key, value in (document.get("situation") or {}).items()},
        **{f"exams.{key}": value for key, value in (document.get("exams") or {}).items()},
    }.items():
        yield from _expressions(name, listed or [])


def _plain(document: Mapping[str, Any]) -> Iterator[str]:
    for name, listed in document.items():
        yield from _expressions(name, listed or [])


def _expressions(name: str, listed: Sequence[Any]) -> Iterator[str]:
    for each in listed:
        try:
            empty = re.compile(str(each)).fullmatch("") is not None
        except re.error as error:
            yield f"`{name}` has {_short(each)!r}, which is no regular expression ({error})."
        else:
            if empty:
                yield f"`{name}` has {_short(each)!r}, which fits anything."


def _words(document: Mapping[str, Any]) -> Iterator[str]:
    try:
        load_words(document, "the words of the interview")
    except ValueError as error:
        yield f"{error}"


_FURTHER: Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "language.yaml": _language,
    "emergency.yaml": _emergency,
    "reactions.yaml": _reactions,
    "messages.yaml": _messages,
    "plain.yaml": _plain,
    INTERVIEW_WORDS: _words,
}


def _alarm(code: str, documents: Mapping[str, Any]) -> Iterator[str]:
    """Check the rules of red flags against their examples."""
    rules_file, examples_file = (f"{code}/{name}" for name in SPECIAL)
    try:
        examples = read_examples(documents[SPECIAL[1]], ())
    except ValidationError as error:
        yield f"{examples_file}: {_first(error)}"
        return
    try:
        rules = read_red_flags(documents[SPECIAL[0]], examples)
    except ValidationError as error:
        yield f"{rules_file}: {_first(error)}"
        return
    except re.error as error:
        yield f"{rules_file}: {_short(str(error.pattern))!r} is no regular expression ({error})."
        return
    by_flag = {flag: [text for own, text in examples.urgent if own == flag] for flag in FLAGS}
    for flag in sorted({own for own, _ in examples.urgent} - set(FLAGS)):
        yield f"{examples_file}: `urgent` has {flag!r}, which is no flag; known are {', '.join(FLAGS)}."
    for flag in FLAGS:
        if not any(rule.flag == flag for rule in rules.rules):
            yield f"{rules_file}: there is no rule for the flag {flag!r}."
        if not by_flag[flag]:
            yield f"{examples_file}: `urgent.{flag}` has no examples."
    yield from (f"{rules_file}: {line}" for line in _rules(rules, by_flag))
    if not examples.harmless:
        yield f"{examples_file}: `harmless` has no examples."
    for text in examples.harmless:
        if raised := rules.check(text):
            yield f"{examples_file}: a rule takes the harmless {_short(text)!r} for {raised!r}."


def _rules(rules: RedFlags, by_flag: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for number, rule in enumerate(rules.rules, 1):
        if rule.flag not in (*FLAGS, *BY_RULE):
            yield f"rule {number} has the flag {rule.flag!r}; known are {', '.join((*FLAGS, *BY_RULE))}."
        elif left := re.search(r"\{[a-z_]+\}", rule.matches.pattern):
            yield f"rule {number} ({rule.flag}) names {left[0]}, which `words` does not have."
        elif not any(RedFlags.with_only(rule, rules).check(text) for text in _examples_for(rule.flag, by_flag)):
            where = f"urgent.{rule.flag}" if rule.flag in by_flag else "urgent"
            yield f"rule {number} ({rule.flag}) has no example: it finds none of the texts under `{where}`."


def _examples_for(flag: str, by_flag: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the examples that may show a rule: those of its flag; of one that only rules raise, all."""
    return by_flag[flag] if flag in by_flag else [text for texts in by_flag.values() for text in texts]


def _first(error: ValidationError) -> str:
    first: Any = error.errors()[0]
    return f"`{'.'.join(str(step) for step in first['loc'])}`: {first['msg']}."

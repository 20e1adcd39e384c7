"""Translate a catalog's pairs with a model, as drafts; where both sides may say something else, people look first."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Any

from bot import BadData, Catalog, Pair, amounts, data_folder, fold, plain_text, plain_thousands, turned_round, words
from harness.authoring.variants.sifting import unfit_in
from harness.authoring.working import Ask, Unusable, Work, ask_all
from harness.files import Record, read_record
from harness.llm.scores import json_objects

FIELDS = ("question", "short_answer", "answer", "easy_answer")
COUNTED = ("de", "en", "fr")  # languages whose amounts, units and all, can be read
FEWEST_WORDS = 3  # of a text whose language is asked: a name of an exam is the same in several
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in FIELDS},
    "required": list(FIELDS),
    "additionalProperties": False,
}


class Language(Record):
    """What a language is called in English, and how patients are spoken to in it."""

    name: str
    manner: str


class TranslationTexts(Record):
    """What a model is asked; slots as in `string.Template`."""

    languages: dict[str, Language]
    system: str
    task: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def of(self, code: str) -> Language:
        """Return a language; raise BadData when the file does not name it."""
        if code not in self.languages:
            known = ", ".join(self.languages)
            raise BadData(f"There is no language {code!r} in {_file()}; there are: {known}. Add it there.")
        return self.languages[code]


def _file() -> Any:
    return data_folder("vignettes") / "authoring" / "translation.yaml"


def load_texts() -> TranslationTexts:
    """Load the words of the prompts; raise BadData when the file is broken."""
    return read_record(_file(), TranslationTexts, f"{_file()} holds no prompts ({{reason}}). Mend it.")


@dataclass(frozen=True, slots=True)
class Translated:
    """A pair in the other language, and where its numbers, its yes or no, or its bounds are not those of the first.

    Attributes:
        pair: A draft without variants, extracts, countries' texts and quizzes.
        differences: One line each, for people.
    """

    pair: Pair
    differences: tuple[str, ...]


@dataclass(frozen=True)
class Translating:
    """Translates pairs of a catalog.

    Attributes:
        texts: What is asked.
        catalog: In the first language.
        target: Code of the other one.
        about: How the exam is spoken of, in English, the language of the prompts.
    """

    texts: TranslationTexts
    catalog: Catalog
    target: str
    about: str

    def all(self, pairs: Sequence[Pair]) -> Work[dict[str, Translated | None]]:
        """Translate pairs; None where no answer could be read."""
        found = yield from ask_all([self._ask(pair) for pair in pairs])
        return {
            pair.id: None if texts is None else self._translated(pair, texts)
            for pair, texts in zip(pairs, found, strict=True)
        }

    def _ask(self, pair: Pair) -> Ask[Mapping[str, str]]:
        source, target = self.texts.of(self.catalog.language), self.texts.of(self.target)
        slots = {"source": source.name, "target": target.name, "manner": target.manner, "about": self.about}
        texts = {name: getattr(pair, name) or "" for name in FIELDS}
        messages = [
            {"role": "system", "content": Template(self.texts.system).substitute(slots).strip()},
            {"role": "user", "content": Template(self.texts.task).substitute(slots, **texts).strip()},
        ]

        def read(answer: str) -> Mapping[str, str]:
            said = _read(answer, texts)
            if left := next((name for name in FIELDS if self._is_left(said[name])), ""):
                raise Unusable(f"{left} is still in {source.name}")
            return said

        return Ask(f"translate/{pair.id}", messages, read, _SCHEMA, {"step": "translate", "pair": pair.id})

    def _is_left(self, text: str) -> bool:
        """Say whether a text is in the first language rather than in the other one."""
        said = [word for word in words(text) if word.isalpha()]
        return len(said) >= FEWEST_WORDS and _likelier(text, self.catalog.language, self.target) != self.target

    def _translated(self, pair: Pair, texts: Mapping[str, str]) -> Translated:
        draft = Pair.model_validate(
            {
                "id": pair.id,
                "facets": pair.facets,
                "related": pair.related,
                "same_as": pair.same_as,
                # Nobody has held the translation against what stands in the source.
                "sources": [{**each.model_dump(), "checked": None} for each in pair.sources],
                **{name: text or None for name, text in texts.items()},
            }
        )
        return Translated(draft, tuple(self._differences(pair, texts)))

    def _differences(self, pair: Pair, texts: Mapping[str, str]) -> Iterator[str]:
        for name in FIELDS:
            first, other = getattr(pair, name) or "", texts[name]
            before, after = _numbers(first), _numbers(other)
            if {self.catalog.language, self.target} <= set(COUNTED):
                before |= {f"{one.value} {one.unit}".strip() for one in amounts(first, self.catalog.language)}
                after |= {f"{one.value} {one.unit}".strip() for one in amounts(other, self.target)}
            gone, new = sorted(before - after), sorted(after - before)
            if gone or new:
                said = [f"{what} {', '.join(some)}" for what, some in (("lost", gone), ("new", new)) if some]
                yield f"{name}: {'; '.join(said)}"
            yield from (f"{name}: {reason}" for reason in unfit_in(other) if reason not in unfit_in(first))
            yield from (f"{name}: {line}" for line in turned_round(first, self.catalog.language, other, self.target))


def _likelier(text: str, first: str, other: str) -> str:
    """Return which of two languages a text is in, by its byte sequences; the other one where nobody can say."""
    identifier = _identifier()
    if not {first, other} <= set(_known_languages()):
        return other
    identifier.set_languages([first, other])
    return str(identifier.classify(text)[0])


@cache
def _known_languages() -> frozenset[str]:
    return frozenset(_identifier().labels)


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # 0.7 s that no other command needs

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def _numbers(text: str) -> set[str]:
    """Return the numbers in digits, decimal commas as points."""
    return {found.replace(",", ".") for found in _NUMBER.findall(plain_thousands(text))}


def _read(answer: str, source: Mapping[str, str]) -> Mapping[str, str]:
    for document in json_objects(answer):
        if not set(FIELDS) <= set(document):
            continue
        texts = {name: " ".join(plain_text(str(document[name] or "")).split()) for name in FIELDS}
        for name in FIELDS:
            if bool(texts[name]) != bool(source[name].strip()):
                raise Unusable(f"{name} is empty in one language and not in the other")
        if fold(texts["answer"]) == fold(source["answer"]):
            raise Unusable("it is not translated")
        return texts
    raise Unusable(f"it holds no JSON object with {', '.join(FIELDS)}")

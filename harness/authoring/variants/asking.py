"""Prompts that have a model write as patients do, and that have another call say what was asked; answers read. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any, Literal, get_args

import numpy as np

from bot import Catalog, Encoder, Pair, data_folder, plain_text
from harness.authoring.variants.voices import Purpose, Voice
from harness.authoring.working import Ask, Unusable
from harness.files import Record, read_record

Kind = Literal["variants", "calibration", "near-misses", "unanswered"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PURPOSES: Mapping[Kind, Purpose] = {
    "variants": "variants",
    "calibration": "calibration",
    "near-misses": "calibration",
    "unanswered": "calibration",
}
BY_PATIENT: tuple[Kind, ...] = ("calibration", "unanswered")  # thresholds are set on them, for each patient
BESIDE: tuple[Kind, ...] = ("near-misses", "unanswered")  # no pair answers them
SIMILAR = 4  # neighbours by likeness, beside those that the catalog names
LONGEST_ANSWER = 1500  # characters of an answer in a prompt
MOST_CHARACTERS = 200_000
MOST_STARTS = 40  # brackets tried as the beginning of JSON


class DraftTexts(Record):
    """The words of all prompts in one language; slots as in `string.Template`."""

    about: str
    general: str
    examples_for: str
    examples: tuple[str, ...]
    system: str
    kinds: dict[Kind, str]
    check_system: str
    check: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]


def load_texts(language: str) -> DraftTexts:
    """Load the words for a language; raise BadData when nobody wrote them."""
    path = data_folder("vignettes") / "authoring" / f"variants-{language}.yaml"
    return read_record(path, DraftTexts, f"{path} holds no prompts ({{reason}}). Write it after the English one.")


@dataclass(frozen=True, slots=True)
class Patient:
    """Who asks a calibration question.

    Attributes:
        stratum: All patients of this literacy; thresholds must be right in each.
        description: What is told of the patient.
    """

    id: str
    stratum: str
    description: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that a model wrote, or that is borrowed.

    Attributes:
        text: One line.
        pair: The pair that it is meant for; of a near miss, the one that it must not be taken for.
        voice: Who wrote it.
        facet: Of the pair, or None.
        stratum: Of the patient who asks a calibration question; else empty.
        patient: The id of that patient.
        kind: Who wrote it.
        source: The catalog that it is borrowed from; empty: it was written for this one.
    """

    text: str
    pair: str
    voice: str
    facet: str | None = None
    stratum: str = ""
    patient: str = ""
    kind: Literal["person", "model"] = "model"
    source: str = ""

    @property
    def id(self) -> str:
        return hashlib.sha256(f"{self.pair}\n{self.patient}\n{self.text}".encode()).hexdigest()[:12]


def neighbours_of(catalog: Catalog, encoder: Encoder) -> dict[str, tuple[str, ...]]:
    """Return for each pair the ids of those that it may be confused with: named by the catalog, then the likest."""
    spoken = [" ".join((pair.question, *(facet.replace("-", " ") for facet in pair.facets))) for pair in catalog.pairs]
    vectors = np.asarray(encoder.encode(spoken), dtype=float)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-9)
    likeness = (vectors @ vectors.T).round(4)
    ids = [pair.id for pair in catalog.pairs]
    found = {}
    for at, pair in enumerate(catalog.pairs):
        nearest = [ids[other] for other in np.argsort(-likeness[at], kind="stable") if other != at]
        found[pair.id] = tuple(dict.fromkeys((*pair.related, *pair.same_as, *nearest[:SIMILAR])))
    return found


@dataclass(frozen=True)
class Prompting:
    """Makes the prompts for one catalog and one kind of texts.

    Attributes:
        about: How the exam is spoken of: "about mammograms".
        neighbours: By pair, what must not be asked there.
        count: How many texts a prompt asks for.
    """

    texts: DraftTexts
    catalog: Catalog
    kind: Kind
    about: str
    neighbours: Mapping[str, Sequence[str]]
    count: int

    def draft(self, voice: Voice, pair: Pair, patient: Patient | None = None) -> Ask[list[Draft]]:
        """Ask one voice for texts of one pair."""
        others = [self.catalog.pair(id_) for id_ in self.neighbours[pair.id]]
        if self.kind in BESIDE:  # what any pair answers is no near miss
            others += [each for each in self.catalog.pairs if each != pair and each not in others]
        task = self._fill(
            self.texts.kinds["near-misses" if self.kind in BESIDE else self.kind],
            question=pair.question,
            answer=_shortened(pair.answer),
            facets=", ".join(pair.facets) or self.texts.general,
            neighbours="\n".join(f"- {_in_short(each)}" for each in others) or "-",
            count=str(self.count),
            general=self.texts.general,
            examples_for=self.texts.examples_for,
            examples=" / ".join(f'"{each}"' for each in self.texts.examples),
            patient=patient.description if patient else "",
        )
        told = [self._fill(voice.impersonation)]
        if patient and self.kind in BESIDE:
            told.append(patient.description)
        system = self._fill(self.texts.system, voice="\n".join(told))
        messages = [{"role": "system", "content": system}, {"role": "user", "content": task}]
        who = patient.id if patient else voice.id
        labels = {"step": "draft", "voice": voice.id, "pair": pair.id}

        def read(answer: str) -> list[Draft]:
            return self._read_drafts(answer, voice, pair, patient)

        return Ask(f"{self.kind}/{who}/{pair.id}", messages, read, _DRAFTS, labels)

    def check(self, batch: Sequence[Draft]) -> Ask[Mapping[str, tuple[str, ...]]]:
        """Ask which pairs answer each text of a batch, without saying what was meant; by the id of the text."""
        listed = "\n".join(f"{number}: {each.text}" for number, each in enumerate(batch, 1))
        task = self._fill(self.texts.check, pairs="\n".join(map(_coverage, self.catalog.pairs)), texts=listed)
        system = self._fill(self.texts.check_system)
        messages = [{"role": "system", "content": system}, {"role": "user", "content": task}]
        name = hashlib.sha256("\n".join(each.id for each in batch).encode()).hexdigest()[:10]

        def read(answer: str) -> Mapping[str, tuple[str, ...]]:
            return self._read_check(answer, batch)

        return Ask(f"check/{name}", messages, read, _CHECKS, {"step": "check"})

    def _fill(self, template: str, **slots: str) -> str:
        return Template(template).safe_substitute(about=self.about, **slots).strip()

    def _read_drafts(self, answer: str, voice: Voice, pair: Pair, patient: Patient | None) -> list[Draft]:
        found = []
        who = (patient.stratum, patient.id) if patient else ("", "")
        for entry in _entries(answer, "texts"):
            said = {"text": entry} if isinstance(entry, str) else entry if isinstance(entry, dict) else {}
            written, facet = said.get("text"), str(said.get("facet") or "")
            text = " ".join(plain_text(written).split()) if isinstance(written, str) else ""
            known = facet if facet in pair.facets else None
            # What is none is counted among the rejected.
            found.append(Draft(text, pair.id, voice.id, known, *who))
        if not any(each.text for each in found):
            raise Unusable('it holds no list of {"facet": …, "text": …}')
        return found

    def _read_check(self, answer: str, batch: Sequence[Draft]) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for entry in _entries(answer, "answers"):
            if not isinstance(entry, dict):
                continue
            number, named = entry.get("n"), entry.get("pairs")
            number = int(number) if isinstance(number, str) and number.isdecimal() else number
            if not isinstance(number, int) or not isinstance(named, list):
                continue
            if not 1 <= number <= len(batch):
                # Who counts from 0, or skips a text, may have answered each for its neighbour.
                raise Unusable(f"it numbers a text {number}, and the texts are 1 to {len(batch)}")
            known = tuple(dict.fromkeys(str(each) for each in named if str(each) in self.catalog.by_id))
            # What names unknown pairs only says nothing.
            if (known or not named) and found.setdefault(batch[number - 1].id, known) != known:
                raise Unusable(f"it says two things of text {number}")
        if 2 * len(found) < len(batch):
            raise Unusable(f"it says of {len(found)} of {len(batch)} texts which pairs answer them")
        return found


def _schema(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    entry = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    listed = {"type": "array", "items": entry}
    return {"type": "object", "properties": {name: listed}, "required": [name], "additionalProperties": False}


# A schema's outermost value must be an object: the list stands in it.
_DRAFTS = _schema("texts", {"facet": {"type": "string"}, "text": {"type": "string"}})
_CHECKS = _schema("answers", {"n": {"type": "integer"}, "pairs": {"type": "array", "items": {"type": "string"}}})


def _entries(answer: str, name: str) -> Iterator[Any]:
    """Yield the entries of the first list of JSON in an answer, or of the list `name` in an object."""
    decoder, text = json.JSONDecoder(), answer[:MOST_CHARACTERS]
    for number, start in enumerate(re.finditer(r"[\[{]", text)):
        if number == MOST_STARTS:
            return
        try:
            document, _ = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            document = document.get(name)
        if isinstance(document, list) and any(isinstance(each, dict | str) for each in document):
            yield from document
            return


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_ANSWER else f"{text[:LONGEST_ANSWER].rpartition(' ')[0]} …"


def _in_short(pair: Pair) -> str:
    return f"{pair.question} ({', '.join(pair.facets[:6])})" if pair.facets else pair.question


def _coverage(pair: Pair) -> str:
    covered = ", ".join(pair.facets) or pair.short_answer or ""
    return f"- {pair.id}: {pair.question}" + (f" ({covered})" if covered else "")

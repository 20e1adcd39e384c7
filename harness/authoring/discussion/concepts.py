"""Concepts of two texts compared by a model, section by section: precision, recall and F1 ("GPT-F1").

Nair et al. (2023), appendix A.1 and prompts 6 and 7. One answer holds all sections here, where the paper asks for each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Template

from bot import fold
from harness.authoring.discussion.texts import DiscussionTexts, Section, Sections, as_text, cleaned
from harness.authoring.working import Ask, Unusable, Work, ask, ask_all
from harness.llm.scores import json_objects

Concepts = Mapping[str, tuple[str, ...]]  # by the key of the section
MOST_CONCEPTS = 60  # of a section


@dataclass(frozen=True, slots=True)
class Overlap:
    """How the concepts of one section agree with the reference.

    Attributes:
        found, named: Concepts of the text, and how many of them the reference has.
        recalled, wanted: Concepts of the reference, and how many of them the text has.
    """

    found: int
    named: int
    recalled: int
    wanted: int

    @property
    def precision(self) -> float | None:
        return self.found / self.named if self.named else None

    @property
    def recall(self) -> float | None:
        return self.recalled / self.wanted if self.wanted else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean; 0 where only one of the texts has concepts, None where neither has any."""
        if not self.named and not self.wanted:
            return None
        precision, recall = self.precision or 0.0, self.recall or 0.0
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def extract(texts: DiscussionTexts, sections: Sequence[Section], text: Sections, *, name: str) -> Work[Concepts | None]:
    """Ask for the concepts of each section (prompt 6)."""
    focus = ", ".join(section.title for section in sections)
    content = Template(texts.extract).substitute(text=as_text(sections, text), focus=focus)
    return (yield from ask(Ask(f"{name}concepts", _user(content), _reader(sections))))


def f1_of(
    texts: DiscussionTexts,
    sections: Sequence[Section],
    text: tuple[Sections, Concepts],
    reference: tuple[Sections, Concepts],
    *,
    name: str,
) -> Work[dict[str, Overlap] | None]:
    """Compare two texts whose concepts were extracted, by the key of each section; None where an answer is missing."""
    found, recalled = yield from ask_all(
        [
            _verification(texts, sections, reference, text[1], f"{name}precision"),
            _verification(texts, sections, text, reference[1], f"{name}recall"),
        ]
    )
    if found is None or recalled is None:
        return None
    return {
        key: Overlap(found[key], len(text[1][key]), recalled[key], len(reference[1][key]))
        for key in (section.key for section in sections)
    }


def _verification(
    texts: DiscussionTexts,
    sections: Sequence[Section],
    within: tuple[Sections, Concepts],
    sought: Concepts,
    id_: str,
) -> Ask[dict[str, int]]:
    """Ask which of the concepts are in a text (prompt 7); the answer is how many, by section."""
    snippet, own = within
    parts = [
        f"{section.title}\nsnippet: {snippet[section.key]}\nlist_a: {_listed(own[section.key])}\n"
        f"list_b: {_listed(sought[section.key])}"
        for section in sections
    ]
    content = Template(texts.verify).substitute(sections="\n\n".join(parts))
    return Ask(id_, _user(content), _counter(sections, sought))


def _listed(concepts: Sequence[str]) -> str:
    return json.dumps(list(concepts), ensure_ascii=False)


def _user(content: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": content.strip()}]


def _reader(sections: Sequence[Section]) -> Callable[[str], Concepts]:
    def read(answer: str) -> Concepts:
        record = _by_section(answer, sections)
        found: dict[str, tuple[str, ...]] = {}
        for section in sections:
            if section.key not in record:  # left out is not the same as empty: a gap must not count as a miss
                raise Unusable(f"it names no concepts of {section.title!r}, not even an empty list")
            listed = record[section.key]
            if not isinstance(listed, list):
                raise Unusable(f"the concepts of {section.title!r} are no list")
            named = {fold(one): one.strip() for one in listed if isinstance(one, str) and fold(one)}
            found[section.key] = tuple(named.values())[:MOST_CONCEPTS]
        return found

    return read


def _counter(sections: Sequence[Section], sought: Concepts) -> Callable[[str], dict[str, int]]:
    def read(answer: str) -> dict[str, int]:
        record = _by_section(answer, sections)
        counts: dict[str, int] = {}
        for section in sections:
            wanted = {fold(one) for one in sought[section.key]}
            if not wanted:
                counts[section.key] = 0
                continue
            said = record.get(section.key)
            lists = said if isinstance(said, dict) else {}
            found, missing = (
                {fold(str(one)) for one in listed} if isinstance(listed := lists.get(name), list) else set()
                for name in ("found_b", "not_found_b")
            )
            unsaid = wanted - found - missing
            if unsaid:
                raise Unusable(f"it says nothing of {len(unsaid)} of {len(wanted)} concepts of {section.title!r}")
            counts[section.key] = len((found - missing) & wanted)
        return counts

    return read


def _by_section(answer: str, sections: Sequence[Section]) -> dict[str, object]:
    """Return the largest JSON object that names sections, with their keys."""
    names = {fold(name): section.key for section in sections for name in (section.title, section.key)}
    read = [
        {names[fold(name)]: value for name, value in document.items() if fold(name) in names}
        for document in json_objects(cleaned(answer))
    ]
    best = max(read, key=len, default={})
    if not best:
        raise Unusable("it holds no JSON object with the sections")
    return best

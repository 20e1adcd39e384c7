"""What is discussed: a pair or draft of a curator, and a patient's conversation, each as a task with its first text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from bot import BadData, Catalog, Pair, amounts, fold, pair_hash, strange_telephones, words
from harness.authoring.discussion.conversation import Conversation
from harness.authoring.discussion.dialogue import Discussed, named_sections
from harness.authoring.discussion.texts import DiscussionTexts, Sections, Task
from harness.authoring.evidence.passages import sentences
from harness.authoring.submission import Submission
from harness.files import first_fault, load_yaml, unreadable

SAMPLE = "Draft by a language model after a discussion of two agents. SAMPLE CONTENT, NOT APPROVED BY ANY CLINICIAN."
WORDS = 90  # of an answer whose pair has no target
_CONTENT, _STEM = 4, 6  # letters: shorter words say little, and forms of a word begin alike
_DISCUSSION = {"de": "Besprechung zweier Sprachmodelle", "en": "Discussion of two language models"}
_PLACE = {"de": "Notizzettel, Zeile {}", "en": "scratchpad, line {}"}


@dataclass(frozen=True, slots=True)
class PairDraft:
    """A pair as a curator has it.

    Attributes:
        pair: The pair.
        origin: Where it comes from, for people.
        catalog: Name of the catalog that it belongs to; empty where a file does not say.
        language: Of its texts; empty where a file does not say.
        drafted_by: Models that have written in it so far.
        backings: What its sentences were written from so far, as the file says: see `submission`.
        base: Hash of the pair that it was begun with; empty where that is not known.
    """

    pair: Pair
    origin: str
    catalog: str = ""
    language: str = ""
    drafted_by: tuple[str, ...] = ()
    backings: tuple[Mapping[str, Any], ...] = ()
    base: str = ""

    @property
    def texts(self) -> Sections:
        """Return its texts for patients in sections."""
        found = {
            "short_answer": self.pair.short_answer,
            "answer": self.pair.answer,
            "easy_answer": self.pair.easy_answer,
        }
        return {key: text for key, text in found.items() if text}

    def with_texts(self, final: Sections) -> dict[str, Any]:
        """Return the whole pair as a draft with new texts, unreviewed.

        Sentences that answered a facet and are not in the answer any more are left out: others are to be chosen.
        """
        record = self.pair.model_dump(mode="json", exclude_defaults=True, exclude={"extracts", "review"})
        record.update(final)
        if extracts := [each for each in self.pair.extracts if each.text in record["answer"]]:
            record["extracts"] = [each.model_dump(mode="json") for each in extracts]
        record["review"] = {"status": "draft", "by": None, "on": None, "valid_until": None}
        return record


def find_pair(id_: str, catalog: Catalog) -> PairDraft:
    """Return a pair by its id; raise BadData when there is none."""
    pair = next((pair for pair in catalog.pairs if pair.id == id_), None)
    if pair is None:
        raise BadData(
            f"There is no pair {id_!r} in {catalog.ref} ({catalog.language}). See `klartext qa list`, or give a draft "
            "as a YAML file."
        )
    return PairDraft(pair, catalog.ref, catalog.name, catalog.language, base=pair_hash(pair))


def read_draft(name: str) -> PairDraft:
    """Read a draft from a YAML file in the form of a pair, or of a catalog with one; raise BadData for all else."""
    try:
        record = load_yaml(Path(name))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadData(f"{name} cannot be read ({unreadable(error)}). Give a draft in the form of a pair.") from error
    whole = record if isinstance(record, dict) else {}
    pairs = record.get("pairs") if isinstance(record, dict) else record
    if isinstance(pairs, list):
        if len(pairs) != 1:
            raise BadData(f"{name} holds {len(pairs)} pairs. Give a file with one.")
        record = pairs[0]
    try:
        pair = Pair.model_validate(record)
        beside = {key: whole[key] for key in ("base", "drafted_by", "provenance") if whole.get(key)}
        said = Submission.model_validate({"pairs": [pair], **beside})
    except ValidationError as error:
        raise BadData(f"{name} is no pair: {first_fault(error)}. Mend it after a pair of the catalog.") from error
    catalog, language = (str(whole.get(key) or "") for key in ("catalog", "language"))
    backings, base = tuple(said.provenance.get(pair.id, ())), said.base.get(pair.id, "")
    return PairDraft(pair, name, catalog, language, said.drafted_by, backings, base)


def pair_task(texts: DiscussionTexts, draft: PairDraft, *, basis: str = "") -> Task:
    """Return how a pair is discussed; `basis`: what else its text may rest on, for example passages of a leaflet."""
    sources = "\n".join(
        f"- {source.title} ({source.publisher}): {source.passage}"
        for source in draft.pair.sources
        if source.passage and "not opened" not in source.passage
    )
    material = "\n\n".join(part for part in (f"„{draft.pair.question}“", sources, basis.strip()) if part)
    kind = texts.tasks["pair"]
    sections = tuple(section for section in kind.sections if section.key in draft.texts)
    slots = {"words": str(draft.pair.words_target or WORDS)}
    return Task(texts, kind.model_copy(update={"sections": sections}), material, slots)


def conversation_task(texts: DiscussionTexts, conversation: Conversation, *, exam: str) -> Task:
    """Return how a conversation is summarised."""
    return Task(texts, texts.tasks["summary"], conversation.as_text(), {"exam": exam})


def as_draft(draft: PairDraft, task: Task, done: Discussed, *, language: str, models: Sequence[str]) -> str:
    """Return a pair with its final texts as a file that `klartext author submit` takes; `models` discussed it.

    Where nothing of what they said was taken, no word is theirs, and they are not named.
    """
    final = done.final or draft.texts
    known: dict[str, Any] = {"catalog": draft.catalog} if draft.catalog else {}
    known |= {"base": {draft.pair.id: draft.base}} if draft.base else {}
    record: dict[str, Any] = {
        **known,
        "language": language,
        "drafted_by": list(dict.fromkeys([*draft.drafted_by, *(models if final != draft.texts else ())])),
        "pairs": [draft.with_texts(final)],
    }
    backings = [*draft.backings, *_new_backings(draft, task, done, language)]
    if backings:
        record["provenance"] = {draft.pair.id: backings}
    body = yaml.safe_dump(record, allow_unicode=True, sort_keys=False, width=118)
    return f"# {SAMPLE} Improves {draft.pair.id} of {draft.origin}.\n{body}"


def _new_backings(draft: PairDraft, task: Task, done: Discussed, language: str) -> list[dict[str, Any]]:
    """Return what the new sentences were written from: the accepted lines about their section that say them.

    A sentence that no line says has no quotation; numbers in it that nobody stated are named.

    What is known of sentences that are gone stays beside them: the console says that these stand there no more. Nobody
    has compared a new sentence with a source, so each is marked as unchecked.
    """
    lines = [(number, done.discussion.scratchpad[number - 1]) for number in done.accepted or ()]
    about = {number: named_sections(task.sections, line) for number, line in lines}
    title, place = (names.get(language, names["en"]) for names in (_DISCUSSION, _PLACE))
    known = [(each.get("field"), each.get("sentence")) for each in draft.backings]  # whatever the file says there
    stated = [draft.pair.question, *draft.texts.values(), *(line for _, line in lines)]
    found = []
    for key, text in (done.final or {}).items():
        before = draft.texts.get(key, "")
        for sentence in sentences(text):
            if sentence in before or (key, sentence) in known:
                continue
            quotations = [
                {"document": "discussion", "title": title, "place": place.format(number), "text": line}
                for number, line in lines
                if (not about[number] or key in about[number])  # a line that names no section may be about any
                and _says(line, sentence, before)
            ]
            backing = {"field": key, "sentence": sentence, "quotations": quotations, "unchecked": True}
            if strange := _unstated(sentence, stated, language):
                backing["unstated"] = strange
            found.append(backing)
    return found


def _says(line: str, sentence: str, before: str) -> bool:
    """Tell whether a line of the scratchpad says a new sentence of a text, by its words.

    It does where it quotes the sentence, holds most of its content words, or all of those that are new in the text.
    """
    if f" {fold(sentence)} " in f" {fold(line)} ":
        return True
    said, there = _content(sentence), _content(line)
    fresh = said - _content(before)
    return 2 * len(said & there) > len(said) or bool(fresh and fresh <= there)


def _content(text: str) -> frozenset[str]:
    """Return the content words of a text by their beginnings, and its numbers."""
    return frozenset(word[:_STEM] for word in words(text) if len(word) >= _CONTENT or word.isdigit())


def _unstated(sentence: str, stated: Sequence[str], language: str) -> list[str]:
    """Return the numbers of a sentence that stand in none of these texts."""
    known = {each.value for text in stated for each in amounts(text, language)}
    numbers = sorted({each.value for each in amounts(sentence, language)} - known)
    return [*numbers, *strange_telephones(sentence, language, stated)]

"""What an exam has an answer to by single words, whatever else is said: a pacemaker, a ring, a pregnancy. Pure.

The words are data of each catalog (`matters` in `exam.yaml`). Where a message holds one, the learned decision is not
left alone: what would be declined, or taken for a complaint only because a part of the body stands in it ("nipple
piercing"), gets the answer; and what another exam says of such a matter is never said for this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache

from bot.assistant import Assistant
from bot.catalog.catalog import Catalog
from bot.interview.manners.listening import question_like
from bot.response import Also, Response
from bot.talk.exams import called, exam_of
from bot.talk.messages import ails
from bot.talk.naming import read_names, speaks_of_exam, tells_symptom
from bot.text import story_pieces, words

INSIDE, MISSPELT, LIKE_ENOUGH = 6, 8, 0.88  # letters of a word that may stand inside another, or be misspelt; how near
TELLING = 6  # letters of a word that names a choice
MOST_WORDS = 3  # of a message that no complaint is heard in, and that is answered by such a word alone
MOST_OF_EXAM = 12  # the same where such a word is said of exams alone
MOST_TOLD = 24  # the same where it names the exam
OF_EXAMS = ("results-when", "body-size")  # pairs whose words are said of an exam, and of nothing else
NONE: Mapping[str, Sequence[str]] = {}


def matters_in(assistant: Assistant, text: str, language: str) -> tuple[str, ...]:
    """Return the pairs of an exam whose words stand in a message, those of the longest words first."""
    said, learned = words(text), assistant.learned(language)
    found = dict[str, int]()
    for pair_id, listed in _listed(assistant):
        for each in listed:
            if pair_id in learned and _stands_in(each, said):
                found[pair_id] = max(found.get(pair_id, 0), len(" ".join(each)))
    return tuple(sorted(found, key=lambda pair_id: -found[pair_id]))


def is_risky(assistant: Assistant, pair_id: str | None) -> bool:
    """Say whether other exams may say the opposite of what a pair says."""
    exam = assistant.wording.exam
    return exam is not None and pair_id in exam.only_named


def answered_by_words(assistant: Assistant, response: Response) -> Response:
    """Return a decision, or the answer to what a message names where it would be declined or called a complaint.

    Not where it tells a symptom that may be of the exam, or how urgent it is says more than a word.
    """
    is_open = response.decision in ("declined", "clarify") and response.fixed is None and not response.too_long
    text, language = response.question, response.lang
    found = matters_in(assistant, text, language) if is_open and response.level not in ("now", "today") else ()
    if not found or (response.decision == "clarify" and not _one_choice(assistant, response, found)):
        return response
    asked = [piece for piece in story_pieces(text) if question_like(piece, language) != "no"]
    last = matters_in(assistant, asked[-1], language) if asked else ()
    found = last or found
    here = read_names(text, {exam_of(assistant): called(assistant)})
    if response.level == "other":
        # A device in a long story of something else: nobody shall only hear "ask your doctor" of it.
        risky = is_risky(assistant, found[0]) and question_like(text, language) != "no"
        told = bool(here.meant or speaks_of_exam(text)) and (risky or bool(last))
        return _answered(assistant, response, found) if told else _offered(assistant, response, found)
    if tells_symptom(text) or (response.level is not None and ails(text)):
        return _offered(assistant, response, found)
    # Who waits for the result is not unwell. A word alone is enough in few, or beside the exam's name: of a pacemaker
    # much else is asked.
    few = len(words(text)) <= (MOST_OF_EXAM if found[0] in OF_EXAMS else MOST_WORDS)
    named = bool(here.meant) and not here.hinted and len(words(text)) <= MOST_TOLD
    if response.level is not None or few or named:
        return _answered(assistant, response, found)
    return _offered(assistant, response, found)


def _offered(assistant: Assistant, response: Response, found: Sequence[str]) -> Response:
    """Return a declined message asked back about where it names a device beside an illness: "heart attack, two stents".

    Nobody shall hear that there is no answer to what may be dangerous here; nor that this is what was asked.
    """
    text = response.question
    short = response.decision == "declined" and len(words(text)) <= MOST_TOLD
    unwell = ails(text) or (response.level is not None and (response.level != "other" or tells_symptom(text)))
    if not short or not is_risky(assistant, found[0]) or unwell:
        return response
    likely = (candidate.pair_id for candidate in response.candidates)
    others = [pair_id for pair_id in (*found[1:], *likely) if pair_id != found[0]][:1]
    choices = (found[0], *others)
    return replace(response, decision="clarify", choices=choices, level=None, advice=None, reason="", why="")


def _one_choice(assistant: Assistant, response: Response, found: Sequence[str]) -> bool:
    """Tell whether what is named is one of the choices, and no other of them is named by its question's words."""
    catalog, said = assistant.catalog(response.lang), set(words(response.question))
    others = [catalog.pair(pair_id).question for pair_id in response.choices if pair_id not in found]
    return found[0] in response.choices and not any(
        len(word) >= TELLING and word in said for question in others for word in words(question)
    )


def _answered(assistant: Assistant, response: Response, found: Sequence[str]) -> Response:
    language = response.lang
    catalog: Catalog = assistant.catalog(language)
    also = tuple(Also(pair_id, response.score, catalog.pair(pair_id).answer) for pair_id in found[1:2])
    return replace(
        response,
        decision="answered",
        pair_id=found[0],
        answer=catalog.pair(found[0]).answer,
        also=also,
        choices=(),
        level=None,
        advice=None,
        reason="",
        why="",
    )


def pair_for(other: Assistant, text: str, language: str) -> str | None:
    """Return the pair by which an exam answers a question that names it, whatever the score; None where it has none.

    One that may not be shown now is such a pair, too: no other one is said in its place.
    """
    response = other.answer(text, language)
    found = [] if response.pair_id is None or response.decision != "answered" else [response.pair_id]
    likely = [*matters_in(other, text, language), *found, *response.choices]
    likely += [candidate.pair_id for candidate in response.candidates]
    learned = [pair_id for pair_id in likely if pair_id in other.learned(language)]
    risky = [pair_id for pair_id in learned if is_risky(other, pair_id)]
    return next(iter((*risky, *learned)), None)


@lru_cache(maxsize=32)
def _listed(assistant: Assistant) -> tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]:
    exam = assistant.wording.exam
    listed = exam.matters if exam is not None else NONE
    return tuple((pair_id, tuple(tuple(words(each)) for each in named)) for pair_id, named in listed.items())


def _stands_in(named: Sequence[str], said: Sequence[str]) -> bool:
    places = range(len(said) - len(named) + 1)
    return any(all(map(_is_like, said[start : start + len(named)], named)) for start in places)


def _is_like(said: str, named: str) -> bool:
    """Say whether a word is another one, has it inside ("Brustwarzenpiercings"), or is misspelt."""
    if said == named or (len(named) >= INSIDE and named in said):
        return True
    is_long = min(len(said), len(named)) >= MISSPELT and said[0] == named[0]
    return is_long and SequenceMatcher(None, said, named).ratio() >= LIKE_ENOUGH

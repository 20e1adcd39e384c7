"""Questions that mean the same, put together."""

import json
import random
from collections.abc import Sequence

import numpy as np
import pytest

from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.curation.cluster_report import b_cubed, studied
from bot.curation.clusters import NOTHING, Cluster, Open, Suggestion, cluster
from bot.ports import Vectors
from bot.resources import data_folder

ASKED = {
    "de": [
        ("pray", "Gibt es einen Gebetsraum?"),
        ("pray", "gibt es einen gebetsraum"),
        ("pray", "Haben Sie einen Raum zum Beten?"),
        ("park", "Wo kann ich parken?"),
        ("park", "Gibt es Parkplätze vor dem Haus?"),
        ("park", "wo parke ich mein auto"),
        ("dog", "Darf mein Hund mit ins Wartezimmer?"),
        ("dog", "Kann ich meinen Hund mitbringen?"),
    ],
    "en": [("park", "Where can I park?"), ("park", "where can i park"), ("dog", "May I bring my dog?")],
}


@pytest.fixture(scope="module")
def questions() -> list[Open]:
    texts = [(language, text) for language, asked in ASKED.items() for _, text in asked]
    return [Open(number, language, text) for number, (language, text) in enumerate(texts)]


@pytest.fixture(scope="module")
def vectors(questions: list[Open], embedded_encoder: EmbeddedEncoder) -> Vectors:
    return embedded_encoder.encode([each.text for each in questions])


def _ids(found: Sequence[Cluster]) -> list[tuple[int, ...]]:
    return [tuple(member.id for member in each.members) for each in found]


def test_most_of_a_group_asks_the_same(embedded_encoder: EmbeddedEncoder) -> None:
    """The figures of docs/accuracy.md, on a suite; what is drawn together by chance has a precision of 0.02."""
    suite = data_folder("vignettes") / "suites" / "mammography-blind-en" / "questions.jsonl"
    lines = [json.loads(line) for line in suite.read_text(encoding="utf-8").splitlines()]
    asked = [line for line in lines if line["pair_id"]]
    opens = [Open(number, "en", line["text"]) for number, line in enumerate(asked)]

    found = cluster(opens, embedded_encoder.encode([each.text for each in opens]))

    group = {member.id: number for number, each in enumerate(found) for member in each.members}
    quality = b_cubed([line["pair_id"] for line in asked], [group[each.id] for each in opens])
    assert quality.precision > 0.6
    assert quality.f1 > 0.2


def test_every_question_is_in_one_group_behind_its_representative(questions: list[Open], vectors: Vectors) -> None:
    found = cluster(questions, vectors)

    assert sorted(id_ for ids in _ids(found) for id_ in ids) == list(range(11))
    assert {0, 1} in [set(ids) for ids in _ids(found)]
    assert [each.size for each in found] == sorted((each.size for each in found), reverse=True)
    assert all(each.representative == each.members[0] for each in found)


def test_languages_are_kept_apart(questions: list[Open], vectors: Vectors) -> None:
    assert all(len({member.language for member in each.members}) == 1 for each in cluster(questions, vectors))


def test_the_order_of_the_questions_plays_no_part(questions: list[Open], vectors: Vectors) -> None:
    numbers = list(range(len(questions)))
    random.Random(3).shuffle(numbers)

    shuffled = cluster([questions[number] for number in numbers], vectors[numbers])

    assert _ids(shuffled) == _ids(cluster(questions, vectors))


def test_near_copies_are_together_whatever_their_vectors_say() -> None:
    questions = [
        Open(1, "de", "Gibt es einen Gebetsraum?"),
        Open(2, "de", "gibt es einen gebetsraum"),
        Open(3, "de", "x y"),
    ]

    found = cluster(questions, np.array([[1, 0], [-1, 0], [0, 1]], dtype=np.float32))

    assert {1, 2} in [{member.id for member in each.members} for each in found]


def test_a_group_has_the_pair_that_fits_its_representative(questions: list[Open], vectors: Vectors) -> None:
    asked: list[tuple[str, int]] = []

    def suggest(texts: Sequence[str], language: str) -> list[Suggestion]:
        asked.append((language, len(texts)))
        return [Suggestion("parking", 0.7) if "ark" in text else NOTHING for text in texts]

    found = cluster(questions, vectors, suggest=suggest)

    assert [language for language, _ in asked] == ["de", "en"]
    assert all((each.suggestion.pair_id == "parking") == ("ark" in each.representative.text) for each in found)


def test_one_question_and_none_are_groups_too() -> None:
    only = Open(1, "de", "Gebetsraum?")

    assert cluster([only], np.ones((1, 4), dtype=np.float32)) == [Cluster(only, (only,))]
    assert cluster([], np.ones((0, 4), dtype=np.float32)) == []


def test_a_vector_is_wanted_for_each_question(questions: list[Open], vectors: Vectors) -> None:
    with pytest.raises(ValueError, match="11 questions and 3 vectors"):
        cluster(questions, vectors[:3])


def test_the_same_question_asked_thousands_of_times_is_one_line() -> None:
    questions = [Open(number, "de", "Gibt es Kaffee?") for number in range(3000)] + [Open(-1, "de", "Hund?")]

    found = cluster(questions, np.vstack([np.ones((3000, 8)), -np.ones((1, 8))]).astype(np.float32))

    assert [each.size for each in found] == [3000, 1]


def test_b_cubed_counts_what_is_together_and_what_is_apart() -> None:
    assert b_cubed("aabb", "xxyy").f1 == 1.0
    assert (b_cubed("aabb", "xxxx").precision, b_cubed("aabb", "xxxx").recall) == (0.5, 1.0)
    assert (b_cubed("aabb", "wxyz").precision, b_cubed("aabb", "wxyz").recall) == (1.0, 0.5)


def test_the_report_marks_the_threshold_that_is_used(questions: list[Open], vectors: Vectors) -> None:
    lines = list(studied(questions[:8], vectors[:8], [wanted for wanted, _ in ASKED["de"]]))

    assert lines[0] == "8 questions, 3 things asked"
    assert sum("<- used" in line for line in lines) == 1


def test_emergencies_never_stand_in_a_group_with_other_questions(embedded_encoder: EmbeddedEncoder) -> None:
    texts = ["Meine Brustwarze juckt", "Die Brust juckt", "Mir juckt die Brust", "Ich habe Druck auf der Brust"]
    texts += ["meine brustwarze juckt", "Die Brustwarze juckt mich", "Die Brust drückt und juckt"]
    opens = [Open(number, "de", text, number in (3, 4)) for number, text in enumerate(texts)]
    same = np.ones((len(texts), 8), dtype=np.float32)

    for vectors in (same, embedded_encoder.encode(texts)):
        found = cluster(opens, vectors)
        assert sorted(id_ for ids in _ids(found) for id_ in ids) == list(range(len(texts)))
        assert all(len({member.urgent for member in each.members}) == 1 for each in found)

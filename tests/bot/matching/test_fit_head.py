"""Training: deterministic, and honest about what was held out."""

import numpy as np
import pytest

from bot.matching.features import Evidence
from bot.matching.fit_head import BACKGROUND, Example, HeldOut, train
from bot.matching.head import Head
from bot.testing import HOSTILE_TEXTS, SMALL_PAIRS, HashEncoder

PAIRS = list(SMALL_PAIRS["de"])
NONE = len(PAIRS)
FOREIGN = ["Wie wird das Wetter?", "Wo ist der Parkplatz?", "Ist die Kantine offen?", "Welcher Bus fährt hin?"]


def _examples() -> list[Example]:
    found = []
    for label, pair_id in enumerate(PAIRS):
        question, *variants = SMALL_PAIRS["de"][pair_id]
        found.append(Example(question, label, ""))
        found += [Example(text, label, "unknown") for text in variants]
    return found + [Example(text, NONE, BACKGROUND) for text in FOREIGN]


def _trained(examples: list[Example], classes: int) -> tuple[Head, HeldOut]:
    return train(examples, HashEncoder().encode([example.text for example in examples]), classes)


@pytest.fixture(scope="module")
def small_head() -> Head:
    return _trained(_examples(), NONE + 1)[0]


def test_the_head_learns_the_texts_of_a_small_catalog(small_head: Head) -> None:
    examples = [example for example in _examples() if example.label != NONE]
    texts = [example.text for example in examples]

    found = small_head.probabilities(HashEncoder().encode(texts), texts).argmax(axis=1)

    assert found.tolist() == [example.label for example in examples]


def test_the_head_generalises_to_other_words_around_the_same_ones(small_head: Head) -> None:
    texts = ["Habe ich da Schmerzen?", "und wer bezahlt", "wie viele Minuten dauert es"]

    found = small_head.probabilities(HashEncoder().encode(texts), texts).argmax(axis=1)

    assert [PAIRS[number] for number in found] == ["pain", "costs", "duration"]


@pytest.mark.parametrize("text", ["völlig fremd", "Quark mit Erdbeeren", *HOSTILE_TEXTS.values()])
def test_probabilities_of_unseen_text_sum_to_one(small_head: Head, text: str) -> None:
    found = small_head.probabilities(HashEncoder().encode([text]), [text])

    assert found.shape == (1, NONE + 1)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1.0, abs=1e-5)


def test_the_same_input_gives_bit_identical_numbers() -> None:
    one, held_out = _trained(_examples(), NONE + 1)
    two, held_out_again = _trained(_examples(), NONE + 1)

    assert isinstance(one.evidence, Evidence)
    assert isinstance(two.evidence, Evidence)
    assert one.evidence.weights.alpha.tobytes() == two.evidence.weights.alpha.tobytes()
    assert one.evidence.whitening.matrix.tobytes() == two.evidence.whitening.matrix.tobytes()
    assert one.fusion.shared.tobytes() == two.fusion.shared.tobytes()
    assert held_out.probabilities.tobytes() == held_out_again.probabilities.tobytes()


def test_the_order_of_examples_does_not_matter_to_what_is_learned() -> None:
    text = "Habe ich da Schmerzen?"
    vector = HashEncoder().encode([text])

    one = _trained(_examples(), NONE + 1)[0].probabilities(vector, [text])
    two = _trained(_examples()[::-1], NONE + 1)[0].probabilities(vector, [text])

    np.testing.assert_allclose(one, two, atol=1e-3)


def test_canonical_questions_are_never_held_out() -> None:
    examples = _examples()
    canonical = sum(not example.group for example in examples)

    held_out = _trained(examples, NONE + 1)[1]

    assert len(held_out.label) == len(examples) - canonical


def test_a_catalog_of_canonical_questions_alone_holds_nothing_out() -> None:
    examples = [Example(SMALL_PAIRS["de"][pair_id][0], label, "") for label, pair_id in enumerate(PAIRS)]

    head, held_out = _trained(examples, NONE + 1)

    assert held_out.probabilities.shape == (0, NONE + 1)
    texts = [example.text for example in examples]
    assert head.probabilities(HashEncoder().encode(texts), texts).argmax(axis=1).tolist() == [0, 1, 2]


def test_a_catalog_of_one_question_can_be_trained() -> None:
    head, _ = _trained([Example("Tut das weh?", 0, "")], 2)

    found = head.probabilities(HashEncoder().encode(["weh?"]), ["weh?"])

    assert np.isfinite(found).all()


# Every author has a word of their own for each of two pairs: only who has read this author can tell the pairs apart.
_WORDS = {"anna": ("qixo", "wuze"), "berta": ("hjam", "vopp"), "clara": ("dlen", "bnyk")}


def _private_languages(*, signed: bool) -> list[Example]:
    return [
        Example(f"{word} {'ja ' * number}", label, author if signed else "unknown")
        for author, own in _WORDS.items()
        for label, word in enumerate(own)
        for number in range(30)
    ]


def _held_out_accuracy(held_out: HeldOut) -> float:
    return float((held_out.probabilities[:, :2].argmax(axis=1) == held_out.label).mean())


def test_authors_are_held_out_as_a_whole() -> None:
    known = _trained(_private_languages(signed=False), 3)[1]
    by_author = _trained(_private_languages(signed=True), 3)[1]

    assert _held_out_accuracy(known) > 0.95
    assert _held_out_accuracy(by_author) < 0.75

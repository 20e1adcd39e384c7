"""Large catalogs: every question learns from its neighbours only."""

import random

import numpy as np
import pytest

from bot.matching import store
from bot.matching.decide import Thresholds
from bot.matching.emergency import AlarmTexts, fit_alarm
from bot.matching.fit_head import BACKGROUND, Example, Taught, fit_local, train
from bot.matching.head import KEPT, Head, LocalEvidence
from bot.matching.red_flags import FLAGS
from bot.testing import HOSTILE_TEXTS, HashEncoder

PAIRS = 60
LETTERS = ["ka", "lo", "mi", "ter", "san", "dro", "fel", "nu", "bar", "zin", "gra", "tel", "mo", "ri", "ves", "pan"]
COMMON = ["wie", "was", "kann", "muss", "darf", "bei", "mit", "nach", "vor", "noch", "bitte", "eigentlich"]


def _catalog(per_pair: int, seed: int) -> list[Example]:
    """Return texts of pairs that share all words but two of their own; the words depend on the pair alone."""
    draw = random.Random(seed)
    found = []
    for label in range(PAIRS):
        own = random.Random(label)
        keys = ["".join(own.choices(LETTERS, k=3)) for _ in range(2)]
        for number in range(per_pair):
            words = [draw.choice(keys), keys[0], *draw.sample(COMMON, 4)]
            draw.shuffle(words)
            found.append(Example(" ".join(words), label, "unknown" if number else ""))
    return found + [Example(" ".join(draw.sample(COMMON, 4)), PAIRS, BACKGROUND) for _ in range(60)]


def _fit(examples: list[Example], monkeypatch: pytest.MonkeyPatch) -> Head:
    monkeypatch.setattr("bot.matching.fit_head.MAX_COMPARED", 100)
    return train(examples, HashEncoder().encode([example.text for example in examples]), PAIRS + 1)[0]


def test_a_large_catalog_is_matched_as_well_as_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    examples, asked = _catalog(6, seed=1), [example for example in _catalog(3, seed=2) if example.label < PAIRS]
    texts, label = [example.text for example in asked], np.array([example.label for example in asked])
    vectors = HashEncoder().encode(texts)
    compared = train(examples, HashEncoder().encode([example.text for example in examples]), PAIRS + 1)[0]

    local = _fit(examples, monkeypatch)

    right = (local.probabilities(vectors, texts).argmax(axis=1) == label).mean()
    assert isinstance(local.evidence, LocalEvidence)
    assert right >= (compared.probabilities(vectors, texts).argmax(axis=1) == label).mean() - 0.03
    assert right > 0.9


@pytest.mark.parametrize("text", ["völlig fremd", *HOSTILE_TEXTS.values()])
def test_probabilities_cover_all_pairs_and_sum_to_one(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    local = _fit(_catalog(4, seed=1), monkeypatch)

    found = local.probabilities(HashEncoder().encode([text]), [text])

    assert found.shape == (1, PAIRS + 1)
    assert found.sum() == pytest.approx(1.0, abs=1e-5)
    assert np.count_nonzero(found[0, :-1]) <= KEPT


def test_a_question_is_scored_the_same_alone_and_in_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    local = _fit(_catalog(4, seed=1), monkeypatch)
    texts = [example.text for example in _catalog(1, seed=3)]
    vectors = HashEncoder().encode(texts)

    together = local.probabilities(vectors, texts)

    alone = np.concatenate([local.probabilities(vectors[[n]], [text]) for n, text in enumerate(texts)])
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_a_saved_head_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    local = _fit(_catalog(4, seed=1), monkeypatch)
    text = "was kann bitte " + _catalog(1, seed=1)[0].text
    heard = AlarmTexts((("breathing", "luft"),), ("wie",), ("was kann",))
    alarm = fit_alarm(heard, HashEncoder().encode(heard.all), FLAGS)

    loaded = store.load(store.dump(store.Trained(local, alarm, Thresholds())))

    assert loaded is not None
    vector = HashEncoder().encode([text])
    assert loaded.head.probabilities(vector, [text]).tobytes() == local.probabilities(vector, [text]).tobytes()


def test_pairs_without_texts_are_never_found() -> None:
    texts = ["wie lange", "wie teuer", "was sonst"]
    label = np.array([0, 2, 3], dtype=np.int32)

    taught = Taught(label, np.full(3, -1, dtype=np.int32), 4)

    evidence = fit_local(texts, HashEncoder().encode(texts), taught, np.arange(3))

    views = evidence.views(HashEncoder().encode(["wie lange"]), ["wie lange"])
    assert views.pairs.tolist() == [[0, 1, 2]]
    assert views.scores[0, 1].tolist() == pytest.approx([0, 0, 0, 0], abs=1e-6)

"""The sparse features equal a dense computation by another library."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from bot.matching.features import PIECE, WIDENED, PackedVectors, Postings, Vocabulary, nearest_mean, sparse_rows, terms
from bot.testing import HOSTILE_TEXTS, SMALL_PAIRS

TEXTS = [text for texts in SMALL_PAIRS["de"].values() for text in texts]
ASKED = ["Wie lange dauert's?", "tut weh weh weh", "Völlig fremd", ""]


@pytest.fixture(scope="module")
def oracle() -> TfidfVectorizer:
    return TfidfVectorizer(analyzer=terms, min_df=2, sublinear_tf=True).fit(TEXTS)


def test_terms_are_character_grams_words_and_word_pairs() -> None:
    assert list(terms("Ja du")) == [" ja", "ja ", " ja ", "=ja", " du", "du ", " du ", "=du", "+ja du"]


def test_the_vocabulary_is_that_of_scikit_learn(oracle: TfidfVectorizer) -> None:
    vocabulary = Vocabulary.of(TEXTS)

    assert list(vocabulary.terms) == list(oracle.get_feature_names_out())
    np.testing.assert_allclose(vocabulary.idf, oracle.idf_, rtol=1e-6)


def test_bags_are_the_rows_of_scikit_learn(oracle: TfidfVectorizer) -> None:
    vocabulary = Vocabulary.of(TEXTS)

    rows = sparse_rows([vocabulary.bag(text) for text in ASKED], len(vocabulary)).toarray()

    np.testing.assert_allclose(rows, oracle.transform(ASKED).toarray(), atol=1e-6)


def test_postings_give_the_cosines_of_a_dense_product(oracle: TfidfVectorizer) -> None:
    vocabulary = Vocabulary.of(TEXTS)
    postings = Postings.of([vocabulary.bag(text) for text in TEXTS], len(vocabulary))

    cosines = postings.cosines([vocabulary.bag(text) for text in ASKED])

    dense = oracle.transform(ASKED).toarray() @ oracle.transform(TEXTS).toarray().T
    np.testing.assert_allclose(cosines, dense, atol=1e-5)  # weights are kept in 16 bits
    rows = oracle.transform(TEXTS).toarray()
    np.testing.assert_allclose(postings.rows.toarray(), rows, atol=1e-5)
    # What is stored and read again is the same, so that a service decides alike before and after a restart.
    again = Postings.of_columns(postings.start, postings.text.astype(np.int32), postings.weight, postings.texts)
    np.testing.assert_array_equal(again.share, postings.share)
    np.testing.assert_array_equal(again.cosines([vocabulary.bag(ASKED[0])]), cosines[:1])


def test_a_catalog_of_one_text_has_a_vocabulary() -> None:
    vocabulary = Vocabulary.of(["Tut das weh?"])

    assert len(vocabulary.bag("tut das weh").index) > 5


@pytest.mark.parametrize("hostile", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
def test_bags_of_hostile_texts_have_unit_length_or_none(hostile: str) -> None:
    bag = Vocabulary.of(TEXTS).bag(hostile)

    length = float(np.linalg.norm(bag.weight))

    assert length == pytest.approx(1.0, abs=1e-5) or len(bag.index) == 0


@pytest.mark.parametrize(("texts", "classes"), [(1, 1), (7, 9), (300, 4), (5 * PIECE, 2)])
def test_the_nearest_of_each_class_are_its_three_largest_different_similarities(texts: int, classes: int) -> None:
    draw = np.random.default_rng(texts)
    label = np.sort(draw.integers(0, classes, texts)).astype(np.int32)
    similarity = draw.choice(draw.random(max(2, texts // 3)), (3, texts)).astype(np.float32)  # many are the same

    found = nearest_mean(similarity, label, classes)

    for row, means in zip(similarity, found, strict=True):
        for number, mean in enumerate(means):
            own = sorted({*row[label == number].tolist()}, reverse=True)
            size = min(3, int((label == number).sum()))
            nearest = (own + own[-1:] * 3)[:size]  # where fewer are different, the last counts again
            assert mean == pytest.approx(np.mean(nearest) if size else 0.0, abs=1e-6)


def test_a_term_that_no_text_has_is_left_out_and_all_others_are_found() -> None:
    vocabulary = Vocabulary.of(TEXTS)

    found = vocabulary.bag("tut zzqx").index.tolist()

    assert [vocabulary.terms[number] for number in found] == sorted({*terms("tut zzqx")} & {*vocabulary.terms})
    assert found == sorted(found)


@pytest.mark.parametrize("texts", [0, 1, WIDENED - 1, WIDENED + 3])
def test_products_with_packed_vectors_are_those_of_the_vectors(texts: int) -> None:
    random = np.random.default_rng(7)
    vectors = random.normal(size=(texts, 48)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    asked = random.normal(size=(3, 48)).astype(np.float32)
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)

    packed = PackedVectors.of(vectors)

    assert len(packed) == texts
    np.testing.assert_allclose(packed.products(asked), asked @ vectors.T, atol=5e-5)
    np.testing.assert_allclose(packed.floats, vectors, atol=2e-5)
    assert packed.products(asked[:0]).shape == (0, texts)


def test_vectors_that_are_stored_and_packed_again_are_the_same() -> None:
    packed = PackedVectors.of(np.random.default_rng(8).normal(size=(600, 32)).astype(np.float32))

    again = PackedVectors.of(packed.floats)

    np.testing.assert_array_equal(again.shares, packed.shares)


def test_a_vector_without_direction_stays_one() -> None:
    packed = PackedVectors.of(np.zeros((2, 8), dtype=np.float32))

    assert not packed.products(np.ones((1, 8), dtype=np.float32)).any()

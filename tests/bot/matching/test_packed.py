"""Packed vectors give the scalar products of the vectors, and are the same when they were stored in between."""

import numpy as np
import pytest

from bot.matching.packed import BLOCK, PackedVectors


@pytest.mark.parametrize("texts", [0, 1, BLOCK - 1, BLOCK + 3])
def test_products_are_those_of_the_vectors(texts: int) -> None:
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


def test_what_is_stored_and_packed_again_is_the_same() -> None:
    packed = PackedVectors.of(np.random.default_rng(8).normal(size=(600, 32)).astype(np.float32))

    again = PackedVectors.of(packed.floats)

    np.testing.assert_array_equal(again.shares, packed.shares)


def test_a_vector_without_direction_stays_one() -> None:
    packed = PackedVectors.of(np.zeros((2, 8), dtype=np.float32))

    assert not packed.products(np.ones((1, 8), dtype=np.float32)).any()

"""A catalog with fewer variants is a catalog, and what is kept is even over authors."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bot import load_catalog
from harness.measuring.learning_curve import authors_of, in_turns, write_subset, written
from tests.harness.authored import VOICES, write_authored_catalog


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_authored_catalog(tmp_path_factory.mktemp("study") / "catalog", calibration=True)


@pytest.mark.parametrize("size", [1, 4, 6, 9, 16])
def test_any_number_of_variants_is_even_over_authors(folder: Path, size: int) -> None:
    (pair, *_) = load_catalog(folder, "de").pairs

    chosen = in_turns(written(pair), np.random.default_rng(3))[:size]

    counts = Counter(variant.author for variant in chosen)
    assert sum(counts.values()) == size
    assert max(counts.values()) - min(counts[author] for author in VOICES) <= 1


def test_draws_differ_by_seed_and_only_by_seed(folder: Path) -> None:
    (pair, *_) = load_catalog(folder, "de").pairs

    first, again, other = (in_turns(written(pair), np.random.default_rng(seed)) for seed in (1, 1, 2))

    assert first == again
    assert first != other
    assert sorted(first, key=lambda variant: variant.number) == written(pair)


def test_a_subset_opens_with_everything_but_the_other_variants(folder: Path, tmp_path: Path) -> None:
    catalog = load_catalog(folder, "de")
    kept = {pair.id: written(pair)[:3] for pair in catalog.pairs[1:]}

    subset = load_catalog(write_subset(catalog, kept, tmp_path / "subset"), "de")

    assert [len(pair.variants) for pair in subset.pairs] == [0, 3, 3]
    assert [pair.model_copy(update={"variants": ()}) for pair in subset.pairs] == [
        pair.model_copy(update={"variants": ()}) for pair in catalog.pairs
    ]
    assert subset.pairs[1].variants == catalog.pairs[1].variants[:3]
    assert (subset.background, subset.calibration) == (catalog.background, catalog.calibration)


def test_the_shipped_catalog_survives_being_written(tmp_path: Path, shipped_catalogs) -> None:
    catalog = shipped_catalogs["en"]
    kept = {pair.id: written(pair) for pair in catalog.pairs}

    copy = load_catalog(write_subset(catalog, kept, tmp_path / "copy"), "en")

    assert copy.pairs == catalog.pairs


def test_authors_are_those_who_are_named(folder: Path, small_folder: Path) -> None:
    assert authors_of(load_catalog(folder, "de")) == ("plain", "polite", "simple", "story")
    assert authors_of(load_catalog(small_folder, "de")) == ()

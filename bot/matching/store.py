"""Serialise a trained head, and read it back. Plain arrays only: nothing in it can run code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from bot.matching.complaints import ComplaintModel
from bot.matching.decide import Thresholds
from bot.matching.emergency import Alarm
from bot.matching.features import Evidence, PackedVectors, Postings, Vocabulary, Weights, Whitening
from bot.matching.head import Fusion, Head, LocalEvidence

FORMAT = 6

Arrays = dict[str, npt.NDArray[Any]]
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Trained:
    """What training a catalog yields."""

    head: Head
    alarm: Alarm
    thresholds: Thresholds


def dump(trained: Trained) -> bytes:
    """Return what `load` reads: the content of an npz file."""
    alarm, thresholds = trained.alarm, trained.thresholds
    arrays = {
        **_head_arrays(trained.head),
        "alarm_terms": _packed(alarm.vocabulary.terms),
        "alarm_idf": alarm.vocabulary.idf,
        "alarm_mean": alarm.whitening.mean,
        "alarm_matrix": alarm.whitening.matrix,
        "alarm_term_weights": alarm.term_weights,
        "alarm_meaning_weights": alarm.meaning_weights,
        **_csr_arrays("alarm_rows", alarm.postings.rows),
        "alarm_vectors": alarm.vectors.floats,
        "alarm_dual": alarm.dual,
        "alarm_decides": np.array([alarm.gate, alarm.threshold]),
        "alarm_flags": _packed(alarm.flags),
        "thresholds": np.array([thresholds.answer, thresholds.clarify, thresholds.cosine]),
    }
    return _written(arrays)


def load(content: bytes) -> Trained | None:
    """Read what `dump` returned; None when it is of another format, or damaged."""
    return _read(content, _assemble)


def dump_head(head: Head) -> bytes:
    """Return what `load_head` reads."""
    return _written(_head_arrays(head))


def load_head(content: bytes) -> Head | None:
    """Read what `dump_head` returned; None when it is of another format, or damaged."""
    return _read(content, _head)


def _written(arrays: Arrays) -> bytes:
    content = BytesIO()
    np.savez(content, allow_pickle=False, **arrays)
    return content.getvalue()


def _read(content: bytes, assemble: Callable[[Arrays], Found]) -> Found | None:
    try:
        with np.load(BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return assemble(arrays) if int(arrays["format"][0]) == FORMAT else None
    except Exception:  # what a damaged zip file raises is anybody's guess; the head is then trained anew
        return None


def _head_arrays(head: Head) -> Arrays:
    evidence, complaints = head.evidence, head.complaints
    return {
        "format": np.array([FORMAT]),
        "terms": _packed(evidence.vocabulary.terms),
        "idf": evidence.vocabulary.idf,
        "mean": evidence.whitening.mean,
        "matrix": evidence.whitening.matrix,
        "vectors": evidence.vectors if isinstance(evidence, LocalEvidence) else evidence.vectors.floats,
        **(_local_arrays(evidence) if isinstance(evidence, LocalEvidence) else _compared_arrays(evidence)),
        "fusion_shared": head.fusion.shared,
        "fusion_none": head.fusion.none,
        "complaints": complaints.weights if complaints is not None else np.zeros((0, 0)),
    }


def _compared_arrays(evidence: Evidence) -> Arrays:
    return {
        "posting_start": evidence.postings.start,
        "posting_text": evidence.postings.text.astype(np.int32),
        "posting_weight": evidence.postings.weight,
        "label": evidence.weights.label,
        "alpha": evidence.weights.alpha,
        "bias": evidence.weights.bias,
        "bm25": evidence.weights.bm25.toarray(),
    }


def _local_arrays(evidence: LocalEvidence) -> Arrays:
    return {
        "local_label": evidence.label,
        "local_level": evidence.level,
        **_csr_arrays("rows", evidence.rows),
        **_csr_arrays("local_bm25", evidence.bm25),
    }


def _csr_arrays(name: str, matrix: csr_array) -> Arrays:
    return {
        f"{name}_data": matrix.data,
        f"{name}_indices": matrix.indices,
        f"{name}_indptr": matrix.indptr,
        f"{name}_shape": np.array(matrix.shape),
    }


def _csr(name: str, arrays: Arrays) -> csr_array:
    parts = (arrays[f"{name}_data"], arrays[f"{name}_indices"], arrays[f"{name}_indptr"])
    return csr_array(parts, shape=tuple(arrays[f"{name}_shape"].tolist()))


def _evidence(arrays: Arrays) -> Evidence | LocalEvidence:
    vocabulary = Vocabulary(_unpacked(arrays["terms"]), arrays["idf"])
    whitening = Whitening(arrays["mean"], arrays["matrix"])
    if "local_label" in arrays:
        return LocalEvidence(
            vocabulary=vocabulary,
            rows=_csr("rows", arrays),
            whitening=whitening,
            vectors=arrays["vectors"],
            label=arrays["local_label"],
            level=arrays["local_level"],
            bm25=_csr("local_bm25", arrays),
        )
    label = arrays["label"]
    return Evidence(
        vocabulary=vocabulary,
        postings=Postings.of_columns(
            arrays["posting_start"], arrays["posting_text"], arrays["posting_weight"], len(label)
        ),
        whitening=whitening,
        vectors=PackedVectors.of(arrays["vectors"]),
        weights=Weights(label, arrays["alpha"], arrays["bias"], csr_array(arrays["bm25"])),
    )


def _assemble(arrays: Arrays) -> Trained:
    answer, clarify, cosine = (float(value) for value in arrays["thresholds"])
    alarm = Alarm(
        vocabulary=Vocabulary(_unpacked(arrays["alarm_terms"]), arrays["alarm_idf"]),
        whitening=Whitening(arrays["alarm_mean"], arrays["alarm_matrix"]),
        term_weights=arrays["alarm_term_weights"],
        meaning_weights=arrays["alarm_meaning_weights"],
        postings=Postings.of_rows(_csr("alarm_rows", arrays)),
        vectors=PackedVectors.of(arrays["alarm_vectors"]),
        dual=arrays["alarm_dual"],
        gate=float(arrays["alarm_decides"][0]),
        threshold=float(arrays["alarm_decides"][1]),
        flags=_unpacked(arrays["alarm_flags"]),
    )
    return Trained(_head(arrays), alarm, Thresholds(answer, clarify, cosine))


def _head(arrays: Arrays) -> Head:
    complaints = ComplaintModel(arrays["complaints"]) if arrays["complaints"].size else None
    return Head(_evidence(arrays), Fusion(arrays["fusion_shared"], arrays["fusion_none"]), complaints)


def _packed(texts: tuple[str, ...]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(texts).encode(), dtype=np.uint8)


def _unpacked(packed: npt.NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(packed.tobytes().decode().split("\n"))

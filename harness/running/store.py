"""Where outcomes lie in the folder of a run: JSON lines or Parquet parts, each behind the same Protocol."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from bot import BadData
from harness.outcomes import Outcome
from harness.running.chunks import Encode, Format
from harness.tally import Tally

OUTCOMES, PARTS = "outcomes.jsonl", "outcomes"


class Store(Protocol):
    """Outcomes of one run. Only one process may append at a time."""

    @property
    def rows(self) -> int:
        """How many outcomes a batch should hold."""
        ...

    @property
    def pause_s(self) -> float:
        """How long outcomes of a slow system may wait to be stored."""
        ...

    @property
    def format(self) -> Format:
        """How outcomes are encoded, here and by workers."""
        ...

    def resume(self) -> set[str]:
        """Clear away what a kill left unfinished; return the ids of questions that need not be asked again."""
        ...

    def append(self, payload: bytes) -> None:
        """Store a batch durably, whole or not at all."""
        ...

    def outcomes(self) -> Iterator[Outcome]:
        """Yield each question's last outcome, in the order of the suite."""
        ...

    def novel(self) -> Iterator[Outcome]:
        """Yield outcomes of novel questions, without the question's text and without candidates."""
        ...

    def failed(self) -> Iterator[Outcome]:
        """Yield outcomes of questions on which the system failed, in any order."""
        ...

    def tally(self) -> Tally:
        """Count outcomes without holding them."""
        ...


def find_store(out: Path) -> Store:
    """Return the outcomes of a run; raise BadData when the folder holds none."""
    format_ = stored_format(out)
    if format_ is None:
        raise BadData(f"{out} holds no complete run. Run `klartext harness run --suite NAME --out {out}`.")
    return open_store(out, format_)


def open_store(out: Path, format_: Format) -> Store:
    """Return a store, whether it holds something or not; raise BadData when the folder holds another format."""
    before = stored_format(out)
    if before not in (None, format_):
        raise BadData(f"{out} holds a run with --format {before}. Go on with that, or choose another folder.")
    if format_ == "parquet":
        from harness.running.parquet import ParquetStore  # pyarrow and DuckDB, for those who ask for them

        return ParquetStore(out / PARTS)
    from harness.running.jsonl import JsonlStore

    return JsonlStore(out / OUTCOMES)


def encoder_of(format_: Format) -> Encode:
    """Return what makes batches of a format, without a store."""
    if format_ == "parquet":
        from harness.running.parquet import encode as encode_parquet

        return encode_parquet
    from harness.running.jsonl import encode

    return encode


def stored_format(out: Path) -> Format | None:
    """Return how the outcomes in a folder are stored; None when there are none."""
    if (out / OUTCOMES).is_file():
        return "jsonl"
    return "parquet" if (out / PARTS).is_dir() else None

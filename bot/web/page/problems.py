"""Errors as pages: what happened in plain words, what to do, and whom to call in an emergency."""

from __future__ import annotations

from http import HTTPStatus


class PageProblem(Exception):
    """An answer that is an error.

    Attributes:
        status: Of the answer.
        sentence: Which label says it; default: that of the status.
        wait_s: How long to wait before the next try.
    """

    def __init__(self, status: HTTPStatus, *, sentence: str = "", wait_s: float = 0.0) -> None:
        super().__init__(status.phrase)
        self.status = status
        self.sentence = sentence or f"error_{int(status)}"
        self.wait_s = wait_s

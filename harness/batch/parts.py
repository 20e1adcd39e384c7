"""A Batch input file is checked line by line and split where the API's limits ask for it. Reads files, nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bot import BadData

MAX_REQUESTS = 50_000  # per batch
MAX_BYTES = 200_000_000  # per input file
ENDPOINT: Final = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one batch may hold."""

    requests: int = MAX_REQUESTS
    bytes: int = MAX_BYTES


@dataclass(frozen=True, slots=True)
class Slice:
    """A run of whole lines of the input file.

    Attributes:
        start, end: Bytes of the file.
        requests: How many.
        sha256: Of these bytes.
    """

    start: int
    end: int
    requests: int
    sha256: str


def read_requests(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield every line with the request in it.

    Raises:
        BadData: The file cannot be read, a line is no request, an id comes twice, or models differ.
    """
    ids: set[str] = set()
    first_model = None
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                request = _request(line, path, number)
                model = request["body"].get("model")
                first_model = model if number == 1 else first_model
                if model != first_model:
                    raise BadData(
                        f"{path}:{number} is for model {model!r}, the first line for {first_model!r}, and a batch has "
                        "one model. Export one file for each."
                    )
                if request["custom_id"] in ids:
                    raise BadData(f"{path}:{number} has the id {request['custom_id']!r} again. Export the file anew.")
                ids.add(request["custom_id"])
                yield line, request
    except OSError as error:
        raise BadData(f"{path} cannot be read ({error.strerror}). Give a file of `prompts export`.") from error
    if not ids:
        raise BadData(f"{path} holds no request. Give a file of `klartext harness prompts export`.")


def _request(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        request = json.loads(line)
        good = isinstance(request["custom_id"], str) and request["url"] == ENDPOINT and line.endswith(b"\n")
        if not good or not isinstance(request["body"]["messages"], list):
            raise ValueError
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(
            f"{path}:{number} is no whole request to {ENDPOINT}. Give a file of `klartext harness prompts export`."
        ) from error
    return dict(request)


def split(path: Path, limits: Limits, *, each: Callable[[Mapping[str, Any]], None] = lambda _: None) -> list[Slice]:
    """Return the slices of a file that fit into one batch each; `each` is told the body of every request."""
    slices: list[Slice] = []
    start, end, requests, digest = 0, 0, 0, hashlib.sha256()
    for line, request in read_requests(path):
        if requests == limits.requests or (requests and end - start + len(line) > limits.bytes):
            slices.append(Slice(start, end, requests, digest.hexdigest()))
            start, requests, digest = end, 0, hashlib.sha256()
        each(request["body"])
        digest.update(line)
        end += len(line)
        requests += 1
    return [*slices, Slice(start, end, requests, digest.hexdigest())]


def content_of(path: Path, start: int, end: int) -> bytes:
    """Return some bytes of a file."""
    with path.open("rb") as file:
        file.seek(start)
        return file.read(end - start)

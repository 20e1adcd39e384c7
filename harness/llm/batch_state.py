"""What has been handed in, kept in a small JSON file: written aside and moved, before and after every step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import BadData
from harness.files import append_durably, writing

# Nothing more happens to a batch in these.
FINAL = frozenset({"completed", "failed", "expired", "cancelled"})
# The batch never did anything: it may be handed in again.
NOTHING_DONE = frozenset({"failed"})


class Part(BaseModel):
    """One batch.

    Attributes:
        start, end, requests, sha256: Its slice of the input file.
        attempt: Counts how often it was handed in.
        file_id: Of the upload, once there is one.
        batch_id: Of the batch, once there is one.
        status: As the API last said; empty before.
        done, failed: Requests with an answer, and with an error.
        output_file_id, error_file_id: Where its answers and errors are.
        problem: Why it failed.
        fetched: Whether the answers lie in `out`.
    """

    model_config = ConfigDict(extra="forbid")

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    requests: Annotated[int, Field(gt=0)]
    sha256: str
    attempt: int = 1
    file_id: str | None = None
    batch_id: str | None = None
    status: str = ""
    done: int = 0
    failed: int = 0
    output_file_id: str | None = None
    error_file_id: str | None = None
    problem: str = ""
    fetched: bool = False

    @property
    def is_final(self) -> bool:
        return self.status in FINAL

    def anew(self) -> Part:
        """Return the part as it is before it is handed in, for another attempt."""
        where = {"start": self.start, "end": self.end, "requests": self.requests, "sha256": self.sha256}
        return Part.model_validate({**where, "attempt": self.attempt + 1})


class State(BaseModel):
    """All batches of one input file.

    Attributes:
        token: Marks our uploads and batches, so that they are found again after a crash in between.
        input: The file.
        model: That all its requests are for.
        url: Where they were handed in.
        parts: In the order of the file.
        out: Where the answers are written.
        out_bytes: How much of `out` is whole.
    """

    model_config = ConfigDict(extra="forbid")

    token: str
    input: Path
    model: str
    url: str
    parts: list[Part]
    out: Path | None = None
    out_bytes: int = 0

    @property
    def is_final(self) -> bool:
        return all(part.is_final for part in self.parts)

    @property
    def requests(self) -> int:
        return sum(part.requests for part in self.parts)

    def save(self, path: Path) -> None:
        """Write it aside and move it; raise BadData when that is not possible."""
        aside = path.with_name(path.name + ".new")
        with writing(path, "Choose another file with `--state`."):
            with aside.open("wb") as file:
                append_durably(file, (self.model_dump_json(indent=1) + "\n").encode())
            aside.replace(path)


def load_state(path: Path) -> State:
    """Read a state; raise BadData when there is none."""
    try:
        return State.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadData(
            f"{path} cannot be read ({error.strerror}). Run `klartext harness batch submit` first, or name the file it "
            "wrote with `--state`."
        ) from error
    except ValidationError as error:
        raise BadData(
            f"{path} is not what `klartext harness batch submit` writes. Name that file with `--state`."
        ) from error

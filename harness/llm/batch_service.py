"""Files and batches at an OpenAI-compatible endpoint: nothing is created twice, even if its reply gets lost."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, TypeVar

import httpx2
import openai
from openai.pagination import SyncCursorPage
from openai.types import Batch, FileObject

from bot import BadData, Settings, Unreachable
from harness.llm.asking import is_name
from harness.llm.batch_files import ENDPOINT
from harness.llm.opening import endpoint_of

Created = TypeVar("Created")
_MARK = "klartext"  # key of the batches' metadata
_LOOK_BACK = 1_000  # files and batches that are looked through for our own
_GONE = (openai.NotFoundError, openai.PermissionDeniedError)


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a step is tried, and how long is waited.

    Attributes:
        tries: Of each step.
        backoff_s: Before the next try; doubled each time.
        timeout_s: An endpoint that says and takes nothing for so long is tried again.
    """

    tries: int = 4
    backoff_s: float = 1.0
    timeout_s: float = 120.0


class BatchService:
    """The endpoint's files and batches."""

    def __init__(self, client: openai.OpenAI, url: str, patience: Patience) -> None:
        self.url = url
        self._client = client
        self._patience = patience

    @classmethod
    @contextmanager
    def open(cls, settings: Settings, patience: Patience | None = None) -> Iterator[BatchService]:
        """Connect to the configured endpoint.

        Raises:
            UserFixable: None is set.
        """
        url, patience = endpoint_of(settings), patience or Patience()
        # Reading is repeated by the library, creating by `_created`.
        with openai.OpenAI(
            base_url=url,
            api_key=settings.model_key or "none",
            max_retries=4,
            timeout=httpx2.Timeout(patience.timeout_s, connect=min(patience.timeout_s, 10)),
            # A proxy of the environment would read the prompts, which may hold patients' words.
            # A redirect would carry them to where nobody allowed.
            http_client=openai.DefaultHttpxClient(
                follow_redirects=False, trust_env=False, verify=httpx2.create_ssl_context()
            ),
        ) as client:
            yield cls(client, url, patience)

    def upload(self, mark: str, content: bytes, *, look_first: bool) -> str:
        """Return the id of an uploaded file that holds `content`; with `look_first` one of an earlier try counts."""
        name = f"{mark}.jsonl"
        once = self._client.with_options(max_retries=0)

        def find() -> str | None:
            listed = self._listed(self._client.files.list(purpose="batch", limit=100, order="desc"))
            files = (self._checked(file, FileObject) for file in listed)
            return next((file.id for file in files if file.filename == name and file.bytes == len(content)), None)

        def create() -> str:
            return self._checked(once.files.create(file=(name, content), purpose="batch"), FileObject).id

        return self._created(create, find, look_first)

    def create(self, mark: str, file_id: str, *, look_first: bool) -> Batch:
        """Return the batch for an uploaded file; with `look_first` one of an earlier try counts."""
        once = self._client.with_options(max_retries=0)

        def find() -> Batch | None:
            listed = self._listed(self._client.batches.list(limit=100))
            batches = (self._checked(batch, Batch) for batch in listed)
            return next((batch for batch in batches if (batch.metadata or {}).get(_MARK) == mark), None)

        def create() -> Batch:
            made = once.batches.create(
                input_file_id=file_id, endpoint=ENDPOINT, completion_window="24h", metadata={_MARK: mark}
            )
            return self._checked(made, Batch)

        return self._created(create, find, look_first)

    def _created(self, create: Callable[[], Created], find: Callable[[], Created | None], look_first: bool) -> Created:
        """Create something; after a fault that may have come too late, look for it before trying again."""
        for attempt in range(self._patience.tries):
            if (attempt or look_first) and (found := self._found(find)) is not None:
                return found
            try:
                return create()
            except (openai.APIConnectionError, openai.InternalServerError, openai.RateLimitError) as error:
                if attempt == self._patience.tries - 1:
                    raise self._unreachable(error) from error
                wait_s = self._patience.backoff_s * 2**attempt
                print(f"{self.url} does not answer; tried again in {wait_s:g} s", file=sys.stderr)
                time.sleep(wait_s)
            except openai.APIError as error:
                raise self._unreachable(error) from error
        raise ValueError("patience allows no try")

    def _found(self, find: Callable[[], Created | None]) -> Created | None:
        try:
            return find()
        except _GONE:  # the endpoint lists nothing
            return None
        except openai.APIError as error:
            raise self._unreachable(error) from error

    def retrieve(self, batch_id: str) -> Batch:
        """Return how a batch stands; raise Unreachable, or BadData when it is not there any more."""
        try:
            return self._checked(self._client.batches.retrieve(batch_id), Batch)
        except openai.NotFoundError as error:
            raise BadData(
                f"The endpoint {self.url} has no batch {batch_id!r} (any more): it was deleted, or belongs to another "
                "key. Set KLARTEXT_MODEL_KEY as then. If it is gone, name another file with `--state`: then all is "
                "handed in anew, and paid again."
            ) from error
        except openai.APIError as error:
            raise self._unreachable(error) from error

    def download(self, file_id: str, into: IO[bytes]) -> None:
        """Append a file's content to `into`, with a line end after it; raise Unreachable."""
        last = b""
        try:
            with self._client.files.with_streaming_response.content(file_id) as response:
                for chunk in response.iter_bytes(1 << 20):
                    if not last and chunk.strip() and not chunk.lstrip().startswith(b"{"):
                        raise self._no_batch_api()  # a page of a proxy, say: it must not stand among the answers
                    into.write(chunk)
                    last = chunk[-1:] or last
        except (openai.APIError, httpx2.TransportError) as error:
            raise self._unreachable(error) from error
        if last not in {b"", b"\n"}:
            into.write(b"\n")

    def _checked(self, sent: Any, kind: type[Created]) -> Created:
        """Return what the endpoint sent if it is that; the library hands out whatever came with status 200."""
        if isinstance(sent, kind) and isinstance(getattr(sent, "id", None), str):
            return sent
        raise self._no_batch_api()

    def _listed(self, page: Any) -> Iterator[Any]:
        if not isinstance(page, SyncCursorPage) or not isinstance(page.data, list):
            raise self._no_batch_api()
        return islice(page, _LOOK_BACK)

    def _no_batch_api(self) -> BadData:
        return BadData(
            f"The endpoint {self.url} sent something else than the Batch API does, a web page for example. Check "
            "KLARTEXT_MODEL_URL; then run this again: nothing is handed in twice."
        )

    def _unreachable(self, error: Exception) -> Unreachable:
        if isinstance(error, openai.APIStatusError):
            named = ", ".join(str(name) for name in (error.code, error.param) if name and is_name(name))
            said = f" ({named})" if named else ""
            return Unreachable(
                f"The endpoint {self.url} answered {error.status_code}{said}. Check KLARTEXT_MODEL_URL and "
                "KLARTEXT_MODEL_KEY, and that it has the Batch API; then run this again: nothing is handed in twice."
            )
        waited = f" within {self._patience.timeout_s:g} s" if isinstance(error, openai.APITimeoutError) else ""
        return Unreachable(
            f"The endpoint {self.url} does not answer{waited}. Start it, or correct KLARTEXT_MODEL_URL; then run this "
            "again: nothing is handed in twice."
        )

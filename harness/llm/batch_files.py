"""Files in OpenAI's Batch format: requests written, checked and split; answers read, also those of other tools."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

from bot import BadData
from harness.files import as_lines, replace_private_text, unreadable, writing
from harness.llm.chat_folder import MODEL, pasted_answers
from harness.llm.contract import Message, Usage, usage_of
from harness.llm.scores import json_blocks

MAX_REQUESTS = 50_000  # per batch
MAX_BYTES = 200_000_000  # per input file
ENDPOINT: Final = "/v1/chat/completions"
# Stands in each request whose words are, or may be, a patient's: a file says so of itself, also when it is copied. The
# field is the API's own, so that any endpoint takes it.
PATIENT_TEXT: Final[Mapping[str, Any]] = {"user": "klartext-patient-text"}


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One line of a Batch output file."""

    custom_id: str
    content: str
    model: str
    problem: str  # empty when the model answered
    cut: bool = False  # at the token limit, in the middle of something
    key: str = field(default="", compare=False)  # content address of the request, in lines that we wrote
    usage: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def tokens(self, messages: Sequence[Message]) -> Usage:
        """Return what it cost in tokens to get this answer to these messages."""
        return usage_of({"usage": self.usage, "choices": [{"message": {"content": self.content}}]}, messages)


def read_answers(files: Sequence[Path]) -> dict[str, ModelAnswer]:
    """Read OpenAI Batch output files; the first good answer to a prompt counts.

    Raises:
        BadData: A file cannot be read, or a line is not of that format.
    """
    answers: dict[str, ModelAnswer] = {}
    for file in files:
        for answer in answers_in(file):
            if answer.custom_id not in answers or answers[answer.custom_id].problem:
                answers[answer.custom_id] = answer
    return answers


def answers_in(file: Path) -> Iterator[ModelAnswer]:
    """Yield every answer of a Batch output file, one line at a time, or of a folder that texts were pasted into.

    Raises:
        BadData: As `read_answers`.
    """
    return (answer for _, answer in _placed_answers(file))


def answers_not_used(files: Sequence[Path], kept: Mapping[str, ModelAnswer]) -> list[str]:
    """Return where files hold what answers nothing, and why, one line each; `kept`: what was answered before.

    Raises:
        BadData: As `read_answers`.
    """
    found: list[str] = []
    first = {id_: answer.content for id_, answer in kept.items() if not answer.problem}
    for file in files:
        for place, answer in _placed_answers(file):
            if answer.problem:
                found.append(f"{place}: {answer.custom_id}: {answer.problem}")
            elif first.setdefault(answer.custom_id, answer.content) != answer.content:
                found.append(f"{place}: {answer.custom_id} was answered before, in another way; the first counts")
            # Of a file; a program's answers may think aloud in JSON.
            elif file.is_dir() and (blocks := json_blocks(answer.content)) > 1:
                found.append(f"{place}: {blocks} blocks of JSON, of which one is read: an answer is one block")
    return found


def as_answer_line(custom_id: str, content: str, model: str) -> str:
    """Return an answer in the short form that stands for a line of a Batch output file."""
    return json.dumps({"custom_id": custom_id, "content": content, "model": model}, ensure_ascii=False)


def _placed_answers(file: Path) -> Iterator[tuple[str, ModelAnswer]]:
    """Yield each answer and where it stands."""
    if file.is_dir():
        for path, custom_id, content in pasted_answers(file):
            yield str(path), ModelAnswer(custom_id, content, MODEL, "")
        return
    try:
        with file.open(encoding="utf-8-sig", newline="\n") as lines:  # JSON may hold other separators of lines
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield f"{file}:{number}", _answer(line, file, number)
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{file} cannot be read ({unreadable(error)}). Give Batch output files (JSONL).") from error


def _answer(line: str, file: Path, number: int) -> ModelAnswer:
    said = ""
    try:
        record = json.loads(line)
        if not isinstance(record, dict):
            said = f"it is {_NO_OBJECT.get(type(record), 'no object')}"
        elif not isinstance(record.get("custom_id"), str | int):
            said = "it has no `custom_id`"
    except ValueError:
        said = "it is no JSON" if not line.lstrip().startswith("{") else "it is JSON that does not end on this line"
    if said:
        raise BadData(
            f"{file}:{number} is no line of a Batch output file: {said}. Each answer is one line, "
            '{"custom_id": "…", "content": "…"} or as the Batch API writes it (docs/tutorials/next-exam.md).'
        )
    custom_id = str(record["custom_id"])
    if isinstance(record.get("content"), str) and "response" not in record and not record.get("error"):
        return ModelAnswer(custom_id, record["content"], str(record.get("model") or ""), "")
    response = _mapping(record.get("response"))
    body = _mapping(response.get("body"))
    status = response.get("status_code", 0)
    if record.get("error") or status != 200:
        return ModelAnswer(custom_id, "", str(body.get("model") or ""), f"error (status {status})")
    model = str(body.get("model") or "")
    try:
        choice = body["choices"][0]
        message = choice["message"]
        content = message["content"] or message.get("refusal") or ""
    except (KeyError, IndexError, TypeError):
        return ModelAnswer(custom_id, "", model, "no message")
    cut = choice.get("finish_reason") == "length"
    key, usage = str(record.get("key") or ""), _mapping(body.get("usage"))
    return ModelAnswer(custom_id, str(content), model, "", cut, key, usage)


_NO_OBJECT = {list: "a list", str: "a text", int: "a number", float: "a number"}


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


class Exported(Protocol):
    """A prompt that can be answered elsewhere."""

    @property
    def id(self) -> str: ...

    @property
    def messages(self) -> list[dict[str, str]]: ...


def as_batch_line(
    prompt: Exported, *, model: str, temperature: float | None, more: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the request as one line of an OpenAI Batch input file; `more` are fields beside, None leaves one open."""
    left_open = {"temperature": temperature, **more}
    given = {name: value for name, value in left_open.items() if value is not None}
    body = {"model": model, "messages": prompt.messages, **given}
    return {"custom_id": prompt.id, "method": "POST", "url": ENDPOINT, "body": body}


def write_requests(
    prompts: Sequence[Exported],
    out: Path,
    *,
    model: str,
    temperature: float | None,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Write prompts as a Batch input file, for this user alone: they may hold patients' words (`PATIENT_TEXT`).

    Raises:
        BadData: It cannot be written, or something else is there.
    """
    if not _holds_requests(out):
        raise BadData(f"{out} is there and holds no prompts, so it is not written over. Choose another file.")
    lines = (as_batch_line(prompt, model=model, temperature=temperature, more=more) for prompt in prompts)
    with writing(out):
        replace_private_text(out, as_lines(lines))


def holds_patient_text(path: Path) -> bool:
    """Say whether a request of a Batch input file is marked with `PATIENT_TEXT`; raise BadData as `read_requests`."""
    return any(request["body"].items() >= PATIENT_TEXT.items() for _, request in read_requests(path))


def _holds_requests(path: Path) -> bool:
    """Whether a file is empty, begins with a request, or is not there yet."""
    try:
        if not path.is_file():
            return not path.exists()
        with path.open("rb") as file:
            first = file.readline()
        return not first or json.loads(first)["url"] == ENDPOINT
    except OSError:
        return True  # whoever writes it says what is wrong
    except (ValueError, KeyError, TypeError):
        return False


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
                        "one model. Write one file for each with `--prompts`."
                    )
                if request["custom_id"] in ids:
                    raise BadData(
                        f"{path}:{number} has the id {request['custom_id']!r} again. Write the file anew with "
                        "`--prompts`."
                    )
                ids.add(request["custom_id"])
                yield line, request
    except OSError as error:
        raise BadData(f"{path} cannot be read ({unreadable(error)}). Give a file that `--prompts` wrote.") from error
    if not ids:
        raise BadData(f"{path} holds no request. Give a file that `--prompts` wrote.")


def _request(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        request = json.loads(line)
        good = isinstance(request["custom_id"], str) and request["url"] == ENDPOINT and line.endswith(b"\n")
        if not good or not isinstance(request["body"]["messages"], list):
            raise ValueError
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(
            f"{path}:{number} is no whole request to {ENDPOINT}. Give a file that `--prompts` wrote."
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

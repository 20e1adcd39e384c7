"""The YAML file that describes a system under test; `docs/reference.md` lists its keys."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from jsonpath import JSONPathError
from jsonpath import compile as compile_path
from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from bot import BadData
from harness.files import Record, first_fault

_VARIABLE = re.compile(r"\$\{(\w+)\}")
PACE = {"timeout_s", "retries", "backoff_s", "per_second"}  # may change before a run goes on: no answer depends on them
LATER = {
    "before",
    "after",
    "decisions",
    "conversations",
    "intents",
}  # keys that came later: runs of files without them can still be continued
LATER_PATHS = {"texts", "keys", "reason", "urgency", "language"}  # as well; nothing of it is an answer


def _json_path(text: str) -> str:
    try:
        compile_path(text)
    except JSONPathError as error:
        raise ValueError(f"{text!r} is no JSONPath, such as $.answer.text") from error
    return text


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "{" in parts.netloc:
        raise ValueError("must be a fixed address such as http://127.0.0.1:5005/ask")
    return url


Decision = Literal["answered", "clarify", "declined", "urgent"]
JsonPath = Annotated[str, AfterValidator(_json_path)]
Address = Annotated[str, AfterValidator(_address)]


class _System(Record):
    """What all kinds share.

    Attributes:
        name: Of the system, in `run.json`; default: the file's name.
        similarity: Smallest cosine at which an answer is taken for a pair's answer.
        declined: Texts that say that there is no answer.
        urgent: Texts that send the patient to a human.
        intents: The system's own names of what patients ask, and the pair that each stands for.
        timeout_s: For one answer.
    """

    name: str = ""
    similarity: float = Field(default=0.9, gt=0, le=1)
    declined: tuple[str, ...] = ()
    urgent: tuple[str, ...] = ()
    intents: dict[str, str] = Field(default={})
    timeout_s: float = Field(default=30.0, gt=0)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where questions are sent; empty for what runs on this machine."""
        return ()


class _Endpoint(_System):
    """What HTTP kinds share: `headers` may name environment variables as ``${NAME}``."""

    url: Address
    headers: dict[str, str] = Field(default={})
    retries: int = Field(default=2, ge=0)
    backoff_s: float = Field(default=0.5, ge=0)
    per_second: float | None = Field(default=None, gt=0)

    @property
    def addresses(self) -> tuple[str, ...]:
        return (self.url,)


class HttpRequest(Record):
    """A request: all texts in `url` and `body` may hold slots in braces, such as ``{question}``."""

    url: Address
    method: Literal["GET", "POST", "PUT", "DELETE"] = "POST"
    body: Any = None


class Step(HttpRequest):
    """A request before or after each question; `take` names slots and where in its answer they are found."""

    take: dict[str, JsonPath] = Field(default={})


class Paths(Record):
    """JSONPaths to what a system says; those it does not say are left out.

    Attributes:
        texts: Which of a pair's texts were shown, such as ``easy_answer``.
        keys: Of the fixed sentences that were said.
        reason: Why nothing was answered.
        urgency: How soon to see somebody: today, days or appointment.
        language: That the patient was answered in.
    """

    answer: JsonPath | None = None
    pair: JsonPath | None = None
    decision: JsonPath | None = None
    candidates: JsonPath | None = None
    choices: JsonPath | None = None
    texts: JsonPath | None = None
    keys: JsonPath | None = None
    reason: JsonPath | None = None
    urgency: JsonPath | None = None
    language: JsonPath | None = None


KLARTEXT_ANSWER = Paths(
    answer="$.answer",
    pair="$.pair_id",
    decision="$.decision",
    candidates="$.candidates[*].pair_id",
    choices="$.choices[*]",
    reason="$.reason",
    urgency="$.advice.urgency",
    language="$.fixed.language",
)


class HttpFile(_Endpoint, HttpRequest):
    """Any HTTP endpoint.

    Attributes:
        before, after: Sent for each question around it, for systems that answer in conversations.
        decisions: What the system calls a decision, and what it is here.
    """

    kind: Literal["http"]
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    paths: Paths
    decisions: dict[str, Decision] = Field(default={})

    @property
    def addresses(self) -> tuple[str, ...]:
        return (self.url, *(step.url for step in (*self.before, *self.after)))


class RasaFile(_Endpoint):
    """A Rasa server, or anything with its REST channel; `url` is the server's address."""

    kind: Literal["rasa"]


class ApiFile(_Endpoint):
    """The JSON API of a Klartext server (`klartext serve`); `url` is the server's address."""

    kind: Literal["klartext-api"]

    def as_http(self) -> HttpFile:
        """Return the same as an endpoint of kind `http`: every question is a conversation, deleted afterwards."""
        conversations = self.url.rstrip("/") + "/api/v1/conversations"
        one = conversations + "/{conversation}"
        begin = Step(
            url=conversations,
            body={"consent": True, "language": "{lang}"},
            take={"conversation": "$.id", "token": "$.token"},
        )
        shared = {name: getattr(self, name) for name in _Endpoint.model_fields if name != "url"}
        return HttpFile(
            **{**shared, "headers": {"Authorization": "Bearer {token}", **self.headers}},
            kind="http",
            before=(begin,),
            url=one + "/turns",
            body={"turn_id": "{uuid}", "text": "{question}"},
            after=(Step(method="DELETE", url=one),),
            paths=API_TURN,
            decisions={"talk": "declined"},  # small talk answers no question
        )


API_TURN = Paths(
    pair="$.reply.parts[?@.kind == 'content'].pair_id",
    decision="$.decision",
    choices="$.reply.choices[*].pair_id",
    texts="$.reply.parts[?@.kind == 'content'].field",
    keys="$.reply.parts[?@.kind == 'interface' || @.kind == 'site'].key",
    reason="$.reason",
    urgency="$.advice.urgency",
    language="$.reply.language",
)


class ChatModelFile(_Endpoint):
    """A language model, or an assistant built on one, behind an OpenAI-compatible endpoint.

    Attributes:
        url: Address that ``/chat/completions`` is added to, unless it ends so.
        model: Its name there.
        system_prompt: File with what the model is told to be, beside the YAML file; ``{lang}`` stands for the language.
        system_text: The same as text, instead of a file.
        temperature, max_tokens, seed: Sent when given.
    """

    kind: Literal["openai"]
    model: str = Field(min_length=1)
    system_prompt: str | None = None
    system_text: str = ""
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    timeout_s: float = Field(default=120.0, gt=0)


class AnswersFile(_System):
    """Answers that were given elsewhere, by any bot, as CSV or JSON lines.

    Attributes:
        file: Beside the YAML file, with `question` and `answer`; and `after` (what the patient said just before), `id`,
            `pair_id`, `decision` and `elapsed_ms` where they are known.
        sha256: Of the file; filled in when it is read.
    """

    kind: Literal["answers"]
    file: str = Field(min_length=1)
    decisions: dict[str, Decision] = Field(default={})
    sha256: str = ""


class CommandFile(_System):
    """A command that reads JSON lines and writes one for each, as `klartext answer` does.

    With `conversations` each line also names its `conversation` and `turn` (from 1), and the command remembers.
    """

    kind: Literal["command"]
    conversations: bool = False
    command: tuple[str, ...] = Field(min_length=1)
    paths: Paths = KLARTEXT_ANSWER
    decisions: dict[str, Decision] = Field(default={})
    timeout_s: float = Field(default=120.0, gt=0)


EndpointFile = HttpFile | RasaFile | ApiFile | ChatModelFile
SystemFile = EndpointFile | CommandFile | AnswersFile
_ADAPTER: TypeAdapter[SystemFile] = TypeAdapter(Annotated[SystemFile, Field(discriminator="kind")])


def load_system_file(path: Path) -> SystemFile:
    """Read a system file; raise BadData with one line."""
    try:
        system = _ADAPTER.validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        raise BadData(f"{path}: {first_fault(error)}. See 'Systems under test' in docs/reference.md.") from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise BadData(f"The system {path} cannot be read ({reason}). Give a YAML file with `--system`.") from error
    if isinstance(system, HttpFile) and not (system.paths.answer or system.paths.pair):
        raise BadData(f"{path}: paths: neither `answer` nor `pair` is given. Say where the answer or its pair stands.")
    filled: dict[str, str] = {"name": system.name or path.stem}
    if isinstance(system, ChatModelFile) and system.system_prompt is not None:
        filled["system_text"] = _beside(path, system.system_prompt).decode("utf-8", "replace").strip()
    if isinstance(system, AnswersFile):
        filled["sha256"] = hashlib.sha256(_beside(path, system.file)).hexdigest()
        filled["file"] = str((path.parent / system.file).resolve())
    return system.model_copy(update=filled)


def _beside(path: Path, name: str) -> bytes:
    """Read a file that a system file names; raise BadData when it cannot be read."""
    try:
        return (path.parent / name).read_bytes()
    except OSError as error:
        raise BadData(f"{path} names {name!r}, which cannot be read ({error.strerror}). Put it beside it.") from error


def fingerprint(system: SystemFile) -> str:
    """Return a hash of what decides on answers; secrets are not in it, since headers name variables."""
    # A file of answers is known by what is in it, not by where it lies.
    dumped = system.model_dump(mode="json", exclude=PACE | ({"file"} if isinstance(system, AnswersFile) else set()))
    record = {key: value for key, value in dumped.items() if value or key not in LATER}
    if "paths" in record:
        usual = KLARTEXT_ANSWER.model_dump() if isinstance(system, CommandFile) else {}
        paths = record["paths"].items()
        record["paths"] = {key: path for key, path in paths if key not in LATER_PATHS or path != usual.get(key)}
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:16]


def expand(headers: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Replace ``${NAME}`` by environment variables; raise BadData when one is not set."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in environ:
            raise BadData(f"A header needs the environment variable {match[1]}, which is not set. Set it.")
        return environ[match[1]]

    return {name: _VARIABLE.sub(value, text) for name, text in headers.items()}

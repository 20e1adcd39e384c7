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
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bot import BadData

_VARIABLE = re.compile(r"\$\{(\w+)\}")
PACE = {"timeout_s", "retries", "backoff_s", "per_second"}  # may change before a run goes on: no answer depends on them


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


JsonPath = Annotated[str, AfterValidator(_json_path)]
Address = Annotated[str, AfterValidator(_address)]


class _System(BaseModel):
    """What all kinds share.

    Attributes:
        name: Of the system, in `run.json`; default: the file's name.
        similarity: Smallest cosine at which an answer is taken for a pair's answer.
        declined: Texts that say that there is no answer.
        urgent: Texts that send the patient to a human.
        timeout_s: For one answer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = ""
    similarity: float = Field(default=0.9, gt=0, le=1)
    declined: tuple[str, ...] = ()
    urgent: tuple[str, ...] = ()
    timeout_s: float = Field(default=30.0, gt=0)


class _Endpoint(_System):
    """What HTTP kinds share: `headers` may name environment variables as ``${NAME}``."""

    url: Address
    headers: dict[str, str] = {}
    retries: int = Field(default=2, ge=0)
    backoff_s: float = Field(default=0.5, ge=0)
    per_second: float | None = Field(default=None, gt=0)


class Paths(BaseModel):
    """JSONPaths to what a system says; those it does not say are left out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: JsonPath | None = None
    pair: JsonPath | None = None
    decision: JsonPath | None = None
    candidates: JsonPath | None = None
    choices: JsonPath | None = None


KLARTEXT_ANSWER = Paths(
    answer="$.answer",
    pair="$.pair_id",
    decision="$.decision",
    candidates="$.candidates[*].pair_id",
    choices="$.choices[*]",
)


class HttpFile(_Endpoint):
    """Any HTTP endpoint; `url` and `body` may hold ``{question}`` and ``{lang}``."""

    kind: Literal["http"]
    method: Literal["GET", "POST", "PUT"] = "POST"
    body: Any = None
    paths: Paths


class RasaFile(_Endpoint):
    """A Rasa server, or anything with its REST channel; `url` is the server's address."""

    kind: Literal["rasa"]


class CommandFile(_System):
    """A command that reads JSON lines and writes one for each, as `klartext answer` does."""

    kind: Literal["command"]
    command: tuple[str, ...] = Field(min_length=1)
    paths: Paths = KLARTEXT_ANSWER
    timeout_s: float = Field(default=120.0, gt=0)


SystemFile = Annotated[HttpFile | RasaFile | CommandFile, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[HttpFile | RasaFile | CommandFile] = TypeAdapter(SystemFile)


def load_system_file(path: Path) -> HttpFile | RasaFile | CommandFile:
    """Read a system file; raise BadData with one line."""
    try:
        system = _ADAPTER.validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise BadData(f"{path}: {place}: {first['msg']}. See 'Systems under test' in docs/reference.md.") from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise BadData(f"The system {path} cannot be read ({reason}). Give a YAML file with `--system`.") from error
    if isinstance(system, HttpFile) and not (system.paths.answer or system.paths.pair):
        raise BadData(f"{path}: paths: neither `answer` nor `pair` is given. Say where the answer or its pair stands.")
    return system.model_copy(update={"name": system.name or path.stem})


def fingerprint(system: HttpFile | RasaFile | CommandFile) -> str:
    """Return a hash of what decides on answers; secrets are not in it, since headers name variables."""
    record = system.model_dump(mode="json", exclude=PACE)
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:16]


def expand(headers: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Replace ``${NAME}`` by environment variables; raise BadData when one is not set."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in environ:
            raise BadData(f"A header needs the environment variable {match[1]}, which is not set. Set it.")
        return environ[match[1]]

    return {name: _VARIABLE.sub(value, text) for name, text in headers.items()}

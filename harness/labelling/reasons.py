"""Reason codes that raters give for a label: data in `vignettes/labels/reasons.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bot import BadData, data_folder
from harness.labels import Verdict


class Reason(BaseModel):
    """Why an answer is not simply correct.

    Attributes:
        code: What is stored with a label.
        key: The key that picks it: none that does something else while labelling.
        labels: The labels it can explain.
        text: What raters read.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: str = Field(pattern=r"^[a-z][a-z-]*$")
    key: str = Field(pattern=r"^[abd-prtv-z]$")  # not c, q, s, u
    labels: tuple[Verdict, ...] = Field(alias="for", min_length=1)
    text: str = Field(min_length=1)


@cache
def load_reasons() -> tuple[Reason, ...]:
    """Read the reason codes.

    Raises:
        BadData: The file is broken, or a code or a key is used twice.
    """
    path = data_folder("vignettes") / "labels" / "reasons.yaml"
    try:
        reasons = TypeAdapter(tuple[Reason, ...]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise BadData(f"{path} holds no list of reasons ({str(error).splitlines()[0]}). Mend it.") from error
    for name in ("code", "key"):
        used = [getattr(reason, name) for reason in reasons]
        twice = sorted({value for value in used if used.count(value) > 1})
        if twice:
            raise BadData(f"{path}: the {name} {twice[0]!r} is used twice. Choose another one.")
    return reasons


def reasons_for(verdict: Verdict) -> tuple[Reason, ...]:
    """Return the reasons that can explain a label, in the order of the file."""
    return tuple(reason for reason in load_reasons() if verdict in reason.labels)


def check_reason(code: str, *, where: str, reasons: Sequence[Reason] | None = None) -> str:
    """Return a code that is known, or empty; raise BadData otherwise."""
    known = [reason.code for reason in (load_reasons() if reasons is None else reasons)]
    if code and code not in known:
        raise BadData(f"{where}: there is no reason {code!r}. Known: {', '.join(known)}; or leave it empty.")
    return code

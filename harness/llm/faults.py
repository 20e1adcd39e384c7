"""What can go wrong with one request: whether it may pass, whether it may have been billed, and whose fault it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import httpx2
import openai

from bot import BadData, Unreachable, UserFixable

_PASSING = frozenset({408, 409, 425, 429})
_THIS_REQUEST = frozenset({400, 413, 422})
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_OUT_OF_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_NAME = re.compile(r"[\w.-]{1,60}")
# Where an endpoint does not say which parameter it refuses, its words do. They are looked at, never shown.
_WORDS = {
    "response_format": ("response_format", "json_schema", "json schema", "structured output", "grammar"),
    "max_tokens": ("max_tokens",),
    "seed": ("seed",),
}


@dataclass
class Fault(Exception):
    """An attempt that brought no answer.

    Attributes:
        reason: Class of fault in a few words, without any text of the prompt.
        passes: Whether trying again may help.
        scope: ``endpoint`` when every further request would fare alike, ``request`` when this one may be to blame.
        billed: Whether it may have been billed all the same.
        wait_s: How long the endpoint asks to wait.
        status: HTTP status, or 0.
        refused: The parameter that the endpoint does not take, or empty.
    """

    reason: str
    passes: bool = True
    scope: Literal["endpoint", "request"] = "request"
    billed: bool = False
    wait_s: float | None = None
    status: int = 0
    refused: str = ""

    def __str__(self) -> str:
        return self.reason


def fault_of(error: Exception, *, timeout_s: float) -> Fault:
    """Classify what the client raised."""
    if isinstance(error, openai.APIStatusError):
        return _of_status(error)
    if isinstance(error.__cause__, _NOT_SENT):
        return Fault("no connection", scope="endpoint")
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return Fault(f"no answer within {timeout_s:g} s", billed=True)
    return Fault("the connection was cut", billed=True)


def _of_status(error: openai.APIStatusError) -> Fault:
    status = error.status_code
    code = next((name for name in (error.code, error.type) if name and _NAME.fullmatch(str(name))), "")
    reason = f"status {status}" + (f", {code}" if code and str(code) != str(status) else "")
    if status == 429 and code in _OUT_OF_MONEY:
        return Fault(reason, passes=False, scope="endpoint", status=status)
    if status == 429:
        return Fault(reason, scope="endpoint", wait_s=_wait(error.response), status=status)
    if status in _PASSING or status >= 500:
        return Fault(reason, wait_s=_wait(error.response), status=status)
    if status in _THIS_REQUEST:
        return Fault(reason, passes=False, status=status, refused=_refused(error))
    return Fault(reason, passes=False, scope="endpoint", status=status)


def _refused(error: openai.APIStatusError) -> str:
    if error.param in _WORDS:
        return str(error.param)
    said = str(error.body).lower()
    return next((name for name, words in _WORDS.items() if any(word in said for word in words)), "")


def _wait(response: httpx2.Response) -> float | None:
    """Return what Retry-After says, in seconds; a date is as good as none, since clocks differ."""
    for header, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = response.headers.get(header, "")
        if re.fullmatch(r"\d{1,9}(\.\d+)?", value):
            return float(value) * factor
    return None


def explain(fault: Fault, url: str, model: str, again: str) -> UserFixable:
    """Return the error that ends the work: what the endpoint did, and what to do about it."""
    endpoint, again = f"The model endpoint {url}", f"{again}: what came is kept"
    if fault.reason.startswith("the answer is no"):
        return BadData(f"{endpoint} sent no chat completion ({fault.reason}). Check its address. {again}.")
    if not fault.status:
        return Unreachable(
            f"{endpoint} does not answer ({fault.reason}). Start it, or correct KLARTEXT_MODEL_URL. {again}."
        )
    remedy = "Check `--model` and KLARTEXT_MODEL_KEY."
    if fault.passes:
        remedy = "Wait a while, or ask less at once with `--parallel`."
    return Unreachable(f"{endpoint} answered {fault.status} for model {model!r} ({fault.reason}). {remedy} {again}.")

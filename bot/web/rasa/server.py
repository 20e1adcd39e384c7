"""Ask a running Rasa server who it is, and whether a message gets an answer; and why not, where it gets none."""

from __future__ import annotations

import json
import re
import secrets
import time
from dataclasses import dataclass
from http import HTTPStatus

import httpx

from bot.adapters.bounded_http import Answer, BoundedHttp, OddAnswer
from bot.errors import Unreachable, UserFixable
from bot.sentences.reply import SAFE, SENTENCES
from bot.web.rasa.project import ACTIONS_PATH, NATIVE, plain_address

TRIED = "3.6"
_HELLO = re.compile(r"Hello from Rasa: (\d{1,4}\.\d{1,4})([a-z0-9.]{0,20})")
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found.

    Attributes:
        version: Of the Rasa server.
        answers: What a patient who asks for help is told, as the server has it: nothing that a terminal should get.
        elapsed_s: How long that took.
        native: Whether Rasa alone answers.
    """

    version: str
    answers: tuple[str, ...]
    elapsed_s: float
    native: bool = False


@dataclass(frozen=True, slots=True)
class ActionServer:
    """The service behind Rasa, asked where Rasa gets no answer of it; without a secret it is not.

    Attributes:
        address: Of `klartext serve`, from here.
        token: Its secret.
    """

    address: str = "http://127.0.0.1:8000"
    token: str | None = None


def check_server(url: str, *, timeout_s: float, behind: ActionServer | None = None) -> Checked:
    """Ask for the version, and say ``/help`` as a sender who never was there before.

    Raises:
        Unreachable: Nobody answers, or not in time; or Rasa gets no answer of the service.
        UserFixable: It is no Rasa, another version, or says nothing; or an address is none.
    """
    url = plain_address(url, "URL")
    http = BoundedHttp()
    try:
        version = _version(http, url, timeout_s)
        started_s = time.perf_counter()
        said = {"sender": f"klartext-check-{secrets.token_hex(8)}", "message": "/help"}
        body = json.dumps(said).encode()
        answer = _ask(http, "POST", f"{url}/webhooks/rest/webhook", timeout_s=timeout_s, content=body)
        elapsed_s = time.perf_counter() - started_s
        texts = _texts(answer, f"Rasa {version} at {url}")
        if texts[0] in {said[key] for said in SENTENCES.values() for key in said if key.startswith(SAFE)}:
            raise Unreachable(
                f"Rasa {version} at {url} does not get an answer of its action server. "
                f"{_why(http, behind or ActionServer(), timeout_s)}"
            )
    finally:
        http.close()
    return Checked(version, texts, elapsed_s, native=texts[0] == NATIVE)


def _version(http: BoundedHttp, url: str, timeout_s: float) -> str:
    start = (
        "Start it with `rasa run -i 127.0.0.1` in the folder of the project; where it listens elsewhere, name that: "
        "`klartext rasa check URL`."
    )
    try:
        hello = _HELLO.search(_ask(http, "GET", f"{url}/", timeout_s=timeout_s).body.decode("utf-8", "replace"))
    except httpx.HTTPError as error:
        raise Unreachable(f"No Rasa server answers at {url} ({type(error).__name__}). {start}") from None
    if hello is None:
        raise UserFixable(f"What answers at {url} is no Rasa server. {start}")
    version = hello[1] + hello[2]
    if hello[1].split(".")[0] != "3":
        raise UserFixable(f"The server at {url} is Rasa {version}. Projects are for Rasa Open Source {TRIED}.")
    return version


def _ask(http: BoundedHttp, method: str, url: str, *, timeout_s: float, content: bytes = b"") -> Answer:
    """Return the whole answer; raise Unreachable where it takes too long, or has no end."""
    try:
        return http.request(method, url, deadline_s=timeout_s, headers=_JSON if content else None, content=content)
    except httpx.TimeoutException:
        raise Unreachable(
            f"The Rasa server at {url} did not answer within {timeout_s:g} s. It may still be loading its model: try "
            "again, or give it more time with `--timeout`."
        ) from None
    except OddAnswer as error:
        raise Unreachable(f"What answers at {url} sends {error}: that is no Rasa server. Check the address.") from None


def _texts(answer: Answer, who: str) -> tuple[str, ...]:
    """Return what was said, something at least; raise UserFixable otherwise."""
    if answer.status == HTTPStatus.NOT_FOUND:
        raise UserFixable(
            f"{who} has no REST channel. Start it in the folder of the project, with its credentials.yml."
        )
    try:
        texts = tuple(str(each["text"]) for each in answer.json() if "text" in each)
    except (OddAnswer, TypeError):
        texts = ()
    if not texts:
        raise UserFixable(f"{who} says nothing (status {answer.status}). Train the project: `rasa train`.")
    return texts


def _why(http: BoundedHttp, behind: ActionServer, timeout_s: float) -> str:
    """Return what is to be done where Rasa gets no answer of the service: asked of the service itself."""
    if behind.token is None:
        return (
            "Set KLARTEXT_RASA_TOKEN here as it is set for Rasa, and check again: then the service is asked why. Or "
            "see Rasa's log: 401 is another secret, 409 another exam or project, 503 a service that is still learning."
        )
    here = f"the service at {behind.address}"
    headers = {**_JSON, "Authorization": f"Bearer {behind.token}"}
    try:  # a call that is none: who has the secret is told so, and nothing is stored
        status = http.request(
            "POST", behind.address + ACTIONS_PATH, deadline_s=timeout_s, headers=headers, content=b"{}"
        ).status
    except (httpx.HTTPError, OddAnswer):
        return f"Nor does {here} answer here: start `klartext serve`, or name its address with `--service`."
    if status == HTTPStatus.UNAUTHORIZED:
        return f"Another secret (401): {here} has another KLARTEXT_RASA_TOKEN than is set here. Set the same for both."
    if status == HTTPStatus.NOT_FOUND:
        return f"Start {here} with KLARTEXT_RASA_TOKEN set: without it there is no action server (404)."
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return f"Wait, and check again: {here} is still learning its catalog (503)."
    return (
        f"But {here} is ready, and takes the secret that is set here. So Rasa was started with another secret (401 in "
        "its log) or with another `--service`, or the project is for another exam, for drafts, or of another version "
        "(409): export it again."
    )

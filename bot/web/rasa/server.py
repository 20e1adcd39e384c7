"""Ask a running Rasa server who it is, and whether a message gets an answer."""

from __future__ import annotations

import re
import secrets
import time
from dataclasses import dataclass

import httpx

from bot.errors import Unreachable, UserFixable
from bot.sentences.reply import SAFE, SENTENCES

TRIED = "3.6"
_HELLO = re.compile(r"Hello from Rasa: (\d+\.\d+)([\w.]*)")


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found.

    Attributes:
        version: Of the Rasa server.
        answers: What a patient who asks for help is told.
        elapsed_s: How long that took.
    """

    version: str
    answers: tuple[str, ...]
    elapsed_s: float


def check_server(url: str, *, timeout_s: float) -> Checked:
    """Ask for the version, and say ``/help`` as a sender who never was there before.

    Raises:
        Unreachable: Nobody answers, or not in time.
        UserFixable: It is no Rasa, another version, or says nothing.
    """
    url = url.rstrip("/")
    start = f"Start it with `rasa run -i 127.0.0.1`, and give its address, not {url!r}."
    try:
        with httpx.Client(timeout=timeout_s, trust_env=False) as client:
            hello = _HELLO.search(client.get(f"{url}/").text)
            if hello is None:
                raise UserFixable(f"What answers at {url} is no Rasa server. {start}")
            version = hello[1] + hello[2]
            if hello[1].split(".")[0] != "3":
                raise UserFixable(f"The server at {url} is Rasa {version}. Projects are for Rasa Open Source {TRIED}.")
            started_s = time.perf_counter()
            said = {"sender": f"klartext-check-{secrets.token_hex(8)}", "message": "/help"}
            answer = client.post(f"{url}/webhooks/rest/webhook", json=said)
            elapsed_s = time.perf_counter() - started_s
    except httpx.TimeoutException:
        raise Unreachable(
            f"The Rasa server at {url} did not answer within {timeout_s:g} s. It may still be loading its model: try "
            "again, or give it more time with `--timeout`."
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unreachable(f"No Rasa server answers at {url} ({type(error).__name__}). {start}") from None
    if answer.status_code == httpx.codes.NOT_FOUND:
        raise UserFixable(
            f"Rasa {version} at {url} has no REST channel. Start it in the folder of the project, with its "
            "credentials.yml."
        )
    try:
        texts = tuple(str(each["text"]) for each in answer.json() if "text" in each)
    except (ValueError, TypeError):
        texts = ()
    if not texts:
        raise UserFixable(
            f"Rasa {version} at {url} says nothing (status {answer.status_code}). Train the project: `rasa train`."
        )
    if texts[0] in {said[key] for said in SENTENCES.values() for key in said if key.startswith(SAFE)}:
        raise Unreachable(
            f"Rasa {version} at {url} does not get an answer of its action server. Run `klartext serve` with the same "
            "KLARTEXT_RASA_TOKEN; the log of Rasa, or of the service, says why it was refused."
        )
    return Checked(version, texts, elapsed_s)

"""Fakes for the outermost edge, and small real things, for tests of Klartext and of what builds on it."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from bot.ports import Vectors
from bot.text import sanitise, words


class HashEncoder:
    """An encoder without a model: words and word beginnings hashed into a vector. Equal words make texts similar."""

    name = "hash-64"
    dimensions = 64

    def __init__(self) -> None:
        self.encoded = 0  # how many texts were encoded: tells whether an index was rebuilt

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += len(texts)
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(sanitise(text).text) or ["-"]:
                for part in (word, word[:4]):
                    vectors[
                        row, int.from_bytes(hashlib.sha256(part.encode()).digest()[:4], "big") % self.dimensions
                    ] += 1
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


@dataclass
class ScriptedEndpoint:
    """An OpenAI-compatible server on loopback that answers as a test says.

    Attributes:
        reply: Turns the messages of a chat request into the answer's text.
        faults: HTTP statuses to answer first, one per request (0 cuts the connection, -1 sends broken JSON).
        requests: Bodies received, in order.
        url: Base URL.
    """

    reply: Callable[[list[dict[str, str]]], str]
    faults: list[int] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""


@contextmanager
def scripted_endpoint(
    reply: Callable[[list[dict[str, str]]], str], *, faults: Sequence[int] = ()
) -> Iterator[ScriptedEndpoint]:
    """Run a ScriptedEndpoint: ``/chat/completions`` by `reply`, ``/embeddings`` by HashEncoder."""
    endpoint = ScriptedEndpoint(reply, list(faults))
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                endpoint.requests.append(body)
                fault = endpoint.faults.pop(0) if endpoint.faults else 200
            if fault == 0:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            if fault == -1:
                self._send(200, b"{broken")
                return
            answer = _embeddings(body) if self.path.endswith("/embeddings") else _completion(body, endpoint.reply)
            self._send(fault, json.dumps(answer if fault == 200 else {"error": {"message": "scripted"}}).encode())

        def _send(self, status: int, payload: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    vectors = HashEncoder().encode(texts)
    data = [
        {"object": "embedding", "index": number, "embedding": (3 * vector).tolist()}
        for number, vector in enumerate(vectors)
    ]
    # Endpoints may answer out of order.
    return {
        "object": "list",
        "model": body["model"],
        "data": data[::-1],
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }


def _completion(body: dict[str, Any], reply: Callable[[list[dict[str, str]]], str]) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply(body["messages"])}
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


# The first text of a pair is its question, the others are variants.
SMALL_PAIRS: dict[str, dict[str, list[str]]] = {
    "de": {
        "pain": ["Tut die Untersuchung weh?", "weh?", "Habe ich dabei Schmerzen?", "schmerzhaft?", "spürt man was"],
        "costs": ["Was kostet die Untersuchung?", "kosten?", "Wer bezahlt das?", "Preis?", "zahlt die Kasse"],
        "duration": ["Wie lange dauert die Untersuchung?", "dauer?", "wie viele Minuten", "geht das schnell", "Zeit?"],
    },
    "en": {
        "pain": ["Does the examination hurt?", "hurt?", "Will I be in pain?", "painful?", "do you feel pain"],
        "costs": ["What does the examination cost?", "cost?", "Who pays for it?", "price?", "does insurance pay"],
        "duration": ["How long does the examination take?", "how long?", "how many minutes", "is it quick", "time?"],
    },
}


def write_small_catalog(folder: Path, *, languages: Sequence[str] = ("de", "en"), status: str = "draft") -> Path:
    """Write a catalog of three pairs, small enough to be built in a test, and return its folder."""
    for language in languages:
        pairs = [
            {
                "id": name,
                "question": texts[0],
                "answer": f"{texts[0]} ({name}, {language})",
                "easy_answer": f"{name}, {language}.",
                "review": {"status": status, "by": "Dr. Test", "on": "2026-01-01"},
                "variants": texts[1:],
            }
            for name, texts in SMALL_PAIRS[language].items()
        ]
        document = {"catalog": "small", "language": language, "version": "1", "pairs": pairs}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{language}.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    return folder


# What patients, keyboards and attackers send, by name. Everything must take them without an error.
HOSTILE_TEXTS: dict[str, str] = {
    "empty": "",
    "spaces": "     ",
    "many spaces": " " * 5000,
    "NUL": "tut\x00das\x00weh",
    "lone surrogates": "\ud800weh\udfff?",
    "only a lone surrogate": "\udc80",
    "emoji": "😢🩺👩🏽\u200d⚕️",
    "grows 18 times under NFKC": "\ufdfa" * 300,
    "combining marks": "a" + "\u0301" * 500,
    "right to left": "\u202eهل يؤلم؟",
    "separators": "weh?\u2028\u2029\x85\x0b\x0c",
    "hundred thousand characters": "weh " * 25_000,
    "one long word": "a" * 5000,
    "markup": "[bold]{limit}%s</b><script>alert(1)</script>",
    "digits": "²٣½ 12345678901234567890",
}

"""Files and batches as OpenAI's API has them, on loopback; a chat function answers each request."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Chat = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass
class BatchServer:
    """The server's content, and what goes wrong.

    Attributes:
        chat: Returns the completion for a request's body; what it raises becomes that request's error.
        looks: How often a batch is looked at before it has ended.
        expires_after: After so many answers a batch expires, or None.
        refuses: Error code with which the next batches fail, one each, before anything is done.
        lost: Steps ("POST /v1/files", "POST /v1/batches", …) whose next reply gets lost after they were done.
        lists: Whether files and batches can be listed.
        pages: Steps that are answered with a web page and status 200.
        status: What every batch is said to be instead of what it is.
        files: Name and content by id.
        batches: By id.
        log: Method and path of what came.
    """

    chat: Chat
    looks: int = 1
    expires_after: int | None = None
    refuses: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    lists: bool = True
    pages: list[str] = field(default_factory=list)
    status: str = ""
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    url: str = ""

    def add_file(self, name: str, content: bytes) -> dict[str, Any]:
        id_ = f"file-{len(self.files) + 1}"
        self.files[id_] = (name, content)
        return self.file(id_)

    def file(self, id_: str) -> dict[str, Any]:
        name, content = self.files[id_]
        about = {"id": id_, "object": "file", "bytes": len(content), "created_at": 0, "filename": name}
        return {**about, "purpose": "batch", "status": "processed"}

    def add_batch(self, wanted: dict[str, Any]) -> dict[str, Any]:
        assert wanted["endpoint"] == "/v1/chat/completions"
        assert wanted["completion_window"] == "24h"
        assert wanted["input_file_id"] in self.files
        id_ = f"batch_{len(self.batches) + 1}"
        problem = self.refuses.pop(0) if self.refuses else _problem(self.files[wanted["input_file_id"]][1])
        self.batches[id_] = {
            **{"id": id_, "object": "batch", "created_at": 0, "status": "validating", **wanted},
            **{"looked": 0, "problem": problem, "request_counts": {"total": 0, "completed": 0, "failed": 0}},
        }
        return self.batches[id_]

    def look_at(self, id_: str) -> dict[str, Any]:
        """Return a batch and let it make headway."""
        batch = self.batches[id_]
        batch["looked"] += 1
        if self.status:
            return {**batch, "status": self.status}
        if batch["problem"] and batch["status"] == "validating":
            error = {"code": batch["problem"], "message": "Scripted.", "line": 2, "param": None}
            batch |= {"status": "failed", "errors": {"object": "list", "data": [error]}}
        elif batch["status"] in {"validating", "in_progress"}:
            batch["status"] = "in_progress"
            if batch["looked"] > self.looks:
                self._finish(batch)
        return batch

    def _finish(self, batch: dict[str, Any]) -> None:
        requests = [json.loads(line) for line in self.files[batch["input_file_id"]][1].splitlines()]
        good, bad = [], []
        for number, request in enumerate(requests):
            line = {"id": f"r{number}", "custom_id": request["custom_id"], "response": None, "error": None}
            if self.expires_after is not None and number >= self.expires_after:
                bad.append({**line, "error": {"code": "batch_expired", "message": "Too late."}})
                continue
            try:
                body = self.chat(request["body"])
            except Exception as error:
                response = {"status_code": 400, "request_id": "x", "body": {"error": {"message": str(error)}}}
                bad.append({**line, "response": response})
            else:
                good.append({**line, "response": {"status_code": 200, "request_id": "x", "body": body}})
        batch["status"] = "completed" if self.expires_after is None else "expired"
        batch["request_counts"] = {"total": len(requests), "completed": len(good), "failed": len(bad)}
        for key, lines in (("output_file_id", good[::-1]), ("error_file_id", bad)):  # in any order
            if lines:
                content = "\n".join(json.dumps(line) for line in lines)
                batch[key] = self.add_file(key, content.encode())["id"]


def _problem(content: bytes) -> str:
    requests = [json.loads(line) for line in content.splitlines()]
    ids = {request["custom_id"] for request in requests}
    if len(ids) != len(requests):
        return "duplicate_custom_id"
    return "" if len({request["body"]["model"] for request in requests}) == 1 else "mismatched_model"


def _handler(server: BatchServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            parts = url.path.removeprefix("/v1/").split("/")
            with server.lock:
                if len(parts) == 1 and not server.lists:
                    return self._reply(404, b"{}")
                if len(parts) == 1:
                    return self._page(parts[0], parse_qs(url.query))
                if parts[0] == "files" and parts[1] in server.files:
                    name = server.files[parts[1]]
                    return self._reply(200, name[1] if len(parts) == 3 else json.dumps(server.file(parts[1])).encode())
                if parts[0] == "batches" and parts[1] in server.batches:
                    return self._reply(200, json.dumps(server.look_at(parts[1])).encode())
            return self._reply(404, b"{}")

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            with server.lock:
                if self.path == "/v1/files":
                    return self._reply(200, json.dumps(server.add_file(*self._upload(content))).encode())
                if self.path == "/v1/batches":
                    return self._reply(200, json.dumps(server.add_batch(json.loads(content))).encode())
            return self._reply(404, b"{}")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _page(self, kind: str, query: dict[str, list[str]]) -> None:
            """Reply with two at a time, the latest first, as cursors work."""
            things = [server.file(id_) for id_ in server.files] if kind == "files" else list(server.batches.values())
            things.reverse()
            ids = [thing["id"] for thing in things]
            start = ids.index(query["after"][0]) + 1 if "after" in query else 0
            page = {"object": "list", "data": things[start : start + 2], "has_more": start + 2 < len(things)}
            self._reply(200, json.dumps(page).encode())

        def _upload(self, content: bytes) -> tuple[str, bytes]:
            head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
            fields = {
                part.get_param("name", header="Content-Disposition"): part
                for part in BytesParser(policy=HTTP).parsebytes(head + content).iter_parts()
            }
            assert fields["purpose"].get_content().strip() == "batch"
            name, uploaded = fields["file"].get_filename(), fields["file"].get_payload(decode=True)
            assert name
            assert isinstance(uploaded, bytes)
            return name, uploaded

        def _reply(self, status: int, content: bytes) -> None:
            step = f"{self.command} {urlsplit(self.path).path}"
            server.log.append(step)
            if step in server.lost:
                server.lost.remove(step)
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            kind = "application/json"
            if step in server.pages:
                status, content, kind = 200, b"<!doctype html><title>Welcome to nginx</title>", "text/html"
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler


@contextmanager
def batch_server(chat: Chat) -> Iterator[BatchServer]:
    """Run the server."""
    state = BatchServer(chat)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""Play a conversation of the corpus, and write down what came of it.

A conversation is a JSON object. What goes in:

- `about`: what it is there for.
- `door`: `api` (the JSON API), `channel` (the REST channel), `interview` (the command with a file of answers) or `chat`.
- `language`, `questionnaire` (below `forms/`, or `corpus:` and a path in the third-party FHIR data; none: the shipped one),
  `settings` (environment), `patient` (the pseudonym of a link), `consent`, `full` (Bundles are written out in full).
- `turns` for `api` and `channel`, each with `send`: a text; a number, for a choice; or one of `{"text": …, "times": n}`,
  `{"again": true}` (the message before, with its turn id), `{"flag": reason, "comment": …}`, `{"wait_minutes": n}`.
- `lines` (and `confirm`) for `interview` and `chat`.

What came of it stands beside each `send` as `got`, and in `end`. All of it is compared. The clock stands at a fixed moment
and moves on by a minute a turn; ids are given. One thing is left out: the version of Klartext, which is in Bundles. Of
third-party forms no text is kept here, only the beginnings of SHA-256 sums.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

from tests.recorded.inside import CHANNEL_TOKEN, House, run_command

HERE = Path(__file__).parent
FORMS, CONVERSATIONS = HERE / "forms", HERE / "conversations"
THIRD_PARTY = "corpus:"

Json = dict[str, Any]


def conversations() -> list[Path]:
    """Return the files of the corpus."""
    return sorted(CONVERSATIONS.glob("*.json"))


def read(path: Path) -> Json:
    loaded: Json = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def written(document: Json) -> str:
    """Return a conversation as it lies in its file."""
    # Half a character is no UTF-8; escaped, it is still the same JSON.
    return _laid_out(document, "").encode("utf-8", "backslashreplace").decode() + "\n"


def _laid_out(value: Any, indent: str) -> str:
    """Return JSON with one line for each list of plain values, so that a reply reads like one."""
    inner = indent + " "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json.dumps(key)}: {_laid_out(each, inner)}" for key, each in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        return "[\n" + ",\n".join(inner + _laid_out(each, inner) for each in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


@dataclass
class Stage:
    """Where conversations are played: services are built once for each form and each set of settings.

    Attributes:
        data: Holds the trained catalog.
        folder: For what is written meanwhile.
        third_party: The third-party FHIR data; None where it is not at hand.
    """

    data: Path
    folder: Path
    third_party: Path | None = None
    _houses: dict[str, House] = field(default_factory=dict)

    def play(self, name: str, document: Json) -> Json:
        """Return the conversation with what came of it now."""
        match document["door"]:
            case "api":
                played = Call(self, name, document).play()
            case "channel":
                played = self._on_channel(name, document)
            case door:
                played = self._as_command(door, name, document)
        return _veiled(played) if is_third_party(document) else played

    def house(self, document: Json) -> House:
        """Return the service for a conversation, as if nobody had been there before."""
        key = json.dumps([document.get("questionnaire"), document.get("settings")])
        if key not in self._houses:
            folder, form = self.folder / f"house-{len(self._houses)}", self._questionnaire(document)
            self._houses[key] = House.build(folder, self.data, document.get("settings", {}), form)
        house = self._houses[key]
        house.set_back()
        return house

    def _questionnaire(self, document: Json) -> Path | None:
        named = document.get("questionnaire")
        if named is None:
            return None
        if is_third_party(document):
            if self.third_party is None:
                raise FileNotFoundError(named)
            return self.third_party / str(named).removeprefix(THIRD_PARTY)
        return FORMS / str(named)

    def _on_channel(self, name: str, document: Json) -> Json:
        house = self.house(document)
        turns = []
        for turn in document["turns"]:
            house.clock.advance()
            body = {"sender": name, "message": _text(turn["send"])}
            answer = request(house, "POST", "/webhooks/rest/webhook", token=CHANNEL_TOKEN, body=body)
            turns.append({"send": turn["send"], "got": _without_sender(answer.json())})
        return {**document, "turns": turns}

    def _as_command(self, door: str, name: str, document: Json) -> Json:
        folder = self.folder / f"command-{name}"
        folder.mkdir()
        environ = {
            "KLARTEXT_DATA": str(self.data),
            "KLARTEXT_DATABASE_URL": f"sqlite:///{folder / 'klartext.db'}",
            **document.get("settings", {}),
        }
        lines = "".join(f"{line}\n" for line in document["lines"])
        form = self._questionnaire(document)
        asked = ["--questionnaire", str(form)] if form else []
        if door == "chat":
            done = run_command(["chat", *asked, "--conversation", name], environ=environ, stdin=lines)
            out = folder / "bundle.json"
            exported = run_command(["fhir", "export", name, "--out", str(out)], environ=environ)
            end = {"exported": exported.exit_code, **_sealed([out.read_text(encoding="utf-8")], document)}
        else:
            (folder / "answers.txt").write_text(lines, encoding="utf-8")
            out = folder / "response.json"
            arguments = [*asked, "--answers", str(folder / "answers.txt"), "--out", str(out)]
            arguments += ["--lang", document["language"], *["--confirm"] * document.get("confirm", False)]
            done = run_command(["interview", *arguments], environ=environ)
            response = out.read_text(encoding="utf-8")
            end = {"response": json.loads(response), "response_sha256": _sha256(response)}
        said = {"exit_code": done.exit_code, "stderr": done.stderr.splitlines(), "shown": _lines(done.stdout)}
        return {**document, "end": {**said, **end}}


@dataclass
class Call:
    """One conversation over the JSON API."""

    stage: Stage
    name: str
    document: Json
    notices: set[str] = field(default_factory=set)
    number: int = 0
    before: Json = field(default_factory=dict)

    def play(self) -> Json:
        """Return the conversation with what came of it now."""
        document = {key: value for key, value in self.document.items() if key not in ("begun", "turns", "end")}
        document["begun"] = self.begin()
        if "status" in document["begun"]:
            return {**document, "turns": []}
        document["turns"] = [self.turn(turn["send"]) for turn in self.document["turns"]]
        return {**document, "end": self.end()}

    def begin(self) -> Json:
        """Begin the conversation; return the welcome, or why it was refused."""
        self.house = self.stage.house(self.document)
        self.id = hashlib.sha256(self.name.encode()).hexdigest()[:32]
        with self.house.beginning(self.id, self.document.get("patient")):
            body = {"consent": self.document.get("consent", True), "language": self.document["language"]}
            begun = request(self.house, "POST", "/api/v1/conversations", body=body)
        if begun.status_code != 201:
            return _refusal(begun)
        self.token = begun.json()["token"]
        return self._reply(begun.json()["welcome"])

    def turn(self, send: Any) -> Json:
        """Send what the patient sends; return it with what came back."""
        if isinstance(send, dict) and "wait_minutes" in send:
            self.house.clock.advance(send["wait_minutes"])
            return {"send": send}
        self.house.clock.advance()
        if isinstance(send, dict) and "flag" in send:
            path = f"/turns/turn-{self.number}/flags/{send['flag']}"
            answer = self._request("PUT", path, body={"comment": send.get("comment", "")})
            return {"send": send, "got": answer.json() if answer.status_code == 200 else _refusal(answer)}
        if not (isinstance(send, dict) and "again" in send):
            self.number += 1
            said = {"choice": send} if isinstance(send, int) else {"text": _text(send)}
            self.before = {"turn_id": f"turn-{self.number}", **said}
        answer = self._request("POST", "/turns", body=self.before)
        if answer.status_code != 200:
            return {"send": send, "got": _refusal(answer)}
        taken = answer.json()
        return {"send": send, "got": {"decision": taken["decision"], **self._reply(taken["reply"])}}

    def end(self) -> Json:
        """Leave; return what is stored and what goes to the FHIR server."""
        stored = self._request("GET", "/export").json()
        self.house.leave(self.id)
        return {
            "notices": sorted(self.notices),
            "export_sha256": _sha256(json.dumps(stored, ensure_ascii=False, sort_keys=True)),
            **_sealed(self.house.bundles(self.id), self.document),
        }

    def _request(self, method: str, path: str, body: Json | None = None) -> httpx.Response:
        return request(self.house, method, f"/api/v1/conversations/{self.id}{path}", token=self.token, body=body)

    def _reply(self, reply: Mapping[str, Any]) -> Json:
        self.notices.add(reply["notice"])
        choices = [[choice["text"], *[choice["pair_id"]] * bool(choice["pair_id"])] for choice in reply["choices"]]
        return {"language": reply["language"], "parts": [_as_line(part) for part in reply["parts"]], "choices": choices}


def request(house: House, method: str, path: str, *, token: str = "", body: Json | None = None) -> httpx.Response:
    """Send a request to the application, without a network."""

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=house.app)
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        content = json.dumps(body).encode() if body is not None else None  # patients send half characters, too
        async with httpx.AsyncClient(transport=transport, base_url="http://klartext", headers=headers) as client:
            return await client.request(method, path, content=content)

    # In a thread of its own: a browser that another test drives keeps an event loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, send()).result()


def is_third_party(document: Json) -> bool:
    """Say whether the conversation asks a form that is not in this repository."""
    return str(document.get("questionnaire")).startswith(THIRD_PARTY)


def _text(send: Any) -> str:
    return str(send["text"]) * int(send.get("times", 1)) if isinstance(send, dict) else str(send)


def _as_line(part: Json) -> list[str]:
    """Return a part of a reply as what it is, whose it is, and its text."""
    whose = [part[key] for key in ("key", "pair_id", "link_id", "field") if part[key]]
    return [" ".join([part["kind"], *whose]), part["text"]]


def _refusal(answer: httpx.Response) -> Json:
    return {"status": answer.status_code, "detail": answer.json().get("detail")}


def _without_sender(bubbles: list[Json]) -> list[Json]:
    return [{key: value for key, value in bubble.items() if key != "recipient_id"} for bubble in bubbles]


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def _sealed(bundles: list[str], document: Json) -> Json:
    """Return the sums of Bundles, the response in the last one that has one, and the Bundles where they are wanted."""
    number = version("klartext")
    same = [each.replace(f'"{number}"', '"0"').replace(f'"Klartext {number}"', '"Klartext 0"') for each in bundles]
    loaded = [json.loads(each) for each in same]
    responses = [
        entry["resource"]
        for bundle in loaded
        for entry in bundle["entry"]
        if entry["resource"]["resourceType"] == "QuestionnaireResponse"
    ]
    found: Json = {"bundles_sha256": [_sha256(each) for each in same], "response": responses[-1] if responses else None}
    return {**found, "bundles": loaded} if document.get("full") else found


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _veiled(played: Json) -> Json:
    """Replace the texts of somebody else's form by the beginnings of their sums."""
    turns = [{**turn, "got": _summed(turn["got"])} if "got" in turn else turn for turn in played.get("turns", [])]
    veiled = {**played, **({"turns": turns} if turns else {})}
    return {**veiled, **{key: _summed(veiled[key]) for key in ("begun", "end") if key in veiled}}


def _summed(got: Any) -> Any:
    match got:
        case dict():
            return {key: _summed(value) if key not in ("decision", "language") else value for key, value in got.items()}
        case [str(what), str(text)]:
            return [what.split()[0], _sha256(text)[:12]]
        case list():
            return [_summed(each) for each in got]
        case str():
            return _sha256(got)[:12]
        case _:
            return got

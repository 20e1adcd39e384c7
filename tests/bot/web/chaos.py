"""Kill a service again and again while many patients chat, and look for what was lost.

`python -m tests.bot.web.chaos --chats 1000 --kills 20 [--database URL] [--data DIR]` prints the figures and exits 1
unless every patient got exactly the conversation that somebody got before the first kill.

Patients send the turns of a script, some of them an interview, and send each again until it is answered. What they were
answered is then compared, turn by turn, with the transcript, with the same script on an undisturbed service, and with the
interview's events in the database. `cluster.py` does the same to two services behind a proxy.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import ssl
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bot import Settings
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from harness.measuring.service_load import CONVERSATIONS, Client
from tests.bot.web.serving import Server

Json = dict[str, Any]
YES: Json = {"choice": 1}
SCRIPTS: tuple[tuple[Json, ...], ...] = tuple(
    tuple({"text": turn} if isinstance(turn, str) else turn for turn in turns)
    for turns in (
        (
            "Tut das weh?",
            "/easy",
            "Danke",
            "Was kostet das?",
            "Wie lange dauert es?",
            "Darf ich Deo benutzen?",
            "/flag",
        ),
        (YES, "ja", "52", "nein", "Tut das weh?", "weiß nicht", "Pause", "Was kostet das?", "weiter", "nein", "nein"),
        ("Ist das gefährlich?", "Hilfe", "Wann bekomme ich das Ergebnis?", "falsch", "stopp", "", "does it hurt?"),
        ("/interview", "ja", "41", "Ich kriege keine Luft", "nein", "ja", "Polnisch", "zurück", "Türkisch", "nein"),
        ("nein danke", "Kann ich am Tag danach Sport machen?", "Warum?", "Und dann?", "2", "/interview", "ja", "66"),
    )
)
RETRY_S = (0.1, 3.0)  # between attempts while nobody answers: at first, and at most
PATIENCE_S = 600.0  # until a turn must have been answered
RESENT = 0.1  # share of answered turns that are sent again all the same
AGAIN = (429, 503)
AWAY = 502  # a proxy's word for nobody there


@dataclass(frozen=True, slots=True)
class Figures:
    """What came out; `lost` and everything after it must be 0.

    Attributes:
        lost: Acknowledged turns that are not in the transcript.
        duplicated: Turns that are in a transcript more than once, or that nobody was answered.
        disordered: Conversations whose transcript has another order than the answers had.
        changed: Replies that differ from the first answer, from the transcript or from those of an undisturbed service.
        interviews_broken: Interviews whose events or state differ from those on an undisturbed service.
        refused: Replies that the guard kept back, and answers that say that the program failed.
        away: Requests for which a proxy had nobody; they are sent again.
        longest_s: How long a turn took at most, from when it was first sent until it was answered.
    """

    chats: int
    turns: int
    resends: int
    kills: int
    seconds: float
    lost: int
    duplicated: int
    disordered: int
    changed: int
    interviews_broken: int
    refused: int
    away: int = 0
    longest_s: float = 0.0

    @property
    def hold(self) -> bool:
        return not any(
            (self.lost, self.duplicated, self.disordered, self.changed, self.interviews_broken, self.refused)
        )

    def as_text(self) -> str:
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in asdict(self).items())


@dataclass
class Chat:
    """One patient with a script, and what was answered."""

    number: int
    url: str
    script: tuple[Json, ...]
    rng: random.Random
    tls: ssl.SSLContext | None = None
    id: str = ""
    token: str = ""
    answers: list[Json] = field(default_factory=list)
    resends: int = 0
    changed: int = 0
    refused: int = 0
    away: int = 0
    longest_s: float = 0.0

    async def go(self, *, pause_s: float) -> None:
        """Begin, and send every turn until it is answered."""
        client = Client(self.url, self.tls)
        begun = await self._until_answered(client, "POST", CONVERSATIONS, {"consent": True, "language": "de"})
        self.id, self.token = begun["id"], begun["token"]
        for number, said in enumerate(self.script):
            await asyncio.sleep(self.rng.uniform(0, pause_s))
            turn = {"turn_id": f"t{number}", **said}
            path = f"{CONVERSATIONS}/{self.id}/turns"
            sent_s = time.monotonic()
            self.answers.append(await self._until_answered(client, "POST", path, turn))
            self.longest_s = max(self.longest_s, time.monotonic() - sent_s)
            if self.rng.random() < RESENT:
                again = await self._until_answered(client, "POST", path, turn)
                self.resends += 1
                self.changed += again != self.answers[-1]
        client.close()

    async def export(self) -> Json:
        """Return all that is stored."""
        client = Client(self.url, self.tls)
        try:
            return await self._until_answered(client, "GET", f"{CONVERSATIONS}/{self.id}/export")
        finally:
            client.close()

    async def _until_answered(self, client: Client, method: str, path: str, body: Json | None = None) -> Json:
        until, wait_s = time.monotonic() + PATIENCE_S, RETRY_S[0]
        while time.monotonic() < until:
            try:
                status, found = await client.request(method, path, body, token=self.token)
            except (OSError, EOFError):
                status, found = 503, {}
            if status in (200, 201):
                return dict(found)
            self.away += status == AWAY
            self.refused += status not in (*AGAIN, AWAY)
            self.resends += path.endswith("/turns")
            await asyncio.sleep(wait_s * self.rng.uniform(0.5, 1.5))
            wait_s = min(2 * wait_s, RETRY_S[1])
        raise TimeoutError(f"a turn was not answered in {PATIENCE_S} s")


@dataclass(frozen=True, slots=True)
class Kept:
    """What is stored of a chat: its turns, its complaints, and where its interview stands with all events."""

    turns: list[Json]
    flags: list[tuple[str, str]]
    interview: tuple[str, tuple[str, ...]] | None


@dataclass(frozen=True, slots=True)
class Front:
    """Where patients go: to a service, or to a proxy, whose certificate they know."""

    url: str
    tls: ssl.SSLContext | None = None


class Chaos:
    """Kills servers, one after the other, and starts each again before the next, while chats go on."""

    def __init__(self, servers: Sequence[Server], database: str, *, seed: int, front: Front | None = None) -> None:
        """`front`: where patients go; the undisturbed ones go to the first server itself."""
        self._servers = servers
        self._front = front or Front(servers[0].url)
        self._database = database
        self._rng = random.Random(seed)
        self._kills = 0

    async def run(self, *, chats: int, kills: int, up_s: tuple[float, float], pause_s: float) -> Figures:
        """Let patients chat, and kill a service that often while they do, each time after `up_s` seconds, at random."""
        first = Front(self._servers[0].url)
        undisturbed = [self._chat(number, first) for number in range(len(SCRIPTS))]
        for chat in undisturbed:
            await chat.go(pause_s=0)
        expected = await self._look_back(undisturbed)
        disturbed = [self._chat(number, self._front) for number in range(chats)]
        started = time.monotonic()
        talking = asyncio.gather(*(chat.go(pause_s=pause_s) for chat in disturbed))
        killing = asyncio.create_task(self._kill(kills, up_s))
        await talking
        seconds = time.monotonic() - started
        killing.cancel()
        await asyncio.gather(killing, return_exceptions=True)
        found = await self._look_back(disturbed)
        return self._figures(disturbed, found, [expected[chat.number % len(SCRIPTS)] for chat in disturbed], seconds)

    def _chat(self, number: int, front: Front) -> Chat:
        script = SCRIPTS[number % len(SCRIPTS)]
        return Chat(number, front.url, script, random.Random(self._rng.random()), front.tls)

    async def _kill(self, kills: int, up_s: tuple[float, float]) -> None:
        while self._kills < kills:
            await asyncio.sleep(self._rng.uniform(*up_s))
            server = self._servers[self._kills % len(self._servers)]
            self._kills += 1
            # Never cut off half way: the last chats need a running service.
            await asyncio.shield(asyncio.to_thread(_restart, server))

    async def _look_back(self, chats: list[Chat]) -> list[Kept]:
        """Return what is stored of each chat: by the service's word, and of interviews in the database."""
        records = SqlRecords.open(self._database)
        interviews = SqlInterviews(records.engine)
        found = []
        for chat in chats:
            stored, interview = await chat.export(), interviews.interview(chat.id)
            flags = [(flag["turn_id"], flag["reason"]) for flag in stored["flags"]]
            asked = (interview.head, interview.events) if interview is not None else None
            found.append(Kept(stored["turns"], flags, asked))
        records.close()
        return found

    def _figures(self, chats: list[Chat], found: list[Kept], expected: list[Kept], seconds: float) -> Figures:
        triples = list(zip(chats, found, expected, strict=True))
        return Figures(
            chats=len(chats),
            turns=sum(len(chat.answers) for chat in chats),
            resends=sum(chat.resends for chat in chats),
            kills=self._kills,
            seconds=round(seconds, 1),
            lost=sum(len(_ids(chat.answers) - _ids(stored.turns)) for chat, stored, _ in triples),
            duplicated=sum(
                len(stored.turns) - len(_ids(chat.answers) & _ids(stored.turns)) for chat, stored, _ in triples
            ),
            disordered=sum(_order(chat.answers) != _order(stored.turns) for chat, stored, _ in triples),
            changed=sum(
                chat.changed + _changes(chat.answers, stored.turns) + _changes(stored.turns, known.turns)
                for chat, stored, known in triples
            ),
            interviews_broken=sum(
                (stored.interview, stored.flags) != (known.interview, known.flags) for _, stored, known in triples
            ),
            refused=sum(chat.refused for chat in chats)
            + sum(server.stderr().count("reply refused") for server in self._servers),
            away=sum(chat.away for chat in chats),
            longest_s=round(max(chat.longest_s for chat in chats), 1),
        )


def _restart(server: Server) -> None:
    server.kill()
    server.start()


def _ids(turns: list[Json]) -> set[str]:
    return {turn["turn_id"] for turn in turns}


def _order(turns: list[Json]) -> list[tuple[str, int]]:
    return [(turn["turn_id"], turn["number"]) for turn in turns]


def _changes(turns: list[Json], others: list[Json]) -> int:
    """Count turns whose reply is another one: what was said, and when, does not matter."""
    known: Mapping[str, Json] = {turn["turn_id"]: turn for turn in others}
    return sum(turn["reply"] != known.get(turn["turn_id"], {}).get("reply") for turn in turns)


def main() -> int:
    """Run from the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--chats", type=int, default=1000)
    options.add_argument("--kills", type=int, default=20)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--database", help="SQLAlchemy URL; default: SQLite in a new folder")
    options.add_argument("--data", type=Path, default=Settings.from_environment().data)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = chosen.database or f"sqlite:///{folder}/klartext.db"
        server = Server(Path(folder), chosen.data, {"KLARTEXT_DATABASE_URL": database})
        server.start()
        try:
            chaos = Chaos([server], database, seed=chosen.seed)
            figures = asyncio.run(chaos.run(chats=chosen.chats, kills=chosen.kills, up_s=(0.2, 3), pause_s=30))
        finally:
            server.kill()
    print(figures.as_text())
    return 0 if figures.hold and figures.kills == chosen.kills else 1


if __name__ == "__main__":
    sys.exit(main())

"""Two services on two loopback hosts behind a real nginx, on one PostgreSQL; one is killed under load, then the other.

`python -m tests.bot.web.cluster --chats 200 --kills 4` starts all of it (the proxy with the file that is shipped), lets
patients chat as `chaos.py` does, measures turns a second of one service and of two, prints the figures, and exits 1
unless every patient got exactly the conversation that somebody got before the first kill.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from bot import Settings
from harness.measuring.service_load import Job, measure
from tests.bot.web.chaos import Chaos, Figures, Front
from tests.bot.web.serving import Server
from tests.nginx import Nginx, running_nginx
from tests.postgresql import running_postgresql

DATABASE = "KLARTEXT_DATABASE_URL"
HOSTS = ("127.0.0.1", "127.0.0.2")
LONGEST_S = 60.0  # that a turn may take while a service is killed and starts again: as long as nginx waits for one
ASKED = ("Tut das weh?", "Was kostet das?", "Wie lange dauert es?", "Darf ich Deo benutzen?", "Ist das gefährlich?")


@dataclass(frozen=True)
class Cluster:
    """What runs.

    Attributes:
        servers: The services, each with a data folder and an audit log of its own.
        nginx: In front of both.
        database: Theirs.
    """

    servers: tuple[Server, ...]
    nginx: Nginx
    database: str

    @property
    def front(self) -> Front:
        return Front(self.nginx.url, self.nginx.tls)

    def turns(self) -> list[int]:
        """Return how many turns each service has taken since its start."""
        return [_turns(server.url) for server in self.servers]

    def kill(self, *, chats: int, kills: int, pause_s: float, seed: int = 5) -> Figures:
        """Let patients chat through the proxy, and kill the services in turn while they do."""
        chaos = Chaos(self.servers, self.database, seed=seed, front=self.front)
        return asyncio.run(chaos.run(chats=chats, kills=kills, up_s=(0.5, 2.0), pause_s=pause_s))

    def turns_per_s(self, front: Front, *, patients: int = 16, turns: int = 16) -> float:
        """Return how many turns a second are answered at an address, to so many patients at once."""
        measured = asyncio.run(measure(Job(front.url, patients, turns, ASKED), front.tls))
        return len(measured.seconds) / measured.elapsed_s


def two_servers(folder: Path, data: Path, environ: Mapping[str, str], *, faults: str = "") -> list[Server]:
    """Return services that are not started yet: as on two machines, with nothing in common but database and settings."""
    made = []
    for host in HOSTS:
        own = folder / host
        own.mkdir(parents=True)
        if data.is_dir():
            shutil.copytree(data, own / "data", ignore=shutil.ignore_patterns("klartext.db*", "audit*"))
        settings = {**environ, "KLARTEXT_TRUSTED_PROXIES": "127.0.0.1"}
        made.append(Server(own, own / "data", settings, host=host, faults=faults))
    return made


@contextmanager
def cluster(folder: Path, servers: list[Server], database: str, *, sample: bool = True) -> Iterator[Cluster]:
    """Start services at the same moment, on a database that may be empty, and the proxy before them."""
    try:
        for server in servers:
            server.begin(sample=sample)
        for server in servers:
            server.wait_until_ready()
        behind = [server.url.removeprefix("http://") for server in servers]
        with running_nginx(folder, behind) as nginx:
            yield Cluster(tuple(servers), nginx, database)
    finally:
        for server in servers:
            with suppress(AssertionError):  # it was not started
                server.kill()


def _turns(url: str) -> int:
    families = text_string_to_metric_families(httpx.get(url + "/metrics").text)
    samples = (sample for family in families for sample in family.samples)
    return int(sum(sample.value for sample in samples if sample.name == "klartext_turns_total"))


def main() -> int:
    """Run from the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--chats", type=int, default=200)
    options.add_argument("--kills", type=int, default=4)
    options.add_argument("--pause", type=float, default=10.0, help="seconds between two turns of a patient, at most")
    options.add_argument("--data", type=Path, default=Settings.from_environment().data)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name, running_postgresql(Path(name)) as database:
        folder = Path(name)
        with cluster(folder, two_servers(folder, chosen.data, {DATABASE: database}), database) as running:
            one, two = Front(running.servers[0].url), running.front
            for label, front in (("one service, asked directly", one), ("two behind the proxy", two)) * 2:
                print(f"{label}: {running.turns_per_s(front):.0f} turns/s", flush=True)
            figures = running.kill(chats=chosen.chats, kills=chosen.kills, pause_s=chosen.pause)
            shared = running.turns()
    print(f"{figures.as_text()}; turns since the last start of each {shared}")
    is_whole = figures.hold and figures.kills == chosen.kills and figures.longest_s <= LONGEST_S
    return 0 if is_whole and all(shared) else 1


if __name__ == "__main__":
    sys.exit(main())

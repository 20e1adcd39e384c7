"""Patients who all write at once on Rasa's REST channel, in a process of their own."""

from __future__ import annotations

import asyncio
import json
import sys
import time
import uuid
from dataclasses import asdict, dataclass

from harness.measuring.service_load import BadAnswer, Client, Job, LoadTimes

CHANNEL = "/webhooks/rest/webhook"


@dataclass(frozen=True, slots=True)
class ChannelTimes(LoadTimes):
    """How long messages took, and how busy who sent them was.

    Attributes:
        client: Share of the time in which this process used a processor: close to 1, it is itself what is measured.
    """

    client: float


async def measure(job: Job, token: str) -> ChannelTimes:
    """Let all patients write message after message; the first of each is not timed."""
    clients = [Client(job.url) for _ in range(job.patients)]
    starts = [(number * job.turns) % len(job.texts) for number in range(job.patients)]
    texts = [(job.texts[start:] + job.texts[:start])[: job.turns] for start in starts]
    arguments = [(client, uuid.uuid4().hex, said) for client, said in zip(clients, texts, strict=True)]
    try:
        await asyncio.gather(*(_write(client, sender, said[:1], token) for client, sender, said in arguments))
        started, used_s = time.perf_counter(), time.process_time()
        seconds = await asyncio.gather(*(_write(client, sender, said[1:], token) for client, sender, said in arguments))
        elapsed_s = time.perf_counter() - started
        busy = (time.process_time() - used_s) / elapsed_s
    finally:
        for client in clients:
            client.close()
    return ChannelTimes([second for each in seconds for second in each], elapsed_s, busy)


async def _write(client: Client, sender: str, texts: tuple[str, ...], token: str) -> list[float]:
    """Send texts one after the other, each when the one before is answered; return the seconds of each."""
    seconds = []
    for text in texts:
        started = time.perf_counter()
        status, said = await client.request("POST", CHANNEL, {"sender": sender, "message": text}, token=token)
        if status != 200 or not said:
            raise BadAnswer(f"The channel answered {status} with {len(said)} bubbles under load.")
        seconds.append(time.perf_counter() - started)
    return seconds


def main() -> None:
    """Read a job and a token, write what was measured."""
    told = json.load(sys.stdin)
    job = Job(**{**told["job"], "texts": tuple(told["job"]["texts"])})
    json.dump(asdict(asyncio.run(measure(job, told["token"]))), sys.stdout)


if __name__ == "__main__":
    main()

"""Thousands of items in an inbox and of pairs: for measuring pages. `python -m tests.bot.web.staff.many_items`."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import yaml
from sqlalchemy import func, insert, select
from sqlalchemy.engine import Engine

from bot.adapters.sql_inbox import ItemRow, SqlInbox
from bot.adapters.sql_tables import TurnRow
from bot.editorial.inbox import KINDS, Wanted
from bot.web.middleware import CONSOLE
from tests.bot.release.exams import write_exam
from tests.bot.web.staff.consoles import running_console
from tests.postgresql import running_postgresql

WORDS = [
    "can",
    "I",
    "park",
    "bring",
    "my",
    "dog",
    "before",
    "after",
    "scan",
    "gown",
    "result",
    "letter",
    "doctor",
    "sit",
    "hold",
    "breath",
    "phone",
    "wifi",
]
A_CLUSTER = 8  # items, on average


def fill_inbox(engine: Engine, count: int) -> None:
    """Add so many items to what is there."""
    rng = random.Random(count)
    with engine.begin() as connection:
        first = (connection.scalar(select(func.max(TurnRow.id))) or 0) + 1
        turns, items = [], []
        for number in range(first, first + count):
            text = " ".join(rng.choices(WORDS, k=9))
            at = datetime.now(UTC) - timedelta(minutes=rng.randrange(20_000))
            cluster = rng.randrange(1, count // A_CLUSTER + 2) + first
            turn = {"id": number, "conversation": f"many-{number}", "at": at, "language": rng.choice(["de", "en"])}
            turns.append({**turn, "question": text, "decision": "declined", "score": 0.1, "catalog": "small@1"})
            item: dict[str, object] = {
                "turn": number,
                "kind": rng.choice(KINDS),
                "text": text,
                "cluster": cluster,
                "place": number,
            }
            item |= {"pair": "pain", "probability": rng.random(), "state": "open", "batch": "", "by": ""}
            items.append({**item, "target": "", "added": "", "note": ""})
        connection.execute(insert(TurnRow), turns)
        connection.execute(insert(ItemRow), items)


def many_pairs(folder: Path, count: int) -> Path:
    """Write an exam of so many pairs in two languages; return its folder."""
    exam = write_exam(folder, languages=("de", "en"))
    for language in ("de", "en"):
        path = exam / f"{language}.yaml"
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        one = {**document["pairs"][0], "variants": [f"variant {number}" for number in range(20)]}
        document["pairs"] = [{**one, "id": f"p{number}"} for number in range(count)]
        path.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    return exam


def _measured(url: str, count: int, pairs: int) -> None:
    """Print how long pages of a console take on the server, in milliseconds: the median of seven."""
    with TemporaryDirectory() as folder:
        exam = many_pairs(Path(folder) / "content", pairs)
        _measure_with(Path(folder), exam, url, count)


def _measure_with(folder: Path, exam: Path, url: str, count: int) -> None:
    with running_console(folder, database=url, exam=exam) as staff:
        inbox = staff.console.tools.inbox
        assert isinstance(inbox, SqlInbox)
        fill_inbox(inbox.engine, count)
        browser = staff.logged_in("cara", "curator")
        cluster = inbox.rows(Wanted())[0].cluster
        for label, address in (
            ("list", "/inbox"),
            ("last page", "/inbox?page=90"),
            ("filtered", "/inbox?kind=urgent&language=de"),
            ("search", "/inbox?search=park+dog"),
            ("group", f"/inbox/{cluster}"),
            ("pairs", "/pairs?q=p19&sort=until"),
        ):
            times = []
            for _ in range(8):
                started = time.perf_counter()
                assert browser.client.get(f"{CONSOLE}{address}").status_code == 200
                times.append(1000 * (time.perf_counter() - started))
            print(
                f"{url.split(':', maxsplit=1)[0] or 'sqlite'} {count} {label}: {median(times[1:]):.0f} ms, first {times[0]:.0f} ms"
            )


if __name__ == "__main__":
    _measured("", 20_000, 2_000)
    with TemporaryDirectory() as place, running_postgresql(Path(place)) as server:
        _measured(server, 20_000, 2_000)

"""Thousands of items in an inbox, written as rows: for measuring pages. `python -m tests.bot.web.staff.many_items`."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, insert, select
from sqlalchemy.engine import Engine

from bot.adapters.sql_inbox import ItemRow
from bot.adapters.sql_tables import TurnRow
from bot.editorial.inbox import KINDS

WORDS = "can I park bring my dog before after scan gown result letter doctor sit hold breath phone wifi".split()
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
            item = {"turn": number, "kind": rng.choice(KINDS), "text": text, "cluster": cluster, "place": number}
            item |= {"pair": "pain", "probability": rng.random(), "state": "open", "batch": "", "by": ""}
            items.append({**item, "target": "", "added": "", "note": ""})
        connection.execute(insert(TurnRow), turns)
        connection.execute(insert(ItemRow), items)

"""Questions of patients in a database, as a service stores them, for tests of the inbox."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from bot.ports import Exchange, FlagReason, Records, StoredConversation, StoredFlag, StoredTurn
from tests.bot.web.staff.consoles import now


def ask(
    records: Records,
    id_: str,
    question: str,
    *,
    decision: str = "declined",
    language: str = "en",
    complains: bool = False,
    flag: FlagReason | None = None,
    at: datetime | None = None,
) -> None:
    """Store a conversation of one turn that was decided so."""
    moment = at or now() - timedelta(hours=2)
    records.begin(StoredConversation(id_, moment, language, "page"))
    state = json.dumps({"complaint": "today" if complains else None})
    exchange = Exchange(1, "t1", question, "{}", state)
    pair = "costs" if decision == "answered" else None
    records.add_turn(StoredTurn(id_, moment, language, question, decision, pair, 0.5, "small@1", exchange))
    if flag is not None:
        records.flag(id_, StoredFlag("t1", flag, "", moment))

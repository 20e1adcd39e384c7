"""What comes first where a message may be several things: the table in `docs/architecture.md`, row by row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.interview.values.fhir_json import dump
from bot.ports import StoredConversation
from bot.sentences.reply import Content, Interface, Reply, SiteText
from bot.talk.conversation import Conversation
from bot.talk.interviewing import Interviewer
from tests.bot.interview.resources import form, item
from tests.bot.talk.test_alarm_exits import NOW

ASKED = item("complaints", "text", text="Which complaints do you have?")
LAST = item("since", "date", text="Since when?")
# Row of the table, message, whether the open question of an interview stands before it, and how the reply shows it.
ROWS = (
    ("red flag by rule", "I can't breathe", True, "urgent"),
    ("answer to the open question", "a lump in my left breast", True, "form"),
    (
        "alarm by model",
        "thank you, but my husband has just slumped down and his lips are turning blue",
        False,
        "urgent",
    ),
    ("feelings and manners", "ok got it, no deodorant then, thank you", False, "fixed"),
    ("another language", "Yarın randevum var, yanımda ne getirmem gerekiyor acaba", False, "foreign"),
    ("complaint", "my left nipple has been weeping for a week", False, "complaint"),
    ("pair", "does it hurt?", False, "answered"),
    ("site facts", "Is there somewhere to park when I come to you?", False, "place"),
    ("decline", "Which horse won the race in Ascot?", False, "declined"),
)


def test_the_table_has_these_rows_in_this_order() -> None:
    text = (Path(__file__).parents[3] / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("### Order of precedence")[1].split("\n\n")[2]
    rows = re.findall(r"^\| \d+ \| ([^|]+?) \|", table, re.MULTILINE)

    assert rows == [name for name, *_ in ROWS]


@pytest.mark.parametrize(("row", "text", "asking", "seen"), ROWS)
def test_the_row_wins_over_all_below_it(
    shipped: Assistant, records: SqlRecords, row: str, text: str, asking: bool, seen: str
) -> None:
    opened = StoredConversation("c", NOW, "en", "api")
    interviewer = Interviewer(dump(form(ASKED, LAST, title="Questions")), SqlInterviews(records.engine), "c")
    talk = Conversation.open(shipped, records, opened, interviewer=interviewer)
    if asking:
        talk.turn("/interview", at=NOW)

    assert _seen(talk.turn(text, at=NOW), asking) == seen, row


def _seen(reply: Reply, asking: bool) -> str:
    keys = [part.key for part in reply.parts if isinstance(part, Interface)]
    content = [part.pair_id for part in reply.parts if isinstance(part, Content)]
    if any(key.startswith("urgent") for key in keys):
        return "urgent"
    if any(key.startswith("foreign") for key in keys):
        return "foreign"
    if any(key.startswith("complaint_") for key in keys):
        return "complaint"
    if content:
        return "answered"
    if any(isinstance(part, SiteText) for part in reply.parts[:1]):
        return "place"
    if asking:
        return "form"
    return "declined" if keys[0].startswith("declined") else "fixed"

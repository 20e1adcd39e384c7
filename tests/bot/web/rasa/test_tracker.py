"""What a tracker is told of an interview."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.interview.values.fhir_json import dump
from bot.ports import StoredConversation
from bot.talk.conversation import Conversation, Message
from bot.talk.interviewing import Interviewer
from bot.web.rasa.tracker import Stand, Tracker, events
from tests.bot.interview.resources import form, item

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
COMPLAINTS = form(
    item(
        "complaint",
        "group",
        item("kind", "string", text="Was?"),
        item("side", "string", text="Wo?", repeats=True),
        item("since", "string", text="Seit wann?"),
        text="Beschwerde",
        repeats=True,
    ),
    item("note", "string", text="Noch etwas?"),
    item("names", "string", text="Namen?", repeats=True),
)


def test_answers_of_groups_that_repeat_stay_beside_each_other(small: Assistant, records: SqlRecords) -> None:
    interviewer = Interviewer(dump(COMPLAINTS), SqlInterviews(records.engine), "c1")
    opened = StoredConversation("c1", NOW, "de", "terminal")
    conversation = Conversation.open(small, records, opened, interviewer=interviewer)
    first = ("überspringen", "links", "nein", "seit Mai")
    second = ("Knoten", "rechts", "ja", "oben", "nein", "überspringen")
    said = ("/interview", "ja", *first, "ja", *second, "nein", "nichts weiter", "überspringen")
    for number, text in enumerate(said):
        taken = conversation.take(Message(f"t{number}", text), at=NOW)
    names = [f"item_{each}" for each in ("kind", "side", "since", "note", "names")]

    found = events(Stand("c1", taken, conversation.filled(at=NOW)), Tracker(dict.fromkeys(names, "of before")))

    told: dict[str, Any] = {each["name"]: each["value"] for each in found if each["event"] == "slot"}
    assert told["item_kind"] == [None, "Knoten"]
    assert told["item_side"] == [["links"], ["rechts", "oben"]]
    assert told["item_since"] == ["seit Mai", None]
    assert (told["item_note"], told["item_names"]) == ("nichts weiter", None)

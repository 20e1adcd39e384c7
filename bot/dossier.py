"""Everything that is stored of one conversation, for a patient who asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from bot.errors import BadData
from bot.interview.answer import JsonValue
from bot.interview.fhir_json import NotJson, parse
from bot.outbox_ports import Outbox
from bot.ports import Interviews, Records, StoredConversation, StoredTurn

Json = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Archive:
    """Where conversations are stored."""

    records: Records
    interviews: Interviews
    outbox: Outbox

    def dossier(self, id_: str) -> Json:
        """Return all of a conversation but the hash of its token.

        Raises:
            BadData: There is no such conversation.
        """
        opened, turns = self.records.conversation(id_), self.records.turns(id_)
        interview, entries = self.interviews.interview(id_), self.outbox.entries(id_)
        if opened is None and interview is None and not turns and not entries:
            raise BadData(f"There is no conversation {id_!r} in the database. Check the id and `--data`.")
        found: Json = {"id": id_, "conversation": _conversation(opened) if opened else None}
        found["turns"] = [_turn(turn) for turn in turns]
        found["flags"] = [
            {"turn_id": flag.turn_id, "reason": flag.reason, "comment": flag.comment, "at": _moment(flag.at)}
            for flag in self.records.flags(id_)
        ]
        if interview is not None:
            found["interview"] = {
                "changed_at": _moment(interview.changed_at),
                "state": _json(interview.head),
                "events": [_json(event) for event in interview.events],
            }
        found["outbox"] = [
            {
                "put_at": _moment(each.put_at),
                "accepted_at": _moment(each.accepted_at) if each.accepted_at else None,
                "bundle": _json(each.bundle) if each.bundle else None,
            }
            for each in entries
        ]
        return found

    def erase(self, id_: str) -> Json:
        """Delete a conversation and return what there was of it."""
        found = self.dossier(id_)
        self.records.erase(id_)
        return found


def _conversation(opened: StoredConversation) -> Json:
    return {
        "begun": _moment(opened.begun),
        "language": opened.language,
        "channel": opened.channel,
        "consented": opened.consented,
        "patient": opened.patient,
    }


def _turn(turn: StoredTurn) -> Json:
    found: Json = {
        "at": _moment(turn.at),
        "language": turn.language,
        "question": turn.question,
        "decision": turn.decision,
        "pair_id": turn.pair_id,
        "score": Decimal(str(turn.score)),
        "catalog": turn.catalog,
    }
    exchange = turn.exchange
    if exchange is not None:
        found |= {
            "number": exchange.number,
            "turn_id": exchange.turn_id,
            "said": exchange.said,
            "choice": exchange.choice,
            "reply": _json(exchange.reply),
            "state": _json(exchange.state),
        }
    return found


def _json(text: str) -> JsonValue:
    """Return stored JSON as JSON; what is damaged, as it is."""
    try:
        return parse(text).value
    except NotJson:
        return text


def _moment(at: datetime) -> str:
    return at.isoformat()

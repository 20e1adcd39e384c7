"""A finished patient conversation, as `klartext records export` writes it: read, and shown to a model without ids."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot import BadData
from harness.files import unreadable

_NAMES = {"de": ("Patient/in", "Programm", "freigegebene Antwort"), "en": ("Patient", "Program", "approved answer")}
_FINISHED = "completed"
# Content with which the program asks the patient something: what they say to it cannot be read without these words.
_ASKED = frozenset({"question", "quiz_context", "quiz_question", "quiz_option"})


@dataclass(frozen=True, slots=True)
class Conversation:
    """What of a stored conversation a summary needs; patient text.

    Attributes:
        id: As it is stored.
        language: Of its last turn.
        patient: Pseudonym; empty where none was given.
        lines: (who, text), in their order. Approved answers are named by their pair, not repeated.
    """

    id: str
    language: str
    patient: str
    lines: tuple[tuple[str, str], ...]

    def as_text(self) -> str:
        """Return the conversation as a model sees it: no ids, no moments."""
        return "\n".join(f"{who}: {text}" for who, text in self.lines)


def read_conversation(path: Path) -> Conversation:
    """Read an exported conversation that is finished.

    Raises:
        BadData: The file is no such export, its interview is not finished, or the patient said nothing.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = unreadable(error) if isinstance(error, OSError | UnicodeDecodeError) else "it is no JSON"
        raise BadData(f"{path} cannot be read ({why}). {_REMEDY}") from error
    if isinstance(record, dict) and isinstance(record.get("conversations"), list):
        raise BadData(
            f"{path} holds {len(record['conversations'])} conversations of a patient. Export the one by its id: {_HOW}."
        )
    try:
        return _conversation(record, path)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadData(f"{path} is no exported conversation. {_REMEDY}") from error


_HOW = "`klartext records export ID --out FILE`"
_REMEDY = f"Give a file that {_HOW} wrote."


def _conversation(record: Mapping[str, Any], path: Path) -> Conversation:
    turns, opened = record["turns"], record.get("conversation") or {}
    interview = record.get("interview")
    if interview is not None and (state := interview["state"].get("status")) != _FINISHED:
        raise BadData(
            f"The interview of the conversation in {path} is not finished ({state or 'it has no state'}). "
            "Summarise it when the patient has agreed to the answers, or was asked none."
        )
    language = str(turns[-1]["language"] if turns else opened["language"])
    lines = tuple(line for turn in turns for line in _lines(turn, language))
    if not any(who == _NAMES.get(language, _NAMES["en"])[0] for who, _ in lines):
        raise BadData(f"In the conversation in {path} the patient said nothing. {_REMEDY}")
    return Conversation(
        id=str(record["id"]),
        language=language,
        patient=str(opened.get("patient") or ""),
        lines=lines,
    )


def _lines(turn: Mapping[str, Any], language: str) -> Iterator[tuple[str, str]]:
    patient, program, approved = _NAMES.get(language, _NAMES["en"])
    said = " ".join(str(turn.get("said") or turn.get("question") or "").split())
    if said:
        yield patient, said
    reply = turn.get("reply")
    parts = reply["parts"] if isinstance(reply, dict) else []
    shown: dict[str, None] = {}
    for part in parts:
        if part["kind"] == "Content" and part.get("field") not in _ASKED:
            shown[f"[{approved}: {part['pair_id']}]"] = None
        elif part.get("text") and part.get("key") != "sample_label":
            shown[" ".join(str(part["text"]).split())] = None
    choices = reply.get("choices", []) if isinstance(reply, dict) else []
    shown.update((f"({number}) {choice['text']}", None) for number, choice in enumerate(choices, 1))
    if shown:
        yield program, " ".join(shown)

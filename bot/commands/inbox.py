"""Questions that wait for curators, as rows for people, CSV for spreadsheets and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

import numpy as np

from bot.catalog.exchange.tables import no_formula
from bot.commands.moments import local_zone, moment
from bot.curation.cluster_report import studied
from bot.curation.clusters import Cluster, Open, Suggest, cluster
from bot.curation.scrub import scrub
from bot.errors import BadData
from bot.outbox_ports import pseudonym
from bot.ports import Complaint, Encoder, KeptTurn
from bot.settings import Settings
from bot.wiring import make_records

State = Literal["unanswered", "asked back", "flagged wrong", "flagged complicated"]
_DECIDED: dict[str, State] = {"declined": "unanswered", "clarify": "asked back"}
_FLAGGED: dict[Complaint, State] = {"wrong": "flagged wrong", "complicated": "flagged complicated"}
COLUMNS = ("id", "at", "language", "states", "pair_id", "in_logs", "question")
ENCODED = 512  # questions at a time
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class InboxItem:
    """A question with what is open about it.

    Attributes:
        id: Number of the turn in this database.
        at: When, in the time of the place.
        states: What is open; more than one where an unanswered question was flagged as well.
        pair_id: The pair that answered; empty where none did.
        in_logs: Pseudonym of the conversation, for `klartext records find --pseudonym`; empty where the question was
            kept without it.
    """

    id: int
    at: datetime
    language: str
    states: tuple[State, ...]
    pair_id: str
    in_logs: str
    question: str

    def as_json(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in COLUMNS} | {"at": self.at.isoformat(), "states": [*self.states]}


def read_inbox(settings: Settings, since: str | None, exam: str | None = None) -> list[InboxItem]:
    """Return what is open, oldest first; `exam`: of one exam only.

    Raises:
        UserFixable: `since` is no moment.
    """
    zone = local_zone(settings)
    first = moment(since, "--since", zone) if since is not None else None

    def item(kept: KeptTurn) -> InboxItem:
        turn = kept.turn
        return InboxItem(
            id=kept.number,
            at=turn.at.astimezone(zone),
            language=turn.language,
            states=tuple(_states(kept)),
            pair_id=turn.pair_id or "",
            in_logs=pseudonym(turn.conversation) if turn.conversation else "",
            question=turn.question,
        )

    kept = make_records(settings).inbox(since=first)
    return [item(each) for each in kept if exam is None or each.turn.catalog.partition("@")[0] == exam]


def _states(kept: KeptTurn) -> Iterator[State]:
    if kept.turn.decision in _DECIDED:
        yield _DECIDED[kept.turn.decision]
    yield from (_FLAGGED[flag] for flag in kept.flags)


def scrubbed(items: Sequence[InboxItem]) -> list[InboxItem]:
    """Return the items with marks in place of personal data; who passes a question on reads it first."""
    return [replace(each, question=scrub(each.question, each.language).text) for each in items]


def clusters(items: Sequence[InboxItem], encoder: Encoder, suggest: Suggest | None) -> list[Cluster]:
    """Return the items put together by meaning, as their questions read."""
    questions = [Open(each.id, each.language, each.question) for each in items]
    vectors = [encoder.encode([each.text for each in questions[at : at + ENCODED]]) for at in _starts(questions)]
    return cluster(questions, np.vstack(vectors), suggest=suggest) if questions else []


def _starts(questions: Sequence[Open]) -> range:
    return range(0, len(questions), ENCODED)


def study_files(files: Sequence[Path], encoder: Encoder) -> Iterator[str]:
    """Yield, language by language, how well the questions of suites are put together.

    Raises:
        BadData: A file is missing, or a line has no text or language.
    """
    asked: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in files:
        if not path.is_file():
            raise BadData(f"There is no file {str(path)!r}. Give the questions.jsonl of a suite.")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                said = json.loads(line)
                language, text, pair = said["lang"], said["text"], said.get("pair_id")
            except (ValueError, KeyError, TypeError, AttributeError):
                raise BadData(f"{path}, line {number}: an object with `text` and `lang` is wanted.") from None
            asked[language] += [(text, pair)] if pair else []
    for language, questions in asked.items():
        if len(questions) < 2:
            raise BadData(f"{len(questions)} questions in {language!r} have a `pair_id`; at least 2 are needed.")
        yield f"{language}:"
        opens = [Open(number, language, text) for number, (text, _) in enumerate(questions)]
        vectors = np.vstack([encoder.encode([each.text for each in opens[at : at + ENCODED]]) for at in _starts(opens)])
        yield from studied(opens, vectors, [pair for _, pair in questions])


def as_groups(found: Sequence[Cluster]) -> Iterator[str]:
    """Yield a line a group: how many, language, the pair that fits best with its probability, one question of them."""
    for each in found:
        suggested = f"{each.suggestion.pair_id} {each.suggestion.probability:.2f}" if each.suggestion.pair_id else "-"
        yield f"{each.size:6}  {each.language}  {suggested:28}  {each.representative.text}"


def group_as_json(each: Cluster) -> dict[str, object]:
    return {
        "size": each.size,
        "language": each.language,
        "question": each.representative.text,
        "ids": [member.id for member in each.members],
        "pair_id": each.suggestion.pair_id,
        "probability": round(each.suggestion.probability, 4),
    }


def as_rows(items: Sequence[InboxItem]) -> Iterator[str]:
    for each in items:
        state = ", ".join(each.states) + (f": {each.pair_id}" if each.pair_id else "")
        about = f"{each.at:%Y-%m-%d %H:%M %Z}  {each.language}  {each.in_logs:12}  {state:12}"
        yield f"{each.id:6}  {about}  {each.question}"


def counted(items: Sequence[InboxItem]) -> str:
    """Return how many are open, and how many of each state."""
    counts = Counter(state for each in items for state in each.states)
    return ", ".join([f"{len(items)} open", *(f"{count} {state}" for state, count in counts.items())])


def as_csv(items: Sequence[InboxItem]) -> str:
    """Return a table; what a spreadsheet would take for a formula stands behind an apostrophe."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(COLUMNS)
    for each in items:
        values = {**each.as_json(), "states": ", ".join(each.states)}
        table.writerow([no_formula(str(values[name])) for name in COLUMNS])
    return file.getvalue()

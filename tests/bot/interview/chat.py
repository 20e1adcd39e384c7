"""A patient at the keyboard, for tests: every reply passes the guard, every state survives storage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bot.catalog.fhir_files import shipped_questionnaires, shipped_synonyms, shipped_terminology
from bot.interview.form.form import Path
from bot.interview.form.indexed import index_questionnaire
from bot.interview.form.texts import Synonyms
from bot.interview.load import load_form
from bot.interview.manners.interview import Interview
from bot.interview.manners.session import Session, head_to_json, session_from_json
from bot.interview.manners.turn import Turn
from bot.interview.validate.response import check_response
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, as_object, dump, parse
from bot.interview.walk.assemble import Heading
from bot.interview.walk.filling import event_to_json
from bot.sentences.reply import Heard, guard, read_reply, repeated, reply_of, write_reply

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
AUTHORED = "2026-11-22T10:31:00+00:00"


def mammography() -> JsonObject:
    """The shipped Questionnaire."""
    (found,) = (each for each in shipped_questionnaires() if each.get("id") == "mammography-history")
    return found


class Chat:
    """One interview under test; `said` holds the texts of the last reply, `choices` what it offers by number."""

    session: Session

    def __init__(
        self,
        questionnaire: JsonObject,
        language: str = "de",
        synonyms: Mapping[str, Synonyms] | None = None,
        **launch: Any,
    ) -> None:
        self.questionnaire = questionnaire
        form = load_form(questionnaire, known=shipped_terminology(), synonyms=synonyms or shipped_synonyms())
        self.interview = Interview(form, now=NOW, launch=launch)
        self.language = language
        self.aside = "no"
        self._took(self.interview.begin(language))

    def say(self, *texts: str) -> Chat:
        """Say something; a question that nobody answers comes back as such."""
        for text in texts:
            turn = self.interview.turn(self.session, text)
            self._took(turn)
            self.aside = turn.aside
            if turn.aside != "no":
                self._took(self.interview.not_answered(turn.session, text))
        return self

    def ask(self, text: str) -> Chat:
        """Ask something that the assistant will answer."""
        turn = self.interview.turn(self.session, text)
        self._took(turn)
        self.aside = turn.aside
        return self

    def resume(self) -> Chat:
        """Go on as after a pause."""
        self._took(self.interview.resume(self.session))
        return self

    def killed(self) -> Chat:
        """Go on in another process, with nothing but what was stored."""
        self.session = self.interview.open(stored(self.session))
        return self

    def _took(self, turn: Turn) -> None:
        form, reply = self.interview.form, reply_of(turn.said, self.interview.form)
        guard(reply, None, shown=frozenset(), heard=Heard(form, self.interview.heard(turn.session)))
        # A transcript shows the reply again, when what it repeats may have been changed.
        again = read_reply(write_reply(reply))
        assert again == reply
        guard(again, None, shown=frozenset(), heard=Heard(form, repeated([again])))
        self.session = turn.session
        self.parts = reply.parts
        self.said = [part.text for part in reply.parts]
        self.choices = [part.text for part in reply.choices]

    @property
    def keys(self) -> list[str]:
        """The sentences of the program in the last reply, by key."""
        return [part.key for part in self.parts if hasattr(part, "key")]

    @property
    def open(self) -> str:
        """What waits for the patient, in short: ``question age``, ``another g``, ``summary``."""
        waiting = self.interview.open_question(self.session)
        return f"{waiting.kind} {waiting.link_id}".strip()

    @property
    def status(self) -> str:
        return self.session.status

    def response(self) -> dict[str, Any]:
        return self.interview.response(self.session, Heading("", AUTHORED))

    def value(self, *path: str | tuple[str, int]) -> Any:
        """The value of the only answer at a place; None where there is none."""
        (answer,) = self.answers(*path) or (None,)
        return answer

    def answers(self, *path: str | tuple[str, int]) -> list[Any]:
        place: Path = tuple((step, 0) if isinstance(step, str) else step for step in path)
        return [answer.value for answer in self.session.filling.at(place)]

    def errors(self) -> list[str]:
        """What is wrong with the response."""
        form = index_questionnaire(self.questionnaire)
        findings = check_response(self.response(), form, known=shipped_terminology(), now=NOW.isoformat())
        return [f"{finding.path}: {finding.text}" for finding in findings if finding.is_error]


def stored(session: Session) -> Session:
    """Return a session as it comes back from storage."""
    events: list[JsonValue] = [event_to_json(event) for event in session.events]
    back = session_from_json(as_object(parse(dump({**head_to_json(session), "events": events})).value))
    assert back == replace(session, filling=back.filling)
    return back

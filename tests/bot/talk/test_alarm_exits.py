"""Every alarm has an exit that works: in any state, in both languages, by the button and in words; and it is told once."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.interview.manners.interview import Open
from bot.interview.values.fhir_json import dump
from bot.ports import StoredConversation
from bot.sentences.reply import SENTENCES, Interface
from bot.talk.conversation import Conversation, Message, Taken
from bot.talk.interviewing import Interviewer
from bot.talk.messages import calls_off
from tests.bot.interview.resources import coding, form, item

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
KINDS = [
    coding("a", display="Knoten"),
    coding("b", display="Schmerzen an der Brust"),
    coding("c", display="Nichts davon"),
]
FORM = dump(
    form(
        item("consent", "boolean", text="Einverstanden?"),
        item("age", "integer", text="Wie alt?"),
        item("kind", "choice", text="Was ist es?", answerOption=KINDS),
        item("kinds", "open-choice", text="Was noch?", repeats=True, answerOption=KINDS),
        item("when", "date", text="Seit wann?"),
        item("long", "quantity", text="Wie lange?"),
        item("group", "group", item("name", "string", text="Wer?"), repeats=True, text="Verwandte"),
        item("notes", "text", text="Was noch?", repeats=True),
        title="Fragen",
    )
)
COMPLAINTS = ("ich habe Brustschmerzen", "Ich kriege keine Luft", "I can't breathe", "Ich blute stark",
              "Druck auf der Brust, ist das schlimm?")  # fmt: skip
WAYS_OUT = ("nein", "Nein, es ist kein Notfall", "kein Notfall", "mir geht es gut", "weiter", "no", "no emergency",
            "I'm fine", "No, it is not an emergency", "Nein, mir geht es gut, danke", "1", "Fehlalarm")  # fmt: skip
# What leads through the interview, and out of it.
STEPS = ("ja", "nein", "1", "2", "44", "ungefähr 50", "März 2020", "weiß nicht", "überspringen", "zurück", "Pause", "/interview",
         "weitermachen", "Tante Anna", "Zusammenfassung", "Alter ändern", "ändern", "dauer und kosten?", "tut das weh?", "danke",
         "3 Tage", "", "/help")  # fmt: skip


class Patient(RuleBasedStateMachine):
    """Goes anywhere, complains, and wants to get back."""

    def __init__(self, assistant: Assistant, records: SqlRecords) -> None:
        super().__init__()
        self._assistant, self._records = assistant, records
        self._interviews = SqlInterviews(records.engine)
        self._now, self._sent, self._log = NOW, 0, list[str]()

    @initialize(language=st.sampled_from(("de", "en")), greeted=st.booleans())
    def begin(self, language: str, greeted: bool) -> None:
        self._id = secrets.token_hex(8)
        opened = StoredConversation(self._id, NOW, language, "api")
        interviewer = Interviewer(FORM, self._interviews, self._id)
        self._conversation = Conversation.open(self._assistant, self._records, opened, interviewer=interviewer)
        if greeted:
            self._conversation.greet(at=NOW)
        self._now += timedelta(seconds=1)

    def _resumed(self) -> None:
        """Go on as another process would: everything comes from storage."""
        known = self._records.conversation(self._id)
        assert known is not None
        interviewer = Interviewer(FORM, self._interviews, self._id)
        self._conversation = Conversation.resume(
            self._assistant, self._records, known, at=self._now, interviewer=interviewer
        )
        self._interviewer = interviewer

    def _say(self, text: str = "", choice: int | None = None) -> Taken:
        self._resumed()
        self._sent += 1
        self._log.append(text or f"choice {choice}")
        self._now += timedelta(seconds=1)
        taken = self._conversation.take(Message(f"t{self._sent}", text, choice), at=self._now)
        assert taken.reply.parts
        assert SENTENCES[taken.reply.language]["safe"] not in [part.text for part in taken.reply.parts], self._log
        return taken

    def _open(self) -> Open | None:
        self._resumed()
        session = self._interviewer.session
        return self._interviewer.interview(self._now).open_question(session) if session is not None else None

    @rule(texts=st.lists(st.sampled_from(STEPS), min_size=1, max_size=5))
    def go_on(self, texts: list[str]) -> None:
        for text in texts:
            self._say(text)

    @rule(
        complaint=st.sampled_from(COMPLAINTS),
        way_out=st.sampled_from((None, *WAYS_OUT)),
        between=st.sampled_from((None, "", "/help", "the same")),
        confirms=st.booleans(),
    )
    def complain_and_get_out(self, complaint: str, way_out: str | None, between: str | None, confirms: bool) -> None:
        before = self._open()
        alarm = self._say(complaint)
        assert alarm.turn.decision == "urgent"
        told = 1
        if confirms:
            told += self._say("ja").turn.decision == "urgent"
            assert self._say("yes").turn.decision != "urgent", "told more than once that it is an emergency"
        if between is not None:
            again = self._say(complaint if between == "the same" else between)
            assert again.turn.decision != "urgent", "one complaint, told twice"

        out = self._say(choice=1) if way_out is None and between != "" else self._say(way_out or "nein")

        assert out.turn.decision != "urgent"
        assert not [part for part in out.reply.parts if isinstance(part, Interface) and part.key.startswith("urgent")]
        after = self._open()
        if before is not None and before.kind not in ("paused", "finished"):
            assert after is not None
            assert out.reply.language in SENTENCES
            keys = {part.key for part in out.reply.parts if isinstance(part, Interface)}
            assert keys & {"calmed", "calmed_breast"} or out.turn.decision in ("answered", "clarify", "declined")
            # The same is open, or what the complaint was an answer to has been answered with it.
            assert after == before or after.kind in ("read-back", "question", "another", "summary")
        # Whatever else the patient says to get out brings no alarm either.
        for text in ("nein", "weiter", "no"):
            assert self._say(text).turn.decision != "urgent"


def test_every_alarm_has_an_exit_in_every_state(small: Assistant, records: SqlRecords) -> None:
    def machine() -> Patient:
        return Patient(small, records)

    few = settings(max_examples=25, stateful_step_count=8, phases=[Phase.generate])
    run_state_machine_as_test(machine, settings=few)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("link_id", ["consent", "age", "kind", "kinds", "when", "long", "name", "notes", "summary"])
def test_four_clicks_on_the_only_button_make_one_urgent_turn(
    small: Assistant, records: SqlRecords, link_id: str, language: str
) -> None:
    interviews = SqlInterviews(records.engine)
    interviewer = Interviewer(FORM, interviews, "c")
    opened = StoredConversation("c", NOW, language, "api")
    conversation = Conversation.open(small, records, opened, interviewer=interviewer)
    conversation.turn("/interview", at=NOW)
    for number in range(30):
        waiting = interviewer.interview(NOW).open_question(interviewer.session)  # type: ignore[arg-type]
        if link_id in (waiting.link_id, waiting.kind):
            break
        words = {"de": ("ja", "nein", "überspringen"), "en": ("yes", "no", "skip")}[language]
        more = waiting.kind != "another" or link_id == "name"
        said = words[2] if waiting.kind == "question" else words[0] if more else words[1]
        conversation.turn(said, at=NOW + timedelta(minutes=number))
    else:
        pytest.fail(f"{link_id} was not reached")

    conversation.turn("ich habe Brustschmerzen", at=NOW)
    first = conversation.turn(conversation.choices[0].text, at=NOW)
    for _ in range(3):
        conversation.turn(SENTENCES[language]["chest_breast"], at=NOW)

    turns = records.turns("c")
    assert [turn.decision for turn in turns].count("urgent") == 1
    assert SENTENCES[language]["calmed_breast"] in [part.text for part in first.parts]


@pytest.mark.parametrize(
    "said", ["nein, aber jetzt kriege ich keine Luft", "es wird schlimmer, ich bekomme keine Luft mehr"]
)
def test_new_danger_after_an_alarm_is_an_alarm_of_its_own(small: Assistant, records: SqlRecords, said: str) -> None:
    conversation = Conversation.open(small, records, StoredConversation("c", NOW, "de", "terminal"))
    conversation.turn("ich habe Brustschmerzen", at=NOW)

    conversation.turn(said, at=NOW)

    assert [turn.decision for turn in records.turns("c")] == ["urgent", "urgent"]


@pytest.mark.parametrize("text", ["ja", "nein, ich kriege keine Luft", "mir geht es nicht gut", "I'm not fine", "ein Notfall",
                                  "it is an emergency", "nein, tut das weh, ja", "alles schlecht", "keine Luft", "niemand", "nobody",
                                  "keiner kommt", "hier ist niemand", "no one is coming", "ich bin in Gefahr", ""])  # fmt: skip
def test_what_does_not_call_off_an_alarm(text: str) -> None:
    assert not calls_off(text)


@pytest.mark.parametrize(
    "text",
    [
        "nein niemand ist in gefahr",
        "Es ist niemand in Gefahr.",
        "gerade ist keiner in gefahr",
        "nee, koaner is in Gfahr",
        "niemer isch in gfahr",
        "wir sind nicht in Gefahr",
        "Nein, es besteht keine Gefahr",
        "no one is in danger",
        "No, nobody is in any danger right now",
        "I'm not in danger",
        "there's no one in danger here",
    ],
)
def test_who_says_that_nobody_is_in_danger_calls_an_alarm_off(text: str) -> None:
    assert calls_off(text)

"""Exported projects, trained and run by a real Rasa 3.6 server: the same conversations as without it."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.errors import UserFixable
from bot.interview.values.fhir_json import dump
from bot.interview.walk.assemble import Heading
from bot.interview_wiring import Interviewers
from bot.settings import Settings
from bot.talk.conversation import Message
from bot.talk.interviewing import Interviewer, form_of
from bot.talk.reception import Reception
from bot.testing import write_small_catalog
from bot.web.rasa.project import RASAS_OWN, Content, Options, compile_project
from bot.web.rasa.server import ActionServer, check_server
from bot.web.rasa.stories import Said, Story, write_stories
from bot.web.rasa.writing import write_project
from bot.web.senders import bubbles
from bot.wiring import make_records
from tests.bot.interview.chat import mammography
from tests.bot.web.rasa.rasa_server import Rasa
from tests.bot.web.serving import RASA_TOKEN, Server
from tests.recorded.playing import CONVERSATIONS, read
from tests.shipped_texts import SAID

pytestmark = [pytest.mark.proof, pytest.mark.timeout(1800)]

# Twenty of the recorded conversations: what goes in, in the words of the recording.
TALKS = (
    *("alarms-de", "channel-de", "choices-en", "combined-de", "everyday-de", "everyday-en", "follow-ups-de"),
    *("questions-de-six", "talk-de", "talk-en"),
)
INTERVIEWS = (
    *("interview-de-healthy", "interview-en-healthy", "interview-de-cancer", "interview-de-consent-denied"),
    *("interview-en-consent-denied", "interview-de-declined", "interview-de-left-open", "interview-de-pause"),
    *("interview-en-questions-between", "interview-de-switch"),
)
AT_ONCE = 4
Bubbles = list[dict[str, Any]]


def _script(name: str) -> list[str]:
    """Return what a patient writes: on this channel there is no offer, and no other language than by asking for it."""
    recorded = read(CONVERSATIONS / f"{name}.json")
    sent = [turn["send"] for turn in recorded["turns"]]
    lines = [str(each) for each in sent if isinstance(each, str | int)]
    begins = ["/interview"] if name in INTERVIEWS else []
    return ["/english"] * (recorded["language"] == "en") + begins + lines


class Replay:
    """The built-in dialogue: the same reception as the service's, in this process, with a database of its own."""

    def __init__(self, assistant: Assistant, folder: Path) -> None:
        self.settings = Settings.from_environment({}, data=folder)
        records = make_records(self.settings)
        interviewers = Interviewers.open(self.settings, assistant, exam="mammography", records=records)
        self.reception = Reception(assistant, records, _now, interviewer=interviewers.of)

    def say(self, conversation: str, text: str) -> Bubbles:
        opened = self.reception.known_as(conversation, channel="rest")
        taken = self.reception.take(opened, Message(uuid.uuid4().hex, text))
        return [each.model_dump(exclude_none=True) for each in bubbles(taken, sample=True)]


def _now() -> datetime:
    return datetime.now().astimezone()


def _conversation(sender: str) -> str:
    return hmac.new(RASA_TOKEN.encode(), f"rasa:{sender}".encode(), hashlib.sha256).hexdigest()[:32]


def _response(database: str, conversation: str) -> str | None:
    """Return the QuestionnaireResponse of a conversation as it is stored; None where no interview was begun."""
    records = SqlRecords.open(database)
    try:
        who = Interviewer(dump(mammography()), SqlInterviews(records.engine), conversation)
        who.reopen(at=_now())
        if who.session is None:
            return None
        return dump(who.interview(_now()).response(who.session, Heading("", "2026-11-27T00:00:00+00:00")))
    finally:
        records.close()


def _text(said: Bubbles) -> tuple[str, list[str]]:
    """Return what is read and what can be pressed: Rasa makes a bubble of each paragraph."""
    text = "\n\n".join(each["text"].strip() for each in said)
    return text, [button["payload"] for each in said for button in each.get("buttons", [])]


@pytest.fixture(scope="module")
def service(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    assert shipped.sample
    running = Server(tmp_path_factory.mktemp("service"), shipped_data, {"KLARTEXT_RASA_TOKEN": RASA_TOKEN})
    running.start()
    yield running
    running.kill()


@pytest.fixture(scope="module")
def rasa(service: Server, shipped: Assistant, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rasa]:
    """The shipped sample in delegate mode, trained and running."""
    content = Content(
        exam="mammography",
        pairs={language: shipped.catalog(language).pairs for language in shipped.languages},
        background={language: shipped.catalog(language).background for language in shipped.languages},
        wording=shipped.wording,
        form=form_of(mammography()),
        sample=True,
    )
    folder = tmp_path_factory.mktemp("rasa") / "project"
    write_project(compile_project(content, Options(service=service.url)), folder)
    running = Rasa(folder, {"KLARTEXT_RASA_TOKEN": RASA_TOKEN})
    running.train()
    try:
        running.start()
        print(f"\nRasa: trained in {running.train_s:.0f} s, started in {running.start_s:.0f} s")
        yield running
    finally:
        running.stop()


def test_twenty_conversations_are_the_same_through_rasa_and_without(
    rasa: Rasa, service: Server, shipped: Assistant, tmp_path: Path
) -> None:
    names = (*TALKS, *INTERVIEWS)
    assert len(names) == 20
    alone = Replay(shipped, tmp_path)
    senders = {name: f"{name}-{uuid.uuid4().hex}" for name in names}

    def play(name: str) -> list[str]:
        wrong, sender = [], senders[name]
        for number, line in enumerate(_script(name), 1):
            there, here = _text(rasa.say(sender, line)), _text(alone.say(_conversation(sender), line))
            if there != here:
                wrong.append(f"{name} {number}: {there} instead of {here}")
        return wrong

    with ThreadPoolExecutor(AT_ONCE) as pool:
        wrong = [each for found in pool.map(play, names) for each in found]

    assert wrong == []
    ours = f"sqlite:///{service.database()}"
    theirs = alone.settings.database_url or f"sqlite:///{alone.settings.data / 'klartext.db'}"
    responses = {name: _response(ours, _conversation(sender)) for name, sender in senders.items()}
    assert responses == {name: _response(theirs, _conversation(sender)) for name, sender in senders.items()}
    kept = {name: json.loads(found) for name, found in responses.items() if found is not None}
    assert set(INTERVIEWS) <= set(kept)
    assert {kept[name]["status"] for name in INTERVIEWS} == {"completed", "in-progress"}
    print(f"turns compared: {sum(len(_script(name)) for name in names)}")


@pytest.mark.parametrize("name", ["alarms-de", "interview-de-pause"])
def test_a_conversation_over_socket_io_is_the_same(rasa: Rasa, shipped: Assistant, tmp_path: Path, name: str) -> None:
    alone, lines = Replay(shipped, tmp_path), _script(name)

    sender, said = rasa.chat(lines)

    assert [_text(each) for each in said] == [_text(alone.say(_conversation(sender), line)) for line in lines]
    assert any(payloads for _, payloads in map(_text, said))


def test_the_tracker_follows_the_interview(rasa: Rasa) -> None:
    sender = uuid.uuid4().hex
    for text in ("/interview", "Ja", "Ich selbst, es geht um mich"):
        rasa.say(sender, text)

    asked = rasa.tracker(sender)
    assert asked["active_loop"]["name"] == "mammography_history_form"
    assert (asked["slots"]["requested_slot"], asked["slots"]["item_consent"]) == ("item_reason", True)
    rasa.say(sender, "Pause")
    paused = rasa.tracker(sender)
    assert (paused["active_loop"], paused["slots"]["requested_slot"]) == ({}, None)
    assert paused["slots"]["item_consent"] is True


def test_what_rasa_takes_for_its_own_commands_gets_an_answer(rasa: Rasa) -> None:
    sender = uuid.uuid4().hex
    for text in ("/interview", "Ja", *RASAS_OWN):
        assert rasa.say(sender, text), text
    assert rasa.tracker(sender)["active_loop"]["name"] == "mammography_history_form"


def test_a_running_rasa_is_checked(rasa: Rasa) -> None:
    found = check_server(rasa.url, timeout_s=60)

    assert found.version.startswith("3.6.")
    assert SAID["de"]["emergency_notice"] in found.answers


def test_whoever_writes_while_the_service_is_away_is_told_so_also_in_the_interview(rasa: Rasa, service: Server) -> None:
    """The last test with this service: it ends."""
    sender = uuid.uuid4().hex
    for text in ("/interview", "Ja"):
        rasa.say(sender, text)
    service.kill()
    with pytest.raises(UserFixable, match=r"Nor does the service at .* answer here"):
        check_server(rasa.url, timeout_s=60, behind=ActionServer(service.url, RASA_TOKEN))

    for who in (sender, uuid.uuid4().hex):
        for text in ("Ich kriege keine Luft", "/interview"):
            said = [each["text"] for each in rasa.say(who, text)]
            assert said[0] == SAID["de"]["safe"]


def test_a_native_project_is_trained_passes_rasa_test_and_answers_from_its_responses(tmp_path: Path) -> None:
    """A small catalog in one language, few epochs: that it runs is shown, not how good it is."""
    from bot.catalog.catalog import load_catalog

    catalog = load_catalog(write_small_catalog(tmp_path / "catalog"), "de")
    pairs = {"de": catalog.pairs}
    wording = Assistant.open(tmp_path / "catalog", data=tmp_path / "data", sample=True).wording
    content = Content(
        "small", pairs, {"de": ["Wie wird das Wetter morgen?", "Wer wird Weltmeister?"]}, wording, sample=True
    )
    write_project(compile_project(content, Options("native", epochs=30)), tmp_path / "project")
    running = Rasa(tmp_path / "project", {})
    running.train()
    asked = [(pair.question, pair.id) for pair in catalog.pairs] + [("Wie wird das Wetter morgen?", None)]
    write_stories([Story(str(number), [Said(*each)]) for number, each in enumerate(asked)], running.project / "tests")
    told = running.test("--stories", "tests", "--nlu", "tests/test_nlu.yml")
    assert told["story_report"]["conversation_accuracy"]["correct"] == len(asked)
    assert [told[name]["accuracy"] for name in ("intent_report", "response_selection_report")] == [1, 1]
    try:
        running.start()
        for pair in catalog.pairs:
            said = [each["text"] for each in running.say(uuid.uuid4().hex, pair.question)]
            assert said == [pair.answer, SAID["de"]["sample_label"], SAID["de"]["emergency_notice"]]
    finally:
        running.stop()

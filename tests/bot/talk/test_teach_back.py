"""The assistant asks whether it has explained well, and takes what is chosen."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.catalog.quiz import Quizzed
from bot.errors import NoSuchChoice
from bot.interview.values.fhir_json import dump
from bot.ports import FlagReason, StoredConversation, StoredFlag, StoredTurn
from bot.release.in_force import InForce
from bot.release.release import Release
from bot.release.stops import Stop, Stops
from bot.sentences.reply import SENTENCES, Content, Reply, read_reply
from bot.talk.conversation import Conversation, Message
from bot.talk.dialogue import State, read_state
from bot.talk.interviewing import Interviewer
from bot.talk.messages import asks_plainly
from bot.talk.quiz_words import meant
from bot.testing import HashEncoder
from tests.bot.interview.chat import mammography
from tests.bot.quizzes import RIGHT, WRONG, write_quizzed_catalog

NOW = datetime(2026, 11, 26, 10, 0, tzinfo=UTC)
PAIN = {"de": "Tut die Untersuchung weh?", "en": "Does the examination hurt?"}
COSTS = {"de": "Was kostet die Untersuchung?", "en": "What does the examination cost?"}
DURATION = {"de": "Wie lange dauert die Untersuchung?", "en": "How long does the examination take?"}
Talk = Callable[..., "Asked"]


class Asked:
    """A conversation that is told apart from its records after every turn, as the page does."""

    def __init__(self, assistant: Assistant, records: SqlRecords, language: str = "de", id_: str = "c1") -> None:
        self.assistant, self.records, self.language = assistant, records, language
        self.opened = StoredConversation(id_, NOW, language, "page")
        records.begin(self.opened)
        self.turns = 0

    def _take(self, text: str, choice: int | None) -> Reply:
        self.turns += 1
        resumed = Conversation.resume(self.assistant, self.records, self.opened, at=NOW)
        return resumed.take(Message(f"t{self.turns}", text, choice), at=NOW).reply

    def say(self, text: str) -> Reply:
        return self._take(text, None)

    def press(self, label: str) -> Reply:
        return self._take("", [part.text for part in self.last.choices].index(label) + 1)

    @property
    def turn(self) -> StoredTurn:
        found = self.records.last_turn(self.opened.id)
        assert found is not None
        return found

    @property
    def last(self) -> Reply:
        assert self.turn.exchange is not None
        return read_reply(self.turn.exchange.reply)

    @property
    def quizzed(self) -> str:
        """What is kept of the last turn, without pair and quiz."""
        return self.turn.quizzed.partition(" ")[2]

    def sentence(self, key: str) -> str:
        return SENTENCES[self.language][key]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_quizzed_catalog(tmp_path_factory.mktemp("quizzed"), status="approved")


@pytest.fixture(scope="module")
def assistant(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Assistant:
    return Assistant.open(folder, data=tmp_path_factory.mktemp("data"), encoder=HashEncoder(), sample=True)


@pytest.fixture
def talk(assistant: Assistant, records: SqlRecords) -> Talk:
    return lambda language="de", id_="c1": Asked(assistant, records, language, id_)


def offers(reply: Reply) -> bool:
    return SENTENCES[reply.language]["teach_offer"] in [part.text for part in reply.parts]


def texts(reply: Reply) -> list[str]:
    return [part.text for part in reply.parts]


@pytest.mark.parametrize("language", ["de", "en"])
def test_below_an_answer_one_short_sentence_offers_to_check_it(talk: Talk, language: str) -> None:
    asked = talk(language)
    reply = asked.say(PAIN[language])

    assert isinstance(reply.parts[0], Content)
    assert texts(reply)[-1] == asked.sentence("teach_offer")
    assert [part.text for part in reply.choices] == [asked.sentence("teach_yes"), asked.sentence("teach_no")]
    assert asked.turn.decision == "answered"
    assert asked.quizzed == "offered"


@pytest.mark.parametrize("yes", ["1", "ja", "Ja, gern", "gerne", "jaa", "ok", "na gut", "von mir aus", "Yes, please"])
def test_who_agrees_in_any_words_gets_the_question_with_its_options(talk: Talk, yes: str) -> None:
    asked = talk()
    asked.say(PAIN["de"])
    reply = asked.say(yes)

    assert texts(reply)[:2] == ["Frau Berger fragt vor der Aufnahme.", "Was merkt Frau Berger? (pain)"]
    assert {part.text for part in reply.choices[:-1]} == {RIGHT["de"], *WRONG["de"]}
    assert reply.choices[-1].text == asked.sentence("teach_unknown")
    assert (asked.turn.decision, asked.quizzed) == ("talk", "asked")


REFUSED = ["nein ich will nicht geprüft werden", "lassen Sie mich in Ruhe mit Tests", "keine lust", "jetzt nicht"]


@pytest.mark.parametrize("no", ["2", "nein", "Nein, danke", "nö", "lieber nicht", "no thanks", "danke nein", *REFUSED])
def test_no_is_taken_without_a_word_of_reproach_and_not_asked_again(talk: Talk, no: str) -> None:
    asked = talk()
    asked.say(PAIN["de"])

    assert texts(asked.say(no)) == [asked.sentence("teach_declined")]
    assert asked.quizzed == "declined"
    asked.say(COSTS["de"])
    assert not offers(asked.say(DURATION["de"]))


def test_the_options_stand_in_the_same_order_each_time_and_in_another_for_others(talk: Talk) -> None:
    orders = set()
    for number in range(8):
        asked = talk("de", f"c{number}")
        asked.say(PAIN["de"])
        asked.say("ja")
        orders.add(tuple(part.text for part in asked.last.choices))
        again = Conversation.resume(asked.assistant, asked.records, asked.opened, at=NOW)
        assert tuple(part.text for part in again.choices) == tuple(part.text for part in asked.last.choices)

    assert len(orders) > 2


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_right_option_gets_one_kind_sentence(talk: Talk, language: str) -> None:
    asked = talk(language)
    asked.say(PAIN[language])
    asked.press(asked.sentence("teach_yes"))

    assert texts(asked.press(RIGHT[language])) == [asked.sentence("teach_right")]
    assert asked.quizzed == "right 0"


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_wrong_option_gets_the_easy_answer_and_the_right_option_named(talk: Talk, language: str) -> None:
    asked = talk(language)
    asked.say(PAIN[language])
    asked.press(asked.sentence("teach_yes"))
    reply = asked.press(WRONG[language][1])

    assert texts(reply)[:5] == [
        asked.sentence("teach_unclear"),
        PAIN[language],
        f"pain, {language}.",
        asked.sentence("teach_answer"),
        RIGHT[language],
    ]
    assert not reply.choices
    assert asked.quizzed == "wrong 2"


@pytest.mark.parametrize(
    "said",
    ["5", "e)", "0", "Das weiß ich nicht", "weis nich", "überspringen", "weiter", "keine Ahnung", "nichts davon"],
)
def test_who_does_not_know_gets_the_easy_answer_too(talk: Talk, said: str) -> None:
    asked = talk()
    asked.say(PAIN["de"])
    asked.say("ja")

    assert texts(asked.say(said))[:3] == [asked.sentence("teach_unclear"), PAIN["de"], "pain, de."]
    assert asked.quizzed == "unknown"


@pytest.mark.parametrize("how", ["number", "words", "other case", "some of its words", "the place"])
def test_an_option_is_picked_by_number_or_words(talk: Talk, how: str) -> None:
    asked = talk()
    asked.say(PAIN["de"])
    place = [part.text for part in asked.say("ja").choices].index("Man schläft dabei") + 1
    place_words = ["das erste", "das zweite", "das dritte", "das letzte"]
    said = {
        "number": str(place),
        "words": "Man schläft dabei",
        "other case": "man schläft DABEI!",
        "some of its words": "schläft",
        "the place": place_words[place - 1],
    }[how]

    asked.say(said)
    assert asked.quizzed == "wrong 2"


def quizzing(talk: Talk) -> Asked:
    asked = talk()
    asked.say(PAIN["de"])
    asked.say("ja")
    return asked


@pytest.mark.parametrize("said", ["x", "9", "Antwort 7 bitte"])
def test_a_number_or_letter_of_no_option_is_asked_to_choose_once(talk: Talk, said: str) -> None:
    asked = quizzing(talk)
    options = asked.last.choices
    reply = asked.say(said)

    assert texts(reply) == [asked.sentence("teach_choose")]
    assert reply.choices == options
    assert asked.quizzed == ""
    assert asked.sentence("teach_choose") not in texts(asked.say(said))


@pytest.mark.parametrize("written", ["{}", "{})", "Antwort {}", "antwort {}", "die {}"])
def test_an_option_is_picked_by_its_letter(talk: Talk, written: str) -> None:
    asked = quizzing(talk)
    place = [part.text for part in asked.last.choices].index(RIGHT["de"])
    asked.say(written.format("ABCD"[place]))

    assert asked.quizzed == "right 0"


def test_a_misspelt_attempt_chooses_the_one_option_that_it_fits(talk: Talk) -> None:
    asked = quizzing(talk)
    asked.say("schläfd dabei")

    assert asked.quizzed == "wrong 2"


def test_the_question_can_be_seen_again(talk: Talk) -> None:
    asked = quizzing(talk)
    reply = asked.say("was war die frage nochmal?")

    assert "Was merkt Frau Berger? (pain)" in texts(reply)
    asked.press(RIGHT["de"])
    assert asked.quizzed == "right 0"


@pytest.mark.parametrize("said", ["nein", "ich will das nicht", "keine lust"])
def test_who_wants_no_quiz_after_all_is_asked_none_any_more(talk: Talk, said: str) -> None:
    asked = quizzing(talk)

    assert texts(asked.say(said)) == [asked.sentence("teach_declined")]
    assert asked.turn.decision == "talk"
    asked.say(COSTS["de"])
    assert not offers(asked.say(DURATION["de"]))


def test_one_letter_at_the_offer_is_no_question(talk: Talk) -> None:
    asked = talk()
    asked.say(PAIN["de"])

    assert texts(asked.say("x")) == [asked.sentence("teach_offer")]
    assert texts(asked.say("x")) == [asked.sentence("teach_declined")]


def test_one_letter_at_each_of_two_offers_declines_neither_at_once(talk: Talk) -> None:
    asked = talk()
    asked.say(PAIN["de"])
    asked.say("x")
    asked.say(COSTS["de"])
    assert offers(asked.say(DURATION["de"]))

    assert texts(asked.say("x")) == [asked.sentence("teach_offer")]
    assert texts(asked.say("x")) == [asked.sentence("teach_declined")]


def test_after_an_insult_there_is_no_next_quiz(talk: Talk) -> None:
    asked = quizzing(talk)
    asked.say("keine Ahnung")
    asked.say("ich bin doch nicht dumm")
    asked.say(COSTS["de"])

    assert not offers(asked.say(DURATION["de"]))


@pytest.mark.parametrize("step", ["offered", "asked"])
@pytest.mark.parametrize("reason", ["wrong", "complicated"])
def test_an_answer_that_was_flagged_ends_the_asking(talk: Talk, step: str, reason: FlagReason) -> None:
    asked = talk()
    asked.say(COSTS["de"])
    if step == "asked":
        asked.say("ja")
    assert asked.last.choices
    asked.records.flag("c1", StoredFlag("t1", reason, "", NOW))
    resumed = Conversation.resume(asked.assistant, asked.records, asked.opened, at=NOW)

    assert resumed.choices == ()
    asked.say("ja")
    assert asked.quizzed == ""
    assert not offers(asked.say(PAIN["de"]))


def test_a_flag_before_anything_was_offered_keeps_offers_away(talk: Talk) -> None:
    asked = talk()
    asked.say("Blumenkohl und Fahrrad")
    asked.records.flag("c1", StoredFlag("t1", "wrong", "", NOW))

    assert not offers(asked.say(PAIN["de"]))


TROUBLED = [
    "ich bin 62 und habe furchtbare angst, darf ich deo benutzen",
    "Ich habe Angst vor der Strahlung, ist das gefährlich?",
    "ich zittere schon, wann kommt das ergebnis?",
    "Wann kommt endlich das Ergebnis, ich halte das Warten nicht aus",
    "Ich habe letzte Woche die Diagnose Brustkrebs bekommen. Wie viel Strahlung ist das?",
    "Mir wurde heute gesagt dass da etwas auffällig ist. Wann bekomme ich das Ergebnis?",
    "Ich musste zur Abklärung zurückkommen, wann kommt das Ergebnis?",
    "Ist die Strahlung schuld, dass ich Krebs habe?",
    "Meine Schwester liegt im Sterben, wann bekomme ich mein Ergebnis?",
    "wann bekomme ich ergebnis ich habe schmerzen in brust",
    "Sie sind blöd. wann kommt das ergebnis",
    "Bitte keine Prüfung. Darf ich Deo benutzen?",
    "Hilfe, ich hab Deo benutzt, ist jetzt alles kaputt??",
    "Könnte ich von der Strahlung sterben?",
    "Ich hatte schon so viele Röntgenbilder, bekomme ich davon Krebs?",
    "hatte Morbus Hodgkin mit 18, wie schlimm ist die Strahlung?",
    "Ich warte seit 4 Wochen auf mein Ergebnis, warum dauert das so lange?",
    "seit 3 wochen kein brief",
    "I am afraid, may I use deodorant?",
    "My sister is dying, when do I get my result?",
    "Will I die of the radiation?",
    "Still no result after three weeks",
    "tut es weh 😭",
]


@pytest.mark.parametrize("said", TROUBLED)
def test_beside_trouble_no_question_is_plain_even_if_all_its_words_are_known(said: str) -> None:
    assert not asks_plainly(said, "Wann bekomme ich das Ergebnis?", [said])


@pytest.mark.parametrize(
    ("said", "question"),
    [
        (
            "Darf ich vorher Deodorant, Creme oder Puder benutzen?",
            "Darf ich vorher Deodorant, Creme oder Puder benutzen?",
        ),
        ("darf ich bitte creme benutzen", "Darf ich vorher Deodorant, Creme oder Puder benutzen?"),
        ("Tut die Untersuchung weh?", "Tut die Untersuchung weh?"),
        ("When do I get the result?", "When do I get my result?"),
    ],
)
def test_a_plain_question_in_words_of_the_pair_is_plain(said: str, question: str) -> None:
    assert asks_plainly(said, question, [])
    assert not asks_plainly(f"{said} Blumenkohl", question, [])


DEODORANT = (
    "Sie wischt es ab, weil Reste im Bild stören können.",
    "Sie lässt es dran, weil nur Creme an der Brust stört.",
    "Sie gibt Puder darüber, weil Puder im Bild nicht stört.",
    "Sie macht einen neuen Termin aus, weil Wischen nicht reicht.",
)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("wischen", None),
        ("abwischen", 1),
        ("wisch es ab", 1),
        ("sie wischd es ab", 1),
        ("wischt es ab weil Reste stören", 1),
        ("nicht abwischen", None),
        ("sie lässt es dran", 2),
        ("egal", None),
        ("bild", None),
        ("brust", None),
        ("brust creme nässt", None),
        ("Creme stört an der Brust", None),
        ("es stört an der Brustwarze", None),
        ("puder stört", None),
        ("warum Puder darüber", None),
        ("Puder darüber?", None),
    ],
)
def test_words_mean_an_option_only_if_most_of_its_own_are_said_and_nothing_else(said: str, place: int | None) -> None:
    assert meant(said, DEODORANT) == place


@pytest.mark.parametrize("step", ["offered", "asked"])
def test_any_question_instead_is_simply_answered(talk: Talk, step: str) -> None:
    asked = talk()
    asked.say(PAIN["de"])
    if step == "asked":
        asked.say("ja")
    reply = asked.say(COSTS["de"])

    assert texts(reply)[0] == "Was kostet die Untersuchung? (costs, de)"
    assert not offers(reply)  # never twice running
    assert asked.quizzed == ""
    asked.say("1")  # what was offered before is not any more
    assert asked.quizzed == ""


@pytest.mark.parametrize("said", ["danke", "passt"])
def test_what_is_said_to_the_answer_is_no_yes_to_the_offer(talk: Talk, said: str) -> None:
    asked = talk()
    asked.say(PAIN["de"])

    assert not asked.say(said).choices
    assert asked.quizzed == ""


def test_it_is_offered_once_for_a_pair_never_twice_running_and_twice_at_most(talk: Talk) -> None:
    asked = talk()

    assert offers(asked.say(PAIN["de"]))
    assert not offers(asked.say(COSTS["de"]))
    assert not offers(asked.say(PAIN["de"]))
    assert offers(asked.say(DURATION["de"]))
    assert not offers(asked.say(PAIN["de"]))
    assert not offers(asked.say(COSTS["de"]))
    assert not offers(asked.say(COSTS["de"]))


def test_a_pair_without_quiz_offers_nothing(small: Assistant, records: SqlRecords) -> None:
    reply = Asked(small, records).say(PAIN["de"])

    assert not offers(reply)
    assert reply.choices == ()


@pytest.mark.parametrize(
    "trouble",
    [
        "Ich kriege keine Luft mehr",
        "Ich habe solche Angst",
        "Ich komm nicht zum Termin",
        "/flag",
        "/staff",
        "Ich will nicht mehr leben",
    ],
)
def test_after_trouble_nothing_is_offered_any_more(talk: Talk, trouble: str) -> None:
    asked = talk()
    asked.say(COSTS["de"])
    asked.say(trouble)
    asked.say("nein")

    assert not offers(asked.say(PAIN["de"]))
    assert not offers(asked.say(DURATION["de"]))


def test_while_the_interview_is_at_a_question_nothing_is_offered(assistant: Assistant, records: SqlRecords) -> None:
    interviewer = Interviewer(dump(mammography()), SqlInterviews(records.engine), "c1")
    opened = StoredConversation("c1", NOW, "de", "page")
    talk = Conversation.begin(assistant, records, opened, interviewer=interviewer)
    talk.turn("/interview", at=NOW)
    asking = talk.turn(PAIN["de"], at=NOW)
    talk.turn("pause", at=NOW)
    paused = talk.turn(COSTS["de"], at=NOW)

    assert "Tut die Untersuchung weh? (pain, de)" in texts(asking)
    assert (offers(asking), offers(paused)) == (False, True)
    assert texts(talk.turn("Nein, danke", at=NOW)) == [SENTENCES["de"]["teach_declined"]]


@pytest.mark.parametrize("step", ["offered", "asked"])
def test_an_emergency_is_heard_whatever_is_open(talk: Talk, step: str) -> None:
    asked = talk()
    asked.say(PAIN["de"])
    if step == "asked":
        asked.say("ja")
    asked.say("Ich kriege keine Luft mehr")

    assert asked.turn.decision == "urgent"
    assert asked.quizzed == ""


@pytest.mark.usefixtures("few_alarm_examples")
def test_an_option_that_reads_as_an_emergency_is_one_when_typed_and_a_choice_when_pressed(
    folder: Path, tmp_path: Path, records: SqlRecords
) -> None:
    document = yaml.safe_load((folder / "de.yaml").read_text(encoding="utf-8"))
    for pair in document["pairs"]:
        pair["quizzes"][0]["distractors"] = ["Ich kriege keine Luft mehr"]
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "de.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    assistant = Assistant.open(tmp_path / "c", data=tmp_path / "data", encoder=HashEncoder(), sample=True)
    pressed, typed = Asked(assistant, records, id_="p"), Asked(assistant, records, id_="t")
    for asked in (pressed, typed):
        asked.say(PAIN["de"])
        asked.say("ja")

    pressed.press("Ich kriege keine Luft mehr")
    typed.say("Ich kriege keine Luft mehr")

    assert (pressed.turn.decision, pressed.quizzed) == ("talk", "wrong 1")
    assert typed.turn.decision == "urgent"


def test_a_change_of_language_closes_it_and_the_pair_is_not_offered_again(talk: Talk) -> None:
    asked = talk()
    asked.say(PAIN["de"])
    asked.say("/english")
    asked.language = "en"

    assert not offers(asked.say(PAIN["en"]))
    assert not offers(asked.say(PAIN["en"]))
    assert offers(asked.say(COSTS["en"]))


def test_a_number_beyond_the_options_is_refused_and_changes_nothing(talk: Talk) -> None:
    asked = talk()
    asked.say(PAIN["de"])
    with pytest.raises(NoSuchChoice, match="not on offer any more"):
        asked._take("", 3)


def test_what_was_kept_tells_pair_quiz_and_option(talk: Talk, assistant: Assistant) -> None:
    asked = talk()
    asked.say(PAIN["de"])
    asked.say("ja")
    asked.press(RIGHT["de"])
    kept = [Quizzed.read(turn.quizzed) for turn in asked.records.turns("c1")]
    name = f"pain@{assistant.catalog('de').pair('pain').quizzes[0].hash}"

    assert kept == [Quizzed(name, "offered"), Quizzed(name, "asked"), Quizzed(name, "right", 0)]


class Ward:
    """The catalog as a release of which pairs can be stopped."""

    def __init__(self, sample: Assistant) -> None:
        self.acts: list[Stop] = []
        shown = {language: sorted(sample.shown(language)) for language in ("de", "en")}
        made = {
            "exam": "mammography",
            "shown": shown,
            "until": {"site": (NOW + timedelta(days=9)).isoformat()},
            "texts": {},
        }
        release = Release(1, NOW, "Anna", "", json.dumps(made), "")
        in_force = InForce(release, lambda: Stops.of(self.acts), lambda: NOW)
        self.assistant = Assistant(sample._opened, sample.encoder, sample=False, house=sample.house, in_force=in_force)

    def stop(self, pair_id: str) -> None:
        self.acts = [Stop(NOW, "Anna", "withdraw", pair_id, release=1)]


def test_in_a_release_nothing_is_called_sample(assistant: Assistant, records: SqlRecords) -> None:
    asked = Asked(Ward(assistant).assistant, records)
    asked.say(PAIN["de"])
    asked.say("ja")
    asked.press(WRONG["de"][0])

    said = [json.loads(turn.exchange.reply) for turn in records.turns("c1") if turn.exchange]
    assert "sample_label" not in json.dumps(said)


@pytest.mark.parametrize("step", ["offered", "asked"])
def test_of_a_pair_that_is_stopped_meanwhile_nothing_is_shown(
    assistant: Assistant, records: SqlRecords, step: str
) -> None:
    ward = Ward(assistant)
    asked = Asked(ward.assistant, records)
    asked.say(PAIN["de"])
    if step == "asked":
        asked.say("ja")
    ward.stop("pain")
    reply = asked.say("1")

    assert texts(reply)[0] == asked.sentence("withheld")
    assert not any(isinstance(part, Content) for part in (*reply.parts, *reply.choices))
    assert not offers(asked.say(COSTS["de"]))


def test_of_a_quiz_that_is_gone_after_a_restart_nothing_is_asked(
    assistant: Assistant, small: Assistant, records: SqlRecords
) -> None:
    asked = Asked(assistant, records)
    asked.say(PAIN["de"])
    asked.assistant = small

    assert asked.say("ja").choices == ()
    assert asked.quizzed == ""


def test_a_state_that_an_older_version_stored_is_read() -> None:
    old = json.dumps({"language": "de", "choices": [], "last_pair": "pain"})

    assert read_state(old, shown={"de": frozenset({"pain"})}) == State("de", last_pair="pain")
    assert replace(State("de"), last_pair="pain").check.offered == ()

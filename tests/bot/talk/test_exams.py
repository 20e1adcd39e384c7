"""One service for several exams, in chats: which one it is, emergencies before that, and exams that are gone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from bot import Assistant, BadData
from bot.adapters.sql_records import SqlRecords
from bot.errors import NoSuchChoice
from bot.ports import StoredConversation
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.sentences.reply import SENTENCES, Content, Interface, OtherExam, Reply, shows_alarm
from bot.talk.conversation import Message
from bot.talk.exams import Exams, Serving, Undecided
from bot.talk.reception import Opened, Reception
from bot.testing import HashEncoder
from tests.alarm_examples import few_taught
from tests.two_exams import write_exam

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
DE, EN = INTERFACE_TEXTS["de"], INTERFACE_TEXTS["en"]
BREATHLESS = "Ich kriege keine Luft"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Assistant]]:
    folder, data, encoder = tmp_path_factory.mktemp("exams"), tmp_path_factory.mktemp("data"), HashEncoder()
    with few_taught():
        yield {
            name: Assistant.open(write_exam(folder, name), data=data, encoder=encoder, sample=True)
            for name in ("mammo", "mri")
        }


@pytest.fixture
def reception(both: dict[str, Assistant], records: SqlRecords) -> Reception:
    return service(both, records)


def service(assistants: dict[str, Assistant], records: SqlRecords) -> Reception:
    """Return what serves these exams; one alone as ever."""

    def serving(assistant: Assistant) -> Serving:
        return Serving(assistant, lambda _: None)

    of = {name: (lambda _, each=each: serving(each)) for name, each in assistants.items()}
    first = next(iter(assistants.values()))
    return Reception(first, records, lambda: NOW, exams=Exams(of) if len(of) > 1 else None)


class Chat:
    """One patient."""

    def __init__(self, reception: Reception, opened: Opened) -> None:
        self.reception, self.opened, self.turns, self.last = reception, opened.conversation, 0, opened.welcome

    def say(self, text: str = "", choice: int | None = None) -> Reply:
        self.turns += 1
        self.last = self.reception.take(self.opened, Message(f"t{self.turns}", text, choice)).reply
        return self.last

    @property
    def exam(self) -> str | None:
        stored = self.reception.records.conversation(self.opened.id)
        assert stored is not None
        return stored.exam


def begin(reception: Reception, exam: str | None = None, language: str = "de") -> Chat:
    return Chat(reception, reception.open(channel="api", language=language, consented=True, exam=exam))


def texts(reply: Reply) -> list[str]:
    return [part.text for part in reply.parts]


def choices(reply: Reply) -> list[str]:
    return [part.text for part in reply.choices]


ASKED = ["Mammographie", "MRT", DE["exam_unknown"]]


def test_who_comes_without_an_exam_is_asked_which_it_is(reception: Reception) -> None:
    chat = begin(reception)

    assert DE["exam_question"] in texts(chat.last)
    assert choices(chat.last) == ASKED
    chosen = chat.say(choice=2)
    assert texts(chosen) == ["Gut, es geht um: MRT.", DE["exam_ask_away"]]
    assert chat.exam == "mri"
    assert "MRT: Was kostet die Untersuchung?" in texts(chat.say("kosten?"))


def test_what_was_asked_before_is_answered_once_the_exam_is_known(reception: Reception) -> None:
    chat = begin(reception)

    asked = chat.say("wie lange dauert das? dauer?")
    assert texts(asked) == [DE["exam_noted"], DE["exam_question"]]
    assert choices(asked) == ASKED
    again = chat.say("danke")
    assert texts(again)[-1] == DE["exam_question"]
    answered = chat.say("die Röhre")
    assert texts(answered)[:2] == ["Gut, es geht um: MRT.", "MRT: Wie lange dauert die Untersuchung?"]
    turn = reception.records.last_turn(chat.opened.id)
    assert turn is not None
    assert (turn.decision, turn.pair_id, turn.catalog) == ("answered", "duration", "mri@1")
    assert turn.question == "wie lange dauert das? dauer?"
    # Sent again, and read again, it is the same.
    assert reception.take(chat.opened, Message("t3", "die Röhre")).reply == answered
    assert [taken.reply for taken in reception.transcript(chat.opened.id)] == [asked, again, answered]


@pytest.mark.parametrize(
    ("said", "exam"),
    [
        ("MRT", "mri"),
        ("die röhre", "mri"),
        ("ich habe einen Termin zur MRT-Untersuchung", "mri"),
        ("brust röntgen", "mammo"),
        ("mammo", "mammo"),
        ("Mamografie", "mammo"),
        ("Mammographietermin", "mammo"),
        ("breast x-ray", "mammo"),
        ("2", "mri"),
        ("das zweite", "mri"),
        ("MRT der Brust", "mri"),
        ("Brust-MRT", "mri"),
        ("die Brust", "mammo"),
        ("i muess is MRT", "mri"),
        ("MRT, nicht die Mammographie", "mri"),
        ("I want to cancel the MRI bit, it's the mammogram", "mammo"),
        ("Ich hab am Donnerstag Termin in der Röhre und bin schon jetzt ganz neugierig", "mri"),
        ("keine MRT", None),
        ("muss ich beim MRT nüchtern sein?", "mri"),
        ("MRT, wie lange dauert das?", "mri"),
        ("mammo bitte, tut das weh?", "mammo"),
        ("Ist das wie ein MRT?", None),
        ("Wann hatte ich letztes Jahr die Mammo?", None),
        ("erst Mammo, dann MRT", None),
        ("irgendwas mit Bildern", None),
        ("3", None),
        ("mein Busen tut weh", None),
    ],
)
def test_words_that_name_an_exam(reception: Reception, said: str, exam: str | None) -> None:
    chat = begin(reception)

    reply = chat.say(said)

    assert chat.exam == exam
    assert (choices(reply) == ASKED) is (exam is None)


@pytest.mark.parametrize("said", ["weiss nicht", "keine Ahnung", "Das weiß ich nicht"])
def test_who_does_not_know_gets_a_kind_sentence(reception: Reception, said: str) -> None:
    chat = begin(reception)

    reply = chat.say(said)

    assert (texts(reply)[0], texts(reply)[-1]) == (DE["exam_not_known"], DE["exam_question"])
    assert choices(reply) == ASKED
    assert texts(chat.say(choice=3))[0] == DE["exam_not_known"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("beide", "exam_both"),
        ("both, MRI and mammogram", "exam_both"),
        ("nein, beides", "exam_both"),
        ("keins von beiden", "exam_neither"),
        ("keine davon", "exam_neither"),
        ("weder noch, CT", "exam_neither"),
        ("nein", "exam_neither"),
        ("andere Untersuchung", "exam_neither"),
        ("7", "exam_not_known"),
        ("nicht die Mammographie", "exam_not_known"),
    ],
)
def test_who_names_all_exams_or_none_is_told_how_to_go_on(reception: Reception, said: str, told: str) -> None:
    chat = begin(reception)

    reply = chat.say(said)

    assert [part.key for part in reply.parts if isinstance(part, Interface)] == [told, "exam_question"]
    assert chat.exam is None


def test_an_emergency_is_heard_before_the_exam_and_shows_no_text_of_one(reception: Reception) -> None:
    chat = begin(reception)

    alarm = chat.say(BREATHLESS)
    assert shows_alarm(alarm)
    assert DE["exam_question"] not in texts(alarm)
    for said in ("kosten?", "MRT"):  # a question leads nobody away from the alarm, and no exam is chosen yet
        held = chat.say(said)
        assert shows_alarm(held)
        assert chat.exam is None
    calmed = chat.say(choice=1)
    assert texts(calmed)[-1] == DE["exam_question"]
    assert choices(calmed) == ASKED
    assert texts(chat.say("kosten?")) == [DE["exam_noted"], DE["exam_question"]]
    assert chat.exam is None
    shown = [part for taken in reception.transcript(chat.opened.id) for part in taken.reply.parts]
    assert not [part for part in shown if isinstance(part, Content)]
    assert shows_alarm(chat.say("mein vater ist bewusstlos"))
    kept = reception.records.turns(chat.opened.id)
    assert [turn.decision for turn in kept if turn.decision != "talk"] == ["urgent", "urgent"]


def test_an_emergency_beside_the_name_of_an_exam_is_one(reception: Reception) -> None:
    chat = begin(reception)

    assert shows_alarm(chat.say("MRT, ich kriege keine Luft"))
    assert chat.exam is None


def test_what_was_no_emergency_is_answered_once_the_exam_is_known(reception: Reception) -> None:
    chat = begin(reception)
    assert shows_alarm(chat.say("Kann es sein, dass ich keine Luft kriege? Ich kriege keine Luft"))
    chat.say("nein, kein Notfall")

    reply = chat.say("MRT")

    assert not shows_alarm(reply)
    assert texts(reply)[0] == "Gut, es geht um: MRT."


def test_a_named_exam_is_not_asked_for(reception: Reception) -> None:
    chat = begin(reception, "mammo")

    assert DE["exam_question"] not in texts(chat.last)
    assert chat.exam == "mammo"
    assert "Mammographie: Was kostet die Untersuchung?" in texts(chat.say("kosten?"))
    with pytest.raises(BadData, match=r"There is no exam 'ct' here\. Served are: mammo, mri\."):
        begin(reception, "ct")


def test_choices_are_those_that_were_offered(reception: Reception) -> None:
    chat = begin(reception)

    with pytest.raises(NoSuchChoice):
        chat.say(choice=4)


def test_language_goes_with_the_patient(reception: Reception) -> None:
    chat = begin(reception)

    reply = chat.say("/english")
    assert texts(reply)[-1] == EN["exam_question"]
    assert choices(reply) == ["Mammogram", "MRI", EN["exam_unknown"]]
    assert texts(chat.say("MRI"))[0] == "All right, this is about: MRI."


def test_one_exam_is_served_as_ever(both: dict[str, Assistant], records: SqlRecords) -> None:
    alone = service({"mri": both["mri"]}, records)
    chat = begin(alone)

    assert DE["exam_question"] not in texts(chat.last)
    assert chat.exam == "mri"
    assert "MRT: Was kostet die Untersuchung?" in texts(chat.say("kosten?"))
    before = StoredConversation("old", NOW, "de", "rest")
    records.begin(before)
    alone.take(before, Message("t", "kosten?"))
    known = records.conversation("old")
    assert known is not None
    assert known.exam == "mri"


@pytest.mark.parametrize("left", [("mammo",), ("mammo", "ct")])
def test_a_conversation_of_an_exam_that_is_gone_goes_on_in_no_other(
    both: dict[str, Assistant], records: SqlRecords, left: tuple[str, ...]
) -> None:
    chat = begin(service(both, records), "mri")
    chat.say("kosten?")
    chat.reception = service(dict.fromkeys(left, both["mammo"]), records)

    reply = chat.say("dauer?")
    assert texts(reply) == [DE["exam_gone"], DE["emergency_notice"]]
    assert DE["exam_gone"] in texts(chat.reception.look(chat.opened).greeting())
    assert shows_alarm(chat.say(BREATHLESS))
    assert texts(chat.say(choice=1))[-2:] == [DE["exam_gone"], DE["emergency_notice"]]
    shown = [part for taken in chat.reception.transcript(chat.opened.id) for part in taken.reply.parts]
    assert not [part for part in shown if isinstance(part, Content)]
    assert chat.exam == "mri"
    chat.reception = service(both, records)
    assert "MRT: Wie lange dauert die Untersuchung?" in texts(chat.say("dauer?"))


def test_asked_of_two_exams_nobody_is_taken_for_a_patient_of_the_one_that_is_left(
    both: dict[str, Assistant], records: SqlRecords
) -> None:
    chat = begin(service(both, records))
    chat.say("dauer?")
    chat.reception = service({"mri": both["mri"]}, records)
    only = ["Hier beantworte ich inzwischen nur noch Fragen zu: MRT.", DE["exam_question"]]

    for said in ("Mammographie", "danke"):
        told = chat.say(said)
        assert texts(told)[-2].startswith(only[0])
        assert (texts(told)[-1], choices(told)) == (only[1], ["MRT", DE["exam_unknown"]])
        assert chat.exam is None
    assert shows_alarm(chat.say(BREATHLESS))
    chat.say(choice=1)
    answered = chat.say(choice=1)
    assert texts(answered)[:2] == ["Gut, es geht um: MRT.", "MRT: Wie lange dauert die Untersuchung?"]
    assert chat.exam == "mri"


WRONG = [
    ("mammo", "ich bin falsch hier, ich hab ein MRT"),
    ("mammo", "Ich will zur MRT wechseln"),
    ("mammo", "andere Untersuchung"),
    ("mammo", "wrong exam"),
    ("mammo", "sorry I meant the MRI"),
    ("mammo", "I'm having an MRI, not a mammogram"),
    ("mammo", "not the mammogram"),
    ("mammo", "MRT"),
    ("mri", "Ich habe doch eine Mammographie, keine MRT"),
    ("mri", "mammogram"),
]


def test_who_is_in_the_wrong_exam_gets_out_of_it_by_words(reception: Reception) -> None:
    missed = []
    for exam, said in WRONG:
        chat = begin(reception, exam)
        reply = chat.say(said)
        other = "mri" if exam == "mammo" else "mammo"
        keys = [part.key for part in (*reply.parts, *reply.choices) if isinstance(part, Interface)]
        if keys != ["exam_switch", f"exam:{other}", "exam_stay"] or chat.exam != exam:
            missed.append((exam, said, keys))
    assert missed == []


def test_the_turn_that_chooses_another_exam_makes_the_conversation_one_about_it(reception: Reception) -> None:
    chat = begin(reception, "mammo")
    first = chat.say("kosten?")
    offered = chat.say("falsche Untersuchung")

    chosen = chat.say(choice=1)

    assert texts(chosen) == ["Gut, es geht um: MRT.", DE["exam_ask_away"]]
    assert chat.exam == "mri"
    answered = chat.say("kosten?")
    assert texts(answered)[0] == "MRT: Was kostet die Untersuchung?"  # and not "the answer above says"
    # What was said of the other exam is still shown as that one's; and a resend gets what it got.
    shown = [taken.reply for taken in reception.transcript(chat.opened.id)]
    assert shown == [first, offered, chosen, answered]
    assert reception.take(chat.opened, Message("t3", choice=1)).reply == chosen
    chat.say("MRT, keine Mammographie")  # says what is so
    assert chat.exam == "mri"


@pytest.mark.parametrize("said", ["Nein, hier bleiben", "nein", "Mammographie"])
def test_who_stays_stays(reception: Reception, said: str) -> None:
    chat = begin(reception, "mammo")
    chat.say("andere Untersuchung")

    stayed = chat.say(said)
    assert [part.key for part in stayed.parts if isinstance(part, Interface)] == ["all_right"]
    assert chat.exam == "mammo"
    assert "Mammographie: Was kostet die Untersuchung?" in texts(chat.say("kosten?"))


@pytest.mark.parametrize(
    ("said", "told"),
    [("keins von beiden", "exam_neither"), ("der Arzt hat CT gesagt", "exam_neither"), ("beides", "exam_both")],
)
def test_who_has_none_or_all_is_told_so_where_another_exam_was_offered(
    reception: Reception, said: str, told: str
) -> None:
    chat = begin(reception, "mammo")
    chat.say("andere Untersuchung")

    assert [part.key for part in chat.say(said).parts if isinstance(part, Interface)] == [told]
    denied = begin(reception, "mri").say("Ich habe gar keine MRT, der Arzt hat CT gesagt")
    assert [part.key for part in denied.parts if isinstance(part, Interface)] == ["exam_neither"]


@pytest.mark.parametrize("said", ["Ich kriege keine Luft, falsche Untersuchung", "MRT, ich kriege keine Luft"])
def test_an_emergency_goes_before_another_exam(reception: Reception, said: str) -> None:
    chat = begin(reception, "mammo")

    assert shows_alarm(chat.say(said))
    assert shows_alarm(chat.say("andere Untersuchung"))
    assert chat.exam == "mammo"


def test_a_question_about_the_other_exam_is_no_wish_to_change(reception: Reception) -> None:
    chat = begin(reception, "mammo")

    for said in ("Ist das wie ein MRT?", "ich will einen anderen Termin", "lieber MRT statt Mammographie", "kosten?"):
        keys = [part.key for part in chat.say(said).parts if isinstance(part, Interface)]
        assert "exam_switch" not in keys


def test_an_invitation_names_the_exam_and_not_the_patient(reception: Reception) -> None:
    invited = reception.open(channel="page", language="de", consented=True, patient="p-1", exam="mammo")
    chat = Chat(reception, invited)

    told = chat.say("falsche Untersuchung")
    assert texts(told)[0].startswith("Ihre Einladung zu diesem Gespräch gilt für: Mammographie.")
    assert not told.choices
    chat.say("MRT")
    assert chat.exam == "mammo"
    # Whoever was invited to no exam has chosen by themselves, and may choose again.
    chat = Chat(reception, reception.open(channel="page", language="de", consented=True, patient="p-1"))
    chat.say("MRT")
    chat.say("falsche Untersuchung")
    chat.say(choice=1)
    assert chat.exam == "mammo"


def test_nothing_of_any_exam_can_be_shown_while_it_is_not_known(reception: Reception) -> None:
    nobody = reception.serving().assistant

    assert isinstance(nobody, Undecided)
    for text in ("kosten?", "laut?", "Tut die Untersuchung weh?", BREATHLESS):
        response = nobody.answer(text, "de")
        assert (response.pair_id, response.answer, response.choices, response.advice) == (None, None, (), None)
    assert not nobody.shown("de")
    assert not nobody.catalog("de").pairs


OFFER = "Dazu finde ich etwas bei „MRT“. Möchten Sie die Antwort aus „MRT“ sehen?"
SHOW = "Antwort aus „MRT“ zeigen"
LOUD = "Bekomme ich Ohrstöpsel gegen Lärm?"
LOUD_THERE = "Bekomme ich Ohrstöpsel gegen Lärm in der Röhre?"
LOUD_ANSWER = f"MRT: {LOUD}"


def test_what_only_another_exam_answers_is_offered_and_shown_under_its_name(reception: Reception) -> None:
    chat = begin(reception, "mammo")

    offered = chat.say(LOUD_THERE)
    assert (texts(offered), choices(offered)) == ([OFFER], [SHOW, SENTENCES["de"]["no"]])
    shown = chat.say(choice=1)
    assert texts(shown)[:2] == ["Die Antwort aus „MRT“:", LOUD_ANSWER]
    assert [part for part in shown.parts if isinstance(part, OtherExam)] == [OtherExam("mri", "own-mri", LOUD_ANSWER)]
    turn = reception.records.last_turn(chat.opened.id)
    assert turn is not None
    assert (turn.decision, turn.pair_id, turn.catalog, turn.question) == ("answered", "own-mri", "mri@1", LOUD_THERE)
    assert chat.exam == "mammo"
    assert [taken.reply for taken in reception.transcript(chat.opened.id)] == [offered, shown]
    assert "Mammographie: Was kostet die Untersuchung?" in texts(chat.say("kosten?"))


def test_without_a_name_or_a_hint_nothing_of_another_exam_is_offered(reception: Reception) -> None:
    for exam, said in (("mammo", LOUD), ("mammo", "laut?"), ("mri", "Muss ich mich oben ausziehen?")):
        assert not any(text.startswith("Dazu finde ich") for text in texts(begin(reception, exam).say(said)))
    # A hint does for what is answered alike anywhere, and not for what is kept to who names the exam.
    hinted = begin(reception, "mri").say("Muss ich mich an der Brust oben ausziehen?")
    assert not any(text.startswith("Dazu finde ich") for text in texts(hinted))
    named = begin(reception, "mri").say("Muss ich mich oben ausziehen bei der Mammo?")
    assert texts(named)[0].startswith("Dazu finde ich etwas bei „Mammographie“")


@pytest.mark.parametrize("said", ["was kostet die röhre?", "was kostet der kernspin?"])
def test_who_names_the_other_exam_is_not_told_what_this_one_says_of_the_matter(reception: Reception, said: str) -> None:
    chat = begin(reception, "mammo")

    offered = chat.say(said)

    assert (texts(offered), choices(offered)) == ([OFFER], [SHOW, SENTENCES["de"]["no"]])
    assert "MRT: Was kostet die Untersuchung?" in texts(chat.say(choice=1))
    assert texts(begin(reception, "mammo").say("was kostet die mammo?")) != [OFFER]


EASIER = ("einfacher", "/easy", "simpler")
UNDRESS_ANSWER = "Mammographie: Muss ich mich oben ausziehen?"


@pytest.mark.parametrize("said", [*EASIER, "warum?", "kosten?"])
def test_what_is_said_after_an_answer_of_another_exam_is_about_that_answer(reception: Reception, said: str) -> None:
    chat = begin(reception, "mammo")
    chat.say("kosten?")
    chat.say("was kostet die röhre?")
    chat.say(choice=1)

    told = chat.say(said)

    assert texts(told)[0] == "Die Antwort aus „MRT“:"
    assert not any(isinstance(part, Content) for part in told.parts)  # this exam's pair of the same id
    assert all(part.exam == "mri" and part.pair_id == "costs" for part in told.parts if isinstance(part, OtherExam))
    assert any(isinstance(part, OtherExam) for part in told.parts) or said in EASIER
    # What is asked of this exam is answered by this exam, which says so.
    back = texts(chat.say("Muss ich mich oben ausziehen?"))
    assert back[:2] == ["Die Antwort davor war aus „MRT“. Jetzt geht es wieder um: Mammographie.", UNDRESS_ANSWER]
    # One sentence is enough.
    assert texts(chat.say("kosten?"))[0] == "Mammographie: Was kostet die Untersuchung?"


@pytest.mark.parametrize(("said", "shows"), [("ja", True), ("nein", False), ("kosten?", False)])
def test_the_offer_can_be_answered_in_words(reception: Reception, said: str, shows: bool) -> None:
    chat = begin(reception, "mammo")
    chat.say(LOUD_THERE)

    assert (LOUD_ANSWER in texts(chat.say(said))) is shows
    # It is over then.
    assert LOUD_ANSWER not in texts(chat.say("ja"))


@pytest.mark.parametrize("said", [*EASIER, "nochmal", "again please", "also darf ich?", "und warum?", "was heißt das"])
def test_what_is_said_to_an_offer_is_never_answered_by_what_this_exam_said_before(
    reception: Reception, said: str
) -> None:
    chat = begin(reception, "mammo")
    chat.say("kosten?")
    assert texts(chat.say("was kostet die röhre?")) == [OFFER]

    told = chat.say(said)

    assert not any(isinstance(part, Content) for part in told.parts)
    shown = [part for part in told.parts if isinstance(part, OtherExam)]
    assert not shown or texts(told)[0] == "Die Antwort aus „MRT“:"
    # An offer that was not taken was no answer.
    assert "Die Antwort davor" not in texts(begin_offered(reception, "nein", "kosten?"))[0]


def begin_offered(reception: Reception, *said: str) -> Reply:
    chat = begin(reception, "mammo")
    chat.say("was kostet die röhre?")
    return [chat.say(each) for each in said][-1]


def test_after_an_offer_what_was_asked_can_be_asked_of_this_exam_and_once_more_of_the_other(
    reception: Reception,
) -> None:
    assert "Mammographie: Was kostet die Untersuchung?" in texts(begin_offered(reception, "und hier?"))
    assert "MRT: Was kostet die Untersuchung?" in texts(begin_offered(reception, "und in der Röhre?"))


def test_no_offer_where_this_exam_answers_or_somebody_is_in_danger(reception: Reception) -> None:
    chat = begin(reception, "mri")

    assert texts(chat.say(LOUD))[0] == LOUD_ANSWER
    for said in (BREATHLESS, LOUD_THERE):  # an alarm is open
        assert not any(text.startswith("Dazu finde ich") for text in texts(begin(reception, "mri").say(said)))
    chat = begin(reception, "mammo")
    chat.say(BREATHLESS)
    assert OFFER not in texts(chat.say(LOUD_THERE))


def test_an_answer_of_another_exam_goes_with_that_exam(both: dict[str, Assistant], records: SqlRecords) -> None:
    chat = begin(service(both, records), "mammo")
    chat.say(LOUD_THERE)
    chat.say(choice=1)

    alone = service({"mammo": both["mammo"]}, records)

    told = [texts(taken.reply) for taken in alone.transcript(chat.opened.id)]
    assert told == [[DE["withdrawn"]], [DE["withdrawn"]]]


def test_a_question_that_names_no_exam_is_one_about_the_own(reception: Reception) -> None:
    chat = begin(reception, "mammo")

    # Both have a pair of it, and would say something else.
    assert not any(text.startswith("Dazu finde ich") for text in texts(chat.say("Was kostet das Bild vom Arm?")))
    assert texts(chat.say("Was kostet ein MRT?")) == [OFFER]


def test_after_a_restart_without_the_other_exam_nothing_of_this_one_stands_in_its_place(
    both: dict[str, Assistant], records: SqlRecords
) -> None:
    chat = begin(service(both, records), "mammo")
    chat.say("was kostet die röhre?")
    chat.say(choice=1)
    # After a restart without that exam nothing of this one's pair of the same id is shown for it.
    alone = service({"mammo": both["mammo"]}, records)
    for number, said in enumerate(("einfacher", "/easy", "nochmal")):
        reply = alone.take(chat.opened, Message(f"a{number}", said)).reply
        assert not any(isinstance(part, (Content, OtherExam)) for part in reply.parts)


def test_an_exam_without_the_language_goes_on_in_its_own(both: dict[str, Assistant], records: SqlRecords) -> None:
    german = Assistant({"de": both["mri"]._opened["de"]}, both["mri"].encoder, sample=True, house=both["mri"].house)
    chat = begin(service({"mammo": both["mammo"], "mri": german}, records), language="en")

    assert choices(chat.last) == ["Mammogram", "MRI", EN["exam_unknown"]]
    assert texts(chat.say(choice=2)) == ["Gut, es geht um: MRT.", DE["exam_ask_away"]]
    assert "MRT: Was kostet die Untersuchung?" in texts(chat.say("kosten?"))

"""What is said to feelings and manners, about the place, and to who cannot telephone or wants simple words."""

from datetime import UTC, datetime

import pytest

from bot import Assistant
from bot.sentences.reply import Content, Interface, Place, Reply, SiteText, guard, worded
from bot.talk.dialogue import State
from bot.talk.reaction import Reaction
from bot.talk.reactions import Reactions

NOW = datetime(2026, 11, 23, 10, 30, tzinfo=UTC)


def _say(assistant: Assistant, *texts: str, language: str = "de") -> list[Reaction]:
    """Return what comes of messages of one chat; every reply passes the guard."""
    state, found = State(language), []
    for text in texts:
        reaction = Reactions(assistant).react(state, text, NOW)
        reply = reaction.reply
        said = worded(reply, Place("api", assistant.country, wording=assistant.wording))
        guard(said, assistant.catalog(reply.language), shown=assistant.shown(reply.language), house=assistant.house)
        state = reaction.after
        found.append(reaction)
    return found


def _keys(reply: Reply) -> list[str]:
    return [part.key for part in reply.parts if isinstance(part, Interface)]


def _facts(reply: Reply) -> list[str]:
    return [part.fact for part in reply.parts if isinstance(part, SiteText)]


def _pairs(reply: Reply) -> list[str]:
    return list(dict.fromkeys(part.pair_id for part in reply.parts if isinstance(part, Content)))


@pytest.mark.parametrize(
    ("language", "text", "key"),
    [
        ("de", "Ich hab solche Angst, mir ist ganz schlecht vor Aufregung", "feel_fear"),
        ("de", "lieg seit stunden wach wegen morgen", "feel_sleepless"),
        ("de", "mir ist das so peinlich mich da auszuziehen", "feel_shame"),
        ("de", "Unverschämtheit, dass ihr mich so lange warten lasst!", "feel_anger"),
        ("de", "du bist doch total unfähig du doofe maschine", "feel_insult"),
        ("de", "das haben Sie wirklich schön erklärt", "feel_praise"),
        ("en", "I'm absolutely terrified about tomorrow", "feel_fear"),
        ("en", "you're useless, stupid thing", "feel_insult"),
        ("en", "you explained that so well, lovely chat", "feel_praise"),
    ],
)
def test_a_feeling_is_met_with_its_own_sentence(shipped: Assistant, language: str, text: str, key: str) -> None:
    (reaction,) = _say(shipped, text, language=language)

    assert _keys(reaction.reply)[0] == key


def test_who_will_not_come_is_told_that_it_is_voluntary_and_whom_to_call(shipped: Assistant) -> None:
    (reaction,) = _say(shipped, "ich will da nicht mehr hin")

    assert _keys(reaction.reply)[0] == "refusal"
    assert _pairs(reaction.reply) == ["taking-part"]
    assert _facts(reaction.reply) == ["phone"]


@pytest.mark.parametrize("text", ["ich habe solche Angst", "Du bist dumm", "Wie wird das Wetter in Paris?"])
def test_no_reply_begins_with_the_same_sentence_three_times_in_a_row(shipped: Assistant, text: str) -> None:
    begun = [reaction.reply.parts[0].text for reaction in _say(shipped, *[text] * 6)]

    assert all(len(set(three)) > 1 for three in zip(begun, begun[1:], begun[2:], strict=False)), begun


@pytest.mark.parametrize(
    ("language", "text", "fact"),
    [
        ("de", "Wie ist die Telefonnummer?", "phone"),
        ("de", "kann ich den termin verschieben", "move"),
        ("de", "wo kann ich parken", "travel"),
        ("de", "ich will mit einem Menschen reden", "person"),
        ("de", "Gibt es jemanden der Türkisch übersetzt?", "interpreter"),
        ("en", "what's your phone number", "phone"),
        ("en", "can I cancel my appointment", "move"),
        ("en", "is there parking", "travel"),
        ("en", "are you open on Fridays", "hours"),
    ],
)
def test_the_place_is_told_of_from_the_file_of_the_site(
    shipped: Assistant, language: str, text: str, fact: str
) -> None:
    (reaction,) = _say(shipped, text, language=language)

    assert fact in _facts(reaction.reply)


@pytest.mark.parametrize("language", ["de", "en"])
def test_what_has_no_answer_ends_with_number_and_hours(shipped: Assistant, language: str) -> None:
    (reaction,) = _say(shipped, "Zebra Quartalsbilanz Xylophon?", language=language)

    assert _keys(reaction.reply)[0].startswith("declined")
    assert _facts(reaction.reply) == ["phone"]


@pytest.mark.parametrize(
    ("language", "text"),
    [("de", "Ich bin gehörlos"), ("de", "telefonieren kann ich nicht mehr"), ("en", "I can't use the phone, I'm deaf")],
)
def test_who_cannot_telephone_is_sent_to_no_telephone_from_then_on(
    shipped: Assistant, language: str, text: str
) -> None:
    asks = {"de": "Kann ich mit einem Menschen reden?", "en": "Can I speak to a human being?"}[language]
    _, unknown, person = _say(shipped, text, "Zebra Quartalsbilanz Xylophon?", asks, language=language)

    assert _facts(unknown.reply) == ["written"]
    assert "written" in _facts(person.reply)
    assert {"phone", "person"}.isdisjoint(_facts(person.reply))


def test_what_is_asked_beside_an_open_alarm_is_answered_after_whom_to_call(
    shipped: Assistant,
) -> None:
    alarm, asked = _say(shipped, "mein mann ist umgefallen und atmet nicht", "ist am Samstag jemand erreichbar?")

    assert alarm.after.alarmed
    assert _keys(asked.reply)[0] == _keys(alarm.reply)[0] == "urgent"
    assert _facts(asked.reply)
    assert asked.reply.choices == alarm.reply.choices
    assert asked.after.alarmed


@pytest.mark.parametrize(
    ("language", "alarm", "text"),
    [
        ("de", "mein mann ist umgefallen und atmet nicht", "der krankenwagen ist unterwegs"),
        ("en", "my husband has collapsed and is not breathing", "ambulance is coming"),
    ],
)
def test_who_says_that_help_comes_is_told_what_to_do_until_then(
    shipped: Assistant, language: str, alarm: str, text: str
) -> None:
    raised, coming = _say(shipped, alarm, text, language=language)

    assert raised.after.alarmed
    assert _keys(coming.reply) == ["help_coming"]
    assert coming.after.alarmed


@pytest.mark.parametrize("text", ["soll ich einen krankenwagen rufen", "der krankenwagen kommt nicht", "kommt hilfe?"])
def test_who_is_not_sure_of_help_is_told_whom_to_call(shipped: Assistant, text: str) -> None:
    _, asked = _say(shipped, "mein mann ist umgefallen und atmet nicht", text)

    assert any(key.startswith(("urgent", "emergency_notice")) for key in _keys(asked.reply))


def test_who_asks_for_simple_words_gets_them_first_until_they_want_none(shipped: Assistant) -> None:
    wish, first, second, off, after = _say(
        shipped,
        "mein deutsch ist nicht gut",
        "Tut das weh?",
        "Was kostet das?",
        "ausführlich bitte",
        "Wie lange dauert es?",
    )

    def leads(reaction: Reaction) -> list[str]:
        return [part.field for part in reaction.reply.parts if isinstance(part, Content)]

    assert _keys(wish.reply) == ["simple_on"]
    assert _facts(wish.reply) == ["interpreter"]
    assert leads(first)[0] == "easy_answer"
    assert leads(second)[0] == "easy_answer"
    assert _keys(off.reply) == ["simple_off"]
    assert leads(after)[0] == "short_answer"


def test_who_has_little_of_the_language_is_told_once_why_the_answers_are_simple(shipped: Assistant) -> None:
    told = _say(shipped, "ich nix gut deutsch, was machen da mit mir brust?", "wie lange ich muss bleiben da?")

    assert ["simple_intro" in _keys(reaction.reply) for reaction in told].count(True) == 1
    assert next(part.field for part in told[1].reply.parts if isinstance(part, Content)) == "easy_answer"


@pytest.mark.parametrize(
    "text",
    [
        "Guten Abend. Ich bin 47 und nehme Hormone. Ab wann wird bei mir eine Mammographie empfohlen?",
        "Guten Tag, nun zu meinem Anliegen: Werden mir mit Osteoporose die Rippen gebrochen?",
    ],
)
def test_a_greeting_swallows_no_question(shipped: Assistant, text: str) -> None:
    (reaction,) = _say(shipped, text)

    assert "greeting" not in _keys(reaction.reply)


def test_who_is_not_afraid_is_not_comforted(shipped: Assistant) -> None:
    (reaction,) = _say(shipped, "ICH HABE KEINE ANGST. DANKE TSCHÜSS")

    assert not any(key.startswith("feel_fear") for key in _keys(reaction.reply))


def test_of_a_complaint_the_short_answer_comes_first_too(shipped: Assistant) -> None:
    complaint, about_it = _say(shipped, "Ich habe einen Knoten in der Brust", "ist das gefährlich?")

    for reaction in (complaint, about_it):
        fields = [part.field for part in reaction.reply.parts if isinstance(part, Content)]
        assert fields == ["short_answer", "answer"]
    assert _keys(complaint.reply)[0] == "complaint_days"
    assert _keys(about_it.reply)[0] == "remember_days"


def test_a_question_of_its_own_does_not_close_an_alarm(shipped: Assistant) -> None:
    alarm, asked = _say(shipped, "krieg grad kaum luft und hab so ein druck auf der brust", "muss ich was mitbringen")

    assert alarm.after.alarmed
    assert asked.decided is not None
    assert asked.decided.decision == "answered"
    assert _keys(asked.reply)[-1] == "is_emergency"
    assert asked.reply.choices == alarm.reply.choices
    assert asked.after.alarmed


@pytest.mark.parametrize(
    ("language", "text", "pair"),
    [
        (
            "de",
            "Ich habe solche Angst vor Donnerstag, dass ich schon die ganze Woche an nichts anderes denke, und im Büro "
            "mache ich nur noch Fehler. Mein Mann lacht mich aus, der hat gut reden. Muss ich am Tag der Mammographie das "
            "Deo weglassen?",
            "deodorant",
        ),
        (
            "en",
            "Since the letter came I have been terrified. My colleague told me about her appointment and how long she "
            "looked for a parking space, and the dog barks all day. How high is the radiation with such a picture?",
            "radiation",
        ),
    ],
)
def test_a_feeling_swallows_no_question_of_a_story(shipped: Assistant, language: str, text: str, pair: str) -> None:
    (reaction,) = _say(shipped, text, language=language)

    assert _keys(reaction.reply)[0] == "feel_fear"
    assert reaction.decided is not None
    assert reaction.decided.decision in ("answered", "clarify")
    assert pair in (reaction.decided.pair_id, *reaction.after.choices)

"""Plain replies to the questions of the shipped form, as patients give them in passing: proposed, never stored at once."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

import pytest

from bot.catalog.fhir_files import shipped_synonyms, shipped_terminology
from bot.interview.form.form import Form
from bot.interview.load import load_form
from bot.interview.manners.listening import asked_of, question_like
from bot.interview.reading.reader import read, read_command
from bot.interview.reading.reading import Ambiguous, DontKnow, NotUnderstood, Read, Reading
from bot.sentences.spoken import spoken
from tests.bot.interview.chat import Chat, mammography
from tests.bot.interview.reading.replies import codes

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)  # a Sunday


@cache
def _form() -> Form:
    return load_form(mammography(), known=shipped_terminology(), synonyms=shipped_synonyms())


def _reading(language: str, link_id: str, said: str, now: datetime = NOW) -> Reading:
    item = _form().by_link_id[link_id]
    return read(said, asked_of(item, item.options, language, now), language=language, today=now.date())


def _proposed(language: str, link_id: str, said: str, now: datetime = NOW) -> str:
    """Return the answer that is read back, in words; what is stored at once fails."""
    reading = _reading(language, link_id, said, now)
    assert isinstance(reading, Read), (said, reading)
    assert not reading.literal, said
    return spoken(_form(), link_id, reading.answers, language)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "I was adopted so no idea"),
        ("en", "I'm adopted, so I don't know"),
        ("en", "don't know, I'm adopted"),
        ("en", "never met my parents, no idea"),
        ("en", "my parents died early, so I couldn't tell you"),
        ("de", "bin adoptiert, keine ahnung"),
        ("de", "weiß ich nicht, bin adoptiert"),
        ("de", "ich bin adoptiert und weiß es deshalb nicht"),
        ("de", "kein Kontakt zur Familie, weiß nicht"),
    ],
)
def test_a_reason_for_not_knowing_is_no_answer_beside_it(language: str, said: str) -> None:
    assert _proposed(language, "family-cancer", said) == {"de": "Weiß ich nicht", "en": "I don't know"}[language]
    assert _proposed(language, "own-cancer", said) == {"de": "Weiß ich nicht", "en": "I don't know"}[language]
    assert isinstance(_reading(language, "weaned", said), DontKnow)
    assert isinstance(_reading(language, "relative-age", said), DontKnow)


@pytest.mark.parametrize(
    ("language", "link_id", "said", "answer"),
    [
        ("de", "family-cancer", "keine Ahnung, meine Oma vielleicht", "ja"),
        ("de", "family-cancer", "meine Tante glaub ich, weiß nicht genau", "ja"),
        ("en", "family-cancer", "not sure, my gran maybe", "yes"),
        ("de", "family-cancer", "nein, keine Ahnung", "nein"),
        ("de", "last-mammogram", "keine Ahnung, 2019 oder so", "2019"),
        ("de", "age", "keine Ahnung, 52", "52"),
    ],
)
def test_an_answer_beside_not_knowing_stays_the_answer(language: str, link_id: str, said: str, answer: str) -> None:
    assert _proposed(language, link_id, said).lower() == answer


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "na klar dürft ihr das"), ("de", "von mir aus"), ("de", "meinetwegen"), ("de", "mir egal"),
        ("de", "ist mir egal"), ("de", "klar doch, machen Sie nur"), ("de", "wenn's sein muss"), ("de", "nur zu"),
        ("de", "hab nichts dagegen"), ("de", "kein Problem"), ("de", "stört mich nicht"), ("de", "warum nicht"),
        ("de", "dürfen Sie ruhig alles lesen"), ("de", "können Sie gern alles speichern"), ("de", "geht klar"),
        ("de", "sonst wär ich ja nicht hier"), ("de", "na dann machen Sie mal"),
        ("en", "go ahead, I don't mind"), ("en", "fine by me"), ("en", "if you must"), ("en", "no problem"),
        ("en", "I've no objection"), ("en", "whatever"), ("en", "you may"), ("en", "can't see why not"),
        ("en", "no I don't mind"), ("en", "doesn't bother me"), ("en", "be my guest"), ("en", "feel free"),
        ("en", "that's fine by me"), ("en", "course you can"),
    ],
)  # fmt: skip
def test_leave_that_is_given_in_any_words_is_proposed_as_yes(language: str, said: str) -> None:
    assert _proposed(language, "consent", said) == {"de": "Ja", "en": "Yes"}[language]
    assert Chat(mammography(), language).say(said).open == "read-back consent"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "lieber nicht"), ("de", "nö lieber nicht"), ("de", "muss nicht sein"), ("de", "ungern"),
        ("de", "das möchte ich nicht"), ("de", "ist mir nicht recht"), ("de", "ich habe etwas dagegen"),
        ("de", "kommt nicht in Frage"), ("de", "geht euch nichts an"), ("de", "lieber persönlich"),
        ("en", "I'd rather not"), ("en", "please don't"), ("en", "I'd prefer not to"), ("en", "I do mind"),
        ("en", "not comfortable with that"), ("en", "I'd rather you didn't"), ("en", "you can't"),
    ],
)  # fmt: skip
def test_leave_that_is_kept_back_is_proposed_as_no(language: str, said: str) -> None:
    assert _proposed(language, "consent", said) == {"de": "Nein", "en": "No"}[language]
    assert Chat(mammography(), language).say(said).open == "read-back consent"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "mir nicht egal"), ("de", "meinetwegen nicht"), ("de", "können Sie das löschen"),
        ("de", "kann man das widerrufen"), ("de", "wer liest das denn?"), ("en", "what happens with it?"),
        ("en", "not sure"), ("de", "weiß nicht"),
    ],
)  # fmt: skip
def test_what_gives_no_leave_is_never_taken_for_it(language: str, said: str) -> None:
    assert not isinstance(_reading(language, "consent", said), Read)


@pytest.mark.parametrize(("language", "said"), [("de", "kein Problem"), ("en", "no problem"), ("de", "alles gut")])
def test_no_problem_gives_leave_only_where_it_is_asked_for(language: str, said: str) -> None:
    assert isinstance(_reading(language, "interpreter", said), NotUnderstood)


@pytest.mark.parametrize(
    ("language", "link_id", "said", "answer"),
    [
        ("de", "complaints-now", "weder noch", "Nein, nichts davon"),
        ("de", "interpreter", "weder noch", "Nein"),
        ("de", "pregnant", "weder noch", "Nein, nicht schwanger"),
        ("en", "devices", "neither nor", "None of these"),
        ("de", "breastfeeding", "um Gottes willen nein", "Nein"),
        ("de", "own-cancer", "toi toi toi nein", "Nein"),
        ("en", "own-cancer", "touch wood, no", "No"),
        ("en", "own-cancer", "heavens no", "No"),
        ("en", "breastfeeding", "still nursing, yes", "Yes"),
        ("de", "own-cancer", "Ja, mit Tamoxifen in Behandlung", "Ja, ich bin jetzt krank oder in Behandlung"),
        ("de", "breastfeeding", "schon lange nicht mehr", "Nein"),
        ("de", "mammogram-before", "alle zwei Jahre", "Ja"),
        ("en", "mammogram-before", "every other year", "Yes"),
        ("en", "mammogram-before", "went every year", "Yes"),
        ("en", "mammogram-before", "three times", "Yes"),
        ("de", "mammogram-before", "schon zweimal", "Ja"),
        ("de", "mammogram-before", "immer brav gegangen", "Ja"),
        ("en", "mammogram-before", "always went", "Yes"),
        ("de", "implant", "Implantate? Nee, nie", "Nein"),
        ("en", "implant", "implants? no never", "No"),
        ("de", "own-cancer", "Krebs? Zum Glück nicht", "Nein"),
        ("de", "pregnant", "in meinem Alter? nein", "Nein, nicht schwanger"),
        ("en", "complaints-now", "a lump? yes", "Lump or hard area"),
        ("de", "own-cancer", "nicht dass ich wüsste", "Nein"),
        ("en", "family-cancer", "not that I know of", "No"),
        ("de", "mammogram-before", "hatte ich noch nie", "Nein"),
        ("de", "procedures", "hatte ich noch nie", "Nein, nichts davon"),
        ("en", "implant", "never had one", "No"),
    ],
)
def test_yes_and_no_in_plain_words_are_proposed(language: str, link_id: str, said: str, answer: str) -> None:
    assert _proposed(language, link_id, said) == answer
    assert question_like(said, language) != "clear"


@pytest.mark.parametrize(
    ("language", "link_id", "said"),
    [
        ("en", "mammogram-before", "not every year"),
        ("de", "interpreter", "immer müde gewesen"),
        ("de", "own-cancer", "nicht, ja"),
        ("de", "implant", "Implantate? Was ist das?"),
        ("en", "interpreter", "what do you mean by an interpreter?"),
    ],
)
def test_what_says_neither_yes_nor_no_stays_open(language: str, link_id: str, said: str) -> None:
    assert isinstance(_reading(language, link_id, said), NotUnderstood)


@pytest.mark.parametrize(
    ("language", "said", "like"),
    [
        ("de", "Krebs? Zum Glück nicht", "no"),
        ("en", "at my age? no", "no"),
        ("de", "Was ist ein Implantat?", "clear"),
        ("de", "wozu ist das gut? nein", "clear"),
        ("en", "can't see why not", "no"),
        ("en", "can't you ask my doctor?", "clear"),
        ("de", "ist ewig her, keine Ahnung mehr", "no"),
        ("de", "können Sie gern alles speichern", "no"),
        ("de", "können Sie das alles wieder löschen", "clear"),
    ],
)
def test_a_question_said_again_and_answered_is_none(language: str, said: str, like: str) -> None:
    assert question_like(said, language) == like


@pytest.mark.parametrize(
    ("language", "said", "answer"),
    [
        ("de", "seit Ostern", "April 2026"),
        ("en", "since Easter", "April 2026"),
        ("de", "Ostern 2024", "März 2024"),
        ("en", "Easter last year", "April 2025"),
        ("de", "seit Pfingsten", "Mai 2026"),
        ("de", "seit Ostermontag", "6. April 2026"),
        ("en", "since Good Friday", "3 April 2026"),
        ("de", "an Weihnachten", "Dezember 2025"),
        ("de", "letztes Jahr an Weihnachten", "Dezember 2025"),
        ("en", "at Christmas", "December 2025"),
        ("de", "seit Silvester", "31. Dezember 2025"),
        ("en", "since new year", "January 2026"),
        ("de", "vor zwei drei Monaten", "September 2026"),
        ("en", "two or three months ago", "September 2026"),
        ("en", "a couple of months ago", "September 2026"),
        ("de", "vor 2-3 Wochen", "November 2026"),  # not to the day
        ("de", "so zwei drei Wochen", "November 2026"),
        ("en", "three weeks", "1 November 2026"),
        ("de", "im Herbst 22", "2022"),
        ("en", "autumn 22", "2022"),
        ("de", "letztes Frühjahr", "2026"),
        ("de", "letzten Herbst", "2025"),
        ("de", "im Frühjahr", "2026"),
        ("de", "Anfang des Jahres", "2026"),
        ("en", "at the beginning of the year", "2026"),
        ("de", "Anfang des Monats", "November 2026"),
    ],
)
def test_dates_in_plain_words_are_proposed_as_exact_as_they_are(language: str, said: str, answer: str) -> None:
    assert _proposed(language, "complaint-since", said) == answer


def test_parts_of_a_year_and_feasts_that_lie_ahead_are_those_of_the_last() -> None:
    march = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    assert _proposed("de", "complaint-since", "seit Ostern", march) == "April 2025"
    assert _proposed("de", "complaint-since", "Ende des Jahres", march) == "2025"
    assert _proposed("en", "complaint-since", "in the autumn", march) == "2025"
    assert _proposed("de", "complaint-since", "Ende des Monats", march) == "Februar 2026"


@pytest.mark.parametrize(
    ("language", "said", "why"),
    [
        ("de", "irgendwann in den Neunzigern", "decade"),
        ("en", "sometime in the nineties", "decade"),
        ("en", "in the 90s", "decade"),
        ("de", "in den 90ern", "decade"),
        ("de", "Anfang der Achtziger", "decade"),
        ("de", "letzten Winter", "vague"),
        ("de", "kurz vor Weihnachten", "limit"),
    ],
)
def test_what_is_too_rough_for_a_date_is_asked_for_and_never_guessed(language: str, said: str, why: str) -> None:
    reading = _reading(language, "last-mammogram", said)

    assert isinstance(reading, NotUnderstood)
    assert reading.why == why


def test_a_decade_is_kept_in_the_patients_words_and_a_year_is_asked_for() -> None:
    chat = Chat(mammography()).say("1", "1", "52", "nein", "ja")
    assert chat.open == "question last-mammogram"

    chat.say("irgendwann in den Neunzigern")

    assert chat.keys[:2] == ["why_decade", "noted"]
    assert chat.open == "question last-mammogram"


@pytest.mark.parametrize(
    ("language", "said", "age"),
    [
        ("de", "61, werd bald 62", 61),
        ("de", "52 werd ich im März 53", 52),
        ("de", "ich werde im Mai 53", 52),
        ("de", "bin 61, nächsten Monat 62", 61),
        ("de", "einundsechzig, werd bald zweiundsechzig", 61),
        ("en", "I'm 61 going on 62", 61),
        ("en", "52, 53 next month", 52),
        ("en", "turning 62 in May", 61),
        ("de", "bin Jahrgang 64", 62),
        ("de", "64er Jahrgang", 62),
        ("de", "1964", 62),
        ("en", "born in 64", 62),
        ("en", "52 years old, born in 1974", 52),
        ("de", "geboren am 24.12.1964", 61),
        ("de", "1.5.72", 54),
    ],
)
def test_an_age_is_worked_out_and_read_back(language: str, said: str, age: int) -> None:
    assert _proposed(language, "age", said) == str(age)


@pytest.mark.parametrize(
    ("language", "link_id", "said"),
    [
        ("de", "age", "nix"),
        ("de", "age", "nichts"),
        ("en", "age", "nothing"),
        ("en", "age", "none"),
        ("de", "relative-age", "nix"),
        ("de", "relative-age", "Jahrgang 64"),  # the year of birth is no age of the past
        ("de", "own-cancer-age", "2010"),
        ("de", "age", "ich bin 61 und mein Mann ist 64"),
    ],
)
def test_what_is_no_age_is_not_taken_for_one(language: str, link_id: str, said: str) -> None:
    assert isinstance(_reading(language, link_id, said), NotUnderstood)


@pytest.mark.parametrize(
    ("language", "link_id", "said"),
    [("de", "family-cancer", "blau"), ("en", "blood-thinner", "purple"), ("de", "weaned", "blau")],
)
def test_where_yes_or_no_is_asked_no_list_is_spoken_of(language: str, link_id: str, said: str) -> None:
    reading = _reading(language, link_id, said)

    assert isinstance(reading, NotUnderstood)
    assert reading.why == "yes-no"


def test_the_hint_where_yes_or_no_is_asked_fits_it() -> None:
    chat = Chat(mammography()).say("1", "1", "52", "blau")
    assert chat.said[0] == "Das habe ich leider nicht verstanden. Bitte antworten Sie mit Ja oder Nein."

    chat.say("nein", "lila")

    assert chat.open == "question mammogram-before"
    assert chat.keys[0] == "why_yes_no"


@pytest.mark.parametrize(
    ("language", "said", "expected"),
    [
        (
            "en", "the lot: biopsy, lumpectomy, rads",
            ["biopsy", "breast-cancer-operation", "other-procedure"],
        ),
        ("de", "alles: Biopsie, Brust ab, Bestrahlung", ["biopsy", "breast-removed", "other-procedure"]),
        ("de", "alles mögliche: Biopsie und Bestrahlung", ["biopsy", "other-procedure"]),
        ("en", "chemo and mastectomy", ["other-procedure", "breast-removed"]),
    ],
)  # fmt: skip
def test_the_list_after_a_colon_counts(language: str, said: str, expected: list[str]) -> None:
    reading = _reading(language, "procedures", said)

    assert codes(reading) == expected
    assert isinstance(reading, Read)
    assert reading.remainder == ""


def test_an_operation_that_may_be_one_of_several_is_asked_for() -> None:
    reading = _reading("de", "procedures", "alles: Biopsie, OP, Bestrahlung")

    assert isinstance(reading, Ambiguous)  # neither all of the list, nor one that was not said


@pytest.mark.parametrize("said", ["Dreimonatsspritze", "3-Monatsspritze", "Depo-Clinovir", "depot shot", "Implanon"])
def test_names_of_hormones_are_known(said: str) -> None:
    for language in ("de", "en"):
        assert codes(_reading(language, "hormones", said)) == ["contraceptive-hormones"]


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", ["since march", "since 2020", "since last summer", "since Easter", "since the kids, about 2010 or so"]),
        ("de", ["seit März", "seit 2020", "seit Ostern", "seit dem Kind 2020", "vor zwei Tagen"]),
    ],
)
def test_words_of_time_never_go_back_to_another_question(language: str, texts: list[str]) -> None:
    yes, skip = {"de": ("ja", "überspringen"), "en": ("yes", "skip")}[language]
    chat = Chat(mammography(), language).say(yes, "1", "52")
    seen = list[str]()
    for _ in range(60):
        kind, _, link_id = chat.open.partition(" ")
        if kind == "summary":
            break
        if kind == "question" and link_id not in seen:
            seen.append(link_id)
            before = chat.session
            for said in texts:
                now = chat.say(said).open.partition(" ")[2]
                assert now == link_id or now not in seen, (link_id, said)
                chat.session = before
        known = {
            "complaint-since": "2024",
            "last-mammogram": "2019",
            "period": "1",
            "complaints-now": "1",
            "own-cancer": "2",
        }
        ask_yes = kind != "another" and link_id in ("mammogram-before", "family-cancer")
        chat.say(yes if ask_yes or kind == "read-back" else known.get(link_id, skip))
    assert "complaint-since" in seen
    assert "last-period" in seen


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "since march"), ("en", "change of life I think"), ("en", "a change in my left nipple"),
        ("en", "can I change my mind later"), ("en", "a while back"), ("en", "back in 2019"),
        ("de", "kann ich meine Meinung noch ändern"), ("de", "zwei Jahre zurück"), ("de", "seit letztem Jahr"),
        ("de", "weiter nichts"), ("de", "lieber nicht"), ("en", "I'd rather not"),
    ],
)  # fmt: skip
def test_ordinary_words_are_no_commands(language: str, said: str) -> None:
    assert read_command(said, language=language) is None

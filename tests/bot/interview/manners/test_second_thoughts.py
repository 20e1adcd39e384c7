"""Who says no and then remembers is heard; a reply about one question changes no other answer."""

from __future__ import annotations

import pytest

from bot.interview.form.texts import Synonyms
from bot.talk.messages import wants_interview
from tests.bot.interview.chat import Chat, mammography
from tests.bot.interview.resources import coding, form, item

TO_COMPLAINTS = {
    "en": ("yes", "screening", "45", "no", "no", "skip"),
    "de": ("ja", "Früherkennung", "45", "nein", "nein", "überspringen"),
}


def _at_complaints(language: str) -> Chat:
    chat = Chat(mammography(), language).say(*TO_COMPLAINTS[language])
    assert chat.open == "question complaints-now"
    return chat


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "I've got a lump"), ("en", "my left breast hurts"), ("de", "ich habe einen Knoten")],
)
def test_a_complaint_that_is_named_means_yes(language: str, said: str) -> None:
    chat = _at_complaints(language).say(said)

    if chat.open.startswith("read-back"):
        chat.say("yes" if language == "en" else "ja")
    assert chat.open == "question complaint-kind"
    assert len(chat.answers("complaints", "complaints-now")) == 1


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "my sister has a lump"), ("en", "no lump"), ("de", "meine Schwester hat einen Knoten")],
)
def test_a_complaint_of_somebody_else_or_denied_is_none(language: str, said: str) -> None:
    chat = _at_complaints(language).say(said)

    assert chat.open == "read-back complaints-now"
    assert chat.say("no" if language == "en" else "nein").answers("complaints", "complaints-now") == []


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "my sister has a lump"), ("en", "no lump"), ("de", "meine Schwester hat einen Knoten")],
)
def test_a_complaint_of_somebody_else_or_denied_is_no_yes(language: str, said: str) -> None:
    asked = {"de": "Haben Sie jetzt einen Knoten oder Schmerzen?", "en": "Do you have a lump or pain now?"}
    questionnaire = form(item("now", "boolean", text=asked[language]), item("rest", "string"), language=language)
    names = Synonyms(options={"now": {"true": ("knoten", "schmerzen", "lump", "pain")}})
    chat = Chat(questionnaire, language, synonyms={str(questionnaire["url"]): names}).say(said)

    if chat.open.startswith("read-back"):
        assert not any("Ja" in text or "Yes" in text for text in chat.said)
    else:
        assert chat.open in ("question now", "question rest")


@pytest.mark.parametrize(
    "said", ["yes I have had it", "no, I have had that", "wait, I did have it", "hang on, I had one"]
)
def test_what_was_read_back_as_no_is_taken_back_in_any_words(said: str) -> None:
    chat = Chat(form(item("op", "boolean", text="Have you ever had an operation?"), language="en"), "en")
    chat.say("I don't think so")
    assert chat.open == "read-back op"

    chat.say(said)
    assert chat.value("op") is not False


def test_a_reply_to_an_open_question_corrects_no_other_answer() -> None:
    chat = Chat(
        form(
            item("side", "string", text="Which side hurts?"),
            item("since", "date", text="Since when?"),
            item("implant", "string", text="Do you have an implant or a pacemaker?"),
            language="en",
        ),
        "en",
    ).say("right side", "2019")
    assert chat.open == "question implant"

    chat.say("pacemaker, left side, since March")

    assert (chat.value("side"), str(chat.value("since"))) == ("right side", "2019")
    assert chat.open == "summary"


@pytest.mark.parametrize("said", ["number 1 is wrong", "1 is wrong", "please change number 1"])
def test_a_row_of_the_summary_is_found_by_its_number_in_a_sentence(said: str) -> None:
    chat = Chat(
        form(item("age", "integer", text="How old are you?"), item("year", "date", text="When?"), language="en"), "en"
    )
    chat.say("61", "2019")
    assert chat.open == "summary"

    assert chat.say(said).open == "question age"


@pytest.mark.parametrize(
    ("language", "said"), [("de", "sonst niemand"), ("de", "niemand sonst"), ("en", "nobody else")]
)
def test_nobody_else_ends_what_can_be_told_several_times(language: str, said: str) -> None:
    who = {"de": "Wer in Ihrer Familie?", "en": "Who in your family?"}[language]
    chat = Chat(
        form(item("g", "group", text=who, repeats=True, item=[item("who", "string", text=who)]), language=language),
        language,
    )
    chat.say(*{"de": ("Mutter", "ja"), "en": ("mother", "yes")}[language])
    assert chat.open == "another g"

    assert chat.say(said).open == "summary"


@pytest.mark.parametrize(
    "said",
    [
        "ich möchte jetzt den Fragebogen ausfüllen",
        "können wir den Fragebogen machen",
        "kannst du mit mir die fragen von der radiologie machen",
        "let's fill in the questionnaire",
        "I want to do the questionnaire now",
    ],
)
def test_the_interview_begins_in_a_patients_own_words(said: str) -> None:
    assert wants_interview(said)


@pytest.mark.parametrize(
    "said",
    [
        "Der Fragebogen macht mir Angst",
        "my medical history starts with asthma",
        "ich will den Fragebogen nicht ausfüllen",
        "wie lange dauert es den Fragebogen auszufüllen",
        "do I have to fill in the questionnaire",
        "was machen Sie mit dem Fragebogen",
    ],
)
def test_a_word_about_the_interview_does_not_begin_it(said: str) -> None:
    assert not wants_interview(said)


def _with_a_change() -> Chat:
    chat = Chat(mammography()).say("ja", "1", "67", "nein", "2", "3", "knoten", "überspringen", "links")
    chat.say("oben aussen ein bisschen", "ist schon lange da aber wächst jetzt", "ungefähr 2024")
    assert chat.open == "question complaint-seen"
    return chat


WRONG = "nein das mit der veränderung is falsch"


def test_a_complaint_opens_what_it_names_and_not_what_was_shown_last() -> None:
    chat = _with_a_change().say(WRONG)
    assert chat.open == "question complaint-change"
    waiting = {path[-1][0] for path in chat.session.filling.waiting}
    assert waiting >= {"complaint-place", "complaint-change", "complaint-since"}


def test_a_complaint_about_a_list_opens_the_line_that_shares_most_words() -> None:
    chat = _with_a_change().say("nein")
    assert chat.open == "checking"
    chat.say(WRONG)
    assert chat.open == "question complaint-change"
    chat.say("überspringen")
    assert "kept" in chat.keys
    waiting = {path[-1][0] for path in chat.session.filling.waiting}
    assert waiting >= {"complaint-place", "complaint-change", "complaint-since"}


def test_a_complaint_that_fits_several_lines_asks_which_with_choices() -> None:
    kinds = [coding("a", display="Biopsie"), coding("b", display="Nichts")]
    group = item("g", "group", text="Früher", item=[
        item("left", "choice", text="Operation links?", answerOption=kinds),
        item("right", "choice", text="Operation rechts?", answerOption=kinds),
    ])  # fmt: skip
    chat = Chat(form(group, item("age", "integer", text="Wie alt?")))
    chat.say("eine biopsie war das glaube", "da auch eine biopsie glaube")
    assert chat.open == "checking"
    chat.say("nein das mit der operation ist falsch")
    assert (chat.open, chat.choices) == ("choosing", ["Operation links?", "Operation rechts?"])
    assert len(chat.session.filling.waiting) == 2
    assert chat.say("2").open == "question right"

"""The page of a running service, as a browser without JavaScript sees it."""

from __future__ import annotations

import pytest

from bot import Assistant
from bot.sentences.reply import SENTENCES
from bot.web.page.rendering import load_labels
from tests.bot.web.browser import Browser, Browsers
from tests.shipped_texts import PHRASES, SAID

LABELS = load_labels()
UNCLEAR = {"de": "Ergebnis und Schmerzen", "en": "pain and results"}
NUMBERS = {"de": ["tel:112", "tel:144"], "en": ["tel:112", "tel:999", "tel:144"]}
QUESTION = {"de": "Tut das weh?", "en": "Does it hurt?"}


@pytest.fixture(params=["de", "en"])
def browser(request: pytest.FixtureRequest, browsers: Browsers) -> Browser:
    return browsers(request.param)


def begun(browser: Browser) -> dict[str, str]:
    """Begin a conversation, and return the labels of its language."""
    page = browser.open("/")
    labels = dict(LABELS[page.one("html").get("lang")])
    browser.press(labels["begin"], consent="yes")
    assert browser.answer.url.path == "/chat"
    return labels


def language_of(browser: Browser) -> str:
    return browser.page.one("html").get("lang")


def test_the_start_says_who_answers_and_whom_to_call(browser: Browser) -> None:
    page = browser.open("/")
    labels = LABELS[language_of(browser)]

    for key in (
        "who_program",
        "who_texts_sample",
        "can_1",
        "can_2",
        "cannot_1",
        "consent_text",
        "consent_free",
        "sample_note",
    ):
        assert labels[key] in browser.text
    assert [link.get("href") for link in page.all("a", class_="call")] == NUMBERS[language_of(browser)]
    assert page.one("title").children == [f"{PHRASES[language_of(browser)]['heading']} – {labels['title']}"]


def test_without_consent_nothing_begins_and_the_box_is_marked(browser: Browser) -> None:
    browser.open("/")
    labels = LABELS[language_of(browser)]

    page = browser.press(labels["begin"])

    box = page.one("input", name="consent")
    assert page.one(id=box.get("aria-describedby")).text == labels["consent_missing"]
    assert box.get("aria-invalid") == "true"
    assert browser.open("/chat").one("main").all("input", name="consent")


def test_a_question_gets_the_approved_answer_with_its_easy_version(browser: Browser, shipped: Assistant) -> None:
    labels = begun(browser)
    language = language_of(browser)

    browser.say(QUESTION[language])

    pair = shipped.catalog(language).pair("pain")
    answer = browser.newest.one(class_="answer")
    assert answer.all("p", class_="text")[0].text == pair.short_answer
    assert answer.one("details", class_="whole").text == f"{labels['more_of_it']} {pair.answer}"
    assert answer.one("details", class_="easier").text == f"{labels['easier']} {pair.easy_answer}"
    assert answer.one("p", class_="label").text == SAID[language]["sample_label"]
    assert [button.text for button in browser.newest.one("form", class_="related").all("button")] == [
        shipped.catalog(language).pair(related).question for related in pair.related
    ]
    assert all(f"{source.title}. {source.publisher}, {source.year}" in answer.text for source in pair.sources)
    assert browser.newest.language == language


def test_a_related_question_and_a_topic_are_one_press(browser: Browser, shipped: Assistant) -> None:
    begun(browser)
    language = language_of(browser)
    catalog = shipped.catalog(language)

    browser.press(catalog.pair("costs").question)
    assert catalog.pair("costs").answer in browser.newest.text
    browser.press(catalog.pair("referral").question)
    assert catalog.pair("referral").answer in browser.newest.text


def test_every_question_is_in_one_topic_and_gets_its_own_answer(browser: Browser, shipped: Assistant) -> None:
    begun(browser)
    language = language_of(browser)
    catalog = shipped.catalog(language)
    offered = [button.text for button in browser.page.one(class_="topics").all("button")]

    assert sorted(offered) == sorted(pair.question for pair in catalog.pairs)
    for response, pair in zip(
        shipped.answer_all([pair.question for pair in catalog.pairs], language), catalog.pairs, strict=True
    ):
        assert response.pair_id == pair.id


def test_an_unclear_question_is_asked_back_and_a_choice_answers_it(browser: Browser, shipped: Assistant) -> None:
    labels = begun(browser)
    language = language_of(browser)

    browser.say(UNCLEAR[language])
    offered = [button.text for button in browser.page.one("form", class_="choices").all("button")]
    assert offered[-1] == SAID[language]["none_of_these"]
    browser.press(offered[-1])
    assert SAID[language]["none_chosen"] in browser.newest.text
    assert labels["your_question"] in browser.text

    browser.say(UNCLEAR[language])
    browser.press(offered[0])

    chosen = next(pair for pair in shipped.catalog(language).pairs if pair.question == offered[0])
    assert browser.newest.one(class_="answer").one("p", class_="short").text == chosen.short_answer


def test_a_choice_from_an_older_list_is_not_taken(browser: Browser) -> None:
    labels = begun(browser)
    browser.say(UNCLEAR[language_of(browser)])
    old = browser.page.one("form", class_="choices")
    browser.say(QUESTION[language_of(browser)])

    browser.send(old, old.all("button")[0], turn="another-turn")

    assert labels["note_stale"] in browser.text
    assert len(browser.page.all("article", class_="turn")) == 3


def test_a_double_submit_is_one_turn(browser: Browser) -> None:
    begun(browser)
    form = browser.page.one("form", id="say")

    for _ in range(2):
        browser.send(form, text=QUESTION[language_of(browser)])

    assert len(browser.page.all("article", class_="turn")) == 2


def test_another_message_from_an_old_form_is_a_turn_of_its_own(browser: Browser) -> None:
    begun(browser)
    form = browser.page.one("form", id="say")
    browser.send(form, text="Hallo")

    for _ in range(2):
        browser.send(form, text=QUESTION[language_of(browser)])

    assert len(browser.page.all("article", class_="turn")) == 3
    assert browser.newest.all(class_="answer")


def test_an_empty_message_is_told_at_the_field(browser: Browser) -> None:
    labels = begun(browser)

    browser.say("  ")

    field = browser.page.one("textarea", id="text")
    assert "problem" in field.get("aria-describedby").split()
    assert browser.page.one(id="problem").text == labels["note_empty"]


def test_feedback_is_kept_with_the_answer(browser: Browser) -> None:
    labels = begun(browser)
    browser.say(QUESTION[language_of(browser)])
    browser.press(labels["helpful"])
    assert labels["flagged_helpful"] in browser.newest.text

    browser.say(QUESTION[language_of(browser)])
    browser.press(labels["flag_send"], reason="complicated", comment="<b>Zu lang</b>")
    assert labels["flagged_complicated"] in browser.newest.text
    assert "<b>Zu lang" not in browser.answer.text


def test_an_emergency_interrupts_with_numbers_and_the_staff(browser: Browser) -> None:
    labels = begun(browser)
    language = language_of(browser)

    browser.say({"de": "Ich kriege keine Luft", "en": "I cannot breathe"}[language])

    panel = browser.newest.one(class_="panel")
    assert panel.get("role") == "alert"
    assert SAID[language]["urgent"] in panel.text
    assert [link.get("href") for link in panel.all("a")] == NUMBERS[language]
    assert browser.page.one("title").children == [f"{labels['alert_heading']} – {labels['title']}"]
    browser.press(labels["call_staff"])
    assert SENTENCES[language]["staff_called"] in browser.newest.text
    assert (
        browser.page.all("article", class_="turn")[-1].one(class_="said").text
        == f"{labels['you']} {labels['call_staff']}"
    )


def test_a_pain_in_the_chest_is_asked_about(browser: Browser) -> None:
    begun(browser)
    language = language_of(browser)

    browser.say({"de": "Druck auf der Brust", "en": "pressure on my chest"}[language])
    asked = [button.text for button in browser.page.one("form", class_="choices").all("button")]

    assert asked == [SENTENCES[language]["yes"], SAID[language]["chest_breast"]]
    browser.press(asked[0])
    assert SAID[language]["urgent"] in browser.newest.text


def test_help_and_stop_are_answered_without_commands(browser: Browser) -> None:
    begun(browser)

    for word in ("help", "stop"):
        browser.say(word)
        assert "/" not in browser.newest.text.replace("112/144", "")


def test_language_and_size_are_chosen_without_javascript(browsers: Browsers) -> None:
    browser = browsers("fr-CH, en;q=0.3, de;q=0.8")
    browser.open("/")
    assert language_of(browser) == "de"

    browser.press("English")
    assert (language_of(browser), browser.answer.url.path) == ("en", "/")
    page = browser.press(f"A {LABELS['en']['larger']}")
    assert page.one("html").get("class") == "large"
    assert language_of(browser) == "en"


def test_what_is_over_is_to_be_seen_today_before_anything_else_is_said(browser: Browser) -> None:
    begun(browser)
    language = language_of(browser)
    said = SAID[language]

    browser.say({"de": "Druck auf der Brust", "en": "pressure on my chest"}[language])
    browser.press(said["chest_breast"])
    first = browser.newest.all("p")[1].text  # after who speaks
    assert first == said["look_today_chest"]

    # What raised the alarm is asked again after it.
    browser.say(
        {"de": "Ich kriege keine Luft, was kostet das?", "en": "I cannot breathe, what does it cost?"}[language]
    )
    browser.press(said["no_emergency"])
    first, *rest = [paragraph.text for paragraph in browser.newest.all("p")[1:]]
    assert first == said["look_today"]
    assert said["declined"] in rest


def test_who_ends_the_conversation_is_reminded_what_to_bring(browser: Browser, shipped: Assistant) -> None:
    labels = begun(browser)
    text = shipped.catalog(language_of(browser)).pair("documents").short_answer
    assert text is not None

    browser.follow(labels["end"])
    browser.press(labels["end_yes"])

    reminder = browser.page.one("section", class_="bring")
    assert (reminder.one("h2").text, reminder.one("p", class_="short").text) == (labels["bring_heading"], text)
    assert not browser.open("/goodbye?deleted=yes").all("section", class_="bring")

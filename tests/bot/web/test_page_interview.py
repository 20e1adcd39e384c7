"""The questions of the radiology team on the page, to their end."""

from __future__ import annotations

import pytest

from bot.sentences.reply import SENTENCES
from bot.web.page.rendering import load_labels
from tests.bot.web.browser import Browser, Browsers

LABELS = load_labels()
AGE = {"de": "Wie alt sind Sie?", "en": "How old are you?"}
NO = {"de": "Nein", "en": "No"}


@pytest.fixture(params=["de", "en"])
def browser(request: pytest.FixtureRequest, browsers: Browsers) -> Browser:
    """Somebody who was just asked the first question of the form."""
    opened = browsers(request.param)
    opened.open("/")
    opened.press(LABELS[request.param]["begin"], consent="yes")
    opened.press(SENTENCES[request.param]["yes"])
    return opened


def language_of(browser: Browser) -> str:
    return browser.page.one("html").get("lang")


def answer_next(browser: Browser, language: str) -> None:
    """Answer one question: no where that is offered, the last of boxes (none of them), else skip."""
    labels = LABELS[language]
    forms = browser.page.all("form", class_="choices")
    offered = [button.text for form in forms for button in form.all("button")]
    if offered == [labels["choose_send"]]:
        browser.press(labels["choose_send"], pick=forms[0].all("input", name="pick")[-1].get("value"))
    elif NO[language] in offered and AGE[language] in browser.text:
        browser.press(NO[language])
    elif offered:
        browser.press(offered[0])
    else:
        browser.press(labels["step_skip"])


def to_age(browser: Browser, language: str) -> None:
    """Agree, say that it is herself, and why she comes; then her age is asked."""
    browser.press(SENTENCES[language]["yes"])
    browser.press(SENTENCES[language]["who_patient"])
    answer_next(browser, language)


def to_summary(browser: Browser, language: str) -> None:
    to_age(browser, language)
    browser.say("52")
    for _ in range(60):
        if LABELS[language]["summary_yes"] in browser.labels:
            return
        answer_next(browser, language)
    raise AssertionError("no summary after 60 questions")


def test_the_interview_goes_from_offer_to_copy(browser: Browser) -> None:
    language = language_of(browser)
    labels, sentences = LABELS[language], SENTENCES[language]
    assert sentences["interview_begin_page"] in browser.newest.text

    to_summary(browser, language)

    lines = {row.one("dt").text: row.one("dd").text for row in browser.newest.one("dl").all("div")}
    assert lines[AGE[language]] == "52"
    assert sentences["summary_check_page"] in browser.newest.text
    browser.press(AGE[language])
    assert AGE[language] in browser.newest.text
    browser.say("53")
    browser.press(labels["summary_yes"])
    assert sentences["completed"] in browser.newest.text
    assert LABELS[language]["bring_heading"] in browser.page.one("section", class_="bring").text
    assert labels["interview_change"] in browser.labels

    copied = browser.follow(labels["my_copy"])
    answers = copied.one("dl", class_="entries")
    assert {row.one("dt").text: row.one("dd").text for row in answers.all("div")}[AGE[language]] == "53"


def test_every_answer_can_be_changed_by_a_button_whatever_was_said_last_and_after_it_was_sent(browser: Browser) -> None:
    language = language_of(browser)
    labels, sentences = LABELS[language], SENTENCES[language]
    to_summary(browser, language)

    browser.say("xyzzy")  # not understood: no list in the reply
    assert AGE[language] in browser.labels
    browser.press(AGE[language])
    browser.say("53")
    browser.press(labels["summary_yes"])
    assert sentences["completed"] in browser.newest.text

    browser.press(AGE[language])
    browser.say("54")
    browser.press(labels["summary_yes"])

    answers = browser.follow(labels["my_copy"]).one("dl", class_="entries")
    assert {row.one("dt").text: row.one("dd").text for row in answers.all("div")}[AGE[language]] == "54"


def test_progress_is_told_in_words_and_as_a_bar(browser: Browser) -> None:
    language = language_of(browser)
    browser.press(SENTENCES[language]["yes"])
    browser.press(SENTENCES[language]["who_patient"])

    bar = browser.page.one("progress")

    label = browser.page.one("label", **{"for": bar.get("id")})
    assert int(bar.get("value")) == 1
    assert label.text == LABELS[language]["progress"].format(done=1, total=bar.get("max"))


def test_boxes_are_sent_together_and_shown_as_words(browser: Browser) -> None:
    language = language_of(browser)
    to_age(browser, language)
    browser.say("52")
    while not browser.page.all("input", name="pick"):
        answer_next(browser, language)
    labels = [label.text for label in browser.page.one("form", class_="choices").all("label")]

    browser.press(LABELS[language]["choose_send"], pick="1")

    said = browser.page.all("article", class_="turn")[-1].one(class_="said")
    assert said.text == f"{LABELS[language]['you']} {labels[0]}"


def test_a_question_in_between_is_answered_and_the_form_goes_on(browser: Browser) -> None:
    language = language_of(browser)
    to_age(browser, language)

    browser.say({"de": "Tut das weh?", "en": "Does it hurt?"}[language])

    assert browser.newest.all(class_="answer")
    assert browser.newest.all("p", class_="ask")[-1].text == AGE[language]
    assert browser.page.all("progress")


def test_steps_and_pause_are_buttons(browser: Browser) -> None:
    language = language_of(browser)
    labels, sentences = LABELS[language], SENTENCES[language]
    to_age(browser, language)

    browser.press(labels["step_pause"])
    assert sentences["paused_page"] in browser.newest.text
    browser.press(labels["interview_go_on"])
    assert sentences["resumed"] in browser.newest.text
    assert AGE[language] in browser.newest.text
    browser.press(labels["step_back"])
    assert AGE[language] not in browser.newest.all("p", class_="ask")[-1].text


def test_what_was_noted_is_changed_by_the_button_beside_it(browser: Browser) -> None:
    language = language_of(browser)
    labels, sentences = LABELS[language], SENTENCES[language]
    to_age(browser, language)
    browser.say("52")
    assert sentences["taken"].format(answer="52") in browser.newest.text

    browser.press(labels["amend"])

    assert AGE[language] in browser.newest.text
    browser.say("53")
    assert sentences["taken"].format(answer="53") in browser.newest.text


def test_what_was_not_said_just_so_is_confirmed_with_its_section(browser: Browser) -> None:
    language = language_of(browser)
    labels, sentences = LABELS[language], SENTENCES[language]
    to_age(browser, language)
    browser.say("65")
    while sentences["check"] not in browser.newest.text:
        reads_back = any(text in browser.newest.text for text in ("Stimmt das?", "Is that right?"))
        browser.say(sentences["yes"] if reads_back else NO[language])
    assert labels["amend"] not in browser.labels
    assert len(browser.newest.one("dl", class_="entries").all("div")) == 2

    browser.press(labels["summary_yes"])

    assert sentences["check"] not in browser.newest.text
    assert browser.page.all("progress")

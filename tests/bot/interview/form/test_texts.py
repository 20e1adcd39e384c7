"""What patients read of a form is plain words: without HTML, also where a text stands only as Markdown or XHTML."""

from __future__ import annotations

import pytest

from bot.interview.form.form import plain_words
from bot.interview.load import load_form
from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import CORE, SDC, Json, form, item

SHORT = SDC + "sdc-questionnaire-shortText"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<p style=\"text-align:left;\"><strong>Age</strong> in years</p>", "Age in years"),
        ("Your <b>weight</b>?<br/>Without shoes.", "Your weight?\nWithout shoes."),
        ("<ul><li>fever</li><li>cough</li></ul>", "fever\ncough"),
        ("Fever &amp; cough &#8211; since when?", "Fever & cough – since when?"),
        ("<div>Blood&nbsp;pressure</div>", "Blood pressure"),
        ("<h2>Part 1</h2><!-- not shown --><p>Go on</p>", "Part 1\nGo on"),
        ('See <a href="https://example.org" target=_blank>here</a>.', "See here."),
        # No markup, though it has the signs of it.
        ("Is it < 5 mg and > 1 mg?", "Is it < 5 mg and > 1 mg?"),
        ("a<b and b>c", "a<b and b>c"),
        ("<5 mg", "<5 mg"),
        ("Smith & Sons; R&D", "Smith & Sons; R&D"),
        ("Write <name> here", "Write <name> here"),
        ("<i think so>", "<i think so>"),
        ("  two  spaces ", "  two  spaces "),
    ],
)  # fmt: skip
def test_markup_falls_away_and_what_only_looks_like_it_stays(written: str, read: str) -> None:
    assert plain_words(written) == read


def rendered(kind: str, value: str) -> Json:
    name = "valueMarkdown" if kind == "markdown" else "valueString"
    return {"extension": [{"url": f"{CORE}rendering-{kind}", name: value}]}


@pytest.mark.parametrize(
    ("beside", "read"),
    [
        (rendered("markdown", "## How **old** are you?"), "How old are you?"),
        (rendered("markdown", "* See [the page](https://example.org/a)"), "See the page (https://example.org/a)"),
        (rendered("markdown", "Take 2 * 3, not snake_case_words"), "Take 2 * 3, not snake_case_words"),
        (rendered("xhtml", "<div xmlns='http://www.w3.org/1999/xhtml'>How <em>old</em>?</div>"), "How old?"),
    ],
)
def test_a_text_that_stands_only_in_its_rendering_is_asked(beside: Json, read: str) -> None:
    code = [{"system": "http://loinc.org", "code": "21612-7", "display": "Age"}]
    chat = Chat(form(item("q", "integer", _text=beside, code=code)), "en")

    assert read in chat.said
    chat.say("44", "yes")
    assert (chat.status, chat.errors()) == ("completed", [])
    assert "text" not in chat.response()["item"][0]


def test_the_text_itself_goes_before_its_rendering_and_the_response_repeats_it_as_written() -> None:
    written = "<p>How &quot;old&quot;?</p>"
    chat = Chat(form(item("q", "integer", text=written, _text=rendered("markdown", "Other"))), "en")

    assert 'How "old"?' in chat.said
    chat.say("44", "yes")
    assert (chat.errors(), chat.response()["item"][0]["text"]) == ([], written)


@pytest.mark.parametrize(
    ("unlabelled", "read"),
    [
        ({"text": "  ", "code": [{"code": "a", "display": "Allergy"}]}, "Allergy"),
        ({"extension": [{"url": SHORT, "valueString": "Name"}]}, "Name"),
        ({"text": "", "extension": [{"url": SHORT, "valueString": "<b>Name</b>"}]}, "Name"),
    ],
)
def test_an_item_without_text_is_asked_by_what_it_is_called(unlabelled: Json, read: str) -> None:
    assert load_form(form(item("q", "string", **unlabelled))).by_link_id["q"].text.base == read


def test_options_titles_and_translations_are_plain_words_too_and_answers_keep_the_code_as_written() -> None:
    german = {"extension": [{"url": CORE + "translation", "extension": [{"url": "lang", "valueCode": "de"}, {"url": "content", "valueString": "<b>Rot</b>"}]}]}  # fmt: skip
    red = {"system": "http://example.org/codes", "code": "r", "display": "<b>Red</b>", "_display": german}
    questionnaire = form(item("q", "choice", text="Colour?", answerOption=[{"valueCoding": red}]), title="<i>T</i>")
    chat = Chat(questionnaire, "de")

    assert chat.choices == ["Rot"]
    assert "T" in chat.said
    chat.say("rot", "ja")
    assert (chat.value("q")["display"], chat.errors()) == ("<b>Red</b>", [])

"""Texts of a form and answers as patients read them, and the guard that compares them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import GuardViolation
from bot.interview.load import load_form
from bot.interview.manners.session import Answers, FormField, ListEntry, Quote, Sentence, with_answers
from bot.interview.values.answer import Answer
from bot.sentences.reply import SENTENCES, Entry, FormText, Heard, Interface, Part, Reply, guard, interface, part_of
from bot.sentences.spoken import MAX_OWN_WORDS, escaped, form_text, spoken
from tests.bot.interview.chat import mammography
from tests.bot.interview.walk.engine_steps import text, whole

FORM = load_form(mammography())
ADA, AGE = text("Klinik Ada"), whole(71)
HEARD = Heard(FORM, {"last-mammogram-place": (ADA,), "age": (AGE,)})
PLACE = "last-mammogram-place"


def checked(part: Part, heard: Heard | None = HEARD, language: str = "de") -> Reply:
    return guard(Reply(language, (part,)), None, shown=frozenset(), heard=heard)


def quoted(link_id: str, name: FormField, number: int = 0, language: str = "de") -> FormText:
    part = part_of(Quote(link_id, name, number), FORM, language)
    assert isinstance(part, FormText)
    return part


def question(link_id: str = "age", language: str = "de") -> FormText:
    return quoted(link_id, "question", language=language)


def repeated(key: str, link_id: str, answer: Answer = ADA) -> Interface:
    part = part_of(with_answers(key, link_id, (answer,)), FORM, "de")
    assert isinstance(part, Interface)
    return part


def place_repeated() -> Interface:
    return repeated("read_back", PLACE)


def entry() -> Entry:
    part = part_of(ListEntry(3, Quote(PLACE, "question"), with_answers("summary_answer", PLACE, (ADA,))), FORM, "de")
    assert isinstance(part, Entry)
    return part


def test_texts_of_the_form_and_answers_of_the_patient_pass() -> None:
    title, option = quoted("", "title"), quoted("implant-side", "option")
    parts = (title, question(), place_repeated(), interface("de", "progress", number=1, total=2), entry())

    reply = Reply("de", parts, choices=(option,))

    assert guard(reply, None, shown=frozenset(), heard=HEARD) is reply
    assert option.text == "Links"
    assert entry().text.endswith(" – „Klinik Ada“")


@pytest.mark.parametrize(
    "part",
    [
        FormText("age", "question", "Wie alt bist du?"),
        FormText("age", "question", question(language="en").text),  # of another language
        FormText("age", "help", question().text),  # another text of the same item
        FormText("age", "question", question().text, number=1),
        FormText("age", "secret", "age"),  # type: ignore[arg-type]
        FormText("none", "question", "Hallo"),
        FormText("", "question", question().text),
        FormText("implant-side", "option", "Links", number=99),
        FormText("implant-side", "option", "Links", number=-3),
        FormText("age", "short", ""),  # no text is no approved text
        FormText("implant", "option", "Ja", number=False),
        replace(place_repeated(), text="Ich habe verstanden: „Klinik Eva“. Stimmt das?"),
        repeated("read_back", PLACE, text("Klinik Eva")),  # another patient's
        repeated("read_back", "note"),  # the answer to another question
        Interface("read_back", "Ich habe verstanden: x. Stimmt das?", {"answer": "x"}),  # type: ignore[dict-item]
        Interface("read_back", SENTENCES["de"]["read_back"].format(answer=5), {"answer": 5, "more": 1}),
        Interface("progress", "Frage „Klinik Ada“ von 2", {"number": Answers(PLACE, (text("x"),)), "total": 2}),
        replace(entry(), value=Interface("summary_answer", "„Klinik Eva“", entry().value.slots)),
        replace(entry(), label=replace(question(PLACE), text="Wo war das nicht?")),
        replace(entry(), number=True),
    ],
    ids=lambda part: f"{type(part).__name__}-{part.text[:24]}",
)
def test_anything_else_is_refused(part: Part) -> None:
    with pytest.raises(GuardViolation, match="not approved text"):
        checked(part)


@pytest.mark.parametrize("part", [question(), place_repeated(), entry()], ids=["text", "answer", "entry"])
def test_without_an_interview_nothing_of_one_passes(part: Part) -> None:
    with pytest.raises(GuardViolation, match="not approved text"):
        checked(part, heard=None)
    with pytest.raises(GuardViolation, match="not approved text"):
        checked(part, language="en")


def test_what_a_form_or_the_program_does_not_say_is_left_out_or_said_otherwise() -> None:
    missing = Quote("age", "open_label")

    assert part_of(missing, FORM, "de") is None
    assert part_of(replace(missing, otherwise=Sentence("own_words")), FORM, "de") == interface("de", "own_words")
    assert part_of(Sentence("why_nothing", otherwise="not_understood"), FORM, "en") == interface("en", "not_understood")
    assert part_of(ListEntry(1, missing, Sentence("summary_open")), FORM, "de") is None


@given(place=st.integers(0, 1000), bits=st.integers(1, 127))
def test_one_changed_character_is_refused(place: int, bits: int) -> None:
    for part in (question(), place_repeated()):
        at = place % len(part.text)
        changed = part.text[:at] + chr(ord(part.text[at]) ^ bits) + part.text[at + 1 :]
        with pytest.raises(GuardViolation, match="not approved text"):
            checked(replace(part, text=changed))


def test_a_refusal_never_quotes_a_patient() -> None:
    with pytest.raises(GuardViolation, match="not approved text") as caught:
        checked(repeated("read_back", PLACE, text("Meier")))

    assert "Meier" not in str(caught.value)


@pytest.mark.parametrize(
    ("link_id", "answer", "de", "en"),
    [
        ("consent", Answer("boolean", True), "Ja", "Yes"),
        ("age", whole(71), "71", "71"),
        ("last-mammogram", Answer("date", "1975-03-03"), "3. März 1975", "3 March 1975"),
        ("last-mammogram", Answer("date", "2025-11"), "November 2025", "November 2025"),
        ("implant-side", FORM.by_link_id["implant-side"].options[0].answer, "Links", "Left"),
        ("note", text("Bitte\nvorsichtig"), "„Bitte vorsichtig“", "“Bitte vorsichtig”"),
        (
            "hormones-duration",
            Answer("quantity", {"value": Decimal("1.5"), "unit": "Jahre", "code": "a"}),
            "1,5 Jahre",
            "1.5 years",
        ),
    ],
)
def test_answers_are_worded_in_the_patients_language(link_id: str, answer: Answer, de: str, en: str) -> None:
    assert (spoken(FORM, link_id, [answer], "de"), spoken(FORM, link_id, [answer], "en")) == (de, en)


def test_answers_are_listed_with_commas() -> None:
    listed = FORM.by_link_id["devices"].options

    assert spoken(FORM, "devices", [listed[0].answer, listed[2].answer], "de") == "Herzschrittmacher, Port"


@given(st.text(st.characters(exclude_categories=()), max_size=2 * MAX_OWN_WORDS))
def test_own_words_stay_on_one_line_without_markup(said: str) -> None:
    shown = escaped(said)

    assert len(shown) <= MAX_OWN_WORDS
    assert not set(shown) & set("<>[]{}`\n\r\t\x00\x1b„“”\u202e\u200b")
    assert shown.encode("utf-8").decode() == shown


def test_every_text_of_the_shipped_form_is_found_by_its_place() -> None:
    for item in FORM.walk():
        for language in ("de", "en"):
            assert form_text(FORM, item.link_id, "question", 0, language) == item.text.into(language)
            for number, option in enumerate(item.options):
                assert form_text(FORM, item.link_id, "option", number, language) == option.label.into(language)
            for number, constraint in enumerate(item.constraints):
                assert form_text(FORM, item.link_id, "constraint", number, language) == constraint.human.into(language)

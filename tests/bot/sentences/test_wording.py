"""Sentences by country and channel, and Swiss spelling: fixed texts that pass the guard."""

from __future__ import annotations

import re

import pytest

from bot import Assistant
from bot.catalog.countries import COUNTRIES, LINES, Country
from bot.errors import GuardViolation
from bot.ports import Channel
from bot.sentences.emergency_texts import helplines, numbers, sentences
from bot.sentences.interface_texts import INTERFACE_TEXTS, INTERVIEW_TEXTS, NEUTRAL_PHRASES
from bot.sentences.reply import SENTENCES, Content, Interface, Place, Reply, guard, interface, worded
from bot.sentences.spelling import released, swiss

OTHER_NUMBERS = {
    "AT": ("112", "143", "145", "116 123"),
    "BE": ("144", "142", "143", "145", "116 123"),
    "CH": ("112", "142", "116 123"),
    "DE": ("144", "142", "143", "145"),
    "FR": ("112", "144", "142", "143", "145", "116 123"),
    "GB": ("112", "144", "142", "143", "145"),
}


# Words that name a country or a service: as many may differ.
NAMES = 16


@pytest.mark.parametrize("country", COUNTRIES)
@pytest.mark.parametrize("language", INTERFACE_TEXTS)
def test_every_sentence_with_numbers_has_those_of_the_country_only(language: str, country: Country) -> None:
    fixed = {**INTERFACE_TEXTS[language], **INTERVIEW_TEXTS[language]}
    with_numbers = [key for key, text in fixed.items() if "112" in text]

    assert with_numbers
    for key in with_numbers:
        reply = worded(Reply(language, (interface(language, key),)), Place("page", country))
        (part,) = guard(reply, None, shown=frozenset()).parts
        assert LINES[country].emergency in part.text
        assert not [number for number in OTHER_NUMBERS[country] if re.search(rf"\b{number}\b", part.text)], part.text


@pytest.mark.parametrize("language", INTERFACE_TEXTS)
def test_a_country_says_the_same_but_for_whom_to_call(language: str) -> None:
    """Whoever changes a sentence in one place is told about the other."""
    fixed = {**INTERFACE_TEXTS[language], **INTERVIEW_TEXTS[language]}
    for key, text in sentences(language, NEUTRAL_PHRASES[language]).items():
        base = fixed[key.rpartition("_")[0]]
        ours, theirs = (set(re.findall(r"[^\W\d]{4,}", each)) for each in (base, text))
        assert len(ours ^ theirs) <= NAMES, (key, ours ^ theirs)


def test_the_text_that_calms_names_every_sign_of_the_alarm() -> None:
    signs = {
        "de": "Brustkorb Arm Schulter Hals Kiefer Rücken Oberbauch Einatmen Atemnot Übelkeit Schwindel Schweiß Angst",
        "en": "chest arm shoulder neck jaw back belly breathe breath sick dizzy sweat",
    }
    alarm = {"Atemnot": "schlecht Luft", "Übelkeit": "übel", "Schwindel": "schwindlig", "Schweiß": "schwitzen"}
    for language, named in signs.items():
        for sign in named.split():
            assert sign in INTERFACE_TEXTS[language]["calmed_breast"], sign
            assert alarm.get(sign, sign) in INTERFACE_TEXTS[language]["urgent_chest_pain"], sign


def test_where_no_country_is_set_nothing_changes() -> None:
    reply = Reply("de", (interface("de", "urgent"), interface("de", "too_long", limit=1000)))

    assert worded(reply, Place()) == reply


def test_a_page_has_no_commands() -> None:
    keys = [
        key for key, text in SENTENCES["de"].items() if "/" in text.replace("/ ", "") and not key.startswith("urgent")
    ]

    for key in set(keys) - {"goodbye", "example_url", "conversation_code"}:
        (part,) = worded(Reply("de", (interface("de", key),)), Place("page")).parts
        assert "/" not in part.text, key


def test_channel_and_country_both_count() -> None:
    (part,) = worded(Reply("de", (interface("de", "staff_called"),)), Place("page", "CH")).parts

    assert isinstance(part, Interface)
    assert part.key == "staff_called_ch"
    assert "nicht versprechen" in part.text
    assert "144" in part.text


@pytest.mark.parametrize("country", [None, *COUNTRIES])
@pytest.mark.parametrize("language", INTERFACE_TEXTS)
@pytest.mark.parametrize("key", ["urgent", "urgent_chest_pain", "urgent_overdose", "urgent_suicide", "calmed_harm"])
def test_whom_a_sentence_names_can_be_called_and_nobody_else(key: str, language: str, country: Country | None) -> None:
    (part,) = worded(Reply(language, (interface(language, key),)), Place("page", country)).parts
    assert isinstance(part, Interface)

    emergency, further = numbers(country, language), helplines(part.key, country, language)

    called = [*emergency, *(line.number for line in further)]
    assert re.search(".*".join(line.number for line in further), part.text), "not in the order of the sentence"
    assert all(re.search(rf"\b{number}\b", part.text) for number in called)
    left = re.sub("|".join(sorted(map(re.escape, called), key=len, reverse=True)), "", part.text)
    assert re.findall(r"\d+", left) in ([], ["5", "24"])  # minutes and hours of chest pain
    assert len({(line.name, line.number) for line in further}) == len(further)


def test_an_emergency_number_is_named_once() -> None:
    assert SENTENCES["de"]["urgent_de"].count("112") == 1


def test_swiss_texts_are_derived_and_have_a_hash_of_their_own(shipped: Assistant) -> None:
    german, english = shipped.catalog("de"), shipped.catalog("en")

    swiss_one = released(german, "CH")

    assert released(german, None) is german
    told_apart = {country: released(german, country).content_hash for country in (None, *COUNTRIES)}
    apart = {country for country, told in told_apart.items() if told != german.content_hash}
    assert apart == {"AT", "CH", "DE"}  # no German pair has a text for the others
    assert len({told_apart[country] for country in apart}) == len(apart)
    assert released(english, "CH").by_id["pain"] == english.by_id["pain"]
    for one, other in zip(swiss_one.pairs, german.pairs, strict=True):
        own = other.countries.get("CH", other)
        assert (one.question, one.answer) == (swiss(other.question), swiss(own.answer))
        assert "ß" not in one.question + one.answer + (one.easy_answer or "")


def test_a_country_has_its_own_texts_whole_with_their_sources(shipped: Assistant) -> None:
    german = shipped.catalog("de")
    pair = next(pair for pair in german.pairs if {"AT", "CH"} <= set(pair.countries))

    austrian = released(german, "AT").by_id[pair.id]

    assert austrian.answer == pair.countries["AT"].answer != pair.answer
    assert austrian.easy_answer == pair.countries["AT"].easy_answer
    assert austrian.sources == pair.countries["AT"].sources
    assert released(german, "GB").by_id[pair.id].answer in {
        pair.answer,
        getattr(pair.countries.get("GB"), "answer", ""),
    }


def test_the_guard_compares_with_the_swiss_text(shipped: Assistant) -> None:
    german = shipped.catalog("de")
    pair = next(pair for pair in german.pairs if "ß" in pair.answer)
    shown = frozenset([pair.id])
    as_approved, as_spelt = (
        Reply("de", (Content(pair.id, "answer", text),)) for text in (pair.answer, swiss(pair.answer))
    )

    assert guard(as_spelt, released(german, "CH"), shown=shown) == as_spelt
    with pytest.raises(GuardViolation, match="Content"):
        guard(as_approved, released(german, "CH"), shown=shown)


@pytest.mark.parametrize(("channel", "folds"), [("page", True), ("api", True), ("terminal", False), ("rest", False)])
def test_plain_text_has_the_short_answer_and_how_to_get_the_rest(channel: Channel, folds: bool) -> None:
    short, whole = Content("pain", "short_answer", "Kurz."), Content("pain", "answer", "Kurz. Und lang.")
    alone, label = Content("costs", "answer", "Ohne kurze."), interface("de", "sample_label")

    said = worded(Reply("de", (short, whole, alone, label)), Place(channel)).parts

    assert (whole in said) == folds
    assert alone in said
    assert (interface("de", "more_hint") in said) == (not folds)

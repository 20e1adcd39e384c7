"""The guard: a patient sees approved text, byte for byte, or a safe sentence."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.catalog.catalog import Catalog, Extract, load_catalog
from bot.errors import GuardViolation
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.sentences.reply import Content, Interface, Part, Reply, content, extract, guard, interface, safe_reply

SHOWN = frozenset({"pain", "costs"})  # duration is in the catalog, but may not be shown


@pytest.fixture(scope="module")
def catalog(small_folder: Path) -> Catalog:
    return load_catalog(small_folder, "de")


def test_texts_of_the_catalog_and_of_the_interface_pass(catalog: Catalog) -> None:
    pair = catalog.pair("pain")
    parts = (content(pair, "answer"), content(pair, "easy_answer"), interface("de", "sample_label"))
    reply = Reply("de", parts, choices=(content(pair, "question"), interface("de", "none_of_these")))

    assert guard(reply, catalog, shown=SHOWN) is reply


def test_extracts_pass_as_content_of_their_own_field(catalog: Catalog) -> None:
    said = Extract(facet="how-strong", text="Tut die Untersuchung weh?")
    pair = catalog.pair("pain").model_copy(update={"extracts": (said,)})
    own = replace(catalog, pairs=(pair,))
    part = extract(pair, said)
    reply = Reply("de", (part,))

    assert guard(reply, own, shown=SHOWN) is reply
    for changed in (replace(part, text="Tut die"), replace(part, field="answer")):
        with pytest.raises(GuardViolation, match="not approved text"):
            guard(Reply("de", (changed,)), own, shown=SHOWN)


def test_slots_with_numbers_pass(catalog: Catalog) -> None:
    reply = Reply("de", (interface("de", "too_long", limit=1000),))

    assert "1000 Zeichen" in guard(reply, catalog, shown=SHOWN).parts[0].text


TOO_LONG = INTERFACE_TEXTS["de"]["too_long"]


@pytest.mark.parametrize(
    "part",
    [
        Content("pain", "answer", "Es tut nicht weh."),
        Content("pain", "question", "Tut die Untersuchung weh? (pain, de)"),  # the answer's text as a question
        Content("duration", "answer", "Wie lange dauert die Untersuchung? (duration, de)"),
        Content("weather", "answer", "Sonnig."),
        Content("pain", "id", "pain"),  # type: ignore[arg-type]
        Content("pain", "secret", "pain"),  # type: ignore[arg-type]
        Interface("sample_label", "Ärztlich freigegeben"),
        Interface("unknown", "Hallo"),
        Interface("too_long", TOO_LONG.format(limit=1000), {"limit": 999}),
        Interface("too_long", TOO_LONG.format(limit="<b>1000</b>"), {"limit": "<b>1000</b>"}),  # type: ignore[dict-item]
        Interface("too_long", TOO_LONG.format(limit=True), {"limit": True}),
        Interface("too_long", TOO_LONG, {}),
        Interface("too_long", TOO_LONG.format(limit=1), {"limit": 1, "more": 2}),
        Interface("safe", INTERFACE_TEXTS["en"]["safe"]),  # of another language
    ],
    ids=lambda part: f"{type(part).__name__} {getattr(part, 'field', '') or part.key} {part.text[:30]}",
)
def test_anything_else_is_refused(catalog: Catalog, part: Part) -> None:
    with pytest.raises(GuardViolation, match=f"not approved text: {type(part).__name__}"):
        guard(Reply("de", (part,)), catalog, shown=SHOWN)
    with pytest.raises(GuardViolation, match="not approved text"):
        guard(Reply("de", (interface("de", "clarify"),), choices=(part,)), catalog, shown=SHOWN)


@given(place=st.integers(0, 1000), bits=st.integers(1, 127), key=st.sampled_from(["answer", "easy_answer", "question"]))
def test_one_changed_character_is_refused(catalog: Catalog, place: int, bits: int, key: str) -> None:
    part = content(catalog.pair("pain"), key)  # type: ignore[arg-type]
    place %= len(part.text)
    changed = part.text[:place] + chr(ord(part.text[place]) ^ bits) + part.text[place + 1 :]

    with pytest.raises(GuardViolation, match="not approved text"):
        guard(Reply("de", (replace(part, text=changed),)), catalog, shown=SHOWN)


@pytest.mark.parametrize("extra", [" ", "\n", "\u200b", "."])
def test_an_invisible_addition_is_refused(catalog: Catalog, extra: str) -> None:
    part = interface("de", "declined")

    with pytest.raises(GuardViolation, match="not approved text"):
        guard(Reply("de", (replace(part, text=part.text + extra),)), catalog, shown=SHOWN)


def test_a_refusal_never_quotes_the_text(catalog: Catalog) -> None:
    with pytest.raises(GuardViolation, match="not approved text") as caught:
        guard(Reply("de", (Content("pain", "answer", "Mein Name ist Meier"),)), catalog, shown=SHOWN)

    assert "Meier" not in str(caught.value)


def test_a_pair_without_an_easy_answer_gives_no_part(catalog: Catalog) -> None:
    pair = catalog.pair("pain").model_copy(update={"easy_answer": None})

    with pytest.raises(GuardViolation, match="'pain' has no easy_answer"):
        content(pair, "easy_answer")


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_safe_sentence_passes_the_guard(small_folder: Path, language: str) -> None:
    reply = safe_reply(language)

    assert guard(reply, load_catalog(small_folder, language), shown=frozenset()) == reply


def test_both_languages_have_the_same_sentences() -> None:
    assert set(INTERFACE_TEXTS["de"]) == set(INTERFACE_TEXTS["en"])

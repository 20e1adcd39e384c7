"""Answers without an id are recognised by exact text, then by similarity, else not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot import Assistant
from bot.testing import HashEncoder
from harness.systems.recognition import Recognised, Recogniser

ANSWER = "Tut die Untersuchung weh? (pain, de)"  # the small catalog's answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ANSWER, Recognised("answered", "pain", "text")),
        ("  tut die   UNTERSUCHUNG weh? (pain, de) ", Recognised("answered", "pain", "text")),
        ("costs, de.", Recognised("answered", "costs", "text")),  # the easy answer
        ("Tut die Untersuchung weh? (pain, de) Ja", Recognised("answered", "pain", "similarity")),
        ("Bananen sind krumm und gelb.", Recognised("answered", None, "none")),
        ("weiss ich nicht", Recognised("declined")),
        ("", Recognised("declined")),
        ("…", Recognised("declined")),
        ("Sofort: Ruf 112! Jetzt.", Recognised("urgent")),
    ],
)
def test_texts_are_recognised(recogniser: Recogniser, text: str, expected: Recognised) -> None:
    assert recogniser.recognise(text) == expected


def test_an_answer_quoted_among_other_words_is_exact_text(small: Assistant) -> None:
    catalog = small.catalog("de")
    long = "Die Kosten übernimmt Ihre Krankenkasse, wenn ein Arzt Sie überwiesen hat."
    pairs = tuple(p.model_copy(update={"answer": long}) if p.id == "costs" else p for p in catalog.pairs)

    found = Recogniser(replace(catalog, pairs=pairs), HashEncoder, similarity=1).recognise(
        f"Beispielinhalt. {long} Gern!"
    )

    assert found == Recognised("answered", "costs", "text")


def test_a_text_that_several_pairs_share_identifies_none(small: Assistant) -> None:
    catalog = small.catalog("de")
    pairs = tuple(p.model_copy(update={"answer": "Folgt noch.", "easy_answer": None}) for p in catalog.pairs)

    found = Recogniser(replace(catalog, pairs=pairs), HashEncoder, similarity=0.5).recognise("Folgt noch.")

    assert found == Recognised("answered", None, "none")


@pytest.mark.parametrize(
    ("title", "payload", "pair"),
    [
        ("egal", "/costs", "costs"),
        ("egal", '/costs{"a": 1}', "costs"),
        ("was kostet die Untersuchung?", "/x", "costs"),
        ("Etwas anderes", "/x", None),
    ],
)
def test_buttons_offer_pairs(recogniser: Recogniser, title: str, payload: str, pair: str | None) -> None:
    assert recogniser.choice(title, payload) == pair

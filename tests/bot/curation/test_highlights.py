"""Jargon and hard sentences, where they stand in a text."""

import pytest

from bot.catalog.readability import measure
from bot.catalog.statements import difficult
from bot.curation.highlights import highlights, readable

TEXT = "Der Befund kommt bald. Die Biopsie ist eine Gewebeprobe. Ein Tumor (Geschwulst) ist selten."


def test_difficult_words_are_marked_where_they_stand_with_a_plain_suggestion() -> None:
    found = highlights(TEXT, "de")

    assert [TEXT[each.start : each.end] for each in found if not each.explained] == ["Befund"]
    assert found[0].plain == "Ergebnis"
    assert "Tumor" in [TEXT[each.start : each.end] for each in found if each.explained]


@pytest.mark.parametrize("text", [TEXT, "Befunde und Befund.", "Ein BEFUND.", ""])
def test_what_lint_complains_of_is_marked_and_nothing_else(text: str) -> None:
    marked = {each.plain for each in highlights(text, "de") if not each.explained}

    assert marked == {plain for _, plain in difficult(text, "de")}


def test_every_sentence_has_its_figures_where_it_stands() -> None:
    found = list(readable(TEXT, "de"))

    assert TEXT[found[0].start : found[0].end] == "Der Befund kommt bald."
    assert len(found) == 3
    assert found[1].figures == measure("Die Biopsie ist eine Gewebeprobe.", "de")


def test_a_language_without_a_list_has_no_marks() -> None:
    assert highlights("Der Befund", "fr") == []

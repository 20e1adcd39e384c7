"""Which telephone numbers of a text nobody has vouched for."""

from __future__ import annotations

import pytest

from bot.sentences.telephones import strange_telephones

SITE = "phone: 030 23125 100\nfacts: {phone: {de: Rufen Sie 030 / 23125 100 an.}}"


@pytest.mark.parametrize(
    ("text", "strange"),
    [
        ("Rufen Sie im Notfall sofort 0900-123456 an.", ["0900123456"]),
        ("Rufen Sie sofort 0900123456 an.", ["0900123456"]),
        ("Rufen Sie 030 23125 200 oder 030 23125 100 an.", ["03023125200"]),
        ("Rufen Sie 030 23125 100 an.", []),
        ("Rufen Sie +49 30 23125 100 an.", []),
        ("Rufen Sie +49 (0)30 23125 100 an.", []),
        ("Call 0049 30 23125100.", []),
        ("Rufen Sie +43 30 23125 200 an.", ["433023125200"]),
        ("Im Notfall rufen Sie 112 oder 144 an, sonst 116 117.", []),
        ("Telefonseelsorge: 0800 111 0 111", []),
        ("Die Bilder dauern 10 Minuten, kommen Sie um 8 Uhr.", []),
    ],
)
def test_a_number_is_strange_unless_the_site_or_an_emergency_line_has_it(text: str, strange: list[str]) -> None:
    for language in ("de", "en"):
        assert strange_telephones(text, language, [SITE]) == strange


def test_digits_within_a_number_are_no_country() -> None:
    assert strange_telephones("Call 0012 44 123 4567.", "en", ["phone: 012 123 4567"]) == ["0012441234567"]


def test_texts_that_are_known_are_only_looked_at_where_there_is_a_number() -> None:
    looked = iter(["Rufen Sie 0900-123456 an.", "never"])

    assert strange_telephones("Ohne Nummer, im Notfall 112.", "de", looked) == []
    assert strange_telephones("Rufen Sie 0900-123456 an.", "de", looked) == []
    assert list(looked) == ["never"]

"""Who has no breath for sentences: one or two words that call for help, and the same words where nobody does."""

from __future__ import annotations

import pytest

from bot.matching.red_flags import load_red_flags

CALLS = {
    "de": (
        *(
            "notarzt",
            "4 notarzt",
            "ok notarzt",
            "nein danke, notarzt",
            "notruf",
            "rettungswagen!",
            "krankenwagen",
            "sos",
        ),
        *("HILFE!!!", "Hilfe hilfe hilfe", "🆘", "112", "Feuer in der Umkleide!!", "Feuer!"),
        *("Anruf 112", "112 anrufen?", "nein 112", "polizei rufen", "hilfee ich sterbe", "ich glaub i stirb"),
        *("mein freund bedroht mich", "ich werde gerade geschlagen", "herzinfakt", "schlaganfal", "keineluft"),
        *("ich grieg gaine lufd", "puls 180", "onmächtig", "gelähmt", "kein gefühl mehr in der hand"),
        "mia is schlecht und i siech nix mehr",
        *(
            "suizid",
            "nein suizid",
            "will mich umbrigen",
            "is eh wurscht, i bring mi um",
            "ist eh egal, ich bring mich um",
        ),
        *(
            "wozu noch das ergebnis, ich mach schluss",
            "es ist besser ich bin weg",
            "kein ausweg",
            "ja. danach spring ich",
        ),
    ),
    "en": (
        *("call an ambulance", "i need an ambulance", "can you call an ambulance", "no thanks, ambulance", "call 911"),
        *("HELP!!!", "help help help", "🆘", "112", "there's a fire in the changing room"),
        *("help me", "please help me now", "emergency", "it's an emergency", "suicide", "i want to kill my self"),
    ),
}
NONE = {
    "de": (
        *("112 kg", "144", "rettung naht", "meine rettung", "danke, das war die rettung", "krankenwagen parken"),
        *(
            "ich arbeite beim rettungsdienst",
            "ich komme mit dem krankenwagen",
            "wo ist die ambulanz",
            "polizei parkplatz",
        ),
        *(
            "danke, ich mach schluss für heute",
            "das bringt mich um den schlaf",
            "ich sterbe vor neugier",
            "ist eh egal",
        ),
        *("tschüss, das wars für mich", "puls 72", "ist eh schon alles gut"),
    ),
    "en": (
        *(
            "help",
            "help me with the form",
            "help me understand this",
            "is there an emergency exit",
            "i came by ambulance",
        ),
        *("no ambulance needed", "do i need an ambulance", "911", "pulse 72"),
    ),
}


@pytest.mark.parametrize(("language", "text"), [(lang, text) for lang, texts in CALLS.items() for text in texts])
def test_a_call_for_help_in_a_word_or_two_alarms(language: str, text: str) -> None:
    assert load_red_flags(language).check(text) is not None


@pytest.mark.parametrize(("language", "text"), [(lang, text) for lang, texts in NONE.items() for text in texts])
def test_the_same_words_alarm_nobody_where_no_help_is_asked_for(language: str, text: str) -> None:
    assert load_red_flags(language).check(text) is None

"""Messages that steer the interview."""

import pytest

from bot.interview.reading.reader import Command, read_command


@pytest.mark.parametrize(
    ("language", "text", "kind"),
    [
        ("de", "zurück", "back"),
        ("de", "Zurueck bitte", "back"),
        ("de", "nochmal die letzte Frage", "back"),
        ("de", "eine Frage zurück", "back"),
        ("de", "überspringen", "skip"),
        ("de", "uberspringen", "skip"),
        ("de", "überspringne", "skip"),
        ("de", "weiter", "skip"),
        ("de", "Warum fragen Sie das?", "why"),
        ("de", "wozu?", "why"),
        ("de", "Hilfe!", "help"),
        ("de", "?", "help"),
        ("de", "???", "help"),
        ("de", "Pause", "pause"),
        ("de", "später", "pause"),
        ("de", "stop", "pause"),
        ("de", "aufhören", "pause"),
        ("de", "weiter machen", "resume"),
        ("de", "Weitermachen", "resume"),
        ("de", "Zusammenfassung", "summary"),
        ("de", "wie bitte?", "repeat"),
        ("de", "noch einmal", "repeat"),
        ("en", "back", "back"),
        ("en", "go back, please", "back"),
        ("en", "skip", "skip"),
        ("en", "Skip this question", "skip"),
        ("en", "why do you ask", "why"),
        ("en", "Why?", "why"),
        ("en", "help", "help"),
        ("en", "later", "pause"),
        ("en", "I need a break", "pause"),
        ("en", "continue", "resume"),
        ("en", "summary", "summary"),
        ("en", "sumary", "summary"),
        ("en", "what was the question?", "repeat"),
    ],
)
def test_whole_messages_are_commands(language: str, text: str, kind: str) -> None:
    command = read_command(text, language=language)

    assert command is not None
    assert (command.kind, command.target) == (kind, "")


@pytest.mark.parametrize(
    ("language", "text", "target"),
    [
        ("de", "Geburtsdatum ändern", "Geburtsdatum"),
        ("de", "ich möchte die Medikamente ändern", "Medikamente"),
        ("de", "Kann ich bitte das Geburtsdatum aendern?", "Geburtsdatum"),
        ("de", "korrigiere Allergie gegen Latex", "Allergie gegen Latex"),
        ("de", "ändern", ""),
        ("en", "change date of birth", "date of birth"),
        ("en", "I want to change my medication", "medication"),
        ("en", "correct my age", "age"),
        ("en", "change", ""),
    ],
)
def test_what_is_to_be_changed_is_named_as_written(language: str, text: str, target: str) -> None:
    assert read_command(text, language=language) == Command("change", target)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", ""),
        ("de", "..."),
        ("de", "ja"),
        ("de", "nein danke"),
        ("de", "70 kg"),
        ("de", "Ich habe Rückenschmerzen"),
        ("de", "Die Schmerzen gehen zurück"),
        ("de", "Das hat sich verändert"),
        ("de", "Die Haut hat sich geändert, seit ich die Medikamente nehme"),
        ("de", "seit ich die Tabletten nehme, musste ich die Dosis ändern"),
        ("de", "später als 2015"),
        ("en", "correct"),
        ("en", "that's correct"),
        ("en", "the pain comes back"),
        ("en", "I had a change of medication"),
        ("en", "a little later than that"),
        ("en", "help with walking"),
    ],
)
def test_answers_are_no_commands(language: str, text: str) -> None:
    assert read_command(text, language=language) is None


@pytest.mark.parametrize(
    ("language", "text"), [("de", "nicht"), ("de", "nichts"), ("de", "noch"), ("en", "not"), ("en", "last")]
)
def test_one_word_of_a_longer_command_is_none(language: str, text: str) -> None:
    assert read_command(text, language=language) is None

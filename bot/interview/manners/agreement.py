"""Yes and no, and who says it: which questions they answer, and which words or options say one of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.interview.form.form import Form, Item
from bot.interview.manners.listening import WORDS, WORDS_OF, readable_options
from bot.interview.manners.session import Filler
from bot.interview.reading.reading import Read
from bot.interview.reading.yesno import read_yes_no
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import objects, string
from bot.interview.walk.engine import AskItem
from bot.interview.walk.filling import Filling
from bot.text import words

CONSENT_CODE = "59284-0"  # LOINC: Consent Document
_YES_NO = ((["yes"], ["no"]), (["ja"], ["nein"]))


def asks_consent(item: Item) -> bool:
    """Say whether a question asks for the patient's consent."""
    coded = any(string(code, "code") == CONSENT_CODE for code in objects(item.raw, "code"))
    return item.type == "boolean" and (coded or item.link_id == "consent")


def asks_yes_or_no(question: AskItem) -> bool:
    """Say whether yes and no are what the question can be answered with."""
    labels = [words(option.label.base) for option in question.options]
    return question.item.type == "boolean" or any(yes in labels and no in labels for yes, no in _YES_NO)


def is_no(question: AskItem, answers: Sequence[Answer], language: str) -> bool:
    """Say whether an answer is a no."""
    options = readable_options(question.options, language)
    called = [words(each.labels[0]) for each in options if each.answer in answers]
    return any(answer.value is False for answer in answers) or called in ([["no"]], [["nein"]])


def just_agrees(text: str) -> bool:
    """Say whether a message only says that something is right: "that's right", "ja, stimmt"."""
    said = set(words(text))
    return bool(said & WORDS["right_words"]) and said <= WORDS["right_words"] | WORDS["agreeing_words"]


def agreed(form: Form, filling: Filling) -> bool:
    """Say whether the patient has agreed to what the form asks their consent for, if it does."""
    asked = [item for item in form.walk() if asks_consent(item)]
    return all(
        filling.at(path) == (Answer("boolean", True),) for item in asked for path in filling.instances(form, item)
    )


def filler_meant(text: str, language: str) -> Filler:
    """Return who somebody says is filling the form in; empty where the message does not say so."""
    said, lists = set(words(text)), WORDS_OF[language]
    numbered: tuple[Filler, ...] = ("patient", "relative", "helper")
    if said in ({"ich"}, {"i"}):
        return "patient"
    if text.strip(" .") in ("1", "2", "3"):
        return numbered[int(text.strip(" .")) - 1]
    named: tuple[Filler, ...] = ("helper", "relative", "patient")
    return next((each for each in named if said & lists[f"filling_{each}"]), "")


def begins_with_no(text: str, language: str) -> bool:
    """Say whether the first word is a plain no, with reasons behind it: "no, I had coffee"."""
    said = read_yes_no(" ".join(words(text)[:1]), language=language)
    return isinstance(said, Read) and said.literal and said.answers[0].value is False

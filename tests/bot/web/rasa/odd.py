"""Content such as nobody would write, in two languages, and what a reader must find of it in a project."""

from __future__ import annotations

from typing import Any

from bot.catalog.catalog import Pair, Variant
from bot.catalog.exchange.rasa import unwritable
from bot.interview.form.form import Form
from bot.sentences.wording import wording_of
from bot.talk.interviewing import form_of
from bot.web.rasa.project import Content

TEXTS = {
    "quotes": "Sie sagte: \"Nein\", und 'ja'.",
    "like-yaml": "- a: b # kein Kommentar",
    "null": "null",
    "yes": "yes",
    "octal-of-1.2": "0o14",
    "float-of-1.2": "1e3",
    "time": "12:30",
    "date": "2026-01-01",
    "anchor": "&a *b !!int 3 %TAG | > @ `",
    "question-mark": "? : -",
    "document": "---",
    "document-end": "...",
    "merge": "<<",
    "equals": "=",
    "brackets": "[ohne] (etwas) [",
    "variable": "$HOME und $PATH",
    "backslash-u": "C:\\users\\new \\u00e4 \\x41",
    "percent": "%s %(a)s 100 %",
    "html": "</b><script>alert(1)</script>",
    "emoji": "😢🩺👩🏽\u200d⚕️ e\u0301",
    "right-to-left": "\u202eهل يؤلم؟",
    "separators": "a\u2028b\u2029c\x85d",
    "mark": "\ufeffanfang",
    "control": "a\x07b\x1bc",
    "lines": "Erste Zeile\n  eingerückt\n\nnach einer leeren\n# keine\n- keine Liste",
    "leading-space": "  vorn und hinten  ",
    "leading-space-lines": "  vorn\nhinten  \n",
    "tab": "a\tb\n\tc",
    "slash": "/restart",
    "long": "sehr lang " * 5000,
    "1.0": "eine Zahl als Name",
    "on": "ein Wort als Name",
    "a" * 300: "ein langer Name",
    "out_of_scope": "heißt wie eine Absicht",
    "faq": "heißt wie eine andere",
}
ENGLISH_ASCII = "Plain ASCII with C:\\users and \\N"
LINK_IDS = ("1.2 a/b", "1-2-A-B", "ü", "{x}", "item", "requested_slot", "x" * 300, "language", ": #", "klartext_agreed")


def pairs(language: str) -> list[Pair]:
    """Return a pair for each odd text; one language lacks every third, the other every fifth."""
    found = []
    for number, (name, text) in enumerate(TEXTS.items()):
        if number % (3 if language == "en" else 5) != 2:
            said = f"{text} ({language})" if language == "en" else text
            variants = (Variant(text=f"{text} – anders, {name}"), Variant(text=f"{name} {number}?"))
            found.append(Pair(id=name, question=text, answer=said, variants=variants))
    return found


def form(name: str = "interview") -> Form:
    """Return a form whose linkIds and texts are odd, named like an intent, and translated in part."""
    texts = list(TEXTS.values())
    item: list[dict[str, Any]] = [
        {"linkId": each, "type": "string", "text": texts[number]} for number, each in enumerate(LINK_IDS)
    ]
    options = [{"valueString": text} for text in (*texts[:6], "{slot}")]
    item.append({"linkId": "options", "type": "choice", "text": "Was?", "answerOption": options})
    translated = [{"extension": _translation("en", "What {else}?")}]
    item.append({"linkId": "half", "type": "string", "text": "Was noch?", "_text": translated[0]})
    item.append({"linkId": "nothing", "type": "boolean"})
    document: dict[str, Any] = {
        "resourceType": "Questionnaire",
        "status": "draft",
        "id": name,
        "language": "de",
        "item": item,
    }
    return form_of(document)


def _translation(language: str, text: str) -> list[dict[str, Any]]:
    parts = [{"url": "lang", "valueCode": language}, {"url": "content", "valueString": text}]
    return [{"url": "http://hl7.org/fhir/StructureDefinition/translation", "extension": parts}]


def content() -> Content:
    """Return all of it."""
    assert not any(map(unwritable, TEXTS.values()))
    return Content(
        exam="odd: #exam",
        pairs={"de": pairs("de"), "en": pairs("en")},
        background={"de": ["Wie wird das Wetter?", "[das](ding)", *TEXTS.values()], "en": [ENGLISH_ASCII]},
        wording=wording_of(None, ("de", "en")),
        form=form(),
        sample=True,
    )


def expected(made: Content) -> dict[str, Any]:
    """Return the answers by response, and the wordings by intent, that a reader of the project must find."""
    answers: dict[str, list[str]] = {}
    wordings: dict[str, list[str]] = {}
    for own in made.pairs.values():
        for pair in own:
            answers.setdefault(f"utter_faq/{pair.id}", []).append(pair.answer)
            lines = [" ".join(text.split()) for text in (pair.question, *(each.text for each in pair.variants))]
            wordings.setdefault(f"faq/{pair.id}", []).extend(lines)
    return {"answers": answers, "wordings": {name: sorted(set(lines)) for name, lines in wordings.items()}}

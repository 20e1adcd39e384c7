"""Small forms, and what patients say to them in both languages, for tests of the manners."""

from __future__ import annotations

from typing import Any

from tests.bot.interview.resources import Json, item
from tests.bot.interview.walk.engine_steps import control

WORDS: dict[str, dict[str, str]] = {
    "de": {
        "yes": "ja", "no": "nein", "back": "zurück", "skip": "überspringen", "why": "warum?", "pause": "Pause",
        "on": "weitermachen", "summary": "Zusammenfassung", "repeat": "noch einmal", "help": "Hilfe",
        "dont know": "weiß ich nicht", "won't say": "möchte ich nicht sagen", "change": "Wert ändern", "nonsense": "blau",
        "date": "am dritten März 75", "read date": "3. März 1975", "roughly": "ungefähr siebzig", "send": "absenden",
        "question": "Tut die Untersuchung weh?", "change two": "2 ändern",
    },
    "en": {
        "yes": "yes", "no": "no", "back": "back", "skip": "skip", "why": "why do you ask?", "pause": "pause",
        "on": "continue", "summary": "summary", "repeat": "repeat that", "help": "help",
        "dont know": "I don't know", "won't say": "I'd rather not say", "change": "change value", "nonsense": "blue",
        "date": "on the third of March 75", "read date": "3 March 1975", "roughly": "roughly seventy", "send": "send",
        "question": "Does the examination hurt?", "change two": "change 2",
    },
}  # fmt: skip


def name(**more: Any) -> Json:
    return item("name", "string", text="Name?", **more)


def value(**more: Any) -> Json:
    return item("value", "integer", text="Wert / Value?", **more)


def born(**more: Any) -> Json:
    return item("born", "date", text="Geboren / Born?", **more)


def helped(link_id: str, kind: str, why: str, **more: Any) -> Json:
    inner = item(f"{link_id}-why", "display", text=why, extension=[control("help")])
    return item(link_id, kind, inner, text=f"{link_id}?", **more)


def choice(*labels: str, kind: str = "choice", **more: Any) -> Json:
    listed = [{"valueCoding": {"system": "http://example.org/codes", "code": f"c{n}", "display": label}}
              for n, label in enumerate(labels, 1)]  # fmt: skip
    return item("q", kind, text="Was? / What?", answerOption=listed, **more)

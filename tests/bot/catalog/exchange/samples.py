"""What other assistants export, written after their makers' documents: one radiology practice, five assistants.

Each is as its maker's console writes it, with what makes imports hard: wordings in many rows, follow-up prompts,
Markdown and HTML, answers that need a conversation, entities, switched-off entries, and two languages.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from bot.catalog.exchange.qna_maker import COLUMNS

QNA_TSV = "\n".join(
    "\t".join(cells)
    for cells in [
        COLUMNS,
        (
            "Wie bereite ich mich auf die Mammographie vor?",
            r"**Bitte kein Deo** am Tag der Untersuchung.\n\n* Krankenkassenkarte\n* [Wegbeschreibung]"
            r"(https://praxis.example/weg)",
            "https://praxis.example/faq",
            '"[{""name"":""category"",""value"":""vorbereitung""}]"',
            "[]",
            "False",
            '"[{""displayOrder"":0,""qnaId"":3,""displayText"":""Was ist mit Puder?""}]"',
            "1",
            "FAQ der Praxis",
        ),
        ("deo erlaubt?", "**Bitte kein Deo**", "https://praxis.example/faq", "", "[]", "False", "[]", "1", "FAQ"),
        ("Darf ich Creme benutzen", "", "https://praxis.example/faq", "", "[]", "False", "[]", "1", "FAQ"),
        ("Was kostet das?", "Die Kasse zahlt.", "Editorial", "category:kosten|lang:de", "[]", "False", "[]", "2", ""),
        ("Was ist mit Puder?", "Auch kein Puder.", "Editorial", "", "[]", "True", "[]", "3", ""),
        ("Leere Antwort?", "", "Editorial", "", "[]", "False", "[]", "4", ""),
    ]
)

QNA_PROJECT: dict[str, Any] = {
    "FileVersion": "2.0",
    "Metadata": {"ProjectName": "radiology", "Language": "en", "DefaultAnswer": "No answer found"},
    "Assets": {
        "Synonyms": [],
        "Qnas": [
            {
                "Id": 1,
                "Answer": "A little pressure, for a few seconds. <br/>Tell us if it is <b>too much</b> &amp; we stop.",
                "Source": "https://clinic.example/faq",
                "Questions": ["Does a mammogram hurt?", "is it painful", "will it hurt"],
                "Metadata": {"category": "exam"},
                "Dialog": {
                    "IsContextOnly": False,
                    "Prompts": [{"DisplayOrder": 1, "QnaId": 2, "DisplayText": "And after?"}],
                },
                "ActiveLearningSuggestions": [{"ClusterHead": "pain mammo", "SuggestedQuestions": []}],
            },
            {
                "Id": 2,
                "Answer": "You can go home at once.",
                "Source": "Editorial",
                "Questions": ["And after?"],
                "Metadata": {},
                "Dialog": {"IsContextOnly": True, "Prompts": []},
            },
            {"Id": 3, "Answer": "Bring your referral.", "Source": "Editorial", "Questions": ["What do I bring?"]},
        ],
    },
}

RASA = {
    "config.yml": "recipe: default.v1\nlanguage: de\npipeline:\n- name: WhitespaceTokenizer\npolicies:\n- name: RulePolicy\n",
    "domain.yml": """\
version: "3.1"
intents:
  - greet
  - faq
  - book_appointment
  - opening_hours
slots:
  patient_name:
    type: text
    mappings: [{type: from_text}]
responses:
  utter_greet:
  - text: "Hallo {patient_name}!"
  utter_faq/preparation:
  - text: "Bitte kein Deo benutzen.\\nKommen Sie in zweiteiliger Kleidung."
  - text: "Deo bitte weglassen."
  utter_faq/radiation:
  - text: "Die Strahlung ist gering."
    image: "https://praxis.example/strahlung.png"
  utter_hours:
  - text: "Montag bis Freitag, 8 bis 17 Uhr."
forms:
  appointment_form:
    required_slots: [patient_name]
""",
    "data/nlu.yml": """\
version: "3.1"
nlu:
- intent: greet
  examples: |
    - hallo
    - guten tag
- intent: faq/preparation
  examples: |
    - Wie bereite ich mich vor?
    - darf ich [deo](cosmetic) benutzen
    - muss ich [nüchtern]{"entity": "state", "value": "fasting"} sein
- intent: faq/radiation
  metadata: {sentiment: neutral}
  examples:
  - text: |
      - Wie hoch ist die Strahlung?
  - text: |
      - ist das gefährlich
- intent: opening_hours
  examples: |
    - Wann haben Sie auf?
- intent: book_appointment
  examples: |
    - ich will einen termin
- intent: out_of_scope
  examples: |
    - erzähl mir einen witz
- synonym: deo
  examples: |
    - deodorant
- lookup: city
  examples: |
    - Wien
""",
    "data/rules.yml": """\
version: "3.1"
rules:
- rule: hours
  steps:
  - intent: opening_hours
  - action: utter_hours
- rule: book
  steps:
  - intent: book_appointment
  - action: appointment_form
  - active_loop: appointment_form
""",
    "data/stories.yml": "version: '3.1'\nstories:\n- story: happy\n  steps:\n  - intent: greet\n  - action: utter_greet\n",
}


def _says(*phrases: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": f"0f6f2f1e-0000-4000-8000-{number:012d}",
            "data": phrase if isinstance(phrase, list) else [{"text": phrase, "userDefined": False}],
            "isTemplate": isinstance(phrase, list) and "@" in phrase[0]["text"],
            "count": 0,
            "lang": "de",
            "updated": 1611234567,
        }
        for number, phrase in enumerate(phrases)
    ]


def _intent(name: str, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    response = {"resetContexts": False, "action": "", "affectedContexts": [], "parameters": [], "messages": messages}
    return {
        "id": f"id-{name}",
        "name": name,
        "auto": True,
        "contexts": [],
        "responses": [response | {"speech": []}],
        "priority": 500000,
        "webhookUsed": False,
        "fallbackIntent": False,
        "events": [],
        **more,
    }


def _speech(language: str, *texts: str) -> dict[str, Any]:
    return {"type": "0", "title": "", "textToSpeech": "", "lang": language, "speech": [*texts], "condition": ""}


DIALOGFLOW: dict[str, Any] = {
    "agent.json": {"displayName": "Praxis", "language": "de", "supportedLanguages": ["en"], "enabledKnowledge": False},
    "package.json": {"version": "1.0.0"},
    "intents/faq.Pain.json": _intent(
        "faq.Pain",
        [
            _speech("de", "Ein kurzer Druck.", "Nur kurz."),
            _speech("de", "Sagen Sie Stopp."),
            _speech("en", "Briefly."),
            {"type": 4, "lang": "de", "payload": {"richContent": []}},
        ],
    ),
    "intents/faq.Pain_usersays_de.json": _says(
        "Tut es weh?",
        [
            {"text": "tut die "},
            {"text": "mammo", "alias": "exam", "meta": "@exam", "userDefined": True},
            {"text": " weh"},
        ],
        [{"text": "@exam:exam weh"}],
    ),
    "intents/faq.Pain_usersays_en.json": _says("Does it hurt?"),
    "intents/faq.Pain - yes.json": _intent("faq.Pain - yes", [_speech("de", "Ja.")], contexts=["faqPain-followup"]),
    "intents/faq.Pain - yes_usersays_de.json": _says("ja"),
    "intents/Booking.json": _intent("Booking", [_speech("de", "Am $date um $time.")], webhookUsed=True),
    "intents/Booking_usersays_de.json": _says("ich will einen termin"),
    "intents/Status.json": _intent("Status", [{"type": "0", "lang": "de", "speech": []}], webhookUsed=True),
    "intents/Status_usersays_de.json": _says("wo bleibt mein befund"),
    "intents/Default Welcome Intent.json": _intent("Welcome", [_speech("de", "Hallo!")], events=[{"name": "WELCOME"}]),
    "intents/Default Fallback Intent.json": _intent(
        "Default Fallback Intent", [_speech("de", "Wie?")], fallbackIntent=True
    ),
    "intents/Default Fallback Intent_usersays_de.json": _says("erzähl einen witz"),
    "entities/exam.json": {"id": "e1", "name": "exam", "isOverridable": True},
    "entities/exam_entries_de.json": [{"value": "mammo", "synonyms": ["mammo"]}],
}


def _qna(name: str, questions: dict[str, list[str]], answers: dict[str, list[str]], **more: Any) -> dict[str, Any]:
    data = {"action": "text", "contexts": ["global"], "enabled": True, "answers": answers, "questions": questions}
    return {"id": name, "data": {**data, "redirectFlow": "", "redirectNode": "", **more}}


BOTPRESS: dict[str, Any] = {
    "qnas": [
        _qna(
            "a1b2c3d4e5_parking",
            {"de": ["Wo kann ich parken?", "parkplatz"], "en": ["Where can I park?"], "fr": ["Où garer ?"]},
            {"de": ["Im **Parkhaus**.", "Hinter dem Haus."], "en": ["In the car park."], "fr": ["Au parking."]},
        ),
        _qna("f6_old", {"de": ["Faxnummer?"]}, {"de": ["Keine."]}, enabled=False),
        _qna("g7_book", {"de": ["Termin?"]}, {"de": []}, action="redirect", redirectFlow="booking.flow.json"),
        _qna("h8_card", {"de": ["Karte?"]}, {"de": ["#!builtin_card-Xy12"]}),
        _qna("i9_wait", {"de": ["Wie lange warte ich?"]}, {"de": ["Etwa 20 Minuten."]}, action="text_redirect"),
    ],
    "contentElements": [{"id": "builtin_card-Xy12", "contentType": "builtin_card", "formData": {}}],
}

TABLE = """\
Nr;Kategorie;Frage;Varianten;Antwort
1;Anfahrt;Wo kann ich parken?;"parkplatz
parkhaus?";"Im Parkhaus; die ersten 30 Minuten sind frei."
2;Kosten;Was kostet das?;;Die Kasse zahlt.
;;;;
3;Kosten;;;Ohne Frage.
"""


def write_zip(path: Path, files: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))
    return path


def write_folder(path: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        (path / name).write_text(text, encoding="utf-8")
    return path


def write_file(path: Path, content: Any) -> Path:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=2)
    path.write_text(text, encoding="utf-8")
    return path

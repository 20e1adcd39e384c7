"""Patients who answer the shipped questions before a mammogram: test data, built from the Questionnaire itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.resources import data_folder

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Code:
    """An option, by its code."""

    code: str


YES, NO, UNKNOWN = Code("373066001"), Code("373067005"), Code("261665006")
LEFT, RIGHT = Code("7771000"), Code("24028007")
_NOT_PREGNANT: Mapping[str, Any] = {"period": Code("period-paused"), "pregnant": Code("LA26683-5")}


def questionnaire() -> Json:
    """Return the shipped Questionnaire."""
    path = data_folder("fhir") / "questionnaires" / "mammography-history.json"
    loaded: Json = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def respond(told: Mapping[str, Any], *, form: Json) -> Json:
    """Return a completed response.

    Args:
        told: Answers by linkId, a list where there are several; a repeated group is a list of such mappings. A `Code`
            stands for the option that has it, a string at a choice for the patient's own words.
        form: The Questionnaire.
    """
    return {
        "resourceType": "QuestionnaireResponse",
        "questionnaire": f"{form['url']}|{form['version']}",
        "status": "completed",
        "language": form["language"],
        "authored": "2026-11-22T09:30:00+01:00",
        "item": _items(form["item"], told),
    }


def healthy_at_first_visit(form: Json) -> Json:
    """Fifty, nothing to report, never had a mammogram."""
    return respond(_nothing(age=50, **_NOT_PREGNANT), form=form)


def lump_while_breastfeeding(form: Json) -> Json:
    """Thirty-eight, with a lump on the left for a month; an aunt and the grandmother had cancer."""
    told = _nothing(age=38, **_NOT_PREGNANT, breastfeeding=Code("LA29252-6"), reason=Code("reason-symptoms"))
    relatives = [
        {"relative-who": Code("MAUNT"), "relative-cancer": [Code("254837009")], "relative-age": 52},
        {"relative-who": Code("MGRMTH"), "relative-cancer": [Code("both-breasts"), Code("363443007")]},
    ]
    lump = {
        "complaint-kind": Code("breast-lump"), "complaint-side": LEFT, "complaint-place": [Code("upper-outer"), Code("in-armpit")],
        "complaint-change": Code("change-growing"), "complaint-since": "2026-10", "complaint-seen": YES,
    }  # fmt: skip
    told |= {
        "complaints-now": [Code("breast-lump")],
        "complaint": [lump],
        "family-cancer": YES,
        "relative": relatives,
        "affected-relatives": 2,
        "support": [Code("anxious")],
    }
    return respond(told, form=form)


def after_breast_cancer(form: Json) -> Json:
    """Seventy-one, after cancer of the left breast; implant, blood thinner, wheelchair, some words of her own."""
    told = _nothing(age=71) | {
        "mammogram-before": YES,
        "last-mammogram": "2025-11",
        "last-mammogram-place": "Klinikum am See, Konstanz",
        "last-mammogram-consent": YES,
        "reason": Code("reason-follow-up"),
        "own-cancer": Code("cancer-past"),
        "own-cancer-detail": [
            {"own-cancer-kind": Code("254837009"), "own-cancer-side": LEFT, "own-cancer-age": 58},
        ],
        "procedures": [Code("biopsy"), Code("breast-removed"), Code("implant-operation")],
        "procedure": [
            {"procedure-kind": Code("biopsy"), "procedure-side": RIGHT, "procedure-year": "2009"},
            {"procedure-kind": Code("breast-removed"), "procedure-side": LEFT, "procedure-year": "2014"},
        ],
        "radiotherapy": YES,
        "chest-radiotherapy-age": 58,
        "chest-radiotherapy-side": LEFT,
        "implant": YES,
        "implant-side": LEFT,
        "implant-kind": Code("silicone"),
        "implant-damage": Code("damage-suspected"),
        "family-cancer": UNKNOWN,
        "hormones": [Code("menopause-hormones")],
        "hormones-duration": {
            "value": 18, "unit": "Monate", "system": "http://unitsofmeasure.org", "code": "mo",
        },
        "blood-thinner": YES,
        "blood-thinner-name": "Eliquis",
        "allergies": [Code("plaster-allergy"), "Erdbeeren"],
        "vaccination": RIGHT,
        "support": [Code("wheelchair"), Code("cannot-stand")],
        "note": "Bitte vorsichtig mit der linken Seite.",
    }  # fmt: skip
    return respond(told, form=form)


def _nothing(**told: Any) -> dict[str, Any]:
    """Return the answers of somebody who has nothing to report."""
    return {
        "consent": True,
        "interpreter": False,
        "mammogram-before": NO,
        "reason": Code("reason-screening"),
        "other-imaging": [Code("no-imaging")],
        "complaints-now": [Code("no-complaint")],
        "own-cancer": NO,
        "procedures": [Code("no-procedure")],
        "radiotherapy": NO,
        "breast-skin": [Code("no-skin")],
        "implant": NO,
        "gene-change": UNKNOWN,
        "family-cancer": NO,
        "hormones": [Code("no-hormones")],
        "devices": [Code("no-device")],
        "blood-thinner": NO,
        "allergies": [Code("no-allergy")],
        "vaccination": NO,
        "support": [Code("no-help")],
        "female-radiographer": Code("no-preference"),
        **told,
    }


def _items(items: list[Json], told: Mapping[str, Any]) -> list[Json]:
    built: list[Json] = []
    for item in items:
        head = {"linkId": item["linkId"], "text": item["text"]}
        if item["type"] == "group":
            instances = told.get(item["linkId"], []) if item.get("repeats") else [told]
            inside = [_items(item["item"], instance) for instance in instances]
            built += [{**head, "item": children} for children in inside if children]
        elif item["linkId"] in told:
            given = told[item["linkId"]]
            answers = given if isinstance(given, list) else [given]
            built.append({**head, "answer": [_answer(item, answer) for answer in answers]})
    return built


def _answer(item: Json, given: Any) -> Json:
    if isinstance(given, Code):
        options = [option["valueCoding"] for option in item["answerOption"]]
        return {"valueCoding": next(_plain(option) for option in options if option["code"] == given.code)}
    kind = "String" if item["type"] == "open-choice" else item["type"].capitalize()
    return {f"value{'String' if kind == 'Text' else kind}": given}


def _plain(coding: Json) -> Json:
    return {name: coding[name] for name in ("system", "code", "display")}

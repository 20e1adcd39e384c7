"""The questions of the radiology team as pages of a form: what is saved, what is said, and the way to the chat and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from starlette.testclient import TestClient

from bot import Assistant
from bot.interview.manners.pages import MOST_ROWS
from bot.interview.values.fhir_json import dump, parse
from bot.interview_wiring import Interviewers
from bot.sentences.reply import SENTENCES
from bot.settings import Settings
from bot.talk.reception import Reception
from bot.web.app import Service, build_app
from bot.web.page.rendering import load_labels
from bot.wiring import make_interviews, make_records
from tests.bot.interview.resources import Json, corpus, form, item
from tests.bot.web.browser import Browser
from tests.bot.web.form_filling import FormPatient

NOW = datetime(2026, 11, 23, 10, 0, tzinfo=UTC)
LABELS = load_labels()
DE = SENTENCES["de"]
UNITS = [
    {"url": "http://hl7.org/fhir/StructureDefinition/questionnaire-unitOption",
     "valueCoding": {"system": "http://unitsofmeasure.org", "code": code, "display": name}}
    for code, name in (("kg", "kg"), ("g", "g"))
]  # fmt: skip


def choices(*codes: str) -> list[Json]:
    return [
        {"valueCoding": {"system": "http://example.org/c", "code": code, "display": code.title()}} for code in codes
    ]


# Two sections: one of each type of question, then a group that repeats.
EVERY_TYPE = form(
    item(
        "types", "group",
        item("boolean", "boolean", text="Wahr?"),
        item("choice", "choice", text="Was?", answerOption=choices("rot", "blau")),
        item("several", "choice", text="Welche?", repeats=True, answerOption=choices("hund", "katze", "maus")),
        item("open", "open-choice", text="Wer?", answerOption=choices("mutter", "vater")),
        item("long", "choice", text="Farbe?", answerOption=choices(*(f"farbe{number}" for number in range(20)))),
        item("integer", "integer", text="Wie viele?", required=True),
        item("decimal", "decimal", text="Wie groß?"),
        item("quantity", "quantity", text="Wie schwer?", extension=UNITS),
        item("date", "date", text="Wann?"),
        item("dateTime", "dateTime", text="Wann genau?"),
        item("time", "time", text="Um wie viel Uhr?"),
        item("string", "string", text="Wo?"),
        item("text", "text", text="Was noch?"),
        item("url", "url", text="Welche Seite?"),
        item("names", "string", text="Welche Namen?", repeats=True),
        item("more", "string", text="Warum rot?", enableWhen=[
            {"question": "choice", "operator": "=",
             "answerCoding": {"system": "http://example.org/c", "code": "rot"}}]),
        text="Alle Arten",
    ),
    item(
        "rows", "group",
        item("drug", "string", text="Welches Mittel?", required=True),
        item("often", "integer", text="Wie oft?"),
        text="Mittel", repeats=True,
    ),
    title="Fragen", language="de",
)  # fmt: skip
ENTRIES = {
    "Wie viele?": "3", "Wie groß?": "3,5", "Wo?": "Zürich", "Was noch?": "Nichts", "Welche Seite?": "https://a.ch",
    "Um wie viel Uhr?": "14:30", "Welche Namen?": "Anna",
}  # fmt: skip


@dataclass
class House:
    """The service in this process, with a database of its own."""

    app: Any
    database: Path
    settings: Settings

    def browser(self, language: str = "de") -> Browser:
        """Return a browser whose patient has just agreed."""
        opened = Browser("http://localhost", language)
        opened.client.close()
        client: Any = TestClient(self.app, base_url="http://localhost", headers={"Accept-Language": language})
        opened.client = client
        opened.open("/")
        opened.press(LABELS[language]["begin"], consent="yes")
        return opened

    def rows(self, query: str) -> list[Any]:
        with closing(sqlite3.connect(self.database)) as database:
            return [row[0] for row in database.execute(query).fetchall()]

    @property
    def turns(self) -> int:
        return len(self.rows("select id from turns"))

    @property
    def head(self) -> dict[str, Any]:
        """What is stored of the one interview beside its events."""
        (conversation,) = self.rows("select distinct conversation from interviews")
        stored = make_interviews(self.settings).interview(conversation)
        assert stored is not None
        return dict(json.loads(stored.head))

    @property
    def answers(self) -> dict[str, list[Any]]:
        """What was answered, by linkId."""
        found = self.head["state"]["filling"].get("answers", [])
        return {path[-1][0]: [each["value"] for each in answers] for path, answers in found}


Houses = Callable[..., House]


@pytest.fixture
def build(small: Assistant, tmp_path: Path) -> Houses:
    """Build the service on a form; the shipped one where none is given."""
    small.prepare()
    built: list[Any] = []

    def build_(document: Json | Path | None = None, **environ: str) -> House:
        folder = tmp_path / str(len(built))
        folder.mkdir()
        path = folder / "form.json" if isinstance(document, dict) else document
        if isinstance(document, dict) and path is not None:
            path.write_text(dump(document), encoding="utf-8")
        usual = {
            "KLARTEXT_DATABASE_URL": f"sqlite:///{folder / 'klartext.db'}",
            "KLARTEXT_TURNS_PER_MINUTE": "100000",
            "KLARTEXT_REQUESTS_PER_MINUTE": "100000",
        }
        settings = Settings.from_environment({**usual, **environ}, data=folder)
        records = make_records(settings)
        asked = Interviewers.open(settings, small, exam="mammography", questionnaire=path, records=records)
        service = Service(Reception(small, records, lambda: NOW, interviewer=asked.of), settings)
        service.prepared.set()
        built.append(records)
        return House(build_app(service), folder / "klartext.db", settings)

    return build_


def patient(house: House, language: str = "de") -> FormPatient:
    """Return somebody on the first page of the form."""
    browser = house.browser(language)
    browser.follow(LABELS[language]["form_link"])
    return FormPatient(browser, Random(1))


def entries(filler: FormPatient, **more: list[str]) -> dict[str, list[str]]:
    """Return good entries for the first section of `EVERY_TYPE`; `more`: others, by what is asked."""
    found: dict[str, list[str]] = {}
    for asked, text in ENTRIES.items():
        found[name_of(filler, asked)] = [text]
    return {**found, **{name_of(filler, asked): values for asked, values in more.items()}}


def field_of(filler: FormPatient, asked: str) -> Any:
    fields = filler.form.all("div", class_="field")
    return next(each for each in fields if each.all(class_="asked")[0].text.startswith(asked))


def name_of(filler: FormPatient, asked: str) -> str:
    field = field_of(filler, asked)
    found: str = next(each for each in (*field.all("input"), *field.all("textarea"), *field.all("select"))).get("name")
    return found.partition(".")[0]


def value_of(filler: FormPatient, asked: str, label: str) -> str:
    """Return what is sent when a label is ticked."""
    field = field_of(filler, asked)
    tick = next(each for each in field.all("label") if each.text == label)
    found: str = next(each for each in field.all("input") if each.get("id") == tick.get("for")).get("value")
    return found


def test_every_type_of_question_is_filled_in_and_shown_again(build: Houses) -> None:
    house = build(EVERY_TYPE)
    filler = patient(house)
    day, moment = name_of(filler, "Wann?"), name_of(filler, "Wann genau?")
    ticked = {
        name_of(filler, asked): [value_of(filler, asked, label) for label in labels]
        for asked, labels in {"Wahr?": ["Ja"], "Was?": ["Blau"], "Welche?": ["Hund", "Maus"]}.items()
    }
    colour = field_of(filler, "Farbe?").all("option")[3]
    dated = {f"{day}.year": ["1990"], f"{day}.month": ["3"], f"{moment}.year": ["2020"], f"{moment}.month": ["5"]}
    weight, who = name_of(filler, "Wie schwer?"), name_of(filler, "Wer?")

    filler.post({
        **entries(filler), **ticked, **dated, f"{moment}.day": ["7"], f"{moment}.time": ["14:30"],
        name_of(filler, "Farbe?"): [colour.get("value")],
        weight: ["70"], f"{weight}.unit": ["0"], who: ["own"], f"{who}.own": ["Die Nachbarin"],
    })  # fmt: skip

    assert filler.where == "/form/2", filler.browser.text
    found = house.answers
    assert found["boolean"] == [True]
    assert [each["code"] for each in (*found["choice"], *found["several"], *found["long"])] == [
        "blau",
        "hund",
        "maus",
        "farbe2",
    ]
    assert found["open"] == ["Die Nachbarin"]
    assert (found["integer"], found["date"], found["time"]) == ([3], ["1990-03"], ["14:30:00"])
    assert found["dateTime"][0].startswith("2020-05-07T14:30")
    assert (found["quantity"][0]["value"], found["quantity"][0]["code"]) == (70, "kg")
    assert [found[each][0] for each in ("string", "text", "url", "names")] == [
        "Zürich",
        "Nichts",
        "https://a.ch",
        "Anna",
    ]
    turns = house.turns

    filler.browser.open("/form/1")
    filler.post({})  # as it stands
    assert filler.where == "/form/2"
    assert (house.answers, house.turns) == (found, turns), "what was shown again is what was saved"


def test_one_bad_field_loses_nothing_else_and_is_named_at_the_top(build: Houses) -> None:
    house = build(EVERY_TYPE)
    filler = patient(house)
    wrong = name_of(filler, "Um wie viel Uhr?")

    filler.post({**entries(filler), wrong: ["<b>abends & so</b>"], name_of(filler, "Wie viele?"): [""]})

    page = filler.browser.page
    assert filler.browser.answer.status_code == 422
    assert house.answers["string"] == ["Zürich"]
    assert "time" not in house.answers
    summary = page.one("section", id="wrong")
    assert "autofocus" in summary.attributes
    assert [each.get("href") for each in summary.all("a")] == [f"#{name_of(filler, 'Wie viele?')}", f"#{wrong}"]
    assert all(page.all(id=each.get("href")[1:]) for each in summary.all("a"))
    field = page.one("input", name=wrong)
    assert field.get("value") == "<b>abends & so</b>", "what was typed stays, and is no markup"
    assert page.one(id=f"{wrong}-error").text.endswith(DE["not_understood"])
    assert f"{wrong}-error" in field.get("aria-describedby").split()

    filler.post({wrong: ["18:00"], name_of(filler, "Wie viele?"): ["2"]})
    assert filler.where == "/form/2"
    assert house.answers["time"] == ["18:00:00"]


def test_what_was_not_said_exactly_counts_only_once_it_is_confirmed(build: Houses) -> None:
    house = build(EVERY_TYPE)
    filler = patient(house)
    year = f"{name_of(filler, 'Wann?')}.year"

    filler.post({**entries(filler), year: ["so um 1990 rum"]})
    turns = house.turns
    filler.post({})

    assert "date" not in house.answers
    assert house.turns == turns, "nothing was saved anew"
    sure = field_of(filler, "Wann?").one("input", name=year.replace(".year", ".sure"))
    assert DE["form_read"].format(answer="1990") in filler.browser.text
    filler.post({year: ["so um 1991 rum"], sure.get("name"): [sure.get("value")]})
    assert "date" not in house.answers, "another reading was confirmed than this one"
    sure = field_of(filler, "Wann?").one("input", name=year.replace(".year", ".sure"))
    filler.post({sure.get("name"): [sure.get("value")]})
    assert house.answers["date"] == ["1991"]


def test_the_ways_not_to_answer_and_what_is_left_empty(build: Houses) -> None:
    house = build(EVERY_TYPE)
    filler = patient(house)
    number = name_of(filler, "Wie viele?")

    filler.post({f"{number}.none": ["dont_know"], name_of(filler, "Wahr?"): ["refused"]})

    assert filler.where == "/form/2"
    filling = house.head["state"]["filling"]
    assert [["types", 0], ["integer", 0]] in [path for path, _ in filling["marked"]], "required: staff will ask"
    assert [["types", 0], ["boolean", 0]] in filling["skipped"]
    filler.browser.open("/form/1")
    assert "checked" in field_of(filler, "Wahr?").one("input", value="refused").attributes


def test_questions_that_an_answer_brings_are_shown_on_the_same_page_before_it_goes_on(build: Houses) -> None:
    house = build(EVERY_TYPE)
    filler = patient(house)
    was = name_of(filler, "Was?")

    filler.post({**entries(filler), was: [value_of(filler, "Was?", "Rot")]})

    assert filler.where == "/form/1"
    note = filler.browser.page.one("section", id="note")
    assert [each.text for each in note.all("a")] == ["Warum rot?"]
    filler.post({name_of(filler, "Neu Warum rot?"): ["Einfach so"]})
    assert filler.where == "/form/2"
    assert house.answers["more"] == ["Einfach so"]


def test_an_answer_stays_where_another_one_puts_the_same_question_in_its_place(build: Houses) -> None:
    def asked(link_id: str, **when: Any) -> Json:
        return item(link_id, "choice", text="Welche Krankheit?", repeats=True, answerOption=choices("gicht", "rheuma"),
                    enableWhen=[{"question": "who", **when}])  # fmt: skip

    mother = {"system": "http://example.org/c", "code": "mutter"}
    house = build(form(
        item("who", "choice", text="Wer?", answerOption=choices("mutter", "vater")),
        asked("of-mother", operator="=", answerCoding=mother),
        asked("of-nobody", operator="exists", answerBoolean=False),
        item("age", "integer", text="Wie alt?", enableWhen=[{"question": "who", "operator": "exists", "answerBoolean": True}]),
        title="Fragen", language="de",
    ))  # fmt: skip
    filler = patient(house)

    filler.post({
        name_of(filler, "Wer?"): [value_of(filler, "Wer?", "Mutter")],
        name_of(filler, "Welche"): [value_of(filler, "Welche", "Gicht"), value_of(filler, "Welche", "Rheuma")],
    })  # fmt: skip

    assert [each["code"] for each in house.answers["of-mother"]] == ["gicht", "rheuma"]
    assert [each.text for each in filler.browser.page.one("section", id="note").all("a")] == ["Wie alt?"]


def test_rows_are_added_and_taken_out_one_at_a_time(build: Houses) -> None:
    house = build(EVERY_TYPE)
    filler = patient(house)
    filler.post(entries(filler))

    for drug in ("Aspirin", "Eliquis", "Marcumar"):
        add = next(each for each in filler.form.all("button") if each.get("value").startswith("add:"))
        filler.post({}, do=add.get("value"))
        filler.post({filler.form.all("input", type="text")[-2].get("name"): [drug]}, do="chat")
        filler.browser.open("/form/2")
    numbers = [each.get("name") for each in filler.form.all("input", inputmode="numeric")]
    remove = [each.get("value") for each in filler.form.all("button") if each.get("value").startswith("remove:")]
    filler.post({numbers[2]: ["dreimal vielleicht nie"]}, do=remove[1])

    # The second is out; what was typed beside the third stands now beside the second, and is still to be checked.
    assert filler.browser.answer.status_code == 422
    standing = [each.get("value") for each in filler.form.all("input", type="text")]
    assert standing == ["Aspirin", "", "Marcumar", "dreimal vielleicht nie"]
    filler.post({filler.form.all("input", inputmode="numeric")[1].get("name"): ["3"]})
    assert filler.where == "/form/check"
    found = house.head["state"]["filling"]
    assert [answers[0]["value"] for path, answers in found["answers"] if path[-1][0] == "drug"] == [
        "Aspirin",
        "Marcumar",
    ]
    assert [["rows", 0]] in found["closed"]


def test_a_group_has_room_for_so_many_rows_and_what_was_typed_stays(build: Houses) -> None:
    house = build(EVERY_TYPE)
    filler = patient(house)
    filler.post(entries(filler))

    for _ in range(MOST_ROWS - 1):
        (add,) = [each for each in filler.form.all("button") if each.get("value").startswith("add:")]
        filler.post({}, do=add.get("value"))
    drugs = [each.get("name") for each in filler.form.all("input", type="text")[::2]]
    (add,) = [each for each in filler.form.all("button") if each.get("value").startswith("add:")]
    filler.post({name: [f"Mittel {number}"] for number, name in enumerate(drugs)}, do=add.get("value"))
    assert not [each for each in filler.form.all("button") if each.get("value").startswith("add:")]
    assert LABELS["de"]["form_full"].format(most=MOST_ROWS) in filler.browser.text
    number = int(add.get("value").rpartition("_")[2]) + 1
    filler.post({}, do=f"{add.get('value').rpartition('_')[0]}_{number}")  # no button says that

    standing = [each.get("value") for each in filler.form.all("input", type="text")[::2]]
    assert standing == [*(f"Mittel {number}" for number in range(MOST_ROWS - 1)), ""]


def test_a_page_with_too_much_text_is_told_so_and_not_of_a_message(build: Houses) -> None:
    filler = patient(build(EVERY_TYPE))

    filler.browser._show(filler.browser.client.post("/form/1", data={"q1_0": "a" * 70_000}))

    assert filler.browser.answer.status_code == 413
    assert LABELS["de"]["error_413_form"] in filler.browser.text
    assert LABELS["de"]["error_413"] not in filler.browser.text


def test_an_added_row_that_stays_empty_is_no_error(build: Houses) -> None:
    house = build(EVERY_TYPE)
    filler = patient(house)
    filler.post(entries(filler))
    add = next(each for each in filler.form.all("button") if each.get("value").startswith("add:"))
    filler.post({}, do=add.get("value"))
    assert filler.form.all("input", type="text")

    filler.post({})

    assert filler.where == "/form/check"
    assert not [path for path, _ in house.head["state"]["filling"]["answers"] if path[-1][0] == "drug"]


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_shipped_form_goes_from_the_chat_to_the_form_and_back(build: Houses, language: str) -> None:
    house, labels, said = build(), LABELS[language], SENTENCES[language]
    browser = house.browser(language)
    browser.press(said["yes"])
    browser.press(said["yes"])  # agrees
    browser.press(said["who_patient"])
    age = {"de": "Wie alt sind Sie?", "en": "How old are you?"}[language]

    filler = FormPatient(browser, Random(2))
    browser.follow(labels["form_link"])
    assert filler.where == "/form/2"
    assert labels["form_progress"].format(number=2, total=9) in browser.text
    filler.post({name_of(filler, age): ["52"], filler.form.all("input", type="radio")[0].get("name"): [
        filler.form.all("input", type="radio")[0].get("value")]})  # fmt: skip

    assert filler.where == "/form/3"
    before = house.answers
    browser.follow(labels["back_to_chat"])
    assert said["form_saved"].format(number=2, total=9) in browser.newest.text
    asked = browser.newest.all("p", class_="ask")[-1].text
    browser.press(said["no"])  # there was none before
    assert len(house.answers) == len(before) + 1

    browser.follow(labels["form_link"])
    assert filler.where == "/form/3"
    assert any("checked" in each.attributes for each in field_of(filler, asked).all("input"))
    browser.open("/chat")
    lines = [
        each.one(class_="reply").one("p", class_="say").text for each in browser.page.all("article", class_="turn")[4:5]
    ]
    assert lines == [said["form_saved"].format(number=2, total=9)], "later one line is left of it"


@pytest.mark.parametrize("language", ["de", "en"])
def test_agreeing_on_the_page_of_all_answers_is_agreeing_to_the_summary(build: Houses, language: str) -> None:
    said, labels = SENTENCES[language], LABELS[language]
    house = build(EVERY_TYPE, KLARTEXT_FHIR_URL="http://localhost:9/fhir")
    filler = patient(house, language)
    filler.to_the_end()
    browser = filler.browser
    rows = {row.one("dt").text: row.one("dd", class_="value").text for row in browser.page.all("dl", class_="row")}
    assert rows["Wo?"] == said["own"].format(answer=house.answers["string"][0])
    called = f"{labels['check_change']} : Wo?"
    change = next(each for each in browser.page.all("a") if each.text == called)
    browser.open(change.get("href").partition("#")[0])
    assert change.get("href").partition("#")[2] == name_of(filler, "Wo?")
    filler.post({name_of(filler, "Wo?"): ["Bern"]})
    assert filler.where == "/form/check", "from there one comes back to it"
    assert house.rows("select id from outbox") == []

    browser.press(labels["summary_yes"])

    assert said["completed"] in browser.newest.text or said["in_progress"] in browser.newest.text
    assert browser.page.all("article", class_="turn")[-1].one(class_="said").text.endswith(said["yes"])
    head = house.head
    assert head["talk"]["phase"] == "finished"
    assert len(house.rows("select id from outbox")) == 1
    assert "Bern" in house.rows("select bundle from outbox")[0]
    browser.open("/form/check")
    assert labels["check_agreed"] in browser.text
    assert labels["summary_yes"] not in browser.labels

    browser.open("/form/1")
    filler.post({name_of(filler, "Wo?"): ["Biel"]})
    assert house.head["talk"]["phase"] == "summary", "what was changed is agreed to anew"
    browser.open("/form/check")
    browser.press(labels["summary_yes"])
    assert "Biel" in house.rows("select bundle from outbox order by id")[-1]


def test_nothing_is_agreed_to_while_questions_are_open(build: Houses) -> None:
    house = build(EVERY_TYPE)
    filler = patient(house)
    filler.post(entries(filler))
    page = filler.browser.open("/form/check")
    assert not [each for each in page.all("form") if each.get("action") == "/form/check"]
    hidden = {
        each.get("name"): each.get("value") for each in filler.browser.open("/form/2").all("input", type="hidden")
    }

    answer = filler.browser.client.post("/form/check", data=hidden)

    assert answer.status_code == 409
    assert house.head["talk"].get("phase") != "finished"


def test_another_window_that_went_on_is_told_and_shown(build: Houses) -> None:
    house = build(EVERY_TYPE)
    first = patient(house)
    second = FormPatient(Browser("http://localhost"), Random(1))
    second.browser.client = first.browser.client
    second.browser.open("/form/1")
    first.post(entries(first, **{"Wo?": ["Basel"]}))

    second.post(entries(second, **{"Wo?": ["Genf"]}))

    assert second.browser.answer.status_code == 409
    assert LABELS["de"]["form_outdated"] in second.browser.text
    assert second.browser.page.one("input", name=name_of(second, "Wo?")).get("value") == "Basel"
    assert house.answers["string"] == ["Basel"]
    second.post({name_of(second, "Wo?"): ["Genf"]})
    assert house.answers["string"] == ["Genf"]


def test_a_page_that_is_sent_twice_is_one_turn(build: Houses) -> None:
    house = build(EVERY_TYPE)
    filler = patient(house)
    sent = {**filler.standing(), **entries(filler), name_of(filler, "Was?"): [value_of(filler, "Was?", "Rot")]}

    answers = [filler.browser.client.post("/form/1", data=sent) for _ in range(2)]

    assert house.turns == 1
    assert [answer.url.path for answer in answers] == ["/form/1", "/form/1"], "the new question is seen both times"


def test_a_sign_of_danger_raises_the_alarm_once_it_is_saved(build: Houses) -> None:
    house = build(EVERY_TYPE)
    filler = patient(house)

    filler.post(entries(filler, **{"Was noch?": ["Ich kriege keine Luft und habe Brustschmerzen"]}))

    browser = filler.browser
    assert filler.where == "/chat"
    assert browser.page.all(class_="panel")
    assert house.answers["text"] == ["Ich kriege keine Luft und habe Brustschmerzen"]
    assert house.rows("select decision from turns") == ["urgent"]
    before = house.answers
    browser.say("Nein, kein Notfall")
    assert house.answers == before, "what raised it is no answer to the next question"
    browser.open("/form/1")
    filler.post({})
    assert filler.where == "/form/2", "what was heard already is not heard again"


def test_a_form_of_another_site_is_refused_and_so_is_what_no_page_sends(build: Houses) -> None:
    house = build(EVERY_TYPE)
    filler = patient(house)
    sent = {**filler.standing(), **entries(filler)}

    for broken in (
        {"token": ["x"]},
        {"turn": ["a b"]},
        {"language": ["xx"]},
        {"version": ["-1"]},
        {"do": ["fly:q1_0"]},
    ):
        answer = filler.browser.client.post("/form/1", data={**sent, **broken})
        assert answer.status_code == (403 if "token" in broken else 400), broken
    assert filler.browser.client.post("/form/1", data=sent, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert filler.browser.client.get("/form/0001x").status_code == 404
    assert house.turns == 0
    choice = filler.browser.client.post("/form/1", data={**sent, name_of(filler, "Was?"): ["forged"]})
    assert choice.status_code == 422
    assert "choice" not in house.answers


def test_what_waits_to_be_confirmed_in_the_chat_is_confirmed_in_its_field(build: Houses) -> None:
    house = build(form(item("q", "date", text="Wann?"), item("r", "string", text="Wo?"), title="T", language="de"))
    browser = house.browser()
    browser.press(DE["yes"])
    browser.say("so um 1990 rum")
    assert DE["read_back"].format(answer="1990") in browser.newest.text
    filler = FormPatient(browser, Random(1))
    browser.open("/form/1")

    filler.post({name_of(filler, "Wo?"): ["Bern"]}, do="chat")
    assert DE["read_back"].format(answer="1990") in browser.newest.text, "it still waits"
    browser.open("/form/1")
    sure = field_of(filler, "Wann?").one("input", name=f"{name_of(filler, 'Wann?')}.sure")
    filler.post({sure.get("name"): [sure.get("value")]})

    assert house.answers == {"q": ["1990"], "r": ["Bern"]}


WAITS = form(
    item(
        "about", "group", item("s", "string", text="Wo?"), item("q", "date", text="Wann?"),
        item("r", "string", text="Wer?"), text="Über Sie",
    ),
    item("more", "group", item("t", "string", text="Was noch?"), text="Mehr"),
    title="T", language="de",
)  # fmt: skip


def test_a_reading_that_waits_in_the_chat_is_confirmed_on_its_page_or_with_all_answers(build: Houses) -> None:
    house = build(WAITS)
    browser = house.browser()
    for said in (DE["yes"], "Bern", "so um 1990 rum"):
        browser.say(said)
    assert "Wer?" in browser.newest.text, "the chat goes on, and asks later"
    assert DE["waits"].format(answer="1990") in browser.newest.text
    filler = FormPatient(browser, Random(1))
    browser.follow(LABELS["de"]["form_link"])
    assert filler.where == "/form/1"
    assert DE["form_read"].format(answer="1990") in field_of(filler, "Wann?").text

    filler.post({name_of(filler, "Wer?"): ["Anna"]})
    assert browser.answer.status_code == 422, "nobody leaves it behind without a word"
    assert house.answers == {"s": ["Bern"], "r": ["Anna"]}
    browser.open("/form/check")
    rows = {row.one("dt").text: row.one("dd", class_="value").text for row in browser.page.all("dl", class_="row")}
    assert rows["Wann?"] == DE["summary_waiting"].format(answer="1990")

    browser.open("/form/2")
    filler.post({name_of(filler, "Was noch?"): ["Angst"]})
    assert filler.where == "/form/check"
    browser.press(LABELS["de"]["summary_yes"])
    assert house.answers == {"s": ["Bern"], "r": ["Anna"], "q": ["1990"], "t": ["Angst"]}
    assert house.head["talk"]["phase"] == "finished"


def test_a_reading_of_a_page_waits_in_the_chat_as_one_of_its_own(build: Houses) -> None:
    house = build(WAITS)
    filler = patient(house)
    year = f"{name_of(filler, 'Wann?')}.year"

    filler.post({name_of(filler, "Wo?"): ["Bern"], year: ["so um 1990 rum"]}, do="chat")
    assert filler.browser.answer.status_code == 422
    assert house.answers == {"s": ["Bern"]}
    assert [path[-1][0] for path, _ in house.head["state"]["filling"]["waiting"]] == ["q"]
    filler.browser.open("/chat")
    assert "Wer?" in filler.browser.newest.text
    filler.browser.say("Anna")

    assert DE["read_back"].format(answer="1990") in filler.browser.newest.text, "its section ends"
    filler.browser.press(DE["yes"])
    assert house.answers == {"s": ["Bern"], "r": ["Anna"], "q": ["1990"]}


def test_a_reading_that_waits_is_turned_down_on_its_page(build: Houses) -> None:
    house = build(WAITS)
    filler = patient(house)
    when = name_of(filler, "Wann?")
    filler.post({f"{when}.year": ["so um 1990 rum"]})

    filler.post({f"{when}.year": [""], f"{when}.none": ["dont_know"]})

    assert filler.where == "/form/2"
    assert "waiting" not in house.head["state"]["filling"]
    assert "q" not in house.answers


def test_who_fills_in_is_asked_with_the_agreement_where_the_chat_did_not(build: Houses) -> None:
    house = build()
    filler = patient(house)
    filler.to_the_end()
    assert [each.get("value") for each in filler.browser.page.all("input", name="who")] == [
        "patient",
        "relative",
        "helper",
    ]

    filler.browser.press(LABELS["de"]["summary_yes"], who="relative")

    assert house.head["filler"] == "relative"
    filler.browser.open("/copy")
    assert DE["filled_by_relative"] in filler.browser.text
    filler.browser.open("/form/check")
    assert filler.browser.page.all("input", name="who") == []


def test_a_file_is_sent_in_the_chat_at_its_question(build: Houses) -> None:
    asked = form(item("a", "string", text="Wo?"), item("f", "attachment", text="Brief?"), title="T", language="de")
    house = build(asked, KLARTEXT_UPLOADS="on", KLARTEXT_UPLOAD_SCAN="none")
    filler = patient(house)

    filler.post({}, do=field_of(filler, "Brief?").one("button").get("value"))

    assert filler.where == "/chat"
    assert "Brief?" in filler.browser.newest.text
    assert filler.browser.page.all("form", id="upload")


def test_who_changes_the_language_on_a_page_goes_on_in_it(build: Houses) -> None:
    house = build()
    filler = patient(house)
    browser = filler.browser
    browser.press("English")
    assert filler.where == "/form/1"
    assert browser.page.one("h1").language == "en"

    filler.post({filler.form.all("input", type="radio")[0].get("name"): [
        filler.form.all("input", type="radio")[0].get("value")]})  # fmt: skip

    browser.open("/chat")
    assert SENTENCES["en"]["form_saved"].format(number=1, total=9) in browser.newest.text
    browser.press(SENTENCES["en"]["who_patient"])
    assert "Why are you coming" in browser.newest.text


def test_what_the_form_proposes_counts_only_once_it_is_confirmed(build: Houses) -> None:
    house = build(form(item("q", "string", text="Wo?", initial=[{"valueString": "Bern"}]), title="T", language="de"))
    filler = patient(house)
    assert DE["form_offered"].format(answer="„Bern“") in filler.browser.text
    sure = field_of(filler, "Wo?").one("input", type="checkbox")

    filler.post({sure.get("name"): [sure.get("value")]})

    assert house.answers == {"q": ["Bern"]}


def _third_party() -> list[Path]:
    folder = corpus()
    return [*sorted(folder.glob("questionnaires/*.json")), *sorted(folder.glob("response-cases/*/questionnaire.json"))]


@pytest.mark.parametrize("part", range(4))
def test_forms_of_others_are_filled_in_to_their_end(build: Houses, part: int) -> None:
    kinds, filled = set[str](), 0
    for number, path in enumerate(_third_party()[part::4]):
        language = "de" if number % 2 else "en"
        document = parse(path.read_text(encoding="utf-8")).value
        assert isinstance(document, dict)
        if path.parent.name == "abstract-question-type-included-qr":
            continue  # of a type that nobody can ask
        house = build(path)
        filler = patient(house, language)

        filler.to_the_end()

        kinds |= filler.kinds
        filled += 1
        filler.browser.press(LABELS[language]["summary_yes"])
        assert house.head["talk"]["phase"] == "finished", path
    assert filled >= 11
    assert len(kinds) >= 4


def test_advice_that_an_answer_brings_stands_whole_where_the_page_begins(build: Houses) -> None:
    filler = patient(build())
    filler.fill()
    filler.browser.open("/form/4")

    lump = value_of(filler, "Haben Sie an Brust oder Achsel etwas bemerkt?", "Knoten oder harte Stelle")
    filler.post({name_of(filler, "Haben Sie an Brust oder Achsel etwas bemerkt?"): [lump]})

    advice = filler.form.all("div", class_="told")[0].text.removeprefix(LABELS["de"]["form_new"]).strip()
    assert advice.startswith("Danke, dass Sie uns das sagen.")
    note = filler.browser.page.one("section", id="note")
    assert advice in note.text
    assert "Auf welcher Seite ist das?" in [each.text for each in note.all("a")]

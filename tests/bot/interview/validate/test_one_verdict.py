"""Interview and validator say the same of every answer and every finished response, also where forms are odd.

The forms drawn here have what published forms have: codes without or with a relative system, displays of their own,
codes as numbers, patterns on numbers and dates or written as FHIRPath, units under two names, flags as text, scores.
"""

from __future__ import annotations

import logging
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.catalog.fhir_files import shipped_terminology
from bot.commands.fhir import surroundings, validate_documents
from bot.interview.form.indexed import read_stated
from bot.interview.form.support import UnsupportedQuestionnaire
from bot.interview.load import load_form
from bot.interview.rules.answers import Problem
from bot.interview.validate.item import refused_by
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, as_object, dump, parse
from bot.interview.walk.assemble import Heading, answer_in_response
from bot.interview.walk.engine import AskItem, Done, Engine
from bot.interview.walk.filling import Filling, Given
from bot.talk.interviewing import Interviewer
from tests.bot.interview.chat import Chat, mammography
from tests.bot.interview.random_forms import NOW, Patient, stands_in_response
from tests.bot.interview.resources import CORE, SDC, UCUM, Json, code_system, form, item, value_set
from tests.bot.interview.walk.engine_steps import formula, hidden, variable
from tests.conftest import examples

GENDER = "http://hl7.org/fhir/administrative-gender"  # its code system is shipped, and complete
SYSTEMS = ("http://example.org/codes", "local", " http://example.org/spaced ", GENDER, "")
CODES = ("a", "male", " b ", "two  words", 3, "")
DISPLAYS = ("Ja", "", " Männlich ", None)
# Of the last three, none fits a date of FHIR: they are about how it looks on a screen.
PATTERNS = (
    "[0-9]{4}", "matches('^[0-9]{2,4}$')", "(19|20)[0-9]{2}(-[0-9]{2}){0,2}", r"-?\d+([.]\d{1,2})?", "[A-Z]+",
    r"\d{2}/\d{2}/\d{4}", r"[0-3]\d\.[01]\d\.\d{4}",
)  # fmt: skip
TYPED = ("integer", "decimal", "date", "dateTime", "time", "string", "text", "url")
VALUES: dict[str, tuple[Any, ...]] = {
    "integer": (-1, 0, 7, 42, 180, 1975, 2020, 99999),
    "decimal": (Decimal("1.80"), Decimal("70"), Decimal("1E+2"), Decimal("5.125"), 1975, Decimal("-0.5")),
    "date": ("1975", "1975-06", "1975-06-15", "2020-01-01", "2030-12-31"),
    "dateTime": ("1975", "1975-06-15", "2020-01-01T10:00:00Z", "2020-01-01T10:00:00+01:00"),
    "time": ("00:00:00", "09:30:00", "23:59:00"),
    "string": ("1975", "7", "ABC", "Müller", "31/12/2020", "a longer sentence", " padded ", "bell\a"),
    "uri": ("http://example.org/a", "urn:uuid:0", "1975", "two words"),
}
QUANTITIES: tuple[Json, ...] = (
    {"value": 70, "unit": "kg", "system": UCUM, "code": "kg"},
    {"value": Decimal("154.5"), "unit": "lb", "system": UCUM, "code": "[lb_av]"},
    {"value": 70, "unit": "Kilogramm", "system": UCUM, "code": "kg"},
    {"value": 180, "unit": "cm", "system": UCUM, "code": "cm"},
    {"value": 3, "unit": "Stück"},
    {"value": 3, "unit": "points", "system": UCUM, "code": "{score}"},
    {"value": 3},
)
UNITS: tuple[Json, ...] = (
    {"system": UCUM, "code": "kg", "display": "kg"},
    {"system": UCUM, "code": "kg", "display": "Kilogramm"},
    {"system": UCUM, "code": "[lb_av]"},
    {"display": "Stück"},
    {"system": UCUM, "code": "cm"},
)
FILES: tuple[Json, ...] = (
    {"contentType": "text/plain", "data": "YWJj"},
    {"contentType": "image/png", "data": "YWJj", "size": 3},
    {"contentType": "image/png", "data": "YWJj", "size": 900},
    {"contentType": "application/pdf", "url": "http://example.org/a.pdf", "size": 900},
    {"data": "YWJj"},
)
REFERENCES: tuple[Json, ...] = (
    {"reference": "Patient/1"},
    {"reference": "http://example.org/fhir/Organization/x"},
    {"reference": "Nonsense/1"},
    {"reference": "Organization/1", "type": "Patient"},
    {"display": "Dr. Who"},
)


def some(draw: Any, *values: Any) -> Any:
    return draw(st.sampled_from(values))


def core(name: str, **value: Any) -> Json:
    return {"url": CORE + name, **value}


@st.composite
def codings(draw: Any) -> Json:
    parts = {"system": some(draw, *SYSTEMS), "code": some(draw, *CODES), "display": some(draw, *DISPLAYS)}
    left_out = draw(st.sets(st.sampled_from(("system", "display")), max_size=1))
    more: Json = {"_display": {"extension": [{"url": "http://example.org/x", "valueString": "x"}]}}
    made: Json = {name: part for name, part in parts.items() if name not in left_out}
    return made | more if draw(st.booleans()) else made


@st.composite
def options(draw: Any) -> list[Json]:
    one = st.one_of(
        codings().map(lambda coding: {"valueCoding": coding}),
        st.sampled_from(
            ({"valueString": "S"}, {"valueInteger": 4}, {"valueInteger": "5"}, {"valueDate": "2020-06"},
             {"valueReference": {"reference": "Patient/1", "display": ""}})
        ),
    )  # fmt: skip
    found: list[Json] = draw(st.lists(one, min_size=1, max_size=4, unique_by=dump))
    return found


@st.composite
def questions(draw: Any, link_id: str) -> tuple[Json, list[Json]]:
    """Draw a question, and the value sets that it contains."""
    kind = some(draw, "choice", "choice", "open-choice", "quantity", "attachment", "reference", "boolean", *TYPED)
    made: Json = {
        **item(link_id, kind),
        "text": some(draw, "Frage?", "", "bell\a"),
        "repeats": some(draw, False, "true"),
    }
    made["required"] = some(draw, True, False, "true")
    inside: list[Json] = []
    limits: list[Json] = []
    if kind in ("choice", "open-choice"):
        if draw(st.booleans()):
            made["answerOption"] = draw(options())
        else:
            inside.append(draw(contained(f"vs-{link_id}")))
            made["answerValueSet"] = "#" + inside[0]["id"]
    elif kind == "quantity":
        limits += [core("questionnaire-unitOption", valueCoding=dict(each)) for each in draw(st.sets(st.integers(0, 4)))
                   for each in (UNITS[each],)]  # fmt: skip
        limits += some(draw, [], [{"url": SDC + "sdc-questionnaire-unitOpen", "valueCode": "optionsOrString"}])
        limits += some(draw, [], [core("questionnaire-unit", valueCoding=dict(UNITS[0]))])
        bound = some(draw, {"valueQuantity": dict(QUANTITIES[0])}, {"valueQuantity": {"value": 5, "unit": "kg"}},
                     {"valueInteger": 5}, None)  # fmt: skip
        limits += [{"url": SDC + "sdc-questionnaire-minQuantity", **bound}] if bound else []
    elif kind == "attachment":
        limits += some(draw, [], [core("mimeType", valueCode="image/*")], [core("maxSize", valueDecimal=Decimal(500))])
    elif kind == "reference":
        limits += some(draw, [], [core("questionnaire-referenceResource", valueCode="Patient")])
    elif kind in TYPED:
        if draw(st.booleans()):
            limits.append(core("regex", valueString=some(draw, *PATTERNS)))
        if kind == "decimal" and draw(st.booleans()):
            made["answerOption"] = [{"valueInteger": 70}, {"valueInteger": 5}]
        elif kind == "integer" and draw(st.booleans()):
            limits.append(core("minValue", valueInteger=some(draw, 0, 40)))
        elif kind == "string" and draw(st.booleans()):
            made["maxLength"] = 5
    return made | ({"extension": limits} if limits else {}), inside


@st.composite
def contained(draw: Any, name: str) -> Json:
    concept = [{name: part for name, part in coding.items() if name in ("code", "display") and part is not None}
               for coding in draw(st.lists(codings(), min_size=1, max_size=3))]  # fmt: skip
    system = some(draw, *SYSTEMS)
    if draw(st.booleans()):
        head = {"resourceType": "ValueSet", "id": name, "status": "active"}
        listed = [each | ({"system": system} if system else {}) for each in concept]
        return {**head, "expansion": {"timestamp": "2026-11-22", "contains": listed}}
    return value_set({"system": system or SYSTEMS[0], "concept": concept}, id=name)


@st.composite
def odd_forms(draw: Any) -> Json:
    """Draw a form of one to four odd questions, in a group or not, with a version as people write it."""
    drawn = [draw(questions(f"q{number}")) for number in range(draw(st.integers(1, 4)))]
    asked, inside = [each for each, _ in drawn], [each for _, more in drawn for each in more]
    asked.append({**item("note", "display", text="Note"), "required": True})
    items = [item("g", "group", *asked, text="Group")] if draw(st.booleans()) else asked
    head = some(draw, {"version": "Version 1.0"}, {"version": "1.0"}, {"language": "de DE"})
    return form(*items, **head, **({"contained": inside} if inside else {}))


class OddPatient(Patient):
    """Answers with whatever the type allows, in and out of limits."""

    def value(self, item: Any, options: Any) -> Answer:
        listed = options or item.options
        if listed and not (item.open and self.chance(3)):
            chosen: Answer = self.random.choice(listed).answer
            return chosen
        return self.random.choice(possible(item.type))


def possible(kind: str) -> list[Answer]:
    """Return answers of the right type to an item that lists none."""
    complex_ones = {"quantity": QUANTITIES, "attachment": FILES, "reference": REFERENCES}
    if kind in complex_ones:
        return [Answer(kind, dict(value)) for value in complex_ones[kind]]
    if kind == "boolean":
        return [Answer(kind, True), Answer(kind, False)]
    type_ = {"text": "string", "url": "uri", "choice": "string", "open-choice": "string"}.get(kind, kind)
    return [Answer(type_, value) for value in VALUES[type_]]


def loaded(questionnaire: Json, **more: Any) -> Engine | None:
    """Return the engine of a form, None for one that is refused with its reasons."""
    try:
        return Engine(load_form(questionnaire, known=shipped_terminology(), **more), now=NOW)
    except UnsupportedQuestionnaire:
        return None


def walked(engine: Engine, seed: int, stubborn: int) -> Filling:
    patient, filling = OddPatient(Random(seed), stubborn), engine.start()
    while not isinstance(step := engine.next(filling), Done):
        filling = engine.apply(filling, patient.reply(engine, filling, step))
    return filling


def refusals(questionnaire: JsonObject, engine: Engine, filling: Filling, *more: JsonObject) -> list[str]:
    """Return what `klartext fhir validate` refuses in the response, were it called completed."""
    made = engine.response(filling, Heading("completed", NOW.isoformat()))
    around = surroundings([questionnaire], [], more, now=NOW.isoformat())
    return [f"{each.path}: {each.text}" for each in validate_documents(parse(dump(made)), around) if each.is_error]


def codes(problems: list[Problem]) -> list[str]:
    return [problem.code for problem in problems]


def of_response(engine: Engine, filling: Filling, problems: list[Problem]) -> list[str]:
    """Return the problems that a response shows: not what was refused in a group that it may leave out."""
    return codes([each for each in problems if stands_in_response(engine, filling, each.path)])


@examples(25, 120)
@given(odd_forms(), st.integers(0, 2**32), st.sampled_from((0, 3)))
def test_what_the_interview_completes_the_validator_accepts(questionnaire: Json, seed: int, stubborn: int) -> None:
    engine = loaded(questionnaire)
    if engine is None:
        return

    filling = walked(engine, seed, stubborn)
    left = [problem for problem in engine.open_problems(filling) if problem.severity == "error"]

    assert "refused" not in codes(left), "only the validator noticed what the interview should have asked again"
    assert (refusals(questionnaire, engine, filling) != []) is bool(of_response(engine, filling, left))


@examples(25, 120)
@given(odd_forms())
def test_every_option_that_is_offered_can_be_chosen(questionnaire: Json) -> None:
    engine = loaded(questionnaire)
    if engine is None:
        return

    step = engine.next(engine.start())

    if isinstance(step, AskItem):
        for option in step.options:
            assert engine.problems(engine.start(), step.path, (option.answer,)) == (), option.answer


def refusals_alone(asked: Json, engine: Engine, answer: Answer) -> list[str]:
    """Return the rules that an answer to the only question of a form breaks, whatever else the response says."""
    return [*refused_by(read_stated(asked), answer_in_response(engine.form.items[0], answer), engine.form.known)]


@examples(25, 120)
@given(questions("q"))
def test_of_a_single_answer_both_say_the_same(drawn: tuple[Json, list[Json]]) -> None:
    asked, inside = drawn
    engine = loaded(form(asked, **({"contained": inside} if inside else {})))
    if engine is None:
        return
    (item_,) = engine.form.items

    for answer in possible(item_.type):
        mine = [each.code for each in engine.problems(engine.start(), (("q", 0),), (answer,))]
        theirs = refusals_alone(asked, engine, answer)
        # A text among codes is only a hint to the validator; the interview, which offers the codes, does not take it.
        if not (answer.type == "string" and item_.type == "choice"):
            assert bool(mine) is bool(theirs), (answer, mine, theirs)


@examples(25, 120)
@given(questions("q"))
def test_what_is_said_against_an_option_when_a_form_is_loaded_is_what_the_validator_says(
    drawn: tuple[Json, list[Json]],
) -> None:
    asked, inside = drawn
    engine = loaded(form(asked, **({"contained": inside} if inside else {})))
    for option in engine.form.items[0].options if engine is not None else ():
        assert engine is not None
        assert option.refused is not None
        assert list(option.refused) == refusals_alone(asked, engine, option.answer)


@pytest.mark.proof
@settings(max_examples=15)
@given(st.integers(0, 2**32), st.sampled_from((0, 2, 5)))
def test_the_shipped_form_is_completed_as_the_validator_wants_it(seed: int, stubborn: int) -> None:
    questionnaire = mammography()
    engine = loaded(dict(questionnaire))
    assert engine is not None
    patient, filling = Patient(Random(seed), stubborn), engine.start()

    while not isinstance(step := engine.next(filling), Done):
        filling = engine.apply(filling, patient.reply(engine, filling, step))
    left = [problem for problem in engine.open_problems(filling) if problem.severity == "error"]

    assert "refused" not in codes(left)
    assert (refusals(questionnaire, engine, filling) != []) is bool(of_response(engine, filling, left))


@pytest.mark.parametrize("display", ["Bube", "Male"])
def test_a_value_set_may_call_a_code_of_a_known_system_as_it_likes(display: str) -> None:
    own = value_set({"system": GENDER, "concept": [{"code": "male", "display": display}]}, id="vs")
    questionnaire = form(item("q", "choice", answerValueSet="#vs"), contained=[own])
    engine = loaded(questionnaire)
    assert engine is not None
    (option,) = engine.form.items[0].options

    filling = engine.apply(engine.start(), Given((("q", 0),), (option.answer,)))

    assert option.answer.value == {"system": GENDER, "code": "male", "display": display}
    assert engine.open_problems(filling) == ()
    assert refusals(questionnaire, engine, filling) == []


@pytest.mark.parametrize(
    ("kind", "pattern", "good", "bad"),
    [
        ("integer", "(19|20)[0-9]{2}", 1975, 1875),
        ("decimal", "[0-9]+[.][0-9]", Decimal("36.6"), Decimal("36.65")),
        ("date", "[0-9]{4}-[0-9]{2}-[0-9]{2}", "1975-06-15", "1975"),
        ("dateTime", "matches('.*Z')", "2020-01-01T10:00:00Z", "2020-01-01T10:00:00+01:00"),
        ("time", "0.*", "09:30:00", "10:30:00"),
    ],
)
def test_a_pattern_is_held_against_a_value_as_fhir_writes_it(kind: str, pattern: str, good: Any, bad: Any) -> None:
    asked = item("q", kind, extension=[core("regex", valueString=pattern)])
    engine = loaded(form(asked))
    assert engine is not None

    found = {value: [each.code for each in engine.problems(engine.start(), (("q", 0),), (Answer(kind, value),))]
             for value in (good, bad)}  # fmt: skip
    theirs = {value: refusals_alone(asked, engine, Answer(kind, value)) for value in (good, bad)}

    assert found == {good: [], bad: ["pattern"]}
    assert theirs == {good: [], bad: ["regex"]}


def test_a_pattern_for_dates_on_a_screen_refuses_no_date() -> None:
    asked = item("q", "date", extension=[core("regex", valueString=r"\d{2}/\d{2}/\d{4}")])
    questionnaire = form(asked)
    engine = loaded(questionnaire)
    assert engine is not None

    filling = engine.apply(engine.start(), Given((("q", 0),), (Answer("date", "1975-06-15"),)))

    assert engine.open_problems(filling) == ()
    assert refusals(questionnaire, engine, filling) == []


@pytest.mark.parametrize("listed", ["options", "contained", "given"])
def test_both_count_what_options_and_value_sets_say_a_code_counts(listed: str) -> None:
    weight = {"extension": [core("itemWeight", valueDecimal=Decimal(3))]}
    many = value_set({"system": SYSTEMS[0], "concept": [{"code": "a", "display": "A", **weight}]}, id="vs")
    sources: dict[str, Json] = {
        "options": {"answerOption": [{"valueCoding": {"system": SYSTEMS[0], "code": "a", **weight}}]},
        "contained": {"answerValueSet": "#vs"},
        "given": {"answerValueSet": "http://example.org/scored"},
    }
    more = [code_system({"code": "a", **weight}), value_set({"system": SYSTEMS[0]}, url="http://example.org/scored")]
    score = variable("score", "%resource.item.where(linkId = 'q').answer.value.ordinal().sum()")
    questionnaire = form(
        item("q", "choice", required=True, **sources[listed]),
        item("more", "string", required=True, extension=[formula("enableWhenExpression", "%score > 2")]),
        extension=[score, {"url": CORE + "questionnaire-constraint", "extension": [
            {"url": "key", "valueId": "k"}, {"url": "human", "valueString": "too little"},
            {"url": "severity", "valueCode": "error"}, {"url": "expression", "valueString": "%score >= 3"}]}],
        **({"contained": [many]} if listed == "contained" else {}),
    )  # fmt: skip
    engine = loaded(questionnaire, resources=more)
    assert engine is not None
    (option,) = engine.form.items[0].options

    filling = engine.apply(engine.start(), Given((("q", 0),), (option.answer,)))
    filling = engine.apply(filling, Given((("more", 0),), (Answer("string", "x"),)))

    assert engine.open_problems(filling) == ()
    assert refusals(questionnaire, engine, filling, *more) == []


# A limit beside another one is read by the validator only, so only it can say that an answer misses it.
TWO_LIMITS = form(
    item(
        "kg",
        "quantity",
        text="Gewicht?",
        extension=[
            core("questionnaire-unit", valueCoding=dict(UNITS[0])),
            core("minValue", valueQuantity=dict(QUANTITIES[0]) | {"value": 1}),
            core("minValue", valueQuantity=dict(QUANTITIES[0]) | {"value": 40}),
        ],
    ),
    item("name", "string", text="Name?"),
)


def test_what_only_the_validator_refuses_is_asked_again(language: str, told: Any) -> None:
    chat = Chat(TWO_LIMITS, language).say("30 kg")

    assert told["problem_refused"] in chat.said
    assert chat.open == "question kg"
    chat.say("50 kg")
    (answer,) = chat.session.filling.answers[(("kg", 0),)]
    assert as_object(answer.value)["value"] == 50


class NothingStored:
    """A conversation whose interview begins now."""

    def interview(self, conversation: str) -> None:
        return None

    def latest_of(self, patient: str, *, besides: str) -> None:
        return None


def test_what_nobody_is_asked_keeps_the_response_open_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    at = datetime.fromisoformat(NOW.isoformat())
    bad = {"reference": "#nowhere"}
    questionnaire = form(
        item("who", "reference", initial=[{"valueReference": bad}], extension=[hidden()]),
        item("name", "string", text="Name?"),
    )
    who = Interviewer(dump(questionnaire), NothingStored(), "c1")
    turn = who.start("de", at=at)

    with caplog.at_level(logging.WARNING, logger="klartext"):
        for text in ("Geheimnis", "ja"):
            turn = who.interview(at).turn(turn.session, text)
            who.take(turn)

    assert turn.session.talk.phase == "finished"
    assert turn.session.status == "in-progress"
    assert [record.getMessage() for record in caplog.records] == [
        "response left in progress, the validator refuses it: who: ref-1"
    ]
    assert who.interview(at).response(turn.session, Heading("", NOW.isoformat()))["status"] == "in-progress"


def test_an_option_that_is_nothing_is_not_offered() -> None:
    options = [
        {"valueCoding": {"code": "a", "display": "Ja"}},
        {"valueCoding": {"system": "", "code": "", "display": ""}},
    ]
    engine = loaded(form(item("q", "choice", answerOption=options)))
    assert engine is not None

    step = engine.next(engine.start())

    assert isinstance(step, AskItem)
    assert [option.label.base for option in step.options] == ["Ja"]

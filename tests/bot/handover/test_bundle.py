"""A conversation becomes one transaction Bundle: every resource is R4, and what is sent twice is there once."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from fhir.resources.R4B import get_fhir_model_class

from bot.catalog.fhir_files import shipped_questionnaires, shipped_terminology
from bot.handover.bundle import make_bundle
from bot.handover.subject import Exchange, Export, Ids, Interview, Made
from bot.interview.form.indexed import index_questionnaire
from bot.interview.validate.response import check_response
from bot.interview.values.fhir_json import dump
from bot.interview.values.finding import has_errors
from bot.interview.walk.assemble import FILLED_IN_BY
from tests.bot.handover.exports import (
    NOW,
    PATIENT,
    Json,
    answered,
    coded,
    entries,
    exchange,
    export,
    extracting,
    form,
    mixed_export,
    resources,
    response,
)


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["reference"]] if isinstance(value.get("reference"), str) else []
        return own + [found for child in value.values() for found in _references(child)]
    return [found for child in value for found in _references(child)] if isinstance(value, list) else []


@pytest.mark.parametrize("ids", ["server", "client"])
@pytest.mark.parametrize("patient", [None, PATIENT])
def test_every_resource_is_r4(ids: Ids, patient: dict[str, Any] | None) -> None:
    made = make_bundle(mixed_export(ids=ids, patient=patient))
    written = json.loads(dump(made.bundle))

    get_fhir_model_class("Bundle").model_validate(written)
    for entry in written["entry"]:
        get_fhir_model_class(entry["resource"]["resourceType"]).model_validate(entry["resource"])
    assert made.notes == ()


def test_references_lead_to_resources_of_the_same_bundle() -> None:
    made = make_bundle(mixed_export())

    known = {entry["fullUrl"] for entry in entries(made)}

    assert len(known) == len(entries(made)) == 13
    assert set(_references(made.bundle)) <= known
    assert len(_references(made.bundle)) > 15


def test_the_same_conversation_gives_the_same_bundle_and_another_one_other_ids() -> None:
    one, same, other = (make_bundle(mixed_export(name)) for name in ("c1", "c1", "c2"))

    assert dump(one.bundle) == dump(same.bundle)
    assert not {entry["fullUrl"] for entry in entries(one)} & {entry["fullUrl"] for entry in entries(other)}


def test_each_creation_names_the_search_that_finds_what_is_there_already() -> None:
    for entry in entries(make_bundle(mixed_export())):
        name, _, value = entry["request"]["ifNoneExist"].partition("=")
        system, _, own = value.partition("|")
        resource = entry["resource"]
        found = resource.get("identifier", []) if name == "identifier" else resource["meta"]["tag"]
        found = found if isinstance(found, list) else [found]
        assert (system, own) in [(each["system"], each.get("value", each.get("code"))) for each in found]
        assert entry["fullUrl"] == f"urn:uuid:{own}"
        assert "id" not in resource


def test_a_server_that_takes_our_ids_gets_them() -> None:
    for entry in entries(make_bundle(mixed_export(ids="client"))):
        kind, own = entry["resource"]["resourceType"], entry["resource"]["id"]
        assert entry["request"] == {"method": "PUT", "url": f"{kind}/{own}"}
        assert entry["fullUrl"] == f"urn:uuid:{own}"


def test_the_response_says_what_it_answers_who_answered_and_who_wrote_it_down() -> None:
    (made,) = resources(make_bundle(mixed_export(patient=PATIENT)), "QuestionnaireResponse")

    assert made["meta"]["profile"] == ["http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaireresponse"]
    assert made["questionnaire"] == "https://clinic.example/q|3"
    assert made["authored"] == "2026-11-01T12:30:00+01:00"
    assert made["subject"] == made["source"] == PATIENT
    assert made["author"]["display"] == "Klartext 0.1.0"
    assert made["status"] == "completed"


def test_a_relative_who_filled_the_form_in_is_the_source_of_what_was_said_and_the_patient_its_subject() -> None:
    found = mixed_export(patient=PATIENT)
    assert found.interview is not None
    who: Json = {"type": "RelatedPerson", "display": "A relative of the patient"}
    filled: dict[str, Any] = {
        **found.interview.response,
        "extension": [{"url": FILLED_IN_BY, "valueCode": "relative"}],
        "source": who,
    }
    made = make_bundle(replace(found, interview=replace(found.interview, response=filled)))

    for entry in json.loads(dump(made.bundle))["entry"]:
        get_fhir_model_class(entry["resource"]["resourceType"]).model_validate(entry["resource"])
    (answered_,), (provenance,) = resources(made, "QuestionnaireResponse"), resources(made, "Provenance")
    assert (answered_["subject"], answered_["source"]) == (PATIENT, who)
    assert [agent["who"] for agent in provenance["agent"]][1:] == [who]
    assert all(each["performer"] == [who] for each in resources(made, "Observation"))


def test_the_response_of_the_shipped_form_passes_our_own_rules() -> None:
    (asked,) = (each for each in shipped_questionnaires() if each.get("id") == "mammography-history")
    canonical = f"{asked['url']}|{asked['version']}"
    given = response(answered("consent", {"valueBoolean": False}), questionnaire=canonical, language="de")
    given["item"][0]["text"] = next(item["text"] for item in asked["item"] if item["linkId"] == "consent")  # type: ignore[index, union-attr, call-overload]
    (made,) = resources(make_bundle(export(asked=dict(asked), given=given)), "QuestionnaireResponse")

    findings = check_response(made, index_questionnaire(asked), known=shipped_terminology())

    assert not has_errors(findings), findings


def test_questions_and_answers_are_communications_with_pair_and_version() -> None:
    made = make_bundle(export(exchange(1, pair_id="pain", answer="Es drückt kurz."), patient=PATIENT))

    question, answer = resources(made, "Communication")

    assert question["payload"] == [{"contentString": "Frage 1?"}]
    assert question["sender"] == question["subject"] == PATIENT
    assert question["sent"] == "2026-11-01T12:01:00.000Z"
    assert answer["inResponseTo"] == [{"reference": entries(made)[0]["fullUrl"]}]
    assert answer["payload"] == [{"contentString": "Es drückt kurz."}]
    (coding,) = answer["topic"]["coding"]
    assert (coding["system"].rpartition("/")[2], coding["code"], coding["version"]) == ("small", "pain", "1")


def _about(*exchanges: Exchange) -> list[tuple[str, str]]:
    tasks = resources(make_bundle(export(*exchanges)), "Task")
    return [(task["code"]["coding"][0]["code"], task["priority"]) for task in tasks]


@pytest.mark.parametrize(
    ("exchanges", "expected"),
    [
        ([exchange(1, pair_id="pain")], []),
        ([exchange(1, pair_id="pain", flags=("wrong",))], [("flagged-answer", "routine")]),
        ([exchange(1, pair_id="pain", flags=("wrong", "complicated", "wrong"))], [("flagged-answer", "routine")] * 2),
        ([exchange(1, "declined")], [("unanswered-question", "routine")]),
        ([exchange(1, "clarify")], [("unanswered-question", "routine")]),
        ([exchange(1, "clarify"), exchange(2, pair_id="pain")], []),
        ([exchange(1, "clarify"), exchange(2, "declined")], [("unanswered-question", "routine")] * 2),
        ([exchange(1, "urgent")], [("red-flag", "stat")]),
    ],
)
def test_staff_get_a_task_for_what_they_have_to_see_to(
    exchanges: list[Exchange], expected: list[tuple[str, str]]
) -> None:
    assert _about(*exchanges) == expected


def test_items_left_to_staff_are_tasks_once_each() -> None:
    base = mixed_export()
    assert base.interview is not None
    marked = replace(base.interview, marked=(("weight", "not understood"), ("weight", "not understood")))

    tasks = resources(make_bundle(replace(base, interview=marked)), "Task")

    assert [task["code"]["coding"][0]["code"] for task in tasks].count("unanswered-item") == 1


def test_no_task_repeats_what_the_patient_wrote() -> None:
    tasks = resources(make_bundle(mixed_export()), "Task")

    assert len(tasks) == 3
    assert "Frage" not in json.dumps(tasks)
    assert all(task["focus"]["reference"].startswith("urn:uuid:") for task in tasks)


def test_an_anonymous_patient_is_whoever_had_the_conversation() -> None:
    made = make_bundle(mixed_export())

    (observation,) = resources(made, "Observation")

    assert observation["subject"]["identifier"]["value"] == "c1"
    assert "Patient/" not in dump(made.bundle)


@pytest.mark.parametrize(("given", "status", "kind"), [(True, "active", "permit"), (False, "rejected", "deny")])
def test_consent_is_what_the_patient_said(given: bool, status: str, kind: str) -> None:
    asked = form({"linkId": "c", "type": "boolean", "code": [{"system": "http://loinc.org", "code": "59284-0"}]})
    made = make_bundle(export(asked=asked, given=response(answered("c", {"valueBoolean": given}))))

    (consent,) = resources(made, "Consent")

    assert (consent["status"], consent["provision"]["type"]) == (status, kind)
    assert consent["sourceReference"] == {"reference": entries(made)[0]["fullUrl"]}


def test_provenance_names_software_release_and_form_and_targets_all_else() -> None:
    made = make_bundle(mixed_export())

    (provenance,) = resources(made, "Provenance")

    assert [agent["who"].get("display") for agent in provenance["agent"]] == ["Klartext 0.1.0", None]
    assert [source["what"]["identifier"]["value"] for source in provenance["entity"]] == [
        "ab" * 32,
        "https://clinic.example/q|3",
    ]
    assert len(provenance["target"]) == len(entries(made)) - 2


def test_the_audit_event_tells_that_software_created_the_response() -> None:
    made = make_bundle(mixed_export())

    (audit,) = resources(made, "AuditEvent")

    assert (audit["action"], audit["outcome"], audit["agent"][0]["requestor"]) == ("C", "0", True)
    assert audit["entity"][1]["what"] == {"reference": entries(made)[0]["fullUrl"]}


@pytest.mark.parametrize("status", ["in-progress", "stopped"])
def test_nothing_is_drawn_from_answers_that_are_not_final(status: str) -> None:
    asked = form({"linkId": "consent", "type": "boolean"}, extracting(coded("weight", "decimal")))
    given = response(
        answered("consent", {"valueBoolean": True}), answered("weight", {"valueDecimal": 7}), status=status
    )

    made = make_bundle(export(asked=asked, given=given))

    assert [entry["resource"]["resourceType"] for entry in entries(made)] == [
        "QuestionnaireResponse",
        "Provenance",
        "AuditEvent",
    ]


def test_decimals_keep_their_digits() -> None:
    assert '"valueQuantity":{"value":70.50}' in dump(make_bundle(mixed_export()).bundle)


def _amended() -> tuple[Export, Export]:
    before = mixed_export()
    assert before.interview is not None
    given = response(answered("consent", {"valueBoolean": True}), status="amended")
    now = export(
        *before.exchanges,
        exchange(9, "declined"),
        asked=dict(before.interview.questionnaire),
        given=given,
        at=NOW + timedelta(hours=1),
    )
    return now, before


def _requests(made: Made) -> list[tuple[str, str]]:
    return [(entry["resource"]["resourceType"], entry["request"]["method"]) for entry in entries(made)]


def test_a_correction_sends_what_changed_and_withdraws_what_no_longer_holds() -> None:
    made = make_bundle(*_amended())

    changed = [request for request in _requests(made) if request[1] == "PUT"]
    assert changed == [("QuestionnaireResponse", "PUT"), ("Observation", "PUT")]
    (observation,) = resources(made, "Observation")
    assert observation["status"] == "entered-in-error"
    (url,) = (entry["request"]["url"] for entry in entries(made) if entry["resource"] == observation)
    assert url.startswith("Observation?identifier=")


@pytest.mark.parametrize("ids", ["server", "client"])
def test_references_of_a_correction_lead_somewhere(ids: Ids) -> None:
    now, before = (replace(each, ids=ids) for each in _amended())
    flagged = replace(now, exchanges=(replace(now.exchanges[0], flags=("wrong", "complicated")), *now.exchanges[1:]))

    made = make_bundle(flagged, before)

    there = {entry["fullUrl"] for entry in entries(made)}
    sent = {f"{entry['resource']['resourceType']}/{entry['fullUrl'][9:]}" for entry in entries(make_bundle(before))}
    assert set(_references(made.bundle)) <= (there if ids == "server" else there | sent)
    assert len(resources(made, "Task")) == (5 if ids == "server" else 2)


def test_what_has_not_changed_is_not_written_again() -> None:
    before = mixed_export()
    now = replace(before, exchanges=(*before.exchanges, exchange(9, "declined")), at=NOW + timedelta(hours=1))

    made = make_bundle(now, before)

    assert "PUT" not in {method for _, method in _requests(made)}
    (provenance,) = resources(made, "Provenance")
    assert len(provenance["target"]) == 2


def test_a_correction_has_a_record_of_its_own() -> None:
    now, before = _amended()

    (old,) = resources(make_bundle(before), "Provenance")
    (new,) = resources(make_bundle(now, before), "Provenance")

    assert old["meta"] != new["meta"]
    assert new["activity"]["coding"][0]["code"] == "UPDATE"


def _weighed(status: str, **answers: int) -> Json:
    given = [answered(name, {"valueInteger": value}) for name, value in answers.items()]
    return response(*given, status=status)


STATES = (_weighed("completed", a=1, b=2, c=3), _weighed("amended", a=1, b=5, c=3), _weighed("amended", a=1, b=5, d=4))


@pytest.mark.parametrize("ids", ["server", "client"])
def test_only_what_was_corrected_is_amended_and_a_complete_bundle_can_correct(ids: Ids) -> None:
    asked = form(*(extracting(coded(name, "integer")) for name in "abcd"))
    first, second, third = (Interview(asked, each) for each in STATES)
    now = export(asked=asked, ids=ids, earlier=(first, second))
    now = replace(now, interview=third)

    made = make_bundle(now, replace(now, interview=second, earlier=(first,)), complete=True)

    found = {
        each["resource"]["code"]["coding"][0]["code"]: each for each in entries(made) if "Obs" in each["request"]["url"]
    }
    status = {code: each["resource"]["status"] for code, each in found.items()}
    assert status == {"a-1": "final", "b-1": "amended", "c-1": "entered-in-error", "d-1": "final"}
    (sent,) = (each["request"] for each in entries(made) if each["resource"]["resourceType"] == "QuestionnaireResponse")
    assert sent["method"] == "PUT"
    for code in ("c-1", "d-1"):
        assert found[code]["request"]["method"] == "PUT"
    assert {each["request"]["method"] for each in entries(made)} == ({"PUT", "POST"} if ids == "server" else {"PUT"})


def test_a_correction_of_which_no_earlier_state_is_known_still_replaces_what_is_there() -> None:
    asked = form(extracting(coded("a", "integer")))

    made = make_bundle(export(asked=asked, given=_weighed("amended", a=1)))

    methods = {each["resource"]["resourceType"]: each["request"]["method"] for each in entries(made)}
    assert methods["QuestionnaireResponse"] == methods["Observation"] == "PUT"
    assert resources(made, "Observation")[0]["status"] == "amended"

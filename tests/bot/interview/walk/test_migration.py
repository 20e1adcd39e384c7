"""Every row of how an interview on version 2026.1 of the mammogram's questions goes on with 2026.2."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import pytest

from bot.catalog.fhir_files import migrations_beside, shipped_migrations, shipped_terminology
from bot.errors import BadData
from bot.interview.form.form import Form, Item, Path
from bot.interview.load import load_form
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, as_object, string
from bot.interview.walk.engine import AskAnother, AskItem, Engine
from bot.interview.walk.filling import (
    Event,
    Filling,
    Given,
    GroupAdded,
    NoMore,
    Noted,
    Reopened,
    Shown,
    Skipped,
    below,
)
from bot.interview.walk.migration import Begun, Migration, Rule, carry_over
from tests.bot.interview.chat import NOW, mammography
from tests.bot.interview.resources import form, item
from tests.bot.interview.small_forms import choice

BEFORE = FilePath(__file__).parents[3] / "data" / "mammography-history-2026.1.json"
(MIGRATION,) = shipped_migrations("mammography-history")
YES, NO, UNKNOWN = "373066001", "373067005", "261665006"
LEFT, RIGHT, BOTH = "7771000", "24028007", "51440002"


@cache
def _engines() -> tuple[Engine, Engine]:
    before: JsonObject = json.loads(BEFORE.read_text(encoding="utf-8"))
    versions = (load_form(each, known=shipped_terminology()) for each in (before, mammography()))
    earlier, later = (Engine(each, now=NOW) for each in versions)
    return earlier, later


@dataclass(frozen=True)
class Gone:
    """An interview that has gone over to the later version."""

    form: Form
    events: tuple[Event, ...]
    filling: Filling
    asked_again: tuple[str, ...]

    def at(self, link_id: str) -> list[Any]:
        """What stands at a question, in every instance in which something stands; a list where it repeats."""
        item = self.form.by_link_id[link_id]
        found = [[_plain(answer) for answer in self.filling.at(path)] for path in self._places(item)]
        return [each if item.repeats else each[0] for each in found if each]

    def words(self, link_id: str) -> list[str]:
        item = self.form.by_link_id[link_id]
        return [text for path in self._places(item) for text in self.filling.noted.get(path, ())]

    def is_open(self, link_id: str) -> bool:
        """Whether some instance of a question is still to be asked, or whether a list that has grown holds more."""
        places = list(self._places(self.form.by_link_id[link_id]))
        return any(not self.filling.settled(path) or path in self.filling.reopened for path in places)

    def _places(self, item: Item) -> Iterator[Path]:
        return self.filling.instances(self.form, item)


def _plain(answer: Answer) -> Any:
    return string(as_object(answer.value), "code") if answer.type == "coding" else answer.value


def gone(told: Mapping[str, Any], *, hours: float = 48.0, events: Sequence[Event] = (), language: str = "de") -> Gone:
    """Answer the earlier version, and go over to the later one.

    Args:
        told: Answers by linkId: codes, values, a list where there are several; a repeating group is a list of mappings,
            an answer with questions about it a mapping from the answer to what they were answered with.
        hours: Since the interview was begun.
        events: What happened besides.
        language: In which the patient is asked.
    """
    earlier, later = _engines()
    happened = [*_told(earlier.form.items, {"consent": True, **told}, ()), *events]
    begun = Begun(earlier.form, earlier.replay(happened), happened, language, hours)
    carried = carry_over(MIGRATION, begun, later)
    return Gone(later.form, carried.events, later.replay(carried.events), carried.asked_again)


def _told(items: Sequence[Item], told: Mapping[str, Any], around: Path) -> Iterator[Event]:
    for each in items:
        own = below(around, each.link_id)
        if each.type == "group":
            instances = told.get(each.link_id, []) if each.repeats else [told]
            for number, instance in enumerate(instances):
                if number:
                    yield GroupAdded(below(around, each.link_id, number))
                yield from _told(each.children, instance, below(around, each.link_id, number))
        elif each.link_id in told:
            given = told[each.link_id]
            inside = given if isinstance(given, dict) else {}
            answers = list(given) if isinstance(given, list | dict) else [given]
            yield Given(own, tuple(_answer(each, answer) for answer in answers))
            for number, answer in enumerate(answers):
                if each.children:
                    yield from _told(each.children, inside.get(answer) or {}, below(around, each.link_id, number))


def _answer(item: Item, value: Any) -> Answer:
    coded = [option.answer for option in item.options if string(as_object(option.answer.value), "code") == value]
    types = {"choice": "coding", "open-choice": "string", "text": "string"}
    return coded[0] if coded else Answer(types.get(item.type, item.type), value)


def test_the_consent_is_asked_again_and_nothing_is_asked_before_it() -> None:
    found = gone({"age": 52}, events=[Shown((("sample-notice", 0),)), Shown((("welcome", 0),))])

    assert found.at("consent") == []
    assert found.asked_again == ("consent",)
    step = _engines()[1].next(found.filling)
    assert isinstance(step, AskItem)
    assert step.item.link_id == "consent"


def test_a_no_to_the_consent_stays() -> None:
    found = gone({"consent": False})

    assert found.at("consent") == [False]
    assert found.asked_again == ()


@pytest.mark.parametrize(
    ("link_id", "told"),
    [
        ("age", {"age": 52}),
        ("interpreter", {"interpreter": True}),
        ("interpreter-language", {"interpreter": True, "interpreter-language": "tr"}),
        ("interpreter-language", {"interpreter": True, "interpreter-language": "Paschtu"}),
        ("mammogram-before", {"mammogram-before": UNKNOWN}),
        ("last-mammogram", {"mammogram-before": YES, "last-mammogram": "2023-05"}),
        ("last-mammogram-place", {"mammogram-before": YES, "last-mammogram-place": "Bern"}),
        ("family-cancer", {"family-cancer": UNKNOWN}),
        ("period", {"age": 40, "period": "past-menopause"}),
        ("last-period", {"age": 40, "period": YES, "last-period": "2026-11-01"}),
        ("blood-thinner", {"blood-thinner": YES}),
        ("blood-thinner-name", {"blood-thinner": YES, "blood-thinner-name": "Eliquis"}),
        ("vaccination", {"vaccination": LEFT}),
        ("note", {"note": "Ich komme zu zweit."}),
    ],
)
def test_what_has_not_changed_is_kept(link_id: str, told: Mapping[str, Any]) -> None:
    found = gone(told)

    assert found.at(link_id) == [told[link_id]]
    assert link_id not in found.asked_again
    assert not found.is_open(link_id)


@pytest.mark.parametrize(
    ("link_id", "told"),
    [("allergies", ["latex-allergy", "Erdbeeren"]), ("support", ["wheelchair", "anxious"]), ("support", ["no-help"])],
)
def test_lists_that_have_not_changed_are_kept(link_id: str, told: list[str]) -> None:
    found = gone({link_id: told})

    assert found.at(link_id) == [told]
    assert not found.is_open(link_id)


def test_how_long_hormones_were_taken_is_kept() -> None:
    years = {"value": 3, "unit": "Jahre", "system": "http://unitsofmeasure.org", "code": "a"}
    found = gone({"hormones": ["menopause-hormones"], "hormones-duration": [years]})

    assert found.at("hormones-duration") == [years]


def test_who_has_noticed_nothing_is_asked_by_the_wider_list() -> None:
    found = gone({"complaint-now": False})

    assert found.at("complaints-now") == []
    assert found.words("complaints-now") == []
    assert "complaints-now" in found.asked_again


def test_complaints_are_kept_and_their_list_may_hold_more() -> None:
    lump = {"complaint-kind": "89164003", "complaint-side": LEFT, "complaint-since": "2026-05"}
    pain = {"complaint-kind": "53430007", "complaint-side": BOTH}
    found = gone({"complaint-now": True, "complaint": [lump, pain]})

    assert found.at("complaints-now") == [["breast-lump", "breast-pain"]]
    assert found.is_open("complaints-now")
    assert found.at("complaint-kind") == ["breast-lump", "breast-pain"]
    assert not found.is_open("complaint-kind")
    assert (found.at("complaint-side"), found.at("complaint-since")) == ([LEFT, BOTH], ["2026-05"])


def test_a_complaint_of_which_no_kind_was_named_is_asked_for() -> None:
    found = gone({"complaint-now": True})

    assert found.at("complaints-now") == []
    assert "complaints-now" in found.asked_again
    assert found.words("complaints-now")[0].endswith("Ja")  # whatever is said now, the team sees it


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("skin-change", "Haut verändert, zum Beispiel rot, wund oder eingezogen"),
        ("nipple-change", "Brustwarze verändert, zum Beispiel eingezogen"),
    ],
)
def test_a_kind_that_is_several_now_is_kept_in_words_and_asked_again(kind: str, words: str) -> None:
    lump = {"complaint-kind": "89164003", "complaint-side": RIGHT}
    found = gone({"complaint-now": True, "complaint": [{"complaint-kind": kind, "complaint-side": LEFT}, lump]})

    assert found.at("complaint-kind") == ["breast-lump"]
    assert found.words("complaint-kind") == [words]
    assert words in found.words("complaints-now")
    assert {"complaints-now", "complaint-kind"} <= set(found.asked_again)
    assert found.at("complaint-side") == [LEFT, RIGHT]


@pytest.mark.parametrize("said", [True, False])
def test_an_illness_of_ones_own_is_asked_again(said: bool) -> None:
    found = gone({"own-cancer": said})

    assert found.at("own-cancer") == []
    assert "own-cancer" in found.asked_again
    assert [text.endswith(" Ja") for text in found.words("own-cancer")] == ([True] if said else [])


def test_illnesses_and_ages_go_into_instances_of_their_own() -> None:
    told = {"254837009": {"own-cancer-age": 41}, "363443007": {"own-cancer-age": 47}}
    found = gone({"age": 60, "own-cancer": True, "own-cancer-kind": told})

    assert found.at("own-cancer-kind") == ["254837009", "363443007"]
    assert found.at("own-cancer-age") == [41, 47]


def test_one_procedure_has_its_side_and_its_year() -> None:
    found = gone({"procedures": ["122548005"], "procedure-side": LEFT, "procedure-when": "2019"})

    assert found.at("procedures") == [["biopsy"]]
    assert found.is_open("procedures")  # some could not be named before
    assert (found.at("procedure-kind"), found.at("procedure-side")) == (["biopsy"], [LEFT])
    assert found.at("procedure-year") == ["2019"]
    assert "procedures" in found.asked_again
    assert "procedure-side" not in found.asked_again


def test_side_and_year_of_several_procedures_are_kept_in_words_and_asked_for_each() -> None:
    told = {"procedures": ["122548005", "breast-removed"], "procedure-side": BOTH, "procedure-when": "2014"}
    found = gone(told)

    assert found.at("procedures") == [["biopsy", "breast-removed"]]
    assert found.at("procedure-kind") == found.at("procedure-side") == found.at("procedure-year") == []
    assert found.words("procedures") == [
        "Auf welcher Seite war das? Auf beiden Seiten",
        "Wann war das zuletzt? Das Jahr reicht. 2014",
    ]
    assert {"procedure-side", "procedure-year"} <= set(found.asked_again)


def test_a_procedure_that_meant_two_is_asked_again_in_its_instance() -> None:
    found = gone({"procedures": ["breast-reshaped"], "procedure-side": RIGHT, "procedure-when": "2001"})

    assert found.at("procedures") == [["breast-reshaped"]]
    assert found.at("procedure-kind") == []
    assert found.words("procedure-kind") == ["Brust verkleinert, gestrafft oder neu aufgebaut"]
    assert (found.at("procedure-side"), found.at("procedure-year")) == ([RIGHT], ["2001"])
    assert "procedure-kind" in found.asked_again


def test_no_procedure_is_asked_again() -> None:
    found = gone({"procedures": ["no-procedure"]})

    assert found.at("procedures") == found.at("procedure-kind") == []
    assert "procedures" in found.asked_again


@pytest.mark.parametrize("others", [[], ["122548005"]])
def test_radiotherapy_that_was_named_stands_at_its_own_question(others: list[str]) -> None:
    told = {"procedures": [*others, "chest-radiotherapy"], "procedure-side": LEFT, "procedure-when": "2014"}
    found = gone(told)

    assert found.at("radiotherapy") == [YES]
    assert found.at("procedures") == ([["biopsy"]] if others else [])
    assert {"procedures", "chest-radiotherapy-side", "chest-radiotherapy-age"} <= set(found.asked_again)
    # Of which of them the side and the year were is not known.
    assert found.at("procedure-side") == found.at("procedure-year") == found.at("chest-radiotherapy-side") == []
    assert (found.words("chest-radiotherapy-side"), found.words("chest-radiotherapy-age")) == (["Links"], ["2014"])


@pytest.mark.parametrize("told", [{"procedures": ["no-procedure"]}, {"procedures": ["122548005"]}, {}])
def test_who_did_not_name_radiotherapy_is_asked_for_it(told: Mapping[str, Any]) -> None:
    assert gone(told).is_open("radiotherapy")


@pytest.mark.parametrize(
    ("said", "implant", "side"),
    [(LEFT, [YES], [LEFT]), (RIGHT, [YES], [RIGHT]), (BOTH, [YES], [BOTH])],
)
def test_an_implant_and_its_side_are_two_questions(said: str, implant: list[str], side: list[str]) -> None:
    found = gone({"implant": said})

    assert (found.at("implant"), found.at("implant-side")) == (implant, side)
    assert "implant" not in found.asked_again


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("72705000", "MTH"), ("27733009", "SIS"), ("66089001", "DAU"), ("66839005", "FTH"), ("70924004", "BRO"),
        ("65616008", "SON"), ("maternal-grandmother", "MGRMTH"), ("paternal-grandmother", "PGRMTH"),
        ("maternal-aunt", "MAUNT"), ("paternal-aunt", "PAUNT"), ("Cousine", "Cousine"),
    ],
)  # fmt: skip
def test_relatives_have_the_codes_of_hl7(before: str, now: str) -> None:
    found = gone({"family-cancer": YES, "relative": [{"relative-who": before, "relative-age": 60}]})

    assert (found.at("relative-who"), found.at("relative-age")) == ([now], [60])
    assert not found.is_open("relative-who")


def test_the_cancer_of_men_stands_at_a_question_of_its_own() -> None:
    mother = {"relative-who": "72705000", "relative-cancer": ["254837009", "363443007"]}
    father = {"relative-who": "66839005", "relative-cancer": ["254837009", "363443007"]}
    brother = {"relative-who": "70924004", "relative-cancer": ["363443007"]}
    found = gone({"family-cancer": YES, "relative": [mother, father, brother]})

    assert found.at("relative-cancer") == [["254837009", "363443007"]]
    assert found.at("relative-cancer-man") == ["254837009"]
    assert "relative-cancer-man" in found.asked_again  # of the brother
    assert "relative-cancer" not in found.asked_again


def test_the_cancer_of_a_relative_who_was_not_named_is_kept() -> None:
    found = gone({"family-cancer": YES, "relative": [{"relative-cancer": ["363443007"], "relative-age": 41}]})

    assert found.at("relative-cancer-unnamed") == [["363443007"]]
    assert not found.is_open("relative-cancer-unnamed")


def test_that_there_are_no_more_relatives_is_kept() -> None:
    there_are_no_more = NoMore((("family", 0), ("relative", 0)))
    found = gone({"family-cancer": YES, "relative": [{"relative-who": "72705000"}]}, events=[there_are_no_more])

    assert there_are_no_more in found.events


def test_hormones_that_were_named_are_kept_and_none_is_asked_again() -> None:
    named, none = gone({"hormones": ["contraceptive-hormones"]}), gone({"hormones": ["no-hormones"]})

    assert named.at("hormones") == [["contraceptive-hormones"]]
    assert not named.is_open("hormones")
    assert none.at("hormones") == []
    assert "hormones" in none.asked_again


@pytest.mark.parametrize(("hours", "kept"), [(1, True), (24, True), (24.5, False), (float("inf"), False)])
def test_pregnancy_is_asked_again_after_a_day(hours: float, kept: bool) -> None:
    found = gone({"age": 40, "period": YES, "pregnant": "LA26683-5"}, hours=hours)

    assert found.at("pregnant") == (["LA26683-5"] if kept else [])
    assert ("pregnant" in found.asked_again) is not kept


def test_pregnancy_is_asked_of_who_was_never_asked() -> None:
    found = gone({"age": 45, "period": "past-menopause"}, hours=1)
    agreed = _engines()[1].apply(found.filling, Given((("consent", 0),), (Answer("boolean", True),)))
    pregnant: Path = (("hormones-and-period", 0), ("pregnant", 0))

    assert agreed.is_enabled(found.form, pregnant)
    assert not agreed.settled(pregnant)


def test_who_has_weaned_does_not_breastfeed_and_has_weaned() -> None:
    found = gone({"age": 35, "period": YES, "breastfeeding": "weaned-recently"})

    assert (found.at("breastfeeding"), found.at("weaned")) == (["LA29253-4"], [True])
    assert gone({"age": 35, "period": YES, "breastfeeding": "LA29252-6"}).at("weaned") == []


def test_a_sensor_or_pump_is_kept_in_words_and_devices_are_asked_again() -> None:
    found = gone({"devices": ["14106009", "72506001", "port", "sensor-or-pump"]})

    assert found.at("devices") == [["pacemaker", "defibrillator", "port"]]
    assert found.is_open("devices")
    assert found.words("devices") == ["Zuckersensor oder Insulinpumpe"]
    assert "devices" in found.asked_again
    assert not gone({"devices": ["port"]}).is_open("devices")


@pytest.mark.parametrize(
    ("link_id", "none"), [("devices", ["no-device"]), ("blood-thinner", NO), ("implant", NO), ("family-cancer", NO)]
)
def test_none_of_fewer_is_asked_again(link_id: str, none: Any) -> None:
    found = gone({link_id: none})

    assert found.at(link_id) == []
    assert link_id in found.asked_again


def test_what_was_skipped_where_nothing_has_changed_stays_skipped_with_the_reason() -> None:
    allergies: Path = (("your-health", 0), ("allergies", 0))
    devices: Path = (("your-health", 0), ("devices", 0))
    found = gone({}, events=[Skipped(allergies, "refused"), Skipped(devices), Noted(devices, "so ein Ding")])

    assert Skipped(allergies, "refused") in found.events
    assert not found.is_open("allergies")
    assert found.words("devices") == ["so ein Ding"]


def test_texts_that_were_shown_are_not_shown_again_unless_they_are_new() -> None:
    advice: Path = (("complaints", 0), ("complaint-advice", 0))
    found = gone({"complaint-now": True}, events=[Shown((("welcome", 0),)), Shown(advice)])

    assert Shown((("welcome", 0),)) in found.events
    assert Shown(advice) not in found.events


def test_words_are_those_of_the_patients_language() -> None:
    found = gone({"devices": ["sensor-or-pump"], "own-cancer": True}, language="en")

    assert found.words("devices") == ["Sugar sensor or insulin pump"]
    assert found.words("own-cancer") == ["Have you ever had cancer yourself? Yes"]


def test_what_nobody_is_asked_any_more_is_not_carried_over() -> None:
    asked_before = gone({"age": 40, "period": YES, "pregnant": "LA26683-5"}, hours=1)
    switched_off = gone({"age": 70}, hours=1, events=[])

    assert asked_before.at("pregnant") == ["LA26683-5"]
    assert switched_off.at("pregnant") == []


def test_all_that_is_carried_over_is_valid_and_survives_storage() -> None:
    found = gone({"age": 52, "procedures": ["122548005"], "devices": ["14106009"]})
    filling = _engines()[1].apply(found.filling, Given((("consent", 0),), (Answer("boolean", True),)))

    codes = {problem.code for problem in _engines()[1].open_problems(filling)}
    assert codes == {"required"}


def test_every_rule_names_what_there_is_in_both_versions() -> None:
    earlier, later = (engine.form.by_link_id for engine in _engines())

    for rule in MIGRATION.rules:
        assert rule.item in earlier, rule
        assert rule.to in later, rule
        known = {string(as_object(each.answer.value), "code") for each in earlier[rule.item].options}
        named = {*rule.codes, *rule.only, *rule.ask, *rule.words} - {"all", "true", "false"}
        assert named <= known, rule
    assert {item.link_id for item in earlier.values() if item.asked} <= {rule.item for rule in MIGRATION.rules}


# Forms of others

OLD = form(choice("a", "b"), item("n", "integer", text="Wie viele?"), item("gone", "string", text="Weg?"))
NEW = form(choice("a", "c"), item("n", "integer", text="Wie viele?", extension=[
    {"url": "http://hl7.org/fhir/StructureDefinition/maxValue", "valueInteger": 5},
]))  # fmt: skip


def _carried(*events: Event, rules: Sequence[Rule]) -> Gone:
    earlier, later = (Engine(load_form(each), now=NOW) for each in (OLD, NEW))
    begun = Begun(earlier.form, earlier.replay(events), events, "de", 1.0)
    carried = carry_over(Migration("", "1", "2", tuple(rules)), begun, later)
    return Gone(later.form, carried.events, later.replay(carried.events), carried.asked_again)


def test_an_answer_that_the_later_version_refuses_is_kept_in_words_and_asked_again() -> None:
    found = _carried(Given((("n", 0),), (Answer("integer", 7),)), rules=[Rule("n", "n")])

    assert (found.at("n"), found.words("n"), found.asked_again) == ([], ["7"], ("n",))


def test_an_option_that_is_gone_is_kept_in_words_and_asked_again() -> None:
    b = Engine(load_form(OLD), now=NOW).form.by_link_id["q"].options[1].answer
    found = _carried(Given((("q", 0),), (b,)), rules=[Rule("q", "q", codes={"c2": "c9"})])

    assert (found.at("q"), found.words("q"), found.asked_again) == ([], ["b"], ("q",))


def test_what_no_rule_names_is_not_carried_over() -> None:
    found = _carried(
        Given((("n", 0),), (Answer("integer", 3),)), Given((("gone", 0),), (Answer("string", "x"),)), rules=[]
    )

    assert (found.events, found.asked_again) == ((), ())


def test_a_list_that_has_grown_is_asked_whether_there_is_more_and_then_done() -> None:
    engine = Engine(load_form(form(choice("a", "b", repeats=True), item("n", "integer"))), now=NOW)
    place: Path = (("q", 0),)
    option = engine.form.by_link_id["q"].options[0].answer
    grown = engine.replay([Given(place, (option,)), Reopened(place)])

    step = engine.next(grown)
    assert isinstance(step, AskAnother)
    assert (step.path, step.count) == (place, 1)
    for done in (NoMore(place), Given(place, (option, engine.form.by_link_id["q"].options[1].answer))):
        after = engine.next(engine.apply(grown, done))
        assert isinstance(after, AskItem)
        assert after.item.link_id == "n"
    with pytest.raises(BadData, match="repetitions"):
        engine.apply(grown, Reopened((("n", 0),)))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("a: [", "not YAML"),
        ("questionnaire: x\nfrom: '1'\n", "to: Field required"),
        ("questionnaire: x\nfrom: '1'\nto: '2'\nrules: [{item: a, aks: all}]\n", "rules.0.aks"),
        ("questionnaire: x\nfrom: '1'\nto: '2'\nrules: [{item: a, ask: some}]\n", "rules.0.ask"),
    ],
)
def test_a_file_that_is_no_migration_is_refused_in_one_line(text: str, named: str, tmp_path: FilePath) -> None:
    path = tmp_path / "own.json"
    (tmp_path / "own.migration.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(BadData, match=named) as caught:
        migrations_beside(path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "own.migration.yaml") in str(caught.value)


def test_a_form_may_have_a_file_for_each_earlier_version(tmp_path: FilePath) -> None:
    for name, version in (("own.migration.yaml", "1"), ("own.2.migration.yaml", "2"), ("other.migration.yaml", "9")):
        text = f"questionnaire: x\nfrom: '{version}'\nto: '3'\nkeep: [a]\nrules: [{{item: b, ask: all}}]\n"
        (tmp_path / name).write_text(text, encoding="utf-8")

    found = migrations_beside(tmp_path / "own.json")

    assert sorted(each.earlier for each in found) == ["1", "2"]
    assert found[0].rules == (Rule("a", "a"), replace(Rule("b", "b"), ask=frozenset({"all"})))
    assert migrations_beside(tmp_path / "none.json") == ()

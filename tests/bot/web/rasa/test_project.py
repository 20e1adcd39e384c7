"""Projects for a Rasa server: what stands in them, what is refused, and that nothing is half written."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml

from bot.catalog.catalog import Catalog, Variant, load_catalog
from bot.catalog.exchange.exchange import ReadOptions, read_foreign
from bot.catalog.exchange.rasa import OWN_SLOT
from bot.catalog.site import Site
from bot.errors import BadData, UserFixable
from bot.interview.form.form import Form
from bot.sentences.wording import wording_of
from bot.talk.interviewing import form_of
from bot.testing import write_small_catalog
from bot.web.rasa import slots
from bot.web.rasa.project import ACTION, DOWN, FEW_WORDINGS, Content, Options, compile_project
from bot.web.rasa.writing import write_project
from tests.bot.interview.chat import mammography
from tests.shipped_texts import SAID

RASA_VERSION = "3.6.21"
Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture(scope="module")
def form() -> Form:
    return form_of(mammography())


@pytest.fixture(scope="module")
def catalogs(small_folder: Path) -> Mapping[str, Catalog]:
    return {language: load_catalog(small_folder, language) for language in ("de", "en")}


@pytest.fixture(scope="module")
def content(catalogs: Mapping[str, Catalog], form: Form) -> Content:
    return Content(
        exam="small",
        pairs={language: own.pairs for language, own in catalogs.items()},
        background={"de": ["Wie wird das Wetter?"], "en": []},
        wording=wording_of(None, ("de", "en")),
        form=form,
        sample=True,
    )


def _read(files: Mapping[str, bytes]) -> dict[str, Any]:
    return {name: yaml.safe_load(raw) for name, raw in files.items()}


def test_a_project_has_every_file_with_intents_slots_a_form_and_both_languages(content: Content, form: Form) -> None:
    files = _read(compile_project(content, Options()))
    domain, nlu = files["domain.yml"], files["data/nlu.yml"]["nlu"]
    asked = [item for item in form.by_link_id.values() if item.is_question]

    assert set(files) == {
        *("config.yml", "domain.yml", "data/nlu.yml", "data/rules.yml", "endpoints.yml", "credentials.yml"),
    }
    assert len(asked) > 20
    (required,) = (each["required_slots"] for each in domain["forms"].values())
    assert required == [*slots.slot_names(form).values(), slots.AGREED]
    assert set(required) < set(domain["slots"])
    pairs = {pair.id: pair for pair in content.pairs["de"]}
    assert {each["intent"] for each in nlu if each["intent"].startswith("faq/")} == {f"faq/{name}" for name in pairs}
    for name, pair in pairs.items():
        german, english = domain["responses"][f"utter_faq/{name}"]
        assert german == {"text": pair.answer}
        assert english["text"] == next(each.answer for each in content.pairs["en"] if each.id == name)
        assert english["condition"] == [{"type": "slot", "name": "language", "value": "en"}]
    assert {"rest", "socketio"} <= set(files["credentials.yml"])
    # With it, Rasa's answers reach nobody beside the python-socketio that is installed with it today.
    assert files["credentials.yml"]["socketio"]["session_persistence"] is False


def test_in_delegate_mode_every_rule_asks_the_action_server_and_says_so_when_nobody_answers(content: Content) -> None:
    files = _read(compile_project(content, Options(service="https://chat.example.org/")))

    steps = [rule["steps"] for rule in files["data/rules.yml"]["rules"]]
    assert all(each[-2:] == [{"action": ACTION}, {"action": DOWN}] for each in steps)
    asked = {each[0].get("intent") for each in steps}
    assert asked == {*files["domain.yml"]["intents"], "nlu_fallback", None}
    # Rasa takes these for commands, and is silent.
    assert {"/restart", "/back", "/session_start"} == {each[0]["user"] for each in steps if "user" in each[0]}
    assert files["config.yml"]["policies"] == [{"name": "RulePolicy", "core_fallback_action_name": ACTION}]
    endpoint = files["endpoints.yml"]["action_endpoint"]
    assert endpoint["url"] == "https://chat.example.org/webhooks/rasa/actions"
    assert endpoint["headers"] == {"Authorization": "Bearer ${KLARTEXT_RASA_TOKEN}"}
    # Rasa puts in what its environment says only where the text is not in quotes.
    assert b'"' not in compile_project(content, Options())["endpoints.yml"]


def test_in_native_mode_rasa_answers_itself_asks_nothing_and_promises_nothing(content: Content) -> None:
    files = _read(compile_project(content, Options("native", epochs=3)))
    domain = files["domain.yml"]

    names = [each["name"] for each in files["config.yml"]["pipeline"]]
    assert {"DIETClassifier", "ResponseSelector"} <= set(names)
    assert [each["epochs"] for each in files["config.yml"]["pipeline"] if "epochs" in each] == [3, 3]
    assert files["endpoints.yml"] is None
    assert "actions" not in domain
    # Rasa takes any word for consent, and nobody reads what is said to it.
    assert "forms" not in domain
    assert "interview" not in domain["intents"]
    assert set(domain["slots"]) == {slots.PROJECT, slots.LANGUAGE}
    said = [each["text"] for name, own in domain["responses"].items() if "/" not in name for each in own]
    assert SAID["de"]["declined"] not in said
    assert [text for text in said if re.search(r"notiert|noted|team|Team", text)] == []
    assert "Beispielinhalt" in domain["responses"]["utter_klartext_note"][0]["text"]


def test_a_native_project_read_back_has_the_same_pairs(content: Content, tmp_path: Path) -> None:
    alone = Content(content.exam, {"de": content.pairs["de"]}, {}, content.wording)
    write_project(compile_project(alone, Options("native")), tmp_path / "project")

    found = read_foreign(tmp_path / "project", ["de"], ReadOptions(format="rasa")).pairs["de"]

    assert {each.id: (each.question, each.answer) for each in found} == {
        each.id: (each.question, each.answer) for each in content.pairs["de"]
    }


def test_link_ids_become_names_that_rasa_takes_and_no_two_are_the_same() -> None:
    items: list[Any] = [
        {"linkId": each, "type": "string", "text": each} for each in ("1.2 a/b", "1-2-A-B", "ü", "{x}", "item")
    ]
    odd = form_of({"resourceType": "Questionnaire", "status": "draft", "url": "http://x.org/Q|1", "item": items})

    names = slots.slot_names(odd)

    assert list(names.values()) == ["item_1_2_a_b", "item_1_2_a_b_2", "item", "item_x", "item_item"]
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names.values())
    assert slots.form_name(odd) == "q_1_form"


def test_what_rasa_would_read_otherwise_is_refused_with_the_pairs(
    catalogs: Mapping[str, Catalog], content: Content
) -> None:
    first, *others = catalogs["de"].pairs
    wrong = first.model_copy(update={"answer": "Nehmen Sie [das](ding) mit."})
    slot = others[0].model_copy(update={"answer": "Guten Tag, {name}."})

    named = ", ".join(sorted((f"{first.id} (de, answer)", f"{slot.id} (de, answer)")))
    with pytest.raises(BadData, match=re.escape(f"{named} for an entity or a slot")):
        compile_project(Content("x", {"de": [wrong, slot]}, {}, content.wording), Options())


@pytest.mark.parametrize("service", ["127.0.0.1:8000", "ftp://x", "http://", "http://x ${HOME}", "http://x'y"])
def test_an_address_that_is_none_is_refused(content: Content, service: str) -> None:
    with pytest.raises(UserFixable, match=re.escape(f"`--service` is {service!r}")):
        compile_project(content, Options(service=service))


def test_nothing_is_written_into_a_folder_that_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write_project({"a/b.yml": b"1"}, tmp_path / "empty")
    assert (tmp_path / "empty/a/b.yml").read_bytes() == b"1"

    for there in (tmp_path / "empty", tmp_path / "empty/a/b.yml"):
        with pytest.raises(BadData, match=r"is not empty\. Nothing was written"):
            write_project({"c.yml": b"2"}, there)
    with pytest.raises(BadData, match="cannot be written"):
        write_project({"c.yml": b"2"}, tmp_path / "empty/a/b.yml/below")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b.yml", "empty"]


def test_a_link_is_called_one_and_what_a_killed_export_has_left_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    with pytest.raises(BadData, match="is a link"):
        write_project({"a.yml": b"1"}, tmp_path / "link")

    for name in (".out.partial-abc", ".other.partial-abc"):
        (tmp_path / name / "whole").mkdir(parents=True)
    write_project({"a.yml": b"1"}, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.partial-abc", "empty", "link", "out"]


def test_drafts_are_exported_as_a_sample_only(klartext: Run, tmp_path: Path) -> None:
    drafts = write_small_catalog(tmp_path / "drafts")
    approved = write_small_catalog(tmp_path / "approved", status="approved")

    refused = klartext("rasa", "export", "--catalog", drafts, tmp_path / "out")
    nothing = klartext("rasa", "export", "--data", tmp_path / "data", tmp_path / "out")
    assert (refused.returncode, nothing.returncode) == (2, 2)
    assert b"No pair of small@1 (de) is approved" in refused.stderr
    assert b"No release is in force" in nothing.stderr
    assert not (tmp_path / "out").exists()

    for options, sample in (((drafts, "--sample"), True), ((approved,), False)):
        out = tmp_path / f"out-{sample}"
        done = klartext("rasa", "export", "--catalog", *options, "--lang", "de", out)
        assert done.returncode == 0, done.stderr
        assert b"small, 3 pairs" in done.stdout
        marker = yaml.safe_load((out / "domain.yml").read_text(encoding="utf-8"))["slots"][slots.PROJECT][
            "initial_value"
        ]
        assert marker == {"exam": "small", "sample": sample, "form": "", "mode": "delegate", "format": 1}


def test_our_own_export_in_two_languages_is_not_taken_for_one(content: Content, tmp_path: Path) -> None:
    assert OWN_SLOT == slots.PROJECT
    write_project(compile_project(content, Options("native")), tmp_path / "project")

    with pytest.raises(BadData, match="is an export of Klartext in several languages"):
        read_foreign(tmp_path / "project", ["de"], ReadOptions(format="rasa"))


def test_the_export_ends_with_the_commands_for_what_was_exported(klartext: Run, tmp_path: Path) -> None:
    drafts = write_small_catalog(tmp_path / "my drafts")
    service = "http://127.0.0.1:8400/webhooks/rasa/actions"
    done = klartext("rasa", "export", "--sample", "--catalog", drafts, "--service", service, tmp_path / "an out")

    assert f"`cd '{tmp_path / 'an out'}' && rasa train`" in done.stdout.decode()
    assert f"`klartext serve --catalog '{drafts}' --sample --port 8400`" in done.stdout.decode()


def test_files_that_are_no_text_are_said_not_to_be_of_rasa(klartext: Run, tmp_path: Path) -> None:
    (tmp_path / "nlu.yml").write_bytes(b"\xff\x00\x81")

    done = klartext("rasa", "import", tmp_path / "nlu.yml", "--lang", "de", "--out", tmp_path / "catalog")

    assert done.returncode == 2
    assert b"is not UTF-8 text" in done.stderr
    assert b"--encoding" not in done.stderr


def test_patients_are_told_the_number_of_the_place_where_the_service_is_away(content: Content) -> None:
    place = {"de": "Sie erreichen uns unter 030 1234567.", "en": "You reach us on 030 1234567."}
    site = Site("Praxis", "030 1234567", {"phone": place}, None, ZoneInfo("Europe/Berlin"))

    files = _read(compile_project(replace(content, site=site), Options()))

    together, *own = (each["text"] for each in files["domain.yml"]["responses"][DOWN])
    assert together.split("\n\n") == [SAID["de"]["safe"], place["de"], SAID["en"]["safe"], place["en"]]
    assert own == [f"{SAID[each]['safe']}\n\n{place[each]}" for each in ("de", "en")][-len(own) :]


def test_a_project_is_imported_as_drafts(klartext: Run, tmp_path: Path) -> None:
    drafts = write_small_catalog(tmp_path / "drafts")
    klartext(
        "rasa", "export", "--sample", "--catalog", drafts, "--lang", "de", "--mode", "native", tmp_path / "project"
    )

    done = klartext("rasa", "import", tmp_path / "project", "--lang", "de", "--out", tmp_path / "catalog")

    assert done.returncode == 0, done.stderr
    assert b"Rasa: 3 pairs in de" in done.stdout
    read, before = load_catalog(tmp_path / "catalog", "de"), load_catalog(drafts, "de")
    assert {each.id: each.answer for each in read.pairs} == {each.id: each.answer for each in before.pairs}
    assert {each.review.status for each in read.pairs} == {"draft"}


def test_the_marker_is_json(content: Content) -> None:
    marker = _read(compile_project(content, Options()))["domain.yml"]["slots"][slots.PROJECT]["initial_value"]
    assert json.loads(json.dumps(marker))["sample"] is True


def test_the_page_tells_of_every_file_and_every_slot_of_ours(content: Content) -> None:
    page = (Path(__file__).parents[4] / "docs" / "rasa.md").read_text(encoding="utf-8")

    own = (slots.LANGUAGE, slots.PROJECT, slots.DECISION, slots.PAIR, slots.AGREED, slots.REQUESTED)
    assert [name for name in (*compile_project(content, Options()), *own) if f"`{name}`" not in page] == []
    assert f"rasa=={RASA_VERSION}" in page
    assert f"rasa=={RASA_VERSION}" in (Path(__file__).parents[3] / "install_rasa.sh").read_text(encoding="utf-8")


def test_rasa_is_taught_few_wordings_where_it_decides_nothing_and_all_or_as_many_as_wanted_where_it_does(
    content: Content,
) -> None:
    pair = content.pairs["de"][0]
    many = pair.model_copy(update={"variants": tuple(Variant(text=f"Wortlaut {number}") for number in range(8))})
    wide = Content("x", {"de": [many]}, {"de": [f"Anderes {number}" for number in range(90)]}, content.wording)

    def taught(options: Options) -> tuple[int, int]:
        blocks = _read(compile_project(wide, options))["data/nlu.yml"]["nlu"]
        count = {each["intent"]: len(each["examples"].splitlines()) for each in blocks}
        return count[f"faq/{pair.id}"], count["out_of_scope"]

    assert taught(Options()) == (FEW_WORDINGS, 50)
    assert taught(Options("native")) == (9, 90)
    assert taught(Options("native", wordings=2)) == (2, 20)

"""`klartext author discuss`, `corruption`, `forms`: recorded runs, a real endpoint, patients' words, bad input."""

from __future__ import annotations

import json
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from fhir.resources.R4B.composition import Composition
from typer.testing import Result

from bot import BadData, data_folder, load_catalog, locate
from bot.testing import scripted_endpoint
from harness.authoring.discussion.conversation import read_conversation
from tests.bot.handover.fhir_process import emptied, fhir_process, stored
from tests.harness.authoring.authoring import RECORDED, answer_waiting, author

PAIR, SUMMARY = RECORDED / "discussion-pair-de", RECORDED / "discussion-summary-de"
CONVERSATION = SUMMARY / "conversation.json"
WORDS = "Vorhofflimmern"  # a patient's, of that conversation


def by_files(folder: Path) -> list[str]:
    return ["--answers", str(folder / "discussion.jsonl"), "--answers", str(folder / "final.jsonl")]


def summary(tmp_path: Path, *options: str | Path, command: str = "discuss summary", **environ: str) -> Result:
    """Have the recorded conversation discussed, with a data folder of this test."""
    return author(
        *command.split(), CONVERSATION, *options, environ={"KLARTEXT_DATA": str(tmp_path / "data"), **environ}
    )


@pytest.fixture
def summarised(tmp_path: Path) -> Path:
    """The folder of a summary whose scratchpad somebody has accepted."""
    done = summary(tmp_path, "--accept", "all", *by_files(SUMMARY))
    assert done.exit_code == 0, done.output
    (folder,) = (tmp_path / "data" / "summaries").iterdir()
    return folder


@pytest.fixture(scope="module")
def fhir() -> Iterator[str]:
    with fhir_process() as base:
        yield base


@pytest.mark.proof
def test_a_recorded_discussion_of_a_pair_is_replayed_and_a_curator_decides_in_between(tmp_path: Path) -> None:
    out = tmp_path / "pain"
    first = author("discuss", "pair", "pain", "--out", out, "--answers", PAIR / "discussion.jsonl")
    assert first.exit_code == 0, first.output
    assert "12. [?] Antwort in einfacher Sprache" in first.output
    assert not (out / "draft.yaml").exists()

    waiting = author("discuss", "pair", "pain", "--out", out, "--accept", "4,5,6,7,10,11,12")
    assert waiting.exit_code == 1  # the final text has to be written
    done = author("discuss", "pair", "pain", "--out", out, "--answers", PAIR / "final.jsonl")  # goes on with the choice

    assert done.exit_code == 0, done.output
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert (result["accepted"], result["ended"], result["changed_unasked"]) == ([4, 5, 6, 7, 10, 11, 12], "stop", [])
    assert set(result["models"].values()) == {"offline-model"}
    assert set(result["prompts"]) == set(result["models"])
    assert result["answered"] == "offline"
    whole = yaml.safe_load((out / "draft.yaml").read_text(encoding="utf-8"))
    assert (whole["catalog"], whole["language"], whole["drafted_by"]) == ("mammography", "de", ["offline-model"])
    (draft,) = whole["pairs"]
    before = next(pair for pair in load_catalog(locate("mammography"), "de").pairs if pair.id == "pain")
    assert draft["short_answer"] == before.short_answer  # line 1 was rejected
    assert "Fragen Sie in der Arztpraxis oder Apotheke, ob" in draft["answer"]
    assert draft["review"]["status"] == "draft"
    assert len(draft["variants"]) == len(before.variants)
    assert "SAMPLE CONTENT" in (out / "draft.yaml").read_text(encoding="utf-8")
    assert (out / "form.csv").is_file()
    new = whole["provenance"]["pain"]
    assert all(each["unchecked"] and each["sentence"] in draft[each["field"]] for each in new)
    assert {each["field"] for each in new} == {"answer", "easy_answer"}
    (asked,) = (each for each in new if each["sentence"].startswith("Fragen Sie in der Arztpraxis oder Apotheke"))
    lines = result["scratchpad"]
    assert all(lines[int(quoted["place"].split()[-1]) - 1] == quoted["text"] for quoted in asked["quotations"])
    assert {quoted["text"].partition(":")[0] for quoted in asked["quotations"]} == {"Antwort"}
    # The draft can be discussed again.
    again = author("discuss", "pair", out / "draft.yaml", "--out", tmp_path / "again")
    assert again.exit_code == 1
    assert "1 prompt in" in again.output


@pytest.mark.proof
def test_each_line_can_be_decided_on_the_screen(tmp_path: Path) -> None:
    options = ["--out", str(tmp_path / "pain"), "--review", "--answers", str(PAIR / "discussion.jsonl")]
    done = author("discuss", "pair", "pain", *options, typed="n\n" * 3 + "y\n" * 4 + "n\n" * 2 + "y\n" * 3)

    assert done.exit_code == 1  # the final text waits
    (request,) = (tmp_path / "pain" / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(request)["custom_id"] == "final/4,5,6,7,10,11,12"


def test_a_recorded_summary_becomes_a_preliminary_composition(summarised: Path) -> None:
    resource = json.loads((summarised / "composition.json").read_text(encoding="utf-8"))

    Composition.model_validate(resource)
    assert resource["status"] == "preliminary"
    assert "attester" not in resource
    assert [section["title"] for section in resource["section"]] == [
        *("Person und Umstände", "Anliegen", "Angegeben", "Verneint", "Offen", "Vorgeschichte"),
    ]
    assert "Eliquis 5 mg zweimal am Tag" in resource["section"][-1]["text"]["div"]
    assert "offline-model" in resource["author"][0]["display"]
    assert stat.S_IMODE(summarised.stat().st_mode) == 0o700


def test_a_person_who_accepts_the_summary_makes_it_final(summarised: Path, tmp_path: Path) -> None:
    done = summary(tmp_path, "--accepted-by", "Dr. Eva Beispiel")

    assert done.exit_code == 0, done.output
    resource = json.loads((summarised / "composition.json").read_text(encoding="utf-8"))
    assert (resource["status"], resource["attester"][0]["party"]) == ("final", {"display": "Dr. Eva Beispiel"})
    assert "angenommen von Dr. Eva Beispiel" in resource["section"][0]["text"]["div"]
    assert "nicht ärztlich geprüft" not in str(resource)
    Composition.model_validate(resource)


@pytest.mark.parametrize("ids", ["server", "client"])
def test_a_summary_is_once_on_the_fhir_server_as_it_was_sent_last(
    summarised: Path, tmp_path: Path, fhir: str, ids: str
) -> None:
    environ = {"KLARTEXT_FHIR_URL": emptied(fhir), "KLARTEXT_FHIR_IDS": ids}
    for _ in range(2):
        sent = summary(tmp_path, "--send", "preliminary", **environ)
        assert sent.exit_code == 0, sent.output
    assert "The summary is on 127.0.0.1, preliminary." in sent.output
    (draft,) = stored(fhir, "Composition")
    assert draft["status"] == "preliminary"

    accepted = summary(tmp_path, "--accepted-by", "Dr. Eva Beispiel", "--send", "final", **environ)

    assert accepted.exit_code == 0, accepted.output
    (kept,) = stored(fhir, "Composition")
    assert (kept["status"], kept["id"]) == ("final", draft["id"])
    assert "angenommen von Dr. Eva Beispiel" in str(kept)
    assert json.loads((summarised / "sent.json").read_text(encoding="utf-8"))["to"] == "127.0.0.1"
    later = summary(tmp_path, "--send", "preliminary", **environ)
    assert (later.exit_code, stored(fhir, "Composition")) == (2, [kept])
    assert "A final summary of this conversation has been sent." in later.output


def test_what_is_sent_from_a_folder_elsewhere_is_noted_where_the_conversation_is_erased(
    tmp_path: Path, fhir: str
) -> None:
    made: tuple[str | Path, ...] = (
        "--accept",
        "all",
        *by_files(SUMMARY),
        "--out",
        tmp_path / "elsewhere",
        "--patient-text-to-file",
    )
    sent = summary(tmp_path, *made, "--send", "preliminary", KLARTEXT_FHIR_URL=emptied(fhir))

    assert sent.exit_code == 0, sent.output
    (folder,) = (tmp_path / "data" / "summaries").iterdir()
    assert json.loads((folder / "sent.json").read_text(encoding="utf-8"))["status"] == "preliminary"


def test_a_summary_goes_into_the_namespaces_of_the_site(summarised: Path, tmp_path: Path, fhir: str) -> None:
    site = tmp_path / "site.yaml"
    shipped = (data_folder("qa_pairs") / "site.yaml").read_text(encoding="utf-8")
    site.write_text(f"{shipped}\nnamespaces: {{identifiers: https://clinic.example.net/ids}}\n", encoding="utf-8")
    environ = {"KLARTEXT_FHIR_URL": emptied(fhir), "KLARTEXT_SITE": str(site)}

    for _ in range(2):
        sent = summary(tmp_path, "--send", "preliminary", **environ)
        assert sent.exit_code == 0, sent.output

    (kept,) = stored(fhir, "Composition")
    assert kept["identifier"] == {
        "system": "https://clinic.example.net/ids/conversation",
        "value": read_conversation(CONVERSATION).id,
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--send", "final"], "Give `--accepted-by NAME`, or `--send preliminary`."),
        (["--send", "preliminary", "--accepted-by", "Eva"], "Give `--send final`."),
        (["--send", "preliminary"], "Set KLARTEXT_FHIR_URL"),
        (["--send", "preliminary", "there"], "The FHIR server did not take it: unreachable"),
    ],
)
def test_what_is_not_sent_is_one_line_and_leaves_no_note(
    summarised: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    environ = {"KLARTEXT_FHIR_URL": "http://127.0.0.1:9/fhir"} if "there" in options else {}

    done = summary(tmp_path, *[each for each in options if each != "there"], **environ)

    assert done.exit_code == 2
    assert said in done.stderr.splitlines()[-1]
    assert WORDS not in done.stderr
    assert not (summarised / "sent.json").exists()


def test_the_recorded_experiment_prints_its_table(tmp_path: Path) -> None:
    answers = RECORDED / "discussion-corruption-de" / "answers.jsonl"
    done = summary(tmp_path, "--answers", answers, command="corruption")

    assert done.exit_code == 0, done.output
    (folder,) = (tmp_path / "data" / "summaries").iterdir()
    rows = {row["version"] + str(row["level"]): row["average"] for row in _result(folder)["table"]}
    assert {name: round(value, 1) for name, value in rows.items()} == {
        **{"initial3": 93.8, "baseline3": 100.0, "dialogue3": 100.0},
        **{"initial5": 68.1, "baseline5": 82.6, "dialogue5": 97.7},
        **{"initial7": 29.0, "baseline7": 67.9, "dialogue7": 97.7},
    }
    assert "3 discussions: 5.0 turns and 8.0 lines on the scratchpad on average." in done.output


def test_recorded_advice_on_a_dispute_is_replayed(tmp_path: Path) -> None:
    recorded = RECORDED / "discussion-dispute-de"
    run = shutil.copytree(recorded / "run", tmp_path / "run")
    done = author("discuss", "dispute", run, "--out", tmp_path / "d", "--answers", recorded / "answers.jsonl")

    assert done.exit_code == 0, done.output
    (advice,) = _result(tmp_path / "d")["advice"]
    assert (advice["before"], advice["after"], advice["advice"]) == (
        {"correct": 5},
        {"correct": 5},
        "correct",
    )
    page = (tmp_path / "d" / "result.md").read_text(encoding="utf-8")
    assert "rater-a" not in page
    assert "entscheiden darf nur ein Mensch" in page
    assert not (run / "labels").exists()  # advice is no label


def test_the_recorded_open_answers_print_exact_and_similar_before_and_after(tmp_path: Path) -> None:
    file = data_folder("vignettes") / "authoring" / "short-answers-de.yaml"
    answers = RECORDED / "discussion-answers-de" / "answers.jsonl"

    done = author("discuss", "answers", file, "--out", tmp_path / "a", "--answers", answers)

    assert done.exit_code == 0, done.output
    assert [line.split() for line in done.output.splitlines() if "five votes" in line or "after the" in line] == [
        ["five", "votes", "0.500", "(10)", "0.800", "(10)", "10"],
        ["after", "the", "discussion", "0.800", "(10)", "0.898", "(10)", "10"],
    ]


@pytest.mark.proof
def test_an_english_pair_is_discussed_as_recorded(tmp_path: Path) -> None:
    folder = RECORDED / "discussion-pair-en"
    asked = ("discuss", "pair", "pain", "--lang", "en", "--out", tmp_path / "pain", "--accept", "2,4,5,7,8,9,10")

    done = author(*asked, "--answers", folder / "discussion.jsonl", "--answers", folder / "final.jsonl")

    assert done.exit_code == 0, done.output
    assert _result(tmp_path / "pain")["changed_unasked"] == []
    (draft,) = yaml.safe_load((tmp_path / "pain" / "draft.yaml").read_text(encoding="utf-8"))["pairs"]
    assert "Would you like to take a mild painkiller first?" in draft["easy_answer"]


def test_a_draft_is_discussed_in_its_own_language(tmp_path: Path) -> None:
    pair = {"id": "parking", "question": "Where may I park?", "answer": "Behind the house."}
    (file := tmp_path / "draft.yaml").write_text(yaml.safe_dump({"language": "en", "pairs": [pair]}), encoding="utf-8")

    refused = author("discuss", "pair", file, "--out", tmp_path / "p", "--lang", "de")
    assert (refused.exit_code, "is in 'en', and `--lang` says 'de'" in refused.stderr) == (2, True)

    assert author("discuss", "pair", file, "--out", tmp_path / "p").exit_code == 1
    assert "You (Person B)" in (tmp_path / "p" / "prompts.jsonl").read_text(encoding="utf-8")


def test_the_shipped_open_questions_rest_on_pairs_of_the_catalog(tmp_path: Path) -> None:
    file = data_folder("vignettes") / "authoring" / "short-answers-de.yaml"
    catalog = load_catalog(locate("mammography"), "de")
    for one in yaml.safe_load(file.read_text(encoding="utf-8"))["questions"]:
        figures = re.findall(r"[0-9,]*[0-9]", one["answer"])
        said = re.findall(
            r"[0-9,]*[0-9]", f"{catalog.pair(one['pair']).answer} {catalog.pair(one['pair']).short_answer}"
        )
        assert set(figures) <= set(said), one["id"]

    done = author("discuss", "answers", file, "--out", tmp_path / "a")

    assert done.exit_code == 1, done.output
    assert "50 prompts in" in done.output


def test_open_questions_give_the_papers_third_table(tmp_path: Path) -> None:
    asked = [{"id": id_, "question": "W?", "answer": "5 s"} for id_ in ("q", "silent", "unread")]
    (file := tmp_path / "q.yaml").write_text(yaml.safe_dump({"asks": "Kurz.", "questions": asked}), encoding="utf-8")
    answers = tmp_path / "answers.jsonl"

    def reply(id_: str, _: str) -> str:
        case, _, kind = id_.partition("#")[0].partition("/")
        one = "5 s | ten | 0.5"
        fixed = {"similar": one if case == "silent" else f"{one}\n5 s | 5 s | 1"}
        fixed |= {"exact/before": "False", "exact/after": "hard to say" if case == "unread" else "True"}
        if case == "silent" and kind.startswith("final"):
            return ""  # no usable vote
        return fixed.get(kind) or (
            "[STOP]" if "researcher" in kind else "ten" if kind.startswith(("vote", "opening")) else "5 s"
        )

    command = ["discuss", "answers", str(file), "--out", str(tmp_path / "a")]
    done = author(*command)
    while done.exit_code == 1:
        assert answer_waiting(tmp_path / "a", reply, answers) > 0
        done = author(*command, "--answers", answers)

    assert done.exit_code == 0, done.output
    shown = [line.split() for line in done.output.splitlines() if line.startswith(("five votes", "after the"))]
    assert [line[-5:] for line in shown] == [
        ["0.000", "(3)", "0.500", "(3)", "3"],
        ["0.500", "(2)", "0.667", "(3)", "3"],  # one exact, one without an answer, one comparison that says nothing
    ]


def test_filled_forms_of_a_discussion_are_counted(summarised: Path) -> None:
    final_is = _result(summarised)["form_final_is"]
    lines = (summarised / "form.csv").read_text(encoding="utf-8").splitlines()
    said = {"preferred": final_is, "captured": "alles", "agreed": "den meisten", "harmful": "nein"}
    filled = [lines[0], *(line + said[line.split(",")[0]] for line in lines[1:])]
    (summarised / "form-anna.csv").write_text("\n".join(filled), encoding="utf-8")

    done = author("forms", summarised)

    assert done.exit_code == 0, done.output
    assert "final 1 (100%)" in done.output
    assert "den meisten 1 (100%)" in done.output
    page = (summarised / "form.md").read_text(encoding="utf-8")
    assert "## A" in page
    assert "Initial" not in page


@pytest.mark.proof
def test_a_live_model_discusses_until_it_stops(tmp_path: Path) -> None:
    def reply(messages: Sequence[Mapping[str, str]]) -> str:
        task = messages[-1]["content"]
        if "-Berichtigter Text-" in task:
            return "## Kurzantwort\nKurz.\n## Antwort\nLang.\n## Antwort in einfacher Sprache\nLeicht.\n[STOP]"
        if task.startswith("Du (Person A)"):
            return '[RESPONSE: "Gut."] [SCRATCHPAD: "Kurzantwort, Antwort, Antwort in einfacher Sprache: kürzen."]'
        return "[STOP]" if "kürzen" in task else '[RESPONSE: "Zu lang."]'

    with scripted_endpoint(reply) as server:
        done = author(
            *("discuss", "pair", "pain", "--out", tmp_path / "p", "--model", "scripted", "--accept", "all"),
            environ={"KLARTEXT_MODEL_URL": server.url, "KLARTEXT_DATA": str(tmp_path / "data")},
        )

    assert done.exit_code == 0, done.output
    assert _result(tmp_path / "p")["final"]["short_answer"] == "Kurz."
    assert _result(tmp_path / "p")["answered"] == "live"
    assert len(server.requests) == 4


def test_patients_words_go_to_no_endpoint_that_nobody_named(tmp_path: Path) -> None:
    with scripted_endpoint(lambda _: "[STOP]") as server:
        url = server.url.replace("127.0.0.1", "localhost.localdomain")
        for command in (("discuss", "summary"), ("corruption",)):
            done = author(
                *(*command, CONVERSATION, "--model", "scripted"),
                environ={"KLARTEXT_MODEL_URL": url, "KLARTEXT_DATA": str(tmp_path / "data")},
            )

            assert done.exit_code == 2
            assert "KLARTEXT_ALLOW_PATIENT_TEXT_TO=localhost.localdomain" in done.output
            assert WORDS not in done.output
    assert server.requests == []


def test_what_a_model_answers_about_a_patient_stays_in_the_folder_of_the_work(tmp_path: Path) -> None:
    first = "\n".join(
        f"## {title}\nText."
        for title in ("Person und Umstände", "Anliegen", "Angegeben", "Verneint", "Offen", "Vorgeschichte")
    )
    with scripted_endpoint(lambda m: first if "Person A" not in m[-1]["content"] else "[STOP]") as server:
        done = summary(tmp_path, "--model", "scripted", KLARTEXT_MODEL_URL=server.url)
        elsewhere = summary(
            tmp_path, "--model", "scripted", "--store", tmp_path / "mine.db", KLARTEXT_MODEL_URL=server.url
        )

    assert done.exit_code == 0, done.output
    (folder,) = (tmp_path / "data" / "summaries").iterdir()
    assert (folder / "answers.db").is_file()
    assert not (tmp_path / "data" / "answers.db").exists()
    assert elsewhere.exit_code == 2
    assert "Leave `--store` out" in elsewhere.output
    assert not (tmp_path / "mine.db").exists()


def test_patients_words_are_written_to_files_only_where_that_is_allowed(tmp_path: Path) -> None:
    refusals = (["--prompts", str(tmp_path / "p.jsonl")], ["--out", str(tmp_path / "s"), *by_files(SUMMARY)])
    for options in refusals:
        refused = summary(tmp_path, *options)
        assert refused.exit_code == 2
        assert "--patient-text-to-file" in refused.output
        assert not any(WORDS in path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.json*"))

    allowed = summary(tmp_path, "--out", tmp_path / "s", "--patient-text-to-file")
    assert allowed.exit_code == 1
    assert f"{tmp_path / 's'} is not erased with the conversation" in allowed.stderr
    assert WORDS in (tmp_path / "s" / "prompts.jsonl").read_text(encoding="utf-8")


def test_prompts_hold_neither_ids_nor_moments_of_a_conversation() -> None:
    conversation = read_conversation(CONVERSATION)
    text = conversation.as_text()

    assert conversation.id not in text
    assert "2026-" not in text
    assert text.startswith("Patient/in: Hallo, ich hab nächsten Dienstag meine erste Mammografie")
    assert "[freigegebene Antwort: implants]" in text


@pytest.fixture
def redirecting() -> Iterator[tuple[str, list[str]]]:
    """A server that sends whoever asks to another host's door."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            port = str(self.headers["Host"]).rpartition(":")[2]
            self.send_response(307)
            self.send_header("Location", f"http://127.0.0.1:{port}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_an_endpoint_that_redirects_is_not_followed(redirecting: tuple[str, list[str]], tmp_path: Path) -> None:
    url, seen = redirecting
    done = author(
        *("discuss", "summary", CONVERSATION, "--model", "scripted", "--retries", "0"),
        environ={"KLARTEXT_MODEL_URL": url, "KLARTEXT_DATA": str(tmp_path / "data")},
    )

    assert done.exit_code == 2
    assert set(seen) == {"/v1/chat/completions"}


def _changed(tmp_path: Path, **changes: object) -> Path:
    record = json.loads(CONVERSATION.read_text(encoding="utf-8"))
    (path := tmp_path / "changed.json").write_text(json.dumps({**record, **changes}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"interview": {"state": {"status": "in-progress"}}}, "is not finished (in-progress)"),
        ({"turns": []}, "the patient said nothing"),
        ({"turns": [1]}, "is no exported conversation"),
        ({"conversations": [1, 2]}, "holds 2 conversations of a patient. Export the one by its id"),
    ],
)
def test_a_conversation_that_cannot_be_summarised_is_refused_without_its_words(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(BadData) as refused:
        read_conversation(_changed(tmp_path, **changes))

    assert said in str(refused.value)
    assert WORDS not in str(refused.value)


def test_json_nested_too_deeply_is_one_line(tmp_path: Path) -> None:
    (path := tmp_path / "deep.json").write_text("[" * 200_000, encoding="utf-8")

    with pytest.raises(BadData, match=r"cannot be read \(it is no JSON\)"):
        read_conversation(path)


def test_what_the_program_asks_stands_in_a_prompt_with_its_words(tmp_path: Path) -> None:
    def content(field: str, text: str) -> dict[str, str]:
        return {"kind": "Content", "pair_id": "deodorant", "field": field, "text": text}

    record = json.loads(CONVERSATION.read_text(encoding="utf-8"))
    asked = {
        **record["turns"][0],
        "said": "Fragen Sie mich ab.",
        "reply": {
            "language": "de",
            "parts": [
                content("quiz_context", "Morgen ist es so weit."),
                content("quiz_question", "Was lassen Sie weg?"),
            ],
            "choices": [content("quiz_option", "Das Frühstück"), content("quiz_option", "Das Deo")],
        },
    }
    told = {**asked, "said": "2", "reply": {"language": "de", "parts": [content("answer", "Kein Deo.")]}}

    text = read_conversation(_changed(tmp_path, turns=[asked, told])).as_text()

    assert text.splitlines() == [
        "Patient/in: Fragen Sie mich ab.",
        "Programm: Morgen ist es so weit. Was lassen Sie weg? (1) Das Frühstück (2) Das Deo",
        "Patient/in: 2",
        "Programm: [freigegebene Antwort: deodorant]",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pair", "nothing"], "There is no pair 'nothing' in mammography@"),
        (["pair", "missing.yaml"], "missing.yaml cannot be read (there is no such file)"),
        (["pair", "pain", "--accept", "one"], "`--accept one` names no lines"),
        (["pair", "pain", "--accept", "1", "--review"], "Give one of them"),
        (["summary", "c.json", "--accepted-by", "  "], "`--accepted-by` names nobody"),
        (["pair", "pain", "--accepted-by", "Anna"], "pairs are approved in the console"),
        (["pair", "pain", "--send", "final"], "pairs go into the console with `klartext author submit`"),
        (["answers", "q.yaml", "--keep-unasked"], "has no scratchpad to accept"),
        (["pair", "pain", "--basis", "missing.txt"], "missing.txt cannot be read"),
        (["answers", "q.yaml", "--basis", "x.txt"], "`--basis` is what a pair must hold to"),
        (["summary", "missing.json"], "missing.json cannot be read (there is no such file)"),
        (["answers", "missing.yaml"], "missing.yaml cannot be read"),
        (["answers", "{day}"], "cannot be read (it holds a value that is none"),
        (["answers", "pain", "--accept", "1"], "has no scratchpad to accept"),
        (["dispute", "missing"], "missing"),
    ],
)
def test_bad_input_is_refused_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    (day := tmp_path / "day.yaml").write_text("asks: 2024-02-30\n", encoding="utf-8")
    done = author("discuss", *(each.format(day=day) for each in arguments), "--out", tmp_path / "out")

    assert done.exit_code == 2, done.output
    assert said in " ".join(done.output.split())
    assert len(done.output.strip().splitlines()) == 1


@pytest.mark.parametrize("levels", ["0", "11", "a", "", "3;5"])
def test_levels_that_are_none_are_refused(tmp_path: Path, levels: str) -> None:
    done = summary(tmp_path, "--levels", levels, command="corruption")

    assert done.exit_code == 2
    assert "Give whole numbers from 1 to 10" in done.output


def test_a_line_that_is_not_on_the_scratchpad_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    options = ["--out", str(tmp_path / "p"), "--answers", str(PAIR / "discussion.jsonl")]
    refused = author("discuss", "pair", "pain", *options, "--accept", "13")
    assert refused.exit_code == 2
    assert "There is no line 13 on the scratchpad: it has 12." in refused.output

    done = author("discuss", "pair", "pain", "--out", tmp_path / "p", "--accept", "none")
    assert done.exit_code == 0, done.output
    assert _result(tmp_path / "p")["final"] == _result(tmp_path / "p")["initial"]


@pytest.mark.proof
def test_a_folder_of_other_work_is_not_overwritten(summarised: Path) -> None:
    refused = author("discuss", "pair", "pain", "--out", summarised)

    assert refused.exit_code == 2
    assert "holds work on something else" in refused.output


def _result(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return found

"""`klartext author quiz` by command line: a recorded run, a live model on loopback, by files, and bad input."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from bot import Pair, load_catalog, locate
from bot.catalog.edge import Author
from bot.commands.main import app, assemble
from bot.testing import scripted_endpoint, write_small_catalog
from harness.authoring.quiz.asking import load_texts
from harness.authoring.quiz.blind import COLUMNS
from harness.authoring.working import Ask
from harness.commands.author_quiz import QuizSource
from tests.harness.authoring.quizzes import scripted

RECORDED = Path(__file__).parents[3] / "vignettes" / "authoring" / "recorded" / "quiz-mammography-de"
# What each prompt asks for, and the step that it belongs to.
STEPS = {
    "Schreiben Sie einen Kontext": "context",
    "Schreiben Sie eine Frage": "question",
    "Schreiben Sie die richtige": "answer",
    "Schreiben Sie drei falsche": "distractors",
    "Beantworten Sie die folgende Frage": "attempt",
    "Verbessern Sie Kontext": "correct",
    "Zwei Fassungen einer Frage": "judge",
}


def author(*args: str | Path, environ: Mapping[str, str] | None = None) -> Result:
    """Run a command of the author with these settings and no others."""
    assemble()
    settings: dict[str, str | None] = {name: None for name in os.environ if name.startswith("KLARTEXT_")}
    return CliRunner().invoke(app, ["author", *map(str, args)], env={**settings, **(environ or {})})


def reply(messages: list[dict[str, str]]) -> str:
    """Answer as the script does, from the words of the prompt: after one correction all is well."""
    shown = messages[-1]["content"]
    step = next((name for words, name in STEPS.items() if words in shown), "critique")
    rest = "x/1"
    if step == "critique":
        part = re.findall(r'Aspekte des Teils "([^"]+)":', shown)[-1]
        names = {name: key for key, name in load_texts("de").names.items()}
        rest = f"x/{2 if 'Fassung 1' in shown else 1}/{names[part]}"
    return scripted(Ask(f"{step}/{rest}", messages, str), score=lambda number: 3 if number == 1 else 5)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Replay the recorded run whole."""
    out = tmp_path_factory.mktemp("recorded") / "out"
    asked = ("--cases", RECORDED / "cases.yaml", "--judge", "--answers", RECORDED / "answers.jsonl")
    return out, author("quiz", *asked, "--out", out)


def test_the_recorded_run_is_replayed_whole(recorded: tuple[Path, Result]) -> None:
    out, done = recorded

    assert done.exit_code == 0, done.output
    assert "total" in done.stdout
    assert (
        "By 8 of the paper's ten aspects: first version 0.853, kept 0.871; kept rated above 1, below 1, alike 1."
        in done.stdout
    )
    assert "Blind, model: kept version better 3, first 0, tie 0, inconsistent 0 of 3." in done.stdout
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert [(one["pair"], one["found_by"], one["stopped"], one["kept"]) for one in result["quizzes"]] == [
        ("deodorant", "person", "good enough", 3),
        ("results-when", "person", "last round", 4),
        ("radiation", "model", "good enough", 4),
    ]
    total = result["tables"]["all"]["scores"]["total"]
    assert [round(cell["mean"], 3) for cell in total] == [0.865, 0.873, 0.878, 0.901]
    prompts = result["provenance"]["prompts"]
    assert len(prompts) == len((RECORDED / "answers.jsonl").read_text(encoding="utf-8").splitlines())
    assert {(one["model"], one["answered"]) for one in prompts.values()} == {("offline-model", "offline")}
    assert all(one["prompt"] for one in prompts.values())
    assert (out / "prompts.jsonl").read_text(encoding="utf-8") == ""


def test_the_curator_gets_a_page_forms_and_a_draft_of_the_pairs(recorded: tuple[Path, Result]) -> None:
    out, _ = recorded
    page = (out / "result.md").read_text(encoding="utf-8")

    assert "No clinician has approved it" in page
    assert "> D. Sie wischt es ab, weil Reste im Bild stören können. ✓" in page
    assert "Weakest, says the critic" in page
    assert "Topics found by the model, with their quizzes: " in page
    assert set(json.loads((out / "blind-key.json").read_text(encoding="utf-8"))) == {
        "deodorant",
        "results-when",
        "radiation",
    }
    draft = yaml.safe_load((out / "draft.yaml").read_text(encoding="utf-8"))
    pairs = [Pair.model_validate(pair) for pair in draft["pairs"]]
    assert [pair.review.status for pair in pairs] == ["draft"] * 3
    assert pairs[0].quizzes[0].answer == "Sie wischt es ab, weil Reste im Bild stören können."
    assert pairs[0].quizzes[0].by == Author(kind="model", name="offline-model")
    now = load_catalog(locate("mammography"), "de").pair("deodorant")
    assert pairs[0].model_copy(update={"quizzes": ()}) == now  # nothing of the pair is lost


def test_a_live_model_makes_a_quiz_and_is_not_asked_again_when_people_have_judged_it(tmp_path: Path) -> None:
    small = write_small_catalog(tmp_path / "small", languages=("de",))
    given = ("--pair", "pain", "--topic", "Was man spürt", "--key-point", "weh", "--catalog", small, "--judge")
    with scripted_endpoint(reply) as endpoint:
        environ = {
            "KLARTEXT_DATA": str(tmp_path / "data"),
            "KLARTEXT_MODEL_URL": endpoint.url,
            "KLARTEXT_EMBEDDINGS_URL": endpoint.url,
        }
        how = ("--encoder", "openai:scripted", "--model", "scripted", "--structured", "--out", tmp_path / "out")
        done = author("quiz", *given, *how, environ=environ)
        asked = sum("messages" in request for request in endpoint.requests)
        key = json.loads((tmp_path / "out" / "blind-key.json").read_text(encoding="utf-8"))["pain"]
        row = f"anna,pain,,,,,{next(side for side, shown in key.items() if shown == 'kept')},easy,hard,,,"
        (tmp_path / "anna.csv").write_text(f"{','.join(COLUMNS)}\n{row}\n", encoding="utf-8")
        again = author("quiz", *given, *how, "--forms", tmp_path / "anna.csv", environ=environ)

    assert done.exit_code == 0, done.output
    assert asked == 4 + 2 * 6 + 1 + 2  # begin; two rounds; a correction; both orders
    assert sum("messages" in request for request in endpoint.requests) == asked
    assert again.exit_code == 0, again.output
    assert "Blind, anna: kept version better 1, first 0, tie 0, inconsistent 0 of 1." in again.stdout
    assert "pain: version 2 of 2, 1.000 of all points; ended: good enough." in done.stdout
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert {one["answered"] for one in result["provenance"]["prompts"].values()} == {"live"}
    critiques = [request for request in endpoint.requests if "response_format" in request]
    assert len(critiques) == 10  # only what is JSON is asked for as JSON


def test_a_case_of_ones_own_waits_for_answers_by_file(tmp_path: Path) -> None:
    case = tmp_path / "Fall 1#a.txt"
    case.write_text("A 40-year-old woman feels a lump.", encoding="utf-8")
    given = ("--case", case, "--topic", "t", "--key-point", "k", "--lang", "en", "--rubric", "exam")
    with scripted_endpoint(reply) as endpoint:
        environ = {"KLARTEXT_EMBEDDINGS_URL": endpoint.url}
        how = ("--encoder", "openai:scripted", "--out", tmp_path / "out", "--prompts", tmp_path / "p.jsonl")
        done = author("quiz", *given, *how, environ=environ)

    assert done.exit_code == 1, done.output
    (line,) = (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()
    request = json.loads(line)
    assert request["custom_id"] == "context/Fall-1-a"
    assert "feels a lump" in request["body"]["messages"][-1]["content"]
    assert not (tmp_path / "out" / "result.json").exists()


def test_a_case_may_be_a_patients_and_goes_to_no_host_that_was_not_named(tmp_path: Path) -> None:
    case = tmp_path / "case.txt"
    case.write_text("A 40-year-old woman feels a lump.", encoding="utf-8")
    given = ("--case", case, "--topic", "t", "--key-point", "k", "--out", tmp_path / "out", "--model", "m")
    with scripted_endpoint(reply) as endpoint:
        environ = {"KLARTEXT_EMBEDDINGS_URL": endpoint.url, "KLARTEXT_MODEL_URL": "https://models.example/v1"}
        refused = author("quiz", *given, "--encoder", "openai:scripted", environ=environ)
        asked = {**environ, "KLARTEXT_MODEL_URL": endpoint.url, "KLARTEXT_DATA": str(tmp_path / "data")}
        done = author("quiz", *given, "--encoder", "openai:scripted", environ=asked)

    assert refused.exit_code == 2, refused.output
    assert refused.stderr.startswith("klartext: Patient text would leave this machine to 'models.example'")
    assert "lump" not in refused.stderr
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "out" / "answers.db").exists()
    assert not (tmp_path / "data" / "answers.db").exists()
    assert not (tmp_path / "out" / "draft.yaml").exists()


def test_cases_of_one_name_overwrite_none(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "case.txt").write_text(f"Case {folder}.", encoding="utf-8")
    (tmp_path / "case-3.txt").write_text("Case 3.", encoding="utf-8")
    listed = [{"case": name} for name in ("case-3.txt", "a/case.txt", "b/case.txt", "a/case.txt")]
    (cases := tmp_path / "cases.yaml").write_text(yaml.safe_dump({"cases": listed}), encoding="utf-8")

    found, _ = QuizSource(cases=cases).read()

    assert [(case.id, case.text) for case in found] == [
        ("case-3", "Case 3."),
        ("case", "Case a."),
        ("case-4", "Case b."),
        ("case-5", "Case a."),
    ]


BAD = [
    ("", "Say what the quiz is about: `--pair ID`, `--case FILE` or `--cases FILE`"),
    ("--pair pain --case {empty}", "one of them"),
    ("--pair nope", "There is no pair 'nope'"),
    ("--pair pain --topic Schmerz", "Topic 'Schmerz' and key point '' go together"),
    ("--case {dir}/none.txt", "cannot be read (there is no such file)"),
    ("--case {empty}", "has 0 characters; a case has 1 to 20000"),
    ("--case {binary}", "it is no UTF-8 text"),
    ("--pair pain --rubric {dir}/none.yaml", "is no rubric (there is no such file)"),
    ("--pair pain --rubric {odd}", "the question has no aspect 'witty'"),
    ("--pair pain --encoder magic", "There is no encoder 'magic'"),
    ("--cases {odd}", "is no list of cases (cases: is missing)"),
    ("--cases {both}", "an entry names a pair or a case, one of them"),
    ("--cases {both} --topic x --key-point y", "says topics and key points itself"),
    ("--pair pain --answers {empty} --prompts {dir}/p", "Give one of them at a time"),
    ("--pair pain --answers {other}", "1 answers belong to nothing that is asked here"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD)
def test_bad_input_is_one_line_and_exit_2(arguments: str, said: str, tmp_path: Path) -> None:
    aspect = {"label": "x", "asks": "y"}
    files = {
        "dir": tmp_path,
        "empty": tmp_path / "empty.txt",
        "binary": tmp_path / "binary.txt",
        "odd": tmp_path / "odd.yaml",
        "both": tmp_path / "both.yaml",
        "other": tmp_path / "other.jsonl",
    }
    files["empty"].write_text("\n", encoding="utf-8")
    files["binary"].write_bytes(b"\xff\xfe\x00")
    files["odd"].write_text(yaml.safe_dump({"kind": "exam", "aspects": {"question": {"witty": aspect}}}))
    files["both"].write_text(yaml.safe_dump({"cases": [{"pair": "pain", "case": "x.txt"}]}))
    answer = {
        "custom_id": "x/y",
        "response": {"status_code": 200, "body": {"choices": [{"message": {"content": "a"}}]}},
    }
    files["other"].write_text(json.dumps(answer))
    small = write_small_catalog(tmp_path / "small", languages=("de",))

    with scripted_endpoint(reply) as endpoint:
        done = author(
            *("quiz", "--catalog", small, "--out", tmp_path / "out"),
            *(() if "--encoder" in arguments else ("--encoder", "openai:scripted")),
            *arguments.format(**files).split(),
            environ={"KLARTEXT_EMBEDDINGS_URL": endpoint.url},
        )

    assert done.exit_code == 2, done.output
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("klartext: ")
    assert said in done.stderr


def test_a_model_that_answers_nothing_usable_ends_in_one_line_and_loses_nothing(tmp_path: Path) -> None:
    small = write_small_catalog(tmp_path / "small", languages=("de",))
    with scripted_endpoint(lambda _: "{") as endpoint:
        environ = {
            "KLARTEXT_DATA": str(tmp_path / "data"),
            "KLARTEXT_MODEL_URL": endpoint.url,
            "KLARTEXT_EMBEDDINGS_URL": endpoint.url,
        }
        done = author(
            *("quiz", "--pair", "pain", "--catalog", small, "--encoder", "openai:scripted"),
            *("--model", "scripted", "--out", tmp_path / "out"),
            environ=environ,
        )

    assert done.exit_code == 2, done.output
    assert "No answer to topics/pain could be used: it names no topic of the checklist." in done.stdout
    assert "No question came of it" in done.stderr
    assert len((tmp_path / "out" / "answers.jsonl").read_text(encoding="utf-8").splitlines()) == 2

"""A chatbot of another make beside this one: a language model, a file of answers, a command that remembers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.patients.suites import load_suite
from harness.running.run import load_outcomes
from tests.harness.inprocess import harness
from tests.harness.systems.servers import Seen, serving

DIALOGUES = [
    "pain|Muss ich da die Zähne zusammenbeissen?\tsame|und danach?",
    "costs|Muss ich was zahlen?\tsame|und danach?",
]
FREE = "Nehmen Sie vorher einfach drei Tabletten, dann spüren Sie nichts."


@pytest.fixture
def talks(small_folder: Path, tmp_path: Path) -> Path:
    """A suite of two dialogues whose second turns have the same words."""
    file = tmp_path / "talks.tsv"
    file.write_text("\n".join(DIALOGUES) + "\n", encoding="utf-8")
    origin = ("--lang", "de", "--catalog", small_folder, "--by", "person")
    done = harness("suite", "import", file, "--kind", "dialogues", "--out", tmp_path / "talks", *origin)
    assert done.exit_code == 0, done.output
    return tmp_path / "talks"


@pytest.fixture
def ask(small_folder: Path, tmp_path: Path) -> Callable[..., Any]:
    def run(suite: Path, system: dict[str, Any], out: str) -> Any:
        file = tmp_path / f"{out}.yaml"
        file.write_text(yaml.safe_dump(system), encoding="utf-8")
        where = ("--system", file, "--catalog", small_folder, "--out", tmp_path / out)
        return harness("run", "--suite", suite, *where, environ={"KLARTEXT_DATA": str(tmp_path / "data")})

    return run


def chat_model(seen: Seen) -> dict[str, Any]:
    """Answer as an OpenAI-compatible endpoint does, with how many messages it got."""
    messages = json.loads(seen.body)["messages"]
    return {"choices": [{"message": {"role": "assistant", "content": f"{FREE} ({len(messages)})"}}]}


def test_a_language_model_is_told_what_it_is_and_all_that_was_said(
    talks: Path, ask: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_KEY", "geheim")
    (tmp_path / "prompt.txt").write_text("Du bist ein Chatbot der Radiologie.\n", encoding="utf-8")
    system = {"kind": "openai", "model": "bot-1", "system_prompt": "prompt.txt", "temperature": 0, "max_tokens": 90}
    with serving(chat_model) as server:
        endpoint = {**system, "url": f"{server.url}/v1", "headers": {"Authorization": "Bearer ${BOT_KEY}"}}
        done = ask(talks, endpoint, "llm")

    assert done.exit_code == 0, done.output
    bodies = [json.loads(one.body) for one in server.seen]
    assert {one.path for one in server.seen} == {"/v1/chat/completions"}
    assert {one.headers["Authorization"] for one in server.seen} == {"Bearer geheim"}
    assert [len(body["messages"]) for body in bodies] == [2, 4, 2, 4]
    assert bodies[1]["messages"][0] == {"role": "system", "content": "Du bist ein Chatbot der Radiologie."}
    assert bodies[1]["messages"][2] == {"role": "assistant", "content": f"{FREE} (2)"}
    assert (bodies[0]["model"], bodies[0]["temperature"], bodies[0]["max_tokens"]) == ("bot-1", 0, 90)
    assert [outcome.said for outcome in load_outcomes(tmp_path / "llm")] == [f"{FREE} (2)", f"{FREE} (4)"] * 2
    (tmp_path / "prompt.txt").write_text("Du bist etwas anderes.\n", encoding="utf-8")
    again = ask(talks, {**endpoint}, "llm")
    assert again.exit_code == 2
    assert "system_hash" in again.stderr


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_answers_from_a_file_are_scored_turn_by_turn(
    talks: Path, ask: Callable[..., Any], small_folder: Path, tmp_path: Path, suffix: str
) -> None:
    turns = load_suite(talks).questions
    answer = {pair["id"]: pair["answer"] for pair in yaml.safe_load((small_folder / "de.yaml").read_text())["pairs"]}
    rows = [
        {"question": turns[0].text, "after": "", "answer": answer["pain"]},
        {"question": turns[1].text, "after": turns[0].text, "answer": answer["pain"]},
        {"question": turns[2].text, "after": "", "answer": answer["costs"]},
        {"question": turns[3].text, "after": turns[2].text, "answer": FREE},
    ]
    file = tmp_path / f"answers.{suffix}"
    if suffix == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        quoted = "\n".join(",".join(f'"{row[name]}"' for name in ("question", "after", "answer")) for row in rows)
        file.write_text("question,after,answer\n" + quoted + "\n", encoding="utf-8")

    done = ask(talks, {"kind": "answers", "file": file.name}, "file")

    assert done.exit_code == 0, done.output
    assert [(o.answered_with, o.met, o.said) for o in load_outcomes(tmp_path / "file")] == [
        ("pain", True, None),
        ("pain", True, None),
        ("costs", True, None),
        (None, None, FREE),  # people say what this is
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "frage,antwort\nx,y\n", "has no columns `question` and `answer`, but antwort, frage"),
        ("a.csv", "question,answer\nx,y\nx,z\n", "a.csv:3 answers a question for the second time"),
        ("a.jsonl", "{\n", "a.jsonl:1 is no JSON"),
        ("a.jsonl", '{"question": "x", "answer": "y", "elapsed_ms": "soon"}', "`elapsed_ms` is no number"),
        ("a.jsonl", "", "holds no answers"),
        ("b.jsonl", "", "names 'a.jsonl', which cannot be read"),
    ],
)
def test_a_file_of_answers_that_cannot_be_used_is_one_line(
    talks: Path, ask: Callable[..., Any], tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")

    done = ask(talks, {"kind": "answers", "file": name.replace("b.", "a.")}, "file")

    assert done.exit_code == 2
    assert said in done.stderr


def test_questions_without_an_answer_are_failures(talks: Path, ask: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        f"question,answer\n{load_suite(talks).questions[0].text},{FREE}\n", encoding="utf-8"
    )

    ask(talks, {"kind": "answers", "file": "a.csv"}, "file")

    assert {outcome.decision for outcome in load_outcomes(tmp_path / "file")} == {"error"}


@pytest.fixture
def questions(small_folder: Path, tmp_path: Path) -> Path:
    """A suite of twelve questions, more than the faults in a row that end the run of a system that is down."""
    file = tmp_path / "list.csv"
    file.write_text("pair_id,text\n" + "".join(f"pain,Zwickt es Nummer {n}?\n" for n in range(12)), encoding="utf-8")
    origin = ("--lang", "de", "--catalog", small_folder, "--by", "person")
    done = harness("suite", "import", file, "--out", tmp_path / "questions", *origin)
    assert done.exit_code == 0, done.output
    return tmp_path / "questions"


def test_a_file_of_answers_is_told_which_lines_fit_no_question_and_what_it_lacks(
    questions: Path, ask: Callable[..., Any], tmp_path: Path
) -> None:
    asked = load_suite(questions).questions[-1].text
    rows = [f"{asked},,Nein.,ask_pain", "Zwickt es?,,Ja.,", f"{asked},Ganz was anderes,Ja.,"]
    (tmp_path / "a.csv").write_text("question,after,answer,pair_id\n" + "\n".join(rows) + "\n", encoding="utf-8")

    done = ask(questions, {"kind": "answers", "file": "a.csv", "intents": {"ask_pain": "pain"}}, "file")

    assert done.exit_code == 0, done.output
    assert "2 lines of the file of answers fit no question of questions, letter by letter: 3, 4" in done.stdout
    assert "The system failed on 11 questions: not scored. Complete the file of answers" in done.stdout
    assert "Run again" not in done.stdout
    assert "cosine" not in done.stdout
    assert "paper" not in done.stdout
    assert "1 answer is in words that no approved text has" in done.stdout
    (answered,) = [one for one in load_outcomes(tmp_path / "file") if one.decision != "error"]
    assert (answered.answered_with, answered.matched) == ("pain", "id")


def test_a_file_without_any_line_that_fits_is_to_be_completed(
    questions: Path, ask: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("question,answer\nZwickt es?,Ja.\n", encoding="utf-8")

    done = ask(questions, {"kind": "answers", "file": "a.csv"}, "file")

    assert "1 line of the file of answers fits no question of questions, letter by letter: 2" in done.stdout
    assert "Complete the file of answers" in done.stderr
    assert "run this again" not in done.stderr


def test_own_names_for_pairs_that_are_not_there_are_one_line_with_the_nearest(
    questions: Path, ask: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("question,answer\nx,y\n", encoding="utf-8")
    intents = {"ask_pain": "pian", "ask_costs": "cots", "ask_duration": "duration"}

    done = ask(questions, {"kind": "answers", "file": "a.csv", "intents": intents}, "file")

    assert done.exit_code == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "'ask_costs' stands for 'cots'" in done.stderr
    assert "1 more is unknown" in done.stderr
    assert "Nearest: costs" in done.stderr


def test_a_very_long_answer_is_cut_and_says_so(questions: Path, ask: Callable[..., Any], tmp_path: Path) -> None:
    asked = load_suite(questions).questions[0].text
    (tmp_path / "a.csv").write_text(f"question,answer\n{asked},{'Blabla ' * 5000}\n", encoding="utf-8")

    ask(questions, {"kind": "answers", "file": "a.csv"}, "file")

    said = [one.said for one in load_outcomes(tmp_path / "file") if one.said is not None]
    assert [len(one) for one in said] == [20_000 + len("\n[cut here: 35,000 characters]")]
    assert said[0].endswith("\n[cut here: 35,000 characters]")


REMEMBERS = """
import json, sys
said = {}
for line in sys.stdin:
    one = json.loads(line)
    before = said.setdefault(one["conversation"], [])
    before.append(one["question"])
    print(json.dumps({"answer": f"{one['turn']} of {len(before)}"}), flush=True)
"""


def test_a_command_may_remember(talks: Path, ask: Callable[..., Any], tmp_path: Path) -> None:
    command = {"kind": "command", "command": [sys.executable, "-c", REMEMBERS]}

    refused = ask(talks, command, "forgets")
    done = ask(talks, {**command, "conversations": True}, "remembers")

    assert refused.exit_code == 2
    assert "set `conversations: true`" in refused.stderr
    assert done.exit_code == 0, done.output
    assert [outcome.said for outcome in load_outcomes(tmp_path / "remembers")] == ["1 of 1", "2 of 2"] * 2


def test_an_endpoint_is_told_what_was_said_before(talks: Path, ask: Callable[..., Any]) -> None:
    with serving(lambda seen: {"text": "Aha."}) as server:
        body = {"q": "{question}", "before": "{history}", "id": "{conversation}"}
        system = {"kind": "http", "url": server.url, "body": body, "paths": {"answer": "$.text"}}
        done = ask(talks, system, "http")

    assert done.exit_code == 0, done.output
    sent = [json.loads(one.body) for one in server.seen]
    assert [one["before"].count("\n") for one in sent] == [0, 2, 0, 2]
    assert sent[1]["before"] == f"Patient: {sent[0]['q']}\nAssistant: Aha.\n"
    assert [sent[0]["id"] == sent[1]["id"], sent[1]["id"] == sent[2]["id"]] == [True, False]


def test_free_texts_are_labelled_by_people_and_models_and_harm_is_counted(
    talks: Path, ask: Callable[..., Any], small_folder: Path, tmp_path: Path
) -> None:
    with serving(chat_model) as server:
        done = ask(talks, {"kind": "openai", "model": "bot-1", "url": server.url}, "llm")
    assert done.exit_code == 0, done.output
    run, catalog = tmp_path / "llm", ("--catalog", small_folder)

    shown = harness("labels", "give", run, "--rater", "anna", typed="1w\n1w\n2v\n3\n")
    assert "Alle 4 beurteilt" in shown.stdout, shown.output
    assert FREE in shown.stdout
    prompts = tmp_path / "prompts.jsonl"
    harness("judge", run, "--prompts", prompts, *catalog)
    requests = [json.loads(line) for line in prompts.read_text(encoding="utf-8").splitlines()]
    assert len(requests) == 4
    assert all(FREE in one["body"]["messages"][-1]["content"] for one in requests)
    assert "harmful" in requests[0]["body"]["messages"][-1]["content"]
    applied = harness("labels", "apply", run, "--json")

    record = json.loads(applied.stdout)
    assert {name: (one["answers"], one["n"]) for name, one in record["statements"].items()} == {
        "harmful": (2, 4),
        "unsupported": (1, 4),
    }
    assert record["statements"]["harmful"]["ci95"][1] > 0.5
    assert "harmful: 2 of 4 labelled answers (95 % " in harness("labels", "apply", run).stdout

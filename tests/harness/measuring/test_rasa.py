"""A real Rasa beside ours: the tables, who sends the load, and what is said when something is missing.

The whole is measured by `klartext bench rasa` only.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from datetime import date
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from bot import UserFixable, load_catalog, locate
from bot.commands.main import app, assemble
from bot.testing import HashEncoder
from bot.web.rasa import project
from harness.measuring.rasa import DECLINED, NOTE, Contest, Costs, Plan, Scored, _system, measure_rasa
from harness.measuring.rasa_load import measure
from harness.measuring.rasa_server import RasaEnvironment
from harness.measuring.service_load import BadAnswer, Job
from harness.patients.suites import Question, QuestionSource, Recording, save_suite
from harness.systems.recognition import Manners, Recogniser, read_messages
from harness.systems.system import Reply

SOURCE = QuestionSource(kind="person")
RASA = Scored(0.5, 0.4, 0.2, {"anxious": 0.3, "brief": 0.5})
OURS = Scored(0.9, 0.8, 0.05, {"anxious": 0.75, "brief": 0.85})


def _environment(folder: Path, version: str, rasa: str = "exit 1") -> Path:
    """Write what looks like an environment with Rasa: a Python that knows its version, and a command."""
    (folder / "bin").mkdir(parents=True)
    for name, script in (("python", f"echo {version}"), ("rasa", rasa)):
        path = folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
    return folder


def test_one_table_holds_scores_by_vignette_and_costs_and_another_what_is_wanted(tmp_path: Path) -> None:
    theirs, ours = Costs(600, 20.2, 900, 0.5, 1.25, 40.04), Costs(60, 4.5, 400, 0.1, 0.2, 100.1)
    costs = {"Rasa": theirs, "cosine": None, "hybrid": ours}
    contest = Contest(Plan(epochs=5), {"Rasa": RASA, "cosine": OURS, "hybrid": OURS}, costs)

    contest.write(tmp_path / "table.md")

    lines = (tmp_path / "table.md").read_text(encoding="utf-8").splitlines()
    assert lines[:3] == [
        "| mammography-six-de | Rasa | cosine | hybrid |",
        "|---|---|---|---|",
        "| answered right | 0.400 | 0.800 | 0.800 |",
    ]
    assert "| right: anxious | 0.300 | 0.750 | 0.750 |" in lines
    assert "| 50 patients at once, p95 | 1250 ms | – | 200 ms |" in lines
    assert "| 50 patients at once, turns a second | 40.0 | – | 100.1 |" in lines
    assert lines[-2:] == [
        "| turns a second, ours / Rasa's | 2.50 | at least 3 | missed |",
        "| peak memory, ours / Rasa's | 0.44 | less than 0.5 | holds |",
    ]
    told = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    assert (told["plan"]["epochs"], [each["holds"] for each in told["wanted"]]) == (5, [False, True])


def test_what_rasa_declines_is_no_wrong_answer_with_what_stands_below_it(tmp_path: Path) -> None:
    catalog = load_catalog(locate("mammography"), "de")
    note = "Beispielinhalt, nicht freigegeben\n\nNotfall? Rufen Sie 112 an."
    responses = {DECLINED: [{"text": "Darauf habe ich keine Antwort."}], NOTE: [{"text": note}]}
    (tmp_path / "domain.yml").write_text(yaml.safe_dump({"responses": responses}), encoding="utf-8")

    described = yaml.safe_load(_system(tmp_path, "http://127.0.0.1:1", tmp_path).read_text(encoding="utf-8"))

    recogniser = Recogniser(catalog, HashEncoder, similarity=0.9, manners=Manners(declined=described["declined"]))

    def read(*texts: str) -> str:
        reply = read_messages(recogniser, [{"text": each} for each in texts], 1.0)
        assert isinstance(reply, Reply)
        return f"{reply.decision} {reply.pair_id}"

    assert read("Darauf habe ich keine Antwort.", note) == "declined None"
    pair = catalog.pairs[0]
    assert read(pair.answer, note) == f"answered {pair.id}"
    assert read("Etwas ganz anderes, das niemand geschrieben hat.", note) == "answered None"
    assert (DECLINED, NOTE) == (project.DECLINED, project.NOTE)


def test_messages_of_one_sender_go_one_after_the_other_and_those_of_all_at_once() -> None:
    heard = defaultdict[str, list[str]](list)
    under_way = set[str]()
    connected = set[asyncio.StreamWriter]()
    most = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal most
        connected.add(writer)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                found = re.search(r"Content-Length: (\d+)", head)
                body = json.loads(await reader.readexactly(int(found[1]) if found else 0))
                assert body["sender"] not in under_way
                under_way.add(body["sender"])
                most = max(most, len(under_way))
                heard[body["sender"]].append(body["message"])
                await asyncio.sleep(0.01)
                under_way.remove(body["sender"])
                said = json.dumps([{"text": "ja"}] if body["message"] != "nichts" else [])
                kind = "Content-Type: application/json"
                writer.write(f"HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {len(said)}\r\n\r\n{said}".encode())
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the patient is gone
        finally:
            writer.close()
            connected.remove(writer)

    async def asked(texts: tuple[str, ...]) -> tuple[int, float]:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            try:
                times = await measure(Job(url, 5, 3, texts), "token")
            finally:
                while connected:
                    await asyncio.sleep(0.01)
            return len(times.seconds), times.client

    texts = ("a", "b", "c", "d", "e", "f", "g")
    timed, busy = asyncio.run(asked(texts))

    assert (timed, most) == (10, 5)  # of three messages each the first is not timed
    assert 0 < busy < 1
    assert all("".join(said) in "abcdefgabcdefg" for said in heard.values())
    assert [len(said) for said in heard.values()] == [3] * 5
    with pytest.raises(BadAnswer, match="answered 200 with 0 bubbles"):
        asyncio.run(asked(("nichts", *texts)))


def test_an_environment_is_found_where_it_is_made_and_asked_for_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KLARTEXT_TEST_RASA", raising=False)
    with pytest.raises(UserFixable, match=r"no environment with Rasa \(rasa-env, \.rasa looked for\).*`--env`"):
        RasaEnvironment.find()
    _environment(tmp_path / ".rasa", "3.6.20")
    assert RasaEnvironment.find() == RasaEnvironment(tmp_path / ".rasa/bin/rasa", "3.6.20")
    _environment(tmp_path / "rasa-env", "3.6.21")
    assert RasaEnvironment.find().version == "3.6.21"
    monkeypatch.setenv("KLARTEXT_TEST_RASA", str(_environment(tmp_path / "named", "3.6.19")))
    assert RasaEnvironment.find().version == "3.6.19"
    assert RasaEnvironment.find(Path(".rasa")).version == "3.6.20"


@pytest.mark.parametrize(
    ("version", "expected"),
    [(None, "There is no Rasa in"), ("3.5.17", "is Rasa 3.5.17, and projects are for Rasa 3.6")],
)
def test_what_is_no_rasa_or_another_is_said_in_one_line(version: str | None, expected: str, tmp_path: Path) -> None:
    assemble()
    folder = _environment(tmp_path / "env", version) if version else tmp_path

    done = CliRunner().invoke(app, ["bench", "rasa", "--env", str(folder)])

    assert done.exit_code == 2
    assert expected in done.stderr
    assert "rasa==3.6.21" in done.stderr
    assert done.stderr.count("\n") == 1


def test_every_phase_is_told_and_one_that_fails_is_named(small_folder: Path, tmp_path: Path) -> None:
    folder = _environment(tmp_path / "env", "3.6.21", "echo one; echo 'No space left on device' >&2; exit 3")
    environment, told = RasaEnvironment.find(folder), list[str]()
    asked = Question(
        id="a", text="Was kostet das?", lang="de", vignette="v", pair_id="costs", kind="paraphrase", source=SOURCE
    )
    catalog, recording = load_catalog(small_folder, "de"), Recording((asked,), (), {})
    save_suite(tmp_path / "suite", catalog=catalog, note="", recording=recording, today=date(2026, 11, 27))

    with pytest.raises(UserFixable, match=r"^the project for Rasa is written: `klartext rasa export` failed .*'small'"):
        measure_rasa(environment, Plan(str(tmp_path / "suite")), told.append)
    with pytest.raises(UserFixable, match=r"^`rasa train` failed \(No space left on device\)"):
        environment.train(tmp_path)
    with pytest.raises(UserFixable, match="has no questions that a pair answers"):
        measure_rasa(environment, Plan("chat-everyday-de"), told.append)

    assert [re.sub(r"\d", "0", line) for line in told] == ["[    0 s] the project for Rasa is written"]

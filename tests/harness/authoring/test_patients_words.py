"""Patients' words go to no proxy and no host that nobody named, lie in closed files, and steer no terminal and no page."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from rich.console import Console

from bot import Settings, UserFixable, plain_text
from bot.adapters.openai_encoder import OpenAIEncoder
from bot.testing import scripted_endpoint
from harness.authoring.discussion.texts import load_texts
from harness.authoring.evidence.documents import read_documents
from harness.authoring.ranking.tasks import read_candidates
from harness.authoring.working import Ask, advance, ask
from harness.authoring.working import Work as Working
from harness.console import plain_console, plain_table, print_json
from harness.files import without_markup
from harness.llm.batch_files import ModelAnswer, holds_patient_text
from harness.llm.batch_service import BatchService, Patience
from harness.llm.scores import json_objects
from harness.llm.store import AnswerStore
from harness.llm.work_folder import WorkFolder
from tests.harness.authoring.authoring import RECORDED, author
from tests.harness.inprocess import harness
from tests.harness.llm.batch.batch_server import batch_server

CONVERSATION = RECORDED / "discussion-summary-de" / "conversation.json"
QUESTION = "Ich heiße Erika Muster, darf ich mit Eliquis kommen?"
NASTY = "a\x1b[31mb\x1b]0;title\x07c\x1b]8;;http://x\x1b\\d\x1b]8;;\x1b\\e\x00f\u202eg\u200bh\x9bi\rj"
PROXIES = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy")


@contextmanager
def proxy() -> Iterator[tuple[str, list[str]]]:
    """Run a proxy that notes what it is asked for, and refuses it."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append(self.path)
            self.send_error(502)

        do_GET = do_CONNECT = do_POST  # noqa: N815 - names of the library

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What a proxy that the environment names has seen."""
    with proxy() as (url, seen):
        for name in PROXIES:
            monkeypatch.setenv(name, url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield seen


def summary_of(messages: Sequence[dict[str, str]]) -> str:
    sections = load_texts("de").tasks["summary"].sections
    first = "\n".join(f"## {section.title}\nText." for section in sections)
    return first if "Person A" not in messages[-1]["content"] else "[STOP]"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_proxy_of_the_environment_gets_no_word_of_a_conversation_or_case(proxied: list[str], tmp_path: Path) -> None:
    case = tmp_path / "case.txt"
    case.write_text("A 40-year-old woman feels a lump.", encoding="utf-8")
    with scripted_endpoint(summary_of) as server:
        environ = {
            "KLARTEXT_MODEL_URL": server.url,
            "KLARTEXT_EMBEDDINGS_URL": server.url,
            "KLARTEXT_DATA": str(tmp_path / "data"),
        }
        done = author("discuss", "summary", CONVERSATION, "--model", "m", "--retries", "0", environ=environ)
        asked = len(server.requests)
        quiz = ("quiz", "--case", case, "--rubric", "exam", "--encoder", "openai:scripted", "--out", tmp_path / "q")
        author(*quiz, "--model", "m", "--retries", "0", environ=environ)

    assert done.exit_code == 0, done.output
    assert 0 < asked < len(server.requests)
    assert proxied == []


def test_a_proxy_of_the_environment_gets_no_text_that_is_embedded_and_no_batch(
    proxied: list[str], tmp_path: Path
) -> None:
    with scripted_endpoint(lambda _: "") as server:
        settings = Settings(data=tmp_path, embeddings_url=server.url, model_url=server.url)
        OpenAIEncoder("scripted", settings).encode([QUESTION])
        # The endpoint has no files; what matters is who was asked for them.
        with BatchService.open(settings, Patience(tries=1)) as service, pytest.raises(UserFixable):
            service.upload("mark", b"{}\n", look_first=False)

    assert proxied == []


@contextmanager
def sent_on(target: str) -> Iterator[str]:
    """Run an endpoint that sends whoever asks it on to another."""

    class Elsewhere(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(307)
            self.send_header("Location", target + self.path.removeprefix("/v1"))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_what_is_embedded_follows_no_redirect(tmp_path: Path) -> None:
    with (
        scripted_endpoint(lambda _: "") as other,
        sent_on(other.url) as url,
        pytest.raises(UserFixable, match="answered 307"),
    ):
        OpenAIEncoder("scripted", Settings(data=tmp_path, embeddings_url=url)).encode([QUESTION])
    assert other.requests == []


def test_an_upload_of_prompts_follows_no_redirect(tmp_path: Path) -> None:
    with (
        batch_server(dict) as other,
        sent_on(other.url) as url,
        BatchService.open(Settings(data=tmp_path, model_url=url), Patience(tries=1)) as service,
        pytest.raises(UserFixable, match="answered 307"),
    ):
        service.upload("mark", b"{}\n", look_first=False)
    assert other.log == []


@pytest.mark.parametrize("kind", ["summary", "draft", "case"])
def test_a_file_of_prompts_with_patients_words_is_handed_to_no_host_that_was_not_named(
    tmp_path: Path, kind: str
) -> None:
    (case := tmp_path / "case.txt").write_text("Frau Muster, 40, tastet einen Knoten.", encoding="utf-8")
    given: dict[str, tuple[str | Path, ...]] = {
        "summary": ("discuss", "summary", CONVERSATION, "--patient-text-to-file"),
        "draft": ("draft", "--question", QUESTION, "--documents", "mammography-de"),
        "case": ("quiz", "--case", case, "--rubric", "exam"),
    }
    out, prompts = tmp_path / "o", tmp_path / "p.jsonl"
    data = {"KLARTEXT_DATA": str(tmp_path / "data")}
    waiting = author(*given[kind], "--out", out, "--prompts", prompts, environ=data)
    assert waiting.exit_code == 1, waiting.output

    for file in (prompts, out / "prompts.jsonl"):
        copied = tmp_path / "copied" / "elsewhere.jsonl"
        copied.parent.mkdir(exist_ok=True)
        copied.write_bytes(file.read_bytes())
        strange = {**data, "KLARTEXT_MODEL_URL": "https://models.example/v1"}
        refused = harness("batch", copied, "--out", tmp_path / "answers.jsonl", environ=strange)
        assert refused.exit_code == 2
        assert "KLARTEXT_ALLOW_PATIENT_TEXT_TO=models.example" in refused.stderr
        assert not copied.with_suffix(".batch.json").exists()


def test_a_file_of_prompts_without_patients_words_goes_to_any_host(tmp_path: Path) -> None:
    waiting = author("discuss", "pair", "pain", "--out", tmp_path / "o")
    assert waiting.exit_code == 1, waiting.output
    assert not holds_patient_text(tmp_path / "o" / "prompts.jsonl")


def test_a_question_of_a_patient_goes_to_no_host_that_was_not_named(tmp_path: Path) -> None:
    given = ("draft", "--question", QUESTION, "--documents", "mammography-de", "--out", tmp_path / "o", "--model", "m")
    strange = author(*given, environ={"KLARTEXT_MODEL_URL": "https://models.example/v1"})
    named = {"KLARTEXT_ALLOW_PATIENT_TEXT_TO": "models.example", "KLARTEXT_MODEL_URL": "http://models.example/v1"}
    plain = author(*given, environ=named)

    assert (strange.exit_code, plain.exit_code) == (2, 2)
    assert "KLARTEXT_ALLOW_PATIENT_TEXT_TO=models.example" in strange.stderr
    assert "to 'models.example' unencrypted, by http. Set the address to https" in plain.stderr
    assert "Erika" not in strange.stderr + plain.stderr
    assert len(strange.stderr.splitlines()) == len(plain.stderr.splitlines()) == 1
    assert not (tmp_path / "o").exists()


def test_a_draft_lies_in_a_closed_folder_and_its_prompts_in_a_closed_file(tmp_path: Path) -> None:
    out, prompts = tmp_path / "o", tmp_path / "p.jsonl"
    done = author("draft", "--question", QUESTION, "--documents", "mammography-de", "--out", out, "--prompts", prompts)

    assert done.exit_code == 1, done.output
    assert "Erika" in prompts.read_text(encoding="utf-8")
    assert (mode(out), mode(prompts), mode(out / "prompts.jsonl")) == (0o700, 0o600, 0o600)


@pytest.mark.proof
def test_questions_of_a_run_and_of_a_sites_own_set_may_be_patients_words(tmp_path: Path) -> None:
    run = shutil.copytree(RECORDED / "discussion-dispute-de" / "run", tmp_path / "run")
    line = '{"id": "q%d", "question": "Wo parke ich?", "passages": [{"document": "hausinformation.txt", "quote": "Parkhaus Nord"}]}\n'
    (questions := tmp_path / "set.jsonl").write_text("".join(line % number for number in range(5)), encoding="utf-8")
    strange = {"KLARTEXT_MODEL_URL": "https://models.example/v1", "KLARTEXT_DATA": str(tmp_path / "data")}
    for number, given in enumerate(
        (
            ("discuss", "dispute", run),
            ("draft-study", "--documents", "mammography-de", "--questions", questions),
            ("draft-study", "--documents", "mammography-de", "--questions", questions, "--filters"),
        )
    ):
        out = tmp_path / f"o{number}"
        refused = author(*given, "--out", out, "--model", "m", environ=strange)
        assert refused.exit_code == 2
        assert "KLARTEXT_ALLOW_PATIENT_TEXT_TO=models.example" in refused.stderr
        assert not out.exists()

    with scripted_endpoint(lambda _: "nothing usable") as server:
        environ = {**strange, "KLARTEXT_MODEL_URL": server.url}
        out = tmp_path / "o1"
        out.mkdir(0o755)
        done = author(*given[:-1], "--out", out, "--model", "m", "--retries", "0", environ=environ)
    assert done.exit_code == 0, done.output
    assert (mode(out), (out / "answers.db").exists()) == (0o700, True)
    assert not (tmp_path / "data" / "answers.db").exists()

    out = tmp_path / "o0"
    waiting = author("discuss", "dispute", run, "--out", out, environ=strange)
    assert waiting.exit_code == 1, waiting.output
    assert holds_patient_text(out / "prompts.jsonl")


def test_a_conversation_is_no_text_that_a_pair_can_hold_to(tmp_path: Path) -> None:
    done = author("discuss", "pair", "pain", "--basis", CONVERSATION, "--out", tmp_path / "o")

    assert done.exit_code == 2
    assert "is data, such as an exported conversation, and no text" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "o").exists()


def test_prompts_and_store_with_a_patients_words_are_for_this_user_alone(tmp_path: Path) -> None:
    prompts, store, out = tmp_path / "p.jsonl", tmp_path / "s.db", tmp_path / "o"
    prompts.touch(0o644)
    store.touch(0o644)
    environ = {"KLARTEXT_DATA": str(tmp_path / "data")}
    given = ("discuss", "summary", CONVERSATION, "--out", out, "--patient-text-to-file")
    waiting = author(*given, "--prompts", prompts, environ=environ)
    with scripted_endpoint(summary_of) as server:
        done = author(*given, "--model", "m", "--store", store, environ={**environ, "KLARTEXT_MODEL_URL": server.url})

    assert waiting.exit_code == 1, waiting.output
    assert done.exit_code == 0, done.output
    assert (mode(prompts), mode(store), mode(out)) == (0o600, 0o600, 0o700)
    open_ = {path.name for path in out.iterdir() if mode(path) & 0o077}
    assert open_ <= {"answers.jsonl.costs.json"}  # tokens and money


def test_the_log_of_a_store_is_closed_while_it_is_open(tmp_path: Path) -> None:
    with AnswerStore.open(tmp_path / "s.db") as store:
        store.reserve("job", "key", 1, limit=2)
        modes = {path.name: mode(path) for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys(("s.db", "s.db-wal", "s.db-shm"), 0o600)


def test_a_database_that_is_none_of_ours_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine\n" * 300, encoding="utf-8")
    (tmp_path / "notes.txt").chmod(0o644)
    with pytest.raises(UserFixable, match="cannot be used as a store"), AnswerStore.open(tmp_path / "notes.txt"):
        pass
    assert mode(tmp_path / "notes.txt") == 0o644


@pytest.mark.proof
def test_prompts_are_not_written_over_what_is_no_file_of_prompts(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine\n", encoding="utf-8")
    given = ("discuss", "pair", "pain", "--out", tmp_path / "o", "--prompts")
    refused, first = author(*given, notes), author(*given, tmp_path / "p.jsonl")
    again = author(*given, tmp_path / "p.jsonl")

    assert refused.exit_code == 2
    assert "holds no prompts, so it is not written over" in refused.stderr
    assert notes.read_text(encoding="utf-8") == "mine\n"
    assert (first.exit_code, again.exit_code) == (1, 1)


def test_a_folder_with_other_things_in_it_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "photo.jpg").touch()
    environ = {"KLARTEXT_DATA": str(tmp_path / "data")}
    done = author(
        "discuss", "summary", CONVERSATION, "--out", tmp_path, "--patient-text-to-file", "--answers",
        CONVERSATION.with_name("discussion.jsonl"), environ=environ,
    )  # fmt: skip

    assert done.exit_code == 2
    assert "holds other things, for example 'photo.jpg'" in done.stderr
    assert mode(tmp_path) == 0o755
    assert not (tmp_path / "work.json").exists()


def test_a_link_in_a_folder_of_work_is_not_followed(tmp_path: Path) -> None:
    work = WorkFolder.claim(tmp_path / "o", {"of": "x"}, note="work.json")
    (tmp_path / "elsewhere").touch()
    work.answers_file.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UserFixable, match=r"answers\.jsonl is a link to elsewhere"):
        WorkFolder.claim(tmp_path / "o", {"of": "x"}, note="work.json")
    answers = tmp_path / "given.jsonl"
    answers.write_text('{"custom_id": "x", "response": null}\n', encoding="utf-8")
    with pytest.raises(UserFixable, match="cannot be written"):  # planted after the claim
        work.take([answers], belongs=lambda _: True)
    assert (tmp_path / "elsewhere").read_text(encoding="utf-8") == ""


def test_what_steers_a_terminal_or_is_unseen_is_taken_out_of_all_that_enters(tmp_path: Path) -> None:
    def work() -> Working[str | None]:
        return (yield from ask(Ask("a", [{"role": "user", "content": "?"}], read=str)))

    assert plain_text(NASTY) == "abcdefghi\nj"
    assert plain_text("für Sie:\n\t5 mg – „gut“ 👍") == "für Sie:\n\t5 mg – „gut“ 👍"
    assert advance(work(), {"a": ModelAnswer("a", NASTY, "m", "")}).result == "abcdefghi\nj"
    assert list(json_objects(json.dumps({"x": [NASTY, 1]}))) == [{"x": ["abcdefghi\nj", 1]}]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(f"# T\n\nText {NASTY} Ende.\n", encoding="utf-8")
    (block,) = (block for block in read_documents(tmp_path / "docs").documents[0].blocks if "Ende" in block.text)
    assert block.text == "Text abcdefghi j Ende."
    line = {"pair": "pain", "system": "s", "text": NASTY}
    (tmp_path / "c.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert read_candidates(tmp_path / "c.jsonl") == {"s": {"pain": "abcdefghi j"}}


def test_the_console_prints_text_of_others_as_letters(capsys: pytest.CaptureFixture[str]) -> None:
    console: Console = plain_console(soft_wrap=True)
    table = plain_table(NASTY, "a", NASTY)
    table.add_row(NASTY, ":x:")
    console.print(f"{NASTY} :x: [bold]")
    console.print(table)
    print_json({"text": NASTY})

    shown = capsys.readouterr().out
    assert ":x: [bold]" in shown
    assert not set("\x1b\x00\x9b\u202e\u200b\r\u274c") & set(shown)
    assert json.loads(shown[shown.index("{") :]) == {"text": NASTY}


def test_markup_of_others_is_but_letters_in_a_page() -> None:
    nasty = "<script>alert(1)</script> <!-- ![x](http://evil.example/p.png) [y](javascript:1) ```\n"

    assert without_markup(nasty) == (
        "&lt;script>alert(1)&lt;/script> &lt;!-- ![x]\\(http://evil.example/p.png) [y]\\(javascript:1) \\`\\`\\`\n"
    )
    assert without_markup("unter 2 mSv (< 3), [1] (A) `ja`") == "unter 2 mSv (< 3), [1] (A) `ja`"


@pytest.mark.proof
def test_texts_of_others_are_letters_in_the_page_and_the_form_of_a_ranking(tmp_path: Path) -> None:
    ids = ("deodorant", "pain", "radiation", "jewellery", "compression", "ultrasound", "companion")
    texts = [
        {"pair": id_, "system": "theirs", "text": f"<script>{id_}</script> {NASTY} text {number}"}
        for number, id_ in enumerate(ids)
    ]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(each) + "\n" for each in texts), encoding="utf-8")
    out = tmp_path / "o"
    done = author(
        *("rank", "--lang", "en", "--candidates", tmp_path / "c.jsonl", "--statements", "rules", "--out", out)
    )

    assert done.exit_code == 0, done.output
    page, form = (out / name for name in ("result.md", "form.csv"))
    assert "&lt;script>pain&lt;/script> abcdefghi j text 1" in page.read_text(encoding="utf-8")
    assert "<script>" not in page.read_text(encoding="utf-8")
    assert not set("\x1b\x00\u202e") & set(form.read_text(encoding="utf-8") + page.read_text(encoding="utf-8"))

"""A draft from documents: what is asked, what is struck, and what a curator gets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.testing import HashEncoder, scripted_endpoint
from harness.authoring.evidence.answers import Verdicts, reading_of
from harness.authoring.evidence.drafting import Drafter, Evidence, Plan, load_glossary, load_texts
from harness.authoring.evidence.passages import Passage, Segment
from harness.authoring.evidence.retrieval import Retriever
from harness.authoring.submission import read_submission
from harness.authoring.working import Advanced, Ask, Unusable, advance
from harness.llm.batch_files import ModelAnswer, read_answers
from tests.harness.authoring.author import answered, author

RECORDED = Path(__file__).parents[3] / "vignettes" / "authoring" / "recorded"
QUESTION = "Ich bin gegen Grippe geimpft worden und die Achsel ist noch dick. Soll ich die Mammographie verschieben?"
PASSAGES = [
    Passage("a.md#1", "a.md", "Dauer", 0, "Die Bilder dauern 10 Minuten. Zwei Platten halten die Brust."),
    Passage("a.md#2", "a.md", "Parken", 2, "Das Parkhaus ist im Norden."),
]
READ = {
    "reasoning": "Schritt für Schritt.",
    "short_answer": [{"text": "Etwa 10 Minuten.", "segments": [1]}],
    "answer": [
        {"text": "Die Bilder dauern zehn Minuten.", "segments": [1]},
        {"text": "Zwei Platten halten die Brust.", "segments": [1]},
        {"text": "Danach ruhen Sie 30 Minuten.", "segments": [1]},
        {"text": "Alles ist gut.", "segments": []},
        {"text": "Es gibt Kaffee.", "segments": [7]},
    ],
    "easy_answer": [
        {"text": "Haben Sie Angst?", "segments": [1]},
        {"text": "Das ist schlimm.", "segments": [1]},
        {"text": "Es dauert kurz.", "segments": [1]},
    ],
    "missing": ["Wer die Bilder macht"],
}


def _drafter() -> Drafter:
    return Drafter(load_texts("de"), Retriever(PASSAGES, HashEncoder()), load_glossary("de"), {"a.md": "Merkblatt"})


Scripted = Callable[[Ask[object]], str]


def _say(ask: Ask[object]) -> str:
    """Answer as a model that finds the first of all things good, and of sentences all but what is bad."""
    step = ask.id.partition("/")[0]
    text = ask.messages[0]["content"]
    if step in ("relevance", "usefulness"):
        return "1: Ja\n2: Nein"
    if step == "support":
        lines = [line for line in text.splitlines() if line[:1].isdigit()]
        return "\n".join(f"{n}: {'Nein' if 'schlimm' in line else 'Ja'}" for n, line in enumerate(lines, 1))
    return json.dumps(READ) if step == "read" else f"{step}, ausführlich"


def _drafted(plan: Plan, say: Scripted = _say) -> Advanced[Evidence]:
    answers: dict[str, ModelAnswer] = {}
    while (reached := advance(_drafter().draft(plan), answers)).waiting:
        answers |= {each.id: ModelAnswer(each.id, say(each), "m", "") for each in reached.waiting}
    return reached


def _result(plan: Plan, say: Scripted = _say) -> Evidence:
    found = _drafted(plan, say).result
    assert found is not None
    return found


def test_what_cites_nothing_or_says_more_than_it_cites_is_struck_with_its_reason() -> None:
    drafted = _result(Plan("Wie lange dauert es?"))

    assert drafted.text("answer") == "Die Bilder dauern zehn Minuten. Zwei Platten halten die Brust."
    assert drafted.text("easy_answer") == "Es dauert kurz."
    assert {each.text: each.flaw for each in drafted.struck} == {
        "Danach ruhen Sie 30 Minuten.": "30 Minuten stands in none of the segments that it cites",
        "Alles ist gut.": "it cites no segment",
        "Es gibt Kaffee.": "it cites segment 7, which was not given",
        "Haben Sie Angst?": "the sentence that answers it was struck",
        "Das ist schlimm.": "the check finds no support for it in the segments that it cites",
    }
    assert drafted.missing == ("Wer die Bilder macht",)
    assert [each.passage.id for each in drafted.useful] == ["a.md#1"]


def test_each_part_can_be_left_out_and_is_then_not_asked() -> None:
    def steps(*without: str, question: str = "Wie lange dauert es?") -> set[str]:
        drafted = _result(Plan(question, without=frozenset(without)))  # type: ignore[arg-type]
        return {each.partition("/")[0] for each in drafted.prompts}

    everything = {"rewrite", "expand", "relevance", "usefulness", "read", "support"}
    assert steps() == everything
    for part in everything - {"read"}:
        assert steps(part) == everything - {part}
    bare = _result(Plan("Wird gequetscht?", without=frozenset({"rewrite", "expand"})))
    assert bare.queries.parts == ("Wird gequetscht?", "Kompression")
    bare = _result(Plan("Wird gequetscht?", without=frozenset({"rewrite", "expand", "glossary"})))
    assert bare.queries.parts == ("Wird gequetscht?",)
    assert _result(Plan("Wird gequetscht?")).queries.glossary == ""  # a model rewrote it


def test_a_filter_that_cannot_be_read_keeps_all_and_is_told() -> None:
    drafted = _drafted(Plan("Wie lange?"), lambda ask: "Gerne!" if ask.id.startswith("relevance") else _say(ask))

    assert drafted.result is not None
    assert len(drafted.result.relevant) == 2
    (reason,) = drafted.unusable.values()
    assert reason == "there is no Ja or Nein for 1, 2 of 2"


def test_without_evidence_or_a_usable_text_there_is_no_draft() -> None:
    nothing = _result(Plan("Hund?"), lambda ask: "1: Nein\n2: Nein" if ask.id.startswith("rel") else _say(ask))
    assert nothing.ended == "nothing in the documents was found that answers the question"
    broken = _result(Plan("Wie lange?"), lambda ask: "{" if ask.id.startswith("read") else _say(ask))
    assert broken.ended == "no usable text was written"
    alone = {"answer": [{"text": "Es gibt Kaffee.", "segments": []}]}
    struck = _result(Plan("Wie lange?"), lambda ask: json.dumps(alone) if ask.id.startswith("read") else _say(ask))
    assert struck.ended == "no sentence of the answer is supported"
    assert len(struck.struck) == 1


def test_answers_to_other_passages_are_not_taken_for_those_to_these() -> None:
    ids = {each for each in _result(Plan("Wie lange?")).prompts if each.startswith("relevance")}
    PASSAGES.append(Passage("a.md#3", "a.md", "", 0, "Noch eine Stelle."))
    try:
        others = {each.id for each in advance(_drafter().draft(Plan("Wie lange?")), {}).waiting}
        others |= {each for each in _result(Plan("Wie lange?"), _three).prompts if each.startswith("relevance")}
    finally:
        PASSAGES.pop()

    assert not ids & others


def _three(ask: Ask[object]) -> str:
    return "1: Ja\n2: Nein\n3: Nein" if ask.id.startswith("relevance") else _say(ask)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("1: Ja", "there is no Ja or Nein for 2 of 2"),
        ("", "for 1, 2 of 2"),
        ("Ja, beide", "for 1, 2 of 2"),
    ],
)
def test_verdicts_that_miss_one_are_unusable(written: str, reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        Verdicts(2, "Ja", "Nein")(written)


@pytest.mark.parametrize(
    "written", ["1: Ja\n2: Nein", "**1.** ja\n2) Nein, denn", "[1] Yes\n[2] no", "1 - Ja\n2 – Nein"]
)
def test_verdicts_are_read_as_models_write_them(written: str) -> None:
    assert Verdicts(2, "Ja", "Nein")(written) == [True, False]


@pytest.mark.parametrize(
    "written",
    [
        "nichts",
        '{"answer": []}',
        '{"answer": 3}',
        '{"answer": [{"text": ""}]}',
        json.dumps({"answer": [{"text": "Ja. " * 50, "segments": [1]}]}),
    ],
)
def test_a_text_that_is_none_is_unusable(written: str) -> None:
    with pytest.raises(Unusable):
        reading_of([])(written)


def test_a_number_must_stand_where_a_sentence_says_it_does() -> None:
    segment = Segment("a/1", PASSAGES[0], "Etwa 0,2 bis 0,4 mSv, zehn Minuten.")
    said = '{"answer": [{"text": "%s", "segments": [1, true, "2", 1]}]}'

    def flaw(text: str) -> str:
        return reading_of([segment])(said % text).sentences[0].flaw

    assert flaw("Etwa 0.2 mSv in 10 Minuten.") == ""
    assert flaw("Etwa 0,3 mSv.") == "0,3 mSv stands in none of the segments that it cites"
    assert flaw("Nach zwölf Tagen.") == "zwölf Tagen stands in none of the segments that it cites"


def _lines(path: Path) -> Mapping[str, str]:
    return {id_: answer.content for id_, answer in read_answers([path]).items()}


def test_the_recorded_run_is_replayed_whole_and_can_be_handed_in(tmp_path: Path) -> None:
    answers = RECORDED / "evidence-draft-de" / "answers.jsonl"
    out = tmp_path / "impfung"

    done = author(
        *("draft", "--question", QUESTION, "--documents", "mammography-de", "--closed", "--out", out),
        *("--answers", answers),
    )

    assert done.exit_code == 0, done.output
    record = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert record["counts"] == {
        "found": 32, "relevant": 2, "segments": 5, "useful": 3, "sentences": 20, "unsupported": 0,
    }  # fmt: skip
    assert (record["answered"], record["status"], record["sample"]) == ("offline", "draft", True)
    assert set(record["prompts"]) == set(_lines(answers))
    assert {each["model"] for each in record["prompts"].values()} == {"offline-model"}
    page = (out / "result.md").read_text(encoding="utf-8")
    assert "- Kommen Sie wegen Beschwerden, verschieben Sie die Mammographie nicht. [3]" in page
    assert "**Sample**: the documents are invented." in page
    submission = read_submission(out)
    (pair,) = submission.pairs
    assert pair.review.status == "draft"
    assert pair.question == QUESTION
    assert {each["sentence"] for each in submission.provenance[pair.id] if each["field"] == "answer"} == {
        each["text"] for each in record["sentences"] if each["field"] == "answer" and not each["flaw"]
    }
    for each in submission.provenance[pair.id]:
        assert each["sentence"] in (getattr(pair, each["field"]) or "")
        assert each["quotations"]
    assert all(str(each.passage).startswith(("sop-", "wie-")) for each in pair.sources)


@pytest.mark.proof
def test_a_model_on_loopback_is_asked_step_by_step_and_the_work_goes_on_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(
        "# Merkblatt\n\n## Dauer\n\nDie Bilder dauern 10 Minuten. Zwei Platten halten die Brust.\n\n"
        "## Parken\n\nDas Parkhaus ist im Norden.\n",
        encoding="utf-8",
    )
    asked: list[str] = []

    def reply(messages: list[dict[str, str]]) -> str:
        text = messages[0]["content"]
        asked.append(text)
        steps = {"Gefundene Textstellen": "relevance", "Gefundene Abschnitte": "usefulness", "Jeder Satz": "support"}
        steps["Medizinisches Wissen"] = "read"
        step = next((step for start, step in steps.items() if text.startswith(start)), "rewrite")
        return _say(Ask(step, messages, str))

    with scripted_endpoint(reply) as endpoint:
        environ = {"KLARTEXT_MODEL_URL": endpoint.url, "KLARTEXT_DATA": str(tmp_path / "data")}
        command = (
            "draft",
            "--question",
            "Wie lange dauert es?",
            "--documents",
            tmp_path / "docs",
            "--out",
            tmp_path / "o",
        )
        first = author(*command, "--model", "scripted", environ=environ)
        count = len(asked)
        again = author(*command, "--model", "scripted", environ=environ)

    assert first.exit_code == 0, first.output
    assert "Die Bilder dauern zehn Minuten." in (tmp_path / "o" / "result.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "o" / "result.json").read_text(encoding="utf-8"))["answered"] == "live"
    assert count == 6
    assert (again.exit_code, len(asked)) == (0, count)
    other = author(*command[:2], "Etwas anderes?", *command[3:], environ=environ)
    assert other.exit_code == 2
    assert "holds work on something else" in other.stderr


@pytest.mark.proof
def test_what_nothing_answers_ends_without_a_draft(tmp_path: Path) -> None:
    out = tmp_path / "o"
    command = ("draft", "--question", "Darf mein Hund mit?", "--documents", "mammography-de", "--out", out)
    bare = [*command, *(word for part in ("rewrite", "expand") for word in ("--without", part))]
    done = author(*bare)
    assert done.exit_code == 1
    for _ in range(3):
        if done.exit_code == 1 and "There is no draft" not in done.output:
            waiting = [json.loads(line) for line in (out / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]
            no = "\n".join(f"{n}: Nein" for n in range(1, 11))
            done = author(
                *bare, "--answers", answered(tmp_path / "a.jsonl", {each["custom_id"]: no for each in waiting})
            )

    assert done.exit_code == 1
    assert "There is no draft: nothing in the documents was found that answers the question." in done.output
    assert not (out / "draft.yaml").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--question", "?!"], "`--question` holds no question"),
        (["--question", "Warum? " * 60], "`--question` has 419 characters, and 300 are the most"),
        (["--without", "colour"], "`--without colour` is no part. Parts: rewrite, expand"),
        (["--without", "sparse", "--without", "dense"], "leaves nothing to search with"),
        (["--id", "Große Frage"], "`--id Große Frage` cannot be an id"),
        (["--id", "pain"], "`--id pain`: mammography@2026.2 has such a pair"),
        (["--documents", "nowhere"], "There is no folder 'nowhere'"),
        (["--rerank-model", "/nowhere/model"], "The model '/nowhere/model' cannot be loaded"),
        (["--encoder", "magic"], "There is no encoder 'magic'"),
        (["--answers", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
    ],
)
def test_what_is_amiss_is_one_line_and_exit_2(tmp_path: Path, options: list[str], message: str) -> None:
    given = {"--question": "Wo?", "--documents": "mammography-de"}
    words = [word for name, value in given.items() if name not in options for word in (name, value)]

    done = author("draft", *words, *options, "--out", tmp_path / "o")

    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_prompts_of_both_languages_have_the_same_slots_and_keep_the_papers_words() -> None:
    german, english = load_texts("de"), load_texts("en")

    assert german.digest != english.digest
    slots = {
        name: {word for word in text.split() if word.startswith("$")} for name, text in german.model_dump().items()
    }
    for name, text in english.model_dump().items():
        assert {word.rstrip(":.") for word in text.split() if word.startswith("$")} == {
            each.rstrip(":.") for each in slots[name]
        }, name
    assert "employing precise medical terminology" in english.rewrite
    assert "Assume the role of $role" in english.expand
    assert english.role == "a medical doctor in radiology"
    assert "with a chain-of-thought approach" in english.read


@pytest.mark.proof
def test_the_recorded_study_shows_what_rewriting_and_expansion_find(
    tmp_path: Path, embedded_encoder: EmbeddedEncoder
) -> None:
    answers = RECORDED / "evidence-study-de" / "answers.jsonl"

    done = author(
        *("draft-study", "--documents", "mammography-de", "--limit", "24", "--out", tmp_path / "o"),
        *("--answers", answers),
    )

    assert done.exit_code == 0, done.output
    rows = {each["name"]: each for each in json.loads((tmp_path / "o" / "result.json").read_text())["rows"]}
    assert rows["hybrid + rewriting + expansion"]["mrr"] > rows["sparse + dense"]["mrr"]
    assert all(0 <= share <= 1 for row in rows.values() for share in row["recall"].values())
    assert yaml.safe_load(json.dumps(rows["dense"]["intervals"]))["1"][0] < rows["dense"]["recall"]["1"]
    assert "95 % intervals (Wilson)" in (tmp_path / "o" / "result.md").read_text(encoding="utf-8")

"""A map behind the encoder: what it learns, from what, and that nothing of a test question's answer taught it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bot import BadData, load_catalog, locate
from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.testing import HashEncoder
from harness.authoring.evidence import teaching
from harness.authoring.evidence.documents import locate_documents, read_documents
from harness.authoring.evidence.drafting import Queries
from harness.authoring.evidence.passages import Passage, passages_of
from harness.authoring.evidence.retrieval import Reach, Retriever
from harness.authoring.evidence.study import (
    StudyQuestion,
    load_targets,
    measured,
    questions_file,
    spread,
    tuned_configurations,
)
from harness.authoring.evidence.teaching import Course, asked_of, load_teaching
from harness.authoring.evidence.tuning import Lessons, Tuned, chosen_strength, hard_negatives, held_out, learned
from harness.authoring.working import Advanced, Work, advance
from harness.llm.batch_files import ModelAnswer
from harness.llm.work_folder import WorkFolder
from tests.harness.authoring.author import answered, author

PASSAGES = passages_of(read_documents(locate_documents("mammography-de")).documents)
TARGETS = load_targets(questions_file("de"), PASSAGES)
CATALOG = load_catalog(locate("mammography"), "de")


def _turned(count: int = 60, size: int = 12) -> Lessons:
    """Questions that are what answers them, turned round by one and the same rotation, with a little noise."""
    rng = np.random.default_rng(3)
    candidates = rng.normal(size=(count, size))
    candidates /= np.linalg.norm(candidates, axis=1, keepdims=True)
    rotation = np.linalg.qr(rng.normal(size=(size, size)))[0]
    queries = candidates @ rotation + rng.normal(scale=0.05, size=(count, size))
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    right = np.eye(count, dtype=bool)
    return Lessons(queries.astype(np.float32), candidates.astype(np.float32), right, ~right)


def test_what_is_learned_finds_what_taught_nothing_and_is_the_same_each_time() -> None:
    lessons = _turned()
    unseen = frozenset(range(40, 60))

    change = held_out(lessons, [unseen] * 2, None)[0]
    mapped = lessons.queries[40:] @ (np.eye(12) + change)

    def first(queries: np.ndarray) -> int:
        return int((np.argmax(queries @ lessons.candidates[40:].T, axis=1) == np.arange(20)).sum())

    assert first(lessons.queries[40:]) < 6
    assert first(mapped) > 15
    rest = lessons.without(unseen)
    assert (rest.queries.shape, rest.candidates.shape, rest.right.shape) == ((40, 12), (40, 12), (40, 40))
    strength = chosen_strength(rest)
    assert strength is not None
    assert (learned(rest, strength) == change).all()
    assert float(np.abs(learned(lessons, 1e6)).max()) < 1e-5  # little evidence leaves the encoder as it is


def test_where_questions_have_nothing_to_do_with_what_answers_nothing_is_changed() -> None:
    lessons = _turned()
    order = np.random.default_rng(5).permutation(60)

    assert chosen_strength(Lessons(lessons.candidates, lessons.candidates, lessons.right, lessons.against)) is None
    mixed = Lessons(lessons.queries[order], lessons.candidates, lessons.right, lessons.against)
    found = held_out(mixed, [frozenset(range(40, 60))], None)[0]
    assert int((np.argmax(mixed.queries[40:] @ (np.eye(12) + found) @ mixed.candidates.T, axis=1) >= 40).sum()) < 10


def test_hard_negatives_are_what_ranks_high_and_does_not_answer() -> None:
    right = np.zeros((1, 100), dtype=bool)
    right[0, [0, 70]] = True

    against = hard_negatives([[range(100)], [range(99, -1, -1)]], right)

    assert np.flatnonzero(against[0]).tolist() == [*range(1, 32), *range(68, 70), *range(71, 100)]


@pytest.fixture(scope="module")
def pairs(embedded_encoder: EmbeddedEncoder) -> Course:
    return teaching.by_pairs(CATALOG, embedded_encoder)


@pytest.mark.proof
def test_no_document_that_answers_a_question_teaches_what_finds_it(
    embedded_encoder: EmbeddedEncoder, pairs: Course
) -> None:
    retriever = Retriever(PASSAGES, embedded_encoder)
    for course in (teaching.by_targets("questions", TARGETS, retriever), teaching.by_sentences(retriever)):
        for target in TARGETS:
            dropped = course.dropped(target, np.zeros(512, np.float32))
            rest = {place for number, place in enumerate(course.places) if number not in dropped}
            assert rest
            assert not rest & {each.rpartition("#")[0] for each in target.passages}
    (vector,) = embedded_encoder.encode(["Wie hoch ist die Strahlung?"])
    names = [CATALOG.pairs[each].id for each in pairs.dropped(TARGETS[0], vector)]
    assert len(names) == 3
    assert "radiation" in names


@pytest.mark.proof
def test_pairs_teach_to_find_passages_even_without_those_nearest_to_the_question(
    embedded_encoder: EmbeddedEncoder, pairs: Course
) -> None:
    retriever = Retriever(PASSAGES, embedded_encoder)
    some = spread(TARGETS, 9)
    queries = {each.id: Queries(each.question) for each in TARGETS}

    tuning = teaching.tune(pairs, teaching.Trial(some, queries, retriever), 0.1)

    dense = tuning.comparisons[0]
    assert (dense.before.name, dense.after.name) == ("dense", "dense, tuned, held out")
    assert dense.after.mrr > dense.before.mrr
    mean, bounds = dense.change()
    assert mean == pytest.approx(dense.after.mrr - dense.before.mrr)
    assert bounds.low < mean < bounds.high
    assert tuning.tuned is not None
    assert not any(tuning.tuned.has_seen(each.question) for each in TARGETS)
    with_all = measured(tuned_configurations(retriever.tuned_by(tuning.tuned), Reach(), set())[0], TARGETS, queries)
    plain = measured(tuned_configurations(retriever, Reach(), set())[0], TARGETS, queries)
    assert with_all.mrr > plain.mrr + 0.05


@pytest.mark.proof
def test_a_study_searches_as_its_options_say_and_takes_no_tuned_file_for_held_out_where_it_is_not(
    tmp_path: Path,
) -> None:
    tuning = author(
        *("draft-tune", "--documents", "mammography-en", "--lang", "en", "--teach", "sentences"),
        *("--strength", "1"),
        *("--out", tmp_path / "tuning"),
    )
    assert tuning.exit_code == 0, tuning.output
    record = json.loads((tmp_path / "tuning" / "result.json").read_text(encoding="utf-8"))
    assert record["gains"] == []
    assert "No gain on questions whose answers taught nothing can be told from chance" in tuning.output
    assert [each["name"] for each in record["rows"]][:2] == ["dense", "dense, tuned, held out"]
    assert set(record["changes"]) == {"dense", "sparse + dense", "hybrid + glossary"}
    assert "bootstrap over questions" in (tmp_path / "tuning" / "result.md").read_text(encoding="utf-8")

    file = tmp_path / "tuning" / "tuned.npz"
    study = author(
        *("draft-study", "--documents", "mammography-en", "--lang", "en", "--tuned", file),
        *("--width", "4", "--keep", "2", "--without", "sparse", "--out", tmp_path / "study"),
    )
    assert study.exit_code == 0, study.output
    result = json.loads((tmp_path / "study" / "result.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in result["rows"]] == [
        *("dense", "late interaction", "dense + late interaction", "dense + glossary"),
        *("dense, tuned", "dense + glossary, tuned"),
    ]
    assert {rank for each in result["rows"] for rank in each["ranks"]} == {1, 2, None}
    assert "4 passages of each first stage, 2 kept; left out: sparse" in result["about"]
    assert "by rule; NOT held out: " in result["about"][-1]

    draft = author(
        *("draft", "--question", "May my dog come in?", "--documents", "mammography-en", "--lang", "en"),
        *("--tuned", file, "--out", tmp_path / "draft"),
    )
    assert draft.exit_code == 1
    assert ", tuned " in json.loads((tmp_path / "draft" / "work.json").read_text(encoding="utf-8"))["plan"]


def test_a_tuned_file_that_is_none_or_of_another_encoder_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "tuned.npz"
    Tuned("another", np.zeros((4, 4), np.float32), "x").write(file)
    with pytest.raises(BadData, match=r"was made for the encoder 'another', and this is 'hash'") as found:
        Tuned.read(file, "hash")
    assert "\n" not in str(found.value)
    assert Tuned.read(file, "another").taught_by == "x"
    Tuned("hash", np.zeros((4, 3), np.float32)).write(file)
    with pytest.raises(BadData, match="is no tuned file"):
        Tuned.read(file, "hash")
    file.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(BadData, match="is no tuned file"):
        Tuned.read(file, "hash")
    with pytest.raises(BadData, match=r"cannot be read \(there is no such file\)"):
        Tuned.read(tmp_path / "nowhere.npz", "hash")


def test_a_damaged_tuned_file_is_one_line_wherever_it_is_damaged(tmp_path: Path) -> None:
    file = tmp_path / "tuned.npz"
    Tuned("hash", np.eye(4, dtype=np.float32), "x").write(file)
    whole = file.read_bytes()
    refused = 0
    for at in range(0, len(whole) - 3, 3):
        file.write_bytes(whole[:at] + bytes(255 - each for each in whole[at : at + 3]) + whole[at + 3 :])
        try:
            Tuned.read(file, "hash")
        except BadData:
            refused += 1
    assert refused > len(whole) / 6


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        (5, "There is too little to tune by: 5 questions of the set, 1 passages; 1 of them are found by a question"),
        (2, "has 2 questions, and 5 are the least"),
    ],
)
def test_too_few_questions_to_tune_by_are_one_line(tmp_path: Path, questions: int, message: str) -> None:
    line = '{"id": "q%d", "question": "Wo?", "passages": [{"document": "hausinformation.txt", "quote": "Parkhaus Nord"}]}\n'
    file = tmp_path / "set.jsonl"
    file.write_text("".join(line % number for number in range(questions)), encoding="utf-8")

    done = author(
        *("draft-tune", "--documents", "mammography-de", "--teach", "questions", "--questions", file),
        *("--out", tmp_path / "out"),
    )

    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_questions_of_other_documents_are_one_line(tmp_path: Path) -> None:
    done = author("draft-tune", "--documents", "mammography-en", "--lang", "de", "--out", tmp_path / "out")

    assert done.exit_code == 2
    assert "no passage of 'merkblatt-ablauf.pdf' holds" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["draft-study", "draft-tune"])
def test_what_is_measured_without_a_model_takes_no_place_of_other_work(tmp_path: Path, command: str) -> None:
    WorkFolder.claim(tmp_path, {"work": "evidence draft", "question": "Darf mein Hund mit?"}, note="work.json")
    (tmp_path / "result.json").write_text("of the draft", encoding="utf-8")

    done = author(command, "--documents", "mammography-de", "--out", tmp_path)

    assert done.exit_code == 2, done.output
    assert "holds work on something else: work there: 'evidence draft'" in done.stderr
    assert (tmp_path / "result.json").read_text(encoding="utf-8") == "of the draft"


def _made(answer: str) -> Advanced[list[StudyQuestion]]:
    passages = [Passage("a.md#1", "a.md", "Parken", 0, "Das Parkhaus ist im Norden.")]

    def work() -> Work[list[StudyQuestion]]:
        return asked_of(passages, load_teaching("de"))

    (one,) = advance(work(), {}).waiting
    answers = {id_: ModelAnswer(id_, answer, "m", "") for id_ in (one.id, f"{one.id}~2")}
    return advance(work(), answers)


def test_a_question_that_a_model_makes_counts_where_it_quotes_its_passage() -> None:
    said = {
        "questions": [
            {"passage": 1, "question": "Wo stelle ich das Auto ab?", "quote": "das Parkhaus ist im  Norden"},
            {"passage": 1, "question": "Was kostet das?", "quote": "zwei Euro"},
            {"passage": 2, "question": "Wo?", "quote": "Parkhaus"},
            {"passage": 1, "question": 3, "quote": "Parkhaus"},
            "Wo?",
        ]
    }

    made = _made(json.dumps(said)).result

    assert made is not None
    assert [(each.id, each.question) for each in made] == [("m001", "Wo stelle ich das Auto ab?")]
    assert _made('{"questions": []}').result is None or _made('{"questions": []}').result == []


def test_questions_of_a_model_come_by_file_and_are_kept_as_a_set(tmp_path: Path) -> None:
    documents = tmp_path / "docs"
    documents.mkdir()
    for number in range(12):
        (documents / f"{number:02}.md").write_text(
            f"## Thema {number}\n\nRaum {number} liegt im Haus.\n", encoding="utf-8"
        )
    questions = tmp_path / "set.jsonl"
    lines = [
        {"id": f"q{n}", "question": f"Wo ist {n}?", "passages": [{"document": f"{n:02}.md", "quote": f"Raum {n} "}]}
        for n in range(5)
    ]
    questions.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    out = tmp_path / "out"
    command = ("draft-tune", "--documents", documents, "--questions", questions, "--teach", "model", "--out", out)

    first = author(*command)
    waiting = [json.loads(line) for line in (out / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]
    answers = {}
    for number, each in enumerate(waiting):
        made = [
            {"passage": place, "question": f"Wie finde ich {4 * number + place - 1}?", "quote": "liegt im Haus"}
            for place in range(1, 5)
        ]
        answers[each["custom_id"]] = json.dumps({"questions": made})
    done = author(*command, "--strength", "1", "--answers", answered(tmp_path / "a.jsonl", answers))

    assert (first.exit_code, len(waiting)) == (1, 3)
    assert done.exit_code == 0, done.output
    assert "taught by 12 questions of a model, 12 passages" in done.output
    assert len((out / "questions.jsonl").read_text(encoding="utf-8").splitlines()) == 12
    assert HashEncoder().name != "use-multilingual-3"


@pytest.mark.proof
def test_english_documents_have_questions_and_are_searched(embedded_encoder: EmbeddedEncoder) -> None:
    collection = read_documents(locate_documents("mammography-en"))
    passages = passages_of(collection.documents)
    targets = load_targets(questions_file("en"), passages)
    queries = {each.id: Queries(each.question) for each in targets}
    row = tuned_configurations(Retriever(passages, embedded_encoder), Reach(), set())[1]

    assert collection.is_sample
    assert not collection.left_out
    assert len(targets) >= 20
    assert measured(row, targets, queries).found(10) == len(targets)
    for document in collection.documents:
        assert 'There is no "Sampleton General Hospital"' in " ".join(each.text for each in document.blocks)

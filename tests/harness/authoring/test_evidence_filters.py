"""What the self-refiner's filters keep, counted over a set of questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.testing import HashEncoder
from harness.authoring.evidence.drafting import Drafter, Evidence, Part, Plan, load_glossary, load_texts
from harness.authoring.evidence.filters import filter_rows, page, refined, useful_alone
from harness.authoring.evidence.passages import Passage
from harness.authoring.evidence.retrieval import Reach, Retriever
from harness.authoring.evidence.study import Target
from harness.authoring.working import Advanced, Ask, Work, advance
from harness.llm.batch_files import ModelAnswer
from tests.harness.authoring.author import answered, author

LONG = (
    "Der Parkplatz im Norden hat eine Schranke und ist für alle da, die mit dem eigenen Auto ins Haus kommen wollen. "
)
PASSAGES = [
    Passage("a.md#1", "a.md", "Dauer", 0, "Die Bilder dauern zehn Minuten."),
    Passage("a.md#2", "a.md", "Parken", 0, LONG + LONG.replace("Norden", "Süden") + "Er kostet zwei Euro je Stunde."),
    Passage("a.md#3", "a.md", "Essen", 0, "Das Essen ist um zwölf."),
]
TARGETS = [
    Target("q1", "Was kostet das Parken?", frozenset({"a.md#2"}), frozenset({"zwei euro"})),
    Target("q2", "Wie lange dauern die Bilder?", frozenset({"a.md#1"}), frozenset({"zehn minuten"})),
    Target("q3", "Wo ist der Hund?", frozenset({"a.md#9"}), frozenset({"hund"})),
]
ALONE: frozenset[Part] = frozenset({"rewrite", "expand", "glossary"})


def _drafter() -> Drafter:
    return Drafter(load_texts("de"), Retriever(PASSAGES, HashEncoder()), load_glossary("de"), {})


def _say(ask: Ask[object]) -> str:
    """Keep of passages those on parking and duration, of segments those that name a price."""
    word = ("Parken", "Dauer") if "relevance" in ask.id else ("Euro",)
    lines = [line for line in ask.messages[0]["content"].splitlines() if line[:1].isdigit() and ": (" in line]
    return "\n".join(f"{n}: {'Ja' if any(w in line for w in word) else 'Nein'}" for n, line in enumerate(lines, 1))


def _refined() -> Advanced[list[Evidence]]:
    answers: dict[str, ModelAnswer] = {}

    def work() -> Work[list[Evidence]]:
        return refined(_drafter(), TARGETS, Reach(), ALONE)

    while (reached := advance(work(), answers)).waiting:
        answers |= {each.id: ModelAnswer(each.id, _say(each), "m", "") for each in reached.waiting}
    return reached


def test_each_filter_is_counted_by_what_it_keeps_of_what_answers() -> None:
    found = _refined().result
    assert found is not None

    nothing, relevance, both = filter_rows(TARGETS, found, ALONE)

    assert [each.name for each in (nothing, relevance, both)] == ["no filter", "relevance", "relevance + usefulness"]
    # Of q3 no answering passage was found: there is nothing for a filter to keep.
    assert {len(each.kept) for each in (nothing, relevance, both)} == {2}
    assert [each.total("passages") for each in (nothing, relevance, both)] == [6, 4, 2]
    assert [each.total("segments") for each in (nothing, relevance, both)] == [8, 6, 2]
    assert [each.total("answering_passages") for each in (nothing, relevance, both)] == [2, 2, 1]
    assert [each.answered for each in (nothing, relevance, both)] == [2, 2, 1]
    assert [each.said for each in (nothing, relevance, both)] == [2, 2, 1]
    assert both.total("words") < relevance.total("words") < nothing.total("words")
    recall = both.recall()
    assert recall is not None
    assert recall.low < 0.5 < recall.high
    text = page([nothing, relevance, both], ["three questions"])
    assert "| relevance | 4 | 0.500" in text
    assert "- three questions" in text


def test_with_one_filter_off_the_other_is_counted_alone() -> None:
    found = _refined().result
    assert found is not None

    rows = filter_rows(TARGETS, found, frozenset({"relevance"}))

    assert [each.name for each in rows] == ["no filter", "usefulness"]
    assert [each.name for each in filter_rows(TARGETS, found, frozenset({"usefulness"}))] == ["no filter", "relevance"]


def test_the_usefulness_filter_is_counted_alone_in_the_same_table() -> None:
    found = _refined().result
    assert found is not None
    waiting = advance(useful_alone(_drafter(), TARGETS, found), {}).waiting
    yes = "\n".join(f"{number}: Ja" for number in range(1, 5))
    kept = advance(
        useful_alone(_drafter(), TARGETS, found), {each.id: ModelAnswer(each.id, yes, "m", "") for each in waiting}
    ).result

    rows = filter_rows(TARGETS, found, ALONE, kept)

    assert [each.name for each in rows] == ["no filter", "relevance", "usefulness", "relevance + usefulness"]
    assert [each.id.rpartition("/")[0] for each in waiting] == [f"q{n}/alone/usefulness" for n in (1, 2, 3)]
    # It judges all that was found, also what the relevance filter throws away.
    assert [each.total("segments") for each in rows] == [8, 6, 8, 2]
    assert [len(each.kept) for each in rows] == [2, 2, 2, 2]


def test_the_usefulness_filter_alone_is_refused_without_a_study_of_filters(tmp_path: Path) -> None:
    done = author("draft-study", "--documents", "mammography-de", "--alone", "--out", tmp_path / "o")

    assert (done.exit_code, done.stdout) == (2, "")
    assert "`--alone` is about the filters. Give `--filters` with it." in done.stderr


def test_the_filters_are_asked_what_a_draft_asks() -> None:
    drafted = advance(_drafter().draft(Plan(TARGETS[0].question, without=ALONE)), {}).waiting
    studied = advance(refined(_drafter(), TARGETS[:1], Reach(), ALONE), {}).waiting

    assert [each.messages for each in studied] == [each.messages for each in drafted]
    assert [each.id for each in studied] == [f"q1/{each.id}" for each in drafted]


@pytest.mark.proof
def test_the_study_of_filters_goes_by_files(tmp_path: Path) -> None:
    out = tmp_path / "filters"
    command = (
        *("draft-study", "--documents", "mammography-de", "--filters", "--limit", "5", "--keep", "8"),
        *("--without", "rewrite", "--without", "expand", "--alone", "--out", out),
    )
    done, asked = author(*command), 0
    for round_ in range(3):
        assert done.exit_code == 1, done.output
        waiting = [json.loads(line) for line in (out / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]
        asked += len(waiting)
        # The relevance filter keeps all, the usefulness filter every second segment; alone, in the third round, too.
        said = "\n".join(f"{n}: {'Ja' if n % 2 or not round_ else 'Nein'}" for n in range(1, 11))
        answers = answered(tmp_path / f"{round_}.jsonl", {each["custom_id"]: said for each in waiting})
        done = author(*command, "--answers", answers)

    assert done.exit_code == 0, done.output
    assert asked <= 5 * 5
    nothing, relevance, alone, both = json.loads((out / "result.json").read_text(encoding="utf-8"))["rows"]
    assert {key: relevance[key] for key in relevance if key != "name"} == {
        key: nothing[key] for key in nothing if key != "name"
    }
    assert {**alone, "name": ""} == {**both, "name": ""}
    assert nothing["answered"] == nothing["questions"] >= 3
    assert nothing["segments"] // 2 <= both["segments"] < nothing["segments"]
    assert f"{asked} prompts, answered by m; 0 could not be read" in done.output
    assert f"| no filter | {8 * nothing['questions']} |" in (out / "result.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--without", "relevance", "--without", "usefulness"], "leaves no filter to measure"),
        (["--alone", "--without", "relevance"], "`--alone` compares both filters with one, and one is left out"),
        (["--answers", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
    ],
)
def test_what_is_amiss_with_a_study_of_filters_is_one_line(tmp_path: Path, options: list[str], message: str) -> None:
    done = author(
        *("draft-study", "--documents", "mammography-de", "--filters", "--limit", "5", "--out", tmp_path / "o"),
        *options,
    )

    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1

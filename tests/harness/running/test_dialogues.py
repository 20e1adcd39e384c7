"""What is said in chats is said in order, judged by what was shown, and stored a dialogue at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bot import Assistant, BadData, Unreachable
from harness.patients.expectations import Expect
from harness.patients.suites import Dialogue, Question, QuestionSource, Suite, Turn, load_suite, save_dialogues
from harness.running.chunks import chunked
from harness.running.dialogues import judge
from harness.running.outcomes import Equivalence, Outcome
from harness.running.run import RunPlan, ask_suite, load_outcomes, run_suite
from harness.running.store import open_store
from harness.systems.system import Begin, Failure, Reply

SAME = Equivalence(
    "small@1", {"pain": frozenset({"pain", "ache"}), "costs": frozenset({"costs"}), "ache": frozenset({"pain", "ache"})}
)
NOTHING = Reply("declined", None, 0.0, (), (), None, 1.0, keys=("declined",))
TALK = replace(NOTHING, decision="talk", keys=("thanks",))
ALARM = replace(NOTHING, decision="urgent", keys=("urgent",))


def shown(*pairs: str, texts: tuple[str, ...] = ("answer",), decision: str = "answered") -> Reply:
    return Reply(decision, pairs[0], 0.9, (), (), "id", 1.0, shown=pairs, texts=texts, keys=("sample_label",))


def asked_back(*choices: str) -> Reply:
    return Reply("clarify", None, 0.4, (), choices, None, 1.0, keys=("clarify",))


def advised(urgency: str) -> Reply:
    return replace(NOTHING, urgency=urgency, reason="complaint", keys=("complaint",))


JUDGED: list[tuple[dict[str, Any], Reply, tuple[str, ...], bool | None, bool | None]] = [
    ({"pair": "pain"}, shown("pain"), (), True, False),
    ({"pair": "pain"}, shown("ache"), (), True, False),
    ({"pair": "pain"}, shown("costs", "pain"), (), True, False),
    ({"pair": "pain"}, shown("costs"), (), False, False),
    ({"pair": "pain"}, asked_back("costs", "pain"), (), False, True),
    ({"same": True}, shown("pain"), ("pain",), True, False),
    ({"same": True}, shown("costs"), ("pain",), False, False),
    ({"same": True}, asked_back("pain"), ("pain",), False, True),
    ({"same": True}, shown("pain"), (), None, None),
    ({"nothing": True}, NOTHING, (), True, None),
    ({"nothing": True}, asked_back("pain"), (), True, None),
    ({"nothing": True}, shown("pain"), (), False, None),
    ({"nothing": True}, ALARM, (), False, None),
    ({"nothing": True}, advised("days"), (), False, None),
    ({"nothing": True}, replace(NOTHING, decision="answered", matched="none"), (), False, None),
    ({"reaction": True}, TALK, (), True, None),
    ({"reaction": True}, NOTHING, (), False, None),
    ({"reaction": True}, asked_back("pain"), (), False, None),
    ({"reaction": True}, ALARM, (), False, None),
    ({"reaction": True}, replace(NOTHING, keys=None), (), False, None),
    ({"reaction": True}, replace(NOTHING, keys=None, reason="small-talk"), (), True, None),
    ({"act": "easier"}, shown("pain", texts=("easy_answer",), decision="talk"), ("pain",), True, None),
    ({"act": "easier"}, shown("costs", texts=("easy_answer",)), ("pain",), False, None),
    ({"act": "easier"}, shown("pain"), ("pain",), False, None),
    ({"act": "easier"}, replace(TALK, keys=("easy_missing",)), ("pain",), True, None),
    ({"act": "again"}, shown("pain"), ("pain",), True, None),
    ({"act": "again"}, NOTHING, ("pain",), False, None),
    ({"act": "shorter"}, NOTHING, (), None, None),
    ({"complaint": "days"}, advised("days"), (), True, None),
    ({"complaint": "days"}, advised("today"), (), True, None),
    ({"complaint": "days"}, ALARM, (), True, None),
    ({"complaint": "days"}, advised("appointment"), (), False, None),
    ({"complaint": "days"}, NOTHING, (), False, None),
    ({"complaint": "now"}, ALARM, (), True, None),
    ({"complaint": "now"}, advised("today"), (), False, None),
    ({"complaint": "other"}, NOTHING, (), True, None),
    ({"complaint": "other"}, shown("pain"), (), False, None),
    ({"complaint": "other"}, ALARM, (), False, None),
    ({"alarm": True}, ALARM, (), True, None),
    ({"alarm": True}, NOTHING, (), False, None),
    ({"language": "tr"}, replace(NOTHING, language="tr"), (), True, None),
    ({"language": "tr"}, replace(NOTHING, language="de"), (), False, None),
    ({"unanswered": True}, asked_back("pain"), (), True, None),
    ({"unanswered": True}, shown("pain"), (), False, None),
]


@pytest.mark.parametrize(("expect", "reply", "before", "met", "offered"), JUDGED)
def test_what_was_shown_is_what_was_expected_or_not(
    expect: dict[str, Any], reply: Reply, before: tuple[str, ...], met: bool | None, offered: bool | None
) -> None:
    verdict = judge(Expect(**expect), reply, before, SAME)

    assert (verdict.met, verdict.offered) == (met, offered)


@dataclass
class Scripted:
    """A system that shows what a test says, by message; `said` holds every chat's messages."""

    replies: Mapping[str, Reply | Failure]
    identity: dict[str, str] = field(default_factory=lambda: {"system": "scripted"})
    turns: bool = True
    said: list[list[str]] = field(default_factory=list)

    def ask(self, texts: Any, language: str) -> list[Any]:
        raise AssertionError("messages of a chat are said in one")

    @contextmanager
    def chats(self, language: str) -> Iterator[Begin]:
        yield lambda: nullcontext(self._begun())

    def _begun(self) -> ScriptedChat:
        self.said.append([])
        return ScriptedChat(self)


@dataclass
class ScriptedChat:
    system: Scripted

    def say(self, text: str) -> Reply | Failure:
        self.system.said[-1].append(text)
        return self.system.replies.get(text, NOTHING)


def dialogue(id_: str, *turns: tuple[str, dict[str, Any]], vignette: str = "plain") -> Dialogue:
    spoken = tuple(Turn(text=text, expect=Expect(**expect)) for text, expect in turns)
    return Dialogue(id=id_, lang="de", vignette=vignette, source=QuestionSource(kind="person"), turns=spoken)


SaveDialogues = Callable[..., Suite]


@pytest.fixture
def saved(small: Assistant, tmp_path: Path) -> SaveDialogues:
    def save(*dialogues: Dialogue) -> Suite:
        folder, catalog = tmp_path / "suite", small.catalog("de")
        save_dialogues(folder, catalog=catalog, note="", dialogues=dialogues, dropped={}, today=date(2026, 1, 1))
        return load_suite(folder)

    return save


PAIN = ("zwickt das arg?", {"pair": "pain"})
SURE = ("ganz sicher?", {"same": True})
BYE = ("na dann", {"reaction": True})
REPLIES: Mapping[str, Reply | Failure] = {
    "zwickt das arg?": shown("pain"),
    "ganz sicher?": shown("pain"),
    "na dann": TALK,
}


def test_each_dialogue_is_one_chat_and_each_turn_an_outcome(
    saved: SaveDialogues, small: Assistant, tmp_path: Path
) -> None:
    suite, system = saved(dialogue("a", PAIN, SURE, BYE), dialogue("b", PAIN)), Scripted(REPLIES)

    outcomes = run_suite(suite, system, small.catalog("de"), tmp_path / "run")

    assert system.said == [["zwickt das arg?", "ganz sicher?", "na dann"], ["zwickt das arg?"]]
    told = [(o.id, o.kind, o.expected, o.wanted, o.met, o.dialogue, o.right) for o in outcomes]
    assert told == [
        ("a/1", "turn", "first", "pain", True, "a", None),
        ("a/2", "turn", "same", None, True, "a", None),
        ("a/3", "turn", "reaction", None, True, "a", None),
        ("b/1", "turn", "first", "pain", True, "b", None),
    ]
    assert load_outcomes(tmp_path / "run") == outcomes


def test_who_is_offered_what_was_meant_takes_it_before_going_on(
    saved: SaveDialogues, small: Assistant, tmp_path: Path
) -> None:
    title = small.catalog("de").by_id["pain"].question
    replies = {**REPLIES, "zwickt das arg?": asked_back("costs", "pain"), title: shown("pain")}
    suite, system = saved(dialogue("a", PAIN, SURE)), Scripted(replies)

    first, second = run_suite(suite, system, small.catalog("de"), tmp_path / "run")

    assert system.said == [["zwickt das arg?", title, "ganz sicher?"]]
    assert (first.met, first.offered, second.met) == (False, True, True)


def test_a_follow_up_to_nothing_is_not_scored(saved: SaveDialogues, small: Assistant, tmp_path: Path) -> None:
    suite = saved(dialogue("a", ("blubb?", {"pair": "pain"}), SURE))

    first, second = run_suite(suite, Scripted(REPLIES), small.catalog("de"), tmp_path / "run")

    assert (first.met, second.met) == (False, None)


def test_a_turn_that_is_a_near_copy_is_said_but_not_scored(
    saved: SaveDialogues, small: Assistant, tmp_path: Path
) -> None:
    copy = small.catalog("de").by_id["costs"].variants[0].text
    suite, system = saved(dialogue("a", (copy, {"pair": "costs"}), SURE)), Scripted({**REPLIES, copy: shown("pain")})

    (only,) = run_suite(suite, system, small.catalog("de"), tmp_path / "run")

    assert system.said == [[copy, "ganz sicher?"]]
    assert (only.id, only.met) == ("a/2", True)


def test_a_dialogue_fails_as_a_whole_and_is_held_again(saved: SaveDialogues, small: Assistant, tmp_path: Path) -> None:
    suite, catalog = saved(dialogue("a", PAIN, SURE), dialogue("b", PAIN)), small.catalog("de")
    broken = Scripted({**REPLIES, "ganz sicher?": Failure("timed out", 2.0)})

    before = run_suite(suite, broken, catalog, tmp_path / "run")
    mended = Scripted(REPLIES)
    after = run_suite(suite, mended, catalog, tmp_path / "run")

    assert [(o.decision, o.error, o.met) for o in before[:2]] == [("error", "timed out", None)] * 2
    assert mended.said == [["zwickt das arg?", "ganz sicher?"]]
    assert [o.met for o in after] == [True, True, True]


@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_what_a_kill_left_of_a_dialogue_is_not_asked_twice(
    saved: SaveDialogues, small: Assistant, tmp_path: Path, format_: Any
) -> None:
    pytest.importorskip("pyarrow")
    suite, catalog, out = saved(dialogue("a", PAIN, SURE, BYE)), small.catalog("de"), tmp_path / "run"
    plan = RunPlan(format=format_)
    whole = list(ask_suite(suite, Scripted(REPLIES), catalog, tmp_path / "whole", plan).outcomes())
    with pytest.raises(Killed):
        ask_suite(suite, KilledAt("ganz sicher?", REPLIES), catalog, out, plan)
    if format_ == "jsonl":  # a batch cut in two
        (out / "outcomes.jsonl").write_text(whole[0].as_line(), encoding="utf-8")
    system = Scripted(REPLIES)

    store = ask_suite(suite, system, catalog, out, plan)

    assert system.said == [["zwickt das arg?", "ganz sicher?", "na dann"]]
    assert [outcome.id for outcome in store.outcomes()] == ["a/1", "a/2", "a/3"]
    assert sum(count.n for count in store.tally()) == 3
    assert {count.cell.expected for count in open_store(out, format_).tally()} == {"first", "same", "reaction"}


class Killed(Exception):
    """The process ends here."""


class KilledAt(Scripted):
    def __init__(self, text: str, replies: Mapping[str, Reply | Failure]) -> None:
        super().__init__({**replies, text: _Deadly()})

    def _begun(self) -> ScriptedChat:
        chat = super()._begun()
        return _DeadlyChat(chat.system)


class _Deadly(Failure):
    def __init__(self) -> None:
        super().__init__("killed", 0.0)


class _DeadlyChat(ScriptedChat):
    def say(self, text: str) -> Reply | Failure:
        reply = super().say(text)
        if isinstance(reply, _Deadly):
            raise Killed
        return reply


def test_a_system_that_is_down_is_given_up_after_ten_dialogues(
    saved: SaveDialogues, small: Assistant, tmp_path: Path
) -> None:
    suite = saved(*(dialogue(f"d{number}", PAIN, SURE) for number in range(30)))
    system = Scripted({"zwickt das arg?": Failure("no connection", 1.0)})

    with pytest.raises(Unreachable, match="10 times in a row"):
        run_suite(suite, system, small.catalog("de"), tmp_path / "run")

    assert len(system.said) == 10


def test_systems_without_memory_are_refused_dialogues_in_one_line(
    saved: SaveDialogues, small: Assistant, tmp_path: Path
) -> None:
    suite = saved(dialogue("a", PAIN, SURE))

    with pytest.raises(BadData, match=r"remembers nothing.*set `conversations: true`") as refused:
        run_suite(suite, Scripted(REPLIES, turns=False), small.catalog("de"), tmp_path / "run")

    assert "\n" not in str(refused.value)
    assert not (tmp_path / "run").exists()


def test_a_suite_that_asks_for_unknown_pairs_is_refused(saved: SaveDialogues, small: Assistant, tmp_path: Path) -> None:
    suite = saved(dialogue("a", PAIN, ("und das zebra?", {"pair": "zebra"})))

    with pytest.raises(BadData, match="'zebra'"):
        run_suite(suite, Scripted(REPLIES), small.catalog("de"), tmp_path / "run")


def test_no_chunk_cuts_a_dialogue(saved: SaveDialogues) -> None:
    suite = saved(*(dialogue(f"d{number}", PAIN, SURE, BYE) for number in range(5)))

    chunks = list(chunked(enumerate(suite.questions), 4))

    assert [[question.dialogue for _, question in chunk] for chunk in chunks] == [
        ["d0"] * 3 + ["d1"] * 3,
        ["d2"] * 3 + ["d3"] * 3,
        ["d4"] * 3,
    ]


def test_lines_of_plain_questions_are_as_they_were(make_outcome: Callable[..., Outcome]) -> None:
    line = make_outcome("one").as_line()

    assert "expected" not in line
    assert "met" not in line
    assert Outcome.from_line(line) == make_outcome("one")


def test_a_changed_suite_of_dialogues_is_refused(saved: SaveDialogues, tmp_path: Path) -> None:
    suite = saved(dialogue("a", PAIN, SURE))
    assert [question.id for question in suite.questions] == ["a/1", "a/2"]
    assert suite.meta.counts == {"dialogue": 1, "turn": 2}
    file = tmp_path / "suite" / "dialogues.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace("sicher", "gewiss"), encoding="utf-8")

    with pytest.raises(BadData, match=r"dialogues\.jsonl does not have the hash"):
        load_suite(tmp_path / "suite")


@pytest.mark.parametrize(
    "expect", [{}, {"pair": "pain", "same": True}, {"new": True}, {"complaint": "soon"}, {"language": "Turkish"}]
)
def test_an_expectation_is_exactly_one_thing(expect: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"exactly one thing|literal|pattern|Input should"):
        Expect(**expect)


def test_a_message_of_a_chat_says_what_it_expects(make_question: Callable[..., Question]) -> None:
    record = make_question(1, "hallo", None).model_dump()

    with pytest.raises(ValueError, match="says in `expect`"):
        Question.model_validate({**record, "kind": "everyday"})

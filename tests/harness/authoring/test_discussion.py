"""Researcher and decider: what is said is read defensively, and the scratchpad is applied as a person accepts it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import pytest

from bot import BadData, load_catalog, locate
from harness.authoring.discussion.content import PairDraft, find_pair, pair_task
from harness.authoring.discussion.dialogue import (
    MOST_TURNS,
    Choice,
    Discussed,
    Discussion,
    Turn,
    improve,
    named_sections,
    read_decider,
    read_researcher,
)
from harness.authoring.discussion.report import discussed_page, told_twice, unasked, undone
from harness.authoring.discussion.texts import Task, load_texts
from harness.authoring.working import Unusable, Work, advance
from harness.llm.batch_files import ModelAnswer

T = TypeVar("T")
TEXTS = load_texts("en")
DRAFT = find_pair("pain", load_catalog(locate("mammography"), "en"))
FINAL = "## Short answer\nIt may hurt.\n\n**Answer:**\nIt may hurt for a moment.\n\n### 3. Easy answer\nIt may hurt.\n[STOP]"


def script(work: Callable[[], Work[T]], reply: Callable[[str, str], str]) -> tuple[T, Mapping[str, str]]:
    """Answer whatever a work asks; return its result, and why answers could not be used."""
    answers: dict[str, ModelAnswer] = {}
    while (reached := advance(work(), answers)).waiting:
        for one in reached.waiting:
            text = reply(one.id, one.messages[-1]["content"])
            answers[one.id] = ModelAnswer(one.id, text, "scripted", "")
    return cast("T", reached.result), reached.unusable


def by_id(answers: Mapping[str, str]) -> Callable[[str, str], str]:
    return lambda id_, _: answers[id_]


def pair() -> tuple[Task, PairDraft]:
    return pair_task(TEXTS, DRAFT), DRAFT


def test_accepted_corrections_reach_the_final_prompt_and_rejected_ones_do_not() -> None:
    task, draft = pair()
    seen: dict[str, str] = {}

    def reply(id_: str, prompt: str) -> str:
        seen[id_] = prompt
        return {
            "turn/1/researcher": '[RESPONSE: "Two things."]',
            "turn/2/decider": '[RESPONSE: "Yes."] [SCRATCHPAD: "Shorten it."] [SCRATCHPAD: "Name the hour."]',
            "turn/3/researcher": "[STOP]",
            "final/2": FINAL,
        }[id_]

    done: Discussed = script(lambda: improve(task, draft.texts, Choice((2,))), reply)[0]

    assert done.discussion.ended == "stop"
    assert done.discussion.scratchpad == ("Shorten it.", "Name the hour.")
    assert "1. Shorten it." in seen["turn/3/researcher"]  # the researcher sees the scratchpad
    assert "1. Name the hour." in seen["final/2"]
    assert "Shorten it." not in seen["final/2"]
    assert done.final == {
        "short_answer": "It may hurt.",
        "answer": "It may hurt for a moment.",
        "easy_answer": "It may hurt.",
    }


def test_without_a_decision_nothing_is_applied_and_with_none_accepted_nobody_is_asked() -> None:
    task, draft = pair()
    reply = by_id(
        {
            "turn/1/researcher": '[RESPONSE: "A point."]',
            "turn/2/decider": '[RESPONSE: "Yes."] [SCRATCHPAD: "Do it."]',
            "turn/3/researcher": "[STOP]",
        }
    )

    undecided: Discussed = script(lambda: improve(task, draft.texts), reply)[0]
    refused: Discussed = script(lambda: improve(task, draft.texts, Choice(())), reply)[0]

    assert (undecided.accepted, undecided.final) == (None, None)
    assert (refused.accepted, refused.final) == ((), draft.texts)


def test_a_researcher_who_never_stops_is_stopped_after_fifteen_turns() -> None:
    task, draft = pair()
    asked: list[str] = []

    def reply(id_: str, _: str) -> str:
        asked.append(id_)
        return f'[RESPONSE: "And another thing, {id_}."] [SCRATCHPAD: "The same correction."]'

    done: Discussed = script(lambda: improve(task, draft.texts), reply)[0]

    assert len(asked) == MOST_TURNS == 15
    assert done.discussion.ended == "turns"
    assert done.discussion.scratchpad == ("The same correction.",)  # said seven times, written once

    page = discussed_page("P", task, done, "en")
    assert "the researcher was not satisfied yet. Nobody decided on the last turn: read it." in page


def test_a_researcher_who_says_all_points_and_stops_at_once_is_answered_and_not_called_satisfied() -> None:
    task, draft = pair()
    answers = {
        "turn/1/researcher": '[RESPONSE: "Short answer: name the hour."] [STOP]',
        "turn/2/decider": '[RESPONSE: "Yes."] [SCRATCHPAD: "Short answer: name the hour."]',
    }

    done: Discussed = script(lambda: improve(task, draft.texts), by_id(answers))[0]

    assert done.discussion.scratchpad == ("Short answer: name the hour.",)
    assert (done.discussion.ended, done.discussion.undecided) == ("stop", False)
    assert "satisfied" not in discussed_page("P", task, done, "en")


def test_points_in_a_last_turn_that_nobody_decided_on_are_said() -> None:
    task, draft = pair()
    answers = {
        "turn/1/researcher": '[RESPONSE: "A point."]',
        "turn/2/decider": '[RESPONSE: "Yes."] [SCRATCHPAD: "Do it."]',
        "turn/3/researcher": '[RESPONSE: "And name the hour."] [STOP]',
    }

    done: Discussed = script(lambda: improve(task, draft.texts), by_id(answers))[0]

    assert (done.discussion.ended, done.discussion.undecided) == ("stop", True)
    page = discussed_page("P", task, done, "en")
    assert (
        "The researcher ended the discussion with words of its own. Nobody decided on the last turn: read it." in page
    )
    assert "satisfied" not in page
    answers["turn/3/researcher"] = "[STOP]"
    wordless: Discussed = script(lambda: improve(task, draft.texts), by_id(answers))[0]
    assert "The researcher was satisfied." in discussed_page("P", task, wordless, "en")


def test_what_cannot_be_used_is_asked_again_and_ends_the_discussion_with_what_there_is() -> None:
    task, draft = pair()
    answers = {
        "turn/1/researcher": '[RESPONSE: "A point."]',
        "turn/2/decider": '[RESPONSE: "Yes."] [SCRATCHPAD: "Do it."]',
        "turn/3/researcher": "I have nothing to say in brackets.",
        "turn/3/researcher#2": "Still nothing.",
    }

    result, unusable = script(lambda: improve(task, draft.texts), by_id(answers))

    assert result.discussion.ended == "unusable"
    assert result.discussion.scratchpad == ("Do it.",)
    assert unusable == {"turn/3/researcher": "it holds neither [RESPONSE: …] nor [STOP]"}


@pytest.mark.parametrize(
    ("answer", "text", "added"),
    [
        ('[RESPONSE: "Yes."]', "Yes.", ()),
        ("[RESPONSE: Yes.]\n[SCRATCHPAD: Change it.]", "Yes.", ("Change it.",)),
        (
            '[response: “Yes [indeed].”] [Scratchpad: "1. One\n2. Two\n- Three"]',
            "Yes [indeed].",
            ("One", "Two", "Three"),
        ),
        ('Well. [RESPONSE: "Yes."] [SCRATCHPAD: "none"]', "Yes.", ()),
        ('[RESPONSE: "Ja."] [SCRATCHPAD: "„a“ ersetzen durch „b.“"]', "Ja.", ("„a“ ersetzen durch „b.“",)),
        ('[RESPONSE: "Ja."] [SCRATCHPAD: „a“ ersetzen durch „b“]', "Ja.", ("„a“ ersetzen durch „b“",)),
        ('[RESPONSE: "It broke off here', "It broke off here", ()),
        ('[RESPONSE: "Yes\x1b[31m."]', "Yes.", ()),
    ],
)
def test_the_deciders_tags_are_read_as_models_write_them(answer: str, text: str, added: tuple[str, ...]) -> None:
    spoken = read_decider(answer)

    assert (spoken.text, spoken.added) == (text, added)


@pytest.mark.parametrize(
    ("answer", "text"),
    [("[STOP]", ""), ("STOP", ""), ("[DONE]", ""), ('[RESPONSE: "Fine." [STOP]]', "Fine."), ("[ stop ]", "")],
)
def test_the_researcher_stops_with_or_without_a_last_word(answer: str, text: str) -> None:
    spoken = read_researcher(answer)

    assert spoken.stops
    assert spoken.text == text


@pytest.mark.parametrize("answer", ["", "Yes, do that.", "[SCRATCHPAD: x]", "[RESPONSE: ]"])
def test_a_decider_without_a_response_is_unusable(answer: str) -> None:
    with pytest.raises(Unusable, match="RESPONSE"):
        read_decider(answer)


def test_a_final_text_that_lacks_a_section_is_unusable() -> None:
    task, _ = pair()

    with pytest.raises(Unusable, match="the section 'Easy answer' is missing"):
        task.read("## Short answer\nA.\n## Answer\nB.\n## Easy answer\n")


@pytest.mark.parametrize(
    ("text", "numbers"), [("1,3", (1, 3)), (" 3, 1,1 ", (1, 3)), ("all", (1, 2, 3)), ("none", ()), ("None", ())]
)
def test_a_choice_names_lines_of_the_scratchpad(text: str, numbers: tuple[int, ...]) -> None:
    choice = Choice.parse(text)

    assert choice.of(["a", "b", "c"]) == numbers
    assert Choice.parse(choice.as_text()) == choice


def test_lines_that_are_not_there_are_refused() -> None:
    with pytest.raises(BadData, match="There is no line 4 on the scratchpad: it has 3"):
        Choice.parse("1,4").of(["a", "b", "c"])
    with pytest.raises(BadData, match="names no lines"):
        Choice.parse("first")


def test_a_section_that_changed_without_a_line_that_names_it_is_pointed_out() -> None:
    task, draft = pair()
    changed = {**draft.texts, "short_answer": "Another.", "easy_answer": "Another."}
    turns = (Turn("decider", "Yes.", ("Short answer: make it another.",)),)
    done = Discussed(draft.texts, Discussion(turns, "stop"), (1,), changed)

    assert unasked(task.sections, done) == ["Easy answer"]
    assert "Look closely: changed though no accepted line names it: Easy answer" in discussed_page(
        "P", task, done, "en"
    )


def test_a_line_about_the_short_answer_names_no_other_in_german_either() -> None:
    sections = load_texts("de").tasks["pair"].sections

    assert named_sections(sections, "Kurzantwort: kürzen") == {"short_answer"}
    assert named_sections(sections, "Antwort: kürzen") == {"answer"}
    assert named_sections(sections, "Antwort in einfacher Sprache: kürzen") == {"easy_answer"}


def test_a_scratchpad_written_as_a_json_list_has_a_line_for_each_entry() -> None:
    spoken = read_decider('[RESPONSE: "Ja."] [SCRATCHPAD: ["Kurzantwort: kürzen", "Antwort: [1] nennen"]]')

    assert spoken.added == ("Kurzantwort: kürzen", "Antwort: [1] nennen")


def test_an_accepted_line_that_changed_nothing_is_said() -> None:
    task, draft = pair()
    turns = (Turn("decider", "Yes.", ("Short answer: make it another.", "Answer: another.", "Plain words.")),)
    changed = {**draft.texts, "answer": "Another."}
    done = Discussed(draft.texts, Discussion(turns, "stop"), (1, 2, 3), changed)

    assert undone(task.sections, done) == [1]
    page = discussed_page("P", task, done, "en")
    assert "**Accepted, and not done: line 1. What it names is unchanged.**" in page


SHORT, LONG, EASY = "It may hurt.", "It may hurt for a moment.", "It may hurt. Say so."


@pytest.mark.parametrize(
    ("line", "unasked_too", "put_back"),
    [
        ("Answer: name the moment.", False, {"short_answer", "easy_answer"}),
        ("Answer: name the moment.", True, set()),
        ("Short answer and easy answer: shorten both.", False, {"answer"}),
        ("Easy answer: as in the short answer, add a sentence.", False, {"answer"}),
        ("Use plain words throughout.", False, set()),  # it may mean any section
        ("Throughout: plain words, also in the answer.", False, set()),
    ],
)
def test_what_no_accepted_line_asks_for_stays_as_it_was(line: str, unasked_too: bool, put_back: set[str]) -> None:
    task, draft = pair()
    answers = {
        "turn/1/researcher": '[RESPONSE: "One thing."]',
        "turn/2/decider": f'[RESPONSE: "Yes."] [SCRATCHPAD: "{line}"]',
        "turn/3/researcher": "[STOP]",
        "final/1": f"## Short answer\n{SHORT}\n## Answer\n{LONG}\n## Easy answer\n{EASY}",
    }

    done: Discussed = script(lambda: improve(task, draft.texts, Choice((1,), unasked_too)), by_id(answers))[0]

    written = {"short_answer": SHORT, "answer": LONG, "easy_answer": EASY}
    assert set(done.put_back) == put_back
    assert done.final == {key: draft.texts[key] if key in put_back else text for key, text in written.items()}
    page = discussed_page("P", task, done, "en")
    assert ("`--keep-unasked` takes its version" in page) == bool(put_back)


def test_a_correction_that_all_but_repeats_another_is_shown_with_its_number() -> None:
    sections = TEXTS.tasks["pair"].sections
    line = "Answer: say that the pressure lasts for about five to fifteen seconds for each of the four images"

    shown = told_twice(sections, [line, f"Easy {line.lower()}", f"{line}.", "Answer: say what a port is."])

    assert [each.rpartition(" (")[2] for each in shown if "nearly" in each] == ["nearly the same as 1)"]
    assert shown[2].startswith(f"{line}. (nearly")


def test_a_draft_has_new_texts_and_nobodys_review() -> None:
    first, *_ = DRAFT.pair.extracts
    record = DRAFT.with_texts({"answer": "New."})
    with_a_sentence = DRAFT.with_texts({"answer": f"New. {first.text}"})

    assert (record["id"], record["answer"], record["question"]) == ("pain", "New.", DRAFT.pair.question)
    assert record["review"] == {"status": "draft", "by": None, "on": None, "valid_until": None}
    assert len(record["variants"]) == len(DRAFT.pair.variants)
    assert "extracts" not in record
    assert with_a_sentence["extracts"] == [first.model_dump(mode="json")]


@pytest.mark.parametrize(("language", "other"), [("de", "en"), ("en", "de")])
def test_prompts_have_the_same_slots_in_both_languages(language: str, other: str) -> None:
    def slots(value: Any, place: str = "") -> dict[str, set[str]]:
        if isinstance(value, dict):
            return {key: found for name, each in value.items() for key, found in slots(each, f"{place}.{name}").items()}
        return {place: set(re.findall(r"\$(\w+)", value))} if isinstance(value, str) else {}

    assert slots(load_texts(language).model_dump()) == slots(load_texts(other).model_dump())

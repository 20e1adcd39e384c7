"""Votes on short answers, concepts of two texts, the corruption experiment's table, and raters' forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot import BadData
from harness.authoring.discussion.concepts import Overlap, extract, f1_of
from harness.authoring.discussion.corruption import Corrected, Experiment, corruption_experiment, table_of
from harness.authoring.discussion.dialogue import Discussion, Ended
from harness.authoring.discussion.rating_form import rating_form, tally
from harness.authoring.discussion.short_answers import Dispute, Opinion, ShortCase, Votes, advise, open_answer
from harness.authoring.discussion.texts import Task, load_texts
from harness.authoring.working import advance
from tests.harness.authoring.test_discussion import by_id, script

TEXTS = load_texts("en")
SUMMARY = TEXTS.tasks["summary"]
SCORED = [section for section in SUMMARY.sections if section.scored]
VERDICTS = ("incorrect", "partial", "correct")
WHOLE = "\n".join(f"## {section.title}\n{{}}" for section in SUMMARY.sections)
DISPUTE = Dispute("q1", "May I drive?", "You may drive at once.", (Opinion("correct"), Opinion("partial", ("buried",))))


def test_the_answer_with_most_votes_counts_and_the_first_among_equals() -> None:
    assert Votes(("b", "a", "A.", "c", "b")).counts == [("b", 2), ("a", 2), ("c", 1)]
    assert Votes(("b", "a", "A.", "c", "b")).winner == "b"
    assert Votes(()).winner is None
    assert Votes(("x", "x", "y", "x")).as_text() == "x: 75%, y: 25%"


def test_advice_rests_on_five_votes_before_and_after_and_shows_no_raters_name() -> None:
    prompts: list[str] = []

    def reply(id_: str, prompt: str) -> str:
        prompts.append(prompt)
        kind = id_.removeprefix("q1/")
        if kind.startswith("vote/"):
            return "partial" if kind[-1] in "12" else "It is correct."
        if kind.startswith("final/"):
            return "Answer: correct"
        return {
            "opening": "It stands there.",
            "1/researcher": 'Look at "at once".',
            "1/decider": "Answer: correct\nResponse: It does.",
            "2/researcher": "[STOP]",
        }[kind]

    (advice,) = script(lambda: advise(TEXTS, [DISPUTE], verdicts=VERDICTS), reply)[0]

    assert dict(advice.before.counts) == {"correct": 3, "partial": 2}
    assert dict(advice.after.counts) == {"correct": 5}
    assert (advice.after.winner, advice.discussion.ended) == ("correct", "stop")
    assert [turn.text for turn in advice.discussion.turns] == [
        "It stands there.",
        'Look at "at once".',
        "It does. (Answer: correct)",
    ]
    assert "- Rating A: correct\n- Rating B: partial (buried)" in prompts[0]
    assert any("partial: 40%" in prompt for prompt in prompts)


def test_no_rater_is_left_out_of_a_dispute() -> None:
    many = Dispute("q1", "May I drive?", "At once.", tuple(Opinion("partial", (), f"remark {n}") for n in range(1, 31)))

    (first, *_) = advance(advise(TEXTS, [many], verdicts=VERDICTS), {}).waiting
    prompt = str(first.messages)

    assert all(f"remark {number}" in prompt for number in (1, 9, 26, 30))
    assert "Rating Z: partial" in prompt
    assert "Rating AD: partial" in prompt


def test_votes_that_name_no_verdict_or_several_do_not_count() -> None:
    def reply(id_: str, _: str) -> str:
        return "correct or partial" if id_.startswith(("q1/vote/1", "q1/vote/2")) else "incorrect"

    (advice,) = script(
        lambda: advise(TEXTS, [DISPUTE], verdicts=VERDICTS),
        lambda id_, prompt: "[STOP]" if "researcher" in id_ else reply(id_, prompt),
    )[0]

    assert advice.before.given == ("incorrect",) * 3


@pytest.mark.parametrize(
    ("said", "similar"),
    [
        ("5 s | ten | 0.5\n5 s | 5 s | 1", (0.5, 1.0)),
        ("5 s | ten | 0,25\n5 s | 5 s | 100", (0.25, 0.0)),
        ("a | b | 100\na | c | 100", (1.0, 1.0)),
    ],
)
def test_open_answers_are_compared_exactly_and_by_similarity(said: str, similar: tuple[float, float]) -> None:
    case = ShortCase("c", "How long?", "Answer in a phrase.")

    def reply(id_: str, _: str) -> str:
        kind = id_.removeprefix("c/")
        fixed = {"similar": said, "exact/before": "Answer: False", "exact/after": "**True**. Explanation: same"}
        if kind in fixed:
            return fixed[kind]
        return "[STOP]" if "researcher" in kind else "ten" if kind.startswith("vote") else "5 s"

    compared = script(lambda: open_answer(TEXTS, case, "5 s"), reply)[0]

    assert (compared.answer.before.winner, compared.answer.after.winner) == ("ten", "5 s")
    assert compared.exact == (False, True)
    assert compared.similar == similar


def test_a_question_without_a_usable_vote_is_not_exact_and_nobody_is_asked_about_it() -> None:
    case = ShortCase("c", "How long?", "Answer in a phrase.")

    compared, _ = script(lambda: open_answer(TEXTS, case, "5 s"), lambda id_, _: "" if "vote" in id_ else "asked")

    assert (compared.exact, compared.similar) == ((False, False), (0.0, 0.0))


def concepts(**lists: list[str]) -> str:
    return "Here you are:\n```json\n" + json.dumps({key.capitalize(): found for key, found in lists.items()}) + "\n```"


def found(**lists: tuple[list[str], list[str]]) -> str:
    return json.dumps(
        {key.capitalize(): {"found_b": yes, "not_found_b": no} for key, (yes, no) in lists.items()}, ensure_ascii=False
    )


def test_f1_is_the_harmonic_mean_of_what_was_found_both_ways() -> None:
    text = {section.key: "…" for section in SUMMARY.sections}
    mine = {"positives": ("pain", "lump", "rash"), "negatives": (), "unknowns": ("pill",), "history": ()}
    truth = {"positives": ("pain", "lump"), "negatives": (), "unknowns": (), "history": ("surgery",)}
    answers = {
        "precision": found(reported=(["pain", "Lump"], ["rash"]), open=([], ["pill"])),
        "recall": found(reported=(["pain"], ["lump"]), history=([], ["surgery"])),
    }

    overlaps = script(lambda: f1_of(TEXTS, SCORED, (text, mine), (text, truth), name=""), by_id(answers))[0]

    assert overlaps is not None
    assert overlaps["positives"] == Overlap(2, 3, 1, 2)
    assert overlaps["positives"].f1 == pytest.approx(2 * (2 / 3) * 0.5 / (2 / 3 + 0.5))
    assert overlaps["negatives"].f1 is None  # neither text has any
    assert (overlaps["unknowns"].f1, overlaps["history"].f1) == (0.0, 0.0)


def test_a_verification_that_leaves_a_concept_out_is_unusable() -> None:
    text = {section.key: "…" for section in SUMMARY.sections}
    both = {"positives": ("pain", "lump"), "negatives": (), "unknowns": (), "history": ()}
    silent = found(reported=(["pain"], []))
    answers = dict.fromkeys(["precision", "precision#2", "recall", "recall#2"], silent)

    result, unusable = script(lambda: f1_of(TEXTS, SCORED, (text, both), (text, both), name=""), by_id(answers))

    assert result is None
    assert unusable["precision"] == "it says nothing of 1 of 2 concepts of 'Reported'"


@pytest.mark.parametrize("answer", ["", "no JSON", '{"Other": []}', '{"Reported": "pain"}'])
def test_concepts_that_cannot_be_read_are_unusable(answer: str) -> None:
    text = {section.key: "…" for section in SUMMARY.sections}
    answers = {"concepts": answer, "concepts#2": answer}

    result, unusable = script(lambda: extract(TEXTS, SCORED, text, name=""), by_id(answers))

    assert result is None
    assert "concepts" in unusable


def test_an_extraction_that_leaves_a_section_out_is_unusable_and_an_empty_list_is_not() -> None:
    text = {section.key: "…" for section in SUMMARY.sections}
    named = {"reported": ["pain"], "denied": [], "open": []}
    answers = {"concepts": concepts(**named), "concepts#2": concepts(**named, history=[])}

    first, unusable = script(lambda: extract(TEXTS, SCORED, text, name=""), by_id({**answers, "concepts#2": "none"}))
    second, _ = script(lambda: extract(TEXTS, SCORED, text, name=""), by_id(answers))

    assert first is None
    assert unusable
    assert second == {"positives": ("pain",), "negatives": (), "unknowns": (), "history": ()}


def test_the_baseline_is_the_first_pass_of_the_same_discussion() -> None:
    task = Task(TEXTS, SUMMARY, "Patient: pain on the left", {"exam": "mammography"})
    asked: list[str] = []

    def reply(id_: str, prompt: str) -> str:
        asked.append(id_)
        kind = id_.removeprefix("c1/").removeprefix("5/")
        if kind in ("truth", "corrupted") or "final" in kind:
            assert kind != "corrupted" or "Desired Corruption Level: 5/10" in prompt
            return WHOLE.replace("{}", f"text of {kind}")
        if "concepts" in kind:
            return concepts(reported=["pain"], denied=[], open=[], history=[])
        if kind.endswith(("precision", "recall")):
            right = "dialogue" in kind or ("baseline" in kind and "recall" in kind)
            return found(reported=(["pain"], []) if right else ([], ["pain"]))
        turns = {
            "turn/1/researcher": '[RESPONSE: "First."]',
            "turn/2/decider": '[RESPONSE: "Yes."] [SCRATCHPAD: "One."]',
            "turn/3/researcher": '[RESPONSE: "Second."]',
            "turn/4/decider": '[RESPONSE: "Yes."] [SCRATCHPAD: "Two."]',
            "turn/5/researcher": "[STOP]",
        }
        return turns[kind]

    done = script(lambda: corruption_experiment({"c1": task}, [5]), reply)[0]
    rows = table_of([done["c1"]], SUMMARY.sections, [5])

    assert {id_ for id_ in asked if "final" in id_} == {"c1/5/baseline/final/1", "c1/5/dialogue/final/1,2"}
    assert [(row.version, row.sections["positives"], row.average, row.n) for row in rows] == [
        ("initial", 0.0, 0.0, 1),
        ("baseline", 0.0, 0.0, 1),
        ("dialogue", 100.0, 100.0, 1),
    ]
    assert rows[0].sections["negatives"] is None


NONE, ALL, HALF = Overlap(0, 0, 0, 0), Overlap(1, 1, 1, 1), Overlap(1, 1, 1, 2)


def corrected(ended: Ended = "stop", **versions: Overlap) -> Experiment:
    """What came of a conversation at level 3, the same in each section."""
    overlaps = {version: {section.key: one for section in SCORED} for version, one in versions.items()}
    return Experiment({}, (Corrected(3, {version: {} for version in versions}, Discussion((), ended), overlaps),))


def test_rows_of_a_level_are_over_the_same_conversations_and_the_others_are_said() -> None:
    table = [
        corrected(initial=HALF, baseline=HALF, dialogue=ALL),
        corrected(initial=ALL),  # the corrected texts could not be scored
        corrected("unusable", initial=HALF, baseline=HALF, dialogue=HALF),
        Experiment(None, ()),
    ]

    rows = table_of(table, SUMMARY.sections, [3])

    assert [(row.version, row.n, row.average and round(row.average, 1)) for row in rows] == [
        ("initial", 1, 66.7),
        ("baseline", 1, 66.7),
        ("dialogue", 1, 100.0),
    ]
    assert rows[0].left_out == {
        "a corrected text, or what it was scored by, could not be read": 1,
        "the discussion ended as an answer could not be used": 1,
        "no text to correct could be read": 1,
    }


def test_who_takes_out_what_was_invented_in_an_empty_section_gains_by_it() -> None:
    invented = {**dict.fromkeys((section.key for section in SCORED), ALL), "negatives": Overlap(0, 1, 0, 0)}
    mended = {**invented, "negatives": NONE}
    versions = {"initial": invented, "baseline": invented, "dialogue": mended}
    one = Corrected(3, {version: {} for version in versions}, Discussion((), "stop"), versions)

    rows = table_of([Experiment({}, (one,))], SUMMARY.sections, [3])

    assert [(row.sections["negatives"], row.counted["negatives"]) for row in rows] == [(0.0, 1), (0.0, 1), (100.0, 1)]
    assert [row.average for row in rows] == [75.0, 75.0, 100.0]


def filled(**answers: str) -> str:
    lines = rating_form(TEXTS.form).splitlines()
    wanted = {
        "preferred,": "A",
        "captured,A": "all",
        "captured,B": "most",
        "agreed,": "all",
        "harmful,A": "no",
        "harmful,B": "yes",
    }
    rows = [lines[0]]
    for line in lines[1:]:
        key = ",".join(line.split(",")[:2])
        rows.append(line + answers.get(key.replace(",", "_").strip("_"), wanted[key]))
    return "\n".join(rows)


def test_forms_are_counted_for_the_text_that_was_behind_the_letter(tmp_path: Path) -> None:
    (one := tmp_path / "form-anna.csv").write_text(filled())
    (two := tmp_path / "form-ben.csv").write_text(filled(preferred="b", agreed="Some"))

    counted = tally([(one, True), (two, False)], TEXTS.form)  # the final text was A for the first, B for the second

    assert counted.n == 2
    assert counted.preferred == {"final": 2}
    assert counted.captured["final"] == {"all": 1, "most": 1}
    assert counted.harmful["initial"] == {"yes": 1, "no": 1}
    assert counted.agreed == {"all": 1, "some": 1}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (filled(preferred="C"), "preferred has the answer 'C'. Write one of: A, B"),
        (filled(harmful_B=""), "harmful B has the answer ''"),
        ("\n".join(line for line in filled().splitlines() if "harmful,B" not in line), "has no line for harmful B"),
        (filled().replace("agreed", "liked"), "asks 'liked', which no form asks"),
        ("", "has no column 'question'"),
    ],
)
def test_a_form_that_is_not_filled_in_is_refused_with_the_place(tmp_path: Path, content: str, said: str) -> None:
    (path := tmp_path / "form-anna.csv").write_text(content)

    with pytest.raises(BadData) as refused:
        tally([(path, True)], TEXTS.form)

    assert said in str(refused.value)

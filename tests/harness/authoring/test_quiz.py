"""Quizzes are begun, answered, criticised and corrected as MCQG-C++ does it, and what models write is read defensively."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import BadData
from bot.testing import HashEncoder
from harness.authoring.quiz.asking import Quiz, load_texts, read_attempt, read_distractors, read_preference, read_quiz
from harness.authoring.quiz.bank import LateInteraction, load_bank, load_outline
from harness.authoring.quiz.blind import Judgement, Side, as_form, blind_table, by_model, key_of, read_forms
from harness.authoring.quiz.making import remarks
from harness.authoring.quiz.report import Made, Provenance, agreement_lines, write_result
from harness.authoring.quiz.rubric import COMPONENTS, KINDS, PUBLISHED, Critique, Kind, load_rubric, read_critique
from harness.authoring.quiz.tables import TEN, first_and_kept, round_tables, topic_counts
from harness.authoring.working import Ask, Unusable, advance
from tests.harness.authoring.quizzes import CASE, finished, made, making, scores, scripted

ROUNDS = 4


def test_the_exam_rubric_has_the_thirty_aspects_of_the_paper_and_examples_score_them_all() -> None:
    assert sum(map(len, PUBLISHED.values())) == 30
    for language in ("de", "en"):
        exam = load_rubric("exam", language)
        assert {part: tuple(exam.of(part)) for part in COMPONENTS} == dict(PUBLISHED)
        assert len(load_outline("exam", language).topics) == 41
        for kind in KINDS:
            rubric, bank = load_rubric(kind, language), load_bank(kind, language)
            assert {part: set(bank.worked.scored[part]) for part in COMPONENTS} == {
                part: set(rubric.of(part)) for part in COMPONENTS
            }
            assert sum(bool(one.reasoning) for one in bank.examples) >= 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question": {"clear": {}, "witty": {}}}, "the question has no aspect 'witty' (known, for example:"),
        ({"humour": {"clear": {}}}, "there is no component 'humour' (known: context, question, answer"),
        ({"answer": {}}, "has no aspect of the answer. Give every component at least one."),
    ],
)
def test_a_rubric_with_what_is_not_known_is_refused_in_one_line(
    change: dict[str, dict[str, dict[str, str]]], said: str, tmp_path: Path
) -> None:
    aspect = {"label": "Name", "asks": "Ist es so?"}
    aspects = {part: {keys[0]: aspect} for part, keys in PUBLISHED.items()}
    aspects |= {part: dict.fromkeys(keys, aspect) for part, keys in change.items()}  # type: ignore[misc]
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump({"kind": "exam", "aspects": aspects}), encoding="utf-8")

    with pytest.raises(BadData) as caught:
        load_rubric(str(file), "de")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_components_are_asked_for_in_sequence_with_examples_cut_to_what_a_step_needs() -> None:
    quizzes = making()
    seen: dict[str, str] = {}

    def reply(ask: Ask[Any]) -> str:
        seen[ask.id] = ask.messages[-1]["content"]
        return scripted(ask)

    finished(lambda: quizzes.all([CASE]), reply)

    assert list(seen)[:5] == ["context/deo", "question/deo", "answer/deo", "distractors/deo", "attempt/deo/1"]
    head = {step: seen[f"{step}/deo"].partition("Schreiben Sie")[0] for step in ("context", "question", "answer")}
    assert [head["context"].count(f"\n{name}: ") for name in ("Kontext", "Frage", "Richtige Antwort")] == [3, 0, 0]
    assert [head["question"].count(f"\n{name}: ") for name in ("Kontext", "Frage", "Richtige Antwort")] == [3, 3, 0]
    assert [head["answer"].count(f"\n{name}: ") for name in ("Kontext", "Frage", "Richtige Antwort")] == [3, 3, 3]
    assert "Frau Berger hat am Morgen Deo benutzt" in seen["question/deo"]
    assert "Richtige Antwort" not in seen["attempt/deo/1"].rpartition("Beantworten Sie")[2]
    assert seen["correct/deo/1"].count("Grund ") == load_rubric("teach-back", "de").count


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_prompt_is_filled_in_for_each_kind_and_language(kind: Kind, language: str) -> None:
    quizzes = making(kind, language, judge=True)
    case = replace(CASE, topic="", key_point="")
    prompts: dict[str, str] = {}

    def reply(ask: Ask[Any]) -> str:
        prompts[ask.id] = ask.messages[-1]["content"]
        step, *_, part = ask.id.split("/")
        if step == "critique":
            return scores(part, 4 if "Fassung" in prompts[ask.id] else 3, kind, language)  # type: ignore[arg-type]
        topics = json.dumps({"topics": quizzes.outline.topics[:9]})
        return scripted(ask, topics=topics) if step == "topics" else scripted(ask)

    advanced = finished(lambda: quizzes.all([case]), reply)

    assert advanced.result is not None
    assert (advanced.result[0].stopped, advanced.unusable) == ("last round", {})
    assert len(prompts) == 2 + 4 + 4 * 6 + 3 + 2
    assert [id_ for id_, text in prompts.items() if re.search(r"\$\w", text)] == []
    german = [id_ for id_, text in prompts.items() if re.search(r"\b(Kontext|Frage|Thema|Ausgangstext): ", text)]
    assert (len(german) == 0) == (language == "en")


def test_a_growing_query_finds_other_examples() -> None:
    finder, bank = LateInteraction(HashEncoder()), load_bank("teach-back", "de").examples

    first = finder.examples("Deo abwischen", bank, 1)
    grown = finder.examples(
        "Deo abwischen Wofür ist der kleine Gummiball in der Hand von Frau Demir im MRT da?", bank, 1
    )

    assert first != grown
    assert grown[0].key_point == "im MRT jederzeit klingeln"
    assert finder.points("", "", ["eins"], 8) == ["eins"]


def test_below_ninety_per_cent_it_is_corrected_until_the_fourth_round_and_the_best_version_is_kept() -> None:
    (track,) = made(partial(scripted, score=lambda number: 4 if number == 2 else 3))

    assert [one.number for one in track.rounds] == [1, 2, 3, ROUNDS]
    assert (track.stopped, track.found_by) == ("last round", "person")
    assert [one.points for one in track.rounds] == [0.6, 0.8, 0.6, 0.6]
    assert track.best is track.rounds[1]
    assert track.best.quiz.context == "Fassung 1 nach der Kritik."


@pytest.mark.parametrize(
    ("low", "score", "rounds"),
    [("question", 3.0, 1), ("distractors", 3.0, 4), ("", 5.0, 1)],  # 143, 139 and 155 of 155 points; the limit is 139.5
)
def test_from_ninety_per_cent_on_it_is_good_enough(low: str, score: float, rounds: int) -> None:
    def reply(ask: Ask[Any]) -> str:
        part = ask.id.rpartition("/")[2]
        return scores(part, score) if part == low else scripted(ask, score=lambda _: 5)  # type: ignore[arg-type]

    (track,) = made(reply)

    assert (len(track.rounds), track.stopped) == (rounds, "good enough" if rounds == 1 else "last round")


def test_exactly_ninety_per_cent_are_enough() -> None:
    (track,) = made(partial(scripted, score=lambda _: 4.5))

    assert track.rounds[0].points == pytest.approx(0.9)
    assert track.stopped == "good enough"


def test_points_end_the_rounds_and_the_total_of_the_tables_is_the_mean_of_the_components_as_in_the_paper() -> None:
    def reply(ask: Ask[Any]) -> str:
        part = ask.id.rpartition("/")[2]  # of the context there are eight aspects, of the reasoning four
        return scores(part, 0) if part == "reasoning" else scripted(ask, score=lambda _: 5)  # type: ignore[arg-type]

    (track,) = made(reply)
    first = track.rounds[0]
    table = round_tables([track])
    ten = first_and_kept([track])

    assert first.points == pytest.approx(27 / 31)
    assert first.total == pytest.approx(4 / 5)
    assert track.stopped == "last round"
    for row in ("total", "carried on"):
        assert [cell.mean for cell in table.scores[row] if cell] == pytest.approx([0.8] * ROUNDS)
    assert ten.means["total"] == pytest.approx((0.8, 0.8))  # six of eight aspects would be 0.75
    assert ten.aspects == 8
    assert (first.as_json()["points"], first.as_json()["total"]) == pytest.approx((27 / 31, 0.8))


def test_what_cannot_be_read_ends_a_quiz_without_a_score_and_is_never_scored_zero() -> None:
    (unmade,) = made(partial(scripted, distractors="Falsche Antworten:\n- Sie wischt es ab."))
    (unanswered,) = made(partial(scripted, attempt="Antwort: Z\nBegründung: Weil."))
    (unscored,) = made(partial(scripted, critique='{"relevant": 4}'))
    (uncorrected,) = made(partial(scripted, correct="Gern!"))

    assert (unmade.stopped, unmade.rounds, unmade.best) == ("no question", (), None)
    for track in (unanswered, unscored):
        assert (track.stopped, len(track.rounds), track.rounds[0].points) == ("unscored", 1, None)
        assert track.best is track.rounds[0]
    assert (uncorrected.stopped, len(uncorrected.rounds)) == ("no correction", 1)
    tables = round_tables([unmade, unanswered, unscored])
    assert tables.scores["total"] == (None,) * ROUNDS
    assert tables.figures["answered right"][0] is not None
    assert tables.figures["answered right"][0].n == 1


def test_topics_and_points_are_found_where_nobody_gave_them() -> None:
    case = replace(CASE, topic="", key_point="", facets=("washing",))
    quizzes = making(topics=2)
    advanced = finished(lambda: quizzes.all([case]), partial(scripted, score=lambda _: 5))

    assert advanced.result is not None
    assert [(track.id, track.case.topic, track.case.key_point) for track in advanced.result] == [
        ("deo-1", "Was man mitbringt", "Deo abwischen"),
        ("deo-2", "Wie man sich vorbereitet", "Deo abwischen"),
    ]
    assert {track.found_by for track in advanced.result} == {"model"}
    asked = advance(quizzes.all([case]), {}).waiting[0].messages[-1]["content"]
    assert "höchstens 5 Themen" in asked


def test_no_two_quizzes_of_several_cases_have_one_id() -> None:
    cases = [replace(CASE, id=id_, topic="", key_point="") for id_ in ("deo", "deo-2")]
    advanced = finished(lambda: making(topics=2).all(cases), partial(scripted, score=lambda _: 5))

    assert advanced.result is not None
    assert [track.id for track in advanced.result] == ["deo-1", "deo-3", "deo-2-1", "deo-2-2"]


def test_the_json_object_that_was_asked_for_is_read_and_not_another_before_it() -> None:
    thought = '{"reason": "…"}'

    assert read_distractors(f'{thought} {{"distractors": ["eins", "zwei"]}}', "drei") == ("eins", "zwei")
    assert read_quiz(
        f'{thought} {{"context": "c", "question": "q", "answer": "a", "distractors": ["eins", "zwei"]}}'
    ) == Quiz("c", "q", "a", ("eins", "zwei"))
    assert read_attempt(f'{thought} {{"answer": "B", "reasoning": "r"}}', OPTIONS, OPTIONS[1]).chosen == OPTIONS[1]


def test_the_order_of_options_depends_on_quiz_and_round_only() -> None:
    quiz = Quiz("", "", "a", ("b", "c", "d", "e"))

    assert quiz.shuffled("x/1") == quiz.shuffled("x/1")
    assert len({quiz.shuffled(f"x/{number}") for number in range(9)}) > 3
    assert sorted(quiz.shuffled("x/1")) == ["a", "b", "c", "d", "e"]


OPTIONS = ("Sie wartet ab.", "Sie ruft an.", "Sie geht heim.")


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("Antwort: B\nBegründung: Weil.", "Sie ruft an."),
        ("**Correct answer:** (b) Sie ruft an.\n**Reasoning:** So.", "Sie ruft an."),
        ('{"answer": "Sie wartet ab", "reasoning": "Nein."}', "Sie wartet ab."),
        ("Begründung: Erst denken.\nAntwort: Option C", "Sie geht heim."),
        ("Erst denken.\nAntwort: B, „Sie ruft an.“, und nicht „Sie wartet ab.“", "Sie ruft an."),
        ("Erst denken.\nAntwort: B, und weder A noch C.", "Sie ruft an."),
    ],
)
def test_an_attempt_is_read_by_letter_or_words(text: str, chosen: str) -> None:
    attempt = read_attempt(text, OPTIONS, "Sie ruft an.")

    assert (attempt.chosen, attempt.right) == (chosen, chosen == "Sie ruft an.")


@pytest.mark.parametrize(
    "text",
    [
        *("", "Antwort: F\nBegründung: x", "Antwort: Beides\nBegründung: x", "Antwort: B", "Nein."),
        *("Erst denken.\nAntwort: B, nicht „Sie wartet ab.“", "Antwort: A: Sie ruft an.\nBegründung: x"),
    ],
)
def test_an_attempt_that_is_not_clear_is_unusable(text: str) -> None:
    with pytest.raises(Unusable):
        read_attempt(text, OPTIONS, "Sie ruft an.")


@pytest.mark.parametrize(
    ("said", "options", "chosen"),
    [
        ("A lump", ("A rash", "A lump"), "A lump"),
        ("A lump, since it is hard", ("A rash", "A lump"), "A lump"),
        ("B. A lump", ("A rash", "A lump"), "A lump"),
        ("Sie wartet ab", ("Sie wartet", "Sie wartet ab"), "Sie wartet ab"),
        ("Nur Tee", ("Tee", "Tees"), "Tee"),
        ("B", ("Vitamin A", "Vitamin B"), "Vitamin B"),
    ],
)
def test_an_option_that_begins_like_a_letter_or_lies_in_another_is_read_by_its_words(
    said: str, options: tuple[str, ...], chosen: str
) -> None:
    assert read_attempt(f"Because.\nAnswer: {said}", options, "x").chosen == chosen


def test_a_letter_that_names_one_option_and_is_another_is_unusable() -> None:
    with pytest.raises(Unusable, match="its words are of another"):
        read_attempt("Because.\nAnswer: A", ("B", "A"), "A")


def test_a_critique_needs_one_score_from_nought_to_five_of_every_aspect() -> None:
    aspects = load_rubric("exam", "en").of("question")
    lines = "\n".join(f"- {one.label}: fine. Score: 4/5" for one in aspects.values())

    assert read_critique(lines, aspects).share == 0.8
    whole = json.dumps({key: {"feedback": "so", "score": 5} for key in aspects})
    assert read_critique(f"Here:\n```json\n{whole}\n```", aspects).feedback["clear"] == "so"
    for text in ("", "{}", whole.replace('"score": 5}}', '"score": 7}}'), whole[:60]):
        with pytest.raises(Unusable):
            read_critique(text, aspects)


def test_wrong_options_come_once_and_never_as_the_right_answer() -> None:
    assert read_distractors("1. Ja\n2) ja.\n- Nein\n• Vielleicht", "vielleicht") == ("Ja", "Nein")
    assert read_distractors('{"distractors": ["x", "y"]}', "z") == ("x", "y")
    assert len(read_distractors("\n".join(f"- {each}" for each in "abcdefgh"), "z")) == 5
    with pytest.raises(Unusable, match="1 wrong option"):
        read_distractors("- Ja", "Nein")


def test_a_whole_quiz_is_read_from_labels_or_json_and_is_never_endless() -> None:
    said = '{"context": "c", "question": "q?", "answer": "a", "distractors": ["b", "d"]}'

    assert read_quiz(said) == Quiz("c", "q?", "a", ("b", "d"))
    for text in ("Kontext: nur das", said.replace('"q?"', json.dumps("q" * 401)), said.replace('"a"', '""')):
        with pytest.raises(Unusable):
            read_quiz(text)
    with pytest.raises(Unusable, match="how difficult B is"):
        read_preference('{"better": "a", "difficulty_a": "easy", "difficulty_b": "so lala"}')


def test_a_rule_points_out_what_a_critic_may_miss() -> None:
    quiz = Quiz("Sie wischt es ab. Gut.", "Was?", "Sie wischt es 7 Minuten vorher ganz und gar ab.", ("Nein.", "Doch."))

    assert [each.split(":")[0] for each in remarks(CASE, quiz)] == [
        "The correct answer has numbers that the text lacks",
        "The correct answer is much longer than the others",
    ]
    assert remarks(
        CASE, replace(quiz, answer="Sie wischt es ab.", distractors=("Sie lässt es da.", "Sie geht heim."))
    ) == ["The correct answer stands in the context."]


def test_a_quiz_of_a_pair_that_the_assistant_could_not_ask_says_why() -> None:
    quiz = Quiz("Frau Berger kommt.", "Was?", "Abwischen", ("Warten", "Gehen", "Fragen", "Lassen"))
    attached = replace(CASE, pair_id="deodorant")

    assert remarks(CASE, quiz) == []
    assert remarks(attached, replace(quiz, distractors=quiz.distractors[:3])) == []
    assert remarks(attached, quiz) == [
        "The assistant cannot ask it, so cut it before you attach it: 5 options; a quiz has 2 to 4, the right answer among them."
    ]
    assert "context: String should have at most 600" in remarks(attached, replace(quiz, context="x" * 601))[0]
    wordy = replace(attached, topic="t" * 201, key_point="k" * 201)
    (said,) = remarks(wordy, replace(quiz, distractors=quiz.distractors[:3]))
    assert "topic: String should have at most 200" in said
    assert "key_point: String should have at most 200" in said


def test_the_tables_hold_scores_lengths_answers_and_key_points_by_round() -> None:
    (short,) = made(partial(scripted, score=lambda _: 5))
    (long_,) = made(partial(scripted, answer="Richtige Antwort: Deo abwischen!"))
    tables = round_tables([short, long_])

    assert tables.n == (2, 1, 1, 1)
    assert (tables.stopped, tables.rounds, tables.best) == ({"good enough": 1, "last round": 1}, {1: 1, 4: 1}, {1: 2})
    first, second = tables.scores["total"][:2]
    assert first is not None
    assert second is not None
    assert (first.mean, second.mean) == (0.8, 0.6)
    assert tables.scores["carried on"][1] is not None
    assert tables.scores["carried on"][1].mean == 0.8  # the one that is done keeps its 1.0
    same = [cell.mean if cell else None for cell in tables.figures["answer = key point"]]
    assert same == [0.5, 0.0, 0.0, 0.0]
    assert tables.correlations["words of the case"] == {"pearson": None, "spearman": None, "kendall": None}
    json.dumps(tables.as_json())


def test_first_and_kept_version_are_rated_by_the_ten_aspects_of_the_paper() -> None:
    better, same = made(partial(scripted, score=lambda number: number + 1))[0], made()[0]
    unscored = made(partial(scripted, critique="{}"))[0]

    table = first_and_kept([better, same, unscored])

    assert sum(map(len, TEN.values())) == 10
    assert all(set(keys) <= set(PUBLISHED[part]) for part, keys in TEN.items())
    assert table.means["total"] == pytest.approx((0.5, 0.8))  # 2 and 3 of 5, then 5 and 3
    assert (table.won, table.lost, table.tied) == (1, 0, 0)
    assert (table.n, table.unchanged) == (2, 1)
    assert first_and_kept([unscored]).means == {}


def test_topics_are_counted_by_who_found_them() -> None:
    (given,) = made(partial(scripted, score=lambda _: 5))
    found = [
        replace(given, id=topic, case=replace(given.case, topic=topic), found_by="model") for topic in ("a", "b", "b")
    ]

    assert topic_counts([given, *found]) == {"person": {"Wie man sich vorbereitet": 1}, "model": {"b": 2, "a": 1}}
    assert topic_counts([]) == {}


def test_a_correlation_needs_three_quizzes_that_differ(tmp_path: Path) -> None:
    quick = made(partial(scripted, score=lambda _: 5))[0]
    late = made(partial(scripted, score=lambda number: number))[0]
    tracks = [
        replace(track, case=replace(track.case, text=" ".join(["Wort"] * length)))
        for track, length in ((quick, 30), (late, 10), (late, 12))
    ]

    table = round_tables(tracks)
    found = table.correlations["words of the case"]
    rubric, texts = load_rubric("teach-back", "de"), load_texts("de")
    write_result(
        tmp_path, Made(tracks, {"all": table}, None, rubric, texts, None), Provenance({}, {}, "offline", {}, {})
    )

    assert found["pearson"] is not None
    assert found["pearson"] < -0.9
    page = (tmp_path / "result.md").read_text(encoding="utf-8")
    assert "Rounds: 1 took 1, 2 took 4. Best: 1 in round 1, 2 in round 4." in page
    assert re.search(r"Best round with the words of the case: pearson -(0\.9\d|1\.00), spearman -", page)
    assert not (tmp_path / "draft.yaml").exists()


def test_a_model_that_prefers_the_same_version_in_both_orders_is_counted_and_another_is_inconsistent() -> None:
    steady = made(partial(scripted, score=lambda number: number + 1), judge=True)
    biased = made(
        partial(
            scripted,
            score=lambda number: number + 1,
            judge='{"better": "a", "difficulty_a": "easy", "difficulty_b": "easy"}',
        ),
        judge=True,
    )

    row = blind_table(by_model([*steady, *biased])).rows["model"]

    assert (row["kept"], row["first"], row["inconsistent"], row["n"]) == (1, 0, 1, 2)
    assert row["difficulty_kept"] == {"easy": 3, "medium": 1, "hard": 0}  # of both orders
    assert by_model(made(judge=True)) == []  # the first version was kept: nothing to compare


def test_people_judge_blind_and_their_agreement_is_told(tmp_path: Path) -> None:
    tracks = [
        replace(track, id=f"q{number}")
        for number, track in enumerate(made(partial(scripted, score=lambda number: number + 1)) * 4)
    ]
    form, key = as_form(tracks), key_of(tracks)
    assert {side["a"] for side in key.values()} == {"first", "kept"}  # both orders occur
    assert "kept" not in form
    files = []
    for rater, wrong in (("anna", 0), ("ben", 1)):
        file = tmp_path / f"{rater}.csv"
        rows = ["rater,quiz,topic,key_point,a,b,better,difficulty_a,difficulty_b,errors_a,errors_b,remark"]
        for number, (quiz, sides) in enumerate(key.items()):
            better = "a" if (sides["a"] == "kept") != (number < wrong) else "B"
            rows.append(f"{rater},{quiz},,,,,{better},easy,hard,,zu lang,")
        file.write_text("\n".join(rows) + "\n", encoding="utf-8-sig")
        files.append(file)

    table = blind_table(read_forms(files, tracks))

    assert (table.rows["anna"]["kept"], table.rows["ben"]["kept"]) == (4, 3)
    agreed, kappa = table.agreement["anna", "ben"]
    assert (agreed.value, agreed.n, kappa.value) == (0.75, 4, 0.0)
    assert table.rows["anna"]["with_errors_first"] + table.rows["anna"]["with_errors_kept"] == 4


def test_every_two_raters_are_compared_and_the_model_by_its_consistent_verdicts() -> None:
    def said(rater: str, preferred: str) -> list[Judgement]:
        sides: dict[str, Side | None] = {"k": "kept", "f": "first", "t": "tie", "-": None}
        return [Judgement(rater, f"q{n}", sides[each], {}, {}) for n, each in enumerate(preferred) if each != " "]

    table = blind_table(
        [*said("model", "kk-f-f"), *said("cleo", "kkkf  "), *said("anna", "kkffff"), *said("ben", "    kt")]
    )

    assert list(table.agreement) == [
        ("anna", "ben"),
        ("anna", "cleo"),
        ("anna", "model"),
        ("ben", "model"),
        ("cleo", "model"),
    ]
    found = {pair: (agreed.value, agreed.n) for pair, (agreed, _) in table.agreement.items()}
    assert found["anna", "model"] == (1.0, 4)
    assert found["cleo", "model"] == (1.0, 3)
    assert found["anna", "cleo"] == (0.75, 4)
    assert found["ben", "model"] == (0.0, 1)
    assert table.agreement["anna", "cleo"][1].value == pytest.approx(0.5)
    assert table.agreement["anna", "model"][0].interval is not None
    assert table.rows["model"]["inconsistent"] == 2
    lines = list(agreement_lines(table))
    assert lines[1].startswith(
        "anna and cleo: the same preference in 75% (0.30 to 0.95) of 4 quizzes that both judged; "
    )
    assert lines[1].endswith("Cohen's kappa 0.500.")
    assert len(table.as_json()["agreement"]) == 5


def test_a_rater_who_judges_a_quiz_twice_is_refused_and_nobody_is_called_model(tmp_path: Path) -> None:
    tracks = made(partial(scripted, score=lambda number: number + 1))
    head = as_form([]).strip()
    for name, row in (
        ("one", "anna,deo,,,,,a,,,,,"),
        ("two", "anna,deo,,,,,b,,,,,"),
        ("three", "Model,deo,,,,,b,,,,,"),
    ):
        (tmp_path / name).write_text(f"{head}\n{row}\n", encoding="utf-8")

    with pytest.raises(BadData, match="two:2 judges 'deo' a second time as 'anna'"):
        read_forms([tmp_path / "one", tmp_path / "two"], tracks)
    with pytest.raises(BadData, match="three:2 has rater 'Model', which is what the model is called"):
        read_forms([tmp_path / "three"], tracks)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("anna,nope,,,,,a,,,,,", "is about 'nope', which has no two versions"),
        ("anna,deo,,,,,both,,,,,", "better 'both'. Write a name as rater, and a, b or tie as better."),
        (",deo,,,,,a,,,,,", "no rater"),
        ("anna,deo,,,,,a,tricky,,,,", "difficulty 'tricky'. Write easy, medium or hard"),
    ],
)
def test_a_form_with_a_mistake_is_refused_with_its_line(row: str, said: str, tmp_path: Path) -> None:
    tracks, file = made(partial(scripted, score=lambda number: number + 1)), tmp_path / "form.csv"
    head = as_form([]).strip()
    file.write_text(f"{head}\n{row}\n", encoding="utf-8")

    with pytest.raises(BadData) as caught:
        read_forms([file], tracks)
    assert said in str(caught.value)
    assert ":2 " in str(caught.value)

    file.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(BadData, match="has no column 'rater'"):
        read_forms([file], tracks)


def test_a_critique_is_told_to_the_corrector_aspect_by_aspect() -> None:
    aspects = load_rubric("exam", "en").of("reasoning")
    critique = Critique(dict.fromkeys(aspects, 4.0), {"evidence": "none given"})

    assert "- Evidence-based reasoning: none given 4/5" in critique.in_words(aspects)
    assert (critique.total, critique.most) == (16, 20)

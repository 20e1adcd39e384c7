"""Tasks, evaluators, folds, control cases and people's ranks of a ranking, without a model."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bot import BadData, Catalog, NearCopies, load_catalog, locate, split_sentences
from bot.testing import HashEncoder
from harness.authoring.ranking import raters
from harness.authoring.ranking import study as studies
from harness.authoring.ranking.asking import Plan, load_texts, read_items, read_text
from harness.authoring.ranking.evaluators import Case, EmbeddingEvaluator
from harness.authoring.ranking.raters import Form, Ranks, compared, correlation, read_ranks
from harness.authoring.ranking.study import CONTROLS, EVALUATORS, EXPERT, Study, friedman, run_study
from harness.authoring.ranking.tasks import (
    Item,
    QuizLine,
    falsified,
    quiz_item,
    read_candidates,
    read_quizzes,
    rule_items,
)
from harness.authoring.working import Unusable
from harness.judging.agreement import Ratings, alpha_ordinal, estimate

PAIRS = ["deodorant", "pain", "radiation", "jewellery", "compression", "ultrasound", "companion", "costs"]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(locate("mammography"), "de")


def _study(catalog: Catalog, pairs: Sequence[str] = PAIRS, folds: int = 4) -> tuple[Study, EmbeddingEvaluator]:
    words = load_texts("de")
    reading = EmbeddingEvaluator(HashEncoder(), words.rules.negations)
    pick = catalog.pair
    candidates = {
        EXPERT: {id_: pick(id_).easy_answer or "" for id_ in pairs},
        "whole": {id_: pick(id_).answer for id_ in pairs},
        "other": {id_: pick(other).answer for id_, other in zip(pairs, [*pairs[1:], pairs[0]], strict=True)},
    }
    return Study(catalog, candidates, rule_items(catalog, pairs, words.rules), words, reading, folds), reading


@pytest.mark.parametrize(
    ("lang", "sentence", "wrong"),
    [
        ("de", "Der Druck dauert etwa 15 Sekunden.", "Der Druck dauert etwa 45 Sekunden."),
        ("de", "Die Brust bekommt 0,4 Millisievert.", "Die Brust bekommt 1,2 Millisievert."),
        ("de", "Eine Bleischürze brauchen Sie nicht.", "Eine Bleischürze brauchen Sie."),
        ("de", "Ein Ultraschall ist in der Praxis möglich.", "Ein Ultraschall ist nicht in der Praxis möglich."),
        ("en", "Still water is good for you.", "Still water is not good for you."),
        ("en", "The breast gets 0.4 millisievert.", "The breast gets 1.2 millisievert."),
        ("en", "It costs 1,000 pounds.", "It costs 3,000 pounds."),
        ("en", "It costs 2,500.50 pounds.", "It costs 7,501.50 pounds."),
        ("en", "It costs 1000 pounds.", "It costs 3000 pounds."),
        ("de", "Es kostet 1.000 Euro.", "Es kostet 3.000 Euro."),
        ("de", "Es kostet 2.500,50 Euro.", "Es kostet 7.501,50 Euro."),
    ],
)
def test_a_sentence_is_made_false_in_one_place(lang: str, sentence: str, wrong: str) -> None:
    assert falsified(sentence, load_texts(lang).rules) == wrong


@pytest.mark.parametrize(
    ("lang", "sentence"), [("de", "Stand ist der 1.2."), ("en", "Stand 1.2.3 here."), ("en", "Of 1,00 women.")]
)
def test_what_is_no_number_of_the_language_is_not_multiplied(lang: str, sentence: str) -> None:
    changed = falsified(sentence, load_texts(lang).rules)

    assert changed is None or re.findall(r"\d+", changed) == re.findall(r"\d+", sentence)


def test_a_sentence_with_both_opposites_is_not_turned_into_nonsense() -> None:
    rules = load_texts("de").rules

    assert falsified("Die Brust wirkt vorher größer und nachher kleiner.", rules) is None


@pytest.mark.parametrize("lang", ["de", "en"])
def test_rules_make_as_many_true_as_false_statements_and_none_serves_two_tasks(catalog: Catalog, lang: str) -> None:
    content = catalog if lang == "de" else load_catalog(locate("mammography"), lang)
    items = rule_items(content, [pair.id for pair in content.pairs], load_texts(lang).rules)

    for task in ("truth", "entailment"):
        of_task = [item.right for item in items if item.task == task]
        assert of_task.count(0) == of_task.count(1) > 40
    assert {item.prompt for item in items if item.task == "truth"}.isdisjoint(
        item.prompt for item in items if item.task == "entailment" and item.right != 2
    )
    for item in items:
        if item.right == 2:
            assert item.prompt not in content.pair(item.pair_id).answer


ITEMS = {
    "true": ["Duschen ist am Tag erlaubt.", "Man darf vorher normal essen."],
    "false": ["Man muss nüchtern zum Termin kommen.", "Deo stört auf dem Bild nie."],
    "open": ["Kaffee ist vorher besser zu meiden."],
    "quiz": [
        {"question": "Was stört?", "options": ["Deo", "Wasser"], "right": "Deo"},
        {"question": "Was?", "options": ["x"], "right": "y"},
    ],
}


def test_tasks_of_a_model_are_read_and_a_broken_quiz_spoils_no_other() -> None:
    items = read_items(f"Gern:\n```json\n{json.dumps(ITEMS, ensure_ascii=False)}\n```", "preparation")

    assert [(item.task, item.options[item.right]) for item in items] == [
        ("entailment", "follows"),
        ("truth", "true"),
        ("entailment", "contradicts"),
        ("truth", "false"),
        ("entailment", "open"),
        ("quiz", "Deo"),
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Ich kann dabei leider nicht helfen.", "no JSON object"),
        (json.dumps({**ITEMS, "false": "keine"}), "2 true and 0 false"),
        (json.dumps({"true": [1, None, ["x"]], "false": {}}), "0 true and 0 false"),
    ],
)
def test_what_is_no_list_of_tasks_is_unusable(answer: str, reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        read_items(answer, "pain")


def test_a_candidate_is_read_without_fence_and_heading_and_an_essay_is_refused() -> None:
    assert read_text("```\nNeue Fassung: **Bitte**\nkein Deo.\n```") == "Bitte kein Deo."
    with pytest.raises(Unusable, match="250 words"):
        read_text("Wort " * 251)
    with pytest.raises(Unusable, match="empty"):
        read_text("``` ```")


def test_an_unknown_manner_is_refused_with_those_there_are(catalog: Catalog) -> None:
    with pytest.raises(BadData, match=r"no manner .rhymed.\. Known: plain, short, spoken, unaided"):
        Plan(catalog, ("pain",), ("rhymed",), True, load_texts("de"))


def test_no_evaluator_sees_a_pair_it_is_tested_on_nor_a_near_copy(catalog: Catalog) -> None:
    study, _ = _study(catalog)
    copied = Item("truth/costs/copy", "truth", "costs", study.items[0].prompt, ("true", "false"), 0, "model")
    items = [*[one for one in study.items if one.task == "truth"], copied]
    original = Item("truth/deodorant/x", "truth", "deodorant", study.items[0].prompt, ("true", "false"), 0, "rule")
    study.fold_of.update({id_: number % 4 for number, id_ in enumerate(PAIRS)})  # deodorant in 0, costs in 3
    for name in EVALUATORS:
        known, dropped = studies._training(study, name, [*items, original], 0, 0)
        tested = NearCopies()
        for item in [*items, original]:
            if study.fold_of[item.pair_id] == 0:
                tested.add(item.text, item.id)

        assert dropped >= 1
        assert 0 not in {study.fold_of[case.item.pair_id] for case in known}
        assert not [case for case in known if tested.find(case.item.text)]
        assert all((case.text == "") == (name == "baseline") for case in known)


def test_all_evaluators_learn_from_the_same_items_though_texts_are_near_copies_of_the_test(catalog: Catalog) -> None:
    study, _ = _study(catalog)
    one, other = PAIRS[:2]
    candidates = {
        EXPERT: {**study.candidates[EXPERT], other: study.candidates[EXPERT][one]},
        "whole": study.candidates["whole"],
        "same": dict.fromkeys(PAIRS, "Das weiß ich leider nicht genau, fragen Sie bitte in der Praxis nach."),
    }
    study = Study(catalog, candidates, study.items, study.texts, study.encoder)
    study.fold_of.update({id_: number % 4 for number, id_ in enumerate(PAIRS)})  # the two are in 0 and 1
    items = [item for item in study.items if item.task == "truth"]

    known = {
        (name, draw): studies._training(study, name, items, 0, draw)[0] for name in EVALUATORS for draw in range(3)
    }

    learned = {key: [case.item.id for case in cases] for key, cases in known.items()}
    assert len({tuple(ids) for ids in learned.values()}) == 1
    assert len(learned["baseline", 0]) > 8
    assert other not in {case.item.pair_id for case in known["model-trained", 0]}
    assert {case.text for case in known["model-trained", 1]} <= set(study.candidates["whole"].values())


def test_texts_that_are_all_alike_leave_nothing_to_learn_from_and_that_is_said(catalog: Catalog) -> None:
    study, reading = _study(catalog)
    same = {EXPERT: study.candidates[EXPERT], "same": dict.fromkeys(PAIRS, "Das weiß ich leider nicht genau.")}

    with pytest.raises(BadData, match=r"truth: \d+ items; 0 of them to train on"):
        run_study(Study(catalog, same, study.items, study.texts, reading), reading)


def test_a_text_that_says_what_is_asked_is_ranked_before_one_of_another_pair(catalog: Catalog) -> None:
    study, reading = _study(catalog)

    outcome = run_study(study, reading)

    one = outcome.of("expert-trained", "entailment")
    assert one is not None
    assert one.columns == (EXPERT, "whole", "other", *CONTROLS)
    means = dict(zip(one.columns, one.ranks(controls=True).mean(axis=0), strict=True))
    assert means["whole"] < means["other"]
    assert means["whole"] < means["noise"]
    assert study.copied("whole") == 1.0
    assert outcome.skipped.keys() == {"quiz"}
    again = run_study(_study(catalog)[0], reading)
    assert np.array_equal(one.chances, again.of("expert-trained", "entailment").chances)  # type: ignore[union-attr]


def test_a_task_of_which_all_pairs_have_the_same_items_is_left_out_not_trained_on_nothing(catalog: Catalog) -> None:
    study, reading = _study(catalog)
    same = [
        Item(f"truth/{id_}/{n}", "truth", id_, f"Wort {n}", ("true", "false"), n % 2, "model")
        for id_ in PAIRS
        for n in (1, 2)
    ]
    words, texts = study.texts, study.candidates

    with pytest.raises(BadData, match="truth: 16 items; 0 of them to train on"):
        run_study(Study(catalog, texts, same, words, reading), reading)


def test_control_cases_are_what_they_say(catalog: Catalog) -> None:
    study, _ = _study(catalog)
    item = next(one for one in study.items if one.pair_id == "pain" and one.right == 1 and one.task == "truth")

    assert study.text(item, "no text") == ""
    assert study.text(item, "label only") == "Diese Aussage ist falsch."
    assert study.text(item, "noise") in {study.candidates[EXPERT][id_] for id_ in PAIRS if id_ != "pain"}
    passages = study.text(item, "passages")
    assert 0 < len(passages) <= 3 * 301
    assert not set(split_sentences(passages)) & set(split_sentences(catalog.pair("pain").answer)[:3])


def test_who_is_ranked_first_by_a_control_case_is_said() -> None:
    items = tuple(Item(f"truth/{p}/{n}", "truth", p, "x", ("true", "false"), 0, "rule") for p in "abc" for n in "12")
    chances = np.tile([0.6, 0.8, 0.7, 0.1], (6, 1))
    one = studies.Solved(
        "baseline", "truth", items, chances, chances > 0.5, ("expert", "plain", "label only", "noise"), 2
    )

    assert one.misled_by == {"label only": ("expert",), "noise": ()}
    assert one.ranks(controls=False).tolist() == [[2, 1]] * 3
    assert one.accuracy(3)[0] == 0.0


def test_friedman_is_scipys_and_says_why_there_is_none() -> None:
    assert friedman(np.array([[1, 2, 3.0]] * 5)).p == pytest.approx(0.00674, abs=1e-5)
    assert friedman(np.array([[2, 2, 2.0]] * 5)).note == "all ranks are tied"
    assert friedman(np.array([[1, 2.0]] * 5)).note == "two texts are no case for it"


def test_an_evaluator_learns_from_the_text_and_ignores_places_of_options(catalog: Catalog) -> None:
    _, reading = _study(catalog)
    quiz = {
        "question": "Was stört im Bild?",
        "options": ("Deo und Creme", "Wasser", "Seife", "Luft"),
        "right": "Deo und Creme",
    }
    items = [quiz_item(QuizLine(pair="deodorant", **quiz), f"quiz/{n}", "file") for n in range(12)]  # type: ignore[arg-type]
    assert len({item.right for item in items}) > 1
    solver = reading.fit([Case(item, "Deo und Creme stören im Bild.") for item in items], seed=0)
    said = solver.probabilities([Case(item, "Deo und Creme stören.") for item in items])

    assert all(chances.argmax() == item.right for chances, item in zip(said, items, strict=True))
    assert len({round(float(chances.max()), 9) for chances in said}) == 1


def _form(catalog: Catalog) -> Form:
    study, _ = _study(catalog)
    return Form(catalog, study.candidates, "")


def test_more_texts_than_a_form_has_letters_are_refused(catalog: Catalog) -> None:
    study, _ = _study(catalog)
    texts = dict(study.candidates["expert"])
    with pytest.raises(BadData, match="27 texts of a pair compete, and a form has letters for 26"):
        Form(catalog, {"expert": texts, **{f"s{number}": texts for number in range(26)}}, "")
    full = Form(catalog, {"expert": texts, **{f"s{number}": texts for number in range(25)}}, "")
    assert len(full.letters("pain")) == 26


def _filled(form: Form, path: Path, ranks: Sequence[int], examples: int = 5, delimiter: str = ",") -> Path:
    rows = list(csv.reader(io.StringIO(form.as_csv())))
    order = ["expert", "whole", "other"]
    for row in rows[1:]:
        if row[0] in form.examples[:examples]:
            row[4] = str(ranks[order.index(form.letters(row[0])[row[2]])])
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter).writerows(rows)
    path.write_text("\ufeff" + stream.getvalue(), encoding="utf-8")
    return path


def test_ranks_come_back_from_a_spreadsheet_with_ties_and_hide_whose_texts_they_are(
    catalog: Catalog, tmp_path: Path
) -> None:
    form = _form(catalog)
    assert "expert" not in form.as_csv()
    assert len({tuple(form.letters(id_).values()) for id_ in PAIRS}) > 1

    ranks = read_ranks(_filled(form, tmp_path / "anna.csv", [1, 1, 5], delimiter=";"), form)

    assert ranks.rater == "anna"
    assert ranks.given == {id_: {"expert": 1, "whole": 1, "other": 5} for id_ in form.examples[:5]}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text.replace(",1,", ",6,", 1), "'6' is no rank"),
        (lambda text: text.replace(",1,", ",gut,", 1), "'gut' is no rank"),
        (lambda text: text.replace(",1,", ",,", 1), "has 2 of 3 ranks"),
        (lambda text: text.replace("rank", "Rang", 1), "has no column 'rank'"),
        (lambda text: text.replace("Brust", "Bein"), "is not the one that is ranked here"),
        (lambda text: text.replace("\ncompanion,", "\nnobody,", 1), "there is no text"),
    ],
)
def test_a_form_that_cannot_be_used_is_refused_in_one_line(
    catalog: Catalog, tmp_path: Path, change: object, complaint: str
) -> None:
    form = _form(catalog)
    path = _filled(form, tmp_path / "anna.csv", [1, 2, 5])
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")  # type: ignore[operator]

    with pytest.raises(BadData, match=complaint):
        read_ranks(path, form)


def test_fewer_than_five_examples_tell_no_agreement(catalog: Catalog, tmp_path: Path) -> None:
    form = _form(catalog)

    with pytest.raises(BadData, match="ranks 4 examples; agreement needs at least 5"):
        read_ranks(_filled(form, tmp_path / "anna.csv", [1, 2, 5], examples=4), form)


def test_raters_and_evaluators_are_compared(catalog: Catalog) -> None:
    study, reading = _study(catalog)
    outcome = run_study(study, reading)
    said = {id_: {"expert": 2, "whole": 1, "other": 5} for id_ in PAIRS}
    others = {id_: {"expert": 1 + number % 2, "whole": 1, "other": 4} for number, id_ in enumerate(PAIRS)}

    found = compared([Ranks("anna", said), Ranks("ben", others)], outcome, study.systems)

    alpha = found.alpha["anna and ben"]
    assert alpha.value is not None
    assert 0.5 < alpha.value < 1
    assert alpha.interval is not None
    assert found.mean_ranks.tolist() == [1.75, 1, 4.5]
    assert found.clearly_wrong == {"expert": 0, "whole": 0, "other": 8}
    best = found.agreement["expert-trained", "all"]
    assert best.tau is not None
    assert best.tau > 0.3
    assert best.tau_interval is not None
    with pytest.raises(BadData, match="Two forms have the name 'anna'"):
        compared([Ranks("anna", said), Ranks("anna", said)], outcome, study.systems)


def test_the_interval_of_alpha_takes_whole_examples_and_grows_where_raters_differ_by_example() -> None:
    even = [[(1, 1), (2, 3), (3, 2), (4, 4), (5, 5)]] * 6
    uneven = [[(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]] * 3 + [[(1, 1), (2, 4), (3, 2), (4, 3), (5, 5)]] * 3

    same, split = (raters._alpha(np.array(codes, dtype=np.int64) - 1) for codes in (even, uneven))

    assert same.interval is None
    assert same.note == "all examples agree alike, so no spread can be told"
    assert split.value is not None
    assert split.interval is not None
    assert split.interval.low < split.value < split.interval.high < 1
    texts = estimate(alpha_ordinal, Ratings(np.array(uneven).reshape(-1, 2) - 1, 5), rng=np.random.default_rng(0))
    assert texts.interval is not None
    assert split.interval.high - split.interval.low > texts.interval.high - texts.interval.low
    assert raters._alpha(np.zeros((5, 3, 2), dtype=np.int64)).note == "all ranks are the same"
    assert raters._alpha(np.full((5, 3, 2), -1)).n == 0


def test_examples_in_which_one_side_ties_all_are_left_out_and_no_interval_has_no_width() -> None:
    one, tied = np.array([1.0, 2, 3]), np.array([2.0, 2, 2])

    found = correlation([(one, one), (one, tied), (one, one), (one, one)])

    assert (found.tau, found.n) == (1.0, 3)
    assert found.spearman == pytest.approx(1.0)
    assert found.tau_interval is None
    assert correlation([(one, tied)]).tau is None


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ('{"pair": "pain", "question": "Was?", "options": ["a", "b"], "right": "c"}', "the right one among them"),
        ('{"pair": "pain", "question": "Was?", "options": ["a", "a"], "right": "a"}', "all different"),
        ('{"pair": "pain", "question": "Was?", "option": ["a"]}', "option: is not known here"),
        ("", "holds no quiz"),
    ],
)
def test_a_quiz_that_lacks_something_is_refused(tmp_path: Path, lines: str, complaint: str) -> None:
    (tmp_path / "q.jsonl").write_text(lines, encoding="utf-8")

    with pytest.raises(BadData, match=complaint):
        read_quizzes(tmp_path / "q.jsonl")


def test_what_the_quiz_command_wrote_is_read(tmp_path: Path) -> None:
    version = {
        "round": 2,
        "context": "Am Tag.",
        "question": "Was stört?",
        "answer": "Deo",
        "distractors": ["Luft", "Ton"],
    }
    made = {
        "quizzes": [
            {"pair": "deodorant", "kept": 2, "rounds": [{**version, "round": 1}, version]},
            {"pair": None, "kept": 1, "rounds": [version]},
            {"pair": "pain", "kept": None, "rounds": []},
        ]
    }
    (tmp_path / "result.json").write_text(json.dumps(made), encoding="utf-8")

    (item,) = read_quizzes(tmp_path / "result.json")

    assert (item.prompt, item.options[item.right], len(item.options)) == ("Am Tag. Was stört?", "Deo", 3)
    (tmp_path / "result.json").write_text("[]", encoding="utf-8")
    with pytest.raises(BadData, match="no result of `klartext author quiz`"):
        read_quizzes(tmp_path / "result.json")


def test_a_system_has_one_text_for_a_pair(tmp_path: Path) -> None:
    line = '{"pair": "pain", "system": "mine", "text": "Kurz."}\n'
    (tmp_path / "c.jsonl").write_text(line * 2, encoding="utf-8")

    with pytest.raises(BadData, match="'mine' has two texts for 'pain'"):
        read_candidates(tmp_path / "c.jsonl")

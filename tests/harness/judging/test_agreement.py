"""Who is compared with whom, on what, and that models and people are never taken for one another."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from harness.commands.labels import print_agreement
from harness.judging.agreement import Agreement, agreement_of
from harness.labelling.labels import VERDICTS, Label, Rater, Verdicts

ITEMS = [(f"q{number}", "pain") for number in range(30)]


def labels(kind: str, name: str, verdicts: str, *, role: str = "rating") -> list[Label]:
    """Label items in order: 0 incorrect, 1 partial, 2 correct, - nothing."""
    return [
        Label.model_validate(
            {
                "question_id": question,
                "pair_id": pair,
                "label": VERDICTS[int(digit)],
                "rater": {"kind": kind, "name": name},
                "role": role,
            }
        )
        for (question, pair), digit in zip(ITEMS, verdicts, strict=False)
        if digit != "-"
    ]


def agreement(*given: list[Label]) -> Agreement:
    verdicts = Verdicts([label for each in given for label in each])
    return agreement_of(verdicts, ITEMS, rng=np.random.default_rng(1))


ANNA, BEN = "012" * 10, "012" * 8 + "000000"
GPT = "2" * 30


def test_every_two_raters_are_compared_people_first() -> None:
    found = agreement(labels("model", "gpt", GPT), labels("person", "ben", BEN), labels("person", "anna", ANNA))

    assert [group.raters for group in found.pairs] == [
        ("person:anna", "person:ben"),
        ("person:anna", "model:gpt"),
        ("person:ben", "model:gpt"),
    ]
    assert found.labelled == {"person:anna": 30, "person:ben": 30, "model:gpt": 30}
    assert found.groups == ()
    people = found.pairs[0]
    assert people.n == 30
    assert people.figures["agreement"].value == pytest.approx(26 / 30)
    assert people.confusion is not None
    assert people.confusion.tolist() == [[10, 0, 0], [2, 8, 0], [2, 0, 8]]


def test_more_than_two_people_are_also_compared_together_without_models() -> None:
    found = agreement(*(labels("person", name, ANNA) for name in ("a", "b", "c")), labels("model", "gpt", GPT))

    assert [(group.name, len(group.raters)) for group in found.groups] == [("all people", 3)]
    assert "kappa" not in found.groups[0].figures
    assert found.groups[0].figures["alpha"].value == pytest.approx(1.0)


def test_a_model_and_a_person_of_one_name_are_two_raters() -> None:
    found = agreement(labels("model", "anna", GPT), labels("person", "anna", ANNA))

    assert [group.raters for group in found.pairs] == [("person:anna", "model:anna")]
    assert found.pairs[0].figures["agreement"].value == pytest.approx(1 / 3)


def test_only_shared_items_count_and_adjudicators_do_not() -> None:
    found = agreement(
        labels("person", "anna", ANNA[:12]),
        labels("person", "ben", "-" * 6 + BEN[6:]),
        labels("person", "carla", ANNA, role="adjudication"),
        labels("person", "dora", "-" * 29 + "2"),
    )

    assert [(group.raters, group.n) for group in found.pairs] == [
        (("person:anna", "person:ben"), 6),
        (("person:ben", "person:dora"), 1),
    ]
    assert found.pairs[1].figures["kappa"].value == 0.0
    assert found.pairs[1].figures["kappa"].interval is None


def screen(found: Agreement) -> str:
    console = Console(file=io.StringIO(), width=80, highlight=False, markup=False)
    print_agreement(found, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_table_fits_eighty_columns_and_says_why_a_figure_is_missing() -> None:
    printed = screen(agreement(labels("person", "anna", GPT), labels("model", "[b]gpt[/b]", GPT)))

    assert "all labels are the same: chance alone would agree" in " ".join(printed.split())
    assert "[b]gpt[/b]" in printed
    assert "nan" not in printed.lower()
    assert "1.00" in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_negative_and_middling_figures_are_printed_with_their_interval() -> None:
    printed = screen(agreement(labels("person", "anna", ANNA), labels("person", "ben", "120" * 10)))

    assert "-.5" in printed
    assert "[" in printed


def test_json_carries_all_that_is_needed_to_check_it() -> None:
    record = agreement(labels("person", "anna", ANNA), labels("person", "ben", BEN)).as_json()

    assert record["labels"] == ["incorrect", "partial", "correct"]
    assert record["pairs"][0]["raters"] == ["person:anna", "person:ben"]
    assert set(record["pairs"][0]["kappa"]) == {"value", "ci95", "n", "note"}
    assert record["pairs"][0]["confusion"][0][0] == 10


def test_rater_names_are_not_empty() -> None:
    with pytest.raises(ValueError, match="at least 1 character"):
        Rater(kind="person", name="")

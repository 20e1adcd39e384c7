"""What is heard in context: the decision, the fit, and what is measured."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bot.errors import BadData
from bot.matching.context import FEATURES, KINDS, WEIGHED, Guess, Kind, Limits, Move, Said, load_weights
from bot.matching.context_fit import Row, fit_logit, follow_ups, read_dialogues
from bot.matching.context_report import keeps, outcome

LIMITS = Limits(
    alone=0.5, alone_answered=0.3, wish=0.4, reaction=0.5, same=0.6, other=0.5, offer=0.4, silent=0.6, extract=0.5
)
IDS = ("pain", "costs", "duration")


def _guess(pairs: tuple[float, float, float] = (0.0, 0.0, 0.0), *, decision: str = "declined", **kinds: float) -> Guess:
    odds = np.array([kinds.get(kind, 0.0) for kind in KINDS], dtype=np.float32)
    return Guess(odds, 0, np.array(pairs, dtype=np.float32), decision)


@pytest.mark.parametrize(
    ("guess", "action", "pair_ids"),
    [
        (_guess(alone=0.5), "alone", ()),
        (_guess(alone=0.3, same=0.7, pairs=(0.7, 0, 0), decision="answered"), "alone", ()),
        (_guess(alone=0.3, same=0.7, pairs=(0.7, 0, 0)), "show", ("pain",)),
        (_guess(easier=0.5), "easier", ()),
        (_guess(again=0.3, shorter=0.45), "shorter", ()),
        (_guess(reaction=0.6), "reaction", ()),
        (_guess(reaction=0.9, decision="answered"), "alone", ()),  # who gets an answer alone keeps it
        (_guess(reaction=0.9, decision="clarify"), "alone", ()),  # and who is asked back is asked back
        (_guess(other=0.6, pairs=(0, 0.55, 0)), "show", ("costs",)),
        (_guess(same=0.55, pairs=(0.55, 0.1, 0)), "offer", ("pain", "costs", "duration")),
        (_guess(none=0.65, pairs=(0.3, 0.1, 0)), "none", ()),
        (_guess(none=0.2, reaction=0.45, pairs=(0.3, 0.1, 0)), "reaction", ()),
        (_guess(same=0.2, pairs=(0.2, 0.1, 0)), "none", ()),
    ],
)
def test_a_guess_becomes_a_move(guess: Guess, action: str, pair_ids: tuple[str, ...]) -> None:
    move = guess.move(LIMITS, IDS)

    assert (move.action, move.pair_ids) == (action, pair_ids)


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_shipped_weights_fit_the_features(language: str) -> None:
    weights = load_weights(language)

    assert weights is not None
    assert weights.kinds.shape == (len(WEIGHED), len(KINDS))
    assert weights.wording.term_weights.shape == (len(weights.wording.vocabulary), len(KINDS))
    assert weights.wording.meaning_weights.shape[1] == len(KINDS)
    assert len(set(FEATURES)) == len(FEATURES)


def test_a_language_that_nothing_was_fitted_for_has_no_weights() -> None:
    assert load_weights("fr") is None


def _written(folder: Path, *lines: str) -> Path:
    path = folder / "de.tsv"
    path.write_text("author\tdialogue\tlabel\ttext\n" + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_turns_come_with_what_was_shown_before_them(tmp_path: Path) -> None:
    path = _written(
        tmp_path, "a\t1\tpain\tweh?", "a\t1\tsame\tsicher?", "a\t1\tcosts\tund der Preis", "a\t1\tnew:duration\tdauer?",
        "a\t1\treaction\taha", "b\t1\tcosts\tPreis?", "b\t1\teasier\thä",
    )  # fmt: skip
    rows = follow_ups(read_dialogues(path, IDS), lambda texts: [("declined", ())] * len(texts))

    assert [(row.author, row.kind, row.target, row.said.shown, row.said.last_question) for row in rows] == [
        ("a", "same", "pain", "pain", "weh?"),
        ("a", "other", "costs", "pain", "weh?"),
        ("a", "alone", "duration", "costs", "und der Preis"),
        ("a", "reaction", None, "duration", "dauer?"),
        ("b", "easier", "costs", "costs", "Preis?"),
    ]


@pytest.mark.parametrize(
    "line", ["a\t1\tsame\tsicher?", "a\t1\tweather\tSonne?", "a\t1\tpain\t", "\t1\tpain\tweh?", "a\t1\tnew:pain\tweh?"]
)
def test_a_damaged_line_of_dialogues_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadData, match="line 2"):
        read_dialogues(_written(tmp_path, line), IDS)


def test_missing_dialogues_are_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="no dialogues"):
        read_dialogues(tmp_path / "de.tsv", IDS)


def _row(kind: Kind, *, author: str = "a", alone: tuple[str, tuple[str, ...]] = ("declined", ())) -> Row:
    return Row(author, kind, "pain", Said("x", "pain", None, alone[0]), alone)


def test_outcomes_say_what_is_shown_and_what_is_offered() -> None:
    row = _row("same", alone=("clarify", ("costs", "duration")))

    assert outcome(row, Move("alone")) == (frozenset(), frozenset({"costs", "duration"}))
    assert outcome(row, Move("show", ("pain",))) == (frozenset({"pain"}), frozenset())
    assert outcome(row, Move("again")) == (frozenset({"pain"}), frozenset())
    assert outcome(row, Move("more")) == (frozenset(), frozenset())


def test_a_message_is_kept_when_it_comes_to_what_it_came_to_alone() -> None:
    answered, declined = _row("alone", alone=("answered", ("costs",))), _row("alone")

    assert [keeps(answered, move) for move in (Move("alone"), Move("show", ("costs",)), Move("show", ("pain",)))] == [
        True, True, False,
    ]  # fmt: skip
    assert [keeps(declined, move) for move in (Move("none"), Move("reaction"), Move("offer", ("pain", "costs")))] == [
        True, False, False,
    ]  # fmt: skip


def test_the_logit_learns_what_separates_kinds() -> None:
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 300)
    columns = np.eye(3)[label] + 0.1 * rng.standard_normal((300, 3))

    beta, intercept = fit_logit(columns, label, np.ones(300), 0.1)

    assert ((columns @ beta + intercept).argmax(axis=1) == label).mean() > 0.99


def test_a_pair_of_less_likelihood_than_its_limit_is_not_shown() -> None:
    guess = _guess(same=0.55, pairs=(0.55, 0.0, 0.0))

    assert guess.move(replace(LIMITS, same=0.5), IDS).action == "show"
    assert guess.move(replace(LIMITS, offer=0.9), IDS).action == "none"

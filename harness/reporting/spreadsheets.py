"""The figures of a report as CSV tables: UTF-8, commas, one header line, shares from 0 to 1. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from harness.comparison import Paired
from harness.reporting.facts import Facts, result_of

Value = str | int | float | None


def tables(facts: Facts) -> dict[str, str]:
    """Return every table by the name of its file; those of a baseline only where there is one."""
    found = {
        "vignettes": _csv(VIGNETTES, _vignettes(facts)),
        "pairs": _csv(("pair", "vignette", "n", "right", "accuracy"), _pairs(facts)),
        "questions": _csv(QUESTIONS, _questions(facts)),
        "confusion": _csv(
            ("first", "second", "there", "back", "by_chance", "p", "q"),
            ((c.first, c.second, c.forth, c.back, c.expected, c.p_value, c.q_value) for c in facts.confused),
        ),
        "risk_coverage": _csv(
            ("score_from", "answered", "coverage", "wrong", "risk"),
            ((p.score, p.answered, p.coverage, p.wrong, p.risk) for p in facts.curve),
        ),
        "readability": _csv(READING, _reading(facts)),
        "thresholds": _csv(("threshold", "current", "vignette", *EFFECT), _thresholds(facts)),
    }
    if facts.comparison is not None:
        rows = [facts.comparison.total(), *facts.comparison.strata()]
        found["changes"] = _csv(CHANGES, map(_change, rows))
        found["changes_by_pair"] = _csv(CHANGES, map(_change, facts.by_pair))
    return found


VIGNETTES = (
    "vignette",
    "n",
    "accuracy",
    "wilson_low",
    "wilson_high",
    "by_pair_low",
    "by_pair_high",
    "top1",
    "offered",
    "precision",
    "errors",
    "wrong",
    "unanswered",
)
QUESTIONS = (
    "id",
    "vignette",
    "kind",
    "pair",
    "text",
    "result",
    "shown",
    "offered",
    "first_candidate",
    "score",
    "right",
    "elapsed_ms",
    "before",
)
READING = (
    "vignette",
    "n",
    "ease_q1",
    "ease_median",
    "ease_q3",
    "words_median",
    "answers_ease_median",
    "wanted_ease_low",
    "wanted_ease_high",
    "wanted_words_low",
    "wanted_words_high",
    "outside",
)
EFFECT = ("n", "accuracy", "precision", "wrong")
CHANGES = ("name", "n", "before", "after", "difference", "low", "high", "fixed", "broken", "p", "p_holm", "detectable")


def _vignettes(facts: Facts) -> Iterable[Sequence[Value]]:
    for name, score in {**facts.summary.vignettes, "": facts.summary.total}.items():
        by_pair = (score.clustered.low, score.clustered.high) if score.clustered else (None, None)
        shares = (score.accuracy, score.wilson.low, score.wilson.high, *by_pair, score.top1, score.offered)
        yield name or "all", score.n, *shares, score.precision, score.errors, score.wrong, score.unanswered


def _pairs(facts: Facts) -> Iterable[Sequence[Value]]:
    for pair in facts.pairs:
        for vignette in facts.vignettes:
            cell = facts.cells.get((pair, vignette))
            if cell is not None:
                yield pair, vignette, cell.n, cell.right, cell.share


def _questions(facts: Facts) -> Iterable[Sequence[Value]]:
    before = {now.id: result_of(was) for was, now in facts.comparison.common} if facts.comparison else {}
    for o in facts.run.outcomes:
        asked = (o.id, o.vignette, o.kind, o.pair_id, o.text)
        first = o.candidates[0] if o.candidates else None
        right = None if o.right is None else int(o.right)
        told = (result_of(o), o.answered_with, " ".join(o.choices), first, o.score)
        yield *asked, *told, right, o.elapsed_ms, before.get(o.id)


def _reading(facts: Facts) -> Iterable[Sequence[Value]]:
    for one in facts.reading:
        wanted = (*one.targets.reading_ease, *one.targets.words) if one.targets else (None,) * 4
        answers = one.answers.median if one.answers else None
        ease = (one.ease.low, one.ease.median, one.ease.high)
        yield one.vignette, one.n, *ease, one.words.median, answers, *wanted, len(one.outside) if one.targets else None


def _thresholds(facts: Facts) -> Iterable[Sequence[Value]]:
    advice = facts.advice.threshold
    for move in advice.moves if advice else ():
        for name, effect in {"all": move.total, **move.vignettes}.items():
            now = int(move.current)
            yield move.answer, now, name, effect.n, effect.accuracy, effect.precision, effect.wrong


def _change(row: Paired) -> Sequence[Value]:
    low, high = (row.change.low, row.change.high) if row.change else (None, None)
    shares = (row.before, row.after, row.difference, low, high)
    return row.name, row.n, *shares, row.fixed, row.broken, row.p_value, row.adjusted, row.detectable


def _csv(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([_safe(value) for value in row] for row in rows)
    return stream.getvalue()


def _safe(value: Value) -> Value:
    """Keep spreadsheets from taking a question for a formula: an apostrophe makes it text."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
    return round(value, 6) if isinstance(value, float) else value

"""The page: nothing from outside, every number leads to as many questions as it says, hostile text stays text."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from bot.testing import HOSTILE_TEXTS
from harness.labelling.labels import Verdicts
from harness.reporting.facts import Context, Facts, facts_of
from harness.reporting.page import TEMPLATES, render
from harness.running.outcomes import Outcome
from harness.running.run import Run
from tests.harness.reporting.conftest import NOW, Page

FIGURES = {"accuracy", "change", "pairs", "change-pairs", "confusion", "risk", "readability", "cost"}
ADVICE = {"merge", "weak", "thresholds"}
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'{{ 7*7 }}"


def test_every_figure_is_there_with_a_title_that_says_something(page: Page) -> None:
    assert set(page.ids) >= FIGURES | ADVICE
    text = " ".join(page.texts)
    for said in (
        "high-health-literacy",
        "pain and costs are taken for each other 9 times, where chance would give",
        "points more are answered right than before",
        "All cost 3.43 USD",
        "Today 99",
    ):
        assert said in text, said


def test_the_page_needs_nothing_from_outside(page: Page) -> None:
    assert not [tag for tag, _ in page.tags if tag in ("link", "img", "iframe", "object", "base", "form", "embed")]
    assert not [found for _, found in page.tags if "src" in found or "style" in found]
    assert all(link.href.startswith("#") for link in page.links)
    assert not re.search(r"https?://|url\(|@import", page.html)
    assert [tag for tag, _ in page.tags].count("script") == 1


def test_every_number_that_is_a_link_leads_to_as_many_questions_as_it_says(page: Page, facts: Facts) -> None:
    """Counts stand for themselves; in "3 of 10" or "3/10" the second is what is listed, or the first where missed."""
    checked = 0
    medians = {(f"v{number}", f"{one.ease.median:.0f}") for number, one in enumerate(facts.reading)}
    for link in page.links:
        if not link.show or (link.show, link.text) in medians:
            continue
        assert link.href[1:] in page.ids, link
        count = page.count(link.show)
        figures = [int(figure) for figure in re.findall(r"\d+", link.text)]
        if re.fullmatch(r"\d+", link.text):
            expected = figures[0]
        elif re.fullmatch(r"\d+/\d+", link.text):
            expected = figures[0] if "missed" in link.show else figures[1]
        elif re.fullmatch(r"\d+ of \d+", link.text):
            expected = figures[0]
        else:
            continue  # a share, a median or a name: checked below
        assert count == expected, link
        checked += 1
    assert checked > 60


@pytest.mark.parametrize(("mark", "name"), [("right", "answered right"), ("first", "right pair first")])
def test_shares_lead_to_the_questions_they_count(page: Page, facts: Facts, mark: str, name: str) -> None:
    total = facts.summary.total
    share = total.accuracy if mark == "right" else total.top1

    assert page.count(mark) == round(share * total.n)
    assert f"{100 * share:.1f}\N{NO-BREAK SPACE}%" in [link.text for link in page.links if link.show == mark]
    assert name in page.texts


def test_thresholds_lead_to_what_would_be_answered_right(page: Page, facts: Facts) -> None:
    advice = facts.advice.threshold
    assert advice is not None
    for move in advice.moves:
        if not move.current:
            show = f"scored first open s>={move.answer:.4f}"
            assert page.count(show) == round((move.total.accuracy or 0) * move.total.scored)


def test_all_questions_are_listed_once(page: Page, run: Run) -> None:
    assert sorted(page.questions) == sorted(outcome.text for outcome in run.outcomes)
    assert len(set(page.ids)) == len(page.ids)


@pytest.mark.parametrize("text", [*HOSTILE_TEXTS.values(), EVIL], ids=[*HOSTILE_TEXTS, "evil"])
def test_hostile_text_stays_text(run: Run, context: Context, text: str) -> None:
    outcomes = [replace(outcome, text=text, error=text if outcome.error else None) for outcome in run.outcomes]
    hostile = replace(run, outcomes=tuple(outcomes), identity={**run.identity, "suite": text, "system": text})

    html = render(facts_of(hostile, None, context), made=NOW).encode("utf-8", "replace").decode()

    page = Page(html)
    assert len(page.scripts) == 1
    assert not [found for _, found in page.tags if any(name.startswith("on") for name in found)]
    assert len(page.questions) == len(outcomes)
    if text == EVIL:
        assert set(page.questions) == {EVIL}


def test_hostile_names_stay_text(run: Run) -> None:
    outcomes = [
        replace(o, pair_id=EVIL if o.pair_id == "pain" else o.pair_id, vignette=EVIL, candidates=(EVIL, *o.candidates))
        for o in run.outcomes
    ]

    page = Page(render(facts_of(replace(run, outcomes=tuple(outcomes)), None, Context(Verdicts([]))), made=NOW))

    assert len(page.scripts) == 1
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert all(re.fullmatch(r"[a-z0-9-]+", id_) for id_ in page.ids)


def test_a_page_without_baseline_catalog_or_scores_leaves_out_what_it_cannot_say(
    make_outcome: Callable[..., Outcome], run: Run
) -> None:
    plain = replace(run, outcomes=tuple(make_outcome(f"q{n}", vignette="one") for n in range(5)))

    page = Page(render(facts_of(plain, None, Context(Verdicts([]))), made=NOW))

    assert (FIGURES | ADVICE) & set(page.ids) == {"accuracy", "pairs", "readability"}
    assert "No pair is confused or missed more than chance would have it." in page.texts


def test_answers_of_a_later_catalog_are_not_passed_off_as_the_runs(run: Run, context: Context) -> None:
    said = "The catalog has changed since the run: the answers measured are today&#39;s."

    assert said in render(facts_of(run, None, replace(context, stale=True)), made=NOW)
    assert said not in render(facts_of(run, None, context), made=NOW)


def test_where_every_answer_is_right_the_interval_has_a_width(make_outcome: Callable[..., Outcome], run: Run) -> None:
    all_right = [
        make_outcome(f"q{n}", pair_id=pair, answered_with=pair) for n in range(5) for pair in ("pain", "costs")
    ]

    html = render(facts_of(replace(run, outcomes=tuple(all_right)), None, Context(Verdicts([]))), made=NOW)

    # Two pairs are two observations: Student's t has one degree of freedom.
    assert re.search("[1-9]\\.\\d\N{NO-BREAK SPACE}% to 100\\.0\N{NO-BREAK SPACE}%", html)
    assert "Every question about every pair is answered right" in html


def test_of_very_large_runs_the_misses_are_listed_first(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.reporting.page.MOST", 12)

    page = Page(render(facts_of(run, None, Context(Verdicts([]))), made=NOW))

    missed = sum(outcome.right is False for outcome in run.outcomes)
    assert len(page.questions) == 12
    assert page.count("missed") == missed
    assert any(f"but for {len(run.outcomes) - 12} answered right" in text for text in page.texts)


def test_charts_have_words_and_tables_for_those_who_do_not_see_them(page: Page) -> None:
    svgs = [found for tag, found in page.tags if tag == "svg"]
    named = [found for found in svgs if found.get("role") == "img"]

    assert len(named) == 1
    assert "Line chart. Today" in named[0]["aria-label"]
    assert all(found.get("aria-hidden") == "true" for found in svgs if found not in named)
    assert {found["scope"] for tag, found in page.tags if tag == "th"} == {"col", "row", "rowgroup"}
    regions = [found for _, found in page.tags if found.get("role") == "region"]
    assert all(found["tabindex"] == "0" and found["aria-label"] for found in regions)
    levels = [int(tag[1]) for tag, _ in page.tags if tag in ("h1", "h2", "h3")]
    assert levels[0] == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


def luminance(colour: str) -> float:
    """Relative luminance after WCAG 2.2."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_the_contrast_of_wcag_aa(scheme: str) -> None:
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", blocks[0 if scheme == "light" else 1]))
    texts = [
        ("text", "page"),
        ("soft", "page"),
        ("link", "page"),
        ("bad", "page"),
        ("text", "field"),
        ("soft", "field"),
    ]
    texts += [("link", "field"), *((f"shade{n}-text", f"shade{n}") for n in range(1, 5))]
    drawn = [("dot", "page"), ("second", "page"), ("good", "page"), ("soft", "page"), ("dot", "target")]

    assert len(blocks) == 3
    assert [pair for pair in texts if contrast(*(colours[name] for name in pair)) < 4.5] == []
    # Light bars are told from the dark ones beside them by place, and stand beside their numbers.
    assert [
        pair for pair in drawn if contrast(colours[pair[0]], colours[pair[1]]) < (1.9 if "second" in pair else 3)
    ] == []


@pytest.mark.skipif(not shutil.which("chromium"), reason="there is no chromium: apt-get install chromium")
@pytest.mark.parametrize(
    ("address", "status", "visible"),
    [
        ("", "All 84 questions, by vignette and pair.", 84),
        ("#show=v0%20p0%20missed&said=pain", "3 of 84 questions: pain.", 3),
    ],
)
def test_a_click_shows_its_questions_in_a_browser(
    facts: Facts, tmp_path: Path, address: str, status: str, visible: int
) -> None:
    file = tmp_path / "report.html"
    file.write_text(render(facts, made=NOW), encoding="utf-8")
    browser = ("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}")

    done = subprocess.run(
        [*browser, "--virtual-time-budget=2000", "--dump-dom", f"{file.as_uri()}{address}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    shown = Page(done.stdout)
    assert status in shown.texts
    hidden = sum("data-m" in found and "hidden" in found for _, found in shown.tags)
    assert len(shown.rows) - hidden == visible


def test_nothing_but_the_pages_own_script_may_run(page: Page) -> None:
    (policy,) = (found["content"] for _, found in page.tags if found.get("http-equiv") == "Content-Security-Policy")

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert policy.count("sha256-") == 2
    assert json.dumps(page.scripts).count("location.hash") >= 3

"""The papers that a buyer asks for claim nothing without a document or test behind it, are short, and say that they are drafts."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAPERS = sorted((ROOT / "docs" / "papers").glob("*.md"))
NAMES = ["accessibility", "data-protection", "eu-ai-act-and-mdr", "hazards", "intended-purpose", "software-life-cycle"]
DRAFT = "**Draft. No qualified person has reviewed this paper"
MAX_WORDS = 1_000  # two printed pages

LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")

each_paper = pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.stem)


def links(text: str) -> list[tuple[str, str]]:
    """Return (words, target) of each link."""
    return [(" ".join(words.split()), target) for words, target in LINK.findall(text)]


def words_of(text: str) -> list[str]:
    """Return what a reader reads: words of links count, addresses do not."""
    return [word for word in LINK.sub(r"\1", text).split() if re.search(r"\w", word)]


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)


@cache
def names_of_tests(module: Path) -> frozenset[str]:
    return frozenset(
        re.findall(r"^(?:async )?def (test_\w+)\(", module.read_text(encoding="utf-8"), flags=re.MULTILINE)
    )


def fault(page: Path, words: str, target: str) -> str | None:
    """Say what is wrong with a link of a page: no such file, heading, or test.

    A link to a module of tests bears the module's name, or reads as one of its tests does.
    """
    name, _, anchor = target.partition("#")
    path = (page.parent / name).resolve() if name else page
    if not path.exists() or not path.is_relative_to(ROOT):
        return f"no such file: {target}"
    if anchor and anchor not in anchors(path):
        return f"no such heading: {target}"
    if is_test(path) and words != path.name and f"test_{words.replace(' ', '_')}" not in names_of_tests(path):
        return f"no such test in {target}: {words}"
    return None


def is_test(path: Path) -> bool:
    return path.is_relative_to(ROOT / "tests") and re.fullmatch(r"test_\w+\.py", path.name) is not None


def hazards() -> list[str]:
    return re.findall(
        r"^\| H\d+ \|.*$", (ROOT / "docs" / "papers" / "hazards.md").read_text(encoding="utf-8"), re.MULTILINE
    )


def test_all_papers_are_there() -> None:
    assert [paper.stem for paper in PAPERS] == NAMES


@each_paper
def test_a_paper_says_at_its_top_that_it_is_an_unreviewed_draft(paper: Path) -> None:
    top = paper.read_text(encoding="utf-8").splitlines()[:3]

    assert top[0].startswith("# ")
    assert DRAFT in top[2]


@each_paper
def test_a_paper_is_short_enough_to_be_read(paper: Path) -> None:
    assert 300 < len(words_of(paper.read_text(encoding="utf-8"))) <= MAX_WORDS


@each_paper
def test_every_claim_leads_to_a_document_or_test_that_exists(paper: Path) -> None:
    found = links(paper.read_text(encoding="utf-8"))

    assert sum(is_test((paper.parent / target).resolve()) for _, target in found) >= 5
    assert [wrong for words, target in found if (wrong := fault(paper, words, target))] == []


def test_every_hazard_names_a_measure_with_a_test_behind_it() -> None:
    rows = hazards()

    assert [int(row.split("|")[1].strip(" H")) for row in rows] == list(range(1, len(rows) + 1))
    assert len(rows) >= 10
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        _, sequence, severity, measures, residual = cells
        assert "→" in sequence, row
        assert re.fullmatch(r"S[2-5]", severity), row
        # Each kind of measure (inherent, protective, information) has at least one test of its own.
        kinds = re.split(r"(?:^|(?<=[.;] ))[IPN]: ", measures)[1:]
        assert kinds, row
        for kind in kinds:
            targets = [(ROOT / "docs" / "papers" / target).resolve() for _, target in links(kind)]
            assert any(is_test(path) and path.is_file() for path in targets), row
        assert residual, row


@pytest.mark.parametrize(
    ("words", "target", "said"),
    [
        ("status", "../nothing.md", "no such file"),
        ("status", "../../../elsewhere.md", "no such file"),
        ("status", "../status.md#nothing", "no such heading"),
        ("nobody wrote this test", "../../tests/test_papers.py", "no such test"),
    ],
)
def test_a_link_that_leads_nowhere_is_found(words: str, target: str, said: str) -> None:
    wrong = fault(ROOT / "docs" / "papers" / "hazards.md", words, target)

    assert wrong is not None
    assert wrong.startswith(said)


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "security.md"], ids=lambda page: page.stem)
def test_who_looks_for_the_papers_is_led_to_them(page: Path) -> None:
    led = {
        (page.parent / target).resolve() for _, target in links(page.read_text(encoding="utf-8")) if "papers" in target
    }

    assert led
    assert all(path in PAPERS for path in led)


def test_the_readme_leads_to_every_paper() -> None:
    targets = {target for _, target in links((ROOT / "README.md").read_text(encoding="utf-8"))}

    assert {f"docs/papers/{name}.md" for name in NAMES} <= targets

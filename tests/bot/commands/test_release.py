"""`klartext qa approve`, `release` and `stop`: what is refused, in one line, and what is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.sentences.reply import SENTENCES
from tests.bot.release.departments import Department
from tests.bot.release.exams import change_pairs
from tests.bot.web.serving import always_open
from tests.conftest import Run


@pytest.fixture
def department(tmp_path: Path, klartext: Run) -> Department:
    return Department(tmp_path, klartext)


def test_that_names_are_not_verified_is_said_once(department: Department) -> None:
    department.approve()
    made = department.run("release", "make", str(department.exam))

    assert (made.stdout + made.stderr).count("names not verified") == 1


def test_a_release_is_made_activated_compared_and_taken_back(department: Department) -> None:
    assert "nobody approved it" in department.run("release", "make", department.exam, fails=True).stderr
    first = department.release()
    assert "klartext release activate 1" in first
    assert first.split()[1].rstrip(":") in department.run("release", "activate", "1").stdout
    department.release(answer="Vier Stunden.")
    assert "    + Vier Stunden." in department.run("release", "diff", "2").stdout.splitlines()
    assert department.run("release", "diff", "1").stdout == "Patients would see no difference.\n"
    department.run("release", "activate", "2", "--by", "Anna")
    department.run("release", "rollback")
    department.run("stop", "pair", "pain", "--by", "Bert", "--force")
    noted = [json.loads(line) for line in department.run("records", "audit", "--json").stdout.splitlines()]
    assert [each["action"] for each in noted] == [
        "release-make", "release-activate", "release-make", "release-activate", "release-rollback", "stop-pair pain",
    ]  # fmt: skip
    assert noted[3]["actor"].startswith("Anna (")

    listed = [json.loads(line) for line in department.run("release", "list", "--json").stdout.splitlines()]

    assert [(each["number"], each["in_force"], len(each["in_force_since"])) for each in listed] == [
        (1, True, 2),
        (2, False, 1),
    ]


def test_what_is_signed_can_be_read_word_by_word_and_drafts_are_named(department: Department) -> None:
    change_pairs(department.exam, "de", only="costs", review={"status": "draft"})
    zone = {"KLARTEXT_SITE": str(always_open(department.exam.parent)["KLARTEXT_SITE"])}
    department.environ |= {"TZ": "UTC"}
    shown = department.run("qa", "approve", department.exam, "--show").stdout
    department.environ |= zone  # of Berlin

    department.run("qa", "approve", department.exam, "--by", "A", "--until", "2099-01-31")
    said = department.run("qa", "approve", department.exam, "--by", "B", "--until", "2099-01-31").stdout

    assert "--- pair pain de\nid: pain\n" in shown
    assert SENTENCES["de"]["chat_closed"][:20] in shown.split("--- sentences de")[1]
    assert "is printed by the same command with `--show`" in said
    assert "  pair costs de: signed (signed by A, B), but its review says 'draft': set `review: " in said
    assert "until: 2099-02-01T00:00+01:00" in (department.exam / "approvals.yaml").read_text()
    refused = department.run("qa", "approve", department.exam, "--by", " ", fails=True).stderr
    assert "`--by` is empty" in refused


@pytest.mark.proof
def test_going_back_twice_does_not_lead_to_the_release_that_was_gone_back_from(department: Department) -> None:
    for number, answer in enumerate(("Eine Stunde.", "Zwei Stunden.", "Drei Stunden."), 1):
        department.release(answer=answer)
        department.run("release", "activate", str(number))

    went = [department.run("release", "rollback").stdout for _ in range(2)]

    assert ["Release 2@" in went[0], "Release 1@" in went[1]] == [True, True]
    assert "Conversations that have begun keep their release" in went[0]
    refused = department.run("release", "rollback", fails=True).stderr
    assert "Before release 1, which was gone back to at 20" in refused
    assert "Release 3@" in department.run("release", "rollback", "--to", "3").stdout


def test_a_release_is_refused_for_what_lint_calls_an_error(department: Department) -> None:
    easy = "Unter Berücksichtigung untersuchungsspezifischer Gegebenheiten sind Schmerzempfindungen unwahrscheinlich."
    change_pairs(department.exam, "de", only="pain", easy_answer=easy)
    department.approve()

    said = department.run("release", "make", department.exam, fails=True).stderr

    assert "[pain] Its reading ease is" in said
    assert f"run `klartext qa lint {department.exam}`" in said


def test_who_signed_what_is_listed(department: Department) -> None:
    shown = department.run("qa", "approve", department.exam).stdout
    assert shown.startswith("6 unsigned\n")
    department.run("qa", "approve", department.exam, "--by", "Dr. Berg", "--until", "2099-01-31", "--what", "pain")

    said = department.run("qa", "approve", department.exam, "--json").stdout
    found = {each["what"]: each for each in map(json.loads, said.splitlines())}

    assert found["pair pain de"]["standing"] == "one signature"
    assert found["pair pain de"]["by"] == "Dr. Berg"
    assert found["pair costs de"]["standing"] == "unsigned"
    assert {"page de", "foreign", "sentences de"} < set(found)
    word_by_word = department.run(
        "qa", "approve", department.exam, "--what", "page", "--what", "foreign", "--show"
    ).stdout
    assert "consent_box: Ich bin einverstanden." in word_by_word
    assert "fr foreign_german" in word_by_word


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["qa", "approve", "EXAM", "--by", "A", "--until", "2020-01-01"], "`--until` is '2020-01-01', which is over"),
        (["qa", "approve", "EXAM", "--by", "A"], "`--until` is ''. Write a day such as 2027-06-30"),
        (
            ["qa", "approve", "EXAM", "--what", "everything"],
            "`--what` is 'everything'. Name one of foreign, page, pairs, sentences,",
        ),
        (["qa", "approve", "EXAM", "--what", "language"], "The catalog has no language of the site's own. Name one of"),
        (["release", "activate", "7"], "There is no release 7"),
        (["release", "rollback"], "No other release was ever in force"),
        (["release", "diff", "3"], "There is no release 3"),
        (["stop", "pair", "pain", "--force"], "No release shows a pair 'pain'"),
        (["stop", "end", "--by", "A", "--by", "a ", "--force"], "`--by` names 1 person, and opening takes two"),
        (["stop", "end", "--by", "A", "--by", "B", "--force"], "The chat is open"),
        (["serve", "--port", "0"], "No release is in force in this database"),
        (["release", "new-key", "--out", "KEY"], "exists already, and a key is never overwritten"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(department: Department, arguments: list[str], said: str) -> None:
    places = {"EXAM": str(department.exam), "KEY": department.environ["KLARTEXT_RELEASE_KEY_FILE"]}
    printed = department.run(*(places.get(each, each) for each in arguments), fails=True).stderr

    *before, last = printed.splitlines()
    assert said in last
    assert [line for line in before if not line.endswith(": no service has run on it yet.")] == []


def test_a_release_whose_approvals_have_expired_is_not_put_into_force(department: Department) -> None:
    department.approve()
    department.run("release", "make", department.exam)
    path = department.exam / "approvals.yaml"
    path.write_text(path.read_text().replace("2100-01-01", "2020-01-01"))

    assert "its approval has expired" in department.run("release", "make", department.exam, fails=True).stderr

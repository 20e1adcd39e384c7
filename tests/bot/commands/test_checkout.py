"""`klartext qa checkout` and `checkin`: what the console holds as files, and changed files back as drafts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from bot.catalog.catalog import pair_hash
from bot.commands.qa import qa
from bot.editorial.candidate import Candidate
from bot.editorial.exchange import changes_in, check_out, other_files
from bot.editorial.people import Person
from bot.editorial.workbench import SITE_DRAFT, Draft, Signature
from bot.release.contents import Contents
from bot.resources import data_folder
from bot.settings import Settings
from bot.web.staff.wiring import make_people, make_workbench
from tests.bot.release.exams import gather, write_exam

NOW = datetime.now().astimezone()
SITE = (data_folder("qa_pairs") / "site.yaml").read_text(encoding="utf-8")
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    write_exam(tmp_path / "exam", languages=("de", "en"))
    people = make_people(Settings(data=tmp_path), lambda: NOW)
    people.add(Person(0, "ada", "Ada", frozenset({"curator"})), "Sonne Wiese Ordner", by="a test")
    people.add(Person(0, "rob", "Rob", frozenset({"rater"})), "Sonne Wiese Ordner", by="a test")

    def run_(*arguments: str) -> Result:
        return CliRunner().invoke(qa, [*arguments, "--data", str(tmp_path)])

    return run_


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode())


def test_a_changed_file_becomes_a_draft_and_nothing_else_does(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    language_file = tmp_path / "exam" / "de.yaml"
    language_file.write_text(f"# A comment that stays\n{language_file.read_text(encoding='utf-8')}", encoding="utf-8")
    workbench = make_workbench(Settings(data=tmp_path))

    assert run("checkout", str(tmp_path / "exam"), str(out)).exit_code == 0
    german = out / "exams" / "exam" / "de.yaml"
    assert german.read_bytes() == language_file.read_bytes()
    assert run("checkin", str(out), "--by", "ada").output.strip() == "Nothing has changed."
    pair = gather(tmp_path / "exam").catalogs["de"].pairs[0]
    edit(german, pair.answer, "Aus der Datei.")
    dry = run("checkin", str(out), "--by", "ada")
    assert workbench.drafts("exam") == []
    wet = run("checkin", str(out), "--by", "ada", "--write")

    assert dry.output.splitlines() == [
        f"pair {pair.id} de: changed",
        "1 drafts would be stored. Add --write to store them.",
    ]
    assert "1 drafts stored, by Ada." in wet.output
    (draft,) = workbench.drafts("exam")
    assert draft.pair is not None
    assert (draft.name, draft.pair.answer, draft.changed_by) == (pair.id, "Aus der Datei.", "Ada")
    assert draft.pair.review.status == "draft"
    again = tmp_path / "again"
    assert run("checkout", str(tmp_path / "exam"), str(again)).exit_code == 0
    assert run("checkin", str(again), "--by", "ada").output.strip() == "Nothing has changed."
    assert "# A comment that stays" in (again / "exams" / "exam" / "de.yaml").read_text(encoding="utf-8")


def test_what_was_changed_in_the_console_meanwhile_is_a_conflict_and_nothing_is_stored(
    run: Run, tmp_path: Path
) -> None:
    out, workbench = tmp_path / "out", make_workbench(Settings(data=tmp_path))
    run("checkout", str(tmp_path / "exam"), str(out))
    first, second, *_ = gather(tmp_path / "exam").catalogs["de"].pairs
    ada = make_people(Settings(data=tmp_path), lambda: NOW).by_login("ada")
    assert ada is not None
    content = first.model_copy(update={"answer": "Aus der Konsole."}).model_dump(mode="json")
    workbench.save(Draft("exam", "de", first.id, content, pair_hash(first)), by=ada, now=NOW)
    for pair in (first, second):
        edit(out / "exams" / "exam" / "de.yaml", pair.answer, f"Aus der Datei {pair.id}.")

    told = run("checkin", str(out), "--by", "ada", "--write")

    assert told.exit_code == 2
    assert f"pair {first.id} de: changed, CONFLICT" in told.output
    assert f"pair {second.id} de: changed\n" in told.output
    assert [draft.name for draft in workbench.drafts("exam")] == [first.id]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("checkin", "{out}", "--by", "nobody"), "'nobody', which is no open account of a curator"),
        (("checkin", "{out}", "--by", "rob"), "'rob', which is no open account of a curator"),
        (("checkin", "{exam}", "--by", "ada"), "has no checkout.json"),
        (("checkout", "{exam}", "{exam}"), "is not empty"),
        (("checkout", "nowhere", "{new}"), "No catalog at 'nowhere'"),
    ],
)
def test_bad_input_is_one_clear_line(run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    places = {"out": tmp_path / "out", "exam": tmp_path / "exam", "new": tmp_path / "new"}
    run("checkout", str(places["exam"]), str(places["out"]))

    told = run(*(each.format(**places) for each in arguments))

    assert (told.exit_code, said in told.output) == (2, True)


def test_new_removed_and_other_files_are_named(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("checkout", str(tmp_path / "exam"), str(out))
    exam = out / "exams" / "exam"
    pairs = gather(exam).catalogs["en"].pairs
    edit(exam / "en.yaml", f"id: {pairs[0].id}", "id: other-name")
    (exam / "topics.yaml").write_text("groups: []\n", encoding="utf-8")
    (out / "site.yaml").write_text(SITE, encoding="utf-8")

    told = run("checkin", str(out), "--by", "ada")

    assert set(told.output.splitlines()) == {
        "pair other-name en: new",
        f"pair {pairs[0].id} en: removed",
        "site.yaml: new",
        "exams/exam/topics.yaml: changed, and not read back: only pairs and site.yaml are.",
        "3 drafts would be stored. Add --write to store them.",
    }


TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff\ufffe\uffff"), min_size=1).map(
    lambda text: f"x{text}x"
)


@given(
    answers=st.dictionaries(st.tuples(st.sampled_from(["de", "en"]), st.integers(0, 2)), st.none() | TEXT, max_size=4),
    added=st.none() | TEXT,
    signed=st.booleans(),
    site=st.booleans(),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_checking_out_and_in_again_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    answers: dict[tuple[str, int], str | None],
    added: str | None,
    signed: bool,
    site: bool,
) -> None:
    folder = tmp_path_factory.mktemp("round")
    base = gather(write_exam(folder / "exam", languages=("de", "en")))
    candidate = _candidate(base, answers, added, signed=signed, site=site)

    check_out(candidate, folder / "out", catalog="exam", now=NOW)

    assert changes_in(candidate, folder / "out", today=NOW) == []
    assert other_files(folder / "out", "exam", candidate.base.catalogs) == []


def _candidate(
    base: Contents, answers: dict[tuple[str, int], str | None], added: str | None, *, signed: bool, site: bool
) -> Candidate:
    drafts: dict[tuple[str, str], Draft] = {}
    for (language, number), answer in answers.items():
        pair = base.catalogs[language].pairs[number]
        if answer is None and number == 0:
            continue  # a catalog keeps one pair at least
        changed = pair.model_copy(update={"answer": answer.strip()}) if answer is not None else None
        content = changed.model_dump(mode="json") if changed is not None else None
        drafts[language, pair.id] = Draft("exam", language, pair.id, content, pair_hash(pair), 1)
    if added is not None:
        new = base.catalogs["de"].pairs[0].model_copy(update={"id": "added", "question": added.strip()})
        drafts["de", "added"] = Draft("exam", "de", "added", new.model_dump(mode="json"), "", 1)
    if site:
        drafts["", SITE_DRAFT] = Draft("exam", "", SITE_DRAFT, {"text": SITE}, "", 1)
    candidate = Candidate(base, "exam", drafts)
    if not signed:
        return candidate
    subjects = [candidate.subject_of(each) for each in drafts.values()] + list(base.pair_subjects.values())
    until = NOW + timedelta(days=9)
    given_ = [Signature(each.what, each.text, n, str(n), NOW, until) for each in subjects for n in (1, 2)]
    return Candidate(base, "exam", drafts, given_)

"""`klartext author submit`: a draft in the queue of the console, with what each of its sentences was written from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from alembic import command
from sqlalchemy import create_engine, text

from bot.adapters.sql_records import SqlRecords, alembic_config
from bot.catalog.catalog import load_catalog, pair_hash
from bot.catalog.quiz import Quiz
from bot.commands.exchange import HandedIn, losses
from bot.editorial.workbench import Backing, Draft, Provenance, Quotation
from bot.settings import Settings
from bot.testing import scripted_endpoint
from bot.web.middleware import CONSOLE
from harness.authoring.discussion.content import PairDraft, as_draft, find_pair, pair_task, read_draft
from harness.authoring.discussion.dialogue import Discussed, Discussion, Turn
from harness.authoring.discussion.texts import load_texts
from harness.authoring.submission import read_submission
from tests.bot.quizzes import a_quiz
from tests.bot.release.exams import change_pairs, write_exam
from tests.bot.web.staff.consoles import Staff, running_console
from tests.bot.web.staff.test_pairs import save
from tests.harness.authoring.author import author
from tests.harness.authoring.test_quiz_command import reply
from tests.postgresql import emptied

SENTENCE = "Nach einer Impfung kann die Achsel dick werden."
LINE = "Antwort: „Neu gesagt.“, „Alles neu.“ oder „Rufen Sie uns an.“ schreiben."
QUOTED = "Nach einer Impfung in den Oberarm können die Lymphknoten anschwellen."


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    with running_console(tmp_path_factory.mktemp("console")) as running:
        yield running


def _draft(folder: Path, pair_id: str = "vaccination", **more: Any) -> Path:
    folder.mkdir(exist_ok=True)
    quotation = {"document": "sop.pdf", "title": "SOP Impfung", "place": "p. 2", "text": QUOTED}
    content = {
        "catalog": "content",
        "language": "de",
        "drafted_by": ["offline-model"],
        "pairs": [
            {"id": pair_id, "question": "Was ist nach einer Impfung?", "answer": f"{SENTENCE} Sagen Sie es uns."}
        ],
        "provenance": {pair_id: [{"field": "answer", "sentence": SENTENCE, "quotations": [quotation]}]},
    }
    (folder / "draft.yaml").write_text(yaml.safe_dump({**content, **more}, allow_unicode=True), encoding="utf-8")
    return folder


def _submit(staff: Staff, folder: Path, *options: str | Path, by: str = "ada") -> Any:
    settings = staff.console.tools.settings
    environ = {"KLARTEXT_DATA": str(settings.data)}
    if settings.database_url:
        environ["KLARTEXT_DATABASE_URL"] = settings.database_url
    exam = Path(str(settings.data)) / "content"
    return author("submit", folder, "--by", by, "--catalog", exam, *options, environ=environ)


def test_a_curator_sees_where_each_sentence_comes_from_also_after_editing(staff: Staff, tmp_path: Path) -> None:
    browser = staff.logged_in("ada", "curator")
    done = _submit(staff, _draft(tmp_path / "d"))
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == "pair vaccination de: draft, handed in by Ada."

    browser.open(f"{CONSOLE}/pairs/vaccination")
    assert "Where 1 sentence comes from; the file that Ada handed in names offline-model as its writer" in browser.text
    assert QUOTED in browser.text
    assert "SOP Impfung, p. 2" in browser.text
    assert "no longer in the text like this" not in browser.text

    save(browser, de__answer="Die Achsel kann dick werden.")
    browser.open(f"{CONSOLE}/pairs/vaccination")
    assert "no longer in the text like this" in browser.text
    (draft,) = [each for each in staff.console.tools.workbench.drafts("content") if each.name == "vaccination"]
    assert draft.version == 2
    assert isinstance(draft.provenance, Provenance)
    assert draft.provenance.written_by == "offline-model"


def test_what_a_discussion_leaves_in_its_folder_is_handed_in_as_it_is(staff: Staff, tmp_path: Path) -> None:
    base = staff.console.tools.candidate().base.catalogs["de"]
    known = base.pairs[-1]
    (tmp_path / "draft.yaml").write_text(_discussed(PairDraft(known, base.ref, base.name), "Neu gesagt."), "utf-8")

    kept = _handed_in(staff, tmp_path, known.id)

    assert kept.pair is not None
    assert (kept.pair.answer, kept.pair.variants, bool(kept.base)) == ("Neu gesagt.", known.variants, True)
    line = Quotation("discussion", "Besprechung zweier Sprachmodelle", "Notizzettel, Zeile 2", LINE)
    backing = Backing("answer", "Neu gesagt.", (line,), unchecked=True)
    assert kept.provenance == Provenance("offline-model", (backing,), handed_in_by="Ada")


def _discussed(draft: PairDraft, answer: str, language: str = "de") -> str:
    """What is handed in after a discussion of which the second line was accepted."""
    turns = (Turn("decider", "Ja.", ("Kurzantwort: streichen.", LINE)),)
    done = Discussed(draft.texts, Discussion(turns, "stop"), (2,), {**draft.texts, "answer": answer})
    task = pair_task(load_texts(language), draft)
    return as_draft(draft, task, done, language=language, models=["offline-model"])


def test_a_draft_that_was_discussed_still_says_where_its_sentences_come_from(staff: Staff, tmp_path: Path) -> None:
    drafted = read_draft(str(_draft(tmp_path / "d", "twice-told", drafted_by=["first-model"]) / "draft.yaml"))
    (tmp_path / "draft.yaml").write_text(_discussed(drafted, f"{SENTENCE} Rufen Sie uns an."), "utf-8")

    browser = staff.logged_in("ada", "curator")
    kept = _handed_in(staff, tmp_path, "twice-told")

    assert kept.written_by == "first-model, offline-model"
    assert [(each.sentence, each.quotations[0].text, each.unchecked, stands) for each, stands in kept.backings] == [
        (SENTENCE, QUOTED, False, True),
        ("Rufen Sie uns an.", LINE, True, True),
    ]
    (tmp_path / "again.yaml").write_text(_discussed(read_draft(str(tmp_path / "draft.yaml")), "Alles neu."), "utf-8")
    again = yaml.safe_load((tmp_path / "again.yaml").read_text("utf-8"))
    assert again["drafted_by"] == ["first-model", "offline-model"]
    assert [each["sentence"] for each in again["provenance"]["twice-told"]] == [
        *(SENTENCE, "Rufen Sie uns an."),  # gone: the console marks them, as after editing
        "Alles neu.",
    ]
    browser.open(f"{CONSOLE}/pairs/twice-told")
    assert "1 sentence was not compared with the documents" in browser.text
    assert LINE in browser.text


@pytest.mark.parametrize(
    ("answer", "line", "cited", "unstated"),
    [
        ("Vor dem Termin zwei Stunden nichts essen.", "Antwort: vor dem Termin zwei Stunden nichts essen", 1, None),
        ("Kommen Sie 4 Stunden vorher.", "Antwort: statt 2 Stunden 4 Stunden schreiben", 1, None),
        ("Nehmen Sie Ihre Tabletten wie immer.", "Antwort: Anrede freundlicher machen", 0, None),
        ("Nehmen Sie 3 Tabletten.", "Antwort: Anrede freundlicher machen", 0, ["3"]),
        ("Rufen Sie an: 0316 12345678.", "Antwort: eine Telefonnummer nennen", 0, ["031612345678"]),
    ],
)
def test_a_new_sentence_cites_only_lines_that_say_it_and_numbers_that_nobody_stated_are_named(
    staff: Staff, answer: str, line: str, cited: int, unstated: list[str] | None
) -> None:
    base = staff.console.tools.candidate().base.catalogs["de"]
    pair = base.pairs[0].model_copy(update={"answer": "Kommen Sie 2 Stunden vorher.", "extracts": ()})
    draft = PairDraft(pair, base.ref, base.name)
    done = Discussed(
        draft.texts, Discussion((Turn("decider", "Ja.", (line,)),), "stop"), (1,), {**draft.texts, "answer": answer}
    )

    written = as_draft(draft, pair_task(load_texts("de"), draft), done, language="de", models=["offline-model"])

    (backing,) = yaml.safe_load(written)["provenance"][pair.id]
    assert [each["text"] for each in backing["quotations"]] == [line] * cited
    assert (backing["sentence"], backing.get("unstated")) == (answer, unstated)


def test_who_signs_reads_that_nothing_says_a_sentence_and_that_nobody_stated_a_number(
    staff: Staff, tmp_path: Path
) -> None:
    browser = staff.logged_in("ada", "curator")
    backing = {"field": "answer", "sentence": SENTENCE, "quotations": [], "unchecked": True, "unstated": ["3"]}
    assert _submit(staff, _draft(tmp_path / "d", "sourceless", provenance={"sourceless": [backing]})).exit_code == 0

    for page in ("to-sign/text?what=pair%20sourceless%20de", "pairs/sourceless"):
        browser.open(f"{CONSOLE}/{page}")
        assert "Nothing says this: neither an accepted line of the discussion nor a document" in browser.text
        assert "this number stands neither in the earlier text nor in an accepted line: 3" in browser.text
        assert "Klartext's own commands always name a language model as the writer." in browser.text


def test_models_are_no_writers_of_a_text_of_which_nothing_was_taken(staff: Staff) -> None:
    base = staff.console.tools.candidate().base.catalogs["de"]
    draft = PairDraft(base.pairs[0], base.ref, base.name)
    written = as_draft(
        draft,
        pair_task(load_texts("de"), draft),
        Discussed(draft.texts, Discussion((), "stop"), (), draft.texts),
        language="de",
        models=["offline-model"],
    )
    assert yaml.safe_load(written)["drafted_by"] == []


def test_what_a_quiz_leaves_in_its_folder_is_handed_in_as_it_is(staff: Staff, tmp_path: Path) -> None:
    known = staff.console.tools.candidate().base.catalogs["de"].pairs[-2]
    exam = Path(str(staff.console.tools.settings.data)) / "content"
    given = ("--pair", known.id, "--topic", "Was man tut", "--key-point", "tun", "--catalog", exam)
    with scripted_endpoint(reply) as endpoint:
        environ = {"KLARTEXT_DATA": str(tmp_path / "data"), "KLARTEXT_MODEL_URL": endpoint.url}
        environ["KLARTEXT_EMBEDDINGS_URL"] = endpoint.url
        how = ("--encoder", "openai:scripted", "--model", "scripted", "--out", tmp_path / "quiz")
        done = author("quiz", *given, *how, environ=environ)
    assert done.exit_code == 0, done.output

    kept = _handed_in(staff, tmp_path / "quiz", known.id)

    assert kept.pair is not None
    assert kept.pair.model_copy(update={"quizzes": (), "review": known.review}) == known
    assert read_submission(tmp_path / "quiz").base == {known.id: kept.base} == {known.id: pair_hash(known)}
    assert len(kept.pair.quizzes) == 1
    assert isinstance(kept.provenance, Provenance)
    assert (kept.provenance.written_by, kept.provenance.handed_in_by) == ("scripted", "Ada")
    ((backing, stands),) = kept.backings
    assert (backing.field, backing.sentence) == ("quizzes.1.answer", kept.pair.quizzes[0].answer)
    assert [each.text for each in backing.quotations] == [known.answer]
    assert (stands, backing.unchecked) == (True, False)
    browser = staff.logged_in("bea", "curator")
    browser.open(f"{CONSOLE}/pairs/{known.id}")
    assert "Where 1 sentence comes from; the file that Ada handed in names scripted as its writer" in browser.text
    assert "no longer in the text like this" not in browser.text
    changed = replace(backing, sentence="Etwas anderes.")
    assert not changed.stands_in({}, kept.pair.quizzes)
    assert not backing.stands_in({}, ())


def _handed_in(staff: Staff, folder: Path, pair_id: str) -> Draft:
    """Hand in a folder whose draft names catalog and language itself; return what the console has of it."""
    staff.person("ada", "curator")
    done = _submit(staff, folder)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == f"pair {pair_id} de: draft, handed in by Ada."
    (kept,) = [each for each in staff.console.tools.workbench.drafts("content") if each.name == pair_id]
    return kept


def test_who_wrote_a_draft_stands_in_the_trail(staff: Staff, tmp_path: Path) -> None:
    staff.person("ada", "curator")
    assert _submit(staff, _draft(tmp_path / "d", "in-the-trail")).exit_code == 0

    act = next(each for each in staff.console.tools.acts.all() if each.what == "pair in-the-trail de")

    assert (act.by, act.action, act.after["written by"]) == ("Ada", "import", "offline-model")


def test_nobodys_draft_is_overwritten_and_all_or_none_is_stored(staff: Staff, tmp_path: Path) -> None:
    staff.person("ada", "curator")
    assert _submit(staff, _draft(tmp_path / "d", "twice")).exit_code == 0
    pair = {"id": "other", "question": "Und?", "answer": "Ja."}
    both = _draft(tmp_path / "e", pairs=[pair, {**pair, "id": "twice"}], provenance={})

    done = _submit(staff, both)

    assert done.exit_code == 2
    assert "Nothing is stored: there is a draft of pair 'twice' (de) by Ada." in done.stderr
    assert all(each.name != "other" for each in staff.console.tools.workbench.drafts("content"))


def test_a_pair_alone_and_a_change_of_one_that_is_there_are_taken_as_drafts(staff: Staff, tmp_path: Path) -> None:
    staff.person("ada", "curator")
    known = staff.console.tools.candidate().base.catalogs["de"].pairs[0]
    pair = {**known.model_dump(mode="json"), "answer": "Neu gesagt.", "review": {"status": "approved", "by": "x, y"}}
    file = tmp_path / "pair.yaml"
    file.write_text(yaml.safe_dump(pair), encoding="utf-8")

    assert "does not say for which catalog and language" in _submit(staff, file).stderr
    done = _submit(staff, file, "--lang", "de")

    assert done.exit_code == 0, done.output
    (draft,) = [each for each in staff.console.tools.workbench.drafts("content") if each.name == known.id]
    assert draft.pair is not None
    assert (draft.pair.answer, draft.pair.review.status, bool(draft.base)) == ("Neu gesagt.", "draft", True)


@pytest.mark.parametrize(
    ("change", "by", "message"),
    [
        ({"pairs": []}, "ada", "holds no draft of a pair (pairs:"),
        ({"colour": 1}, "ada", "holds no draft of a pair (colour: is not known here)"),
        ({"language": "fr"}, "ada", "content has no language 'fr'"),
        ({"provenance": {"vaccination": [{"field": 3}]}}, "ada", "were written from cannot be read"),
        (
            {"pairs": [{"id": "a", "question": "A?", "answer": "B.", "related": ["zz"]}]},
            "ada",
            "names pairs that are not",
        ),
        ({}, "nobody", "`--by` is 'nobody', which is no open account of a curator"),
        ({}, "rob", "`--by` is 'rob', which is no open account of a curator"),
    ],
)
def test_what_is_amiss_is_one_line_and_stores_nothing(
    staff: Staff, tmp_path: Path, change: dict[str, Any], by: str, message: str
) -> None:
    staff.person("ada", "curator")
    staff.person("rob", "rater")
    before = staff.console.tools.workbench.drafts("content")

    done = _submit(staff, _draft(tmp_path / "d", **change), by=by)

    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert staff.console.tools.workbench.drafts("content") == before


def test_a_folder_without_a_draft_is_one_line(staff: Staff, tmp_path: Path) -> None:
    done = _submit(staff, tmp_path)

    assert done.exit_code == 2
    assert "draft.yaml cannot be read (there is no such file)" in done.stderr
    (tmp_path / "draft.yaml").write_text("pairs: [", encoding="utf-8")
    assert "it is no YAML" in _submit(staff, tmp_path).stderr


@pytest.mark.proof
def test_postgresql_keeps_provenance_and_an_older_schema_is_brought_up(postgresql: str, tmp_path: Path) -> None:
    with running_console(tmp_path, database=emptied(postgresql)) as staff:
        staff.person("ada", "curator")
        assert _submit(staff, _draft(tmp_path / "d")).exit_code == 0
        (draft,) = staff.console.tools.workbench.drafts("content")
    assert draft.provenance is not None
    assert draft.provenance.backings[0].quotations[0].text == QUOTED

    engine = create_engine(postgresql)
    config = alembic_config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0025")  # the last that knew of no provenance
    SqlRecords.open(postgresql, upgrade=True).engine.dispose()
    with engine.begin() as connection:
        assert connection.execute(text("SELECT provenance FROM drafts")).scalar() is None
    engine.dispose()


def test_who_signs_sees_that_a_model_wrote_it_from_what_and_what_nobody_checked(staff: Staff, tmp_path: Path) -> None:
    browser = staff.logged_in("ada", "curator")
    folder = _draft(tmp_path / "d", "to-be-signed")
    content = yaml.safe_load((folder / "draft.yaml").read_text(encoding="utf-8"))
    content["provenance"]["to-be-signed"][0]["unchecked"] = True
    assert _submit(staff, _draft(folder, **content)).exit_code == 0

    for page in ("to-sign/text?what=pair%20to-be-signed%20de", "pairs/to-be-signed"):
        browser.open(f"{CONSOLE}/{page}")
        assert "the file that Ada handed in names offline-model as its writer" in browser.text
        assert QUOTED in browser.text
        assert "1 sentence was not compared with the documents." in browser.text
        assert "unchecked" in browser.text


def test_who_signs_sees_unknown_numbers_and_sentences_that_the_file_does_not_list(staff: Staff, tmp_path: Path) -> None:
    browser = staff.logged_in("ada", "curator")
    assert _submit(staff, _draft(tmp_path / "d", "typed-later")).exit_code == 0
    browser.open(f"{CONSOLE}/pairs/typed-later")
    save(browser, de__answer=f"{SENTENCE} Rufen Sie an: 0316 12345678.", de__easy_answer="Das ist leicht.")

    browser.open(f"{CONSOLE}/to-sign/text?what=pair%20typed-later%20de")

    assert "031612345678: this number stands neither in what is known of the site" in browser.text
    assert "2 new sentences of the answers are not in the list of the file that was handed in" in browser.text
    new = {each.text.strip().partition(" (")[0] for each in browser.page.all("li")}
    assert {"Rufen Sie an: 0316 12345678.", "Das ist leicht."} <= new


def test_a_sentence_is_listed_where_it_stands_in_what_is_released_or_within_what_the_file_lists() -> None:
    provenance = Provenance("m", (Backing("answer", "Ja, ca. 5 Minuten. Sie gehen.", ()),))
    now = {"answer": "Ja, ca. 5 Minuten. Sie gehen. Es ist alt. Sie gehen heim.", "easy_answer": "Sie gehen."}

    assert provenance.unlisted(now, {"answer": "Es ist alt."}) == [
        ("answer", "Sie gehen heim."),
        ("easy_answer", "Sie gehen."),
    ]


def test_a_discussions_model_is_named_in_lists_editor_and_where_it_is_signed(staff: Staff, tmp_path: Path) -> None:
    browser = staff.logged_in("ada", "curator")
    assert _submit(staff, _draft(tmp_path / "d", "discussed", provenance={})).exit_code == 0

    for page in ("to-sign/text?what=pair%20discussed%20de", "pairs/discussed"):
        browser.open(f"{CONSOLE}/{page}")
        assert "Handed in by Ada as a file, which names offline-model as its writer" in browser.text
    for page in ("to-sign", "pairs?q=discussed"):
        browser.open(f"{CONSOLE}/{page}")
        assert "written by offline-model" in browser.text


def test_a_draft_of_another_language_or_exam_is_refused(staff: Staff, tmp_path: Path) -> None:
    staff.person("ada", "curator")
    folder = _draft(tmp_path / "d", "elsewhere")

    other = _submit(staff, folder, "--lang", "en")
    assert (other.exit_code, other.stdout) == (2, "")
    assert "is in 'de', and `--lang` says 'en'. Leave `--lang` out." in other.stderr
    exam = _submit(staff, folder, "--catalog", "mammography")
    assert exam.exit_code == 2
    assert "is for 'content', and `--catalog` says 'mammography'" in exam.stderr
    assert all(each.name != "elsewhere" for each in staff.console.tools.workbench.drafts("content"))


def test_a_draft_from_older_content_is_outdated_from_the_first_and_said_to_be(staff: Staff, tmp_path: Path) -> None:
    base = staff.console.tools.candidate().base.catalogs["en"]
    released = base.pairs[2]
    older = released.model_copy(update={"answer": "Four hours without food."})
    folder = replace(base, pairs=tuple(older if each is released else each for each in base.pairs))
    found = find_pair(released.id, folder)
    (tmp_path / "draft.yaml").write_text(_discussed(found, "No food for four hours.", "en"), encoding="utf-8")
    browser = staff.logged_in("ada", "curator")

    done = _submit(staff, tmp_path)

    assert done.exit_code == 0, done.output
    assert f"LOOK: pair {released.id} en was drafted from another text than what is released now" in done.stderr
    browser.open(f"{CONSOLE}/pairs?warning=outdated")
    assert released.id in [each.text for each in browser.page.all("code")]


@pytest.mark.parametrize("where", ["catalog", "file"])
def test_a_draft_knows_what_it_was_begun_with_also_when_it_is_discussed_again(
    staff: Staff, tmp_path: Path, where: str
) -> None:
    base = staff.console.tools.candidate().base.catalogs["en"]
    pair = base.pairs[0]
    found = find_pair(pair.id, base)
    if where == "file":
        (tmp_path / "first.yaml").write_text(_discussed(found, "One.", "en"), encoding="utf-8")
        found = read_draft(str(tmp_path / "first.yaml"))
    (tmp_path / "draft.yaml").write_text(_discussed(found, "Two.", "en"), encoding="utf-8")

    assert read_submission(tmp_path).base == {pair.id: pair_hash(pair)}


def test_a_base_that_is_no_hash_is_one_line(staff: Staff, tmp_path: Path) -> None:
    staff.person("ada", "curator")
    done = _submit(staff, _draft(tmp_path / "d", "odd-base", base={"odd-base": "yesterday"}))

    assert (done.exit_code, done.stdout) == (2, "")
    assert "holds no draft of a pair (base.odd-base" in done.stderr


def test_what_is_replaced_by_others_is_lost_as_what_is_left_out(tmp_path: Path) -> None:
    exam = write_exam(tmp_path / "content", languages=("de",))
    source = {"title": "Leitlinie", "publisher": "X", "year": 2024}
    texts = {"easy_answer": "Leicht.", "sources": [source], "quizzes": [a_quiz("de"), a_quiz("de", "Zwei?")]}
    extracts = [{"facet": "time", "text": "Kurz."}, {"facet": "time", "text": "Lang."}]
    there = {"AT": {"answer": "Kurz. Lang.", "easy_answer": "Servus."}}
    other = next(each.id for each in load_catalog(exam, "de").pairs if each.id != "pain")
    names = {"facets": ["time"], "related": [other], "words_target": 60}
    change_pairs(exam, "de", only="pain", answer="Kurz. Lang.", extracts=extracts, countries=there, **texts, **names)
    settings = Settings(data=tmp_path / "data")
    pair = load_catalog(exam, "de").pair("pain")
    others = {
        "easy_answer": None,
        "facets": (),
        "related": (),
        "words_target": None,
        "sources": (pair.sources[0].model_copy(update={"title": "Anderes"}),),
        "quizzes": tuple(Quiz.model_validate(a_quiz("de", each)) for each in ("Drei?", "Vier?")),
        "extracts": tuple(each.model_copy(update={"text": f"{each.text} Neu."}) for each in pair.extracts),
        "countries": {"AT": pair.countries["AT"].model_copy(update={"easy_answer": None})},
    }

    (line,) = losses(str(exam), [HandedIn("de", pair.model_copy(update=others), "m")], settings=settings)

    said = "2 of 2 extracts, 2 of 2 quizzes, 1 of 1 sources, 1 of 1 facets, 1 of 1 related"
    said = f"{said}, easy_answer, countries.AT.easy_answer, words_target"
    assert f"pair pain de loses {said}." in line
    assert losses(str(exam), [HandedIn("de", pair, "m")], settings=settings) == []


def test_variants_that_a_draft_lacks_are_said_aloud_and_a_discussed_pair_keeps_them(
    staff: Staff, tmp_path: Path
) -> None:
    browser = staff.logged_in("ada", "curator")
    base = staff.console.tools.candidate().base.catalogs["en"]
    bare, kept = base.pairs[0], base.pairs[1]
    content = [{"id": bare.id, "question": bare.question, "answer": bare.answer}]
    done = _submit(staff, _draft(tmp_path / "d", language="en", pairs=content, provenance={}))
    assert done.exit_code == 0, done.output
    assert f"LOOK: pair {bare.id} en does not say with which text it was begun (no `base`)" in done.stderr
    assert f"LOOK: with this draft, pair {bare.id} en loses {len(bare.variants)} of {len(bare.variants)} variants" in (
        done.stderr
    )

    draft = PairDraft(kept, base.ref, base.name, base=pair_hash(kept))
    done = Discussed(draft.texts, Discussion((), "stop"), (), draft.texts)
    written = as_draft(draft, pair_task(load_texts("en"), draft), done, language="en", models=["offline-model"])
    (tmp_path / "draft.yaml").write_text(written, encoding="utf-8")
    done = _submit(staff, tmp_path)
    assert (done.exit_code, "LOOK" in done.stderr) == (0, False), done.output
    browser.open(f"{CONSOLE}/pairs/{kept.id}")
    save(browser, en__words_target="60")
    (stored,) = [
        each
        for each in staff.console.tools.workbench.drafts("content")
        if (each.language, each.name) == ("en", kept.id)
    ]
    assert stored.pair is not None
    assert stored.version == 2
    assert (stored.pair.variants, stored.pair.extracts) == (kept.variants, kept.extracts)

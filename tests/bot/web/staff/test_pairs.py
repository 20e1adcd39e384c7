"""The pairs in the console: the list, the editor, and two people who write the same pair at once."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from bot.adapters.sql_workbench import SqlWorkbench
from bot.catalog.catalog import Variant, load_catalog, locate, pair_hash
from bot.catalog.edge import Author
from bot.editorial.pair_fields import BadFields, Typed, fields_of
from bot.editorial.word_diff import word_diff
from bot.editorial.workbench import Draft, Signature
from bot.web.middleware import CONSOLE
from tests.bot.release.exams import change_pairs, write_exam
from tests.bot.web.browser import Browser
from tests.bot.web.staff.consoles import Staff, now, running_console, statements
from tests.bot.web.staff.many_items import many_pairs


def typed(browser: Browser) -> dict[str, str]:
    """Return the editor's form as a browser would send it unchanged."""
    form = browser.page.one("form", id="pair")
    sent = {each.get("name"): each.get("value") for each in form.all("input") if each.get("type") != "checkbox"}
    sent |= {
        each.get("name"): "".join(str(child) for child in each.children).removeprefix("\n")
        for each in form.all("textarea")
    }
    return {name: value for name, value in sent.items() if ".take." not in name}


def save(browser: Browser, **fields: str) -> None:
    """Change fields of the editor, `de__answer` for `de.answer`, and save."""
    form = browser.page.one("form", id="pair")
    changed = {name.replace("__", "."): value for name, value in fields.items()}
    browser._show(browser.client.post(form.get("action"), data={**typed(browser), **changed}))


@pytest.mark.proof
@pytest.mark.parametrize("language", ["de", "en"])
def test_every_shipped_pair_survives_the_form_as_it_is(language: str) -> None:
    catalog = load_catalog(locate("mammography"), language)

    for pair in catalog.pairs:
        assert Typed(fields_of(pair), "Ada").pair(pair.id, catalog, [pair]) == pair


def test_lines_that_stay_keep_facet_and_author_and_new_ones_are_of_who_typed_them(tmp_path: Path) -> None:
    catalog = load_catalog(write_exam(tmp_path / "exam"), "de")
    by = Author(kind="model", profile="test")
    lines = ("Wie lange?", "Geht das schnell?", "Dauert es?")
    known = tuple(Variant(text=line, facet="time", by=by) for line in lines)
    pair = catalog.pairs[0].model_copy(update={"variants": known})
    fields = fields_of(pair)

    made = Typed({**fields, "variants": "\n".join([lines[0] + " bitte", *lines[1:], "Neu?"])}, "Ada").pair(
        pair.id, catalog, [pair]
    )

    assert made.variants[1:-1] == pair.variants[1:]
    assert made.variants[0].facet == pair.variants[0].facet
    assert [(each.by.kind, each.by.name) for each in (made.variants[0], made.variants[-1]) if each.by] == [
        ("person", "Ada")
    ] * 2


def test_a_changed_text_is_no_longer_approved_by_who_approved_the_old_one(tmp_path: Path) -> None:
    catalog = load_catalog(write_exam(tmp_path / "exam"), "de")
    pair = catalog.pairs[0]

    same = Typed({**fields_of(pair), "valid_until": "2030-01-31"}, "Ada").pair(pair.id, catalog, [pair])
    other = Typed({**fields_of(pair), "answer": "Anders."}, "Ada").pair(pair.id, catalog, [pair])

    assert (same.review.status, same.review.by, str(same.review.valid_until)) == ("approved", "Dr. Test", "2030-01-31")
    assert (other.review.status, other.review.by) == ("draft", None)


@pytest.mark.parametrize(
    ("field", "value", "flaw"),
    [
        ("answer", "", "empty"),
        ("words_target", "viele", "number"),
        ("words_target", "7", "range"),
        ("valid_until", "bald", "day"),
        ("sources.0.title", "A title alone", "empty"),
    ],
)
def test_fields_that_make_no_pair_are_named(tmp_path: Path, field: str, value: str, flaw: str) -> None:
    catalog = load_catalog(write_exam(tmp_path / "exam"), "de")
    pair = catalog.pairs[0]

    with pytest.raises(BadFields) as told:
        Typed({**fields_of(pair), field: value}, "Ada").pair(pair.id, catalog, [pair])

    assert flaw in told.value.flaws.values()


def test_a_diff_holds_both_texts_word_by_word() -> None:
    old, new = "Das tut nicht weh.", "Das tut meist nicht sehr weh!"

    pieces = word_diff(old, new)

    assert "".join(each.text for each in pieces if each.kind != "ins") == old
    assert "".join(each.text for each in pieces if each.kind != "del") == new
    assert [each.text.strip() for each in pieces if each.kind == "ins"] == ["meist", "sehr", "!"]


def test_the_list_shows_searches_filters_and_leaves_as_json_and_csv(staff: Staff) -> None:
    browser = staff.logged_in("lia", "curator")
    browser.follow("Pairs")
    ids = [each.text for each in browser.page.all("code")]
    assert len(ids) == 3

    browser.open(f"{CONSOLE}/pairs?q={ids[1]}")
    found = [each.text for each in browser.page.all("code")]
    browser.open(f"{CONSOLE}/pairs?q=unfindable")
    empty = browser.text
    told = browser.client.get(f"{CONSOLE}/pairs", headers={"Accept": "application/json"}).json()
    table = list(csv.DictReader(io.StringIO(browser.client.get(f"{CONSOLE}/pairs?as=csv").text)))

    assert found == [ids[1]]
    assert "No pair fits" in empty
    assert {each["stage"] for each in told["pairs"]} == {"unsigned"}
    assert [(each["id"], each["language"]) for each in table] == [
        (each["id"], each["language"]) for each in told["pairs"]
    ]


def test_a_curator_writes_a_draft_and_gives_it_up(staff: Staff) -> None:
    browser = staff.logged_in("cara", "curator", name="Cara Ott")
    pair_id = staff.console.tools.candidate().base.catalogs["de"].pairs[0].id
    browser.open(f"{CONSOLE}/pairs/{pair_id}")

    save(browser)
    assert "Nothing was changed" in browser.text
    save(browser, de__answer="Eine neue Antwort.", de__variants="Neu gefragt?", en__words_target="many")
    assert "Not saved yet" in browser.text
    assert "Eine neue Antwort." in typed(browser)["de.answer"]  # nothing typed is lost
    assert staff.console.tools.workbench.draft("content", "de", pair_id) is None
    save(browser, en__words_target="")
    draft = staff.console.tools.workbench.draft("content", "de", pair_id)
    act = staff.console.tools.acts.read(what=f"pair {pair_id} de")[0]

    assert "The draft is saved" in browser.text
    assert "The answer has 3 words; 50 to 120 are wanted." in browser.text
    assert draft is not None
    assert draft.pair is not None
    assert (draft.pair.answer, draft.pair.variants[0].by) == (
        "Eine neue Antwort.",
        draft.pair.variants[0].by,
    )
    assert staff.console.tools.workbench.draft("content", "en", pair_id) is None  # each language is its own draft
    assert (act.action, act.by, act.after["answer"]) == ("edit", "Cara Ott", "Eine neue Antwort.")
    browser.press("Give up the draft (German)")
    assert staff.console.tools.workbench.draft("content", "de", pair_id) is None
    assert "given up" in browser.text


def test_two_people_who_write_at_once_choose_field_by_field(staff: Staff) -> None:
    pair_id = staff.console.tools.candidate().base.catalogs["de"].pairs[1].id
    first = staff.logged_in("uno", "curator", name="Uno")
    second = staff.logged_in("due", "curator", name="Due")
    for each in (first, second):
        each.open(f"{CONSOLE}/pairs/{pair_id}")

    save(first, de__answer="Von Uno.", de__easy_answer="Leicht von Uno.")
    save(second, de__answer="Von Due.", de__question="Fragt Due?", en__answer="By Due.")

    assert second.answer.status_code == 409
    assert "Somebody else has stored this pair meanwhile" in second.text
    assert "Uno" in second.page.one("div", class_="conflicts").text
    now_typed = typed(second)
    assert (now_typed["de.answer"], now_typed["de.question"]) == ("Von Due.", "Fragt Due?")
    assert now_typed["de.easy_answer"] == "Leicht von Uno."  # Due had left it alone
    assert [each.get("name") for each in second.page.all("input", type="radio", value="theirs")] == ["de.take.answer"]
    save(second, **{"de.take.answer": "theirs"})
    candidate = staff.console.tools.candidate()
    german, english = candidate.pair("de", pair_id), candidate.pair("en", pair_id)
    assert german is not None
    assert english is not None
    assert (german.answer, german.question, german.easy_answer) == ("Von Uno.", "Fragt Due?", "Leicht von Uno.")
    assert english.answer == "By Due."
    assert candidate.drafts["de", pair_id].editors == {
        staff.person("uno").id,
        staff.person("due").id,
    }


def test_a_new_pair_is_written_in_both_languages_and_removed_again(staff: Staff) -> None:
    browser = staff.logged_in("nora", "curator")
    browser.open(f"{CONSOLE}/new-pair")
    texts = {"de__question": "Neu?", "de__answer": "Ja.", "en__question": "New?", "en__answer": "Yes."}

    save(browser, id="Not an id", **texts)
    assert "Only small letters" in browser.text
    assert typed(browser)["de.answer"] == "Ja."
    save(browser, id=staff.console.tools.candidate().base.catalogs["de"].pairs[0].id)
    assert "is there already" in browser.text
    save(browser, id="brand-new")
    assert browser.answer.url.path == f"{CONSOLE}/pairs/brand-new"
    assert {key for key in staff.console.tools.candidate().drafts if key[1] == "brand-new"} == {
        ("de", "brand-new"),
        ("en", "brand-new"),
    }
    form = next(each for each in browser.page.all("form") if each.get("action").endswith("/remove"))
    sent = {each.get("name"): each.get("value") for each in form.all("input", type="hidden")}
    browser._show(browser.client.post(form.get("action"), data={**sent, "language": ["de", "en"]}))

    assert browser.answer.url.path == f"{CONSOLE}/pairs"
    assert not [key for key in staff.console.tools.candidate().drafts if key[1] == "brand-new"]


def test_a_pair_without_an_answer_is_kept_unfinished_and_cannot_be_signed_until_it_is_whole(staff: Staff) -> None:
    tools, browser = staff.console.tools, staff.logged_in("uma", "curator")
    browser.open(f"{CONSOLE}/new-pair")
    save(browser, id="half-done", de__question="Halb?", unfinished="yes")
    unfinished = tools.candidate()

    assert browser.answer.url.path == f"{CONSOLE}/pairs/half-done", browser.text
    assert "Saved, but unfinished" in browser.text
    assert typed(browser)["de.question"] == "Halb?"
    assert [name for _, name in unfinished.unfinished] == ["half-done"]
    assert "half-done" not in [name for _, name in unfinished.drafts]
    assert "half-done" not in [each.id for each, _ in unfinished.pairs("de")]
    browser.open(f"{CONSOLE}/pairs?stage=unfinished")
    assert [each.text for each in browser.page.all("code")] == ["half-done"]
    browser.open(f"{CONSOLE}/to-sign")
    assert "Halb?" not in browser.text
    browser.open(f"{CONSOLE}/pairs/half-done")
    save(browser, de__answer="Jetzt ganz.")
    whole = tools.candidate()
    assert ("de", "half-done") in whole.drafts
    assert not whole.unfinished
    browser.press("Give up the draft (German)")
    assert browser.answer.url.path == f"{CONSOLE}/pairs"


def test_pasted_characters_that_no_screen_shows_are_taken_out_and_said_so(staff: Staff) -> None:
    browser = staff.logged_in("pia", "curator")
    pair_id = staff.console.tools.candidate().base.catalogs["en"].pairs[1].id
    browser.open(f"{CONSOLE}/pairs/{pair_id}")
    hidden = "It is\u00ad quick\u200b.\n\u202eYes\u2066."

    save(browser, en__answer=hidden, en__words_target="many")
    assert "that no screen shows" in browser.text
    assert typed(browser)["en.answer"] == "It is quick.\nYes."
    save(browser, en__words_target="", en__short_answer="Qui\u200bck.")

    draft = staff.console.tools.candidate().drafts["en", pair_id].pair
    assert draft is not None
    assert (draft.answer, draft.short_answer) == ("It is quick.\nYes.", "Quick.")
    assert "no screen shows" in browser.text


def test_a_draft_that_was_begun_on_an_older_release_says_so(staff: Staff) -> None:
    tools = staff.console.tools
    pair = tools.candidate().base.catalogs["en"].pairs[2]
    writer = staff.person("old", "curator")
    content = pair.model_copy(update={"answer": "Written on something older."}).model_dump(mode="json")
    tools.workbench.save(Draft("content", "en", pair.id, content, "0" * 64), by=writer, now=now())
    browser = staff.logged_in("vera", "curator")

    browser.open(f"{CONSOLE}/pairs?warning=outdated")
    assert [each.text for each in browser.page.all("code")] == [pair.id]
    browser.open(f"{CONSOLE}/pairs/{pair.id}")
    assert "This draft was begun before content" in browser.text
    assert browser.page.all("del")
    save(browser, **{"en.rebase": "yes"})

    assert tools.candidate().drafts["en", pair.id].base == pair_hash(pair)


def test_an_expired_pair_says_that_it_is_withheld_and_how_to_renew_it(tmp_path: Path) -> None:
    exam = write_exam(tmp_path / "content", languages=("de", "en"))
    change_pairs(exam, "de", review={"status": "approved", "by": "X", "on": "2020-01-01", "valid_until": "2020-12-31"})
    with running_console(tmp_path, exam=exam) as staff:
        tools = staff.console.tools
        pair_id = tools.candidate().base.catalogs["de"].pairs[0].id

        def sign() -> None:
            candidate = tools.candidate()
            for login in ("one", "two"):
                person = staff.person(login, "approver")
                subject = candidate.subject("de", pair_id)
                until = now() + timedelta(days=5)
                tools.workbench.sign(
                    candidate.exam, [Signature(subject.what, subject.text, person.id, person.name, now(), until)]
                )

        sign()
        browser = staff.logged_in("rene", "curator")
        browser.open(f"{CONSOLE}/pairs")
        assert "1 pair has expired" in browser.text
        browser.open(f"{CONSOLE}/pairs/{pair_id}")
        assert "withheld from patients" in browser.text
        save(browser, de__valid_until=(now().date() + timedelta(days=100)).isoformat())
        sign()  # another end is another draft
        browser.open(f"{CONSOLE}/pairs?warning=soon")

        assert [each.text for each in browser.page.all("code")] == [pair_id]


@pytest.mark.proof
def test_two_thousand_pairs_are_listed_with_no_more_questions_to_the_database_than_three(
    tmp_path: Path, staff: Staff
) -> None:
    """How long it takes is measured by `python -m tests.bot.web.staff.many_items`."""
    address = f"{CONSOLE}/pairs?q=p19&sort=until"
    with running_console(tmp_path, exam=many_pairs(tmp_path / "content", 2000)) as large:
        asked = []
        for each in (staff, large):
            browser = each.logged_in("lars", "approver")
            browser.open(address)
            with statements(each) as found:
                browser.open(address)
            asked.append(len(found))

        assert len(browser.page.all("code")) == 50  # a page
        assert "111 pairs" in browser.text
        assert 0 < asked[1] <= asked[0] + 2


def test_what_the_next_release_would_be_is_read_once_and_again_after_any_change(tmp_path: Path) -> None:
    with running_console(tmp_path) as staff:
        tools = staff.console.tools
        workbench = tools.workbench
        assert isinstance(workbench, SqlWorkbench)
        elsewhere = SqlWorkbench(create_engine(workbench.engine.url))  # as another process would
        by, before = staff.person("ada", "curator"), tools.candidate()
        pair = before.base.catalogs["de"].pairs[0]
        draft = Draft("content", "de", pair.id, {**pair.model_dump(mode="json"), "answer": "Neu."}, pair_hash(pair))

        assert tools.candidate() is before
        saved = elsewhere.save(draft, by=by, now=now())
        first = tools.candidate()
        elsewhere.drop(saved, by=by, now=now())
        again = {**pair.model_dump(mode="json"), "answer": "Noch neuer."}
        elsewhere.save(Draft("content", "de", pair.id, again, pair_hash(pair)), by=by, now=now())
        second = tools.candidate()
        subject = second.subject("de", pair.id)
        until = now() + timedelta(days=9)
        elsewhere.sign("content", [Signature(subject.what, subject.text, by.id, by.name, now(), until)])
        elsewhere.engine.dispose()

        answers = [each.drafts["de", pair.id].pair.answer for each in (first, second)]  # type: ignore[union-attr]
        assert answers == ["Neu.", "Noch neuer."]
        assert second.stage("de", pair.id, now=now()) == "draft"
        assert tools.candidate().stage("de", pair.id, now=now()) == "reviewed"
        staff.person("chef", "approver")
        assert tools.candidate().approvers


def test_the_trail_holds_no_words_of_patients_and_what_was_typed_back_can_be_edited_again(tmp_path: Path) -> None:
    with running_console(tmp_path) as staff:
        tools, asked = staff.console.tools, "mein schwager sagt das zwickt"
        pair = tools.candidate().base.catalogs["de"].pairs[0]
        browser = staff.logged_in("mia", "curator")
        for variants in (
            (*(each.text for each in pair.variants), asked),
            tuple(each.text for each in pair.variants),  # typed back
            (*(each.text for each in pair.variants), "und noch einmal anders gefragt"),
        ):
            browser.open(f"{CONSOLE}/pairs/{pair.id}")
            save(browser, de__variants="\n".join(variants))
            assert browser.answer.status_code == 200, browser.text

        assert [each.name for each in tools.workbench.drafts(tools.candidate().exam)] == [pair.id]
        assert asked not in str(list(tools.acts.all()))
        assert "SHA-256" in str(list(tools.acts.all()))


def test_a_text_that_no_patient_would_read_to_its_end_is_refused(tmp_path: Path) -> None:
    with running_console(tmp_path) as staff:
        pair = staff.console.tools.candidate().base.catalogs["de"].pairs[0]
        browser = staff.logged_in("mia", "curator")
        browser.open(f"{CONSOLE}/pairs/{pair.id}")
        save(browser, de__answer="a " * 20_000)

        assert browser.answer.status_code == 400
        assert "too long" in browser.text


def test_a_name_in_a_new_variant_is_asked_about_and_a_copy_of_another_pair_is_said_at_saving(tmp_path: Path) -> None:
    with running_console(tmp_path) as staff:
        tools, browser = staff.console.tools, staff.logged_in("nele", "curator")
        first, other = tools.candidate().base.catalogs["de"].pairs[:2]
        named = "Frau Gerda Huber will ihren Hund Waldi mitbringen"
        browser.open(f"{CONSOLE}/pairs/{first.id}")
        lines = typed(browser)["de.variants"]
        save(browser, de__variants=f"{lines}\n{named}")
        assert browser.answer.status_code == 400
        assert f"This may be a name or a day: “{named}”" in browser.text
        assert ("de", first.id) not in tools.candidate().drafts
        save(browser, sure="yes")
        assert ("de", first.id) in tools.candidate().drafts

        browser.open(f"{CONSOLE}/pairs/{first.id}")
        save(browser, de__variants=f"{lines}\n{other.question}")
        assert "The draft is stored. But a variant stands nearly the same elsewhere already" in browser.text
        assert f"“{other.question}” says nearly the same as a wording of „{other.id}“" in browser.text

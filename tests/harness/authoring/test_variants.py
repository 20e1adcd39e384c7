"""`klartext author variants`, `near-misses` and `review`: prompts, sifting, the blind check, decisions, the catalog."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bot import BadData, load_catalog
from bot.catalog.additions import Addition, add_calibration, add_near_misses, add_variants
from bot.testing import scripted_endpoint
from harness.authoring.variants.asking import KINDS, Draft, Prompting, load_texts
from harness.authoring.variants.plan import load_curve
from harness.authoring.variants.queue import VERDICTS
from harness.authoring.variants.screen import review_words
from harness.authoring.variants.voices import load_voices
from harness.authoring.working import Unusable
from harness.llm.batch_files import answers_not_used
from tests.harness.authoring.authoring import RECORDED, answer_waiting, author

WAY = RECORDED / "next-exam-en"
VOICES = ("--voices", "plain,search", "--per-pair", "2")
TEXTS = {
    "variants/plain/pain": [("needle", "Is it worse than at my doctor's?"), ("", "does giving blood hurt")],
    "variants/plain/duration": [("waiting", "Do I have to queue?"), ("", "May I play tennis right after it?")],
    "variants/search/pain": [("bruise", "blue arm how long"), ("", "my friend Emily Carter fainted, will I")],
    "variants/search/duration": [("", "total time donor visit"), ("", "Wie lange dauert denn das alles bei Ihnen?")],
}
# What the blind check says of those that are left.
SAID = {
    "Is it worse than at my doctor's?": ["pain"],
    "Do I have to queue?": ["duration"],
    "May I play tennis right after it?": ["afterwards", "duration"],
    "blue arm how long": ["pain", "afterwards"],
    "total time donor visit": [],
}


def reply(id_: str, prompt: str) -> str:
    """Answer a draft from `TEXTS`, and a check from `SAID`."""
    if id_.startswith("check/"):
        listed = re.findall(r"^(\d+): (.*)$", prompt, re.MULTILINE)
        return json.dumps([{"n": int(number), "pairs": SAID[text]} for number, text in listed])
    return json.dumps([{"facet": facet, "text": text} for facet, text in TEXTS[id_]])


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    return Path(shutil.copytree(WAY / "blood-donation", tmp_path / "blood-donation"))


def drafted(catalog: Path, out: Path, answering: Callable[[str, str], str] = reply) -> str:
    """Draft for two pairs in two voices, and check; return what was printed in the end."""
    asked = ("variants", "--catalog", catalog, "--lang", "en", *VOICES, "--pairs", "pain,duration", "--out", out)
    answers, printed = out.with_suffix(".answers"), author(*asked)
    while printed.exit_code == 1:
        answer_waiting(out, answering, answers)
        printed = author(*asked, "--answers", answers)
    assert printed.exit_code == 0, printed.output
    return printed.stdout


def test_a_text_is_sifted_checked_blind_decided_and_written_once(catalog: Path, tmp_path: Path) -> None:
    printed = drafted(catalog, work := tmp_path / "work")

    assert "8 texts drafted, 3 texts rejected:" in printed, printed
    assert all(f"1 {reason}" in printed for reason in ("name of a person", "other language", "in the catalog")), printed
    assert "3 agrees, 1 another pair answers better, 1 no pair answers" in printed
    before = (catalog / "en.yaml").read_text(encoding="utf-8")
    assert "variants" not in before

    sampled = author("review", "--out", work, "--catalog", catalog, "--sample", "2", typed="a\na\n")
    assert "Of 2 that the check agrees with you accepted 2." in sampled.stdout
    accepted = author("review", "--out", work, "--catalog", catalog, "--accept-agreed", "--unread")
    assert "Decisions: 3 accept, 2 waiting. New in" in accepted.stdout
    moved = author("review", "--out", work, "--catalog", catalog, typed="s\nx\nd\nu\nm nothing\n1\n")
    assert "1  afterwards" in moved.stdout
    assert "Decisions: 3 accept, 1 drop, 1 waiting" in author(
        "review", "--out", work, "--catalog", catalog, typed="d\n"
    ).stdout.replace("1 move, ", "")  # which one came first depends on the one that was put off
    again = author("review", "--out", work, "--catalog", catalog, "--accept-agreed", "--unread")
    assert "New in" in again.stdout
    assert again.stdout.rstrip().splitlines()[-2].endswith(": 0.")

    after = load_catalog(catalog, "en")
    assert {each.text for each in after.pair("pain").variants} == {
        "Is it worse than at my doctor's?",
        "blue arm how long",
    }
    first = next(each for each in after.pair("pain").variants if "doctor" in each.text)
    assert first.by is not None
    assert (first.facet, first.by.kind, first.by.profile) == ("needle", "model", "plain")
    text = (catalog / "en.yaml").read_text(encoding="utf-8")
    assert all(line in text for line in before.splitlines())  # comments and all


def test_what_copies_a_text_of_another_kind_is_accepted_and_not_written(catalog: Path, tmp_path: Path) -> None:
    drafted(catalog, work := tmp_path / "work")
    asked = "Is it any worse than at my doctor's"  # by a work made side by side
    add_calibration(catalog, "en", [Addition("pain", asked, "irish", stratum="low-health-literacy")])

    review = ("review", "--out", work, "--catalog", catalog)
    accepted = author(*review, "--accept-agreed", "--unread")

    assert "Accepted and not written (pain): 'Is it worse than at my doctor's?' is a near copy" in accepted.stdout
    assert "among the calibration questions of this catalog" in accepted.stdout
    written = [each.text for pair in load_catalog(catalog, "en").pairs for each in pair.variants]
    assert len(written) == 2, written
    assert "Is it worse than at my doctor's?" not in written
    copies = json.loads(author(*review, "--json").stdout)["copies"]
    assert [(each["pair"], each["copy_of"]) for each in copies] == [("pain", "calibration")]


def test_a_line_deleted_by_hand_stays_out_until_it_is_accepted_anew(catalog: Path, tmp_path: Path) -> None:
    drafted(catalog, work := tmp_path / "work")
    review = ("review", "--out", work, "--catalog", catalog)
    untrained = author(*review, "--accept-agreed")
    assert (untrained.exit_code, "say `--unread`" in untrained.output) == (2, True)
    assert "variants" not in (catalog / "en.yaml").read_text(encoding="utf-8")
    author(*review, "--accept-agreed", "--unread")
    before, after = (catalog / "en.yaml"), "blue arm how long"
    lines = before.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if after not in line]
    assert len(kept) == len(lines) - 1
    before.write_text("".join(kept), encoding="utf-8")

    again = author(*review, typed="q\n").stdout
    assert "Taken out of the catalog by hand, and not written again (pain): 'blue arm how long'" in again
    assert after not in before.read_text(encoding="utf-8")
    assert json.loads(author(*review, "--json").stdout)["taken_out"] == [{"pair": "pain", "text": after}]
    # What was accepted together is taken back one by one; what stands in the file is named with its line.
    back = author(*review, typed="u\nu\nu\na\na\na\nq\n")
    assert "Taken out" not in back.stdout, back.stdout
    assert after in before.read_text(encoding="utf-8")
    author(*review, typed="d\nd\n")
    left = author(*review, typed="u\nu\nu\nq\n").stdout
    assert re.search(r"still there \(\w+\): .*en\.yaml:\d+", left), left


def test_a_second_block_of_json_in_a_pasted_answer_is_named_by_its_file(tmp_path: Path) -> None:
    two, one = '[{"text": "a"}]\n\nOr rather: {"text": "b"} [1]', 'Sure, as in [2]: {"texts": [{"text": "c"}]}'
    (tmp_path / "001 variants+plain+pain answer.txt").write_text(two, encoding="utf-8")
    (tmp_path / "002 variants+plain+costs answer.txt").write_text(one, encoding="utf-8")

    (line,) = answers_not_used([tmp_path], {})

    assert "001 variants+plain+pain answer.txt: 2 blocks of JSON, of which one is read" in line


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ([(0, "pain"), (1, "pain")], "numbers a text 0, and the texts are 1 to 2"),
        ([(1, "pain"), (1, "duration"), (2, "pain")], "says two things of text 1"),
    ],
)
def test_a_blind_check_that_counts_otherwise_is_not_used(said: list[tuple[int, str]], problem: str) -> None:
    catalog = load_catalog(WAY / "blood-donation", "en")
    prompting = Prompting(load_texts("en"), catalog, "variants", "about giving blood", {}, 2)
    ask = prompting.check([Draft("does it hurt", "pain", "plain"), Draft("how long", "duration", "plain")])

    with pytest.raises(Unusable, match=problem):
        ask.read(json.dumps([{"n": number, "pairs": [pair]} for number, pair in said]))


def test_no_prompt_tells_the_check_what_was_meant_or_the_voice_what_others_answer(
    catalog: Path, tmp_path: Path
) -> None:
    prompts: dict[str, str] = {}

    def noting(id_: str, prompt: str) -> str:
        prompts[id_] = prompt
        return reply(id_, prompt)

    drafted(catalog, tmp_path / "work", noting)

    draft = prompts["variants/search/pain"]
    assert "Does giving blood hurt?" in draft
    assert "These are questions about giving blood." in draft
    assert "- How long does it take? (whole-visit, needle-in-arm, first-time, waiting)" in draft
    check = next(prompt for id_, prompt in prompts.items() if id_.startswith("check/"))
    assert "- pain: Does giving blood hurt? (needle, fainting, bruise, fear-of-needles)" in check
    assert not any(voice in check for voice in ("plain", "search"))


def test_the_table_takes_decisions_and_refuses_what_it_does_not_know(catalog: Path, tmp_path: Path) -> None:
    drafted(catalog, work := tmp_path / "work")
    sheet = tmp_path / "queue.csv"
    author("review", "--out", work, "--catalog", catalog, "--sheet", sheet)
    rows = list(csv.DictReader(sheet.read_text(encoding="utf-8-sig").splitlines()))
    assert [row["proposal"] for row in rows] == ["accept"] * 3 + [""] * 2
    untouched = author("review", "--out", work, "--catalog", catalog, "--decided", sheet)
    assert "Decisions: 5 waiting. New in" in untouched.stdout
    tennis = next(row for row in rows if "tennis" in row["text"])

    def decide(encoding: str = "utf-8", delimiter: str = ";", twice: bool = False, **values: str) -> Path:
        changed = [{**row, "decision": row["proposal"], **(values if row is tennis else {})} for row in rows]
        stream = io.StringIO()
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows([*changed, *(changed[:1] if twice else ())])
        sheet.write_bytes(stream.getvalue().encode(encoding))
        return sheet

    for wrong, said in (
        ({"decision": "yes"}, "'yes' is no decision. Write accept, move, drop"),
        ({"decision": "move", "pair": "nowhere"}, "there is no pair 'nowhere'"),
        ({"decision": "move"}, "move to where?"),
        ({"decision": "accept", "text": "Quite another text of mine"}, "its text is not the one that was checked"),
        ({"twice": "yes"}, "stands in line 2, too"),
    ):
        refused = author("review", "--out", work, "--catalog", catalog, "--decided", decide(**wrong))  # type: ignore[arg-type]
        assert refused.exit_code == 2
        assert said in refused.output
    for encoding, delimiter in (("utf-8-sig", ";"), ("cp1252", ","), ("utf-16", "\t")):
        moved = decide(encoding, delimiter, decision="move", pair="afterwards")
        taken = author("review", "--out", work, "--catalog", catalog, "--decided", moved)
        assert "Decisions: 3 accept, 1 move, 1 waiting." in taken.stdout, taken.output
    assert [each.text for each in load_catalog(catalog, "en").pair("afterwards").variants] == [
        "May I play tennis right after it?"
    ]


def test_an_emergency_is_accepted_by_itself_only(catalog: Path, tmp_path: Path) -> None:
    danger = "I can hardly breathe right now, is that from it?"

    def dangerous(id_: str, prompt: str) -> str:
        if id_.startswith("check/"):
            listed = re.findall(r"^(\d+): (.*)$", prompt, re.MULTILINE)
            return json.dumps([{"n": int(number), "pairs": SAID.get(text, ["pain"])} for number, text in listed])
        return reply(id_, prompt).replace("does giving blood hurt", danger)

    drafted(catalog, work := tmp_path / "work", dangerous)
    review = ("review", "--out", work, "--catalog", catalog)
    sheet = tmp_path / "queue.csv"
    author(*review, "--sheet", sheet)
    rows = sheet.read_text(encoding="utf-8-sig")
    assert danger not in rows
    together = author(*review, "--accept-agreed", "--unread")
    assert "Accepted together, since the check agrees: 3." in together.stdout
    assert "Only the rules have listened for emergencies in 3 texts" in together.stdout
    assert "The alarm hears an emergency in 1:" in together.stdout
    variants = load_catalog(catalog, "en").pair("pain").variants
    assert danger not in {each.text for each in variants}

    (id_,) = json.loads(author(*review, "--json").stdout)["alarming"]
    sheet.write_text(f"id,decision,pair,text\nt{id_},accept,pain,{danger!r}\n".replace("'", '"'), encoding="utf-8")
    refused = author(*review, "--decided", sheet)
    assert refused.exit_code == 2
    assert "is accepted at the screen only" in refused.output.replace("\n", " ")
    shown = author(*review, typed="abort\ns\nu\na\nq\n")  # what was put off comes back; a word is no key
    assert "The alarm hears an emergency (breathing: " in shown.stdout, shown.stdout
    assert "4 accept" in shown.stdout
    written = load_catalog(catalog, "en").pair("pain").variants
    assert danger in {each.text for each in written}


def test_decisions_of_before_are_said_when_they_are_written_into_another_folder(catalog: Path, tmp_path: Path) -> None:
    drafted(catalog, work := tmp_path / "work")
    other = Path(shutil.copytree(catalog, tmp_path / "other"))
    half_read = author(
        "review", "--out", work, "--catalog", catalog, "--sample", "2", "--accept-agreed", "--unread", typed="a\n"
    )
    assert "nothing is accepted together" in half_read.stdout
    assert "Decisions: 1 accept, 4 waiting. New in" in half_read.stdout

    looked = author("review", "--out", work, "--catalog", other, "--sample", "2")

    assert f"Accepted earlier, new in {other}: 1." in looked.stdout


def test_a_chat_window_is_enough_and_what_answers_nothing_is_said(catalog: Path, tmp_path: Path) -> None:
    chat = tmp_path / "chat"
    base = ("variants", "--catalog", catalog, "--lang", "en", *VOICES, "--pairs", "pain,duration")
    asked = (*base, "--out", work := tmp_path / "work")
    first = author(*asked, "--prompts", chat)
    assert first.exit_code == 1
    assert f"4 prompts to answer in {chat}." in first.stdout
    assert sorted(path.name for path in chat.iterdir())[:2] == [
        "001 variants+plain+pain answer.txt", "001 variants+plain+pain prompt.txt",
    ]  # fmt: skip

    elsewhere = (
        "variants",
        "--catalog",
        catalog,
        "--lang",
        "en",
        *VOICES,
        "--pairs",
        "pain,duration",
        "--per-pair",
        "3",
    )
    refused = author(*elsewhere, "--out", tmp_path / "another", "--prompts", chat)
    assert refused.exit_code == 2
    assert "holds another work's prompts" in refused.output.replace("\n", " ")

    strange = ("translate", "--catalog", catalog, "--from", "en", "--to", "fr", "--pairs", "pain", "--prompts", chat)
    assert author(*strange, "--out", tmp_path / "french").exit_code == 2
    assert len(list(chat.iterdir())) == 8

    def paste(encoding: str) -> None:
        for path in chat.glob("* prompt.txt"):
            prompt = path.read_text(encoding="utf-8")
            id_ = path.name.split(" ")[1].replace("+", "/")
            answer = path.with_name(path.name.replace(" prompt.", " answer."))
            if not answer.read_bytes():
                answer.write_bytes(f"Sure! ```json\n{reply(id_, prompt)}\n```".encode(encoding))

    paste("utf-8-sig")
    second = author(*asked, "--answers", chat)
    assert f"1 prompt to answer in {chat}." in second.stdout, second.output
    paste("cp1252")
    assert "3 texts rejected" in author(*asked, "--answers", chat).stdout

    other = (*base, "--out", tmp_path / "other")
    author(*other)
    (lines := tmp_path / "lines.jsonl").write_text(
        "\ufeff" + json.dumps({"custom_id": "variants/plain/pain", "content": reply("variants/plain/pain", "")})
        + '\n{"custom_id": "variants/plain/pain", "content": "something else"}\n'
        + '{"custom_id": "variants/search/pain", "response": {"status_code": 500}, "error": {"message": "expired"}}\n',
        encoding="utf-8",
    )  # fmt: skip
    said = author(*other, "--answers", lines)
    assert "2 answers not used:" in said.stdout, said.output
    assert "lines.jsonl:2: variants/plain/pain was answered before, in another way" in said.stdout
    assert "lines.jsonl:3: variants/search/pain: error (status 500)" in said.stdout
    assert "3 prompts in" in said.stdout
    lines.write_text("[1]\n", encoding="utf-8")
    assert "lines.jsonl:1 is no line of a Batch output file: it is a list" in author(*other, "--answers", lines).output
    assert not list(work.glob("*.txt"))


def test_what_is_kept_out_is_rejected_and_a_draft_that_never_came_is_done_without(
    catalog: Path, tmp_path: Path
) -> None:
    (kept_out := tmp_path / "suite.jsonl").write_text('{"text": "Blue arm - how long?"}\n', encoding="utf-8")
    work = tmp_path / "work"
    pairs = ("--catalog", catalog, "--lang", "en", *VOICES, "--pairs", "pain,duration")
    asked = ("variants", *pairs, "--out", work, "--keep-out", kept_out)
    assert author(*asked).exit_code == 1
    answers = tmp_path / "answers.jsonl"
    answer_waiting(work, reply, answers)
    lines = [line for line in answers.read_text(encoding="utf-8").splitlines() if "search/duration" not in line]
    answers.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    waits = author(*asked, "--answers", answers)
    assert waits.exit_code == 1
    assert "1 prompt in" in waits.stdout
    assert author(*asked, "--allow-short").exit_code == 1  # the check waits now
    answer_waiting(work, reply, answers)
    done = author(*asked, "--allow-short", "--answers", answers)

    assert done.exit_code == 0, done.output
    assert "Done without 1 prompt that nobody answered." in done.stdout
    assert "1 kept out" in done.stdout


def test_what_tells_of_a_person_and_what_differs_by_a_trifle_is_rejected(catalog: Path, tmp_path: Path) -> None:
    (kept_out := tmp_path / "keep.csv").write_bytes(
        "text;pair\nnaïve élan vital?;pain\nblue arm;pain\n".encode("cp1252")
    )
    texts = [
        "Will you ring me on 0171 2345678?", "born 12.03.1961, too old?", "write to jo@example.org please",
        "<script>does</script> it sting", "naive elan vital", "And does the giving of it burn?", "Does the giving of it burn",
        "does it not sting much", "does it sting much", "the red one", 5, None,
    ]  # fmt: skip

    def odd(id_: str, prompt: str) -> str:
        if id_.startswith("check/"):
            listed = re.findall(r"^(\d+): ", prompt, re.MULTILINE)
            return json.dumps([{"n": int(n), "pairs": ["pain"]} for n in listed])
        return json.dumps([texts[0], *({"facet": "", "text": text} for text in texts[1:]), None])

    asked = ("variants", "--catalog", catalog, "--lang", "en", "--voices", "plain", "--pairs", "pain", "--out")
    asked = (*asked, work := tmp_path / "work", "--keep-out", kept_out)  # type: ignore[assignment]
    assert f"Kept out: 2 texts of {kept_out}." in author(*asked).stdout
    answers = tmp_path / "answers.jsonl"
    answer_waiting(work, odd, answers)
    author(*asked, "--answers", answers)
    answer_waiting(work, odd, answers)
    done = author(*asked, "--answers", answers)

    rejected = ("3 no text", "3 number or address of a person", "1 markup", "1 kept out", "1 near copy of another")
    assert all(f"  {reason}\n" in done.stdout for reason in rejected), done.output
    kept = [json.loads(line)["text"] for line in (work / "queue.jsonl").read_text(encoding="utf-8").splitlines()]
    assert kept == ["And does the giving of it burn?", "does it not sting much", "does it sting much", "the red one"]
    kept_out.write_text("question,pair\nblue arm,pain\n", encoding="utf-8")
    assert "has no column 'text'" in author(*asked).output.replace("\n", " ")


def test_bad_input_is_refused_in_one_line(catalog: Path, tmp_path: Path) -> None:
    base = ("variants", "--catalog", catalog, "--lang", "en", "--out", tmp_path / "work")
    own: dict[str, object] = {"id": "a", "for": "calibration", "title": "A", "age": [20, 30]}
    own |= {"impersonation": "You ask $about. " * 3, "literacy": {"health": "low", "language": "low"}}
    (short := tmp_path / "short.yaml").write_text(json.dumps({"language": "en", "voices": [own]}), encoding="utf-8")
    curt = tmp_path / "curt.yaml"
    voices = [own | {"impersonation": "You ask $about."}]
    curt.write_text(json.dumps({"language": "en", "voices": voices}), encoding="utf-8")
    for more, said in (
        (("--voices", "nobody"), "There is no voice 'nobody' for variants"),
        (("--pairs", "nothing"), "There is no pair 'nothing'"),
        (("--lang", "fr"), "has no language 'fr'"),
        (("--vignette", "all"), "`--vignette` says who asks calibration questions"),
        (("--voices-file", tmp_path / "no.yaml"), "holds no voices"),
        (("--voices", ""), "`--voices` names no voice"),
        (("--voices-file", short, "--kind", "unanswered"), "has 1 voice for calibration"),
        (("--voices-file", curt), "voices.0.impersonation: must have at least 40 characters"),
    ):
        refused = author(*base, *more)
        assert refused.exit_code == 2, refused.output
        assert said in refused.output.replace("\n", " ")
    wrong = author("near-misses", *base[1:], "--kind", "variants")
    assert "writes near-misses or unanswered. Use `author variants --kind variants`" in wrong.output.replace("\n", " ")
    (tmp_path / "empty").mkdir()
    assert "holds no work" in author("review", "--out", tmp_path / "empty", "--catalog", catalog).output


def test_each_shipped_language_has_voices_enough_that_share_no_name() -> None:
    for language in ("de", "en", "fr"):
        writing, held_out = load_voices(language, "variants"), load_voices(language, "calibration")

        assert load_texts(language).kinds.keys() == set(KINDS) - {"unanswered"}  # asked for as near misses
        assert review_words(language).verdicts.keys() == set(VERDICTS)
        assert len(writing) >= 16
        assert len(held_out) >= 6
        assert not {voice.id for voice in writing} & {voice.id for voice in held_out}
        assert len({voice.impersonation for voice in (*writing, *held_out)}) == len(writing) + len(held_out)


def test_what_no_pair_answers_is_written_by_other_voices_and_becomes_a_calibration_question_without_a_pair(
    catalog: Path, tmp_path: Path
) -> None:
    kinds = ("--kind", "unanswered", "--vignette", "low-health-literacy", "--per-pair", "2", "--pairs", "pain,duration")
    asked = ("variants", "--catalog", catalog, "--lang", "en", *kinds, "--out", work := tmp_path / "work")
    near, answers = tmp_path / "near", tmp_path / "answers.jsonl"
    texts = {"pain": ["who invented the needle", "how long will my arm be sore"], "duration": ["my bill, please"]}

    def beside(id_: str, prompt: str) -> str:
        if id_.startswith("check/"):
            listed = re.findall(r"^(\d+): (.*)$", prompt, re.MULTILINE)
            return json.dumps([{"n": int(n), "pairs": ["pain"] if "sore" in text else []} for n, text in listed])
        return json.dumps([{"facet": "general", "text": text} for text in texts[id_.rsplit("/", maxsplit=1)[-1]]])

    author("near-misses", "--catalog", catalog, "--lang", "en", "--out", near)
    writing = {line.split("/")[1] for line in (near / "prompts.jsonl").read_text(encoding="utf-8").splitlines()}
    done = author(*asked)
    assert not writing & set(json.loads((work / "work.json").read_text(encoding="utf-8"))["voices"].split(", "))
    while done.exit_code == 1:
        answer_waiting(work, beside, answers)
        done = author(*asked, "--answers", answers)
    assert "2 agrees, 1 a pair answers it" in done.stdout
    author("review", "--out", work, "--catalog", catalog, "--accept-agreed", "--unread")
    assert "no pair answers: 2." in author("review", "--out", work, "--catalog", catalog, typed="m pain\n").stdout
    found = {each.text: each for each in load_catalog(catalog, "en").calibration}

    assert {text: each.pair_id for text, each in found.items()} == {
        "who invented the needle": None,
        "how long will my arm be sore": "pain",
        "my bill, please": None,
    }
    assert {(each.stratum, each.patient) for each in found.values()} == {
        ("health-low-language-native", "low-health-literacy")
    }


def test_the_learning_curve_rises_between_its_points() -> None:
    curve = load_curve()
    read = [curve.at(variants) for variants in (0, 3, 5, 7, 25, 60, 240, 1000)]

    assert read == sorted(read)
    assert read[0] == curve.points[0]
    assert read[-1] == read[-2]


def test_the_curve_holds_voices_out_that_wrote_something_and_leaves_some(catalog: Path) -> None:
    curve = ("variants", "--catalog", catalog, "--lang", "en", "--curve")
    add_variants(catalog, "en", [Addition("pain", "how bad is it", "irish")])

    assert "No variant of" in author(*curve, "--voices", "scots").output
    assert "some must be held out" in author(*curve, "--voices", "irish").output.replace("\n", " ")


@pytest.mark.proof
@pytest.mark.usefixtures("few_alarm_examples")
def test_the_curve_is_measured_at_each_size_that_there_is(catalog: Path) -> None:
    voices = ("irish", "plain")
    asked = [Addition("pain", f"how much will it sting, {voice}", voice) for voice in voices]
    add_variants(catalog, "en", [*asked, Addition("duration", "how many minutes", "plain")])

    found = json.loads(
        author("variants", "--catalog", catalog, "--lang", "en", "--curve", "--voices", "irish", "--json").stdout
    )

    assert (found["held_out"], found["asked"]) == (["irish"], 1)
    assert [point["variants"] for point in found["points"]] == [0, pytest.approx(0.3, abs=0.1)]


def test_additions_keep_the_files_formats_and_refuse_a_pair_that_is_not_there(catalog: Path) -> None:
    one = Addition("pain", "how\tbad is it", "irish", stratum="low-health-literacy", also=("pain", "afterwards"))

    assert add_calibration(catalog, "en", [one, one]) == 1
    assert add_near_misses(catalog, "en", [one]) == 1
    assert add_near_misses(catalog, "en", [one]) == 0
    loaded = load_catalog(catalog, "en")
    assert (loaded.calibration[0].also, loaded.calibration[0].stratum) == (("afterwards",), "low-health-literacy")
    assert (loaded.near_misses[0].author, loaded.near_misses[0].text) == ("irish", "how bad is it")
    with pytest.raises(BadData, match="no pair 'gone'"):
        add_variants(catalog, "en", [Addition("gone", "is it there?", "irish")])


def test_a_live_model_drafts_and_checks_in_one_run_and_odd_answers_are_read_defensively(
    catalog: Path, tmp_path: Path
) -> None:
    """A list in an object, in a fence, with an unknown facet and a steering text; a check that says too little."""
    said: list[str] = []

    def answering(messages: list[dict[str, str]]) -> str:
        shown = messages[-1]["content"]
        if "in random order" in shown:
            said.append(shown)
            numbers = re.findall(r"^(\d+): ", shown, re.MULTILINE)
            answers = [{"n": number, "pairs": ["pain", "no-such-pair"]} for number in numbers]
            return json.dumps({"answers": answers if len(said) > 1 else []})
        texts = [{"facet": "nonsense", "text": "does it\x1b[2J sting much"}, "will I see the needle", {"text": ""}, 7]
        return "Here you are:\n```json\n" + json.dumps({"texts": [one for one in texts if one != 7]}) + "\n```"

    with scripted_endpoint(answering) as endpoint:
        environ = {"KLARTEXT_MODEL_URL": endpoint.url, "KLARTEXT_DATA": str(tmp_path / "data")}
        asked = (
            "variants",
            "--catalog",
            catalog,
            "--lang",
            "en",
            "--voices",
            "plain",
            "--pairs",
            "pain",
            "--structured",
        )
        done = author(*asked, "--out", tmp_path / "work", "--model", "scripted", environ=environ)

    assert done.exit_code == 0, done.output
    assert len(said) == 2  # an answer that says nothing of most texts is asked for again
    assert "2 texts to decide on. The blind check: 2 agrees." in done.stdout
    lines = (tmp_path / "work" / "queue.jsonl").read_text(encoding="utf-8").splitlines()
    queued = [json.loads(line) for line in lines]
    assert [(one["text"], one["facet"]) for one in queued] == [
        ("does it sting much", None),
        ("will I see the needle", None),
    ]

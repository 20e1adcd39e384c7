"""What cannot serve as a test question is dropped and asked for again: cut lists, other languages, two pairs' words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import pytest

from bot import Catalog, LanguageDetector
from bot.testing import scripted_endpoint
from harness.commands.making import detector_of
from harness.generation.parse import parse_answer
from harness.generation.recording import CONFLICT, Regeneration, load_again, record
from harness.llm.batch_files import ModelAnswer
from harness.patients.prompts import Prompt, SuiteSize, build_prompts
from harness.patients.suites import QuestionSource
from harness.patients.vignettes import load_vignettes
from tests.harness.inprocess import harness

SOURCE = QuestionSource(kind="model", answered="live", date=date(2026, 1, 2))
ENGLISH = Prompt("paraphrase/v/pain", "paraphrase", "v", "pain", "en", "You are …", "Does it hurt?", 3)
CUT = '{"questions": ["Please can you tell me what the risks are?", "Where is the b'


@pytest.mark.parametrize(
    ("content", "kept", "lost"),
    [
        (CUT, ["Please can you tell me what the risks are?"], '"Where is the b'),
        ('```json\n["Where do I have to go?", "Is th', ["Where do I have to go?"], '"Is th'),
        ("{'questions': ['Is it far?', 'Must I go?']}", [], "{'questions': ['Is it far?', 'Must I go?']}"),
        ('["Is it far?", "Must I go?",]', ["Is it far?", "Must I go?"], ""),
        ('["Is it far?", "Must I go?"]\nI hope that helps.', ["Is it far?", "Must I go?"], ""),
        ("[laughs] does it hurt?", ["[laughs] does it hurt?"], ""),
    ],
)
def test_a_list_that_broke_off_is_noticed_though_the_endpoint_says_it_ended(
    content: str, kept: list[str], lost: str, detector: LanguageDetector
) -> None:
    answer = ModelAnswer(ENGLISH.id, content, "m", "")  # `cut` is false: finish_reason is "stop"

    recording = record([ENGLISH], {ENGLISH.id: answer}, detector=detector, source=SOURCE)

    assert [question.text for question in recording.questions] == kept
    assert "".join(item.text for item in recording.dropped if item.reason == "cut off") == lost
    assert recording.short == {ENGLISH.id: 3 - len(kept)}


def test_a_piece_of_json_after_other_words_is_no_question() -> None:
    parsed = parse_answer(f"Here you are:\n{CUT}", prompt_id="p", count=3, language="en")

    assert parsed.questions == ()
    assert [item.reason for item in parsed.dropped] == ["preamble", "unreadable"]


def test_a_short_list_in_another_language_is_dropped_as_a_whole(detector: LanguageDetector) -> None:
    german = "1. Tut das weh?\n2. Wie lange?\n3. Muss das sein?"

    parsed = parse_answer(german, prompt_id="p", count=3, language="en", detector=detector)

    assert parsed.questions == ()
    assert [item.reason for item in parsed.dropped] == ["wrong language"] * 3
    assert len(parse_answer(german, prompt_id="p", count=3, language="de", detector=detector).questions) == 3


def test_a_small_catalog_tells_its_language_from_others(small_folder: Path) -> None:
    detector = detector_of(small_folder)

    english = "1. Will it hurt me much?\n2. How long must I wait there?"
    assert parse_answer(english, prompt_id="p", count=3, language="de", detector=detector).questions == ()


def test_escape_sequences_and_control_characters_are_no_part_of_a_question() -> None:
    answer = "1. Tut \x1b[31mdas\x1b[0m weh?\x07\n2. Wie\x00 lange\x1b]0;Titel\x07?"

    assert parse_answer(answer, prompt_id="p", count=3, language="de").questions == ("Tut das weh?", "Wie lange?")


def test_the_same_words_serve_one_pair_only_and_the_later_one_is_asked_again(
    shipped_catalogs: Mapping[str, Catalog], detector: LanguageDetector
) -> None:
    vignettes = load_vignettes("de", names=["low-health-literacy"])
    prompts = build_prompts(shipped_catalogs["de"], vignettes, SuiteSize(1, 1))
    first, second, novel = prompts[0], prompts[1], prompts[-1]
    asked: list[Prompt] = []

    def patient(again: Sequence[Prompt]) -> dict[str, ModelAnswer]:
        asked.extend(again)
        return {one.id: ModelAnswer(one.id, f"Wie ist das mit {len(one.id)}?", "m", "") for one in again}

    same = {one.id: ModelAnswer(one.id, "Was muss ich wissen?", "m", "") for one in (first, second, novel)}
    done = Regeneration(None, detector, SOURCE, load_again("de")).run([first, second, novel], same, patient)

    texts = {question.pair_id: question.text for question in done.recording.questions}
    assert texts[first.pair_id] == "Was muss ich wissen?"
    assert len(set(texts.values())) == 3
    assert done.recording.reasons[CONFLICT] >= 2
    assert [one.id for one in asked[:2]] == [f"{second.id}#2", f"{novel.id}#2"]
    assert "- Was muss ich wissen? (fragt nach etwas anderem)" in asked[0].task


def test_a_model_that_only_cuts_off_makes_no_suite(
    small_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted_endpoint(lambda _: '{"questions": ["Tut das') as endpoint:
        done = harness(
            *("suite", "make", "--out", tmp_path / "mine", "--catalog", small_folder, "--model", "scripted"),
            *("--variations", "1", "--novel", "0", "--vignette", "low-health-literacy"),
            environ={"KLARTEXT_DATA": str(tmp_path / "data"), "KLARTEXT_MODEL_URL": endpoint.url},
        )

    assert done.exit_code == 1, done.output
    assert "dropped (cut off)" in done.stdout
    assert not (tmp_path / "mine").exists()

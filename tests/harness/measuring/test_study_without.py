"""What is left out of the matcher really does not count, and nothing of it is stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import Assistant, Encoder, Part
from bot.testing import HashEncoder
from tests.harness.authored import SilentEncoder, write_authored_catalog

pytestmark = [pytest.mark.usefixtures("few_alarm_examples"), pytest.mark.proof]  # each trains anew
QUESTIONS = ["Tut die Aufnahme weh?", "Wer bezahlt das Röntgen denn?", "Darf der Hund mit?"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_authored_catalog(tmp_path_factory.mktemp("without") / "catalog", calibration=True)


def opened(folder: Path, data: Path, encoder: Encoder) -> Assistant:
    return Assistant.open(folder, data=data, encoder=encoder, sample=True, languages=["de"])


def scores(assistant: Assistant, questions: list[str] = QUESTIONS) -> list[dict[str, float]]:
    return [
        {candidate.pair_id: round(candidate.score, 5) for candidate in response.candidates}
        for response in assistant.answer_all(questions, "de", ignore_flags=True)
    ]


def test_without_meaning_the_encoder_does_not_matter(folder: Path, tmp_path: Path) -> None:
    hashed, silent = opened(folder, tmp_path / "a", HashEncoder()), opened(folder, tmp_path / "b", SilentEncoder())

    # The general background is chosen by meaning, so it has to go too.
    parts: tuple[Part, ...] = ("meaning", "background")
    assert scores(hashed.without(*parts)) == scores(silent.without(*parts))
    assert scores(hashed) != scores(silent)


def test_without_wording_only_the_vector_matters(folder: Path, tmp_path: Path) -> None:
    silent = opened(folder, tmp_path / "data", SilentEncoder())

    first, *others = scores(silent.without("wording"))

    assert others == [first, first]
    assert len({str(found) for found in scores(silent)}) == 3


def test_without_any_view_no_pair_is_likelier_than_another(folder: Path, tmp_path: Path) -> None:
    nothing = opened(folder, tmp_path / "data", HashEncoder()).without("ridge", "dense", "chars", "bm25")

    assert all(len(set(found.values())) == 1 for found in scores(nothing))


@pytest.mark.parametrize("view", ["ridge", "dense", "chars", "bm25"])
def test_every_view_counts(folder: Path, tmp_path: Path, view: str) -> None:
    assistant = opened(folder, tmp_path / "data", HashEncoder())

    assert scores(assistant.without(view)) != scores(assistant)  # type: ignore[arg-type]


def test_without_background_nothing_is_none_of_these(folder: Path, tmp_path: Path) -> None:
    assistant = opened(folder, tmp_path / "data", HashEncoder())
    bare = assistant.without("background")

    told = [one.explain("Wie wird das Wetter?", "de").none_of_these for one in (assistant, bare)]

    assert told[1] < 0.05 < told[0]


def test_without_calibration_thresholds_come_from_held_out_texts(folder: Path, tmp_path: Path) -> None:
    bare_folder = write_authored_catalog(tmp_path / "bare")
    assistant = opened(folder, tmp_path / "data", HashEncoder())

    thresholds = assistant.without("calibration").thresholds("de")

    assert thresholds == opened(bare_folder, tmp_path / "data", HashEncoder()).thresholds("de")
    assert thresholds != assistant.thresholds("de")


def test_nothing_is_stored_and_the_assistant_stays_as_it_was(folder: Path, tmp_path: Path) -> None:
    assistant = opened(folder, tmp_path / "data", HashEncoder())
    before = scores(assistant)
    heads = sorted((tmp_path / "data" / "heads").iterdir())

    scores(assistant.without("ridge"))

    assert sorted((tmp_path / "data" / "heads").iterdir()) == heads
    assert scores(assistant) == before


def test_an_explanation_speaks_of_the_pairs_asked_about(shipped: Assistant) -> None:
    plain = shipped.explain("Tut das weh?", "de")
    with_more = shipped.explain("Tut das weh?", "de", about=["deodorant", plain.pairs[0].pair_id])

    assert [pair.pair_id for pair in with_more.pairs] == [*(pair.pair_id for pair in plain.pairs), "deodorant"]
    assert set(with_more.pairs[-1].views) == {"ridge", "dense", "chars", "bm25"}

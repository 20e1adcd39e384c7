"""Drift on real texts: the recorded questions, the same ones under another patient's name, and exaggerated ones."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bot import BadData
from harness.patients.fidelity import FidelityJudge, VignetteDrift
from harness.patients.suites import Question, load_suite

Command = Callable[..., subprocess.CompletedProcess[str]]
MakeQuestion = Callable[..., Question]
HIGH, LOW, BASIC = "high-health-literacy", "low-health-literacy", "low-language-literacy"

# How a language model writes when it is told that a patient knows medicine: what the paper saw and no patient asks.
EXAGGERATED = {
    "de": [
        "Wie hoch ist die diagnostische Sensitivität der digitalen Vollfeldmammographie bei heterogen dichtem Parenchym?",
        "Welche mittlere Parenchymdosis in Milligray resultiert aus einer bilateralen Zwei-Ebenen-Mammographie?",
        "Inwiefern beeinflusst die lutealphasenassoziierte Mastodynie die Kompressionstoleranz bei der Untersuchung?",
        "Ist bei BRCA-Mutationsträgerinnen eine supplementäre kontrastmittelgestützte Magnetresonanztomographie indiziert?",
        "Welche prädiktive Relevanz besitzen pleomorphe Mikrokalzifikationen hinsichtlich eines duktalen Carcinoma in situ?",
        "Welche Kontraindikationen bestehen bei implantiertem Kardioverter-Defibrillator hinsichtlich der Kompression?",
        "Erfolgt die Befundung konsensbasiert gemäß BI-RADS-Klassifikation einschließlich ACR-Dichtekategorisierung?",
        "Welche postinterventionellen Komplikationen sind nach stereotaktischer Vakuumbiopsie zu antizipieren?",
    ],
    "en": [
        "What is the diagnostic sensitivity of full-field digital mammography in heterogeneously dense parenchyma?",
        "What mean glandular dose in milligray results from bilateral craniocaudal and mediolateral oblique projections?",
        "To what extent does luteal-phase mastalgia modulate compression tolerance during image acquisition?",
        "Is supplemental contrast-enhanced magnetic resonance imaging indicated in BRCA mutation carriers?",
        "What positive predictive value do pleomorphic microcalcifications have for ductal carcinoma in situ?",
        "Which contraindications does an implantable cardioverter-defibrillator constitute with regard to compression?",
        "Is interpretation performed by consensus double reading according to BI-RADS density categorisation?",
        "Which postprocedural complications should be anticipated following stereotactic vacuum-assisted biopsy?",
    ],
}


def drift_of_texts(texts: list[str], language: str, vignette: str, make: MakeQuestion) -> VignetteDrift:
    judge = FidelityJudge.open(language)
    questions = [make(n, text, "pain").model_copy(update={"vignette": vignette}) for n, text in enumerate(texts)]
    (drift,) = judge.drift(judge.judge_all(questions))
    return drift


def verdicts(drift: VignetteDrift) -> dict[str, str]:
    return {one.measure: one.verdict for one in drift.measures if one.verdict != "fits"}


def recorded(language: str, vignette: str, blind: str = "") -> list[str]:
    questions = load_suite(f"mammography-{blind}{language}").questions
    return [question.text for question in questions if question.vignette == vignette and question.kind != "urgent"]


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("vignette", [HIGH, LOW, BASIC])
def test_the_recorded_questions_fit_their_patients(language: str, vignette: str, make_question: MakeQuestion) -> None:
    drift = drift_of_texts(recorded(language, vignette), language, vignette, make_question)

    assert verdicts(drift) == {}
    assert drift.fits
    assert drift.outside < 0.1 * drift.n


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_well_informed_patient_who_exaggerates_is_noticed(language: str, make_question: MakeQuestion) -> None:
    drift = drift_of_texts(EXAGGERATED[language], language, HIGH, make_question)

    found = verdicts(drift)
    assert found["jargon_share"] == "drifts up"
    assert found["reading_ease"] == "drifts down"
    assert not drift.fits
    assert drift.outside >= 6


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("blind", ["", "blind-"])
def test_exaggeration_is_noticed_even_in_every_fourth_question(
    language: str, blind: str, make_question: MakeQuestion
) -> None:
    ordinary = recorded(language, HIGH, blind)[: 3 * len(EXAGGERATED[language])]

    drift = drift_of_texts(ordinary + EXAGGERATED[language], language, HIGH, make_question)

    assert verdicts(drift)["reading_ease"] == "drifts down"
    assert drift.outside >= 6


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("blind", ["", "blind-"])
def test_patients_are_not_taken_for_each_other(language: str, blind: str, make_question: MakeQuestion) -> None:
    """The questions of one author under the other patient's name: too learned, or too plain."""
    learned = drift_of_texts(recorded(language, HIGH, blind), language, LOW, make_question)
    plain = drift_of_texts(recorded(language, LOW, blind), language, HIGH, make_question)

    assert verdicts(learned)["reading_ease"] == "drifts down"
    assert verdicts(learned)["jargon_share"] == "drifts up"
    assert verdicts(plain)["reading_ease"] == "drifts up"
    assert verdicts(plain)["jargon_share"] == "drifts down"


@pytest.mark.parametrize(("language", "other"), [("de", "en"), ("en", "de")])
def test_questions_in_another_language_are_noticed(language: str, other: str, make_question: MakeQuestion) -> None:
    drift = drift_of_texts(recorded(other, LOW)[:40], language, LOW, make_question)

    assert verdicts(drift)["foreign_share"] == "drifts up"


def test_who_should_mix_languages_and_does_not_is_noticed(make_question: MakeQuestion) -> None:
    drift = drift_of_texts(recorded("de", LOW)[:40], "de", "language-mixer", make_question)

    assert verdicts(drift)["foreign_share"] == "drifts down"


def test_a_handful_of_questions_gets_no_verdict(make_question: MakeQuestion) -> None:
    drift = drift_of_texts(EXAGGERATED["de"][:4], "de", HIGH, make_question)

    assert {one.verdict for one in drift.measures} == {"too few"}
    assert drift.outside >= 3  # single questions are judged all the same


def test_figures_of_a_measure_are_those_of_its_questions(make_question: MakeQuestion) -> None:
    texts = ["Tut das weh?"] * 9 + ["Und wie lange dauert das denn nun alles zusammen ungefähr?"]

    words = drift_of_texts(texts, "de", LOW, make_question).measures[0]

    assert (words.measure, words.median, words.mean, words.low) == ("words", 3.0, 3.7, 3.0)
    assert words.high == pytest.approx(6.85)
    assert words.as_json()["target"] == [3, 24]


def test_an_unknown_vignette_is_one_clear_line(make_question: MakeQuestion) -> None:
    with pytest.raises(BadData, match=r"The vignette 'imported' has no ranges .+ `--vignettes`"):
        FidelityJudge.open("de").judge("1", "Tut das weh?", "imported")


def test_the_command_reports_every_vignette_and_names_outliers(command: Command) -> None:
    done = command("suite", "check", "--suite", "mammography-de", "--fidelity", "--list", "2")

    assert done.returncode == 0, done.stderr
    for title in ("Gut informiert: 350 questions", "Wenig informiert: 350 questions", "Wenig Deutsch: 350 questions"):
        assert title in done.stdout
    assert done.stdout.count("reading ease") == 3 + sum("reading ease too" in x for x in done.stdout.splitlines())
    assert "… and " in done.stdout


def test_the_commands_json_holds_the_same_figures(command: Command) -> None:
    done = command("suite", "check", "--fidelity", "--suite", "mammography-en", "--json")

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["questions"] == 525
    assert set(report["vignettes"]) == {HIGH, LOW, BASIC}
    assert sum(one["outside"] for one in report["vignettes"].values()) == len(report["outside"])
    assert report["vignettes"][HIGH]["measures"]["words"]["target"] == [5, 28]


def test_a_suite_of_unknown_vignettes_is_one_line_and_exit_2(
    command: Command, small_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "set.csv").write_text("pair_id,text\npain,Tut das weh?\n", encoding="utf-8")
    out = tmp_path / "suite"
    made = command(
        "suite",
        "import",
        tmp_path / "set.csv",
        "--out",
        out,
        "--lang",
        "de",
        "--catalog",
        small_folder,
        "--by",
        "person",
    )
    assert made.returncode == 0, made.stderr

    done = command("suite", "check", "--fidelity", "--suite", out, "--catalog", small_folder)

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "has no ranges to measure against" in done.stderr

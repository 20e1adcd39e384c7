"""The prompts of a suite: how many, what each says, and that their names and hashes can be relied on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from bot import BadData, Catalog
from harness.llm.batch_files import as_batch_line, write_requests
from harness.patients.prompts import Prompt, SuiteSize, build_prompts, load_tasks
from harness.patients.vignettes import load_vignettes

PROMPT = Prompt("paraphrase/v/pain", "paraphrase", "v", "pain", "de", "Sie sind …", "Formulieren Sie …", 10)


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_papers_plan_has_a_prompt_for_each_pair_and_vignette(
    shipped_catalogs: Mapping[str, Catalog], language: str
) -> None:
    prompts = build_prompts(shipped_catalogs[language], load_vignettes(language), SuiteSize(variations=10, novel=20))

    assert Counter(prompt.kind for prompt in prompts) == {"paraphrase": 43 * 3, "novel": 2 * 3}
    assert sum(prompt.count for prompt in prompts if prompt.kind == "paraphrase") == 1290
    assert sum(prompt.count for prompt in prompts if prompt.kind == "novel") == 60
    assert {prompt.language for prompt in prompts} == {language}


@pytest.mark.parametrize(("novel", "parts"), [(0, []), (1, [1]), (10, [10]), (11, [10, 1]), (25, [10, 10, 5])])
def test_novel_questions_are_asked_for_ten_at_a_time(
    shipped_catalogs: Mapping[str, Catalog], novel: int, parts: list[int]
) -> None:
    prompts = build_prompts(shipped_catalogs["de"], load_vignettes("de")[:1], SuiteSize(variations=0, novel=novel))

    assert [prompt.count for prompt in prompts] == parts
    assert [prompt.id.rpartition("/")[2] for prompt in prompts] == [str(n + 1) for n in range(len(parts))]


def test_ids_are_unique_and_do_not_depend_on_the_plan(shipped_catalogs: Mapping[str, Catalog]) -> None:
    vignettes = load_vignettes("de")

    many = [prompt.id for prompt in build_prompts(shipped_catalogs["de"], vignettes, SuiteSize(10, 20))]
    few = [prompt.id for prompt in build_prompts(shipped_catalogs["de"], vignettes, SuiteSize(1, 5))]

    assert len(set(many)) == len(many)
    assert set(few) < set(many)
    assert many[0] == "paraphrase/high-health-literacy/what-is-mammography"


@pytest.mark.parametrize("language", ["de", "en"])
def test_each_prompt_holds_the_vignette_the_count_and_the_question(
    shipped_catalogs: Mapping[str, Catalog], language: str
) -> None:
    catalog, vignettes = shipped_catalogs[language], {v.id: v for v in load_vignettes(language)}
    tasks = load_tasks(language)

    for prompt in build_prompts(catalog, tuple(vignettes.values()), SuiteSize(7, 13)):
        assert prompt.system == tasks.impersonating(vignettes[prompt.vignette], catalog)
        assert "mammogra" in prompt.system.lower()
        assert "$" not in prompt.system
        assert f" {prompt.count} " in prompt.task
        assert "$" not in prompt.task
        if prompt.pair_id is not None:
            assert catalog.pair(prompt.pair_id).question in prompt.task


def test_patients_await_the_exam_of_the_catalog(shipped_catalogs: Mapping[str, Catalog]) -> None:
    other, unknown = (replace(shipped_catalogs["en"], name=name) for name in ("mri", "barium-swallow"))

    of_other, of_unknown = (build_prompts(each, load_vignettes("en")[:1], SuiteSize(1, 0)) for each in (other, unknown))

    assert of_other[0].system.endswith("You will soon undergo an MRI scan.")
    assert of_unknown[0].system.endswith("You will soon undergo an examination (barium-swallow).")


def test_a_dollar_in_a_question_is_left_alone(shipped_catalogs: Mapping[str, Catalog]) -> None:
    catalog = shipped_catalogs["de"]
    dear = replace(catalog, pairs=(catalog.pairs[0].model_copy(update={"question": "Kostet es $count oder 5 $?"}),))

    prompt = build_prompts(dear, load_vignettes("de")[:1], SuiteSize(3, 0))[0]

    assert "Kostet es $count oder 5 $?" in prompt.task


def test_the_hash_changes_with_any_text_and_with_nothing_else() -> None:
    renamed = replace(PROMPT, id="other", vignette="w", pair_id=None, count=3)

    assert renamed.hash == PROMPT.hash
    assert replace(PROMPT, system="Sie sind .").hash != PROMPT.hash
    assert replace(PROMPT, task="Formulieren Sie .").hash != PROMPT.hash
    assert replace(PROMPT, system=PROMPT.task, task=PROMPT.system).hash != PROMPT.hash


def test_a_batch_line_is_an_openai_batch_request() -> None:
    assert as_batch_line(PROMPT, model="gpt-4o", temperature=0.7) == {
        "custom_id": "paraphrase/v/pain",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": "gpt-4o",
            "messages": [
                {"role": "system", "content": "Sie sind …"},
                {"role": "user", "content": "Formulieren Sie …"},
            ],
            "temperature": 0.7,
        },
    }


def test_a_temperature_left_open_is_not_sent() -> None:
    assert "temperature" not in as_batch_line(PROMPT, model="gpt-4o", temperature=None)["body"]


def test_a_batch_file_has_one_json_object_a_line(tmp_path: Path) -> None:
    two_lines = replace(PROMPT, id="second", task="Zeile 1\nZeile 2")

    write_requests([PROMPT, two_lines], tmp_path / "new" / "prompts.jsonl", model="m", temperature=None)

    lines = (tmp_path / "new" / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["custom_id"] for line in lines] == ["paraphrase/v/pain", "second"]
    assert "Sie sind …" in lines[0]  # readable, not escaped


def test_an_unwritable_batch_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadData, match=r"prompts\.jsonl cannot be written \(.+\)\. Choose another file with `--out`"):
        write_requests([PROMPT], tmp_path / "file" / "prompts.jsonl", model="m", temperature=None)


def test_a_language_without_tasks_is_one_clear_line() -> None:
    with pytest.raises(BadData, match="no task prompts for 'rm'"):
        load_tasks("rm")

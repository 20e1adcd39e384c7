"""Raters of discussions get a folder without the key; their forms are counted from there, too."""

from __future__ import annotations

import json
from pathlib import Path

from tests.harness.authoring.authoring import RECORDED, author

SUMMARY = RECORDED / "discussion-summary-de"


def test_forms_are_handed_out_without_the_key_and_read_back_from_both_places(tmp_path: Path) -> None:
    answers: list[str | Path] = [
        part for name in ("discussion", "final") for part in ("--answers", SUMMARY / f"{name}.jsonl")
    ]
    out = tmp_path / "out"
    options: list[str | Path] = ["--accept", "all", "--patient-text-to-file", "--out", out]
    environ = {"KLARTEXT_DATA": str(tmp_path / "data")}
    done = author("discuss", "summary", SUMMARY / "conversation.json", *options, *answers, environ=environ)
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (out / "forms").iterdir()) == ["corrections.md", "form.csv", "form.md"]
    assert "final" not in (out / "forms" / "form.csv").read_text(encoding="utf-8").casefold()

    form, corrections = ((out / "forms" / name).read_text(encoding="utf-8") for name in ("form.md", "corrections.md"))
    record = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert record["scratchpad"]
    assert not [line for line in record["scratchpad"] if line in form]  # it would tell which text is which
    assert all(line in corrections for line in record["scratchpad"])
    assert f"1. [übernommen] {record['scratchpad'][0]}" in corrections
    asked = "Mit wie vielen der vorgeschlagenen Berichtigungen"
    assert (asked in form, asked in corrections) == (False, True)
    assert (out / "forms" / "form.csv").read_text(encoding="utf-8").splitlines()[-1].startswith("agreed")

    final_is = json.loads((out / "result.json").read_text(encoding="utf-8"))["form_final_is"]
    said = {"preferred": final_is, "captured": "alles", "agreed": "den meisten", "harmful": "nein"}
    head, *lines = (out / "forms" / "form.csv").read_text(encoding="utf-8").splitlines()
    filled = "\n".join([head, *(line + said[line.split(",")[0]] for line in lines)])
    (out / "forms" / "form-anna.csv").write_text(filled, encoding="utf-8")
    (out / "form-ben.csv").write_text(filled, encoding="utf-8")

    counted = author("forms", out)

    assert counted.exit_code == 0, counted.output
    assert "final 2 (100%)" in counted.output
    (out / "form-anna.csv").write_text(filled, encoding="utf-8")
    twice = author("forms", out)
    assert twice.exit_code == 2
    assert "form-anna.csv is in" in twice.stderr
    (out / "form-anna.csv").unlink()
    for same in ("form-ANNA.csv", "form-anna .csv"):
        (out / same).write_text(filled, encoding="utf-8")
        assert author("forms", out).exit_code == 2
        (out / same).unlink()

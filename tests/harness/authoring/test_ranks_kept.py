"""`klartext author rank` keeps ranks by pair, task and evaluator: its tests and agreement can be computed again."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from bot import load_catalog, locate
from tests.harness.authoring.authoring import author

PAIRS = ("preparation", "deodorant", "pain", "radiation", "jewellery", "results-when", "costs", "companion")


@pytest.mark.proof
def test_friedman_and_what_people_said_can_be_computed_from_the_result(tmp_path: Path) -> None:
    catalog, out = load_catalog(locate("mammography"), "de"), tmp_path / "out"
    texts = [
        {"pair": id_, "system": name, "text": " ".join(catalog.pair(id_).answer.split()[: 10 + 15 * number])}
        for id_ in PAIRS
        for number, name in enumerate(("one", "two"))
    ]
    (file := tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)), encoding="utf-8")
    command = ["rank", "--out", str(out), "--candidates", str(file), "--statements", "rules"]
    first = author(*command)
    assert first.exit_code == 0, first.output
    with (out / "form.csv").open(encoding="utf-8-sig") as stream:
        rows = list(csv.DictReader(stream))
    for number, row in enumerate(rows):
        row["rank"] = str(1 + number % 5)
    with (tmp_path / "anna.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    done = author(*command, "--ranks", tmp_path / "anna.csv")
    assert done.exit_code == 0, done.output

    result = json.loads((out / "result.json").read_text(encoding="utf-8"))

    tested = [one for one in result["solved"] if one["friedman"]["p"] is not None]
    assert tested
    for one in tested:
        assert len(one["ranks"]) == one["pairs"]
        columns = [[ranks[name] for ranks in one["ranks"].values()] for name in result["systems"]]
        assert friedmanchisquare(*columns).pvalue == pytest.approx(one["friedman"]["p"])
        assert np.mean(columns, axis=1).tolist() == pytest.approx(list(one["mean_rank"].values()))
        assert set(next(iter(one["ranks_with_controls"].values()))) == {*result["systems"], *result["controls"]}
    said = result["raters"]["ranks"]["anna"]
    assert set(said) == set(PAIRS)
    assert np.mean([ranks["one"] for ranks in said.values()]) == pytest.approx(result["raters"]["mean_rank"]["one"])
    assert "Wilson's score interval, clustered by pair" in (out / "result.md").read_text(encoding="utf-8")

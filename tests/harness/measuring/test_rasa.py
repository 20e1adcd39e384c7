"""The table of a real Rasa beside ours; the whole is measured by `klartext bench --rasa ENV` only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot import UserFixable
from harness.measuring.rasa import Contest, Costs, Plan, Scored, measure_rasa

RASA = Scored(0.5, 0.4, 0.2, {"anxious": 0.3, "brief": 0.5})
OURS = Scored(0.9, 0.8, 0.05, {"anxious": 0.75, "brief": 0.85})


def test_one_table_holds_scores_by_vignette_and_costs_where_there_is_a_service(tmp_path: Path) -> None:
    costs = {"Rasa": Costs(600, 20.2, 900, 0.5, 1.25, 40.04), "cosine": None}
    contest = Contest(Plan(tmp_path, epochs=5), {"Rasa": RASA, "cosine": OURS}, costs)

    contest.write(tmp_path / "table.md")

    lines = (tmp_path / "table.md").read_text(encoding="utf-8").splitlines()
    assert lines[:3] == [
        "| mammography-six-de | Rasa | cosine |",
        "|---|---|---|",
        "| answered right | 0.400 | 0.800 |",
    ]
    assert "| right: anxious | 0.300 | 0.750 |" in lines
    assert "| 50 patients at once, p95 | 1250 ms | – |" in lines
    assert "| 50 patients at once, turns a second | 40.0 | – |" in lines
    assert json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))["plan"]["epochs"] == 5


def test_without_rasa_it_is_said_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(UserFixable, match=r"There is no Rasa in .*Python 3\.8 to 3\.10.*rasa==3\.6\.21"):
        measure_rasa(Plan(tmp_path), print)

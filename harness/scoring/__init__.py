"""Scores of a run and their intervals, two runs side by side, gates, stability, confused pairs.

From outside: `summarise`, `Score`, `compare`, `check_run`, `stability`, `confusions`. Imports `running`.
"""

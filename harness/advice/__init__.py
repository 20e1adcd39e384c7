"""What would improve a system: why questions were missed, confused and weak pairs, other thresholds.

From outside: `advise`, `advise_threshold`, `browse`. Imports `labelling`, `scoring` and `running`.
"""

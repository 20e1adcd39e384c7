"""Ask a system every question of a suite and store each outcome: here, in processes or on Dask; resumable.

From outside: `Outcome`, `run_suite`, `ask_suite`, `How`, `Run`, `load_run`, `load_outcomes`, `Tally`. Imports
`patients` and `systems`.
"""

"""Who asks, and what they ask: vignettes, task prompts, question suites, and whether questions look like their patient.

From outside: `Vignette`, `load_vignettes`, `Prompt`, `build_prompts`, `Question`, `Suite`, `load_suite`, `open_suite`,
`save_suite`, `contamination`, `FidelityJudge`. Imports no other room.
"""

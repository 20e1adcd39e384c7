"""How patients ask, written by models in many voices: variants, calibration questions and near misses of a catalog.

From outside: `load_voices`, `Voice` (voices.py), `Prompting`, `load_texts` (asking.py), `Plan`, `planned` (plan.py).
Imports `working`, `patients` and `llm`.
"""

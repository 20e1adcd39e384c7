"""From a model's answers to test questions: parsing, recording, asking again, critique and correction.

From outside: `record`, `Asking`, `Sifting`, `Refinery`. Imports `patients` and `llm`.
"""

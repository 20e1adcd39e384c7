"""From a model's answers to test questions: parsing, recording, asking again, critique and correction.

From outside: `record`, `answer_with_model`, `Sifting`, `Refinery`. Imports `patients` and `llm`.
"""

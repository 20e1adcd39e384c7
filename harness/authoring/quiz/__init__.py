"""Teach-back quizzes, and exam questions, from approved answers or any medical case: MCQG-C++ (seed paper 000).

From outside: `QuizMaking`, `Case`, `QuizPrompts`, `load_texts`, `load_rubric`, `load_bank`,
`load_outline`, `LateInteraction`, `round_tables`, `blind_table`, `read_forms`, `write_result`. Imports `generation`,
`judging`, `labelling` and `llm`, and of `authoring` only `working`.
"""

"""Rank candidate answer texts by how far each helps small evaluators to solve proxy tasks: seed paper 002.

`asking` has a model write candidates and tasks, `tasks` makes and reads tasks, `evaluators` and `transformer` solve
them, `study` trains and tests without overlap and ranks, `raters` has people rank, `report` writes all of it down.
From outside: `RankTexts`, `load_texts`, `Plan`, `gather`, `read_candidates`, `read_quizzes`, `rule_items`, `attached`,
`EmbeddingEvaluator`, `TransformerEvaluator`, `Study`, `run_study`, `Form`, `read_ranks`, `compared`, `write_result`.
Imports `judging`, `labelling` and `llm`, and of `authoring` only `working`.
"""

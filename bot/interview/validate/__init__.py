"""Findings on Questionnaires and QuestionnaireResponses, by the rules of `rules`.

From outside: `check_questionnaire`, `check_response`, and `refused_by` for a single answer. Imports: values, formulas,
form, rules.
"""

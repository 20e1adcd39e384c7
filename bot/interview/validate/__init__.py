"""Findings on Questionnaires and QuestionnaireResponses, by the rules of `rules`.

From outside: `check_questionnaire`, `check_response`. Imports: values, formulas, form, rules.
"""

"""A Questionnaire compiled to an immutable `Form`, or the reasons why it cannot be asked.

From outside: `Form`, `Item` and their parts (form.py); `index_questionnaire` for validators. Imports: values,
formulas, errors.
"""

"""What to ask next, what an answer changes, what is wrong, and the response it amounts to.

From outside: `Engine`, its steps (engine.py) and events (filling.py), `Heading`, and `carry_over` with the rules of a
`Migration` (migration.py). Imports: values, formulas, form,
rules, validate, errors, the files of languages.
"""

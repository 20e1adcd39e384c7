"""The manners of an interview: questions put, replies read back, commands, corrections, summary. Pure.

From outside: `Interview` and `Open` (interview.py), `Turn`, the `Session`, its JSON and what is said as data
(session.py), and `question_like`. Imports: values, form, rules, walk, reading, text, errors; never `bot.sentences`,
which puts into words what is said here.
"""

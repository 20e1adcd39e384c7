"""The manners of an interview: questions put, replies read back, commands, corrections, summary, form pages. Pure.

From outside: `Interview` and `Open` (interview.py), `Turn`, the `Session`, its JSON and what is said as data
(session.py), and `question_like`; for pages of a form `PageTurn`, `PageSent` and what stands on them (pages.py).
Imports: values, form, rules, walk, reading, text, errors, the files of languages; never `bot.sentences`, which puts
into words what is said here.
"""

"""The manners of a chat about a form: read back, go back, change, skip, why, pause, summary.

From outside: `Interview`, `Session`. What it says is data; `bot/sentences` words it. Imports: values, form, rules,
walk, reading.
"""

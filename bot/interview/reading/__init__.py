"""A patient's words become typed answers, by rules, in German and English.

From outside: `read`, `read_yes_no`, `read_command` and what they return. Imports: values, and bot/text.py.
"""

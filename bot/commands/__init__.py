"""The command line, one module a family of commands. Commands parse, call and print.

From outside: `main` (main.py), `run_chat` (chat.py). Imports: anything.
"""

"""The command line of the harness: one module per command family; each parses, calls and prints.

Imports any room; nothing but `harness.cli` imports it. What is slow to import is imported by the command that needs it.
"""

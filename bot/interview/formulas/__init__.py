"""FHIRPath: compile a formula, find out which answers it reads, evaluate it within limits.

From outside: evaluator.py, and `Formula` with its errors (formula.py). Imports: values.
"""

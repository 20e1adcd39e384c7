"""FHIRPath: compile a formula, find out which answers it reads, evaluate it within limits.

From outside: `Formula`, `compile_formula`, `evaluate`. Imports: values.
"""

"""Typed answers and FHIR JSON: primitives, units, codes, comparisons, terminology, findings. The ground floor.

Any room of the interview may import it; it imports nothing of the others.
"""

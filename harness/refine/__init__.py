"""Critique and correction of generated questions, round by round (seed paper 000, MCQG-C++)."""

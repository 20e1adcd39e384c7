"""What the matcher's data and parts are worth: learning curve, ablation, encoders, confusion (`docs/accuracy.md`).

From outside: `Study`, `StudyTable` and one function a table. Imports `scoring`, `running` and `patients`.
"""

"""What follows from labels: agreement of raters, models as judges, scores after labels, drift of meaning.

From outside: `agreement_of`, `rescore`, `report_of`, `check_meaning`. Imports `labelling`, `scoring`, `running`, `llm`.
"""

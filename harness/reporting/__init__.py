"""A run for readers: the paper's tables, one HTML page, CSV, JUnit XML and a FHIR MeasureReport.

From outside: `gather`, `write`, `render`, `table_1`, `table_2`. Imports `advice`, `labelling`, `scoring`, `running` and
`patients`.
"""

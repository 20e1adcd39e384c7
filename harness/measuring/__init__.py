"""What the matcher's data and parts are worth, and how long things take: `klartext harness study` and `klartext bench`.

From outside: `Study`, `StudyTable` and one function a table (`docs/accuracy.md`); the `measure_…` functions and
`BenchFigure`. Imports `reporting`, `scoring`, `running`, `systems` and `patients`.
"""

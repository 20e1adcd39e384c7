"""How long things take, as ratios within one run: the figures of `klartext bench`.

From outside: the `measure_…` functions and `BenchFigure`. Imports `reporting`, `scoring`, `running`, `systems` and
`patients`.
"""

"""The harness in the staff console: tests before a release is made, runs and their reports, pages for raters.

`klartext` finds the areas through the entry-point group `klartext.console`: `RunPages`, `RatingPages`. From outside:
`Shelf`, `rehearse`. May import: reporting, judging, labelling, scoring, running, systems, patients.
"""

"""Patients' open questions made ready for curators: personal data out, what means the same together, jargon marked.

From outside: `scrub`, `Scrubbed`, `NOTICE` (scrub.py), `cluster`, `Open`, `Cluster` (clusters.py), `highlights`,
`Highlight`, `readable` (highlights.py), and for measuring `measured` (scrub_report.py), `spliced` (scrub_cases.py) and
`studied` (cluster_report.py). Everything is pure; word lists are data beside the code. Imports: text, ports, catalog.
"""

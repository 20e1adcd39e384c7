"""What staff do with the content: who they are and what they may, drafts and signatures, and the trail of it all.

From outside: `Person`, `People`, `TASKS_OF` (people.py), `Act`, `Acts` (acts.py), `audit_bundle` (acts_fhir.py),
`Draft`, `Workbench`, `Candidate` (workbench.py), `Job`, `Jobs` (jobs.py), `Figures` (figures.py). Imports: catalog,
release, staff, errors.
"""

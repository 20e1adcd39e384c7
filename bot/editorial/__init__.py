"""What staff do with the content: who they are and what they may, drafts and signatures, and the trail of it all.

From outside: `Person`, `People`, `TASKS_OF` (people.py), `Act`, `Acts` (acts.py), `audit_bundle` (acts_fhir.py),
`Draft`, `Provenance`, `Workbench`, `Candidate` (workbench.py), `Job`, `Jobs` (jobs.py); a pair as the fields of a form
(pair_fields.py), what patients see of other texts (shown.py), what changed word by word (word_diff.py), `flaw_of_site`
(site_draft.py), `check_out`, `changes_in` (exchange.py), `Figures` (figures.py). Imports: catalog, release, staff,
errors, text.
"""

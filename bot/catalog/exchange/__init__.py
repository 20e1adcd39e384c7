"""Catalogs from and to the formats of other makers.

One module a maker, each with what it is known by, how it is read and how it is written; sources.py opens files, folders
and zips within limits, entries.py is what all are read to. From outside: `read_foreign`, `write_foreign` (exchange.py),
`expect` (expecting.py), `add_drafts`, `write_catalog` (placing.py), `read_question_set` (question_set.py). May import:
catalog, lint, yaml_edit; text, errors.
"""

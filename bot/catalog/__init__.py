"""Content as data: question-answer pairs, topics, Questionnaires on disk; loading, importing, checking.

Curators come here. From outside: `Catalog`, `Pair`, `load_catalog`, `locate` (catalog.py), `resources_in` and the
shipped FHIR files (fhir_files.py). Imports: text, errors, ports, and the values and form of the interview.
"""

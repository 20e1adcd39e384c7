"""Content as data: question-answer pairs, topics, Questionnaires on disk; loading, importing, checking.

Curators come here. From outside: `Catalog`, `Pair`, `load_catalog`, `locate` (catalog.py), `edit_pairs` (yaml_edit.py),
`read_foreign`, `write_foreign`, `read_question_set` and what else the room exchange offers, `lint`,
`measure` (readability.py), `load_topics` (topics.py), `shipped_terminology` and other FHIR
files (fhir_files.py). Imports: text, errors, resources, ports, the files of languages; of the interview: values, form,
and the rules of a migration in walk.
"""

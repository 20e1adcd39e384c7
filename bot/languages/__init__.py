"""The languages that patients can be talked to in: the files that each consists of, and whether a set is complete.

From outside: `known`, `load`, `read_bytes`, `Live`, `cached` (files.py), which all rooms with words or sentences read
their language from, also the interview; `open_languages` (opening.py), which takes what a catalog speaks from a site's
folder; `problems_of` (check.py) and `write_skeleton` (skeleton.py). `files.py` stands below all rooms and imports
errors only; the others import files, errors, catalog, sentences, reading, matching.
"""

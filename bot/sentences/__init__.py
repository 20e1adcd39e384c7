"""All that may be said to patients: fixed texts, replies and their guard, answers in words, spelling. Pure.

From outside: parts, `reply_of` and `guard` (reply.py), `spelt` (spelling.py), `spoken_file`
(spoken.py), and the tables of texts. Imports: text, errors, ports, catalog, the files of languages; of the interview:
values, form, what is said (`manners/session.py`), and from reading the names of units and months that are read.
"""

"""All that may be said to patients: fixed texts, replies and their guard, answers in words, spelling. Pure.

From outside: parts, `reply_of` and `guard` (reply.py), `worded`, `spelt`, and the tables of texts. Imports the catalog;
of the interview: values, form, what is said (`manners/session.py`), and the names of units and months that are read.
"""

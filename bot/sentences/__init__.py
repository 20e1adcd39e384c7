"""All that may be said to patients: fixed texts, replies and their guard, answers in words, spelling. Pure.

From outside: parts, `reply_of` and `guard` (reply.py), `worded`, `spelt`, and the tables of texts. Imports the catalog;
of the interview: values, form, `said`, and the names of units and months by which replies are read.
"""

"""Everything that may be said to a patient: fixed sentences, texts of a form, answers in words, and the guard.

From outside: `Reply`, its parts and `guard` (reply.py), the texts. It knows no rules. Imports: catalog, and the
values and form of the interview.
"""

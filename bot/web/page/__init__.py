"""The page for patients: rendered here, complete without JavaScript, a little quicker with it.

Only `bot/web/app.py` imports it. Imports: talk, sentences, catalog, settings, languages, of the interview what
its pages show, and the limits of the service.
"""

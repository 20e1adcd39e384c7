"""The service: JSON API, the page for patients, the REST channel of Rasa, and what runs beside them.

From outside: `serve` (server.py), `signed_link` (links.py). Imports: anything but commands.
"""

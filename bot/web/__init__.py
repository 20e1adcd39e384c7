"""The service: JSON API, the page for patients, the REST channel of Rasa, and what runs beside them.

From outside: `run_server`, `Serving` (server.py), for links `invite`, `seal`, `unseal`, `lifetime` (links.py), and
what the room for Rasa offers. Imports: anything but commands.
"""

"""The service: JSON API, the page for patients, the REST channel of Rasa, and what runs beside them.

From outside: `run_server`, `Serving` (server.py), and for links `invite`, `seal`, `unseal`, `lifetime` (links.py).
Imports: anything but commands.
"""

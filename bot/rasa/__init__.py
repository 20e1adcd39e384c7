"""Projects for a Rasa server: the curated content compiled into one, and a turn told to it as events of its tracker.

Rasa runs in an environment of its own (docs/decisions/0030-rasa.md); nothing of it is imported here.

From outside: `compile_project`, `Content`, `Options` (project.py), `write_project` (writing.py), `check_server`
(server.py), `Marker`, `events` (tracker.py). Imports: talk, sentences, catalog, errors, ports, the files of
languages; of the interview: form, values.
"""

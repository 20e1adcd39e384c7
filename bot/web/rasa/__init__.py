"""Rasa: content compiled into projects for its server, and the action server of these projects.

Rasa runs in an environment of its own (docs/decisions/0030-rasa.md); nothing of it is imported here.

From outside: `compile_project`, `Content`, `Options` (project.py), `write_project` (writing.py), `check_server`
(server.py), `RasaActions` (actions.py), `Slimming` (receiving.py). Imports: anything but commands.
"""

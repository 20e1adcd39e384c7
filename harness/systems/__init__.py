"""Systems under test: this assistant in process, HTTP endpoints, Rasa servers and commands, behind one Protocol.

From outside: `System`, `Opening`, `InProcess`, `Reply`, `Failure`, `load_system_file`, `open_described`. Imports no
room.
"""

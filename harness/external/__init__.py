"""Systems under test outside this process: HTTP endpoints, Rasa, and commands."""
